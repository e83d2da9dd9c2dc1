//! Compares what a check found with what its model expects.
//!
//! A verdict is compared always. Numbers of states and violations, and lists that must be complete, have a
//! meaning only when everything was explored in the reference configuration; elsewhere they are left out, and
//! the report says so.

use super::configure::Configured;
use super::expect::{Expectation, KINDS, Verdict};
use super::report::{CaseReport, Finding, Status};
use crate::failure::{Answer, Failure};
use crate::options::Search;
use crate::report::{PropertyReport, Report, Verdict as Claim};
use std::collections::BTreeSet;

/// What a check found, in the words of an expectation.
struct Found {
    verdict: Verdict,
    kinds: BTreeSet<&'static str>,
    states: u64,
    errors: u64,
    lines: Vec<u64>,
    depth: Option<u64>,
    codes: BTreeSet<String>,
    warnings: BTreeSet<String>,
    /// Everything was explored.
    exhaustive: bool,
    /// Why nothing is known.
    why: Option<String>,
}

/// Fills in how a check came out.
pub fn judge(case: &mut CaseReport, expect: &Expectation, answer: &Answer<Report>, how: &Configured) {
    let findings: Vec<Finding> = answer.notices.iter().map(Finding::of).collect();
    let found = match &answer.result {
        Ok(report) => match report.properties.first() {
            Some(property) => explored(property, &findings),
            None => return unusable(case, &Failure::Internal("a report without a property".into())),
        },
        Err(Failure::Model) => rejected(&findings),
        Err(failure) => return unusable(case, failure),
    };
    let interrupted = answer.result.as_ref().is_ok_and(Report::interrupted);
    if interrupted && found.verdict == Verdict::Unknown {
        case.status = Status::NotRun;
        case.reasons.push("interrupted".to_string());
        return;
    }
    compare(case, expect, &found, how);
    if case.status != Status::Passed {
        case.findings = violations(answer).chain(findings).collect();
    } else if expect.verdict != Verdict::Rejected && expect.warnings.is_none() {
        case.findings = findings;
    }
}

/// There is no answer about the model.
fn unusable(case: &mut CaseReport, failure: &Failure) {
    let open = failure.is_gap() || matches!(failure, Failure::Stopped(_));
    case.status = if open { Status::Inconclusive } else { Status::Failed };
    case.internal = matches!(failure, Failure::Internal(_));
    case.reasons.push(match failure {
        Failure::Refused { message, repair: Some(repair) } if !failure.is_gap() => {
            format!("{message} ({repair})")
        }
        Failure::Refused { message, .. }
        | Failure::Unwritten { message, .. }
        | Failure::Incomplete { message, .. } => message.clone(),
        Failure::Internal(message) => format!("internal error: {message}"),
        Failure::Stopped(_) => "there was no time for an answer".to_string(),
        Failure::Model => "the model is wrong".to_string(),
    });
}

fn explored(property: &PropertyReport, findings: &[Finding]) -> Found {
    let refuted = match &property.verdict {
        Claim::Refuted(refutation) => Some(&refutation.fault),
        _ => None,
    };
    let faults = || property.verdict.violations().map(|shown| shown.evidence.fault()).chain(refuted);
    let word = |name: &str| KINDS.into_iter().find(|k| *k == name);
    Found {
        verdict: match &property.verdict {
            Claim::Holds(_) | Claim::Witnessed(_) => Verdict::Holds,
            Claim::Violated(..) | Claim::Refuted(_) => Verdict::Violated,
            Claim::Unknown(_) => Verdict::Unknown,
        },
        kinds: faults().filter_map(|fault| word(fault.kind.name())).collect(),
        states: property.statistics.states,
        errors: property.errors,
        lines: faults().map(|fault| u64::from(fault.line)).collect(),
        depth: property.verdict.violations().map(|shown| shown.evidence.depth() as u64).min(),
        codes: BTreeSet::new(),
        warnings: codes(findings, "warning"),
        exhaustive: property.exhaustive,
        why: match &property.verdict {
            Claim::Unknown(why) => Some(why.to_string()),
            _ => None,
        },
    }
}

fn rejected(findings: &[Finding]) -> Found {
    let first = findings.iter().find(|f| f.severity == "error");
    let line = first.and_then(|f| f.place.as_ref()).map(|(_, line, _)| u64::from(*line));
    Found {
        verdict: Verdict::Rejected,
        kinds: BTreeSet::new(),
        states: 0,
        errors: 0,
        lines: line.into_iter().collect(),
        depth: None,
        codes: codes(findings, "error"),
        warnings: codes(findings, "warning"),
        exhaustive: false,
        why: None,
    }
}

fn codes(findings: &[Finding], severity: &str) -> BTreeSet<String> {
    findings.iter().filter(|f| f.severity == severity).map(|f| f.code.clone()).collect()
}

