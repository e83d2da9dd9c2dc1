//! What is declared and not used: variables, parameters, inlines; what is written and never read; what is
//! never set.
//!
//! A variable that nothing reads is a sign that something was forgotten; where it is part of the state (in
//! Spin, or with `--opt none`) it also makes states different.

use super::uses::{Use, VarKey};
use super::{Findings, Model, walk};
use crate::ast::{Item, StmtKind};
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::ir::{Scalar, Type, Var};
use crate::lower::predefined;
use crate::source::FileId;
use std::collections::HashSet;

const UNUSED: Code = Code::W0205;
const NEVER_READ: Code = Code::W0206;
const PARAMETER: Code = Code::W0207;
const NEVER_SET: Code = Code::W0213;
const INLINE: Code = Code::W0214;

pub fn lint(model: &Model, findings: &mut Findings) {
    model.each_variable(|key, var, u| {
        if model.is_kept(&var.name) || model.uses.is_mentioned(var) || var.hidden || var.name == "STDIN" {
            return;
        }
        variable(model, key, var, u, findings);
    });
    inlines(model, findings);
}

fn variable(model: &Model, key: VarKey, var: &Var, u: &Use, findings: &mut Findings) {
    let name = &var.name;
    let is_param = key.0.is_some_and(|p| var.cell < model.program.proctype(p).n_params);
    let what = if is_chan(&var.ty) { "channel" } else { "variable" };
    let d = match (u.read, u.written) {
        (false, _) if is_param => {
            Diagnostic::new(PARAMETER, var.span, format!("the parameter `{name}` is never used"))
                .help(format!("remove it, or call it `{}` to keep it", kept(name)))
                .fix(Fix::replace(var.span, name, kept(name)).safe())
        }
        (false, None) => Diagnostic::new(UNUSED, var.span, format!("the {what} `{name}` is never used"))
            .help(format!("remove it, or call it `{}` to keep it", kept(name)))
            .fix(Fix::replace(var.span, name, kept(name)).safe()),
        (false, Some(written)) => {
            let message = format!("the {what} `{name}` is given values, but never read");
            let d = Diagnostic::new(NEVER_READ, var.span, message).label(written, "a value is written here");
            match u.received {
                Some(_) => d.help("receive into `_` what is not needed"),
                None => d.help(format!("remove it, or call it `{}` to keep it", kept(name))),
            }
        }
        (true, None) if never_set(var, u) && !is_param => never_set_finding(var),
        _ => {
            for code in [UNUSED, NEVER_READ, PARAMETER, NEVER_SET] {
                findings.acquit(code, var.span);
            }
            return;
        }
    };
    findings.report(d);
}

/// A name that is not reported: it begins with `_`, and is not one that the language uses.
fn kept(name: &str) -> String {
    let kept = format!("_{name}");
    if predefined(&kept).is_some() { format!("_unused_{name}") } else { kept }
}

fn never_set_finding(var: &Var) -> Diagnostic {
    let name = &var.name;
    if is_chan(&var.ty) {
        let message = format!("the channel `{name}` is used, but never becomes one");
        return Diagnostic::new(NEVER_SET, var.span, message)
            .help(format!("create it: `chan {name} = [1] of {{ byte }}`"));
    }
    let message = format!("the variable `{name}` is read, but never given a value: it is always 0");
    Diagnostic::new(NEVER_SET, var.span, message)
        .help("assign to it, or give it an initial value (`= 0` if that is meant)")
}

fn is_chan(ty: &Type) -> bool {
    match ty {
        Type::Scalar(scalar) => *scalar == Scalar::Chan,
        Type::Array(element, _) => is_chan(element),
        Type::Struct(_) => false,
    }
}

/// Structures may be set by fields, locks by their statements.
fn never_set(var: &Var, u: &Use) -> bool {
    let element = match &var.ty {
        Type::Array(element, _) => element,
        other => other,
    };
    !u.initialised && matches!(element, Type::Scalar(s) if !matches!(s, Scalar::Lock | Scalar::Sema))
}

/// Inlines of the model itself; those of an included file are a library.
fn inlines(model: &Model, findings: &mut Findings) {
    let mut used = HashSet::new();
    for body in walk::bodies(model.unit) {
        walk::statements(body.block, &mut |stmt| {
            if let StmtKind::Inline(inline) = &stmt.kind {
                used.insert(&*inline.name.name);
            }
        });
    }
    for item in &model.unit.items {
        let Item::Inline(inline) = item else { continue };
        let name = &inline.name;
        if used.contains(&*name.name) || model.is_kept(&name.name) || name.span.file != FileId(0) {
            continue;
        }
        let d = Diagnostic::new(INLINE, name.span, format!("the inline `{}` is never used", name.name))
            .help(format!("remove it, or call it `{}` to keep it", kept(&name.name)))
            .fix(Fix::replace(name.span, &*name.name, kept(&name.name)).safe());
        findings.report(d);
    }
}
