//! Which stores a buffer may hold at a location: a forward analysis over the automaton of the *original*
//! program. It keeps the new program small: where the buffer is surely empty nothing can drain, and loads go to
//! memory.

use super::Settings;
use super::layout::Cells;
use promela::ir::{Action, Edge, EdgeId, ExprKind, Order, Proctype, ProctypeId, visit};
use promela::source::Span;

/// What is known of a proctype.
pub(super) struct Flow {
    /// For every location, which variables may be in the buffer.
    pub held: Vec<Vec<bool>>,
    /// For every edge, whether it needs an empty buffer.
    quiet: Vec<bool>,
    /// For every edge, whether it is part of a locked instruction and accesses memory itself.
    locked: Vec<bool>,
    /// For every edge, whether a fence is tried behind it.
    fenced: Vec<bool>,
}

impl Flow {
    pub fn new(id: ProctypeId, proctype: &Proctype, cells: &Cells, settings: &Settings) -> Flow {
        let locked = locked_edges(proctype);
        let needs = |(edge, locked): (&Edge, &bool)| *locked || needs_quiet(edge);
        let mut flow = Flow {
            held: vec![vec![false; cells.globals.len()]; proctype.locations.len()],
            quiet: proctype.edges.iter().zip(&locked).map(needs).collect(),
            fenced: vec![false; locked.len()],
            locked,
        };
        for fence in settings.fences.iter().filter(|fence| fence.proctype == id) {
            let flags = if fence.behind { &mut flow.fenced } else { &mut flow.quiet };
            flags[fence.edge.index()] = true;
        }
        flow.else_waits(proctype, cells);
        let mut work: Vec<usize> = (0..proctype.locations.len()).collect();
        while let Some(at) = work.pop() {
            let location = &proctype.locations[at];
            if location.in_d_step {
                continue;
            }
            for &id in &location.edges {
                let edge = proctype.edge(id);
                if flow.pass(at, id, edge, cells) {
                    work.push(edge.to.index());
                }
            }
        }
        flow
    }

    /// Takes what may be in the buffer along an edge. Whether that is news at its target.
    fn pass(&mut self, at: usize, id: EdgeId, edge: &Edge, cells: &Cells) -> bool {
        if matches!(edge.action, Action::End) || self.is_locked(id) {
            // The buffer was empty, and still is.
            return false;
        }
        let mut after = match self.quiet[id.index()] {
            true => vec![false; self.held[at].len()],
            false => self.held[at].clone(),
        };
        if let Some(variable) = cells.stored_by(&edge.action) {
            after[variable] = true;
        }
        if self.fenced[id.index()] {
            return false;
        }
        let target = &mut self.held[edge.to.index()];
        let news = after.iter().zip(&*target).any(|(after, known)| *after && !known);
        target.iter_mut().zip(after).for_each(|(known, after)| *known |= after);
        news
    }

    /// Whether nothing is ever buffered.
    pub fn is_idle(&self) -> bool {
        !self.fenced.contains(&true) && self.held.iter().flatten().all(|held| !held)
    }

    /// Whether a fence is tried behind an edge.
    pub fn is_fenced(&self, id: EdgeId) -> bool {
        self.fenced[id.index()]
    }

    /// Whether there may be something in the buffer at a location.
    pub fn may_hold(&self, at: usize) -> bool {
        self.held[at].contains(&true)
    }

    /// Whether an edge needs an empty buffer.
    pub fn is_quiet(&self, id: EdgeId) -> bool {
        self.quiet[id.index()]
    }

    /// Whether what an edge accesses is accessed in memory directly: a part of a locked instruction.
    pub fn is_locked(&self, id: EdgeId) -> bool {
        self.locked[id.index()]
    }

    /// Where it matters that a statement is *not* executable, it must not be the buffer that keeps it from
    /// being so: `else` waits for an empty buffer beside what does, and beside stores, which need room.
    fn else_waits(&mut self, proctype: &Proctype, cells: &Cells) {
        for location in proctype.locations.iter().filter(|location| !location.in_d_step) {
            let waits =
                |id: &EdgeId| self.quiet[id.index()] || cells.stored_by(&proctype.edge(*id).action).is_some();
            if location.edges.iter().any(waits) {
                let elses = location.edges.iter().filter(|id| is_else(proctype.edge(**id)));
                elses.for_each(|id| self.quiet[id.index()] = true);
            }
        }
    }

    /// Statements that load several buffered cells in one step, outside locked instructions.
    pub fn wide(&self, proctype: &Proctype, cells: &Cells) -> Vec<Span> {
        let mut wide: Vec<Span> = Vec::new();
        for (edge, locked) in proctype.edges.iter().zip(&self.locked) {
            let looks = matches!(edge.action, Action::Assert(_) | Action::Printf(..) | Action::Printm(..));
            if !locked && !looks && cells.loads(&edge.action) > 1 && !wide.contains(&edge.span) {
                wide.push(edge.span);
            }
        }
        wide
    }
}

fn is_else(edge: &Edge) -> bool {
    matches!(edge.action, Action::Else)
}

/// Edges of atomic sequences and d_steps. An atomic sequence is left by an edge that is not marked as atomic.
pub(super) fn locked_edges(proctype: &Proctype) -> Vec<bool> {
    let mut within = vec![false; proctype.locations.len()];
    proctype.edges.iter().filter(|edge| edge.atomic).for_each(|edge| within[edge.to.index()] = true);
    let mut locked: Vec<bool> = proctype
        .edges
        .iter()
        .map(|edge| edge.atomic || edge.order == Order::Locked || is_exchange(&edge.action))
        .collect();
    for (location, within) in proctype.locations.iter().zip(within) {
        if within || location.in_d_step {
            location.edges.iter().for_each(|id| locked[id.index()] = true);
        }
    }
    locked
}

/// What is between processes, other than through variables.
fn is_exchange(action: &Action) -> bool {
    let mut runs = false;
    visit::walk_action(action, &mut |e| runs |= matches!(e.kind, ExprKind::Run { .. }));
    runs || matches!(
        action,
        Action::Send { .. }
            | Action::Receive { .. }
            | Action::Lock(_)
            | Action::Unlock(_)
            | Action::SetPriority(..)
            | Action::DStep { .. }
            | Action::End
    )
}

fn needs_quiet(edge: &Edge) -> bool {
    let mut asks = false;
    visit::walk_action(&edge.action, &mut |e| {
        asks |= matches!(e.kind, ExprKind::Chan(..) | ExprKind::Poll { .. });
    });
    asks || edge.order == Order::Fence
}
