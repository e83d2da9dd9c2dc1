//! A partitioned system that remembers its answers: searches with other orders of slots ask the same
//! questions.

use std::collections::HashMap;

use crate::partitioned::{
    LocalFault, LocalGroup, LocalPredicate, LocalSteps, Move, Partitioned, Slot, Unanswered,
};

/// Answers that are remembered at most: more are asked again.
const MOST: usize = 1 << 16;

/// An answer.
#[derive(Debug)]
struct Answer {
    written: Box<[u32]>,
    n_steps: usize,
    faults: Vec<LocalFault>,
    enabled: bool,
    atomic_loop: bool,
}

impl Answer {
    fn tell(&self, out: &mut LocalSteps) {
        out.written.extend_from_slice(&self.written);
        out.n_steps += self.n_steps;
        out.faults.extend(self.faults.iter().cloned());
        out.enabled |= self.enabled;
        out.atomic_loop |= self.atomic_loop;
    }
}

/// A system that remembers its answers.
pub struct Remembering<'p> {
    system: &'p mut dyn Partitioned,
    answers: HashMap<(u32, Box<[u32]>), Answer>,
    /// Whether new answers are remembered. If not, old ones are forgotten when they are asked for.
    pub notes: bool,
}

impl<'p> Remembering<'p> {
    /// Nothing is remembered yet.
    pub fn new(system: &'p mut dyn Partitioned) -> Self {
        Remembering { system, answers: HashMap::new(), notes: true }
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

    /// Slots and groups are new: forgets everything.
    fn grow(&mut self) -> Vec<Option<u32>> {
        self.answers.clear();
        self.system.grow()
    }

    fn vector(&mut self, state: &[u8], out: &mut Vec<u32>) -> Result<(), Unanswered> {
        self.system.vector(state, out)
    }

    fn steps(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> Result<(), Unanswered> {
        if self.answers.is_empty() && !self.notes {
            return self.system.steps(group, reads, out);
        }
        let key = (group as u32, Box::from(reads));
        if self.notes {
            if let Some(answer) = self.answers.get(&key) {
                answer.tell(out);
                return Ok(());
            }
        } else if let Some(answer) = self.answers.remove(&key) {
            // The last search asks each question once.
            answer.tell(out);
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
