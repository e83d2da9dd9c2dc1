//! The functions of a proctype: which edges of a location are tried, in which order, and what follows from
//! it.
//!
//! The rules are those of the reference machine (`machine::interp`, `moves`): `else` asks whether an earlier
//! edge was executed, an escape that was executed shuts out what it covers, a message that nobody takes lifts
//! that again. A function that meets an error, or something there is no code for, answers `SLOW`, and all of
//! its process is left to the reference machine. So most functions call nothing, and there is one such way
//! out instead of several for every edge: that is short to compile and leaves the registers to the edges.

use std::mem::offset_of;
use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, SigRef, Signature, TrapCode, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use machine::action::Action as Step;
use promela::ir::{Action, Edge, EdgeId, Expr, InitStep, LocId, Place, Proctype, RecvArg};

use crate::code::EVALUATED;
use crate::runtime::{Context, SLOW};
use crate::shape::ProcEntry;

use super::Plan;
use super::expr::{Frame, plain};
use super::statement::{How, Targets};

/// What a function is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Writes the outcomes of a process.
    Expand,
    /// Answers whether a process can move.
    Any,
    /// Lets a process take a message on offer.
    Receive,
    /// Answers on which channels it would.
    Listen,
    /// Initialises a process.
    Init,
    /// Answers whether the invariants hold.
    Invariants,
    /// Answers which propositions of one group hold; the group's number stands in the place of a proctype's.
    Propositions,
}

/// What a function of a proctype is made for.
pub enum Body<'a> {
    /// These locations.
    Locations(&'a [LocId]),
    /// Some edges of a location: those with these places in its list. What it must know of the edges before
    /// them is in the context.
    Part(LocId, Range<usize>),
    /// The parts of a location, by the functions that were made for them.
    Parts(&'a [FuncId]),
}

/// A function in the making.
pub struct Gen<'p> {
    pub plan: &'p Plan<'p>,
    pub module: &'p mut JITModule,
    pub b: FunctionBuilder<'p>,
    pub kind: Kind,
    pub proctype: usize,
    pub context: Value,
    /// The state that the function was called with.
    pub state: Value,
    /// What was read of it before the edges.
    pub shared: Vec<(&'p Place, Value)>,
    /// The process's entry in the shape.
    pub process: Value,
    /// Offset of the process's block.
    pub own: Value,
    /// Whether somebody may be in control before the step: the process itself, unless it takes a message.
    pub in_control: bool,
    /// Where evaluation goes when it meets an error.
    pub wrong: Block,
    /// Where all goes that is left to the reference machine.
    pub bail: Block,
    /// Whether an earlier edge was executed.
    pub moved: Variable,
    /// The escape that was executed, 0: none.
    escape: Variable,
    /// Steps that a d_step went back.
    pub steps: Variable,
    /// How many receivers took the message.
    count: Variable,
    /// Receiving: the channel on which a message is on offer.
    channel: Value,
    /// Receiving: only an answer is wanted.
    pub ask: Option<Value>,
    /// Signatures of the helpers that were called.
    signatures: Vec<(*const u8, SigRef)>,
}

/// Makes one function.
pub fn function<'p>(
    plan: &'p Plan<'p>,
    module: &'p mut JITModule,
    mut b: FunctionBuilder<'p>,
    kind: Kind,
    proctype: usize,
    body: &Body<'_>,
) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let params = b.block_params(entry).to_vec();
    let mut g = Gen::new(plan, module, b, (kind, proctype), &params);
    let bail = g.bail;
    let mut f = Frame {
        state: params[1],
        local: params[1],
        shape: params[2],
        len: None,
        timeout: None,
        run: None,
        pending: false,
    };
    match kind {
        Kind::Invariants => g.invariants(&f),
        Kind::Propositions => g.propositions(&f),
        _ => g.of_one_process(&mut f, body, &params),
    }
    if g.open(bail) {
        g.give_back(if matches!(kind, Kind::Init | Kind::Invariants | Kind::Propositions) {
            0
        } else {
            SLOW
        });
    }
    g.b.seal_all_blocks();
    let config = g.module.target_config();
    g.b.finalize(config);
}

