//! A run in the making: what can be done next, doing it, undoing it. `simulate` makes random runs of it,
//! clients let people choose.
//!
//! Steps may read characters from outside. Undoing a step gives back what it read, so that the next one reads
//! the same.

use machine::{ActingClaim, Interp};
use search::random::Random;
use std::collections::VecDeque;
use system::{ActionId, Explain, Fault, Successors, TransitionSystem};
use trace::Run;
use trace::story::{self, Told};

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
pub trait Reads: TransitionSystem + Explain {
    /// Whether any step may read.
    fn may_read_input(&self) -> bool;

    /// How many characters an enabled action reads; `None` when it reads none.
    fn input_wanted(&self, state: &[u8], action: ActionId) -> Option<usize>;

    /// Fires an action that reads, with what was read.
    fn fire_with_input(&self, state: &[u8], action: ActionId, input: &[u8], out: &mut Successors);
}

impl Reads for Interp {
    fn may_read_input(&self) -> bool {
        Interp::may_read_input(self)
    }

    fn input_wanted(&self, state: &[u8], action: ActionId) -> Option<usize> {
        Interp::input_wanted(self, state, action)
    }

    fn fire_with_input(&self, state: &[u8], action: ActionId, input: &[u8], out: &mut Successors) {
        Interp::fire_with_input(self, state, action, input, out);
    }
}

/// A claim that takes part in a run is searched and replayed; nothing is read then.
impl Reads for ActingClaim {
    fn may_read_input(&self) -> bool {
        false
    }

    fn input_wanted(&self, _: &[u8], _: ActionId) -> Option<usize> {
        None
    }

    fn fire_with_input(&self, state: &[u8], action: ActionId, _: &[u8], out: &mut Successors) {
        self.fire(state, &[action], out);
    }
}

/// A run in progress.
pub struct Simulation<'a, 'i> {
    machine: &'a dyn Reads,
    run: Run<'a>,
    /// The error that the initial state shows.
    broken: Option<Fault>,
    random: Random,
    input: &'i mut Input<'i>,
    input_ended: bool,
    /// What was read by steps that were undone, or too little for a step: read first.
    unread: VecDeque<u8>,
    /// The numbers of the steps that read, with what they read.
    consumed: Vec<(usize, Vec<u8>)>,
}

/// What became of an attempt to take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// It was taken.
    Step,
    /// The input has too few characters for it.
    NoInput,
}

impl<'a, 'i> Simulation<'a, 'i> {
    /// At the beginning; the same seed gives the same random choices.
    pub fn new<M: Reads>(machine: &'a M, seed: u64, input: &'i mut Input<'i>) -> Self {
        match Run::start(machine) {
            Ok(run) => Self::go_on(machine, run, seed, input),
            Err(fault) => Simulation {
                broken: Some(fault),
                ..Self::go_on(machine, Run::without_start(machine), seed, input)
            },
        }
    }

    /// At the end of a run of the same machine.
    pub fn go_on(machine: &'a dyn Reads, run: Run<'a>, seed: u64, input: &'i mut Input<'i>) -> Self {
        Simulation {
            machine,
            run,
            broken: None,
            random: Random::new(seed),
            input,
            input_ended: false,
            unread: VecDeque::new(),
            consumed: Vec::new(),
        }
    }

