//! Tests of the parser as a whole, and what they share.
//!
//! Whether a snippet is accepted or refused was settled with Spin 6.5.2 itself, unless a comment says
//! otherwise.

mod accepted;
mod diagnostics;
mod inlines;
mod limits;
mod separators;
mod shapes;
mod state_formulas;

use super::{Dialect, Parsed, parse, test_lexer};
use crate::ast::{Block, Expr, ExprKind, Item, RecvArg, StateOp, Step, Stmt, StmtKind, VarRef};
use crate::diagnostic::Severity;
use crate::source::SourceMap;

/// Parses `text` and keeps the sources.
fn parse_text(text: &str) -> (Parsed, SourceMap) {
    let mut sources = SourceMap::new();
    let tokens = test_lexer::lex(text, &mut sources);
    let parsed = parse(tokens, Dialect::Spin, &mut sources);
    (parsed, sources)
}

/// The messages of all errors in `text`.
fn errors(text: &str) -> Vec<String> {
    let (parsed, _) = parse_text(text);
    parsed.diagnostics.iter().filter(|d| d.severity() == Severity::Error).map(|d| d.message.clone()).collect()
}

/// The tree of a model that must have no errors.
fn tree(text: &str) -> Vec<Item> {
    let shown = errors(text);
    assert!(shown.is_empty(), "{text}\n{}", shown.join("\n"));
    parse_text(text).0.unit.items
}

/// The body of the only `init` of a model.
fn init_body(text: &str) -> Block {
    let mut bodies = tree(text).into_iter().filter_map(|item| match item {
        Item::Init(init) => Some(init.body),
        _ => None,
    });
    bodies.next().expect("the model has an init")
}

/// The statements of a sequence in short form.
fn shown(text: &str) -> String {
    show_block(&init_body(text))
}

fn show_block(block: &Block) -> String {
    block.steps.iter().map(show_step).collect::<Vec<_>>().join("; ")
}

fn show_step(step: &Step) -> String {
    match step {
        Step::Decl(d) => {
            format!("decl {}", d.vars.iter().map(|v| &*v.name.name).collect::<Vec<_>>().join(","))
        }
        Step::Exclusive(e) => if e.receive { "xr" } else { "xs" }.to_string(),
        Step::Stmt(s) => show_stmt(s),
        Step::Unless(a, b) => format!("{} unless {}", show_stmt(a), show_stmt(b)),
    }
}

fn show_stmt(stmt: &Stmt) -> String {
    let options =
        |o: &[Block]| o.iter().map(|b| format!(":: {}", show_block(b))).collect::<Vec<_>>().join(" ");
    match &stmt.kind {
        StmtKind::Labeled(l, None) => format!("{}:", l.name),
        StmtKind::Labeled(l, Some(s)) => format!("{}: {}", l.name, show_stmt(s)),
        StmtKind::Assign(v, e) => format!("{} = {}", show_ref(v), show(e)),
        StmtKind::Increment(v, n) => format!("{} += {n}", show_ref(v)),
        StmtKind::Send { chan, sorted, args } => {
            let args: Vec<_> = args.iter().map(show).collect();
            format!("{}{}{}", show_ref(chan), if *sorted { "!!" } else { "!" }, args.join(","))
        }
        StmtKind::Receive { chan, random, keep, args } => {
            let sign = if *random { "??" } else { "?" };
            let args = show_recv(args);
            if *keep {
                format!("{}{sign}<{args}>", show_ref(chan))
            } else {
                format!("{}{sign}{args}", show_ref(chan))
            }
        }
        StmtKind::If(o) => format!("if {} fi", options(o)),
        StmtKind::Do(o) => format!("do {} od", options(o)),
        StmtKind::Block(b) => format!("{{ {} }}", show_block(b)),
        StmtKind::Atomic(b) => format!("atomic {{ {} }}", show_block(b)),
        StmtKind::DStep(b) => format!("d_step {{ {} }}", show_block(b)),
        StmtKind::Inline(u) => format!("{}{{ {} }}", u.name.name, show_block(&u.body)),
        StmtKind::Select(v, a, b) => format!("select({} : {}..{})", show_ref(v), show(a), show(b)),
        StmtKind::ForRange(v, a, b, body) => {
            format!("for({} : {}..{}) {{ {} }}", show_ref(v), show(a), show(b), show_block(body))
        }
        StmtKind::ForIn(v, a, body) => {
            format!("for({} in {}) {{ {} }}", show_ref(v), show_ref(a), show_block(body))
        }
        StmtKind::Goto(l) => format!("goto {}", l.name),
        StmtKind::Expr(e) => show(e),
        StmtKind::Assert(e) => format!("assert {}", show(e)),
        StmtKind::Break => "break".to_string(),
        StmtKind::Else => "else".to_string(),
        StmtKind::Lock(v) => format!("lock({})", show_ref(v)),
        StmtKind::Unlock(v) => format!("unlock({})", show_ref(v)),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap_or("").to_lowercase(),
    }
}

