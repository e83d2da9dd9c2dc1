//! Why processes cannot move: each statement that one could execute, with what it waits for and who could
//! change that.
//!
//! Asks the same questions as `moves` and `guard`, but keeps the answers. `reads` follows an evaluation and
//! notes what was read, `helpers` looks for statements of others that may change it.

mod helpers;
mod reads;
mod words;

use std::collections::BTreeSet;

use promela::ir::{Action as Statement, ChanType, Edge, Expr, Place, Proctype, RecvArg, Scalar};
use promela::source::Span;
use system::blocked::{Alternative, Blocked, Held, Reason, Site, Who};

use super::Interp;
use super::eval::{Mode, View};
use super::moves::Want;
use super::state::State;
use crate::action::Action;
use helpers::{Helpers, Shape};
use reads::{Need, Reader};

impl Interp {
    /// Every process of `state` that cannot move.
    pub(super) fn blocked_in(&self, state: &mut State) -> Vec<Blocked> {
        let mut actions = Vec::new();
        let timeout = self.moves(state, Want::All, &mut actions);
        let actions = actions.into_iter().map(Action::unpack);
        let movers: BTreeSet<usize> =
            actions.flat_map(|a| [Some(a.pid), a.partner.map(|(pid, _)| pid)]).flatten().collect();
        let helpers = Helpers::new(self, state, &movers);
        let inquiry = Inquiry { interp: self, state, timeout, helpers: &helpers };
        (0..state.processes.len())
            .filter(|pid| !movers.contains(pid))
            .map(|pid| inquiry.process(pid))
            .collect()
    }

    /// Where a statement stands.
    fn site(&self, edge: &Edge) -> Site {
        Site { text: edge.text.clone(), ..self.place(edge.span) }
    }

    fn place(&self, span: Span) -> Site {
        let place = self.locate(span);
        Site { file: place.file, line: place.line, column: place.column, text: String::new() }
    }
}

/// Looks at one state.
struct Inquiry<'a> {
    interp: &'a Interp,
    state: &'a State,
    /// `timeout` is true here.
    timeout: bool,
    helpers: &'a Helpers<'a>,
}

/// Why not, and what it depends on.
struct Finding {
    reason: Reason,
    needs: Vec<Need>,
    shape: Shape,
    /// The message that a rendezvous is about.
    message: Option<String>,
}

impl Finding {
    fn new(reason: Reason, needs: Vec<Need>) -> Self {
        Finding { reason, needs, shape: Shape::new(), message: None }
    }
}

