//! The packs of one worker that wait, oldest first; the owner may take the newest.
//!
//! With a [`Spill`] those in the middle are on a disk as soon as there is more than may be in memory, in
//! *bales*: what is taken next is here, at both ends. New packs are added to a part of its own, of which the
//! older half goes away when it is large enough, so that a worker who takes the newest first does not read back
//! at once what it has just put away.

use crate::ancestry::Ordinal;
use crate::disk::{Item, Place, Spill, word};
use crate::outcome::StopReason;
use crate::pack::{Pack, Stowed};
use std::collections::{TryReserveError, VecDeque};

/// Bytes of a bale, about.
const BALE: u64 = 1 << 17;
/// Words in front of a pack: bytes, states, finder, first state, depth.
const HEAD: usize = 5;

/// Packs, first in, first out.
#[derive(Debug)]
pub(crate) struct WaitingPacks<P> {
    oldest: VecDeque<Pack<P>>,
    away: VecDeque<Place>,
    newest: VecDeque<Pack<P>>,
    /// Bytes of the oldest and the newest.
    memory: (u64, u64),
    spill: Option<Spill>,
}

impl<P> Default for WaitingPacks<P> {
    fn default() -> Self {
        let (oldest, newest) = (VecDeque::new(), VecDeque::new());
        WaitingPacks { oldest, away: VecDeque::new(), newest, memory: (0, 0), spill: None }
    }
}

impl<P: Stowed> WaitingPacks<P> {
    /// From now on what is in the middle may be on a disk.
    pub fn spill_to(&mut self, spill: Spill) {
        self.spill = Some(spill);
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.memory.0 + self.memory.1
    }

    /// Adds the newest.
    pub fn put(&mut self, pack: Pack<P>) -> Result<(), TryReserveError> {
        self.newest.try_reserve(1)?;
        self.memory.1 += bytes_of(&pack);
        self.newest.push_back(pack);
        if self.spill.as_ref().is_some_and(|spill| self.memory() > spill.keep) && self.memory.1 > 2 * BALE {
            self.put_away();
        }
        Ok(())
    }

    /// Puts older ones of the newest away. Where nothing can be written they stay, and are tried again with the
    /// next pack.
    #[cold]
    fn put_away(&mut self) {
        let Some(spill) = &self.spill else { return };
        let (mut bytes, mut n, mut memory) = (Vec::new(), 0, 0);
        for pack in &self.newest {
            if memory >= BALE {
                break;
            }
            write(pack, &mut bytes);
            memory += bytes_of(pack);
            n += 1;
        }
        if self.away.try_reserve(1).is_err() {
            return;
        }
        if let Some(place) = spill.put_bytes(&bytes) {
            self.away.push_back(place);
            self.newest.drain(..n);
            self.memory.1 -= memory;
        }
    }

    /// Takes the oldest, or the newest. What cannot be read back stays.
    pub fn take(&mut self, newest: bool) -> Result<Option<Pack<P>>, StopReason> {
        if newest { self.take_newest() } else { self.take_oldest() }
    }

    fn take_oldest(&mut self) -> Result<Option<Pack<P>>, StopReason> {
        if self.oldest.is_empty() {
            match self.away.front() {
                Some(place) => {
                    self.oldest = self.read(place.clone())?;
                    self.away.pop_front();
                    self.memory.0 = self.oldest.iter().map(bytes_of).sum();
                }
                None => {
                    std::mem::swap(&mut self.oldest, &mut self.newest);
                    self.memory = (self.memory.1, self.memory.0);
                }
            }
        }
        let pack = self.oldest.pop_front();
        self.memory.0 -= pack.as_ref().map_or(0, bytes_of);
        Ok(pack)
    }

    fn take_newest(&mut self) -> Result<Option<Pack<P>>, StopReason> {
        if self.newest.is_empty() {
            match self.away.back() {
                Some(place) => {
                    self.newest = self.read(place.clone())?;
                    self.away.pop_back();
                    self.memory.1 = self.newest.iter().map(bytes_of).sum();
                }
                None => {
                    std::mem::swap(&mut self.oldest, &mut self.newest);
                    self.memory = (self.memory.1, self.memory.0);
                }
            }
        }
        let pack = self.newest.pop_back();
        self.memory.1 -= pack.as_ref().map_or(0, bytes_of);
        Ok(pack)
    }

