//! Search for strongly connected components by several workers: a cycle that has all marks, if there is one,
//! on the fly.
//!
//! UFSCC, by Bloemen, Laarman & van de Pol (PPoPP 2016), with marks on steps as in Bloemen, Duret-Lutz & van
//! de Pol (STTT 2019). Every worker makes the search of [`crate::scc`] from the initial state, in an order of
//! its own, and what they know of components is common: parts of components are sets of a [`UnionFind`],
//! which whoever closes a cycle puts together. A worker keeps the *roots*, the states by which it came into
//! the sets on its path. A step to a set where it has been closes a cycle: all sets between become one. A
//! state all of whose steps were followed by anybody is taken out of its set's list. When a worker comes to
//! the end of a root it takes a state from the list that others have found and not finished; when the list is
//! empty the component is complete, and dead for all.
//!
//! **Marks** of a step are added to the set that both of its ends are in: those of a step that closes a cycle
//! at once, those of a step into a root when the root is put together with the one before. Who is the first
//! to take a state out of the list has followed all its steps, so a component that becomes dead without
//! having all marks has no cycle with all of them.
//!
//! **The run** is made when everybody has stopped. Then all cycles that were closed are whole, so in the sets
//! one can go from each state to each. A worker who has taken a state from a list does not know a way to it;
//! this gap in its path is filled then.
//!
//! **Numbers.** A state is new for exactly one worker, and its steps are counted by the one who takes it out
//! of the list first: the counts do not depend on timing.

use crate::cuts::About;
use crate::cycle_worker::{CycleSearch, CycleWorker, Shared, WorkerResult, Workers, full, merge};
use crate::judged::Judged;
use crate::lasso::{Anchor, shorten, way_to};
use crate::limits::Budget;
use crate::marks::{EVERYTHING, MissingMarks};
use crate::ndfs::Cycles;
use crate::observer::{Observer, Silent, Snapshot};
use crate::outcome::{Extent, Outcome, Recorder, StopReason, Warning, no_memory, signature};
use crate::state_key::key;
use crate::states::{Job, Together};
use crate::task::Task;
use store::shared_numbers::{SharedNumbers, Spare};
use store::union_find::{Claim, MOST_WORKERS, Node, UnionFind};
use store::{Entry, Hand, Numbering, Portable, Recall};
use system::{ActionId, Fault, Path, SystemExt, TransitionSystem};

/// Bytes that are known of a state beside the store.
const NODE_BYTES: u64 = 64;
/// Bytes that lead there from the number that a store gives.
const HALF_BYTES: u64 = 4;

/// Looks for a cycle that lacks nothing, with several workers. The task asks for one error, has no limit on
/// depth and no reduction. What is hidden in a state must not matter for what can happen next: states are
/// taken from the store, without it.
pub fn ufscc(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    workers: Workers,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let workers = Workers { number: workers.number.min(MOST_WORKERS), ..workers };
    Job { system, cycles, task, observer }.together::<Ufscc>(workers)
}

/// The search.
struct Ufscc;

impl Together for Ufscc {
    fn search<H>(job: Job<'_, '_>, workers: Workers, hand: &(dyn Fn() -> H + Sync)) -> Outcome
    where
        H: Hand + Numbering + Recall<Name: Portable>,
    {
        let memory = job.cycles.memory;
        let sets = Sets { numbers: SharedNumbers::new(memory), sets: UnionFind::new(memory) };
        let (shared, observer) = Shared::new(job, hand, sets);
        let all = shared.search(workers, observer, &UfsccWorker::new);
        put_together(&shared, all)
    }
}

/// What workers know together.
struct Sets {
    numbers: SharedNumbers,
    sets: UnionFind,
}

impl Sets {
    fn memory(&self, store: &impl Numbering) -> u64 {
        store.memory() + store.bound() * HALF_BYTES + self.numbers.taken() * NODE_BYTES
    }
}

