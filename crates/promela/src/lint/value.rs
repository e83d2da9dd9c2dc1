//! What is known of an expression's value without running the model: its constant, or its range.

use crate::ir::{BinaryOp, ChanOp, Expr, ExprKind, Scalar, UnaryOp};
use crate::source::{ExpansionKind, SourceMap, Span};

/// The value of an expression that has no variable in it. Divisions by zero and overflows have none.
pub fn constant(e: &Expr) -> Option<i32> {
    match &e.kind {
        ExprKind::Const(n) => Some(*n),
        ExprKind::Unary(op, a) => {
            let a = constant(a)?;
            match op {
                UnaryOp::Neg => a.checked_neg(),
                UnaryOp::BitNot => Some(!a),
                UnaryOp::Not => Some(i32::from(a == 0)),
            }
        }
        ExprKind::Binary(op, a, b) => binary(*op, constant(a)?, constant(b)?),
        ExprKind::Cond(c, a, b) => constant(if constant(c)? != 0 { a } else { b }),
        _ => None,
    }
}

fn binary(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    let truth = |t: bool| Some(i32::from(t));
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::BitAnd => Some(a & b),
        BinaryOp::BitOr => Some(a | b),
        BinaryOp::BitXor => Some(a ^ b),
        BinaryOp::Shl => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
        BinaryOp::Shr => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Or => truth(a != 0 || b != 0),
    }
}

/// The least and the greatest value.
pub type Range = (i64, i64);

/// The values that a cell can hold.
pub fn scalar_range(scalar: Scalar) -> Range {
    match scalar {
        Scalar::Bit | Scalar::Bool => (0, 1),
        Scalar::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Scalar::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Scalar::Unsigned(bits) if bits < 32 => (0, (1 << bits) - 1),
        Scalar::Unsigned(_) => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Scalar::Lock => (0, 0x1ff),
        Scalar::WideBit
        | Scalar::WideBool
        | Scalar::Byte
        | Scalar::Pid
        | Scalar::Mtype(_)
        | Scalar::Chan
        | Scalar::Sema => (0, 255),
    }
}

/// How the type of a cell is written.
pub fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bit => "bit",
        Scalar::Bool => "bool",
        Scalar::WideBit => "bit of an array (kept in a byte)",
        Scalar::WideBool => "bool of an array (kept in a byte)",
        Scalar::Byte => "byte",
        Scalar::Pid => "pid",
        Scalar::Short => "short",
        Scalar::Int => "int",
        Scalar::Unsigned(_) => "unsigned",
        Scalar::Mtype(_) => "mtype",
        Scalar::Chan => "chan",
        Scalar::Lock => "lock",
        Scalar::Sema => "sema",
    }
}

/// The values that an expression can have; none is known where a calculation might overflow.
pub fn range(e: &Expr) -> Option<Range> {
    if let Some(n) = constant(e) {
        return Some((i64::from(n), i64::from(n)));
    }
    match &e.kind {
        ExprKind::Load(place) => Some(scalar_range(place.scalar)),
        ExprKind::RemoteVar { place, .. } => Some(scalar_range(place.scalar)),
        ExprKind::Pid | ExprKind::NrPr | ExprKind::Last => Some((0, 255)),
        ExprKind::Chan(ChanOp::Len, _) => Some((0, 65_535)),
        ExprKind::Unary(UnaryOp::Not, _) => Some((0, 1)),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (range(a)?, range(b)?);
            let range = match op {
                BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
                BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
                BinaryOp::Rem if a.0 >= 0 && b.0 > 0 => (0, b.1 - 1),
                BinaryOp::BitAnd if a.0 >= 0 && b.0 >= 0 => (0, a.1.min(b.1)),
                _ => return None,
            };
            (range.0 >= i64::from(i32::MIN) && range.1 <= i64::from(i32::MAX)).then_some(range)
        }
        _ => None,
    }
}

/// Whether this text came out of a macro.
pub fn from_macro(sources: &SourceMap, span: Span) -> bool {
    let mut at = span;
    while let Some(expansion) = sources.expansion(at.expansion) {
        if expansion.kind == ExpansionKind::Macro {
            return true;
        }
        at = expansion.call;
    }
    false
}
