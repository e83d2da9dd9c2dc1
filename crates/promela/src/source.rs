//! Files, spans and positions: how every token and every statement keeps its true place.
//!
//! A [`Span`] names a byte range of one file and, when the text came out of a macro or an inline, the
//! expansion that produced it. Expansions form a tree that leads back to the place of use.

use std::sync::Arc;
use stop::Stop;

/// A file that was read: an index into [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// One use of a macro or an inline; [`ExpansionId::ROOT`] is text written where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// Text that comes from no expansion.
    pub const ROOT: ExpansionId = ExpansionId(0);
}

/// A byte range of a file, and the expansion through which it reached the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The file that holds the text.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The macro or inline use that produced this copy of the text.
    pub expansion: ExpansionId,
}

impl Span {
    /// The beginning of the first file: for things that have no text of their own.
    pub const NONE: Span = Span { file: FileId(0), start: 0, end: 0, expansion: ExpansionId::ROOT };

    /// The smallest span from the beginning of `self` to the end of `other`; `self` if they are in different
    /// files or expansions.
    pub fn to(self, other: Span) -> Span {
        if self.file == other.file && self.expansion == other.expansion && other.end >= self.start {
            Span { end: other.end, ..self }
        } else {
            self
        }
    }
}

/// What an expansion expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpansionKind {
    /// A preprocessor macro: positions are reported at the use.
    Macro,
    /// A Promela inline: positions are reported in the inline's body, as Spin does.
    Inline,
}

/// One use of a macro or inline.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// Macro or inline.
    pub kind: ExpansionKind,
    /// Its name.
    pub name: Arc<str>,
    /// The place of use (which may itself lie in an expansion).
    pub call: Span,
}

/// A file's text and where its lines start.
#[derive(Debug)]
pub struct SourceFile {
    /// The name as given on the command line or in the `#include`.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
    /// `#line` directives: (byte offset from which it holds, line number of the next line, file name).
    pub line_marks: Vec<(u32, u32, Option<String>)>,
}

impl SourceFile {
    /// The row, counted from 0, that holds the byte at `offset`.
    pub fn row(&self, offset: u32) -> usize {
        let at = offset.min(self.text.len() as u32);
        self.line_starts.partition_point(|&s| s <= at) - 1
    }

    /// The first byte of a row.
    pub fn row_start(&self, row: usize) -> u32 {
        self.line_starts.get(row).copied().unwrap_or(self.text.len() as u32)
    }

    /// The text of a row without its line end.
    pub fn line(&self, row: usize) -> &str {
        let text = self.text.get(self.row_start(row) as usize..self.row_start(row + 1) as usize);
        text.unwrap_or("").trim_end_matches(['\n', '\r'])
    }
}

/// A position for people: 1-based line and column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// File name.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub column: u32,
}

