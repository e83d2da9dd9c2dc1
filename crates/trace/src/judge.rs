//! Whether a run breaks a claim: judged over the whole run, one ordinary state after another.
//!
//! Independent of any search and of the product: the run is replayed in the reference machine, the propositions are
//! evaluated in every ordinary state, and the claim is asked about that sequence. A run that does not end must come back to
//! the state where its cycle begins, or be stuck; under weak fairness every process must move in the cycle or be disabled
//! somewhere in it, under strong fairness it must move or be disabled everywhere in it.

use crate::replay::{Walker, shows};
use crate::trail::Trail;
use std::collections::BTreeSet;
use system::{ActionId, Claim, Fairness, FaultKind, TransitionSystem};

/// What makes a run wrong.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The claim, and the set of propositions that it is about; `None`: the labels of the states decide.
    pub claim: Option<(&'a Claim, usize)>,
    /// Which runs count.
    pub fairness: Fairness,
    /// The same claim with generalised acceptance, if there is one. Two automata for the same runs may find a run wrong in different ways: one
    /// by its end, the other by what is repeated.
    pub general: Option<&'a Claim>,
    /// The same system without values that nobody will ever look at, if there is one: a cycle need not restore those.
    pub essence: Option<&'a dyn TransitionSystem>,
}

/// An ordinary state of a run, and the step from it.
#[derive(Debug, Default)]
struct Moment {
    bits: u64,
    accepting: bool,
    /// Processes that can move.
    enabled: BTreeSet<u32>,
    /// Processes that do, before the next ordinary state.
    moved: BTreeSet<u32>,
    /// Steps of the trail before it.
    before: usize,
}

impl Judge<'_> {
    /// The error says what is wrong with the claim that this trail shows its violation.
    pub fn confirm(&self, system: &dyn TransitionSystem, trail: &Trail) -> Result<(), String> {
        if self.claim.is_none() && trail.cycle.is_none() {
            // What is wrong shows on the last step.
            return shows(system, trail);
        }
        let moments = self.moments(system, trail)?;
        let found = match trail.cycle {
            None => self.prefix(&moments),
            Some(start) => {
                let mut closed = closes(system, trail, start)?;
                if let Some(essence) = self.essence.filter(|_| !closed) {
                    closed = closes(essence, trail, start)?;
                }
                if !closed {
                    return Err("the run does not come back to where its cycle begins".to_string());
                }
                self.lasso(&moments, start)?
            }
        };
        // The claim does not know that it is the one about progress.
        let expected = match trail.violation.kind {
            FaultKind::ProgressCycle => FaultKind::AcceptCycle,
            kind => kind,
        };
        match found.contains(&expected) {
            true => Ok(()),
            false => Err(format!("the run does not show \"{}\"", trail.violation.message)),
        }
    }

    /// The ordinary states of the run, the last one included.
    fn moments(&self, system: &dyn TransitionSystem, trail: &Trail) -> Result<Vec<Moment>, String> {
        let mut walker = Walker::start(system)
            .map_err(|fault| format!("the initial state cannot be built: {}", fault.message))?;
        let mut moments = vec![self.moment(system, &mut walker, 0)];
        let of = trail.steps.len();
        for (i, step) in trail.steps.iter().enumerate() {
            walker
                .step(step.action)
                .map_err(|why| format!("step {} of {of} is not possible: {why}", i + 1))?;
            if let Some(last) = moments.last_mut() {
                last.moved.insert(system.process_of(step.action));
                last.moved.extend(system.partner_of(step.action));
            }
            if !walker.is_transient() || walker.enabled().is_empty() {
                moments.push(self.moment(system, &mut walker, i + 1));
            }
        }
        match walker.is_transient() && !walker.enabled().is_empty() || walker.has_ended() {
            true => Err("the run ends inside a step".to_string()),
            false => Ok(moments),
        }
    }

    fn moment(&self, system: &dyn TransitionSystem, walker: &mut Walker<'_>, before: usize) -> Moment {
        let enabled = walker.enabled().iter().map(|&action: &ActionId| system.process_of(action)).collect();
        let state = walker.state();
        Moment {
            bits: self.claim.map_or(0, |(_, set)| system.propositions(set, state)),
            accepting: system.labels(state).accepting,
            enabled,
            moved: BTreeSet::new(),
            before,
        }
    }

    /// What is wrong with a run that may go on as it likes.
    fn prefix(&self, moments: &[Moment]) -> BTreeSet<FaultKind> {
        let Some((claim, _)) = self.claim else { return BTreeSet::new() };
        let mut bits = bits(moments);
        if let Some(last) = moments.last().filter(|last| last.enabled.is_empty() && claim.stutters) {
            // The claim may need some repetitions of the last state, but not more than it has states.
            bits.extend(std::iter::repeat_n(last.bits, claim.len()));
        }
        let by_general = self.general.map(|general| general.accepts(&bits, &[]));
        claim.accepts(&bits, &[]).into_iter().chain(by_general.into_iter().flatten()).collect()
    }

    /// What is wrong with a run that comes back to where it was after `start` steps, again and again.
    fn lasso(&self, moments: &[Moment], start: usize) -> Result<BTreeSet<FaultKind>, String> {
        let Some(at) = moments.iter().position(|moment| moment.before == start) else {
            return Err("the cycle begins inside a step".to_string());
        };
        let last = moments.len() - 1;
        let cycle = match at == last {
            true if !moments[last].enabled.is_empty() => {
                return Err("the run does not end, but nothing is repeated".to_string());
            }
            true => &moments[last..],
            false => &moments[at..last],
        };
        if at == last && self.claim.is_some_and(|(claim, _)| !claim.stutters) {
            return Err("the run ends".to_string());
        }
        let unfair = match self.fairness {
            Fairness::None => None,
            Fairness::Weak => (!is_weakly_fair(cycle)).then_some("the run is not fair"),
            Fairness::Strong => (!is_strongly_fair(cycle)).then_some("the run is not strongly fair"),
        };
        if let Some(unfair) = unfair {
            return Err(unfair.to_string());
        }
        Ok(match self.claim {
            Some((claim, _)) => {
                let (stem, cycle) = (bits(&moments[..at]), bits(cycle));
                let mut found = claim.accepts(&stem, &cycle);
                // Both must find it wrong; how, is told by each.
                if let Some(general) = self.general.filter(|_| !found.is_empty()) {
                    let more = general.accepts(&stem, &cycle);
                    found = if more.is_empty() { more } else { found.into_iter().chain(more).collect() };
                }
                found
            }
            None => cycle
                .iter()
                .any(|moment| moment.accepting)
                .then_some(FaultKind::AcceptCycle)
                .into_iter()
                .collect(),
        })
    }
}

