//! Statements that no run gets to: behind a jump, behind a loop that is never left, behind `false`.
//!
//! The analysis follows the structure of the text. A statement with a label that some `goto` names counts as
//! reachable. Only constants written as such count, not those that a macro gives.

use super::conditional::Conditional;
use super::value::from_macro;
use super::{Findings, Model, walk};
use crate::ast::{Block, Expr, ExprKind, Step, Stmt, StmtKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceMap, Span};
use std::collections::HashSet;

const CODE: Code = Code::W0303;

/// Why control does not get further: what is said at the place, and the repair.
type Why = (&'static str, &'static str);
const AFTER_JUMP: Why =
    ("this jumps away", "remove the statement, or put a label in front of it and jump to it");
const AFTER_FALSE: Why =
    ("this is never executable", "remove the statement, or write a condition that can be true");
const AFTER_CHOICE: Why =
    ("no option of this gets to its end", "remove the statement, or let an option go on without jumping");
const AFTER_LOOP: Why =
    ("nothing leaves this loop", "give the loop an option with `break`, or remove the statement");

pub fn lint(model: &Model, findings: &mut Findings) {
    for body in walk::bodies(model.unit) {
        let mut targets = HashSet::new();
        walk::statements(body.block, &mut |stmt| {
            if let StmtKind::Goto(label) = &stmt.kind {
                targets.insert(&*label.name);
            }
        });
        let mut walker = Walker {
            sources: model.sources,
            conditional: &model.conditional,
            targets,
            breaks: Vec::new(),
            findings,
        };
        walker.block(body.block, Reach::Live);
    }
}

/// Whether control gets to a point of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Live,
    /// It does not, because of the statement at this place; nobody was told yet.
    Dead(Span, Why),
    /// It does not, and that is reported, or is part of something that is.
    Known,
}

struct Walker<'a, 'f> {
    sources: &'a SourceMap,
    conditional: &'a Conditional,
    /// Labels that are jumped to.
    targets: HashSet<&'a str>,
    /// For each loop around: whether a `break` leaves it.
    breaks: Vec<bool>,
    findings: &'f mut Findings,
}

impl Walker<'_, '_> {
    fn block(&mut self, block: &Block, mut reach: Reach) -> Reach {
        for step in &block.steps {
            reach = match step {
                Step::Stmt(stmt) => self.stmt(stmt, reach),
                Step::Unless(main, escape) => {
                    let after = self.stmt(main, reach);
                    let start = if reach == Reach::Live { Reach::Live } else { Reach::Known };
                    let escaped = self.stmt(escape, start);
                    if escaped == Reach::Live { escaped } else { after }
                }
                Step::Decl(_) | Step::Exclusive(_) => reach,
            };
        }
        reach
    }

    /// What is reached behind a statement that is reached as `before` says.
    fn stmt(&mut self, stmt: &Stmt, before: Reach) -> Reach {
        if let StmtKind::Labeled(label, inner) = &stmt.kind {
            let before = if self.targets.contains(&*label.name) { Reach::Live } else { before };
            return match inner {
                Some(inner) => self.stmt(inner, before),
                None => before,
            };
        }
        let before = match before {
            Reach::Live => {
                self.findings.acquit(CODE, walk::beginning(stmt));
                Reach::Live
            }
            Reach::Dead(..) if self.is_harmless(stmt, before) => before,
            Reach::Dead(because, why) if !self.holds_target(stmt) => {
                self.report(stmt, because, why);
                Reach::Known
            }
            dead => dead,
        };
        self.inside(stmt, before)
    }

    /// What is reached behind a statement that control does not get past, unless that is so in this
    /// configuration only.
    fn dead(&self, stmt: &Stmt, why: Why) -> Reach {
        match self.conditional.touches(stmt.span) {
            true => Reach::Known,
            false => Reach::Dead(walk::beginning(stmt), why),
        }
    }

    /// Statements that authors and generators put where nothing is meant to arrive, and jumps behind jumps.
    fn is_harmless(&self, stmt: &Stmt, reach: Reach) -> bool {
        match &stmt.kind {
            StmtKind::Expr(e) => matches!(e.kind, ExprKind::Number(_)),
            StmtKind::Assert(e) => matches!(e.kind, ExprKind::Number(0)),
            StmtKind::Goto(_) | StmtKind::Break => matches!(reach, Reach::Dead(_, AFTER_JUMP)),
            _ => false,
        }
    }

    /// Whether a label in the statement is jumped to: then the part before that label is reported alone, if
    /// at all.
    fn holds_target(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        let mut look = |s: &Stmt| {
            if let StmtKind::Labeled(label, _) = &s.kind {
                found |= self.targets.contains(&*label.name);
            }
        };
        match &stmt.kind {
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|b| walk::statements(b, &mut look));
            }
            StmtKind::ForRange(_, _, _, b) | StmtKind::ForIn(_, _, b) => walk::statements(b, &mut look),
            StmtKind::Atomic(b) | StmtKind::DStep(b) | StmtKind::Block(b) => walk::statements(b, &mut look),
            StmtKind::Inline(inline) => walk::statements(&inline.body, &mut look),
            _ => {}
        }
        found
    }

    fn inside(&mut self, stmt: &Stmt, before: Reach) -> Reach {
        let live = before == Reach::Live;
        match &stmt.kind {
            StmtKind::Goto(_) if live => self.dead(stmt, AFTER_JUMP),
            StmtKind::Break if live => {
                if let Some(left) = self.breaks.last_mut() {
                    *left = true;
                }
                self.dead(stmt, AFTER_JUMP)
            }
            StmtKind::Expr(e) if live && self.is_false(e) => self.dead(stmt, AFTER_FALSE),
            StmtKind::If(options) => {
                let mut after = Vec::new();
                for option in options {
                    after.push(self.block(option, before));
                }
                match after.contains(&Reach::Live) {
                    true => Reach::Live,
                    false if live => self.dead(stmt, AFTER_CHOICE),
                    false => before,
                }
            }
            StmtKind::Do(options) => {
                self.breaks.push(false);
                for option in options {
                    self.block(option, before);
                }
                match self.breaks.pop() {
                    Some(true) => Reach::Live,
                    _ if live => self.dead(stmt, AFTER_LOOP),
                    _ => before,
                }
            }
            StmtKind::ForRange(_, _, _, body) | StmtKind::ForIn(_, _, body) => {
                self.breaks.push(false);
                self.block(body, before);
                match self.breaks.pop() {
                    Some(true) => Reach::Live,
                    _ => before,
                }
            }
            StmtKind::Atomic(b) | StmtKind::DStep(b) | StmtKind::Block(b) => self.block(b, before),
            StmtKind::Inline(inline) => self.block(&inline.body, before),
            _ => before,
        }
    }

    fn is_false(&self, e: &Expr) -> bool {
        matches!(e.kind, ExprKind::Number(0)) && !from_macro(self.sources, e.span)
    }

    fn report(&mut self, stmt: &Stmt, because: Span, (why, repair): Why) {
        let d = Diagnostic::new(CODE, walk::beginning(stmt), "this statement is never reached")
            .label(because, why)
            .help(repair);
        self.findings.report(d);
    }
}
