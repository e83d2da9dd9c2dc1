//! The table of options: a row each, as in kissat's `options.h`. From a row come the field of
//! [`CheckOptions`], the argument of the command line with its help, completion and manual page, the
//! directive of `spinor test`, the merging of two requests and the command that hints print. To add an option
//! is to add a row, and to use the field.
//!
//! A row reads: help (the doc comment), field, type, name, name of the value (empty for flags), group, scope.
//! The type decides how a word is read: see [`Slot`].

use super::choice::{
    CycleProviso, Edges, Engine, Exec, Memory, Por, Search, SelfCheck, StaticReduction, StepOrder, StoreKind,
};
use super::value::{Kind, Size, Slot};
use super::{Group, Scope, Source};
use crate::failure::Failure;
use reduce::Building;
use search::Save;
use std::time::Duration;
use symbolic::Reorder;
use system::Fairness;

/// One option.
#[derive(Debug)]
pub struct OptionSpec {
    /// The name, without dashes.
    pub name: &'static str,
    /// What stands for the value in help texts; empty for flags.
    pub placeholder: &'static str,
    /// Where help lists it.
    pub group: Group,
    /// Who takes it.
    pub scope: Scope,
    /// The kind of its values.
    pub kind: Kind,
    /// Whether it may be given several times, and all of them count.
    pub repeats: bool,
    /// Whether it may be given several times, and the last one counts.
    pub last_counts: bool,
    pub(super) help: &'static str,
    pub(super) words: fn() -> Vec<&'static str>,
    pub(super) give: fn(&mut CheckOptions, &str) -> Result<(), Failure>,
    pub(super) given: fn(&CheckOptions) -> Vec<String>,
    pub(super) override_with: fn(&mut CheckOptions, &CheckOptions),
}

macro_rules! last_counts {
    () => {
        false
    };
    (last) => {
        true
    };
}

