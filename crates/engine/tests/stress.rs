//! Many workers on few cores: random programs × random configurations, each compared with one worker.
//!
//! The first worker is alone for no moment (`--alone 0`), so that even small programs are searched by all.
//! There are more workers than cores, so that they are interrupted anywhere. Compared are:
//!
//! - the verdict, always, with that of one worker who leaves nothing out;
//! - states, transitions, errors and what is wrong, for safety when everything is explored and nothing is
//!   left out;
//! - the length of the counterexample with `--search bfs`;
//! - states, for cycles when there are none;
//! - the counterexample itself, twice, with `--deterministic`.
//!
//! `SPINOR_STRESS=500` compares that many programs of each kind, from seed `SPINOR_SEED` on; without it, a
//! few.

use std::collections::BTreeSet;

use engine::failure::Failure;
use engine::options::{CheckOptions, Edges, Search, Source, Value};
use engine::{Report, Silent};
use promela::source::Files;
use testkit::cyclic;
use testkit::formula::Formula;
use testkit::generate::{Size, generate};
use testkit::print::print;
use testkit::rng::Rng;

/// Programs with more states are left out.
const MOST_STATES: u64 = 30_000;
/// Programs of each kind, unless more are asked for.
const PROGRAMS: u64 = 24;
/// Configurations of each program.
const CONFIGURATIONS: usize = 6;

struct Text<'a>(&'a str);

impl Files for Text<'_> {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_string())
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn some<T: Value>(word: &str) -> Option<T> {
    Some(T::read("", word).unwrap())
}

/// A model and what is asked about it.
struct Question<'a> {
    text: &'a str,
    property: &'a str,
}

impl Question<'_> {
    /// What every run has in common: one worker who leaves nothing out.
    fn alone(&self) -> CheckOptions {
        CheckOptions {
            source: Source { path: "m.pml".to_string(), ..Source::default() },
            properties: vec![self.property.to_string()],
            exec: some("interp"),
            por: some("none"),
            opt: some("none"),
            threads: Some(1),
            ..CheckOptions::default()
        }
    }

    /// The answer, unless the configuration is refused.
    fn ask(&self, options: &CheckOptions) -> Option<Told> {
        let stop = engine::Stop::never();
        match engine::check(options, &Text(self.text), &stop, &mut Silent).result {
            Ok(report) => Some(Told::new(&report)),
            Err(Failure::Internal(why)) => panic!("{why}\n{options:?}\n{}", self.text),
            Err(_) => None,
        }
    }

    /// The same answer, twice, with `--deterministic`.
    fn ask_twice(&self, options: &CheckOptions) {
        let options = CheckOptions { deterministic: true, ..options.clone() };
        let (first, second) = (self.ask(&options), self.ask(&options));
        let runs = |told: &Option<Told>| told.as_ref().map(|told| told.runs.clone());
        assert_eq!(runs(&first), runs(&second), "{options:?}\n{}", self.text);
    }
}

/// What a check said of one property.
#[derive(Debug)]
struct Told {
    violated: bool,
    unknown: bool,
    exhaustive: bool,
    errors: u64,
    states: u64,
    transitions: u64,
    workers: u64,
    how: &'static str,
    wrong: BTreeSet<String>,
    /// The steps of each counterexample, and how many come before its cycle.
    runs: Vec<(Vec<String>, Option<usize>)>,
}

impl Told {
    fn new(report: &Report) -> Self {
        let property = &report.properties[0];
        let trails: Vec<_> = property.verdict.violations().map(|shown| shown.evidence.trail()).collect();
        let fault = |trail: &&trace::Trail| format!("{:?} {}", trail.violation.kind, trail.violation.line);
        let steps = |trail: &&trace::Trail| {
            (trail.steps.iter().map(|step| format!("{step:?}")).collect(), trail.cycle)
        };
        Told {
            violated: property.verdict.name() == "violated",
            unknown: property.verdict.name() == "unknown",
            exhaustive: property.exhaustive,
            errors: property.errors,
            states: property.statistics.states,
            transitions: property.statistics.transitions,
            workers: property.statistics.workers,
            how: property.how.map_or("", engine::liveness::How::name),
            wrong: trails.iter().map(fault).collect(),
            runs: trails.iter().map(steps).collect(),
        }
    }

