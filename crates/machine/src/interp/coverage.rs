//! Which edges were ever taken: one flag for each, set while firing, read when a report is written.
//!
//! A flag is written once and then only read, so that it costs next to nothing, also for several threads.
//! Edges become *statements* here: what the author wrote at one place counts once, however often it was
//! expanded, copied in front of what an `unless` covers, or taken apart (`for`, `select`); jumps and ends
//! that only the automaton has do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use promela::ir::{Action, EdgeId, ExprKind, LocId, Order, Proctype, ProctypeId, ProctypeKind, Program};
use system::coverage::{Coverage, Statement};

use super::Interp;
use super::layout::find_run;

/// A flag for every edge of every proctype.
#[derive(Debug)]
pub(super) struct Taken(Vec<Box<[AtomicBool]>>);

impl Taken {
    /// No edge was taken.
    pub fn new(program: &Program) -> Self {
        let flags = |proctype: &Proctype| proctype.edges.iter().map(|_| AtomicBool::new(false)).collect();
        Taken(program.proctypes.iter().map(flags).collect())
    }

    /// Notes that an edge is taken.
    pub fn note(&self, proctype: ProctypeId, edge: EdgeId) {
        let flag = &self.0[proctype.index()][edge.index()];
        if !flag.load(Ordering::Relaxed) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    fn contains(&self, proctype: usize, edge: EdgeId) -> bool {
        self.0[proctype][edge.index()].load(Ordering::Relaxed)
    }
}

impl Interp {
    /// The flags of a proctype's edges, for machines that execute instead of this one: they set a flag when
    /// the edge is taken. The flags stay where they are as long as the machine lives.
    pub fn taken_flags(&self, proctype: ProctypeId) -> &[AtomicBool] {
        &self.taken.0[proctype.index()]
    }

    /// Whether a store met a full buffer ([`crate::memory`]), of those that were executed so far.
    pub fn met_full_buffer(&self) -> bool {
        let full = |(index, proctype): (usize, &Proctype)| {
            let mut edges = proctype.edges.iter().zip((0..).map(EdgeId));
            edges
                .any(|(edge, id)| matches!(edge.order, Order::FullDrain(_)) && self.taken.contains(index, id))
        };
        self.program.proctypes.iter().enumerate().any(full)
    }

    /// The statements of all proctypes (claims and traces are followed, not executed) with what was noted so
    /// far.
    pub(super) fn statements(&self) -> Vec<Coverage> {
        let started = self.started();
        let mut out = Vec::new();
        for (index, proctype) in self.program.proctypes.iter().enumerate() {
            if matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init) {
                out.push(Coverage {
                    process: proctype.name.clone(),
                    started: started.contains(&index),
                    statements: self.statements_of(index, proctype),
                });
            }
        }
        out
    }

    /// Proctypes of which there was a process: from the beginning, or by a `run` that was executed.
    fn started(&self) -> BTreeSet<usize> {
        let mut started: BTreeSet<usize> = self.program.active.iter().map(|a| a.proctype.index()).collect();
        for (index, proctype) in self.program.proctypes.iter().enumerate() {
            for (edge, id) in proctype.edges.iter().zip(0..) {
                let run = find_run(&edge.action).map(|expr| &expr.kind);
                if let (Some(ExprKind::Run { proctype, .. }), true) =
                    (run, self.taken.contains(index, EdgeId(id)))
                {
                    started.insert(proctype.index());
                }
            }
        }
        started
    }

    fn statements_of(&self, index: usize, proctype: &Proctype) -> Vec<Statement> {
        let mut found: BTreeMap<Key, (&str, bool)> = BTreeMap::new();
        for id in written(proctype) {
            let edge = proctype.edge(id);
            let place = self.locate(edge.span);
            let key = (place.file, place.line, place.column, edge.span.start, edge.span.end);
            let (_, executed) = found.entry(key).or_insert((&edge.text, false));
            *executed |= self.taken.contains(index, id);
        }
        let statement = |((file, line, column, ..), (text, executed)): (Key, (&str, bool))| Statement {
            file,
            line,
            column,
            text: text.to_string(),
            executed,
        };
        found.into_iter().map(statement).collect()
    }
}

/// File, line and column as people are shown them, then first and last byte, which tell the statements of one
/// macro apart.
type Key = (String, u32, u32, u32, u32);

/// The edges that somebody wrote. A jump counts where a process can stand in front of it, as the first
/// statement of an option; elsewhere it is part of the step before. A d_step is the statements in it.
fn written(proctype: &Proctype) -> impl Iterator<Item = EdgeId> + '_ {
    let at_hand = reachable(proctype);
    (0..proctype.edges.len() as u32).map(EdgeId).filter(move |&id| {
        let edge = proctype.edge(id);
        match edge.action {
            _ if edge.order.is_drain() || edge.order == Order::Wait => false,
            Action::End | Action::DStep { .. } => false,
            Action::Skip => {
                let word = edge.text.split_whitespace().next().unwrap_or_default();
                matches!(word, "skip" | "goto" | "break") && at_hand.contains(&id)
            }
            _ => true,
        }
    })
}

/// Edges that leave a location to which a way leads, whatever the values are.
fn reachable(proctype: &Proctype) -> BTreeSet<EdgeId> {
    let (mut seen, mut edges) = (BTreeSet::new(), BTreeSet::new());
    let mut todo = vec![proctype.start];
    while let Some(location) = todo.pop() {
        if location == LocId(0) || !seen.insert(location) {
            continue;
        }
        for &id in &proctype.location(location).edges {
            edges.insert(id);
            let edge = proctype.edge(id);
            todo.push(edge.to);
            if let Action::DStep { entry, .. } = edge.action {
                todo.push(entry);
            }
        }
    }
    edges
}
