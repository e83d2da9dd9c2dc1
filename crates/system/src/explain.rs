//! Names, places, values and events: what people are told about steps and states.
//!
//! Cold: a search never asks. A [`Snapshot`] is a whole state in words; [`Event`]s are what happened inside
//! one step, in the order in which it happened, so that a chart can match every receive with the very message
//! that was sent. Values keep their structure; [`Value`]'s `Display` writes them as Promela does.

use crate::coverage::Coverage;
use crate::{ActionId, Blocked};
use std::fmt;

/// Steps and states in words.
pub trait Explain {
    /// The step that the action stands for: who, where, which statement.
    fn step(&self, state: &[u8], action: ActionId) -> StepInfo;

    /// Everything that there is in a state.
    fn snapshot(&self, state: &[u8]) -> Snapshot;

    /// What happens when the action is taken; of a step that cannot be completed, what happens before the
    /// error.
    fn events(&self, state: &[u8], action: ActionId) -> Vec<Event>;

    /// The edges of automata that the action takes: one, or two for a rendezvous, the sender's first. A
    /// system without automata has none.
    fn edges_taken(&self, _state: &[u8], _action: ActionId) -> Vec<Move> {
        Vec::new()
    }

    /// Every process that cannot move, with the reasons. A system that does not know them gives none.
    fn blocked(&self, _state: &[u8]) -> Vec<Blocked> {
        Vec::new()
    }

    /// Which statements were executed since the system was made; `None` when it does not keep track. After a
    /// search that saw everything, those that were not executed never will be.
    fn coverage(&self) -> Option<Vec<Coverage>> {
        None
    }
}

/// One step in words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StepInfo {
    /// The process.
    pub process: String,
    /// Its number.
    pub pid: u32,
    /// File, 1-based line and column of the statement.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The statement as written.
    pub text: String,
    /// The receiving half of a rendezvous.
    pub partner: Option<Box<StepInfo>>,
}

/// A process that takes an edge of its automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// Its number; [`NOBODY`](crate::NOBODY) for a claim.
    pub pid: u32,
    /// Its automaton: the name of the proctype or claim.
    pub proctype: String,
    /// The number of the edge in the automaton.
    pub edge: u32,
    /// The location that it leaves, as `pan -d` numbers it.
    pub from: u32,
    /// The location that it reaches; `None` when the process ends.
    pub to: Option<u32>,
}

/// A state in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// Global variables, in order of declaration.
    pub globals: Vec<(String, Value)>,
    /// All channels, in order of creation.
    pub channels: Vec<ChannelView>,
    /// All processes, in order of pid.
    pub processes: Vec<ProcessView>,
    /// The process that is inside an atomic sequence and has exclusive control.
    pub control: Option<u32>,
}

impl Snapshot {
    /// The global variable of this name.
    pub fn global(&self, name: &str) -> Option<&Value> {
        self.globals.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The channel that was created under this name.
    pub fn channel(&self, name: &str) -> Option<&ChannelView> {
        self.channels.iter().find(|channel| channel.id.name == name)
    }
}

/// A channel as people know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelRef {
    /// Its number, from 1; numbers are used again when a process ends and its channels with it.
    pub number: u32,
    /// The variable that it was created for: `fork[2]`, or `user[1]:q` when that is a local variable.
    pub name: String,
}

/// A channel and what is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelView {
    /// Which channel.
    pub id: ChannelRef,
    /// Messages it can hold; 0 is a rendezvous.
    pub capacity: u32,
    /// The messages, first message first, each with its fields.
    pub messages: Vec<Vec<Value>>,
}

impl ChannelView {
    /// The messages as a value: written as `[3, 4]`, or `[msg(1), ack(0)]` where they have several fields.
    pub fn contents(&self) -> Value {
        Value::Array(self.messages.iter().cloned().map(Value::Message).collect())
    }
}

/// A message as Promela writes it: `3`, `msg(1,2)` after a symbolic name, else `(1,2)`.
pub fn message(fields: &[Value]) -> String {
    let list = |fields: &[Value]| fields.iter().map(Value::to_string).collect::<Vec<_>>().join(",");
    match fields {
        [one] => one.to_string(),
        [Value::Symbol(name), rest @ ..] => format!("{name}({})", list(rest)),
        _ => format!("({})", list(fields)),
    }
}

/// A process and where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessView {
    /// Its number.
    pub pid: u32,
    /// Its proctype.
    pub name: String,
    /// File, 1-based line and column of the statement where it is.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The number of the control point, as `pan -d` shows it.
    pub location: u32,
    /// The statements that it could do next, as written.
    pub next: Vec<String>,
    /// It is where a run may end.
    pub at_end: bool,
    /// It has executed its whole body and is only waiting to disappear.
    pub finished: bool,
    /// Its priority, where priorities are used.
    pub priority: Option<u8>,
    /// Parameters, then other local variables, in order of declaration.
    pub locals: Vec<(String, Value)>,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Int(i64),
    /// `bool`.
    Bool(bool),
    /// A symbolic constant.
    Symbol(String),
    /// A channel, if there is one.
    Channel(Option<ChannelRef>),
    /// A lock, and who holds it.
    Lock(Option<u32>),
    /// An array.
    Array(Vec<Value>),
    /// A structure.
    Record(Vec<(String, Value)>),
    /// A message: its fields.
    Message(Vec<Value>),
}

