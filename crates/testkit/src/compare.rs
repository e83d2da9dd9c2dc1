//! When two outcomes agree.
//!
//! In the reference configuration both tools explore everything, so that states and kinds of violation must
//! be equal. Where Spin itself goes wrong after a fault (it reads past an array, ends at a fatal error or
//! crashes) only the fault must be reported by both; after an event outside a trace its search goes on in a
//! state of its own, so that only the verdict counts. A search that did not end says nothing.

use std::fmt;

use crate::ours::LEFT_OUT;
use crate::outcome::{Exploration, Kind, Outcome};

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// One tool accepts the model, the other refuses it.
    Accept,
    /// The numbers of states differ.
    States,
    /// One tool reports a kind of violation and the other does not.
    Kind(Kind),
    /// Our tool crashed.
    Crash,
    /// Another configuration of our tool contradicts the reference configuration.
    Configuration(&'static Configuration),
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Accept => f.write_str("accept"),
            Class::States => f.write_str("states"),
            Class::Kind(kind) => write!(f, "{kind}"),
            Class::Crash => f.write_str("crash"),
            Class::Configuration(other) => write!(f, "configuration {:?}", other.changes),
        }
    }
}

/// A configuration other than the reference configuration.
#[derive(Debug, PartialEq, Eq)]
pub struct Configuration {
    /// What is different in it.
    pub changes: &'static [(&'static str, &'static str)],
    /// It may have fewer states.
    pub reduces: bool,
}

impl Configuration {
    /// Whether it stops at the first violation, as people's runs do.
    fn stops(&self) -> bool {
        self.changes.contains(&("--all-errors", LEFT_OUT))
    }
}

