//! Nested depth-first search: an accepting cycle, if there is one, on the fly.
//!
//! Courcoubetis, Vardi, Wolper and Yannakakis's algorithm as improved by Schwoon and Esparza, and by Gaiser
//! and Schwoon: the first (*blue*) search colours the states of its path *cyan*; a step to a cyan state
//! closes a cycle, which is wrong when one of its ends is accepting: most cycles are found so, early. When
//! the blue search leaves an accepting state, the second (*red*) search looks from there for a cyan state:
//! with the path that closes a cycle through the accepting state. States that the red search has left are
//! never looked at by it again; a state all of whose successors are red becomes red without a search.
//!
//! Where on every cycle either all states are accepting or none, the steps to cyan states are all that must
//! be looked at: the red search is left out (`nested`).
//!
//! A colour for each state is kept beside a store that numbers states.

use crate::explorer::Explorer;
use crate::halt::obeying;
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::marks::Acceptance;
use crate::observer::Observer;
use crate::outcome::{Outcome, StopReason, no_memory};
use crate::stack::Stack;
use crate::states::{Alone, Job, StateStore};
use crate::task::Task;
use std::sync::mpsc::SyncSender;
use store::{Entry, KeyNumber, Numbering, Recall};
use system::{ActionId, Fault, TransitionSystem};

/// How a search for cycles is to be made.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// What is said of a cycle that is found.
    pub fault: Fault,
    /// What makes one count.
    pub acceptance: Acceptance,
    /// On some cycles only a part of the states is accepting.
    pub nested: bool,
    /// Where the states are kept.
    pub store: StateStore,
    /// The memory that the states may take.
    pub memory: u64,
}

/// Looks for a cycle through an accepting state.
pub fn ndfs(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    Job { system, cycles, task, observer }.alone::<Nested>()
}

/// Nested depth-first search.
struct Nested;

impl Alone for Nested {
    fn search<S: Numbering + Recall>(job: Job<'_, '_>, store: &(dyn Fn() -> S + Sync)) -> Outcome {
        let Job { system, cycles, task, observer } = job;
        let mut search = Ndfs::new(system, cycles, task, Budget::new(task, observer), store());
        let stop = match obeying(|| search.run()) {
            Ok(()) => StopReason::Completed,
            Err(stop) => stop,
        };
        search.conclude(stop)
    }
}

/// The colour of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Colour {
    /// On the path of the blue search.
    Cyan,
    /// The blue search is done with it.
    Blue,
    /// Both are.
    Red,
}

/// A state of the blue path.
struct Frame<N> {
    number: N,
    accepting: bool,
    /// So far all successors are red.
    all_red: bool,
    /// Actions before it.
    path: usize,
}

/// A running search.
pub(crate) struct Ndfs<'a, S: Numbering> {
    explorer: Explorer<'a, S>,
    colours: Vec<Colour>,
    actions: Vec<ActionId>,
    blue: Stack<S::Ticket>,
    frames: Vec<Frame<S::Number>>,
    red: Stack<S::Number>,
    /// Accepting states go to another worker, who makes the second search.
    pub seeds: Option<SyncSender<Vec<u8>>>,
}

impl<'a, S: Numbering> Ndfs<'a, S> {
    /// A search that has not begun.
    pub fn new(
        system: &'a dyn TransitionSystem,
        cycles: &'a Cycles,
        task: &'a Task<'a>,
        budget: Budget<'a>,
        store: S,
    ) -> Self {
        Ndfs {
            explorer: Explorer::new(system, cycles, task, budget, store),
            colours: Vec::new(),
            actions: Vec::new(),
            blue: Stack::default(),
            frames: Vec::new(),
            red: Stack::default(),
            seeds: None,
        }
    }

    /// What was found.
    pub fn conclude(self, stop: StopReason) -> Outcome {
        self.explorer.conclude(stop)
    }
}

