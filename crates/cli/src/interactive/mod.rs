//! Dialogues: a line in, an answer out. `replay` and `simulate` have one each; this file has what they share.
//!
//! A [`Dialogue`] knows nothing of terminals; [`converse`] reads the lines, from a person or from a script.
//! Where the lines come from no terminal they are shown after the prompt, so that what is written reads like
//! a session.

pub mod command;
pub mod replaying;
pub mod simulating;

use crate::{chart, output};
use explore::{Ended, RunThread};
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal};
use trace::Run;
use trace::msc::End;

/// A conversation about a run.
pub trait Dialogue {
    /// What is said first.
    fn greeting(&mut self) -> String;

    /// What is said when a line is expected.
    fn prompt(&mut self) -> String;

    /// The answer to a line. A dialogue within this one may read `lines` itself.
    fn answer(&mut self, line: &str, lines: &mut Lines) -> Reply;

    /// The exit status if it ends now.
    fn status(&mut self) -> u8;
}

/// What a line leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// Something to say.
    Say(String),
    /// The end.
    Quit,
}

/// Where the lines come from.
pub struct Lines {
    from: Box<dyn BufRead + Send>,
    echo: bool,
}

impl Lines {
    /// Standard input.
    pub fn standard() -> Self {
        let stdin = std::io::stdin();
        Lines { echo: !stdin.is_terminal(), from: Box::new(BufReader::new(stdin)) }
    }

    /// The terminal, whatever standard input is; `None` when there is none.
    pub fn terminal() -> Option<Self> {
        let file = File::open("/dev/tty").ok()?;
        Some(Lines { from: Box::new(BufReader::new(file)), echo: false })
    }

    /// The next line without its end; `None` when there are no more.
    fn next(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        match self.from.read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_string()),
        }
    }
}

/// Talks until one side has enough; returns the exit status.
pub fn converse(lines: &mut Lines, dialogue: &mut dyn Dialogue) -> u8 {
    let mut output = output::standard();
    output.write(&dialogue.greeting());
    while output.is_open() {
        output.write(&dialogue.prompt());
        let Some(line) = lines.next().filter(|_| output.is_open()) else {
            output.write("\n");
            break;
        };
        if lines.echo {
            output.write(&format!("{line}\n"));
        }
        match dialogue.answer(&line, lines) {
            Reply::Say(text) => output.write(&text),
            Reply::Quit => break,
        }
    }
    output.finish(dialogue.status())
}

/// A moment of a run that a dialogue asks about.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// The one that is looked at.
    Cursor,
    /// The last one.
    Last,
}

/// The value of an expression: `x + 1` as a claim sees it, `2: x + 1` as process 2 does.
fn evaluated(run: &RunThread, text: &str, at: Moment) -> Result<String, Ended> {
    if text.is_empty() {
        return Ok("say what to evaluate: e EXPR, or e PID: EXPR for a process\n".to_string());
    }
    let scoped = text.split_once(':').and_then(|(pid, rest)| Some((pid.trim().parse::<u32>().ok()?, rest)));
    let (pid, expr) = scoped.map_or((None, text), |(pid, rest)| (Some(pid), rest));
    let expr = expr.trim().to_string();
    run.ask(move |e| {
        let moment = match at {
            Moment::Cursor => e.run().cursor(),
            Moment::Last => e.run().len(),
        };
        match e.evaluate(moment, pid, &expr) {
            Ok(value) => format!("{expr} = {value}\n"),
            Err(why) => format!("{why}\n"),
        }
    })
}

/// Draws a run into a file, and says so.
fn draw(file: &str, run: &Run<'_>, ending: End<'_>, title: &str) -> String {
    if file.is_empty() {
        return "name the file: m FILE.svg\n".to_string();
    }
    match chart::save_run(file, run, ending, title) {
        Ok(()) => format!("drawn in {file}\n"),
        Err(failure) => failure.notice().map_or_else(String::new, |notice| format!("{}\n", notice.message)),
    }
}
