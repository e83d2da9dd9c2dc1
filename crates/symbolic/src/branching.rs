//! Formulas of branching time by sets of states: the sets of the crate `mu` are diagrams.
//!
//! Atoms are judged on the values of the slots that they look at. A modality that names steps is about some
//! groups, from the states in which a process is where it must be; who moves in a step that hands control over
//! is asked of the machine once more. Steps that are cut off are known by the values that their groups read.
//!
//! The evaluation cannot fail, as `mu` sees it: what ends it early unwinds to [`attempt`].

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use ldd::Set;
use mu::witness::{ProofLine, Prover, is_about_a_run};
use mu::{Atom, Formula, Runs, Sets, Steps, Truth};
use num_bigint::BigUint;
use search::{Checks, SetSearch, Task};
use system::TransitionSystem;

use crate::demonstration::{Demonstration, SymbolicRun};
use crate::operators::{ChosenSteps, Kept, Operators};
use crate::partitioned::{LocalGroup, Partitioned, Predicate, Taker};
use crate::safety::{Figures, Judging, Request, explore};
use crate::space::{Ended, Progress, Space};

/// Steps in which a process takes part: of a kind, with a number, from a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StepFilter {
    /// The kind of the process.
    pub kind: Option<u32>,
    /// Its number.
    pub process: Option<u32>,
    /// The number of the location that it leaves.
    pub location: Option<u32>,
}

impl StepFilter {
    /// Whether steps of somebody may pass, as far as it is known who that is.
    pub(crate) fn is_about(&self, taker: &Taker) -> bool {
        self.kind.is_none_or(|kind| kind == taker.kind)
            && self.process.is_none_or(|process| process == taker.process)
    }
}

/// What the numbers in formulas mean.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vocabulary<'a> {
    /// The propositions, as the system numbers them.
    pub propositions: &'a [(usize, u32)],
    /// The filters.
    pub filters: &'a [StepFilter],
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The formulas.
    pub formulas: &'a [Formula],
    /// What their numbers mean.
    pub vocabulary: Vocabulary<'a>,
    /// Only runs count that are fair to each process, weakly.
    pub fair: bool,
    /// Nodes that may be asked for to find a shortest path, before some path is looked for state by state.
    pub work_for_rings: u64,
}

/// Work for rings that takes less than a second.
pub const WORK_FOR_RINGS: u64 = 1 << 21;

/// The answer to a formula.
#[derive(Debug)]
pub struct Judgement {
    /// Whether it holds in the initial state.
    pub truth: Truth,
    /// The number of states in which it certainly holds.
    pub satisfied: BigUint,
    /// What one run shows of that; nothing where none shows anything, or where there is no memory to find it.
    pub run: Option<Demonstration>,
    /// Where the parts of the formula hold.
    pub proof: Vec<ProofLine>,
}

/// All answers.
#[derive(Debug)]
pub struct Branched {
    /// The answers, in the order of the formulas: as many as there were time and memory for.
    pub judgements: Vec<Judgement>,
    /// Why there are no more.
    pub ended: Option<Ended>,
    /// What the search met: everything was explored.
    pub found: SetSearch,
    /// Numbers.
    pub figures: Figures,
}

/// Explores everything, and answers one formula after another.
pub fn branching(
    request: Request<'_>,
    asked: Asked<'_>,
    partitioned: &mut dyn Partitioned,
    progress: &Arc<Progress>,
) -> Result<Branched, Ended> {
    // Errors of the system end nothing.
    let task = Task { checks: Checks::NONE, all_errors: true, ..*request.task };
    let request = Request { task: &task, ..request };
    explore(request, partitioned, progress, |judging| answer_all(judging, asked))
}

fn answer_all(mut judging: Judging<'_, '_>, asked: Asked<'_>) -> Result<Branched, Ended> {
    let (found, figures) = judging.conclude()?;
    let Judging { request, mut space, all, .. } = judging;
    refuse_hidden(&space)?;
    let (mut judgements, mut ended) = (Vec::new(), None);
    let mut sets = attempt(|| SymbolicSets::new(&mut space, all, asked.vocabulary))?;
    for formula in asked.formulas {
        match attempt(|| judge(&mut sets, request.system, (formula, asked))) {
            Ok(judgement) => judgements.push(judgement),
            Err(Ended::Grown) => return Err(Ended::Grown),
            Err(why) => {
                ended = Some(why);
                break;
            }
        }
    }
    Ok(Branched { judgements, ended, found, figures })
}

