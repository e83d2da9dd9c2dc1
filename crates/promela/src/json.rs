//! A small writer of JSON, shared by the forms that the front end shows to other tools. The front end needs
//! no JSON otherwise, so it is written by hand.

use crate::source::{ExpansionKind, Location, SourceMap, Span};
use std::sync::Arc;

/// JSON under construction.
pub(crate) struct Writer<'a> {
    out: String,
    sources: &'a SourceMap,
    /// The place that was written last, and the span as people are shown it.
    last: Option<(Span, Location)>,
}

impl<'a> Writer<'a> {
    /// Nothing yet; positions are found in `sources`.
    pub fn new(sources: &'a SourceMap) -> Self {
        Writer { out: String::new(), sources, last: None }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.out
    }

    /// Separates from what stands before, if anything does. A string ends in a quote, so the last byte tells.
    fn separate(&mut self) {
        if !matches!(self.out.bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.out.push(',');
        }
    }

    pub fn object(&mut self, body: impl FnOnce(&mut Self)) {
        self.separate();
        self.out.push('{');
        body(self);
        self.out.push('}');
    }

    pub fn key(&mut self, key: &str) {
        self.string(key);
        self.out.push(':');
    }

    pub fn string(&mut self, text: &str) {
        self.separate();
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\t' => self.out.push_str("\\t"),
                '\r' => self.out.push_str("\\r"),
                c if c < ' ' => self.out.push_str(&format!("\\u{:04x}", c as u32)),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    pub fn number(&mut self, value: i64) {
        self.separate();
        self.out.push_str(&value.to_string());
    }

    pub fn text_field(&mut self, key: &str, value: &str) {
        self.key(key);
        self.string(value);
    }

    pub fn number_field(&mut self, key: &str, value: impl Into<i64>) {
        self.key(key);
        self.number(value.into());
    }

    pub fn flag_field(&mut self, key: &str, value: bool) {
        self.key(key);
        self.out.push_str(if value { "true" } else { "false" });
    }

    /// A number, or null.
    pub fn optional_field(&mut self, key: &str, value: Option<u32>) {
        self.key(key);
        match value {
            Some(value) => self.number(value.into()),
            None => self.out.push_str("null"),
        }
    }

    /// A list with one value per item.
    pub fn list<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.key(key);
        self.out.push('[');
        for item in items {
            write(self, item);
        }
        self.out.push(']');
    }

    /// A list with one object per item.
    pub fn objects<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut body: impl FnMut(&mut Self, T),
    ) {
        self.list(key, items, |w, item| w.object(|w| body(w, item)));
    }

    /// An object under a name.
    pub fn object_field(&mut self, key: &str, body: impl FnOnce(&mut Self)) {
        self.key(key);
        self.object(body);
    }

    /// An object under a name, or null.
    pub fn optional_object<T>(&mut self, key: &str, value: Option<T>, body: impl FnOnce(&mut Self, T)) {
        self.key(key);
        match value {
            Some(value) => self.object(|w| body(w, value)),
            None => self.out.push_str("null"),
        }
    }

    /// `file`, `line` and `column` of a span and, if the text came out of a macro, `macro`: the name of the
    /// one that is used there.
    pub fn position(&mut self, span: Span) {
        let site = self.sources.site(span);
        let place = match self.last.take() {
            Some((before, place)) => self.same_line(before, site, place),
            None => None,
        };
        let place = place.unwrap_or_else(|| self.sources.location(site));
        self.text_field("file", &place.file);
        self.number_field("line", place.line);
        self.number_field("column", place.column);
        if let Some(name) = self.macro_at(span) {
            self.text_field("macro", &name);
        }
        self.last = Some((site, place));
    }

    /// The place of `site` when it follows `before` on the same line: on very long lines counting columns
    /// from the beginning each time would take forever.
    fn same_line(&self, before: Span, site: Span, place: Location) -> Option<Location> {
        if before.file != site.file {
            return None;
        }
        let text = &self.sources.files().get(site.file.0 as usize)?.text;
        let between = text.get(before.start as usize..site.start as usize)?;
        if between.contains(['\n', '\r']) {
            return None;
        }
        Some(Location { column: place.column + between.chars().count() as u32, ..place })
    }

    /// The outermost macro on the way from `span` to the place that people are shown.
    fn macro_at(&self, mut span: Span) -> Option<Arc<str>> {
        let mut name = None;
        while let Some(expansion) = self.sources.expansion(span.expansion) {
            if expansion.kind == ExpansionKind::Inline {
                break;
            }
            name = Some(Arc::clone(&expansion.name));
            span = expansion.call;
        }
        name
    }
}

