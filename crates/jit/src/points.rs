//! Which channels an expression may mean, as far as that can be known beforehand.
//!
//! Two facts. A variable that is given a channel where it is declared, and never anything else, names that channel for
//! ever. For every other variable, parameter and message field: the declarations of the channels that may get there,
//! whatever the order of steps. Code is made for those; a channel of another declaration, which can come from
//! arithmetic only, is left to the reference machine. So neither fact can make a wrong answer.

use std::collections::BTreeSet;

use promela::ir::{
    Action, Base, Expr, ExprKind, InitStep, Place, Proctype, ProctypeId, Program, RecvArg, Var,
};

/// What is known of channels.
#[derive(Debug)]
pub struct Points {
    /// For every node the declarations that may get there.
    sets: Vec<BTreeSet<u32>>,
    nodes: Nodes,
    /// For every global cell the channel that it always names.
    globals: Vec<Option<u32>>,
    /// For every local cell of every proctype which of the process's own channels it always names.
    locals: Vec<Vec<Option<u32>>>,
}

#[derive(Debug)]
struct Nodes {
    /// Cell to node, globals.
    globals: Vec<usize>,
    /// Cell to node, each proctype.
    locals: Vec<Vec<usize>>,
    /// First node of the fields of each channel declaration.
    fields: Vec<usize>,
    count: usize,
}

impl Nodes {
    fn new(program: &Program) -> Self {
        let mut count = 0;
        let globals = number(program, &program.globals, program.n_global_cells, &mut count);
        let locals =
            program.proctypes.iter().map(|p| number(program, &p.locals, p.n_cells, &mut count)).collect();
        let mut fields = Vec::new();
        for ty in &program.chan_types {
            fields.push(count);
            count += ty.fields.len();
        }
        Nodes { globals, locals, fields, count }
    }

    fn place(&self, place: &Place, proctype: Option<usize>) -> Option<usize> {
        match (place.base, proctype) {
            (Base::Global, _) => self.globals.get(place.cell as usize).copied(),
            (Base::Local, Some(p)) => self.locals[p].get(place.cell as usize).copied(),
            _ => None,
        }
    }
}

/// One node for every variable.
fn number(program: &Program, vars: &[Var], n_cells: u32, count: &mut usize) -> Vec<usize> {
    let mut cells = vec![*count; n_cells as usize];
    for var in vars {
        let len = program.cells_of(&var.ty) as usize;
        cells.iter_mut().skip(var.cell as usize).take(len).for_each(|cell| *cell = *count);
        *count += 1;
    }
    *count += 1;
    cells
}