impl<'p> Gen<'p> {
    /// A function with these parameters, of which nothing is made yet.
    fn new(
        plan: &'p Plan<'p>,
        module: &'p mut JITModule,
        mut b: FunctionBuilder<'p>,
        (kind, proctype): (Kind, usize),
        params: &[Value],
    ) -> Self {
        let bail = b.create_block();
        b.set_cold_block(bail);
        let mut variable = || b.declare_var(types::I32);
        let (moved, escape, steps, count) = (variable(), variable(), variable(), variable());
        Gen {
            plan,
            module,
            b,
            kind,
            proctype,
            context: params[0],
            state: params[1],
            shared: Vec::new(),
            process: params[3],
            own: params[3],
            in_control: true,
            wrong: bail,
            bail,
            moved,
            escape,
            steps,
            count,
            channel: params[0],
            ask: None,
            signatures: Vec::new(),
        }
    }

    /// Makes the code of a function that is about one process.
    fn of_one_process(&mut self, f: &mut Frame, body: &Body<'_>, params: &[Value]) {
        self.own = self.field64(self.process, offset_of!(ProcEntry, offset));
        f.local = self.b.ins().iadd(f.state, self.own);
        match self.kind {
            Kind::Init => self.init(f),
            Kind::Receive => {
                self.channel = params[4];
                self.ask = Some(params[5]);
                f.pending = true;
                self.body(f, body, &params[4..]);
            }
            Kind::Any | Kind::Listen => self.body(f, body, &[]),
            _ => {
                if self.plan.program.uses.timeout {
                    f.timeout = Some(self.field32(self.context, offset_of!(Context, timeout)));
                }
                self.body(f, body, &[]);
            }
        }
    }

