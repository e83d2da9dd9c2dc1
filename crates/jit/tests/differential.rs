//! The compiled machine against the reference machine, step by step: both walk the state graph of many
//! programs in lockstep, and everything that a search can see must be the same.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jit::{Functions, Jit};
use machine::Interp;
use promela::diagnostic::has_errors;
use promela::ir::Program;
use promela::parse::Dialect;
use promela::source::{Files, SourceMap};
use promela::{lower, parse, preprocess};
use system::{ActionId, Explain, Successors, SystemExt, TransitionSystem, Worker, WorkerExt};
use testkit::generate::{Size, generate};

/// States of one program that are compared.
const STATES: usize = 1500;

struct Text<'a>(&'a str, String);

impl Files for Text<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == self.0 {
            Ok(self.1.clone())
        } else {
            std::fs::read_to_string(path).map_err(|e| e.to_string())
        }
    }
}

fn front_end(name: &str, text: String) -> Option<(Arc<Program>, Arc<SourceMap>)> {
    let pv = text.contains("--dialect pv") || text.contains("dialect: pv") || text.contains("dialect=pv");
    let mut options = preprocess::Options::default();
    if pv {
        options.predefined.push(("_UV_".into(), "1".into()));
    }
    let mut sources = SourceMap::new();
    let tokens = preprocess::preprocess(name, &Text(name, text), &options, &mut sources);
    if has_errors(&tokens.diagnostics) {
        return None;
    }
    let dialect = if pv { Dialect::Pv } else { Dialect::Spin };
    let parsed = parse::parse_lines(tokens.tokens, tokens.line_starts, dialect, &mut sources);
    if has_errors(&parsed.diagnostics) {
        return None;
    }
    let lowered = lower::lower(&parsed.unit, &sources, name);
    let program = lowered.program.filter(|_| !has_errors(&lowered.diagnostics))?;
    promela::ir::verify::verify(&program).ok()?;
    Some((Arc::new(program), Arc::new(sources)))
}

/// Both machines for a program. One worker expands all states, several into the same batch.
struct Pair {
    name: String,
    interp: Interp,
    jit: Jit,
}

/// The code of a location is in one function.
const WHOLE: usize = usize::MAX;

impl Pair {
    fn new(name: &str, text: String) -> Option<Pair> {
        Pair::with(name, text, false, WHOLE)
    }

    /// Both machines, for the program as it is or for what static reductions leave of it.
    fn with(name: &str, text: String, reduced: bool, most_edges: usize) -> Option<Pair> {
        let (mut program, sources) = front_end(name, text)?;
        if reduced {
            let mut less = Program::clone(&program);
            let all = machine::opt::Reductions { dead_variables: true, merge: true, fold: true };
            machine::opt::reduce(&mut less, all);
            program = Arc::new(less);
        }
        let (first, second) = (sources.clone(), sources);
        let interp = Interp::new(program.clone(), move |span| first.location(span)).ok()?;
        let functions = Functions { together: reduced, most_edges };
        let jit =
            Jit::with_functions(program, move |span| second.location(span), functions).expect("it compiles");
        Some(Pair { name: name.into(), interp, jit })
    }

    /// Compares up to `limit` states; says how many there were.
    fn compare(&self, limit: usize) -> usize {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let (first, second) = (self.interp.initial(&mut a), self.jit.initial(&mut b));
        assert_eq!(first, second, "{}: initialisation", self.name);
        if first.is_err() {
            return 0;
        }
        let mut seen: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        let mut keys: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        seen.insert(a.clone(), b.clone());
        let mut todo = VecDeque::from([(a, b, false)]);
        let mut done = 0;
        let mut worker = self.jit.worker();
        let mut batch = Successors::default();
        while let Some((a, b, transient)) = todo.pop_front() {
            self.state(&a, &b, transient);
            let key = self.interp.key(&a).to_vec();
            let other = keys.entry(self.jit.key(&b).to_vec()).or_insert_with(|| key.clone());
            assert_eq!(*other, key, "{}: one key for two", self.name);
            for (next, other, transient) in self.step(&a, &b, &mut *worker, &mut batch) {
                if let Some(before) = seen.get(&next) {
                    assert_eq!(*before, other, "{}: equal states, different bytes", self.name);
                } else if done + todo.len() < limit {
                    seen.insert(next.clone(), other.clone());
                    todo.push_back((next, other, transient));
                }
            }
            done += 1;
        }
        drop(worker);
        assert_eq!(self.interp.coverage(), self.jit.interp().coverage(), "{}: coverage", self.name);
        done
    }

