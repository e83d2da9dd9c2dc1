//! Instances: processes of which the same is known, so that their edges have the same marks.
//!
//! Which processes there are is seen only during the search; an instance is made when it is first met. For
//! every edge it says what the edge accesses, and what lies *ahead* of it: everything that the process may
//! access from that edge on, as far as its automaton can tell, and all that processes may access which it may
//! start.

use std::collections::{BTreeSet, HashMap};

use machine::facts::{Analysis, Known, Telling, Who};
use machine::look::{Glance, Seen};
use promela::ir::{Action, Edge, EdgeId, Location, ProctypeId};

use machine::facts::components::Components;
use machine::facts::guard::{self, Need, exclude};
use machine::facts::mark::{HandOver, Mark, Marker};
use machine::facts::object::{Object, Objects};
use machine::facts::visible::{Places, Visible, Watched};
use stop::Stop;
use system::matrix::BitSet;

/// A location with more edges than this is not reduced.
pub const MOST_EDGES: usize = 64;

/// What is known of one process and of all others like it.
#[derive(Debug)]
pub struct Instance {
    /// Its proctype.
    pub proctype: ProctypeId,
    /// The marks of its edges.
    pub marks: Vec<Mark>,
    /// What each edge and all that may follow it access.
    pub ahead: Vec<BitSet>,
    /// Whether something ahead looks at everything.
    pub ahead_everything: Vec<bool>,
    /// The number of its first location among those of all instances.
    pub first_node: u32,
}

/// A location of an instance.
#[derive(Debug)]
pub struct Node {
    /// Its edges, in order.
    pub edges: Vec<u32>,
    /// Whether one of them [may](Mark::asks).
    pub asks: bool,
    /// Whether one of them [shares control](Mark::shares_control).
    pub shares_control: bool,
    /// Those by which the process may come back here, as a mask.
    pub returning: u64,
}

/// All that does not change during a search.
#[derive(Debug)]
pub struct Ground<'a> {
    /// The facts.
    pub analysis: Analysis<'a>,
    /// What happens in rendezvous inside atomic sequences.
    pub hand_over: HandOver,
    /// What tells processes apart.
    pub telling: Vec<Telling>,
    /// For every proctype, between which locations a process can come back.
    pub components: Vec<Components>,
    /// What a property of whole runs looks at.
    pub watched: Watched,
    /// When to give up: what a long sequence accesses takes time to find out.
    pub stop: Stop,
}

/// The instances that were met so far.
#[derive(Debug)]
pub struct Instances<'a> {
    ground: &'a Ground<'a>,
    objects: Objects,
    visible: Visible,
    list: Vec<Instance>,
    keys: HashMap<Vec<i32>, u32>,
    /// For each pid the instance that was last seen there, with its key.
    last: Vec<(Vec<i32>, u32)>,
    key: Vec<i32>,
    /// For every proctype, what its processes may access in their whole life, with those that they start.
    lives: Option<Vec<(BitSet, bool)>>,
    nodes: Vec<Node>,
    visible_object: u32,
    run_object: u32,
    end_object: u32,
    /// What guards need of global cells, each list once; the first is empty.
    needs: Vec<Vec<Need>>,
    /// For an instance and needs that exclude some of its actions: what lies ahead of its edges but for
    /// these.
    ahead_but: HashMap<(u32, u32), Option<Vec<BitSet>>>,
}

impl<'a> Instances<'a> {
    /// None yet.
    pub fn new(ground: &'a Ground<'a>) -> Self {
        let mut objects = Objects::default();
        let mut visible = Visible::default();
        let visible_object = objects.number(Object::Visible);
        let (run_object, end_object) = (objects.number(Object::Run), objects.number(Object::End));
        let program = ground.analysis.program;
        if !program.proctypes.is_empty() {
            let marker = Marker::new(&ground.analysis, &ground.hand_over, Who::any(ProctypeId(0)));
            for invariant in &program.invariants {
                marker.watch(&mut objects, &invariant.expr, &mut visible);
            }
            for proposition in &ground.watched.propositions {
                marker.watch(&mut objects, proposition, &mut visible);
            }
            Marker::watch_places(&mut objects, Places::of(program, &ground.watched), &mut visible);
        }
        // Who stands before an offer that the trace assertion forbids shows an error: every step may lead
        // there or away.
        visible.all |= program.trace_sees_offers();
        Instances {
            ground,
            objects,
            visible,
            list: Vec::new(),
            keys: HashMap::new(),
            last: Vec::new(),
            key: Vec::new(),
            lives: None,
            nodes: Vec::new(),
            visible_object,
            run_object,
            end_object,
            needs: vec![Vec::new()],
            ahead_but: HashMap::new(),
        }
    }

