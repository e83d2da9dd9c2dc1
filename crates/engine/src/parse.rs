//! The front end alone.

use crate::failure::Answer;
use crate::isolate::isolated;
use crate::options::Source;
use crate::session::Session;
use promela::ir::Program;
use promela::source::{Files, SourceMap};

/// Reads a model and hands the program to `show`, for example to print it.
pub fn parse<T: Send>(
    source: &Source,
    files: &(dyn Files + Sync),
    show: impl FnOnce(&Program, &SourceMap) -> T + Send,
) -> Answer<T> {
    let work = || match Session::load(source, files) {
        Err(failure) => Answer::failed(failure),
        Ok(session) => {
            let result = session.program().map(|program| show(program, &session.sources));
            Answer { notices: session.notices, result }
        }
    };
    isolated(work).unwrap_or_else(Answer::failed)
}
