//! What a search found that keeps no paths: where, not how to get there.
//!
//! The way back from a state is known to the [`Ancestry`](crate::ancestry::Ancestry) alone, and when several
//! workers search, to all of theirs together. So a finding names the expansion in which it showed, and paths
//! are made at the end, when everybody has stopped.

use crate::ancestry::Ordinal;
use crate::outcome::{Recorder, Signature, Warning, signature};
use std::collections::BTreeMap;
use system::{ActionId, Fault, Path};

/// Where something was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The ancestry of the worker who found it.
    pub worker: usize,
    /// Which of the worker's expansions it was.
    pub expansion: Ordinal,
    /// The actions from the expanded state.
    pub more: Vec<ActionId>,
}

/// A violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What is wrong.
    pub fault: Fault,
    /// Steps from the beginning, or `u64::MAX` when they were not counted.
    pub depth: u64,
    /// Where.
    pub spot: Spot,
}

/// Counts violations and keeps the first of each signature, or a later one that is nearer to the beginning.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Violations met.
    pub errors: u64,
    list: Vec<Finding>,
    index: BTreeMap<Signature, usize>,
    atomic_loop: Option<Spot>,
    /// Errors that are no violations, but cut a path off: the first of each signature.
    cuts: Vec<(Fault, Spot)>,
    /// Grows with every change.
    version: u64,
}

impl Findings {
    /// As they were written down.
    pub fn restored(
        errors: u64,
        list: Vec<Finding>,
        cuts: Vec<(Fault, Spot)>,
        atomic_loop: Option<Spot>,
    ) -> Self {
        let index = list.iter().map(|finding| signature(&finding.fault)).zip(0..).collect();
        Findings { errors, list, index, atomic_loop, cuts, version: 1 }
    }

    /// The first of each.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// The first of each error that cut a path off.
    pub fn cuts(&self) -> &[(Fault, Spot)] {
        &self.cuts
    }

    /// Where an atomic sequence can run forever.
    pub fn atomic_loop(&self) -> Option<&Spot> {
        self.atomic_loop.as_ref()
    }

    /// Another number after every change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Notes an error that is no violation and after which its path does not go on.
    pub(crate) fn cut(&mut self, fault: Fault, spot: impl FnOnce() -> Spot) {
        self.version += 1;
        if !self.cuts.iter().any(|(other, _)| signature(other) == signature(&fault)) {
            self.cuts.push((fault, spot()));
        }
    }

    /// Counts a violation; `spot` is asked for only when it will be kept.
    pub(crate) fn add(&mut self, fault: Fault, depth: u64, spot: impl FnOnce() -> Spot) {
        self.errors += 1;
        self.version += 1;
        match self.index.get(&signature(&fault)) {
            Some(&at) if self.list[at].depth <= depth => {}
            Some(&at) => self.list[at] = Finding { fault, depth, spot: spot() },
            None => {
                self.index.insert(signature(&fault), self.list.len());
                self.list.push(Finding { fault, depth, spot: spot() });
            }
        }
    }

    /// Notes where an atomic sequence can run forever.
    pub(crate) fn add_atomic_loop(&mut self, spot: Spot) {
        self.version += 1;
        self.atomic_loop.get_or_insert(spot);
    }

    /// Whether an endless atomic sequence is known.
    pub(crate) fn knows_atomic_loop(&self) -> bool {
        self.atomic_loop.is_some()
    }

    /// The fewest steps to a violation so far.
    pub(crate) fn shortest(&self) -> Option<u64> {
        self.list.iter().map(|finding| finding.depth).min()
    }

    /// Adds what another worker found.
    pub(crate) fn join(&mut self, other: Findings) {
        let errors = self.errors + other.errors;
        for Finding { fault, depth, spot } in other.list {
            self.add(fault, depth, || spot);
        }
        self.errors = errors;
        for (fault, spot) in other.cuts {
            self.cut(fault, || spot);
        }
        if let Some(spot) = other.atomic_loop {
            self.add_atomic_loop(spot);
        }
    }

    /// Everything with its path.
    pub(crate) fn with_paths(self, path: impl Fn(&Spot) -> Path) -> Recorder {
        let mut recorder = Recorder::default();
        for finding in self.list {
            let path = path(&finding.spot);
            recorder.add(finding.fault, path.len() as u64, || path);
        }
        recorder.errors = self.errors;
        for (fault, spot) in self.cuts {
            recorder.cut(fault, || path(&spot));
        }
        recorder.warnings.extend(self.atomic_loop.map(|spot| Warning::AtomicLoop(path(&spot))));
        recorder
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::FaultKind;

    fn fault(line: u32) -> Fault {
        let (message, file) = (String::new(), "f".to_string());
        Fault { kind: FaultKind::Assertion, message, file, line, column: 1, process: None, pid: None }
    }

    fn spot(worker: usize) -> Spot {
        Spot { worker, expansion: 0, more: Vec::new() }
    }

    #[test]
    fn what_several_workers_found_is_reported_once_and_counted_always() {
        let (mut one, mut other) = (Findings::default(), Findings::default());
        one.add(fault(1), 5, || spot(1));
        one.add(fault(1), 5, || panic!("no nearer than the first"));
        one.add(fault(2), 7, || spot(1));
        other.add(fault(2), 3, || spot(2));
        other.add(fault(1), 9, || spot(2));
        other.add(fault(3), u64::MAX, || spot(2));
        other.add_atomic_loop(spot(2));
        assert_eq!((one.shortest(), other.shortest()), (Some(5), Some(3)));
        one.join(other);
        assert!(one.knows_atomic_loop());
        let recorder = one.with_paths(|spot| Path::from(vec![ActionId(spot.worker as u64)]));
        let found: Vec<(u32, u64)> =
            recorder.violations.iter().map(|v| (v.fault.line, v.path.values()[0].0)).collect();
        assert_eq!(found, [(1, 1), (2, 2), (3, 2)]);
        assert_eq!((recorder.errors, recorder.warnings.len()), (6, 1));
    }
}
