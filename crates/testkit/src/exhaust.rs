//! All programs of a tiny grammar: one process with one compound statement, beside a second process with one
//! or two plain ones. Random programs seldom hit a corner exactly; here every combination of, say, a
//! rendezvous inside an atomic sequence with an escape comes up once.

use crate::model::{
    BinOp, Block, Decl, Expr, Init, Model, Proc, RecvArg, RecvKind, Start, Stmt, Type, VariableRef,
    Visibility,
};

/// The plain statements.
const ATOMS: usize = 7;
/// The ways to combine two of them.
const PAIRS: usize = 6;
/// The compound statements.
const ITEMS: usize = ATOMS + PAIRS * ATOMS * ATOMS + ATOMS * ATOMS * ATOMS;
/// The bodies of the second process.
const PARTNERS: usize = ATOMS + ATOMS * ATOMS;

/// How many programs there are.
pub const COUNT: usize = ITEMS * PARTNERS;

/// The `k`-th program, for `k` below [`COUNT`]; greater numbers begin again.
pub fn nth(k: usize) -> Model {
    let k = k % COUNT;
    let first = item(k % ITEMS);
    let second = partner(k / ITEMS);
    Model {
        globals: vec![
            global(Type::Bit, "x", Init::None),
            global(Type::Chan, "q", Init::Chan { capacity: 0, fields: vec![Type::Bit] }),
            global(Type::Chan, "b", Init::Chan { capacity: 1, fields: vec![Type::Bit] }),
        ],
        procs: vec![process("A", first), process("B", second)],
        ..Model::default()
    }
}

fn global(ty: Type, name: &str, init: Init) -> Decl {
    Decl { visibility: Visibility::Plain, ty, name: name.into(), len: None, init }
}

fn process(name: &str, body: Block) -> Proc {
    Proc {
        name: name.into(),
        start: Start::Active(1),
        deterministic: false,
        params: vec![],
        priority: None,
        provided: None,
        body,
    }
}

fn atom(k: usize) -> Stmt {
    let x = || Expr::var("x");
    let send = |chan: &str| Stmt::Send {
        chan: VariableRef::name(chan),
        sorted: false,
        paren: false,
        args: vec![Expr::Num(1)],
    };
    let receive = |chan: &str| Stmt::Recv {
        chan: VariableRef::name(chan),
        kind: RecvKind::First,
        paren: false,
        args: vec![RecvArg::Const(Expr::Num(1))],
    };
    match k % ATOMS {
        0 => Stmt::Assign(VariableRef::name("x"), Expr::binary(BinOp::Sub, Expr::Num(1), x())),
        1 => Stmt::Expr(Expr::binary(BinOp::Eq, x(), Expr::Num(1))),
        2 => send("q"),
        3 => receive("q"),
        4 => send("b"),
        5 => receive("b"),
        _ => Stmt::Expr(Expr::word("timeout")),
    }
}

fn item(k: usize) -> Block {
    if k < ATOMS {
        return vec![atom(k)];
    }
    let k = k - ATOMS;
    if k < PAIRS * ATOMS * ATOMS {
        let (a, b) = (atom(k), atom(k / ATOMS));
        return match k / (ATOMS * ATOMS) {
            0 => vec![Stmt::Atomic(vec![a, b])],
            1 => vec![Stmt::DStep(vec![a, b])],
            2 => vec![Stmt::If(vec![vec![a], vec![b]])],
            3 => vec![Stmt::If(vec![vec![a, b], vec![Stmt::Else]])],
            4 => vec![Stmt::Do(vec![vec![a], vec![b, Stmt::Break]])],
            _ => vec![Stmt::Atomic(vec![Stmt::If(vec![vec![a], vec![b]]), atom(0)])],
        };
    }
    let k = k - PAIRS * ATOMS * ATOMS;
    let (a, b, c) = (atom(k), atom(k / ATOMS), atom(k / (ATOMS * ATOMS)));
    vec![Stmt::Unless(Box::new(Stmt::Braces(vec![a, b])), Box::new(Stmt::Braces(vec![c, atom(0)])))]
}

fn partner(k: usize) -> Block {
    if k < ATOMS {
        return vec![atom(k)];
    }
    let k = k - ATOMS;
    vec![atom(k), atom(k / ATOMS)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::print;
    use std::collections::BTreeSet;

    #[test]
    fn the_programs_are_all_different() {
        let texts: BTreeSet<String> = (0..COUNT).step_by(37).map(|k| print(&nth(k))).collect();
        assert_eq!(texts.len(), COUNT.div_ceil(37));
        assert_eq!(nth(COUNT), nth(0));
    }

    #[test]
    fn every_item_and_partner_occurs() {
        let firsts: BTreeSet<String> = (0..ITEMS).map(|k| format!("{:?}", nth(k).procs[0].body)).collect();
        assert_eq!(firsts.len(), ITEMS);
        let seconds: BTreeSet<String> =
            (0..PARTNERS).map(|k| format!("{:?}", nth(k * ITEMS).procs[1].body)).collect();
        assert_eq!(seconds.len(), PARTNERS);
    }
}
