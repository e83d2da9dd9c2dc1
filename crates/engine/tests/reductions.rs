//! Every reduction × sleep sets × save mode × order × cache, on many programs: the same deadlock states and
//! the same errors as the plain search of everything.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::sync::Mutex;

use common::Model;
use machine::Interp;
use reduce::{Building, Extent, Stubborn};
use search::queue::Whole;
use search::{
    Checks, Levels, Limits, Method, Outcome, Proviso, Reduce, Save, Silent, Task, depth_first,
    depth_first_with_sleep, frontier,
};
use store::{Cache, Table};
use system::{
    ActionId, Capabilities, Fault, FaultKind, Labels, Reduction, Successors, SystemExt, TransitionSystem,
};
use testkit::generate::Size;

/// Programs with more states are left out.
const MOST_STATES: u64 = 1_000;

/// Nearly as many as there may be: with far too few a search takes forever.
const CACHE: u64 = 800;

/// A machine that notes its deadlocks.
struct Noting<'a> {
    machine: &'a Interp,
    deadlocks: Mutex<BTreeSet<Vec<u8>>>,
}

impl TransitionSystem for Noting<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.machine.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.machine.enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.machine.fire(state, actions, out);
    }

    fn labels(&self, state: &[u8]) -> Labels {
        self.machine.labels(state)
    }

    fn hidden_bytes(&self) -> usize {
        self.machine.hidden_bytes()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.machine.capabilities()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.deadlocks.lock().unwrap().insert(self.key(state).to_vec());
        self.machine.deadlock(state)
    }
}

/// What a search found.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    deadlocks: BTreeSet<Vec<u8>>,
    faults: BTreeSet<(FaultKind, String, u32)>,
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Depth,
    Frontier,
    Breadth,
}

/// A way to search.
#[derive(Clone, Copy, Debug)]
struct Way {
    order: Order,
    method: Method,
    proviso: Proviso,
    sleep: bool,
    cache: Option<u64>,
}

const PLAIN: Way =
    Way { order: Order::Depth, method: Method::None, proviso: Proviso::None, sleep: false, cache: None };

fn search(machine: &Interp, by: Option<&dyn Reduction>, way: Way, checks: Checks) -> (Outcome, Found) {
    let system = Noting { machine, deadlocks: Mutex::default() };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let limits = Limits { states: Some(MOST_STATES), ..Limits::default() };
    let reduce = by.map(|by| Reduce { by, method: way.method, proviso: way.proviso });
    let task = Task { checks, all_errors: true, seed: None, limits, stop: &stop, reduce };
    let level = |levels| {
        let queue = Whole::new(system.hidden_bytes(), false);
        frontier(&system, &mut Table::default(), queue, levels, &task, &mut Silent)
    };
    let mut cache = Cache::new(way.cache.unwrap_or(u64::MAX), u64::MAX);
    let outcome = match way.order {
        Order::Depth if way.sleep => depth_first_with_sleep(&system, &mut cache, &task, &mut Silent),
        Order::Depth if way.cache.is_some() => depth_first(&system, &mut cache, &task, &mut Silent),
        Order::Depth => depth_first(&system, &mut Table::default(), &task, &mut Silent),
        Order::Frontier => level(Levels::Edges),
        Order::Breadth => level(Levels::Steps),
    };
    let faults =
        outcome.violations.iter().map(|v| (v.fault.kind, v.fault.file.clone(), v.fault.line)).collect();
    (outcome, Found { deadlocks: system.deadlocks.into_inner().unwrap(), faults })
}

/// All ways that are to find the same; the proviso only where there is more to find than deadlocks.
fn ways(checks: Checks) -> Vec<Way> {
    let none = checks.only_end_states();
    let sets = |proviso| if none { Proviso::None } else { proviso };
    let mut ways = Vec::new();
    for save in [Save::All, Save::BackEdges, Save::BackEdgesDown, Save::None] {
        for order in [Order::Depth, Order::Frontier, Order::Breadth] {
            ways.push(Way { order, method: Method::Twophase(save), ..PLAIN });
        }
    }
    ways.push(Way { method: Method::Twophase(Save::BackEdges), cache: Some(CACHE), ..PLAIN });
    for proviso in [sets(Proviso::Stack), sets(Proviso::ClosedSet)] {
        let way = Way { method: Method::Sets, proviso, ..PLAIN };
        ways.extend([way, Way { sleep: true, ..way }, Way { sleep: true, cache: Some(CACHE), ..way }]);
        ways.push(Way { cache: Some(CACHE), ..way });
    }
    let color = Way { method: Method::Sets, proviso: sets(Proviso::Color), ..PLAIN };
    ways.extend([color, Way { cache: Some(CACHE), ..color }]);
    ways.push(Way {
        order: Order::Frontier,
        method: Method::Sets,
        proviso: sets(Proviso::ClosedSet),
        ..PLAIN
    });
    ways.extend([Way { sleep: true, ..PLAIN }, Way { sleep: true, cache: Some(CACHE), ..PLAIN }]);
    ways
}

