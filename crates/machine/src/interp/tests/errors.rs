//! What cannot be executed: run-time errors, bytes and actions that do not belong, very deep expressions.

use promela::ir::*;
use system::{Explain, FaultKind, Invariants, SystemExt, TransitionSystem};

use super::build::*;
use super::*;

/// The messages of all faults of a program with one process that executes one statement.
fn faults_of(build: impl Fn(&mut Model) -> Action) -> Vec<String> {
    let mut m = Model::default();
    let action = build(&mut m);
    let mut a = Body::new("A");
    a.edge(1, 2, action);
    m.active(a.end(2));
    let machine = machine(m.program);
    let seen = explore(&machine);
    seen.faults.into_keys().map(|(kind, message)| format!("{}: {message}", kind.name())).collect()
}

#[test]
fn run_time_errors() {
    let divide = faults_of(|m| {
        let x = m.byte("x");
        Action::Guard(op(c(1), BinaryOp::Div, v(&x)))
    });
    assert_eq!(divide, ["runtime: division by zero"]);
    let index = faults_of(|m| {
        let a = m.var("a", Type::Array(Box::new(Type::Scalar(Scalar::Byte)), 3), false);
        set(&element(&a, c(3), 3), c(1))
    });
    assert_eq!(index, ["runtime: index 3 is out of bounds: the last element is 2"]);
    let none = faults_of(|m| {
        let q = m.global("q", Scalar::Chan);
        send(&q, &[c(1)])
    });
    assert_eq!(none, ["runtime: the channel is not initialised"]);
    let gone = faults_of(|m| {
        let q = m.global("q", Scalar::Chan);
        m.program.init.push(InitStep::Assign(q.clone(), c(4)));
        send(&q, &[c(1)])
    });
    assert_eq!(gone, ["runtime: channel 4 does not exist (any more)"]);
    let few = faults_of(|m| {
        let q = m.chan("q", 1, &[Scalar::Byte, Scalar::Byte]);
        send(&q, &[c(1)])
    });
    assert_eq!(few, ["runtime: fewer message fields than the channel has (2)"]);
    let poll = faults_of(|m| {
        let q = m.chan("q", 0, &[Scalar::Byte]);
        Action::Receive { chan: v(&q), random: false, keep: true, args: vec![is(1)] }
    });
    assert_eq!(poll, ["runtime: a rendezvous channel cannot be polled"]);
    let priority = faults_of(|_| Action::SetPriority(c(0), c(256)));
    assert_eq!(priority, ["runtime: priority 256 is not within 1..255"]);
}

#[test]
fn arithmetic_is_that_of_c() {
    let value = |operator, left, right| {
        let mut m = Model::default();
        let x = m.global("x", Scalar::Int);
        let mut a = Body::new("A");
        a.edge(1, 2, set(&x, op(c(left), operator, c(right))));
        m.active(a.end(2));
        let machine = machine(m.program);
        let next = fire(&machine, &initial(&machine), 0);
        machine.snapshot(next.state(&next.list[0]).expect("a state")).globals[0].1.to_string()
    };
    assert_eq!(value(BinaryOp::Add, i32::MAX, 1), i32::MIN.to_string());
    assert_eq!(value(BinaryOp::Div, i32::MIN, -1), i32::MIN.to_string());
    assert_eq!(value(BinaryOp::Div, -7, 2), "-3");
    assert_eq!(value(BinaryOp::Rem, -7, 2), "-1");
    assert_eq!(value(BinaryOp::Shl, 1, 33), "2");
    assert_eq!(value(BinaryOp::Shr, -8, 1), "-4");
    assert_eq!(value(BinaryOp::And, 2, 4), "1");
}

/// A program with a bit of everything that takes room in a state.
fn varied() -> Interp {
    let mut m = Model::default();
    m.program.uses = Uses { last: true, priority: true, timeout: true, enabled: true };
    let q = m.chan("q", 2, &[Scalar::Byte, Scalar::Int]);
    m.var("a", Type::Array(Box::new(Type::Scalar(Scalar::Short)), 3), false);
    let h = m.var("h", Type::Scalar(Scalar::Unsigned(12)), true);
    let mut p = Body::new("P");
    let n = p.param("n", Scalar::Int);
    p.edge(1, 2, send(&q, &[v(&n), v(&n)]));
    p.edge(2, 3, set(&h, v(&n)));
    let p = m.proctype(p.end(3));
    let mut init = Body::new(":init:");
    init.atomic(1, 2, Action::Guard(run(p, &[c(-70000)])));
    init.edge(2, 3, Action::Guard(run(p, &[c(2)])));
    m.active(init.end(3));
    machine(m.program)
}

