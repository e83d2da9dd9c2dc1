//! `spinor replay`.

use crate::args::{Format, ReplayArgs, RunFormat};
use crate::interactive::replaying::Replaying;
use crate::interactive::{Lines, converse};
use crate::output::Sieve;
use crate::signal::{Interrupt, Signals};
use crate::{chart, output, report_file};
use engine::replay::{Replayed, replay};
use engine::spin_trail::write::spin_trail;
use engine::{Answer, Disk, DiskOrInput, report_text};
use explore::RunThread;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use system::FaultKind;
use trace::msc::{self, End};
use trace::table::{self, Form};
use trace::visible::one_line;
use trace::visible::shown;
use trace::write::fault_object;
use trace::{Palette, Run, itf, story};

/// Replays a counterexample; returns the exit status.
pub fn run(args: &ReplayArgs) -> u8 {
    if args.interactive {
        return step_through(args);
    }
    let (signals, palette) = (Signals::listen(), output::out_palette());
    let view = |replayed: &mut Replayed<'_>| {
        // Before anything is written: there may be no such trail.
        let spin = (args.format == RunFormat::Spin).then(|| spin_trail(replayed)).transpose()?;
        let steps = wanted(args, replayed.run.len());
        let drawn = chart::drawable(&steps);
        let chart = || msc::chart(&replayed.run, drawn.clone(), ending(replayed));
        if let Some(path) = &args.msc {
            chart::save(path, &chart(), &chart::title(&title(replayed), &drawn, replayed.run.len()))?;
        }
        if let Some(path) = &args.report {
            report_file::save(path, &report::of_replay(replayed))?;
        }
        // A long run is written while it is looked at.
        let mut output = output::standard();
        output.write_by(|to| {
            let json = matches!(args.format, RunFormat::Json | RunFormat::Itf);
            let mut to = Sieve::new(to, if json { output::escaped } else { shown });
            match args.format {
                RunFormat::Text => text(replayed, args, palette, &mut to),
                RunFormat::Json => object(replayed, steps, &mut to),
                RunFormat::Itf => informal(replayed, &mut to),
                RunFormat::Msc => to.write_all(msc::text::draw(&chart(), palette).as_bytes()),
                RunFormat::Table => columns(replayed, steps, Form::Aligned, &mut to),
                RunFormat::Csv => columns(replayed, steps, Form::Csv, &mut to),
                RunFormat::Spin => to.write_all(spin.unwrap_or_default().as_bytes()),
            }?;
            to.flush()
        });
        Ok(output)
    };
    let mut answer = match args.file() {
        Ok(file) => replay(&file, &DiskOrInput::default(), signals.stop(), view),
        Err(failure) => Answer::failed(failure),
    };
    let flat = Answer { notices: std::mem::take(&mut answer.notices), result: answer.result.and_then(|r| r) };
    match output::write_notices(flat, args.format.of_notices()) {
        Ok(output) => output.finish(0),
        Err(status) => signals.status(status),
    }
}

/// The exit status of a run that ended without saying why.
const INTERNAL: u8 = 4;

/// Lets somebody step through the run.
fn step_through(args: &ReplayArgs) -> u8 {
    let (interrupt, palette) = (Interrupt::listen(), output::out_palette());
    let begun = args.file().and_then(|file| RunThread::replay(file, Disk, interrupt.stop().clone()));
    let answer = match begun {
        Err(failure) => Answer::failed(failure),
        Ok(run) => {
            // Nothing is said about a trail that cannot be replayed but why.
            let status = run.ask(|_| ()).map(|()| {
                interrupt.idle();
                converse(&mut Lines::standard(), &mut Replaying::new(&run, interrupt, palette))
            });
            let Answer { notices, result } = run.finish();
            Answer { notices, result: result.map(|()| status.unwrap_or(INTERNAL)) }
        }
    };
    output::write_notices(answer, Format::Text).unwrap_or_else(|status| status)
}

/// How the run ends.
fn ending<'a>(replayed: &'a Replayed<'_>) -> End<'a> {
    End { fault: Some(&replayed.violation), cycle: replayed.cycle }
}

/// What the run shows, in one line.
fn title(replayed: &Replayed<'_>) -> String {
    let shown = report_text::shown_by(&replayed.property, &replayed.violation, replayed.run.len());
    format!("{}: {shown}", one_line(&replayed.model))
}

/// The steps that were asked for.
fn wanted(args: &ReplayArgs, len: usize) -> RangeInclusive<usize> {
    let (first, last) = args.steps.unwrap_or_default();
    let first = args.last.map_or(first, |n| Some((len + 1).saturating_sub(n)));
    first.unwrap_or(1).max(1)..=last.unwrap_or(len).min(len)
}

