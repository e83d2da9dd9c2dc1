//! Sets of small numbers, one bit each, and matrices of bits.
//!
//! A [`BitSet`] grows as numbers are added; a [`BitMatrix`] has a fixed number of rows and columns. Rows are
//! whole words of 64 bits, and the bits beyond the last column are always 0, so that set operations and
//! counts go by words.

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
pub struct BitSet(Vec<u64>);

impl BitSet {
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
    pub fn add_all(&mut self, other: &BitSet) -> bool {
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
    #[inline]
    pub fn contains(&self, n: u32) -> bool {
        self.0.get(n as usize / 64).is_some_and(|word| word >> (n % 64) & 1 != 0)
    }

    /// Whether the two sets have a number in common.
    #[inline]
    pub fn meets(&self, other: &BitSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        ones(&self.0)
    }
}

impl FromIterator<u32> for BitSet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut set = BitSet::default();
        numbers.into_iter().for_each(|n| set.add(n));
        set
    }
}

/// The positions of the bits that are 1, ascending.
fn ones(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
        let words = std::iter::successors(Some(word).filter(|word| *word != 0), rest);
        words.map(move |word| i as u32 * 64 + word.trailing_zeros())
    })
}

/// A matrix of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitMatrix {
    n_rows: usize,
    n_columns: usize,
    /// Words of one row.
    stride: usize,
    words: Vec<u64>,
}

impl BitMatrix {
    /// A matrix of zeros.
    pub fn new(n_rows: usize, n_columns: usize) -> Self {
        let stride = n_columns.div_ceil(64);
        BitMatrix { n_rows, n_columns, stride, words: vec![0; n_rows * stride] }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Whether a bit is 1.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> bool {
        debug_assert!(column < self.n_columns, "column {column} of {}", self.n_columns);
        self.row(row)[column / 64] >> (column % 64) & 1 != 0
    }

    /// Makes a bit 1.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize) {
        debug_assert!(column < self.n_columns, "column {column} of {}", self.n_columns);
        self.row_mut(row)[column / 64] |= 1 << (column % 64);
    }

    /// Makes a bit 0.
    pub fn clear(&mut self, row: usize, column: usize) {
        debug_assert!(column < self.n_columns, "column {column} of {}", self.n_columns);
        self.row_mut(row)[column / 64] &= !(1 << (column % 64));
    }

    /// Makes all bits of a row 0.
    pub fn clear_row(&mut self, row: usize) {
        self.row_mut(row).fill(0);
    }

    /// Makes all bits of a row 1.
    pub fn fill_row(&mut self, row: usize) {
        let n = self.n_columns;
        for (i, word) in self.row_mut(row).iter_mut().enumerate() {
            let left = n - i * 64;
            *word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        }
    }

