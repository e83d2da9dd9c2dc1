//! The values of a state as a flat list of names and texts: what tables of states show.

use serde::Serialize;
use system::{Snapshot, Value};
use trace::story::process_name;

/// A value that is shown in a row of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leaf {
    /// The name that changes have: `x`, `a[1].f`, `P[0]:y`.
    pub name: String,
    /// The value as text.
    pub text: String,
    /// The process that owns it; none for what all share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// It is what a channel holds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub channel: bool,
}

/// The values of a state, down to elements and fields, by the names that changes have; at most `most`.
pub fn values(state: &Snapshot, most: usize) -> Vec<Leaf> {
    let mut out = Vec::new();
    state.globals.iter().for_each(|(name, value)| leaves(name.clone(), value, None, &mut out));
    for channel in state.channels.iter().filter(|channel| channel.capacity > 0) {
        let text = channel.contents().to_string();
        out.push(Leaf { name: channel.id.name.clone(), text, pid: None, channel: true });
    }
    for process in &state.processes {
        let owner = process_name(&process.name, process.pid);
        for (name, value) in &process.locals {
            leaves(format!("{owner}:{name}"), value, Some(process.pid), &mut out);
        }
    }
    out.truncate(most);
    out
}

fn leaves(name: String, value: &Value, pid: Option<u32>, out: &mut Vec<Leaf>) {
    match value {
        // Channels are listed with their contents.
        Value::Channel(Some(channel)) if channel.name == name => {}
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| leaves(format!("{name}[{i}]"), value, pid, out));
        }
        Value::Record(fields) => {
            fields.iter().for_each(|(field, value)| leaves(format!("{name}.{field}"), value, pid, out));
        }
        value => out.push(Leaf { name, text: value.to_string(), pid, channel: false }),
    }
}
