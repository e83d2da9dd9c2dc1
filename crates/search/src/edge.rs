//! Edges: steps between ordinary states, an atomic sequence being one step.
//!
//! Most steps are single actions, and where no atomic sequence begins and no error occurs the record that a
//! machine writes for an outcome says all there is to say of the edge. So edges are kept as such records, in
//! the list into which machines write, and no record is copied on the way. What two of its fields mean
//! changes when an outcome becomes an edge: an edge shows no error and does not end inside an atomic
//! sequence, and in their place stands how the sequence went. Only this file knows which field means what.

use std::ops::Range;
use system::{ActionId, Successor};

/// A step to an ordinary state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The last action of the step.
    pub action: ActionId,
    /// Where the bytes of the state begin that it leads to.
    start: u32,
    /// Their number.
    len: u32,
    /// The transient state from which the last action is taken, plus one; 0 if it is taken from an ordinary
    /// one.
    via: u32,
    /// The number of actions before the last one. With phase 1 they include those that phase 1 took.
    before: u32,
}

impl Edge {
    /// A single action, to the state with these bytes.
    pub fn single(action: ActionId, start: u32, len: u32) -> Self {
        Edge { action, start, len, via: 0, before: 0 }
    }

    /// An action taken from the transient state `via` (from an ordinary one if there is none), after `before`
    /// others.
    pub fn after(self, via: Option<u32>, before: u32) -> Self {
        Edge { via: via.map_or(0, |via| via + 1), before, ..self }
    }

    /// Takes `more` actions in front of the step.
    pub fn prefixed(self, more: u32) -> Self {
        Edge { before: self.before + more, ..self }
    }

    /// The transient state from which the last action is taken.
    #[inline(always)]
    pub fn via(&self) -> Option<u32> {
        self.via.checked_sub(1)
    }

    /// The number of actions.
    #[inline(always)]
    pub fn n_actions(&self) -> u32 {
        self.before + 1
    }

    /// Where the bytes of the state are that it leads to.
    #[inline(always)]
    pub fn bytes(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    /// The edge that a record stands for.
    #[inline(always)]
    pub(crate) fn of_record(record: &Successor) -> Self {
        let &Successor { action, start, len, transient, fault } = record;
        Edge { action, start, len, via: transient, before: fault }
    }

    /// The record that stands for the edge.
    #[inline(always)]
    pub(crate) fn record(self) -> Successor {
        let Edge { action, start, len, via, before } = self;
        Successor { action, start, len, transient: via, fault: before }
    }
}

/// A list of edges.
#[derive(Clone, Copy, Debug)]
pub struct Edges<'a>(&'a [Successor]);

impl<'a> Edges<'a> {
    /// The edges for which these records stand.
    #[inline(always)]
    pub(crate) fn of_records(records: &'a [Successor]) -> Self {
        Edges(records)
    }

    /// Their number.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The edge with this number.
    #[inline(always)]
    pub fn get(self, number: usize) -> Option<Edge> {
        self.0.get(number).map(Edge::of_record)
    }

    /// Those with numbers in `range`.
    #[inline(always)]
    pub fn range(self, range: Range<usize>) -> Self {
        Edges(&self.0[range])
    }

    /// Those from a number on.
    #[inline(always)]
    pub fn from(self, first: usize) -> Self {
        Edges(&self.0[first..])
    }

    /// All, in order.
    #[inline(always)]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Edge> + ExactSizeIterator + Clone + use<'a> {
        self.0.iter().map(Edge::of_record)
    }
}

impl<'a> IntoIterator for Edges<'a> {
    type Item = Edge;
    type IntoIter = std::iter::Map<std::slice::Iter<'a, Successor>, fn(&Successor) -> Edge>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(Edge::of_record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stand_for_edges() {
        let step = Edge::single(ActionId(7), 12, 3);
        let outcome = Successor { action: ActionId(7), start: 12, len: 3, transient: 0, fault: 0 };
        assert_eq!(Edge::of_record(&outcome), step, "an ordinary outcome is an edge as it stands");
        assert_eq!((step.via(), step.n_actions(), step.bytes()), (None, 1, 12..15));
        let sequence = step.after(Some(0), 2).prefixed(4);
        assert_eq!((sequence.via(), sequence.n_actions()), (Some(0), 7));
        let records = [step.record(), sequence.record()];
        let edges = Edges::of_records(&records);
        assert!(edges.iter().eq([step, sequence]) && edges.from(1).iter().eq([sequence]));
        assert_eq!((edges.len(), edges.get(1), edges.get(2)), (2, Some(sequence), None));
        assert!(edges.range(0..1).iter().eq([step]) && edges.from(2).is_empty());
    }
}