    /// The instance with this number.
    #[inline]
    pub fn get(&self, instance: u32) -> &Instance {
        &self.list[instance as usize]
    }

    /// Whether a mark is that of an action that a property may notice.
    pub fn is_visible(&self, mark: &Mark) -> bool {
        mark.accesses.contains(self.visible_object)
    }

    /// Whether a mark is that of an action that may start a process, or end one.
    pub fn changes_number(&self, mark: &Mark) -> bool {
        mark.accesses.contains(self.run_object) || mark.accesses.contains(self.end_object)
    }

    /// Whether an edge of an instance changes nothing for those who may take what is offered by others: the
    /// process itself takes nothing of that before and after it, there are no other processes than before,
    /// and it is independent of who takes it. (Who takes it must not go on either, or others might lead to
    /// the same state on the way, and steps would be counted twice.)
    pub fn leaves_partners(&self, instance: &Instance, edge: u32, offers: &[&Mark]) -> bool {
        let mark = &instance.marks[edge as usize];
        let proctype = self.ground.analysis.program.proctype(instance.proctype);
        let takes = |other: &Mark| offers.iter().any(|offer| offer.partners.meets(&other.accesses));
        let is_place = |at: usize, location: &Location| {
            proctype.edge(EdgeId(edge)).to.index() == at || location.edges.contains(&EdgeId(edge))
        };
        let places = proctype.locations.iter().enumerate().filter(|(at, location)| is_place(*at, location));
        let mut around = places.flat_map(|(_, location)| &location.edges);
        if mark.begins || self.changes_number(mark) || around.any(|edge| takes(&instance.marks[edge.index()]))
        {
            return false;
        }
        self.list.iter().all(|other| {
            let leaves = |taker: &Mark| {
                self.takes_simply(other)
                    && !(taker.everything || taker.timeout || taker.begins)
                    && !mark.conflicts.meets(&taker.accesses)
            };
            other.marks.iter().filter(|taker| takes(taker)).all(leaves)
        })
    }

    /// Whether nothing but its location and its marks decides whether a process of this instance takes part
    /// in a rendezvous.
    pub fn takes_simply(&self, instance: &Instance) -> bool {
        let proctype = self.ground.analysis.program.proctype(instance.proctype);
        let is_escape = |edge: &Edge| edge.escape.is_some();
        !proctype.deterministic && proctype.provided.is_none() && !proctype.edges.iter().any(is_escape)
    }

    /// Whether an edge is a send, and nothing else may follow before control is given back.
    pub fn sends_alone(&self, instance: &Instance, edge: u32) -> bool {
        let proctype = self.ground.analysis.program.proctype(instance.proctype);
        let edge = proctype.edge(EdgeId(edge));
        matches!(edge.action, Action::Send { .. }) && !edge.atomic
    }

