//! A run in the Informal Trace Format (ITF), which the viewers and libraries around Apalache and Quint read.
//!
//! One state for each moment of the run. The variables are the model's globals, then three that are made of
//! what a Promela state has besides: the messages of every channel by name, the processes by number (where
//! each is, and its locals), and the process with exclusive control. The step that led to a state is in the
//! state's `#meta`. The format is described at <https://apalache-mc.org/docs/adr/015adr-trace.html>: integers
//! are `#bigint`, arrays and channels are sequences, structures are records, messages with several fields are
//! tuples.

use crate::run::Run;
use crate::story::process_name;
use serde_json::{Map, Value as Json, json};
use std::io::{self, Write};
use system::{ChannelView, ProcessView, Snapshot, Value};

/// What a trace says about itself.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The model's file.
    pub source: &'a str,
    /// One sentence.
    pub description: &'a str,
    /// Steps before those that are repeated forever.
    pub cycle: Option<usize>,
}

/// Writes the whole run, one state a line.
pub fn write(run: &Run<'_>, about: About<'_>, out: &mut dyn Write) -> io::Result<()> {
    let first = run.snapshot(run.first());
    let names = Names::new(&first);
    // A step that could not be completed has no state of its own.
    let last =
        if run.step(run.len()).is_none_or(|taken| taken.completed) { run.len() } else { run.len() - 1 };
    let meta = json!({
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": about.source,
        "description": about.description,
    });
    write!(out, "{{\n\"#meta\": {meta},\n\"vars\": {},\n", json!(names.all))?;
    if let Some(cycle) = about.cycle.filter(|_| run.first() == 0) {
        // The state that follows the last one, which is the one before the cycle once more.
        writeln!(out, "\"loop\": {},", (cycle + 1).min(last))?;
    }
    out.write_all(b"\"states\": [")?;
    for moment in run.first()..=last {
        out.write_all(if moment == run.first() { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &state(run, moment, &names))?;
    }
    out.write_all(b"\n]}\n")
}

/// The names of the variables.
struct Names {
    all: Vec<String>,
    channels: String,
    processes: String,
    control: String,
}

impl Names {
    fn new(state: &Snapshot) -> Self {
        let mut all: Vec<String> = state.globals.iter().map(|(name, _)| name.clone()).collect();
        let mut add = |word: &str| {
            let mut name = word.to_string();
            while all.contains(&name) {
                name.push('_');
            }
            all.push(name.clone());
            name
        };
        let (channels, processes, control) = (add("_channels"), add("_processes"), add("_control"));
        Names { all, channels, processes, control }
    }
}

fn state(run: &Run<'_>, moment: usize, names: &Names) -> Json {
    let snapshot = run.snapshot(moment);
    let mut object = Map::new();
    object.insert("#meta".into(), meta(run, moment));
    for (name, of) in &snapshot.globals {
        object.insert(name.clone(), value(of));
    }
    let channel = |channel: &ChannelView| json!([channel.id.name, value(&channel.contents())]);
    let process = |view: &ProcessView| json!([int(view.pid.into()), process(view)]);
    let map = |pairs: Json| json!({"#map": pairs});
    object.insert(names.channels.clone(), map(snapshot.channels.iter().map(channel).collect()));
    object.insert(names.processes.clone(), map(snapshot.processes.iter().map(process).collect()));
    object.insert(names.control.clone(), int(snapshot.control.map_or(-1, i64::from)));
    Json::Object(object)
}

fn meta(run: &Run<'_>, moment: usize) -> Json {
    let mut meta = json!({"index": moment - run.first()});
    if let Some(info) = run.info(moment) {
        meta["action"] = json!(info.text);
        meta["process"] = json!(process_name(&info.process, info.pid));
        meta["location"] = json!(format!("{}:{}:{}", info.file, info.line, info.column));
    }
    meta
}

fn process(view: &ProcessView) -> Json {
    let locals: Map<String, Json> = view.locals.iter().map(|(name, of)| (name.clone(), value(of))).collect();
    json!({
        "process": view.name,
        "line": int(view.line.into()),
        "location": int(view.location.into()),
        "locals": locals,
    })
}

fn int(number: i64) -> Json {
    json!({"#bigint": number.to_string()})
}

fn value(of: &Value) -> Json {
    match of {
        Value::Int(number) => int(*number),
        Value::Bool(truth) => json!(truth),
        Value::Symbol(name) => json!(name),
        Value::Channel(id) => json!(id.as_ref().map_or("none", |id| &id.name)),
        Value::Lock(holder) => int(holder.map_or(-1, i64::from)),
        Value::Array(list) => list.iter().map(value).collect(),
        Value::Record(fields) => Json::Object(fields.iter().map(|(n, of)| (n.clone(), value(of))).collect()),
        Value::Message(fields) => match &fields[..] {
            [one] => value(one),
            _ => json!({"#tup": fields.iter().map(value).collect::<Json>()}),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;
    use system::{ActionId, ChannelRef};

    #[test]
    fn one_state_for_each_moment() {
        let graph = Graph::parse("0 -> 1 -> 2 -> 3; fault 2 3").unwrap();
        let mut run = Run::start(&graph).unwrap();
        (0..3).for_each(|action| run.take(ActionId(action)).unwrap());
        let mut written = Vec::new();
        write(&run, About { source: "toy", description: "a toy", cycle: Some(1) }, &mut written).unwrap();
        let trace: Json = serde_json::from_slice(&written).unwrap();
        assert_eq!(trace["vars"], json!(["node", "_channels", "_processes", "_control"]));
        assert_eq!(trace["#meta"]["format"], "ITF");
        assert_eq!(trace["loop"], 2);
        let states = trace["states"].as_array().unwrap();
        assert_eq!(states.len(), 3, "the last step has no state");
        for (i, state) in states.iter().enumerate() {
            assert_eq!(state["#meta"]["index"], i);
            assert_eq!(state["node"], json!({"#bigint": i.to_string()}));
            assert_eq!(state["_channels"], json!({"#map": []}));
        }
        assert_eq!(states[1]["#meta"]["action"], "0 -> 1");
    }

    #[test]
    fn values_by_the_format() {
        let channel = ChannelRef { number: 1, name: "q".into() };
        let all = Value::Record(vec![
            ("a".into(), Value::Array(vec![Value::Int(-3), Value::Bool(true)])),
            ("c".into(), Value::Channel(Some(channel))),
            ("l".into(), Value::Lock(None)),
            ("m".into(), Value::Message(vec![Value::Symbol("ack".into()), Value::Int(1)])),
            ("s".into(), Value::Message(vec![Value::Int(1)])),
        ]);
        let expected = json!({
            "a": [{"#bigint": "-3"}, true],
            "c": "q",
            "l": {"#bigint": "-1"},
            "m": {"#tup": ["ack", {"#bigint": "1"}]},
            "s": {"#bigint": "1"},
        });
        assert_eq!(value(&all), expected);
    }
}
