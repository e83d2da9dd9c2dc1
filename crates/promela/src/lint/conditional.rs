//! Text between `#if` and `#endif`: the model may be read with other macros, and is another one then.
//!
//! What such text names may be used in another configuration, and what it makes constant may be otherwise
//! there.

use crate::source::{SourceMap, Span};
use std::collections::HashSet;

/// What stands between `#if`, `#ifdef` or `#ifndef` and its `#endif`, whether it is read now or not.
pub struct Conditional {
    words: HashSet<String>,
    /// Of each file: where the outermost conditional parts begin and end, in order.
    parts: Vec<Vec<(u32, u32)>>,
}

impl Conditional {
    /// Looks through the files of a model.
    pub fn of(sources: &SourceMap) -> Self {
        let mut conditional = Conditional { words: HashSet::new(), parts: Vec::new() };
        for file in sources.files() {
            conditional.file(&file.text);
        }
        conditional
    }

    fn file(&mut self, text: &str) {
        let mut parts = Vec::new();
        let (mut depth, mut begin, mut at) = (0usize, 0, 0);
        for line in text.split_inclusive('\n') {
            let directive = line.trim_start().strip_prefix('#').map_or("", str::trim_start);
            if directive.starts_with("endif") && depth > 0 {
                depth -= 1;
                if depth == 0 {
                    parts.push((begin, at));
                }
            }
            if depth > 0 {
                let split = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                self.words.extend(split.filter(|w| !w.is_empty()).map(str::to_string));
            }
            if directive.starts_with("if") {
                begin = if depth == 0 { at } else { begin };
                depth += 1;
            }
            at += line.len() as u32;
        }
        self.parts.push(parts);
    }

    /// Whether a name occurs in such text.
    pub fn names(&self, name: &str) -> bool {
        self.words.contains(name)
    }

    /// Whether some of such text lies at a place.
    pub fn touches(&self, span: Span) -> bool {
        let Some(parts) = self.parts.get(span.file.0 as usize) else { return false };
        let before = parts.partition_point(|(begin, _)| *begin < span.end.max(span.start + 1));
        before.checked_sub(1).is_some_and(|i| span.start < parts[i].1)
    }
}
