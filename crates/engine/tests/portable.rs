//! States leave their process: two operating-system processes share one search, each expands the states that
//! it owns, and together they find as many as one search does. The second process is this test executable
//! once more, told by its environment what to do; it has met the shapes of its states in another order, so
//! that their numbers differ.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::Model;
use jit::Jit;
use machine::Interp;
use machine::interp::acting_claim::ActingClaim;
use promela::ir::{ProctypeId, ProctypeKind};
use search::passing::Passing;
use search::product::Product;
use search::queue::Whole;
use search::{Checks, Levels, Limits, Silent, Task, frontier};
use store::Table;
use system::claim::{Claim, ClaimEdge, ClaimState, Guard};
use system::portable::{Exporter, Importer, ShapeNumber, read_state, write_state};
use system::{PortableError, Successors, SystemExt, TransitionSystem, Worker, WorkerExt};

/// Tells the second process which system to make.
const JOB: &str = "SPINOR_TEST_PORTABLE_JOB";

const MODELS: [&str; 8] = [
    "crates/engine/tests/portable_models/family.pml",
    "tests/models/language/process/pid_reuse.pml",
    "tests/models/language/process/init_waits.pml",
    "tests/models/language/channel/deleted_on_death.pml",
    "tests/models/language/channel/parameter.pml",
    "examples/tutorial/doubling.pml",
    "examples/philosophers.pml",
    "examples/leader_election.pml",
];

/// A model with a never claim that changes a variable.
const ACTING: &str = "crates/engine/tests/portable_models/acting.pml";

/// Which machine, and what around it.
const KINDS: [&str; 4] = ["native", "reference", "product", "passing"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn model(path: &str) -> Model {
    let text = std::fs::read_to_string(root().join(path)).expect("the model exists");
    Model::new(path, &text).expect("it is a model")
}

fn native(model: &Model) -> Jit {
    let sources = Arc::clone(&model.sources);
    Jit::new(Arc::new(model.program.clone()), move |span| sources.location(span)).expect("it compiles")
}

/// A claim that goes to and fro as it likes, and marks one of its steps.
fn claim(n_marks: u32) -> Claim {
    let edge =
        |to, marks| ClaimEdge { guard: Guard::True, to: ClaimState(to), atomic: false, marks, asserts: None };
    Claim {
        initial: ClaimState(0),
        n_marks,
        accepting: vec![false; 2],
        ends: vec![None, None],
        edges: vec![vec![edge(0, 0), edge(1, 0)], vec![edge(0, 1)]],
        first_only: vec![false; 2],
        stutters: true,
    }
}

/// Hands the system of this kind to `work`.
fn with_system<T>(kind: &str, path: &str, work: impl FnOnce(&dyn TransitionSystem) -> T) -> T {
    let model = model(path);
    match kind {
        "reference" => work(&model.machine(&model.program)),
        "product" => work(&Product::new(&native(&model), &claim(1), 0)),
        "acting" => {
            let never = model.program.proctypes.iter().position(|p| p.kind == ProctypeKind::Never);
            let never = ProctypeId(never.expect("a never claim") as u32);
            let machine = model.machine(&model.program);
            work(&ActingClaim::new(machine, never).expect("a claim that acts"))
        }
        "passing" => work(&Passing::new(&native(&model))),
        _ => work(&native(&model)),
    }
}

/// The number of states that one search finds.
fn count(system: &dyn TransitionSystem) -> u64 {
    let (stop, limits) = (AtomicBool::new(false), Limits::default());
    let task =
        Task { checks: Checks::SAFETY, all_errors: true, seed: None, limits, stop: &stop, reduce: None };
    let queue = Whole::new(system.hidden_bytes(), false);
    frontier(system, &mut Table::default(), queue, Levels::Edges, &task, &mut Silent).statistics.states
}

/// The ordinary states that a state leads to; atomic sequences are followed to their end.
fn successors(worker: &mut dyn Worker, state: &[u8]) -> Vec<Vec<u8>> {
    let (mut found, mut inside, mut out) = (Vec::new(), Vec::new(), Successors::default());
    let mut met = HashSet::new();
    worker.expand(state, &mut out);
    loop {
        for outcome in &out.list {
            let Some(next) = out.state(outcome) else { continue };
            match outcome.is_transient() {
                true if met.insert(next.to_vec()) => inside.push(next.to_vec()),
                true => {}
                false => found.push(next.to_vec()),
            }
        }
        out.clear();
        let Some(next) = inside.pop() else { return found };
        worker.expand_transient(&next, &mut out);
    }
}

/// Expands states in an order of its own, so that shapes are met in another one.
fn wander(system: &dyn TransitionSystem) {
    let (mut first, mut seen, mut worker) = (Vec::new(), HashSet::new(), system.worker());
    system.initial(&mut first).expect("it begins");
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        if seen.len() < 2000 && seen.insert(state.clone()) {
            open.extend(successors(&mut *worker, &state));
        }
    }
}

