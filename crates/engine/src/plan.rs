//! A validated request: what can be done is in the plan, what cannot is refused with a repair, nothing is weakened.

use crate::failure::Failure;
use crate::leaving::Leaving;
use crate::memory;
use crate::options::{CheckOptions, Source, parse_size};
use crate::self_check::Doubts;
use machine::opt::Reductions;
use promela::diagnostic::nearest;
use reduce::Building;
use search::{Limits, Method, Proviso, Save};
use std::time::Duration;
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

/// A partial-order reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Por {
    /// Everything is explored.
    None,
    /// Stubborn sets within one process.
    Ample,
    /// Stubborn sets.
    Stubborn,
    /// The Twophase algorithm.
    Twophase(Save),
    /// Stubborn sets as long as they pay: what is done when nobody says.
    WhereItPays,
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

/// How visited states are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreKind {
    /// Whole states.
    Table,
    /// Tree compression, roots of 64 bits.
    Tree,
    /// Tree compression, quotiented roots.
    Cleary,
    /// Components apart.
    Collapse,
    /// Hashes only: lossy.
    HashCompaction,
    /// A Bloom filter: lossy.
    Bitstate {
        /// Its size, if the memory that is left allows.
        most: u64,
    },
}

impl StoreKind {
    /// Whether it may take a new state for an old one.
    pub fn is_lossy(self) -> bool {
        matches!(self, StoreKind::HashCompaction | StoreKind::Bitstate { .. })
    }
}

/// The size of a bit array when nobody says.
const BITSTATE_BYTES: u64 = 128 << 20;

/// The configuration as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the options'")]
pub struct Config {
    pub search: &'static str,
    pub por: &'static str,
    pub sleep: bool,
    pub save: Option<&'static str>,
    pub opt: Vec<&'static str>,
    pub store: &'static str,
    pub threads: u64,
    pub exec: &'static str,
}

/// A validated request.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The model.
    pub source: Source,
    /// Properties asked for by name; none: all that apply.
    pub properties: Vec<String>,
    /// The order of exploration.
    pub order: Order,
    /// What chooses the actions that are enough.
    pub por: Por,
    /// What makes sure, where that is needed, that no action is put off for ever.
    pub proviso: Proviso,
    /// Which edges are followed (`lean`, `all`) where no state is left out.
    pub edges: &'static str,
    /// The reducer sees to the proviso itself (`static`).
    pub static_proviso: bool,
    /// How stubborn sets are built.
    pub building: Building,
    /// What the search is to doubt.
    pub doubts: Doubts,
    /// How cycles are searched.
    pub cycles: CycleSearch,
    /// Which runs count.
    pub fairness: Fairness,
    /// Add sleep sets.
    pub sleep: bool,
    /// How many states off the stack are kept; `None` is all.
    pub state_cache: Option<u64>,
    /// How visited states are kept.
    pub store: StoreKind,
    /// Go on after a violation.
    pub all_errors: bool,
    /// Channels must be empty at a valid end.
    pub channels_empty: bool,
    /// Budgets.
    pub limits: Limits,
    /// Who limits the memory.
    pub allowance: memory::Allowance,
    /// Shuffles the order of successors.
    pub seed: Option<u64>,
    /// Counterexamples must not depend on timing.
    pub deterministic: bool,
    /// What reports show.
    pub config: Config,
    /// What was asked for.
    pub options: CheckOptions,
    /// Stores of earlier searches that are about to go.
    pub leaving: Leaving,
}

/// An option whose value is one of a few words.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// As it is written.
    pub option: &'static str,
    available: &'static [&'static str],
}

/// The values of `--search`.
pub const SEARCH: Choice = Choice {
    option: "--search",
    available: &["auto", "frontier", "dfs", "bfs", "handoff", "ndfs", "cndfs", "ndfs-dual", "scc", "ufscc"],
};
/// The values of `--por`.
pub const POR: Choice = Choice { option: "--por", available: &["none", "ample", "stubborn", "twophase"] };
/// The values of `--edges`.
pub const EDGES: Choice = Choice { option: "--edges", available: &["lean", "all"] };
/// The values of `--store`.
pub const STORE: Choice =
    Choice { option: "--store", available: &["table", "tree", "cleary", "collapse", "hc", "bitstate"] };
/// The values of `--exec`.
pub const EXEC: Choice = Choice { option: "--exec", available: &["jit", "interp"] };
/// The values of `--fair`.
pub const FAIR: Choice = Choice { option: "--fair", available: &["weak", "strong"] };
/// The values of `--proviso`.
pub const PROVISO: Choice =
    Choice { option: "--proviso", available: &["stack", "closed-set", "color", "static"] };
