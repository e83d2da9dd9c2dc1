//! Exported graphs: read back and compared, counted against searches, and quotients on which formulas have the
//! answers that they have on the model.

use engine::options::{CheckOptions, Size, Source};
use engine::state_graph::{GraphOptions, MadeGraph, state_graph};
use engine::{Equivalence, Failure, Silent, graph_write};
use graph::sets::StateFacts;
use graph::{Bits, ExplicitSets, Lts, StepClass};
use mu::formula::{Quantifier, Translation};
use mu::{Arena, Atom, Formula, Steps, verdict};
use promela::source::Files;
use search::state_graph::StateGraph;
use search::state_graph::csr::Csr;

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

/// Two users of a lock, one of them impatient; a rendezvous and an atomic sequence on the way.
const LOCK: &str = "byte inside, tries; chan lock = [1] of { bit }; chan hand = [0] of { bit }; \
     active [2] proctype user() { do :: lock!1; atomic { inside++; tries = 1 - tries }; inside--; lock?1 od } \
     active proctype sender() { hand!1 } active proctype receiver() { hand?1 }";

fn made(text: &str, change: impl FnOnce(&mut GraphOptions)) -> Result<MadeGraph, Failure> {
    let source = Source { path: "m.pml".to_string(), ..Source::default() };
    let mut options = GraphOptions {
        check: CheckOptions { source, threads: Some(2), ..CheckOptions::default() },
        ..GraphOptions::default()
    };
    change(&mut options);
    let stop = engine::Stop::never();
    let taken = |made: &MadeGraph| MadeGraph { lts: copy(&made.lts), full: made.full, cut: made.cut };
    state_graph(&options, &Text(text.to_string()), &stop, &mut Silent, taken).result
}

fn copy(lts: &Lts) -> Lts {
    Lts {
        edges: (0..lts.n_states()).map(|state| lts.edges.targets(state).to_vec()).collect(),
        labels: lts.labels.clone(),
        names: lts.names.clone(),
        classes: lts.classes.clone(),
        values: lts.values.clone(),
        expressions: lts.expressions.clone(),
    }
}

/// The steps of a graph, with the words of their labels.
fn steps(lts: &Lts) -> Vec<(usize, String, usize)> {
    let of = |state: usize| {
        lts.steps(state).map(move |(label, to)| (state, lts.names[label as usize].clone(), to as usize))
    };
    (0..lts.n_states()).flat_map(of).collect()
}

#[test]
fn aldebaran_is_read_back() {
    let made = made(LOCK, |_| ()).unwrap();
    let mut text = Vec::new();
    graph_write::aldebaran(&made.lts, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    let head = format!("des (0, {}, {})", made.lts.n_edges(), made.lts.n_states());
    assert_eq!(lines.next(), Some(head.as_str()));
    let read: Vec<(usize, String, usize)> = lines
        .map(|line| {
            let inside = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).unwrap();
            let (from, rest) = inside.split_once(", ").unwrap();
            let (label, to) = rest.rsplit_once(", ").unwrap();
            (from.parse().unwrap(), label.trim_matches('"').to_string(), to.parse().unwrap())
        })
        .collect();
    assert_eq!(read, steps(&made.lts));
    assert!(read.iter().any(|(_, label, _)| label == "sender[2]: hand!1 | receiver[3]: hand?1"), "{read:?}");
}

#[test]
fn a_graph_has_the_states_that_a_search_finds() {
    for opt in ["none", "deadvars,fold"] {
        let words = ["--por", "none", "--edges", "all", "--opt", opt, "--property", "safety"];
        let source = Source { path: "m.pml".to_string(), ..Source::default() };
        let options = CheckOptions { source, ..CheckOptions::of_words(words).unwrap() };
        let stop = engine::Stop::never();
        let report = engine::check(&options, &Text(LOCK.to_string()), &stop, &mut Silent).result.unwrap();
        let found = report.properties[0].statistics;
        let made = made(LOCK, |graph| graph.check.opt.clone_from(&options.opt)).unwrap();
        assert_eq!(
            (made.lts.n_states() as u64, made.lts.n_edges() as u64),
            (found.states, found.transitions)
        );
    }
}

/// Steps have no classes here.
struct NoClasses;

impl StepClass for NoClasses {
    fn is_of(&self, _: u32, steps: Steps) -> bool {
        steps == Steps::All
    }

    fn owner(&self, _: u32) -> u32 {
        0
    }
}

/// Whether a formula about the first expression being 1 holds in the initial state of a graph.
fn holds(lts: &Lts, formula: &Formula) -> bool {
    let n = lts.n_states();
    let mut facts = [Bits::none(n), Bits::none(n), Bits::none(n)];
    for state in 0..n {
        if lts.values[lts.classes[state] as usize][0] == "1" {
            facts[0].insert(state);
        }
        if lts.edges.targets(state).is_empty() {
            facts[1].insert(state);
        }
    }
    let edges: Csr = (0..n).map(|state| lts.edges.targets(state).to_vec()).collect();
    let graph = StateGraph { edges, labels: Vec::new(), cuts: Vec::new() };
    let stop = engine::Stop::never();
    let [proposition, stuck, valid_ends] = &facts;
    let facts = StateFacts { propositions: std::slice::from_ref(proposition), stuck, valid_ends };
    let mut sets = ExplicitSets::new(&graph, &NoClasses, facts, &stop);
    let mut arena = Arena::default();
    let id = Translation::new(&mut arena, None).formula(formula);
    verdict::answer(&arena, id, &mut sets).must.has(0)
}

