//! Plans that make no sense: a list of small rules, each with what is wrong and what to do instead.
//!
//! The first rule that objects counts. What depends on the model (its properties, its claims) is refused
//! later, in [`crate::property`] and [`crate::liveness`]; where a trail cannot be written, in
//! [`crate::trails`].

mod cluster;

use crate::failure::Failure;
use crate::options::{
    Choice, CycleProviso, Edges, Engine, Exec, Memory, Por, Search, StaticReduction, StoreKind,
};
use crate::plan::{MOST_THREADS, Order, Plan, has_stack};
use search::Proviso;
use search::switches::MOST_SWITCHES;

/// What is wrong with a plan, and the repair.
struct Refusal {
    message: String,
    repair: String,
}

fn refusal(message: impl Into<String>, repair: impl Into<String>) -> Option<Refusal> {
    Some(Refusal { message: message.into(), repair: repair.into() })
}

/// Says what is wrong with a plan, in one respect.
type Rule = fn(&Plan) -> Option<Refusal>;

const RULES: &[Rule] = &[
    cluster::of_none,
    cluster::by_another_search,
    cluster::with_what_stays,
    cluster::timeout_without_peers,
    save_without_twophase,
    handoff_without_ring,
    handoff_of_everything,
    channels_empty_without_end_states,
    lean_beside_what_expands_in_part,
    lean_in_a_lossy_store,
    sleep_with_threads,
    sleep_with_twophase,
    sleep_with_proviso,
    stack_without_depth_first,
    stack_with_another_store,
    automaton_with_threads,
    stop_at_nothing,
    shorten_all_errors,
    stop_at_with_threads,
    switches_with_what_leaves_out,
    too_many_switches,
    no_threads,
    too_many_threads,
    fairness_with_nested_search,
    dual_search_with_threads,
    depth_limit_with_workers,
    trust_without_reduction,
    stubborn_without_stubborn_sets,
    proviso_without_reduction,
    proviso_with_twophase,
    proviso_without_stack,
    self_check_without_reduction,
    symbolic_with_explicit_options,
    symbolic_options_without_symbolic,
    packed_with_others,
    certificate_of_a_part,
    checkpoint_of_what_cannot_go_on,
    interval_without_checkpoint,
    disk_without_a_queue,
    buffers_without_memory,
    all_memories_at_once,
    fences_in_split_statements,
];

/// Refuses a plan to which a rule objects.
pub fn judge(plan: &Plan) -> Result<(), Failure> {
    match RULES.iter().find_map(|rule| rule(plan)) {
        Some(Refusal { message, repair }) => Err(Failure::refused_with(message, repair)),
        None => Ok(()),
    }
}

fn save_without_twophase(plan: &Plan) -> Option<Refusal> {
    let save = plan.options.save.filter(|_| plan.por != Por::Twophase)?;
    refusal(format!("--save {} belongs to twophase", save.word()), "add --por twophase, or leave --save out")
}

fn handoff_without_ring(plan: &Plan) -> Option<Refusal> {
    let depth = plan.options.handoff.filter(|_| plan.order != Order::Handoff)?;
    refusal(
        format!("--handoff {depth} belongs to --search handoff"),
        "add --search handoff, or leave --handoff out",
    )
}

fn handoff_of_everything(plan: &Plan) -> Option<Refusal> {
    plan.options.handoff.filter(|&depth| depth == 0)?;
    refusal(
        "--handoff 0 would hand off every state at once",
        "use --handoff 1 or more, or leave it out to let it be chosen",
    )
}

fn channels_empty_without_end_states(plan: &Plan) -> Option<Refusal> {
    let asked = &plan.options.properties;
    let ends = asked.is_empty() || asked.iter().any(|p| p == "safety" || p == "end-state");
    if ends || !plan.options.channels_empty {
        return None;
    }
    refusal(
        "--channels-empty makes the end-state check stricter, and that check is not asked for",
        "add --property end-state, or leave --channels-empty out",
    )
}

