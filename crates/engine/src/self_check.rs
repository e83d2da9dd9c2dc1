//! `--check facts|reduction`: a search that doubts what reductions rely on, while it runs.
//!
//! It stands between the search and the reducer. Of the states that it sees it takes some, ever fewer, and
//! tries to falsify what is claimed of them: the facts about the actions, by changing the state; the choice,
//! by the definition of a persistent set. What is refuted is a bug of the tool: the check ends without a
//! verdict and says so.

use crate::failure::Failure;
use machine::Interp;
use machine::facts::Facts;
use machine::facts::check::Checker;
use std::sync::{Mutex, PoisonError};
use system::{ActionId, Choice, Explain, Reducer, Reduction};

/// States that are all looked at; then every second, every fourth and so on of as many.
const ALL: u64 = 400;
/// Changes to a state that are tried.
const CHANGES: usize = 12;
/// States to which actions that were not chosen are followed.
const FOLLOWED: usize = 30;

/// What is doubted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// The facts.
    pub facts: bool,
    /// The choices.
    pub reduction: bool,
}

impl Doubts {
    /// Whether anything is.
    pub fn any(self) -> bool {
        self.facts || self.reduction
    }
}

/// The program that is searched, in the reference machine, and how its states get there.
pub struct Reference<'a> {
    /// The machine.
    pub interp: &'a Interp,
    /// A state of the search as a state of the machine.
    pub state: &'a (dyn Fn(&[u8]) -> Vec<u8> + Sync),
}

/// A reduction that is doubted; without one, everything is chosen.
pub struct Doubted<'a> {
    inner: Option<Box<dyn Reduction + 'a>>,
    reference: Reference<'a>,
    facts: Facts,
    doubts: Doubts,
    refuted: Mutex<Option<String>>,
}

impl std::fmt::Debug for Doubted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Doubted").field("doubts", &self.doubts).finish_non_exhaustive()
    }
}

impl<'a> Doubted<'a> {
    /// Doubts a reduction.
    pub fn new(inner: Option<Box<dyn Reduction + 'a>>, reference: Reference<'a>, doubts: Doubts) -> Self {
        let facts = Facts::new(reference.interp.program());
        Doubted { inner, reference, facts, doubts, refuted: Mutex::new(None) }
    }

    /// What was refuted, as the failure that it is.
    pub fn verdict(&self) -> Result<(), Failure> {
        match self.refuted.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(what) => Err(Failure::Internal(what)),
            None => Ok(()),
        }
    }

    fn refute(&self, what: impl FnOnce() -> String) {
        let mut refuted = self.refuted.lock().unwrap_or_else(PoisonError::into_inner);
        refuted.get_or_insert_with(what);
    }
}

impl Reduction for Doubted<'_> {
    fn reducer(&self) -> Box<dyn Reducer + '_> {
        let inner = self.inner.as_ref().map(|inner| inner.reducer());
        Box::new(Doubter {
            of: self,
            inner,
            checker: Checker::new(self.reference.interp, &self.facts),
            seen: 0,
        })
    }
}

/// Doubts for one thread.
struct Doubter<'a> {
    of: &'a Doubted<'a>,
    inner: Option<Box<dyn Reducer + 'a>>,
    checker: Checker<'a>,
    seen: u64,
}

impl Doubter<'_> {
    /// Whether this state is looked at.
    fn takes(&mut self) -> bool {
        self.seen += 1;
        self.seen.is_multiple_of(1 << (self.seen / ALL).min(40))
    }

    fn facts(&self, state: &[u8]) {
        let mut random = self.seen.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut pick = |n: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 33) as usize % n.max(1)
        };
        if let Some(first) = self.checker.state(state, CHANGES, &mut pick).first() {
            self.of.refute(|| {
                let step = self.of.reference.interp.step(state, first.action.pack());
                format!("--check facts: what is known of {:?} is wrong: {first:?}", step.text)
            });
        }
    }

    fn choice(&self, state: &[u8], enabled: &[ActionId], chosen: &[u32]) {
        let interp = self.of.reference.interp;
        let chosen: Vec<ActionId> = chosen.iter().map(|&i| enabled[i as usize]).collect();
        if let Err(broken) = reduce::check::persistent(interp, state, &chosen, FOLLOWED) {
            self.of.refute(|| {
                let (one, other) = (interp.step(state, broken.chosen), interp.step(state, broken.other));
                format!(
                    "--check reduction: {:?} (line {}) was chosen and {:?} (line {}) was not, but {}: {broken:?}",
                    one.text, one.line, other.text, other.line, broken.what
                )
            });
        }
    }
}

