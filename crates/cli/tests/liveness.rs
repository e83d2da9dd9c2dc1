//! Properties of whole runs on small models: what real Spin says (`pan -a`, `pan -a -f`, without reduction)
//! where Spin is right, from every search, machine and static reduction; every counterexample replays.

mod common;

use common::Scratch;

/// Model, property, verdict, verdict under weak fairness.
const CASES: &[(&str, &str, &str, &str)] = &[
    // A loop that can go on alone forever.
    ("byte x, b; active proctype p() { x = 1 } active proctype q() { do :: b = 1 - b od } ltl f { <> (x == 1) }", "ltl:f", "violated", "holds"),
    // A rendezvous that is always possible must happen.
    ("chan c = [0] of { bit }; byte x, b; active proctype p() { c!1; x = 1 } active proctype r() { c?_ }
      active proctype q() { do :: b = 1 - b od } ltl f { <> (x == 1) }", "ltl:f", "violated", "holds"),
    // Receiving is moving.
    ("chan c = [0] of { bit }; bool x; active proctype p() { do :: c?0 :: x = 1; break od } active proctype q() { do :: c!0 od }
      ltl f { <> x }", "ltl:f", "violated", "violated"),
    // Sending is moving.
    ("chan c = [0] of { bit }; bool x; active proctype p() { do :: c?0 od } active proctype q() { do :: c!0 :: x = 1; break od }
      ltl f { <> x }", "ltl:f", "violated", "violated"),
    // The claim does not see the states inside an atomic sequence.
    ("bool x; active proctype p() { do :: atomic { x = 1; x = 0 } od } ltl f { [] !x }", "ltl:f", "holds", "holds"),
    ("bool x; active proctype p() { do :: atomic { x = 1; x = 0 } od } ltl f { []<> x }", "ltl:f", "violated", "violated"),
    // A run that ends is prolonged.
    ("byte x; active proctype p() { x = 1; x == 2 } ltl f { []<> (x == 2) }", "ltl:f", "violated", "violated"),
    ("byte x; active proctype p() { x = 1; x == 2 } ltl f { <>[] (x == 1) }", "ltl:f", "holds", "holds"),
    ("byte x; active proctype p() { x = 1 } ltl f { X (x == 1) }", "ltl:f", "holds", "holds"),
    ("byte x; active proctype p() { x = 1 } ltl f { X X X (x == 0) }", "ltl:f", "violated", "violated"),
    // Labels and variables of others.
    ("active proctype p() { byte z; L: z = 1; z == 1; M: z = 2 } ltl f { p@L U (p:z == 1) }", "ltl:f", "holds", "holds"),
    ("active proctype p() { byte z; do :: z = 1 - z od } ltl f { []<> (p:z == 1) && []<> (p:z == 0) }", "ltl:f", "holds", "holds"),
    // Never claims: an end, an acceptance cycle, a claim that gives up, an assertion in one.
    ("byte x; active proctype p() { x = 1; x = 2 } never { do :: x == 2 -> break :: else od }", "never", "violated", "violated"),
    ("byte x; active proctype p() { x = 1; x = 2 } never { accept: do :: x != 2 od }", "never", "holds", "holds"),
    ("byte x; active proctype p() { x = 1 } never { do :: true :: x == 1 -> break od; accept: do :: x == 1 od }", "never", "violated", "violated"),
    ("byte x; active proctype p() { x = 1; x = 2 } never { do :: assert(x < 2) od }", "never", "violated", "violated"),
    ("byte x; active proctype p() { x = 1; timeout -> x = 2; x == 3 } never { do :: true :: timeout && x == 1 -> break od }", "never", "violated", "violated"),
    ("byte x; active proctype p() { x = 1; timeout -> x = 2; x == 3 } never { do :: true :: timeout && x == 0 -> break od }", "never", "holds", "holds"),
    ("byte x; active proctype p() { x = 1; x = 2 } never { { do :: true od } unless { x == 2 -> skip } }", "never", "violated", "violated"),
    ("byte x; active proctype p() { x = 1; x = 2 } never { { do :: x < 2 :: x == 1 -> break od } unless { x == 1 -> false } }", "never", "holds", "holds"),
    ("byte x; active proctype p() { do :: x = 1 - x od } never { S: if :: d_step { x == 2 -> x == 3 } -> goto S :: else -> goto accept fi; accept: goto S }", "never", "violated", "violated"),
    // Claims that change variables: they count, wake others up, hold them back, end while the last state is
    // repeated, give up inside atomic.
    ("byte x, n; active proctype p() { do :: x = 1 - x od } never { do :: n < 5 -> n++ :: n == 5 && x == 1 -> break od }", "never", "holds", "holds"),
    ("byte x, n; active proctype p() { x = 1 } never { do :: n < 20 -> n++ :: else -> break od }", "never", "violated", "violated"),
    ("byte x, n; active proctype p() { x == 7; x = 8 }
      never { do :: n < 3 -> n++ :: n == 3 -> x = 7; n = 4 :: n == 4 && x == 8 -> break :: n == 4 && x != 8 od }", "never", "violated", "violated"),
    ("byte x, y; active proctype p() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
      never { do :: x == 2 -> y = !y; accept: skip :: x != 2 od }", "never", "violated", "violated"),
    ("byte x, y; active proctype p() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
      never { do :: d_step { x == 2 -> y++; assert(y < 4) } :: x != 2 od }", "never", "violated", "violated"),
    ("byte x, y; active proctype p() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
      never { do :: atomic { x == 2 -> y++; y == 4 -> break } :: x != 2 od }", "never", "holds", "holds"),
    ("byte x, y, b; active proctype p() { do :: b = 1 - b od } active proctype q() { y == 1; x = 5 }
      never { accept: do :: d_step { x != 5 -> y = 1 } od }", "never", "violated", "holds"),
    ("byte i, x; active proctype p() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
      never { do :: select(i : 1 .. 3); x == i -> assert(x != 3) :: x >= 0 od }", "never", "violated", "violated"),
    ("byte x; active proctype p() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od } never { { do :: x = 0 od } unless { x == 1 -> skip } }", "never", "violated", "violated"),
    ("byte x, y; active proctype p() { timeout -> x = 1 } active proctype q() { y == 1 -> y = 0 }
      never { do :: y = 1 :: y == 0 && x == 1 -> break :: x == 1 od }", "never", "holds", "holds"),
    // Products of claims: what each of them finds wrong. The first two pairs are each wrong alone.
    ("byte x; active proctype p() { do :: x = 1 :: x = 0 od }
      never a { S: do :: true :: x == 1 -> goto accept od; accept: goto S }
      never b { S: do :: true :: x == 0 -> goto accept od; accept: goto S }", "never:a+b", "violated", "violated"),
    ("byte x; active proctype p() { do :: x = 1 :: x = 0 od }
      never a { S: do :: true :: x == 1 -> goto accept od; accept: goto S }
      never b { do :: true :: x == 0 -> break od; accept: do :: x == 0 od }", "never:a+b", "holds", "holds"),
    ("byte x; active proctype p() { x = 1; x = 2 }
      never a { do :: atomic { x == 1 -> break } :: else od } never b { do :: x == 2 -> break :: else od }
      never c { accept: do :: x <= 2 od }", "never:a+b+c", "violated", "violated"),
    ("byte x; active proctype p() { if :: x = 1 :: x = 2 fi }
      never a { do :: x == 1 -> break :: else od } never b { do :: x == 2 -> break :: else od }", "never:a+b", "holds", "holds"),
    ("byte x; active proctype p() { do :: x = 1 - x od } active proctype q() { x = 5; x = 0 }
      never a { do :: x == 5 -> break :: true od } never b { accept: do :: x < 9 od }", "never:b+a", "violated", "violated"),
    // Errors of the model are not the claim's.
    ("byte x; active proctype p() { assert(x == 1); x = 1; x = 0 } ltl f { [] (x < 2) }", "ltl:f", "holds", "holds"),
    // Labels.
    ("byte x; active proctype p() { do :: x = 1 - x; accept: skip od }", "accept", "violated", "violated"),
    ("byte x; active proctype p() { do :: x = 1 - x; accept: skip :: break od; x = 3 }
      active proctype q() { x == 3; do :: skip od }", "accept", "violated", "violated"),
    ("byte x; active proctype p() { accept: x = 1 } active proctype q() { byte b; do :: b = 1 - b od }", "accept", "violated", "holds"),
    ("active proctype p() { skip; accept: false }", "accept", "violated", "violated"),
    ("byte x; active proctype p() { do :: x = 1; x = 0 :: x = 2; progress: x = 0 od }", "progress", "violated", "violated"),
    ("byte x; active proctype p() { do :: x = 1; progress: x = 0 od }", "progress", "holds", "holds"),
    ("byte x; active proctype p() { do :: x = 1; progress: x = 0 od } active proctype q() { byte b; do :: b = 1 - b od }", "progress", "violated", "holds"),
    ("byte x; active proctype p() { x = 1; x == 2 }", "progress", "holds", "holds"),
];

#[test]
fn verdicts_are_those_of_spin_whatever_the_search() {
    let ways: [&[&str]; 5] = [
        &[],
        &["--search", "scc", "--exec", "interp"],
        &["--search", "ndfs", "--opt", "none"],
        &["--search", "dfs", "--threads", "1"],
        &["--search", "bfs", "--all-errors"],
    ];
    for (model, property, plain, fair) in CASES {
        let scratch = Scratch::with(model);
        for way in ways {
            for (options, expected) in [(&[][..], plain), (&["--fair", "weak"], fair)] {
                if way.contains(&"ndfs") && !options.is_empty() {
                    continue;
                }
                let (run, report) = scratch.check(&[&["--property", *property], way, options].concat());
                let found = &report["properties"][0]["verdict"];
                assert_eq!(found, expected, "{property} {way:?} {options:?} {model}\n{}", run.stderr);
                if *expected == "violated" {
                    let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
                    assert_eq!(replayed.status, Some(0), "{property} {way:?} {model}\n{}", replayed.stderr);
                }
            }
        }
    }
}

/// Model, verdict under weak fairness, under strong fairness. The property is `ltl:f`.
const STRONG: &[(&str, &str, &str)] = &[
    // Starvation at a semaphore: the other may take it each time it is free.
    ("bool free = true; active [2] proctype user() { do :: atomic { free -> free = false }; in: free = true od }
      ltl f { []<> user[0]@in }", "violated", "holds"),
    // The same with a token in a channel.
    ("chan c = [1] of { bit }; byte got[2]; active [2] proctype user() { bit t; do :: c?t; got[_pid] = 1; got[_pid] = 0; c!t od }
      init { c!1 } ltl f { []<> (got[0] == 1) && []<> (got[1] == 1) }", "violated", "holds"),
    // Fairness is about processes, not about the options of one.
    ("byte x; active proctype p() { do :: x = 1; x = 0 :: x = 2; x = 0 od } ltl f { []<> (x == 2) }", "violated", "violated"),
    // A process that can move only when another rests: the other may never rest.
    ("byte x, y; active proctype p() { do :: x = 1; x = 0 od } active proctype q() { do :: atomic { x == 0 -> y = 1 - y } od }
      ltl f { []<> (y == 1) }", "violated", "holds"),
    // Two components: in the one behind the door q cannot move at all.
    ("byte x, y; active proctype p() { do :: x = 1 - x :: x = 2; break od; do :: x = 5 - x od }
      active proctype q() { do :: x == 0 -> y = 1 - y od } ltl f { []<> (y == 1) }", "violated", "violated"),
    // A run that ends is fair.
    ("byte x; active proctype p() { x = 1 } ltl f { <> (x == 2) }", "violated", "violated"),
    // The end of a claim.
    ("byte x; active proctype p() { x = 1; x = 2 } ltl f { [] (x < 2) }", "violated", "violated"),
];

#[test]
fn strong_fairness_asks_more_than_weak() {
    for (model, weak, strong) in STRONG {
        let scratch = Scratch::with(model);
        for (fair, expected) in [("weak", weak), ("strong", strong)] {
            for way in [&[][..], &["--search", "scc", "--exec", "interp"], &["--opt", "none", "--all-errors"]]
            {
                let (run, report) = scratch.check(&[&["--property", "ltl:f", "--fair", fair], way].concat());
                let found = &report["properties"][0];
                assert_eq!(found["verdict"], *expected, "{fair} {way:?} {model}\n{}", run.stderr);
                assert_eq!(found["fair"], fair);
                if *expected == "violated" {
                    let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
                    assert_eq!(replayed.status, Some(0), "{fair} {way:?} {model}\n{}", replayed.stderr);
                }
            }
        }
    }
}

#[test]
fn a_claim_that_acts_is_told_and_its_steps_are_shown() {
    let scratch = Scratch::with(
        "byte x, n; active proctype p() { do :: x = 1 - x od }
         never { do :: n < 2 -> n++ :: n == 2 && x == 0 -> break od }",
    );
    let run = scratch.run(&["check", "m.pml", "--property", "never"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("W0703") && run.stderr.contains("m.pml:2:"), "{}", run.stderr);
    let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
    assert!(replayed.stdout.contains("n++") && replayed.stdout.contains("never_0\n"), "{}", replayed.stdout);
    for format in ["json", "itf", "msc"] {
        assert_eq!(
            scratch.run(&["replay", "m.pml.trail.json", "--format", format]).status,
            Some(0),
            "{format}"
        );
    }
    let trail: serde_json::Value =
        serde_json::from_str(&scratch.run(&["replay", "m.pml.trail.json", "--format", "json"]).stdout)
            .unwrap();
    assert!(trail["steps"][0]["pid"].is_null() && trail["steps"][1]["pid"] == 0);
    let scratch = Scratch::with(
        "byte x; proctype q() { x = 2 } active proctype p() { x = 1 } never { do :: x = 3 :: run q() -> break od }",
    );
    let refused = scratch.run(&["check", "m.pml", "--property", "never"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("starts a process"), "{}", refused.stderr);
}

#[test]
fn a_run_that_a_claim_finds_wrong_in_two_ways_is_confirmed() {
    // The claim may end at once, or go round an accepting state: the run found for the one also shows the
    // other.
    let scratch = Scratch::with(
        "byte x; chan q = [1] of { bit }; chan r = [1] of { bit };
         active proctype a() { L: skip } active proctype c() { x = 1; M: skip }
         ltl f { ([] ! (a[0]@L) W (! (x == 0) V ! (len(r) == 1))) -> ! (! (len(q) == 1) W ! (c[1]@M)) }",
    );
    for way in [&[][..], &["--search", "scc"], &["--search", "ndfs"]] {
        let (run, report) = scratch.check(&[&["--property", "ltl:f"], way].concat());
        assert_eq!(report["properties"][0]["verdict"], "violated", "{way:?}\n{}", run.stderr);
    }
}

#[test]
fn a_replay_shows_the_cycle() {
    let scratch =
        Scratch::with("byte x; active proctype p() { x = 1; do :: x = 3 - x od } ltl f { <>[] (x == 1) }");
    scratch.check(&[]);
    let text = scratch.run(&["replay", "m.pml.trail.json"]).stdout;
    assert!(text.contains("from here on forever, 2 steps again and again:"), "{text}");
    let chart = scratch.run(&["replay", "m.pml.trail.json", "--format", "msc"]).stdout;
    let at = |text: &str| chart.find(text).unwrap_or_else(|| panic!("no {text:?} in {chart}"));
    assert!(at("x = 1") < at("from here on forever"), "{chart}");
    assert!(
        at("from here on forever") < at("x = 3 - x") && at("x = 3 - x") < at("and again from the line above"),
        "{chart}"
    );
    scratch.run(&["replay", "m.pml.trail.json", "--msc", "chart.svg"]);
    let svg = scratch.read("chart.svg");
    assert!(svg.contains("↻ from here on forever") && svg.contains("↻ and again"), "{svg}");
    let informal = scratch.run(&["replay", "m.pml.trail.json", "--format", "itf"]).stdout;
    assert!(informal.contains("\"loop\": 2"), "{informal}");
    let scratch = Scratch::with("byte x; active proctype p() { x = 1 } ltl f { <> (x == 2) }");
    let (_, report) = scratch.check(&[]);
    assert_eq!(report["properties"][1]["violations"][0]["kind"], "accept-cycle");
    for format in ["text", "msc"] {
        let text = scratch.run(&["replay", "m.pml.trail.json", "--format", format]).stdout;
        assert!(text.contains("nothing can move: this state lasts forever"), "{text}");
    }
}

#[test]
fn fairness_is_suggested_where_it_would_help() {
    let model = "byte x, b; active proctype p() { x = 1 } active proctype q() { do :: b = 1 - b od } ltl f { <> (x == 1) }";
    let scratch = Scratch::with(model);
    let (_, report) = scratch.check(&[]);
    assert_eq!(report["properties"][1]["holds_under_weak_fairness"], true);
    let text = scratch.run(&["check", "m.pml"]).stdout;
    assert!(text.contains("spinor check m.pml --fair weak"), "{text}");
}

#[test]
fn what_belongs_to_safety_is_refused_for_whole_runs_alone() {
    let scratch = Scratch::with(
        "byte x; active proctype p() { do :: x = 1 - x od } ltl f { []<> (x == 1) } ltl g { [] (x < 2) }",
    );
    let run = |words: &[&str]| scratch.run(&[&["check", "m.pml"], words].concat());
    for option in [&["--sleep"][..], &["--state-cache", "10"]] {
        let refused = run(&[&["--property", "ltl:f"], option].concat());
        assert_eq!(refused.status, Some(2), "{option:?}");
        let words = [&format!("{} is for safety", option[0]), "add --property safety"];
        assert!(words.iter().all(|words| refused.stderr.contains(*words)), "{}", refused.stderr);
        let with_safety = ["--property", "ltl:f", "--property", "safety"];
        assert_eq!(run(&[&with_safety, option].concat()).status, Some(0), "{option:?}");
    }
    // What is wrong about the second shows after finitely many steps: a cache will do.
    assert_eq!(run(&["--property", "ltl:g", "--state-cache", "10"]).status, Some(0));
    assert_eq!(run(&["--property", "ltl:g", "--sleep"]).status, Some(2));
}
