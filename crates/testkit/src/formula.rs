//! Random formulas of linear temporal logic over the variables, channels and labels of a random program, in
//! Spin's syntax and without `X`, which not every Spin has.

use crate::rng::Rng;
use std::fmt;

/// A formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// A condition of Promela.
    Atom(String),
    /// An operator in front of a formula.
    Before(&'static str, Box<Formula>),
    /// An operator between two.
    Between(&'static str, Box<Formula>, Box<Formula>),
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Atom(text) => write!(f, "({text})"),
            Formula::Before(operator, of) => write!(f, "{operator} {of}"),
            Formula::Between(operator, left, right) => write!(f, "({left} {operator} {right})"),
        }
    }
}

fn before(operator: &'static str, of: Formula) -> Formula {
    Formula::Before(operator, Box::new(of))
}

fn between(operator: &'static str, left: Formula, right: Formula) -> Formula {
    Formula::Between(operator, Box::new(left), Box::new(right))
}

impl Formula {
    /// Draws a formula over `atoms`, which must not be empty. Most of them have a shape that people write,
    /// because those are the ones about which fairness has something to say.
    pub fn random(rng: &mut Rng, atoms: &[String]) -> Formula {
        let atom = |rng: &mut Rng| literal(rng, atoms);
        let (p, q) = (atom(rng), atom(rng));
        match rng.below(15) {
            0 | 1 => before("<>", p),
            2..=4 => before("[]", before("<>", p)),
            5..=7 => before("[]", between("->", p, before("<>", q))),
            8 => before("<>", before("[]", p)),
            9 => between("->", before("[]", before("<>", p)), before("[]", before("<>", q))),
            // Its negation has several conditions of acceptance.
            10 => {
                let recurs = |of| before("[]", before("<>", of));
                between("->", between("&&", recurs(p), recurs(q)), recurs(atom(rng)))
            }
            depth => tree(rng, atoms, 2 + (depth as u32) % 2),
        }
    }

    /// Its parts, and parts of it in which one part stands for a larger one: what a shrinker tries instead.
    pub fn smaller(&self) -> Vec<Formula> {
        match self {
            Formula::Atom(_) => Vec::new(),
            Formula::Before(operator, of) => {
                let inside = of.smaller().into_iter().map(|small| before(operator, small));
                std::iter::once((**of).clone()).chain(inside).collect()
            }
            Formula::Between(operator, left, right) => {
                let mut all = vec![(**left).clone(), (**right).clone()];
                all.extend(
                    left.smaller().into_iter().map(|small| between(operator, small, (**right).clone())),
                );
                all.extend(
                    right.smaller().into_iter().map(|small| between(operator, (**left).clone(), small)),
                );
                all
            }
        }
    }
}

/// An atom or its negation.
fn literal(rng: &mut Rng, atoms: &[String]) -> Formula {
    let atom = Formula::Atom(rng.pick(atoms).cloned().unwrap_or_else(|| "true".into()));
    if rng.chance(25) { before("!", atom) } else { atom }
}

/// Any formula of at most this depth.
fn tree(rng: &mut Rng, atoms: &[String], depth: u32) -> Formula {
    if depth == 0 || rng.chance(12) {
        return literal(rng, atoms);
    }
    const BEFORE: [&str; 5] = ["[]", "<>", "[]", "<>", "!"];
    const BETWEEN: [&str; 9] = ["U", "U", "V", "W", "&&", "||", "&&", "->", "->"];
    match rng.pick(&BEFORE) {
        Some(operator) if rng.chance(50) => before(operator, tree(rng, atoms, depth - 1)),
        _ => {
            let operator = rng.pick(&BETWEEN).copied().unwrap_or("U");
            let left = tree(rng, atoms, depth - 1);
            between(operator, left, tree(rng, atoms, depth - 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_ends_in_an_atom() {
        let atoms = ["x == 1".to_string(), "y".to_string()];
        for seed in 0..200 {
            let mut formula = Formula::random(&mut Rng::new(seed), &atoms);
            while let Some(small) = formula.smaller().into_iter().next_back() {
                assert!(small.to_string().len() < formula.to_string().len());
                formula = small;
            }
            assert!(matches!(formula, Formula::Atom(_)));
        }
    }
}
