//! Depth-first search: the order of Spin, with an explicit stack.
//!
//! What lies on the stack is what is still to be done: the successors of each state on the path that have not been
//! tried yet. A successor that is known already when its parent is expanded never gets there. Neither the states of
//! the path nor those to be tried are kept, only the differences between a state and its successors ([`delta`]) and
//! the actions, which is all that a counterexample needs. So a path of ten million steps is affordable.
//!
//! **Looking ahead.** The next state depends on what the store says of the present one's successors, and the store
//! waits for memory, twice. So the search runs two states ahead of itself: the successor that will be tried first, and again
//! its own, are expanded on trust that they are new. When a state's turn comes all that must be known of its successors has
//! arrived. If one was known, that was in vain; the order of the search is the same.
//!
//! Depth is counted in steps, those inside atomic sequences included; what lies beyond the limit is left out, and
//! the search is then not exhaustive.
//!
//! With a reduction, a state whose chosen successors all break the proviso is expanded in full, at once. To know what is on
//! the stack its hashes are counted: a state that is taken for one on the stack is only expanded in vain. With several workers the
//! hashes of all their stacks are counted together ([`Open`]), and a successor that no other worker shall be faster with is stored
//! at once (*claimed*).

use crate::cuts::Cuts;
use crate::expand::{Expander, Expansion, Wanted, n_actions};
use crate::fan::{Fan, Trust};
use crate::halt::obeying;
use crate::limits::Budget;
use crate::ndfs::key;
use crate::observer::{Observer, Snapshot};
use crate::open::Open;
use crate::outcome::{Outcome, Recorder, Statistics, StopReason, Warning, no_memory};
use crate::phase1::{Phase1, store_aside};
use crate::property::Judge;
use crate::random::Random;
use crate::sleep::{Awake, LeanSleep, Met, Sleep, Sleepers, Sleeping};
use crate::stack::Stack;
use crate::task::{Proviso, Task};
use std::ops::Range;
use store::{Noted, Seen};
use system::{ActionId, Fault, TransitionSystem};

/// Explores `system` depth-first.
pub fn depth_first<S: Seen>(
    system: &dyn TransitionSystem,
    store: &mut S,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    match task.is_lean() {
        true => search(system, store, LeanSleep::default(), task, observer),
        false => search(system, store, Awake, task, observer),
    }
}

/// Explores `system` depth-first with sleep sets; without anybody who knows what commutes nothing ever sleeps.
pub fn depth_first_with_sleep<S: Noted<Note = Sleepers>>(
    system: &dyn TransitionSystem,
    store: &mut S,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    match task.reduce {
        Some(reduce) => search(system, store, Sleep::new(reduce.by.reducer()), task, observer),
        None => search(system, store, Awake, task, observer),
    }
}

fn search<S: Seen, Z: Sleeping<S>>(
    system: &dyn TransitionSystem,
    store: &mut S,
    sleep: Z,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut search = DepthFirst::new(system, store, sleep, task, Budget::new(task, observer));
    let stop = match obeying(|| search.run()) {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.conclude(stop)
}

/// The place of a state that is no successor of the one before it.
const ELSEWHERE: usize = usize::MAX;

/// For more successors than this the atomic sequences that lead to them are kept as they are, not each for itself.
const MANY: usize = 256;

/// A running search.
pub(crate) struct DepthFirst<'a, S: Seen, Z> {
    pub system: &'a dyn TransitionSystem,
    pub store: &'a mut S,
    sleep: Z,
    task: &'a Task<'a>,
    pub budget: Budget<'a>,
    expander: Expander<'a>,
    /// The state at the end of the path.
    fan: Box<Fan<S::Ticket>>,
    /// The state that will be next, if it is new, and the one after that; so many of these there are.
    ahead: [Box<Fan<S::Ticket>>; 2],
    n_ahead: usize,
    trust: Trust,
    /// Whether to look ahead.
    looks_ahead: bool,
    /// The state at the end of the path is the first of those ahead.
    foreseen: bool,
    random: Option<Random>,
    actions: Vec<ActionId>,
    /// States are expanded behind phase 1.
    phase1: bool,
    /// Bytes at the end of a state that are no part of its key.
    hidden: usize,
    judge: Judge<'a>,
    /// The number of states has a limit.
    pub limited: bool,
    faults: Vec<Fault>,
    /// Where sleep sets ask: the first actions of the current edges, each once, for each edge which of them it is, and those
    /// that show an error.
    ranked: Vec<ActionId>,
    ranks: Vec<usize>,
    faulty: Vec<ActionId>,
    proviso: Proviso,
    /// What is on the stacks of all workers, for [`Proviso::Stack`] where there are several.
    pub open: Option<&'a Open>,
    /// Which of the successors that were prepared last was pushed last, and will be tried first.
    next_pushed: Option<usize>,
    /// It has been stored, because its parent relies on it.
    claimed: bool,
    pub stack: Stack<S::Ticket>,
    pub found: Recorder,
    pub statistics: Statistics,
}

