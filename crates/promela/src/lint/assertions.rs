//! Assertions that cannot fail, and assertions that do more than look.

use super::value::{constant, from_macro};
use super::{Findings, Model};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Action, Expr, ExprKind, visit};

const NEVER_FAILS: Code = Code::W0211;
const SIDE_EFFECT: Code = Code::W0212;

pub fn lint(model: &Model, findings: &mut Findings) {
    for edge in model.program.proctypes.iter().flat_map(|p| &p.edges) {
        let Action::Assert(e) = &edge.action else { continue };
        side_effect(e, findings);
        if constant(e).is_none_or(|value| value == 0) {
            findings.acquit(NEVER_FAILS, e.span);
        } else if !has_macro(model, e) {
            let d = Diagnostic::new(NEVER_FAILS, e.span, "this assertion never fails: it is constant")
                .help("assert something about a variable; `assert(false)` marks what must not be reached");
            findings.report(d);
        }
    }
}

/// Whether a macro, which may be defined otherwise in another run, has a part in the value.
fn has_macro(model: &Model, e: &Expr) -> bool {
    let mut found = false;
    visit::walk(e, &mut |e| found |= from_macro(model.sources, e.span));
    found
}

fn side_effect(e: &Expr, findings: &mut Findings) {
    let mut run = None;
    visit::walk(e, &mut |e| {
        if matches!(e.kind, ExprKind::Run { .. }) {
            run = Some(e.span);
        }
    });
    let Some(run) = run else { return };
    let d = Diagnostic::new(SIDE_EFFECT, run, "this assertion starts a process each time it is checked")
        .help("start the process in a statement of its own, `p = run …`, and assert something about `p`");
    findings.report(d);
}
