//! Macro definitions: what `#define` says, checked and cut into pieces once, when it is read.

use super::Preprocessor;
use super::intern::Sym;
use super::scan::{Kind, PpToken, SPACE};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// A macro.
#[derive(Clone)]
pub(super) enum Definition {
    /// One that a text defined.
    User(Rc<Macro>),
    /// One that is always there.
    Builtin(Builtin),
}

/// A macro that no text defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    /// `__LINE__`
    Line,
    /// `__FILE__`
    File,
    /// `__BASE_FILE__`
    BaseFile,
    /// `__COUNTER__`
    Counter,
    /// `__INCLUDE_LEVEL__`
    IncludeLevel,
    /// A fixed text that is one token.
    Fixed(&'static str),
    /// As `Fixed`, but with a name that a model may well use for something else.
    Surprising(&'static str),
}

/// The built-in macros: those of gcc that do not depend on the machine and that a model can reasonably ask
/// for.
pub(super) const BUILTINS: &[(&str, Builtin)] = &[
    ("__LINE__", Builtin::Line),
    ("__FILE__", Builtin::File),
    ("__BASE_FILE__", Builtin::BaseFile),
    ("__COUNTER__", Builtin::Counter),
    ("__INCLUDE_LEVEL__", Builtin::IncludeLevel),
    ("linux", Builtin::Surprising("1")),
    ("unix", Builtin::Surprising("1")),
    ("__linux", Builtin::Fixed("1")),
    ("__linux__", Builtin::Fixed("1")),
    ("__gnu_linux__", Builtin::Fixed("1")),
    ("__unix", Builtin::Fixed("1")),
    ("__unix__", Builtin::Fixed("1")),
    ("__STDC__", Builtin::Fixed("1")),
    ("__STDC_HOSTED__", Builtin::Fixed("1")),
    ("__STDC_VERSION__", Builtin::Fixed("199901L")),
    ("__GNUC__", Builtin::Fixed("12")),
    ("__GNUC_MINOR__", Builtin::Fixed("2")),
    ("__CHAR_BIT__", Builtin::Fixed("8")),
    ("__SCHAR_MAX__", Builtin::Fixed("0x7f")),
    ("__SHRT_MAX__", Builtin::Fixed("0x7fff")),
    ("__INT_MAX__", Builtin::Fixed("0x7fffffff")),
];

/// A macro that a text defined.
pub(super) struct Macro {
    /// The parameters, if it takes any; `Some` and empty for `F()`.
    pub params: Option<Params>,
    /// What it is replaced by.
    pub body: Vec<Piece>,
    /// Where its name stands in the definition.
    pub span: Span,
}

/// The parameters of a macro.
#[derive(PartialEq, Eq, Default)]
pub(super) struct Params {
    /// Their names.
    pub names: Vec<Sym>,
    /// Whether the last one takes all further arguments.
    pub variadic: bool,
}

/// What a piece of a replacement text stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Itself.
    Token,
    /// The argument with this index.
    Param(usize),
    /// The argument with this index as a string (`#x`).
    Quoted(usize),
}

/// A piece of a replacement text.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// What it stands for.
    pub what: What,
    /// The token as written.
    pub token: PpToken,
    /// Whether `##` joins it with the next piece.
    pub pasted: bool,
}

impl Macro {
    /// Whether two definitions say the same, so that the second is no redefinition.
    fn same(&self, other: &Macro) -> bool {
        let key = |p: &Piece| (p.what, p.token.kind, p.token.sym, p.token.has(SPACE), p.pasted);
        self.params == other.params && self.body.iter().map(key).eq(other.body.iter().map(key))
    }
}

