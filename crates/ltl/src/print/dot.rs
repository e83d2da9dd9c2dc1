//! A drawing for Graphviz. Accepting states have two circles; marks on edges stand behind their guards.

use super::{Names, guard};
use crate::automaton::{Automaton, Edge};
use std::fmt::Write;

/// The automaton; `title` stands above it.
pub fn dot(automaton: &Automaton, title: &str, names: Names<'_>) -> String {
    let mut out = String::from("digraph automaton {\n  rankdir=LR;\n  labelloc=t;\n");
    let _ = writeln!(out, "  label={};", quoted(title));
    out.push_str("  node [shape=circle];\n  start [shape=point, label=\"\"];\n");
    let states = automaton.is_state_based();
    for state in automaton.states() {
        let shape = if states && automaton.is_accepting(state) { " [shape=doublecircle]" } else { "" };
        let _ = writeln!(out, "  s{} [label={}]{shape};", state.0, state.0);
    }
    let _ = writeln!(out, "  start -> s{};", automaton.initial.0);
    for state in automaton.states() {
        for edge in automaton.edges(state) {
            let marks = if states { String::new() } else { marks(automaton, edge) };
            let label = quoted(&format!("{}{marks}", guard(automaton, edge, names)));
            let _ = writeln!(out, "  s{} -> s{} [label={label}];", state.0, edge.target.0);
        }
    }
    out.push_str("}\n");
    out
}

fn marks(automaton: &Automaton, edge: &Edge) -> String {
    let all: Vec<String> =
        (0..automaton.n_marks).filter(|i| edge.marks >> i & 1 == 1).map(|i| i.to_string()).collect();
    if all.is_empty() { String::new() } else { format!(" {{{}}}", all.join(", ")) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
