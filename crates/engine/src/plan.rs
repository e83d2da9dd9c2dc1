//! A plan: the request with everything that it leaves open decided. What cannot be done is refused
//! ([`crate::refusals`]), nothing is weakened.

use crate::embedded;
use crate::failure::Failure;
use crate::memory;
use crate::options::{
    CheckOptions, CycleProviso, Edges, Engine, Exec, Por, Search, SelfCheck, Source, StaticReduction,
    StoreKind,
};
use crate::refusals;
use crate::self_check::Doubts;
use crate::weak_memory;
use machine::opt::Reductions;
use reduce::Building;
use search::{Limits, Method, Proviso, Save};
use system::Fairness;

/// The order of exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As states are found, many at a time: the fastest, and counterexamples are short.
    Frontier,
    /// Depth-first.
    DepthFirst,
    /// Breadth-first: a shortest counterexample.
    BreadthFirst,
    /// Depth-first by workers in a ring, who hand off states.
    Handoff,
}

/// How cycles are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CycleSearch {
    /// By the strength of the claim.
    Auto,
    /// Nested depth-first search by one worker.
    Nested,
    /// Nested depth-first search by several workers.
    NestedTogether,
    /// Nested depth-first search by two workers, one for each part.
    NestedDual,
    /// Strongly connected components.
    Components,
    /// Strongly connected components, by several workers.
    ComponentsTogether,
}

/// The size of a bit array where no memory limit is given.
const BITSTATE_BYTES: u64 = 128 << 20;
/// More threads than this are a slip of the pen.
pub const MOST_THREADS: u64 = 512;

/// The configuration as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the options'")]
pub struct Config {
    pub engine: Engine,
    pub search: Search,
    pub por: Por,
    pub sleep: bool,
    pub save: Option<Save>,
    pub opt: Vec<StaticReduction>,
    pub store: StoreKind,
    pub threads: u64,
    pub exec: Exec,
}

/// A validated request.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The request.
    pub options: CheckOptions,
    /// The model, with the formula that is to be checked too.
    pub source: Source,
    /// The search, never [`Search::Auto`].
    pub search: Search,
    /// Who explores.
    pub engine: Engine,
    /// The order of exploration.
    pub order: Order,
    /// How cycles are searched.
    pub cycles: CycleSearch,
    /// What chooses the actions that are enough.
    pub por: Por,
    /// Which states of phase 1 are stored, with [`Por::Twophase`].
    pub save: Save,
    /// What makes sure, where that is needed, that no action is put off forever.
    pub proviso: Proviso,
    /// The reducer sees to the proviso itself ([`CycleProviso::Static`]).
    pub static_proviso: bool,
    /// Which edges are followed where no state is left out.
    pub edges: Edges,
    /// How stubborn sets are built.
    pub building: Building,
    /// What the search is to doubt.
    pub doubts: Doubts,
    /// Which runs count.
    pub fairness: Fairness,
    /// How visited states are kept.
    pub store: StoreKind,
    /// The size of a bit array, if the memory that is left allows.
    pub bitstate_bytes: u64,
    /// Static reductions, in the order in which reports list them.
    pub opt: Vec<StaticReduction>,
    /// How transitions are executed.
    pub exec: Exec,
    /// Worker threads.
    pub threads: u64,
    /// Budgets.
    pub limits: Limits,
    /// Who limits the memory.
    pub allowance: memory::Allowance,
    /// Counterexamples must not depend on timing.
    pub deterministic: bool,
}

impl Plan {
    /// Decides what the request leaves open, and judges the result.
    pub fn new(options: &CheckOptions) -> Result<Plan, Failure> {
        embedded::refuse_without_permission(options)?;
        let plan = Plan::derived(options);
        refusals::judge(&plan)?;
        Ok(plan)
    }