    /// Reads a bale back.
    fn read(&self, place: Place) -> Result<VecDeque<Pack<P>>, StopReason> {
        let Some(spill) = &self.spill else { return Err(StopReason::Disk) };
        let bytes: Vec<u8> = spill.take(place)?;
        let (mut from, mut packs) = (&bytes[..], VecDeque::new());
        while !from.is_empty() {
            packs.push_back(read(&mut from).ok_or(StopReason::Disk)?);
        }
        Ok(packs)
    }
}

/// Bytes of memory of a pack.
fn bytes_of<P: Stowed>(pack: &Pack<P>) -> u64 {
    size_of::<Pack<P>>() as u64 + pack.states.memory()
}

fn write<P: Stowed>(pack: &Pack<P>, out: &mut Vec<u8>) {
    let start = out.len();
    [0, pack.len, pack.finder as u64, pack.first, pack.depth].into_iter().for_each(|word| word.write(out));
    pack.states.stow(out);
    let bytes = (out.len() - start - 8 * HEAD) as u64;
    out[start..start + 8].copy_from_slice(&bytes.to_le_bytes());
}

fn read<P: Stowed>(from: &mut &[u8]) -> Option<Pack<P>> {
    let (head, rest) = from.split_at_checked(8 * HEAD)?;
    let [bytes, len, finder, first, depth]: [Ordinal; HEAD] =
        [word(head, 0)?, word(head, 1)?, word(head, 2)?, word(head, 3)?, word(head, 4)?];
    let (states, rest) = rest.split_at_checked(bytes as usize)?;
    *from = rest;
    Some(Pack { states: P::unstow(states)?, len, finder: finder as usize, first, depth })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::disk::tests::TestDisk;
    use crate::pack::{States, WholeStates};
    use crate::random::Random;
    use std::sync::Arc;
    use std::sync::atomic::Ordering::Relaxed;
    use store::HashCompaction;
    use system::Annotation;

    fn pack(first: u64) -> Pack<WholeStates> {
        let mut states = WholeStates::default();
        for at in 0..20u8 {
            States::<HashCompaction>::push(&mut states, (), &[at; 60], Annotation::new(first)).unwrap();
        }
        Pack { states, len: 20, finder: 3, first, depth: first / 7 }
    }

    fn on(disk: &Arc<TestDisk>) -> WaitingPacks<WholeStates> {
        let shared: Arc<dyn Disk> = Arc::clone(disk) as _;
        let mut packs = WaitingPacks::default();
        packs.spill_to(Spill::new(&shared, 1));
        packs
    }

    /// Packs come and go at random, at both ends, as in a plain queue.
    #[test]
    fn both_ends_are_those_of_a_queue() {
        for seed in 0..4 {
            let disk = TestDisk::new(BALE);
            let (mut packs, mut plain, mut random) = (on(&disk), VecDeque::new(), Random::new(seed));
            let mut next = 0;
            for round in 0..30_000u64 {
                disk.full.store((5_000..8_000).contains(&round), Relaxed);
                let grows = round / 6_000 % 2 == 0;
                if random.below(10) < if grows { 8 } else { 3 } {
                    packs.put(pack(next)).unwrap();
                    plain.push_back(next);
                    next += 1;
                } else {
                    let newest = random.below(4) < seed as usize;
                    let expected = if newest { plain.pop_back() } else { plain.pop_front() };
                    let taken = packs.take(newest).unwrap();
                    assert_eq!(taken.as_ref().map(|pack| pack.first), expected, "seed {seed}");
                    if let Some(taken) = taken {
                        let other = pack(taken.first);
                        let head = |one: &Pack<WholeStates>| (one.len, one.finder, one.first, one.depth);
                        assert_eq!(head(&taken), head(&other));
                        assert_eq!(format!("{:?}", taken.states), format!("{:?}", other.states));
                    }
                }
                assert!((4_000..14_000).contains(&round) || packs.memory() < 8 * BALE, "{}", packs.memory());
            }
            assert!(disk.read.load(Relaxed) > 1 << 20, "seed {seed}");
            while packs.take(false).unwrap().is_some() {}
            assert_eq!(packs.memory(), 0);
        }
    }

    #[test]
    fn what_is_lost_is_told() {
        let disk = TestDisk::new(0);
        let mut packs = on(&disk);
        (0..2_000).for_each(|n| packs.put(pack(n)).unwrap());
        disk.broken.store(true, Relaxed);
        assert_eq!(packs.take(false).err(), Some(StopReason::Disk));
        assert!(packs.take(true).is_ok(), "the newest is here");
        disk.broken.store(false, Relaxed);
        assert_eq!(packs.take(false).unwrap().map(|pack| pack.first), Some(0));
    }
}
