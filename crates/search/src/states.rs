//! Where a search for cycles keeps its states: a store that numbers them ([`store::numbering`]), chosen once.
//!
//! Each search is written for any such store, by one worker or by several, and compiled for each: this is the
//! only place where the product exists.

use crate::cycle_worker::Workers;
use crate::ndfs::Cycles;
use crate::observer::Observer;
use crate::outcome::Outcome;
use crate::task::Task;
use store::{
    Collapse, Hand, Numbered, Numbering, Portable, Recall, Roots, SharedCollapse, SharedTable, SharedTree,
    Tree,
};
use system::TransitionSystem;

/// How states are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StateStore {
    /// As they are.
    #[default]
    Table,
    /// As trees.
    Tree(Roots),
    /// In components.
    Collapse,
}

/// All of them.
pub const STATE_STORES: [StateStore; 4] = [
    StateStore::Table,
    StateStore::Tree(Roots::Roomy),
    StateStore::Tree(Roots::Cleary),
    StateStore::Collapse,
];

/// What is to be searched for.
pub(crate) struct Job<'a, 'o> {
    pub system: &'a dyn TransitionSystem,
    pub cycles: &'a Cycles,
    pub task: &'a Task<'a>,
    pub observer: &'o mut dyn Observer,
}

/// A search by workers that share no states, over any store.
pub(crate) trait Alone {
    /// Searches; `store` makes an empty one.
    fn search<S: Numbering + Recall>(job: Job<'_, '_>, store: &(dyn Fn() -> S + Sync)) -> Outcome;
}

/// A search by workers that share a store, over any one.
pub(crate) trait Together {
    /// Searches; `hand` is access for one more worker.
    fn search<H>(job: Job<'_, '_>, workers: Workers, hand: &(dyn Fn() -> H + Sync)) -> Outcome
    where
        H: Hand + Numbering + Recall<Name: Portable>;
}

/// Where the components of states end.
fn cut(system: &dyn TransitionSystem) -> impl Fn(&[u8], &mut Vec<usize>) + Sync {
    let components = system.capabilities().components;
    move |key, out| components.iter().for_each(|system| system.cuts(key, out))
}

impl Job<'_, '_> {
    /// Searches with workers that share no states.
    pub fn alone<A: Alone>(self) -> Outcome {
        let (system, memory) = (self.system, self.cycles.memory);
        match self.cycles.store {
            StateStore::Table => A::search(self, &|| Numbered::new(memory)),
            StateStore::Tree(roots) => A::search(self, &|| Tree::numbered(roots, memory)),
            StateStore::Collapse => A::search(self, &|| Collapse::new(cut(system), memory)),
        }
    }

