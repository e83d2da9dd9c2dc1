//! Rules about the automaton of a proctype: locations, edges, d_steps.

use std::collections::HashSet;

use super::*;

impl Verifier<'_> {
    /// Everything about a proctype but its variables.
    pub(super) fn automaton(&mut self, proctype: &Proctype) {
        let locals = Some(&proctype.locals[..]);
        self.init(&proctype.init, locals);
        if let Some(expr) = &proctype.provided {
            self.within("provided", |v| v.condition(expr, locals));
        }
        for (name, location) in &proctype.labels {
            self.location_exists(proctype, *location, &format!("the label {name}"));
        }
        let broken = self.errors.len();
        self.edges_and_targets(proctype);
        if self.errors.len() == broken {
            self.locations(proctype);
            self.d_steps(proctype);
        }
    }

    /// Whether `location`, which is that of `what`, is one; the machine may then index with it.
    pub(super) fn location_exists(&mut self, proctype: &Proctype, location: LocId, what: &str) -> bool {
        let exists = location.0 != 0 && location.index() < proctype.locations.len();
        self.check(exists, || format!("{what} is L{}, which does not exist", location.0));
        exists
    }

    /// Ids in range: what the other rules look through.
    fn edges_and_targets(&mut self, proctype: &Proctype) {
        self.location_exists(proctype, proctype.start, "the start");
        for (i, edge) in proctype.edges.iter().enumerate() {
            self.within(format!("e{i}"), |v| {
                if !matches!(edge.action, Action::End) {
                    v.location_exists(proctype, edge.to, "the target");
                }
                if let Some(escape) = edge.escape {
                    v.location_exists(proctype, escape, "the escape");
                }
                if let Action::DStep { entry, exit, guards } = edge.action {
                    v.location_exists(proctype, entry, "the entry");
                    v.location_exists(proctype, exit, "the exit");
                    if let Some(guards) = guards {
                        v.location_exists(proctype, guards, "the location of the guards");
                    }
                }
            });
        }
        let mut listed = vec![false; proctype.edges.len()];
        for (number, location) in proctype.locations.iter().enumerate() {
            let dead = location.dead.iter().find(|&&cell| cell >= proctype.n_cells);
            self.check(dead.is_none(), || format!("L{number} has a dead cell that does not exist"));
            for id in &location.edges {
                match listed.get_mut(id.index()) {
                    Some(listed) => *listed = true,
                    None => self.fail(format!("L{number} lists e{}, which does not exist", id.0)),
                }
            }
        }
        for (i, listed) in listed.iter().enumerate() {
            self.check(*listed, || format!("no location lists e{i}"));
        }
    }

    /// Each location with its edges.
    fn locations(&mut self, proctype: &Proctype) {
        let locals = Some(&proctype.locals[..]);
        if let Some(first) = proctype.locations.first() {
            let plain = first.edges.is_empty() && !first.end && !first.accept && !first.progress;
            self.check(plain && !first.in_d_step, || "L0 has edges or flags".to_owned());
        }
        let start = proctype.location(proctype.start);
        self.check(!start.in_d_step, || "the start is inside a d_step".to_owned());
        let mut runs = vec![0; proctype.edges.len()];
        for (i, edge) in proctype.edges.iter().enumerate() {
            self.within(format!("e{i}"), |v| runs[i] = v.action(&edge.action, locals));
        }
        for (number, location) in proctype.locations.iter().enumerate() {
            self.within(format!("L{number}"), |v| {
                for id in &location.edges {
                    if location.in_d_step {
                        v.edge_inside(proctype, *id, runs[id.index()]);
                    } else {
                        v.edge_outside(proctype, *id);
                    }
                }
            });
        }
    }

    /// An edge that a location inside a d_step lists.
    fn edge_inside(&mut self, proctype: &Proctype, id: EdgeId, runs: usize) {
        let action = &proctype.edge(id).action;
        let allowed = runs == 0 && !matches!(action, Action::DStep { .. } | Action::End);
        self.check(allowed, || {
            let word = if runs > 0 { "run" } else { print::action_word(action) };
            format!("e{}: `{word}` inside a d_step", id.0)
        });
    }

    /// An edge that a location outside d_steps lists.
    fn edge_outside(&mut self, proctype: &Proctype, id: EdgeId) {
        let edge = proctype.edge(id);
        if matches!(edge.action, Action::End) {
            return;
        }
        let target = proctype.location(edge.to);
        self.check(!target.in_d_step, || format!("e{} leads into a d_step, to L{}", id.0, edge.to.0));
    }

    /// Each d_step as a whole; copies of its edge are looked at once.
    fn d_steps(&mut self, proctype: &Proctype) {
        let mut seen = HashSet::new();
        for (i, edge) in proctype.edges.iter().enumerate() {
            if let Action::DStep { entry, exit, guards } = edge.action
                && seen.insert((entry, exit, guards, edge.to))
            {
                self.within(format!("e{i}"), |v| {
                    v.d_step(proctype, entry, exit, edge.to);
                    let inside = guards.is_none_or(|guards| proctype.location(guards).in_d_step);
                    v.check(inside, || "the location of the guards is not inside a d_step".to_owned());
                });
            }
        }
    }

    /// A walk through the d_step: it leaves through `exit` or `to` only.
    fn d_step(&mut self, proctype: &Proctype, entry: LocId, exit: LocId, to: LocId) {
        let inside = |id: LocId| proctype.location(id).in_d_step;
        self.check(inside(entry), || format!("the entry L{} is not inside a d_step", entry.0));
        self.check(!inside(exit), || format!("the exit L{} is inside a d_step", exit.0));
        let mut met = HashSet::from([entry]);
        let mut left = vec![entry];
        while let Some(at) = left.pop() {
            for id in &proctype.location(at).edges {
                let edge = proctype.edge(*id);
                let target = edge.to;
                // Reported as not allowed inside; its target means nothing.
                if matches!(edge.action, Action::End) || target == exit || target == to {
                    continue;
                }
                if !inside(target) {
                    self.fail(format!("e{} leaves the d_step, to L{}", id.0, target.0));
                } else if met.insert(target) {
                    left.push(target);
                }
            }
        }
    }
}
