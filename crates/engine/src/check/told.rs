//! What a search met that is no violation, but must be told: errors that cut a run off, atomic sequences
//! without end.

use super::Checker;
use crate::counterexample::confirm;
use crate::failure::Failure;
use crate::notice::Notice;
use crate::run_property::RunProperty;
use promela::diagnostic::Code;
use search::{Outcome, Violation, Warning};
use system::{ActionId, Explain, Fault, TransitionSystem};
use trace::Walker;

impl Checker<'_> {
    /// Tells the warnings of a search; says where an atomic sequence can run forever.
    pub(super) fn warn_all<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        outcome: &mut Outcome,
    ) -> Option<String> {
        let warnings = std::mem::take(&mut outcome.warnings);
        warnings
            .iter()
            .map(|warning| self.warn(machine, warning, outcome.stays_inside))
            .fold(None, Option::or)
    }

    fn warn<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        warning: &Warning,
        of_runs: bool,
    ) -> Option<String> {
        let Warning::AtomicLoop(path) = warning;
        let message = "an atomic sequence can run forever here without giving up control";
        let help = match of_runs {
            true => {
                "properties of whole runs cannot be judged there; make the loop leave the atomic sequence, or let it block"
            }
            false => {
                "every state behind it was explored; make the loop leave the atomic sequence, or let it block"
            }
        };
        let notice = Notice::plain(Code::W0701, message, Some(help.to_string()));
        let mut walker = Walker::start(machine).ok()?;
        let &last = path.last()?;
        let mut before = path.iter().take(path.len() - 1).filter(|&&action| action != ActionId::STUTTER);
        if before.any(|&action| walker.step(action).is_err()) {
            return None;
        }
        let step = machine.step(walker.state(), last);
        self.tell(notice.at(&step.file, step.line, step.column));
        Some(format!("{}:{}", step.file, step.line))
    }

    /// Replays the way to an error that cut a run off, and tells the error: whatever was asked, it is one.
    pub(super) fn tell_cut<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        property: &str,
        cut: &Violation,
    ) -> Result<(), Failure> {
        let Fault { message, file, line, column, .. } = &cut.fault;
        confirm(machine, &self.head(property), cut, None)?;
        let who = cut.fault.process.as_ref().map_or_else(String::new, |process| {
            let pid = cut.fault.pid.map_or_else(String::new, |pid| format!("[{pid}]"));
            format!(" in {process}{pid}")
        });
        let help = "the run behind it is unknown, so no other property can be said to hold; --property runtime shows the way to it";
        let notice =
            Notice::plain(Code::W0704, format!("a run-time error{who}: {message}"), Some(help.to_string()));
        self.tell(notice.at(file, *line, *column));
        Ok(())
    }

    /// Replays the way to a state in which a claim cannot be evaluated, and tells it.
    pub(super) fn tell_evaluation<M: TransitionSystem + Explain>(
        &mut self,
        machine: &M,
        watch: &RunProperty,
        cut: &Violation,
    ) -> Result<(), Failure> {
        let broken = |why: &str| {
            let message = &cut.fault.message;
            Failure::Internal(format!("the way to a claim that cannot be evaluated ({message}): {why}"))
        };
        let mut walker = Walker::start(machine).map_err(|fault| broken(&fault.message))?;
        for &action in cut.path.iter() {
            walker.step(action).map_err(|why| broken(&why.to_string()))?;
        }
        let told = machine.capabilities().propositions;
        let error = |number| told?.evaluation_error(watch.set, number, walker.state());
        if (0..u64::BITS).filter_map(error).all(|error| error != cut.fault) {
            return Err(broken("it can be evaluated there"));
        }
        let Fault { message, file, line, column, .. } = &cut.fault;
        let message = format!("a claim cannot be evaluated in a state that was reached: {message}");
        let help = "the runs through it are not judged; a condition before it shields what cannot be evaluated, as in `i < 3 && a[i] == 1`";
        let notice = Notice::plain(Code::W0704, message, Some(help.to_string()));
        self.tell(notice.at(file, *line, *column));
        Ok(())
    }

    /// Adds a notice, once.
    fn tell(&mut self, notice: Notice) {
        let same = |other: &Notice| {
            let start = |notice: &Notice| notice.labels.first().map(|label| label.start.clone());
            (other.code, &other.message, start(other)) == (notice.code, &notice.message, start(&notice))
        };
        if !self.notices.iter().any(same) {
            self.notices.push(notice);
        }
    }
}