fn show_recv(args: &[RecvArg]) -> String {
    let one = |arg: &RecvArg| match arg {
        RecvArg::Var(v) => show_ref(v),
        RecvArg::Eval(e) => format!("eval({})", show(e)),
        RecvArg::Const(e) => format!("={}", show(e)),
    };
    args.iter().map(one).collect::<Vec<_>>().join(",")
}

fn show_ref(var: &VarRef) -> String {
    let part = |p: &crate::ast::RefPart| match &p.index {
        Some(e) => format!("{}[{}]", p.name.name, show(e)),
        None => p.name.name.to_string(),
    };
    var.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

/// An expression with all its parentheses.
fn show(expr: &Expr) -> String {
    let pid = |p: &Option<Box<Expr>>| p.as_ref().map_or(String::new(), |e| format!("[{}]", show(e)));
    match &expr.kind {
        ExprKind::Number(n) => n.to_string(),
        ExprKind::Var(v) => show_ref(v),
        ExprKind::Unary(op, e) => format!("({op:?} {})", show(e)),
        ExprKind::Binary(op, a, b) => format!("({} {op:?} {})", show(a), show(b)),
        ExprKind::Cond(c, a, b) => format!("({} ? {} : {})", show(c), show(a), show(b)),
        ExprKind::Chan(op, v) => format!("{op:?}({})", show_ref(v)),
        ExprKind::Poll { chan, random, args } => {
            format!("{}{}[{}]", show_ref(chan), if *random { "??" } else { "?" }, show_recv(args))
        }
        ExprKind::Run { proctype, args, priority } => {
            let args: Vec<_> = args.iter().map(show).collect();
            let priority = priority.as_ref().map_or(String::new(), |p| format!(" priority {}", show(p)));
            format!("run {}({}){priority}", proctype.name, args.join(","))
        }
        ExprKind::Process(op, e) => format!("{op:?}({})", show(e)),
        ExprKind::Timeout => "timeout".to_string(),
        ExprKind::NonProgress => "np_".to_string(),
        ExprKind::RemoteLabel { proctype, pid: p, label } => {
            format!("{}{}@{}", proctype.name, pid(p), label.name)
        }
        ExprKind::RemoteVar { proctype, pid: p, var } => {
            format!("{}{}:{}", proctype.name, pid(p), show_ref(var))
        }
        ExprKind::State(op) => show_state(op),
        ExprKind::Str(_) | ExprKind::EmbeddedC(_) | ExprKind::Error => "?".to_string(),
    }
}

fn show_state(op: &StateOp) -> String {
    let operands: Vec<String> = op.operands().iter().map(show).collect();
    let operands = operands.join(" ");
    match op {
        StateOp::Path { all, op, .. } => {
            format!("({}{} {operands})", if *all { "A" } else { "E" }, op.letter())
        }
        StateOp::Modal { all, steps, .. } => {
            let name = |name: &Option<crate::ast::Ident>| name.as_ref().map_or("", |n| &n.name).to_string();
            let steps = steps.as_ref().map_or_else(String::new, |steps| {
                let pid = steps.pid.as_ref().map_or_else(String::new, show);
                format!("{}:{pid}:{}", name(&steps.proctype), name(&steps.label))
            });
            if *all { format!("([{steps}] {operands})") } else { format!("(<{steps}> {operands})") }
        }
        StateOp::Fixpoint { greatest, variable, .. } => {
            format!("({} {}. {operands})", if *greatest { "nu" } else { "mu" }, variable.name)
        }
    }
}
