//! The life of a process: start, the right to move (`provided`, priorities), death.

use promela::ir::{Expr, ExprKind, InitStep, LocId, ProctypeId, Program};
use promela::source::Span;

use super::eval::{Mode, View, store};
use super::fault::{Outcome, runtime};
use super::layout::Layout;
use super::state::{Process, State};
use super::{channel, fault};

/// As many processes as Spin allows.
pub(super) const MAX_PROCESSES: usize = 255;
/// The most cells of all processes: a state beyond this size is of no use to anyone.
const MAX_LOCAL_CELLS: usize = 1 << 22;

/// A process that is to be started.
pub(super) struct Instance<'a> {
    pub proctype: ProctypeId,
    pub args: &'a [i32],
    pub priority: u8,
    /// Where it is started.
    pub span: Span,
}

/// Starts a process and gives its pid. Parameters are truncated to their types; then the locals are
/// initialised, which is when the process's channels come into being.
pub(super) fn start(
    program: &Program,
    layout: &Layout,
    state: &mut State,
    new: &Instance<'_>,
) -> Outcome<usize> {
    let &Instance { proctype, args, priority, span } = new;
    let pid = state.processes.len();
    if pid >= MAX_PROCESSES {
        return runtime(span, format!("too many processes: there can be {MAX_PROCESSES}"));
    }
    let definition = program.proctype(proctype);
    let scalars = &layout.processes[proctype.index()].scalars;
    let first_cell = state.locals.len();
    if first_cell + scalars.len() > MAX_LOCAL_CELLS {
        return runtime(
            span,
            format!("too many variables: all processes together can have {MAX_LOCAL_CELLS}"),
        );
    }
    state.locals.resize(first_cell + scalars.len(), 0);
    let parameters = state.locals[first_cell..].iter_mut().take(definition.n_params as usize);
    for ((cell, scalar), &arg) in parameters.zip(scalars).zip(args) {
        *cell = scalar.truncate(arg);
    }
    state.processes.push(Process {
        proctype,
        location: definition.start,
        priority,
        first_cell,
        first_channel: state.channels.len(),
    });
    initialise(program, state, Some(pid), &definition.init)?;
    arrive(program, state, pid, definition.start);
    Ok(pid)
}

/// Puts a process at a location; what is dead there is forgotten.
pub(super) fn arrive(program: &Program, state: &mut State, pid: usize, location: LocId) {
    let process = &mut state.processes[pid];
    process.location = location;
    let (proctype, first_cell) = (process.proctype, process.first_cell);
    for &cell in &program.proctype(proctype).location(location).dead {
        state.locals[first_cell + cell as usize] = 0;
    }
}

/// Executes `run`: the arguments are evaluated by the process that executes it.
pub(super) fn run(
    program: &Program,
    layout: &Layout,
    state: &mut State,
    pid: usize,
    mode: Mode,
    expr: &Expr,
) -> Outcome<usize> {
    let ExprKind::Run { proctype, args, priority } = &expr.kind else {
        return fault::internal(expr.span, "a run that is none");
    };
    let view = View { program, state, pid: Some(pid), mode };
    let args = args.iter().map(|arg| view.eval(arg)).collect::<Outcome<Vec<i32>>>()?;
    let new = Instance { proctype: *proctype, args: &args, priority: *priority, span: expr.span };
    start(program, layout, state, &new)
}

/// Initialises variables and creates channels, in order.
pub(super) fn initialise(
    program: &Program,
    state: &mut State,
    pid: Option<usize>,
    steps: &[InitStep],
) -> Outcome<()> {
    let mode = Mode::default();
    for step in steps {
        match step {
            InitStep::Assign(place, expr) => {
                let value = View { program, state, pid, mode }.eval(expr)?;
                store(program, state, pid, mode, place, value)?;
            }
            InitStep::NewChan(place, ty) => {
                let number = channel::create(state, *ty, place.span)?;
                store(program, state, pid, mode, place, number)?;
            }
        }
    }
    Ok(())
}

/// Removes the process with the highest pid, and the channels that were created since it started.
pub(super) fn end(state: &mut State) {
    if let Some(process) = state.processes.pop() {
        state.locals.truncate(process.first_cell);
        state.channels.truncate(process.first_channel);
    }
}

impl View<'_> {
    /// Whether process `pid` may move now: its `provided` clause holds, and no process of a higher priority
    /// that is provided for is enabled.
    pub fn may_move(&self, pid: usize) -> Outcome<bool> {
        if !self.is_provided(pid)? {
            return Ok(false);
        }
        if !self.program.uses.priority {
            return Ok(true);
        }
        let priority = self.state.processes[pid].priority;
        for (other, process) in self.state.processes.iter().enumerate() {
            // An error in the other process's guard or clause will be seen on its own turn.
            if process.priority > priority
                && self.is_provided(other).unwrap_or(true)
                && self.is_enabled(other).unwrap_or(true)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the `provided` clause of process `pid` holds.
    pub fn is_provided(&self, pid: usize) -> Outcome<bool> {
        let process = &self.state.processes[pid];
        match &self.proctype_of(process).provided {
            Some(expr) => Ok(View { pid: Some(pid), ..*self }.eval(expr)? != 0),
            None => Ok(true),
        }
    }
}
