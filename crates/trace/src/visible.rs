//! Control characters made visible: what a model, a file name or a trail contains must not steer a terminal.
//!
//! Text for people passes [`shown`] once, where it leaves the tool. Our own styling must survive that, so it
//! does not use the escape character but [`MARK`], a code point that Unicode reserves for use inside a
//! program and that [`unmarked`] takes out of whatever comes in. Every replacement is one character wide, so
//! that columns and carets stay where they are.

pub use draw::text::picture;
use std::borrow::Cow;

/// Stands for the escape character of our own styling.
pub const MARK: char = '\u{fdef}';

/// Text of several lines: ends of lines and tabulators stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| if matches!(c, '\n' | '\t') { None } else { picture(c) })
}

/// Makes control characters visible in text that belongs on one line, such as a file name.
pub fn one_line(text: &str) -> Cow<'_, str> {
    replaced(text, picture)
}

/// Takes out of text from outside what stands for our own styling.
pub fn unmarked(text: String) -> String {
    match text.contains(MARK) {
        true => text.replace(MARK, "\u{fffd}"),
        false => text,
    }
}

fn replaced(text: &str, by: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    match text.chars().any(|c| by(c).is_some()) {
        true => Cow::Owned(text.chars().map(|c| by(c).unwrap_or(c)).collect()),
        false => Cow::Borrowed(text),
    }
}

/// Styled text as it may be written: marks become escape characters where a style follows; everything else
/// that would steer a terminal becomes visible.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return visible(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split(MARK);
    out.push_str(&visible(parts.next().unwrap_or_default()));
    for part in parts {
        out.push(if begins_with_style(part) { '\x1b' } else { char::REPLACEMENT_CHARACTER });
        out.push_str(&visible(part));
    }
    Cow::Owned(out)
}

/// `[1;31m` and the like: colours and weights, never a movement or a command.
fn begins_with_style(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('[') else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_steers_a_terminal_becomes_visible() {
        let hostile = "a\x1b[2Jb\x07c\u{9b}31md\u{202e}e\x7f\r\n\tf\u{2066}";
        assert_eq!(visible(hostile), "a␛[2Jb␇c�31md�e␡␍\n\tf�");
        assert_eq!(one_line("a\nb\tc"), "a␊b␉c");
        assert_eq!(visible("ä ≤ 3\n"), "ä ≤ 3\n");
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let text = c.to_string();
            let kept = matches!(c, '\n' | '\t');
            assert!(!visible(&text).contains(char::is_control) || kept, "{c:?}");
            assert_eq!(visible(&text).chars().count(), 1, "{c:?}");
        }
    }

    #[test]
    fn own_styles_survive_and_only_they() {
        let own = format!("{MARK}[1;31mbad{MARK}[0m");
        assert_eq!(shown(&own), "\x1b[1;31mbad\x1b[0m");
        assert_eq!(shown("\x1b[31mdata"), "␛[31mdata");
        assert_eq!(shown(&format!("{MARK}[2J{MARK}]0;t{MARK}[31")), "�[2J�]0;t�[31");
        assert_eq!(unmarked(own), "�[1;31mbad�[0m");
    }
}
