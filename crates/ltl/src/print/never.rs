//! A never claim, as `spin -f` writes it: accepting states have labels that begin with `accept`.

use super::{Names, guard};
use crate::automaton::{Automaton, Component, StateId};
use std::fmt::Write;

/// The claim; `title` stands in a comment. The automaton must be [state-based](Automaton::is_state_based).
pub fn never(automaton: &Automaton, title: &str, names: Names<'_>) -> String {
    let mut out = String::new();
    let title = title.replace("*/", "* /");
    let _ = writeln!(out, "never {{ /* {title} */");
    // The first state of a claim is its initial one; a state that accepts everything comes last.
    let rest = automaton.states().filter(|s| *s != automaton.initial);
    let (all, others): (Vec<StateId>, Vec<StateId>) = rest.partition(|s| accepts_all(automaton, *s));
    for state in [automaton.initial].into_iter().chain(others).chain(all) {
        let _ = writeln!(out, "{}:", label(automaton, state));
        if accepts_all(automaton, state) {
            out.push_str("\tskip\n");
            continue;
        }
        out.push_str("\tdo\n");
        for edge in automaton.edges(state) {
            let _ = writeln!(
                out,
                "\t:: ({}) -> goto {}",
                guard(automaton, edge, names),
                label(automaton, edge.target)
            );
        }
        if automaton.edges(state).is_empty() {
            let _ = writeln!(out, "\t:: (false) -> goto {}", label(automaton, state));
        }
        out.push_str("\tod;\n");
    }
    out.push_str("}\n");
    out
}

/// Whether every run is accepted from here, by staying here: the claim may end.
fn accepts_all(automaton: &Automaton, state: StateId) -> bool {
    let [edge] = automaton.edges(state) else { return false };
    automaton.component(state) == Component::Terminal && edge.target == state
}

fn label(automaton: &Automaton, state: StateId) -> String {
    let kind = if automaton.is_accepting(state) { "accept" } else { "T0" };
    match state {
        _ if state == automaton.initial => format!("{kind}_init"),
        _ if accepts_all(automaton, state) => "accept_all".to_string(),
        _ => format!("{kind}_S{}", state.0),
    }
}
