//! A run that somebody explores: forwards and backwards, another way from any moment, and back to the
//! counterexample that it began with.
//!
//! A counterexample is never lost: while another way is tried, its actions are kept, and the steps that both
//! share are not executed again when it is returned to.

use crate::moment::{Choice, Moment, Proposition};
use engine::Session;
use engine::formula::Written;
use engine::replay::Replayed;
use engine::simulate::{Begun, Origin};
use engine::simulation::{Ending, Reads, Simulation, Took};
use machine::Interp;
use promela::ir;
use std::io;
use std::ops::RangeInclusive;
use stop::Stop;
use system::{ActionId, Fault, Path, Value};
use trace::msc::{self, Chart, End};
use trace::story::{self, Told};
use trace::{Run, Walker};

/// A run and what can be done with it.
pub struct Exploration<'a, 'i> {
    session: &'a Session,
    simulation: Simulation<'a, 'i>,
    system: &'a dyn Reads,
    /// What executes the model alone; not where a claim takes part in the run, which then can only be looked
    /// at.
    machine: Option<&'a Interp>,
    origin: Origin,
    followed: Option<Followed>,
    propositions: Vec<Written>,
}

/// The counterexample that is explored.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The model.
    pub model: String,
    /// The property that it violates.
    pub property: String,
    /// What is wrong at its end.
    pub violation: Fault,
    /// Steps before those that are repeated forever.
    pub cycle: Option<usize>,
    /// All of its steps.
    actions: Path,
    /// The first steps, which the run still has.
    shared: usize,
}

impl Followed {
    /// The number of its steps.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// The number of its first steps that the run has, too.
    pub fn shared(&self) -> usize {
        self.shared
    }

    /// Whether the violation shows before any step.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }
}

/// Why a command was not obeyed.
pub type Refusal = String;

/// Choices of a path that is written down.
pub const MOST_CHOICES: usize = 2000;

/// Why a step that reads is not taken.
pub const NO_INPUT: &str = "standard input has too little for that";

impl<'a, 'i> Exploration<'a, 'i> {
    /// A run of a model from its beginning.
    pub fn of_model(begun: Begun<'a, 'i>) -> Self {
        let Begun { session, machine, simulation, origin } = begun;
        let (system, machine) = (machine as &dyn Reads, Some(machine));
        Exploration { session, simulation, system, machine, origin, followed: None, propositions: Vec::new() }
    }

    /// A counterexample that was replayed, looked at from its beginning; its run is taken out of `replayed`.
    pub fn of_trail(replayed: &mut Replayed<'a>, input: &'i mut engine::simulation::Input<'i>) -> Self {
        let followed = Followed {
            model: replayed.model.clone(),
            property: replayed.property.clone(),
            violation: replayed.violation.clone(),
            cycle: replayed.cycle,
            actions: replayed.run.actions().collect(),
            shared: replayed.run.len(),
        };
        let empty = replayed.run.fork(0);
        let run = std::mem::replace(&mut replayed.run, empty);
        Exploration {
            session: replayed.session,
            simulation: Simulation::go_on(replayed.system, run, 0, input),
            system: replayed.system,
            machine: replayed.machine,
            origin: replayed.origin.clone(),
            followed: Some(followed),
            propositions: replayed.propositions.clone(),
        }
    }

