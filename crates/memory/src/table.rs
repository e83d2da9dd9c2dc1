//! A violation as a table: a column for each processor, a row for each operation, the reason at the last one.
//!
//! Processors print what they have done (`mem: P0 write x := 1`); the run is replayed by the reference
//! machine, which tells what was printed in each step. A write stands where it was issued, which is the first
//! step of its processor after the operation before; a read stands where it returned. `ORDER` prints, too:
//! where a write reaches memory in a step of the system itself, it has a row of its own. A write that has not
//! returned when the violation shows has printed nothing; the statement that its processor executed last came
//! through an inline that was called on a line of ours, and that line says what it was.

use crate::compose::{Composed, Question};
use crate::rules::Op;
use crate::words;
use crate::{observer_words, ordering};
use engine::Session;
use engine::replay::Replayed;
use promela::source::Span;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use system::Event;

/// What happened in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A processor did this; the value of a read.
    Did(usize, Op, Option<u8>),
    /// A processor began to write and has not returned.
    Began(usize, Op),
    /// A reply came for the operation of this row, out of order or late.
    Reply(usize, usize),
    /// A write of this value reached the address.
    Reached(usize, u8),
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// What happened.
    pub what: What,
    /// The step of the run.
    pub step: usize,
}

/// A violation as a table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Columns.
    pub cpus: usize,
    /// Rows, numbered from 1.
    pub rows: Vec<Row>,
    /// Why it must not be so.
    pub reason: String,
}

/// The table of a replayed run.
pub fn of(replayed: &Replayed<'_>, session: &Session, composed: &Composed) -> Table {
    let mut reader = Reader { begun: BTreeMap::new(), tags: BTreeMap::new(), rows: Vec::new() };
    let run = &replayed.run;
    for step in run.first() + 1..=run.len() {
        let Some(info) = run.info(step) else { continue };
        let cpu = info.process.strip_prefix("CPU").and_then(|n| n.parse::<usize>().ok());
        if let Some(cpu) = cpu {
            reader.begun.entry(cpu).or_insert((step, step)).1 = step;
        }
        for event in run.events(step) {
            if let Event::Print { text, .. } = event {
                reader.printed(text.trim(), step, cpu.is_some());
            }
        }
    }
    let end = run.snapshot(run.len());
    for (&cpu, &(first, last)) in &reader.begun.clone() {
        // It has returned where the processor is about to say so.
        let process = end.processes.iter().find(|process| process.name == format!("CPU{cpu}"));
        let returned = process.is_some_and(|process| process.next.iter().any(|next| next.contains("mem: P")));
        let from = run.moves(last).into_iter().next().and_then(|taken| called(session, &taken));
        if let Some(op @ Op::Write(..)) = from.and_then(|line| written_on(&line)) {
            let what = if returned { What::Did(cpu, op, None) } else { What::Began(cpu, op) };
            reader.rows.push(Row { what, step: first });
        }
    }
    reader.rows.sort_by_key(|row| row.step);
    let mut table = Table { cpus: composed.cpus, rows: reader.rows, reason: String::new() };
    table.reason = reason(&table, composed, &replayed.violation);
    table
}

struct Reader {
    /// Per processor: the first and the last step of what it is doing.
    begun: BTreeMap<usize, (usize, usize)>,
    /// Per processor and tag: the row of the operation that waits for a reply.
    tags: BTreeMap<(usize, usize), usize>,
    rows: Vec<Row>,
}

impl Reader {
    fn printed(&mut self, text: &str, step: usize, by_cpu: bool) {
        let Some(text) = text.strip_prefix("mem: ") else { return };
        let words: Vec<&str> = text.split(' ').collect();
        if let ["order", a, v] = words[..] {
            if let (false, Ok(a), Ok(v)) = (by_cpu, a.parse(), v.parse()) {
                self.rows.push(Row { what: What::Reached(a, v), step });
            }
            return;
        }
        let Some(cpu) = words[0].strip_prefix('P').and_then(|n| n.parse::<usize>().ok()) else { return };
        match words[1..] {
            ["issue", .., "tag", tag] => {
                let begun = self.begun.remove(&cpu).map_or(step, |(first, _)| first);
                let Some((op, _)) = operation(&words[2..words.len() - 2]) else { return };
                if let Ok(tag) = tag.parse() {
                    self.tags.insert((cpu, tag), self.rows.len());
                }
                self.rows.push(Row { what: What::Did(cpu, op, None), step: begun });
            }
            ["reply", value, "tag", tag] => self.replied(cpu, value, tag, step),
            _ => {
                let begun = self.begun.remove(&cpu).map_or(step, |(first, _)| first);
                let Some((op, value)) = operation(&words[1..]) else { return };
                let step = if matches!(op, Op::Write(..)) { begun } else { step };
                self.rows.push(Row { what: What::Did(cpu, op, value), step });
            }
        }
    }

