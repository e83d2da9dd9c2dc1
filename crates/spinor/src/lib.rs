//! Spinor as a library: load a Promela model, check it, replay what was found, simulate it, explore its
//! states.
//!
//! A check by itself prints nothing, writes no file and keeps no global state: any number of them may run in
//! one process.
//!
//! # Check a model
//!
//! ```
//! use spinor::Model;
//!
//! let model = Model::from_text("counter.pml", "byte x; active proctype P() { do :: x < 9 -> x++ od }")?;
//! let report = model.check().property("assertion").run()?;
//! assert_eq!((report.verdict(), report.properties[0].statistics.states), ("holds", 19));
//! # Ok::<(), spinor::Error>(())
//! ```
//!
//! # Replay a counterexample
//!
//! ```
//! # use spinor::Model;
//! let model = Model::from_text("race.pml", "byte x; active [2] proctype P() { byte y = x; x = y + 1; assert(x != 1) }")?;
//! let report = model.check().run()?;
//! let found = report.properties[0].verdict.violations().next().expect("a violation");
//! for step in model.replay(&found.evidence)? {
//!     println!("{} ({}): {}", step.process, step.pid, step.text);
//! }
//! # Ok::<(), spinor::Error>(())
//! ```
//!
//! # Simulate
//!
//! ```
//! # use spinor::{Ending, Model};
//! let model = Model::from_text("race.pml", "byte x; active [2] proctype P() { x++; x-- }")?;
//! let run = model.simulate(7, 1000)?;
//! assert_eq!((run.steps.len(), run.ending), (6, Ending::ValidEnd));
//! # Ok::<(), spinor::Error>(())
//! ```
//!
//! # Explore states
//!
//! ```
//! # use spinor::Model;
//! use std::collections::HashSet;
//!
//! let model = Model::from_text("counter.pml", "byte x; active proctype P() { do :: x < 9 -> x++ od }")?;
//! let explorer = model.explore()?;
//! let (mut seen, mut open) = (HashSet::new(), vec![explorer.initial()?]);
//! while let Some(state) = open.pop() {
//!     if seen.insert(state.clone()) {
//!         open.extend(explorer.steps(&state).into_iter().filter_map(|step| step.to));
//!     }
//! }
//! let largest = seen.iter().filter_map(|state| explorer.values(state).global("x").cloned()).map(|x| x.to_string()).max();
//! assert_eq!((seen.len(), largest.as_deref()), (19, Some("9")));
//! # Ok::<(), spinor::Error>(())
//! ```
//!
//! # In the background
//!
//! ```
//! # use spinor::Model;
//! let model = Model::from_text("large.pml", "int x, y; active proctype P() { do :: x < y + 9 -> x++ :: y++ od }")?;
//! let job = model.check().max_memory(1 << 30).start()?;
//! job.cancel();
//! assert_eq!(job.wait().result.map(|report| report.verdict()), Ok("unknown"));
//! # Ok::<(), spinor::Error>(())
//! ```

mod check;
mod error;
mod explorer;
mod model;

pub use check::Check;
pub use engine::options;
pub use engine::report::{PropertyReport, Reason, Shown, Verdict};
pub use engine::simulation::Ending;
pub use engine::{CheckOptions, Client, Event, Evidence, Job, Notice, Report, Stop};
pub use error::Error;
pub use explorer::{Explorer, State, Step};
pub use model::{Model, Simulated};
pub use system::{Fault, FaultKind, Snapshot, StepInfo, Value};
