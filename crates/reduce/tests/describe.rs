//! What is told of a program is what its text says.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use common::Model;
use reduce::describe::{Description, Standing, describe};

const PAIR: &str = "chan q = [2] of { byte }; byte total; bool done; \
    active proctype producer() { q!1; q!2; done = true } \
    active proctype consumer() { byte x; x = 1; q?x; total = x; done; assert(total == 1) }";

fn standing(model: &Model, known: &Description, text: &str) -> Standing {
    let mut found = None;
    for (p, proctype) in model.program.proctypes.iter().enumerate() {
        for (e, edge) in proctype.edges.iter().enumerate().filter(|(_, edge)| edge.text == text) {
            found = Some((edge, known.edges[p][e].standing));
        }
    }
    found.expect("there is such a statement").1
}

#[test]
fn who_gets_in_whose_way() {
    let model = Model::new("pair", PAIR).expect("a program");
    let known = describe(&model.program);
    let is = |text: &str| standing(&model, &known, text);
    assert_eq!(is("x = 1"), Standing::Local);
    assert_eq!((is("total = x"), is("assert(total == 1)")), (Standing::Safe, Standing::Safe));
    assert_eq!((is("q?x"), is("q!1")), (Standing::ConditionallySafe, Standing::ConditionallySafe));
    assert_eq!((is("done"), is("done = true")), (Standing::Shared, Standing::Shared));
}

#[test]
fn who_uses_which_end() {
    let model = Model::new("pair", PAIR).expect("a program");
    let ends = &describe(&model.program).channels[0];
    assert!(ends.exclusive_send && ends.exclusive_receive);
    let two = PAIR.replace("active proctype consumer", "active [2] proctype consumer");
    let known = describe(&Model::new("two", &two).expect("a program").program);
    assert!(known.channels[0].exclusive_send && !known.channels[0].exclusive_receive);
    assert_eq!(known.several, [false, true]);
    // Started in a loop, or by several.
    let started = "proctype leaf() { skip } proctype twig() { run leaf() } \
        init { byte i; do :: i < 2 -> run twig(); i++ :: else -> break od; run leaf() }";
    assert_eq!(
        describe(&Model::new("started", started).expect("a program").program).several,
        [true, true, false]
    );
    let once = "proctype leaf() { skip } init { run leaf() }";
    assert_eq!(describe(&Model::new("once", once).expect("a program").program).several, [false, false]);
}
