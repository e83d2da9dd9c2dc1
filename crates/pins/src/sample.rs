//! A few runs, to know most shapes before the search: each shape that is met later makes the search begin
//! again.
//!
//! The first run prefers the processes with the lowest pids, which start the others; the rest are random.

use jit::Jit;
use system::{Processes, Successors, TransitionSystem, WorkerExt};

use crate::shapes::Shapes;
use machine::facts::Telling;

/// Steps of a random run.
const LENGTH: usize = 400;
/// Steps of the first run: enough to start 255 processes in a loop.
const FIRST_LENGTH: usize = 2000;
/// Runs.
const RUNS: u64 = 12;

/// Adds the shapes of a few runs.
pub fn add_shapes(jit: &Jit, shapes: &mut Shapes, initial: &[u8], telling: &[Telling]) -> Result<(), String> {
    let Some(processes) = jit.capabilities().processes else { return Ok(()) };
    let mut worker = jit.worker();
    let (mut out, mut proctypes) = (Successors::default(), Vec::new());
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for run in 0..RUNS {
        let mut state = initial.to_vec();
        let mut alive = processes.n_processes(initial);
        for _ in 0..if run == 0 { FIRST_LENGTH } else { LENGTH } {
            out.clear();
            worker.expand(&state, &mut out);
            out.list.retain(|outcome| outcome.has_state());
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let Some(last) = out.list.len().checked_sub(1) else { break };
            let chosen = match run {
                0 => lowest(processes, &out),
                _ => (random >> 33) as usize % (last + 1),
            };
            let chosen = out.list[chosen];
            let Some(next) = out.state(&chosen) else { break };
            state.clear();
            state.extend_from_slice(next);
            if !chosen.is_transient() {
                proctypes.clear();
                if jit.proctypes(&state, &mut proctypes) {
                    shapes.add(jit, &proctypes)?;
                    if proctypes.len() > alive {
                        note_starts(jit, shapes, &state, alive, telling);
                    }
                    alive = proctypes.len();
                }
            }
        }
    }
    Ok(())
}

/// Notes how the processes of a state were started that are not among the first `old`; see
/// [`Shapes::note_starts`].
pub fn note_starts(jit: &Jit, shapes: &mut Shapes, state: &[u8], old: usize, telling: &[Telling]) -> bool {
    let interp = jit.interp();
    let anatomy = interp.take_apart(&jit.to_interp(state));
    anatomy.is_some_and(|anatomy| shapes.note_starts(&anatomy, old, interp.program(), telling))
}

fn lowest(processes: &dyn Processes, out: &Successors) -> usize {
    let pid = |at: &usize| processes.process_of(out.list[*at].action);
    (0..out.list.len()).min_by_key(pid).unwrap_or(0)
}
