//! Statements that can block in the middle of an indivisible sequence: `atomic` is interrupted there,
//! `d_step` fails.
//!
//! The first statement of a sequence may block: then the sequence has not begun. A selection cannot block
//! when it has an `else`, an option that is always executable, or options that are seen to cover all cases.

use super::selections::{always_executable, head};
use super::{Findings, Model, walk};
use crate::ast::{BinaryOp, Block, ChanOp, Expr, ExprKind, Step, Stmt, StmtKind, UnaryOp, VarRef};
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::source::Span;
use std::collections::HashSet;

const D_STEP_WORD: &str = "d_step";

const ATOMIC: Code = Code::W0307;
const D_STEP: Code = Code::W0308;
const TIMEOUT: Code = Code::W0309;

pub fn lint(model: &Model, findings: &mut Findings) {
    let rendezvous = rendezvous_names(model);
    for body in walk::bodies(model.unit) {
        if body.owner == walk::Owner::Process {
            Walker { model, findings, inside: None, rendezvous: &rendezvous }.block(body.block, true);
        }
    }
}

/// The names that stand for nothing but rendezvous channels.
fn rendezvous_names<'a>(model: &Model<'a>) -> HashSet<&'a str> {
    let (mut names, mut others) = (HashSet::new(), HashSet::new());
    model.each_variable(|_, var, u| {
        let capacity = u.chan_type.map(|ty| model.program.chan_types[ty.index()].capacity);
        let known = u.written.is_none() && capacity == Some(0);
        if known {
            names.insert(&*var.name)
        } else {
            others.insert(&*var.name)
        };
    });
    &names - &others
}

/// The innermost indivisible sequence.
#[derive(Clone, Copy)]
struct Inside {
    d_step: bool,
    span: Span,
}

struct Walker<'m, 'f> {
    model: &'m Model<'m>,
    findings: &'f mut Findings,
    inside: Option<Inside>,
    /// Names of rendezvous channels.
    rendezvous: &'m HashSet<&'m str>,
}

