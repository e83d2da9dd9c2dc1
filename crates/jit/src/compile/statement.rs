//! What an edge tests and does.
//!
//! One description serves four uses ([`How`]): writing an outcome, executing in place (inside a d_step),
//! asking whether there is an outcome, and testing without looking for partners (the guards of a d_step). The
//! test comes first and reads the state as it is; what is executed then changes the copy, or the state itself
//! when there is none.

use std::collections::HashMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use machine::action::Action as Step;
use machine::interp::layout::{Width, find_run};
use promela::ir::{Action, Edge, EdgeId, Expr, ExprKind, LocId, Place, RecvArg, Scalar};
use system::Successor;

use crate::runtime::{self, Context, SLOW};
use crate::shape::{ProcEntry, Shape};

use super::channel::{Chan, Slot, piece};
use super::expr::{Frame, plain};
use super::may_fail;
use super::process::Gen;

/// A d_step that takes as many steps is given to the reference machine, which can tell whether it ends.
const MAX_STEPS: i32 = 20_000;

/// What an edge is tried for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Write the outcome.
    Emit,
    /// Execute on the state itself.
    InPlace,
    /// Say whether there is an outcome.
    Ask,
    /// Say whether it is executable, whoever would have to listen.
    Test,
}

/// Where code goes on.
#[derive(Clone, Copy)]
pub struct Targets {
    /// The edge is blocked.
    pub next: Block,
    /// It was executed.
    pub done: Block,
    /// It offers a message that nobody takes.
    pub unheard: Block,
}

/// The inside of a d_step in the making.
struct Body {
    /// The blocks of the locations met.
    blocks: HashMap<LocId, Block>,
    /// Those that are still empty.
    todo: Vec<(LocId, Block)>,
    /// Where it ends.
    exit: LocId,
    /// Where code goes on then.
    end: Block,
}

impl Body {
    fn new(exit: LocId, end: Block) -> Self {
        Body { blocks: HashMap::new(), todo: Vec::new(), exit, end }
    }

    fn enter(&mut self, location: LocId, block: Block) {
        self.blocks.insert(location, block);
        self.todo.push((location, block));
    }
}

/// A message that is offered.
struct Message<'a> {
    chan: &'a Chan,
    args: &'a [Expr],
}

impl<'p> Gen<'p> {
    /// Makes the code of an edge; ends the block.
    pub fn statement(&mut self, f: &Frame, id: EdgeId, edge: &'p Edge, how: How, to: &Targets) {
        match &edge.action {
            Action::Guard(expr) => {
                let yes = self.b.create_block();
                self.condition(f, expr, yes, to.next);
                self.b.switch_to_block(yes);
            }
            Action::Else => self.otherwise(how, to),
            Action::Lock(place) => {
                let value = self.load(f, place);
                let free = match place.scalar {
                    Scalar::Lock => self.compare(IntCC::Equal, value, 0),
                    _ => self.compare(IntCC::SignedGreaterThan, value, 0),
                };
                self.unless(free, to.next);
            }
            Action::Send { chan, sorted, args } => {
                return self.send(f, id, edge, how, to, (chan, *sorted, args));
            }
            Action::Receive { chan, random, keep, args } => {
                return self.receive(f, id, edge, how, to, (chan, *random, *keep, args));
            }
            Action::DStep { entry, exit, guards } => {
                return self.d_step(f, id, edge, how, to, (*entry, *exit, *guards));
            }
            Action::End => return self.end(f, id, how, to),
            _ => {}
        }
        if let Some(f2) = self.commit(f, how, to) {
            let f3 = self.execute(f, &f2, edge);
            self.finish(&f3, id, edge, how, to);
        }
    }

    /// `else` is executable when no earlier edge was executed.
    fn otherwise(&mut self, how: How, to: &Targets) {
        if how == How::Emit || how == How::Test && self.kind == super::process::Kind::Expand {
            let moved = self.b.use_var(self.moved);
            self.branch_if(moved, to.next);
        }
    }