    /// The run so far.
    pub fn run(&self) -> &Run<'a> {
        &self.run
    }

    /// The run so far, to look at another moment or to forget.
    pub fn run_mut(&mut self) -> &mut Run<'a> {
        &mut self.run
    }

    /// Gives the run back.
    pub fn into_run(self) -> Run<'a> {
        self.run
    }

    /// Whether the model may read input at all.
    pub fn may_read(&self) -> bool {
        self.machine.may_read_input()
    }

    /// Whether steps of the run read input, which a trail does not keep.
    pub fn has_read(&self) -> bool {
        !self.consumed.is_empty()
    }

    /// What can be done next. At the end of the input, actions that read cannot.
    pub fn choices(&mut self) -> Vec<ActionId> {
        let mut enabled = self.run.enabled().to_vec();
        if self.input_ended {
            let state = self.run.tip().state();
            enabled.retain(|&action| self.machine.input_wanted(state, action).is_none());
        }
        enabled
    }

    /// What an action would do; `None` when that depends on the input.
    pub fn preview(&mut self, action: ActionId) -> Option<Told> {
        if self.reads(action) {
            return None;
        }
        self.run.take(action).ok()?;
        let told = story::tell(&self.run, self.run.len());
        self.run.undo();
        told
    }

    /// Whether an action reads input.
    pub fn reads(&mut self, action: ActionId) -> bool {
        self.machine.input_wanted(self.run.tip().state(), action).is_some()
    }

    /// Takes a step; the error says why it is not possible.
    pub fn take(&mut self, action: ActionId) -> Result<Took, String> {
        let Some(wanted) = self.machine.input_wanted(self.run.tip().state(), action) else {
            return Ok(self.run.take(action).map(|()| Took::Step)?);
        };
        let Some(read) = self.read(wanted) else { return Ok(Took::NoInput) };
        let machine = self.machine;
        self.run.take_by(action, |state, batch| machine.fire_with_input(state, action, &read, batch))?;
        self.consumed.push((self.run.len(), read));
        Ok(Took::Step)
    }

    /// Reads `wanted` characters of input; fewer than that are kept.
    fn read(&mut self, wanted: usize) -> Option<Vec<u8>> {
        while self.unread.len() < wanted {
            match (self.input)() {
                Some(byte) => self.unread.push_back(byte),
                None => {
                    self.input_ended = true;
                    return None;
                }
            }
        }
        Some(self.unread.drain(..wanted).collect())
    }

    /// Takes a step at random; false when there is none to take.
    pub fn take_any(&mut self) -> Result<bool, String> {
        loop {
            let choices = self.choices();
            let Some(&action) = choices.get(self.random.below(choices.len())) else { return Ok(false) };
            if self.take(action)? == Took::Step {
                return Ok(true);
            }
        }
    }

    /// Takes back the last step; false when there is none.
    pub fn undo(&mut self) -> bool {
        let number = self.run.len();
        if self.run.undo().is_none() {
            return false;
        }
        if self.consumed.last().is_some_and(|(step, _)| *step == number) {
            let (_, read) = self.consumed.pop().unwrap_or_default();
            for byte in read.into_iter().rev() {
                self.unread.push_front(byte);
            }
            self.input_ended = false;
        }
        true
    }

    /// The error that the last step or the state shows.
    pub fn fault(&mut self) -> Option<Fault> {
        if let Some(fault) = self.broken.as_ref().or(self.run.tip().fault()) {
            return Some(fault.clone());
        }
        let mut faults = Vec::new();
        let invariants = self.machine.capabilities().invariants;
        if let Some(invariants) = invariants.filter(|_| !self.run.tip().is_transient()) {
            invariants.inspect(self.run.tip().state(), &mut faults);
        }
        faults.into_iter().next()
    }

    /// How the run ends when nothing can be done any more; `None` as long as something can.
    pub fn ending(&mut self) -> Option<Ending> {
        if let Some(fault) = &self.broken {
            return Some(Ending::Fault(fault.clone()));
        }
        if self.run.tip().has_ended() {
            return self.fault().map(Ending::Fault);
        }
        if !self.choices().is_empty() {
            return None;
        }
        if !self.run.enabled().is_empty() {
            return Some(Ending::InputEnded);
        }
        let state = self.run.tip().state();
        Some(match self.machine.labels(state).valid_end {
            true => Ending::ValidEnd,
            false => Ending::Fault(self.machine.deadlock(state)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;

    /// Action 1 reads as many characters as its state has digits, and is fired like any other.
    impl Reads for Graph {
        fn may_read_input(&self) -> bool {
            true
        }

        fn input_wanted(&self, state: &[u8], action: ActionId) -> Option<usize> {
            (action.0 == 1).then_some(state.len())
        }

        fn fire_with_input(&self, state: &[u8], action: ActionId, _: &[u8], out: &mut Successors) {
            self.fire(state, &[action], out);
        }
    }

    #[test]
    fn what_was_undone_can_be_read_again() {
        let graph = Graph::parse("0 -> 1 -> 0").unwrap();
        let mut left = b"ab".iter();
        let mut input = || left.next().copied();
        let mut simulation = Simulation::new(&graph, 0, &mut input);
        for action in [0, 1, 0, 1, 0] {
            assert_eq!(simulation.take(ActionId(action)), Ok(Took::Step));
        }
        assert_eq!(simulation.take(ActionId(1)), Ok(Took::NoInput));
        assert_eq!(simulation.ending(), Some(Ending::InputEnded));
        assert!(simulation.undo() && simulation.undo());
        assert_eq!((simulation.choices(), simulation.ending()), (vec![ActionId(1)], None));
        assert!(simulation.preview(ActionId(1)).is_none() && simulation.has_read());
        assert_eq!(simulation.take(ActionId(1)), Ok(Took::Step));
        assert_eq!(simulation.consumed, [(2, b"a".to_vec()), (4, b"b".to_vec())]);
        while simulation.undo() {}
        assert_eq!((simulation.run().len(), simulation.has_read()), (0, false));
        assert_eq!(simulation.unread, *b"ab");
    }

    #[test]
    fn looking_ahead_changes_nothing() {
        let graph = Graph::parse("0 -> 2 -> 3; assert 0 2").unwrap();
        let mut input = || None;
        let mut simulation = Simulation::new(&graph, 0, &mut input);
        let told = simulation.preview(ActionId(0)).unwrap();
        assert!(told.fault.is_some());
        assert!(simulation.run().is_empty() && simulation.fault().is_none());
        assert_eq!(simulation.take_any(), Ok(true));
        assert!(simulation.fault().is_some() && simulation.ending().is_none());
    }

    #[test]
    fn a_broken_start_is_an_ending() {
        let graph = Graph::parse("broken").unwrap();
        let mut input = || None;
        let mut simulation = Simulation::new(&graph, 0, &mut input);
        assert!(matches!(simulation.ending(), Some(Ending::Fault(_))) && !simulation.undo());
        assert_eq!(simulation.take_any(), Ok(false));
    }
}
