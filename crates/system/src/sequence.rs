//! A long sequence of few different values: each value is kept once, and of each place in the sequence only
//! its number.
//!
//! Paths are such sequences: ten million steps, but as many different ones as the model has statements. A
//! number below 128 takes one byte. Numbers are in groups of seven bits, the lowest first, and all but the
//! last with the eighth bit set, so that the sequence can be read from both ends.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

/// A sequence of values.
#[derive(Clone)]
pub struct Sequence<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
    bytes: Vec<u8>,
    len: usize,
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Sequence { values: Vec::new(), numbers: HashMap::new(), bytes: Vec::new(), len: 0 }
    }
}

impl<T: Clone + Eq + Hash> Sequence<T> {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value at the end.
    pub fn push(&mut self, value: T) {
        let number = self.number(value);
        self.push_number(number);
    }

    /// The number of a value, a new one if it has none yet.
    pub fn number(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let number = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    /// Adds the value with this number at the end; a number that no value has is ignored.
    pub fn push_number(&mut self, number: u32) {
        if number as usize >= self.values.len() {
            return;
        }
        let mut rest = number;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
        self.len += 1;
    }

    /// All values, each by itself: for short sequences.
    pub fn to_vec(&self) -> Vec<T> {
        self.iter().cloned().collect()
    }

    /// The first `n` values, and the others.
    pub fn split_at(&self, n: usize) -> (Self, Self) {
        (self.iter().take(n).cloned().collect(), self.iter().skip(n).cloned().collect())
    }
}

impl<T> Sequence<T> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The different values, in the order of their numbers.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { numbers: self.numbers(), values: &self.values }
    }

    /// The numbers of all values.
    pub fn numbers(&self) -> Numbers<'_> {
        Numbers { bytes: &self.bytes, left: self.len }
    }

    /// Where the next value will be, for [`Sequence::iter_from`].
    pub fn place(&self) -> SequencePosition {
        SequencePosition { byte: self.bytes.len(), index: self.len }
    }

    /// The values from a place on that this sequence has told.
    pub fn iter_from(&self, place: SequencePosition) -> Iter<'_, T> {
        let bytes = self.bytes.get(place.byte..).unwrap_or_default();
        let left = self.len.saturating_sub(place.index);
        Iter { numbers: Numbers { bytes, left }, values: &self.values }
    }

    /// Takes the last value away.
    pub fn pop(&mut self) -> Option<&T> {
        let mut numbers = self.numbers();
        let number = numbers.next_back()?;
        let left = numbers.bytes.len();
        self.bytes.truncate(left);
        self.len -= 1;
        self.values.get(number as usize)
    }

    /// The last value.
    pub fn last(&self) -> Option<&T> {
        self.iter().next_back()
    }

    /// Bytes of memory in use, without what the values themselves refer to.
    pub fn memory(&self) -> u64 {
        let each = 2 * size_of::<T>() + 2 * size_of::<u32>();
        (self.bytes.capacity() + self.values.len() * each) as u64
    }
}

/// A place in a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequencePosition {
    byte: usize,
    index: usize,
}

impl SequencePosition {
    /// How many values come before it.
    pub fn index(self) -> usize {
        self.index
    }
}

/// The numbers of the values of a sequence.
#[derive(Clone, Debug)]
pub struct Numbers<'a> {
    bytes: &'a [u8],
    left: usize,
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                self.left -= 1;
                return Some(number);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl DoubleEndedIterator for Numbers<'_> {
    fn next_back(&mut self) -> Option<u32> {
        let (&last, mut rest) = self.bytes.split_last()?;
        let mut number = u32::from(last);
        while let Some((&byte, before)) = rest.split_last().filter(|(byte, _)| **byte & 0x80 != 0) {
            number = number << 7 | u32::from(byte & 0x7f);
            rest = before;
        }
        self.bytes = rest;
        self.left -= 1;
        Some(number)
    }
}

impl ExactSizeIterator for Numbers<'_> {}

/// The values of a sequence.
#[derive(Debug)]
pub struct Iter<'a, T> {
    numbers: Numbers<'a>,
    values: &'a [T],
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { numbers: self.numbers.clone(), values: self.values }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.values.get(self.numbers.next()? as usize)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.values.get(self.numbers.next_back()? as usize)
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

impl<'a, T> IntoIterator for &'a Sequence<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Clone + Eq + Hash> Extend<T> for Sequence<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<'a, T: Clone + Eq + Hash + 'a> Extend<&'a T> for Sequence<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value.clone()));
    }
}

impl<T: Clone + Eq + Hash> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut sequence = Sequence::new();
        sequence.extend(values);
        sequence
    }
}

impl<T: Clone + Eq + Hash> From<Vec<T>> for Sequence<T> {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

/// Two sequences of the same values are equal, however the values are numbered.
impl<T: PartialEq> PartialEq for Sequence<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Sequence<T> {}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for Sequence<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for Sequence<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        self.iter().eq(Borrow::<[T]>::borrow(other).iter())
    }
}

impl<T: fmt::Debug> fmt::Debug for Sequence<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_from_both_ends() {
        for different in [1u32, 2, 127, 128, 129, 5000, 20_000] {
            let values: Vec<u32> =
                (0..50_000u32).map(|i| i.wrapping_mul(2_654_435_761) % different).collect();
            let sequence = Sequence::from(values.clone());
            assert_eq!(sequence, values);
            assert_eq!((sequence.len(), sequence.iter().len()), (values.len(), values.len()));
            assert!(sequence.iter().rev().eq(values.iter().rev()), "{different}");
            assert_eq!(sequence.last(), values.last());
            let mut iter = sequence.iter();
            assert_eq!((iter.next(), iter.next_back(), iter.len()), (values.first(), values.last(), 49_998));
            let (before, after) = sequence.split_at(1000);
            assert_eq!((before.len(), after.len()), (1000, 49_000));
            assert!(before.iter().chain(&after).eq(&values));
        }
        assert!(Sequence::<u8>::new().iter().next_back().is_none());
    }

    #[test]
    fn places_and_the_end() {
        let mut sequence = Sequence::new();
        let mut places = Vec::new();
        for i in 0..1000u32 {
            places.push(sequence.place());
            sequence.push(i % 300);
        }
        for (i, &place) in places.iter().enumerate() {
            assert_eq!(place.index(), i);
            assert!(sequence.iter_from(place).eq(sequence.iter().skip(i)), "{i}");
        }
        for i in (0..1000u32).rev() {
            assert_eq!(sequence.pop().copied(), Some(i % 300));
        }
        assert!(sequence.pop().is_none() && sequence.is_empty());
    }

    #[test]
    fn few_different_values_take_a_byte_each() {
        let sequence: Sequence<u64> = (0..1_000_000u64).map(|i| u64::MAX - i % 100).collect();
        assert!(sequence.memory() < 2_200_000, "{}", sequence.memory());
    }

    #[test]
    fn numbers_that_no_value_has_are_ignored() {
        let mut sequence = Sequence::from(vec!['a']);
        sequence.push_number(7);
        assert_eq!(sequence, ['a']);
    }
}
