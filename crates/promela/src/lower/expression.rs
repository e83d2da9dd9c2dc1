//! An expression that is not part of a model, but stands among its declarations: what somebody asks about a
//! state.
//!
//! The model is lowered as it always is, then the expression in the scope of a proctype: its parameters and
//! local variables are visible, those of inner blocks, too (where several have one name, the last one). So
//! the cells that it names are those of the program.

use super::{Context, Lowerer};
use crate::ast::{self, Unit};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::ir::Expr;
use crate::source::SourceMap;

/// Lowers an expression among the declarations of `unit`, seen by a process of `proctype` or by nobody.
pub fn expression(
    unit: &Unit,
    expr: &ast::Expr,
    proctype: Option<&str>,
    sources: &SourceMap,
) -> Result<Expr, Vec<Diagnostic>> {
    let mut lowerer = Lowerer::new(sources, "");
    lowerer.announce_proctypes(unit);
    lowerer.announce_globals(unit);
    unit.items.iter().for_each(|item| lowerer.item(item));
    lowerer.diagnostics.retain(|d| d.severity() == Severity::Error);
    if let Some(name) = proctype {
        lowerer.enter_proctype(name, expr);
    }
    let lowered = lowerer.expr(expr);
    lowerer.diagnostics.retain(|d| d.severity() == Severity::Error);
    if lowerer.diagnostics.is_empty() { Ok(lowered) } else { Err(lowerer.diagnostics) }
}

impl Lowerer<'_> {
    /// Makes the local variables of a proctype that was read visible.
    fn enter_proctype(&mut self, name: &str, expr: &ast::Expr) {
        let found = self.program.proctypes.iter().position(|proctype| proctype.name == name);
        let Some((index, proctype)) = found.map(|index| (index, &self.program.proctypes[index])) else {
            let message = format!("there is no proctype `{name}`");
            return self.push(Diagnostic::new(Code::E0502, expr.span, message));
        };
        let mut context = Context::new(crate::ir::ProctypeId(index as u32), proctype.kind, 0);
        for (index, local) in proctype.locals.iter().enumerate() {
            context.scopes.declare(local.name.as_str().into(), index);
        }
        context.locals.clone_from(&proctype.locals);
        context.n_cells = proctype.n_cells;
        self.context = Some(Box::new(context));
    }
}