impl<'a, S: Seen, Z: Sleeping<S>> DepthFirst<'a, S, Z> {
    /// A search that has not begun.
    pub fn new(
        system: &'a dyn TransitionSystem,
        store: &'a mut S,
        sleep: Z,
        task: &'a Task<'a>,
        budget: Budget<'a>,
    ) -> Self {
        let mut expander = Expander::new(system, task.reduce);
        expander.exact = task.limits.depth.is_some();
        let is_full = task.reduce.is_none() || task.is_lean();
        DepthFirst {
            system,
            store,
            sleep,
            task,
            budget,
            phase1: expander.phase1().is_some(),
            expander,
            fan: Box::default(),
            ahead: Default::default(),
            n_ahead: 0,
            trust: Trust::default(),
            // A store that is told where the search is cannot be asked about two places, and what a seed means must not depend on
            // how far the search looks.
            // What a depth limit cuts off is told of states that are visited, not of those that may be.
            looks_ahead: is_full
                && !Z::RANKS
                && !S::INCREMENTAL
                && task.seed.is_none()
                && task.limits.depth.is_none(),
            foreseen: false,
            random: task.seed.map(Random::new),
            actions: Vec::new(),
            hidden: system.hidden_bytes(),
            judge: Judge::new(task.checks, system),
            limited: task.limits.states.is_some(),
            faults: Vec::new(),
            ranked: Vec::new(),
            ranks: Vec::new(),
            faulty: Vec::new(),
            proviso: task.reduce.map_or(Proviso::None, |reduce| reduce.proviso),
            open: None,
            next_pushed: None,
            claimed: false,
            stack: Stack::default(),
            found: Recorder::default(),
            statistics: Statistics::default(),
        }
    }

    fn run(&mut self) -> Result<(), StopReason> {
        let mut initial = Vec::new();
        if let Err(fault) = self.system.initial(&mut initial) {
            return self.no_beginning(fault);
        }
        self.stack.begin(&initial).map_err(no_memory)?;
        let mut again = true;
        while again {
            let met = self.visit()?;
            self.statistics.matched += u64::from(met != Met::New);
            match met {
                Met::Known => self.stack.leave(),
                Met::New | Met::Again => self.explore(met == Met::New)?,
            }
            again = self.next();
            self.sleep.take();
        }
        Ok(())
    }

    /// Takes the next successor that is to be tried, from the end of the path backwards; false when nothing is left.
    pub fn next(&mut self) -> bool {
        self.foreseen = self.n_ahead > 0 && !self.foreseen;
        if !self.foreseen {
            self.n_ahead = 0;
        }
        while self.stack.depth() > 0 {
            if self.stack.advance() {
                return true;
            }
            let state = self.stack.state();
            let key = key(state, self.hidden);
            self.store.leave(key);
            if let Some(open) = self.open {
                open.let_go(key);
            }
            self.stack.retreat();
        }
        self.foreseen = false;
        false
    }

