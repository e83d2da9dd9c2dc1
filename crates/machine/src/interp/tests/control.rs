//! Who moves when: rendezvous and atomic sequences, escapes, `else`, `timeout`, d_step, priorities.

use promela::ir::*;
use system::{FaultKind, TransitionSystem};

use super::build::*;
use super::*;

/// ```promela
/// chan q = [0] of {byte}; byte x;
/// active proctype A() { atomic { q!1; x = 1; x = 2 } }
/// active proctype B() { byte y; atomic { q?y; y = 5; x = 3 } }
/// active proctype C() { x = 9 }
/// ```
#[test]
fn a_rendezvous_passes_control_to_the_receiver() {
    let mut m = Model::default();
    let (q, x) = (m.chan("q", 0, &[Scalar::Byte]), m.byte("x"));
    let mut a = Body::new("A");
    a.atomic(1, 2, send(&q, &[c(1)]));
    a.atomic(2, 3, set(&x, c(1)));
    a.edge(3, 4, set(&x, c(2)));
    m.active(a.end(4));
    let mut b = Body::new("B");
    let y = b.local("y", Scalar::Byte);
    b.atomic(1, 2, recv(&q, &[to(&y)]));
    b.atomic(2, 3, set(&y, c(5)));
    b.edge(3, 4, set(&x, c(3)));
    m.active(b.end(4));
    let mut body = Body::new("C");
    body.edge(1, 2, set(&x, c(9)));
    m.active(body.end(2));
    let machine = machine(m.program);
    let seen = explore(&machine);
    assert_eq!((seen.states, seen.deadlocks), (19, 0));
    let state = initial(&machine);
    let rendezvous = fire(&machine, &state, 1);
    assert!(rendezvous.list[0].is_transient());
    let inside = rendezvous.state(&rendezvous.list[0]).expect("a state").to_vec();
    assert_eq!(enabled(&machine, &inside).len(), 1, "only the receiver moves");
}

/// ```promela
/// chan q = [0] of {byte}; byte x, n;
/// active proctype A() {
///     do :: x < 2 -> { x++; n++; x++ } unless { q!1 -> x = 3 } :: else -> break od
/// }
/// active proctype B() { n == 1; q?1 }
/// ```
#[test]
fn an_escape_is_tried_first_and_hides_the_body() {
    let mut m = Model::default();
    let (q, x, n) = (m.chan("q", 0, &[Scalar::Byte]), m.byte("x"), m.byte("n"));
    let mut a = Body::new("A");
    a.edge(1, 2, lt(&x, 2));
    a.edge(1, 9, Action::Else);
    for (from, to, action) in [(2, 3, add(&x, 1)), (3, 4, add(&n, 1)), (4, 1, add(&x, 1))] {
        a.escape(from, 5, 6, send(&q, &[c(1)]));
        a.edge(from, to, action);
    }
    a.edge(6, 1, set(&x, c(3)));
    m.active(a.end(9));
    let mut b = Body::new("B");
    b.edge(1, 2, eq(&n, 1));
    b.edge(2, 3, recv(&q, &[is(1)]));
    m.active(b.end(3));
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (16, 1));
}

/// ```promela
/// chan q = [0] of {byte}; byte x;
/// active proctype A() { if :: q!1 -> x = 1 :: x > 5 -> x = 2 fi unless { x == 7 -> x = 8 } }
/// active proctype B() { if :: q?1 :: q?_ :: x = 7 fi }
/// active proctype C() { if :: q?1 :: skip fi }
/// ```
#[test]
fn every_receiver_of_a_rendezvous_is_an_action_of_its_own() {
    let mut m = Model::default();
    let (q, x) = (m.chan("q", 0, &[Scalar::Byte]), m.byte("x"));
    let mut a = Body::new("A");
    for from in [1, 2, 3] {
        a.escape(from, 4, 5, eq(&x, 7));
        if from == 1 {
            a.edge(1, 2, send(&q, &[c(1)]));
            a.edge(1, 3, gt(&x, 5));
        }
    }
    a.edge(2, 6, set(&x, c(1)));
    a.edge(3, 6, set(&x, c(2)));
    a.edge(5, 6, set(&x, c(8)));
    m.active(a.end(6));
    let mut b = Body::new("B");
    b.edge(1, 2, recv(&q, &[is(1)]));
    b.edge(1, 2, recv(&q, &[RecvArg::Ignore]));
    b.edge(1, 2, set(&x, c(7)));
    m.active(b.end(2));
    let mut body = Body::new("C");
    body.edge(1, 2, recv(&q, &[is(1)]));
    body.edge(1, 2, Action::Skip);
    m.active(body.end(2));
    let machine = machine(m.program);
    let seen = explore(&machine);
    assert_eq!((seen.states, seen.deadlocks), (36, 0));
    assert_eq!(enabled(&machine, &initial(&machine)).len(), 5, "skip, x = 7, and three receivers");
}

