//! The states around a moment as a graph that grows on demand: equal states are one node, at most a few hundred
//! are made, and a node that was not followed says how many ways lead on.

use crate::exploration::Exploration;
use crate::values::values;
use draw::graph::{Edge, Graph, Node};
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use trace::Run;
use trace::story::process_name;

/// Nodes of a graph.
pub const MOST_NODES: usize = 300;
/// Moments before and behind the one that is looked at, which are recognised.
const NEAR: usize = 150;

/// How much is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Where the graph begins.
    pub moment: usize,
    /// Steps from there.
    pub depth: usize,
    /// Further nodes that are followed, by their names.
    pub expand: Vec<String>,
    /// The most nodes; [`MOST_NODES`] at most.
    pub most: usize,
}

/// A state of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// A name that it keeps while the graph grows.
    pub id: String,
    /// The choices that lead there from where the graph begins.
    pub path: Vec<usize>,
    /// Ways that lead on from here and were not followed.
    pub open: usize,
    /// The moment of the run that it is.
    pub moment: Option<usize>,
    /// The error that shows here.
    pub fault: Option<String>,
    /// Its values, in one line.
    pub text: String,
}

/// The states around a moment.
#[derive(Clone, Debug, Default)]
pub struct Neighbourhood {
    /// The states; the first is where the graph begins.
    pub states: Vec<State>,
    /// What leads where: indices and what is done.
    pub steps: Vec<(usize, usize, String)>,
    /// There were more states than are shown.
    pub cut: bool,
}

struct Growing<'e, 'a> {
    wanted: &'e Wanted,
    known: HashMap<(Vec<u8>, bool), usize>,
    on_run: HashMap<(Vec<u8>, bool), usize>,
    open: VecDeque<(usize, usize, Run<'a>)>,
    made: Neighbourhood,
}

impl Exploration<'_, '_> {
    /// The states that can be reached from a moment, as far as wanted.
    pub fn neighbourhood(&self, wanted: &Wanted) -> Neighbourhood {
        let run = self.run();
        let near = wanted.moment.saturating_sub(NEAR)..=(wanted.moment + NEAR).min(run.len());
        let key = |moment: usize| ((run.state(moment).into_owned(), run.is_inside(moment)), moment);
        let mut growing = Growing {
            wanted,
            known: HashMap::new(),
            // The first visit counts.
            on_run: near.rev().map(key).collect(),
            open: VecDeque::new(),
            made: Neighbourhood::default(),
        };
        growing.add(run.fork(wanted.moment), Vec::new(), 0);
        while let Some((at, depth, run)) = growing.open.pop_front() {
            growing.follow(at, depth, run);
        }
        growing.made
    }
}

impl<'a> Growing<'_, 'a> {
    /// The node of the state that a run without past stands at; none when there are too many.
    fn add(&mut self, mut run: Run<'a>, path: Vec<usize>, depth: usize) -> Option<usize> {
        let key = (run.state(0).into_owned(), run.is_inside(0));
        if let Some(&at) = self.known.get(&key) {
            return Some(at);
        }
        if self.made.states.len() >= self.wanted.most.min(MOST_NODES) {
            self.made.cut = true;
            return None;
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let text = values(&run.snapshot(0), 60);
        let text: Vec<String> = text.iter().map(|leaf| format!("{}={}", leaf.name, leaf.text)).collect();
        let at = self.made.states.len();
        self.made.states.push(State {
            id: format!("{:016x}", hasher.finish()),
            path,
            open: run.enabled().len(),
            moment: self.on_run.get(&key).copied(),
            fault: None,
            text: text.join(" "),
        });
        self.known.insert(key, at);
        self.open.push_back((at, depth, run));
        Some(at)
    }

    /// Takes all steps from a node, if it is near enough or was asked for.
    fn follow(&mut self, at: usize, depth: usize, mut run: Run<'a>) {
        if depth >= self.wanted.depth && !self.wanted.expand.contains(&self.made.states[at].id) {
            return;
        }
        let enabled = run.enabled().to_vec();
        let mut left = 0;
        for (index, action) in enabled.into_iter().enumerate() {
            let mut next = run.fork(0);
            if next.take(action).is_err() {
                left += 1;
                continue;
            }
            let (info, taken) = (next.info(1), next.step(1));
            let text = info.map_or_else(String::new, |info| {
                format!("{} {}", process_name(&info.process, info.pid), info.text)
            });
            let path = [self.made.states[at].path.clone(), vec![index + 1]].concat();
            let fault = taken.as_ref().and_then(|taken| taken.fault.clone());
            if taken.is_some_and(|taken| !taken.completed) {
                // There is no state behind the error: it is a node of its own.
                let message = fault.map(|fault| fault.message);
                self.dead_end(at, path, message, text);
                continue;
            }
            match self.add(next.fork(1), path, depth + 1) {
                Some(to) => {
                    let state = &mut self.made.states[to];
                    state.fault = state.fault.take().or(fault.map(|fault| fault.message));
                    self.made.steps.push((at, to, text));
                }
                None => left += 1,
            }
        }
        self.made.states[at].open = left;
    }

    fn dead_end(&mut self, from: usize, path: Vec<usize>, fault: Option<String>, text: String) {
        if self.made.states.len() >= self.wanted.most.min(MOST_NODES) {
            self.made.cut = true;
            return;
        }
        let (id, to) =
            (format!("error-{}-{}", self.made.states[from].id, path.len()), self.made.states.len());
        self.made.states.push(State { id, path, open: 0, moment: None, text: String::new(), fault });
        self.made.steps.push((from, to, text));
    }
}

impl Neighbourhood {
    /// As a graph to be drawn: states of the run have the number of their moment.
    pub fn graph(&self, title: &str, current: usize) -> Graph {
        let node = |(at, state): (usize, &State)| {
            let more = if state.open > 0 { format!(" +{}", state.open) } else { String::new() };
            let text = match (&state.fault, state.moment) {
                (Some(_), None) => format!("error{more}"),
                (_, Some(moment)) => format!("{moment}{more}"),
                (None, None) => format!("s{at}{more}"),
            };
            let fault = state.fault.as_ref().map(|fault| format!("{fault}\n")).unwrap_or_default();
            let here = state.moment == Some(current);
            Node {
                text,
                note: format!("{fault}{}", state.text),
                end: state.open == 0 && !self.steps.iter().any(|(from, ..)| *from == at),
                accept: state.moment.is_some(),
                keys: vec![state.id.clone()],
                here: if here { vec![("here".to_string(), 0)] } else { Vec::new() },
                ..Node::default()
            }
        };
        let taken = |from: usize, to: usize| match (self.states[from].moment, self.states[to].moment) {
            (Some(a), Some(b)) => b == a + 1,
            _ => false,
        };
        let edge = |(from, to, text): &(usize, usize, String)| Edge {
            from: *from,
            to: *to,
            text: text.clone(),
            note: text.clone(),
            taken: taken(*from, *to),
            ..Edge::default()
        };
        Graph {
            title: title.to_string(),
            nodes: self.states.iter().enumerate().map(node).collect(),
            edges: self.steps.iter().map(edge).collect(),
            start: 0,
        }
    }
}
