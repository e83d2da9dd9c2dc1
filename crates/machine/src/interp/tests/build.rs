//! Programs built by hand: a few words for places, expressions and statements.

use promela::ir::*;
use promela::source::Span;

pub fn e(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::NONE }
}

pub fn c(value: i32) -> Expr {
    e(ExprKind::Const(value))
}

pub fn v(place: &Place) -> Expr {
    e(ExprKind::Load(Box::new(place.clone())))
}

pub fn op(left: Expr, op: BinaryOp, right: Expr) -> Expr {
    e(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

pub fn eq(place: &Place, value: i32) -> Action {
    Action::Guard(op(v(place), BinaryOp::Eq, c(value)))
}

pub fn lt(place: &Place, value: i32) -> Action {
    Action::Guard(op(v(place), BinaryOp::Lt, c(value)))
}

pub fn gt(place: &Place, value: i32) -> Action {
    Action::Guard(op(v(place), BinaryOp::Gt, c(value)))
}

pub fn set(place: &Place, value: Expr) -> Action {
    Action::Assign(place.clone(), value)
}

pub fn add(place: &Place, by: i32) -> Action {
    set(place, op(v(place), BinaryOp::Add, c(by)))
}

pub fn send(chan: &Place, args: &[Expr]) -> Action {
    Action::Send { chan: v(chan), sorted: false, args: args.to_vec() }
}

pub fn send_sorted(chan: &Place, args: &[Expr]) -> Action {
    Action::Send { chan: v(chan), sorted: true, args: args.to_vec() }
}

pub fn recv(chan: &Place, args: &[RecvArg]) -> Action {
    Action::Receive { chan: v(chan), random: false, keep: false, args: args.to_vec() }
}

pub fn event(send: bool, chan: &Place, args: &[RecvArg]) -> Action {
    Action::Event { send, chan: v(chan), args: args.to_vec() }
}

pub fn to(place: &Place) -> RecvArg {
    RecvArg::Store(place.clone())
}

pub fn is(value: i32) -> RecvArg {
    RecvArg::Match(c(value))
}

pub fn run(proctype: ProctypeId, args: &[Expr]) -> Expr {
    e(ExprKind::Run { proctype, args: args.to_vec(), priority: 1 })
}

pub fn timeout() -> Action {
    Action::Guard(e(ExprKind::Timeout))
}

fn place(base: Base, cell: u32, scalar: Scalar) -> Place {
    Place { base, cell, indices: Vec::new(), scalar, span: Span::NONE }
}

/// An element of an array whose first element is `array`.
pub fn element(array: &Place, index: Expr, len: u32) -> Place {
    let index = Index { value: index, len, stride: 1, span: Span::NONE };
    Place { indices: vec![index], ..array.clone() }
}

#[derive(Default)]
pub struct Model {
    pub program: Program,
}

impl Model {
    pub fn var(&mut self, name: &str, ty: Type, hidden: bool) -> Place {
        let cell = self.program.n_global_cells;
        self.program.n_global_cells += self.program.cells_of(&ty);
        let mut scalars = Vec::new();
        self.program.scalars_of(&ty, &mut scalars);
        self.program.globals.push(Var { name: name.into(), ty, cell, hidden, span: Span::NONE });
        place(Base::Global, cell, scalars[0])
    }

    pub fn global(&mut self, name: &str, scalar: Scalar) -> Place {
        self.var(name, Type::Scalar(scalar), false)
    }

    pub fn byte(&mut self, name: &str) -> Place {
        self.global(name, Scalar::Byte)
    }

    pub fn chan_type(&mut self, name: &str, capacity: u32, fields: &[Scalar]) -> ChanTypeId {
        let ty = ChanType { name: name.into(), capacity, fields: fields.to_vec(), span: Span::NONE };
        self.program.chan_types.push(ty);
        ChanTypeId(self.program.chan_types.len() as u32 - 1)
    }

    pub fn chan(&mut self, name: &str, capacity: u32, fields: &[Scalar]) -> Place {
        let ty = self.chan_type(name, capacity, fields);
        let place = self.global(name, Scalar::Chan);
        self.program.init.push(InitStep::NewChan(place.clone(), ty));
        place
    }

    pub fn proctype(&mut self, body: Body) -> ProctypeId {
        self.program.proctypes.push(body.proctype);
        ProctypeId(self.program.proctypes.len() as u32 - 1)
    }

    pub fn active(&mut self, body: Body) -> ProctypeId {
        self.active_with_priority(body, 1)
    }

    pub fn active_with_priority(&mut self, body: Body, priority: u8) -> ProctypeId {
        let proctype = self.proctype(body);
        self.program.active.push(ActiveProcess { proctype, priority });
        proctype
    }

    pub fn trace(&mut self, body: Body, kind: ProctypeKind) {
        let id = self.proctype(body);
        self.program.proctypes[id.index()].kind = kind;
        self.program.trace = Some(id);
    }
}

/// A proctype: starts at location 1.
pub struct Body {
    pub proctype: Proctype,
}

impl Body {
    pub fn new(name: &str) -> Self {
        let proctype = Proctype {
            name: name.into(),
            kind: ProctypeKind::Proctype,
            deterministic: false,
            n_params: 0,
            locals: Vec::new(),
            n_cells: 0,
            init: Vec::new(),
            provided: None,
            start: LocId(1),
            locations: vec![Location::default(); 2],
            edges: Vec::new(),
            labels: Vec::new(),
            span: Span::NONE,
        };
        Body { proctype }
    }

    pub fn local(&mut self, name: &str, scalar: Scalar) -> Place {
        let cell = self.proctype.n_cells;
        self.proctype.n_cells += 1;
        let ty = Type::Scalar(scalar);
        self.proctype.locals.push(Var { name: name.into(), ty, cell, hidden: false, span: Span::NONE });
        place(Base::Local, cell, scalar)
    }

    pub fn param(&mut self, name: &str, scalar: Scalar) -> Place {
        self.proctype.n_params += 1;
        self.local(name, scalar)
    }

    pub fn location(&mut self, id: u32) -> &mut Location {
        let locations = &mut self.proctype.locations;
        if locations.len() <= id as usize {
            locations.resize_with(id as usize + 1, Location::default);
        }
        &mut locations[id as usize]
    }

    pub fn edge(&mut self, from: u32, to: u32, action: Action) -> &mut Edge {
        let id = EdgeId(self.proctype.edges.len() as u32);
        self.location(to);
        self.location(from).edges.push(id);
        let text = match &action {
            Action::Assert(_) => "assert(claim)".into(),
            _ => format!("step {}", id.0),
        };
        let edge = Edge {
            action,
            to: LocId(to),
            atomic: false,
            escape: None,
            order: Order::Free,
            statement: None,
            text,
            span: Span::NONE,
        };
        self.proctype.edges.push(edge);
        &mut self.proctype.edges[id.index()]
    }

    pub fn atomic(&mut self, from: u32, to: u32, action: Action) -> &mut Edge {
        let edge = self.edge(from, to, action);
        edge.atomic = true;
        edge
    }

    /// The escape whose first location is `start`, from each of `from`; its first step leads to `to`.
    pub fn escape(&mut self, from: u32, start: u32, to: u32, action: Action) {
        self.edge(from, to, action).escape = Some(LocId(start));
    }

    pub fn end(mut self, location: u32) -> Self {
        self.edge(location, 0, Action::End);
        self.location(location).end = true;
        self
    }
}
