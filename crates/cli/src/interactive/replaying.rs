//! A counterexample step by step, forwards and backwards; from anywhere in it a simulation can branch off.

use super::command::{self, Entry, Said};
use super::simulating::Simulating;
use super::{Dialogue, Lines, Moment, Reply, converse, draw, evaluated};
use crate::replay;
use crate::signal::Interrupt;
use engine::report_text;
use explore::{Ended, Exploration, Followed, RunThread};
use std::fmt::Write;
use std::sync::Arc;
use trace::msc::End;
use trace::visible::one_line;
use trace::{Palette, Run, blocked_text, story};

const TABLE: &[Entry] = &[
    Entry { key: "n", word: "next", argument: "[N]", help: "go N steps forwards" },
    Entry { key: "p", word: "previous", argument: "[N]", help: "go N steps backwards" },
    Entry {
        key: "g",
        word: "goto",
        argument: "N",
        help: "go to the state after step N (0 is the beginning)",
    },
    Entry { key: "^", word: "first", argument: "", help: "go to the beginning" },
    Entry { key: "$", word: "last", argument: "", help: "go to the end" },
    Entry {
        key: "/",
        word: "find",
        argument: "TEXT",
        help: "go to the next step whose process or statement has TEXT; alone: again",
    },
    Entry { key: "s", word: "state", argument: "", help: "show the whole state" },
    Entry {
        key: "e",
        word: "evaluate",
        argument: "[PID:] EXPR",
        help: "evaluate an expression here, as process PID sees it",
    },
    Entry {
        key: "b",
        word: "blocked",
        argument: "",
        help: "explain why processes are blocked here, and who could help",
    },
    Entry {
        key: "h",
        word: "history",
        argument: "[N]",
        help: "tell the N steps before and after this point",
    },
    Entry {
        key: "m",
        word: "msc",
        argument: "FILE",
        help: "draw the whole run as a message sequence chart: SVG, or text if FILE ends in .txt",
    },
    Entry {
        key: "x",
        word: "explore",
        argument: "",
        help: "go on from here as a simulation; leaving it comes back",
    },
    Entry { key: "?", word: "help", argument: "", help: "show this list" },
    Entry { key: "q", word: "quit", argument: "", help: "quit (so does the end of the input)" },
];

/// Steps before and after the point that `h` tells.
const WINDOW: usize = 5;
/// Steps that are told on the way.
const MOST_TOLD: usize = 30;

/// A replay that somebody steps through.
pub struct Replaying<'t> {
    run: &'t RunThread,
    interrupt: Arc<Interrupt>,
    palette: Palette,
    wanted: String,
}

impl<'t> Replaying<'t> {
    /// A dialogue about a counterexample, at its beginning.
    pub fn new(run: &'t RunThread, interrupt: Arc<Interrupt>, palette: Palette) -> Self {
        Replaying { run, interrupt, palette, wanted: String::new() }
    }

