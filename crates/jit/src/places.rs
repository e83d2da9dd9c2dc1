//! Where the parts of a state are, for whoever takes states apart and puts them together part by part, and a
//! machine in which only one process moves: together a *local* next-state function, which is given the parts
//! that a step reads and answers those that it writes.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use system::{
    ActionId, Capabilities, Fault, Labels, PortableError, PortableStates, SleepMask, Successors,
    TransitionSystem, Worker,
};

use crate::convert;
use crate::native::{Native, NativeWorker};
use crate::{Jit, Machine};

/// Bytes of a state.
pub type Bytes = Range<usize>;

/// Where the parts of a state are, given the proctypes of its processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// A state in which all parts are zero.
    pub blank: Vec<u8>,
    /// `_last`.
    pub last: Option<Bytes>,
    /// For each global cell.
    pub globals: Vec<Bytes>,
    /// For each channel, those that exist from the beginning first; empty for a rendezvous channel.
    pub channels: Vec<Bytes>,
    /// For each process.
    pub processes: Vec<ProcessPlaces>,
}

/// Where the parts of a process are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessPlaces {
    /// Its location.
    pub location: Bytes,
    /// For each of its cells.
    pub cells: Vec<Bytes>,
    /// The number of channels with lower numbers than its own.
    pub first_channel: usize,
}

impl Jit {
    /// Where the parts of a state are whose processes have these proctypes. Nothing where there is no native
    /// code, since the reference machine's states have no fixed places.
    pub fn places(&self, proctypes: &[u32]) -> Option<Result<Places, PortableError>> {
        match &self.machine {
            Machine::Native(native) => Some(native.places(proctypes)),
            Machine::Reference(_) => None,
        }
    }

    /// Appends the proctypes of the processes of a state; false for bytes that are no state.
    pub fn proctypes(&self, state: &[u8], out: &mut Vec<u32>) -> bool {
        let Machine::Native(native) = &self.machine else { return false };
        let Some(shape) = native.shape_of(state) else { return false };
        out.extend(shape.processes.iter().map(|process| process.proctype));
        true
    }

    /// The machine with one process that moves.
    pub fn one_process(&self) -> Option<OneProcess<'_>> {
        match &self.machine {
            Machine::Native(native) => Some(OneProcess { jit: self, native, pid: AtomicUsize::new(0) }),
            Machine::Reference(_) => None,
        }
    }
}

fn bytes(start: usize, len: usize) -> Bytes {
    start..start + len
}

impl Native {
    fn places(&self, proctypes: &[u32]) -> Result<Places, PortableError> {
        let description: Vec<u8> = proctypes.iter().flat_map(|proctype| proctype.to_le_bytes()).collect();
        let number = self.register(&description)?;
        let shape = self.shapes.get(number.0).ok_or(PortableError::UnknownShape(number.0))?;
        let layout = &self.layout;
        let mut blank = vec![0; shape.len as usize];
        blank[..4].copy_from_slice(&(number.0 & convert::SHAPE).to_le_bytes());
        let global = |(&(offset, hidden), scalar): (&(u32, bool), &promela::ir::Scalar)| {
            let base = if hidden { shape.hidden as usize } else { 0 };
            bytes(base + offset as usize, scalar.width())
        };
        let channel = |channel: &crate::shape::ChanEntry| {
            bytes(channel.offset as usize, layout.channels[channel.class as usize].size as usize)
        };
        let process = |process: &crate::shape::ProcEntry| {
            let (block, at) = (&layout.processes[process.proctype as usize], process.offset as usize);
            let cells = block.cells.iter().zip(&block.scalars);
            ProcessPlaces {
                location: bytes(at, layout.location.bytes()),
                cells: cells.map(|(offset, scalar)| bytes(at + *offset as usize, scalar.width())).collect(),
                first_channel: process.first_chan as usize,
            }
        };
        Ok(Places {
            blank,
            last: layout.last.map(|at| bytes(at as usize, 1)),
            globals: layout.cells.iter().zip(&layout.scalars).map(global).collect(),
            channels: shape.channels.iter().map(channel).collect(),
            processes: shape.processes.iter().map(process).collect(),
        })
    }
}

/// A machine in which only one process moves from ordinary states. Who moves on from transient states is as
/// ever.
pub struct OneProcess<'a> {
    jit: &'a Jit,
    native: &'a Native,
    pid: AtomicUsize,
}

impl OneProcess<'_> {
    /// From now on this process moves.
    pub fn select(&self, pid: usize) {
        self.pid.store(pid, Ordering::Relaxed);
    }
}

impl TransitionSystem for OneProcess<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.jit.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.worker().enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.jit.fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(OneProcessWorker { worker: self.native.worker(), pid: &self.pid })
    }

    fn labels(&self, state: &[u8]) -> Labels {
        self.jit.labels(state)
    }

    fn hidden_bytes(&self) -> usize {
        self.jit.hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.jit.deadlock(state)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.jit.capabilities()
    }
}

struct OneProcessWorker<'a> {
    worker: NativeWorker<'a>,
    pid: &'a AtomicUsize,
}

impl Worker for OneProcessWorker<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        let mut found = Successors::default();
        self.expand_active(state, SleepMask::NONE, &mut found);
        out.extend(found.list.iter().map(|outcome| outcome.action));
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.worker.fire(state, actions, out);
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        if !self.worker.expand_process(state, self.pid.load(Ordering::Relaxed), out) {
            self.worker.expand_active(state, asleep, out);
        }
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        self.worker.follow(state, most, out)
    }
}