/// Configurations that must say the same as the reference configuration; the first is always tried, the
/// others in turn.
pub const CONFIGURATIONS: &[Configuration] = &[
    Configuration { changes: &[("--opt", "deadvars,merge,fold")], reduces: true },
    Configuration { changes: &[("--store", "tree")], reduces: false },
    Configuration { changes: &[("--store", "cleary"), ("--opt", "deadvars")], reduces: true },
    Configuration { changes: &[("--store", "collapse"), ("--opt", "merge")], reduces: true },
    Configuration { changes: &[("--search", "bfs"), ("--opt", "fold")], reduces: true },
    Configuration { changes: &[("--search", "bfs"), ("--store", "tree")], reduces: false },
    Configuration { changes: &[("--exec", "interp"), ("--search", "dfs")], reduces: false },
    Configuration { changes: &[("--exec", "interp"), ("--opt", "deadvars,merge,fold")], reduces: true },
    Configuration { changes: &[("--exec", "packed")], reduces: false },
    Configuration { changes: &[("--exec", "packed"), ("--opt", "deadvars,merge,fold")], reduces: true },
    Configuration { changes: &[("--exec", "packed"), ("--threads", "3"), ("--alone", "0")], reduces: false },
    Configuration {
        changes: &[("--search", "dfs"), ("--opt", "deadvars,merge,fold"), ("--store", "cleary")],
        reduces: true,
    },
    Configuration { changes: &[("--search", "dfs"), ("--store", "collapse")], reduces: false },
    // What is done when nobody says: a reduction where it pays, up to the first violation.
    Configuration { changes: &[("--por", LEFT_OUT), ("--all-errors", LEFT_OUT)], reduces: true },
    Configuration {
        changes: &[("--por", LEFT_OUT), ("--all-errors", LEFT_OUT), ("--opt", "deadvars,merge,fold")],
        reduces: true,
    },
    Configuration {
        changes: &[("--por", LEFT_OUT), ("--all-errors", LEFT_OUT), ("--threads", "2"), ("--alone", "0")],
        reduces: true,
    },
    Configuration { changes: &[("--por", "stubborn")], reduces: true },
    Configuration { changes: &[("--por", "stubborn"), ("--search", "dfs")], reduces: true },
    Configuration { changes: &[("--por", "stubborn"), ("--stubborn", "deletion")], reduces: true },
    Configuration {
        changes: &[
            ("--por", "stubborn"),
            ("--stubborn", "deletion"),
            ("--search", "dfs"),
            ("--sleep", ""),
            ("--opt", "deadvars,merge,fold"),
        ],
        reduces: true,
    },
    Configuration { changes: &[("--por", "ample"), ("--search", "dfs")], reduces: true },
    Configuration {
        changes: &[("--por", "stubborn"), ("--search", "dfs"), ("--proviso", "color")],
        reduces: true,
    },
    Configuration { changes: &[("--por", "ample"), ("--opt", "deadvars,merge,fold")], reduces: true },
    Configuration { changes: &[("--por", "stubborn"), ("--search", "bfs")], reduces: true },
    Configuration {
        changes: &[("--por", "stubborn"), ("--opt", "deadvars,merge,fold"), ("--store", "cleary")],
        reduces: true,
    },
    Configuration {
        changes: &[
            ("--por", "stubborn"),
            ("--search", "dfs"),
            ("--proviso", "closed-set"),
            ("--exec", "interp"),
        ],
        reduces: true,
    },
    Configuration { changes: &[("--por", "twophase"), ("--save", "all")], reduces: true },
    Configuration {
        changes: &[("--por", "twophase"), ("--save", "backedge"), ("--search", "dfs")],
        reduces: true,
    },
    Configuration {
        changes: &[("--por", "twophase"), ("--save", "none"), ("--search", "bfs")],
        reduces: true,
    },
    Configuration {
        changes: &[("--por", "twophase"), ("--opt", "deadvars,merge,fold"), ("--exec", "interp")],
        reduces: true,
    },
    Configuration { changes: &[("--sleep", ""), ("--search", "dfs")], reduces: false },
    Configuration { changes: &[("--sleep", ""), ("--por", "stubborn"), ("--search", "dfs")], reduces: true },
    Configuration {
        changes: &[
            ("--sleep", ""),
            ("--por", "ample"),
            ("--search", "dfs"),
            ("--opt", "deadvars,merge,fold"),
        ],
        reduces: true,
    },
    Configuration {
        changes: &[("--sleep", ""), ("--por", "stubborn"), ("--search", "dfs"), ("--proviso", "closed-set")],
        reduces: true,
    },
    // Random programs are small: without `--alone 0` one worker would be done before it calls the others.
    Configuration { changes: &[("--threads", "8"), ("--alone", "0")], reduces: false },
    Configuration { changes: &[("--threads", "3"), ("--alone", "0"), ("--search", "bfs")], reduces: false },
    Configuration { changes: &[("--threads", "4"), ("--alone", "0"), ("--search", "dfs")], reduces: false },
    Configuration { changes: &[("--threads", "4"), ("--alone", "0"), ("--store", "tree")], reduces: false },
    Configuration { changes: &[("--threads", "4"), ("--alone", "0"), ("--store", "cleary")], reduces: false },
    Configuration {
        changes: &[("--threads", "8"), ("--search", "handoff"), ("--handoff", "1")],
        reduces: false,
    },
    Configuration { changes: &[("--threads", "2"), ("--search", "handoff")], reduces: false },
    Configuration {
        changes: &[("--threads", "4"), ("--search", "handoff"), ("--handoff", "2"), ("--por", "stubborn")],
        reduces: true,
    },
    Configuration {
        changes: &[("--threads", "3"), ("--search", "handoff"), ("--handoff", "1"), ("--por", "ample")],
        reduces: true,
    },
    Configuration { changes: &[("--threads", "8"), ("--alone", "0"), ("--por", "stubborn")], reduces: true },
    Configuration {
        changes: &[("--threads", "4"), ("--alone", "0"), ("--por", "ample"), ("--search", "dfs")],
        reduces: true,
    },
    Configuration {
        changes: &[("--threads", "4"), ("--alone", "0"), ("--por", "twophase"), ("--store", "tree")],
        reduces: true,
    },
    Configuration {
        changes: &[("--threads", "2"), ("--search", "handoff"), ("--handoff", "1"), ("--por", "twophase")],
        reduces: true,
    },
    Configuration { changes: &[("--state-cache", "2000"), ("--search", "dfs")], reduces: true },
    Configuration {
        changes: &[("--state-cache", "500"), ("--por", "stubborn"), ("--sleep", ""), ("--search", "dfs")],
        reduces: true,
    },
    Configuration {
        changes: &[("--state-cache", "200"), ("--por", "twophase"), ("--search", "dfs")],
        reduces: true,
    },
];

/// A configuration that relies on promises and looks whether they are kept, on the reference machine.
pub const DOUBTS_PROMISES: &[(&str, &str)] =
    &[("--por", "stubborn"), ("--search", "dfs"), ("--exec", "interp")];

/// Why nothing can be said of a model of which a configuration says that it breaks a promise, and
/// `confirmed`, another one, says the same. (The reference configuration relies on no promise; nor does
/// Spin's verifier without its reduction.)
pub fn broken_promise(other: &Outcome, confirmed: &Outcome) -> Option<Comparison> {
    let (Outcome::Explored(other), Outcome::Explored(confirmed)) = (other, confirmed) else { return None };
    let promise = other.broken_promises().find(|one| confirmed.broken_promises().any(|same| same == *one))?;
    Some(Comparison::Inconclusive(format!("the model breaks its promise: {promise}")))
}

