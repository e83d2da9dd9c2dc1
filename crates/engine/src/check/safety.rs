//! Safety: errors of states and steps, searched in any order with any reduction.

use super::Checker;
use crate::backend::Backend;
use crate::client::Client;
use crate::counterexample::confirm;
use crate::dispatch::Exploration;
use crate::failure::Failure;
use crate::options::Por;
use crate::property::Selected;
use crate::report::PropertyReport;
use crate::self_check::{Doubted, Reference};
use crate::strategy;
use reduce::Building;
use search::{Checks, Method, Proviso, Reduce, Task};
use system::{Explain, LeanOrder, Reduction, TransitionSystem};

impl Checker<'_> {
    /// Searches, replays what was found, and concludes.
    pub(super) fn safety<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        searched: &dyn Backend,
        property: Selected,
        checks: Checks,
        client: &mut dyn Client,
    ) -> Result<PropertyReport, Failure> {
        let checks = Checks { channels_empty: self.plan.options.channels_empty, ..checks };
        let asks = self.plan.por != Por::None || self.plan.options.sleep;
        let static_proviso = self.plan.static_proviso;
        let reduction =
            if asks { searched.reduction(self.plan.por, static_proviso, self.plan.building) } else { None };
        // Without a reduction, who doubts is asked to choose and chooses all.
        let method = if asks { self.plan.method() } else { Method::Sets };
        // A state that is known stands for others that differ in hidden values, of which nobody knows whether steps commute.
        let lean = !asks && self.plan.is_lean() && searched.system().hidden_bytes() == 0;
        let (reduction, method) = match lean {
            true => {
                (searched.reduction(Por::None, false, Building::Closure), Method::Lean(LeanOrder::default()))
            }
            false => (reduction, method),
        };
        let state = |state: &[u8]| searched.to_interp(state);
        let interp = searched.interp().filter(|_| self.plan.doubts.any());
        let (reduction, doubted) = match interp {
            Some(interp) => {
                let reference = Reference { interp, state: &state };
                (None, Some(Doubted::new(reduction, reference, self.plan.doubts)))
            }
            None => (reduction, None),
        };
        let by = doubted.as_ref().map(|by| by as &dyn Reduction).or(reduction.as_deref());
        // For deadlocks alone no proviso would be needed; but an error that is put off for ever would not be told.
        let proviso = self.plan.proviso;
        let task = Task {
            checks,
            all_errors: self.plan.options.all_errors,
            seed: self.plan.options.seed,
            limits: self.limits_left(),
            stop: self.stop.flag(),
            reduce: by.map(|by| Reduce { by, method, proviso }),
        };
        let (plan, leaving) = (self.plan, self.leaving);
        let exploration = Exploration { plan, leaving, system: searched.system(), task: &task };
        let mut outcome = strategy::search(&exploration, client);
        doubted.as_ref().map_or(Ok(()), Doubted::verdict)?;
        let stays_at = self.warn_all(machine, &mut outcome);
        for cut in std::mem::take(&mut outcome.cuts) {
            self.tell_cut(machine, &property.name, &cut)?;
        }
        let mut shown = Vec::new();
        for violation in std::mem::take(&mut outcome.violations) {
            let (evidence, confirmed) = confirm(machine, &self.head(&property.name), &violation, None)?;
            shown.push(self.show(evidence, &confirmed.run, client));
        }
        let mut report = self.conclude(property, outcome, shown, stays_at);
        report.checked = self.stated.iter().copied().filter(|&kind| task.checks.count(kind)).collect();
        report.por = match self.plan.por {
            // What left nothing out was no reduction.
            Por::WhereItPays if report.statistics.reduced == 0 => Por::None,
            por => por.shown(),
        };
        // With a proviso every action that is possible is taken somewhere; without one, statements may be passed over.
        let all_actions = !asks || method != Method::Sets || proviso != Proviso::None || static_proviso;
        if report.exhaustive && all_actions {
            report.coverage = searched.coverage();
        }
        Ok(report)
    }
}
