//! A constant that does not fit where it goes: Promela keeps the low bits and says nothing.

use super::value::{constant, scalar_name, scalar_range};
use super::{Findings, Model};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    Action, Base, Expr, ExprKind, InitStep, Place, Proctype, ProctypeId, RecvArg, Scalar, visit,
};
use crate::source::Span;

const CODE: Code = Code::W0204;

pub fn lint(model: &Model, findings: &mut Findings) {
    let program = model.program;
    init_steps(model, None, &program.init, findings);
    for (i, proctype) in program.proctypes.iter().enumerate() {
        let owner = Some(ProctypeId(i as u32));
        init_steps(model, owner, &proctype.init, findings);
        for edge in &proctype.edges {
            action(model, owner, &edge.action, findings);
        }
    }
}

fn init_steps(model: &Model, owner: Option<ProctypeId>, steps: &[InitStep], findings: &mut Findings) {
    for step in steps {
        if let InitStep::Assign(place, e) = step {
            assigned(model, owner, place, e, findings);
        }
    }
}

fn action(model: &Model, owner: Option<ProctypeId>, action: &Action, findings: &mut Findings) {
    match action {
        Action::Assign(place, e) => assigned(model, owner, place, e, findings),
        Action::Send { chan, args, .. } => {
            let Some((fields, name, declared)) = model.fields_of(owner, chan) else { return };
            for (arg, scalar) in args.iter().zip(fields) {
                let what = format!("the field of `{name}` that it is sent in");
                check(arg, *scalar, &what, declared, findings);
            }
        }
        Action::Receive { chan, args, .. } => {
            let Some((fields, name, declared)) = model.fields_of(owner, chan) else { return };
            for (arg, scalar) in args.iter().zip(fields) {
                if let RecvArg::Match(e) = arg {
                    never_matches(e, *scalar, name, declared, findings);
                }
            }
        }
        _ => {}
    }
    visit::walk_action(action, &mut |e| {
        if let ExprKind::Run { proctype, args, .. } = &e.kind {
            parameters(model.program.proctype(*proctype), args, findings);
        }
    });
}

fn assigned(model: &Model, owner: Option<ProctypeId>, place: &Place, e: &Expr, findings: &mut Findings) {
    if place.base == Base::Scratch {
        return;
    }
    let Some(var) = model.variable(owner, place) else { return };
    check(e, place.scalar, &format!("`{}`", var.name), var.span, findings);
}

fn parameters(proctype: &Proctype, args: &[Expr], findings: &mut Findings) {
    for (i, arg) in args.iter().enumerate() {
        let at = proctype.locals.partition_point(|v| v.cell <= i as u32);
        let Some(param) = at.checked_sub(1).and_then(|at| proctype.locals.get(at)) else { continue };
        if let crate::ir::Type::Scalar(scalar) = param.ty {
            let what = format!("the parameter `{}`", param.name);
            check(arg, scalar, &what, param.span, findings);
        }
    }
}

fn check(e: &Expr, scalar: Scalar, what: &str, declared: Span, findings: &mut Findings) {
    let Some(value) = constant(e) else { return };
    let kept = scalar.truncate(value);
    if kept == value {
        return;
    }
    let (low, high) = scalar_range(scalar);
    let message = format!("{value} does not fit into {what}: it becomes {kept}");
    let subject = if what.contains("field") { "the field is " } else { "" };
    let kind = format!("{subject}a {}, which holds {low} to {high}", scalar_name(scalar));
    let mut d = Diagnostic::new(CODE, e.span, message);
    if declared != e.span {
        d = d.label(declared, kind);
    }
    findings.report(d.help(repair(value, scalar, kept)));
}

/// A type that is wide enough, or the value that is meant.
fn repair(value: i32, scalar: Scalar, kept: i32) -> String {
    let wider = match scalar {
        Scalar::Mtype(_) | Scalar::Chan | Scalar::Lock | Scalar::Sema => {
            return format!("write {kept} if that is meant");
        }
        _ if (0..=255).contains(&value) => "byte",
        _ if (-32_768..=32_767).contains(&value) => "short",
        _ => "int",
    };
    format!("use `{wider}` for such values, or write {kept} if that is meant")
}

fn never_matches(e: &Expr, scalar: Scalar, channel: &str, declared: Span, findings: &mut Findings) {
    let Some(value) = constant(e) else { return };
    if scalar.truncate(value) == value {
        return;
    }
    let (low, high) = scalar_range(scalar);
    let message = format!("{value} never arrives: this field of `{channel}` is a {}", scalar_name(scalar));
    let d = Diagnostic::new(CODE, e.span, message)
        .label(declared, format!("the field holds {low} to {high}"))
        .help("receive a value that the field can hold, or give the field a wider type");
    findings.report(d);
}
