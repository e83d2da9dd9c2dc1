//! The parser: tokens to the tree of [`crate::ast`], accepting what Spin 6.5.2's grammar accepts.
//!
//! Promela's lexer and grammar are entangled: whether a name is a variable, a constant, a type, a proctype or
//! an inline depends on what was declared before it, a line end may stand for a semicolon, and inlines are
//! expanded by substituting tokens. So the work is split the way the language is:
//!
//! | file | decides |
//! |---|---|
//! | `keyword` | which words are reserved |
//! | `stream` | where the next token comes from: the model, an inline's body, an argument |
//! | `lexis` | what a token is at this point, and which semicolons are implied |
//! | `parser` | cursor, errors, recovery, limits |
//! | `repair`, `habits` | what to suggest for a syntax error; how other languages write it |
//! | `forgotten` | what is accepted, but was hardly meant so |
//! | `items`, `declarations`, `statements`, `messages`, `expressions`, `inline`, `ltl`, `state_formula`, `pv` | the grammar |
//!
//! The grammar is read by recursive descent with one token of lookahead that is fetched as late as possible,
//! because reading a token may depend on what the previous one declared. Nesting is bounded
//! (`parser::Limits`), so neither the parser nor a later recursive walk of the tree can exhaust the stack.

mod declarations;
mod expressions;
mod forgotten;
mod habits;
mod inline;
mod items;
mod keyword;
mod lexis;
mod ltl;
mod messages;
mod parser;
mod pv;
mod repair;
mod state_formula;
mod statements;
mod stream;

#[cfg(test)]
mod test_lexer;
#[cfg(test)]
mod tests;

use crate::ast::Unit;
use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;
use crate::token::Token;
use std::collections::HashSet;
use std::sync::Arc;

/// The language a model is written in. PV's additions are accepted in both as far as they cannot be mistaken.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Dialect {
    /// Promela as Spin 6.5.2 reads it.
    #[default]
    Spin,
    /// The dialect of the PV model checker.
    Pv,
}

/// What came out of parsing: always a tree, possibly with error nodes, and what there is to say about it.
#[derive(Debug)]
pub struct Parsed {
    /// The model.
    pub unit: Unit,
    /// Errors and warnings in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// Names in text that was skipped after errors: whether they are declared there is not known.
    pub doubtful: HashSet<Arc<str>>,
}

/// Parses a whole model. Inline uses are entered into `sources` as expansions.
///
/// Where lines end, which may stand for a semicolon, is found out from the source text. That is exact except
/// after macro uses that span lines; [`parse_lines`] is for a preprocessor that knows better.
pub fn parse(tokens: Vec<Token>, dialect: Dialect, sources: &mut SourceMap) -> Parsed {
    on_known_stack(tokens, None, dialect, sources)
}

/// Like [`parse`], with `line_starts` telling for each token whether a line ends before it.
pub fn parse_lines(
    tokens: Vec<Token>,
    line_starts: Vec<bool>,
    dialect: Dialect,
    sources: &mut SourceMap,
) -> Parsed {
    on_known_stack(tokens, Some(line_starts), dialect, sources)
}

/// Enough for the deepest model that [`parser::Limits`] admits, in a build without optimisation.
const STACK: usize = 32 << 20;

/// Parses on a stack whose size is known, so that the limits on nesting hold whoever calls.
fn on_known_stack(
    tokens: Vec<Token>,
    line_starts: Option<Vec<bool>>,
    dialect: Dialect,
    sources: &mut SourceMap,
) -> Parsed {
    let mut parser_input = Some((tokens, line_starts, sources));
    let mut parsed = None;
    let mut run = || {
        if let Some((tokens, line_starts, sources)) = parser_input.take() {
            let mut parser = parser::Parser::new(tokens, line_starts, dialect, sources);
            let unit = parser.unit();
            let doubtful = std::mem::take(&mut parser.doubtful);
            parsed = Some(Parsed { unit, diagnostics: parser.into_diagnostics(), doubtful });
        }
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("parse".into()).stack_size(STACK);
        if let Ok(handle) = thread.spawn_scoped(scope, &mut run)
            && let Err(panic) = handle.join()
        {
            std::panic::resume_unwind(panic);
        }
    });
    // Where there are no threads, the caller's stack has to do; otherwise there is nothing left to run.
    run();
    parsed.unwrap_or_else(|| Parsed {
        unit: Unit::default(),
        diagnostics: Vec::new(),
        doubtful: HashSet::new(),
    })
}
