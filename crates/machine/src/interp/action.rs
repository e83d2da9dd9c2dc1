//! Actions as numbers: who moves along which edge and, for a rendezvous, who receives along which edge.

use promela::ir::EdgeId;
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

impl Action {
    /// A step of one process.
    pub fn single(pid: usize, edge: EdgeId) -> Self {
        Action { pid, edge: Some(edge), partner: None }
    }

    /// 8 bits of pid, 24 of edge, 8 of the partner's pid, 24 of the partner's edge.
    pub fn pack(self) -> ActionId {
        let edge = self.edge.map_or(NO_EDGE, |edge| u64::from(edge.0) & NO_EDGE);
        let (partner, partner_edge) =
            self.partner.map_or((NO_PID, NO_EDGE), |(pid, edge)| (pid as u64, u64::from(edge.0) & NO_EDGE));
        ActionId((self.pid as u64 & 0xff) << 56 | edge << 32 | (partner & 0xff) << 24 | partner_edge)
    }

    /// The process that moves.
    #[inline(always)]
    pub fn process(id: ActionId) -> usize {
        (id.0 >> 56) as usize
    }

    /// The process that moves, and its edge; a number that no edge has where there is none.
    #[inline(always)]
    pub fn process_and_edge(id: ActionId) -> (usize, u32) {
        ((id.0 >> 56) as usize, (id.0 >> 32 & NO_EDGE) as u32)
    }

    /// The process and the edge of a step of one process; `None` for other actions.
    #[inline(always)]
    pub fn single_of(id: ActionId) -> Option<(usize, u32)> {
        let edge = id.0 >> 32 & NO_EDGE;
        (id.0 as u32 == u32::MAX && edge != NO_EDGE).then_some(((id.0 >> 56) as usize, edge as u32))
    }

    /// The reverse of [`Action::pack`], for any number.
    pub fn unpack(id: ActionId) -> Self {
        let edge = id.0 >> 32 & NO_EDGE;
        let (partner, partner_edge) = (id.0 >> 24 & 0xff, id.0 & NO_EDGE);
        Action {
            pid: (id.0 >> 56) as usize,
            edge: (edge != NO_EDGE).then_some(EdgeId(edge as u32)),
            partner: (partner != NO_PID).then_some((partner as usize, EdgeId(partner_edge as u32))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_is_reversible() {
        for edge in [None, Some(EdgeId(0)), Some(EdgeId(0xff_fffe))] {
            for partner in [None, Some((0, EdgeId(7))), Some((254, EdgeId(0xff_fffe)))] {
                let action = Action { pid: 254, edge, partner };
                assert_eq!(Action::unpack(action.pack()), action);
            }
        }
    }
}
