//! Processors as Promela, for systems that answer in any order: `mem_issue(p, tag, op, a, v)` and
//! `mem_reply(p, tag, v)`.
//!
//! Program order is the order of issue. Each processor is two processes: one issues operations, one receives
//! replies, so that a system which must be rid of a reply before it takes the next request cannot be stuck by
//! us. An operation takes the next of [`WINDOW`] slots, its tag; replies fill slots in any order, and slots
//! retire in the order of issue. What is noted of an operation is noted when it retires, so the observers are
//! the same as for systems that block. A read that leads to another phase is a guess at issue: when it
//! returns another value, the run is no witness (`mv_void`). Where there are guesses, a violation counts only
//! when all of them have come true: others may see what follows from a guess before it is answered.

use crate::blocking::init;
use crate::program::{Move, Program, told};
use crate::rules::Op;

/// Operations of a processor that wait for their replies at most.
pub const WINDOW: usize = 2;

/// An operation that can be issued: its number, with a guess about its value.
struct Issued<'a> {
    number: usize,
    what: &'a Move,
    guess: Option<u8>,
}

/// Whether a processor guesses what a read returns.
fn guesses(program: &Program) -> bool {
    program.clients.iter().flatten().flatten().any(|one| one.leads.is_some())
}

/// What says that a violation counts, where there are guesses.
const JUDGE: &str =
    "proctype mv_judge() {\n\tatomic { mv_bad && mv_guesses == 0 && !mv_void -> assert(!mv_bad) }\n}\n";

/// The text of all processors and of init.
pub fn text(program: &Program) -> String {
    let guesses = guesses(program);
    let program = &Program { has_judge: program.has_judge || guesses, ..program.clone() };
    let slots = program.cpus * WINDOW;
    let mut out = format!(
        "byte mv_op[{slots}];          /* what waits in a slot: the number of an operation, 0 for nothing */\n\
         byte mv_answer[{slots}];      /* its value */\n\
         bool mv_answered[{slots}];\n\
         byte mv_first[{}];         /* the oldest slot of each processor */\n\
         bool mv_void;            /* a guess was wrong: this run shows nothing */\n",
        program.cpus
    );
    if guesses {
        out += "byte mv_guesses;         /* that are not answered yet */\nbool mv_bad;             /* what must not be seen was seen */\n";
        out += JUDGE;
    }
    for cpu in 0..program.cpus {
        let issued = issued(program, cpu);
        out += &issuer(program, cpu, &issued);
        out += &receiver(program, cpu, &issued);
    }
    let run = (0..program.cpus).map(|cpu| format!("run CPU{cpu}(); run Port{cpu}()"));
    let run: Vec<String> = run.collect();
    out + &init(program, &run).replace("assert(", "assert(mv_void || ")
}

/// The number of all operations of which nothing is noted: their values are of no interest.
const UNNOTED: usize = 1;

/// All operations of a processor, with their phases. Those of which something is noted have numbers of their
/// own; final reads come behind them.
fn issued(program: &Program, cpu: usize) -> Vec<(usize, Issued<'_>)> {
    let (mut all, mut number) = (Vec::new(), UNNOTED);
    let mut next = || {
        number += 1;
        number
    };
    for (phase, moves) in program.clients[cpu].iter().enumerate() {
        for what in moves.iter().filter(|one| one.op != Op::Fence) {
            let number = if what.notes.is_empty() { UNNOTED } else { next() };
            all.push((phase, Issued { number, what, guess: None }));
            if let Some((value, _)) = what.leads {
                all.push((phase, Issued { number: next(), what, guess: Some(value) }));
            }
        }
    }
    all
}

