//! Facts: static truth about a program, computed once from the intermediate form, as plain data.
//!
//! [`footprint`] says what a statement mentions; [`access`] says, for every edge, what parts of a state it
//! may read and write, with everything that the language adds; [`region`] is how such sets are named,
//! [`points`] which channels are meant, [`known`] what more can be said of a process whose number and
//! parameters are known. [`object`], [`mark`], [`guard`] and [`length`] say which steps commute, which enable
//! which, and which exclude each other, [`sequences`] what may follow a step at once; [`components`] where a
//! process can come back, [`visible`] what a property notices. [`check`] tries to falsify them. Facts err in
//! one direction only, and their types say in which:
//! [`May`] can name more than is really touched, never less; [`Must`] can name less, never more.

pub mod access;
pub mod check;
pub mod components;
pub mod footprint;
pub mod guard;
pub mod known;
pub mod length;
pub mod mark;
pub mod matrix;
pub mod object;
pub mod partition;
pub mod points;
pub mod population;
pub mod region;
pub mod sequences;
pub mod slots;
pub mod visible;

pub use access::{Access, Analysis, Facts};
pub use footprint::{Cells, Footprint};
pub use known::{Known, Meant, Telling, Who, telling};
pub use mark::Marker;
pub use points::Points;
pub use region::{Aspects, ChannelName, Channels, May, Must, Part, Region};