/// Compares another configuration with the reference configuration.
pub fn compare_configurations(
    reference: &Outcome,
    other: &Outcome,
    which: &'static Configuration,
) -> Comparison {
    let differs = match (reference, other) {
        (_, Outcome::Crashed(_)) => return Comparison::Mismatch(Class::Crash),
        (Outcome::Explored(a), Outcome::Explored(b)) if which.stops() && !b.kinds.is_empty() => {
            if let Some(why) = &a.truncated {
                return Comparison::Inconclusive(why.clone());
            }
            !b.kinds.is_subset(&a.kinds)
        }
        (Outcome::Explored(a), Outcome::Explored(b)) => {
            if let Some(why) = a.truncated.as_ref().or(b.truncated.as_ref()) {
                return Comparison::Inconclusive(why.clone());
            }
            let states = if which.reduces { b.states > a.states } else { b.states != a.states };
            states || a.kinds != b.kinds
        }
        (Outcome::Rejected(_), Outcome::Rejected(_)) => false,
        _ => return Comparison::Inconclusive("a configuration was not explored".into()),
    };
    if differs { Comparison::Mismatch(Class::Configuration(which)) } else { Comparison::Agree }
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// Nothing differs.
    Agree,
    /// Both tools refuse the model.
    RejectedByBoth,
    /// Something differs.
    Mismatch(Class),
    /// Nothing can be said, for this reason.
    Inconclusive(String),
    /// A tool is missing.
    Skipped(String),
}

/// Compares what Spin and our tool say about the same model.
pub fn compare(spin: &Outcome, ours: &Outcome) -> Comparison {
    match (spin, ours) {
        (Outcome::Skipped(why), _) | (_, Outcome::Skipped(why)) => Comparison::Skipped(why.clone()),
        (_, Outcome::Crashed(_)) => Comparison::Mismatch(Class::Crash),
        (_, Outcome::Unsupported(why) | Outcome::Failed(why)) => Comparison::Inconclusive(why.clone()),
        (Outcome::Failed(why) | Outcome::Unsupported(why) | Outcome::Crashed(why), _) => {
            Comparison::Inconclusive(why.clone())
        }
        (Outcome::Rejected(_), Outcome::Rejected(_)) => Comparison::RejectedByBoth,
        (Outcome::Rejected(_), Outcome::Explored(_)) | (Outcome::Explored(_), Outcome::Rejected(_)) => {
            Comparison::Mismatch(Class::Accept)
        }
        (Outcome::Explored(spin), Outcome::Explored(ours)) => explored(spin, ours),
    }
}

fn explored(spin: &Exploration, ours: &Exploration) -> Comparison {
    if let Some(why) = spin.truncated.as_ref().or(ours.truncated.as_ref()) {
        return Comparison::Inconclusive(why.clone());
    }
    // Our search has no step after a fault, so that of two faults in a row only the first is seen.
    let faults = [Kind::Runtime, Kind::Trace];
    if faults.iter().any(|k| spin.kinds.contains(k) && ours.kinds.contains(k)) {
        return Comparison::Agree;
    }
    if is_choice_only(spin) && !ours.kinds.contains(&Kind::Runtime) {
        // Spin goes on after a choice in a D_proctype; we may stop there, or not call it an error at all.
        return first_difference(spin, ours, &[Kind::Assertion, Kind::EndState, Kind::Trace]);
    }
    let only_one = |k: &&Kind| spin.kinds.contains(k) != ours.kinds.contains(k);
    if let Some(kind) = faults.iter().find(only_one) {
        return Comparison::Mismatch(Class::Kind(*kind));
    }
    first_difference(spin, ours, &[Kind::Assertion, Kind::EndState])
}

fn first_difference(spin: &Exploration, ours: &Exploration, kinds: &[Kind]) -> Comparison {
    let differs = |kind: &&Kind| spin.kinds.contains(kind) != ours.kinds.contains(kind);
    if let Some(kind) = kinds.iter().find(differs) {
        return Comparison::Mismatch(Class::Kind(*kind));
    }
    if spin.states != ours.states {
        return Comparison::Mismatch(Class::States);
    }
    Comparison::Agree
}

