//! What stops an evaluation: the kind of error, a sentence, and where it was written.
//!
//! Evaluation knows spans and no file names; a [`Trap`] becomes a `system::Fault` only when it leaves the
//! machine.

use promela::source::Span;
use system::FaultKind;

/// An error met while evaluating or executing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trap {
    pub kind: FaultKind,
    pub message: String,
    pub span: Span,
}

/// The result of evaluating or executing something. The error is boxed because it is rare and results are
/// many.
pub(super) type Outcome<T> = Result<T, Box<Trap>>;

/// What a step shows that is taken all the same (failed assertions, forbidden events of a trace assertion),
/// and the process to blame: the first of each kind, so that none hides another.
pub(super) type Failed = Vec<(usize, Trap)>;

/// Notes what a step of process `pid` shows.
pub(super) fn note_failed(failed: &mut Failed, pid: usize, trap: Trap) {
    if failed.iter().all(|(_, other)| other.kind != trap.kind) {
        failed.push((pid, trap));
    }
}

/// A run-time error of the model.
pub(super) fn runtime<T>(span: Span, message: impl Into<String>) -> Outcome<T> {
    Err(Box::new(Trap { kind: FaultKind::Runtime, message: message.into(), span }))
}

/// Something that a verified program and an honest caller cannot cause: an error of the tool, said clearly.
pub(super) fn internal<T>(span: Span, message: impl std::fmt::Display) -> Outcome<T> {
    runtime(span, format!("internal error: {message}"))
}
