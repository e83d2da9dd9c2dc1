//! A counterexample as data: what a page shows of it, and what its script walks through.
//!
//! Of a long run only the beginning and the end are there, as two parts with the state before each.

use draw::style;
use engine::replay::Replayed;
use explore::picture::{Situation, graph, lanes};
use explore::{Automaton, automata};
use serde_json::{Value as Json, json};
use std::ops::RangeInclusive;
use system::{Fault, FaultKind, ProcessView, Snapshot, Value};
use trace::story::{self, Told};
use trace::{Palette, blocked_text, msc};

/// Steps of a run that is shown as a whole; of a longer one those at its beginning and at its end.
const WHOLE: usize = 5000;
const BEGINNING: usize = 500;
const END: usize = 1500;
/// Steps of a chart, and of lanes.
const DRAWN: usize = 500;
/// Values of a state that are listed.
const VALUES: usize = 400;

/// A counterexample.
pub struct Violation {
    /// The property.
    pub property: String,
    /// Its propositions, as they were written.
    pub propositions: Vec<String>,
    /// What is wrong.
    pub fault: Fault,
    /// The number of its steps.
    pub len: usize,
    /// Steps before those that are repeated forever.
    pub cycle: Option<usize>,
    /// The steps that are shown.
    pub parts: Vec<Part>,
    /// The last state.
    pub state: Vec<(String, String)>,
    /// Why nobody can move, where that is what is wrong.
    pub blocked: String,
    /// The run as rows of cells.
    pub lanes: draw::Lanes,
    /// The run as a chart.
    pub chart: draw::Chart,
    /// The steps that chart and lanes show.
    pub drawn: RangeInclusive<usize>,
    /// The automata of the processes, as they stand at the end.
    pub graphs: Vec<(String, draw::Graph)>,
}

/// Steps that follow each other.
pub struct Part {
    /// The state before them.
    pub before: Snapshot,
    /// Which propositions hold then.
    pub holding: Vec<bool>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A step.
pub struct Step {
    /// What happened.
    pub told: Told,
    /// What it did, in one line.
    pub effects: String,
    /// Processes that are elsewhere: number, proctype, location; none when it has ended.
    pub located: Vec<(u32, String, Option<u32>)>,
    /// Which propositions hold afterwards.
    pub holding: Vec<bool>,
}

impl Violation {
    /// Looks at a run that was replayed.
    pub fn of(replayed: &Replayed<'_>) -> Violation {
        let (run, len) = (&replayed.run, replayed.run.len());
        let last = run.snapshot(len);
        let drawn = (len + 1).saturating_sub(DRAWN).max(1)..=len;
        let ending = msc::End { fault: Some(&replayed.violation), cycle: replayed.cycle };
        let parts: Vec<Part> = shown(len).into_iter().map(|steps| part(replayed, steps)).collect();
        let told: Vec<Told> = drawn.clone().filter_map(|number| story::tell(run, number)).collect();
        let title = format!("{} steps of the run", told.len());
        let cycle = replayed.cycle.filter(|&cycle| cycle + 1 >= *drawn.start());
        let stuck = replayed.violation.kind == FaultKind::EndState;
        let blocked = if stuck { run.words().blocked(&run.state(len)) } else { Vec::new() };
        Violation {
            property: replayed.property.clone(),
            propositions: replayed.propositions.iter().map(|written| written.text.clone()).collect(),
            fault: replayed.violation.clone(),
            len,
            cycle: replayed.cycle,
            parts,
            state: values(&last),
            blocked: blocked_text::full(&blocked),
            lanes: lanes(&title, &run.snapshot(drawn.start() - 1).processes, &told, cycle),
            chart: msc::chart(run, drawn.clone(), ending),
            drawn,
            graphs: graphs(replayed, &last.processes, told.last()),
        }
    }

    /// Whether the run shows no error, but that a formula holds.
    pub fn is_witness(&self) -> bool {
        self.fault.kind == FaultKind::Witness
    }

