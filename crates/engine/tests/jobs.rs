//! Several checks at once in one process: each has its own stop flag, its own memory, and its own answer.

use engine::options::{Por, Size, Value};
use engine::report::{Reason, Verdict};
use engine::{CheckOptions, Event, Job, Kept, Report, Session, Source, Stop};
use promela::source::Files;
use std::sync::Arc;

/// More states than anybody can wait for.
const ENDLESS: &str =
    "int a, b; active proctype P() { do :: a < b + 9 -> a++ :: b < a + 9 -> b++ :: a-- od }";
const WRONG: &str =
    "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> assert(false) od }\nltl p { [] (x < 3) }";
const RIGHT: &str = "byte x; active proctype P() { do :: x = 1 - x od }\nltl p { [] (x < 2) }";

struct Text(&'static str);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_string())
    }
}

fn session(text: &'static str) -> Arc<Session> {
    let source = Source { path: "m.pml".to_string(), ..Source::default() };
    Arc::new(Session::load(&source, &Text(text), &Stop::never()).expect("a session"))
}

fn options(max_memory: &str) -> CheckOptions {
    let max_memory = Some(Size::read("--max-memory", max_memory).expect("a size"));
    CheckOptions { max_memory, threads: Some(1), por: Some(Por::None), ..CheckOptions::default() }
}

fn start(session: &Arc<Session>, options: &CheckOptions) -> Job {
    Job::start(session, options).expect("a job")
}

fn report(job: Job) -> Report {
    job.wait().result.expect("a report")
}

/// Waits until a job is in the middle of its search.
fn until_it_searches(job: &Job) {
    while let Ok(event) = job.events().recv() {
        if matches!(event, Event::Progress(snapshot) if snapshot.states > 0) {
            return;
        }
    }
    panic!("the search has ended");
}

#[test]
fn two_at_once_and_one_is_cancelled() {
    let (endless, right) = (session(ENDLESS), session(RIGHT));
    let (one, two) = (start(&endless, &options("2G")), start(&endless, &options("2G")));
    until_it_searches(&one);
    until_it_searches(&two);
    one.cancel();
    let cancelled = report(one);
    assert_eq!((cancelled.verdict(), cancelled.exit_status()), ("unknown", 130));
    // The other one goes on, and a third one comes to its end beside it.
    assert_eq!(report(start(&right, &options("2G"))).verdict(), "holds");
    until_it_searches(&two);
    assert!(!two.is_finished());
    // To let go of a job cancels it.
    drop(two);
}

#[test]
fn each_has_its_own_memory() {
    // Memory that the process has for other reasons is no matter of a check.
    let ballast = vec![1u8; 300 << 20];
    let endless = session(ENDLESS);
    let jobs = ["24M", "96M"].map(|limit| start(&endless, &options(limit)));
    let ends = jobs.map(report);
    let used = ends.each_ref().map(|end| {
        let property = &end.properties[0];
        assert!(matches!(property.verdict, Verdict::Unknown(Reason::Memory(_))), "{:?}", property.verdict);
        (property.statistics.state_bytes, property.statistics.states)
    });
    let [(small, few), (large, many)] = used;
    assert!(small <= 24 << 20 && large <= 96 << 20, "{used:?}");
    // Both had a good part of what they may have.
    assert!(few > 100_000 && many > 2 * few, "{used:?}");
    assert_eq!(std::hint::black_box(&ballast)[ballast.len() - 1], 1);
}

#[test]
fn a_session_serves_many_checks_and_no_file_is_written() {
    let wrong = session(WRONG);
    let files = || std::fs::read_dir(".").expect("a folder").count();
    let before = files();
    for (property, kind) in [("safety", "assertion"), ("ltl:p", "claim-end"), ("safety", "assertion")] {
        let options = CheckOptions { properties: vec![property.to_string()], ..options("1G") };
        let job = start(&wrong, &options);
        let told: Vec<String> = job
            .events()
            .iter()
            .filter_map(|event| match event {
                Event::Violation(fault) => Some(fault.kind.name().to_string()),
                _ => None,
            })
            .collect();
        let report = report(job);
        let shown: Vec<_> = report.properties[0].verdict.violations().collect();
        assert_eq!((shown.len(), told), (1, vec![kind.to_string()]));
        assert_eq!((&shown[0].kept, shown[0].evidence.trail().steps.len() > 2), (&Kept::InReport, true));
        let json = engine::report_json::json(&report);
        assert!(
            json["properties"][0]["violations"][0]["steps"].as_array().is_some_and(|steps| steps.len() > 2)
        );
    }
    assert_eq!(files(), before);
}

#[test]
fn a_session_takes_formulas_that_it_was_not_loaded_with() {
    let right = session(RIGHT);
    let ask = |formula: &str| {
        let ltl = Some(formula.to_string());
        let options = CheckOptions { ltl, properties: vec!["ltl:cli".to_string()], ..options("1G") };
        let job = start(&right, &options);
        report(job).verdict()
    };
    assert_eq!([ask("[] (x < 2)"), ask("<> (x == 2)")], ["holds", "violated"]);
}
