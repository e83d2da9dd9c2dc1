//! Repairs that an editor can make: edits of the text, beside the words of the help.
//!
//! An edit says what it replaces. Text that came out of a macro stands elsewhere than its span says; where
//! the old text is not found at its place, clients offer nothing.

use crate::source::Span;

/// How sure it is that a repair is what the author wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confidence {
    /// The model means the same afterwards.
    Safe,
    /// It was probably meant.
    Guess,
}

/// A piece of text that is replaced by another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// Where; empty to insert.
    pub span: Span,
    /// What stands there now.
    pub old: String,
    /// What is to stand there.
    pub new: String,
}

/// A repair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, in a few words.
    pub title: String,
    /// Its edits, in the order of the text; none touches another.
    pub edits: Vec<Edit>,
    /// How sure it is.
    pub confidence: Confidence,
}

impl Fix {
    /// Replaces `old`, which is the text of `span`.
    pub fn replace(span: Span, old: impl Into<String>, new: impl Into<String>) -> Fix {
        let (old, new) = (old.into(), new.into());
        let title = format!("Replace `{old}` by `{new}`");
        Fix { title, edits: vec![Edit { span, old, new }], confidence: Confidence::Guess }
    }

    /// Inserts in front of a span.
    pub fn insert_before(span: Span, new: impl Into<String>) -> Fix {
        Fix::insert(Span { end: span.start, ..span }, new.into())
    }

    /// Inserts behind a span.
    pub fn insert_after(span: Span, new: impl Into<String>) -> Fix {
        Fix::insert(Span { start: span.end, ..span }, new.into())
    }

    fn insert(span: Span, new: String) -> Fix {
        let title = format!("Insert `{}`", new.trim());
        Fix { title, edits: vec![Edit { span, old: String::new(), new }], confidence: Confidence::Guess }
    }

    /// The model means the same afterwards.
    pub fn safe(mut self) -> Fix {
        self.confidence = Confidence::Safe;
        self
    }
}
