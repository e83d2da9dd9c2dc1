//! Hand-written systems for tests below the waist: a graph from text, counters, a system with a hidden value.
//!
//! They are small enough to know the answer by looking, and they show every feature of the waist that a
//! search must respect: transient states, steps that fault with and without a successor, states that fault,
//! valid and invalid ends, keys that are shorter than states.

use crate::portable::{LocalShape, PortableError, PortableStates};
use crate::{
    ActionId, Capabilities, Choice, Event, Explain, Fault, FaultKind, Invariants, Labels, Processes,
    Propositions, Reducer, Reduction, Snapshot, StepInfo, Successors, TransitionSystem, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// A transition graph with numbered nodes; node 0 is the initial state.
///
/// Statements are separated by `;` or new lines:
/// - `0 -> 1 -> 2 -> 1`: edges (a node may have several, tried in order of writing);
/// - `transient 4 5`: these nodes are transient;
/// - `end 3`: having no successor there is fine; `full 3`: channels are not empty there;
/// - `bad 2`: the node itself shows an invariant fault;
/// - `assert 1 2`: the step from 1 to 2 fails an assertion and is taken; `fault 1 2`: it cannot be completed;
/// - `accept 1 2`: these nodes are accepting;
/// - `hold 3 1 2`: proposition 3 holds in these nodes;
/// - `process 2 0 1`: the step from 0 to 1 is one of process 2 (of process 0 otherwise);
/// - `broken`: already the initialisation fails.
///
/// A state is the node's number in decimal, so that states have different lengths.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    edges: Vec<(u32, u32)>,
    outgoing: BTreeMap<u32, Vec<usize>>,
    transient: BTreeSet<u32>,
    ends: BTreeSet<u32>,
    full: BTreeSet<u32>,
    bad: BTreeSet<u32>,
    asserts: BTreeSet<(u32, u32)>,
    faults: BTreeSet<(u32, u32)>,
    accepting: BTreeSet<u32>,
    propositions: BTreeMap<u32, u64>,
    /// By node the propositions that cannot be evaluated there.
    unknown: BTreeMap<u32, u64>,
    processes: BTreeMap<(u32, u32), u32>,
    broken: bool,
}

impl Graph {
    /// Reads a graph; the error names the statement that is not understood.
    pub fn parse(text: &str) -> Result<Graph, String> {
        let mut graph = Graph::default();
        for statement in text.split([';', '\n']).map(str::trim).filter(|s| !s.is_empty()) {
            graph.statement(statement).ok_or_else(|| format!("not understood: {statement}"))?;
        }
        Ok(graph)
    }

    /// Adds one edge.
    pub fn edge(&mut self, from: u32, to: u32) {
        self.outgoing.entry(from).or_default().push(self.edges.len());
        self.edges.push((from, to));
    }

