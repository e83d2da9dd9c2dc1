//! Notices as text for people, in the style of rustc: header, source lines with the places marked, a repair.
//!
//! [`render`] shows one, [`render_all`] what a whole run has to say, with a summary below. Whether there are
//! colours is for the client to decide.

use crate::command_line::quoted;
use crate::notice::{Label, Notice};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use promela::diagnostic::Code;
use promela::source::{FileId, SourceMap};
use std::collections::HashMap;
use std::ops::Range;
use trace::style::own;
use trace::visible::{one_line, visible};

/// Errors that are shown; the others are only counted.
const SHOWN_ERRORS: usize = 50;
/// Warnings that are shown when all are asked for.
const SHOWN_WARNINGS: usize = 1000;
/// In brief, more than `MANY` warnings of one code are not all shown, but the first `FEW`.
const MANY: usize = 10;
const FEW: usize = 3;
/// Places of one file that are further apart than this are shown in excerpts of their own.
const MAX_LINES: usize = 5000;
/// Lines longer than this are shown in part.
const LONG_LINE: usize = 400;
/// A longer stretch of a long line is marked in part.
const LONG_MARK: usize = 100;
/// Lines around a marked one that are kept; the renderer leaves out what lies further away.
const CONTEXT: usize = 3;

/// One notice as text.
pub fn render(notice: &Notice, colour: bool) -> String {
    let notice = &harmless(notice);
    let level = if notice.is_error() { Level::ERROR } else { Level::WARNING };
    let mut group: Group<'_> =
        Group::with_title(level.primary_title(&*notice.message).id(notice.code.name()));
    match &notice.sources {
        // A model that cannot be read has no text to show.
        _ if notice.code == Code::E0001 => {}
        Some(sources) => {
            for excerpt in excerpts(&notice.labels, sources) {
                group = group.element(snippet(excerpt));
            }
        }
        None => {
            for label in &notice.labels {
                let origin = Origin::path(&*label.start.file).line(label.start.line as usize);
                group = group.element(origin.char_column(label.start.column as usize));
            }
        }
    }
    if let Some(help) = &notice.help {
        group = group.element(Level::HELP.message(&**help));
    }
    for note in &notice.notes {
        group = group.element(Level::NOTE.message(&**note));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    // The renderer makes the control characters of source lines visible: what is left are its own.
    let text = own(&renderer.render(&[group]));
    // The second line only leads over to the source text.
    let useless = |i: usize| i == 1 && (notice.labels.is_empty() || notice.code == Code::E0001);
    let lines = text.lines().enumerate().filter(|(i, _)| !useless(*i));
    lines.map(|(_, line)| format!("{}\n", line.trim_end())).collect()
}

/// The notice without characters that steer a terminal; source lines are left to the renderer.
fn harmless(notice: &Notice) -> Notice {
    let mut notice = notice.clone();
    let several = notice.notes.iter_mut().chain(&mut notice.help).chain([&mut notice.message]);
    several.for_each(|text| *text = visible(text).into_owned());
    for label in &mut notice.labels {
        label.start.file = one_line(&label.start.file).into_owned();
        label.message = visible(&label.message).into_owned();
    }
    notice
}

/// All notices of a run, and below them how many there are and how to learn more; nothing when there are
/// none.
pub fn render_all(notices: &[Notice], colour: bool) -> String {
    render_some(notices, colour, None)
}

/// Renders notices with long lists of like warnings cut short; `parse` shows all those of `model`.
pub fn render_brief(notices: &[Notice], colour: bool, model: &str) -> String {
    render_some(notices, colour, Some(model))
}

fn render_some(notices: &[Notice], colour: bool, brief: Option<&str>) -> String {
    let mut counts: HashMap<Code, usize> = HashMap::new();
    for notice in notices.iter().filter(|n| brief.is_some() && !n.is_error()) {
        *counts.entry(notice.code).or_default() += 1;
    }
    counts.retain(|_, count| *count > MANY);
    let mut met: HashMap<Code, usize> = HashMap::new();
    let mut out = String::new();
    for (errors, shown) in [(false, SHOWN_WARNINGS), (true, SHOWN_ERRORS)] {
        let mut kind = notices.iter().filter(|n| n.is_error() == errors);
        for notice in kind.by_ref().take(shown) {
            let nth = met.entry(notice.code).and_modify(|n| *n += 1).or_insert(1);
            match counts.get(&notice.code) {
                Some(count) if *nth == FEW + 1 => {
                    let (code, more, model) = (notice.code, count - FEW, brief.unwrap_or_default());
                    out.push_str(&format!(
                        "warning[{code}]: and {more} more like this; see all: spinor parse {}\n\n",
                        quoted(model)
                    ));
                }
                Some(_) if *nth > FEW => {}
                _ => {
                    out.push_str(&render(notice, colour));
                    out.push('\n');
                }
            }
        }
        let more = kind.count();
        if more > 0 {
            let what = if errors { "error" } else { "warning" };
            out.push_str(&format!("and {}\n\n", counted(more, what, " more")));
        }
    }
    out.push_str(&summary(notices));
    out
}

/// "2 errors, 1 warning", and where to read more.
fn summary(notices: &[Notice]) -> String {
    let errors = notices.iter().filter(|n| n.is_error()).count();
    let Some(first) = notices.iter().find(|n| n.is_error()).or(notices.first()) else { return String::new() };
    let counts = [(errors, "error"), (notices.len() - errors, "warning")];
    let counts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| counted(*n, what, "")).collect();
    let article = if first.is_error() { "an error" } else { "a warning" };
    format!("{}; for more about {article}: spinor explain {}\n", counts.join(", "), first.code)
}

