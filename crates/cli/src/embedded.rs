//! Commands that may run embedded C: they are done by another process, which this one supervises.
//!
//! The other process is the same command, told by an environment variable that it is supervised. It writes
//! where this one would write. Where a call of C ends it, the command is done once more, and the call is then
//! a run-time error of the model.

use crate::args::{Command, Format};
use crate::given::{ForC, Given};
use crate::signal::Signals;
use crate::{output, simulate};
use engine::embedded::supervise::{self, Asked, Ended, Supervisor};
use engine::{Answer, CheckOptions, Failure, Notice, memory};
use promela::diagnostic::Code;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process;

/// The exit status of an interruption, before it is known by which signal.
const INTERRUPTED: u8 = 130;
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

/// Does a command in a process of its own, if it may run C and is not to do so here; its exit status.
pub fn supervised(command: &Command) -> Option<u8> {
    let asked = Asking::of(command)?;
    let wants = asked.options.allow_c && !asked.options.c_in_process;
    if !wants || supervise::is_supervised() {
        return None;
    }
    let result = asked.refuse().and_then(|()| work(&asked));
    Some(result.unwrap_or_else(|failure| {
        let answer: Answer<()> = Answer::failed(failure);
        output::write_notices(answer, command.format()).err().unwrap_or(2)
    }))
}

/// Tells the supervisor, if there is one, that the command is done.
pub fn done(status: u8) {
    if supervise::is_supervised() {
        supervise::done(status);
    }
}

/// What matters here about a command.
struct Asking<'a> {
    options: CheckOptions,
    models: &'a [String],
    /// Somebody talks to it.
    interactive: bool,
    /// It writes while it works, so that what it writes must wait until it is known to be done.
    writes_at_once: bool,
    /// Words that are added, so that it does the same each time.
    more: Vec<String>,
    format: Format,
}

impl<'a> Asking<'a> {
    fn of(command: &'a Command) -> Option<Asking<'a>> {
        let of_c = |given: &Given<ForC>| given.options().ok();
        let one = |options: CheckOptions, model: &'a String| Asking {
            options,
            models: std::slice::from_ref(model),
            interactive: false,
            writes_at_once: false,
            more: Vec::new(),
            format: command.format(),
        };
        Some(match command {
            Command::Check(args) => {
                Asking { models: &args.models, ..one(args.given.options().ok()?, args.models.first()?) }
            }
            Command::Simulate(args) => {
                let seed = args.seed.is_none() && !args.interactive;
                let more =
                    if seed { vec!["--seed".into(), simulate::drawn().to_string()] } else { Vec::new() };
                let asking = one(of_c(&args.c)?, &args.model.model);
                Asking { interactive: args.interactive, writes_at_once: !args.interactive, more, ..asking }
            }
            Command::Replay(args) => {
                Asking { interactive: args.interactive, ..one(of_c(&args.c)?, &args.trail) }
            }
            Command::Graph(args) => one(of_c(&args.c)?, &args.model.model),
            _ => return None,
        })
    }

    fn refuse(&self) -> Result<(), Failure> {
        if self.models.len() > 1 {
            return Err(Failure::refused_with(
                "--allow-c is about one model, and there are several",
                "check the models one at a time",
            ));
        }
        if self.models.iter().any(|model| model == "-") {
            return Err(Failure::refused_with(
                "with --allow-c a model may have to be read more than once, and standard input cannot be",
                "write the model into a file, or add --c-in-process",
            ));
        }
        Ok(())
    }
}

fn work(asking: &Asking<'_>) -> Result<u8, Failure> {
    let failed = |what: &str, error: io::Error| Failure::Internal(format!("{what}: {error}"));
    let program = std::env::current_exe().map_err(|e| failed("this program cannot be found", e))?;
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let signals = Signals::listen();
    let allowed = memory::allowance(asking.options.max_memory.map(|size| size.0)).bytes;
    // The search itself may have what it is allowed; what is beyond comes from C.
    let most = allowed.saturating_add(allowed / 8).saturating_add(256 << 20);
    let supervisor = Supervisor::new(Some(most)).map_err(|e| failed("the supervisor cannot begin", e))?;
    let written = supervisor.folder().join("output");
    let mut command = || {
        let mut command = process::Command::new(&program);
        command.args(&words).args(&asking.more);
        if let Some(file) = asking.writes_at_once.then(|| File::create(&written).ok()).flatten() {
            if output::out_colour() {
                command.env("CLICOLOR_FORCE", "1");
            }
            command.stdout(file);
        }
        command
    };
    let is_asked = || {
        let terminated = signals.status(INTERRUPTED) != INTERRUPTED;
        let signal = if terminated { SIGTERM } else { SIGINT };
        signals.stop().is_asked().then_some(Asked { signal, heard: !terminated })
    };
    let ended = supervisor.run(&mut command, &is_asked, !asking.interactive);
    let status = match ended.map_err(|e| failed("the process that runs C cannot be started", e))? {
        Ended::Done(status) => status,
        Ended::Lost { .. } if signals.stop().is_asked() => signals.status(INTERRUPTED),
        Ended::Lost { what, place } => {
            let place =
                place.map_or(String::new(), |place| format!("; the C that was called last is at {place}"));
            let message = format!("the process that ran embedded C is gone: {what}{place}");
            let help = "this is no verdict: C may have changed memory of the checker before";
            output::notices(&[Notice::plain(Code::E0998, message, Some(help.to_string()))], asking.format);
            return Ok(output::INTERNAL_ERROR);
        }
    };
    if let Some(mut file) = asking.writes_at_once.then(|| File::open(&written).ok()).flatten() {
        let mut output = output::standard();
        output.write_by(|to| io::copy(&mut file, to).map(drop));
        return Ok(output.finish(status));
    }
    Ok(status)
}