    /// Does something with the run at the moment that is looked at.
    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Stepping<'_, '_, '_>) -> T + Send + 'static,
    ) -> Result<T, Ended> {
        let palette = self.palette;
        self.run.ask(move |exploration| work(&mut Stepping { exploration, palette }))
    }

    /// Goes to the next step that has the text.
    fn find(&mut self, text: &str) -> Result<String, Ended> {
        if !text.is_empty() {
            self.wanted = text.to_string();
        }
        if self.wanted.is_empty() {
            return Ok("say what to look for: /TEXT\n".to_string());
        }
        let wanted = self.wanted.clone();
        self.ask(move |at| at.find(&wanted))
    }

    /// A simulation from here; afterwards the run is as it was.
    fn explore(&mut self, lines: &mut Lines) -> Result<String, Ended> {
        let begun = self.run.ask(|e| {
            let at = e.run().cursor();
            e.may_branch().and_then(|()| e.rewind(at)).map(|()| at)
        })?;
        let at = match begun {
            Ok(at) => at,
            Err(why) => return Ok(format!("{why}\n")),
        };
        converse(lines, &mut Simulating::new(self.run, Arc::clone(&self.interrupt), self.palette));
        let restored = self.run.ask(move |e| {
            let restored = e.return_to_trail();
            e.run_mut().goto(at);
            restored
        })?;
        Ok(match restored {
            Ok(()) => format!("back in the trail, after {}\n", story::steps(at)),
            Err(why) => format!("the trail cannot be restored: {why}\n"),
        })
    }

    fn said(&mut self, line: &str, lines: &mut Lines) -> Result<Option<String>, Ended> {
        let counted =
            |rest: &str, go: fn(&mut Stepping<'_, '_, '_>, usize) -> String| match command::count(rest) {
                Ok(n) => self.ask(move |at| go(at, n)),
                Err(why) => Ok(why),
            };
        Ok(Some(match command::understand(line, TABLE) {
            Said::Nothing => counted("", |at, n| at.forward(n))?,
            Said::Command("n", rest) => counted(rest, |at, n| at.forward(n))?,
            Said::Command("p", rest) => counted(rest, |at, n| at.back(n))?,
            Said::Command("g", rest) => {
                let moment = rest.parse::<usize>().ok();
                self.ask(move |at| at.goto(moment))?
            }
            Said::Command("^", _) => self.ask(|at| at.goto(Some(0)))?,
            Said::Command("$", _) => self.ask(|at| at.goto(Some(at.run().len())))?,
            Said::Command("/", text) => self.find(text)?,
            Said::Command("s", _) => {
                self.ask(|at| story::state(&at.run().snapshot(at.run().cursor()), at.palette))?
            }
            Said::Command("e", text) => evaluated(self.run, text, Moment::Cursor)?,
            Said::Command("b", _) => self.ask(|at| at.blocked())?,
            Said::Command("h", rest) => {
                let n = if rest.is_empty() { Ok(WINDOW) } else { command::count(rest) };
                match n {
                    Ok(n) => self.ask(move |at| at.history(n))?,
                    Err(why) => why,
                }
            }
            Said::Command("m", file) => {
                let file = file.to_string();
                self.ask(move |at| at.draw(&file))?
            }
            Said::Command("x", _) => self.explore(lines)?,
            Said::Command("q", _) => return Ok(None),
            Said::Command("?", _) => command::help(&[("Enter", "go one step forwards")], TABLE),
            Said::Number(_) => "g N goes to step N; n N goes N steps forwards\n".to_string(),
            Said::Command(..) | Said::Unknown => command::not_understood(line),
        }))
    }
}

/// A counterexample at the moment that is looked at.
struct Stepping<'e, 'a, 'i> {
    exploration: &'e mut Exploration<'a, 'i>,
    palette: Palette,
}

