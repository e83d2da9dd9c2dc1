//! A run with its history: every state that was visited, and the step that led there.
//!
//! `replay` and `simulate` both make one, and every view (story, chart, export, step by step) looks at one.
//! Moment 0 is the initial state, moment `n` the state after step `n`; a cursor points at the moment that is
//! being looked at. Only bytes and action numbers are kept; words are made when somebody asks. The states of
//! the last steps are kept as they are; of older ones, only some, from which the others are made by executing
//! the steps between once more, so that ten million steps stay small. A run that nobody will look back on can
//! [`forget`](Run::forget).

use crate::replay::{NotPossible, Walker};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use system::sequence::SequencePosition;
use system::{ActionId, Event, Explain, Fault, Move, Path, Snapshot, StepInfo, Successors, TransitionSystem};

/// A run and what happened in it.
pub struct Run<'a> {
    system: &'a dyn TransitionSystem,
    words: &'a dyn Explain,
    /// At the last moment.
    walker: Walker<'a>,
    /// The steps before those of `steps`.
    past: Past,
    /// The states before each of the last steps.
    steps: VecDeque<(Vec<u8>, Taken)>,
    /// Steps need more than their numbers: none can be executed once more.
    by_hand: bool,
    /// Steps whose states are kept.
    kept: usize,
    forgotten: usize,
    cursor: usize,
}

/// Steps whose states are kept at least, and bytes that they may take if there are more.
const KEPT: (usize, usize) = (1000, 8 << 20);
/// Steps between two states of the past that are kept, at the beginning.
const STRETCH: usize = 1024;
/// Bytes of such states, about; when there are more, every other one goes.
const MOST_BYTES: usize = 16 << 20;

/// Old steps: the actions, and some states.
#[derive(Default)]
struct Past {
    actions: Path,
    marks: Vec<Mark>,
    bytes: usize,
    /// Steps between two marks.
    stretch: usize,
    /// The steps behind a mark, as far as they were made once more.
    window: RefCell<Window>,
}

/// A state that is kept: the one before a step.
struct Mark {
    state: Vec<u8>,
    inside: bool,
    place: SequencePosition,
}

#[derive(Default)]
struct Window {
    /// Which mark they follow.
    mark: Option<usize>,
    steps: Vec<(Vec<u8>, Taken)>,
}

impl Past {
    /// Adds a step and the state before it.
    fn push(&mut self, state: Vec<u8>, taken: &Taken) {
        self.window.get_mut().mark = None;
        self.stretch = self.stretch.max(STRETCH);
        if self.actions.len().is_multiple_of(self.stretch) {
            self.bytes += state.len() + size_of::<Mark>();
            self.marks.push(Mark { state, inside: taken.inside, place: self.actions.place() });
        }
        self.actions.push(taken.action);
        if self.bytes > MOST_BYTES && self.marks.len() > 1 {
            self.stretch *= 2;
            let stretch = self.stretch;
            self.marks.retain(|mark| mark.place.index().is_multiple_of(stretch));
            self.bytes = self.marks.iter().map(|mark| mark.state.len() + size_of::<Mark>()).sum();
        }
    }

    /// Lets `look` see step `index` of the past, from 0, and the state before it.
    fn look<T>(
        &self,
        system: &dyn TransitionSystem,
        index: usize,
        look: impl FnOnce(&[u8], &Taken) -> T,
    ) -> Option<T> {
        let at = self.marks.partition_point(|mark| mark.place.index() <= index).checked_sub(1)?;
        let mark = self.marks.get(at)?;
        let mut window = self.window.borrow_mut();
        if window.mark != Some(at) {
            *window = Window { mark: Some(at), steps: self.again(system, mark) };
        }
        let (state, taken) = window.steps.get(index - mark.place.index())?;
        Some(look(state, taken))
    }

    /// Executes the steps behind a mark, up to the next one.
    fn again(&self, system: &dyn TransitionSystem, mark: &Mark) -> Vec<(Vec<u8>, Taken)> {
        let mut walker = Walker::at(system, mark.state.clone(), mark.inside);
        let mut steps = Vec::new();
        for &action in self.actions.iter_from(mark.place).take(self.stretch) {
            let (before, inside) = (walker.state().to_vec(), walker.is_transient());
            if walker.step_by(action, |state, batch| system.fire(state, &[action], batch)).is_err() {
                break;
            }
            let (fault, completed) = (walker.fault().cloned(), !walker.has_ended());
            steps.push((before, Taken { action, inside, fault, completed }));
        }
        steps
    }

