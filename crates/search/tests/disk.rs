//! Searches whose queue and ancestries are on a disk find, count and lead back as those in memory do; what a
//! disk loses is never passed over.

use search::disk::{Disk, Place};
use search::pack::{NamedStates, WholeStates};
use search::queue::{Names, Whole};
use search::{
    Checks, Keeping, Levels, Limits, Method, Outcome, Parallel, Proviso, Reduce, Silent, StopReason, Taking,
    Task, frontier_kept, parallel_kept,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use store::{HashCompaction, Roots, SharedTable, SharedTree, Table, Tree};
use system::TransitionSystem;
use system::toy::{Counters, First, Graph, Hidden};

/// A disk that is memory; it can lose what is read after so many times.
#[derive(Debug, Default)]
struct Shelf {
    kept: Mutex<Vec<Option<Vec<u8>>>>,
    written: AtomicU64,
    reads: AtomicU64,
    most_reads: u64,
}

impl Shelf {
    fn lasting(most_reads: u64) -> Arc<Self> {
        Arc::new(Shelf { most_reads, ..Shelf::default() })
    }
}

impl Disk for Shelf {
    fn share(&self) -> u64 {
        0
    }

    fn put(&self, bytes: &[u8]) -> Option<Place> {
        self.written.fetch_add(bytes.len() as u64, Relaxed);
        let mut kept = self.kept.lock().unwrap();
        kept.push(Some(bytes.to_vec()));
        Some(Place { slots: vec![kept.len() as u64 - 1], len: bytes.len(), check: 0 })
    }

    fn get(&self, place: &Place) -> Result<Vec<u8>, StopReason> {
        match self.reads.fetch_add(1, Relaxed) {
            n if n >= self.most_reads => Err(StopReason::Disk),
            _ => Ok(self.kept.lock().unwrap()[place.slots[0] as usize].clone().unwrap()),
        }
    }

    fn forget(&self, place: Place) {
        assert!(self.kept.lock().unwrap()[place.slots[0] as usize].take().is_some());
    }
}

const WAYS: u64 = 9;

/// Nodes of the wide graph that lead on.
const WIDE: u32 = 200_000;

/// A tree, three edges from each node; all others are ends, one of which is wrong.
fn wide() -> Graph {
    tree(&format!("; bad {}", 3 * WIDE - 1))
}

fn tree(more: &str) -> Graph {
    let ends: Vec<String> = (WIDE..=3 * WIDE).map(|node| node.to_string()).collect();
    let mut graph = Graph::parse(&format!("end {}{more}", ends.join(" "))).unwrap();
    for node in 0..WIDE {
        (1..4).for_each(|i| graph.edge(node, 3 * node + i));
    }
    graph
}

/// A search in one of several ways: orders, stores and numbers of workers.
fn search(way: u64, system: &dyn TransitionSystem, task: &Task<'_>, disk: Option<&Arc<dyn Disk>>) -> Outcome {
    let keeping = Keeping { disk, ..Keeping::NONE };
    let whole = || Whole::new(system.hidden_bytes(), task.is_lean());
    let by = |taking, workers| Parallel { system, taking, workers, alone: Some(10) };
    let named = system.hidden_bytes() == 0;
    let (table, tree) = (SharedTable::new(u64::MAX), SharedTree::new(Roots::Cleary, u64::MAX));
    let (mut plain, mut small) = (Table::default(), Tree::new(Roots::Roomy, u64::MAX));
    let silent = &mut Silent;
    match way {
        0 if named => {
            frontier_kept(system, &mut plain, Names::default(), Levels::Edges, task, silent, keeping)
        }
        1 if named => {
            frontier_kept(system, &mut small, Names::default(), Levels::Steps, task, silent, keeping)
        }
        0 | 2 => frontier_kept(system, &mut plain, whole(), Levels::Edges, task, silent, keeping),
        1 | 3 => frontier_kept(system, &mut plain, whole(), Levels::Steps, task, silent, keeping),
        4 if named => {
            parallel_kept::<_, NamedStates<_>>(by(Taking::Oldest, 3), &|| tree.hand(), task, silent, keeping)
        }
        5 if named => {
            parallel_kept::<_, NamedStates<_>>(by(Taking::Newest, 2), &|| table.hand(), task, silent, keeping)
        }
        4 | 6 => {
            parallel_kept::<_, WholeStates>(by(Taking::Oldest, 2), &|| table.hand(), task, silent, keeping)
        }
        5 | 7 => {
            parallel_kept::<_, WholeStates>(by(Taking::Newest, 3), &|| table.hand(), task, silent, keeping)
        }
        _ => parallel_kept::<_, WholeStates>(by(Taking::Levels, 3), &|| table.hand(), task, silent, keeping),
    }
}

fn task<'a>(all_errors: bool, stop: &'a AtomicBool, reduce: Option<Reduce<'a>>) -> Task<'a> {
    Task { checks: Checks::SAFETY, all_errors, seed: None, limits: Limits::default(), stop, reduce }
}

fn counts(outcome: &Outcome) -> (u64, u64, u64, u64, bool) {
    let s = &outcome.statistics;
    (s.states, s.transitions, s.matched, outcome.errors, outcome.exhausted.is_some())
}

/// Compares all ways with and without a disk; says how many bytes were written.
fn compare(system: &dyn TransitionSystem, reduce: Option<Reduce<'_>>) -> u64 {
    let stop = AtomicBool::new(false);
    let task = task(true, &stop, reduce);
    let mut written = 0;
    for way in 0..WAYS {
        let shelf = Shelf::lasting(u64::MAX);
        let disk: Arc<dyn Disk> = Arc::clone(&shelf) as _;
        let [plain, other] = [None, Some(&disk)].map(|disk| search(way, system, &task, disk));
        // What several workers leave out depends on their timing.
        if way < 4 || reduce.is_none() {
            assert_eq!(counts(&plain), counts(&other), "way {way}");
        }
        assert_eq!(plain.errors > 0, other.errors > 0, "way {way}");
        if way < 4 {
            let paths =
                |outcome: &Outcome| outcome.violations.iter().map(|v| v.path.len()).collect::<Vec<_>>();
            assert_eq!(paths(&plain), paths(&other), "way {way}");
        }
        written += shelf.written.load(Relaxed);
    }
    written
}

#[test]
fn counts_are_those_of_searches_in_memory() {
    assert!(compare(&wide(), None) > 10 << 20);
    compare(&Counters { n: 6, max: 6 }, None);
    compare(&Hidden, None);
    for seed in 0..20 {
        compare(&Graph::random(300, seed), None);
    }
}

#[test]
fn reductions_keep_their_promises() {
    let counters = Counters { n: 5, max: 6 };
    for proviso in [Proviso::None, Proviso::ClosedSet] {
        compare(&counters, Some(Reduce { by: &First, method: Method::Sets, proviso }));
    }
}

/// The way to an error leads through all that is on the disk.
#[test]
fn paths_lead_back_from_the_disk() {
    let graph = wide();
    let stop = AtomicBool::new(false);
    for way in 0..WAYS {
        let shelf = Shelf::lasting(u64::MAX);
        let disk: Arc<dyn Disk> = Arc::clone(&shelf) as _;
        let outcome = search(way, &graph, &task(true, &stop, None), Some(&disk));
        assert!(shelf.written.load(Relaxed) > 100_000, "way {way}");
        let [violation] = &outcome.violations[..] else { panic!("way {way}: {:?}", outcome.violations) };
        let mut at = 0;
        for action in &violation.path {
            let (from, to) = graph.edges()[action.0 as usize];
            assert_eq!(from, at, "way {way}");
            at = to;
        }
        assert_eq!(at, 3 * WIDE - 1, "way {way}");
    }
}

/// Whatever is lost of what waits, no search says that it saw all. (Nothing is wrong here, so no way back is read.)
#[test]
fn what_is_lost_is_never_passed_over() {
    let graph = tree("");
    let stop = AtomicBool::new(false);
    for way in 0..WAYS {
        for reads in 0..4 {
            let shelf = Shelf::lasting(reads);
            let disk: Arc<dyn Disk> = Arc::clone(&shelf) as _;
            let outcome = search(way, &graph, &task(true, &stop, None), Some(&disk));
            let is_lost = shelf.reads.load(Relaxed) > reads;
            // Who takes the newest first may need nothing back.
            assert!(is_lost || matches!(way, 5 | 7), "way {way}");
            let told = (outcome.stop == StopReason::Disk, outcome.exhausted.is_none());
            assert_eq!(told, (is_lost, is_lost), "way {way}, {reads} reads");
        }
    }
}

/// Memory that what waits takes stays small, however much it is: that is what a disk is for.
#[test]
fn memory_stays_small() {
    struct Peak(u64);
    impl search::Observer for Peak {
        fn progress(&mut self, snapshot: &search::Snapshot) -> search::Flow {
            self.0 = self.0.max(snapshot.memory);
            search::Flow::Continue
        }
    }
    let counters = Counters { n: 8, max: 5 };
    let stop = AtomicBool::new(false);
    let disk: Arc<dyn Disk> = Shelf::lasting(u64::MAX) as _;
    let peak = |disk| {
        let (mut peak, mut store) = (Peak(0), HashCompaction::new(u64::MAX));
        let (whole, keeping) = (Whole::new(0, false), Keeping { disk, ..Keeping::NONE });
        let task = task(false, &stop, None);
        let outcome = frontier_kept(&counters, &mut store, whole, Levels::Edges, &task, &mut peak, keeping);
        assert_eq!(outcome.statistics.states, 6u64.pow(8));
        (peak.0, outcome.statistics.state_bytes)
    };
    let ((without, _), (with, store)) = (peak(None), peak(Some(&disk)));
    assert!(with < store + (3 << 20) && with + (1 << 20) < without, "{with} {without} {store}");
}
