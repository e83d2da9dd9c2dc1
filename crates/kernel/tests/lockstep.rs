//! The evaluator of the kernel IR takes the steps that the reference machine takes: on the models of the
//! repository and on random programs, from layouts that were learned of part of the states, so that values
//! that do not fit are met, too.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::collections::{BTreeMap, HashSet, VecDeque};

use common::Model;
use kernel::expand::{Expander, Step};
use kernel::lower::{FAILED, NO_STATE, lower};
use kernel::sample::Extent;
use kernel::{Kernel, Layout, Learned, Refused, sample};
use machine::Interp;
use promela::ir::Program;
use system::{FaultKind, Successors, SystemExt, TransitionSystem};
use testkit::generate::Size;

/// What a step leads to, in both worlds: whether an assertion failed, and the state, if any.
type Told = (bool, Option<Vec<u8>>);

fn of_interp(interp: &Interp, state: &[u8]) -> Vec<Told> {
    let mut out = Successors::default();
    interp.expand(state, &mut out);
    let failed = |o| out.faults_of(o).any(|fault| fault.kind == FaultKind::Assertion);
    let told = |o| (failed(o), out.state(o).map(<[u8]>::to_vec));
    let mut told: Vec<Told> = out.list.iter().map(told).collect();
    told.sort();
    told
}

fn of_kernel(interp: &Interp, layout: &Layout, steps: &[Step]) -> Vec<Told> {
    let state = |step: &Step| {
        (step.outcome & NO_STATE == 0)
            .then(|| interp.put_together(&layout.unpack(interp.program(), &step.state)))
    };
    let mut told: Vec<Told> =
        steps.iter().map(|step| (step.outcome & (FAILED | NO_STATE) == FAILED, state(step))).collect();
    told.sort();
    told
}

/// What a program is, packed.
struct Packed {
    layout: Layout,
    kernel: Kernel,
}

fn pack(interp: &Interp, learned: &Learned) -> Result<Packed, Refused> {
    let layout = Layout::new(interp.program(), learned)?;
    let kernel = lower(interp, &layout)?;
    kernel::verify::verify(&kernel.function).unwrap_or_else(|why| panic!("{why}\n{}", kernel.function));
    Ok(Packed { layout, kernel })
}

/// Walks through the states of a program; answers how many were compared, and how often the layout had to be
/// made again.
fn compare(model: &Model, program: &Program, most: usize) -> Result<(usize, usize), Refused> {
    let interp = model.machine(program);
    kernel::refuse::refuse(&interp)?;
    let variables = kernel::learn::Variables::new(program);
    let mut learned = Learned::default();
    let extent = Extent { breadth: 20, walks: 1, steps: 20 };
    sample::learn(&interp, &|state| interp.take_apart(state), &variables, (&mut learned, extent));
    let mut initial = Vec::new();
    if interp.initial(&mut initial).is_err() {
        return Ok((0, 0));
    }
    let mut misses = 0;
    'again: loop {
        let packed = pack(&interp, &learned)?;
        let mut expander = Expander::new(&packed.layout, &packed.kernel);
        let (mut known, mut queue) = (HashSet::from([initial.clone()]), VecDeque::from([initial.clone()]));
        let mut n = 0;
        while let Some(state) = queue.pop_front().filter(|_| n < most) {
            n += 1;
            let anatomy = interp.take_apart(&state).expect("a state");
            let told = of_interp(&interp, &state);
            let mut steps = Vec::new();
            let words = match packed.layout.pack(&anatomy) {
                Ok(words) => words,
                Err(part) => panic!("{}: a state that was not missed does not fit: {part:?}", model.name),
            };
            let unpacked = packed.layout.unpack(program, &words);
            assert_eq!(interp.put_together(&unpacked), state, "{}: packed and unpacked", model.name);
            expander.expand(&words, &mut steps);
            if let Some(step) = steps.iter().find(|step| step.miss != 0) {
                misses += 1;
                for next in told.iter().filter_map(|told| told.1.as_ref()) {
                    learned.state(&variables, &interp.take_apart(next).expect("a state"));
                }
                if !learned.has_grown() {
                    let column = step.miss.checked_sub(kernel::lower::MISS_COLUMN).expect("a column");
                    learned.widen(packed.layout.columns[column as usize].part);
                    learned.has_grown();
                }
                assert!(misses < 2000, "{}: widened without end", model.name);
                continue 'again;
            }
            let packed_told = of_kernel(&interp, &packed.layout, &steps);
            assert_eq!(packed_told, told, "{}: {anatomy:?}", model.name);
            for next in told.into_iter().filter_map(|told| told.1) {
                if known.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
        return Ok((n, misses));
    }
}

#[test]
fn models_of_the_repository() {
    let (mut compared, mut misses, mut refused) = (0, 0, Vec::new());
    let models = Model::all();
    for model in &models {
        for (program, most) in [(model.program.clone(), 300), (common::reduced(&model.program), 300)] {
            match compare(model, &program, most) {
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
    for seed in 0..2000 {
        let Some(model) = Model::random(seed, Size::Small) else { continue };
        let program = if seed % 2 == 0 { model.program.clone() } else { common::reduced(&model.program) };
        match compare(&model, &program, 200) {
            Ok(_) => compared += 1,
            Err(why) => *refused.entry(why.to_string()).or_insert(0) += 1,
        }
    }
    assert!(compared > 300, "{compared} compared, refused: {refused:#?}");
}
