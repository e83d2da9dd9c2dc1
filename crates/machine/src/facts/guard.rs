//! Guards taken apart: which part of one is false, what could make it true, and which guards exclude each
//! other.
//!
//! From A. Laarman, E. Pater, J. van de Pol and H. Hansen (*Guard-based partial-order reduction*, 2013). A
//! guard is a conjunction. While one of its parts is false the action is not executable, so those who can
//! change *that* part are a *necessary enabling set*; of several parts that are false the one is taken for
//! which the fewest actions are drawn in. A part that reads only variables of its own process cannot be made
//! true by anybody else.
//!
//! Two actions whose guards ask different things of one global variable are never executable together, so
//! they cannot get in each other's way: before the second can be taken somebody must have written the
//! variable, and who does that disturbs the first.
//!
//! Evaluation is from left to right and an error ends it, so of a guard only the parts in front count that
//! cannot go wrong.

use super::length;
use crate::look::Glance;
use promela::ir::{Action, Base, BinaryOp, Edge, Expr, ExprKind, Proctype, Program, Scalar, UnaryOp};

use system::matrix::BitSet;

/// A part of a guard.
#[derive(Clone, Debug)]
pub struct Part {
    /// The condition.
    pub expr: Expr,
    /// Nothing changes its value but what accesses one of these.
    pub changers: BitSet,
    /// It reads variables of its own process.
    pub own: bool,
    /// It is about the length of a channel alone.
    pub length: Option<LengthTest>,
}

/// A part of a guard that is about the length of a channel.
#[derive(Clone, Debug)]
pub struct LengthTest {
    /// The number of the channel.
    pub number: u32,
    /// The lengths for which it is true.
    pub range: length::Range,
    /// While there are too few messages, nothing makes it true but what accesses one of these.
    pub fills: BitSet,
    /// While there are too many, nothing but what accesses one of these.
    pub drains: BitSet,
}

/// What an action needs of a global cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Need {
    /// The cell.
    pub cell: u32,
    /// How its value is related to the other.
    pub is: Relation,
    /// The other value.
    pub value: i32,
}

/// How two values are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Relation {
    Equal,
    Different,
    Less,
    Greater,
}

impl Need {
    /// Whether a value will do.
    pub fn admits(&self, value: i32) -> bool {
        match self.is {
            Relation::Equal => value == self.value,
            Relation::Different => value != self.value,
            Relation::Less => value < self.value,
            Relation::Greater => value > self.value,
        }
    }

    /// Whether no value of the cell can be right for both.
    pub fn excludes(&self, other: &Need) -> bool {
        use Relation::{Equal, Greater, Less};
        self.cell == other.cell
            && match (self.is, other.is) {
                (Equal, _) => !other.admits(self.value),
                (_, Equal) => !self.admits(other.value),
                (Less, Greater) => i64::from(other.value) + 1 >= i64::from(self.value),
                (Greater, Less) => i64::from(self.value) + 1 >= i64::from(other.value),
                _ => false,
            }
    }
}

impl Need {
    /// Whether an edge that may write the cell may make the need true (or false). One that assigns a constant
    /// does only one of the two.
    pub fn may_become(&self, truth: bool, edge: &Edge) -> bool {
        match &edge.action {
            Action::Assign(place, Expr { kind: ExprKind::Const(value), .. }) => {
                self.admits(place.scalar.truncate(*value)) == truth
            }
            _ => true,
        }
    }
}

/// Whether two actions with these needs are never executable together.
pub fn exclude(one: &[Need], other: &[Need]) -> bool {
    one.iter().any(|need| other.iter().any(|more| need.excludes(more)))
}

