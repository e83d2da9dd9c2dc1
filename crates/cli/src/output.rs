//! The only code that writes: results to standard output, notices to standard error.
//!
//! A closed pipe is no error: whoever reads may stop reading, and the exit status still says what was found.
//! Anything else that keeps a result from being written is said, and is status 4; a violation keeps its
//! status 1.

use crate::args::{Colour, Format};
use anstream::{AutoStream, ColorChoice};
use engine::{Answer, Failure, Notice};
use promela::diagnostic::Code;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Stdout, Write};
use trace::Palette;
use trace::visible::{picture, shown};

/// The exit status of a bug of ours, and of a result that could not be written.
pub const INTERNAL_ERROR: u8 = 4;
/// The exit status of a violation.
const VIOLATED: u8 = 1;

/// A result on its way to somebody.
pub struct Output<W> {
    to: W,
    /// Nobody reads it any more, or it cannot be written.
    error: Option<io::Error>,
}

/// Standard output.
pub fn standard() -> Output<Stdout> {
    Output { to: std::io::stdout(), error: None }
}

impl<W: Write> Output<W> {
    /// Writes a piece of text for people; after an error nothing more is written. Whatever steers a terminal
    /// becomes visible, except for our own styles.
    pub fn write(&mut self, text: &str) {
        self.write_machine(&shown(text));
    }

    /// Writes a piece of what machines read (JSON, XML, completions), as it is.
    pub fn write_machine(&mut self, text: &str) {
        self.write_by(|to| to.write_all(text.as_bytes()));
    }

    /// Lets `content` write, piece by piece.
    pub fn write_by(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.error.is_none() {
            let written = content(&mut self.to);
            self.error = written.and_then(|()| self.to.flush()).err();
        }
    }

    /// Whether more can be written.
    pub fn is_open(&self) -> bool {
        self.error.is_none()
    }

    /// The exit status, when `status` says what there was to be written.
    pub fn finish(self, status: u8) -> u8 {
        self.finish_by(status, |message| {
            notices(&[Notice::plain(Code::E0997, message, None)], Format::Text);
        })
    }

    fn finish_by(self, status: u8, tell: impl FnOnce(String)) -> u8 {
        match self.error {
            None => status,
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => status,
            Some(error) => {
                tell(format!("the result could not be written: {error}"));
                if status == VIOLATED { status } else { INTERNAL_ERROR }
            }
        }
    }
}

/// Writes a result for machines, as [`deliver`] does for people.
pub fn deliver_machine(text: &str, status: u8) -> u8 {
    let mut output = standard();
    output.write_machine(text);
    output.finish(status)
}

/// Writes a result for people to standard output; returns the exit status, which is `status` unless it could
/// not be written.
pub fn deliver(text: &str, status: u8) -> u8 {
    let mut output = standard();
    output.write(text);
    output.finish(status)
}

/// Writes what a command has to say, or why there is nothing; returns the exit status.
pub fn answer(answer: Answer<String>, format: Format) -> u8 {
    match write_notices(answer, format) {
        Ok(text) if format == Format::Json => deliver_machine(&text, 0),
        Ok(text) => deliver(&text, 0),
        Err(status) => status,
    }
}

/// Says that something besides the result went wrong; returns the exit status, when `status` says what was
/// found.
pub fn fail(failure: &Failure, format: Format, status: u8) -> u8 {
    notices(failure.notice().as_slice(), format);
    match failure {
        Failure::Unwritten { .. } if status == VIOLATED => status,
        _ => failure.exit_status(),
    }
}

/// Lets what follows on standard output stand behind what another part of the process has written to the same
/// file (`--trail /dev/stdout > FILE`).
pub fn skip_what_is_there() {
    #[cfg(unix)]
    if let Ok(own) = std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned() {
        let mut file = std::fs::File::from(own);
        if file.metadata().is_ok_and(|found| found.is_file()) {
            let _ = io::Seek::seek(&mut file, io::SeekFrom::End(0));
        }
    }
}

/// Writes text for people to standard error, as [`Output::write`] does.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(shown(text).as_bytes());
}

/// JSON as text: one object on several lines, or on one.
pub fn json(value: &serde_json::Value, lines: Lines) -> String {
    let text = match lines {
        Lines::Several => format!("{value:#}\n"),
        Lines::One => format!("{value}\n"),
    };
    escaped(&text).into_owned()
}