/// Steps that are told without being asked for; of longer runs this number at the beginning and at the end.
const TOLD: usize = 10_000;
const TOLD_OF_MORE: usize = 100;

fn text(replayed: &Replayed<'_>, args: &ReplayArgs, palette: Palette, to: &mut dyn Write) -> io::Result<()> {
    let (run, len) = (&replayed.run, replayed.run.len());
    write!(to, "{}\n\n", title(replayed))?;
    match args.steps.is_none() && args.last.is_none() && len > TOLD {
        true => {
            let (first, last) = (TOLD_OF_MORE + 1, len - TOLD_OF_MORE);
            tell(run, replayed.cycle, 1..=first - 1, palette, to)?;
            let left_out = format!("… {} are not told here", story::steps(last + 1 - first));
            let how = format!(
                "--steps {first}..{} or --last {TOLD} tells some of them, --steps 1.. all",
                first + 999
            );
            write!(to, "\n{}; {how}\n\n", palette.strong(left_out))?;
            tell(run, replayed.cycle, last + 1..=len, palette, to)?;
        }
        false => tell(run, replayed.cycle, wanted(args, len), palette, to)?,
    }
    let ending = story::ending(run, Some(&replayed.violation), palette);
    let sentence = report_text::describe_fault(&replayed.violation);
    write!(to, "\n{ending}\n{}\n", palette.bad(sentence))
}

/// The steps as a story; where they are repeated forever is said.
pub fn told(run: &Run<'_>, cycle: Option<usize>, steps: RangeInclusive<usize>, palette: Palette) -> String {
    let mut out = Vec::new();
    // Memory takes everything.
    let _ = tell(run, cycle, steps, palette, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes the replay step by step.
fn tell(
    run: &Run<'_>,
    cycle: Option<usize>,
    steps: RangeInclusive<usize>,
    palette: Palette,
    to: &mut dyn Write,
) -> io::Result<()> {
    let (first, last) = (*steps.start(), *steps.end());
    let Some(cycle) = cycle.filter(|&cycle| (first..=last + 1).contains(&(cycle + 1))) else {
        return story::write_part(run, steps, palette, to);
    };
    let around = match run.len() - cycle {
        0 => "nothing can move: this state lasts forever".to_string(),
        n => format!("from here on forever, {} again and again:", story::steps(n)),
    };
    if cycle >= first {
        story::write_part(run, first..=cycle, palette, to)?;
    }
    writeln!(to, "{}", palette.strong(around))?;
    if cycle < last { story::write_part(run, cycle + 1..=last, palette, to) } else { Ok(()) }
}

/// The steps, one a line, behind everything else.
fn object(replayed: &Replayed<'_>, steps: RangeInclusive<usize>, to: &mut dyn Write) -> io::Result<()> {
    let run = &replayed.run;
    let stuck = replayed.violation.kind == FaultKind::EndState;
    let blocked = if stuck { run.words().blocked(&run.state(run.len())) } else { Vec::new() };
    let head = json!({
        "tool": "spinor",
        "version": engine::VERSION,
        "model": replayed.model,
        "property": replayed.property,
        "confirmed": true,
        "initial": trace::json::state(&run.snapshot(run.first())),
        "state": trace::json::state(&run.snapshot(run.len())),
        "propositions": replayed.propositions.iter().map(|one| &one.text).collect::<Vec<&String>>(),
        "initial_propositions": replayed.holding(run.first()),
        "blocked": blocked.iter().map(trace::blocked_json::blocked).collect::<Vec<Value>>(),
        "cycle": replayed.cycle,
        "violation": fault_object(&replayed.violation, run.len()),
    });
    to.write_all(b"{\n")?;
    for (name, value) in head.as_object().into_iter().flatten() {
        writeln!(to, "{}: {value:#},", Value::from(name.as_str()))?;
    }
    to.write_all(b"\"steps\": [")?;
    let (mut seen, mut separator) = (None, "\n");
    for number in steps {
        if let Some(told) = story::tell_next(run, number, &mut seen) {
            let mut step = trace::json::step(&told);
            step.insert("propositions".into(), json!(replayed.holding(number)));
            write!(to, "{separator}{}", Value::Object(step))?;
            separator = ",\n";
        }
    }
    to.write_all(b"\n]}\n")
}

fn columns(
    replayed: &Replayed<'_>,
    steps: RangeInclusive<usize>,
    form: Form,
    to: &mut dyn Write,
) -> io::Result<()> {
    table::write(&replayed.run, (steps, replayed.cycle), form, to)
}

fn informal(replayed: &Replayed<'_>, to: &mut dyn Write) -> io::Result<()> {
    let description = report_text::describe_fault(&replayed.violation);
    let (source, cycle) = (&replayed.model, replayed.cycle);
    itf::write(&replayed.run, itf::About { source, description: &description, cycle }, to)
}
