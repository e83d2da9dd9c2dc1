//! `spinor test`.

use crate::args::{self, Format, TestArgs, TestFormat};
use crate::output::{self, Lines};
use crate::signal::Signals;
use engine::suite::{self, CaseReport, Request, SuiteReport, json, junit, sarif, text};
use engine::{Answer, Failure};
use std::thread::available_parallelism;

/// Tests all models; returns the exit status.
pub fn run(args: &TestArgs) -> u8 {
    let signals = Signals::listen();
    let palette = output::out_palette();
    let mut output = output::standard();
    let mut told = |case: &CaseReport| {
        if args.format == TestFormat::Text {
            output.write(&text::line(case, palette, args.quiet));
        }
    };
    let result = request(args).and_then(|request| suite::run(&request, signals.stop(), &mut told));
    let format = if args.format == TestFormat::Json { Format::Json } else { Format::Text };
    let report: SuiteReport = match output::write_notices(Answer { notices: Vec::new(), result }, format) {
        Ok(report) => report,
        Err(status) => return signals.status(status),
    };
    match args.format {
        TestFormat::Text => output.write(&text::rest(&report, palette)),
        TestFormat::Json => output.write_machine(&output::json(&json::json(&report), Lines::Several)),
        TestFormat::Junit => output.write_machine(&junit::junit(&report)),
        TestFormat::Sarif => output.write_machine(&output::json(&sarif::sarif(&report), Lines::Several)),
    }
    output.finish(signals.status(report.exit_status()))
}

fn request(args: &TestArgs) -> Result<Request<'static>, Failure> {
    let options = args.given.options()?;
    let threads = usize::try_from(options.threads.unwrap_or(1)).unwrap_or(1).max(1);
    let cores = available_parallelism().map_or(1, usize::from);
    Ok(Request {
        paths: args.paths.clone(),
        options,
        defaults: args.defaults,
        filter: args.filter.clone(),
        jobs: args.jobs.map_or((cores / threads).max(1), usize::from),
        fail_fast: args.fail_fast,
        keep_trails: args.keep_trails.clone(),
        read_options: &args::directive_options,
    })
}