/// A state that the worker did not come to by a step of its own: it was taken from the list of the set of
/// `from`.
#[derive(Clone, Copy)]
struct Gap {
    /// Actions before it.
    at: usize,
    from: Node,
    to: Node,
}

/// What is wrong, or at least strange.
enum What {
    Shown(Judged),
    /// There is a cycle among the states of this node's set.
    Cycle(Node),
}

/// What was found at the end of a path.
struct Finding {
    what: What,
    path: Path,
    gaps: Vec<Gap>,
}

/// A set on the way to the current state.
struct Root {
    /// The state by which the worker came into it.
    node: Node,
    /// The number of that state's frame.
    frame: usize,
    /// What the step into it lacks.
    into: MissingMarks,
}

/// A state of the path.
struct Frame {
    /// The one that the path leads to.
    entered: Node,
    /// The one whose steps are followed: of the same set, perhaps another.
    now: Node,
    /// How many steps that one has.
    steps: u64,
    /// Actions before it.
    path: usize,
}

struct UfsccWorker<'a, 'c, H: Numbering> {
    base: CycleWorker<'a, 'c, H, Sets, MissingMarks>,
    spare: Spare,
    fresh: Vec<(usize, MissingMarks)>,
    /// The successors of the state that was expanded last: their numbers and their nodes, if they are known.
    numbers: Vec<Option<H::Number>>,
    nodes: Vec<Option<Node>>,
    frames: Vec<Frame>,
    roots: Vec<Root>,
    found: Vec<Finding>,
}

impl<'a, 'c, H> CycleSearch<'a, 'c> for UfsccWorker<'a, 'c, H>
where
    'a: 'c,
    H: Hand + Numbering + Recall<Name: Portable> + 'a,
{
    type Hand = H;
    type Own = Sets;
    type MissingMarks = MissingMarks;
    type Found = Vec<Finding>;

    #[inline]
    fn worker(&mut self) -> &mut CycleWorker<'a, 'c, H, Sets, MissingMarks> {
        &mut self.base
    }

    /// Goes to the state at the end of the path if its set is new for this worker; a step to one where it has
    /// been closes cycles.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let (Entry { number, name, new }, lack) = self.base.visit()?;
        self.base.new += u64::from(new);
        let Sets { numbers, sets } = &self.base.shared.own;
        let node = numbers.number(number, &mut self.spare, |node| sets.begin(node, name)).map_err(full)?;
        let lack = lack.unwrap_or(EVERYTHING);
        match sets.make_claim(node, self.base.number) {
            Claim::Dead => Ok(false),
            Claim::Found => self.merge(node, lack).map(|()| false),
            Claim::New => {
                self.roots.try_reserve(1).map_err(no_memory)?;
                self.frames.try_reserve(1).map_err(no_memory)?;
                self.roots.push(Root { node, frame: self.frames.len(), into: lack });
                let path = self.base.stack.steps();
                self.frames.push(Frame { entered: node, now: node, steps: 0, path });
                self.base.stack.enter(None).map_err(no_memory)?;
                self.explore().map(|()| true)
            }
        }
    }

    /// All steps of the last frame's state were followed.
    fn leave(&mut self) -> Result<(), StopReason> {
        let Some(&Frame { now, steps, .. }) = self.frames.last() else { return Ok(()) };
        // Several workers may expand a state; the steps are counted by the first that is done with it.
        if self.sets().remove_from_list(now) {
            self.base.statistics.transitions += steps;
        } else {
            self.base.statistics.reexplored += 1;
        }
        if self.roots.last().is_some_and(|root| root.frame + 1 == self.frames.len())
            && !self.leave_root(now)?
        {
            return Ok(());
        }
        self.frames.pop();
        self.base.stack.retreat();
        Ok(())
    }

    fn tell(&mut self, news: Judged, more: &[ActionId]) -> Result<(), StopReason> {
        match news {
            Judged::Violation(_) => return self.wrong(What::Shown(news), more),
            Judged::Cut(ref fault) if self.knows_cut(fault) => {}
            Judged::Cut(_) | Judged::AtomicLoop => self.note(What::Shown(news), more),
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.base.shared.own.memory(&self.base.store)
    }

    fn conclude(self) -> WorkerResult<Vec<Finding>> {
        self.base.result(self.found)
    }
}

