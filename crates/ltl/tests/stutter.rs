//! The stutter-invariance test against words that differ only in repetitions.

mod common;

use common::{Lasso, Random, formulas};
use ltl::parse::parse;
use ltl::{Acceptance, Automaton, Formula};

fn invariant(formula: &Formula) -> bool {
    Automaton::of(formula, Acceptance::Generalised).expect("small").stutter_invariant
}

/// The word with letter `at` written twice.
fn repeated(word: &Lasso, at: usize) -> Lasso {
    let mut letters = word.letters.clone();
    letters.insert(at, letters[at]);
    // A repeated letter in front of the loop moves the loop; one inside makes it longer.
    Lasso { letters, loop_at: if at < word.loop_at { word.loop_at + 1 } else { word.loop_at } }
}

/// Whether some short word and the same word with one repetition more are told apart. Repeating a letter of
/// the loop repeats it in every round; the words include those that begin with a round of their loop.
fn tells_apart(formula: &Formula, words: &[Lasso]) -> bool {
    words.iter().any(|word| {
        let truth = word.satisfies(formula);
        (0..word.letters.len()).any(|at| repeated(word, at).satisfies(formula) != truth)
    })
}

#[test]
fn known_formulas() {
    for (text, expected) in [
        ("X p", false),
        ("p && X q", false),
        ("X [] <> p", true),
        ("<> (p && X p)", false),
        ("[] (p -> X p)", true),
        ("<> (!p && X p)", true),
        ("<> (p && X (!p && q))", true),
        ("<> (p && X q)", false),
        ("p && (p U (!p && X q))", false),
        ("!p -> (!p U (!p && X p))", true),
        ("X true", true),
        // Accepting steps must count although they are left out.
        ("[] <> (p && X p)", false),
        ("[] (p || X p)", false),
    ] {
        assert_eq!(invariant(&parse(text).unwrap().formula), expected, "{text}");
    }
}

/// Both directions: a formula that is said to be invariant tells no short words apart, and one that is not
/// tells some.
#[test]
fn all_small_formulas() {
    let mut words = Lasso::all(2, 3);
    words.extend(Lasso::all(2, 4).into_iter().filter(|w| w.letters.len() == 4));
    for size in 1..=2 {
        for formula in formulas(size, 2).iter().filter(|f| f.has_next()) {
            assert_eq!(invariant(formula), !tells_apart(formula, &words), "{formula}");
        }
    }
}

#[test]
fn random_formulas() {
    let mut random = Random(3);
    let words = Lasso::all(2, 4);
    let (mut yes, mut no) = (0, 0);
    for round in 0..2000 {
        let formula = random.formula(3 + round % 3, 2);
        if !formula.has_next() {
            continue;
        }
        if invariant(&formula) {
            assert!(!tells_apart(&formula, &words), "{formula}");
            yes += 1;
        } else if tells_apart(&formula, &words) {
            no += 1;
        }
    }
    assert!(yes > 100 && no > 500, "{yes} {no}");
}
