//! Re-executes a path step by step, once, and says what it shows: everything that is reported of it is found
//! here.
//!
//! Every action must be enabled where the path takes it, the last one must show the fault or lead to the
//! state that shows it, or a [`Judge`] must find the run as a whole wrong. What comes out is a [`Confirmed`]
//! run with the fault that was found, not the one that was claimed. [`Evidence`] is made of it, and of
//! nothing else.

use crate::formula_judge::{FormulaHearing, FormulaJudge};
use crate::judge::{Hearing, Judge, Judgement, closes};
use crate::run::Run;
use crate::trail::{TOLD_STEPS, Trail, TrailStep};
use std::collections::HashMap;
use std::fmt;
use system::{
    ActionId, CHANNELS_NOT_EMPTY, Explain, Fault, FaultKind, Path, Sequence, StepInfo, Successors,
    TransitionSystem,
};

/// A trail that was replayed and showed its violation.
#[derive(Debug)]
pub struct Evidence(Trail);

impl Evidence {
    /// The trail.
    pub fn trail(&self) -> &Trail {
        &self.0
    }

    /// The violation.
    pub fn fault(&self) -> &Fault {
        &self.0.violation
    }

    /// The number of steps.
    pub fn depth(&self) -> usize {
        self.0.steps.len()
    }
}

/// Why a step cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPossible {
    /// The run ended with the step before.
    Ended,
    /// It is not enabled.
    NotEnabled,
    /// It has no outcome.
    NoOutcome,
}

impl fmt::Display for NotPossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotPossible::Ended => "the run ended with the step before",
            NotPossible::NotEnabled => "it is not enabled",
            NotPossible::NoOutcome => "it has no outcome",
        })
    }
}

impl From<NotPossible> for String {
    fn from(why: NotPossible) -> String {
        why.to_string()
    }
}

/// A single run through a system, one chosen action at a time.
pub struct Walker<'a> {
    system: &'a dyn TransitionSystem,
    state: Vec<u8>,
    transient: bool,
    fault: Option<Fault>,
    /// Further errors that the last step showed.
    more: Vec<Fault>,
    ended: bool,
    /// What is enabled, if it was asked for.
    enabled: Vec<ActionId>,
    known: bool,
    batch: Successors,
}

impl<'a> Walker<'a> {
    /// At the initial state, or the error that initialisation shows.
    pub fn start(system: &'a dyn TransitionSystem) -> Result<Self, Fault> {
        let mut state = Vec::new();
        system.initial(&mut state)?;
        Ok(Walker::at(system, state, false))
    }

    /// At a state that an earlier run visited.
    pub fn at(system: &'a dyn TransitionSystem, state: Vec<u8>, transient: bool) -> Self {
        let (enabled, batch) = (Vec::new(), Successors::default());
        Walker {
            system,
            state,
            transient,
            fault: None,
            more: Vec::new(),
            ended: false,
            enabled,
            known: false,
            batch,
        }
    }

    /// At no state at all, for a system without an initial one.
    pub fn nowhere(system: &'a dyn TransitionSystem) -> Self {
        Walker { ended: true, ..Walker::at(system, Vec::new(), false) }
    }

    /// The current state.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// Goes back to a state in which the walker was before; `fault` is the error that the step before showed.
    pub fn rewind(&mut self, state: Vec<u8>, transient: bool, fault: Option<Fault>) {
        (self.state, self.transient, self.fault, self.ended) = (state, transient, fault, false);
        self.known = false;
        self.more.clear();
    }

    /// The current state is inside an atomic sequence.
    pub fn is_transient(&self) -> bool {
        self.transient
    }

    /// The error that the last step showed.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// The last step could not be completed: there is no state after it.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// What is enabled now.
    pub fn enabled(&mut self) -> &[ActionId] {
        if !self.known {
            self.enabled.clear();
            if !self.ended {
                self.system.enabled(&self.state, &mut self.enabled);
            }
            self.known = true;
        }
        &self.enabled
    }

