//! A run with its history: every state that was visited, and the step that led there.
//!
//! `replay` and `simulate` both make one, and every view (story, chart, export, step by step) looks at one. Moment 0 is the
//! initial state, moment `n` the state after step `n`; a cursor points at the moment that is being looked at. Only bytes and
//! action numbers are kept; words are made when somebody asks, so that long runs stay small. A run that nobody will look back
//! on can [`forget`](Run::forget).

use crate::replay::Walker;
use std::collections::VecDeque;
use system::{ActionId, Event, Explain, Fault, Snapshot, StepInfo, Successors, TransitionSystem};

/// A run and what happened in it.
pub struct Run<'a> {
    system: &'a dyn TransitionSystem,
    words: &'a dyn Explain,
    /// At the last moment.
    walker: Walker<'a>,
    /// The states before each step of `steps`, the first of them at moment `forgotten`.
    steps: VecDeque<(Vec<u8>, Taken)>,
    forgotten: usize,
    cursor: usize,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Which.
    pub action: ActionId,
    /// The state before it is inside an atomic sequence.
    pub inside: bool,
    /// The error that it showed.
    pub fault: Option<Fault>,
    /// There is a state after it. If not, moment `n` shows the state before the step.
    pub completed: bool,
}

impl<'a> Run<'a> {
    /// At the initial state, or the error that initialisation shows.
    pub fn start<M: TransitionSystem + Explain>(machine: &'a M) -> Result<Self, Fault> {
        let walker = Walker::start(machine)?;
        Ok(Run { system: machine, words: machine, walker, steps: VecDeque::new(), forgotten: 0, cursor: 0 })
    }

    /// A run of a system that has no initial state: nothing can be taken, and there is nothing to see.
    pub fn without_start<M: TransitionSystem + Explain>(machine: &'a M) -> Self {
        let walker = Walker::nowhere(machine);
        Run { system: machine, words: machine, walker, steps: VecDeque::new(), forgotten: 0, cursor: 0 }
    }

    /// Takes a step at the end of the run and looks at what it led to; the error says why it is not possible.
    pub fn take(&mut self, action: ActionId) -> Result<(), String> {
        if !self.enabled().contains(&action) {
            return Err(format!("action {} is not enabled", action.0));
        }
        let system = self.system;
        self.take_by(action, |state, batch| system.fire(state, &[action], batch))
    }

    /// Takes a step that `fire` executes (see [`Walker::step_by`]).
    pub fn take_by(
        &mut self,
        action: ActionId,
        fire: impl FnOnce(&[u8], &mut Successors),
    ) -> Result<(), String> {
        if self.walker.has_ended() {
            return Err("the run ended with the step before".to_string());
        }
        let (before, inside) = (self.walker.state().to_vec(), self.walker.is_transient());
        self.walker.step_by(action, fire)?;
        let (fault, completed) = (self.walker.fault().cloned(), !self.walker.has_ended());
        self.steps.push_back((before, Taken { action, inside, fault, completed }));
        self.cursor = self.len();
        Ok(())
    }

    /// Takes back the last step, as if it had not been taken; none is left when nothing more is remembered.
    pub fn undo(&mut self) -> Option<Taken> {
        let (state, taken) = self.steps.pop_back()?;
        let fault = self.steps.back().and_then(|(_, before)| before.fault.clone());
        self.walker.rewind(state, taken.inside, fault);
        self.cursor = self.len();
        Some(taken)
    }

    /// What is enabled at the end of the run.
    pub fn enabled(&mut self) -> &[ActionId] {
        self.walker.enabled()
    }

