//! `spinor simulate`.

use crate::args::{Format, SimulateArgs};
use crate::interactive::simulating::Simulating;
use crate::interactive::{Lines, converse};
use crate::output::{Lines as Layout, Output};
use crate::signal::{INTERRUPTED, Interrupt, Signals};
use crate::{chart, output};
use engine::files::STANDARD_INPUT;
use engine::simulate::{Origin, SimulateOptions, Watch, simulate};
use engine::simulation::Ending;
use engine::{Answer, DiskOrInput, Failure, Flow, report_text};
use explore::RunThread;
use serde_json::{Value, json};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Stdout};
use trace::msc::End;
use trace::write::fault_object;
use trace::{Run, story};

/// Runs a model once; returns the exit status.
pub fn run(args: &SimulateArgs) -> u8 {
    let teller = story::Teller::new(output::out_palette());
    let seed = args.seed.unwrap_or_else(|| if args.interactive { 0 } else { drawn() });
    let output = output::standard();
    let mut printer = Printer { args, seed, teller, origin: None, output, failure: None };
    let steps = Some(args.steps.unwrap_or(STEPS)).filter(|&steps| steps > 0);
    let source = match args.source() {
        Ok(source) => source,
        Err(failure) => {
            let answer: Answer<()> = Answer::failed(failure);
            return output::write_notices(answer, args.format).err().unwrap_or(2);
        }
    };
    let options = SimulateOptions { source, seed, steps };
    if args.interactive {
        return by_hand(options);
    }
    let files = DiskOrInput::default();
    let signals = Signals::listen();
    let answer = simulate(&options, &files, signals.stop(), &mut next_byte, &mut printer);
    let unwritten = printer.failure.take();
    let status = match output::write_notices(answer, args.format) {
        Ok(Ending::Fault(_)) => 1,
        // When whoever read the run has seen enough, that is no interruption.
        Ok(Ending::Interrupted) if printer.output.is_open() => signals.status(INTERRUPTED),
        Ok(_) => 0,
        Err(status) => signals.status(status),
    };
    let status = match unwritten {
        Some(failure) => output::fail(&failure, args.format, status),
        None => status,
    };
    printer.output.finish(status)
}

/// Steps that a run takes when nobody says: enough to see what a model does, and an end for those that have
/// none.
const STEPS: u64 = 1000;
/// Seeds that are drawn are below this, so that they can be typed.
const SEEDS: u64 = 1_000_000;

/// A seed by chance.
pub fn drawn() -> u64 {
    RandomState::new().build_hasher().finish() % SEEDS
}

/// Lets somebody choose the steps.
fn by_hand(options: SimulateOptions) -> u8 {
    let interrupt = Interrupt::listen();
    let (stop, from_input) = (interrupt.stop().clone(), options.source.path == STANDARD_INPUT);
    let answer = match RunThread::simulate(options, DiskOrInput::default(), stop, Box::new(next_byte)) {
        Err(failure) => Answer::failed(failure),
        Ok(run) => {
            let status = run.ask(|e| e.simulation().may_read()).map(|reads| {
                interrupt.idle();
                let lines = if reads || from_input { Lines::terminal() } else { Some(Lines::standard()) };
                let mut lines = lines.ok_or_else(no_lines)?;
                let mut dialogue = Simulating::new(&run, interrupt, output::out_palette());
                Ok(converse(&mut lines, &mut dialogue))
            });
            let Answer { notices, result } = run.finish();
            // A run that could not begin says why itself.
            Answer { notices, result: result.and_then(|()| status.unwrap_or(Ok(1))) }
        }
    };
    output::write_notices(answer, Format::Text).unwrap_or_else(|status| status)
}

fn no_lines() -> Failure {
    Failure::refused_with(
        "the model reads STDIN (or is read from it), so that the commands of --interactive cannot come from there",
        "run it in a terminal, or leave --interactive out",
    )
}

/// A character of standard input.
fn next_byte() -> Option<u8> {
    std::io::stdin().lock().bytes().next().and_then(Result::ok)
}

/// Writes each step when it happens, and the last state.
struct Printer<'a> {
    args: &'a SimulateArgs,
    /// The run can be repeated with it.
    seed: u64,
    teller: story::Teller,
    /// Where the run comes from.
    origin: Option<Origin>,
    /// Where it is written.
    output: Output<Stdout>,
    /// A file could not be written.
    failure: Option<Failure>,
}