    /// The effect of simple statements, on `to`. What they read is read from `from`, which is the same state
    /// before it was copied: reading bytes just written is slow. A `run` changes the frame.
    fn execute(&mut self, from: &Frame, to: &Frame, edge: &Edge) -> Frame {
        let (f, to) = match find_run(&edge.action) {
            Some(run) => {
                let after = self.run(from, to, run);
                (after, after)
            }
            None => (*from, *to),
        };
        match &edge.action {
            Action::Guard(expr) if f.run.is_some() => {
                let value = self.eval(&f, expr);
                self.unless(value, self.wrong);
            }
            Action::Assign(place, expr) => {
                let value = self.eval(&f, expr);
                self.store(&f, &to, place, value);
            }
            Action::Assert(expr) => {
                let holds = self.b.create_block();
                self.condition(&f, expr, holds, self.wrong);
                self.b.switch_to_block(holds);
            }
            // Nobody reads what is printed, but evaluating it may show an error.
            Action::Printf(_, args) => {
                for arg in args {
                    self.eval(&f, arg);
                }
            }
            Action::Printm(expr, _) => {
                self.eval(&f, expr);
            }
            Action::Lock(place) => self.lock(&f, &to, place),
            Action::Unlock(place) => self.unlock(&f, &to, place),
            _ => {}
        }
        to
    }

    fn lock(&mut self, f: &Frame, to: &Frame, place: &Place) {
        let value = match place.scalar {
            Scalar::Lock => {
                let pid = self.pid();
                self.b.ins().iadd_imm_s(pid, 1)
            }
            _ => {
                let value = self.load(f, place);
                self.b.ins().iadd_imm_s(value, -1)
            }
        };
        self.store(f, to, place, value);
    }

    fn unlock(&mut self, f: &Frame, to: &Frame, place: &Place) {
        let value = self.load(f, place);
        let (fine, after) = match place.scalar {
            Scalar::Lock => {
                let pid = self.pid();
                let holder = self.b.ins().iadd_imm_s(pid, 1);
                (self.b.ins().icmp(IntCC::Equal, value, holder), self.int(0))
            }
            _ => (self.compare(IntCC::SignedLessThan, value, 255), self.b.ins().iadd_imm_s(value, 1)),
        };
        self.unless(fine, self.wrong);
        self.store(f, to, place, after);
    }

    /// Starts a process.
    fn run(&mut self, from: &Frame, f: &Frame, run: &Expr) -> Frame {
        let ExprKind::Run { proctype, args, .. } = &run.kind else { return *f };
        let values: Vec<Value> = args.iter().map(|arg| self.eval(from, arg)).collect();
        let pointer = self.field64(self.context, offset_of!(Context, args));
        for (i, value) in values.into_iter().enumerate() {
            self.b.ins().store(plain(), value, pointer, 4 * i as i32);
        }
        let pid = self.field32(f.shape, offset_of!(Shape, n_procs));
        self.b.ins().store(plain(), f.shape, self.context, offset_of!(Context, shape) as i32);
        let which = self.int(proctype.0 as i32);
        let ok = self.helper(runtime::run as *const u8, &[self.context, which], Some(types::I32));
        self.unless(ok.unwrap_or(which), self.wrong);
        let state = self.field64(self.context, offset_of!(Context, out));
        let shape = self.field64(self.context, offset_of!(Context, shape));
        let local = self.b.ins().iadd(state, self.own);
        Frame { state, shape, len: None, local, run: Some(pid), ..*f }
    }

    fn send(
        &mut self,
        f: &Frame,
        id: EdgeId,
        edge: &'p Edge,
        how: How,
        to: &Targets,
        (chan, sorted, args): (&Expr, bool, &[Expr]),
    ) {
        self.with_channel(f, chan, Some(args.len()), None, &mut |g, chan| {
            let capacity = g.class(chan.class).capacity;
            if capacity == 0 {
                match how {
                    How::Test => drop(g.b.ins().jump(to.done, &[])),
                    How::InPlace => drop(g.b.ins().jump(g.wrong, &[])),
                    How::Emit | How::Ask => g.offer(f, (id, edge), how, to, &Message { chan, args }),
                }
                return;
            }
            let len = g.chan_len(f, chan);
            let room = g.compare(IntCC::UnsignedLessThan, len, capacity as i32);
            g.unless(room, to.next);
            if let Some(f2) = g.commit(f, how, to) {
                let values: Vec<Value> = args.iter().map(|arg| g.eval(f, arg)).collect();
                g.put_message(f, &f2, chan, len, &values, sorted);
                g.finish(&f2, id, edge, how, to);
            }
        });
    }

