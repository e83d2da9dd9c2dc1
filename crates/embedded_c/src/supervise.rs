//! The process beside the one that runs C: it starts it, watches it, and knows what it was doing when it ended.
//!
//! A call that ends the process, or does not come back, is noted by its key; then the work is begun again, and
//! the machine finds the call known and tells a run-time error in its place, with a path to it that can be
//! replayed. So whatever C does, the answer is made by the same code as any other.

use crate::compile::Folder;
use crate::limits;
use crate::page::{Cause, MOST, Page, VARIABLE};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often the process is looked at.
const PAUSE: Duration = Duration::from_millis(20);
/// A process that was asked to stop is asked again after this time.
const PATIENCE: Duration = Duration::from_secs(2);
/// What a call may need, in time of a processor and by the clock.
const MOST_SECONDS: u32 = 5;
const MOST_SECONDS_WAITING: u32 = 60;

/// What came of the work.
#[derive(Debug)]
pub enum Ended {
    /// It was done; its exit status.
    Done(u8),
    /// Its process ended outside of any call, or too many calls ended it.
    Lost {
        /// What happened.
        what: String,
        /// The place of the piece that was called last.
        place: Option<String>,
    },
}

/// What stops the work.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The signal that is passed on.
    pub signal: i32,
    /// Whether the process has had it by itself, as everything on a terminal has Ctrl-C.
    pub heard: bool,
}

/// A supervisor.
#[derive(Debug)]
pub struct Supervisor {
    page: Page,
    /// The memory that the process may use while C runs.
    most_memory: Option<u64>,
    folder: Folder,
}

/// Whether this process is supervised.
pub fn is_supervised() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Tells the supervisor, if there is one, that all work is done.
pub fn done(status: u8) {
    if let Ok(Some(page)) = Page::of_environment() {
        page.done(status);
    }
}

impl Supervisor {
    /// A supervisor for processes that use at most so much memory while C runs.
    pub fn new(most_memory: Option<u64>) -> io::Result<Supervisor> {
        let folder = Folder::new()?;
        Ok(Supervisor { page: Page::create(folder.path())?, most_memory, folder })
    }

    /// A folder for what belongs to the work, which goes with the supervisor.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Lets a process do the work, and (`again`) another one where a call of C has ended it, and so on.
    pub fn run(
        &self,
        command: &mut dyn FnMut() -> Command,
        asked: &dyn Fn() -> Option<Asked>,
        again: bool,
    ) -> io::Result<Ended> {
        loop {
            let mut child = command().env(VARIABLE, self.page.path()).spawn()?;
            let (status, cause) = self.watch(&mut child, asked)?;
            let lost = |what: String| Ended::Lost { what, place: self.page.place() };
            if let Some(status) = self.page.status() {
                return Ok(Ended::Done(status));
            }
            if asked().is_some() {
                return Ok(lost("it was interrupted".to_string()));
            }
            let cause = cause.unwrap_or_else(|| cause_of(status));
            if self.page.call().is_none() {
                return Ok(lost(format!("embedded C {}, after it was called", cause.told())));
            }
            if !again {
                return Ok(lost(format!("embedded C {}", cause.told())));
            }
            if !self.page.blame(cause) {
                return Ok(lost(format!(
                    "calls of embedded C ended {MOST} processes, the last one: it {}",
                    cause.told()
                )));
            }
        }
    }

    /// Waits for the end of the process; ends it where a call takes too much.
    fn watch(
        &self,
        child: &mut Child,
        asked: &dyn Fn() -> Option<Asked>,
    ) -> io::Result<(ExitStatus, Option<Cause>)> {
        let (mut call, mut cause) = (None, None);
        let mut told: Option<Instant> = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok((status, cause));
            }
            if let Some(asked) = asked() {
                let begun = *told.get_or_insert_with(|| match asked.heard {
                    true => Instant::now(),
                    false => Instant::now().checked_sub(PATIENCE).unwrap_or_else(Instant::now),
                });
                if begun.elapsed() >= PATIENCE {
                    limits::send(child.id(), asked.signal);
                    told = Some(Instant::now() + 1000 * PATIENCE);
                }
            }
            let now = self.page.call();
            if now != call.as_ref().map(|(number, ..): &(u64, Instant, f64)| *number) {
                call =
                    now.map(|number| (number, Instant::now(), processor_seconds(child.id()).unwrap_or(0.0)));
            }
            if let (None, Some((_, since, before))) = (cause, call) {
                cause = self.exceeded(child.id(), since, before);
                if cause.is_some() {
                    child.kill()?;
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// What a call has too much of.
    fn exceeded(&self, pid: u32, since: Instant, before: f64) -> Option<Cause> {
        let waited = since.elapsed().as_secs_f64();
        // On a busy machine time passes without anything being computed.
        let computed = processor_seconds(pid).map_or(waited, |now| now - before);
        if computed >= f64::from(MOST_SECONDS) {
            return Some(Cause::Endless(MOST_SECONDS));
        }
        if waited >= f64::from(MOST_SECONDS_WAITING) {
            return Some(Cause::Endless(MOST_SECONDS_WAITING));
        }
        let most = self.most_memory?;
        let used = resident_bytes(pid)?;
        (used > most).then_some(Cause::Memory((most >> 20) as u32))
    }
}

#[cfg(unix)]
fn cause_of(status: ExitStatus) -> Cause {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(signal) => Cause::Signal(signal as u32),
        None => Cause::Exit(status.code().unwrap_or(0) as u32),
    }
}

#[cfg(not(unix))]
fn cause_of(status: ExitStatus) -> Cause {
    Cause::Exit(status.code().unwrap_or(0) as u32)
}

/// The time of processors that a process has used, where the system tells (in hundredths of a second).
fn processor_seconds(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let (user, system) = (fields.next()?.parse::<f64>().ok()?, fields.next()?.parse::<f64>().ok()?);
    Some((user + system) / 100.0)
}

/// The memory that a process has, where the system tells.
fn resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}
