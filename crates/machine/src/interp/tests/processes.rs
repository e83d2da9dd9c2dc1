//! Processes: birth, parameters, death in reverse order, remote references, hidden variables.

use promela::ir::*;
use system::{Explain, FaultKind, SystemExt, Value};

use super::build::*;
use super::*;

/// ```promela
/// byte n;
/// proctype P(byte a) { chan l = [1] of {byte}; l!a; l?n }
/// init { run P(300); run P(2); n = 7; (n == 2); run P(3) }
/// ```
#[test]
fn processes_die_highest_pid_first() {
    let mut m = Model::default();
    let n = m.byte("n");
    let ty = m.chan_type("l", 1, &[Scalar::Byte]);
    let mut p = Body::new("P");
    let a = p.param("a", Scalar::Byte);
    let l = p.local("l", Scalar::Chan);
    p.proctype.init.push(InitStep::NewChan(l.clone(), ty));
    p.edge(1, 2, send(&l, &[v(&a)]));
    p.edge(2, 3, recv(&l, &[to(&n)]));
    let p = m.proctype(p.end(3));
    let mut init = Body::new(":init:");
    init.edge(1, 2, Action::Guard(run(p, &[c(300)])));
    init.edge(2, 3, Action::Guard(run(p, &[c(2)])));
    init.edge(3, 4, set(&n, c(7)));
    init.edge(4, 5, eq(&n, 2));
    init.edge(5, 6, Action::Guard(run(p, &[c(3)])));
    m.active(init.end(6));
    let seen = explore(&machine(m.program));
    assert_eq!((seen.states, seen.deadlocks), (109, 2));
}

#[test]
fn a_run_gives_the_pid_and_too_many_fail() {
    let mut m = Model::default();
    let x = m.byte("x");
    let mut p = Body::new("P");
    p.edge(1, 2, Action::Guard(c(0)));
    let p = m.proctype(p);
    let mut init = Body::new(":init:");
    init.edge(1, 1, set(&x, run(p, &[])));
    m.active(init);
    let machine = machine(m.program);
    let seen = explore(&machine);
    assert_eq!(seen.states, 255, "each run adds a process, up to 255");
    let message = "too many processes: there can be 255".to_string();
    assert_eq!(seen.faults.into_iter().collect::<Vec<_>>(), [((FaultKind::Runtime, message), 1)]);
    let state = initial(&machine);
    let next = fire(&machine, &state, 0);
    assert_eq!(machine.snapshot(next.state(&next.list[0]).expect("a state")).globals[0].1, Value::Int(1));
}

/// A process that does not exist has value 0; without a number the process of the proctype with the lowest
/// pid is meant.
#[test]
fn remote_references() {
    let mut m = Model::default();
    let x = m.byte("x");
    let mut p = Body::new("P");
    let y = p.local("y", Scalar::Byte);
    p.proctype.init.push(InitStep::Assign(y.clone(), c(7)));
    p.edge(1, 2, Action::Guard(c(0)));
    let p = m.active(p);
    let mut a = Body::new("A");
    let var = |pid: Option<i32>| {
        let pid = pid.map(|pid| Box::new(c(pid)));
        e(ExprKind::RemoteVar { proctype: p, pid, place: Box::new(y.clone()) })
    };
    let label = |pid: Option<i32>, location| {
        let pid = pid.map(|pid| Box::new(c(pid)));
        e(ExprKind::RemoteLabel { proctype: p, pid, location: LocId(location) })
    };
    a.edge(1, 2, set(&x, op(var(None), BinaryOp::Add, op(var(Some(0)), BinaryOp::Add, var(Some(9))))));
    a.edge(2, 3, Action::Assert(op(v(&x), BinaryOp::Eq, c(14))));
    a.edge(3, 4, Action::Assert(op(label(None, 1), BinaryOp::And, label(Some(0), 1))));
    a.edge(4, 5, Action::Assert(op(label(Some(0), 2), BinaryOp::Eq, label(Some(9), 1))));
    a.edge(5, 6, set(&x, var(Some(1))));
    m.active(a.end(6));
    let seen = explore(&machine(m.program));
    let faults: Vec<_> = seen.faults.into_keys().collect();
    assert_eq!(faults, [(FaultKind::Runtime, "the process is not a P".into())]);
}

