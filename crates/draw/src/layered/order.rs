//! The order of the cells of each layer: barycentres downwards and upwards by turns, then neighbours change
//! places where that takes crossings away; the best order that was met is kept.

use super::Layers;

const SWEEPS: usize = 12;

/// Sorts all layers.
pub(super) fn sort(layers: &mut Layers) {
    let mut best = (crossings(layers), layers.order.clone());
    for sweep in 0..SWEEPS {
        let downwards = sweep % 2 == 0;
        let n = layers.order.len();
        for i in 1..n {
            let layer = if downwards { i } else { n - 1 - i };
            by_barycentre(layers, layer, downwards);
        }
        exchange(layers);
        let now = crossings(layers);
        if now < best.0 {
            best = (now, layers.order.clone());
        }
        if now == 0 {
            break;
        }
    }
    layers.order = best.1;
}

/// For each cell its place in its layer.
fn places(layers: &Layers) -> Vec<usize> {
    let mut places = vec![0; layers.cells.len()];
    for layer in &layers.order {
        layer.iter().enumerate().for_each(|(at, &cell)| places[cell] = at);
    }
    places
}

fn by_barycentre(layers: &mut Layers, layer: usize, downwards: bool) {
    let places = places(layers);
    let neighbours = if downwards { &layers.above } else { &layers.below };
    let key = |(at, &cell): (usize, &usize)| {
        let near = &neighbours[cell];
        let sum: usize = near.iter().map(|&other| places[other]).sum();
        let mean = if near.is_empty() { at as f64 } else { sum as f64 / near.len() as f64 };
        (mean, cell)
    };
    let mut keyed: Vec<(f64, usize)> = layers.order[layer].iter().enumerate().map(key).collect();
    // A stable sort: equal ones stay as they are.
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    layers.order[layer] = keyed.into_iter().map(|(_, cell)| cell).collect();
}

/// Neighbours change places as long as that helps.
fn exchange(layers: &mut Layers) {
    for _ in 0..4 {
        let mut better = false;
        let mut places = places(layers);
        for layer in 0..layers.order.len() {
            for at in 1..layers.order[layer].len() {
                let (left, right) = (layers.order[layer][at - 1], layers.order[layer][at]);
                let gain = |near: &[Vec<usize>]| {
                    let (now, then) = (
                        between(&near[left], &near[right], &places),
                        between(&near[right], &near[left], &places),
                    );
                    now as i64 - then as i64
                };
                if gain(&layers.above) + gain(&layers.below) > 0 {
                    layers.order[layer].swap(at - 1, at);
                    (places[left], places[right]) = (places[right], places[left]);
                    better = true;
                }
            }
        }
        if !better {
            return;
        }
    }
}

/// Crossings of the edges of two neighbours with one layer.
fn between(left: &[usize], right: &[usize], places: &[usize]) -> usize {
    left.iter().map(|&a| right.iter().filter(|&&b| places[b] < places[a]).count()).sum()
}

/// All crossings.
fn crossings(layers: &Layers) -> usize {
    let places = places(layers);
    let of_layer = |layer: &Vec<usize>| -> usize {
        let ends: Vec<usize> = layer
            .iter()
            .flat_map(|&cell| {
                let mut ends: Vec<usize> = layers.below[cell].iter().map(|&other| places[other]).collect();
                ends.sort_unstable();
                ends
            })
            .collect();
        inversions(ends)
    };
    layers.order.iter().map(of_layer).sum()
}

/// Pairs in the wrong order, counted by merging.
fn inversions(list: Vec<usize>) -> usize {
    fn sort(list: &mut Vec<usize>) -> usize {
        if list.len() < 2 {
            return 0;
        }
        let mut right = list.split_off(list.len() / 2);
        let mut left = std::mem::take(list);
        let mut found = sort(&mut left) + sort(&mut right);
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            if j == right.len() || (i < left.len() && left[i] <= right[j]) {
                list.push(left[i]);
                i += 1;
            } else {
                found += left.len() - i;
                list.push(right[j]);
                j += 1;
            }
        }
        found
    }
    let mut list = list;
    sort(&mut list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layered::Cell;

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(vec![0, 1, 2, 2]), 0);
        assert_eq!(inversions(vec![2, 1, 0]), 3);
        assert_eq!(inversions(vec![1, 0, 3, 2]), 2);
    }

    #[test]
    fn crossings_that_can_be_avoided_are() {
        let cell = |layer| Cell { layer, size: (10.0, 10.0), is_way: false };
        let mut layers = Layers {
            cells: [0, 0, 1, 1].map(cell).to_vec(),
            order: vec![vec![0, 1], vec![2, 3]],
            above: vec![vec![], vec![], vec![1], vec![0]],
            below: vec![vec![3], vec![2], vec![], vec![]],
        };
        assert_eq!(crossings(&layers), 1);
        sort(&mut layers);
        assert_eq!(crossings(&layers), 0);
    }
}