/// The values of `--save`.
pub const SAVE: Choice = Choice { option: "--save", available: &["all", "backedge", "none"] };
/// The values of `--opt`.
pub const OPT: Choice = Choice { option: "--opt", available: &["none", "deadvars", "merge", "fold"] };

/// The values of `--stubborn`.
pub const STUBBORN: Choice = Choice { option: "--stubborn", available: &["closure", "deletion"] };
/// The values of `--check`.
pub const CHECK: Choice = Choice { option: "--check", available: &["facts", "reduction"] };

/// Every option whose value is a choice.
pub const CHOICES: [Choice; 11] =
    [SEARCH, POR, EDGES, STORE, EXEC, FAIR, PROVISO, STUBBORN, SAVE, OPT, CHECK];

/// What to write instead of a word that is not known: the one that was probably meant, and all that there are.
pub fn one_of<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let begins = |word: &&&str| {
        wrong.len() > 1 && word.starts_with(wrong) || word.len() > 1 && wrong.starts_with(**word)
    };
    let meant = known.iter().find(begins).copied().or_else(|| nearest(wrong, known.iter().copied()));
    let all = format!("use one of {}", known.join(", "));
    meant.map_or_else(|| all.clone(), |meant| format!("did you mean `{meant}`? {all}"))
}

impl Choice {
    /// Every value.
    pub fn values(&self) -> impl Iterator<Item = &'static str> {
        self.available.iter().copied()
    }

    /// The value, if it exists.
    fn take(&self, value: &str) -> Result<&'static str, Failure> {
        self.values().find(|known| *known == value).ok_or_else(|| {
            let message = format!("{} does not know {value:?}", self.option);
            Failure::refused_with(message, one_of(value, self.available.iter().copied()))
        })
    }

    /// As [`Choice::take`], for an option that was not given as well.
    fn take_or(&self, value: Option<&str>, default: &'static str) -> Result<&'static str, Failure> {
        value.map_or(Ok(default), |value| self.take(value))
    }
}

impl Plan {
    /// Validates a request.
    pub fn new(options: &CheckOptions) -> Result<Plan, Failure> {
        let search = match SEARCH.take_or(options.search.as_deref(), "auto")? {
            // Only these need a stack.
            "auto" if needs_stack(options) => "dfs",
            "auto" => "frontier",
            named => named,
        };
        let config = Config {
            search,
            por: POR.take_or(options.por.as_deref(), default_por(options, search))?,
            sleep: options.sleep,
            save: save(options)?,
            opt: static_reductions(options.opt.as_deref(), search)?,
            store: STORE.take_or(options.store.as_deref(), "table")?,
            threads: 1,
            exec: EXEC.take_or(options.exec.as_deref(), "jit")?,
        };
        refuse_handoff(options, search)?;
        refuse_contradictions(options)?;
        refuse_without_stack(options, &config)?;
        let config = Config { threads: threads(options, &config)?, ..config };
        let cycles = match search {
            "ndfs" => CycleSearch::Nested,
            "cndfs" => CycleSearch::NestedTogether,
            "ndfs-dual" => CycleSearch::NestedDual,
            "scc" => CycleSearch::Components,
            "ufscc" => CycleSearch::ComponentsTogether,
            _ => CycleSearch::Auto,
        };
        let fair = options.fair.as_deref().map(|value| FAIR.take(value)).transpose()?;
        refuse_unfair(fair, search, cycles)?;
        refuse_together(options, &config)?;
        let order = match search {
            "bfs" => Order::BreadthFirst,
            "dfs" => Order::DepthFirst,
            "handoff" => Order::Handoff,
            _ => Order::Frontier,
        };
        let por = match config.por {
            "ample" => Por::Ample,
            // Sleep sets and stores that forget ask for the same choice each time.
            "stubborn" if options.por.is_none() && !needs_stack(options) => Por::WhereItPays,
            "stubborn" => Por::Stubborn,
            "twophase" => Por::Twophase(match config.save {
                Some("all") => Save::All,
                Some("none") => Save::None,
                _ => Save::BackEdges,
            }),
            _ => Por::None,
        };
        if options.trust_xr_xs && !matches!(por, Por::Ample | Por::Stubborn) {
            return Err(Failure::refused_with(
                "--trust-xr-xs belongs to a reduction that relies on xr and xs",
                "add --por stubborn or --por ample, or leave --trust-xr-xs out",
            ));
        }
        let building = building(options.stubborn.as_deref(), por)?;
        let proviso = proviso(options.proviso.as_deref(), por, order, config.threads)?;
        let allowance = allowance(options)?;
        let limits = limits(options, allowance.bytes)?;
        let store = store_kind(config.store, options);
        Ok(Plan {
            source: source(options),
            properties: options.properties.clone(),
            order,
            por,
            proviso,
            edges: EDGES.take_or(options.edges.as_deref(), "lean")?,
            static_proviso: options.proviso.as_deref() == Some("static"),
            building,
            doubts: doubts(&options.check, por)?,
            cycles,
            fairness: fair.and_then(Fairness::from_name).unwrap_or_default(),
            sleep: options.sleep,
            state_cache: options.state_cache,
            store,
            all_errors: options.all_errors,
            channels_empty: options.channels_empty,
            limits,
            allowance,
            seed: options.seed,
            // The same seed gives the same run.
            deterministic: options.deterministic || options.seed.is_some(),
            config,
            options: options.clone(),
            leaving: Leaving::default(),
        })
    }
}

