//! The dependency matrices of a model as text, in the manner of LTSmin's `--matrix`, and for tools.
//!
//! A matrix of more than [`MOST_ENTRIES`] entries is not written, only its figures: it would be longer than
//! anybody reads, and the text of a relation grows with the square of the number of groups.

use serde_json::{Value, json};
use stop::Stop;
use system::matrix::{BitMatrix, Dependencies};

/// A matrix with more entries than this is not written.
const MOST_ENTRIES: usize = 1 << 20;

/// The matrices of a model for people.
pub fn text(model: &str, all: &Dependencies, stop: &Stop) -> String {
    let (processes, slots) = (all.processes.len(), all.slots.len());
    let (groups, guards) = (all.groups.len(), all.guards.len());
    let mut out =
        format!("{model}: {processes} processes, {slots} slots, {groups} groups, {guards} guards\n");
    let names = all.slots.iter().map(|slot| slot.name.clone());
    legend(&mut out, "Slots", names);
    let idle = |g: usize| if all.idle.contains(g as u32) { "  (timeout)" } else { "" };
    let names = all.groups.iter().enumerate();
    let names = names.map(|(g, group)| format!("{}:{}  {}{}", group.file, group.line, group.name, idle(g)));
    legend(&mut out, "Groups", names);
    legend(&mut out, "Guards", all.guards.iter().map(|guard| guard.name.clone()));
    let title = "Dependency matrix, groups × slots (+ read and written, r read, w written)";
    grid(&mut out, title, (groups, slots), stop, |g, s| access(all, g, s));
    for (title, matrix) in relations(all) {
        let of = (matrix.n_rows(), matrix.n_columns());
        grid(&mut out, title, of, stop, |row, column| if matrix.get(row, column) { '+' } else { '-' });
    }
    statistics(&mut out, all);
    out
}

/// The relations with their titles.
fn relations(all: &Dependencies) -> [(&'static str, &BitMatrix); 6] {
    [
        ("Must write, groups × slots", &all.must_write),
        ("Guards of groups, groups × guards", &all.guarded_by),
        ("Conflicts, groups × groups", &all.conflicts),
        ("May be coenabled, groups × groups", &all.may_be_coenabled),
        ("Necessary enabling sets, guards × groups", &all.necessary_enabling),
        ("Necessary disabling sets, guards × groups", &all.necessary_disabling),
    ]
}

/// How a group uses a slot.
fn access(all: &Dependencies, group: usize, slot: usize) -> char {
    match (all.reads.get(group, slot), all.may_write.get(group, slot)) {
        (true, true) => '+',
        (true, false) => 'r',
        (false, true) => 'w',
        (false, false) => '-',
    }
}

fn legend(out: &mut String, title: &str, names: impl ExactSizeIterator<Item = String>) {
    let width = digits(names.len());
    out.push_str(&format!("\n{title}\n"));
    for (number, name) in names.enumerate() {
        out.push_str(&format!("  {number:>width$}  {name}\n"));
    }
}

/// A matrix, one character for each entry, with every tenth column numbered.
fn grid(
    out: &mut String,
    title: &str,
    (rows, columns): (usize, usize),
    stop: &Stop,
    entry: impl Fn(usize, usize) -> char,
) {
    out.push_str(&format!("\n{title}\n"));
    if rows * columns > MOST_ENTRIES {
        out.push_str(&format!("  {rows} × {columns} entries, not written\n"));
        return;
    }
    let width = digits(rows);
    let numbers: String = (0..columns).step_by(10).map(|column| format!("{column:<10}")).collect();
    out.push_str(&format!("  {:width$}  {}\n", "", numbers.trim_end()));
    for row in 0..rows {
        stop.check();
        let entries: String = (0..columns).map(|column| entry(row, column)).collect();
        out.push_str(&format!("  {row:>width$}  {entries}\n"));
    }
}

/// Width of the largest number of a row.
fn digits(n: usize) -> usize {
    n.saturating_sub(1).to_string().len()
}

fn statistics(out: &mut String, all: &Dependencies) {
    let figures = all.statistics();
    let groups = all.groups.len().max(1) as f64;
    let reads = (figures.read_only + figures.read_write) as f64 / groups;
    let writes = (figures.write_only + figures.read_write) as f64 / groups;
    out.push_str("\nStatistics\n");
    let used =
        format!("{} read, {} written, {} both", figures.read_only, figures.write_only, figures.read_write);
    out.push_str(&format!("  dependency matrix {}: {used}\n", percent(figures.density)));
    out.push_str(&format!("  slots for each group: {reads:.1} read, {writes:.1} written\n"));
    for (name, matrix) in [
        ("conflicts", &all.conflicts),
        ("may be coenabled", &all.may_be_coenabled),
        ("necessary enabling sets", &all.necessary_enabling),
        ("necessary disabling sets", &all.necessary_disabling),
    ] {
        out.push_str(&format!("  {name} {}\n", percent(matrix.density())));
    }
}

fn percent(density: f64) -> String {
    format!("{:.1} %", density * 100.0)
}

/// The matrices for tools: the same data, rows as strings.
pub fn json(all: &Dependencies, stop: &Stop) -> Value {
    let process =
        |process: &system::matrix::Process| json!({"name": process.name, "several": process.several});
    let slot = |slot: &system::matrix::Slot| json!({"name": slot.name, "process": slot.process.map(|p| p.0)});
    let group = |group: &system::matrix::Group| {
        json!({
            "name": group.name, "file": group.file, "line": group.line,
            "process": group.process.0, "partner": group.partner.map(|p| p.0),
        })
    };
    let guard = |guard: &system::matrix::Guard| json!({"name": guard.name, "process": guard.process.0});
    let bits = |matrix: &BitMatrix| {
        let of = (matrix.n_rows(), matrix.n_columns());
        rows(of, stop, |row, column| if matrix.get(row, column) { '+' } else { '-' })
    };
    let figures = all.statistics();
    json!({
        "processes": all.processes.iter().map(process).collect::<Vec<Value>>(),
        "slots": all.slots.iter().map(slot).collect::<Vec<Value>>(),
        "groups": all.groups.iter().map(group).collect::<Vec<Value>>(),
        "guards": all.guards.iter().map(guard).collect::<Vec<Value>>(),
        "idle": all.idle.iter().collect::<Vec<u32>>(),
        "dependencies": rows((all.groups.len(), all.slots.len()), stop, |g, s| access(all, g, s)),
        "must_write": bits(&all.must_write),
        "guarded_by": bits(&all.guarded_by),
        "guard_reads": bits(&all.guard_reads),
        "conflicts": bits(&all.conflicts),
        "may_be_coenabled": bits(&all.may_be_coenabled),
        "necessary_enabling": bits(&all.necessary_enabling),
        "necessary_disabling": bits(&all.necessary_disabling),
        "statistics": {
            "read_only": figures.read_only, "write_only": figures.write_only, "read_write": figures.read_write,
            "density": figures.density,
            "conflicts": all.conflicts.density(), "may_be_coenabled": all.may_be_coenabled.density(),
            "necessary_enabling": all.necessary_enabling.density(),
            "necessary_disabling": all.necessary_disabling.density(),
        },
    })
}

/// The rows of a matrix as strings; null when there are too many entries.
fn rows((rows, columns): (usize, usize), stop: &Stop, entry: impl Fn(usize, usize) -> char) -> Value {
    if rows * columns > MOST_ENTRIES {
        return Value::Null;
    }
    let row = |row: usize| {
        stop.check();
        (0..columns).map(|column| entry(row, column)).collect::<String>()
    };
    (0..rows).map(row).collect::<Vec<String>>().into()
}