    fn statement(&mut self, statement: &str) -> Option<()> {
        if statement == "broken" {
            self.broken = true;
            return Some(());
        }
        if !statement.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let nodes: Vec<u32> =
                statement.split("->").map(|n| n.trim().parse().ok()).collect::<Option<_>>()?;
            nodes.windows(2).for_each(|pair| self.edge(pair[0], pair[1]));
            return Some(());
        }
        let (word, rest) = statement.split_once(' ')?;
        let nodes: Vec<u32> = rest.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        match word {
            "transient" => self.transient.extend(nodes),
            "end" => self.ends.extend(nodes),
            "full" => self.full.extend(nodes),
            "bad" => self.bad.extend(nodes),
            "accept" => self.accepting.extend(nodes),
            "hold" | "unknown" => {
                let (proposition, nodes) = nodes.split_first()?;
                let bits = if word == "hold" { &mut self.propositions } else { &mut self.unknown };
                nodes.iter().for_each(|&node| *bits.entry(node).or_default() |= 1 << proposition);
            }
            "process" => {
                let [process, from, to] = nodes[..] else { return None };
                self.processes.insert((from, to), process);
            }
            "assert" => drop(self.asserts.insert((*nodes.first()?, *nodes.get(1)?))),
            "fault" => drop(self.faults.insert((*nodes.first()?, *nodes.get(1)?))),
            _ => return None,
        }
        Some(())
    }

    /// A random graph with `n` nodes, for comparing searches with each other: about two edges a node, a third
    /// of the nodes transient (never node 0), some faults.
    pub fn random(n: u32, seed: u64) -> Graph {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |bound: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as u32 % bound.max(1)
        };
        let mut graph = Graph::default();
        for _ in 0..2 * n {
            let (from, to) = (next(n), next(n));
            graph.edge(from, to);
            match next(40) {
                0 => drop(graph.asserts.insert((from, to))),
                1 => drop(graph.faults.insert((from, to))),
                _ => {}
            }
            graph.processes.insert((from, to), (from + to) % 3);
        }
        for node in 1..n {
            match next(12) {
                0..=3 => drop(graph.transient.insert(node)),
                4..=7 => drop(graph.ends.insert(node)),
                8 if next(4) == 0 => drop(graph.bad.insert(node)),
                9 => drop(graph.accepting.insert(node)),
                _ => {}
            }
        }
        graph
    }

    /// The node that a state stands for.
    pub fn node(state: &[u8]) -> u32 {
        std::str::from_utf8(state).ok().and_then(|s| s.parse().ok()).unwrap_or(u32::MAX)
    }

    /// The edges as pairs of nodes; the action with number `i` is edge `i`.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Whether the node is transient. One without a successor gives back the control: it is ordinary.
    pub fn is_transient(&self, node: u32) -> bool {
        self.transient.contains(&node) && self.outgoing.contains_key(&node)
    }

    /// Whether the step from one node to the other cannot be completed.
    pub fn is_fault(&self, from: u32, to: u32) -> bool {
        self.faults.contains(&(from, to))
    }

    fn step_fault(&self, from: u32, to: u32) -> Option<Fault> {
        let kind = match () {
            () if self.is_fault(from, to) => FaultKind::Runtime,
            () if self.asserts.contains(&(from, to)) => FaultKind::Assertion,
            () => return None,
        };
        Some(fault(kind, format!("{} from {from} to {to}", kind.name()), from))
    }
}

/// A fault at "line" `node` of the toy.
fn fault(kind: FaultKind, message: String, node: u32) -> Fault {
    let process = Some("graph".to_string());
    Fault { kind, message, file: "toy".to_string(), line: node, column: 1, process, pid: Some(0) }
}

