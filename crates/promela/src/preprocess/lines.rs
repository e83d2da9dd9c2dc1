//! Logical lines: a backslash at the end of a line joins it with the next one.
//!
//! A line ends with `\n`, `\r\n` or a lone `\r`, as with gcc; here a lone `\r` becomes `\n`, so that nobody
//! else has to know.
//!
//! Joining happens before anything else, even inside names and comments, so it is done once for a whole file.
//! What was cut out is remembered as a short list, from which every position leads back to the text as it was
//! written; the scanner, which only moves forward, follows that list in constant time per token.

use std::sync::Arc;

/// A place where a backslash and a line end were cut out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    /// The offset in the joined text before which the cut lies.
    pub at: u32,
    /// How many bytes were removed up to here, this cut included.
    pub removed: u32,
}

/// A file's text with its continued lines joined.
#[derive(Debug)]
pub(super) struct Joined {
    /// The joined text; the file's own text where nothing had to be joined.
    pub text: Arc<str>,
    /// The cuts, in order.
    pub cuts: Vec<Cut>,
}

/// Joins continued lines. As with gcc, white space may stand between the backslash and the line end.
pub(super) fn join(text: &Arc<str>) -> Joined {
    let text = &plain_line_ends(text);
    let mut joined = String::new();
    let mut cuts = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('\\') {
        let Some(next) = continued(&text[at + 1..]) else { continue };
        joined.push_str(&text[from..at]);
        from = at + 1 + next;
        cuts.push(Cut { at: joined.len() as u32, removed: (from - joined.len()) as u32 });
    }
    if cuts.is_empty() {
        return Joined { text: text.clone(), cuts };
    }
    joined.push_str(&text[from..]);
    Joined { text: joined.into(), cuts }
}

/// The text with each lone `\r` turned into `\n`.
fn plain_line_ends(text: &Arc<str>) -> Arc<str> {
    let bytes = text.as_bytes();
    let lone = |at: usize| bytes.get(at + 1) != Some(&b'\n');
    if !text.match_indices('\r').any(|(at, _)| lone(at)) {
        return text.clone();
    }
    text.char_indices().map(|(at, c)| if c == '\r' && lone(at) { '\n' } else { c }).collect::<String>().into()
}

/// How many bytes after a backslash belong to the line end, if nothing else stands before it.
fn continued(rest: &str) -> Option<usize> {
    let blank = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)).count();
    (rest.as_bytes().get(blank) == Some(&b'\n')).then_some(blank + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> (String, Vec<(u32, u32)>) {
        let j = join(&text.into());
        (j.text.to_string(), j.cuts.iter().map(|c| (c.at, c.removed)).collect())
    }

    #[test]
    fn lines_are_joined_and_cuts_remembered() {
        assert_eq!(joined("ab\\\ncd\\ \t\r\ne\\f\\"), ("abcde\\f\\".into(), vec![(2, 2), (4, 7)]));
        assert_eq!(joined("a\\\n\\\nb"), ("ab".into(), vec![(1, 2), (1, 4)]));
        assert_eq!(joined("plain \\n"), ("plain \\n".into(), vec![]));
        assert_eq!(joined("a\rb\r\r\nc\\\rd"), ("a\nb\n\r\ncd".into(), vec![(7, 2)]));
    }
}
