//! A run told to people: who did what, where, and what it changed.
//!
//! [`tell`] makes the data of one step, from which both the text here and the JSON ([`json`](crate::json))
//! are made. A [`Teller`] writes steps one after another and groups those of one process, so that a
//! simulation can be told while it happens; [`whole`], [`part`] and [`short`] tell runs that are over.

use crate::blocked_text;
use crate::change::{Change, Of, changes};
use crate::run::Run;
use crate::style::Palette;
use crate::visible::one_line;
pub use draw::text::shortened;
use std::fmt::Write;
use std::io;
use std::ops::RangeInclusive;
use system::{Event, Fault, FaultKind, Move, NOBODY, ProcessView, Snapshot, StepInfo, Value, explain};

/// A step and what it did.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its number, from 1.
    pub number: usize,
    /// Who, where, which statement.
    pub info: StepInfo,
    /// The edges of automata that were taken.
    pub moves: Vec<Move>,
    /// What happened.
    pub events: Vec<Event>,
    /// The values that are different afterwards.
    pub changes: Vec<Change>,
    /// The state before it is inside an atomic sequence.
    pub was_inside: bool,
    /// The state after it is inside an atomic sequence.
    pub is_inside: bool,
    /// The error that it showed.
    pub fault: Option<Fault>,
}

/// Step `number` of a run.
pub fn tell(run: &Run<'_>, number: usize) -> Option<Told> {
    tell_next(run, number, &mut None)
}

/// Tells a step when `seen` is the last moment that was looked at and what there was: a caller that tells
/// step after step looks at each moment once.
pub fn tell_next(run: &Run<'_>, number: usize, seen: &mut Option<(usize, Snapshot)>) -> Option<Told> {
    let info = run.info(number)?;
    let taken = run.step(number)?;
    let before = seen.take().filter(|(moment, _)| moment + 1 == number).map(|(_, snapshot)| snapshot);
    let before = before.unwrap_or_else(|| run.snapshot(number - 1));
    let after = run.snapshot(number);
    let changes = changes(&before, &after);
    *seen = Some((number, after));
    Some(Told {
        number,
        info,
        moves: run.moves(number),
        events: run.events(number),
        changes,
        was_inside: taken.inside,
        is_inside: run.is_inside(number),
        fault: taken.fault.clone(),
    })
}

/// A process by name and number: `user[1]`.
pub fn process_name(name: &str, pid: u32) -> String {
    let name = name.trim_matches(':');
    if pid == NOBODY { name.to_string() } else { format!("{name}[{pid}]") }
}

/// Where statements end and what they do begins.
const STATEMENT: usize = 34;
/// A statement so long that what it does stands below it.
const LONG: usize = 52;
/// The longest statement that is shown.
const LONGEST: usize = 72;
/// Changes of one step that are shown.
const MOST_CHANGES: usize = 8;

/// Writes steps, grouping those of one process under its name.
#[derive(Clone, Debug, Default)]
pub struct Teller {
    palette: Palette,
    /// Who made the step before.
    group: Option<(u32, Option<u32>)>,
    /// Width of the places; grows with what is seen.
    place: usize,
}

impl Teller {
    /// Nothing told yet.
    pub fn new(palette: Palette) -> Self {
        Teller { palette, group: None, place: 0 }
    }

    /// Step `number` of a run, below the name of its process if that is another one than before.
    pub fn step(&mut self, run: &Run<'_>, number: usize) -> String {
        tell(run, number).map(|told| self.write(&told)).unwrap_or_default()
    }

    fn write(&mut self, told: &Told) -> String {
        let mut out = String::new();
        let partner = told.info.partner.as_deref();
        let group = (told.info.pid, partner.map(|partner| partner.pid));
        if self.group != Some(group) {
            let _ = writeln!(out, "{}", self.header(&told.info));
            self.group = Some(group);
        }
        let notes = self.notes(told);
        let mark = match (told.was_inside, told.is_inside) {
            (false, true) => '┌',
            (true, true) => '│',
            (true, false) => '└',
            (false, false) => ' ',
        };
        let number = format!("{mark}{:>5}", told.number);
        match partner {
            None => self.line(&number, &told.info, &notes, &mut out),
            Some(partner) => {
                self.line(&number, &told.info, "", &mut out);
                self.line("      ", partner, &notes, &mut out);
            }
        }
        for line in explain::printed(&told.events).lines() {
            let _ = writeln!(out, "{:8}{} {}", "", self.palette.dim("prints:"), one_line(line));
        }
        if let Some(fault) = &told.fault {
            let _ = writeln!(out, "{:8}{}", "", self.palette.bad(&fault.message));
        }
        out
    }

