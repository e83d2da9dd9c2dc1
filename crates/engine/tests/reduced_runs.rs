//! Properties of whole runs: every reduction gives the verdict of the full search.
//!
//! Random programs with random formulas over what is theirs, and small models in which a reduction that looks at the search, or
//! that does not look at the property, is known to go wrong. Each lasso is replayed before it is believed, as always.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::sync::atomic::AtomicBool;

use common::Model;
use engine::Silent;
use engine::failure::Failure;
use engine::options::{CheckOptions, Source};
use promela::ir::Type;
use promela::source::Files;
use search::random::Random;
use testkit::generate::{Size, generate};

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

/// A place for trails that is empty again afterwards.
struct Place(std::path::PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Place(std::env::temp_dir().join(format!("spinor-runs-{}-{name}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What was found of a property: its verdict, the states, the reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    verdict: &'static str,
    states: u64,
    por: &'static str,
}

/// Checks one property of a model.
fn check(text: &str, property: &str, place: &Place, change: &dyn Fn(&mut CheckOptions)) -> Option<Found> {
    let some = |word: &str| Some(word.to_string());
    let mut options = CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        properties: vec![property.to_string()],
        trail: some(&place.0.to_string_lossy()),
        exec: some("interp"),
        threads: Some(1),
        max_states: Some(100_000),
        ..CheckOptions::default()
    };
    change(&mut options);
    let stop = AtomicBool::new(false);
    let answer = engine::check(&options, &Text(text.to_string()), &stop, &mut Silent);
    match answer.result {
        Ok(report) => {
            let property = &report.properties[0];
            let (verdict, states) = (property.verdict.name(), property.statistics.states);
            (verdict != "unknown").then_some(Found { verdict, states, por: property.por })
        }
        Err(Failure::Internal(why)) => panic!("{why}\n{options:?}\n{text}"),
        Err(_) => None,
    }
}

const WAYS: [(&str, &str, &str); 6] = [
    ("stubborn", "none", "auto"),
    ("ample", "none", "ndfs"),
    ("twophase", "none", "auto"),
    ("none", "merge,deadvars,fold", "scc"),
    ("stubborn", "merge,deadvars,fold", "ndfs"),
    ("twophase", "merge,deadvars,fold", "scc"),
];

fn set(por: &str, opt: &str, search: &str) -> impl Fn(&mut CheckOptions) {
    let words = [por, opt, search].map(str::to_string);
    move |options: &mut CheckOptions| {
        let [por, opt, search] = words.clone().map(Some);
        (options.por, options.opt, options.search) = (por, opt, search);
    }
}

/// How often a reduction was compared, left something out, and the verdict was *violated*.
#[derive(Debug, Default)]
struct Tally {
    compared: u32,
    smaller: u32,
    violated: u32,
}

/// All ways agree with the full search; the answer is its verdict.
fn agree(text: &str, property: &str, place: &Place, tally: &mut Tally) -> Option<&'static str> {
    let plain = set("none", "none", "auto");
    let full = check(text, property, place, &|options| {
        plain(options);
        options.max_states = Some(1_500);
    })?;
    for (por, opt, search) in WAYS {
        let Some(found) = check(text, property, place, &set(por, opt, search)) else {
            panic!("{por} {opt}: no verdict\n{text}");
        };
        assert_eq!(
            found.verdict, full.verdict,
            "{property} --por {por} --opt {opt} --search {search}\n{text}"
        );
        tally.compared += 1;
        tally.smaller += u32::from(full.verdict == "holds" && found.states < full.states);
        tally.violated += u32::from(full.verdict == "violated");
    }
    Some(full.verdict)
}

/// What a formula may be about, in a model: variables, channels, places.
fn atoms(model: &Model) -> Vec<String> {
    let program = &model.program;
    let mut atoms = Vec::new();
    for var in &program.globals {
        if matches!(var.ty, Type::Scalar(_)) {
            let name = &var.name;
            atoms.extend([format!("({name} == 0)"), format!("({name} == 1)"), format!("({name} > 1)")]);
        }
    }
    for proctype in &program.proctypes {
        for (label, _) in &proctype.labels {
            atoms.push(format!("({}@{label})", proctype.name));
        }
    }
    atoms.push("(_nr_pr > 1)".to_string());
    atoms
}

const SHAPES: [&str; 12] = [
    "[] a",
    "<> a",
    "[] <> a",
    "<> [] a",
    "[] (a -> <> b)",
    "a U b",
    "([] <> a) -> ([] <> b)",
    "[] (a -> (b W c))",
    "!(<> (a && <> (b && <> c)))",
    "(<> [] a) || ([] <> b)",
    "[] (a -> [] b)",
    "<> (a && (b U c))",
];

fn formula(atoms: &[String], random: &mut Random) -> String {
    let shape = SHAPES[random.below(SHAPES.len())];
    let mut text = String::new();
    let mut chosen = [0; 3].map(|_: i32| atoms[random.below(atoms.len())].clone());
    if random.below(3) == 0 {
        chosen[0] = format!("!{}", chosen[0]);
    }
    for c in shape.chars() {
        match c {
            'a' => text += &chosen[0],
            'b' => text += &chosen[1],
            'c' => text += &chosen[2],
            other => text.push(other),
        }
    }
    text
}

/// Random programs with formulas.
fn programs(seeds: std::ops::Range<u64>, place: &str) -> Tally {
    let (place, mut tally) = (Place::new(place), Tally::default());
    for seed in seeds {
        let size = if seed % 3 == 0 { Size::Medium } else { Size::Small };
        let mut model = generate(seed, size);
        model.claim = None;
        let text = testkit::print::print(&model);
        let Some(read) = Model::new("m.pml", &text) else { continue };
        let atoms = atoms(&read);
        let mut random = Random::new(seed);
        for _ in 0..2 {
            let formula = formula(&atoms, &mut random);
            agree(&format!("{text}\nltl prop {{ {formula} }}\n"), "ltl:prop", &place, &mut tally);
        }
        for property in ["accept", "progress"] {
            agree(&text, property, &place, &mut tally);
        }
    }
    tally
}

#[test]
fn random_programs_and_formulas() {
    let tally = programs(0..24, "random");
    assert!(tally.compared > 150 && tally.smaller > 20 && tally.violated > 20, "{tally:?}");
}

/// Many more: run by hand and by CI.
#[test]
#[ignore = "takes minutes"]
fn many_random_programs_and_formulas() {
    let first = std::env::var("SPINOR_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_000);
    let n = std::env::var("SPINOR_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    let tally = programs(first..first + n, "many");
    assert!(tally.smaller > 0 && tally.violated > 0, "{tally:?}");
}