#[test]
fn quotients_keep_what_formulas_ask() {
    let labelled = |reduce| {
        made(LOCK, |options| {
            options.labels = Some("inside == 1, len(lock)".to_string());
            options.reduce = reduce;
        })
        .unwrap()
        .lts
    };
    let (full, strong) = (labelled(None), labelled(Some(Equivalence::Strong)));
    let branching = labelled(Some(Equivalence::Branching));
    assert!(branching.n_states() < strong.n_states() && strong.n_states() <= full.n_states());
    let p = || Box::new(Formula::Atom(Atom::Proposition(0)));
    let not = || Box::new(Formula::Not(p()));
    for q in [Quantifier::All, Quantifier::Some] {
        let possible = Box::new(Formula::Finally(Quantifier::Some, p()));
        for formula in [
            Formula::Until(q, not(), p()),
            Formula::Finally(q, p()),
            Formula::Globally(Quantifier::All, possible.clone()),
            Formula::Globally(q, Box::new(Formula::Finally(q, not()))),
        ] {
            let wanted = holds(&full, &formula);
            assert_eq!(holds(&strong, &formula), wanted, "{formula:?}");
            // Endless silent runs are not told apart, so what must happen may be lost.
            if q == Quantifier::Some {
                assert_eq!(holds(&branching, &formula), wanted, "{formula:?}");
            }
        }
        let next = Formula::Next(q, p());
        assert_eq!(holds(&strong, &next), holds(&full, &next));
    }
}

/// Levels of many states, rendezvous and atomic sequences: enough for several threads.
const WIDE: &str = "byte x; chan c = [0] of { byte }; active [3] proctype p() { byte i; \
     do :: i < 10 -> i++ :: i > 6 -> atomic { i = i / 2; x = 1 - x } :: c!i od } \
     active proctype q() { byte y; do :: c?y -> y = 0 od }";

#[test]
fn the_file_does_not_depend_on_the_number_of_threads() {
    let written = |threads: u64, reduce: Option<Equivalence>, labels: Option<&str>| {
        let made = made(WIDE, |options| {
            options.check.threads = Some(threads);
            options.labels = labels.map(str::to_string);
            options.hide = labels.is_none().then(|| "x = ".to_string());
            options.reduce = reduce;
        });
        let (lts, mut text) = (made.unwrap().lts, Vec::new());
        graph_write::aldebaran(&lts, &mut text).unwrap();
        graph_write::json(&lts, &mut text).unwrap();
        graph_write::graphviz(&lts, &mut text).unwrap();
        (lts.n_states(), text)
    };
    for (reduce, labels) in [
        (None, None),
        (None, Some("x, p[0]:i / 3, p[1]:i")),
        (Some(Equivalence::Strong), None),
        (Some(Equivalence::Branching), Some("x, p[0]:i / 3")),
    ] {
        let (states, one) = written(1, reduce, labels);
        assert!(reduce.is_some() || states > 4500, "{states}");
        for threads in [2, 4] {
            assert!(written(threads, reduce, labels).1 == one, "{threads} threads, {reduce:?}, {labels:?}");
        }
    }
}

#[test]
fn a_quotient_that_does_not_fit_is_refused() {
    // Enough for the graph, not for its reduction.
    let made = |memory| {
        made(WIDE, |options| {
            (options.check.max_memory, options.reduce) = (Some(Size(memory)), Some(Equivalence::Strong));
        })
    };
    let refused = (1..400).find_map(|step| match made(step << 14) {
        Err(Failure::Incomplete { message, .. }) if message.contains("to reduce the graph") => Some(message),
        _ => None,
    });
    assert!(refused.is_some_and(|message| message.contains("states") && message.contains("--max-memory")));
    assert!(made(1 << 30).is_ok());
}

#[test]
fn what_is_hidden_is_silent() {
    let hidden = made(LOCK, |options| {
        options.hide = Some("inside|tries".to_string());
        options.reduce = Some(Equivalence::Branching);
    });
    let lts = hidden.unwrap().lts;
    assert!(steps(&lts).iter().all(|(_, label, _)| !label.contains("inside")), "{:?}", lts.names);
    let wrong = made(LOCK, |options| options.hide = Some("(".to_string()));
    let Err(Failure::Refused { message, .. }) = wrong else { panic!("{:?}", wrong.map(|_| ())) };
    assert!(message.contains("no regular expression"), "{message}");
}

#[test]
fn a_graph_that_does_not_fit_is_not_written() {
    let few = made(LOCK, |options| options.check.max_states = Some(5));
    let Err(failure @ Failure::Incomplete { .. }) = few else { panic!() };
    assert_eq!(failure.exit_status(), 3);
    let formula = made(LOCK, |options| options.labels = Some("AG (inside == 1)".to_string()));
    let Err(Failure::Refused { message, .. }) = formula else { panic!() };
    assert!(message.contains("is a formula"), "{message}");
}
