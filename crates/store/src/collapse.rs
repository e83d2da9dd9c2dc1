//! Collapse compression (Holzmann 1997): a state is the list of its components, each kept once.
//!
//! A system consists of processes and channels that change one at a time, so there are few different contents
//! of each. The caller says where a key is to be cut; every piece is replaced by its number among all pieces,
//! and only the numbers are kept for a state.

use crate::numbered::{Number, Numbered, Visit};
use crate::{Batched, Entry, Evicting, Full, Numbering, Recall, Seen};

/// Says where a key is to be cut: appends the ends of all pieces but the last.
pub trait Cut {
    /// Appends the cuts of `key`, in ascending order.
    fn cut(&self, key: &[u8], out: &mut Vec<usize>);
}

impl<F: Fn(&[u8], &mut Vec<usize>)> Cut for F {
    fn cut(&self, key: &[u8], out: &mut Vec<usize>) {
        self(key, out);
    }
}

/// An exact set of byte strings.
#[derive(Debug)]
pub struct Collapse<C> {
    cut: C,
    components: Numbered,
    states: Numbered,
    limit: u64,
    cuts: Vec<usize>,
    numbers: Vec<u8>,
}

impl<C: Cut> Collapse<C> {
    /// An empty set that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(cut: C, limit: u64) -> Self {
        let (components, states) = (Numbered::new(limit), Numbered::new(limit));
        Collapse { cut, components, states, limit, cuts: Vec::new(), numbers: Vec::new() }
    }

    /// How many different pieces there are.
    pub fn n_components(&self) -> u64 {
        self.components.n_keys()
    }

    /// Inserts a key or recognises it.
    fn enter(&mut self, key: &[u8]) -> Result<Visit, Full> {
        self.cuts.clear();
        self.cut.cut(key, &mut self.cuts);
        self.components.set_limit(self.limit.saturating_sub(self.states.memory()));
        let components = &mut self.components;
        let numbers = pieces(key, &self.cuts, |piece| match components.visit(piece) {
            Ok(Visit::New(id) | Visit::Seen(id)) => Some(id.0),
            Err(Full) => None,
        });
        write(&numbers.ok_or(Full)?, &mut self.numbers);
        self.states.set_limit(self.limit.saturating_sub(self.components.memory()));
        self.states.visit(&self.numbers)
    }
}

/// Calls `each` with the pieces of `key`; what it says of them, unless it says nothing of one.
pub(crate) fn pieces<'k>(
    key: &'k [u8],
    cuts: &[usize],
    mut each: impl FnMut(&'k [u8]) -> Option<u32>,
) -> Option<Vec<u32>> {
    let mut start = 0;
    let ends = cuts.iter().copied().chain([key.len()]);
    ends.map(|end| {
        let end = end.clamp(start, key.len());
        let piece = &key[start..end];
        start = end;
        each(piece)
    })
    .collect()
}

/// Numbers in groups of seven bits, so that small ones take one byte.
pub(crate) fn write(numbers: &[u32], out: &mut Vec<u8>) {
    out.clear();
    for &number in numbers {
        let mut rest = number;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
}

/// The numbers of a list that [`write`] wrote.
pub(crate) fn read(list: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let is_last = |byte: &u8| byte & 0x80 == 0;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |rest, &byte| rest << 7 | u32::from(byte & 0x7f));
    list.split_inclusive(is_last).map(number)
}

impl<C: Cut> Seen for Collapse<C> {
    const LOSSLESS: bool = true;

    type Ticket = ();
    type Name = Number;

    fn hash(&mut self, _key: &[u8]) -> Result<(), Full> {
        Ok(())
    }

    fn insert(&mut self, key: &[u8], (): ()) -> Result<Option<Number>, Full> {
        Ok(match self.enter(key)? {
            Visit::New(number) => Some(number),
            Visit::Seen(_) => None,
        })
    }

    fn contains(&self, key: &[u8], (): ()) -> bool {
        Numbering::find(self, key).is_some()
    }

    fn n_keys(&self) -> u64 {
        self.states.n_keys()
    }

    fn memory(&self) -> u64 {
        self.components.memory() + self.states.memory()
    }
}

impl<C: Cut> Batched for Collapse<C> {}

impl<C: Cut> Evicting for Collapse<C> {}

impl<C: Cut> Recall for Collapse<C> {
    fn load(&mut self, name: Number, out: &mut Vec<u8>) {
        for component in read(self.states.key(name)) {
            out.extend_from_slice(self.components.key(Number(component)));
        }
    }
}

impl<C: Cut> Numbering for Collapse<C> {
    type Number = Number;

    fn visit(&mut self, key: &[u8], (): ()) -> Result<Entry<Number, Number>, Full> {
        let (number, new) = match self.enter(key)? {
            Visit::New(number) => (number, true),
            Visit::Seen(number) => (number, false),
        };
        Ok(Entry { number, name: number, new })
    }

    fn number(&self, key: &[u8], (): ()) -> Option<Number> {
        self.find(key)
    }

    fn find(&self, key: &[u8]) -> Option<Number> {
        let (mut cuts, mut out) = (Vec::new(), Vec::new());
        self.cut.cut(key, &mut cuts);
        let numbers = pieces(key, &cuts, |piece| self.components.find(piece).map(|id| id.0));
        write(&numbers?, &mut out);
        self.states.find(&out)
    }

    fn bound(&self) -> u64 {
        self.states.n_keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Cuts after every third byte, and nowhere in short keys.
    fn thirds(key: &[u8], out: &mut Vec<usize>) {
        out.extend((3..key.len()).step_by(3));
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let mut seed = 17u64;
        let mut below = |n: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 20) % n
        };
        let mut set = Collapse::new(thirds, u64::MAX);
        let mut model = HashSet::new();
        for _ in 0..40_000 {
            let key: Vec<u8> = (0..below(14)).map(|_| below(3) as u8).collect();
            assert_eq!(set.knows(&key), Ok(model.contains(&key)));
            assert_eq!(set.is_new(&key), Ok(model.insert(key)));
        }
        assert_eq!(set.n_keys(), model.len() as u64);
        assert!(set.n_components() < 60);
    }

    #[test]
    fn cuts_that_make_no_sense_are_harmless() {
        let mut set = Collapse::new(|_: &[u8], out: &mut Vec<usize>| out.extend([9, 2, 2, 100]), u64::MAX);
        assert_eq!(set.is_new(b"abcdef"), Ok(true));
        assert_eq!(set.is_new(b"abcdeg"), Ok(true));
        assert_eq!(set.is_new(b"abcdef"), Ok(false));
    }

    #[test]
    fn the_limit_is_kept() {
        let mut set = Collapse::new(thirds, 200_000);
        let mut n = 0u32;
        while set.is_new(&n.to_be_bytes()).is_ok() {
            n += 1;
            assert!(set.memory() <= 200_000);
        }
        assert!(n > 3000 && (0..n).all(|i| set.knows(&i.to_be_bytes()) == Ok(true)));
    }
}
