//! Whether a run breaks a claim: judged over the whole run, one ordinary state after another.
//!
//! Independent of any search and of the product: the run is replayed in the reference machine, the
//! propositions are evaluated in every ordinary state, and the claim is asked about that sequence. A run that
//! does not end must come back to the state where its cycle begins, or be stuck; under weak fairness every
//! process must move in the cycle or be disabled somewhere in it, under strong fairness it must move or be
//! disabled everywhere in it.

use crate::replay::Walker;
use std::collections::BTreeSet;
use system::claim::Accepted;
use system::{ActionId, Claim, Fairness, Fault, NOBODY, Path, Sequence, SystemExt, TransitionSystem};

/// What makes a run wrong.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// What is wrong with a run whose cycle is.
    pub fault: &'a Fault,
    /// The claim, and the set of propositions that it is about; `None`: the labels of the states decide.
    pub claim: Option<(&'a Claim, usize)>,
    /// Which runs count.
    pub fairness: Fairness,
    /// The same claim with generalised acceptance, if there is one. Two automata for the same runs may find a
    /// run wrong in different ways: one by its end, the other by what is repeated.
    pub general: Option<&'a Claim>,
    /// The same system without values that nobody will ever look at, if there is one: a cycle need not
    /// restore those.
    pub essence: Option<&'a dyn TransitionSystem>,
}

/// What a judge finds in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is wrong with it.
    pub found: Vec<Fault>,
    /// The most that can be said of its fairness, where it does not end.
    pub fairness: Fairness,
}

/// An ordinary state of a run, and the step from it.
#[derive(Debug, Default)]
struct Moment {
    bits: u64,
    accepting: bool,
    /// The step from it passes an accept label inside an atomic sequence.
    passes: bool,
    /// Processes that can move.
    enabled: BTreeSet<u32>,
    /// Processes that do, before the next ordinary state.
    moved: BTreeSet<u32>,
    /// Steps of the run before it.
    before: usize,
}

/// A run while it is judged: it is heard state by state, and only what the claim will ask about is kept.
pub struct Hearing<'j> {
    judge: Judge<'j>,
    system: &'j dyn TransitionSystem,
    /// Steps before those that are repeated forever.
    start: Option<usize>,
    /// The last ordinary state so far.
    last: Moment,
    steps: usize,
    /// Propositions along the way to the cycle, and around it.
    stem: Sequence<u64>,
    cycle: Sequence<u64>,
    /// The key of the state where the cycle begins.
    first: Option<Vec<u8>>,
    /// The cycle begins in an ordinary state.
    begins: bool,
    accepting: bool,
    /// Processes that are ready everywhere in the cycle and do not move; `None` before it.
    waiting: Option<BTreeSet<u32>>,
    /// Processes that can move somewhere in the cycle, and those that do.
    able: BTreeSet<u32>,
    moved: BTreeSet<u32>,
}

impl<'j> Hearing<'j> {
    /// Of a run that is at its beginning.
    pub fn new(
        judge: Judge<'j>,
        system: &'j dyn TransitionSystem,
        walker: &mut Walker<'_>,
        start: Option<usize>,
    ) -> Self {
        let last = judge.moment(system, walker, 0);
        let mut hearing = Hearing {
            judge,
            system,
            start,
            last,
            steps: 0,
            stem: Sequence::new(),
            cycle: Sequence::new(),
            first: None,
            begins: start == Some(0),
            accepting: false,
            waiting: None,
            able: BTreeSet::new(),
            moved: BTreeSet::new(),
        };
        hearing.note_start(walker);
        hearing
    }

    /// The run has taken a step.
    pub fn step(&mut self, action: ActionId, walker: &mut Walker<'_>) {
        self.steps += 1;
        if let Some(processes) = self.system.capabilities().processes {
            self.last.moved.insert(processes.agent_of(action));
            self.last.moved.extend(processes.partner_agent_of(action));
        }
        if !walker.is_transient() || walker.enabled().is_empty() {
            let next = self.judge.moment(self.system, walker, self.steps);
            self.begins |= self.start == Some(self.steps);
            let past = std::mem::replace(&mut self.last, next);
            self.pass(&past);
        } else {
            self.last.passes |= self.system.labels(walker.state()).accepting;
        }
        self.note_start(walker);
    }

