//! How long a look-up takes: `cargo run --release -p store --example fill -- N LEN STORE STRIDES`.
//!
//! Inserts N different keys of LEN bytes in batches of 64; three of four look-ups are of keys inserted
//! before. STORE is `table`, `sized` (a table that need not grow), `hash` or `bitstate`. STRIDES is how many
//! of the three strides are made for a whole batch at a time: 3, 2 (no second stride) or 1 (every key at
//! once).

#![allow(clippy::print_stdout)]

use std::time::Instant;

use store::{Batched, Bitstate, Full, HashCompaction, Table};

const BATCH: usize = 64;

/// The key with this number: few bytes differ, as between states.
fn write_key(number: u64, key: &mut [u8]) {
    key.fill(3);
    for (i, byte) in number.to_le_bytes().into_iter().take(5).enumerate() {
        let at = i * 7 % key.len();
        key[at] = byte;
    }
}

/// Nanoseconds of processor time so far, which other work on the machine disturbs less than the clock; the
/// clock where the system does not tell.
fn now(start: Instant) -> u64 {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let first = told.and_then(|text| text.split_whitespace().next().and_then(|word| word.parse().ok()));
    first.unwrap_or_else(|| start.elapsed().as_nanos() as u64)
}

/// Makes all batches and calls `each` with them and the number of different keys so far.
fn batches(n: u64, len: usize, mut each: impl FnMut(&[u8], u64) -> Result<(), Full>) -> Result<(), Full> {
    let mut keys = vec![0u8; BATCH * len];
    let (mut random, mut known) = (1u64, 0u64);
    while known < n {
        for (i, key) in keys.chunks_exact_mut(len).enumerate() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let old = (u128::from(random) * u128::from(known)) >> 64;
            write_key(if i % 4 == 0 { known } else { old as u64 }, key);
            known += u64::from(i % 4 == 0);
        }
        each(&keys, known)?;
    }
    Ok(())
}

fn run<S: Batched>(mut store: S, n: u64, len: usize, strides: u32) -> Result<(), Full> {
    let clock = Instant::now();
    let begin = now(clock);
    batches(n, len, |keys, _| {
        std::hint::black_box(keys);
        Ok(())
    })?;
    let start = now(clock);
    let making = (start - begin) as f64 / (n * 4) as f64;
    let mut before = (start, 0);
    batches(n, len, |keys, known| {
        batch(&mut store, keys, len, strides)?;
        if known.is_power_of_two() && known >= 1 << 16 || known >= n {
            let (time, all) = (now(clock), known * 4);
            let whole = (time - start) as f64 / all as f64 - making;
            let part = (time - before.0) as f64 / (all - before.1) as f64 - making;
            println!("{known:>10} keys: {whole:6.1} ns a look-up, {part:6.1} lately");
            before = (time, all);
        }
        Ok(())
    })?;
    let bytes = store.memory() as f64 / store.n_keys() as f64;
    println!("{} new, {bytes:.1} bytes a key (making a key: {making:.1} ns)", store.n_keys());
    Ok(())
}

#[inline(never)]
fn batch<S: Batched>(store: &mut S, keys: &[u8], len: usize, strides: u32) -> Result<(), Full> {
    if strides <= 1 {
        keys.chunks_exact(len).try_for_each(|key| store.is_new(key).map(|_| ()))?;
        return Ok(());
    }
    let mut tickets = Vec::with_capacity(BATCH);
    for key in keys.chunks_exact(len) {
        tickets.push(store.hash(key)?);
    }
    if strides > 2 {
        tickets.iter_mut().for_each(|ticket| store.probe(ticket));
    }
    for (key, ticket) in keys.chunks_exact(len).zip(tickets) {
        store.insert(key, ticket)?;
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, otherwise: u64| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(otherwise);
    let (n, len, strides) = (number(0, 10_000_000), number(1, 48).max(5) as usize, number(3, 3) as u32);
    let done = match words.get(2).map_or("table", String::as_str) {
        "table" => run(Table::default(), n, len, strides),
        "sized" => {
            let mut table = Table::default();
            table.reserve(n).and_then(|()| run(table, n, len, strides))
        }
        "hash" => run(HashCompaction::new(u64::MAX), n, len, strides),
        "bitstate" => Bitstate::new(n * 8, 3).and_then(|store| run(store, n, len, strides)),
        other => return Err(format!("no store is called {other}")),
    };
    done.map_err(|Full| "out of memory".to_owned())
}
