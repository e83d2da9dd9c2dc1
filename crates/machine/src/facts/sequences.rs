//! What may follow a step inside its atomic sequence, summed up.
//!
//! An edge that begins an atomic sequence stands for everything that the process may do before it gives up
//! control. Sequences overlap: of a long one, every rest is the sequence of some edge. So sums are made for
//! locations, from the end of the sequences to their beginning, one for each strongly connected component of
//! the edges behind which control is kept; the work is linear in the size of the automaton.

use super::ChannelName;
use super::components::Components;
use promela::ir::{EdgeId, Proctype};
use std::collections::BTreeSet;
use stop::Stop;
use system::matrix::BitSet;

/// What the later edges of a step do, all together.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// What they access.
    pub accesses: BitSet,
    /// What they must not meet.
    pub conflicts: BitSet,
    /// One of them looks at everything.
    pub everything: bool,
    /// The channels that they use, by any of their names.
    pub channels: BTreeSet<ChannelName>,
    /// One of them may hand control to another process.
    pub hands_over: bool,
    /// One of them closes a circle of locations.
    pub closes: bool,
    /// One of them closes a circle without giving up control.
    pub goes_round: bool,
    /// One of them passes a place that a property would notice.
    pub passes: bool,
}

impl Rest {
    fn add(&mut self, other: &Rest) {
        self.accesses.add_all(&other.accesses);
        self.conflicts.add_all(&other.conflicts);
        self.everything |= other.everything;
        self.channels.extend(&other.channels);
        self.hands_over |= other.hands_over;
        self.closes |= other.closes;
        self.goes_round |= other.goes_round;
        self.passes |= other.passes;
    }
}

/// The sums for one automaton.
#[derive(Debug)]
pub struct Sequences<'a> {
    /// Behind which edges control is kept.
    continues: &'a [bool],
    /// The component of each location.
    component: Vec<u32>,
    /// What may be done from a component on, where a sequence leads to it.
    sums: Vec<Rest>,
    /// Nothing follows.
    nothing: Rest,
}

impl<'a> Sequences<'a> {
    /// Sums up `alone`, what each edge does by itself. `continues` says behind which edges control is kept.
    pub fn new(proctype: &Proctype, continues: &'a [bool], alone: Vec<Rest>, stop: &Stop) -> Self {
        let components = Components::along(proctype, |id| continues[id.index()]);
        // Most locations stand outside all sequences and need no sum.
        let mut entered = vec![false; components.members.len()];
        for (edge, _) in proctype.edges.iter().zip(continues).filter(|(_, continues)| **continues) {
            entered[components.of[edge.to.index()] as usize] = true;
        }
        let mut sums: Vec<Rest> = Vec::with_capacity(components.members.len());
        for (number, members) in components.members.iter().enumerate() {
            stop.check();
            let mut sum = Rest::default();
            let locations = members.iter().filter(|_| entered[number]);
            for &id in locations.flat_map(|&at| &proctype.locations[at as usize].edges) {
                sum.add(&alone[id.index()]);
                let next = components.of[proctype.edge(id).to.index()] as usize;
                debug_assert!(next <= number || !continues[id.index()], "what follows is summed up first");
                if continues[id.index()] && next != number {
                    sum.add(&sums[next]);
                }
            }
            sums.push(sum);
        }
        Sequences { continues, component: components.of, sums, nothing: Rest::default() }
    }

    /// What may follow an edge before control is given back.
    pub fn after(&self, proctype: &Proctype, edge: EdgeId) -> &Rest {
        match self.continues[edge.index()] {
            true => &self.sums[self.component[proctype.edge(edge).to.index()] as usize],
            false => &self.nothing,
        }
    }
}