impl TransitionSystem for Graph {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.broken {
            return Err(fault(FaultKind::Runtime, "broken from the start".to_string(), 0));
        }
        out.extend_from_slice(b"0");
        Ok(())
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        let edges = self.outgoing.get(&Graph::node(state)).map_or(&[][..], Vec::as_slice);
        out.extend(edges.iter().map(|&e| ActionId(e as u64)));
    }

    fn fire(&self, _state: &[u8], actions: &[ActionId], out: &mut Successors) {
        for &action in actions {
            let (from, to) = self.edges[action.0 as usize];
            let bytes = to.to_string().into_bytes();
            let fault = self.step_fault(from, to);
            let state = (!self.is_fault(from, to)).then_some(&bytes[..]);
            out.push(action, state, state.is_some() && self.is_transient(to), fault);
        }
    }

    fn labels(&self, state: &[u8]) -> Labels {
        let node = Graph::node(state);
        Labels {
            valid_end: self.ends.contains(&node),
            channels_empty: !self.full.contains(&node),
            accepting: self.accepting.contains(&node),
            ..Labels::default()
        }
    }

    fn hidden_bytes(&self) -> usize {
        0
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        let node = Graph::node(state);
        fault(FaultKind::EndState, format!("stuck at {node}"), node)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            propositions: Some(self),
            processes: Some(self),
            invariants: Some(self),
            portable: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl Propositions for Graph {
    fn propositions(&self, _set: usize, state: &[u8]) -> u64 {
        self.propositions.get(&Graph::node(state)).copied().unwrap_or(0)
    }

    fn may_fail(&self, _set: usize) -> u64 {
        self.unknown.values().fold(0, |all, numbers| all | numbers)
    }

    fn evaluation_error(&self, _set: usize, number: u32, state: &[u8]) -> Option<Fault> {
        let node = Graph::node(state);
        let unknown = self.unknown.get(&node).is_some_and(|numbers| numbers >> number & 1 != 0);
        unknown.then(|| fault(FaultKind::Evaluation, format!("unknown in {node}"), node))
    }
}

/// An edge is of process 0 unless something else is said.
impl Processes for Graph {
    fn process_of(&self, action: ActionId) -> u32 {
        let edge = self.edges.get(action.0 as usize);
        edge.and_then(|edge| self.processes.get(edge)).copied().unwrap_or(0)
    }

    fn partner_of(&self, _action: ActionId) -> Option<u32> {
        None
    }

    fn n_processes(&self, _state: &[u8]) -> usize {
        1 + self.processes.values().copied().max().unwrap_or(0) as usize
    }

    fn n_parts(&self) -> u32 {
        1
    }

    fn part_of(&self, _action: ActionId) -> u32 {
        0
    }
}

impl Invariants for Graph {
    fn inspect(&self, state: &[u8], out: &mut Vec<Fault>) {
        let node = Graph::node(state);
        if self.bad.contains(&node) {
            out.push(fault(FaultKind::Invariant, format!("bad node {node}"), node));
        }
    }
}

impl Explain for Graph {
    fn step(&self, _state: &[u8], action: ActionId) -> StepInfo {
        let (from, to) = self.edges.get(action.0 as usize).copied().unwrap_or_default();
        StepInfo {
            process: "graph".to_string(),
            pid: 0,
            file: "toy".to_string(),
            line: from,
            column: 1,
            text: format!("{from} -> {to}"),
            partner: None,
        }
    }

    fn snapshot(&self, state: &[u8]) -> Snapshot {
        let node = Value::Int(i64::from(Graph::node(state)));
        Snapshot { globals: vec![("node".to_string(), node)], ..Snapshot::default() }
    }

    fn events(&self, _state: &[u8], _action: ActionId) -> Vec<Event> {
        Vec::new()
    }
}

/// States that describe themselves: there is one shape, and its description is empty. `$valid` says which
/// contents are a state.
macro_rules! self_describing {
    ($system:ty, $fingerprint:literal, $valid:expr) => {
        impl PortableStates for $system {
            fn fingerprint(&self) -> u64 {
                $fingerprint
            }

            fn describe(&self, _shape: LocalShape, _out: &mut Vec<u8>) -> Result<(), PortableError> {
                Ok(())
            }

            fn register(&self, description: &[u8]) -> Result<LocalShape, PortableError> {
                match description {
                    [] => Ok(LocalShape(0)),
                    _ => Err(PortableError::BadShape("there is one shape".to_string())),
                }
            }

            fn export(&self, state: &[u8], out: &mut Vec<u8>) -> Result<LocalShape, PortableError> {
                out.extend_from_slice(state);
                Ok(LocalShape(0))
            }

            fn import(
                &self,
                _shape: LocalShape,
                contents: &[u8],
                out: &mut Vec<u8>,
            ) -> Result<(), PortableError> {
                let valid: fn(&Self, &[u8]) -> bool = $valid;
                if !valid(self, contents) {
                    return Err(PortableError::BadContents("not such a state".to_string()));
                }
                out.extend_from_slice(contents);
                Ok(())
            }
        }
    };
}

self_describing!(Graph, 1, |_, state| !state.is_empty() && state.iter().all(u8::is_ascii_digit));
self_describing!(Counters, 2, |system, state| state.len() == usize::from(system.n));
self_describing!(Hidden, 3, |_, state| state.len() == 2);

/// `n` processes, each counting a byte of its own from 0 to `max`: `(max + 1)ⁿ` states, one valid end.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// How many.
    pub n: u8,
    /// How far.
    pub max: u8,
}

impl TransitionSystem for Counters {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.resize(out.len() + usize::from(self.n), 0);
        Ok(())
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        out.extend((0..u64::from(self.n)).filter(|&i| state[i as usize] < self.max).map(ActionId));
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        let mut next = state.to_vec();
        for &action in actions {
            next[action.0 as usize] += 1;
            out.push(action, Some(&next), false, None);
            next[action.0 as usize] -= 1;
        }
    }

    fn labels(&self, _state: &[u8]) -> Labels {
        Labels { valid_end: true, channels_empty: true, ..Labels::default() }
    }

    fn hidden_bytes(&self) -> usize {
        0
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { processes: Some(self), portable: Some(self), ..Capabilities::NONE }
    }

    fn deadlock(&self, _state: &[u8]) -> Fault {
        fault(FaultKind::EndState, "the counters are at a valid end".to_string(), 0)
    }
}