/// What hidden variables are makes no states, so sets of states do not say which steps there are.
pub(crate) fn refuse_hidden(space: &Space<'_>) -> Result<(), Ended> {
    match space.system.slots().iter().any(|slot| slot.hidden) {
        false => Ok(()),
        true => {
            let why = "values of hidden variables make no states, but steps may depend on them";
            Err(Ended::Unfit(why.to_string()))
        }
    }
}

/// Nodes that may be asked for to find a run that shows that a formula fails: some ten seconds. Sets of states
/// at a distance can be much larger than sets of all states.
pub(crate) const WORK_FOR_FAILURE: u64 = 1 << 28;
/// The same for one that holds, where a run is welcome but not missed.
pub(crate) const WORK_FOR_WITNESS: u64 = 1 << 24;

/// Answers a formula, and finds what shows the answer.
fn judge(
    sets: &mut SymbolicSets<'_, '_, '_>,
    system: &dyn TransitionSystem,
    (formula, asked): (&Formula, Asked<'_>),
) -> Judgement {
    let fair = asked.fair.then_some(sets.n_processes);
    let mut run = SymbolicRun::new(sets, system, asked.work_for_rings);
    let mut prover = Prover::new(&mut run, fair);
    let (truth, holds) = prover.truth(formula);
    let satisfied = prover.runs.count(&holds);
    let shown = formula.with_ctl_shapes();
    // A run is wanted where a formula fails, and where one run shows that it holds.
    let work = match truth {
        Truth::False => WORK_FOR_FAILURE,
        Truth::True if is_about_a_run(&shown, true) => WORK_FOR_WITNESS,
        _ => return Judgement { truth, satisfied, run: None, proof: Vec::new() },
    };
    let open = within(&mut prover, work, |prover| prover.show(&shown, truth == Truth::True));
    let proof = match &open {
        Some(open) if open.is_empty() => None,
        _ => within(&mut prover, work, |prover| prover.proof(formula)),
    };
    let run = open.map(|open| run.finish(open));
    Judgement { truth, satisfied, run, proof: proof.unwrap_or_default() }
}

type SymbolicProver<'r, 'b, 's, 'p, 'a> = Prover<'r, SymbolicRun<'b, 's, 'p, 'a>>;

/// Looks for something with some work; nothing where that, or the memory, is not enough.
fn within<'r, 'b, 's, 'p, 'a, T>(
    prover: &mut SymbolicProver<'r, 'b, 's, 'p, 'a>,
    work: u64,
    look: impl FnOnce(&mut SymbolicProver<'r, 'b, 's, 'p, 'a>) -> T,
) -> Option<T> {
    prover.runs.limit_work(work);
    let found = attempt(|| look(prover));
    prover.runs.limit_work(u64::MAX);
    match found {
        Ok(found) => Some(found),
        Err(Ended::Full | Ended::WornOut) => None,
        Err(ended) => give_up(ended),
    }
}

/// Unwinds to the nearest [`attempt`].
pub(crate) fn give_up(ended: Ended) -> ! {
    resume_unwind(Box::new(ended))
}

/// Does some work that may be given up.
pub(crate) fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, Ended> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<Ended>() {
        Ok(ended) => *ended,
        Err(panic) => resume_unwind(panic),
    })
}

/// The value, or the end of the work.
pub(crate) fn got<T>(result: Result<T, Ended>) -> T {
    result.unwrap_or_else(|ended| give_up(ended))
}

/// Steps of a group that are cut off: who moves in one, and the values that it reads.
type CutSteps = Vec<(Vec<u32>, Vec<u32>)>;

/// The sets of a space.
pub struct SymbolicSets<'s, 'p, 'a> {
    /// The operators.
    pub operators: Operators<'s, 'p>,
    vocabulary: Vocabulary<'a>,
    /// One more than the largest number of a process that moves.
    pub(crate) n_processes: u32,
    /// The groups, as the system describes them.
    pub(crate) groups: Vec<LocalGroup>,
    stuck: Kept,
    /// For each group its steps that are cut off, if there are any at all.
    cut_steps: Option<Vec<CutSteps>>,
    atoms: HashMap<Atom, Kept>,
    steps: HashMap<Steps, ChosenSteps>,
    cuts: HashMap<Steps, Kept>,
}

impl<'s, 'p, 'a> SymbolicSets<'s, 'p, 'a> {
    pub(crate) fn new(space: &'s mut Space<'p>, all: Set, vocabulary: Vocabulary<'a>) -> Self {
        let groups = space.system.groups().to_vec();
        let n_processes = groups.iter().map(|group| group.process + 1).max().unwrap_or(0);
        let cuts = space.known.found.cuts;
        let mut operators = Operators::new(space, all);
        let everything = operators.all();
        let stuck = got(operators.stuck(&everything));
        let mut sets = SymbolicSets {
            operators,
            vocabulary,
            n_processes,
            groups,
            stuck,
            cut_steps: None,
            atoms: HashMap::new(),
            steps: HashMap::new(),
            cuts: HashMap::new(),
        };
        sets.cut_steps = cuts.then(|| (0..sets.groups.len()).map(|group| sets.cuts_of(group)).collect());
        sets
    }

