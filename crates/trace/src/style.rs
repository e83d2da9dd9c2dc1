//! How text for people looks on a terminal: words for what a piece of text *is*, not colours.
//!
//! Whoever writes text takes a [`Palette`] and names the role of each piece; whether that becomes escape
//! codes is the client's decision, made once for each stream. With [`Palette::PLAIN`] a text has none.
//!
//! Styles are written with a mark instead of the escape character: [`visible::shown`](crate::visible::shown)
//! makes escape codes of them and lets no others through.

use crate::visible::MARK;
use anstyle::{AnsiColor, Style};
use std::fmt::{self, Display};

/// Paints pieces of text, or leaves them as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Palette {
    coloured: bool,
}

/// A piece of text in its style; width and alignment of a format apply to the text alone.
#[derive(Clone, Copy, Debug)]
pub struct Painted<T> {
    text: T,
    style: Style,
}

impl Palette {
    /// No escape codes at all: files, pipes, tests.
    pub const PLAIN: Palette = Palette { coloured: false };
    /// With colours.
    pub const COLOURED: Palette = Palette { coloured: true };

    /// Coloured or plain.
    pub fn new(coloured: bool) -> Self {
        Palette { coloured }
    }

    /// Something is as it should be.
    pub fn good<T: Display>(self, text: T) -> Painted<T> {
        self.paint(text, colour(AnsiColor::Green).bold())
    }

    /// Something is wrong.
    pub fn bad<T: Display>(self, text: T) -> Painted<T> {
        self.paint(text, colour(AnsiColor::Red).bold())
    }

    /// Something is not known, or deserves a second look.
    pub fn unknown<T: Display>(self, text: T) -> Painted<T> {
        self.paint(text, colour(AnsiColor::Yellow).bold())
    }

    /// What the eye should find first: headings, the statement of a step.
    pub fn strong<T: Display>(self, text: T) -> Painted<T> {
        self.paint(text, Style::new().bold())
    }

    /// What the eye may pass over.
    pub fn dim<T: Display>(self, text: T) -> Painted<T> {
        self.paint(text, Style::new().dimmed())
    }

    /// A place in a file.
    pub fn place<T: Display>(self, text: T) -> Painted<T> {
        self.paint(text, colour(AnsiColor::Blue))
    }

    /// A command that can be typed.
    pub fn command<T: Display>(self, text: T) -> Painted<T> {
        self.paint(text, colour(AnsiColor::Cyan))
    }

    /// A process; the same number has the same colour everywhere.
    pub fn process<T: Display>(self, pid: u32, text: T) -> Painted<T> {
        const COLOURS: [AnsiColor; 5] =
            [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Yellow, AnsiColor::Green, AnsiColor::Blue];
        self.paint(text, colour(COLOURS[pid as usize % COLOURS.len()]))
    }

    fn paint<T: Display>(self, text: T, style: Style) -> Painted<T> {
        Painted { text, style: if self.coloured { style } else { Style::new() } }
    }
}

fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into()))
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.style.is_plain() {
            return self.text.fmt(f);
        }
        f.write_str(&own(&self.style.render().to_string()))?;
        self.text.fmt(f)?;
        f.write_str(&own(&self.style.render_reset().to_string()))
    }
}

/// Styled text of our own making, with marks in place of escape characters.
pub fn own(text: &str) -> String {
    text.replace('\x1b', &MARK.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visible::shown;

    #[test]
    fn plain_text_has_no_escape_codes() {
        let plain = Palette::PLAIN;
        let all = format!(
            "{}{}{}{}{}{}{}{}",
            plain.good("a"),
            plain.bad("b"),
            plain.unknown("c"),
            plain.strong("d"),
            plain.dim("e"),
            plain.place("f"),
            plain.command("g"),
            plain.process(7, "h"),
        );
        assert_eq!(all, "abcdefgh");
    }

    #[test]
    fn colours_end_where_the_text_ends_and_do_not_count_as_width() {
        let painted = format!("{:>5}|", Palette::COLOURED.good("ok"));
        assert_eq!(shown(&painted), "\x1b[1m\x1b[32m   ok\x1b[0m|");
        assert_eq!(format!("{:>5}|", Palette::PLAIN.good("ok")), "   ok|");
        let same = |a, b| {
            Palette::COLOURED.process(a, "x").to_string() == Palette::COLOURED.process(b, "x").to_string()
        };
        assert!(same(1, 6) && !same(1, 2));
    }
}