/// A flow of channels: from an expression or message fields to a node.
enum Flow<'a> {
    Value(usize, Option<usize>, &'a Expr),
    Send(Option<usize>, &'a Expr, &'a [Expr]),
    Receive(usize, Option<usize>, &'a Expr, usize),
}

impl Points {
    /// Follows the channels of a program.
    pub fn new(program: &Program) -> Self {
        let nodes = Nodes::new(program);
        let mut points = Points {
            sets: vec![BTreeSet::new(); nodes.count],
            nodes,
            globals: vec![None; program.n_global_cells as usize],
            locals: program.proctypes.iter().map(|p| vec![None; p.n_cells as usize]).collect(),
        };
        let mut flows = Vec::new();
        let mut written = vec![false; points.nodes.count];
        points.initial(&program.init, None, &mut flows, &mut written);
        for (p, proctype) in program.proctypes.iter().enumerate() {
            points.initial(&proctype.init, Some(p), &mut flows, &mut written);
            proctype.edges.iter().for_each(|e| points.action(&e.action, p, &mut flows, &mut written));
            // Parameters are written by `run`.
            for cell in 0..proctype.n_params as usize {
                written[points.nodes.locals[p][cell]] = true;
            }
        }
        for proctype in &program.proctypes {
            points.runs(proctype, program, &mut flows);
        }
        points.solve(&flows);
        points.forget(&written);
        points
    }

    /// The channel, counted from 0, that a global cell always names.
    pub fn global(&self, cell: u32) -> Option<u32> {
        self.globals.get(cell as usize).copied().flatten()
    }

    /// Which of its own channels a process always means by a local cell.
    pub fn local(&self, proctype: usize, cell: u32) -> Option<u32> {
        self.locals[proctype].get(cell as usize).copied().flatten()
    }

    /// The declarations that an expression in this proctype may mean.
    pub fn of(&self, expr: &Expr, proctype: Option<usize>) -> BTreeSet<u32> {
        match &expr.kind {
            ExprKind::Load(place) => {
                self.nodes.place(place, proctype).map(|n| self.sets[n].clone()).unwrap_or_default()
            }
            ExprKind::RemoteVar { proctype: ProctypeId(p), place, .. } => {
                self.nodes.place(place, Some(*p as usize)).map(|n| self.sets[n].clone()).unwrap_or_default()
            }
            ExprKind::Cond(_, a, b) => &self.of(a, proctype) | &self.of(b, proctype),
            _ => BTreeSet::new(),
        }
    }

    fn initial<'a>(
        &mut self,
        steps: &'a [InitStep],
        proctype: Option<usize>,
        flows: &mut Vec<Flow<'a>>,
        written: &mut [bool],
    ) {
        let mut n = 0;
        let mut named = BTreeSet::new();
        for step in steps {
            let (InitStep::Assign(place, _) | InitStep::NewChan(place, _)) = step;
            let Some(node) = self.nodes.place(place, proctype) else { continue };
            match step {
                InitStep::Assign(_, expr) => {
                    written[node] = true;
                    flows.push(Flow::Value(node, proctype, expr));
                }
                InitStep::NewChan(place, ty) => {
                    self.sets[node].insert(ty.0);
                    let names = match proctype {
                        None => &mut self.globals,
                        Some(p) => &mut self.locals[p],
                    };
                    // A cell that is given two channels names the second, but only from then on.
                    written[node] |=
                        !named.insert((place.base == Base::Global, place.cell)) || !place.indices.is_empty();
                    written[node] |= (place.base == Base::Global) != proctype.is_none();
                    if let Some(cell) = names.get_mut(place.cell as usize) {
                        *cell = Some(n);
                    }
                    n += 1;
                }
            }
        }
    }

    fn action<'a>(&self, action: &'a Action, p: usize, flows: &mut Vec<Flow<'a>>, written: &mut [bool]) {
        match action {
            Action::Assign(place, expr) => {
                if let Some(node) = self.nodes.place(place, Some(p)) {
                    written[node] = true;
                    flows.push(Flow::Value(node, Some(p), expr));
                }
            }
            Action::Send { chan, args, .. } => flows.push(Flow::Send(Some(p), chan, args)),
            Action::Receive { chan, args, .. } => {
                for (i, arg) in args.iter().enumerate() {
                    let RecvArg::Store(place) = arg else { continue };
                    if let Some(node) = self.nodes.place(place, Some(p)) {
                        written[node] = true;
                        flows.push(Flow::Receive(node, Some(p), chan, i));
                    }
                }
            }
            Action::Lock(place) | Action::Unlock(place) => {
                if let Some(node) = self.nodes.place(place, Some(p)) {
                    written[node] = true;
                }
            }
            _ => {}
        }
    }

    /// What `run` passes to parameters.
    fn runs<'a>(&self, proctype: &'a Proctype, program: &'a Program, flows: &mut Vec<Flow<'a>>) {
        let p = program.proctypes.iter().position(|other| std::ptr::eq(other, proctype));
        for edge in &proctype.edges {
            let Some(run) = machine::interp::layout::find_run(&edge.action) else { continue };
            let ExprKind::Run { proctype: ProctypeId(callee), args, .. } = &run.kind else { continue };
            for (cell, arg) in args.iter().enumerate() {
                if let Some(&node) = self.nodes.locals[*callee as usize].get(cell) {
                    flows.push(Flow::Value(node, p, arg));
                }
            }
        }
    }

    fn solve(&mut self, flows: &[Flow<'_>]) {
        loop {
            let mut changed = false;
            for flow in flows {
                match flow {
                    Flow::Value(node, p, expr) => {
                        let from = self.of(expr, *p);
                        changed |= self.add(*node, from);
                    }
                    Flow::Send(p, chan, args) => {
                        for ty in self.of(chan, *p) {
                            for (i, arg) in args.iter().enumerate() {
                                if let Some(node) = self.field(ty, i) {
                                    let from = self.of(arg, *p);
                                    changed |= self.add(node, from);
                                }
                            }
                        }
                    }
                    Flow::Receive(node, p, chan, i) => {
                        for ty in self.of(chan, *p) {
                            if let Some(field) = self.field(ty, *i) {
                                let from = self.sets[field].clone();
                                changed |= self.add(*node, from);
                            }
                        }
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn field(&self, ty: u32, i: usize) -> Option<usize> {
        let first = *self.nodes.fields.get(ty as usize)?;
        let end = self.nodes.fields.get(ty as usize + 1).copied().unwrap_or(self.nodes.count);
        (first + i < end).then_some(first + i)
    }

    fn add(&mut self, node: usize, from: BTreeSet<u32>) -> bool {
        let before = self.sets[node].len();
        self.sets[node].extend(from);
        self.sets[node].len() > before
    }

    /// Variables that are written name nothing for ever.
    fn forget(&mut self, written: &[bool]) {
        let Points { nodes, globals, locals, .. } = self;
        for (name, &node) in globals.iter_mut().zip(&nodes.globals) {
            *name = name.filter(|_| !written[node]);
        }
        for (names, nodes) in locals.iter_mut().zip(&nodes.locals) {
            for (name, &node) in names.iter_mut().zip(nodes) {
                *name = name.filter(|_| !written[node]);
            }
        }
    }
}
