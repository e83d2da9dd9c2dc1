//! Programs for the tests of this crate: models of the repository, random ones, and those that a test writes
//! itself.
#![allow(dead_code, reason = "not every test needs everything")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use machine::Interp;
use promela::diagnostic::has_errors;
use promela::ir::Program;
use promela::parse::Dialect;
use promela::source::{Files, SourceMap};
use promela::{lower, parse, preprocess};
use testkit::generate::{Size, generate};

struct Text<'a>(&'a str, &'a str);

impl Files for Text<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        match path == self.0 {
            true => Ok(self.1.to_string()),
            false => std::fs::read_to_string(path).map_err(|e| e.to_string()),
        }
    }
}

/// A program and where its text is.
pub struct Model {
    pub name: String,
    pub program: Program,
    pub sources: Arc<SourceMap>,
}

impl Model {
    /// The model with this text; `None` when it is none.
    pub fn new(name: &str, text: &str) -> Option<Model> {
        let pv = text.contains("--dialect pv");
        let mut options = preprocess::Options::default();
        if pv {
            options.predefined.push(("_UV_".into(), "1".into()));
        }
        let mut sources = SourceMap::new();
        let tokens = preprocess::preprocess(name, &Text(name, text), &options, &mut sources);
        let dialect = if pv { Dialect::Pv } else { Dialect::Spin };
        let parsed = parse::parse_lines(tokens.tokens, tokens.line_starts, dialect, &mut sources);
        if has_errors(&tokens.diagnostics) || has_errors(&parsed.diagnostics) {
            return None;
        }
        let lowered = lower::lower(&parsed.unit, &sources, name);
        let program = lowered.program.filter(|_| !has_errors(&lowered.diagnostics))?;
        promela::ir::verify::verify(&program).ok()?;
        Some(Model { name: name.into(), program, sources: Arc::new(sources) })
    }

    /// The machine for a program made from this one.
    pub fn machine(&self, program: &Program) -> Interp {
        promela::ir::verify::verify(program).unwrap_or_else(|errors| panic!("{}: {errors:#?}", self.name));
        let sources = Arc::clone(&self.sources);
        Interp::new(Arc::new(program.clone()), move |span| sources.location(span))
            .expect("it can be executed")
    }

    /// The random program of a seed.
    pub fn random(seed: u64, size: Size) -> Option<Model> {
        Model::new(&format!("seed {seed} {size:?}"), &testkit::print::print(&generate(seed, size)))
    }

    /// The models of the repository.
    pub fn all() -> Vec<Model> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut paths = Vec::new();
        for dir in ["tests/models", "examples", "bench/models"] {
            find(&root.join(dir), &mut paths);
        }
        paths.sort();
        let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        paths.iter().filter_map(|path| Model::new(&path.to_string_lossy(), &read(path))).collect()
    }
}

/// The models in a folder.
pub fn find(dir: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            find(&path, out);
        } else if path.extension().is_some_and(|e| e == "pml" || e == "pm" || e == "prom" || e == "promela") {
            out.push(path);
        }
    }
}
