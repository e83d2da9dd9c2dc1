//! Message sequence charts of runs: what there is to draw; [`text`] draws it as text, [`draw::chart_svg`] as
//! SVG.
//!
//! Every receive is matched with the very message that was sent: the events of a step say where in its
//! channel a message was put or found, so that a copy of each channel that holds message numbers follows the
//! run exactly, whatever order messages are taken in.

pub mod text;

use crate::run::Run;
use crate::story::process_name;
use crate::visible::one_line;
pub use draw::chart::{Chart, Lane, Mark, Message, Row};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use system::{ChannelRef, Event, Fault, FaultKind, NOBODY, Snapshot, StepInfo, explain};

/// How a run ends, or does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct End<'a> {
    /// What is wrong.
    pub fault: Option<&'a Fault>,
    /// Steps before those that are repeated forever.
    pub cycle: Option<usize>,
}

/// The chart of some steps of a run; the error at the end is drawn when the last step is among them.
pub fn chart(run: &Run<'_>, steps: RangeInclusive<usize>, ending: End<'_>) -> Chart {
    let End { fault, cycle } = ending;
    let (first, last) = ((*steps.start()).max(run.first() + 1), (*steps.end()).min(run.len()));
    let mut builder = Builder { cycle, ..Builder::new(&run.snapshot(first - 1)) };
    for number in first..=last {
        if let Some(info) = run.info(number) {
            let wrong = run.step(number).is_some_and(|taken| taken.fault.is_some());
            builder.step(number, &info, &run.events(number), wrong);
        }
    }
    let mut chart = builder.chart;
    chart.again = cycle.filter(|cycle| (first - 1..=last).contains(cycle)).map(|cycle| {
        let later = |row: &Row| *row.steps.start() > cycle;
        chart.rows.iter().position(later).unwrap_or(chart.rows.len())
    });
    if last == run.len() {
        chart.fault = fault.map(|f| format!("{} ({}:{})", f.message, one_line(&f.file), f.line));
        if fault.is_some_and(|fault| fault.kind == FaultKind::EndState) {
            chart.waiting = waiting(&run.snapshot(last), &builder.alive);
        }
    }
    chart
}

/// The chart of a whole run.
pub fn whole(run: &Run<'_>, fault: Option<&Fault>) -> Chart {
    chart(run, 1..=run.len(), End { fault, cycle: None })
}

/// Whether a step only goes on: the author did not write it, and it does nothing.
pub fn is_silent(text: &str) -> bool {
    let joins =
        ["(the loop begins again)", "(the choice ends)", "(the unless ends)", "(the loop ends)", "break"];
    joins.contains(&text)
}

/// Before which statements processes wait.
fn waiting(state: &Snapshot, alive: &HashMap<u32, usize>) -> Vec<(usize, String)> {
    let stuck = state.processes.iter().filter(|process| !process.at_end);
    stuck.filter_map(|p| Some((*alive.get(&p.pid)?, p.next.join(" or ")))).collect()
}

/// A chart in the making.
struct Builder {
    chart: Chart,
    /// The lane of each process that exists.
    alive: HashMap<u32, usize>,
    /// The numbers of the messages in each channel.
    queues: HashMap<u32, Vec<usize>>,
    /// Steps before those that are repeated.
    cycle: Option<usize>,
}

impl Builder {
    fn new(state: &Snapshot) -> Self {
        let mut builder =
            Builder { chart: Chart::default(), alive: HashMap::new(), queues: HashMap::new(), cycle: None };
        for process in &state.processes {
            builder.add_lane(process.pid, &process.name, None);
        }
        for channel in &state.channels {
            for fields in &channel.messages {
                let number = builder.add_message(&channel.id, explain::message(fields), None);
                builder.queues.entry(channel.id.number).or_default().push(number);
            }
        }
        builder
    }

    fn add_lane(&mut self, pid: u32, name: &str, starts: Option<usize>) -> usize {
        let lane = Lane { name: process_name(name, pid), pid, starts, ends: None };
        self.chart.lanes.push(lane);
        self.alive.insert(pid, self.chart.lanes.len() - 1);
        self.chart.lanes.len() - 1
    }

