//! Several processes that search together, over timely dataflow.
//!
//! What travels between searches is carried by an existing engine, timely (F. McSherry and others; the model is
//! that of D. Murray et al., *Naiad*, SOSP 2013): one operator in a feedback loop exchanges [`batch`]es of
//! bytes, and its tracking of progress tells when no process has anything to do and nothing is on its way
//! ([`flow`]). This crate adds what timely leaves to others: how processes are started and find each other
//! ([`start`]), back-pressure, and who notices that one is lost ([`supervise`]): timely's threads give up
//! when a connection ends, and nothing says why; here a connection that ends is told by name, and nobody
//! claims to have seen everything ([`link`]).
//!
//! Beside the connections that timely has, each process keeps one to the first: over it go the start, signs of
//! life, the wish to stop, results, and questions for ways back ([`message`]).
//!
//! It knows neither states nor stores, and no Promela: [`search::distributed`] says what is in a batch.

mod batch;
mod flow;
mod link;
mod message;
mod start;
mod supervise;

pub use flow::Flow;
pub use message::Digest;
pub use start::{Member, Request, StartError, join, lead};
pub use supervise::{Leader, Lost};
