//! A variable assigned to itself.

use super::value::from_macro;
use super::{Findings, Model};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Action, Base, ExprKind};

const CODE: Code = Code::W0210;

pub fn lint(model: &Model, findings: &mut Findings) {
    for edge in model.program.proctypes.iter().flat_map(|p| &p.edges) {
        let Action::Assign(place, value) = &edge.action else { continue };
        let ExprKind::Load(from) = &value.kind else { continue };
        let same = (place.base, place.cell) == (from.base, from.cell)
            && place.base != Base::Scratch
            && place.indices.len() == from.indices.len()
            && place.indices.iter().zip(&from.indices).all(|(a, b)| model.text(a.span) == model.text(b.span));
        let spans = [edge.span, place.span, from.span];
        if !same || spans.iter().any(|&span| from_macro(model.sources, span)) {
            findings.acquit(CODE, edge.span);
            continue;
        }
        let message = format!("`{}` is assigned to itself", model.text(place.span));
        let d = Diagnostic::new(CODE, edge.span, message)
            .help("assign another value; for a statement without effect write `skip`");
        findings.report(d);
    }
}
