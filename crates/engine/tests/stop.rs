//! Whatever ends a search ends it for all workers, in every search and store, with a report that says so.
//!
//! The model has more states than anybody can explore, so a worker that does not stop keeps the test from
//! ending. Nothing here looks at a clock but the search itself.

use std::sync::atomic::Ordering;

use engine::options::{CheckOptions, Source, Value};
use engine::report::{Reason, Verdict};
use engine::{Client, Flow, Observer, Report, Silent, Snapshot, Stop};
use promela::source::Files;

/// Six counters, each of its own: 256^6 states. The property holds, but that would have to be seen.
const MODEL: &str =
    "int big; active [6] proctype P() { byte x; do :: x++; big = big | x od }\nltl p { []<> (big < 300) }\n";

struct Text;

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(MODEL.to_string())
    }
}

/// Interrupts the search as soon as it hears of it.
struct Interrupter<'a>(&'a Stop);

impl Observer for Interrupter<'_> {
    fn progress(&mut self, _: &Snapshot) -> Flow {
        self.0.flag().store(true, Ordering::Relaxed);
        Flow::Continue
    }
}

impl Client for Interrupter<'_> {}

fn some<T: Value>(word: &str) -> Option<T> {
    Some(T::read("", word).unwrap())
}

fn options(search: &str, store: &str, property: &str) -> CheckOptions {
    CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        properties: vec![property.to_string()],
        search: some(search),
        store: some(store),
        por: some("none"),
        opt: some("none"),
        threads: Some(if search == "ndfs-dual" { 2 } else { 4 }),
        alone: Some(0),
        ..CheckOptions::default()
    }
}

fn check(options: &CheckOptions, stop: &Stop, client: &mut (dyn Client + Send)) -> Report {
    match engine::check(options, &Text, stop, client).result {
        Ok(report) => report,
        Err(failure) => panic!("{failure:?}\n{options:?}"),
    }
}

/// The report says that nothing is known, and why.
fn is_open(report: &Report, expected: impl Fn(&Reason) -> bool, options: &CheckOptions) {
    let property = &report.properties[0];
    let Verdict::Unknown(reason) = &property.verdict else { panic!("{property:?}\n{options:?}") };
    assert!(expected(reason), "{reason:?}\n{options:?}");
    assert!(!property.exhaustive && property.errors == 0, "{options:?}");
    // On a busy machine the time may be over before the search begins.
    let begun = !matches!(reason, Reason::Unprepared(_));
    assert!(property.statistics.states > 0 || !begun, "{options:?}");
    assert_eq!(report.exit_status(), if property.interrupted { 130 } else { 3 }, "{options:?}");
}

/// All that can end a search, but memory.
fn stops(options: &CheckOptions) {
    let (running, stop) = (Stop::never(), Stop::never());
    let report = check(options, &stop, &mut Interrupter(&stop));
    is_open(&report, |reason| *reason == Reason::Interrupted, options);
    assert!(report.interrupted());
    let timed = CheckOptions { timeout: some("0.05"), ..options.clone() };
    let is_time = |reason: &Reason| matches!(reason, Reason::Time(_) | Reason::Unprepared(_));
    is_open(&check(&timed, &running, &mut Silent), is_time, &timed);
    let counted = CheckOptions { max_states: Some(3000), ..options.clone() };
    let report = check(&counted, &running, &mut Silent);
    is_open(&report, |reason| *reason == Reason::States(3000), &counted);
    assert_eq!(report.properties[0].statistics.states, 3000, "{counted:?}");
}

fn stops_at_memory(options: &CheckOptions) {
    let options = CheckOptions { max_memory: some("24M"), ..options.clone() };
    let report = check(&options, &Stop::never(), &mut Silent);
    is_open(&report, |reason| matches!(reason, Reason::Memory(_)), &options);
}

fn safety(search: &str) {
    for store in ["table", "tree", "cleary", "collapse", "hc", "bitstate"] {
        let options = options(search, store, "safety");
        stops(&options);
        // The size of a bit array is the limit: it never runs out.
        if store != "bitstate" {
            stops_at_memory(&options);
        }
    }
}

#[test]
fn frontier_stops() {
    safety("frontier");
}

#[test]
fn breadth_first_stops() {
    safety("bfs");
}

#[test]
fn pseudo_depth_first_stops() {
    safety("dfs");
}

#[test]
fn handoff_stops() {
    safety("handoff");
}

#[test]
fn searches_for_cycles_stop() {
    for store in ["table", "tree", "cleary", "collapse"] {
        for (search, fair) in [("cndfs", None), ("ndfs-dual", None), ("ufscc", None), ("ufscc", some("weak"))]
        {
            let options = CheckOptions { fair, ..options(search, store, "ltl:p") };
            stops(&options);
            stops_at_memory(&options);
        }
    }
}

#[test]
fn lossy_searches_for_cycles_stop() {
    for store in ["hc", "bitstate"] {
        stops(&CheckOptions { threads: Some(1), ..options("ndfs", store, "ltl:p") });
    }
}
