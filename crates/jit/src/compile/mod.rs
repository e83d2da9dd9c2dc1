//! From automata to native code.
//!
//! This file plans the functions and drives Cranelift; `process` makes the functions of a proctype,
//! `statement` what an edge tests and does, `emit` how an outcome is written, `channel` messages, `expr`
//! values, `share` values that several edges need. Every location has a function; in large programs locations
//! are put together in groups of a size that Cranelift likes, and a group's function looks where the process
//! is. There are four kinds: *expand* writes the outcomes of a process, *any* asks whether it could move
//! (after a step inside an atomic sequence), *receive* lets it take a message that is on offer, *listen* says
//! on which channels it would. The time that Cranelift takes for a function grows faster than the function,
//! so that none may be arbitrarily large: the edges of a location that has very many are cut into *parts*
//! with functions of their own, and a d_step that is very long is left to the reference machine.

mod channel;
mod emit;
mod expr;
mod process;
mod share;
mod statement;

use std::collections::HashSet;
use std::mem;
use std::ops::Range;

use cranelift_codegen::Context as CodegenContext;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use machine::facts::Points;
use promela::ir::{Action, BinaryOp, EdgeId, Expr, ExprKind, LocId, Proctype, Program, RecvArg};

use crate::code::{Check, Code, Expand, Listen, Receive, channel_bit, nothing};
use crate::layout::{ChanLayout, Layout};
use crate::runtime::FLAGS;

use channel::UNROLLED;
use process::{Body, Kind};
use stop::Stop;

/// Edges in one function, about.
const GROUP: usize = 32;
/// Edges of one location in one function, at most.
const MOST_EDGES: usize = 256;
/// Edges in a part of a location that has more.
const PART: usize = 64;
/// Edges inside a d_step for which there is code, at most.
const LONG_D_STEP: usize = 1000;
/// Programs with no more edges than this are small: they get a function for every location: finding the
/// location inside a function takes a tenth of the time of an expansion, and making more functions a third
/// more time.
const FEW_EDGES: usize = 1000;

/// What functions are made.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// Locations are put together in functions, instead of one for each.
    pub together: bool,
    /// Edges of one location in one function, at most.
    pub most_edges: usize,
}

impl Functions {
    /// What suits a program.
    pub fn of(program: &Program) -> Self {
        let edges: usize = program.proctypes.iter().map(|p| p.edges.len()).sum();
        Functions { together: edges > FEW_EDGES, most_edges: MOST_EDGES }
    }
}

/// What all functions are made from.
struct Plan<'p> {
    program: &'p Program,
    layout: &'p Layout,
    points: Points,
    /// Groups of propositions.
    propositions: &'p [Vec<Expr>],
    /// Whether others may look before a sender is where it will be: nobody can see where it is.
    late_sender: bool,
    /// For every proctype where the flags of its edges begin.
    flags: Vec<u32>,
    /// Whether all of them are in the context.
    few_flags: bool,
    /// For every proctype, for every location, the function that answers whether a process there can move.
    any: Vec<Vec<Option<FuncId>>>,
    /// For every proctype, for every location, whether an edge inside an atomic sequence leads there.
    reached_in_control: Vec<Vec<bool>>,
}

/// The functions of one kind.
struct Group {
    id: FuncId,
    proctype: usize,
    kind: Kind,
    locations: Vec<LocId>,
    /// The functions that it calls for the edges of its only location, with the edges of each; none where it
    /// has few.
    parts: Vec<(FuncId, Range<usize>)>,
}

/// Functions that look at a state without moving it.
struct Checks {
    inits: Vec<Option<FuncId>>,
    invariants: Option<FuncId>,
    propositions: Vec<Option<FuncId>>,
}

