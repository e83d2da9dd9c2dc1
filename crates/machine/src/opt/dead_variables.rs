//! Dead-variable reset (PV §4; Spin does less): a local variable whose value nobody will read is kept at 0.
//!
//! A cell is *live* at a location when some way from there reads it before it is surely written. This is the classical
//! backward analysis, with a few extras: what a `provided` clause reads is live everywhere, and so is what another
//! process or a property can read through a remote reference. What is not live at a location is set to 0 as soon as a
//! process gets there ([`promela::ir::Location::dead`]), by whatever way, so that no two states differ in it: the
//! reset never adds states. A global that nobody reads anywhere never leaves its initial value.
//!
//! Why it is sound: a state and the one with dead cells reset have the same steps, to states that are equal again up to
//! dead cells, and satisfy the same propositions.

use promela::ir::{Action, Base, EdgeId, InitStep, LocId, Place, Proctype, Program, RecvArg};

use crate::facts::{Cells, Footprint};

/// Proctypes with more (cells × locations) than this are left alone: the analysis would cost more than it gives.
const MAX_BITS: usize = 1 << 27;

/// Marks dead local cells at every location, and makes writes to globals that nobody reads vanish.
pub fn mark(program: &mut Program) {
    let remote = remote_cells(program);
    for (proctype, remote) in program.proctypes.iter_mut().zip(&remote) {
        mark_proctype(proctype, remote);
    }
    drop_unread_globals(program);
}

/// For each proctype, the cells that others may read.
fn remote_cells(program: &Program) -> Vec<Cells> {
    let mut remote = vec![Cells::default(); program.proctypes.len()];
    let mut look = |footprint: Footprint| {
        for (id, cells) in footprint.remote_reads {
            cells.iter().for_each(|cell| remote[id.index()].add(cell, cell + 1));
        }
    };
    look(Footprint::of_properties(program));
    for proctype in &program.proctypes {
        proctype.edges.iter().for_each(|edge| look(Footprint::of(edge)));
        proctype.provided.iter().for_each(|expr| look(Footprint::of_expr(expr)));
    }
    remote
}

/// A set of cells as bits.
#[derive(Clone, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(n: usize) -> Self {
        Bits(vec![0; n.div_ceil(64)])
    }

    fn set(&mut self, cell: u32, to: bool) {
        let mask = 1 << (cell % 64);
        match self.0.get_mut(cell as usize / 64) {
            Some(word) if to => *word |= mask,
            Some(word) => *word &= !mask,
            None => {}
        }
    }

    fn has(&self, cell: u32) -> bool {
        self.0.get(cell as usize / 64).is_some_and(|word| word >> (cell % 64) & 1 != 0)
    }

    /// Adds all of `other`; true when that made a difference.
    fn merge(&mut self, other: &Bits) -> bool {
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }
}

fn mark_proctype(proctype: &mut Proctype, remote: &Cells) {
    let n_cells = proctype.n_cells as usize;
    if n_cells == 0 || n_cells.saturating_mul(proctype.locations.len()) > MAX_BITS {
        return;
    }
    let live = live_cells(proctype, remote);
    for (location, live) in proctype.locations.iter_mut().zip(&live).skip(1) {
        if !location.in_d_step {
            location.dead = (0..n_cells as u32).filter(|&cell| !live.has(cell)).collect();
        }
    }
}

/// The live cells of every location, as a least fixed point.
fn live_cells(proctype: &Proctype, remote: &Cells) -> Vec<Bits> {
    let n_cells = proctype.n_cells as usize;
    let mut always = Bits::new(n_cells);
    remote.iter().for_each(|cell| always.set(cell, true));
    if let Some(provided) = &proctype.provided {
        Footprint::of_expr(provided).local_reads.iter().for_each(|cell| always.set(cell, true));
    }
    let footprints: Vec<Footprint> = proctype.edges.iter().map(Footprint::of).collect();
    let flows = flows(proctype);
    let mut live = vec![always; proctype.locations.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); proctype.locations.len()];
    for (i, flow) in flows.iter().enumerate() {
        before[flow.to.index()].push(i);
    }
    let mut work: Vec<usize> = (0..flows.len()).collect();
    while let Some(i) = work.pop() {
        let flow = flows[i];
        let mut needed = live[flow.to.index()].clone();
        if let Some(edge) = flow.edge {
            let footprint = &footprints[edge.index()];
            footprint.kills.iter().for_each(|cell| needed.set(cell, false));
            footprint.local_reads.iter().for_each(|cell| needed.set(cell, true));
        }
        if live[flow.from.index()].merge(&needed) {
            work.extend_from_slice(&before[flow.from.index()]);
        }
    }
    live
}

/// A way from one location to another, by an edge or as part of one.
#[derive(Clone, Copy)]
struct Flow {
    from: LocId,
    to: LocId,
    edge: Option<EdgeId>,
}

/// All ways. A d_step leads to its first statement, to the statements that guard it, and from its exit to where the
/// process is afterwards.
fn flows(proctype: &Proctype) -> Vec<Flow> {
    let mut flows = Vec::new();
    for (number, location) in proctype.locations.iter().enumerate() {
        let from = LocId(number as u32);
        for &id in &location.edges {
            let edge = proctype.edge(id);
            match edge.action {
                // The process is gone, or its own cells are: only what the action reads matters.
                Action::End => {}
                Action::DStep { entry, exit, guards } => {
                    let to = |to: LocId| Flow { from, to, edge: None };
                    flows.extend([to(entry), Flow { from: exit, to: edge.to, edge: None }]);
                    flows.extend(guards.map(to));
                }
                _ => flows.push(Flow { from, to: edge.to, edge: Some(id) }),
            }
        }
    }
    flows
}

