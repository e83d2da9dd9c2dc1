//! Atomic closure: the ordinary states behind the transient ones in which steps end.
//!
//! Most atomic sequences are straight: a transient state has one successor. Such a run is followed without
//! noting where it has been, up to the state where it branches. Only those are kept, and each is expanded
//! once however often it is reached. A run that is very long may be endless; then all its states are kept.
//! All are kept as well if the actions to an ordinary state must be as few as possible
//! ([`AtomicClosure::exact`]): then they are expanded in order of distance.
//!
//! When a transient state is met again the graph of the closure may have a cycle: an atomic sequence that can
//! run forever. That is looked for only then, and reported as a warning. Limits apply inside a closure as
//! well, since it may be as large as a state space.
//!
//! A machine may give up in the midst of a step, and a limit may end a closure. Then there are no edges, but
//! the errors that other steps of the state have shown by then are kept ([`Expansion::faults`]): they are
//! errors whatever lies behind the step that was cut short.

use super::expansion::{Expansion, StepFault};
use crate::atomic_run::{AtomicRun, STRAIGHT, TransientNode};
use crate::cuts::Cuts;
use crate::edge::Edge;
use crate::halt::obeying;
use crate::limits::Budget;
use crate::outcome::{StopReason, no_memory};
use std::ops::Range;
use system::{SleepMask, Successor, Successors, Worker, WorkerExt};

/// Transient states that are expanded together.
const TOGETHER: usize = 16;
/// A run of more transient states than this is not followed as a straight one. (It may be endless.)
pub(super) const LONG_RUN: u32 = 500;
/// Bytes of outcomes beyond which offsets no longer fit into 32 bits safely.
const MOST_BYTES: usize = 3 << 30;

/// Where a run leads.
enum Followed {
    /// To an ordinary state: the outcome with which it began is now the edge.
    ToEdge,
    /// To a transient state that is to be expanded.
    ToNode(TransientNode),
    Nowhere,
}

/// Closes the atomic sequences of one state at a time; keeps its buffers between them.
pub(super) struct AtomicClosure<'a> {
    pub worker: Box<dyn Worker + 'a>,
    /// For a lean search: the outcomes of a state are kept as they were, as [`Expansion::closed`].
    keep_outcomes: bool,
    /// Whether to look for endless atomic sequences.
    pub look_for_loops: bool,
    /// Whether the actions to each ordinary state must be as few as possible, because steps are counted.
    pub exact: bool,
    /// Where paths were cut off, in all that was expanded.
    pub cuts: Cuts,
    run: AtomicRun,
    current: Vec<u8>,
    /// The steps of a straight run.
    steps: Successors,
    /// Of the transient states that are being expanded together: where the outcomes of each end, and the
    /// hashes of all.
    ends: Vec<usize>,
    hashes: Vec<Option<u64>>,
}

