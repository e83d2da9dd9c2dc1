//! A run that is made step by step: sets say where it leads, the system itself takes the steps.

use search::state_graph::steps::{Steps, Target};
use system::{ActionId, Path, TransitionSystem};

use crate::branching::{give_up, got};
use crate::guided;
use crate::space::{Ended, Space};

/// A run so far.
pub(crate) struct Taken<'b> {
    system: &'b dyn TransitionSystem,
    /// The steps of the state that was expanded last.
    pub steps: Steps<'b>,
    /// The state where it is.
    pub state: Vec<u8>,
    /// The values of that state, in the order of levels.
    pub vector: Vec<u32>,
    /// Its actions.
    pub path: Path,
    /// How many actions there are up to the end of each step.
    pub ends: Vec<usize>,
    /// The processes that moved in each step.
    pub movers: Vec<Vec<u32>>,
}

impl<'b> Taken<'b> {
    /// A run at its beginning.
    pub fn new(system: &'b dyn TransitionSystem, space: &mut Space<'_>) -> Self {
        let mut state = Vec::new();
        if system.initial(&mut state).is_err() {
            give_up(Ended::Broken("there is no initial state".to_string()));
        }
        let vector = got(space.vector(&state));
        Taken {
            system,
            steps: Steps::new(system),
            state,
            vector,
            path: Path::new(),
            ends: Vec::new(),
            movers: Vec::new(),
        }
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Finds the steps of the state where it is.
    pub fn expand(&mut self) {
        got(guided::expand(&mut self.steps, &self.state));
    }

    /// All who move with these actions.
    pub fn movers(&self, actions: &[ActionId]) -> Vec<u32> {
        let Some(processes) = self.system.capabilities().processes else { return Vec::new() };
        let both = |action: &ActionId| {
            [Some(processes.process_of(*action)), processes.partner_of(*action)].into_iter().flatten()
        };
        actions.iter().flat_map(both).collect()
    }

    /// The actions of a step of the state that was expanded last.
    pub fn actions(&self, target: &Target) -> &[ActionId] {
        &self.steps.actions()[target.actions.clone()]
    }

    /// The values of the state to which such a step leads.
    pub fn vector_of(&self, target: &Target, space: &mut Space<'_>) -> Vec<u32> {
        got(space.vector(&self.steps.bytes()[target.bytes.clone()]))
    }

    /// Takes such a step; `vector` has the values of the state to which it leads.
    pub fn take(&mut self, target: &Target, vector: Vec<u32>) {
        let actions = &self.steps.actions()[target.actions.clone()];
        self.path.extend(actions);
        let movers = self.movers(actions);
        self.movers.push(movers);
        self.state = self.steps.bytes()[target.bytes.clone()].to_vec();
        self.ends.push(self.path.len());
        self.vector = vector;
    }
}
