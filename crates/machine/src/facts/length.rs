//! Conditions on the length of a channel: `nfull(q)`, `empty(q)`, `len(q) < 3`, `q?[_]` and their kin.
//!
//! From P. Godefroid and D. Pirottin (*Refining dependencies improves partial-order verification methods*,
//! CAV 1993). Such a condition is true for lengths in a *range*. A condition with a lower bound alone cannot be
//! made false by a send, and one with an upper bound alone cannot be made false by a receive: a true
//! `nfull(q)` commutes with every receive from `q`, and is disturbed by sends only. Of a false condition the
//! length tells who alone can make it true: senders, if there are too few messages, else receivers.

use promela::ir::{BinaryOp, ChanOp, Expr, ExprKind, RecvArg, UnaryOp};

/// The lengths of a channel for which a condition is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The lowest.
    pub least: u32,
    /// The highest.
    pub most: u32,
}

impl Range {
    fn new(least: i64, most: i64, capacity: u32) -> Option<Range> {
        let (least, most) = (least.max(0), most.min(i64::from(capacity)));
        (least <= most).then_some(Range { least: least as u32, most: most as u32 })
    }

    /// Whether a length is one of these.
    pub fn holds(&self, length: u32) -> bool {
        (self.least..=self.most).contains(&length)
    }
}

/// What never makes a true condition false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A message that is put behind the others.
    Sends,
    /// A first message that is taken.
    Receives,
}

/// A condition on one channel.
#[derive(Clone, Copy, Debug)]
pub struct Condition<'e> {
    /// The channel.
    pub chan: &'e Expr,
    /// How many messages there are while it is true; while it is false there may be as many, if it looks at
    /// more than the length.
    pub range: Range,
    /// It is about the length alone.
    pub exact: bool,
}

impl Condition<'_> {
    /// What never makes it false, if there is such a thing; `capacity` is that of the channel.
    pub fn direction(&self, capacity: u32) -> Option<Direction> {
        let Range { least, most } = self.range;
        match (least > 0, most < capacity) {
            (true, false) => Some(Direction::Sends),
            (false, true) => Some(Direction::Receives),
            _ => None,
        }
    }
}

/// The channel that a part of a guard asks about, if that is all it is about.
pub fn asked(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Chan(_, chan) | ExprKind::Poll { chan, .. } => Some(chan),
        ExprKind::Unary(UnaryOp::Not, part) => asked(part),
        ExprKind::Binary(_, one, other) => match (&one.kind, &other.kind) {
            (ExprKind::Chan(ChanOp::Len, chan), ExprKind::Const(_))
            | (ExprKind::Const(_), ExprKind::Chan(ChanOp::Len, chan)) => Some(chan),
            _ => None,
        },
        _ => None,
    }
}

/// A part of a guard as a condition on a channel of this capacity, which is not 0.
pub fn condition(expr: &Expr, capacity: u32) -> Option<Condition<'_>> {
    debug_assert!(capacity > 0, "a rendezvous channel has no length");
    if let ExprKind::Poll { chan, args, .. } = &expr.kind {
        // A true poll has found a message, and a send leaves that where it is.
        let compares = args.iter().any(|arg| matches!(arg, RecvArg::Match(_)));
        return Some(Condition { chan, range: Range { least: 1, most: capacity }, exact: !compares });
    }
    let chan = asked(expr)?;
    let range = range(expr, capacity)?;
    Some(Condition { chan, range, exact: true })
}

/// The lengths for which a part about a length is true.
fn range(expr: &Expr, capacity: u32) -> Option<Range> {
    let full = i64::from(capacity);
    match &expr.kind {
        ExprKind::Chan(op, _) => match op {
            ChanOp::Nempty | ChanOp::Len => Range::new(1, full, capacity),
            ChanOp::Empty => Range::new(0, 0, capacity),
            ChanOp::Full => Range::new(full, full, capacity),
            ChanOp::Nfull => Range::new(0, full - 1, capacity),
        },
        ExprKind::Unary(UnaryOp::Not, part) => {
            let not = range(part, capacity)?;
            match (not.least, not.most) {
                (0, most) if most < capacity => Range::new(i64::from(most) + 1, full, capacity),
                (least, most) if least > 0 && most == capacity => {
                    Range::new(0, i64::from(least) - 1, capacity)
                }
                _ => None,
            }
        }
        ExprKind::Binary(op, one, other) => match (&one.kind, &other.kind) {
            (ExprKind::Chan(..), ExprKind::Const(value)) => compared(*op, i64::from(*value), capacity),
            (ExprKind::Const(value), ExprKind::Chan(..)) => {
                compared(super::guard::turned(*op), i64::from(*value), capacity)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The lengths that compare in this way with a value.
fn compared(op: BinaryOp, value: i64, capacity: u32) -> Option<Range> {
    let full = i64::from(capacity);
    match op {
        BinaryOp::Eq => Range::new(value, value, capacity),
        BinaryOp::Ne if value == 0 => Range::new(1, full, capacity),
        BinaryOp::Ne if value == full => Range::new(0, full - 1, capacity),
        BinaryOp::Lt => Range::new(0, value - 1, capacity),
        BinaryOp::Le => Range::new(0, value, capacity),
        BinaryOp::Gt => Range::new(value + 1, full, capacity),
        BinaryOp::Ge => Range::new(value, full, capacity),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expr(kind: ExprKind) -> Expr {
        Expr { kind, span: promela::source::Span::NONE }
    }

    fn chan(op: ChanOp) -> Expr {
        expr(ExprKind::Chan(op, Box::new(expr(ExprKind::Const(1)))))
    }

    fn truth(op: BinaryOp, length: i32, value: i32) -> bool {
        match op {
            BinaryOp::Eq => length == value,
            BinaryOp::Ne => length != value,
            BinaryOp::Lt => length < value,
            BinaryOp::Le => length <= value,
            BinaryOp::Gt => length > value,
            BinaryOp::Ge => length >= value,
            _ => unreachable!("a comparison"),
        }
    }

    #[test]
    fn ranges_are_the_lengths_for_which_a_comparison_is_true() {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        for op in [Eq, Ne, Lt, Le, Gt, Ge] {
            for value in -2..6 {
                let (len, value_of) = (chan(ChanOp::Len), expr(ExprKind::Const(value)));
                let part = expr(ExprKind::Binary(op, Box::new(len.clone()), Box::new(value_of.clone())));
                let turned = expr(ExprKind::Binary(
                    crate::facts::guard::turned(op),
                    Box::new(value_of),
                    Box::new(len),
                ));
                let not = expr(ExprKind::Unary(UnaryOp::Not, Box::new(part.clone())));
                for (part, is) in [(&part, true), (&turned, true), (&not, false)] {
                    let Some(condition) = condition(part, 3) else { continue };
                    for length in 0..=3 {
                        let expected = truth(op, length, value) == is;
                        assert_eq!(condition.range.holds(length as u32), expected, "{op:?} {value} {length}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_bound_on_one_side_has_a_direction() {
        let direction = |op| condition(&chan(op), 2).and_then(|condition| condition.direction(2));
        assert_eq!(direction(ChanOp::Nempty), Some(Direction::Sends));
        assert_eq!(direction(ChanOp::Full), Some(Direction::Sends));
        assert_eq!(direction(ChanOp::Nfull), Some(Direction::Receives));
        assert_eq!(direction(ChanOp::Empty), Some(Direction::Receives));
        assert_eq!(direction(ChanOp::Len), Some(Direction::Sends));
    }
}