    /// Whether a step can be taken.
    pub fn check(&mut self, action: ActionId) -> Result<(), NotPossible> {
        match () {
            () if self.ended => Err(NotPossible::Ended),
            () if !self.enabled().contains(&action) => Err(NotPossible::NotEnabled),
            () => Ok(()),
        }
    }

    /// Takes one step; the error says why it is not possible.
    pub fn step(&mut self, action: ActionId) -> Result<(), NotPossible> {
        self.check(action)?;
        let system = self.system;
        self.step_by(action, |state, batch| system.fire(state, &[action], batch))
    }

    /// Takes a step that `fire` executes, from the state given, into the batch given: for actions that need
    /// more than their number, such as input from outside.
    pub fn step_by(
        &mut self,
        _action: ActionId,
        fire: impl FnOnce(&[u8], &mut Successors),
    ) -> Result<(), NotPossible> {
        self.batch.clear();
        fire(&self.state, &mut self.batch);
        let outcome = self.batch.list.first().ok_or(NotPossible::NoOutcome)?;
        match self.batch.state(outcome) {
            Some(state) => {
                self.state.clear();
                self.state.extend_from_slice(state);
                self.transient = outcome.is_transient();
            }
            None => self.ended = true,
        }
        self.known = false;
        self.fault = self.batch.fault(outcome).cloned();
        self.more.clear();
        self.more.extend(self.batch.faults_of(outcome).skip(1).cloned());
        Ok(())
    }

    /// What the run, as it stands, shows: on the last step, or in the state that it led to.
    pub fn shown(&mut self, channels_empty: bool) -> Vec<Fault> {
        let mut seen: Vec<Fault> = self.fault.iter().chain(&self.more).cloned().collect();
        if !self.ended && (!self.transient || self.enabled().is_empty()) {
            if let Some(invariants) = self.system.capabilities().invariants {
                invariants.inspect(&self.state, &mut seen);
            }
            seen.extend(self.end_fault(channels_empty));
        }
        seen
    }

    /// What is wrong with stopping here, if nothing is enabled.
    fn end_fault(&mut self, channels_empty: bool) -> Option<Fault> {
        if !self.enabled().is_empty() {
            return None;
        }
        let labels = self.system.labels(&self.state);
        match labels.valid_end {
            false => Some(self.system.deadlock(&self.state)),
            true if channels_empty && !labels.channels_empty => {
                let message = CHANNELS_NOT_EMPTY.to_string();
                let deadlock = self.system.deadlock(&self.state);
                Some(Fault { kind: FaultKind::EndState, message, ..deadlock })
            }
            true => None,
        }
    }
}

/// What is said of a run, and how it is looked at.
#[derive(Clone, Copy)]
pub struct Claims<'a> {
    /// What is wrong; `None`: whatever the run shows.
    pub violation: Option<&'a Fault>,
    /// The model may be another one than that of the claim: neither places nor processes are compared.
    pub moved: bool,
    /// Channels must be empty at a valid end.
    pub channels_empty: bool,
    /// Steps before those that are repeated forever.
    pub cycle: Option<usize>,
    /// Who finds the run as a whole wrong.
    pub judge: Option<Judge<'a>>,
    /// Who says what the run shows of a formula about states.
    pub formula: Option<&'a dyn FormulaJudge>,
    /// The last steps that are remembered; all of them, if nothing is said.
    pub keep: Option<usize>,
}

impl<'a> Claims<'a> {
    /// That a run shows this at its end.
    pub fn of(violation: &'a Fault) -> Self {
        Claims { violation: Some(violation), ..Claims::nothing() }
    }

    /// Nothing: what the run shows at its end is to be found out.
    pub fn nothing() -> Self {
        let (violation, moved, channels_empty) = (None, false, false);
        Claims { violation, moved, channels_empty, cycle: None, judge: None, formula: None, keep: None }
    }
}

/// A run that shows what is said of it.
pub struct Confirmed<'m> {
    /// The run.
    pub run: Run<'m>,
    /// What is wrong, as it was found.
    pub finding: Fault,
    /// What the judge says.
    pub judgement: Option<Judgement>,
}

