//! A simulation by hand: what can happen next is numbered, and everything can be undone.

use super::command::{self, Entry, Said};
use super::{Dialogue, Lines, Moment, Reply, draw, evaluated};
use crate::output;
use crate::signal::Interrupt;
use engine::report_text;
use engine::simulation::Ending;
use explore::exploration::NO_INPUT;
use explore::{Ended, Exploration, RunThread};
use std::fmt::Write;
use std::sync::Arc;
use system::ActionId;
use system::blocked::{Blocked, Held, Reason};
use trace::msc::End;
use trace::story::{self, Teller};
use trace::visible::one_line;
use trace::{Palette, blocked_text};

const TABLE: &[Entry] = &[
    Entry { key: "r", word: "random", argument: "[N]", help: "take N steps at random" },
    Entry { key: "u", word: "undo", argument: "[N]", help: "undo N steps" },
    Entry { key: "l", word: "list", argument: "", help: "list what can happen next, again" },
    Entry { key: "s", word: "state", argument: "", help: "show the whole state" },
    Entry {
        key: "e",
        word: "evaluate",
        argument: "[PID:] EXPR",
        help: "evaluate an expression, as process PID sees it",
    },
    Entry {
        key: "b",
        word: "blocked",
        argument: "",
        help: "explain why processes are blocked, and who could help",
    },
    Entry { key: "h", word: "history", argument: "[N]", help: "tell the run so far, or its last N steps" },
    Entry {
        key: "m",
        word: "msc",
        argument: "FILE",
        help: "draw the run as a message sequence chart: SVG, or text if FILE ends in .txt",
    },
    Entry {
        key: "w",
        word: "write",
        argument: "FILE",
        help: "write a run that meets an error as a trail for replay",
    },
    Entry { key: "?", word: "help", argument: "", help: "show this list" },
    Entry { key: "q", word: "quit", argument: "", help: "quit (so does the end of the input)" },
];

/// Choices that are listed, and blocked processes.
const MOST_CHOICES: usize = 40;
const MOST_BLOCKED: usize = 8;

/// A simulation that somebody drives.
pub struct Simulating<'t> {
    run: &'t RunThread,
    interrupt: Arc<Interrupt>,
    palette: Palette,
    teller: Teller,
    /// The steps that can be chosen from.
    choices: usize,
}

impl<'t> Simulating<'t> {
    /// A dialogue about the end of a run.
    pub fn new(run: &'t RunThread, interrupt: Arc<Interrupt>, palette: Palette) -> Self {
        Simulating { run, interrupt, palette, teller: Teller::new(palette), choices: 0 }
    }

    /// What can happen now, and who cannot move.
    fn situation(&mut self) -> Result<String, Ended> {
        let palette = self.palette;
        let (text, choices) = self.run.ask(move |e| {
            let choices = e.simulation().choices();
            (situation(e, &choices, palette), choices.len())
        })?;
        self.choices = choices;
        Ok(text)
    }

    /// Takes a step that was chosen.
    fn choose(&mut self, number: usize) -> Result<String, Ended> {
        if number == 0 || number > self.choices {
            return Ok(match self.choices {
                0 => "nothing can happen here; u undoes, q quits\n".to_string(),
                1 => "there is only choice 1\n".to_string(),
                n => format!("choose from 1 to {n}\n"),
            });
        }
        let mut teller = self.teller.clone();
        let took = self.interrupt.during(|_| {
            self.run.ask(move |e| {
                let took = stop::attempt(|| e.take(e.run().len(), number));
                let told = teller.step(e.run(), e.run().len());
                (took.unwrap_or_else(|_| Err("interrupted".to_string())), told, teller)
            })
        });
        Ok(match took? {
            (Ok(()), told, teller) => {
                self.teller = teller;
                format!("{told}{}", self.situation()?)
            }
            (Err(why), ..) if why == NO_INPUT => format!("{why}\n{}", self.situation()?),
            (Err(why), ..) => format!("{why}\n"),
        })
    }

    /// Takes steps at random until there are enough, or something is to be seen.
    fn random(&mut self, n: usize) -> Result<String, Ended> {
        let mut teller = self.teller.clone();
        let taken = self.interrupt.during(|stop| {
            if n > MANY {
                output::standard().write(&format!("taking {n} steps; Ctrl-C stops it\n"));
            }
            let stop = stop.clone();
            self.run.ask(move |e| {
                let mut out = String::new();
                let (_, result) = e.random(n, &stop, |run| {
                    if out.len() < MOST_TEXT {
                        out.push_str(&teller.step(run, run.len()));
                    }
                });
                (out, result, teller)
            })
        });
        let (mut out, result, teller) = taken?;
        self.teller = teller;
        if out.len() >= MOST_TEXT {
            let _ = writeln!(out, "… (h tells the rest)");
        }
        if let Err(why) = result {
            let _ = writeln!(out, "{why}");
        }
        Ok(format!("{out}{}", self.situation()?))
    }

