//! The end of memory: whatever is refused, and whenever, the command ends with a report or at least a
//! message, by an exit status and not by a signal, and no verdict changes but to "unknown".
//!
//! As SQLite's tests do, the n-th request for memory is refused, or that one and all that follow, for n over
//! a whole run of every search and store (`SPINOR_FAIL_ALLOCATION`, see `allocator.rs`). Here a sample of the
//! requests is taken; `tests/faults/allocations` takes all.

mod common;

use common::{CommandOutput, Scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model of a few dozen states, with an assertion that holds if `GOOD`, an atomic sequence that branches,
/// and a formula.
const MODEL: &str = "#ifndef GOOD\n#define GOOD 1\n#endif\n\
    mtype = { a, b }; chan c = [1] of { mtype }; byte x; bool done;\n\
    active proctype p() { do :: x < 3 -> atomic { x++; if :: c!a :: c!b fi } :: x == 3 -> break od; done = true }\n\
    active proctype q() { end: do :: c?_ -> assert(GOOD || x < 3) od }\n\
    ltl live { <> (done == GOOD) }\n";

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

/// How many requests there were; the command says so where it was told which to refuse.
fn requests(run: &CommandOutput) -> usize {
    let line = run.stderr.lines().last().unwrap_or_default();
    line.strip_suffix(" requests for memory")
        .and_then(|number| number.parse().ok())
        .expect("a number of requests")
}

/// What is wrong with how a run ended, of which the verdict is known.
fn objection(ended: &Ended, whole: &str) -> Option<String> {
    let said = !ended.run.stderr.lines().all(|line| line.ends_with(" requests for memory"));
    let expected = match ended.verdict.as_deref() {
        Some("holds") => (0, "holds"),
        Some("violated") => (1, "violated"),
        Some("unknown") => (3, whole),
        Some(_) => return Some("an odd verdict".to_string()),
        // Nothing could be reported.
        None if said => (4, whole),
        None => return Some("neither a report nor a message".to_string()),
    };
    match (ended.run.status, expected) {
        (None, _) => Some("a signal".to_string()),
        (Some(status), expected) if (status, whole) == expected => None,
        (Some(status), _) => Some(format!("status {status}, verdict {:?}, not {whole}", ended.verdict)),
    }
}

/// Refuses requests of one configuration, `runs` at most, evenly over the whole run. Counts how the runs end.
fn attack(options: &str, which: usize, runs: usize, counts: &Mutex<BTreeMap<String, usize>>) {
    let scratch = Scratch::with(MODEL);
    let whole = check(&scratch, options, "0");
    let verdict = whole.verdict.expect("a report");
    let total = requests(&whole.run);
    let step = total.div_ceil(runs).max(1);
    for number in (1 + which % step..=total).step_by(step) {
        for all in ["", "+"] {
            let refused = format!("{number}{all}");
            let ended = check(&scratch, options, &refused);
            if let Some(objection) = objection(&ended, &verdict) {
                panic!(
                    "{options}, request {refused}: {objection}\n{}\n{}",
                    ended.run.stdout, ended.run.stderr
                );
            }
            let how = format!("status {}{all}", ended.run.status.unwrap_or(-1));
            *counts.lock().unwrap().entry(how).or_default() += 1;
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "the figures of the campaign")]
fn refused_requests_change_no_verdict() {
    if !cfg!(all(unix, debug_assertions)) {
        return;
    }
    // Every request, or a few of each configuration.
    let runs = match std::env::var("SPINOR_FAULTS").as_deref() {
        Ok("all") => usize::MAX,
        Ok(number) => number.parse().expect("a number"),
        Err(_) => 3,
    };
    let (all, next, counts) = (configurations(), AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((which, options)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, all.get(at)?)))
                {
                    attack(options, 7 * which, runs, &counts);
                }
            });
        }
    });
    println!(
        "{} configurations; + is for that request and all later ones: {:?}",
        all.len(),
        counts.lock().unwrap()
    );
}

/// Runs a line of the shell in a directory; `$SPINOR` is the command.
fn shell(scratch: &Scratch, line: &str) -> CommandOutput {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(&scratch.0).env("SPINOR", env!("CARGO_BIN_EXE_spinor"));
    CommandOutput::of(command.output().unwrap())
}

/// More states than there is memory for, in each of several shapes: many of them, long paths, and long atomic
/// sequences.
const ENDLESS: &str = "int a; int b; int c; active proctype p() { do :: a++ :: b++ :: c++ :: a + b + c < 0 od }\n\
    ltl live { []<> (a < 10) }\n";