    /// The states in which no step is possible.
    pub(crate) fn stuck(&self) -> Kept {
        self.stuck.clone()
    }

    /// The filter with this number.
    pub(crate) fn filter(&self, number: u32) -> StepFilter {
        self.vocabulary.filters[number as usize]
    }

    fn cuts_of(&mut self, group: usize) -> CutSteps {
        let moves = got(self.operators.space.moves(group));
        let cut = moves.into_iter().filter(|step| step.pair.is_none());
        cut.map(|step| (step.movers, step.reads)).collect()
    }

    /// The states in which all predicates of a sort hold.
    pub(crate) fn predicates(&mut self, what: Predicate) -> Kept {
        let mut fine = self.operators.all();
        for predicate in self.operators.space.predicates(what) {
            fine = got(self.operators.satisfying(&fine, predicate));
        }
        fine
    }

    /// The states in which some predicate of a sort holds.
    pub(crate) fn some_predicate(&mut self, what: Predicate) -> Kept {
        let (all, mut found) = (self.operators.all(), self.operators.none());
        for predicate in self.operators.space.predicates(what) {
            let some = got(self.operators.satisfying(&all, predicate));
            found = self.or(&found, &some);
        }
        found
    }

    /// For each group that such steps may belong to: from which states, if not from all.
    fn sources(&mut self, steps: Steps) -> Vec<(usize, Option<Kept>)> {
        let mut found = Vec::new();
        for group in 0..self.groups.len() {
            let filter = match steps {
                Steps::All => StepFilter::default(),
                Steps::Process(pid) => StepFilter { process: Some(pid), ..StepFilter::default() },
                Steps::Filter(number) => self.filter(number),
            };
            let takers: Vec<Taker> =
                self.groups[group].takers.iter().copied().filter(|taker| filter.is_about(taker)).collect();
            match filter.location {
                None if !takers.is_empty() => found.push((group, None)),
                None => {}
                Some(location) => {
                    for taker in takers {
                        let all = self.operators.all().set();
                        let at = self.operators.space.with_value(all, taker.location, location + 1);
                        let at = self.operators.keep(got(at));
                        found.push((group, Some(at)));
                    }
                }
            }
        }
        found
    }

    /// The steps of a set of steps, group by group.
    pub(crate) fn chosen(&mut self, steps: Steps) -> ChosenSteps {
        if let Some(known) = self.steps.get(&steps) {
            return known.clone();
        }
        let mut chosen = ChosenSteps::none();
        match steps {
            Steps::Process(pid) => {
                for group in 0..self.groups.len() {
                    let relation = self.relation_of(group, pid);
                    if !relation.is_empty() {
                        chosen.add(group, relation, None);
                    }
                }
            }
            Steps::All | Steps::Filter(_) => {
                for (group, from) in self.sources(steps) {
                    let relation = self.operators.space.relation(group);
                    let relation = self.operators.keep(relation);
                    chosen.add(group, relation, from);
                }
            }
        }
        self.steps.insert(steps, chosen.clone());
        chosen
    }

    /// The steps of a group in which a process moves.
    fn relation_of(&mut self, group: usize, pid: u32) -> Kept {
        let of = &self.groups[group];
        let takes_part = of.takers.iter().any(|taker| taker.process == pid);
        match (takes_part, of.hands_over) {
            (true, _) => {
                let relation = self.operators.space.relation(group);
                self.operators.keep(relation)
            }
            (false, false) => self.operators.none(),
            (false, true) => {
                let moves = got(self.operators.space.moves(group)).into_iter();
                let his = moves.filter(|step| step.movers.contains(&pid)).filter_map(|step| step.pair);
                self.set_of(his.collect())
            }
        }
    }

    fn set_of(&mut self, mut vectors: Vec<Vec<u32>>) -> Kept {
        vectors.sort_unstable();
        vectors.dedup();
        let set = self.operators.space.known.ldd.set_of_sorted(&vectors).map_err(Ended::from);
        self.operators.keep(got(set))
    }

    /// The states of a set in which a group reads one of these vectors.
    fn restricted(&mut self, set: &Kept, group: usize, values: &Kept) -> Kept {
        let states = self.operators.space.restrict_by(set.set(), values.set(), group);
        let states = self.operators.space.ended(states.map_err(Ended::from));
        self.operators.keep(got(states))
    }