    fn replied(&mut self, cpu: usize, value: &str, tag: &str, step: usize) {
        let row = tag.parse().ok().and_then(|tag: usize| self.tags.remove(&(cpu, tag)));
        let Some(row) = row else { return };
        if let What::Did(_, Op::Read(_), of @ None) = &mut self.rows[row].what {
            *of = value.parse().ok();
        }
        let at = self.rows[row].step;
        self.rows.push(Row { what: What::Reply(cpu, at), step });
    }
}

/// `write x := 1`, `read x = 0`, `read x`, `fence`.
fn operation(words: &[&str]) -> Option<(Op, Option<u8>)> {
    match *words {
        ["write", a, ":=", v] => Some((Op::Write(words::address_of(a)?, v.parse().ok()?), None)),
        ["read", a, "=", v] => Some((Op::Read(words::address_of(a)?), v.parse().ok())),
        ["read", a] => Some((Op::Read(words::address_of(a)?), None)),
        ["fence"] => Some((Op::Fence, None)),
        _ => None,
    }
}

/// The line of the composed text from which a step came, through whatever inlines.
fn called(session: &Session, taken: &system::Move) -> Option<String> {
    let program = session.program.as_ref()?;
    let proctype = program.proctypes.iter().find(|proctype| proctype.name == taken.proctype)?;
    let mut span: Span = proctype.edges.get(taken.edge as usize)?.span;
    while let Some(expansion) = session.sources.expansion(span.expansion) {
        span = expansion.call;
    }
    let file = session.sources.file(span.file);
    Some(file.line(file.row(span.start)).to_string())
}

/// The write that a line of ours makes.
fn written_on(line: &str) -> Option<Op> {
    let told = line.split("printf(\"mem: P").nth(1)?.split("\\n").next()?;
    let words: Vec<&str> = told.split(' ').filter(|word| *word != "issue").collect();
    operation(words.get(1..5)?).map(|(op, _)| op)
}

impl Table {
    /// The row, from 1, in which a processor first wrote (or last read) this value.
    pub fn row_of(&self, cpu: usize, op: Op, value: u8) -> Option<usize> {
        let fits = |row: &Row| match (row.what, op) {
            (What::Did(c, Op::Write(a, v), _) | What::Began(c, Op::Write(a, v)), Op::Write(b, _)) => {
                (c, a, v) == (cpu, b, value)
            }
            (What::Did(c, Op::Read(a), v), Op::Read(b)) => (c, a, v) == (cpu, b, Some(value)),
            _ => false,
        };
        let found = match op {
            Op::Read(_) => self.rows.iter().rposition(fits),
            _ => self.rows.iter().position(fits),
        };
        found.map(|at| at + 1)
    }

    /// For people.
    pub fn text(&self) -> String {
        let reaches = self.rows.iter().any(|row| matches!(row.what, What::Reached(..)));
        let columns = self.cpus + usize::from(reaches);
        let cells: Vec<(usize, String)> = self.rows.iter().map(|row| self.cell(row)).collect();
        let wide = |column: usize| {
            let longest = cells.iter().filter(|(at, _)| *at == column).map(|(_, cell)| cell.chars().count());
            longest.max().unwrap_or(0).max(2)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        let line = |number: &str, text: &dyn Fn(usize) -> String| {
            let cells = (0..columns).map(|at| format!("{:width$}", text(at), width = widths[at]));
            format!("{number:>3}   {}", cells.collect::<Vec<_>>().join("   "))
        };
        let mut out = line("", &|at| if at < self.cpus { words::cpu(at) } else { "memory".into() });
        out.truncate(out.trim_end().len());
        let short = self.reason.chars().count() <= 60;
        for (number, (column, cell)) in cells.iter().enumerate() {
            let text = |at: usize| if at == *column { cell.clone() } else { ".".to_string() };
            let row = line(&(number + 1).to_string(), &text);
            let row = match short && number + 1 == cells.len() {
                true => format!("{row}   {}", self.reason),
                false => row,
            };
            out += &format!("\n{}", row.trim_end());
        }
        if short { out + "\n" } else { format!("{out}\n      {}\n", self.reason) }
    }

    fn cell(&self, row: &Row) -> (usize, String) {
        match row.what {
            What::Did(cpu, op, value) => (cpu, told(op, value)),
            What::Began(cpu, op) => (cpu, format!("{} …", told(op, None))),
            What::Reply(cpu, step) => {
                let of =
                    |other: &Row| matches!(other.what, What::Did(c, ..) if c == cpu) && other.step == step;
                let row = self.rows.iter().position(of).map_or(0, |at| at + 1);
                (cpu, format!("reply to {row}"))
            }
            What::Reached(a, v) => (self.cpus, format!("{} := {v}", words::address(a))),
        }
    }

    /// For machines.
    pub fn json(&self) -> Value {
        let row = |(number, row): (usize, &Row)| {
            let (cpu, word, op, value) = match row.what {
                What::Did(cpu, op, value) => (Some(cpu), word(op), Some(op), value),
                What::Began(cpu, op) => (Some(cpu), "began to write", Some(op), None),
                What::Reply(cpu, _) => (Some(cpu), "reply", None, None),
                What::Reached(a, v) => (None, "reached memory", Some(Op::Write(a, v)), None),
            };
            let (address, value) = match op {
                Some(Op::Write(a, v)) => (Some(words::address(a)), Some(v)),
                Some(Op::Read(a)) => (Some(words::address(a)), value),
                _ => (None, None),
            };
            json!({"row": number + 1, "processor": cpu, "operation": word, "address": address, "value": value, "step": row.step})
        };
        self.rows.iter().enumerate().map(row).collect()
    }
}

fn word(op: Op) -> &'static str {
    match op {
        Op::Write(..) => "write",
        Op::Read(_) => "read",
        Op::Fence => "fence",
    }
}

