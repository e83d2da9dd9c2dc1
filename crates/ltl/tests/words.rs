//! Automata against a direct evaluator of formulas on ultimately periodic words.

mod common;

use common::{Lasso, Random, formulas};
use ltl::{Acceptance, Automaton, Formula};

/// The automata of a formula and of its negation, of both kinds: each accepts exactly the right words.
fn right(formula: &Formula, words: &[Lasso]) {
    let kinds = [Acceptance::Generalised, Acceptance::Buchi];
    let negation = formula.negated();
    let automata: Vec<(bool, Automaton)> = kinds
        .iter()
        .flat_map(|kind| [(true, formula, *kind), (false, &negation, *kind)])
        .map(|(positive, f, kind)| (positive, Automaton::of(f, kind).expect("small enough")))
        .collect();
    for word in words {
        let truth = word.satisfies(formula);
        for (positive, automaton) in &automata {
            let accepted = word.accepted_by(automaton);
            assert_eq!(
                accepted,
                truth == *positive,
                "{formula} (positive: {positive}) on {word:?}: {automaton:?}"
            );
        }
    }
}

#[test]
fn all_small_formulas_on_all_short_words() {
    let words = Lasso::all(2, 3);
    for size in 0..=2 {
        for formula in formulas(size, 2) {
            right(&formula, &words);
        }
    }
}

#[test]
fn random_formulas_on_random_words() {
    let mut random = Random(20);
    for round in 0..1500 {
        let formula = random.formula(3 + round % 6, 3);
        let words: Vec<Lasso> = (0..30).map(|_| Lasso::random(&mut random, 3, 6)).collect();
        right(&formula, &words);
    }
}
