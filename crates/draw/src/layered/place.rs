//! Where the cells of each layer are, sideways: as near to their neighbours as their order and sizes allow.
//!
//! Layer by layer the sum of weighted squares of the distances to the neighbours is made smallest, exactly,
//! by pooling cells that would meet (isotonic regression), downwards and upwards until little changes. Pieces
//! of long edges weigh more, so that these become straight.

use super::Layers;

const SWEEPS: usize = 120;

/// The middle of each cell; the leftmost side is 0.
pub(super) fn sideways(layers: &Layers, gap: f64) -> Vec<f64> {
    let mut x = vec![0.0; layers.cells.len()];
    for layer in &layers.order {
        let mut at = 0.0;
        for &cell in layer {
            x[cell] = at + layers.cells[cell].size.0 / 2.0;
            at += layers.cells[cell].size.0 + gap;
        }
    }
    let n = layers.order.len();
    for sweep in 0..SWEEPS {
        for i in 0..n {
            let layer = if sweep % 2 == 0 { i } else { n - 1 - i };
            settle(layers, layer, gap, &mut x);
        }
    }
    let left = |cell: usize| x[cell] - layers.cells[cell].size.0 / 2.0;
    let least = (0..x.len()).map(left).fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|x| *x = ((*x - least) * 10.0).round() / 10.0);
    x
}

/// How much a cell wants to be above or below another.
fn weight(layers: &Layers, a: usize, b: usize) -> f64 {
    match (layers.cells[a].is_way, layers.cells[b].is_way) {
        (true, true) => 8.0,
        (false, false) => 1.0,
        _ => 2.0,
    }
}

/// Cells that stand as near to each other as they may, and want to be somewhere together.
struct Pool {
    /// Where the first of them would be.
    wish: f64,
    weight: f64,
    /// How many.
    cells: usize,
}

/// Puts the cells of a layer where their neighbours are.
fn settle(layers: &Layers, layer: usize, gap: f64, x: &mut [f64]) {
    let order = &layers.order[layer];
    // Distances of the cells from the first one when all stand close.
    let mut offsets = Vec::with_capacity(order.len());
    let mut at = 0.0;
    for (i, &cell) in order.iter().enumerate() {
        if i > 0 {
            at += (layers.cells[order[i - 1]].size.0 + layers.cells[cell].size.0) / 2.0 + gap;
        }
        offsets.push(at);
    }
    let mut pools: Vec<Pool> = Vec::new();
    for (&cell, &offset) in order.iter().zip(&offsets) {
        let (mut sum, mut weights) = (0.0, 0.0);
        for &other in layers.above[cell].iter().chain(&layers.below[cell]) {
            let weight = weight(layers, cell, other);
            sum += weight * x[other];
            weights += weight;
        }
        // A cell without neighbours stays.
        let (wish, weight) = if weights > 0.0 { (sum / weights, weights) } else { (x[cell], 0.1) };
        let mut pool = Pool { wish: wish - offset, weight, cells: 1 };
        while let Some(last) = pools.pop_if(|last| last.wish >= pool.wish) {
            let weight = last.weight + pool.weight;
            let wish = (last.wish * last.weight + pool.wish * pool.weight) / weight;
            pool = Pool { wish, weight, cells: last.cells + pool.cells };
        }
        pools.push(pool);
    }
    let wishes = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.wish, pool.cells));
    for ((&cell, &offset), wish) in order.iter().zip(&offsets).zip(wishes) {
        x[cell] = wish + offset;
    }
}
