//! Reports of checks as SARIF: violations where they happen, properties of which nothing is known, and
//! diagnostics.

use crate::notice::Notice;
use crate::report::{PropertyReport, Report, Verdict};
use crate::sarif::{Finding, INCONCLUSIVE, log};
use serde_json::Value;
use system::FaultKind;

/// The reports of one run, and what else it had to say, as one SARIF log.
pub fn sarif(reports: &[Report], notices: &[Notice], status: u8) -> Value {
    let mut findings: Vec<Finding<'_>> = notices.iter().map(diagnostic).collect();
    for report in reports {
        findings.extend(report.properties.iter().flat_map(|property| of_property(report, property)));
    }
    log(&findings, |_| None, (reports.iter().any(Report::interrupted), status))
}

fn diagnostic(notice: &Notice) -> Finding<'_> {
    let place = notice.labels.first().map(|label| &label.start);
    let help = notice.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
    Finding {
        rule: notice.code.name(),
        level: notice.severity(),
        text: format!("{}{help}", notice.message),
        place: place.map(|at| (at.file.as_str(), at.line, Some(at.column))),
    }
}

fn of_property<'a>(report: &'a Report, property: &'a PropertyReport) -> Vec<Finding<'a>> {
    if let Verdict::Unknown(why) = &property.verdict {
        let text = format!("{}: {why}", property.name);
        let place = Some((report.model.as_str(), 1, None));
        return vec![Finding { rule: INCONCLUSIVE, level: "warning", text, place }];
    }
    if let Verdict::Refuted(refutation) = &property.verdict {
        let fault = &refutation.fault;
        let text = format!("{} is violated: {}", property.name, fault.message);
        let place = Some((fault.file.as_str(), fault.line, Some(fault.column)));
        return vec![Finding { rule: fault.kind.name(), level: "error", text, place }];
    }
    let of_violation = |shown: &'a crate::report::Shown| {
        let fault = shown.evidence.fault();
        let (steps, name) = (shown.evidence.depth(), &property.name);
        Finding {
            rule: fault.kind.name(),
            level: "error",
            text: format!(
                "{name} is violated: {} (after {steps} steps)",
                message(fault.kind, &fault.message)
            ),
            place: Some((&fault.file, fault.line, Some(fault.column))),
        }
    };
    property.verdict.violations().map(of_violation).collect()
}

fn message(kind: FaultKind, message: &str) -> String {
    match kind {
        FaultKind::Runtime => format!("run-time error: {message}"),
        _ => message.to_string(),
    }
}
