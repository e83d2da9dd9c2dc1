//! `spinor graph`: the reachable states of a model as a labelled transition system, for other tools, and its
//! quotient modulo bisimulation.
//!
//! The graph is the one on which formulas about states are judged: every state, every step, nothing merged. A
//! step is labelled with the statement that begins it (an atomic sequence is one step), or, where expressions
//! label the states, with the values that it changes. A silent step is one that is hidden, or that changes no
//! label.

use crate::backend::{Backend, ProgramBackend};
use crate::branching::question::expression;
use crate::branching::refusals::refuse_for_graph;
use crate::client::Client;
use crate::embedded;
use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::options::CheckOptions;
use crate::packed_search;
use crate::plan::Plan;
use crate::report_text::{bytes, grouped, plural};
use crate::session::Session;
use graph::bisimulation::{Equivalence, Means, Room, TooLarge, partition, quotient};
use graph::lts::{Lts, SILENT};
use machine::Interp;
use machine::action::Action;
use machine::opt::Reductions;
use promela::ir::{Expr, ExprKind, ProctypeId, Program, visit};
use promela::source::Files;
use regex::Regex;
use search::state_graph::{self, Explored, Looker, Lookers, Notes, Scene, StateGraph, explore};
use search::{Checks, StopReason, Task};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stop::{Cause, Stop};
use system::{ActionId, Explain, StepInfo};

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct GraphOptions {
    /// The model, budgets, threads, store and machine.
    pub check: CheckOptions,
    /// Expressions that label states, with commas between them.
    pub labels: Option<String>,
    /// Statements that match are silent.
    pub hide: Option<String>,
    /// The quotient that is wanted.
    pub reduce: Option<Equivalence>,
}

/// A graph that was made, and what was left of it.
pub struct MadeGraph {
    /// The graph, or its quotient.
    pub lts: Lts,
    /// States and steps before reduction.
    pub full: (usize, usize),
    /// Steps that end in a run-time error or in an atomic sequence without end; the graph lacks them.
    pub cut: usize,
}

impl MadeGraph {
    /// How large the graph is, in a line.
    pub fn summary(&self) -> String {
        let size = |(states, steps): (usize, usize)| {
            format!("{}, {}", plural(states as u64, "state"), plural(steps as u64, "step"))
        };
        let written = (self.lts.n_states(), self.lts.n_edges());
        let of = if written == self.full { String::new() } else { format!(" (of {})", size(self.full)) };
        let cut = match self.cut {
            0 => String::new(),
            1 => "; 1 step ends in a run-time error or never leaves an atomic sequence, and is left out"
                .to_string(),
            n => format!(
                "; {} end in a run-time error or never leave an atomic sequence, and are left out",
                plural(n as u64, "step")
            ),
        };
        format!("{}{of}{cut}\n", size(written))
    }
}

/// Explores a model and hands its graph to `view`; given up when it is to `stop`.
pub fn state_graph<T: Send>(
    options: &GraphOptions,
    files: &(dyn Files + Sync),
    stop: &Stop,
    client: &mut (dyn Client + Send),
    view: impl FnOnce(&MadeGraph) -> T + Send,
) -> Answer<T> {
    let mut check = options.check.clone();
    check.source.options.labels = options.labels.as_deref().map(split).unwrap_or_default();
    let mut plan = match Plan::new(&check).and_then(|plan| refuse_for_graph(&plan).map(|()| plan)) {
        Ok(plan) => plan,
        Err(failure) => return Answer::failed(failure),
    };
    plan.limits.account = client.memory_account();
    let stop = &stop.within(plan.limits.time);
    let work = || match Session::load(&plan.source, files, stop) {
        Err(failure) => Answer::failed(failure),
        Ok(session) => {
            let adapted = embedded::adapted(&plan, &session);
            let made = adapted.and_then(|plan| make(options, &plan, &session, (stop, client)));
            let result = made.map(|made| view(&made));
            Answer { notices: session.notices, result }
        }
    };
    let answer = isolated(work).unwrap_or_else(Answer::failed);
    // The end of memory stops what is being done, too.
    let result = match answer.result {
        Err(Failure::Stopped(Cause::Asked)) if client.is_short_of_memory() => {
            Err(out_of_memory("memory ran out", &plan))
        }
        result => result,
    };
    Answer { result, ..answer }
}

