//! Habits of people who know C, Java, Go, TLA+ or another model checker, and how the same is written in
//! Promela.
//!
//! Nothing here decides what is accepted: these are words for text that was refused, at the place where it
//! was.

use super::keyword::Keyword;
use super::lexis::{Kind, Tok};
use super::parser::Parser;
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::source::Span;
use crate::token::Punct;

/// Of tables.
pub(super) const ONE_DIMENSION: &str = "an array has one dimension: declare a structure that holds the rows, as in \
    `typedef row { int at[3] }` and `row table[2]`, and write `table[1].at[2]`";

/// Of statements at the top level.
pub(super) const STATEMENT_OUTSIDE: &str =
    "only declarations stand here: a statement belongs into `init { … }` or a `proctype`";

/// Words of other languages and what is written instead of them.
const FOREIGN: &[(&str, &str)] = &[
    ("while", "Promela has no `while`: write `do :: (condition) -> … :: else -> break od`"),
    ("loop", "Promela has no `loop`: write `do :: … od`"),
    ("repeat", "Promela has no `repeat`: write `do :: … od`"),
    ("switch", "Promela has no `switch`: write `if :: (x == 1) -> … :: else -> … fi`"),
    ("case", "Promela has no `case`: write an option `:: (x == 1) -> …`"),
    ("default", "Promela has no `default`: write an option `:: else -> …`"),
    ("elif", "Promela has no `elif`: write another option `:: (condition) -> …`"),
    ("elseif", "Promela has no `elseif`: write another option `:: (condition) -> …`"),
    ("then", "Promela has no `then`: write `->`"),
    (
        "continue",
        "Promela has no `continue`: an option of `do` that ends starts the loop again; or use `goto`",
    ),
    ("endif", "an `if` ends with `fi`"),
    ("done", "a `do` ends with `od`"),
    ("function", "Promela has no functions: write an `inline`, or a `proctype` that answers on a channel"),
    ("def", "Promela has no functions: write an `inline`, or a `proctype` that answers on a channel"),
    (
        "void",
        "Promela has no functions: write `init { … }` for `main`, an `inline`, or a `proctype` that answers on a channel",
    ),
    ("func", "Promela has no functions: write an `inline`, or a `proctype` that answers on a channel"),
    ("fn", "Promela has no functions: write an `inline`, or a `proctype` that answers on a channel"),
    ("class", "a structure is declared with `typedef NAME { … }`"),
    ("record", "a structure is declared with `typedef NAME { … }`"),
    ("VARIABLE", "a variable is declared with its type, as in `int x`"),
    ("VARIABLES", "a variable is declared with its type, as in `int x`"),
    ("CONSTANT", "a constant is written `#define NAME value`"),
    ("CONSTANTS", "a constant is written `#define NAME value`"),
    ("final", "a constant is written `#define NAME value`"),
    ("until", "Promela has no `until` outside of formulas: to wait, write the condition as a statement"),
    ("go", "a process is started with `run NAME(…)`"),
    ("spawn", "a process is started with `run NAME(…)`"),
    ("fork", "a process is started with `run NAME(…)`"),
    ("start", "a process is started with `run NAME(…)`"),
    (
        "synchronized",
        "to do several steps as one, write `atomic { … }`; a lock is a variable and a condition to wait for",
    ),
    ("mutex", "a lock is a variable: `bool locked`, taken by `atomic { !locked -> locked = true }`"),
    ("await", "to wait, write the condition as a statement: `(x > 0);`"),
    ("yield", "other processes may always run between two statements: remove it"),
    ("throw", "Promela has no exceptions: see `unless`"),
    ("process", "a process is declared with `proctype`"),
    ("thread", "a process is declared with `proctype`"),
    ("main", "the first process is declared with `init { … }`"),
    ("struct", "a structure is declared with `typedef NAME { … }`"),
    ("enum", "symbolic constants are declared with `mtype = { … }`"),
    ("const", "a constant is written `#define NAME value`"),
    ("static", "Promela has no `static`: remove it"),
    ("channel", "a channel is declared with `chan`"),
    ("char", "Promela has no `char`: use `byte`"),
    ("long", "Promela has no `long`: use `int`"),
    ("float", "Promela has only integers: use `int`"),
    ("double", "Promela has only integers: use `int`"),
    ("string", "Promela has no strings: use an `mtype`"),
    ("boolean", "write `bool`"),
    ("integer", "write `int`"),
    ("uint", "write `unsigned x : bits`, or `int`"),
    ("var", "a variable is declared with its type, as in `int x`"),
    ("let", "a variable is declared with its type, as in `int x`"),
    ("print", "write `printf(\"…\")`"),
    ("println", "write `printf(\"…\\n\")`"),
    ("and", "write `&&`"),
    ("or", "write `||`"),
    ("not", "write `!`"),
    ("mod", "write `%`"),
    ("send", "a message is sent with `c ! message`"),
    ("receive", "a message is received with `c ? variable`"),
    ("recv", "a message is received with `c ? variable`"),
    ("wait", "to wait, write the condition as a statement: `(x > 0);`"),
    ("sleep", "Promela has no time: to wait, write a condition as a statement"),
    ("exit", "to end a process, let it reach its closing `}` (with `goto`)"),
    ("try", "Promela has no exceptions: see `unless`"),
    ("lock", "to lock, write `atomic { (!locked) -> locked = true }`"),
    ("random", "to choose at random, write `select (x : 0 .. 9)`"),
    ("rand", "to choose at random, write `select (x : 0 .. 9)`"),
];