/// Lean edges are for searches that expand every state in full, and once.
fn lean_beside_what_expands_in_part(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    options.edges.filter(|&edges| edges == Edges::Lean)?;
    let other = match options.por {
        Some(por) if por != Por::None => format!("--por {}", por.word()),
        _ if options.sleep => "--sleep".into(),
        _ if options.state_cache.is_some() => "--state-cache".into(),
        _ if plan.order == Order::Handoff => "--search handoff".into(),
        _ if plan.doubts.any() => "--check".into(),
        _ => return None,
    };
    refusal(
        format!(
            "--edges lean has no effect beside {other}: it relies on every state being expanded in full, once"
        ),
        format!("leave --edges out, or leave {other} out and add --por none"),
    )
}

/// Where states are lost, every way around them counts.
fn lean_in_a_lossy_store(plan: &Plan) -> Option<Refusal> {
    plan.options.edges.filter(|&edges| edges == Edges::Lean && plan.store.is_lossy())?;
    refusal(
        format!(
            "--edges lean has no effect beside --store {}: a store that may lose states needs all edges",
            plan.store.word()
        ),
        "leave --edges out, or use a store that loses nothing",
    )
}

fn sleep_with_threads(plan: &Plan) -> Option<Refusal> {
    plan.options.threads.filter(|&threads| plan.options.sleep && threads > 1)?;
    refusal(
        "--sleep is for one thread: what sleeps depends on the way to a state",
        "use --threads 1, or leave --sleep out",
    )
}

fn sleep_with_twophase(plan: &Plan) -> Option<Refusal> {
    if !plan.options.sleep || plan.por != Por::Twophase {
        return None;
    }
    refusal(
        "--sleep does not go with --por twophase, which takes single actions in phase 1 and all in phase 2",
        "use --por stubborn, or leave --sleep out",
    )
}

fn sleep_with_proviso(plan: &Plan) -> Option<Refusal> {
    let blind = |proviso: &CycleProviso| matches!(proviso, CycleProviso::Static | CycleProviso::Color);
    let proviso = plan.options.proviso.filter(blind).filter(|_| plan.options.sleep)?;
    refusal(
        format!("--sleep does not go with --proviso {}, which does not know what sleeps", proviso.word()),
        "use --proviso stack, or leave --sleep out",
    )
}

/// The option that needs the stack of one worker and a table of its own.
fn stack_option(plan: &Plan) -> Option<&'static str> {
    match plan.options.sleep {
        true => Some("--sleep"),
        false => plan.options.state_cache.map(|_| "--state-cache"),
    }
}

fn stack_without_depth_first(plan: &Plan) -> Option<Refusal> {
    let option = stack_option(plan).filter(|_| plan.search != Search::Dfs)?;
    refusal(
        format!("{option} needs the stack of a depth-first search"),
        format!("use --search dfs, or leave {option} out"),
    )
}

fn stack_with_another_store(plan: &Plan) -> Option<Refusal> {
    let option = stack_option(plan).filter(|_| plan.store != StoreKind::Table)?;
    refusal(
        format!("{option} keeps states in a table of its own, not in --store {}", plan.store.word()),
        format!("leave --store out, or leave {option} out"),
    )
}

fn automaton_with_threads(plan: &Plan) -> Option<Refusal> {
    plan.options.threads.filter(|&threads| threads > 1 && plan.store == StoreKind::Automaton)?;
    refusal(
        "--store automaton is for one thread: every new state changes nodes that all others share",
        "use --threads 1, or --store cleary, which workers can share",
    )
}

fn stop_at_nothing(plan: &Plan) -> Option<Refusal> {
    let n = plan.options.stop_at?;
    match n {
        0 => refusal(
            "--stop-at 0 would stop before the first violation",
            "use --all-errors to see all of them",
        ),
        _ if plan.options.all_errors => {
            refusal(format!("--stop-at {n} stops, and --all-errors does not"), "leave one of them out")
        }
        _ => None,
    }
}

