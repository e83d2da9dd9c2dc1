//! Searches on a GPU, of models that were lowered to the kernel IR.
//!
//! Reading order: [`text`] (a function of the kernel IR as PTX), [`table`] (how states are inserted),
//! [`level`] (the kernel around both), [`search`] (its host), [`device`] (what runs it): [`driver`] is a card,
//! and [`simulate`] an interpreter of the same text (which [`mod@parse`] reads), for machines without one.

pub mod device;
pub mod driver;
pub mod level;
pub mod parse;
pub mod search;
pub mod simulate;
pub mod table;
pub mod text;
