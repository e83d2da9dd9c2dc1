//! Which language features a model has, for the statistics of a test run.

use std::collections::BTreeSet;

use crate::model::{
    Claim, Decl, Expr, Init, MacroBody, Model, Probe, RecvArg, RecvKind, Start, Stmt, Type, Visibility,
};
use crate::walk;

/// The features that occur in a model.
pub fn features(model: &Model) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut model = model.clone();
    globals(&model, &mut found);
    processes(&model, &mut found);
    walk::stmts(&mut model, &mut |s| statement(s, &mut found));
    walk::exprs(&mut model, &mut |e| expression(e, &mut found));
    found
}

fn globals(model: &Model, found: &mut BTreeSet<&'static str>) {
    for define in &model.defines {
        found.insert(match (&define.body, define.params.is_some()) {
            (MacroBody::Empty, _) => "macro flag",
            (MacroBody::Expr(_), false) => "macro constant",
            (MacroBody::Expr(_), true) => "macro expression",
            (MacroBody::Stmt(_), _) => "macro statement",
        });
    }
    for mtype in &model.mtypes {
        found.insert(if mtype.name.is_some() { "mtype subtype" } else { "mtype" });
    }
    for typedef in &model.typedefs {
        found.insert("typedef");
        if typedef.fields.iter().any(|f| matches!(f.ty, Type::Struct(_))) {
            found.insert("typedef nested");
        }
        if typedef.fields.iter().any(|f| f.len.is_some()) {
            found.insert("typedef with array");
        }
        if typedef.fields.iter().any(|f| f.ty == Type::Chan) {
            found.insert("typedef with chan");
        }
    }
    for decl in &model.globals {
        declaration(decl, found);
    }
    if !model.inlines.is_empty() {
        found.insert("inline");
    }
    if let Some(trace) = &model.trace {
        found.insert(if trace.negated { "notrace" } else { "trace" });
    }
    match &model.claim {
        Some(Claim::Never(_)) => found.insert("never"),
        Some(Claim::Ltl(_)) => found.insert("ltl"),
        None => false,
    };
}

fn declaration(decl: &Decl, found: &mut BTreeSet<&'static str>) {
    found.insert(match decl.ty {
        Type::Bit => "bit",
        Type::Bool => "bool",
        Type::Byte => "byte",
        Type::Pid => "pid",
        Type::Short => "short",
        Type::Int => "int",
        Type::Unsigned(_) => "unsigned",
        Type::Mtype(_) => "mtype variable",
        Type::Chan => "chan variable",
        Type::Struct(_) => "struct variable",
    });
    match decl.visibility {
        Visibility::Plain => false,
        Visibility::Hidden => found.insert("hidden"),
        Visibility::Local => found.insert("local"),
        Visibility::Show => found.insert("show"),
    };
    match &decl.init {
        Init::None => {}
        Init::Expr(_) => {
            found.insert("initialiser");
        }
        Init::List(_) => {
            found.insert("initialiser list");
        }
        Init::Chan { capacity, fields } => {
            found.insert(if *capacity == 0 { "rendezvous" } else { "buffered" });
            if decl.len.is_some() {
                found.insert("chan array");
            }
            if fields.contains(&Type::Chan) {
                found.insert("chan in message");
            }
            if fields.iter().any(|f| matches!(f, Type::Struct(_))) {
                found.insert("struct in message");
            }
        }
    }
    if decl.len.is_some() && decl.ty != Type::Chan {
        found.insert(match decl.ty {
            Type::Bit | Type::Bool => "bit array",
            Type::Struct(_) => "struct array",
            _ => "array",
        });
    }
}

fn processes(model: &Model, found: &mut BTreeSet<&'static str>) {
    for proc in &model.procs {
        found.insert(match proc.start {
            Start::Init => "init",
            Start::Passive => "proctype",
            Start::Active(1) => "active",
            Start::Active(_) => "active [n]",
        });
        if proc.deterministic {
            found.insert("D_proctype");
        }
        if proc.priority.is_some() {
            found.insert("priority");
        }
        if proc.provided.is_some() {
            found.insert("provided");
        }
        for param in &proc.params {
            found.insert(match param.ty {
                Type::Chan => "parameter chan",
                Type::Struct(_) => "parameter struct",
                _ => "parameter",
            });
        }
    }
}

fn statement(stmt: &Stmt, found: &mut BTreeSet<&'static str>) {
    let name = match stmt {
        Stmt::Decl(decl) => {
            declaration(decl, found);
            "local declaration"
        }
        Stmt::Expr(Expr::Word(word)) if word == "timeout" => "timeout",
        Stmt::Expr(_) => "guard",
        Stmt::Assign(..) => "assign",
        Stmt::AssignCall(..) => "inline with result",
        Stmt::Incr(_) => "increment",
        Stmt::Decr(_) => "decrement",
        Stmt::Send { sorted: true, .. } => "sorted send",
        Stmt::Send { paren: true, .. } => "send a(b)",
        Stmt::Send { .. } => "send",
        Stmt::Recv { kind, paren, args, .. } => {
            if *paren {
                found.insert("receive a(b)");
            }
            patterns(args, found);
            match kind {
                RecvKind::First => "receive",
                RecvKind::Random => "random receive",
                RecvKind::Peek => "peek",
                RecvKind::RandomPeek => "random peek",
            }
        }
        Stmt::If(_) => "if",
        Stmt::Do(_) => "do",
        Stmt::For { .. } => "for",
        Stmt::ForIn { .. } => "for in",
        Stmt::Select { .. } => "select",
        Stmt::Atomic(_) => "atomic",
        Stmt::DStep(_) => "d_step",
        Stmt::Braces(_) => "braces",
        Stmt::Unless(..) => "unless",
        Stmt::Goto(_) => "goto",
        Stmt::Break => "break",
        Stmt::Label(name, _) => label(name),
        Stmt::Else => "else",
        Stmt::Assert(_) => "assert",
        Stmt::Printf(..) => "printf",
        Stmt::Printm(_) => "printm",
        Stmt::SetPriority(..) => "set_priority",
        Stmt::Call(..) => "call",
        Stmt::Return(_) => "return",
        Stmt::Exclusive { receive: true, .. } => "xr",
        Stmt::Exclusive { .. } => "xs",
        Stmt::Ifdef { .. } => "ifdef",
    };
    found.insert(name);
}

