//! A simulation by hand: what can happen next is numbered, and everything can be undone.

use super::command::{self, Entry, Said};
use super::{Dialogue, Lines, Reply, draw};
use crate::output;
use crate::signal::Interrupt;
use engine::report_text;
use engine::simulate::Origin;
use engine::simulation::{Ending, Reads, Simulation, Took};
use std::fmt::Write;
use std::sync::Arc;
use system::blocked::{Blocked, Held, Reason};
use system::{ActionId, Fault};
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
pub struct Simulating<'s, 'a, 'i, M> {
    simulation: &'s mut Simulation<'a, 'i, M>,
    /// Where the run comes from, to write its trail.
    origin: &'s Origin,
    interrupt: Arc<Interrupt>,
    palette: Palette,
    teller: Teller,
    choices: Vec<ActionId>,
}

impl<'s, 'a, 'i, M: Reads> Simulating<'s, 'a, 'i, M> {
    /// A dialogue about `simulation`.
    pub fn new(
        simulation: &'s mut Simulation<'a, 'i, M>,
        origin: &'s Origin,
        interrupt: Arc<Interrupt>,
        palette: Palette,
    ) -> Self {
        let teller = Teller::new(palette);
        Simulating { simulation, origin, interrupt, palette, teller, choices: Vec::new() }
    }

    /// What can happen now, and who cannot move.
    fn situation(&mut self) -> String {
        self.choices = self.simulation.choices();
        let mut out = String::new();
        let fault = self.simulation.fault();
        match self.simulation.ending() {
            Some(ending) => out.push_str(&self.ending(&ending)),
            None => {
                if let Some(fault) = fault {
                    let text = report_text::describe_fault(&fault);
                    let _ = writeln!(out, "{}, but the run can go on", self.palette.bad(text));
                }
                self.list(&mut out);
            }
        }
        self.blocked(&mut out);
        out
    }

    fn ending(&self, ending: &Ending) -> String {
        let text = match ending {
            Ending::ValidEnd => {
                self.palette.good("the run has ended: every process is at a valid end").to_string()
            }
            Ending::Fault(fault) => {
                format!("the run ends here: {}", self.palette.bad(report_text::describe_fault(fault)))
            }
            Ending::InputEnded => {
                "nothing can happen but reading standard input, which is at its end".to_string()
            }
            Ending::StepsSpent | Ending::Interrupted => "stopped".to_string(),
        };
        format!("{text}\n")
    }

