//! Makes a failing program smaller while it still fails. Shrinking is structural: parts are dropped, nested
//! statements unwrapped, expressions replaced by their parts. It knows nothing of types; a candidate that no
//! longer makes sense is refused by both tools and so does not fail any more.

use crate::model::{Block, Expr, Init, Model, RecvArg, RecvKind, Start, Stmt, Type, Visibility};
use crate::walk;

/// An edit: applies its `k`-th possibility, or answers `false` when it has fewer than `k`.
type Edit = fn(&mut Model, usize) -> bool;

const EDITS: [Edit; 8] = [
    drop_item,
    drop_stmt,
    drop_option,
    unwrap_stmt,
    simplify_proc,
    simplify_stmt,
    simplify_decl,
    simplify_expr,
];

/// Shrinks `model` with at most `budget` questions to `fails`.
pub fn shrink(model: &Model, budget: usize, mut fails: impl FnMut(&Model) -> bool) -> Model {
    let mut best = model.clone();
    let mut left = budget;
    loop {
        let before = best.clone();
        for edit in EDITS {
            let mut k = 0;
            while left > 0 {
                let mut candidate = best.clone();
                if !edit(&mut candidate, k) {
                    break;
                }
                if candidate == best {
                    k += 1;
                    continue;
                }
                left -= 1;
                if fails(&candidate) {
                    best = candidate;
                } else {
                    k += 1;
                }
            }
        }
        if left == 0 || best == before {
            return best;
        }
    }
}

/// Drops a process, a claim, a trace, or a declaration.
fn drop_item(model: &mut Model, k: usize) -> bool {
    let mut k = k;
    if let Some(at) = within(&mut k, model.procs.len()) {
        model.procs.remove(at);
    } else if let Some(at) = within(&mut k, model.inlines.len()) {
        model.inlines.remove(at);
    } else if let Some(at) = within(&mut k, model.globals.len()) {
        model.globals.remove(at);
    } else if let Some(at) = within(&mut k, model.typedefs.len()) {
        model.typedefs.remove(at);
    } else if let Some(at) = within(&mut k, model.mtypes.len()) {
        model.mtypes.remove(at);
    } else if let Some(at) = within(&mut k, model.defines.len()) {
        model.defines.remove(at);
    } else if within(&mut k, usize::from(model.trace.is_some())).is_some() {
        model.trace = None;
    } else if within(&mut k, usize::from(model.claim.is_some())).is_some() {
        model.claim = None;
    } else {
        return false;
    }
    true
}

/// Takes `len` possibilities out of `k`: the index among them, or `None` with `k` reduced.
fn within(k: &mut usize, len: usize) -> Option<usize> {
    if *k < len {
        return Some(*k);
    }
    *k -= len;
    None
}

fn drop_stmt(model: &mut Model, k: usize) -> bool {
    let mut k = Some(k);
    walk::blocks(model, &mut |block| {
        if let Some(rest) = &mut k
            && let Some(at) = within(rest, block.len())
        {
            block.remove(at);
            k = None;
        }
    });
    k.is_none()
}

fn drop_option(model: &mut Model, k: usize) -> bool {
    let mut k = Some(k);
    walk::stmts(model, &mut |stmt| {
        if let (Some(rest), Stmt::If(options) | Stmt::Do(options)) = (&mut k, stmt) {
            let count = if options.len() > 1 { options.len() } else { 0 };
            if let Some(at) = within(rest, count) {
                options.remove(at);
                k = None;
            }
        }
    });
    k.is_none()
}

/// Replaces a compound statement by what is inside it.
fn unwrap_stmt(model: &mut Model, k: usize) -> bool {
    let mut k = Some(k);
    walk::blocks(model, &mut |block| {
        let mut at = 0;
        while at < block.len() {
            if let Some(rest) = &mut k {
                let ways = unwrappings(&block[at]);
                if let Some(way) = within(rest, ways.len()) {
                    let inner = ways.into_iter().nth(way).unwrap_or_default();
                    block.splice(at..=at, inner);
                    k = None;
                }
            }
            at += 1;
        }
    });
    k.is_none()
}