/// Whether the program was small enough.
fn agrees(model: &Model) -> bool {
    let machine = model.machine(&model.program);
    for checks in [Checks::SAFETY, Checks::only(FaultKind::EndState)] {
        let (all, expected) = search(&machine, None, PLAIN, checks);
        if all.exhausted.is_none() {
            return false;
        }
        // What is done when nobody says: choices are made in some states and not in others.
        let now_and_then = Stubborn::new(&model.program, &machine, Extent::AnyProcesses).only_where_it_pays();
        for (order, proviso) in [(Order::Depth, Proviso::Stack), (Order::Frontier, Proviso::ClosedSet)] {
            let proviso = if checks.only_end_states() { Proviso::None } else { proviso };
            let way = Way { order, method: Method::Sets, proviso, ..PLAIN };
            let (outcome, found) = search(&machine, Some(&now_and_then), way, checks);
            assert!(outcome.exhausted.is_some(), "{} {way:?}: {:?}", model.name, outcome.stop);
            assert_eq!(found, expected, "{} where it pays, {way:?}", model.name);
        }
        for (extent, building) in [
            (Extent::OneProcess, Building::Closure),
            (Extent::AnyProcesses, Building::Closure),
            (Extent::AnyProcesses, Building::Deletion),
        ] {
            let stubborn = Stubborn::new(&model.program, &machine, extent).built_by(building);
            // How sets are built does not matter to phase 1.
            let sets = |way: &Way| building == Building::Closure || way.method == Method::Sets;
            for way in ways(checks).into_iter().filter(sets) {
                let (outcome, found) = search(&machine, Some(&stubborn), way, checks);
                assert!(outcome.exhausted.is_some(), "{} {way:?}: {:?}", model.name, outcome.stop);
                assert_eq!(found, expected, "{} {extent:?} {building:?} {way:?}", model.name);
                if way.method == Method::None && way.cache.is_none() {
                    let numbers = |o: &Outcome| (o.statistics.states, o.errors);
                    assert_eq!(numbers(&outcome), numbers(&all), "{} {way:?}", model.name);
                    assert!(outcome.statistics.transitions <= all.statistics.transitions);
                }
            }
        }
    }
    true
}

