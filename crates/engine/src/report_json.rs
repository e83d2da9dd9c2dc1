//! A report as the JSON object that machines rely on.

use crate::VERSION;
use crate::checkpoint::Resumed;
use crate::client::Kept;
use crate::cluster_search::Figures;
use crate::notice::Notice;
use crate::noting::{Count, Noted, Range};
use crate::options::{Choice, Memory};
use crate::report::{PropertyReport, Report, Shown, Verdict};
use crate::suggest_fences::Suggestion;
use crate::weak_memory::FenceSite;
use search::Statistics;
use search::distributed::PartFigures;
use serde_json::{Value, json};
use std::time::Duration;
use system::Fairness;
use system::coverage::{Coverage, Statement};
use trace::write::fault_object;

/// The number of the form of reports, which `docs/report.schema.json` describes. Additions leave it as it is:
/// it changes when a field changes its meaning or goes.
pub const SCHEMA: u64 = 1;

/// The report as one JSON object.
pub fn json(report: &Report) -> Value {
    let config = &report.config;
    let mut value = json!({
        "tool": "spinor",
        "version": VERSION,
        "schema": SCHEMA,
        "model": report.model,
        "config": {
            "engine": config.engine.word(),
            "search": config.search.word(),
            "por": config.por.word(),
            "sleep": config.sleep,
            "save": config.save.map(Choice::word),
            "opt": config.opt.iter().map(|opt| opt.word()).collect::<Vec<&str>>(),
            "store": config.store.word(),
            "threads": config.threads,
            "exec": config.exec.word(),
        },
        "verdict": report.verdict(),
        "properties": report.properties.iter().map(property).collect::<Vec<Value>>(),
        "seconds": {
            "front_end": seconds(report.times.front_end),
            "compile": seconds(report.times.compile),
            "search": seconds(report.times.search),
            "total": seconds(report.times.total),
        },
        "memory": memory(report),
        "notices": report.notices.iter().map(Notice::json).collect::<Vec<Value>>(),
    });
    if let (Some(ended), Some(object)) = (report.kept(), value.as_object_mut()) {
        if let Some(Resumed { states, seconds }) = ended.resumed {
            object.insert("resumed".to_string(), json!({"states": states, "seconds": seconds}));
        }
        if let Some(pauses) = ended.pauses {
            let pauses = json!({"number": pauses.number, "longest": seconds(pauses.longest)});
            object.insert("pauses".to_string(), pauses);
        }
        if let Some(kept) = &ended.kept {
            let kept = json!({"file": kept.file, "bytes": kept.bytes, "states": kept.states});
            object.insert("checkpoint".to_string(), kept);
        }
    }
    value
}

/// Seconds to the microsecond, so that the numbers stay readable.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

fn memory(report: &Report) -> Value {
    let largest = report.properties.iter().max_by_key(|p| p.statistics.state_bytes);
    let statistics = largest.map(|p| p.statistics).unwrap_or_default();
    let per_state = match statistics.states {
        0 => 0.0,
        states => (statistics.state_bytes as f64 / states as f64 * 10.0).round() / 10.0,
    };
    let mut memory = json!({
        "peak_rss": report.peak_rss,
        "state_bytes": statistics.state_bytes,
        "bytes_per_state": per_state,
        "vector_bytes": statistics.vector_bytes,
    });
    if let (Some(weak), Some(fields)) = (&report.weak_memory, memory.as_object_mut()) {
        fields.insert("model".to_string(), Value::from(weak.model.as_str()));
        fields.insert("bound".to_string(), Value::from(weak.bound));
        fields.insert("exact".to_string(), Value::from(weak.exact));
        fields.insert("buffered".to_string(), Value::from(weak.buffered.clone()));
        fields.insert("ghosts".to_string(), Value::from(weak.ghosts.clone()));
        if let Some(suggestion) = &report.fences {
            fields.insert("fences".to_string(), fences(suggestion));
        }
    }
    let sc = report.options.memory == Some(Memory::Sc);
    if let (true, Some(fields)) = (sc, memory.as_object_mut()) {
        fields.insert("model".to_string(), Value::from(Memory::Sc.word()));
    }
    memory
}

/// The fences that were found, or null and why there are none.
fn fences(suggestion: &Suggestion) -> Value {
    let site = |site: &FenceSite| {
        json!({
            "file": site.file, "line": site.line, "column": site.column,
            "process": site.process, "where": site.word(), "statement": site.text,
        })
    };
    match suggestion {
        Suggestion::NoneNeeded => json!({"places": []}),
        Suggestion::Fences(sites) => json!({"places": sites.iter().map(site).collect::<Vec<Value>>()}),
        Suggestion::NoneHelps => {
            json!({"places": null, "reason": "fences in front of all shared accesses are not enough"})
        }
        Suggestion::Unknown(why) => json!({"places": null, "reason": why}),
    }
}

