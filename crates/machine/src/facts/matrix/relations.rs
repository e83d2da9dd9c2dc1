//! Which groups conflict, and which may be enabled together.
//!
//! Conflicts are those of [marks](crate::facts::mark): one conflicts with what the other accesses. Two groups
//! of one process always conflict. Groups exclude each other when their guards need different things of one
//! global cell ([`crate::facts::guard`]), or when they are those of one process at different locations.

use std::collections::BTreeMap;

use promela::ir::LocId;
use system::matrix::{BitMatrix, BitSet, Dependencies};

use super::Filling;
use crate::facts::guard::{Need, exclude, needs};

impl Filling<'_> {
    /// Fills the relations between groups; objects have numbers below `n_objects`.
    pub fn relate(&self, all: &mut Dependencies, n_objects: usize) {
        all.conflicts = self.conflicts(n_objects);
        all.may_be_coenabled = self.coenabled();
    }

    /// Objects × groups: which groups access an object.
    pub fn accessed_by(&self, n_objects: usize) -> BitMatrix {
        let mut accessed_by = BitMatrix::new(n_objects, self.n_groups());
        for g in 0..self.n_groups() {
            for item in self.parts(g) {
                self.mark(item).accesses.iter().for_each(|object| accessed_by.set(object as usize, g));
            }
        }
        accessed_by
    }

    /// Members × groups: in which groups a member that is one process takes part.
    fn own(&self) -> BitMatrix {
        let mut own = BitMatrix::new(self.members.len(), self.n_groups());
        for g in 0..self.n_groups() {
            for item in self.parts(g).filter(|item| !self.population.members[item.member].several) {
                own.set(item.member, g);
            }
        }
        own
    }

    fn conflicts(&self, n_objects: usize) -> BitMatrix {
        let (accessed_by, own) = (self.accessed_by(n_objects), self.own());
        let n = self.n_groups();
        let mut conflicts = BitMatrix::new(n, n);
        for g in 0..n {
            self.stop.check();
            for item in self.parts(g) {
                let mark = self.mark(item);
                mark.conflicts.iter().for_each(|object| conflicts.add_row(g, &accessed_by, object as usize));
                conflicts.add_row(g, &own, item.member);
                if mark.everything {
                    conflicts.fill_row(g);
                }
            }
        }
        make_symmetric(&mut conflicts);
        conflicts
    }

    fn coenabled(&self) -> BitMatrix {
        let n = self.n_groups();
        let mut coenabled = BitMatrix::new(n, n);
        (0..n).for_each(|g| coenabled.fill_row(g));
        self.exclude_by_needs(&mut coenabled);
        self.exclude_by_location(&mut coenabled);
        self.exclude_ends(&mut coenabled);
        // A group whose needs contradict each other is never enabled; saying that it may be is simpler for
        // everybody.
        (0..n).for_each(|g| coenabled.set(g, g));
        coenabled
    }

    /// Groups with equal needs are a class; classes exclude each other or not.
    fn exclude_by_needs(&self, coenabled: &mut BitMatrix) {
        let mut classes: BTreeMap<Vec<Need>, BitSet> = BTreeMap::new();
        for g in 0..self.n_groups() {
            let needs = self.parts(g).flat_map(|item| {
                let proctype = self.proctype(item.member);
                needs(proctype, proctype.edge(item.edge))
            });
            let needs: Vec<Need> = needs.collect();
            if !needs.is_empty() {
                classes.entry(needs).or_default().add(g as u32);
            }
        }
        let mut rows = BitMatrix::new(classes.len(), self.n_groups());
        for (row, groups) in classes.values().enumerate() {
            groups.iter().for_each(|g| rows.set(row, g as usize));
        }
        for (one, groups) in &classes {
            self.stop.check();
            for (row, other) in classes.keys().enumerate().filter(|(_, other)| exclude(one, other)) {
                debug_assert!(exclude(other, one), "exclusion is symmetric");
                groups.iter().for_each(|g| coenabled.subtract_row(g as usize, &rows, row));
            }
        }
    }

    /// Only the process with the highest pid can end.
    fn exclude_ends(&self, coenabled: &mut BitMatrix) {
        let n = self.n_groups();
        let mut ends = BitMatrix::new(1, n);
        let is_end = |g: &usize| self.parts(*g).any(|item| self.mark(item).ends);
        (0..n).filter(is_end).for_each(|g| ends.set(0, g));
        for g in ends.iter_row(0) {
            coenabled.subtract_row(g, &ends, 0);
        }
    }

    /// Two groups of one process need a location that lists both.
    fn exclude_by_location(&self, coenabled: &mut BitMatrix) {
        let own = self.own();
        let leaving = self.leaving();
        let mut apart = BitMatrix::new(1, self.n_groups());
        for g in 0..self.n_groups() {
            self.stop.check();
            for item in self.parts(g).filter(|item| !self.population.members[item.member].several) {
                apart.clear_row(0);
                apart.add_row(0, &own, item.member);
                for at in self.listed(item) {
                    leaving[&(item.member, *at)].iter().for_each(|&other| apart.clear(0, other));
                }
                coenabled.subtract_row(g, &apart, 0);
            }
        }
    }

    /// For each member and location the groups by which it leaves that location.
    pub fn leaving(&self) -> ByLocation {
        let mut leaving = ByLocation::new();
        for g in 0..self.n_groups() {
            for item in self.parts(g) {
                self.listed(item)
                    .iter()
                    .for_each(|&at| leaving.entry((item.member, at)).or_default().push(g));
            }
        }
        leaving
    }

    /// For each member and location the groups by which it may arrive there.
    pub fn arriving(&self) -> ByLocation {
        let mut arriving = ByLocation::new();
        for g in 0..self.n_groups() {
            self.stop.check();
            for item in self.parts(g) {
                self.ends(item).iter().for_each(|&at| arriving.entry((item.member, at)).or_default().push(g));
            }
        }
        arriving
    }
}

/// Groups by a member and a location of it.
pub type ByLocation = BTreeMap<(usize, LocId), Vec<usize>>;

fn make_symmetric(matrix: &mut BitMatrix) {
    let turned = matrix.transposed();
    (0..matrix.n_rows()).for_each(|row| matrix.add_row(row, &turned, row));
}
