//! One plain sentence for each property: what was found, or why nothing is known.

use super::number::{bytes, grouped, many, plural};
use crate::options::Por;
use crate::report::{PropertyReport, Reason, Verdict};
use system::coverage::Statement;
use system::{Fairness, Fault, FaultKind};
use trace::Palette;
use trace::visible::one_line;

/// Appends the sentence.
pub(super) fn sentence(property: &PropertyReport, palette: Palette, out: &mut String) {
    let name = palette.strong(&property.name);
    let line = match &property.verdict {
        Verdict::Holds(_) => {
            let unreached = unreached_assertions(property);
            let unreached = unreached.map_or_else(String::new, |text| format!("; {}", palette.unknown(text)));
            format!("{name} {}: {}{unreached}", palette.good("holds"), claim(property))
        }
        Verdict::Witnessed(_) => {
            let states = plural(property.statistics.states, "state");
            format!("{name} {}: a run shows it ({states} explored)", palette.good("holds"))
        }
        Verdict::Unknown(why) => {
            format!("{name}: {} - {}", palette.unknown("unknown"), unknown(property, why))
        }
        Verdict::Refuted(refutation) => {
            format!("{name} {}: {}", palette.bad("is violated"), failure(&refutation.fault))
        }
        Verdict::Violated(first, _) => {
            let what = failure(first.evidence.fault());
            format!("{name} {}: {what}{}", palette.bad("is violated"), count(property))
        }
    };
    out.push_str(&format!("  {line}\n"));
    if let Some(certified) = &property.certificate {
        let file = one_line(&certified.file);
        out.push_str(&format!("    certificate: {file}, {}\n", bytes(certified.bytes)));
    }
    if let Some(vacuous) = &property.vacuous {
        let (formula, part) = (&vacuous.formula, &vacuous.part);
        out.push_str(&format!("    but vacuously: `{formula}` holds as well, so `{part}` does not matter\n"));
    }
}

/// Assertions that are named one by one.
const NAMED: usize = 3;

/// An assertion that no run reaches cannot fail: that is no reason to believe in it.
fn unreached_assertions(property: &PropertyReport) -> Option<String> {
    let all = || property.coverage.iter().flatten().flat_map(|coverage| &coverage.statements);
    let is_assertion = |statement: &&Statement| statement.text.trim_start().starts_with("assert");
    let total = all().filter(is_assertion).count();
    let unreached: Vec<&Statement> = all().filter(is_assertion).filter(|s| !s.executed).collect();
    if unreached.is_empty() || !property.checked.contains(&FaultKind::Assertion) {
        return None;
    }
    let places = unreached.iter().take(NAMED).map(|s| format!("{}:{}", one_line(&s.file), s.line));
    let places = places.collect::<Vec<String>>().join(", ");
    let more = if unreached.len() > NAMED { ", …" } else { "" };
    Some(match (total, unreached.len()) {
        (1, _) => format!("but its only assertion is never reached ({places})"),
        (_, 1) => format!("but 1 of {total} assertions is never reached ({places})"),
        (_, n) if n == total => {
            format!("but none of the {total} assertions is ever reached ({places}{more})")
        }
        (_, n) => format!("but {n} of {total} assertions are never reached ({places}{more})"),
    })
}