    /// The request with its defaults; it may contradict itself.
    pub(crate) fn derived(options: &CheckOptions) -> Plan {
        let search = search(options);
        let (order, por, threads) = (order(search), por(options, search), threads(options, search));
        let allowance = memory::allowance(options.max_memory.map(|size| size.0));
        let asked = |check| options.check.contains(&check);
        Plan {
            source: source(options),
            search,
            engine: options.engine.unwrap_or(Engine::Explicit),
            order,
            cycles: cycles(search),
            por,
            save: options.save.unwrap_or(Save::BackEdges),
            proviso: proviso(options.proviso, por, order, threads),
            static_proviso: options.proviso == Some(CycleProviso::Static),
            edges: options.edges.unwrap_or(Edges::Lean),
            building: options.stubborn.unwrap_or_default(),
            doubts: Doubts { facts: asked(SelfCheck::Facts), reduction: asked(SelfCheck::Reduction) },
            fairness: options.fair.unwrap_or_default(),
            store: options.store.unwrap_or(StoreKind::Table),
            // A bit array takes all the memory that it is given.
            bitstate_bytes: if options.max_memory.is_some() { u64::MAX } else { BITSTATE_BYTES },
            opt: static_reductions(options, search),
            exec: options.exec.unwrap_or(Exec::Jit),
            threads,
            limits: Limits {
                depth: options.max_depth,
                states: options.max_states,
                memory: Some(allowance.bytes),
                time: options.timeout,
                errors: options.stop_at,
                ..Limits::default()
            },
            allowance,
            // The same seed gives the same run.
            deterministic: options.deterministic || options.seed.is_some(),
            options: options.clone(),
        }
    }

    /// The configuration as reports show it, before anything is known of the search.
    pub fn config(&self) -> Config {
        Config {
            engine: self.engine,
            search: self.search,
            por: self.por.shown(),
            sleep: self.options.sleep,
            save: (self.por == Por::Twophase).then_some(self.save),
            opt: self.opt.clone(),
            store: self.store,
            threads: self.threads,
            exec: self.exec,
        }
    }

    /// The static reductions as the machine takes them.
    pub fn reductions(&self) -> Reductions {
        let wanted = |reduction| self.opt.contains(&reduction);
        Reductions {
            dead_variables: wanted(StaticReduction::DeadVariables),
            merge: wanted(StaticReduction::Merge),
            fold: wanted(StaticReduction::Fold),
        }
    }

    /// Whether an option needs the stack of a depth-first search by one worker, and a table of its own.
    pub fn needs_stack(&self) -> bool {
        needs_stack(&self.options)
    }
}

/// Whether a reduction relies on what `xr` and `xs` promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promises {
    /// No.
    NotReliedOn,
    /// Relied on where they say more than is known otherwise; the search checks them.
    Checked,
    /// Relied on without a check.
    Trusted,
}

impl Plan {
    /// Why a search that was made by one worker could not be shared, and what could be; asked where several
    /// were wanted.
    pub fn why_alone(&self) -> (&'static str, &'static str) {
        match self.cycles {
            _ if self.options.state_cache.is_some() => {
                ("--state-cache forgets states by the stack of one worker", "leave --state-cache out")
            }
            _ if self.fairness == Fairness::Strong => {
                ("strong fairness is judged by one worker", "use --fair weak, if that is enough")
            }
            CycleSearch::Nested => ("--search ndfs is made by one worker", "use --search cndfs"),
            CycleSearch::Components => ("--search scc is made by one worker", "use --search ufscc"),
            _ if self.limits.depth.is_some() => (
                "with --max-depth cycles are searched by one worker: what is cut off would depend on timing",
                "leave --max-depth out",
            ),
            _ if self.store == StoreKind::Tree => {
                ("a search for cycles with --store tree is made by one worker", "use --store table")
            }
            _ => (
                "workers do not tell each other the values of hidden variables",
                "declare them without hidden",
            ),
        }
    }

    /// Whether a search that leaves out no state may leave out edges. With a lossy store it may not: a state
    /// that is taken for an old one is lost with all that only it leads to, and without the other ways around
    /// it that is far more.
    pub fn is_lean(&self) -> bool {
        self.edges == Edges::Lean
            && self.options.max_switches.is_none()
            && !self.options.profile
            && !self.store.is_lossy()
            && self.order != Order::Handoff
            && self.options.state_cache.is_none()
            && !self.doubts.any()
    }