    /// Inserts the state at the end of the path, unless it is known.
    pub fn visit(&mut self) -> Result<Met, StopReason> {
        let state = self.stack.state();
        let key = key(state, self.hidden);
        let ticket = match self.stack.ticket {
            Some(ticket) => ticket,
            None => self.store.prepare(key).map_err(|_| StopReason::MemoryLimit)?,
        };
        if self.limited && self.budget.states_spent(self.store.n_keys()) && !self.store.contains(key, ticket)
        {
            return Err(StopReason::StateLimit);
        }
        match self.open {
            Some(_) if std::mem::take(&mut self.claimed) => Ok(Met::New),
            Some(open) => visit_openly(open, &mut self.sleep, self.store, key, ticket),
            None => self.sleep.visit(self.store, key, ticket).map_err(|_| StopReason::MemoryLimit),
        }
    }

    /// Whether the state at the end of the path, which is to be visited, must be searched by this worker.
    pub fn is_claimed(&self) -> bool {
        self.claimed
    }

    /// Expands the state at the end of the path and puts its unknown successors on the stack. If it is new it is judged.
    #[inline]
    pub fn explore(&mut self, is_new: bool) -> Result<(), StopReason> {
        let depth = self.stack.steps() as u64;
        self.statistics.depth = self.statistics.depth.max(depth);
        self.statistics.vector_bytes = self.statistics.vector_bytes.max(self.stack.state_len() as u64);
        if self.budget.tick()? {
            self.look()?;
        }
        self.expander.look_for_loops = !self.found.knows_atomic_loop();
        self.store.hold(key(self.stack.state(), self.hidden));
        let foreseen = std::mem::take(&mut self.foreseen);
        if foreseen {
            std::mem::swap(&mut self.fan, &mut self.ahead[0]);
            self.ahead.swap(0, 1);
            self.n_ahead -= 1;
        } else if self.phase1 {
            self.fan.expansion.clear();
            self.expand_behind_phase1(depth)?;
        } else {
            self.fan.expansion.clear();
            let (state, wanted, out) = (self.stack.state(), self.sleep.wanted(), &mut self.fan.expansion);
            expand(&mut self.expander, state, wanted, depth, &mut self.budget, out)?;
        }
        self.store.depart(key(self.stack.state(), self.hidden));
        let asks = matches!(self.proviso, Proviso::Stack | Proviso::Color) && self.open.is_none();
        let hash = asks.then(|| store::hash::hash(key(self.stack.state(), self.hidden)));
        self.stack.enter(hash).map_err(no_memory)?;
        if self.phase1 {
            self.stack.prolong(self.expander.before()).map_err(no_memory)?;
            self.statistics.depth = self.statistics.depth.max(self.stack.steps() as u64);
        }
        self.note_faulty();
        if is_new && !self.fan.expansion.known {
            let asleep = self.sleep.edges_asleep();
            self.statistics.transitions += asleep;
            self.statistics.slept += asleep;
            self.statistics.matched += asleep;
            self.judge_state()?;
        }
        self.judge_steps()?;
        let all = self.fan.expansion.edges().len();
        if !foreseen {
            self.fan.depth = depth;
            self.prepare(0..all)?;
        }
        if self.looks_ahead {
            if !foreseen {
                self.fan.keep_run(&mut self.expander);
            }
            self.look_ahead();
        }
        self.fan.approach(self.store, &mut self.trust);
        let kept = self.push_successors(false)?;
        let rest = self.fan.expansion.rest;
        self.store.weigh(key(self.stack.state(), self.hidden), all);
        if rest.is_empty() {
            return self.expanded_in_full();
        }
        if kept || self.proviso == Proviso::None || self.claim()? {
            self.statistics.reduced += 1;
            return Ok(());
        }
        self.expander.expand_rest(rest, depth, &mut self.budget, &mut self.fan.expansion)?;
        self.note_faulty();
        self.judge_steps()?;
        self.prepare(all..self.fan.expansion.edges().len())?;
        self.fan.approach(self.store, &mut self.trust);
        self.push_successors(true)?;
        self.store.weigh(key(self.stack.state(), self.hidden), self.fan.expansion.edges().len());
        self.expanded_in_full()
    }

