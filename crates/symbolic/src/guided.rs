//! A path that is looked for state by state, where sets of states at a distance are too large.
//!
//! Saturation tells which states can reach the goal, but not how far it is, and the sets that tell that
//! (rings of pre-images) can be much larger than the set of all states. So the system itself is walked:
//! best-first, only through states from which the goal can be reached, and always on from a state that
//! differs at few levels from one vector of the goal, the latest first where several are as near. The path is
//! not a shortest one, and may not be found with the effort that is allowed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::AtomicBool;

use ldd::Set;
use search::limits::Budget;
use search::state_graph::steps::Steps;
use search::{Checks, Limits, Silent, Task};

use crate::space::{Ended, Space};

/// States that may be met, and bytes that they may take.
const MOST_STATES: usize = 1 << 18;
const MOST_BYTES: usize = 64 << 20;
/// Nodes of the goal that may be looked at to find a vector of it.
const MOST_NODES: usize = 1 << 20;

/// A state that was met.
struct Met {
    bytes: Vec<u8>,
    /// The one before it.
    before: usize,
}

/// Finds all steps of a state.
pub(crate) fn expand(steps: &mut Steps<'_>, state: &[u8]) -> Result<(), Ended> {
    let never = AtomicBool::new(false);
    let task = Task {
        checks: Checks::NONE,
        all_errors: true,
        seed: None,
        limits: Limits::default(),
        stop: &never,
        reduce: None,
    };
    let mut silent = Silent;
    let mut budget = Budget::new(&task, &mut silent);
    steps.expand(state, &mut budget).map_err(Ended::Stopped)
}

/// The states of a path to `goal`, without the first, which is `from`. All but the last are in `reaching`,
/// the states from which there is such a path. Nothing where none is found with the effort that is allowed.
pub(crate) fn path(
    space: &mut Space<'_>,
    (reaching, goal): (Set, Set),
    steps: &mut Steps<'_>,
    from: &[u8],
) -> Result<Option<Vec<Vec<u8>>>, Ended> {
    let first = space.vector(from)?;
    let Some(wanted) = space.known.ldd.nearest(goal, &first, MOST_NODES) else { return Ok(None) };
    let distance = |vector: &[u32]| vector.iter().zip(&wanted).filter(|(a, b)| a != b).count();
    let mut met = vec![Met { bytes: from.to_vec(), before: 0 }];
    let mut numbers = HashMap::from([(first.clone(), 0usize)]);
    let mut open = BinaryHeap::from([(Reverse(distance(&first)), 0usize)]);
    let mut bytes = 0;
    while let Some((_, number)) = open.pop() {
        if space.known.ldd.is_stopped() || met.len() >= MOST_STATES || bytes >= MOST_BYTES {
            break;
        }
        expand(steps, &met[number].bytes)?;
        for target in steps.targets() {
            let state = &steps.bytes()[target.bytes.clone()];
            let vector = space.vector(state)?;
            if !space.known.ldd.contains(reaching, &vector) || numbers.contains_key(&vector) {
                continue;
            }
            let next = met.len();
            bytes += state.len() + vector.len() * 4;
            met.push(Met { bytes: state.to_vec(), before: number });
            if space.known.ldd.contains(goal, &vector) {
                return Ok(Some(way_to(met, next)));
            }
            open.push((Reverse(distance(&vector)), next));
            numbers.insert(vector, next);
        }
    }
    Ok(None)
}

/// The states on the way to one that was met.
fn way_to(mut met: Vec<Met>, mut number: usize) -> Vec<Vec<u8>> {
    let mut way = Vec::new();
    while number != 0 {
        way.push(std::mem::take(&mut met[number].bytes));
        number = met[number].before;
    }
    way.reverse();
    way
}