/// An action is the number of its process.
impl Processes for Counters {
    fn process_of(&self, action: ActionId) -> u32 {
        action.0 as u32
    }

    fn partner_of(&self, _action: ActionId) -> Option<u32> {
        None
    }

    fn n_processes(&self, _state: &[u8]) -> usize {
        usize::from(self.n)
    }

    fn n_parts(&self) -> u32 {
        1
    }

    fn part_of(&self, _action: ActionId) -> u32 {
        0
    }
}

/// A visible byte that counts from 0 to 9 in steps of 1 or 2, and a hidden one that remembers the last step:
/// the key is the visible byte alone. Going from 8 by the step `2` faults when the hidden byte is 1.
#[derive(Clone, Copy, Debug)]
pub struct Hidden;

impl TransitionSystem for Hidden {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.extend_from_slice(&[0, 0]);
        Ok(())
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        out.extend((1..=2).filter(|&step| u64::from(state[0]) + step <= 9).map(ActionId));
        if state == [8, 1] {
            out.push(ActionId(3));
        }
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        for &action in actions {
            let step = action.0 as u8;
            if step == 3 {
                out.push(
                    action,
                    None,
                    false,
                    Some(fault(FaultKind::Runtime, "hidden 1 at 8".to_string(), 8)),
                );
            } else {
                out.push(action, Some(&[state[0] + step, step]), false, None);
            }
        }
    }

    fn labels(&self, _state: &[u8]) -> Labels {
        Labels { valid_end: true, channels_empty: true, ..Labels::default() }
    }

    fn hidden_bytes(&self) -> usize {
        1
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { portable: Some(self), ..Capabilities::NONE }
    }

    fn deadlock(&self, _state: &[u8]) -> Fault {
        fault(FaultKind::EndState, "nine is a valid end".to_string(), 9)
    }
}

/// Processes that share nothing and count round and round.
#[derive(Clone, Copy, Debug)]
pub struct Rings {
    /// How many they are; each has one action, with its number.
    pub n: u8,
    /// Up to which number they count before they begin again.
    pub last: u8,
}

impl TransitionSystem for Rings {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.resize(out.len() + usize::from(self.n), 0);
        Ok(())
    }

    fn enabled(&self, _state: &[u8], out: &mut Vec<ActionId>) {
        out.extend((0..u64::from(self.n)).rev().map(ActionId));
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        for &action in actions {
            let mut next = state.to_vec();
            let count = &mut next[action.0 as usize];
            *count = if *count == self.last { 0 } else { *count + 1 };
            out.push(action, Some(&next), false, None);
        }
    }

    fn labels(&self, _state: &[u8]) -> Labels {
        Labels::default()
    }

    fn hidden_bytes(&self) -> usize {
        0
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { processes: Some(self), ..Capabilities::NONE }
    }

    fn deadlock(&self, _state: &[u8]) -> Fault {
        fault(FaultKind::EndState, "rings have no end".to_string(), 0)
    }
}

/// An action is the number of its process.
impl Processes for Rings {
    fn process_of(&self, action: ActionId) -> u32 {
        action.0 as u32
    }

    fn partner_of(&self, _action: ActionId) -> Option<u32> {
        None
    }

    fn n_processes(&self, _state: &[u8]) -> usize {
        usize::from(self.n)
    }

    fn n_parts(&self) -> u32 {
        1
    }

    fn part_of(&self, _action: ActionId) -> u32 {
        0
    }
}

/// Says of systems whose actions are the numbers of processes that share nothing what is true of them.
#[derive(Clone, Copy, Debug)]
pub struct Apart;

impl Reduction for Apart {
    fn reducer(&self) -> Box<dyn Reducer + '_> {
        Box::new(Apart)
    }
}

