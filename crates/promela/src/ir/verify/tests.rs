//! Every rule, broken once.

use super::*;
use crate::ir::samples::{self, append, array, binary, chain, edge, expr, global, indexed, int, load, local};

/// A program that keeps the rules is changed; the complaint must contain `message`.
fn broken(message: &str, change: impl FnOnce(&mut Program)) {
    let mut program = samples::everything();
    change(&mut program);
    let errors = verify(&program).expect_err(message);
    assert!(errors.iter().any(|e| e.contains(message)), "{message}: {errors:#?}");
}

/// The first edge of the sample's first proctype gets another action; the complaint must contain `message`.
fn broken_action(message: &str, action: Action) {
    broken(message, |p| p.proctypes[0].edges[0].action = action);
}

fn broken_guard(message: &str, kind: ExprKind) {
    broken_action(message, Action::Guard(expr(kind)));
}

fn broken_place(message: &str, place: Place) {
    broken_action(message, Action::Guard(load(place)));
}

#[test]
fn the_samples_keep_the_rules() {
    for program in [Program::default(), samples::mutex(), samples::everything()] {
        assert_eq!(verify(&program), Ok(()));
    }
    assert!(verify(&samples::broken()).is_err());
}

#[test]
fn structures() {
    broken("it has no fields", |p| {
        p.structs.push(Struct { name: "s".into(), fields: Vec::new(), n_cells: 0 });
    });
    broken("struct1 (Deep): field bits: it is at 9, not 8", |p| p.structs[1].fields[1].offset = 9);
    broken("it has 11 cells, but its fields have 10", |p| p.structs[1].n_cells = 11);
    broken("struct1 is not an earlier structure", |p| {
        p.structs[1].fields[0].ty = Type::Struct(StructId(1));
    });
    broken("struct7 does not exist", |p| p.structs[1].fields[0].ty = Type::Struct(StructId(7)));
    broken("more than 16777216", |p| p.structs[0].fields[0].ty = array(1 << 25, Type::Scalar(Scalar::Bit)));
    broken("too many cells", |p| {
        for field in &mut p.structs[0].fields {
            field.ty = array(MAX_CELLS, Type::Scalar(Scalar::Bit));
        }
    });
    broken("too deeply", |p| {
        for i in 1..=MAX_NESTING as u32 {
            let fields = vec![Field { name: "f".into(), ty: Type::Struct(StructId(i)), offset: 0 }];
            p.structs.push(Struct { name: "s".into(), fields, n_cells: p.structs[1].n_cells });
        }
    });
}

#[test]
fn types() {
    broken("an array has no elements", |p| p.globals[0].ty = array(0, Type::Scalar(Scalar::Bit)));
    broken("struct9 does not exist", |p| p.globals[0].ty = Type::Struct(StructId(9)));
    broken("mtype5 does not exist", |p| p.globals[0].ty = Type::Scalar(Scalar::Mtype(MtypeId(5))));
    broken("unsigned of 0 bits", |p| p.globals[0].ty = Type::Scalar(Scalar::Unsigned(0)));
    broken("unsigned of 33 bits", |p| p.chan_types[0].fields[0] = Scalar::Unsigned(33));
    broken("more than 16777216", |p| {
        p.globals[0].ty = array(1 << 20, array(1 << 20, Type::Scalar(Scalar::Bit)));
    });
    broken("too deeply", |p| {
        let mut ty = Type::Scalar(Scalar::Bit);
        for _ in 0..=MAX_NESTING {
            ty = array(1, ty);
        }
        p.globals[0].ty = ty;
    });
}

