//! Store buffers against the axioms of memory models: the outcomes of straight-line programs are the same, and
//! whatever searches a model with buffers comes to the same verdict.

use engine::options::{CheckOptions, Memory};
use engine::report::{PropertyReport, Report, Verdict};
use engine::session::Session;
use engine::{Failure, Silent, Source, Stop};
use promela::source::Files;
use std::collections::{BTreeSet, HashSet};
use system::{Explain, Successors, SystemExt, TransitionSystem, Value};
use testkit::buffers::{About, Looping};
use testkit::litmus::{Litmus, Model, Outcome, shapes};
use testkit::rng::Rng;
use trace::MemoryOptions;

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

fn source(model: Model, bound: u32, plain: &[&str]) -> Source {
    let mut source = Source { path: "m.pml".to_string(), ..Source::default() };
    source.options.memory = (model != Model::Sc).then(|| MemoryOptions {
        model: model.word().to_string(),
        bound,
        plain: plain.iter().map(|name| (*name).to_string()).collect(),
        ..MemoryOptions::default()
    });
    source
}

fn session(text: &str, source: &Source) -> Session {
    let session = Session::load(source, &Text(text.to_string()), &Stop::never()).expect("options");
    assert!(session.program.is_some(), "{:?}", session.notices);
    session
}

