//! What a search met that is no violation, but must be told: errors that cut a run off, atomic sequences
//! without end.

use super::Checker;
use crate::counterexample::confirm;
use crate::failure::Failure;
use crate::notice::Notice;
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
