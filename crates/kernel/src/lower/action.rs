//! Statements: when they are executable, and what they do.

use promela::ir::{Action, Expr, ExprKind, Place, RecvArg, Scalar};

use super::{FAILED, Lower};
use crate::builder::{Test, Val};
use crate::ir::{Block, Cmp, Inst, Operand};

/// The statement that a `run` is, or is in.
pub fn run_of(action: &Action) -> Option<&Expr> {
    match action {
        Action::Guard(expr) | Action::Assign(_, expr) if matches!(expr.kind, ExprKind::Run { .. }) => {
            Some(expr)
        }
        _ => None,
    }
}

impl<'a> Lower<'a> {
    /// Goes on where a statement is executable, else elsewhere. `else` is where nothing was executed before.
    pub fn require_executable(&mut self, action: &Action, moved: Test, no: Block) {
        match action {
            _ if run_of(action).is_some() => {}
            Action::Guard(expr) => {
                let test = self.condition(expr);
                self.b.require(test, no);
            }
            Action::Else => {
                let test = self.b.not(moved);
                self.b.require(test, no);
            }
            Action::Send { chan, .. } => {
                let number = self.expr(chan);
                let (fault, end) = (self.fault, self.b.block());
                self.for_channel(number, fault, &mut |lower, channel| {
                    lower.require_room(channel, no);
                    lower.b.jump(end);
                });
                self.b.jump(end);
                self.b.enter(end);
            }
            Action::Receive { chan, random, keep, args } => {
                let number = self.expr(chan);
                let end = self.b.block();
                self.for_channel(number, no, &mut |lower, channel| {
                    if lower.require_buffer(channel, *keep, no) {
                        lower.find_message(channel, *random, args, no);
                    }
                    lower.b.jump(end);
                });
                self.b.jump(end);
                self.b.enter(end);
            }
            Action::Lock(place) => {
                let value = self.load_place(place);
                let cmp = if place.scalar == Scalar::Lock { Cmp::Eq } else { Cmp::Gt };
                let test = self.b.test(cmp, value, Val::constant(0));
                self.b.require(test, no);
            }
            _ => {}
        }
    }

    /// Goes on where there is room for another message.
    fn require_room(&mut self, channel: usize, no: Block) {
        let capacity = self.program.chan_types[self.layout.channels[channel].ty.index()].capacity;
        if capacity > 0 {
            let length = self.length(channel);
            let room = self.b.test(Cmp::Lt, length, Val::constant(capacity as i32));
            self.b.require(room, no);
        }
    }

    /// Goes on where a channel has a buffer; a rendezvous channel is nothing to receive from alone. Says
    /// whether it goes on.
    fn require_buffer(&mut self, channel: usize, keep: bool, no: Block) -> bool {
        if self.layout.channels[channel].length.is_some() {
            return true;
        }
        let fault = self.fault;
        self.b.jump(if keep { fault } else { no });
        let dead = self.b.block();
        self.b.enter(dead);
        false
    }

    /// Executes a statement that is executable; `no` is where it is not after all.
    pub fn perform(&mut self, action: &Action, no: Block) {
        match action {
            Action::Assign(place, expr) => {
                let value = match run_of(action) {
                    Some(run) => self.run(run),
                    None => self.expr(expr),
                };
                self.store_place(place, value);
            }
            Action::Guard(_) => {
                if let Some(run) = run_of(action) {
                    self.run(run);
                }
            }
            Action::Send { chan, sorted, args } => self.send(chan, *sorted, args, no),
            Action::Receive { chan, random, keep, args } => self.receive(chan, (*random, *keep), args, no),
            Action::Assert(expr) => {
                let holds = self.condition(expr);
                let failed = Operand::Imm(i64::from(FAILED));
                match holds {
                    Test::Known(true) => {}
                    Test::Known(false) => self.b.push(Inst::Copy(self.failed, failed)),
                    Test::Reg(holds) => {
                        let old = Operand::Reg(self.failed);
                        self.b.push(Inst::Select(self.failed, holds, old, failed));
                    }
                }
            }
            Action::Printf(_, args) => args.iter().for_each(|arg| _ = self.expr(arg)),
            Action::Printm(expr, _) => _ = self.expr(expr),
            Action::Lock(place) => self.lock(place),
            Action::Unlock(place) => self.unlock(place),
            // Control, and what is refused before.
            Action::Skip
            | Action::Else
            | Action::End
            | Action::DStep { .. }
            | Action::SetPriority(..)
            | Action::C(_)
            | Action::Event { .. } => {}
        }
    }

    fn lock(&mut self, place: &Place) {
        let value = match place.scalar {
            Scalar::Lock => Val::constant(self.actor.pid as i32 + 1),
            _ => {
                let value = self.load_place(place);
                self.b.binary(promela::ir::BinaryOp::Sub, value, Val::constant(1))
            }
        };
        self.store_place(place, value);
    }

    fn unlock(&mut self, place: &Place) {
        let value = self.load_place(place);
        if place.scalar == Scalar::Lock {
            let own = Val::constant(self.actor.pid as i32 + 1);
            let foreign = self.b.test(Cmp::Ne, value, own);
            self.fault_if(foreign);
            return self.store_place(place, Val::constant(0));
        }
        let full = self.b.test(Cmp::Ge, value, Val::constant(255));
        self.fault_if(full);
        let value = self.b.binary(promela::ir::BinaryOp::Add, value, Val::constant(1));
        self.store_place(place, value);
    }

    /// A send; on a rendezvous channel it only shows its errors here.
    fn send(&mut self, chan: &Expr, sorted: bool, args: &[Expr], no: Block) {
        let number = self.expr(chan);
        let (fault, end) = (self.fault, self.b.block());
        self.for_channel(number, fault, &mut |lower, channel| {
            lower.require_room(channel, no);
            let message: Vec<Val> = args.iter().map(|arg| lower.expr(arg)).collect();
            lower.fault_if(Test::Known(args.len() != lower.width(channel)));
            if lower.layout.channels[channel].length.is_none() {
                lower.b.jump(no);
                return;
            }
            if args.len() == lower.width(channel) {
                lower.put_message(channel, sorted, &message);
            }
            lower.b.jump(end);
        });
        self.b.jump(end);
        self.b.enter(end);
    }

    fn receive(&mut self, chan: &Expr, (random, keep): (bool, bool), args: &[RecvArg], no: Block) {
        let number = self.expr(chan);
        let end = self.b.block();
        let plain = args.iter().all(|arg| match arg {
            RecvArg::Store(place) => Self::is_plain_local(place),
            _ => true,
        });
        if !plain {
            self.dead.clear();
        }
        self.for_channel(number, no, &mut |lower, channel| {
            if lower.require_buffer(channel, keep, no) {
                lower.take(channel, (random, keep), args, no);
            }
            lower.b.jump(end);
        });
        self.b.jump(end);
        self.b.enter(end);
    }

    fn take(&mut self, channel: usize, (random, keep): (bool, bool), args: &[RecvArg], no: Block) {
        let slot = self.find_message(channel, random, args, no);
        let values: Vec<Val> = (0..args.len()).map(|field| self.field(channel, slot, field)).collect();
        if !keep {
            self.fault_if(Test::Known(args.len() != self.width(channel)));
        }
        for (number, (arg, &value)) in args.iter().zip(&values).enumerate() {
            if number + 1 == args.len() && !keep {
                self.remove_message(channel, slot);
            }
            if let RecvArg::Store(place) = arg {
                self.store_place(place, value);
            }
        }
    }
}
