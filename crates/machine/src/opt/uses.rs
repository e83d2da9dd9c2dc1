//! Which values a statement needs, when it is known which of its results are.
//!
//! Reading a variable only to compute something that nobody needs is no use of it (*faint* variables:
//! `x = x + 1` alone does not keep `x` alive). The exception is what can go wrong: an expression whose
//! evaluation may be an error needs all that it reads, and so does an index. What is printed is no part
//! of a state either: counterexamples are replayed, with everything that they print, in the program as
//! it was.

use std::collections::BTreeSet;

use promela::ir::{Action, Base, Expr, ExprKind, Place, ProctypeId, Program, RecvArg, visit};

use crate::facts::footprint::extent;
use crate::facts::{Cells, Footprint, Points};

/// A field of the messages of a channel declaration.
pub type Field = (u32, usize);

/// What is needed of a statement's results.
pub trait Wanted {
    /// Whether one of these global cells is needed.
    fn globals(&self, cells: (u32, u32)) -> bool;
    /// Whether one of these own cells is needed after the statement.
    fn own(&self, cells: (u32, u32)) -> bool;
    /// Whether a parameter of a process that is started is.
    fn parameter(&self, proctype: ProctypeId, cell: u32) -> bool;
    /// Whether a field of a message is.
    fn field(&self, field: Field) -> bool;
}

/// What a statement needs.
#[derive(Debug, Default)]
pub struct Uses {
    /// Global cells.
    pub globals: Cells,
    /// Own cells.
    pub own: Cells,
    /// Cells of processes of other proctypes.
    pub remote: Vec<(ProctypeId, Cells)>,
    /// Fields of messages.
    pub fields: BTreeSet<Field>,
}

/// A program whose channels are known.
#[derive(Clone, Copy, Debug)]
pub struct Context<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its channels.
    pub points: &'p Points,
}

impl Context<'_> {
    /// What a statement of a proctype needs.
    pub fn of(&self, proctype: usize, action: &Action, wanted: &dyn Wanted) -> Uses {
        let mut uses = Uses::default();
        let own = Some(proctype);
        match action {
            // Programs with C are not reduced.
            Action::Skip | Action::Else | Action::DStep { .. } | Action::C(_) | Action::End => {}
            Action::Guard(expr) => self.guard(&mut uses, own, expr, wanted),
            Action::Assert(expr) => self.expr(&mut uses, own, expr),
            Action::Printm(expr, _) => self.harmless(&mut uses, own, expr),
            Action::Printf(_, args) => args.iter().for_each(|arg| self.harmless(&mut uses, own, arg)),
            Action::Assign(place, expr) => {
                self.indices(&mut uses, own, place);
                match is_wanted(place, wanted) {
                    true => self.guard(&mut uses, own, expr, wanted),
                    false => self.harmless(&mut uses, own, expr),
                }
            }
            Action::Send { chan, sorted, args } => {
                self.expr(&mut uses, own, chan);
                let targets = self.points.of(chan, own);
                if *sorted {
                    uses.fields.extend(targets.iter().flat_map(|ty| (0..args.len()).map(move |i| (*ty, i))));
                }
                for (i, arg) in args.iter().enumerate() {
                    let read = *sorted || targets.iter().any(|ty| wanted.field((*ty, i)));
                    if read { self.expr(&mut uses, own, arg) } else { self.harmless(&mut uses, own, arg) }
                }
            }
            Action::Receive { chan, args, .. } => {
                self.expr(&mut uses, own, chan);
                for (i, arg) in args.iter().enumerate() {
                    match arg {
                        RecvArg::Store(place) => {
                            self.indices(&mut uses, own, place);
                            if is_wanted(place, wanted) {
                                self.fields(&mut uses, own, chan, i);
                            }
                        }
                        RecvArg::Ignore | RecvArg::Match(_) => {}
                    }
                }
                self.matches(&mut uses, own, chan, args);
            }
            Action::Event { chan, args, .. } => {
                self.expr(&mut uses, own, chan);
                self.matches(&mut uses, own, chan, args);
            }
            Action::SetPriority(who, priority) => {
                self.expr(&mut uses, own, who);
                self.expr(&mut uses, own, priority);
            }
            Action::Lock(place) | Action::Unlock(place) => {
                self.indices(&mut uses, own, place);
                read(&mut uses, place);
            }
        }
        uses
    }

    /// Everything that an expression reads.
    pub fn expr(&self, uses: &mut Uses, own: Option<usize>, expr: &Expr) {
        visit::walk(expr, &mut |part| match &part.kind {
            ExprKind::Load(place) => read(uses, place),
            ExprKind::RemoteVar { proctype, place, .. } => {
                let (first, end) = extent(place);
                let mut cells = Cells::default();
                cells.add(first, end);
                uses.remote.push((*proctype, cells));
            }
            ExprKind::Poll { chan, args, .. } => self.matches(uses, own, chan, args),
            _ => {}
        });
    }

    /// An expression whose value is needed; what it passes to a process that it starts may be not.
    fn guard(&self, uses: &mut Uses, own: Option<usize>, expr: &Expr, wanted: &dyn Wanted) {
        let ExprKind::Run { proctype, args, .. } = &expr.kind else { return self.expr(uses, own, expr) };
        for (cell, arg) in args.iter().enumerate() {
            match wanted.parameter(*proctype, cell as u32) {
                true => self.expr(uses, own, arg),
                false => self.harmless(uses, own, arg),
            }
        }
    }

    /// An expression whose value is not needed.
    fn harmless(&self, uses: &mut Uses, own: Option<usize>, expr: &Expr) {
        if !is_harmless(expr) {
            self.expr(uses, own, expr);
        }
    }

    fn indices(&self, uses: &mut Uses, own: Option<usize>, place: &Place) {
        place.indices.iter().for_each(|index| self.expr(uses, own, &index.value));
    }

    fn fields(&self, uses: &mut Uses, own: Option<usize>, chan: &Expr, i: usize) {
        uses.fields.extend(self.points.of(chan, own).into_iter().map(|ty| (ty, i)));
    }

    fn matches(&self, uses: &mut Uses, own: Option<usize>, chan: &Expr, args: &[RecvArg]) {
        for (i, arg) in args.iter().enumerate() {
            if let RecvArg::Match(expr) = arg {
                self.expr(uses, own, expr);
                self.fields(uses, own, chan, i);
            }
        }
    }
}

/// Whether evaluating an expression can neither be an error nor do anything.
pub fn is_harmless(expr: &Expr) -> bool {
    let footprint = Footprint::of_expr(expr);
    !footprint.may_fail && !footprint.channels && !footprint.system
}

fn is_wanted(place: &Place, wanted: &dyn Wanted) -> bool {
    match place.base {
        Base::Global => wanted.globals(extent(place)),
        Base::Local => wanted.own(extent(place)),
        Base::Scratch => false,
    }
}

fn read(uses: &mut Uses, place: &Place) {
    let (first, end) = extent(place);
    match place.base {
        Base::Global => uses.globals.add(first, end),
        Base::Local => uses.own.add(first, end),
        Base::Scratch => {}
    }
}
