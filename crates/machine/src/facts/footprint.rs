//! What an action may read and write.

use promela::ir::verify::MAX_CELLS;
use promela::ir::visit;
use promela::ir::{
    Action, Base, BinaryOp, Edge, Expr, ExprKind, Formula, LocId, Place, ProctypeId, Program, RecvArg,
};

/// A set of cells, as ranges in no particular order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(Vec<(u32, u32)>);

impl Cells {
    /// Adds the cells from `first` to before `end`.
    pub fn add(&mut self, first: u32, end: u32) {
        if first >= end || self.0.contains(&(first, end)) {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.1 == first => last.1 = end,
            _ => self.0.push((first, end)),
        }
    }

    /// Adds all cells of `other`.
    pub fn add_all(&mut self, other: &Cells) {
        other.0.iter().for_each(|&(first, end)| self.add(first, end));
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `cell` is in the set.
    pub fn contains(&self, cell: u32) -> bool {
        self.0.iter().any(|&(first, end)| (first..end).contains(&cell))
    }

    /// All cells; some may come more than once.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(first, end)| first..end)
    }

    /// The ranges of cells, each from its first to before its end.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().copied()
    }

    /// Whether the two sets have a cell in common.
    pub fn meets(&self, other: &Cells) -> bool {
        self.0.iter().any(|&(a, b)| other.0.iter().any(|&(c, d)| a < d && c < b))
    }
}

/// What an action of a process may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Own cells that may be read.
    pub local_reads: Cells,
    /// Own cells that may be written.
    pub local_writes: Cells,
    /// Own cells that are surely written, whatever they held, before anything reads them again.
    pub kills: Cells,
    /// Global cells that may be read.
    pub global_reads: Cells,
    /// Global cells that may be written.
    pub global_writes: Cells,
    /// Sends, receives, polls, or asks how full a channel is.
    pub channels: bool,
    /// Looks at other processes or at the system as a whole: `enabled`, `pc_value`, remote references,
    /// `_nr_pr`, `_last`, `timeout`, priorities, `np_`; or changes them: `run`, `set_priority`, the end of a
    /// process.
    pub system: bool,
    /// Local cells of other proctypes that may be read through remote references.
    pub remote_reads: Vec<(ProctypeId, Cells)>,
    /// Locations that remote references ask about.
    pub remote_labels: Vec<(ProctypeId, LocId)>,
    /// `pc_value` occurs: every location of every process matters.
    pub pc_value: bool,
    /// Evaluation may be an error: an index that is not constant, a division by something that may be 0.
    /// (What touches channels or other processes may fail in more ways; this is about the rest.)
    pub may_fail: bool,
}

impl Footprint {
    /// Of an edge.
    pub fn of(edge: &Edge) -> Self {
        let mut footprint = Footprint::default();
        footprint.action(&edge.action);
        footprint
    }

    /// Of an expression.
    pub fn of_expr(expr: &Expr) -> Self {
        let mut footprint = Footprint::default();
        footprint.expr(expr);
        footprint
    }

    /// Of everything in a program that looks at states from outside: invariants, formulas.
    pub fn of_properties(program: &Program) -> Self {
        let mut footprint = Footprint::default();
        program.invariants.iter().for_each(|invariant| footprint.expr(&invariant.expr));
        program.ltl.iter().for_each(|ltl| footprint.formula(&ltl.formula));
        for property in &program.state_properties {
            visit::walk_state_formula(&property.formula, &mut |expr| footprint.expr(expr));
        }
        footprint
    }

