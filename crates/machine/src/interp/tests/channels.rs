//! Channels: sorted sends, random receives, message fields, trace assertions.

use promela::ir::*;
use system::{Explain, FaultKind, TransitionSystem};

use super::build::*;
use super::*;

/// ```promela
/// chan q = [3] of {byte, short}; byte x; short y;
/// active proctype A() { q!!300,5; q!!7,2; q!!7,1 }
/// active proctype B() { q??7,y; q?x,y; q?<x,y>; q?x,y; assert(x == 44) }
/// ```
#[test]
fn sorted_sends_and_random_receives() {
    let mut m = Model::default();
    let q = m.chan("q", 3, &[Scalar::Byte, Scalar::Short]);
    let (x, y) = (m.byte("x"), m.global("y", Scalar::Short));
    let mut a = Body::new("A");
    for (i, (first, second)) in [(300, 5), (7, 2), (7, 1)].into_iter().enumerate() {
        a.edge(i as u32 + 1, i as u32 + 2, send_sorted(&q, &[c(first), c(second)]));
    }
    m.active(a.end(4));
    let mut b = Body::new("B");
    let both = [to(&x), to(&y)];
    let receive =
        |random, keep, args: &[RecvArg]| Action::Receive { chan: v(&q), random, keep, args: args.to_vec() };
    b.edge(1, 2, receive(true, false, &[is(7), to(&y)]));
    b.edge(2, 3, receive(false, false, &both));
    b.edge(3, 4, receive(false, true, &both));
    b.edge(4, 5, receive(false, false, &both));
    b.edge(5, 6, Action::Assert(op(v(&x), BinaryOp::Eq, c(44))));
    m.active(b.end(6));
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (21, 0));
    assert_eq!(seen.faults.into_values().sum::<usize>(), 1);
}

/// The values that were sent are compared before they are truncated, and equal messages stay in order.
#[test]
fn where_a_sorted_send_inserts() {
    let mut m = Model::default();
    let q = m.chan("q", 4, &[Scalar::Byte, Scalar::Byte]);
    let mut a = Body::new("A");
    for (i, message) in [[5, 1], [2, 9], [258, 0], [5, 0]].into_iter().enumerate() {
        a.edge(i as u32 + 1, i as u32 + 2, send_sorted(&q, &message.map(c)));
    }
    m.active(a.end(5));
    let machine = machine(m.program);
    let mut state = initial(&machine);
    for _ in 0..4 {
        let next = fire(&machine, &state, 0);
        state = next.state(&next.list[0]).expect("a state").to_vec();
    }
    let snapshot = machine.snapshot(&state);
    let channel = snapshot.channel("q").expect("the channel");
    // 258 is greater than 5 when it is sent, and 2 once it is stored; 5,0 then goes before 5,1.
    assert_eq!(channel.contents().to_string(), "[(2,9), (5,0), (5,1), (2,0)]");
}

#[test]
fn polls_look_and_do_not_touch() {
    let poll = |random: bool, wanted: i32| {
        let mut m = Model::default();
        let q = m.chan("q", 2, &[Scalar::Byte]);
        let mut a = Body::new("A");
        a.edge(1, 2, send(&q, &[c(1)]));
        a.edge(2, 3, send(&q, &[c(2)]));
        let chan = Box::new(v(&q));
        a.edge(3, 4, Action::Guard(e(ExprKind::Poll { chan, random, args: vec![is(wanted)] })));
        m.active(a.end(4));
        explore(&machine(m.program)).deadlocks == 0
    };
    assert!(poll(false, 1) && !poll(false, 2) && poll(true, 2) && !poll(true, 3));
}

/// A channel received in a message can be used; `len` and friends count.
#[test]
fn questions_about_channels() {
    let mut m = Model::default();
    let q = m.chan("q", 2, &[Scalar::Byte]);
    let sum = m.global("sum", Scalar::Int);
    let mut a = Body::new("A");
    let ask = |which| e(ExprKind::Chan(which, Box::new(v(&q))));
    let weigh = |which, weight| op(ask(which), BinaryOp::Mul, c(weight));
    let all = [
        weigh(ChanOp::Len, 1),
        weigh(ChanOp::Full, 10),
        weigh(ChanOp::Nfull, 100),
        weigh(ChanOp::Empty, 1000),
        weigh(ChanOp::Nempty, 10000),
    ];
    let all = all.into_iter().reduce(|a, b| op(a, BinaryOp::Add, b)).expect("not empty");
    for i in 0..3 {
        a.edge(2 * i + 1, 2 * i + 2, set(&sum, all.clone()));
        a.edge(2 * i + 2, 2 * i + 3, send(&q, &[c(0)]));
    }
    m.active(a.end(7));
    let machine = machine(m.program);
    let mut state = initial(&machine);
    let mut seen = Vec::new();
    while let Some(next) = (!enabled(&machine, &state).is_empty()).then(|| fire(&machine, &state, 0)) {
        state = next.state(&next.list[0]).expect("a state").to_vec();
        seen.push(machine.snapshot(&state).globals[1].1.to_string());
    }
    assert_eq!(seen, ["1100", "1100", "10101", "10101", "10012"]);
}

