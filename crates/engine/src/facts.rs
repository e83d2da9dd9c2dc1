//! `spinor facts`: what reductions know of a model, in words and for machines, and its dependency matrices.

use crate::failure::Answer;
use crate::isolate::isolated;
use crate::options::Source;
use crate::session::Session;
use machine::Interp;
use machine::facts::guard::{Need, Relation};
use machine::facts::matrix::Matrices;
use machine::facts::{Access, Aspects, Cells, ChannelName, Region};
use promela::ir::{ChanTypeId, Edge, EdgeId, InitStep, Proctype, ProctypeId, Program, Promise, Type, Var};
use promela::source::{Files, SourceMap};
use reduce::describe::{Description, EdgeFacts, Ends, NeedFacts, Standing, Standpoint, describe};
use serde_json::{Value, json};
use stop::Stop;
use trace::visible::one_line;

mod matrix;

/// The facts of a model, with the names that belong to them.
#[derive(Debug)]
pub struct ModelFacts<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    machine: &'a Interp,
    known: Description,
    stop: &'a Stop,
}

/// Reads a model, finds out what is known of it and hands that to `show`; given up when it is to `stop`.
pub fn facts<T: Send>(
    source: &Source,
    files: &(dyn Files + Sync),
    stop: &Stop,
    show: impl FnOnce(&ModelFacts<'_>) -> T + Send,
) -> Answer<T> {
    let work = || match Session::load(source, files, stop) {
        Err(failure) => Answer::failed(failure),
        Ok(session) => {
            let result = session.program().and_then(|program| {
                let machine = session.machine()?;
                Ok(show(&ModelFacts::new(program, &session.sources, &machine, stop)))
            });
            Answer { notices: session.notices, result }
        }
    };
    isolated(work).unwrap_or_else(Answer::failed)
}

/// A location: its number, its standing, and its edges with what is known of them.
type Located<'a> = (usize, Standing, Vec<(&'a Edge, &'a EdgeFacts)>);

/// The word for how a statement stands to others.
fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Local => "local",
        Standing::Safe => "safe",
        Standing::ConditionallySafe => "conditionally safe",
        Standing::Shared => "shared",
    }
}

fn standpoint_word(standpoint: Standpoint) -> &'static str {
    match standpoint {
        Standpoint::Known => "known",
        Standpoint::ReliedOn => "relied on",
        Standpoint::NotUsed => "not used",
    }
}

fn standpoint_words(standpoint: Standpoint) -> &'static str {
    match standpoint {
        Standpoint::Known => "known anyway",
        Standpoint::ReliedOn => "relied on and checked by --por ample and stubborn",
        Standpoint::NotUsed => "not used",
    }
}

/// Number of excluded statements that are named.
const MOST_EXCLUDED: usize = 4;

impl<'a> ModelFacts<'a> {
    /// Finds out what is known of a program, which the machine executes; given up when it is to `stop`.
    pub fn new(program: &'a Program, sources: &'a SourceMap, machine: &'a Interp, stop: &'a Stop) -> Self {
        ModelFacts { program, sources, machine, known: describe(program, stop), stop }
    }

    /// The dependency matrices for people.
    pub fn matrix(&self) -> String {
        let matrices = Matrices::of(self.machine, self.stop);
        matrix::text(&one_line(&self.program.name), &matrices.dependencies, self.stop)
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for ends in &self.known.channels {
            out.push_str(&self.channel_line(ends));
        }
        for (promise, standpoint) in self.promises() {
            let owner = &self.program.proctype(promise.proctype).name;
            let does = if promise.receive { "xr: only {} receives from" } else { "xs: only {} sends to" };
            let does = does.replace("{}", owner);
            out.push_str(&format!("promise {does} {}; {}\n", promise.text, standpoint_words(standpoint)));
        }
        for (p, proctype) in self.program.proctypes.iter().enumerate() {
            if self.known.edges[p].is_empty() {
                continue;
            }
            let several = if self.known.several[p] { ", several processes" } else { "" };
            out.push_str(&format!("\n{}{several}\n", proctype.name));
            for (l, standing, edges) in self.locations(p) {
                out.push_str(&format!("  location {l}: {}\n", word(standing)));
                for (edge, facts) in edges {
                    out.push_str(&self.edge_text(ProctypeId(p as u32), edge, facts));
                }
            }
        }
        out
    }