fn shorten_all_errors(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    let other = match options {
        _ if !options.shorten => return None,
        _ if options.all_errors => "--all-errors",
        _ if options.stop_at.is_some() => "--stop-at",
        _ => return None,
    };
    refusal(
        format!("--shorten looks for one counterexample, and {other} for several"),
        format!("leave {other} out; --all-errors with --search bfs finds a shortest run to each error"),
    )
}

fn stop_at_with_threads(plan: &Plan) -> Option<Refusal> {
    let n = plan.options.stop_at.filter(|_| plan.threads > 1 || plan.order == Order::Handoff)?;
    refusal(
        format!("--stop-at {n} is for one thread: several do not find violations in one order"),
        "use --threads 1, or --all-errors",
    )
}

/// What counts as a switch depends on who could go on, so nothing may be left out of a state.
fn switches_with_what_leaves_out(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    let n = options.max_switches?;
    let other = match options.por {
        Some(por) if por != Por::None => format!("--por {}", por.word()),
        _ if options.sleep => "--sleep".into(),
        _ if options.edges == Some(Edges::Lean) => "--edges lean".into(),
        _ if plan.doubts.any() => "--check".into(),
        _ if plan.engine != Engine::Explicit => format!("--engine {}", plan.engine.word()),
        _ if options.certify.is_some() => "--certify".into(),
        _ if plan.opt.contains(&StaticReduction::Merge) => "--opt merge".into(),
        _ if options.fair.is_some() => "--fair".into(),
        _ => return None,
    };
    refusal(
        format!("--max-switches {n} cannot be used with {other}: every process that could go on counts"),
        format!("leave {other} out"),
    )
}

/// What is written down is a search in order of discovery, in a store that loses nothing.
fn checkpoint_of_what_cannot_go_on(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    let (option, file) = match (&options.resume, &options.checkpoint) {
        (Some(file), _) => ("--resume", file),
        (None, Some(file)) => ("--checkpoint", file),
        (None, None) => return None,
    };
    let search = || format!("--search {}", plan.search.word());
    let (other, why) = match () {
        () if plan.engine != Engine::Explicit => {
            (format!("--engine {}", plan.engine.word()), "its sets of states are not written down")
        }
        () if plan.exec == Exec::Packed => {
            ("--exec packed".into(), "a search of packed states cannot be continued yet")
        }
        () if options.sleep => ("--sleep".into(), "a stack cannot be continued yet"),
        () if options.state_cache.is_some() => ("--state-cache".into(), "a stack cannot be continued yet"),
        () if plan.order == Order::BreadthFirst => {
            (search(), "a search by single steps cannot be continued yet")
        }
        () if plan.order == Order::Handoff || has_stack(plan.order, plan.threads) => {
            (search(), "a stack cannot be continued yet")
        }
        () if options.max_depth.is_some() => {
            ("--max-depth".into(), "a search by single steps cannot be continued yet")
        }
        () if plan.store.is_lossy() => {
            (format!("--store {}", plan.store.word()), "what such a store takes for known is lost")
        }
        () if plan.por == Por::Twophase => {
            ("--por twophase".into(), "what phase 1 stores is not written down")
        }
        () if options.certify.is_some() => ("--certify".into(), "a certificate is about one run"),
        () if options.ranges => ("--ranges".into(), "the values so far are not written down"),
        () if options.profile => ("--profile".into(), "the counts so far are not written down"),
        () if options.max_switches.is_some() => ("--max-switches".into(), "switches are not written down"),
        () if options.suggest_fences => ("--suggest-fences".into(), "that is many checks"),
        () if plan.doubts.any() => ("--check".into(), "what was doubted so far is not written down"),
        () if options.allow_c => {
            ("--allow-c".into(), "what C keeps outside of the states is not written down")
        }
        () => return None,
    };
    refusal(
        format!("{option} {file} cannot be used with {other}: {why}"),
        format!("leave {other} or {option} out"),
    )
}