impl Checks {
    /// Declares the functions for what there is to initialise and to check.
    fn declared(plan: &Plan<'_>, module: &mut JITModule) -> Result<Self, String> {
        let mut function = |wanted: bool, kind| wanted.then(|| declare(module, kind)).transpose();
        let program = plan.program;
        let inits = program.proctypes.iter().map(|p| function(!p.init.is_empty(), Kind::Init));
        let inits = inits.collect::<Result<_, _>>()?;
        let invariants = !program.invariants.is_empty() && plan.can_check_invariants();
        let invariants = function(invariants, Kind::Invariants)?;
        let can = |group: &Vec<Expr>| group.iter().all(|e| can_eval(e) && !needs_process(e));
        let propositions = plan.propositions.iter().map(|group| function(can(group), Kind::Propositions));
        Ok(Checks { inits, invariants, propositions: propositions.collect::<Result<_, _>>()? })
    }

    /// Makes their code.
    fn define(&self, plan: &Plan<'_>, maker: &mut Maker<'_>) -> Result<(), String> {
        let of = |kind: Kind, ids: &[Option<FuncId>]| -> Vec<(Kind, usize, FuncId)> {
            ids.iter().enumerate().filter_map(|(at, id)| Some((kind, at, (*id)?))).collect()
        };
        let inits = of(Kind::Init, &self.inits);
        let invariants = of(Kind::Invariants, &[self.invariants]);
        let propositions = of(Kind::Propositions, &self.propositions);
        for (kind, at, id) in inits.into_iter().chain(invariants).chain(propositions) {
            maker.define(plan, id, kind, at, &Body::Locations(&[]))?;
        }
        Ok(())
    }
}

/// Makes the code of a program. Gives up when it is to `stop`.
pub fn compile(
    program: &Program,
    layout: &Layout,
    propositions: &[Vec<Expr>],
    functions: Functions,
    stop: &Stop,
) -> Result<Code, String> {
    let mut module = module()?;
    let flags = program.proctypes.iter().scan(0, |next, p| {
        let first = *next;
        *next += p.edges.len() as u32;
        Some(first)
    });
    let flags = flags.collect();
    let mut plan = Plan {
        program,
        layout,
        points: Points::likely(program),
        propositions,
        late_sender: !looks_at_others(program),
        flags,
        few_flags: program.proctypes.iter().map(|p| p.edges.len()).sum::<usize>() <= FLAGS,
        any: Vec::new(),
        reached_in_control: program.proctypes.iter().map(reached_in_control).collect(),
    };
    let groups = plan_groups(&mut plan, &mut module, functions)?;
    let checks = Checks::declared(&plan, &mut module)?;
    let mut maker = Maker {
        context: module.make_context(),
        builder: FunctionBuilderContext::new(),
        module: &mut module,
        stop,
    };
    for group in &groups {
        maker.define_group(&plan, group)?;
    }
    checks.define(&plan, &mut maker)?;
    stop.check();
    module.finalize_definitions().map_err(|e| format!("the code cannot be linked: {e}"))?;
    Ok(collect(&plan, module, &groups, &checks))
}

fn module() -> Result<JITModule, String> {
    let mut flags = settings::builder();
    let checked = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        // Code is straight and in the right order: optimising gains nothing that can be measured, and takes
        // time.
        ("opt_level", "none"),
        ("enable_verifier", checked),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).map_err(|e| e.to_string())?;
    }
    let isa = cranelift_native::builder().map_err(|e| format!("this processor is not supported: {e}"))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())?;
    Ok(JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())))
}

/// The signature of a kind of function.
fn signature(module: &JITModule, kind: Kind) -> Signature {
    let mut signature = module.make_signature();
    let pointer = module.target_config().pointer_type();
    signature.params.extend([AbiParam::new(pointer); 4]);
    if kind == Kind::Receive {
        signature.params.extend([AbiParam::new(types::I32); 2]);
    }
    signature.returns.push(AbiParam::new(if kind == Kind::Listen { types::I64 } else { types::I32 }));
    signature
}

