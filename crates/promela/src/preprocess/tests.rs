//! Tests of the preprocessor as a whole.