/// What holds in every reachable state.
fn claim(property: &PropertyReport) -> String {
    if property.how.is_some() || property.evaluation.is_some() {
        return of_runs(property);
    }
    let absent: Vec<&str> = property.checked.iter().map(|&kind| absence(kind)).collect();
    let what = match absent.split_last() {
        None => "nothing is wrong".to_string(),
        Some((only, [])) => (*only).to_string(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    };
    match property.statistics.states {
        // Of a reduced space nobody knows how many states it stands for.
        states if property.por != Por::None => {
            format!("{what} in any reachable state ({} were enough to show it)", plural(states, "state"))
        }
        1 => format!("{what} in the only reachable state"),
        _ if property.symbolic.is_some() => {
            let states = property.symbolic.as_ref().map_or_else(String::new, |figures| many(&figures.states));
            format!("{what} in any of the {states} reachable states")
        }
        states => format!("{what} in any of the {} reachable states", grouped(states)),
    }
}

/// What holds of every run.
fn of_runs(property: &PropertyReport) -> String {
    let word = match property.fairness {
        Fairness::None => "",
        Fairness::Weak => "fair ",
        Fairness::Strong => "strongly fair ",
    };
    let states = explored(property);
    let fair = word;
    let what = match property.kind {
        "ltl" => format!("every {fair}run satisfies it"),
        "ctl" if !fair.is_empty() => "the initial state satisfies it, if runs are fair".to_string(),
        "ctl" | "mu" => "the initial state satisfies it".to_string(),
        "never" => format!("the claim accepts no {fair}run"),
        "progress" => format!("no {fair}run goes on forever without progress"),
        _ => format!("no {fair}run passes an accept label again and again forever"),
    };
    format!("{what} ({states} explored)")
}

/// The number of states that were explored, which a number of the machine may not hold.
fn explored(property: &PropertyReport) -> String {
    match &property.symbolic {
        Some(figures) if property.statistics.states != 1 => format!("{} states", many(&figures.states)),
        _ => plural(property.statistics.states, "state"),
    }
}

fn absence(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Assertion => "no assertion fails",
        FaultKind::EndState => "no deadlock",
        FaultKind::Invariant => "no invariant is broken",
        FaultKind::Trace => "no event against the trace assertion",
        FaultKind::Runtime => "no run-time error",
        FaultKind::ClaimEnd | FaultKind::AcceptCycle => "no run against the claim",
        FaultKind::ProgressCycle => "no run without progress",
        FaultKind::Formula | FaultKind::Witness => "no state against the formula",
        FaultKind::Evaluation => "no state in which the claim cannot be evaluated",
    }
}

fn unknown(property: &PropertyReport, why: &Reason) -> String {
    match property.statistics.states {
        0 => why.to_string(),
        _ => format!("{why}; no violation in the {} explored", explored(property)),
    }
}

/// A fault as the end of the sentence "safety is violated".
fn failure(fault: &Fault) -> String {
    let process = match (&fault.process, fault.pid) {
        (Some(name), Some(pid)) => format!(" in {}", trace::story::process_name(name, pid)),
        (Some(name), None) => format!(" in {name}"),
        _ => String::new(),
    };
    let at = format!("at {}:{}", one_line(&fault.file), fault.line);
    match (fault.kind, fault.message.strip_prefix("assertion violated: ")) {
        (FaultKind::Assertion, Some(text)) => format!("assertion `{text}` fails {at}{process}"),
        (FaultKind::EndState, _) => match fault.message.strip_prefix("invalid end state: ") {
            Some(stuck) if stuck.ends_with(" is stuck") => format!("deadlock: {stuck} {at}"),
            Some(stuck) => format!("deadlock: {stuck}, the first {at}{process}"),
            None => format!("{} {at}{process}", fault.message),
        },
        _ => format!("{} {at}{process}", fault.message),
    }
}

fn count(property: &PropertyReport) -> String {
    match (property.errors, property.exhaustive) {
        (0 | 1, _) => String::new(),
        // Every place that fails is among them, but nobody knows how often it would be met without.
        (n, true) if property.por != Por::None => {
            format!(" ({} in the states that were enough)", plural(n, "violation"))
        }
        (n, true) => format!(" ({} in all)", plural(n, "violation")),
        (n, false) => format!(" ({} so far)", plural(n, "violation")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind, message: &str) -> Fault {
        let (message, file, process) = (message.to_string(), "m.pml".to_string(), Some("p".to_string()));
        Fault { kind, message, file, line: 7, column: 3, process, pid: Some(2) }
    }

    #[test]
    fn faults_as_sentences() {
        let say = |kind, message| failure(&fault(kind, message));
        assert_eq!(
            say(FaultKind::Assertion, "assertion violated: x == 1"),
            "assertion `x == 1` fails at m.pml:7 in p[2]"
        );
        assert_eq!(
            say(FaultKind::EndState, "invalid end state: p[2] is stuck"),
            "deadlock: p[2] is stuck at m.pml:7"
        );
        assert_eq!(
            say(FaultKind::EndState, "invalid end state: 2 processes are stuck"),
            "deadlock: 2 processes are stuck, the first at m.pml:7 in p[2]"
        );
        assert_eq!(
            say(FaultKind::EndState, "channels not empty at end"),
            "channels not empty at end at m.pml:7 in p[2]"
        );
        assert_eq!(say(FaultKind::Runtime, "division by zero"), "division by zero at m.pml:7 in p[2]");
    }
}