    /// The process, or both processes of a rendezvous.
    fn header(&self, info: &StepInfo) -> String {
        let paint = |info: &StepInfo| {
            self.palette.process(info.pid, process_name(&info.process, info.pid)).to_string()
        };
        match &info.partner {
            Some(partner) => format!("{} → {}", paint(info), paint(partner)),
            None => paint(info),
        }
    }

    /// Number, place and statement, and what it did if there is room, else below.
    fn line(&mut self, number: &str, info: &StepInfo, notes: &str, out: &mut String) {
        let place = format!("{}:{}", one_line(&info.file), info.line);
        self.place = self.place.max(place.chars().count());
        let palette = self.palette;
        let text = shortened(&info.text, LONGEST);
        let width = self.place;
        let _ = write!(
            out,
            "{} {}  {}",
            palette.dim(number),
            palette.place(format!("{place:width$}")),
            palette.strong(&text)
        );
        let used = text.chars().count();
        let _ = match notes {
            "" => writeln!(out),
            _ if used <= LONG => {
                writeln!(out, "{:space$}  {notes}", "", space = STATEMENT.saturating_sub(used))
            }
            _ => writeln!(out, "\n{:indent$}{notes}", "", indent = 11 + width + STATEMENT),
        };
    }

    /// What a step did, in one line.
    fn notes(&self, told: &Told) -> String {
        let mut notes: Vec<String> = told.events.iter().filter_map(|e| self.event(e, told)).collect();
        let existing = |change: &&Change| change.before.is_some() && change.after.is_some();
        for change in told.changes.iter().filter(existing).take(MOST_CHANGES) {
            notes.push(describe(change, told.info.pid));
        }
        let more = told.changes.iter().filter(existing).count().saturating_sub(MOST_CHANGES);
        if more > 0 {
            notes.push(format!("{more} more changes"));
        }
        notes.join(", ")
    }

    /// What the values do not show.
    fn event(&self, event: &Event, told: &Told) -> Option<String> {
        match event {
            Event::Run { child, name, .. } => {
                let name = self.palette.process(*child, process_name(name, *child));
                Some(match initial_values(*child, &told.changes).as_str() {
                    "" => format!("starts {name}"),
                    values => format!("starts {name} with {values}"),
                })
            }
            Event::End { .. } => Some("ends".to_string()),
            Event::Handshake { channel, message, .. } => {
                Some(format!("{} passes {}", channel.name, explain::message(message)))
            }
            Event::Assert { holds: true, .. } => Some("holds".to_string()),
            Event::Receive { channel, message, keep: true, .. } => {
                Some(format!("{} keeps {}", channel.name, explain::message(message)))
            }
            _ => None,
        }
    }
}

/// What a step did, in one line.
pub fn effects(told: &Told, palette: Palette) -> String {
    Teller::new(palette).notes(told)
}

/// `turn: 0 → 1`, `q = [3, 4]`; local variables of other processes with their names.
fn describe(change: &Change, pid: u32) -> String {
    let name = match &change.of {
        Of::Local { pid: owner, process } if *owner != pid => {
            format!("{}:{}", process_name(process, *owner), change.name)
        }
        _ => change.name.clone(),
    };
    let word = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_string(), Value::to_string);
    match change.of {
        Of::Channel => format!("{name} = {}", word(&change.after)),
        _ => format!("{name}: {} → {}", word(&change.before), word(&change.after)),
    }
}

/// The values that a new process starts with, as far as they are worth telling.
fn initial_values(child: u32, changes: &[Change]) -> String {
    let told = |change: &&Change| {
        matches!(change.of, Of::Local { pid, .. } if pid == child)
            && change.after.as_ref().is_some_and(|value| !is_plain(&change.full_name(), value))
    };
    let values = changes.iter().filter(told).take(MOST_CHANGES);
    let words = values.map(|c| format!("{} = {}", c.name, c.after.as_ref().unwrap_or(&Value::Int(0))));
    words.collect::<Vec<_>>().join(", ")
}

/// Whether a value is the one that a variable has anyway: zero, or the channel that was created for it.
fn is_plain(name: &str, value: &Value) -> bool {
    match value {
        Value::Int(0) | Value::Bool(false) | Value::Channel(None) | Value::Lock(None) => true,
        _ => is_own(name, value),
    }
}

/// Steps whose places decide how wide all places are.
const MEASURED: usize = 1000;

/// Writes some steps of a run, one after another.
pub fn write_part(
    run: &Run<'_>,
    steps: RangeInclusive<usize>,
    palette: Palette,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut teller = Teller::new(palette);
    let (first, last) = ((*steps.start()).max(run.first() + 1), (*steps.end()).min(run.len()));
    let widths = (first..=last).take(MEASURED).filter_map(|number| run.info(number));
    teller.place =
        widths.map(|i| format!("{}:{}", one_line(&i.file), i.line).chars().count()).max().unwrap_or(0);
    let mut seen = None;
    for number in first..=last {
        if let Some(told) = tell_next(run, number, &mut seen) {
            out.write_all(teller.write(&told).as_bytes())?;
        }
    }
    Ok(())
}

