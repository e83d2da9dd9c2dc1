//! Tests of the table: answers compared with those of the standard library, limits, growth, and workers.

use super::*;
use crate::hash::hash;
use crate::segment::{PLACE_MASK, Ticket, place_of};
use crate::test_random::Random;
use crate::{Batched, Full, Recall, Seen};
use std::collections::HashMap;

fn loaded(table: &mut Table, place: RecordPlace) -> Vec<u8> {
    let mut out = Vec::new();
    table.load(place, &mut out);
    out
}

/// Runs random operations on a table and on a map of the standard library and compares every answer.
/// Tickets are made up to 64 operations before they are used.
fn shadow(operations: usize, len: u64, alphabet: u64, seed: u64) {
    let mut random = Random(seed);
    let mut table = Table::default();
    let mut model: HashMap<Vec<u8>, RecordPlace> = HashMap::new();
    let mut done = 0;
    while done < operations {
        let keys: Vec<_> = (0..1 + random.below(64)).map(|_| random.key(len, alphabet)).collect();
        let mut tickets: Vec<_> = keys.iter().map(|key| table.hash(key).unwrap()).collect();
        if random.below(2) == 0 {
            tickets.iter_mut().for_each(|ticket| table.probe(ticket));
        }
        for (key, ticket) in keys.into_iter().zip(tickets) {
            let known = model.get(&key).copied();
            if random.below(3) == 0 {
                assert_eq!(table.contains(&key, ticket), known.is_some());
            } else {
                let answer = table.insert(&key, ticket).unwrap();
                assert_eq!(answer.is_some(), known.is_none());
                model.entry(key).or_insert_with(|| answer.unwrap());
            }
            assert_eq!(table.n_keys(), model.len() as u64);
            done += 1;
        }
    }
    for (key, &place) in &model {
        assert_eq!(&loaded(&mut table, place), key);
        assert_eq!(table.shared.find(key, Ticket::new(key)), Some(place));
    }
}

#[test]
fn agrees_with_the_standard_library() {
    for seed in 1..=8 {
        shadow(30_000, 6, 3, seed);
        shadow(30_000, 40, 200, seed * 77);
    }
    shadow(300, 200_000, 2, 99);
}

/// Growth far enough that tags are renewed from the records, and that segments then grow where they are;
/// tickets from the very beginning stay valid.
#[test]
fn tickets_stay_valid_whatever_grows() {
    let mut table = Table::default();
    let n = 4_200_000u32;
    let early: Vec<Ticket> = (0..1000u32).map(|i| table.hash(&i.to_le_bytes()).unwrap()).collect();
    for i in (0..n).filter(|i| i % 2 == 0) {
        assert_eq!(table.is_new(&i.to_le_bytes()), Ok(true));
    }
    assert!(table.shared.segments.iter().all(|segment| segment.skipped > 0 && segment.bits > 15));
    for (i, mut ticket) in (0..1000u32).zip(early) {
        table.probe(&mut ticket);
        assert_eq!(table.contains(&i.to_le_bytes(), ticket), i % 2 == 0);
        assert_eq!(table.insert(&i.to_le_bytes(), ticket).unwrap().is_some(), i % 2 == 1);
    }
    for i in 0..n {
        assert_eq!(table.knows(&i.to_le_bytes()), Ok(i % 2 == 0 || i < 1000));
    }
    assert_eq!(table.n_keys(), u64::from(n / 2) + 500);
    check_entries(&table);
}

