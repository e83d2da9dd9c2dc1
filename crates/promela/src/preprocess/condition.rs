//! The expressions of `#if` and `#elif`: C's constant expressions over 64-bit integers.
//!
//! Names that are no macros count as 0. An operand that does not matter (`0 && x`, `1 ? a : x`) is checked
//! but not calculated, so `#if defined N && 10 / N` is fine when `N` is missing.

use super::intern::{Interner, Sym};
use super::scan::{Kind, PpToken};
use super::{MAX_CONDITION_DEPTH, Preprocessor};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// A value: C's `intmax_t` or `uintmax_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Value {
        Value { bits, unsigned: false }
    }

    fn truth(self) -> bool {
        self.bits != 0
    }
}

/// What is wrong with an expression.
struct Problem {
    code: Code,
    span: Span,
    message: String,
    help: &'static str,
}

type Outcome = Result<Value, Box<Problem>>;

impl Preprocessor<'_> {
    /// Whether the condition on the rest of a directive's line holds; a wrong one is reported and does not
    /// hold.
    pub(super) fn condition(&mut self, directive: &PpToken, line: Vec<PpToken>) -> bool {
        let tokens = self.condition_tokens(line);
        let at_end = directive.span;
        let mut evaluator =
            Evaluator { interner: &self.interner, tokens: &tokens, pos: 0, depth: 0, at_end, live: true };
        match evaluator.whole() {
            Ok(value) => value.truth(),
            Err(p) => {
                self.report(Diagnostic::new(p.code, p.span, p.message).help(p.help));
                false
            }
        }
    }

    /// The tokens of a condition with its macros replaced and each `defined X` turned into a number.
    fn condition_tokens(&mut self, line: Vec<PpToken>) -> Vec<PpToken> {
        let before = (self.carried_space, self.seam, self.seam_behind);
        let defined = self.interner.intern("defined");
        let reader = self.read_tokens(line);
        self.in_condition = true;
        let mut out = Vec::new();
        loop {
            let token = self.expanded(reader);
            if token.kind == Kind::End {
                break;
            }
            if token.kind != Kind::Name || token.sym != defined {
                out.push(token);
                continue;
            }
            let mut name = self.unexpanded(reader);
            let paren = name.is(Sym::LPAREN);
            if paren {
                name = self.unexpanded(reader);
            }
            if name.kind != Kind::Name || paren && !self.unexpanded(reader).is(Sym::RPAREN) {
                let message = "`defined` needs the name of a macro";
                let help = "write `defined NAME` or `defined(NAME)`";
                self.report(Diagnostic::new(Code::E0013, token.span, message).help(help));
            }
            let known = name.kind == Kind::Name && self.definition(name.sym).is_some();
            let sym = self.interner.intern(if known { "1" } else { "0" });
            out.push(PpToken { kind: Kind::Number, sym, ..token });
        }
        self.in_condition = false;
        (self.carried_space, self.seam, self.seam_behind) = before;
        out
    }
}

struct Evaluator<'t> {
    interner: &'t Interner,
    tokens: &'t [PpToken],
    pos: usize,
    depth: usize,
    at_end: Span,
    /// Whether the value of what is being read matters.
    live: bool,
}