/// Elements of an array that are shown at most.
const SHOWN: usize = 24;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(number) => write!(f, "{number}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Symbol(name) => f.write_str(name),
            Value::Channel(None) => f.write_str("none"),
            Value::Channel(Some(channel)) => f.write_str(&channel.name),
            Value::Lock(None) => f.write_str("free"),
            Value::Lock(Some(pid)) => write!(f, "held by {pid}"),
            Value::Array(elements) => write_array(f, elements),
            Value::Message(fields) => f.write_str(&message(fields)),
            Value::Record(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{name} = {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Long arrays are cut; long arrays of one value are counted.
fn write_array(f: &mut fmt::Formatter<'_>, elements: &[Value]) -> fmt::Result {
    match elements {
        [first, rest @ ..] if rest.len() >= 8 && rest.iter().all(|value| value == first) => {
            return write!(f, "[{} × {first}]", elements.len());
        }
        _ => f.write_str("[")?,
    }
    for (i, value) in elements.iter().take(SHOWN).enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{value}")?;
    }
    match elements.len() {
        n if n > SHOWN => write!(f, ", … {} more]", n - SHOWN),
        _ => f.write_str("]"),
    }
}

/// Something that happens in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message goes into a channel that can hold it.
    Send {
        /// Who sends.
        pid: u32,
        /// Where to.
        channel: ChannelRef,
        /// The fields, as they are kept.
        message: Vec<Value>,
        /// How many messages are before it then (a sorted send inserts).
        slot: usize,
    },
    /// A message is taken, or looked at.
    Receive {
        /// Who receives.
        pid: u32,
        /// Where from.
        channel: ChannelRef,
        /// The fields.
        message: Vec<Value>,
        /// How many messages are before it.
        slot: usize,
        /// It stays in the channel (`?<…>`).
        keep: bool,
    },
    /// A rendezvous.
    Handshake {
        /// Who sends.
        pid: u32,
        /// Who receives.
        receiver: u32,
        /// Over which channel.
        channel: ChannelRef,
        /// The fields.
        message: Vec<Value>,
    },
    /// A process starts.
    Run {
        /// Who starts it.
        pid: u32,
        /// Its number.
        child: u32,
        /// Its proctype.
        name: String,
    },
    /// A process disappears.
    End {
        /// Which one.
        pid: u32,
        /// The channels that disappear with it.
        channels: Vec<ChannelRef>,
    },
    /// `printf` or `printm`.
    Print {
        /// Who prints.
        pid: u32,
        /// What.
        text: String,
    },
    /// `assert`.
    Assert {
        /// Who asserts.
        pid: u32,
        /// Whether it holds.
        holds: bool,
    },
}

/// All that some events print.
pub fn printed(events: &[Event]) -> String {
    let text = |event: &Event| match event {
        Event::Print { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: impl IntoIterator<Item = i64>) -> Vec<Value> {
        values.into_iter().map(Value::Int).collect()
    }

    #[test]
    fn values_are_written_as_promela_writes_them() {
        let channel = ChannelRef { number: 3, name: "fork[2]".into() };
        let record = Value::Record(vec![
            ("on".into(), Value::Bool(true)),
            ("to".into(), Value::Channel(Some(channel))),
            ("by".into(), Value::Lock(Some(1))),
        ]);
        assert_eq!(record.to_string(), "{on = true, to = fork[2], by = held by 1}");
        let none = Value::Array(vec![Value::Channel(None), Value::Lock(None)]);
        assert_eq!(none.to_string(), "[none, free]");
    }

    #[test]
    fn long_arrays_stay_short() {
        assert_eq!(Value::Array(ints([7; 9])).to_string(), "[9 × 7]");
        assert_eq!(Value::Array(ints([7; 3])).to_string(), "[7, 7, 7]");
        let long = Value::Array(ints(0..30)).to_string();
        assert!(long.starts_with("[0, 1, ") && long.ends_with(", 23, … 6 more]"), "{long}");
        assert_eq!(Value::Array(Vec::new()).to_string(), "[]");
    }

    #[test]
    fn messages() {
        let ack = || Value::Symbol("ack".into());
        assert_eq!(message(&[Value::Int(3)]), "3");
        assert_eq!(message(&[ack()]), "ack");
        assert_eq!(message(&[ack(), Value::Int(1), Value::Int(2)]), "ack(1,2)");
        assert_eq!(message(&ints([1, 2])), "(1,2)");
    }
}
