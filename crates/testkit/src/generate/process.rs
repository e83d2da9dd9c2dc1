//! Processes: their plan (names, pids, parameters) is made first, so that bodies can refer to each other;
//! then the bodies are written. Also the inlines, and the processes that feed or drain lonely channels.

use crate::model::{BinOp, Block, Decl, Expr, Init, Inline, Proc, Start, Stmt, Type, Visibility};

use super::Generator;
use super::declare::{plain_decl, prefixed};
use super::mix::Feature;
use super::scope::{Chan, Frame, InlineInfo, Leaf, Mode, Param, ParamInfo, ProcInfo, StructVar, is_numeric};
use super::stmt::push_apart;

impl Generator {
    /// Decides which process types there are.
    pub(super) fn plan_processes(&mut self) {
        self.world.has_exclusive = self.mix.has(Feature::Exclusive);
        let (low, high) = self.size.instances();
        let wanted = self.rng.range(low, high) as u32;
        let mut pid = 0;
        if self.mix.has(Feature::Run) && self.rng.chance(70) {
            self.world.has_run = true;
            self.world.runs_left = 3;
            for _ in 0..if self.rng.chance(30) { 2 } else { 1 } {
                let params = self.plan_params();
                self.plan(ProcSeed { instances: 0, first_pid: 0, is_init: false, params });
            }
        }
        let init = self.mix.has(Feature::Init) || self.world.has_run;
        while pid + u32::from(init) < wanted {
            let left = wanted - pid - u32::from(init);
            let instances = if left >= 2 && self.rng.chance(45) { 2 } else { 1 };
            self.plan(ProcSeed { instances, first_pid: pid, is_init: false, params: Vec::new() });
            pid += instances;
        }
        if init {
            self.plan(ProcSeed { instances: 1, first_pid: pid, is_init: true, params: Vec::new() });
        }
    }

    fn plan_params(&mut self) -> Vec<ParamInfo> {
        let mut params = Vec::new();
        for _ in 0..self.rng.range(0, 2) {
            let name = self.fresh("p");
            let sendable: Vec<usize> = self
                .world
                .structs
                .iter()
                .map(|s| s.typedef)
                .filter(|&t| self.world.typedefs[t].is_flat())
                .collect();
            if !sendable.is_empty() && self.rng.chance(30) {
                params.push(ParamInfo::Struct(name, sendable[0]));
            } else if self.rng.chance(40) && !self.world.chans.is_empty() {
                let which = self.rng.below(self.world.chans.len());
                params.push(ParamInfo::Chan(name, self.world.chans[which].signature));
            } else {
                let ty = match self.scalar_type() {
                    Type::Unsigned(_) => Type::Byte,
                    other => other,
                };
                params.push(ParamInfo::Scalar(name, ty));
            }
        }
        params
    }

    fn plan(&mut self, seed: ProcSeed) {
        let index = self.world.procs.len();
        let remote = self.mix.has(Feature::Remote);
        let remote_label = (remote && !seed.is_init).then(|| self.fresh("R"));
        let remote_var = (remote && !seed.is_init).then(|| {
            let len = (self.mix.has(Feature::Array) && self.rng.chance(30)).then_some(2);
            (self.fresh("v"), len)
        });
        self.world.procs.push(ProcInfo {
            name: if seed.is_init { "init".into() } else { format!("P{index}") },
            is_init: seed.is_init,
            instances: seed.instances,
            first_pid: seed.first_pid,
            params: seed.params,
            remote_label,
            remote_var,
        });
    }

    /// Writes the inlines: some never block, so that a d_step can call them; one may call another.
    pub(super) fn define_inlines(&mut self) {
        let count = if self.mix.has(Feature::Inline) { self.rng.range(1, 2) } else { 0 };
        for _ in 0..count {
            self.define_inline();
        }
        if self.mix.has(Feature::InlineReturn) {
            self.define_returning();
        }
    }

