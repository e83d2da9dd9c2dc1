//! The embedded C of a program: texts that the system's C compiler reads, and how they are called.
//!
//! The front end keeps C as text. [`Action::C`](super::Action::C) and [`ExprKind::C`](super::ExprKind::C)
//! name a [`CPiece`]; what stands outside of statements is a [`CItem`]. Somebody who may compile it attaches
//! the result as [`Code`]; a program whose code is missing cannot be executed. What C keeps in the state
//! (`c_state`, `c_track`) becomes variables of the program when its sizes are known, so that stores,
//! counterexamples and replay treat it like any other variable.

use super::ProctypeId;
use crate::source::Span;
use std::fmt;
use std::sync::Arc;

/// All C of a program.
#[derive(Clone, Debug, Default)]
pub struct Embedded {
    /// What statements and expressions name by number.
    pub pieces: Vec<CPiece>,
    /// What stands outside of proctypes, in order.
    pub items: Vec<CItem>,
    /// The compiled form, if somebody was allowed to make it.
    pub code: Attached,
}

impl Embedded {
    /// Whether there is any C.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.items.is_empty()
    }

    /// Where the first of it stands.
    pub fn first(&self) -> Option<Span> {
        let pieces = self.pieces.iter().map(|piece| piece.span);
        self.items.iter().map(CItem::span).chain(pieces).min_by_key(|span| (span.file.0, span.start))
    }

    /// Whether it cannot be called, because there is no compiled form.
    pub fn is_missing(&self) -> bool {
        !self.is_empty() && self.code.0.is_none()
    }
}

/// A `c_code` statement or a `c_expr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CPiece {
    /// `c_code` rather than `c_expr`.
    pub statement: bool,
    /// The proctype whose variables it sees.
    pub proctype: Option<ProctypeId>,
    /// What must hold before it is executed: the text between the brackets.
    pub precondition: Option<String>,
    /// The text between the braces.
    pub text: String,
    /// Where the text between the braces begins.
    pub span: Span,
}

/// Embedded C outside of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CItem {
    /// `c_decl { … }`: stands in front of everything.
    Declaration(String, Span),
    /// `c_code { … }` outside of a proctype: functions that may use the state.
    Functions(String, Span),
    /// `c_state "declaration" "owner" "value"`.
    State {
        /// The declaration of the variable in C.
        declaration: String,
        /// Who has it.
        owner: COwner,
        /// Its first value, an expression of C.
        value: Option<String>,
        /// Where.
        span: Span,
    },
    /// `c_track "address" "size"`.
    Track {
        /// An expression of C that gives the address.
        address: String,
        /// A constant expression of C that gives the number of bytes.
        size: String,
        /// Part of what makes two states different.
        matched: bool,
        /// Where.
        span: Span,
    },
}

impl CItem {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            CItem::Declaration(_, span)
            | CItem::Functions(_, span)
            | CItem::State { span, .. }
            | CItem::Track { span, .. } => *span,
        }
    }
}

/// Who has a variable that `c_state` declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum COwner {
    /// The state, as `now.x`.
    Global,
    /// Each process of a proctype, as `PName->x`.
    Local(ProctypeId),
    /// The C program: a variable of C that does not make states different.
    Hidden,
}

/// What a call of C sees beside the variables.
#[derive(Clone, Copy, Debug, Default)]
pub struct CContext {
    /// The proctype and number of the process; none where no process is.
    pub process: Option<(ProctypeId, u32)>,
    /// How many processes there are.
    pub n_processes: u32,
    /// How many channels there are.
    pub n_channels: u32,
    /// `_last`.
    pub last: u32,
}

/// Compiled C, as machines call it. The cells are those of the program with what C keeps in the state.
pub trait Code: Send + Sync {
    /// Executes a `c_code`; the error says in one sentence why it has no successor.
    fn execute(
        &self,
        piece: u32,
        context: CContext,
        globals: &mut [i32],
        locals: &mut [i32],
    ) -> Result<(), String>;

    /// The value of a `c_expr`.
    fn value(&self, piece: u32, context: CContext, globals: &[i32], locals: &[i32]) -> Result<i32, String>;
}

/// Compiled C, or none.
#[derive(Clone, Default)]
pub struct Attached(pub Option<Arc<dyn Code>>);

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Attached(compiled)" } else { "Attached(none)" })
    }
}

/// The name that a declaration of C declares: the last word before an array's bracket or the end.
pub fn declared_name(declaration: &str) -> Option<&str> {
    let head = declaration.split(['[', '=']).next()?.trim_end();
    let start = head.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let name = &head[start..];
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (is_name && start > 0).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::declared_name;

    #[test]
    fn names_are_found_in_declarations() {
        for (declaration, name) in [
            ("int x", Some("x")),
            ("struct T *p", Some("p")),
            ("unsigned char buf[3][4]", Some("buf")),
            ("T t", Some("t")),
            ("x", None),
            ("int 3", None),
            ("", None),
        ] {
            assert_eq!(declared_name(declaration), name, "{declaration}");
        }
    }
}