    /// Nothing was left out of the state at the end of the path.
    fn expanded_in_full(&mut self) -> Result<(), StopReason> {
        if self.proviso == Proviso::Color {
            self.stack.let_go();
        }
        Ok(())
    }

    /// Looks at the clock and the rest.
    #[cold]
    fn look(&mut self) -> Result<(), StopReason> {
        let at = self.snapshot();
        self.budget.look(|| at)
    }

    /// Runs phase 1 and expands its end, unless that is known; stores the end and what is to be saved.
    #[cold]
    fn expand_behind_phase1(&mut self, depth: u64) -> Result<(), StopReason> {
        let limit = self.budget.limits().states;
        let (store, hidden) = (&mut *self.store, self.hidden);
        let mut known = |end: &[u8]| store_aside(store, hidden, limit, end).map(|is_new| !is_new);
        let (state, expansion) = (self.stack.state(), &mut self.fan.expansion);
        self.expander.expand_unless(state, depth, &mut self.budget, expansion, &mut known)?;
        let Some(phase1) = self.expander.phase1() else { return Ok(()) };
        let mut lookups = u64::from(phase1.end() != self.stack.state());
        for saved in phase1.saved() {
            store_aside(self.store, self.hidden, limit, saved)?;
            lookups += 1;
        }
        self.statistics.transitions += phase1.steps();
        *self.statistics.lookups.get_or_insert(1) += lookups + self.fan.expansion.edges().len() as u64;
        self.statistics.matched += u64::from(self.fan.expansion.known);
        Ok(())
    }

    /// Sleep sets want to know what showed an error.
    fn note_faulty(&mut self) {
        self.faulty.clear();
        if Z::RANKS {
            self.faulty.extend(self.fan.expansion.faults.iter().filter_map(|step| step.actions.first()));
        }
    }

    /// Judges the state that was expanded: with phase 1, its end.
    fn judge_state(&mut self) -> Result<(), StopReason> {
        if self.judge.every_state() || self.fan.expansion.stuck {
            let mut faults = std::mem::take(&mut self.faults);
            let state = self.expander.phase1().map_or(self.stack.state(), Phase1::end);
            self.judge.state(state, self.fan.expansion.stuck, &mut faults);
            for fault in faults.drain(..) {
                self.violation(fault, &[])?;
            }
            self.faults = faults;
        }
        Ok(())
    }

    #[inline(always)]
    fn judge_steps(&mut self) -> Result<(), StopReason> {
        if self.fan.expansion.shows_something() { self.judge_what_shows() } else { Ok(()) }
    }

    #[cold]
    fn judge_what_shows(&mut self) -> Result<(), StopReason> {
        for step in std::mem::take(&mut self.fan.expansion.faults) {
            if self.task.checks.count(step.fault.kind) {
                self.violation(step.fault, &step.actions)?;
            } else if step.cut {
                self.found.cut(step.fault, || self.stack.path_and(&step.actions));
            }
        }
        // Of one that was expanded in advance it was asked whether this is not known.
        let atomic_loop = self.fan.expansion.atomic_loop.take();
        if let Some(actions) = atomic_loop.filter(|_| !self.found.knows_atomic_loop()) {
            self.found.warnings.push(Warning::AtomicLoop(self.stack.path_and(&actions)));
        }
        Ok(())
    }

