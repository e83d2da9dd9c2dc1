//! `--engine symbolic` and `auto`: verdicts and counts as of explicit search, counterexamples that are
//! replayed, exact counts of any length, refusals with a repair.

mod common;

use common::Scratch;
use serde_json::Value;

/// Assertions, deadlocks, run-time errors, atomic sequences that branch, rendezvous, late processes that end
/// again, `timeout`, hidden variables.
const MODELS: [&str; 7] = [
    "byte x; active [2] proctype p() { byte t; t = x; x = t + 1; assert(x == t + 1) }",
    "chan a = [1] of { byte }; chan b = [1] of { byte };\n\
     active proctype p() { byte v; a?v; b!v } active proctype q() { byte v; b?v; a!v }",
    "byte a[3], i; active proctype p() { do :: i < 4 -> a[i] = i; i++ od }",
    "byte x; chan c = [0] of { byte };\n\
     active proctype p() { byte n; do :: n < 3 -> atomic { n++; if :: x = n :: x = 0 fi; c!n } :: else -> break od }\n\
     active proctype q() { byte m; end: do :: c?m -> assert(m < 3) od }",
    "byte n; proctype w(byte id) { n = n + id }\n\
     init { byte i; do :: i < 3 -> run w(i); i++ :: else -> break od; (_nr_pr == 1) -> run w(9); assert(n != 12) }",
    "byte x; active proctype p() { do :: x < 2 -> x++ :: timeout -> break od; assert(x < 2) }\n\
     active proctype q() { x == 2; x = 1 }",
    "hidden byte h; byte x; active proctype p() { do :: x < 5 -> h = x; x++ :: x == 5 -> break od; assert(h > 9) }",
];

fn property(report: &Value) -> &Value {
    &report["properties"][0]
}

/// What both engines must agree on: the verdict, the number of states and violations, and their kinds.
fn told(report: &Value) -> (String, Value, Value, Vec<String>) {
    let of = property(report);
    let violations = of["violations"].as_array().unwrap().iter();
    let mut kinds: Vec<String> = violations.map(|v| v["kind"].as_str().unwrap().to_string()).collect();
    kinds.sort();
    kinds.dedup();
    (of["verdict"].to_string(), of["states"].clone(), of["errors"].clone(), kinds)
}

#[test]
fn both_engines_agree() {
    for model in MODELS {
        let scratch = Scratch::with(model);
        let common = ["--property", "safety", "--opt", "none", "--por", "none", "--all-errors"];
        let with = |engine: &str| {
            let words: Vec<&str> = common.iter().copied().chain(["--engine", engine]).collect();
            let (run, report) = scratch.check(&words);
            assert!(!report.is_null(), "{model}: {}", run.stderr);
            assert_eq!(report["config"]["engine"], engine, "{model}");
            (run.status, told(&report))
        };
        assert_eq!(with("symbolic"), with("explicit"), "{model}");
        for order in
            [["--order", "chain"], ["--reorder", "none"], ["--reorder", "sloan"], ["--check", "facts"]]
        {
            let words: Vec<&str> =
                common.iter().copied().chain(["--engine", "symbolic"]).chain(order).collect();
            let (run, report) = scratch.check(&words);
            assert_eq!((run.status, told(&report)), with("explicit"), "{model}: {order:?}");
        }
    }
}

#[test]
fn counterexamples_are_replayed() {
    for model in MODELS {
        let scratch = Scratch::with(model);
        let (run, report) = scratch.check(&["--property", "safety", "--engine", "symbolic"]);
        assert_eq!(run.status, Some(1), "{model}: {}", run.stderr);
        assert!(!property(&report)["violations"].as_array().unwrap().is_empty());
        let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
        assert_eq!(replayed.status, Some(0), "{model}: {}", replayed.stderr);
    }
}

/// Workers that are started with other values each time: groups that rest on the first ones are made anew before any step
/// is taken from the others, also where several such starts are met before that.
#[test]
fn starts_are_believed_until_another_is_met() {
    let scratch = Scratch::with(
        r#"int c[3]; int sum; int a[1];
init { int i; for (i : 0 .. 0) { int v; select(v : 0 .. 2); a[i] = v } run owner() }
proctype owner() {
	chan joined = [3] of { pid };
	pid started[3];
	int i;
	for (i : 0 .. 2) { started[i] = run worker(i, joined) }
	printf("all have begun\n");
	int best = -1;
	int most = -1;
	for (i : 0 .. 2) { if :: c[i] > most fi }
	for (i : 0 .. 2) { sum = sum + c[i] }
}
proctype worker(int value; chan out) {
	int n = 0;
	int i;
	for (i : 0 .. 0) { if :: a[i] == value -> n = n + 1 :: else -> skip fi }
	c[value] = n
}
"#,
    );
    let count = |more: &[&str]| {
        let common = ["--property", "safety", "--all-errors", "--opt", "deadvars,fold", "--por", "none"];
        let (run, report) = scratch.check(&[&common[..], more].concat());
        assert_eq!(run.status, Some(0), "{more:?}: {}", run.stderr);
        property(&report)["states"].clone()
    };
    assert_eq!(count(&["--engine", "symbolic"]), count(&["--engine", "explicit"]));
}

