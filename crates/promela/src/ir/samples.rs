//! Programs built by hand, for the tests of the text form, the rules and JSON.

use super::*;
use crate::source::{ExpansionId, FileId, Span};

/// A span in the first file.
pub(super) fn span(start: u32, end: u32) -> Span {
    Span { file: FileId(0), start, end, expansion: ExpansionId::ROOT }
}

/// An expression whose span is that of nothing.
pub(super) fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::NONE }
}

/// A constant.
pub(super) fn int(value: i32) -> Expr {
    expr(ExprKind::Const(value))
}

/// A place without indices.
pub(super) fn place(base: Base, cell: u32, scalar: Scalar) -> Place {
    Place { base, cell, indices: Vec::new(), scalar, span: Span::NONE }
}

/// A global place without indices.
pub(super) fn global(cell: u32, scalar: Scalar) -> Place {
    place(Base::Global, cell, scalar)
}

/// A local place without indices.
pub(super) fn local(cell: u32, scalar: Scalar) -> Place {
    place(Base::Local, cell, scalar)
}

/// `place` with one more index.
pub(super) fn indexed(mut place: Place, value: Expr, len: u32, stride: u32) -> Place {
    place.indices.push(Index { value, len, stride, span: Span::NONE });
    place
}

/// The value of a place.
pub(super) fn load(place: Place) -> Expr {
    let span = place.span;
    Expr { kind: ExprKind::Load(Box::new(place)), span }
}

/// `left op right`.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

/// An array type.
pub(super) fn array(len: u32, element: Type) -> Type {
    Type::Array(Box::new(element), len)
}

/// Variables one behind the other, and how many cells they have.
pub(super) fn lay_out(program: &Program, vars: &[(&str, Type)]) -> (Vec<Var>, u32) {
    let mut cell = 0;
    let mut out = Vec::new();
    for (i, (name, ty)) in vars.iter().enumerate() {
        let at = span(10 * i as u32, 10 * i as u32 + 5);
        out.push(Var { name: (*name).to_owned(), ty: ty.clone(), cell, hidden: i == 1, span: at });
        cell += program.cells_of(ty);
    }
    (out, cell)
}

/// An edge that stands nowhere.
pub(super) fn edge(action: Action, to: u32) -> Edge {
    let text = print::action_word(&action).to_owned();
    let (order, span) = (Order::Free, Span::NONE);
    Edge { action, to: LocId(to), atomic: false, escape: None, order, statement: None, text, span }
}

/// A proctype that performs `actions` one after the other, from location 1 on, and ends.
pub(super) fn chain(name: &str, kind: ProctypeKind, actions: Vec<Action>) -> Proctype {
    let mut locations = vec![Location::default()];
    let mut edges = Vec::new();
    for action in actions.into_iter().chain([Action::End]) {
        let number = edges.len() as u32;
        let to = if matches!(action, Action::End) { 0 } else { number + 2 };
        edges.push(Edge { span: span(100 + number, 101 + number), ..edge(action, to) });
        locations.push(Location { edges: vec![EdgeId(number)], ..Location::default() });
    }
    Proctype {
        name: name.to_owned(),
        kind,
        deterministic: false,
        n_params: 0,
        locals: Vec::new(),
        n_cells: 0,
        init: Vec::new(),
        provided: None,
        start: LocId(1),
        locations,
        edges,
        labels: Vec::new(),
        span: span(90, 100),
    }
}

/// Appends `action` to a proctype as an edge of a new location, which is returned.
pub(super) fn append(proctype: &mut Proctype, action: Action, to: u32) -> u32 {
    let number = proctype.locations.len() as u32;
    let id = EdgeId(proctype.edges.len() as u32);
    proctype.edges.push(edge(action, to));
    proctype.locations.push(Location { edges: vec![id], ..Location::default() });
    number
}

/// Two processes and a lock: the smallest useful program.
pub(super) fn mutex() -> Program {
    let mut program = Program { name: "mutex.pml".to_owned(), ..Program::default() };
    (program.globals, program.n_global_cells) = lay_out(
        &program,
        &[("busy", Type::Scalar(Scalar::Bool)), ("turn", array(2, Type::Scalar(Scalar::WideBit)))],
    );
    let busy = || global(0, Scalar::Bool);
    let mut user = chain(
        "user",
        ProctypeKind::Proctype,
        vec![
            Action::Guard(binary(BinaryOp::Eq, load(busy()), int(0))),
            Action::Assign(busy(), int(1)),
            Action::Assign(indexed(global(1, Scalar::WideBit), expr(ExprKind::Pid), 2, 1), int(-1)),
            Action::Assign(busy(), int(0)),
        ],
    );
    user.edges[0].atomic = true;
    user.edges[3].to = LocId(1);
    user.locations[1].edges = vec![EdgeId(0), EdgeId(4)];
    user.labels.push(("again".to_owned(), LocId(1)));
    program.proctypes.push(user);
    program.active = vec![ActiveProcess { proctype: ProctypeId(0), priority: 1 }; 2];
    program
}

