//! The order in which automata are made smaller, again and again until nothing changes.

use crate::tgba::Tgba;

/// Larger automata are degeneralised in one order of marks only.
const MANY_STATES: usize = 100;

impl Tgba {
    fn size(&self) -> (usize, usize) {
        (self.states.len(), self.states.iter().map(Vec::len).sum())
    }

    fn until_stable(&mut self, mut round: impl FnMut(&mut Tgba)) {
        loop {
            let before = self.size();
            round(self);
            if self.size() >= before {
                return;
            }
        }
    }

    /// A smaller automaton with marks on edges.
    pub(crate) fn reduce(&mut self) {
        self.trim();
        self.until_stable(|tgba| {
            for all_between in [true, false] {
                tgba.simplify_marks(all_between);
                tgba.reduce_by_simulation();
                tgba.trim();
            }
        });
        self.simplify_marks(false);
    }

    /// The smallest automaton with one mark on states that is found from a reduced one.
    pub(crate) fn into_buchi(self) -> Tgba {
        let orders = orders(self.n_marks, self.states.len() <= MANY_STATES);
        let attempts = orders.iter().map(|order| {
            let mut attempt = self.clone();
            attempt.degeneralise(order);
            attempt.reduce_buchi();
            attempt
        });
        attempts.min_by_key(Tgba::size).unwrap_or(self)
    }

    fn reduce_buchi(&mut self) {
        self.until_stable(|tgba| {
            for outside in [true, false] {
                tgba.simplify_accepting_states(outside);
                tgba.reduce_by_simulation();
                tgba.trim();
            }
        });
        self.simplify_accepting_states(false);
    }
}

/// Orders of marks that are worth a try; never none.
fn orders(n: u32, many: bool) -> Vec<Vec<u32>> {
    let first: Vec<u32> = (0..n).collect();
    if !many || n < 2 {
        return vec![first];
    }
    if n > 4 {
        return (0..n).map(|by| (0..n).map(|i| (i + by) % n).collect()).collect();
    }
    let mut found: Vec<Vec<u32>> = vec![Vec::new()];
    for _ in 0..n {
        let longer = |order: Vec<u32>| {
            let rest: Vec<u32> = (0..n).filter(|i| !order.contains(i)).collect();
            rest.into_iter().map(move |i| [order.clone(), vec![i]].concat())
        };
        found = found.into_iter().flat_map(longer).collect();
    }
    found
}