    fn numbers(&self) -> (u64, u64, u64, &BTreeSet<String>) {
        (self.states, self.transitions, self.errors, &self.wrong)
    }

    fn shortest(&self) -> Option<usize> {
        self.runs.iter().map(|(steps, _)| steps.len()).min()
    }
}

/// What was seen, so that a test that compares nothing fails.
#[derive(Debug, Default)]
struct Tally {
    compared: u32,
    refused: u32,
    violated: u32,
    numbers: u32,
    several: u32,
}

impl Tally {
    fn add(&mut self, told: &Told) {
        self.compared += 1;
        self.violated += u32::from(told.violated);
        self.several += u32::from(told.workers > 1);
    }
}

fn pick<T: Copy>(rng: &mut Rng, words: &[T]) -> T {
    words[rng.below(words.len())]
}

/// Several workers: eight, most of the time.
fn crowd(rng: &mut Rng, base: CheckOptions) -> CheckOptions {
    CheckOptions {
        threads: Some([2, 3, 8, 8, 8][rng.below(5)]),
        alone: Some(0),
        exec: some(pick(rng, &["interp", "jit"])),
        opt: some(pick(rng, &["none", "merge,deadvars,fold"])),
        ..base
    }
}

fn safety(question: &Question<'_>, rng: &mut Rng, tally: &mut Tally) {
    let alone = question.alone();
    let limited = CheckOptions { all_errors: true, max_states: Some(MOST_STATES), ..alone.clone() };
    let Some(all) = question.ask(&limited).filter(|told| !told.unknown && told.exhaustive) else { return };
    for _ in 0..CONFIGURATIONS {
        let search = pick(rng, &["frontier", "dfs", "bfs", "handoff"]);
        let por = pick(rng, &["none", "none", "ample", "stubborn", "twophase"]);
        let mut options = CheckOptions {
            search: some(search),
            store: some(pick(
                rng,
                &["table", "table", "tree", "tree", "cleary", "collapse", "hc", "bitstate"],
            )),
            por: some(por),
            all_errors: por == "none" && rng.chance(60),
            edges: (por == "none").then(|| pick(rng, &[Edges::Lean, Edges::All])),
            handoff: (search == "handoff" && rng.chance(50)).then(|| 1 + rng.below(12) as u64),
            ..crowd(rng, alone.clone())
        };
        let Some(told) = question.ask(&options) else {
            tally.refused += 1;
            continue;
        };
        tally.add(&told);
        let context = |told: &Told| format!("{told:#?}\n{options:?}\n{}", question.text);
        assert_eq!(told.violated, all.violated, "{}", context(&told));
        // What is not walked is counted all the same.
        let edges = options.edges.map(|_| Edges::All);
        let one = CheckOptions { threads: Some(1), alone: None, handoff: None, edges, ..options.clone() };
        let one = CheckOptions { search: some(if search == "handoff" { "dfs" } else { search }), ..one };
        if por == "none" && (options.all_errors || !told.violated) {
            let Some(one) = question.ask(&one) else { panic!("refused\n{one:?}\n{}", question.text) };
            assert_eq!(told.numbers(), one.numbers(), "{}", context(&told));
            tally.numbers += 1;
        }
        if search == "bfs" && por == "none" && told.violated {
            let Some(one) = question.ask(&one) else { panic!("refused\n{one:?}\n{}", question.text) };
            assert_eq!(told.shortest(), one.shortest(), "{}", context(&told));
        }
        if told.violated && rng.chance(30) {
            options.all_errors = false;
            question.ask_twice(&options);
        }
    }
}