/// More states than a number of 64 bits can say.
#[test]
fn states_are_counted_exactly() {
    let scratch = Scratch::with(
        "#define N 45\nbyte fork[N]; byte meals[N];\n\
         active [N] proctype p() { do :: atomic { fork[_pid] == 0 -> fork[_pid] = 1 };\n\
         meals[_pid] = 1 - meals[_pid]; fork[_pid] = 0 od }",
    );
    let (run, report) = scratch.check(&["--property", "safety", "--engine", "symbolic"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    // Each process has six states of its own.
    let states = property(&report)["states"].as_str().expect("a string").to_string();
    assert_eq!(states, (0..45).fold(1u128, |n, _| n * 6).to_string());
    assert!(property(&report)["transitions"].is_null());
    let text = scratch.run(&["check", "m.pml", "--property", "safety", "--engine", "symbolic"]).stdout;
    assert!(text.contains("in any of the 1.03 × 10^35 reachable states"), "{text}");
}

#[test]
fn the_first_answer_counts() {
    let scratch = Scratch::with(MODELS[1]);
    let (run, report) = scratch.check(&["--property", "safety", "--engine", "auto"]);
    assert_eq!(run.status, Some(1));
    assert!(["explicit", "symbolic"].contains(&report["config"]["engine"].as_str().unwrap()));
    // More states than any explicit search finishes.
    let many =
        "byte x[12]; active [12] proctype p() { do :: x[_pid] < 200 -> x[_pid]++ :: else -> x[_pid] = 0 od }";
    let (run, report) = Scratch::with(many).check(&["--engine", "auto", "--max-memory", "300M"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(report["config"]["engine"], "symbolic");
}

/// Formulas, never claims, accept labels and progress; runs that end, fairness that matters, claims that
/// remember, generalised acceptance, rendezvous, atomic sequences.
const RUN_MODELS: [&str; 10] = [
    "byte x; active proctype p() { do :: x = 1 - x od } active proctype q() { do :: skip od }\n\
     ltl a { []<> (x == 1) } ltl b { [] (x < 2) } ltl c { <> (x == 1) } ltl d { [] (x == 0 -> <> (x == 1)) }\n\
     ltl e { <>[] (x == 0) } ltl f { X (x == 1) } ltl g { (x == 0) U (x == 1) }",
    "byte x; active proctype p() { x = 1; x = 2 } ltl a { <> (x == 2) } ltl b { <>[] (x == 1) } ltl c { [] (x < 2) }",
    "byte a, b; active proctype p() { do :: a = 1 - a od } active proctype q() { do :: b = 1 - b od }\n\
     ltl both { !([]<> (a == 1) && []<> (b == 1)) } ltl one { []<> (a == 1) || []<> (b == 1) }",
    "byte x; active proctype p() { do :: x < 3 -> x++ :: x == 3 -> x = 1 od }\n\
     never { t: if :: x == 2 -> goto u :: else -> goto t fi; u: if :: x == 3 -> goto accept :: else -> goto t fi; \
     accept: if :: x == 3 -> goto t fi }",
    "byte x; active proctype p() { accept: do :: x = 1 - x od } active proctype q() { do :: skip od }",
    "byte x; active proctype p() { end: do :: x < 9 -> progress: x++ :: x > 2 -> x = 0 od }\n\
     active proctype q() { do :: skip od }",
    "chan c = [0] of { byte }; byte n; active proctype s() { do :: c!1 od }\n\
     active proctype r() { byte v; do :: atomic { c?v; n = 1 - n } od } active proctype t() { do :: n = n od }\n\
     ltl a { []<> (n == 1) } ltl b { [] (n == 0 -> <> (n == 1)) }",
    "byte n; proctype w() { n = 1 } init { run w(); run w(); n = 2; do :: n == 2 -> n = 0 :: n == 0 -> n = 2 :: n == 1 od }\n\
     ltl a { <> (n == 1) } ltl b { []<> (n == 2) } ltl c { <>[] (n == 1) }",
    "int a[2]; byte x; active proctype p() { x = 1; a[x] = 1 } ltl a { [] (a[x] != 1) } ltl b { <> (a[x] == 1) }",
    "int a[2]; byte x; active proctype p() { x = 5 } ltl a { <> (x == 6) } ltl b { [] (a[x] != 1) } ltl c { [] (x < 7) }",
];

/// The verdict for each property.
fn verdicts(report: &Value) -> Vec<(String, String)> {
    let told = |of: &Value| (of["name"].to_string(), of["verdict"].to_string());
    report["properties"].as_array().unwrap().iter().map(told).collect()
}

#[test]
fn both_engines_judge_runs_alike() {
    let (mut holds, mut violated) = (0, 0);
    for model in RUN_MODELS {
        let scratch = Scratch::with(model);
        let words: Vec<&str> = match model {
            _ if model.contains("progress:") => vec!["--property", "progress"],
            _ => Vec::new(),
        };
        for fair in [&[][..], &["--fair", "weak"]] {
            let with = |engine: &[&str]| {
                let (run, report) = scratch.check(&[&words[..], fair, engine].concat());
                assert!(!report.is_null(), "{model}: {}", run.stderr);
                verdicts(&report)
            };
            let explicit = with(&["--por", "none"]);
            for engine in [&["--engine", "symbolic"][..], &["--engine", "symbolic", "--order", "chain"]] {
                assert_eq!(with(engine), explicit, "{model}: {fair:?}");
            }
            assert_eq!(with(&["--engine", "auto"]), explicit, "{model}: {fair:?}");
            holds += explicit.iter().filter(|(_, verdict)| verdict == "\"holds\"").count();
            violated += explicit.iter().filter(|(_, verdict)| verdict == "\"violated\"").count();
        }
    }
    assert!(holds > 15 && violated > 15, "{holds} hold, {violated} are violated");
}

#[test]
fn runs_without_an_end_are_replayed() {
    for model in RUN_MODELS {
        let property = match model {
            _ if model.contains("progress:") => "progress",
            _ if model.contains("accept: do") => "accept",
            _ if model.contains("never") => "never",
            _ if model.contains("ltl both") => "ltl:both",
            _ if model.contains("x = 2 }") => "ltl:b",
            _ => "ltl:a",
        };
        let scratch = Scratch::with(model);
        let (run, report) = scratch.check(&["--property", property, "--engine", "symbolic"]);
        assert_eq!(run.status, Some(if property == "never" { 0 } else { 1 }), "{model}: {}", run.stderr);
        assert_eq!(search(&report), "sets", "{model}");
        if property != "never" {
            let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
            assert_eq!(replayed.status, Some(0), "{model}: {}", replayed.stderr);
        }
    }
}

fn search(report: &Value) -> &str {
    property(report)["search"].as_str().expect("a name")
}

/// An error near the beginning of a space that is too large for any search.
#[test]
fn a_shallow_error_ends_the_search() {
    let endless = |more: &str| {
        format!(
            "int x = 1, y = 1; active proctype p() {{ do :: x = x * 3 + y :: x = x * 2 + 1 :: y = y * 5 + x {more} od }}"
        )
    };
    for (more, kind) in [
        (":: x == 7 -> assert(false)", "assertion"),
        (":: x == 7 -> break od; false; do :: skip", "end-state"),
    ] {
        let scratch = Scratch::with(&endless(more));
        let (run, report) =
            scratch.check(&["--property", "safety", "--engine", "symbolic", "--max-memory", "1G"]);
        assert_eq!(run.status, Some(1), "{kind}: {}", run.stderr);
        let of = property(&report);
        assert_eq!(
            (of["verdict"].as_str(), of["exhaustive"].as_bool()),
            (Some("violated"), Some(false)),
            "{kind}"
        );
        assert_eq!(of["violations"][0]["kind"], kind);
        let replayed = scratch.run(&["replay", "m.pml.trail.json"]);
        assert_eq!(replayed.status, Some(0), "{kind}: {}", replayed.stderr);
    }
}

#[test]
fn what_the_engine_does_not_do_is_refused() {
    let refused = |model: &str, words: &[&str], message: &str| {
        let words: Vec<&str> = words.iter().copied().chain(["--engine", "symbolic"]).collect();
        let (run, _) = Scratch::with(model).check(&words);
        assert_eq!(run.status, Some(2), "{message}");
        assert!(run.stderr.contains(message), "{}", run.stderr);
    };
    let ltl = "byte x; active proctype p() { x = 1 } ltl f { <> (x == 1) }";
    refused(ltl, &["--fair", "strong"], "the symbolic engine knows weak fairness");
    let acting = "byte x, y; active proctype p() { x = 1 } never { do :: y = x od }";
    refused(acting, &["--property", "never"], "the never claim changes variables");
    let inside = "byte x; active proctype p() { do :: atomic { x = 1; accept: x = 0 } od }";
    refused(inside, &["--property", "accept"], "an accept label stands inside an atomic sequence");
    let hidden = "hidden byte h; active proctype p() { h = 1 } ltl f { <> (h == 1) }";
    refused(hidden, &["--property", "ltl:f"], "values of hidden variables make no states");
    refused(ltl, &["--property", "safety", "--store", "tree"], "--store is for explicit search");
    refused(ltl, &["--property", "safety", "--exec", "interp"], "--engine symbolic needs native code");
    let trace = "chan c = [1] of { byte }; active proctype p() { c!1 } trace { c!1 }";
    refused(trace, &["--property", "safety"], "a trace assertion follows every send and receive");
    let priority = "byte x; active proctype p() priority 3 { x = 1; set_priority(0, 2) }";
    refused(priority, &["--property", "safety"], "with priorities every step depends on all processes");
}

#[test]
fn budgets_are_obeyed() {
    // One slot with all values that there are: sets of states do not help.
    let hard =
        "int x = 1; active proctype p() { do :: x = x * 3 + 1 :: x = x * 2 + 1 :: x == 12345 -> skip od }";
    let scratch = Scratch::with(hard);
    for budget in [["--timeout", "1"], ["--max-memory", "60M"]] {
        let words: Vec<&str> =
            ["--property", "safety", "--engine", "symbolic"].into_iter().chain(budget).collect();
        let (run, report) = scratch.check(&words);
        assert_eq!(run.status, Some(3), "{budget:?}: {}", run.stderr);
        assert!(property(&report)["reason"].is_string());
    }
}

/// A process that is asked for by its number has slots of its own: what the others do, and there are more ways
/// than any search could go through, is not looked at.
#[test]
fn processes_are_asked_for_by_number() {
    let ring = "#define N 40\nbool fork[N];\nactive [N] proctype p() { byte eaten;\n\
        do :: atomic { !fork[_pid] -> fork[_pid] = true };\n\
        one: atomic { !fork[(_pid + 1) % N] -> fork[(_pid + 1) % N] = true };\n\
        both: eaten = 1 - eaten; fork[_pid] = false; fork[(_pid + 1) % N] = false od }\n";
    let cases = [
        ("EF p[3]@both", "holds"),
        ("AG EF (p[3]@both || stuck)", "holds"),
        ("AG !(p[3]@both && p[4]@both)", "holds"),
        ("EF (p[39]:eaten == 1 && p[0]@both)", "holds"),
        ("EF p[3]:eaten == 2", "violated"),
    ];
    for (formula, verdict) in cases {
        let words = ["--property", "ctl:cli", "--ctl", formula, "--engine", "symbolic", "--timeout", "300"];
        let (run, report) = Scratch::with(ring).check(&words);
        assert_eq!(property(&report)["verdict"], verdict, "{formula}: {}", run.stderr);
    }
}

/// Numbers that several processes have in turn, of different proctypes, and that nobody has.
#[test]
fn a_number_means_whoever_has_it() {
    let model = "byte n;\nproctype a() { byte x; x = 1; here: n++ }\nproctype b() { byte y; y = 2; n++; there: n = n + 1 }\n\
        init { do :: n < 3 -> if :: run a() :: run b() fi; (_nr_pr == 1) :: else -> break od }\n";
    for atom in ["a[1]@here", "b[1]@there", "a[2]@here", "b[1]@there || n == 2", "a[1]:x == 1", "b[1]:y == 2"]
    {
        for shape in ["EF (?)", "AG (?)", "AG EF (?)", "AF (?)", "AG !(?)"] {
            let formula = shape.replace('?', atom);
            let with = |engine: &str| {
                let words = ["--property", "ctl:cli", "--ctl", &formula, "--all-errors", "--engine", engine];
                let (run, report) = Scratch::with(model).check(&words);
                assert!(!report.is_null(), "{formula}: {}", run.stderr);
                (run.status, property(&report)["satisfied"].clone())
            };
            assert_eq!(with("symbolic"), with("explicit"), "{formula}");
        }
    }
}
