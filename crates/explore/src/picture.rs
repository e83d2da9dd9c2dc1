//! Automata and runs as pictures: what crate `draw` is given.
//!
//! Locations that only lead on (a choice that has ended, a loop that begins again) are drawn as one with
//! where they lead: the author wrote nothing there. The end of a process is a location, not an edge.

use crate::automata::{Automaton, Edge, Location, Range};
use draw::graph::{self, Graph};
use draw::lanes::{Cell, Kind, Lanes};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use system::{Event, Move, NOBODY, ProcessView};
use trace::story::{Told, process_name};

/// What a picture of an automaton shows of a run.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    /// Who stands at which location: name, colour, location.
    pub here: Vec<(String, usize, u32)>,
    /// The numbers of the edges that were taken last.
    pub taken: Vec<u32>,
}

impl Situation {
    /// The processes of a proctype in a state, and the edges that led there.
    pub fn of(proctype: &str, processes: &[ProcessView], moves: &[Move]) -> Situation {
        let own = processes.iter().filter(|process| process.name == proctype);
        let name = |p: &ProcessView| (process_name(&p.name, p.pid), p.pid as usize, p.location);
        let moves = moves.iter().filter(|taken| taken.proctype == proctype);
        Situation { here: own.map(name).collect(), taken: moves.map(|taken| taken.edge).collect() }
    }
}

/// An automaton as a graph.
pub fn graph(automaton: &Automaton, situation: &Situation) -> Graph {
    let drawn_as = merged(automaton);
    let shown: BTreeSet<u32> = drawn_as.values().copied().collect();
    let numbers: BTreeMap<u32, usize> = shown.iter().enumerate().map(|(i, &number)| (number, i)).collect();
    let at = |location: u32| drawn_as.get(&location).and_then(|drawn| numbers.get(drawn)).copied();
    let node = |&number: &u32| {
        let all: Vec<&Location> =
            automaton.locations.iter().filter(|l| drawn_as.get(&l.number) == Some(&number)).collect();
        node(automaton, number, &all, situation)
    };
    let visible = |edge: &&Edge| edge.to.is_some() && !(edge.silent && at(edge.from) == edge.to.and_then(at));
    let edge = |edge: &Edge| {
        Some(graph::Edge {
            from: at(edge.from)?,
            to: at(edge.to?)?,
            text: edge.text.clone(),
            note: format!("{}: {}", place(&edge.range), edge.text),
            atomic: edge.atomic,
            key: edge.edge.to_string(),
            taken: situation.taken.contains(&edge.edge),
        })
    };
    Graph {
        title: title(automaton),
        nodes: shown.iter().map(node).collect(),
        edges: automaton.edges.iter().filter(visible).filter_map(edge).collect(),
        start: at(automaton.start).unwrap_or(0),
    }
}

fn title(automaton: &Automaton) -> String {
    match automaton.kind {
        "proctype" | "never" => format!("{} {}", automaton.kind, automaton.name),
        kind => kind.to_string(),
    }
}

fn place(range: &Range) -> String {
    format!("{}:{}", range.file, range.line)
}

/// For each location the one as which it is drawn: where it leads, if it only leads on.
fn merged(automaton: &Automaton) -> BTreeMap<u32, u32> {
    let mut out: BTreeMap<u32, Vec<&Edge>> = BTreeMap::new();
    for edge in &automaton.edges {
        out.entry(edge.from).or_default().push(edge);
    }
    let leads_on = |location: &Location| match out.get(&location.number).map(Vec::as_slice) {
        Some([only]) if only.silent && !location.end && location.labels.is_empty() => {
            only.to.filter(|&to| to != location.number)
        }
        _ => None,
    };
    let next: BTreeMap<u32, Option<u32>> =
        automaton.locations.iter().map(|location| (location.number, leads_on(location))).collect();
    let follow = |&number: &u32| {
        let (mut at, mut seen) = (number, BTreeSet::new());
        // A ring of such locations is drawn as it is.
        while let Some(to) = next.get(&at).copied().flatten() {
            if !seen.insert(at) {
                return (number, number);
            }
            at = to;
        }
        (number, at)
    };
    next.keys().map(follow).collect()
}