    fn note_start(&mut self, walker: &Walker<'_>) {
        if self.start == Some(self.steps) {
            self.first = Some(self.system.key(walker.state()).to_vec());
        }
    }

    /// An ordinary state after which another one came.
    fn pass(&mut self, moment: &Moment) {
        if self.start.is_none_or(|start| moment.before < start) {
            self.stem.push(moment.bits);
            return;
        }
        self.cycle.push(moment.bits);
        self.accepting |= moment.accepting || moment.passes;
        let ready: BTreeSet<u32> = moment.enabled.difference(&moment.moved).copied().collect();
        match &mut self.waiting {
            Some(waiting) => waiting.retain(|pid| ready.contains(pid)),
            None => self.waiting = Some(ready),
        }
        self.able.extend(&moment.enabled);
        self.moved.extend(&moment.moved);
    }

    /// What is wrong with the run, which has ended; `again` replays it in another system and says whether its
    /// cycle closes there.
    pub fn judgement(
        mut self,
        walker: &mut Walker<'_>,
        again: &dyn Fn(&dyn TransitionSystem) -> Result<bool, String>,
    ) -> Result<Judgement, String> {
        if walker.has_ended() || walker.is_transient() && !walker.enabled().is_empty() {
            return Err("the run ends inside a step".to_string());
        }
        if self.start.is_none() {
            return Ok(Judgement { found: self.prefix(), fairness: Fairness::None });
        }
        let closes = self.first.as_deref() == Some(self.system.key(walker.state()));
        if !closes && !self.judge.essence.map_or(Ok(false), again)? {
            return Err("the run does not come back to where its cycle begins".to_string());
        }
        self.lasso()
    }

    /// What is wrong with a run that may go on as it likes.
    fn prefix(&mut self) -> Vec<Fault> {
        let Some((claim, _)) = self.judge.claim else { return Vec::new() };
        self.stem.push(self.last.bits);
        if self.last.enabled.is_empty() && claim.stutters {
            // The claim may need some repetitions of the last state, but not more than it has states.
            self.stem.extend(std::iter::repeat_n(self.last.bits, claim.len()));
        }
        let none: [u64; 0] = [];
        let by_general = self.judge.general.map(|general| general.accepted(&self.stem, none).faults);
        let found = claim.accepted(&self.stem, none).faults;
        found.into_iter().chain(by_general.into_iter().flatten()).collect()
    }

    /// What is wrong with a run that comes back to where it was after `start` steps, again and again.
    fn lasso(mut self) -> Result<Judgement, String> {
        if !self.begins {
            return Err("the cycle begins inside a step".to_string());
        }
        if self.cycle.is_empty() {
            if !self.last.enabled.is_empty() {
                return Err("the run does not end, but nothing is repeated".to_string());
            }
            if self.judge.claim.is_some_and(|(claim, _)| !claim.stutters) {
                return Err("the run ends".to_string());
            }
            let last = std::mem::take(&mut self.last);
            self.pass(&last);
        }
        let fairness = self.fairness();
        match self.judge.fairness {
            Fairness::Weak if fairness == Fairness::None => return Err("the run is not fair".to_string()),
            Fairness::Strong if fairness != Fairness::Strong => {
                return Err("the run is not strongly fair".to_string());
            }
            _ => {}
        }
        let found = match self.judge.claim {
            Some((claim, _)) => {
                let mut found = self.faults(claim);
                // Both must find it wrong; how, is told by each.
                if let Some(general) = self.judge.general.filter(|_| !found.is_empty()) {
                    let more = self.faults(general);
                    found = if more.is_empty() { more } else { found.into_iter().chain(more).collect() };
                }
                found
            }
            None => self.accepting.then(|| self.judge.fault.clone()).into_iter().collect(),
        };
        Ok(Judgement { found, fairness })
    }

