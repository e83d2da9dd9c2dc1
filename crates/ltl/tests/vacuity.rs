//! Strengthenings imply the formula that they come from, and name what a reader would call vacuous.

mod common;

use common::{Lasso, Random};
use ltl::Formula;
use ltl::parse::parse;

fn shown(text: &str) -> Vec<String> {
    let parsed = parse(text).unwrap();
    let name = |f: &Formula| f.with_names(|p| parsed.propositions[p as usize].clone()).to_string();
    parsed
        .formula
        .strengthenings()
        .iter()
        .map(|s| format!("{} [{}]", name(&s.formula), name(&s.part)))
        .collect()
}

#[test]
fn the_promise_of_an_implication_comes_first() {
    assert_eq!(
        shown("[] (request -> <> granted)"),
        ["[] (request -> false) [<> granted]", "[] (true -> <> granted) [request]"]
    );
    assert_eq!(shown("<> p"), Vec::<String>::new(), "no model satisfies `<> false`");
    assert_eq!(shown("[] (p <-> q)"), Vec::<String>::new());
    assert_eq!(shown("p U q"), ["false U q [p]"]);
}

#[test]
fn strengthenings_are_stronger() {
    let mut random = Random(5);
    let words = Lasso::all(2, 3);
    let mut count = 0;
    for round in 0..500 {
        let formula = random.formula(2 + round % 6, 2);
        for stronger in formula.strengthenings() {
            count += 1;
            for word in &words {
                assert!(
                    !word.satisfies(&stronger.formula) || word.satisfies(&formula),
                    "{formula}: {stronger:?}"
                );
            }
        }
    }
    assert!(count > 300, "{count}");
}
