//! The only code that writes: results to standard output, notices to standard error.
//!
//! A closed pipe is no error: whoever reads may stop reading, and the exit status still says what was found.

use crate::args::{Colour, Format};
use anstream::{AutoStream, ColorChoice};
use engine::{Answer, Failure, Notice};
use promela::diagnostic::Code;
use std::io::{IsTerminal, Write};
use trace::Palette;

/// Writes to standard output; false when nobody reads it any more.
pub fn out(text: &str) -> bool {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_ok()
}

/// Writes to standard error.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Decides about colours for the whole process, as far as the command line does. It is kept in `anstream`, where the parser
/// of the command line looks, too; terminals and the environment (`NO_COLOR`, `CLICOLOR_FORCE`, `TERM`) decide about the rest.
pub fn use_colours(wanted: Colour) {
    match wanted {
        Colour::Auto => ColorChoice::Auto,
        Colour::Always => ColorChoice::AlwaysAnsi,
        Colour::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Whether standard output takes colours.
pub fn out_colour() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Whether standard error takes colours.
pub fn err_colour() -> bool {
    AutoStream::choice(&std::io::stderr()) != ColorChoice::Never
}

/// The styles of standard output.
pub fn out_palette() -> Palette {
    Palette::new(out_colour())
}

/// Whether standard error is a terminal.
pub fn err_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Writes notices to standard error, as text or one JSON object a line.
pub fn notices(notices: &[Notice], format: Format) {
    match format {
        Format::Text => err(&engine::render::render_all(notices, err_colour())),
        Format::Json => notices.iter().for_each(|notice| err(&format!("{}\n", notice.json()))),
    }
}

/// Writes the notices of an answer like [`settle`], for a command that has more important things to say: long lists of like
/// warnings are cut short, and a `quiet` user sees no warnings at all.
pub fn settle_brief<T>(mut answer: Answer<T>, format: Format, model: &str, quiet: bool) -> Result<T, u8> {
    if answer.result.is_err() {
        answer.notices.retain(|notice| !quiet || notice.is_error());
        return settle(answer, format);
    }
    brief(answer.notices, format, model, quiet);
    answer.result.map_err(|failure| failure.exit_status())
}

/// Writes warnings as [`settle_brief`] does.
pub fn brief(mut all: Vec<Notice>, format: Format, model: &str, quiet: bool) {
    all.retain(|notice| !quiet || notice.is_error());
    match format {
        Format::Json => notices(&all, format),
        Format::Text => err(&engine::render::render_brief(&all, err_colour(), model)),
    }
}

/// Writes the notices of an answer and, if there is no result, why: the result or the exit status.
pub fn settle<T>(answer: Answer<T>, format: Format) -> Result<T, u8> {
    let mut all = answer.notices;
    all.extend(answer.result.as_ref().err().and_then(Failure::notice));
    notices(&all, format);
    answer.result.map_err(|failure| failure.exit_status())
}

/// A panic becomes an internal error with status 4; where it happened is said here, for the bug report.
pub fn report_panics(format: Format) {
    std::panic::set_hook(Box::new(move |panic| {
        let place =
            panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let message = format!("a part of the tool gave up{place}");
        notices(&[Notice::plain(Code::E0998, message, None)], format);
    }));
}