fn interval_without_checkpoint(plan: &Plan) -> Option<Refusal> {
    plan.options.checkpoint_every.filter(|_| plan.options.checkpoint.is_none())?;
    refusal("--checkpoint-every has nothing to write to", "add --checkpoint FILE, or leave it out")
}

/// What goes to a disk waits first in, first out; a stack, packed states and sets of states are at hand.
fn disk_without_a_queue(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    let folder = options.disk.as_ref()?;
    let stack = "its stack must be at hand";
    let (other, why) = match () {
        () if plan.engine == Engine::Auto => {
            ("--engine auto".to_string(), "sets of states take memory beside the search")
        }
        () if plan.engine != Engine::Explicit => {
            (format!("--engine {}", plan.engine.word()), "it keeps no states that wait")
        }
        () if plan.exec == Exec::Packed => ("--exec packed".into(), "packed states wait in memory"),
        () if options.sleep => ("--sleep".into(), stack),
        () if options.state_cache.is_some() => ("--state-cache".into(), stack),
        () if plan.order == Order::Handoff || has_stack(plan.order, plan.threads) => {
            (format!("--search {}", plan.search.word()), stack)
        }
        () => return None,
    };
    refusal(
        format!("--disk {folder} cannot be used with {other}: {why}"),
        format!("leave {other} or --disk out"),
    )
}

fn too_many_switches(plan: &Plan) -> Option<Refusal> {
    let n = plan.options.max_switches.filter(|&n| n > MOST_SWITCHES)?;
    refusal(
        format!("--max-switches {n} is more than can be counted"),
        format!("use at most {MOST_SWITCHES}; with so many, the search without a bound is smaller"),
    )
}

fn no_threads(plan: &Plan) -> Option<Refusal> {
    plan.options.threads.filter(|&threads| threads == 0)?;
    refusal("--threads 0 leaves nobody to do the work", "use --threads 1")
}

fn too_many_threads(plan: &Plan) -> Option<Refusal> {
    let threads = plan.options.threads.filter(|&threads| threads > MOST_THREADS)?;
    refusal(
        format!("--threads {threads} is more than any machine has use for"),
        format!("use at most --threads {MOST_THREADS}, or leave it out to use every core"),
    )
}

/// What is about store buffers, without any.
fn buffers_without_memory(plan: &Plan) -> Option<Refusal> {
    let options = &plan.options;
    if plan.source.options.memory.is_some() {
        return None;
    }
    let given = match options {
        _ if options.memory_bound.is_some() => "--memory-bound",
        _ if options.memory_split => "--memory-split",
        _ if options.plain.is_some() => "--plain",
        _ if options.suggest_fences => "--suggest-fences",
        _ => return None,
    };
    refusal(format!("{given} is about store buffers, and --memory sc has none"), "add --memory tso or pso")
}

fn all_memories_at_once(plan: &Plan) -> Option<Refusal> {
    plan.options.memory.filter(|&memory| memory == Memory::All)?;
    refusal(
        "--memory all is three checks, which the command `spinor check` makes one after another",
        "give --memory sc, tso or pso",
    )
}

fn fences_in_split_statements(plan: &Plan) -> Option<Refusal> {
    if !plan.options.suggest_fences || !plan.options.memory_split {
        return None;
    }
    refusal(
        "--suggest-fences does not go with --memory-split: there is no place for a fence inside a statement",
        "load shared variables into local ones in the model, and leave --memory-split out",
    )
}

/// Fairness asks for a mark of every process; a nested search knows one.
fn fairness_with_nested_search(plan: &Plan) -> Option<Refusal> {
    let nested = matches!(plan.search, Search::Ndfs | Search::Cndfs | Search::NdfsDual);
    let fair = plan.options.fair.filter(|_| nested)?;
    refusal(
        format!("--search {} cannot be used with --fair {}", plan.search.word(), fair.word()),
        "use --search scc, or leave --search out",
    )
}

fn dual_search_with_threads(plan: &Plan) -> Option<Refusal> {
    plan.options.threads.filter(|&threads| plan.search == Search::NdfsDual && threads != 2)?;
    refusal(
        "--search ndfs-dual is a search by two workers",
        "use --threads 2, or --search cndfs for any number",
    )
}