impl<'a> Inquiry<'a> {
    fn view(&self, pid: usize) -> View<'a> {
        self.interp.view(self.state, pid, Mode { timeout: self.timeout, ..Mode::default() })
    }

    fn who(&self, pid: usize) -> Who {
        self.interp.who(self.state, pid)
    }

    fn reader(&self, pid: usize) -> Reader<'a> {
        Reader::new(self.interp, self.view(pid))
    }

    fn chan_type(&self, index: usize) -> &'a ChanType {
        &self.interp.program.chan_types[self.state.channels[index].ty.index()]
    }

    fn process(&self, pid: usize) -> Blocked {
        let process = &self.state.processes[pid];
        let proctype = self.interp.program.proctype(process.proctype);
        let edges = proctype.location(process.location).edges.iter().map(|&id| proctype.edge(id));
        let edges = edges.filter(|edge| !super::store_buffer::is_added(edge));
        // What an escape covers comes first here: it is where the process is.
        let (escapes, mut edges): (Vec<&Edge>, Vec<&Edge>) = edges.partition(|edge| edge.escape.is_some());
        edges.extend(escapes);
        let held = self.held(pid, proctype);
        let mut alternatives = Vec::new();
        if held.is_none() {
            for edge in &edges {
                self.alternative(pid, proctype, edge, None, &mut alternatives);
            }
        }
        let at = edges.first().map(|edge| self.interp.site(edge));
        Blocked {
            who: self.who(pid),
            at: at.unwrap_or_else(|| self.interp.place(proctype.span)),
            valid_end: self.interp.at_end(self.state, pid),
            held,
            alternatives,
        }
    }

    /// What keeps the process from moving, whatever its statements are.
    fn held(&self, pid: usize, proctype: &Proctype) -> Option<Held> {
        if let Some(by) = self.state.control {
            return Some(Held::Control { by: self.who(usize::from(by)) });
        }
        let view = self.view(pid);
        if let (Some(clause), Ok(false)) = (&proctype.provided, view.is_provided(pid)) {
            let mut reader = self.reader(pid);
            reader.expr(clause);
            let helpers = self.helpers.find(pid, &reader.reads.needs, &Shape::new());
            let needs = self.words(pid, &reader.reads.needs, None);
            let at = self.interp.place(clause.span);
            return Some(Held::Provided { at, reads: reader.reads.values, needs, helpers });
        }
        if view.may_move(pid) != Ok(false) {
            return None;
        }
        let own = self.state.processes[pid].priority;
        let by = self.state.processes.iter().enumerate().filter(|(_, other)| other.priority > own);
        let mut by = by.filter(|&(other, _)| {
            view.is_provided(other).unwrap_or(true) && view.is_enabled(other).unwrap_or(true)
        });
        by.next().map(|(other, process)| Held::Priority {
            by: self.who(other),
            theirs: u32::from(process.priority),
            own: u32::from(own),
        })
    }

    /// Appends why `edge` cannot be executed; a d_step waits for one of its guards.
    fn alternative(
        &self,
        pid: usize,
        proctype: &Proctype,
        edge: &Edge,
        escape: Option<bool>,
        out: &mut Vec<Alternative>,
    ) {
        let escape = escape.unwrap_or(edge.escape.is_some());
        if let Statement::DStep { entry, guards, .. } = edge.action {
            for &id in &proctype.location(guards.unwrap_or(entry)).edges {
                let inner = proctype.edge(id);
                if !matches!(inner.action, Statement::DStep { .. }) {
                    self.alternative(pid, proctype, inner, Some(escape), out);
                }
            }
            return;
        }
        let finding = self.finding(pid, proctype, edge);
        let mut helpers = self.helpers.find(pid, &finding.needs, &finding.shape);
        if let Reason::Locked { holder, .. } = &finding.reason {
            // Whoever else releases it makes an error.
            helpers.retain(|helper| Some(&helper.who) == holder.as_ref());
        }
        let alternative = Alternative {
            at: self.interp.site(edge),
            escape,
            reason: finding.reason,
            needs: self.words(pid, &finding.needs, finding.message.as_deref()),
            helpers,
        };
        if !out.contains(&alternative) {
            out.push(alternative);
        }
    }

    fn finding(&self, pid: usize, proctype: &Proctype, edge: &Edge) -> Finding {
        match &edge.action {
            Statement::Guard(expr) => self.condition(pid, expr),
            Statement::Send { chan, args, .. } => self.send(pid, chan, args),
            Statement::Receive { chan, random, args, .. } => self.receive(pid, chan, *random, args),
            Statement::Lock(place) => self.lock(pid, place),
            Statement::End => {
                let younger = pid + 1..self.state.processes.len();
                let needs = younger.clone().map(Need::Ends).collect();
                Finding::new(Reason::Younger { processes: younger.map(|pid| self.who(pid)).collect() }, needs)
            }
            _ => {
                let executable = self.view(pid).executable(proctype, edge);
                let why = if executable == Ok(false) { "it is not executable" } else { "it is not tried" };
                Finding::new(Reason::Other(why.to_string()), Vec::new())
            }
        }
    }

    fn condition(&self, pid: usize, expr: &Expr) -> Finding {
        if matches!(expr.kind, promela::ir::ExprKind::Timeout) {
            return Finding::new(Reason::Timeout, Vec::new());
        }
        let mut reader = self.reader(pid);
        reader.expr(expr);
        Finding::new(Reason::False { reads: reader.reads.values }, reader.reads.needs)
    }

    fn send(&self, pid: usize, chan: &Expr, args: &[Expr]) -> Finding {
        let mut reader = self.reader(pid);
        let Some(index) = reader.channel(chan) else { return Finding::new(Reason::Gone, reader.reads.needs) };
        reader.reads.need(Need::Receive(index));
        let channel = reader.channel_name(index);
        if !self.view(pid).is_rendezvous(index) {
            let needs = reader.reads.needs;
            return Finding::new(
                Reason::Full { channel, messages: self.interp.messages(self.state, index) },
                needs,
            );
        }
        let ty = self.chan_type(index);
        let view = self.view(pid);
        let values: Vec<i32> = args.iter().map(|arg| view.eval(arg).unwrap_or(0)).collect();
        let message = self.interp.sent(self.state, ty, &values);
        let refusals = self.partners(pid, index, |edge| matches!(edge.action, Statement::Receive { .. }));
        let shape = self.sent_shape(pid, ty, args);
        for (arg, _) in args.iter().zip(&shape).filter(|(_, fixed)| fixed.is_none()) {
            reader.expr(arg);
        }
        let needs = reader.reads.needs;
        let on_offer = Some(message.clone());
        Finding { reason: Reason::NoReceiver { channel, message, refusals }, needs, shape, message: on_offer }
    }

    /// The fields of a message that cannot change any more.
    fn sent_shape(&self, pid: usize, ty: &ChanType, args: &[Expr]) -> Shape {
        let fixed =
            |(arg, field): (&Expr, &Scalar)| Some(field.truncate(self.helpers.fixed(Some(pid), arg)?));
        args.iter().zip(&ty.fields).map(fixed).collect()
    }

    fn receive(&self, pid: usize, chan: &Expr, random: bool, args: &[RecvArg]) -> Finding {
        let mut reader = self.reader(pid);
        let Some(index) = reader.channel(chan) else { return Finding::new(Reason::Gone, reader.reads.needs) };
        let channel = reader.channel_name(index);
        let view = self.view(pid);
        let pattern = self.interp.pattern(&view, self.chan_type(index), args);
        if view.is_rendezvous(index) {
            reader.reads.need(Need::Send(index));
            let offers = self.partners(pid, index, |edge| matches!(edge.action, Statement::Send { .. }));
            let shape = args.iter().map(|arg| match arg {
                RecvArg::Match(expr) => self.helpers.fixed(Some(pid), expr),
                RecvArg::Store(_) | RecvArg::Ignore => None,
            });
            let shape: Shape = shape.collect();
            let picky = args.iter().any(|arg| matches!(arg, RecvArg::Match(_)));
            let wanted = picky.then(|| pattern.clone());
            if shape.iter().zip(args).any(|(fixed, arg)| fixed.is_none() && matches!(arg, RecvArg::Match(_)))
            {
                reader.matched(args);
            }
            let needs = reader.reads.needs;
            return Finding {
                reason: Reason::NoSender { channel, pattern, offers },
                needs,
                shape,
                message: wanted,
            };
        }
        let mut messages = self.interp.messages(self.state, index);
        if messages.is_empty() {
            reader.reads.need(Need::Send(index));
            return Finding::new(Reason::Empty { channel }, reader.reads.needs);
        }
        if random {
            reader.reads.need(Need::Send(index));
        } else {
            // Only what stands first counts: somebody has to take it away, or to put another in front of it.
            messages.truncate(1);
            reader.reads.need(Need::Receive(index));
            reader.reads.need(Need::Send(index));
        }
        reader.matched(args);
        Finding::new(Reason::NoMatch { channel, messages, pattern }, reader.reads.needs)
    }

    /// Statements on this channel that other processes are at.
    fn partners(&self, pid: usize, channel: usize, wanted: impl Fn(&Edge) -> bool) -> Vec<(Who, Site)> {
        let mut out = Vec::new();
        for (other, process) in self.state.processes.iter().enumerate().filter(|&(other, _)| other != pid) {
            let proctype = self.interp.program.proctype(process.proctype);
            for &id in &proctype.location(process.location).edges {
                let edge = proctype.edge(id);
                let (Statement::Send { chan, .. } | Statement::Receive { chan, .. }) = &edge.action else {
                    continue;
                };
                if wanted(edge) && self.view(other).channel(chan) == Ok(channel) {
                    out.push((self.who(other), self.interp.site(edge)));
                }
            }
        }
        out
    }

    fn lock(&self, pid: usize, place: &Place) -> Finding {
        let mut reader = self.reader(pid);
        reader.load(place);
        let name = reader.reads.values.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let needs = reader.reads.needs;
        if place.scalar != Scalar::Lock {
            return Finding::new(Reason::Semaphore { name }, needs);
        }
        let holder = self.view(pid).load(place).unwrap_or(0) - 1;
        let holder = usize::try_from(holder).ok().filter(|&holder| holder < self.state.processes.len());
        Finding::new(Reason::Locked { lock: name, holder: holder.map(|holder| self.who(holder)) }, needs)
    }

    /// What somebody would have to do, in words. Nobody else can change the process's own variables.
    fn words(&self, pid: usize, needs: &[Need], message: Option<&str>) -> Vec<String> {
        let message = message.map_or_else(String::new, |message| format!(" {message}"));
        let channel = |index| self.interp.channel_name(self.state, index, Some(pid));
        let word = |need: &Need| match *need {
            Need::Global(cell) => {
                Some(format!("writes `{}`", self.interp.name(&self.interp.program.globals, cell)))
            }
            Need::Holder(_) => None,
            Need::Local(owner, _) if owner == pid => None,
            Need::Local(owner, cell) => {
                let vars = &self.interp.program.proctype(self.state.processes[owner].proctype).locals;
                Some(format!("writes `{}:{}`", self.who(owner), self.interp.name(vars, cell)))
            }
            Need::Send(index) => Some(format!("sends{message} to `{}`", channel(index))),
            Need::Receive(index) => Some(format!("receives{message} from `{}`", channel(index))),
            Need::Moves(who) => Some(format!("is {} and moves", self.who(who))),
            Need::Ends(who) => Some(format!("is {} and ends", self.who(who))),
            Need::Population => Some("starts or ends a process".to_string()),
            Need::Priority => Some("sets a priority".to_string()),
            Need::Anything => Some("moves".to_string()),
        };
        needs.iter().filter_map(word).collect()
    }
}