    /// Whether promises are relied on: only by a reduction that is asked for, so that without one a model is
    /// taken as it is. In phase 1 of twophase states are passed over in which somebody may be about to break
    /// a promise.
    pub fn promises(&self) -> Promises {
        match self.por {
            Por::Ample | Por::Stubborn if self.options.trust_xr_xs => Promises::Trusted,
            Por::Ample | Por::Stubborn if self.options.por.is_some() => Promises::Checked,
            _ => Promises::NotReliedOn,
        }
    }

    /// How states are reduced, if there is somebody who chooses.
    pub fn method(&self) -> Method {
        match self.por {
            Por::None => Method::None,
            Por::Ample | Por::Stubborn | Por::WhereItPays => Method::Sets,
            Por::Twophase => Method::Twophase(self.save),
        }
    }
}

impl Por {
    /// As reports name it.
    pub fn shown(self) -> Por {
        if self == Por::WhereItPays { Por::Stubborn } else { self }
    }

    /// Whether it chooses sets of actions in single states.
    pub fn chooses_sets(self) -> bool {
        matches!(self, Por::Ample | Por::Stubborn | Por::WhereItPays)
    }
}

fn needs_stack(options: &CheckOptions) -> bool {
    options.sleep || options.state_cache.is_some()
}

fn search(options: &CheckOptions) -> Search {
    match options.search.unwrap_or(Search::Auto) {
        Search::Auto if needs_stack(options) => Search::Dfs,
        // The shortest error of a state, at once.
        Search::Auto if options.shorten => Search::Bfs,
        Search::Auto => Search::Frontier,
        named => named,
    }
}

fn order(search: Search) -> Order {
    match search {
        Search::Bfs => Order::BreadthFirst,
        Search::Dfs => Order::DepthFirst,
        Search::Handoff => Order::Handoff,
        Search::Auto
        | Search::Frontier
        | Search::Ndfs
        | Search::Cndfs
        | Search::NdfsDual
        | Search::Scc
        | Search::Ufscc => Order::Frontier,
    }
}

fn cycles(search: Search) -> CycleSearch {
    match search {
        Search::Ndfs => CycleSearch::Nested,
        Search::Cndfs => CycleSearch::NestedTogether,
        Search::NdfsDual => CycleSearch::NestedDual,
        Search::Scc => CycleSearch::Components,
        Search::Ufscc => CycleSearch::ComponentsTogether,
        Search::Auto | Search::Frontier | Search::Dfs | Search::Bfs | Search::Handoff => CycleSearch::Auto,
    }
}

/// The reduction. By default there is none where it would change what was asked for: a shortest
/// counterexample, a number of violations, all states up to some depth. All errors are told of by a reduced
/// search as well: every place that fails, and every deadlock.
fn por(options: &CheckOptions, search: Search) -> Por {
    let everything = search == Search::Bfs || options.max_depth.is_some();
    // Errors are counted, or steps are those of the program as it is written.
    let everything = everything || options.stop_at.is_some() || options.max_switches.is_some();
    let everything = everything || options.profile;
    // A symbolic search has no use for fewer states.
    let everything = everything || matches!(options.engine, Some(Engine::Symbolic | Engine::Gpu));
    // Packed states are all expanded in full.
    let everything = everything || options.exec == Some(Exec::Packed);
    // A certificate has all states.
    let everything = everything || options.certify.is_some();
    // A process does not know what others have expanded.
    let everything = everything || options.cluster.is_some();
    options.por.unwrap_or(match everything {
        true => Por::None,
        // Sleep sets and stores that forget ask for the same choice each time.
        false if needs_stack(options) => Por::Stubborn,
        false => Por::WhereItPays,
    })
}

/// The proviso: the one asked for, or the one that suits the order.
fn proviso(asked: Option<CycleProviso>, por: Por, order: Order, threads: u64) -> Proviso {
    match asked {
        Some(CycleProviso::Stack) => Proviso::Stack,
        Some(CycleProviso::ClosedSet) => Proviso::ClosedSet,
        Some(CycleProviso::Color) => Proviso::Color,
        Some(CycleProviso::Static) => Proviso::None,
        None if !por.chooses_sets() => Proviso::None,
        None if has_stack(order, threads) => Proviso::Stack,
        None => Proviso::ClosedSet,
    }
}

