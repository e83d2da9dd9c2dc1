//! The library from outside, as another program uses it.

use spinor::options::Por;
use spinor::{Model, Reason, Verdict};
use std::time::Duration;

#[test]
fn what_is_wrong_with_a_model_is_told() {
    let error = Model::from_text("m.pml", "active proctype P() { y = 1 }").expect_err("an error");
    let text = error.to_string();
    assert!(text.contains("m.pml:1") && text.contains('y'), "{text}");
    let error = Model::load("no/such/model.pml").expect_err("an error");
    assert!(error.to_string().contains("no/such/model.pml"), "{error}");
}

#[test]
fn options_that_cannot_be_honoured_are_refused() {
    let model = Model::from_text("m.pml", "active proctype P() { skip }").expect("a model");
    let error = model.check().threads(0).run().expect_err("a refusal");
    assert!(error.to_string().contains("--threads"), "{error}");
    let error = model.check().property("ltl:p").run().expect_err("a refusal");
    assert!(error.to_string().contains("ltl:p"), "{error}");
}

#[test]
fn a_formula_and_its_lasso() {
    let model =
        Model::from_text("m.pml", "byte x; active proctype P() { do :: x = 1 - x od }").expect("a model");
    let report = model.check().ltl("<> [] (x == 1)").property("ltl:cli").run().expect("a report");
    let Verdict::Violated(shown, _) = &report.properties[0].verdict else { panic!("{}", report.verdict()) };
    assert!(shown.evidence.trail().cycle.is_some());
    let held = model.check().ltl("[] <> (x == 1)").property("ltl:cli").run().expect("a report");
    assert_eq!(held.verdict(), "holds");
}

#[test]
fn limits_are_those_of_one_check() {
    let text = "int x, y; active proctype P() { do :: x < y + 9 -> x++ :: y < x + 9 -> y++ :: x-- od }";
    let model = Model::from_text("m.pml", text).expect("a model");
    let late = model.check().timeout(Duration::from_millis(50)).run().expect("a report");
    assert!(matches!(late.properties[0].verdict, Verdict::Unknown(Reason::Time(_) | Reason::Unprepared(_))));
    let full = model.check().max_memory(16 << 20).threads(1).run().expect("a report");
    assert!(matches!(full.properties[0].verdict, Verdict::Unknown(Reason::Memory(_))));
}

#[test]
fn explored_states_are_those_that_a_check_counts() {
    let text = "chan c = [2] of { byte }; active proctype P() { byte i; do :: i < 3 -> c!i; i++ :: else -> break od }\n\
                active proctype Q() { byte j; do :: c?j od }";
    let model = Model::from_text("m.pml", text).expect("a model");
    let reference = |options: &mut spinor::CheckOptions| {
        options.por = Some(Por::None);
        options.opt = Some(Vec::new());
        options.all_errors = true;
    };
    let report = model.check().with(reference).run().expect("a report");
    let explorer = model.explore().expect("an explorer");
    let (mut seen, mut open) = (std::collections::HashSet::new(), vec![explorer.initial().expect("a state")]);
    while let Some(state) = open.pop() {
        if seen.insert(state.clone()) {
            open.extend(explorer.steps(&state).into_iter().filter_map(|step| step.to));
        }
    }
    assert_eq!(seen.len() as u64, report.properties[0].statistics.states);
}
