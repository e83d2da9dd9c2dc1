//! A step that takes longer than there is time ends with the time, in every search and machine, and is no
//! step: nothing is said about what is behind it, and nothing about what is not.
//!
//! The d_step of the model takes minutes, so that a search that does not give it up keeps the test from
//! ending.

use engine::options::{CheckOptions, SelfCheck, Source, Value};
use engine::report::{Reason, Verdict};
use engine::{Report, Silent, Stop};
use promela::source::Files;
use std::sync::atomic::Ordering;
use std::time::Duration;

const MODEL: &str = "int i; byte x;
active proctype P() { x = 1; d_step { do :: i != 2000000000 -> i++ :: else -> break od }; x = 2; assert(false) }
active proctype Q() { x = 0; x = 0 }
ltl p { []<> (x == 2) }
";

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

fn some<T: Value>(word: &str) -> Option<T> {
    Some(T::read("", word).unwrap())
}

fn options(property: &str) -> CheckOptions {
    CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        properties: vec![property.to_string()],
        ..CheckOptions::default()
    }
}

fn check(options: &CheckOptions, stop: &Stop, model: &str) -> Report {
    match engine::check(options, &Text(model.to_string()), stop, &mut Silent).result {
        Ok(report) => report,
        Err(failure) => panic!("{failure:?}\n{options:?}"),
    }
}

/// Nothing is known, for this reason.
fn is_open(report: &Report, expected: impl Fn(&Reason) -> bool, options: &CheckOptions) {
    assert_eq!(report.verdict(), "unknown", "{options:?}");
    for property in &report.properties {
        let Verdict::Unknown(reason) = &property.verdict else { panic!("{property:?}\n{options:?}") };
        assert!(expected(reason), "{reason:?}\n{options:?}");
        assert_eq!((property.errors, property.exhaustive), (0, false), "{options:?}");
    }
}

/// By the time, and by somebody else.
fn gives_up(options: CheckOptions) {
    let is_time = |reason: &Reason| matches!(reason, Reason::Time(_) | Reason::Unprepared(_));
    let timed = CheckOptions { timeout: some("0.3"), ..options.clone() };
    let report = check(&timed, &Stop::never(), MODEL);
    is_open(&report, is_time, &timed);
    assert_eq!(report.exit_status(), 3);
    let stop = Stop::never();
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            stop.flag().store(true, Ordering::Relaxed);
        });
        check(&options, &stop, MODEL)
    });
    is_open(&report, |reason| *reason == Reason::Interrupted, &options);
    assert_eq!(report.exit_status(), 130);
}

#[test]
fn in_every_search_for_errors() {
    for search in ["frontier", "bfs", "dfs", "handoff"] {
        for (threads, exec) in [(1, "jit"), (1, "interp"), (3, "jit")] {
            let (threads, exec) = (Some(threads), some(exec));
            gives_up(CheckOptions {
                search: some(search),
                threads,
                exec,
                alone: Some(0),
                ..options("safety")
            });
        }
    }
}

#[test]
fn in_every_search_for_cycles() {
    for search in ["ndfs", "scc", "cndfs", "ufscc", "ndfs-dual"] {
        for exec in ["jit", "interp"] {
            let search = some(search);
            gives_up(CheckOptions { search, exec: some(exec), alone: Some(0), ..options("ltl:p") });
        }
    }
    for fair in ["weak", "strong"] {
        gives_up(CheckOptions { fair: some(fair), ..options("ltl:p") });
    }
}

#[test]
fn with_every_reduction() {
    for por in ["none", "ample", "stubborn", "twophase"] {
        gives_up(CheckOptions { por: some(por), ..options("safety") });
    }
    gives_up(CheckOptions { sleep: true, ..options("safety") });
    gives_up(CheckOptions { state_cache: Some(5), ..options("safety") });
    for doubt in [SelfCheck::Facts, SelfCheck::Reduction] {
        let check = vec![doubt];
        gives_up(CheckOptions { por: some("stubborn"), check, ..options("safety") });
    }
}

/// What was found before stays found.
#[test]
fn other_properties_keep_their_verdicts() {
    let model = "byte x; int i;
        active proctype P() { x = 1; assert(x == 0); x = 3; x = 4; x = 5; x = 6; d_step { do :: i != 2000000000 -> i++ :: else -> break od } }
        ltl p { []<> (x == 2) }";
    let options = CheckOptions {
        timeout: some("2"),
        properties: vec!["safety".to_string(), "ltl:p".to_string()],
        search: some("dfs"),
        // The assertion is a step of its own.
        opt: some("none"),
        ..options("safety")
    };
    let report = check(&options, &Stop::never(), model);
    let verdicts: Vec<&str> = report.properties.iter().map(|property| property.verdict.name()).collect();
    assert_eq!(verdicts, ["violated", "unknown"]);
    assert_eq!(report.exit_status(), 1);
}