#[test]
fn variables() {
    broken("globals: variable v: it is at cell 2, not 1", |p| p.globals[1].cell = 2);
    broken("there are 99 cells, but the variables have 43", |p| p.n_global_cells = 99);
    broken("proctype0 (user): there are 6 cells", |p| p.proctypes[0].n_cells = 6);
    broken("more than 16777216", |p| {
        for _ in 0..2 {
            let ty = array(MAX_CELLS, Type::Scalar(Scalar::Bit));
            let cell = p.n_global_cells;
            p.globals.push(Var { name: "big".into(), ty, cell, hidden: false, span: p.globals[0].span });
            p.n_global_cells += MAX_CELLS;
        }
    });
    broken("are not whole variables", |p| p.proctypes[0].n_params = 1);
    broken("are not whole variables", |p| p.proctypes[0].n_params = 8);
    broken("the parameter a is an array", |p| p.proctypes[0].n_params = 6);
}

#[test]
fn channels() {
    broken("chantype1 (rv): its messages have no fields", |p| p.chan_types[1].fields.clear());
    broken("too many", |p| p.chan_types[0].capacity = MAX_CELLS);
}

#[test]
fn places() {
    let n = || int(0);
    broken_place("cell 43 is in no variable", global(43, Scalar::Byte));
    broken_place("cell 7 is in no variable", local(7, Scalar::Byte));
    broken_place("cell 3 holds byte, not int", global(3, Scalar::Int));
    broken_place("cell 14 holds short, not byte", global(14, Scalar::Byte));
    broken_place("belongs to no array", indexed(global(3, Scalar::Byte), n(), 1, 1));
    broken_place("belongs to no array", indexed(local(3, Scalar::Int), n(), 4, 1));
    broken_place("belongs to no array", indexed(local(3, Scalar::Int), n(), 3, 2));
    broken_place("not the first", indexed(local(4, Scalar::Int), n(), 3, 1));
    let swapped = indexed(indexed(global(14, Scalar::Short), n(), 4, 2), n(), 3, 10);
    broken_place("belongs to no array", swapped);
    broken_place(
        "cell 50 is in no variable",
        indexed(global(3, Scalar::Byte), load(global(50, Scalar::Bit)), 1, 1),
    );
    broken_place("one cell", samples::place(Base::Scratch, 1, Scalar::Byte));
    broken_place("unsigned of 40 bits", samples::place(Base::Scratch, 0, Scalar::Unsigned(40)));
    broken("no process", |p| p.invariants[0].expr = load(local(0, Scalar::Byte)));
    broken("no process", |p| p.ltl[0].formula = Formula::Prop(load(local(0, Scalar::Byte))));
}

#[test]
fn every_cell_is_what_the_list_of_scalars_says() {
    let mut program = samples::everything();
    let mut scalars = Vec::new();
    for var in &program.globals {
        program.scalars_of(&var.ty, &mut scalars);
    }
    for (cell, scalar) in scalars.into_iter().enumerate() {
        program.invariants[0].expr = load(global(cell as u32, scalar));
        assert_eq!(verify(&program), Ok(()), "cell {cell}");
    }
}

/// The cells that a place refers to, over all values of its indices.
fn cells_of(place: &Place) -> Vec<u32> {
    let mut cells = vec![place.cell];
    for index in &place.indices {
        let values = 0..index.len;
        cells = values.flat_map(|value| cells.iter().map(move |cell| cell + value * index.stride)).collect();
    }
    cells
}

#[test]
fn an_accepted_place_has_its_scalar_whatever_its_indices() {
    let program = samples::everything();
    let mut scalars = Vec::new();
    for var in &program.globals {
        program.scalars_of(&var.ty, &mut scalars);
    }
    let sizes = [(3, 10), (4, 2), (2, 1), (1, 1), (4, 1), (3, 1), (5, 2)];
    let mut accepted = [0; 3];
    for cell in 0..scalars.len() as u32 + 2 {
        for scalar in samples::all_scalars() {
            for first in 0..=sizes.len() {
                for second in 0..=sizes.len() {
                    let mut place = global(cell, scalar);
                    for (len, stride) in [first, second].into_iter().filter_map(|i| sizes.get(i)) {
                        place = indexed(place, int(0), *len, *stride);
                    }
                    if layout::resolve(&program, &program.globals, &place) == Ok(scalar) {
                        accepted[place.indices.len()] += 1;
                        let right =
                            cells_of(&place).iter().all(|c| scalars.get(*c as usize) == Some(&scalar));
                        assert!(right, "{place:?}");
                    }
                }
            }
        }
    }
    // Each cell without index; then deep[i].pairs[2].x and its like; then deep[i].pairs[j].x, .y,
    // deep[i].bits[j].
    assert_eq!(accepted, [scalars.len(), 2 * (10 + 3 * (2 + 1)), 3]);
}

