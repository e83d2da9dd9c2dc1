//! A diagnostic on its way to the user: what it says, and every place involved, in terms of files and lines.
//!
//! How it looks is in [`crate::render`]; here is what it consists of, and its form for machines.

use promela::diagnostic::{Code, Diagnostic, Severity};
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
            notes: diagnostic.notes.clone(),
            sources: Some(Arc::clone(sources)),
        }
    }

    /// A notice about no place in a model.
    pub fn plain(code: Code, message: impl Into<String>, help: Option<String>) -> Self {
        Notice { code, message: message.into(), labels: Vec::new(), help, notes: Vec::new(), sources: None }
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
        json!({
            "severity": self.severity(),
            "code": self.code.name(),
            "message": self.message,
            "file": place.map(|p| &p.file),
            "line": place.map(|p| p.line),
            "column": place.map(|p| p.column),
            "help": self.help,
            "labels": labels,
            "notes": self.notes,
        })
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
