//! The difference between two states.
//!
//! A step changes a few bytes of a state that may have hundreds. A stack that keeps differences instead of
//! states is ten times smaller. A state of another length than the one before (a process was started or has
//! ended) is kept whole.

use std::ops::Range;

/// First byte of a difference between states of the same length. For each eight bytes with a change there
/// follow: how many eights are skipped before (8 bits), which of the eight bytes change (a bit each), and
/// these bytes `xor`ed.
const CHANGES: u8 = 0;
/// First byte of a difference that is the second state.
const WHOLE: u8 = 1;

/// Appends the difference from one state to another.
pub fn write(from: &[u8], to: &[u8], out: &mut Vec<u8>) {
    if from.len() == to.len() {
        return write_changes(from, to, out);
    }
    out.push(WHOLE);
    out.extend_from_slice(to);
}

fn write_changes(from: &[u8], to: &[u8], out: &mut Vec<u8>) {
    out.push(CHANGES);
    let (old, new) = (from.chunks_exact(8), to.chunks_exact(8));
    let last = end(from, old.remainder()) ^ end(to, new.remainder());
    let mut skipped = 0;
    for (old, new) in old.zip(new) {
        write_eight(word(old) ^ word(new), &mut skipped, out);
    }
    write_eight(last, &mut skipped, out);
}

#[inline(always)]
fn write_eight(mut difference: u64, skipped: &mut u8, out: &mut Vec<u8>) {
    if difference == 0 && *skipped < u8::MAX {
        *skipped += 1;
        return;
    }
    let (mut bits, mut changes, mut n) = (0u8, 0, 0);
    while difference != 0 {
        let byte = difference.trailing_zeros() / 8;
        let change = difference >> (8 * byte) & 0xff;
        changes |= change << (8 * n);
        bits |= 1 << byte;
        difference ^= change << (8 * byte);
        n += 1;
    }
    let [a, b, c, d, e, f, g, h] = changes.to_le_bytes();
    out.extend_from_slice(&[std::mem::take(skipped), bits, a, b, c, d, e, f, g, h]);
    out.truncate(out.len() - 8 + n as usize);
}

/// Eight bytes as a word.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The last bytes of a state, fewer than eight, as a word; they are read together with bytes in front of them
/// if there are enough.
#[inline(always)]
fn end(state: &[u8], bytes: &[u8]) -> u64 {
    match state.last_chunk() {
        _ if bytes.is_empty() => 0,
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * bytes.len()),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// Makes the second state out of the first, which lies among these states, and appends it to them.
pub fn redo(states: &mut Vec<u8>, from: Range<usize>, delta: &[u8]) {
    match delta.split_first() {
        Some((&WHOLE, state)) => states.extend_from_slice(state),
        Some((_, changes)) => {
            let start = states.len();
            states.extend_from_within(from);
            change(&mut states[start..], changes);
        }
        None => {}
    }
}

fn change(state: &mut [u8], mut changes: &[u8]) {
    let mut at = 0;
    while let Some((&[skipped, mut bits], mut rest)) = changes.split_first_chunk() {
        at += 8 * usize::from(skipped);
        while let (true, Some((change, more))) = (bits != 0, rest.split_first()) {
            if let Some(byte) = state.get_mut(at + bits.trailing_zeros() as usize) {
                *byte ^= change;
            }
            bits &= bits - 1;
            rest = more;
        }
        at += 8;
        changes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_state_comes_back() {
        let mut random = Random::new(5);
        for round in 0..4000 {
            let len = [0, 1, 7, 8, 40, 300, 70_000][random.below(if round % 50 == 0 { 7 } else { 6 })];
            let from: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
            let mut to = from.clone();
            if random.below(5) == 0 {
                to.resize(random.below(90), 7);
            }
            for _ in 0..random.below(12) {
                if !to.is_empty() {
                    let at = random.below(to.len());
                    to[at] = random.below(256) as u8;
                }
            }
            let mut delta = Vec::new();
            write(&from, &to, &mut delta);
            let mut states = [&[9; 3], from.as_slice()].concat();
            redo(&mut states, 3..3 + from.len(), &delta);
            assert_eq!(states[3..], [from, to].concat());
        }
    }

    #[test]
    fn small_changes_are_small() {
        let from = [3; 300];
        let mut to = from;
        (to[0], to[2], to[250]) = (4, 4, 4);
        let mut delta = Vec::new();
        write(&from, &to, &mut delta);
        assert_eq!(delta.len(), 1 + (2 + 2) + (2 + 1));
    }
}
