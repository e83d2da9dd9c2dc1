//! Edges as compressed sparse rows: the targets of all states in one array, and where each state's begin.

use std::collections::TryReserveError;
use std::ops::Range;

/// Edges of a graph, in the order of their sources. Targets that were never expanded have no row.
#[derive(Debug, Default)]
pub struct Csr {
    /// Where the targets of each state begin, and the end.
    offsets: Vec<u64>,
    targets: Vec<u32>,
}

impl Csr {
    /// The number of states whose edges are known.
    pub fn n_rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The number of edges.
    pub fn n_edges(&self) -> usize {
        self.targets.len()
    }

    /// The first edge of a state.
    #[inline]
    pub fn first(&self, state: usize) -> u64 {
        self.offsets[state]
    }

    /// The edges of a state.
    #[inline]
    pub fn row(&self, state: usize) -> Range<usize> {
        self.offsets[state] as usize..self.offsets[state + 1] as usize
    }

    /// The targets of a state's edges.
    #[inline]
    pub fn targets(&self, state: usize) -> &[u32] {
        &self.targets[self.row(state)]
    }

    /// The target of an edge.
    #[inline]
    pub fn target(&self, edge: u64) -> u32 {
        self.targets[edge as usize]
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.offsets.capacity() * 8 + self.targets.capacity() * 4) as u64
    }

    /// The edges for which `keep` holds, backwards; targets that have no row are left out.
    pub fn transposed(&self, keep: impl Fn(usize) -> bool) -> Csr {
        let n = self.n_rows();
        let known = |edge: usize| keep(edge) && (self.targets[edge] as usize) < n;
        let mut offsets = vec![0u64; n + 1];
        for edge in (0..self.targets.len()).filter(|&edge| known(edge)) {
            offsets[self.targets[edge] as usize + 1] += 1;
        }
        for at in 1..=n {
            offsets[at] += offsets[at - 1];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; offsets[n] as usize];
        for source in 0..n {
            for edge in self.row(source).filter(|&edge| known(edge)) {
                let place = &mut next[self.targets[edge] as usize];
                targets[*place as usize] = source as u32;
                *place += 1;
            }
        }
        Csr { offsets, targets }
    }
}

/// Appends to an array of as many items as a graph has edges or states. It grows by a quarter: the system
/// moves large arrays without copying them, and half of one should not stand idle.
#[inline]
pub(super) fn push_one<T>(items: &mut Vec<T>, item: T) -> Result<(), TryReserveError> {
    if items.len() == items.capacity() {
        items.try_reserve_exact((items.len() / 4).max(64))?;
    }
    items.push(item);
    Ok(())
}

/// A graph whose rows are written one after another.
#[derive(Debug)]
pub struct CsrBuilder {
    csr: Csr,
}

impl Default for CsrBuilder {
    fn default() -> Self {
        CsrBuilder { csr: Csr { offsets: vec![0], targets: Vec::new() } }
    }
}

impl CsrBuilder {
    /// Adds an edge of the state that comes next.
    #[inline]
    pub fn push(&mut self, target: u32) -> Result<(), TryReserveError> {
        push_one(&mut self.csr.targets, target)
    }

    /// Adds all edges of the state that comes next.
    pub fn push_row(&mut self, targets: impl Iterator<Item = u32>) {
        self.csr.targets.extend(targets);
        self.csr.offsets.push(self.csr.targets.len() as u64);
    }

    /// All edges of a state are there.
    #[inline]
    pub fn end_row(&mut self) -> Result<(), TryReserveError> {
        push_one(&mut self.csr.offsets, self.csr.targets.len() as u64)
    }

    /// The number of states whose edges are there.
    pub fn n_rows(&self) -> usize {
        self.csr.n_rows()
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        self.csr.memory()
    }

    /// The graph. Edges of a state that were written in part are dropped.
    pub fn finish(mut self) -> Csr {
        let end = self.csr.offsets.last().map_or(0, |&end| end as usize);
        self.csr.targets.truncate(end);
        self.csr
    }
}

impl FromIterator<Vec<u32>> for Csr {
    fn from_iter<I: IntoIterator<Item = Vec<u32>>>(rows: I) -> Self {
        let mut builder = CsrBuilder::default();
        rows.into_iter().for_each(|row| builder.push_row(row.into_iter()));
        builder.csr
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_the_way_back() {
        let graph: Csr = [vec![1, 2, 1], vec![], vec![0]].into_iter().collect();
        assert_eq!((graph.n_rows(), graph.n_edges(), graph.targets(0)), (3, 4, &[1, 2, 1][..]));
        let back = graph.transposed(|_| true);
        assert_eq!((back.targets(0), back.targets(1), back.targets(2)), (&[2][..], &[0, 0][..], &[0][..]));
        assert_eq!(graph.transposed(|edge| edge > 0).targets(1), [0]);
        assert_eq!((graph.first(2), graph.target(3)), (3, 0));
    }

    #[test]
    fn a_row_that_was_not_finished_is_dropped() {
        let mut builder = CsrBuilder::default();
        builder.push(1).unwrap();
        builder.end_row().unwrap();
        builder.push(0).unwrap();
        let graph = builder.finish();
        assert_eq!((graph.n_rows(), graph.n_edges()), (1, 1));
        assert_eq!(graph.transposed(|_| true).n_edges(), 0, "state 1 has no row");
    }
}
