//! `spinor checkpoint FILE`: what is in a checkpoint. The model is not needed.

use super::format::{Gathered, Header};
use super::{Reading, gathered};
use crate::failure::Failure;
use crate::report_text::{bytes, grouped, plural};
use archive::journal::NoJournal;
use serde_json::{Value, json};
use std::path::Path;
use trace::visible::one_line;

/// What is in a checkpoint.
#[derive(Debug)]
pub struct Told {
    path: String,
    header: Header,
    gathered: Gathered,
    bytes: u64,
}

/// Reads a checkpoint, and verifies all of it but the states themselves.
pub fn tell(path: &str) -> Result<Told, Failure> {
    let refused = |why: String| {
        Failure::refused_with(
            format!("{path} is no checkpoint that can be resumed: {why}"),
            "give a file that `spinor check --checkpoint` wrote",
        )
    };
    let mut reading = Reading::open(Path::new(path)).map_err(|why| match why {
        NoJournal::Other => refused("it is another file".to_string()),
        NoJournal::Damaged(damage) => refused(damage.to_string()),
    })?;
    let (header, gathered) = gathered(&mut reading).map_err(|damage| refused(damage.to_string()))?;
    if !gathered.saved.is_consistent() {
        return Err(refused("its parts contradict each other".to_string()));
    }
    Ok(Told { path: path.to_string(), header, gathered, bytes: reading.position().bytes() })
}

impl Told {
    fn expanded(&self) -> u64 {
        let gone = |one: &search::ancestry::Ancestry| one.given_up();
        let ancestries = &self.gathered.saved.ancestries;
        let taken: u64 = ancestries.iter().map(|one| one.parent()).sum();
        let again: u64 = ancestries.iter().map(gone).map(|gone| gone.end - gone.start).sum();
        taken - again
    }

    fn words(&self) -> Vec<String> {
        let option = |(name, words): &(String, Vec<String>)| {
            let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
            format!("--{name} {}", words.join(" ")).trim_end().to_string()
        };
        self.header.options.iter().map(option).collect()
    }

    /// In few words.
    pub fn brief(&self) -> String {
        let (property, model) = (one_line(&self.header.property), one_line(&self.header.model));
        let states = plural(self.gathered.saved.states(), "state");
        format!(
            "a search for {property} in {model}, with {states} after {:.1} s",
            self.gathered.micros as f64 / 1e6
        )
    }

    /// For people.
    pub fn text(&self) -> String {
        let (header, saved) = (&self.header, &self.gathered.saved);
        let states = saved.states();
        let waiting = states - self.expanded();
        let options = match self.words() {
            words if words.is_empty() => "as by default".to_string(),
            words => one_line(&words.join(" ")).into_owned(),
        };
        let violations = match saved.found.errors {
            0 => String::new(),
            n => format!("\n  violations   {}", grouped(n)),
        };
        format!(
            "{} is a search for {} in {}, which can go on\n  states       {}, {} still to be expanded\n  transitions  {}{violations}\n  time         {:.1} s\n  options      {options}\n  version      {}\n  size         {}\n",
            one_line(&self.path),
            one_line(&header.property),
            one_line(&header.model),
            plural(states, "state"),
            grouped(waiting),
            grouped(saved.statistics.transitions),
            self.gathered.micros as f64 / 1e6,
            one_line(&header.version),
            bytes(self.bytes),
        )
    }

    /// For machines.
    pub fn json(&self) -> Value {
        let (header, saved) = (&self.header, &self.gathered.saved);
        json!({
            "checkpoint": self.path,
            "version": header.version,
            "model": header.model,
            "property": header.property,
            "options": self.words(),
            "states": saved.states(),
            "waiting": saved.states() - self.expanded(),
            "transitions": saved.statistics.transitions,
            "errors": saved.found.errors,
            "seconds": self.gathered.micros as f64 / 1e6,
            "bytes": self.bytes,
        })
    }
}