/// `enabled(0)` asks whether the other could move; of itself it is an error.
#[test]
fn asking_whether_others_can_move() {
    let ask = |pid: i32| {
        let mut m = Model::default();
        let x = m.byte("x");
        let mut a = Body::new("A");
        a.edge(1, 2, eq(&x, 1));
        m.active(a.end(2));
        let mut b = Body::new("B");
        b.edge(1, 2, Action::Guard(e(ExprKind::Enabled(Box::new(c(pid))))));
        b.edge(1, 3, Action::Else);
        b.edge(3, 1, add(&x, 1));
        m.active(b.end(2));
        explore(&machine(m.program))
    };
    let other = ask(0);
    assert_eq!((other.deadlocks, other.faults.len()), (0, 0));
    assert_eq!(ask(1).faults.len(), 1);
    assert_eq!(ask(7).faults.len(), 0);
}

/// Processes that ask about each other do not exhaust the stack.
#[test]
fn asking_in_circles_is_an_error() {
    let mut m = Model::default();
    for other in [1, 0] {
        let mut a = Body::new("A");
        a.edge(1, 2, Action::Guard(e(ExprKind::Enabled(Box::new(c(other))))));
        m.active(a.end(2));
    }
    assert_eq!(explore(&machine(m.program)).faults.len(), 1);
}

/// States that differ only in hidden variables are one state.
#[test]
fn hidden_variables_are_not_in_the_key() {
    let mut m = Model::default();
    let h = m.var("h", Type::Scalar(Scalar::Int), true);
    let x = m.byte("x");
    let mut a = Body::new("A");
    a.edge(1, 2, set(&h, c(5)));
    a.edge(1, 2, set(&h, c(6)));
    a.edge(2, 3, set(&x, v(&h)));
    m.active(a.end(3));
    let machine = machine(m.program);
    assert_eq!(explore(&machine).states, 3 + 1);
    let next = fire(&machine, &initial(&machine), 0);
    let state = next.state(&next.list[0]).expect("a state");
    assert_eq!(machine.key(state).len() + 4, state.len());
    assert_eq!(machine.snapshot(state).globals[0].1, Value::Int(5));
}

/// Locks and semaphores.
#[test]
fn locks_have_holders_and_semaphores_count() {
    let mut m = Model::default();
    let lock = m.global("lock", Scalar::Lock);
    let sema = m.global("sema", Scalar::Sema);
    m.program.init.push(InitStep::Assign(sema.clone(), c(1)));
    for name in ["A", "B"] {
        let mut a = Body::new(name);
        a.edge(1, 2, Action::Lock(lock.clone()));
        a.edge(2, 3, Action::Lock(sema.clone()));
        a.edge(3, 4, Action::Unlock(sema.clone()));
        a.edge(4, 5, Action::Unlock(lock.clone()));
        m.active(a.end(5));
    }
    let seen = explore(&machine(m.program));
    assert_eq!((seen.deadlocks, seen.faults.len()), (0, 0));

    let mut m = Model::default();
    let lock = m.global("lock", Scalar::Lock);
    let sema = m.global("sema", Scalar::Sema);
    m.program.init.push(InitStep::Assign(sema.clone(), c(255)));
    let mut a = Body::new("A");
    a.edge(1, 2, Action::Lock(lock.clone()));
    m.active(a.end(2));
    let mut b = Body::new("B");
    b.edge(1, 2, Action::Unlock(lock));
    b.edge(1, 2, Action::Unlock(sema));
    m.active(b.end(2));
    let seen = explore(&machine(m.program));
    assert_eq!(seen.faults.len(), 3, "free, held by another, overflow");
}