    /// The run.
    pub fn run(&self) -> &Run<'a> {
        self.simulation.run()
    }

    /// The run, to look at another moment.
    pub fn run_mut(&mut self) -> &mut Run<'a> {
        self.simulation.run_mut()
    }

    /// The model.
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// The end of the run, where steps are taken.
    pub fn simulation(&mut self) -> &mut Simulation<'a, 'i> {
        &mut self.simulation
    }

    /// The counterexample that is explored, if the run began with one.
    pub fn followed(&self) -> Option<&Followed> {
        self.followed.as_ref()
    }

    /// Whether the run is the counterexample.
    pub fn is_on_trail(&self) -> bool {
        self.followed.as_ref().is_some_and(|f| f.shared == f.len() && self.run().len() == f.len())
    }

    /// How the run ends as it stands.
    pub fn end(&mut self) -> Option<Fault> {
        if self.is_on_trail() {
            return self.followed.as_ref().map(|followed| followed.violation.clone());
        }
        self.shown_fault()
    }

    /// The error that the last step, the last state or the end of the run shows by itself.
    pub fn shown_fault(&mut self) -> Option<Fault> {
        match (self.simulation.fault(), self.simulation.ending()) {
            (Some(fault), _) | (None, Some(Ending::Fault(fault))) => Some(fault),
            _ => None,
        }
    }

    /// Some steps, from 1, with what they did.
    pub fn steps(&self, range: RangeInclusive<usize>) -> Vec<Told> {
        let (first, last) = ((*range.start()).max(1), (*range.end()).min(self.run().len()));
        let mut seen = None;
        (first..=last).filter_map(|number| story::tell_next(self.run(), number, &mut seen)).collect()
    }

    /// Everything that there is to know about a moment; `None` when there is no such moment.
    pub fn moment(&self, number: usize) -> Option<Moment> {
        let run = self.run();
        if !(run.first()..=run.len()).contains(&number) {
            return None;
        }
        let state = run.state(number);
        let cycle = self.followed.as_ref().filter(|_| self.is_on_trail()).and_then(|f| f.cycle);
        Some(Moment {
            number,
            inside: run.is_inside(number),
            in_cycle: cycle.is_some_and(|cycle| number >= cycle),
            state: run.snapshot(number),
            step: story::tell(run, number),
            choices: self.choices(number),
            blocked: run.words().blocked(&state),
            propositions: self.propositions(number),
        })
    }

    /// What can be done at a moment.
    pub fn choices(&self, moment: usize) -> Vec<Choice> {
        let state = self.run().state(moment);
        let mut walker = Walker::at(self.system, state.to_vec(), self.run().is_inside(moment));
        let ended = moment == self.run().len() && self.run().step(moment).is_some_and(|step| !step.completed);
        if ended {
            return Vec::new();
        }
        let enabled = walker.enabled().to_vec();
        let taken = self.run().step(moment + 1).map(|step| step.action);
        let choice = |(index, action): (usize, ActionId)| {
            let reads = self.system.input_wanted(&state, action).is_some();
            let mut fork = self.run().fork(moment);
            let would = (!reads && fork.take(action).is_ok()).then(|| story::tell(&fork, 1)).flatten();
            let info = self.system.step(&state, action);
            Choice { number: index + 1, info, would, reads, taken: taken == Some(action) }
        };
        enabled.into_iter().enumerate().map(choice).collect()
    }

    /// The propositions of the property at a moment.
    pub fn propositions(&self, moment: usize) -> Vec<Proposition> {
        let Some(asked) = self.system.capabilities().propositions else { return Vec::new() };
        let holding = Written::holding(&self.propositions, asked.propositions(0, &self.run().state(moment)));
        let of = |(written, holds): (&Written, bool)| Proposition { text: written.text.clone(), holds };
        self.propositions.iter().zip(holding).map(of).collect()
    }

    /// Takes a step by its number among the [`choices`](Exploration::choices) of a moment; what came after
    /// that moment is given up.
    pub fn take(&mut self, moment: usize, choice: usize) -> Result<(), Refusal> {
        self.may_branch()?;
        self.rewind(moment)?;
        let choices = self.simulation.choices();
        let action = choice.checked_sub(1).and_then(|index| choices.get(index));
        let action = *action.ok_or_else(|| format!("there is no choice {choice} here"))?;
        match self.simulation.take(action)? {
            Took::Step => Ok(()),
            Took::NoInput => Err(NO_INPUT.to_string()),
        }
    }

    /// Takes several steps from a moment on, each by its number; stops where there is no such choice any
    /// more, because the model is another one now. Returns how many were taken, and why not all.
    pub fn retrace(&mut self, moment: usize, choices: &[usize]) -> (usize, Result<(), Refusal>) {
        for (taken, &choice) in choices.iter().enumerate() {
            if let Err(why) = self.take(moment + taken, choice) {
                return (taken, Err(why));
            }
        }
        (choices.len(), Ok(()))
    }

    /// The numbers of the choices that lead from a moment to the end of the run: what [`retrace`] takes.
    ///
    /// [`retrace`]: Exploration::retrace
    pub fn path(&self, from: usize) -> Result<Vec<usize>, Refusal> {
        let len = self.run().len();
        if !(self.run().first()..=len).contains(&from) {
            return Err(format!("there is no moment {from}"));
        }
        if len - from > MOST_CHOICES {
            return Err(format!("the way has more than {MOST_CHOICES} steps"));
        }
        let number = |moment: usize| {
            let action = self.run().step(moment + 1)?.action;
            let state = self.run().state(moment).to_vec();
            let mut walker = Walker::at(self.system, state, self.run().is_inside(moment));
            walker.enabled().iter().position(|&other| other == action).map(|at| at + 1)
        };
        let path: Option<Vec<usize>> = (from..len).map(number).collect();
        path.ok_or_else(|| "a step of this run is no choice of the model alone".to_string())
    }

    /// Whether steps can be taken at all.
    pub fn may_branch(&self) -> Result<(), Refusal> {
        match self.machine {
            Some(_) => Ok(()),
            None => {
                Err("the never claim takes part in this run: there is no simulation from here".to_string())
            }
        }
    }

    /// Gives up all steps after a moment.
    pub fn rewind(&mut self, moment: usize) -> Result<(), Refusal> {
        if !(self.run().first()..=self.run().len()).contains(&moment) {
            return Err(format!("there is no moment {moment}"));
        }
        self.undo(self.run().len() - moment);
        Ok(())
    }

    /// Takes back the last `n` steps, or all; returns how many.
    pub fn undo(&mut self, n: usize) -> usize {
        let undone = (0..n).take_while(|_| self.simulation.undo()).count();
        let left = self.run().len();
        if let Some(followed) = &mut self.followed {
            followed.shared = followed.shared.min(left);
        }
        undone
    }

    /// Takes up to `n` steps at random, until nothing can be done, an error shows, or it is to `stop`.
    /// Returns how many; `seen` hears of each.
    pub fn random(
        &mut self,
        n: usize,
        stop: &Stop,
        mut seen: impl FnMut(&Run<'a>),
    ) -> (usize, Result<(), Refusal>) {
        for taken in 0..n {
            match stop::attempt(|| self.simulation.take_any()) {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => return (taken, Ok(())),
                Ok(Err(why)) => return (taken, Err(why)),
                Err(_) => return (taken, Err("interrupted".to_string())),
            }
            seen(self.run());
            if self.simulation.fault().is_some() {
                return (taken + 1, Ok(()));
            }
            if stop.is_asked() {
                return (taken + 1, Err("interrupted".to_string()));
            }
        }
        (n, Ok(()))
    }

    /// Makes the run the counterexample again.
    pub fn return_to_trail(&mut self) -> Result<(), Refusal> {
        let Some(followed) = self.followed.as_ref() else { return Err("there is no trail".to_string()) };
        let shared = followed.shared;
        self.undo(self.run().len() - shared);
        let Some(followed) = self.followed.as_mut() else { return Ok(()) };
        for &action in followed.actions.iter().skip(shared) {
            self.simulation.run_mut().take(action).map_err(|why| why.to_string())?;
        }
        followed.shared = followed.actions.len();
        Ok(())
    }

    /// The value of an expression at a moment, seen by a process or by nobody.
    pub fn evaluate(&self, moment: usize, pid: Option<u32>, text: &str) -> Result<Value, Refusal> {
        self.evaluate_with(moment, pid, text, &mut None)
    }

    /// The values of an expression at many moments; it is read once. The error is about its text.
    pub fn evaluate_at(
        &self,
        moments: &[usize],
        pid: Option<u32>,
        text: &str,
    ) -> Result<Vec<Result<Value, Refusal>>, Refusal> {
        let mut known = None;
        let mut value = |&moment: &usize| self.evaluate_with(moment, pid, text, &mut known);
        let values: Vec<Result<Value, Refusal>> = moments.iter().map(&mut value).collect();
        match (&known, values.first()) {
            (None, Some(Err(why))) if pid.is_none() => Err(why.clone()),
            _ => Ok(values),
        }
    }

    /// The value of an expression; `known` is how it was read for the last moment, and is used again where
    /// the process is of the same proctype.
    pub(crate) fn evaluate_with(
        &self,
        moment: usize,
        pid: Option<u32>,
        text: &str,
        known: &mut Option<(Option<String>, ir::Expr)>,
    ) -> Result<Value, Refusal> {
        let machine = self.machine.ok_or("the never claim takes part in this run: ask without it")?;
        let state = self.run().state(moment);
        let proctype = match pid {
            Some(pid) => Some(
                machine.proctype_of(&state, pid).ok_or_else(|| format!("there is no process {pid} here"))?,
            ),
            None => None,
        };
        if known.as_ref().is_none_or(|(of, _)| of.as_deref() != proctype) {
            *known = Some((proctype.map(str::to_string), self.session.expression(text, proctype)?));
        }
        let Some((_, expr)) = known else { return Err("the expression was not read".to_string()) };
        machine.evaluate(&state, pid, expr)
    }

    /// A chart of some steps.
    pub fn chart(&mut self, steps: RangeInclusive<usize>) -> Chart {
        let fault = self.end();
        let cycle = self.followed.as_ref().filter(|_| self.is_on_trail()).and_then(|f| f.cycle);
        msc::chart(self.run(), steps, End { fault: fault.as_ref(), cycle })
    }

    /// Writes a run that meets an error as a trail, once it has been replayed. The error says why not.
    pub fn write_trail(&mut self, path: &str, fault: Fault) -> io::Result<()> {
        if self.simulation.has_read() {
            return Err(io::Error::other("the run has read standard input, which a trail does not keep"));
        }
        self.origin.write_trail(path, self.simulation.run(), fault)
    }

    /// The text of a trail of the run, which meets an error. The run is replayed first.
    pub fn trail_text(&mut self, fault: Fault) -> io::Result<String> {
        if self.simulation.has_read() {
            return Err(io::Error::other("the run has read standard input, which a trail does not keep"));
        }
        self.origin.trail_text(self.simulation.run(), fault)
    }
}
