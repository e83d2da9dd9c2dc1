//! Who could change what a blocked process waits for.
//!
//! A process is named when a statement that it can still reach (along the automaton, whatever the values) may
//! be the first to change one of the needs; so may the statements of proctypes that it can still start. Which
//! cell or channel a statement means is known exactly where the indices cannot change any more: constants,
//! `_pid`, parameters and variables that nobody writes. Everything else counts as "may".

use std::collections::BTreeSet;

use promela::ir::{Action, Base, Edge, Expr, ExprKind, LocId, Place, Proctype, ProctypeId, RecvArg, Scalar};
use system::blocked::Helper;

use super::super::Interp;
use super::super::eval::Mode;
use super::super::layout::find_run;
use super::super::state::State;
use super::reads::Need;

/// What a partner's message must look like, field by field, as far as that cannot change: for rendezvous.
pub(super) type Shape = Vec<Option<i32>>;

/// The statements that count, and what cannot change.
pub(super) struct Helpers<'a> {
    interp: &'a Interp,
    state: &'a State,
    movers: &'a BTreeSet<usize>,
    /// Which global cells some statement writes.
    globals: Vec<bool>,
    /// Which local cells of each proctype some statement writes.
    locals: Vec<Vec<bool>>,
    /// The statements that each process can still reach, nearest first.
    reach: Vec<Vec<Reached<'a>>>,
}

/// A statement that a process can still reach.
#[derive(Clone, Copy)]
struct Reached<'a> {
    edge: &'a Edge,
    /// In the body of a proctype that the process could start.
    through: Option<&'a Proctype>,
}

impl<'a> Helpers<'a> {
    /// For one state; `movers` are the processes that can move.
    pub fn new(interp: &'a Interp, state: &'a State, movers: &'a BTreeSet<usize>) -> Self {
        let program = &interp.program;
        let globals = vec![false; program.n_global_cells as usize];
        let locals =
            program.proctypes.iter().map(|proctype| vec![false; proctype.n_cells as usize]).collect();
        let mut helpers = Helpers { interp, state, movers, globals, locals, reach: Vec::new() };
        for (i, proctype) in program.proctypes.iter().enumerate() {
            for place in proctype.edges.iter().flat_map(written) {
                match place.base {
                    Base::Global => mark(&mut helpers.globals, place),
                    Base::Local => mark(&mut helpers.locals[i], place),
                    Base::Scratch => {}
                }
            }
        }
        helpers.reach = (0..state.processes.len()).map(|pid| helpers.reachable(pid)).collect();
        helpers
    }

    /// Who could be the first to change one of the needs of process `waiting`.
    pub fn find(&self, waiting: usize, needs: &[Need], shape: &Shape) -> Vec<Helper> {
        let others = (0..self.state.processes.len()).filter(|&pid| pid != waiting);
        others.filter_map(|pid| self.help(pid, needs, shape)).collect()
    }

    fn help(&self, pid: usize, needs: &[Need], shape: &Shape) -> Option<Helper> {
        let helps =
            |reached: &&Reached<'_>| needs.iter().any(|&need| self.changes(pid, **reached, need, shape));
        let found = self.reach[pid].iter().find(helps)?;
        Some(Helper {
            who: self.interp.who(self.state, pid),
            at: self.interp.site(found.edge),
            through: found.through.map(|proctype| proctype.name.clone()),
            can_move: self.movers.contains(&pid),
        })
    }

    /// The value of an expression when it cannot change: seen by an existing process, or by one that could be
    /// started.
    pub fn fixed(&self, pid: Option<usize>, expr: &Expr) -> Option<i32> {
        let fixed = match &expr.kind {
            ExprKind::Const(_) => true,
            ExprKind::Pid => pid.is_some(),
            ExprKind::Load(place) => self.is_fixed(pid, place),
            ExprKind::Unary(_, operand) => self.fixed(pid, operand).is_some(),
            ExprKind::Binary(_, left, right) => {
                self.fixed(pid, left).is_some() && self.fixed(pid, right).is_some()
            }
            ExprKind::Cond(condition, yes, no) => {
                [condition, yes, no].iter().all(|part| self.fixed(pid, part).is_some())
            }
            _ => false,
        };
        let viewer = pid.unwrap_or(usize::MAX);
        if fixed { self.interp.view(self.state, viewer, Mode::default()).eval(expr).ok() } else { None }
    }

