//! Runs all checks of a suite, several at a time, and tells about each in the order of the models.
//!
//! Each check runs on a thread of its own: a panic or an internal error is one failed check. The memory limit
//! is one of the whole process, so checks that run side by side share it.

use super::configure::configure;
use super::directive::{self, Check};
use super::expect::Expectation;
use super::find;
use super::judge::judge;
use super::report::{CaseReport, Finding, Status, SuiteReport};
use crate::client::{Client, Kept};
use crate::command_line::check_command;
use crate::failure::Failure;
use crate::files::Disk;
use crate::isolate::isolated;
use crate::options::{CheckOptions, StoreKind};
use crate::plan::Plan;
use crate::saving::RealStorage;
use crate::trails::{self, TrailFiles};
use promela::source::Files;
use search::{Flow, MemoryAccount, Observer, Snapshot};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;
use stop::Stop;
use trace::Evidence;

/// Reads the options that a model states for a check: model and words to options, or what is wrong.
pub type ReadOptions<'a> = dyn Fn(&str, &[String]) -> Result<CheckOptions, String> + Sync + 'a;

/// What to test, and how.
pub struct Request<'a> {
    /// Files and folders.
    pub paths: Vec<String>,
    /// Options for all checks, stronger than the models' own.
    pub options: CheckOptions,
    /// What nobody asks for is left to the tool, instead of being the reference configuration.
    pub defaults: bool,
    /// Only checks whose name contains this.
    pub filter: Option<String>,
    /// Checks that run at a time.
    pub jobs: usize,
    /// Begin no check after one has failed.
    pub fail_fast: bool,
    /// Where trails are kept.
    pub keep_trails: Option<String>,
    /// Reads the options of a directive.
    pub read_options: &'a ReadOptions<'a>,
}

/// One check to run, or what is to be said without running anything.
enum Case {
    Run(Box<Runnable>),
    Said(CaseReport),
}

struct Runnable {
    report: CaseReport,
    expect: Expectation,
    words: Vec<String>,
    property: String,
    /// Counted from 1, in its model.
    number: usize,
    /// Where its model states it.
    line: usize,
}

impl Case {
    fn report(&self) -> &CaseReport {
        match self {
            Case::Run(runnable) => &runnable.report,
            Case::Said(report) => report,
        }
    }
}

/// Tests all models; `told` hears of each check as soon as all before it are done.
pub fn run(
    request: &Request<'_>,
    stop: &Stop,
    told: &mut dyn FnMut(&CaseReport),
) -> Result<SuiteReport, Failure> {
    let started = Instant::now();
    refuse_options(request)?;
    let models = find::models(&request.paths)?;
    if models.is_empty() {
        return Err(Failure::refused_with(
            format!("there is no model in {}", request.paths.join(", ")),
            "models end in .pml, .prm, .promela or .pr",
        ));
    }
    let mut cases: Vec<Case> = models.iter().flat_map(|model| cases(model)).collect();
    if let Some(filter) = &request.filter {
        cases.retain(|case| case.report().name().contains(filter.as_str()));
        if cases.is_empty() {
            return Err(Failure::refused(format!("--filter {filter}: no check has this in its name")));
        }
    }
    let folder = request.keep_trails.as_deref().map(TrailFolder::new).transpose()?;
    let work = Work { request, stop, folder };
    let cases = work.all(cases, told);
    let interrupted = stop.is_asked();
    Ok(SuiteReport { cases, interrupted, time: started.elapsed() })
}

/// Options that no check could take are a mistake of the command line, not of the models.
fn refuse_options(request: &Request<'_>) -> Result<(), Failure> {
    Plan::new(&request.options).map(drop)
}

/// How many checks run at a time: a bit array takes all the memory that it is given, so it cannot share.
fn jobs(request: &Request<'_>) -> usize {
    let whole = request.options.store == Some(StoreKind::Bitstate) && request.options.max_memory.is_some();
    if whole { 1 } else { request.jobs.max(1) }
}

