//! What every producer of a [`Program`] guarantees and every machine may rely on.
//!
//! **Ids.** Every id is an index into its table. A field's structure comes before the structure it is in, so
//! structures are not recursive. There are at most [`MAX_PROCTYPES`] proctypes, claims and traces.
//!
//! **Cells.** A structure has fields, one behind the other from cell 0, which fill its `n_cells`; an array
//! has at least one element; `unsigned` has 1 to 32 bits. Variables lie one behind the other, from cell 0, in
//! order, and fill `n_global_cells` or the proctype's `n_cells`, at most [`MAX_CELLS`]. The parameters are
//! whole variables, the first ones, and not arrays. A channel type has at least one field and `capacity ×
//! fields` is at most [`MAX_CELLS`].
//!
//! **Places.** A global or local place lies in one variable. Going down its type, every array is taken either
//! by the next of the place's indices, whose length and stride are the array's, or by a constant that is part
//! of `cell`; all indices are used, and what remains is one cell whose scalar is the place's. So with every
//! index in 0..len the place is within the variable, and its scalar is always right. The write-only variable
//! is cell 0, without indices. `Local` does not occur where no process is: initialisation of globals,
//! invariants, formulas. The place of a remote variable is `Local` and is one of the other proctype; its
//! indices are the referring process's.
//!
//! **Initialisation** has no indices that are not constant and no `run`; a global step writes globals, a
//! local one locals; a channel is stored in a cell for channels.
//!
//! **Processes.** `active` names proctypes and `init`, `run` proctypes only; `init` has no parameters, like
//! claims and traces (Spin allows several of them). At most [`MAX_PROCTYPES`] processes are active. `run`
//! gives as many arguments as the proctype has parameter cells. Priorities are at least 1. `never` lists
//! exactly the claims, each once; `trace` is the only trace or notrace.
//!
//! **Automata.** Location 0 has neither edges nor flags. Start, targets, escapes, labels, remote labels, and
//! the entry and exit of a d_step are existing locations other than 0; only the target of [`Action::End`]
//! means nothing. Every location lists existing edges and every edge is listed. *An edge may be listed by
//! several locations, and by one several times*: an enclosing choice repeats the edges of the choices in it.
//! A location may have no edges: a process that gets there is stuck. Dead cells are cells of the proctype.
//!
//! **d_step.** Its entry and its guards, if any, are flagged `in_d_step`, its exit and target are not.
//! Walking from the entry one meets only flagged locations until the exit or the target. Flagged locations
//! list no `d_step`, `end` or `run`, and are neither the start nor the target of an edge that an unflagged
//! location lists. That a d_step ends is *not* guaranteed.
//!
//! **Expressions.** An action has at most one `run`; guards such as `provided`, invariants and formulas have
//! none. `c` names a piece of embedded C of its kind, whose proctype exists. A send, receive or poll has at least one field. `lock` and `unlock` are about locks and semaphores.
//! What `_last`, priorities (reading, setting, or one other than 1), `timeout` and `enabled` need is declared
//! in `uses` (which may declare more). Expressions, formulas and types nest at most [`MAX_NESTING`] deep.

mod automaton;
mod expr;
mod layout;
mod state_formula;

use std::fmt::Display;

use super::*;

/// The most cells that the globals, a process, a structure or a channel may have.
pub const MAX_CELLS: u32 = 1 << 24;

/// The most locations that all proctypes together may have.
pub const MAX_LOCATIONS: u32 = 1 << 20;

/// The deepest nesting of expressions, formulas and types: whatever recurs over them fits on a thread's
/// stack.
pub const MAX_NESTING: usize = 1000;

/// The most proctypes, and the most processes.
pub const MAX_PROCTYPES: usize = 255;

/// As many complaints as are kept: a broken producer breaks everything.
const MAX_ERRORS: usize = 100;

