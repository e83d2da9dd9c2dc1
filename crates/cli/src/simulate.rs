//! `spinor simulate`.

use crate::args::{Format, SimulateArgs};
use crate::output;
use crate::signal::{INTERRUPTED, stop_flag};
use engine::simulate::{Ending, SimulateOptions, Watch, simulate};
use engine::{Answer, Disk, Failure, Flow, report_text};
use std::io::Read;
use system::explain::printed;
use system::{Snapshot, StepInfo};
use trace::Run;

/// Runs a model once; returns the exit status.
pub fn run(args: &SimulateArgs) -> u8 {
    let mut printer = Printer::default();
    let answer = if args.interactive {
        Answer::failed(Failure::refused_with(
            "--interactive is not available yet",
            "leave it out, or choose a --seed",
        ))
    } else {
        let options = SimulateOptions { source: args.model.source(), seed: args.seed, steps: args.steps };
        let mut input = || std::io::stdin().lock().bytes().next().and_then(Result::ok);
        simulate(&options, &Disk, &stop_flag(), &mut input, &mut printer)
    };
    match output::settle(answer, Format::Text) {
        Ok(Ending::Fault(_)) => 1,
        // When whoever read the run has seen enough, that is no interruption.
        Ok(Ending::Interrupted) if !printer.closed => INTERRUPTED,
        Ok(_) => 0,
        Err(status) => status,
    }
}

/// Writes each step when it happens, and the last state.
#[derive(Default)]
struct Printer {
    /// Nobody reads any more.
    closed: bool,
}

impl Watch for Printer {
    fn step(&mut self, run: &mut Run<'_>) -> Flow {
        self.closed = !output::out(&step_text(run, run.len()));
        run.forget(1);
        if self.closed { Flow::Stop } else { Flow::Continue }
    }

    fn end(&mut self, run: &mut Run<'_>, ending: &Ending) {
        if !self.closed {
            output::out(&end_text(run, ending));
        }
    }
}

/// How the run ended, and the values then.
fn end_text(run: &Run<'_>, ending: &Ending) -> String {
    let text = match ending {
        Ending::ValidEnd => "the run ended: every process is at a valid end".to_string(),
        Ending::InputEnded => {
            "stopped: nothing can happen but reading standard input, which is at its end".to_string()
        }
        Ending::StepsSpent => "stopped after the number of steps that was asked for".to_string(),
        Ending::Fault(fault) => report_text::describe_fault(fault),
        Ending::Interrupted => "interrupted".to_string(),
    };
    let steps = if run.len() == 1 { "1 step".to_string() } else { format!("{} steps", run.len()) };
    format!("{text}\nafter {steps}:\n{}", state_text(&run.snapshot(run.len())))
}

fn state_text(state: &Snapshot) -> String {
    let mut out = String::new();
    for (name, value) in &state.globals {
        out.push_str(&format!("  {name} = {value}\n"));
    }
    for process in &state.processes {
        let name = format!("{}[{}]", process.name, process.pid);
        out.push_str(&format!("  {name} = {}:{} (state {})\n", process.file, process.line, process.location));
        for (variable, value) in &process.locals {
            out.push_str(&format!("  {name}:{variable} = {value}\n"));
        }
    }
    for channel in state.channels.iter().filter(|channel| channel.capacity > 0) {
        out.push_str(&format!("  {} holds {}\n", channel.id.name, channel.contents()));
    }
    out
}

/// A step in one line (two for a rendezvous), and below it what it printed, indented by process.
pub fn step_text(run: &Run<'_>, number: usize) -> String {
    let Some(info) = run.info(number) else { return String::new() };
    let mut out = format!("{number:5}: {}\n", info_text(&info));
    if let Some(partner) = &info.partner {
        out.push_str(&format!("       {}\n", info_text(partner)));
    }
    let indent = " ".repeat(7 + 4 * info.pid.min(20) as usize);
    for line in printed(&run.events(number)).lines() {
        out.push_str(&format!("{indent}{line}\n"));
    }
    out
}

fn info_text(info: &StepInfo) -> String {
    format!("proc {} ({}) {}:{}  {}", info.pid, info.process, info.file, info.line, info.text)
}