    /// Touches nothing but own cells.
    pub fn is_local(&self) -> bool {
        let globals = self.global_reads.is_empty() && self.global_writes.is_empty();
        globals && !self.channels && !self.system
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Skip | Action::Else | Action::DStep { .. } => {}
            Action::End => self.system = true,
            Action::C(_) => self.embedded(true),
            Action::Guard(expr) | Action::Assert(expr) | Action::Printm(expr, _) => self.expr(expr),
            Action::Assign(place, expr) => {
                self.expr(expr);
                self.write(place);
            }
            Action::Send { chan, args, .. } => {
                self.channels = true;
                self.expr(chan);
                args.iter().for_each(|arg| self.expr(arg));
            }
            Action::Receive { chan, args, .. } => self.receive(chan, args, true),
            Action::Event { chan, args, .. } => self.receive(chan, args, false),
            Action::Printf(_, args) => args.iter().for_each(|arg| self.expr(arg)),
            Action::SetPriority(who, priority) => {
                self.system = true;
                self.expr(who);
                self.expr(priority);
            }
            Action::Lock(place) | Action::Unlock(place) => {
                self.read(place);
                self.write(place);
            }
        }
    }

    /// C may touch every cell that there can be, globals and own ones.
    fn embedded(&mut self, changes: bool) {
        self.system = true;
        self.may_fail = true;
        self.global_reads.add(0, MAX_CELLS);
        self.local_reads.add(0, MAX_CELLS);
        if changes {
            self.global_writes.add(0, MAX_CELLS);
            self.local_writes.add(0, MAX_CELLS);
        }
    }

    fn receive(&mut self, chan: &Expr, args: &[RecvArg], stores: bool) {
        self.channels = true;
        self.expr(chan);
        for arg in args {
            match arg {
                RecvArg::Match(expr) => self.expr(expr),
                RecvArg::Store(place) if stores => self.write(place),
                RecvArg::Store(place) => self.indices(place),
                RecvArg::Ignore => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Pid => {}
            ExprKind::Load(place) => self.read(place),
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::Binary(op, a, b) => {
                let sure = matches!(b.kind, ExprKind::Const(divisor) if divisor != 0 && divisor != -1);
                self.may_fail |= matches!(op, BinaryOp::Div | BinaryOp::Rem) && !sure;
                self.expr(a);
                self.expr(b);
            }
            ExprKind::C(_) => self.embedded(false),
            ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Chan(_, chan) => {
                self.channels = true;
                self.expr(chan);
            }
            ExprKind::Poll { chan, args, .. } => self.receive(chan, args, false),
            ExprKind::Run { args, .. } => {
                self.system = true;
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Enabled(pid) | ExprKind::GetPriority(pid) => {
                self.system = true;
                self.expr(pid);
            }
            ExprKind::PcValue(pid) => {
                self.system = true;
                self.pc_value = true;
                self.expr(pid);
            }
            ExprKind::NrPr
            | ExprKind::Last
            | ExprKind::Priority
            | ExprKind::Timeout
            | ExprKind::NonProgress => self.system = true,
            ExprKind::RemoteLabel { proctype, pid, location } => {
                self.system = true;
                self.remote_labels.push((*proctype, *location));
                pid.iter().for_each(|pid| self.expr(pid));
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                self.system = true;
                let mut cells = Cells::default();
                let (first, end) = extent(place);
                cells.add(first, end);
                self.remote_reads.push((*proctype, cells));
                pid.iter().for_each(|pid| self.expr(pid));
                self.indices(place);
            }
        }
    }

    fn formula(&mut self, formula: &Formula) {
        match formula {
            Formula::Prop(expr) => self.expr(expr),
            Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => {
                self.formula(a);
            }
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equiv(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b) => {
                self.formula(a);
                self.formula(b);
            }
        }
    }

    fn indices(&mut self, place: &Place) {
        self.may_fail |= !place.indices.is_empty();
        place.indices.iter().for_each(|index| self.expr(&index.value));
    }

    fn read(&mut self, place: &Place) {
        self.indices(place);
        let (first, end) = extent(place);
        match place.base {
            Base::Global => self.global_reads.add(first, end),
            Base::Local => self.local_reads.add(first, end),
            Base::Scratch => {}
        }
    }

    fn write(&mut self, place: &Place) {
        self.indices(place);
        let (first, end) = extent(place);
        match place.base {
            Base::Global => self.global_writes.add(first, end),
            Base::Local => {
                self.local_writes.add(first, end);
                if place.indices.is_empty() {
                    self.kills.add(first, end);
                }
            }
            Base::Scratch => {}
        }
    }
}

/// The cells that a place may mean, from the first to before the end. With several indices the range may hold
/// cells that the place never means.
pub(crate) fn extent(place: &Place) -> (u32, u32) {
    let reach: u32 =
        place.indices.iter().map(|index| index.len.saturating_sub(1).saturating_mul(index.stride)).sum();
    (place.cell, place.cell.saturating_add(reach).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::{edge, program};

    #[test]
    fn what_statements_touch() {
        let source = "byte g, a[4]; chan c = [2] of { byte }; \
                      active proctype p() { byte x, y, i; byte v[3]; \
                      x = y + 1; v[i] = 2; a[x] = g; c!x; c?y, g; x > 3; skip }";
        let source = source.replace("c?y, g;", "c?y;");
        let program = program(&source);
        let foot = |text: &str| Footprint::of(edge(&program, "p", text));
        let assign = foot("x = y + 1");
        assert!(assign.is_local() && assign.local_reads.contains(1) && assign.kills.contains(0));
        assert!(!assign.local_reads.contains(0));
        let element = foot("v[i] = 2");
        assert!(element.kills.is_empty() && element.local_writes.iter().eq(3..6));
        assert!(element.local_reads.iter().eq(2..3));
        let global = foot("a[x] = g");
        assert!(!global.is_local() && global.global_reads.contains(0));
        assert!(global.global_writes.iter().eq(1..5) && global.local_reads.contains(0));
        assert!(foot("c!x").channels && foot("c?y").kills.contains(1));
        assert!(foot("x > 3").is_local());
    }

    #[test]
    fn remote_references_are_seen() {
        let source = "active proctype p() { byte x; l: x = 1 } \
                      active proctype q() { p[0]:x == 1; p[0]@l; pc_value(0) == 1 }";
        let program = program(source);
        let all: Vec<Footprint> = program.proctypes[1].edges.iter().map(Footprint::of).collect();
        assert!(all.iter().any(|f| f.remote_reads.iter().any(|(id, cells)| id.0 == 0 && cells.contains(0))));
        assert!(all.iter().any(|f| f.remote_labels.iter().any(|(id, _)| id.0 == 0)));
        assert!(all.iter().any(|f| f.pc_value) && all.iter().filter(|f| f.is_local()).count() == 0);
    }
}