    /// Gives ranks to the first actions of the edges that are to be pushed, after those of an earlier call if `more`.
    fn rank(&mut self, more: bool) {
        self.ranked.clear();
        self.ranks.clear();
        self.ranks.resize(self.fan.edges.start, 0);
        for edge in &self.fan.expansion.edges()[self.fan.edges.clone()] {
            let first = self.expander.first_action(edge);
            let rank = self.ranked.iter().position(|&action| action == first).unwrap_or(self.ranked.len());
            if rank == self.ranked.len() {
                self.ranked.push(first);
            }
            self.ranks.push(rank);
        }
        self.sleep.rank(self.stack.state(), &self.ranked, &self.faulty, more);
    }

    /// Has some successors looked up.
    fn prepare(&mut self, edges: Range<usize>) -> Result<(), StopReason> {
        self.fan.prepare(edges, self.random.as_mut(), self.hidden, self.store)
    }

    /// Expands the successor that will be tried first, and the one that will be tried after it. What was prepared for an earlier state is
    /// approached as late as can be.
    #[inline]
    fn look_ahead(&mut self) {
        let known_before = self.n_ahead > 0;
        if self.n_ahead == 0 {
            self.foresee();
        }
        self.fan.approach(self.store, &mut self.trust);
        let ticket = self.fan.tickets.get(self.ahead[0].place);
        if self.n_ahead > 0 && ticket.is_some_and(|&ticket| self.store.seems_known(ticket)) {
            self.n_ahead = 0;
            self.foresee();
        }
        if self.n_ahead == 1 && self.trust.holds() {
            self.foresee();
        }
        if known_before && self.n_ahead > 0 {
            self.ahead[0].approach(self.store, &mut self.trust);
            if self.n_ahead == 2 && self.store.seems_known(self.ahead[0].tickets[self.ahead[1].place]) {
                self.n_ahead = 1;
                self.foresee();
            }
        }
    }

    /// Expands what will be tried first after the last state that was foreseen. If that cannot be done, it will show when its turn comes.
    fn foresee(&mut self) {
        let [first, second] = &mut self.ahead;
        let (before, next) = match self.n_ahead {
            0 => (&mut self.fan, first),
            _ => (first, second),
        };
        if !self.trust.holds() {
            before.approach(self.store, &mut self.trust);
        }
        next.give_back();
        let (state, wanted);
        if let Some(place) = before.favourite(self.store, self.hidden) {
            let number = before.number(place);
            let edge = &before.expansion.edges()[number];
            state = before.expansion.state(edge);
            wanted = self.sleep.wanted_behind(before.expansion.behind(number));
            next.place = place;
            next.depth = before.depth + u64::from(n_actions(edge));
        } else if self.n_ahead > 0 {
            // The search will come to an end there, and go on with what waits.
            return self.stack.next_ticket().into_iter().for_each(|&next| self.store.remember(next));
        } else {
            let Some((waiting, &ticket, depth)) = self.stack.peek() else { return };
            if self.store.contains(key(waiting, self.hidden), ticket) {
                return;
            }
            state = waiting;
            wanted = self.sleep.wanted_next();
            next.place = ELSEWHERE;
            next.depth = depth as u64;
        }
        next.expansion.clear();
        self.expander.look_for_loops = !self.found.knows_atomic_loop();
        let (budget, out) = (&mut self.budget, &mut next.expansion);
        if expand(&mut self.expander, state, wanted, next.depth, budget, out).is_ok() {
            next.keep_run(&mut self.expander);
            let all = next.expansion.edges().len();
            let prepared = next.prepare(0..all, None, self.hidden, self.store);
            self.n_ahead += usize::from(prepared.is_ok());
        }
    }