/// A program in which every kind of thing occurs, and which keeps all the rules.
pub(super) fn everything() -> Program {
    let mut program = Program { name: "dir/every \"thing\".pml".to_owned(), ..Program::default() };
    program.uses = Uses { last: true, priority: true, timeout: true, enabled: true };
    let values = vec![("red".to_owned(), 2), ("green".to_owned(), 1)];
    program.mtypes = vec![
        MtypeSet { name: "_unnamed_".to_owned(), values },
        MtypeSet { name: "empty one".to_owned(), values: Vec::new() },
    ];
    program.structs = structures();
    program.chan_types = channels();
    let scalars = all_scalars();
    let mut vars: Vec<(&str, Type)> = scalars.iter().map(|s| ("v", Type::Scalar(*s))).collect();
    vars.push(("deep", array(3, Type::Struct(StructId(1)))));
    (program.globals, program.n_global_cells) = lay_out(&program, &vars);
    program.init = vec![
        InitStep::Assign(global(3, Scalar::Byte), binary(BinaryOp::Add, int(1), int(2))),
        InitStep::NewChan(global(9, Scalar::Chan), ChanTypeId(0)),
    ];
    let user = user(&program);
    program.proctypes.push(user);
    let run = run_user();
    program.proctypes.push(chain(":init:", ProctypeKind::Init, vec![Action::Guard(run)]));
    let timeout = Action::Guard(expr(ExprKind::Timeout));
    program.proctypes.push(chain("never_0", ProctypeKind::Never, vec![timeout]));
    program.proctypes.push(chain(":notrace:", ProctypeKind::NoTrace, vec![Action::Else]));
    program.proctypes[2].locations[1].accept = true;
    program.active = vec![
        ActiveProcess { proctype: ProctypeId(1), priority: 1 },
        ActiveProcess { proctype: ProctypeId(0), priority: 255 },
    ];
    program.invariants.push(Invariant {
        name: "positive".to_owned(),
        expr: binary(BinaryOp::Ge, load(global(3, Scalar::Byte)), int(0)),
        text: "v >= 0".to_owned(),
        span: span(7, 9),
    });
    for (receive, checked) in [(true, false), (false, true)] {
        program.promises.push(Promise {
            proctype: ProctypeId(0),
            receive,
            chan: load(global(9, Scalar::Chan)),
            text: "c".to_owned(),
            span: span(8, 9),
            checked,
        });
    }
    let formula = every_formula();
    let text = "[] \\\n\t\"é\"".to_owned();
    program.ltl.push(LtlProperty { name: "ltl_0".to_owned(), formula, text, span: span(3, 4) });
    for logic in [Logic::Ctl, Logic::Mu] {
        let (name, formula) = (format!("{}_0", logic.word()), every_state_formula());
        let text = "AG \"p\"".to_owned();
        program.state_properties.push(StateProperty { logic, name, formula, text, span: span(4, 5) });
    }
    program.never.push(ProctypeId(2));
    program.trace = Some(ProctypeId(3));
    program
}

/// One of each scalar; the cell of each is its position.
pub(super) fn all_scalars() -> [Scalar; 13] {
    [
        Scalar::Bit,
        Scalar::Bool,
        Scalar::WideBit,
        Scalar::Byte,
        Scalar::Pid,
        Scalar::Short,
        Scalar::Int,
        Scalar::Unsigned(5),
        Scalar::Mtype(MtypeId(0)),
        Scalar::Chan,
        Scalar::Lock,
        Scalar::Sema,
        Scalar::WideBool,
    ]
}

fn structures() -> Vec<Struct> {
    let field = |name: &str, ty: Type, offset: u32| Field { name: name.to_owned(), ty, offset };
    vec![
        Struct {
            name: "Pair".to_owned(),
            fields: vec![
                field("x", Type::Scalar(Scalar::Byte), 0),
                field("y", Type::Scalar(Scalar::Short), 1),
            ],
            n_cells: 2,
        },
        Struct {
            name: "Deep".to_owned(),
            fields: vec![
                field("pairs", array(4, Type::Struct(StructId(0))), 0),
                field("bits", array(2, Type::Scalar(Scalar::WideBit)), 8),
            ],
            n_cells: 10,
        },
    ]
}

fn channels() -> Vec<ChanType> {
    vec![
        ChanType {
            name: "q".to_owned(),
            capacity: 2,
            fields: vec![Scalar::Byte, Scalar::Mtype(MtypeId(0))],
            span: Span { file: FileId(1), start: 4, end: 5, expansion: ExpansionId(3) },
        },
        ChanType { name: "rv".to_owned(), capacity: 0, fields: vec![Scalar::Unsigned(5)], span: Span::NONE },
    ]
}

