//! Facts: static truth about a program, computed once from the intermediate form, as plain data.
//!
//! [`footprint`] says what an action may read and write. Facts err in one direction only: a footprint may name more than
//! is really touched, never less; what is *surely* written ([`Footprint::kills`]) may name less, never more.

pub mod footprint;
pub mod points;

pub use footprint::{Cells, Footprint};
pub use points::Points;
