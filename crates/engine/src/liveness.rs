//! Which search a claim gets: by its strength, and by what fairness asks.
//!
//! Where only the end of a claim is wrong, the product is searched like any system for an error. Where cycles
//! accept as a whole or not at all, one depth-first search is enough, else it is nested; but where
//! generalised acceptance has a smaller automaton, one search for components is quicker. Fairness is
//! acceptance with a mark for every process: a matter of components, which strong fairness takes apart
//! further.
//!
//! All run over the same system, of which a reduction may leave something out: one that depends on the state
//! alone ([`search::reduced`]). Where nothing is said, it is used when a sample of the states shows that it
//! leaves out much: that is known before the search, and the same for all of it.
//!
//! Depth-first searches are made by all workers together (CNDFS), as are searches for components (UFSCC),
//! unless there is a limit on depth. To count all errors, and to find the same one every time, is for one
//! worker: when several have found something, it searches again.

use crate::backend::Backend;
use crate::deferred_drop::DeferredDrop;
use crate::dispatch::{Exploration, no_array};
use crate::failure::Failure;
use crate::options::{Choice, CycleProviso, Por, StoreKind};
use crate::plan::{CycleSearch, Plan};
use crate::run_property::RunProperty;
use crate::self_check::{Doubted, Reference};
use crate::strategy;
use promela::ir::Expr;
use reduce::Watched;
use search::cndfs::{Workers, cndfs};
use search::marks::Acceptance;
use search::ndfs::{Cycles, ndfs};
use search::ndfs_dual::ndfs_dual;
use search::ndfs_lossy::ndfs_lossy;
use search::passing::Passing;
use search::product::Product;
use search::reduced::{Map, Reduced};
use search::scc::scc;
use search::states::StateStore;
use search::strong::strong;
use search::ufscc::ufscc;
use search::{Limits, Observer, Outcome, Save, StopReason, Task};
use std::time::Instant;
use store::bitstate::DEFAULT_HASHES;
use store::{Bitstate, HashCompaction, Roots};
use system::claim::Strength;
use system::{Fairness, Reduction, TransitionSystem};

/// How a property of whole runs was searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// As a reachable error.
    Reachability,
    /// One depth-first search.
    Single,
    /// Nested depth-first search.
    Nested,
    /// Nested depth-first search by several workers.
    NestedTogether,
    /// Nested depth-first search by two workers, one for each part.
    NestedDual,
    /// Strongly connected components.
    Components,
    /// Strongly connected components, by several workers.
    ComponentsTogether,
    /// Strongly connected components, refined until what is left is strongly fair.
    Refinement,
    /// A fixpoint over sets of states.
    Sets,
}

impl How {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            How::Reachability => "reachability",
            How::Single => "dfs",
            How::Nested => "ndfs",
            How::NestedTogether => "cndfs",
            How::NestedDual => "ndfs-dual",
            How::Components => "scc",
            How::ComponentsTogether => "ufscc",
            How::Refinement => "streett",
            How::Sets => "sets",
        }
    }
}