/// Some steps of a run.
pub fn part(run: &Run<'_>, steps: RangeInclusive<usize>, palette: Palette) -> String {
    let mut out = Vec::new();
    // Memory takes everything.
    let _ = write_part(run, steps, palette, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// All steps of a run.
pub fn whole(run: &Run<'_>, palette: Palette) -> String {
    part(run, 1..=run.len(), palette)
}

/// Lines that a short story may have.
pub const SHORT_LINES: usize = 25;
/// The steps that remain of one that has more.
const SHORT_STEPS: usize = 15;

/// The whole story if it is short, else its end.
pub fn short(run: &Run<'_>, palette: Palette) -> String {
    if run.len() <= SHORT_LINES && run.first() == 0 {
        let story = whole(run, palette);
        if story.lines().count() <= SHORT_LINES {
            return story;
        }
    }
    last(run, SHORT_STEPS, palette)
}

/// The last `most` steps that are remembered; how many there are before is said.
pub fn last(run: &Run<'_>, most: usize, palette: Palette) -> String {
    let first = (run.len() + 1).saturating_sub(most).max(run.first() + 1);
    let told = part(run, first..=run.len(), palette);
    match first {
        1 => told,
        _ => format!("{}\n{told}", palette.dim(format!("… {} before", steps(first - 1)))),
    }
}

/// `1 step`, `7 steps`.
pub fn steps(n: usize) -> String {
    if n == 1 { "1 step".to_string() } else { format!("{n} steps") }
}

/// How a run ends: its last state and, when nobody can move any more, why not.
pub fn ending(run: &Run<'_>, fault: Option<&Fault>, palette: Palette) -> String {
    let mut out = String::new();
    let last = state(&run.snapshot(run.len()), palette);
    if !last.is_empty() {
        let after = format!("After {}:", steps(run.len()));
        let _ = write!(out, "{}\n{last}", palette.strong(after));
    }
    let stuck = fault.is_some_and(|fault| fault.kind == FaultKind::EndState);
    let blocked = if stuck { run.words().blocked(&run.state(run.len())) } else { Vec::new() };
    if !blocked.is_empty() {
        let _ = writeln!(out, "\n{}", palette.strong("Why nobody can move:"));
        for line in blocked_text::full(&blocked).lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// A whole state.
pub fn state(state: &Snapshot, palette: Palette) -> String {
    let mut out = String::new();
    for (name, value) in &state.globals {
        if !is_own(name, value) {
            let _ = writeln!(out, "  {name} = {value}");
        }
    }
    for channel in state.channels.iter().filter(|channel| channel.capacity > 0) {
        let full = channel.messages.len() as u32 >= channel.capacity;
        let room = match (channel.messages.is_empty(), full) {
            (true, _) => " (empty)",
            (_, true) => " (full)",
            _ => "",
        };
        let _ = writeln!(out, "  {} = {}{}", channel.id.name, channel.contents(), palette.dim(room));
    }
    for process in &state.processes {
        self::process(process, palette, &mut out);
    }
    out
}

/// Whether a variable holds the channels that were created for it, which says nothing that the channels do
/// not say.
fn is_own(name: &str, value: &Value) -> bool {
    match value {
        Value::Channel(Some(channel)) => channel.name == name,
        Value::Array(elements) => {
            elements.iter().enumerate().all(|(i, element)| is_own(&format!("{name}[{i}]"), element))
        }
        _ => false,
    }
}

fn process(process: &ProcessView, palette: Palette, out: &mut String) {
    let place = format!("{}:{}", one_line(&process.file), process.line);
    let next: Vec<String> = process.next.iter().take(4).map(|text| shortened(text, 40)).collect();
    let more = if process.next.len() > 4 { " or …" } else { "" };
    let doing = match (process.finished, next.is_empty()) {
        (true, _) => "at its end".to_string(),
        (_, true) => "at a place without statements".to_string(),
        _ => format!("before {}{more}", next.join(" or ")),
    };
    let name = palette.process(process.pid, process_name(&process.name, process.pid));
    let _ = writeln!(out, "  {name} at {}, {doing}", palette.place(place));
    if !process.locals.is_empty() && !process.finished {
        let owner = process_name(&process.name, process.pid);
        let told = |(name, value): &&(String, Value)| !is_own(&format!("{owner}:{name}"), value);
        let locals = process.locals.iter().filter(told);
        let locals: Vec<String> = locals.map(|(name, value)| format!("{name} = {value}")).collect();
        if !locals.is_empty() {
            let _ = writeln!(out, "      {}", locals.join(", "));
        }
    }
}
