//! `spinor simulate`.

use crate::args::{Format, SimulateArgs};
use crate::output;
use crate::signal::{INTERRUPTED, stop_flag};
use engine::simulate::{Ending, SimulateOptions, Simulated, SimulatedStep, simulate};
use engine::{Answer, Disk, Failure, Flow, report_text};
use std::io::Read;
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
        let mut input = || std::io::stdin().lock().bytes().next().and_then(Result::ok);
        simulate(&options, &Disk, &stop_flag(), &mut input, &mut sink)
    };
    match output::settle(answer, Format::Text) {
        Ok(run) => end(&run),
        Err(status) => status,
    }
}

/// How the run ended, and the values then.
fn end(run: &Simulated) -> u8 {
    let (text, status) = match &run.ending {
        Ending::ValidEnd => ("the run ended: every process is at a valid end".to_string(), 0),
        Ending::InputEnded => {
            ("stopped: nothing can happen but reading standard input, which is at its end".to_string(), 0)
        }
        Ending::StepsSpent => ("stopped after the number of steps that was asked for".to_string(), 0),
        Ending::Fault(fault) => (report_text::describe_fault(fault), 1),
        Ending::Interrupted => ("interrupted".to_string(), INTERRUPTED),
    };
    let steps = if run.steps == 1 { "1 step".to_string() } else { format!("{} steps", run.steps) };
    let mut out = format!("{text}\nafter {steps}:\n");
    for value in &run.values {
        out.push_str(&format!("  {} = {}\n", value.name, value.value));
    }
    match output::out(&out) {
        true => status,
        // Whoever read the run has seen enough: that is no interruption.
        false if run.ending == Ending::Interrupted => 0,
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
