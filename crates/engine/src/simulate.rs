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
use system::{ActionId, Explain, Fault, Successors, TransitionSystem};
use trace::{Run, Walker};

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

/// Looks at a simulation while it happens. A watcher that does not look back lets the run [`forget`](Run::forget).
pub trait Watch: Send {
    /// A step was taken.
    fn step(&mut self, run: &mut Run<'_>) -> Flow;

    /// The run has ended.
    fn end(&mut self, run: &mut Run<'_>, ending: &Ending);
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

/// Runs a model once; `watch` sees each step when it was taken, and the end.
pub fn simulate(
    options: &SimulateOptions,
    files: &(dyn Files + Sync),
    stop: &AtomicBool,
    input: &mut Input<'_>,
    watch: &mut dyn Watch,
) -> Answer<Ending> {
    let work = || {
        let session = match Session::load(&options.source, files) {
            Ok(session) => session,
            Err(failure) => return Answer::failed(failure),
        };
        let result = session.machine().and_then(|machine| walk(&machine, options, stop, input, watch));
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
    watch: &mut dyn Watch,
) -> Result<Ending, Failure> {
    let (run, broken) = match Run::start(machine) {
        Ok(run) => (run, None),
        Err(fault) => (Run::without_start(machine), Some(fault)),
    };
    let mut simulation =
        Simulation { machine, run, random: Random::new(options.seed), input, input_ended: false };
    let ending = match broken {
        Some(fault) => Ending::Fault(fault),
        None => simulation.go(options.steps, stop, watch)?,
    };
    watch.end(&mut simulation.run, &ending);
    Ok(ending)
}

/// A run in progress.
struct Simulation<'a, M> {
    machine: &'a M,
    run: Run<'a>,
    random: Random,
    input: &'a mut Input<'a>,
    input_ended: bool,
}

impl<M: Reads> Simulation<'_, M> {
    /// Takes steps until something ends the run.
    fn go(
        &mut self,
        limit: Option<u64>,
        stop: &AtomicBool,
        watch: &mut dyn Watch,
    ) -> Result<Ending, Failure> {
        loop {
            if let Some(fault) = visible_fault(self.machine, self.run.tip()) {
                return Ok(Ending::Fault(fault));
            }
            if limit.is_some_and(|limit| self.run.len() as u64 >= limit) {
                return Ok(Ending::StepsSpent);
            }
            let Some(action) = self.choose() else { return Ok(self.stuck()) };
            if !self.take(action).map_err(Failure::Internal)? {
                continue;
            }
            if watch.step(&mut self.run) == Flow::Stop || stop.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
        }
    }

    /// One of the enabled actions. At the end of the input, actions that read are not enabled.
    fn choose(&mut self) -> Option<ActionId> {
        let mut enabled = self.run.enabled().to_vec();
        if self.input_ended {
            let state = self.run.tip().state();
            enabled.retain(|&action| self.machine.input_wanted(state, action).is_none());
        }
        enabled.get(self.random.below(enabled.len())).copied()
    }

    /// How a run ends in which nothing can be chosen.
    fn stuck(&mut self) -> Ending {
        if !self.run.enabled().is_empty() {
            return Ending::InputEnded;
        }
        let state = self.run.tip().state();
        match self.machine.labels(state).valid_end {
            true => Ending::ValidEnd,
            false => Ending::Fault(self.machine.deadlock(state)),
        }
    }

    /// Takes a step; false when there was not enough input for it.
    fn take(&mut self, action: ActionId) -> Result<bool, String> {
        let Some(wanted) = self.machine.input_wanted(self.run.tip().state(), action) else {
            return self.run.take(action).map(|()| true);
        };
        let read: Vec<u8> = (0..wanted).map_while(|_| (self.input)()).collect();
        if read.len() < wanted {
            self.input_ended = true;
            return Ok(false);
        }
        let machine = self.machine;
        let fire = |state: &[u8], batch: &mut Successors| {
            machine.fire_with_input(state, action, &read, batch);
        };
        self.run.take_by(action, fire).map(|()| true)
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

    /// Keeps the texts of all steps, and the number of those that the end sees.
    #[derive(Default)]
    struct Texts(Vec<String>, usize);

    impl Watch for Texts {
        fn step(&mut self, run: &mut Run<'_>) -> Flow {
            self.0.extend(run.info(run.len()).map(|info| info.text));
            Flow::Continue
        }

        fn end(&mut self, run: &mut Run<'_>, _: &Ending) {
            self.1 = run.len();
        }
    }

    #[test]
    fn what_reads_is_enabled_until_the_input_ends() {
        let graph = Graph::parse("0 -> 1 -> 0; end 0").unwrap();
        let mut left = b"ab".iter();
        let mut input = || left.next().copied();
        let (options, stop) = (SimulateOptions::default(), AtomicBool::new(false));
        let mut texts = Texts::default();
        let ending = walk(&graph, &options, &stop, &mut input, &mut texts).unwrap();
        assert_eq!((ending, texts.1), (Ending::InputEnded, 5));
    }

    fn run(text: &str, seed: u64, steps: Option<u64>) -> (Vec<String>, Ending) {
        let graph = Graph::parse(text).unwrap();
        let options = SimulateOptions { seed, steps, ..SimulateOptions::default() };
        let mut texts = Texts::default();
        let ending = walk(&graph, &options, &AtomicBool::new(false), &mut || Some(0), &mut texts).unwrap();
        assert_eq!(texts.0.len(), texts.1);
        (texts.0, ending)
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