/// Makes every write to a global variable that nothing reads a write to nowhere.
fn drop_unread_globals(program: &mut Program) {
    let mut read = Bits::new(program.n_global_cells as usize);
    let mut look = |footprint: Footprint| {
        footprint.global_reads.iter().for_each(|cell| read.set(cell, true));
    };
    look(Footprint::of_properties(program));
    for proctype in &program.proctypes {
        proctype.edges.iter().for_each(|edge| look(Footprint::of(edge)));
        proctype.provided.iter().for_each(|expr| look(Footprint::of_expr(expr)));
        let initial = proctype.init.iter().filter_map(|step| match step {
            InitStep::Assign(_, expr) => Some(Footprint::of_expr(expr)),
            InitStep::NewChan(..) => None,
        });
        initial.for_each(&mut look);
    }
    let unread =
        |place: &Place| place.base == Base::Global && place.indices.is_empty() && !read.has(place.cell);
    for edge in program.proctypes.iter_mut().flat_map(|proctype| &mut proctype.edges) {
        match &mut edge.action {
            Action::Assign(place, _) if unread(place) => {
                (place.base, place.cell) = (Base::Scratch, 0);
            }
            Action::Receive { args, .. } => {
                for arg in args {
                    if matches!(arg, RecvArg::Store(place) if unread(place)) {
                        *arg = RecvArg::Ignore;
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::{edge, program};

    /// The names of the dead variables at the location where a statement stands.
    fn dead_at(program: &Program, proctype: &str, text: &str) -> Vec<String> {
        let proctype = program.proctypes.iter().find(|p| p.name == proctype).expect("a proctype");
        let at = |edges: &[EdgeId]| edges.iter().any(|&id| proctype.edge(id).text == text);
        let location = proctype.locations.iter().find(|l| at(&l.edges)).expect("a statement");
        let name = |cell: &u32| {
            let var = proctype.locals.iter().rev().find(|var| var.cell <= *cell).expect("a variable");
            if *cell == var.cell { var.name.clone() } else { format!("{}+{}", var.name, cell - var.cell) }
        };
        location.dead.iter().map(name).collect()
    }

    fn marked(text: &str) -> Program {
        let mut program = program(text);
        mark(&mut program);
        program
    }

    #[test]
    fn a_variable_is_dead_from_its_last_read_to_the_next_write() {
        let text =
            "byte g; active proctype p() { byte x, y; x = 1; y = x; g = y; x = g; g = x; g = 7; y = g; g++ }";
        let program = marked(text);
        assert_eq!(dead_at(&program, "p", "x = 1"), ["x", "y"]);
        assert_eq!(dead_at(&program, "p", "y = x"), ["y"]);
        assert_eq!(dead_at(&program, "p", "g = y"), ["x"]);
        assert_eq!(dead_at(&program, "p", "g = x"), ["y"]);
        assert_eq!(dead_at(&program, "p", "g = 7"), ["x", "y"]);
        assert_eq!(dead_at(&program, "p", "g++"), ["x", "y"]);
    }

    #[test]
    fn loops_keep_alive_what_comes_round_again() {
        let program = marked(
            "byte g; active proctype p() { byte x, t; do :: x < 3 -> t = x; x = t + 1; g = 1 :: else -> break od }",
        );
        assert_eq!(dead_at(&program, "p", "g = 1"), ["t"]);
        assert_eq!(dead_at(&program, "p", "x = t + 1"), ["x"]);
    }

    #[test]
    fn arrays_die_as_a_whole_only() {
        let program = marked(
            "byte g; active proctype p() { byte v[2], i; v[0] = 1; v[i] = 2; g = v[1]; g = v[0]; g = 0 }",
        );
        assert_eq!(dead_at(&program, "p", "v[0] = 1"), ["v"]);
        assert_eq!(dead_at(&program, "p", "g = v[1]"), ["i"]);
        assert_eq!(dead_at(&program, "p", "g = v[0]"), ["v+1", "i"]);
        assert_eq!(dead_at(&program, "p", "g = 0"), ["v", "v+1", "i"]);
    }

    #[test]
    fn what_others_read_never_dies() {
        let program = marked(
            "byte g, w; active proctype p() { byte x, y; x = 1; y = 2; g = 1 } \
             active proctype q() { p[0]:x == 1 } \
             active proctype r() provided (w == 0) { byte z; z = 1; g = 2 }",
        );
        assert_eq!(dead_at(&program, "p", "g = 1"), ["y"]);
        assert_eq!(dead_at(&program, "r", "g = 2"), ["z"]);
    }

    #[test]
    fn a_d_step_reads_what_its_statements_read() {
        let program = marked(
            "byte g; active proctype p() { byte x, y, z; x = 1; z = 4; d_step { y = x; g = y }; g = z; g = y; g = 3 }",
        );
        assert_eq!(dead_at(&program, "p", "z = 4"), ["y", "z"]);
        assert_eq!(dead_at(&program, "p", "g = z"), ["x"]);
        assert_eq!(dead_at(&program, "p", "g = 3"), ["x", "y", "z"]);
    }

    #[test]
    fn globals_that_nobody_reads_stay_as_they_are() {
        let program = marked(
            "byte seen, used; chan c = [1] of { byte, byte }; \
             active proctype p() { seen = 3; used = 4; c?seen, used; used > 1 }",
        );
        let base = |text: &str| match &edge(&program, "p", text).action {
            Action::Assign(place, _) => place.base,
            other => panic!("{other:?}"),
        };
        assert_eq!((base("seen = 3"), base("used = 4")), (Base::Scratch, Base::Global));
        let Action::Receive { args, .. } = &edge(&program, "p", "c?seen, used").action else { panic!() };
        assert!(matches!(args[..], [RecvArg::Ignore, RecvArg::Store(_)]));
    }
}
