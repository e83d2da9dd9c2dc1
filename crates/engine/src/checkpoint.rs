//! `--checkpoint FILE`, `--resume FILE`: a search for safety is written down while it runs, and goes on.
//!
//! What a search hands over is [`search::checkpoint`]'s; here it becomes a file that is whole whenever the
//! process ends ([`archive::journal`]), and a search again. States are written as they leave the process
//! ([`system::portable`]), by the workers that found them. What a search cannot go on with is refused before
//! it begins.

pub mod format;
pub mod told;

use crate::backend::Backend;
use crate::client::Client;
use crate::failure::Failure;
use crate::notice::Notice;
use crate::options::{CheckOptions, TABLE};
use crate::plan::Plan;
use crate::property::Selected;
use archive::block::Damage;
use archive::journal::{Journal as File, NoJournal, Position, Reading, framed};
use format::{BadStates, Decided, Gathered, HEADER, Header, MOMENT, PART, STATES};
use promela::diagnostic::Code;
use promela::ir::ProctypeId;
use search::ancestry::{Ancestry, Lengths};
use search::checkpoint::{FoundStates, Journal, Moment, SavedStates, Visit, can_go_on};
use search::{Keeping, Outcome, StopReason};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

/// The time between two checkpoints, unless another one is asked for.
const EVERY: Duration = Duration::from_secs(600);
/// Bytes of a block of a moment.
const MOST: usize = 1 << 24;

/// Options that change neither what is explored nor what is counted. (Stores: all that may be written down
/// are exact.)
const MAY_DIFFER: &[&str] = &[
    "property",
    "threads",
    "store",
    "timeout",
    "max-memory",
    "max-states",
    "checkpoint",
    "checkpoint-every",
    "resume",
    "trail",
    "report",
    "deterministic",
    "alone",
    "disk",
];

/// A checkpoint is about one safety property.
pub fn refuse_properties(plan: &Plan, selected: &[Selected]) -> Result<(), Failure> {
    let option = match &plan.options {
        options if options.resume.is_some() => "--resume",
        options if options.checkpoint.is_some() => "--checkpoint",
        _ => return Ok(()),
    };
    match selected {
        [only] if only.checks.is_some() => Ok(()),
        [_, _, ..] if selected.iter().all(|property| property.checks.is_some()) => {
            Err(Failure::refused_with(
                format!("{option} is about one search, and several properties are asked for"),
                "add --property safety, which is all of them",
            ))
        }
        _ => {
            let other = selected.iter().find(|property| property.checks.is_none());
            let name = other.map_or("this", |property| property.name.as_str());
            Err(Failure::refused_with(
                format!("{option} is for safety: the search for {name} cannot be continued yet"),
                format!("add --property safety, or leave {option} out"),
            ))
        }
    }
}

/// What a search of hours wrote, or anything else, goes only with who wants it to go: a checkpoint is written where
/// nothing is, or where the search comes from.
fn refuse_to_replace(path: &str, resumed: Option<&str>) -> Result<(), Failure> {
    let is_same = |other: &str| {
        fs::canonicalize(path).is_ok_and(|path| fs::canonicalize(other).is_ok_and(|other| other == path))
    };
    if !Path::new(path).exists() || resumed.is_some_and(is_same) {
        return Ok(());
    }
    let (what, repair) = match told::tell(path) {
        Ok(told) => {
            (told.brief(), format!("add --resume {path} to go on from it, or remove it to begin anew"))
        }
        Err(_) => {
            let what = "it is no checkpoint from which a search can go on".to_string();
            (what, "give another file name with --checkpoint, or remove the file".to_string())
        }
    };
    Err(Failure::refused_with(format!("--checkpoint {path} would replace what is there: {what}"), repair))
}

/// The options that must agree, as they were given.
fn deciding(options: &CheckOptions) -> Vec<(String, Vec<String>)> {
    let deciding = TABLE.iter().filter(|spec| !MAY_DIFFER.contains(&spec.name));
    let given = deciding.map(|spec| (spec.name.to_string(), spec.given(options)));
    given.filter(|(_, words)| !words.is_empty()).collect()
}