fn out_of_memory(what: &str, plan: &Plan) -> Failure {
    Failure::Incomplete {
        message: format!("{what} ({}); nothing was written", plan.allowance),
        repair: "give more with --max-memory, use --store cleary, or make the model smaller with -D"
            .to_string(),
    }
}

/// Expressions between commas; commas inside parentheses and brackets do not count.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut open) = (vec![String::new()], 0usize);
    for c in text.chars() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => open = open.saturating_sub(1),
            ',' if open == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

fn make(
    options: &GraphOptions,
    plan: &Plan,
    session: &Session,
    (stop, client): (&Stop, &mut dyn Client),
) -> Result<MadeGraph, Failure> {
    let program = session.program()?;
    let hide = options.hide.as_deref().map(|text| {
        Regex::new(text).map_err(|error| {
            let why = error.to_string().lines().last().unwrap_or_default().trim().to_string();
            Failure::refused_with(
                format!("--hide {text:?} is no regular expression ({why})"),
                "write it as --hide 'printf|x = .*'",
            )
        })
    });
    let hide = hide.transpose()?;
    let expressions = label_expressions(program)?;
    packed_search::refuse_whole(plan, "the state graph")?;
    let reductions = Reductions { merge: false, ..plan.reductions() };
    let backend = session.searched(reductions, plan.exec, &[])?;
    let task = Task {
        checks: Checks::NONE,
        all_errors: false,
        seed: None,
        limits: plan.limits,
        stop: stop.flag(),
        reduce: None,
    };
    let store = crate::branching::refusals::state_store(plan.store).unwrap_or_default();
    let memory = plan.limits.memory.unwrap_or(u64::MAX);
    let (watch, mut classes) = (Watch::new(&backend, program, expressions, hide)?, Classes::default());
    let scene = Scene { system: backend.system(), lookers: &watch, notes: &mut classes };
    let means = state_graph::Means { store, memory, threads: plan.threads as usize };
    let explored = explore(scene, means, &task, client);
    whole(&explored, plan)?;
    let cut = explored.graph.cuts.len();
    let named = watch.named.into_inner().unwrap_or_else(PoisonError::into_inner);
    let lts = labelled(explored.graph, named, classes.0, plan.source.options.labels.clone());
    let full = (lts.n_states(), lts.n_edges());
    let lts = match options.reduce {
        None => lts,
        Some(equivalence) => reduced(&lts, equivalence, plan, stop)?,
    };
    Ok(MadeGraph { lts, full, cut })
}

/// The quotient, if there is memory for it.
fn reduced(lts: &Lts, equivalence: Equivalence, plan: &Plan, stop: &Stop) -> Result<Lts, Failure> {
    let room = Room { limit: plan.limits.memory, account: plan.limits.account };
    let means = Means { threads: plan.threads as usize, stop, room };
    let blocks = partition(lts, equivalence, means);
    let quotient = blocks.and_then(|blocks| quotient(lts, &blocks, equivalence, room));
    quotient.map_err(|TooLarge(needed)| Failure::Incomplete {
        message: format!(
            "to reduce the graph ({}, {}) takes {} at least, and {}; nothing was written",
            plural(lts.n_states() as u64, "state"),
            plural(lts.n_edges() as u64, "step"),
            bytes(needed),
            plan.allowance
        ),
        repair: "give more with --max-memory, leave out --reduce, or make the model smaller with -D"
            .to_string(),
    })
}

/// Refuses a graph of which a part is missing: it would be taken for the whole.
fn whole(explored: &Explored, plan: &Plan) -> Result<(), Failure> {
    let states = grouped(explored.outcome.statistics.states);
    let limit =
        |message: String, repair: &str| Err(Failure::Incomplete { message, repair: repair.to_string() });
    match explored.outcome.stop {
        StopReason::Completed => Ok(()),
        StopReason::StateLimit => limit(
            format!(
                "the graph has more than {} states (--max-states); nothing was written",
                grouped(plan.limits.states.unwrap_or(explored.outcome.statistics.states))
            ),
            "raise --max-states, or make the model smaller with -D",
        ),
        StopReason::MemoryLimit => {
            let states = plural(explored.outcome.statistics.states, "state");
            Err(out_of_memory(&format!("memory ran out after {states}"), plan))
        }
        StopReason::TimeLimit => limit(
            format!("the time was over after {states} states; nothing was written"),
            "give more with --timeout, or make the model smaller with -D",
        ),
        _ => Err(Failure::Stopped(Cause::Asked)),
    }
}

