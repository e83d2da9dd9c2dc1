//! `spinor replay`.

use crate::args::{Format, ReplayArgs, RunFormat};
use crate::interactive::replaying::Replaying;
use crate::interactive::{Lines, converse};
use crate::signal::Interrupt;
use crate::{chart, output};
use engine::replay::{Replayed, replay};
use engine::{Answer, Disk, DiskOrInput, report_text};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use system::FaultKind;
use trace::msc::{self, Chart, End};
use trace::visible::one_line;
use trace::write::fault_object;
use trace::{Palette, itf, story};

/// Replays a counterexample; returns the exit status.
pub fn run(args: &ReplayArgs) -> u8 {
    if args.interactive {
        return step_through(args);
    }
    let palette = output::out_palette();
    let view = |replayed: &mut Replayed<'_>| {
        let steps = wanted(args, replayed.run.len());
        let drawn = chart::drawable(&steps);
        let chart = || Chart::of(&replayed.run, drawn.clone(), ending(replayed));
        if let Some(path) = &args.msc {
            chart::save(path, &chart(), &chart::title(&title(replayed), &drawn, replayed.run.len()))?;
        }
        Ok(match args.format {
            RunFormat::Text => text(replayed, steps, palette),
            RunFormat::Json => output::json(&object(replayed, steps), output::Lines::Several),
            RunFormat::Itf => output::json(&informal(replayed), output::Lines::Several),
            RunFormat::Msc => msc::text::draw(&chart(), palette),
        })
    };
    let mut answer = replay(&args.trail, &DiskOrInput::default(), view);
    let flat = Answer { notices: std::mem::take(&mut answer.notices), result: answer.result.and_then(|r| r) };
    output::answer(flat, args.format.of_notices())
}

/// Lets somebody step through the run.
fn step_through(args: &ReplayArgs) -> u8 {
    let (interrupt, palette) = (Interrupt::listen(), output::out_palette());
    let view = |replayed: &mut Replayed<'_>| {
        converse(&mut Lines::standard(), &mut Replaying::new(replayed, interrupt, palette))
    };
    output::settle(replay(&args.trail, &Disk, view), Format::Text).unwrap_or_else(|status| status)
}

/// How the run ends.
pub fn ending<'a>(replayed: &'a Replayed<'_>) -> End<'a> {
    End { fault: Some(&replayed.violation), cycle: replayed.cycle }
}

/// What is violated, in one line.
fn title(replayed: &Replayed<'_>) -> String {
    let steps = story::steps(replayed.run.len());
    format!("{}: {} is violated after {steps}", one_line(&replayed.model), one_line(&replayed.property))
}

/// The steps that were asked for.
fn wanted(args: &ReplayArgs, len: usize) -> RangeInclusive<usize> {
    let (first, last) = args.steps.unwrap_or_default();
    let first = args.last.map_or(first, |n| Some((len + 1).saturating_sub(n)));
    first.unwrap_or(1).max(1)..=last.unwrap_or(len).min(len)
}

fn text(replayed: &Replayed<'_>, steps: RangeInclusive<usize>, palette: Palette) -> String {
    let run = &replayed.run;
    let mut out = format!("{}\n\n", title(replayed));
    out.push_str(&told(replayed, steps, palette));
    let ending = story::ending(run, Some(&replayed.violation), palette);
    let sentence = report_text::describe_fault(&replayed.violation);
    out.push_str(&format!("\n{ending}\n{}\n", palette.bad(sentence)));
    out
}

/// The steps as a story; where they are repeated for ever is said.
pub fn told(replayed: &Replayed<'_>, steps: RangeInclusive<usize>, palette: Palette) -> String {
    let (run, first, last) = (&replayed.run, *steps.start(), *steps.end());
    let Some(cycle) = replayed.cycle.filter(|&cycle| (first..=last + 1).contains(&(cycle + 1))) else {
        return story::part(run, steps, palette);
    };
    let around = match run.len() - cycle {
        0 => "nothing can move: this state lasts for ever".to_string(),
        n => format!("from here on for ever, {} again and again:", story::steps(n)),
    };
    let before = if cycle >= first { story::part(run, first..=cycle, palette) } else { String::new() };
    let after = if cycle < last { story::part(run, cycle + 1..=last, palette) } else { String::new() };
    format!("{before}{}\n{after}", palette.strong(around))
}

fn object(replayed: &Replayed<'_>, steps: RangeInclusive<usize>) -> Value {
    let run = &replayed.run;
    let told = steps.filter_map(|number| story::tell(run, number));
    let stuck = replayed.violation.kind == FaultKind::EndState;
    let blocked = if stuck { run.words().blocked(run.state(run.len())) } else { Vec::new() };
    json!({
        "tool": "spinor",
        "version": engine::VERSION,
        "model": replayed.model,
        "property": replayed.property,
        "confirmed": true,
        "steps": told.map(|told| Value::Object(trace::json::step(&told))).collect::<Value>(),
        "state": trace::json::state(&run.snapshot(run.len())),
        "blocked": blocked.iter().map(trace::blocked_json::blocked).collect::<Vec<Value>>(),
        "cycle": replayed.cycle,
        "violation": fault_object(&replayed.violation, run.len()),
    })
}

fn informal(replayed: &Replayed<'_>) -> Value {
    let description = report_text::describe_fault(&replayed.violation);
    let (source, cycle) = (&replayed.model, replayed.cycle);
    itf::trace(&replayed.run, itf::About { source, description: &description, cycle })
}