fn declare(module: &mut JITModule, kind: Kind) -> Result<FuncId, String> {
    let signature = signature(module, kind);
    module.declare_anonymous_function(&signature).map_err(|e| e.to_string())
}

/// Which locations need which code, in groups.
fn plan_groups(
    plan: &mut Plan<'_>,
    module: &mut JITModule,
    functions: Functions,
) -> Result<Vec<Group>, String> {
    let mut groups = Vec::new();
    let rendezvous = plan.has_rendezvous();
    let most = if functions.together { GROUP } else { 1 };
    for (index, proctype) in plan.program.proctypes.iter().enumerate() {
        let block = &plan.layout.processes[index];
        let locations = || (0..proctype.locations.len() as u32).map(LocId);
        let stops = |l: &LocId| !proctype.location(*l).in_d_step && !proctype.location(*l).edges.is_empty();
        let mut asked = vec![false; proctype.locations.len()];
        for edge in proctype.edges.iter().filter(|e| e.atomic && !matches!(e.action, Action::End)) {
            asked[edge.to.index()] = !always_enabled(proctype, edge.to);
        }
        let mut any = vec![None; proctype.locations.len()];
        for kind in [Kind::Expand, Kind::Any, Kind::Receive, Kind::Listen] {
            let wanted: Vec<LocId> = match kind {
                Kind::Any => locations().filter(|l| asked[l.index()]).collect(),
                Kind::Receive | Kind::Listen if !rendezvous => Vec::new(),
                Kind::Receive => locations().filter(|l| stops(l) && block.may_receive[l.index()]).collect(),
                Kind::Listen => {
                    locations().filter(|l| stops(l) && plan.is_heard_by_state(proctype, *l)).collect()
                }
                _ => locations().filter(stops).collect(),
            };
            // A function that calls something has to keep its values through the call, at the expense of all
            // its locations.
            let (calling, quiet): (Vec<LocId>, Vec<LocId>) =
                wanted.into_iter().partition(|&l| plan.calls(proctype, l));
            let locations = [calling, quiet].map(|wanted| chunks(proctype, &wanted, most));
            for locations in locations.into_iter().flatten() {
                let id = declare(module, kind)?;
                if kind == Kind::Any {
                    locations.iter().for_each(|l| any[l.index()] = Some(id));
                }
                let parts = plan_parts(plan, module, (kind, functions), proctype, &locations)?;
                groups.push(Group { id, proctype: index, kind, locations, parts });
            }
        }
        plan.any.push(any);
    }
    Ok(groups)
}

/// The parts of a location that has too many edges for one function.
fn plan_parts(
    plan: &Plan<'_>,
    module: &mut JITModule,
    (kind, functions): (Kind, Functions),
    proctype: &Proctype,
    locations: &[LocId],
) -> Result<Vec<(FuncId, Range<usize>)>, String> {
    let [location] = locations[..] else { return Ok(Vec::new()) };
    let n = proctype.location(location).edges.len();
    if n <= functions.most_edges || kind == Kind::Expand && !plan.can_expand(proctype, location) {
        return Ok(Vec::new());
    }
    let size = PART.min(functions.most_edges.max(1));
    let part = |first| Ok((declare(module, kind)?, first..n.min(first + size)));
    (0..n).step_by(size).map(part).collect()
}

/// For every location, whether an edge inside an atomic sequence leads there.
fn reached_in_control(proctype: &Proctype) -> Vec<bool> {
    let mut reached = vec![false; proctype.locations.len()];
    for edge in proctype.edges.iter().filter(|edge| edge.atomic) {
        reached[edge.to.index()] = true;
    }
    reached
}