    fn undo(&mut self, n: usize) -> Result<String, Ended> {
        let undone = self.run.ask(move |e| e.undo(n))?;
        self.teller = Teller::new(self.palette);
        let what = match undone {
            0 => "there is nothing to undo".to_string(),
            n => format!("undid {}", story::steps(n)),
        };
        Ok(format!("{what}\n{}", self.situation()?))
    }

    fn history(&self, rest: &str) -> Result<String, Ended> {
        let (palette, wanted) = (self.palette, (!rest.is_empty()).then(|| command::count(rest)));
        self.run.ask(move |e| {
            let run = e.run();
            match wanted.unwrap_or(Ok(run.len())) {
                _ if run.is_empty() => "no step was taken yet\n".to_string(),
                Ok(n) => story::part(run, (run.len() + 1).saturating_sub(n)..=run.len(), palette),
                Err(why) => why,
            }
        })
    }

    fn draw(&self, file: &str) -> Result<String, Ended> {
        let file = file.to_string();
        self.run.ask(move |e| {
            let fault = e.shown_fault();
            let ending = End { fault: fault.as_ref(), cycle: None };
            draw(&file, e.run(), ending, &format!("a run of {}", story::steps(e.run().len())))
        })
    }

    fn write(&self, file: &str) -> Result<String, Ended> {
        let file = file.to_string();
        self.run.ask(move |e| {
            let Some(fault) = e.shown_fault() else {
                return "only a run that meets an error can be written: a trail ends with one\n".to_string();
            };
            if file.is_empty() {
                return "name the file: w FILE\n".to_string();
            }
            if e.simulation().has_read() {
                return "the run has read standard input, which a trail does not keep\n".to_string();
            }
            match e.write_trail(&file, fault) {
                Ok(()) => format!("written; see it with: spinor replay {file}\n"),
                Err(why) => format!("{file} cannot be written: {why}\n"),
            }
        })
    }

    fn said(&mut self, line: &str) -> Result<Option<String>, Ended> {
        let palette = self.palette;
        Ok(Some(match command::understand(line, TABLE) {
            Said::Number(n) => self.choose(n)?,
            Said::Nothing if self.choices == 1 => self.choose(1)?,
            Said::Nothing if self.choices == 0 => "nothing can happen here; u undoes, q quits\n".to_string(),
            Said::Nothing => format!("choose from 1 to {}, or r for a random step\n", self.choices),
            Said::Command("r", rest) => match command::count(rest) {
                Ok(n) => self.random(n)?,
                Err(why) => why,
            },
            Said::Command("u", rest) => match command::count(rest) {
                Ok(n) => self.undo(n)?,
                Err(why) => why,
            },
            Said::Command("l", _) => self.situation()?,
            Said::Command("s", _) => {
                self.run.ask(move |e| story::state(&e.run().snapshot(e.run().len()), palette))?
            }
            Said::Command("e", text) => evaluated(self.run, text, Moment::Last)?,
            Said::Command("b", _) => self.run.ask(|e| match blocked_at_end(e) {
                blocked if blocked.is_empty() => "no process is blocked\n".to_string(),
                blocked => blocked_text::full(&blocked),
            })?,
            Said::Command("h", rest) => self.history(rest)?,
            Said::Command("m", file) => self.draw(file)?,
            Said::Command("w", file) => self.write(file)?,
            Said::Command("q", _) => return Ok(None),
            Said::Command("?", _) => {
                let first = [("1, 2, …", "take that step"), ("Enter", "take the only step there is")];
                command::help(&first, TABLE)
            }
            Said::Command(..) | Said::Unknown => command::not_understood(line),
        }))
    }
}

/// What can happen at the end of a run, and who cannot move.
fn situation(e: &mut Exploration<'_, '_>, choices: &[ActionId], palette: Palette) -> String {
    let mut out = String::new();
    let fault = e.simulation().fault();
    match e.simulation().ending() {
        Some(ending) => out.push_str(&ended(&ending, palette)),
        None => {
            if let Some(fault) = fault {
                let text = report_text::describe_fault(&fault);
                let _ = writeln!(out, "{}, but the run can go on", palette.bad(text));
            }
            list(e, choices, palette, &mut out);
        }
    }
    blocked(e, palette, &mut out);
    out
}

fn ended(ending: &Ending, palette: Palette) -> String {
    let text = match ending {
        Ending::ValidEnd => palette.good("the run has ended: every process is at a valid end").to_string(),
        Ending::Fault(fault) => {
            format!("the run ends here: {}", palette.bad(report_text::describe_fault(fault)))
        }
        Ending::InputEnded => {
            "nothing can happen but reading standard input, which is at its end".to_string()
        }
        Ending::StepsSpent | Ending::Interrupted => "stopped".to_string(),
    };
    format!("{text}\n")
}

