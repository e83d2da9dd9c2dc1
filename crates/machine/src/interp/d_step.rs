//! d_step: a deterministic sequence that is one step.
//!
//! At every location inside, the first executable edge is taken. Blocking after the start is an error, and so
//! is a rendezvous, except that the very first statement may take a message that is on offer. A d_step that
//! comes back to the same state never ends; that is found by comparing with a remembered state (Brent's
//! method), once the sequence is so long that looking is worth its price. One that counts very far ends some
//! time; when the machine is to stop before, it gives up, and the step does not exist.

use promela::ir::{Action, Edge, EdgeId, LocId, Proctype};
use promela::source::Span;

use super::fault::{Outcome, internal, runtime};
use super::step::Step;

/// Steps before a d_step is watched.
const UNWATCHED: u64 = 50_000;

impl Step<'_> {
    /// Runs from `entry` until `exit` is reached.
    pub fn d_step(
        &mut self,
        pid: usize,
        proctype: &Proctype,
        entry: LocId,
        exit: LocId,
        mut pending: Option<usize>,
        span: Span,
    ) -> Outcome<()> {
        let mut location = entry;
        let mut steps: u64 = 0;
        let mut remembered = None;
        let mut last = span;
        let mut check = self.interp.stop.periodically();
        while location != exit || steps == 0 {
            check.tick();
            let Some(id) = self.first_executable(pid, proctype, location, pending)? else {
                return runtime(last, "a statement inside d_step blocks");
            };
            let edge = proctype.edge(id);
            if self.is_rendezvous_send(pid, edge)? {
                return runtime(edge.span, "a rendezvous send inside d_step");
            }
            self.perform(pid, proctype, edge, pending)?;
            self.interp.taken.note(self.state.processes[pid].proctype, id);
            pending = None;
            location = edge.to;
            last = edge.span;
            steps += 1;
            // What C keeps to itself may change although the state does not.
            if steps >= UNWATCHED && self.interp.program.embedded.is_empty() {
                if remembered.as_ref().is_some_and(|(at, state)| *at == location && *state == *self.state) {
                    return runtime(span, "the d_step never ends");
                }
                if steps.is_power_of_two() || remembered.is_none() {
                    remembered = Some((location, self.state.clone()));
                }
            }
        }
        Ok(())
    }

    fn first_executable(
        &self,
        pid: usize,
        proctype: &Proctype,
        location: LocId,
        pending: Option<usize>,
    ) -> Outcome<Option<EdgeId>> {
        let view = self.view(pid, pending);
        for &id in &proctype.location(location).edges {
            let edge = proctype.edge(id);
            match edge.action {
                Action::DStep { .. } => return internal(edge.span, "a d_step inside a d_step"),
                Action::End => return internal(edge.span, "a process that ends inside a d_step"),
                _ if view.executable(proctype, edge)? => return Ok(Some(id)),
                _ => {}
            }
        }
        Ok(None)
    }

    fn is_rendezvous_send(&self, pid: usize, edge: &Edge) -> Outcome<bool> {
        let Action::Send { chan, .. } = &edge.action else { return Ok(false) };
        let view = self.view(pid, None);
        Ok(view.is_rendezvous(view.channel(chan)?))
    }
}
