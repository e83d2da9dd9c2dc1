//! Dead-variable reset (PV §4; Spin does less): a local variable whose value nobody will need is kept at 0.
//!
//! A cell is *live* at a location when some way from there uses it before it is surely written. This is the
//! classical backward analysis, with a few extras: a read whose result is dead is no use ([`super::uses`]),
//! what a `provided` clause reads is live everywhere, and so is what another process or a property can read
//! through a remote reference. What is not live at a location is set to 0 as soon as a process gets there
//! ([`promela::ir::Location::dead`]), by whatever way, so that no two states differ in it: the reset never
//! adds states. Globals and fields of messages that nobody needs at all go with it ([`super::unneeded`]);
//! each makes more of the other dead, so they take turns.
//!
//! Why it is sound: a state and the one with dead cells reset have the same steps, to states that are equal
//! again up to dead cells, and satisfy the same propositions.

use promela::ir::{Action, Base, EdgeId, Expr, LocId, Place, Proctype, ProctypeId, Program, RecvArg, visit};

use super::bits::Bits;
use super::unneeded::{Needed, drop_writes, forget};
use super::uses::{Context, Field, Wanted, is_harmless};
use crate::facts::footprint::extent;
use crate::facts::{Cells, Footprint, Points};

/// Proctypes with more (cells × locations) than this are left alone: the analysis would cost more than it
/// gives.
const MAX_BITS: usize = 1 << 27;

/// How often variables and messages take turns.
const ROUNDS: usize = 4;

/// Marks dead local cells at every location, and makes writes to what nobody needs vanish.
pub fn mark(program: &mut Program) {
    let points = Points::sure(program);
    let remote = remote_cells(program);
    let large = |p: &Proctype| (p.n_cells as usize).saturating_mul(p.locations.len()) > MAX_BITS;
    let large: Vec<bool> = program.proctypes.iter().map(large).collect();
    for _ in 0..ROUNDS {
        let needed = Needed::new(program, &points, &large);
        drop_writes(program, &points, &needed);
        let mut less = false;
        for p in 0..program.proctypes.len() {
            if program.proctypes[p].n_cells > 0 && !large[p] {
                let live = live_cells(Context { program, points: &points }, p, &remote[p], &needed);
                let proctype = &mut program.proctypes[p];
                for (location, live) in proctype.locations.iter_mut().zip(&live).skip(1) {
                    if !location.in_d_step {
                        location.dead = (0..proctype.n_cells).filter(|&cell| !live.has(cell)).collect();
                    }
                }
                less |= drop_dead_stores(proctype, &live);
            }
        }
        if !less {
            return;
        }
    }
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

/// What an edge needs of the own cells.
struct Needs {
    /// The own cells that it assigns to.
    target: Option<(u32, u32)>,
    /// What it uses when they are live.
    then: Cells,
    /// What it uses anyway.
    always: Cells,
    kills: Cells,
}

impl Needs {
    fn of(context: Context<'_>, p: usize, id: usize, needed: &Needed) -> Needs {
        let edge = &context.program.proctypes[p].edges[id];
        let uses = |own| context.of(p, &edge.action, &After { own, needed }).own;
        let target = match &edge.action {
            Action::Assign(place, _) if place.base == Base::Local => Some(extent(place)),
            _ => None,
        };
        let always = uses(false);
        let then = if target.is_some() { uses(true) } else { Cells::default() };
        Needs { target, then, always, kills: Footprint::of(edge).kills }
    }

    /// Turns what is live after the edge into what is live before.
    fn before(&self, live: &mut Bits) {
        let used =
            if self.target.is_some_and(|cells| live.has_any(cells)) { &self.then } else { &self.always };
        self.kills.iter().for_each(|cell| {
            live.set(cell, false);
        });
        used.iter().for_each(|cell| {
            live.set(cell, true);
        });
    }
}

/// After an edge all own cells are needed, or none.
struct After<'a> {
    own: bool,
    needed: &'a Needed,
}

impl Wanted for After<'_> {
    fn globals(&self, cells: (u32, u32)) -> bool {
        self.needed.any_global(cells)
    }

    fn own(&self, _: (u32, u32)) -> bool {
        self.own
    }

    fn parameter(&self, proctype: ProctypeId, cell: u32) -> bool {
        self.needed.parameter(proctype, cell)
    }

    fn field(&self, field: Field) -> bool {
        self.needed.field(field)
    }
}

