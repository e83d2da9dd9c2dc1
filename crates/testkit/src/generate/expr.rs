//! Expressions: numbers, conditions and guards. Division is by constants; every operator occurs.

use crate::model::{BinOp, Expr, Probe, Type, UnOp};

use super::Generator;
use super::mix::Feature;
use super::scope::{Frame, Leaf, Mode, ProcInfo, is_numeric};

const ARITHMETIC: [BinOp; 8] =
    [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor, BinOp::Add, BinOp::Sub];
const COMPARISONS: [BinOp; 6] = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];

impl Generator {
    fn one_of(&mut self, ops: &[BinOp]) -> BinOp {
        ops[self.rng.below(ops.len())]
    }

    /// The value of some readable scalar, or a small constant.
    pub(super) fn atom(&mut self, frame: &Frame) -> Expr {
        if self.rng.chance(75)
            && let Some(leaf) = self.pick_leaf(frame, |l| !l.write_only && is_numeric(&l.ty))
        {
            return Expr::VariableRef(Box::new(self.place(frame, &leaf, &[])));
        }
        self.constant(&Type::Byte)
    }

    /// A number of any size; assignments reduce it.
    pub(super) fn number(&mut self, frame: &Frame, depth: u32) -> Expr {
        if depth == 0 || self.rng.chance(35) {
            return self.special(frame).unwrap_or_else(|| self.atom(frame));
        }
        let macros = if self.world.macros.iter().any(|m| m.args == Some(2)) { 2 } else { 0 };
        let cond = self.mix.weight(Feature::Cond);
        match self.rng.weighted(&[8, 2, 2, 2, cond, macros, 2]) {
            Some(1) => {
                let op = if self.rng.chance(50) { BinOp::Div } else { BinOp::Rem };
                let left = self.number(frame, depth - 1);
                let right = if self.faults && self.rng.chance(15) {
                    self.atom(frame)
                } else {
                    Expr::Num(self.rng.range(1, 3))
                };
                Expr::binary(op, left, right)
            }
            Some(2) => {
                let op = if self.rng.chance(50) { BinOp::Shl } else { BinOp::Shr };
                Expr::binary(op, self.number(frame, depth - 1), Expr::Num(self.rng.range(0, 2)))
            }
            Some(3) => {
                let op = if self.rng.chance(50) { UnOp::Neg } else { UnOp::Compl };
                Expr::Unary(op, Box::new(self.number(frame, depth - 1)))
            }
            Some(4) => {
                let condition = self.condition(frame, depth - 1);
                let (a, b) = (self.number(frame, depth - 1), self.number(frame, depth - 1));
                Expr::Cond(Box::new(condition), Box::new(a), Box::new(b))
            }
            Some(5) => {
                let sum = Expr::binary(BinOp::Add, self.atom(frame), Expr::Num(1));
                Expr::Call("MIX".into(), vec![sum, self.atom(frame)])
            }
            Some(6) => {
                // The verifier's code for a poll lacks parentheses where the model has rendezvous channels.
                let condition = self.condition(frame, depth - 1);
                if crate::print::expression(&condition).contains("?[") {
                    return Expr::Cond(Box::new(condition), Box::new(Expr::Num(1)), Box::new(Expr::Num(0)));
                }
                condition
            }
            _ => {
                let op = self.one_of(&ARITHMETIC);
                Expr::binary(op, self.number(frame, depth - 1), self.number(frame, depth - 1))
            }
        }
    }

    /// A number that is not a variable: a predefined name, a channel's length, a remote value.
    fn special(&mut self, frame: &Frame) -> Option<Expr> {
        let len = if self.visible_chans(frame).is_empty() { 0 } else { 3 };
        let remote = if frame.mode == Mode::DStep { 0 } else { self.mix.weight(Feature::Remote) };
        let weights = [
            30,
            4,
            self.mix.weight(Feature::NrPr),
            self.mix.weight(Feature::Last) * 2,
            len,
            remote,
            self.mix.weight(Feature::Priority) * 2,
        ];
        match self.rng.weighted(&weights) {
            Some(1) => Some(Expr::word("_pid")),
            Some(2) => Some(Expr::word("_nr_pr")),
            Some(3) => Some(Expr::word("_last")),
            Some(4) => {
                let chans = self.visible_chans(frame);
                let chan = self.rng.pick(&chans)?.clone();
                Some(Expr::Len(Box::new(self.chan_place(frame, &chan, &[]))))
            }
            Some(5) => self.remote_var(frame),
            Some(6) => Some(match self.rng.below(2) {
                0 => Expr::word("_priority"),
                _ => Expr::Call("get_priority".into(), vec![self.some_pid()]),
            }),
            _ => None,
        }
    }

