//! Byte strings of any length numbered in order of insertion: open addressing over tag + number, keys in an
//! arena. For sets whose members are looked up by number (transient states, components); states themselves
//! are in a [`crate::Table`].
//!
//! An entry is one 64-bit word: 24 bits of the hash (the *tag*) and the address of the key's record plus one,
//! so that 0 is an empty slot. Names are dense, which lets a search keep what it knows of a state in plain
//! vectors. A record begins with its name, so that a lookup waits for memory twice, for the entry and for the
//! record. Records lie one after another in chunks, so growing never copies them. Who has only the name finds
//! the record through a block base and a 32-bit distance: 4⅛ bytes a state instead of 8.
//!
//! Linear probing up to a load of 4/5. Growing doubles the slots and hashes the keys anew.

use crate::hash::hash;
use crate::pages::{Pages, WORDS, prefetch};
use crate::sync::atomic::Ordering::Relaxed;
use crate::{Batched, Entry, Evicting, Full, Numbering, Recall, Seen};

/// Slots of a table that has just been made: as many as fill whole cache lines.
const FIRST_SLOTS: usize = 64;
/// A cleared table with more slots than this gives them back.
const KEPT_SLOTS: usize = 1 << 14;
/// Bytes of a chunk of the arena (a power of two).
const CHUNK: usize = 1 << 20;
/// Keys that share one base address.
const BLOCK: usize = 64;
/// Bytes of a name.
const NAME: usize = 4;
/// The most that stands in front of a key: name and length.
const MAX_PREFIX: usize = NAME + 10;
/// Bits of an entry that are an address.
const ADDRESS: u32 = 40;

/// A number given to a key: dense, in order of insertion, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Number(pub u32);

impl Number {
    /// As an index into what is kept beside the keys.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What visiting a key showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visit {
    /// It was not there; now it is.
    New(Number),
    /// It was there already.
    Seen(Number),
}

/// An exact set of byte strings that numbers them.
#[derive(Debug)]
pub struct Numbered {
    slots: Slots,
    arena: Arena,
    limit: u64,
    reach: Reach,
}

/// How far the numbers of an entry reach.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// The most keys.
    keys: usize,
    /// Every address is below this.
    addresses: u64,
    /// The farthest that a key lies behind the first of its block.
    distance: u64,
}

const REACH: Reach =
    Reach { keys: u32::MAX as usize - 1, addresses: (1 << ADDRESS) - 1, distance: u32::MAX as u64 };

impl Default for Numbered {
    fn default() -> Self {
        Numbered::new(u64::MAX)
    }
}