/// What to write instead of a word that is no keyword of Promela but was meant as one.
pub(super) fn instead_of(word: &str) -> Option<String> {
    if let Some((_, help)) = FOREIGN.iter().find(|(foreign, _)| *foreign == word) {
        return Some((*help).to_string());
    }
    nearest(word, Keyword::ALL.iter().map(|k| k.text())).map(|near| format!("did you mean `{near}`?"))
}

/// What stands for a word of another language, or for a misspelt keyword, where one word or sign does.
pub(super) fn replacement(word: &str) -> Option<&'static str> {
    match word {
        "and" => Some("&&"),
        "or" => Some("||"),
        "not" => Some("!"),
        "mod" => Some("%"),
        "then" => Some("->"),
        "boolean" => Some("bool"),
        "integer" => Some("int"),
        _ if is_foreign(word) => None,
        _ => nearest(word, Keyword::ALL.iter().map(|k| k.text())),
    }
}

/// Whether this is a word of another language.
pub(super) fn is_foreign(word: &str) -> bool {
    FOREIGN.iter().any(|(foreign, _)| *foreign == word)
}

/// A word made of letters that are temporal operators elsewhere, as in `GF` or CTL's `AG`, the way Promela
/// writes it.
fn temporal(word: &str) -> Option<String> {
    let of = |letter| match letter {
        'G' => Some("[]"),
        'F' => Some("<>"),
        'X' | 'N' => Some("X "),
        _ => None,
    };
    let path = word.strip_prefix('A').filter(|rest| !rest.is_empty()).unwrap_or(word);
    let signs: Option<String> = path.chars().map(of).collect();
    signs.filter(|signs| !signs.is_empty())
}

