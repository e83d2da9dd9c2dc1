//! A known error of Spin: `enabled(p)` behind an option that can be executed.
//!
//! Spin's verifier takes an `else` of `p` for not executable when the *asking* process has executed an option
//! of the same choice before (docs/differences-from-spin.md). The order of options decides nothing else, so
//! there is a narrow test: where Spin comes to our result as soon as the questions stand first, the
//! difference is that error.

use crate::model::{Block, Expr, Inline, Model, Stmt};
use crate::walk;

/// The model with the options that begin with a question before the others of their choice; `None` if nothing
/// was moved.
pub fn questions_first(model: &Model) -> Option<Model> {
    let mut moved = model.clone();
    let inlines = model.inlines.clone();
    walk::stmts(&mut moved, &mut |stmt| {
        if let Stmt::If(options) | Stmt::Do(options) = stmt {
            options.sort_by_key(|option| !begins_with_question(option, &inlines));
        }
    });
    (moved != *model).then_some(moved)
}

fn begins_with_question(block: &Block, inlines: &[Inline]) -> bool {
    block.first().is_some_and(|stmt| asks(stmt, inlines))
}

/// Whether a question decides if a statement can be executed, or is asked by its first step.
fn asks(stmt: &Stmt, inlines: &[Inline]) -> bool {
    match stmt {
        Stmt::If(options) | Stmt::Do(options) => options.iter().any(|o| begins_with_question(o, inlines)),
        Stmt::Atomic(body) | Stmt::DStep(body) | Stmt::Braces(body) => begins_with_question(body, inlines),
        Stmt::Unless(main, escape) => asks(main, inlines) || asks(escape, inlines),
        Stmt::Label(_, inner) => asks(inner, inlines),
        Stmt::Ifdef { then, otherwise, .. } => {
            begins_with_question(then, inlines) || begins_with_question(otherwise, inlines)
        }
        Stmt::Call(name, _) => {
            let body = inlines.iter().find(|inline| inline.name == *name).map(|inline| &inline.body);
            is_question(stmt) || body.is_some_and(|body| begins_with_question(body, inlines))
        }
        _ => is_question(stmt),
    }
}

fn is_question(stmt: &Stmt) -> bool {
    let mut found = false;
    walk::exprs_of(&mut stmt.clone(), &mut |expr| {
        found |= matches!(expr, Expr::Call(name, _) if name == "enabled");
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Size, generate};

    fn ask() -> Stmt {
        Stmt::Expr(Expr::Call("enabled".into(), vec![Expr::Num(1)]))
    }

    fn skip() -> Stmt {
        Stmt::Expr(Expr::Word("skip".into()))
    }

    /// A program whose first process is this statement.
    fn program(stmt: Stmt, inline: Block) -> Model {
        let mut model = generate(1, Size::Small);
        model.inlines = vec![Inline { name: "question".into(), params: Vec::new(), body: inline }];
        model.procs.truncate(1);
        model.procs[0].body = vec![stmt];
        model
    }

    #[test]
    fn options_that_ask_come_first() {
        let choice = |options: [Vec<Stmt>; 3]| Stmt::Do(options.to_vec());
        let nested = vec![Stmt::Atomic(vec![Stmt::If(vec![vec![skip()], vec![ask()]])])];
        let call = || vec![Stmt::Call("question".into(), Vec::new())];
        let moved = |options, inline| {
            questions_first(&program(choice(options), inline)).map(|m| m.procs[0].body.clone())
        };
        let first = |option: Vec<Stmt>| Some(vec![choice([option, vec![Stmt::Break], vec![skip(), ask()]])]);
        for (option, inline) in [(vec![ask()], vec![skip()]), (call(), vec![ask()])] {
            let options = [vec![Stmt::Break], vec![skip(), ask()], option.clone()];
            assert_eq!(moved(options, inline), first(option));
        }
        let inner = vec![Stmt::Atomic(vec![Stmt::If(vec![vec![ask()], vec![skip()]])])];
        assert_eq!(moved([vec![Stmt::Break], vec![skip(), ask()], nested], vec![skip()]), first(inner));
    }

    #[test]
    fn elsewhere_nothing_is_moved() {
        let options = vec![vec![ask()], vec![skip(), ask()], vec![Stmt::Call("question".into(), Vec::new())]];
        assert_eq!(questions_first(&program(Stmt::If(options), vec![skip(), ask()])), None);
    }
}
