//! Which global variables are buffered.
//!
//! Not those that no program has in its memory: channels, locks, hidden variables. Not those of one process
//! alone, for which buffers change nothing. And not *ghosts*, which a model has to state what is right: a
//! variable whose values reach nothing but assertions, claims and other ghosts. Such a variable can also be
//! data that is merely asserted about, so one thing more is asked: that each proctype that asserts about it
//! also writes it, or that it is only counted up and down, or that no process reads it. What becomes the value
//! of another variable is data, unless it is a count.

use promela::ir::{
    Action, Base, Edge, Expr, ExprKind, LocId, Place, Proctype, ProctypeId, ProctypeKind, Program, RecvArg,
    Scalar, visit,
};
use std::collections::BTreeSet;

/// What becomes of a global variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Stores to it are buffered.
    Buffered,
    /// It is no memory: a channel, a lock, hidden, or declared plain.
    Plain,
    /// It states what is right.
    Ghost,
    /// One process alone uses it, or none stores to it.
    Unshared,
}

/// The role of every global variable. `plain` are names of variables that are not buffered; `none` means that
/// no variable is taken for a ghost.
pub(super) fn roles(program: &Program, plain: &[String]) -> Vec<Role> {
    let uses = Uses::of(program);
    let ghosts = match plain.iter().any(|name| name == "none") {
        true => vec![false; program.globals.len()],
        false => uses.ghosts(),
    };
    let mut roles = Vec::new();
    for (index, var) in program.globals.iter().enumerate() {
        let mut scalars = Vec::new();
        program.scalars_of(&var.ty, &mut scalars);
        let is_memory = |scalar: &Scalar| !matches!(scalar, Scalar::Chan | Scalar::Lock | Scalar::Sema);
        roles.push(match () {
            () if var.hidden || plain.contains(&var.name) || !scalars.iter().all(is_memory) => Role::Plain,
            () if uses.writers[index].is_empty() || uses.is_unshared(program, index) => Role::Unshared,
            () if ghosts[index] => Role::Ghost,
            () => Role::Buffered,
        });
    }
    roles
}

/// Who does what with the global variables.
struct Uses {
    /// The variable of every global cell.
    variable: Vec<usize>,
    writers: Vec<BTreeSet<usize>>,
    readers: Vec<BTreeSet<usize>>,
    /// Its value decides what a process does.
    decides: Vec<bool>,
    /// Its value becomes one of these variables.
    flows: Vec<BTreeSet<usize>>,
    /// Every store to it adds something to what it was.
    counts: Vec<bool>,
}

