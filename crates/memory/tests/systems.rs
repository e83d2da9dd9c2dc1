//! The table test × system (`table.tsv`: y holds, n violated, - cannot be asked, ? not stated), reproduced on
//! two sizes of buffers, and the litmus table against what the systems show. Here is the part that takes
//! moments; `bench/memory/run` does the whole.

use engine::{CheckOptions, Silent, Source, Stop};
use memory::litmus::Says;
use memory::{Known, MemorySystem, Model, Outcome, Request, litmus};

/// Tests with two processors, of which no system has many states.
const QUICK: &[&str] =
    &["upo", "upo2", "rowo1", "rowo2", "pos", "po_wr", "po_rw", "wa_self", "con", "fence_wr", "fence_ww"];
/// Systems whose two-processor tests have few states.
const SMALL: &[&str] = &[
    "atomic",
    "total_order",
    "mesi",
    "migratory_directory",
    "tso",
    "pso",
    "pram",
    "pc",
    "mesi_lost",
    "mesi_late",
    "tso_no_forward",
];

fn system(name: &str) -> MemorySystem {
    MemorySystem::built_in(name, &Source::default(), &Stop::never()).result.expect(name)
}

fn asked(system: &MemorySystem, request: &Request) -> Vec<Outcome> {
    let agenda = request.agenda(system).expect("can be asked");
    let options = CheckOptions::default();
    let ask = |question| request.ask(system, question, &options, &Stop::never(), &mut Silent).result;
    agenda.questions.iter().map(|question| ask(question).expect("an answer")).collect()
}

fn expected(system: &str, test: &str) -> String {
    let table = include_str!("table.tsv");
    let head: Vec<&str> = table.lines().next().unwrap_or_default().split('\t').collect();
    let column = head.iter().position(|name| *name == test).expect(test);
    let row = table.lines().find(|line| line.split('\t').next() == Some(system)).expect(system);
    row.split('\t').nth(column).expect(test).to_string()
}

#[test]
fn systems_pass_and_fail_the_tests_that_they_should() {
    let mut compared = 0;
    for name in SMALL {
        let system = system(name);
        let wanted = QUICK.iter().filter(|test| matches!(expected(name, test).as_str(), "y" | "n"));
        let request = Request { rules: wanted.map(|test| test.to_string()).collect(), ..Request::default() };
        for outcome in asked(&system, &request) {
            let test = outcome.question.name();
            let word = match outcome.known() {
                Known::Holds => "y",
                Known::Violated => "n",
                Known::AtFault => "at fault",
                Known::Unknown => "unknown",
            };
            assert_eq!(word, expected(name, &test), "{test} of {name}");
            if outcome.known() == Known::Holds && system.interface.has_bound {
                let bounds: Vec<_> = outcome.checks.iter().filter_map(|check| check.composed.bound).collect();
                assert_eq!(bounds, [1, 2], "{test} of {name}");
            }
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}

/// What a system shows is allowed by its model; what only the axioms allow is not shown; everything else that
/// is allowed is shown, with buffers that are large enough.
#[test]
fn systems_show_the_outcomes_of_their_models() {
    for (name, model) in [
        ("atomic", Model::Sc),
        ("mesi", Model::Sc),
        ("total_order", Model::Sc),
        ("tso", Model::Tso),
        ("pso", Model::Pso),
        ("pram", Model::Pram),
        ("coherent", Model::Coherent),
    ] {
        let system = system(name);
        for litmus in litmus::tests() {
            if litmus.has_fences() && !system.interface.has_fence {
                continue;
            }
            let request = Request { litmus: vec![litmus.name.to_string()], ..Request::default() };
            let outcomes = asked(&system, &request);
            let shows = outcomes[0].known() == Known::Violated;
            let operational = litmus.says(model) == Says::Allows && !litmus.only_by_axioms.contains(&model);
            assert_eq!(shows, operational, "{} on {name}", litmus.name);
        }
    }
}

#[test]
fn sequential_consistency_is_proved_and_refuted() {
    let request = Request { rules: vec!["sc2".to_string()], ..Request::default() };
    for (name, known) in [
        ("atomic", Known::Holds),
        ("migratory_directory", Known::Holds),
        ("tso", Known::Violated),
        ("pso", Known::Violated),
        ("pc", Known::Violated),
        ("mesi_lost", Known::Violated),
        ("mesi_late", Known::Violated),
    ] {
        let outcomes = asked(&system(name), &request);
        assert_eq!(outcomes[0].known(), known, "{name}");
        if let Some(checked) = outcomes[0].violated() {
            let reason = &checked.violation.as_ref().expect("a violation").table.reason;
            assert!(
                reason.contains("no order of all operations fits") || reason.contains("backwards"),
                "{reason}"
            );
        }
    }
}

#[test]
fn own_bugs_are_found() {
    for (name, test) in [
        ("write_back_race", "upo"),
        ("eager_ack_directory", "rowo2"),
        ("split_bus_hasty", "upo"),
        ("mesi_lost", "rowo2"),
    ] {
        let request = Request { rules: vec![test.to_string()], ..Request::default() };
        let outcomes = asked(&system(name), &request);
        assert_eq!(outcomes[0].known(), Known::Violated, "{name}");
        let table = &outcomes[0].violated().and_then(|c| c.violation.as_ref()).expect("a violation").table;
        assert!(table.reason.starts_with("old: ") && !table.reason.contains('–'), "{}", table.reason);
    }
}