/// Where a path becomes too long depends on the order, and workers have different ones.
fn depth_limit_with_workers(plan: &Plan) -> Option<Refusal> {
    let alone = match plan.search {
        Search::Cndfs | Search::NdfsDual => Search::Ndfs,
        Search::Ufscc => Search::Scc,
        Search::Handoff => Search::Dfs,
        Search::Auto | Search::Frontier | Search::Dfs | Search::Bfs | Search::Ndfs | Search::Scc => {
            return None;
        }
    };
    plan.options.max_depth?;
    refusal(
        format!(
            "--search {} does not go with --max-depth: what is cut off would depend on timing",
            plan.search.word()
        ),
        format!("use --search {} --threads 1, or leave --max-depth out", alone.word()),
    )
}

fn trust_without_reduction(plan: &Plan) -> Option<Refusal> {
    if !plan.options.trust_xr_xs || matches!(plan.por, Por::Ample | Por::Stubborn) {
        return None;
    }
    refusal(
        "--trust-xr-xs belongs to a reduction that relies on xr and xs",
        "add --por stubborn or --por ample, or leave --trust-xr-xs out",
    )
}

fn stubborn_without_stubborn_sets(plan: &Plan) -> Option<Refusal> {
    let building = plan.options.stubborn.filter(|_| plan.por != Por::Stubborn)?;
    refusal(
        format!("--stubborn {} belongs to --por stubborn", building.word()),
        "add --por stubborn, or leave --stubborn out",
    )
}

fn proviso_without_reduction(plan: &Plan) -> Option<Refusal> {
    let proviso = plan.options.proviso.filter(|_| plan.por == Por::None)?;
    refusal(
        format!("--proviso {} belongs to a partial-order reduction, and there is none", proviso.word()),
        "add --por stubborn, or leave --proviso out",
    )
}

fn proviso_with_twophase(plan: &Plan) -> Option<Refusal> {
    let proviso = plan.options.proviso.filter(|_| !plan.por.chooses_sets())?;
    refusal(
        format!("--proviso {}: twophase needs no proviso", proviso.word()),
        "leave --proviso out, or use --por stubborn",
    )
}

fn proviso_without_stack(plan: &Plan) -> Option<Refusal> {
    let misplaced = match plan.proviso {
        Proviso::Stack => !has_stack(plan.order, plan.threads),
        Proviso::Color => plan.order != Order::DepthFirst || plan.threads != 1,
        Proviso::None | Proviso::ClosedSet => false,
    };
    let proviso = plan.options.proviso.filter(|_| misplaced)?;
    refusal(
        format!("--proviso {} needs the stack of a depth-first search by one worker", proviso.word()),
        "use --search dfs --threads 1, or --proviso closed-set",
    )
}

fn self_check_without_reduction(plan: &Plan) -> Option<Refusal> {
    if !plan.doubts.reduction || plan.por != Por::None {
        return None;
    }
    refusal(
        "--check reduction needs a partial-order reduction to check, and there is none",
        "add --por stubborn, or leave --check reduction out",
    )
}

