//! Actions as numbers: which process moves along which edge and, for a rendezvous, which process receives
//! along which edge.
//!
//! This is the only place that knows how an [`ActionId`] of a program is packed; the reference machine packs
//! whole actions, compiled code puts them together from the parts given here, and reductions take them apart.
//! From the highest bit to the lowest: pid (8 bits), edge (24), the partner's pid (8), the partner's edge
//! (24). All bits of a field are set where there is none. Where a store buffer of the process moves, and not
//! the process ([`crate::memory`]), the number of the buffer is in the place of a partner's edge, without a
//! partner. Since no process has the number 255, no action is [`ActionId::STUTTER`] or [`ActionId::INVALID`].

use promela::ir::{Edge, EdgeId};
use system::ActionId;

/// An action taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    /// The process that moves (for a rendezvous: that sends).
    pub pid: usize,
    /// Its edge; `None` stands for a process whose `provided` clause cannot be evaluated.
    pub edge: Option<EdgeId>,
    /// The process that receives, and its edge.
    pub partner: Option<(usize, EdgeId)>,
}

const NO_EDGE: u64 = 0xff_ffff;
const NO_PID: u64 = 0xff;
const NO_PARTNER: u64 = NO_PID << PARTNER_SHIFT | NO_EDGE;
const PID_SHIFT: u32 = 56;
const EDGE_SHIFT: u32 = 32;
const PARTNER_SHIFT: u32 = 24;

impl Action {
    /// How far the receiver's pid is shifted; its edge is not.
    pub const RECEIVER_SHIFT: u32 = PARTNER_SHIFT;

    /// A step of one process.
    pub fn single(pid: usize, edge: EdgeId) -> Self {
        Action { pid, edge: Some(edge), partner: None }
    }

    /// The number of a step of one process along this edge, or of a buffer of it.
    pub fn step(pid: usize, id: EdgeId, edge: &Edge) -> ActionId {
        debug_assert!((pid as u64) < NO_PID, "a pid is a byte");
        ActionId(Self::process_bits(pid as u32) | Self::step_bits(id, edge))
    }

    /// The action as a number; not for steps of buffers.
    pub fn pack(self) -> ActionId {
        debug_assert!(self.pid as u64 <= NO_PID, "a pid is a byte");
        debug_assert!(self.edge.is_none_or(|edge| u64::from(edge.0) < NO_EDGE), "an edge has 24 bits");
        let edge = self.edge.map_or(NO_EDGE, |edge| u64::from(edge.0) & NO_EDGE);
        let partner = self.partner.map_or(NO_PARTNER, |(pid, edge)| {
            debug_assert!((pid as u64) < NO_PID, "a partner is a process");
            (pid as u64 & NO_PID) << PARTNER_SHIFT | u64::from(edge.0) & NO_EDGE
        });
        let action = ActionId((self.pid as u64 & NO_PID) << PID_SHIFT | edge << EDGE_SHIFT | partner);
        debug_assert_eq!(Action::unpack(action), self);
        action
    }

    /// The bits of the process that moves.
    pub fn process_bits(pid: u32) -> u64 {
        u64::from(pid) << PID_SHIFT
    }

    /// The bits of [`Action::step`], but for the process.
    pub fn step_bits(id: EdgeId, edge: &Edge) -> u64 {
        let buffer = edge.order.buffer().map_or(NO_EDGE, u64::from);
        debug_assert!(buffer <= NO_EDGE, "a buffer has 24 bits");
        Self::sender_bits(id) | NO_PID << PARTNER_SHIFT | buffer
    }

    /// The bits of a rendezvous of which this is the sender's edge, but for the processes and the receiver's
    /// edge.
    pub fn sender_bits(edge: EdgeId) -> u64 {
        u64::from(edge.0) << EDGE_SHIFT
    }

    /// The process that moves.
    #[inline(always)]
    pub fn process(id: ActionId) -> usize {
        (id.0 >> PID_SHIFT) as usize
    }