/// Why a run does not show what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refuted {
    /// A step is not possible.
    Step {
        /// Its number, from 1.
        number: usize,
        /// Why.
        why: NotPossible,
        /// What can be done instead, in words.
        possible: Vec<StepInfo>,
    },
    /// It shows something else, or nothing.
    Otherwise(String),
}

impl fmt::Display for Refuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refuted::Step { number, why, .. } => write!(f, "step {number} is not possible: {why}"),
            Refuted::Otherwise(why) => f.write_str(why),
        }
    }
}

/// Executes a path, once; `look` sees every state before the step from it.
pub fn replay<'m, M: TransitionSystem + Explain>(
    machine: &'m M,
    path: impl Iterator<Item = ActionId> + Clone,
    claims: Claims<'_>,
    look: &mut dyn FnMut(&[u8], ActionId),
) -> Result<Confirmed<'m>, Refuted> {
    let mut run = match Run::start(machine) {
        Ok(run) => run,
        Err(fault) if path.clone().next().is_none() => {
            let finding = agree(claims, vec![fault]).map_err(Refuted::Otherwise)?;
            return Ok(Confirmed { run: Run::without_start(machine), finding, judgement: None });
        }
        Err(fault) => {
            let why = format!("the initial state cannot be built: {}", fault.message);
            return Err(Refuted::Otherwise(why));
        }
    };
    // What shows on the last step needs no judge.
    let heard = claims.judge.filter(|judge| judge.claim.is_some() || claims.cycle.is_some());
    let mut hearing = heard.map(|judge| Hearing::new(judge, machine, run.tip(), claims.cycle));
    let mut formula = claims.formula.map(|judge| judge.hearing());
    formula.iter_mut().for_each(|hearing| hearing.state(run.tip()));
    let mut entry = None;
    for (i, action) in path.clone().enumerate() {
        let state = run.tip().state();
        look(state, action);
        // The first step of the cycle; when nothing is repeated, the last one before.
        if claims.cycle.is_some_and(|start| i == start || i + 1 == start) {
            entry = Some(machine.step(state, action));
        }
        if let Err(why) = run.take(action) {
            let possible = possible(machine, run.tip());
            return Err(Refuted::Step { number: i + 1, why, possible });
        }
        if let Some(hearing) = &mut hearing {
            hearing.step(action, run.tip());
        }
        formula.iter_mut().for_each(|hearing| hear(&mut **hearing, action, run.tip()));
        if let Some(keep) = claims.keep {
            run.forget(keep);
        }
    }
    let again = |essence: &dyn TransitionSystem| closes(essence, path.clone(), claims.cycle);
    if let (Some(mut hearing), Some(judge)) = (formula, claims.formula) {
        let closed = judge.essence().map_or(Ok(true), again);
        let finding = of_formula(claims, closed, &mut *hearing).map_err(Refuted::Otherwise)?;
        return Ok(Confirmed { run, finding, judgement: None });
    }
    let judged = hearing.map(|hearing| hearing.judgement(run.tip(), &again)).transpose();
    let judgement = judged.map_err(Refuted::Otherwise)?;
    let found = match &judgement {
        Some(judgement) => judgement.found.iter().map(|fault| placed(fault, entry.as_ref())).collect(),
        None if claims.cycle.is_some() => {
            let kind = claims.violation.map_or("any", |fault| fault.kind.name());
            return Err(Refuted::Otherwise(format!(
                "a violation of kind {kind} is not about a run that goes on forever"
            )));
        }
        None => run.tip().shown(claims.channels_empty),
    };
    let finding = agree(claims, found).map_err(Refuted::Otherwise)?;
    Ok(Confirmed { run, finding, judgement })
}

/// Tells who judges a formula about states of a step, and of the state behind it, if it is an ordinary one.
fn hear(hearing: &mut dyn FormulaHearing, action: ActionId, tip: &mut Walker<'_>) {
    hearing.step(action);
    if !tip.has_ended() && (!tip.is_transient() || tip.enabled().is_empty()) {
        hearing.state(tip);
    }
}