/// What an error is told of: the time is over, or somebody asks, while the machine takes a step that is as enabled
/// as the one that shows the error.
fn tells(options: CheckOptions, model: &str) {
    let timed = CheckOptions { timeout: some("0.3"), ..options.clone() };
    let report = check(&timed, &Stop::never(), model);
    assert_eq!((report.verdict(), report.exit_status()), ("violated", 1), "{timed:?}");
    let stop = Stop::never();
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            stop.flag().store(true, Ordering::Relaxed);
        });
        check(&options, &stop, model)
    });
    assert_eq!((report.verdict(), report.exit_status()), ("violated", 1), "{options:?}");
}

/// Takes minutes.
const LONG: &str = "d_step { do :: i != 2000000000 -> i++ :: else -> break od }";

#[test]
fn an_error_beside_a_step_that_is_cut_short_is_told() {
    // Of several processes the machine moves the one that was started last first.
    let model = format!("int i; active proctype Long() {{ {LONG} }} active proctype P() {{ assert(i > 0) }}");
    for search in ["frontier", "bfs", "dfs", "handoff"] {
        for (threads, exec) in [(1, "jit"), (1, "interp"), (3, "jit")] {
            let (search, threads, exec) = (some(search), Some(threads), some(exec));
            tells(CheckOptions { search, threads, exec, alone: Some(0), ..options("safety") }, &model);
        }
    }
    for por in ["none", "ample", "stubborn", "twophase"] {
        for search in ["frontier", "dfs"] {
            tells(CheckOptions { por: some(por), search: some(search), ..options("safety") }, &model);
        }
    }
    tells(CheckOptions { sleep: true, ..options("safety") }, &model);
}

/// The steps of one process: native code hands them over to the reference machine, all or none.
#[test]
fn the_way_to_such_an_error_is_taken_again_whatever_the_clock_says() {
    let before = "d_step { do :: i != 5000 -> i++ :: else -> break od }";
    let behind = format!("int i; active proctype P() {{ {before}; if :: assert(i < 0) :: {LONG} fi }}");
    let inside =
        format!("int i, x; active proctype P() {{ atomic {{ x = 1; if :: assert(false) :: {LONG} fi }} }}");
    for model in [&behind, &inside] {
        for search in ["frontier", "bfs", "dfs"] {
            tells(CheckOptions { search: some(search), exec: some("interp"), ..options("safety") }, model);
        }
    }
}

#[test]
fn a_claim_that_ends_beside_a_step_that_is_cut_short_is_told() {
    let never = "never { do :: x == 0 :: x != 0 -> break od }";
    let model = format!("int i, x; active proctype P() {{ x = 1; {LONG} }} {never}");
    for search in ["ndfs", "scc", "cndfs", "ufscc", "ndfs-dual"] {
        tells(CheckOptions { search: some(search), alone: Some(0), ..options("never") }, &model);
    }
    for fair in ["weak", "strong"] {
        tells(CheckOptions { fair: some(fair), ..options("never") }, &model);
    }
}

/// What comes before the search obeys as well: reading, compiling, translating a formula.
#[test]
fn before_the_search() {
    let is_early = |reason: &Reason| matches!(reason, Reason::Unprepared(_));
    let statements = 1 << 15;
    let doubled: String = (1..16).map(|i| format!("#define M{i} M{} M{}\n", i - 1, i - 1)).collect();
    let long = format!("int x;\n#define M0 x = 1;\n{doubled}active proctype P() {{ M15 }}\n");
    let options = 0..statements;
    let options: String = options.map(|i| format!(":: x == {i} -> x = {}\n", i + 1)).collect();
    let broad = format!("int x;\nactive proctype P() {{ do\n{options}od }}\n");
    let part = |i: usize| format!("((p{i} U (q{i} U r{i})) || []<> s{i})");
    let parts: Vec<String> = (0..6).map(part).collect();
    let names: String = (0..6).map(|i| format!("bool p{i}, q{i}, r{i}, s{i};\n")).collect();
    let formula = format!("{names}active proctype P() {{ skip }}\nltl p {{ !({}) }}\n", parts.join(" && "));
    for (model, property) in [(long, "safety"), (broad, "safety"), (formula, "ltl:p")] {
        let options = CheckOptions { timeout: some("0.2"), ..self::options(property) };
        is_open(&check(&options, &Stop::never(), &model), is_early, &options);
        let stop = Stop::never();
        stop.flag().store(true, Ordering::Relaxed);
        let report = check(&self::options(property), &stop, &model);
        is_open(&report, |reason| *reason == Reason::Interrupted, &options);
    }
}