/// The violations that a check found, as findings.
fn violations(answer: &Answer<Report>) -> impl Iterator<Item = Finding> {
    let properties = answer.result.iter().flat_map(|report| &report.properties);
    properties.flat_map(|property| property.verdict.violations()).map(|shown| {
        let fault = shown.evidence.fault();
        Finding {
            severity: "error",
            code: fault.kind.name().to_string(),
            message: fault.message.clone(),
            place: Some((fault.file.clone(), fault.line, fault.column)),
        }
    })
}

fn compare(case: &mut CaseReport, expect: &Expectation, found: &Found, how: &Configured) {
    let seen = found.in_words_of(expect);
    case.expected = expect.to_string();
    case.found = seen.to_string();
    let differs = |key: &str| format!("{key}: expected {}, found {}", value(expect, key), value(&seen, key));
    if expect.verdict != found.verdict {
        if found.verdict == Verdict::Unknown && expect.verdict != Verdict::Rejected {
            case.status = Status::Inconclusive;
            case.reasons.extend(found.why.clone());
        } else {
            case.status = Status::Failed;
            case.reasons.push(differs("verdict"));
            case.reasons.extend(found.why.clone());
        }
        return;
    }
    for Row { key, same, comparable } in rows(expect, &seen, found, how) {
        match (same, comparable) {
            (false, true) => case.reasons.push(differs(key)),
            (_, false) => case.not_compared.push(key),
            (true, true) => {}
        }
    }
    let wanted_all = how.reference && how.options.all_errors && expect.is_about_everything();
    case.status = match () {
        () if !case.reasons.is_empty() => Status::Failed,
        () if wanted_all && !found.exhaustive && found.verdict == Verdict::Violated => {
            case.reasons.push("the search ended before everything was explored".to_string());
            Status::Inconclusive
        }
        () => Status::Passed,
    };
}

/// One key that the model speaks of.
struct Row {
    key: &'static str,
    same: bool,
    /// Whether it has a meaning after this check.
    comparable: bool,
}

fn rows(expect: &Expectation, seen: &Expectation, found: &Found, how: &Configured) -> Vec<Row> {
    let complete = how.reference && how.options.all_errors && found.exhaustive;
    let shortest = how.options.search == Some(Search::Bfs);
    let rejected = found.verdict == Verdict::Rejected;
    let mut rows = Vec::new();
    let mut row = |given: bool, key, same, comparable| {
        if given {
            rows.push(Row { key, same, comparable });
        }
    };
    if let Some(kinds) = expect.kinds.as_ref().filter(|kinds| !kinds.is_empty()) {
        // A search that stops early need not find every kind, but no other one.
        let foreign = !found.kinds.is_subset(kinds);
        row(true, "kind", *kinds == found.kinds, complete || foreign);
    }
    row(expect.states.is_some(), "states", expect.states == seen.states, complete);
    row(expect.errors.is_some(), "errors", expect.errors == seen.errors, complete);
    row(expect.line.is_some(), "line", expect.line == seen.line, complete || rejected);
    row(expect.depth.is_some(), "depth", expect.depth == seen.depth, shortest);
    if let Some(codes) = &expect.codes {
        row(true, "code", codes.is_subset(&found.codes), true);
    }
    row(expect.warnings.is_some(), "warnings", expect.warnings == seen.warnings, true);
    rows
}

impl Found {
    /// As an expectation that speaks of the same things as `expect`.
    fn in_words_of(&self, expect: &Expectation) -> Expectation {
        let line = expect.line.filter(|line| self.lines.contains(line)).or(self.lines.first().copied());
        let violated = self.verdict == Verdict::Violated;
        Expectation {
            kinds: violated.then(|| self.kinds.clone()),
            states: expect.states.map(|_| self.states),
            errors: expect.errors.map(|_| self.errors),
            line: expect.line.and(line),
            depth: expect.depth.and(self.depth),
            codes: expect.codes.as_ref().map(|_| self.codes.clone()),
            warnings: expect.warnings.as_ref().map(|_| self.warnings.clone()),
            ..Expectation::of(self.verdict)
        }
    }
}

