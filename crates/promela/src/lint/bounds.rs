//! A constant index outside of its array: an error in every run that gets there.

use super::value::constant;
use super::{Findings, Model};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Action, ExprKind, Place, ProctypeId, RecvArg, visit};

const CODE: Code = Code::W0209;

pub fn lint(model: &Model, findings: &mut Findings) {
    visit::walk_program(model.program, |owner, e| match &e.kind {
        ExprKind::Load(place) => check(model, owner, place, findings),
        ExprKind::RemoteVar { place, proctype, .. } => check(model, Some(*proctype), place, findings),
        _ => {}
    });
    for (i, proctype) in model.program.proctypes.iter().enumerate() {
        let owner = Some(ProctypeId(i as u32));
        for edge in &proctype.edges {
            match &edge.action {
                Action::Assign(place, _) | Action::Lock(place) | Action::Unlock(place) => {
                    check(model, owner, place, findings);
                }
                Action::Receive { args, .. } => {
                    for arg in args {
                        if let RecvArg::Store(place) = arg {
                            check(model, owner, place, findings);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn check(model: &Model, owner: Option<ProctypeId>, place: &Place, findings: &mut Findings) {
    for index in &place.indices {
        let Some(value) = constant(&index.value) else {
            findings.acquit(CODE, index.span);
            continue;
        };
        if (0..i64::from(index.len)).contains(&i64::from(value)) {
            findings.acquit(CODE, index.span);
            continue;
        }
        let elements =
            if index.len == 1 { "1 element".to_string() } else { format!("{} elements", index.len) };
        let message = format!("the index {value} is out of bounds: the array has {elements}");
        let mut d = Diagnostic::new(CODE, index.span, message);
        if let Some(var) = model.variable(owner, place) {
            d = d.label(var.span, format!("`{}` is declared here", var.name));
        }
        findings.report(d.help(format!("indices run from 0 to {}", index.len.saturating_sub(1))));
    }
}
