//! A labelled transition system: a graph whose states and steps have labels that are words.

use search::state_graph::csr::Csr;

/// The label that a silent step is written with.
pub const SILENT: &str = "tau";

/// States are numbers from 0, the initial one.
#[derive(Debug, Default)]
pub struct Lts {
    /// The steps.
    pub edges: Csr,
    /// The label of each step, by number.
    pub labels: Vec<u32>,
    /// What labels are called; a silent one is [`SILENT`].
    pub names: Vec<String>,
    /// The class of each state, by number: states of different classes are never equivalent.
    pub classes: Vec<u32>,
    /// What classes are called: the values of the expressions in [`Lts::expressions`].
    pub values: Vec<Vec<String>>,
    /// What states are labelled with.
    pub expressions: Vec<String>,
}

impl Lts {
    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.edges.n_rows()
    }

    /// The number of steps.
    pub fn n_edges(&self) -> usize {
        self.edges.n_edges()
    }

    /// The number of the silent label, if there is one.
    pub fn silent(&self) -> Option<u32> {
        self.names.iter().position(|name| name == SILENT).map(|number| number as u32)
    }

    /// The labels and targets of a state's steps.
    pub fn steps(&self, state: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.edges.row(state).map(|edge| (self.labels[edge], self.edges.target(edge as u64)))
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        self.edges.memory() + (self.labels.capacity() * 4 + self.classes.capacity() * 4) as u64
    }
}
