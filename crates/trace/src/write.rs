//! A trail as JSON.

use crate::packed;
use crate::trail::{FORMAT, MemoryOptions, PACKED_FORMAT, TOLD_STEPS, Trail, TrailStep};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use system::{Fault, NOBODY, StepInfo};

/// The JSON text of a trail.
pub fn write(trail: &Trail) -> String {
    let mut out = Vec::new();
    // Memory takes everything.
    let _ = write_to(&mut out, trail);
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes the JSON text of a trail: one step a line so that it can be read and compared, or packed if there
/// are many.
pub fn write_to(out: &mut dyn Write, trail: &Trail) -> io::Result<()> {
    let head = json!({
        "format": if is_long(trail) { PACKED_FORMAT } else { FORMAT },
        "tool": "spinor",
        "version": trail.version,
        "model": trail.model,
        "model_absolute": trail.model_absolute,
        "fingerprint": format!("{:016x}", trail.fingerprint),
        "options": options_object(trail),
        "property": trail.property,
        "channels_empty": trail.channels_empty,
        "fair": trail.fair,
        "cycle": trail.cycle,
        "violation": fault_object(&trail.violation, trail.steps.len()),
    });
    out.write_all(b"{\n")?;
    for (name, value) in head.as_object().into_iter().flatten() {
        writeln!(out, "{}: {value},", Value::from(name.as_str()))?;
    }
    if !is_long(trail) {
        let steps = trail.steps.iter().map(|step| Value::Object(step_object(step)));
        write_list(out, "steps", steps)?;
        return out.write_all(b"}\n");
    }
    let statements = trail.steps.values().iter().map(|step| Value::Object(step_object(step)));
    write_list(out, "statements", statements)?;
    let mut separator = ",\n\"path\": [\n";
    packed::pack(trail.steps.numbers(), &mut |line| {
        let written = write!(out, "{separator}{}", Value::from(line));
        separator = ",\n";
        written
    })?;
    out.write_all(b"\n]}\n")
}

fn is_long(trail: &Trail) -> bool {
    trail.steps.len() > TOLD_STEPS
}

/// Writes a list, one element a line.
fn write_list(out: &mut dyn Write, name: &str, values: impl Iterator<Item = Value>) -> io::Result<()> {
    write!(out, "\"{name}\": [")?;
    for (i, value) in values.enumerate() {
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(b"\n]")
}

/// The steps alone, as a trail has them, for a report that holds what no file does.
pub fn steps_object(trail: &Trail) -> Map<String, Value> {
    let told = |steps: &mut dyn Iterator<Item = &TrailStep>| {
        steps.map(|step| Value::Object(step_object(step))).collect::<Value>()
    };
    if !is_long(trail) {
        return Map::from_iter([("steps".to_string(), told(&mut trail.steps.iter()))]);
    }
    let mut path = Vec::new();
    let _ = packed::pack(trail.steps.numbers(), &mut |line| -> Result<(), ()> {
        path.push(Value::from(line));
        Ok(())
    });
    let statements = told(&mut trail.steps.values().iter());
    Map::from_iter([("statements".to_string(), statements), ("path".to_string(), Value::from(path))])
}

fn options_object(trail: &Trail) -> Value {
    let options = &trail.options;
    let mut object = json!({"dialect": options.dialect, "preprocessor": options.preprocessor});
    let given =
        [("ltl", &options.formula), ("ctl", &options.ctl), ("mu", &options.mu), ("claim", &options.claim)];
    for (name, text) in given {
        if let (Some(text), Some(fields)) = (text, object.as_object_mut()) {
            fields.insert(name.to_string(), Value::from(text.as_str()));
        }
    }
    if let (true, Some(fields)) = (options.lossy_channels, object.as_object_mut()) {
        fields.insert("lossy_channels".to_string(), Value::from(true));
    }
    if let (Some(memory), Some(fields)) = (&options.memory, object.as_object_mut()) {
        let MemoryOptions { model, bound, plain, split, .. } = memory;
        let memory = json!({"model": model, "bound": bound, "plain": plain, "split": split});
        fields.insert("memory".to_string(), memory);
    }
    object
}

/// A violation at the end of `depth` steps as a JSON object: kind, message, file, line, column, process, pid,
/// depth.
pub fn fault_object(fault: &Fault, depth: usize) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("kind".to_string(), Value::from(fault.kind.name()));
    object.insert("message".to_string(), Value::from(fault.message.as_str()));
    object.insert("file".to_string(), Value::from(fault.file.as_str()));
    object.insert("line".to_string(), Value::from(fault.line));
    object.insert("column".to_string(), Value::from(fault.column));
    object.insert("process".to_string(), Value::from(fault.process.as_deref()));
    object.insert("pid".to_string(), Value::from(fault.pid));
    object.insert("depth".to_string(), Value::from(depth));
    object
}

fn step_object(step: &TrailStep) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("action".to_string(), Value::from(step.action.0.to_string()));
    if let Some(info) = &step.info {
        object.extend(info_object(info));
    }
    object
}

/// A step in words as a JSON object: pid (`null` for a claim's), process, file, line, column, text, and the
/// partner of a rendezvous.
pub fn info_object(info: &StepInfo) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("pid".to_string(), Value::from((info.pid != NOBODY).then_some(info.pid)));
    object.insert("process".to_string(), Value::from(info.process.as_str()));
    object.insert("file".to_string(), Value::from(info.file.as_str()));
    object.insert("line".to_string(), Value::from(info.line));
    object.insert("column".to_string(), Value::from(info.column));
    object.insert("text".to_string(), Value::from(info.text.as_str()));
    if let Some(partner) = &info.partner {
        object.insert("partner".to_string(), Value::Object(info_object(partner)));
    }
    object
}
