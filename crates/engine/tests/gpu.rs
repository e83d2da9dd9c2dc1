//! Checks by the GPU engine, on the device that interprets PTX: what is claimed is what explicit search
//! claims, and each counterexample can be walked in the reference machine.

use std::sync::atomic::AtomicBool;

use engine::backend::Backend;
use engine::gpu_search::search_on;
use engine::options::{CheckOptions, Engine, Por, Source, StoreKind};
use engine::plan::Plan;
use engine::session::Session;
use engine::{Silent, Stop};
use gpu::simulate::Simulator;
use promela::source::Files;
use search::{Checks, Limits, Outcome, Task};
use system::{FaultKind, Successors, TransitionSystem};

struct Text(&'static str);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_string())
    }
}

fn options(engine: Engine, all_errors: bool) -> CheckOptions {
    CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        engine: Some(engine),
        all_errors,
        opt: Some(Vec::new()),
        ..CheckOptions::default()
    }
}

/// Searches with the simulated device, and walks what was found.
fn on_gpu(text: &'static str, all_errors: bool, seed: u64) -> Outcome {
    let options = options(Engine::Gpu, all_errors);
    let plan = Plan::new(&options).expect("a plan");
    let session = Session::load(&options.source, &Text(text), &Stop::never()).expect("a model");
    let backend = session.searched(plan.reductions(), plan.exec, &[]).expect("a machine");
    let interp = backend.interp().expect("a program");
    let stop = AtomicBool::new(false);
    let task = Task {
        checks: Checks::SAFETY,
        all_errors,
        seed: None,
        limits: Limits::default(),
        stop: &stop,
        reduce: None,
    };
    let device = &mut Simulator::new(8 << 20, seed);
    let explored =
        search_on(device, (&plan, &backend, interp), &task, &mut search::Silent).expect("an answer");
    for violation in &explored.outcome.violations {
        let mut state = Vec::new();
        interp.initial(&mut state).expect("an initial state");
        let mut last = None;
        for &action in violation.path.iter() {
            let mut out = Successors::default();
            interp.fire(&state, &[action], &mut out);
            let outcome = out.list[0];
            last = out.faults_of(&outcome).map(|fault| fault.kind).next();
            state = out.state(&outcome).map(<[u8]>::to_vec).unwrap_or_default();
        }
        match violation.fault.kind {
            FaultKind::EndState => assert!(!interp.labels(&state).valid_end),
            kind => assert_eq!(last, Some(kind)),
        }
    }
    explored.outcome
}

const MODELS: [&str; 5] = [
    // Two processes that wait for each other.
    "chan a = [1] of { byte }; chan b = [1] of { byte };
    active proctype p() { byte x; a?x; b!x } active proctype q() { byte x; b?x; a!x }",
    // An assertion behind a branch in an atomic sequence, and a value that a small sample does not meet.
    "byte n; active [2] proctype p() {
    end: do :: atomic { n < 40 -> if :: n = n + 1 :: n = n + 3 fi; assert(n != 31) } od }",
    // A division by 0, and an index that is out of bounds.
    "byte n = 5; byte a[3]; active proctype p() {
    end: do :: n > 0 -> n-- :: n = 10 / n :: n < 4 -> a[n] = 1 od }",
    // Rendezvous, processes that come and go, unless, timeout.
    "chan c = [0] of { byte, bool }; byte got;
    proctype s(byte v) { c!v(true) }
    active proctype r() { byte v; do :: c?v(true) -> got = got + v :: timeout -> break od }
    init { { run s(1); run s(2); run s(3) } unless { got > 4 } }",
    // A d_step with a loop.
    "int sum; byte k; active [2] proctype p() {
    d_step { k = 0; do :: k < 20 -> sum = sum + k; k++ :: else -> break od }; assert(sum < 300) }",
];

#[test]
fn what_is_claimed_is_what_explicit_search_claims() {
    for (number, text) in MODELS.into_iter().enumerate() {
        let mut options = options(Engine::Explicit, true);
        (options.por, options.store, options.threads) = (Some(Por::None), Some(StoreKind::Table), Some(1));
        let report =
            engine::check(&options, &Text(text), &Stop::never(), &mut Silent).result.expect("a report");
        let explicit = &report.properties[0];
        let found = on_gpu(text, true, number as u64);
        assert_eq!(found.statistics.states, explicit.statistics.states, "{text}");
        assert_eq!(found.errors, explicit.errors, "{text}");
        assert_eq!(found.exhausted.is_some(), explicit.exhaustive, "{text}");
        let first = on_gpu(text, false, number as u64 + 9);
        assert_eq!(first.violations.is_empty(), explicit.errors == 0, "{text}");
    }
}
