//! Trails: what replay prints is its own finding, a trail that no longer fits says which statement, and long
//! ones stay small.

mod common;

use common::{CommandOutput, Scratch};
use serde_json::{Value, json};

const ASSERTION: &str =
    "byte x;\nactive proctype p() {\n  x = 1;\n  assert(x == 2)\n}\nactive proctype q() { x < 9 }\n";
const LASSO: &str = "bool b, c;\nactive proctype p() { do :: b = !b od }\nactive proctype q() { c = 1 }\nltl live { <> (b && c) }\n";
const PROGRESS: &str = "bool b;\nactive proctype p() { do :: b = !b od }\n";

/// A model with a trail, and the trail.
fn checked(model: &str, words: &[&str]) -> (Scratch, Value) {
    let scratch = Scratch::with(model);
    assert_eq!(scratch.check(words).0.status, Some(1));
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
    let trail = serde_json::from_str(&scratch.read("m.pml.trail.json")).unwrap();
    (scratch, trail)
}

/// The replay of a trail in which one place has another value.
fn forged(scratch: &Scratch, trail: &Value, place: &str, value: Value) -> CommandOutput {
    let mut trail = trail.clone();
    *trail.pointer_mut(place).unwrap() = value;
    scratch.write("forged.json", &trail.to_string());
    scratch.run(&["replay", "forged.json"])
}

#[test]
fn a_forged_violation_is_refused() {
    let (safety, safe) = checked(ASSERTION, &[]);
    let (lasso, live) = checked(LASSO, &[]);
    let (progress, endless) = checked(PROGRESS, &["--property", "progress"]);
    for (scratch, trail) in [(&safety, &safe), (&lasso, &live), (&progress, &endless)] {
        let forgeries = [
            ("/violation/message", json!("the moon is made of cheese")),
            ("/violation/kind", json!("end-state")),
            ("/violation/kind", json!("invariant")),
            ("/violation/line", json!(77)),
            ("/violation/column", json!(77)),
            ("/violation/process", json!("nobody")),
            ("/violation/pid", json!(9)),
            ("/cycle", json!(1_000_000)),
            ("/fair", json!("extreme")),
            ("/format", json!(99)),
            ("/property", json!("end-state")),
            ("/property", json!("trace")),
            ("/property", json!("ltl:nothing")),
        ];
        for (place, value) in forgeries {
            let run = forged(scratch, trail, place, value.clone());
            assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{place} {value}: {}", run.stderr);
        }
    }
    // An assertion has no cycle, and a property of runs is not safety.
    assert_eq!(forged(&safety, &safe, "/cycle", json!(0)).status, Some(2));
    assert_eq!(forged(&lasso, &live, "/property", json!("safety")).status, Some(2));
    assert_eq!(forged(&lasso, &live, "/property", json!("accept")).status, Some(2));
    assert_eq!(forged(&lasso, &live, "/property", json!("progress")).status, Some(2));
    assert_eq!(forged(&progress, &endless, "/cycle", Value::Null).status, Some(2));
    // A run that leaves a process waiting is not fair.
    let fair = forged(&lasso, &live, "/fair", json!("weak"));
    assert_eq!(fair.status, Some(2));
    assert!(fair.stderr.contains("not fair"), "{}", fair.stderr);
}

#[test]
fn what_a_trail_says_and_nobody_checks_is_not_printed() {
    let (scratch, mut trail) = checked(LASSO, &[]);
    let honest = scratch.run(&["replay", "m.pml.trail.json"]).stdout;
    for (name, value) in
        [("version", json!("evil")), ("tool", json!("evil")), ("model_absolute", json!("/evil"))]
    {
        trail[name] = value;
    }
    trail["violation"]["file"] = json!("evil");
    for step in trail["steps"].as_array_mut().unwrap() {
        for name in ["text", "process", "file"] {
            step[name] = json!("evil");
        }
    }
    scratch.write("forged.json", &trail.to_string());
    for format in ["text", "json", "itf", "msc"] {
        let run = scratch.run(&["replay", "forged.json", "--format", format]);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        assert!(!run.stdout.contains("evil"), "{format}: {}", run.stdout);
    }
    assert_eq!(scratch.run(&["replay", "forged.json"]).stdout, honest);
}

#[test]
fn a_trail_that_no_longer_fits_names_the_statement() {
    let (scratch, _) = checked(ASSERTION, &["--search", "bfs"]);
    scratch.write("m.pml", &ASSERTION.replace("  x = 1;\n", "  (x > 0);\n"));
    let run = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(run.status, Some(2));
    for part in ["step 1 of 2, `x = 1` of p[0] at m.pml:3, is not possible", "`x < 9` of q[1] at m.pml:6 is"]
    {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    // The same numbers mean other statements.
    scratch.write("m.pml", &ASSERTION.replace("x = 1", "x = 2"));
    let run = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(run.status, Some(2));
    let other = "step 1 was `x = 1` of p[0] at m.pml:3 when the trail was written, and is `x = 2` of p[0] at m.pml:3 now";
    assert!(run.stderr.contains(other), "{}", run.stderr);
    // What only moved still replays, and is told where it is.
    scratch.write("m.pml", &format!("\n\n{ASSERTION}"));
    let run = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("m.pml:6:3") && run.stderr.contains("has changed"), "{}", run.stdout);
}

#[test]
fn long_counterexamples_are_packed_and_replay() {
    let scratch = Scratch::with(
        "int x;\nactive proctype p() { do :: x < 60000 -> x++ :: else -> break od; assert(x == 0) }\n",
    );
    for search in ["dfs", "frontier", "bfs"] {
        let (run, report) = scratch.check(&["--search", search]);
        assert_eq!(run.status, Some(1), "{search}");
        assert_eq!(report["properties"][0]["violations"][0]["depth"], 120_002, "{search}");
        let trail = scratch.read("m.pml.trail.json");
        assert!(trail.len() < 5000, "{search}: {}", trail.len());
        let run = scratch.run(&["replay", "m.pml.trail.json"]);
        assert_eq!(run.status, Some(0), "{search}: {}", run.stderr);
        assert!(run.stdout.contains("119802 steps are not told here") && run.stdout.lines().count() < 300);
    }
    let run = scratch.run(&["replay", "m.pml.trail.json", "--steps", "60001..60002", "--format", "json"]);
    let replayed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(replayed["steps"][1]["changes"][0]["after"], 30_001);
    let last = scratch.run(&["replay", "m.pml.trail.json", "--last", "1"]);
    assert!(last.stdout.contains("120002 m.pml:2  assert(x == 0)"), "{}", last.stdout);
}

#[test]
fn long_lassos_are_packed_and_replay() {
    let scratch = Scratch::with(
        "int x;\nactive proctype p() { do :: x < 60000 -> x++ :: x == 60000 -> x = 0 od }\nltl live { <> (x < 0) }\n",
    );
    for search in ["ndfs", "scc"] {
        let (run, report) = scratch.check(&["--property", "ltl:live", "--search", search]);
        assert_eq!(run.status, Some(1), "{search}: {}", run.stderr);
        let violation = &report["properties"][0]["violations"][0];
        assert!(violation["depth"].as_u64().unwrap() >= 120_002, "{search}: {violation}");
        assert!(scratch.read("m.pml.trail.json").len() < 5000, "{search}");
        let run = scratch.run(&["replay", "m.pml.trail.json"]);
        assert_eq!(run.status, Some(0), "{search}: {}", run.stderr);
    }
}
