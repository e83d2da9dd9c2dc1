//! How much memory a store may use, and how much it uses: one account for all parts of a store.

use crate::Full;

/// An account of bytes that is never overdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    limit: u64,
    used: u64,
}

impl Budget {
    /// Nothing is used yet of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Budget { limit, used: 0 }
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Books `bytes` more; [`Full`], and nothing is booked, when fewer are left.
    pub fn take(&mut self, bytes: usize) -> Result<(), Full> {
        let used = self.used.saturating_add(bytes as u64);
        if used > self.limit {
            return Err(Full);
        }
        self.used = used;
        Ok(())
    }

    /// Gives `bytes` back.
    pub fn give(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes as u64);
    }

    /// Memory for exactly `len` elements, paid from this budget.
    pub fn reserved<T>(&mut self, len: usize) -> Result<Vec<T>, Full> {
        self.take(len.saturating_mul(size_of::<T>()))?;
        let mut memory = Vec::new();
        if memory.try_reserve_exact(len).is_err() {
            self.give(len * size_of::<T>());
            return Err(Full);
        }
        Ok(memory)
    }

    /// Exactly `len` elements, all `fill`, paid from this budget.
    pub fn filled<T: Clone>(&mut self, len: usize, fill: T) -> Result<Vec<T>, Full> {
        let mut memory = self.reserved(len)?;
        memory.resize(len, fill);
        Ok(memory)
    }

    /// Gives the memory of a vector that was paid from this budget back.
    pub fn free<T>(&mut self, memory: Vec<T>) {
        self.give(memory.capacity() * size_of::<T>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_never_overdrawn() {
        let mut budget = Budget::new(100);
        let words = budget.filled(10, 7u64).unwrap();
        assert_eq!((words.len(), budget.used()), (10, 80));
        assert_eq!(budget.filled(3, 7u64), Err(Full));
        assert_eq!(budget.take(21), Err(Full));
        assert_eq!(budget.take(20), Ok(()));
        budget.free(words);
        assert_eq!(budget.used(), 20);
        assert_eq!(budget.take(usize::MAX), Err(Full));
    }
}