/// The expressions that label states.
fn label_expressions(program: &Program) -> Result<Vec<Expr>, Failure> {
    let of_label = |name: &str| name.starts_with(crate::with_formula::LABEL);
    let labels = program.state_properties.iter().filter(|property| of_label(&property.name));
    labels
        .map(|label| {
            expression(&label.formula).ok_or_else(|| {
                Failure::refused_with(
                    format!("--labels: `{}` is a formula, and states are labelled with values", label.text),
                    "give expressions, such as --labels 'x,len(c),p@crit'",
                )
            })
        })
        .collect()
}

/// Names of steps and values of states, numbered.
#[derive(Default)]
struct Named {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    values: Vec<Vec<String>>,
    classes: HashMap<Vec<Option<i32>>, u32>,
}

impl Named {
    /// The number of a label.
    fn label(&mut self, name: String) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }

    /// The number of a state's values.
    fn class(&mut self, values: &[Option<i32>]) -> u32 {
        if let Some(&known) = self.classes.get(values) {
            return known;
        }
        let shown = |value: &Option<i32>| value.map_or_else(|| "null".to_string(), |v| v.to_string());
        let class = self.values.len() as u32;
        self.values.push(values.iter().map(shown).collect());
        self.classes.insert(values.to_vec(), class);
        class
    }
}

/// What is to be seen of steps and states.
struct Watch<'a> {
    backend: &'a ProgramBackend,
    interp: &'a Interp,
    expressions: Vec<Expr>,
    hide: Option<Regex>,
    /// The proctype of a process depends on the state.
    dynamic: bool,
    named: Mutex<Named>,
}

impl<'a> Watch<'a> {
    fn new(
        backend: &'a ProgramBackend,
        program: &Program,
        expressions: Vec<Expr>,
        hide: Option<Regex>,
    ) -> Result<Self, Failure> {
        let interp = backend.interp().ok_or_else(|| Failure::Internal("no reference machine".to_string()))?;
        let mut dynamic = false;
        visit::walk_program(program, |_, expr| dynamic |= matches!(expr.kind, ExprKind::Run { .. }));
        Ok(Watch { backend, interp, expressions, hide, dynamic, named: Mutex::default() })
    }

    fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who takes a step, where that is not told by its number.
type Takers = [Option<ProctypeId>; 2];

/// Sees steps and states, for one thread; it remembers what it has met.
struct Look<'w, 'a> {
    watch: &'w Watch<'a>,
    /// Labels by action, and by the proctypes of those who take it.
    known: HashMap<(ActionId, Takers), u32>,
    classes: HashMap<Vec<Option<i32>>, u32>,
    /// The proctypes of the state seen last.
    proctypes: Option<Vec<ProctypeId>>,
}

/// Values that a thread remembers: more would be kept once for each thread.
const MOST_REMEMBERED: usize = 1 << 16;

impl Lookers for Watch<'_> {
    fn looker(&self) -> Box<dyn Looker + '_> {
        Box::new(Look { watch: self, known: HashMap::new(), classes: HashMap::new(), proctypes: None })
    }

    fn wants_steps(&self) -> bool {
        true
    }
}

impl Look<'_, '_> {
    fn takers(&mut self, state: &[u8], action: ActionId) -> Takers {
        let Watch { backend, interp, dynamic, .. } = *self.watch;
        if !dynamic {
            return [None, None];
        }
        let proctypes = self.proctypes.get_or_insert_with(|| {
            let anatomy = interp.take_apart(&backend.to_interp(state));
            anatomy.map_or_else(Vec::new, |anatomy| anatomy.processes.iter().map(|p| p.proctype).collect())
        });
        let action = Action::unpack(action);
        let of = |pid: usize| proctypes.get(pid).copied();
        [of(action.pid), action.partner.and_then(|(pid, _)| of(pid))]
    }
}

