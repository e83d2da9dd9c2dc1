//! A report as one HTML file that can be sent to anybody: verdicts, counterexamples, automata, source.
//!
//! Everything can be read without script; with it a counterexample can be walked through, with all views at
//! the same moment. The file loads nothing: its policy (`Content-Security-Policy`) allows the one style sheet
//! and the one script that it carries, by their hashes ([`sha256`]). Whatever comes from a model is text: it
//! passes [`draw::text::escape`], or is JSON in which `<` is escaped. No time, no path of this machine and no
//! measurement is in it, so the same check gives the same file.
//!
//! [`violation`] is a counterexample as data, [`sections`] the parts of the page, [`page`] the whole.

mod page;
mod sections;
mod sha256;
mod violation;

pub use page::{of_check, of_replay};