#[test]
fn initialisation() {
    let assign = |place, value| vec![InitStep::Assign(place, value)];
    broken("chantype8 does not exist", |p| {
        p.init = vec![InitStep::NewChan(global(9, Scalar::Chan), ChanTypeId(8))];
    });
    broken("needs a cell for one", |p| {
        p.init = vec![InitStep::NewChan(global(3, Scalar::Byte), ChanTypeId(0))];
    });
    broken("to the wrong cells", |p| p.proctypes[0].init = assign(global(3, Scalar::Byte), int(1)));
    broken("to the wrong cells", |p| p.init = assign(local(0, Scalar::Byte), int(1)));
    broken("not constant", |p| {
        p.proctypes[0].init = assign(indexed(local(3, Scalar::Int), int(0), 3, 1), int(1))
    });
    broken("`run` is not allowed", |p| p.init = assign(global(3, Scalar::Byte), samples::run_user()));
    broken("cell 60 is in no variable", |p| p.init = assign(global(60, Scalar::Byte), int(1)));
    broken("no process", |p| p.init = assign(global(3, Scalar::Byte), load(local(0, Scalar::Byte))));
}

#[test]
fn processes() {
    let active = |proctype, priority| ActiveProcess { proctype: ProctypeId(proctype), priority };
    broken("proctype9 does not exist", |p| p.active.push(active(9, 1)));
    broken("`never` cannot be active", |p| p.active.push(active(2, 1)));
    broken("a priority is 0", |p| p.active[0].priority = 0);
    broken("more than 255", |p| p.active = vec![active(0, 1); 256]);
    broken("has parameters, but is `init`", |p| {
        let init = &mut p.proctypes[1];
        init.n_params = 1;
        init.n_cells = 1;
        init.locals = vec![Var { cell: 0, ..p.globals[0].clone() }];
    });
    broken("are more than 255", |p| {
        p.proctypes.resize(256, chain("p", ProctypeKind::Proctype, Vec::new()));
    });
    broken("locations are too many", |p| {
        p.proctypes[0].locations.resize(MAX_LOCATIONS as usize, Location::default());
    });
    let run = |id, n_args, priority| ExprKind::Run {
        proctype: ProctypeId(id),
        args: vec![int(1); n_args],
        priority,
    };
    broken_guard("proctype9 does not exist", run(9, 3, 1));
    broken_guard("`run` of `init`", run(1, 0, 1));
    broken_guard("with 2 arguments for 3 parameters", run(0, 2, 1));
    broken_guard("a priority is 0", run(0, 3, 0));
}

#[test]
fn claims_and_traces() {
    broken("proctype9 does not exist", |p| p.never.push(ProctypeId(9)));
    broken("proctype0 is not a never claim", |p| p.never.push(ProctypeId(0)));
    broken("listed 2 times", |p| p.never.push(ProctypeId(2)));
    broken("listed 0 times", |p| p.never.clear());
    broken("proctype9 does not exist", |p| p.trace = Some(ProctypeId(9)));
    broken("proctype2 is not a trace", |p| p.trace = Some(ProctypeId(2)));
    broken("the trace proctype3 is not listed", |p| p.trace = None);
    broken("more than one trace", |p| {
        p.proctypes.push(chain(":trace:", ProctypeKind::Trace, Vec::new()));
    });
}