/// `run user(1, 2, 3)`.
pub(super) fn run_user() -> Expr {
    let args = vec![int(1), int(2), int(3)];
    expr(ExprKind::Run { proctype: ProctypeId(0), args, priority: 9 })
}

/// The proctype with every action; its d_step goes from location 100 over 101 to 102.
fn user(program: &Program) -> Proctype {
    let mut actions: Vec<Action> = every_expr().into_iter().map(Action::Guard).collect();
    actions.extend(every_plain_action());
    let mut user = chain("user", ProctypeKind::Proctype, actions);
    (user.locals, user.n_cells) = lay_out(
        program,
        &[
            ("pair", Type::Struct(StructId(0))),
            ("n", Type::Scalar(Scalar::Byte)),
            ("a", array(3, Type::Scalar(Scalar::Int))),
            ("ch", Type::Scalar(Scalar::Chan)),
        ],
    );
    user.n_params = 3;
    user.deterministic = true;
    user.init = vec![
        InitStep::Assign(local(4, Scalar::Int), load(local(2, Scalar::Byte))),
        InitStep::NewChan(local(6, Scalar::Chan), ChanTypeId(1)),
    ];
    user.provided = Some(binary(BinaryOp::Ne, expr(ExprKind::Pid), int(0)));
    user.edges[0].text = "odd \"text\"\n".to_owned();
    user.edges[1].span = Span { file: FileId(2), start: 8, end: 9, expansion: ExpansionId(1) };
    user.edges[2].escape = Some(LocId(4));
    user.edges[3].atomic = true;
    user.locations[2].end = true;
    user.locations[3].progress = true;
    user.locations[3].dead = vec![2, 4];
    user.locations[4].accept = true;
    user.locations.resize(100, Location::default());
    let d_step = Action::DStep { entry: LocId(100), exit: LocId(102), guards: None };
    let entry = append(&mut user, Action::Guard(int(1)), 101);
    append(&mut user, Action::Assign(local(2, Scalar::Byte), int(4)), 102);
    append(&mut user, Action::Skip, 1);
    for number in [entry, entry + 1] {
        user.locations[number as usize].in_d_step = true;
    }
    let id = EdgeId(user.edges.len() as u32);
    user.edges.push(edge(d_step, 102));
    let first = &mut user.locations[1].edges;
    first.push(id);
    first.push(id);
    user.labels = vec![("start".to_owned(), LocId(1)), ("goto".to_owned(), LocId(100))];
    user
}

/// Every kind of expression, each operator once.
pub(super) fn every_expr() -> Vec<Expr> {
    let n = || Box::new(load(local(2, Scalar::Byte)));
    let mut out: Vec<Expr> = Vec::new();
    for (op, _) in names::BINARY {
        out.push(binary(op, int(i32::MIN), *n()));
    }
    for (op, _) in names::UNARY {
        out.push(expr(ExprKind::Unary(op, n())));
    }
    for (op, _) in names::CHAN_OPS {
        out.push(expr(ExprKind::Chan(op, n())));
    }
    let poll = |random| ExprKind::Poll { chan: n(), random, args: recv_args() };
    let at = |pid| ExprKind::RemoteLabel { proctype: ProctypeId(0), pid, location: LocId(2) };
    let far = |pid| ExprKind::RemoteVar {
        proctype: ProctypeId(0),
        pid,
        place: Box::new(indexed(local(3, Scalar::Int), *n(), 3, 1)),
    };
    let kinds = [
        ExprKind::Cond(n(), Box::new(int(1)), Box::new(int(i32::MAX))),
        poll(false),
        poll(true),
        run_user().kind,
        ExprKind::Enabled(n()),
        ExprKind::PcValue(n()),
        ExprKind::GetPriority(n()),
        ExprKind::Pid,
        ExprKind::NrPr,
        ExprKind::Last,
        ExprKind::Priority,
        ExprKind::Timeout,
        ExprKind::NonProgress,
        at(None),
        at(Some(n())),
        far(None),
        far(Some(n())),
    ];
    out.extend(kinds.into_iter().map(expr));
    out.extend(all_scalars().into_iter().zip(0..).map(|(scalar, cell)| load(global(cell, scalar))));
    // deep[n].pairs[n].y, deep[2].bits[n], and a load whose place has a span of its own.
    let y = indexed(indexed(global(14, Scalar::Short), *n(), 3, 10), *n(), 4, 2);
    out.push(load(y.clone()));
    out.push(load(indexed(global(41, Scalar::WideBit), *n(), 2, 1)));
    let mut own = load(Place { span: span(5, 6), ..y });
    own.span = span(5, 9);
    if let ExprKind::Load(place) = &mut own.kind {
        place.indices[0].span = span(6, 7);
        place.indices[1].value.span = Span { file: FileId(9), start: 1, end: 2, expansion: ExpansionId(7) };
    }
    out.push(own);
    out
}

