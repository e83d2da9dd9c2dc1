//! The argument: a set of states that holds the initial one, that no step leaves, and none of which is bad,
//! is a proof that no run is bad. Each state must also be reached, so that a certificate is exactly what the
//! search has to have seen, and what was added to it is noticed.

use crate::certificate::{Certificate, Header};
use crate::state_set::StateSet;
use crate::steps::Steps;
use machine::Interp;
use stop::Stop;
use system::portable::StableHash;
use system::{ActionId, CHANNELS_NOT_EMPTY, Fault, FaultKind, PortableStates, TransitionSystem, Worker};

/// How many of the states are looked at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Share {
    /// All: what is confirmed is proved.
    All,
    /// A sample, in parts of one. Which states belong to it depends on `seed`.
    Part {
        /// More than 0, less than 1.
        part: f64,
        /// Decides which ones.
        seed: u64,
    },
}

/// What an audit came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audited {
    /// States that were looked at.
    pub states: u64,
    /// Steps that were taken from them.
    pub steps: u64,
    /// What is wrong, if anything is.
    pub flaw: Option<Flaw>,
}

/// Why a certificate proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// There is no initial state.
    NoInitialState(Fault),
    /// The initial state is not in it.
    InitialMissing,
    /// Bytes in it are no state.
    NoState {
        /// Their number.
        number: usize,
        /// What is wrong.
        why: String,
    },
    /// A step leads out of it.
    Missing {
        /// The state from which it leads.
        number: usize,
        /// Its first action.
        action: ActionId,
    },
    /// A state, or a step from it, shows an error that no run should show.
    Error {
        /// The state.
        number: usize,
        /// The error.
        fault: Fault,
    },
    /// A step from a state cannot be completed: what comes after it is not known.
    Cut {
        /// The state.
        number: usize,
        /// The error.
        fault: Fault,
    },
    /// States in it are not reached.
    Unreached {
        /// One of them.
        number: usize,
        /// How many there are.
        n: u64,
    },
}

/// Judges a certificate of the program that `machine` executes. Gives up when the machine's [`Stop`] says so.
pub fn confirm(certificate: &Certificate, machine: &Interp, share: Share, stop: &Stop) -> Audited {
    let Certificate { header, states } = certificate;
    let mut audit = Audit { header, states, machine, worker: machine.worker(), stop, looked_at: 0, steps: 0 };
    let flaw = match share {
        Share::All => audit.all(),
        Share::Part { part, seed } => audit.sample(part, seed),
    };
    Audited { states: audit.looked_at, steps: audit.steps, flaw: flaw.err() }
}

struct Audit<'a> {
    header: &'a Header,
    states: &'a StateSet,
    machine: &'a Interp,
    worker: Box<dyn Worker + 'a>,
    stop: &'a Stop,
    looked_at: u64,
    steps: u64,
}

impl Audit<'_> {
    /// The number of the initial state.
    fn initial(&self) -> Result<usize, Flaw> {
        let mut initial = Vec::new();
        self.machine.initial(&mut initial).map_err(Flaw::NoInitialState)?;
        self.states.find(&initial).ok_or(Flaw::InitialMissing)
    }

    /// Looks at every state, in an order in which each is reached.
    fn all(&mut self) -> Result<(), Flaw> {
        let mut reached = vec![false; self.states.len()];
        let first = self.initial()?;
        reached[first] = true;
        let mut open = vec![first];
        while let Some(number) = open.pop() {
            for target in self.look_at(number)? {
                if !std::mem::replace(&mut reached[target], true) {
                    open.push(target);
                }
            }
        }
        let mut unreached = (0..reached.len()).filter(|&number| !reached[number]);
        match unreached.next() {
            Some(number) => Err(Flaw::Unreached { number, n: 1 + unreached.count() as u64 }),
            None => Ok(()),
        }
    }

    /// Looks at some states.
    fn sample(&mut self, part: f64, seed: u64) -> Result<(), Flaw> {
        self.initial()?;
        let limit = (part * u64::MAX as f64) as u64;
        for number in 0..self.states.len() {
            if StableHash::new(seed).word(number as u64).finish() <= limit {
                self.look_at(number)?;
            }
        }
        Ok(())
    }

    /// Judges a state and all steps from it; answers where they lead.
    fn look_at(&mut self, number: usize) -> Result<Vec<usize>, Flaw> {
        self.stop.check();
        self.looked_at += 1;
        let state = self.states.state(number);
        self.is_state(number, state)?;
        let steps = Steps::from(&mut *self.worker, state);
        self.steps += steps.taken;
        let mut faults = Vec::new();
        if let Some(invariants) = self.machine.capabilities().invariants {
            invariants.inspect(state, &mut faults);
        }
        faults.extend(self.wrong_end(state, steps.stuck));
        if let Some(fault) = faults.into_iter().find(|fault| self.header.kinds.contains(&fault.kind)) {
            return Err(Flaw::Error { number, fault });
        }
        for (fault, cut) in steps.faults {
            if self.header.kinds.contains(&fault.kind) {
                return Err(Flaw::Error { number, fault });
            }
            if cut {
                return Err(Flaw::Cut { number, fault });
            }
        }
        let inside = |(action, target): (ActionId, Vec<u8>)| {
            self.states.find(&target).ok_or(Flaw::Missing { number, action })
        };
        steps.targets.into_iter().map(inside).collect()
    }

    /// Whether the bytes are a state of the program, with values that its variables can have.
    fn is_state(&self, number: usize, state: &[u8]) -> Result<(), Flaw> {
        match self.machine.export(state, &mut Vec::new()) {
            Ok(_) => Ok(()),
            Err(why) => Err(Flaw::NoState { number, why: why.to_string() }),
        }
    }

    /// What is wrong with a state without successors.
    fn wrong_end(&self, state: &[u8], stuck: bool) -> Option<Fault> {
        let labels = self.machine.labels(state);
        match stuck {
            false => None,
            true if !labels.valid_end => Some(self.machine.deadlock(state)),
            true if self.header.channels_empty && !labels.channels_empty => Some(Fault {
                kind: FaultKind::EndState,
                message: CHANNELS_NOT_EMPTY.to_string(),
                ..self.machine.deadlock(state)
            }),
            true => None,
        }
    }
}
