//! What packed states show, told by the reference machine: the steps along a way of packed states, and the
//! errors behind its last one. Searches of packed states only notice that there is something, so those on a
//! card and those on processors ask here.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::failure::Failure;
use kernel::Model;
use machine::Interp;
use search::{Checks, Violation};
use system::{ActionId, Fault, Path, Successors, SystemExt, TransitionSystem};

/// States behind one that are looked at.
const MOST_BEHIND: usize = 100_000;

/// An error that a state shows.
pub struct Shown {
    /// What is wrong.
    pub fault: Fault,
    /// The steps from the state on.
    pub actions: Vec<ActionId>,
    /// There is nothing behind it.
    pub cut: bool,
}

/// What a state shows.
#[derive(Default)]
pub struct Look {
    /// A deadlock, or errors of its steps, behind transient states too.
    pub errors: Vec<Shown>,
    /// The steps to a transient state that can be reached from itself.
    pub endless: Option<Vec<ActionId>>,
    /// There is too much behind it.
    pub beyond: bool,
}

/// What the last state of a way shows, and the way.
pub struct AtTheEnd {
    /// The actions to it.
    pub path: Path,
    /// What it shows.
    pub look: Look,
}

impl AtTheEnd {
    fn along(&self, actions: &[ActionId]) -> Path {
        let mut path = self.path.clone();
        path.extend(actions);
        path
    }

    fn violation(&self, shown: &Shown) -> Violation {
        Violation { fault: shown.fault.clone(), path: self.along(&shown.actions), cycle: None }
    }

    /// The errors that count.
    pub fn violations<'a>(&'a self, checks: &'a Checks) -> impl Iterator<Item = Violation> + 'a {
        let counts = |shown: &&Shown| checks.count(shown.fault.kind);
        self.look.errors.iter().filter(counts).map(|shown| self.violation(shown))
    }

    /// Those that do not, but end a path.
    pub fn cuts<'a>(&'a self, checks: &'a Checks) -> impl Iterator<Item = Violation> + 'a {
        let cuts = |shown: &&Shown| shown.cut && !checks.count(shown.fault.kind);
        self.look.errors.iter().filter(cuts).map(|shown| self.violation(shown))
    }

    /// The way to an atomic sequence without end.
    pub fn endless(&self) -> Option<Path> {
        self.look.endless.as_ref().map(|actions| self.along(actions))
    }
}

/// Follows the packed states of a way, and looks what the last one shows.
pub fn at_the_end(interp: &Interp, model: &Model<'_>, way: &[Vec<u64>]) -> Result<AtTheEnd, Failure> {
    let internal = |why: &str| Failure::Internal(why.to_string());
    let mut path = Path::new();
    for pair in way.windows(2) {
        let (from, to) = (model.bytes(&pair[0]), model.bytes(&pair[1]));
        let steps = steps(interp, &from, &to);
        path.extend(&steps.ok_or_else(|| internal("a step of packed states cannot be taken"))?);
    }
    let last = way.last().ok_or_else(|| internal("a way without states"))?;
    let look = look(interp, &model.bytes(last));
    if look.errors.is_empty() && look.endless.is_none() {
        return Err(internal("packed states show an error that the reference machine does not see"));
    }
    Ok(AtTheEnd { path, look })
}

/// The actions from one state to another, through transient states.
fn steps(interp: &Interp, from: &[u8], to: &[u8]) -> Option<Vec<ActionId>> {
    let mut before: HashMap<Vec<u8>, (Vec<u8>, ActionId)> = HashMap::new();
    let mut queue = VecDeque::from([from.to_vec()]);
    let mut out = Successors::default();
    while let Some(state) = queue.pop_front().filter(|_| before.len() < MOST_BEHIND) {
        out.clear();
        interp.expand(&state, &mut out);
        for outcome in &out.list {
            let Some(next) = out.state(outcome) else { continue };
            if next == to {
                return Some(actions_to(&before, state, outcome.action));
            }
            if outcome.is_transient() && next != from && !before.contains_key(next) {
                before.insert(next.to_vec(), (state.clone(), outcome.action));
                queue.push_back(next.to_vec());
            }
        }
    }
    None
}

/// The actions to a state, and one more.
fn actions_to(
    before: &HashMap<Vec<u8>, (Vec<u8>, ActionId)>,
    mut state: Vec<u8>,
    last: ActionId,
) -> Vec<ActionId> {
    let mut actions = vec![last];
    while let Some((earlier, action)) = before.get(&state) {
        actions.push(*action);
        state.clone_from(earlier);
    }
    actions.reverse();
    actions
}

/// What a state shows.
pub fn look(interp: &Interp, state: &[u8]) -> Look {
    let mut look = Look::default();
    let mut queue = VecDeque::from([(state.to_vec(), Vec::new())]);
    let mut known = HashSet::from([state.to_vec()]);
    // Steps between transient states, for those that come back.
    let mut again: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut ways: HashMap<Vec<u8>, Vec<ActionId>> = HashMap::new();
    let mut out = Successors::default();
    while let Some((state, actions)) = queue.pop_front() {
        if known.len() >= MOST_BEHIND {
            look.beyond = true;
            break;
        }
        out.clear();
        interp.expand(&state, &mut out);
        if out.list.is_empty() && !interp.labels(&state).valid_end {
            let fault = interp.deadlock(&state);
            look.errors.push(Shown { fault, actions, cut: false });
            continue;
        }
        for outcome in &out.list {
            let mut along = actions.clone();
            along.push(outcome.action);
            for fault in out.faults_of(outcome) {
                let cut = !outcome.has_state();
                look.errors.push(Shown { fault: fault.clone(), actions: along.clone(), cut });
            }
            if let Some(next) = out.state(outcome).filter(|_| outcome.is_transient()) {
                again.push((state.clone(), next.to_vec()));
                if known.insert(next.to_vec()) {
                    ways.insert(next.to_vec(), along.clone());
                    queue.push_back((next.to_vec(), along));
                }
            }
        }
    }
    if again.len() > ways.len() {
        look.endless = on_a_circle(again, &ways);
    }
    look
}

/// The way to a state that lies on a circle, or behind which one lies: states without a step to one that is
/// left are taken away as long as there are any.
fn on_a_circle(
    mut steps: Vec<(Vec<u8>, Vec<u8>)>,
    ways: &HashMap<Vec<u8>, Vec<ActionId>>,
) -> Option<Vec<ActionId>> {
    loop {
        let n = steps.len();
        let begin: HashSet<Vec<u8>> = steps.iter().map(|step| step.0.clone()).collect();
        steps.retain(|step| begin.contains(&step.1));
        if steps.len() == n {
            break;
        }
    }
    // What is left and nearest to the beginning may only lead to the circle; who is led to twice is on it.
    let end: HashSet<&Vec<u8>> = steps.iter().map(|step| &step.1).collect();
    let on_it = |state: &&Vec<u8>| comes_back(&steps, state);
    end.into_iter().filter(on_it).filter_map(|state| ways.get(state)).min_by_key(|way| way.len()).cloned()
}

/// Whether a state can be reached from itself.
fn comes_back(steps: &[(Vec<u8>, Vec<u8>)], state: &Vec<u8>) -> bool {
    let mut reached: HashSet<&Vec<u8>> = HashSet::new();
    let mut todo = vec![state];
    while let Some(at) = todo.pop() {
        for (_, to) in steps.iter().filter(|step| step.0 == *at) {
            if to == state {
                return true;
            }
            if reached.insert(to) {
                todo.push(to);
            }
        }
    }
    false
}