/// Whether a reduction relies on what `xr` and `xs` promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promises {
    /// No.
    NotReliedOn,
    /// Where that tells it more than it finds out; and whether it is true is checked.
    Checked,
    /// The same, unchecked.
    Trusted,
}

impl Plan {
    /// Why a search that was made by one worker could not be shared, and what could be; asked where several were wanted.
    pub fn why_alone(&self) -> (&'static str, &'static str) {
        match self.cycles {
            _ if self.state_cache.is_some() => {
                ("--state-cache forgets states by the stack of one worker", "leave --state-cache out")
            }
            _ if self.fairness == Fairness::Strong => {
                ("strong fairness is judged by one worker", "use --fair weak, if that is enough")
            }
            CycleSearch::Nested => ("--search ndfs is made by one worker", "use --search cndfs"),
            CycleSearch::Components => ("--search scc is made by one worker", "use --search ufscc"),
            _ if self.limits.depth.is_some() => (
                "with --max-depth cycles are looked for by one worker: what is cut off would depend on timing",
                "leave --max-depth out",
            ),
            _ if self.options.store.as_deref() == Some("tree") => {
                ("a search for cycles with --store tree is made by one worker", "use --store table")
            }
            _ => (
                "workers do not tell each other the values of hidden variables",
                "declare them without hidden",
            ),
        }
    }

    /// Whether a search that leaves out no state may leave out edges. With a lossy store it may not: a state that is taken for an old one
    /// is lost with all that only it leads to, and without the other ways around it that is far more.
    pub fn is_lean(&self) -> bool {
        self.edges == "lean"
            && !self.store.is_lossy()
            && self.order != Order::Handoff
            && self.state_cache.is_none()
            && !self.doubts.any()
    }

    /// Whether promises are relied on: only by a reduction that is asked for, so that without one a model is taken as it is. In
    /// phase 1 of twophase states are passed over in which somebody may be about to break a promise.
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
            Por::Twophase(save) => Method::Twophase(save),
        }
    }
}

/// Whether an option needs the stack of a depth-first search.
fn needs_stack(options: &CheckOptions) -> bool {
    options.sleep || options.state_cache.is_some()
}

/// The reduction when nobody says. There is none where it would change what was asked for: a shortest counterexample, all
/// violations that are met, all states up to some depth.
fn default_por(options: &CheckOptions, search: &str) -> &'static str {
    let everything = search == "bfs" || options.all_errors || options.max_depth.is_some();
    if everything { "none" } else { "stubborn" }
}

/// The proviso: the one asked for, where it makes sense, or the one that suits the order.
fn proviso(word: Option<&str>, por: Por, order: Order, threads: u64) -> Result<Proviso, Failure> {
    // Several workers have no stack that holds a path, unless they hand off what lies further on.
    let depth_first = order == Order::DepthFirst && threads == 1;
    let has_stack = depth_first || order == Order::Handoff;
    let sets = matches!(por, Por::Ample | Por::Stubborn | Por::WhereItPays);
    let Some(word) = word else {
        return Ok(match sets {
            true if has_stack => Proviso::Stack,
            true => Proviso::ClosedSet,
            false => Proviso::None,
        });
    };
    let proviso = match PROVISO.take(word)? {
        "stack" => Proviso::Stack,
        "color" => Proviso::Color,
        "static" => Proviso::None,
        _ => Proviso::ClosedSet,
    };
    if por == Por::None {
        return Err(Failure::refused_with(
            format!("--proviso {word} belongs to a partial-order reduction, and there is none"),
            "add --por stubborn, or leave --proviso out",
        ));
    }
    if !sets {
        return Err(Failure::refused_with(
            format!("--proviso {word}: twophase needs no proviso"),
            "leave --proviso out, or use --por stubborn",
        ));
    }
    let misplaced = match proviso {
        Proviso::Stack => !has_stack,
        Proviso::Color => !depth_first,
        Proviso::None | Proviso::ClosedSet => false,
    };
    if misplaced {
        return Err(Failure::refused_with(
            format!("--proviso {word} needs the stack of a depth-first search by one worker"),
            "use --search dfs --threads 1, or --proviso closed-set",
        ));
    }
    Ok(proviso)
}

