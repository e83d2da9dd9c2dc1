//! The `spinor` command.
//!
//! Reading order: [`args`] (the table of options) → one file per command → [`output`] (the only code that
//! writes) and [`signal`] (Ctrl-C); [`allocator`] for the end of memory. Exit statuses: 0 holds (or done), 1
//! violated, 2 the model or the command line is wrong, 3 not exhaustive, 4 internal error, 130 interrupted.

mod allocator;
mod args;
mod audit;
mod certificate_file;
mod chart;
mod check;
mod checkpoint;
mod embedded;
mod explain;
mod facts;
mod given;
mod graph;
mod interactive;
mod ltl;
mod manual;
mod memory;
mod output;
mod parse;
mod progress;
mod quiet;
mod release_pages;
mod replay;
mod report_file;
mod signal;
mod simulate;
mod spin;
mod swarm;
mod test;
mod ui;

use args::{Cli, Command, Format};
use clap::Parser;
use clap::error::{ContextKind, ErrorKind};
use engine::command_line::quoted;
use promela::diagnostic::Code;
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use trace::style::own;
use trace::visible::{one_line, unmarked};

fn main() -> ExitCode {
    allocator::prepare();
    signal::survive_file_limit();
    let status = command();
    embedded::done(status);
    if let Some(requests) = allocator::counted() {
        output::err(&requests);
    }
    ExitCode::from(status)
}

/// What the command line asks for; the exit status.
fn command() -> u8 {
    let given: Vec<OsString> = std::env::args_os().map(unmarked_word).collect();
    let words: Vec<String> = given.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    output::use_colours(args::wanted_colour(&words));
    let cli = match Cli::try_parse_from(given) {
        Ok(cli) => cli,
        Err(error) => {
            return report(&error, &words);
        }
    };
    allocator::speak(cli.command.format());
    output::report_panics(cli.command.format());
    std::panic::catch_unwind(AssertUnwindSafe(|| run(&cli.command))).unwrap_or(output::INTERNAL_ERROR)
}

/// Does what a command asks for.
fn run(command: &Command) -> u8 {
    if let Some(status) = embedded::supervised(command) {
        return status;
    }
    match command {
        Command::Check(args) => check::run(args),
        Command::Parse(args) => parse::run(args),
        Command::Facts(args) => facts::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Memory(args) => memory::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Checkpoint(args) => checkpoint::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Ltl(args) => ltl::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
        Command::Test(args) => test::run(args),
        Command::Ui(args) => ui::run(args),
        Command::Spin(args) => spin::run(args),
        Command::Swarm(args) => swarm::run(args),
    }
}

/// Shows help, the version, or what is wrong with the command line; returns the exit status.
fn report(error: &clap::Error, words: &[String]) -> u8 {
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    if let Some(notice) = forgotten_command(error, words).or_else(|| flag_of_spin(error, words)) {
        let format = if args::wants_json(words) { Format::Json } else { Format::Text };
        output::notices(&[notice], format);
        return status;
    }
    if error.use_stderr() && args::wants_json(words) {
        let text = error.to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_string();
        let help = lines.collect::<Vec<&str>>().join("; ");
        output::notices(&[engine::Notice::plain(Code::E0901, message, Some(help))], Format::Json);
    } else {
        let text = rendered(error, words);
        match error.use_stderr() {
            true => output::err(&text),
            false => return output::deliver(&text, status),
        }
    }
    status
}

/// `spinor model.pml` lacks its command.
fn forgotten_command(error: &clap::Error, words: &[String]) -> Option<engine::Notice> {
    let word = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
    let is_model = std::path::Path::new(word).is_file() || engine::suite::is_model(word);
    if error.kind() != ErrorKind::InvalidSubcommand || !is_model {
        return None;
    }
    let rest: Vec<String> = words.iter().skip(1).map(|word| quoted(word)).collect();
    let message = format!("{word:?} is a file, not a command");
    let help = format!("did you mean `spinor check {}`?", rest.join(" "));
    Some(engine::Notice::plain(Code::E0901, message, Some(help)))
}

/// A flag of Spin, such as `check -a`, gets the option that is meant.
fn flag_of_spin(error: &clap::Error, words: &[String]) -> Option<engine::Notice> {
    let is_unknown = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand);
    let takes_models = ["check", "swarm", "simulate", "parse", "replay", "graph", "facts"];
    let command = words.get(1).filter(|word| takes_models.contains(&word.as_str()) || word.starts_with('-'));
    if !is_unknown || command.is_none() {
        return None;
    }
    let wrong = error.get(ContextKind::InvalidArg)?.to_string();
    // Of a cluster of letters the parser names one: the word is what was typed.
    let typed = words.iter().skip(1).find(|word| word.starts_with(&wrong)).unwrap_or(&wrong);
    let (message, help) = engine::spin::hint::flag(typed)?;
    Some(engine::Notice::plain(Code::E0901, message, Some(help)))
}

/// The text of the parser with its styles. It repeats what was given, so that is made harmless first: with
/// pictures of control characters, which no option has in its name, the same is wrong.
fn rendered(error: &clap::Error, words: &[String]) -> String {
    let colour = if error.use_stderr() { output::err_colour() } else { output::out_colour() };
    let harmless = words.iter().map(|word| one_line(word).into_owned());
    let again = Cli::try_parse_from(harmless).err();
    let styled = again.as_ref().unwrap_or(error).render();
    if colour { own(&styled.ansi().to_string()) } else { styled.to_string() }
}

/// A word without what stands for our own styling.
fn unmarked_word(word: OsString) -> OsString {
    word.into_string().map_or_else(|other| other, |text| unmarked(text).into())
}
