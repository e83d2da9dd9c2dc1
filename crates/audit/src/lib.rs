//! Confirms a certificate of "holds", with the reference machine alone.
//!
//! A search that has seen everything can write down what it has seen: all reachable states. Whether that is a
//! proof can be found out without the search: the initial state is among them, whatever the reference machine
//! makes of one of them is among them, none of them shows an error, and each of them is reached. Nothing of
//! the searches, the stores, the reductions or the compiled machine takes part in that; this crate does not
//! depend on them (`crates/testkit/tests/layers.rs`). What it relies on is the front end, the reference
//! machine, and that bytes which differ are different states.
//!
//! Reading order: [`certificate`] the file, [`state_set`] its states, [`steps`] what a state leads to,
//! [`confirm`] the argument.

pub mod certificate;
pub mod confirm;
pub mod state_set;
pub mod steps;

pub use certificate::{Certificate, CertificateWriter, Header, NotReadable};
pub use confirm::{Audited, Flaw, Share, confirm};
