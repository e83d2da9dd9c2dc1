//! A certificate is confirmed; with a state removed, altered or added, with a count that lies, or for another
//! model it is refused, however the check sums were made to fit. Each alteration is tried hundreds of times.

use audit::certificate::put_state;
use audit::steps::Steps;
use audit::{Audited, Certificate, CertificateWriter, Flaw, Header, Share, confirm};
use machine::Interp;
use promela::parse::Dialect;
use promela::source::{Files, SourceMap};
use promela::{lower, parse, preprocess};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use stop::Stop;
use system::{FaultKind, PortableStates, TransitionSystem};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

fn machine(path: &str) -> Interp {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let path = path.to_string_lossy();
    let mut sources = SourceMap::new();
    let tokens = preprocess::preprocess(&path, &Disk, &preprocess::Options::default(), &mut sources);
    let parsed = parse::parse_lines(tokens.tokens, tokens.line_starts, Dialect::Spin, &mut sources);
    let program = lower::lower(&parsed.unit, &sources, &path).program.expect("a model");
    Interp::new(Arc::new(program), move |span| sources.location(span)).expect("it can be executed")
}

/// All reachable states, the initial one first.
fn reachable(machine: &Interp) -> Vec<Vec<u8>> {
    let (mut first, mut worker) = (Vec::new(), machine.worker());
    machine.initial(&mut first).expect("it begins");
    let (mut all, mut known) = (vec![first.clone()], HashSet::from([first]));
    let mut at = 0;
    while at < all.len() {
        for (_, target) in Steps::from(&mut *worker, &all[at]).targets {
            if known.insert(target.clone()) {
                all.push(target);
            }
        }
        at += 1;
    }
    all
}

fn header(machine: &Interp) -> Header {
    Header {
        version: "test".to_string(),
        model: "model".to_string(),
        property: "safety".to_string(),
        kinds: vec![FaultKind::Assertion, FaultKind::EndState, FaultKind::Runtime],
        channels_empty: false,
        program: machine.fingerprint(),
    }
}

/// A certificate with these states, whose sums and counts are right.
fn certificate(header: &Header, states: &[Vec<u8>]) -> Certificate {
    let mut writer = CertificateWriter::new(Vec::new(), header).unwrap();
    for part in states.chunks(100) {
        let mut block = Vec::new();
        part.iter().for_each(|state| put_state(&mut block, state));
        writer.add(&block, part.len() as u64).unwrap();
    }
    let different: HashSet<&Vec<u8>> = states.iter().collect();
    let (file, _) = writer.finish(different.len() as u64).unwrap();
    Certificate::read(&file[..], || {}).expect("it can be read")
}

fn audited(machine: &Interp, states: &[Vec<u8>], share: Share) -> Audited {
    confirm(&certificate(&header(machine), states), machine, share, &Stop::never())
}

/// The same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

const MODELS: [&str; 3] = ["examples/peterson.pml", "examples/alternating_bit.pml", "examples/undo.pml"];

#[test]
fn what_a_search_has_seen_is_confirmed() {
    for model in MODELS {
        let machine = machine(model);
        let states = reachable(&machine);
        let all = audited(&machine, &states, Share::All);
        assert_eq!((all.flaw, all.states), (None, states.len() as u64), "{model}");
        let part = audited(&machine, &states, Share::Part { part: 0.5, seed: 1 });
        assert!(part.flaw.is_none() && part.states < all.states, "{model}: a sample is smaller");
    }
}

#[test]
fn a_state_that_was_removed_is_missed() {
    let mut random = Random(1);
    for model in MODELS {
        let machine = machine(model);
        let states = reachable(&machine);
        for _ in 0..200 {
            let mut fewer = states.clone();
            let gone = random.below(fewer.len());
            fewer.remove(gone);
            let flaw = audited(&machine, &fewer, Share::All).flaw;
            let expected = matches!(flaw, Some(Flaw::Missing { .. } | Flaw::InitialMissing));
            assert!(expected, "{model} without state {gone}: {flaw:?}");
        }
    }
}

#[test]
fn a_state_that_was_altered_is_noticed() {
    let mut random = Random(2);
    for model in MODELS {
        let machine = machine(model);
        let states = reachable(&machine);
        let known: HashSet<&Vec<u8>> = states.iter().collect();
        for _ in 0..300 {
            let at = random.below(states.len());
            let mut other = states[at].clone();
            let byte = random.below(other.len());
            other[byte] ^= 1 << random.below(8);
            let twin = known.contains(&other);
            let mut altered = states.clone();
            altered[at] = other;
            let flaw = audited(&machine, &altered, Share::All).flaw;
            assert!(flaw.is_some(), "{model}, state {at}, byte {byte} (another state: {twin})");
        }
    }
}

#[test]
fn a_state_that_was_added_is_noticed() {
    let mut random = Random(3);
    for model in MODELS {
        let machine = machine(model);
        let states = reachable(&machine);
        let known: HashSet<&Vec<u8>> = states.iter().collect();
        let mut added = 0;
        while added < 200 {
            let mut other = states[random.below(states.len())].clone();
            let byte = random.below(other.len());
            other[byte] = random.below(256) as u8;
            if known.contains(&other) {
                continue;
            }
            added += 1;
            let mut more = states.clone();
            more.insert(random.below(states.len() + 1), other);
            assert!(audited(&machine, &more, Share::All).flaw.is_some(), "{model}, byte {byte}");
        }
    }
}

#[test]
fn another_model_is_not_confirmed() {
    let (one, other) = (machine(MODELS[0]), machine(MODELS[1]));
    assert_ne!(one.fingerprint(), other.fingerprint());
    let flaw = audited(&other, &reachable(&one), Share::All).flaw;
    assert!(flaw.is_some(), "even if it were taken for one of this model");
}

#[test]
fn an_error_is_not_certified() {
    let machine = machine("examples/peterson_broken.pml");
    let flaw = audited(&machine, &reachable(&machine), Share::All).flaw;
    assert!(matches!(flaw, Some(Flaw::Error { .. })), "{flaw:?}");
}