    fn is_fixed(&self, pid: Option<usize>, place: &Place) -> bool {
        let indices = place.indices.iter().all(|index| self.fixed(pid, &index.value).is_some());
        if place.base == Base::Local && pid.is_none() || !indices {
            return false;
        }
        let viewer = pid.unwrap_or(usize::MAX);
        let Ok(cell) = self.interp.view(self.state, viewer, Mode::default()).cell(place) else {
            return false;
        };
        let written = match (place.base, pid) {
            (Base::Global, _) => self.globals.get(cell),
            (Base::Local, Some(pid)) => self.locals[self.state.processes[pid].proctype.index()].get(cell),
            _ => None,
        };
        written == Some(&false)
    }

    /// Whether a place may be the cell with this number.
    fn may_be(&self, pid: Option<usize>, place: &Place, cell: usize) -> bool {
        let mut low = place.cell as usize;
        let mut open: Vec<(usize, usize)> = Vec::new();
        for index in &place.indices {
            match self.fixed(pid, &index.value) {
                Some(value) if value >= 0 && (value as u32) < index.len => {
                    low += value as usize * index.stride as usize;
                }
                Some(_) => return false,
                None => open.push((index.stride as usize, index.len as usize)),
            }
        }
        open.sort_unstable_by(|a, b| b.cmp(a));
        let Some(mut rest) = cell.checked_sub(low) else { return false };
        for (stride, len) in open {
            rest -= (rest / stride.max(1)).min(len.saturating_sub(1)) * stride;
        }
        rest == 0
    }

    /// Whether a statement may be the first to change a need. `pid` is the process that executes it or starts
    /// the one that does.
    fn changes(&self, pid: usize, reached: Reached<'_>, need: Need, shape: &Shape) -> bool {
        let own = reached.through.is_none().then_some(pid);
        let edge = reached.edge;
        match need {
            Need::Global(cell) | Need::Holder(cell) => written(edge).any(|place| {
                place.base == Base::Global
                    && self.may_be(own, place, cell)
                    && !self.writes_the_same(own, edge, place, self.state.globals[cell])
            }),
            Need::Local(owner, cell) => {
                own == Some(owner)
                    && written(edge).any(|place| place.base == Base::Local && self.may_be(own, place, cell))
            }
            Need::Send(channel) => match &edge.action {
                Action::Send { chan, args, .. } => {
                    let ty = &self.interp.program.chan_types[self.state.channels[channel].ty.index()];
                    let fields = args.iter().zip(&ty.fields);
                    let sent = fields.map(|(arg, field)| Some(field.truncate(self.fixed(own, arg)?)));
                    self.may_mean(own, chan, channel, args.len()) && self.fits(shape, sent)
                }
                _ => false,
            },
            Need::Receive(channel) => match &edge.action {
                Action::Receive { chan, keep: false, args, .. } => {
                    self.may_mean(own, chan, channel, args.len())
                        && self.fits(shape, args.iter().map(|arg| self.matched(own, arg)))
                }
                _ => false,
            },
            Need::Moves(who) => own == Some(who),
            Need::Ends(who) => own == Some(who) && matches!(edge.action, Action::End),
            Need::Population => matches!(edge.action, Action::End) || find_run(&edge.action).is_some(),
            Need::Priority => matches!(edge.action, Action::SetPriority(..)),
            Need::Anything => true,
        }
    }

    fn matched(&self, pid: Option<usize>, arg: &RecvArg) -> Option<i32> {
        match arg {
            RecvArg::Match(expr) => self.fixed(pid, expr),
            RecvArg::Store(_) | RecvArg::Ignore => None,
        }
    }