    /// The steps that are shown, for the script of the page.
    pub fn json(&self) -> Json {
        let part = |part: &Part| {
            let state = values(&part.before);
            let located = part.before.processes.iter().map(|p| json!([p.pid, p.name, p.location]));
            json!({
                "first": part.steps.first().map_or(1, |step| step.told.number),
                "state": state,
                "located": located.collect::<Vec<Json>>(),
                "holding": part.holding,
                "steps": part.steps.iter().map(step).collect::<Vec<Json>>(),
            })
        };
        json!({
            "steps": self.len,
            "cycle": self.cycle,
            "propositions": self.propositions,
            "parts": self.parts.iter().map(part).collect::<Vec<Json>>(),
        })
    }
}

/// The steps of a run that are shown.
fn shown(len: usize) -> Vec<RangeInclusive<usize>> {
    match len {
        0..=WHOLE => vec![1..=len],
        _ => vec![1..=BEGINNING, len + 1 - END..=len],
    }
}

fn part(replayed: &Replayed<'_>, steps: RangeInclusive<usize>) -> Part {
    let (run, first) = (&replayed.run, *steps.start());
    let before = run.snapshot(first - 1);
    let (mut seen, mut at) = (Some((first - 1, before.clone())), before.processes.clone());
    let mut list = Vec::new();
    for number in steps {
        let Some(told) = story::tell_next(run, number, &mut seen) else { continue };
        let now = seen.as_ref().map(|(_, state)| state.processes.clone()).unwrap_or_default();
        let effects = story::effects(&told, Palette::PLAIN);
        list.push(Step { effects, located: moved(&at, &now), holding: replayed.holding(number), told });
        at = now;
    }
    Part { before, holding: replayed.holding(first - 1), steps: list }
}

/// Processes that are elsewhere than before.
fn moved(before: &[ProcessView], after: &[ProcessView]) -> Vec<(u32, String, Option<u32>)> {
    let place = |list: &[ProcessView], at: usize| list.get(at).map(|p| (p.pid, p.name.clone(), p.location));
    let mut out = Vec::new();
    for at in 0..before.len().max(after.len()) {
        match (place(before, at), place(after, at)) {
            (old, Some(new)) if old.as_ref() != Some(&new) => out.push((new.0, new.1, Some(new.2))),
            (Some((pid, name, _)), None) => out.push((pid, name, None)),
            _ => {}
        }
    }
    out
}

/// A step for the script: changes, edges and places.
fn step(step: &Step) -> Json {
    let value = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    let change = |c: &trace::change::Change| json!([c.full_name(), value(&c.before), value(&c.after)]);
    let taken = |m: &system::Move| json!([m.proctype, m.edge]);
    let place = |info: &system::StepInfo| json!([info.file, info.line]);
    let info = &step.told.info;
    let places = [Some(info), info.partner.as_deref()].into_iter().flatten();
    json!({
        "changes": step.told.changes.iter().map(change).collect::<Vec<Json>>(),
        "moves": step.told.moves.iter().map(taken).collect::<Vec<Json>>(),
        "located": step.located.iter().map(|(pid, name, at)| json!([pid, name, at])).collect::<Vec<Json>>(),
        "at": places.map(place).collect::<Vec<Json>>(),
        "holding": step.holding,
    })
}

/// The values of a state by their names.
fn values(state: &Snapshot) -> Vec<(String, String)> {
    explore::values(state, VALUES).into_iter().map(|leaf| (leaf.name, leaf.text)).collect()
}

/// The automata of all processes of the last state and of the last step.
fn graphs(
    replayed: &Replayed<'_>,
    processes: &[ProcessView],
    last: Option<&Told>,
) -> Vec<(String, draw::Graph)> {
    let Ok(program) = replayed.session.program() else { return Vec::new() };
    let moves = last.map(|told| told.moves.clone()).unwrap_or_default();
    let lives = |automaton: &&Automaton| {
        processes.iter().any(|process| process.name == automaton.name)
            || moves.iter().any(|taken| taken.proctype == automaton.name)
    };
    let automata = automata(program, &replayed.session.sources);
    let drawn = automata.iter().filter(lives).map(|automaton| {
        let situation = Situation::of(&automaton.name, processes, &moves);
        (automaton.name.clone(), graph(automaton, &situation))
    });
    drawn.collect()
}

/// The class of the colour of a process.
pub fn colour(pid: u32) -> String {
    match pid {
        system::NOBODY => format!("c{}", style::COLOURS - 1),
        pid => format!("c{}", style::colour(pid as usize)),
    }
}
