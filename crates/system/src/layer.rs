//! Systems made of another one: a product with a claim, a system that remembers labels.
//!
//! A state of a [`Layer`] is a state of the inner system between a *head* and a *tail* of the layer's own; the tail is hidden.
//! Whatever is only about the inner system is forwarded here, once for all layers.

use crate::TransitionSystem;
use crate::portable::{LocalShape, PortableError, PortableStates, StableHash};

/// A system whose states are those of an inner one with bytes around them.
pub trait Layer: Sync {
    /// The inner system.
    fn inner(&self) -> &dyn TransitionSystem;

    /// The number of bytes before the inner state, and behind it.
    fn around(&self) -> (usize, usize);

    /// Whether head and tail can belong to a state; the error says what is wrong.
    fn validate(&self, head: &[u8], tail: &[u8]) -> Result<(), &'static str>;

    /// A hash of all that decides what head and tail mean.
    fn own_fingerprint(&self) -> u64;

    /// Takes a state apart: head, inner state, tail. `None` for bytes that are too few.
    #[inline]
    fn parts<'s>(&self, state: &'s [u8]) -> Option<(&'s [u8], &'s [u8], &'s [u8])> {
        let (head, tail) = self.around();
        let (first, rest) = state.split_at_checked(head)?;
        let (inner, last) = rest.split_at_checked(rest.len().checked_sub(tail)?)?;
        Some((first, inner, last))
    }
}

/// The portable states of the inner system of a layer.
fn inner<L: Layer>(layer: &L) -> Result<&dyn PortableStates, PortableError> {
    layer.inner().portable().ok_or(PortableError::Unsupported)
}

/// Head and tail stand around the inner contents; shapes are the inner system's.
impl<L: Layer> PortableStates for L {
    fn fingerprint(&self) -> u64 {
        let of_inner = inner(self).map_or(0, PortableStates::fingerprint);
        StableHash::new(self.own_fingerprint()).word(of_inner).finish()
    }

    fn describe(&self, shape: LocalShape, out: &mut Vec<u8>) -> Result<(), PortableError> {
        inner(self)?.describe(shape, out)
    }

    fn register(&self, description: &[u8]) -> Result<LocalShape, PortableError> {
        inner(self)?.register(description)
    }

    fn export(&self, state: &[u8], out: &mut Vec<u8>) -> Result<LocalShape, PortableError> {
        let (head, rest, tail) = self.parts(state).ok_or(PortableError::Truncated)?;
        out.extend_from_slice(head);
        let shape = inner(self)?.export(rest, out)?;
        out.extend_from_slice(tail);
        Ok(shape)
    }

    fn import(&self, shape: LocalShape, contents: &[u8], out: &mut Vec<u8>) -> Result<(), PortableError> {
        let (head, rest, tail) = self.parts(contents).ok_or(PortableError::Truncated)?;
        self.validate(head, tail).map_err(|why| PortableError::BadContents(why.to_string()))?;
        let start = out.len();
        out.extend_from_slice(head);
        let imported = inner(self)?.import(shape, rest, out);
        match imported {
            Ok(()) => out.extend_from_slice(tail),
            Err(_) => out.truncate(start),
        }
        imported
    }
}
