//! From the numbers of edges to actions: the states along a path are expanded once more.

use crate::edge_number::EdgeOrder;
use crate::expand::{Expander, Expansion};
use crate::limits::{Budget, Limits};
use crate::observer::Silent;
use crate::task::Task;
use std::sync::atomic::AtomicBool;
use system::{ActionId, Annotation, Path, Sequence, TransitionSystem};

/// The actions along the edges with these numbers, which lead back to the initial state, and then `more`.
/// `exact` is as it was when they were found ([`Expander::exact`]). No budget applies, and no clock: a
/// counterexample that was found must be told.
pub(crate) fn retrace(
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    exact: bool,
    edges: &Sequence<u32>,
    more: &[ActionId],
) -> Path {
    stop::regardless(|| expand_along(system, task, exact, edges, more))
}

/// Expands the states along a path.
fn expand_along(
    system: &dyn TransitionSystem,
    task: &Task<'_>,
    exact: bool,
    edges: &Sequence<u32>,
    more: &[ActionId],
) -> Path {
    let (mut path, mut actions) = (Path::new(), Vec::new());
    let stop = AtomicBool::new(false);
    let limits = Limits { depth: task.limits.depth, ..Limits::default() };
    let task = Task { limits, stop: &stop, ..*task };
    let mut silent = Silent;
    let mut budget = Budget::new(&task, &mut silent);
    let mut expander = Expander::new(system, task.reduce);
    expander.set_exact(exact);
    expander.choose_always();
    let (mut state, mut expansion) = (Vec::new(), Expansion::default());
    let (lean, mut annotation) = (task.is_lean(), Annotation::NONE);
    if system.initial(&mut state).is_err() {
        return path;
    }
    for &number in edges.iter().rev() {
        let (place, reordered) = EdgeOrder::decode(task.reduce.is_some(), number);
        expander.all = task.reduce.is_some() && !reordered;
        if !reordered {
            annotation = Annotation::NONE;
        }
        expansion.clear();
        let depth = path.len() as u64;
        let mut expanded = match lean {
            true => expander.expand_active(&state, annotation, depth, &mut budget, &mut expansion),
            false => expander.expand(&state, depth, &mut budget, &mut expansion),
        };
        if place >= expansion.edges().len() && expanded.is_ok() {
            expanded = expander.expand_rest(expansion.rest, depth, &mut budget, &mut expansion);
        }
        let Some(edge) = expansion.edges().get(place).filter(|_| expanded.is_ok()) else { break };
        annotation = expansion.annotation(place);
        actions.clear();
        actions.extend_from_slice(expander.before());
        expander.actions(edge, &mut actions);
        path.extend(&actions);
        state.clear();
        state.extend_from_slice(expansion.state(edge));
    }
    path.extend(more);
    path
}