fn unwrappings(stmt: &Stmt) -> Vec<Block> {
    match stmt {
        Stmt::Atomic(body) | Stmt::Braces(body) => vec![body.clone()],
        Stmt::DStep(body) => vec![body.clone(), vec![Stmt::Atomic(body.clone())]],
        Stmt::For { body, .. } | Stmt::ForIn { body, .. } => vec![body.clone()],
        Stmt::If(options) => options.clone(),
        Stmt::Do(options) => {
            let mut ways = options.clone();
            ways.push(vec![Stmt::If(options.clone())]);
            ways
        }
        Stmt::Unless(main, escape) => vec![vec![(**main).clone()], vec![(**escape).clone()]],
        Stmt::Label(_, inner) => vec![vec![(**inner).clone()]],
        Stmt::Ifdef { then, otherwise, .. } => vec![then.clone(), otherwise.clone()],
        _ => Vec::new(),
    }
}

fn simplify_proc(model: &mut Model, k: usize) -> bool {
    let proc_edits = 6;
    let Some(proc) = model.procs.get_mut(k / proc_edits) else { return false };
    match k % proc_edits {
        0 => {
            if matches!(proc.start, Start::Active(_)) {
                proc.start = Start::Active(1);
            }
        }
        1 => proc.deterministic = false,
        2 => proc.priority = None,
        3 => proc.provided = None,
        4 => {
            proc.params.pop();
        }
        _ => {
            if proc.start == Start::Passive && proc.params.is_empty() {
                proc.start = Start::Active(1);
            }
        }
    }
    true
}

fn simplify_stmt(model: &mut Model, k: usize) -> bool {
    let mut k = Some(k);
    walk::stmts(model, &mut |stmt| {
        let Some(rest) = &mut k else { return };
        let ways = simpler_stmts(stmt);
        if let Some(way) = within(rest, ways.len()) {
            if let Some(simpler) = ways.into_iter().nth(way) {
                *stmt = simpler;
            }
            k = None;
        }
    });
    k.is_none()
}

fn simpler_stmts(stmt: &Stmt) -> Vec<Stmt> {
    let skip = Stmt::Expr(Expr::word("skip"));
    match stmt {
        Stmt::Expr(Expr::Word(word)) if word == "skip" => vec![],
        Stmt::Send { chan, args, sorted, paren } => {
            let plain = Stmt::Send { chan: chan.clone(), args: args.clone(), sorted: false, paren: false };
            if *sorted || *paren { vec![skip, plain] } else { vec![skip] }
        }
        Stmt::Recv { chan, kind, args, .. } => {
            let recv = |kind: RecvKind, args: &[RecvArg]| Stmt::Recv {
                chan: chan.clone(),
                kind,
                paren: false,
                args: args.to_vec(),
            };
            let mut ways = vec![skip, recv(RecvKind::First, args), recv(*kind, args)];
            for at in 0..args.len() {
                let mut simpler = args.clone();
                simpler[at] = RecvArg::Any;
                ways.push(recv(*kind, &simpler));
            }
            ways
        }
        Stmt::Incr(place) | Stmt::Decr(place) => vec![skip, Stmt::Assign(place.clone(), Expr::Num(1))],
        Stmt::Decl(_) | Stmt::Else | Stmt::Break | Stmt::Goto(_) | Stmt::Label(..) => vec![],
        Stmt::Unless(main, escape) => {
            let simple = |s: &Stmt| matches!(s, Stmt::Braces(_));
            let braces = |s: &Stmt| match s {
                Stmt::Atomic(body) | Stmt::DStep(body) => Box::new(Stmt::Braces(body.clone())),
                other => Box::new(other.clone()),
            };
            if simple(main) && simple(escape) {
                vec![]
            } else {
                vec![Stmt::Unless(braces(main), escape.clone()), Stmt::Unless(main.clone(), braces(escape))]
            }
        }
        _ => vec![skip],
    }
}