#[test]
fn on_random_programs_all_ways_find_the_same() {
    let seeds: u64 = std::env::var("REDUCTION_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut small = 0;
    for seed in 0..seeds {
        for size in [Size::Small, Size::Medium] {
            small += Model::random(seed, size).is_some_and(|model| agrees(&model)) as u64;
        }
    }
    assert!(small > seeds, "only {small} programs were small enough");
}

#[test]
fn on_the_models_of_the_repository_all_ways_find_the_same() {
    let small = Model::all().iter().filter(|model| agrees(model)).count();
    assert!(small > 100, "only {small} models were small enough");
}

/// A process in control of an atomic sequence never sees `timeout`, and `else` is no answer to it that others
/// could take away: how far a sequence goes does not depend on who else can move.
#[test]
fn timeout_within_sequences_depends_on_nobody() {
    let others =
        "active proctype x() { byte l; l = 1; l = 2 } active proctype w() { (g == 2); assert(false) }";
    for p in [
        "h = 1; if :: timeout -> g = 1 :: else -> g = 2 fi",
        "h = 1; if :: timeout -> g = 1 :: !timeout -> g = 2 fi",
        "byte k; atomic { k = 1; if :: timeout -> g = 1 :: else -> g = 2 fi }",
        "byte k; atomic { k = 1; timeout; g = 1 }; g = 2",
        "byte k; k = 1; atomic { timeout; k = 2; timeout; g = 2 }",
        "byte k; do :: atomic { k < 2 -> k++; if :: timeout -> g = 1 :: g == 0 fi } :: timeout -> break od; g = 2",
    ] {
        let text = format!("byte g, h; active proctype p() {{ {p} }} {others}");
        let model = Model::new(p, &text).expect("a program");
        assert!(agrees(&model), "{p} is small");
    }
}

/// A message that travels against the order of turns is not waited for: phase 1 goes on in rounds, and ends
/// where two processes go on forever by turns.
#[test]
fn phase_1_goes_on_in_rounds() {
    let chain = "chan a = [1] of { bit }; chan b = [1] of { bit }; active proctype p() { a!1 }
        active proctype q() { a?1; b!1 } active proctype r() { b?1 }";
    let model = Model::new("a chain", chain).expect("a program");
    let machine = model.machine(&model.program);
    let stubborn = Stubborn::new(&model.program, &machine, Extent::AnyProcesses);
    let way = Way { method: Method::Twophase(Save::None), ..PLAIN };
    let (outcome, _) = search(&machine, Some(&stubborn), way, Checks::SAFETY);
    assert_eq!(outcome.statistics.states, 2, "the entry and the end");
    let forever = "chan a = [1] of { bit }; chan b = [1] of { bit }; byte g;
        active proctype x() { do :: a!1; b?1 od } active proctype y() { byte n; do :: a?1; n = 1 - n; b!1 od }
        active proctype z() { if :: g = 1 :: g = 2 fi; assert(g != 2) }";
    assert!(agrees(&Model::new("by turns", forever).expect("a program")));
}

/// Programs about the lengths of channels: guards that ask for room and messages, polls, `timeout`, and atomic
/// sequences that use what their guard asked for, or more, or something else.
mod lengths {
    use testkit::rng::Rng;

    fn pick<'a>(rng: &mut Rng, list: &[&'a str]) -> &'a str {
        rng.pick(list).copied().unwrap_or_default()
    }

    fn condition(rng: &mut Rng) -> String {
        let q = pick(rng, &["q", "r", "in", "out"]);
        match rng.range(0, 8) {
            0 => format!("nfull({q})"),
            1 => format!("nempty({q})"),
            2 => format!("full({q})"),
            3 => format!("empty({q})"),
            4 | 5 => {
                let op = pick(rng, &["<", "<=", ">", ">=", "==", "!="]);
                format!("len({q}) {op} {}", rng.range(0, 2))
            }
            6 => format!("{q}{}[{}]", pick(rng, &["?", "??"]), rng.range(0, 1)),
            7 => "timeout".to_owned(),
            _ => format!("g {} {}", pick(rng, &["==", "!=", "<"]), rng.range(0, 2)),
        }
    }

    fn guard(rng: &mut Rng) -> String {
        let parts: Vec<String> = (0..rng.range(1, 3)).map(|_| condition(rng)).collect();
        parts.join(" && ")
    }

    fn step(rng: &mut Rng) -> String {
        let q = pick(rng, &["q", "r", "in", "out"]);
        match rng.range(0, 7) {
            0 | 1 => format!("{q}!{}", rng.range(0, 1)),
            2 | 3 => format!("{q}?{}", pick(rng, &["v", "0", "1", "_"])),
            4 => format!("{q}{}", pick(rng, &["!!1", "??1", "?<v>"])),
            5 => "g = (g + 1) % 3".to_owned(),
            6 => "v = 1 - v".to_owned(),
            _ => format!("if :: {} -> g = 0 :: else -> {q}!0 fi", condition(rng)),
        }
    }

    fn option(rng: &mut Rng) -> String {
        let body: Vec<String> = (0..rng.range(1, 3)).map(|_| step(rng)).collect();
        let body = body.join("; ");
        match rng.range(0, 4) {
            0 => format!("({}) -> {body}", guard(rng)),
            1 => step(rng),
            _ => format!("atomic {{ ({}) -> {body} }}", guard(rng)),
        }
    }

    /// The program of a seed.
    pub fn program(seed: u64) -> String {
        let mut rng = Rng::new(seed);
        let (q, r) = (rng.range(1, 2), rng.range(1, 2));
        let mut text = format!("chan q = [{q}] of {{ bit }}; chan r = [{r}] of {{ bit }}; byte g;\n");
        text += "proctype p(chan in, out) { bit v;\n";
        body(&mut rng, &mut text);
        text += "active proctype s() { bit v; chan in = q; chan out = r;\n";
        body(&mut rng, &mut text);
        text += "init { atomic { run p(q, r); run p(r, q) } }\n";
        text
    }

    fn body(rng: &mut Rng, text: &mut String) {
        let rounds = rng.range(1, 2);
        *text += &format!("  byte n; do :: n < {rounds} -> n++; if");
        for _ in 0..rng.range(1, 3) {
            *text += &format!(" :: {}", option(rng));
        }
        *text += " fi :: else -> break od;";
        if rng.range(0, 1) == 0 {
            *text += &format!(" assert(!({}))", condition(rng).replace("timeout", "g == 1"));
        }
        *text += " }\n";
    }
}

#[test]
fn on_programs_about_the_lengths_of_channels_all_ways_find_the_same() {
    let seeds: u64 = std::env::var("REDUCTION_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut small = 0;
    for seed in 0..seeds {
        let text = lengths::program(seed);
        // A few ask for what the front end refuses, such as `else` beside a poll.
        let model = Model::new(&format!("lengths {seed}\n{text}"), &text);
        small += model.is_some_and(|model| agrees(&model)) as u64;
    }
    assert!(small > seeds / 3, "only {small} programs were small enough");
}