    /// The walker at the end of the run.
    pub fn tip(&mut self) -> &mut Walker<'a> {
        &mut self.walker
    }

    /// How many steps were taken.
    pub fn len(&self) -> usize {
        self.forgotten + self.steps.len()
    }

    /// No step was taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps only the last `keep` steps. Moments before them can no longer be asked for; numbers stay.
    pub fn forget(&mut self, keep: usize) {
        while self.steps.len() > keep {
            self.steps.pop_front();
            self.forgotten += 1;
        }
        self.cursor = self.cursor.max(self.forgotten);
    }

    /// The first moment that is remembered.
    pub fn first(&self) -> usize {
        self.forgotten
    }

    /// The moment that is being looked at.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Looks at another moment; false when there is no such moment.
    pub fn goto(&mut self, moment: usize) -> bool {
        let exists = (self.forgotten..=self.len()).contains(&moment);
        if exists {
            self.cursor = moment;
        }
        exists
    }

    /// Looks one step ahead; false at the end.
    pub fn forward(&mut self) -> bool {
        self.goto(self.cursor + 1)
    }

    /// Looks one step back; false at the beginning.
    pub fn back(&mut self) -> bool {
        self.cursor > 0 && self.goto(self.cursor - 1)
    }

    /// The state at a moment; that at the end of the run for moments that do not exist.
    pub fn state(&self, moment: usize) -> &[u8] {
        let kept = moment.checked_sub(self.forgotten).and_then(|i| self.steps.get(i));
        kept.map_or_else(|| self.walker.state(), |(state, _)| state)
    }

    /// Step `number`, from 1.
    pub fn step(&self, number: usize) -> Option<&Taken> {
        self.before(number).map(|(_, taken)| taken)
    }

    fn before(&self, number: usize) -> Option<&(Vec<u8>, Taken)> {
        number.checked_sub(1 + self.forgotten).and_then(|i| self.steps.get(i))
    }

    /// Whether the state at a moment is inside an atomic sequence.
    pub fn is_inside(&self, moment: usize) -> bool {
        self.step(moment + 1).map_or_else(|| self.walker.is_transient(), |taken| taken.inside)
    }

    /// Step `number` in words.
    pub fn info(&self, number: usize) -> Option<StepInfo> {
        self.before(number).map(|(state, taken)| self.words.step(state, taken.action))
    }

    /// What happened in step `number`.
    pub fn events(&self, number: usize) -> Vec<Event> {
        self.before(number).map(|(state, taken)| self.words.events(state, taken.action)).unwrap_or_default()
    }

    /// Everything that there is at a moment.
    pub fn snapshot(&self, moment: usize) -> Snapshot {
        self.words.snapshot(self.state(moment))
    }

    /// The machine's words.
    pub fn words(&self) -> &'a dyn Explain {
        self.words
    }

    /// The machine.
    pub fn system(&self) -> &'a dyn TransitionSystem {
        self.system
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;

    fn graph() -> Graph {
        Graph::parse("0 -> 1 -> 2 -> 3; transient 1; assert 1 2; fault 2 3; 2 -> 0").unwrap()
    }

    #[test]
    fn a_run_remembers_where_it_was() {
        let graph = graph();
        let mut run = Run::start(&graph).unwrap();
        for action in [0, 1, 3, 0] {
            run.take(ActionId(action)).unwrap();
        }
        assert_eq!((run.len(), run.cursor()), (4, 4));
        let states: Vec<&[u8]> = (0..=4).map(|moment| run.state(moment)).collect();
        assert_eq!(states, [&b"0"[..], b"1", b"2", b"0", b"1"]);
        let inside: Vec<bool> = (0..=4).map(|moment| run.is_inside(moment)).collect();
        assert_eq!(inside, [false, true, false, false, true]);
        assert_eq!(run.info(2).unwrap().text, "1 -> 2");
        assert!(run.step(2).unwrap().fault.is_some() && run.step(3).unwrap().fault.is_none());
        assert!(run.info(0).is_none() && run.info(5).is_none());
    }

    #[test]
    fn looking_back_and_forth() {
        let graph = graph();
        let mut run = Run::start(&graph).unwrap();
        assert!(!run.back() && !run.forward());
        run.take(ActionId(0)).unwrap();
        run.take(ActionId(1)).unwrap();
        assert!(run.back() && run.back() && !run.back());
        assert!(run.forward() && run.cursor() == 1 && run.goto(2) && !run.forward() && !run.goto(3));
        run.forget(1);
        assert_eq!((run.first(), run.len(), run.cursor()), (1, 2, 2));
        assert!(!run.goto(0) && run.info(1).is_none() && run.info(2).is_some());
        assert_eq!(run.state(1), b"1");
    }

    #[test]
    fn a_step_that_was_undone_was_never_taken() {
        let graph = graph();
        let mut run = Run::start(&graph).unwrap();
        for action in 0..3 {
            run.take(ActionId(action)).unwrap();
        }
        assert!(run.tip().has_ended());
        assert!(!run.undo().unwrap().completed);
        assert_eq!((run.len(), run.cursor(), run.state(2)), (2, 2, &b"2"[..]));
        assert!(!run.tip().has_ended() && run.tip().fault().is_some() && !run.tip().is_transient());
        run.undo();
        assert!(run.tip().fault().is_none() && run.tip().is_transient());
        run.undo();
        assert!(run.undo().is_none() && run.is_empty());
        assert!(run.take(ActionId(0)).is_ok());
    }

    #[test]
    fn a_step_that_cannot_be_completed_ends_the_run() {
        let graph = graph();
        let mut run = Run::start(&graph).unwrap();
        assert!(run.take(ActionId(2)).unwrap_err().contains("not enabled"));
        for action in 0..3 {
            run.take(ActionId(action)).unwrap();
        }
        assert!(!run.step(3).unwrap().completed);
        assert_eq!((run.state(2), run.state(3)), (&b"2"[..], &b"2"[..]));
        assert!(run.take(ActionId(0)).is_err());
        let broken = Graph::parse("broken").unwrap();
        assert!(Run::start(&broken).is_err());
        assert!(Run::without_start(&broken).take(ActionId(0)).is_err());
    }
}