/// One of the two parts of a search: owns every other state.
struct Part<'a> {
    system: &'a dyn TransitionSystem,
    worker: Box<dyn Worker + 'a>,
    exporter: Exporter<'a>,
    importer: Importer<'a>,
    number: u64,
    /// The keys of the states that it owns.
    seen: HashSet<Vec<u8>>,
    /// Those that it has sent.
    sent: HashSet<Vec<u8>>,
    open: Vec<Vec<u8>>,
    /// Shape and contents of states that are to be sent.
    outgoing: Vec<(ShapeNumber, Vec<u8>)>,
    /// How many entries of the dictionary were sent.
    told: usize,
}

impl<'a> Part<'a> {
    fn new(system: &'a dyn TransitionSystem, number: u64) -> Self {
        Part {
            system,
            worker: system.worker(),
            exporter: Exporter::new(system).expect("states are portable"),
            importer: Importer::new(system).expect("states are portable"),
            number,
            seen: HashSet::new(),
            sent: HashSet::new(),
            open: Vec::new(),
            outgoing: Vec::new(),
            told: 0,
        }
    }

    fn meet(&mut self, state: Vec<u8>) {
        let mut contents = Vec::new();
        let exported = self.exporter.export(&state, &mut contents).expect("own states are known");
        let key = self.system.key(&state).to_vec();
        if exported.owner % 2 == self.number {
            if self.seen.insert(key) {
                self.open.push(state);
            }
        } else if self.sent.insert(key) {
            self.outgoing.push((exported.shape, contents));
        }
    }

    /// Expands all that it owns; answers what the other part owns.
    fn explore(&mut self) -> Vec<u8> {
        while let Some(state) = self.open.pop() {
            for next in successors(&mut *self.worker, &state) {
                self.meet(next);
            }
        }
        let (mut packet, mut part) = (Vec::new(), Vec::new());
        self.exporter.dictionary().write_from(self.told, &mut part);
        self.told = self.exporter.dictionary().len();
        put(&mut packet, &part);
        for (shape, contents) in self.outgoing.drain(..) {
            packet.extend_from_slice(&shape.0.to_le_bytes());
            put(&mut packet, &contents);
        }
        packet
    }

