//! Sets of states as bits.

/// A set of numbers below a bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// No number below `len`.
    pub fn none(len: usize) -> Self {
        Bits { words: vec![0; len.div_ceil(64)], len }
    }

    /// All numbers below `len`.
    pub fn all(len: usize) -> Self {
        let mut bits = Bits { words: vec![u64::MAX; len.div_ceil(64)], len };
        bits.trim();
        bits
    }

    /// The bound.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no number is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many numbers are in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.words.capacity() * 8) as u64
    }

    /// Whether a number is in the set; none beyond the bound is.
    #[inline]
    pub fn has(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Adds a number below the bound; true when it is new.
    #[inline]
    pub fn insert(&mut self, number: usize) -> bool {
        debug_assert!(number < self.len, "{number} is below the bound");
        let (word, bit) = (&mut self.words[number / 64], 1 << (number % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Appends one more number, which is in the set or not.
    pub fn push(&mut self, member: bool) {
        self.len += 1;
        if self.words.len() * 64 < self.len {
            self.words.push(0);
        }
        if member {
            self.insert(self.len - 1);
        }
    }

    /// The numbers below a smaller bound.
    pub fn first(mut self, len: usize) -> Bits {
        debug_assert!(len <= self.len, "the bound does not grow");
        self.words.truncate(len.div_ceil(64));
        self.len = len;
        self.trim();
        self
    }

    /// Numbers of both.
    pub fn and(&self, other: &Bits) -> Bits {
        self.combined(other, |a, b| a & b)
    }

    /// Numbers of either.
    pub fn or(&self, other: &Bits) -> Bits {
        self.combined(other, |a, b| a | b)
    }

    /// All other numbers below the bound.
    pub fn not(&self) -> Bits {
        let mut bits = Bits { words: self.words.iter().map(|word| !word).collect(), len: self.len };
        bits.trim();
        bits
    }

    /// The numbers of the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(at * 64 + bit)
            })
        })
    }

    fn combined(&self, other: &Bits, combine: impl Fn(u64, u64) -> u64) -> Bits {
        debug_assert_eq!(self.len, other.len, "sets of the same states");
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| combine(a, b)).collect();
        Bits { words, len: self.len }
    }

    /// Bits beyond the bound are 0.
    fn trim(&mut self) {
        if let Some(last) = self.words.last_mut().filter(|_| !self.len.is_multiple_of(64)) {
            *last &= (1 << (self.len % 64)) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_those_of_numbers() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut odd = Bits::none(len);
            (0..len).filter(|n| n % 2 == 1).for_each(|n| assert!(odd.insert(n) && !odd.insert(n)));
            assert_eq!(odd.iter().collect::<Vec<_>>(), (0..len).filter(|n| n % 2 == 1).collect::<Vec<_>>());
            assert_eq!(odd.or(&odd.not()), Bits::all(len));
            assert_eq!(odd.and(&odd.not()), Bits::none(len));
            assert_eq!((odd.count(), odd.not().count()), (len / 2, len.div_ceil(2)));
            let mut pushed = Bits::default();
            (0..len).for_each(|n| pushed.push(n % 2 == 1));
            assert_eq!(pushed, odd);
            assert!(!odd.has(len) && !Bits::all(len).has(len));
        }
    }
}