    /// An inline with a label and a jump of its own, bounded by a global variable.
    fn define_jumping(&mut self) -> bool {
        let frame = Frame::new(None);
        let Some(leaf) = self.pick_leaf(&frame, |l| l.is_plain() && l.ty == Type::Byte && !l.write_only)
        else {
            return false;
        };
        let (name, label) = (self.fresh("do"), self.fresh("again"));
        let var = leaf.base().to_string();
        let small = Stmt::Expr(Expr::binary(BinOp::Lt, Expr::var(var.clone()), Expr::Num(2)));
        let step = Stmt::Incr(crate::model::VariableRef::name(var));
        let choice = Stmt::If(vec![vec![small, step, Stmt::Goto(label.clone())], vec![Stmt::Else]]);
        let body = vec![Stmt::Expr(Expr::word("skip")), Stmt::Label(label, Box::new(choice))];
        self.model.inlines.push(Inline { name: name.clone(), params: vec![], body });
        self.world.inlines.push(InlineInfo { name, params: vec![], steady: false, returns: false });
        true
    }

    fn define_inline(&mut self) {
        if self.mix.has(Feature::Goto) && self.rng.chance(30) && self.define_jumping() {
            return;
        }
        let name = self.fresh("do");
        let mut frame = Frame::new(None);
        frame.cyclic = true;
        let steady = self.rng.chance(50);
        frame.mode = if steady { Mode::DStep } else { Mode::Plain };
        let mut params = Vec::new();
        let mut names = Vec::new();
        for _ in 0..self.rng.range(0, 2) {
            let param = if self.rng.chance(50) { Param::Variable } else { Param::Value };
            let formal = self.fresh("z");
            let mut leaf = Leaf::new(&formal, None, Type::Int);
            leaf.formal = true;
            leaf.read_only = param == Param::Value;
            frame.leaves.push(leaf);
            params.push(param);
            names.push(formal);
        }
        if let (true, Some(chan)) = (self.rng.chance(30), self.world.chans.first().cloned()) {
            let formal = self.fresh("z");
            frame.chans.push(Chan {
                path: vec![(formal.clone(), None)],
                capacity: None,
                handle: false,
                global: false,
                signature: chan.signature,
            });
            params.push(Param::Chan(chan.signature));
            names.push(formal);
        }
        let len = self.rng.range(1, 2);
        let mut body = self.block(&mut frame, len, 1);
        if let (true, Some(inner)) = (self.rng.chance(40), self.world.inlines.first().cloned()) {
            let known: Vec<&Leaf> = frame.leaves.iter().filter(|l| !l.read_only).collect();
            let variable = known.first().map(|l| Expr::var(l.base()));
            let args: Option<Vec<Expr>> = inner
                .params
                .iter()
                .map(|p| match p {
                    Param::Variable => variable.clone(),
                    Param::Value => Some(Expr::Num(1)),
                    Param::Chan(_) => None,
                })
                .collect();
            if let (Some(args), true) = (args, inner.steady || !steady) {
                body.push(Stmt::Call(inner.name, args));
            }
        }
        self.model.inlines.push(Inline { name: name.clone(), params: names, body });
        self.world.inlines.push(InlineInfo { name, params, steady, returns: false });
    }

    fn define_returning(&mut self) {
        let name = self.fresh("fn");
        let formal = self.fresh("z");
        let value = Expr::binary(
            BinOp::Rem,
            Expr::binary(BinOp::Add, Expr::var(formal.clone()), Expr::Num(1)),
            Expr::Num(3),
        );
        let body = match self.rng.below(3) {
            0 => vec![Stmt::Return(value)],
            1 => vec![Stmt::If(vec![
                vec![
                    Stmt::Expr(Expr::binary(BinOp::Gt, Expr::var(formal.clone()), Expr::Num(1))),
                    Stmt::Return(Expr::Num(0)),
                ],
                vec![Stmt::Else, Stmt::Return(value)],
            ])],
            _ => {
                let local = self.fresh("d");
                let decl = Decl { ..plain_decl(Type::Byte, &local, None, Init::Expr(value)) };
                let result = Expr::binary(BinOp::BitAnd, Expr::var(local), Expr::Num(1));
                vec![Stmt::Decl(decl), Stmt::Return(result)]
            }
        };
        self.model.inlines.push(Inline { name: name.clone(), params: vec![formal], body });
        self.world.inlines.push(InlineInfo {
            name,
            params: vec![Param::Value],
            steady: false,
            returns: true,
        });
    }

    /// Writes all bodies, in the order of the plan.
    pub(super) fn write_processes(&mut self) {
        for index in 0..self.world.procs.len() {
            let proc = self.write_process(index);
            self.model.procs.push(proc);
        }
    }