    pub fn definition(&self) -> &'p Proctype {
        &self.plan.program.proctypes[self.proctype]
    }

    /// The proctype of the process, where there is a process.
    pub fn own_proctype(&self) -> Option<usize> {
        (!matches!(self.kind, Kind::Invariants | Kind::Propositions)).then_some(self.proctype)
    }

    /// The process's number.
    pub fn pid(&mut self) -> Value {
        self.field32(self.process, offset_of!(ProcEntry, pid))
    }

    /// Calls a helper.
    pub fn helper(&mut self, address: *const u8, args: &[Value], result: Option<Type>) -> Option<Value> {
        let signature = match self.signatures.iter().find(|(of, _)| *of == address) {
            Some(&(_, known)) => known,
            None => {
                let mut signature = Signature::new(self.module.target_config().default_call_conv);
                for &arg in args {
                    let ty = self.b.func.dfg.value_type(arg);
                    signature.params.push(AbiParam::new(ty));
                }
                signature.returns.extend(result.map(AbiParam::new));
                let signature = self.b.import_signature(signature);
                self.signatures.push((address, signature));
                signature
            }
        };
        let callee = self.b.ins().iconst(types::I64, address as i64);
        let call = self.b.ins().call_indirect(signature, callee, args);
        result.map(|_| self.b.inst_results(call)[0])
    }

    /// Goes to a block that nothing else will go to; false when nothing does, then it is closed again.
    pub fn open(&mut self, block: Block) -> bool {
        self.b.seal_block(block);
        self.b.switch_to_block(block);
        let reached = !self.b.is_unreachable();
        if !reached {
            self.b.ins().trap(TrapCode::unwrap_user(1));
        }
        reached
    }

    fn give_back(&mut self, value: u32) {
        let value = match self.kind {
            // Sets of channels are wide; `SLOW` means all.
            Kind::Listen => self.b.ins().iconst(types::I64, i64::from(value as i32)),
            _ => self.int(value as i32),
        };
        self.b.ins().return_(&[value]);
    }

    fn body(&mut self, f: &Frame, body: &Body<'_>, more: &[Value]) {
        if let Some(provided) = &self.definition().provided
            && self.kind != Kind::Listen
            && !matches!(body, Body::Part(..))
        {
            self.provided(f, provided);
        }
        match body {
            Body::Locations(locations) => self.locations(f, locations),
            Body::Part(location, edges) => self.part(f, *location, edges.clone()),
            Body::Parts(parts) => self.parts(f, parts, more),
        }
    }

    /// Calls the functions of the parts of a location, one after another. `more` are further parameters.
    fn parts(&mut self, f: &Frame, parts: &[FuncId], more: &[Value]) {
        let zero = self.int(0);
        self.keep_place(zero, zero);
        let mut sum = match self.kind {
            Kind::Listen => self.b.ins().iconst(types::I64, 0),
            _ => zero,
        };
        for &part in parts {
            let callee = self.module.declare_func_in_func(part, self.b.func);
            let args = [&[self.context, f.state, f.shape, self.process], more].concat();
            let call = self.b.ins().call(callee, &args);
            let answer = self.b.inst_results(call)[0];
            if self.kind == Kind::Listen {
                sum = self.b.ins().bor(sum, answer);
                continue;
            }
            let slow = self.compare(IntCC::Equal, answer, SLOW as i32);
            self.branch_if(slow, self.bail);
            match self.kind {
                // Who only asks is content with one.
                Kind::Any => self.give_back_if(answer),
                Kind::Receive => {
                    if let Some(ask) = self.ask {
                        let enough = self.b.ins().band(ask, answer);
                        self.give_back_if(enough);
                    }
                    sum = self.b.ins().iadd(sum, answer);
                }
                _ => {}
            }
        }
        self.b.ins().return_(&[sum]);
    }

    /// Answers 1 if `yes` is not 0.
    fn give_back_if(&mut self, yes: Value) {
        let [back, go_on] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().brif(yes, back, &[], go_on, &[]);
        self.b.switch_to_block(back);
        self.give_back(1);
        self.b.switch_to_block(go_on);
    }

    /// Keeps in the context, for the next part of a location, whether an edge was executed and which escape
    /// was.
    fn keep_place(&mut self, moved: Value, escape: Value) {
        if matches!(self.kind, Kind::Expand | Kind::Receive) {
            self.b.ins().store(plain(), moved, self.context, offset_of!(Context, moved) as i32);
            self.b.ins().store(plain(), escape, self.context, offset_of!(Context, escape) as i32);
        }
    }

    /// All locations of the function.
    fn locations(&mut self, f: &Frame, locations: &[LocId]) {
        let nowhere = self.b.create_block();
        let mut switch = Switch::new();
        let mut blocks = Vec::new();
        for &location in locations {
            let block = self.b.create_block();
            switch.set_entry(u128::from(location.0), block);
            blocks.push((location, block));
        }
        match blocks[..] {
            [(_, only)] => {
                self.b.ins().jump(only, &[]);
            }
            _ => {
                let location = self.read(self.plan.layout.location, f.local, 0);
                switch.emit(&mut self.b, location, nowhere);
            }
        }
        for (location, block) in blocks {
            self.b.switch_to_block(block);
            self.location(f, location);
        }
        if self.open(nowhere) {
            self.give_back(0);
        }
    }

    /// Returns unless the `provided` clause holds. An error in it counts as a step that shows it, but not as
    /// taking a message.
    fn provided(&mut self, f: &Frame, provided: &Expr) {
        let [yes, no] = [(); 2].map(|()| self.b.create_block());
        self.wrong = if self.kind == Kind::Receive { no } else { self.bail };
        if super::can_eval(provided) {
            self.condition(f, provided, yes, no);
        } else {
            self.b.ins().jump(self.bail, &[]);
        }
        if self.open(no) {
            self.give_back(0);
        }
        self.b.switch_to_block(yes);
    }

    /// On which channels a process at a location would take a message. Where its channel shows an error it
    /// takes none; one that does not exist counts as the last.
    fn listen(&mut self, f: &Frame, edges: &[EdgeId]) {
        let channels = self.b.declare_var(types::I64);
        let none = self.b.ins().iconst(types::I64, 0);
        self.b.def_var(channels, none);
        for chan in super::channels_received_from(self.definition(), edges) {
            let next = self.b.create_block();
            self.wrong = next;
            let number = self.eval(f, chan);
            let index = self.b.ins().iadd_imm_s(number, -1);
            let most = self.int(63);
            let index = self.b.ins().umin(index, most);
            let one = self.b.ins().iconst(types::I64, 1);
            let bit = self.b.ins().ishl(one, index);
            let before = self.b.use_var(channels);
            let all = self.b.ins().bor(before, bit);
            self.b.def_var(channels, all);
            self.b.ins().jump(next, &[]);
            self.b.switch_to_block(next);
        }
        let channels = self.b.use_var(channels);
        self.b.ins().return_(&[channels]);
    }

    /// All edges of a location.
    fn location(&mut self, f: &Frame, location: LocId) {
        let proctype = self.definition();
        if self.kind == Kind::Expand && !self.plan.can_expand(proctype, location) {
            self.b.ins().jump(self.bail, &[]);
            return;
        }
        let zero = self.int(0);
        self.b.def_var(self.moved, zero);
        self.b.def_var(self.escape, zero);
        self.edges(f, location, &proctype.location(location).edges);
        self.give_count_back();
    }

    /// Some edges of a location.
    fn part(&mut self, f: &Frame, location: LocId, edges: Range<usize>) {
        let edges = &self.definition().location(location).edges[edges];
        let [moved, escape] = match self.kind {
            Kind::Expand | Kind::Receive => [offset_of!(Context, moved), offset_of!(Context, escape)]
                .map(|field| self.field32(self.context, field)),
            _ => [self.int(0); 2],
        };
        self.b.def_var(self.moved, moved);
        self.b.def_var(self.escape, escape);
        self.edges(f, location, edges);
        if self.kind != Kind::Listen {
            let (moved, escape) = (self.b.use_var(self.moved), self.b.use_var(self.escape));
            self.keep_place(moved, escape);
        }
        self.give_count_back();
    }

    /// Tries some edges of a location, one after another; when only channels are asked for, answers.
    fn edges(&mut self, f: &Frame, location: LocId, edges: &'p [EdgeId]) {
        if self.kind == Kind::Listen {
            return self.listen(f, edges);
        }
        let proctype = self.definition();
        let zero = self.int(0);
        self.b.def_var(self.count, zero);
        self.in_control =
            self.kind == Kind::Receive || self.plan.reached_in_control[self.proctype][location.index()];
        let all = &proctype.location(location).edges;
        let escapes = all.iter().any(|&id| proctype.edge(id).escape.is_some());
        if self.kind == Kind::Expand {
            self.wrong = self.bail;
            self.share(f, edges);
        }
        let end = self.b.create_block();
        for &id in edges {
            let edge = proctype.edge(id);
            if escapes && self.kind != Kind::Any {
                self.shut_out(edge, end);
            }
            match self.kind {
                Kind::Receive => self.receiver(f, id, edge),
                _ => self.edge(f, id, edge),
            }
        }
        self.b.ins().jump(end, &[]);
        self.b.switch_to_block(end);
    }

    /// Answers how many receivers took a message, or that nothing is wrong.
    fn give_count_back(&mut self) {
        match self.kind {
            Kind::Listen => {}
            Kind::Receive => {
                let count = self.b.use_var(self.count);
                self.b.ins().return_(&[count]);
            }
            _ => self.give_back(0),
        }
    }

    /// Goes to `end` when another escape than that of `edge` was executed.
    fn shut_out(&mut self, edge: &Edge, end: Block) {
        let executed = self.b.use_var(self.escape);
        let own = edge.escape.map_or(0, |l| l.0 as i32);
        let other = self.compare(IntCC::NotEqual, executed, own);
        let some = self.compare(IntCC::NotEqual, executed, 0);
        let out = self.b.ins().band(other, some);
        self.branch_if(out, end);
    }

    /// One edge of an expanding or asking function.
    fn edge(&mut self, f: &Frame, id: EdgeId, edge: &'p Edge) {
        let [next, done, unheard] = [(); 3].map(|()| self.b.create_block());
        let to = Targets { next, done, unheard };
        self.wrong = self.bail;
        if self.plan.can(self.definition(), &edge.action) {
            let how = if self.kind == Kind::Expand { How::Emit } else { How::Ask };
            self.statement(f, id, edge, how, &to);
        } else {
            self.b.ins().jump(self.bail, &[]);
        }
        if self.open(unheard) {
            let zero = self.int(0);
            self.b.def_var(self.escape, zero);
            self.b.ins().jump(next, &[]);
        }
        if self.open(done) {
            self.executed(edge, next);
        }
        self.b.seal_block(next);
        self.b.switch_to_block(next);
    }

    /// After an edge was executed.
    fn executed(&mut self, edge: &Edge, next: Block) {
        if self.kind == Kind::Any {
            return self.give_back(1);
        }
        let one = self.int(1);
        self.b.def_var(self.moved, one);
        let escape = self.int(edge.escape.map_or(0, |l| l.0 as i32));
        self.b.def_var(self.escape, escape);
        if self.kind == Kind::Receive {
            let count = self.b.use_var(self.count);
            let count = self.b.ins().iadd_imm_s(count, 1);
            self.b.def_var(self.count, count);
        }
        self.b.ins().jump(next, &[]);
    }

    /// The number of the action that an edge is.
    pub fn action(&mut self, id: EdgeId) -> Value {
        match self.kind {
            Kind::Receive => {
                let sender = self.field64(self.context, offset_of!(Context, sender));
                let pid = self.pid();
                let pid = self.wide(pid);
                let pid = self.b.ins().ishl_imm_u(pid, i64::from(Step::RECEIVER_SHIFT));
                let receiver = self.b.ins().bor_imm_u(pid, i64::from(id.0));
                self.b.ins().bor(sender, receiver)
            }
            _ => {
                let pid = self.field64(self.process, offset_of!(ProcEntry, action));
                let bits = Step::step_bits(id, self.definition().edge(id));
                self.b.ins().bor_imm_u(pid, bits as i64)
            }
        }
    }

    /// One edge of a process that may take a message on offer.
    fn receiver(&mut self, f: &Frame, id: EdgeId, edge: &'p Edge) {
        let proctype = self.definition();
        let [next, done, unheard] = [(); 3].map(|()| self.b.create_block());
        let to = Targets { next, done, unheard };
        match &edge.action {
            Action::Receive { keep: false, .. } if !self.plan.can(proctype, &edge.action) => {
                self.b.ins().jump(self.bail, &[]);
            }
            Action::Receive { chan, keep: false, args, .. } => {
                self.offered(f, chan, args, next);
                if let Some(f2) = self.commit(f, How::Emit, &to) {
                    self.take_offered(&f2, args);
                    self.finish(&f2, id, edge, How::Emit, &to);
                }
            }
            Action::DStep { entry, exit, guards } => {
                let start = self.b.create_block();
                for &inner in &proctype.location(guards.unwrap_or(*entry)).edges {
                    let Action::Receive { chan, keep: false, args, .. } = &proctype.edge(inner).action else {
                        continue;
                    };
                    let no = self.b.create_block();
                    if self.plan.can(proctype, &proctype.edge(inner).action) {
                        self.offered(f, chan, args, no);
                        self.b.ins().jump(start, &[]);
                    } else {
                        self.b.ins().jump(self.bail, &[]);
                    }
                    self.b.switch_to_block(no);
                }
                self.b.ins().jump(next, &[]);
                if self.open(start) {
                    self.start_d_step(f, id, edge, (*entry, *exit), &to);
                }
            }
            _ => {
                self.b.ins().jump(next, &[]);
            }
        }
        if self.open(unheard) {
            self.b.ins().jump(next, &[]);
        }
        if self.open(done) {
            self.executed(edge, next);
        }
        self.b.switch_to_block(next);
    }

    /// A d_step that takes the message on offer and goes on from there.
    fn start_d_step(
        &mut self,
        f: &Frame,
        id: EdgeId,
        edge: &'p Edge,
        (entry, exit): (LocId, LocId),
        to: &Targets,
    ) {
        if !self.plan.can(self.definition(), &edge.action) {
            self.b.ins().jump(self.bail, &[]);
        } else if let Some(f2) = self.commit(f, How::Emit, to) {
            self.d_step_by_receiving(&f2, entry, exit);
            self.finish(&f2, id, edge, How::Emit, to);
        }
    }

    /// When only an answer is wanted, it is yes.
    pub fn answer(&mut self) {
        if let Some(ask) = self.ask {
            let yes = self.b.create_block();
            let go_on = self.b.create_block();
            self.b.ins().brif(ask, yes, &[], go_on, &[]);
            self.b.switch_to_block(yes);
            self.give_back(1);
            self.b.switch_to_block(go_on);
        }
    }

    /// Goes to `next` unless a receive takes what is on offer.
    pub fn offered(&mut self, f: &Frame, chan: &Expr, args: &[RecvArg], next: Block) {
        // An error of this process's channel will be seen when nothing is on offer.
        self.wrong = next;
        let number = self.eval(f, chan);
        let index = self.b.ins().iadd_imm_s(number, -1);
        let this = self.b.ins().icmp(IntCC::Equal, index, self.channel);
        self.unless(this, next);
        self.wrong = self.bail;
        let (_, class) = self.entry(f, self.channel);
        let fits: Vec<usize> = self
            .candidates(chan, Some(args.len()))
            .into_iter()
            .filter(|&c| self.class(c).capacity == 0)
            .collect();
        let known = self.b.create_block();
        for candidate in fits {
            let is = self.compare(IntCC::Equal, class, candidate as i32);
            self.branch_if(is, known);
        }
        self.b.ins().jump(self.bail, &[]);
        self.b.switch_to_block(known);
        // Fields of a message on offer are whole numbers, whatever the class.
        let message = self.message();
        for (i, arg) in args.iter().enumerate() {
            if let RecvArg::Match(expr) = arg {
                let wanted = self.eval(f, expr);
                let there = self.b.ins().load(types::I32, plain(), message, 4 * i as i32);
                let same = self.b.ins().icmp(IntCC::Equal, wanted, there);
                self.unless(same, next);
            }
        }
    }

    /// The message on offer: asking has one of its own.
    fn message(&mut self) -> Value {
        let messages = offset_of!(Context, msg);
        let first = self.field64(self.context, messages);
        let second = self.field64(self.context, messages + 8);
        match self.ask {
            Some(ask) => self.b.ins().select(ask, second, first),
            None => first,
        }
    }

    pub fn take_offered(&mut self, f: &Frame, args: &[RecvArg]) {
        let message = self.message();
        for (i, arg) in args.iter().enumerate() {
            if let RecvArg::Store(place) = arg {
                let value = self.b.ins().load(types::I32, plain(), message, 4 * i as i32);
                self.store(f, f, place, value);
            }
        }
    }

    /// Initialises the locals of a new process.
    fn init(&mut self, f: &Frame) {
        let proctype = self.definition();
        let possible = proctype.init.iter().all(|step| match step {
            InitStep::Assign(place, e) => {
                super::can_eval(e) && place.indices.iter().all(|i| super::can_eval(&i.value))
            }
            InitStep::NewChan(..) => true,
        });
        if possible {
            let first = self.field32(self.process, offset_of!(ProcEntry, first_chan));
            let mut created = 0;
            for step in &proctype.init {
                match step {
                    InitStep::Assign(place, expr) => {
                        let value = self.eval(f, expr);
                        self.store(f, f, place, value);
                    }
                    InitStep::NewChan(place, _) => {
                        created += 1;
                        let number = self.b.ins().iadd_imm_s(first, created);
                        self.store(f, f, place, number);
                    }
                }
            }
            self.give_back(1);
        } else {
            self.b.ins().jump(self.bail, &[]);
        }
    }

    /// The propositions of a group as bits, and [`EVALUATED`]; an error in one is left to the reference
    /// machine.
    fn propositions(&mut self, f: &Frame) {
        let mut bits = self.int(EVALUATED as i32);
        for (i, expr) in self.plan.propositions[self.proctype].iter().enumerate() {
            let value = self.eval(f, expr);
            let holds = self.compare(IntCC::NotEqual, value, 0);
            let holds = self.b.ins().uextend(types::I32, holds);
            let bit = self.b.ins().ishl_imm_u(holds, i as i64);
            bits = self.b.ins().bor(bits, bit);
        }
        self.b.ins().return_(&[bits]);
    }

    /// Whether all invariants hold; an error in one counts as no.
    fn invariants(&mut self, f: &Frame) {
        for invariant in &self.plan.program.invariants {
            let yes = self.b.create_block();
            self.condition(f, &invariant.expr, yes, self.bail);
            self.b.switch_to_block(yes);
        }
        self.give_back(1);
    }
}