/// Cuts a list of locations where about enough edges are together.
fn chunks(proctype: &Proctype, locations: &[LocId], most: usize) -> Vec<Vec<LocId>> {
    let mut out: Vec<Vec<LocId>> = Vec::new();
    let mut edges = most;
    for &location in locations {
        let more = proctype.location(location).edges.len().max(1);
        if edges + more > most {
            out.push(Vec::new());
            edges = 0;
        }
        edges += more;
        if let Some(last) = out.last_mut() {
            last.push(location);
        }
    }
    out
}

/// A process there can always move.
fn always_enabled(proctype: &Proctype, location: LocId) -> bool {
    let first = proctype.location(location).edges.first();
    proctype.provided.is_none()
        && first.is_some_and(|&edge| {
            matches!(
                proctype.edge(edge).action,
                Action::Skip
                    | Action::Else
                    | Action::Assign(..)
                    | Action::Assert(_)
                    | Action::Printf(..)
                    | Action::Printm(..)
                    | Action::Unlock(_)
            )
        })
}

/// Makes one function after another.
struct Maker<'m> {
    context: CodegenContext,
    builder: FunctionBuilderContext,
    module: &'m mut JITModule,
    stop: &'m Stop,
}

impl Maker<'_> {
    fn define_group(&mut self, plan: &Plan<'_>, group: &Group) -> Result<(), String> {
        let Group { id, proctype, kind, ref locations, ref parts } = *group;
        if parts.is_empty() {
            return self.define(plan, id, kind, proctype, &Body::Locations(locations));
        }
        for (part, edges) in parts {
            self.define(plan, *part, kind, proctype, &Body::Part(locations[0], edges.clone()))?;
        }
        let parts: Vec<FuncId> = parts.iter().map(|part| part.0).collect();
        self.define(plan, id, kind, proctype, &Body::Parts(&parts))
    }

    fn define(
        &mut self,
        plan: &Plan<'_>,
        id: FuncId,
        kind: Kind,
        proctype: usize,
        body: &Body<'_>,
    ) -> Result<(), String> {
        self.stop.check();
        self.context.func.signature = signature(self.module, kind);
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        process::function(plan, self.module, builder, kind, proctype, body);
        let defined = self.module.define_function(id, &mut self.context);
        defined.map_err(|e| format!("the code of {} cannot be made: {e:?}", plan.name(proctype)))?;
        self.module.clear_context(&mut self.context);
        Ok(())
    }
}

fn collect(plan: &Plan<'_>, module: JITModule, groups: &[Group], checks: &Checks) -> Code {
    let locations = || plan.program.proctypes.iter().map(|p| p.locations.len());
    let mut expand: Vec<Box<[Expand]>> =
        locations().map(|n| vec![nothing as Expand; n.max(1 << u8::BITS)].into()).collect();
    let mut receive: Vec<Box<[_]>> = locations().map(|n| vec![None; n].into()).collect();
    let mut listen: Vec<Box<[_]>> = locations().map(|n| vec![None; n].into()).collect();
    for group in groups {
        let address = module.get_finalized_function(group.id);
        for location in &group.locations {
            match group.kind {
                Kind::Expand => {
                    // SAFETY: the function was declared with this signature.
                    let function = unsafe { mem::transmute::<*const u8, Expand>(address) };
                    expand[group.proctype][location.index()] = function;
                }
                Kind::Receive => {
                    // SAFETY: the function was declared with this signature.
                    let function = unsafe { mem::transmute::<*const u8, Receive>(address) };
                    receive[group.proctype][location.index()] = Some(function);
                }
                Kind::Listen => {
                    // SAFETY: the function was declared with this signature.
                    let function = unsafe { mem::transmute::<*const u8, Listen>(address) };
                    listen[group.proctype][location.index()] = Some(function);
                }
                _ => {}
            }
        }
    }
    let check = |id: FuncId| {
        // SAFETY: the function was declared with this signature.
        unsafe { mem::transmute::<*const u8, Check>(module.get_finalized_function(id)) }
    };
    let init = checks.inits.iter().map(|id| id.map(check)).collect();
    let invariants = checks.invariants.map(check);
    let propositions = checks.propositions.iter().map(|id| id.map(check)).collect();
    let changes_state = plan.has_rendezvous() && !plan.late_sender;
    let hears = plan.hears();
    Code {
        expand,
        receive,
        hears,
        listen,
        init,
        invariants,
        propositions,
        changes_state,
        offers: plan.has_rendezvous(),
        module: Some(module).into(),
    }
}

