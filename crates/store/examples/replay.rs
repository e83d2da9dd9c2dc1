//! Replays a recorded search on a store and says how fast and how small it was.
//!
//! `replay FILE [table|tree|cleary] [batch]`. The file is a sequence of records: a 32-bit little-endian
//! length and the bytes of a key. A set highest bit of the length marks a state that is expanded; the records
//! behind it are its successors.

#![allow(clippy::print_stdout)]

use std::time::Duration;
use store::{Batched, Full, Roots, Seen, Table, Tree};

/// A record: whether it is a parent, and its key.
type Record<'a> = (bool, &'a [u8]);

fn records(bytes: &[u8]) -> Vec<Record<'_>> {
    let mut all = Vec::new();
    let mut rest = bytes;
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let word = u32::from_le_bytes(*head);
        let Some((key, after)) = tail.split_at_checked((word & 0x7fff_ffff) as usize) else { break };
        all.push((word >> 31 == 1, key));
        rest = after;
    }
    all
}

/// Prepares the successors of `batch` parents together, then inserts them.
fn replay<S: Batched>(store: &mut S, records: &[Record<'_>], batch: usize) -> Result<(), Full> {
    let mut tickets = Vec::new();
    let mut parents = 0;
    for (i, &(parent, key)) in records.iter().enumerate() {
        if parent {
            parents += 1;
            if parents > batch {
                parents = 1;
                flush(store, &mut tickets)?;
            }
            if i == 0 {
                store.is_new(key)?;
            }
            store.depart(key);
        } else {
            tickets.push((key, store.hash(key)?));
        }
    }
    flush(store, &mut tickets)
}

fn flush<S: Batched>(store: &mut S, tickets: &mut Vec<(&[u8], S::Ticket)>) -> Result<(), Full> {
    tickets.iter_mut().for_each(|(_, ticket)| store.probe(ticket));
    for (key, ticket) in tickets.drain(..) {
        store.insert(key, ticket)?;
    }
    Ok(())
}

/// How long this thread has been on a processor; on a machine that does other work as well, waiting is not
/// counted.
fn processor_time() -> Result<Duration, Box<dyn std::error::Error>> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = statistics.split(' ').next().ok_or("no processor time")?.parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// Replays, and says what came out.
fn measure<S: Batched>(
    mut store: S,
    records: &[Record<'_>],
    batch: usize,
) -> Result<S, Box<dyn std::error::Error>> {
    let start = processor_time()?;
    replay(&mut store, records, batch).map_err(|Full| "full")?;
    let nanoseconds = (processor_time()? - start).as_nanos() as f64;
    let states = store.n_keys() as f64;
    println!(
        "{states} states, {} records, {:.3} s, {:.0} ns/record, {:.2} bytes/state",
        records.len(),
        nanoseconds / 1e9,
        nanoseconds / records.len() as f64,
        store.memory() as f64 / states,
    );
    Ok(store)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("replay FILE [table|tree|cleary] [batch]")?;
    let kind = arguments.get(1).map_or("cleary", String::as_str);
    let batch = arguments.get(2).map_or(Ok(16), |text| text.parse())?;
    let bytes = std::fs::read(file)?;
    let records = records(&bytes);
    print!("{file} {kind}: ");
    let roots = match kind {
        "table" => return measure(Table::new(u64::MAX), &records, batch).map(|_| ()),
        "tree" => Roots::Roomy,
        _ => Roots::Cleary,
    };
    let tree = measure(Tree::new(roots, u64::MAX), &records, batch)?;
    println!("  {:.3} nodes/state", tree.n_nodes() as f64 / tree.n_keys() as f64);
    Ok(())
}
