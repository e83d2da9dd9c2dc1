//! What happens inside a step, as events: written down while the step is executed
//! ([`Step::note`](super::step::Step::note)), so that they are true also inside a d_step and up to the point
//! where a step goes wrong.

use system::{ActionId, Event};

use super::Interp;
use super::state::State;
use crate::action::Action;

impl Interp {
    /// What happens when an action is taken. The two halves of a rendezvous are one event.
    pub(super) fn events_of(&self, state: State, id: ActionId) -> Vec<Event> {
        let mut events = self.logged(state, id);
        if Action::unpack(id).partner.is_some() {
            merge_halves(&mut events);
        }
        events
    }

    pub(super) fn send_event(&self, state: &State, pid: usize, channel: usize, slot: usize) -> Event {
        let message = self.message(state, channel, slot);
        Event::Send { pid: pid as u32, channel: self.channel_ref(state, channel), message, slot }
    }

    pub(super) fn receive_event(
        &self,
        state: &State,
        pid: usize,
        channel: usize,
        slot: usize,
        keep: bool,
    ) -> Event {
        let message = self.message(state, channel, slot);
        Event::Receive { pid: pid as u32, channel: self.channel_ref(state, channel), message, slot, keep }
    }

    pub(super) fn run_event(&self, state: &State, pid: usize, child: usize) -> Event {
        let proctype = state.processes.get(child).map(|process| self.program.proctype(process.proctype));
        let name = proctype.map_or_else(String::new, |proctype| proctype.name.clone());
        Event::Run { pid: pid as u32, child: child as u32, name }
    }

    pub(super) fn end_event(&self, state: &State, pid: usize) -> Event {
        let first = state.processes.get(pid).map_or(state.channels.len(), |process| process.first_channel);
        let channels = (first..state.channels.len()).map(|index| self.channel_ref(state, index)).collect();
        Event::End { pid: pid as u32, channels }
    }
}

/// Makes one event of a send and the receive that follows it.
fn merge_halves(events: &mut Vec<Event>) {
    let Some(at) =
        events.windows(2).position(|pair| matches!(pair, [Event::Send { .. }, Event::Receive { .. }]))
    else {
        return;
    };
    let Event::Receive { pid: receiver, .. } = events.remove(at + 1) else { return };
    if let Event::Send { pid, channel, message, .. } = events.remove(at) {
        events.insert(at, Event::Handshake { pid, receiver, channel, message });
    }
}
