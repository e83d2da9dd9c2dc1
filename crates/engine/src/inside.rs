//! Labels inside atomic sequences and `d_step`: which of them a property sees.
//!
//! A process passes such a label without standing at it in any state that a claim could see. An accept label
//! inside an atomic sequence counts all the same ([`search::passing`]). A progress label there does not, as
//! in Spin: a run that only passes it makes no progress. Labels inside a `d_step`, which is one step, are
//! never seen by anybody. What is not seen is told.

use crate::notice::Notice;
use crate::session::Session;
use promela::diagnostic::Code;
use promela::ir::{Location, Proctype, Program};
use promela::source::Span;

/// Whether there are accept labels that a process passes while it is in control.
pub fn accepts_inside(program: &Program) -> bool {
    program.proctypes.iter().any(|proctype| inside(proctype).any(|at| at.accept && !at.in_d_step))
}

/// Locations that a process reaches without giving up control.
fn inside(proctype: &Proctype) -> impl Iterator<Item = &Location> {
    let by_edge = proctype.edges.iter().filter(|edge| edge.atomic).map(|edge| proctype.location(edge.to));
    by_edge.chain(proctype.locations.iter().filter(|location| location.in_d_step))
}

/// Warnings about labels that the property with this name does not see.
pub fn unseen(session: &Session, program: &Program, property: &str) -> Vec<Notice> {
    let (word, help, of): (_, _, fn(&Location) -> bool) = match property {
        "progress" => (
            "progress",
            "a run that only passes it makes no progress, as in Spin; put the label before or behind the sequence",
            |at| at.progress,
        ),
        "accept" => (
            "accept",
            "a d_step is one step, and no state inside it is seen; put the label before or behind it",
            |at| at.accept && at.in_d_step,
        ),
        _ => return Vec::new(),
    };
    let mut spans: Vec<Span> = program
        .proctypes
        .iter()
        .flat_map(|proctype| inside(proctype).filter(|at| of(at)).filter_map(|at| span(proctype, at)))
        .collect();
    spans.sort_by_key(|span| (span.file, span.start));
    spans.dedup();
    let notice = |span: Span| {
        let place = session.sources.location(span);
        let message =
            format!("the {word} label here stands inside an atomic sequence or d_step and is not seen");
        Notice::plain(Code::W0705, message, Some(help.to_string())).at(&place.file, place.line, place.column)
    };
    spans.into_iter().map(notice).collect()
}

/// What stands at a location: its first statement.
fn span(proctype: &Proctype, at: &Location) -> Option<Span> {
    at.edges.first().map(|&edge| proctype.edge(edge).span)
}
