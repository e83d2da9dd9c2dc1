//! The numbers: one line each, aligned, with what belongs to them behind.

use super::number::{bytes, grouped, many};
use crate::cluster_search::Figures;
use crate::options::{Choice, Engine, Por, Value};
use crate::report::{PropertyReport, Report, Verdict};
use std::time::Duration;
use trace::Palette;
use trace::visible::one_line;

/// A line: what, how much, and what else there is to say about it.
type Line = (&'static str, String, String);

/// Appends the numbers of every search, then of the whole run.
pub(super) fn statistics(report: &Report, palette: Palette, out: &mut String) {
    let searched: Vec<&PropertyReport> =
        report.properties.iter().filter(|p| p.statistics.states > 0).collect();
    for property in &searched {
        let title = match searched.len() {
            1 => String::new(),
            _ => format!("{}\n", palette.strong(&property.name)),
        };
        out.push_str(&format!("\n{title}"));
        table(&of_search(property, report.config.sleep), palette, out);
    }
    if searched.len() != 1 {
        out.push('\n');
    }
    table(&of_run(report), palette, out);
}

/// The numbers of a search with sets of states.
fn of_symbolic(figures: &symbolic::Figures) -> Vec<Line> {
    let nodes =
        format!("of the reachable states; {} in all, {}", grouped(figures.all_nodes), bytes(figures.memory));
    let slots = format!("and {} groups of steps", grouped(figures.groups));
    vec![
        ("states", many(&figures.states), String::new()),
        ("nodes", grouped(figures.nodes), nodes),
        ("slots", grouped(figures.slots), slots),
        ("asked", grouped(figures.calls), "local steps taken by the machine".to_string()),
    ]
}

/// What the processes of a cluster did: a line for all, and one for each.
fn of_cluster(figures: &Figures) -> Vec<Line> {
    let (messages, imbalance) = (figures.messages_per_state(), figures.imbalance());
    let bytes_sent: u64 = figures.processes.iter().map(|part| part.bytes).sum();
    let all = format!(
        "{messages:.2} messages a state, {} sent, imbalance {imbalance:.2} (1 is even)",
        bytes(bytes_sent)
    );
    let mut lines = vec![("processes", figures.processes.len().to_string(), all)];
    for part in &figures.processes {
        let memory =
            if part.peak_rss == 0 { String::new() } else { format!(", {} memory", bytes(part.peak_rss)) };
        let words = format!(
            "states; {} sent in {} parcels, {} received, waited {:.1} s{memory}",
            grouped(part.sent),
            grouped(part.parcels),
            grouped(part.received),
            part.waited.as_secs_f64()
        );
        lines.push(("", grouped(part.states), words));
    }
    lines
}

fn of_search(property: &PropertyReport, sleep: bool) -> Vec<Line> {
    let s = &property.statistics;
    let each = s.state_bytes as f64 / s.states.max(1) as f64;
    let memory = match is_small(property) {
        true => String::new(),
        false => format!("{each:.1} bytes each, {} in all", bytes(s.state_bytes)),
    };
    if let Some(figures) = &property.symbolic {
        return of_symbolic(figures);
    }
    let mut lines = vec![
        ("states", grouped(s.states), memory),
        ("transitions", grouped(s.transitions), format!("{} to states already visited", grouped(s.matched))),
        ("depth", grouped(s.depth), String::new()),
    ];
    if let Some(gpu) = &property.gpu {
        let how = format!("on {}, {} bits a state, {}", gpu.device, gpu.bits, gpu.table.words());
        lines.push(("gpu", format!("{:.3} s", gpu.seconds), how));
    }
    if let Some(packed) = &property.packed {
        let tried = match packed.layouts {
            1 => "in the first layout that was tried".to_string(),
            n => format!("in the last of {n} layouts that were tried"),
        };
        lines.push(("packed", format!("{} bits a state", packed.bits), tried));
    }
    if let Some(cluster) = &property.cluster {
        lines.extend(of_cluster(cluster));
    }
    if s.reduced > 0 {
        let how = format!("states where the reduction skipped actions (--por {})", property.por.word());
        lines.insert(1, ("reduced", grouped(s.reduced), how));
    }
    if let Some(visited) = s.visited.filter(|&visited| visited != s.states) {
        lines.insert(1, ("visited", grouped(visited), "states, stored or not".to_string()));
    }
    if let Some(counts) = s.forgotten {
        let again = format!("states dropped from the cache, {} explored again", grouped(counts.reexplored));
        let hint = if s.forgets_too_much() { too_small(property.por, sleep) } else { String::new() };
        lines.push(("cleared", grouped(counts.cleared), format!("{again}{hint}")));
    }
    if let Some(resumed) = property.kept.as_ref().and_then(|ended| ended.resumed) {
        let before = format!("states were known when the search went on, after {:.1} s", resumed.seconds);
        lines.push(("resumed", grouped(resumed.states), before));
    }
    if let Some(pauses) = property.kept.as_ref().and_then(|ended| ended.pauses) {
        let longest = format!("to write the checkpoint, the longest of {}", seconds(pauses.longest));
        lines.push(("pauses", grouped(pauses.number), longest));
    }
    if let Some(on_disk) = property.on_disk.as_ref().filter(|on_disk| on_disk.written > 0) {
        let [read, most] = [on_disk.read, on_disk.most].map(bytes);
        let more =
            format!("written to {}, {read} read back, at most {most} at a time", one_line(&on_disk.folder));
        lines.push(("disk", bytes(on_disk.written), more));
    }
    if let Some(probability) = s.omission {
        let what = "the probability that a new state was taken for an old one";
        lines.push(("omission", format!("{probability:.1e}"), what.to_string()));
    }
    lines
}

/// What helps where a cache of states is too small: that there are fewer states, and that fewer are met
/// again.
fn too_small(por: Por, sleep: bool) -> String {
    let or = match (por, sleep) {
        (Por::Stubborn | Por::Ample, true) => "",
        (Por::Stubborn | Por::Ample, false) => ", or add --sleep",
        _ => ", or use --por stubborn --sleep",
    };
    format!("; the cache is too small: give a larger --state-cache{or}")
}

fn of_run(report: &Report) -> Vec<Line> {
    let (times, config) = (&report.times, &report.config);
    let parts = [("reading", times.front_end), ("preparing", times.compile), ("searching", times.search)];
    let parts: Vec<String> = parts.iter().map(|(what, time)| format!("{what} {}", seconds(*time))).collect();
    let opt = config.opt.write().replace(',', "+");
    let how = match config.engine {
        Engine::Symbolic => format!("engine symbolic, static {opt}, execution {}", config.exec.word()),
        _ => format!(
            "search {}, reduction {}, static {opt}, store {}, execution {}",
            config.search.word(),
            config.por.word(),
            config.store.word(),
            config.exec.word()
        ),
    };
    if report.properties.iter().all(is_small) {
        return vec![("time", seconds(times.total), String::new())];
    }
    vec![
        ("time", seconds(times.total), parts.join(", ")),
        ("memory", bytes(report.peak_rss), "peak".to_string()),
        ("threads", config.threads.to_string(), how),
    ]
}

/// A search of fewer states says nothing about time, memory and threads.
const SMALL: u64 = 1000;

/// Whether the numbers of a search are about the tool rather than the model.
fn is_small(property: &PropertyReport) -> bool {
    let is_known = !matches!(property.verdict, Verdict::Unknown(_));
    is_known && property.statistics.states < SMALL && property.statistics.forgotten.is_none()
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

fn table(lines: &[Line], palette: Palette, out: &mut String) {
    for (what, value, more) in lines {
        let more = if more.is_empty() { String::new() } else { format!("  {}", palette.dim(more)) };
        out.push_str(&format!("  {what:<11} {value:>14}{more}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_do_what_he_does() {
        assert!(too_small(Por::Stubborn, true).ends_with("a larger --state-cache"));
        assert!(too_small(Por::Stubborn, false).ends_with("or add --sleep"));
        assert!(too_small(Por::Twophase, false).ends_with("or use --por stubborn --sleep"));
        assert!(too_small(Por::None, true).ends_with("or use --por stubborn --sleep"));
    }
}
