//! A diagnostic detached from the sources it is about, so that clients can print it as text or JSON.

use promela::diagnostic::{Diagnostic, Severity, render};
use promela::source::SourceMap;
use serde_json::{Value, json};

/// Something to tell the user, on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// A stable code.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// File, line and column, where it is about a place.
    pub place: Option<(String, u32, u32)>,
    /// How to repair it, where that is known.
    pub help: Option<String>,
    /// All of it as text for people, with the source line where there is one.
    pub text: String,
}

impl Notice {
    /// A diagnostic of the front end.
    pub fn from_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap) -> Self {
        let place = sources.location(diagnostic.span());
        Notice {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: diagnostic.code.to_string(),
            message: diagnostic.message.clone(),
            place: Some((place.file, place.line, place.column)),
            help: diagnostic.help.clone(),
            text: render(diagnostic, sources),
        }
    }

    /// A notice about no place in a model.
    pub fn plain(severity: &'static str, code: &str, message: &str, help: Option<String>) -> Self {
        let mut notice = Notice {
            severity,
            code: code.to_string(),
            message: message.to_string(),
            place: None,
            help,
            text: String::new(),
        };
        notice.text = notice.plain_text();
        notice
    }

    /// The same, about a place.
    pub fn at(mut self, file: &str, line: u32, column: u32) -> Self {
        self.place = Some((file.to_string(), line, column));
        self.text = self.plain_text();
        self
    }

    fn plain_text(&self) -> String {
        let mut text = format!("{}[{}]: {}\n", self.severity, self.code, self.message);
        if let Some((file, line, column)) = &self.place {
            text.push_str(&format!("  --> {file}:{line}:{column}\n"));
        }
        if let Some(help) = &self.help {
            text.push_str(&format!("  = help: {help}\n"));
        }
        text
    }

    /// As one line of JSON.
    pub fn json(&self) -> Value {
        let (file, line, column) = match &self.place {
            Some((file, line, column)) => (Some(file), Some(line), Some(column)),
            None => (None, None, None),
        };
        json!({
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "file": file,
            "line": line,
            "column": column,
            "help": self.help,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_as_text_and_as_json() {
        let notice =
            Notice::plain("warning", "W0701", "for ever", Some("stop".to_string())).at("m.pml", 3, 5);
        assert_eq!(notice.text, "warning[W0701]: for ever\n  --> m.pml:3:5\n  = help: stop\n");
        let json = notice.json().to_string();
        assert_eq!(
            json,
            "{\"severity\":\"warning\",\"code\":\"W0701\",\"message\":\"for ever\",\"file\":\"m.pml\",\"line\":3,\
             \"column\":5,\"help\":\"stop\"}"
        );
    }
}