/// The live cells of every location, as a least fixed point.
fn live_cells(context: Context<'_>, p: usize, remote: &Cells, needed: &Needed) -> Vec<Bits> {
    let proctype = &context.program.proctypes[p];
    let mut always = Bits::new(proctype.n_cells as usize);
    remote.iter().for_each(|cell| {
        always.set(cell, true);
    });
    if let Some(provided) = &proctype.provided {
        Footprint::of_expr(provided).local_reads.iter().for_each(|cell| {
            always.set(cell, true);
        });
    }
    let needs: Vec<Needs> = (0..proctype.edges.len()).map(|id| Needs::of(context, p, id, needed)).collect();
    let flows = flows(proctype);
    let mut live = vec![always; proctype.locations.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); proctype.locations.len()];
    for (i, flow) in flows.iter().enumerate() {
        before[flow.to.index()].push(i);
    }
    let mut work: Vec<usize> = (0..flows.len()).collect();
    while let Some(i) = work.pop() {
        let flow = flows[i];
        let mut live_before = live[flow.to.index()].clone();
        if let Some(edge) = flow.edge {
            needs[edge.index()].before(&mut live_before);
        }
        if live[flow.from.index()].merge(&live_before) {
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

/// All ways. A d_step leads to its first statement, to the statements that guard it, and from its exit to
/// where the process is afterwards.
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

/// Stores and receives whose target is dead afterwards are none. True when something that was read is not any
/// more.
fn drop_dead_stores(proctype: &mut Proctype, live: &[Bits]) -> bool {
    let mut less = false;
    for edge in &mut proctype.edges {
        let live = &live[edge.to.index()];
        let dead = |place: &Place| {
            place.base == Base::Local && place.indices.is_empty() && !live.has_any(extent(place))
        };
        match &mut edge.action {
            Action::Assign(place, expr) if dead(place) && is_harmless(expr) && reads(expr) => {
                forget(place, expr);
                less = true;
            }
            Action::Receive { args, .. } => {
                // What is stored first may be the index of what is stored next.
                let mut indices = Cells::default();
                for arg in args.iter() {
                    if let RecvArg::Store(place) = arg {
                        visit::walk_place(place, &mut |e| {
                            indices.add_all(&Footprint::of_expr(e).local_reads)
                        });
                    }
                }
                for arg in args {
                    if matches!(arg, RecvArg::Store(place) if dead(place) && !indices.contains(place.cell)) {
                        *arg = RecvArg::Ignore;
                        less = true;
                    }
                }
            }
            _ => {}
        }
    }
    less
}

fn reads(expr: &Expr) -> bool {
    let footprint = Footprint::of_expr(expr);
    !footprint.local_reads.is_empty() || !footprint.global_reads.is_empty()
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

    /// A model, in which somebody looks at `g`, with its dead variables.
    fn marked(text: &str) -> Program {
        let mut program = program(&format!("{text} active proctype watch() {{ g == 99 }}"));
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
    fn a_read_whose_result_is_dead_keeps_nothing_alive() {
        let program = marked(
            "byte g; active proctype p() { byte n, x, y, z; n = 1; n++; g = 1; x = g; y = x; z = 3; printf(\"%d\", z); \
             y = 7 / x; g = 2 }",
        );
        assert_eq!(dead_at(&program, "p", "g = 1"), ["n", "x", "y", "z"]);
        assert_eq!(dead_at(&program, "p", "y = x"), ["n", "y", "z"], "a division needs what it divides by");
        assert_eq!(dead_at(&program, "p", "printf(\"%d\", z)"), ["n", "y", "z"]);
    }

    #[test]
    fn messages_and_variables_take_turns() {
        let program = marked(
            "byte g, h; chan c = [1] of { byte, byte }; active proctype p() { byte x, y; h = 2; c!h,g; c?x,y; g = y; x = 1; g = x }",
        );
        let Action::Receive { args, .. } = &edge(&program, "p", "c?x,y").action else { panic!() };
        assert!(matches!(args[..], [RecvArg::Ignore, RecvArg::Store(_)]), "x is dead after the receive");
        let Action::Assign(place, _) = &edge(&program, "p", "h = 2").action else { panic!() };
        assert_eq!(place.base, Base::Scratch, "so nobody needs the field, and nobody needs h");
    }

    #[test]
    fn what_is_stored_first_may_be_an_index() {
        let program = marked(
            "byte g; chan c = [1] of { byte, byte }; active proctype p() { byte i, v[3]; c?i,v[i]; g = v[2] }",
        );
        let Action::Receive { args, .. } = &edge(&program, "p", "c?i,v[i]").action else { panic!() };
        assert!(matches!(args[..], [RecvArg::Store(_), RecvArg::Store(_)]));
    }

    #[test]
    fn globals_that_nobody_reads_stay_as_they_are() {
        let program = marked(
            "byte g, seen, used; chan c = [1] of { byte, byte }; \
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