/// Batches in which keys occur again, in a table that grows; however wide it looks.
#[test]
fn keys_inserted_together_are_new_once() {
    for narrow in [false, true] {
        let (mut table, mut random) = (Table::default(), Random(11));
        if narrow {
            table.shared.arena.be_narrow();
        }
        let mut model: HashMap<Vec<u8>, RecordPlace> = HashMap::new();
        for _ in 0..12_000 {
            let most = model.len() as u64 + 60;
            let key = |random: &mut Random| vec![3; 20 + random.below(3) as usize];
            let keys: Vec<Vec<u8>> = (0..random.below(80))
                .map(|_| {
                    let (mut key, id) = (key(&mut random), random.below(most) as u32);
                    key[4..8].copy_from_slice(&id.to_le_bytes());
                    key
                })
                .collect();
            let (mut tickets, mut new) = (Vec::new(), Vec::new());
            table.plan_all(keys.iter().map(Vec::as_slice), &mut tickets).unwrap();
            table.insert_all(keys.iter().map(Vec::as_slice), &mut tickets, &mut new).unwrap();
            let mut new = new.into_iter().peekable();
            for (at, key) in keys.into_iter().enumerate() {
                let place = new.next_if(|&(next, _)| next as usize == at).map(|(_, place)| place);
                assert_eq!(place.is_some(), !model.contains_key(&key));
                place.map(|place| model.insert(key, place));
            }
            assert!(new.next().is_none());
        }
        assert!(model.len() > 250_000 && table.n_keys() == model.len() as u64, "{}", model.len());
        assert!(model.iter().all(|(key, &place)| loaded(&mut table, place) == *key));
        check_entries(&table);
    }
}

/// What growth computes from entries is what it would compute from the keys.
fn check_entries(table: &Table) {
    let mut key = Vec::new();
    for segment in &table.shared.segments {
        for (line, entry) in segment.entries() {
            key.clear();
            table.shared.read(place_of(entry), &mut key);
            let hash = hash(&key);
            assert_eq!(segment.tag(hash), entry & !PLACE_MASK);
            assert_eq!(segment.home(hash), segment.home_of(entry, line));
            let next = (hash << SEGMENT_BITS) >> (64 - segment.bits - 2);
            assert_eq!(segment.next_home(entry, line, 2), next as usize);
        }
    }
}

#[test]
fn an_entry_tells_where_it_will_be() {
    let mut table = Table::default();
    for i in 0..60_000u32 {
        table.is_new(&i.to_le_bytes()).unwrap();
        if i.is_power_of_two() {
            check_entries(&table);
        }
    }
    check_entries(&table);
}

#[test]
fn the_memory_limit_is_kept_and_nothing_is_lost() {
    for limit in [3_000u64, 100_000, 1_000_000, 7_654_321] {
        let mut table = Table::new(limit);
        let mut n = 0u32;
        while table.is_new(&n.to_le_bytes()) != Err(Full) {
            n += 1;
            assert!(table.memory() <= limit, "{} bytes after {n} keys", table.memory());
        }
        assert!(u64::from(n) > limit / 40, "only {n} keys in {limit} bytes");
        for i in 0..n {
            assert_eq!(table.is_new(&i.to_le_bytes()), Ok(false));
        }
        assert_eq!(table.is_new(&n.to_le_bytes()), Err(Full));
        assert_eq!((table.knows(&n.to_le_bytes()), table.n_keys()), (Ok(false), u64::from(n)));
    }
}

#[test]
fn a_tiny_table_is_tiny() {
    let mut table = Table::default();
    assert!(table.memory() <= 1024);
    (0..100u32).for_each(|i| assert_eq!(table.is_new(&i.to_le_bytes()), Ok(true)));
    assert!(table.memory() <= 16 << 10, "{}", table.memory());
}

#[test]
fn the_empty_key_is_a_key() {
    let mut table = Table::default();
    assert_eq!(table.is_new(&[]), Ok(true));
    assert_eq!(table.is_new(&[]), Ok(false));
    assert_eq!(table.is_new(&[0]), Ok(true));
    assert_eq!(table.is_new(&[0, 0]), Ok(true));
}

#[test]
fn long_keys_of_all_sizes() {
    let mut table = Table::default();
    let key = |i: u32| {
        let len =
            [3, 254, 255, 256, 20_000, 65_535, 65_536, 1_000_000][i as usize % 8] / (1 + i as usize / 40);
        let mut key = vec![i as u8; len];
        key.extend_from_slice(&i.to_le_bytes());
        key
    };
    let places: Vec<RecordPlace> =
        (0..100).map(|i| table.insert(&key(i), Ticket::new(&key(i))).unwrap().unwrap()).collect();
    for (i, &place) in (0..100).zip(&places) {
        assert_eq!(table.is_new(&key(i)), Ok(false));
        assert!(loaded(&mut table, place) == key(i), "key {i}");
    }
    let bytes: usize = (0..100).map(|i| key(i).len()).sum();
    assert!((bytes as u64..bytes as u64 * 5 / 4).contains(&table.memory()));
}