/// Whether every run-time error is a choice in a `D_proctype`.
fn is_choice_only(spin: &Exploration) -> bool {
    let choice = |message: &&String| message.contains("non-determinism in D_proctype");
    let other = |message: &&String| {
        !choice(message)
            && (!message.starts_with("assertion violated") || message.contains("invalid array index"))
            && !message.starts_with("invalid end state")
            && !message.starts_with("event_trace")
    };
    !spin.aborted && spin.messages.iter().any(|m| choice(&m)) && !spin.messages.iter().any(|m| other(&m))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explored(states: u64, kinds: &[Kind]) -> Outcome {
        let kinds = kinds.iter().copied().collect();
        Outcome::Explored(Exploration { states, kinds, ..Exploration::default() })
    }

    #[test]
    fn states_and_kinds_must_be_equal() {
        assert_eq!(compare(&explored(7, &[]), &explored(7, &[])), Comparison::Agree);
        assert_eq!(compare(&explored(7, &[]), &explored(8, &[])), Comparison::Mismatch(Class::States));
        assert_eq!(
            compare(&explored(7, &[Kind::EndState]), &explored(7, &[])),
            Comparison::Mismatch(Class::Kind(Kind::EndState))
        );
    }

    #[test]
    fn after_a_fault_only_the_fault_counts() {
        let (spin, ours) = (explored(7, &[Kind::Runtime, Kind::EndState]), explored(5, &[Kind::Runtime]));
        assert_eq!(compare(&spin, &ours), Comparison::Agree);
        let (spin, ours) = (explored(7, &[Kind::Runtime, Kind::Trace]), explored(5, &[Kind::Trace]));
        assert_eq!(compare(&spin, &ours), Comparison::Agree);
        assert_eq!(
            compare(&explored(7, &[]), &explored(7, &[Kind::Runtime])),
            Comparison::Mismatch(Class::Kind(Kind::Runtime))
        );
    }

    #[test]
    fn acceptance_must_be_the_same() {
        let refused = Outcome::Rejected("no".into());
        assert_eq!(compare(&refused, &refused), Comparison::RejectedByBoth);
        assert_eq!(compare(&refused, &explored(1, &[])), Comparison::Mismatch(Class::Accept));
        assert_eq!(compare(&explored(1, &[]), &refused), Comparison::Mismatch(Class::Accept));
    }

    #[test]
    fn a_missing_tool_is_never_agreement() {
        let missing = Outcome::Skipped("no spin".into());
        assert!(matches!(compare(&missing, &explored(1, &[])), Comparison::Skipped(_)));
        let crashed = Outcome::Crashed("panic".into());
        assert_eq!(compare(&explored(1, &[]), &crashed), Comparison::Mismatch(Class::Crash));
    }

    #[test]
    fn truncated_searches_are_inconclusive() {
        let cut = Outcome::Explored(Exploration { truncated: Some("time".into()), ..Exploration::default() });
        assert!(matches!(compare(&cut, &explored(1, &[Kind::Assertion])), Comparison::Inconclusive(_)));
    }

    #[test]
    fn a_promise_must_be_broken_for_two() {
        let broken = |text: &str| {
            let messages = vec!["division by zero".into(), format!("`xs q` of {text}")];
            Outcome::Explored(Exploration { messages, ..Exploration::default() })
        };
        let said = broken("A is not true: B sends to it as well");
        let same = broken_promise(&said, &broken("A is not true: C sends to it as well"));
        assert_eq!(same, Some(Comparison::Inconclusive("the model breaks its promise: `xs q` of A".into())));
        assert_eq!(broken_promise(&said, &broken("C is not true: B sends to it as well")), None);
        assert_eq!(broken_promise(&said, &explored(7, &[Kind::Assertion])), None);
        assert_eq!(broken_promise(&explored(7, &[Kind::Assertion]), &said), None);
        assert_eq!(broken_promise(&said, &Outcome::Rejected("no".into())), None);
    }

    #[test]
    fn who_stops_at_the_first_violation_must_find_one_that_there_is() {
        let stops = CONFIGURATIONS.iter().find(|which| which.stops()).unwrap();
        let agrees = |reference: &[Kind], found: &[Kind]| {
            let (reference, found) = (explored(7, reference), explored(5, found));
            compare_configurations(&reference, &found, stops) == Comparison::Agree
        };
        assert!(agrees(&[], &[]) && agrees(&[Kind::Assertion, Kind::EndState], &[Kind::EndState]));
        assert!(!agrees(&[Kind::Assertion], &[]) && !agrees(&[], &[Kind::Assertion]));
        assert!(!agrees(&[Kind::Assertion], &[Kind::EndState]));
    }
}
