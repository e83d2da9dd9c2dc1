//! Properties of whole runs: every reduction gives the verdict of the full search.
//!
//! Random programs with random formulas over what is theirs, and small models in which a reduction that looks
//! at the search, or that does not look at the property, is known to go wrong. Each lasso is replayed before
//! it is believed, as always.

#[path = "../../machine/tests/common/mod.rs"]
mod common;
mod on_the_fly;

use common::Model;
use engine::Silent;
use engine::failure::Failure;
use engine::options::{CheckOptions, Exec, Por, Source, Value};
use engine::report::{Reason, Verdict};
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

/// What was found of a property: its verdict, the states, the reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    verdict: &'static str,
    states: u64,
    por: Por,
}

/// Checks one property of a model.
fn check(text: &str, property: &str, change: &dyn Fn(&mut CheckOptions)) -> Option<Found> {
    let mut options = CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        properties: vec![property.to_string()],
        exec: Some(Exec::Interp),
        threads: Some(1),
        max_states: Some(100_000),
        ..CheckOptions::default()
    };
    change(&mut options);
    let stop = engine::Stop::never();
    let answer = engine::check(&options, &Text(text.to_string()), &stop, &mut Silent);
    match answer.result {
        Ok(report) => {
            let property = &report.properties[0];
            let (verdict, states) = (property.verdict.name(), property.statistics.states);
            let limited = matches!(property.verdict, Verdict::Unknown(Reason::States(_)));
            (!limited).then_some(Found { verdict, states, por: property.por })
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
    let (por, opt, search) = (some(por), some(opt), some(search));
    move |options: &mut CheckOptions| {
        (options.por, options.opt, options.search) = (por, opt.clone(), search);
    }
}

fn some<T: Value>(word: &str) -> Option<T> {
    Some(T::read("", word).unwrap())
}

/// How often a reduction was compared, left something out, and the verdict was *violated*.
#[derive(Debug, Default)]
struct Tally {
    compared: u32,
    smaller: u32,
    violated: u32,
}

/// All ways agree with the full search; the answer is its verdict.
fn agree(text: &str, property: &str, tally: &mut Tally) -> Option<&'static str> {
    let plain = set("none", "none", "auto");
    let full = check(text, property, &|options| {
        plain(options);
        options.max_states = Some(1_500);
    })?;
    for (por, opt, search) in WAYS {
        let Some(found) = check(text, property, &set(por, opt, search)) else {
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

const SHAPES: [&str; 13] = [
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
    "([] <> a && [] <> b) -> [] <> c",
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
fn programs(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
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
            agree(&format!("{text}\nltl prop {{ {formula} }}\n"), "ltl:prop", &mut tally);
        }
        for property in ["accept", "progress"] {
            agree(&text, property, &mut tally);
        }
    }
    tally
}

/// With `SPINOR_SEED=1000 SPINOR_SEEDS=3000` it compares that many programs, from there on, which takes
/// minutes.
#[test]
fn random_programs_and_formulas() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let (first, n) = (number("SPINOR_SEED").unwrap_or(0), number("SPINOR_SEEDS").unwrap_or(24));
    let tally = programs(first..first + n);
    let [compared, smaller, violated] = [tally.compared, tally.smaller, tally.violated].map(u64::from);
    assert!(compared > 6 * n && smaller > n * 3 / 4 && violated > n * 3 / 4, "{tally:?}");
}

/// What it is about, a model, and properties with their verdicts.
type Trap = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Models in which a reduction goes wrong that leaves out too much, with the verdict of the full search (and
/// of `pan -a -DNOREDUCE`).
const TRAPS: &[Trap] = &[
    (
        "ignoring: a process that goes round forever is always enough by itself",
        "byte x;
         active proctype round() { byte i; do :: i = 1 - i od }
         active proctype one() { x = 1; x = 2 }
         ltl a { [] (x != 2) }
         ltl b { <> (x == 1) }
         ltl c { [] (x == 1 -> <> (x == 2)) }
         ltl d { (x == 0) U (x == 1) }",
        &[("ltl:a", "violated"), ("ltl:b", "violated"), ("ltl:c", "violated"), ("ltl:d", "violated")],
    ),
    (
        "two rounds, each of which lets the other be chosen: no state is on the stack twice while the claim moves",
        "byte x;
         active proctype left() { byte i; do :: i == 0 -> i = 1 :: i == 1 -> i = 2 :: i == 2 -> i = 0 od }
         active proctype right() { byte j; do :: j == 0 -> j = 1 :: j == 1 -> j = 0 od }
         active proctype one() { x = 1; x = 0; x = 2 }
         ltl a { !(<> ((x == 1) && <> ((x == 0) && <> (x == 2)))) }
         ltl b { ([] <> (x == 0)) || (<> [] (x == 2)) }
         ltl c { <> [] (x == 0) }
         ltl d { (<> [] (x == 0)) || (<> [] (x == 1)) || (<> [] (x == 2)) }",
        &[("ltl:a", "violated"), ("ltl:b", "violated"), ("ltl:c", "violated"), ("ltl:d", "holds")],
    ),
    (
        "the claim tells apart what the system does not: what is chosen must not depend on it",
        "bit x, y;
         active proctype first() { do :: x = 1 - x od }
         active proctype second() { bit k; do :: k = 1 - k od }
         active proctype third() { y = 1 }
         ltl a { [] (x == 0 -> (y == 0 W x == 1)) }
         ltl b { ([] <> (x == 1)) -> ([] (y == 0)) }
         ltl c { [] <> (x == 1) }
         ltl d { ([] <> (x == 1)) -> ([] <> (x == 0)) }",
        &[("ltl:a", "violated"), ("ltl:b", "violated"), ("ltl:c", "violated"), ("ltl:d", "violated")],
    ),
    (
        "two steps that are independent, and a formula that sees both",
        "bit x, y;
         active proctype first() { x = 1 }
         active proctype second() { y = 1 }
         ltl a { [] !(x == 1 && y == 0) }
         ltl b { [] !(x == 0 && y == 1) }
         ltl c { <> (x == 1 && y == 1) }",
        &[("ltl:a", "violated"), ("ltl:b", "violated"), ("ltl:c", "holds")],
    ),
    (
        "places that a formula looks at are entered and left by steps that touch nothing",
        "active proctype first() { skip; here: skip; skip }
         active proctype second() { skip; there: skip; skip }
         ltl a { [] !(first@here && second@there) }
         ltl b { <> (first@here) }
         ltl c { [] (first@here -> !(second@there)) }",
        &[("ltl:a", "violated"), ("ltl:b", "holds"), ("ltl:c", "violated")],
    ),
    (
        "an atomic sequence without end leads nowhere, whatever else could happen",
        "bit x; bit k;
         active proctype trap() { bit i; atomic { k == 0; do :: i = 1 - i od } }
         active proctype free() { x = 1; x = 0 }
         ltl a { [] (x == 0) }
         ltl b { <> (x == 1) }",
        &[("ltl:a", "violated"), ("ltl:b", "unknown")],
    ),
    (
        "a run that ends is prolonged where it ends",
        "byte x;
         active proctype one() { byte i; i = 1; i = 2; x = 1; i = 3 }
         active proctype two() { byte j; j = 1; x == 1; j = 2; x = 2 }
         ltl a { <> [] (x == 2) }
         ltl b { [] <> (x == 1) }
         ltl c { <> (x == 1 && <> (x == 2)) }",
        &[("ltl:a", "holds"), ("ltl:b", "violated"), ("ltl:c", "holds")],
    ),
    (
        "labels that are passed in a step of one process alone",
        "bit x;
         active proctype one() { byte i; do :: i < 3 -> i = i + 1 :: i == 3 -> accept: i = 0 od }
         active proctype two() { do :: x = 1 - x od }",
        &[("accept", "violated")],
    ),
    (
        "no progress while another goes on",
        "bit x;
         active proctype one() { byte i; do :: i < 3 -> i = i + 1 :: i == 3 -> progress: i = 0 od }
         active proctype two() { byte k; do :: k = 1 - k od }",
        &[("progress", "violated")],
    ),
    (
        "one automaton of the formula comes to its end, the other goes round",
        "byte x;
         active proctype a() { here: do :: skip; there: x = 1 :: skip od }
         active proctype b() { skip }
         active proctype c() { there: do :: x != 0 -> skip od }
         ltl f { ((a@here) U (x == 1)) U [] (c@there) }",
        &[("ltl:f", "violated")],
    ),
    (
        "every round makes progress",
        "bit x;
         active proctype one() { byte i; do :: i < 3 -> i = i + 1 :: i == 3 -> progress: i = 0 od }
         active proctype two() { byte k; do :: k < 3 -> k = k + 1 :: else -> break od }",
        &[("progress", "holds")],
    ),
];

#[test]
fn traps_for_reductions() {
    let mut tally = Tally::default();
    for (what, text, verdicts) in TRAPS {
        for (property, verdict) in *verdicts {
            assert_eq!(agree(text, property, &mut tally), Some(*verdict), "{what}: {property}");
        }
    }
    assert!(tally.smaller > 5, "{tally:?}");
}

/// A claim that accepts the runs in which `p` becomes true and stays so, and which counts, modulo `n`, how
/// often it sees that `p` does not hold; but two counters that begin at different times are right about any
/// number. While a process goes round, each counter meets the stack again when it has gone round once, just
/// where `p = 1` comes at the wrong moment.
fn counting_claim(n: usize) -> String {
    let ring = |name: &str, accepts: &dyn Fn(usize) -> bool, first: &str| {
        let place = |at: usize| {
            let accept = if accepts(at) { " :: p -> goto accept" } else { "" };
            let more = if at == 0 { first } else { "" };
            format!("{name}{at}: if :: !p -> goto {name}{}{more}{accept} fi;\n", (at + 1) % n)
        };
        (0..n).map(place).collect::<String>()
    };
    let one = ring("a", &|at| at == 1, " :: !p -> goto b0");
    let other = ring("b", &|at| at != 0, "");
    format!("never {{\n{one}{other}accept: do :: p od\n}}\n")
}

/// The family of counterexamples by Siegel (CAV 2019): the language does not count repetitions, the automaton
/// does. The stack proviso on the product loses the run (so does `pan -a` of Spin 6.5.2, with its reduction
/// on); here nothing does, neither for the claim nor for a formula that says the same.
#[test]
fn a_product_reduced_on_the_fly_loses_runs() {
    let mut tally = Tally::default();
    for n in 2..=5 {
        for goes_round in ["do :: skip od", "do :: i = 1 - i od"] {
            let system = format!(
                "bit p; active proctype rounds() {{ bit i; {goes_round} }} active proctype one() {{ p = 1 }}\n"
            );
            let claimed = format!("{system}{}", counting_claim(n));
            use on_the_fly::{Proviso, accepts};
            assert!(accepts(&claimed, Proviso::Full), "{claimed}");
            assert!(!accepts(&claimed, Proviso::AllOffStack), "not a trap:\n{claimed}");
            assert_eq!(agree(&claimed, "never", &mut tally), Some("violated"));
            let formula = format!("{system}ltl f {{ !(!p && (!p U [] p)) }}");
            assert_eq!(agree(&formula, "ltl:f", &mut tally), Some("violated"));
        }
    }
}

/// The ignoring problem, for runs: `p = 1` must be possible while `rounds` stays in its first loop, which
/// only what leaves the stack does not ask for, nor who has no proviso. For reachable states the weaker one
/// is enough.
#[test]
fn a_step_is_not_ignored_for_ever() {
    use on_the_fly::{Proviso, accepts};
    let mut tally = Tally::default();
    let system = "bit p, q;
        active proctype rounds() { do :: skip :: break od; q = 1 }
        active proctype one() { p = 1 }\n";
    let claim = "never { do :: true :: p && !q -> break od; accept: do :: !q od }";
    let claimed = format!("{system}{claim}");
    assert!(accepts(&claimed, Proviso::Full) && accepts(&claimed, Proviso::AllOffStack));
    assert!(!accepts(&claimed, Proviso::OneOffStack) && !accepts(&claimed, Proviso::None), "not a trap");
    assert_eq!(agree(&claimed, "never", &mut tally), Some("violated"));
    let formula = format!("{system}ltl f {{ [] (p -> <> q) }}");
    assert_eq!(agree(&formula, "ltl:f", &mut tally), Some("violated"));
}

/// Where repetitions count nothing is left out; what depends on the search is refused.
#[test]
fn what_reductions_are_not_for() {
    let model = "byte x; active proctype one() { byte i; i = 1; x = 1; i = 2 } active proctype two() { byte j; j = 1 }
                 ltl a { X X (x == 0) } ltl b { <> (x == 1) }";
    let por = |property: &str, change: &dyn Fn(&mut CheckOptions)| {
        check(model, property, change).map(|found| found.por)
    };
    let stubborn = set("stubborn", "none", "auto");
    assert_eq!(por("ltl:a", &stubborn), Some(Por::None));
    assert_eq!(por("ltl:b", &stubborn), Some(Por::Stubborn));
    let fair = |options: &mut CheckOptions| {
        stubborn(options);
        options.fair = some("weak");
    };
    assert_eq!(por("ltl:b", &fair), Some(Por::None));
    let ways =
        [("stack", "stubborn", "dfs"), ("closed-set", "stubborn", "auto"), ("all", "twophase", "auto")];
    for (value, por_word, search) in ways {
        let refused = por("ltl:b", &|options: &mut CheckOptions| {
            set(por_word, "none", search)(options);
            match por_word {
                "twophase" => options.save = some(value),
                _ => options.proviso = some(value),
            }
        });
        assert_eq!(refused, None, "--por {por_word} with {value}");
    }
    for store in ["table", "tree", "cleary", "collapse", "hc", "bitstate"] {
        for (search, works) in [("ndfs", true), ("scc", !["hc", "bitstate"].contains(&store))] {
            let found = por("ltl:b", &|options| {
                options.store = some(store);
                options.search = some(search);
            });
            assert_eq!(found.is_some(), works, "--store {store} --search {search}");
        }
    }
}
