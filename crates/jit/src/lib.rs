//! The compiled machine: a program becomes native code when it is loaded.
//!
//! [`Jit`] is the same transition system as `machine::Interp`: the same actions in the same order, the same
//! faults, states that stand for the same. It differs in how. A state has a fixed layout (`layout`), given by
//! its *shape* (`shape`): which processes live. For every location of every proctype there is code
//! (`compile`) that tests each edge on the state, copies the state where the edge is executable, and performs
//! the effect on the copy. Code is given the shape as a table, so it is made once, before the search.
//!
//! The reference machine stays behind it. Whatever code was not made for is handed over (`runtime`): all that
//! one process can do, by converting the state (`convert`). Every error is found so: code only notices that
//! something is wrong and lets the reference machine say what. Three mechanisms are not compiled at all, and
//! models that use them run in the reference machine altogether: priorities, trace assertions and embedded C. So do
//! models whose channels or arrays are so large that a layout of fixed size would waste memory.
//!
//! Most of the `unsafe` code of the workspace is here. Its safety rests on three things: code is called with
//! a state whose length is its shape's, indices and channel numbers are checked by the code, and buffers have
//! room for all that it can write.

mod code;
mod compile;
mod convert;
mod layout;
mod look;
mod native;
pub mod places;
mod portable;
pub mod resident;
mod runtime;
mod shape;
mod watched;

use std::fmt;
use std::sync::Arc;

use machine::Interp;
use promela::ir::{Expr, Program};
use promela::source::{Location, Span};
use stop::Stop;
use system::{ActionId, Capabilities, Fault, Labels, Successors, TransitionSystem, Worker};

pub use compile::Functions;
use layout::Layout;
use native::Native;
pub use places::{OneProcess, Places, ProcessPlaces};
use watched::Watched;

/// A compiled program.
pub struct Jit {
    machine: Machine,
}

enum Machine {
    Native(Box<Native>),
    Reference(Interp),
}

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.is_native() { "native" } else { "reference" };
        f.debug_struct("Jit").field("program", &self.interp().program().name).field("machine", &how).finish()
    }
}

impl Jit {
    /// Compiles `program`; `locate` tells where a span is. The error says what makes the program impossible
    /// to execute.
    pub fn new(
        program: Arc<Program>,
        locate: impl Fn(Span) -> Location + Send + Sync + 'static,
    ) -> Result<Self, String> {
        Jit::watched(program, Vec::new(), locate, &Stop::never())
    }

    /// Compiles a program about which sets of propositions are asked, at most 64 each. Gives up,
    /// while compiling and in the midst of a long step, when it is to `stop`.
    pub fn watched(
        program: Arc<Program>,
        propositions: Vec<Vec<Expr>>,
        locate: impl Fn(Span) -> Location + Send + Sync + 'static,
        stop: &Stop,
    ) -> Result<Self, String> {
        let functions = Functions::of(&program);
        Jit::make(program, propositions, locate, functions, stop)
    }

    /// Compiles a program and says which functions are made, which otherwise depends on the size of the
    /// program.
    pub fn with_functions(
        program: Arc<Program>,
        locate: impl Fn(Span) -> Location + Send + Sync + 'static,
        functions: Functions,
    ) -> Result<Self, String> {
        Jit::make(program, Vec::new(), locate, functions, &Stop::never())
    }

    fn make(
        program: Arc<Program>,
        propositions: Vec<Vec<Expr>>,
        locate: impl Fn(Span) -> Location + Send + Sync + 'static,
        functions: Functions,
        stop: &Stop,
    ) -> Result<Self, String> {
        let interp = Interp::new(program.clone(), locate)?.watched(propositions).obeying(stop);
        if program.uses.priority || program.trace.is_some() || !program.embedded.is_empty() {
            return Ok(Jit { machine: Machine::Reference(interp) });
        }
        let Some(layout) = Layout::new(&program) else {
            return Ok(Jit { machine: Machine::Reference(interp) });
        };
        let watched = Watched::new(interp.watched_propositions());
        let code = compile::compile(&program, &layout, &watched.groups, functions, stop)?;
        Ok(Jit { machine: Machine::Native(Box::new(Native::new(program, layout, interp, code, watched))) })
    }

    /// The reference machine for the same program.
    pub fn interp(&self) -> &Interp {
        match &self.machine {
            Machine::Native(native) => &native.interp,
            Machine::Reference(interp) => interp,
        }
    }

    /// Whether there is code for the program, rather than the reference machine alone.
    pub fn is_native(&self) -> bool {
        matches!(self.machine, Machine::Native(_))
    }

    /// How often code left something to the reference machine: errors, and what there is no code for. A
    /// program for which this is large is no faster than there.
    pub fn handed_over(&self) -> u64 {
        match &self.machine {
            Machine::Native(native) => native.times_handed_over(),
            Machine::Reference(_) => 0,
        }
    }

    /// The state as the reference machine writes it.
    pub fn to_interp(&self, state: &[u8]) -> Vec<u8> {
        match &self.machine {
            Machine::Native(native) => native.to_interp(state),
            Machine::Reference(_) => state.to_vec(),
        }
    }

    /// The state that the reference machine's bytes stand for; `None` when they are no state.
    pub fn from_interp(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        match &self.machine {
            Machine::Native(native) => {
                let mut state = Vec::new();
                native.adopt(bytes, &mut state).map(|()| state)
            }
            Machine::Reference(_) => Some(bytes.to_vec()),
        }
    }
}

impl TransitionSystem for Jit {
    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        match &self.machine {
            Machine::Native(native) => {
                let mut bytes = Vec::new();
                native.interp.initial(&mut bytes)?;
                native.adopt(&bytes, out).ok_or_else(|| native.too_many_shapes())
            }
            Machine::Reference(interp) => interp.initial(out),
        }
    }

    fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        self.worker().enabled(state, out);
    }

    fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        self.worker().fire(state, actions, out);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        match &self.machine {
            Machine::Native(native) => Box::new(native.worker()),
            Machine::Reference(interp) => interp.worker(),
        }
    }

    fn labels(&self, state: &[u8]) -> Labels {
        match &self.machine {
            Machine::Native(native) => native.labels(state),
            Machine::Reference(interp) => interp.labels(state),
        }
    }

    fn hidden_bytes(&self) -> usize {
        self.interp().hidden_bytes()
    }

    fn deadlock(&self, state: &[u8]) -> Fault {
        self.interp().deadlock(&self.to_interp(state))
    }

    fn capabilities(&self) -> Capabilities<'_> {
        match &self.machine {
            Machine::Native(native) => native.capabilities(),
            Machine::Reference(interp) => interp.capabilities(),
        }
    }
}
