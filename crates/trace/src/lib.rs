//! Counterexamples: kept as action ids, written and read as JSON, replayed before anybody sees them.
//!
//! [`trail`] is the data, [`write`](mod@write) and [`read`](mod@read) its JSON form ([`packed`] for long
//! ones), [`replay`] re-executes it. [`run`] is a run with its history, which all views of a run look at.
//! [`replay::Evidence`] can be had only by replaying, so that a verdict made from it has been checked.
//! [`style`] is how text for people is coloured, here and in the crates above.

pub mod blocked_json;
pub mod blocked_text;
pub mod change;
pub mod formula_judge;
pub mod itf;
pub mod json;
pub mod judge;
pub mod msc;
pub mod packed;
pub mod read;
pub mod replay;
pub mod run;
pub mod story;
pub mod style;
pub mod table;
pub mod trail;
pub mod visible;
pub mod write;

pub use formula_judge::{FormulaHearing, FormulaJudge};
pub use judge::{Judge, Judgement};
pub use read::read;
pub use replay::{Claims, Confirmed, Evidence, NotPossible, Refuted, Walker, confirm, record, replay};
pub use run::{Run, Taken};
pub use style::Palette;
pub use trail::{FencePlace, MemoryOptions, ModelOptions, Trail, TrailStep, fingerprint};
pub use write::{write, write_to};