#[test]
fn locations() {
    broken("the start is L0,", |p| p.proctypes[0].start = LocId(0));
    broken("the start is L103,", |p| p.proctypes[0].start = LocId(103));
    broken("e3: the target is L0,", |p| p.proctypes[0].edges[3].to = LocId(0));
    broken("e3: the target is L103,", |p| p.proctypes[0].edges[3].to = LocId(103));
    broken("e3: the escape is L0,", |p| p.proctypes[0].edges[3].escape = Some(LocId(0)));
    broken("the label start is L0,", |p| p.proctypes[0].labels[0].1 = LocId(0));
    broken("L1 lists e999, which does not exist", |p| {
        p.proctypes[0].locations[1].edges.push(EdgeId(999));
    });
    broken("no location lists e0", |p| {
        p.proctypes[0].locations[1].edges.remove(0);
    });
    broken("L0 has edges or flags", |p| p.proctypes[0].locations[0].end = true);
    broken("L0 has edges or flags", |p| p.proctypes[0].locations[0].edges.push(EdgeId(0)));
    broken("the start is L1, which does not exist", |p| p.proctypes[3].locations.clear());
}

#[test]
fn the_end_has_no_target_and_edges_are_shared() {
    let mut program = samples::mutex();
    let user = &mut program.proctypes[0];
    user.edges[4].to = LocId(777);
    user.locations[2].edges = vec![EdgeId(1), EdgeId(0), EdgeId(0)];
    assert_eq!(verify(&program), Ok(()));
}

#[test]
fn d_steps() {
    let d_step = |entry, exit| Action::DStep { entry: LocId(entry), exit: LocId(exit), guards: None };
    broken_action("the entry is L0,", d_step(0, 102));
    broken_action("the exit is L103,", d_step(100, 103));
    broken_action("the entry L3 is not inside a d_step", d_step(3, 102));
    broken_action("the exit L101 is inside a d_step", d_step(100, 101));
    broken("the start is inside a d_step", |p| p.proctypes[0].start = LocId(100));
    broken("e3 leads into a d_step, to L100", |p| p.proctypes[0].edges[3].to = LocId(100));
    /// Gives the second location inside the d_step of the sample another edge.
    fn inside(program: &mut Program, action: Action, to: u32) {
        let user = &mut program.proctypes[0];
        let id = EdgeId(user.edges.len() as u32);
        user.edges.push(edge(action, to));
        user.locations[101].edges.push(id);
    }
    broken("leaves the d_step, to L3", |p| inside(p, Action::Skip, 3));
    broken("`run` inside a d_step", |p| inside(p, Action::Guard(samples::run_user()), 102));
    broken("`end` inside a d_step", |p| inside(p, Action::End, 0));
    broken("`d_step` inside a d_step", |p| inside(p, d_step(100, 102), 102));
    // A loop inside, even one without end, is for the machine to bound.
    let mut program = samples::everything();
    inside(&mut program, Action::Skip, 100);
    program.proctypes[0].edges[3].to = LocId(102);
    assert_eq!(verify(&program), Ok(()));
    // The target may lie behind the exit.
    let user = &mut program.proctypes[0];
    let behind = append(user, Action::Skip, 1);
    let last = user.edges.iter().rposition(|e| matches!(e.action, Action::DStep { .. })).expect("a d_step");
    user.edges[last].to = LocId(behind);
    inside(&mut program, Action::Skip, behind);
    assert_eq!(verify(&program), Ok(()));
}

