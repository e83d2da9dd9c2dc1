//! What an expression reads when it is evaluated: values for people, and needs for finding out who could
//! change them.
//!
//! Follows evaluation exactly: what a short circuit skips was not read. As long as none of the needs changes,
//! the value stays what it is.

use promela::ir::{Base, BinaryOp, ChanOp, Expr, ExprKind, Place, RecvArg};
use system::Value;

use super::super::Interp;
use super::super::eval::View;

/// Something whose change may make a statement executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// A global cell.
    Global(usize),
    /// A global cell that says which channel is meant.
    Holder(usize),
    /// A cell of the process with this number, counted from its first.
    Local(usize, usize),
    /// The messages of the channel with this index: somebody has to send.
    Send(usize),
    /// Somebody has to receive.
    Receive(usize),
    /// Where a process is, or whether it exists.
    Moves(usize),
    /// The end of a process.
    Ends(usize),
    /// How many processes there are.
    Population,
    /// The priority of some process.
    Priority,
    /// Any step at all (`_last`, `np_`).
    Anything,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Names and values in the order of evaluation, each name once.
    pub values: Vec<(String, Value)>,
    /// What they depend on.
    pub needs: Vec<Need>,
}

impl Reads {
    fn value(&mut self, name: impl Into<String>, value: Value) {
        let name = name.into();
        if self.values.iter().all(|(known, _)| *known != name) {
            self.values.push((name, value));
        }
    }

    /// Adds a need.
    pub fn need(&mut self, need: Need) {
        if !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }
}

/// Walks an expression as evaluation does.
pub(super) struct Reader<'a> {
    pub interp: &'a Interp,
    pub view: View<'a>,
    pub reads: Reads,
}

impl<'a> Reader<'a> {
    /// A reader that has read nothing.
    pub fn new(interp: &'a Interp, view: View<'a>) -> Self {
        Reader { interp, view, reads: Reads::default() }
    }

