//! Message sequence charts: processes as columns, time downwards, messages as arrows.
//!
//! [`Chart::of`] finds out what there is to draw; [`text`] and [`svg`] draw it. Every receive is matched with
//! the very message that was sent: the events of a step say where in its channel a message was put or found,
//! so that a copy of each channel that holds message numbers follows the run exactly, whatever order messages
//! are taken in.

pub mod svg;
pub mod text;

use crate::run::Run;
use crate::story::process_name;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use system::{ChannelRef, Event, Fault, FaultKind, NOBODY, Snapshot, StepInfo, explain};

/// What there is to draw.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The processes; those of the beginning first, then in order of their start.
    pub lanes: Vec<Lane>,
    /// What happens, downwards.
    pub rows: Vec<Row>,
    /// All messages that were sent or received.
    pub messages: Vec<Message>,
    /// What is wrong at the end.
    pub fault: Option<Fault>,
    /// The statements before which processes wait forever, by lane; only where nobody can move.
    pub waiting: Vec<(usize, String)>,
    /// The first of the rows that are repeated forever; behind the last row where it is a state that lasts
    /// forever.
    pub again: Option<usize>,
}

/// How a run ends, or does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct End<'a> {
    /// What is wrong.
    pub fault: Option<&'a Fault>,
    /// Steps before those that are repeated forever.
    pub cycle: Option<usize>,
}

/// What is said where a run begins again and where it goes back.
const AGAIN: [&str; 2] = ["from here on forever", "and again from the line above"];
/// What is said of a state that is repeated forever.
const LASTS: &str = "nothing can move: this state lasts forever";

/// A process.
#[derive(Clone, Debug)]
pub struct Lane {
    /// `user[1]`.
    pub name: String,
    /// Its number, which is its column: a number is used again only when the process before has ended.
    pub pid: u32,
    /// The row in which it starts; `None` for those that exist from the beginning.
    pub starts: Option<usize>,
    /// The row in which it ends.
    pub ends: Option<usize>,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    /// The channel.
    pub channel: String,
    /// The fields.
    pub text: String,
    /// Lane and row of the send, if that is in the chart.
    pub sent: Option<(usize, usize)>,
    /// Lane and row of the receive, if there is one.
    pub received: Option<(usize, usize)>,
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub struct Row {
    /// What.
    pub mark: Mark,
    /// The steps that it stands for.
    pub steps: RangeInclusive<usize>,
    /// The statements with their places, one line each.
    pub notes: Vec<String>,
}

/// What can happen.
#[derive(Clone, Debug)]
pub enum Mark {
    /// Steps that concern one process alone.
    Local {
        /// The process.
        lane: usize,
        /// The statements, each with the number of its step.
        texts: Vec<(usize, String)>,
        /// The last of them is wrong.
        wrong: bool,
    },
    /// A message goes into a channel.
    Send {
        /// The sender.
        lane: usize,
        /// Which message.
        message: usize,
    },
    /// A message comes out of a channel.
    Receive {
        /// The receiver.
        lane: usize,
        /// Which message.
        message: usize,
    },
    /// A rendezvous.
    Meet {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// Channel and message.
        text: String,
    },
    /// A process starts another one.
    Start {
        /// Who.
        by: usize,
        /// The new one.
        lane: usize,
    },
    /// A process ends.
    End {
        /// Which one.
        lane: usize,
    },
}

impl Chart {
    /// The chart of some steps of a run; the error at the end is drawn when the last step is among them.
    pub fn of(run: &Run<'_>, steps: RangeInclusive<usize>, ending: End<'_>) -> Chart {
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
            chart.fault = fault.cloned();
            if fault.is_some_and(|fault| fault.kind == FaultKind::EndState) {
                chart.waiting = waiting(&run.snapshot(last), &builder.alive);
            }
        }
        chart
    }

    /// The chart of a whole run.
    pub fn whole(run: &Run<'_>, fault: Option<&Fault>) -> Chart {
        Chart::of(run, 1..=run.len(), End { fault, cycle: None })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.lanes.iter().map(|lane| lane.pid as usize + 1).max().unwrap_or(0)
    }
}

/// Whether a step only goes on: the author did not write it, and it does nothing.
fn is_silent(text: &str) -> bool {
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
