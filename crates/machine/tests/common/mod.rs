//! Programs for the tests of this crate: models of the repository, random ones, and those that a test writes
//! itself.
#![allow(dead_code, reason = "not every test needs everything")]

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use machine::Interp;
use machine::opt::{Reductions, reduce};
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

/// A program with all static reductions.
pub fn reduced(program: &Program) -> Program {
    let mut less = program.clone();
    reduce(&mut less, Reductions { dead_variables: true, merge: true, fold: true });
    less
}

/// Tries all models of the repository, each as it is and (`true`) with all static reductions.
pub fn try_repository(attempt: impl Fn(&Model, &Program, bool) -> usize) {
    let models = Model::all();
    assert!(models.len() > 40, "{} models", models.len());
    for model in &models {
        attempt(model, &model.program, false);
        attempt(model, &reduced(&model.program), true);
    }
}

/// Tries random programs, each as it is and (`true`) with all static reductions. Half of the seeds must give
/// a program, and a program must have `least` states on average.
pub fn try_random(
    seeds: Range<u64>,
    size: Size,
    least: usize,
    attempt: impl Fn(&Model, &Program, bool) -> usize,
) {
    let (mut programs, mut states) = (0, 0);
    for model in seeds.clone().filter_map(|seed| Model::random(seed, size)) {
        programs += 1;
        states += attempt(&model, &model.program, false);
        states += attempt(&model, &reduced(&model.program), true);
    }
    assert!(
        programs * 2 > seeds.count() && states > least * programs,
        "{programs} programs, {states} states"
    );
}

/// The seeds `from..to` that an environment variable names, for somebody who wants to try more of them.
pub fn seeds_wanted(variable: &str) -> Option<Range<u64>> {
    let range = std::env::var(variable).ok()?;
    let (from, to) = range.split_once("..").expect("from..to");
    Some(from.parse().expect("a number")..to.parse().expect("a number"))
}

/// Tries all models of the folder that an environment variable names, each on a thread with a deep stack.
pub fn try_models_wanted(variable: &str, attempt: impl Fn(&Model) + Sync) {
    let Some(dir) = std::env::var_os(variable) else { return };
    let mut paths = Vec::new();
    find(dir.as_ref(), &mut paths);
    let mut failed = Vec::new();
    for path in &paths {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let work = || Model::new(&path.to_string_lossy(), &text).iter().for_each(&attempt);
        let done = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(256 << 20);
            thread.spawn_scoped(scope, work).expect("a thread").join()
        });
        if done.is_err() {
            failed.push(path);
        }
    }
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), paths.len());
}

/// Walks breadth-first over up to `limit` states, which `bytes` tells apart; `visit` says what follows one.
/// The number of states that were visited.
pub fn walk<T, E>(
    first: T,
    limit: usize,
    bytes: impl Fn(&T) -> Vec<u8>,
    mut visit: impl FnMut(&T) -> Result<Vec<T>, E>,
) -> Result<usize, E> {
    let mut seen = HashSet::from([bytes(&first)]);
    let mut list = vec![first];
    let mut at = 0;
    while at < list.len() {
        for next in visit(&list[at])? {
            if list.len() < limit && seen.insert(bytes(&next)) {
                list.push(next);
            }
        }
        at += 1;
    }
    Ok(at)
}