impl Preprocessor<'_> {
    /// Defines [`BUILTINS`].
    pub(super) fn define_builtins(&mut self) {
        for (name, builtin) in BUILTINS {
            let sym = self.interner.intern(name);
            self.set_definition(sym, Some(Definition::Builtin(*builtin)));
        }
    }

    /// The definition of a name.
    pub(super) fn definition(&self, name: Sym) -> Option<&Definition> {
        self.definitions.get(name.0 as usize).and_then(Option::as_ref)
    }

    fn set_definition(&mut self, name: Sym, definition: Option<Definition>) {
        let at = name.0 as usize;
        if self.definitions.len() <= at {
            self.definitions.resize_with(at + 1, || None);
        }
        self.definitions[at] = definition;
    }

    /// `#define`: `line` is all that follows the word.
    pub(super) fn define(&mut self, directive: &PpToken, line: &[PpToken]) {
        let Some(name) = self.macro_name(directive, line) else { return };
        let rest = &line[1..];
        let (params, body) = match rest.first() {
            Some(paren) if paren.is(Sym::LPAREN) && !paren.has(SPACE) => match self.params(paren, &rest[1..])
            {
                Some((params, used)) => (Some(params), &rest[1 + used..]),
                None => return,
            },
            _ => (None, rest),
        };
        let Some(body) = self.body(params.as_ref(), body) else { return };
        let new = Macro { params, body, span: name.span };
        self.check_redefinition(&name, &new);
        self.set_definition(name.sym, Some(Definition::User(Rc::new(new))));
    }

    /// `#undef`.
    pub(super) fn undefine(&mut self, directive: &PpToken, line: &[PpToken]) {
        let Some(name) = self.macro_name(directive, line) else { return };
        self.warn_about_extra(&line[1..], "#undef");
        self.set_definition(name.sym, None);
    }

    /// The name that a directive must begin with.
    pub(super) fn macro_name(&mut self, directive: &PpToken, line: &[PpToken]) -> Option<PpToken> {
        let (span, found) = match line.first() {
            Some(token) if token.kind == Kind::Name && self.text(token) != "defined" => return Some(*token),
            Some(token) => (token.span, format!("`{}` cannot be the name of a macro", self.text(token))),
            None => (directive.span, format!("`#{}` needs the name of a macro", self.text(directive))),
        };
        let help = "write a name after it, made of letters, digits and `_` and not beginning with a digit";
        self.report(Diagnostic::new(Code::E0006, span, found).help(help));
        None
    }

    fn check_redefinition(&mut self, name: &PpToken, new: &Macro) {
        let text = self.text(name).to_owned();
        let warning = match self.definition(name.sym) {
            Some(Definition::User(old)) if !old.same(new) => {
                Diagnostic::new(Code::W0001, name.span, format!("macro `{text}` is redefined"))
                    .label(old.span, "the earlier definition")
                    .help(format!("write `#undef {text}` before it, if this is meant"))
            }
            Some(Definition::Builtin(_)) => {
                Diagnostic::new(Code::W0001, name.span, format!("the built-in macro `{text}` is redefined"))
                    .help(format!("write `#undef {text}` before it, if this is meant"))
            }
            _ => return,
        };
        self.report(warning);
    }

    /// The parameter list after `(`, and how many tokens it takes up to and including `)`.
    fn params(&mut self, paren: &PpToken, line: &[PpToken]) -> Option<(Params, usize)> {
        let mut params = Params::default();
        let mut at = 0;
        let problem = loop {
            let Some(token) = line.get(at) else { break (paren.span, "this parameter list has no `)`") };
            at += 1;
            if token.is(Sym::RPAREN) && params.names.is_empty() {
                return Some((params, at));
            }
            if token.is(Sym::ELLIPSIS) {
                params.names.push(self.interner.intern("__VA_ARGS__"));
                params.variadic = true;
            } else if token.kind == Kind::Name {
                params.names.push(token.sym);
                if line.get(at).is_some_and(|t| t.is(Sym::ELLIPSIS)) {
                    params.variadic = true;
                    at += 1;
                }
            } else {
                break (token.span, "a macro's parameters are names separated by commas");
            }
            match line.get(at) {
                Some(t) if t.is(Sym::RPAREN) => return self.distinct(params, at + 1, token.span),
                Some(t) if t.is(Sym::COMMA) && !params.variadic => at += 1,
                Some(t) => break (t.span, "expected `,` or `)` in this parameter list"),
                None => break (paren.span, "this parameter list has no `)`"),
            }
        };
        let help = "write `#define NAME(a, b) …`; put a space before `(` if the macro has no parameters";
        self.report(Diagnostic::new(Code::E0007, problem.0, problem.1).help(help));
        None
    }

    fn distinct(&mut self, params: Params, used: usize, span: Span) -> Option<(Params, usize)> {
        let mut seen = HashMap::new();
        for name in &params.names {
            if seen.insert(*name, ()).is_some() {
                let message = format!("the parameter `{}` occurs twice", self.interner.text(*name));
                self.report(
                    Diagnostic::new(Code::E0007, span, message).help("give each parameter its own name"),
                );
                return None;
            }
        }
        Some((params, used))
    }

    /// Cuts a replacement text into pieces.
    fn body(&mut self, params: Option<&Params>, line: &[PpToken]) -> Option<Vec<Piece>> {
        let index: HashMap<Sym, usize> = params
            .map(|p| p.names.iter().copied().enumerate().map(|(i, n)| (n, i)).collect())
            .unwrap_or_default();
        let param = |t: &PpToken| if t.kind == Kind::Name { index.get(&t.sym).copied() } else { None };
        let mut body: Vec<Piece> = Vec::with_capacity(line.len());
        let mut tokens = line.iter().enumerate();
        while let Some((at, token)) = tokens.next() {
            let mut token = *token;
            if token.is(Sym::PASTE) {
                match body.last_mut() {
                    Some(last) if at + 1 < line.len() => last.pasted = true,
                    _ => return self.misplaced_paste(&token),
                }
                continue;
            }
            if token.kind == Kind::Name && self.text(&token) == "__VA_OPT__" {
                let help = "write `, ## __VA_ARGS__` for a comma that goes away with the arguments";
                let message = "`__VA_OPT__` is not available";
                self.report(Diagnostic::new(Code::E0008, token.span, message).help(help));
                return None;
            }
            let mut what = param(&token).map_or(What::Token, What::Param);
            if token.is(Sym::HASH) && params.is_some() {
                let Some((quoted, i)) = tokens.next().and_then(|(_, t)| Some((t, param(t)?))) else {
                    let message = "`#` must be followed by a parameter in a macro with parameters";
                    let help = "write `#x`, where `x` is a parameter, to turn an argument into a string";
                    self.report(Diagnostic::new(Code::E0008, token.span, message).help(help));
                    return None;
                };
                what = What::Quoted(i);
                token.span = token.span.to(quoted.span);
                token.sym = quoted.sym;
            }
            if body.is_empty() {
                token.flags &= !SPACE;
            }
            body.push(Piece { what, token, pasted: false });
        }
        Some(body)
    }

    fn misplaced_paste(&mut self, token: &PpToken) -> Option<Vec<Piece>> {
        let message = "`##` cannot stand at the beginning or the end of a macro's text";
        let help = "`##` joins the tokens on its left and on its right; write both";
        self.report(Diagnostic::new(Code::E0008, token.span, message).help(help));
        None
    }
}
