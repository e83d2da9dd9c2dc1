//! All steps of a state, one by one: what a graph is made of.
//!
//! A step begins with an action that is enabled in the state and ends in an ordinary state; between them may
//! lie an atomic sequence. Unlike a search ([`crate::expand`]), which must find every state behind a sequence
//! once, a graph has an edge for every first action and every state behind it: labels, processes and silence
//! belong to steps.

use crate::limits::Budget;
use crate::outcome::StopReason;
use std::collections::HashMap;
use std::ops::Range;
use system::{ActionId, Fault, Successor, Successors, TransitionSystem, Worker, WorkerExt};

/// Transient states that are followed at a time.
const RUN: u32 = 500;

/// A step to an ordinary state.
#[derive(Clone, Debug)]
pub struct Target {
    /// The state, in [`Steps::bytes`].
    pub bytes: Range<usize>,
    /// Its actions, in [`Steps::actions`].
    pub actions: Range<usize>,
}

/// A step without an end.
#[derive(Clone, Debug)]
pub struct CutStep {
    /// Its actions.
    pub actions: Range<usize>,
    /// The error that cuts it off; `None`: an atomic sequence can run forever.
    pub fault: Option<Fault>,
}

/// The steps of one state, or of several one after another.
#[derive(Debug, Default)]
pub struct FoundSteps {
    /// The bytes of the states behind them.
    pub bytes: Vec<u8>,
    /// Their actions.
    pub actions: Vec<ActionId>,
    /// Those with an end, of each state in the order of their first actions.
    pub targets: Vec<Target>,
    /// Those without.
    pub cuts: Vec<CutStep>,
}

impl FoundSteps {
    /// Forgets them; buffers are kept.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.actions.clear();
        self.targets.clear();
        self.cuts.clear();
    }
}

/// Expands states; buffers are kept between them.
pub struct Steps<'a> {
    worker: Box<dyn Worker + 'a>,
    outcomes: Successors,
    /// Outcomes inside an atomic sequence.
    inside: Successors,
    found: FoundSteps,
    stuck: bool,
}

/// A transient state where an atomic sequence branches.
struct Branch {
    state: Vec<u8>,
    /// The actions to it, from the first of the step.
    actions: Vec<ActionId>,
}

impl<'a> Steps<'a> {
    /// For this system.
    pub fn new(system: &'a dyn TransitionSystem) -> Self {
        Steps {
            worker: system.worker(),
            outcomes: Successors::default(),
            inside: Successors::default(),
            found: FoundSteps::default(),
            stuck: false,
        }
    }

    /// The steps of the state that was expanded last, in the order of their first actions.
    pub fn targets(&self) -> &[Target] {
        &self.found.targets
    }

    /// Its steps without an end.
    pub fn cuts(&self) -> &[CutStep] {
        &self.found.cuts
    }

    /// The bytes of the states behind it.
    pub fn bytes(&self) -> &[u8] {
        &self.found.bytes
    }

    /// The actions of all steps.
    pub fn actions(&self) -> &[ActionId] {
        &self.found.actions
    }

    /// What was found since it was taken last; `spare` is filled next.
    pub(super) fn exchange(&mut self, spare: FoundSteps) -> FoundSteps {
        std::mem::replace(&mut self.found, spare)
    }

    /// What was found since it was taken last.
    pub(super) fn found(&self) -> &FoundSteps {
        &self.found
    }

    /// Whether no action is enabled.
    pub fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Finds all steps of an ordinary state.
    pub fn expand(&mut self, state: &[u8], budget: &mut Budget<'_>) -> Result<(), StopReason> {
        self.found.clear();
        self.append(state, budget)
    }

    /// Finds all steps of an ordinary state, behind those of others.
    pub(super) fn append(&mut self, state: &[u8], budget: &mut Budget<'_>) -> Result<(), StopReason> {
        self.outcomes.clear();
        self.worker.expand(state, &mut self.outcomes);
        self.stuck = self.outcomes.list.is_empty();
        for at in 0..self.outcomes.list.len() {
            let outcome = self.outcomes.list[at];
            match (outcome.is_transient(), self.outcomes.state(&outcome)) {
                (true, Some(first)) => {
                    let first = first.to_vec();
                    self.close(first, outcome.action, budget)?;
                }
                (_, Some(target)) => {
                    let bytes = append(&mut self.found.bytes, target);
                    let actions = append(&mut self.found.actions, &[outcome.action]);
                    self.found.targets.push(Target { bytes, actions });
                }
                (_, None) => {
                    let actions = append(&mut self.found.actions, &[outcome.action]);
                    let fault = self.outcomes.fault(&outcome).cloned();
                    debug_assert!(fault.is_some(), "a step without a state shows why");
                    self.found.cuts.push(CutStep { actions, fault });
                }
            }
        }
        Ok(())
    }

