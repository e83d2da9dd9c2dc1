//! Objects: what actions access, so fine that it can be said which accesses conflict.
//!
//! An action *accesses* objects, and each way of access *conflicts* with others: two actions of different
//! processes are independent in every state in which both are enabled, unless one conflicts with what
//! the other accesses.
//!
//! **Channels.** That is more than comparing reads and writes. A plain send (at the back) and a plain receive
//! (at the front) are independent whenever both are enabled, because the channel is then neither full
//! nor empty (Godefroid and Pirottin, *Refining dependencies improves partial-order verification methods*,
//! CAV 1993). Those are the accesses [`Object::Append`] and [`Object::Take`]; all others name the aspects of
//! the channel that they look at or change.
//!
//! **Names.** A channel may be meant by its number or, where that is not known, by its declaration only. Who
//! knows the number accesses the number and *some channel of the declaration that others know by number*; who
//! does not, accesses *some unknown channel of the declaration*, and conflicts with both.

use std::collections::HashMap;

use super::Aspects;
use super::length::Direction;
use promela::ir::{ChanTypeId, ProctypeId};

use system::matrix::BitSet;

/// A channel, as it is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Chan {
    /// The one with this number.
    Number(u32),
    /// Some channel of this declaration, whose number is known.
    Numbered(ChanTypeId),
    /// Some channel of this declaration.
    Declared(ChanTypeId),
}

/// What can be accessed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// A global cell is read.
    ReadCell(u32),
    /// A global cell is written.
    WriteCell(u32),
    /// An aspect of a channel is looked at.
    Read(Chan, Aspects),
    /// An aspect of a channel is changed.
    Write(Chan, Aspects),
    /// A message is put behind the others, if there is room.
    Append(u32),
    /// The first message is taken, if there is one.
    Take(u32),
    /// A condition is true of the channel that no plain send makes false ([`length`](super::length)).
    Below(u32),
    /// A condition is true of the channel that no plain receive makes false.
    Above(u32),
    /// A message is offered on a rendezvous channel.
    Offer(Chan),
    /// A message that is on offer would be taken.
    Accept(Chan),
    /// Somebody looks where processes of this proctype are.
    ReadControl(ProctypeId),
    /// A process of this proctype moves.
    OwnControl(ProctypeId),
    /// Somebody else makes a process of this proctype move.
    WriteControl(ProctypeId),
    /// Somebody looks at variables of processes of this proctype.
    ReadLocals(ProctypeId),
    /// A process of this proctype uses its variables.
    OwnLocals(ProctypeId),
    /// Somebody else writes variables of a process of this proctype.
    WriteLocals(ProctypeId),
    /// A process of this proctype comes into being.
    New(ProctypeId),
    /// How many processes there are, or whether one exists, is looked at.
    ReadProcesses,
    /// A process is started.
    Run,
    /// A process ends.
    End,
    /// `_last` or the trace assertion is looked at or changed: the order of such steps always matters.
    Sequence,
    /// What a property looks at may change.
    Visible,
}

/// What a plain send changes.
pub const APPENDED: Aspects =
    Aspects::EMPTY.and(Aspects::FULL).and(Aspects::LEN).and(Aspects::HEAD).and(Aspects::BACK);
/// What a plain receive changes.
pub const TAKEN: Aspects = Aspects::EMPTY.and(Aspects::FULL).and(Aspects::LEN).and(Aspects::HEAD);

/// Numbers for objects, given as they are met.
#[derive(Debug, Default)]
pub struct Objects(HashMap<Object, u32>);

impl Objects {
    /// The number of an object.
    pub fn number(&mut self, object: Object) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(object).or_insert(next)
    }

    /// How many have a number.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// A channel that is accessed: its number, where that is known, and the declarations that it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its number.
    pub number: Option<u32>,
    /// What it may be declared as.
    pub types: Vec<ChanTypeId>,
}

/// Accesses and what they conflict with, in the making.
#[derive(Debug)]
pub struct AccessSets<'o> {
    objects: &'o mut Objects,
    /// What is accessed.
    pub accesses: BitSet,
    /// What it conflicts with.
    pub conflicts: BitSet,
}

impl<'o> AccessSets<'o> {
    /// Nothing is accessed yet.
    pub fn new(objects: &'o mut Objects) -> Self {
        AccessSets { objects, accesses: BitSet::default(), conflicts: BitSet::default() }
    }

    /// Accesses an object and conflicts with others.
    pub fn add(&mut self, access: Object, conflict: &[Object]) {
        self.accesses.add(self.objects.number(access));
        conflict.iter().for_each(|object| self.conflict(*object));
    }

    fn access(&mut self, object: Object) {
        self.accesses.add(self.objects.number(object));
    }

