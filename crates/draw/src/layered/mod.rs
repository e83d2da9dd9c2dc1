//! Layered layout of directed graphs, after Sugiyama, Tagawa and Toda (1981), with the weights of Gansner,
//! Koutsofios, North and Vo (*A technique for drawing directed graphs*, 1993).
//!
//! Edges that close a cycle in a depth-first walk from the start are turned round for the layout, so that the
//! start is at the top and loops lead upwards. Nodes stand in even layers; in the odd layers between them
//! every label is a box of its own, so that no label meets another or a node. Long edges pass through a point
//! in each layer ([`order`] sorts the layers, [`place`] moves boxes sideways).

mod order;
mod place;

use std::collections::BTreeMap;

/// A box, by its width and height.
pub type Size = (f64, f64);
/// A point: to the right, downwards.
pub type Point = (f64, f64);

/// What is to be placed.
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    /// Sizes of the nodes.
    pub nodes: Vec<Size>,
    /// From, to, and the size of the label; at most one edge from one node to another. One from a node to
    /// itself hangs below it.
    pub edges: Vec<(usize, usize, Size)>,
    /// The node at the top.
    pub start: usize,
}

/// Where everything is.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// Width and height of the whole.
    pub size: Size,
    /// The middle of each node.
    pub nodes: Vec<Point>,
    /// The way of each edge, from its first node to its second.
    pub edges: Vec<Way>,
}

/// The way of an edge.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// The ends of the straight pieces between the layers, by turns: out of a layer, into the next.
    pub points: Vec<Point>,
    /// The middle of the label.
    pub label: Point,
}

/// Room between two boxes of a layer, and between two layers.
const GAP: f64 = 14.0;
const BETWEEN: f64 = 20.0;
/// How far from each other an edge leaves and reaches a node that it leads back to, half of it.
const APART: f64 = 6.0;
/// A layer of labels wider than this gets no further label if there is another place for it.
const WIDE: f64 = 700.0;

/// A box of a layer: a node, a label, or a point of a long edge.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub layer: usize,
    pub size: Size,
    /// It belongs to an edge and should stand above and below its neighbours.
    pub is_way: bool,
}

/// Cells, and pairs of them in layers that follow each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    pub cells: Vec<Cell>,
    /// The cells of each layer, from left to right.
    pub order: Vec<Vec<usize>>,
    /// The neighbours of each cell in the layer above, and below.
    pub above: Vec<Vec<usize>>,
    pub below: Vec<Vec<usize>>,
}

/// Places a graph.
pub fn place(boxes: &Boxes) -> Placed {
    if boxes.nodes.is_empty() {
        return Placed::default();
    }
    let turned = turned(boxes);
    let ranks = ranks(boxes, &turned);
    let (mut layers, ways) = build(boxes, &turned, &ranks);
    order::sort(&mut layers);
    let x = place::sideways(&layers, GAP);
    finish(boxes, &turned, &layers, &ways, &x)
}

/// Which edges lead back to where a walk from the start came from.
fn turned(boxes: &Boxes) -> Vec<bool> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); boxes.nodes.len()];
    for (number, &(from, _, _)) in boxes.edges.iter().enumerate() {
        out[from].push(number);
    }
    let (mut turned, mut state) = (vec![false; boxes.edges.len()], vec![0u8; boxes.nodes.len()]);
    let roots = std::iter::once(boxes.start).chain(0..boxes.nodes.len());
    for root in roots {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(&edge) = out[*node].get(*next) else {
                state[*node] = 2;
                stack.pop();
                continue;
            };
            *next += 1;
            let to = boxes.edges[edge].1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 => turned[edge] = to != boxes.edges[edge].0,
                _ => {}
            }
        }
    }
    turned
}

/// From the upper to the lower node.
fn downwards(boxes: &Boxes, turned: &[bool], edge: usize) -> (usize, usize) {
    let (from, to, _) = boxes.edges[edge];
    if turned[edge] { (to, from) } else { (from, to) }
}

