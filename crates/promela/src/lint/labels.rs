//! Labels that look like misspelt `accept`, `end` or `progress`: a verifier knows only what begins exactly
//! so.

use super::{Findings, Model, walk};
use crate::ast::{ExprKind, StmtKind};
use crate::diagnostic::{Code, Diagnostic, Fix};
use std::collections::HashSet;

const CODE: Code = Code::W0306;

/// What begins the labels that mean something, and what that is.
const SPECIAL: [(&str, &str); 3] = [
    ("accept", "marks an acceptance state"),
    ("end", "marks a valid end state"),
    ("progress", "marks a progress state"),
];

pub fn lint(model: &Model, findings: &mut Findings) {
    let mut used: HashSet<&str> = HashSet::new();
    for body in walk::bodies(model.unit) {
        walk::statements(body.block, &mut |stmt| {
            if let StmtKind::Goto(label) = &stmt.kind {
                used.insert(&label.name);
            }
        });
    }
    walk::all_expressions(model.unit, &mut |e| {
        if let ExprKind::RemoteLabel { label, .. } = &e.kind {
            used.insert(&label.name);
        }
    });
    for body in walk::bodies(model.unit) {
        walk::statements(body.block, &mut |stmt| {
            let StmtKind::Labeled(label, _) = &stmt.kind else { return };
            if used.contains(&*label.name) {
                return;
            }
            let Some((word, means)) = meant(&label.name) else { return };
            let message =
                format!("the label `{}` does not begin with `{word}`, and has no meaning", label.name);
            let near = repaired(&label.name, word);
            let d = Diagnostic::new(CODE, label.span, message)
                .help(format!("did you mean `{near}`? a label that begins with `{word}` {means}"))
                .fix(Fix::replace(label.span, &*label.name, near));
            findings.report(d);
        });
    }
}

/// The special word that a label seems to begin with, if it does not.
fn meant(label: &str) -> Option<(&'static str, &'static str)> {
    if SPECIAL.iter().any(|(word, _)| label.starts_with(word)) {
        return None;
    }
    let lower = label.to_ascii_lowercase();
    let trimmed = lower.trim_start_matches('_');
    let first: String = trimmed.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
    SPECIAL.into_iter().find(|(word, _)| trimmed.starts_with(word) || is_near(&first, word))
}

/// The label with its first letters as they should be.
fn repaired(label: &str, word: &str) -> String {
    let trimmed = label.trim_start_matches('_');
    let exact = trimmed.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    let letters = trimmed.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    format!("{word}{}", &trimmed[if exact { word.len() } else { letters }..])
}

/// One letter too many, too few, wrong, or two exchanged; short words are too much alike.
fn is_near(word: &str, special: &str) -> bool {
    let (a, b) = (word.as_bytes(), special.as_bytes());
    if b.len() < 6 || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let shorter = a.len().min(b.len());
    let longer = a.len().max(b.len());
    if front + back >= longer - 1 && (a.len() != b.len() || front + back + 1 == longer) {
        return true;
    }
    a.len() == b.len() && front + back + 2 == shorter && (a[front], a[front + 1]) == (b[front + 1], b[front])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_label_seems_to_mean() {
        let word = |label| meant(label).map(|(word, _)| word);
        for label in ["acept", "Accept", "ACCEPT_1", "accpet", "acccept", "axcept_all", "_accept"] {
            assert_eq!(word(label), Some("accept"), "{label}");
        }
        for label in ["progres_1", "Progress", "porgress", "proggress2"] {
            assert_eq!(word(label), Some("progress"), "{label}");
        }
        assert_eq!((&*repaired("ENDING", "end"), &*repaired("_acept_1", "accept")), ("endING", "accept_1"));
        assert_eq!((word("End"), word("END_0")), (Some("end"), Some("end")));
        for label in ["accept", "endless", "end_1", "progressing", "ende", "sent", "send", "and", "loop", "a"]
        {
            assert_eq!(word(label), None, "{label}");
        }
        assert_eq!((word("except"), word("accepted"), word("process")), (None, None, None));
    }
}
