//! Stores that several workers share: each worker has a *hand*, through which it does all that [`Seen`] and
//! [`Recall`](crate::Recall) say.
//!
//! A store that grows needs to be alone for that. So a worker who has work keeps the others' growth away, for a batch of
//! look-ups at a time, and must say when it *rests*: a worker who waits for another one without resting would wait for
//! ever, if that other one waits to grow.

use crate::Seen;

/// One worker's access to a store.
pub trait Hand: Seen {
    /// Lets others change what cannot be changed while anybody looks. To be called between batches, and before waiting.
    fn rest(&mut self);
}