/// How stubborn sets are built; only where they are asked for, and over several processes.
fn building(word: Option<&str>, por: Por) -> Result<Building, Failure> {
    let Some(word) = word else { return Ok(Building::Closure) };
    let building = match STUBBORN.take(word)? {
        "deletion" => Building::Deletion,
        _ => Building::Closure,
    };
    match por {
        Por::Stubborn => Ok(building),
        _ => Err(Failure::refused_with(
            format!("--stubborn {word} belongs to --por stubborn"),
            "add --por stubborn, or leave --stubborn out",
        )),
    }
}

/// The model, with the formula that is to be checked too.
fn source(options: &CheckOptions) -> Source {
    let mut source = options.source.clone();
    source.options.formula.clone_from(&options.ltl);
    source
}

/// Fairness asks for a mark of every process; a nested search knows one.
fn refuse_unfair(fair: Option<&str>, search: &str, cycles: CycleSearch) -> Result<(), Failure> {
    match (fair, cycles) {
        (None, _) | (_, CycleSearch::Auto | CycleSearch::Components | CycleSearch::ComponentsTogether) => {
            Ok(())
        }
        (Some(fair), _) => Err(Failure::refused_with(
            format!("--search {search} cannot be used with --fair {fair}"),
            "use --search scc, or leave --search out",
        )),
    }
}

/// Where a path becomes too long depends on the order, and workers have different ones.
fn refuse_together(options: &CheckOptions, config: &Config) -> Result<(), Failure> {
    let alone = match config.search {
        "cndfs" | "ndfs-dual" => "ndfs",
        "ufscc" => "scc",
        "handoff" => "dfs",
        _ => return Ok(()),
    };
    if config.search == "ndfs-dual" && options.threads.is_some_and(|threads| threads != 2) {
        return Err(Failure::refused_with(
            "--search ndfs-dual is a search by two workers",
            "use --threads 2, or --search cndfs for any number",
        ));
    }
    if options.max_depth.is_some() {
        return Err(Failure::refused_with(
            format!(
                "--search {} does not go with --max-depth: what is cut off would depend on timing",
                config.search
            ),
            format!("use --search {alone} --threads 1, or leave --max-depth out"),
        ));
    }
    Ok(())
}

/// What the search is to doubt.
fn doubts(words: &[String], por: Por) -> Result<Doubts, Failure> {
    let mut doubts = Doubts::default();
    for word in words.iter().flat_map(|words| words.split(',')) {
        match CHECK.take(word)? {
            "facts" => doubts.facts = true,
            _ => doubts.reduction = true,
        }
    }
    if doubts.reduction && por == Por::None {
        return Err(Failure::refused_with(
            "--check reduction needs a partial-order reduction to check, and there is none",
            "add --por stubborn, or leave --check reduction out",
        ));
    }
    Ok(doubts)
}

/// The store that a word names.
fn store_kind(word: &str, options: &CheckOptions) -> StoreKind {
    match word {
        "tree" => StoreKind::Tree,
        "cleary" => StoreKind::Cleary,
        "collapse" => StoreKind::Collapse,
        "hc" => StoreKind::HashCompaction,
        "bitstate" if options.max_memory.is_some() => StoreKind::Bitstate { most: u64::MAX },
        "bitstate" => StoreKind::Bitstate { most: BITSTATE_BYTES },
        _ => StoreKind::Table,
    }
}

/// The static reductions: all, unless told otherwise. Breadth-first search is asked for a shortest counterexample, and
/// merging makes processes take steps that such a one may not need: it is used there only when it is asked for.
fn static_reductions(list: Option<&str>, search: &str) -> Result<Vec<&'static str>, Failure> {
    let Some(list) = list else {
        return Ok(if search == "bfs" {
            vec!["deadvars", "fold"]
        } else {
            vec!["deadvars", "merge", "fold"]
        });
    };
    let values: Vec<&str> = list.split(',').map(str::trim).collect();
    if values.len() > 1 && values.contains(&"none") {
        return Err(Failure::refused_with("--opt none excludes every other value", "use --opt none alone"));
    }
    let mut wanted = Vec::new();
    for value in values {
        match OPT.take(value)? {
            "none" => {}
            known if wanted.contains(&known) => {}
            known => wanted.push(known),
        }
    }
    Ok(wanted)
}

