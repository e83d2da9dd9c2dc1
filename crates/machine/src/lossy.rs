//! `--lossy-channels`: a send to a full channel is executable and loses its message, as under Spin's `-m`.
//!
//! A program becomes another one: beside every send there is a step that does nothing, for when the channel is
//! full. Machines, reductions and searches need to know nothing of it. A rendezvous channel is never full of
//! anything, so nothing is lost there.

use promela::ir::{
    Action, BinaryOp, ChanOp, Edge, EdgeId, Expr, ExprKind, Order, Proctype, ProctypeKind, Program,
};
use std::collections::HashMap;

/// Lets full channels lose what is sent to them. The edges that there were keep their numbers.
pub fn lose_messages(program: &mut Program) {
    let runs = |proctype: &&mut Proctype| {
        matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init | ProctypeKind::Never)
    };
    program.proctypes.iter_mut().filter(runs).for_each(beside_sends);
}

fn beside_sends(proctype: &mut Proctype) {
    let mut losses: HashMap<EdgeId, EdgeId> = HashMap::new();
    for number in 0..proctype.edges.len() {
        if let Some(loss) = loss(&proctype.edges[number]) {
            losses.insert(EdgeId(number as u32), EdgeId(proctype.edges.len() as u32));
            proctype.edges.push(loss);
        }
    }
    for location in &mut proctype.locations {
        let beside = |id: EdgeId| [Some(id), losses.get(&id).copied()].into_iter().flatten();
        location.edges = location.edges.iter().copied().flat_map(beside).collect();
    }
}

/// The step that loses the message of a send: possible where the send is not.
fn loss(send: &Edge) -> Option<Edge> {
    let Action::Send { chan, .. } = &send.action else { return None };
    let span = chan.span;
    let expr = |kind| Expr { kind, span };
    let ask = |question| expr(ExprKind::Chan(question, Box::new(chan.clone())));
    // What is full and not empty is no rendezvous channel.
    let both = ExprKind::Binary(BinaryOp::And, Box::new(ask(ChanOp::Len)), Box::new(ask(ChanOp::Full)));
    let text = format!("{} (the channel is full: lost)", send.text.trim());
    Some(Edge { action: Action::Guard(expr(both)), order: Order::Free, text, ..send.clone() })
}