/// All files and expansions of one run of the front end.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
    /// When to give up.
    stop: Stop,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty map for a run of the front end that is given up when it is to `stop`: every pass has the map
    /// and asks it.
    pub fn obeying(stop: &Stop) -> Self {
        SourceMap { stop: stop.clone(), ..Self::default() }
    }

    /// When to give up.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Adds a file and returns its id.
    pub fn add_file(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let text: Arc<str> = text.into();
        let mut line_starts = vec![0];
        let bytes = text.as_bytes();
        // A lone carriage return ends a line too, as it does for gcc.
        let ends = |&i: &usize| bytes[i] == b'\n' || bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
        line_starts.extend((0..bytes.len()).filter(ends).map(|i| i as u32 + 1));
        self.files.push(SourceFile { name: name.into(), text, line_starts, line_marks: Vec::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// Records a `#line` directive: the line after byte `offset` of `file` is called `line` (of `name`).
    pub fn add_line_mark(&mut self, file: FileId, offset: u32, line: u32, name: Option<String>) {
        self.files[file.0 as usize].line_marks.push((offset, line, name));
    }

    /// Adds an expansion and returns its id.
    pub fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32)
    }

    /// The file with this id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order in which they were read.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The expansion with this id; `None` for [`ExpansionId::ROOT`].
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        id.0.checked_sub(1).and_then(|i| self.expansions.get(i as usize))
    }

    /// The span that people are shown: out of macros (to the place of use), but inside inlines.
    pub fn site(&self, mut span: Span) -> Span {
        while let Some(e) = self.expansion(span.expansion) {
            match e.kind {
                ExpansionKind::Macro => span = e.call,
                ExpansionKind::Inline => break,
            }
        }
        span
    }

    /// From the beginning of `first` to the end of `last`, as the author wrote it: where macros begin or end
    /// between them, from and to the places where those are used.
    pub fn join(&self, first: Span, last: Span) -> Span {
        let together = first.file == last.file && first.expansion == last.expansion;
        if together && first.start <= last.end && !(self.is_argument(first) || self.is_argument(last)) {
            return first.to(last);
        }
        self.site(first).to(self.call(last))
    }

    /// The use of the macro that `span` came through, with its arguments.
    fn call(&self, span: Span) -> Span {
        let site = self.site(span);
        let rest = self.files.get(site.file.0 as usize).and_then(|f| f.text.get(site.end as usize..));
        let rest = rest.filter(|rest| site != span && rest.trim_start().starts_with('('));
        let mut depth = 0;
        for (at, c) in rest.unwrap_or_default().char_indices().take(MAX_CALL) {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                return Span { end: site.end + at as u32 + 1, ..site };
            }
        }
        site
    }

    /// Whether the text is an argument of the macro that it came through.
    fn is_argument(&self, span: Span) -> bool {
        self.expansion(span.expansion).is_some_and(|e| {
            e.kind == ExpansionKind::Macro
                && e.call.file == span.file
                && (e.call.start..self.call(span).end).contains(&span.start)
        })
    }

    /// File, line and column of the beginning of `span` as people are shown it.
    pub fn location(&self, span: Span) -> Location {
        let span = self.site(span);
        let Some(file) = self.files.get(span.file.0 as usize) else {
            return Location { file: String::new(), line: 1, column: 1 };
        };
        let at = span.start.min(file.text.len() as u32);
        let row = file.row(at);
        let line_start = file.line_starts[row] as usize;
        let column = file.text.get(line_start..at as usize).map_or(0, |s| s.chars().count()) as u32 + 1;
        let mark = file.line_marks.partition_point(|m| m.0 <= at).checked_sub(1).map(|i| &file.line_marks[i]);
        let (line, name) = match mark {
            Some((offset, line, name)) => {
                let mark_row = file.row(*offset);
                (line + (row - mark_row).saturating_sub(1) as u32, name.clone())
            }
            None => (row as u32 + 1, None),
        };
        Location { file: name.unwrap_or_else(|| file.name.clone()), line, column }
    }

    /// The file and the row, counted from 0, in which people are shown the beginning of `span`.
    pub fn row(&self, span: Span) -> Option<(FileId, usize)> {
        let span = self.site(span);
        self.files.get(span.file.0 as usize).map(|file| (span.file, file.row(span.start)))
    }

    /// The text that `span` covers.
    pub fn text(&self, span: Span) -> &str {
        self.files
            .get(span.file.0 as usize)
            .and_then(|f| f.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}

/// How far the end of a macro's arguments is looked for: spans are joined often.
const MAX_CALL: usize = 1000;

/// Why a file cannot be read that does not exist.
pub const NO_SUCH_FILE: &str = "no such file";

/// Where included files come from. The front end does no input of its own.
pub trait Files {
    /// The text of the file at `path`, or why it cannot be had; [`NO_SUCH_FILE`] when there is none.
    fn read(&self, path: &str) -> Result<String, String>;

    /// The text of a file that is not a model, such as a trail, and may be longer than one.
    fn read_long(&self, path: &str) -> Result<String, String> {
        self.read(path)
    }
}

/// The texts that were read, for reading the same files again.
impl Files for SourceMap {
    fn read(&self, path: &str) -> Result<String, String> {
        let file = self.files.iter().find(|file| file.name == path);
        file.map(|file| file.text.to_string()).ok_or_else(|| NO_SUCH_FILE.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_joined_as_the_author_wrote_them() {
        let text = "#define N 4\n#define inc(x) x = x + 1\nN > 3; y = N; inc(y); (N)";
        let mut sources = SourceMap::new();
        let file = sources.add_file("m", text);
        let at = |word: &str, nth: usize, expansion| {
            let start = text.match_indices(word).nth(nth).unwrap().0 as u32;
            Span { file, start, end: start + word.len() as u32, expansion }
        };
        let root = ExpansionId::ROOT;
        let mut used =
            |call| sources.add_expansion(Expansion { kind: ExpansionKind::Macro, name: "m".into(), call });
        let (first, second, call) =
            (used(at("N", 1, root)), used(at("N", 2, root)), used(at("inc", 1, root)));
        let joined = |a, b| sources.text(sources.join(a, b));
        assert_eq!(joined(at("4", 0, first), at("3", 0, root)), "N > 3");
        assert_eq!(joined(at("y", 0, root), at("4", 0, second)), "y = N");
        assert_eq!(joined(at("y", 1, call), at("1", 0, call)), "inc(y)");
        assert_eq!(joined(at("x", 1, call), at("1", 0, call)), "x = x + 1");
        assert_eq!(joined(at("y", 0, root), at("(N)", 0, root)), "y = N; inc(y); (N)");
    }
}
