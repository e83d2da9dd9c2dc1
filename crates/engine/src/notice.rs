//! A diagnostic on its way to the user: what it says, and every place involved, in terms of files and lines.
//!
//! How it looks is in [`crate::render`]; here is what it consists of, and its form for machines.

use promela::diagnostic::{Code, Confidence, Diagnostic, Fix, Severity};
use promela::source::{ExpansionKind, Location, SourceMap, Span};
use serde_json::{Value, json};
use std::sync::Arc;

/// Something to tell the user, on standard error.
#[derive(Clone, Debug)]
pub struct Notice {
    /// A stable code, which also says whether this is an error.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// The places involved, the most important first.
    pub labels: Vec<Label>,
    /// How to repair it, where that is known.
    pub help: Option<String>,
    /// Repairs that an editor can make.
    pub fixes: Vec<Repair>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// The text that the labels are about; without it only file and line are shown.
    pub(crate) sources: Option<Arc<SourceMap>>,
}

/// A place involved in a notice.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where it begins.
    pub start: Location,
    /// Where it ends: the position behind its last character.
    pub end: Location,
    /// What is to be seen there; may be empty.
    pub message: String,
    /// The text itself, as a span that lies in no macro.
    pub(crate) span: Span,
}

/// A repair as edits of files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// What it does, in a few words.
    pub title: String,
    /// The model means the same afterwards.
    pub is_safe: bool,
    /// What is replaced, and by what.
    pub edits: Vec<TextEdit>,
}

/// A piece of text that is replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// Where it begins.
    pub start: Location,
    /// The position behind its last character.
    pub end: Location,
    /// What is to stand there.
    pub text: String,
}

/// Of a chain of macros and inlines that leads to a place, this number of links is shown.
const SHOWN_EXPANSIONS: usize = 3;

impl Notice {
    /// A diagnostic of the front end.
    pub fn from_diagnostic(diagnostic: &Diagnostic, sources: &Arc<SourceMap>) -> Self {
        let mut labels = Vec::new();
        for label in &diagnostic.labels {
            push_label(&mut labels, sources, sources.site(label.span), &label.message);
        }
        push_expansions(&mut labels, sources, diagnostic.span());
        Notice {
            code: diagnostic.code,
            message: diagnostic.message.clone(),
            labels,
            help: diagnostic.help.clone(),
            fixes: diagnostic.fixes.iter().filter_map(|fix| Repair::of(fix, sources)).collect(),
            notes: diagnostic.notes.clone(),
            sources: Some(Arc::clone(sources)),
        }
    }

    /// A notice about no place in a model.
    pub fn plain(code: Code, message: impl Into<String>, help: Option<String>) -> Self {
        let (labels, fixes, notes) = (Vec::new(), Vec::new(), Vec::new());
        Notice { code, message: message.into(), labels, help, fixes, notes, sources: None }
    }

    /// Attaches the notice to a place.
    pub fn at(mut self, file: &str, line: u32, column: u32) -> Self {
        let start = Location { file: file.to_string(), line, column };
        self.labels = vec![Label { end: start.clone(), start, message: String::new(), span: Span::NONE }];
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.code.severity() == Severity::Error
    }

    /// `error` or `warning`.
    pub fn severity(&self) -> &'static str {
        if self.is_error() { "error" } else { "warning" }
    }

    /// As one line of JSON.
    pub fn json(&self) -> Value {
        let place = self.labels.first().map(|label| &label.start);
        let labels: Vec<Value> = self.labels.iter().map(Label::json).collect();
        let mut object = json!({
            "severity": self.severity(),
            "code": self.code.name(),
            "message": self.message,
            "file": place.map(|p| &p.file),
            "line": place.map(|p| p.line),
            "column": place.map(|p| p.column),
            "help": self.help,
            "labels": labels,
            "notes": self.notes,
        });
        if !self.fixes.is_empty() {
            object["fixes"] = self.fixes.iter().map(Repair::json).collect();
        }
        object
    }
}

impl Label {
    fn json(&self) -> Value {
        json!({
            "file": self.start.file,
            "line": self.start.line,
            "column": self.start.column,
            "end_line": self.end.line,
            "end_column": self.end.column,
            "message": self.message,
        })
    }
}

impl Repair {
    /// A repair of text that stands where its span says; none inside of a macro.
    fn of(fix: &Fix, sources: &SourceMap) -> Option<Repair> {
        let edit = |edit: &promela::diagnostic::Edit| {
            let in_macro = std::iter::successors(sources.expansion(edit.span.expansion), |outer| {
                sources.expansion(outer.call.expansion)
            })
            .any(|expansion| expansion.kind == ExpansionKind::Macro);
            let fits = !in_macro && sources.text(edit.span) == edit.old;
            let end = Span { start: edit.span.end, ..edit.span };
            fits.then(|| TextEdit {
                start: sources.location(edit.span),
                end: sources.location(end),
                text: edit.new.clone(),
            })
        };
        let edits: Option<Vec<TextEdit>> = fix.edits.iter().map(edit).collect();
        Some(Repair { title: fix.title.clone(), is_safe: fix.confidence == Confidence::Safe, edits: edits? })
    }

    fn json(&self) -> Value {
        let edit = |edit: &TextEdit| {
            json!({
                "file": edit.start.file, "line": edit.start.line, "column": edit.start.column,
                "end_line": edit.end.line, "end_column": edit.end.column, "text": edit.text,
            })
        };
        let edits: Vec<Value> = self.edits.iter().map(edit).collect();
        json!({"title": self.title, "safe": self.is_safe, "edits": edits})
    }
}