impl<'a, 'c, H> UfsccWorker<'a, 'c, H>
where
    'a: 'c,
    H: Hand + Numbering + Recall<Name: Portable>,
{
    fn new(base: CycleWorker<'a, 'c, H, Sets, MissingMarks>) -> Self {
        UfsccWorker {
            base,
            spare: Spare::default(),
            fresh: Vec::new(),
            numbers: Vec::new(),
            nodes: Vec::new(),
            frames: Vec::new(),
            roots: Vec::new(),
            found: Vec::new(),
        }
    }

    fn sets(&self) -> &'c UnionFind {
        &self.base.shared.own.sets
    }

    /// Expands the state of the last frame and puts the successors that are to be tried on the stack.
    fn explore(&mut self) -> Result<(), StopReason> {
        self.expand()?;
        if let Some(frame) = self.frames.last_mut() {
            frame.steps = self.base.expansion.edges().len() as u64;
        }
        self.push_successors()
    }

    /// Looks up the successors of the state that was expanded last, all together: each waits for memory three
    /// times.
    fn look_up_successors(&mut self) -> Result<(), StopReason> {
        self.base.prepare_successors(None)?;
        let Sets { numbers, sets } = &self.base.shared.own;
        self.numbers.clear();
        self.nodes.clear();
        for at in 0..self.base.tickets.len() {
            let number = self.base.number_of(at);
            number.into_iter().for_each(|number| numbers.prefetch(number));
            self.numbers.push(number);
        }
        for number in &self.numbers {
            let node = number.and_then(|number| numbers.get(number));
            node.into_iter().for_each(|node| sets.prefetch(node));
            self.nodes.push(node);
        }
        Ok(())
    }

    fn push_successors(&mut self) -> Result<(), StopReason> {
        self.look_up_successors()?;
        self.base.line_up();
        let accepting = self.base.marker.is_accepting(self.base.stack.state());
        self.fresh.clear();
        for turn in 0..self.base.order.len() {
            let CycleWorker { order, expansion, marker, number, shared, .. } = &mut self.base;
            let at = order[turn];
            let lack = marker.lack(accepting, expansion.edge(at), expansion);
            let Some(node) = self.nodes[at] else {
                self.fresh.push((at, lack));
                continue;
            };
            match shared.own.sets.known(node, *number) {
                Some(Claim::Dead) => {}
                Some(_) => self.merge(node, lack)?,
                None => self.base.push(at, lack)?,
            }
        }
        // What nobody has found yet is tried first: when the turn of the others comes they are often dead.
        for turn in 0..self.fresh.len() {
            let (at, lack) = self.fresh[turn];
            self.base.push(at, lack)?;
        }
        Ok(())
    }

    /// A step that lacks `lack` leads from the last frame's state to a set where this worker has been: all
    /// between are one. Nothing interrupts this: sets that are put together in part are no component.
    fn merge(&mut self, to: Node, lack: MissingMarks) -> Result<(), StopReason> {
        let Some(here) = self.frames.last().map(|frame| frame.now) else { return Ok(()) };
        let (mut together, mut complete) = (lack, false);
        // The states between are on a cycle, so that their roots become one, from the end of the path
        // backwards, as in Tarjan's algorithm.
        while self.roots.len() > 1 && !self.sets().same_set(here, to) {
            complete |= self.join_last_roots(&mut together);
        }
        complete |= self.sets().add_marks(here, !together);
        if complete { self.wrong(What::Cycle(here), &[]) } else { Ok(()) }
    }

    /// Puts the last root's set together with the one before; the step between is inside. True when the set
    /// has all marks.
    fn join_last_roots(&mut self, lack: &mut MissingMarks) -> bool {
        let (Some(last), Some(before)) = (self.roots.pop(), self.roots.last()) else { return false };
        *lack &= last.into;
        self.sets().unite(last.node, before.node)
    }

    /// The last frame is that of a root. False when there is more to do in its set.
    fn leave_root(&mut self, now: Node) -> Result<bool, StopReason> {
        let sets = self.sets();
        if let [.., before, last] = &self.roots[..]
            && sets.same_set(before.node, last.node)
        {
            // Another worker has put them together: what is left is a matter of the root before.
            let (node, into) = (last.node, last.into);
            self.roots.pop();
            if sets.add_marks(node, !into) {
                self.wrong(What::Cycle(node), &[])?;
            }
            return Ok(true);
        }
        // The set is not finished: the worker goes on with a state of it that nobody is done with, perhaps
        // one that another worker has found.
        if let Some(next) = sets.pick_from_list(now) {
            self.jump(next)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.now = next;
            }
            self.explore()?;
            return Ok(false);
        }
        // Only tombs are left in the list: all steps of all states were followed, and none leads out of the
        // set to something that is not dead.
        sets.mark_dead(now);
        self.roots.pop();
        Ok(true)
    }

    /// Makes a state that is known the one at the end of the path; what is hidden in that stays.
    fn jump(&mut self, node: Node) -> Result<(), StopReason> {
        let mut state = Vec::new();
        self.base.store.load(self.sets().name(node), &mut state);
        let now = self.base.stack.state();
        state.extend_from_slice(&now[key(now, self.base.hidden).len()..]);
        self.base.stack.jump(&state).map_err(no_memory)
    }

    /// Notes what is wrong at the end of the path and `more`, if nobody was faster. All stop.
    fn wrong(&mut self, what: What, more: &[ActionId]) -> Result<(), StopReason> {
        if self.base.shared.is_first() {
            self.note(what, more);
        }
        Err(StopReason::Violation)
    }

    /// Whether an error of this signature that is no violation was noted.
    fn knows_cut(&self, fault: &Fault) -> bool {
        let same = |what: &What| matches!(what, What::Shown(Judged::Cut(other)) if signature(other) == signature(fault));
        self.found.iter().any(|finding| same(&finding.what))
    }

    fn note(&mut self, what: What, more: &[ActionId]) {
        let jumps = self.frames.iter().filter(|frame| frame.now != frame.entered);
        let gaps = jumps.map(|frame| Gap { at: frame.path, from: frame.entered, to: frame.now }).collect();
        self.found.push(Finding { what, path: self.base.stack.path_and(more), gaps });
    }
}

