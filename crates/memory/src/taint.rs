//! Data independence, by taint: a value that a processor wrote may be assigned, sent and received. Where it is
//! compared, computed with or used as an index, the system looks at values, and what the tests show holds for
//! their values only.
//!
//! Variables are known by their declaration and field, whatever the index; what a channel holds by the
//! variable of the channel and the number of the field. That is coarse, and errs on the side of a warning.

use promela::ir::{
    Action, Base, Expr, ExprKind, InitStep, Place, ProctypeId, Program, RecvArg, Scalar, Type, Var,
};
use promela::source::Span;
use std::collections::BTreeSet;

/// A place at which the system looks at a value.
#[derive(Clone, Debug)]
pub struct Look {
    /// What it does there: `compares …`.
    pub how: &'static str,
    /// Where.
    pub span: Span,
}

/// A variable or a field of it, whatever the index; or a field of the messages of a channel.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Holder {
    Global(usize, Vec<usize>),
    Local(usize, usize, Vec<usize>),
    /// The channel's variable, where that is global; else any channel.
    Field(Option<Box<Holder>>, usize),
}

/// What becomes of the values that processors write.
#[derive(Clone, Debug)]
pub struct Values {
    /// Where the system looks at them.
    pub looks: Vec<Look>,
    /// The largest value that everything that holds one can hold.
    pub largest: u32,
}

/// Follows the values that come from the global variable `mv_value`.
pub fn of(program: &Program) -> Values {
    let mut taint = Taint { program, tainted: BTreeSet::new(), looks: Vec::new() };
    if let Some(seed) = program.globals.iter().position(|var| var.name == "mv_value") {
        taint.tainted.insert(Holder::Global(seed, Vec::new()));
    }
    loop {
        let before = taint.tainted.len();
        taint.looks.clear();
        taint.spread();
        if taint.tainted.len() == before {
            break;
        }
    }
    let largest = taint.tainted.iter().map(|holder| taint.largest(holder)).min().unwrap_or(LARGEST);
    let mut looks = taint.looks;
    let mut seen = BTreeSet::new();
    looks.retain(|look| seen.insert((look.span.file, look.span.start, look.span.end)));
    Values { looks, largest }
}

/// The largest value of a byte, which processors keep values in.
const LARGEST: u32 = 255;

struct Taint<'a> {
    program: &'a Program,
    tainted: BTreeSet<Holder>,
    looks: Vec<Look>,
}

impl<'a> Taint<'a> {
    /// One round: every statement hands on what it hands on.
    fn spread(&mut self) {
        let program = self.program;
        for (number, proctype) in program.proctypes.iter().enumerate() {
            for step in &proctype.init {
                if let InitStep::Assign(place, e) = step {
                    self.assign(number, place, e);
                }
            }
            proctype.provided.iter().for_each(|e| self.refuse(number, e));
            for edge in &proctype.edges {
                self.action(number, &edge.action);
            }
        }
    }

    fn action(&mut self, owner: usize, action: &'a Action) {
        match action {
            Action::Guard(e) => self.refuse(owner, e),
            Action::Assert(e) => self.refuse(owner, e),
            Action::Assign(place, e) => self.assign(owner, place, e),
            Action::Send { chan, args, sorted } => self.send(owner, chan, args, *sorted),
            Action::Receive { chan, args, .. } => self.receive(owner, chan, args),
            Action::SetPriority(a, b) => {
                self.refuse(owner, a);
                self.refuse(owner, b);
            }
            Action::Printf(..)
            | Action::Printm(..)
            | Action::Event { .. }
            | Action::Skip
            | Action::C(_)
            | Action::Else
            | Action::Lock(_)
            | Action::Unlock(_)
            | Action::DStep { .. }
            | Action::End => {}
        }
    }

    fn assign(&mut self, owner: usize, place: &'a Place, e: &'a Expr) {
        self.indices(owner, place);
        if self.copied(owner, e) {
            self.mark(self.holder(owner, place));
        }
    }

