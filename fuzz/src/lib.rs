//! What each fuzz target does with its bytes. A panic is a finding; so are endless work and endless memory, which
//! libFuzzer's own limits (`-timeout`, `-rss_limit_mb`) turn into one.
//!
//! Everything runs on a stack as deep as the engine's, because the front end recurses within limits of its own.

use engine::ltl::LtlFormat;
use engine::render::render;
use engine::{Failure, Notice};
use machine::Interp;
use promela::diagnostic::{Diagnostic, has_errors};
use promela::ir::{self, Program};
use promela::parse::Dialect;
use promela::preprocess::Options;
use promela::source::{FileId, Files, SourceMap};
use std::collections::HashSet;
use std::sync::Arc;
use system::{Explain, Invariants, Successors, SystemExt, TransitionSystem};

/// The stack that the engine gives to its work.
const STACK_BYTES: usize = 256 << 20;
/// How many states `check_small` looks at.
const MAX_STATES: usize = 100;
/// States larger than this are not explored: their cost is their size.
const MAX_STATE_BYTES: usize = 1 << 16;

/// The model, and one file that it may include.
struct Model(String);

impl Files for Model {
    fn read(&self, path: &str) -> Result<String, String> {
        match path {
            "model.pml" => Ok(self.0.clone()),
            "other.pml" => Ok("#define OTHER 1\ninline other(x) { x = OTHER }\n".to_string()),
            _ => Err("no such file".to_string()),
        }
    }
}

fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let worker = builder.spawn_scoped(scope, work).expect("a thread can be started");
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Renders every diagnostic, as text and as JSON.
fn show(diagnostics: &[Diagnostic], sources: &Arc<SourceMap>) {
    for diagnostic in diagnostics {
        let notice = Notice::from_diagnostic(diagnostic, sources);
        render(&notice, false);
        notice.json();
    }
}

/// Preprocessing alone: directives, macros, conditions, and the lexer.
pub fn preprocess(data: &[u8]) {
    on_deep_stack(|| {
        let mut sources = SourceMap::new();
        let model = Model(text(data));
        let done = promela::preprocess::preprocess("model.pml", &model, &Options::default(), &mut sources);
        let sources = Arc::new(sources);
        show(&done.diagnostics, &sources);
        for token in &done.tokens {
            sources.location(token.span);
            sources.text(token.span);
        }
    });
}

/// The front end as the engine runs it; the first bit of the text chooses the dialect.
fn front_end(text: String) -> (Option<Program>, Arc<SourceMap>) {
    let dialect = if text.starts_with("//pv") { Dialect::Pv } else { Dialect::Spin };
    let mut sources = SourceMap::new();
    let model = Model(text);
    let done = promela::preprocess::preprocess("model.pml", &model, &Options::default(), &mut sources);
    let mut diagnostics = done.diagnostics;
    let mut program = None;
    let broken = has_errors(&diagnostics);
    let parsed = promela::parse::parse(done.tokens, dialect, &mut sources);
    diagnostics.extend(parsed.diagnostics);
    // A tree with error nodes is lowered too: lowering must not depend on the absence of errors.
    let lowered = promela::lower::lower(&parsed.unit, &sources, "model.pml");
    if !broken && !has_errors(&diagnostics) {
        program = lowered.program;
    }
    diagnostics.extend(lowered.diagnostics);
    let sources = Arc::new(sources);
    show(&diagnostics, &sources);
    (program, sources)
}

/// The whole front end: what is accepted verifies, and its text form reads back as the same program.
pub fn parse(data: &[u8]) {
    on_deep_stack(|| {
        let (Some(program), sources) = front_end(text(data)) else { return };
        check_program(&program);
        ir::json::to_json(&program, &sources);
    });
}

fn check_program(program: &Program) {
    if let Err(broken) = ir::verify::verify(program) {
        panic!("an accepted program breaks a rule: {broken:?}");
    }
    let printed = ir::print::print(program);
    match ir::read::read(&printed, FileId(0)) {
        Ok(again) => {
            assert_eq!(ir::print::print(&again), printed, "the text form does not read back as it was")
        }
        Err(why) => panic!("the text form does not read back: {why:?}\n{printed}"),
    }
}

/// The reader of the intermediate form: what it reads and the verifier accepts prints, reads back, and can be executed.
pub fn ir_read(data: &[u8]) {
    on_deep_stack(|| {
        let Ok(program) = ir::read::read(&text(data), FileId(0)) else { return };
        let printed = ir::print::print(&program);
        if ir::verify::verify(&program).is_ok() {
            let again = ir::read::read(&printed, FileId(0)).expect("a printed program reads back");
            assert_eq!(ir::print::print(&again), printed);
            explore(program, Arc::new(SourceMap::new()));
        }
    });
}

/// The reader of trails.
pub fn trail_read(data: &[u8]) {
    if let Ok(trail) = trace::read(&text(data)) {
        let written = trace::write(&trail);
        let again = trace::read(&written).expect("a written trail reads back");
        assert_eq!(trace::write(&again), written);
    }
}

/// Accepted programs run: a bounded part of their states is explored and explained.
pub fn check_small(data: &[u8]) {
    on_deep_stack(|| {
        let (Some(program), sources) = front_end(text(data)) else { return };
        explore(program, sources);
    });
}

fn explore(program: Program, sources: Arc<SourceMap>) {
    let Ok(machine) = Interp::new(Arc::new(program), move |span| sources.location(span)) else { return };
    let mut first = Vec::new();
    if machine.initial(&mut first).is_err() || first.len() > MAX_STATE_BYTES {
        return;
    }
    let mut seen = HashSet::from([machine.key(&first).to_vec()]);
    let mut open = vec![first];
    let mut successors = Successors::default();
    let mut actions = Vec::new();
    for _ in 0..MAX_STATES {
        let Some(state) = open.pop() else { break };
        successors.clear();
        machine.expand(&state, &mut successors);
        actions.clear();
        machine.enabled(&state, &mut actions);
        assert_eq!(actions.len(), successors.list.len(), "enabled and expand disagree");
        machine.labels(&state);
        machine.snapshot(&state);
        Invariants::inspect(&machine, &state, &mut Vec::new());
        if successors.list.is_empty() {
            machine.deadlock(&state);
        }
        for successor in &successors.list {
            machine.step(&state, successor.action);
            machine.events(&state, successor.action);
            let Some(next) = successors.state(successor) else { continue };
            if successor.is_transient() || seen.insert(machine.key(next).to_vec()) {
                open.push(next.to_vec());
            }
        }
    }
}

/// A formula of temporal logic: it is translated and written, or refused with a reason.
pub fn ltl(data: &[u8]) {
    let answer = engine::ltl::translate(&text(data), LtlFormat::Never, false, &engine::Stop::never());
    match answer.result {
        Ok(claim) => assert!(claim.starts_with("never {") && claim.ends_with("}\n")),
        Err(Failure::Internal(why)) => panic!("{why}"),
        Err(Failure::Model) => assert!(!answer.notices.is_empty()),
        Err(Failure::Refused { .. } | Failure::Incomplete { .. }) => {}
        Err(failure @ (Failure::Stopped(_) | Failure::Unwritten { .. })) => panic!("{failure:?}"),
    }
    answer.notices.iter().for_each(|notice| assert!(!render(notice, false).is_empty()));
}