impl Walker<'_, '_> {
    /// Looks through a sequence; `first` when the indivisible sequence begins with it.
    fn block(&mut self, block: &Block, mut first: bool) {
        for step in &block.steps {
            match step {
                Step::Stmt(stmt) => {
                    self.stmt(stmt, first);
                    first = false;
                }
                Step::Unless(main, escape) => {
                    self.stmt(main, first);
                    self.stmt(escape, true);
                    first = false;
                }
                Step::Decl(_) | Step::Exclusive(_) => {}
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, first: bool) {
        let stmt = walk::unlabelled(stmt);
        match &stmt.kind {
            StmtKind::Atomic(b) => self.indivisible(b, walk::beginning(stmt), false, first),
            StmtKind::DStep(b) => self.indivisible(b, walk::beginning(stmt), true, first),
            StmtKind::Block(b) => self.block(b, first),
            StmtKind::Inline(inline) => self.block(&inline.body, first),
            StmtKind::ForRange(_, _, _, b) | StmtKind::ForIn(_, _, b) => self.block(b, false),
            StmtKind::If(options) | StmtKind::Do(options) => self.selection(stmt, options, first),
            _ => self.simple(stmt, first),
        }
    }

    fn indivisible(&mut self, block: &Block, span: Span, d_step: bool, first: bool) {
        // A sequence inside another one is part of it; a d_step is so even inside atomic.
        let (outer, first) = match self.inside {
            Some(outer) => (Some(outer), first),
            None => (None, true),
        };
        self.inside = match outer {
            Some(outer) if outer.d_step || !d_step => Some(outer),
            _ => Some(Inside { d_step, span }),
        };
        self.block(block, first);
        self.inside = outer;
    }

    fn selection(&mut self, stmt: &Stmt, options: &[Block], first: bool) {
        if self.inside.is_some() && !first && !self.covers_all(options) {
            let what = if matches!(stmt.kind, StmtKind::Do(_)) { "do" } else { "if" };
            let repair = "add `:: else -> …`, or a condition for every case";
            self.report(
                walk::beginning(stmt),
                &format!("this `{what}` blocks when no option is executable"),
                repair,
            );
        }
        for option in options {
            self.block(option, true);
        }
    }

    fn simple(&mut self, stmt: &Stmt, first: bool) {
        let Some(inside) = self.inside else { return };
        if inside.d_step {
            let mut has_timeout = false;
            walk::expressions(stmt, &mut |e| {
                walk::deep(e, &mut |e| has_timeout |= self.timeout(e, inside));
            });
            if has_timeout {
                return;
            }
        }
        if first {
            return;
        }
        match &stmt.kind {
            StmtKind::Expr(e) if !self.always(e) => {
                let repair = "make it the first statement of the sequence, or write `if :: … :: else … fi`";
                self.report(stmt.span, "this condition can block", repair);
            }
            // Other messages may be meant to wait inside atomic, and may be known not to wait inside d_step.
            StmtKind::Send { chan, .. } | StmtKind::Receive { chan, .. }
                if inside.d_step && self.is_rendezvous(chan) =>
            {
                let repair = "give the channel a capacity, or use `atomic`";
                self.report(stmt.span, "a rendezvous is not possible here", repair);
            }
            _ => {}
        }
    }

    fn is_rendezvous(&self, chan: &VarRef) -> bool {
        matches!(&chan.parts[..], [part] if self.rendezvous.contains(&*part.name.name))
    }

    /// Reports a `timeout`; whether it is one.
    fn timeout(&mut self, e: &Expr, inside: Inside) -> bool {
        let is_timeout = matches!(e.kind, ExprKind::Timeout);
        if is_timeout {
            let d = Diagnostic::new(
                TIMEOUT,
                e.span,
                "`timeout` inside a d_step, which looks at no other process",
            )
            .label(inside.span, "this is the d_step")
            .help("wait for the timeout in front of the d_step: `timeout -> d_step { … }`");
            self.findings.report(d);
        }
        is_timeout
    }

    /// Conditions that do not block, or that are meant to block forever.
    fn always(&self, e: &Expr) -> bool {
        matches!(e.kind, ExprKind::Number(_) | ExprKind::Run { .. })
    }

    fn report(&mut self, span: Span, blocked: &str, repair: &str) {
        let Some(inside) = self.inside else { return };
        let (code, then, what) = match inside.d_step {
            true => (D_STEP, "that is a run-time error inside d_step", "this is the d_step"),
            false => (ATOMIC, "the atomic sequence is then interrupted", "this is the atomic sequence"),
        };
        let mut d = Diagnostic::new(code, span, format!("{blocked}: {then}"));
        let sources = self.model.sources;
        if sources.site(span) != sources.site(inside.span) {
            d = d.label(inside.span, what);
        }
        if inside.d_step {
            let word = Span { end: inside.span.start + D_STEP_WORD.len() as u32, ..inside.span };
            d = d.fix(Fix::replace(word, D_STEP_WORD, "atomic"));
        }
        self.findings.report(d.help(repair));
    }

    /// Whether some option of a selection is seen to be executable in every state.
    fn covers_all(&self, options: &[Block]) -> bool {
        let heads: Vec<&Stmt> = options.iter().filter_map(head).collect();
        let surely = |h: &&Stmt| match &h.kind {
            StmtKind::Else => true,
            StmtKind::Expr(e) => self.always(e) && !matches!(e.kind, ExprKind::Number(0)),
            // A selection at the beginning of an option is looked at on its own.
            StmtKind::If(inner) | StmtKind::Do(inner) => self.covers_all(inner),
            _ => always_executable(self.model.sources, h),
        };
        let waits = |h: &&Stmt| matches!(h.kind, StmtKind::Send { .. } | StmtKind::Receive { .. });
        let may_wait = self.inside.is_some_and(|inside| !inside.d_step);
        if heads.iter().any(surely) || may_wait && heads.iter().any(waits) {
            return true;
        }
        let mut facts = HashSet::new();
        let mut compared = HashSet::new();
        for head in &heads {
            let mut own = Vec::new();
            self.facts(head, &mut own);
            for fact in &own {
                if opposites(fact).iter().any(|o| facts.contains(o)) {
                    return true;
                }
                // Two values of the same variable: the author goes through its values.
                if fact.1 == Op::Eq && compared.contains(&fact.0) {
                    return true;
                }
            }
            compared.extend(own.iter().filter(|f| f.1 == Op::Eq).map(|f| f.0.clone()));
            facts.extend(own);
        }
        false
    }

    /// What must hold for a statement to be executable, as far as it can be said simply. Of several
    /// conditions each counts: an author who distinguishes cases by one of them has the others in mind.
    fn facts(&self, stmt: &Stmt, out: &mut Vec<Fact>) {
        match &stmt.kind {
            StmtKind::Expr(e) => self.conjuncts(e, out),
            StmtKind::Send { chan, .. } => {
                out.push((format!("full {}", self.model.text(chan.span)), Op::Eq, "0".into()));
            }
            StmtKind::Receive { chan, .. } => {
                out.push((format!("empty {}", self.model.text(chan.span)), Op::Eq, "0".into()));
            }
            _ => {}
        }
    }

    fn conjuncts(&self, e: &Expr, out: &mut Vec<Fact>) {
        if let ExprKind::Binary(BinaryOp::And, a, b) = &e.kind {
            self.conjuncts(a, out);
            self.conjuncts(b, out);
        } else {
            out.push(self.fact(e));
        }
    }

    /// A condition as left side, operator, right side.
    fn fact(&self, e: &Expr) -> Fact {
        let text = |e: &Expr| self.model.text(e.span).replace(['(', ')', ' '], "");
        match &e.kind {
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (text(a), text(b));
                match op {
                    BinaryOp::Eq => (a, Op::Eq, b),
                    BinaryOp::Ne => (a, Op::Ne, b),
                    BinaryOp::Lt => (a, Op::Lt, b),
                    BinaryOp::Le => (a, Op::Le, b),
                    BinaryOp::Gt => (b, Op::Lt, a),
                    BinaryOp::Ge => (b, Op::Le, a),
                    _ => (text(e), Op::Ne, "0".into()),
                }
            }
            ExprKind::Unary(UnaryOp::Not, a) => match self.fact(a) {
                (a, Op::Ne, b) => (a, Op::Eq, b),
                (a, Op::Eq, b) => (a, Op::Ne, b),
                (a, Op::Lt, b) => (b, Op::Le, a),
                (a, Op::Le, b) => (b, Op::Lt, a),
            },
            ExprKind::Chan(op, r) => {
                let chan = self.model.text(r.span);
                match op {
                    ChanOp::Len => (text(e), Op::Ne, "0".into()),
                    ChanOp::Full => (format!("full {chan}"), Op::Ne, "0".into()),
                    ChanOp::Nfull => (format!("full {chan}"), Op::Eq, "0".into()),
                    ChanOp::Empty => (format!("empty {chan}"), Op::Ne, "0".into()),
                    ChanOp::Nempty => (format!("empty {chan}"), Op::Eq, "0".into()),
                }
            }
            _ => (text(e), Op::Ne, "0".into()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Op {
    Eq,
    Ne,
    Lt,
    Le,
}

type Fact = (String, Op, String);

/// Conditions which, with this one, leave out nothing that an author thinks of: its negation; and for an
/// order also equality, which ends a loop that counts.
fn opposites((a, op, b): &Fact) -> Vec<Fact> {
    let (a, b) = (a.clone(), b.clone());
    match op {
        Op::Eq => vec![
            (a.clone(), Op::Ne, b.clone()),
            (b.clone(), Op::Ne, a.clone()),
            (a.clone(), Op::Lt, b.clone()),
            (b, Op::Lt, a),
        ],
        Op::Ne => vec![(a.clone(), Op::Eq, b.clone()), (b, Op::Eq, a)],
        Op::Lt => vec![(b.clone(), Op::Le, a.clone()), (a.clone(), Op::Eq, b.clone()), (b, Op::Eq, a)],
        Op::Le => vec![(b, Op::Lt, a)],
    }
}