fn counted(n: usize, what: &str, more: &str) -> String {
    format!("{n}{more} {what}{}", if n == 1 { "" } else { "s" })
}

/// A stretch of a file with places to mark in it.
struct Excerpt<'n> {
    file: String,
    first_line: usize,
    text: String,
    marks: Vec<Mark<'n>>,
}

struct Mark<'n> {
    range: Range<usize>,
    message: &'n str,
    primary: bool,
}

fn snippet(excerpt: Excerpt<'_>) -> Snippet<'_, Annotation<'_>> {
    Snippet::source(excerpt.text).line_start(excerpt.first_line).path(excerpt.file).annotations(
        excerpt.marks.into_iter().map(|mark| {
            let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let message = (!mark.message.is_empty()).then_some(mark.message);
            kind.span(mark.range).label(message)
        }),
    )
}

/// A label with the rows of its file that it covers, and the difference between rows and line numbers.
struct Rows<'n> {
    label: &'n Label,
    file: FileId,
    rows: Range<usize>,
    /// On a line that does not fit on a screen only one place can be shown.
    long: bool,
    primary: bool,
}

impl Rows<'_> {
    /// Whether both can be marked in one excerpt: same text, same numbering, not too far apart.
    fn joins(&self, other: &Rows<'_>) -> bool {
        let offset = |r: &Rows<'_>| i64::from(r.label.start.line) - r.rows.start as i64;
        self.file == other.file
            && self.label.start.file == other.label.start.file
            && offset(self) == offset(other)
            && !(self.long || other.long)
            && self.rows.start.abs_diff(other.rows.start) <= MAX_LINES
    }
}

/// The labels gathered by where they are, in the order of the first of each place.
fn excerpts<'n>(labels: &'n [Label], sources: &SourceMap) -> Vec<Excerpt<'n>> {
    let mut groups: Vec<Vec<Rows<'n>>> = Vec::new();
    for (i, label) in labels.iter().enumerate() {
        let span = label.span;
        let Some(file) = sources.files().get(span.file.0 as usize) else { continue };
        let rows = file.row(span.start)..file.row(span.end.max(span.start + 1) - 1) + 1;
        let long = [rows.start, rows.end - 1].iter().any(|row| file.line(*row).len() > LONG_LINE);
        let rows = Rows { label, file: span.file, rows, long, primary: i == 0 };
        match groups.iter_mut().find(|group| group[0].joins(&rows)) {
            Some(group) => group.push(rows),
            None => groups.push(vec![rows]),
        }
    }
    groups.iter().map(|group| excerpt(group, sources)).collect()
}

