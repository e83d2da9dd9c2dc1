//! Why a search ended, what it found, and what may be claimed from it.
//!
//! [`StopReason`] is not a verdict. That *everything* was seen is said by [`Exhausted`] alone, a token that
//! only this crate can make, and makes only for a search that was complete in a store that loses nothing, and
//! in which no path was cut off ([`Cuts`]).

use crate::cuts::{About, Cuts};
use crate::property::Checks;
use std::collections::{BTreeMap, TryReserveError};
use system::{Fault, FaultKind, Path};

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// There was nothing left to explore within the limits.
    Completed,
    /// A violation was found and one was enough.
    Violation,
    /// As many states as allowed were found, and there are more.
    StateLimit,
    /// Memory ran out.
    MemoryLimit,
    /// What was put on a disk cannot be read back.
    Disk,
    /// Time ran out.
    TimeLimit,
    /// Somebody asked it to stop.
    Interrupted,
    /// There are more processes than fairness can be about.
    TooManyProcesses,
    /// There are more steps for each state than there may be.
    Branching,
    /// What was found decides all that was asked.
    Decided,
}

/// Why a search ends that cannot get memory for its stack or queue.
pub(crate) fn no_memory(_: TryReserveError) -> StopReason {
    StopReason::MemoryLimit
}

/// The proof that a search followed every path to its end. Verdicts that something *holds* are made from it.
#[derive(Debug, PartialEq, Eq)]
pub struct Exhausted(());

impl Exhausted {
    /// Every state and every step is known; for [`crate::state_graph`] and [`crate::set_search`] alone.
    pub(crate) fn of_whole_graph() -> Self {
        Exhausted(())
    }
}

/// Numbers about a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Distinct ordinary states stored, the initial one included.
    pub states: u64,
    /// Steps explored between ordinary states, a whole atomic sequence being one.
    pub transitions: u64,
    /// Of these, steps to a state that was already known.
    pub matched: u64,
    /// Of these, steps that nobody took, because the state was found without them ([`system::lean`]).
    pub slept: u64,
    /// States of which all steps are counted here, where the others wait and that is told.
    pub expanded: Option<u64>,
    /// States that were expanded once more.
    pub reexplored: u64,
    /// The longest path, in steps, those inside atomic sequences included.
    pub depth: u64,
    /// Bytes of the store.
    pub state_bytes: u64,
    /// The length of the longest state.
    pub vector_bytes: u64,
    /// How many workers took part; 0 where there cannot be several.
    pub workers: u64,
    /// Different states visited, stored or not, where that is not the same.
    pub visited: Option<u64>,
    /// How often the store was asked, where that is not once for every step and the beginning.
    pub lookups: Option<u64>,
    /// What the store forgot, if it did.
    pub forgotten: Option<store::cache::Counts>,
    /// States in which a reducer's choice was enough: something was left out for good.
    pub reduced: u64,
    /// The estimated probability that a state was taken for another one; `None` in a store where that cannot
    /// happen.
    pub omission: Option<f64>,
}

impl Statistics {
    /// Takes over what a store that several workers shared has come to hold. Of states found beyond the
    /// limit, before all had stopped, none was expanded: they do not count.
    pub(crate) fn take_stock(&mut self, store: &impl store::Batched, stop: StopReason, most: Option<u64>) {
        let most = most.filter(|_| stop == StopReason::StateLimit);
        self.states = store.n_keys().min(most.unwrap_or(u64::MAX));
        self.state_bytes = store.memory();
        self.omission = store.omission();
    }

    /// Adds what another worker counted; what is known of the store they share is not.
    pub(crate) fn join(&mut self, other: &Statistics) {
        self.transitions += other.transitions;
        self.matched += other.matched;
        self.slept += other.slept;
        self.reduced += other.reduced;
        self.reexplored += other.reexplored;
        if let Some(lookups) = other.lookups {
            *self.lookups.get_or_insert(0) += lookups;
        }
        self.depth = self.depth.max(other.depth);
        self.vector_bytes = self.vector_bytes.max(other.vector_bytes);
    }

    /// Whether a store that forgets seems to forget too much: work is done again, or it will be, because many
    /// steps lead to states that should be known. (Godefroid, 1996: as long as the share of such steps stays
    /// small, so does the time.)
    pub fn forgets_too_much(&self) -> bool {
        let Some(counts) = self.forgotten.filter(|counts| counts.cleared > 0) else { return false };
        counts.reexplored * 5 >= counts.inserted || self.matched * 4 >= self.transitions
    }
}

