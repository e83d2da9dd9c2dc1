//! A memory system: the text of its designer, and what the tool reads off it.
//!
//! It is a Promela file that defines, for the constants `NP` (processors) and `NA` (addresses) given by the
//! tool, the inlines `mem_start()`, `mem_write(p, a, v)`, `mem_read(p, a, v)` and perhaps `mem_fence(p)`; or,
//! for systems that answer out of order, `mem_issue(p, tag, op, a, v)` and `mem_reply(p, tag, v)`. The macro
//! `mem_quiet` says that nothing is in flight, `ORDER(a, v)` that a write takes its place, `MEM_BOUND` is the
//! size of its buffers.

use crate::builtin;
use crate::interface::{self, Interface};
use engine::{Answer, Failure, Notice, Session, Source, Stop};
use promela::source::{Files, NO_SUCH_FILE};
use std::path::Path;
use std::sync::Arc;

/// A memory system that was read and can be tested.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    /// Its path, or the name of a built-in one.
    pub name: String,
    /// The path without its ending: the beginning of the names of composed models.
    pub stem: String,
    /// Its text, with the files that it includes.
    pub text: String,
    /// For every line of the text the file and the line that it comes from.
    pub places: Arc<[Place]>,
    /// Definitions of the command line, as directives.
    pub definitions: String,
    /// What it offers.
    pub interface: Interface,
}

/// A line of a file.
pub type Place = (Arc<str>, u32);

/// Files that are made here, before those of the disk.
pub struct Made<'a> {
    /// Names and texts.
    pub made: Vec<(String, String)>,
    /// Everything else.
    pub files: &'a (dyn Files + Sync),
}

impl Files for Made<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        match self.made.iter().find(|(name, _)| name == path) {
            Some((_, text)) => Ok(text.clone()),
            None => self.files.read(path),
        }
    }
}

impl MemorySystem {
    /// Reads a system from a file and looks at its interface. What is wrong with it is in the notices.
    pub fn load(source: &Source, files: &(dyn Files + Sync), stop: &Stop) -> Answer<MemorySystem> {
        let stem = source.path.strip_suffix(".pml").unwrap_or(&source.path).to_string();
        read(source, stem, files, stop)
    }

    /// A system that comes with the tool.
    pub fn built_in(name: &str, source: &Source, stop: &Stop) -> Answer<MemorySystem> {
        if builtin::system(name).is_none() {
            let repair = engine::options::one_of(name, builtin::names());
            return Answer::failed(Failure::refused_with(
                format!("there is no built-in system {name:?}"),
                repair,
            ));
        }
        let path = format!("{name}.pml");
        // Some include others.
        let made = builtin::ALL.iter().map(|one| (format!("{}.pml", one.name), one.text.to_string()));
        let made = Made { made: made.collect(), files: &Nothing };
        let source = Source { path, ..source.clone() };
        let mut answer = read(&source, name.to_string(), &made, stop);
        if let Ok(system) = &mut answer.result {
            system.name = name.to_string();
        }
        answer
    }
}

/// A disk without files.
struct Nothing;

impl Files for Nothing {
    fn read(&self, _: &str) -> Result<String, String> {
        Err(NO_SUCH_FILE.to_string())
    }
}

fn read(source: &Source, stem: String, files: &(dyn Files + Sync), stop: &Stop) -> Answer<MemorySystem> {
    let mut places = Vec::new();
    let text = match files.read(&source.path) {
        Ok(text) => pasted(&source.path, &text, files, (0, &mut places)),
        Err(why) => {
            let message = format!("cannot read {}: {why}", source.path);
            let repair =
                format!("give a file, or a built-in system with --system: {}", builtin::names().join(", "));
            return Answer::failed(Failure::refused_with(message, repair));
        }
    };
    let mut notices = Vec::new();
    let result = definitions(source).and_then(|definitions| {
        let looked = stop::attempt(|| interface::of(source, files, stop, &mut notices));
        let interface = looked.unwrap_or_else(|cause| Err(Failure::Stopped(cause)))?;
        let name = source.path.clone();
        Ok(MemorySystem { name, stem, text, places: places.into(), definitions, interface })
    });
    Answer { notices, result }
}

/// How deep files may include each other.
const DEEPEST: usize = 16;
/// Lines of a text; beyond it nothing more is pasted. The front end tells of files that include each other without end.
const MOST_LINES: usize = 1 << 18;

/// The text with the files that it includes in their places, so that a composed model is one file; the places
/// of its lines are appended.
fn pasted(path: &str, text: &str, files: &dyn Files, (depth, places): (usize, &mut Vec<Place>)) -> String {
    let mut out = String::new();
    let file: Arc<str> = path.into();
    for (number, line) in (1..).zip(text.lines()) {
        let named = line.trim_start().strip_prefix("#include").map(str::trim).and_then(|rest| {
            let name = rest.strip_prefix('"')?.split('"').next()?;
            let beside = Path::new(path).parent().unwrap_or(Path::new("")).join(name);
            let beside = beside.to_string_lossy().into_owned();
            files.read(&beside).ok().map(|text| (beside, text))
        });
        match named {
            Some((path, text)) if depth < DEEPEST && places.len() < MOST_LINES => {
                out += &pasted(&path, &text, files, (depth + 1, &mut *places));
            }
            _ => {
                places.push((file.clone(), number));
                out += line;
                out.push('\n');
            }
        }
    }
    out
}

/// Constants that the tool gives, and the options that change them.
const GIVEN: [(&str, &str); 2] = [("NP", "--cpus"), ("NA", "--addresses")];

/// `-D` and `-U` as directives. Composed models are one file, so other folders cannot be searched.
fn definitions(source: &Source) -> Result<String, Failure> {
    let mut out = String::new();
    for word in &source.options.preprocessor {
        if let Some(define) = word.strip_prefix("-D") {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            if let Some((_, option)) = GIVEN.iter().find(|(given, _)| *given == name) {
                return Err(Failure::refused_with(
                    format!("-D {define} is not taken: {name} is what a test needs"),
                    format!("use {option} to have more"),
                ));
            }
            out += &format!("#define {name} {value}\n");
        } else if let Some(name) = word.strip_prefix("-U") {
            out += &format!("#undef {name}\n");
        } else {
            return Err(Failure::refused_with(
                format!("{word} is not taken: a composed model is one file"),
                "include files by their path from the system's file",
            ));
        }
    }
    Ok(out)
}

/// Reads a composed text as a model, with a formula of branching time if it is asked about one.
pub(crate) fn session(path: &str, text: &str, formula: Option<String>, stop: &Stop) -> Answer<Session> {
    let made = Made { made: vec![(path.to_string(), text.to_string())], files: &Nothing };
    let mut source = Source { path: path.to_string(), ..Source::default() };
    source.options.ctl = formula;
    let mut answer = Session::open(&source, &made, stop);
    answer.notices.retain(Notice::is_error);
    answer
}