fn recv_args() -> Vec<RecvArg> {
    vec![RecvArg::Store(local(2, Scalar::Byte)), RecvArg::Ignore, RecvArg::Match(int(-3))]
}

/// Every kind of action but guards, d_step and end.
fn every_plain_action() -> Vec<Action> {
    let chan = || load(local(6, Scalar::Chan));
    let n = || load(local(2, Scalar::Byte));
    let receive = |random, keep| Action::Receive { chan: chan(), random, keep, args: recv_args() };
    vec![
        Action::Skip,
        Action::Else,
        Action::Assign(local(0, Scalar::Byte), n()),
        Action::Assign(place(Base::Scratch, 0, Scalar::Int), run_user()),
        Action::Send { chan: chan(), sorted: false, args: vec![n(), int(1)] },
        Action::Send { chan: chan(), sorted: true, args: vec![n()] },
        receive(false, false),
        receive(true, false),
        receive(false, true),
        receive(true, true),
        Action::Event { send: true, chan: chan(), args: recv_args() },
        Action::Event { send: false, chan: chan(), args: recv_args() },
        Action::Assert(n()),
        Action::Printf("%d\\n \"x\"".to_owned(), vec![n(), int(2)]),
        Action::Printf(String::new(), Vec::new()),
        Action::Printm(n(), None),
        Action::Printm(n(), Some(MtypeId(1))),
        Action::SetPriority(n(), int(3)),
        Action::Lock(global(10, Scalar::Lock)),
        Action::Unlock(global(11, Scalar::Sema)),
    ]
}

fn every_formula() -> Formula {
    let prop = || Box::new(Formula::Prop(binary(BinaryOp::Lt, load(global(3, Scalar::Byte)), int(9))));
    let mut formula = *prop();
    for (make, _) in names::BINARY_FORMULAS {
        formula = make(Box::new(formula), prop());
    }
    for (make, _) in names::UNARY_FORMULAS {
        formula = make(Box::new(formula));
    }
    formula
}

fn every_state_formula() -> StateFormula {
    use StateFormula as F;
    let prop = || F::Prop(binary(BinaryOp::Lt, load(global(3, Scalar::Byte)), int(9)));
    let mut formula = F::Or(Box::new(F::Variable(0)), Box::new(F::Variable(1)));
    let filters = [
        StepFilter::default(),
        StepFilter { proctype: Some(ProctypeId(0)), ..StepFilter::default() },
        StepFilter { pid: Some(3), ..StepFilter::default() },
        StepFilter { proctype: Some(ProctypeId(0)), pid: Some(1), at: Some(LocId(1)) },
    ];
    for filter in filters {
        formula = F::Modal(Quantifier::All, filter, Box::new(formula));
        formula = F::Modal(Quantifier::Some, filter, Box::new(formula));
    }
    formula = F::Mu(1, Box::new(F::Nu(0, Box::new(formula))));
    for op in PathOp::ALL {
        for quantifier in [Quantifier::All, Quantifier::Some] {
            let operands = if op.is_binary() { vec![prop(), formula] } else { vec![formula] };
            formula = F::Path(quantifier, op, operands);
        }
    }
    for make in [F::And, F::Or, F::Implies, F::Equiv] {
        formula = make(Box::new(formula), Box::new(F::Stuck));
    }
    F::Not(Box::new(F::And(Box::new(formula), Box::new(F::Deadlock))))
}

/// A program that breaks many rules, but has a text form all the same.
pub(super) fn broken() -> Program {
    let mut program = mutex();
    program.n_global_cells = 77;
    program.globals[0].cell = 5;
    program.globals[1].ty = array(0, array(3, Type::Struct(StructId(8))));
    program.globals[0].name = String::new();
    program.trace = Some(ProctypeId(12));
    program.mtypes.push(MtypeSet { name: "1a".to_owned(), values: vec![(String::new(), i32::MIN)] });
    program.structs.push(Struct { name: "é".to_owned(), fields: Vec::new(), n_cells: 3 });
    let mut claim = chain("c", ProctypeKind::Trace, Vec::new());
    claim.start = LocId(900);
    claim.locations = Vec::new();
    program.proctypes.push(claim);
    let user = &mut program.proctypes[0];
    user.locations[0].progress = true;
    user.locations[2].edges = vec![EdgeId(44)];
    user.edges.push(edge(Action::Send { chan: int(1), sorted: true, args: Vec::new() }, 9));
    program
}