/// `if :: q!1 :: else fi`: else is executable as long as nobody receives.
#[test]
fn a_send_that_nobody_receives_does_not_hide_else() {
    let build = |receiver: bool| {
        let mut m = Model::default();
        let q = m.chan("q", 0, &[Scalar::Byte]);
        let mut a = Body::new("A");
        a.edge(1, 2, send(&q, &[c(1)]));
        a.edge(1, 2, Action::Else);
        m.active(a.end(2));
        let mut b = Body::new("B");
        b.edge(1, 2, recv(&q, &[is(if receiver { 1 } else { 2 })]));
        m.active(b.end(2));
        machine(m.program)
    };
    for receiver in [true, false] {
        let machine = build(receiver);
        let actions = enabled(&machine, &initial(&machine));
        let joint = actions.iter().filter(|&&a| crate::action::Action::unpack(a).partner.is_some()).count();
        assert_eq!((actions.len(), joint), (1, usize::from(receiver)));
    }
}

/// ```promela
/// byte x;
/// active proctype A() { do :: x < 2 -> x++ :: timeout -> x = 9; break od }
/// active proctype B() { atomic { x == 2; x = 3; timeout; x = 0 } }
/// ```
#[test]
fn timeout_is_true_when_nobody_can_move() {
    let mut m = Model::default();
    m.program.uses.timeout = true;
    let x = m.byte("x");
    let mut a = Body::new("A");
    a.edge(1, 2, lt(&x, 2));
    a.edge(1, 3, timeout());
    a.edge(2, 1, add(&x, 1));
    a.edge(3, 4, set(&x, c(9)));
    m.active(a.end(4));
    let mut b = Body::new("B");
    b.atomic(1, 2, eq(&x, 2));
    b.atomic(2, 3, set(&x, c(3)));
    b.atomic(3, 4, timeout());
    b.edge(4, 5, set(&x, c(0)));
    m.active(b.end(5));
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (24, 0));
}

/// ```promela
/// byte x, y; chan q = [0] of {byte};
/// active proctype A() {
///     byte i;
///     d_step { i = 0; do :: i < 3 -> x = x + i; i++ :: else -> break od; assert(x == 4) };
///     q!x
/// }
/// active proctype B() {
///     do :: d_step { q?y -> y = y + 1; x = 0 } :: x > 0 -> x--; break od
/// }
/// ```
#[test]
fn a_d_step_is_one_step() {
    let mut m = Model::default();
    let (x, y, q) = (m.byte("x"), m.byte("y"), m.chan("q", 0, &[Scalar::Byte]));
    let mut a = Body::new("A");
    let i = a.local("i", Scalar::Byte);
    a.edge(1, 2, Action::DStep { entry: LocId(10), exit: LocId(2), guards: None });
    a.edge(10, 11, set(&i, c(0)));
    a.edge(11, 12, lt(&i, 3));
    a.edge(11, 14, Action::Else);
    a.edge(12, 13, set(&x, op(v(&x), BinaryOp::Add, v(&i))));
    a.edge(13, 11, add(&i, 1));
    a.edge(14, 2, Action::Assert(op(v(&x), BinaryOp::Eq, c(4))));
    a.edge(2, 3, send(&q, &[v(&x)]));
    m.active(a.end(3));
    let mut b = Body::new("B");
    b.edge(1, 1, Action::DStep { entry: LocId(10), exit: LocId(1), guards: None });
    b.edge(10, 11, recv(&q, &[to(&y)]));
    b.edge(11, 12, add(&y, 1));
    b.edge(12, 1, set(&x, c(0)));
    b.edge(1, 2, gt(&x, 0));
    b.edge(2, 3, add(&x, -1));
    m.active(b.end(3));
    let seen = explore(&machine(m.program));
    // Spin counts three errors: the assertion and two invalid end states.
    assert_eq!((seen.states, seen.deadlocks), (6, 2));
    assert_eq!(seen.faults[&(FaultKind::Assertion, "assertion violated: claim".into())], 1);
}