fn simplify_decl(model: &mut Model, k: usize) -> bool {
    let mut k = Some(k);
    let mut visit = |decl: &mut crate::model::Decl| {
        let Some(rest) = &mut k else { return };
        let edits = 5;
        let Some(way) = within(rest, edits) else { return };
        match (way, &mut decl.init) {
            (0, init @ (Init::Expr(_) | Init::List(_))) => *init = Init::None,
            (1, Init::Chan { capacity, .. }) => *capacity = (*capacity).min(1),
            (2, _) if is_number(&decl.ty) => decl.ty = Type::Byte,
            (3, _) => decl.visibility = Visibility::Plain,
            (4, _) => decl.len = decl.len.map(|_| 2),
            _ => {}
        }
        k = None;
    };
    for typedef in &mut model.typedefs {
        typedef.fields.iter_mut().for_each(&mut visit);
    }
    model.globals.iter_mut().for_each(&mut visit);
    walk::stmts(model, &mut |stmt| {
        if let Stmt::Decl(decl) = stmt {
            visit(decl);
        }
    });
    k.is_none()
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Bit | Type::Bool | Type::Pid | Type::Short | Type::Int | Type::Unsigned(_))
}

fn simplify_expr(model: &mut Model, k: usize) -> bool {
    let mut k = Some(k);
    walk::exprs(model, &mut |expr| {
        let Some(rest) = &mut k else { return };
        let ways = simpler_exprs(expr);
        if let Some(way) = within(rest, ways.len()) {
            if let Some(simpler) = ways.into_iter().nth(way) {
                *expr = simpler;
            }
            k = None;
        }
    });
    k.is_none()
}

fn simpler_exprs(expr: &Expr) -> Vec<Expr> {
    let constants = vec![Expr::Num(0), Expr::Num(1)];
    match expr {
        Expr::Num(0) => vec![],
        Expr::Num(1) => vec![Expr::Num(0)],
        Expr::Num(n) => vec![Expr::Num(0), Expr::Num(1), Expr::Num(n / 2)],
        Expr::Word(word) if matches!(word.as_str(), "true" | "false" | "skip" | "_") => vec![],
        Expr::Word(_) | Expr::VariableRef(_) | Expr::Len(_) | Expr::Probe(..) | Expr::Poll { .. } => {
            constants
        }
        Expr::Unary(_, inner) => [constants, vec![(**inner).clone()]].concat(),
        Expr::Binary(_, left, right) => [constants, vec![(**left).clone(), (**right).clone()]].concat(),
        Expr::Cond(c, a, b) => [constants, vec![(**a).clone(), (**b).clone(), (**c).clone()]].concat(),
        Expr::Run { name, args, .. } => {
            let mut ways = vec![Expr::Run { name: name.clone(), args: args.clone(), priority: None }];
            if !args.is_empty() {
                let fewer = args[..args.len() - 1].to_vec();
                ways.push(Expr::Run { name: name.clone(), args: fewer, priority: None });
            }
            ways
        }
        Expr::Call(_, args) => [constants, args.clone()].concat(),
        Expr::RemoteLabel { .. } | Expr::RemoteVar { .. } => constants,
    }
}

/// The number of statements and expressions, for reports.
pub fn weight(model: &Model) -> usize {
    let mut model = model.clone();
    let mut count = 0;
    walk::stmts(&mut model, &mut |_| count += 1);
    walk::exprs(&mut model, &mut |_| count += 1);
    count + model.procs.len() + model.globals.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Size, generate};
    use crate::print::print;

    #[test]
    fn shrinking_keeps_what_fails_and_little_else() {
        let mut tried = 0;
        for seed in 0..200 {
            let model = generate(seed, Size::Medium);
            if !print(&model).contains("unless") {
                continue;
            }
            tried += 1;
            let small = shrink(&model, 4000, |m| print(m).contains("unless"));
            assert!(print(&small).contains("unless"));
            assert!(weight(&small) <= 8, "seed {seed}: {}", print(&small));
            if tried == 5 {
                return;
            }
        }
        panic!("no program has an unless");
    }

    #[test]
    fn a_budget_of_nothing_changes_nothing() {
        let model = generate(4, Size::Small);
        assert_eq!(shrink(&model, 0, |_| true), model);
    }

    #[test]
    fn every_edit_ends() {
        let model = generate(9, Size::Medium);
        for edit in EDITS {
            let mut k = 0;
            while edit(&mut model.clone(), k) {
                k += 1;
                assert!(k < 100_000);
            }
        }
    }
}
