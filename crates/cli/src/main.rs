//! The `spinor` command.
//!
//! Reading order: [`args`] (the table of options) → one file per command → [`output`] (the only code that writes) and
//! [`signal`] (Ctrl-C). Exit statuses: 0 holds (or done), 1 violated, 2 the model or the command line is wrong, 3 not
//! exhaustive, 4 internal error, 130 interrupted.

mod args;
mod chart;
mod check;
mod explain;
mod facts;
mod interactive;
mod ltl;
mod manual;
mod output;
mod parse;
mod progress;
mod replay;
mod signal;
mod simulate;
mod test;

use args::{Cli, Command, Format};
use clap::Parser;
use promela::diagnostic::Code;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    output::use_colours(args::wanted_colour(&words));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            return ExitCode::from(report(&error, &words));
        }
    };
    output::report_panics(cli.command.format());
    let run = || match &cli.command {
        Command::Check(args) => check::run(args),
        Command::Parse(args) => parse::run(args),
        Command::Facts(args) => facts::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Ltl(args) => ltl::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
        Command::Test(args) => test::run(args),
    };
    ExitCode::from(std::panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or(output::INTERNAL_ERROR))
}

/// Shows help, the version, or what is wrong with the command line; returns the exit status.
fn report(error: &clap::Error, words: &[String]) -> u8 {
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    if error.use_stderr() && args::wants_json(words) {
        let text = error.to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_string();
        let help = lines.collect::<Vec<&str>>().join("; ");
        output::notices(&[engine::Notice::plain(Code::E0901, message, Some(help))], Format::Json);
    } else {
        let shown = error.print();
        if !error.use_stderr() {
            let mut output = output::standard();
            output.write_by(|_| shown);
            return output.finish(status);
        }
    }
    status
}
