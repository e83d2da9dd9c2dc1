//! Runs that are looked for state by state, where no work is allowed for rings of pre-images: they exist
//! where shortest runs do, and lead where they should.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::Model;
use jit::Jit;
use mu::{Formula, Quantifier, Truth};
use pins::Pins;
use search::{Checks, Limits, Task};
use stop::Stop;
use symbolic::{
    Asked, Demonstration, Ended, Progress, Reorder, Request, Vocabulary, WORK_FOR_RINGS, branching,
};
use system::{Successors, TransitionSystem};
use testkit::generate::Size;

/// The answer to a formula, and the run that shows it.
fn answer(jit: &Jit, formula: &Formula, work_for_rings: u64) -> Option<(Truth, Option<Demonstration>)> {
    let machine = jit.one_process()?;
    let (stop, flag) = (Stop::never(), AtomicBool::new(false));
    let mut pins = Pins::new(jit, &machine, &[], &stop).ok()?;
    let task = Task {
        checks: Checks::NONE,
        all_errors: true,
        seed: None,
        limits: Limits::default(),
        stop: &flag,
        reduce: None,
    };
    let request =
        Request { system: jit, task: &task, reorder: Reorder::None, chains: false, memory: 256 << 20 };
    let formulas = std::slice::from_ref(formula);
    let asked = Asked { formulas, vocabulary: Vocabulary::default(), fair: false, work_for_rings };
    let found = match branching(request, asked, &mut pins, &Arc::new(Progress::default())) {
        Err(Ended::Unfit(_)) => return None,
        found => found.expect("an answer"),
    };
    let judgement = found.judgements.into_iter().next()?;
    Some((judgement.truth, judgement.run))
}

/// The last state of a run; each of its actions is possible.
fn end(jit: &Jit, run: &Demonstration) -> Vec<u8> {
    let mut state = Vec::new();
    jit.initial(&mut state).expect("an initial state");
    for &action in run.path.iter() {
        let (mut enabled, mut outcomes) = (Vec::new(), Successors::default());
        jit.enabled(&state, &mut enabled);
        assert!(enabled.contains(&action));
        jit.fire(&state, &[action], &mut outcomes);
        let outcome = outcomes.list[0];
        state = outcomes.state(&outcome).expect("a step with an end").to_vec();
    }
    state
}

/// Whether a run into a state that is stuck was found in both ways.
fn agree(model: &Model, formula: &Formula) -> bool {
    let sources = Arc::clone(&model.sources);
    let Ok(jit) = Jit::new(Arc::new(model.program.clone()), move |span| sources.location(span)) else {
        return false;
    };
    if !jit.is_native() || jit.hidden_bytes() > 0 {
        return false;
    }
    let Some((truth, shortest)) = answer(&jit, formula, WORK_FOR_RINGS) else { return false };
    let (same, some) = answer(&jit, formula, 0).expect("an answer");
    assert_eq!((truth, shortest.is_some()), (same, some.is_some()), "{}", model.name);
    let Some((shortest, some)) = shortest.zip(some).filter(|_| truth == Truth::True) else { return false };
    assert!(shortest.ends.len() <= some.ends.len(), "{}", model.name);
    for run in [&shortest, &some] {
        let mut enabled = Vec::new();
        jit.enabled(&end(&jit, run), &mut enabled);
        assert!(enabled.is_empty(), "{}: {enabled:?} at the end of {:?}", model.name, run.ends);
    }
    true
}

#[test]
fn runs_are_found_state_by_state() {
    let stuck = Formula::Finally(Quantifier::Some, Box::new(Formula::stuck()));
    let models = (0..90).filter_map(|seed| Model::random(seed, Size::Small));
    let agreed = models.filter(|model| agree(model, &stuck)).count();
    assert!(agreed > 20, "{agreed}");
}
