//! Values, changes, events and states as JSON: what `replay --format json` adds to the steps.

use crate::change::{Change, Of, Part};
use crate::story::Told;
use crate::write::info_object;
use serde_json::{Map, Value as Json, json};
use system::{ChannelRef, ChannelView, Event, Move, NOBODY, ProcessView, Snapshot, Value, explain};

/// A value: numbers, `true`, names of constants as text, arrays, objects. A channel is an object with its
/// number and name, a lock is the number of its holder; both are null where there is none.
pub fn value(of: &Value) -> Json {
    match of {
        Value::Int(number) => json!(number),
        Value::Bool(truth) => json!(truth),
        Value::Symbol(name) => json!(name),
        Value::Channel(id) => id.as_ref().map_or(Json::Null, channel_ref),
        Value::Lock(holder) => json!(holder),
        Value::Array(list) | Value::Message(list) => list.iter().map(value).collect(),
        Value::Record(fields) => named(fields),
    }
}

fn named(values: &[(String, Value)]) -> Json {
    Json::Object(values.iter().map(|(name, of)| (name.clone(), value(of))).collect())
}

fn channel_ref(id: &ChannelRef) -> Json {
    json!({"channel": id.number, "name": id.name})
}

/// A step: who, where, which statement (the partner of a rendezvous inside), what changed, what happened,
/// what was printed.
pub fn step(told: &Told) -> Map<String, Json> {
    let mut object = info_object(&told.info);
    object.insert("moves".into(), told.moves.iter().map(taken).collect());
    object.insert("atomic".into(), json!(told.was_inside || told.is_inside));
    object.insert("changes".into(), told.changes.iter().map(change).collect());
    object.insert("events".into(), told.events.iter().map(event).collect());
    let output = explain::printed(&told.events);
    if !output.is_empty() {
        object.insert("output".into(), json!(output));
    }
    if let Some(fault) = &told.fault {
        object.insert("fault".into(), json!({"kind": fault.kind.name(), "message": fault.message}));
    }
    object
}

/// A change; `before` is missing for what did not exist, `after` for what exists no longer.
pub fn change(change: &Change) -> Json {
    let mut object = Map::new();
    object.insert("name".into(), json!(change.full_name()));
    let scope = match &change.of {
        Of::Global => "global",
        Of::Local { .. } => "local",
        Of::Channel => "channel",
    };
    object.insert("scope".into(), json!(scope));
    object.insert("path".into(), change.path.iter().map(part).collect());
    match &change.of {
        Of::Global => {}
        Of::Local { pid, .. } => drop(object.insert("pid".into(), json!(pid))),
        Of::Channel => drop(object.insert("channel".into(), json!(true))),
    }
    for (word, of) in [("before", &change.before), ("after", &change.after)] {
        if let Some(of) = of {
            object.insert(word.into(), value(of));
        }
    }
    Json::Object(object)
}

fn part(part: &Part) -> Json {
    match part {
        Part::Name(name) => json!(name),
        Part::Index(index) => json!(index),
    }
}

/// A process that takes an edge of its automaton; a claim has no `pid`, `to` is null where a process ends.
pub fn taken(of: &Move) -> Json {
    let pid = Some(of.pid).filter(|&pid| pid != NOBODY);
    json!({"pid": pid, "proctype": of.proctype, "edge": of.edge, "from": of.from, "to": of.to})
}

/// An event; `kind` says which.
pub fn event(of: &Event) -> Json {
    let list = |message: &[Value]| message.iter().map(value).collect::<Json>();
    match of {
        Event::Send { pid, channel, message, slot } => json!({
            "kind": "send", "pid": pid, "channel": channel.number, "name": channel.name,
            "message": list(message), "slot": slot,
        }),
        Event::Receive { pid, channel, message, slot, keep } => json!({
            "kind": "receive", "pid": pid, "channel": channel.number, "name": channel.name,
            "message": list(message), "slot": slot, "keep": keep,
        }),
        Event::Handshake { pid, receiver, channel, message } => json!({
            "kind": "rendezvous", "pid": pid, "receiver": receiver, "channel": channel.number,
            "name": channel.name, "message": list(message),
        }),
        Event::Run { pid, child, name } => {
            json!({"kind": "run", "pid": pid, "child": child, "process": name})
        }
        Event::End { pid, .. } => json!({"kind": "end", "pid": pid}),
        Event::Print { pid, text } => json!({"kind": "print", "pid": pid, "text": text}),
        Event::Assert { pid, holds } => json!({"kind": "assert", "pid": pid, "holds": holds}),
    }
}

/// A whole state.
pub fn state(state: &Snapshot) -> Json {
    json!({
        "globals": named(&state.globals),
        "channels": state.channels.iter().map(channel).collect::<Json>(),
        "processes": state.processes.iter().map(process).collect::<Json>(),
        "control": state.control,
    })
}

fn channel(channel: &ChannelView) -> Json {
    json!({
        "channel": channel.id.number,
        "name": channel.id.name,
        "capacity": channel.capacity,
        "messages": value(&channel.contents()),
    })
}

fn process(process: &ProcessView) -> Json {
    json!({
        "pid": process.pid,
        "process": process.name,
        "file": process.file,
        "line": process.line,
        "column": process.column,
        "location": process.location,
        "next": process.next,
        "at_end": process.at_end,
        "priority": process.priority,
        "locals": named(&process.locals),
    })
}
