//! A sample of states, for what is learned from it: some in breadth, and random walks, since breadth alone
//! does not meet what lies deep.

use std::collections::{HashSet, VecDeque};

use machine::interp::anatomy::Anatomy;
use system::{Successors, TransitionSystem, WorkerExt};

use crate::learn::{Learned, Variables};

/// How much is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// States that are expanded in breadth.
    pub breadth: usize,
    /// Walks.
    pub walks: u64,
    /// Steps of a walk.
    pub steps: usize,
}

impl Default for Extent {
    fn default() -> Self {
        Extent { breadth: 10_000, walks: 100, steps: 500 }
    }
}

/// Learns from a sample; `apart` takes a state of the system apart. States of the sample are given back, for
/// whoever wants to try something on them.
pub fn learn(
    system: &dyn TransitionSystem,
    apart: &dyn Fn(&[u8]) -> Option<Anatomy>,
    variables: &Variables,
    (learned, extent): (&mut Learned, Extent),
) -> Vec<Vec<u8>> {
    let mut note = |state: &[u8]| apart(state).iter().for_each(|state| learned.state(variables, state));
    let mut initial = Vec::new();
    if system.initial(&mut initial).is_err() {
        return Vec::new();
    }
    note(&initial);
    let mut worker = system.worker();
    let mut out = Successors::default();
    let (mut known, mut queue) = (HashSet::from([initial.clone()]), VecDeque::from([initial.clone()]));
    let mut sample = Vec::new();
    while let Some(state) = queue.pop_front().filter(|_| sample.len() < extent.breadth) {
        out.clear();
        worker.expand(&state, &mut out);
        for next in out.list.iter().filter_map(|outcome| out.state(outcome)) {
            if known.len() < 4 * extent.breadth && known.insert(next.to_vec()) {
                note(next);
                queue.push_back(next.to_vec());
            }
        }
        sample.push(state);
    }
    if queue.is_empty() {
        return sample;
    }
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..extent.walks {
        let mut state = initial.clone();
        for _ in 0..extent.steps {
            out.clear();
            worker.expand(&state, &mut out);
            out.list.retain(|outcome| outcome.has_state());
            if out.list.is_empty() {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let chosen = out.list[(random >> 33) as usize % out.list.len()];
            let Some(next) = out.state(&chosen) else { break };
            note(next);
            state.clear();
            state.extend_from_slice(next);
        }
        sample.push(state);
    }
    sample
}