    /// Takes the steps behind the last mark away, to be kept with their states.
    fn recall(&mut self, system: &dyn TransitionSystem) -> Vec<(Vec<u8>, Taken)> {
        self.window.get_mut().mark = None;
        let Some(mark) = self.marks.pop() else { return Vec::new() };
        let steps = self.again(system, &mark);
        while self.actions.len() > mark.place.index() {
            self.actions.pop();
        }
        self.bytes = self.bytes.saturating_sub(mark.state.len() + size_of::<Mark>());
        steps
    }
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
        Ok(Run::at(machine, Walker::start(machine)?))
    }

    /// A run of a system that has no initial state: nothing can be taken, and there is nothing to see.
    pub fn without_start<M: TransitionSystem + Explain>(machine: &'a M) -> Self {
        Run::at(machine, Walker::nowhere(machine))
    }

    /// A run that begins with the state at a moment of this one, and has no past.
    pub fn fork(&self, moment: usize) -> Run<'a> {
        let walker = Walker::at(self.system, self.state(moment).into_owned(), self.is_inside(moment));
        Run::with(self.system, self.words, walker)
    }

    fn at<M: TransitionSystem + Explain>(machine: &'a M, walker: Walker<'a>) -> Self {
        Run::with(machine, machine, walker)
    }

    fn with(system: &'a dyn TransitionSystem, words: &'a dyn Explain, walker: Walker<'a>) -> Self {
        let kept = KEPT.0.max(KEPT.1 / (walker.state().len() + size_of::<(Vec<u8>, Taken)>()));
        Run {
            system,
            words,
            walker,
            past: Past::default(),
            steps: VecDeque::new(),
            by_hand: false,
            kept,
            forgotten: 0,
            cursor: 0,
        }
    }

    /// Takes a step at the end of the run and looks at what it led to; the error says why it is not possible.
    pub fn take(&mut self, action: ActionId) -> Result<(), NotPossible> {
        self.walker.check(action)?;
        let system = self.system;
        self.advance(action, |state, batch| system.fire(state, &[action], batch))
    }

    /// Takes a step that `fire` executes (see [`Walker::step_by`]).
    pub fn take_by(
        &mut self,
        action: ActionId,
        fire: impl FnOnce(&[u8], &mut Successors),
    ) -> Result<(), NotPossible> {
        self.by_hand = true;
        self.advance(action, fire)
    }

    fn advance(
        &mut self,
        action: ActionId,
        fire: impl FnOnce(&[u8], &mut Successors),
    ) -> Result<(), NotPossible> {
        if self.walker.has_ended() {
            return Err(NotPossible::Ended);
        }
        let (before, inside) = (self.walker.state().to_vec(), self.walker.is_transient());
        self.walker.step_by(action, fire)?;
        let (fault, completed) = (self.walker.fault().cloned(), !self.walker.has_ended());
        self.steps.push_back((before, Taken { action, inside, fault, completed }));
        if self.steps.len() > self.kept && !self.by_hand {
            self.steps.pop_front().into_iter().for_each(|(state, taken)| self.past.push(state, &taken));
        }
        self.cursor = self.len();
        Ok(())
    }

    /// Takes back the last step, as if it had not been taken; none is left when nothing more is remembered.
    pub fn undo(&mut self) -> Option<Taken> {
        // The step before the one that is taken back is looked at, too.
        if self.steps.len() < 2 {
            let recalled = self.past.recall(self.system);
            recalled.into_iter().rev().for_each(|step| self.steps.push_front(step));
        }
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
        self.forgotten + self.past.actions.len() + self.steps.len()
    }

    /// No step was taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps only the last `keep` steps, or those whose states are kept if these are fewer. Moments before
    /// them can no longer be asked for; numbers stay.
    pub fn forget(&mut self, keep: usize) {
        if self.past.actions.len() + self.steps.len() <= keep {
            return;
        }
        self.forgotten += std::mem::take(&mut self.past).actions.len();
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
    pub fn state(&self, moment: usize) -> Cow<'_, [u8]> {
        let (old, kept) = self.at_moment(moment);
        let old = old.and_then(|index| self.past.look(self.system, index, |state, _| state.to_vec()));
        match (old, kept) {
            (Some(state), _) => Cow::Owned(state),
            (None, Some((state, _))) => Cow::Borrowed(state),
            (None, None) => Cow::Borrowed(self.walker.state()),
        }
    }

    /// Where the step from a moment is: its place in the past, or what is kept of it.
    fn at_moment(&self, moment: usize) -> (Option<usize>, Option<&(Vec<u8>, Taken)>) {
        let Some(index) = moment.checked_sub(self.forgotten) else { return (None, None) };
        match index.checked_sub(self.past.actions.len()) {
            None => (Some(index), None),
            Some(index) => (None, self.steps.get(index)),
        }
    }

    /// Step `number`, from 1.
    pub fn step(&self, number: usize) -> Option<Taken> {
        self.look(number, |_, taken| taken.clone())
    }

    fn look<T>(&self, number: usize, look: impl FnOnce(&[u8], &Taken) -> T) -> Option<T> {
        match self.at_moment(number.checked_sub(1)?) {
            (Some(index), _) => self.past.look(self.system, index, look),
            (None, kept) => kept.map(|(state, taken)| look(state, taken)),
        }
    }

    /// All actions that are remembered.
    pub fn actions(&self) -> impl Iterator<Item = ActionId> + '_ {
        self.past.actions.iter().copied().chain(self.steps.iter().map(|(_, taken)| taken.action))
    }

    /// Whether the state at a moment is inside an atomic sequence.
    pub fn is_inside(&self, moment: usize) -> bool {
        self.step(moment + 1).map_or_else(|| self.walker.is_transient(), |taken| taken.inside)
    }

    /// Step `number` in words.
    pub fn info(&self, number: usize) -> Option<StepInfo> {
        self.look(number, |state, taken| self.words.step(state, taken.action))
    }

    /// What happened in step `number`.
    pub fn events(&self, number: usize) -> Vec<Event> {
        self.look(number, |state, taken| self.words.events(state, taken.action)).unwrap_or_default()
    }

    /// The edges of automata that step `number` took.
    pub fn moves(&self, number: usize) -> Vec<Move> {
        self.look(number, |state, taken| self.words.edges_taken(state, taken.action)).unwrap_or_default()
    }

    /// Everything that there is at a moment.
    pub fn snapshot(&self, moment: usize) -> Snapshot {
        self.words.snapshot(&self.state(moment))
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
        let states: Vec<u8> = (0..=4).flat_map(|moment| run.state(moment).into_owned()).collect();
        assert_eq!(states, b"01201");
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
        assert_eq!(run.state(1).as_ref(), b"1");
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
        assert_eq!((run.len(), run.cursor(), run.state(2).as_ref()), (2, 2, &b"2"[..]));
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
        assert!(run.take(ActionId(2)) == Err(NotPossible::NotEnabled));
        for action in 0..3 {
            run.take(ActionId(action)).unwrap();
        }
        assert!(!run.step(3).unwrap().completed);
        assert_eq!((run.state(2).as_ref(), run.state(3).as_ref()), (&b"2"[..], &b"2"[..]));
        assert!(run.take(ActionId(0)).is_err());
        let broken = Graph::parse("broken").unwrap();
        assert!(Run::start(&broken).is_err());
        assert!(Run::without_start(&broken).take(ActionId(0)).is_err());
    }

    /// A long run is remembered as a whole, and can be undone as a whole.
    #[test]
    fn the_past_is_made_once_more() {
        let graph = Graph::parse("0 -> 1 -> 2 -> 0; assert 1 2; transient 1").unwrap();
        let mut run = Run::start(&graph).unwrap();
        run.kept = 100;
        let n = 10 * STRETCH + 50;
        for i in 0..n {
            run.take(ActionId(i as u64 % 3)).unwrap();
        }
        assert!(run.past.marks.len() > 9 && run.steps.len() == 100);
        for moment in [0, 1, 2, 5000, STRETCH, STRETCH - 1, n - 100, n - 101, n - 1, n, 3, 7] {
            assert_eq!(run.state(moment)[0], b"012"[moment % 3], "{moment}");
            assert_eq!(run.is_inside(moment), moment % 3 == 1, "{moment}");
            assert_eq!(
                run.step(moment).is_some_and(|taken| taken.fault.is_some()),
                moment % 3 == 2 && moment > 0
            );
        }
        assert_eq!((run.info(5000).unwrap().text, run.actions().count()), ("1 -> 2".to_string(), n));
        for left in (0..n).rev() {
            assert_eq!(run.undo().unwrap().action, ActionId(left as u64 % 3));
            assert_eq!(run.tip().fault().is_some(), left % 3 == 2, "{left}");
        }
        assert!(run.undo().is_none() && run.is_empty());
    }

    #[test]
    fn what_is_kept_of_the_past_stays_small() {
        let mut past = Past::default();
        let taken = Taken { action: ActionId(0), inside: false, fault: None, completed: true };
        for i in 0..200 * STRETCH {
            let bytes = if i % STRETCH == 0 { MOST_BYTES / 50 } else { 0 };
            past.push(vec![0; bytes], &taken);
        }
        assert!(past.bytes <= MOST_BYTES && past.marks.len() >= 20, "{}", past.marks.len());
        assert!(
            past.stretch > STRETCH && past.marks.iter().all(|mark| mark.place.index() % past.stretch == 0)
        );
    }
}