/// Whether the state after all steps is the one after the first `start`.
fn closes(system: &dyn TransitionSystem, trail: &Trail, start: usize) -> Result<bool, String> {
    let mut walker = Walker::start(system).map_err(|fault| fault.message)?;
    let mut first = None;
    for (i, step) in trail.steps.iter().enumerate() {
        if i == start {
            first = Some(system.key(walker.state()).to_vec());
        }
        walker.step(step.action)?;
    }
    Ok(first.is_none_or(|first| first == system.key(walker.state())))
}

fn bits(moments: &[Moment]) -> Vec<u64> {
    moments.iter().map(|moment| moment.bits).collect()
}

/// Whether every process moves somewhere, or is disabled somewhere.
fn is_weakly_fair(cycle: &[Moment]) -> bool {
    let ready = |moment: &Moment| moment.enabled.difference(&moment.moved).copied().collect::<BTreeSet<_>>();
    let mut waiting = cycle.first().map(ready).unwrap_or_default();
    for moment in cycle {
        let ready = ready(moment);
        waiting.retain(|pid| ready.contains(pid));
    }
    waiting.is_empty()
}

/// Whether every process that can move somewhere moves somewhere.
fn is_strongly_fair(cycle: &[Moment]) -> bool {
    let moved: BTreeSet<u32> = cycle.iter().flat_map(|moment| &moment.moved).copied().collect();
    cycle.iter().all(|moment| moment.enabled.is_subset(&moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trail::{ModelOptions, TrailStep};
    use system::Fault;
    use system::claim::{ClaimEdge, ClaimState, Guard};
    use system::toy::Graph;

    fn trail(actions: &[u64], cycle: Option<usize>) -> Trail {
        let (message, file) = ("cycle".to_string(), "toy".to_string());
        let kind = FaultKind::AcceptCycle;
        Trail {
            version: String::new(),
            model: String::new(),
            model_absolute: None,
            fingerprint: 0,
            options: ModelOptions::default(),
            property: "accept".to_string(),
            channels_empty: false,
            fair: None,
            cycle,
            violation: Fault { kind, message, file, line: 1, column: 1, process: None, pid: None },
            steps: actions.iter().map(|&a| TrailStep { action: ActionId(a), info: None }).collect(),
        }
    }

    fn judged(judge: Judge<'_>, text: &str, actions: &[u64], cycle: Option<usize>) -> Result<(), String> {
        judge.confirm(&Graph::parse(text).unwrap(), &trail(actions, cycle))
    }

    const LABELS: Judge<'_> = Judge { claim: None, general: None, fairness: Fairness::None, essence: None };

    #[test]
    fn a_cycle_must_close_and_accept() {
        let graph = "0 -> 1 -> 2 -> 1; accept 2; 1 -> 1";
        assert_eq!(judged(LABELS, graph, &[0, 1, 2], Some(1)), Ok(()));
        assert!(judged(LABELS, graph, &[0, 1, 2], Some(0)).unwrap_err().contains("come back"));
        assert!(judged(LABELS, graph, &[0, 3], Some(1)).unwrap_err().contains("does not show"));
        assert!(judged(LABELS, graph, &[0, 1, 2], Some(3)).unwrap_err().contains("nothing is repeated"));
        assert_eq!(judged(LABELS, "0 -> 1; accept 1", &[0], Some(1)), Ok(()), "the end is repeated");
        let Trail { violation, .. } = trail(&[], None);
        let end = Trail {
            violation: Fault {
                kind: FaultKind::Invariant,
                message: "bad node 2".into(),
                line: 2,
                process: Some("graph".into()),
                ..violation
            },
            ..trail(&[0, 1], None)
        };
        assert_eq!(
            LABELS.confirm(&Graph::parse("0 -> 1 -> 2; bad 2").unwrap(), &end),
            Ok(()),
            "an error on the way"
        );
        assert!(LABELS.confirm(&Graph::parse("0 -> 1 -> 2; bad 1").unwrap(), &end).is_err());
        let inside = "0 -> 1 -> 0; transient 1; accept 1";
        assert!(judged(LABELS, inside, &[0, 1], Some(0)).is_err(), "labels of transient states mean nothing");
        assert!(judged(LABELS, inside, &[0, 1], Some(1)).is_err(), "it begins inside a step");
    }

    #[test]
    fn fairness_is_judged() {
        let fair = Judge { fairness: Fairness::Weak, ..LABELS };
        let waiting = "0 -> 0; 0 -> 1; accept 0; process 1 0 1";
        assert!(judged(fair, waiting, &[0], Some(0)).unwrap_err().contains("not fair"));
        let between = "0 -> 2 -> 0; 0 -> 1; accept 0; process 1 0 1";
        assert_eq!(judged(fair, between, &[0, 1], Some(0)), Ok(()));
        let strong = Judge { fairness: Fairness::Strong, ..LABELS };
        assert!(judged(strong, between, &[0, 1], Some(0)).unwrap_err().contains("not strongly fair"));
        let both = "0 -> 2 -> 0; 0 -> 1 -> 0; accept 0; process 1 0 1";
        assert_eq!(judged(strong, both, &[0, 1, 2, 3], Some(0)), Ok(()));
        assert_eq!(judged(strong, "0 -> 1; accept 1", &[0], Some(1)), Ok(()), "at the end nobody can move");
    }

    #[test]
    fn a_claim_is_asked_about_the_whole_run() {
        let claim = Claim::non_progress(0);
        let judge = Judge { claim: Some((&claim, 0)), ..LABELS };
        let graph = "0 -> 1 -> 2 -> 1; hold 0 1 2; 2 -> 3";
        assert_eq!(judged(judge, graph, &[0, 1, 2], Some(1)), Ok(()));
        assert!(judged(judge, "0 -> 1 -> 2 -> 1; hold 0 1", &[0, 1, 2], Some(1)).is_err());
        assert!(judged(judge, "0 -> 1; hold 0 0 1", &[0], Some(1)).unwrap_err().contains("the run ends"));
    }

    #[test]
    fn a_claim_may_end_while_the_last_state_is_repeated() {
        let edge =
            |to| ClaimEdge { guard: Guard::True, to: ClaimState(to), atomic: false, marks: 0, asserts: None };
        let Trail { violation, .. } = trail(&[], None);
        let claim = Claim {
            initial: ClaimState(0),
            n_marks: 0,
            accepting: vec![false; 4],
            ends: vec![None, None, None, Some(violation)],
            edges: vec![vec![edge(1)], vec![edge(2)], vec![edge(3)], Vec::new()],
            first_only: vec![false; 4],
            stutters: true,
        };
        let judge = Judge { claim: Some((&claim, 0)), ..LABELS };
        assert_eq!(judged(judge, "0 -> 1", &[0], None), Ok(()));
        assert!(judged(judge, "0 -> 1 -> 0", &[0], None).is_err(), "it could still go on");
    }
}