fn push_label(labels: &mut Vec<Label>, sources: &SourceMap, span: Span, message: &str) {
    let same = |l: &&mut Label| (l.span.file, l.span.start, l.span.end) == (span.file, span.start, span.end);
    if let Some(known) = labels.iter_mut().find(same) {
        if known.message.is_empty() {
            known.message = message.to_string();
        }
        return;
    }
    let end = Span { start: span.end.max(span.start), ..span };
    labels.push(Label {
        start: sources.location(span),
        end: sources.location(end),
        message: message.to_string(),
        span,
    });
}

/// How the text at `span` got there: the definition of the macro that it comes from, and the uses of inlines.
fn push_expansions(labels: &mut Vec<Label>, sources: &SourceMap, mut span: Span) {
    for _ in 0..SHOWN_EXPANSIONS {
        let Some(expansion) = sources.expansion(span.expansion) else { return };
        match expansion.kind {
            ExpansionKind::Macro => {
                let message = format!("in the definition of the macro `{}`", expansion.name);
                push_definition(labels, sources, span, &message);
                let message = format!("in this use of the macro `{}`", expansion.name);
                push_label(labels, sources, sources.site(expansion.call), &message);
                span = expansion.call;
            }
            ExpansionKind::Inline => {
                let message = format!("in this use of the inline `{}`", expansion.name);
                push_label(labels, sources, sources.site(expansion.call), &message);
                span = expansion.call;
            }
        }
    }
}

/// The text of a macro, which is where it is defined: not what [`SourceMap::site`] would show.
fn push_definition(labels: &mut Vec<Label>, sources: &SourceMap, span: Span, message: &str) {
    let root = Span { expansion: promela::source::ExpansionId::ROOT, ..span };
    // A predefined macro has no text: its place is that of its use.
    let use_of = sources.site(span);
    let apart = (root.file, root.start) != (use_of.file, use_of.start);
    if apart && !sources.text(root).is_empty() {
        push_label(labels, sources, root, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneText<'a>(&'a str);

    impl promela::source::Files for OneText<'_> {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(self.0.to_string())
        }
    }

    fn repaired(text: &str) -> Vec<String> {
        let files = OneText(text);
        let source = crate::Source { path: "m.pml".to_string(), ..crate::Source::default() };
        let answer = crate::Session::open(&source, &files, &crate::Stop::never());
        let session = answer.result.ok();
        let notices = answer.notices.into_iter().chain(session.into_iter().flat_map(|s| s.notices));
        let mut out = Vec::new();
        for repair in notices.flat_map(|notice| notice.fixes) {
            let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
            for edit in repair.edits.iter().rev() {
                assert_eq!(edit.start.line, edit.end.line, "{repair:?}");
                let range = edit.start.column as usize - 1..edit.end.column as usize - 1;
                lines[edit.start.line as usize - 1].replace_range(range, &edit.text);
            }
            out.push(lines.join("\n"));
        }
        out
    }

    #[test]
    fn repairs_are_edits_that_repair() {
        for (wrong, right) in [
            (
                "byte counter;\nactive proctype p() { countr = 1 }",
                "byte counter;\nactive proctype p() { counter = 1 }",
            ),
            (
                "active proctype p() { goto lable; label: skip }",
                "active proctype p() { goto label; label: skip }",
            ),
            (
                "active proctype p() { skip; goto x; x: skip }\nproctype q() { skip }",
                "active proctype p() { skip; goto x; x: skip }\nactive proctype q() { skip }",
            ),
            ("proctype p() { skip }", "active proctype p() { skip }"),
            (
                "byte x;\nactive proctype p() { x++; assert(x == 1)",
                "byte x;\nactive proctype p() { x++; assert(x == 1)\n}",
            ),
            (
                "byte x;\nactive proctype p() { if :: x == 0 -> x = 1 od }",
                "byte x;\nactive proctype p() { if :: x == 0 -> x = 1 fi }",
            ),
            ("byte x;\nactive proctype p() { x = 1 x = 2 }", "byte x;\nactive proctype p() { x = 1; x = 2 }"),
            (
                "byte x;\nactive proctype p() { (x = 0); x++ }",
                "byte x;\nactive proctype p() { (x == 0); x++ }",
            ),
            (
                "byte x;\nactive proctype p() { x == 0 and x < 5; x++ }",
                "byte x;\nactive proctype p() { x == 0 && x < 5; x++ }",
            ),
            (
                "byte x;\nactive proctype p() { d_step { x++; x == 2 } }",
                "byte x;\nactive proctype p() { atomic { x++; x == 2 } }",
            ),
            (
                "byte x, y;\nactive proctype p() { assert(x == 0); x++ }",
                "byte x, _y;\nactive proctype p() { assert(x == 0); x++ }",
            ),
        ] {
            let all = repaired(wrong);
            assert!(all.iter().any(|text| text == right), "{wrong}\n{all:#?}");
            // What was to be repaired needs no further repair of that kind.
            assert!(!repaired(right).iter().any(|text| text == right), "{right}");
        }
        // The text of a macro is not where its use is.
        assert_eq!(repaired("byte counter;\n#define C countr\nactive proctype p() { C = 1 }"), [""; 0]);
    }

    #[test]
    fn a_notice_as_json() {
        let notice = Notice::plain(Code::W0701, "forever", Some("stop".to_string())).at("m.pml", 3, 5);
        assert_eq!(
            notice.json().to_string(),
            "{\"severity\":\"warning\",\"code\":\"W0701\",\"message\":\"forever\",\"file\":\"m.pml\",\"line\":3,\
             \"column\":5,\"help\":\"stop\",\"labels\":[{\"file\":\"m.pml\",\"line\":3,\"column\":5,\
             \"end_line\":3,\"end_column\":5,\"message\":\"\"}],\"notes\":[]}"
        );
    }
}