/// The text of some JSON without characters that steer a terminal.
pub fn escaped(text: &str) -> Cow<'_, str> {
    // Outside of strings there are none of these, and inside they may be escaped.
    let steers = |c: char| !c.is_ascii_control() && picture(c).is_some() || c == '\x7f';
    match text.contains(steers) {
        true => text
            .chars()
            .map(|c| if steers(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() })
            .collect(),
        false => Cow::Borrowed(text),
    }
}

/// Hands whole lines on, as `by` makes them: for what is long and written piece by piece.
pub struct Sieve<W> {
    to: W,
    by: fn(&str) -> Cow<'_, str>,
    rest: Vec<u8>,
}

/// Bytes that are handed on together.
const PIECE: usize = 1 << 16;

impl<W: Write> Sieve<W> {
    /// To be flushed at the end.
    pub fn new(to: W, by: fn(&str) -> Cow<'_, str>) -> Self {
        Sieve { to, by, rest: Vec::new() }
    }

    fn hand_on(&mut self, most: usize) -> io::Result<()> {
        let text = String::from_utf8_lossy(&self.rest[..most]);
        self.to.write_all((self.by)(&text).as_bytes())?;
        self.rest.drain(..most);
        Ok(())
    }
}

impl<W: Write> Write for Sieve<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > PIECE {
            let end = self.rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            self.hand_on(end)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_on(self.rest.len())?;
        self.to.flush()
    }
}

/// How a JSON value is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lines {
    /// For eyes, too.
    Several,
    /// One object a line.
    One,
}

/// Decides about colours for the whole process, as far as the command line does. It is kept in `anstream`,
/// where the parser of the command line looks, too; terminals and the environment (`NO_COLOR`,
/// `CLICOLOR_FORCE`, `TERM`) decide about the rest.
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
        Format::Json => notices.iter().for_each(|notice| err(&json(&notice.json(), Lines::One))),
    }
}

/// Writes the notices of an answer like [`write_notices`], for a command that has more important things to
/// say: long lists of like warnings are cut short, and a `quiet` user sees no warnings at all.
pub fn write_brief_notices<T>(
    mut answer: Answer<T>,
    format: Format,
    model: &str,
    quiet: bool,
) -> Result<T, u8> {
    if answer.result.is_err() {
        answer.notices.retain(|notice| !quiet || notice.is_error());
        return write_notices(answer, format);
    }
    brief(answer.notices, format, model, quiet);
    answer.result.map_err(|failure| failure.exit_status())
}

/// Writes warnings as [`write_brief_notices`] does.
pub fn brief(mut all: Vec<Notice>, format: Format, model: &str, quiet: bool) {
    all.retain(|notice| !quiet || notice.is_error());
    match format {
        Format::Json => notices(&all, format),
        Format::Text => err(&engine::render::render_brief(&all, err_colour(), model)),
    }
}

/// Writes the notices of an answer and, if there is no result, why: the result or the exit status.
pub fn write_notices<T>(answer: Answer<T>, format: Format) -> Result<T, u8> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails from the n-th write on.
    struct Failing {
        left: usize,
        kind: io::ErrorKind,
    }

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.left = self.left.checked_sub(1).ok_or(self.kind)?;
            Ok(bytes.len().min(3))
        }

        fn flush(&mut self) -> io::Result<()> {
            self.left = self.left.checked_sub(1).ok_or(self.kind)?;
            Ok(())
        }
    }

    /// The status, and whether something was said, when the n-th write fails.
    fn finished(left: usize, kind: io::ErrorKind, status: u8) -> (u8, bool) {
        let (mut output, mut told) = (Output { to: Failing { left, kind }, error: None }, false);
        output.write("first line\n");
        output.write("second line\n");
        (output.finish_by(status, |_| told = true), told)
    }

    #[test]
    fn whichever_write_fails_is_told_and_no_success() {
        let needed = 10;
        for status in [0, 1, 2, 3, 130] {
            for n in 0..needed {
                let expected = if status == 1 { 1 } else { 4 };
                assert_eq!(finished(n, io::ErrorKind::StorageFull, status), (expected, true), "write {n}");
                assert_eq!(finished(n, io::ErrorKind::BrokenPipe, status), (status, false), "write {n}");
            }
            assert_eq!(finished(needed, io::ErrorKind::StorageFull, status), (status, false));
        }
    }
}