impl<'a> Stepping<'_, 'a, '_> {
    fn run(&self) -> &Run<'a> {
        self.exploration.run()
    }

    fn cycle(&self) -> Option<usize> {
        self.exploration.followed().and_then(|followed| followed.cycle)
    }

    /// Goes forwards and tells the steps on the way.
    fn forward(&mut self, n: usize) -> String {
        let from = self.run().cursor();
        let to = from.saturating_add(n).min(self.run().len());
        if from == to {
            return format!("{}\n{}", self.end(), self.violation());
        }
        self.exploration.run_mut().goto(to);
        let first = (from + 1).max((to + 1).saturating_sub(MOST_TOLD));
        let mut out = String::new();
        if first > from + 1 {
            let _ = writeln!(out, "… {}", story::steps(first - from - 1));
        }
        // Where the cycle begins is said once: with the step that leads there.
        out.push_str(&match self.cycle() {
            Some(cycle) if from < cycle || from == 0 => {
                replay::told(self.run(), Some(cycle), first..=to, self.palette)
            }
            _ => story::part(self.run(), first..=to, self.palette),
        });
        format!("{out}{}", self.violation())
    }

    /// What comes after the last step.
    fn end(&self) -> String {
        match self.cycle() {
            Some(cycle) if cycle < self.run().len() => {
                format!("the run goes on with step {} forever: g {cycle} goes there", cycle + 1)
            }
            Some(_) => "nothing can move: this state lasts forever".to_string(),
            None => "this is the end".to_string(),
        }
    }

    fn back(&mut self, n: usize) -> String {
        let from = self.run().cursor();
        if from == 0 {
            return "this is the beginning\n".to_string();
        }
        self.goto(Some(from.saturating_sub(n)))
    }

    /// The step that led here.
    fn here(&self) -> String {
        match self.run().cursor() {
            0 => "the beginning\n".to_string(),
            at => format!("{}{}", story::part(self.run(), at..=at, self.palette), self.violation()),
        }
    }

    /// What is wrong, at the end.
    fn violation(&self) -> String {
        match self.exploration.followed() {
            Some(followed) if self.run().cursor() == self.run().len() => {
                format!("{}\n", self.palette.bad(report_text::describe_fault(&followed.violation)))
            }
            _ => String::new(),
        }
    }

    fn goto(&mut self, moment: Option<usize>) -> String {
        match moment {
            Some(moment) if self.exploration.run_mut().goto(moment) => self.here(),
            Some(_) => format!("the last step is {}\n", self.run().len()),
            None => format!("say which step: g N, with N from 0 to {}\n", self.run().len()),
        }
    }

    fn find(&mut self, wanted: &str) -> String {
        let has = |number: &usize| {
            let Some(info) = self.run().info(*number) else { return false };
            let halves = [Some(&info), info.partner.as_deref()];
            halves.into_iter().flatten().any(|half| {
                half.text.contains(wanted) || story::process_name(&half.process, half.pid).contains(wanted)
            })
        };
        match (self.run().cursor() + 1..=self.run().len()).find(has) {
            Some(number) => self.goto(Some(number)),
            None => format!("no later step has {wanted:?}\n"),
        }
    }

    fn history(&self, n: usize) -> String {
        let (at, len) = (self.run().cursor(), self.run().len());
        let mut out = story::part(self.run(), (at + 1).saturating_sub(n).max(1)..=at, self.palette);
        let _ = writeln!(out, "{}", self.palette.dim(format!("----- here, after {}", story::steps(at))));
        out.push_str(&story::part(self.run(), at + 1..=at.saturating_add(n).min(len), self.palette));
        out
    }

    fn blocked(&self) -> String {
        let run = self.run();
        match run.words().blocked(&run.state(run.cursor())) {
            blocked if blocked.is_empty() => "no process is blocked here\n".to_string(),
            blocked => blocked_text::full(&blocked),
        }
    }

    fn draw(&self, file: &str) -> String {
        let Some(followed) = self.exploration.followed() else { return String::new() };
        let ending = End { fault: Some(&followed.violation), cycle: followed.cycle };
        draw(file, self.run(), ending, &headline(followed))
    }
}

/// What the run shows, in one line.
fn headline(followed: &Followed) -> String {
    let shown = report_text::shown_by(&followed.property, &followed.violation, followed.len());
    format!("{}: {shown}", one_line(&followed.model))
}

impl Dialogue for Replaying<'_> {
    fn greeting(&mut self) -> String {
        let title = self.run.ask(|e| e.followed().map(headline)).ok().flatten().unwrap_or_default();
        let hint = self.palette.dim("Enter goes forwards, p backwards, ? lists the other commands.");
        format!("{title}\n{hint}\n")
    }

    fn prompt(&mut self) -> String {
        let place = self.ask(|at| (at.run().cursor(), at.run().len(), at.cycle()));
        let (at, len, cycle) = place.unwrap_or_default();
        let inside = match cycle {
            Some(cycle) if at >= cycle && cycle < len => ", in the cycle",
            _ => "",
        };
        format!("({at} of {len}{inside}) > ")
    }

    fn answer(&mut self, line: &str, lines: &mut Lines) -> Reply {
        match self.said(line, lines) {
            Ok(Some(text)) => Reply::Say(text),
            Ok(None) | Err(Ended) => Reply::Quit,
        }
    }

    fn status(&mut self) -> u8 {
        0
    }
}
