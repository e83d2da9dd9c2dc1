//! `spinor simulate`.

use crate::args::{Format, SimulateArgs};
use crate::output;
use crate::signal::{INTERRUPTED, stop_flag};
use engine::simulate::{Ending, SimulateOptions, SimulatedStep, simulate};
use engine::{Answer, Disk, Failure, Flow, report_text};
use system::StepInfo;

/// Runs a model once; returns the exit status.
pub fn run(args: &SimulateArgs) -> u8 {
    let answer = if args.interactive {
        Answer::failed(Failure::refused_with(
            "--interactive is not available yet",
            "leave it out, or choose a --seed",
        ))
    } else {
        let options = SimulateOptions { source: args.model.source(), seed: args.seed, steps: args.steps };
        let mut sink =
            |step: SimulatedStep| match output::out(&step_text(step.number, &step.info, &step.output)) {
                true => Flow::Continue,
                false => Flow::Stop,
            };
        simulate(&options, &Disk, &stop_flag(), &mut sink)
    };
    match output::settle(answer, Format::Text) {
        Ok(ending) => end(&ending),
        Err(status) => status,
    }
}

fn end(ending: &Ending) -> u8 {
    let (text, status) = match ending {
        Ending::ValidEnd => ("the run ended: every process is at a valid end".to_string(), 0),
        Ending::StepsSpent => ("stopped after the number of steps that was asked for".to_string(), 0),
        Ending::Fault(fault) => (report_text::describe_fault(fault), 1),
        Ending::Interrupted => ("interrupted".to_string(), INTERRUPTED),
    };
    match output::out(&format!("{text}\n")) {
        true => status,
        // Whoever read the run has seen enough: that is no interruption.
        false if *ending == Ending::Interrupted => 0,
        false => status,
    }
}

/// A step in one line (two for a rendezvous), and below it what it printed, indented by process.
pub fn step_text(number: u64, info: &StepInfo, printed: &str) -> String {
    let mut out = format!("{number:5}: {}\n", info_text(info));
    if let Some(partner) = &info.partner {
        out.push_str(&format!("       {}\n", info_text(partner)));
    }
    let indent = " ".repeat(7 + 4 * info.pid.min(20) as usize);
    for line in printed.lines() {
        out.push_str(&format!("{indent}{line}\n"));
    }
    out
}

fn info_text(info: &StepInfo) -> String {
    format!("proc {} ({}) {}:{}  {}", info.pid, info.process, info.file, info.line, info.text)
}
