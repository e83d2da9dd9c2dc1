//! A suite as one JSON object.

use super::report::{CaseReport, Finding, Status, SuiteReport};
use crate::VERSION;
use serde_json::{Value, json};

/// The suite as one JSON object.
pub fn json(suite: &SuiteReport) -> Value {
    json!({
        "tool": "spinor",
        "version": VERSION,
        "exit_status": suite.exit_status(),
        "interrupted": suite.interrupted,
        "summary": {
            "checks": suite.cases.len(),
            "passed": suite.count(Status::Passed),
            "failed": suite.count(Status::Failed),
            "inconclusive": suite.count(Status::Inconclusive),
            "skipped": suite.count(Status::Skipped),
            "not_run": suite.count(Status::NotRun),
        },
        "seconds": suite.time.as_secs_f64(),
        "checks": suite.cases.iter().map(case).collect::<Vec<Value>>(),
    })
}

fn case(case: &CaseReport) -> Value {
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    json!({
        "model": case.model,
        "check": case.check,
        "line": case.line,
        "status": case.status.name(),
        "expected": given(&case.expected),
        "found": given(&case.found),
        "reasons": case.reasons,
        "not_compared": case.not_compared,
        "findings": case.findings.iter().map(finding).collect::<Vec<Value>>(),
        "command": given(&case.command),
        "trail": case.trail,
        "seconds": case.time.as_secs_f64(),
    })
}

fn finding(finding: &Finding) -> Value {
    let place = finding.place.as_ref();
    json!({
        "severity": finding.severity,
        "code": finding.code,
        "message": finding.message,
        "file": place.map(|p| &p.0),
        "line": place.map(|p| p.1),
        "column": place.map(|p| p.2),
    })
}