    /// For machines.
    pub fn json(&self) -> Value {
        let channel = |ends: &Ends| {
            json!({
                "name": self.program.chan_types[ends.ty.index()].name,
                "capacity": self.program.chan_types[ends.ty.index()].capacity,
                "senders": self.names(&ends.senders), "receivers": self.names(&ends.receivers),
                "exclusive_send": ends.exclusive_send, "exclusive_receive": ends.exclusive_receive,
            })
        };
        let proctype = |(p, proctype): (usize, &Proctype)| {
            let locations = self.locations(p).into_iter().map(|(l, standing, edges)| {
                let edges: Vec<Value> = edges
                    .iter()
                    .map(|(edge, facts)| self.edge_json(ProctypeId(p as u32), edge, facts))
                    .collect();
                json!({"location": l, "standing": word(standing), "actions": edges})
            });
            json!({
                "name": proctype.name, "several": self.known.several[p],
                "locations": locations.collect::<Vec<Value>>(),
            })
        };
        let promise = |(promise, standpoint): (&Promise, Standpoint)| {
            json!({
                "kind": if promise.receive { "xr" } else { "xs" },
                "proctype": self.program.proctype(promise.proctype).name,
                "channel": promise.text,
                "standpoint": standpoint_word(standpoint),
            })
        };
        let known = |(p, _): &(usize, &Proctype)| !self.known.edges[*p].is_empty();
        let proctypes = self.program.proctypes.iter().enumerate().filter(known).map(proctype);
        json!({
            "model": self.program.name,
            "channels": self.known.channels.iter().map(channel).collect::<Vec<Value>>(),
            "promises": self.promises().map(promise).collect::<Vec<Value>>(),
            "proctypes": proctypes.collect::<Vec<Value>>(),
            "matrix": matrix::json(&Matrices::of(self.machine, self.stop).dependencies, self.stop),
        })
    }

    fn promises(&self) -> impl Iterator<Item = (&Promise, Standpoint)> {
        self.program.promises.iter().zip(self.known.promises.iter().copied())
    }