    fn send(&mut self, owner: usize, chan: &'a Expr, args: &'a [Expr], sorted: bool) {
        self.refuse(owner, chan);
        let channel = self.channel(owner, chan);
        for (i, arg) in args.iter().enumerate() {
            if self.copied(owner, arg) {
                if sorted {
                    self.looks.push(Look { how: "sorts values that it stores", span: arg.span });
                }
                self.tainted.insert(Holder::Field(channel.clone(), i));
            }
        }
    }

    fn receive(&mut self, owner: usize, chan: &'a Expr, args: &'a [RecvArg]) {
        self.refuse(owner, chan);
        let channel = self.channel(owner, chan);
        for (i, arg) in args.iter().enumerate() {
            let tainted = match &channel {
                Some(_) => {
                    self.tainted.contains(&Holder::Field(channel.clone(), i))
                        || self.tainted.contains(&Holder::Field(None, i))
                }
                None => self.tainted.iter().any(|h| matches!(h, Holder::Field(_, field) if *field == i)),
            };
            match arg {
                RecvArg::Store(place) if tainted => {
                    self.indices(owner, place);
                    self.mark(self.holder(owner, place));
                }
                RecvArg::Store(place) => self.indices(owner, place),
                RecvArg::Match(e) if tainted => {
                    self.looks.push(Look { how: "compares values that it stores", span: e.span });
                }
                RecvArg::Match(e) => self.refuse(owner, e),
                RecvArg::Ignore => {}
            }
        }
    }

    fn mark(&mut self, holder: Option<Holder>) {
        self.tainted.extend(holder);
    }

    /// Whether an expression hands a value on; what it looks at otherwise is noted.
    fn copied(&mut self, owner: usize, e: &'a Expr) -> bool {
        match &e.kind {
            ExprKind::Load(place) => {
                self.indices(owner, place);
                self.is_tainted(owner, place)
            }
            ExprKind::RemoteVar { proctype, place, .. } => {
                self.indices(owner, place);
                self.is_tainted(proctype.index(), place)
            }
            ExprKind::Cond(condition, a, b) => {
                self.refuse(owner, condition);
                let (a, b) = (self.copied(owner, a), self.copied(owner, b));
                a || b
            }
            ExprKind::Run { proctype, args, .. } => {
                self.run(owner, *proctype, args);
                false
            }
            _ => {
                self.refuse(owner, e);
                false
            }
        }
    }

    /// Parameters get what they are given.
    fn run(&mut self, owner: usize, proctype: ProctypeId, args: &'a [Expr]) {
        for (cell, arg) in args.iter().enumerate() {
            if self.copied(owner, arg) {
                let locals = &self.program.proctype(proctype).locals;
                let holder = self.part(locals, cell as u32);
                self.mark(holder.map(|(var, path)| Holder::Local(proctype.index(), var, path)));
            }
        }
    }

    fn indices(&mut self, owner: usize, place: &'a Place) {
        for index in &place.indices {
            self.refuse_as(owner, &index.value, "uses a value that it stores as an index");
        }
    }

    fn refuse(&mut self, owner: usize, e: &'a Expr) {
        self.refuse_as(owner, e, "compares or computes with values that it stores");
    }

    /// Notes every use of a value inside an expression that is not a mere copy.
    fn refuse_as(&mut self, owner: usize, e: &'a Expr, how: &'static str) {
        if let ExprKind::Run { proctype, args, .. } = &e.kind {
            return self.run(owner, *proctype, args);
        }
        let mut found = false;
        promela::ir::visit::walk(e, &mut |inside| match &inside.kind {
            ExprKind::Load(place) => found |= self.is_tainted(owner, place),
            ExprKind::RemoteVar { proctype, place, .. } => found |= self.is_tainted(proctype.index(), place),
            ExprKind::Poll { chan, args, .. } => {
                let channel = self.channel(owner, chan);
                for (i, arg) in args.iter().enumerate() {
                    let field = self.tainted.contains(&Holder::Field(channel.clone(), i));
                    found |= field && matches!(arg, RecvArg::Match(_));
                }
            }
            _ => {}
        });
        if found {
            self.looks.push(Look { how, span: e.span });
        }
    }