impl<S: Numbering> Ndfs<'_, S> {
    /// Searches to the end.
    pub fn run(&mut self) -> Result<(), StopReason> {
        if !self.explorer.begin(&mut self.blue)? {
            return Ok(());
        }
        self.enter()?;
        while self.blue.depth() > 0 {
            if self.blue.advance() {
                self.blue.next_ticket().into_iter().for_each(|&next| self.explorer.store.prefetch(next));
                if !self.enter()? {
                    self.explorer.statistics.matched += 1;
                    self.blue.leave();
                }
            } else {
                self.leave()?;
            }
        }
        Ok(())
    }

    /// Goes to the state at the end of the blue path if it is new.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let ticket = match self.blue.ticket {
            Some(ticket) => ticket,
            None => self.explorer.prepare(self.blue.state())?,
        };
        let Entry { number, new, .. } = self.explorer.visit(self.blue.state(), ticket)?;
        if new {
            debug_assert_eq!(number.index(), self.colours.len());
            self.colours.try_reserve(1).map_err(no_memory)?;
            self.colours.push(Colour::Cyan);
            self.explore(number)?;
        } else {
            let red = self.colours[number.index()] == Colour::Red;
            if let Some(frame) = self.frames.last_mut() {
                frame.all_red &= red;
            }
        }
        Ok(new)
    }

    /// Expands the new state at the end of the blue path, looks for cycles that its steps close, and puts new
    /// successors on the stack.
    fn explore(&mut self, number: S::Number) -> Result<(), StopReason> {
        let (red, colours) = (&self.red, &self.colours);
        self.explorer.explore(&self.blue, || red.memory() + colours.capacity() as u64)?;
        let accepting = self.explorer.marker.is_accepting(self.blue.state());
        self.frames.try_reserve(1).map_err(no_memory)?;
        self.frames.push(Frame { number, accepting, all_red: true, path: self.blue.steps() });
        self.push_successors()
    }

    fn push_successors(&mut self) -> Result<(), StopReason> {
        self.blue.enter(None).map_err(no_memory)?;
        for at in 0..self.explorer.order.len() {
            self.explorer.statistics.transitions += 1;
            let explorer = &self.explorer;
            let edge = explorer.expansion.edge(explorer.order[at]);
            let state = explorer.expansion.state(edge);
            let ticket = explorer.tickets[at];
            let Some(number) = explorer.find(state, ticket) else {
                self.actions.clear();
                explorer.marker.expander.actions(edge, &mut self.actions);
                self.blue.push(state, &self.actions, ticket).map_err(no_memory)?;
                continue;
            };
            let colour = self.colours[number.index()];
            if let Some(frame) = self.frames.last_mut() {
                frame.all_red &= colour == Colour::Red;
                // The frame of the other end is looked for only when it is needed: the path may be long.
                if colour == Colour::Cyan && (frame.accepting || explorer.marker.is_accepting(state)) {
                    self.actions.clear();
                    explorer.marker.expander.actions(edge, &mut self.actions);
                    self.close(number)?;
                }
            }
            self.explorer.statistics.matched += 1;
        }
        Ok(())
    }

    /// A step with `self.actions` leads from the end of the blue path to a state on it, and one of the two is
    /// accepting.
    fn close(&mut self, to: S::Number) -> Result<(), StopReason> {
        let Some(at) = self.frames.iter().rposition(|frame| frame.number == to) else { return Ok(()) };
        let start = self.frames[at].path;
        let (stem, cycle) = self.blue.path_and(&self.actions).split_at(start);
        self.lasso(Lasso { stem, cycle })
    }

    /// The last state of the blue path is done with.
    fn leave(&mut self) -> Result<(), StopReason> {
        let Some(Frame { number, accepting, all_red, .. }) = self.frames.pop() else { return Ok(()) };
        let mut colour = Colour::Blue;
        if self.explorer.cycles.nested && all_red {
            colour = Colour::Red;
        } else if self.explorer.cycles.nested && accepting {
            match &self.seeds {
                // Who is no longer there has told all to stop.
                Some(seeds) => seeds.send(self.blue.state().to_vec()).map_err(|_| StopReason::Interrupted)?,
                None => {
                    self.red_search(number)?;
                    colour = Colour::Red;
                }
            }
        }
        self.colours[number.index()] = colour;
        if let Some(parent) = self.frames.last_mut() {
            parent.all_red &= colour == Colour::Red;
        }
        self.blue.retreat();
        Ok(())
    }

    /// Looks from the last state of the blue path, which is accepting, for a state on that path.
    fn red_search(&mut self, seed: S::Number) -> Result<(), StopReason> {
        self.red.begin(self.blue.state()).map_err(no_memory)?;
        if self.red_expand(seed)? {
            return Ok(());
        }
        while self.red.depth() > 0 {
            if !self.red.advance() {
                self.red.retreat();
                continue;
            }
            match self.red.ticket {
                Some(number) if self.colours[number.index()] == Colour::Blue => {
                    self.colours[number.index()] = Colour::Red;
                    if self.red_expand(seed)? {
                        return Ok(());
                    }
                }
                _ => self.red.leave(),
            }
        }
        Ok(())
    }

    /// Expands the state at the end of the red path; true when a cycle was found.
    fn red_expand(&mut self, seed: S::Number) -> Result<bool, StopReason> {
        let depth = (self.blue.steps() + self.red.steps()) as u64;
        let (blue, red) = (&self.blue, &self.red);
        let used = || (blue.pending(), blue.memory() + red.memory());
        self.explorer.explore_again(red.state(), depth, used)?;
        self.red.enter(None).map_err(no_memory)?;
        for at in 0..self.explorer.order.len() {
            let explorer = &self.explorer;
            let edge = explorer.expansion.edge(at);
            let state = explorer.expansion.state(edge);
            let Some(number) = explorer.find(state, explorer.tickets[at]) else { continue };
            // The seed has left the frames, but is on the path.
            let cyan = number == seed || self.colours[number.index()] == Colour::Cyan;
            if !cyan && self.colours[number.index()] != Colour::Blue {
                continue;
            }
            self.actions.clear();
            explorer.marker.expander.actions(edge, &mut self.actions);
            if cyan {
                let at = self.frames.iter().rposition(|frame| frame.number == number);
                let start = at.map_or(self.blue.steps(), |at| self.frames[at].path);
                let (stem, mut cycle) = self.blue.path().split_at(start);
                cycle.extend(&self.red.path_and(&self.actions));
                self.lasso(Lasso { stem, cycle })?;
                return Ok(true);
            }
            self.red.push(state, &self.actions, number).map_err(no_memory)?;
        }
        Ok(false)
    }

    /// Counts a cycle that passes the end of the blue path.
    fn lasso(&mut self, lasso: Lasso) -> Result<(), StopReason> {
        let Explorer { system, cycles, budget, found, store, .. } = &mut self.explorer;
        if found.errors == 0 {
            let met = |key: &[u8]| store.find(key).is_some();
            let (state, path) = (self.blue.state(), self.blue.path());
            let anchor = Anchor { state, path: &path, inside: None, met: Some(&met) };
            let short = shorten(*system, cycles.acceptance, &anchor, budget);
            let (path, cycle) = short.unwrap_or(lasso).path();
            found.add_lasso(cycles.fault.clone(), path, cycle);
        } else {
            found.errors += 1;
        }
        self.explorer.task.after_violation(self.explorer.found.errors)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::expand::Expansion;
    use crate::limits::Limits;
    use crate::marks::Marker;
    use crate::observer::Silent;
    use crate::property::Checks;
    use crate::scc::scc;
    use std::sync::atomic::AtomicBool;
    use store::Roots;
    use system::toy::Graph;
    use system::{Fairness, FaultKind};

    pub(crate) type Search =
        for<'a> fn(&dyn TransitionSystem, &Cycles, &Task<'_>, &mut dyn Observer) -> Outcome;

    pub(crate) fn cycles(fairness: Fairness, nested: bool) -> Cycles {
        let (message, file) = ("cycle".to_string(), "toy".to_string());
        let kind = FaultKind::AcceptCycle;
        let fault = Fault { kind, message, file, line: 1, column: 1, process: None, pid: None };
        let acceptance = Acceptance { stutters: true, n_marks: 0, fairness, needed: 0 };
        Cycles { fault, acceptance, nested, store: StateStore::Table, memory: u64::MAX }
    }

    pub(crate) fn run(
        search: Search,
        graph: &dyn TransitionSystem,
        fair: Fairness,
        seed: Option<u64>,
    ) -> Outcome {
        let (stop, limits) = (AtomicBool::new(false), Limits::default());
        let task = Task { checks: Checks::NONE, all_errors: false, seed, limits, stop: &stop, reduce: None };
        search(graph, &cycles(fair, true), &task, &mut Silent)
    }

    /// "stem | cycle" of the first violation.
    pub(crate) fn lasso(search: Search, text: &str, fair: Fairness) -> Option<String> {
        let outcome = run(search, &Graph::parse(text).unwrap(), fair, None);
        let violation = outcome.violations.first()?;
        let words =
            |actions: &[ActionId]| actions.iter().map(|a| a.0.to_string()).collect::<Vec<_>>().join(" ");
        let path = violation.path.to_vec();
        let (stem, cycle) = path.split_at(violation.cycle.unwrap());
        Some(format!("{}|{}", words(stem), words(cycle)))
    }

    /// The same cycles with another store.
    pub(crate) fn over(store: StateStore, cycles: &Cycles) -> Cycles {
        Cycles { store, ..cycles.clone() }
    }

    const ALL: [Search; 8] = [
        |s, c, t, o| ndfs(s, c, t, o),
        |s, c, t, o| scc(s, c, t, o),
        |s, c, t, o| ndfs(s, &over(StateStore::Tree(Roots::Roomy), c), t, o),
        |s, c, t, o| scc(s, &over(StateStore::Tree(Roots::Roomy), c), t, o),
        |s, c, t, o| ndfs(s, &over(StateStore::Tree(Roots::Cleary), c), t, o),
        |s, c, t, o| scc(s, &over(StateStore::Tree(Roots::Cleary), c), t, o),
        |s, c, t, o| ndfs(s, &over(StateStore::Collapse, c), t, o),
        |s, c, t, o| scc(s, &over(StateStore::Collapse, c), t, o),
    ];

    #[test]
    fn accepting_cycles_are_found_with_short_lassos() {
        for search in ALL {
            assert_eq!(
                lasso(search, "0 -> 1 -> 2 -> 0; accept 1", Fairness::None).as_deref(),
                Some("|0 1 2")
            );
            assert_eq!(lasso(search, "0 -> 1 -> 2; 2 -> 1; accept 0", Fairness::None), None);
            assert_eq!(lasso(search, "0 -> 1 -> 1; accept 1", Fairness::None).as_deref(), Some("0|1"));
            // The long way around is tried first.
            let long = "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 1; 0 -> 5; 5 -> 5; accept 5";
            assert_eq!(lasso(search, long, Fairness::None).as_deref(), Some("6|7"));
        }
    }

    #[test]
    fn a_run_that_ends_is_prolonged() {
        for search in ALL {
            assert_eq!(lasso(search, "0 -> 1 -> 2; accept 2", Fairness::None).as_deref(), Some("0 1|"));
            assert_eq!(lasso(search, "0 -> 1 -> 2; accept 1", Fairness::None), None);
        }
    }

    #[test]
    fn transient_states_do_not_accept() {
        for search in ALL {
            assert_eq!(lasso(search, "0 -> 1 -> 0; accept 1; transient 1", Fairness::None), None);
            assert_eq!(
                lasso(search, "0 -> 1 -> 0; accept 0; transient 1", Fairness::None).as_deref(),
                Some("|0 1")
            );
        }
    }

    #[test]
    fn fairness_asks_every_process() {
        let waiting = "0 -> 0; 0 -> 1 -> 1; accept 0; process 1 0 1";
        let search = ALL[1];
        assert_eq!(lasso(search, waiting, Fairness::None).as_deref(), Some("|0"));
        assert_eq!(lasso(search, waiting, Fairness::Weak), None, "process 1 could always move");
        let between = "0 -> 2 -> 0; 0 -> 1 -> 1; accept 0; process 1 0 1";
        assert_eq!(lasso(search, between, Fairness::Weak).as_deref(), Some("|0 1"), "it could not in node 2");
    }

    /// Accepting, reachable, and on a cycle: by definition.
    fn naive(graph: &Graph) -> bool {
        let mut nodes = std::collections::BTreeMap::new();
        let mut open = vec![b"0".to_vec()];
        let (stop, limits) = (AtomicBool::new(false), Limits::default());
        let task =
            Task { checks: Checks::NONE, all_errors: true, seed: None, limits, stop: &stop, reduce: None };
        let mut silent = Silent;
        let mut budget = Budget::new(&task, &mut silent);
        while let Some(state) = open.pop() {
            if nodes.contains_key(&state) {
                continue;
            }
            let mut marker = Marker::new(graph, cycles(Fairness::None, true).acceptance);
            let mut out = Expansion::default();
            marker.expand(&state, 0, &mut budget, &mut out).unwrap();
            let to: Vec<Vec<u8>> = out.edges().iter().map(|edge| out.state(edge).to_vec()).collect();
            open.extend(to.iter().cloned());
            nodes.insert(state, to);
        }
        let on_cycle = |start: &Vec<u8>| {
            let (mut met, mut open) = (std::collections::BTreeSet::new(), nodes[start].clone());
            while let Some(at) = open.pop() {
                if at == *start {
                    return true;
                }
                if met.insert(at.clone()) {
                    open.extend(nodes[&at].iter().cloned());
                }
            }
            false
        };
        nodes.keys().any(|state| graph.labels(state).accepting && on_cycle(state))
    }

    #[test]
    fn random_graphs_against_the_definition() {
        let mut wrong = 0;
        for seed in 0..1500 {
            let graph = Graph::random(4 + (seed % 17) as u32, seed);
            let expected = naive(&graph);
            wrong += u32::from(expected);
            let mut first_cut = None;
            for (which, search) in ALL.into_iter().enumerate() {
                for order in [None, Some(seed)] {
                    let outcome = run(search, &graph, Fairness::None, order);
                    assert_eq!(!outcome.violations.is_empty(), expected, "search {which}, seed {seed}");
                    let cut = outcome.cut_by.is_some() || outcome.stays_inside;
                    assert_eq!(outcome.exhausted.is_some(), !expected && !cut, "search {which}, seed {seed}");
                    assert!(expected || cut == *first_cut.get_or_insert(cut), "search {which}, seed {seed}");
                }
            }
        }
        assert!(wrong > 200 && wrong < 1300, "{wrong}");
    }
}
