//! Spin's command lines: what somebody types who has used Spin for years, and the `spinor` command that does
//! it.
//!
//! [`flags`] and [`switches`] are the table: a row for every flag of `spin --` and of `pan --`, and for the
//! switches with which `pan.c` is compiled. [`words`] reads a command line by it, [`translate`] says what to
//! do instead, [`table`] writes it down for docs/for-spin-users.md. Nothing is dropped silently: a flag is
//! done, is named with the reason why it means nothing here, or is refused.

pub mod flags;
pub mod hint;
pub mod switches;
pub mod table;
pub mod translate;
pub mod words;

pub use flags::{Effect, Flag, Here, Place, Takes};
pub use translate::{Surroundings, Translation, translate};
