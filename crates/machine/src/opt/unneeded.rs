//! Values that nobody needs: globals that are only written (or only read to compute others of this kind, or
//! printed), and fields of messages that no receive looks at.
//!
//! A value is *needed* when it can decide whether a statement is executable, whether it is an error, which
//! cell or channel it means, or what a property says; or when it goes into something that is needed. The
//! least such set is computed over the whole program, whatever the order of steps. A global that is not
//! needed is no longer written, so it keeps its initial value; a field that is not needed is sent as 0. So no
//! two states differ in them, and there are never more states than before: for that, all writes that may mean
//! the same cell are kept or dropped together.
//!
//! Evaluations that may be an error are still made, for their error.

use std::collections::BTreeSet;

use promela::ir::{
    Action, Base, BinaryOp, Expr, ExprKind, InitStep, Place, ProctypeId, Program, RecvArg, Scalar, visit,
};

use super::bits::Bits;
use super::uses::{Context, Field, Uses, Wanted, is_harmless};
use crate::facts::Points;
use crate::facts::footprint::extent;

/// What is needed, at some time or other.
#[derive(Debug)]
pub struct Needed {
    globals: Bits,
    locals: Vec<Bits>,
    fields: BTreeSet<Field>,
}

/// What a statement of one proctype sees of it.
struct Seen<'a>(&'a Needed, usize);

impl Wanted for Seen<'_> {
    fn globals(&self, cells: (u32, u32)) -> bool {
        self.0.globals.has_any(cells)
    }

    fn own(&self, cells: (u32, u32)) -> bool {
        self.0.locals[self.1].has_any(cells)
    }

    fn parameter(&self, proctype: ProctypeId, cell: u32) -> bool {
        self.0.parameter(proctype, cell)
    }

    fn field(&self, field: Field) -> bool {
        self.0.field(field)
    }
}

impl Needed {
    /// What is needed in a program. All cells of a proctype that `whole` names are.
    pub fn new(program: &Program, points: &Points, whole: &[bool]) -> Self {
        let context = Context { program, points };
        let mut needed = Needed {
            globals: Bits::new(program.n_global_cells as usize),
            locals: program.proctypes.iter().map(|p| Bits::new(p.n_cells as usize)).collect(),
            fields: BTreeSet::new(),
        };
        for (p, _) in whole.iter().enumerate().filter(|(_, whole)| **whole) {
            (0..program.proctypes[p].n_cells).for_each(|cell| {
                needed.locals[p].set(cell, true);
            });
        }
        needed.properties(&context);
        while needed.again(&context) {}
        needed
    }

    /// Whether one of these global cells is.
    pub fn any_global(&self, cells: (u32, u32)) -> bool {
        self.globals.has_any(cells)
    }

    /// Whether a parameter of a proctype is.
    pub fn parameter(&self, proctype: ProctypeId, cell: u32) -> bool {
        self.locals[proctype.index()].has(cell)
    }

    /// Whether a field of messages is.
    pub fn field(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }

    fn properties(&mut self, context: &Context<'_>) {
        let program = context.program;
        let mut uses = Uses::default();
        program.invariants.iter().for_each(|invariant| context.expr(&mut uses, None, &invariant.expr));
        for ltl in &program.ltl {
            visit::walk_formula(&ltl.formula, &mut |expr| context.expr(&mut uses, None, expr));
        }
        for property in &program.state_properties {
            visit::walk_state_formula(&property.formula, &mut |expr| context.expr(&mut uses, None, expr));
        }
        self.add(&uses, None);
        for (p, proctype) in program.proctypes.iter().enumerate() {
            let mut uses = Uses::default();
            proctype.provided.iter().for_each(|expr| context.expr(&mut uses, Some(p), expr));
            self.add(&uses, Some(p));
        }
    }

    /// One more round over all statements; true when there was something new.
    fn again(&mut self, context: &Context<'_>) -> bool {
        let mut changed = false;
        for (p, proctype) in context.program.proctypes.iter().enumerate() {
            for edge in &proctype.edges {
                let uses = context.of(p, &edge.action, &Seen(self, p));
                changed |= self.add(&uses, Some(p));
                changed |= self.together(context, p, &edge.action);
            }
            for step in &proctype.init {
                let InitStep::Assign(place, expr) = step else { continue };
                let assign = Action::Assign(place.clone(), expr.clone());
                let uses = context.of(p, &assign, &Seen(self, p));
                changed |= self.add(&uses, Some(p));
            }
        }
        changed
    }

