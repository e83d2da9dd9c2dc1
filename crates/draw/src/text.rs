//! Text in pictures: escaped, shortened, wrapped, and free of characters that steer what shows it.

/// What is shown in place of a character that must not reach a terminal or a page: the picture of a control
/// character, or the replacement character for what has none (C1 controls, marks that change the direction of
/// text).
pub fn picture(c: char) -> Option<char> {
    match c {
        '\0'..' ' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..'\u{a0}' | '\u{2028}' | '\u{2029}' => Some(char::REPLACEMENT_CHARACTER),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

/// Text that can stand between tags and in quoted attributes of XML and HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c => out.push(picture(c).unwrap_or(c)),
        }
    }
    out
}

/// A text in one line of at most `width` characters.
pub fn shortened(text: &str, width: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= width {
        return text;
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Lines of at most `width` characters, broken at spaces where there are any.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = shortened(word, width.max(1));
        let last = lines.len() - 1;
        let (used, wanted) = (lines[last].chars().count(), word.chars().count());
        match used {
            0 => lines[last] = word,
            _ if used + 1 + wanted <= width => {
                lines[last].push(' ');
                lines[last].push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// What a viewer shows when the pointer is there.
pub fn tooltip(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<title>{}</title>", escape(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        assert_eq!(escape("a<b & \"c\" 'd'\u{7}\u{202e}"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;␇\u{fffd}");
    }

    #[test]
    fn lines_are_as_long_as_they_may_be() {
        assert_eq!(shortened("a  b\nc", 5), "a b c");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh", 4), ["abc…"]);
    }
}