    /// The words of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.stride..(row + 1) * self.stride]
    }

    fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.words[row * self.stride..(row + 1) * self.stride]
    }

    /// Adds all columns of a row of `other`, which has as many columns.
    pub fn add_row(&mut self, row: usize, other: &BitMatrix, from: usize) {
        debug_assert_eq!(self.n_columns, other.n_columns);
        self.row_mut(row).iter_mut().zip(other.row(from)).for_each(|(word, more)| *word |= more);
    }

    /// Takes all columns of a row of `other`, which has as many columns, out of a row.
    pub fn subtract_row(&mut self, row: usize, other: &BitMatrix, from: usize) {
        debug_assert_eq!(self.n_columns, other.n_columns);
        self.row_mut(row).iter_mut().zip(other.row(from)).for_each(|(word, less)| *word &= !less);
    }

    /// Keeps the columns that a row of `other`, which has as many columns, has as well.
    pub fn intersect_row(&mut self, row: usize, other: &BitMatrix, from: usize) {
        debug_assert_eq!(self.n_columns, other.n_columns);
        self.row_mut(row).iter_mut().zip(other.row(from)).for_each(|(word, keep)| *word &= keep);
    }

    /// Whether a row has a column in common with a row of `other`.
    pub fn rows_meet(&self, row: usize, other: &BitMatrix, from: usize) -> bool {
        self.row(row).iter().zip(other.row(from)).any(|(a, b)| a & b != 0)
    }

    /// Whether every column of a row is one of a row of `other`.
    pub fn row_is_within(&self, row: usize, other: &BitMatrix, from: usize) -> bool {
        self.row(row).iter().zip(other.row(from)).all(|(a, b)| a & !b == 0)
    }

    /// The columns of a row that are 1, ascending.
    pub fn iter_row(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.row(row)).map(|column| column as usize)
    }

    /// Number of bits of a row that are 1.
    pub fn count_row(&self, row: usize) -> usize {
        self.row(row).iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Number of bits that are 1.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Share of the bits that are 1; 0 for a matrix without bits.
    pub fn density(&self) -> f64 {
        match self.n_rows * self.n_columns {
            0 => 0.0,
            bits => self.count() as f64 / bits as f64,
        }
    }

    /// Rows become columns.
    pub fn transposed(&self) -> BitMatrix {
        let mut turned = BitMatrix::new(self.n_columns, self.n_rows);
        for row in 0..self.n_rows {
            self.iter_row(row).for_each(|column| turned.set(column, row));
        }
        turned
    }

    /// Whether it equals its transpose.
    pub fn is_symmetric(&self) -> bool {
        self.n_rows == self.n_columns && *self == self.transposed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let (mut a, mut b) = (BitSet::default(), BitSet::default());
        assert!(a.is_empty() && !a.meets(&b));
        a.add(3);
        b.add(200);
        assert!(!a.meets(&b) && a.contains(3) && !a.contains(200) && !a.is_empty());
        assert!(a.add_all(&b) && !a.add_all(&b));
        assert!(a.meets(&b) && b.meets(&a) && a.contains(200));
        assert!(a.iter().eq([3, 200]));
        a.remove(200);
        a.remove(2000);
        assert!(!a.contains(200) && a.contains(3) && !a.meets(&b));
        assert!(BitSet::from_iter([64, 0, 63]).iter().eq([0, 63, 64]));
    }

    #[test]
    fn rows_are_sets_of_columns() {
        let mut matrix = BitMatrix::new(3, 130);
        [0, 63, 64, 129].into_iter().for_each(|column| matrix.set(1, column));
        assert!(matrix.iter_row(1).eq([0, 63, 64, 129]) && matrix.count_row(0) == 0);
        matrix.fill_row(2);
        assert_eq!((matrix.count_row(2), matrix.count()), (130, 134));
        let other = matrix.clone();
        assert!(matrix.row_is_within(1, &other, 2) && !matrix.row_is_within(2, &other, 1));
        assert!(matrix.rows_meet(1, &other, 2) && !matrix.rows_meet(0, &other, 2));
        matrix.subtract_row(2, &other, 1);
        assert_eq!(matrix.count_row(2), 126);
        matrix.intersect_row(2, &other, 1);
        assert_eq!(matrix.count_row(2), 0);
        matrix.add_row(0, &other, 1);
        matrix.clear(0, 64);
        assert!(matrix.iter_row(0).eq([0, 63, 129]) && !matrix.get(0, 64) && matrix.get(0, 129));
        matrix.clear_row(1);
        assert_eq!((matrix.count_row(0), matrix.count_row(1)), (3, 0));
    }

    #[test]
    fn transposition_is_its_own_inverse() {
        let mut matrix = BitMatrix::new(70, 5);
        for row in 0..70 {
            matrix.set(row, row % 5);
        }
        let turned = matrix.transposed();
        assert_eq!((turned.n_rows(), turned.n_columns()), (5, 70));
        assert!(turned.iter_row(2).all(|row| row % 5 == 2) && turned.transposed() == matrix);
        assert!((matrix.density() - 0.2).abs() < 1e-9);
        assert!(!matrix.is_symmetric() && BitMatrix::new(2, 2).is_symmetric());
    }
}
