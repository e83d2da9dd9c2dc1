//! What stops an evaluation: the kind of error, a sentence, and where it was written.
//!
//! Evaluation knows spans and no file names; a [`Trap`] becomes a `system::Fault` only when it leaves the machine.

use promela::source::Span;
use system::FaultKind;

/// An error met while evaluating or executing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trap {
    pub kind: FaultKind,
    pub message: String,
    pub span: Span,
}

/// The result of evaluating or executing something. The error is boxed because it is rare and results are many.
pub(super) type Outcome<T> = Result<T, Box<Trap>>;

/// A run-time error of the model.
pub(super) fn runtime<T>(span: Span, message: impl Into<String>) -> Outcome<T> {
    Err(Box::new(Trap { kind: FaultKind::Runtime, message: message.into(), span }))
}

/// Something that a verified program and an honest caller cannot cause: an error of the tool, said clearly.
pub(super) fn internal<T>(span: Span, message: impl std::fmt::Display) -> Outcome<T> {
    runtime(span, format!("internal error: {message}"))
}
