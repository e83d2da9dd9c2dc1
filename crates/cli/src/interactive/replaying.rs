//! A counterexample step by step, forwards and backwards; from anywhere in it a simulation can branch off.

use super::command::{self, Entry, Said};
use super::simulating::Simulating;
use super::{Dialogue, Lines, Reply, converse, draw};
use crate::replay;
use crate::signal::Interrupt;
use engine::replay::Replayed;
use engine::report_text;
use engine::simulation::Simulation;
use std::fmt::Write;
use std::sync::Arc;
use system::Path;
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
pub struct Replaying<'s, 'a> {
    replayed: &'s mut Replayed<'a>,
    interrupt: Arc<Interrupt>,
    palette: Palette,
    wanted: String,
}

impl<'s, 'a> Replaying<'s, 'a> {
    /// A dialogue about a run, at its beginning.
    pub fn new(replayed: &'s mut Replayed<'a>, interrupt: Arc<Interrupt>, palette: Palette) -> Self {
        Replaying { replayed, interrupt, palette, wanted: String::new() }
    }

    fn run(&self) -> &Run<'a> {
        &self.replayed.run
    }

    /// Goes forwards and tells the steps on the way.
    fn forward(&mut self, n: usize) -> String {
        let from = self.run().cursor();
        let to = from.saturating_add(n).min(self.run().len());
        if from == to {
            return format!("{}\n{}", self.end(), self.violation());
        }
        self.go(to);
        let first = (from + 1).max((to + 1).saturating_sub(MOST_TOLD));
        let mut out = String::new();
        if first > from + 1 {
            let _ = writeln!(out, "… {}", story::steps(first - from - 1));
        }
        // Where the cycle begins is said once: with the step that leads there.
        out.push_str(&match self.replayed.cycle {
            Some(cycle) if from < cycle || from == 0 => replay::told(self.replayed, first..=to, self.palette),
            _ => story::part(self.run(), first..=to, self.palette),
        });
        format!("{out}{}", self.violation())
    }

    /// What comes after the last step.
    fn end(&self) -> String {
        match self.replayed.cycle {
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
        self.go(from.saturating_sub(n));
        self.here()
    }

    fn go(&mut self, moment: usize) {
        self.replayed.run.goto(moment);
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
        if self.run().cursor() < self.run().len() {
            return String::new();
        }
        format!("{}\n", self.palette.bad(report_text::describe_fault(&self.replayed.violation)))
    }

    fn goto(&mut self, rest: &str) -> String {
        match rest.parse::<usize>() {
            Ok(moment) if moment <= self.run().len() => {
                self.go(moment);
                self.here()
            }
            Ok(_) => format!("the last step is {}\n", self.run().len()),
            Err(_) => format!("say which step: g N, with N from 0 to {}\n", self.run().len()),
        }
    }

    /// Goes to the next step that has the text.
    fn find(&mut self, text: &str) -> String {
        if !text.is_empty() {
            self.wanted = text.to_string();
        }
        if self.wanted.is_empty() {
            return "say what to look for: /TEXT\n".to_string();
        }
        let wanted = &self.wanted;
        let has = |number: &usize| {
            let Some(info) = self.run().info(*number) else { return false };
            let halves = [Some(&info), info.partner.as_deref()];
            halves.into_iter().flatten().any(|half| {
                half.text.contains(wanted) || story::process_name(&half.process, half.pid).contains(wanted)
            })
        };
        let found = (self.run().cursor() + 1..=self.run().len()).find(has);
        match found {
            Some(number) => {
                self.go(number);
                self.here()
            }
            None => format!("no later step has {wanted:?}\n"),
        }
    }

    fn history(&self, rest: &str) -> String {
        let n = if rest.is_empty() { Ok(WINDOW) } else { command::count(rest) };
        let n = match n {
            Ok(n) => n,
            Err(why) => return why,
        };
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

    /// A simulation from here; afterwards the run is as it was.
    fn explore(&mut self, lines: &mut Lines) -> String {
        let Some(machine) = self.replayed.machine else {
            return "the never claim takes part in this run: there is no simulation from here\n".to_string();
        };
        let at = self.run().cursor();
        let all: Path = self.run().actions().collect();
        let mut run = std::mem::replace(&mut self.replayed.run, Run::without_start(machine));
        while run.len() > at {
            run.undo();
        }
        let mut no_input = || None;
        let mut simulation = Simulation::go_on(machine, run, 0, &mut no_input);
        let (interrupt, origin) = (Arc::clone(&self.interrupt), &self.replayed.origin);
        converse(lines, &mut Simulating::new(&mut simulation, origin, interrupt, self.palette));
        let mut run = simulation.into_run();
        while run.undo().is_some() {}
        let restored = all.iter().try_for_each(|&action| run.take(action));
        self.replayed.run = run;
        self.go(at);
        match restored {
            Ok(()) => format!("back in the trail, after {}\n", story::steps(at)),
            Err(why) => format!("the trail cannot be restored: {why}\n"),
        }
    }
}

impl Dialogue for Replaying<'_, '_> {
    fn greeting(&mut self) -> String {
        let (model, property) = (&self.replayed.model, &self.replayed.property);
        let hint = self.palette.dim("Enter goes forwards, p backwards, ? lists the other commands.");
        format!("{model}: {property} is violated after {}\n{hint}\n", story::steps(self.run().len()))
    }

    fn prompt(&mut self) -> String {
        let (at, len) = (self.run().cursor(), self.run().len());
        let inside = match self.replayed.cycle {
            Some(cycle) if at >= cycle && cycle < len => ", in the cycle",
            _ => "",
        };
        format!("({at} of {len}{inside}) > ")
    }

    fn answer(&mut self, line: &str, lines: &mut Lines) -> Reply {
        let said = match command::understand(line, TABLE) {
            Said::Nothing => self.forward(1),
            Said::Command("n", rest) => command::count(rest).map_or_else(|why| why, |n| self.forward(n)),
            Said::Command("p", rest) => command::count(rest).map_or_else(|why| why, |n| self.back(n)),
            Said::Command("g", rest) => self.goto(rest),
            Said::Command("^", _) => {
                self.go(0);
                self.here()
            }
            Said::Command("$", _) => {
                self.go(self.run().len());
                self.here()
            }
            Said::Command("/", text) => self.find(text),
            Said::Command("s", _) => story::state(&self.run().snapshot(self.run().cursor()), self.palette),
            Said::Command("b", _) => self.blocked(),
            Said::Command("h", rest) => self.history(rest),
            Said::Command("m", file) => {
                let (replayed, steps) = (&self.replayed, story::steps(self.run().len()));
                let title = format!("{}: {} is violated after {steps}", replayed.model, replayed.property);
                draw(file, &replayed.run, replay::ending(replayed), &title)
            }
            Said::Command("x", _) => self.explore(lines),
            Said::Command("q", _) => return Reply::Quit,
            Said::Command("?", _) => command::help(&[("Enter", "go one step forwards")], TABLE),
            Said::Number(_) => "g N goes to step N; n N goes N steps forwards\n".to_string(),
            Said::Command(..) | Said::Unknown => command::not_understood(line),
        };
        Reply::Say(said)
    }

    fn status(&mut self) -> u8 {
        0
    }
}
