//! Runs as data: every moment has its state, edges, changes and propositions; runs branch, are undone, and
//! return to their counterexample; a run lives on a thread of its own.

use engine::simulate::SimulateOptions;
use engine::{CheckOptions, Session, Silent, Source, Stop};
use explore::{Ended, RunThread, automata};
use promela::source::Files;
use serde_json::Value;
use std::sync::Arc;

/// Two processes; the property fails when both have counted.
const MODEL: &str = "\
mtype = { ping, pong };
chan q = [1] of { mtype };
byte n;
ltl low { [] (n != 2) }
active proctype P() { byte own = 7; q!ping; atomic { n++; own = n } }
active proctype Q() { mtype got; q?got; n = n + 1 }
";

struct OneFile(&'static str);

impl Files for OneFile {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == "m.pml" { Ok(self.0.to_string()) } else { Err("no such file".to_string()) }
    }
}

fn source() -> Source {
    Source { path: "m.pml".to_string(), ..Source::default() }
}

fn session() -> Session {
    Session::load(&source(), &OneFile(MODEL), &Stop::never()).unwrap()
}

/// The counterexample of a property, on a thread.
fn counterexample(property: &str) -> RunThread {
    let session = session();
    let options =
        CheckOptions { source: source(), properties: vec![property.to_string()], ..CheckOptions::default() };
    let report = session.check(&options, &Stop::never(), &mut Silent).result.unwrap();
    let shown = report.properties[0].verdict.violations().next().expect("a violation");
    RunThread::follow(Arc::new(session), shown.evidence.trail().clone()).unwrap()
}

fn simulated() -> RunThread {
    let options = SimulateOptions { source: source(), seed: 1, steps: None };
    RunThread::simulate(options, OneFile(MODEL), Stop::never(), Box::new(|| None)).unwrap()
}

fn moment(run: &RunThread, number: usize) -> Value {
    run.ask(move |e| serde_json::to_value(e.moment(number)).unwrap()).unwrap()
}

#[test]
fn turns_shorten_a_run_and_a_path_leads_there_again() {
    let run = counterexample("ltl:low");
    let (turns, steps) = run
        .ask(|e| {
            let pids: Vec<u32> = (1..=e.run().len()).map(|n| e.run().info(n).unwrap().pid).collect();
            (e.turns(1), pids)
        })
        .unwrap();
    // Every step is in one turn, of its process, and neighbours differ.
    let of = |step: usize| turns.turns.iter().filter(move |t| (t.from..=t.to).contains(&step));
    for (at, pid) in steps.iter().enumerate() {
        let found: Vec<_> = of(at + 1).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(turns.actors[found[0].actor].pid, Some(*pid).filter(|pid| *pid != system::NOBODY));
    }
    assert!(
        turns.turns.windows(2).all(|pair| pair[0].actor != pair[1].actor && pair[0].to + 1 == pair[1].from)
    );
    assert!(turns.go_on.is_none());

    let run = simulated();
    run.ask(|e| e.random(5, &Stop::never(), |_| ()).1).unwrap().unwrap();
    let (path, before) = run.ask(|e| (e.path(0).unwrap(), e.run().snapshot(5))).unwrap();
    assert_eq!(path.len(), 5);
    let again = simulated();
    let given = path.clone();
    assert_eq!(again.ask(move |e| e.retrace(0, &given)).unwrap(), (5, Ok(())));
    assert_eq!(again.ask(|e| e.run().snapshot(5)).unwrap(), before);
    // Where a choice is not there, what was taken stays.
    let (taken, why) = again.ask(move |e| e.retrace(0, &[path[0], 99])).unwrap();
    assert!(taken == 1 && why.is_err());
}