impl Printer<'_> {
    /// Writes the files that were asked for.
    fn files(&self, run: &Run<'_>, ending: &Ending) -> Result<(), Failure> {
        let fault = match ending {
            Ending::Fault(fault) => Some(fault),
            _ => None,
        };
        if let Some(path) = &self.args.msc {
            let title = format!("{}: a run of {}", self.args.model.model, story::steps(run.len()));
            chart::save_run(path, run, End { fault, cycle: None }, &title)?;
        }
        if let (Some(path), Some(fault), Some(origin)) = (&self.args.trail, fault, &self.origin) {
            origin.write_trail(path, run, fault.clone()).map_err(|why| {
                Failure::unwritten(&format!("the trail {path} cannot be written"), &why, "leave --trail out")
            })?;
        }
        Ok(())
    }
}

impl Watch for Printer<'_> {
    fn begin(&mut self, origin: &Origin) {
        self.origin = Some(origin.clone());
    }

    fn step(&mut self, run: &mut Run<'_>) -> Flow {
        match self.args.format {
            Format::Text => self.output.write(&self.teller.step(run, run.len())),
            Format::Json => self.output.write_machine(&step_line(run)),
        }
        match (&self.args.trail, &self.args.msc) {
            (Some(_), _) => {}
            (None, Some(_)) => run.forget(chart::MOST),
            (None, None) => run.forget(1),
        }
        if self.output.is_open() { Flow::Continue } else { Flow::Stop }
    }

    fn end(&mut self, run: &mut Run<'_>, ending: &Ending) {
        self.failure = self.files(run, ending).err();
        match self.args.format {
            Format::Text => self.output.write(&end_text(run, ending, self.args, self.seed)),
            Format::Json => self.output.write_machine(&end_line(run, ending, self.seed)),
        }
    }
}

/// How the run ended, and the values then.
fn end_text(run: &Run<'_>, ending: &Ending, args: &SimulateArgs, seed: u64) -> String {
    let palette = output::out_palette();
    let (fault, text) = match ending {
        Ending::ValidEnd => (None, "the run ended: every process is at a valid end".to_string()),
        Ending::InputEnded => {
            (None, "stopped: nothing can happen but reading standard input, which is at its end".to_string())
        }
        Ending::StepsSpent if args.steps.is_none() => {
            (None, format!("stopped after {} (--steps N for more, 0 for no limit)", story::steps(run.len())))
        }
        Ending::StepsSpent => (None, "stopped after the number of steps that was asked for".to_string()),
        Ending::Fault(fault) => (Some(fault), report_text::describe_fault(fault)),
        Ending::Interrupted => (None, "interrupted".to_string()),
    };
    let text = if fault.is_some() { palette.bad(text) } else { palette.strong(text) };
    let again = match args.seed {
        Some(_) => String::new(),
        None => {
            format!("{}\n", palette.dim(format!("random seed {seed}: repeat this run with --seed {seed}")))
        }
    };
    format!("\n{}\n{text}\n{again}", story::ending(run, fault, palette))
}

/// The last step as one line of JSON.
fn step_line(run: &Run<'_>) -> String {
    let Some(told) = story::tell(run, run.len()) else { return String::new() };
    let mut object = serde_json::Map::from_iter([("step".to_string(), json!(run.len()))]);
    object.extend(trace::json::step(&told));
    output::json(&Value::Object(object), Layout::One)
}

/// The end as one line of JSON: why, the error if there is one, the last state, who is blocked and why.
fn end_line(run: &Run<'_>, ending: &Ending, seed: u64) -> String {
    let (word, fault) = match ending {
        Ending::ValidEnd => ("valid-end", None),
        Ending::InputEnded => ("input-ended", None),
        Ending::StepsSpent => ("steps", None),
        Ending::Fault(fault) => ("violation", Some(fault)),
        Ending::Interrupted => ("interrupted", None),
    };
    let blocked = run.words().blocked(&run.state(run.len()));
    let line = json!({
        "end": word,
        "steps": run.len(),
        "seed": seed,
        "violation": fault.map(|fault| fault_object(fault, run.len())),
        "state": trace::json::state(&run.snapshot(run.len())),
        "blocked": blocked.iter().map(trace::blocked_json::blocked).collect::<Vec<Value>>(),
    });
    output::json(&line, Layout::One)
}
