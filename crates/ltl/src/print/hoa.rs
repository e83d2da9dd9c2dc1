//! The Hanoi Omega-Automata format, version 1 (Babiak et al. 2015), which other tools read.

use super::Names;
use crate::automaton::{Automaton, Cube, Strength};
use std::fmt::Write;

/// The automaton; `title` is its name.
pub fn hoa(automaton: &Automaton, title: &str, names: Names<'_>) -> String {
    let mut out = String::from("HOA: v1\n");
    let _ = writeln!(out, "name: {}", quoted(title));
    let _ = writeln!(out, "States: {}", automaton.n_states());
    let _ = writeln!(out, "Start: {}", automaton.initial.0);
    let _ = write!(out, "AP: {}", automaton.n_props);
    for i in 0..automaton.n_props {
        let name = names.get(i as usize).map_or_else(|| format!("p{i}"), String::clone);
        let _ = write!(out, " {}", quoted(&name));
    }
    out.push('\n');
    let _ = writeln!(out, "{}", acceptance(automaton.n_marks));
    let states = automaton.is_state_based();
    let _ = write!(
        out,
        "properties: trans-labels explicit-labels {}",
        if states { "state-acc" } else { "trans-acc" }
    );
    out.push_str(match automaton.strength {
        Strength::Terminal => " terminal",
        Strength::Weak => " weak",
        Strength::Strong => "",
    });
    out.push_str(if automaton.deterministic { " deterministic" } else { "" });
    out.push_str(if automaton.stutter_invariant { " stutter-invariant\n" } else { "\n" });
    out.push_str("--BODY--\n");
    for state in automaton.states() {
        let marks = if states && automaton.is_accepting(state) { " {0}" } else { "" };
        let _ = writeln!(out, "State: {}{marks}", state.0);
        for edge in automaton.edges(state) {
            let _ = write!(out, "[{}] {}", guard(automaton.cubes(edge)), edge.target.0);
            if !states && edge.marks != 0 {
                let marks: Vec<String> = (0..automaton.n_marks)
                    .filter(|i| edge.marks >> i & 1 == 1)
                    .map(|i| i.to_string())
                    .collect();
                let _ = write!(out, " {{{}}}", marks.join(" "));
            }
            out.push('\n');
        }
    }
    out.push_str("--END--\n");
    out
}

fn acceptance(n: u32) -> String {
    let name = match n {
        0 => "all".to_string(),
        1 => "Buchi".to_string(),
        _ => format!("generalized-Buchi {n}"),
    };
    let sets: Vec<String> = (0..n).map(|i| format!("Inf({i})")).collect();
    let condition = if n == 0 { "t".to_string() } else { sets.join("&") };
    format!("acc-name: {name}\nAcceptance: {n} {condition}")
}

fn guard(cubes: &[Cube]) -> String {
    let literals = |cube: &Cube| {
        let of = |i: u32| match (cube.positive >> i & 1, cube.negative >> i & 1) {
            (1, _) => Some(i.to_string()),
            (_, 1) => Some(format!("!{i}")),
            _ => None,
        };
        let all: Vec<String> = (0..64).filter_map(of).collect();
        if all.is_empty() { "t".to_string() } else { all.join("&") }
    };
    let all: Vec<String> = cubes.iter().map(literals).collect();
    if all.is_empty() { "f".to_string() } else { all.join(" | ") }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