/// What a search was when it was written down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Resumed {
    /// States that were known.
    pub states: u64,
    /// Seconds that they took.
    pub seconds: f64,
}

/// A checkpoint from which the search can go on.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept {
    /// The file.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// States in it.
    pub states: u64,
}

/// How often a search rested to be written down, and for how long at most.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Pauses {
    /// How often.
    pub number: u64,
    /// The longest.
    pub longest: Duration,
}

/// A checkpoint that was read.
struct Read {
    path: PathBuf,
    header: Header,
    gathered: Gathered,
    position: Position,
    /// Why its states cannot be read again.
    trouble: Mutex<Option<String>>,
}

/// The file that is being written.
struct Writing {
    file: File,
    written: Vec<Lengths>,
    /// States in it.
    states: u64,
    pauses: Pauses,
}

/// Writes a search down, and reads where it was.
pub struct Keeper<'a> {
    /// Where it is written.
    path: Option<&'a str>,
    searched: &'a dyn Backend,
    header: Header,
    read: Option<Read>,
    every: Duration,
    started: Instant,
    /// When the next moment is due, in microseconds since the start.
    due: AtomicU64,
    writing: Mutex<Option<Writing>>,
    /// Why it cannot be written, the first of all reasons.
    trouble: Mutex<Option<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Keeper<'a> {
    /// For a search that has not begun, where it is to be written down or goes on.
    pub fn wanted(
        plan: &'a Plan,
        searched: &'a dyn Backend,
        property: &str,
        client: &mut dyn Client,
    ) -> Result<Option<Self>, Failure> {
        let options = &plan.options;
        if options.checkpoint.is_none() && options.resume.is_none() {
            return Ok(None);
        }
        let Some(portable) = searched.system().capabilities().portable else {
            return Err(Failure::refused("the states of this system cannot leave the process"));
        };
        let header = Header {
            version: crate::VERSION.to_string(),
            model: plan.source.path.clone(),
            property: property.to_string(),
            fingerprint: portable.fingerprint(),
            options: deciding(options),
            decided: Decided::AS_PLANNED,
        };
        let read = match &options.resume {
            Some(path) => {
                let read = Read::open(path)?;
                refuse_other(path, &read.header, &header)?;
                restore_coverage(searched, &read.gathered.covered);
                Some(read)
            }
            None => None,
        };
        if let Some(path) = &options.checkpoint {
            client.may_write("--checkpoint", path)?;
            refuse_to_replace(path, options.resume.as_deref())?;
            // What cannot be written after hours of search helps nobody.
            File::create(Path::new(path)).map_err(|error| {
                let repair = "give another file name with --checkpoint";
                Failure::unwritten(&format!("cannot write the checkpoint {path}"), &error, repair)
            })?;
        }
        let every = options.checkpoint_every.unwrap_or(EVERY);
        Ok(Some(Keeper {
            path: options.checkpoint.as_deref(),
            searched,
            header,
            read,
            every,
            started: Instant::now(),
            due: AtomicU64::new(micros(every)),
            writing: Mutex::new(None),
            trouble: Mutex::new(None),
        }))
    }

    /// Which search goes on.
    pub fn decided(&self) -> Option<Decided> {
        self.read.as_ref().map(|read| read.header.decided)
    }

    /// A search begins; what an earlier one wrote stays until there is something in its place. One that is to
    /// go on does, the first time.
    pub fn begin(&self, decided: Decided, goes_on: bool) -> Keeping<'_> {
        let resumed = self.read.as_ref().filter(|_| goes_on);
        let resumed = resumed.map(|read| (&read.gathered.saved, self as &dyn SavedStates));
        self.due.store(micros(self.started.elapsed() + self.every), Ordering::Relaxed);
        let Some(path) = self.path else { return Keeping { resumed, ..Keeping::NONE } };
        let begun = self.begin_file(Path::new(path), decided, goes_on);
        *locked(&self.writing) = begun.map_err(|error| self.is_in_trouble(&error)).ok();
        Keeping { journal: Some(self), resumed, disk: None }
    }

    fn begin_file(&self, path: &Path, decided: Decided, goes_on: bool) -> io::Result<Writing> {
        if let Some(read) = self.read.as_ref().filter(|_| goes_on) {
            let same = std::fs::canonicalize(path)
                .is_ok_and(|path| std::fs::canonicalize(&read.path).is_ok_and(|other| other == path));
            let file = match same {
                true => File::append_to(path, &read.position)?,
                false => File::copy_of(&read.path, &read.position, path)?,
            };
            let saved = &read.gathered.saved;
            let written = saved.ancestries.iter().map(Ancestry::lengths).collect();
            return Ok(Writing { file, written, states: saved.states(), pauses: Pauses::default() });
        }
        let mut file = File::create(path)?;
        file.append(framed(HEADER, &Header { decided, ..self.header.clone() }.write()))?;
        Ok(Writing { file, written: Vec::new(), states: 0, pauses: Pauses::default() })
    }

    fn is_in_trouble(&self, error: &dyn std::fmt::Display) {
        locked(&self.trouble).get_or_insert_with(|| error.to_string());
    }

    /// How long the search has taken, in all its parts.
    fn micros(&self) -> u64 {
        let before = self.read.as_ref().map_or(0, |read| read.gathered.micros);
        before + micros(self.started.elapsed())
    }

    /// The search is over. A checkpoint that nobody needs goes; else says what there is.
    pub fn finish(&self, outcome: &Outcome) -> Result<(Ended, Vec<Notice>), Failure> {
        let mut notices = Vec::new();
        let resumed = self.read.as_ref().map(|read| Resumed {
            states: read.gathered.saved.states(),
            seconds: read.gathered.micros as f64 / 1e6,
        });
        if let Some(read) = &self.read
            && let Some(why) = locked(&read.trouble).take()
        {
            return Err(Failure::refused_with(
                format!("{} cannot be resumed: {why}", read.path.display()),
                "use another checkpoint, or begin anew",
            ));
        }
        let trouble = locked(&self.trouble).take();
        let writing = locked(&self.writing).take();
        let path = self.path.unwrap_or_default();
        let goes_on = can_go_on(outcome.stop);
        let mut kept = None;
        let pauses = writing.as_ref().map(|writing| writing.pauses);
        if let Some(writing) = writing {
            if goes_on && writing.file.is_in_place() {
                let (bytes, states) = (writing.file.committed_bytes(), writing.states);
                kept = Some(Kept { file: path.to_string(), bytes, states });
            } else if let Err(error) = writing.file.remove() {
                let message =
                    format!("the checkpoint {path} is not needed any more and cannot be removed: {error}");
                notices.push(Notice::plain(Code::W0711, message, Some("remove it".to_string())));
            }
        } else if let (true, Some(read)) = (goes_on, &self.read) {
            // Nothing was written: where the search came from is still there.
            let (file, bytes) = (read.path.display().to_string(), read.position.bytes());
            kept = Some(Kept { file, bytes, states: read.gathered.saved.states() });
        }
        if let Some(why) = trouble {
            let (message, help) = unwritten(path, &why, kept.as_ref());
            notices.push(Notice::plain(Code::W0711, message, Some(help)));
        }
        Ok((Ended { resumed, kept, pauses }, notices))
    }

    fn write_moment(&self, moment: &Moment<'_>, writing: &mut Writing) -> Result<(), String> {
        let (micros, covered) = (self.micros(), coverage(self.searched));
        let bytes = format::write_moment(moment, &writing.written, micros, &covered)
            .map_err(|_| "what --disk keeps cannot be read back".to_string())?;
        writing.written = moment.ancestries.iter().map(|one| one.lengths()).collect();
        let mut parts = bytes.chunks(MOST).peekable();
        while let Some(part) = parts.next() {
            let kind = if parts.peek().is_some() { PART } else { MOMENT };
            self.add_block(kind, part, writing);
        }
        writing.file.commit().map_err(|error| error.to_string())?;
        writing.states = moment.ancestries.iter().map(|one| one.found_so_far()).sum();
        Ok(())
    }

    fn add_block(&self, kind: u8, bytes: &[u8], writing: &mut Writing) -> bool {
        let appended = writing.file.append(framed(kind, bytes));
        appended.map_err(|error| self.is_in_trouble(&error)).is_ok()
    }
}