/// An error and the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub fault: Fault,
    /// The actions from the initial state; the last one shows the fault, or leads to the state that does.
    pub path: Path,
    /// For a run that does not end: how many actions come before those that are repeated forever. When these
    /// are none, the last state is.
    pub cycle: Option<usize>,
}

/// Something that is no violation, but that the author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// An atomic sequence can run in a circle forever: the path leads to a transient state on the circle.
    AtomicLoop(Path),
}

/// What a search found.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub stop: StopReason,
    /// Something was left out because of the depth limit.
    pub depth_limited: bool,
    /// The property is about whole runs, and one of them never leaves an atomic sequence.
    pub stays_inside: bool,
    /// An error that cut a path off without being a violation.
    pub cut_by: Option<Fault>,
    /// The ways to such errors: the first of each (kind, file, line, process).
    pub cuts: Vec<Violation>,
    /// Present iff every reachable state was seen and every path was followed to its end.
    pub exhausted: Option<Exhausted>,
    /// Violations met.
    pub errors: u64,
    /// The first of each (kind, file, line, process), in the order in which they were met.
    pub violations: Vec<Violation>,
    /// What else there is to say.
    pub warnings: Vec<Warning>,
    /// Numbers.
    pub statistics: Statistics,
}

/// How far a search got.
#[derive(Debug)]
pub(crate) struct Extent {
    /// Why it ended.
    pub stop: StopReason,
    /// What it was about.
    pub about: About,
    /// Where paths were cut off.
    pub cuts: Cuts,
    /// The store takes no state for another one.
    pub lossless: bool,
}

impl Outcome {
    /// Of a search that could not even begin.
    pub fn nothing(stop: StopReason) -> Self {
        let (cuts, recorder) = (Cuts::default(), Recorder::default());
        let extent = Extent { stop, about: About::Runs, cuts, lossless: false };
        Self::conclude(extent, &Checks::NONE, recorder, Statistics::default())
    }

    /// Puts together what a search found; the only place that makes [`Exhausted`]. A search that met no state
    /// at all has not seen the initial one.
    pub(crate) fn conclude(extent: Extent, checks: &Checks, found: Recorder, statistics: Statistics) -> Self {
        let Extent { stop, about, cuts, lossless } = extent;
        let complete = stop == StopReason::Completed && cuts.is_none(about, checks);
        let seen = lossless && statistics.states > 0;
        let Recorder { errors, violations, warnings, cuts: ways, .. } = found;
        Outcome {
            stop,
            depth_limited: cuts.depth_limited(),
            stays_inside: cuts.stays_inside(about),
            cut_by: cuts.error(checks).or_else(|| Some(ways.first()?.fault.clone())),
            cuts: ways,
            exhausted: (complete && seen).then_some(Exhausted(())),
            errors,
            violations,
            warnings,
            statistics,
        }
    }
}

/// What makes two violations the same for a report.
pub(crate) type Signature = (FaultKind, String, u32, Option<String>);

/// The signature of a violation.
pub(crate) fn signature(fault: &Fault) -> Signature {
    (fault.kind, fault.file.clone(), fault.line, fault.process.clone())
}

/// Counts violations and keeps the first of each signature, or a later one that is reached by a shorter path.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub errors: u64,
    pub violations: Vec<Violation>,
    pub warnings: Vec<Warning>,
    /// Errors that are no violations, but cut a path off.
    pub cuts: Vec<Violation>,
    index: BTreeMap<Signature, usize>,
}

impl Recorder {
    /// Records an error that is no violation and after which its path does not go on; `path` is asked for
    /// when it is the first of its signature.
    pub fn cut(&mut self, fault: Fault, path: impl FnOnce() -> Path) {
        if !self.knows_cut(&fault) {
            self.cuts.push(Violation { fault, path: path(), cycle: None });
        }
    }

    /// Whether an error of this signature has cut a path off already.
    pub fn knows_cut(&self, fault: &Fault) -> bool {
        self.cuts.iter().any(|other| signature(&other.fault) == signature(fault))
    }

    /// Records a violation found at `depth`; `path` is asked for only when it will be kept.
    pub fn add(&mut self, fault: Fault, depth: u64, path: impl FnOnce() -> Path) {
        self.errors += 1;
        let signature = signature(&fault);
        match self.index.get(&signature) {
            Some(&at) if self.violations[at].path.len() as u64 <= depth => {}
            Some(&at) => self.violations[at] = Violation { fault, path: path(), cycle: None },
            None => {
                self.index.insert(signature, self.violations.len());
                self.violations.push(Violation { fault, path: path(), cycle: None });
            }
        }
    }