/// Searches for a run that is wrong.
pub fn search(
    plan: &Plan,
    leaving: &DeferredDrop,
    system: &dyn TransitionSystem,
    watch: &RunProperty,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> (How, Outcome) {
    let how = choose(plan, system, watch, task);
    let by_components = matches!(how, How::Components | How::ComponentsTogether);
    let general = watch.general.as_ref().filter(|_| by_components);
    let (product, passing);
    let searched = match general.or(watch.claim.as_ref()) {
        Some(claim) => {
            product = Product::new(system, claim, watch.set);
            &product as &dyn TransitionSystem
        }
        None if watch.passes_labels => {
            passing = Passing::new(system);
            &passing
        }
        None => system,
    };
    // A product repeats the last state of a run itself, and so does a claim that acts.
    let acceptance = Acceptance {
        stutters: !watch.is_claim(),
        n_marks: general.map_or(0, |claim| claim.n_marks),
        fairness: plan.fairness,
        needed: 0,
    };
    leaving.wait();
    let cycles = Cycles {
        fault: watch.fault.clone(),
        acceptance,
        nested: how != How::Single,
        store: state_store(plan).unwrap_or_default(),
        memory: plan.limits.memory.unwrap_or(u64::MAX),
    };
    let exploration = Exploration {
        plan,
        leaving,
        system: searched,
        task,
        recorder: None,
        keeper: None,
        keeping: search::Keeping::NONE,
    };
    (how, strategy::named(search_by(how, &exploration, &cycles, observer), observer))
}

/// How a run that is wrong is looked for.
fn choose(plan: &Plan, system: &dyn TransitionSystem, watch: &RunProperty, task: &Task<'_>) -> How {
    let strength = strength(watch);
    match (plan.cycles, strength) {
        _ if is_reachability(plan, strength) => How::Reachability,
        _ if plan.store.is_lossy() => How::Nested,
        _ if plan.fairness == Fairness::Strong => How::Refinement,
        (CycleSearch::Components, _) => How::Components,
        (CycleSearch::ComponentsTogether, _) => components(plan, system, task),
        _ if plan.fairness == Fairness::Weak => components(plan, system, task),
        (CycleSearch::Auto, Strength::Weak) => How::Single,
        (CycleSearch::NestedDual, _) => How::NestedDual,
        // Before what depends on the number of workers, so that the number of states does not.
        (CycleSearch::Auto, _) if watch.general.is_some() => components(plan, system, task),
        _ if is_together(plan, task) => How::NestedTogether,
        _ => How::Nested,
    }
}

/// Makes the search that was chosen.
fn search_by(
    how: How,
    exploration: &Exploration<'_>,
    cycles: &Cycles,
    observer: &mut dyn Observer,
) -> Outcome {
    let &Exploration { plan, system, task, .. } = exploration;
    match how {
        How::Reachability => strategy::search(exploration, observer),
        _ if plan.store.is_lossy() => search_lossy(exploration, cycles, observer),
        How::Single | How::NestedTogether if is_together(plan, task) => {
            Together { several: cndfs, one: ndfs }.search(plan, system, cycles, task, observer)
        }
        How::ComponentsTogether => {
            Together { several: ufscc, one: scc }.search(plan, system, cycles, task, observer)
        }
        How::Single | How::Nested | How::NestedTogether => ndfs(system, cycles, task, observer),
        How::NestedDual => {
            let several: BySeveral =
                |system, cycles, _, task, observer| ndfs_dual(system, cycles, task, observer);
            Together { several, one: ndfs }.search(plan, system, cycles, task, observer)
        }
        How::Components => scc(system, cycles, task, observer),
        How::Refinement => strong(system, cycles, task, observer),
        // No explicit search has this name: nothing was explored, and nothing is claimed.
        How::Sets => Outcome::nothing(StopReason::Completed),
    }
}

fn strength(watch: &RunProperty) -> Strength {
    watch.claim.as_ref().map_or(Strength::Strong, |claim| claim.strength())
}

/// Whether no cycles are looked for.
fn is_reachability(plan: &Plan, strength: Strength) -> bool {
    (plan.cycles, strength) == (CycleSearch::Auto, Strength::Terminal)
}

/// Where states are kept, if the store numbers them.
fn state_store(plan: &Plan) -> Option<StateStore> {
    match plan.store {
        StoreKind::Table => Some(StateStore::Table),
        StoreKind::Tree => Some(StateStore::Tree(Roots::Roomy)),
        StoreKind::Cleary => Some(StateStore::Tree(Roots::Cleary)),
        StoreKind::Collapse => Some(StateStore::Collapse),
        StoreKind::Automaton | StoreKind::HashCompaction | StoreKind::Bitstate => None,
    }
}

/// Searches for cycles keep what they know of a state beside it, in a store that numbers states. A lossy
/// store does not: over it there is one search, which needs to know only whether a state was met.
pub fn refuse_store(plan: &Plan, watch: &RunProperty, property: &str) -> Result<(), Failure> {
    if state_store(plan).is_some() || is_reachability(plan, strength(watch)) {
        return Ok(());
    }
    if plan.store == StoreKind::Automaton {
        return Err(Failure::refused_with(
            format!("--store automaton cannot be used for {property}: a search for cycles numbers states"),
            "use --store table, tree, cleary or collapse, or add --property safety",
        ));
    }
    let numbering = match plan.cycles {
        _ if plan.fairness == Fairness::Weak => Some("--fair weak"),
        _ if plan.fairness == Fairness::Strong => Some("--fair strong"),
        CycleSearch::Auto | CycleSearch::Nested => None,
        CycleSearch::NestedDual => Some("--search ndfs-dual"),
        CycleSearch::NestedTogether => Some("--search cndfs"),
        CycleSearch::Components => Some("--search scc"),
        CycleSearch::ComponentsTogether => Some("--search ufscc"),
    };
    let Some(option) = numbering else { return Ok(()) };
    Err(Failure::refused_with(
        format!(
            "--store {} is not available yet for {property} with {option}: that search keeps something beside every state",
            plan.store.word()
        ),
        format!("use --store table, tree, cleary or collapse, or leave {option} out"),
    ))
}

/// The search over a lossy store.
fn search_lossy(exploration: &Exploration<'_>, cycles: &Cycles, observer: &mut dyn Observer) -> Outcome {
    let Exploration { plan, system, task, .. } = *exploration;
    if plan.store != StoreKind::Bitstate {
        return ndfs_lossy(system, cycles, HashCompaction::new(cycles.memory), task, observer);
    }
    match Bitstate::new(exploration.array(), DEFAULT_HASHES) {
        Ok(store) => ndfs_lossy(system, cycles, store, task, observer),
        Err(store::Full) => no_array(),
    }
}

/// Refuses options that belong to searches for errors of states, where all that is looked for are properties
/// of whole runs.
pub fn refuse_for_runs_alone(plan: &Plan, watches: &[RunProperty]) -> Result<(), Failure> {
    let is_idle = |watch: &RunProperty| !is_reachability(plan, strength(watch));
    let option = match plan.options.state_cache {
        _ if plan.options.sleep => "--sleep",
        Some(_) if watches.iter().all(is_idle) => "--state-cache",
        Some(_) | None => return Ok(()),
    };
    Err(Failure::refused_with(
        format!("{option} is for safety, and what is to be checked is about whole runs"),
        format!("leave {option} out, or add --property safety"),
    ))
}

/// States of the sample that tells whether a reduction pays.
const SAMPLE: usize = 2_000;
/// It pays when no more than this part of the steps is left: choosing costs about as much as a step.
const PAYS: f64 = 0.7;

/// A reduction for a property of whole runs.
pub struct RunReduction<'a> {
    by: By<'a>,
    map: Map,
    por: Por,
}