impl Config {
    /// The static reductions as the machine takes them.
    pub fn reductions(&self) -> Reductions {
        let wanted = |word| self.opt.contains(&word);
        Reductions { dead_variables: wanted("deadvars"), merge: wanted("merge"), fold: wanted("fold") }
    }
}

/// More threads than this are a slip of the pen.
const MOST_THREADS: u64 = 512;

/// How many workers a search has. Depth-first is an order that only one worker can keep; several are used when they are asked for.
/// What needs the stack of one worker has one, however many there may be.
fn threads(options: &CheckOptions, config: &Config) -> Result<u64, Failure> {
    match options.threads {
        Some(0) => Err(Failure::refused_with("--threads 0 leaves nobody to do the work", "use --threads 1")),
        Some(n) if n > MOST_THREADS => Err(Failure::refused_with(
            format!("--threads {n} is more than any machine has use for"),
            format!("use at most --threads {MOST_THREADS}, or leave it out to use every core"),
        )),
        _ if needs_stack(options) => Ok(1),
        Some(n) => Ok(n),
        None if config.search != "dfs" => {
            let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
            Ok(cores.min(MOST_THREADS))
        }
        None => Ok(1),
    }
}

/// The depth of a handoff belongs to the search that hands off.
fn refuse_handoff(options: &CheckOptions, search: &str) -> Result<(), Failure> {
    match options.handoff {
        Some(depth) if search != "handoff" => Err(Failure::refused_with(
            format!("--handoff {depth} belongs to --search handoff"),
            "add --search handoff, or leave --handoff out",
        )),
        Some(0) => Err(Failure::refused_with(
            "--handoff 0 would hand off every state at once",
            "use --handoff 1 or more, or leave it out to let it be chosen",
        )),
        _ => Ok(()),
    }
}

/// Which states of phase 1 are stored; nothing where there is no phase 1.
fn save(options: &CheckOptions) -> Result<Option<&'static str>, Failure> {
    let twophase = options.por.as_deref() == Some("twophase");
    match options.save.as_deref() {
        Some(word) if !twophase => {
            SAVE.take(word)?;
            Err(Failure::refused_with(
                format!("--save {word} belongs to twophase"),
                "add --por twophase, or leave --save out",
            ))
        }
        Some(word) => SAVE.take(word).map(Some),
        None => Ok(twophase.then_some("backedge")),
    }
}

/// Sleep sets and state-space caching need the stack of one worker, and a table of their own.
fn refuse_without_stack(options: &CheckOptions, config: &Config) -> Result<(), Failure> {
    let option = match (options.sleep, options.state_cache) {
        (true, _) => "--sleep",
        (false, Some(_)) => "--state-cache",
        (false, None) => return Ok(()),
    };
    if options.sleep && options.threads.is_some_and(|n| n > 1) {
        return Err(Failure::refused_with(
            "--sleep is for one thread: what sleeps depends on the way to a state",
            "use --threads 1, or leave --sleep out",
        ));
    }
    if options.sleep && config.por == "twophase" {
        return Err(Failure::refused_with(
            "--sleep does not go with --por twophase, which takes single actions in phase 1 and all in phase 2",
            "use --por stubborn, or leave --sleep out",
        ));
    }
    if let (true, Some(word @ ("static" | "color"))) = (options.sleep, options.proviso.as_deref()) {
        return Err(Failure::refused_with(
            format!("--sleep does not go with --proviso {word}, which does not know what sleeps"),
            "use --proviso stack, or leave --sleep out",
        ));
    }
    if config.search != "dfs" {
        return Err(Failure::refused_with(
            format!("{option} needs the stack of a depth-first search"),
            format!("use --search dfs, or leave {option} out"),
        ));
    }
    if config.store != "table" {
        return Err(Failure::refused_with(
            format!("{option} keeps states in a table of its own, not in --store {}", config.store),
            format!("leave --store out, or leave {option} out"),
        ));
    }
    Ok(())
}

fn refuse_contradictions(options: &CheckOptions) -> Result<(), Failure> {
    let ends =
        options.properties.is_empty() || options.properties.iter().any(|p| p == "safety" || p == "end-state");
    if options.channels_empty && !ends {
        return Err(Failure::refused_with(
            "--channels-empty makes the end-state check stricter, and that check is not asked for",
            "add --property end-state, or leave --channels-empty out",
        ));
    }
    refuse_lean(options)
}