    /// The pid of the asking process or a small constant.
    pub(super) fn some_pid(&mut self) -> Expr {
        if self.rng.chance(40) { Expr::word("_pid") } else { Expr::Num(self.rng.range(0, 2)) }
    }

    /// A condition without side effects.
    pub(super) fn condition(&mut self, frame: &Frame, depth: u32) -> Expr {
        if depth > 0 && self.rng.chance(30) {
            let op = if self.rng.chance(50) { BinOp::And } else { BinOp::Or };
            return Expr::binary(op, self.condition(frame, depth - 1), self.condition(frame, depth - 1));
        }
        if depth > 0 && self.rng.chance(12) {
            return self.condition(frame, depth - 1).negated();
        }
        let poll = if self.pollable(frame).is_empty() { 0 } else { self.mix.weight(Feature::Poll) };
        let in_dstep = frame.mode == Mode::DStep;
        let remote = if in_dstep { 0 } else { self.mix.weight(Feature::Remote) };
        let synchronous = self.world.chans.iter().any(|c| c.capacity == Some(0));
        let enabled = if in_dstep || synchronous { 0 } else { self.mix.weight(Feature::Enabled) * 4 };
        let mtype = if self.world.mtypes.is_empty() { 0 } else { 3 };
        let pc_value = if in_dstep { 0 } else { self.mix.weight(Feature::PcValue) };
        match self.rng.weighted(&[12, 4, poll, remote, enabled, mtype, pc_value]) {
            Some(1) => self.flag(frame),
            Some(2) => self.poll(frame).unwrap_or(Expr::Num(1)),
            Some(3) => self.remote_label(frame).unwrap_or_else(|| self.comparison(frame, depth)),
            Some(4) => self.enabled(frame).unwrap_or_else(|| self.comparison(frame, depth)),
            Some(5) => self.mtype_test(frame).unwrap_or_else(|| self.comparison(frame, depth)),
            Some(6) => {
                let (a, b) = (self.some_pid(), self.some_pid());
                let pc = |pid| Expr::Call("pc_value".into(), vec![pid]);
                Expr::binary(if self.rng.chance(50) { BinOp::Eq } else { BinOp::Ne }, pc(a), pc(b))
            }
            _ => self.comparison(frame, depth),
        }
    }

    fn comparison(&mut self, frame: &Frame, depth: u32) -> Expr {
        if self.rng.chance(50) {
            return self.likely(frame);
        }
        let op = self.one_of(&COMPARISONS);
        let left = if self.rng.chance(70) { self.atom(frame) } else { self.number(frame, depth.min(1)) };
        let right = if self.rng.chance(70) {
            Expr::Num(self.rng.range(0, 2))
        } else {
            self.number(frame, depth.min(1))
        };
        Expr::binary(op, left, right)
    }

    /// A comparison that holds for the small values that variables mostly have.
    fn likely(&mut self, frame: &Frame) -> Expr {
        let value = self.atom(frame);
        match self.rng.below(4) {
            0 => Expr::binary(BinOp::Ne, value, Expr::Num(self.rng.range(1, 2))),
            1 => Expr::binary(BinOp::Le, value, Expr::Num(self.rng.range(0, 1))),
            2 => Expr::binary(BinOp::Ge, value, Expr::Num(0)),
            _ => Expr::binary(BinOp::Lt, value, Expr::Num(self.rng.range(1, 3))),
        }
    }

    /// A variable taken as a condition.
    fn flag(&mut self, frame: &Frame) -> Expr {
        let value = self.atom(frame);
        if self.rng.chance(40) { value.negated() } else { value }
    }

    fn mtype_test(&mut self, frame: &Frame) -> Option<Expr> {
        let leaf = self.pick_leaf(frame, |l| matches!(l.ty, Type::Mtype(_)) && !l.write_only)?;
        let constant = self.constant(&leaf.ty);
        let value = Expr::VariableRef(Box::new(self.place(frame, &leaf, &[])));
        let op = if self.rng.chance(60) { BinOp::Eq } else { BinOp::Ne };
        Some(Expr::binary(op, value, constant))
    }

    /// The processes that can be named from elsewhere: their pids are known and never used again.
    fn remote_targets(&self, frame: &Frame) -> Vec<ProcInfo> {
        if self.world.has_run {
            return Vec::new();
        }
        let known = |proc: &&ProcInfo| proc.instances > 0 && !proc.is_init;
        self.world.procs.iter().take(frame.earlier).filter(known).cloned().collect()
    }

    /// The pid of one instance, left out now and then.
    fn remote_pid(&mut self, proc: &ProcInfo) -> Option<Box<Expr>> {
        if proc.instances == 1 && self.rng.chance(25) {
            return None;
        }
        let offset = self.rng.range(0, i64::from(proc.instances) - 1);
        Some(Box::new(Expr::Num(i64::from(proc.first_pid) + offset)))
    }

