//! Promela: from text to process automata.
//!
//! The layers, in reading order: [`source`] (files and positions) → [`diagnostic`] (what to tell the author)
//! → [`preprocess`] (the built-in C preprocessor) → [`token`] → [`parse`] (tokens to the tree of [`ast`]) →
//! [`lower`] (tree to automata) → [`ir`] (the typed program that machines execute). [`lint`] looks at the
//! finished program for what commonly goes wrong.
//!
//! The front end does no input or output of its own (files come through [`source::Files`]), and it never
//! fails: it returns what it could build, together with diagnostics.

pub mod ast;
pub mod ast_json;
pub mod diagnostic;
pub mod ir;
mod json;
pub mod lint;
pub mod logic;
pub mod lower;
pub mod parse;
pub mod preprocess;
pub mod source;
pub mod token;