    fn conflict(&mut self, object: Object) {
        self.conflicts.add(self.objects.number(object));
    }

    /// A cell is read.
    pub fn read_cell(&mut self, cell: u32) {
        self.add(Object::ReadCell(cell), &[Object::WriteCell(cell)]);
    }

    /// A cell is written.
    pub fn write_cell(&mut self, cell: u32) {
        self.add(Object::WriteCell(cell), &[Object::ReadCell(cell), Object::WriteCell(cell)]);
    }

    /// Aspects of a channel are looked at.
    pub fn read_channel(&mut self, target: &Target, aspects: Aspects) {
        for aspect in aspects.each() {
            self.channel(target, |chan| Object::Read(chan, aspect), |chan| vec![Object::Write(chan, aspect)]);
            if let Some(number) = target.number {
                if aspect.meets(APPENDED) {
                    self.conflict(Object::Append(number));
                }
                if aspect.meets(TAKEN) {
                    self.conflict(Object::Take(number));
                }
            }
        }
    }

    /// Aspects of a channel are changed.
    pub fn write_channel(&mut self, target: &Target, aspects: Aspects) {
        for aspect in aspects.each() {
            let conflict = |chan| vec![Object::Read(chan, aspect), Object::Write(chan, aspect)];
            self.channel(target, |chan| Object::Write(chan, aspect), conflict);
        }
        if let Some(number) = target.number {
            let conflicts = [Object::Append(number), Object::Take(number)];
            conflicts.into_iter().for_each(|object| self.conflict(object));
            let conditions = [Object::Below(number), Object::Above(number)];
            conditions.into_iter().for_each(|object| self.conflict(object));
        }
    }

    /// A condition is asked of the channel with this number, and is true: what never makes it false does not
    /// conflict with it.
    pub fn rely_on(&mut self, number: u32, types: &[ChanTypeId], unmoved_by: Direction) {
        match unmoved_by {
            Direction::Sends => self.add(Object::Below(number), &[Object::Take(number)]),
            Direction::Receives => self.add(Object::Above(number), &[Object::Append(number)]),
        }
        for aspect in Aspects::ALL.each() {
            self.conflict(Object::Write(Chan::Number(number), aspect));
            for &ty in types {
                self.access(Object::Read(Chan::Numbered(ty), aspect));
                self.conflict(Object::Write(Chan::Declared(ty), aspect));
            }
        }
    }

    fn channel(
        &mut self,
        target: &Target,
        access: impl Fn(Chan) -> Object,
        conflict: impl Fn(Chan) -> Vec<Object>,
    ) {
        let mut conflicts = Vec::new();
        if let Some(number) = target.number {
            self.access(access(Chan::Number(number)));
            conflicts.extend(conflict(Chan::Number(number)));
        }
        for &ty in &target.types {
            match target.number {
                Some(_) => self.access(access(Chan::Numbered(ty))),
                None => {
                    self.access(access(Chan::Declared(ty)));
                    conflicts.extend(conflict(Chan::Numbered(ty)));
                }
            }
            conflicts.extend(conflict(Chan::Declared(ty)));
        }
        conflicts.into_iter().for_each(|object| self.conflict(object));
    }

    /// A plain send on the channel with this number.
    pub fn append(&mut self, number: u32, types: &[ChanTypeId]) {
        self.plain(number, types, Object::Append(number), APPENDED, Aspects::FULL);
        self.conflict(Object::Above(number));
    }

    /// A plain receive from the channel with this number.
    pub fn take(&mut self, number: u32, types: &[ChanTypeId]) {
        self.plain(number, types, Object::Take(number), TAKEN, Aspects::EMPTY.and(Aspects::HEAD));
        self.conflict(Object::Below(number));
    }

    fn plain(&mut self, number: u32, types: &[ChanTypeId], own: Object, changed: Aspects, seen: Aspects) {
        self.add(own, &[own]);
        let chans = types.iter().map(|&ty| Chan::Declared(ty)).chain([Chan::Number(number)]);
        for chan in chans.collect::<Vec<_>>() {
            changed.each().for_each(|aspect| self.conflict(Object::Read(chan, aspect)));
            Aspects::ALL.each().for_each(|aspect| self.conflict(Object::Write(chan, aspect)));
        }
        for &ty in types {
            changed.each().for_each(|aspect| self.access(Object::Write(Chan::Numbered(ty), aspect)));
            seen.each().for_each(|aspect| self.access(Object::Read(Chan::Numbered(ty), aspect)));
        }
    }