fn property(property: &PropertyReport) -> Value {
    let statistics = &property.statistics;
    // A symbolic search takes no single steps.
    let explicit = |number: u64| property.symbolic.is_none().then_some(number);
    let mut value = json!({
        "name": property.name,
        "kind": property.kind,
        "verdict": property.verdict.name(),
        "errors": property.errors,
        "exhaustive": property.exhaustive,
        "states": states(property),
        "transitions": explicit(statistics.transitions),
        "matched": explicit(statistics.matched),
        "depth": explicit(statistics.depth),
        "violations": violations(property),
        "por": property.por.word(),
    });
    if let (Some(how), Some(object)) = (property.how, value.as_object_mut()) {
        object.insert("search".to_string(), Value::from(how.name()));
        object.insert("fair".to_string(), Value::from(property.fairness.name()));
        if let Some(vacuous) = &property.vacuous {
            object
                .insert("vacuous".to_string(), json!({"holds": vacuous.formula, "irrelevant": vacuous.part}));
        }
        if let Some(fairness) = property.holds_under.and_then(Fairness::name) {
            object.insert(format!("holds_under_{fairness}_fairness"), Value::from(true));
        }
        if statistics.reexplored > 0 {
            object.insert("reexplored".to_string(), Value::from(statistics.reexplored));
        }
    }
    if let Some(object) = value.as_object_mut() {
        object.extend(store_counts(statistics));
    }
    if let (Some(probability), Some(object)) = (statistics.omission, value.as_object_mut()) {
        object.insert("omission_probability".to_string(), Value::from(probability));
    }
    if let (Verdict::Unknown(why), Some(object)) = (&property.verdict, value.as_object_mut()) {
        object.insert("reason".to_string(), Value::from(why.to_string()));
        object.insert("note".to_string(), Value::from(why.to_string()));
    }
    if let (Some(certified), Some(object)) = (&property.certificate, value.as_object_mut()) {
        let certificate = json!({"file": certified.file, "bytes": certified.bytes});
        object.insert("certificate".to_string(), certificate);
    }
    if let (Some(on_disk), Some(object)) = (&property.on_disk, value.as_object_mut()) {
        let figures = json!({
            "folder": on_disk.folder,
            "written": on_disk.written,
            "read": on_disk.read,
            "most": on_disk.most,
        });
        object.insert("on_disk".to_string(), figures);
    }
    if let (Some(gpu), Some(object)) = (&property.gpu, value.as_object_mut()) {
        let figures = json!({
            "device": gpu.device,
            "seconds": gpu.seconds,
            "bits": gpu.bits,
            "table": gpu.table.words(),
            "layouts": gpu.layouts,
            "instructions": gpu.instructions,
        });
        object.insert("gpu".to_string(), figures);
    }
    if let (Some(packed), Some(object)) = (&property.packed, value.as_object_mut()) {
        let figures = json!({
            "bits": packed.bits,
            "layouts": packed.layouts,
            "instructions": packed.instructions,
        });
        object.insert("packed".to_string(), figures);
    }
    if let (Some(figures), Some(object)) = (&property.cluster, value.as_object_mut()) {
        object.insert("cluster".to_string(), cluster(figures));
    }
    if let (Some(figures), Some(object)) = (&property.symbolic, value.as_object_mut()) {
        object.insert("symbolic".to_string(), symbolic(figures));
    }
    if let Some(object) = value.as_object_mut() {
        object.extend(evaluation(property));
    }
    if let (Some(noted), Some(object)) = (&property.noted, value.as_object_mut()) {
        object.extend(self::noted(noted));
    }
    if let (Some(coverage), Some(object)) = (&property.coverage, value.as_object_mut()) {
        object.insert("unreached".to_string(), Value::from(unreached(coverage)));
    }
    value
}

/// What each process of a cluster did.
fn cluster(figures: &Figures) -> Value {
    let rounded = |number: f64| (number * 1000.0).round() / 1000.0;
    let process = |part: &PartFigures| {
        json!({
            "states": part.states,
            "received": part.received,
            "sent": part.sent,
            "spared": part.spared,
            "parcels": part.parcels,
            "bytes": part.bytes,
            "waited": seconds(part.waited),
            "state_bytes": part.store,
            "peak_rss": part.peak_rss,
        })
    };
    json!({
        "processes": figures.processes.iter().map(process).collect::<Vec<Value>>(),
        "imbalance": rounded(figures.imbalance()),
        "messages_per_state": rounded(figures.messages_per_state()),
    })
}