/// Several workers have no stack that holds a path, unless they hand off what lies further on.
pub(crate) fn has_stack(order: Order, threads: u64) -> bool {
    order == Order::Handoff || order == Order::DepthFirst && threads == 1
}

/// How many workers a search has. Depth-first is an order that only one worker can keep; several are used
/// when they are asked for. What needs the stack of one worker has one, whatever is asked for.
fn threads(options: &CheckOptions, search: Search) -> u64 {
    match options.threads {
        _ if needs_stack(options) || matches!(options.engine, Some(Engine::Symbolic | Engine::Gpu)) => 1,
        None if options.store == Some(StoreKind::Automaton) || options.stop_at.is_some() => 1,
        None if options.cluster.is_some() => 1,
        Some(threads) => threads,
        None if search == Search::Dfs => 1,
        None => {
            let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
            // One is for the symbolic engine beside.
            let beside = u64::from(options.engine == Some(Engine::Auto));
            cores.saturating_sub(beside).clamp(1, MOST_THREADS)
        }
    }
}

/// The static reductions: all, unless told otherwise. Breadth-first search is asked for a shortest
/// counterexample, and merging makes processes take steps that such a one may not need: it is used there only
/// when it is asked for.
fn static_reductions(options: &CheckOptions, search: Search) -> Vec<StaticReduction> {
    use StaticReduction::{DeadVariables, Fold, Merge};
    options.opt.clone().unwrap_or_else(|| match search {
        // A certificate is about the program as it is written.
        _ if options.certify.is_some() => Vec::new(),
        // Merged steps read and write more slots.
        _ if matches!(options.engine, Some(Engine::Symbolic | Engine::Gpu)) => vec![DeadVariables, Fold],
        // What is merged cannot be interrupted.
        _ if options.max_switches.is_some() || options.profile => vec![DeadVariables, Fold],
        // A value that nobody will look at is a value all the same.
        _ if options.ranges => vec![Merge, Fold],
        Search::Bfs => vec![DeadVariables, Fold],
        _ => vec![DeadVariables, Merge, Fold],
    })
}

