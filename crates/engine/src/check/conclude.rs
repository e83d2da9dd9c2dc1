//! From what a search found to what may be claimed.

use super::Checker;
use crate::client::{Client, Kept};
use crate::counterexample::{Head, INLINE_STEPS};
use crate::endless::waits_in_loop;
use crate::options::{Choice, Por};
use crate::property::Selected;
use crate::report::{PropertyReport, Reason, Shown, Verdict};
use search::{Checks, Limits, Outcome, Reduce, Statistics, StopReason, Task};
use system::{Blocked, Fairness, FaultKind};
use trace::{Evidence, Palette};

/// States that a search for a hint may explore; more, if the check explored more.
const HINT_STATES: u64 = 20_000;

impl Checker<'_> {
    /// Hands a counterexample to the client, and adds what the model's text says about the place.
    pub(super) fn show(
        &mut self,
        evidence: Evidence,
        run: &trace::Run<'_>,
        client: &mut dyn Client,
    ) -> Shown {
        let kept = client.counterexample(&evidence);
        self.n_shown += 1;
        self.shown(evidence, run, kept, self.n_shown == 1)
    }

    /// The same for a run that shows that a formula holds; it has a story of its own.
    pub(super) fn show_witness(
        &mut self,
        evidence: Evidence,
        run: &trace::Run<'_>,
        client: &mut dyn Client,
    ) -> Shown {
        let kept = client.witness(&evidence);
        self.shown(evidence, run, kept, true)
    }

    fn shown(&self, evidence: Evidence, run: &trace::Run<'_>, kept: Kept, with_story: bool) -> Shown {
        let fault = evidence.fault();
        let line = self.session.and_then(|session| session.line(&fault.file, fault.line));
        let waits_in_loop = self.session.is_some_and(|session| {
            let locate = |span| session.sources.location(span);
            session.program().is_ok_and(|program| waits_in_loop(program, locate, fault))
        });
        let blocked = if fault.kind == FaultKind::EndState { stuck(run) } else { Vec::new() };
        let story = match &kept {
            Kept::Unwritten(_) => trace::story::last(run, INLINE_STEPS, Palette::PLAIN),
            _ if with_story => trace::story::short(run, Palette::PLAIN),
            _ => String::new(),
        };
        Shown { evidence, kept, line, story, blocked, waits_in_loop }
    }

    /// What the trails of a property say besides their steps.
    pub(super) fn head<'h>(&'h self, property: &'h str) -> Head<'h> {
        Head {
            source: &self.plan.source,
            fingerprint: self.fingerprint,
            property,
            channels_empty: self.plan.options.channels_empty,
            fair: self.plan.fairness.name(),
        }
    }

    /// A search for what `checks` count.
    pub(super) fn task<'t>(&'t self, checks: Checks, reduce: Option<Reduce<'t>>) -> Task<'t> {
        let options = &self.plan.options;
        Task {
            checks,
            all_errors: options.all_errors || options.stop_at.is_some(),
            seed: options.seed,
            limits: self.limits_left(),
            stop: self.stop.flag(),
            reduce,
        }
    }

    /// The limits, less the time that has gone by.
    pub(super) fn limits_left(&self) -> Limits {
        let time = self.plan.limits.time.map(|time| time.saturating_sub(self.started.elapsed()));
        Limits { time, ..self.plan.limits }
    }

    /// The limits of a search for something worth knowing beside the verdict: the check should not take twice
    /// its time for it.
    pub(super) fn limits_of_hint(&self, check: &Statistics) -> Limits {
        let left = self.limits_left();
        let explored = check.states.max(HINT_STATES);
        Limits { states: Some(left.states.map_or(explored, |states| states.min(explored))), ..left }
    }

    pub(super) fn conclude(
        &self,
        property: Selected,
        outcome: Outcome,
        shown: Vec<Shown>,
        stays_at: Option<String>,
    ) -> PropertyReport {
        let why = self.why_unknown(&outcome, stays_at);
        let Outcome { stop, errors, statistics, exhausted, .. } = outcome;
        let exhaustive = exhausted.is_some();
        let mut shown = shown.into_iter();
        let verdict = match (shown.next(), exhausted) {
            (Some(first), _) => Verdict::Violated(Box::new(first), shown.collect()),
            (None, Some(token)) => Verdict::Holds(token),
            (None, None) => Verdict::Unknown(why),
        };
        let interrupted = stop == StopReason::Interrupted;
        PropertyReport {
            name: property.name,
            kind: property.kind,
            verdict,
            errors,
            exhaustive,
            interrupted,
            statistics,
            certificate: None,
            kept: None,
            on_disk: None,
            symbolic: None,
            gpu: None,
            packed: None,
            cluster: None,
            checked: Vec::new(),
            por: Por::None,
            coverage: None,
            met_full_buffer: None,
            reached: None,
            noted: None,
            how: None,
            fairness: Fairness::None,
            vacuous: None,
            holds_under: None,
            evaluation: None,
        }
    }

    pub(super) fn why_unknown(&self, outcome: &Outcome, stays_at: Option<String>) -> Reason {
        let limits = &self.plan.limits;
        match outcome.stop {
            StopReason::Interrupted => Reason::Interrupted,
            StopReason::TimeLimit => Reason::Time(limits.time.unwrap_or_default()),
            StopReason::MemoryLimit => Reason::Memory(self.plan.allowance.clone()),
            StopReason::Disk => Reason::Disk("what waited on a disk could not be read back".to_string()),
            StopReason::StateLimit => Reason::States(limits.states.unwrap_or_default()),
            StopReason::TooManyProcesses => Reason::Processes(search::marks::MOST_PROCESSES),
            StopReason::Completed if outcome.depth_limited => Reason::Depth(limits.depth.unwrap_or_default()),
            StopReason::Completed | StopReason::Violation | StopReason::Branching | StopReason::Decided => {
                let lossy = |probability| Reason::Omission { store: self.plan.store.word(), probability };
                match (&outcome.cut_by, outcome.statistics.omission) {
                    (Some(fault), _) => Reason::Cut(Box::new(fault.clone())),
                    _ if outcome.stays_inside => Reason::StaysInside(stays_at),
                    (None, omission) => omission.map_or(Reason::Incomplete, lossy),
                }
            }
        }
    }
}

/// The processes that cannot go on at the end of a run, and may not stay where they are.
fn stuck(run: &trace::Run<'_>) -> Vec<Blocked> {
    let blocked = run.words().blocked(&run.state(run.len()));
    blocked.into_iter().filter(|blocked| !blocked.valid_end).collect()
}