    /// Puts those successors on the stack that are unknown; says whether enough of them all keep the proviso. `more`: there were
    /// others of the same state.
    fn push_successors(&mut self, more: bool) -> Result<bool, StopReason> {
        if Z::RANKS {
            self.rank(more);
        }
        let through_run = self.looks_ahead && self.fan.tickets.len() > MANY && !self.fan.expansion.is_plain();
        if through_run {
            let run = self.fan.take_run();
            self.stack.keep(run).map_err(no_memory)?;
        }
        let Fan { expansion, tickets, .. } = &*self.fan;
        let (mut kept, mut broken) = (false, false);
        let mut last = None;
        self.statistics.transitions += tickets.len() as u64;
        for (at, &ticket) in tickets.iter().enumerate() {
            let i = self.fan.number(at);
            let edge = &expansion.edges()[i];
            let state = expansion.state(edge);
            let key = key(state, self.hidden);
            let rank = if Z::RANKS { self.ranks[i] } else { 0 };
            if self.sleep.knows(self.store, key, ticket, rank) {
                self.statistics.matched += 1;
                if self.proviso == Proviso::None {
                    continue;
                }
                match self.proviso {
                    Proviso::Stack => {
                        kept |=
                            !self.open.map_or_else(|| self.stack.may_hold(key), |open| open.may_hold(key));
                    }
                    Proviso::Color if self.stack.may_hold(key) => broken = true,
                    Proviso::Color => kept = true,
                    Proviso::None | Proviso::ClosedSet => {}
                }
                continue;
            }
            last = Some(at);
            // With several workers another may be faster: see `claim`.
            kept |= self.open.is_none()
                && (!Z::RANKS || keeps(self.proviso, &self.stack, self.store, key, ticket));
            self.sleep.push(rank, expansion.behind(i)).map_err(no_memory)?;
            if expansion.is_plain() || edge.transient == 0 {
                self.stack.push_step(state, edge.action, ticket).map_err(no_memory)?;
                continue;
            }
            if through_run {
                self.stack.push_through_run(state, edge, ticket).map_err(no_memory)?;
                continue;
            }
            self.actions.clear();
            match self.looks_ahead {
                true => self.fan.actions(edge, &mut self.actions),
                false => self.expander.actions(edge, &mut self.actions),
            }
            self.stack.push(state, &self.actions, ticket).map_err(no_memory)?;
        }
        self.next_pushed = last;
        if last.unwrap_or(ELSEWHERE) != self.ahead[0].place {
            self.n_ahead = 0;
        }
        Ok(kept && !broken)
    }

    /// Makes sure of the successor that will be tried next, for a state that nothing else keeps the proviso for: it is stored at once,
    /// so that it is this worker's to search, which is done before the state is left. True as well if another worker has been faster
    /// and has left it.
    #[cold]
    fn claim(&mut self) -> Result<bool, StopReason> {
        let (Some(open), Some(at)) = (self.open, self.next_pushed) else { return Ok(false) };
        let Fan { expansion, tickets, .. } = &*self.fan;
        let state = expansion.state(&expansion.edges()[self.fan.number(at)]);
        let key = key(state, self.hidden);
        let met = visit_openly(open, &mut self.sleep, self.store, key, tickets[at])?;
        self.claimed = met == Met::New;
        Ok(self.claimed || !open.may_hold(key))
    }

    /// Where paths were cut off.
    pub fn take_cuts(&mut self) -> Cuts {
        self.expander.take_cuts()
    }

    /// There is no initial state.
    pub fn no_beginning(&mut self, fault: Fault) -> Result<(), StopReason> {
        if self.task.checks.count(fault.kind) {
            return self.violation(fault, &[]);
        }
        self.found.cut(fault, system::Path::new);
        Ok(())
    }

    /// Counts a violation at the end of the path and `more`; stops unless all are wanted.
    pub fn violation(&mut self, fault: Fault, more: &[ActionId]) -> Result<(), StopReason> {
        let depth = (self.stack.steps() + more.len()) as u64;
        self.found.add(fault, depth, || self.stack.path_and(more));
        if self.task.all_errors { Ok(()) } else { Err(StopReason::Violation) }
    }

