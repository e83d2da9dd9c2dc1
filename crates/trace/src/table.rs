//! A run as a table: a row for each step, a column for each variable, as `ltsmin-tracepp --table` has it.
//!
//! Columns are the parts of all variables that exist at some time of the run, down to elements and fields:
//! the globals, the contents of channels, the locals of each process. A row shows the state *after* its step,
//! the first one the state in which the run begins. So a column can be plotted, filtered or compared by any
//! tool that reads tables. The run is looked at twice, first for the columns; no state of it is kept.

use crate::run::Run;
use crate::story::process_name;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use system::{Snapshot, Value};

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Columns as wide as what is in them, for people.
    Aligned,
    /// Values with commas between them, quoted by RFC 4180, for programs.
    Csv,
}

/// Writes the steps with these numbers; `cycle` is how many steps come before those that are repeated
/// forever.
pub fn write(
    run: &Run<'_>,
    (steps, cycle): (RangeInclusive<usize>, Option<usize>),
    form: Form,
    to: &mut dyn Write,
) -> io::Result<()> {
    // The state before the first step has a row of its own.
    let first = if *steps.start() <= 1 { run.first() } else { *steps.start() };
    let moments = first..=*steps.end();
    let mut columns = Columns::new(cycle.is_some());
    for moment in moments.clone() {
        columns.note(row(run, moment, cycle));
    }
    let names = columns.names.clone();
    columns.line(&names, form, to)?;
    for moment in moments {
        let mut cells = vec![String::new(); names.len()];
        for (name, value) in row(run, moment, cycle) {
            cells[columns.at[&name]] = value;
        }
        columns.line(&cells, form, to)?;
    }
    Ok(())
}

/// The columns that say which step it is.
const STEP: [&str; 4] = ["step", "process", "place", "statement"];
/// Whether the step is one of those that are repeated forever.
const CYCLE: &str = "cycle";

/// The columns of a table: their names in order, and how wide they are.
struct Columns {
    names: Vec<String>,
    widths: Vec<usize>,
    at: HashMap<String, usize>,
}

impl Columns {
    fn new(with_cycle: bool) -> Self {
        let mut columns = Columns { names: Vec::new(), widths: Vec::new(), at: HashMap::new() };
        let cycle = with_cycle.then_some(CYCLE);
        columns.note(STEP.into_iter().chain(cycle).map(|name| (name.to_string(), String::new())).collect());
        columns
    }

    fn note(&mut self, row: Vec<(String, String)>) {
        for (name, value) in row {
            let at = *self.at.entry(name).or_insert_with_key(|name| {
                self.names.push(name.clone());
                self.widths.push(name.chars().count());
                self.names.len() - 1
            });
            self.widths[at] = self.widths[at].max(value.chars().count());
        }
    }

    fn line(&self, cells: &[String], form: Form, to: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for (i, (cell, &width)) in cells.iter().zip(&self.widths).enumerate() {
            match form {
                Form::Csv => {
                    line.push_str(if i == 0 { "" } else { "," });
                    line.push_str(&quoted(cell));
                }
                Form::Aligned => {
                    line.push_str(if i == 0 { "" } else { "  " });
                    line.push_str(&format!("{cell:width$}"));
                }
            }
        }
        let line = if form == Form::Csv { &line } else { line.trim_end() };
        writeln!(to, "{line}")
    }
}

/// A field of CSV.
fn quoted(cell: &str) -> Cow<'_, str> {
    match cell.contains([',', '"', '\n', '\r']) {
        true => Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\""))),
        false => Cow::Borrowed(cell),
    }
}

/// What the row of a moment has in which column.
fn row(run: &Run<'_>, moment: usize, cycle: Option<usize>) -> Vec<(String, String)> {
    let mut cells = vec![(STEP[0].to_string(), moment.to_string())];
    if let Some(info) = run.info(moment) {
        let words = [
            process_name(&info.process, info.pid),
            format!("{}:{}", info.file, info.line),
            info.text.split_whitespace().collect::<Vec<&str>>().join(" "),
        ];
        cells.extend(STEP[1..].iter().map(|name| (*name).to_string()).zip(words));
    }
    if let Some(cycle) = cycle {
        cells.push((CYCLE.to_string(), u8::from(moment > cycle).to_string()));
    }
    state(&run.snapshot(moment), &mut cells);
    cells
}