impl<'a> AtomicClosure<'a> {
    /// Nothing has been closed yet.
    pub fn new(worker: Box<dyn Worker + 'a>, keep_outcomes: bool) -> Self {
        AtomicClosure {
            worker,
            keep_outcomes,
            look_for_loops: true,
            exact: false,
            cuts: Cuts::default(),
            run: AtomicRun::default(),
            current: Vec::new(),
            steps: Successors::default(),
            ends: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// The transient states behind the state that was expanded last.
    pub fn run(&self) -> &AtomicRun {
        &self.run
    }

    /// Exchanges them for those of another state.
    pub fn swap_run(&mut self, run: &mut AtomicRun) {
        std::mem::swap(&mut self.run, run);
    }

    /// Has the machine take all steps of a state, but those of processes that sleep.
    #[inline(always)]
    pub fn expand(&mut self, state: &[u8], asleep: SleepMask, out: &mut Expansion) -> Result<(), StopReason> {
        let first = out.outcomes.list.len();
        let expanded = obeying(|| {
            self.worker.expand_active(state, asleep, &mut out.outcomes);
            Ok(())
        });
        if expanded.is_err() {
            self.run.clear();
            self.keep_faults(first..out.outcomes.list.len(), None, out);
            out.outcomes.list.truncate(first);
        }
        expanded
    }

    /// Makes edges of the outcomes from `first` on. `fresh`: they are the first of their state.
    #[inline(always)]
    pub fn close(
        &mut self,
        first: usize,
        fresh: bool,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        if !out.outcomes.unusual && budget.steps_left(depth) > 0 {
            return Ok(());
        }
        self.close_unusual(first, fresh, depth, budget, out)
    }

    /// Classifies the outcomes of a state and closes the atomic sequences that begin with them.
    #[inline(never)]
    fn close_unusual(
        &mut self,
        first: usize,
        fresh: bool,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let steps_left = budget.steps_left(depth);
        if fresh {
            self.run.clear();
        }
        out.closed.clear();
        if steps_left == 0 {
            out.outcomes.list.truncate(first);
            if !out.stuck {
                out.cut = true;
                self.cuts.at_depth();
            }
            return Ok(());
        }
        let next = self.run.nodes.len();
        self.classify_first(first, steps_left, out)?;
        if self.run.nodes.len() > next {
            // Machines append to the list of outcomes, so that edges found so far move out of their way.
            out.closed.clear();
            std::mem::swap(&mut out.closed, &mut out.outcomes.list);
            let closed = self.expand_transients(next, depth, budget, out);
            std::mem::swap(&mut out.closed, &mut out.outcomes.list);
            closed?;
        }
        // Without a state that was met twice the graph of the closure is a tree.
        if self.look_for_loops && !self.run.again.is_empty() {
            out.atomic_loop = self.run.find_loop();
            if out.atomic_loop.is_some() {
                self.cuts.in_atomic_loop();
            }
        }
        Ok(())
    }

    /// Makes edges of the outcomes from `first` on where that is possible, where they stand: an outcome
    /// gives one at most. For lean search they are kept as they were, as [`Expansion::closed`].
    fn classify_first(&mut self, first: usize, steps: u64, out: &mut Expansion) -> Result<(), StopReason> {
        let last = out.outcomes.list.len();
        if self.keep_outcomes {
            out.closed.extend_from_slice(&out.outcomes.list[first..]);
        }
        let (mut kept, mut result) = (first, Ok(()));
        for at in first..last {
            let mut outcome = out.outcomes.list[at];
            if !outcome.is_ordinary() {
                match self.classify(&mut outcome, None, None, steps, out) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(reason) => {
                        self.keep_faults(at + 1..last, None, out);
                        result = Err(reason);
                        break;
                    }
                }
            }
            out.outcomes.list[kept] = outcome;
            kept += 1;
        }
        out.outcomes.list.truncate(kept);
        result
    }

    /// Expands the transient states from `next` on, and those that are found meanwhile.
    fn expand_transients(
        &mut self,
        mut next: usize,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let steps_left = budget.steps_left(depth);
        while let Some(node) = self.run.nodes.get(next) {
            let inside = u64::from(node.depth);
            let n = (self.run.nodes.len() - next).min(TOGETHER);
            self.expand_together(next, n, steps_left, out)?;
            next += n;
            if budget.atomic_spent(self.run.nodes.len() + out.closed.len()) {
                return Err(StopReason::StateLimit);
            }
            if budget.tick()? {
                budget.look_inside(depth + inside, self.run.memory() + out.memory())?;
            }
        }
        Ok(())
    }

    /// Expands some transient states, those that may still take a step. They are expanded together, because
    /// looking up what follows mostly waits for memory. What gave no edge is forgotten at once: a closure may
    /// be large.
    fn expand_together(
        &mut self,
        from: usize,
        n: usize,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let (first, bytes, edges) = (out.outcomes.list.len(), out.outcomes.bytes.len(), out.closed.len());
        if bytes > MOST_BYTES {
            return Err(StopReason::MemoryLimit);
        }
        self.run.make_room().and_then(|()| out.make_room()).map_err(no_memory)?;
        self.ends.clear();
        let mut expanded = Ok(());
        for node in from..from + n {
            if expanded.is_ok() {
                expanded = self.expand_node(node as u32, out);
            }
            self.ends.push(out.outcomes.list.len());
        }
        self.hashes.clear();
        // Where runs are followed, the state that is looked up is not the one that the outcome names.
        let prepared = if self.keeps_all(Some(from as u32)) { first } else { out.outcomes.list.len() };
        for outcome in &out.outcomes.list[prepared..] {
            let state = out.outcomes.state(outcome).filter(|_| outcome.is_transient());
            self.hashes.push(state.and_then(|state| self.run.states.prepare(state)));
        }
        let mut start = first;
        for node in from..from + n {
            let end = self.ends[node - from];
            // A state at the limit was expanded only to learn whether something is left out.
            if u64::from(self.run.nodes[node].depth) < steps {
                match expanded {
                    Ok(()) => expanded = self.classify_all(start..end, node as u32, steps, out),
                    Err(_) => self.keep_faults(start..end, Some(node as u32), out),
                }
            } else if end > start {
                out.cut = true;
                self.cuts.at_depth();
            }
            start = end;
        }
        out.outcomes.list.truncate(first);
        if out.closed.len() == edges {
            out.outcomes.bytes.truncate(bytes);
        }
        expanded
    }

    /// Expands a transient state; one in which nothing is enabled is ordinary.
    fn expand_node(&mut self, from: u32, out: &mut Expansion) -> Result<(), StopReason> {
        self.current.clear();
        self.current.extend_from_slice(self.run.states.state(from));
        let before = out.outcomes.list.len();
        obeying(|| {
            self.worker.expand_transient(&self.current, &mut out.outcomes);
            Ok(())
        })?;
        if out.outcomes.list.len() == before {
            let edge = self.end_here(self.run.nodes[from as usize], out);
            out.closed.push(edge.record());
        }
        Ok(())
    }

    /// Classifies outcomes of a node. If they have been prepared, `hashes` says how.
    fn classify_all(
        &mut self,
        outcomes: Range<usize>,
        from: u32,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let unprepared = out.outcomes.list.len() - self.hashes.len();
        for at in outcomes.clone() {
            let mut outcome = out.outcomes.list[at];
            let hash = at.checked_sub(unprepared).and_then(|at| self.hashes[at]);
            match self.classify(&mut outcome, Some(from), hash, steps, out) {
                Ok(true) => out.closed.push(outcome),
                Ok(false) => {}
                Err(reason) => {
                    self.keep_faults(at + 1..outcomes.end, Some(from), out);
                    return Err(reason);
                }
            }
        }
        Ok(())
    }

    /// Classifies an outcome: it shows an error, leads to a transient state, or an edge is made of it. Says
    /// whether it is one.
    fn classify(
        &mut self,
        outcome: &mut Successor,
        from: Option<u32>,
        hash: Option<u64>,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<bool, StopReason> {
        if outcome.fault != 0 {
            self.note_fault(outcome, from, out);
        }
        if outcome.is_transient() {
            if outcome.fault == 0 && !self.keeps_all(from) {
                return self.follow_run(outcome, from, steps, out);
            }
            let node =
                TransientNode { parent: from, action: outcome.action, depth: 1 + self.run.depth(from) };
            self.visit(out.outcomes.state(outcome), node, hash)?;
            return Ok(false);
        }
        out.lost |= !outcome.has_state();
        *outcome = Edge::single(outcome.action, outcome.start, outcome.len)
            .after(from, self.run.depth(from))
            .record();
        Ok(outcome.has_state())
    }

    /// Follows a run; the state at which it is left will be expanded in its turn. If steps are counted, that
    /// is its first one.
    fn follow_run(
        &mut self,
        outcome: &mut Successor,
        from: Option<u32>,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<bool, StopReason> {
        let straight = self.run.straight.len();
        let mut node = match self.follow_straight(outcome, from, steps, out)? {
            Followed::ToEdge => return Ok(true),
            Followed::ToNode(node) => node,
            Followed::Nowhere => return Ok(false),
        };
        if self.exact {
            // The branch may be nearer by another way, so that the run is entered at its first state, and its
            // states are expanded in order of distance.
            self.run.straight.truncate(straight);
            node = TransientNode { parent: from, action: outcome.action, depth: 1 + self.run.depth(from) };
            self.visit(out.outcomes.state(outcome), node, None)?;
            return Ok(false);
        }
        let current = std::mem::take(&mut self.current);
        let entered = self.visit(Some(&current), node, None);
        self.current = current;
        entered.map(|()| false)
    }

    /// Follows an atomic sequence that begins with this outcome of a node as long as it is straight. The
    /// state at which it is left is then the current one.
    fn follow_straight(
        &mut self,
        first: &mut Successor,
        from: Option<u32>,
        steps: u64,
        out: &mut Expansion,
    ) -> Result<Followed, StopReason> {
        let bytes = out.outcomes.bytes.len();
        if bytes > MOST_BYTES || self.run.straight.len() > (STRAIGHT - LONG_RUN) as usize {
            return Err(StopReason::MemoryLimit);
        }
        let Some(mut state) = out.outcomes.state(first) else { return Ok(Followed::Nowhere) };
        let AtomicClosure { worker, run, steps: there, current, .. } = self;
        let mut node = TransientNode { parent: from, action: first.action, depth: 1 + run.depth(from) };
        let last = steps.min(u64::from(node.depth + LONG_RUN));
        let most = last.saturating_sub(u64::from(node.depth)) as u32;
        let Some(followed) = follow(&mut **worker, state, most, there) else {
            state.clone_into(current);
            return Ok(Followed::ToNode(node));
        };
        run.straight.try_reserve(followed + 1).map_err(no_memory)?;
        let mut pass = |node: TransientNode, outcome: &Successor| {
            let at = STRAIGHT + run.straight.len() as u32;
            run.straight.push(node);
            TransientNode { parent: Some(at), action: outcome.action, depth: node.depth + 1 }
        };
        for outcome in &there.list[..followed] {
            node = pass(node, outcome);
            state = &there.bytes[outcome.start as usize..][..outcome.len as usize];
        }
        let ended = match there.list[followed..] {
            [ref only] if only.fault == 0 && only.has_state() => {
                node = pass(node, only);
                state = &there.bytes[only.start as usize..][..only.len as usize];
                if !only.is_transient() {
                    out.outcomes.bytes.extend_from_slice(state);
                    let last = Edge::single(only.action, bytes as u32, only.len);
                    *first = last.after(node.parent, node.depth - 1).record();
                    return Ok(Followed::ToEdge);
                }
                false
            }
            ref outcomes => outcomes.is_empty() && most > 0,
        };
        // A run this long may be endless, which only states that are kept can show.
        if u64::from(node.depth) >= last {
            run.keep_all_from = run.keep_all_from.min(run.nodes.len());
        }
        // What the last state shows is found again when it is expanded in its turn.
        there.faults.clear();
        there.more_faults.clear();
        state.clone_into(current);
        if !ended {
            return Ok(Followed::ToNode(node));
        }
        *first = self.end_here(node, out).record();
        Ok(Followed::ToEdge)
    }

    /// The current state was reached like this, and nothing is enabled in it: it is ordinary.
    fn end_here(&self, TransientNode { parent, action, depth }: TransientNode, out: &mut Expansion) -> Edge {
        let (start, len) = (out.outcomes.bytes.len() as u32, self.current.len() as u32);
        out.outcomes.bytes.extend_from_slice(&self.current);
        Edge::single(action, start, len).after(parent, depth - 1)
    }

    /// Enters a transient state; a new one will be expanded in its turn.
    fn visit(
        &mut self,
        state: Option<&[u8]>,
        node: TransientNode,
        hash: Option<u64>,
    ) -> Result<(), StopReason> {
        let Some(state) = state else { return Ok(()) };
        match self.run.states.visit(state, hash).map_err(|_| StopReason::MemoryLimit)? {
            None => self.run.nodes.push(node),
            Some(number) => self.run.again.extend(node.parent.map(|from| (from, number))),
        }
        Ok(())
    }

    /// Whether all transient states behind this node are kept.
    fn keeps_all(&self, from: Option<u32>) -> bool {
        from.is_some_and(|from| self.exact || from as usize >= self.run.keep_all_from)
    }

    /// Notes the errors of outcomes of a node that will not be followed.
    #[cold]
    fn keep_faults(&mut self, outcomes: Range<usize>, from: Option<u32>, out: &mut Expansion) {
        for at in outcomes {
            let outcome = out.outcomes.list[at];
            if outcome.fault != 0 {
                self.note_fault(&outcome, from, out);
            }
        }
    }

    #[cold]
    fn note_fault(&mut self, outcome: &Successor, from: Option<u32>, out: &mut Expansion) {
        let cut = !outcome.has_state();
        for fault in out.outcomes.faults_of(outcome) {
            if cut {
                self.cuts.by_error(fault);
            }
            let mut actions = Vec::new();
            self.run.path(from, outcome.action, &mut actions);
            out.faults.push(StepFault { fault: fault.clone(), actions, cut });
        }
    }
}

/// Follows a straight run of at most `most` steps. `None` where the machine gives up: the run is left at its
/// first state then, which shows what there is beside the step that was cut short when it is expanded in its
/// turn.
fn follow(worker: &mut dyn Worker, state: &[u8], most: u32, there: &mut Successors) -> Option<usize> {
    there.clear();
    match most {
        0 => Some(0),
        most => obeying(|| Ok(worker.follow(state, most, there))).ok(),
    }
}