    /// The locations of a proctype that have edges: number, standing, edges.
    fn locations(&self, p: usize) -> Vec<Located<'_>> {
        let proctype = &self.program.proctypes[p];
        let with_edges = proctype.locations.iter().enumerate().filter(|(_, at)| !at.edges.is_empty());
        let located = with_edges.map(|(l, at)| {
            let edges: Vec<(&Edge, &EdgeFacts)> =
                at.edges.iter().map(|id| (proctype.edge(*id), &self.known.edges[p][id.index()])).collect();
            let standing = edges.iter().map(|(_, facts)| facts.standing).max().unwrap_or(Standing::Local);
            (l, standing, edges)
        });
        located.collect()
    }

    fn channel_line(&self, ends: &Ends) -> String {
        let ty = &self.program.chan_types[ends.ty.index()];
        let users = |ids: &[ProctypeId], exclusive: bool| match ids {
            [] => "nobody".to_string(),
            ids => format!("{}{}", self.names(ids).join(", "), if exclusive { " (one process)" } else { "" }),
        };
        format!(
            "channel {}: sent by {}; received by {}\n",
            ty.name,
            users(&ends.senders, ends.exclusive_send),
            users(&ends.receivers, ends.exclusive_receive)
        )
    }

    fn edge_text(&self, id: ProctypeId, edge: &Edge, facts: &EdgeFacts) -> String {
        let place = self.sources.location(edge.span);
        let mut out = format!("    {}:{}  {}\n", one_line(&place.file), place.line, edge.text);
        let mut line = |what: &str, names: Vec<String>| {
            if !names.is_empty() {
                out.push_str(&format!("      {what:<13} {}\n", names.join(", ")));
            }
        };
        let Access { guard, effect, writes, .. } = &facts.access;
        line("waits for", self.region(id, &guard.0));
        line("reads", self.region(id, &effect.0));
        line("writes", self.region(id, &writes.0));
        for need in &facts.needs {
            line("needs", vec![self.need_words(need)]);
        }
        let mut excluded = self.excluded(facts);
        let more = excluded.len().saturating_sub(MOST_EXCLUDED);
        excluded.truncate(MOST_EXCLUDED);
        excluded.extend((more > 0).then(|| format!("and {more} more")));
        line("excludes", excluded);
        line("disturbed by", self.names(&facts.disturbed_by));
        line("enabled by", self.names(&facts.enabled_by));
        line("visible", if facts.visible { vec!["to an invariant".to_string()] } else { Vec::new() });
        out
    }

    fn edge_json(&self, id: ProctypeId, edge: &Edge, facts: &EdgeFacts) -> Value {
        let place = self.sources.location(edge.span);
        let Access { guard, effect, writes, .. } = &facts.access;
        json!({
            "file": place.file, "line": place.line, "column": place.column, "text": edge.text,
            "guard": self.region(id, &guard.0), "reads": self.region(id, &effect.0), "writes": self.region(id, &writes.0),
            "standing": word(facts.standing), "visible": facts.visible,
            "disturbed_by": self.names(&facts.disturbed_by), "enabled_by": self.names(&facts.enabled_by),
            "needs": facts.needs.iter().map(|need| self.need_json(need)).collect::<Vec<Value>>(),
            "excludes": self.excluded(facts),
        })
    }

    /// A need as a condition.
    fn condition(&self, need: &Need) -> String {
        let mut cells = Cells::default();
        cells.add(need.cell, need.cell + 1);
        let name = self.cells(&cells, &self.program.globals).join(", ");
        let is = match need.is {
            Relation::Equal => "==",
            Relation::Different => "!=",
            Relation::Less => "<",
            Relation::Greater => ">",
        };
        format!("{name} {is} {}", need.value)
    }

    fn need_words(&self, facts: &NeedFacts) -> String {
        let who = |ids: &[ProctypeId]| match ids {
            [] => "nobody".to_string(),
            ids => self.names(ids).join(", "),
        };
        let (true_by, false_by) = (who(&facts.made_true_by), who(&facts.made_false_by));
        format!("{}, made true by {true_by}, made false by {false_by}", self.condition(&facts.need))
    }

    fn need_json(&self, facts: &NeedFacts) -> Value {
        json!({
            "condition": self.condition(&facts.need),
            "made_true_by": self.names(&facts.made_true_by),
            "made_false_by": self.names(&facts.made_false_by),
        })
    }

    /// The statements that are never executable together with one.
    fn excluded(&self, facts: &EdgeFacts) -> Vec<String> {
        let statement = |&(id, edge): &(ProctypeId, EdgeId)| {
            let proctype = self.program.proctype(id);
            let edge = proctype.edge(edge);
            format!("{}:{} {}", proctype.name, self.sources.location(edge.span).line, edge.text)
        };
        facts.excludes.iter().map(statement).collect()
    }

    fn names(&self, ids: &[ProctypeId]) -> Vec<String> {
        ids.iter().map(|id| self.program.proctype(*id).name.clone()).collect()
    }

    /// The parts of a region by name.
    fn region(&self, id: ProctypeId, region: &Region) -> Vec<String> {
        let program = self.program;
        let mut names = self.cells(&region.globals, &program.globals);
        names.extend(self.cells(&region.own, &program.proctype(id).locals));
        for (other, cells) in &region.others {
            let proctype = program.proctype(*other);
            let of = self.cells(cells, &proctype.locals);
            names.extend(of.into_iter().map(|name| format!("{}:{name}", proctype.name)));
        }
        for (channel, aspects) in &region.channels {
            names.push(format!("{} ({})", self.channel(id, *channel), aspect_words(*aspects)));
        }
        let places = (0..program.proctypes.len() as u32).map(ProctypeId);
        for other in places.filter(|other| region.controls.contains(*other)) {
            names.push(format!("where {} is", program.proctype(other).name));
        }
        let more = [
            (region.processes, "which processes there are"),
            (region.priorities, "priorities"),
            (region.last, "_last"),
            (region.trace, "the trace"),
            (region.timeout, "timeout"),
            (region.everything, "everything"),
        ];
        names.extend(more.iter().filter(|(is, _)| *is).map(|(_, what)| (*what).to_string()));
        names
    }

    /// Variables by name, and elements of arrays where not all are meant.
    fn cells(&self, cells: &Cells, vars: &[Var]) -> Vec<String> {
        let mut names = Vec::new();
        for var in vars {
            let n = self.program.cells_of(&var.ty);
            let held: Vec<u32> = (0..n).filter(|i| cells.contains(var.cell + i)).collect();
            match &var.ty {
                _ if held.is_empty() => {}
                Type::Array(element, _) if held.len() < n as usize => {
                    let size = self.program.cells_of(element).max(1);
                    let mut indices: Vec<u32> = held.iter().map(|cell| cell / size).collect();
                    indices.dedup();
                    names.extend(indices.iter().map(|index| format!("{}[{index}]", var.name)));
                }
                _ => names.push(var.name.clone()),
            }
        }
        names
    }

    fn channel(&self, id: ProctypeId, name: ChannelName) -> String {
        let declared = |ty: ChanTypeId| self.program.chan_types[ty.index()].name.clone();
        let globals: Vec<ChanTypeId> = channels_of(&self.program.init);
        match name {
            ChannelName::Global(n) | ChannelName::Number(n) => match globals.get(n as usize) {
                Some(&ty) => {
                    let same = |ty: &ChanTypeId, other: &ChanTypeId| ty == other;
                    let before = globals[..n as usize].iter().filter(|other| same(&ty, other)).count();
                    let several = globals.iter().filter(|other| same(&ty, other)).count() > 1;
                    if several { format!("{}[{before}]", declared(ty)) } else { declared(ty) }
                }
                None => format!("channel {}", n + 1),
            },
            ChannelName::Own(n) => {
                let own = channels_of(&self.program.proctype(id).init);
                own.get(n as usize).map_or_else(|| "an own channel".to_string(), |ty| declared(*ty))
            }
            ChannelName::Declared(ty) => format!("some {}", declared(ty)),
        }
    }
}

/// The declarations of the channels that are created, in order.
fn channels_of(init: &[InitStep]) -> Vec<ChanTypeId> {
    let created = init.iter().filter_map(|step| match step {
        InitStep::NewChan(_, ty) => Some(*ty),
        InitStep::Assign(..) => None,
    });
    created.collect()
}

fn aspect_words(aspects: Aspects) -> String {
    let words = [
        (Aspects::EMPTY, "empty?"),
        (Aspects::FULL, "full?"),
        (Aspects::LEN, "length"),
        (Aspects::HEAD, "first message"),
        (Aspects::BACK, "sender's end"),
        (Aspects::BODY, "other messages"),
    ];
    let named = words.iter().filter(|(aspect, _)| aspects.meets(*aspect)).map(|(_, word)| *word);
    named.collect::<Vec<&str>>().join(", ")
}
