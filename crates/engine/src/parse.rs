//! The front end alone.

use crate::failure::Answer;
use crate::isolate::isolated;
use crate::options::Source;
use crate::session::Session;
use promela::ast::Unit;
use promela::ir::Program;
use promela::source::{Files, SourceMap};
use stop::Stop;

/// A model as the front end understood it.
#[derive(Clone, Copy, Debug)]
pub struct Understood<'a> {
    /// Its syntax tree.
    pub unit: &'a Unit,
    /// Its automata.
    pub program: &'a Program,
    /// Its files, to which the spans of both refer.
    pub sources: &'a SourceMap,
}

/// Reads a model and hands what was understood to `show`, for example to print it.
pub fn parse<T: Send>(
    source: &Source,
    files: &(dyn Files + Sync),
    stop: &Stop,
    show: impl FnOnce(Understood<'_>) -> T + Send,
) -> Answer<T> {
    let work = || match Session::load_with_syntax(source, files, stop) {
        Err(failure) => Answer::failed(failure),
        Ok((session, unit)) => {
            let sources = &session.sources;
            let result = session.program().map(|program| show(Understood { unit: &unit, program, sources }));
            Answer { notices: session.notices, result }
        }
    };
    isolated(work).unwrap_or_else(Answer::failed)
}