/// ```promela
/// chan q = [2] of {byte, byte}; chan r = [0] of {byte};
/// active proctype A() { q!1,0; r!2; q!3,0 }
/// active proctype B() { byte z; q?1,z; r?2; q?3,z }
/// trace { do :: q!1,0; q?1,_; r!2 :: q!3,_; q?3,0; break od }
/// ```
///
/// Spin finds one error: the send on `r` is seen as soon as it is offered, while the trace waits for `q?1`.
#[test]
fn a_trace_sees_sends_when_they_are_offered() {
    let mut m = Model::default();
    let q = m.chan("q", 2, &[Scalar::Byte, Scalar::Byte]);
    let r = m.chan("r", 0, &[Scalar::Byte]);
    let mut a = Body::new("A");
    a.edge(1, 2, send(&q, &[c(1), c(0)]));
    a.edge(2, 3, send(&r, &[c(2)]));
    a.edge(3, 4, send(&q, &[c(3), c(0)]));
    m.active(a.end(4));
    let mut b = Body::new("B");
    let z = b.local("z", Scalar::Byte);
    b.edge(1, 2, recv(&q, &[is(1), to(&z)]));
    b.edge(2, 3, recv(&r, &[is(2)]));
    b.edge(3, 4, recv(&q, &[is(3), to(&z)]));
    m.active(b.end(4));
    let mut trace = Body::new(":trace:");
    trace.edge(1, 2, event(true, &q, &[is(1), is(0)]));
    trace.edge(2, 3, event(false, &q, &[is(1), RecvArg::Ignore]));
    trace.edge(3, 1, event(true, &r, &[is(2)]));
    trace.edge(1, 4, event(true, &q, &[is(3), RecvArg::Ignore]));
    trace.edge(4, 5, event(false, &q, &[is(3), is(0)]));
    m.trace(trace.end(5), ProctypeKind::Trace);
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (8, 0));
    let message = "the trace assertion does not allow this event".to_string();
    assert_eq!(seen.faults.into_iter().collect::<Vec<_>>(), [((FaultKind::Trace, message), 1)]);
}

/// A run is over properly only where the trace assertion may end.
#[test]
fn a_trace_must_be_complete_at_the_end() {
    let mut m = Model::default();
    let q = m.chan("q", 2, &[Scalar::Byte]);
    let mut b = Body::new("B");
    b.edge(1, 2, Action::Guard(c(0)));
    b.location(1).end = true;
    m.active(b);
    let mut a = Body::new("A");
    a.edge(1, 2, send(&q, &[c(1)]));
    m.active(a.end(2));
    let mut trace = Body::new(":trace:");
    trace.edge(1, 2, event(true, &q, &[is(1)]));
    trace.edge(2, 3, event(true, &q, &[is(2)]));
    m.trace(trace.end(3), ProctypeKind::Trace);
    let machine = machine(m.program);
    assert_eq!(explore(&machine).deadlocks, 1);
    assert!(machine.deadlock(&initial(&machine)).message.contains("A[1] is stuck"));
}

/// ```promela
/// chan q = [2] of {byte, byte};
/// active proctype A() { if :: q!1,0 :: q!2,0 fi; q!3,0 }
/// active proctype B() { byte z; end: do :: q?z,_ od }
/// notrace { q!1,_; q!3,_ }
/// ```
#[test]
fn a_notrace_must_not_be_matched() {
    let mut m = Model::default();
    let q = m.chan("q", 2, &[Scalar::Byte, Scalar::Byte]);
    let mut a = Body::new("A");
    a.edge(1, 2, send(&q, &[c(1), c(0)]));
    a.edge(1, 2, send(&q, &[c(2), c(0)]));
    a.edge(2, 3, send(&q, &[c(3), c(0)]));
    m.active(a.end(3));
    let mut b = Body::new("B");
    let z = b.local("z", Scalar::Byte);
    b.edge(1, 1, recv(&q, &[to(&z), RecvArg::Ignore]));
    b.location(1).end = true;
    m.active(b);
    let mut trace = Body::new(":notrace:");
    trace.edge(1, 2, event(true, &q, &[is(1)]));
    trace.edge(2, 3, event(true, &q, &[is(3)]));
    m.trace(trace.end(3), ProctypeKind::NoTrace);
    let seen = explore(&machine(m.program));
    let message = "the notrace assertion is matched".to_string();
    assert_eq!(seen.faults.into_iter().collect::<Vec<_>>(), [((FaultKind::Trace, message), 2)]);
}

/// ```promela
/// chan q = [2] of {byte}; byte x;
/// active proctype A() { q!1; q!2; x = q??[2]; assert(x == 2) }
/// ```
///
/// Spin finds no error, unless the program also has a rendezvous channel.
#[test]
fn a_random_poll_is_a_position() {
    for rendezvous in [false, true] {
        let mut m = Model::default();
        let (q, x) = (m.chan("q", 2, &[Scalar::Byte]), m.byte("x"));
        if rendezvous {
            m.chan("r", 0, &[Scalar::Byte]);
        }
        let mut a = Body::new("A");
        a.edge(1, 2, send(&q, &[c(1)]));
        a.edge(2, 3, send(&q, &[c(2)]));
        let chan = Box::new(v(&q));
        a.edge(3, 4, set(&x, e(ExprKind::Poll { chan, random: true, args: vec![is(2)] })));
        a.edge(4, 5, Action::Assert(op(v(&x), BinaryOp::Eq, c(2))));
        m.active(a.end(5));
        assert_eq!(explore(&machine(m.program)).faults.len(), usize::from(rendezvous));
    }
}