fn told(op: Op, value: Option<u8>) -> String {
    match (op, value) {
        (Op::Write(a, v), _) => format!("write {} := {v}", words::address(a)),
        (Op::Read(a), Some(v)) => format!("read  {} = {v}", words::address(a)),
        (Op::Read(a), None) => format!("read  {}", words::address(a)),
        (Op::Fence, _) => "fence".to_string(),
    }
}

/// What the system itself does wrong, if that is what a run shows.
pub fn fault_of_system(composed: &Composed, fault: &system::Fault) -> Option<String> {
    // What the system itself asserts stands before the processors.
    let stated = !matches!(fault.kind, system::FaultKind::EndState | system::FaultKind::Formula);
    if stated && fault.line < composed.clients_begin {
        let (file, line) =
            composed.place(fault.line).cloned().unwrap_or((fault.file.as_str().into(), fault.line));
        return Some(format!("{} ({file}:{line})", fault.message));
    }
    if stated && fault.message.contains("mv_answered") {
        let port = fault.process.as_deref().and_then(|name| name.strip_prefix("Port")?.parse().ok());
        let cpu = port.map_or_else(String::new, words::cpu);
        return Some(format!("{cpu} is answered, and waits for no answer"));
    }
    None
}

/// Why the run must not be.
fn reason(table: &Table, composed: &Composed, fault: &system::Fault) -> String {
    if let Some(told) = fault_of_system(composed, fault) {
        return told;
    }
    match &composed.question {
        Question::Rule(test) => filled(test.reason, table, composed),
        Question::Litmus(_) => String::new(),
        Question::Sequential(k) => observer_words::cycle(table, &composed.roles, *k),
        Question::Order => ordering::reason(&fault.message).to_string(),
        Question::Progress => "nobody can go on".to_string(),
        Question::Service => "no continuation lets it complete what it began".to_string(),
    }
}

/// A text with the names of processors and addresses, and the numbers of rows, in their places.
pub fn filled(text: &str, table: &Table, composed: &Composed) -> String {
    let part = |word: &str| word.strip_prefix('P').and_then(|n| n.parse::<usize>().ok());
    let mut out = String::new();
    for piece in text.split('{') {
        let Some((name, rest)) = piece.split_once('}') else {
            out += piece;
            continue;
        };
        let words: Vec<&str> = name.split(' ').collect();
        out += &match words[..] {
            [row, kind, address, value] => {
                let cpu = row.strip_prefix('#').and_then(part).map(|part| composed.roles.cpus[part]);
                let address = words::address_of(address).map(|a| composed.roles.addresses[a]);
                let value = value.parse().unwrap_or(0);
                let op = address.map(|a| if kind == "w" { Op::Write(a, value) } else { Op::Read(a) });
                let row = cpu.zip(op).and_then(|(cpu, op)| table.row_of(cpu, op, value));
                row.map_or_else(|| "–".to_string(), |row| row.to_string())
            }
            _ => match (part(name), words::address_of(name)) {
                (Some(part), _) => words::cpu(composed.roles.cpus[part]),
                (_, Some(address)) => words::address(composed.roles.addresses[address]),
                _ => name.to_string(),
            },
        };
        out += rest;
    }
    out
}