/// How a search that was written down, or went on, has ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ended {
    /// Where it came from.
    pub resumed: Option<Resumed>,
    /// From where it can go on.
    pub kept: Option<Kept>,
    /// What that took, where it was written.
    pub pauses: Option<Pauses>,
}

/// What is told where a checkpoint could not be written.
fn unwritten(path: &str, why: &str, kept: Option<&Kept>) -> (String, String) {
    let message = format!("the checkpoint {path} could not be written at some time: {why}");
    let help = match kept {
        Some(Kept { states, .. }) => {
            format!("what is there is good: it has {states} states; make room on the disk")
        }
        None => "make room on the disk, or give another place with --checkpoint".to_string(),
    };
    (message, help)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Journal for Keeper<'_> {
    fn is_due(&self) -> bool {
        micros(self.started.elapsed()) >= self.due.load(Ordering::Relaxed)
    }

    fn add(&self, ancestry: usize, states: &FoundStates) {
        match format::write_states(self.searched.system(), ancestry, states) {
            Ok(bytes) => {
                let block = framed(STATES, &bytes);
                if let Some(writing) = &mut *locked(&self.writing) {
                    let appended = writing.file.append(block);
                    appended.map_err(|error| self.is_in_trouble(&error)).ok();
                }
            }
            Err(error) => {
                self.is_in_trouble(&error);
                // Without these states nothing that comes later is good.
                *locked(&self.writing) = None;
            }
        }
    }

    fn commit(&self, moment: &Moment<'_>) {
        let mut writing = locked(&self.writing);
        let began = Instant::now();
        if let Some(writing) = &mut *writing
            && let Err(why) = self.write_moment(moment, writing)
        {
            self.is_in_trouble(&why);
        }
        let took = began.elapsed();
        if let Some(Writing { pauses, .. }) = &mut *writing {
            *pauses = Pauses { number: pauses.number + 1, longest: pauses.longest.max(took) };
        }
        // A pause takes a twentieth of the time at most.
        let rest = self.every.max(took.saturating_mul(19));
        self.due.store(micros(self.started.elapsed() + rest), Ordering::Relaxed);
    }
}

