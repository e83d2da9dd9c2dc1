//! `spinor replay`.

use crate::args::{Format, ReplayArgs};
use crate::output;
use crate::simulate::step_text;
use engine::replay::{Replayed, ReplayedStep, replay};
use engine::{Disk, report_text};
use serde_json::{Value, json};
use trace::write::{fault_object, info_object};

/// Replays a counterexample; returns the exit status.
pub fn run(args: &ReplayArgs) -> u8 {
    match output::settle(replay(&args.trail, &Disk), args.format) {
        Ok(replayed) => {
            output::out(&match args.format {
                Format::Text => text(&replayed),
                Format::Json => format!("{:#}\n", object(&replayed)),
            });
            0
        }
        Err(status) => status,
    }
}

fn text(replayed: &Replayed) -> String {
    let mut out = format!("{}: a violation of {}\n", replayed.model, replayed.property);
    for (i, step) in replayed.steps.iter().enumerate() {
        out.push_str(&step_text(i as u64 + 1, &step.info, &step.output));
    }
    out.push_str(&format!("{}\n", report_text::describe_fault(&replayed.violation)));
    out
}

fn object(replayed: &Replayed) -> Value {
    json!({
        "tool": "spinor",
        "version": engine::VERSION,
        "model": replayed.model,
        "property": replayed.property,
        "confirmed": true,
        "steps": replayed.steps.iter().map(step).collect::<Vec<Value>>(),
        "violation": fault_object(&replayed.violation, replayed.steps.len()),
    })
}

fn step(step: &ReplayedStep) -> Value {
    let mut object = info_object(&step.info);
    if !step.output.is_empty() {
        object.insert("output".to_string(), Value::from(step.output.as_str()));
    }
    Value::Object(object)
}
