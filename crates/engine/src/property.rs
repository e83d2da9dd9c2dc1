//! Which properties a model has, and which of them a check is asked for.

use crate::failure::Failure;
use crate::options::one_of;
use promela::ir::{Action, Location, Logic, ProctypeKind, Program};
use search::Checks;
use system::FaultKind;

/// The properties that a model states, apart from the built-in safety checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Names of `ltl` blocks.
    pub ltl: Vec<String>,
    /// Names of `ctl` and `mu` blocks, as `--property` takes them.
    pub state_formulas: Vec<String>,
    /// Names of never claims.
    pub never: Vec<String>,
    /// There are accept labels outside of claims.
    pub accept: bool,
    /// There are progress labels.
    pub progress: bool,
    /// The safety checks that can fail in this model: what is not stated cannot be broken.
    pub safety: Vec<FaultKind>,
}

impl Inventory {
    /// What `program` states.
    pub fn of(program: &Program) -> Self {
        let is_process = |kind| matches!(kind, ProctypeKind::Proctype | ProctypeKind::Init);
        let anywhere = |labelled: fn(&Location) -> bool| {
            program.proctypes.iter().any(|p| is_process(p.kind) && p.locations.iter().any(labelled))
        };
        Inventory {
            ltl: program.ltl.iter().map(|p| p.name.clone()).collect(),
            state_formulas: program
                .state_properties
                .iter()
                .map(|p| format!("{}:{}", p.logic.word(), p.name))
                .collect(),
            never: program.never.iter().map(|&id| program.proctype(id).name.clone()).collect(),
            accept: anywhere(|location| location.accept),
            progress: anywhere(|location| location.progress),
            safety: safety_kinds(program),
        }
    }

    /// Whether the author states anything, beyond what is checked in every model.
    pub fn states_something(&self) -> bool {
        let own = |kind: &FaultKind| !matches!(kind, FaultKind::EndState | FaultKind::Runtime);
        self.accept
            || !self.ltl.is_empty()
            || !self.state_formulas.is_empty()
            || !self.never.is_empty()
            || self.safety.iter().any(own)
    }

    /// Whether the model has this property, which is none of the safety checks.
    fn has(&self, full: &str) -> bool {
        match full.split_once(':') {
            Some(("never", names)) => {
                names.split('+').all(|name| self.never.iter().any(|claim| claim == name))
            }
            Some(("ltl", name)) => self.ltl.iter().any(|claim| claim == name),
            Some(_) => self.state_formulas.iter().any(|formula| formula == full),
            None if full == "never" => !self.never.is_empty(),
            None => matches!(full, "accept" | "progress"),
        }
    }

    /// All names that `--property` takes for this model, beyond the parts of `safety`.
    fn names(&self) -> Vec<String> {
        let ltl = self.ltl.iter().map(|name| format!("ltl:{name}"));
        let never = self.never.iter().map(|name| match self.never.len() {
            1 => "never".to_string(),
            _ => format!("never:{name}"),
        });
        ltl.chain(self.state_formulas.iter().cloned()).chain(never).collect()
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
    /// `safety`, `ltl`, `ctl`, `mu`, `never`, `accept` or `progress`.
    pub kind: &'static str,
    /// What to look for; `None` for a property of whole runs, and for a formula about states.
    pub checks: Option<Checks>,
}

impl Selected {
    /// Whether it is a property of whole runs.
    pub fn is_of_runs(&self) -> bool {
        self.checks.is_none() && self.logic().is_none()
    }

    /// The logic of a formula about states.
    pub fn logic(&self) -> Option<Logic> {
        Logic::of(self.kind)
    }
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
        Some("ctl") => "ctl",
        Some("mu") => "mu",
        Some("never") => "never",
        Some("progress") => "progress",
        _ => "accept",
    }
}

/// What to report on: what was asked for by name, or all that applies. A formula from the command line always
/// is.
pub fn select(requested: &[String], inventory: &Inventory) -> Result<Vec<Selected>, Failure> {
    if requested.is_empty() {
        return Ok(all_that_apply(inventory));
    }
    let formulas = ["ltl:cli", "ctl:cli", "mu:cli"].map(str::to_string);
    let given = formulas.iter().filter(|name| inventory.has(name));
    let mut selected: Vec<Selected> = Vec::new();
    for name in requested.iter().chain(given) {
        if selected.iter().any(|s| &s.name == name) {
            continue;
        }
        selected.push(match safety_checks(name) {
            Some(checks) => Selected { name: name.clone(), kind: "safety", checks: Some(checks) },
            None if inventory.has(name) => {
                Selected { name: name.clone(), kind: later_kind(name), checks: None }
            }
            None => return Err(refuse(name, inventory)),
        });
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

/// There is no such property.
fn refuse(name: &str, inventory: &Inventory) -> Failure {
    let stated = inventory.names();
    let known =
        SAFETY_NAMES.into_iter().chain(["accept", "progress"]).chain(stated.iter().map(String::as_str));
    let named = |formula: &&String| formula.split_once(':').is_some_and(|(_, own)| own == name);
    let repair = match stated.iter().find(named) {
        Some(formula) => format!("did you mean `{formula}`?"),
        None if name.starts_with("deadlock") => {
            "a deadlock is an invalid end state: use --property end-state".to_string()
        }
        None => one_of(name, known),
    };
    Failure::refused_with(format!("--property {name}: there is no such property in this model"), repair)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inventory() -> Inventory {
        Inventory {
            ltl: vec!["p".to_string()],
            state_formulas: vec!["ctl:q".to_string()],
            never: vec!["never_0".to_string()],
            accept: true,
            progress: false,
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
        assert_eq!(names(&all), ["safety", "ltl:p", "ctl:q", "never"]);
        assert!(all[0].checks.is_some() && all[1].checks.is_none());
        assert_eq!((all[1].kind, all[2].kind, all[3].kind), ("ltl", "ctl", "never"));
        assert!(all[1].is_of_runs() && !all[2].is_of_runs() && all[2].logic() == Some(Logic::Ctl));
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
    fn properties_of_whole_runs_are_known_by_name() {
        for name in ["ltl:p", "never", "never:never_0", "accept", "progress"] {
            let selected = request(&[name]).unwrap();
            assert!(selected[0].checks.is_none() && name.starts_with(selected[0].kind), "{name}");
        }
        for unknown in ["ltl:q", "never:x", "liveness"] {
            let Err(Failure::Refused { message, repair }) = request(&[unknown]) else { panic!("{unknown}") };
            assert!(message.contains("no such property"));
            assert!(repair.unwrap().ends_with("accept, progress, ltl:p, ctl:q, never"));
        }
        let Err(Failure::Refused { repair, .. }) = request(&["deadlock"]) else { panic!("no such name") };
        assert!(repair.unwrap().ends_with("--property end-state"));
    }

    #[test]
    fn a_formula_of_the_command_line_is_checked_too() {
        let ltl = vec!["p".to_string(), "cli".to_string()];
        let inventory = Inventory { ltl, ..inventory() };
        let selected = select(&["assertion".to_string()], &inventory).unwrap();
        assert_eq!(names(&selected), ["assertion", "ltl:cli"]);
        assert_eq!(
            names(&select(&[], &inventory).unwrap()),
            ["safety", "ltl:p", "ltl:cli", "ctl:q", "never"]
        );
    }
}
