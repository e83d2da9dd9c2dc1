//! Rules about expressions, actions and formulas.
//!
//! `locals` are the variables of the process in whose context something is evaluated, where there is one.

use super::*;

/// How many `run`s an action may have.
const MAX_RUNS: usize = 1;

impl Verifier<'_> {
    /// An expression in which nothing may happen.
    pub(super) fn condition(&mut self, expr: &Expr, locals: Option<&[Var]>) {
        let runs = self.expr(expr, locals, 1);
        self.check(runs == 0, || "`run` is not allowed here".to_owned());
    }

    pub(super) fn formula(&mut self, formula: &Formula, depth: usize) {
        if depth > MAX_NESTING {
            return self.fail(format!("nested more than {MAX_NESTING} deep"));
        }
        match formula {
            Formula::Prop(expr) => {
                let runs = self.expr(expr, None, depth + 1);
                self.check(runs == 0, || "`run` is not allowed here".to_owned());
            }
            Formula::Not(f) | Formula::Next(f) | Formula::Always(f) | Formula::Eventually(f) => {
                self.formula(f, depth + 1);
            }
            Formula::And(f, g)
            | Formula::Or(f, g)
            | Formula::Implies(f, g)
            | Formula::Equiv(f, g)
            | Formula::Until(f, g)
            | Formula::WeakUntil(f, g)
            | Formula::Release(f, g) => {
                self.formula(f, depth + 1);
                self.formula(g, depth + 1);
            }
        }
    }

    /// An action, apart from its locations; returns how many `run`s it has.
    pub(super) fn action(&mut self, action: &Action, locals: Option<&[Var]>) -> usize {
        let runs = match action {
            Action::Skip | Action::Else | Action::End | Action::DStep { .. } => 0,
            Action::C(piece) => {
                self.piece(*piece, true);
                0
            }
            Action::Guard(expr) | Action::Assert(expr) => self.expr(expr, locals, 1),
            Action::Assign(place, value) => self.place(place, locals, 0) + self.expr(value, locals, 1),
            Action::Send { chan, args, .. } => {
                self.check(!args.is_empty(), || "a send without fields".to_owned());
                self.expr(chan, locals, 1) + self.exprs(args, locals, 1)
            }
            Action::Receive { chan, args, .. } | Action::Event { chan, args, .. } => {
                self.expr(chan, locals, 1) + self.recv_args(args, locals, 0)
            }
            Action::Printf(_, args) => self.exprs(args, locals, 1),
            Action::Printm(expr, set) => {
                if let Some(set) = set {
                    self.mtype(*set);
                }
                self.expr(expr, locals, 1)
            }
            Action::SetPriority(pid, priority) => {
                self.check(self.program.uses.priority, || undeclared("priority"));
                self.expr(pid, locals, 1) + self.expr(priority, locals, 1)
            }
            Action::Lock(place) | Action::Unlock(place) => {
                let lockable = matches!(place.scalar, Scalar::Lock | Scalar::Sema);
                self.check(lockable, || "only locks and semaphores are taken and released".to_owned());
                self.place(place, locals, 0)
            }
        };
        self.check(runs <= MAX_RUNS, || format!("{runs} times `run` in one action"));
        runs
    }

    fn exprs(&mut self, exprs: &[Expr], locals: Option<&[Var]>, depth: usize) -> usize {
        exprs.iter().map(|expr| self.expr(expr, locals, depth)).sum()
    }

    /// The fields of a receive or a poll that is itself nested `depth` deep.
    fn recv_args(&mut self, args: &[RecvArg], locals: Option<&[Var]>, depth: usize) -> usize {
        self.check(!args.is_empty(), || "a receive or poll without fields".to_owned());
        let mut runs = 0;
        for arg in args {
            runs += match arg {
                RecvArg::Ignore => 0,
                RecvArg::Store(place) => self.place(place, locals, depth),
                RecvArg::Match(expr) => self.expr(expr, locals, depth + 1),
            };
        }
        runs
    }

    /// A place in something that is nested `depth` deep.
    fn place(&mut self, place: &Place, locals: Option<&[Var]>, depth: usize) -> usize {
        self.place_cell(place, locals);
        self.indices(place, locals, depth)
    }

    fn indices(&mut self, place: &Place, locals: Option<&[Var]>, depth: usize) -> usize {
        place.indices.iter().map(|index| self.expr(&index.value, locals, depth + 1)).sum()
    }

    /// An expression that is nested `depth` deep (1 at the top); returns how many `run`s it has.
    pub(super) fn expr(&mut self, expr: &Expr, locals: Option<&[Var]>, depth: usize) -> usize {
        if depth > MAX_NESTING {
            self.fail(format!("nested more than {MAX_NESTING} deep"));
            return 0;
        }
        let inner = depth + 1;
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Pid | ExprKind::NrPr | ExprKind::NonProgress => 0,
            ExprKind::Last | ExprKind::Priority | ExprKind::Timeout => {
                self.declared(&expr.kind);
                0
            }
            ExprKind::C(piece) => {
                self.piece(*piece, false);
                0
            }
            ExprKind::Load(place) => self.place(place, locals, depth),
            ExprKind::Unary(_, operand) | ExprKind::Chan(_, operand) | ExprKind::PcValue(operand) => {
                self.expr(operand, locals, inner)
            }
            ExprKind::Enabled(pid) | ExprKind::GetPriority(pid) => {
                self.declared(&expr.kind);
                self.expr(pid, locals, inner)
            }
            ExprKind::Binary(_, left, right) => {
                self.expr(left, locals, inner) + self.expr(right, locals, inner)
            }
            ExprKind::Cond(test, yes, no) => {
                self.expr(test, locals, inner) + self.expr(yes, locals, inner) + self.expr(no, locals, inner)
            }
            ExprKind::Poll { chan, args, .. } => {
                self.expr(chan, locals, inner) + self.recv_args(args, locals, depth)
            }
            ExprKind::Run { proctype, args, priority } => {
                self.run(*proctype, args.len(), *priority);
                1 + self.exprs(args, locals, inner)
            }
            ExprKind::RemoteLabel { proctype, pid, location } => {
                self.remote_label(*proctype, *location);
                pid.as_ref().map_or(0, |pid| self.expr(pid, locals, inner))
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                self.remote_var(*proctype, place);
                self.indices(place, locals, depth)
                    + pid.as_ref().map_or(0, |pid| self.expr(pid, locals, inner))
            }
        }
    }

    /// What needs a mechanism that a machine may otherwise leave out.
    fn declared(&mut self, kind: &ExprKind) {
        let uses = self.program.uses;
        let (declared, word) = match kind {
            ExprKind::Last => (uses.last, "last"),
            ExprKind::Priority | ExprKind::GetPriority(_) => (uses.priority, "priority"),
            ExprKind::Timeout => (uses.timeout, "timeout"),
            ExprKind::Enabled(_) => (uses.enabled, "enabled"),
            _ => return,
        };
        self.check(declared, || undeclared(word));
    }

    /// A piece of embedded C is one of the program, and of the kind that is named.
    fn piece(&mut self, number: u32, statement: bool) {
        let piece = self.program.embedded.pieces.get(number as usize);
        self.check(piece.is_some_and(|piece| piece.statement == statement), || {
            format!("c{number} is no {} of the program", if statement { "c_code" } else { "c_expr" })
        });
    }

    fn run(&mut self, id: ProctypeId, n_args: usize, priority: u8) {
        self.priority(priority);
        let Some(proctype) = self.proctype(id) else { return };
        let (kind, n_params) = (proctype.kind, proctype.n_params as usize);
        self.check(kind == ProctypeKind::Proctype, || format!("`run` of `{}`", print::kind_word(kind)));
        self.check(n_args == n_params, || {
            format!("`run` of {} with {n_args} arguments for {n_params} parameters", proctype.name)
        });
    }

    fn remote_label(&mut self, id: ProctypeId, location: LocId) {
        let Some(proctype) = self.proctype(id) else { return };
        self.location_exists(proctype, location, "a remote label");
    }

    fn remote_var(&mut self, id: ProctypeId, place: &Place) {
        let Some(proctype) = self.proctype(id) else { return };
        if place.base == Base::Local {
            self.place_cell(place, Some(&proctype.locals));
        } else {
            self.fail("a remote variable is not local");
        }
    }
}

fn undeclared(word: &str) -> String {
    format!("`{word}` is not declared in `uses`")
}
