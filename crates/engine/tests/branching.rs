//! Formulas about states: what is said of them, what a run shows, what cuts paths off, what is refused.

use engine::options::{CheckOptions, Source};
use engine::report::{PropertyReport, Verdict};
use engine::{Failure, Silent};
use promela::source::Files;

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

fn ask(text: &str, words: &[&str]) -> Result<PropertyReport, Failure> {
    Ok(report(text, words)?.pop().expect("a property"))
}

/// What is said of all properties that are asked about.
fn report(text: &str, words: &[&str]) -> Result<Vec<PropertyReport>, Failure> {
    let source = Source { path: "m.pml".to_string(), ..Source::default() };
    let options = CheckOptions { source, ..CheckOptions::of_words(words.iter().copied())? };
    let stop = engine::Stop::never();
    let report = engine::check(&options, &Text(text.to_string()), &stop, &mut Silent).result?;
    Ok(report.properties)
}

/// The last property of a model that is asked about this formula of CTL.
fn ctl(text: &str, formula: &str) -> PropertyReport {
    ask(text, &["--property", "ctl:cli", "--ctl", formula]).expect("a report")
}

fn verdict(text: &str, formula: &str) -> &'static str {
    ctl(text, formula).verdict.name()
}

/// The steps and the cycle of the counterexample, and what it leaves open.
fn shown(property: &PropertyReport) -> (Option<(usize, Option<usize>)>, Option<String>) {
    let first = property.verdict.violations().next();
    let trail = first.map(|shown| (shown.evidence.depth(), shown.evidence.trail().cycle));
    (trail, property.evaluation.as_ref().and_then(|evaluation| evaluation.reason.clone()))
}

/// Counts to three and begins anew, or stops at two.
const COUNTER: &str = "byte x; active proctype p() { \
     do :: x < 3 -> x++ :: x == 3 -> x = 0 :: x == 2 -> break od; end: (false) }";

#[test]
fn runs_show_what_a_run_can_show() {
    let unreachable = ctl(COUNTER, "AG x < 3");
    assert_eq!(shown(&unreachable), (Some((6, None)), None));
    // Around the cycle x is never 9.
    let forever = ctl(COUNTER, "AF x == 9");
    let (trail, reason) = shown(&forever);
    assert!(trail.is_some_and(|(steps, _)| steps > 0) && reason.is_none(), "{forever:?}");
    let (trail, reason) = shown(&ctl(COUNTER, "AG EF x == 0"));
    assert_eq!(trail, Some((5, None)));
    assert!(reason.is_some_and(|reason| reason.contains("`EF (x == 0)` fails")));
    let nothing = ctl(COUNTER, "EF x == 9");
    assert!(matches!(nothing.verdict, Verdict::Refuted(_)) && nothing.errors == 1);
    assert!(shown(&nothing).1.is_some_and(|reason| reason.contains("no single run can show it")));
    let witness = ctl(COUNTER, "! EF x == 3");
    assert_eq!(shown(&witness), (Some((6, None)), None));
}

#[test]
fn operators_mean_what_they_say() {
    for (formula, wanted) in [
        ("AG EF (x == 0 || x == 2)", "holds"),
        ("EX x == 0 && AX x == 0", "holds"),
        ("A[x < 2 U x == 2]", "holds"),
        ("A[x < 2 W x == 9]", "violated"),
        ("E[x < 2 U x == 3]", "violated"),
        ("E[x < 3 U x == 3]", "holds"),
        ("E[x == 2 R x <= 2]", "holds"),
        ("A[x == 3 R x <= 3]", "holds"),
        // A state without successors repeats itself.
        ("EF (stuck && AX stuck && AG x == 2)", "holds"),
        ("AG !deadlock", "holds"),
        ("AF stuck", "violated"),
    ] {
        assert_eq!(verdict(COUNTER, formula), wanted, "{formula}");
    }
    let mu = |formula: &str| ask(COUNTER, &["--property", "mu:cli", "--mu", formula]).unwrap().verdict.name();
    for (formula, wanted) in [
        ("nu Z. (<>true && []Z)", "violated"),
        ("nu Z. (A X Z) && (x < 4)", "holds"),
        ("mu Z. (x == 3 || <p>Z)", "holds"),
        ("mu Z. (x == 3 || <7>Z)", "violated"),
        ("[p@end] false", "holds"),
        // There is an endless run.
        ("nu Z. <>Z", "holds"),
        ("mu Z. []Z", "violated"),
        ("nu Y. mu Z. (x == 3 && <>Y || <>Z)", "holds"),
    ] {
        assert_eq!(mu(formula), wanted, "{formula}");
    }
}

