//! Search for strongly connected components: a cycle that has all marks, if there is one, on the fly.
//!
//! Couvreur's algorithm: one depth-first search keeps a stack of the roots of components found so far, each
//! with what the steps inside it lack together. A step back to a component below merges all components above
//! it into that one. As soon as a component lacks nothing, it has a cycle through all marks: several kinds of
//! acceptance at a time cost nothing, which is what fairness needs (one mark for every process). A component
//! that is left has none and is dead for the rest of the search.
//!
//! The way around the component is looked for only then, breadth-first among its states.

use crate::explorer::Explorer;
use crate::halt::obeying;
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::marks::{EVERYTHING, MissingMarks};
use crate::ndfs::Cycles;
use crate::observer::Observer;
use crate::outcome::{Outcome, StopReason, no_memory};
use crate::stack::Stack;
use crate::state_key::key;
use crate::states::{Alone, Job};
use crate::task::Task;
use store::{Entry, KeyNumber, Numbering, Recall};
use system::{ActionId, TransitionSystem};

/// Looks for a cycle that lacks nothing.
pub fn scc(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    Job { system, cycles, task, observer }.alone::<Components>()
}

/// Search for components.
struct Components;

impl Alone for Components {
    fn search<S: Numbering + Recall>(job: Job<'_, '_>, store: &(dyn Fn() -> S + Sync)) -> Outcome {
        let Job { system, cycles, task, observer } = job;
        let mut search = Scc {
            explorer: Explorer::new(system, cycles, task, Budget::new(task, observer), store()),
            places: Vec::new(),
            live: Vec::new(),
            roots: Vec::new(),
            actions: Vec::new(),
            stack: Stack::default(),
            frames: Vec::new(),
        };
        let stop = match obeying(|| search.run()) {
            Ok(()) => StopReason::Completed,
            Err(stop) => stop,
        };
        search.explorer.conclude(stop)
    }
}

/// A state is dead: its component was left.
const DEAD: u32 = u32::MAX;

/// A component on the way to the current state.
struct Root {
    /// The place of its first state among those alive.
    first: u32,
    /// What the step into it lacks.
    into: MissingMarks,
    /// What the steps inside it lack together.
    inside: MissingMarks,
}

/// What is known of a successor that is still to be tried.
#[derive(Clone, Copy)]
struct Ticket<T> {
    key: T,
    lack: MissingMarks,
}

struct Scc<'a, S: Numbering> {
    explorer: Explorer<'a, S>,
    /// Of every state: its place among those alive, or that it is dead.
    places: Vec<u32>,
    /// The states whose component was not left, in the order in which they were found.
    live: Vec<S::Number>,
    roots: Vec<Root>,
    actions: Vec<ActionId>,
    stack: Stack<Ticket<S::Ticket>>,
    /// The places of the states of the path.
    frames: Vec<u32>,
}