impl Plan<'_> {
    fn name(&self, proctype: usize) -> &str {
        self.program.proctypes.get(proctype).map_or("the program", |p| &p.name)
    }

    /// Whether there is code for an action; if not, the reference machine does it.
    fn can(&self, proctype: &Proctype, action: &Action) -> bool {
        if proctype.deterministic {
            return false;
        }
        match action {
            Action::Skip | Action::Else | Action::End => true,
            Action::Guard(e) | Action::Assert(e) | Action::Printm(e, _) => can_eval(e),
            Action::Assign(place, e) => can_eval(e) && place.indices.iter().all(|i| can_eval(&i.value)),
            Action::Send { chan, args, .. } => can_eval(chan) && args.iter().all(can_eval),
            Action::Receive { chan, args, .. } => can_eval(chan) && args.iter().all(can_match),
            Action::Printf(_, args) => args.iter().all(can_eval),
            Action::Lock(place) | Action::Unlock(place) => place.indices.iter().all(|i| can_eval(&i.value)),
            Action::DStep { entry, guards, .. } => self.can_d_step(proctype, *entry, *guards),
            Action::SetPriority(..) | Action::C(_) | Action::Event { .. } => false,
        }
    }

    /// Whether there is code for all edges of a location.
    fn can_expand(&self, proctype: &Proctype, location: LocId) -> bool {
        let mut edges = proctype.location(location).edges.iter();
        edges.all(|&id| self.can(proctype, &proctype.edge(id).action))
    }

    /// Whether there is code for everything inside a d_step, and it is not too long for that.
    fn can_d_step(&self, proctype: &Proctype, entry: LocId, guards: Option<LocId>) -> bool {
        let mut seen = HashSet::new();
        let mut edges = 0;
        let mut todo = vec![entry];
        todo.extend(guards);
        while let Some(location) = todo.pop() {
            if !seen.insert(location) || !proctype.location(location).in_d_step {
                continue;
            }
            edges += proctype.location(location).edges.len();
            if edges > LONG_D_STEP {
                return false;
            }
            for &id in &proctype.location(location).edges {
                let edge = proctype.edge(id);
                let simple = !matches!(edge.action, Action::DStep { .. } | Action::End)
                    && machine::interp::layout::find_run(&edge.action).is_none();
                if !simple || !self.can(proctype, &edge.action) {
                    return false;
                }
                todo.push(edge.to);
            }
        }
        true
    }

    /// Whether the code of a location calls something. A guess: it decides only which locations are put
    /// together.
    fn calls(&self, proctype: &Proctype, location: LocId) -> bool {
        let may_meet = |chan: &Expr, fits: &dyn Fn(&ChanLayout) -> bool| {
            let types = self.points.of(chan, Some(self.index_of(proctype)));
            types.is_empty() || types.iter().any(|&ty| fits(&self.layout.channels[ty as usize]))
        };
        proctype.location(location).edges.iter().any(|&id| {
            let edge = proctype.edge(id);
            let asks = edge.atomic && !always_enabled(proctype, edge.to);
            asks || machine::interp::layout::find_run(&edge.action).is_some()
                || match &edge.action {
                    Action::Send { sorted, chan, .. } => *sorted || may_meet(chan, &|c| c.capacity == 0),
                    Action::Receive { chan, random, .. } => *random || may_meet(chan, &|c| c.size > UNROLLED),
                    Action::DStep { .. } => false,
                    Action::End => self.layout.hidden > 0,
                    _ => false,
                }
        })
    }

    fn index_of(&self, proctype: &Proctype) -> usize {
        self.program.proctypes.iter().position(|p| std::ptr::eq(p, proctype)).unwrap_or(0)
    }

    fn has_rendezvous(&self) -> bool {
        self.program.chan_types.iter().any(|ty| ty.capacity == 0)
    }

    /// For every location of every proctype the channels on which a process there may take what is on offer.
    fn hears(&self) -> Vec<Box<[u64]>> {
        let of = |p: &Proctype| p.locations.iter().map(|l| self.heard_by(p, &l.edges)).collect();
        self.program.proctypes.iter().map(of).collect()
    }

    fn heard_by(&self, proctype: &Proctype, edges: &[EdgeId]) -> u64 {
        let received_from = channels_received_from(proctype, edges);
        received_from.into_iter().fold(0, |all, chan| all | self.channels_of(chan))
    }

    /// Whether the channels on which a process at a location would take a message depend on the state, and
    /// can be told: by what does not change while a message is on offer.
    fn is_heard_by_state(&self, proctype: &Proctype, location: LocId) -> bool {
        let channels = channels_received_from(proctype, &proctype.location(location).edges);
        channels.iter().any(|chan| self.channels_of(chan).count_ones() > 1)
            && channels.into_iter().all(is_of_variables)
    }

    /// The channels that an expression may mean.
    fn channels_of(&self, chan: &Expr) -> u64 {
        let ExprKind::Load(place) = &chan.kind else { return u64::MAX };
        if place.base != promela::ir::Base::Global {
            return u64::MAX;
        }
        let last: u32 = place.indices.iter().map(|i| i.len.saturating_sub(1) * i.stride).sum();
        let names = (0..=last).map(|i| self.points.global(place.cell + i).map(channel_bit));
        names.fold(0, |all, one| all | one.unwrap_or(u64::MAX))
    }

    fn can_check_invariants(&self) -> bool {
        self.program.invariants.iter().all(|i| can_eval(&i.expr) && !needs_process(&i.expr))
    }
}