    /// A message is offered (or would be accepted) on a rendezvous channel. Returns what would be its
    /// counterpart.
    pub fn rendezvous(&mut self, target: &Target, offers: bool) -> BitSet {
        let object = |chan, offers| if offers { Object::Offer(chan) } else { Object::Accept(chan) };
        let mut partners = BitSet::default();
        if let Some(number) = target.number {
            self.access(object(Chan::Number(number), offers));
            partners.add(self.objects.number(object(Chan::Number(number), !offers)));
        }
        for &ty in &target.types {
            match target.number {
                Some(_) => self.access(object(Chan::Numbered(ty), offers)),
                None => {
                    self.access(object(Chan::Declared(ty), offers));
                    partners.add(self.objects.number(object(Chan::Numbered(ty), !offers)));
                }
            }
            partners.add(self.objects.number(object(Chan::Declared(ty), !offers)));
        }
        partners
    }

    /// What must be accessed before a channel that is empty holds a message.
    pub fn fill(&mut self, target: &Target) {
        self.change(target, Aspects::EMPTY, Object::Append);
    }

    /// What must be accessed before a channel that is full has room.
    pub fn drain(&mut self, target: &Target) {
        self.change(target, Aspects::FULL, Object::Take);
    }

    fn change(&mut self, target: &Target, aspect: Aspects, plain: impl Fn(u32) -> Object) {
        if let Some(number) = target.number {
            self.conflict(plain(number));
            self.conflict(Object::Write(Chan::Number(number), aspect));
        }
        target.types.iter().for_each(|&ty| self.conflict(Object::Write(Chan::Declared(ty), aspect)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disturb(a: &(BitSet, BitSet), b: &(BitSet, BitSet)) -> bool {
        let one = a.1.meets(&b.0);
        assert_eq!(one, b.1.meets(&a.0), "both ways are the same");
        one
    }

    #[test]
    fn which_touches_disturb_which() {
        let mut objects = Objects::default();
        let ty = ChanTypeId(0);
        let known = |n| Target { number: Some(n), types: vec![ty] };
        let unknown = Target { number: None, types: vec![ty] };
        let mut of = |change: &dyn Fn(&mut AccessSets<'_>)| {
            let mut sets = AccessSets::new(&mut objects);
            change(&mut sets);
            (sets.accesses, sets.conflicts)
        };
        let (read, write) = (of(&|t| t.read_cell(1)), of(&|t| t.write_cell(1)));
        assert!(disturb(&read, &write) && disturb(&write, &write) && !disturb(&read, &read));
        let (send, receive) = (of(&|t| t.append(0, &[ty])), of(&|t| t.take(0, &[ty])));
        assert!(!disturb(&send, &receive) && disturb(&send, &send) && disturb(&receive, &receive));
        let other = of(&|t| t.append(1, &[ty]));
        assert!(!disturb(&send, &other));
        let full = of(&|t| t.read_channel(&known(0), Aspects::FULL));
        assert!(disturb(&send, &full) && disturb(&receive, &full) && !disturb(&other, &full));
        let sorted = of(&|t| t.write_channel(&known(0), Aspects::ALL));
        assert!(disturb(&send, &sorted) && disturb(&receive, &sorted) && !disturb(&other, &sorted));
        let some = of(&|t| t.write_channel(&unknown, Aspects::ALL));
        assert!([&send, &receive, &other, &full, &sorted, &some].iter().all(|other| disturb(&some, other)));
        let nempty = of(&|t| t.rely_on(0, &[ty], Direction::Sends));
        let nfull = of(&|t| t.rely_on(0, &[ty], Direction::Receives));
        assert!(!disturb(&send, &nempty) && disturb(&receive, &nempty) && !disturb(&other, &nempty));
        assert!(disturb(&send, &nfull) && !disturb(&receive, &nfull) && !disturb(&nempty, &nfull));
        assert!([&sorted, &some].iter().all(|write| disturb(write, &nempty) && disturb(write, &nfull)));
        let poll = of(&|t| t.read_channel(&unknown, Aspects::HEAD));
        assert!(disturb(&send, &poll) && disturb(&receive, &poll) && !disturb(&full, &poll));
    }

    #[test]
    fn rendezvous_find_their_counterparts() {
        let mut objects = Objects::default();
        let ty = ChanTypeId(0);
        let mut of = |number, offers| {
            let mut sets = AccessSets::new(&mut objects);
            let partners = sets.rendezvous(&Target { number, types: vec![ty] }, offers);
            (sets.accesses, partners)
        };
        let (offer, accept) = (of(Some(0), true), of(Some(0), false));
        let (other, any) = (of(Some(1), false), of(None, false));
        assert!(offer.1.meets(&accept.0) && accept.1.meets(&offer.0));
        assert!(!offer.1.meets(&other.0) && offer.1.meets(&any.0) && any.1.meets(&offer.0));
        assert!(!accept.1.meets(&other.0));
    }
}