    /// Everything that evaluating `expr` reads.
    pub fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(_) => {}
            ExprKind::Timeout => {
                self.reads.value("timeout", truth(i32::from(self.view.mode.timeout)));
                self.reads.need(Need::Anything);
            }
            ExprKind::Load(place) => self.load(place),
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Binary(op, left, right) => {
                self.expr(left);
                let decided = match op {
                    BinaryOp::And => self.view.eval(left).is_ok_and(|value| value == 0),
                    BinaryOp::Or => self.view.eval(left).is_ok_and(|value| value != 0),
                    _ => false,
                };
                if !decided {
                    self.expr(right);
                }
            }
            ExprKind::Cond(condition, yes, no) => {
                self.expr(condition);
                let chosen = self.view.eval(condition).is_ok_and(|value| value != 0);
                self.expr(if chosen { yes } else { no });
            }
            _ => self.special(expr),
        }
    }

    fn special(&mut self, expr: &Expr) {
        let value = self.view.eval(expr).unwrap_or(0);
        match &expr.kind {
            ExprKind::Chan(op, chan) => self.chan_op(*op, chan, value),
            ExprKind::Poll { chan, args, .. } => self.poll(chan, args),
            ExprKind::Run { .. } | ExprKind::NrPr => {
                self.reads.value("_nr_pr", Value::Int(self.view.state.processes.len() as i64));
                self.reads.need(Need::Population);
            }
            ExprKind::Enabled(pid) => {
                self.expr(pid);
                self.reads.value(format!("enabled({})", self.number(pid)), truth(value));
                // Whether another process can move may depend on anything.
                self.reads.need(Need::Anything);
            }
            ExprKind::PcValue(pid) => {
                self.expr(pid);
                self.reads.value(format!("pc_value({})", self.number(pid)), number(value));
                self.moves(self.number(pid));
            }
            ExprKind::GetPriority(pid) => {
                self.expr(pid);
                self.reads.value(format!("get_priority({})", self.number(pid)), number(value));
                self.reads.need(Need::Priority);
            }
            ExprKind::C(_) => {
                self.reads.value("c_expr", number(value));
                self.reads.need(Need::Anything);
            }
            ExprKind::Pid => self.reads.value("_pid", number(value)),
            ExprKind::Last => {
                self.reads.value("_last", number(value));
                self.reads.need(Need::Anything);
            }
            ExprKind::Priority => {
                self.reads.value("_priority", number(value));
                self.reads.need(Need::Priority);
            }
            ExprKind::NonProgress => {
                self.reads.value("np_", truth(value));
                self.reads.need(Need::Anything);
            }
            ExprKind::RemoteLabel { proctype, pid, location } => {
                let definition = self.interp.program.proctype(*proctype);
                let label = definition.labels.iter().find(|(_, at)| at == location);
                let label = label.map_or_else(|| location.0.to_string(), |(name, _)| name.clone());
                let who = self.remote_name(&definition.name, pid.as_deref());
                self.reads.value(format!("{who}@{label}"), truth(value));
                self.remote_moves(*proctype, pid.as_deref());
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                self.remote_var(*proctype, pid.as_deref(), place, value);
            }
            ExprKind::Const(_)
            | ExprKind::Timeout
            | ExprKind::Load(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cond(..) => self.expr(expr),
        }
    }

    /// The cell that a place is, and the indices on the way.
    pub fn load(&mut self, place: &Place) {
        let (Ok(cell), Ok(value)) = (self.view.cell(place), self.view.load(place)) else { return };
        let words = self.interp.scalar(self.view.state, place.scalar, value);
        match place.base {
            Base::Global => {
                self.reads.value(self.interp.name(&self.interp.program.globals, cell), words);
                self.reads.need(Need::Global(cell));
            }
            Base::Local => {
                if let (Some(pid), Ok(process)) = (self.view.pid, self.view.own(place.span)) {
                    let vars = &self.view.proctype_of(process).locals;
                    self.reads.value(self.interp.name(vars, cell), words);
                    self.reads.need(Need::Local(pid, cell));
                }
            }
            Base::Scratch => {}
        }
        self.indices(place);
    }

    /// The indices on the way to a cell.
    pub fn indices(&mut self, place: &Place) {
        for index in &place.indices {
            self.expr(&index.value);
        }
    }

    /// The channel that an expression means, when it means one; what the expression reads are needs, but no
    /// values to show.
    pub fn channel(&mut self, chan: &Expr) -> Option<usize> {
        let mut inner = Reader::new(self.interp, self.view);
        inner.expr(chan);
        for need in inner.reads.needs {
            self.reads.need(match need {
                Need::Global(cell) => Need::Holder(cell),
                other => other,
            });
        }
        self.view.channel(chan).ok()
    }

    /// The name of a channel as the process sees it.
    pub fn channel_name(&self, index: usize) -> String {
        self.interp.channel_name(self.view.state, index, self.view.pid)
    }

    fn chan_op(&mut self, op: ChanOp, chan: &Expr, value: i32) {
        let Some(index) = self.channel(chan) else { return };
        let (word, words) = match op {
            ChanOp::Len => ("len", number(value)),
            ChanOp::Full => ("full", truth(value)),
            ChanOp::Empty => ("empty", truth(value)),
            ChanOp::Nfull => ("nfull", truth(value)),
            ChanOp::Nempty => ("nempty", truth(value)),
        };
        self.reads.value(format!("{word}({})", self.channel_name(index)), words);
        self.messages_change(index);
    }

    fn messages_change(&mut self, index: usize) {
        self.reads.need(Need::Send(index));
        self.reads.need(Need::Receive(index));
    }

    fn poll(&mut self, chan: &Expr, args: &[RecvArg]) {
        let Some(index) = self.channel(chan) else { return };
        let messages = self.interp.messages(self.view.state, index);
        let words = Value::Symbol(format!("[{}]", messages.join(", ")));
        self.reads.value(self.channel_name(index), words);
        self.messages_change(index);
        self.matched(args);
    }

    /// What the fields of a receive are compared with.
    pub fn matched(&mut self, args: &[RecvArg]) {
        for arg in args {
            if let RecvArg::Match(expr) = arg {
                self.expr(expr);
            }
        }
    }

    fn number(&self, pid: &Expr) -> i32 {
        self.view.eval(pid).unwrap_or(-1)
    }

    fn moves(&mut self, pid: i32) {
        match usize::try_from(pid) {
            Ok(pid) if pid < self.view.state.processes.len() => self.reads.need(Need::Moves(pid)),
            _ => self.reads.need(Need::Population),
        }
    }

    fn remote_name(&self, name: &str, pid: Option<&Expr>) -> String {
        match pid {
            Some(pid) => format!("{name}[{}]", self.number(pid)),
            None => name.to_string(),
        }
    }

    /// The number of the process that a remote reference means.
    fn remote_pid(&mut self, proctype: promela::ir::ProctypeId, pid: Option<&Expr>) -> i32 {
        match pid {
            Some(pid) => {
                self.expr(pid);
                self.number(pid)
            }
            None => {
                let mut processes = self.view.state.processes.iter();
                processes.position(|process| process.proctype == proctype).map_or(-1, |pid| pid as i32)
            }
        }
    }

    fn remote_moves(&mut self, proctype: promela::ir::ProctypeId, pid: Option<&Expr>) {
        let pid = self.remote_pid(proctype, pid);
        self.moves(pid);
    }

    fn remote_var(
        &mut self,
        proctype: promela::ir::ProctypeId,
        pid: Option<&Expr>,
        place: &Place,
        value: i32,
    ) {
        let definition = self.interp.program.proctype(proctype);
        let who = self.remote_name(&definition.name, pid);
        let number = self.remote_pid(proctype, pid);
        let Ok(cell) = self.view.cell(place) else { return };
        let name = format!("{who}:{}", self.interp.name(&definition.locals, cell));
        self.reads.value(name, self.interp.scalar(self.view.state, place.scalar, value));
        match usize::try_from(number) {
            Ok(pid) if pid < self.view.state.processes.len() => self.reads.need(Need::Local(pid, cell)),
            _ => self.reads.need(Need::Population),
        }
        self.indices(place);
    }
}

fn truth(value: i32) -> Value {
    Value::Bool(value != 0)
}

fn number(value: i32) -> Value {
    Value::Int(i64::from(value))
}
