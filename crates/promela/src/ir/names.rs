//! The words of the text form: one table per enumeration, used both ways by `print` and `read`.

use super::{BinaryOp, ChanOp, Formula, ProctypeKind, Scalar, UnaryOp};

/// Operators with one operand.
pub(super) const UNARY: [(UnaryOp, &str); 3] =
    [(UnaryOp::Neg, "neg"), (UnaryOp::BitNot, "bitnot"), (UnaryOp::Not, "not")];

/// Operators with two operands.
pub(super) const BINARY: [(BinaryOp, &str); 18] = [
    (BinaryOp::Add, "add"),
    (BinaryOp::Sub, "sub"),
    (BinaryOp::Mul, "mul"),
    (BinaryOp::Div, "div"),
    (BinaryOp::Rem, "rem"),
    (BinaryOp::BitAnd, "bitand"),
    (BinaryOp::BitOr, "bitor"),
    (BinaryOp::BitXor, "bitxor"),
    (BinaryOp::Shl, "shl"),
    (BinaryOp::Shr, "shr"),
    (BinaryOp::Lt, "lt"),
    (BinaryOp::Le, "le"),
    (BinaryOp::Gt, "gt"),
    (BinaryOp::Ge, "ge"),
    (BinaryOp::Eq, "eq"),
    (BinaryOp::Ne, "ne"),
    (BinaryOp::And, "and"),
    (BinaryOp::Or, "or"),
];

/// Questions about a channel.
pub(super) const CHAN_OPS: [(ChanOp, &str); 5] = [
    (ChanOp::Len, "len"),
    (ChanOp::Full, "full"),
    (ChanOp::Empty, "empty"),
    (ChanOp::Nfull, "nfull"),
    (ChanOp::Nempty, "nempty"),
];

/// Kinds of proctype.
pub(super) const KINDS: [(ProctypeKind, &str); 5] = [
    (ProctypeKind::Proctype, "proctype"),
    (ProctypeKind::Init, "init"),
    (ProctypeKind::Never, "never"),
    (ProctypeKind::Trace, "trace"),
    (ProctypeKind::NoTrace, "notrace"),
];

/// Scalars that have no parameter; [`Scalar::WideBit`] is `bit*`, [`Scalar::WideBool`] `bool*`, both spelt
/// where they are written.
pub(super) const SCALARS: [(Scalar, &str); 9] = [
    (Scalar::Bit, "bit"),
    (Scalar::Bool, "bool"),
    (Scalar::Byte, "byte"),
    (Scalar::Pid, "pid"),
    (Scalar::Short, "short"),
    (Scalar::Int, "int"),
    (Scalar::Chan, "chan"),
    (Scalar::Lock, "lock"),
    (Scalar::Sema, "sema"),
];

/// Makes a formula of one.
pub(super) type UnaryFormula = fn(Box<Formula>) -> Formula;

/// Makes a formula of two.
pub(super) type BinaryFormula = fn(Box<Formula>, Box<Formula>) -> Formula;

/// Temporal and logical operators on one formula.
pub(super) const UNARY_FORMULAS: [(UnaryFormula, &str); 4] = [
    (Formula::Not, "not"),
    (Formula::Next, "next"),
    (Formula::Always, "always"),
    (Formula::Eventually, "eventually"),
];

/// Temporal and logical operators on two formulas.
pub(super) const BINARY_FORMULAS: [(BinaryFormula, &str); 7] = [
    (Formula::And, "and"),
    (Formula::Or, "or"),
    (Formula::Implies, "implies"),
    (Formula::Equiv, "equiv"),
    (Formula::Until, "until"),
    (Formula::WeakUntil, "weak_until"),
    (Formula::Release, "release"),
];

/// The word for `value`.
pub(super) fn word_of<T: PartialEq>(table: &[(T, &'static str)], value: &T) -> &'static str {
    table.iter().find(|(v, _)| v == value).map_or("?", |&(_, word)| word)
}

/// The value that `word` stands for.
pub(super) fn value_of<T: Copy>(table: &[(T, &'static str)], word: &str) -> Option<T> {
    table.iter().find(|&&(_, w)| w == word).map(|&(value, _)| value)
}

/// The number in a word such as `e12`: `prefix`, then digits and nothing else.
pub(super) fn numbered(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_word_is_its_prefix_and_digits() {
        assert_eq!(numbered("e12", "e"), Some(12));
        assert_eq!(numbered("e", "e"), None);
        assert_eq!(numbered("e1x", "e"), None);
        assert_eq!(numbered("e+1", "e"), None);
        assert_eq!(numbered("e4294967296", "e"), None);
        assert_eq!(numbered("L3", "e"), None);
    }

    #[test]
    fn the_words_of_expressions_are_distinct() {
        let mut words: Vec<&str> = UNARY.iter().map(|e| e.1).collect();
        words.extend(BINARY.iter().map(|e| e.1));
        words.extend(CHAN_OPS.iter().map(|e| e.1));
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}
