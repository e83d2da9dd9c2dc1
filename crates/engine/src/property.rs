//! Which properties a model has, and which of them a check is asked for.

use crate::failure::Failure;
use promela::ir::{Action, ProctypeKind, Program};
use search::Checks;
use system::FaultKind;

/// The properties that a model states, apart from the built-in safety checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Names of `ltl` blocks.
    pub ltl: Vec<String>,
    /// Names of never claims.
    pub never: Vec<String>,
    /// There are accept labels outside of claims.
    pub accept: bool,
    /// The safety checks that can fail in this model: what is not stated cannot be broken.
    pub safety: Vec<FaultKind>,
}

impl Inventory {
    /// What `program` states.
    pub fn of(program: &Program) -> Self {
        let is_process = |kind| matches!(kind, ProctypeKind::Proctype | ProctypeKind::Init);
        Inventory {
            ltl: program.ltl.iter().map(|p| p.name.clone()).collect(),
            never: program.never.iter().map(|&id| program.proctype(id).name.clone()).collect(),
            accept: program
                .proctypes
                .iter()
                .any(|p| is_process(p.kind) && p.locations.iter().any(|location| location.accept)),
            safety: safety_kinds(program),
        }
    }

    /// Whether the author states anything, beyond what is checked in every model.
    pub fn states_something(&self) -> bool {
        let own = |kind: &FaultKind| !matches!(kind, FaultKind::EndState | FaultKind::Runtime);
        self.accept || !self.ltl.is_empty() || !self.never.is_empty() || self.safety.iter().any(own)
    }

    /// All names that `--property` takes for this model, beyond the parts of `safety`.
    fn names(&self) -> Vec<String> {
        let ltl = self.ltl.iter().map(|name| format!("ltl:{name}"));
        let never = self.never.iter().map(|name| match self.never.len() {
            1 => "never".to_string(),
            _ => format!("never:{name}"),
        });
        ltl.chain(never).collect()
    }
}

fn safety_kinds(program: &Program) -> Vec<FaultKind> {
    let edges = || program.proctypes.iter().flat_map(|proctype| &proctype.edges);
    let stated = [
        (FaultKind::Assertion, edges().any(|edge| matches!(edge.action, Action::Assert(_)))),
        (FaultKind::Invariant, !program.invariants.is_empty()),
        (FaultKind::Trace, program.trace.is_some()),
        (FaultKind::EndState, true),
        (FaultKind::Runtime, true),
    ];
    stated.into_iter().filter(|(_, stated)| *stated).map(|(kind, _)| kind).collect()
}

/// A property that is to be reported on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// As `--property` names it.
    pub name: String,
    /// `safety`, `ltl`, `never`, `accept` or `progress`.
    pub kind: &'static str,
    /// What to check; `None` when checking it is not available yet.
    pub checks: Option<Checks>,
}

/// `safety` and its parts.
fn safety_checks(name: &str) -> Option<Checks> {
    Some(match name {
        "safety" => Checks::SAFETY,
        "assertion" => Checks::only(FaultKind::Assertion),
        "end-state" => Checks::only(FaultKind::EndState),
        "invariant" => Checks::only(FaultKind::Invariant),
        "trace" => Checks::only(FaultKind::Trace),
        "runtime" => Checks::only(FaultKind::Runtime),
        _ => return None,
    })
}

/// The names that need no model.
pub const SAFETY_NAMES: [&str; 6] = ["safety", "assertion", "end-state", "invariant", "trace", "runtime"];

/// The kind of a property that is not a safety check, from its name.
fn later_kind(name: &str) -> &'static str {
    match name.split(':').next() {
        Some("ltl") => "ltl",
        Some("never") => "never",
        Some("progress") => "progress",
        _ => "accept",
    }
}

