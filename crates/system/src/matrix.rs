//! Dependency matrices: what each group of a partitioned transition relation reads and writes, and how groups
//! depend on each other.
//!
//! The interface is that of PINS (S. Blom, J. van de Pol and M. Weber, *LTSmin: distributed and symbolic
//! reachability*, CAV 2010; for Promela F. van der Berg and A. Laarman, *SpinS: extending LTSmin with Promela
//! through SpinJa*, 2013), with the relations between guards and groups of guard-based partial-order
//! reduction (A. Laarman, E. Pater, J. van de Pol and H. Hansen, 2013). A state is a vector of *slots*. The
//! transition relation is the union of *groups*, each a step from one stored state to the next (transient
//! states are passed within a step). A group is enabled when all its *guards* are true.
//!
//! Everything here errs in one direction: reads, writes, conflicts, co-enabledness, enabling and disabling
//! sets may name too much, never too little; must-writes may name too little, never too much. So the
//! complement of a relation may be relied on.
//!
//! A [`Process`] may stand for several processes of which nothing more is known. Its slots are then those of
//! all of them, and relations between its own groups are about two different processes; steps of one process
//! never commute ([`Dependencies::commute`]).

mod bits;

pub use bits::{BitMatrix, BitSet};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Its place in a list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A process, or several that are not told apart.
    ProcessId
}
id! {
    /// A part of the state vector.
    SlotId
}
id! {
    /// A group of transitions.
    GroupId
}
id! {
    /// A condition that a group needs.
    GuardId
}

/// A process, or several that are not told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Name for people.
    pub name: String,
    /// Whether it may stand for more than one process at a time.
    pub several: bool,
}

/// A part of the state vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Name for people.
    pub name: String,
    /// The process whose part it is; `None` for a shared one.
    pub process: Option<ProcessId>,
}

/// A group of transitions: the steps of one process along one edge, or of two processes that synchronise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name for people: process and statement.
    pub name: String,
    /// File and 1-based line of the statement.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Who moves.
    pub process: ProcessId,
    /// Who moves with it.
    pub partner: Option<ProcessId>,
}

impl Group {
    /// Those who move.
    pub fn processes(&self) -> impl Iterator<Item = ProcessId> {
        [Some(self.process), self.partner].into_iter().flatten()
    }
}

/// A condition that groups need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Name for people.
    pub name: String,
    /// Whose condition it is.
    pub process: ProcessId,
}

/// The dependency matrices of a system.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    /// The processes.
    pub processes: Vec<Process>,
    /// The slots.
    pub slots: Vec<Slot>,
    /// The groups.
    pub groups: Vec<Group>,
    /// The guards.
    pub guards: Vec<Guard>,
    /// Groups × slots: whether the group is enabled, and what it writes, depends on these slots only.
    pub reads: BitMatrix,
    /// Groups × slots: the group changes no other slots. A slot that is only partly replaced (one message of
    /// a channel) is read as well.
    pub may_write: BitMatrix,
    /// Groups × slots: the group replaces the whole value of these slots each time.
    pub must_write: BitMatrix,
    /// Groups × guards: the conjunction of these guards is what the group needs (and, for [`Self::idle`]
    /// groups, one condition more).
    pub guarded_by: BitMatrix,
    /// Guards × slots: the truth of the guard depends on these slots only.
    pub guard_reads: BitMatrix,
    /// Groups × groups: in a state in which both are enabled, one may disable the other or change what it
    /// does.
    pub conflicts: BitMatrix,
    /// Groups × groups: there may be a state in which both are enabled.
    pub may_be_coenabled: BitMatrix,
    /// Guards × groups: a necessary enabling set for each guard. While the guard is false, nothing makes it
    /// true but one of these groups.
    pub necessary_enabling: BitMatrix,
    /// Guards × groups: a necessary disabling set for each guard. While it is true, nothing makes it false
    /// but one of these groups.
    pub necessary_disabling: BitMatrix,
    /// Groups that also ask whether any other group is enabled (Promela's `timeout`). That question concerns
    /// all groups, so it is no guard and the relations above leave it out; such groups read every slot and
    /// commute with nothing.
    pub idle: BitSet,
}