    fn is_tainted(&self, owner: usize, place: &Place) -> bool {
        self.holder(owner, place).is_some_and(|holder| self.tainted.contains(&holder))
    }

    fn channel(&self, owner: usize, chan: &Expr) -> Option<Box<Holder>> {
        match &chan.kind {
            ExprKind::Load(place) if place.base == Base::Global => self.holder(owner, place).map(Box::new),
            _ => None,
        }
    }

    fn holder(&self, owner: usize, place: &Place) -> Option<Holder> {
        match place.base {
            Base::Global => {
                let (var, path) = self.part(&self.program.globals, place.cell)?;
                Some(Holder::Global(var, path))
            }
            Base::Local => {
                let (var, path) = self.part(&self.program.proctypes[owner].locals, place.cell)?;
                Some(Holder::Local(owner, var, path))
            }
            Base::Scratch => None,
        }
    }

    /// The variable that holds a cell, and the fields that lead to it.
    fn part(&self, vars: &[Var], cell: u32) -> Option<(usize, Vec<usize>)> {
        let inside = |var: &Var| cell >= var.cell && cell < var.cell + self.program.cells_of(&var.ty);
        let number = vars.iter().position(inside)?;
        let var = &vars[number];
        let (mut ty, mut offset, mut path) = (&var.ty, cell - var.cell, Vec::new());
        loop {
            match ty {
                Type::Scalar(_) => return Some((number, path)),
                Type::Array(element, _) => {
                    offset %= self.program.cells_of(element).max(1);
                    ty = element;
                }
                Type::Struct(id) => {
                    let fields = &self.program.structs[id.index()].fields;
                    let field = fields.iter().rposition(|field| field.offset <= offset)?;
                    path.push(field);
                    offset -= fields[field].offset;
                    ty = &fields[field].ty;
                }
            }
        }
    }

    /// The largest value that a holder can hold.
    fn largest(&self, holder: &Holder) -> u32 {
        match holder {
            Holder::Global(var, path) => self.largest_of(&self.program.globals[*var].ty, path),
            Holder::Local(owner, var, path) => {
                self.largest_of(&self.program.proctypes[*owner].locals[*var].ty, path)
            }
            Holder::Field(channel, field) => {
                let made = self
                    .program
                    .proctypes
                    .iter()
                    .enumerate()
                    .flat_map(|(owner, proctype)| proctype.init.iter().map(move |step| (owner, step)));
                let made = made.chain(self.program.init.iter().map(|step| (0, step)));
                let of_it = made.filter_map(|(owner, step)| match step {
                    InitStep::NewChan(place, ty) => {
                        let is_it =
                            channel.is_none() || self.holder(owner, place).as_ref() == channel.as_deref();
                        is_it.then_some(*ty)
                    }
                    InitStep::Assign(..) => None,
                });
                let fields = of_it.filter_map(|ty| self.program.chan_types[ty.index()].fields.get(*field));
                fields.map(|scalar| largest_in(*scalar)).min().unwrap_or(LARGEST)
            }
        }
    }

    fn largest_of(&self, ty: &Type, path: &[usize]) -> u32 {
        match (ty, path) {
            (Type::Scalar(scalar), _) => largest_in(*scalar),
            (Type::Array(element, _), _) => self.largest_of(element, path),
            (Type::Struct(id), [field, path @ ..]) => {
                self.largest_of(&self.program.structs[id.index()].fields[*field].ty, path)
            }
            (Type::Struct(_), []) => LARGEST,
        }
    }
}

fn largest_in(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Bit | Scalar::Bool => 1,
        Scalar::Unsigned(bits) if bits < 8 => (1 << bits) - 1,
        _ => LARGEST,
    }
}
