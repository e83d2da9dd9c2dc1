//! A suite as SARIF 2.1.0, which code hosts show beside the source: what is not as expected, and diagnostics of models.

use super::report::{CaseReport, DIRECTIVE, Finding, Status, SuiteReport};
use crate::VERSION;
use promela::diagnostic::Code;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The rule of a check that does not come out as expected.
const EXPECTATION: &str = "expectation";
/// The rule of a check of which nothing is known.
const INCONCLUSIVE: &str = "inconclusive";

/// The suite as one SARIF log.
pub fn sarif(suite: &SuiteReport) -> Value {
    let mut results: Vec<(String, Value)> = Vec::new();
    for case in &suite.cases {
        results.extend(own(case));
        results.extend(case.findings.iter().filter(|f| f.place.is_some()).map(|f| finding(case, f)));
    }
    let rules: BTreeMap<&str, String> = results.iter().map(|(id, _)| (id.as_str(), title(id))).collect();
    let index = |id: &str| rules.keys().position(|known| *known == id);
    let results: Vec<Value> = results
        .iter()
        .map(|(id, result)| {
            let mut object = Map::new();
            object.insert("ruleId".into(), json!(id));
            object.insert("ruleIndex".into(), json!(index(id)));
            object.extend(result.as_object().cloned().unwrap_or_default());
            Value::Object(object)
        })
        .collect();
    let rule = |(id, title): (&&str, &String)| json!({"id": id, "shortDescription": {"text": title}});
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "spinor",
                "version": VERSION,
                "rules": rules.iter().map(rule).collect::<Vec<Value>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": !suite.interrupted, "exitCode": suite.exit_status()}],
            "results": results,
        }],
    })
}

/// What a rule is about.
fn title(id: &str) -> String {
    match id {
        EXPECTATION => "a check does not come out as the model expects".into(),
        DIRECTIVE => "a `//@` comment cannot be read".into(),
        INCONCLUSIVE => "nothing is known about a property".into(),
        other => {
            Code::of(other).map_or_else(|| format!("a violation: {other}"), |code| code.title().to_string())
        }
    }
}

/// The result about the check itself, at the line that states the expectation. A wrong directive is a finding.
fn own(case: &CaseReport) -> Option<(String, Value)> {
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
    Some((rule.to_string(), result(level, &text, &case.model, case.line as u32, None)))
}

fn finding(case: &CaseReport, finding: &Finding) -> (String, Value) {
    let (file, line, column) = match &finding.place {
        Some((file, line, column)) => (file.as_str(), *line, Some(*column)),
        None => (case.model.as_str(), 1, None),
    };
    (finding.code.clone(), result(finding.severity, &finding.message, file, line, column))
}

fn result(level: &str, text: &str, file: &str, line: u32, column: Option<u32>) -> Value {
    let mut region = json!({"startLine": line.max(1)});
    if let Some(column) = column {
        region["startColumn"] = json!(column.max(1));
    }
    json!({
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(file)}, "region": region}}],
    })
}

/// A path as a reference that SARIF takes: relative paths stay relative.
fn uri(path: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    }
    let separator = if cfg!(windows) { '\\' } else { '/' };
    for byte in path.replace(separator, "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                out.push(byte as char)
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_as_references() {
        assert_eq!(uri("a/b c.pml"), "a/b%20c.pml");
        assert_eq!(uri("/a/ü.pml"), "file:///a/%C3%BC.pml");
    }
}