/// What to report on: what was asked for by name, or all that applies.
pub fn select(requested: &[String], inventory: &Inventory) -> Result<Vec<Selected>, Failure> {
    if requested.is_empty() {
        return Ok(all_that_apply(inventory));
    }
    let mut selected: Vec<Selected> = Vec::new();
    for name in requested {
        if selected.iter().all(|s| &s.name != name) {
            let checks = safety_checks(name).ok_or_else(|| refuse(name, inventory))?;
            selected.push(Selected { name: name.clone(), kind: "safety", checks: Some(checks) });
        }
    }
    Ok(selected)
}

fn all_that_apply(inventory: &Inventory) -> Vec<Selected> {
    let mut names = inventory.names();
    if names.is_empty() && inventory.accept {
        names.push("accept".to_string());
    }
    let safety = Selected { name: "safety".to_string(), kind: "safety", checks: Some(Checks::SAFETY) };
    let later = names.into_iter().map(|name| Selected { kind: later_kind(&name), name, checks: None });
    std::iter::once(safety).chain(later).collect()
}

/// Why a property cannot be checked: it is not available yet, or there is no such property.
fn refuse(name: &str, inventory: &Inventory) -> Failure {
    let is_claim = name.strip_prefix("never:").is_some_and(|n| inventory.never.iter().any(|c| c == n))
        || name.strip_prefix("ltl:").is_some_and(|n| inventory.ltl.iter().any(|c| c == n))
        || (name == "never" && !inventory.never.is_empty());
    if is_claim || matches!(name, "accept" | "progress") {
        return Failure::refused_with(
            format!("checking the property {name} is not available yet"),
            "use --property safety, or one of its parts",
        );
    }
    let stated = match inventory.names() {
        names if names.is_empty() => "it states none of its own".to_string(),
        names => format!("it also states {}, which cannot be checked yet", names.join(", ")),
    };
    Failure::refused_with(
        format!("--property {name}: there is no such property in this model"),
        format!("use one of {} ({stated})", SAFETY_NAMES.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inventory() -> Inventory {
        Inventory {
            ltl: vec!["p".to_string()],
            never: vec!["never_0".to_string()],
            accept: true,
            safety: Vec::new(),
        }
    }

    fn names(selected: &[Selected]) -> Vec<&str> {
        selected.iter().map(|s| s.name.as_str()).collect()
    }

    fn request(names: &[&str]) -> Result<Vec<Selected>, Failure> {
        let names: Vec<String> = names.iter().map(|n| (*n).to_string()).collect();
        select(&names, &inventory())
    }

    #[test]
    fn without_a_request_everything_is_listed() {
        let all = request(&[]).unwrap();
        assert_eq!(names(&all), ["safety", "ltl:p", "never"]);
        assert!(all[0].checks.is_some() && all[1].checks.is_none());
        assert_eq!((all[1].kind, all[2].kind), ("ltl", "never"));
        let labels = Inventory { accept: true, ..Inventory::default() };
        assert_eq!(names(&select(&[], &labels).unwrap()), ["safety", "accept"]);
        assert_eq!(names(&select(&[], &Inventory::default()).unwrap()), ["safety"]);
    }

    #[test]
    fn parts_of_safety_can_be_asked_for() {
        let parts = request(&["assertion", "end-state", "assertion"]).unwrap();
        assert_eq!(names(&parts), ["assertion", "end-state"]);
        assert_eq!(parts[1].checks, Some(Checks::only(FaultKind::EndState)));
    }

    #[test]
    fn what_is_missing_and_what_is_unknown_are_told_apart() {
        for later in ["ltl:p", "never", "never:never_0", "accept", "progress"] {
            let Err(Failure::Refused { message, .. }) = request(&[later]) else { panic!("{later}") };
            assert!(message.ends_with("is not available yet"), "{message}");
        }
        let Err(Failure::Refused { message, repair }) = request(&["ltl:q"]) else { panic!() };
        assert!(message.contains("no such property"));
        assert!(repair.unwrap().contains("it also states ltl:p, never,"));
    }
}