fn list(e: &mut Exploration<'_, '_>, choices: &[ActionId], palette: Palette, out: &mut String) {
    let listed = choices.iter().take(MOST_CHOICES);
    let rows: Vec<[String; 4]> = listed.map(|&action| row(e, action, palette)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (who, place, text) = (width(0), width(1), width(2).min(40));
    for (i, row) in rows.iter().enumerate() {
        let pid = pid_of(&row[0]);
        let line = format!(
            "{:>4}  {}  {}  {}",
            i + 1,
            palette.process(pid, format!("{:who$}", row[0])),
            palette.place(format!("{:place$}", row[1])),
            palette.strong(format!("{:text$}", row[2])),
        );
        let _ = writeln!(out, "{}", format!("{line}  {}", row[3]).trim_end());
    }
    if choices.len() > MOST_CHOICES {
        let _ = writeln!(out, "      … and {} more", choices.len() - MOST_CHOICES);
    }
}

/// Process, place, statement, and what it would do.
fn row(e: &mut Exploration<'_, '_>, action: ActionId, palette: Palette) -> [String; 4] {
    let info = e.run().words().step(&e.run().state(usize::MAX), action);
    let mut who = story::process_name(&info.process, info.pid);
    let mut text = story::shortened(&info.text, 60);
    if let Some(partner) = &info.partner {
        let _ = write!(who, " → {}", story::process_name(&partner.process, partner.pid));
        let _ = write!(text, " → {}", story::shortened(&partner.text, 60));
    }
    let effect = match e.simulation().preview(action) {
        Some(told) => {
            let effects = story::effects(&told, palette);
            match &told.fault {
                Some(fault) => format!("{effects} {}", palette.bad(&fault.message)).trim().to_string(),
                None => effects,
            }
        }
        None => "reads standard input".to_string(),
    };
    [who, format!("{}:{}", one_line(&info.file), info.line), text, effect]
}

/// Who cannot move at the end of a run.
fn blocked_at_end(e: &Exploration<'_, '_>) -> Vec<Blocked> {
    let state = e.run().state(usize::MAX);
    if state.is_empty() { Vec::new() } else { e.run().words().blocked(&state) }
}

/// One line for each process that cannot move.
fn blocked(e: &Exploration<'_, '_>, palette: Palette, out: &mut String) {
    let blocked = blocked_at_end(e);
    if let Some(by) = blocked.iter().find_map(control) {
        let held = format!("  {by} is inside an atomic sequence: nobody else moves");
        let _ = writeln!(out, "{}", palette.dim(held));
        return;
    }
    let shown: Vec<&Blocked> = blocked.iter().filter(|one| !has_ended(one)).collect();
    for one in shown.iter().take(MOST_BLOCKED) {
        let _ = writeln!(out, "{}", palette.dim(format!("  blocked: {}", blocked_text::short(one))));
    }
    if shown.len() > MOST_BLOCKED {
        let more = format!("  … and {} more; b explains all", shown.len() - MOST_BLOCKED);
        let _ = writeln!(out, "{}", palette.dim(more));
    }
}

/// Random steps that take so long that it is said how to stop them.
const MANY: usize = 10_000;
/// Text of random steps that is shown.
const MOST_TEXT: usize = 20_000;

fn control(one: &Blocked) -> Option<String> {
    match &one.held {
        Some(Held::Control { by }) => Some(story::process_name(&by.process, by.pid)),
        _ => None,
    }
}

/// It has executed its body, and only waits to disappear.
fn has_ended(one: &Blocked) -> bool {
    one.alternatives.iter().any(|alternative| matches!(alternative.reason, Reason::Younger { .. }))
}

/// The number in `user[1]`, for the colour.
fn pid_of(name: &str) -> u32 {
    let digits = name.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    digits.and_then(|(digits, _)| digits.parse().ok()).unwrap_or(0)
}

impl Dialogue for Simulating<'_> {
    fn greeting(&mut self) -> String {
        let hint = "A number takes that step, u undoes it, ? lists the other commands.\n";
        format!("{}{}", self.palette.dim(hint), self.situation().unwrap_or_default())
    }

    fn prompt(&mut self) -> String {
        let steps = self.run.ask(|e| e.run().len()).unwrap_or_default();
        format!("({}) > ", story::steps(steps))
    }

    fn answer(&mut self, line: &str, _: &mut Lines) -> Reply {
        match self.said(line) {
            Ok(Some(text)) => Reply::Say(text),
            Ok(None) | Err(Ended) => Reply::Quit,
        }
    }

    fn status(&mut self) -> u8 {
        u8::from(self.run.ask(|e| e.shown_fault().is_some()).unwrap_or_default())
    }
}