impl Parser<'_> {
    /// Signs that other languages have and Promela's lexer takes apart, and what to write instead.
    pub(super) fn foreign_sign(&self, before: &str, tok: &Tok) -> Option<(String, String)> {
        if !self.touches_previous(tok) {
            return None;
        }
        let Kind::Punct(found) = tok.kind else { return None };
        let help = match (before, found) {
            ("+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" | "&&" | "||", Punct::Assign) => {
                return Some((format!("{before}="), format!("write `x = x {before} …`")));
            }
            (":", Punct::Assign) => "to assign, write `=`",
            ("<>", Punct::Gt) => {
                let help = "it means eventually, in formulas only; for not equal, write `!=`";
                return Some(("<>".to_string(), help.to_string()));
            }
            ("==", Punct::Gt) => "for implication in a formula, write `->`; for greater or equal, `>=`",
            ("<=", Punct::Gt) => "for equivalence in a formula, write `<->`; to compare, `==`",
            ("==" | "!=", Punct::Assign) => "compare with `==` or `!=`",
            ("=", Punct::Lt) => "for less or equal, write `<=`",
            ("=", Punct::Gt) => "for greater or equal, write `>=`; behind a guard, write `->`",
            _ => return None,
        };
        Some((format!("{before}{}", found.text()), help.to_string()))
    }

    /// The text of the model behind a token.
    fn text_behind(&self, span: Span) -> &str {
        let file = self.lexer.stream.sources.files().get(span.file.0 as usize);
        file.and_then(|file| file.text.get(span.end as usize..)).unwrap_or("")
    }

    /// What stands before a token in its line.
    pub(super) fn line_before(&self, tok: &Tok) -> &str {
        let file = self.lexer.stream.sources.files().get(tok.span.file.0 as usize);
        let line = file.and_then(|file| {
            let start = file.row_start(file.row(tok.span.start));
            file.text.get(start as usize..tok.span.start as usize)
        });
        line.unwrap_or("")
    }

    /// The parentheses that begin with `tok`, as they are written, if they are short.
    fn arguments(&self, tok: &Tok) -> String {
        let behind = self.text_behind(tok.span);
        let inside = behind.split_once(')').map(|(inside, _)| inside.trim());
        match inside.filter(|inside| inside.len() < 40 && !inside.contains(['(', '\n'])) {
            Some(inside) => format!("({inside})"),
            None => "(…)".to_string(),
        }
    }

    /// An operator of another notation for formulas.
    pub(super) fn foreign_formula(&self, what: &str, before: &str, tok: &Tok) -> Option<Diagnostic> {
        if !self.lexer.in_formula && !what.starts_with("an operator or") {
            return None;
        }
        let behind = self.text_behind(tok.span);
        let (sign, help) = match tok.kind {
            Kind::Punct(Punct::Assign) if behind.starts_with('>') => ("=>", "for implication, write `->`"),
            Kind::Punct(Punct::Tilde) if behind.starts_with('>') => {
                ("~>", "that `p` leads to `q` is written `[] (p -> <> q)`")
            }
            _ => return self.letters(before, tok),
        };
        let span = Span { end: tok.span.end + 1, ..tok.span };
        Some(Diagnostic::new(Code::E0101, span, format!("Promela has no `{sign}` here")).help(help))
    }

    /// `G F p`, `GF p`, `AG p`: letters for temporal operators.
    fn letters(&self, before: &str, tok: &Tok) -> Option<Diagnostic> {
        let operand = !matches!(tok.kind, Kind::Punct(p) if p != Punct::LParen && p != Punct::Not);
        if !operand || self.declared.contains(before) {
            return None;
        }
        let mut signs = temporal(before)?;
        let (mut word, mut span) = (before.to_string(), self.previous_span());
        if let Kind::Name(next) = &tok.kind
            && !self.declared.contains(next)
            && let Some(more) = temporal(next)
        {
            (signs, word, span) = (signs + &more, format!("{word} {next}"), self.join_spans(span, tok.span));
        }
        let message = format!("Promela has no operator `{word}`");
        let help = format!(
            "write `{} …`: `[]` is always, `<>` eventually, `X` next, `U` until, `V` release",
            signs.trim_end()
        );
        Some(Diagnostic::new(Code::E0101, span, message).help(help))
    }

    /// A function that is declared, or a process that is started as if it were called.
    pub(super) fn function(&self, what: &str, before: &str, tok: &Tok) -> Option<Diagnostic> {
        if !tok.is(Punct::LParen) {
            return None;
        }
        let arguments = self.arguments(tok);
        if what.starts_with("`@`") {
            let message = format!("`{before}` is a proctype: it is started, not called");
            let error = Diagnostic::new(Code::E0101, self.previous_span(), message);
            let error = match self.lexer.names.proctypes.get(before) {
                Some(first) => error.label(*first, "declared here"),
                None => error,
            };
            return Some(error.help(format!("write `run {before}{arguments}`")));
        }
        let help = match before {
            _ if what != "a declaration" || Keyword::of(before).is_some() => return None,
            "make" => "a channel is declared as `chan c = [2] of { byte, bool }`".to_string(),
            "main" => "the first process is declared with `init { … }`".to_string(),
            name if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => format!(
                "write `inline {name}(…) {{ … }}` for text that is put where it is used, or `proctype {name}(…) {{ … }}` for a process"
            ),
            _ => return None,
        };
        Some(Diagnostic::new(Code::E0101, self.previous_span(), "Promela has no functions").help(help))
    }

    /// What repairs the use of a name as a function.
    pub(super) fn call_repair(&self, name: &str) -> String {
        let text = self.lexer.stream.sources.files().iter().map(|file| &*file.text);
        let is_below = |kind: &str| text.clone().any(|text| text.contains(&format!("{kind} {name}(")));
        if is_below("proctype") {
            return format!("`{name}` is a proctype: write `run {name}(…)`");
        }
        if is_below("inline") {
            return format!("the inline `{name}` is declared below: it must stand before its first use");
        }
        if let Some(near) = nearest(name, self.lexer.names.inlines.keys().map(|n| &**n)) {
            return format!("did you mean the inline `{near}`?");
        }
        if let Some(near) = nearest(name, self.lexer.names.proctypes.keys().map(|n| &**n)) {
            return format!("did you mean to start the process `run {near}(…)`?");
        }
        // A short name is near to some keyword by chance.
        let near = nearest(name, Keyword::ALL.iter().map(|k| k.text())).filter(|_| name.len() > 3);
        match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "only an inline can be called, and none of this name is declared; a process is started with `run {name}(…)`"
            ),
        }
    }

    /// What repairs `const int N = 3`, of which the first word has been seen: with the name and the value, if
    /// they are there.
    fn constant_words(line: &str) -> Option<(&str, &str)> {
        let (left, value) = line.split(';').next()?.split_once('=')?;
        let name = left.split_whitespace().last()?;
        Some((name, value.trim())).filter(|(name, value)| !name.is_empty() && !value.is_empty())
    }

    /// How to write a constant, in words.
    pub(super) fn constant_repair(&mut self) -> String {
        let at = self.peek().span;
        let line = self.text_behind(at).lines().next().unwrap_or("");
        match Self::constant_words(line) {
            Some((name, value)) => format!("a constant is written `#define {name} {value}`"),
            None => "a constant is written `#define NAME value`".to_string(),
        }
    }
}
