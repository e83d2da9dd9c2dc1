//! The report of `check` as people read it: verdict, evidence, numbers, what never happens, what to do next.

mod common;

use common::Scratch;
use serde_json::Value;

/// The report of `spinor check m.pml` with more words, and its exit status.
fn report(model: &str, words: &[&str]) -> (Option<i32>, String) {
    let run = Scratch::with(model).run(&[&["check", "m.pml"], words].concat());
    (run.status, run.stdout)
}

/// The lines of a text between one that is `from` and the next empty one.
fn section<'a>(text: &'a str, from: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| *line != from).skip(1).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn what_holds_is_said_in_one_sentence() {
    let (status, text) =
        report("byte x; active proctype p() { do :: x < 5 -> x++; assert(x < 9) :: else -> break od }", &[]);
    assert_eq!(status, Some(0));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "m.pml: holds");
    assert_eq!(
        lines[1],
        "  safety holds: no assertion fails, no deadlock and no run-time error in any of the 18 reachable states"
    );
    assert_eq!(lines[3], "  states                  18");
    assert!(!text.contains("never executed") && !text.contains("hint"), "{text}");
    let (_, quiet) = report("active proctype p() { skip }", &["-q"]);
    assert_eq!(quiet.lines().count(), 2, "{quiet}");
}

#[test]
fn a_model_that_states_nothing_is_told_so() {
    let (_, text) = report("active proctype p() { skip }", &[]);
    assert!(
        text.contains("  safety holds: no deadlock and no run-time error in any of the 3 reachable states\n"),
        "{text}"
    );
    assert!(text.contains("hint: the model has no assertion"), "{text}");
}

