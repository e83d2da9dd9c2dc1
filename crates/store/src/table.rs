//! The exact store of whole states (to be replaced).

use crate::numbered::{Number, Numbered, Visit};
use crate::{Full, Recall, Seen};

/// An exact set of byte strings.
#[derive(Debug, Default)]
pub struct Table(Numbered);

impl Table {
    /// An empty table that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Table(Numbered::new(limit))
    }
}

impl Seen for Table {
    const LOSSLESS: bool = true;
    type Ticket = ();
    type Name = Number;

    fn prepare(&mut self, _key: &[u8]) -> Result<(), Full> {
        Ok(())
    }

    fn insert(&mut self, key: &[u8], (): ()) -> Result<Option<Number>, Full> {
        Ok(match self.0.visit(key)? {
            Visit::New(number) => Some(number),
            Visit::Seen(_) => None,
        })
    }

    fn contains(&self, key: &[u8], (): ()) -> bool {
        self.0.find(key).is_some()
    }

    fn n_keys(&self) -> u64 {
        self.0.n_keys()
    }

    fn memory(&self) -> u64 {
        self.0.memory()
    }
}

impl Recall for Table {
    fn load(&mut self, name: Number, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.key(name));
    }
}
