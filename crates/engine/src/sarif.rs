//! SARIF 2.1.0, which code hosts and editors show beside the source: a log of results at places. What the
//! results are is for [`report_sarif`](crate::report_sarif) and [`suite::sarif`](crate::suite::sarif) to say.

use crate::VERSION;
use promela::diagnostic::Code;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The rule of a property of which nothing is known.
pub const INCONCLUSIVE: &str = "inconclusive";

/// One result.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// The code of a diagnostic, or the kind of a violation.
    pub rule: &'a str,
    /// `error` or `warning`.
    pub level: &'static str,
    /// One sentence.
    pub text: String,
    /// Where, if it is about a place: file, line and, where it is known, column.
    pub place: Option<(&'a str, u32, Option<u32>)>,
}

/// A log of one run. `title` describes a rule that is no diagnostic and no violation.
pub fn log(
    findings: &[Finding<'_>],
    title: impl Fn(&str) -> Option<String>,
    (interrupted, status): (bool, u8),
) -> Value {
    let titles: BTreeMap<&str, String> =
        findings.iter().map(|f| (f.rule, title(f.rule).unwrap_or_else(|| default_title(f.rule)))).collect();
    let index = |rule: &str| titles.keys().position(|known| *known == rule);
    let result = |finding: &Finding<'_>| {
        let mut object = Map::new();
        object.insert("ruleId".into(), json!(finding.rule));
        object.insert("ruleIndex".into(), json!(index(finding.rule)));
        object.extend(result(finding));
        Value::Object(object)
    };
    let rule = |(id, title): (&&str, &String)| json!({"id": id, "shortDescription": {"text": title}});
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "spinor",
                "version": VERSION,
                "rules": titles.iter().map(rule).collect::<Vec<Value>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": !interrupted && status != 4, "exitCode": status}],
            "results": findings.iter().map(result).collect::<Vec<Value>>(),
        }],
    })
}

/// What a rule is about that every log may have.
fn default_title(rule: &str) -> String {
    match rule {
        INCONCLUSIVE => "nothing is known about a property".into(),
        other => {
            Code::of(other).map_or_else(|| format!("a violation: {other}"), |code| code.title().to_string())
        }
    }
}

fn result(finding: &Finding<'_>) -> Map<String, Value> {
    let mut object = Map::from_iter([
        ("level".to_string(), json!(finding.level)),
        ("message".to_string(), json!({"text": finding.text})),
    ]);
    if let Some((file, line, column)) = finding.place {
        let mut region = Map::from_iter([("startLine".to_string(), json!(line.max(1)))]);
        region.extend(column.map(|column| ("startColumn".to_string(), json!(column.max(1)))));
        let place = json!({"physicalLocation": {"artifactLocation": {"uri": uri(file)}, "region": region}});
        object.insert("locations".to_string(), json!([place]));
    }
    object
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
