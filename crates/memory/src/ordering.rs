//! Whether a system says `ORDER` as the full check of sequential consistency needs it: once of every write, with its
//! address and its value, at some moment after it was issued.
//!
//! The writes to each address that have no place yet are counted, for each of two values. `ORDER` of a write that
//! nobody has issued is wrong, and so is a moment at which nothing is in flight, nobody is in the middle of an
//! operation, and a write still has no place. What rests on a wrong `ORDER` is a verdict about nothing: a
//! single write that has no place makes every system look inconsistent.

use crate::program::{Move, Program};
use crate::rules::Op;

/// Writes of one value to one address that may wait for their places at a time: of more nothing new is learned.
const MOST_WAITING: usize = 2;

/// Everybody reads and writes; writes are counted.
pub fn program((cpus, addresses): (usize, usize)) -> Program {
    let mut program = Program::empty(cpus, addresses);
    program.globals.push(format!("byte mv_waits[{}];        /* writes without a place */", 2 * addresses));
    program
        .globals
        .push(format!("bool mv_busy[{cpus}];           /* it is in the middle of an operation */"));
    program
        .globals
        .push("bool mv_stray;             /* ORDER of a write that nobody has issued */".to_string());
    program.order = "if :: (a) < NA && (v) < 2 && mv_waits[2 * (a) + (v)] > 0 -> \
                     mv_waits[2 * (a) + (v)]--; :: else -> mv_stray = true fi"
        .to_string();
    program.has_judge = true;
    for (cpu, client) in program.clients.iter_mut().enumerate() {
        let busy = format!("mv_busy[{cpu}] = true");
        let write = |a: usize, v: u8| {
            let waits = format!("mv_waits[{}]", 2 * a + usize::from(v));
            let before = format!("d_step {{ {waits} < {MOST_WAITING} -> {waits}++; {busy} }}");
            (Op::Write(a, v), before)
        };
        let uses = (0..addresses).flat_map(|a| [write(a, 0), write(a, 1), (Op::Read(a), busy.clone())]);
        let notes = format!("mv_busy[{cpu}] = false");
        let moves =
            uses.map(|(op, before)| Move { before: Some(before), notes: notes.clone(), ..Move::plain(op) });
        *client = vec![moves.collect()];
    }
    program
}

/// Nobody is in the middle of an operation that returns when the processor may go on.
pub fn idle(cpus: usize) -> String {
    (0..cpus).map(|cpu| format!("!mv_busy[{cpu}]")).collect::<Vec<_>>().join(" && ")
}

/// What makes a run a violation: one line for each of the two ways.
pub fn violation(idle: &str) -> String {
    let open = "mv_waits[mv_k] > 0";
    format!(
        "proctype mv_judge() {{\n\tbyte mv_k;\n\tif\n\
         \t:: atomic {{ mv_stray -> assert(!mv_stray) }}\n\
         \t:: atomic {{ mem_quiet && {idle} ->\n\t\tdo\n\
         \t\t:: mv_k < 2 * NA -> assert(!({open})); mv_k++\n\
         \t\t:: mv_k == 2 * NA -> mv_k = 0; break\n\t\tod }}\n\tfi\n}}\n"
    )
}

/// Why a violation is one, from the assertion that failed.
pub fn reason(assertion: &str) -> &'static str {
    match assertion.contains("mv_stray") {
        true => "ORDER was said of a write that nobody had issued, or that had its place already",
        false => {
            "nothing is in flight any more (mem_quiet), and a write has no place: ORDER was not said of it"
        }
    }
}
