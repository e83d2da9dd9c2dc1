//! The end of memory: whatever the machine gives, the command ends with a report that names the limit. What
//! happens when single requests are refused is the matter of `refused_requests.rs`.

mod common;

use common::{CommandOutput, Scratch};
use serde_json::Value;
use std::process::Command;

/// A model of a few dozen states.
const MODEL: &str = "mtype = { a, b }; chan c = [1] of { mtype }; byte x;\n\
    active proctype p() { do :: x < 3 -> atomic { x++; if :: c!a :: c!b fi } :: x == 3 -> break od }\n\
    active proctype q() { end: do :: c?_ od }\n";

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