fn node(automaton: &Automaton, number: u32, all: &[&Location], situation: &Situation) -> graph::Node {
    let main = all.iter().find(|location| location.number == number);
    let labels: Vec<&str> = all.iter().flat_map(|l| &l.labels).map(String::as_str).collect();
    let mut note = format!("location {number}");
    if !labels.is_empty() {
        let _ = write!(note, ", {}", labels.join(", "));
    }
    if let Some(location) = main {
        let _ = write!(note, ", {}", place(&location.range));
    }
    let ends = automaton.edges.iter().any(|edge| edge.from == number && edge.to.is_none());
    if ends {
        note.push_str(": the process has ended");
    }
    let text = match labels.first() {
        Some(label) => format!("{} {number}", draw::text::shortened(label, 16)),
        None => number.to_string(),
    };
    let stands = |(_, _, at): &&(String, usize, u32)| all.iter().any(|location| location.number == *at);
    graph::Node {
        text,
        note,
        end: ends || all.iter().any(|location| location.end),
        accept: all.iter().any(|location| location.accept),
        progress: all.iter().any(|location| location.progress),
        keys: all.iter().map(|location| location.number.to_string()).collect(),
        here: situation.here.iter().filter(stands).map(|(name, colour, _)| (name.clone(), *colour)).collect(),
    }
}

/// Steps of a run as rows of cells. `processes` are those at the beginning of the run; `cycle` is the number
/// of steps before those that are repeated forever.
pub fn lanes(title: &str, processes: &[ProcessView], steps: &[Told], cycle: Option<usize>) -> Lanes {
    let mut rows = Rows::default();
    for process in processes {
        rows.row(process.pid, &process.name);
    }
    let mut columns = Vec::new();
    for told in steps {
        for event in &told.events {
            if let Event::Run { child, name, .. } = event {
                rows.row(*child, name);
            }
        }
        let own = rows.row(told.info.pid, &told.info.process);
        let partner = told.info.partner.as_deref().map(|partner| rows.row(partner.pid, &partner.process));
        let mut cells = vec![Cell { row: own, kind: kind(told) }];
        cells.extend(partner.map(|row| Cell { row, kind: Kind::Receive }));
        let (who, place) = (process_name(&told.info.process, told.info.pid), &told.info);
        let note = format!("{}: {who} {}:{}  {}", told.number, place.file, place.line, place.text);
        columns.push((note, cells));
    }
    let first = steps.first().map_or(1, |told| told.number);
    let cycle = cycle.map(|before| before + 1);
    Lanes { title: title.to_string(), rows: rows.list, first, steps: columns, cycle }
}

fn kind(told: &Told) -> Kind {
    let pid = told.info.pid;
    let is = |test: fn(&Event, u32) -> bool| told.events.iter().any(|event| test(event, pid));
    match () {
        () if told.fault.is_some() => Kind::Fault,
        () if is(
            |event, pid| matches!(event, Event::Send { pid: by, .. } | Event::Handshake { pid: by, .. } if *by == pid),
        ) =>
        {
            Kind::Send
        }
        () if is(|event, pid| matches!(event, Event::Receive { pid: by, .. } if *by == pid)) => Kind::Receive,
        () => Kind::Local,
    }
}

/// The rows of processes. A number is used again when its process has ended; one with another name is another
/// process.
#[derive(Default)]
struct Rows {
    list: Vec<(String, usize)>,
    known: BTreeMap<(u32, String), usize>,
}

impl Rows {
    fn row(&mut self, pid: u32, name: &str) -> usize {
        let next = self.list.len();
        let row = *self.known.entry((pid, name.to_string())).or_insert(next);
        if row == next {
            let colour = if pid == NOBODY { draw::style::COLOURS - 1 } else { pid as usize };
            self.list.push((process_name(name, pid), colour));
        }
        row
    }
}
