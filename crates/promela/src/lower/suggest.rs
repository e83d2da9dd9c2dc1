//! Names that are not known: what was probably meant, and where it is declared.
//!
//! Each unknown name is reported once per proctype, and not at all if its declaration had errors of its own.

use super::Lowerer;
use crate::ast::{Ident, Item, Proctype, Unit};
use crate::diagnostic::{Code, Diagnostic, Fix, nearest};
use crate::ir::{ProctypeId, ProctypeKind};
use crate::source::Span;
use std::sync::Arc;

/// Words that can stand where a variable can.
const WORDS: &[&str] = &[
    "true", "false", "else", "skip", "break", "timeout", "_pid", "_nr_pr", "_last", "len", "run", "empty",
    "full", "nempty", "nfull",
];

/// Starts the first proctype that fits with `active`, unless it has parameters.
pub(crate) fn activated(unit: &Unit, fits: impl Fn(&Proctype) -> bool) -> Option<Fix> {
    let first = unit.items.iter().find_map(|item| match item {
        Item::Proctype(p) if fits(p) => Some(p),
        _ => None,
    });
    first.filter(|p| p.params.is_empty()).map(|p| Fix::insert_before(p.span, "active "))
}

impl Lowerer<'_> {
    /// Remembers where global variables are declared: a use in front of the declaration can say so.
    pub(super) fn announce_globals(&mut self, unit: &Unit) {
        for item in &unit.items {
            if let Item::Decl(decl) = item {
                for var in &decl.vars {
                    self.later.entry(var.name.name.clone()).or_insert(var.name.span);
                }
            }
        }
    }

    /// Whether nothing can be said about a name, because the text that may declare it has errors.
    pub(super) fn doubted(&self, name: &str) -> bool {
        self.doubtful.contains(name) || self.poisoned.contains(name)
    }

    /// Reports a variable that is not declared, or not visible here.
    pub(super) fn undeclared(&mut self, name: &Ident) {
        let place = self.context.as_ref().map(|c| c.proctype);
        if self.doubted(&name.name) || !self.told.insert((place, name.name.clone())) || self.full() {
            return;
        }
        let d = Diagnostic::new(Code::E0221, name.span, format!("undeclared variable `{}`", name.name));
        let d = self.explain_undeclared(d, &name.name);
        self.push(d);
    }

    fn explain_undeclared(&self, d: Diagnostic, name: &Arc<str>) -> Diagnostic {
        if let Some(&span) = self.later.get(name) {
            return d
                .label(span, "declared here, behind its use")
                .help("a variable must be declared before it is used: move the declaration up");
        }
        let own = self.context.iter().flat_map(|c| c.locals.iter()).find(|v| *v.name == **name);
        if let Some(var) = own {
            return d.label(var.span, "declared in another block").help(
                "a variable is visible only in the block that declares it: move the declaration out of it",
            );
        }
        if let Some((owner, span)) = self.local_elsewhere(name) {
            let help = if self.in_claim {
                format!("write `{owner}:{name}`, or make the variable global")
            } else {
                "make the variable global, or send its value on a channel".to_string()
            };
            return d.label(span, format!("local to the proctype `{owner}`")).help(help);
        }
        if &**name == "null" || &**name == "NULL" || &**name == "nil" {
            return d.help("Promela has no null: use a number such as 0");
        }
        match self.nearest_variable(name) {
            Some((near, span)) => {
                let d = d.meant(name, &near);
                match span {
                    Some(span) => d.label(span, format!("`{near}` is declared here")),
                    None => d,
                }
            }
            None => d.help(format!("declare it before this, for example `byte {name};`")),
        }
    }

    /// A local variable of this name in another proctype.
    fn local_elsewhere(&self, name: &str) -> Option<(String, Span)> {
        self.program
            .proctypes
            .iter()
            .filter(|p| p.kind == ProctypeKind::Proctype)
            .find_map(|p| p.locals.iter().find(|v| *v.name == *name).map(|v| (p.name.clone(), v.span)))
    }

    /// The visible variable or constant with the nearest name: inner ones first.
    fn nearest_variable(&self, name: &str) -> Option<(String, Option<Span>)> {
        let context = self.context.as_ref();
        let locals = context.iter().flat_map(|c| c.locals.iter());
        let visible = locals.filter(|v| context.is_some_and(|c| c.scopes.find(&v.name).is_some()));
        let globals = self.program.globals.iter();
        let names = visible.chain(globals).map(|v| v.name.as_str());
        let constants = self.program.mtypes.iter().flat_map(|m| m.values.iter().map(|v| v.0.as_str()));
        let near = nearest(name, names.chain(constants).chain(WORDS.iter().copied()))?;
        Some((near.to_string(), self.span_of(near)))
    }

    pub(super) fn span_of(&self, name: &str) -> Option<Span> {
        let context = self.context.as_ref();
        let local = context.and_then(|c| c.scopes.find(name).map(|(_, i)| c.locals[*i].span));
        let global = || self.globals.get(name).map(|(i, _)| self.program.globals[*i].span);
        local.or_else(global).or_else(|| self.constants.get(name).map(|c| c.2))
    }

    /// Reports a proctype that does not exist.
    pub(super) fn no_proctype(&mut self, name: &Ident) {
        if self.doubted(&name.name) || self.full() {
            return;
        }
        let mut d = Diagnostic::new(Code::E0502, name.span, format!("there is no proctype `{}`", name.name));
        let known = self.program.proctypes.iter().filter(|p| p.kind == ProctypeKind::Proctype);
        if let Some(near) = nearest(&name.name, known.map(|p| p.name.as_str())) {
            let span = self.program.proctypes.iter().find(|p| p.name == near).map(|p| p.span);
            d = d.meant(&name.name, near);
            if let Some(span) = span.filter(|s| *s != Span::NONE) {
                d = d.label(span, format!("`{near}` is declared here"));
            }
        } else if self.globals.contains_key(&name.name) {
            d = d.help("this is a variable; only a proctype can be run");
        } else {
            d = d.help(format!("declare it: `proctype {}() {{ … }}`", name.name));
        }
        self.push(d);
    }

    /// Reports that a proctype has no such variable.
    pub(super) fn no_remote_variable(&mut self, proctype: ProctypeId, name: &Ident) {
        if self.doubted(&name.name) || self.full() {
            return;
        }
        let owner = self.program.proctype(proctype);
        let message = format!("proctype `{}` has no variable `{}`", owner.name, name.name);
        let known: Vec<&str> = owner.locals.iter().map(|v| v.name.as_str()).collect();
        let d = Diagnostic::new(Code::E0236, name.span, message).label(owner.span, "the proctype");
        let d = match nearest(&name.name, known.iter().copied()) {
            Some(near) => d.meant(&name.name, near),
            None if known.is_empty() => {
                d.help("it has no local variables; globals are named without the proctype")
            }
            None => d.help(format!("its variables are: {}", super::names::shortened(&known))),
        };
        self.push(d);
    }

    /// Says which label of the proctype may have been meant by `label`.
    pub(super) fn suggest_label(&self, d: Diagnostic, proctype: ProctypeId, label: &str) -> Diagnostic {
        let own = self.context.as_ref().filter(|c| c.proctype == proctype).map(|c| &c.flow);
        let Some(flow) = own.or_else(|| self.flows.get(&proctype)) else { return d };
        let near = nearest(label, flow.label_names().map(|(name, _)| &**name));
        match flow.label_names().find(|(name, _)| Some(&***name) == near) {
            Some((name, span)) => d.label(span, format!("`{name}` is here")).meant(label, name),
            None => d,
        }
    }
}