/// What else is counted, where it is not the same as the states.
fn store_counts(statistics: &Statistics) -> Vec<(String, Value)> {
    let forgotten = statistics.forgotten;
    let counts = [
        ("reduced", (statistics.reduced > 0).then_some(statistics.reduced)),
        ("visited", statistics.visited),
        ("lookups", statistics.lookups),
        ("cleared", forgotten.map(|counts| counts.cleared)),
        ("reexplored", forgotten.map(|counts| counts.reexplored)),
    ];
    let too_small = forgotten.map(|_| Value::from(statistics.forgets_too_much()));
    let too_small = too_small.map(|value| ("cache_too_small".to_string(), value));
    let counts = counts.into_iter().filter_map(|(name, n)| Some((name.to_string(), Value::from(n?))));
    too_small.into_iter().chain(counts).collect()
}

/// What is known of a formula about states.
fn evaluation(property: &PropertyReport) -> Vec<(String, Value)> {
    let Some(evaluation) = &property.evaluation else { return Vec::new() };
    let search = if property.symbolic.is_some() { "sets" } else { "graph" };
    let mut fields = vec![
        ("search", Value::from(search)),
        ("fair", Value::from(property.fairness.name())),
        ("proof", Value::from(evaluation.proof.clone())),
    ];
    if let Some(satisfied) = &evaluation.satisfied {
        fields.push(("satisfied", number(satisfied)));
    }
    if let Some(witness) = property.witness() {
        let mut value = violation(witness);
        if let (Some(reason), Some(object)) = (&evaluation.reason, value.as_object_mut()) {
            object.insert("reason".to_string(), Value::from(reason.clone()));
        }
        fields.push(("witness", value));
    }
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// The number of states.
fn states(property: &PropertyReport) -> Value {
    match &property.symbolic {
        Some(figures) => number(&figures.states),
        None => Value::from(property.statistics.states),
    }
}

/// A number; as a string where readers of numbers would round it.
fn number(n: &num_bigint::BigUint) -> Value {
    const EXACT: u64 = 1 << 53;
    match u64::try_from(n) {
        Ok(n) if n <= EXACT => Value::from(n),
        _ => Value::from(n.to_string()),
    }
}

/// Numbers of a symbolic search.
fn symbolic(figures: &symbolic::Figures) -> Value {
    json!({
        "nodes": figures.nodes,
        "all_nodes": figures.all_nodes,
        "slots": figures.slots,
        "groups": figures.groups,
        "machine_calls": figures.calls,
        "growths": figures.growths,
        "restarts": figures.restarts,
    })
}

/// Values of variables, and how often statements were executed.
fn noted(noted: &Noted) -> Vec<(String, Value)> {
    let range = |range: &Range| {
        let (low, high) = range.bounds.unzip();
        json!({"name": range.name, "low": low, "high": high, "values": range.values})
    };
    let count = |count: &Count| {
        let Count { process, file, line, text, times } = count;
        json!({"process": process, "file": file, "line": line, "text": text, "times": times})
    };
    let ranges = noted.ranges.as_ref().map(|ranges| ranges.iter().map(range).collect::<Vec<Value>>());
    let counts = noted.statements.as_ref().map(|counts| counts.iter().map(count).collect::<Vec<Value>>());
    let fields = [("ranges", ranges), ("statements", counts)];
    fields.into_iter().filter_map(|(name, list)| Some((name.to_string(), Value::from(list?)))).collect()
}

/// Statements that no run executes.
fn unreached(coverage: &[Coverage]) -> Vec<Value> {
    let of = |coverage: &Coverage| {
        let statement = |s: &Statement| json!({"process": coverage.process, "file": s.file, "line": s.line, "column": s.column, "text": s.text});
        coverage.unreached().map(statement).collect::<Vec<Value>>()
    };
    coverage.iter().flat_map(of).collect()
}

/// Violations; of a formula about states with what the run does not show.
fn violations(property: &PropertyReport) -> Vec<Value> {
    let mut list: Vec<Value> = property.verdict.violations().map(violation).collect();
    if let Verdict::Refuted(refutation) = &property.verdict {
        let mut object = fault_object(&refutation.fault, 0);
        object.insert("trail".to_string(), Value::Null);
        list.push(Value::Object(object));
    }
    let reason = property.evaluation.as_ref().and_then(|evaluation| evaluation.reason.as_deref());
    if let (Some(reason), Some(object)) = (reason, list.first_mut().and_then(Value::as_object_mut)) {
        object.insert("reason".to_string(), Value::from(reason));
    }
    list
}

fn violation(shown: &Shown) -> Value {
    let mut object = fault_object(shown.evidence.fault(), shown.evidence.depth());
    if let Some(cycle) = shown.evidence.trail().cycle {
        object.insert("cycle".to_string(), Value::from(cycle));
    }
    object.insert("trail".to_string(), Value::from(shown.kept.file()));
    if let Kept::Unwritten(unwritten) = &shown.kept {
        object.insert("trail_error".to_string(), json!({"path": unwritten.path, "message": unwritten.why}));
    }
    if shown.kept.file().is_none() {
        object.extend(trace::write::steps_object(shown.evidence.trail()));
    }
    Value::Object(object)
}
