//! Pictures of automata and runs, made of plain data: SVG for pages, reports and editors, dot for Graphviz.
//!
//! Knows neither Promela nor machines. [`graph`] is what an automaton looks like, [`layered`] places it,
//! [`graph_svg`] and [`dot`] draw it; [`chart`] is a message sequence chart, drawn by [`chart_svg`];
//! [`lanes`] is a run as rows of cells. A picture is the same for the same data, needs no script, has its
//! full texts as tooltips, and takes its colours from [`style`]: one sheet for a file of its own and for a
//! page with many.

pub mod chart;
pub mod chart_svg;
pub mod dot;
pub mod graph;
pub mod graph_svg;
pub mod lanes;
pub mod layered;
pub mod style;
pub mod text;

pub use chart::Chart;
pub use graph::Graph;
pub use lanes::Lanes;
pub use style::Frame;