/// What a run shows of a formula about states; `closed`: its cycle, if it has one, ends where it begins.
fn of_formula(
    claims: Claims<'_>,
    closed: Result<bool, String>,
    hearing: &mut dyn FormulaHearing,
) -> Result<Fault, String> {
    match closed? {
        true => agree(claims, vec![hearing.finding(claims.cycle)?]),
        false => Err("the run does not return to where its cycle begins".to_string()),
    }
}

/// What could be done in a state, in words.
fn possible<M: TransitionSystem + Explain>(machine: &M, walker: &mut Walker<'_>) -> Vec<StepInfo> {
    let actions = walker.enabled().to_vec();
    actions.into_iter().map(|action| machine.step(walker.state(), action)).collect()
}

/// What is wrong, and where: of a cycle that no formula or claim stands for, where it begins.
fn placed(fault: &Fault, entry: Option<&StepInfo>) -> Fault {
    let labels = matches!(fault.kind, FaultKind::ProgressCycle | FaultKind::AcceptCycle) && fault.line <= 1;
    match entry.filter(|_| labels) {
        Some(info) => Fault {
            file: info.file.clone(),
            line: info.line,
            column: info.column,
            process: Some(info.process.clone()),
            pid: Some(info.pid),
            ..fault.clone()
        },
        None => fault.clone(),
    }
}

/// The fault among those found that was claimed; the error says what was found instead.
fn agree(claims: Claims<'_>, mut found: Vec<Fault>) -> Result<Fault, String> {
    let Some(claimed) = claims.violation else {
        return found.into_iter().next().ok_or_else(|| "the run shows nothing wrong".to_string());
    };
    if let Some(at) = found.iter().position(|fault| same(fault, claimed, claims.moved)) {
        return Ok(found.swap_remove(at));
    }
    let what = words(claimed);
    Err(match found.first() {
        Some(other) => format!("the run does not show \"{what}\" but \"{}\"", words(other)),
        None => format!("the run does not show \"{what}\""),
    })
}

/// Whether two faults are the same error; the file may be called differently where the model is found.
fn same(a: &Fault, b: &Fault, moved: bool) -> bool {
    let place = |fault: &Fault| (fault.line, fault.column, fault.process.clone(), fault.pid);
    a.kind == b.kind && a.message == b.message && (moved || place(a) == place(b))
}

fn words(fault: &Fault) -> String {
    let Fault { kind, message, file, line, column, .. } = fault;
    let process = match (&fault.process, fault.pid) {
        (Some(name), Some(pid)) => format!(", {}", crate::story::process_name(name, pid)),
        (Some(name), None) => format!(", {name}"),
        _ => String::new(),
    };
    format!("{}: {message}, {file}:{line}:{column}{process}", kind.name())
}

/// Replays a path that a search found and makes a trail of it; `head` says the rest. The error says why it
/// does not show what it is said to show.
pub fn record<'m, M: TransitionSystem + Explain>(
    machine: &'m M,
    path: &Path,
    head: Trail,
    claims: Claims<'_>,
) -> Result<(Evidence, Confirmed<'m>), String> {
    let mut steps: Sequence<TrailStep> = Sequence::new();
    // In a long trail the words are those of the first time.
    let (long, mut told) = (path.len() > TOLD_STEPS, HashMap::new());
    let mut describe = |state: &[u8], action: ActionId| {
        let number = match told.get(&action).filter(|_| long) {
            Some(&number) => number,
            None => steps.number(TrailStep { action, info: Some(machine.step(state, action)) }),
        };
        told.insert(action, number);
        steps.push_number(number);
    };
    let actions = path.iter().copied();
    let confirmed = replay(machine, actions, claims, &mut describe).map_err(|refuted| refuted.to_string())?;
    let trail = Trail { steps, violation: confirmed.finding.clone(), cycle: claims.cycle, ..head };
    Ok((Evidence(trail), confirmed))
}