    /// Compares what is said of one state.
    fn state(&self, a: &[u8], b: &[u8], transient: bool) {
        let name = &self.name;
        assert_eq!(self.jit.to_interp(b), a, "{name}: a state of the reference machine");
        assert_eq!(self.jit.from_interp(a).as_deref(), Some(b), "{name}: a state of this machine");
        assert_eq!(self.interp.labels(a), self.jit.labels(b), "{name}: labels");
        if !transient {
            let (mut first, mut second) = (Vec::new(), Vec::new());
            self.interp.capabilities().invariants.iter().for_each(|i| i.inspect(a, &mut first));
            self.jit.capabilities().invariants.iter().for_each(|i| i.inspect(b, &mut second));
            assert_eq!(first, second, "{name}: inspection");
        }
    }

    /// Compares the steps of one state and returns the successors of both.
    fn step(
        &self,
        a: &[u8],
        b: &[u8],
        worker: &mut dyn Worker,
        expanded: &mut Successors,
    ) -> Vec<(Vec<u8>, Vec<u8>, bool)> {
        let name = &self.name;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.interp.enabled(a, &mut first);
        worker.enabled(b, &mut second);
        assert_eq!(first, second, "{name}: enabled");
        if first.is_empty() {
            assert_eq!(self.interp.deadlock(a), self.jit.deadlock(b), "{name}: deadlock");
        }
        let mut fired = Successors::default();
        self.interp.fire(a, &first, &mut fired);
        if expanded.list.len() > 40 {
            expanded.clear();
        }
        let before = expanded.list.len();
        worker.expand(b, expanded);
        let result = self.same(&first, &fired, expanded, before, a);
        // A chosen subset, backwards.
        let chosen: Vec<ActionId> = first.iter().rev().step_by(2).copied().collect();
        let mut some = Successors::default();
        worker.fire(b, &chosen, &mut some);
        let expected: Vec<_> = chosen.iter().map(|id| fired.list.iter().find(|s| s.action == *id)).collect();
        assert_eq!(some.list.len(), chosen.len(), "{name}: chosen");
        for (outcome, expected) in some.list.iter().zip(expected) {
            let expected = expected.expect("it was fired");
            let state = some.state(outcome).map(|bytes| self.jit.to_interp(bytes));
            assert_eq!(state.as_deref(), fired.state(expected), "{name}: a chosen successor");
            assert_eq!(some.fault(outcome), fired.fault(expected), "{name}");
            assert_eq!(outcome.is_transient(), expected.is_transient(), "{name}");
        }
        result
    }

    fn same(
        &self,
        actions: &[ActionId],
        a: &Successors,
        b: &Successors,
        before: usize,
        parent: &[u8],
    ) -> Vec<(Vec<u8>, Vec<u8>, bool)> {
        let name = &self.name;
        let expanded: Vec<ActionId> = b.list[before..].iter().map(|s| s.action).collect();
        assert_eq!(expanded, actions, "{name}: actions expanded");
        let mut out = Vec::new();
        for (first, second) in a.list.iter().zip(&b.list[before..]) {
            let step = system::Explain::step(&self.interp, parent, first.action);
            let what = format!("{name}: {} line {} {}", step.process, step.line, step.text);
            assert_eq!(a.fault(first), b.fault(second), "{what}: fault");
            assert_eq!(first.is_transient(), second.is_transient(), "{what}: transient");
            let (x, y) = (a.state(first), b.state(second));
            assert_eq!(y.map(|y| self.jit.to_interp(y)).as_deref(), x, "{what}: successor");
            if let (Some(x), Some(y)) = (x, y) {
                out.push((x.to_vec(), y.to_vec(), first.is_transient()));
            }
        }
        out
    }
}

