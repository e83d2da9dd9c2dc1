//! Small programs whose state spaces were counted with Spin 6.5.2 (reference configuration). The Promela text
//! of each program stands above it.

mod build;
mod channels;
mod control;
mod coverage;
mod data;
mod errors;
mod processes;
mod spin;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use promela::ir::Program;
use promela::source::{Location, Span};
use system::{ActionId, FaultKind, Invariants, Successors, SystemExt, TransitionSystem};

use super::Interp;

/// A machine whose places are the bytes at which spans start.
pub fn machine(program: Program) -> Interp {
    try_machine(program).expect("the program is well formed")
}

/// A machine, or why there is none.
pub fn try_machine(program: Program) -> Result<Interp, String> {
    let locate = |span: Span| Location { file: "test".into(), line: span.start + 1, column: 1 };
    Interp::new(Arc::new(program), locate)
}

/// What a whole search saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub states: usize,
    pub transitions: usize,
    pub deadlocks: usize,
    pub faults: BTreeMap<(FaultKind, String), usize>,
}

/// Explores everything; transient states are passed through and not counted.
pub fn explore(machine: &Interp) -> Seen {
    let mut seen = Seen::default();
    let mut known = HashSet::new();
    let mut first = Vec::new();
    machine.initial(&mut first).expect("initialisation works");
    known.insert(machine.key(&first).to_vec());
    let mut todo = vec![(first, false)];
    let (mut actions, mut next) = (Vec::new(), Successors::default());
    while let Some((state, transient)) = todo.pop() {
        actions.clear();
        next.clear();
        machine.enabled(&state, &mut actions);
        assert!(!transient || !actions.is_empty(), "a transient state has successors");
        if actions.is_empty() && !machine.labels(&state).valid_end {
            seen.deadlocks += 1;
        }
        let mut shown = Vec::new();
        if !transient {
            machine.inspect(&state, &mut shown);
        }
        for fault in shown.into_iter().filter(|fault| fault.kind == FaultKind::Trace) {
            *seen.faults.entry((fault.kind, fault.message)).or_default() += 1;
        }
        machine.fire(&state, &actions, &mut next);
        seen.transitions += next.list.len();
        for successor in &next.list {
            for fault in next.faults_of(successor) {
                *seen.faults.entry((fault.kind, fault.message.clone())).or_default() += 1;
            }
            let Some(bytes) = next.state(successor) else { continue };
            if successor.is_transient() || known.insert(machine.key(bytes).to_vec()) {
                todo.push((bytes.to_vec(), successor.is_transient()));
            }
        }
    }
    seen.states = known.len();
    seen
}

/// The initial state.
pub fn initial(machine: &Interp) -> Vec<u8> {
    let mut state = Vec::new();
    machine.initial(&mut state).expect("initialisation works");
    state
}

/// The enabled actions of a state.
pub fn enabled(machine: &Interp, state: &[u8]) -> Vec<ActionId> {
    let mut actions = Vec::new();
    machine.enabled(state, &mut actions);
    actions
}

/// Fires the `n`th enabled action.
pub fn fire(machine: &Interp, state: &[u8], n: usize) -> Successors {
    let mut out = Successors::default();
    machine.fire(state, &enabled(machine, state)[n..=n], &mut out);
    out
}