#[test]
fn errors_inside_a_d_step() {
    let run = |build: &dyn Fn(&mut Body, &Place, &Place)| {
        let mut m = Model::default();
        let (x, q) = (m.global("x", Scalar::Int), m.chan("q", 0, &[Scalar::Byte]));
        let mut a = Body::new("A");
        a.edge(1, 2, Action::DStep { entry: LocId(10), exit: LocId(2), guards: None });
        build(&mut a, &x, &q);
        m.active(a.end(2));
        let seen = explore(&machine(m.program));
        assert_eq!((seen.states, seen.faults.len()), (1, 1));
        seen.faults.into_keys().next().expect("a fault")
    };
    let blocked = run(&|a, x, _| {
        a.edge(10, 11, set(x, c(1)));
        a.edge(11, 2, eq(x, 2));
    });
    assert_eq!(blocked, (FaultKind::Runtime, "a statement inside d_step blocks".into()));
    let rendezvous = run(&|a, _, q| {
        a.edge(10, 2, send(q, &[c(1)]));
    });
    assert_eq!(rendezvous, (FaultKind::Runtime, "a rendezvous send inside d_step".into()));
    let endless = run(&|a, x, _| {
        a.edge(10, 11, Action::Skip);
        a.edge(11, 12, add(x, 1));
        a.edge(12, 11, set(x, op(v(x), BinaryOp::Rem, c(7))));
        a.edge(13, 2, Action::Skip);
    });
    assert_eq!(endless, (FaultKind::Runtime, "the d_step never ends".into()));
}

/// `d_step { if :: x = 1 :: x > 5 fi }`: Spin looks only at the condition to see whether it can start.
#[test]
fn a_d_step_starts_when_a_condition_of_its_choice_holds() {
    for (start, expected) in [(0, 0), (6, 1)] {
        let mut m = Model::default();
        let x = m.byte("x");
        m.program.init.push(InitStep::Assign(x.clone(), c(start)));
        let mut a = Body::new("A");
        a.edge(1, 2, Action::DStep { entry: LocId(10), exit: LocId(2), guards: Some(LocId(11)) });
        a.edge(10, 2, set(&x, c(1)));
        a.edge(11, 2, gt(&x, 5));
        m.active(a.end(2));
        let machine = machine(m.program);
        assert_eq!(enabled(&machine, &initial(&machine)).len(), expected);
    }
}

/// ```promela
/// byte x;
/// active proctype A() priority 5 { x == 2; x = 3; set_priority(1, 7); x == 4; x = 5 }
/// active proctype B() priority 2 { x++; x++; x++; x = x + get_priority(_pid) + _priority; x = 4 }
/// active proctype C() priority 1 provided (x != 3) { x = 100 }
/// ```
#[test]
fn the_highest_priority_moves() {
    let mut m = Model::default();
    m.program.uses.priority = true;
    let x = m.byte("x");
    let mut a = Body::new("A");
    a.edge(1, 2, eq(&x, 2));
    a.edge(2, 3, set(&x, c(3)));
    a.edge(3, 4, Action::SetPriority(c(1), c(7)));
    a.edge(4, 5, eq(&x, 4));
    a.edge(5, 6, set(&x, c(5)));
    m.active_with_priority(a.end(6), 5);
    let mut b = Body::new("B");
    for i in 1..4 {
        b.edge(i, i + 1, add(&x, 1));
    }
    let own = e(ExprKind::GetPriority(Box::new(e(ExprKind::Pid))));
    let sum = op(op(v(&x), BinaryOp::Add, own), BinaryOp::Add, e(ExprKind::Priority));
    b.edge(4, 5, set(&x, sum));
    b.edge(5, 6, set(&x, c(4)));
    m.active_with_priority(b.end(6), 2);
    let mut body = Body::new("C");
    body.proctype.provided = Some(op(v(&x), BinaryOp::Ne, c(3)));
    body.edge(1, 2, set(&x, c(100)));
    m.active_with_priority(body.end(2), 1);
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (15, 0));
}