/// The number of the first final read.
fn first_final(all: &[(usize, Issued<'_>)]) -> usize {
    1 + all.iter().map(|(_, one)| one.number).max().unwrap_or(UNNOTED)
}

/// Takes the next slot for an operation and issues it.
fn issue(cpu: usize, number: usize, op: Op, noted: &str) -> String {
    let slot = format!("mv_op[{} + mv_tag]", cpu * WINDOW);
    let (word, address, value) = match op {
        Op::Write(a, v) => ("MEM_WRITE", a, v),
        Op::Read(a) => ("MEM_READ", a, 0),
        Op::Fence => unreachable!("a fence is not issued"),
    };
    let told = match op {
        Op::Read(_) => told(op).replace(" = %d", ""),
        _ => told(op),
    };
    format!(
        "d_step {{ {slot} == 0 -> {slot} = {number}; printf(\"mem: P{cpu} issue {told} tag %d\\n\", mv_tag){noted} }}; \
         mem_issue({cpu}, mv_tag, {word}, {address}, {value}); mv_tag = (mv_tag + 1) % {WINDOW}"
    )
}

/// Everything that was issued has retired.
pub(crate) fn idle(cpu: usize) -> String {
    let slots = (0..WINDOW).map(|slot| format!("mv_op[{}] == 0", cpu * WINDOW + slot));
    slots.collect::<Vec<_>>().join(" && ")
}

fn fence(cpu: usize) -> String {
    format!("({}); mem_fence({cpu}); printf(\"mem: P{cpu} fence\\n\")", idle(cpu))
}

fn issuer(program: &Program, cpu: usize, all: &[(usize, Issued<'_>)]) -> String {
    let mut out = format!("proctype CPU{cpu}() {{\n\tbyte mv_tag;\n");
    for (number, moves) in program.clients[cpu].iter().enumerate() {
        if moves.is_empty() {
            let done = if program.outcome.is_some() { "mv_done++" } else { "skip" };
            // The moves before it jump here.
            out += &format!("phase_{number}:\n\t({}) -> {done};\n", idle(cpu));
            continue;
        }
        out += &format!("phase_{number}:\n\tdo\n");
        for one in moves.iter().filter(|one| one.op == Op::Fence) {
            let jump = one.to.map_or_else(String::new, |to| format!("; goto phase_{to}"));
            out += &format!("\t:: {}{jump}\n", fence(cpu));
        }
        for (_, one) in all.iter().filter(|(phase, _)| *phase == number) {
            let to = one.guess.map_or(one.what.to, |_| one.what.leads.map(|(_, to)| to));
            let jump = to.map_or_else(String::new, |to| format!("; goto phase_{to}"));
            let before = one.what.before.as_deref().map_or_else(String::new, |before| format!("{before}; "));
            let guess = if one.guess.is_some() { "; mv_guesses++" } else { "" };
            out += &format!("\t:: {before}{}{jump}\n", issue(cpu, one.number, one.what.op, guess));
        }
        out += "\tod;\n";
    }
    if cpu == 0 && !program.finals.is_empty() {
        out += &format!("\tmv_done == {} && mem_quiet;\n", program.cpus);
        for (i, (address, _)) in program.finals.iter().enumerate() {
            out += &format!("\t{};\n", issue(0, first_final(all) + i, Op::Read(*address), ""));
        }
        out += &format!("\t({}) -> mv_done++\n", idle(0));
    }
    out + "}\n"
}

/// Receives replies and retires what is answered, in the order of issue.
fn receiver(program: &Program, cpu: usize, all: &[(usize, Issued<'_>)]) -> String {
    let base = cpu * WINDOW;
    let mut out = format!("proctype Port{cpu}() {{\n\tbyte mv_tag, mv_v;\n");
    for local in &program.locals[cpu] {
        out += &format!("\t{local}\n");
    }
    let slot = format!("{base} + mv_first[{cpu}]");
    let served = if program.tells_service { "served:\n" } else { "" };
    out += &format!(
        "end:\n\tdo\n\t:: mem_reply({cpu}, mv_tag, mv_v);\n\
         \t\tassert(mv_tag < {WINDOW} && mv_op[{base} + mv_tag] != 0 && !mv_answered[{base} + mv_tag]);\n\
         {served}\t\td_step {{\n\t\t\tprintf(\"mem: P{cpu} reply %d tag %d\\n\", mv_v, mv_tag);\n\
         \t\t\tmv_answered[{base} + mv_tag] = true; \n\
         \t\t\tmv_answer[{base} + mv_tag] = (mv_op[{base} + mv_tag] > {UNNOTED} -> mv_v : 0); mv_tag = 0;\n\
         \t\t\tdo\n\t\t\t:: mv_answered[{slot}] ->\n\t\t\t\tmv_v = mv_answer[{slot}];\n\t\t\t\tif\n"
    );
    let guard = program.guard.as_ref().map_or_else(String::new, |guard| format!(" && {guard}"));
    let mut retiring = |number: usize, guess: Option<u8>, notes: &str| {
        let wrong =
            guess.map(|value| format!("mv_guesses--; if :: mv_v != {value} -> mv_void = true :: else fi"));
        let notes = notes.replace('$', "mv_v");
        let notes = match guesses(program) {
            true => notes.replace("assert(!", "mv_bad = mv_bad || ("),
            false => notes.replace("assert(", "assert(mv_void || "),
        };
        let parts: Vec<String> = wrong.into_iter().chain(Some(notes).filter(|n| !n.is_empty())).collect();
        if !parts.is_empty() {
            let parts = parts.join("; ");
            out += &format!("\t\t\t\t:: mv_op[{slot}] == {number}{guard} -> {parts}\n");
        }
    };
    let noted = all.iter().filter(|(_, one)| one.number != UNNOTED);
    noted.for_each(|(_, one)| retiring(one.number, one.guess, &one.what.notes));
    if cpu == 0 {
        for (i, (_, last)) in program.finals.iter().enumerate() {
            retiring(first_final(all) + i, None, &format!("{last} = $"));
        }
    }
    out += &format!(
        "\t\t\t\t:: else\n\t\t\t\tfi;\n\
         \t\t\t\tmv_op[{slot}] = 0; mv_answered[{slot}] = false; mv_answer[{slot}] = 0;\n\
         \t\t\t\tmv_first[{cpu}] = (mv_first[{cpu}] + 1) % {WINDOW}\n\
         \t\t\t:: else -> break\n\t\t\tod;\n\t\t\tmv_v = 0\n\t\t}}\n\tod\n}}\n"
    );
    out
}