#[test]
fn every_moment_is_data() {
    let run = simulated();
    let first = moment(&run, 0);
    assert_eq!(first["choices"].as_array().unwrap().len(), 1);
    assert_eq!(first["choices"][0]["text"], "q!ping");
    assert_eq!(first["step"], Value::Null);
    run.ask(|e| e.take(0, 1)).unwrap().unwrap();
    let second = moment(&run, 1);
    let step = &second["step"];
    let moves = &step["moves"][0];
    assert_eq!((&moves["pid"], &moves["proctype"]), (&Value::from(0), &Value::from("P")));
    let automata = automata(session().program().unwrap(), &session().sources);
    let taken = automata[0].edges.iter().find(|edge| moves["edge"] == edge.edge).unwrap();
    assert_eq!((taken.text.as_str(), taken.range.line, taken.range.column), ("q!ping", 5, 37));
    assert_eq!((taken.range.end_line, taken.range.end_column), (5, 43));
    assert_eq!((&moves["from"], &moves["to"]), (&Value::from(taken.from), &Value::from(taken.to)));
    assert_eq!(second["state"]["processes"][0]["location"], moves["to"]);
    let change = &step["changes"][0];
    assert_eq!((&change["scope"], &change["path"][0]), (&Value::from("channel"), &Value::from("q")));
    assert_eq!(
        (change["before"].to_string(), change["after"].to_string()),
        ("[]".into(), "[[\"ping\"]]".into())
    );
    assert!(run.ask(|e| e.moment(2).is_none()).unwrap());
}

#[test]
fn a_counterexample_is_explored_and_returned_to() {
    let run = counterexample("ltl:low");
    let len = run.ask(|e| e.followed().unwrap().len()).unwrap();
    let last = moment(&run, len);
    assert_eq!(last["propositions"][0]["text"], "n != 2");
    assert_eq!(last["propositions"][0]["holds"], false);
    assert_eq!(moment(&run, 0)["propositions"][0]["holds"], true);
    let taken = |number: usize| moment(&run, number)["choices"].as_array().unwrap().clone();
    assert!(taken(1).iter().any(|choice| choice["taken"] == true));
    // Another way from the second moment.
    let other = taken(1).iter().position(|choice| choice["taken"] == false).expect("two can move") + 1;
    run.ask(move |e| e.take(1, other)).unwrap().unwrap();
    assert!(!run.ask(|e| e.is_on_trail()).unwrap());
    assert_eq!(run.ask(|e| e.run().len()).unwrap(), 2);
    let (more, result) = run.ask(|e| e.random(100, &Stop::never(), |_| ())).unwrap();
    assert!(more > 0 && result.is_ok());
    assert_eq!(run.ask(|e| e.undo(1000)).unwrap(), 2 + more);
    run.ask(|e| e.return_to_trail()).unwrap().unwrap();
    assert!(run.ask(|e| e.is_on_trail()).unwrap());
    assert_eq!(moment(&run, len), last);
    assert!(run.ask(|e| e.take(1, 99)).unwrap().is_err());
    assert!(run.finish().result.is_ok());
}

#[test]
fn expressions_are_evaluated_where_they_are_asked() {
    let run = simulated();
    let value = |moment: usize, pid: Option<u32>, text: &'static str| {
        run.ask(move |e| e.evaluate(moment, pid, text).map(|value| value.to_string())).unwrap()
    };
    run.ask(|e| e.take(0, 1)).unwrap().unwrap();
    assert_eq!(value(0, Some(0), "own + n").unwrap(), "7");
    assert_eq!(value(0, None, "len(q) == 0").unwrap(), "true");
    assert_eq!(value(1, None, "q?[ping]").unwrap(), "true");
    assert_eq!(value(1, Some(1), "got").unwrap(), "0");
    assert!(value(1, None, "own").is_err());
    assert!(value(1, Some(9), "n").is_err());
}

#[test]
fn a_model_that_cannot_run_says_why() {
    let options = SimulateOptions { source: source(), seed: 1, steps: None };
    let run = RunThread::simulate(options, OneFile("active proctype p( {"), Stop::never(), Box::new(|| None));
    let run = run.unwrap();
    assert_eq!(run.ask(|_| ()), Err(Ended));
    let answer = run.finish();
    assert!(answer.result.is_err() && !answer.notices.is_empty());
}

#[test]
fn a_command_that_panics_ends_its_run_only() {
    let (broken, other) = (simulated(), simulated());
    let none: Vec<u32> = Vec::new();
    assert_eq!(broken.ask(move |e| none[e.run().len()]), Err(Ended));
    assert!(matches!(broken.finish().result, Err(engine::Failure::Internal(_))));
    assert_eq!(other.ask(|e| e.run().len()), Ok(0));
}
