//! Edge numbers: by which of its edges a state was left, as ancestries keep it and a retraced path reads it.
//!
//! Edges are counted in the order in which a state was expanded. That order is the machine's, unless a
//! reduction put the chosen edges first, or a lean search left out those of processes that slept. A search of
//! which either may be true says so in the lowest bit, so that expanding the state once more gives the same
//! order.

/// The order in which the edges of one state are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeOrder {
    /// Bits by which numbers are shifted: one where the order is told.
    shift: u32,
    /// Not the machine's order.
    changed: u32,
}

impl EdgeOrder {
    /// For a search in which the order `may_change`, and a state of which it did.
    #[inline(always)]
    pub fn new(may_change: bool, changed: bool) -> Self {
        debug_assert!(may_change || !changed, "only a reduction or lean edges change the order");
        EdgeOrder { shift: u32::from(may_change), changed: u32::from(changed) }
    }

    /// The number that is kept of an edge at this place of the order.
    #[inline(always)]
    pub fn encode(self, place: u32) -> u32 {
        debug_assert!(place.leading_zeros() >= self.shift, "the number of edges is limited by their bytes");
        place << self.shift | self.changed
    }

    /// The place of an edge, and whether its order was changed: the reverse of [`EdgeOrder::encode`].
    pub fn decode(may_change: bool, number: u32) -> (usize, bool) {
        match may_change {
            true => ((number >> 1) as usize, number & 1 == 1),
            false => (number as usize, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        for (may_change, changed) in [(false, false), (true, false), (true, true)] {
            for place in [0, 1, 7, 1 << 20] {
                let number = EdgeOrder::new(may_change, changed).encode(place);
                assert_eq!(EdgeOrder::decode(may_change, number), (place as usize, changed));
            }
        }
    }
}