    fn forgets_too_much(&self) -> bool {
        Statistics { forgotten: self.store.forgotten(), ..self.statistics }.forgets_too_much()
    }

    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            states: self.store.n_keys(),
            transitions: self.statistics.transitions,
            depth: self.stack.steps() as u64,
            frontier: self.stack.pending() as u64,
            errors: self.found.errors,
            forgets_too_much: self.forgets_too_much(),
            memory: self.store.memory() + self.stack.memory(),
            ..Snapshot::default()
        }
    }

    fn conclude(mut self, stop: StopReason) -> Outcome {
        self.statistics.states = self.store.n_keys();
        self.statistics.state_bytes = self.store.memory();
        self.statistics.omission = self.store.omission();
        self.statistics.forgotten = self.store.forgotten();
        self.statistics.visited = self.expander.phase1().map(Phase1::passed);
        let (checks, cuts) = (&self.task.checks, self.take_cuts());
        Outcome::conclude(stop, checks.about(), checks, cuts, S::LOSSLESS, self.found, self.statistics)
    }
}

/// Expands a state; who sleeps there is what a lean search asks for, every time.
#[inline(always)]
fn expand(
    expander: &mut Expander<'_>,
    state: &[u8],
    wanted: Wanted<'_>,
    depth: u64,
    budget: &mut Budget<'_>,
    out: &mut Expansion,
) -> Result<(), StopReason> {
    match wanted {
        Wanted::Awake(asleep) => expander.expand_awake(state, asleep, depth, budget, out),
        wanted => expander.expand_wanted(state, wanted, depth, budget, out),
    }
}

/// Inserts a state that others may insert as well: it is held before anybody can find it.
fn visit_openly<S: Seen, Z: Sleeping<S>>(
    open: &Open,
    sleep: &mut Z,
    store: &mut S,
    key: &[u8],
    ticket: S::Ticket,
) -> Result<Met, StopReason> {
    open.hold(key);
    let met = sleep.visit(store, key, ticket).map_err(|_| StopReason::MemoryLimit)?;
    if met != Met::New {
        open.let_go(key);
    }
    Ok(met)
}