/// All that there is in a state, by name. Variables cannot be called like the first columns and be taken for
/// them: then they are written with a colon in front, as a local variable of nobody.
fn state(snapshot: &Snapshot, cells: &mut Vec<(String, String)>) {
    for (name, value) in &snapshot.globals {
        let reserved = STEP.contains(&name.as_str()) || name == CYCLE;
        leaves(if reserved { format!(":{name}") } else { name.clone() }, value, cells);
    }
    // Between steps a rendezvous channel is always empty.
    for channel in snapshot.channels.iter().filter(|channel| channel.capacity > 0) {
        let messages = channel.messages.iter().map(|fields| Value::Message(fields.clone()).to_string());
        let contents = messages.collect::<Vec<String>>().join(", ");
        cells.push((format!("messages({})", channel.id.name), format!("[{contents}]")));
    }
    for process in &snapshot.processes {
        let of = process_name(&process.name, process.pid);
        for (name, value) in &process.locals {
            leaves(format!("{of}:{name}"), value, cells);
        }
    }
}

/// A value down to what has no parts.
fn leaves(name: String, value: &Value, cells: &mut Vec<(String, String)>) {
    match value {
        Value::Array(elements) => {
            for (i, element) in elements.iter().enumerate() {
                leaves(format!("{name}[{i}]"), element, cells);
            }
        }
        Value::Record(fields) => {
            for (field, value) in fields {
                leaves(format!("{name}.{field}"), value, cells);
            }
        }
        _ => cells.push((name, value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::ActionId;
    use system::toy::Graph;

    fn table(form: Form, cycle: Option<usize>, steps: RangeInclusive<usize>) -> String {
        let graph = Graph::parse("0 -> 1 -> 2 -> 0").unwrap();
        let mut run = Run::start(&graph).unwrap();
        (0..3).for_each(|action| run.take(ActionId(action)).unwrap());
        let mut written = Vec::new();
        write(&run, (steps, cycle), form, &mut written).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn a_row_is_a_step() {
        let csv = table(Form::Csv, Some(1), 1..=3);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "step,process,place,statement,cycle,node");
        assert_eq!(lines[1], "0,,,,0,0");
        assert!(lines[2].starts_with("1,graph[0],") && lines[2].ends_with(",0 -> 1,0,1"), "{}", lines[2]);
        assert!(lines[4].starts_with("3,") && lines[4].ends_with(",2 -> 0,1,0"), "{}", lines[4]);
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn columns_are_aligned_and_steps_chosen() {
        let aligned = table(Form::Aligned, None, 2..=3);
        let lines: Vec<&str> = aligned.lines().collect();
        assert_eq!(lines.len(), 3);
        let at = lines[0].find("node").unwrap();
        assert_eq!([&lines[1][at..], &lines[2][at..]], ["2", "0"]);
        assert!(lines[1].starts_with("2 "));
    }

    #[test]
    fn names_and_values_are_written_whole() {
        let mut cells = Vec::new();
        let record = Value::Record(vec![("a".into(), Value::Array(vec![Value::Int(1), Value::Bool(true)]))]);
        leaves("r".into(), &record, &mut cells);
        assert_eq!(cells, [("r.a[0]".into(), "1".into()), ("r.a[1]".into(), "true".into())]);
        assert_eq!(quoted("say \"hi\", twice"), "\"say \"\"hi\"\", twice\"");
        assert_eq!(quoted("x + 1"), "x + 1");
        let mut cells = Vec::new();
        let globals = vec![("step".to_string(), Value::Int(7))];
        state(&Snapshot { globals, ..Snapshot::default() }, &mut cells);
        assert_eq!(cells, [(":step".to_string(), "7".to_string())]);
    }
}