enum By<'a> {
    Trusted(Box<dyn Reduction + 'a>),
    Doubted(Box<Doubted<'a>>),
}

impl<'a> RunReduction<'a> {
    /// Which one it is.
    pub fn por(&self) -> Por {
        self.por
    }

    /// What is left of a system.
    pub fn reduced<'s>(&'s self, system: &'s dyn TransitionSystem) -> Reduced<'s> {
        let by = match &self.by {
            By::Trusted(by) => &**by as &dyn Reduction,
            By::Doubted(by) => &**by,
        };
        Reduced::new(system, by, self.map)
    }

    /// What a search that doubts has refuted.
    pub fn verdict(&self) -> Result<(), Failure> {
        match &self.by {
            By::Trusted(_) => Ok(()),
            By::Doubted(by) => by.verdict(),
        }
    }
}

/// The reduction that a property gets: the one asked for, or one that pays; none where the property might
/// notice, or where fairness asks who can move.
pub fn reduction<'a>(
    plan: &Plan,
    searched: &'a dyn Backend,
    (watch, sets): (&RunProperty, &[Vec<Expr>]),
    reference: Option<Reference<'a>>,
) -> Option<RunReduction<'a>> {
    let asked = plan.por != Por::WhereItPays;
    let por = if asked { plan.por } else { Por::Stubborn };
    if !watch.stutter_invariant || plan.fairness != Fairness::None || por == Por::None {
        return None;
    }
    let propositions = sets.get(watch.set).cloned().unwrap_or_default();
    let by = searched.unnoticed(por, Watched { propositions, acceptance: watch.claim.is_none() })?;
    let map = if por == Por::Twophase { Map::Twophase } else { Map::Sets };
    if !asked && Reduced::new(searched.system(), &*by, map).share(SAMPLE) > PAYS {
        return None;
    }
    let by = match reference.filter(|_| plan.doubts.any()) {
        Some(reference) => By::Doubted(Box::new(Doubted::new(Some(by), reference, plan.doubts))),
        None => By::Trusted(by),
    };
    Some(RunReduction { by, map, por })
}

