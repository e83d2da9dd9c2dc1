//! What came of a suite, before it is written in one form or another.

use crate::notice::Notice;
use std::time::Duration;
use trace::visible::one_line;

/// How one check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// As expected.
    Passed,
    /// Otherwise.
    Failed,
    /// Nothing could be said: a budget ran out, or the capability does not exist yet.
    Inconclusive,
    /// There was nothing to compare with.
    Skipped,
    /// Stopped, or not begun, because the suite ended early.
    NotRun,
}

impl Status {
    /// The word for it in reports for machines.
    pub fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Inconclusive => "inconclusive",
            Status::Skipped => "skipped",
            Status::NotRun => "not-run",
        }
    }
}

/// Something to be seen at a place: a diagnostic, or a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// A diagnostic's code, or the kind of a violation.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// File, line and column, where it is about a place.
    pub place: Option<(String, u32, u32)>,
}

/// The code of directives that cannot be read.
pub const DIRECTIVE: &str = "directive";

impl Finding {
    /// A diagnostic.
    pub fn of(notice: &Notice) -> Self {
        let place = notice.labels.first().map(|label| &label.start);
        Finding {
            severity: notice.severity(),
            code: notice.code.to_string(),
            message: notice.message.clone(),
            place: place.map(|place| (place.file.clone(), place.line, place.column)),
        }
    }

    /// A mistake in a directive.
    pub fn directive(model: &str, line: usize, message: &str) -> Self {
        let place = Some((model.to_string(), u32::try_from(line).unwrap_or(u32::MAX), 1));
        Finding { severity: "error", code: DIRECTIVE.to_string(), message: message.to_string(), place }
    }

    /// In one line, with its place.
    pub fn line(&self) -> String {
        let Finding { severity, code, message, place } = self;
        match place {
            Some((file, line, column)) => format!("{severity}[{code}]: {message}, at {file}:{line}:{column}"),
            None => format!("{severity}[{code}]: {message}"),
        }
    }
}

/// How one check came out, and why.
#[derive(Clone, Debug)]
pub struct CaseReport {
    /// The model.
    pub model: String,
    /// The property with the check's own options; empty when the directives could not be read or there are
    /// none.
    pub check: String,
    /// The line of the model that states the expectation.
    pub line: usize,
    /// How it came out.
    pub status: Status,
    /// What was expected.
    pub expected: String,
    /// What was found, in the same words.
    pub found: String,
    /// Why it is not as expected, or why nothing could be said.
    pub reasons: Vec<String>,
    /// What was expected but has no meaning in this configuration.
    pub not_compared: Vec<&'static str>,
    /// Unexpected violations and diagnostics.
    pub findings: Vec<Finding>,
    /// The command that does the same.
    pub command: String,
    /// The trail of the first violation, if trails are kept.
    pub trail: Option<String>,
    /// A bug of the tool.
    pub internal: bool,
    /// How long it took.
    pub time: Duration,
}

impl CaseReport {
    /// A check of which nothing is known yet.
    pub fn new(model: &str, check: &str, line: usize, status: Status) -> Self {
        CaseReport {
            model: model.to_string(),
            check: check.to_string(),
            line,
            status,
            expected: String::new(),
            found: String::new(),
            reasons: Vec::new(),
            not_compared: Vec::new(),
            findings: Vec::new(),
            command: String::new(),
            trail: None,
            internal: false,
            time: Duration::ZERO,
        }
    }

    /// The model and what is checked about it.
    pub fn name(&self) -> String {
        match self.check.as_str() {
            "" => one_line(&self.model).into_owned(),
            check => format!("{}: {check}", one_line(&self.model)),
        }
    }
}

/// What came of a suite.
#[derive(Clone, Debug)]
pub struct SuiteReport {
    /// All checks, in the order of the models.
    pub cases: Vec<CaseReport>,
    /// Somebody stopped it.
    pub interrupted: bool,
    /// How long all of it took.
    pub time: Duration,
}

impl SuiteReport {
    /// How many came out so.
    pub fn count(&self, status: Status) -> usize {
        self.cases.iter().filter(|case| case.status == status).count()
    }

    /// 0 all as expected, 1 some not, 2 nothing to test, 3 some inconclusive, 130 interrupted.
    pub fn exit_status(&self) -> u8 {
        match () {
            () if self.count(Status::Failed) > 0 => 1,
            () if self.interrupted => 130,
            () if self.count(Status::Inconclusive) > 0 => 3,
            () if self.count(Status::Passed) == 0 => 2,
            () => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses() {
        let suite = |all: &[Status], interrupted| SuiteReport {
            cases: all.iter().map(|s| CaseReport::new("m", "safety", 1, *s)).collect(),
            interrupted,
            time: Duration::ZERO,
        };
        use Status::{Failed, Inconclusive, NotRun, Passed, Skipped};
        assert_eq!(suite(&[Passed, Skipped], false).exit_status(), 0);
        assert_eq!(suite(&[Passed, Inconclusive, Failed], true).exit_status(), 1);
        assert_eq!(suite(&[Passed, NotRun], true).exit_status(), 130);
        assert_eq!(suite(&[Passed, Inconclusive], false).exit_status(), 3);
        assert_eq!(suite(&[Skipped], false).exit_status(), 2);
        assert_eq!(suite(&[], false).exit_status(), 2);
    }
}
