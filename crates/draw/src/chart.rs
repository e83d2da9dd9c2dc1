//! A message sequence chart: processes as columns, time downwards, messages as arrows.

use std::ops::RangeInclusive;

/// What there is to draw.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The processes; those of the beginning first, then in order of their start.
    pub lanes: Vec<Lane>,
    /// What happens, downwards.
    pub rows: Vec<Row>,
    /// All messages that were sent or received.
    pub messages: Vec<Message>,
    /// What is wrong at the end, and where.
    pub fault: Option<String>,
    /// The statements before which processes wait forever, by lane; only where nobody can move.
    pub waiting: Vec<(usize, String)>,
    /// The first of the rows that are repeated forever; behind the last row where it is a state that lasts
    /// forever.
    pub again: Option<usize>,
}

/// What is said where a run begins again and where it goes back.
pub const AGAIN: [&str; 2] = ["from here on forever", "and again from the line above"];
/// What is said of a state that is repeated forever.
pub const LASTS: &str = "nothing can move: this state lasts forever";

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
    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.lanes.iter().map(|lane| lane.pid as usize + 1).max().unwrap_or(0)
    }
}