macro_rules! options {
    ($(
        $(#[doc = $help:literal])+
        $field:ident: $slot:ty =
            [$name:literal, $placeholder:literal, $group:ident, $scope:ident] $($last:ident)?;
    )+) => {
        /// The options of a check; what is empty was not given.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct CheckOptions {
            /// The model.
            pub source: Source,
            $($(#[doc = $help])+ pub $field: $slot,)+
        }

        /// All options, in the order in which help texts and commands have them.
        pub static TABLE: &[OptionSpec] = &[$(OptionSpec {
            name: $name,
            placeholder: $placeholder,
            group: Group::$group,
            scope: Scope::$scope,
            kind: <$slot as Slot>::KIND,
            repeats: <$slot as Slot>::REPEATS,
            last_counts: last_counts!($($last)?),
            help: concat!($($help),+),
            words: <$slot as Slot>::words,
            give: |options, word| options.$field.give(concat!("--", $name), word),
            given: |options| options.$field.given(),
            override_with: |options, over| options.$field.override_with(&over.$field),
        }),+];
    };
}

options! {
    /// Check this property (repeatable): safety, or one part of it (assertion, end-state, invariant, trace,
    /// runtime); ltl:NAME, ctl:NAME, mu:NAME, never, never:NAME, never:NAME+NAME (runs that both claims find
    /// wrong), accept, progress. Default: all that apply except progress.
    properties: Vec<String> = ["property", "PROPERTY", Common, Check];
    /// Also check this formula of linear temporal logic, such as [] (x < 3).
    ltl: Option<String> = ["ltl", "FORMULA", Common, Model];
    /// Also check this formula of computation tree logic, such as AG EF ready.
    ctl: Option<String> = ["ctl", "FORMULA", Expert, Model];
    /// Also check this formula of the mu-calculus, such as nu Z. (<>true && []Z).
    mu: Option<String> = ["mu", "FORMULA", Expert, Model];
    /// Also read the never claim in this file, as if the model included it.
    claim: Option<String> = ["claim", "FILE", Expert, Model];
    /// Process fairness for cycle properties: weak (a process that stays enabled eventually moves) or strong
    /// (a process that is enabled again and again eventually moves).
    fair: Option<Fairness> = ["fair", "KIND", Common, Model];
    /// Do not stop at the first violation: explore everything and tell every place that fails.
    all_errors: bool = ["all-errors", "", Common, Model];
    /// The same, but stop at the Nth violation.
    stop_at: Option<u64> = ["stop-at", "N", Expert, Model];
    /// Search order. Safety: frontier (in order of discovery, the fastest), dfs (depth-first, finds deep
    /// errors early), bfs (a shortest counterexample), handoff (parallel depth-first). Cycles: ndfs, cndfs
    /// (parallel), ndfs-dual (two threads), scc, ufscc (parallel). Default: auto.
    search: Option<Search> = ["search", "ORDER", Common, Exploration];
    /// Look for shorter and shorter counterexamples; safety: --search bfs, unless another order is asked for.
    shorten: bool = ["shorten", "", Expert, Model];
    /// Memory that global variables are in: sc (sequentially consistent, the default), tso (x86: stores wait
    /// in a buffer of their process), pso (a buffer for every cell), or all three, compared.
    memory: Option<Memory> = ["memory", "MODEL", Expert, Model];
    /// Stop after this time: 10 (seconds), 500ms, 10s, 5m or 1h.
    timeout: Option<Duration> = ["timeout", "TIME", Common, Exploration];
    /// Stop at this much memory, such as 500M or 4G. Default: 70 % of what is available within all limits of
    /// the process.
    max_memory: Option<Size> = ["max-memory", "SIZE", Common, Exploration];

    /// Who explores: explicit (from state to state, the default), symbolic (with sets of states, for spaces
    /// that no explicit search can finish), gpu (from state to state on an NVIDIA GPU: safety only) or auto
    /// (explicit and symbolic at once; the first answer counts).
    engine: Option<Engine> = ["engine", "ENGINE", Expert, Exploration];
    /// How visited states are stored: table, tree, cleary or collapse (exact), automaton (exact, slow, for long
    /// runs in little memory), hc or bitstate (lossy: finds errors, proves nothing). Default: table.
    store: Option<StoreKind> = ["store", "STORE", Expert, Exploration];
    /// Symbolic: in which order steps are taken, saturation (the default) or chain.
    order: Option<StepOrder> = ["order", "ORDER", Expert, Exploration];
    /// Symbolic: how slots are ordered, none, force or sloan. Default: the most promising of several.
    reorder: Option<Reorder> = ["reorder", "METHOD", Expert, Exploration];
    /// Worker threads. Default: every core, where several can share the work. When given twice, the last one
    /// counts.
    threads: Option<u64> = ["threads", "N", Expert, Exploration] last;
    /// Partial-order reduction: none, ample, twophase or stubborn. Default: stubborn, where it pays.
    por: Option<Por> = ["por", "REDUCTION", Expert, Exploration];
    /// Which edges are followed by a search that visits every state: all, or lean (the default), which skips
    /// those whose target is found through edges that commute. Counts are the same.
    edges: Option<Edges> = ["edges", "EDGES", Expert, Exploration];
    /// Cycle proviso of the reduction: stack, closed-set, color or static.
    proviso: Option<CycleProviso> = ["proviso", "PROVISO", Expert, Exploration];
    /// Verify the assumptions of reductions during the search (repeatable, or with commas): facts, reduction.
    /// Slow; what is refuted is a bug of the tool.
    check: Vec<SelfCheck> = ["check", "WHAT", Expert, Exploration];
    /// Add sleep sets.
    sleep: bool = ["sleep", "", Expert, Exploration];
    /// How stubborn sets are built: closure (from one process) or deletion (from everything).
    stubborn: Option<Building> = ["stubborn", "HOW", Expert, Exploration];
    /// Rely on what xr and xs promise without checking it; without this option a promise that is relied on is
    /// checked.
    trust_xr_xs: bool = ["trust-xr-xs", "", Expert, Exploration];
    /// Which phase-1 states twophase stores: all, backedge, backedge-down or none.
    save: Option<Save> = ["save", "WHICH", Expert, Exploration];
    /// Keep at most N states off the search stack.
    state_cache: Option<u64> = ["state-cache", "N", Expert, Exploration];
    /// Static reductions: none, or a list of deadvars, merge, fold.
    opt: Option<Vec<StaticReduction>> = ["opt", "LIST", Expert, Exploration];
    /// Show the same counterexample on every run, whatever the timing of the threads.
    deterministic: bool = ["deterministic", "", Expert, Exploration];
    /// Handoff depth of parallel depth-first search.
    handoff: Option<u64> = ["handoff", "L", Expert, Exploration];
    /// For tests: the first worker calls the others when it has found N states.
    alone: Option<u64> = ["alone", "N", Hidden, Exploration];
    /// How transitions are executed: interp, jit, or packed (native code over packed states: safety, for models
    /// whose packed states have at most 127 bits).
    exec: Option<Exec> = ["exec", "MACHINE", Expert, Exploration];
    /// Shuffle the order of successors; the same seed gives the same run.
    seed: Option<u64> = ["seed", "N", Expert, Exploration];
    /// Cut off paths after N steps.
    max_depth: Option<u64> = ["max-depth", "N", Expert, Exploration];
    /// Bounded context switching: only runs in which a process that could go on is interrupted at most N times.
    /// If other runs were left out, safety is unknown rather than shown.
    max_switches: Option<u64> = ["max-switches", "N", Expert, Model];
    /// Tell which values each variable has in the states of the search.
    ranges: bool = ["ranges", "", Expert, Check];
    /// Tell how often the search executes each statement.
    profile: bool = ["profile", "", Expert, Check];
    /// Stop after N states.
    max_states: Option<u64> = ["max-states", "N", Expert, Exploration];
    /// Where the counterexample is written; further ones go to FILE.2, FILE.3 … Default: MODEL.trail.json.
    trail: Option<String> = ["trail", "FILE", Expert, Check];
    /// Also write the report, with counterexamples to walk through, automata and source, as one HTML file
    /// that needs nothing else.
    report: Option<String> = ["report", "FILE", Expert, Check];
    /// Write the states of a search that shows that safety holds into FILE, for `spinor audit FILE MODEL`.
    /// Nothing is left out then: --por none, --opt none.
    certify: Option<String> = ["certify", "FILE", Expert, Check];
    /// Write the search for safety down in FILE while it runs: whatever ends it, --resume FILE goes on. A
    /// search that comes to its end removes FILE.
    checkpoint: Option<String> = ["checkpoint", "FILE", Expert, Check];
    /// The time between two checkpoints, such as 0.5 (seconds) or 10m. Default: 600.
    checkpoint_every: Option<Duration> = ["checkpoint-every", "TIME", Expert, Check];
    /// Go on from FILE, with the same model and options; threads, stores and budgets may differ.
    resume: Option<String> = ["resume", "FILE", Expert, Check];
    /// What waits to be expanded, and the way back to what was found, goes to a file in the folder DIR when it takes
    /// more than an eighth of --max-memory. The file has no name, and is gone when the check is over.
    disk: Option<String> = ["disk", "DIR", Expert, Check];
    /// Search for safety by N processes on this machine, each of which keeps a part of the states; for safety
    /// only, in order of discovery, with an exact store.
    cluster: Option<u64> = ["cluster", "N", Expert, Check];
    /// With --cluster: a process that is silent for this time is lost, and the search ends. Default: 30.
    peer_timeout: Option<Duration> = ["peer-timeout", "TIME", Expert, Check];
    /// For processes that --cluster starts: which one it is, and the port where the first one listens.
    cluster_seat: Option<String> = ["cluster-seat", "RANK@PORT", Hidden, Check];
    /// With --memory: how many stores a buffer holds. Default: 2.
    memory_bound: Option<u64> = ["memory-bound", "N", Expert, Model];
    /// With --memory: statements that load several shared variables are taken apart into single loads.
    memory_split: bool = ["memory-split", "", Expert, Model];
    /// With --memory: global variables that are not buffered, with commas; none: no variable is taken for a
    /// ghost.
    plain: Option<String> = ["plain", "NAMES", Expert, Model];
    /// With --memory: find a smallest set of places at which fences make the properties hold.
    suggest_fences: bool = ["suggest-fences", "", Expert, Check];
    /// A send to a full channel is executable and loses its message.
    lossy_channels: bool = ["lossy-channels", "", Expert, Model];
    /// Compile the embedded C of the model with the C compiler of the machine, and run it: such code can do whatever
    /// you can. Without this option a model with embedded C is refused.
    allow_c: bool = ["allow-c", "", Expert, Check];
    /// With --allow-c: a C file that is compiled with the model (repeatable).
    c_source: Vec<String> = ["c-source", "FILE", Expert, Check];
    /// With --allow-c: more words for the C compiler, such as -lm (repeatable).
    c_flags: Vec<String> = ["c-flags", "ARGS", Expert, Check];
    /// With --allow-c: run C in the process of the checker, without a supervisor; faster to begin, but a crash
    /// of C is the end of the check.
    c_in_process: bool = ["c-in-process", "", Expert, Check];
    /// Channels must be empty at a valid end.
    channels_empty: bool = ["channels-empty", "", Expert, Model];
}
