//! `STDIN`: characters from outside, in a simulation.
//!
//! A receive from a variable called `STDIN` that holds no channel reads standard input, one character for
//! each argument, as in Spin. A verifier has no input: there the same statement is the error that it is for
//! any channel that was not initialised, which is also what makes it count as enabled here. So the caller of
//! a simulation asks which steps read, and fires those with the characters.

use promela::ir::{Action as Statement, Base, Edge, Expr, ExprKind, RecvArg, Var};
use system::{ActionId, Successors};

use super::eval::{Mode, View, store};
use super::fault::Outcome;
use super::state::State;
use super::{Interp, process};
use crate::action::Action;

/// The name that makes the difference.
const STANDARD_INPUT: &str = "STDIN";

impl View<'_> {
    /// Whether an expression is a variable called `STDIN`.
    pub fn is_standard_input(&self, chan: &Expr) -> bool {
        let ExprKind::Load(place) = &chan.kind else { return false };
        let vars = match (place.base, self.pid.and_then(|pid| self.state.processes.get(pid))) {
            (Base::Global, _) => &self.program.globals,
            (Base::Local, Some(process)) => &self.program.proctype(process.proctype).locals,
            _ => return false,
        };
        vars.iter().any(|var| var.cell == place.cell && var.name == STANDARD_INPUT)
    }
}

impl Interp {
    /// Whether the program has a variable that makes it read standard input.
    pub fn may_read_input(&self) -> bool {
        let named = |vars: &[Var]| vars.iter().any(|var| var.name == STANDARD_INPUT);
        named(&self.program.globals) || self.program.proctypes.iter().any(|proctype| named(&proctype.locals))
    }

    /// How many characters of standard input an enabled action reads; `None` when it reads none.
    pub fn input_wanted(&self, state: &[u8], action: ActionId) -> Option<usize> {
        let state = self.decode(state).ok()?;
        let action = Action::unpack(action);
        self.reading(&state, action).map(|(_, args)| args.len())
    }

    /// Fires an action that reads standard input, with what was read. Missing characters are not stored.
    pub fn fire_with_input(&self, state: &[u8], id: ActionId, input: &[u8], out: &mut Successors) {
        let Ok(mut next) = self.decode(state) else { return };
        let action = Action::unpack(id);
        let Some((edge, args)) = self.reading(&next, action) else {
            return system::TransitionSystem::fire(self, state, &[id], out);
        };
        let result = self.take_input(&mut next, action.pid, args, input);
        let mut bytes = Vec::new();
        match result {
            Ok(()) => {
                next.last = self.last(action.pid);
                process::arrive(&self.program, &mut next, action.pid, edge.to);
                self.give_control(&mut next, action.pid, edge);
                self.encode(&next, &mut bytes);
                out.push(id, Some(&bytes), next.control.is_some(), None);
            }
            Err(trap) => out.push(id, None, false, Some(self.fault(*trap, &next, Some(action.pid)))),
        }
    }

    /// The edge and the arguments of an action that reads standard input.
    fn reading(&self, state: &State, action: Action) -> Option<(&Edge, &[RecvArg])> {
        let process = state.processes.get(action.pid)?;
        let edge = self.program.proctype(process.proctype).edges.get(action.edge?.index())?;
        let Statement::Receive { chan, args, .. } = &edge.action else { return None };
        let view = self.view(state, action.pid, Mode::default());
        let reads = view.is_standard_input(chan) && view.eval(chan).is_ok_and(|number| number == 0);
        let stores = args.iter().all(|arg| !matches!(arg, RecvArg::Match(_)));
        (reads && stores).then_some((edge, &args[..]))
    }

    fn take_input(&self, state: &mut State, pid: usize, args: &[RecvArg], input: &[u8]) -> Outcome<()> {
        for (arg, &byte) in args.iter().zip(input) {
            if let RecvArg::Store(place) = arg {
                store(&self.program, state, Some(pid), Mode::default(), place, i32::from(byte))?;
            }
        }
        Ok(())
    }
}