/// Figures of the matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Entries of the groups × slots matrix that are read and not written.
    pub read_only: usize,
    /// Those that are written and not read.
    pub write_only: usize,
    /// Those that are both.
    pub read_write: usize,
    /// Share of entries that are read or written.
    pub density: f64,
}

impl Dependencies {
    /// Whether two groups commute in every state in which both are enabled: the order in which they are taken
    /// does not matter.
    pub fn commute(&self, a: GroupId, b: GroupId) -> bool {
        let one = &self.groups[a.index()];
        let same = |process: ProcessId| self.groups[b.index()].processes().any(|other| other == process);
        let idle = self.idle.contains(a.0) || self.idle.contains(b.0);
        !idle && !one.processes().any(same) && !self.conflicts.get(a.index(), b.index())
    }

    /// The slots whose values a local next-state function of a group must be given: those that are read, and
    /// those that may keep their value although the group may write them.
    pub fn inputs(&self, group: GroupId) -> impl Iterator<Item = SlotId> {
        let g = group.index();
        let is_input = move |s: &usize| {
            self.reads.get(g, *s) || self.may_write.get(g, *s) && !self.must_write.get(g, *s)
        };
        (0..self.slots.len()).filter(is_input).map(|s| SlotId(s as u32))
    }

    /// The slots that decide whether a group is enabled.
    pub fn guard_slots(&self, group: GroupId) -> BitSet {
        let guards = self.guarded_by.iter_row(group.index());
        guards.flat_map(|guard| self.guard_reads.iter_row(guard).map(|slot| slot as u32)).collect()
    }

    /// Figures of the groups × slots matrix.
    pub fn statistics(&self) -> Statistics {
        let mut found = Statistics::default();
        for g in 0..self.groups.len() {
            for s in 0..self.slots.len() {
                match (self.reads.get(g, s), self.may_write.get(g, s)) {
                    (true, true) => found.read_write += 1,
                    (true, false) => found.read_only += 1,
                    (false, true) => found.write_only += 1,
                    (false, false) => {}
                }
            }
        }
        let used = found.read_only + found.write_only + found.read_write;
        found.density = used as f64 / (self.groups.len() * self.slots.len()).max(1) as f64;
        found
    }

    /// What every producer guarantees; `Err` names what is broken.
    pub fn verify(&self) -> Result<(), String> {
        let (groups, slots, guards) = (self.groups.len(), self.slots.len(), self.guards.len());
        let shapes = [
            ("reads", &self.reads, groups, slots),
            ("may-write", &self.may_write, groups, slots),
            ("must-write", &self.must_write, groups, slots),
            ("guarded-by", &self.guarded_by, groups, guards),
            ("guard-reads", &self.guard_reads, guards, slots),
            ("conflicts", &self.conflicts, groups, groups),
            ("may-be-coenabled", &self.may_be_coenabled, groups, groups),
            ("necessary-enabling", &self.necessary_enabling, guards, groups),
            ("necessary-disabling", &self.necessary_disabling, guards, groups),
        ];
        for (name, matrix, rows, columns) in shapes {
            if (matrix.n_rows(), matrix.n_columns()) != (rows, columns) {
                let (r, c) = (matrix.n_rows(), matrix.n_columns());
                return Err(format!("{name} is {r} × {c}, not {rows} × {columns}"));
            }
        }
        for (name, matrix) in [("conflicts", &self.conflicts), ("may-be-coenabled", &self.may_be_coenabled)] {
            if !matrix.is_symmetric() {
                return Err(format!("{name} is not symmetric"));
            }
        }
        (0..groups).try_for_each(|group| self.verify_group(group))
    }

