//! Proctypes of which there is never a process.

use super::{Findings, Model};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{ExprKind, ProctypeId, ProctypeKind, visit};
use crate::lower::activated;

const CODE: Code = Code::W0501;

pub fn lint(model: &Model, findings: &mut Findings) {
    let program = model.program;
    let mut runs = vec![Vec::new(); program.proctypes.len()];
    visit::walk_program(program, |owner, e| {
        if let (Some(owner), ExprKind::Run { proctype, .. }) = (owner, &e.kind) {
            runs[owner.index()].push((*proctype, e.span));
        }
    });
    let mut live = vec![false; program.proctypes.len()];
    let mut todo: Vec<ProctypeId> = program.active.iter().map(|a| a.proctype).collect();
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut live[id.index()], true) {
            todo.extend(runs[id.index()].iter().map(|(p, _)| *p));
        }
    }
    for (i, proctype) in program.proctypes.iter().enumerate() {
        if live[i] || proctype.kind != ProctypeKind::Proctype || model.is_kept(&proctype.name) {
            continue;
        }
        let message = format!("no process of `{}` is ever started", proctype.name);
        let mut d = Diagnostic::new(CODE, proctype.span, message);
        if let Some((_, by)) = runs.iter().flatten().find(|(p, _)| p.index() == i) {
            d = d.label(*by, "this `run` is in a proctype that is never started either");
        }
        let help = format!(
            "write `active` in front of the proctype, or `run {}(…)`; a name that begins with `_` is not reported",
            proctype.name
        );
        d.fixes.extend(activated(model.unit, |p| *p.name.name == *proctype.name));
        findings.report(d.help(help));
    }
}