    /// What a claim finds wrong with the lasso.
    fn faults(&self, claim: &Claim) -> Vec<Fault> {
        let Accepted { mut faults, cycle } = claim.accepted(&self.stem, &self.cycle);
        faults.extend(cycle.then(|| self.judge.fault.clone()));
        faults
    }

    /// Strong: every process that can move somewhere moves somewhere. Weak: it moves somewhere, or is
    /// disabled somewhere.
    fn fairness(&self) -> Fairness {
        match () {
            () if self.able.is_subset(&self.moved) => Fairness::Strong,
            () if self.waiting.as_ref().is_none_or(BTreeSet::is_empty) => Fairness::Weak,
            () => Fairness::None,
        }
    }
}

impl Judge<'_> {
    /// Judges a whole run; `cycle` says how many steps come before those that are repeated forever.
    pub fn judge(
        &self,
        system: &dyn TransitionSystem,
        path: &Path,
        cycle: Option<usize>,
    ) -> Result<Judgement, String> {
        let mut walker = Walker::start(system)
            .map_err(|fault| format!("the initial state cannot be built: {}", fault.message))?;
        let mut hearing = Hearing::new(*self, system, &mut walker, cycle);
        for (i, &action) in path.iter().enumerate() {
            walker
                .step(action)
                .map_err(|why| format!("step {} of {} is not possible: {why}", i + 1, path.len()))?;
            hearing.step(action, &mut walker);
        }
        hearing.judgement(&mut walker, &|essence| closes(essence, path.iter().copied(), cycle))
    }

    fn moment(&self, system: &dyn TransitionSystem, walker: &mut Walker<'_>, before: usize) -> Moment {
        let can = system.capabilities();
        let process = |&action: &ActionId| can.processes.map_or(NOBODY, |system| system.agent_of(action));
        let enabled = walker.enabled().iter().map(process).collect();
        let state = walker.state();
        Moment {
            bits: self
                .claim
                .zip(can.propositions)
                .map_or(0, |((_, set), system)| system.propositions(set, state)),
            accepting: system.labels(state).accepting,
            passes: false,
            enabled,
            moved: BTreeSet::new(),
            before,
        }
    }
}