/// Checks everything that the module comment lists; the error has one sentence per broken rule and place.
pub fn verify(program: &Program) -> Result<(), Vec<String>> {
    let mut verifier =
        Verifier { program, context: String::new(), errors: Vec::new(), struct_depths: Vec::new() };
    verifier.structs();
    // Everything else looks into the structures.
    if verifier.errors.is_empty() {
        verifier.program();
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

/// The rules, and what was found broken.
struct Verifier<'a> {
    program: &'a Program,
    /// What is being looked at, for messages.
    context: String,
    errors: Vec<String>,
    /// How deeply each structure nests, as far as they have been checked.
    struct_depths: Vec<usize>,
}

impl<'a> Verifier<'a> {
    fn fail(&mut self, message: impl Display) {
        if self.errors.len() < MAX_ERRORS {
            let colon = if self.context.is_empty() { "" } else { ": " };
            self.errors.push(format!("{}{colon}{message}", self.context));
        }
    }

    fn check(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fail(message());
        }
    }

    /// Looks at `what` with `look`, so that messages say so.
    fn within(&mut self, what: impl Display, look: impl FnOnce(&mut Self)) {
        let before = self.context.len();
        if before > 0 {
            self.context.push_str(": ");
        }
        self.context.push_str(&what.to_string());
        look(self);
        self.context.truncate(before);
    }

    /// The proctype with this id, if there is one.
    fn proctype(&mut self, id: ProctypeId) -> Option<&'a Proctype> {
        let found = self.program.proctypes.get(id.index());
        if found.is_none() {
            self.fail(format!("proctype{} does not exist", id.0));
        }
        found
    }

    fn program(&mut self) {
        let program = self.program;
        self.within("globals", |v| v.vars(&program.globals, program.n_global_cells));
        for (i, chan) in program.chan_types.iter().enumerate() {
            self.within(format!("chantype{i} ({})", chan.name), |v| v.chan_type(chan));
        }
        let count = program.proctypes.len();
        self.check(count <= MAX_PROCTYPES, || format!("{count} proctypes are more than {MAX_PROCTYPES}"));
        let locations: usize = program.proctypes.iter().map(|p| p.locations.len()).sum();
        self.check(locations <= MAX_LOCATIONS as usize, || format!("{locations} locations are too many"));
        // Places and remote references are looked up in these layouts.
        for (i, proctype) in program.proctypes.iter().enumerate() {
            self.within(format!("proctype{i} ({})", proctype.name), |v| v.locals(proctype));
        }
        if !self.errors.is_empty() {
            return;
        }
        self.within("globals", |v| v.init(&program.init, None));
        for (i, proctype) in program.proctypes.iter().enumerate() {
            self.within(format!("proctype{i} ({})", proctype.name), |v| v.automaton(proctype));
        }
        for (number, piece) in program.embedded.pieces.iter().enumerate() {
            self.within(format!("c{number}"), |v| {
                if let Some(id) = piece.proctype {
                    v.proctype(id);
                }
            });
        }
        for item in &program.embedded.items {
            if let CItem::State { owner: COwner::Local(id), .. } = item {
                self.within("c_state", |v| {
                    v.proctype(*id);
                });
            }
        }
        self.active();
        self.claims();
        for invariant in &program.invariants {
            self.within(format!("invariant {}", invariant.name), |v| v.condition(&invariant.expr, None));
        }
        for promise in &program.promises {
            self.within(format!("the promise about {}", promise.text), |v| {
                let Some(proctype) = v.proctype(promise.proctype) else { return };
                v.condition(&promise.chan, Some(&proctype.locals));
            });
        }
        for ltl in &program.ltl {
            self.within(format!("ltl {}", ltl.name), |v| v.formula(&ltl.formula, 1));
        }
        for property in &program.state_properties {
            let word = property.logic.word();
            self.within(format!("{word} {}", property.name), |v| {
                v.state_formula(&property.formula, 1, &mut Vec::new());
            });
        }
    }

    fn active(&mut self) {
        let active = &self.program.active;
        self.check(active.len() <= MAX_PROCTYPES, || {
            format!("{} active processes are more than {MAX_PROCTYPES}", active.len())
        });
        for (pid, process) in active.iter().enumerate() {
            self.within(format!("active process {pid}"), |v| {
                v.priority(process.priority);
                let Some(proctype) = v.proctype(process.proctype) else { return };
                let runnable = matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init);
                v.check(runnable, || format!("`{}` cannot be active", print::kind_word(proctype.kind)));
            });
        }
    }

    /// A priority that a process is given.
    fn priority(&mut self, priority: u8) {
        self.check(priority >= 1, || "a priority is 0".to_owned());
        let declared = priority <= 1 || self.program.uses.priority;
        self.check(declared, || "priorities are not declared in `uses`".to_owned());
    }

    /// `init`, claims and traces: how many there are and who names them.
    fn claims(&mut self) {
        let program = self.program;
        let mut traces = 0;
        let mut named = vec![0usize; program.proctypes.len()];
        for id in &program.never {
            if let Some(proctype) = self.proctype(*id) {
                named[id.index()] += 1;
                let right = proctype.kind == ProctypeKind::Never;
                self.check(right, || format!("proctype{} is not a never claim", id.0));
            }
        }
        if let Some(id) = program.trace
            && let Some(proctype) = self.proctype(id)
        {
            let right = matches!(proctype.kind, ProctypeKind::Trace | ProctypeKind::NoTrace);
            self.check(right, || format!("proctype{} is not a trace", id.0));
        }
        for (i, proctype) in program.proctypes.iter().enumerate() {
            match proctype.kind {
                ProctypeKind::Proctype => continue,
                ProctypeKind::Init => {}
                ProctypeKind::Never => {
                    self.check(named[i] == 1, || {
                        format!("the claim proctype{i} is listed {} times, not once", named[i])
                    });
                }
                ProctypeKind::Trace | ProctypeKind::NoTrace => {
                    traces += 1;
                    let listed = program.trace.is_some_and(|id| id.index() == i);
                    self.check(listed, || format!("the trace proctype{i} is not listed"));
                }
            }
            self.check(proctype.n_params == 0, || {
                format!("proctype{i} has parameters, but is `{}`", print::kind_word(proctype.kind))
            });
        }
        self.check(traces <= 1, || "there is more than one trace".to_owned());
    }
}

#[cfg(test)]
mod tests;
