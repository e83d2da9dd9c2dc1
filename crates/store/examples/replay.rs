//! Replays a recorded search on a tree store and says how fast and how small it was.
//!
//! `replay FILE [tree|cleary] [batch]`. The file is a sequence of records: a 32-bit little-endian length and the bytes of a
//! key. A set highest bit of the length marks a state that is expanded; the records behind it are its successors.

#![allow(clippy::print_stdout)]

use std::time::Instant;
use store::{Full, Roots, Seen, Tree};

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
fn replay(tree: &mut Tree, records: &[Record<'_>], batch: usize) -> Result<(), Full> {
    let mut tickets = Vec::new();
    let mut parents = 0;
    for (i, &(parent, key)) in records.iter().enumerate() {
        if parent {
            parents += 1;
            if parents > batch {
                parents = 1;
                flush(tree, &mut tickets)?;
            }
            if i == 0 {
                tree.is_new(key)?;
            }
            tree.depart(key);
        } else {
            tickets.push((key, tree.prepare(key)?));
        }
    }
    flush(tree, &mut tickets)
}

fn flush(tree: &mut Tree, tickets: &mut Vec<(&[u8], <Tree as Seen>::Ticket)>) -> Result<(), Full> {
    tickets.iter_mut().for_each(|(_, ticket)| tree.approach(ticket));
    for (key, ticket) in tickets.drain(..) {
        tree.insert(key, ticket)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("replay FILE [tree|cleary] [batch]")?;
    let kind = match arguments.get(1).map(String::as_str) {
        Some("tree") => Roots::Whole,
        _ => Roots::Cleary,
    };
    let batch = arguments.get(2).map_or(Ok(16), |text| text.parse())?;
    let bytes = std::fs::read(file)?;
    let records = records(&bytes);
    let mut tree = Tree::new(kind, u64::MAX);
    let start = Instant::now();
    replay(&mut tree, &records, batch).map_err(|Full| "full")?;
    let seconds = start.elapsed().as_secs_f64();
    let states = tree.n_keys() as f64;
    println!(
        "{file} {kind:?}: {states} states, {} records, {:.3} s, {:.0} ns/record, {:.3} nodes/state, {:.2} bytes/state",
        records.len(),
        seconds,
        seconds * 1e9 / records.len() as f64,
        tree.n_nodes() as f64 / states,
        tree.memory() as f64 / states,
    );
    Ok(())
}
