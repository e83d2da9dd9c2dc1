//! One packed state to its ordinary successors.
//!
//! A step may end inside an atomic sequence. As in `search::expand`, which this is walked beside in the tests
//! and whose edges it has, straight runs are followed without noting where they have been, states where they
//! branch are kept and expanded once, and a run that is very long has all its states kept. A process in
//! control that cannot move gives control back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use kernel::lower::{EXECUTED, LONG, NO_STATE};
use kernel::{Kernel, Layout};

use crate::native::Machine;

/// A packed state.
pub type State<const W: usize> = [u64; W];

/// A run of more transient states than this is not followed as a straight one. (It may be endless.)
const LONG_RUN: u32 = 500;
/// Transient states between two looks at whether to stop.
const LOOK: usize = 1 << 12;
/// Transient states behind one state at most: who has more is for another machine.
const MOST_TRANSIENT: usize = 1 << 24;

/// Something that ends the search of this layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unforeseen<const W: usize> {
    /// What did not fit, and the state in which that happened.
    Miss(u32, State<W>),
    /// A d_step, or what is behind an atomic step, is too long.
    Long,
    /// Somebody wants it to stop.
    Stopped,
}

/// What the state that was expanded last shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shown {
    /// A step with an error.
    pub error: bool,
    /// Nothing can move, and it is no valid end.
    pub deadlock: bool,
    /// An atomic sequence that may go round forever.
    pub endless: bool,
}

impl Shown {
    /// Whether it shows anything.
    pub fn any(self) -> bool {
        self.error || self.deadlock || self.endless
    }
}

/// One field of a state.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
    base: i32,
}

impl Field {
    fn of(layout: &Layout, column: usize) -> Field {
        let column = &layout.columns[column];
        let (word, shift) = if column.bits > 0 { column.at(0) } else { (0, 0) };
        let mask = if column.bits > 0 { u64::from(column.mask()) } else { 0 };
        Field { word, shift, mask, base: column.base }
    }

    #[inline(always)]
    fn load(self, state: &[u64]) -> i32 {
        self.base.wrapping_add((state[self.word] >> self.shift & self.mask) as i32)
    }
}

/// Expands states; keeps its buffers between them.
#[derive(Debug)]
pub struct Expander<'a, const W: usize> {
    machine: &'a Machine,
    uses_timeout: bool,
    uses_control: bool,
    control: Field,
    /// For each process where it is, and where a run may end.
    locations: Vec<(Field, &'a [u32])>,
    /// Whoever wants it to stop sets this.
    stop: &'a AtomicBool,
    records: Vec<u64>,
    closure: Closure<W>,
    /// Whether to look for atomic sequences without end.
    pub look_for_loops: bool,
}

/// The transient states behind one state.
#[derive(Debug)]
struct Closure<const W: usize> {
    first: Vec<(State<W>, u64)>,
    nodes: Vec<State<W>>,
    known: HashMap<State<W>, u32>,
    /// From a node, or from the state itself, to a node.
    steps: Vec<(u32, u32)>,
    again: bool,
    /// From this node on all transient states are kept.
    keep_all_from: usize,
}

/// The state that is expanded, as the origin of a step.
const ROOT: u32 = u32::MAX;

impl<'a, const W: usize> Expander<'a, W> {
    /// By the code of a layout.
    pub fn new(machine: &'a Machine, layout: &'a Layout, kernel: &'a Kernel, stop: &'a AtomicBool) -> Self {
        let slots = layout.slots.iter().zip(&kernel.ends);
        let closure = Closure {
            first: Vec::new(),
            nodes: Vec::new(),
            known: HashMap::new(),
            steps: Vec::new(),
            again: false,
            keep_all_from: usize::MAX,
        };
        Expander {
            machine,
            uses_timeout: kernel.uses_timeout,
            uses_control: kernel.uses_control,
            control: Field::of(layout, layout.control),
            locations: slots.map(|(slot, ends)| (Field::of(layout, slot.location), &ends[..])).collect(),
            stop,
            records: vec![0; machine.room() * machine.record()],
            closure,
            look_for_loops: true,
        }
    }

    /// The process in control.
    #[inline(always)]
    fn in_control(&self, state: &State<W>) -> Option<usize> {
        usize::try_from(self.control.load(state) - 1).ok()
    }

    /// A state that nobody controls.
    fn released(&self, mut state: State<W>) -> State<W> {
        state[self.control.word] &= !(self.control.mask << self.control.shift);
        state
    }

    /// Appends the ordinary successors of an ordinary state, those that are alike too.
    #[inline]
    pub fn expand(&mut self, state: &State<W>, out: &mut Vec<State<W>>) -> Result<Shown, Unforeseen<W>> {
        let mut end = self.all(state, false);
        if end == 0 && self.uses_timeout {
            end = self.all(state, true);
        }
        if end == 0 {
            return Ok(Shown { deadlock: !self.may_end(state), ..Shown::default() });
        }
        let step = W + 1;
        if !self.uses_control {
            let mut plain = true;
            for record in self.records[..end].chunks_exact(step) {
                out.push(words(record));
                plain &= record[W] == u64::from(EXECUTED);
            }
            if plain {
                return Ok(Shown::default());
            }
            out.truncate(out.len() - end / step);
        }
        let ordinary = self.records[..end].chunks_exact(step).all(|record| {
            record[W] == u64::from(EXECUTED)
                && record[self.control.word] >> self.control.shift & self.control.mask == 0
        });
        if ordinary {
            out.extend(self.records[..end].chunks_exact(step).map(words));
            return Ok(Shown::default());
        }
        self.close(state, end, out)
    }