impl Looker for Look<'_, '_> {
    fn state(&mut self, state: &[u8], _stuck: bool, words: &mut Vec<u64>) {
        self.proctypes = None;
        let watch = self.watch;
        if watch.expressions.is_empty() {
            return;
        }
        let values = watch.interp.values(&watch.backend.to_interp(state), &watch.expressions);
        if self.classes.len() >= MOST_REMEMBERED {
            self.classes.clear();
        }
        let known = self.classes.get(&values).copied();
        let class = known.unwrap_or_else(|| {
            let class = watch.named().class(&values);
            self.classes.insert(values, class);
            class
        });
        words.push(u64::from(class));
    }

    fn step(&mut self, state: &[u8], actions: &[ActionId]) -> u32 {
        let watch = self.watch;
        let Some(&first) = actions.first() else { return watch.named().label(String::new()) };
        let key = (first, self.takers(state, first));
        if let Some(&label) = self.known.get(&key) {
            return label;
        }
        let name = step_name(&watch.interp.step(&watch.backend.to_interp(state), first));
        let hidden = watch.hide.as_ref().is_some_and(|hide| hide.is_match(&name));
        let label = watch.named().label(if hidden { SILENT.to_string() } else { name });
        self.known.insert(key, label);
        label
    }
}

/// The values of all states, by number.
#[derive(Default)]
struct Classes(Vec<u32>);

impl Notes for Classes {
    fn state(&mut self, words: &[u64]) -> bool {
        self.0.extend(words.first().map(|&class| class as u32));
        false
    }

    fn memory(&self) -> u64 {
        (self.0.capacity() * 4) as u64
    }
}

/// The labelled transition system of a graph. Numbers of labels and of values are made anew, in the order of
/// states and steps: so they do not depend on which thread was first to meet them.
fn labelled(graph: StateGraph, named: Named, classes: Vec<u32>, expressions: Vec<String>) -> Lts {
    let (StateGraph { edges, mut labels, .. }, mut named) = (graph, named);
    if !expressions.is_empty() {
        // A step is what it changes.
        let mut changes: HashMap<(u32, u32), u32> = HashMap::new();
        let silent = named.label(SILENT.to_string());
        for state in 0..edges.n_rows() {
            for edge in edges.row(state) {
                let target = edges.target(edge as u64) as usize;
                let (from, to) = (classes[state], classes[target]);
                let hidden = labels[edge] == silent;
                labels[edge] = match () {
                    () if from == to || hidden => silent,
                    () => *changes.entry((from, to)).or_insert_with(|| {
                        let [from, to] = [from, to].map(|class| &named.values[class as usize]);
                        let name = change(&expressions, from, to);
                        named.label(name)
                    }),
                };
            }
        }
    }
    let Named { names, values, .. } = named;
    compact(Lts { edges, labels, names, classes, values, expressions })
}

/// The values that a step changes.
fn change(expressions: &[String], from: &[String], to: &[String]) -> String {
    let changed = expressions.iter().zip(from.iter().zip(to)).filter(|(_, (from, to))| from != to);
    changed.map(|(expression, (_, to))| format!("{expression} = {to}")).collect::<Vec<_>>().join(", ")
}

/// The system without names that no step has; names and values in the order in which they are met.
fn compact(mut lts: Lts) -> Lts {
    lts.names = in_order(&mut lts.labels, std::mem::take(&mut lts.names));
    lts.values = in_order(&mut lts.classes, std::mem::take(&mut lts.values));
    lts
}

/// Gives numbers anew, in the order in which they are met; what is called by them comes in that order.
fn in_order<T: Default>(numbers: &mut [u32], mut called: Vec<T>) -> Vec<T> {
    let mut new = vec![u32::MAX; called.len()];
    let mut ordered = Vec::new();
    for number in numbers {
        let old = *number as usize;
        if new[old] == u32::MAX {
            new[old] = ordered.len() as u32;
            ordered.push(std::mem::take(&mut called[old]));
        }
        *number = new[old];
    }
    ordered
}

/// A step in words: the process, and the statement that begins it.
fn step_name(info: &StepInfo) -> String {
    let own = |info: &StepInfo| {
        let text = info.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{}: {text}", trace::story::process_name(&info.process, info.pid))
    };
    match &info.partner {
        Some(partner) => format!("{} | {}", own(info), own(partner)),
        None => own(info),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_taken_apart_at_commas_outside_of_brackets() {
        assert_eq!(split("x, a[1], (y, z)"), ["x", "a[1]", "(y, z)"]);
        assert_eq!(split("x"), ["x"]);
    }
}