/// The condition of an edge, if that is all that decides whether it is executable: its own, or that with
/// which a d_step begins.
fn condition<'p>(proctype: &'p Proctype, edge: &'p Edge) -> Option<&'p Expr> {
    match &edge.action {
        Action::Guard(expr) => Some(expr),
        Action::DStep { entry, guards, .. } => {
            let [only] = &proctype.location(guards.unwrap_or(*entry)).edges[..] else { return None };
            match &proctype.edge(*only).action {
                Action::Guard(expr) => Some(expr),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The parts of an edge's guard that cannot go wrong, up to the first that can.
pub fn parts<'p>(proctype: &'p Proctype, edge: &'p Edge) -> Vec<&'p Expr> {
    let mut parts = Vec::new();
    if let Some(expr) = condition(proctype, edge) {
        split(expr, &mut parts);
    }
    let sure = parts.iter().take_while(|part| is_plain(part)).count();
    parts.truncate(sure);
    parts
}

/// Whether the [parts] of an edge's guard are all of its condition.
pub fn is_split(proctype: &Proctype, edge: &Edge) -> bool {
    let mut all = Vec::new();
    if let Some(expr) = condition(proctype, edge) {
        split(expr, &mut all);
    }
    !all.is_empty() && all.into_iter().all(is_plain)
}

/// The conjuncts of a guard of several parts; nothing for others, of which it is clear what is false.
pub fn several_conjuncts<'p>(proctype: &'p Proctype, edge: &'p Edge) -> Vec<&'p Expr> {
    let condition = condition(proctype, edge);
    let several = condition.filter(|expr| matches!(expr.kind, ExprKind::Binary(BinaryOp::And, ..)));
    several.map_or_else(Vec::new, conjuncts)
}

/// The conjuncts of a condition, from left to right.
pub fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut parts = Vec::new();
    split(expr, &mut parts);
    parts
}

fn split<'p>(expr: &'p Expr, out: &mut Vec<&'p Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, one, other) => {
            split(one, out);
            split(other, out);
        }
        _ => out.push(expr),
    }
}

/// Whether an expression can be evaluated without anything going wrong, from cells alone.
pub fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) => true,
        ExprKind::Load(place) => place.indices.is_empty() && place.base != Base::Scratch,
        ExprKind::Unary(_, part) => is_plain(part),
        ExprKind::Binary(op, one, other) => {
            let shifts = matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr);
            !shifts && is_plain(one) && is_plain(other)
        }
        _ => false,
    }
}

/// What the parts of an edge's guard need of global cells.
pub fn needs(proctype: &Proctype, edge: &Edge) -> Vec<Need> {
    let mut needs: Vec<Need> = parts(proctype, edge).into_iter().filter_map(need).collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// What a part of a guard needs of a global cell, if that is all it is about.
pub fn need(expr: &Expr) -> Option<Need> {
    let cell = |expr: &Expr| match &expr.kind {
        ExprKind::Load(place) if place.base == Base::Global => Some(place.cell),
        _ => None,
    };
    let constant = |expr: &Expr| match &expr.kind {
        ExprKind::Const(value) => Some(*value),
        _ => None,
    };
    let (cell, op, value) = match &expr.kind {
        ExprKind::Load(_) => (cell(expr)?, BinaryOp::Ne, 0),
        ExprKind::Unary(UnaryOp::Not, part) => (cell(part)?, BinaryOp::Eq, 0),
        ExprKind::Binary(op, one, other) => match (cell(one), constant(other)) {
            (Some(cell), Some(value)) => (cell, *op, value),
            _ => (cell(other)?, turned(*op), constant(one)?),
        },
        _ => return None,
    };
    let (is, value) = match op {
        BinaryOp::Eq => (Relation::Equal, value),
        BinaryOp::Ne => (Relation::Different, value),
        BinaryOp::Lt => (Relation::Less, value),
        BinaryOp::Gt => (Relation::Greater, value),
        BinaryOp::Le => (Relation::Less, value.checked_add(1)?),
        BinaryOp::Ge => (Relation::Greater, value.checked_sub(1)?),
        _ => return None,
    };
    Some(Need { cell, is, value })
}

/// The operator when its operands change places.
pub(super) fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// More cells than this are not looked at in every state.
const MOST_CELLS: usize = 32;

/// The cells at which a glance has to look so that parts of guards can be evaluated: of the globals and of
/// each proctype, behind those that are looked at anyway. Only guards of several parts count: of one part it
/// is clear that it is false.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    globals: Vec<(u32, Scalar)>,
    locals: Vec<(usize, Vec<u32>)>,
}

