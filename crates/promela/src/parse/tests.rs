//! Tests of the grammar as a whole.