    fn list(&mut self, out: &mut String) {
        let listed: Vec<ActionId> = self.choices.iter().take(MOST_CHOICES).copied().collect();
        let rows: Vec<[String; 4]> = listed.into_iter().map(|action| self.row(action)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (who, place, text) = (width(0), width(1), width(2).min(40));
        for (i, row) in rows.iter().enumerate() {
            let pid = pid_of(&row[0]);
            let line = format!(
                "{:>4}  {}  {}  {}",
                i + 1,
                self.palette.process(pid, format!("{:who$}", row[0])),
                self.palette.place(format!("{:place$}", row[1])),
                self.palette.strong(format!("{:text$}", row[2])),
            );
            let _ = writeln!(out, "{}", format!("{line}  {}", row[3]).trim_end());
        }
        if self.choices.len() > MOST_CHOICES {
            let _ = writeln!(out, "      … and {} more", self.choices.len() - MOST_CHOICES);
        }
    }

    /// Process, place, statement, and what it would do.
    fn row(&mut self, action: ActionId) -> [String; 4] {
        let info = self.simulation.run().words().step(&self.simulation.run().state(usize::MAX), action);
        let mut who = story::process_name(&info.process, info.pid);
        let mut text = story::shortened(&info.text, 60);
        if let Some(partner) = &info.partner {
            let _ = write!(who, " → {}", story::process_name(&partner.process, partner.pid));
            let _ = write!(text, " → {}", story::shortened(&partner.text, 60));
        }
        let effect = match self.simulation.preview(action) {
            Some(told) => {
                let effects = story::effects(&told, self.palette);
                match &told.fault {
                    Some(fault) => {
                        format!("{effects} {}", self.palette.bad(&fault.message)).trim().to_string()
                    }
                    None => effects,
                }
            }
            None => "reads standard input".to_string(),
        };
        [who, format!("{}:{}", one_line(&info.file), info.line), text, effect]
    }

    /// One line for each process that cannot move.
    fn blocked(&mut self, out: &mut String) {
        let run = self.simulation.run();
        if self.simulation.run().state(usize::MAX).is_empty() {
            return;
        }
        let blocked = run.words().blocked(&run.state(usize::MAX));
        if let Some(by) = blocked.iter().find_map(control) {
            let _ = writeln!(
                out,
                "{}",
                self.palette.dim(format!("  {by} is inside an atomic sequence: nobody else moves"))
            );
            return;
        }
        let shown: Vec<&Blocked> = blocked.iter().filter(|one| !has_ended(one)).collect();
        for one in shown.iter().take(MOST_BLOCKED) {
            let _ = writeln!(out, "{}", self.palette.dim(format!("  blocked: {}", blocked_text::short(one))));
        }
        if shown.len() > MOST_BLOCKED {
            let more = format!("  … and {} more; b explains all", shown.len() - MOST_BLOCKED);
            let _ = writeln!(out, "{}", self.palette.dim(more));
        }
    }

    fn explain(&self) -> String {
        let run = self.simulation.run();
        match run.words().blocked(&run.state(usize::MAX)) {
            blocked if blocked.is_empty() => "no process is blocked\n".to_string(),
            blocked => blocked_text::full(&blocked),
        }
    }

    /// Takes a step that was chosen.
    fn choose(&mut self, number: usize) -> String {
        let Some(&action) = number.checked_sub(1).and_then(|i| self.choices.get(i)) else {
            return match self.choices.len() {
                0 => "nothing can happen here; u undoes, q quits\n".to_string(),
                1 => "there is only choice 1\n".to_string(),
                n => format!("choose from 1 to {n}\n"),
            };
        };
        let interrupt = Arc::clone(&self.interrupt);
        let took = interrupt.during(|_| stop::attempt(|| self.simulation.take(action)));
        match took.unwrap_or_else(|_| Err("interrupted".to_string())) {
            Ok(Took::Step) => {
                let number = self.simulation.run().len();
                let step = self.teller.step(self.simulation.run(), number);
                format!("{step}{}", self.situation())
            }
            Ok(Took::NoInput) => format!("standard input has too little for that\n{}", self.situation()),
            Err(why) => format!("{why}\n"),
        }
    }

    /// Takes steps at random until there are enough, or something is to be seen.
    fn random(&mut self, n: usize) -> String {
        let mut out = String::new();
        let interrupt = Arc::clone(&self.interrupt);
        let stopped = interrupt.during(|stop| {
            if n > MANY {
                output::standard().write(&format!("taking {n} steps; Ctrl-C stops it\n"));
            }
            for _ in 0..n {
                match stop::attempt(|| self.simulation.take_any()) {
                    Ok(Ok(true)) => {}
                    Ok(Ok(false)) => return None,
                    Ok(Err(why)) => return Some(why),
                    Err(_) => return Some("interrupted".to_string()),
                }
                let number = self.simulation.run().len();
                if out.len() < MOST_TEXT {
                    out.push_str(&self.teller.step(self.simulation.run(), number));
                }
                if self.simulation.fault().is_some() {
                    return None;
                }
                if stop.is_asked() {
                    return Some("interrupted".to_string());
                }
            }
            None
        });
        if out.len() >= MOST_TEXT {
            let _ = writeln!(out, "… (h tells the rest)");
        }
        if let Some(why) = stopped {
            let _ = writeln!(out, "{why}");
        }
        format!("{out}{}", self.situation())
    }

    fn undo(&mut self, n: usize) -> String {
        let before = self.simulation.run().len();
        let mut left = n;
        while left > 0 && self.simulation.undo() {
            left -= 1;
        }
        self.teller = Teller::new(self.palette);
        let undone = before - self.simulation.run().len();
        let what = match undone {
            0 => "there is nothing to undo".to_string(),
            n => format!("undid {}", story::steps(n)),
        };
        format!("{what}\n{}", self.situation())
    }

    fn history(&self, rest: &str) -> String {
        let run = self.simulation.run();
        let wanted = if rest.is_empty() { Ok(run.len()) } else { command::count(rest) };
        match wanted {
            _ if run.is_empty() => "no step was taken yet\n".to_string(),
            Ok(n) => story::part(run, (run.len() + 1).saturating_sub(n)..=run.len(), self.palette),
            Err(why) => why,
        }
    }

    /// The error that the run shows as it stands.
    fn shown_fault(&mut self) -> Option<Fault> {
        match (self.simulation.fault(), self.simulation.ending()) {
            (Some(fault), _) | (None, Some(Ending::Fault(fault))) => Some(fault),
            _ => None,
        }
    }

    fn draw(&mut self, file: &str) -> String {
        let fault = self.shown_fault();
        let run = self.simulation.run();
        let ending = End { fault: fault.as_ref(), cycle: None };
        draw(file, run, ending, &format!("a run of {}", story::steps(run.len())))
    }

    fn write(&mut self, file: &str) -> String {
        let fault = self.shown_fault();
        let Some(fault) = fault else {
            return "only a run that meets an error can be written: a trail ends with one\n".to_string();
        };
        if file.is_empty() {
            return "name the file: w FILE\n".to_string();
        }
        if self.simulation.has_read() {
            return "the run has read standard input, which a trail does not keep\n".to_string();
        }
        let written = self.origin.write_trail(file, self.simulation.run(), fault);
        match written {
            Ok(()) => format!("written; see it with: spinor replay {file}\n"),
            Err(why) => format!("{file} cannot be written: {why}\n"),
        }
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

impl<M: Reads> Dialogue for Simulating<'_, '_, '_, M> {
    fn greeting(&mut self) -> String {
        let hint = "A number takes that step, u undoes it, ? lists the other commands.\n";
        format!("{}{}", self.palette.dim(hint), self.situation())
    }

    fn prompt(&mut self) -> String {
        format!("({}) > ", story::steps(self.simulation.run().len()))
    }

    fn answer(&mut self, line: &str, _: &mut Lines) -> Reply {
        let said = match command::understand(line, TABLE) {
            Said::Number(n) => self.choose(n),
            Said::Nothing if self.choices.len() == 1 => self.choose(1),
            Said::Nothing if self.choices.is_empty() => {
                "nothing can happen here; u undoes, q quits\n".to_string()
            }
            Said::Nothing => format!("choose from 1 to {}, or r for a random step\n", self.choices.len()),
            Said::Command("r", rest) => command::count(rest).map_or_else(|why| why, |n| self.random(n)),
            Said::Command("u", rest) => command::count(rest).map_or_else(|why| why, |n| self.undo(n)),
            Said::Command("l", _) => self.situation(),
            Said::Command("s", _) => {
                let run = self.simulation.run();
                story::state(&run.snapshot(run.len()), self.palette)
            }
            Said::Command("b", _) => self.explain(),
            Said::Command("h", rest) => self.history(rest),
            Said::Command("m", file) => self.draw(file),
            Said::Command("w", file) => self.write(file),
            Said::Command("q", _) => return Reply::Quit,
            Said::Command("?", _) => {
                let first = [("1, 2, …", "take that step"), ("Enter", "take the only step there is")];
                command::help(&first, TABLE)
            }
            Said::Command(..) | Said::Unknown => command::not_understood(line),
        };
        Reply::Say(said)
    }

    fn status(&mut self) -> u8 {
        u8::from(self.shown_fault().is_some())
    }
}
