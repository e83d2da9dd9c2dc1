//! Documents whose commands are executed: what a reader sees is what the tool prints.
//!
//! A fenced block tagged `console` holds commands and their output:
//!
//! ````text
//! ```console
//! $ spinor check examples/philosophers.pml
//! examples/philosophers.pml: violated
//! ...
//! ? 1
//! ```
//! ````
//!
//! `$` starts a command (`>` continues it), the lines after it are what it writes to both streams, and `? N`
//! at the end is its exit status where that is not 0 (a following `$ echo $?` does as well). `[..]` stands
//! for any text within a line, a line `...` for any number of lines; times, sizes and rates are never
//! compared ([`matching`]). All commands of a document run in order, in one temporary folder that holds a
//! copy of `examples/`; `cd` and files that a command writes last.
//!
//! A block tagged `promela file=NAME` writes NAME for the commands after it; one tagged `promela from=NAME`
//! quotes a file and must be found in it. A command that would not be executed is a mistake: `$` lines
//! elsewhere, `spinor` in other blocks, and shell blocks with more than build commands.

pub mod document;
pub mod matching;
pub mod run;

pub use document::Document;
pub use run::{Sandbox, Wrong, verify};
