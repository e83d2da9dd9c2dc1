//! Search for strongly connected components: a cycle that has all marks, if there is one, on the fly.
//!
//! Couvreur's algorithm: one depth-first search keeps a stack of the roots of components found so far, each with what the steps
//! inside it lack together. A step back to a component below merges all components above it into that one. As soon as a
//! component lacks nothing, it has a cycle through all marks: several kinds of acceptance at a time cost nothing, which
//! is what fairness needs (one mark for every process). A component that is left has none and is dead for the rest of the search.
//!
//! The way around the component is looked for only then, breadth-first among its states.

use crate::explorer::Explorer;
use crate::lasso::{Anchor, Lasso, shorten};
use crate::limits::Budget;
use crate::marks::{EVERYTHING, Lack};
use crate::ndfs::{Cycles, key};
use crate::observer::Observer;
use crate::outcome::{Outcome, StopReason, no_memory};
use crate::stack::Stack;
use crate::task::Task;
use store::numbered::{Number, Visit};
use system::{ActionId, TransitionSystem};

/// Looks for a cycle that lacks nothing.
pub fn scc(
    system: &dyn TransitionSystem,
    cycles: &Cycles,
    task: &Task<'_>,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut search = Scc {
        explorer: Explorer::new(system, cycles, task, Budget::new(task, observer)),
        places: Vec::new(),
        live: Vec::new(),
        roots: Vec::new(),
        actions: Vec::new(),
        stack: Stack::default(),
        frames: Vec::new(),
    };
    let stop = match search.run() {
        Ok(()) => StopReason::Completed,
        Err(stop) => stop,
    };
    search.explorer.conclude(stop)
}

/// A state is dead: its component was left.
const DEAD: u32 = u32::MAX;

/// A component on the way to the current state.
struct Root {
    /// The place of its first state among those alive.
    first: u32,
    /// What the step into it lacks.
    into: Lack,
    /// What the steps inside it lack together.
    inside: Lack,
}

/// What is known of a successor that is still to be tried.
#[derive(Clone, Copy)]
struct Ticket {
    hash: u64,
    lack: Lack,
}

struct Scc<'a> {
    explorer: Explorer<'a>,
    /// Of every state: its place among those alive, or that it is dead.
    places: Vec<u32>,
    /// The states whose component was not left, in the order in which they were found.
    live: Vec<Number>,
    roots: Vec<Root>,
    actions: Vec<ActionId>,
    stack: Stack<Ticket>,
    /// The places of the states of the path.
    frames: Vec<u32>,
}

impl Scc<'_> {
    fn run(&mut self) -> Result<(), StopReason> {
        if !self.explorer.begin(&mut self.stack)? {
            return Ok(());
        }
        self.enter()?;
        while self.stack.depth() > 0 {
            if !self.stack.advance() {
                self.leave();
            } else if !self.enter()? {
                self.explorer.statistics.matched += 1;
                self.stack.leave();
            }
        }
        Ok(())
    }

    /// Goes to the state at the end of the path if it is new; a step to one that is alive closes cycles.
    fn enter(&mut self) -> Result<bool, StopReason> {
        let Ticket { hash, lack } = match self.stack.ticket {
            Some(ticket) => ticket,
            None => Ticket { hash: self.explorer.prepare(&self.stack.state), lack: EVERYTHING },
        };
        match self.explorer.visit(&self.stack.state, hash)? {
            Visit::Seen(number) => {
                let place = self.places[number.index()];
                if place != DEAD {
                    self.merge(place, lack)?;
                }
                Ok(false)
            }
            Visit::New(number) => {
                self.places.try_reserve(1).map_err(no_memory)?;
                self.live.try_reserve(1).map_err(no_memory)?;
                self.frames.try_reserve(1).map_err(no_memory)?;
                let place = self.live.len() as u32;
                self.places.push(place);
                self.live.push(number);
                self.roots.push(Root { first: place, into: lack, inside: EVERYTHING });
                self.frames.push(place);
                self.explore()?;
                Ok(true)
            }
        }
    }

    /// Expands the new state at the end of the path and puts new successors on the stack.
    fn explore(&mut self) -> Result<(), StopReason> {
        let places = self.places.capacity() as u64 * 8;
        self.explorer.explore(&self.stack, || places)?;
        let accepting = self.explorer.marker.is_accepting(&self.stack.state);
        self.stack.enter(None).map_err(no_memory)?;
        for at in 0..self.explorer.order.len() {
            self.explorer.statistics.transitions += 1;
            let Explorer { expansion, marker, order, hashes, store, hidden, .. } = &mut self.explorer;
            let edge = expansion.edges()[order[at]];
            let lack = marker.lack(accepting, &edge, expansion);
            let (state, hash) = (expansion.state(&edge), hashes[at]);
            match store.find_prepared(key(state, *hidden), hash) {
                Some(number) => {
                    self.explorer.statistics.matched += 1;
                    let place = self.places[number.index()];
                    if place != DEAD {
                        self.merge(place, lack)?;
                    }
                }
                None => {
                    self.actions.clear();
                    marker.expander.actions(&edge, &mut self.actions);
                    self.stack.push(state, &self.actions, Ticket { hash, lack }).map_err(no_memory)?;
                }
            }
        }
        Ok(())
    }

    /// A step that lacks `lack` leads from the last component to the one that holds the state at `place`: all between are one.
    fn merge(&mut self, place: u32, lack: Lack) -> Result<(), StopReason> {
        let mut together = lack;
        while let Some(root) = self.roots.last_mut() {
            if root.first <= place {
                root.inside &= together;
                let complete = root.inside == 0;
                return if complete { self.accept() } else { Ok(()) };
            }
            together &= root.inside & root.into;
            self.roots.pop();
        }
        Ok(())
    }

    /// The last component lacks nothing.
    fn accept(&mut self) -> Result<(), StopReason> {
        if self.explorer.found.errors == 0 {
            let (path, cycle) = self.way_around()?.path();
            let fault = self.explorer.cycles.fault.clone();
            self.explorer.found.add_lasso(fault, path, cycle);
        } else {
            self.explorer.found.errors += 1;
        }
        if let Some(root) = self.roots.last_mut() {
            // With all errors wanted, more cycles of this component are the same one.
            root.inside = EVERYTHING;
        }
        self.explorer.go_on()
    }

    /// A run that goes around in the last component, of which the state at the end of the path is one.
    fn way_around(&mut self) -> Result<Lasso, StopReason> {
        let first = self.roots.last().map_or(0, |root| root.first);
        let Explorer { system, cycles, budget, store, .. } = &mut self.explorer;
        let (store, places) = (&*store, &self.places);
        let inside = |key: &[u8]| {
            let place = store.find(key).map_or(DEAD, |number| places[number.index()]);
            place != DEAD && place >= first
        };
        let anchor = Anchor { state: &self.stack.state, path: &self.stack.path, inside: Some(&inside) };
        shorten(*system, cycles.acceptance, &anchor, budget).ok_or(StopReason::MemoryLimit)
    }

    fn leave(&mut self) {
        let Some(place) = self.frames.pop() else { return };
        if self.roots.last().is_some_and(|root| root.first == place) {
            self.roots.pop();
            for number in self.live.drain(place as usize..) {
                self.places[number.index()] = DEAD;
            }
        }
        self.stack.retreat();
    }
}