/// Whether a text is JSON: the grammar and nothing more.
#[cfg(test)]
pub(crate) fn is_json(text: &str) -> bool {
    tests::skip_value(text.as_bytes()).is_some_and(<[u8]>::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Expansion, ExpansionId};

    /// Skips one JSON value; the grammar of JSON and nothing more.
    pub(super) fn skip_value(text: &[u8]) -> Option<&[u8]> {
        let rest = match text.first()? {
            b'{' => return skip_items(&text[1..], b'}', true),
            b'[' => return skip_items(&text[1..], b']', false),
            b'"' => return skip_string(text),
            _ => text.iter().position(|b| b",]}".contains(b)).map_or(&[][..], |end| &text[end..]),
        };
        let word = std::str::from_utf8(&text[..text.len() - rest.len()]).ok()?;
        let good = matches!(word, "true" | "false" | "null") || word.parse::<i64>().is_ok();
        good.then_some(rest)
    }

    fn skip_string(text: &[u8]) -> Option<&[u8]> {
        let mut rest = text.strip_prefix(b"\"")?;
        loop {
            match rest {
                [b'"', rest @ ..] => return Some(rest),
                [b'\\', b'u', hex @ ..] => {
                    hex.get(..4)?.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    rest = &hex[4..];
                }
                [b'\\', b'"' | b'\\' | b'n' | b't' | b'r', after @ ..] => rest = after,
                [b'\\' | 0..=31, ..] | [] => return None,
                [_, after @ ..] => rest = after,
            }
        }
    }

    fn skip_items(mut text: &[u8], close: u8, keys: bool) -> Option<&[u8]> {
        if text.first() == Some(&close) {
            return Some(&text[1..]);
        }
        loop {
            if keys {
                text = skip_string(text)?.strip_prefix(b":")?;
            }
            text = skip_value(text)?;
            match text.split_first()? {
                (b',', rest) => text = rest,
                (end, rest) if *end == close => return Some(rest),
                _ => return None,
            }
        }
    }

    #[test]
    fn positions_are_those_that_people_are_shown() {
        let mut sources = SourceMap::new();
        let file = sources.add_file("m.pml", "ä b c\nd \r e\n#define M x\n");
        let call = Span { file, start: 3, end: 4, expansion: ExpansionId::ROOT };
        let kind = ExpansionKind::Macro;
        let expansion = sources.add_expansion(Expansion { kind, name: "M".into(), call });
        let starts = [0, 3, 5, 5, 3, 7, 9, 11];
        let mut spans: Vec<Span> = starts
            .iter()
            .map(|&start| Span { file, start, end: start + 1, expansion: ExpansionId::ROOT })
            .collect();
        spans.push(Span { start: 23, end: 24, expansion, ..call });
        let mut writer = Writer::new(&sources);
        writer.list("x", &spans, |w, span| w.object(|w| w.position(*span)));
        let text = writer.finish();
        for (span, shown) in spans.iter().zip(text.split("},{")) {
            let place = sources.location(*span);
            let expected = format!("\"line\":{},\"column\":{}", place.line, place.column);
            assert!(shown.contains(&expected), "{shown} {expected}");
        }
        assert!(text.ends_with("\"line\":1,\"column\":3,\"macro\":\"M\"}]"), "{text}");
    }

    #[test]
    fn the_checker_tells_json_from_other_text() {
        for good in ["{}", "[1,-2,{\"a\":null}]", "\"\\u0001\"", "true"] {
            assert!(is_json(good), "{good}");
        }
        for bad in ["", "{", "[1,]", "{\"a\"}", "\"\n\"", "[1 2]", "{}{}"] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