    fn add(&mut self, uses: &Uses, own: Option<usize>) -> bool {
        let Needed { globals, locals, fields } = self;
        let mut changed = false;
        uses.globals.iter().for_each(|cell| changed |= globals.set(cell, true));
        if let Some(p) = own {
            uses.own.iter().for_each(|cell| changed |= locals[p].set(cell, true));
        }
        for (id, cells) in &uses.remote {
            cells.iter().for_each(|cell| changed |= locals[id.index()].set(cell, true));
        }
        uses.fields.iter().for_each(|field| changed |= fields.insert(*field));
        changed
    }

    /// Of the cells that one write may mean, and the fields that one send may fill, all are needed or none.
    fn together(&mut self, context: &Context<'_>, p: usize, action: &Action) -> bool {
        match action {
            Action::Assign(place, _) => self.whole(place, false),
            Action::Receive { args, .. } => {
                let mut changed = false;
                for arg in args {
                    if let RecvArg::Store(place) = arg {
                        // There is no way to check the index alone here.
                        changed |= self.whole(place, !place.indices.is_empty());
                    }
                }
                changed
            }
            Action::Send { chan, args, .. } => {
                let targets = context.points.of(chan, Some(p));
                let mut changed = false;
                for i in 0..args.len() {
                    if targets.iter().any(|ty| self.field((*ty, i))) {
                        targets.iter().for_each(|ty| changed |= self.fields.insert((*ty, i)));
                    }
                }
                changed
            }
            _ => false,
        }
    }

    fn whole(&mut self, place: &Place, always: bool) -> bool {
        let cells = extent(place);
        if place.base != Base::Global || !always && !self.globals.has_any(cells) {
            return false;
        }
        let mut changed = false;
        (cells.0..cells.1).for_each(|cell| changed |= self.globals.set(cell, true));
        changed
    }
}