    /// The states in which one of these steps is possible, with or without an end. A process can move if it
    /// begins a step.
    fn enabled(&mut self, steps: Steps) -> Kept {
        if steps == Steps::All {
            let stuck = self.stuck();
            return self.not(&stuck);
        }
        let sources = match steps {
            Steps::Process(pid) => {
                let own = self.groups.iter().enumerate().filter(|(_, group)| group.process == pid);
                own.map(|(group, _)| (group, None)).collect()
            }
            steps => self.sources(steps),
        };
        let mut found = self.operators.none();
        for (group, from) in sources {
            let from = from.unwrap_or_else(|| self.operators.all());
            let enabled = self.operators.space.known.groups.enabled(group);
            let enabled = self.operators.keep(enabled);
            let some = self.restricted(&from, group, &enabled);
            found = self.or(&found, &some);
        }
        found
    }

    fn cut_states(&mut self, steps: Steps) -> Kept {
        let mut found = self.operators.none();
        let sources: Vec<(usize, Option<Kept>)> = match steps {
            Steps::Process(_) => (0..self.groups.len()).map(|group| (group, None)).collect(),
            steps => self.sources(steps),
        };
        for (group, from) in sources {
            let cuts = self.cut_steps.as_ref().map_or(&[][..], |cuts| &cuts[group]);
            let counts = |movers: &[u32]| match steps {
                Steps::Process(pid) => movers.contains(&pid),
                _ => true,
            };
            let reads = cuts.iter().filter(|(movers, _)| counts(movers)).map(|(_, reads)| reads.clone());
            let values = reads.collect();
            let values = self.set_of(values);
            let from = from.unwrap_or_else(|| self.operators.all());
            let some = self.restricted(&from, group, &values);
            found = self.or(&found, &some);
        }
        found
    }
}

impl Sets for SymbolicSets<'_, '_, '_> {
    type Set = Kept;

    fn all(&mut self) -> Kept {
        self.operators.all()
    }

    fn none(&mut self) -> Kept {
        self.operators.none()
    }

    fn atom(&mut self, atom: Atom) -> Kept {
        if let Some(known) = self.atoms.get(&atom) {
            return known.clone();
        }
        let set = match atom {
            Atom::True => self.all(),
            Atom::Proposition(number) => {
                let (set, number) = self.vocabulary.propositions[number as usize];
                self.predicates(Predicate::Proposition(set, number))
            }
            Atom::ValidEnd => self.predicates(Predicate::ValidEnd),
            Atom::Enabled(steps) => self.enabled(steps),
        };
        self.atoms.insert(atom, set.clone());
        set
    }

    fn and(&mut self, a: &Kept, b: &Kept) -> Kept {
        got(self.operators.and(a, b))
    }

    fn or(&mut self, a: &Kept, b: &Kept) -> Kept {
        got(self.operators.or(a, b))
    }

    fn not(&mut self, a: &Kept) -> Kept {
        got(self.operators.not(a))
    }

    fn equal(&mut self, a: &Kept, b: &Kept) -> bool {
        a == b
    }

    fn before(&mut self, steps: Steps, to: &Kept) -> Kept {
        let all = self.all();
        self.before_within(steps, to, &all)
    }

    fn before_within(&mut self, steps: Steps, to: &Kept, universe: &Kept) -> Kept {
        match steps {
            Steps::All => got(self.operators.before(to, universe)),
            steps => {
                let chosen = self.chosen(steps);
                got(self.operators.before_by(&chosen, to, universe))
            }
        }
    }

    fn cut(&mut self, steps: Steps) -> Option<Kept> {
        self.cut_steps.as_ref()?;
        if let Some(known) = self.cuts.get(&steps) {
            return Some(known.clone());
        }
        let found = self.cut_states(steps);
        self.cuts.insert(steps, found.clone());
        Some(found)
    }

    fn reach(&mut self, steps: Steps, within: &Kept, goal: &Kept) -> Kept {
        match steps {
            Steps::All => got(self.operators.until(within, goal)),
            steps => {
                let chosen = self.chosen(steps);
                got(self.operators.until_by(&chosen, within, goal))
            }
        }
    }

    /// What is left of all others when those are taken away, again and again, that cannot go on inside of what
    /// is left.
    fn enforce(&mut self, steps: Steps, within: &Kept, goal: &Kept) -> Kept {
        let others = self.not(goal);
        let free = got(self.operators.minus(&others, within));
        let mut left = others;
        loop {
            let doubtful = got(self.operators.minus(&left, &free));
            let goes_on = self.before_within(steps, &left, &doubtful);
            let next = self.or(&free, &goes_on);
            if next == left {
                return self.not(&left);
            }
            left = next;
        }
    }
}
