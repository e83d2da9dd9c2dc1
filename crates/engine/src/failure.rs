//! Why there is no report.

use crate::notice::Notice;
use promela::diagnostic::Code;
use std::io::ErrorKind;
use stop::Cause;

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The model is wrong; the notices say where.
    Model,
    /// The request is wrong or cannot be met; nothing was explored.
    Refused {
        /// What is wrong.
        message: String,
        /// What to do instead.
        repair: Option<String>,
    },
    /// There was no time for an answer, or somebody asked to stop before there was one.
    Stopped(Cause),
    /// A budget ran out before the result was complete, and a part of it would be misleading.
    Incomplete {
        /// What ran out.
        message: String,
        /// What to do instead.
        repair: String,
    },
    /// A bug of the tool, or an environment in which it cannot give its answer: never a verdict.
    Internal(String),
    /// A result cannot be written where it was to be.
    Unwritten {
        /// What and why.
        message: String,
        /// What to do instead.
        repair: String,
    },
}

impl Failure {
    /// A refusal without a repair.
    pub fn refused(message: impl Into<String>) -> Self {
        Failure::Refused { message: message.into(), repair: None }
    }

    /// A refusal with a repair.
    pub fn refused_with(message: impl Into<String>, repair: impl Into<String>) -> Self {
        Failure::Refused { message: message.into(), repair: Some(repair.into()) }
    }

    /// A result that cannot be written. A place that cannot be written to at all is a wrong request.
    pub fn unwritten(message: &str, error: &std::io::Error, repair: &str) -> Self {
        let (message, repair) = (format!("{message}: {error}"), repair.to_string());
        match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::AlreadyExists => Failure::Refused { message, repair: Some(repair) },
            _ => Failure::Unwritten { message, repair },
        }
    }

    /// Whether something is refused only because it does not exist yet; the words are those of the
    /// command-line contract.
    pub fn is_gap(&self) -> bool {
        matches!(self, Failure::Refused { message, .. } if message.contains("not available yet"))
    }

    /// The exit status that says so.
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Model | Failure::Refused { .. } => 2,
            Failure::Stopped(Cause::Time) | Failure::Incomplete { .. } => 3,
            Failure::Stopped(Cause::Asked) => 130,
            Failure::Internal(_) | Failure::Unwritten { .. } => 4,
        }
    }

    /// As a notice; a wrong model has its own already.
    pub fn notice(&self) -> Option<Notice> {
        match self {
            Failure::Model => None,
            Failure::Refused { message, repair } => Some(Notice::plain(Code::E0900, message, repair.clone())),
            Failure::Unwritten { message, repair } => {
                Some(Notice::plain(Code::E0997, message, Some(repair.clone())))
            }
            Failure::Incomplete { message, repair } => {
                Some(Notice::plain(Code::E0900, message, Some(repair.clone())))
            }
            Failure::Stopped(Cause::Time) => Some(Notice::plain(Code::E0900, "the time is over", None)),
            Failure::Stopped(Cause::Asked) => Some(Notice::plain(Code::E0900, "interrupted", None)),
            Failure::Internal(message) => {
                let help = "this is not a verdict; if it looks like a bug of the tool, please report it with the model";
                let message = format!("internal error: {message}");
                Some(Notice::plain(Code::E0999, message, Some(help.to_string())))
            }
        }
    }
}

/// What came of a request: what there is to tell the author of the model, and the result.
#[derive(Debug)]
pub struct Answer<T> {
    /// Warnings and errors about the model.
    pub notices: Vec<Notice>,
    /// The result.
    pub result: Result<T, Failure>,
}

impl<T> Answer<T> {
    /// No answer, for this reason.
    pub fn failed(failure: Failure) -> Self {
        Answer { notices: Vec::new(), result: Err(failure) }
    }
}