/// Refuses what is unsound for a property of whole runs.
pub fn refuse(plan: &Plan, property: &str) -> Result<(), Failure> {
    let options = &plan.options;
    match options.proviso {
        Some(proviso @ (CycleProviso::Stack | CycleProviso::ClosedSet | CycleProviso::Color)) => {
            Err(Failure::refused_with(
                format!(
                    "--proviso {} depends on the search: it is sound for safety, not for {property}, which is about whole runs",
                    proviso.word()
                ),
                "use --proviso static, or --property safety",
            ))
        }
        _ => match (plan.por, options.save) {
            (Por::Twophase, Some(save @ (Save::All | Save::BackEdges | Save::BackEdgesDown))) => {
                Err(Failure::refused_with(
                    format!(
                        "--save {} is for safety: for {property} a state of phase 1 must not be one to stop at",
                        save.word()
                    ),
                    "use --save none, or --property safety",
                ))
            }
            _ => Ok(()),
        },
    }
}

/// Whether a depth-first search is made by several workers.
fn is_together(plan: &Plan, task: &Task<'_>) -> bool {
    match plan.cycles {
        CycleSearch::NestedTogether => can_be_shared(task),
        CycleSearch::Auto => can_be_shared(task) && plan.threads > 1,
        CycleSearch::Nested
        | CycleSearch::NestedDual
        | CycleSearch::Components
        | CycleSearch::ComponentsTogether => false,
    }
}

/// How components are searched. Workers take states from each other without the values that are hidden in
/// them.
fn components(plan: &Plan, system: &dyn TransitionSystem, task: &Task<'_>) -> How {
    let asked = plan.cycles == CycleSearch::ComponentsTogether || plan.threads > 1;
    let together = asked && can_be_shared(task) && system.hidden_bytes() == 0;
    if together { How::ComponentsTogether } else { How::Components }
}

/// What is cut off at a depth would depend on timing.
fn can_be_shared(task: &Task<'_>) -> bool {
    task.limits.depth.is_none() && task.reduce.is_none()
}

type ByOne = fn(&dyn TransitionSystem, &Cycles, &Task<'_>, &mut dyn Observer) -> Outcome;
type BySeveral = fn(&dyn TransitionSystem, &Cycles, Workers, &Task<'_>, &mut dyn Observer) -> Outcome;

/// A search by several workers, and the one that answers when all errors are to be counted, or the same one
/// is to be found every time.
struct Together {
    several: BySeveral,
    one: ByOne,
}

impl Together {
    fn search(
        &self,
        plan: &Plan,
        system: &dyn TransitionSystem,
        cycles: &Cycles,
        task: &Task<'_>,
        observer: &mut dyn Observer,
    ) -> Outcome {
        let started = Instant::now();
        let number = usize::try_from(plan.threads).unwrap_or(usize::MAX);
        let first = Task { all_errors: false, ..*task };
        let workers = Workers { number, alone: plan.options.alone };
        let outcome = (self.several)(system, cycles, workers, &first, observer);
        let something = outcome.errors > 0 || !outcome.warnings.is_empty();
        if !something || !(plan.deterministic || task.all_errors) {
            return outcome;
        }
        let time = task.limits.time.map(|time| time.saturating_sub(started.elapsed()));
        let again = Task { limits: Limits { time, ..task.limits }, ..*task };
        let mut alone = (self.one)(system, cycles, &again, observer);
        alone.statistics.workers = outcome.statistics.workers;
        if alone.errors == 0 && outcome.errors > 0 { outcome } else { alone }
    }
}