    fn write_process(&mut self, index: usize) -> Proc {
        let info = self.world.procs[index].clone();
        let mut frame = Frame::new(Some(index));
        let params = self.params_of(&info, &mut frame);
        frame.cyclic = info.instances == 0 || (self.mix.has(Feature::Goto) && self.rng.chance(60));
        frame.end_label = Some(format!("Done{index}"));
        let mut body = self.top_locals(&info, &mut frame);
        body.extend(self.exclusives(&info));
        body.extend(self.main_part(&info, &mut frame));
        if let Some(label) = frame.end_label.take().filter(|_| frame.end_label_used) {
            // A label may stand alone before the closing brace.
            let last = Stmt::Expr(Expr::word(if self.rng.chance(70) { "skip" } else { "" }));
            body.push(Stmt::Label(label, Box::new(last)));
        }
        let start = match info.instances {
            _ if info.is_init => Start::Init,
            0 => Start::Passive,
            n => Start::Active(n),
        };
        let priority = (self.mix.has(Feature::Priority) && info.instances > 0 && self.rng.chance(60))
            .then(|| self.rng.range(1, 3) as u32);
        let provided = (!info.is_init && self.mix.has(Feature::Provided) && self.rng.chance(60))
            .then(|| self.provided_clause());
        let deterministic = !info.is_init && self.mix.has(Feature::Deterministic) && self.rng.chance(40);
        Proc { name: info.name, start, deterministic, params, priority, provided, body }
    }

    fn params_of(&mut self, info: &ProcInfo, frame: &mut Frame) -> Vec<Decl> {
        let mut decls = Vec::new();
        for param in &info.params {
            match param {
                ParamInfo::Scalar(name, ty) => {
                    frame.leaves.push(Leaf::new(name, None, ty.clone()));
                    decls.push(plain_decl(ty.clone(), name, None, Init::None));
                }
                ParamInfo::Struct(name, typedef) => {
                    let t = self.world.typedefs[*typedef].clone();
                    frame.leaves.extend(prefixed(name, None, &t.leaves));
                    frame.structs.push(StructVar { name: name.clone(), len: None, typedef: *typedef });
                    decls.push(plain_decl(Type::Struct(t.name), name, None, Init::None));
                }
                ParamInfo::Chan(name, signature) => {
                    frame.chans.push(Chan {
                        path: vec![(name.clone(), None)],
                        capacity: None,
                        signature: *signature,
                        global: false,
                        handle: false,
                    });
                    decls.push(plain_decl(Type::Chan, name, None, Init::None));
                }
            }
        }
        decls
    }

    /// Declarations at the start of a process.
    fn top_locals(&mut self, info: &ProcInfo, frame: &mut Frame) -> Block {
        let mut body = Vec::new();
        if let Some((name, len)) = &info.remote_var {
            frame.leaves.push(Leaf::new(name, *len, Type::Byte));
            body.push(Stmt::Decl(plain_decl(Type::Byte, name, *len, Init::None)));
        }
        for _ in 0..self.rng.range(0, 2) {
            body.push(self.top_scalar(frame));
        }
        if self.mix.has(Feature::Array) && self.rng.chance(15) {
            let name = self.fresh("la");
            let init = self.array_init(&Type::Byte, 2);
            frame.leaves.push(Leaf::new(&name, Some(2), Type::Byte));
            body.push(Stmt::Decl(plain_decl(Type::Byte, &name, Some(2), init)));
        }
        if !self.world.typedefs.is_empty() && self.rng.chance(20) {
            let typedef = self.rng.below(self.world.typedefs.len());
            let name = self.fresh("lt");
            let t = self.world.typedefs[typedef].clone();
            frame.leaves.extend(prefixed(&name, None, &t.leaves));
            frame.structs.push(StructVar { name: name.clone(), len: None, typedef });
            body.push(Stmt::Decl(plain_decl(Type::Struct(t.name), &name, None, Init::None)));
        }
        body.extend(self.local_channels(frame));
        body
    }