    /// The process that moves, and its edge; a number that no edge has where there is none.
    #[inline(always)]
    pub fn process_and_edge(id: ActionId) -> (usize, u32) {
        (Self::process(id), (id.0 >> EDGE_SHIFT & NO_EDGE) as u32)
    }

    /// The process and the edge of a step of one process, or of a buffer of it; `None` for other actions.
    #[inline(always)]
    pub fn single_of(id: ActionId) -> Option<(usize, u32)> {
        let edge = id.0 >> EDGE_SHIFT & NO_EDGE;
        (id.0 >> PARTNER_SHIFT & NO_PID == NO_PID && edge != NO_EDGE)
            .then_some((Self::process(id), edge as u32))
    }

    /// The buffer whose step it is, if it is none of the process itself.
    #[inline]
    pub fn buffer_of(id: ActionId) -> Option<u32> {
        let buffer = id.0 & NO_EDGE;
        (id.0 >> PARTNER_SHIFT & NO_PID == NO_PID && buffer != NO_EDGE && id != ActionId::INVALID)
            .then_some(buffer as u32)
    }

    /// The reverse of [`Action::pack`], for any number.
    pub fn unpack(id: ActionId) -> Self {
        let edge = id.0 >> EDGE_SHIFT & NO_EDGE;
        let (partner, partner_edge) = (id.0 >> PARTNER_SHIFT & NO_PID, id.0 & NO_EDGE);
        Action {
            pid: Self::process(id),
            edge: (edge != NO_EDGE).then_some(EdgeId(edge as u32)),
            partner: (partner != NO_PID).then_some((partner as usize, EdgeId(partner_edge as u32))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use promela::ir::{LocId, Order};
    use promela::source::Span;

    fn step(order: Order) -> Edge {
        let action = promela::ir::Action::Skip;
        Edge {
            action,
            to: LocId(1),
            atomic: false,
            escape: None,
            order,
            statement: None,
            text: String::new(),
            span: Span::NONE,
        }
    }

    #[test]
    fn packing_is_reversible() {
        for edge in [None, Some(EdgeId(0)), Some(EdgeId(0xff_fffe))] {
            for partner in [None, Some((0, EdgeId(7))), Some((254, EdgeId(0xff_fffe)))] {
                let action = Action { pid: 254, edge, partner };
                assert_eq!(Action::unpack(action.pack()), action);
                assert!(![ActionId::STUTTER, ActionId::INVALID].contains(&action.pack()));
            }
        }
    }

    #[test]
    fn parts_make_the_whole() {
        let (edge, other) = (EdgeId(0x12_3456), EdgeId(0xff_fffe));
        for pid in [0, 77, 254] {
            let single = Action::single(pid, edge).pack();
            assert_eq!(single, Action::step(pid, edge, &step(Order::Free)));
            assert_eq!((Action::single_of(single), Action::buffer_of(single)), (Some((pid, edge.0)), None));
            let drain = Action::step(pid, edge, &step(Order::Drain(5)));
            assert_eq!((Action::single_of(drain), Action::buffer_of(drain)), (Some((pid, edge.0)), Some(5)));
            assert_eq!(Action::unpack(drain), Action::unpack(single));
            let rendezvous = Action { partner: Some((3, other)), ..Action::single(pid, edge) }.pack();
            let receiver = 3 << Action::RECEIVER_SHIFT | u64::from(other.0);
            assert_eq!(rendezvous.0, Action::process_bits(pid as u32) | Action::sender_bits(edge) | receiver);
            assert_eq!(Action::single_of(rendezvous), None);
            assert_eq!(Action::process_and_edge(rendezvous), (pid, edge.0));
            assert_eq!(Action::buffer_of(rendezvous), None);
        }
        assert!([ActionId::STUTTER, ActionId::INVALID].map(Action::buffer_of) == [None, None]);
    }
}
