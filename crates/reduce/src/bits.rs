//! Sets of small numbers as bits.

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number.
    pub fn add(&mut self, n: u32) {
        let word = n as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (n % 64);
    }

    /// Takes a number out.
    pub fn remove(&mut self, n: u32) {
        if let Some(word) = self.0.get_mut(n as usize / 64) {
            *word &= !(1 << (n % 64));
        }
    }

    /// Adds all numbers of another set; true when one is new.
    pub fn add_all(&mut self, other: &Bits) -> bool {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }

    /// Whether the number is in the set.
    pub fn contains(&self, n: u32) -> bool {
        self.0.get(n as usize / 64).is_some_and(|word| word >> (n % 64) & 1 != 0)
    }

    /// Whether the two have a number in common.
    #[inline]
    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether there is no number in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_different_length_meet() {
        let (mut a, mut b) = (Bits::default(), Bits::default());
        a.add(3);
        b.add(200);
        assert!(!a.meets(&b) && a.contains(3) && !a.contains(200) && !a.is_empty());
        assert!(a.add_all(&b) && !a.add_all(&b));
        assert!(a.meets(&b) && b.meets(&a) && a.contains(200));
        a.remove(200);
        a.remove(2000);
        assert!(!a.contains(200) && a.contains(3) && !a.meets(&b));
    }
}