/// What all found, with runs that lead there.
fn put_together<H>(shared: &Shared<'_, H, Sets>, all: Vec<WorkerResult<Vec<Finding>>>) -> Outcome
where
    H: Hand + Numbering + Recall<Name: Portable>,
{
    let mut found = Vec::new();
    let (mut statistics, cuts) = merge(all, |part| found.extend(part));
    shared.take_stock(&mut statistics);
    let store = (shared.hand)();
    statistics.state_bytes = shared.own.memory(&store);
    let mut stop = shared.halt.reason().unwrap_or(StopReason::Completed);
    let (task, mut silent) = (shared.rest_of_task(), Silent);
    let mut tracer = Tracer { shared, store, budget: Budget::new(&task, &mut silent) };
    let mut recorder = Recorder::default();
    for finding in found {
        if matches!(finding.what, What::Shown(Judged::AtomicLoop)) && !recorder.warnings.is_empty() {
            continue;
        }
        if tracer.record(finding, &mut recorder).is_none() {
            stop = tracer.budget.look(Snapshot::default).err().unwrap_or(StopReason::MemoryLimit);
        }
    }
    let extent = Extent { stop, about: About::Runs, cuts, lossless: H::LOSSLESS };
    Outcome::conclude(extent, &shared.task.checks, recorder, statistics)
}

/// Makes runs of what was found, when everybody has stopped.
struct Tracer<'a, 'c, H> {
    shared: &'c Shared<'a, H, Sets>,
    store: H,
    budget: Budget<'c>,
}

impl<H> Tracer<'_, '_, H>
where
    H: Hand + Numbering + Recall<Name: Portable>,
{
    /// Records what was found, with the way to it. `None` when there is no time or memory to find it.
    fn record(&mut self, finding: Finding, recorder: &mut Recorder) -> Option<()> {
        let path = self.without_gaps(finding.path, &finding.gaps)?;
        match finding.what {
            What::Shown(Judged::Violation(fault)) => recorder.add(fault, path.len() as u64, || path),
            What::Shown(Judged::Cut(fault)) => recorder.cut(fault, || path),
            What::Shown(Judged::AtomicLoop) => recorder.warnings.push(Warning::AtomicLoop(path)),
            What::Cycle(node) => {
                let state = self.state(node);
                let (shared, store) = (self.shared, &self.store);
                let inside = |key: &[u8]| is_in_set(shared, store, node, key);
                let anchor = Anchor { state: &state, path: &path, inside: Some(&inside), met: None };
                let lasso = shorten(shared.system, shared.cycles.acceptance, &anchor, &mut self.budget)?;
                let (path, cycle) = lasso.path();
                recorder.add_lasso(shared.cycles.fault.clone(), path, cycle);
            }
        }
        Some(())
    }

    fn state(&mut self, node: Node) -> Vec<u8> {
        let mut state = Vec::new();
        self.store.load(self.shared.own.sets.name(node), &mut state);
        self.store.rest();
        state.resize(state.len() + self.shared.system.hidden_bytes(), 0);
        state
    }

    /// A path with ways through the sets in which a worker has jumped.
    fn without_gaps(&mut self, path: Path, gaps: &[Gap]) -> Option<Path> {
        if gaps.is_empty() {
            return Some(path);
        }
        let (mut whole, mut done, mut steps) = (Path::new(), 0, path.iter());
        for gap in gaps {
            whole.extend(steps.by_ref().take(gap.at - done));
            done = gap.at;
            let (from, to) = (self.state(gap.from), self.state(gap.to));
            let (shared, store) = (self.shared, &self.store);
            let inside = |key: &[u8]| is_in_set(shared, store, gap.from, key);
            let acceptance = shared.cycles.acceptance;
            let ends = (&from[..], shared.system.key(&to));
            whole.extend(&way_to(shared.system, acceptance, ends, &inside, &mut self.budget)?);
        }
        whole.extend(steps);
        Some(whole)
    }
}

/// Whether the state with this key is in the set of a node.
fn is_in_set<H: Numbering>(shared: &Shared<'_, H, Sets>, store: &H, node: Node, key: &[u8]) -> bool {
    let other = store.find(key).and_then(|number| shared.own.numbers.get(number));
    other.is_some_and(|other| shared.own.sets.same_set(node, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cndfs::tests::{Wrong, rings};
    use crate::limits::Limits;
    use crate::ndfs::tests::cycles;
    use crate::property::Checks;
    use crate::random::Random;
    use crate::scc::scc;
    use std::fmt::Write;
    use std::sync::atomic::AtomicBool;
    use system::toy::{Counters, Graph};
    use system::{AcceptanceMarks, Capabilities, Fairness, Labels, Processes, Successors};

    fn task<'a>(limits: Limits, stop: &'a AtomicBool) -> Task<'a> {
        Task { checks: Checks::NONE, all_errors: false, seed: None, limits, stop, reduce: None }
    }

    fn by_one(system: &dyn TransitionSystem, fairness: Fairness) -> Outcome {
        let stop = AtomicBool::new(false);
        scc(system, &cycles(fairness, true), &task(Limits::default(), &stop), &mut Silent)
    }

    fn by(number: usize, system: &dyn TransitionSystem, fairness: Fairness, limits: Limits) -> Outcome {
        let (stop, workers) = (AtomicBool::new(false), Workers { number, alone: Some(0) });
        ufscc(system, &cycles(fairness, true), workers, &task(limits, &stop), &mut Silent)
    }

    /// A graph of three processes with about `steps` steps for two nodes; few steps make many components,
    /// many make one. Every node lies behind another one, so that all can be reached.
    fn random(n: u32, steps: u32, accepting: usize, seed: u64) -> Graph {
        let mut random = Random::new(seed);
        let mut text = String::new();
        for node in 1..n {
            let from = random.below(node as usize);
            let back = random.below(node as usize / 2 + 1);
            let process = random.below(3);
            write!(text, "{from} -> {node}; process {process} {from} {node}; ").unwrap();
            if random.below(4) < steps as usize {
                write!(text, "{node} -> {back}; process {} {node} {back}; ", random.below(3)).unwrap();
            }
        }
        for _ in 0..n * steps / 2 {
            let (from, to) = (random.below(n as usize), random.below(n as usize));
            let (from, to) = if steps == 0 { (from.min(to), from.max(to)) } else { (from, to) };
            write!(text, "{from} -> {to}; process {} {from} {to}; ", random.below(3)).unwrap();
        }
        for node in 0..n {
            if random.below(accepting) == 0 {
                write!(text, "accept {node}; ").unwrap();
            }
        }
        Graph::parse(text.trim_end_matches("; ")).unwrap()
    }

    /// Follows a lasso: it must lead back, pass an accepting node, and be fair to every process if that is
    /// asked for.
    fn check_lasso(graph: &Graph, outcome: &Outcome, fairness: Fairness) {
        let violation = &outcome.violations[0];
        let mut nodes = vec![0];
        for action in &violation.path {
            let (from, to) = graph.edges()[action.0 as usize];
            assert_eq!(Some(&from), nodes.last(), "{violation:?}");
            nodes.push(to);
        }
        let start = violation.cycle.unwrap();
        let around = &nodes[start..];
        assert_eq!(around.first(), around.last());
        assert!(around.iter().any(|node| graph.labels(node.to_string().as_bytes()).accepting));
        let of = |at: usize| graph.process_of(ActionId(at as u64));
        let stuck = |process: u32, node: &u32| {
            !graph.edges().iter().enumerate().any(|(at, edge)| edge.0 == *node && of(at) == process)
        };
        for process in 0..3 {
            let moves = violation.path.iter().skip(start).any(|action| graph.process_of(*action) == process);
            let fair = moves || around.iter().any(|node| stuck(process, node));
            assert!(fair || fairness == Fairness::None, "process {process}: {violation:?}");
        }
    }

    /// A graph in which workers lose their processor again and again.
    struct Shaky<'a>(&'a Graph);

    impl TransitionSystem for Shaky<'_> {
        fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
            self.0.initial(out)
        }

        fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
            std::thread::yield_now();
            self.0.enabled(state, out);
        }

        fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
            self.0.fire(state, actions, out);
        }

        fn labels(&self, state: &[u8]) -> Labels {
            std::thread::yield_now();
            self.0.labels(state)
        }

        fn hidden_bytes(&self) -> usize {
            self.0.hidden_bytes()
        }

        fn capabilities(&self) -> Capabilities<'_> {
            self.0.capabilities()
        }

        fn deadlock(&self, state: &[u8]) -> Fault {
            self.0.deadlock(state)
        }
    }

    /// As one worker; true when something is wrong with the graph.
    fn agree(graph: &Graph, fairness: Fairness, numbers: &[usize], what: &str) -> bool {
        agree_in(graph, graph, fairness, numbers, what)
    }

    fn agree_in(
        graph: &Graph,
        system: &dyn TransitionSystem,
        fairness: Fairness,
        numbers: &[usize],
        what: &str,
    ) -> bool {
        let expected = by_one(graph, fairness);
        for &number in numbers {
            let outcome = by(number, system, fairness, Limits::default());
            assert_eq!(outcome.errors, expected.errors, "{what}, {number} workers");
            assert_eq!(outcome.exhausted.is_some(), expected.errors == 0, "{what}");
            if expected.errors > 0 {
                check_lasso(graph, &outcome, fairness);
                continue;
            }
            let (ours, theirs) = (outcome.statistics, expected.statistics);
            assert_eq!(
                (ours.states, ours.transitions, ours.matched),
                (theirs.states, theirs.transitions, theirs.matched),
                "{what}, {number} workers"
            );
        }
        expected.errors > 0
    }

    #[test]
    fn random_graphs_have_the_same_verdicts() {
        let mut wrong = [0; 2];
        for seed in 0..1200u64 {
            let fairness = [Fairness::None, Fairness::Weak][seed as usize % 2];
            let n = 4 + (seed % 29) as u32;
            let graph = random(n, (seed / 2 % 3) as u32, 3 + seed as usize % 40, seed);
            wrong[usize::from(agree(&graph, fairness, &[2, 5], &format!("seed {seed}")))] += 1;
        }
        assert!(wrong[0] > 200 && wrong[1] > 200, "{wrong:?}");
    }

    #[test]
    fn large_components_are_put_together_by_all() {
        let mut wrong = [0; 2];
        for seed in 0..60u64 {
            let fairness = [Fairness::None, Fairness::Weak][seed as usize % 2];
            // No node accepts but some in the end, or none: everything must be seen.
            let graph = random(1500, (seed % 4) as u32, 400 + 10_000 * (seed as usize % 3), seed);
            wrong[usize::from(agree(&graph, fairness, &[1, 3, 8], &format!("seed {seed}")))] += 1;
        }
        assert!(wrong[0] > 15 && wrong[1] > 10, "{wrong:?}");
    }

    #[test]
    fn workers_may_be_interrupted_anywhere() {
        let mut wrong = [0; 2];
        for seed in 0..400u64 {
            let n = 20 + (seed % 40) as u32;
            let graph = random(n, 1 + (seed % 2) as u32, n as usize, seed);
            let fairness = [Fairness::None, Fairness::Weak][seed as usize / 2 % 2];
            let found = agree_in(&graph, &Shaky(&graph), fairness, &[8], &format!("seed {seed}"));
            wrong[usize::from(found)] += 1;
        }
        assert!(wrong[0] > 80 && wrong[1] > 80, "{wrong:?}");
    }

    /// A shaky graph in which two steps earn a mark each, as the claims of a product do: what was earned is
    /// hidden in the next state.
    struct Earning<'a> {
        shaky: Shaky<'a>,
        by: [ActionId; 2],
    }

    impl AcceptanceMarks for Earning<'_> {
        fn earned(&self, state: &[u8]) -> system::claim::Marks {
            state[state.len() - 1]
        }
    }

    impl TransitionSystem for Earning<'_> {
        fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
            self.shaky.initial(out)?;
            out.push(0);
            Ok(())
        }

        fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
            self.shaky.enabled(self.key(state), out);
        }

        fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
            for &action in actions {
                let mut steps = Successors::default();
                self.shaky.fire(self.key(state), &[action], &mut steps);
                let earned = (0..2).map(|mark| u8::from(self.by[mark] == action) << mark).sum();
                for step in &steps.list {
                    let next = [steps.state(step).unwrap(), &[earned]].concat();
                    out.push(action, Some(&next), false, None);
                }
            }
        }

        fn labels(&self, state: &[u8]) -> Labels {
            self.shaky.labels(self.key(state))
        }

        fn hidden_bytes(&self) -> usize {
            1
        }

        fn capabilities(&self) -> Capabilities<'_> {
            Capabilities { acceptance: Some(self), ..Capabilities::NONE }
        }

        fn deadlock(&self, state: &[u8]) -> Fault {
            self.shaky.deadlock(self.key(state))
        }
    }

    /// A cycle passes two given steps if and only if all their ends are in one component.
    #[test]
    fn marks_of_single_steps_are_not_lost() {
        let mut cycles = cycles(Fairness::None, true);
        cycles.acceptance.n_marks = 2;
        // A state that is repeated would earn what the step to it has earned.
        cycles.acceptance.stutters = false;
        let (stop, workers) = (AtomicBool::new(false), Workers { number: 8, alone: Some(0) });
        let task = task(Limits::default(), &stop);
        let mut wrong = [0; 2];
        for seed in 0..500u64 {
            let graph = random(12 + (seed % 20) as u32, 1, 2, seed);
            let mut random = Random::new(seed);
            let by = [0; 2].map(|_| ActionId(random.below(graph.edges().len()) as u64));
            let system = Earning { shaky: Shaky(&graph), by };
            let expected = scc(&system, &cycles, &task, &mut Silent);
            let outcome = ufscc(&system, &cycles, workers, &task, &mut Silent);
            assert_eq!(outcome.errors, expected.errors, "seed {seed}");
            wrong[usize::from(expected.errors > 0)] += 1;
            let Some(violation) = outcome.violations.first() else {
                assert_eq!(outcome.statistics.states, expected.statistics.states, "seed {seed}");
                continue;
            };
            let path = violation.path.to_vec();
            let around = &path[violation.cycle.unwrap()..];
            assert!(by.iter().all(|action| around.contains(action)), "seed {seed}: {violation:?} {by:?}");
        }
        assert!(wrong[0] > 50 && wrong[1] > 50, "{wrong:?}");
    }

    #[test]
    fn many_components_in_a_row() {
        for seed in 0..150 {
            let bad = [Wrong::Step, Wrong::Nothing, Wrong::Nothing][seed as usize % 3];
            let graph = rings(20 + 7 * (seed as u32 % 40), seed, bad);
            agree(&graph, Fairness::None, &[1, 2, 8], &format!("seed {seed}"));
        }
    }

    #[test]
    fn limits_end_it_for_all() {
        let counters = Counters { n: 6, max: 5 };
        let limits = Limits { states: Some(1000), ..Limits::default() };
        let outcome = by(4, &counters, Fairness::Weak, limits);
        assert_eq!((outcome.stop, outcome.statistics.states), (StopReason::StateLimit, 1000));
        let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
        assert_eq!(by(4, &counters, Fairness::Weak, limits).stop, StopReason::TimeLimit);
        let (stop, workers) = (AtomicBool::new(true), Workers { number: 3, alone: None });
        let task = task(Limits::default(), &stop);
        let outcome = ufscc(&counters, &cycles(Fairness::Weak, true), workers, &task, &mut Silent);
        assert_eq!((outcome.stop, outcome.exhausted.is_some()), (StopReason::Interrupted, false));
    }

    #[test]
    fn memory_is_limited() {
        let (stop, workers) = (AtomicBool::new(false), Workers { number: 3, alone: Some(100) });
        let cycles = Cycles { memory: 100_000, ..cycles(Fairness::Weak, true) };
        let task = task(Limits::default(), &stop);
        let outcome = ufscc(&Counters { n: 7, max: 7 }, &cycles, workers, &task, &mut Silent);
        assert_eq!(outcome.stop, StopReason::MemoryLimit);
    }

    #[test]
    fn more_workers_than_a_set_can_know_are_fewer() {
        let outcome = by(200, &Counters { n: 5, max: 5 }, Fairness::Weak, Limits::default());
        assert_eq!((outcome.statistics.states, outcome.errors), (7776, 0));
        assert!(outcome.statistics.workers <= MOST_WORKERS as u64);
    }
}
