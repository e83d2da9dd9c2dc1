//! States that are expanded together, by whichever thread: what is handed out, and what comes back.

use super::steps::{FoundSteps, Steps};
use super::{Looker, Lookers};
use crate::limits::Budget;
use crate::outcome::{StopReason, no_memory};
use std::ops::Range;
use system::TransitionSystem;

/// States that are handed out together: enough that handing over costs nothing beside expanding them.
const BATCH: usize = 128;

/// States, one behind another.
#[derive(Debug, Default)]
pub(super) struct States {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl States {
    /// The number of states.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are as many as are handed out together.
    pub fn is_full(&self) -> bool {
        self.ends.len() >= BATCH
    }

    /// One of them.
    pub fn state(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// Adds one.
    pub fn push(&mut self, state: &[u8]) -> Result<(), StopReason> {
        self.bytes.try_reserve(state.len()).map_err(no_memory)?;
        self.ends.try_reserve(1).map_err(no_memory)?;
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()) as u64
    }
}

/// Where the parts of a state end in what was found.
#[derive(Clone, Copy, Debug, Default)]
struct RowEnd {
    targets: usize,
    cuts: usize,
    words: usize,
}

/// States with all their steps, and what was seen of both.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// The states.
    pub states: States,
    /// Their steps.
    pub found: FoundSteps,
    /// The labels of steps, and of those without an end; nothing where steps have none.
    pub labels: Vec<u32>,
    pub cut_labels: Vec<u32>,
    /// What a looker told of the states.
    pub words: Vec<u64>,
    rows: Vec<RowEnd>,
}

/// The parts of one state in what was found.
pub(super) struct Row {
    pub targets: Range<usize>,
    pub cuts: Range<usize>,
    pub words: Range<usize>,
}

impl Expanded {
    /// The parts of one of the states.
    pub fn row(&self, at: usize) -> Row {
        let (start, end) = (if at == 0 { RowEnd::default() } else { self.rows[at - 1] }, self.rows[at]);
        Row { targets: start.targets..end.targets, cuts: start.cuts..end.cuts, words: start.words..end.words }
    }

    fn clear(&mut self) {
        self.found.clear();
        self.labels.clear();
        self.cut_labels.clear();
        self.words.clear();
        self.rows.clear();
    }
}

/// Expands states for one thread.
pub(super) struct Hand<'a> {
    steps: Steps<'a>,
    looker: Box<dyn Looker + 'a>,
    wants_steps: bool,
    /// Buffers to be filled again.
    spare: Expanded,
}

impl<'a> Hand<'a> {
    /// For one more thread.
    pub fn new(system: &'a dyn TransitionSystem, lookers: &'a dyn Lookers) -> Self {
        let (looker, wants_steps) = (lookers.looker(), lookers.wants_steps());
        Hand { steps: Steps::new(system), looker, wants_steps, spare: Expanded::default() }
    }

    /// Expands all of these states.
    pub fn expand(&mut self, states: States, budget: &mut Budget<'_>) -> Result<Expanded, StopReason> {
        let mut expanded = std::mem::take(&mut self.spare);
        expanded.clear();
        self.steps.exchange(std::mem::take(&mut expanded.found));
        for at in 0..states.len() {
            if budget.tick()? {
                budget.look_at_clock()?;
            }
            let state = states.state(at);
            let (targets, cuts) = (self.steps.found().targets.len(), self.steps.found().cuts.len());
            self.steps.append(state, budget)?;
            self.looker.state(state, self.steps.is_stuck(), &mut expanded.words);
            let found = self.steps.found();
            if self.wants_steps {
                for target in &found.targets[targets..] {
                    let label = self.looker.step(state, &found.actions[target.actions.clone()]);
                    expanded.labels.push(label);
                }
                for cut in &found.cuts[cuts..] {
                    let label = self.looker.step(state, &found.actions[cut.actions.clone()]);
                    expanded.cut_labels.push(label);
                }
            }
            let (targets, cuts) = (found.targets.len(), found.cuts.len());
            expanded.rows.push(RowEnd { targets, cuts, words: expanded.words.len() });
        }
        expanded.found = self.steps.exchange(FoundSteps::default());
        expanded.states = states;
        Ok(expanded)
    }

    /// Takes buffers back.
    pub fn recycle(&mut self, expanded: Expanded) {
        self.spare = expanded;
    }
}