impl Numbered {
    /// An empty table that answers [`Full`] rather than use more than `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Numbered { slots: Slots::first(), arena: Arena::default(), limit, reach: REACH }
    }

    /// Changes the limit, for a table that shares its memory with others.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Forgets all keys. Memory is kept while it is little.
    pub fn clear(&mut self) {
        if self.slots.len() > KEPT_SLOTS {
            self.slots = Slots::first();
        } else {
            self.slots.clear();
        }
        self.arena.clear();
    }

    /// The key named `id`.
    pub fn key(&self, id: Number) -> &[u8] {
        self.arena.key(id.index())
    }

    /// Inserts `key` or recognises it.
    pub fn visit(&mut self, key: &[u8]) -> Result<Visit, Full> {
        self.visit_prepared(key, hash(key))
    }

    /// Computes what [`Numbered::visit_prepared`] needs and asks for the memory where the key must be. Who
    /// has several keys prepares all of them first.
    pub fn hash(&self, key: &[u8]) -> u64 {
        let hash = hash(key);
        self.slots.prefetch((hash >> 32) as usize);
        hash
    }

    /// Looks where prepared keys may be, and asks for the memory where they lie. Waiting for memory is most
    /// of what a lookup costs: here all keys wait together.
    pub fn probe_all(&self, hashes: &[u64]) {
        for &hash in hashes {
            let entry = self.slots.get((hash >> 32) as usize);
            if let Some(address) = address(entry, hash) {
                self.arena.prefetch(address);
            }
        }
    }

    /// Asks for the memory where a prepared key must be, if it was long ago that it was prepared.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch((hash >> 32) as usize);
    }

    /// Inserts a prepared key or recognises it.
    pub fn visit_prepared(&mut self, key: &[u8], hash: u64) -> Result<Visit, Full> {
        debug_assert_eq!(hash, crate::hash::hash(key), "the hash of another key");
        match self.probe(key, hash) {
            Ok(id) => Ok(Visit::Seen(id)),
            Err(at) => self.insert(key, hash, at).map(Visit::New),
        }
    }

    /// Appends a key that is not there; says where.
    fn append(&mut self, key: &[u8]) -> Result<(Number, u64), Full> {
        let index = self.arena.len();
        if index >= self.reach.keys || self.memory() + self.arena.cost(key.len()) > self.limit {
            return Err(Full);
        }
        let address = self.arena.push(key, self.reach)?;
        Ok((Number(index as u32), address))
    }

    /// Looks without inserting.
    pub fn find(&self, key: &[u8]) -> Option<Number> {
        self.probe(key, hash(key)).ok()
    }

    /// Looks for a prepared key without inserting it.
    #[inline]
    pub fn find_prepared(&self, key: &[u8], hash: u64) -> Option<Number> {
        self.probe(key, hash).ok()
    }

    /// How many keys there are.
    pub fn n_keys(&self) -> u64 {
        self.arena.len() as u64
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.slots.len() as u64 * 8 + self.arena.memory()
    }

    /// The slot that holds `key` (with its name), or the empty slot where it belongs.
    #[inline]
    fn probe(&self, key: &[u8], hash: u64) -> Result<Number, usize> {
        let mask = self.slots.len() - 1;
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let entry = self.slots.get(at);
            if entry == 0 {
                return Err(at);
            }
            if let Some(address) = address(entry, hash) {
                let (id, found) = self.arena.record(address);
                if found == key {
                    return Ok(id);
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn must_grow(&self) -> bool {
        (self.arena.len() + 1) * 5 > self.slots.len() * 4
    }

    /// Doubles the slots; old and new exist together for a moment, and the limit counts both.
    fn grow(&mut self) -> Result<(), Full> {
        let doubled = self.slots.len() * 2;
        if self.memory() + doubled as u64 * 8 > self.limit {
            return Err(Full);
        }
        let slots = Slots::new(doubled)?;
        let mask = doubled - 1;
        for index in 0..self.arena.len() {
            let address = self.arena.address(index);
            let hash = hash(self.arena.record(address).1);
            let mut at = (hash >> 32) as usize & mask;
            while slots.get(at) != 0 {
                at = (at + 1) & mask;
            }
            slots.set(at, entry_of(hash, address));
        }
        self.slots = slots;
        Ok(())
    }

    fn insert(&mut self, key: &[u8], hash: u64, mut at: usize) -> Result<Number, Full> {
        if self.must_grow() {
            self.grow()?;
            at = match self.probe(key, hash) {
                Err(at) => at,
                Ok(id) => return Ok(id),
            };
        }
        let (number, address) = self.append(key)?;
        self.slots.set(at, entry_of(hash, address));
        Ok(number)
    }
}

impl Seen for Numbered {
    const LOSSLESS: bool = true;

    type Ticket = u64;
    type Name = Number;

    #[inline]
    fn hash(&mut self, key: &[u8]) -> Result<u64, Full> {
        Ok(Numbered::hash(self, key))
    }

    #[inline]
    fn insert(&mut self, key: &[u8], hash: u64) -> Result<Option<Number>, Full> {
        Ok(match self.visit_prepared(key, hash)? {
            Visit::New(number) => Some(number),
            Visit::Seen(_) => None,
        })
    }

    #[inline]
    fn contains(&self, key: &[u8], hash: u64) -> bool {
        self.find_prepared(key, hash).is_some()
    }

    #[inline]
    fn n_keys(&self) -> u64 {
        Numbered::n_keys(self)
    }

    fn memory(&self) -> u64 {
        Numbered::memory(self)
    }
}

impl Batched for Numbered {
    const INCREMENTAL: bool = false;

    #[inline]
    fn probe_all(&self, tickets: &mut [u64]) {
        Numbered::probe_all(self, tickets);
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        Numbered::prefetch(self, hash);
    }
}

impl Evicting for Numbered {}

impl Recall for Numbered {
    fn load(&mut self, name: Number, out: &mut Vec<u8>) {
        out.extend_from_slice(self.key(name));
    }
}

impl Numbering for Numbered {
    type Number = Number;

    #[inline]
    fn visit(&mut self, key: &[u8], hash: u64) -> Result<Entry<Number, Number>, Full> {
        let (number, new) = match self.visit_prepared(key, hash)? {
            Visit::New(number) => (number, true),
            Visit::Seen(number) => (number, false),
        };
        Ok(Entry { number, name: number, new })
    }

    #[inline]
    fn number(&self, key: &[u8], hash: u64) -> Option<Number> {
        self.find_prepared(key, hash)
    }

    fn find(&self, key: &[u8]) -> Option<Number> {
        Numbered::find(self, key)
    }

    fn bound(&self) -> u64 {
        Numbered::n_keys(self)
    }
}

/// The entries: a power of two, in memory that may have huge pages.
#[derive(Debug)]
struct Slots(Pages);

impl Slots {
    fn first() -> Self {
        Slots(Pages::small(FIRST_SLOTS / WORDS))
    }

    fn new(len: usize) -> Result<Self, Full> {
        Pages::new(len / WORDS).map(Slots)
    }

    fn len(&self) -> usize {
        self.0.words().len()
    }

    /// The entry at a place, or at what is left of it.
    #[inline]
    fn get(&self, at: usize) -> u64 {
        let words = self.0.words();
        words[at & (words.len() - 1)].load(Relaxed)
    }

    #[inline]
    fn set(&self, at: usize, entry: u64) {
        let words = self.0.words();
        words[at & (words.len() - 1)].store(entry, Relaxed);
    }

    #[inline]
    fn prefetch(&self, at: usize) {
        let words = self.0.words();
        prefetch(&words[at & (words.len() - 1)]);
    }

    fn clear(&self) {
        self.0.words().iter().for_each(|word| word.store(0, Relaxed));
    }
}

/// Low bits of the hash as tag (the high half chose the slot) and the address plus one.
fn entry_of(hash: u64, address: u64) -> u64 {
    (hash << ADDRESS) | (address + 1)
}

/// The address in an entry, if its tag is that of the hash.
#[inline]
fn address(entry: u64, hash: u64) -> Option<u64> {
    let same = entry >> ADDRESS == hash << ADDRESS >> ADDRESS;
    (entry & ((1 << ADDRESS) - 1)).checked_sub(1).filter(|_| same)
}

/// Keys one after another, each with its name and its length in front, in chunks that are never copied.
///
/// The address of a record is its chunk's number times [`CHUNK`] plus its place there. A key longer than a
/// chunk has one of its own, which is larger.
#[derive(Debug, Default)]
struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The address of the first key of every block.
    bases: Vec<u64>,
    /// How far each key lies behind its block's first. A block spans at most 64 chunks, so 32 bits are
    /// plenty.
    distances: Vec<u32>,
    /// Capacity of all chunks but the last.
    closed: u64,
}

impl Arena {
    fn len(&self) -> usize {
        self.distances.len()
    }

    fn memory(&self) -> u64 {
        let open = self.chunks.last().map_or(0, Vec::capacity) as u64;
        self.closed + open + self.distances.capacity() as u64 * 4 + self.bases.capacity() as u64 * 8
    }

    fn clear(&mut self) {
        self.chunks.truncate(1);
        self.chunks.iter_mut().for_each(Vec::clear);
        self.bases.clear();
        self.distances.clear();
        self.closed = 0;
    }

    fn fits(&self, len: usize) -> bool {
        self.chunks.last().is_some_and(|c| c.is_empty() || c.len() + len + MAX_PREFIX <= CHUNK)
    }

    /// What adding a key of this length may cost.
    fn cost(&self, len: usize) -> u64 {
        let full = self.distances.len() == self.distances.capacity();
        let names = if full { self.distances.len() as u64 * 4 } else { 0 };
        names + self.chunk_cost(len)
    }

    fn chunk_cost(&self, len: usize) -> u64 {
        match self.chunks.last() {
            Some(chunk) if self.fits(len) => {
                let needed = chunk.len() + len + MAX_PREFIX;
                if needed <= chunk.capacity() { 0 } else { needed.max(chunk.capacity() * 2) as u64 }
            }
            None => (len + MAX_PREFIX) as u64,
            Some(_) => CHUNK.max(len + MAX_PREFIX) as u64,
        }
    }

    /// Appends a key; says where. Whatever may be large is reserved first, so that running out of memory is
    /// an answer.
    fn push(&mut self, key: &[u8], reach: Reach) -> Result<u64, Full> {
        self.distances.try_reserve(1).map_err(|_| Full)?;
        self.bases.try_reserve(1).map_err(|_| Full)?;
        self.chunks.try_reserve(1).map_err(|_| Full)?;
        if !self.fits(key.len()) {
            let reserved = if self.chunks.is_empty() { 0 } else { CHUNK.max(key.len() + MAX_PREFIX) };
            let mut chunk = Vec::new();
            chunk.try_reserve_exact(reserved).map_err(|_| Full)?;
            self.closed += self.chunks.last().map_or(0, Vec::capacity) as u64;
            self.chunks.push(chunk);
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        chunk.try_reserve(key.len() + MAX_PREFIX).map_err(|_| Full)?;
        let address = (number * CHUNK + chunk.len()) as u64;
        let begins = self.distances.len().is_multiple_of(BLOCK);
        let base = self.bases.last().copied().filter(|_| !begins).unwrap_or(address);
        if address >= reach.addresses || address - base > reach.distance {
            return Err(Full);
        }
        if begins {
            self.bases.push(address);
        }
        let name = self.distances.len() as u32;
        self.distances.push((address - base) as u32);
        chunk.extend_from_slice(&name.to_le_bytes());
        write_length(chunk, key.len());
        chunk.extend_from_slice(key);
        Ok(address)
    }

    #[inline]
    fn prefetch(&self, address: u64) {
        let address = address as usize;
        prefetch(&self.chunks[address / CHUNK][address % CHUNK]);
    }

    fn address(&self, index: usize) -> u64 {
        self.bases[index / BLOCK] + u64::from(self.distances[index])
    }

    /// The name and the key of a record.
    #[inline]
    fn record(&self, address: u64) -> (Number, &[u8]) {
        let address = address as usize;
        let record = &self.chunks[address / CHUNK][address % CHUNK..];
        let Some((name, rest)) = record.split_first_chunk::<NAME>() else { return (Number(0), &[]) };
        let (len, prefix) = read_length(rest);
        (Number(u32::from_le_bytes(*name)), &rest[prefix..prefix + len])
    }

    fn key(&self, index: usize) -> &[u8] {
        self.record(self.address(index)).1
    }
}

/// Appends a length in groups of seven bits, the last with the high bit clear.
fn write_length(out: &mut Vec<u8>, mut len: usize) {
    while len >= 0x80 {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
}

/// The length at the beginning of a record, and how many bytes it takes. Most take one.
#[inline]
fn read_length(record: &[u8]) -> (usize, usize) {
    let mut len = 0;
    for (i, &byte) in record.iter().enumerate() {
        len |= usize::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return (len, i + 1);
        }
    }
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::Random;
    use std::collections::HashMap;

    /// With limits as low as these: what is refused changes nothing, and what is there stays.
    #[test]
    fn numbers_and_addresses_do_not_reach_farther() {
        let key = |i: usize| (i as u64).to_le_bytes();
        let reaches = [
            (Reach { keys: 300, ..REACH }, 300),
            (Reach { addresses: 10_000, ..REACH }, 10_000_usize.div_ceil(NAME + 1 + 8)),
            (Reach { distance: 200, ..REACH }, 200 / (NAME + 1 + 8) + 1),
        ];
        for (reach, most) in reaches {
            let mut table = Numbered { reach, ..Numbered::default() };
            let known = (0..).take_while(|&i| table.visit(&key(i)).is_ok()).count();
            assert_eq!(known, most, "{reach:?}");
            assert_eq!((table.visit(&key(known)), table.n_keys()), (Err(Full), known as u64));
            assert!((0..known).all(|i| table.visit(&key(i)) == Ok(Visit::Seen(Number(i as u32)))));
        }
    }

    /// Runs random operations on a table and on a map of the standard library and compares every answer.
    fn shadow(operations: usize, len: u64, alphabet: u64, seed: u64) {
        let mut random = Random(seed);
        let mut table = Numbered::default();
        let mut model: HashMap<Vec<u8>, u32> = HashMap::new();
        for _ in 0..operations {
            let key = random.key(len, alphabet);
            let known = model.get(&key).copied();
            match random.below(10_000) {
                0 => {
                    table.clear();
                    model.clear();
                }
                1..=3000 => {
                    assert_eq!(table.find(&key), known.map(Number));
                }
                _ => {
                    let expected = match known {
                        Some(id) => Visit::Seen(Number(id)),
                        None => Visit::New(Number(model.len() as u32)),
                    };
                    assert_eq!(table.visit(&key), Ok(expected));
                    let next = model.len() as u32;
                    model.entry(key).or_insert(next);
                }
            }
            assert_eq!(table.n_keys(), model.len() as u64);
        }
        for (key, &id) in &model {
            assert_eq!(table.key(Number(id)), key);
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for seed in 1..=8 {
            shadow(30_000, 6, 3, seed);
            shadow(30_000, 40, 200, seed * 77);
        }
    }

    #[test]
    fn many_chunks_and_long_keys() {
        let mut table = Numbered::default();
        let mut random = Random(5);
        let keys: Vec<Vec<u8>> = (0..300u32)
            .map(|i| {
                let len = [3, 127, 128, 20_000, CHUNK - 9, CHUNK + 77][random.below(6) as usize]
                    / (1 + i as usize % 3);
                let mut key = vec![i as u8; len];
                key.extend_from_slice(&i.to_le_bytes());
                key
            })
            .collect();
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(table.visit(key), Ok(Visit::New(Number(i as u32))));
        }
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(table.visit(key), Ok(Visit::Seen(Number(i as u32))));
            assert_eq!(table.key(Number(i as u32)), key);
        }
        assert!(table.memory() >= keys.iter().map(Vec::len).sum::<usize>() as u64);
    }

    #[test]
    fn the_memory_limit_is_kept_and_nothing_is_lost() {
        let limit = 100_000;
        let mut table = Numbered::new(limit);
        let mut n = 0u32;
        while table.visit(&n.to_le_bytes()) != Err(Full) {
            n += 1;
            assert!(table.memory() <= limit, "{} bytes after {n} keys", table.memory());
        }
        assert!(n > 1000, "only {n} keys in {limit} bytes");
        for i in 0..n {
            assert_eq!(table.find(&i.to_le_bytes()), Some(Number(i)));
        }
        assert_eq!(table.visit(&0u32.to_le_bytes()), Ok(Visit::Seen(Number(0))));
    }

    #[test]
    fn the_empty_key_is_a_key() {
        let mut table = Numbered::default();
        assert_eq!(table.visit(&[]), Ok(Visit::New(Number(0))));
        assert_eq!(table.visit(&[]), Ok(Visit::Seen(Number(0))));
        assert_eq!(table.visit(&[0]), Ok(Visit::New(Number(1))));
    }
}
