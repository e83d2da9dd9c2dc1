//! Formulas as text: what is printed reads back, and no text makes the reader give up.

mod common;

use common::Random;
use ltl::Formula;
use ltl::parse::parse;

/// The formula with its propositions numbered as they come, which is how the reader numbers them.
fn renumbered(formula: &Formula, order: &mut Vec<u32>) -> Formula {
    let mut again = |f: &Formula| Box::new(renumbered(f, order));
    match formula {
        Formula::True | Formula::False => formula.clone(),
        Formula::Prop(p) => {
            let at = order.iter().position(|q| q == p).unwrap_or_else(|| {
                order.push(*p);
                order.len() - 1
            });
            Formula::Prop(at as u32)
        }
        Formula::Not(a) => Formula::Not(again(a)),
        Formula::Next(a) => Formula::Next(again(a)),
        Formula::Always(a) => Formula::Always(again(a)),
        Formula::Eventually(a) => Formula::Eventually(again(a)),
        Formula::And(a, b) => Formula::And(again(a), again(b)),
        Formula::Or(a, b) => Formula::Or(again(a), again(b)),
        Formula::Implies(a, b) => Formula::Implies(again(a), again(b)),
        Formula::Equiv(a, b) => Formula::Equiv(again(a), again(b)),
        Formula::Until(a, b) => Formula::Until(again(a), again(b)),
        Formula::WeakUntil(a, b) => Formula::WeakUntil(again(a), again(b)),
        Formula::Release(a, b) => Formula::Release(again(a), again(b)),
    }
}

#[test]
fn printed_formulas_read_back() {
    let mut random = Random(42);
    for round in 0..2000 {
        let formula = random.formula(round % 12, 4);
        let names = ["x == 1", "p[0]@here", "len(c)", "q"];
        for text in
            [formula.to_string(), formula.with_names(|p| format!("({})", names[p as usize])).to_string()]
        {
            let parsed = parse(&text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            assert_eq!(parsed.formula, renumbered(&formula, &mut Vec::new()), "{text}");
        }
    }
}

#[test]
fn any_text_gets_an_answer() {
    const PIECES: [&str; 31] = [
        "p", "q", "R", "U", "X", "[]", "<>", "(", ")", "[", "]", "!", "&&", "||", "->", "<->", "==", "<",
        ">", "-", "1", "true", "always", "until", "@", ":", "ä", "=", "\n", "\0", "V",
    ];
    let mut random = Random(8);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..30_000 {
        let n = 1 + random.below(9);
        let text: String = (0..n).map(|_| PIECES[random.below(PIECES.len())].to_string() + " ").collect();
        match parse(&text) {
            Ok(parsed) => {
                assert!(parsed.formula.n_props() as usize <= parsed.propositions.len(), "{text}");
                good += 1;
            }
            Err(error) => {
                assert!(
                    text.get(error.place.clone()).is_some() && !error.message.is_empty(),
                    "{text}: {error:?}"
                );
                bad += 1;
            }
        }
    }
    assert!(good > 300 && bad > 10_000, "{good} {bad}");
}