/// Keys of two lengths that differ in few bits, and after a while in others; and of one that cannot be
/// packed.
fn long_key(i: u32) -> Vec<u8> {
    let mut key = vec![(i / 20_000) as u8; [130, 300, 300, 300, 250][i as usize % 5]];
    key[40..44].copy_from_slice(&i.to_le_bytes());
    if key.len() == 250 {
        key.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= (i as usize / 5 * at) as u8);
    }
    key
}

#[test]
fn long_keys_are_packed_as_soon_as_it_is_known_how() {
    let mut table = Table::default();
    let mut places = Vec::new();
    for i in 0..60_000 {
        let key = long_key(i);
        let mut ticket = table.hash(&key).unwrap();
        table.probe(&mut ticket);
        assert!(!table.contains(&key, ticket));
        places.push(table.insert(&key, ticket).unwrap().unwrap());
        assert_eq!(table.is_new(&long_key(i / 3)), Ok(false));
    }
    assert_eq!(table.n_keys(), 60_000);
    for (i, &place) in (0..60_000).zip(&places) {
        assert_eq!(loaded(&mut table, place), long_key(i));
        assert_eq!(table.knows(&long_key(i)), Ok(true));
        let mut other = long_key(i);
        other[100] ^= 1;
        assert_eq!(table.knows(&other), Ok(false), "key {i}");
    }
    check_entries(&table);
    let plain: u64 = (0..60_000).map(|i| long_key(i).len() as u64).sum();
    assert!(table.memory() < plain + 60_000 * 16);
    assert!(!crate::packing::is_supported() || table.memory() < plain / 3 * 2, "{} bytes", table.memory());
}

/// Several threads insert overlapping sets; growth happens when all have stopped.
#[test]
fn workers_agree_on_who_was_first() {
    const WORKERS: u32 = 4;
    const KEYS: u32 = 60_000;
    let key = |i: u32| [i.to_le_bytes().as_slice(), &vec![7; i as usize % 40]].concat();
    let mut shared = Shared::new(u64::MAX);
    let mut hands: Vec<Hand> = (0..WORKERS).map(|_| Hand::default()).collect();
    let mut next = vec![0u32; WORKERS as usize];
    let mut firsts: Vec<Vec<(u32, RecordPlace)>> = vec![Vec::new(); WORKERS as usize];
    while next.iter().any(|&n| n < KEYS) {
        let halts: Vec<Result<(), Halt>> = std::thread::scope(|scope| {
            let shared = &shared;
            let workers: Vec<_> = (hands.iter_mut().zip(&mut next).zip(&mut firsts).enumerate())
                .map(|(worker, ((hand, next), firsts))| {
                    scope.spawn(move || {
                        while *next < KEYS {
                            // Each begins elsewhere for half of the keys and walks with the others for
                            // the rest.
                            let half = KEYS / 2;
                            let i = match *next {
                                n if n < half => (n + worker as u32 * half / WORKERS) % half,
                                n => n,
                            };
                            let ticket = shared.hash(&key(i));
                            if let Some(place) = shared.insert(hand, &key(i), ticket)? {
                                firsts.push((i, place));
                            }
                            *next += 1;
                        }
                        Ok(())
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let mut crowded: Vec<usize> = Vec::new();
        for halt in halts {
            match halt {
                Err(Halt::Crowded(number)) if !crowded.contains(&number) => crowded.push(number),
                Err(Halt::Full) => panic!("there is room"),
                _ => {}
            }
        }
        crowded.into_iter().for_each(|number| shared.grow(number).unwrap());
    }
    let mut all: Vec<(u32, RecordPlace)> = firsts.into_iter().flatten().collect();
    all.sort();
    let wrong = all.iter().map(|&(i, _)| i).zip(0..KEYS).find(|(found, expected)| found != expected);
    assert_eq!((all.len(), wrong), (KEYS as usize, None));
    for (i, place) in all {
        assert_eq!(shared.find(&key(i), Ticket::new(&key(i))), Some(place));
    }
    let untold: u64 = hands.iter().map(Hand::untold).sum();
    assert_eq!(shared.n_keys() + untold, u64::from(KEYS));
}
