//! Which channels an expression may mean, as far as that can be known beforehand.
//!
//! Two facts. A variable that is given a channel where it is declared, and never anything else, names that
//! channel forever. For every other variable, parameter and message field: the declarations of the channels
//! that may get there, whatever the order of steps.
//!
//! There are two ways to ask. [`Points::likely`] leaves out what hardly ever happens: channel numbers that
//! come from arithmetic, and numbers of channels that died with their process and were given to others. It is
//! for those who make code for the likely cases and check. [`Points::sure`] leaves out nothing, for those who
//! do not check.

use std::collections::BTreeSet;

use promela::ir::{
    Action, Base, Expr, ExprKind, InitStep, Place, Proctype, ProctypeId, Program, RecvArg, Scalar, Var,
};

use crate::interp::layout::find_run;

/// In a set of declarations: any of them.
const ANY: u32 = u32::MAX;

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
    /// All declarations of channels.
    declared: u32,
    /// Those that belong to processes, and whether nothing is to be left out.
    mortal: BTreeSet<u32>,
    sure: bool,
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

/// A flow of channels: from an expression or message fields to a node, through what the cell there can hold.
enum Flow<'a> {
    Value(usize, Scalar, Option<usize>, &'a Expr),
    Send(Option<usize>, &'a Expr, &'a [Expr]),
    Receive(usize, Scalar, Option<usize>, &'a Expr, usize),
}

impl Points {
    /// Follows the channels of a program, as far as they are likely to go.
    pub fn likely(program: &Program) -> Self {
        Points::new(program, false)
    }

    /// Follows the channels of a program wherever they may go.
    pub fn sure(program: &Program) -> Self {
        Points::new(program, true)
    }

    fn new(program: &Program, sure: bool) -> Self {
        let nodes = Nodes::new(program);
        let created = |steps: &[InitStep]| -> Vec<u32> {
            let created = steps.iter().filter_map(|step| match step {
                InitStep::NewChan(_, ty) => Some(ty.0),
                InitStep::Assign(..) => None,
            });
            created.collect()
        };
        let mut points = Points {
            sets: vec![BTreeSet::new(); nodes.count],
            nodes,
            globals: vec![None; program.n_global_cells as usize],
            locals: program.proctypes.iter().map(|p| vec![None; p.n_cells as usize]).collect(),
            declared: program.chan_types.len() as u32,
            mortal: program.proctypes.iter().flat_map(|p| created(&p.init)).collect(),
            sure,
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
        points.solve(&flows, program);
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

    /// The declarations that a cell, of the globals or of a proctype, may mean; `None` when it may be any
    /// number.
    pub fn of_cell(&self, proctype: Option<usize>, cell: u32) -> Option<BTreeSet<u32>> {
        let cells = proctype.map_or(&self.nodes.globals, |p| &self.nodes.locals[p]);
        let set = cells.get(cell as usize).map(|&node| self.sets[node].clone()).unwrap_or_default();
        (!set.contains(&ANY)).then(|| self.alive(set))
    }

    /// The declarations that a message field of a channel of declaration `ty` may mean; `None` when it may be
    /// any number.
    pub fn of_field(&self, ty: u32, field: usize) -> Option<BTreeSet<u32>> {
        let set = self.field(ty, field).map(|node| self.sets[node].clone()).unwrap_or_default();
        (!set.contains(&ANY)).then(|| self.alive(set))
    }

    /// The declarations that an expression in this proctype may mean.
    pub fn of(&self, expr: &Expr, proctype: Option<usize>) -> BTreeSet<u32> {
        let found = self.found(expr, proctype);
        if found.contains(&ANY) { (0..self.declared).collect() } else { found }
    }

    fn found(&self, expr: &Expr, proctype: Option<usize>) -> BTreeSet<u32> {
        match &expr.kind {
            ExprKind::Load(place) => self.kept(place, proctype),
            ExprKind::RemoteVar { proctype: ProctypeId(p), place, .. } => self.kept(place, Some(*p as usize)),
            ExprKind::Cond(_, a, b) => &self.found(a, proctype) | &self.found(b, proctype),
            ExprKind::Const(0) => BTreeSet::new(),
            _ if self.sure => BTreeSet::from([ANY]),
            _ => BTreeSet::new(),
        }
    }

    /// What a place may hold.
    fn kept(&self, place: &Place, proctype: Option<usize>) -> BTreeSet<u32> {
        self.alive(self.nodes.place(place, proctype).map(|n| self.sets[n].clone()).unwrap_or_default())
    }

    /// The number of a channel that died may be another's by now.
    fn alive(&self, set: BTreeSet<u32>) -> BTreeSet<u32> {
        if self.sure && !set.is_disjoint(&self.mortal) { &set | &self.mortal } else { set }
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
                    flows.push(Flow::Value(node, place.scalar, proctype, expr));
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

    fn action<'a>(&mut self, action: &'a Action, p: usize, flows: &mut Vec<Flow<'a>>, written: &mut [bool]) {
        match action {
            Action::Assign(place, expr) => {
                if let Some(node) = self.nodes.place(place, Some(p)) {
                    written[node] = true;
                    flows.push(Flow::Value(node, place.scalar, Some(p), expr));
                }
            }
            Action::Send { chan, args, .. } => flows.push(Flow::Send(Some(p), chan, args)),
            Action::Receive { chan, args, .. } => {
                for (i, arg) in args.iter().enumerate() {
                    let RecvArg::Store(place) = arg else { continue };
                    if let Some(node) = self.nodes.place(place, Some(p)) {
                        written[node] = true;
                        flows.push(Flow::Receive(node, place.scalar, Some(p), chan, i));
                    }
                }
            }
            Action::Lock(place) | Action::Unlock(place) => {
                if let Some(node) = self.nodes.place(place, Some(p)) {
                    written[node] = true;
                    if self.sure {
                        self.sets[node].insert(ANY);
                    }
                }
            }
            _ => {}
        }
    }

    /// What `run` passes to parameters.
    fn runs<'a>(&self, proctype: &'a Proctype, program: &'a Program, flows: &mut Vec<Flow<'a>>) {
        let p = program.proctypes.iter().position(|other| std::ptr::eq(other, proctype));
        for edge in &proctype.edges {
            let Some(run) = find_run(&edge.action) else { continue };
            let ExprKind::Run { proctype: ProctypeId(callee), args, .. } = &run.kind else { continue };
            let mut scalars = Vec::new();
            let params = &program.proctypes[*callee as usize].locals;
            params.iter().for_each(|var| program.scalars_of(&var.ty, &mut scalars));
            for (cell, (arg, scalar)) in args.iter().zip(scalars).enumerate() {
                if let Some(&node) = self.nodes.locals[*callee as usize].get(cell) {
                    flows.push(Flow::Value(node, scalar, p, arg));
                }
            }
        }
    }

    fn solve(&mut self, flows: &[Flow<'_>], program: &Program) {
        loop {
            let mut changed = false;
            for flow in flows {
                match flow {
                    Flow::Value(node, scalar, p, expr) => {
                        let from = self.found(expr, *p);
                        changed |= self.add(*node, *scalar, from);
                    }
                    Flow::Send(p, chan, args) => {
                        for ty in self.of(chan, *p) {
                            for (i, arg) in args.iter().enumerate() {
                                if let Some(node) = self.field(ty, i) {
                                    let from = self.found(arg, *p);
                                    let scalar = program.chan_types[ty as usize].fields[i];
                                    changed |= self.add(node, scalar, from);
                                }
                            }
                        }
                    }
                    Flow::Receive(node, scalar, p, chan, i) => {
                        for ty in self.of(chan, *p) {
                            if let Some(field) = self.field(ty, *i) {
                                let from = self.sets[field].clone();
                                changed |= self.add(*node, *scalar, from);
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

    /// What is too narrow for the number of a channel makes another number of it.
    fn add(&mut self, node: usize, scalar: Scalar, mut from: BTreeSet<u32>) -> bool {
        let narrow = match scalar {
            Scalar::Bit | Scalar::Bool => true,
            Scalar::Unsigned(bits) => bits < 8,
            _ => false,
        };
        if self.sure && narrow && !from.is_empty() {
            from.insert(ANY);
        }
        let before = self.sets[node].len();
        self.sets[node].extend(from);
        self.sets[node].len() > before
    }

    /// Variables that are written name nothing forever.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::{edge, program};

    /// The declarations that the channel of a receive may be, likely and surely.
    fn of(program: &Program, proctype: &str, text: &str) -> (Vec<u32>, Vec<u32>) {
        let Action::Receive { chan, .. } = &edge(program, proctype, text).action else { panic!("{text}") };
        let p = program.proctypes.iter().position(|p| p.name == proctype);
        let list = |points: Points| points.of(chan, p).into_iter().collect();
        (list(Points::likely(program)), list(Points::sure(program)))
    }

    #[test]
    fn channels_are_followed_through_parameters_and_messages() {
        let program = program(
            "chan a = [1] of { byte }; chan b = [1] of { chan }; chan d = [1] of { byte }; \
             proctype p(chan x) { chan y; x?_; b?y; y?_ } init { run p(a); b!d }",
        );
        assert_eq!(of(&program, "p", "x?_"), (vec![0], vec![0]));
        assert_eq!(of(&program, "p", "y?_"), (vec![2], vec![2]));
        let points = Points::sure(&program);
        assert_eq!((points.global(0), points.global(1), points.global(2)), (Some(0), Some(1), Some(2)));
    }

    #[test]
    fn what_comes_from_arithmetic_may_be_any_channel() {
        let program = program(
            "chan a = [1] of { byte }; chan b = [1] of { byte }; byte n; bit t; \
             active proctype p() { chan x = a, y = a; n = a; n = n + 1; x = n; x?_; t = a; y = t; y?_ }",
        );
        assert_eq!(of(&program, "p", "x?_"), (vec![0], vec![0, 1]));
        assert_eq!(of(&program, "p", "y?_"), (vec![0], vec![0, 1]));
    }

    #[test]
    fn a_dead_channel_may_be_another_of_those_that_die() {
        let program = program(
            "chan a = [1] of { chan }; \
             proctype p() { chan mine = [1] of { byte }; a!mine } \
             proctype q() { chan other = [2] of { byte }; chan x; a?x; x?_ } \
             init { run p(); run q() }",
        );
        assert_eq!(of(&program, "q", "x?_"), (vec![1], vec![1, 2]));
    }
}
