//! What a property looks at: which steps it would notice.
//!
//! A property sees propositions, and labels of acceptance. A step is *visible* when it may change one of them
//! (condition C2 of D. Peled, *All from one, one for all*, CAV 1993). Of variables and channels that is a
//! matter of accesses, as dependency is. A place of a process (`p@l`, a label of progress or acceptance) is
//! finer than that: only steps that lead there or away from there are seen, and not all that the process
//! does.

use std::collections::BTreeSet;

use promela::ir::{Action, Edge, EdgeId, Expr, ExprKind, LocId, Proctype, ProctypeId, Program, visit};

use system::matrix::BitSet;

/// What a property of whole runs looks at.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Its propositions.
    pub propositions: Vec<Expr>,
    /// It is about labels of acceptance.
    pub acceptance: bool,
}

/// Places of processes that a property looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// By proctype and location.
    set: BTreeSet<(ProctypeId, LocId)>,
    /// It matters whether processes of these proctypes exist.
    pub existence: BTreeSet<ProctypeId>,
    /// It matters whether any process exists.
    pub numbers: bool,
}

impl Places {
    /// Those that a property looks at.
    pub fn of(program: &Program, watched: &Watched) -> Self {
        let mut places = Places::default();
        if watched.acceptance {
            places.add_labels(program, |location| location.accept);
        }
        for proposition in &watched.propositions {
            visit::walk(proposition, &mut |part| match &part.kind {
                ExprKind::NonProgress => places.add_labels(program, |location| location.progress),
                ExprKind::RemoteLabel { proctype, pid, location } => {
                    places.add(*proctype, *location);
                    places.numbers |= pid.is_some();
                }
                _ => {}
            });
        }
        places
    }

    /// Whether what this part of an expression looks at is noted as places.
    pub fn cover(part: &Expr) -> bool {
        matches!(part.kind, ExprKind::NonProgress | ExprKind::RemoteLabel { .. })
    }

    fn add(&mut self, id: ProctypeId, location: LocId) {
        self.set.insert((id, location));
        self.existence.insert(id);
    }

    fn add_labels(&mut self, program: &Program, is: impl Fn(&promela::ir::Location) -> bool) {
        for (p, proctype) in program.proctypes.iter().enumerate() {
            for (l, _) in proctype.locations.iter().enumerate().filter(|(_, location)| is(location)) {
                self.add(ProctypeId(p as u32), LocId(l as u32));
            }
        }
    }

    /// Whether nobody looks at any.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Of every edge of a proctype, whether taking it leads to such a place or away from one.
    pub fn passed_by(&self, id: ProctypeId, proctype: &Proctype) -> Vec<bool> {
        let seen = |at: LocId| self.set.contains(&(id, at));
        let ends = |edge: &Edge| matches!(edge.action, Action::End) && self.existence.contains(&id);
        let mut passes: Vec<bool> = proctype.edges.iter().map(|edge| seen(edge.to) || ends(edge)).collect();
        for (l, location) in proctype.locations.iter().enumerate() {
            if seen(LocId(l as u32)) {
                location.edges.iter().for_each(|edge: &EdgeId| passes[edge.index()] = true);
            }
        }
        passes
    }
}

/// What a property would notice.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// Accesses that it would.
    pub accesses: BitSet,
    /// It would notice everything.
    pub all: bool,
    /// Places that it looks at.
    pub places: Places,
}
