//! Search in a run: a word of a statement, of a process or of what changed; or the moment at which an
//! expression becomes true.

use crate::exploration::{Exploration, Refusal};
use system::Value;
use trace::story::{self, Told, process_name};

/// Steps that one search looks at; the next one goes on where it stopped.
pub const MOST_STEPS: usize = 5000;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// This step.
    Step(usize),
    /// Nothing yet: it goes on with this step.
    GoOn(usize),
    /// Nothing.
    Nothing,
}

impl Exploration<'_, '_> {
    /// The first step from `from` on (or the last one up to it) in which `text` stands, in whatever case.
    pub fn find(&self, text: &str, from: usize, backwards: bool) -> Found {
        let text = text.to_lowercase();
        let mut seen = None;
        self.search(from, backwards, |number| {
            let told = story::tell_next(self.run(), number, &mut seen);
            told.is_some_and(|told| words(&told).to_lowercase().contains(&text))
        })
    }

    /// The first moment from `from` on (or the last one up to it) at which an expression is true.
    pub fn find_true(&self, expr: &str, from: usize, backwards: bool) -> Result<Found, Refusal> {
        let mut known = None;
        // What is wrong with the text is said at once.
        self.evaluate_with(from.min(self.run().len()), None, expr, &mut known)?;
        let holds =
            |value: &Value| matches!(value, Value::Bool(true)) || matches!(value, Value::Int(n) if *n != 0);
        Ok(self.search(from, backwards, |moment| {
            self.evaluate_with(moment, None, expr, &mut known).is_ok_and(|value| holds(&value))
        }))
    }

    fn search(&self, from: usize, backwards: bool, mut is_it: impl FnMut(usize) -> bool) -> Found {
        let len = self.run().len();
        let steps: Box<dyn Iterator<Item = usize>> = match backwards {
            true => Box::new((self.run().first()..=from.min(len)).rev()),
            false => Box::new(from..=len),
        };
        for (looked, number) in steps.enumerate() {
            if looked == MOST_STEPS {
                return Found::GoOn(number);
            }
            if is_it(number) {
                return Found::Step(number);
            }
        }
        Found::Nothing
    }
}

/// What can be searched of a step.
fn words(told: &Told) -> String {
    let info = &told.info;
    let who = |info: &system::StepInfo| {
        format!("{} {} {}:{}", process_name(&info.process, info.pid), info.text, info.file, info.line)
    };
    let changes = told.changes.iter().map(|change| {
        let value = |value: &Option<Value>| value.as_ref().map(Value::to_string).unwrap_or_default();
        format!(" {}={}", change.full_name(), value(&change.after))
    });
    let partner = info.partner.as_deref().map(who).unwrap_or_default();
    let fault = told.fault.as_ref().map(|fault| fault.message.clone()).unwrap_or_default();
    let printed = system::explain::printed(&told.events);
    format!("{} {partner} {}{fault} {printed}", who(info), changes.collect::<String>())
}