fn label(name: &str) -> &'static str {
    ["end", "accept", "progress"].into_iter().find(|prefix| name.starts_with(prefix)).map_or("label", |p| {
        match p {
            "end" => "end label",
            "accept" => "accept label",
            _ => "progress label",
        }
    })
}

fn patterns(args: &[RecvArg], found: &mut BTreeSet<&'static str>) {
    for arg in args {
        match arg {
            RecvArg::VariableRef(_) => {}
            RecvArg::Const(_) => {
                found.insert("receive constant");
            }
            RecvArg::Eval(_) => {
                found.insert("eval");
            }
            RecvArg::Any => {
                found.insert("receive _");
            }
        }
    }
}

fn expression(expr: &Expr, found: &mut BTreeSet<&'static str>) {
    let name = match expr {
        Expr::Num(_) | Expr::Binary(..) | Expr::Unary(..) => return,
        Expr::Word(word) => match word.as_str() {
            "_pid" => "_pid",
            "_nr_pr" => "_nr_pr",
            "_last" => "_last",
            "_priority" => "_priority",
            "np_" => "np_",
            _ => return,
        },
        Expr::VariableRef(_) => return,
        Expr::Cond(..) => "conditional expression",
        Expr::Len(_) => "len",
        Expr::Probe(Probe::Full, _) => "full",
        Expr::Probe(Probe::NFull, _) => "nfull",
        Expr::Probe(Probe::Empty, _) => "empty",
        Expr::Probe(Probe::NEmpty, _) => "nempty",
        Expr::Poll { random: false, .. } => "poll",
        Expr::Poll { random: true, .. } => "random poll",
        Expr::Run { priority: Some(_), .. } => "run with priority",
        Expr::Run { .. } => "run",
        Expr::Call(name, _) => match name.as_str() {
            "enabled" => "enabled",
            "pc_value" => "pc_value",
            "get_priority" => "get_priority",
            _ => return,
        },
        Expr::RemoteLabel { .. } => "remote label",
        Expr::RemoteVar { .. } => "remote variable",
    };
    found.insert(name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Size, generate};

    #[test]
    fn a_thousand_programs_have_every_feature() {
        let mut all = BTreeSet::new();
        for seed in 0..1000 {
            all.extend(features(&generate(seed, Size::Medium)));
        }
        let wanted = [
            "D_proctype",
            "_last",
            "_nr_pr",
            "_pid",
            "_priority",
            "accept label",
            "active",
            "active [n]",
            "array",
            "assert",
            "assign",
            "atomic",
            "bit",
            "bit array",
            "bool",
            "braces",
            "break",
            "buffered",
            "byte",
            "call",
            "chan array",
            "chan in message",
            "conditional expression",
            "d_step",
            "decrement",
            "do",
            "else",
            "empty",
            "enabled",
            "end label",
            "eval",
            "for",
            "for in",
            "full",
            "get_priority",
            "goto",
            "guard",
            "hidden",
            "if",
            "ifdef",
            "increment",
            "init",
            "initialiser",
            "initialiser list",
            "inline",
            "inline with result",
            "int",
            "len",
            "local",
            "local declaration",
            "ltl",
            "macro constant",
            "macro expression",
            "macro statement",
            "mtype subtype",
            "mtype variable",
            "nempty",
            "never",
            "nfull",
            "notrace",
            "np_",
            "parameter",
            "parameter chan",
            "parameter struct",
            "pc_value",
            "peek",
            "pid",
            "poll",
            "printf",
            "printm",
            "priority",
            "progress label",
            "proctype",
            "provided",
            "random peek",
            "random poll",
            "random receive",
            "receive",
            "receive _",
            "receive a(b)",
            "receive constant",
            "remote label",
            "remote variable",
            "rendezvous",
            "return",
            "run",
            "run with priority",
            "select",
            "send",
            "send a(b)",
            "set_priority",
            "short",
            "show",
            "sorted send",
            "struct array",
            "struct in message",
            "timeout",
            "trace",
            "typedef nested",
            "typedef with array",
            "typedef with chan",
            "unless",
            "unsigned",
            "xr",
            "xs",
        ];
        let missing: Vec<&&str> = wanted.iter().filter(|f| !all.contains(**f)).collect();
        assert!(missing.is_empty(), "never generated: {missing:?}");
    }
}