/// Whether the state after all steps is the one after the first `start`.
pub fn closes(
    system: &dyn TransitionSystem,
    path: impl Iterator<Item = ActionId>,
    start: Option<usize>,
) -> Result<bool, String> {
    let mut walker = Walker::start(system).map_err(|fault| fault.message)?;
    let mut first = None;
    for (i, action) in path.enumerate() {
        if Some(i) == start {
            first = Some(system.key(walker.state()).to_vec());
        }
        walker.step(action).map_err(|why| why.to_string())?;
    }
    Ok(first.is_none_or(|first| first == system.key(walker.state())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::OnceLock;
    use system::FaultKind;
    use system::claim::{ClaimEdge, ClaimState, Guard};
    use system::toy::Graph;

    fn fault() -> &'static Fault {
        static FAULT: OnceLock<Fault> = OnceLock::new();
        FAULT.get_or_init(|| Fault {
            kind: FaultKind::AcceptCycle,
            message: "cycle".to_string(),
            file: "toy".to_string(),
            line: 1,
            column: 1,
            process: None,
            pid: None,
        })
    }

    fn judged(judge: Judge<'_>, text: &str, actions: &[u64], cycle: Option<usize>) -> Result<(), String> {
        let path = actions.iter().map(|&action| ActionId(action)).collect();
        let judgement = judge.judge(&Graph::parse(text).unwrap(), &path, cycle)?;
        if judgement.found.is_empty() { Err("does not show".to_string()) } else { Ok(()) }
    }

    fn labels() -> Judge<'static> {
        Judge { fault: fault(), claim: None, general: None, fairness: Fairness::None, essence: None }
    }

    #[test]
    fn a_cycle_must_close_and_accept() {
        let graph = "0 -> 1 -> 2 -> 1; accept 2; 1 -> 1";
        assert_eq!(judged(labels(), graph, &[0, 1, 2], Some(1)), Ok(()));
        assert!(judged(labels(), graph, &[0, 1, 2], Some(0)).unwrap_err().contains("come back"));
        assert!(judged(labels(), graph, &[0, 3], Some(1)).unwrap_err().contains("does not show"));
        assert!(judged(labels(), graph, &[0, 1, 2], Some(3)).unwrap_err().contains("nothing is repeated"));
        assert_eq!(judged(labels(), "0 -> 1; accept 1", &[0], Some(1)), Ok(()), "the end is repeated");
        let inside = "0 -> 1 -> 0; transient 1; accept 1";
        assert!(judged(labels(), inside, &[0, 1], Some(0)).is_ok(), "the label is passed");
        let once = "0 -> 1 -> 2 -> 2; transient 1; accept 1";
        assert!(judged(labels(), once, &[0, 1, 2], Some(2)).is_err(), "it is passed once");
        assert!(judged(labels(), inside, &[0, 1], Some(1)).is_err(), "it begins inside a step");
    }

    #[test]
    fn fairness_is_judged() {
        let fair = Judge { fairness: Fairness::Weak, ..labels() };
        let waiting = "0 -> 0; 0 -> 1; accept 0; process 1 0 1";
        assert!(judged(fair, waiting, &[0], Some(0)).unwrap_err().contains("not fair"));
        let between = "0 -> 2 -> 0; 0 -> 1; accept 0; process 1 0 1";
        assert_eq!(judged(fair, between, &[0, 1], Some(0)), Ok(()));
        let strong = Judge { fairness: Fairness::Strong, ..labels() };
        assert!(judged(strong, between, &[0, 1], Some(0)).unwrap_err().contains("not strongly fair"));
        let both = "0 -> 2 -> 0; 0 -> 1 -> 0; accept 0; process 1 0 1";
        assert_eq!(judged(strong, both, &[0, 1, 2, 3], Some(0)), Ok(()));
        assert_eq!(judged(strong, "0 -> 1; accept 1", &[0], Some(1)), Ok(()), "at the end nobody can move");
    }

    #[test]
    fn a_claim_is_asked_about_the_whole_run() {
        let claim = Claim::non_progress(0);
        let judge = Judge { claim: Some((&claim, 0)), ..labels() };
        let graph = "0 -> 1 -> 2 -> 1; hold 0 1 2; 2 -> 3";
        assert_eq!(judged(judge, graph, &[0, 1, 2], Some(1)), Ok(()));
        assert!(judged(judge, "0 -> 1 -> 2 -> 1; hold 0 1", &[0, 1, 2], Some(1)).is_err());
        assert!(judged(judge, "0 -> 1; hold 0 0 1", &[0], Some(1)).unwrap_err().contains("the run ends"));
    }

    #[test]
    fn a_claim_may_end_while_the_last_state_is_repeated() {
        let edge =
            |to| ClaimEdge { guard: Guard::True, to: ClaimState(to), atomic: false, marks: 0, asserts: None };
        let claim = Claim {
            initial: ClaimState(0),
            n_marks: 0,
            accepting: vec![false; 4],
            ends: vec![None, None, None, Some(fault().clone())],
            edges: vec![vec![edge(1)], vec![edge(2)], vec![edge(3)], Vec::new()],
            first_only: vec![false; 4],
            stutters: true,
        };
        let judge = Judge { claim: Some((&claim, 0)), ..labels() };
        assert_eq!(judged(judge, "0 -> 1", &[0], None), Ok(()));
        assert!(judged(judge, "0 -> 1 -> 0", &[0], None).is_err(), "it could still go on");
    }
}