    /// How many locations all instances have.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The edges at a location of an instance with their marks, but for those that only accept an offer.
    pub fn marks_at<'i>(&self, instance: &'i Instance, node: u32) -> Vec<(u32, &'i Mark)> {
        let marks = self.node(node).edges.iter().map(|&edge| (edge, &instance.marks[edge as usize]));
        marks.filter(|(_, mark)| !mark.accepts).collect()
    }

    /// A small number for each edge of an instance, such that those of one location have different ones.
    pub fn colours(&self, instance: &Instance) -> Vec<usize> {
        let locations = &self.ground.analysis.program.proctype(instance.proctype).locations;
        let mut together: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); instance.marks.len()];
        for location in locations {
            let edges = location.edges.iter().map(|edge| edge.index());
            edges.clone().for_each(|edge| together[edge].extend(edges.clone()));
        }
        let mut colours: Vec<usize> = Vec::new();
        for others in &together {
            let taken: BTreeSet<usize> =
                others.iter().filter_map(|&other| colours.get(other).copied()).collect();
            colours.push((0..).find(|colour| !taken.contains(colour)).unwrap_or(usize::MAX));
        }
        colours
    }

    /// The location with this number.
    #[inline]
    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The instance that a process is, and its location.
    #[inline]
    pub fn of(&mut self, glance: &Glance, pid: usize) -> (u32, u32) {
        let process = glance.processes[pid];
        let telling = &self.ground.telling[process.proctype as usize];
        self.key.clear();
        self.key.push(process.proctype as i32);
        if telling.pid {
            self.key.push(pid as i32);
        }
        if telling.channels {
            self.key.push(process.first_channel as i32);
        }
        let values = process.values as usize;
        self.key.extend_from_slice(&glance.values[values..values + telling.cells.len()]);
        let instance = match self.last.get(pid) {
            Some((key, instance)) if *key == self.key => *instance,
            _ => self.find(process, pid),
        };
        (instance, self.get(instance).first_node + process.location)
    }

    #[cold]
    fn find(&mut self, process: Seen, pid: usize) -> u32 {
        let known = self.keys.get(&self.key).copied();
        let instance = known.unwrap_or_else(|| self.make(process, pid));
        if self.last.len() <= pid {
            self.last.resize(pid + 1, (Vec::new(), 0));
        }
        self.last[pid] = (self.key.clone(), instance);
        instance
    }

    fn make(&mut self, process: Seen, pid: usize) -> u32 {
        let id = ProctypeId(process.proctype);
        let telling = &self.ground.telling[id.index()];
        let values = &self.key[self.key.len() - telling.cells.len()..];
        let known = Known {
            pid: telling.pid.then_some(pid),
            first_channel: telling.channels.then_some(process.first_channel),
            cells: telling.cells.iter().copied().zip(values.iter().copied()).collect(),
        };
        let mut marks = self.marks(Who { id, known: Some(&known) });
        let proctype = self.ground.analysis.program.proctype(id);
        for (mark, edge) in marks.iter_mut().zip(&proctype.edges) {
            mark.needs = self.number_of(guard::needs(proctype, edge));
        }
        let (ahead, ahead_everything) = self.ahead(id, &marks, 0);
        let component = &self.ground.components[id.index()].of;
        let first_node = self.nodes.len() as u32;
        for (l, location) in proctype.locations.iter().enumerate() {
            let mut returning = 0;
            for (i, edge) in location.edges.iter().enumerate().take(MOST_EDGES) {
                let back = component[proctype.edge(*edge).to.index()] == component[l];
                returning |= u64::from(back) << i;
            }
            self.nodes.push(Node {
                edges: location.edges.iter().map(|edge| edge.0).collect(),
                asks: location.edges.iter().any(|edge| marks[edge.index()].asks()),
                shares_control: location.edges.iter().any(|edge| marks[edge.index()].shares_control),
                returning,
            });
        }
        self.list.push(Instance { proctype: id, marks, ahead, ahead_everything, first_node });
        let number = self.list.len() as u32 - 1;
        self.keys.insert(self.key.clone(), number);
        number
    }

    fn marks(&mut self, who: Who<'_>) -> Vec<Mark> {
        Marker::new(&self.ground.analysis, &self.ground.hand_over, who).marks(
            &mut self.objects,
            &self.visible,
            &self.ground.stop,
        )
    }

    fn number_of(&mut self, needs: Vec<Need>) -> u32 {
        let known = self.needs.iter().position(|other| *other == needs);
        known.unwrap_or_else(|| {
            self.needs.push(needs);
            self.needs.len() - 1
        }) as u32
    }

    /// Finds out what lies ahead of the edges of an instance, actions aside that exclude the needs with this
    /// number.
    pub fn prepare_ahead(&mut self, instance: u32, needs: u32) {
        if needs != 0 && !self.ahead_but.contains_key(&(instance, needs)) {
            let Instance { proctype, marks, .. } = &mut self.list[instance as usize];
            let (id, marks) = (*proctype, std::mem::take(marks));
            let excluded =
                |mark: &Mark| exclude(&self.needs[mark.needs as usize], &self.needs[needs as usize]);
            let but = marks.iter().any(excluded).then(|| self.ahead(id, &marks, needs).0);
            self.list[instance as usize].marks = marks;
            self.ahead_but.insert((instance, needs), but);
        }
    }

    /// What lies ahead, once it is [prepared](Self::prepare_ahead).
    pub fn ahead_of(&self, instance: u32, needs: u32) -> &[BitSet] {
        let but = self.ahead_but.get(&(instance, needs)).and_then(Option::as_ref);
        but.unwrap_or(&self.list[instance as usize].ahead)
    }

    /// What lies ahead of the edges of a process, actions aside that exclude the needs with this number.
    fn ahead(&mut self, id: ProctypeId, marks: &[Mark], needs: u32) -> (Vec<BitSet>, Vec<bool>) {
        let lives = match self.lives.take() {
            Some(lives) => lives,
            None => self.lives(),
        };
        let proctype = self.ground.analysis.program.proctype(id);
        let needs = &self.needs[needs as usize];
        let touched = |mark: &Mark| match exclude(&self.needs[mark.needs as usize], needs) {
            true => BitSet::default(),
            false => mark.accesses.clone(),
        };
        let mut ahead: Vec<BitSet> = marks.iter().map(touched).collect();
        let mut everything: Vec<bool> = marks.iter().map(|mark| mark.everything).collect();
        for (e, mark) in marks.iter().enumerate() {
            for child in &mark.starts {
                ahead[e].add_all(&lives[child.index()].0);
                everything[e] |= lives[child.index()].1;
            }
        }
        // Of each component, after those that it leads to.
        let components = &self.ground.components[id.index()];
        let mut at: Vec<(BitSet, bool)> = Vec::new();
        let edges_of = |component: &[u32]| {
            let locations = component.iter().map(|&l| &proctype.locations[l as usize]);
            locations.flat_map(|location| &location.edges).copied().collect::<Vec<_>>()
        };
        for component in &components.members {
            let (mut bits, mut all) = (BitSet::default(), false);
            let edges = edges_of(component);
            for edge in &edges {
                bits.add_all(&ahead[edge.index()]);
                all |= everything[edge.index()];
                let to = components.of[proctype.edge(*edge).to.index()] as usize;
                if let Some((more, and_all)) = at.get(to).filter(|_| !marks[edge.index()].ends) {
                    bits.add_all(more);
                    all |= and_all;
                }
            }
            at.push((bits, all));
            for edge in edges.iter().filter(|edge| !marks[edge.index()].ends) {
                let (more, and_all) = &at[components.of[proctype.edge(*edge).to.index()] as usize];
                ahead[edge.index()].add_all(more);
                everything[edge.index()] |= and_all;
            }
        }
        self.lives = Some(lives);
        (ahead, everything)
    }

    /// What processes access in their whole life, of which only the proctype is known.
    fn lives(&mut self) -> Vec<(BitSet, bool)> {
        let n = self.ground.analysis.program.proctypes.len();
        let mut lives: Vec<(BitSet, bool)> = Vec::new();
        let mut children: Vec<Vec<ProctypeId>> = Vec::new();
        for id in (0..n as u32).map(ProctypeId) {
            let (mut life, mut all, mut starts) = (BitSet::default(), false, Vec::new());
            for mark in self.marks(Who::any(id)) {
                life.add_all(&mark.accesses);
                all |= mark.everything;
                starts.extend(mark.starts);
            }
            lives.push((life, all));
            children.push(starts);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (p, children) in children.iter().enumerate() {
                for child in children {
                    let (bits, all) = lives[child.index()].clone();
                    changed |= lives[p].0.add_all(&bits) | (all && !lives[p].1);
                    lives[p].1 |= all;
                }
            }
        }
        lives
    }
}
