//! Static reductions: programs that mean the same and have fewer states.
//!
//! Each takes a program and gives one with the same proctypes, locations and edges, so that the steps of a
//! counterexample found in the reduced program are steps of the original, where they are replayed.

mod bits;
pub mod dead_variables;
pub mod fold;
pub mod merge;
mod unneeded;
mod uses;

use promela::ir::Program;

/// Which reductions are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reductions {
    /// Dead-variable reset.
    pub dead_variables: bool,
    /// Statement merging.
    pub merge: bool,
    /// Constant folding.
    pub fold: bool,
}

/// Applies the reductions that are wanted, for errors that states and steps show.
pub fn reduce(program: &mut Program, wanted: Reductions) {
    apply(program, wanted, false);
}

/// Reduces a program for properties of whole runs, which also look at labels of acceptance and progress.
/// Merging is for those only that do not count how often a state is repeated.
pub fn reduce_for_runs(program: &mut Program, wanted: Reductions) {
    apply(program, wanted, true);
}

/// Folding comes first, because it finds reads that are none.
///
/// With embedded C nothing is left out: it may look at any variable at any time, and a place that a merged step
/// passes over is one where it could be called.
fn apply(program: &mut Program, wanted: Reductions, labels: bool) {
    if !program.embedded.is_empty() {
        return;
    }
    if wanted.fold {
        fold::fold(program);
    }
    if wanted.dead_variables {
        dead_variables::mark(program);
    }
    if wanted.merge {
        merge::merge(program, labels);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use promela::ir::{Edge, Program};
    use promela::source::{Files, SourceMap};

    struct One<'a>(&'a str);

    impl Files for One<'_> {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(self.0.to_string())
        }
    }

    /// The program of a model.
    pub(crate) fn program(text: &str) -> Program {
        let mut sources = SourceMap::default();
        let options = promela::preprocess::Options::default();
        let tokens = promela::preprocess::preprocess("m", &One(text), &options, &mut sources);
        let dialect = promela::parse::Dialect::Spin;
        let parsed = promela::parse::parse_lines(tokens.tokens, tokens.line_starts, dialect, &mut sources);
        let lowered = promela::lower::lower(&parsed.unit, &sources, "m");
        let problems: Vec<String> =
            parsed.diagnostics.iter().chain(&lowered.diagnostics).map(|d| d.message.clone()).collect();
        lowered.program.unwrap_or_else(|| panic!("{problems:?}"))
    }

    /// The edge of a statement.
    pub(crate) fn edge<'p>(program: &'p Program, proctype: &str, text: &str) -> &'p Edge {
        let proctype = program.proctypes.iter().find(|p| p.name == proctype).expect("a proctype");
        let found = proctype.edges.iter().find(|edge| edge.text == text);
        found.unwrap_or_else(|| panic!("{:?}", proctype.edges.iter().map(|e| &e.text).collect::<Vec<_>>()))
    }
}
