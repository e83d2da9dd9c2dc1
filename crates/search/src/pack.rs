//! Packs: states that one worker found one after another, and that one worker will expand.
//!
//! Workers share packs, not states, so that sharing costs next to nothing. As in [`queue`](crate::queue),
//! names are enough where the store gives keys back; otherwise whole states wait.

use crate::ancestry::Ordinal;
use crate::disk::{Item, word};
use crate::state_key::key;
use std::collections::TryReserveError;
use store::{Batched, Portable, Recall};
use system::Annotation;

/// What waits in a pack, for who only keeps it.
pub trait Stowed: Default + Send {
    /// Bytes of memory in use.
    fn memory(&self) -> u64;

    /// Appends all states, of which none was taken out.
    fn stow(&self, out: &mut Vec<u8>);

    /// Reads what [`Stowed::stow`] wrote. `None` where it is something else.
    fn unstow(from: &[u8]) -> Option<Self>;
}

/// The states of a pack, first in, first out.
pub trait States<S: Batched>: Stowed {
    /// Whether it wants states, and not only their names.
    const WHOLE: bool;

    /// Puts a state at the end. `name` is what the store calls it.
    fn push(&mut self, name: S::Name, state: &[u8], annotation: Annotation) -> Result<(), TryReserveError>;

    /// Takes the first state out and appends its bytes to `out`; the store learns that its successors come
    /// next. Answers its annotation, or `None` when there is no state.
    fn pop(&mut self, store: &mut S, hidden: usize, out: &mut Vec<u8>) -> Option<Annotation>;

    /// Forgets all states, keeps the memory.
    fn clear(&mut self);
}

/// The annotations of the states of a pack: nothing is kept as long as there are none.
#[derive(Debug, Default)]
struct Annotations(Vec<Annotation>);

impl Annotations {
    /// Notes the annotation of the state with this number, which is the last.
    #[inline]
    fn push(&mut self, number: usize, annotation: Annotation) -> Result<(), TryReserveError> {
        if !annotation.is_none() {
            self.0.try_reserve(number + 1 - self.0.len())?;
            self.0.resize(number, Annotation::NONE);
            self.0.push(annotation);
        }
        Ok(())
    }

    #[inline]
    fn get(&self, number: usize) -> Annotation {
        self.0.get(number).copied().unwrap_or_default()
    }

    fn memory(&self) -> usize {
        self.0.capacity() * size_of::<Annotation>()
    }
}

/// States by their names, each with its annotation.
#[derive(Debug)]
pub struct NamedStates<N> {
    names: Vec<(N, Annotation)>,
    next: usize,
}

impl<N> Default for NamedStates<N> {
    fn default() -> Self {
        NamedStates { names: Vec::new(), next: 0 }
    }
}

impl<S: Recall> States<S> for NamedStates<S::Name>
where
    S::Name: Send,
{
    const WHOLE: bool = false;

    #[inline]
    fn push(&mut self, name: S::Name, _state: &[u8], annotation: Annotation) -> Result<(), TryReserveError> {
        self.names.try_reserve(1)?;
        self.names.push((name, annotation));
        Ok(())
    }

    #[inline]
    fn pop(&mut self, store: &mut S, _hidden: usize, out: &mut Vec<u8>) -> Option<Annotation> {
        let &(name, annotation) = self.names.get(self.next)?;
        self.next += 1;
        store.load(name, out);
        Some(annotation)
    }

    fn clear(&mut self) {
        self.names.clear();
        self.next = 0;
    }
}

impl<N: Portable + Send> Stowed for NamedStates<N> {
    fn memory(&self) -> u64 {
        (self.names.capacity() * size_of::<(N, Annotation)>()) as u64
    }

    fn stow(&self, out: &mut Vec<u8>) {
        debug_assert_eq!(self.next, 0);
        Item::write_all(&self.names, out);
    }

    fn unstow(from: &[u8]) -> Option<Self> {
        let mut names = Vec::new();
        <(N, Annotation)>::read_all(from, &mut names);
        Some(NamedStates { names, next: 0 })
    }
}

/// Whole states.
#[derive(Debug, Default)]
pub struct WholeStates {
    bytes: Vec<u8>,
    lens: Vec<u32>,
    annotations: Annotations,
    /// How many are gone, and how many bytes.
    gone: (usize, usize),
}

impl<S: Batched> States<S> for WholeStates {
    const WHOLE: bool = true;

