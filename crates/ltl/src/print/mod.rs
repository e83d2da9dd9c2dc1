//! Automata as text: [`mod@never`] claims for Spin, [`hoa`] for other tools, [`dot`] for drawings.
//!
//! Propositions are written as `names` says; what is not a plain word is put in parentheses where an operator
//! stands beside it.

pub mod dot;
pub mod hoa;
pub mod never;

use crate::automaton::{Automaton, Edge};

/// Names of propositions: `names[i]` is proposition `i`.
pub type Names<'n> = &'n [String];

/// The guard as a Promela expression: `true`, `p`, `p && !(x == 1)`, or several of them joined by `||`.
pub fn guard(automaton: &Automaton, edge: &Edge, names: Names<'_>) -> String {
    let cubes = automaton.cubes(edge);
    let text = |cube: &crate::automaton::Cube| {
        let literals = (0..automaton.n_props).filter_map(|i| {
            let positive = cube.positive >> i & 1 == 1;
            (positive || cube.negative >> i & 1 == 1)
                .then(|| format!("{}{}", if positive { "" } else { "!" }, operand(i, names)))
        });
        literals.collect::<Vec<String>>().join(" && ")
    };
    match cubes {
        [] => "false".to_string(),
        [one] if *one == Default::default() => "true".to_string(),
        [one] => text(one),
        _ => {
            let parts: Vec<String> = cubes
                .iter()
                .map(|c| {
                    if c.positive.count_ones() + c.negative.count_ones() == 1 {
                        text(c)
                    } else {
                        format!("({})", text(c))
                    }
                })
                .collect();
            parts.join(" || ")
        }
    }
}

fn operand(proposition: u32, names: Names<'_>) -> String {
    let Some(name) = names.get(proposition as usize) else { return format!("p{proposition}") };
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_@[].".contains(&b));
    if plain { name.clone() } else { format!("({name})") }
}