/// Lean edges are for searches that expand every state in full, and once.
fn refuse_lean(options: &CheckOptions) -> Result<(), Failure> {
    if options.edges.as_deref() != Some("lean") {
        return Ok(());
    }
    let por = options.por.as_deref().filter(|por| *por != "none").map(|por| format!("--por {por}"));
    let other = match por {
        Some(por) => por,
        None if options.sleep => "--sleep".into(),
        None if options.state_cache.is_some() => "--state-cache".into(),
        None if options.search.as_deref() == Some("handoff") => "--search handoff".into(),
        None if !options.check.is_empty() => "--check".into(),
        None => return refuse_lean_and_lossy(options),
    };
    Err(Failure::refused_with(
        format!(
            "--edges lean has no effect beside {other}: it relies on every state being expanded in full, once"
        ),
        format!("leave --edges out, or leave {other} out and add --por none"),
    ))
}

/// Where states are lost, every way around them counts.
fn refuse_lean_and_lossy(options: &CheckOptions) -> Result<(), Failure> {
    match options.store.as_deref() {
        Some(store @ ("hc" | "bitstate")) => Err(Failure::refused_with(
            format!(
                "--edges lean has no effect beside --store {store}: of a store that may lose states all edges are followed"
            ),
            "leave --edges out, or use a store that loses nothing",
        )),
        _ => Ok(()),
    }
}

/// No model is checked in less memory than this: fewer bytes without a unit lack the unit.
const LEAST_BYTES: u64 = 1 << 20;

fn memory_limit(text: &str) -> Result<u64, Failure> {
    let bytes = parse_size(text).ok_or_else(|| {
        Failure::refused_with(format!("--max-memory {text:?} is not a size"), "write it as 500M or 4G")
    })?;
    let without_unit = text.trim().ends_with(|c: char| c.is_ascii_digit());
    match without_unit && bytes < LEAST_BYTES {
        true => Err(Failure::refused_with(
            format!("--max-memory {bytes} is {bytes} bytes, too little for any model"),
            format!("did you mean {bytes}M? units are K, M, G and T"),
        )),
        false => Ok(bytes),
    }
}

/// How much memory may be used, and who says so.
fn allowance(options: &CheckOptions) -> Result<memory::Allowance, Failure> {
    let requested = options.max_memory.as_deref().map(memory_limit).transpose()?;
    Ok(memory::allowance(requested))
}

