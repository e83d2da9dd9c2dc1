//! Propositions: which code answers which of them.
//!
//! A set of propositions is cut into groups that one function answers at a time. `np_` is read from the
//! labels. What there is no code for, and what meets an error, is left to the reference machine, a whole set
//! at a time.

use promela::ir::{Expr, ExprKind};
use system::{Fault, Propositions};

use crate::code::{EVALUATED, GROUP};
use crate::native::Native;

/// How the propositions of one set are answered.
#[derive(Debug, Default)]
struct Set {
    /// Groups of code: the number, and the proposition of each of its bits.
    code: Vec<(usize, Vec<u32>)>,
    /// Propositions that are `np_`.
    non_progress: u64,
    /// `timeout` occurs: whether anybody can move is for the reference machine to say.
    reference: bool,
}

/// All sets.
#[derive(Debug, Default)]
pub struct Watched {
    sets: Vec<Set>,
    /// What each group of code answers.
    pub groups: Vec<Vec<Expr>>,
}

impl Watched {
    /// Plans the code for some sets.
    pub fn new(sets: &[Vec<Expr>]) -> Self {
        let mut watched = Watched::default();
        for propositions in sets {
            let mut set =
                Set { reference: machine::interp::mentions_timeout(propositions), ..Set::default() };
            let mut rest: Vec<(u32, &Expr)> = Vec::new();
            for (number, expr) in propositions.iter().enumerate().take(64) {
                match expr.kind {
                    ExprKind::NonProgress => set.non_progress |= 1 << number,
                    _ => rest.push((number as u32, expr)),
                }
            }
            for group in rest.chunks(GROUP) {
                set.code.push((watched.groups.len(), group.iter().map(|(number, _)| *number).collect()));
                watched.groups.push(group.iter().map(|(_, expr)| (*expr).clone()).collect());
            }
            watched.sets.push(set);
        }
        watched
    }
}

impl Propositions for Native {
    fn propositions(&self, set: usize, state: &[u8]) -> u64 {
        let Some(wanted) = self.watched.sets.get(set) else { return 0 };
        if wanted.reference {
            self.handed_over();
            return self.interp.propositions(set, &self.to_interp(state));
        }
        let mut bits = 0;
        if wanted.non_progress != 0 && !self.labels(state).progress {
            bits |= wanted.non_progress;
        }
        for (group, numbers) in &wanted.code {
            let answer = self.ask(*group, state);
            if answer & EVALUATED == 0 {
                self.handed_over();
                return self.interp.propositions(set, &self.to_interp(state));
            }
            if numbers.first() == Some(&0) && numbers.last() == Some(&(numbers.len() as u32 - 1)) {
                bits |= u64::from(answer & !EVALUATED);
                continue;
            }
            for (i, number) in numbers.iter().enumerate() {
                bits |= u64::from(answer >> i & 1) << number;
            }
        }
        bits
    }

    fn may_fail(&self, set: usize) -> u64 {
        self.interp.may_fail(set)
    }

    fn evaluation_error(&self, set: usize, number: u32, state: &[u8]) -> Option<Fault> {
        let wanted = self.watched.sets.get(set)?;
        let mut groups = wanted.code.iter();
        let group = groups.find(|(_, numbers)| numbers.contains(&number)).filter(|_| !wanted.reference);
        if group.is_some_and(|(group, _)| self.ask(*group, state) & EVALUATED != 0) {
            return None;
        }
        self.interp.evaluation_error(set, number, &self.to_interp(state))
    }
}
