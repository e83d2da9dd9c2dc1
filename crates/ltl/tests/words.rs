//! Automata against a direct evaluator of formulas on ultimately periodic words.

mod common;

use common::{Lasso, Random, formulas, share_a_word};
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

/// A formula and its negation have no word in common, of whatever length. Together with the words above, on
/// which one of the two always accepts, this says that neither accepts too much.
fn complementary(formula: &Formula, n: u32) {
    let negation = formula.negated();
    let kinds = [Acceptance::Generalised, Acceptance::Buchi];
    let [yes, no] =
        [formula, &negation].map(|f| kinds.map(|kind| Automaton::of(f, kind).expect("small enough")));
    assert!(!share_a_word(&yes[0], &no[0], n), "{formula}");
    // Degeneralised automata accept the same.
    assert!(!share_a_word(&yes[1], &no[0], n), "{formula}");
    assert!(!share_a_word(&yes[0], &no[1], n), "{formula}");
}

fn first_proposition(formula: &Formula) -> Option<u32> {
    match formula {
        Formula::Prop(p) => Some(*p),
        other => other.operands().find_map(first_proposition),
    }
}

#[test]
fn all_formulas_of_three_operators_exclude_their_negations() {
    for size in 0..=3 {
        let words = Lasso::all(2, 2);
        // Exchanging the propositions changes nothing: the first one that occurs is p0.
        for formula in formulas(size, 2).iter().filter(|f| first_proposition(f) == Some(0)) {
            complementary(formula, 2);
            right(formula, &words);
        }
    }
}

#[test]
fn random_formulas_exclude_their_negations() {
    let mut random = Random(99);
    for round in 0..1500 {
        let formula = random.formula(4 + round % 8, 3);
        complementary(&formula, 3);
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

/// Each `<->` needs both its operands twice: without care this takes longer than the world exists.
#[test]
fn long_chains_of_equivalences() {
    let link = |chain: Formula, i: u32| {
        let operand = Formula::Prop(i % 3);
        let operand = if i.is_multiple_of(7) { Formula::Next(Box::new(operand)) } else { operand };
        Formula::Equiv(Box::new(operand), Box::new(chain))
    };
    let formula = (0..60).fold(Formula::Prop(0), link);
    let mut random = Random(1);
    let words: Vec<Lasso> = (0..100).map(|_| Lasso::random(&mut random, 3, 4)).collect();
    right(&formula, &words);
}