fn excerpt<'n>(group: &[Rows<'n>], sources: &SourceMap) -> Excerpt<'n> {
    let file = sources.file(group[0].file);
    let first = group.iter().map(|r| r.rows.start).min().unwrap_or(0);
    let last = group.iter().map(|r| r.rows.end).max().unwrap_or(0);
    let near = |row: usize| {
        let edges = group.iter().flat_map(|r| [r.rows.start, r.rows.end - 1]);
        edges.into_iter().any(|edge| edge.abs_diff(row) <= CONTEXT)
    };
    // Where each row begins in the excerpt; rows that will not be shown stay empty.
    let mut text = String::new();
    let mut starts = Vec::new();
    for row in first..last {
        starts.push(text.len());
        if near(row) {
            text.push_str(file.line(row));
        }
        text.push('\n');
    }
    let position = |at: u32| {
        let row = file.row(at);
        let (start, line) = (starts[(row - first).min(starts.len() - 1)], file.line(row));
        start + (at.saturating_sub(file.row_start(row)) as usize).min(line.len())
    };
    let marks = group
        .iter()
        .map(|r| {
            let span = r.label.span;
            let start = position(span.start);
            let mut end = if span.end > span.start { position(span.end - 1) + 1 } else { start };
            if r.long {
                end = end.min(start + LONG_MARK);
            }
            let range = clamp(&text, start..end.max(start));
            Mark { range, message: &r.label.message, primary: r.primary }
        })
        .collect();
    let line = group[0].label.start.line as usize + first - group[0].rows.start;
    Excerpt { file: group[0].label.start.file.clone(), first_line: line, text, marks }
}

/// The range widened to whole characters and kept inside the text.
fn clamp(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = range.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use promela::diagnostic::{Code, Diagnostic};
    use promela::source::{ExpansionId, Span};
    use std::sync::Arc;

    fn shown(text: &str, marks: &[(Range<u32>, &str)]) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add_file("m.pml", text);
        let span = |r: &Range<u32>| Span { file, start: r.start, end: r.end, expansion: ExpansionId::ROOT };
        let mut d = Diagnostic::new(Code::E0101, span(&marks[0].0), "wrong").here(marks[0].1);
        for (range, message) in &marks[1..] {
            d = d.label(span(range), *message);
        }
        render(&Notice::from_diagnostic(&d, &Arc::new(sources)), false)
    }

    #[test]
    fn without_a_place() {
        let notice = Notice::plain(Code::E0900, "no", Some("yes".to_string()));
        assert_eq!(render(&notice, false), "error[E0900]: no\n  = help: yes\n");
        let notice = notice.at("m.pml", 3, 5);
        assert_eq!(render(&notice, false), "error[E0900]: no\n --> m.pml:3:5\n  = help: yes\n");
    }

    #[test]
    fn long_lists_of_like_warnings_are_cut_short() {
        let many = |n: usize| vec![Notice::plain(Code::W0205, "w", None); n];
        let mut notices = many(MANY + 1);
        notices.insert(0, Notice::plain(Code::W0206, "other", None));
        let brief = render_brief(&notices, false, "m.pml");
        assert_eq!((brief.matches("[W0205]: w").count(), brief.matches("other").count()), (FEW, 1));
        assert!(
            brief.contains("warning[W0205]: and 8 more like this; see all: spinor parse m.pml\n"),
            "{brief}"
        );
        assert!(brief.contains("12 warnings"), "{brief}");
        assert_eq!(render_all(&notices, false).matches("[W0205]: w").count(), MANY + 1);
        assert_eq!(render_brief(&many(MANY), false, "m").matches("[W0205]: w").count(), MANY);
    }

    #[test]
    fn tabs_wide_characters_and_the_end_of_the_file() {
        assert_eq!(
            shown("\tä = 3", &[(1..3, "here")]),
            "error[E0101]: wrong\n --> m.pml:1:2\n  |\n1 |     ä = 3\n  |     ^ here\n"
        );
        assert_eq!(
            shown("init {\n", &[(7..7, "")]),
            "error[E0101]: wrong\n --> m.pml:2:1\n  |\n2 |\n  | ^\n"
        );
        assert_eq!(shown("", &[(0..0, "")]), "error[E0101]: wrong\n --> m.pml:1:1\n  |\n1 |\n  | ^\n");
        // A span that begins inside a character or behind the text is no reason to give up.
        shown("ää", &[(1..2, ""), (3..90, "x"), (80..90, "y")]);
    }

    #[test]
    fn several_places() {
        let text = "byte x;\n\n\n\n\n\n\nint x\n";
        assert_eq!(
            shown(text, &[(18..19, ""), (5..6, "first")]),
            "error[E0101]: wrong\n --> m.pml:8:5\n  |\n1 | byte x;\n  |      - first\n...\n8 | int x\n  |     ^\n"
        );
    }

    #[test]
    fn lines_without_end() {
        let text = format!("{} = {}", "x".repeat(100_000), "y".repeat(100_000));
        let shown = shown(&text, &[(100_001..100_002, "here"), (5..100_100, "there")]);
        assert!(shown.len() < 2_000, "{}", shown.len());
        assert!(shown.contains("m.pml:1:100002"), "{shown}");
    }
}
