//! Models that say themselves what must come out, and the command that holds them to it (`spinor test`).

pub mod directive;
pub mod expect;