#[test]
fn a_path_that_is_cut_off_proves_nothing() {
    let text = "byte x; byte a[2]; active proctype p() { do :: x = 1 - x :: x == 1 -> a[x + 1] = 1 od }";
    for (formula, wanted) in [
        ("EF x == 1", "holds"),
        ("AG x <= 1", "unknown"),
        ("EF x == 2", "unknown"),
        ("AG x == 0", "violated"),
        ("AF x == 1", "holds"),
        ("EG x <= 1", "holds"),
        ("AG !stuck", "unknown"),
    ] {
        let property = ctl(text, formula);
        assert_eq!(property.verdict.name(), wanted, "{formula}");
        // A state decides these two: nothing is known of the others, and nothing need be.
        let early = ["EF x == 1", "AG x == 0"].contains(&formula);
        assert_eq!(property.exhaustive, wanted != "unknown" && !early, "{formula}");
    }
    let endless = "byte x; active proctype p() { x = 1; atomic { x = 2; do :: x = 3 - x od } }";
    assert_eq!((verdict(endless, "AF x == 1"), verdict(endless, "AG x != 7")), ("holds", "unknown"));
}

/// The clock can always move, so the other one may never do.
const CLOCK: &str = "bool tick, done; active proctype clock() { do :: tick = !tick od } \
     active proctype other() { done = true }";

#[test]
fn fair_runs_are_those_of_ltl() {
    let fair = |formula: &str| {
        let words = ["--property", "ctl:cli", "--ctl", formula, "--fair", "weak"];
        ask(CLOCK, &words).unwrap()
    };
    assert_eq!(verdict(CLOCK, "AF done"), "violated");
    assert_eq!(fair("AF done").verdict.name(), "holds");
    assert_eq!(fair("EG !done").verdict.name(), "violated");
    assert_eq!(fair("AG EF tick").verdict.name(), "holds");
    let unfair = fair("AF AG tick");
    let (trail, _) = shown(&unfair);
    let (steps, cycle) = trail.expect("a run that goes around");
    assert!(cycle.is_some_and(|cycle| cycle < steps), "{unfair:?}");
}

#[test]
fn what_contradicts_the_whole_graph_is_refused() {
    for (words, why) in [
        (&["--por", "stubborn"][..], "--por would leave out a part"),
        (&["--opt", "merge,fold"], "--opt merge would leave out a part"),
        (&["--store", "bitstate"], "a store that numbers states, and loses none"),
        (&["--max-depth", "9"], "--max-depth would leave out a part"),
        (&["--fair", "strong"], "CTL knows weak fairness"),
    ] {
        let asked = [&["--property", "ctl:cli", "--ctl", "AG x < 9"], words].concat();
        let Err(Failure::Refused { message, repair }) = ask(COUNTER, &asked) else { panic!("{words:?}") };
        assert!(message.contains(why) && repair.is_some(), "{words:?}: {message}");
    }
    let asked = ["--mu", "nu Z. []Z", "--property", "mu:cli", "--fair", "weak"];
    let Err(Failure::Refused { message, .. }) = ask(COUNTER, &asked) else { panic!() };
    assert!(message.contains("about states and steps"), "{message}");
}

#[test]
fn every_store_and_machine_agrees() {
    for words in [
        &["--store", "tree"][..],
        &["--store", "cleary"],
        &["--store", "collapse"],
        &["--exec", "interp"],
        &["--opt", "none"],
        &["--opt", "deadvars,fold"],
    ] {
        let asked = [&["--property", "ctl:cli", "--ctl", "AG EF x == 0"], words].concat();
        let property = ask(COUNTER, &asked).unwrap();
        assert_eq!((property.verdict.name(), shown(&property).0), ("violated", Some((5, None))), "{words:?}");
    }
}