/// A symbolic search has neither a store of states nor an order in which they are visited.
fn symbolic_with_explicit_options(plan: &Plan) -> Option<Refusal> {
    let why = match plan.engine {
        Engine::Symbolic => "a symbolic search computes with sets of states, not with one after another",
        Engine::Gpu => "a GPU has a store and an order of its own",
        Engine::Explicit | Engine::Auto => return None,
    };
    let on_gpu = plan.engine == Engine::Gpu;
    let options = &plan.options;
    let given = |given: bool, name: &'static str| given.then_some(name);
    let other_search =
        options.search.is_some_and(|search| !matches!(search, Search::Auto | Search::Frontier));
    let option = given(other_search, "--search")
        .or(given(options.por.is_some_and(|por| por != Por::None), "--por"))
        .or(given(options.store.is_some_and(|store| store != StoreKind::Table), "--store"))
        .or(given(options.threads.is_some_and(|threads| threads > 1), "--threads"))
        .or(given(options.sleep, "--sleep"))
        .or(given(options.state_cache.is_some(), "--state-cache"))
        .or(given(options.edges == Some(Edges::Lean), "--edges"))
        .or(given(options.seed.is_some(), "--seed"))
        .or(given(options.stop_at.is_some(), "--stop-at"))
        .or(given(options.shorten, "--shorten"))
        .or(given(options.ranges, "--ranges"))
        .or(given(options.profile, "--profile"))
        .or(given(options.max_depth.is_some(), "--max-depth"))
        .or(given(options.max_states.is_some() && !on_gpu, "--max-states"))
        .or(given(options.max_switches.is_some() && on_gpu, "--max-switches"))
        .or(given(options.channels_empty && on_gpu, "--channels-empty"))
        .or(given(options.certify.is_some() && on_gpu, "--certify"))
        .or(given(options.memory.is_some_and(|m| m != Memory::Sc) && on_gpu, "--memory"))
        .or(given(plan.doubts.any() && on_gpu, "--check"))?;
    refusal(
        format!("{option} is for explicit search: {why}"),
        format!("leave {option} out, or use --engine explicit"),
    )
}

/// Packed states have a search of their own, which has one order, one store and no reduction.
fn packed_with_others(plan: &Plan) -> Option<Refusal> {
    if plan.exec != Exec::Packed {
        return None;
    }
    let options = &plan.options;
    let given = |given: bool, name: &'static str| given.then_some(name);
    let other_search =
        options.search.is_some_and(|search| !matches!(search, Search::Auto | Search::Frontier));
    let option = given(plan.engine != Engine::Explicit, "--engine")
        .or(given(other_search, "--search"))
        .or(given(options.por.is_some_and(|por| por != Por::None), "--por"))
        .or(given(options.store.is_some_and(|store| store != StoreKind::Table), "--store"))
        .or(given(options.sleep, "--sleep"))
        .or(given(options.state_cache.is_some(), "--state-cache"))
        .or(given(options.edges == Some(Edges::Lean), "--edges"))
        .or(given(options.seed.is_some(), "--seed"))
        .or(given(options.stop_at.is_some(), "--stop-at"))
        .or(given(options.shorten, "--shorten"))
        .or(given(options.ranges, "--ranges"))
        .or(given(options.profile, "--profile"))
        .or(given(options.max_depth.is_some(), "--max-depth"))
        .or(given(options.max_switches.is_some(), "--max-switches"))
        .or(given(options.channels_empty, "--channels-empty"))
        .or(given(options.certify.is_some(), "--certify"))
        .or(given(options.memory.is_some_and(|memory| memory != Memory::Sc), "--memory"))
        .or(given(plan.doubts.any(), "--check"))?;
    refusal(
        format!("{option} does not go with --exec packed, which has a search of its own"),
        format!("leave {option} out, or use --exec jit"),
    )
}

fn symbolic_options_without_symbolic(plan: &Plan) -> Option<Refusal> {
    let option = match &plan.options {
        _ if matches!(plan.engine, Engine::Symbolic | Engine::Auto) => return None,
        options if options.order.is_some() => "--order",
        options if options.reorder.is_some() => "--reorder",
        _ => return None,
    };
    refusal(
        format!("{option} is for the symbolic engine"),
        format!("add --engine symbolic, or leave {option} out"),
    )
}