/// Whether a successor that is to be visited, perhaps not for the first time, keeps the proviso.
fn keeps<S: Seen>(
    proviso: Proviso,
    stack: &Stack<S::Ticket>,
    store: &S,
    key: &[u8],
    ticket: S::Ticket,
) -> bool {
    match proviso {
        Proviso::None => true,
        Proviso::Stack | Proviso::Color => !stack.may_hold(key),
        Proviso::ClosedSet => !store.contains(key, ticket),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::observer::Silent;
    use crate::property::Checks;
    use std::sync::atomic::AtomicBool;
    use store::Table;
    use system::toy::{Counters, Graph, Hidden};

    fn search(system: &dyn TransitionSystem, all_errors: bool, limits: Limits) -> Outcome {
        let stop = AtomicBool::new(false);
        let task = Task { checks: Checks::SAFETY, all_errors, seed: None, limits, stop: &stop, reduce: None };
        depth_first(system, &mut Table::default(), &task, &mut Silent)
    }

    #[test]
    fn counters_are_counted() {
        let outcome = search(&Counters { n: 4, max: 4 }, false, Limits::default());
        assert_eq!(outcome.statistics.states, 625);
        assert_eq!(outcome.statistics.transitions, 4 * 4 * 125);
        assert_eq!(outcome.statistics.matched, 2000 - 624);
        assert_eq!(outcome.statistics.depth, 16);
        assert!(outcome.exhausted.is_some() && outcome.errors == 0);
    }

    #[test]
    fn the_first_violation_ends_the_search_with_its_path() {
        let graph = Graph::parse("0 -> 1 -> 2 -> 3; 1 -> 4; end 4; assert 2 3; end 3").unwrap();
        let outcome = search(&graph, false, Limits::default());
        assert_eq!(outcome.stop, StopReason::Violation);
        assert!(outcome.exhausted.is_none());
        assert_eq!(outcome.violations[0].path, [ActionId(0), ActionId(1), ActionId(2)]);
        assert_eq!(outcome.errors, 1);
    }

    #[test]
    fn all_errors_are_counted_and_the_rest_explored() {
        let text = "0 -> 1 -> 2 -> 3; 0 -> 4; 4 -> 2; bad 1 2; assert 1 2; fault 4 2";
        let outcome = search(&Graph::parse(text).unwrap(), true, Limits::default());
        assert_eq!(outcome.statistics.states, 5);
        // Two bad states, one assertion, one step that cannot be completed, one deadlock at 3.
        assert_eq!(outcome.errors, 5);
        assert_eq!(outcome.violations.len(), 5);
        assert!(outcome.exhausted.is_some());
        assert_eq!(outcome.statistics.transitions, 4);
    }

    #[test]
    fn checks_change_the_count_and_not_the_exploration() {
        let graph = Graph::parse("0 -> 1 -> 2; bad 1; assert 0 1").unwrap();
        let stop = AtomicBool::new(false);
        let checks = Checks::only(system::FaultKind::Invariant);
        let task = Task {
            checks,
            all_errors: true,
            seed: None,
            limits: Limits::default(),
            stop: &stop,
            reduce: None,
        };
        let outcome = depth_first(&graph, &mut Table::default(), &task, &mut Silent);
        assert_eq!((outcome.errors, outcome.statistics.states), (1, 3));
    }

    #[test]
    fn limits_make_the_search_incomplete() {
        let counters = Counters { n: 3, max: 3 };
        let deep = search(&counters, false, Limits { depth: Some(4), ..Limits::default() });
        assert!(deep.depth_limited && deep.exhausted.is_none() && deep.statistics.depth == 4);
        let few = search(&counters, false, Limits { states: Some(63), ..Limits::default() });
        assert_eq!((few.stop, few.statistics.states), (StopReason::StateLimit, 63));
        assert!(few.exhausted.is_none());
        let enough =
            search(&counters, false, Limits { states: Some(64), depth: Some(9), ..Limits::default() });
        assert!(enough.exhausted.is_some());
    }

    #[test]
    fn a_full_store_ends_the_search() {
        let stop = AtomicBool::new(false);
        let limits = Limits::default();
        let task =
            Task { checks: Checks::SAFETY, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        let system = Counters { n: 6, max: 6 };
        let outcome = depth_first(&system, &mut Table::new(50_000), &task, &mut Silent);
        assert_eq!(outcome.stop, StopReason::MemoryLimit);
        assert!(outcome.exhausted.is_none());
    }

    #[test]
    fn an_initial_fault_is_a_violation_without_steps() {
        let outcome = search(&Graph::parse("broken").unwrap(), false, Limits::default());
        assert_eq!((outcome.errors, outcome.statistics.states), (1, 0));
        assert!(outcome.violations[0].path.is_empty());
    }

    #[test]
    fn hidden_values_do_not_make_states_different() {
        let outcome = search(&Hidden, true, Limits::default());
        assert_eq!(outcome.statistics.states, 10);
    }

    #[test]
    fn endless_atomic_sequences_are_warned_of_once() {
        let text = "0 -> 1 -> 2 -> 1; 2 -> 3 -> 4 -> 5 -> 4; 5 -> 0; transient 1 2 4 5";
        let outcome = search(&Graph::parse(text).unwrap(), false, Limits::default());
        assert_eq!(outcome.warnings.len(), 1);
        assert_eq!(outcome.statistics.states, 2);
        assert!(outcome.exhausted.is_some());
    }

    #[test]
    fn a_seed_changes_the_order_alone() {
        let graph = Graph::random(200, 9);
        let run = |seed| {
            let stop = AtomicBool::new(false);
            let limits = Limits::default();
            let task =
                Task { checks: Checks::SAFETY, all_errors: true, seed, limits, stop: &stop, reduce: None };
            depth_first(&graph, &mut Table::default(), &task, &mut Silent)
        };
        let (plain, one, again) = (run(None), run(Some(1)), run(Some(1)));
        assert_eq!(plain.statistics.states, one.statistics.states);
        assert_eq!(plain.statistics.transitions, one.statistics.transitions);
        assert_eq!(one.statistics, again.statistics);
    }
}