    /// Takes what the other part has sent; answers how many states that were.
    fn take(&mut self, mut packet: &[u8]) -> usize {
        self.importer.learn(get(&mut packet)).expect("the dictionary can be read");
        let mut n = 0;
        while let Some((shape, rest)) = packet.split_first_chunk() {
            packet = rest;
            let (shape, mut state) = (ShapeNumber(u32::from_le_bytes(*shape)), Vec::new());
            self.importer.import(shape, get(&mut packet), &mut state).expect("a state");
            let before = self.outgoing.len();
            self.meet(state);
            assert_eq!(self.outgoing.len(), before, "both agree about who owns a state");
            n += 1;
        }
        n
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn get<'a>(from: &mut &'a [u8]) -> &'a [u8] {
    let (len, rest) = from.split_first_chunk().expect("a length");
    let (bytes, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
    *from = rest;
    bytes
}

fn send(to: &mut dyn Write, packet: &[u8]) {
    let mut framed = Vec::new();
    put(&mut framed, packet);
    to.write_all(&framed).and_then(|()| to.flush()).expect("the other process reads");
}

fn receive(from: &mut dyn Read) -> Option<Vec<u8>> {
    let mut len = [0; 4];
    from.read_exact(&mut len).ok()?;
    let mut packet = vec![0; u32::from_le_bytes(len) as usize];
    from.read_exact(&mut packet).ok()?;
    Some(packet)
}

/// What the second process does. It answers on standard error, because the test harness writes to standard
/// output.
#[test]
fn second_process() {
    let Ok(job) = std::env::var(JOB) else { return };
    let (kind, path) = job.split_once(' ').expect("a kind and a path");
    with_system(kind, path, |system| {
        wander(system);
        let mut part = Part::new(system, 1);
        while let Some(packet) = receive(&mut std::io::stdin()) {
            part.take(&packet);
            let answer = part.explore();
            send(&mut std::io::stderr(), &(part.seen.len() as u64).to_le_bytes());
            send(&mut std::io::stderr(), &answer);
        }
    });
}

fn second(kind: &str, path: &str) -> Child {
    Command::new(std::env::current_exe().expect("this executable"))
        .args(["--exact", "second_process", "--nocapture", "--test-threads=1"])
        .env(JOB, format!("{kind} {path}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// The number of states that two processes find together, and how many of them the second one owns.
fn count_together(system: &dyn TransitionSystem, kind: &str, path: &str) -> (u64, u64) {
    let mut other = second(kind, path);
    let (mut to, mut from) = (other.stdin.take().expect("a pipe"), other.stderr.take().expect("a pipe"));
    let mut part = Part::new(system, 0);
    let mut first = Vec::new();
    system.initial(&mut first).expect("it begins");
    part.meet(first);
    let theirs = loop {
        let packet = part.explore();
        send(&mut to, &packet);
        let theirs = receive(&mut from).expect("an answer");
        let answer = receive(&mut from).expect("an answer");
        if part.take(&answer) == 0 {
            break u64::from_le_bytes(theirs.try_into().expect("a number"));
        }
    };
    drop(to);
    assert!(other.wait().expect("it ends").success());
    (part.seen.len() as u64 + theirs, theirs)
}

#[test]
fn two_processes_find_what_one_finds() {
    let machines = MODELS.into_iter().flat_map(|path| KINDS.map(|kind| (kind, path)));
    for (kind, path) in machines.chain([("acting", ACTING)]) {
        with_system(kind, path, |system| {
            let alone = count(system);
            let (together, theirs) = count_together(system, kind, path);
            assert_eq!(together, alone, "{kind} {path}");
            assert!(alone < 50 || theirs > alone / 4, "{kind} {path}: {theirs} of {alone}");
        });
    }
}

/// All ordinary states.
fn states(system: &dyn TransitionSystem) -> Vec<Vec<u8>> {
    let (mut first, mut worker) = (Vec::new(), system.worker());
    system.initial(&mut first).expect("it begins");
    let (mut seen, mut all, mut at) = (HashSet::from([first.clone()]), vec![first], 0);
    while let Some(state) = all.get(at).cloned() {
        at += 1;
        let new = successors(&mut *worker, &state).into_iter().filter(|next| seen.insert(next.clone()));
        all.extend(new);
    }
    all
}

#[test]
fn numbers_of_shapes_differ_and_states_do_not() {
    let model = model(MODELS[0]);
    let (here, there) = (native(&model), native(&model));
    wander(&there);
    let (mut bytes, mut differ) = (Vec::new(), 0);
    for state in states(&here) {
        let (mut copy, mut back) = (Vec::new(), Vec::new());
        bytes.clear();
        write_state(here.capabilities().portable.expect("portable"), &state, &mut bytes)
            .expect("it can be written");
        read_state(there.capabilities().portable.expect("portable"), &bytes, &mut copy)
            .expect("it can be read");
        assert_eq!(there.to_interp(&copy), here.to_interp(&state), "the same state");
        differ += usize::from(copy != state);
        bytes.clear();
        write_state(there.capabilities().portable.expect("portable"), &copy, &mut bytes)
            .expect("it can be written");
        read_state(here.capabilities().portable.expect("portable"), &bytes, &mut back)
            .expect("it can be read");
        assert_eq!(back, state, "and back");
    }
    assert!(differ > 100, "only {differ} states have other numbers");
}

#[test]
fn a_foreign_number_is_an_error_and_no_empty_expansion() {
    let model = model(MODELS[0]);
    let (fresh, other) = (native(&model), native(&model));
    let mut worker = fresh.worker();
    let mut unknown = 0;
    for state in states(&other) {
        let (mut out, mut actions, mut fired) = (Successors::default(), Vec::new(), Successors::default());
        worker.expand(&state, &mut out);
        worker.enabled(&state, &mut actions);
        worker.fire(&state, &actions, &mut fired);
        if let Some(fault) = out.list.first().and_then(|outcome| out.fault(outcome)) {
            assert!(fault.message.contains("the number of the shape is unknown"), "{}", fault.message);
            assert_eq!((actions.len(), fired.faults.len()), (1, 1));
            let exported = Exporter::new(&fresh).and_then(|mut e| e.export(&state, &mut Vec::new()));
            assert!(matches!(exported, Err(PortableError::UnknownShape(_))));
            unknown += 1;
        }
    }
    assert!(unknown > 100, "only {unknown} states have shapes that a fresh machine does not know");
}

#[test]
fn what_is_corrupt_is_refused() {
    for kind in KINDS {
        with_system(kind, MODELS[0], |system| {
            let all = states(system);
            let state = all.iter().max_by_key(|state| state.len()).expect("a state");
            let (mut exporter, mut importer) =
                (Exporter::new(system).expect("portable"), Importer::new(system).expect("portable"));
            let (mut contents, mut part, mut out) = (Vec::new(), Vec::new(), Vec::new());
            let shape = exporter.export(state, &mut contents).expect("it can be written").shape;
            exporter.dictionary().write_from(0, &mut part);
            assert_eq!(importer.import(shape, &contents, &mut out), Err(PortableError::UnknownShape(0)));
            importer.learn(&part).expect("it can be read");
            let foreign = importer.import(ShapeNumber(9), &contents, &mut out);
            assert_eq!(foreign, Err(PortableError::UnknownShape(9)));
            for len in 0..contents.len() {
                assert!(importer.import(shape, &contents[..len], &mut out).is_err(), "{kind}: {len} bytes");
            }
            contents.push(0);
            assert!(importer.import(shape, &contents, &mut out).is_err(), "{kind}: a byte too much");
            assert!(out.is_empty(), "{kind}: nothing is left behind");
            contents.pop();
            // Whatever is accepted can be expanded.
            let mut worker = system.worker();
            for (at, byte) in (0..contents.len()).flat_map(|at| [1, 2, 7, 200, 255].map(|byte| (at, byte))) {
                let mut changed = contents.clone();
                changed[at] ^= byte;
                if importer.import(shape, &changed, &mut out).is_ok() {
                    worker.expand(&out, &mut Successors::default());
                }
                out.clear();
            }
        });
    }
}

#[test]
fn another_model_is_refused() {
    let write = |system: &dyn TransitionSystem| {
        let (mut first, mut bytes) = (Vec::new(), Vec::new());
        system.initial(&mut first).expect("it begins");
        write_state(system.capabilities().portable.expect("portable"), &first, &mut bytes)
            .expect("it can be written");
        bytes
    };
    let reads = |system: &dyn TransitionSystem, bytes: &[u8]| {
        read_state(system.capabilities().portable.expect("portable"), bytes, &mut Vec::new())
    };
    let (family, other) = (model(MODELS[0]), model(MODELS[1]));
    let (jit, interp): (Jit, Interp) = (native(&family), family.machine(&family.program));
    let (one, two) = (claim(0), claim(1));
    let systems: [&dyn TransitionSystem; 6] = [
        &jit,
        &interp,
        &native(&other),
        &Passing::new(&jit),
        &Product::new(&jit, &one, 0),
        &Product::new(&jit, &two, 0),
    ];
    for (i, from) in systems.iter().enumerate() {
        for (j, to) in systems.iter().enumerate() {
            let read = reads(*to, &write(*from));
            match i == j {
                true => assert_eq!(read, Ok(())),
                false => assert!(matches!(read, Err(PortableError::OtherModel { .. })), "{i} {j}: {read:?}"),
            }
        }
    }
    let renamed = Model::new("elsewhere.pml", &std::fs::read_to_string(root().join(MODELS[0])).unwrap());
    assert_eq!(reads(&native(&renamed.expect("a model")), &write(&jit)), Ok(()), "the name does not matter");
}