    /// Offers a message to the others.
    fn offer(
        &mut self,
        f: &Frame,
        (id, edge): (EdgeId, &Edge),
        how: How,
        to: &Targets,
        &Message { chan, args }: &Message<'_>,
    ) {
        let asks = how == How::Ask;
        // Errors of the message show themselves whether or not somebody listens.
        let harmless = !args.iter().any(may_fail);
        if !asks && harmless {
            self.unless_heard(chan, to.unheard);
        }
        let values: Vec<Value> = args.iter().map(|arg| self.eval(f, arg)).collect();
        if !asks && !harmless {
            self.unless_heard(chan, to.unheard);
        }
        let message = self.field64(self.context, offset_of!(Context, msg) + if asks { 8 } else { 0 });
        for (i, (value, &(_, scalar))) in values.into_iter().zip(&self.class(chan.class).fields).enumerate() {
            let value = self.truncate(scalar, value);
            self.b.ins().store(plain(), value, message, 4 * i as i32);
        }
        if !asks {
            let pid = self.field64(self.process, offset_of!(ProcEntry, action));
            let sender = self.b.ins().bor_imm_u(pid, Step::sender_bits(id) as i64);
            self.b.ins().store(plain(), sender, self.context, offset_of!(Context, sender) as i32);
        }
        // What is dead at its target is forgotten by the outcomes.
        let dead = if asks { Vec::new() } else { self.dead_bytes(edge.to) };
        let taken = match self.plan.late_sender && !asks {
            true => self.offer_late(f, edge, chan),
            false => self.offer_early(f, edge, asks, chan, &dead),
        };
        let is_slow = self.compare(IntCC::Equal, taken, SLOW as i32);
        self.branch_if(is_slow, self.bail);
        self.unless(taken, to.unheard);
        if !asks {
            if self.plan.late_sender && !dead.is_empty() {
                self.forget_in_outcomes(taken, &dead);
            }
            self.note(id);
        }
        self.b.ins().jump(to.done, &[]);
    }

    /// Goes to `unheard` when nobody is where he takes messages from a channel.
    fn unless_heard(&mut self, chan: &Chan, unheard: Block) {
        let heard = self.field64(self.context, offset_of!(Context, heard));
        let most = self.int(63);
        let bit = self.b.ins().umin(chan.index, most);
        let heard = self.b.ins().ushr(heard, bit);
        let heard = self.b.ins().band_imm_u(heard, 1);
        self.unless(heard, unheard);
    }

    /// Offers a message; outcomes begin with moving the sender. Right when nobody looks where others are.
    fn offer_late(&mut self, f: &Frame, edge: &Edge, chan: &Chan) -> Value {
        self.b.ins().store(plain(), self.own, self.context, offset_of!(Context, sender_at) as i32);
        self.write_constant(Width::I32, edge.to.0, self.context, offset_of!(Context, sender_to) as i32);
        let args = [self.context, f.state, f.shape, self.process, chan.index];
        self.helper(runtime::offer as *const u8, &args, Some(types::I32)).unwrap_or(chan.index)
    }

    /// Offers a message, or asks who would take it. Meanwhile the sender is already where it will be.
    fn offer_early(&mut self, f: &Frame, edge: &Edge, asks: bool, chan: &Chan, dead: &[(u32, u32)]) -> Value {
        let width = self.plan.layout.location;
        let location = self.read(width, f.local, 0);
        self.write_constant(width, edge.to.0, f.local, 0);
        let bytes = self.forget(f, dead);
        let last = self.plan.layout.last.map(|at| (at as i32, self.read(Width::U8, f.state, at as i32)));
        if let Some((at, _)) = last {
            let pid = self.pid();
            self.write(Width::U8, pid, f.state, at);
        }
        let args = [self.context, f.state, f.shape, self.process, chan.index];
        let helper = if asks { runtime::ask as *const u8 } else { runtime::offer as *const u8 };
        let taken = self.helper(helper, &args, Some(types::I32)).unwrap_or(chan.index);
        self.write(width, location, f.local, 0);
        for (at, value) in bytes {
            self.b.ins().store(plain(), value, f.local, at);
        }
        if let Some((at, before)) = last {
            self.write(Width::U8, before, f.state, at);
        }
        taken
    }