/// Everything but the number of workers stays as it is; a search by several becomes the one by one worker.
fn by_one(options: &CheckOptions, how: &str) -> CheckOptions {
    let search = match how {
        "cndfs" | "ndfs-dual" => some("ndfs"),
        "ufscc" | "scc" => some("scc"),
        _ => None,
    };
    CheckOptions { threads: Some(1), alone: None, search, ..options.clone() }
}

fn cycles(question: &Question<'_>, rng: &mut Rng, tally: &mut Tally) {
    let fair = pick(rng, &["", "", "weak"]);
    let alone = CheckOptions { fair: if fair.is_empty() { None } else { some(fair) }, ..question.alone() };
    let limited = CheckOptions { max_states: Some(MOST_STATES), ..alone.clone() };
    let Some(one) = question.ask(&limited).filter(|told| !told.unknown) else { return };
    for _ in 0..CONFIGURATIONS / 2 {
        let options = CheckOptions {
            search: match fair {
                "" => [None, some("cndfs"), some("ndfs-dual"), some("ufscc")][rng.below(4)],
                _ => [None, some("ufscc")][rng.below(2)],
            },
            store: some(pick(rng, &["table", "tree", "cleary", "collapse"])),
            por: some(pick(rng, &["none", "none", "none", "ample", "stubborn", "twophase"])),
            ..crowd(rng, alone.clone())
        };
        let dual = options.search == Some(Search::NdfsDual);
        let options = CheckOptions { threads: if dual { Some(2) } else { options.threads }, ..options };
        let Some(told) = question.ask(&options) else {
            tally.refused += 1;
            continue;
        };
        tally.add(&told);
        let context = |told: &Told| format!("{told:#?}\n{options:?}\n{}", question.text);
        assert_eq!((told.violated, told.unknown), (one.violated, false), "{}", context(&told));
        if !told.violated {
            let by_one = by_one(&options, told.how);
            let Some(one) = question.ask(&by_one) else { panic!("refused\n{by_one:?}\n{}", question.text) };
            assert_eq!(told.states, one.states, "{}", context(&told));
            tally.numbers += 1;
        } else if rng.chance(30) {
            question.ask_twice(&options);
        }
    }
}

/// Seeds that are asked about; many programs are left out because they are too large, or none of Promela.
fn seeds() -> std::ops::Range<u64> {
    let first = number("SPINOR_SEED", 1);
    first..first + number("SPINOR_STRESS", PROGRAMS)
}

#[test]
fn safety_by_many_workers_is_safety_by_one() {
    let mut tally = Tally::default();
    for seed in seeds() {
        let mut model = generate(seed, if seed % 3 == 0 { Size::Medium } else { Size::Small });
        model.claim = None;
        let text = print(&model);
        // Nearly all of these programs can get stuck, and few break an assertion.
        let property = if seed % 2 == 0 { "safety" } else { "assertion" };
        let question = Question { text: &text, property };
        safety(&question, &mut Rng::new(seed), &mut tally);
    }
    let enough = tally.compared > 2 * PROGRAMS as u32 && tally.several * 4 > tally.compared * 3;
    assert!(enough && tally.violated > 20 && tally.numbers > 20, "{tally:?}");
}

#[test]
fn cycles_by_many_workers_are_cycles_by_one() {
    let mut tally = Tally::default();
    for seed in seeds() {
        let program = cyclic::generate(seed);
        let mut rng = Rng::new(seed);
        let text = print(&program.model);
        for property in ["accept", "progress"] {
            cycles(&Question { text: &text, property }, &mut rng, &mut tally);
        }
        let text = print(&program.with_never());
        cycles(&Question { text: &text, property: "never" }, &mut rng, &mut tally);
        for _ in 0..2 {
            let formula = Formula::random(&mut rng, &program.atoms);
            let text = format!("{}ltl f {{ {formula} }}\n", print(&program.model));
            cycles(&Question { text: &text, property: "ltl:f" }, &mut rng, &mut tally);
        }
    }
    let enough = tally.compared > 4 * PROGRAMS as u32 && tally.numbers > 20;
    assert!(enough && tally.violated > 20, "{tally:?}");
}
