//! Formulas as text, where propositions are any expressions: `[] (x == 1 -> <> p[0]@done)`.
//!
//! There is no model here, so expressions are not understood: an expression is what stands between logical
//! and temporal operators, brackets matched. Operators bind as in `ltl` blocks: `->` and `<->` least, then
//! `||`, `&&`, the temporal ones, and operators with one operand most; all of them associate to the left.

use crate::formula::Formula;
use std::collections::HashMap;
use std::ops::Range;

/// A formula and the texts of its propositions: `Prop(i)` is `propositions[i]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The formula.
    pub formula: Formula,
    /// The propositions as they were written first.
    pub propositions: Vec<String>,
}

/// Why a text is not a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where: bytes of the text.
    pub place: Range<usize>,
    /// How to repair it.
    pub help: Option<String>,
}

/// Deeper nesting is refused: everything behind the parser may recurse.
const MAX_NESTING: usize = 500;
/// So are longer chains of operators.
const MAX_OPERATORS: usize = 2000;

/// Reads a formula.
pub fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        nesting: 0,
        operators: 0,
        numbers: HashMap::new(),
        propositions: Vec::new(),
    };
    let formula = parser.binary(0)?;
    match parser.peek().kind {
        Kind::End => Ok(Parsed { formula, propositions: parser.propositions }),
        Kind::Close(_) => {
            let message = "there is no bracket that this one closes".to_string();
            Err(SyntaxError { message, place: parser.peek().place.clone(), help: None })
        }
        _ => Err(parser.no_operator()),
    }
}

const OPERATORS: &str = "the operators are [] <> X ! && || -> <-> U W V R, or in words always, eventually, next, until, weakuntil, release, \
                         implies, equivalent";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Temporal {
    Always,
    Eventually,
    Next,
    Until,
    WeakUntil,
    Release,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A name or a number.
    Word,
    /// An operator of expressions.
    Sign,
    Not,
    And,
    Or,
    Implies,
    Equiv,
    Temporal(Temporal),
    Open(u8),
    Close(u8),
    End,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    place: Range<usize>,
}

/// Longest first.
const SIGNS: &[(&str, Kind)] = &[
    ("<->", Kind::Equiv),
    ("->", Kind::Implies),
    ("<>", Kind::Temporal(Temporal::Eventually)),
    ("[]", Kind::Temporal(Temporal::Always)),
    ("&&", Kind::And),
    ("/\\", Kind::And),
    ("||", Kind::Or),
    ("\\/", Kind::Or),
    ("==", Kind::Sign),
    ("!=", Kind::Sign),
    ("<=", Kind::Sign),
    (">=", Kind::Sign),
    ("<<", Kind::Sign),
    (">>", Kind::Sign),
    ("!", Kind::Not),
    ("(", Kind::Open(b')')),
    ("[", Kind::Open(b']')),
    (")", Kind::Close(b')')),
    ("]", Kind::Close(b']')),
];

fn word(text: &str) -> Kind {
    match text {
        "U" | "until" | "stronguntil" => Kind::Temporal(Temporal::Until),
        "W" | "weakuntil" => Kind::Temporal(Temporal::WeakUntil),
        "V" | "R" | "release" => Kind::Temporal(Temporal::Release),
        "X" | "next" => Kind::Temporal(Temporal::Next),
        "always" => Kind::Temporal(Temporal::Always),
        "eventually" => Kind::Temporal(Temporal::Eventually),
        "implies" => Kind::Implies,
        "equivalent" => Kind::Equiv,
        _ => Kind::Word,
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, len) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_alphanumeric() || c == '_' {
            let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (word(&rest[..len]), len)
        } else if let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            (*kind, sign.len())
        } else if "<>+-*/%&|^~@:.,?".contains(c) {
            (Kind::Sign, 1)
        } else {
            let help = if c == '=' { Some("to compare, write `==`".to_string()) } else { None };
            let message = format!("`{c}` cannot stand in a formula");
            return Err(SyntaxError { message, place: at..at + c.len_utf8(), help });
        };
        found.push(Token { kind, place: at..at + len });
        at += len;
    }
    found.push(Token { kind: Kind::End, place: text.len()..text.len() });
    Ok(found)
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    nesting: usize,
    operators: usize,
    numbers: HashMap<String, u32>,
    propositions: Vec<String>,
}