/// The longest way down to each node, then as near to what is below as it can be.
fn ranks(boxes: &Boxes, turned: &[bool]) -> Vec<usize> {
    let n = boxes.nodes.len();
    let pairs: Vec<(usize, usize)> = (0..boxes.edges.len()).map(|e| downwards(boxes, turned, e)).collect();
    let (mut below, mut waiting) = (vec![Vec::new(); n], vec![0usize; n]);
    for &(up, down) in pairs.iter().filter(|(up, down)| up != down) {
        below[up].push(down);
        waiting[down] += 1;
    }
    let mut ranks = vec![0usize; n];
    let mut open: Vec<usize> = (0..n).filter(|&node| waiting[node] == 0).collect();
    let mut sorted = Vec::with_capacity(n);
    while let Some(node) = open.pop() {
        sorted.push(node);
        for &down in &below[node] {
            ranks[down] = ranks[down].max(ranks[node] + 1);
            waiting[down] -= 1;
            if waiting[down] == 0 {
                open.push(down);
            }
        }
    }
    debug_assert_eq!(sorted.len(), n, "turning edges leaves no cycle");
    for &node in sorted.iter().rev().filter(|&&node| node != boxes.start) {
        let incoming = pairs.iter().filter(|pair| pair.1 == node && pair.0 != node).count();
        let lowest = below[node].iter().map(|&down| ranks[down] - 1).min();
        // Going down makes edges to below shorter and those from above longer.
        if let Some(lowest) = lowest.filter(|_| below[node].len() > incoming) {
            ranks[node] = ranks[node].max(lowest);
        }
    }
    ranks
}

/// The cells of an edge from the upper to the lower node, without these, and which of them is the label.
pub(crate) struct Chain {
    cells: Vec<usize>,
    label: usize,
}

fn build(boxes: &Boxes, turned: &[bool], ranks: &[usize]) -> (Layers, Vec<Chain>) {
    let mut layers = Layers::default();
    for (&size, &rank) in boxes.nodes.iter().zip(ranks) {
        layers.cells.push(Cell { layer: 2 * rank, size, is_way: false });
    }
    let mut widths: BTreeMap<usize, f64> = BTreeMap::new();
    let mut chains = Vec::new();
    let mut links = Vec::new();
    for (edge, &(_, _, size)) in boxes.edges.iter().enumerate() {
        let (up, down) = downwards(boxes, turned, edge);
        let own = up == down;
        let (first, last) = (2 * ranks[up] + 1, if own { 2 * ranks[up] + 1 } else { 2 * ranks[down] - 1 });
        let label = label_layer(first, last, turned[edge], size.0, &mut widths);
        let begin = layers.cells.len();
        for layer in first..=last {
            let size = if layer == label { size } else { (6.0, 0.0) };
            layers.cells.push(Cell { layer, size, is_way: true });
        }
        let cells: Vec<usize> = (begin..layers.cells.len()).collect();
        let below: &[usize] = if own { &[] } else { &[down] };
        let all: Vec<usize> = [&[up], &cells[..], below].concat();
        links.extend(all.windows(2).map(|pair| (pair[0], pair[1])));
        chains.push(Chain { cells, label: label - first });
    }
    let (cells, n) = (layers.cells.len(), layers.cells.iter().map(|cell| cell.layer + 1).max().unwrap_or(0));
    (layers.above, layers.below) = (vec![Vec::new(); cells], vec![Vec::new(); cells]);
    for (up, down) in links {
        layers.below[up].push(down);
        layers.above[down].push(up);
    }
    layers.order = vec![Vec::new(); n];
    first_order(boxes.start, &mut layers);
    (layers, chains)
}

/// The layer of a label: near the node where its edge begins, unless that is full and others are not.
fn label_layer(
    first: usize,
    last: usize,
    turned: bool,
    width: f64,
    widths: &mut BTreeMap<usize, f64>,
) -> usize {
    let mut candidates: Vec<usize> = (first..=last).step_by(2).collect();
    if turned {
        candidates.reverse();
    }
    let used = |layer: usize| widths.get(&layer).copied().unwrap_or(0.0);
    let roomy = candidates.iter().copied().find(|&layer| used(layer) + width < WIDE);
    let least = candidates.iter().copied().min_by(|&a, &b| used(a).total_cmp(&used(b)));
    let layer = roomy.or(least).unwrap_or(first);
    *widths.entry(layer).or_default() += width + GAP;
    layer
}

/// The cells of each layer in the order of a depth-first walk.
fn first_order(start: usize, layers: &mut Layers) {
    let mut seen = vec![false; layers.cells.len()];
    for root in std::iter::once(start).chain(0..layers.cells.len()) {
        let mut stack = vec![root];
        while let Some(cell) = stack.pop() {
            if std::mem::replace(&mut seen[cell], true) {
                continue;
            }
            layers.order[layers.cells[cell].layer].push(cell);
            stack.extend(layers.below[cell].iter().rev());
        }
    }
}