    fn add_message(&mut self, channel: &ChannelRef, text: String, sent: Option<(usize, usize)>) -> usize {
        self.chart.messages.push(Message { channel: channel.name.clone(), text, sent, received: None });
        self.chart.messages.len() - 1
    }

    /// The lane of a process. One that is not known (which cannot be) gets a lane.
    fn lane(&mut self, pid: u32) -> usize {
        match self.alive.get(&pid) {
            Some(&lane) => lane,
            None => self.add_lane(pid, "?", None),
        }
    }

    fn step(&mut self, number: usize, info: &StepInfo, events: &[Event], wrong: bool) {
        // A chart is about processes: moves of a claim have no lane.
        if info.pid == NOBODY {
            return;
        }
        let note = format!("{number}: {}:{}  {}", info.file, info.line, info.text);
        let before = self.chart.rows.len();
        for event in events {
            if let Some(mark) = self.mark(event) {
                self.chart.rows.push(Row { mark, steps: number..=number, notes: vec![note.clone()] });
            }
        }
        if self.chart.rows.len() == before || wrong {
            let printed = explain::printed(events);
            let text = match printed.trim_end() {
                "" => info.text.clone(),
                printed => format!("prints {printed}"),
            };
            let lane = self.lane(info.pid);
            let text = Some(text).filter(|text| wrong || !is_silent(text));
            self.local(number, lane, text, note, wrong);
        }
    }

    /// Steps of one process that follow each other share a row, unless only some of them are repeated.
    fn local(&mut self, number: usize, lane: usize, text: Option<String>, note: String, is_wrong: bool) {
        if let Some(Row { mark: Mark::Local { lane: same, texts, wrong }, steps, notes }) =
            self.chart.rows.last_mut()
        {
            let apart = self.cycle.is_some_and(|cycle| *steps.start() <= cycle && number > cycle);
            if *same == lane && !*wrong && !apart {
                texts.extend(text.map(|text| (number, text)));
                notes.push(note);
                *steps = *steps.start()..=number;
                *wrong = is_wrong;
                return;
            }
        }
        // A silent step alone is nothing to draw.
        let Some(text) = text else { return };
        let mark = Mark::Local { lane, texts: vec![(number, text)], wrong: is_wrong };
        self.chart.rows.push(Row { mark, steps: number..=number, notes: vec![note] });
    }

    /// The mark of an event that has one of its own.
    fn mark(&mut self, event: &Event) -> Option<Mark> {
        let row = self.chart.rows.len();
        Some(match event {
            Event::Send { pid, channel, message, slot } => {
                let lane = self.lane(*pid);
                let number = self.add_message(channel, explain::message(message), Some((lane, row)));
                let queue = self.queues.entry(channel.number).or_default();
                queue.insert((*slot).min(queue.len()), number);
                Mark::Send { lane, message: number }
            }
            Event::Receive { keep: true, .. } => return None,
            Event::Receive { pid, channel, message, slot, .. } => {
                let lane = self.lane(*pid);
                let queue = self.queues.entry(channel.number).or_default();
                let number = match *slot < queue.len() {
                    true => queue.remove(*slot),
                    false => self.add_message(channel, explain::message(message), None),
                };
                self.chart.messages[number].received = Some((lane, row));
                Mark::Receive { lane, message: number }
            }
            Event::Handshake { pid, receiver, channel, message } => {
                let (from, to) = (self.lane(*pid), self.lane(*receiver));
                Mark::Meet { from, to, text: format!("{}: {}", channel.name, explain::message(message)) }
            }
            Event::Run { pid, child, name } => {
                let by = self.lane(*pid);
                Mark::Start { by, lane: self.add_lane(*child, name, Some(row)) }
            }
            Event::End { pid, channels } => {
                let lane = self.lane(*pid);
                self.chart.lanes[lane].ends = Some(row);
                self.alive.remove(pid);
                for channel in channels {
                    self.queues.remove(&channel.number);
                }
                Mark::End { lane }
            }
            Event::Print { .. } | Event::Assert { .. } => return None,
        })
    }
}
