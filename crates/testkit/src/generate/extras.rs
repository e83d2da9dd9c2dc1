//! What is added when the processes are written: partners for lonely channels, a trace, a claim.

use crate::model::{Block, Claim, Expr, Proc, RecvArg, RecvKind, Start, Stmt, Trace, VariableRef};
use crate::walk;

use super::Generator;
use super::mix::Feature;
use super::scope::{Chan, Field, Frame, Mode};

impl Generator {
    /// Adds a process that receives from a channel to which others only send, or the other way round, so that
    /// programs do not stop at their first message.
    pub(super) fn add_pumps(&mut self) {
        let chans: Vec<Chan> = self.world.chans.iter().filter(|c| c.global).cloned().collect();
        for chan in chans {
            let (sends, receives) = self.uses(chan.base());
            if (sends == receives) || self.rng.chance(25) || self.world.has_exclusive {
                continue;
            }
            let frame = Frame { mode: Mode::Atomic, ..Frame::new(None) };
            let op = if receives { self.send(&frame, &chan) } else { self.drain(&chan) };
            let Some(op) = op else { continue };
            let name = self.fresh("Pump");
            let loop_ = Stmt::Do(vec![vec![op]]);
            let body = match self.rng.below(3) {
                0 => vec![loop_],
                1 => vec![Stmt::Label(self.fresh("end"), Box::new(loop_))],
                _ => {
                    let Stmt::Do(mut options) = loop_ else { continue };
                    vec![options.pop().and_then(|mut o| o.pop()).unwrap_or(Stmt::Expr(Expr::word("skip")))]
                }
            };
            self.model.procs.push(Proc {
                name,
                start: Start::Active(1),
                deterministic: false,
                params: vec![],
                priority: None,
                provided: None,
                body,
            });
        }
    }

    /// Whether anything sends to, and receives from, a channel.
    fn uses(&mut self, name: &str) -> (bool, bool) {
        let (mut sends, mut receives) = (false, false);
        walk::stmts(&mut self.model, &mut |stmt| match stmt {
            Stmt::Send { chan, .. } if chan.base() == name => sends = true,
            Stmt::Recv { chan, .. } if chan.base() == name => receives = true,
            _ => {}
        });
        (sends, receives)
    }

    /// A receive that takes anything.
    fn drain(&mut self, chan: &Chan) -> Option<Stmt> {
        let args = self.anything(chan)?;
        let frame = Frame::new(None);
        Some(Stmt::Recv {
            chan: self.chan_place(&frame, chan, &[]),
            kind: RecvKind::First,
            paren: false,
            args,
        })
    }

    /// `_` for each scalar that a message is made of.
    fn anything(&self, chan: &Chan) -> Option<Vec<RecvArg>> {
        let mut args = Vec::new();
        for field in self.world.signatures.get(chan.signature)? {
            let count = match field {
                Field::Struct(t) => self.world.typedefs.get(*t)?.width(),
                _ => 1,
            };
            args.extend((0..count).map(|_| RecvArg::Any));
        }
        Some(args)
    }

    /// An event trace over one global channel.
    pub(super) fn add_trace(&mut self) {
        if !self.mix.has(Feature::Trace) {
            return;
        }
        let fits = |c: &&Chan| c.global && c.plain_name().is_some();
        let chans: Vec<Chan> = self.world.chans.iter().filter(fits).cloned().collect();
        let Some(chan) = self.rng.pick(&chans).cloned() else { return };
        let Some(body) = self.trace_body(&chan) else { return };
        self.model.trace = Some(Trace { negated: self.rng.chance(40), body });
    }

    fn trace_event(&mut self, chan: &Chan, send: bool) -> Option<Stmt> {
        let mut args = self.anything(chan)?;
        let first = self.world.signatures.get(chan.signature)?.first().cloned();
        if let (Some(Field::Scalar(ty)), true) = (first, self.rng.chance(40)) {
            let value = self.constant(&ty);
            if let Some(slot) = args.first_mut() {
                *slot = RecvArg::Const(value);
            }
        }
        let place = VariableRef::name(chan.base());
        if send {
            let args = args
                .into_iter()
                .map(|a| match a {
                    RecvArg::Const(value) => value,
                    _ => Expr::word("_"),
                })
                .collect();
            return Some(Stmt::Send { chan: place, sorted: false, paren: false, args });
        }
        Some(Stmt::Recv { chan: place, kind: RecvKind::First, paren: false, args })
    }

    fn trace_body(&mut self, chan: &Chan) -> Option<Block> {
        let (send, receive) = (self.trace_event(chan, true)?, self.trace_event(chan, false)?);
        Some(match self.rng.below(4) {
            0 => vec![Stmt::Do(vec![vec![send], vec![receive]])],
            1 => vec![Stmt::Do(vec![vec![send, receive]])],
            2 => vec![send, receive],
            _ => vec![send.clone(), Stmt::Do(vec![vec![send], vec![receive]])],
        })
    }

    /// A claim, which the reference run leaves out.
    pub(super) fn add_claim(&mut self) {
        if !self.mix.has(Feature::Claim) {
            return;
        }
        let earlier = self.world.procs.len();
        let frame = Frame { mode: Mode::Plain, earlier, ..Frame::new(None) };
        let condition = self.condition(&frame, 0);
        let text = crate::print::expression(&condition);
        self.model.claim = Some(match self.rng.below(3) {
            0 => Claim::Ltl(format!("[] ({text})")),
            1 => Claim::Ltl(format!("<> ({text})")),
            _ => Claim::Never(vec![Stmt::Do(vec![
                vec![Stmt::Expr(Expr::word("np_"))],
                vec![Stmt::Expr(condition), Stmt::Break],
                vec![Stmt::Expr(Expr::word("true"))],
            ])]),
        });
    }
}
