//! What went wrong, as data: code, message, the places involved, a repair. How it looks is for clients to
//! say.

mod codes;
mod fix;
mod nearest;

use crate::source::Span;
pub use codes::Code;
pub use fix::{Confidence, Edit, Fix};
pub use nearest::nearest;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The model cannot be checked.
    Error,
    /// Worth knowing; nothing is refused.
    Warning,
}

/// A place involved in a diagnostic.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is to be seen there; may be empty for the primary place.
    pub message: String,
}

/// Something to tell the author of a model.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What kind of problem it is.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// The primary place first.
    pub labels: Vec<Label>,
    /// How to repair it, where that is known.
    pub help: Option<String>,
    /// Repairs that need no author: each is one of several ways.
    pub fixes: Vec<Fix>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic at `span`; its code says whether it is an error.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![Label { span, message: String::new() }];
        Diagnostic { code, message: message.into(), labels, help: None, fixes: Vec::new(), notes: Vec::new() }
    }

    /// Says in a few words what is to be seen at the primary place.
    pub fn here(mut self, message: impl Into<String>) -> Self {
        self.labels[0].message = message.into();
        self
    }

    /// Adds a second place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds a repair.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a repair that can be made by a click.
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Says that `near` was probably meant by `wrong`, which ends the primary place.
    pub fn meant(self, wrong: &str, near: &str) -> Self {
        let whole = self.span();
        let start = whole.end.saturating_sub(wrong.len() as u32);
        let fix = Fix::replace(Span { start, ..whole }, wrong, near);
        self.help(format!("did you mean `{near}`?")).fix(fix)
    }

    /// Adds something worth knowing.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether it is an error or a warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels[0].span
    }
}

/// Whether any of `diagnostics` is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity() == Severity::Error)
}
