//! Native code does what the evaluator of the kernel IR does, alternative by alternative, and with it what the
//! reference machine does: on the models of the repository and on random programs, from layouts that know
//! too little at first, so that values that do not fit are met, too.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::collections::{BTreeMap, HashSet, VecDeque};

use common::Model;
use kernel::expand::{Expander, Step};
use kernel::lower::{FAILED, NO_STATE, lower};
use kernel::sample::Extent;
use kernel::{Kernel, Layout, Learned, Refused, sample};
use machine::Interp;
use packed::Machine;
use promela::ir::Program;
use system::{FaultKind, Successors, SystemExt, TransitionSystem};
use testkit::generate::Size;

/// What a step leads to: whether an assertion failed, and the state, if any.
type Told = (bool, Option<Vec<u8>>);

fn of_interp(interp: &Interp, state: &[u8]) -> Vec<Told> {
    let mut out = Successors::default();
    interp.expand(state, &mut out);
    let failed = |o| out.faults_of(o).any(|fault| fault.kind == FaultKind::Assertion);
    let mut told: Vec<Told> =
        out.list.iter().map(|o| (failed(o), out.state(o).map(<[u8]>::to_vec))).collect();
    told.sort();
    told
}

fn of_steps(interp: &Interp, layout: &Layout, steps: &[Step]) -> Vec<Told> {
    let state = |step: &Step| {
        (step.outcome & NO_STATE == 0)
            .then(|| interp.put_together(&layout.unpack(interp.program(), &step.state)))
    };
    let mut told: Vec<Told> =
        steps.iter().map(|step| (step.outcome & (FAILED | NO_STATE) == FAILED, state(step))).collect();
    told.sort();
    told
}

/// What native code writes for a process, as the evaluator tells it.
fn of_code(machine: &Machine, words: &[u64], pid: usize, timeout: bool, records: &mut [u64]) -> Vec<Step> {
    let end = machine.of_process(pid, words, timeout, records, 0);
    let step = |record: &[u64]| {
        let (state, told) = record.split_at(words.len());
        Step { pid, outcome: told[0] as u32, miss: (told[0] >> 32) as u32, state: state.to_vec() }
    };
    records[..end].chunks_exact(machine.record()).map(step).collect()
}

struct Packed {
    layout: Layout,
    kernel: Kernel,
    machine: Machine,
}

fn pack(interp: &Interp, learned: &Learned) -> Result<Packed, Refused> {
    let layout = Layout::new(interp.program(), learned)?;
    let kernel = lower(interp, &layout)?;
    let machine = Machine::new(&kernel).unwrap_or_else(|why| panic!("{why}\n{}", kernel.function));
    Ok(Packed { layout, kernel, machine })
}

/// Walks through the states of a program; answers how many were compared, and how often something was missed.
fn compare(model: &Model, program: &Program, most: usize) -> Result<(usize, usize), Refused> {
    let interp = model.machine(program);
    kernel::refuse::refuse(&interp)?;
    let variables = kernel::learn::Variables::new(program);
    let mut learned = Learned::default();
    let extent = Extent { breadth: 40, walks: 2, steps: 30 };
    sample::learn(&interp, &|state| interp.take_apart(state), &variables, (&mut learned, extent));
    let mut initial = Vec::new();
    if interp.initial(&mut initial).is_err() {
        return Ok((0, 0));
    }
    let packed = pack(&interp, &learned)?;
    let (layout, machine) = (&packed.layout, &packed.machine);
    let mut evaluator = Expander::new(layout, &packed.kernel);
    let mut records = vec![0; machine.room() * machine.record()];
    let Ok(words) = layout.pack(&interp.take_apart(&initial).expect("a state")) else { return Ok((0, 1)) };
    let (mut known, mut queue) = (HashSet::from([words.clone()]), VecDeque::from([words]));
    let (mut n, mut misses) = (0, 0);
    while let Some(words) = queue.pop_front().filter(|_| n < most) {
        n += 1;
        for timeout in [false, true] {
            for pid in 0..layout.slots.len() {
                let mut steps = Vec::new();
                evaluator.of_process(&words, pid, timeout, &mut steps);
                let code = of_code(machine, &words, pid, timeout, &mut records);
                assert_eq!(code, steps, "{}: process {pid}, timeout {timeout}", model.name);
            }
        }
        let mut steps = Vec::new();
        evaluator.expand(&words, &mut steps);
        let missed = steps.iter().filter(|step| step.miss != 0).count();
        misses += missed;
        if missed == 0 {
            let state = interp.put_together(&layout.unpack(program, &words));
            assert_eq!(of_steps(&interp, layout, &steps), of_interp(&interp, &state), "{}", model.name);
        }
        for next in steps.into_iter().filter(Step::has_state).map(|step| step.state) {
            if known.insert(next.clone()) {
                queue.push_back(next);
            }
        }
    }
    Ok((n, misses))
}

#[test]
fn models_of_the_repository() {
    let (mut compared, mut misses, mut refused) = (0, 0, Vec::new());
    let models = Model::all();
    for model in &models {
        for program in [model.program.clone(), common::reduced(&model.program)] {
            match compare(model, &program, 300) {
                Ok((_, again)) => {
                    compared += 1;
                    misses += again;
                }
                Err(why) => refused.push(format!("{}: {why}", model.name)),
            }
        }
    }
    refused.dedup();
    assert!(misses > 0, "layouts of small samples miss something");
    assert!(compared * 10 >= models.len() * 2 * 8, "{compared} compared; refused: {refused:#?}");
}

#[test]
fn random_programs() {
    let (mut compared, mut refused) = (0, BTreeMap::new());
    for seed in 0..600 {
        let Some(model) = Model::random(seed, Size::Small) else { continue };
        let program = if seed % 2 == 0 { model.program.clone() } else { common::reduced(&model.program) };
        match compare(&model, &program, 200) {
            Ok(_) => compared += 1,
            Err(why) => *refused.entry(why.to_string()).or_insert(0) += 1,
        }
    }
    assert!(compared > 100, "{compared} compared, refused: {refused:#?}");
}