    fn fits(&self, shape: &Shape, fields: impl Iterator<Item = Option<i32>>) -> bool {
        shape
            .iter()
            .zip(fields)
            .all(|(wanted, field)| wanted.is_none() || field.is_none() || *wanted == field)
    }

    /// Assigning the value that the cell has already changes nothing, and a semaphore at 0 is not taken.
    fn writes_the_same(&self, pid: Option<usize>, edge: &Edge, place: &Place, value: i32) -> bool {
        match &edge.action {
            Action::Assign(_, expr) => {
                self.fixed(pid, expr).is_some_and(|new| place.scalar.truncate(new) == value)
            }
            Action::Lock(_) => place.scalar == Scalar::Sema && value == 0,
            _ => false,
        }
    }

    /// Whether an expression may give this channel. One that may give any channel must have as many fields.
    fn may_mean(&self, pid: Option<usize>, chan: &Expr, channel: usize, fields: usize) -> bool {
        match self.fixed(pid, chan) {
            Some(number) => number == channel as i32 + 1,
            None => {
                let ty = self.state.channels[channel].ty;
                self.interp.program.chan_types[ty.index()].fields.len() == fields
            }
        }
    }

    /// The statements that a process can still reach, its own first, nearest first.
    fn reachable(&self, pid: usize) -> Vec<Reached<'a>> {
        let interp = self.interp;
        let process = &self.state.processes[pid];
        let mut out = Vec::new();
        let mut started: Vec<ProctypeId> = Vec::new();
        let mut visit = |proctype: &'a Proctype, from: LocId, through: Option<&'a Proctype>| {
            let mut starts = Vec::new();
            for edge in walk(proctype, from) {
                out.push(Reached { edge, through });
                if let Some(Expr { kind: ExprKind::Run { proctype, .. }, .. }) = find_run(&edge.action) {
                    starts.push(*proctype);
                }
            }
            starts
        };
        let mut todo = visit(interp.program.proctype(process.proctype), process.location, None);
        while let Some(id) = todo.pop() {
            if !started.contains(&id) {
                started.push(id);
                let proctype = interp.program.proctype(id);
                todo.extend(visit(proctype, proctype.start, Some(proctype)));
            }
        }
        out
    }
}

/// All edges that can be reached from a location, nearest first, those inside d_steps included.
fn walk(proctype: &Proctype, from: LocId) -> Vec<&Edge> {
    let mut seen = vec![false; proctype.locations.len()];
    let mut queue = std::collections::VecDeque::from([from]);
    let mut out = Vec::new();
    while let Some(at) = queue.pop_front() {
        let Some(known) = seen.get_mut(at.index()) else { continue };
        if std::mem::replace(known, true) {
            continue;
        }
        for &id in &proctype.location(at).edges {
            let edge = proctype.edge(id);
            out.push(edge);
            if let Action::DStep { entry, .. } = edge.action {
                queue.push_back(entry);
            }
            queue.push_back(edge.to);
        }
    }
    out
}

/// The places that executing an edge writes, d_steps aside, whose inner edges count themselves.
fn written(edge: &Edge) -> impl Iterator<Item = &Place> {
    let (one, many): (Option<&Place>, &[RecvArg]) = match &edge.action {
        Action::Assign(place, _) | Action::Lock(place) | Action::Unlock(place) => (Some(place), &[]),
        Action::Receive { args, .. } => (None, args),
        _ => (None, &[]),
    };
    one.into_iter().chain(many.iter().filter_map(|arg| match arg {
        RecvArg::Store(place) => Some(place),
        RecvArg::Ignore | RecvArg::Match(_) => None,
    }))
}

/// Marks every cell that a place may be.
fn mark(cells: &mut [bool], place: &Place) {
    let span: usize =
        place.indices.iter().map(|i| i.len.saturating_sub(1) as usize * i.stride as usize).sum();
    let low = place.cell as usize;
    let end = (low + span + 1).min(cells.len());
    if let Some(cells) = cells.get_mut(low..end) {
        cells.fill(true);
    }
}