    fn remote_label(&mut self, frame: &Frame) -> Option<Expr> {
        let targets = self.remote_targets(frame);
        let proc = self.rng.pick(&targets)?.clone();
        let label = proc.remote_label.clone()?;
        Some(Expr::RemoteLabel { pid: self.remote_pid(&proc), proc: proc.name, label })
    }

    fn remote_var(&mut self, frame: &Frame) -> Option<Expr> {
        let targets = self.remote_targets(frame);
        let proc = self.rng.pick(&targets)?.clone();
        let (name, len) = proc.remote_var.clone()?;
        let index = len.map(|len| Box::new(Expr::Num(self.rng.range(0, i64::from(len) - 1))));
        Some(Expr::RemoteVar { pid: self.remote_pid(&proc), proc: proc.name, name, index })
    }

    /// `enabled(pid)` of another process: asking about oneself is an error.
    fn enabled(&mut self, frame: &Frame) -> Option<Expr> {
        let targets = self.remote_targets(frame);
        let proc = self.rng.pick(&targets)?.clone();
        frame.proc?;
        let offset = self.rng.range(0, i64::from(proc.instances) - 1);
        Some(Expr::Call("enabled".into(), vec![Expr::Num(i64::from(proc.first_pid) + offset)]))
    }

    /// The guard of an option: a condition, a channel probe, or `timeout`.
    pub(super) fn guard(&mut self, frame: &Frame) -> Expr {
        let timeout = if frame.mode == Mode::Plain { self.mix.weight(Feature::Timeout) / 2 } else { 0 };
        let probe = if self.visible_chans(frame).is_empty() { 0 } else { self.mix.weight(Feature::Probe) };
        match self.rng.weighted(&[8, timeout, probe]) {
            Some(1) if self.rng.chance(80) => Expr::word("timeout"),
            Some(1) => Expr::binary(BinOp::And, Expr::word("timeout"), self.condition(frame, 0)),
            Some(2) => {
                let probe = self.probe(frame).unwrap_or(Expr::Num(1));
                match self.rng.below(4) {
                    0 => Expr::binary(BinOp::And, self.condition(frame, 0), probe),
                    1 => Expr::binary(BinOp::Or, probe, self.condition(frame, 0)),
                    _ => probe,
                }
            }
            _ => self.condition(frame, 1),
        }
    }

    /// A question about the fill of a channel; it stands only at the top of an expression.
    pub(super) fn probe(&mut self, frame: &Frame) -> Option<Expr> {
        let chans = self.visible_chans(frame);
        let chan = self.rng.pick(&chans)?.clone();
        let probe = [Probe::Full, Probe::NFull, Probe::Empty, Probe::NEmpty][self.rng.below(4)];
        Some(Expr::Probe(probe, Box::new(self.chan_place(frame, &chan, &[]))))
    }

    /// A value that fits its type at once: a truncated initial value is refused.
    pub(super) fn initial_value(&mut self, frame: &Frame, ty: &Type) -> Expr {
        let quiet = Frame { mode: Mode::DStep, ..frame.clone() };
        match ty {
            Type::Mtype(_) => self.constant(ty),
            _ if self.rng.chance(40) => Expr::Num(self.rng.range(0, 1)),
            _ => {
                let faults = std::mem::take(&mut self.faults);
                let value = self.number(&quiet, 1);
                self.faults = faults;
                Expr::binary(BinOp::BitAnd, value, Expr::Num(1))
            }
        }
    }

    /// A value for a variable of a type, kept small.
    pub(super) fn value_for(&mut self, frame: &Frame, ty: &Type, in_array: bool) -> Expr {
        match ty {
            Type::Mtype(_) => {
                let same = |l: &Leaf| l.ty == *ty && !l.write_only;
                match self.pick_leaf(frame, same) {
                    Some(leaf) if self.rng.chance(30) => {
                        Expr::VariableRef(Box::new(self.place(frame, &leaf, &[])))
                    }
                    _ => self.constant(ty),
                }
            }
            Type::Bit | Type::Bool if !in_array => self.number(frame, 1),
            Type::Unsigned(bits) if *bits <= 2 => self.number(frame, 2),
            _ if self.rng.chance(30) => self.constant(ty),
            _ => self.reduced(frame),
        }
    }

    /// A number reduced to a few values.
    fn reduced(&mut self, frame: &Frame) -> Expr {
        let value = self.number(frame, 2);
        match self.rng.below(5) {
            0 => Expr::binary(BinOp::BitAnd, value, Expr::Num(1)),
            1 => Expr::binary(BinOp::BitAnd, value, Expr::Num(3)),
            2 => self.condition(frame, 1),
            3 => Expr::binary(BinOp::Rem, value, Expr::Num(3)),
            _ => Expr::binary(BinOp::Rem, value, Expr::Num(2)),
        }
    }
}
