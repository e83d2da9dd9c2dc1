//! One random run, step by step.

use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::options::Source;
use crate::session::Session;
use machine::Interp;
use promela::source::Files;
use search::Flow;
use search::random::Random;
use std::sync::atomic::{AtomicBool, Ordering};
use system::{ActionId, Explain, Fault, NamedValue, StepInfo, Successors, TransitionSystem};
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

/// A run that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// Why.
    pub ending: Ending,
    /// After so many steps.
    pub steps: u64,
    /// All variables and channels at the end, and where each process is; after a step that could not be completed, as they
    /// were before it.
    pub values: Vec<NamedValue>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is enabled, and every process is at a valid end.
    ValidEnd,
    /// A step, a state or the end of the run shows an error.
    Fault(Fault),
    /// Nothing can happen but reading standard input, which is at its end.
    InputEnded,
    /// As many steps as allowed were taken.
    StepsSpent,
    /// Somebody asked it to stop.
    Interrupted,
}

/// Where the characters that a model reads from `STDIN` come from; `None` is the end of the input.
pub type Input<'a> = dyn FnMut() -> Option<u8> + Send + 'a;

/// Machines whose steps may read input.
trait Reads: TransitionSystem + Explain {
    /// How many characters an enabled action reads; `None` when it reads none.
    fn input_wanted(&self, state: &[u8], action: ActionId) -> Option<usize>;

    /// Fires an action that reads, with what was read.
    fn fire_with_input(&self, state: &[u8], action: ActionId, input: &[u8], out: &mut Successors);
}

impl Reads for Interp {
    fn input_wanted(&self, state: &[u8], action: ActionId) -> Option<usize> {
        Interp::input_wanted(self, state, action)
    }

    fn fire_with_input(&self, state: &[u8], action: ActionId, input: &[u8], out: &mut Successors) {
        Interp::fire_with_input(self, state, action, input, out);
    }
}

/// Runs a model once; `sink` receives each step when it was taken.
pub fn simulate(
    options: &SimulateOptions,
    files: &(dyn Files + Sync),
    stop: &AtomicBool,
    input: &mut Input<'_>,
    sink: &mut (dyn FnMut(SimulatedStep) -> Flow + Send),
) -> Answer<Simulated> {
    let work = || {
        let session = match Session::load(&options.source, files) {
            Ok(session) => session,
            Err(failure) => return Answer::failed(failure),
        };
        let result = session.machine().and_then(|machine| walk(&machine, options, stop, input, sink));
        Answer { notices: session.notices, result }
    };
    isolated(work).unwrap_or_else(Answer::failed)
}

/// Walks at random until something ends the run.
fn walk<M: Reads>(
    machine: &M,
    options: &SimulateOptions,
    stop: &AtomicBool,
    input: &mut Input<'_>,
    sink: &mut dyn FnMut(SimulatedStep) -> Flow,
) -> Result<Simulated, Failure> {
    let walker = match Walker::start(machine) {
        Ok(walker) => walker,
        Err(fault) => return Ok(Simulated { ending: Ending::Fault(fault), steps: 0, values: Vec::new() }),
    };
    let random = Random::new(options.seed);
    let mut run = Run { machine, walker, random, input, input_ended: false };
    let mut steps = 0;
    let ending = loop {
        if let Some(fault) = visible_fault(machine, &run.walker) {
            break Ending::Fault(fault);
        }
        if options.steps.is_some_and(|limit| steps >= limit) {
            break Ending::StepsSpent;
        }
        let Some(action) = run.choose() else { break run.stuck() };
        let info = machine.step(run.walker.state(), action);
        let Some(output) = run.take(action).map_err(Failure::Internal)? else { continue };
        steps += 1;
        let flow = sink(SimulatedStep { number: steps, info, output });
        if flow == Flow::Stop || stop.load(Ordering::Relaxed) {
            break Ending::Interrupted;
        }
    };
    Ok(Simulated { ending, steps, values: machine.values(run.walker.state()) })
}

/// A run in progress.
struct Run<'a, M> {
    machine: &'a M,
    walker: Walker<'a>,
    random: Random,
    input: &'a mut Input<'a>,
    input_ended: bool,
}

impl<M: Reads> Run<'_, M> {
    /// One of the enabled actions. At the end of the input, actions that read are not enabled.
    fn choose(&mut self) -> Option<ActionId> {
        let mut enabled = self.walker.enabled().to_vec();
        if self.input_ended {
            let state = self.walker.state();
            enabled.retain(|&action| self.machine.input_wanted(state, action).is_none());
        }
        enabled.get(self.random.below(enabled.len())).copied()
    }

    /// How a run ends in which nothing can be chosen.
    fn stuck(&mut self) -> Ending {
        if !self.walker.enabled().is_empty() {
            return Ending::InputEnded;
        }
        let state = self.walker.state();
        match self.machine.labels(state).valid_end {
            true => Ending::ValidEnd,
            false => Ending::Fault(self.machine.deadlock(state)),
        }
    }

    /// Takes a step and returns what it printed; `None` when there was not enough input for it.
    fn take(&mut self, action: ActionId) -> Result<Option<String>, String> {
        let Some(wanted) = self.machine.input_wanted(self.walker.state(), action) else {
            let output = self.machine.output(self.walker.state(), action);
            return self.walker.step(action).map(|()| Some(output));
        };
        let read: Vec<u8> = (0..wanted).map_while(|_| (self.input)()).collect();
        if read.len() < wanted {
            self.input_ended = true;
            return Ok(None);
        }
        let machine = self.machine;
        let fire = |state: &[u8], batch: &mut Successors| {
            machine.fire_with_input(state, action, &read, batch);
        };
        self.walker.step_by(action, fire).map(|()| Some(String::new()))
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

    /// Action 1 reads as many characters as its state has digits, and is fired like any other.
    impl Reads for Graph {
        fn input_wanted(&self, state: &[u8], action: ActionId) -> Option<usize> {
            (action.0 == 1).then_some(state.len())
        }

        fn fire_with_input(&self, state: &[u8], action: ActionId, _: &[u8], out: &mut Successors) {
            self.fire(state, &[action], out);
        }
    }

    #[test]
    fn what_reads_is_enabled_until_the_input_ends() {
        let graph = Graph::parse("0 -> 1 -> 0; end 0").unwrap();
        let mut left = b"ab".iter();
        let mut input = || left.next().copied();
        let (options, stop) = (SimulateOptions::default(), AtomicBool::new(false));
        let run = walk(&graph, &options, &stop, &mut input, &mut |_| Flow::Continue).unwrap();
        assert_eq!((run.ending, run.steps), (Ending::InputEnded, 5));
    }

    fn run(text: &str, seed: u64, steps: Option<u64>) -> (Vec<String>, Ending) {
        let graph = Graph::parse(text).unwrap();
        let options = SimulateOptions { seed, steps, ..SimulateOptions::default() };
        let mut seen = Vec::new();
        let mut sink = |step: SimulatedStep| {
            seen.push(step.info.text);
            Flow::Continue
        };
        let mut input = || Some(0);
        let run = walk(&graph, &options, &AtomicBool::new(false), &mut input, &mut sink).unwrap();
        assert_eq!(run.steps, seen.len() as u64);
        (seen, run.ending)
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