    fn top_scalar(&mut self, frame: &mut Frame) -> Stmt {
        let ty = self.scalar_type();
        let name = self.fresh("l");
        let init = match self.rng.below(4) {
            0 => Init::Expr(self.initial_constant(&ty)),
            1 => Init::Expr(self.initial_value(frame, &ty)),
            _ => Init::None,
        };
        let visibility = if self.rng.chance(5) { Visibility::Show } else { Visibility::Plain };
        frame.leaves.push(Leaf::new(&name, None, ty.clone()));
        Stmt::Decl(Decl { visibility, ..plain_decl(ty, &name, None, init) })
    }

    /// A channel of the process's own, and a variable for each kind of channel that it may receive.
    fn local_channels(&mut self, frame: &mut Frame) -> Block {
        let mut body = Vec::new();
        let carried: Vec<usize> = self
            .world
            .signatures
            .iter()
            .flatten()
            .filter_map(|f| if let super::scope::Field::Chan(s) = f { Some(*s) } else { None })
            .collect();
        for signature in carried {
            if frame.chans.iter().any(|c| c.handle && c.signature == signature) {
                continue;
            }
            let name = self.fresh("c");
            body.push(Stmt::Decl(plain_decl(Type::Chan, &name, None, Init::None)));
            let path = vec![(name, None)];
            frame.chans.push(Chan { path, capacity: None, signature, global: false, handle: true });
        }
        if self.mix.has(Feature::LocalChan) && !self.world.chans.is_empty() && self.rng.chance(40) {
            let which = self.rng.below(self.world.chans.len());
            let signature = self.world.chans[which].signature;
            let (name, capacity) = (self.fresh("c"), self.capacity().max(1));
            let fields = self.field_types(signature);
            body.push(Stmt::Decl(plain_decl(Type::Chan, &name, None, Init::Chan { capacity, fields })));
            let (capacity, path) = (Some(capacity), vec![(name, None)]);
            frame.chans.push(Chan { path, capacity, signature, global: false, handle: false });
        }
        body
    }

    /// `xr`/`xs` promises, at most one process a channel.
    fn exclusives(&mut self, info: &ProcInfo) -> Block {
        if !self.world.has_exclusive || info.instances != 1 || !self.rng.chance(50) {
            return Vec::new();
        }
        let free = |c: &&Chan| {
            let name = c.plain_name().unwrap_or("");
            !name.is_empty() && c.global && !self.world.promised.iter().any(|p| p == name)
        };
        let single: Vec<Chan> = self.world.chans.iter().filter(free).cloned().collect();
        let Some(chan) = self.rng.pick(&single).cloned() else { return Vec::new() };
        self.world.promised.push(chan.base().to_string());
        let receive = self.rng.chance(50);
        vec![Stmt::Exclusive { receive, chan: crate::model::VariableRef::name(chan.base()) }]
    }

    /// The statements of a process: some straight code, perhaps a loop.
    fn main_part(&mut self, info: &ProcInfo, frame: &mut Frame) -> Block {
        let (low, high) = self.size.body();
        let len = if info.is_init { self.rng.range(1, 2) } else { self.rng.range(low, high) };
        let depth = self.size.depth();
        let mut body = Vec::new();
        if info.is_init && self.world.has_run {
            for _ in 0..self.rng.range(1, 2) {
                body.extend(self.run(frame).unwrap_or_default());
            }
            if body.len() > 1 && self.rng.chance(50) {
                body = vec![Stmt::Atomic(body)];
            }
        }
        let looping = if info.is_init || !self.rng.chance(35) { len } else { self.rng.range(0, len - 1) };
        for position in 0..len {
            let mut stmts = if position == looping {
                vec![self.do_stmt(frame, depth - 1)]
            } else {
                self.stmt(frame, depth)
            };
            if position == 0
                && let Some(label) = &info.remote_label
            {
                label_one(label, &mut stmts);
            }
            for stmt in stmts {
                let stmt = self.maybe_labelled(frame, stmt);
                push_apart(&mut body, stmt);
            }
            if matches!(body.last(), Some(Stmt::Goto(_))) {
                break;
            }
        }
        body
    }

