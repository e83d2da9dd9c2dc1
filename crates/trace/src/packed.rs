//! The path of a long trail, packed: words separated by spaces.
//!
//! A word is the number of a statement, or `N@B`: N steps that repeat those that began B steps before. They
//! may overlap: `0 1 999998@2` is a million steps of two statements by turns. So a loop that runs forever,
//! which is what makes runs long, takes a few words. What is repeated begins at most [`WINDOW`] steps before.

use std::collections::HashMap;
use std::fmt::Write;
use system::Sequence;

/// How far back a repetition may refer.
pub const WINDOW: usize = 1 << 16;
/// Steps of a trail that is read; a few words may claim any number.
pub const MOST_STEPS: usize = 1 << 30;
/// Steps that tell where the same happened before.
const CONTEXT: usize = 4;
/// Steps that are worth a repetition.
const WORTH: usize = 4;
/// Characters of a line, about.
const LINE: usize = 100;

/// The last steps.
#[derive(Default)]
struct Ring {
    numbers: Vec<u32>,
    len: usize,
}

impl Ring {
    fn push(&mut self, number: u32) {
        match self.numbers.get_mut(self.len % WINDOW) {
            Some(place) => *place = number,
            None => self.numbers.push(number),
        }
        self.len += 1;
    }

    /// A copy of the step this number of steps before the next one.
    fn back(&self, steps: usize) -> Option<u32> {
        let known = (1..=WINDOW).contains(&steps) && steps <= self.len;
        known.then(|| self.numbers[(self.len - steps) % WINDOW])
    }
}

/// Packs numbers; `line` takes the lines.
pub fn pack<E>(
    numbers: impl Iterator<Item = u32>,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let (mut ring, mut text) = (Ring::default(), String::new());
    let mut seen: HashMap<[u32; CONTEXT], usize> = HashMap::new();
    // How far back the present repetition goes, and how long it is.
    let (mut back, mut length) = (0, 0);
    for number in numbers {
        if length == 0 || ring.back(back) != Some(number) {
            flush(&ring, (back, length), &mut text);
            if text.len() > LINE {
                line(&text)?;
                text.clear();
            }
            let before = context(&ring).and_then(|context| seen.get(&context)).map_or(0, |at| ring.len - at);
            (back, length) = (before, 0);
            if ring.back(back) != Some(number) {
                word(&number.to_string(), &mut text);
            } else {
                length = 1;
            }
        } else {
            length += 1;
        }
        if let Some(context) = context(&ring) {
            if seen.len() > WINDOW {
                seen.clear();
            }
            seen.insert(context, ring.len);
        }
        ring.push(number);
    }
    flush(&ring, (back, length), &mut text);
    if text.is_empty() { Ok(()) } else { line(&text) }
}

/// The last steps, if there are enough.
fn context(ring: &Ring) -> Option<[u32; CONTEXT]> {
    let mut context = [0; CONTEXT];
    for (i, place) in context.iter_mut().enumerate() {
        *place = ring.back(i + 1)?;
    }
    Some(context)
}

/// Ends a repetition.
fn flush(ring: &Ring, (back, length): (usize, usize), text: &mut String) {
    if length >= WORTH {
        word(&format!("{length}@{back}"), text);
        return;
    }
    for number in (1..=length).rev().filter_map(|steps| ring.back(steps)) {
        word(&number.to_string(), text);
    }
}

fn word(word: &str, text: &mut String) {
    let space = if text.is_empty() { "" } else { " " };
    let _ = write!(text, "{space}{word}");
}

/// Unpacks lines into a sequence whose values have numbers already; the error is one sentence.
pub fn unpack<'a, T: Clone + Eq + std::hash::Hash>(
    lines: impl Iterator<Item = &'a str>,
    sequence: &mut Sequence<T>,
) -> Result<(), String> {
    let (mut ring, known) = (Ring::default(), sequence.values().len());
    for word in lines.flat_map(str::split_ascii_whitespace) {
        let wrong = || format!("{word:?} in \"path\" is no step");
        let (length, back) = match word.split_once('@') {
            Some((length, back)) => {
                (length.parse().map_err(|_| wrong())?, Some(back.parse().map_err(|_| wrong())?))
            }
            None => (1, None),
        };
        if sequence.len().saturating_add(length) > MOST_STEPS {
            return Err(format!("it has more than {MOST_STEPS} steps"));
        }
        for _ in 0..length {
            let number = match back {
                Some(back) => ring.back(back).ok_or_else(wrong)?,
                None => word.parse().ok().filter(|&n: &u32| (n as usize) < known).ok_or_else(wrong)?,
            };
            sequence.push_number(number);
            ring.push(number);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(numbers: &[u32]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = |text: &str| -> Result<(), ()> {
            lines.push(text.to_string());
            Ok(())
        };
        pack(numbers.iter().copied(), &mut line).unwrap();
        lines
    }

    fn unpacked(lines: &[String], known: u32) -> Result<Vec<u32>, String> {
        let mut sequence = Sequence::new();
        (0..known).for_each(|value| assert_eq!(sequence.number(value), value));
        unpack(lines.iter().map(String::as_str), &mut sequence)?;
        Ok(sequence.to_vec())
    }

    #[test]
    fn what_is_packed_comes_back() {
        let turns: Vec<u32> = (0..1_000_000).map(|i| i % 3).collect();
        let noise: Vec<u32> = (0..30_000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
        let far: Vec<u32> = (0..200_000u32).map(|i| (i % 70_000).wrapping_mul(2_654_435_761) >> 22).collect();
        let mixed: Vec<u32> = (0..50_000u32).map(|i| if i % 1000 == 0 { 9 } else { i % 7 }).collect();
        for numbers in [vec![], vec![3], vec![5; 4], vec![1, 2, 1, 2, 1, 2], turns.clone(), noise, far, mixed]
        {
            assert_eq!(unpacked(&packed(&numbers), 4096).as_ref(), Ok(&numbers));
        }
        assert_eq!(packed(&turns), ["0 1 2 0 1 2 0 999993@3"]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let refused = |text: &str| unpacked(&[text.to_string()], 3).unwrap_err();
        for text in ["3", "x", "1@1", "0 1@2", "0 5@0", "0 5@-1", "0 x@1", "-1", "0 99999999999999999999@1"] {
            assert!(refused(text).contains("is no step"), "{text}");
        }
        assert!(refused(&format!("0 {}@1", usize::MAX)).contains("more than"));
        assert_eq!(unpacked(&["0 1 4@2".to_string(), "2".to_string()], 3), Ok(vec![0, 1, 0, 1, 0, 1, 2]));
    }
}