impl Cells {
    /// For a program; `before` says how many cells of each proctype are looked at anyway.
    pub fn new(program: &Program, before: impl Fn(usize) -> usize) -> Self {
        let hidden = program.globals.iter().filter(|var| var.hidden);
        let hidden: Vec<u32> =
            hidden.flat_map(|var| var.cell..var.cell + program.cells_of(&var.ty)).collect();
        let mut globals: Vec<(u32, Scalar)> = Vec::new();
        let mut locals = Vec::new();
        for (p, proctype) in program.proctypes.iter().enumerate() {
            let mut own = Vec::new();
            for edge in &proctype.edges {
                for part in several_conjuncts(proctype, edge).into_iter().filter(|part| is_plain(part)) {
                    promela::ir::visit::walk(part, &mut |expr| {
                        if let ExprKind::Load(place) = &expr.kind {
                            match place.base {
                                Base::Global if hidden.contains(&place.cell) => {}
                                Base::Global => note(&mut globals, (place.cell, place.scalar)),
                                _ => note(&mut own, place.cell),
                            }
                        }
                    });
                }
            }
            locals.push((before(p), own));
        }
        Cells { globals, locals }
    }

    /// Those of the globals.
    pub fn globals(&self) -> &[(u32, Scalar)] {
        &self.globals
    }

    /// Those of a proctype.
    pub fn of(&self, proctype: usize) -> &[u32] {
        &self.locals[proctype].1
    }

    /// The value of a part of a guard of process `pid`, if all its cells were looked at.
    pub fn value(&self, glance: &Glance, pid: usize, expr: &Expr) -> Option<i32> {
        let value = |part: &Expr| self.value(glance, pid, part);
        Some(match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Load(place) if place.base == Base::Global => {
                let at = self.globals.iter().position(|&(cell, _)| cell == place.cell)?;
                *glance.globals.get(at)?
            }
            ExprKind::Load(place) => {
                let process = glance.processes.get(pid)?;
                let (before, own) = &self.locals[process.proctype as usize];
                let at = own.iter().position(|&cell| cell == place.cell)?;
                *glance.values.get(process.values as usize + before + at)?
            }
            ExprKind::Unary(op, part) => {
                let value = value(part)?;
                match op {
                    UnaryOp::Neg => value.wrapping_neg(),
                    UnaryOp::BitNot => !value,
                    UnaryOp::Not => i32::from(value == 0),
                }
            }
            ExprKind::Binary(op, one, other) => {
                let (a, b) = (value(one)?, value(other)?);
                match op {
                    BinaryOp::Add => a.wrapping_add(b),
                    BinaryOp::Sub => a.wrapping_sub(b),
                    BinaryOp::Mul => a.wrapping_mul(b),
                    BinaryOp::BitAnd => a & b,
                    BinaryOp::BitOr => a | b,
                    BinaryOp::BitXor => a ^ b,
                    BinaryOp::Lt => i32::from(a < b),
                    BinaryOp::Le => i32::from(a <= b),
                    BinaryOp::Gt => i32::from(a > b),
                    BinaryOp::Ge => i32::from(a >= b),
                    BinaryOp::Eq => i32::from(a == b),
                    BinaryOp::Ne => i32::from(a != b),
                    BinaryOp::And => i32::from(a != 0 && b != 0),
                    BinaryOp::Or => i32::from(a != 0 || b != 0),
                    BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => return None,
                }
            }
            _ => return None,
        })
    }
}

fn note<T: PartialEq>(list: &mut Vec<T>, new: T) {
    if !list.contains(&new) && list.len() < MOST_CELLS {
        list.push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(cell: u32, is: Relation, value: i32) -> Need {
        Need { cell, is, value }
    }

    #[test]
    fn needs_exclude_each_other_when_no_value_is_right_for_both() {
        use Relation::{Different, Equal, Greater, Less};
        let all = [Equal, Different, Less, Greater];
        for one in all {
            for other in all {
                for a in -3..4 {
                    for b in -3..4 {
                        let (x, y) = (need(0, one, a), need(0, other, b));
                        let both = (-10..11).any(|value| x.admits(value) && y.admits(value));
                        assert_eq!(x.excludes(&y), !both, "{x:?} {y:?}");
                        assert!(!x.excludes(&need(1, other, b)), "another cell");
                    }
                }
            }
        }
        assert!(exclude(&[need(0, Less, 3), need(1, Equal, 2)], &[need(1, Different, 2)]));
        assert!(!exclude(&[need(0, Less, 3)], &[]));
    }
}