/// The checks that a model states.
fn cases(model: &str) -> Vec<Case> {
    let said = |line, status, reasons| {
        let report = CaseReport { reasons, ..CaseReport::new(model, "", line, status) };
        vec![Case::Said(report)]
    };
    let text = match Disk.read(model) {
        Ok(text) => text,
        Err(error) => return said(1, Status::Failed, vec![format!("it cannot be read: {error}")]),
    };
    let directives = match directive::parse(&text) {
        Ok(directives) => directives,
        Err(mistakes) => {
            let first = mistakes.first().map_or(1, |m| m.line);
            let reasons = mistakes.iter().map(|m| format!("{model}:{}: {}", m.line, m.message)).collect();
            let findings = mistakes.iter().map(|m| Finding::directive(model, m.line, &m.message)).collect();
            let report = CaseReport::new(model, "", first, Status::Failed);
            return vec![Case::Said(CaseReport { reasons, findings, ..report })];
        }
    };
    if directives.checks.is_empty() {
        return said(1, Status::Skipped, vec!["no expectation".to_string()]);
    }
    let case = |(i, check): (usize, &Check)| {
        let own = check.options.iter().map(|word| crate::command_line::quoted(word));
        let name = std::iter::once(check.property.clone()).chain(own).collect::<Vec<String>>().join(" ");
        let report = |line| CaseReport::new(model, &name, line, Status::NotRun);
        match &check.expect {
            None => {
                let reasons = vec!["no expectation".to_string()];
                Case::Said(CaseReport { status: Status::Skipped, reasons, ..report(check.line) })
            }
            Some((expect, line)) => Case::Run(Box::new(Runnable {
                report: CaseReport { expected: expect.to_string(), ..report(*line) },
                expect: expect.clone(),
                words: directives.options_of(check),
                property: check.property.clone(),
                number: i + 1,
                line: check.line,
            })),
        }
    };
    directives.checks.iter().enumerate().map(case).collect()
}

struct Work<'a> {
    request: &'a Request<'a>,
    stop: &'a Stop,
    folder: Option<TrailFolder>,
}