/// One value of an expectation, as it is written.
fn value(expect: &Expectation, key: &str) -> String {
    let text = expect.to_string();
    let word = text.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    word.unwrap_or("none").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::CheckOptions;

    fn found(verdict: Verdict) -> Found {
        Found {
            verdict,
            kinds: BTreeSet::new(),
            states: 9,
            errors: 0,
            lines: vec![],
            depth: None,
            codes: BTreeSet::new(),
            warnings: BTreeSet::new(),
            exhaustive: verdict == Verdict::Holds,
            why: (verdict == Verdict::Unknown).then(|| "out of time".to_string()),
        }
    }

    fn violated(exhaustive: bool) -> Found {
        let kinds = BTreeSet::from(["assertion"]);
        let depth = Some(5);
        Found { kinds, errors: 2, lines: vec![3, 7], depth, exhaustive, ..found(Verdict::Violated) }
    }

    fn how(reference: bool, search: Search) -> Configured {
        let search = Some(search);
        let options = CheckOptions { search, all_errors: reference, ..CheckOptions::default() };
        Configured { options, reference }
    }

    fn judged(expect: &str, found: &Found, how: &Configured) -> CaseReport {
        let mut case = CaseReport::new("m.pml", "safety", 1, Status::NotRun);
        compare(&mut case, &Expectation::parse(expect).expect("an expectation"), found, how);
        case
    }

    #[test]
    fn numbers_count_only_where_everything_is_explored() {
        let reference = how(true, Search::Dfs);
        assert_eq!(
            judged("verdict=holds states=9", &found(Verdict::Holds), &reference).status,
            Status::Passed
        );
        let wrong = judged("verdict=holds states=8", &found(Verdict::Holds), &reference);
        assert_eq!(
            (wrong.status, wrong.reasons),
            (Status::Failed, vec!["states: expected 8, found 9".into()])
        );
        let other = judged("verdict=holds states=8", &found(Verdict::Holds), &how(false, Search::Dfs));
        assert_eq!((other.status, other.not_compared), (Status::Passed, vec!["states"]));
    }

    #[test]
    fn kinds_must_be_complete_or_at_least_expected() {
        let expect = "verdict=violated kind=assertion,end-state";
        assert_eq!(judged(expect, &violated(true), &how(true, Search::Dfs)).status, Status::Failed);
        assert_eq!(judged(expect, &violated(false), &how(false, Search::Dfs)).status, Status::Passed);
        assert_eq!(
            judged("verdict=violated kind=trace", &violated(false), &how(false, Search::Dfs)).status,
            Status::Failed
        );
        // A search that should have explored everything and did not says nothing about the rest.
        assert_eq!(judged(expect, &violated(false), &how(true, Search::Dfs)).status, Status::Inconclusive);
    }

    #[test]
    fn places_depths_and_counts() {
        let (dfs, bfs) = (how(true, Search::Dfs), how(true, Search::Bfs));
        assert_eq!(
            judged("verdict=violated line=7 errors=2 depth=5", &violated(true), &bfs).status,
            Status::Passed
        );
        let wrong = judged("verdict=violated line=8 errors=3 depth=4", &violated(true), &bfs);
        assert_eq!(
            wrong.reasons,
            ["errors: expected 3, found 2", "line: expected 8, found 3", "depth: expected 4, found 5"]
        );
        let deep = judged("verdict=violated depth=4", &violated(true), &dfs);
        assert_eq!((deep.status, deep.not_compared), (Status::Passed, vec!["depth"]));
    }

    #[test]
    fn verdicts() {
        let dfs = how(true, Search::Dfs);
        assert_eq!(judged("verdict=holds", &violated(false), &dfs).status, Status::Failed);
        assert_eq!(judged("verdict=violated", &found(Verdict::Holds), &dfs).status, Status::Failed);
        assert_eq!(judged("verdict=holds", &found(Verdict::Unknown), &dfs).status, Status::Inconclusive);
        assert_eq!(judged("verdict=unknown", &found(Verdict::Unknown), &dfs).status, Status::Passed);
        assert_eq!(judged("verdict=unknown", &found(Verdict::Holds), &dfs).status, Status::Failed);
        assert_eq!(judged("verdict=holds", &found(Verdict::Rejected), &dfs).status, Status::Failed);
        assert_eq!(judged("verdict=rejected", &found(Verdict::Unknown), &dfs).status, Status::Failed);
    }

    #[test]
    fn codes_of_diagnostics() {
        let set = |codes: &[&str]| codes.iter().map(|c| (*c).to_string()).collect::<BTreeSet<String>>();
        let wrong = Found { codes: set(&["E0101", "E0201"]), lines: vec![4], ..found(Verdict::Rejected) };
        let dfs = how(true, Search::Dfs);
        assert_eq!(judged("verdict=rejected code=E0201 line=4", &wrong, &dfs).status, Status::Passed);
        assert_eq!(judged("verdict=rejected code=E0202", &wrong, &dfs).status, Status::Failed);
        let warned = Found { warnings: set(&["W0203"]), ..found(Verdict::Holds) };
        assert_eq!(judged("verdict=holds warnings=W0203", &warned, &dfs).status, Status::Passed);
        let none = judged("verdict=holds warnings=none", &warned, &dfs);
        assert_eq!(none.reasons, ["warnings: expected none, found W0203"]);
    }
}
