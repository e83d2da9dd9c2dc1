//! What went wrong: a model that cannot be read, an option that cannot be honoured.

use engine::{Answer, Failure, Notice, render};
use std::fmt;

/// Why there is no answer. Its text is what the command line would print, without colours.
#[derive(Clone, Debug)]
pub struct Error {
    /// The errors, and the warnings that came before them.
    pub notices: Vec<Notice>,
}

impl Error {
    pub(crate) fn new(mut notices: Vec<Notice>, failure: &Failure) -> Self {
        notices.extend(failure.notice());
        Error { notices }
    }

    pub(crate) fn of<T>(answer: Answer<T>) -> Result<T, Error> {
        let Answer { notices, result } = answer;
        result.map_err(|failure| Error::new(notices, &failure))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::render_all(&self.notices, false))
    }
}

impl std::error::Error for Error {}

impl PartialEq for Error {
    /// Errors are the same when they say the same.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
