//! Trails as Spin writes and reads them: `pan` leaves one when it finds an error, `spin -t` follows it.
//!
//! Such a trail is a list of numbers and names no model, so it means something only beside the model that it
//! belongs to. A line is `depth:process:statement`; statements are numbered through the whole model, in the
//! order in which Spin's parser makes its elements (`promela::ir::Edge::statement`). [`lines`] is that text,
//! [`follow`] makes a trail of ours of it, step by step through the automata, and [`write`](mod@write) the
//! other way round. What a trail of Spin shows is found out here and not believed: the file does not say.

pub mod follow;
pub mod lines;
pub mod write;
