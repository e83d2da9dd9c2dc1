//! `--suggest-fences`: a smallest set of places at which fences restore the properties, found by trying.
//!
//! Places are beside statements, where a process may have a store in its buffer (`machine::memory`). Sets are tried in the order of their size. A counterexample tells which sets need not be tried: fences at
//! places that it does not pass leave it as it is, so that every solution has one that it passes (a hitting
//! set, as in the repair of weak-memory programs by M. Kuperstein, M. Vechev and E. Yahav, 2010).

use crate::check::check;
use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::options::{CheckOptions, Source};
use crate::report::Report;
use crate::session::Session;
use crate::weak_memory::{self, FenceSite};
use promela::source::Files;
use search::Silent;
use std::collections::BTreeSet;
use stop::Stop;
use trace::MemoryOptions;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suggestion {
    /// The properties hold already.
    NoneNeeded,
    /// With a fence in front of every shared access something is still violated.
    NoneHelps,
    /// Fences at these places are enough, and fewer are not.
    Fences(Vec<FenceSite>),
    /// A check came to no verdict, or there were too many sets.
    Unknown(&'static str),
}

/// A set of fences is checked this often at most.
const MOST_CHECKS: usize = 5_000;

/// A place and the edges that stand there.
struct Site {
    place: FenceSite,
    edges: Vec<trace::FencePlace>,
}

/// Finds fences for the memory model that the options ask for.
pub fn suggest(options: &CheckOptions, files: &(dyn Files + Sync), stop: &Stop) -> Answer<Suggestion> {
    let Some(memory) = weak_memory::of_options(options) else {
        return Answer::failed(Failure::refused_with(
            "--suggest-fences needs a memory with store buffers",
            "add --memory tso or pso",
        ));
    };
    let sites = match sites(options, &memory, files, stop) {
        Ok(sites) => sites,
        Err(failure) => return Answer::failed(failure),
    };
    let search = Search { options, memory, sites, files, stop, passed: Vec::new(), checks: 0 };
    Answer { notices: Vec::new(), result: search.run() }
}

fn sites(
    options: &CheckOptions,
    memory: &MemoryOptions,
    files: &(dyn Files + Sync),
    stop: &Stop,
) -> Result<Vec<Site>, Failure> {
    let mut source: Source = options.source.clone();
    source.options.memory = None;
    let read = || {
        let session = Session::load(&source, files, stop)?;
        weak_memory::fence_sites(session.program()?, memory, &session.sources)
    };
    let mut sites: Vec<Site> = Vec::new();
    for (edge, place) in isolated(read)?? {
        match sites.iter_mut().find(|site| site.place == place) {
            Some(site) => site.edges.push(edge),
            None => sites.push(Site { place, edges: vec![edge] }),
        }
    }
    Ok(sites)
}

/// What a set of fences does.
enum Tried {
    Holds,
    /// The places that the counterexample passes.
    Violated(BTreeSet<usize>),
    Unknown,
}

struct Search<'a> {
    options: &'a CheckOptions,
    memory: MemoryOptions,
    sites: Vec<Site>,
    files: &'a (dyn Files + Sync),
    stop: &'a Stop,
    /// The places that each counterexample so far passes.
    passed: Vec<BTreeSet<usize>>,
    checks: usize,
}

impl Search<'_> {
    fn run(mut self) -> Result<Suggestion, Failure> {
        let all: Vec<usize> = (0..self.sites.len()).collect();
        match self.attempt(&[])? {
            Tried::Holds => return Ok(Suggestion::NoneNeeded),
            Tried::Violated(passed) => self.passed.push(passed),
            Tried::Unknown => return Ok(Suggestion::Unknown("the check came to no verdict")),
        }
        match self.attempt(&all)? {
            Tried::Holds => {}
            Tried::Violated(_) => return Ok(Suggestion::NoneHelps),
            Tried::Unknown => return Ok(Suggestion::Unknown("a check came to no verdict")),
        }
        for size in 1..=all.len() {
            let mut set: Vec<usize> = (0..size).collect();
            loop {
                if self.hits_all(&set) {
                    match self.attempt(&set)? {
                        Tried::Holds => {
                            let place = |&site: &usize| self.sites[site].place.clone();
                            return Ok(Suggestion::Fences(set.iter().map(place).collect()));
                        }
                        Tried::Violated(passed) => self.passed.push(passed),
                        Tried::Unknown => {
                            return Ok(Suggestion::Unknown("a check came to no verdict"));
                        }
                    }
                    if self.checks >= MOST_CHECKS {
                        return Ok(Suggestion::Unknown("there are too many places for fences"));
                    }
                }
                if !next_set(&mut set, all.len()) {
                    break;
                }
            }
        }
        Ok(Suggestion::NoneHelps)
    }

    fn hits_all(&self, set: &[usize]) -> bool {
        self.passed.iter().all(|passed| set.iter().any(|site| passed.contains(site)))
    }

    fn attempt(&mut self, set: &[usize]) -> Result<Tried, Failure> {
        self.checks += 1;
        let fences = set.iter().flat_map(|&site| self.sites[site].edges.clone()).collect();
        let mut options = CheckOptions {
            memory: None,
            memory_bound: None,
            memory_split: false,
            plain: None,
            suggest_fences: false,
            ..self.options.clone()
        };
        options.source.options.memory = Some(MemoryOptions { fences, ..self.memory.clone() });
        let report = check(&options, self.files, self.stop, &mut Silent).result?;
        Ok(match report.verdict() {
            "holds" => Tried::Holds,
            // At places that have their fence another would change nothing.
            "violated" => {
                let passed = self.passed_by(&report);
                Tried::Violated(passed.into_iter().filter(|site| !set.contains(site)).collect())
            }
            _ => Tried::Unknown,
        })
    }

    /// The places that one counterexample passes. Without a run that could be followed, that is all of them.
    fn passed_by(&self, report: &Report) -> BTreeSet<usize> {
        let shown = report.properties.iter().flat_map(|property| property.verdict.violations()).next();
        let Some(shown) = shown else { return (0..self.sites.len()).collect() };
        let mut passed = BTreeSet::new();
        for step in shown.evidence.trail().steps.iter().filter_map(|step| step.info.as_ref()) {
            let here = |site: &Site| {
                (step.file.as_str(), step.line, step.column, step.process.as_str())
                    == (&*site.place.file, site.place.line, site.place.column, &*site.place.process)
            };
            passed.extend((0..self.sites.len()).filter(|&site| here(&self.sites[site])));
        }
        passed
    }
}

/// The next set of as many numbers below `n`, in order. False after the last.
fn next_set(set: &mut [usize], n: usize) -> bool {
    let size = set.len();
    for i in (0..size).rev() {
        if set[i] < n - size + i {
            set[i] += 1;
            for later in i + 1..size {
                set[later] = set[later - 1] + 1;
            }
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::next_set;

    #[test]
    fn all_sets_come_once_and_in_order() {
        let mut set = vec![0, 1];
        let mut seen = vec![set.clone()];
        while next_set(&mut set, 4) {
            seen.push(set.clone());
        }
        assert_eq!(seen, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert!(!next_set(&mut [0], 1));
    }
}