/// Replays a trail whose violation shows at its end; the error says which step is not possible, or that it
/// does not show.
pub fn confirm(system: &dyn TransitionSystem, trail: Trail) -> Result<Evidence, String> {
    let found = match Walker::start(system) {
        Ok(mut walker) => {
            for (i, action) in trail.actions().enumerate() {
                walker.step(action).map_err(|why| format!("step {} is not possible: {why}", i + 1))?;
            }
            walker.shown(trail.channels_empty)
        }
        Err(fault) if trail.steps.is_empty() => vec![fault],
        Err(fault) => return Err(format!("the initial state cannot be built: {}", fault.message)),
    };
    agree(Claims::of(&trail.violation), found)?;
    Ok(Evidence(trail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trail::{ModelOptions, TrailStep};
    use system::toy::Graph;

    fn trail(violation: Fault, actions: &[u64]) -> Trail {
        Trail {
            version: String::new(),
            model: String::new(),
            model_absolute: None,
            fingerprint: 0,
            options: ModelOptions::default(),
            property: "safety".to_string(),
            channels_empty: false,
            fair: None,
            cycle: None,
            violation,
            steps: actions.iter().map(|&a| TrailStep { action: ActionId(a), info: None }).collect(),
        }
    }

    fn fault(kind: FaultKind, message: &str, line: u32) -> Fault {
        let (message, file, process) = (message.to_string(), "toy".to_string(), Some("graph".to_string()));
        Fault { kind, message, file, line, column: 1, process, pid: Some(0) }
    }

    fn graph() -> Graph {
        Graph::parse(
            "0 -> 1 -> 2 -> 3; transient 1; assert 1 2; bad 2; 2 -> 4; fault 2 4; end 5; 0 -> 5; full 5",
        )
        .unwrap()
    }

    #[test]
    fn every_kind_of_violation_can_be_confirmed() {
        let graph = graph();
        let cases = [
            (fault(FaultKind::Assertion, "assertion from 1 to 2", 1), vec![0, 1]),
            (fault(FaultKind::Invariant, "bad node 2", 2), vec![0, 1]),
            (fault(FaultKind::EndState, "stuck at 3", 3), vec![0, 1, 2]),
            (fault(FaultKind::Runtime, "runtime from 2 to 4", 2), vec![0, 1, 3]),
        ];
        for (violation, actions) in cases {
            let evidence = confirm(&graph, trail(violation.clone(), &actions)).unwrap();
            assert_eq!((evidence.fault(), evidence.depth()), (&violation, actions.len()));
        }
    }

    #[test]
    fn what_does_not_show_is_refused() {
        let graph = graph();
        let invariant = fault(FaultKind::Invariant, "bad node 2", 2);
        let refused = |trail| confirm(&graph, trail).unwrap_err();
        assert_eq!(refused(trail(invariant.clone(), &[1])), "step 1 is not possible: it is not enabled");
        assert_eq!(
            refused(trail(invariant.clone(), &[0])),
            "the run does not show \"invariant: bad node 2, toy:2:1, graph[0]\""
        );
        let ended = refused(trail(invariant.clone(), &[0, 1, 3, 2]));
        assert_eq!(ended, "step 4 is not possible: the run ended with the step before");
        let other = refused(trail(fault(FaultKind::EndState, "stuck at 2", 2), &[0, 1]));
        assert!(other.contains("but \"assertion"), "{other}");
    }

    #[test]
    fn strict_ends_and_broken_initial_states() {
        let graph = graph();
        let end = fault(FaultKind::EndState, "channels not empty at end", 5);
        assert!(confirm(&graph, trail(end.clone(), &[4])).is_err());
        assert!(confirm(&graph, Trail { channels_empty: true, ..trail(end, &[4]) }).is_ok());
        let broken = Graph::parse("broken").unwrap();
        let start = fault(FaultKind::Runtime, "broken from the start", 0);
        assert!(confirm(&broken, trail(start.clone(), &[])).is_ok());
        assert!(confirm(&graph, trail(start, &[])).is_err());
    }
}
