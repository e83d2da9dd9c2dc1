//! Requests for memory that are refused: whichever it is, the command ends with a report or at least a
//! message that says so, by an exit status and not by a signal, and no verdict changes but to "unknown".
//!
//! As SQLite's tests do, the n-th request is refused, or that one and all that follow
//! (`SPINOR_FAIL_ALLOCATION`, see `allocator.rs`), in a small run of every search, store and reduction. Here
//! a few n of each are taken; `tests/faults/allocations` takes all ([`Extent`]).

mod common;

use common::{CommandOutput, Scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model of a few states, with an assertion that holds if `GOOD`, and an atomic sequence that branches.
const STATES: &str = "chan c = [1] of { bit }; bit x;\n\
    active proctype p() { atomic { x = 1; if :: c!0 :: c!1 fi } }\n\
    active proctype q() { c?_ -> assert(GOOD) }\n";

/// One with cycles, and with a formula that holds if `GOOD`.
const CYCLES: &str = "chan c = [1] of { bit }; bit x;\n\
    active proctype p() { end: do :: atomic { x = 1 - x; if :: c!0 :: c!1 fi } od }\n\
    active proctype q() { end: do :: c?_ od }\n\
    ltl live { []<> (x == 2 - GOOD) }\n";

/// Searches for errors of states, as options.
const ORDERS: [&str; 7] = [
    "--search frontier --threads 1",
    "--search dfs --threads 1",
    "--search bfs --threads 1",
    "--search frontier --threads 2 --alone 0",
    "--search dfs --threads 2 --alone 0",
    "--search bfs --threads 2 --alone 0",
    "--search handoff --threads 2",
];
const STORES: [&str; 6] = ["table", "tree", "cleary", "collapse", "hc", "bitstate"];

/// Everything else that explores.
const OTHERS: [&str; 22] = [
    "--property safety --threads 1 --exec interp",
    "--property safety --threads 1 --all-errors",
    "--property safety --threads 1 --por stubborn",
    "--property safety --threads 1 --por ample --search dfs",
    "--property safety --threads 1 --por twophase",
    "--property safety --threads 1 --sleep --search dfs",
    "--property safety --threads 1 --state-cache 5 --search dfs",
    "--property ltl:live --threads 1",
    "--property ltl:live --search ndfs --threads 1",
    "--property ltl:live --search ndfs --threads 1 --store tree",
    "--property ltl:live --search ndfs --threads 1 --store hc",
    "--property ltl:live --search scc --threads 1",
    "--property ltl:live --search scc --threads 1 --store collapse",
    "--property ltl:live --search cndfs --threads 2 --alone 0 --store cleary",
    "--property ltl:live --search ufscc --threads 2 --alone 0 --store tree",
    "--property ltl:live --fair strong --threads 1 --store cleary",
    "--property ltl:live --search cndfs --threads 2 --alone 0",
    "--property ltl:live --search ufscc --threads 2 --alone 0",
    "--property ltl:live --search ndfs-dual --threads 2",
    "--property ltl:live --fair weak --threads 2 --alone 0",
    "--property ltl:live --fair strong --threads 1",
    "--property progress --threads 1",
];

/// All configurations, for a model that is right and for one that is wrong.
fn configurations() -> Vec<String> {
    let safety = ORDERS.iter().flat_map(|order| {
        STORES.iter().map(move |store| format!("--property safety --max-memory 64M --store {store} {order}"))
    });
    let all = safety.chain(OTHERS.iter().map(|options| (*options).to_string()));
    all.flat_map(|options| [format!("{options} -DGOOD=1"), format!("{options} -DGOOD=0")]).collect()
}

/// Configurations of which every request is refused in a campaign, not only those of the search: what reads
/// and compiles a model does not depend on the search. With machine code, with the interpreter, and for whole
/// runs; each for a model that is right and for one that is wrong, which makes a trail.
const WHOLE: [&str; 3] = [
    "--property safety --max-memory 64M --store table --search frontier --threads 1 ",
    "--property safety --threads 1 --exec interp ",
    "--property ltl:live --threads 1 ",
];

/// Which requests of a run are refused, one after another.
#[derive(Clone, Copy, Debug)]
enum Extent {
    /// This number of them, evenly over the whole run.
    Sample(usize),
    /// All of the whole run for the configurations of [`WHOLE`]; for others all from the moment at which the
    /// search begins to the end of the run.
    Every,
}

impl Extent {
    /// From `SPINOR_FAULTS`: `all` or a number; a few where nothing is said.
    fn from_environment() -> Extent {
        match std::env::var("SPINOR_FAULTS").as_deref() {
            Ok("all") => Extent::Every,
            Ok(number) => Extent::Sample(number.parse().expect("a number of requests, or all")),
            Err(_) => Extent::Sample(3),
        }
    }

    /// The numbers of the requests, for the configuration with a number.
    fn requests(self, number: usize, options: &str, counted: &Counted) -> Vec<usize> {
        match self {
            Extent::Sample(runs) => {
                let step = counted.all.div_ceil(runs).max(1);
                (1 + 7 * number % step..=counted.all).step_by(step).collect()
            }
            Extent::Every if WHOLE.iter().any(|whole| options.starts_with(whole)) => {
                (1..=counted.all).collect()
            }
            Extent::Every => (counted.before + 1..=counted.all).collect(),
        }
    }
}

/// Which configurations: `SPINOR_FAULTS_ONLY=FROM..TO`, or all.
fn chosen(n: usize) -> Range<usize> {
    let Ok(range) = std::env::var("SPINOR_FAULTS_ONLY") else { return 0..n };
    let (from, to) = range.split_once("..").expect("FROM..TO");
    from.parse().expect("a number")..to.parse::<usize>().expect("a number").min(n)
}

/// How the command ended, and with which verdict.
struct Ended {
    run: CommandOutput,
    verdict: Option<String>,
}

fn check(scratch: &Scratch, options: &str, refused: &str) -> Ended {
    let words: Vec<&str> =
        ["check", "m.pml", "--format", "json"].into_iter().chain(options.split(' ')).collect();
    let mut command = scratch.command(&words);
    let run = CommandOutput::of(command.env("SPINOR_FAIL_ALLOCATION", refused).output().unwrap());
    let report: Option<Value> = serde_json::from_str(&run.stdout).ok();
    let verdict = report.and_then(|report| report["verdict"].as_str().map(str::to_string));
    Ended { run, verdict }
}

/// How many requests a run makes.
struct Counted {
    /// At least this number before the search begins.
    before: usize,
    /// At most this number in all.
    all: usize,
}

impl Counted {
    /// The command says it where it was told which to refuse.
    fn of(run: &CommandOutput) -> Counted {
        let line = run.stderr.lines().last().unwrap_or_default();
        let numbers = line.strip_suffix(" requests for memory").and_then(|line| {
            let (before, all) = line.split_once(" before the search, ")?;
            Some(Counted { before: before.parse().ok()?, all: all.parse().ok()? })
        });
        numbers.unwrap_or_else(|| panic!("no number of requests: {}", run.stderr))
    }

    /// Several workers, and seeds of hash tables, make the numbers vary a little.
    fn over(runs: &[Ended]) -> Counted {
        let each: Vec<Counted> = runs.iter().map(|ended| Counted::of(&ended.run)).collect();
        Counted {
            before: each.iter().map(|counted| counted.before).min().unwrap_or(0),
            all: each.iter().map(|counted| counted.all).max().unwrap_or(0),
        }
    }
}

/// What is wrong with how a run ended, of which the verdict is known.
fn objection(ended: &Ended, whole: &str) -> Option<String> {
    let Some(status) = ended.run.status else { return Some("a signal".to_string()) };
    let expected = match ended.verdict.as_deref() {
        Some("holds") => (0, "holds"),
        Some("violated") => (1, "violated"),
        Some("unknown") => (3, whole),
        Some(_) => return Some("an odd verdict".to_string()),
        // Nothing could be reported, and that must be what is said: a panic is no answer.
        None if ended.run.stderr.contains("memory ran out") => (4, whole),
        None => return Some(format!("status {status}, neither a report nor a message")),
    };
    ((status, whole) != expected)
        .then(|| format!("status {status}, verdict {:?}, not {whole}", ended.verdict))
}

/// How many runs ended with which status.
type Tally = BTreeMap<String, usize>;

/// Refuses requests of one configuration. Returns what the runs came to, and what is to be objected to.
fn attack(number: usize, options: &str, extent: Extent) -> (Tally, Vec<String>) {
    let (mut tally, mut objections) = (Tally::new(), Vec::new());
    let scratch = Scratch::with(if options.contains("safety") { STATES } else { CYCLES });
    let whole: Vec<Ended> = (0..3).map(|_| check(&scratch, options, "0")).collect();
    let Some(verdict) = whole[0].verdict.clone() else {
        return (tally, vec![format!("{options}: no report: {}", whole[0].run.stderr)]);
    };
    for request in extent.requests(number, options, &Counted::over(&whole)) {
        for all in ["", "+"] {
            let ended = check(&scratch, options, &format!("{request}{all}"));
            if let Some(objection) = objection(&ended, &verdict) {
                let CommandOutput { stdout, stderr, .. } = &ended.run;
                objections
                    .push(format!("{options}, request {request}{all}: {objection}\n{stdout}\n{stderr}"));
            }
            *tally.entry(format!("{}{all}", ended.run.status.unwrap_or(-1))).or_default() += 1;
        }
    }
    (tally, objections)
}

#[test]
#[allow(clippy::print_stdout, reason = "the figures of the campaign")]
fn refused_requests_change_no_verdict() {
    if !cfg!(all(unix, any(debug_assertions, feature = "faults"))) {
        return;
    }
    let (all, extent) = (configurations(), Extent::from_environment());
    let Range { start, end } = chosen(all.len());
    let (next, results) = (AtomicUsize::new(start), Mutex::new((Tally::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < end) {
                    let (tally, objections) = attack(number, &all[number], extent);
                    let mut results = results.lock().unwrap();
                    println!("{number} {}: {tally:?}, {} objections", all[number], objections.len());
                    for (how, count) in tally {
                        *results.0.entry(how).or_default() += count;
                    }
                    results.1.extend(objections);
                }
            });
        }
    });
    let (tally, objections) = results.into_inner().unwrap();
    println!("configurations {start}..{end}, runs by status (+: all later requests refused too): {tally:?}");
    let shown = objections.iter().take(10).fold(String::new(), |mut text, objection| {
        let _ = writeln!(text, "{objection}");
        text
    });
    assert!(objections.is_empty(), "{} objections:\n{shown}", objections.len());
}