/// The values of the global variables in all states without successors.
fn ends(session: &Session) -> BTreeSet<Vec<(String, i64)>> {
    let machine = session.machine().expect("a machine");
    let mut first = Vec::new();
    machine.initial(&mut first).expect("an initial state");
    let (mut seen, mut open) = (HashSet::from([first.clone()]), vec![first]);
    let mut found = BTreeSet::new();
    while let Some(state) = open.pop() {
        let mut out = Successors::default();
        machine.expand(&state, &mut out);
        if out.list.is_empty() {
            let value = |(name, value): (String, Value)| match value {
                Value::Int(value) => (name, value),
                other => panic!("{other:?}"),
            };
            found.insert(machine.snapshot(&state).globals.into_iter().map(value).collect());
        }
        for outcome in &out.list {
            let next = out.state(outcome).expect("no error").to_vec();
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

/// The outcomes of a program with buffers of this size.
fn outcomes(litmus: &Litmus, model: Model, bound: u32) -> BTreeSet<Outcome> {
    let session = session(&litmus.promela(), &source(model, bound, &["none"]));
    let outcome = |values: Vec<(String, i64)>| {
        let value = |name: String| values.iter().find(|(own, _)| *own == name).map_or(0, |(_, v)| *v as u8);
        let loads = (0..litmus.loads()).map(|load| value(format!("r{load}")));
        loads.chain((0..litmus.cells()).map(|cell| value(format!("c{cell}")))).collect()
    };
    ends(&session).into_iter().map(outcome).collect()
}

#[test]
fn the_known_shapes_have_the_outcomes_of_the_axioms() {
    for shape in shapes() {
        for model in Model::ALL {
            let bound = shape.litmus.most_stores().max(1) as u32;
            for bound in [bound, bound + 1] {
                let found = outcomes(&shape.litmus, model, bound);
                assert_eq!(found, shape.litmus.outcomes(model), "{} under {model:?}", shape.litmus.name);
            }
        }
    }
}

#[test]
fn random_programs_have_the_outcomes_of_the_axioms() {
    let mut rng = Rng::new(2026);
    let mut relaxed = [0, 0];
    for number in 0..300 {
        let litmus = Litmus::random(&mut rng, format!("random {number}"));
        let bound = litmus.most_stores().max(1) as u32;
        let all = Model::ALL.map(|model| {
            let found = outcomes(&litmus, model, bound);
            assert_eq!(found, litmus.outcomes(model), "{model:?}: {}", litmus.promela());
            found
        });
        relaxed[0] += usize::from(all[1] != all[0]);
        relaxed[1] += usize::from(all[2] != all[1]);
    }
    // The programs are such that the models differ.
    assert!(relaxed[0] > 25 && relaxed[1] > 25, "{relaxed:?}");
}

#[test]
fn a_small_buffer_hides_outcomes_and_a_larger_one_adds_none() {
    // SB with a store in between.
    let text = "byte c0; byte c1; byte c2; byte r0; byte r1; \
                active proctype P() { c0 = 1; c2 = 1; r0 = c1 } active proctype Q() { c1 = 1; c2 = 2; r1 = c0 }";
    let both = |bound| {
        let session = session(text, &source(Model::Tso, bound, &["none"]));
        let zero = |values: &Vec<(String, i64)>| {
            values.iter().filter(|(name, value)| name.starts_with('r') && *value == 0).count() == 2
        };
        (ends(&session).iter().any(zero), ends(&session))
    };
    assert!(!both(1).0 && both(2).0);
    assert_eq!(both(2).1, both(3).1);
}

/// The verdict of a check with these words.
fn verdict_of(text: &str, memory: Memory, bound: u64, words: &str) -> (String, Option<bool>) {
    let report = checked(text, (memory, bound), words, None);
    let report = report.unwrap_or_else(|failure| panic!("{words}: {failure:?}\n{text}"));
    (report.verdict().to_string(), report.weak_memory.map(|memory| memory.exact))
}

const CONFIGURATIONS: &[&str] = &[
    "--por none --opt none --exec interp",
    "--por none",
    "--por stubborn",
    "--por ample",
    "--por twophase",
    "--por stubborn --search dfs --proviso stack --threads 1",
    "--por none --search dfs --sleep --threads 1",
    "--search bfs",
    "--search handoff --threads 2",
    "--store tree",
    "--store cleary",
    "--store collapse",
    "--threads 2 --store tree",
    "--opt fold",
    "--opt merge --por none",
    "--opt deadvars --por none",
    "--engine symbolic",
    "--edges all --por none",
];

#[test]
fn every_search_agrees_on_programs_with_buffers() {
    let mut rng = Rng::new(77);
    let mut seen = [0, 0];
    for number in 0..12 {
        let litmus = Litmus::random(&mut rng, format!("random {number}"));
        for (model, memory) in [(Model::Tso, Memory::Tso), (Model::Pso, Memory::Pso)] {
            // The observer reads what was loaded, so that these are stores to memory as well.
            let bound = litmus.threads.iter().map(Vec::len).max().unwrap_or(1) as u64;
            let (weak, sc) = (litmus.outcomes(model), litmus.outcomes(Model::Sc));
            // An outcome that only the weak model has, or one that nobody has.
            let asked = weak.difference(&sc).next().cloned();
            let asked = asked.unwrap_or_else(|| vec![99; litmus.loads() + litmus.cells()]);
            let expected = if weak.contains(&asked) { "violated" } else { "holds" };
            seen[usize::from(expected == "holds")] += 1;
            let asked: Vec<(usize, u8)> = asked.into_iter().enumerate().collect();
            let text = litmus.promela_asserting(&asked);
            for words in CONFIGURATIONS {
                let (found, exact) = verdict_of(&text, memory, bound, words);
                assert_eq!(found, expected, "{words} --memory {}\n{text}", memory_word(memory));
                assert!(found != "holds" || exact == Some(true), "{words}\n{text}");
            }
        }
    }
    assert!(seen[0] >= 3 && seen[1] >= 3, "{seen:?}");
}

fn memory_word(memory: Memory) -> &'static str {
    engine::options::Choice::word(memory)
}

/// A check with these words, and a formula of branching time if there is one.
fn checked(text: &str, memory: (Memory, u64), words: &str, ctl: Option<&str>) -> Result<Report, Failure> {
    let mut options = CheckOptions::of_words(words.split_whitespace()).expect("options");
    options.source.path = "m.pml".to_string();
    options.source.options.ctl = ctl.map(str::to_string);
    options.memory = Some(memory.0);
    options.memory_bound = (memory.0 != Memory::Sc).then_some(memory.1);
    engine::check(&options, &Text(text.to_string()), &Stop::never(), &mut Silent).result
}

/// The verdicts of a check, by property.
fn verdicts_of(text: &str, memory: (Memory, u64), words: &str) -> Vec<(String, &'static str)> {
    let report = checked(text, memory, words, None);
    let report = report.unwrap_or_else(|failure| panic!("{words}: {failure:?}\n{text}"));
    let verdict = |property: &PropertyReport| match property.verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(..) => "violated",
        _ => "unknown",
    };
    report.properties.iter().map(|property| (property.name.clone(), verdict(property))).collect()
}

/// A store must reach memory some time, whatever its process does; and it is the memory that moves then, not
/// the process.
#[test]
fn fairness_is_about_buffers_too() {
    let memories = [(Memory::Tso, 2), (Memory::Pso, 2)];
    // The process goes on forever, and under PSO also the buffer of another variable.
    let texts = [
        "byte x, y; active proctype P() { x = 1; do :: skip od } \
         active proctype Q() { do :: y = x od } ltl f { <> (x == 1) }",
        "byte x, y; active proctype P() { x = 1; do :: y = 1 - y od } \
         active proctype Q() { byte r; do :: r = x; r = y od } ltl f { <> (x == 1) }",
    ];
    for (text, memory) in texts.into_iter().flat_map(|text| memories.map(|memory| (text, memory))) {
        let verdict = |words: &str| verdicts_of(text, memory, &format!("--property ltl:f {words}"))[0].1;
        for words in ["", "--search scc", "--threads 2 --alone 0"] {
            assert_eq!(verdict(words), "violated", "{words} {memory:?}");
            assert_eq!(verdict(&format!("--fair weak {words}")), "holds", "{words} {memory:?}");
        }
        assert_eq!(verdict("--fair strong"), "holds");
        let ctl = |words: &str| {
            let words = format!("--property ctl:cli --por none {words}");
            checked(text, memory, &words, Some("AF x == 1")).map(|report| report.verdict())
        };
        assert_eq!(ctl("").expect("an answer"), "violated");
        assert_eq!(ctl("--fair weak").expect("an answer"), "holds");
        assert!(ctl("--fair weak --engine symbolic").is_err(), "fairness of buffers is refused there");
    }
    // A process that can always move must, though its buffer does: here it may not only drain.
    let text = "byte x, y; active proctype P() { x = 1; y = 1 } \
                active proctype Q() { byte r; do :: r = x; r = y od } ltl f { <> (y == 1) }";
    for memory in memories {
        assert_eq!(verdicts_of(text, memory, "--property ltl:f --fair weak")[0].1, "holds");
        assert_eq!(verdicts_of(text, memory, "--property ltl:f")[0].1, "violated");
    }
}

/// Formulas of looping programs hold as they do where every buffer is written out as a process.
#[test]
fn runs_of_looping_programs_are_those_of_buffers_written_by_hand() {
    const WAYS: &[&str] = &[
        "",
        "--search scc --por none",
        "--fair weak",
        "--fair weak --threads 2 --alone 0",
        "--fair strong",
        "--fair weak --exec interp --opt none",
        "--search ndfs --store tree",
        "--search cndfs --threads 2 --alone 0",
        "--search ufscc --threads 2 --alone 0",
        "--search ndfs-dual --threads 2",
        "--por stubborn",
        "--fair strong --store cleary",
    ];
    let mut rng = Rng::new(260);
    let properties = "--property ltl:f0 --property ltl:f1 --property ltl:f2 --property ltl:f3";
    let (mut differ, mut violated) = (0, 0);
    for number in 0..24 {
        let looping = Looping::random(&mut rng);
        let bound = 1 + number / 2 % 2;
        let (model, memory) = [(Model::Tso, Memory::Tso), (Model::Pso, Memory::Pso)][number % 2];
        let by_hand = looping.with_daemons(model, bound, About::Runs);
        let ours = looping.promela(About::Runs);
        let expected = ["", "--fair weak", "--fair strong"]
            .map(|fair| verdicts_of(&by_hand, (Memory::Sc, 0), &format!("{properties} {fair}")));
        differ += usize::from(expected[0] != expected[1]);
        violated += expected[1].iter().filter(|told| told.1 == "violated").count();
        for at in [number, number + 5, number + 9] {
            let way = WAYS[at % WAYS.len()];
            let found = verdicts_of(&ours, (memory, bound as u64), &format!("{properties} {way}"));
            let fair = usize::from(way.contains("weak")) + 2 * usize::from(way.contains("strong"));
            assert_eq!(found, expected[fair], "{way} {memory:?} {bound}\n{ours}\n{by_hand}");
        }
    }
    assert!(differ >= 4 && violated >= 8, "{differ} {violated}");
}

/// Two loads in one condition see one moment; on hardware, and taken apart, they do not.
#[test]
fn loads_are_taken_apart() {
    let text = "byte x, y; bit seen; active proctype P() { byte t; t = x; x = 1 - t; x = 0; y = 1 } \
                active proctype Q() { (x == 1 && y == 1) -> seen = 1; assert(false) }";
    let found = |words: &str| verdict_of(text, Memory::Tso, 3, words).0;
    assert_eq!(found("--property assertion"), "holds");
    assert_eq!(found("--property assertion --memory-split"), "violated");
    // The condition that waits is a loop now.
    assert_eq!(found("--property end-state --memory-split"), "holds");
    for words in CONFIGURATIONS.iter().filter(|words| !words.contains("handoff")) {
        assert_eq!(found(&format!("{words} --memory-split --property assertion")), "violated", "{words}");
    }
}