/// ```promela
/// byte n;
/// active proctype A() { byte i; do :: i < 3 -> i++; n = n + (_last == 1) :: else -> break od }
/// active proctype B() { n++; n = n + pc_value(0) }
/// ```
#[test]
fn the_last_mover_and_the_location_of_others() {
    let mut m = Model::default();
    m.program.uses.last = true;
    let n = m.byte("n");
    let mut a = Body::new("A");
    let i = a.local("i", Scalar::Byte);
    // Numbered as Spin does: the loop is state 6, its body 2 and 3, the end 9.
    a.proctype.start = LocId(6);
    a.edge(6, 2, lt(&i, 3));
    a.edge(6, 9, Action::Else);
    a.edge(2, 3, add(&i, 1));
    let last = op(e(ExprKind::Last), BinaryOp::Eq, c(1));
    a.edge(3, 6, set(&n, op(v(&n), BinaryOp::Add, last)));
    m.active(a.end(9));
    let mut b = Body::new("B");
    b.edge(1, 2, add(&n, 1));
    let pc = e(ExprKind::PcValue(Box::new(c(0))));
    b.edge(2, 3, set(&n, op(v(&n), BinaryOp::Add, pc)));
    m.active(b.end(3));
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (218, 0));
}

/// A `D_proctype` with two executable statements is an error of the second.
#[test]
fn a_deterministic_proctype_has_one_move() {
    let mut m = Model::default();
    let x = m.byte("x");
    let mut a = Body::new("A");
    a.proctype.deterministic = true;
    a.edge(1, 2, lt(&x, 2));
    a.edge(1, 2, set(&x, c(1)));
    m.active(a.end(2));
    let machine = machine(m.program);
    let state = initial(&machine);
    assert_eq!(fire(&machine, &state, 0).list[0].fault, 0);
    let second = fire(&machine, &state, 1);
    assert_eq!(second.fault(&second.list[0]).map(|fault| fault.kind), Some(FaultKind::Runtime));
}

#[test]
fn labels_of_locations() {
    let mut m = Model::default();
    let q = m.chan("q", 1, &[Scalar::Byte]);
    let mut a = Body::new("A");
    a.edge(1, 2, send(&q, &[c(1)]));
    a.location(1).accept = true;
    a.location(2).progress = true;
    m.active(a.end(2));
    let machine = machine(m.program);
    let state = initial(&machine);
    let labels = machine.labels(&state);
    assert!(labels.accepting && !labels.progress && !labels.valid_end && labels.channels_empty);
    let next = fire(&machine, &state, 0);
    let labels = machine.labels(next.state(&next.list[0]).expect("a state"));
    assert!(!labels.accepting && labels.progress && labels.valid_end && !labels.channels_empty);
}

/// ```promela
/// chan q = [0] of {byte}; byte x;
/// active proctype A() provided (x != 2) { do :: atomic { q!x; x++; q!9 } :: x > 3 -> break od }
/// active proctype B() {
///     byte y;
///     do :: q?y :: atomic { q?9; y = 0; x = 2; x == 3; x = 4 } :: y == 4 -> break od
/// }
/// active proctype C() provided (x == 2 || x == 1) {
///     do :: d_step { x == 2; x = 3 } :: q?1 :: timeout -> break od
/// }
/// ```
#[test]
fn provided_clauses_atomic_sequences_and_rendezvous_together() {
    let mut m = Model::default();
    m.program.uses.timeout = true;
    let (q, x) = (m.chan("q", 0, &[Scalar::Byte]), m.byte("x"));
    let mut a = Body::new("A");
    a.proctype.provided = Some(op(v(&x), BinaryOp::Ne, c(2)));
    a.atomic(1, 2, send(&q, &[v(&x)]));
    a.edge(1, 4, gt(&x, 3));
    a.atomic(2, 3, add(&x, 1));
    a.edge(3, 1, send(&q, &[c(9)]));
    m.active(a.end(4));
    let mut b = Body::new("B");
    let y = b.local("y", Scalar::Byte);
    b.edge(1, 1, recv(&q, &[to(&y)]));
    b.atomic(1, 3, recv(&q, &[is(9)]));
    b.edge(1, 13, eq(&y, 4));
    b.atomic(3, 4, set(&y, c(0)));
    b.atomic(4, 5, set(&x, c(2)));
    b.atomic(5, 6, eq(&x, 3));
    b.edge(6, 1, set(&x, c(4)));
    m.active(b.end(13));
    let mut body = Body::new("C");
    let is_2 = op(v(&x), BinaryOp::Eq, c(2));
    body.proctype.provided = Some(op(is_2, BinaryOp::Or, op(v(&x), BinaryOp::Eq, c(1))));
    body.edge(1, 1, Action::DStep { entry: LocId(2), exit: LocId(1), guards: None });
    body.edge(1, 1, recv(&q, &[is(1)]));
    body.edge(1, 7, timeout());
    body.edge(2, 3, eq(&x, 2));
    body.edge(3, 1, set(&x, c(3)));
    m.active(body.end(7));
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (778, 255));
}