/// Takes out all writes of what is not needed.
pub fn drop_writes(program: &mut Program, points: &Points, needed: &Needed) {
    let unneeded = |place: &Place| place.base == Base::Global && !needed.any_global(extent(place));
    for (p, proctype) in program.proctypes.iter_mut().enumerate() {
        for edge in &mut proctype.edges {
            match &mut edge.action {
                Action::Assign(place, expr) if unneeded(place) => forget(place, expr),
                Action::Receive { args, .. } => {
                    for arg in args {
                        if matches!(arg, RecvArg::Store(place) if unneeded(place)) {
                            *arg = RecvArg::Ignore;
                        }
                    }
                }
                Action::Send { chan, args, sorted: false } => {
                    let targets = points.of(chan, Some(p));
                    for (i, arg) in args.iter_mut().enumerate() {
                        if !targets.is_empty() && !targets.iter().any(|ty| needed.field((*ty, i))) {
                            *arg = nothing(arg);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Makes an assignment one to nowhere. What can go wrong in it still does, in the same order.
pub fn forget(place: &mut Place, expr: &mut Expr) {
    let nowhere =
        Place { base: Base::Scratch, cell: 0, indices: Vec::new(), scalar: Scalar::Int, span: place.span };
    let target = std::mem::replace(place, nowhere);
    let span = target.span;
    *expr = match (nothing(expr), target.indices.is_empty()) {
        (value, true) => value,
        (value, false) => {
            let load = Expr { kind: ExprKind::Load(Box::new(target)), span };
            match value.kind {
                ExprKind::Const(_) => load,
                _ => Expr { kind: ExprKind::Binary(BinaryOp::Add, Box::new(value), Box::new(load)), span },
            }
        }
    };
}

/// 0, with the errors that evaluating `expr` may show.
fn nothing(expr: &Expr) -> Expr {
    let span = expr.span;
    let zero = Expr { kind: ExprKind::Const(0), span };
    match &expr.kind {
        ExprKind::Binary(BinaryOp::BitAnd, _, b) if matches!(b.kind, ExprKind::Const(0)) => {
            return expr.clone();
        }
        _ if is_harmless(expr) => return zero,
        _ => {}
    }
    Expr { kind: ExprKind::Binary(BinaryOp::BitAnd, Box::new(expr.clone()), Box::new(zero)), span }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::{edge, program};

    fn reduced(text: &str) -> Program {
        let mut program = program(text);
        let points = Points::sure(&program);
        let whole = vec![false; program.proctypes.len()];
        let needed = Needed::new(&program, &points, &whole);
        drop_writes(&mut program, &points, &needed);
        promela::ir::verify::verify(&program).expect("a correct program");
        program
    }

    fn base(program: &Program, text: &str) -> Base {
        match &edge(program, "p", text).action {
            Action::Assign(place, _) => place.base,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_only_written_printed_or_counted_is_not_needed() {
        let program = reduced(
            "byte seen, used, n, a, b; active proctype p() { seen = 3; used = 4; n = n + 1; a = b; b = a; \
             printf(\"%d\", seen + n); used > 1 }",
        );
        for text in ["seen = 3", "n = n + 1", "a = b", "b = a"] {
            assert_eq!(base(&program, text), Base::Scratch, "{text}");
        }
        assert_eq!(base(&program, "used = 4"), Base::Global);
    }

    #[test]
    fn what_can_be_an_error_or_a_choice_is_needed() {
        let program = reduced(
            "byte d, i, g, k, v[2], w[2]; active proctype p() { d = 1; i = 2; g = 3; k = 7 / d; v[i] = 4; v[1] = 5; \
             w[i] = 1; w[0] = 2; w[1] > 0; assert(g == 3) }",
        );
        for text in ["d = 1", "i = 2", "g = 3", "w[i] = 1", "w[0] = 2"] {
            assert_eq!(base(&program, text), Base::Global, "{text}");
        }
        for (text, check) in [("k = 7 / d", true), ("v[i] = 4", true), ("v[1] = 5", false)] {
            assert_eq!(base(&program, text), Base::Scratch, "{text}");
            let Action::Assign(_, expr) = &edge(&program, "p", text).action else { panic!() };
            assert_eq!(!is_harmless(expr), check, "{text} still shows its errors");
        }
    }

    #[test]
    fn properties_and_others_need_values() {
        let program = reduced(
            "byte a, b, c, e; active proctype p() { byte x; a = 1; b = 1; c = 1; x = e; e = 1 } \
             active proctype q() { p[0]:x == 1 } never { do :: b == 1 od } ltl l { <> (a == 1) }",
        );
        for text in ["a = 1", "b = 1", "e = 1"] {
            assert_eq!(base(&program, text), Base::Global, "{text}");
        }
        assert_eq!(base(&program, "c = 1"), Base::Scratch);
    }

    /// What is sent in the end.
    fn sent(program: &Program, text: &str) -> Vec<bool> {
        let Action::Send { args, .. } = &edge(program, "p", text).action else { panic!() };
        args.iter().map(|arg| matches!(arg.kind, ExprKind::Const(0))).collect()
    }

    #[test]
    fn a_field_that_no_receive_looks_at_is_sent_as_nothing() {
        let program = reduced(
            "byte g, h; chan c = [2] of { byte, byte, byte }; chan d = [2] of { byte, byte }; chan s = [2] of { byte, byte }; \
             active proctype p() { byte x = 1, y; c!x,x,x; d!x,x; s!!x,x; c?g,_,3; d?y,h; s?_,_; g == 1 }",
        );
        assert_eq!(
            sent(&program, "c!x,x,x"),
            [false, true, false],
            "one is compared, one goes where it matters"
        );
        assert_eq!(sent(&program, "d!x,x"), [true, true], "nobody reads what gets it");
        assert_eq!(sent(&program, "s!!x,x"), [false, false], "sorting looks at all fields");
    }

    #[test]
    fn fields_are_needed_wherever_a_send_may_go() {
        let text = |other: &str| {
            format!(
                "byte g; chan a = [1] of {{ byte }}; chan b = [1] of {{ byte }}; chan e = [1] of {{ byte }}; \
                 active proctype p() {{ byte x = 1; chan w = a; if :: w = b :: skip fi; w!x; e!x; a!2; b?g; a?_; e?_; {other} }}"
            )
        };
        let program = reduced(&text("g == 1"));
        assert_eq!((sent(&program, "w!x"), sent(&program, "a!2")), (vec![false], vec![false]));
        assert_eq!(sent(&program, "e!x"), [true]);
        assert_eq!(sent(&reduced(&text("true")), "w!x"), [true]);
        assert_eq!(sent(&reduced(&text("e??[1]")), "e!x"), [false], "a poll looks");
    }
}