/// What is only listed was not taken. Locations with so many edges that they are cut into parts: `else`,
/// escapes, messages on offer and atomic steps among them.
#[test]
fn very_many_options() {
    let guards: String = (0..700).map(|i| format!(":: x == {i} -> x = (x + 7) % 701\n")).collect();
    let takes: String = (0..400).map(|i| format!(":: c?{i} -> y = {}\n", i + 1)).collect();
    let text = format!(
        "int x, y; chan c = [0] of {{ int }}; byte n;
         active proctype P() {{ {{ do {guards} :: else -> x = 0; n++ od }} unless {{ n > 2; n = 0 }} }}
         active proctype Q() {{ do {takes} :: atomic {{ y > 350 -> y = 0; x = 700 }} od }}
         active proctype R() {{ do :: c!y :: atomic {{ c!y; c!y }} od }}"
    );
    for reduced in [false, true] {
        let functions = Functions::of(&front_end("options", text.clone()).expect("a program").0);
        let pair = Pair::with("options", text.clone(), reduced, functions.most_edges).expect("a program");
        assert!(pair.jit.is_native());
        assert!(pair.compare(3000) >= 3000);
    }
}

#[test]
fn asking_covers_nothing() {
    let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> break od }".to_string();
    let pair = Pair::new("asking", text).expect("a program");
    let taken = |pair: &Pair| {
        let statements = pair.jit.interp().coverage().into_iter().flatten().flat_map(|c| c.statements);
        statements.filter(|s| s.executed).count()
    };
    let mut state = Vec::new();
    pair.jit.initial(&mut state).expect("a state");
    let mut actions = Vec::new();
    pair.jit.enabled(&state, &mut actions);
    assert_eq!((actions.len(), taken(&pair)), (1, 0));
    pair.jit.fire(&state, &actions, &mut Successors::default());
    assert_eq!(taken(&pair), 1);
}

/// Who takes a message depends on variables that name channels: elements of arrays, parameters, what was
/// received, none at all; there are more channels than bits in a set of them; and an index may be wrong.
#[test]
fn channels_that_variables_name() {
    let several = "
        chan c[3] = [0] of { byte }; chan none; chan reply = [0] of { chan }; byte turn;
        active [2] proctype Holder() { byte i = _pid; byte got;
          do :: c[i]?got -> i = (i + 1) % 4
             :: d_step { c[turn]?got -> turn = got % 3; got = 0 }
             :: none?got
             :: c[1 - 1]?0 od }
        active proctype Sender() { byte i;
          do :: c[i]!i; i = (i + 1) % 3 :: c[2]!turn :: reply!c[i] od }
        active proctype Named() { chan own = [0] of { byte }; chan other; byte got;
          do :: reply?other; if :: other?got :: other!3 fi; got = 0 :: own?got od }";
    let many = "
        chan c[70] = [0] of { byte };
        active [3] proctype Holder() { byte i = 60 + 3 * _pid; byte got; do :: c[i]?got -> i = 61 + got od }
        active proctype Sender() { byte i = 60; do :: c[i]!(i - 60) -> i = 62 :: i < 69 -> i++ :: i == 69 -> i = 0 od }";
    let watched = several
        .replace("c[1 - 1]?0", "c[1 - 1]?0; h: turn = 0")
        .replace(":: reply!", ":: Holder[0]@h -> i = 0 :: reply!");
    for text in [several.to_string(), many.to_string(), watched] {
        let pair = Pair::new("channels", text).expect("a program");
        assert!(pair.jit.is_native() && pair.compare(4 * STATES) > 100);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn models(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).expect("a folder").flatten().collect();
    entries.sort_by_key(|e| e.path());
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            models(&path, out);
        } else if path.extension().is_some_and(is_model) {
            out.push(path);
        }
    }
}