fn finish(boxes: &Boxes, turned: &[bool], layers: &Layers, chains: &[Chain], x: &[f64]) -> Placed {
    let height = |layer: &Vec<usize>| layer.iter().map(|&cell| layers.cells[cell].size.1).fold(0.0, f64::max);
    let mut tops = Vec::new();
    let mut y = 0.0;
    for layer in &layers.order {
        tops.push((y, y + height(layer)));
        y += height(layer) + BETWEEN;
    }
    let middle = |cell: usize| {
        let (top, bottom) = tops[layers.cells[cell].layer];
        (x[cell], (top + bottom) / 2.0)
    };
    let way = |(edge, chain): (usize, &Chain)| {
        let (up, down) = downwards(boxes, turned, edge);
        let label = middle(chain.cells[chain.label]);
        if up == down {
            let ((x, y), bottom) = (middle(up), middle(up).1 + boxes.nodes[up].1 / 2.0);
            let top = label.1 - boxes.edges[edge].2.1 / 2.0;
            debug_assert!(y < top, "a label stands below its node");
            let points =
                vec![(x - APART, bottom), (label.0 - 2.0 * APART, top), (label.0 + 2.0 * APART, top)];
            return Way { points: [points, vec![(x + APART, bottom)]].concat(), label };
        }
        let leave = |cell: usize| {
            let at = middle(cell);
            (at.0, at.1 + boxes.nodes[cell].1 / 2.0)
        };
        let reach = |cell: usize| {
            let at = middle(cell);
            (at.0, at.1 - boxes.nodes[cell].1 / 2.0)
        };
        let mut points = vec![leave(up)];
        for &cell in &chain.cells {
            let (top, bottom) = tops[layers.cells[cell].layer];
            points.extend([(x[cell], top), (x[cell], bottom)]);
        }
        points.push(reach(down));
        if turned[edge] {
            points.reverse();
        }
        Way { points, label }
    };
    let right = |cell: usize| x[cell] + layers.cells[cell].size.0 / 2.0;
    Placed {
        size: ((0..layers.cells.len()).map(right).fold(0.0, f64::max), (y - BETWEEN).max(0.0)),
        nodes: (0..boxes.nodes.len()).map(middle).collect(),
        edges: chains.iter().enumerate().map(way).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of numbers, so that the graphs are the same each time.
    fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
        move |below| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below.max(1)
        }
    }

    fn random(n: usize, edges: usize, seed: u64) -> Boxes {
        let mut next = numbers(seed);
        let mut boxes = Boxes { nodes: vec![(26.0, 26.0); n], ..Boxes::default() };
        for _ in 0..edges {
            let (from, to) = (next(n), next(n));
            let known = boxes.edges.iter().any(|&(a, b, _)| (a, b) == (from, to));
            if !known {
                boxes.edges.push((from, to, (30.0 + next(150) as f64, 14.0)));
            }
        }
        boxes
    }

    fn overlap(a: (Point, Size), b: (Point, Size)) -> bool {
        let apart = |a: f64, b: f64, sizes: f64| (a - b).abs() + 0.01 >= sizes / 2.0;
        !apart(a.0.0, b.0.0, a.1.0 + b.1.0) && !apart(a.0.1, b.0.1, a.1.1 + b.1.1)
    }

    #[test]
    fn nothing_overlaps() {
        for seed in 0..20 {
            let boxes = random(3 + seed as usize * 2, 8 + seed as usize * 4, seed);
            let placed = place(&boxes);
            let nodes = placed.nodes.iter().copied().zip(boxes.nodes.iter().copied());
            let labels = placed.edges.iter().zip(&boxes.edges).map(|(way, edge)| (way.label, edge.2));
            let all: Vec<(Point, Size)> = nodes.chain(labels).collect();
            for (i, &a) in all.iter().enumerate() {
                assert!(a.0.0 - a.1.0 / 2.0 > -0.01 && a.0.0 + a.1.0 / 2.0 <= placed.size.0 + 0.01);
                assert!(a.0.1 - a.1.1 / 2.0 > -0.01 && a.0.1 + a.1.1 / 2.0 <= placed.size.1 + 0.01);
                assert!(!all[i + 1..].iter().any(|&b| overlap(a, b)), "seed {seed}");
            }
        }
    }

    #[test]
    fn the_start_is_at_the_top_and_loops_lead_upwards() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3)].map(|(a, b)| (a, b, (40.0, 14.0)));
        let placed = place(&Boxes { nodes: vec![(26.0, 26.0); 4], edges: edges.to_vec(), start: 0 });
        let y: Vec<f64> = placed.nodes.iter().map(|node| node.1).collect();
        assert!(y[0] < y[1] && y[1] < y[2] && y[2] < y[3], "{y:?}");
        let back = &placed.edges[2].points;
        assert!(back[0].1 > back[back.len() - 1].1);
        // A way leaves its node at its edge and reaches the other one.
        assert_eq!(placed.edges[0].points[0], (placed.nodes[0].0, placed.nodes[0].1 + 13.0));
    }

    #[test]
    fn the_same_graph_is_placed_the_same_way() {
        let boxes = random(40, 90, 7);
        let (a, b) = (place(&boxes), place(&boxes));
        assert_eq!(format!("{a:?}"), format!("{b:?}"));
        assert!(place(&Boxes::default()).nodes.is_empty());
    }
}