impl SavedStates for Keeper<'_> {
    fn each(&self, visit: &mut Visit<'_>) -> Result<(), StopReason> {
        let Some(read) = &self.read else { return Ok(()) };
        read.states(self.searched.system(), visit).unwrap_or_else(|why| {
            *locked(&read.trouble) = Some(why);
            Err(StopReason::Interrupted)
        })
    }
}

impl Read {
    fn open(path: &str) -> Result<Self, Failure> {
        let refused = |why: String| {
            Failure::refused_with(
                format!("{path} cannot be resumed: {why}"),
                "give a file that --checkpoint wrote",
            )
        };
        let no_journal = |why| match why {
            NoJournal::Other => refused("it is not a checkpoint".to_string()),
            NoJournal::Damaged(damage) => refused(damage.to_string()),
        };
        let mut reading = Reading::open(Path::new(path)).map_err(no_journal)?;
        let (header, gathered) = gathered(&mut reading).map_err(|damage| refused(damage.to_string()))?;
        if !gathered.saved.is_consistent() {
            return Err(refused("its parts contradict each other".to_string()));
        }
        let (path, trouble) = (PathBuf::from(path), Mutex::new(None));
        Ok(Read { path, header, gathered, position: reading.position(), trouble })
    }

    fn states(
        &self,
        system: &dyn system::TransitionSystem,
        visit: &mut Visit<'_>,
    ) -> Result<Result<(), StopReason>, String> {
        let ancestries = &self.gathered.saved.ancestries;
        let mut seen = vec![0u64; ancestries.len()];
        let mut reading = Reading::open(&self.path).map_err(|_| "it was changed meanwhile".to_string())?;
        let mut states = FoundStates::default();
        while let Some(block) = reading.next_block().map_err(|damage| damage.to_string())? {
            if block.kind != STATES {
                continue;
            }
            let told = |damage: Damage| damage.to_string();
            let (ancestry, _) = format::head_of_states(&block.bytes).map_err(told)?;
            format::read_states(system, &block.bytes, &mut states).map_err(|why| match why {
                BadStates::Damage(damage) => damage.to_string(),
                BadStates::Portable(error) => error.to_string(),
            })?;
            // What was written after the last moment does not count.
            let Some(seen) = seen.get_mut(ancestry) else { continue };
            let most = ancestries[ancestry].found_so_far();
            for (state, annotation) in states.iter() {
                if *seen < most {
                    *seen += 1;
                    if let Err(stop) = visit(ancestry, state, annotation) {
                        return Ok(Err(stop));
                    }
                }
            }
        }
        let all = seen.iter().zip(ancestries).all(|(&seen, ancestry)| seen == ancestry.found_so_far());
        if all { Ok(Ok(())) } else { Err("states are missing in it".to_string()) }
    }
}