    /// Finds the ordinary states behind a transient one, breadth-first over the states where sequences
    /// branch.
    fn close(&mut self, first: Vec<u8>, action: ActionId, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let before = self.found.targets.len();
        let mut branches = vec![Branch { state: first.clone(), actions: vec![action] }];
        let mut known: HashMap<Vec<u8>, usize> = HashMap::from([(first, 0)]);
        // From which branch to which.
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while at < branches.len() {
            budget.tick()?;
            if at % 64 == 63 {
                budget.look_inside(0, (known.len() * 64 + self.found.bytes.len()) as u64)?;
            }
            self.inside.clear();
            let state = std::mem::take(&mut branches[at].state);
            let followed = self.worker.follow(&state, RUN, &mut self.inside);
            let mut actions = branches[at].actions.clone();
            actions.extend(self.inside.list[..followed].iter().map(|outcome| outcome.action));
            if self.inside.list.len() == followed {
                // Nothing is enabled behind the run: its last state is an ordinary one.
                let last = self.inside.list.last().and_then(|outcome| self.inside.state(outcome));
                let last = last.unwrap_or(&state).to_vec();
                self.arrive(&last, &actions, before);
            }
            for next in followed..self.inside.list.len() {
                let outcome: Successor = self.inside.list[next];
                let mut actions = actions.clone();
                actions.push(outcome.action);
                let Some(target) = self.inside.state(&outcome).map(<[u8]>::to_vec) else {
                    let fault = self.inside.fault(&outcome).cloned();
                    let actions = append(&mut self.found.actions, &actions);
                    self.found.cuts.push(CutStep { actions, fault });
                    continue;
                };
                if !outcome.is_transient() {
                    self.arrive(&target, &actions, before);
                    continue;
                }
                let fresh = branches.len();
                let branch = *known.entry(target.clone()).or_insert(fresh);
                if branch == fresh {
                    branches.push(Branch { state: target, actions });
                }
                edges.push((at, branch));
            }
            at += 1;
        }
        if edges.len() >= branches.len() && has_cycle(branches.len(), &edges) {
            let actions = append(&mut self.found.actions, &[action]);
            self.found.cuts.push(CutStep { actions, fault: None });
        }
        Ok(())
    }

    /// Adds a step, unless one with the same first action leads to the state; those come from `before` on.
    fn arrive(&mut self, target: &[u8], actions: &[ActionId], before: usize) {
        let same = |known: &Target| self.found.bytes[known.bytes.clone()] == *target;
        if !self.found.targets[before..].iter().any(same) {
            let bytes = append(&mut self.found.bytes, target);
            let actions = append(&mut self.found.actions, actions);
            self.found.targets.push(Target { bytes, actions });
        }
    }
}

/// Appends to a buffer, and says where.
fn append<T: Copy>(buffer: &mut Vec<T>, items: &[T]) -> Range<usize> {
    let start = buffer.len();
    buffer.extend_from_slice(items);
    start..buffer.len()
}

/// Whether a graph has a cycle: what is left when states that nothing left leads to are taken away.
fn has_cycle(n: usize, edges: &[(usize, usize)]) -> bool {
    let mut incoming = vec![0usize; n];
    let mut outgoing = vec![Vec::new(); n];
    for &(from, to) in edges {
        incoming[to] += 1;
        outgoing[from].push(to);
    }
    let mut free: Vec<usize> = (0..n).filter(|&state| incoming[state] == 0).collect();
    let mut taken = 0;
    while let Some(state) = free.pop() {
        taken += 1;
        for &to in &outgoing[state] {
            incoming[to] -= 1;
            if incoming[to] == 0 {
                free.push(to);
            }
        }
    }
    taken < n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_branches_are_found() {
        assert!(!has_cycle(3, &[(0, 1), (0, 2), (1, 2)]));
        assert!(has_cycle(3, &[(0, 1), (1, 2), (2, 1)]));
    }
}
