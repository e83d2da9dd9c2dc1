//! `spinor ltl`: the automaton of a formula, for people and for other tools.

use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::notice::Notice;
use ltl::parse::{Parsed, SyntaxError};
use ltl::{Acceptance, Automaton, Component, Strength, TooLarge, print};
use promela::diagnostic::{Code, Diagnostic};
use promela::source::{ExpansionId, SourceMap, Span};
use serde_json::{Value, json};
use std::sync::Arc;
use stop::Stop;

/// How an automaton is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LtlFormat {
    /// A never claim.
    Never,
    /// The Hanoi Omega-Automata format.
    Hoa,
    /// For Graphviz.
    Dot,
    /// For machines.
    Json,
}

/// Translates a formula as it is given (not its negation) and writes the automaton.
pub fn translate(formula: &str, format: LtlFormat, generalised: bool, stop: &Stop) -> Answer<String> {
    isolated(|| work(formula, format, generalised, stop)).unwrap_or_else(Answer::failed)
}

fn work(text: &str, format: LtlFormat, generalised: bool, stop: &Stop) -> Answer<String> {
    if format == LtlFormat::Never && generalised {
        return Answer::failed(Failure::refused_with(
            "a never claim cannot have generalised acceptance",
            "leave out --generalised, or write the automaton with --format hoa, dot or json",
        ));
    }
    let parsed = match ltl::parse::parse(text) {
        Ok(parsed) => parsed,
        Err(error) => return Answer { notices: vec![notice(text, &error)], result: Err(Failure::Model) },
    };
    let acceptance = if generalised { Acceptance::Generalised } else { Acceptance::Buchi };
    let result = Automaton::obeying(&parsed.formula, acceptance, stop).map_err(too_large).map(|automaton| {
        let title = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        let names = &parsed.propositions;
        match format {
            LtlFormat::Never => print::never::never(&automaton, &title, names),
            LtlFormat::Hoa => print::hoa::hoa(&automaton, &title, names),
            LtlFormat::Dot => print::dot::dot(&automaton, &title, names),
            LtlFormat::Json => format!("{}\n", as_json(&automaton, &parsed)),
        }
    });
    Answer { notices: Vec::new(), result }
}

/// A formula that cannot be translated, as a refusal.
pub fn too_large(why: TooLarge) -> Failure {
    Failure::refused_with(
        why.to_string(),
        "split it into several formulas: a conjunction holds when each of its parts does",
    )
}

fn notice(text: &str, error: &SyntaxError) -> Notice {
    let mut sources = SourceMap::new();
    let file = sources.add_file("formula", text);
    let (start, end) = (error.place.start as u32, error.place.end as u32);
    let span = Span { file, start, end, expansion: ExpansionId::ROOT };
    let mut diagnostic = Diagnostic::new(Code::E0101, span, error.message.clone());
    if let Some(help) = &error.help {
        diagnostic = diagnostic.help(help.clone());
    }
    Notice::from_diagnostic(&diagnostic, &Arc::new(sources))
}

fn as_json(automaton: &Automaton, parsed: &Parsed) -> Value {
    let names = &parsed.propositions;
    let bits = |set: u64| (0..64).filter(move |i| set >> i & 1 == 1);
    let edge = |edge: &ltl::Edge| {
        let cube = |cube: &ltl::Cube| json!({ "true": bits(cube.positive).collect::<Vec<u32>>(), "false": bits(cube.negative).collect::<Vec<u32>>() });
        json!({
            "guard": automaton.cubes(edge).iter().map(cube).collect::<Vec<Value>>(),
            "target": edge.target.0,
            "marks": bits(edge.marks).collect::<Vec<u32>>(),
        })
    };
    let state = |state: ltl::StateId| {
        let component = match automaton.component(state) {
            Component::Rejecting => "rejecting",
            Component::Terminal => "terminal",
            Component::Weak => "weak",
            Component::Strong => "strong",
        };
        json!({ "component": component, "edges": automaton.edges(state).iter().map(edge).collect::<Vec<Value>>() })
    };
    json!({
        "formula": parsed.formula.with_names(|p| names[p as usize].clone()).to_string(),
        "propositions": names,
        "marks": automaton.n_marks,
        "state_based": automaton.is_state_based(),
        "strength": match automaton.strength {
            Strength::Terminal => "terminal",
            Strength::Weak => "weak",
            Strength::Strong => "strong",
        },
        "stutter_invariant": automaton.stutter_invariant,
        "deterministic": automaton.deterministic,
        "initial": automaton.initial.0,
        "states": automaton.states().map(state).collect::<Vec<Value>>(),
    })
}
