//! What went wrong, as data: severity, code, message, the places involved, a repair.
//!
//! Rendering lives here too ([`render`]), so that one file can be replaced when the looks change.

use crate::source::{SourceMap, Span};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The model cannot be checked.
    Error,
    /// Worth knowing; nothing is refused.
    Warning,
}

/// A place involved in a diagnostic.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is to be seen there; may be empty for the primary place.
    pub message: String,
}

/// Something to tell the author of a model.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable code such as `E0101`: `E00xx` preprocessor, `E01xx` syntax, `E02xx` names and types,
    /// `E03xx` control flow, `E04xx` channels, `E05xx` processes, `E06xx` not supported, `E07xx` the text form of
    /// the intermediate form; `W....` warnings.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The primary place first.
    pub labels: Vec<Label>,
    /// How to repair it, where that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message)
    }

    fn new(severity: Severity, code: &'static str, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![Label { span, message: String::new() }];
        Diagnostic { severity, code, message: message.into(), labels, help: None }
    }

    /// Adds a second place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds a repair.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels[0].span
    }
}

/// Whether any of `diagnostics` is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Renders one diagnostic as text: header, place, source line with carets, second places, repair.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let word = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut out = format!("{word}[{}]: {}\n", diagnostic.code, diagnostic.message);
    for label in &diagnostic.labels {
        render_place(&mut out, label, sources);
    }
    if let Some(help) = &diagnostic.help {
        out.push_str(&format!("  = help: {help}\n"));
    }
    out
}

/// The longest piece of a source line that is shown.
const SHOWN_COLUMNS: usize = 160;

fn render_place(out: &mut String, label: &Label, sources: &SourceMap) {
    let site = sources.site(label.span);
    let place = sources.location(label.span);
    out.push_str(&format!("  --> {}:{}:{}\n", place.file, place.line, place.column));
    let Some(file) = sources.files().get(site.file.0 as usize) else { return };
    let at = (site.start as usize).min(file.text.len());
    let start = file.text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = file.text[at..].find('\n').map_or(file.text.len(), |i| at + i);
    let skip = file.text[start..at].chars().count().saturating_sub(SHOWN_COLUMNS / 2);
    let line: String = file.text[start..end]
        .chars()
        .skip(skip)
        .take(SHOWN_COLUMNS)
        .map(|c| if c == '\t' { ' ' } else { c })
        .collect();
    let width = file.text.get(at..(site.end as usize).clamp(at, end)).map_or(1, |s| s.chars().count().max(1));
    let before = place_column(&file.text[start..at], skip);
    let carets = "^".repeat(width.min(SHOWN_COLUMNS.saturating_sub(before)).max(1));
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    out.push_str(&format!(
        "{gutter} |\n{number} | {line}\n{gutter} | {}{carets} {}\n",
        " ".repeat(before),
        label.message
    ));
}

fn place_column(before: &str, skip: usize) -> usize {
    before.chars().count() - skip.min(before.chars().count())
}