fn is_model(extension: &std::ffi::OsStr) -> bool {
    ["pml", "pm", "prm", "pr", "prom", "promela", "spin"].iter().any(|e| extension == *e)
}

#[test]
fn golden_models_and_examples() {
    let mut paths = Vec::new();
    models(&root().join("tests/models"), &mut paths);
    models(&root().join("examples"), &mut paths);
    let (mut compared, mut native) = (0, 0);
    for path in &paths {
        let name = path.to_string_lossy();
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let Some(pair) = Pair::new(&name, text.clone()) else { continue };
        compared += usize::from(pair.compare(STATES) > 0);
        if let Some(parts) = Pair::with(&name, text.clone(), false, 1) {
            parts.compare(STATES);
        }
        if let Some(reduced) = Pair::with(&name, text, true, WHOLE) {
            reduced.compare(STATES);
        }
        native += usize::from(pair.jit.is_native());
    }
    assert!(compared * 10 > paths.len() * 7, "only {compared} of {} were compared", paths.len());
    assert!(native * 10 > compared * 7, "only {native} of {compared} were compiled");
}

fn random(seeds: std::ops::Range<u64>, size: Size) {
    let mut compared = 0;
    for seed in seeds.clone() {
        let text = testkit::print::print(&generate(seed, size));
        let most_edges = if seed % 3 == 0 { 1 } else { WHOLE };
        if let Some(pair) = Pair::with(&format!("seed {seed} {size:?}"), text, seed % 2 == 1, most_edges) {
            pair.compare(400);
            compared += 1;
        }
    }
    assert!(compared * 2 > seeds.count(), "only {compared} were compared");
}

#[test]
fn random_small_programs() {
    random(0..300, Size::Small);
}

#[test]
fn random_medium_programs() {
    random(1000..1150, Size::Medium);
}

/// `JIT_MODELS=dir` compares all models of a folder, for instance a corpus, and prints for each: whether it
/// is compiled, how many states were compared, how often the reference machine was asked, microseconds from
/// text to machines.
#[test]
#[allow(clippy::print_stdout, reason = "asked for by hand only")]
fn models_elsewhere() {
    let Some(dir) = std::env::var_os("JIT_MODELS") else { return };
    let limit = std::env::var("JIT_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut paths = Vec::new();
    models(Path::new(&dir), &mut paths);
    let mut failed = Vec::new();
    for path in &paths {
        let name = path.to_string_lossy().into_owned();
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let work = move || {
            let started = std::time::Instant::now();
            let Some(pair) = Pair::new(&name, text.clone()) else { return };
            let made = started.elapsed().as_micros();
            let states = pair.compare(limit);
            let (native, handed_over) = (pair.jit.is_native(), pair.jit.handed_over());
            println!("{name}\t{native}\t{states}\t{handed_over}\t{made}");
            if let Some(reduced) = Pair::with(&name, text, true, WHOLE) {
                reduced.compare(limit);
            }
        };
        let work = std::thread::Builder::new().stack_size(256 << 20).spawn(work);
        if work.expect("a thread").join().is_err() {
            failed.push(path);
        }
    }
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), paths.len());
}

/// `JIT_SEEDS=from..to` compares more random programs.
#[test]
fn more_random_programs() {
    let Ok(range) = std::env::var("JIT_SEEDS") else { return };
    let (from, to) = range.split_once("..").expect("from..to");
    random(from.parse().expect("a number")..to.parse().expect("a number"), Size::Medium);
}
