//! Predicates: what may be asked of states, and the slots that it looks at.

use machine::facts::partition::Partition;
use promela::ir::Location;
use symbolic::{LocalPredicate, Predicate, Unanswered};
use system::{Fault, TransitionSystem};

use super::Pins;
use crate::values::{Content, put};

impl Pins<'_> {
    pub(super) fn make_predicates(&mut self, partition: &Partition) {
        self.predicates.clear();
        self.about.clear();
        let slots = &partition.slots;
        for (member, own) in slots.members.iter().enumerate() {
            for what in [Predicate::ValidEnd, Predicate::Accepting] {
                self.predicates.push(LocalPredicate { what, reads: vec![own.location.0] });
                self.about.push(Some(member));
            }
        }
        let channels = slots.channels.iter().chain(slots.members.iter().flat_map(|own| &own.channels));
        for slot in channels.flatten() {
            self.predicates.push(LocalPredicate { what: Predicate::EmptyChannel, reads: vec![slot.0] });
        }
        let mut invariants: Option<std::collections::BTreeSet<u32>> = None;
        for ((what, _), slots) in self.asked.iter().zip(&partition.watched) {
            match what {
                Predicate::Invariants => invariants.get_or_insert_default().extend(slots.iter()),
                _ => self.predicates.push(LocalPredicate { what: *what, reads: slots.iter().collect() }),
            }
        }
        if let Some(reads) = invariants {
            let reads = reads.into_iter().collect();
            self.predicates.push(LocalPredicate { what: Predicate::Invariants, reads });
        }
        self.about.resize(self.predicates.len(), None);
    }

    pub(super) fn judge(&mut self, predicate: usize, reads: &[u32]) -> Result<bool, Unanswered> {
        let LocalPredicate { what, reads: slots } = self.predicates[predicate].clone();
        match what {
            Predicate::ValidEnd => Ok(self.at_location(predicate, reads[0]).is_none_or(|at| at.end)),
            Predicate::Accepting => Ok(self.at_location(predicate, reads[0]).is_some_and(|at| at.accept)),
            Predicate::EmptyChannel => Ok(self.is_empty(slots[0] as usize, reads[0])),
            Predicate::Invariants | Predicate::Proposition(..) | Predicate::Fails(..) => {
                let shape = self.shape_with(&slots, reads)?;
                self.fill(shape, &slots, reads, false)?;
                let capabilities = self.jit.capabilities();
                Ok(match what {
                    Predicate::Proposition(set, number) => capabilities
                        .propositions
                        .is_some_and(|system| system.propositions(set, &self.state) >> number & 1 != 0),
                    Predicate::Fails(set, number) => capabilities
                        .propositions
                        .is_some_and(|system| system.evaluation_error(set, number, &self.state).is_some()),
                    _ => {
                        let mut found: Vec<Fault> = Vec::new();
                        capabilities
                            .invariants
                            .iter()
                            .for_each(|system| system.inspect(&self.state, &mut found));
                        found.is_empty()
                    }
                })
            }
        }
    }

    /// Where the process of a predicate is, if it exists.
    fn at_location(&self, predicate: usize, location: u32) -> Option<&Location> {
        let number = location.checked_sub(1)? as usize;
        let proctype = self.shapes.processes[self.about[predicate]?].1;
        self.jit.interp().program().proctypes[proctype as usize].locations.get(number)
    }

    /// Whether a channel is empty: all its bytes are zero.
    fn is_empty(&self, slot: usize, value: u32) -> bool {
        match self.places.iter().find_map(|places| places[slot].as_ref()) {
            Some(at) if at.len() > 4 => {
                let mut bytes = vec![0; at.len()];
                let whole = 0..at.len();
                !put(&mut bytes, &whole, Content::Data, value, &self.numbered[slot])
                    || bytes.iter().all(|byte| *byte == 0)
            }
            _ => value == 0,
        }
    }

    /// A shape with the processes whose locations are read and not 0, and without those where it is 0.
    fn shape_with(&self, slots: &[u32], reads: &[u32]) -> Result<usize, Unanswered> {
        if let Some(at) = slots.iter().position(|slot| self.contents[*slot as usize] == Content::Shape) {
            return Ok(reads[at] as usize);
        }
        let fits = |number: &usize| {
            slots.iter().zip(reads).all(|(slot, read)| {
                let slot = *slot as usize;
                let has = self.places[*number][slot].is_some();
                has == (*read != 0) || has && self.contents[slot] != Content::Location
            })
        };
        (0..self.places.len())
            .find(fits)
            .ok_or_else(|| Unanswered::Broken("no shape fits what a predicate reads".to_string()))
    }
}
