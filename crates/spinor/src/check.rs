//! A check in the making.

use crate::error::Error;
use crate::model::Model;
use engine::options::Size;
use engine::{CheckOptions, Job, Report, Silent, Stop};
use std::time::Duration;

/// A check of a model: which properties, with which options. What is not said is left to the tool, as on the
/// command line.
#[derive(Clone, Debug)]
pub struct Check<'m> {
    model: &'m Model,
    options: CheckOptions,
}

impl<'m> Check<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Check { model, options: CheckOptions::default() }
    }

    /// Checks this property, besides others that are named: `safety`, `ltl:NAME`, `accept` … Without any, all
    /// that apply.
    pub fn property(mut self, name: &str) -> Self {
        self.options.properties.push(name.to_string());
        self
    }

    /// Checks a formula that the model does not state, as property `ltl:cli`.
    pub fn ltl(mut self, formula: &str) -> Self {
        self.options.ltl = Some(formula.to_string());
        self
    }

    /// Searches with this number of workers.
    pub fn threads(mut self, number: u64) -> Self {
        self.options.threads = Some(number);
        self
    }

    /// Stops after this time, with verdict `unknown`.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.options.timeout = Some(time);
        self
    }

    /// Stops when the searches have this many bytes, with verdict `unknown`.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.options.max_memory = Some(Size(bytes));
        self
    }

    /// Sets any other option: the fields and their values are those of the command line ([`crate::options`]).
    pub fn with(mut self, set: impl FnOnce(&mut CheckOptions)) -> Self {
        set(&mut self.options);
        self
    }

    /// Checks, and waits for the report.
    pub fn run(&self) -> Result<Report, Error> {
        Error::of(self.model.session.check(&self.options, &Stop::never(), &mut Silent))
    }

    /// Begins to check on a thread of its own.
    pub fn start(&self) -> Result<Job, Error> {
        Job::start(&self.model.session, &self.options).map_err(|failure| Error::new(Vec::new(), &failure))
    }
}
