//! Warnings about models that mean something, but probably not what their author meant.
//!
//! Every lint looks at a program that lowering accepted; none changes what is accepted. What a lint says must
//! be right for every run of the model, and useful: where that cannot be known, it is silent. Lints take time
//! linear in the size of the program.
//!
//! | file | says |
//! |---|---|
//! | `truncated` | a constant that does not fit where it is stored, sent, passed or expected |
//! | `comparisons` | a comparison that the type of a variable decides; a loop that therefore never ends |
//! | `assignments` | a variable assigned to itself |
//! | `bounds` | a constant index outside of its array |
//! | `assertions` | an assertion that cannot fail, or that changes something |
//! | `unused` | variables, parameters and inlines that nothing uses, variables that are only written or never set |
//! | `channels` | channels that nobody receives from or sends to; messages of the wrong length |
//! | `processes` | proctypes that never run |
//! | `reachable` | statements that no run gets to |
//! | `selections` | `else` that is never taken, `=` where `==` was meant |
//! | `labels` | labels that look like misspelt `accept`, `end`, `progress` |
//! | `blocking` | statements that block in the middle of `atomic` or `d_step`, `timeout` in `d_step` |
//!
//! `findings` collects: text that a macro or an inline copies is reported once, and what holds for one copy
//! only is not reported. `uses`, `value`, `conditional` and `walk` are what lints share.

mod assertions;
mod assignments;
mod blocking;
mod bounds;
mod channels;
mod comparisons;
mod conditional;
mod findings;
mod labels;
mod processes;
mod reachable;
mod selections;
#[cfg(test)]
mod tests;
mod truncated;
mod unused;
mod uses;
mod value;
mod walk;

use crate::ast::Unit;
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, ExprKind, Place, ProctypeId, Program, Scalar, Var};
use crate::source::{SourceMap, Span};
use conditional::Conditional;
use findings::Findings;
use uses::{Use, Uses, VarKey};

/// What lints look at.
struct Model<'a> {
    unit: &'a Unit,
    program: &'a Program,
    sources: &'a SourceMap,
    uses: Uses,
    conditional: Conditional,
}

impl<'a> Model<'a> {
    /// The source text of a span, white space evened out.
    fn text(&self, span: Span) -> String {
        self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether a name says that it is not used on purpose, or may be used in another configuration.
    fn is_kept(&self, name: &str) -> bool {
        name.starts_with('_') || self.conditional.names(name)
    }

    /// The variable that a place belongs to.
    fn variable(&self, owner: Option<ProctypeId>, place: &Place) -> Option<&'a Var> {
        let (owner, index) = uses::variable_at(self.program, owner, place)?;
        match owner {
            None => self.program.globals.get(index),
            Some(id) => self.program.proctype(id).locals.get(index),
        }
    }

    /// Calls `visit` for every variable and what is done with it.
    fn each_variable(&self, mut visit: impl FnMut(VarKey, &'a Var, &Use)) {
        for (i, var) in self.program.globals.iter().enumerate() {
            visit((None, i), var, self.uses.of_var((None, i)));
        }
        for (p, proctype) in self.program.proctypes.iter().enumerate() {
            for (i, var) in proctype.locals.iter().enumerate() {
                let key = (Some(ProctypeId(p as u32)), i);
                visit(key, var, self.uses.of_var(key));
            }
        }
    }

    /// The message fields, the name and the declaration of a channel, where the variable is one channel for
    /// ever.
    fn fields_of(&self, owner: Option<ProctypeId>, chan: &Expr) -> Option<(&'a [Scalar], &'a str, Span)> {
        let ExprKind::Load(place) = &chan.kind else { return None };
        let key = uses::variable_at(self.program, owner, place)?;
        let u = self.uses.of_var(key);
        let ty = u.chan_type.filter(|_| u.written.is_none())?;
        let var = self.variable(owner, place)?;
        Some((&self.program.chan_types[ty.index()].fields, &var.name, var.span))
    }
}

/// Everything worth a warning in a program that lowering accepted, in the order of the text.
pub fn lint(unit: &Unit, program: &Program, sources: &SourceMap) -> Vec<Diagnostic> {
    let model = Model {
        unit,
        program,
        sources,
        uses: Uses::of(unit, program),
        conditional: Conditional::of(sources),
    };
    let mut findings = Findings::default();
    let lints: [fn(&Model<'_>, &mut Findings); 12] = [
        truncated::lint,
        comparisons::lint,
        assignments::lint,
        bounds::lint,
        assertions::lint,
        unused::lint,
        channels::lint,
        processes::lint,
        reachable::lint,
        selections::lint,
        labels::lint,
        blocking::lint,
    ];
    // C uses and changes variables in ways that nobody sees here.
    let of_control: [fn(&Model<'_>, &mut Findings); 4] =
        [truncated::lint, processes::lint, reachable::lint, labels::lint];
    let lints = if program.embedded.is_empty() { &lints[..] } else { &of_control[..] };
    for lint in lints {
        sources.stop().check();
        lint(&model, &mut findings);
    }
    findings.finish()
}
