//! What a step changes: the difference between two states in words, down to the element and the field.

use crate::story::process_name;
use system::{ChannelView, ProcessView, Snapshot, Value};

/// A value that is different after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What kind of thing it is.
    pub of: Of,
    /// Its name, with indices and fields: `flag[1]`, `m.body`, `q`.
    pub name: String,
    /// The name in parts.
    pub path: Vec<Part>,
    /// Before the step, if it existed.
    pub before: Option<Value>,
    /// After the step, if it exists still.
    pub after: Option<Value>,
}

/// A part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A variable, a channel or a field.
    Name(String),
    /// An index.
    Index(usize),
}

/// What kind of thing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// A global variable.
    Global,
    /// A local variable of this process.
    Local {
        /// Its number.
        pid: u32,
        /// Its proctype.
        process: String,
    },
    /// The messages in a channel.
    Channel,
}

impl Change {
    /// The name, with the process in front of a local variable: `user[1]:x`.
    pub fn full_name(&self) -> String {
        match &self.of {
            Of::Local { pid, process } => format!("{}:{}", process_name(process, *pid), self.name),
            Of::Global | Of::Channel => self.name.clone(),
        }
    }
}

/// All that is different between two states, except where processes are.
pub fn changes(before: &Snapshot, after: &Snapshot) -> Vec<Change> {
    let mut out = Vec::new();
    named(&Of::Global, &before.globals, &after.globals, &mut out);
    for at in 0..before.processes.len().max(after.processes.len()) {
        process(before.processes.get(at), after.processes.get(at), &mut out);
    }
    for at in 0..before.channels.len().max(after.channels.len()) {
        channel(before.channels.get(at), after.channels.get(at), &mut out);
    }
    out
}

/// A process with another name is another process.
fn process(before: Option<&ProcessView>, after: Option<&ProcessView>, out: &mut Vec<Change>) {
    if let (Some(b), Some(a)) = (before, after)
        && b.name != a.name
    {
        process(before, None, out);
        return process(None, after, out);
    }
    let Some(view) = before.or(after) else { return };
    let of = Of::Local { pid: view.pid, process: view.name.clone() };
    let locals = |view: Option<&ProcessView>| view.map_or_else(Vec::new, |view| view.locals.clone());
    named(&of, &locals(before), &locals(after), out);
}

fn channel(before: Option<&ChannelView>, after: Option<&ChannelView>, out: &mut Vec<Change>) {
    if let (Some(b), Some(a)) = (before, after)
        && b.id != a.id
    {
        channel(before, None, out);
        return channel(None, after, out);
    }
    // Between steps a rendezvous channel is always empty.
    let Some(view) = before.or(after).filter(|view| view.capacity > 0) else { return };
    let (before, after) = (before.map(ChannelView::contents), after.map(ChannelView::contents));
    if before != after {
        let name = view.id.name.clone();
        let path = vec![Part::Name(name.clone())];
        out.push(Change { of: Of::Channel, name, path, before, after });
    }
}

/// Variables of two states: the same ones, or none in one of them.
fn named(of: &Of, before: &[(String, Value)], after: &[(String, Value)], out: &mut Vec<Change>) {
    for at in 0..before.len().max(after.len()) {
        let (b, a) = (before.get(at), after.get(at));
        if let Some((name, _)) = b.or(a) {
            let path = vec![Part::Name(name.clone())];
            value(of, path, b.map(|(_, v)| v), a.map(|(_, v)| v), out);
        }
    }
}

/// Compares down to the values that have no parts.
fn value(of: &Of, path: Vec<Part>, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<Change>) {
    if before == after {
        return;
    }
    let inner = |part| path.iter().cloned().chain([part]).collect();
    match before.or(after) {
        Some(Value::Array(some)) => {
            for at in 0..some.len() {
                value(of, inner(Part::Index(at)), part(before, at), part(after, at), out);
            }
        }
        Some(Value::Record(some)) => {
            for (at, (field, _)) in some.iter().enumerate() {
                value(of, inner(Part::Name(field.clone())), part(before, at), part(after, at), out);
            }
        }
        _ => {
            let (name, before, after) = (written(&path), before.cloned(), after.cloned());
            out.push(Change { of: of.clone(), name, path, before, after });
        }
    }
}

/// A name as Promela writes it: `r.list[2]`.
fn written(path: &[Part]) -> String {
    let mut out = String::new();
    for part in path {
        match part {
            Part::Name(name) if out.is_empty() => out.push_str(name),
            Part::Name(field) => {
                out.push('.');
                out.push_str(field);
            }
            Part::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

/// An element of an array, or a field of a structure.
fn part(whole: Option<&Value>, at: usize) -> Option<&Value> {
    match whole? {
        Value::Array(elements) => elements.get(at),
        Value::Record(fields) => fields.get(at).map(|(_, value)| value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(flags: [i64; 2], x: i64) -> Snapshot {
        let flags = Value::Array(flags.into_iter().map(Value::Int).collect());
        let record = Value::Record(vec![("x".into(), Value::Int(x)), ("y".into(), Value::Bool(true))]);
        Snapshot { globals: vec![("flag".into(), flags), ("r".into(), record)], ..Snapshot::default() }
    }

    #[test]
    fn only_the_parts_that_differ_are_named() {
        let seen: Vec<String> = changes(&snapshot([0, 1], 5), &snapshot([0, 2], 6))
            .iter()
            .map(|c| format!("{} {} {}", c.full_name(), c.before.clone().unwrap(), c.after.clone().unwrap()))
            .collect();
        assert_eq!(seen, ["flag[1] 1 2", "r.x 5 6"]);
        assert!(changes(&snapshot([0, 1], 5), &snapshot([0, 1], 5)).is_empty());
    }

    fn process(name: &str, locals: Vec<(String, Value)>) -> ProcessView {
        ProcessView {
            pid: 0,
            name: name.into(),
            file: String::new(),
            line: 1,
            column: 1,
            location: 1,
            next: Vec::new(),
            at_end: false,
            finished: false,
            priority: None,
            locals,
        }
    }

    #[test]
    fn another_process_with_the_same_number_is_another_one() {
        let with = |name: &str, x| Snapshot {
            processes: vec![process(name, vec![("x".into(), Value::Int(x))])],
            ..Snapshot::default()
        };
        let all = changes(&with("a", 1), &with("b", 1));
        let names: Vec<(String, bool)> = all.iter().map(|c| (c.full_name(), c.before.is_some())).collect();
        assert_eq!(names, [("a[0]:x".to_string(), true), ("b[0]:x".to_string(), false)]);
        assert_eq!(changes(&with("a", 1), &with("a", 2)).len(), 1);
    }
}