    /// Records a run that does not end.
    pub fn add_lasso(&mut self, fault: Fault, path: Path, cycle: usize) {
        let before = self.violations.len();
        let depth = path.len() as u64;
        self.add(fault, depth, || path);
        if let Some(violation) = self.violations.get_mut(before) {
            violation.cycle = Some(cycle);
        }
    }

    /// Everything was found behind `path`.
    pub fn prolong(&mut self, path: &Path) {
        let loops = self.warnings.iter_mut().map(|Warning::AtomicLoop(rest)| rest);
        let found = self.violations.iter_mut().chain(&mut self.cuts);
        for rest in found.map(|violation| &mut violation.path).chain(loops) {
            let behind = std::mem::replace(rest, path.clone());
            rest.extend(&behind);
        }
    }

    /// Adds what another worker found.
    pub fn join(&mut self, other: Recorder) {
        let errors = self.errors + other.errors;
        for Violation { fault, path, .. } in other.violations {
            let depth = path.len() as u64;
            self.add(fault, depth, || path);
        }
        self.errors = errors;
        for Violation { fault, path, .. } in other.cuts {
            self.cut(fault, || path);
        }
        if self.warnings.is_empty() {
            self.warnings = other.warnings;
        }
    }

    /// Keeps the shortest violation alone, for a search that was to find only one.
    pub fn keep_shortest(&mut self) {
        let best = (0..self.violations.len()).min_by_key(|&i| self.violations[i].path.len());
        if let Some(best) = best {
            self.violations.swap(0, best);
            self.violations.truncate(1);
            self.errors = 1;
            self.index.clear();
        }
    }

    /// Whether the author has been told of an endless atomic sequence.
    pub fn knows_atomic_loop(&self) -> bool {
        !self.warnings.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::ActionId;

    fn fault(line: u32) -> Fault {
        let (message, file) = (String::new(), "f".to_string());
        Fault { kind: FaultKind::Assertion, message, file, line, column: 1, process: None, pid: None }
    }

    fn path(len: u64) -> Path {
        (0..len).map(ActionId).collect()
    }

    #[test]
    fn the_first_of_each_is_kept_unless_a_later_one_is_shorter() {
        let mut recorder = Recorder::default();
        recorder.add(fault(1), 5, || path(5));
        recorder.add(fault(2), 7, || path(7));
        recorder.add(fault(1), 6, || panic!("a longer path is not needed"));
        recorder.add(fault(2), 3, || path(3));
        assert_eq!(recorder.errors, 4);
        let lengths: Vec<usize> = recorder.violations.iter().map(|v| v.path.len()).collect();
        assert_eq!(lengths, [5, 3]);
        recorder.keep_shortest();
        assert_eq!(
            (recorder.errors, recorder.violations.len(), recorder.violations[0].fault.line),
            (1, 1, 2)
        );
    }

    #[test]
    fn a_cache_that_is_too_small_is_noticed() {
        let told = |inserted, cleared, reexplored, matched| {
            let forgotten = Some(store::cache::Counts { inserted, cleared, reexplored });
            Statistics { transitions: 1000, matched, forgotten, ..Statistics::default() }.forgets_too_much()
        };
        assert!(!Statistics { matched: 9, transitions: 9, ..Statistics::default() }.forgets_too_much());
        assert!(!told(900, 0, 0, 900), "nothing was forgotten");
        assert!(!told(900, 500, 90, 100));
        assert!(told(900, 500, 180, 100), "every fifth state was explored again");
        assert!(told(900, 500, 0, 250), "every fourth step leads to a known state");
    }

    #[test]
    fn only_a_complete_lossless_search_is_exhausted() {
        let conclude = |stop, limited, lossless| {
            let mut cuts = Cuts::default();
            if limited {
                cuts.at_depth();
            }
            let statistics = Statistics { states: 1, ..Statistics::default() };
            let (about, checks, found) = (About::Runs, &Checks::NONE, Recorder::default());
            Outcome::conclude(Extent { stop, about, cuts, lossless }, checks, found, statistics)
                .exhausted
                .is_some()
        };
        assert!(conclude(StopReason::Completed, false, true));
        assert!(!conclude(StopReason::Completed, true, true));
        assert!(!conclude(StopReason::Completed, false, false));
        for stop in [StopReason::Violation, StopReason::TimeLimit, StopReason::Interrupted] {
            assert!(!conclude(stop, false, true));
        }
    }
}
