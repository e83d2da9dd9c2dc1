//! Sequential consistency in full, for systems that say (`ORDER`) when a write takes its place among the
//! writes to its address.
//!
//! After Qadeer (2001, arXiv cs/0108016): program order is total per processor, and the uses of an address
//! follow the order of its writes, so a shortest cycle uses each processor and each address at most once. Let
//! k of both take part. The writes to an address are, in their order, 0* 1 2*: the 1 is the marked one, and a
//! run in which they are not so is cut (it is the witness of nothing). Processor i uses address i at its mark
//! (writes it or reads it), and later address i+1 before the mark (any use with value 0), or writes the mark
//! there. An early use comes before both kinds of uses of the mark; the write of the mark comes before its
//! reads. If that closes around all k processors, or if one processor goes backwards on one address, the run
//! is a violation *for that order of writes*; it is judged only when nothing is in flight.
//!
//! Clients do anything. The write is not inside an atomic sequence: the marked value is guessed at issue, its
//! place is looked at when `ORDER` says so.

use crate::program::{Move, Program, Roles};
use crate::rules::Op;

/// What a processor was seen to do, in order: the use of the own address at its mark (a read or the write),
/// then the use of the next address (before its mark, or the write of the mark).
const KINDS: [(&str, bool, bool); 4] =
    [("r0", true, false), ("w0", false, false), ("r1", true, true), ("w1", false, true)];

/// The observer of cycles through `k` processors and addresses.
pub fn program(k: usize, roles: &Roles, (cpus, addresses): (usize, usize)) -> Program {
    let mut program = Program::empty(cpus, addresses);
    program
        .globals
        .push("bool mv_cut;               /* the writes to some address are not 0* 1 2* */".into());
    program.globals.push(format!("byte mv_phase[{addresses}];"));
    program.globals.push("bool mv_self;              /* against program order on one address */".into());
    for name in ["gw", "gr", "r0", "w0", "r1", "w1"] {
        program.globals.push(format!("bool mv_{name}[{k}];"));
    }
    program.order =
        "if :: (v) == 0 && mv_phase[a] == 0 -> skip :: (v) == 1 && mv_phase[a] == 0 -> mv_phase[a] = 1 \
                     :: (v) == 2 && mv_phase[a] == 1 -> skip :: else -> mv_cut = true fi"
            .to_string();
    program.guard = Some("!mv_cut".to_string());
    program.has_judge = true;
    for cpu in 0..cpus {
        let part = roles.cpus.iter().position(|&c| c == cpu);
        let moves = (0..addresses).flat_map(|address| {
            let place = roles.addresses.iter().position(|&a| a == address);
            let values = if place.is_some() { 0..3 } else { 0..1 };
            let writes = values.map(move |v| Op::Write(address, v));
            writes.chain([Op::Read(address)]).map(move |op| noted(op, part, place, k))
        });
        program.clients[cpu] = vec![moves.collect()];
    }
    program.globals.push(format!("#define mv_cycle ({})", cycle(k)));
    program
}

/// The observation that makes a run a violation.
pub fn violation() -> &'static str {
    "proctype mv_judge() {\n\tatomic { mv_cycle && mem_quiet && !mv_cut -> assert(false) }\n}\n"
}

/// What is noted when processor number `part` of the cycle has used address number `place` of it.
fn noted(op: Op, part: Option<usize>, place: Option<usize>, k: usize) -> Move {
    let notes = match (part, place) {
        (Some(p), Some(a)) if a == p => own(op, p),
        (Some(p), Some(a)) if a == (p + 1) % k => next(op, p),
        _ => String::new(),
    };
    Move { notes, ..Move::plain(op) }
}

/// A use of the own address.
fn own(op: Op, p: usize) -> String {
    match op {
        Op::Write(_, 0) => format!("mv_self = mv_self || mv_gw[{p}] || mv_gr[{p}]"),
        Op::Write(_, 1) => format!("mv_self = mv_self || mv_gr[{p}]; mv_gw[{p}] = true"),
        Op::Read(_) => format!(
            "if :: $ == 0 -> mv_self = mv_self || mv_gw[{p}] || mv_gr[{p}] :: $ == 1 -> mv_gr[{p}] = true :: else fi"
        ),
        _ => String::new(),
    }
}

/// A use of the next address.
fn next(op: Op, p: usize) -> String {
    let early = format!("mv_r0[{p}] = mv_r0[{p}] || mv_gr[{p}]; mv_w0[{p}] = mv_w0[{p}] || mv_gw[{p}]");
    match op {
        Op::Write(_, 0) => early,
        Op::Write(_, 1) => {
            format!("mv_r1[{p}] = mv_r1[{p}] || mv_gr[{p}]; mv_w1[{p}] = mv_w1[{p}] || mv_gw[{p}]")
        }
        Op::Read(_) => format!("if :: $ == 0 -> {early} :: else fi"),
        _ => String::new(),
    }
}

/// All ways in which a cycle can close.
fn cycle(k: usize) -> String {
    let mut ways = vec!["mv_self".to_string()];
    for choice in 0..KINDS.len().pow(k as u32) {
        let kinds: Vec<_> = (0..k).map(|p| KINDS[choice / KINDS.len().pow(p as u32) % KINDS.len()]).collect();
        // Behind the write of a mark come the reads of it, not that write itself.
        if (0..k).all(|p| !kinds[p].2 || kinds[(p + 1) % k].1) {
            let parts: Vec<String> =
                kinds.iter().enumerate().map(|(p, kind)| format!("mv_{}[{p}]", kind.0)).collect();
            ways.push(format!("({})", parts.join(" && ")));
        }
    }
    ways.join(" || ")
}
