//! Models that say themselves what must come out, and the command that holds them to it (`spinor test`).
//!
//! Reading order: [`directive`] and [`expect`] (what a model says) → [`find`] (which models) → [`configure`]
//! (how a check is run) → [`judge`](mod@judge) (is it as expected?) → [`run`](mod@run) (all of them, side by
//! side) → [`report`] and its forms: [`text`], [`json`], [`junit`], [`sarif`].

pub mod configure;
pub mod directive;
pub mod expect;
pub mod find;
pub mod json;
pub mod judge;
pub mod junit;
pub mod report;
pub mod run;
pub mod sarif;
pub mod text;

pub use find::is_model;
pub use report::{CaseReport, Status, SuiteReport};
pub use run::{Request, run};