#[test]
fn bytes_that_are_no_state_do_no_harm() {
    let machine = varied();
    let state = initial(&machine);
    let next = fire(&machine, &state, 0);
    let good = next.state(&next.list[0]).expect("a state").to_vec();
    let action = enabled(&machine, &good)[0];
    for position in 0..good.len() {
        for byte in 0..=255 {
            let mut bad = good.clone();
            bad[position] = byte;
            probe(&machine, &bad, action);
        }
        probe(&machine, &good[..position], action);
    }
    probe(&machine, &[good.clone(), vec![0]].concat(), action);
}

fn probe(machine: &Interp, state: &[u8], action: ActionId) {
    let mut out = Successors::default();
    machine.fire(state, &[action], &mut out);
    machine.fire(state, &enabled(machine, state), &mut out);
    assert!(out.list.iter().all(|s| s.has_state() || s.fault > 0));
    machine.labels(state);
    machine.deadlock(state);
    machine.inspect(state, &mut Vec::new());
    machine.key(state);
    machine.snapshot(state);
    machine.step(state, action);
    machine.events(state, action);
}

#[test]
fn actions_that_do_not_belong_are_internal_errors() {
    let machine = varied();
    let state = initial(&machine);
    for id in [0, 1, 1 << 32, 77 << 56, u64::MAX, 0xff << 24 | 5 << 32, 0xff << 24 | 1 << 32 | 0xff_ffff] {
        let mut out = Successors::default();
        machine.fire(&state, &[ActionId(id)], &mut out);
        assert_eq!(out.list.len(), 1);
        let fault = out.fault(&out.list[0]).expect("a fault");
        assert!(fault.message.starts_with("internal error"), "{}", fault.message);
        machine.step(&state, ActionId(id));
    }
}

#[test]
fn states_survive_being_written_and_read() {
    let machine = varied();
    let mut todo = vec![initial(&machine)];
    let mut steps = 0;
    while let Some(state) = todo.pop() {
        let decoded = machine.decode(&state).expect("a state");
        let mut again = Vec::new();
        machine.encode(&decoded, &mut again);
        assert_eq!(state, again);
        steps += 1;
        let mut out = Successors::default();
        machine.fire(&state, &enabled(&machine, &state), &mut out);
        todo.extend(out.list.iter().filter_map(|s| out.state(s)).map(<[u8]>::to_vec));
    }
    assert!(steps > 10);
}

#[test]
fn expressions_may_be_deep() {
    let deep = || {
        let mut m = Model::default();
        let x = m.global("x", Scalar::Int);
        let mut a = Body::new("A");
        let sum = (0..10_000).fold(c(0), |sum, _| op(c(1), BinaryOp::Add, sum));
        a.edge(1, 2, set(&x, sum));
        m.active(a.end(2));
        let machine = machine(m.program);
        let next = fire(&machine, &initial(&machine), 0);
        machine.snapshot(next.state(&next.list[0]).expect("a state")).globals[0].1.to_string()
    };
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(deep).expect("a thread");
    assert_eq!(thread.join().expect("no overflow"), "10000");
}

#[test]
fn programs_that_cannot_be_executed_are_refused() {
    let mut m = Model::default();
    let x = m.byte("x");
    let mut a = Body::new("A");
    a.edge(1, 2, set(&Place { cell: 1, ..x }, c(1)));
    m.active(a.end(2));
    assert!(try_machine(m.program).is_err());
}

#[test]
fn invariants_and_deadlocks_are_explained() {
    let mut m = Model::default();
    let x = m.byte("x");
    let expr = op(v(&x), BinaryOp::Lt, c(1));
    let span = Span::NONE;
    m.program.invariants.push(Invariant { name: "small".into(), expr, text: "x < 1".into(), span });
    let mut a = Body::new("A");
    a.edge(1, 2, Action::Printf("x is %d\\n".into(), vec![v(&x)]));
    a.edge(2, 3, set(&x, c(1)));
    a.edge(3, 4, eq(&x, 9)).span.start = 11;
    m.active(a.end(4));
    let machine = machine(m.program);
    let mut state = initial(&machine);
    let events = machine.events(&state, enabled(&machine, &state)[0]);
    assert_eq!(system::explain::printed(&events), "x is 0\n");
    for _ in 0..2 {
        let next = fire(&machine, &state, 0);
        state = next.state(&next.list[0]).expect("a state").to_vec();
    }
    let mut faults = Vec::new();
    machine.inspect(&state, &mut faults);
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].kind, FaultKind::Invariant);
    assert_eq!(faults[0].message, "invariant small violated: x < 1");
    let deadlock = machine.deadlock(&state);
    assert_eq!(deadlock.message, "invalid end state: A[0] is stuck");
    assert_eq!((deadlock.line, deadlock.process.as_deref(), deadlock.pid), (12, Some("A"), Some(0)));
}
