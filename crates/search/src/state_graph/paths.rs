//! Shortest paths in a stored graph.

use super::csr::Csr;

/// The edges of a shortest path from the initial state to `goal`.
pub fn to(edges: &Csr, goal: u32) -> Option<Vec<u64>> {
    shortest(edges, 0, |_| true, |state| state == goal)
}

/// The edges of a shortest path from `start`, along edges that `may` be taken, to a state that is a `goal`:
/// none, if the start is one.
pub fn shortest(
    edges: &Csr,
    start: u32,
    may: impl Fn(u64) -> bool,
    goal: impl Fn(u32) -> bool,
) -> Option<Vec<u64>> {
    if goal(start) {
        return Some(Vec::new());
    }
    along(edges, start, &may, |edge| goal(edges.target(edge)))
}

/// The edges of a shortest path from `start` whose last edge is a `goal`.
pub fn along(
    edges: &Csr,
    start: u32,
    may: impl Fn(u64) -> bool,
    goal: impl Fn(u64) -> bool,
) -> Option<Vec<u64>> {
    const UNSEEN: u32 = u32::MAX;
    // For every state the state before it, and by which of its edges it was found.
    let mut before = vec![(UNSEEN, 0u32); edges.n_rows()];
    let mut queue = vec![start];
    let mut at = 0;
    while let Some(&state) = queue.get(at) {
        at += 1;
        if state as usize >= edges.n_rows() {
            continue;
        }
        for edge in edges.row(state as usize) {
            let target = edges.target(edge as u64);
            if !may(edge as u64) {
                continue;
            }
            let step = (state, (edge as u64 - edges.first(state as usize)) as u32);
            if goal(edge as u64) {
                return Some(back(edges, &before, start, step));
            }
            let Some(seen) = before.get_mut(target as usize) else { continue };
            if seen.0 == UNSEEN && target != start {
                *seen = step;
                queue.push(target);
            }
        }
    }
    None
}

/// The path whose last step is known.
fn back(edges: &Csr, before: &[(u32, u32)], start: u32, last: (u32, u32)) -> Vec<u64> {
    let mut path = Vec::new();
    let mut step = last;
    loop {
        path.push(edges.first(step.0 as usize) + u64::from(step.1));
        if step.0 == start {
            break;
        }
        step = before[step.0 as usize];
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shortest() {
        let graph: Csr = [vec![1, 2], vec![3], vec![3], vec![0]].into_iter().collect();
        assert_eq!(to(&graph, 3), Some(vec![0, 2]));
        assert_eq!(to(&graph, 0), Some(Vec::new()));
        assert_eq!(shortest(&graph, 0, |edge| edge != 0, |state| state == 3), Some(vec![1, 3]));
        assert_eq!(shortest(&graph, 3, |edge| edge != 4, |state| state == 2), None);
        assert_eq!(along(&graph, 0, |_| true, |edge| graph.target(edge) == 0), Some(vec![0, 2, 4]));
    }
}