impl Work<'_> {
    /// Workers take the next case, whichever it is; reports are put in order again here.
    fn all(&self, cases: Vec<Case>, told: &mut dyn FnMut(&CaseReport)) -> Vec<CaseReport> {
        let (next, halt) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        let (cases, next, halt) = (&cases, &next, &halt);
        std::thread::scope(|scope| {
            for _ in 0..jobs(self.request).min(cases.len()) {
                let sender = sender.clone();
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(index) else { return };
                        let report = self.one(case, halt);
                        if report.status == Status::Failed && self.request.fail_fast {
                            halt.store(true, Ordering::Relaxed);
                        }
                        if sender.send((index, report)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            in_order(&receiver, told)
        })
    }

    fn one(&self, case: &Case, halt: &AtomicBool) -> CaseReport {
        let runnable = match case {
            Case::Said(report) => return report.clone(),
            Case::Run(runnable) => runnable,
        };
        let mut report = runnable.report.clone();
        if self.stop.is_asked() {
            report.reasons.push("interrupted".to_string());
            return report;
        }
        if halt.load(Ordering::Relaxed) {
            report.reasons.push("a check has failed before".to_string());
            return report;
        }
        let started = Instant::now();
        let mut report = isolated(|| self.check(runnable)).unwrap_or_else(|failure| {
            report.status = Status::Failed;
            report.internal = true;
            report.reasons.extend(failure.notice().map(|notice| notice.message));
            report
        });
        report.time = started.elapsed();
        report
    }

    fn check(&self, runnable: &Runnable) -> CaseReport {
        let mut report = runnable.report.clone();
        let mut own = match (self.request.read_options)(&report.model, &runnable.words) {
            Ok(own) => own,
            Err(message) => {
                report.status = Status::Failed;
                report.reasons.push(format!("{}:{}: {message}", report.model, runnable.line));
                report.findings.push(Finding::directive(&report.model, runnable.line, &message));
                return report;
            }
        };
        own.properties = vec![runnable.property.clone()];
        let how = configure(&own, &self.request.options, self.request.defaults, &runnable.expect);
        report.command = check_command(&how.options);
        let files =
            self.folder.as_ref().map(|folder| folder.files(&report.model, runnable.number)).transpose();
        let mut client = match files {
            Ok(files) => CheckClient { files },
            Err(message) => {
                report.status = Status::Failed;
                report.reasons.push(message);
                return report;
            }
        };
        let answer = crate::check(&how.options, &Disk, self.stop, &mut client);
        judge(&mut report, &runnable.expect, &answer, &how);
        report.trail = answer.result.as_ref().ok().and_then(first_trail);
        report
    }
}

/// The file that holds the first violation.
fn first_trail(report: &crate::Report) -> Option<String> {
    let mut violations = report.properties.iter().flat_map(|property| property.verdict.violations());
    violations.next().and_then(|shown| shown.kept.file().map(str::to_string))
}

/// Hands reports on in the order of their numbers.
fn in_order(
    receiver: &mpsc::Receiver<(usize, CaseReport)>,
    told: &mut dyn FnMut(&CaseReport),
) -> Vec<CaseReport> {
    let (mut done, mut waiting) = (Vec::new(), BTreeMap::new());
    for (index, report) in receiver {
        waiting.insert(index, report);
        while let Some(report) = waiting.remove(&done.len()) {
            told(&report);
            done.push(report);
        }
    }
    done
}

/// The folder in which trails are kept.
struct TrailFolder(PathBuf);

impl TrailFolder {
    fn new(folder: &str) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::refused_with(
                format!("trails cannot be written to {folder}: {error}"),
                "give another folder with --keep-trails",
            )
        })?;
        Ok(TrailFolder(PathBuf::from(folder)))
    }

    /// The files of a check; below the folder the models' folders are repeated.
    fn files(&self, model: &str, number: usize) -> Result<TrailFiles<'static>, String> {
        let path = Path::new(model);
        let inner: PathBuf = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let name = match number {
            1 => inner.to_string_lossy().into_owned(),
            n => format!("{}.check{n}", inner.to_string_lossy()),
        };
        let place = self.0.join(trails::default_name(&name));
        let unwritable = |why: String| format!("the trail cannot be written to {}: {why}", place.display());
        place
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .map_err(|error| unwritable(error.to_string()))?;
        TrailFiles::new(&place.to_string_lossy(), &RealStorage)
            .map_err(|failure| unwritable(failure.notice().map_or_else(String::new, |notice| notice.message)))
    }
}

/// The client of the checks of a suite. Those that run side by side share the memory of the process.
struct CheckClient {
    files: Option<TrailFiles<'static>>,
}

impl Observer for CheckClient {
    fn progress(&mut self, _snapshot: &Snapshot) -> Flow {
        Flow::Continue
    }
}

impl Client for CheckClient {
    fn counterexample(&mut self, evidence: &Evidence) -> Kept {
        self.files.as_mut().map_or(Kept::InReport, |files| files.keep(evidence))
    }

    fn memory_account(&self) -> MemoryAccount {
        MemoryAccount::Process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_failed_check() {
        let folder = std::env::temp_dir().join(format!("spinor-suite-panic-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("made");
        for name in ["a.pml", "b.pml"] {
            let model = "//@ expect: verdict=holds\nactive proctype p() { skip }\n";
            std::fs::write(folder.join(name), model).expect("written");
        }
        let read_options = |model: &str, _: &[String]| {
            assert!(!model.ends_with("a.pml"), "no luck with this one");
            let source = crate::Source { path: model.to_string(), ..crate::Source::default() };
            Ok(CheckOptions { source, ..CheckOptions::default() })
        };
        let request = Request {
            paths: vec![folder.to_string_lossy().into_owned()],
            options: CheckOptions::default(),
            defaults: false,
            filter: None,
            jobs: 2,
            fail_fast: false,
            keep_trails: None,
            read_options: &read_options,
        };
        let suite = run(&request, &Stop::never(), &mut |_| ()).expect("a suite");
        let statuses: Vec<Status> = suite.cases.iter().map(|case| case.status).collect();
        assert_eq!(statuses, [Status::Failed, Status::Passed]);
        assert!(suite.cases[0].internal && suite.cases[0].reasons[0].contains("no luck with this one"));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
