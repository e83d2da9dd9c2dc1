//! Says what a run shows of a formula, when it is replayed: the values of its atoms in the states that it
//! passes, and for a run that goes around under weak fairness, that no process is ready all the time and never
//! moves.

use super::graph::atom_value;
use super::question::{Question, Questions};
use mu::run::Run;
use mu::{Atom, Truth};
use std::collections::BTreeSet;
use system::{ActionId, Fault, Processes, TransitionSystem};
use trace::{FormulaHearing, FormulaJudge, Walker};

/// Judges runs of a model.
pub struct RunJudge<'a> {
    /// The machine that replays, and tells the propositions.
    pub machine: &'a dyn TransitionSystem,
    /// The property that fails.
    pub question: &'a Question,
    /// All propositions.
    pub questions: &'a Questions,
    /// The machine without values that nobody looks at.
    pub essence: Option<&'a dyn TransitionSystem>,
    /// Only fair runs count.
    pub fair: bool,
    /// The run must show all by itself.
    pub alone: bool,
    /// It is to show that the formula holds, not that it fails.
    pub holds: bool,
}

/// An ordinary state of a run.
struct Moment {
    propositions: Vec<u64>,
    stuck: bool,
    valid_end: bool,
    /// The steps before it.
    steps: usize,
    /// The processes that can move.
    ready: BTreeSet<u32>,
}

/// A run that is being heard.
struct Heard<'a> {
    judge: &'a RunJudge<'a>,
    processes: Option<&'a dyn Processes>,
    moments: Vec<Moment>,
    steps: usize,
    /// The processes that move with each step, under fairness.
    moved: Vec<BTreeSet<u32>>,
}

impl FormulaJudge for RunJudge<'_> {
    fn hearing(&self) -> Box<dyn FormulaHearing + '_> {
        let processes = self.machine.capabilities().processes;
        Box::new(Heard { judge: self, processes, moments: Vec::new(), steps: 0, moved: Vec::new() })
    }

    fn essence(&self) -> Option<&dyn TransitionSystem> {
        self.essence
    }
}

impl FormulaHearing for Heard<'_> {
    fn state(&mut self, walker: &mut Walker<'_>) {
        let machine = self.judge.machine;
        let sets = self.judge.questions.propositions.list.len().div_ceil(super::question::TOGETHER);
        let propositions = machine.capabilities().propositions;
        let values = |set| propositions.map_or(0, |system| system.propositions(set, walker.state()));
        let propositions = (0..sets).map(values).collect();
        let valid_end = machine.labels(walker.state()).valid_end;
        let actions = walker.enabled();
        let owner = |action: &ActionId| self.processes.map(|processes| processes.agent_of(*action));
        let ready =
            if self.judge.fair { actions.iter().filter_map(owner).collect() } else { BTreeSet::new() };
        let (stuck, steps) = (actions.is_empty(), self.steps);
        self.moments.push(Moment { propositions, stuck, valid_end, steps, ready });
    }

    fn step(&mut self, action: ActionId) {
        self.steps += 1;
        if let (true, Some(processes)) = (self.judge.fair, self.processes) {
            let partner = processes.partner_agent_of(action);
            self.moved.push([processes.agent_of(action)].into_iter().chain(partner).collect());
        }
    }

    fn finding(&mut self, cycle: Option<usize>) -> Result<Fault, String> {
        let text = &self.judge.question.text;
        let back_to = match cycle {
            Some(start) => Some(
                self.moments
                    .iter()
                    .position(|moment| moment.steps == start)
                    .ok_or("the cycle begins inside an atomic sequence")?,
            ),
            None => None,
        };
        // The last state is the one to which the run returns.
        let len = if back_to.is_some() { self.moments.len() - 1 } else { self.moments.len() };
        if let (Some(start), true) = (back_to, self.judge.fair) {
            self.is_fair(start)?;
        }
        let atom = |at: usize, atom: Atom| {
            let moment = &self.moments[at];
            atom_value(atom, &moment.propositions, moment.stuck, moment.valid_end)
        };
        let value = |at: usize, wanted: Atom| atom(at, wanted).unwrap_or(false);
        let run = Run { len, back_to, atom: &value };
        let holds = self.judge.holds;
        match run.shows(&self.judge.question.formula.with_ctl_shapes(), holds, 0) {
            Truth::True => Ok(self.judge.question.told(holds)),
            Truth::Unknown if !self.judge.alone => Ok(self.judge.question.told(holds)),
            Truth::Unknown | Truth::False => {
                let verb = if holds { "holds" } else { "fails" };
                Err(format!("the run does not show that `{text}` {verb}"))
            }
        }
    }
}

impl Heard<'_> {
    /// Whether around the cycle every process cannot move somewhere, or moves.
    fn is_fair(&self, start: usize) -> Result<(), String> {
        let around = &self.moments[start..];
        let moved = &self.moved[around[0].steps..];
        let mut waiting = around[0].ready.clone();
        around.iter().for_each(|moment| waiting.retain(|pid| moment.ready.contains(pid)));
        moved.iter().for_each(|pids| waiting.retain(|pid| !pids.contains(pid)));
        match waiting.first() {
            None => Ok(()),
            Some(pid) => {
                Err(format!("the run is not fair: process {pid} can move all the time and never does"))
            }
        }
    }
}
