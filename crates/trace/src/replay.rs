//! Re-executes a trail step by step and looks whether the violation shows.
//!
//! Every action must be enabled where the trail takes it, the last one must show the fault or lead to the state that
//! shows it. What comes out is [`Evidence`], which has no other constructor.

use crate::judge::Judge;
use crate::trail::Trail;
use system::{ActionId, Fault, FaultKind, Successors, TransitionSystem};

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

/// A single run through a system, one chosen action at a time.
pub struct Walker<'a> {
    system: &'a dyn TransitionSystem,
    state: Vec<u8>,
    transient: bool,
    fault: Option<Fault>,
    ended: bool,
    enabled: Vec<ActionId>,
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
        Walker { system, state, transient, fault: None, ended: false, enabled, batch }
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
        self.enabled.clear();
        if !self.ended {
            self.system.enabled(&self.state, &mut self.enabled);
        }
        &self.enabled
    }

    /// Takes one step; the error says why it is not possible.
    pub fn step(&mut self, action: ActionId) -> Result<(), String> {
        if self.ended {
            return Err("the run ended with the step before".to_string());
        }
        if !self.enabled().contains(&action) {
            return Err(format!("action {} is not enabled", action.0));
        }
        let system = self.system;
        self.step_by(action, |state, batch| system.fire(state, &[action], batch))
    }

    /// Takes a step that `fire` executes, from the state given, into the batch given: for actions that need more than their
    /// number, such as input from outside.
    pub fn step_by(
        &mut self,
        action: ActionId,
        fire: impl FnOnce(&[u8], &mut Successors),
    ) -> Result<(), String> {
        self.batch.clear();
        fire(&self.state, &mut self.batch);
        let Some(outcome) = self.batch.list.first() else {
            return Err(format!("action {} has no outcome", action.0));
        };
        match self.batch.state(outcome) {
            Some(state) => {
                self.state.clear();
                self.state.extend_from_slice(state);
                self.transient = outcome.is_transient();
            }
            None => self.ended = true,
        }
        self.fault = self.batch.fault(outcome).cloned();
        Ok(())
    }

    /// Whether the run, as it stands, shows `expected`: on the last step, or in the state that it led to.
    pub fn shows(&mut self, expected: &Fault, channels_empty: bool) -> Result<(), String> {
        let mut seen: Vec<Fault> = self.fault.clone().into_iter().collect();
        if !self.ended && (!self.transient || self.enabled().is_empty()) {
            self.system.inspect(&self.state, &mut seen);
            seen.extend(self.end_fault(expected, channels_empty));
        }
        if seen.iter().any(|fault| same(fault, expected)) {
            return Ok(());
        }
        let what = format!("{}: {}", expected.kind.name(), expected.message);
        Err(match seen.first() {
            Some(other) => {
                format!("the run does not show \"{what}\" but \"{}: {}\"", other.kind.name(), other.message)
            }
            None => format!("the run does not show \"{what}\""),
        })
    }

    /// What is wrong with stopping here, if nothing is enabled.
    fn end_fault(&mut self, expected: &Fault, channels_empty: bool) -> Option<Fault> {
        if !self.enabled().is_empty() {
            return None;
        }
        let labels = self.system.labels(&self.state);
        match labels.valid_end {
            false => Some(self.system.deadlock(&self.state)),
            true if channels_empty && !labels.channels_empty && expected.kind == FaultKind::EndState => {
                Some(expected.clone())
            }
            true => None,
        }
    }
}

/// Whether two faults are the same error; the file may be called differently where the model is found.
fn same(a: &Fault, b: &Fault) -> bool {
    a.kind == b.kind && a.message == b.message && a.line == b.line && a.process == b.process
}

/// Replays a trail; the error says which step is not possible, or that the violation does not show.
pub fn confirm(system: &dyn TransitionSystem, trail: Trail) -> Result<Evidence, String> {
    shows(system, &trail)?;
    Ok(Evidence(trail))
}

/// The same without evidence.
pub(crate) fn shows(system: &dyn TransitionSystem, trail: &Trail) -> Result<(), String> {
    let mut walker = match Walker::start(system) {
        Ok(walker) => walker,
        Err(fault) if trail.steps.is_empty() && same(&fault, &trail.violation) => return Ok(()),
        Err(fault) => return Err(format!("the initial state cannot be built: {}", fault.message)),
    };
    for (i, step) in trail.steps.iter().enumerate() {
        let of = trail.steps.len();
        walker.step(step.action).map_err(|why| format!("step {} of {of} is not possible: {why}", i + 1))?;
    }
    walker.shows(&trail.violation, trail.channels_empty)
}

/// Replays a trail that a claim, or the labels of states, finds wrong.
pub fn confirm_by(
    judge: &Judge<'_>,
    system: &dyn TransitionSystem,
    trail: Trail,
) -> Result<Evidence, String> {
    judge.confirm(system, &trail)?;
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
        assert_eq!(
            refused(trail(invariant.clone(), &[1])),
            "step 1 of 1 is not possible: action 1 is not enabled"
        );
        assert_eq!(
            refused(trail(invariant.clone(), &[0])),
            "the run does not show \"invariant: bad node 2\""
        );
        let ended = refused(trail(invariant.clone(), &[0, 1, 3, 2]));
        assert_eq!(ended, "step 4 of 4 is not possible: the run ended with the step before");
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
