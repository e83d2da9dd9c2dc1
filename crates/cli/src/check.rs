//! `spinor check`.

use crate::args::{CheckArgs, Format};
use crate::output;
use crate::progress::Line;
use crate::signal::stop_flag;
use engine::{Disk, report_json, report_text};

/// Checks a model; returns the exit status.
pub fn run(args: &CheckArgs) -> u8 {
    let stop = stop_flag();
    let mut line = Line::new(args);
    let answer = engine::check(&args.options(), &Disk, &stop, &mut line);
    line.clear();
    let report = match output::settle_brief(answer, args.format, &args.model.model, args.quiet) {
        Ok(report) => report,
        Err(status) => return status,
    };
    if args.trail.as_deref().is_some_and(|path| path.starts_with("/dev/") || path.starts_with("/proc/")) {
        output::skip_what_is_there();
    }
    let text = match args.format {
        Format::Text => report_text::text(&report, args.quiet, output::out_palette()),
        Format::Json => format!("{:#}\n", report_json::json(&report)),
    };
    output::deliver(&text, report.exit_status())
}
