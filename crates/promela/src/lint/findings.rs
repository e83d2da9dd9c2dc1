//! What the lints found, each thing once.
//!
//! A macro or an inline brings the same text into a program several times. A finding is known by the text
//! that it is about, so copies are reported once; and a lint that looks at every copy can acquit the text
//! when one of the copies is innocent.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{ExpansionId, FileId, Span};
use std::collections::{HashMap, HashSet};

/// The most findings of one code that are kept: a generated model may have any number.
const MAX_OF_A_CODE: usize = 1000;

/// A code and the text that it is about, wherever that was copied to.
type Key = (Code, FileId, u32, u32);

fn key(code: Code, span: Span) -> Key {
    (code, span.file, span.start, span.end)
}

/// A collection of findings.
#[derive(Default)]
pub struct Findings {
    found: Vec<Diagnostic>,
    seen: HashSet<Key>,
    acquitted: HashSet<Key>,
    counts: HashMap<Code, usize>,
}

impl Findings {
    /// Adds a finding, unless the same text has one with this code.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.seen.insert(key(diagnostic.code, diagnostic.span())) {
            let count = self.counts.entry(diagnostic.code).or_default();
            *count += 1;
            if *count <= MAX_OF_A_CODE {
                self.found.push(diagnostic);
            }
        }
    }

    /// Says that a copy of this text is innocent: findings about other copies are dropped.
    pub fn acquit(&mut self, code: Code, span: Span) {
        if span.expansion != ExpansionId::ROOT {
            self.acquitted.insert(key(code, span));
        }
    }

    /// The findings in the order of the text.
    pub fn finish(self) -> Vec<Diagnostic> {
        let mut found = self.found;
        found.retain(|d| !self.acquitted.contains(&key(d.code, d.span())));
        found.sort_by_key(|d| (d.span().file, d.span().start, d.code));
        found
    }
}
