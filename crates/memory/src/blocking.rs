//! Processors as Promela, for systems whose operations return when the processor may go on.
//!
//! Every option of a loop begins with the operation itself, so that no choice is made before it can be
//! carried out; but where an operation begins with a choice of its own that has an `else`, which would then be
//! about all options of the loop, a processor chooses first. No operation is inside an atomic sequence of ours:
//! a system whose writes are visible half-way must not look better than it is.

use crate::program::{Move, Phase, Program, told};
use crate::rules::Op;

/// The text of all processors and of init.
pub fn text(program: &Program) -> String {
    let mut out = String::new();
    for cpu in 0..program.cpus {
        out += &processor(program, cpu);
    }
    let run: Vec<String> = (0..program.cpus).map(|cpu| format!("run CPU{cpu}()")).collect();
    out + &init(program, &run)
}

/// Starts the system, then all processors.
pub(crate) fn init(program: &Program, run: &[String]) -> String {
    let judge = if program.has_judge { "; run mv_judge()" } else { "" };
    let judgement = judgement(program);
    format!("init {{\n\tatomic {{ mem_start(); {}{judge} }}{judgement}\n}}\n", run.join("; "))
}

/// What init does at last, if anything.
fn judgement(program: &Program) -> String {
    let Some(outcome) = &program.outcome else { return String::new() };
    let finished = program.cpus + usize::from(!program.finals.is_empty());
    format!(";\n\tmv_done == {finished} && mem_quiet;\n\tassert({outcome})")
}

fn processor(program: &Program, cpu: usize) -> String {
    let mut out = format!("proctype CPU{cpu}() {{\n\tbyte mv_v;\n");
    for local in &program.locals[cpu] {
        out += &format!("\t{local}\n");
    }
    for (number, phase) in program.clients[cpu].iter().enumerate() {
        out += &phase_text(program, cpu, (number, phase));
    }
    if cpu == 0 && !program.finals.is_empty() {
        out += &format!("\tmv_done == {} && mem_quiet;\n", program.cpus);
        for (address, last) in &program.finals {
            let told = told(Op::Read(*address));
            out += &format!("\tmem_read(0, {address}, {last}); printf(\"mem: P0 {told}\\n\", {last});\n");
        }
        out += "\tmv_done++\n";
    }
    out + "}\n"
}

fn phase_text(program: &Program, cpu: usize, (number, phase): (usize, &Phase)) -> String {
    if phase.is_empty() {
        return match program.outcome {
            Some(_) => "\tmv_done++;\n".to_string(),
            None => "\tskip;\n".to_string(),
        };
    }
    if let [only] = &phase[..]
        && only.to == Some(number + 1)
        && only.leads.is_none()
    {
        return format!("\t{};\n", operation(program, cpu, only));
    }
    let (word, end) = match program.tells_service {
        true => ("if", format!("fi;\nserved:\n\tskip;\n\tgoto phase_{number};\n")),
        false => ("do", "od;\n".to_string()),
    };
    let mut out = format!("phase_{number}:\n\t{word}\n");
    for one in phase {
        let jump = one.to.map_or_else(String::new, |to| format!("; goto phase_{to}"));
        let first = match (&one.before, program.chooses_first) {
            (Some(before), _) => format!("{before}; "),
            (None, true) => "skip; ".to_string(),
            (None, false) => String::new(),
        };
        out += &format!("\t:: {first}{}{jump}\n", operation(program, cpu, one));
    }
    out + "\t" + &end
}

/// An operation and what is noted of it. What is printed stands between the two: an operation may end with a
/// jump, which must not lead into a d_step.
fn operation(program: &Program, cpu: usize, one: &Move) -> String {
    let told = told(one.op);
    let notes = one.notes.replace('$', "mv_v");
    let guard = program.guard.as_deref().unwrap_or_default();
    let noted = |reset: &str| match (guard, notes.as_str(), reset) {
        ("", "", "") => String::new(),
        ("", "", reset) => format!("; {reset}"),
        ("", notes, "") => format!("; d_step {{ {notes} }}"),
        ("", notes, reset) => format!("; d_step {{ {notes}; {reset} }}"),
        (guard, "", "") => format!("; {guard}"),
        (guard, "", reset) => format!("; d_step {{ {guard} -> {reset} }}"),
        (guard, notes, "") => format!("; d_step {{ {guard} -> {notes} }}"),
        (guard, notes, reset) => format!("; d_step {{ {guard} -> {notes}; {reset} }}"),
    };
    match one.op {
        Op::Write(a, v) => {
            format!("mem_write({cpu}, {a}, {v}); printf(\"mem: P{cpu} {told}\\n\"){}", noted(""))
        }
        Op::Fence => format!("mem_fence({cpu}); printf(\"mem: P{cpu} {told}\\n\"){}", noted("")),
        Op::Read(a) => {
            let call = format!("mem_read({cpu}, {a}, mv_v); printf(\"mem: P{cpu} {told}\\n\", mv_v)");
            let noted = noted("mv_v = 0");
            match one.leads {
                None => format!("{call}{noted}"),
                Some((value, to)) => {
                    let after = noted.trim_start_matches("; ");
                    format!(
                        "{call};\n\t\tif\n\t\t:: mv_v == {value} -> {after}; goto phase_{to}\n\
                         \t\t:: mv_v != {value} -> {after}\n\t\tfi"
                    )
                }
            }
        }
    }
}
