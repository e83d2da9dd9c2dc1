//! A graph to be drawn: the automaton of a process, or some states.

/// A directed graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// What it shows.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges; several may lead from one node to another, and are drawn as one line.
    pub edges: Vec<Edge>,
    /// The node at the top.
    pub start: usize,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What stands in it: short.
    pub text: String,
    /// What is shown when the pointer is there.
    pub note: String,
    /// A second ring: a run may end here.
    pub end: bool,
    /// Filled: being here is accepting.
    pub accept: bool,
    /// Being here is progress.
    pub progress: bool,
    /// What scripts find it by: `data-at` is this list of words.
    pub keys: Vec<String>,
    /// Who is here: names with the numbers of their colours.
    pub here: Vec<(String, usize)>,
}

/// An edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// The node where it begins.
    pub from: usize,
    /// The node where it leads.
    pub to: usize,
    /// What stands beside it.
    pub text: String,
    /// What is shown when the pointer is there.
    pub note: String,
    /// Drawn broken: the process keeps exclusive control.
    pub atomic: bool,
    /// What scripts find it by: `data-edge`.
    pub key: String,
    /// It is the one that was taken last.
    pub taken: bool,
}