    /// `run` of the process type that is only run, guarded in loops so that there are never many.
    pub(super) fn run(&mut self, frame: &mut Frame) -> Option<Vec<Stmt>> {
        if self.world.runs_left == 0 {
            return None;
        }
        let passive: Vec<ProcInfo> = self.world.procs.iter().filter(|p| p.instances == 0).cloned().collect();
        let info = self.rng.pick(&passive)?.clone();
        let mut args = Vec::new();
        for param in &info.params {
            args.push(match param {
                ParamInfo::Scalar(_, ty @ Type::Mtype(_)) => self.constant(ty),
                ParamInfo::Scalar(_, ty) => self.value_for(frame, ty, false),
                ParamInfo::Chan(_, signature) => self.some_chan(frame, *signature)?,
                ParamInfo::Struct(_, typedef) => {
                    Expr::VariableRef(Box::new(self.some_struct(frame, *typedef, &[])?))
                }
            });
        }
        self.world.runs_left -= 1;
        let priority =
            (self.mix.has(Feature::Priority) && self.rng.chance(50)).then(|| self.rng.range(1, 3) as u32);
        let run = Expr::Run { name: info.name, args, priority };
        let target = self.pick_leaf(frame, |l| l.ty == Type::Pid && !l.read_only && l.is_plain());
        let stmt = match target {
            Some(leaf) if self.rng.chance(40) => {
                Stmt::Assign(crate::model::VariableRef::name(leaf.base()), run)
            }
            _ => Stmt::Expr(run),
        };
        if !frame.cyclic {
            return Some(vec![stmt]);
        }
        let living: u32 = self.world.procs.iter().map(|p| p.instances).sum();
        let limit = i64::from(living) + self.rng.range(1, 2);
        let guard = Stmt::Expr(Expr::binary(BinOp::Lt, Expr::word("_nr_pr"), Expr::Num(limit)));
        Some(vec![Stmt::Atomic(vec![guard, stmt])])
    }

    /// A `provided` clause over global variables; it is mostly true.
    fn provided_clause(&mut self) -> Expr {
        let frame = Frame::new(None);
        let leaf = self.pick_leaf(&frame, |l| is_numeric(&l.ty) && l.is_plain() && !l.write_only);
        let Some(leaf) = leaf else { return Expr::word("true") };
        let value = Expr::var(leaf.base());
        if self.mix.has(Feature::Probe) && self.rng.chance(30) {
            let chans: Vec<Chan> =
                self.world.chans.iter().filter(|c| c.plain_name().is_some()).cloned().collect();
            if let Some(chan) = self.rng.pick(&chans) {
                let place = Box::new(crate::model::VariableRef::name(chan.base()));
                return match self.rng.below(2) {
                    0 => Expr::binary(BinOp::Lt, Expr::Len(place), Expr::Num(2)),
                    _ => Expr::Probe(crate::model::Probe::NFull, place),
                };
            }
        }
        let test = match self.rng.below(4) {
            0 => Expr::binary(BinOp::Ne, value, Expr::Num(2)),
            1 => Expr::binary(BinOp::Lt, value, Expr::Num(2)),
            2 => Expr::binary(BinOp::Eq, Expr::binary(BinOp::BitAnd, value, Expr::Num(1)), Expr::Num(0)),
            _ => Expr::binary(BinOp::Ne, value, Expr::word("_pid")),
        };
        match self.rng.below(4) {
            0 => Expr::binary(BinOp::Or, test, Expr::binary(BinOp::Gt, Expr::word("_pid"), Expr::Num(0))),
            _ => test,
        }
    }
}

/// What `plan` needs to know.
struct ProcSeed {
    instances: u32,
    first_pid: u32,
    is_init: bool,
    params: Vec<ParamInfo>,
}

/// Labels the last statement; one that cannot bear a label gets a labelled `skip` before it.
fn label_one(label: &str, stmts: &mut Block) {
    let skip = Stmt::Expr(Expr::word("skip"));
    match stmts.pop() {
        Some(
            last @ (Stmt::Decl(_)
            | Stmt::Ifdef { .. }
            | Stmt::Unless(..)
            | Stmt::Goto(_)
            | Stmt::Call(..)
            | Stmt::AssignCall(..)
            | Stmt::Break),
        ) => {
            stmts.push(Stmt::Label(label.into(), Box::new(skip)));
            stmts.push(last);
        }
        Some(last) => stmts.push(Stmt::Label(label.into(), Box::new(last))),
        None => stmts.push(Stmt::Label(label.into(), Box::new(skip))),
    }
}