    /// Clears bytes of the sender's block in the last `n` outcomes.
    fn forget_in_outcomes(&mut self, n: Value, dead: &[(u32, u32)]) {
        let base = self.field64(self.context, offset_of!(Context, base));
        let end = self.field64(self.context, offset_of!(Context, rec));
        let size = self.times(n, size_of::<Successor>() as u32);
        let first = self.b.ins().isub(end, size);
        let (head, after) = (self.b.create_block(), self.b.create_block());
        let record = self.b.append_block_param(head, types::I64);
        self.b.ins().jump(head, &[BlockArg::Value(first)]);
        self.b.switch_to_block(head);
        let start = self.field_wide(record, offset_of!(Successor, start));
        let state = self.b.ins().iadd(base, start);
        let local = self.b.ins().iadd(state, self.own);
        for &(first, len) in dead {
            self.clear(local, first as i32, len);
        }
        let next = self.b.ins().iadd_imm_s(record, size_of::<Successor>() as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, end);
        self.b.ins().brif(more, head, &[BlockArg::Value(next)], after, &[]);
        self.b.switch_to_block(after);
    }

    /// Clears bytes of the process's block; answers where and what they were.
    fn forget(&mut self, f: &Frame, ranges: &[(u32, u32)]) -> Vec<(i32, Value)> {
        let mut before = Vec::new();
        for &(first, len) in ranges {
            let mut done = 0;
            while done < len {
                let (ty, step) = piece(len - done);
                let at = (first + done) as i32;
                before.push((at, self.b.ins().load(ty, plain(), f.local, at)));
                done += step;
            }
            self.clear(f.local, first as i32, len);
        }
        before
    }

    fn receive(
        &mut self,
        f: &Frame,
        id: EdgeId,
        edge: &'p Edge,
        how: How,
        to: &Targets,
        (chan, random, keep, args): (&Expr, bool, bool, &[RecvArg]),
    ) {
        self.with_channel(f, chan, Some(args.len()), Some(to.next), &mut |g, chan| {
            if g.class(chan.class).capacity == 0 {
                // Nothing is on offer.
                g.b.ins().jump(if keep { g.wrong } else { to.next }, &[]);
                return;
            }
            let slot = g.find_message(f, chan, random, args, to.next);
            if let Some(f2) = g.commit(f, how, to) {
                g.take(f, &f2, chan, slot, keep, args);
                g.finish(&f2, id, edge, how, to);
            }
        });
    }

    /// Takes a message: all fields but the last are stored while it is still there.
    fn take(&mut self, f: &Frame, to: &Frame, chan: &Chan, slot: Slot, keep: bool, args: &[RecvArg]) {
        let fields = &self.class(chan.class).fields;
        let (base, offset) = self.slot_at(f, chan, slot);
        let mut values = Vec::new();
        for (arg, &(at, scalar)) in args.iter().zip(fields) {
            let stored = matches!(arg, RecvArg::Store(_));
            values.push(stored.then(|| self.read_scalar(scalar, base, offset + at as i32)));
        }
        for (i, (arg, value)) in args.iter().zip(values).enumerate() {
            if i + 1 == args.len() && !keep {
                self.remove(f, to, chan, slot);
            }
            if let (RecvArg::Store(place), Some(value)) = (arg, value) {
                // An index may be what was received before it.
                self.store(to, to, place, value);
            }
        }
    }

    fn d_step(
        &mut self,
        f: &Frame,
        id: EdgeId,
        edge: &'p Edge,
        how: How,
        to: &Targets,
        (entry, exit, guards): (LocId, LocId, Option<LocId>),
    ) {
        let proctype = self.definition();
        let start = self.b.create_block();
        let edges = &proctype.location(guards.unwrap_or(entry)).edges;
        if guards.is_some() && edges.is_empty() {
            self.b.ins().jump(start, &[]);
        } else {
            for &inner in edges {
                let statement = proctype.edge(inner);
                let next = self.b.create_block();
                if guards.is_some() && matches!(statement.action, Action::Else) {
                    self.b.ins().jump(start, &[]);
                } else {
                    let targets = Targets { next, done: start, ..*to };
                    self.statement(f, inner, statement, How::Test, &targets);
                }
                self.b.switch_to_block(next);
            }
            self.b.ins().jump(to.next, &[]);
        }
        self.b.switch_to_block(start);
        if let Some(f2) = self.commit(f, how, to) {
            let mut body = Body::new(exit, self.b.create_block());
            let zero = self.int(0);
            self.b.def_var(self.steps, zero);
            let first = self.b.create_block();
            body.enter(entry, first);
            self.b.ins().jump(first, &[]);
            self.d_step_body(&f2, body);
            self.finish(&f2, id, edge, how, to);
        }
    }

