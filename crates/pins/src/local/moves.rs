//! The steps of a group one by one, with all who move in them: fairness asks for that, and formulas that name
//! steps. A step is what the stored graph of an explicit search calls one, so both engines mean the same.

use super::Pins;
use search::limits::Budget;
use search::state_graph::steps::Steps;
use search::{Checks, Limits, Silent, Task};
use symbolic::{Move, Unanswered};
use system::{ActionId, Processes, TransitionSystem};

impl<'a> Pins<'a> {
    pub(super) fn list_moves(&mut self, group: usize, reads: &[u32]) -> Result<Vec<Move>, Unanswered> {
        let shape = self.host(group, reads)?;
        let slots = self.local[group].reads.clone();
        self.fill(shape, &slots, reads, false)?;
        let steps = self.steps_one_by_one(group)?;
        let actions = &self.local[group].actions;
        let processes = self.jit.capabilities().processes;
        let (mut moves, mut ends) = (Vec::new(), Vec::new());
        let wanted = |actions_of: &[ActionId]| actions_of.first().is_some_and(|a| actions.contains(a));
        for target in steps.targets() {
            let of = &steps.actions()[target.actions.clone()];
            if wanted(of) {
                ends.push(Some(steps.bytes()[target.bytes.clone()].to_vec()));
                moves.push(Move { written: None, movers: movers(processes, of) });
            }
        }
        for cut in steps.cuts() {
            let of = &steps.actions()[cut.actions.clone()];
            if wanted(of) {
                ends.push(None);
                moves.push(Move { written: None, movers: movers(processes, of) });
            }
        }
        for (step, end) in moves.iter_mut().zip(ends) {
            let Some(state) = end else { continue };
            let after = self.shape_after(&state, shape)?;
            let writes = self.local[group].writes.clone();
            let written = writes.iter().map(|slot| self.value_in(&state, after, *slot as usize));
            step.written = Some(written.collect());
        }
        Ok(moves)
    }

    /// Expands the state that was filled in.
    fn steps_one_by_one(&self, group: usize) -> Result<Steps<'a>, Unanswered> {
        let task = Task {
            checks: Checks::NONE,
            all_errors: true,
            seed: None,
            limits: Limits::default(),
            stop: self.flag,
            reduce: None,
        };
        self.machine.select(self.local[group].process as usize);
        let mut silent = Silent;
        let mut budget = Budget::new(&task, &mut silent);
        let mut steps = Steps::new(self.machine);
        steps.expand(&self.state, &mut budget).map_err(Unanswered::Stop)?;
        Ok(steps)
    }
}

/// All who move with these actions.
fn movers(processes: Option<&dyn Processes>, actions: &[ActionId]) -> Vec<u32> {
    let Some(processes) = processes else { return Vec::new() };
    let both = |action: &ActionId| {
        [Some(processes.process_of(*action)), processes.partner_of(*action)].into_iter().flatten()
    };
    let mut movers: Vec<u32> = actions.iter().flat_map(both).collect();
    movers.sort_unstable();
    movers.dedup();
    movers
}