type Made = fn(Box<Formula>, Box<Formula>) -> Formula;

fn operator(kind: Kind) -> Option<(u8, Made)> {
    Some(match kind {
        Kind::Implies => (1, Formula::Implies),
        Kind::Equiv => (1, Formula::Equiv),
        Kind::Or => (2, Formula::Or),
        Kind::And => (3, Formula::And),
        Kind::Temporal(Temporal::Until) => (4, Formula::Until),
        Kind::Temporal(Temporal::WeakUntil) => (4, Formula::WeakUntil),
        Kind::Temporal(Temporal::Release) => (4, Formula::Release),
        _ => return None,
    })
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::End, |t| t.kind)
    }

    fn text(&self, at: usize) -> &str {
        &self.text[self.tokens[at].place.clone()]
    }

    /// What is wrong at the next token.
    /// There is something where an operator must be.
    fn no_operator(&self) -> SyntaxError {
        self.wrong("expected an operator", Some(self.other_spelling().unwrap_or(OPERATORS)))
    }

    /// What a word of other notations, here or before this place, is called.
    fn other_spelling(&self) -> Option<&'static str> {
        let tokens = [self.at.checked_sub(1), Some(self.at)];
        let words =
            tokens.into_iter().flatten().filter_map(|at| self.text.get(self.tokens.get(at)?.place.clone()));
        words.into_iter().find_map(|word| match word {
            "G" => Some("`G` is written `[]` or `always`"),
            "F" => Some("`F` is written `<>` or `eventually`"),
            "and" => Some("`and` is written `&&`"),
            "or" => Some("`or` is written `||`"),
            "not" => Some("`not` is written `!`"),
            _ => None,
        })
    }

    fn wrong(&self, message: &str, help: Option<&str>) -> SyntaxError {
        let token = self.peek();
        let message = match token.kind {
            Kind::End => format!("{message}, found the end of the formula"),
            _ => format!("{message}, found `{}`", &self.text[token.place.clone()]),
        };
        SyntaxError { message, place: token.place.clone(), help: help.map(str::to_string) }
    }

    fn binary(&mut self, tightest: u8) -> Result<Formula, SyntaxError> {
        let mut left = self.unary()?;
        while let Some((level, make)) = operator(self.peek().kind) {
            if level < tightest {
                break;
            }
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(self.wrong(
                    &format!("a formula can have {MAX_OPERATORS} operators with two operands"),
                    None,
                ));
            }
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = make(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Formula, SyntaxError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.wrong(&format!("a formula can be nested {MAX_NESTING} times"), None));
        }
        let formula = self.operand();
        self.nesting -= 1;
        formula
    }

    fn operand(&mut self) -> Result<Formula, SyntaxError> {
        let make: fn(Box<Formula>) -> Formula = match self.peek().kind {
            Kind::Temporal(Temporal::Always) => Formula::Always,
            Kind::Temporal(Temporal::Eventually) => Formula::Eventually,
            Kind::Temporal(Temporal::Next) => Formula::Next,
            Kind::Not if self.negates_expression() => return self.expression(),
            Kind::Not => Formula::Not,
            Kind::Open(b')') if !self.goes_on_behind_bracket()? => return self.parenthesised(),
            // Where an operand must stand, `R` is a name.
            Kind::Temporal(_) if self.text(self.at) == "R" => return self.expression(),
            Kind::Word | Kind::Open(_) | Kind::Sign => return self.expression(),
            _ => return Err(self.wrong("expected a proposition or `(`", None)),
        };
        self.at += 1;
        Ok(make(Box::new(self.unary()?)))
    }

    fn parenthesised(&mut self) -> Result<Formula, SyntaxError> {
        self.at += 1;
        let formula = self.binary(0)?;
        if self.peek().kind != Kind::Close(b')') {
            return Err(self.wrong("expected an operator or `)`", None));
        }
        self.at += 1;
        Ok(formula)
    }

    /// The place behind the bracket that closes the one at `at`.
    fn behind_bracket(&self, at: usize) -> Result<usize, SyntaxError> {
        let mut open = Vec::new();
        for i in at..self.tokens.len() {
            match self.kind(i) {
                Kind::Open(close) => open.push(close),
                Kind::Close(close) if open.pop() != Some(close) => break,
                Kind::Close(_) if open.is_empty() => return Ok(i + 1),
                _ => {}
            }
        }
        let message = format!("nothing closes this `{}`", self.text(at));
        Err(SyntaxError { message, place: self.tokens[at].place.clone(), help: None })
    }

    /// Whether the parenthesis here is only the beginning of an expression, as in `(a + b) == c`.
    fn goes_on_behind_bracket(&self) -> Result<bool, SyntaxError> {
        let behind = self.behind_bracket(self.at)?;
        Ok(matches!(self.kind(behind), Kind::Sign | Kind::Open(_)))
    }

    /// Whether the `!` here belongs to an expression: `!a == b` compares `!a`, as everywhere in Promela.
    fn negates_expression(&self) -> bool {
        let mut at = self.at;
        while self.kind(at) == Kind::Not {
            at += 1;
        }
        loop {
            at = match self.kind(at) {
                Kind::Word => at + 1,
                Kind::Open(_) => match self.behind_bracket(at) {
                    Ok(behind) => behind,
                    Err(_) => return false,
                },
                Kind::Sign if matches!(self.text(at), "@" | ":" | ".") => at + 1,
                Kind::Sign => return true,
                _ => return false,
            };
        }
    }

    /// An expression: operands and signs in turn, brackets as a whole.
    fn expression(&mut self) -> Result<Formula, SyntaxError> {
        let first = self.at;
        let mut complete = false;
        loop {
            match self.peek().kind {
                Kind::Temporal(_) if !complete && self.text(self.at) == "R" => {
                    complete = true;
                    self.at += 1;
                }
                Kind::Word if complete => return Err(self.no_operator()),
                Kind::Word => {
                    complete = true;
                    self.at += 1;
                }
                Kind::Open(_) => {
                    let behind = self.behind_bracket(self.at)?;
                    self.at += 1;
                    while self.at < behind {
                        if let Kind::Temporal(_) = self.peek().kind {
                            let help = "a temporal formula is true or false at a moment: it has no value to compare or to calculate with";
                            return Err(
                                self.wrong("expected an expression without temporal operators", Some(help))
                            );
                        }
                        self.at += 1;
                    }
                    complete = true;
                }
                Kind::Not if !complete => self.at += 1,
                Kind::Sign => {
                    complete = false;
                    self.at += 1;
                }
                _ if complete => break,
                _ => return Err(self.wrong("expected an operand", None)),
            }
        }
        Ok(self.proposition(first))
    }

    fn proposition(&mut self, first: usize) -> Formula {
        let words: Vec<&str> = (first..self.at).map(|i| self.text(i)).collect();
        match words[..] {
            ["true" | "1" | "skip"] => return Formula::True,
            ["false" | "0"] => return Formula::False,
            _ => {}
        }
        let key = words.join(" ");
        let new = self.propositions.len() as u32;
        let number = *self.numbers.entry(key).or_insert(new);
        if number == new {
            let written = &self.text[self.tokens[first].place.start..self.tokens[self.at - 1].place.end];
            self.propositions.push(written.split_whitespace().collect::<Vec<&str>>().join(" "));
        }
        Formula::Prop(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let parsed = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        parsed.formula.with_names(|p| format!("{{{}}}", parsed.propositions[p as usize])).to_string()
    }

    #[test]
    fn words_of_other_notations() {
        for (text, word) in
            [("G F p", "`G`"), ("p and q", "`and`"), ("not p", "`not`"), ("(F p) && q", "`F`")]
        {
            let help = parse(text).unwrap_err().help.unwrap();
            assert!(help.starts_with(word), "{text}: {help}");
        }
        assert!(parse("p q").unwrap_err().help.unwrap().starts_with("the operators are"));
    }

    #[test]
    fn operators() {
        assert_eq!(shown("[] (p -> <> q)"), "[] ({p} -> <> {q})");
        assert_eq!(shown("a && b || c U d -> e <-> f"), "((({a} && {b}) || ({c} U {d})) -> {e}) <-> {f}");
        assert_eq!(shown("a /\\ b \\/ X c"), "({a} && {b}) || X {c}");
        assert_eq!(shown("always a implies eventually next b"), "[] {a} -> <> X {b}");
        assert_eq!(
            shown("a until b weakuntil c release d stronguntil e"),
            "((({a} U {b}) W {c}) V {d}) U {e}"
        );
        assert_eq!(shown("a equivalent b"), "{a} <-> {b}");
        assert_eq!(shown("a R b"), "{a} V {b}");
        assert_eq!(shown("R R R"), "{R} V {R}");
        assert_eq!(shown("[]<>p && ![]!q"), "[] <> {p} && ![] !{q}");
        assert_eq!(shown("true U (1 && false)"), "true U (true && false)");
    }

    #[test]
    fn expressions() {
        assert_eq!(shown("[] x == 1"), "[] {x == 1}");
        assert_eq!(shown("(a + b) * 2 < c[a[1]] U ((x>-1))"), "{(a + b) * 2 < c[a[1]]} U {x>-1}");
        assert_eq!(
            shown("p[0]@done -> q:x == 1 && len(c) < 2"),
            "{p[0]@done} -> ({q:x == 1} && {len(c) < 2})"
        );
        assert_eq!(shown("(a && b) == c"), "{(a && b) == c}");
        assert_eq!(shown("!a == b && !c && !p[0]@l"), "({!a == b} && !{c}) && !{p[0]@l}");
        assert_eq!(shown("x<-1 <-> y"), "{x<-1} <-> {y}");
        assert_eq!(
            shown("a==1 && a  ==  1").matches("a==1").count(),
            2,
            "the first spelling of equal tokens"
        );
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        let wrong = |text: &str, at: &str, what: &str| {
            let error = parse(text).expect_err(text);
            assert_eq!(&text[error.place.clone()], at, "{text}: {error:?}");
            assert!(error.message.contains(what), "{text}: {error:?}");
        };
        wrong("", "", "expected a proposition");
        wrong("[] (p -> q", "(", "nothing closes");
        wrong("p)", ")", "there is no bracket that this one closes");
        wrong("p q", "q", "expected an operator");
        wrong("p && ", "", "found the end");
        wrong("p && || q", "||", "expected a proposition");
        wrong("x = 1", "=", "cannot stand");
        wrong("x == ", "", "expected an operand");
        wrong("x == [] y", "[]", "expected an operand");
        wrong("([] x) == 1", "[]", "without temporal operators");
        wrong("[] ä", "ä", "cannot stand");
        wrong("p[1", "[", "nothing closes");
        wrong("(p]", "(", "nothing closes");
        wrong("() U p", ")", "expected a proposition");
        wrong(&format!("{}p", "!".repeat(1000)), "!", "nested");
        wrong(&"(".repeat(100_000), "(", "nothing closes");
        wrong(&format!("{}p{}", "(".repeat(1000), ")".repeat(1000)), "(", "nested");
        wrong(&format!("{}p", "p && ".repeat(3000)), "&&", "2000");
    }
}