/// The model, with the formula that is to be checked too; one that it was read with stays unless there is another.
fn source(options: &CheckOptions) -> Source {
    let mut source = options.source.clone();
    let model = &mut source.options;
    for (of_model, asked) in [
        (&mut model.formula, &options.ltl),
        (&mut model.ctl, &options.ctl),
        (&mut model.mu, &options.mu),
        (&mut model.claim, &options.claim),
    ] {
        if asked.is_some() {
            of_model.clone_from(asked);
        }
    }
    source.options.lossy_channels |= options.lossy_channels;
    source.c = embedded::of_options(options);
    if let Some(memory) = weak_memory::of_options(options) {
        source.options.memory = Some(memory);
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The request of `spinor check model.pml` with these words.
    fn options(words: &str) -> CheckOptions {
        let source = Source { path: "model.pml".to_string(), ..Source::default() };
        CheckOptions { source, ..CheckOptions::of_words(words.split_whitespace()).unwrap() }
    }

    fn plan(words: &str) -> Plan {
        Plan::new(&options(words)).unwrap()
    }

    #[test]
    fn the_defaults() {
        let plan = plan("");
        assert_eq!((plan.search, plan.store, plan.exec), (Search::Frontier, StoreKind::Table, Exec::Jit));
        assert_eq!((plan.opt.len(), plan.config().save), (3, None));
        assert!(plan.limits.memory.is_some() && plan.limits.depth.is_none());
    }

    #[test]
    fn the_reference_configuration_is_accepted() {
        let plan = plan("--por none --opt none --store table --threads 1 --all-errors --search bfs");
        assert_eq!(plan.order, Order::BreadthFirst);
    }

    #[test]
    fn what_nobody_asked_for_is_reduced_where_it_pays() {
        let por = |words: &str| (plan(words).por, plan(words).config().por);
        assert_eq!(por(""), (Por::WhereItPays, Por::Stubborn));
        assert_eq!(por("--search dfs").0, Por::WhereItPays);
        assert_eq!(por("--proviso closed-set").0, Por::WhereItPays);
        assert_eq!(por("--sleep"), (Por::Stubborn, Por::Stubborn));
        assert_eq!(por("--state-cache 9").0, Por::Stubborn);
        assert_eq!(por("--all-errors").0, Por::WhereItPays);
        // A shortest counterexample, so many violations, all states up to a depth.
        for everything in ["--search bfs", "--stop-at 3", "--max-depth 9"] {
            assert_eq!(por(everything), (Por::None, Por::None));
        }
        assert_eq!(por("--por none"), (Por::None, Por::None));
        assert_eq!(por("--por stubborn").0, Por::Stubborn);
    }

    #[test]
    fn a_shortest_counterexample_has_no_merged_steps() {
        use StaticReduction::{DeadVariables, Fold, Merge};
        assert_eq!(plan("--search bfs").opt, [DeadVariables, Fold]);
        assert_eq!(plan("--search bfs --opt merge,merge,fold").opt, [Merge, Fold]);
        assert!(plan("--opt none").opt.is_empty());
    }

    #[test]
    fn a_proviso_suits_the_search() {
        let stubborn = plan("--por stubborn --search dfs");
        assert_eq!((stubborn.por, stubborn.proviso), (Por::Stubborn, Proviso::Stack));
        for (words, proviso) in [
            ("--por ample --search frontier", Proviso::ClosedSet),
            ("--por ample --search dfs --proviso closed-set", Proviso::ClosedSet),
            ("--por ample --search handoff", Proviso::Stack),
            ("--por ample --search handoff --proviso closed-set", Proviso::ClosedSet),
            ("--por ample --search dfs --proviso color", Proviso::Color),
        ] {
            assert_eq!(plan(words).proviso, proviso, "{words}");
        }
        let own = plan("--por stubborn --search frontier --proviso static");
        assert_eq!((own.proviso, own.static_proviso), (Proviso::None, true));
    }

    #[test]
    fn doubts_are_those_asked_for() {
        assert!(plan("--por stubborn --check reduction").doubts.reduction);
        assert!(plan("--por none --check facts").doubts.facts);
        let both = plan("--por stubborn --check facts,reduction").doubts;
        assert!(both.facts && both.reduction);
    }

    #[test]
    fn every_core_is_used_where_that_is_possible() {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        assert_eq!(plan("").threads, cores);
        assert_eq!(plan("--search bfs").threads, cores);
        assert_eq!(plan("--search dfs").threads, 1);
        assert_eq!(plan("--search dfs --threads 3").threads, 3);
        assert_eq!(plan("--store collapse").threads, cores);
    }

    #[test]
    fn what_needs_a_stack_gets_one() {
        for words in ["--sleep", "--state-cache 10", "--sleep --threads 1", "--state-cache 10 --threads 2"] {
            assert_eq!((plan(words).order, plan(words).threads), (Order::DepthFirst, 1), "{words}");
        }
        let both = plan("--state-cache 10 --por twophase");
        assert_eq!((both.method(), both.proviso), (Method::Twophase(Save::BackEdges), Proviso::None));
        assert_eq!(both.config().save, Some(Save::BackEdges));
        assert_eq!(plan("--por twophase --save none").method(), Method::Twophase(Save::None));
    }

    #[test]
    fn a_bit_array_takes_what_it_is_given() {
        assert_eq!(plan("--store bitstate --max-memory 400M").bitstate_bytes, u64::MAX);
        assert_eq!(plan("--store bitstate").bitstate_bytes, BITSTATE_BYTES);
    }

    #[test]
    fn lean_edges_are_the_default() {
        assert!(plan("").is_lean() && plan("--edges lean --por none").is_lean());
        assert!(!plan("--edges all").is_lean() && !plan("--store hc").is_lean());
    }
}
