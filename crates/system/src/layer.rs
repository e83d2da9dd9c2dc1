//! Systems made of another one: a product with a claim, a system that remembers labels.
//!
//! A state of a [`Layer`] is a state of the inner system between a *head* and a *tail* of the layer's own;
//! the tail is hidden. Whatever is only about the inner system is forwarded here, once for all layers. (A
//! system that leaves the states as they are, such as a reduced one, hands on the capabilities of the other.)

use crate::capabilities::{Capabilities, Components, Invariants, Processes, Propositions};
use crate::portable::{LocalShape, PortableError, PortableStates, StableHash};
use crate::{ActionId, Fault, NOBODY, TransitionSystem};

/// An inner system, with its capabilities as they were when the layer was made.
#[derive(Clone, Copy)]
pub struct Inner<'a> {
    /// The system.
    pub system: &'a dyn TransitionSystem,
    /// What it can tell.
    pub can: Capabilities<'a>,
}

impl<'a> Inner<'a> {
    /// Asks for the capabilities of a system.
    pub fn new(system: &'a dyn TransitionSystem) -> Self {
        Inner { system, can: system.capabilities() }
    }
}

/// A system whose states are those of an inner one with bytes around them.
pub trait Layer: Sync {
    /// The inner system.
    fn inner(&self) -> Inner<'_>;

    /// The number of bytes before the inner state, and behind it.
    fn around(&self) -> (usize, usize);

    /// Whether head and tail can belong to a state; the error says what is wrong.
    fn validate(&self, head: &[u8], tail: &[u8]) -> Result<(), &'static str>;

    /// A hash of all that decides what head and tail mean.
    fn own_fingerprint(&self) -> u64;

    /// Whether an action is a step of the layer alone, and so of nobody.
    fn is_own(&self, _action: ActionId) -> bool {
        false
    }

    /// Takes a state apart: head, inner state, tail. `None` for bytes that are too few.
    #[inline]
    fn parts<'s>(&self, state: &'s [u8]) -> Option<(&'s [u8], &'s [u8], &'s [u8])> {
        let (head, tail) = self.around();
        let (first, rest) = state.split_at_checked(head)?;
        let (inner, last) = rest.split_at_checked(rest.len().checked_sub(tail)?)?;
        Some((first, inner, last))
    }

    /// The inner state; empty for bytes that are no state, which no system takes for one.
    #[inline]
    fn inner_state<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        self.parts(state).map_or(&[], |(_, inner, _)| inner)
    }

    /// What the inner system can tell, asked through this one. Acceptance is not forwarded: a layer around a
    /// system whose steps earn marks has to say what they mean for its own steps.
    fn forwarded(&self) -> Capabilities<'_>
    where
        Self: Sized,
    {
        let can = self.inner().can;
        debug_assert!(can.acceptance.is_none(), "marks are not forwarded");
        Capabilities {
            propositions: can.propositions.map(|_| self as _),
            processes: can.processes.map(|_| self as _),
            components: can.components.map(|_| self as _),
            portable: can.portable.map(|_| self as _),
            invariants: can.invariants.map(|_| self as _),
            acceptance: None,
        }
    }
}

impl<L: Layer> Propositions for L {
    fn propositions(&self, set: usize, state: &[u8]) -> u64 {
        self.inner().can.propositions.map_or(0, |inner| inner.propositions(set, self.inner_state(state)))
    }

    fn may_fail(&self, set: usize) -> u64 {
        self.inner().can.propositions.map_or(0, |inner| inner.may_fail(set))
    }

    fn evaluation_error(&self, set: usize, number: u32, state: &[u8]) -> Option<Fault> {
        self.inner().can.propositions?.evaluation_error(set, number, self.inner_state(state))
    }
}

impl<L: Layer> Processes for L {
    fn process_of(&self, action: ActionId) -> u32 {
        match self.inner().can.processes {
            Some(inner) if !self.is_own(action) => inner.process_of(action),
            _ => NOBODY,
        }
    }

    fn partner_of(&self, action: ActionId) -> Option<u32> {
        self.inner().can.processes.filter(|_| !self.is_own(action))?.partner_of(action)
    }

    fn n_processes(&self, state: &[u8]) -> usize {
        self.inner().can.processes.map_or(0, |inner| inner.n_processes(self.inner_state(state)))
    }

    fn n_parts(&self) -> u32 {
        self.inner().can.processes.map_or(1, |inner| inner.n_parts())
    }

    fn part_of(&self, action: ActionId) -> u32 {
        match self.inner().can.processes {
            Some(inner) if !self.is_own(action) => inner.part_of(action),
            _ => 0,
        }
    }
}

/// The head is part of the first component.
impl<L: Layer> Components for L {
    fn cuts(&self, key: &[u8], out: &mut Vec<usize>) {
        let (first, head) = (out.len(), self.around().0);
        if let Some(inner) = self.inner().can.components {
            inner.cuts(key.get(head..).unwrap_or_default(), out);
        }
        out[first..].iter_mut().for_each(|cut| *cut += head);
    }
}

impl<L: Layer> Invariants for L {
    fn inspect(&self, state: &[u8], out: &mut Vec<Fault>) {
        if let Some(inner) = self.inner().can.invariants {
            inner.inspect(self.inner_state(state), out);
        }
    }
}

/// The portable states of the inner system of a layer.
fn inner<L: Layer>(layer: &L) -> Result<&dyn PortableStates, PortableError> {
    layer.inner().can.portable.ok_or(PortableError::Unsupported)
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
