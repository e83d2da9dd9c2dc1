//! The states of a model, one step at a time.

use crate::error::Error;
use engine::{Notice, Session};
use machine::Interp;
use promela::diagnostic::Code;
use system::{Explain, Fault, Snapshot, StepInfo, Successors, SystemExt, TransitionSystem};

/// A state: opaque, to be compared, hashed and explored further.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State(Box<[u8]>);

/// A step from a state.
#[derive(Clone, Debug)]
pub struct Step {
    /// Who does what, and where that stands.
    pub info: StepInfo,
    /// Where it leads; nowhere after a run-time error.
    pub to: Option<State>,
    /// The state is inside an atomic sequence: other processes cannot move there.
    pub inside_atomic: bool,
    /// The errors that the step shows.
    pub faults: Vec<Fault>,
}

/// Executes the model as the language defines it, with the reference machine.
#[derive(Debug)]
pub struct Explorer {
    machine: Interp,
}

impl Explorer {
    pub(crate) fn new(session: &Session) -> Result<Explorer, Error> {
        let machine = session.machine().map_err(|failure| Error::new(Vec::new(), &failure))?;
        Ok(Explorer { machine })
    }

    /// The initial state; the error is one that initialisation shows.
    pub fn initial(&self) -> Result<State, Error> {
        let mut state = Vec::new();
        self.machine.initial(&mut state).map_err(|fault| {
            let message = format!("{}:{}: {}", fault.file, fault.line, fault.message);
            Error { notices: vec![Notice::plain(Code::E0999, message, None)] }
        })?;
        Ok(State(state.into()))
    }

    /// All steps that are possible in a state, in the order in which Spin tries them.
    pub fn steps(&self, state: &State) -> Vec<Step> {
        let mut found = Successors::default();
        self.machine.expand(&state.0, &mut found);
        let step = |one: &system::Successor| Step {
            info: self.machine.step(&state.0, one.action),
            to: found.state(one).map(|bytes| State(bytes.into())),
            inside_atomic: one.is_transient(),
            faults: found.faults_of(one).cloned().collect(),
        };
        found.list.iter().map(step).collect()
    }

    /// The values of all variables, the contents of channels, and where each process is.
    pub fn values(&self, state: &State) -> Snapshot {
        self.machine.snapshot(&state.0)
    }
}
