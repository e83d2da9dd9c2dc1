//! `--ranges` and `--profile`: which values variables have in the states that a search visits, and how often it
//! takes each statement.
//!
//! It is done at the waist, as certificates are: a system that passes everything on and looks at what is
//! expanded. States are looked at as people know them, which costs more than the search itself; nobody pays who
//! does not ask. Values are those of ordinary states (inside an atomic sequence a variable may have others for a
//! moment), steps are all that are executed, and a rendezvous is one of both processes.

use crate::backend::Backend;
use machine::Interp;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use system::coverage::Statement;
use system::{
    ActionId, Capabilities, Explain, Fault, Labels, SleepMask, Successors, TransitionSystem, Value, Worker,
    WorkerExt, follow_by,
};

/// Different values of one variable that are told one by one.
const MOST_VALUES: usize = 16;

/// What was noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// By name: the values of each variable, where they were asked for.
    pub ranges: Option<Vec<Range>>,
    /// How often each statement was executed, in the order of the text, where that was asked for.
    pub statements: Option<Vec<Count>>,
}

/// The values that a variable had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Its name; of a local variable with the proctype, of a channel the number of messages.
    pub name: String,
    /// The smallest and the largest number, for variables that hold numbers.
    pub bounds: Option<(i64, i64)>,
    /// All values in order, if they are few.
    pub values: Option<Vec<String>>,
}

impl Range {
    /// Whether it has all values from the smallest to the largest, and at least three.
    pub fn is_dense(&self) -> bool {
        let n = self.values.as_ref().map_or(0, Vec::len) as i64;
        n > 2 && self.bounds.is_some_and(|(low, high)| high - low + 1 == n)
    }
}

/// A statement, and how often it was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Its proctype.
    pub process: String,
    /// File and line.
    pub file: String,
    /// Line.
    pub line: u32,
    /// As written.
    pub text: String,
    /// How often.
    pub times: u64,
}

/// The values of one variable so far.
#[derive(Clone, Debug, Default)]
struct Seen {
    numbers: Option<(i64, i64)>,
    values: BTreeSet<(i64, String)>,
    many: bool,
}

impl Seen {
    fn add(&mut self, number: Option<i64>, text: String) {
        if let Some(number) = number {
            let (low, high) = self.numbers.get_or_insert((number, number));
            (*low, *high) = ((*low).min(number), (*high).max(number));
        }
        if !self.many {
            self.values.insert((number.unwrap_or(0), text));
            self.many = self.values.len() > MOST_VALUES;
        }
    }

    fn join(&mut self, other: Seen) {
        for number in other.numbers.into_iter().flat_map(|(low, high)| [low, high]) {
            let (low, high) = self.numbers.get_or_insert((number, number));
            (*low, *high) = ((*low).min(number), (*high).max(number));
        }
        self.values.extend(other.values);
        self.many |= other.many || self.values.len() > MOST_VALUES;
    }
}

/// What one worker has seen.
#[derive(Default)]
struct Sheet {
    ranges: BTreeMap<String, Seen>,
    /// By proctype and edge.
    times: HashMap<(String, u32), u64>,
}

/// Notes what a search meets.
pub struct Notes<'a> {
    searched: &'a dyn Backend,
    interp: &'a Interp,
    ranges: bool,
    profile: bool,
    all: Mutex<Sheet>,
    /// Hashes of states that were expanded: a path that is made once more counts once.
    known: Mutex<HashSet<u64>>,
}

impl<'a> Notes<'a> {
    /// For a search of a program, where something is to be noted.
    pub fn wanted(searched: &'a dyn Backend, ranges: bool, profile: bool) -> Option<Self> {
        let interp = searched.interp().filter(|_| ranges || profile)?;
        let (all, known) = (Mutex::new(Sheet::default()), Mutex::new(HashSet::new()));
        Some(Notes { searched, interp, ranges, profile, all, known })
    }

    /// What was noted, in order.
    pub fn finish(self) -> Noted {
        let sheet = self.all.into_inner().unwrap_or_else(PoisonError::into_inner);
        let range = |(name, seen): (String, Seen)| Range {
            name,
            bounds: seen.numbers,
            values: (!seen.many).then(|| seen.values.into_iter().map(|(_, text)| text).collect()),
        };
        Noted {
            ranges: self.ranges.then(|| sheet.ranges.into_iter().map(range).collect()),
            statements: self.profile.then(|| counts(self.interp, &sheet.times)),
        }
    }

    /// Whether a state is expanded for the first time.
    fn is_new(&self, state: &[u8]) -> bool {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(hasher.finish())
    }

    fn join(&self, sheet: Sheet) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, seen) in sheet.ranges {
            all.ranges.entry(name).or_default().join(seen);
        }
        for (edge, times) in sheet.times {
            *all.times.entry(edge).or_default() += times;
        }
    }
}