impl Reducer for Doubter<'_> {
    fn choose_always(&mut self) {
        self.inner.iter_mut().for_each(|inner| inner.choose_always());
    }

    fn in_vain(&mut self, left_out: u32) {
        self.inner.iter_mut().for_each(|inner| inner.in_vain(left_out));
    }

    fn choose(&mut self, state: &[u8], enabled: &[ActionId], chosen: &mut Vec<u32>) -> Choice {
        chosen.clear();
        let choice = match &mut self.inner {
            Some(inner) => inner.choose(state, enabled, chosen),
            None => Choice::All,
        };
        if self.takes() {
            let bytes = (self.of.reference.state)(state);
            if self.of.doubts.facts {
                self.facts(&bytes);
            }
            if self.of.doubts.reduction && choice == Choice::Part {
                self.choice(&bytes, enabled, chosen);
            }
        }
        choice
    }

    fn commute(&mut self, state: &[u8], a: ActionId, b: ActionId) -> bool {
        self.inner.as_mut().is_some_and(|inner| inner.commute(state, a, b))
    }

    fn visible(&mut self, state: &[u8], action: ActionId) -> bool {
        self.inner.as_mut().is_none_or(|inner| inner.visible(state, action))
    }

    fn commuting(&mut self, state: &[u8], actions: &[ActionId], out: &mut Vec<bool>) {
        match &mut self.inner {
            Some(inner) => inner.commuting(state, actions, out),
            None => {
                out.clear();
                out.resize(actions.len() * actions.len(), false);
            }
        }
    }

    fn single(&mut self, state: &[u8], enabled: &[ActionId], turn: u32) -> Option<(u32, u32)> {
        let single = self.inner.as_mut()?.single(state, enabled, turn);
        if let Some((_, at)) = single.filter(|_| self.takes()) {
            let bytes = (self.of.reference.state)(state);
            if self.of.doubts.facts {
                self.facts(&bytes);
            }
            if self.of.doubts.reduction {
                self.choice(&bytes, enabled, &[at]);
            }
        }
        single
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use promela::source::Location;
    use std::sync::Arc;
    use system::TransitionSystem;
    use system::toy::First;

    /// Two processes that write the same.
    fn machine() -> Interp {
        let text = "byte g; active proctype p() { g = 1 } active proctype q() { g = 2; g == 1; g = 3 }";
        struct Text(&'static str);
        impl promela::source::Files for Text {
            fn read(&self, _: &str) -> Result<String, String> {
                Ok(self.0.to_string())
            }
        }
        let mut sources = promela::source::SourceMap::new();
        let options = promela::preprocess::Options::default();
        let read = promela::preprocess::preprocess("m", &Text(text), &options, &mut sources);
        let dialect = promela::parse::Dialect::Spin;
        let parsed = promela::parse::parse_lines(read.tokens, read.line_starts, dialect, &mut sources);
        let program = promela::lower::lower(&parsed.unit, &sources, "m").program.unwrap();
        let nowhere = Location { file: String::new(), line: 1, column: 1 };
        Interp::new(Arc::new(program), move |_| nowhere.clone()).unwrap()
    }

    /// What a doubted reduction says of the states that it is shown.
    fn doubted(doubts: Doubts, inner: Option<Box<dyn Reduction>>, wrong: bool) -> Result<(), Failure> {
        let interp = machine();
        let copy = |state: &[u8]| state.to_vec();
        let mut reduction = Doubted::new(inner, Reference { interp: &interp, state: &copy }, doubts);
        if wrong {
            let (p, edge) = (promela::ir::ProctypeId(0), promela::ir::EdgeId(0));
            reduction.facts.edge_mut(p, edge).writes.0.globals = machine::facts::Cells::default();
        }
        let mut state = Vec::new();
        interp.initial(&mut state).unwrap();
        let mut reducer = reduction.reducer();
        for _ in 0..4 {
            let (mut enabled, mut chosen) = (Vec::new(), Vec::new());
            interp.enabled(&state, &mut enabled);
            reducer.choose(&state, &enabled, &mut chosen);
            let mut out = system::Successors::default();
            interp.fire(&state, &enabled[..1], &mut out);
            state = out.state(&out.list[0]).unwrap().to_vec();
        }
        drop(reducer);
        reduction.verdict()
    }

    #[test]
    fn right_facts_and_choices_pass() {
        let all = Doubts { facts: true, reduction: true };
        assert!(doubted(all, None, false).is_ok());
    }

    #[test]
    fn a_wrong_fact_is_told() {
        let facts = Doubts { facts: true, ..Doubts::default() };
        let Err(Failure::Internal(what)) = doubted(facts, None, true) else { panic!("not found") };
        assert!(what.contains("g = 1") && what.contains("Writes"), "{what}");
    }

    #[test]
    fn a_wrong_choice_is_told() {
        let reduction = Doubts { reduction: true, ..Doubts::default() };
        let Err(Failure::Internal(what)) = doubted(reduction, Some(Box::new(First)), false) else {
            panic!("not found")
        };
        assert!(what.contains("--check reduction"), "{what}");
    }
}
