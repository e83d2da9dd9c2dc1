//! Tries to falsify a choice: the definition of a persistent set, on states that can be reached without it.
//!
//! From the state, actions that were not chosen are followed as far as wanted. In every state on the way each
//! chosen action must still be enabled, and whatever else is enabled must be independent of it: it is still
//! enabled afterwards and shows the same errors, and both orders end in the same states. Nothing is proved
//! this way, but a set that is too small is found soon.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use system::{ActionId, FaultKind, Successors, SystemExt, TransitionSystem};

/// Why a choice is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// An action that was chosen.
    pub chosen: ActionId,
    /// An action that was not, and is not independent of it.
    pub other: ActionId,
    /// How many such actions had been taken before.
    pub distance: usize,
    /// What went wrong.
    pub what: &'static str,
}

/// What comes of an action: the ordinary states at its end, and errors on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The states.
    pub states: BTreeSet<Vec<u8>>,
    /// The errors: kind, line, column.
    pub faults: BTreeSet<(FaultKind, u32, u32)>,
    /// A step could not be completed, or there were too many.
    pub lost: bool,
}

/// Transient states of one action beyond which it is given up.
const MOST_TRANSIENT: usize = 2000;

/// Everything that is enabled in an ordinary state, with what comes of it.
pub fn outcomes(system: &dyn TransitionSystem, state: &[u8]) -> BTreeMap<ActionId, Outcome> {
    let mut first = Successors::default();
    system.expand(state, &mut first);
    let mut found = BTreeMap::new();
    for successor in &first.list {
        let mut outcome = Outcome::default();
        let mut open = vec![(successor.is_transient(), first.state(successor).map(<[u8]>::to_vec))];
        let fault = first.fault(successor);
        outcome.faults.extend(fault.map(|fault| (fault.kind, fault.line, fault.column)));
        outcome.lost |= !successor.has_state();
        let mut seen = HashSet::new();
        while let Some((transient, state)) = open.pop() {
            let Some(state) = state else { continue };
            if !transient {
                outcome.states.insert(state);
                continue;
            }
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > MOST_TRANSIENT {
                outcome.lost = true;
                break;
            }
            let mut next = Successors::default();
            system.expand(&state, &mut next);
            if next.list.is_empty() {
                outcome.states.insert(state);
            }
            for successor in &next.list {
                let fault = next.fault(successor);
                outcome.faults.extend(fault.map(|fault| (fault.kind, fault.line, fault.column)));
                outcome.lost |= !successor.has_state();
                open.push((successor.is_transient(), next.state(successor).map(<[u8]>::to_vec)));
            }
        }
        found.insert(successor.action, outcome);
    }
    found
}

/// Follows actions that are not in `chosen` to up to `limit` states and looks for one that does not leave
/// them alone.
pub fn persistent(
    system: &dyn TransitionSystem,
    state: &[u8],
    chosen: &[ActionId],
    limit: usize,
) -> Result<(), Broken> {
    let mut seen = HashSet::from([state.to_vec()]);
    let mut open = VecDeque::from([(state.to_vec(), 0usize, ActionId(u64::MAX))]);
    let (mut broken, invariants) = (Vec::new(), system.capabilities().invariants);
    while let Some((at, distance, by)) = open.pop_front() {
        // Where a promise is broken on which the choice relies, that is told, and nothing else.
        if let Some(invariants) = invariants {
            invariants.inspect(&at, &mut broken);
            if broken.drain(..).any(|fault| fault.kind == FaultKind::Assertion) {
                return Ok(());
            }
        }
        let enabled = outcomes(system, &at);
        for &t in chosen {
            let broken = |other, what| Broken { chosen: t, other, distance, what };
            let Some(done) = enabled.get(&t) else { return Err(broken(by, "it is no longer enabled")) };
            // What cannot be completed makes a search expand the state in full.
            if done.lost {
                return Ok(());
            }
            let after: Vec<_> = done.states.iter().map(|state| outcomes(system, state)).collect();
            for (&u, other) in enabled.iter().filter(|(u, _)| !chosen.contains(u)) {
                commute(system, (t, &after), (u, other)).map_err(|what| broken(u, what))?;
            }
        }
        for (u, outcome) in &enabled {
            if chosen.contains(u) {
                continue;
            }
            for next in &outcome.states {
                if seen.len() < limit && seen.insert(next.clone()) {
                    open.push_back((next.clone(), distance + 1, *u));
                }
            }
        }
    }
    Ok(())
}

/// Whether the two actions of one state are independent; of the first it is known what is enabled
/// afterwards.
fn commute(
    system: &dyn TransitionSystem,
    (t, after): (ActionId, &[BTreeMap<ActionId, Outcome>]),
    (u, other): (ActionId, &Outcome),
) -> Result<(), &'static str> {
    let mut one = BTreeSet::new();
    for enabled in after {
        let Some(outcome) = enabled.get(&u) else { return Err("it disables the other") };
        if outcome.faults != other.faults {
            return Err("it changes what goes wrong with the other");
        }
        one.extend(outcome.states.iter().cloned());
    }
    if other.lost {
        return Ok(());
    }
    let mut two = BTreeSet::new();
    for state in &other.states {
        let Some(outcome) = outcomes(system, state).remove(&t) else { return Err("the other disables it") };
        two.extend(outcome.states);
    }
    if one != two && !after.is_empty() {
        return Err("the order matters");
    }
    Ok(())
}