fn limits(options: &CheckOptions, memory: u64) -> Result<Limits, Failure> {
    let time = match options.timeout {
        Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
            Failure::refused_with(format!("--timeout {seconds} is not a time"), "give a number of seconds")
        })?),
        None => None,
    };
    let (depth, states) = (options.max_depth, options.max_states);
    Ok(Limits { depth, states, memory: Some(memory), time, ..Limits::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> CheckOptions {
        let source = Source { path: "model.pml".to_string(), ..Source::default() };
        CheckOptions { source, ..CheckOptions::default() }
    }

    fn message(options: &CheckOptions) -> String {
        match Plan::new(options) {
            Err(Failure::Refused { message, repair }) => {
                assert!(repair.is_some(), "{message} has no repair");
                message
            }
            other => panic!("not refused: {other:?}"),
        }
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_string())
    }

    #[test]
    fn the_defaults() {
        let plan = Plan::new(&options()).unwrap();
        assert_eq!((plan.config.search, plan.config.store, plan.config.exec), ("frontier", "table", "jit"));
        assert_eq!((plan.config.opt.len(), plan.all_errors), (3, false));
        assert!(plan.limits.memory.is_some() && plan.limits.depth.is_none());
    }

    #[test]
    fn the_reference_configuration_is_accepted() {
        let plan = Plan::new(&CheckOptions {
            por: some("none"),
            opt: some("none"),
            store: some("table"),
            threads: Some(1),
            all_errors: true,
            search: some("bfs"),
            ..options()
        });
        assert_eq!(plan.unwrap().order, Order::BreadthFirst);
    }

    #[test]
    fn what_nobody_asked_for_is_reduced_where_it_pays() {
        let por = |options: CheckOptions| {
            let plan = Plan::new(&options).unwrap();
            (plan.por, plan.config.por)
        };
        assert_eq!(por(options()), (Por::WhereItPays, "stubborn"));
        assert_eq!(por(CheckOptions { search: some("dfs"), ..options() }).0, Por::WhereItPays);
        assert_eq!(por(CheckOptions { proviso: some("closed-set"), ..options() }).0, Por::WhereItPays);
        assert_eq!(por(CheckOptions { sleep: true, ..options() }), (Por::Stubborn, "stubborn"));
        assert_eq!(por(CheckOptions { state_cache: Some(9), ..options() }).0, Por::Stubborn);
        // A shortest counterexample, all violations, all states up to a depth.
        for everything in [
            CheckOptions { search: some("bfs"), ..options() },
            CheckOptions { all_errors: true, ..options() },
            CheckOptions { max_depth: Some(9), ..options() },
        ] {
            assert_eq!(por(everything), (Por::None, "none"));
        }
        assert_eq!(por(CheckOptions { por: some("none"), ..options() }), (Por::None, "none"));
        assert_eq!(por(CheckOptions { por: some("stubborn"), ..options() }).0, Por::Stubborn);
    }

    #[test]
    fn a_shortest_counterexample_has_no_merged_steps() {
        let opt = |opt, search| Plan::new(&CheckOptions { opt, search, ..options() }).unwrap().config.opt;
        assert_eq!(opt(None, some("bfs")), ["deadvars", "fold"]);
        assert_eq!(opt(some("merge, merge,fold"), some("bfs")), ["merge", "fold"]);
        assert!(opt(some("none"), None).is_empty());
    }

    #[test]
    fn a_proviso_suits_the_search() {
        let with = |por, search, proviso| CheckOptions {
            por: some(por),
            search: some(search),
            proviso,
            ..options()
        };
        let plan = |options: &CheckOptions| Plan::new(options).unwrap();
        let stubborn = plan(&with("stubborn", "dfs", None));
        assert_eq!((stubborn.por, stubborn.proviso), (Por::Stubborn, Proviso::Stack));
        assert_eq!(plan(&with("ample", "frontier", None)).proviso, Proviso::ClosedSet);
        assert_eq!(plan(&with("ample", "dfs", some("closed-set"))).proviso, Proviso::ClosedSet);
        assert_eq!(plan(&with("ample", "handoff", None)).proviso, Proviso::Stack);
        assert_eq!(plan(&with("ample", "handoff", some("closed-set"))).proviso, Proviso::ClosedSet);
        assert_eq!(plan(&with("ample", "dfs", some("color"))).proviso, Proviso::Color);
        assert!(message(&with("ample", "frontier", some("color"))).contains("needs the stack"));
        let sleepy = CheckOptions { sleep: true, ..with("stubborn", "dfs", some("color")) };
        assert!(message(&sleepy).contains("what sleeps"));
        let own = plan(&with("stubborn", "frontier", some("static")));
        assert_eq!((own.proviso, own.static_proviso), (Proviso::None, true));
        assert!(message(&with("stubborn", "bfs", some("stack"))).contains("depth-first"));
        assert!(message(&with("none", "dfs", some("stack"))).contains("there is none"));
        let doubted = |por: Option<&str>, word: &str| CheckOptions {
            por: por.and_then(some),
            check: vec![word.to_string()],
            ..options()
        };
        assert!(plan(&doubted(Some("stubborn"), "reduction")).doubts.reduction);
        assert!(plan(&doubted(Some("none"), "facts")).doubts.facts);
        let both = plan(&doubted(Some("stubborn"), "facts,reduction")).doubts;
        assert!(both.facts && both.reduction);
        assert!(message(&doubted(Some("none"), "reduction")).contains("there is none"));
        assert!(message(&doubted(None, "everything")).contains("does not know"));
        let shared = CheckOptions { threads: Some(2), ..with("stubborn", "dfs", some("stack")) };
        assert!(message(&shared).contains("one worker"));
    }

    #[test]
    fn every_core_is_used_where_that_is_possible() {
        let threads = |options: &CheckOptions| Plan::new(options).unwrap().config.threads;
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        assert_eq!(threads(&options()), cores);
        assert_eq!(threads(&CheckOptions { search: some("bfs"), ..options() }), cores);
        assert_eq!(threads(&CheckOptions { search: some("dfs"), ..options() }), 1);
        assert_eq!(threads(&CheckOptions { search: some("dfs"), threads: Some(3), ..options() }), 3);
        assert_eq!(threads(&CheckOptions { store: some("collapse"), ..options() }), cores);
        assert!(message(&CheckOptions { threads: Some(100_000), ..options() }).contains("any machine"));
    }

    #[test]
    fn what_needs_a_stack_gets_one_or_is_refused() {
        let plan = |options: &CheckOptions| Plan::new(options).unwrap();
        let sleep = || CheckOptions { sleep: true, ..options() };
        let cache = || CheckOptions { state_cache: Some(10), ..options() };
        for with in [sleep(), cache()] {
            assert_eq!((plan(&with).order, plan(&with).config.threads), (Order::DepthFirst, 1));
            let refused = |options: CheckOptions, why: &str| {
                let text = message(&options);
                assert!(text.contains(why), "{text}");
            };
            refused(CheckOptions { search: some("bfs"), ..with.clone() }, "depth-first");
            refused(CheckOptions { store: some("tree"), ..with.clone() }, "a table of its own");
        }
        assert!(message(&CheckOptions { por: some("twophase"), ..sleep() }).contains("twophase"));
        assert!(message(&CheckOptions { threads: Some(2), ..sleep() }).contains("one thread"));
        assert_eq!(plan(&CheckOptions { threads: Some(1), ..sleep() }).config.threads, 1);
        assert_eq!(plan(&CheckOptions { threads: Some(2), ..cache() }).config.threads, 1);
        let both = plan(&CheckOptions { por: some("twophase"), ..cache() });
        assert_eq!((both.method(), both.proviso), (Method::Twophase(Save::BackEdges), Proviso::None));
        assert_eq!(both.config.save, Some("backedge"));
        let none = CheckOptions { por: some("twophase"), save: some("none"), ..options() };
        assert_eq!(plan(&none).por, Por::Twophase(Save::None));
        assert!(message(&CheckOptions { save: some("all"), ..options() }).contains("belongs to twophase"));
        assert!(message(&CheckOptions { proviso: some("stack"), ..none }).contains("no proviso"));
    }

    #[test]
    fn a_bit_array_takes_what_it_is_given() {
        let bitstate = |max_memory| CheckOptions { store: some("bitstate"), max_memory, ..options() };
        let bytes = |max_memory| Plan::new(&bitstate(max_memory)).unwrap().store;
        assert_eq!(bytes(some("400M")), StoreKind::Bitstate { most: u64::MAX });
        assert_eq!(bytes(None), StoreKind::Bitstate { most: BITSTATE_BYTES });
    }

    #[test]
    fn lean_edges_belong_to_searches_that_leave_out_no_state() {
        let lean = || CheckOptions { edges: some("lean"), ..options() };
        let plan = |options: &CheckOptions| Plan::new(options).unwrap();
        assert!(plan(&lean()).is_lean());
        assert!(plan(&CheckOptions { por: some("none"), ..lean() }).is_lean());
        for with in [
            CheckOptions { por: some("stubborn"), ..lean() },
            CheckOptions { por: some("twophase"), ..lean() },
            CheckOptions { sleep: true, ..lean() },
            CheckOptions { state_cache: Some(10), por: some("none"), ..lean() },
            CheckOptions { search: some("handoff"), threads: Some(2), por: some("none"), ..lean() },
        ] {
            assert!(message(&with).contains("--edges lean has no effect beside"), "{}", message(&with));
            Plan::new(&CheckOptions { edges: some("all"), ..with }).unwrap();
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_would_do() {
        assert!(message(&CheckOptions { search: some("sideways"), ..options() }).contains("does not know"));
        assert!(message(&CheckOptions { opt: some("none,merge"), ..options() }).contains("excludes"));
        assert!(message(&CheckOptions { threads: Some(0), ..options() }).contains("--threads 0"));
        assert!(message(&CheckOptions { max_memory: some("much"), ..options() }).contains("not a size"));
        let unfair = CheckOptions { search: some("ndfs"), fair: some("weak"), ..options() };
        assert!(message(&unfair).contains("--search ndfs cannot be used with --fair weak"));
        let three = CheckOptions { search: some("ndfs-dual"), threads: Some(3), ..options() };
        assert!(message(&three).contains("two workers"));
        let unfair = CheckOptions { search: some("ndfs-dual"), fair: some("weak"), ..options() };
        assert!(message(&unfair).contains("--search ndfs-dual cannot be used with --fair weak"));
        let unfair = CheckOptions { search: some("cndfs"), fair: some("weak"), ..options() };
        assert!(message(&unfair).contains("--search cndfs cannot be used with --fair weak"));
        assert!(message(&CheckOptions { handoff: Some(10), ..options() }).contains("belongs to"));
        let every = CheckOptions { search: some("handoff"), handoff: Some(0), ..options() };
        assert!(message(&every).contains("every state"));
        let cut = CheckOptions { search: some("handoff"), max_depth: Some(9), ..options() };
        assert!(message(&cut).contains("depend on timing"));
        let cut = CheckOptions { search: some("cndfs"), max_depth: Some(9), ..options() };
        assert!(message(&cut).contains("depend on timing"));
        assert!(message(&CheckOptions { timeout: Some(-1.0), ..options() }).contains("not a time"));
        assert!(message(&CheckOptions { timeout: Some(f64::NAN), ..options() }).contains("not a time"));
        let strict =
            CheckOptions { channels_empty: true, properties: vec!["assertion".to_string()], ..options() };
        assert!(message(&strict).contains("--channels-empty"));
    }
}
