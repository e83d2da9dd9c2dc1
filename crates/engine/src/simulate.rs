//! One random run, step by step.

use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::options::Source;
use crate::session::Session;
use promela::source::Files;
use search::Flow;
use search::random::Random;
use std::sync::atomic::{AtomicBool, Ordering};
use system::{Explain, Fault, StepInfo, TransitionSystem};
use trace::Walker;

/// What is to be simulated.
#[derive(Clone, Debug, Default)]
pub struct SimulateOptions {
    /// The model.
    pub source: Source,
    /// The same seed gives the same run.
    pub seed: u64,
    /// Stop after so many steps.
    pub steps: Option<u64>,
}

/// A step of the run.
#[derive(Clone, Debug)]
pub struct SimulatedStep {
    /// Its number, from 1.
    pub number: u64,
    /// What was done, by whom, where.
    pub info: StepInfo,
    /// What it printed.
    pub output: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is enabled, and every process is at a valid end.
    ValidEnd,
    /// A step, a state or the end of the run shows an error.
    Fault(Fault),
    /// As many steps as allowed were taken.
    StepsSpent,
    /// Somebody asked it to stop.
    Interrupted,
}

/// Runs a model once; `sink` receives each step when it was taken.
pub fn simulate(
    options: &SimulateOptions,
    files: &(dyn Files + Sync),
    stop: &AtomicBool,
    sink: &mut (dyn FnMut(SimulatedStep) -> Flow + Send),
) -> Answer<Ending> {
    let work = || {
        let session = match Session::load(&options.source, files) {
            Ok(session) => session,
            Err(failure) => return Answer::failed(failure),
        };
        let result = session.machine().and_then(|machine| walk(&machine, options, stop, sink));
        Answer { notices: session.notices, result }
    };
    isolated(work).unwrap_or_else(Answer::failed)
}

/// Walks at random until something ends the run.
fn walk<M: TransitionSystem + Explain>(
    machine: &M,
    options: &SimulateOptions,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(SimulatedStep) -> Flow,
) -> Result<Ending, Failure> {
    let mut random = Random::new(options.seed);
    let mut walker = match Walker::start(machine) {
        Ok(walker) => walker,
        Err(fault) => return Ok(Ending::Fault(fault)),
    };
    let mut number = 0;
    loop {
        if let Some(fault) = visible_fault(machine, &walker) {
            return Ok(Ending::Fault(fault));
        }
        if options.steps.is_some_and(|limit| number >= limit) {
            return Ok(Ending::StepsSpent);
        }
        let enabled = walker.enabled();
        let Some(&action) = enabled.get(random.below(enabled.len())) else {
            return Ok(match machine.labels(walker.state()).valid_end {
                true => Ending::ValidEnd,
                false => Ending::Fault(machine.deadlock(walker.state())),
            });
        };
        let info = machine.step(walker.state(), action);
        let output = machine.output(walker.state(), action);
        walker.step(action).map_err(Failure::Internal)?;
        number += 1;
        let flow = sink(SimulatedStep { number, info, output });
        if flow == Flow::Stop || stop.load(Ordering::Relaxed) {
            return Ok(Ending::Interrupted);
        }
    }
}

/// The error that the last step or the state shows.
fn visible_fault<M: TransitionSystem>(machine: &M, walker: &Walker<'_>) -> Option<Fault> {
    if let Some(fault) = walker.fault() {
        return Some(fault.clone());
    }
    let mut faults = Vec::new();
    if !walker.is_transient() {
        machine.inspect(walker.state(), &mut faults);
    }
    faults.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;

    fn run(text: &str, seed: u64, steps: Option<u64>) -> (Vec<String>, Ending) {
        let graph = Graph::parse(text).unwrap();
        let options = SimulateOptions { seed, steps, ..SimulateOptions::default() };
        let mut seen = Vec::new();
        let mut sink = |step: SimulatedStep| {
            seen.push(step.info.text);
            Flow::Continue
        };
        let ending = walk(&graph, &options, &AtomicBool::new(false), &mut sink).unwrap();
        (seen, ending)
    }

    #[test]
    fn a_run_ends_at_a_valid_end_a_fault_or_the_limit() {
        let (steps, ending) = run("0 -> 1 -> 2; end 2", 0, None);
        assert_eq!((steps.len(), ending), (2, Ending::ValidEnd));
        let (_, ending) = run("0 -> 1 -> 2", 0, None);
        assert!(matches!(ending, Ending::Fault(fault) if fault.message == "stuck at 2"));
        let (_, ending) = run("0 -> 1 -> 2; assert 0 1", 0, None);
        assert!(matches!(ending, Ending::Fault(fault) if fault.message.starts_with("assertion")));
        let (steps, ending) = run("0 -> 1 -> 0", 0, Some(7));
        assert_eq!((steps.len(), ending), (7, Ending::StepsSpent));
        assert!(matches!(run("broken", 0, None).1, Ending::Fault(_)));
    }

    #[test]
    fn the_seed_decides() {
        let text = "0 -> 1 -> 0; 0 -> 2 -> 0; 1 -> 2; 2 -> 1";
        assert_eq!(run(text, 5, Some(50)), run(text, 5, Some(50)));
        assert_ne!(run(text, 5, Some(50)).0, run(text, 6, Some(50)).0);
    }
}