    /// Writes the records of all processes; answers how many words they are.
    #[inline(always)]
    fn all(&mut self, state: &State<W>, timeout: bool) -> usize {
        let mut at = 0;
        for slot in (0..self.machine.n_slots()).rev() {
            at = self.machine.of_process(slot, state, timeout, &mut self.records, at);
        }
        at
    }

    /// Writes the records of the process in control.
    fn inside(&mut self, state: &State<W>) -> usize {
        match self.in_control(state) {
            Some(pid) => self.machine.of_process(pid, state, false, &mut self.records, 0),
            None => 0,
        }
    }

    /// Whether a run may end here: all processes are gone or where they may end.
    fn may_end(&self, state: &State<W>) -> bool {
        self.locations.iter().all(|(location, ends)| {
            let at = location.load(state) as u32;
            at == 0 || ends.contains(&at)
        })
    }

    /// Follows atomic sequences, and looks at errors.
    #[inline(never)]
    fn close(
        &mut self,
        state: &State<W>,
        end: usize,
        out: &mut Vec<State<W>>,
    ) -> Result<Shown, Unforeseen<W>> {
        let mut shown = Shown::default();
        self.closure.clear();
        self.take_records(end);
        self.classify(state, ROOT, out, &mut shown)?;
        let mut next = 0;
        while let Some(node) = self.closure.nodes.get(next).copied() {
            let end = self.inside(&node);
            self.take_records(end);
            self.classify(&node, next as u32, out, &mut shown)?;
            next += 1;
            if next % LOOK == 0 {
                if self.stop.load(Relaxed) {
                    return Err(Unforeseen::Stopped);
                }
                if self.closure.nodes.len() + out.len() > MOST_TRANSIENT {
                    return Err(Unforeseen::Long);
                }
            }
        }
        shown.endless = self.look_for_loops && self.closure.again && self.closure.has_loop();
        Ok(shown)
    }

    fn take_records(&mut self, end: usize) {
        self.closure.first.clear();
        let records = self.records[..end].chunks_exact(W + 1);
        self.closure.first.extend(records.map(|record| (words(record), record[W])));
    }

    /// Classifies the steps of a state: they show errors, lead to transient states, or edges are made of them.
    fn classify(
        &mut self,
        of: &State<W>,
        from: u32,
        out: &mut Vec<State<W>>,
        shown: &mut Shown,
    ) -> Result<(), Unforeseen<W>> {
        let steps = std::mem::take(&mut self.closure.first);
        for &(state, told) in &steps {
            if told >> 32 != 0 {
                return Err(Unforeseen::Miss((told >> 32) as u32, *of));
            }
            let outcome = told as u32;
            if outcome & LONG != 0 {
                return Err(Unforeseen::Long);
            }
            shown.error |= outcome != EXECUTED;
            if outcome & NO_STATE == 0 {
                self.follow(state, outcome == EXECUTED, from, out)?;
            }
        }
        self.closure.first = steps;
        Ok(())
    }

    /// Follows a step to an ordinary state, or to a transient one that is kept.
    fn follow(
        &mut self,
        mut state: State<W>,
        plain: bool,
        from: u32,
        out: &mut Vec<State<W>>,
    ) -> Result<(), Unforeseen<W>> {
        if self.in_control(&state).is_none() {
            out.push(state);
            return Ok(());
        }
        let keeps = !plain || from != ROOT && from as usize >= self.closure.keep_all_from;
        let mut end = self.inside(&state);
        if end == 0 {
            out.push(self.released(state));
            return Ok(());
        }
        let mut n = 0;
        while !keeps && end == W + 1 && self.records[W] == u64::from(EXECUTED) && n < LONG_RUN {
            state = words(&self.records[..=W]);
            if self.in_control(&state).is_none() {
                out.push(state);
                return Ok(());
            }
            end = self.inside(&state);
            if end == 0 {
                out.push(self.released(state));
                return Ok(());
            }
            n += 1;
        }
        if n == LONG_RUN {
            self.closure.keep_all_from = self.closure.keep_all_from.min(self.closure.nodes.len());
        }
        self.closure.visit(state, from);
        Ok(())
    }
}

impl<const W: usize> Closure<W> {
    fn clear(&mut self) {
        if !self.nodes.is_empty() {
            self.nodes.clear();
            self.known.clear();
            self.steps.clear();
        }
        self.again = false;
        self.keep_all_from = usize::MAX;
    }

    fn visit(&mut self, state: State<W>, from: u32) {
        let next = self.nodes.len() as u32;
        let number = *self.known.entry(state).or_insert(next);
        match number == next {
            true => self.nodes.push(state),
            false => self.again = true,
        }
        self.steps.push((from, number));
    }

    /// Whether a kept state can be reached from itself: states without a step to one that is left are taken
    /// away as long as there are any.
    fn has_loop(&self) -> bool {
        let n = self.nodes.len();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut ahead = vec![0u32; n];
        for &(from, to) in self.steps.iter().filter(|step| step.0 != ROOT) {
            before[to as usize].push(from);
            ahead[from as usize] += 1;
        }
        let mut gone: Vec<u32> = (0..n as u32).filter(|&node| ahead[node as usize] == 0).collect();
        let mut n_gone = 0;
        while let Some(node) = gone.pop() {
            n_gone += 1;
            for &from in &before[node as usize] {
                ahead[from as usize] -= 1;
                if ahead[from as usize] == 0 {
                    gone.push(from);
                }
            }
        }
        n_gone < n
    }
}

#[inline(always)]
fn words<const W: usize>(record: &[u64]) -> State<W> {
    std::array::from_fn(|at| record[at])
}