#[test]
fn expressions() {
    let run = || Box::new(samples::run_user());
    broken_guard("2 times `run` in one action", ExprKind::Binary(BinaryOp::Add, run(), run()));
    broken("`run` is not allowed", |p| p.proctypes[0].provided = Some(*run()));
    broken("`run` is not allowed", |p| p.invariants[0].expr = *run());
    broken("`run` is not allowed", |p| p.ltl[0].formula = Formula::Prop(*run()));
    let at = |proctype, location| ExprKind::RemoteLabel {
        proctype: ProctypeId(proctype),
        pid: None,
        location: LocId(location),
    };
    broken_guard("proctype7 does not exist", at(7, 1));
    broken_guard("a remote label is L0,", at(0, 0));
    broken_guard("a remote label is L4,", at(1, 4));
    let far = |proctype, place| ExprKind::RemoteVar {
        proctype: ProctypeId(proctype),
        pid: Some(Box::new(int(1))),
        place: Box::new(place),
    };
    broken_guard("proctype7 does not exist", far(7, local(0, Scalar::Byte)));
    broken_guard("a remote variable is not local", far(0, global(3, Scalar::Byte)));
    broken_guard("cell 0 is in no variable", far(1, local(0, Scalar::Byte)));
    let outside = load(local(50, Scalar::Byte));
    broken_guard("cell 50 is in no variable", far(0, indexed(local(3, Scalar::Int), outside, 3, 1)));
    let poll = |args| ExprKind::Poll { chan: Box::new(int(1)), random: false, args };
    broken_guard("a receive or poll without fields", poll(Vec::new()));
    broken_guard("cell 60 is in no variable", poll(vec![RecvArg::Store(global(60, Scalar::Byte))]));
    let mut deep = int(1);
    for _ in 0..MAX_NESTING {
        deep = expr(ExprKind::Unary(UnaryOp::Not, Box::new(deep)));
    }
    broken_guard("nested more than 1000 deep", deep.kind);
    broken("nested more than 1000 deep", |p| {
        let mut formula = Formula::Prop(int(1));
        for _ in 0..MAX_NESTING {
            formula = Formula::Not(Box::new(formula));
        }
        p.ltl[0].formula = formula;
    });
}

#[test]
fn actions() {
    broken_action("a send without fields", Action::Send { chan: int(1), sorted: false, args: Vec::new() });
    broken_action(
        "a receive or poll without fields",
        Action::Receive { chan: int(1), random: false, keep: false, args: Vec::new() },
    );
    broken_action("only locks and semaphores", Action::Lock(global(3, Scalar::Byte)));
    broken_action("only locks and semaphores", Action::Unlock(global(3, Scalar::Byte)));
    broken_action("cell 60 is in no variable", Action::Lock(global(60, Scalar::Lock)));
    broken_action("mtype8 does not exist", Action::Printm(int(1), Some(MtypeId(8))));
    broken_action("cell 60 is in no variable", Action::Assign(global(60, Scalar::Byte), int(1)));
    broken_action("2 times `run`", {
        Action::Printf(String::new(), vec![samples::run_user(), samples::run_user()])
    });
}

#[test]
fn mechanisms_are_declared() {
    /// The complaint when a guard or action of the smallest sample needs what it does not declare.
    fn undeclared(word: &str, action: Action) {
        let mut program = samples::mutex();
        program.proctypes[0].edges[0].action = action;
        let errors = verify(&program).expect_err(word);
        assert!(errors[0].contains(word) && errors[0].contains("`uses`"), "{word}: {errors:?}");
    }
    let pid = || Box::new(expr(ExprKind::Pid));
    let guard = |kind| Action::Guard(expr(kind));
    undeclared("`last`", guard(ExprKind::Last));
    undeclared("`priority`", guard(ExprKind::Priority));
    undeclared("`priority`", guard(ExprKind::GetPriority(pid())));
    undeclared("`priority`", Action::SetPriority(*pid(), int(2)));
    undeclared("`timeout`", Action::Guard(binary(BinaryOp::And, expr(ExprKind::Timeout), int(1))));
    undeclared("`enabled`", guard(ExprKind::Enabled(pid())));
    let run = ExprKind::Run { proctype: ProctypeId(0), args: Vec::new(), priority: 2 };
    undeclared("priorities", guard(run));
    let mut program = samples::mutex();
    program.active[0].priority = 2;
    assert!(verify(&program).is_err());
    program.uses.priority = true;
    assert_eq!(verify(&program), Ok(()));
}

#[test]
fn complaints_are_not_without_end() {
    let mut program = samples::mutex();
    program.never = vec![ProctypeId(99); 100_000];
    assert_eq!(verify(&program).expect_err("broken").len(), MAX_ERRORS);
}