/// A certificate has every state of the program as it is written, so that the reference machine alone can
/// confirm it.
fn certificate_of_a_part(plan: &Plan) -> Option<Refusal> {
    plan.options.certify.as_ref()?;
    let options = &plan.options;
    let (other, why) = match options.por {
        _ if plan.engine != Engine::Explicit => {
            (format!("--engine {}", plan.engine.word()), "only an explicit search has states to write down")
        }
        Some(por) if por != Por::None => {
            (format!("--por {}", por.word()), "what a reduction leaves out cannot be certified yet")
        }
        _ if options.sleep => ("--sleep".into(), "what sleep sets leave out cannot be certified yet"),
        _ if options.state_cache.is_some() => {
            ("--state-cache".into(), "it forgets states, and a certificate has all of them")
        }
        _ if plan.store.is_lossy() => {
            (format!("--store {}", plan.store.word()), "a lossy store proves nothing")
        }
        _ if !plan.opt.is_empty() => {
            ("--opt".into(), "the audit knows the program as it is written, without static reductions")
        }
        _ => return None,
    };
    refusal(format!("--certify cannot be used with {other}: {why}"), format!("leave {other} out"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{CheckOptions, Source};

    fn planned(words: &str) -> Result<Plan, Failure> {
        let source = Source { path: "model.pml".to_string(), ..Source::default() };
        Plan::new(&CheckOptions { source, ..CheckOptions::of_words(words.split_whitespace())? })
    }

    fn message(words: &str) -> String {
        match planned(words) {
            Err(Failure::Refused { message, repair }) => {
                assert!(repair.is_some(), "{message} has no repair");
                message
            }
            other => panic!("{words} is not refused: {other:?}"),
        }
    }

    /// One request for every rule, in the order of the rules.
    const REFUSED: &[(&str, &str)] = &[
        ("--cluster 0", "--cluster 0 leaves nobody"),
        ("--cluster 2 --search bfs", "--cluster 2 cannot be used with --search bfs"),
        ("--cluster 2 --ranges", "--cluster 2 cannot be used with --ranges"),
        ("--peer-timeout 5", "--peer-timeout is about processes of a cluster"),
        ("--save all", "--save all belongs to twophase"),
        ("--handoff 10", "--handoff 10 belongs to --search handoff"),
        ("--search handoff --handoff 0", "every state at once"),
        ("--channels-empty --property assertion", "--channels-empty"),
        ("--edges lean --por stubborn", "--edges lean has no effect beside --por stubborn"),
        ("--edges lean --store bitstate", "--edges lean has no effect beside --store bitstate"),
        ("--sleep --threads 2", "one thread"),
        ("--sleep --por twophase", "--por twophase"),
        ("--sleep --por stubborn --search dfs --proviso color", "what sleeps"),
        ("--state-cache 10 --search bfs", "--state-cache needs the stack of a depth-first search"),
        ("--sleep --store tree", "a table of its own, not in --store tree"),
        ("--store automaton --threads 2", "--store automaton is for one thread"),
        ("--stop-at 0", "--stop-at 0 would stop before"),
        ("--shorten --all-errors", "--shorten looks for one counterexample"),
        ("--stop-at 2 --threads 2", "--stop-at 2 is for one thread"),
        ("--max-switches 1 --por stubborn", "--max-switches 1 cannot be used with --por stubborn"),
        ("--max-switches 60000", "--max-switches 60000 is more than can be counted"),
        ("--threads 0", "--threads 0"),
        ("--threads 100000", "any machine"),
        ("--search ndfs --fair weak", "--search ndfs cannot be used with --fair weak"),
        ("--search ndfs-dual --threads 3", "two workers"),
        ("--search handoff --max-depth 9", "depend on timing"),
        ("--trust-xr-xs", "relies on xr and xs"),
        ("--stubborn deletion", "--stubborn deletion belongs to --por stubborn"),
        ("--por none --search dfs --proviso stack", "there is none"),
        ("--por twophase --proviso stack", "no proviso"),
        ("--por ample --search frontier --proviso color", "needs the stack"),
        ("--por none --check reduction", "there is none"),
        ("--engine symbolic --max-states 9", "--max-states is for explicit search"),
        ("--reorder force", "--reorder is for the symbolic engine"),
        ("--exec packed --por stubborn", "--por does not go with --exec packed"),
        ("--certify c --por stubborn", "--certify cannot be used with --por stubborn"),
        ("--checkpoint c --search bfs", "--checkpoint c cannot be used with --search bfs"),
        ("--checkpoint-every 1", "--checkpoint-every has nothing to write to"),
        ("--disk d --search handoff", "--disk d cannot be used with --search handoff"),
        ("--memory-bound 3", "--memory-bound is about store buffers"),
        ("--memory all", "--memory all is three checks"),
        ("--memory tso --suggest-fences --memory-split", "--suggest-fences does not go with --memory-split"),
    ];

    #[test]
    fn every_rule_has_its_case() {
        assert_eq!(REFUSED.len(), RULES.len());
        for ((words, why), rule) in REFUSED.iter().zip(RULES) {
            let text = message(words);
            assert!(text.contains(why), "{words}: {text}");
            let source = Source { path: "model.pml".to_string(), ..Source::default() };
            let options = CheckOptions { source, ..CheckOptions::of_words(words.split(' ')).unwrap() };
            assert!(rule(&Plan::derived(&options)).is_some_and(|refusal| refusal.message == text), "{words}");
        }
    }

    #[test]
    fn relatives_are_refused_too() {
        for (words, why) in [
            ("--certify c --sleep", "--certify cannot be used with --sleep"),
            ("--certify c --state-cache 9", "--certify cannot be used with --state-cache"),
            ("--certify c --store bitstate", "--certify cannot be used with --store bitstate"),
            ("--certify c --opt merge", "--certify cannot be used with --opt"),
            ("--certify c --engine auto", "--certify cannot be used with --engine auto"),
            ("--resume c --search bfs", "--resume c cannot be used with --search bfs"),
            ("--resume c --store bitstate", "cannot be used with --store bitstate"),
            ("--checkpoint c --search dfs --threads 1", "cannot be used with --search dfs"),
            ("--checkpoint c --search handoff", "cannot be used with --search handoff"),
            ("--checkpoint c --sleep", "cannot be used with --sleep"),
            ("--checkpoint c --por twophase", "cannot be used with --por twophase"),
            ("--checkpoint c --engine symbolic", "cannot be used with --engine symbolic"),
            ("--checkpoint c --max-depth 9", "cannot be used with --max-depth"),
            ("--checkpoint c --certify d", "cannot be used with --certify"),
            ("--checkpoint c --ranges", "cannot be used with --ranges"),
            ("--checkpoint c --exec packed", "cannot be used with --exec packed"),
            ("--disk d --search dfs --threads 1", "--disk d cannot be used with --search dfs"),
            ("--disk d --sleep", "--disk d cannot be used with --sleep"),
            ("--disk d --state-cache 9", "--disk d cannot be used with --state-cache"),
            ("--disk d --engine symbolic", "--disk d cannot be used with --engine symbolic"),
            ("--disk d --engine auto", "--disk d cannot be used with --engine auto"),
            ("--disk d --exec packed", "--disk d cannot be used with --exec packed"),
            ("--exec packed --search dfs", "--search does not go with --exec packed"),
            ("--exec packed --engine symbolic", "--engine does not go with --exec packed"),
            ("--exec packed --memory tso", "--memory does not go with --exec packed"),
            ("--sleep --search bfs", "depth-first"),
            ("--state-cache 10 --store tree", "a table of its own"),
            ("--search cndfs --fair weak", "--search cndfs cannot be used with --fair weak"),
            ("--search ndfs-dual --fair weak", "--search ndfs-dual cannot be used with --fair weak"),
            ("--search cndfs --max-depth 9", "depend on timing"),
            ("--por stubborn --search bfs --proviso stack", "depth-first"),
            ("--por stubborn --search dfs --proviso stack --threads 2", "one worker"),
        ] {
            assert!(message(words).contains(why), "{words}: {}", message(words));
        }
        let lean = ["--por twophase", "--sleep", "--state-cache 10 --por none", "--check facts --por none"];
        for words in lean.into_iter().chain(["--search handoff --threads 2 --por none"]) {
            assert!(message(&format!("{words} --edges lean")).contains("--edges lean has no effect beside"));
            planned(&format!("{words} --edges all")).unwrap();
        }
    }
}
