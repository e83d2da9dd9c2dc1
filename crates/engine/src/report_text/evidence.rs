//! What shows a violation: what is wrong, where, with the line of the model, and the command that replays the
//! way there.

use super::number::plural;
use crate::client::Kept;
use crate::command_line::quoted;
use crate::files::STANDARD_INPUT;
use crate::report::Shown;
use crate::trails::Unwritten;
use system::{Fault, FaultKind};
use trace::story::process_name;
use trace::visible::one_line;
use trace::{Palette, blocked_text};

/// Stuck processes that are listed at most.
const STUCK: usize = 12;

/// Appends the evidence of one violation; `quiet` leaves out how it comes about.
pub fn evidence(shown: &Shown, quiet: bool, palette: Palette, out: &mut String) {
    let fault = shown.evidence.fault();
    let head = match fault.kind {
        FaultKind::Witness => palette.good(headline(fault)),
        _ => palette.bad(headline(fault)),
    };
    out.push_str(&format!("{head}\n"));
    place(shown, palette, out);
    if !shown.story.is_empty() && !quiet {
        out.push('\n');
        shown.story.lines().for_each(|line| out.push_str(&format!("  {line}\n")));
        out.push('\n');
    }
    for one in shown.blocked.iter().take(STUCK) {
        out.push_str(&format!("  {}\n", blocked_text::short(one)));
    }
    if let Some(more) = shown.blocked.len().checked_sub(STUCK).filter(|&more| more > 0) {
        out.push_str(&format!("  and {more} more\n"));
    }
    let (when, see) = match shown.evidence.depth() {
        n if shown.evidence.trail().cycle.is_some() => (around(shown, n), "see it"),
        0 => ("already at the beginning".to_string(), "see it"),
        1 => ("after 1 step".to_string(), "see it"),
        n => (format!("after {}", plural(n as u64, "step")), "see them"),
    };
    match &shown.kept {
        Kept::File(path) => {
            let from = if shown.evidence.trail().model == STANDARD_INPUT { " < MODEL" } else { "" };
            let command = palette.command(format!("spinor replay {}{from}", quoted(path))).to_string();
            out.push_str(&format!("  {when}; {see} with: {command}\n"));
        }
        Kept::Stream(path) => out.push_str(&format!("  {when}; the trail went to {}\n", one_line(path))),
        Kept::Unwritten(Unwritten { path, why }) => {
            let note = format!("the counterexample could not be written to {}: {why}", one_line(path));
            let help = "give another file with --trail, or --format json, whose report holds all steps";
            out.push_str(&format!("  {when}\n  {}\n  {help}\n", palette.bad(note)));
        }
        Kept::InReport => out.push_str(&format!("  {when}\n")),
    }
}

/// That the last steps of a run repeat.
fn repeats(steps: usize) -> String {
    match steps {
        1 => "this step repeats".to_string(),
        n => format!("these {n} steps repeat"),
    }
}

/// How long the way to a cycle is, and how long the way around.
fn around(shown: &Shown, depth: usize) -> String {
    let start = shown.evidence.trail().cycle.unwrap_or(depth);
    let way = match start {
        0 => "from the beginning".to_string(),
        n => format!("after {}", plural(n as u64, "step")),
    };
    match depth - start {
        0 => format!("{way} nothing can move: the state lasts forever"),
        n => format!("{way}, then {} forever", repeats(n)),
    }
}

fn headline(fault: &Fault) -> String {
    match fault.kind {
        FaultKind::Runtime => format!("run-time error: {}", fault.message),
        _ => fault.message.clone(),
    }
}

/// File, line, column and process, and the line itself with a caret.
fn place(shown: &Shown, palette: Palette, out: &mut String) {
    let fault = shown.evidence.fault();
    let process = match (&fault.process, fault.pid) {
        (Some(name), Some(pid)) => format!(", {}", process_name(name, pid)),
        (Some(name), None) => format!(", {name}"),
        _ => String::new(),
    };
    let at = palette.place(format!("{}:{}:{}", one_line(&fault.file), fault.line, fault.column)).to_string();
    out.push_str(&format!("  {} {at}{process}\n", palette.dim("-->")));
    if let Some(line) = &shown.line {
        let number = fault.line.to_string();
        let before = line.trim_end().chars().count().min(fault.column.saturating_sub(1) as usize);
        let (margin, below) = (format!("{number} |"), format!("{} |", " ".repeat(number.len())));
        let caret = format!("{}{}", " ".repeat(before), palette.bad("^".repeat(width(shown, line, before))));
        out.push_str(&format!("  {} {}\n", palette.dim(margin), line.trim_end().replace('\t', " ")));
        out.push_str(&format!("  {} {caret}\n", palette.dim(below)));
    }
}

/// How much of the line is the statement to blame, as far as one is known that stands there.
fn width(shown: &Shown, line: &str, before: usize) -> usize {
    let rest: String = line.chars().skip(before).collect();
    let last = shown.evidence.trail().steps.last().and_then(|step| step.info.as_ref());
    let steps = last.into_iter().flat_map(|info| [Some(info), info.partner.as_deref()]).flatten();
    let texts = steps.map(|info| info.text.as_str()).chain(shown.blocked.iter().map(|b| b.at.text.as_str()));
    texts.filter(|text| rest.starts_with(text)).map(|text| text.chars().count()).max().unwrap_or(1).max(1)
}

/// What a run of some steps shows about a property: `safety is violated after 9 steps`.
pub fn shown_by(property: &str, fault: &Fault, steps: usize) -> String {
    let (property, steps) = (one_line(property), trace::story::steps(steps));
    match fault.kind {
        FaultKind::Witness => format!("{property} holds, shown after {steps}"),
        _ => format!("{property} is violated after {steps}"),
    }
}

/// A fault in one line: what is wrong, place, process.
pub fn describe_fault(fault: &Fault) -> String {
    let process = match (&fault.process, fault.pid) {
        (Some(name), Some(pid)) => format!(", in {}", process_name(name, pid)),
        (Some(name), None) => format!(", in {name}"),
        _ => String::new(),
    };
    format!("{}, at {}:{}:{}{process}", headline(fault), one_line(&fault.file), fault.line, fault.column)
}