/// The channels of the receives that edges begin with.
fn channels_received_from<'p>(proctype: &'p Proctype, edges: &[EdgeId]) -> Vec<&'p Expr> {
    let receive = |id: EdgeId| match &proctype.edge(id).action {
        Action::Receive { chan, keep: false, .. } => Some(chan),
        _ => None,
    };
    let mut channels = Vec::new();
    for &id in edges {
        match &proctype.edge(id).action {
            Action::DStep { entry, guards, .. } => {
                let inner = &proctype.location(guards.unwrap_or(*entry)).edges;
                channels.extend(inner.iter().filter_map(|&id| receive(id)));
            }
            _ => channels.extend(receive(id)),
        }
    }
    channels
}

/// Whether an expression is made of constants and of variables that it names.
fn is_of_variables(expr: &Expr) -> bool {
    let mut only = true;
    walk(expr, &mut |e| {
        only &= matches!(
            e.kind,
            ExprKind::Const(_)
                | ExprKind::Load(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Pid
        );
    });
    only
}

fn can_match(arg: &RecvArg) -> bool {
    match arg {
        RecvArg::Store(place) => place.indices.iter().all(|i| can_eval(&i.value)),
        RecvArg::Ignore => true,
        RecvArg::Match(e) => can_eval(e),
    }
}

/// Calls `visit` with an expression and all inside it.
fn walk<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    let mut todo = vec![expr];
    while let Some(expr) = todo.pop() {
        visit(expr);
        match &expr.kind {
            ExprKind::Load(place) => todo.extend(place.indices.iter().map(|i| &i.value)),
            ExprKind::Unary(_, a)
            | ExprKind::Chan(_, a)
            | ExprKind::Enabled(a)
            | ExprKind::PcValue(a)
            | ExprKind::GetPriority(a) => todo.push(a),
            ExprKind::Binary(_, a, b) => todo.extend([&**a, &**b]),
            ExprKind::Cond(a, b, c) => todo.extend([&**a, &**b, &**c]),
            ExprKind::Poll { chan, args, .. } => {
                todo.push(chan);
                for arg in args {
                    match arg {
                        RecvArg::Store(place) => todo.extend(place.indices.iter().map(|i| &i.value)),
                        RecvArg::Ignore => {}
                        RecvArg::Match(e) => todo.push(e),
                    }
                }
            }
            ExprKind::Run { args, .. } => todo.extend(args),
            ExprKind::RemoteLabel { pid, .. } => todo.extend(pid.as_deref()),
            ExprKind::RemoteVar { pid, place, .. } => {
                todo.extend(pid.as_deref());
                todo.extend(place.indices.iter().map(|i| &i.value));
            }
            _ => {}
        }
    }
}