/// However few addresses the process may have, there is a report, and it names the limit.
#[test]
fn a_limit_on_addresses_is_named() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let scratch = Scratch::with(ENDLESS);
    let safety = ORDERS
        .iter()
        .zip(STORES.iter().cycle())
        .map(|(order, store)| format!("{order} --store {store} --property safety"));
    let cycles = [
        "ndfs --threads 1",
        "scc --threads 1",
        "cndfs --threads 2",
        "ufscc --threads 2",
        "ndfs-dual --threads 2",
    ];
    let cycles = cycles.iter().map(|search| format!("--property ltl:live --search {search}"));
    for (at, options) in safety.chain(cycles).enumerate() {
        // 120 to 142 MB: a few seconds' worth of states.
        let limit = 120_000 + 2_000 * at;
        let line =
            format!("ulimit -v {limit}; exec $SPINOR check m.pml --format json --timeout 30 {options}");
        let run = shell(&scratch, &line);
        assert_eq!(run.status, Some(3), "{line}: {}", run.stderr);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let note = report["properties"][0]["note"].as_str().unwrap();
        // Compact stores may need longer to fill what there is.
        let compact = !options.contains("table") && !options.contains("ltl");
        let named = note.starts_with("memory ran out (the address-space limit, ulimit -v, is ");
        assert!(named || compact, "{line}: {note}");
    }
}

#[test]
fn without_threads_the_check_runs_here() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let scratch = Scratch::with(MODEL);
    // Addresses for the program, but not for the stack of a thread.
    let limits = (20..80).map(|size| 1000 * size);
    let told = limits.map(|limit| {
        shell(&scratch, &format!("ulimit -v {limit}; exec $SPINOR check m.pml --property safety"))
    });
    let told: Vec<CommandOutput> = told.filter(|run| run.stderr.contains("W0708")).collect();
    assert!(!told.is_empty());
    for run in told {
        assert!(run.stderr.contains("the check runs on the main thread"), "{}", run.stderr);
        assert!(matches!(run.status, Some(0 | 3 | 4)), "{:?}: {}", run.status, run.stderr);
    }
}

/// A bit array is sized beside what the process takes itself, so that the memory is used for states and not
/// only for the array.
#[test]
fn a_bit_array_uses_what_it_is_given() {
    let scratch = Scratch::with("active [4] proctype p() { byte x; end: do :: x < 21 -> x++ od }");
    let states = 22 * 22 * 22 * 22;
    let bitstate = |memory: &str| {
        let (run, report) = scratch.check(&[
            "--store",
            "bitstate",
            "--por",
            "none",
            "--threads",
            "1",
            "--max-memory",
            memory,
        ]);
        assert_eq!(run.status, Some(3), "{}", run.stderr);
        let property = &report["properties"][0];
        (
            property["states"].as_u64().unwrap(),
            property["omission_probability"].as_f64(),
            property["note"].clone(),
        )
    };
    let (found, omission, note) = bitstate("64M");
    assert!(found > states / 100 * 99, "{found} of {states} states: {note}");
    assert!(omission.is_some());
    // Too little for the process itself: that is told, and that nothing was omitted so far.
    let (_, omission, note) = bitstate("1M");
    assert_eq!(
        (omission, note.as_str()),
        (Some(0.0), Some("memory ran out (the limit is 1.0 MB, --max-memory)"))
    );
}

/// Who asks for fewer edges with a store that may lose states is told that he gets all.
#[test]
fn a_lossy_store_follows_all_edges() {
    let scratch = Scratch::with(MODEL);
    for store in ["hc", "bitstate"] {
        let refused = scratch.run(&["check", "m.pml", "--store", store, "--edges", "lean"]);
        assert_eq!(refused.status, Some(2));
        assert!(refused.stderr.contains("needs all edges"), "{}", refused.stderr);
    }
}

/// The chance that states were lost is told, too, where a budget ended the search.
#[test]
fn omissions_are_told_of_unfinished_searches() {
    let scratch = Scratch::with(ENDLESS);
    for store in ["hc", "bitstate"] {
        for budget in
            [["--max-states", "5000"], ["--timeout", "0.2"], ["--max-memory", "32M"], ["--max-depth", "50"]]
        {
            for threads in ["1", "2"] {
                let options = ["--store", store, "--threads", threads, "--property", "safety"];
                let (run, report) = scratch.check(&[&options, &budget[..]].concat());
                assert_eq!(run.status, Some(3), "{}", run.stderr);
                let probability = report["properties"][0]["omission_probability"].as_f64();
                assert!(
                    probability.is_some_and(|p| (0.0..=1.0).contains(&p)),
                    "{store} {budget:?}: {probability:?}"
                );
            }
        }
    }
}