    /// Searches with workers that share a store.
    pub fn together<T: Together>(self, workers: Workers) -> Outcome {
        let (system, memory) = (self.system, self.cycles.memory);
        match self.cycles.store {
            StateStore::Table => {
                let table = SharedTable::new(memory);
                T::search(self, workers, &|| table.hand())
            }
            StateStore::Tree(roots) => {
                let tree = SharedTree::numbered(roots, memory);
                T::search(self, workers, &|| tree.hand())
            }
            StateStore::Collapse => {
                let collapse = SharedCollapse::new(cut(system), memory);
                T::search(self, workers, &|| collapse.hand())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cndfs::cndfs;
    use crate::limits::Limits;
    use crate::ndfs::ndfs;
    use crate::ndfs::tests::{cycles, over};
    use crate::ndfs_dual::ndfs_dual;
    use crate::observer::Silent;
    use crate::outcome::StopReason;
    use crate::property::Checks;
    use crate::scc::scc;
    use crate::strong::strong;
    use crate::ufscc::ufscc;
    use std::sync::atomic::AtomicBool;
    use system::Fairness;
    use system::toy::{Counters, Graph};

    type Search = fn(&dyn TransitionSystem, &Cycles, usize, &Task<'_>) -> Outcome;

    /// Each search, for how many workers it is, and whether it knows fairness.
    const SEARCHES: [(&str, &[usize], Fairness, Search); 7] = [
        ("ndfs", &[1], Fairness::None, |s, c, _, t| ndfs(s, c, t, &mut Silent)),
        ("scc", &[1], Fairness::None, |s, c, _, t| scc(s, c, t, &mut Silent)),
        ("scc", &[1], Fairness::Weak, |s, c, _, t| scc(s, c, t, &mut Silent)),
        ("strong", &[1], Fairness::Strong, |s, c, _, t| strong(s, c, t, &mut Silent)),
        ("dual", &[2], Fairness::None, |s, c, _, t| ndfs_dual(s, c, t, &mut Silent)),
        ("cndfs", &[1, 2, 4], Fairness::None, |s, c, number, t| {
            cndfs(s, c, Workers { number, alone: Some(0) }, t, &mut Silent)
        }),
        ("ufscc", &[1, 2, 4], Fairness::Weak, |s, c, number, t| {
            ufscc(s, c, Workers { number, alone: Some(0) }, t, &mut Silent)
        }),
    ];

    /// Every search over every store, by one and by several workers.
    fn everywhere(
        system: &dyn TransitionSystem,
        (limits, memory): (Limits, u64),
        mut look: impl FnMut(Fairness, &str, &Outcome),
    ) {
        let stop = AtomicBool::new(false);
        let task =
            Task { checks: Checks::NONE, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        for store in STATE_STORES {
            for (name, workers, fairness, search) in SEARCHES {
                let cycles = Cycles { memory, ..over(store, &cycles(fairness, true)) };
                for &number in workers {
                    let outcome = search(system, &cycles, number, &task);
                    look(fairness, &format!("{name} over {store:?} by {number}"), &outcome);
                }
            }
        }
    }

    #[test]
    fn verdicts_and_counts_do_not_depend_on_the_store() {
        let mut wrong = [0; 2];
        for seed in 0..120 {
            let graph = Graph::random(4 + (seed % 23) as u32, seed);
            let mut expected: Vec<(Fairness, bool, u64)> = Vec::new();
            everywhere(&graph, (Limits::default(), u64::MAX), |fairness, name, outcome| {
                let violated = outcome.errors > 0;
                let known = expected.iter().find(|known| known.0 == fairness).copied();
                let (_, verdict, states) = known.unwrap_or((fairness, violated, outcome.statistics.states));
                if known.is_none() {
                    expected.push((fairness, verdict, states));
                    wrong[usize::from(verdict)] += 1;
                }
                assert_eq!(violated, verdict, "seed {seed}: {name}");
                assert!(violated || outcome.statistics.states == states, "seed {seed}: {name}");
            });
        }
        assert!(wrong.iter().all(|&n| n > 50), "{wrong:?}");
    }

    #[test]
    fn many_states_are_all_found() {
        everywhere(&Counters { n: 5, max: 5 }, (Limits::default(), u64::MAX), |_, name, outcome| {
            let found = (outcome.statistics.states, outcome.errors, outcome.exhausted.is_some());
            assert_eq!(found, (7776, 0, true), "{name}");
            assert!(outcome.statistics.state_bytes > 7776, "{name}");
        });
    }

    #[test]
    fn limits_are_kept_by_all() {
        let counters = Counters { n: 6, max: 6 };
        let limits = Limits { states: Some(500), ..Limits::default() };
        everywhere(&counters, (limits, u64::MAX), |_, name, outcome| {
            assert_eq!((outcome.stop, outcome.statistics.states), (StopReason::StateLimit, 500), "{name}");
        });
        everywhere(&counters, (Limits::default(), 100_000), |_, name, outcome| {
            assert_eq!(
                (outcome.stop, outcome.exhausted.is_some()),
                (StopReason::MemoryLimit, false),
                "{name}"
            );
        });
    }
}