/// Whether some process may look at where another one is.
fn looks_at_others(program: &Program) -> bool {
    let mut looks = program.uses.last;
    let mut visit = |e: &Expr| looks |= matches!(e.kind, ExprKind::PcValue(_) | ExprKind::RemoteLabel { .. });
    for proctype in &program.proctypes {
        proctype.provided.iter().for_each(|e| walk(e, &mut visit));
        for edge in &proctype.edges {
            match &edge.action {
                Action::Guard(e) | Action::Assert(e) | Action::Printm(e, _) => walk(e, &mut visit),
                Action::Assign(place, e) => {
                    walk(e, &mut visit);
                    place.indices.iter().for_each(|i| walk(&i.value, &mut visit));
                }
                Action::Lock(place) | Action::Unlock(place) => {
                    place.indices.iter().for_each(|i| walk(&i.value, &mut visit));
                }
                Action::Send { chan, args, .. } => {
                    walk(chan, &mut visit);
                    args.iter().for_each(|e| walk(e, &mut visit));
                }
                Action::Receive { chan, args, .. } => {
                    walk(chan, &mut visit);
                    for arg in args {
                        match arg {
                            RecvArg::Store(place) => {
                                place.indices.iter().for_each(|i| walk(&i.value, &mut visit))
                            }
                            RecvArg::Match(e) => walk(e, &mut visit),
                            RecvArg::Ignore => {}
                        }
                    }
                }
                Action::Printf(_, args) => args.iter().for_each(|e| walk(e, &mut visit)),
                _ => {}
            }
        }
    }
    looks
}

/// Whether evaluating an expression may show an error.
fn may_fail(expr: &Expr) -> bool {
    let mut may = false;
    walk(expr, &mut |e| {
        may |= match &e.kind {
            ExprKind::Const(_)
            | ExprKind::Unary(..)
            | ExprKind::Cond(..)
            | ExprKind::Pid
            | ExprKind::NrPr => false,
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) => {
                !matches!(by.kind, ExprKind::Const(1..))
            }
            ExprKind::Binary(..) => false,
            ExprKind::Load(place) => !place.indices.is_empty(),
            _ => true,
        };
    });
    may
}

/// Whether there is code for an expression.
fn can_eval(expr: &Expr) -> bool {
    let mut can = true;
    walk(expr, &mut |e| {
        can &= !matches!(
            e.kind,
            ExprKind::Enabled(_)
                | ExprKind::GetPriority(_)
                | ExprKind::Priority
                | ExprKind::NonProgress
                | ExprKind::C(_)
        );
    });
    can
}

/// Whether an expression is about the process that evaluates it.
fn needs_process(expr: &Expr) -> bool {
    let mut needs = false;
    walk(expr, &mut |e| {
        needs |= match &e.kind {
            ExprKind::Pid | ExprKind::Run { .. } => true,
            ExprKind::Load(place) => place.base == promela::ir::Base::Local,
            _ => false,
        };
    });
    needs
}