#[test]
fn a_violation_is_shown_with_its_line() {
    let (status, text) = report("byte x;\nactive proctype p() {\n  x = 1;\n\tassert(x == 2);\n}\n", &[]);
    assert_eq!(status, Some(1));
    let expected = "m.pml: violated
  safety is violated: assertion `x == 2` fails at m.pml:4 in p[0]

assertion violated: x == 2
  --> m.pml:4:2, p[0]
  4 |  assert(x == 2);
    |  ^^^^^^^^^^^^^^

  p[0]
       1 m.pml:3  x = 1                               x: 0 → 1
       2 m.pml:4  assert(x == 2)
          assertion violated: x == 2

  after 2 steps; see them with: spinor replay m.pml.trail.json
";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_deadlock_lists_who_is_stuck() {
    let model =
        "chan q = [0] of { byte };\nactive [2] proctype p() { q!1 }\nactive proctype r() { do :: q?2 od }\n";
    let (status, text) = report(model, &[]);
    assert_eq!(status, Some(1));
    assert!(text.contains("deadlock: 3 processes are stuck, the first at m.pml:2 in p[0]\n"), "{text}");
    for line in [
        "  p[0] at m.pml:2: `q!1`, nobody is ready to receive 1 from channel q\n",
        "  p[1] at m.pml:2: `q!1`, nobody is ready to receive 1 from channel q\n",
        "  r[2] at m.pml:3: `q?2`, nobody is ready to send 2 to channel q\n",
        "  already at the beginning; see it with: spinor replay m.pml.trail.json\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn a_server_that_waits_is_a_reason_for_a_hint() {
    let server = "chan q = [1] of { byte };\nactive proctype server() { byte x; do :: q?x -> skip od }\nactive proctype c() { q!1 }\n";
    let (_, text) = report(server, &[]);
    assert!(text.contains("hint: if server may wait at m.pml:2 forever"), "{text}");
    let labelled = server.replace("do ::", "end: do ::");
    let (status, text) = report(&labelled, &[]);
    assert_eq!((status, text.contains("hint: if server")), (Some(0), false), "{text}");
    let middle = "chan q = [1] of { byte };\nactive proctype server() { byte x; do :: x = 0; q?x od }\n";
    let (status, text) = report(middle, &[]);
    assert_eq!((status, text.contains("hint: if server")), (Some(1), false), "{text}");
}

#[test]
fn budgets_that_run_out_come_with_the_next_command() {
    let endless = "int a; int b; active proctype p() { do :: a++ :: b++ :: a + b < 0 od }";
    let (status, text) = report(endless, &["-DN=2", "--max-states", "1000", "--all-errors"]);
    assert_eq!(status, Some(3));
    let sentence = "  safety: unknown - the search stopped at --max-states 1000; no violation in the 1,000 states explored\n";
    assert!(text.contains(sentence), "{text}");
    assert!(
        text.contains("leave --max-states out:\n      spinor check m.pml -DN=2 --all-errors\n"),
        "{text}"
    );
    let (_, text) = report(endless, &["--max-depth", "200", "--search", "dfs"]);
    assert!(text.contains("paths were cut off after 200 steps (--max-depth 200)"), "{text}");
    assert!(text.contains("      spinor check m.pml --search dfs --max-depth 2000\n"), "{text}");
}

#[test]
fn properties_of_whole_runs_are_told_of() {
    let model = "byte x; active proctype p() { x = 1 }\nltl small { [] (x < 2) }\nltl zero { [] (x == 0) }";
    let (status, text) = report(model, &[]);
    assert_eq!(status, Some(1));
    assert!(text.contains("  ltl:small holds: every run satisfies it (3 states explored)\n"), "{text}");
    let broken = "  ltl:zero is violated: `[] (x == 0)` fails: no continuation can repair it at m.pml:3\n";
    assert!(text.contains(broken), "{text}");
}

#[test]
fn a_long_counterexample_can_be_shortened() {
    let model = "byte x; active proctype p() { do :: x < 200 -> x++ :: assert(x != 30) od }";
    let (_, text) = report(model, &[]);
    assert!(
        text.contains("hint: to find a shortest counterexample:\n      spinor check m.pml --search bfs\n"),
        "{text}"
    );
}

/// A reduced search tells every place that fails, and says what it has counted.
#[test]
fn all_errors_are_told_by_a_reduced_search() {
    let model = "active proctype p() { byte a; a = 1; a = 2; assert(a == 1) }
active proctype q() { byte b; b = 1; b = 2; assert(b == 1) }
active proctype r() { false }";
    let (_, text) = report(model, &["--all-errors", "--threads", "1"]);
    assert!(text.contains("(3 violations in the states that were enough)"), "{text}");
    let (_, all) = report(model, &["--all-errors", "--threads", "1", "--por", "none"]);
    assert!(all.contains("(5 violations in all)"), "{all}");
    for place in ["m.pml:1:45, p[0]", "m.pml:2:45, q[1]", "m.pml:3:23, r[2]"] {
        assert!(text.contains(place) && all.contains(place), "{place}: {text}{all}");
    }
}

const DEAD_CODE: &str = "byte x;
proctype unused() { x = 1 }
active proctype p() {
  if
  :: x == 7 -> x = 1
  :: else -> x = 2
  fi;
  x = 3
}
active proctype q() {
  false;
  x = 4;
  x = 5;
  x = 6
}
";

#[test]
fn unreached_statements_are_listed_after_an_exhaustive_search() {
    let (_, text) = report(&DEAD_CODE.replace("false", "end: false"), &[]);
    assert_eq!(
        section(&text, "never executed"),
        [
            "  m.pml:2: unused: no such process is ever started",
            "  p: 2 of 5 statements",
            "    m.pml:5: x == 7",
            "    m.pml:5: x = 1",
            "  q: 4 of 4 statements",
            "    m.pml:11-14: 4 statements, from `false` to `x = 6`",
        ],
        "{text}"
    );
    let (_, stopped) = report(DEAD_CODE, &[]);
    assert!(stopped.contains("is violated") && !stopped.contains("never executed"), "{stopped}");
    let (_, all) = report(DEAD_CODE, &["--all-errors"]);
    assert!(all.contains("is violated") && all.contains("never executed"), "{all}");
}

#[test]
fn unreached_statements_as_json() {
    let scratch = Scratch::with(DEAD_CODE);
    let (_, report) = scratch.check(&["--all-errors"]);
    let unreached = report["properties"][0]["unreached"].as_array().unwrap();
    let places: Vec<(&str, u64)> =
        unreached.iter().map(|u| (u["process"].as_str().unwrap(), u["line"].as_u64().unwrap())).collect();
    assert_eq!(places, [("unused", 2), ("p", 5), ("p", 5), ("q", 11), ("q", 12), ("q", 13), ("q", 14)]);
    assert_eq!((&unreached[1]["file"], &unreached[1]["column"]), (&"m.pml".into(), &6.into()));
    assert_eq!(unreached[1]["text"], "x == 7");
    let (_, cut) = scratch.check(&["--max-states", "2"]);
    assert_eq!(cut["properties"][0].get("unreached"), None::<&Value>);
}

#[test]
fn vacuous_properties_are_named() {
    let model = |formula: &str| {
        format!("byte x, n; bool done;\nactive proctype p() {{ x = 1; done = true }}\nltl l {{ {formula} }}")
    };
    let (status, text) = report(&model("[] (x == 2 -> <> done)"), &[]);
    assert_eq!(status, Some(0));
    let expected = "but vacuously: `[] (x == 2 -> false)` holds as well, so `<> done` does not matter\n";
    assert!(text.contains(expected), "{text}");
    // Comparisons that are numbered as their opposites are shown as they were written.
    let (_, text) = report(&model("[] (x != 1 && x > 1 -> X done)"), &[]);
    assert!(text.contains("but vacuously: `[] (((x != 1) && (x > 1)) -> false)` holds"), "{text}");
    for needed in ["[] (x == 1 -> <> done)", "[] (x < 2)", "<> done"] {
        let (status, text) = report(&model(needed), &[]);
        assert!(status == Some(0) && !text.contains("vacuous"), "{needed}: {text}");
    }
    let (_, json) = report(&model("[] (x == 2 -> <> done)"), &["--property", "ltl:l", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["properties"][0]["vacuous"]["irrelevant"], "<> done");
}

#[test]
fn what_is_not_decided_is_told_in_few_words_too() {
    let run =
        Scratch::new().run(&["memory", "--system", "tso", "--rule", "rowo2", "--max-states", "10", "-q"]);
    assert_eq!(run.status, Some(3), "{}", run.stderr);
    assert!(
        run.stdout.contains("rowo2      unknown") && run.stdout.contains("--max-states 10"),
        "{}",
        run.stdout
    );
}

#[test]
fn litmus_tests_of_few_words_say_what_shows() {
    let scratch = Scratch::new();
    let run = scratch.run(&["memory", "--system", "tso", "--litmus", "SB,MP", "-q"]);
    let shows =
        |name: &str, how: &str| run.stdout.lines().any(|line| line.contains(name) && line.contains(how));
    assert!(shows("SB ", " reached") && shows("MP ", "not reached"), "{}", run.stdout);
    // A special file takes all trails, and none of them can be replayed from there.
    let run = scratch.run(&[
        "memory",
        "--system",
        "mesi_lost",
        "--rule",
        "rowo2,pos",
        "--trail",
        "/dev/null",
        "-q",
    ]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("pos violated") && !run.stdout.contains("spinor replay"), "{}", run.stdout);
}