impl<S: Numbering> Scc<'_, S> {
    fn run(&mut self) -> Result<(), StopReason> {
        if !self.explorer.begin(&mut self.stack)? {
            return Ok(());
        }
        self.enter()?;
        while self.stack.depth() > 0 {
            if !self.stack.advance() {
                self.leave();
                continue;
            }
            self.stack.next_ticket().into_iter().for_each(|next| self.explorer.store.prefetch(next.key));
            if !self.enter()? {
                self.explorer.statistics.matched += 1;
                self.stack.leave();
            }
        }
        Ok(())
    }

    /// Goes to the state at the end of the path if it is new; a step to one that is alive closes cycles.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let Ticket { key, lack } = match self.stack.ticket {
            Some(ticket) => ticket,
            None => Ticket { key: self.explorer.prepare(self.stack.state())?, lack: EVERYTHING },
        };
        let Entry { number, new, .. } = self.explorer.visit(self.stack.state(), key)?;
        if !new {
            let place = self.places[number.index()];
            if place != DEAD {
                self.merge(place, lack)?;
            }
            return Ok(false);
        }
        debug_assert_eq!(number.index(), self.places.len());
        self.places.try_reserve(1).map_err(no_memory)?;
        self.live.try_reserve(1).map_err(no_memory)?;
        self.frames.try_reserve(1).map_err(no_memory)?;
        self.roots.try_reserve(1).map_err(no_memory)?;
        let place = self.live.len() as u32;
        self.places.push(place);
        self.live.push(number);
        self.roots.push(Root { first: place, into: lack, inside: EVERYTHING });
        self.frames.push(place);
        self.explore()?;
        Ok(true)
    }

    /// Expands the new state at the end of the path and puts new successors on the stack.
    fn explore(&mut self) -> Result<(), StopReason> {
        let places = self.places.capacity() as u64 * 8;
        self.explorer.explore(&self.stack, || places)?;
        let accepting = self.explorer.marker.is_accepting(self.stack.state());
        self.stack.enter(None).map_err(no_memory)?;
        for at in 0..self.explorer.order.len() {
            self.explorer.statistics.transitions += 1;
            let Explorer { expansion, marker, order, tickets, store, hidden, .. } = &mut self.explorer;
            let edge = expansion.edge(order[at]);
            let lack = marker.lack(accepting, edge, expansion);
            let (state, ticket) = (expansion.state(edge), tickets[at]);
            match store.number(key(state, *hidden), ticket) {
                Some(number) => {
                    self.explorer.statistics.matched += 1;
                    let place = self.places[number.index()];
                    if place != DEAD {
                        self.merge(place, lack)?;
                    }
                }
                None => {
                    self.actions.clear();
                    marker.expander.actions(edge, &mut self.actions);
                    self.stack.push(state, &self.actions, Ticket { key: ticket, lack }).map_err(no_memory)?;
                }
            }
        }
        Ok(())
    }

    /// A step that lacks `lack` leads from the last component to the one that holds the state at `place`: all
    /// between are one.
    fn merge(&mut self, place: u32, lack: MissingMarks) -> Result<(), StopReason> {
        let mut together = lack;
        while let Some(root) = self.roots.last_mut() {
            if root.first <= place {
                root.inside &= together;
                let complete = root.inside == 0;
                return if complete { self.accept() } else { Ok(()) };
            }
            together &= root.inside & root.into;
            self.roots.pop();
        }
        Ok(())
    }

    /// The last component lacks nothing.
    fn accept(&mut self) -> Result<(), StopReason> {
        if self.explorer.found.errors == 0 {
            let (path, cycle) = self.way_around()?.path();
            let fault = self.explorer.cycles.fault.clone();
            self.explorer.found.add_lasso(fault, path, cycle);
        } else {
            self.explorer.found.errors += 1;
        }
        if let Some(root) = self.roots.last_mut() {
            // With all errors wanted, more cycles of this component are the same one.
            root.inside = EVERYTHING;
        }
        self.explorer.task.after_violation(self.explorer.found.errors)
    }

    /// A run that goes around in the last component, of which the state at the end of the path is one.
    fn way_around(&mut self) -> Result<Lasso, StopReason> {
        let first = self.roots.last().map_or(0, |root| root.first);
        let Explorer { system, cycles, budget, store, .. } = &mut self.explorer;
        let (store, places) = (&*store, &self.places);
        let inside = |key: &[u8]| {
            let place = store.find(key).map_or(DEAD, |number| places[number.index()]);
            place != DEAD && place >= first
        };
        let met = |key: &[u8]| store.find(key).is_some();
        let path = self.stack.path();
        let anchor =
            Anchor { state: self.stack.state(), path: &path, inside: Some(&inside), met: Some(&met) };
        shorten(*system, cycles.acceptance, &anchor, budget).ok_or(StopReason::MemoryLimit)
    }

    fn leave(&mut self) {
        let Some(place) = self.frames.pop() else { return };
        if self.roots.last().is_some_and(|root| root.first == place) {
            self.roots.pop();
            for number in self.live.drain(place as usize..) {
                self.places[number.index()] = DEAD;
            }
        }
        self.stack.retreat();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::ndfs::{ndfs, tests::cycles};
    use crate::observer::Silent;
    use crate::product::Product;
    use crate::property::Checks;
    use crate::random::Random;
    use std::sync::atomic::AtomicBool;
    use system::Fairness;
    use system::claim::{Claim, ClaimEdge, ClaimState, Guard, Marks};
    use system::toy::Graph;

    /// Edges are (from, what holds (bits of p0 and p1 that must be 1), to, marks).
    fn claim(n_marks: u32, accepting: &[bool], edges: &[(usize, u64, u16, Marks)]) -> Claim {
        let mut lists = vec![Vec::new(); accepting.len()];
        for &(from, bits, to, marks) in edges {
            let guard = if bits == 0 { Guard::True } else { Guard::Any(vec![(bits, bits)]) };
            lists[from].push(ClaimEdge { guard, to: ClaimState(to), atomic: false, marks, asserts: None });
        }
        Claim {
            initial: ClaimState(0),
            n_marks,
            accepting: accepting.to_vec(),
            ends: vec![None; accepting.len()],
            edges: lists,
            first_only: vec![false; accepting.len()],
            stutters: true,
        }
    }

    /// `[]<> p0 && []<> p1` in one state with two marks, and in three states one of which is accepting.
    fn both() -> [Claim; 2] {
        let general = [(0, 0, 0, 0), (0, 1, 0, 1), (0, 2, 0, 2), (0, 3, 0, 3)];
        let waiting = [(0, 0, 0, 0), (0, 1, 1, 0), (1, 0, 1, 0), (1, 2, 2, 0), (2, 0, 0, 0)];
        [claim(2, &[false], &general), claim(0, &[false, false, true], &waiting)]
    }

    /// Some edges, some transient nodes; each proposition holds in a third of the nodes.
    fn graph(n: usize, seed: u64) -> Graph {
        let mut random = Random::new(seed);
        let mut text = String::from("0 -> 1");
        for _ in 0..n + n / 2 {
            text += &format!("; {} -> {}", random.below(n), random.below(n));
        }
        for node in 1..n {
            if random.below(4) == 0 {
                text += &format!("; transient {node}");
            }
            for proposition in 0..2 {
                if random.below(3) == 0 {
                    text += &format!("; hold {proposition} {node}");
                }
            }
        }
        Graph::parse(&text).unwrap()
    }

    #[test]
    fn marks_on_steps_and_accepting_states_give_the_same_verdict() {
        let [general, buchi] = both();
        let (stop, limits) = (AtomicBool::new(false), Limits::default());
        let (mut wrong, mut fewer) = (0, 0);
        for seed in 0..800 {
            let graph = graph(4 + seed as usize % 13, seed + 1);
            let order = Some(seed).filter(|seed| seed % 2 == 0);
            let task = Task {
                checks: Checks::NONE,
                all_errors: false,
                seed: order,
                limits,
                stop: &stop,
                reduce: None,
            };
            let mut marked = cycles(Fairness::None, true);
            (marked.acceptance.stutters, marked.acceptance.n_marks) = (false, 2);
            let small = scc(&Product::new(&graph, &general, 0), &marked, &task, &mut Silent);
            marked.acceptance.n_marks = 0;
            let by_scc = scc(&Product::new(&graph, &buchi, 0), &marked, &task, &mut Silent);
            let by_ndfs = ndfs(&Product::new(&graph, &buchi, 0), &marked, &task, &mut Silent);
            let verdicts = [&small, &by_scc, &by_ndfs].map(|outcome| !outcome.violations.is_empty());
            assert!(verdicts[0] == verdicts[1] && verdicts[0] == verdicts[2], "{verdicts:?}, seed {seed}");
            wrong += u32::from(verdicts[0]);
            fewer += u32::from(!verdicts[0] && small.statistics.states < by_ndfs.statistics.states);
        }
        assert!(wrong > 100 && wrong < 700 && fewer > 100, "{wrong} {fewer}");
    }
}