/// Header and moments of a journal, which is read to its end.
fn gathered(reading: &mut Reading) -> Result<(Header, Gathered), Damage> {
    let first = reading.next_block()?.filter(|block| block.kind == HEADER).ok_or(Damage::Altered)?;
    let header = Header::read(&first.bytes)?;
    let (mut gathered, mut parts) = (Gathered::default(), Vec::new());
    while let Some(block) = reading.next_block()? {
        match block.kind {
            STATES => {}
            PART => parts.extend_from_slice(&block.bytes),
            MOMENT => {
                parts.extend_from_slice(&block.bytes);
                gathered.add(&parts)?;
                parts.clear();
            }
            _ => return Err(Damage::Altered),
        }
    }
    if parts.is_empty() { Ok((header, gathered)) } else { Err(Damage::Truncated) }
}

/// Refuses the checkpoint of another check: says the first difference.
fn refuse_other(path: &str, found: &Header, own: &Header) -> Result<(), Failure> {
    let differs = |what: String, repair: &str| {
        Err(Failure::refused_with(format!("{path} cannot be resumed: {what}"), repair.to_string()))
    };
    if found.version != own.version {
        let what = format!("it was written by version {}, and this is {}", found.version, own.version);
        return differs(what, "use the version that wrote it, or begin anew");
    }
    let given = |words: &[String]| words.join(" ");
    let names = TABLE.iter().map(|spec| spec.name).filter(|name| !MAY_DIFFER.contains(name));
    for name in names {
        let of = |header: &Header| {
            header.options.iter().find(|(other, _)| other == name).map(|(_, words)| given(words))
        };
        let (then, now) = (of(found), of(own));
        if then != now {
            let with = |words: Option<String>| match words {
                Some(words) => format!("with --{name} {words}").trim_end().to_string(),
                None => format!("without --{name}"),
            };
            let what = format!("it was written {}, and this check is {}", with(then), with(now));
            return differs(
                what,
                "give the options that it was written with; threads, stores and budgets may differ",
            );
        }
    }
    if found.fingerprint != own.fingerprint {
        let what = format!("it is about another program ({})", found.model);
        return differs(what, "give the model, and the macros (-D), that it was written for");
    }
    if found.property != own.property {
        let what =
            format!("it is about the property {}, and this check about {}", found.property, own.property);
        return differs(what, "give the --property that it was written for");
    }
    Ok(())
}

/// Which edges were taken, by proctype.
fn coverage(searched: &dyn Backend) -> Vec<Vec<bool>> {
    let Some(interp) = searched.interp() else { return Vec::new() };
    let flags = |proctype| {
        let flags = interp.taken_flags(ProctypeId(proctype));
        flags.iter().map(|flag| flag.load(Ordering::Relaxed)).collect()
    };
    (0..interp.program().proctypes.len() as u32).map(flags).collect()
}

fn restore_coverage(searched: &dyn Backend, covered: &[Vec<bool>]) {
    let Some(interp) = searched.interp() else { return };
    let proctypes = interp.program().proctypes.len();
    for (proctype, covered) in covered.iter().take(proctypes).enumerate() {
        let flags = interp.taken_flags(ProctypeId(proctype as u32));
        for (flag, _) in flags.iter().zip(covered).filter(|&(_, &covered)| covered) {
            flag.store(true, Ordering::Relaxed);
        }
    }
}