    fn verify_group(&self, group: usize) -> Result<(), String> {
        let name = &self.groups[group].name;
        if !self.must_write.row_is_within(group, &self.may_write, group) {
            return Err(format!("{name} surely writes what it may not write"));
        }
        if !self.may_be_coenabled.get(group, group) {
            return Err(format!("{name} excludes itself"));
        }
        let within = |guard: usize| self.guard_reads.row_is_within(guard, &self.reads, group);
        if !self.guarded_by.iter_row(group).all(within) {
            return Err(format!("a guard of {name} reads what the group does not"));
        }
        if self.idle.contains(group as u32) && self.reads.count_row(group) < self.slots.len() {
            return Err(format!("{name} asks about all groups but does not read everything"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processes that increment a counter each and share a flag: group `i` reads and writes slot `i`, and
    /// reads the flag.
    fn two_counters() -> Dependencies {
        let processes = (0..2).map(|i| Process { name: format!("p{i}"), several: false }).collect();
        let slot = |(name, process): (&str, Option<u32>)| Slot {
            name: name.to_string(),
            process: process.map(ProcessId),
        };
        let slots = [("a", Some(0)), ("b", Some(1)), ("flag", None)].into_iter().map(slot).collect();
        let group = |i: u32| Group {
            name: format!("step {i}"),
            file: "toy".to_string(),
            line: i,
            process: ProcessId(i),
            partner: None,
        };
        let mut all = Dependencies {
            processes,
            slots,
            groups: (0..2).map(group).collect(),
            guards: vec![Guard { name: "flag".to_string(), process: ProcessId(0) }],
            reads: BitMatrix::new(2, 3),
            may_write: BitMatrix::new(2, 3),
            must_write: BitMatrix::new(2, 3),
            guarded_by: BitMatrix::new(2, 1),
            guard_reads: BitMatrix::new(1, 3),
            conflicts: BitMatrix::new(2, 2),
            may_be_coenabled: BitMatrix::new(2, 2),
            necessary_enabling: BitMatrix::new(1, 2),
            necessary_disabling: BitMatrix::new(1, 2),
            idle: BitSet::default(),
        };
        for g in 0..2 {
            [g, 2].into_iter().for_each(|slot| all.reads.set(g, slot));
            all.may_write.set(g, g);
            all.guarded_by.set(g, 0);
            all.conflicts.set(g, g);
            all.may_be_coenabled.fill_row(g);
        }
        all.guard_reads.set(0, 2);
        all
    }

    #[test]
    fn groups_of_different_processes_commute_unless_they_conflict() {
        let mut all = two_counters();
        assert_eq!(all.verify(), Ok(()));
        let (a, b) = (GroupId(0), GroupId(1));
        assert!(all.commute(a, b) && !all.commute(a, a));
        assert!(all.inputs(a).eq([SlotId(0), SlotId(2)]) && all.guard_slots(b).iter().eq([2]));
        let figures = all.statistics();
        assert_eq!((figures.read_only, figures.write_only, figures.read_write), (2, 0, 2));
        all.idle.add(0);
        assert!(!all.commute(a, b));
        assert!(all.verify().is_err_and(|why| why.contains("does not read everything")));
    }

    #[test]
    fn what_is_broken_is_named() {
        let broken = |change: &dyn Fn(&mut Dependencies)| {
            let mut all = two_counters();
            change(&mut all);
            all.verify().expect_err("it is broken")
        };
        assert!(broken(&|all| all.must_write.set(0, 1)).contains("surely writes"));
        assert!(broken(&|all| all.reads.clear(1, 2)).contains("a guard of step 1"));
        assert!(broken(&|all| all.conflicts.set(0, 1)).contains("conflicts is not symmetric"));
        assert!(broken(&|all| all.may_be_coenabled.clear(1, 1)).contains("excludes itself"));
        assert!(broken(&|all| all.guards.clear()).contains("guarded-by is 2 × 1, not 2 × 0"));
    }
}