/// Every statement with its count, in the order of the text.
fn counts(interp: &Interp, times: &HashMap<(String, u32), u64>) -> Vec<Count> {
    // What is expanded several times, or covered by an escape, stands in automata several times.
    let mut by_place: HashMap<(String, String, u32, u32), u64> = HashMap::new();
    for ((name, number), times) in times {
        let proctype = interp.program().proctypes.iter().find(|proctype| proctype.name == *name);
        if let Some(edge) = proctype.and_then(|proctype| proctype.edges.get(*number as usize)) {
            let place = interp.locate(edge.span);
            *by_place.entry((name.clone(), place.file, place.line, place.column)).or_default() += times;
        }
    }
    let mut counts = Vec::new();
    for of in interp.coverage().unwrap_or_default() {
        for Statement { file, line, column, text, .. } in of.statements {
            let place = (of.process.clone(), file, line, column);
            let times = by_place.get(&place).copied().unwrap_or(0);
            let (process, file, ..) = place;
            counts.push(Count { process: process.trim_matches(':').to_string(), file, line, text, times });
        }
    }
    counts
}

/// A system whose expansions are noted.
pub struct NotedSystem<'a> {
    system: &'a dyn TransitionSystem,
    notes: &'a Notes<'a>,
}

impl<'a> NotedSystem<'a> {
    /// Everything but the noting is the system's.
    pub fn new(system: &'a dyn TransitionSystem, notes: &'a Notes<'a>) -> Self {
        NotedSystem { system, notes }
    }
}

impl TransitionSystem for NotedSystem<'_> {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.system.initial(out)
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.system.enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.system.fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        let (inner, sheet) = (self.system.worker(), Sheet::default());
        Box::new(Noting { inner, notes: self.notes, sheet, counts: false })
    }

    fn labels(&self, state: &[u8]) -> Labels {
        self.system.labels(state)
    }

    fn hidden_bytes(&self) -> usize {
        self.system.hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.system.deadlock(state)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.system.capabilities()
    }
}

struct Noting<'a> {
    inner: Box<dyn Worker + 'a>,
    notes: &'a Notes<'a>,
    sheet: Sheet,
    /// What is executed now counts: it begins in a state that was not expanded before.
    counts: bool,
}

impl Noting<'_> {
    fn values(&mut self, state: &[u8]) {
        let snapshot = self.notes.interp.snapshot(&self.notes.searched.to_interp(state));
        let ranges = &mut self.sheet.ranges;
        for (name, value) in &snapshot.globals {
            leaves(name.clone(), value, ranges);
        }
        for channel in snapshot.channels.iter().filter(|channel| channel.capacity > 0) {
            leaves(format!("len({})", channel.id.name), &Value::Int(channel.messages.len() as i64), ranges);
        }
        for process in &snapshot.processes {
            for (name, value) in &process.locals {
                leaves(format!("{}:{name}", process.name.trim_matches(':')), value, ranges);
            }
        }
    }

    fn steps(&mut self, state: &[u8], actions: impl Iterator<Item = ActionId>) {
        if !self.counts {
            return;
        }
        let state = self.notes.searched.to_interp(state);
        for action in actions {
            for made in self.notes.interp.edges_taken(&state, action) {
                *self.sheet.times.entry((made.proctype, made.edge)).or_default() += 1;
            }
        }
    }
}

/// Notes a value down to what has no parts.
fn leaves(name: String, value: &Value, ranges: &mut BTreeMap<String, Seen>) {
    match value {
        Value::Array(elements) => {
            for (i, element) in elements.iter().enumerate() {
                leaves(format!("{name}[{i}]"), element, ranges);
            }
        }
        Value::Record(fields) => {
            for (field, value) in fields {
                leaves(format!("{name}.{field}"), value, ranges);
            }
        }
        Value::Int(number) => ranges.entry(name).or_default().add(Some(*number), number.to_string()),
        _ => ranges.entry(name).or_default().add(None, value.to_string()),
    }
}

impl Worker for Noting<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        self.inner.enabled(state, out);
    }

    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.inner.fire(state, actions, out);
        if self.notes.profile {
            self.counts = self.notes.is_new(state);
            self.steps(state, actions.iter().copied());
        }
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        if self.notes.ranges {
            self.values(state);
        }
        let first = out.list.len();
        self.inner.expand_active(state, asleep, out);
        if self.notes.profile {
            self.counts = self.notes.is_new(state);
            self.steps(state, out.list[first..].iter().map(|step| step.action));
        }
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        if !self.notes.profile {
            return self.inner.follow(state, most, out);
        }
        follow_by(state, most, out, |state, out| {
            let first = out.list.len();
            self.inner.expand_transient(state, out);
            self.steps(state, out.list[first..].iter().map(|step| step.action));
        })
    }
}

impl Drop for Noting<'_> {
    fn drop(&mut self) {
        self.notes.join(std::mem::take(&mut self.sheet));
    }
}