impl Uses {
    fn of(program: &Program) -> Uses {
        let n = program.globals.len();
        let mut variable = Vec::new();
        for (index, var) in program.globals.iter().enumerate() {
            variable.extend((0..program.cells_of(&var.ty)).map(|_| index));
        }
        let mut uses = Uses {
            variable,
            writers: vec![BTreeSet::new(); n],
            readers: vec![BTreeSet::new(); n],
            decides: vec![false; n],
            flows: vec![BTreeSet::new(); n],
            counts: vec![true; n],
        };
        for (p, proctype) in program.proctypes.iter().enumerate() {
            if matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init) {
                proctype.edges.iter().for_each(|edge| uses.edge(p, edge));
                proctype.provided.iter().for_each(|e| uses.decided_by(p, e));
            }
        }
        uses
    }

    fn of_place(&self, place: &Place) -> Option<usize> {
        (place.base == Base::Global).then(|| self.variable[place.cell as usize])
    }

    /// The global variables that an expression reads.
    fn read_by(&self, e: &Expr) -> Vec<usize> {
        let mut found = Vec::new();
        visit::walk(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind {
                found.extend(self.of_place(place));
            }
        });
        found
    }

    fn decided_by(&mut self, p: usize, e: &Expr) {
        for variable in self.read_by(e) {
            self.readers[variable].insert(p);
            self.decides[variable] = true;
        }
    }

    fn edge(&mut self, p: usize, edge: &Edge) {
        match &edge.action {
            Action::Assert(e) | Action::Printm(e, _) => self.looked_at(p, e),
            Action::Printf(_, args) => args.iter().for_each(|e| self.looked_at(p, e)),
            Action::Assign(place, e) => self.assign(p, place, e),
            Action::Receive { args, .. } => {
                visit::walk_action(&edge.action, &mut |e| self.decided_by(p, e));
                for arg in args {
                    if let RecvArg::Store(place) = arg {
                        self.write(p, place, false);
                    }
                }
            }
            Action::Lock(place) | Action::Unlock(place) => self.write(p, place, false),
            action => visit::walk_action(action, &mut |e| self.decided_by(p, e)),
        }
    }

    fn looked_at(&mut self, p: usize, e: &Expr) {
        for variable in self.read_by(e) {
            self.readers[variable].insert(p);
        }
    }

    fn write(&mut self, p: usize, place: &Place, counts: bool) {
        if let Some(variable) = self.of_place(place) {
            self.writers[variable].insert(p);
            self.counts[variable] &= counts;
        }
    }

    fn assign(&mut self, p: usize, place: &Place, e: &Expr) {
        let target = self.of_place(place);
        let mut read = self.read_by(e);
        place.indices.iter().for_each(|index| read.extend(self.read_by(&index.value)));
        for &variable in &read {
            match target {
                Some(target) if target == variable => {}
                Some(target) => {
                    self.readers[variable].insert(p);
                    self.flows[variable].insert(target);
                }
                None => {
                    self.readers[variable].insert(p);
                    self.decides[variable] = true;
                }
            }
        }
        let counts = matches!(&e.kind, ExprKind::Binary(op, ..) if {
            use promela::ir::BinaryOp::{Add, Sub};
            matches!(op, Add | Sub) && target.is_some_and(|target| read.contains(&target))
        });
        self.write(p, place, counts);
    }

    fn ghosts(&self) -> Vec<bool> {
        let candidate = |variable: usize| {
            let own = self.readers[variable].is_subset(&self.writers[variable]);
            !self.decides[variable] && (own || self.counts[variable])
        };
        let mut ghosts: Vec<bool> = (0..self.decides.len()).map(candidate).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for variable in 0..ghosts.len() {
                let leaks = |&to: &usize| !ghosts[to] || !self.counts[variable];
                if ghosts[variable] && self.flows[variable].iter().any(leaks) {
                    ghosts[variable] = false;
                    changed = true;
                }
            }
        }
        ghosts
    }

    /// Whether all that use a variable are one process.
    fn is_unshared(&self, program: &Program, variable: usize) -> bool {
        let users: BTreeSet<usize> = &self.writers[variable] | &self.readers[variable];
        users.len() <= 1 && users.iter().all(|&p| is_one_process(program, p))
    }
}

/// Whether there is never more than one process of a proctype.
fn is_one_process(program: &Program, p: usize) -> bool {
    let active = program.active.iter().filter(|active| active.proctype.index() == p).count();
    let mut runs: Vec<(usize, LocId)> = Vec::new();
    for (starter, proctype) in program.proctypes.iter().enumerate() {
        for (at, location) in proctype.locations.iter().enumerate() {
            for &id in &location.edges {
                if starts(proctype.edge(id), ProctypeId(p as u32)) {
                    runs.push((starter, LocId(at as u32)));
                }
            }
        }
    }
    match (active, &runs[..]) {
        (0 | 1, []) => true,
        (0, [(starter, at)]) => {
            let definition = &program.proctypes[*starter];
            definition.kind == ProctypeKind::Init && !comes_back(definition, *at)
        }
        _ => false,
    }
}

fn starts(edge: &Edge, whom: ProctypeId) -> bool {
    let mut starts = false;
    visit::walk_action(&edge.action, &mut |e| {
        starts |= matches!(&e.kind, ExprKind::Run { proctype, .. } if *proctype == whom);
    });
    starts
}

/// Whether a process that leaves a location can be there again.
fn comes_back(proctype: &Proctype, at: LocId) -> bool {
    let mut seen = vec![false; proctype.locations.len()];
    let mut open = vec![at];
    while let Some(from) = open.pop() {
        for &id in &proctype.location(from).edges {
            let edge = proctype.edge(id);
            let entry = match edge.action {
                Action::DStep { entry, .. } => Some(entry),
                Action::End => continue,
                _ => None,
            };
            for to in [Some(edge.to), entry].into_iter().flatten() {
                if to == at {
                    return true;
                }
                if !std::mem::replace(&mut seen[to.index()], true) {
                    open.push(to);
                }
            }
        }
    }
    false
}
