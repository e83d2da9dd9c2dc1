//! What a run has seen: features, sizes, verdicts.

use std::collections::BTreeMap;

use testkit::compare::Comparison;
use testkit::outcome::Outcome;

use crate::session::Counts;

/// Counts over all programs of a run.
#[derive(Debug, Default)]
pub struct Stats {
    programs: usize,
    agree: usize,
    mismatch: usize,
    inconclusive: BTreeMap<String, usize>,
    rejected_by_both: usize,
    skipped: usize,
    spin_rejected: BTreeMap<String, usize>,
    spin_failed: BTreeMap<String, usize>,
    kinds: BTreeMap<String, usize>,
    states: Vec<u64>,
    /// How often a feature occurs, and how often in a program of more than 20 states.
    features: BTreeMap<&'static str, (usize, usize)>,
}

impl Counts for Stats {
    fn wrong(&self) -> usize {
        self.mismatch
    }
}

impl Stats {
    /// Counts what Spin said about a program.
    pub fn spin(&mut self, features: &std::collections::BTreeSet<&'static str>, outcome: &Outcome) {
        self.programs += 1;
        let mut large = 0;
        match outcome {
            Outcome::Explored(e) => {
                self.states.push(e.states);
                large = usize::from(e.states > 20);
                for kind in &e.kinds {
                    *self.kinds.entry(kind.to_string()).or_default() += 1;
                }
                if e.kinds.is_empty() {
                    *self.kinds.entry("no error".into()).or_default() += 1;
                }
            }
            Outcome::Rejected(why) => *self.spin_rejected.entry(generic(why)).or_default() += 1,
            other => *self.spin_failed.entry(generic(&other.to_string())).or_default() += 1,
        }
        for feature in features {
            let entry = self.features.entry(feature).or_default();
            entry.0 += 1;
            entry.1 += large;
        }
    }

    /// Counts a comparison.
    pub fn comparison(&mut self, comparison: &Comparison) {
        match comparison {
            Comparison::Agree => self.agree += 1,
            Comparison::Mismatch(_) => self.mismatch += 1,
            Comparison::RejectedByBoth => self.rejected_by_both += 1,
            Comparison::Inconclusive(why) => *self.inconclusive.entry(generic(why)).or_default() += 1,
            Comparison::Skipped(_) => self.skipped += 1,
        }
    }

    /// Whether nothing at all was compared.
    pub fn only_skipped(&self) -> bool {
        self.skipped > 0 && self.skipped == self.programs
    }

    /// The report, without its last line.
    pub fn report(&mut self) -> String {
        self.states.sort_unstable();
        let mut text = String::new();
        let share = |limit: u64| {
            let above = self.states.iter().filter(|&&s| s > limit).count();
            100 * above / self.states.len().max(1)
        };
        let deciles: Vec<u64> = (0..=10)
            .filter_map(|k| self.states.get((self.states.len().max(1) - 1) * k / 10))
            .copied()
            .collect();
        text += &format!("programs: {}, explored by Spin: {}\n", self.programs, self.states.len());
        text += &format!(
            "states: deciles {deciles:?}; more than 10: {}%, 20: {}%, 20000: {}%\n",
            share(10),
            share(20),
            share(20000)
        );
        text += &format!("verdicts: {}\n", table(&self.kinds));
        text += &format!("rejected by Spin: {}\n", table(&self.spin_rejected));
        text += &format!("not explored by Spin: {}\n", table(&self.spin_failed));
        text += &format!("inconclusive: {}\n", table(&self.inconclusive));
        let features: Vec<String> =
            self.features.iter().map(|(name, (all, large))| format!("{name} {all}/{large}")).collect();
        text += &format!("features (programs/with more than 20 states): {}\n", features.join(", "));
        text
    }

    /// The last line.
    pub fn summary(&self) -> String {
        let inconclusive: usize = self.inconclusive.values().sum();
        format!(
            "difftest: {} agree, {} mismatch, {} inconclusive, {} rejected-by-both",
            self.agree,
            self.mismatch,
            inconclusive + self.skipped,
            self.rejected_by_both
        )
    }
}

fn table(counts: &BTreeMap<String, usize>) -> String {
    let mut rows: Vec<(&String, &usize)> = counts.iter().collect();
    rows.sort_by(|a, b| b.1.cmp(a.1));
    let parts: Vec<String> = rows.iter().take(12).map(|(what, n)| format!("{n} {what}")).collect();
    if parts.is_empty() { "none".into() } else { parts.join("; ") }
}

/// A message without the numbers and names of one program.
fn generic(message: &str) -> String {
    let mut result = String::new();
    let mut quoted = false;
    for c in message.chars().take(120) {
        if c == '\'' {
            quoted = !quoted;
            result.push(c);
        } else if !quoted && !c.is_ascii_digit() {
            result.push(c);
        }
    }
    result.trim().to_string()
}
