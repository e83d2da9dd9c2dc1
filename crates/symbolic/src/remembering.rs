//! A partitioned system that remembers its answers: searches with other orders of slots ask the same
//! questions.

use std::collections::HashMap;

use crate::partitioned::{
    LocalFault, LocalGroup, LocalPredicate, LocalSteps, Move, Partitioned, Slot, Unanswered,
};

/// Answers that are remembered at most: more are asked again.
const MOST: usize = 1 << 18;

/// An answer.
#[derive(Debug)]
struct Answer {
    written: Box<[u32]>,
    n_steps: usize,
    faults: Vec<LocalFault>,
    enabled: bool,
    atomic_loop: bool,
}

/// A system that remembers its answers.
pub struct Remembering<'p> {
    system: &'p mut dyn Partitioned,
    answers: HashMap<(u32, Box<[u32]>), Answer>,
    /// Whether new answers are remembered.
    pub notes: bool,
}

impl<'p> Remembering<'p> {
    /// Nothing is remembered yet.
    pub fn new(system: &'p mut dyn Partitioned) -> Self {
        Remembering { system, answers: HashMap::new(), notes: true }
    }

    /// Slots and groups are new: forgets everything.
    pub fn forget(&mut self) {
        self.answers.clear();
        self.notes = true;
    }
}

impl Partitioned for Remembering<'_> {
    fn slots(&self) -> &[Slot] {
        self.system.slots()
    }

    fn groups(&self) -> &[LocalGroup] {
        self.system.groups()
    }

    fn predicates(&self) -> &[LocalPredicate] {
        self.system.predicates()
    }

    fn vector(&mut self, state: &[u8], out: &mut Vec<u32>) -> Result<(), Unanswered> {
        self.system.vector(state, out)
    }

    fn steps(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> Result<(), Unanswered> {
        if self.answers.is_empty() && !self.notes {
            return self.system.steps(group, reads, out);
        }
        let key = (group as u32, Box::from(reads));
        if let Some(answer) = self.answers.get(&key) {
            out.written.extend_from_slice(&answer.written);
            out.n_steps += answer.n_steps;
            out.faults.extend(answer.faults.iter().cloned());
            out.enabled |= answer.enabled;
            out.atomic_loop |= answer.atomic_loop;
            return Ok(());
        }
        debug_assert!(out.n_steps == 0, "answers are asked for one at a time");
        self.system.steps(group, reads, out)?;
        if self.notes && self.answers.len() < MOST {
            let answer = Answer {
                written: Box::from(&out.written[..]),
                n_steps: out.n_steps,
                faults: out.faults.clone(),
                enabled: out.enabled,
                atomic_loop: out.atomic_loop,
            };
            self.answers.insert(key, answer);
        }
        Ok(())
    }

    fn moves(&mut self, group: usize, reads: &[u32]) -> Result<Vec<Move>, Unanswered> {
        self.system.moves(group, reads)
    }

    fn holds(&mut self, predicate: usize, reads: &[u32]) -> Result<bool, Unanswered> {
        self.system.holds(predicate, reads)
    }
}
