//! `difftest`: random programs through real Spin and through `spinor`, in the reference configuration, with a
//! shrunk program for every difference. `difftest ltl` asks about infinite runs, `difftest cuts` about
//! programs with errors in them, `difftest memory` about store buffers. `difftest bless` fills the expectations of golden models from Spin.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bless;
mod branching;
mod cuts;
mod ltl;
mod memory;
mod options;
mod run;
mod seeds;
mod session;
mod stats;

use std::process::ExitCode;

use options::{Mode, Options};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("difftest: {message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match &options.mode {
        Mode::Help => {
            println!("{}", options::USAGE);
            ExitCode::SUCCESS
        }
        Mode::Show(seed) if options.ctl => {
            print!("{}", testkit::branching::program(*seed).with_formulas());
            ExitCode::SUCCESS
        }
        Mode::Show(seed) if options.memory => {
            memory::show(*seed);
            ExitCode::SUCCESS
        }
        Mode::Show(seed) if options.cuts => {
            print!("{}", testkit::cuts::erring(*seed).text());
            ExitCode::SUCCESS
        }
        Mode::Show(seed) if options.ltl => {
            let program = testkit::cyclic::generate(*seed);
            for question in ltl::questions(*seed, &program) {
                print!("{}", question.text(&program));
            }
            ExitCode::SUCCESS
        }
        Mode::Show(seed) => {
            let model = options.model(*seed);
            print!("{}", testkit::print::print(&model));
            ExitCode::SUCCESS
        }
        Mode::Bless(files) => bless::bless(files),
        Mode::Seeds { .. } | Mode::Fresh { .. } => over_seeds(&options).unwrap_or_else(|code| code),
    }
}

/// Compares programs of many seeds; the exit code, or that of a tool that is missing.
fn over_seeds(options: &Options) -> Result<ExitCode, ExitCode> {
    match options {
        _ if options.cuts => cuts::run(options),
        _ if options.ctl => branching::run(options),
        _ if options.ltl => ltl::run(options),
        _ if options.memory => memory::run(options),
        _ => run::run(options),
    }
}
