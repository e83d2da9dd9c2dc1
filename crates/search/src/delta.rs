//! The difference between two states, in both directions.
//!
//! A step changes a few bytes of a state that may have hundreds. A stack that keeps differences instead of states is
//! ten times smaller, and the state below is got back from the one above: `xor` undoes itself. States of different
//! lengths (a process was started or has ended) are kept whole.

/// First byte of a difference between states of the same length: runs of changed bytes follow, each as distance (16 bits),
/// length (8 bits), and the bytes `xor`ed.
const RUNS: u8 = 0;
/// First byte of a difference that is both states: the length of the first (32 bits), the first, the second.
const WHOLE: u8 = 1;
/// Equal bytes that end a run: fewer are cheaper inside it.
const GAP: usize = 3;

/// Appends the difference from one state to another.
pub fn write(from: &[u8], to: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    if from.len() == to.len() && write_runs(from, to, out) {
        return;
    }
    out.truncate(start);
    out.push(WHOLE);
    out.extend_from_slice(&(from.len() as u32).to_le_bytes());
    out.extend_from_slice(from);
    out.extend_from_slice(to);
}

/// False when a distance is too long.
fn write_runs(from: &[u8], to: &[u8], out: &mut Vec<u8>) -> bool {
    out.push(RUNS);
    let mut end = 0;
    let mut at = next_change(from, to, 0);
    while at < from.len() {
        let first = at;
        let mut last = at;
        at += 1;
        while at < from.len() && at - last <= GAP && at - first < 255 {
            if from[at] != to[at] {
                last = at;
            }
            at += 1;
        }
        let Ok(distance) = u16::try_from(first - end) else { return false };
        out.extend_from_slice(&distance.to_le_bytes());
        out.push((last - first + 1) as u8);
        out.extend(from[first..=last].iter().zip(&to[first..=last]).map(|(a, b)| a ^ b));
        end = last + 1;
        at = next_change(from, to, end);
    }
    true
}

/// The first place from `at` on where the two differ, or their length.
fn next_change(from: &[u8], to: &[u8], at: usize) -> usize {
    let words = from[at..].chunks_exact(8).zip(to[at..].chunks_exact(8));
    let equal = words.take_while(|(a, b)| a == b).count() * 8;
    let rest = from[at + equal..].iter().zip(&to[at + equal..]);
    at + equal + rest.take_while(|(a, b)| a == b).count()
}

/// Makes the second state out of the first.
pub fn redo(state: &mut Vec<u8>, delta: &[u8]) {
    apply(state, delta, |first, both| &both[first.len()..]);
}

/// Makes the first state out of the second.
pub fn undo(state: &mut Vec<u8>, delta: &[u8]) {
    apply(state, delta, |first, _| first);
}

/// `choose` is given the first state and both together.
fn apply(state: &mut Vec<u8>, delta: &[u8], choose: impl for<'d> Fn(&'d [u8], &'d [u8]) -> &'d [u8]) {
    match delta.split_first() {
        Some((&WHOLE, rest)) => {
            let Some((len, both)) = rest.split_first_chunk() else { return };
            let first = &both[..u32::from_le_bytes(*len) as usize];
            state.clear();
            state.extend_from_slice(choose(first, both));
        }
        Some((_, mut runs)) => {
            let mut at = 0;
            while let Some((&[low, high, len], rest)) = runs.split_first_chunk() {
                at += usize::from(u16::from_le_bytes([low, high]));
                let (changes, after) = rest.split_at(usize::from(len));
                state[at..].iter_mut().zip(changes).for_each(|(byte, change)| *byte ^= change);
                at += changes.len();
                runs = after;
            }
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn forth_and_back() {
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
            let mut state = from.clone();
            redo(&mut state, &delta);
            assert_eq!(state, to);
            undo(&mut state, &delta);
            assert_eq!(state, from);
        }
    }

    #[test]
    fn small_changes_are_small() {
        let from = [3; 300];
        let mut to = from;
        (to[0], to[2], to[250]) = (4, 4, 4);
        let mut delta = Vec::new();
        write(&from, &to, &mut delta);
        assert_eq!(delta.len(), 1 + 3 + 3 + 3 + 1);
    }
}