impl Reducer for Apart {
    fn choose(&mut self, _: &[u8], _: &[ActionId], chosen: &mut Vec<u32>) -> Choice {
        chosen.clear();
        chosen.push(0);
        Choice::Part
    }

    fn commute(&mut self, _: &[u8], a: ActionId, b: ActionId) -> bool {
        a != b
    }

    fn visible(&mut self, _: &[u8], _: ActionId) -> bool {
        false
    }

    fn single(&mut self, _: &[u8], enabled: &[ActionId], turn: u32) -> Option<(u32, u32)> {
        let in_turn = |&(_, action): &(usize, &ActionId)| action.0 <= u64::from(turn);
        let first = enabled.iter().enumerate().filter(in_turn).max_by_key(|(_, action)| action.0);
        first.map(|(at, action)| (action.0 as u32, at as u32))
    }
}

/// A reduction that always chooses the first action alone: right where the first process touches nothing that
/// others touch.
#[derive(Clone, Copy, Debug)]
pub struct First;

impl Reduction for First {
    fn reducer(&self) -> Box<dyn Reducer + '_> {
        Box::new(First)
    }
}

impl Reducer for First {
    fn choose(&mut self, _: &[u8], _: &[ActionId], chosen: &mut Vec<u32>) -> Choice {
        chosen.clear();
        chosen.push(0);
        Choice::Part
    }

    fn commute(&mut self, _: &[u8], a: ActionId, b: ActionId) -> bool {
        a != b
    }

    fn visible(&mut self, _: &[u8], _: ActionId) -> bool {
        false
    }

    fn single(&mut self, _: &[u8], _: &[ActionId], _: u32) -> Option<(u32, u32)> {
        None
    }
}

/// Chooses the first edge in these nodes of a [`Graph`]; in others nothing is left out.
#[derive(Clone, Debug)]
pub struct FirstWithin(pub std::ops::Range<u32>);

impl Reduction for FirstWithin {
    fn reducer(&self) -> Box<dyn Reducer + '_> {
        Box::new(self.clone())
    }
}

impl Reducer for FirstWithin {
    fn choose(&mut self, state: &[u8], enabled: &[ActionId], chosen: &mut Vec<u32>) -> Choice {
        if self.0.contains(&Graph::node(state)) { First.choose(state, enabled, chosen) } else { Choice::All }
    }

    fn commute(&mut self, state: &[u8], a: ActionId, b: ActionId) -> bool {
        First.commute(state, a, b)
    }

    fn visible(&mut self, state: &[u8], action: ActionId) -> bool {
        First.visible(state, action)
    }

    fn single(&mut self, state: &[u8], enabled: &[ActionId], action: u32) -> Option<(u32, u32)> {
        First.single(state, enabled, action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_offers_its_edges_in_order() {
        let graph = Graph::parse("0 -> 1 -> 2 -> 1; 0 -> 2; transient 2; fault 1 2").unwrap();
        let mut enabled = Vec::new();
        graph.enabled(b"0", &mut enabled);
        assert_eq!(enabled, [ActionId(0), ActionId(3)]);
        let mut out = Successors::default();
        graph.fire(b"0", &enabled, &mut out);
        assert_eq!(out.state(&out.list[0]), Some(&b"1"[..]));
        assert!(!out.list[0].is_transient() && out.list[1].is_transient());
        out.clear();
        graph.fire(b"1", &[ActionId(1)], &mut out);
        assert!(!out.list[0].has_state());
        assert_eq!(out.fault(&out.list[0]).map(|f| f.kind), Some(FaultKind::Runtime));
    }

    #[test]
    fn a_bad_statement_is_named() {
        assert_eq!(Graph::parse("0 -> 1; wrong 3").unwrap_err(), "not understood: wrong 3");
        assert_eq!(Graph::parse("0 -> x").unwrap_err(), "not understood: 0 -> x");
    }

    #[test]
    fn counters_count() {
        let counters = Counters { n: 2, max: 1 };
        let mut enabled = Vec::new();
        counters.enabled(&[1, 0], &mut enabled);
        assert_eq!(enabled, [ActionId(1)]);
        let mut out = Successors::default();
        counters.fire(&[1, 0], &enabled, &mut out);
        assert_eq!(out.state(&out.list[0]), Some(&[1, 1][..]));
    }
}