    /// A d_step that begins by taking a message on offer: code goes on behind it.
    pub fn d_step_by_receiving(&mut self, f: &Frame, entry: LocId, exit: LocId) {
        let proctype = self.definition();
        let mut body = Body::new(exit, self.b.create_block());
        let zero = self.int(0);
        self.b.def_var(self.steps, zero);
        for &inner in &proctype.location(entry).edges {
            let statement = proctype.edge(inner);
            let Action::Receive { chan, keep: false, args, .. } = &statement.action else { continue };
            let next = self.b.create_block();
            self.offered(f, chan, args, next);
            self.take_offered(f, args);
            self.note(inner);
            self.go_on(&mut body, statement.to);
            self.b.switch_to_block(next);
        }
        self.b.ins().jump(self.bail, &[]);
        self.d_step_body(&Frame { pending: false, ..*f }, body);
    }

    /// Executes a d_step in place, from the locations that it was entered at; goes on when its end is
    /// reached.
    fn d_step_body(&mut self, f: &Frame, mut body: Body) {
        let proctype = self.definition();
        while let Some((location, block)) = body.todo.pop() {
            self.b.switch_to_block(block);
            for &inner in &proctype.location(location).edges {
                let statement = proctype.edge(inner);
                let (next, done) = (self.b.create_block(), self.b.create_block());
                self.wrong = self.bail;
                let targets = Targets { next, done, unheard: self.bail };
                self.statement(f, inner, statement, How::InPlace, &targets);
                self.b.switch_to_block(done);
                self.note(inner);
                self.go_on(&mut body, statement.to);
                self.b.switch_to_block(next);
            }
            // Nothing is executable here.
            self.b.ins().jump(self.bail, &[]);
        }
        self.b.switch_to_block(body.end);
    }

    /// Goes to a location of a d_step; ends the block.
    fn go_on(&mut self, body: &mut Body, to: LocId) {
        if to == body.exit {
            self.b.ins().jump(body.end, &[]);
        } else if let Some(&known) = body.blocks.get(&to) {
            // Every cycle has such a step.
            let steps = self.b.use_var(self.steps);
            let steps = self.b.ins().iadd_imm_s(steps, 1);
            self.b.def_var(self.steps, steps);
            let few = self.compare(IntCC::UnsignedLessThan, steps, MAX_STEPS);
            self.b.ins().brif(few, known, &[], self.bail, &[]);
        } else {
            let new = self.b.create_block();
            body.enter(to, new);
            self.b.ins().jump(new, &[]);
        }
    }

    /// The process disappears, which must have the highest pid.
    fn end(&mut self, f: &Frame, id: EdgeId, how: How, to: &Targets) {
        let count = self.field32(f.shape, offset_of!(Shape, n_procs));
        let pid = self.pid();
        let older = self.b.ins().iadd_imm_s(pid, 1);
        let is_last = self.b.ins().icmp(IntCC::Equal, older, count);
        self.unless(is_last, to.next);
        match how {
            How::Ask | How::Test => {}
            How::InPlace => {
                self.b.ins().jump(self.bail, &[]);
                return;
            }
            How::Emit => self.death(f, id),
        }
        self.b.ins().jump(to.done, &[]);
    }

    /// Writes a state without the process with the highest pid.
    fn death(&mut self, f: &Frame, id: EdgeId) {
        let parent = self.field64(f.shape, offset_of!(Shape, parent));
        let len = self.field_wide(parent, offset_of!(Shape, len));
        let (out, _) = self.copy_state(f);
        let hidden = self.plan.layout.hidden;
        if hidden > 0 {
            let [from, to] = [(f.state, f.shape), (out, parent)].map(|(state, shape)| {
                let at = self.field_wide(shape, offset_of!(Shape, hidden));
                self.b.ins().iadd(state, at)
            });
            let n = self.b.ins().iconst(types::I64, i64::from(hidden));
            self.helper(runtime::move_bytes as *const u8, &[to, from, n], None);
        }
        let header = self.field32(parent, offset_of!(Shape, id));
        self.b.ins().store(plain(), header, out, 0);
        if let Some(at) = self.plan.layout.last {
            let pid = self.pid();
            self.write(Width::U8, pid, out, at as i32);
        }
        let ordinary = self.b.ins().iconst(types::I64, 0);
        self.record(out, id, len, ordinary);
    }
}
