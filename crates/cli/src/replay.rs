//! `spinor replay`.

use crate::args::{Format, ReplayArgs};
use crate::output;
use crate::simulate::step_text;
use engine::replay::{Replayed, replay};
use engine::{Disk, report_text};
use serde_json::{Value, json};
use system::explain::printed;
use trace::Run;
use trace::write::{fault_object, info_object};

/// Replays a counterexample; returns the exit status.
pub fn run(args: &ReplayArgs) -> u8 {
    let view = |replayed: &mut Replayed<'_>| match args.format {
        Format::Text => text(replayed),
        Format::Json => format!("{:#}\n", object(replayed)),
    };
    match output::settle(replay(&args.trail, &Disk, view), args.format) {
        Ok(text) => {
            output::out(&text);
            0
        }
        Err(status) => status,
    }
}

fn text(replayed: &Replayed<'_>) -> String {
    let mut out = format!("{}: a violation of {}\n", replayed.model, replayed.property);
    for number in 1..=replayed.run.len() {
        out.push_str(&step_text(&replayed.run, number));
    }
    out.push_str(&format!("{}\n", report_text::describe_fault(&replayed.violation)));
    out
}

fn object(replayed: &Replayed<'_>) -> Value {
    let run = &replayed.run;
    json!({
        "tool": "spinor",
        "version": engine::VERSION,
        "model": replayed.model,
        "property": replayed.property,
        "confirmed": true,
        "steps": (1..=run.len()).filter_map(|number| step(run, number)).collect::<Vec<Value>>(),
        "violation": fault_object(&replayed.violation, run.len()),
    })
}

fn step(run: &Run<'_>, number: usize) -> Option<Value> {
    let mut object = info_object(&run.info(number)?);
    let output = printed(&run.events(number));
    if !output.is_empty() {
        object.insert("output".to_string(), Value::from(output));
    }
    Some(Value::Object(object))
}
