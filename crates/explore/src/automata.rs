//! Process automata as data: locations and edges with their places in the text. Steps of a run name edges of
//! these ([`system::Move`]).
//!
//! Only what a process can reach is there: locations inside a d_step never hold a process, and jumps leave
//! locations behind that nothing leads to.

use promela::ir::{Action, LocId, Proctype, Program};
use promela::source::{SourceMap, Span};
use serde::Serialize;
use std::collections::BTreeSet;

/// The automaton of a proctype, a claim or a trace assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Automaton {
    /// Its name.
    pub name: String,
    /// `proctype`, `init`, `never`, `trace` or `notrace`.
    pub kind: &'static str,
    /// Where a process starts.
    pub start: u32,
    /// The locations that can be reached, in order of their numbers.
    pub locations: Vec<Location>,
    /// The edges between them, by location, in the order in which they are tried.
    pub edges: Vec<Edge>,
}

/// A control point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Its number, as `pan -d` shows it.
    pub number: u32,
    /// The labels that stand there.
    pub labels: Vec<String>,
    /// Where its first statement is.
    pub range: Range,
    /// A run may end here.
    pub end: bool,
    /// Being here is accepting.
    pub accept: bool,
    /// Being here is progress.
    pub progress: bool,
}

/// A step between two locations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Its number in the automaton; locations may share one.
    pub edge: u32,
    /// Where it begins.
    pub from: u32,
    /// Where it leads; none when the process ends.
    pub to: Option<u32>,
    /// The statement as written.
    pub text: String,
    /// Where it was written.
    pub range: Range,
    /// The process keeps exclusive control.
    pub atomic: bool,
    /// The author did not write it: a loop begins again, a choice ends.
    pub silent: bool,
}

/// A range of a file; lines and columns count from 1, and the end is one behind the last character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The file, as it was given.
    pub file: String,
    /// The line of the first character.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The line behind the last character.
    pub end_line: u32,
    /// The column behind the last character.
    pub end_column: u32,
}

/// All automata of a program, in order of declaration.
pub fn automata(program: &Program, sources: &SourceMap) -> Vec<Automaton> {
    program.proctypes.iter().map(|proctype| automaton(proctype, sources)).collect()
}

fn automaton(proctype: &Proctype, sources: &SourceMap) -> Automaton {
    let reached = reachable(proctype);
    let range = |span| range(span, sources);
    let location = |&id: &LocId| {
        let location = proctype.location(id);
        let labels = proctype.labels.iter().filter(|(_, at)| *at == id);
        let first = location.edges.first().map_or(proctype.span, |&edge| proctype.edge(edge).span);
        Location {
            number: id.0,
            labels: labels.map(|(name, _)| name.clone()).collect(),
            range: range(first),
            end: location.end,
            accept: location.accept,
            progress: location.progress,
        }
    };
    let edges_of = |&from: &LocId| {
        let edges = proctype.location(from).edges.iter();
        edges.map(move |&id| (from, id, proctype.edge(id))).collect::<Vec<_>>()
    };
    let edge = |(from, id, edge): (LocId, promela::ir::EdgeId, &promela::ir::Edge)| Edge {
        edge: id.0,
        from: from.0,
        to: (!matches!(edge.action, Action::End)).then_some(edge.to.0),
        text: edge.text.clone(),
        range: range(edge.span),
        atomic: edge.atomic,
        silent: trace::msc::is_silent(&edge.text),
    };
    Automaton {
        name: proctype.name.clone(),
        kind: promela::ir::print::kind_word(proctype.kind),
        start: proctype.start.0,
        locations: reached.iter().map(location).collect(),
        edges: reached.iter().flat_map(edges_of).map(edge).collect(),
    }
}

/// The locations that a process can be at between two steps.
fn reachable(proctype: &Proctype) -> BTreeSet<LocId> {
    let mut reached = BTreeSet::from([proctype.start]);
    let mut open = vec![proctype.start];
    while let Some(at) = open.pop() {
        for &id in &proctype.location(at).edges {
            let edge = proctype.edge(id);
            if !matches!(edge.action, Action::End) && reached.insert(edge.to) {
                open.push(edge.to);
            }
        }
    }
    reached
}

fn range(span: Span, sources: &SourceMap) -> Range {
    let site = sources.site(span);
    let begin = sources.location(site);
    let end = sources.location(Span { start: site.end, ..site });
    Range {
        file: begin.file,
        line: begin.line,
        column: begin.column,
        end_line: end.line,
        end_column: end.column,
    }
}
