//! A suite as SARIF: what is not as expected, and diagnostics of models.

use super::report::{CaseReport, DIRECTIVE, Status, SuiteReport};
use crate::sarif::{Finding, INCONCLUSIVE, log};
use serde_json::Value;

/// The rule of a check that does not come out as expected.
const EXPECTATION: &str = "expectation";

/// The suite as one SARIF log.
pub fn sarif(suite: &SuiteReport) -> Value {
    let mut findings: Vec<Finding<'_>> = Vec::new();
    for case in &suite.cases {
        findings.extend(own(case));
        for finding in &case.findings {
            let Some((file, line, column)) = &finding.place else { continue };
            findings.push(Finding {
                rule: &finding.code,
                level: finding.severity,
                text: finding.message.clone(),
                place: Some((file, *line, Some(*column))),
            });
        }
    }
    log(&findings, title, (suite.interrupted, suite.exit_status()))
}

/// What the rules of suites are about.
fn title(rule: &str) -> Option<String> {
    match rule {
        EXPECTATION => Some("a check does not come out as the model expects".into()),
        DIRECTIVE => Some("a `//@` comment cannot be read".into()),
        _ => None,
    }
}

/// The result about the check itself, at the line that states the expectation. A wrong directive is a
/// finding.
fn own(case: &CaseReport) -> Option<Finding<'_>> {
    let (rule, level) = match case.status {
        _ if case.findings.iter().any(|f| f.code == DIRECTIVE) => return None,
        Status::Failed => (EXPECTATION, "error"),
        Status::Inconclusive => (INCONCLUSIVE, "warning"),
        _ => return None,
    };
    let reasons = case.reasons.join("; ");
    let text = match case.check.as_str() {
        "" => reasons,
        check => format!("{check}: {reasons}"),
    };
    Some(Finding { rule, level, text, place: Some((&case.model, case.line as u32, None)) })
}