impl Evaluator<'_> {
    fn whole(&mut self) -> Outcome {
        if self.tokens.is_empty() {
            return self.wrong("there is no condition after this directive", "write an expression after it");
        }
        let value = self.comma()?;
        match self.peek() {
            None => Ok(value),
            Some(")") => self.wrong("this `)` closes nothing", "remove it, or add a `(` before"),
            Some(text) => {
                let message = format!("there is no operator before `{text}`");
                self.wrong(message, "a name that is not defined counts as 0 and cannot be called")
            }
        }
    }

    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.pos).map(|t| &**self.interner.text(t.sym))
    }

    fn accept(&mut self, text: &str) -> bool {
        let found =
            self.tokens.get(self.pos).is_some_and(|t| t.kind == Kind::Operator) && self.peek() == Some(text);
        self.pos += usize::from(found);
        found
    }

    fn wrong<T>(&self, message: impl Into<String>, help: &'static str) -> Result<T, Box<Problem>> {
        let span = self.tokens.get(self.pos).map_or(self.at_end, |t| t.span);
        Err(Box::new(Problem { code: Code::E0013, span, message: message.into(), help }))
    }

    fn comma(&mut self) -> Outcome {
        let mut value = self.ternary()?;
        while self.accept(",") {
            value = self.ternary()?;
        }
        Ok(value)
    }

    fn ternary(&mut self) -> Outcome {
        self.depth += 1;
        if self.depth > MAX_CONDITION_DEPTH {
            return self
                .wrong("this condition is nested too deeply", "simplify it, or split it into several `#if`");
        }
        let condition = self.binary(0)?;
        let value = if self.accept("?") {
            let live = self.live;
            self.live = live && condition.truth();
            let yes = self.comma()?;
            if !self.accept(":") {
                return self.wrong("this `?` has no `:`", "write `condition ? value : value`");
            }
            self.live = live && !condition.truth();
            let no = self.ternary()?;
            self.live = live;
            let unsigned = yes.unsigned || no.unsigned;
            Value { unsigned, ..if condition.truth() { yes } else { no } }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    /// The binary operators by increasing strength.
    fn strength(text: &str) -> Option<u8> {
        Some(match text {
            "||" => 1,
            "&&" => 2,
            "|" => 3,
            "^" => 4,
            "&" => 5,
            "==" | "!=" => 6,
            "<" | ">" | "<=" | ">=" => 7,
            "<<" | ">>" => 8,
            "+" | "-" => 9,
            "*" | "/" | "%" => 10,
            _ => return None,
        })
    }

    fn binary(&mut self, weakest: u8) -> Outcome {
        let mut left = self.unary()?;
        loop {
            let Some(strength) = self.peek().and_then(Self::strength).filter(|&s| s > weakest) else {
                return Ok(left);
            };
            let at = self.pos;
            let operator = self.interner.text(self.tokens[at].sym).clone();
            self.pos += 1;
            let live = self.live;
            self.live = live
                && match &*operator {
                    "||" => !left.truth(),
                    "&&" => left.truth(),
                    _ => true,
                };
            let right = self.binary(strength)?;
            self.live = live;
            left = self.apply(&operator, at, left, right)?;
        }
    }

    fn apply(&self, operator: &str, at: usize, a: Value, b: Value) -> Outcome {
        let unsigned = a.unsigned || b.unsigned;
        let (x, y) = (a.bits, b.bits);
        let less = |x: i64, y: i64| if unsigned { (x as u64) < y as u64 } else { x < y };
        let truth = |t: bool| Ok(Value::signed(i64::from(t)));
        let bits = match operator {
            "||" => return truth(a.truth() || b.truth()),
            "&&" => return truth(a.truth() && b.truth()),
            "==" => return truth(x == y),
            "!=" => return truth(x != y),
            "<" => return truth(less(x, y)),
            ">" => return truth(less(y, x)),
            "<=" => return truth(!less(y, x)),
            ">=" => return truth(!less(x, y)),
            "<<" => return Ok(shift(a, b, true)),
            ">>" => return Ok(shift(a, b, false)),
            "|" => x | y,
            "^" => x ^ y,
            "&" => x & y,
            "+" => x.wrapping_add(y),
            "-" => x.wrapping_sub(y),
            "*" => x.wrapping_mul(y),
            _ if y == 0 && self.live => {
                let message = "division by zero in a condition".into();
                let help =
                    "test the divisor first, as in `N && 10 / N`; a name that is not defined counts as 0";
                return Err(Box::new(Problem {
                    code: Code::E0014,
                    span: self.tokens[at].span,
                    message,
                    help,
                }));
            }
            _ if y == 0 => 0,
            "/" if unsigned => (x as u64 / y as u64) as i64,
            "/" => x.wrapping_div(y),
            _ if unsigned => (x as u64 % y as u64) as i64,
            _ => x.wrapping_rem(y),
        };
        Ok(Value { bits, unsigned })
    }

    fn unary(&mut self) -> Outcome {
        self.depth += 1;
        if self.depth > MAX_CONDITION_DEPTH {
            return self
                .wrong("this condition is nested too deeply", "simplify it, or split it into several `#if`");
        }
        let value = if self.accept("-") {
            let v = self.unary()?;
            Value { bits: v.bits.wrapping_neg(), ..v }
        } else if self.accept("+") {
            self.unary()?
        } else if self.accept("~") {
            let v = self.unary()?;
            Value { bits: !v.bits, ..v }
        } else if self.accept("!") {
            Value::signed(i64::from(!self.unary()?.truth()))
        } else if self.accept("(") {
            let v = self.comma()?;
            if !self.accept(")") {
                return self.wrong("a `)` is missing in this condition", "close every `(`");
            }
            v
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Outcome {
        let Some(token) = self.tokens.get(self.pos) else {
            return self.wrong("this condition ends too early", "write a value after the operator");
        };
        let text = self.interner.text(token.sym);
        let value = match token.kind {
            Kind::Name => Some(Value::signed(0)),
            Kind::Number => number(text),
            Kind::Char => character(text).map(Value::signed),
            _ => None,
        };
        match value {
            Some(value) => {
                self.pos += 1;
                Ok(value)
            }
            None => {
                let message = format!("`{text}` is not a value that a condition can have");
                self.wrong(message, "conditions are made of integers, character constants and macro names")
            }
        }
    }
}

fn shift(a: Value, b: Value, left: bool) -> Value {
    let negative = !b.unsigned && b.bits < 0;
    let count = if negative { b.bits.unsigned_abs() } else { b.bits as u64 };
    let bits = match (left != negative, a.unsigned) {
        (true, _) => {
            if count < 64 {
                a.bits << count
            } else {
                0
            }
        }
        (false, true) => {
            if count < 64 {
                ((a.bits as u64) >> count) as i64
            } else {
                0
            }
        }
        (false, false) => a.bits >> count.min(63),
    };
    Value { bits, ..a }
}

/// A C integer: decimal, octal, hexadecimal or binary, with its suffixes.
fn number(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    let (radix, rest) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    let length = rest.bytes().take_while(|&b| (b as char).is_digit(radix)).count();
    let (digits, suffix) = rest.split_at(length);
    if digits.is_empty() && radix != 8
        || !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu")
    {
        return None;
    }
    let bits = match digits {
        "" => 0,
        _ => u64::from_str_radix(digits, radix).unwrap_or(u64::MAX),
    };
    let unsigned = suffix.contains('u') || bits > i64::MAX as u64;
    Some(Value { bits: bits as i64, unsigned })
}

/// A C character constant; several characters make a larger number, as with gcc.
fn character(text: &str) -> Option<i64> {
    let inner = text.get(1..text.len().checked_sub(1)?)?;
    let bytes = inner.as_bytes();
    let mut at = 0;
    let mut value: Option<i32> = None;
    while at < bytes.len() {
        let (byte, used) = character_byte(&bytes[at..])?;
        at += used;
        value = Some(match value {
            None => i32::from(byte as i8),
            Some(before) => before << 8 | i32::from(byte),
        });
    }
    value.map(i64::from)
}

fn character_byte(bytes: &[u8]) -> Option<(u8, usize)> {
    let [b'\\', escape, rest @ ..] = bytes else { return bytes.first().map(|&b| (b, 1)) };
    Some(match escape {
        b'n' => (b'\n', 2),
        b't' => (b'\t', 2),
        b'r' => (b'\r', 2),
        b'f' => (0x0c, 2),
        b'v' => (0x0b, 2),
        b'a' => (7, 2),
        b'b' => (8, 2),
        b'x' => {
            let count = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            let value = rest[..count].iter().fold(0u8, |v, &b| {
                v.wrapping_mul(16).wrapping_add((b as char).to_digit(16).unwrap_or(0) as u8)
            });
            (value, 2 + count)
        }
        b'0'..=b'7' => {
            let digits = &bytes[1..];
            let count = digits.iter().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
            let value = digits[..count].iter().fold(0u8, |v, &b| v.wrapping_mul(8).wrapping_add(b - b'0'));
            (value, 1 + count)
        }
        &other => (other, 2),
    })
}