#[test]
fn a_budget_that_runs_out_is_no_verdict() {
    let words = ["--property", "ctl:cli", "--ctl", "AG x <= 3", "--max-states", "3"];
    let property = ask(COUNTER, &words).unwrap();
    assert_eq!(property.verdict.name(), "unknown");
    assert!(!property.exhaustive);
}

/// Two who meet, one who waits for all others, an atomic hand-over, and somebody started late.
const MEETING: &str = "chan c = [0] of { byte }; byte x, y; \
     active proctype a() { do :: atomic { c!1; x = (x + 1) % 3 } :: x == 2 -> x = 0 od } \
     active proctype b() { byte m; do :: atomic { c?m; y = m } :: y == 1 -> y = 0 :: y == 0 -> run late(); break od; \
     end: (false) } \
     proctype late() { timeout -> y = 5 } ";

/// A run-time error cuts a path off.
const CUT: &str = "byte x, a[2]; active proctype p() { do :: x < 4 -> x++ :: a[x] = 1 od }";

#[test]
fn both_engines_agree() {
    let formulas = [
        "AG EF x == 0",
        "EF deadlock",
        "AF y == 5",
        "EG x != 2",
        "A[x < 2 U y == 1]",
        "E[x < 2 W y == 5]",
        "AG (x == 2 -> EX x == 0)",
        "EF AG stuck",
        "AX x == 0",
        "AG EF y == 5",
        "E[x == 0 R y == 0]",
        "AG !(x == 2 && y == 1)",
        "EF EG (x == 0)",
        "AF AG y == 0",
        "!EF (x == 3) && EF x == 2",
    ];
    let steps = [
        "nu Z. (<>true && []Z)",
        "mu Z. (y == 5 || <>Z)",
        "<a>true && !<b>true",
        "mu Z. (x == 2 || <a>Z)",
        "nu Z. ([b](y == 1 || y == 0) && []Z)",
        "nu Y. mu Z. ((x == 1 && <>Y) || <>Z)",
        "mu Z. (stuck || <2>Z)",
    ];
    let ctl = formulas.iter().map(|formula| ("ctl", *formula));
    let mut seen = [0; 3];
    for text in [COUNTER, MEETING, CUT] {
        let named = |formula: &str| text.contains("byte x, y") || !formula.contains(['y', 'a', 'b', '2']);
        for (logic, formula) in ctl.clone().chain(steps.iter().map(|formula| ("mu", *formula))) {
            for fair in [&[][..], &["--fair", "weak"]] {
                if !named(formula) || logic == "mu" && !fair.is_empty() {
                    continue;
                }
                let (option, name) = (format!("--{logic}"), format!("{logic}:cli"));
                let asked = |engine| {
                    let how = ["--all-errors", "--check", "facts", "--engine", engine];
                    let words = [&how[..], &["--property", &name, &option, formula]].concat();
                    ask(text, &[&words, fair].concat()).unwrap_or_else(|why| panic!("{formula} {why:?}"))
                };
                let (explicit, symbolic) = (asked("explicit"), asked("symbolic"));
                assert_eq!(explicit.verdict.name(), symbolic.verdict.name(), "{text}: {formula} {fair:?}");
                assert!(symbolic.symbolic.is_some() && explicit.symbolic.is_none());
                let told = |property: &PropertyReport| {
                    let told = property.evaluation.as_ref().expect("it was evaluated");
                    (told.satisfied.clone(), told.witness.is_some(), shown(property).0.is_some())
                };
                assert_eq!(told(&explicit), told(&symbolic), "{text}: {formula} {fair:?}");
                seen[["holds", "violated", "unknown"]
                    .iter()
                    .position(|v| *v == symbolic.verdict.name())
                    .unwrap()] += 1;
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 2), "{seen:?}");
}

/// More states than a test should explore: whoever needs only a few of them ends soon.
const MANY: &str = "byte a, b, c, d; \
     active proctype p() { do :: a++ od } active proctype q() { do :: b++ od } \
     active proctype r() { do :: c++ od } active proctype s() { do :: d++ od }";

#[test]
fn a_state_that_decides_ends_the_search() {
    let budget = ["--max-states", "3000"];
    let asked = |formulas: &[&str]| {
        let named = formulas.iter().enumerate().map(|(at, formula)| format!("ctl f{at} {{ {formula} }} "));
        let text = format!("{MANY} {}", named.collect::<String>());
        let names: Vec<String> = (0..formulas.len()).map(|at| format!("ctl:f{at}")).collect();
        let words = names.iter().flat_map(|name| ["--property", name]).chain(budget);
        report(&text, &words.collect::<Vec<_>>()).expect("a report")
    };
    for (formula, verdict, depth) in [
        ("AG (a < 3)", "violated", 3),
        ("! EF (b == 2)", "violated", 2),
        ("AG (a < 3) && AG (c < 2)", "violated", 2),
        ("EF (a == 1 && b == 1)", "holds", 2),
        ("EF (a == 9) || ! AG (d < 1)", "holds", 1),
        ("EF EF (d == 2)", "holds", 2),
        ("EF (c == 0)", "holds", 0),
        ("AG (b > 0)", "violated", 0),
    ] {
        let property = asked(&[formula]).pop().expect("a property");
        assert_eq!((property.verdict.name(), property.exhaustive), (verdict, false), "{formula}");
        let run = property.verdict.violations().next().or(property.witness()).expect("a run");
        assert_eq!(run.evidence.depth(), depth, "{formula}");
        let (states, told) = (property.statistics.states, property.evaluation.expect("it was evaluated"));
        assert!(states < 200 && told.satisfied.is_none() && told.reason.is_none(), "{formula}: {told:?}");
    }
    // The search goes on while a formula is undecided, and what is decided is told nevertheless.
    let both = asked(&["EF (a == 1)", "AG (a + b + c + d < 2000)", "AG (a < 4)"]);
    let verdicts: Vec<&str> = both.iter().map(|property| property.verdict.name()).collect();
    assert_eq!(verdicts, ["holds", "unknown", "violated"]);
    assert_eq!(both[0].statistics.states, 3000);
    // Whoever asks for all errors gets all states, and with them all numbers.
    let words = ["--property", "ctl:cli", "--ctl", "EF x == 3", "--all-errors"];
    let whole = ask(COUNTER, &words).unwrap();
    assert!(matches!(whole.verdict, Verdict::Holds(_)) && whole.witness().is_some());
    assert!(whole.evaluation.is_some_and(|told| told.satisfied.is_some()));
}

#[test]
fn a_witness_shows_that_a_formula_holds() {
    for engine in ["explicit", "symbolic", "auto"] {
        let words = ["--property", "ctl:cli", "--ctl", "EF AG stuck", "--engine", engine];
        let property = ask(COUNTER, &words).unwrap();
        let told = property.evaluation.as_ref().unwrap();
        let witness = told.witness.as_ref().expect("a run");
        assert_eq!(
            (witness.evidence.depth(), witness.evidence.fault().kind.name()),
            (5, "witness"),
            "{engine}"
        );
        assert!(told.reason.as_ref().is_some_and(|reason| reason.contains("`AG (stuck)` holds")), "{told:?}");
        assert!(
            ask(COUNTER, &["--property", "ctl:cli", "--ctl", "AG x < 9", "--engine", engine])
                .unwrap()
                .evaluation
                .is_some_and(|told| told.witness.is_none())
        );
    }
    let hidden = "hidden byte h; byte x; active proctype p() { h = 1; x = h }";
    let asked = ["--property", "ctl:cli", "--ctl", "AF x == 1", "--engine", "symbolic"];
    let Err(Failure::Refused { message, repair }) = ask(hidden, &asked) else { panic!() };
    assert!(message.contains("hidden") && repair.is_some(), "{message}");
}