    fn push(&mut self, _name: S::Name, state: &[u8], annotation: Annotation) -> Result<(), TryReserveError> {
        self.lens.try_reserve(1)?;
        self.annotations.push(self.lens.len(), annotation)?;
        self.bytes.try_reserve(state.len())?;
        self.lens.push(state.len() as u32);
        self.bytes.extend_from_slice(state);
        Ok(())
    }

    fn pop(&mut self, store: &mut S, hidden: usize, out: &mut Vec<u8>) -> Option<Annotation> {
        let (number, start) = self.gone;
        let &len = self.lens.get(number)?;
        let end = start + len as usize;
        self.gone = (number + 1, end);
        let state = &self.bytes[start..end];
        store.depart(key(state, hidden));
        out.extend_from_slice(state);
        Some(self.annotations.get(number))
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.annotations.0.clear();
        self.lens.clear();
        self.gone = (0, 0);
    }
}

impl Stowed for WholeStates {
    fn memory(&self) -> u64 {
        (self.bytes.capacity() + 4 * self.lens.capacity() + self.annotations.memory()) as u64
    }

    /// How many states and annotations, then the annotations, the lengths, and the bytes.
    fn stow(&self, out: &mut Vec<u8>) {
        debug_assert_eq!(self.gone, (0, 0));
        (self.lens.len() as u64).write(out);
        (self.annotations.0.len() as u64).write(out);
        self.annotations.0.iter().for_each(|annotation| annotation.bits().write(out));
        self.lens.iter().for_each(|len| out.extend_from_slice(&len.to_le_bytes()));
        out.extend_from_slice(&self.bytes);
    }

    fn unstow(from: &[u8]) -> Option<Self> {
        let (n, annotated) = (word(from, 0)? as usize, word(from, 1)? as usize);
        let annotations = (2..2 + annotated).map(|at| word(from, at).map(Annotation::new));
        let annotations = Annotations(annotations.collect::<Option<Vec<Annotation>>>()?);
        let (lens, bytes) = from.get(16 + 8 * annotated..)?.split_at_checked(4 * n)?;
        let lens = lens.as_chunks::<4>().0.iter().map(|len| u32::from_le_bytes(*len)).collect();
        Some(WholeStates { bytes: bytes.to_vec(), lens, annotations, gone: (0, 0) })
    }
}

/// A pack.
#[derive(Debug, Default)]
pub(crate) struct Pack<P> {
    pub states: P,
    /// How many are left.
    pub len: u64,
    /// Who found them.
    pub finder: usize,
    /// The first of them, in the finder's order of finding.
    pub first: Ordinal,
    /// Edges from the initial state along the way that was found, not exact for every state; with levels not
    /// used.
    pub depth: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Seen, Table};

    fn stowed<P: Stowed>(states: &P) -> P {
        let mut bytes = Vec::new();
        states.stow(&mut bytes);
        P::unstow(&bytes).unwrap()
    }

    #[test]
    fn states_come_out_as_they_went_in() {
        let mut store = Table::default();
        let (mut named, mut whole) = (NamedStates::default(), WholeStates::default());
        // Every third state has an annotation.
        let annotation = |i: u8, round: u8| match i % 3 == round {
            true => Annotation::new((1 + u64::from(i)) << 40),
            false => Annotation::NONE,
        };
        for round in 0..3u8 {
            for i in 0..50u8 {
                let state = [i, round, 7, 7, i].repeat(1 + i as usize % 3);
                let ticket = store.hash(&state).unwrap();
                let name = store.insert(&state, ticket).unwrap().unwrap();
                let annotation = annotation(i, round);
                States::<Table>::push(&mut named, name, &state, annotation).unwrap();
                States::<Table>::push(&mut whole, name, &state, annotation).unwrap();
            }
            if round == 1 {
                (named, whole) = (stowed(&named), stowed(&whole));
            }
            for i in 0..50u8 {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                let expected = Some(annotation(i, round));
                assert_eq!(named.pop(&mut store, 0, &mut a), expected);
                assert_eq!(whole.pop(&mut store, 0, &mut b), expected);
                assert_eq!((&a, &a[..3]), (&b, [i, round, 7].as_slice()));
            }
            assert!(named.pop(&mut store, 0, &mut Vec::new()).is_none());
            assert!(whole.pop(&mut store, 0, &mut Vec::new()).is_none());
            States::<Table>::clear(&mut named);
            States::<Table>::clear(&mut whole);
        }
    }
}
