//! Sets of cells as bits.

/// A set of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// The empty set, of cells below `n`.
    pub fn new(n: usize) -> Self {
        Bits(vec![0; n.div_ceil(64)])
    }

    /// Puts a cell in or takes it out; true when that made a difference.
    pub fn set(&mut self, cell: u32, to: bool) -> bool {
        let mask = 1 << (cell % 64);
        let Some(word) = self.0.get_mut(cell as usize / 64) else { return false };
        let before = *word;
        *word = if to { before | mask } else { before & !mask };
        before != *word
    }

    /// Whether a cell is in it.
    pub fn has(&self, cell: u32) -> bool {
        self.0.get(cell as usize / 64).is_some_and(|word| word >> (cell % 64) & 1 != 0)
    }

    /// Whether one of the cells from `first` to before `end` is in it.
    pub fn has_any(&self, (first, end): (u32, u32)) -> bool {
        (first..end).any(|cell| self.has(cell))
    }

    /// Adds all of `other`; true when that made a difference.
    pub fn merge(&mut self, other: &Bits) -> bool {
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }
}
