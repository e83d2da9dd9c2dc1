//! A model's text to a program and a machine: all that is known here of the front end.

use crate::backend::{Machine, ProgramBackend};
use crate::embedded;
use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::notice::Notice;
use crate::options::{Exec, Source, one_of};
use crate::plan::Promises;
use crate::property::Inventory;
use crate::weak_memory::{self, WeakMemory};
use crate::with_formula::{self, FORMULAS, WithFormula};
use jit::Jit;
use machine::Interp;
use machine::opt::Reductions;
use promela::ast::Unit;
use promela::diagnostic::{Code, Diagnostic, Severity, has_errors};
use promela::ir::{Base, Expr, ExprKind, Program};
use promela::parse::Dialect;
use promela::preprocess::Options;
use promela::source::{Files, SourceMap};
use promela::{lint, lower, parse, preprocess};
use reduce::promise::worth_relying_on;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stop::Stop;
use trace::ModelOptions;

/// A model that was read: the beginning of any number of checks. Clones are cheap and share the text and the
/// program.
#[derive(Clone, Debug)]
pub struct Session {
    /// Where it came from, and how it was read.
    pub source: Source,
    /// Its files.
    pub sources: Arc<SourceMap>,
    /// What there is to tell the author.
    pub notices: Vec<Notice>,
    /// The program, unless there are errors.
    pub program: Option<Arc<Program>>,
    /// How long it took.
    pub time: Duration,
    /// When to give up what is done with it.
    pub stop: Stop,
    /// The store buffers that it was read with.
    pub memory: Option<Arc<WeakMemory>>,
}

impl Session {
    /// Reads a model. The error is about the options; what is wrong with the model is in the notices. Reading
    /// it, and all that is made of it, is given up when it is to `stop`.
    pub fn load(source: &Source, files: &dyn Files, stop: &Stop) -> Result<Session, Failure> {
        Session::load_with_syntax(source, files, stop).map(|(session, _)| session)
    }

    /// Reads a model that can be executed, on a stack that is deep enough for any; what is wrong with it is
    /// in the notices.
    pub fn open(source: &Source, files: &(dyn Files + Sync), stop: &Stop) -> Answer<Session> {
        let read = || match Session::load(source, files, stop) {
            Ok(session) if session.program.is_none() => {
                Answer { notices: session.notices, result: Err(Failure::Model) }
            }
            result => Answer { notices: Vec::new(), result },
        };
        isolated(read).unwrap_or_else(Answer::failed)
    }

    /// Reads a model and keeps the syntax tree, which is empty when the preprocessor found errors.
    pub fn load_with_syntax(
        source: &Source,
        files: &dyn Files,
        stop: &Stop,
    ) -> Result<(Session, Unit), Failure> {
        let started = Instant::now();
        let dialect = dialect(&source.options.dialect)?;
        let options = reading_options(source, dialect)?;
        let mut sources = SourceMap::obeying(stop);
        // A model that cannot be read is said to be so, formula or not.
        let readable = !with_formula::has_formulas(&source.options) || files.read(&source.path).is_ok();
        let with_formula = if readable { WithFormula::new(source, files)? } else { None };
        let root = with_formula.as_ref().map_or(source.path.as_str(), |_| FORMULAS);
        let files = with_formula.as_ref().map_or(files, |with| with as &dyn Files);
        let (unit, mut program, mut diagnostics) =
            front_end(root, files, &options, (dialect, &source.options), &mut sources);
        if let Some(program) = &mut program {
            program.name.clone_from(&source.path);
        }
        diagnostics.sort_by_key(|d| (sources.site(d.span()).file, sources.site(d.span()).start));
        let sources = Arc::new(sources);
        let mut notices: Vec<Notice> =
            diagnostics.iter().map(|d| Notice::from_diagnostic(d, &sources)).collect();
        let mut program = program.filter(|_| !has_errors(&diagnostics));
        if let Some(program) = &program {
            verify(program)?;
        }
        if let Some(c) = program.as_mut() {
            match embedded::prepare(c, source, &sources)? {
                None => verify(c)?,
                Some(error) => {
                    notices.push(Notice::from_diagnostic(&error, &sources));
                    program = None;
                }
            }
        }
        if let Some(program) = program.as_mut().filter(|_| source.options.lossy_channels) {
            lose_messages(program)?;
        }
        let mut memory = None;
        if let (Some(options), Some(program)) = (&source.options.memory, &mut program) {
            let (made, told, more) = weak_memory::switch(program, options, &sources)?;
            verify(&made)?;
            (*program, memory) = (made, Some(Arc::new(told)));
            notices.extend(more);
        }
        let program = program.map(Arc::new);
        let (source, time, stop) = (source.clone(), started.elapsed(), stop.clone());
        Ok((Session { source, sources, notices, program, time, stop, memory }, unit))
    }

    /// The same model for a check that obeys `stop` and asks for the formula of `source`. With another
    /// formula than before the front end reads the text of the session once more.
    pub fn for_formula(&self, source: &Source, stop: &Stop) -> Result<Session, Failure> {
        match source.options == self.source.options {
            true => Ok(Session { stop: stop.clone(), ..self.clone() }),
            false => Session::load(source, &*self.sources, stop),
        }
    }

    /// The names of the files that make up the model.
    pub fn file_names(&self) -> Vec<&str> {
        self.sources.files().iter().map(|file| file.name.as_str()).collect()
    }

    /// The program, or the failure that says that there is none.
    pub fn program(&self) -> Result<&Arc<Program>, Failure> {
        self.program.as_ref().ok_or(Failure::Model)
    }

    /// The machine that executes the program.
    pub fn machine(&self) -> Result<Interp, Failure> {
        self.machine_for(Arc::clone(self.program()?))
    }

    fn machine_for(&self, program: Arc<Program>) -> Result<Interp, Failure> {
        let sources = Arc::clone(&self.sources);
        let machine = Interp::new(program, move |span| sources.location(span));
        machine
            .map(|machine| machine.obeying(&self.stop))
            .map_err(|why| Failure::Internal(format!("the program cannot be executed: {why}")))
    }

    /// What is searched: what the static reductions leave of the program, as native code or in the reference
    /// machine. Its actions are those of [`Session::machine`]. It is made to tell the sets of propositions.
    pub fn searched(
        &self,
        reductions: Reductions,
        exec: Exec,
        propositions: &[Vec<Expr>],
    ) -> Result<ProgramBackend, Failure> {
        self.searched_relying(reductions, exec, propositions, Promises::NotReliedOn)
    }

    /// The backend for a reduction that relies on promises.
    pub fn searched_relying(
        &self,
        reductions: Reductions,
        exec: Exec,
        propositions: &[Vec<Expr>],
        promises: Promises,
    ) -> Result<ProgramBackend, Failure> {
        let mut program = self.reduced(reductions, !propositions.is_empty())?;
        let relied_on = match promises {
            Promises::NotReliedOn => Vec::new(),
            Promises::Checked | Promises::Trusted => worth_relying_on(&program),
        };
        for &promise in relied_on.iter().filter(|_| promises == Promises::Checked) {
            program.promises[promise].checked = true;
        }
        let program = Arc::new(program);
        let propositions = propositions.to_vec();
        if exec == Exec::Interp {
            let machine = self.machine_for(program)?.watched(propositions);
            return Ok(ProgramBackend {
                machine: Machine::Interp(machine),
                relied_on,
                stop: self.stop.clone(),
            });
        }
        let sources = Arc::clone(&self.sources);
        let machine = Jit::watched(program, propositions, move |span| sources.location(span), &self.stop);
        machine
            .map(|machine| ProgramBackend {
                machine: Machine::Jit(machine),
                relied_on,
                stop: self.stop.clone(),
            })
            .map_err(|why| Failure::Internal(format!("the program cannot be compiled: {why}")))
    }

    /// The machine in which what a search found is shown to be so. It tells broken promises, too.
    pub fn judge(&self) -> Result<Interp, Failure> {
        let mut program = Program::clone(self.program()?);
        for promise in &mut program.promises {
            promise.checked =
                matches!(&promise.chan.kind, ExprKind::Load(place) if place.base == Base::Global);
        }
        self.machine_for(Arc::new(program))
    }

    /// The reference machine without values that nobody will ever look at.
    pub fn essence(&self) -> Result<Interp, Failure> {
        let reductions = Reductions { dead_variables: true, fold: true, merge: false };
        self.machine_for(Arc::new(self.reduced(reductions, true)?))
    }

    fn reduced(&self, reductions: Reductions, for_runs: bool) -> Result<Program, Failure> {
        let mut program = Program::clone(self.program()?);
        match for_runs {
            true => machine::opt::reduce_for_runs(&mut program, reductions),
            false => machine::opt::reduce(&mut program, reductions),
        }
        verify(&program)?;
        Ok(program)
    }

    /// The properties that the program states.
    pub fn inventory(&self) -> Result<Inventory, Failure> {
        Ok(Inventory::of(self.program()?))
    }

    /// The text of a line, where its number is the file's own and not one that a `#line` gave it.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let file = self.sources.files().iter().find(|f| f.name == file && f.line_marks.is_empty())?;
        file.text.lines().nth(line.checked_sub(1)? as usize).map(str::to_string)
    }

    /// Tells whether the model is the same as that of a trail. Formulas of the command line are among the
    /// options of a trail; the text that states them says where the model is, and that is no part of it.
    pub fn fingerprint(&self) -> u64 {
        let of_the_model = self.sources.files().iter().filter(|file| file.name != FORMULAS);
        trace::fingerprint(of_the_model.map(|file| &*file.text))
    }
}

/// Lets full channels lose messages.
fn lose_messages(program: &mut Program) -> Result<(), Failure> {
    if let Some(trace) = program.trace {
        let name = program.proctype(trace).name.trim_matches(':');
        return Err(Failure::refused_with(
            format!(
                "--lossy-channels does not go with a {name} assertion: a message that is lost is no event"
            ),
            "leave one of them out",
        ));
    }
    machine::lossy::lose_messages(program);
    verify(program)
}

/// Problems of the text that leave the rest of it readable.
const CONFINED: &[Code] = &[Code::E0005, Code::E0018, Code::E0020, Code::E0021, Code::E0022, Code::E0024];
/// Problems that end the parse: what was not read may declare anything.
const FINAL: &[Code] = &[Code::E0103, Code::E0104, Code::E0105];

/// Reads a text that includes the model of `source`, and no more: the syntax tree.
pub fn front_end_of(
    source: &Source,
    path: &str,
    files: &dyn Files,
    sources: &mut SourceMap,
) -> Result<(Unit, Vec<Diagnostic>), Failure> {
    let dialect = dialect(&source.options.dialect)?;
    let options = reading_options(source, dialect)?;
    let preprocessed = preprocess::preprocess(path, files, &options, sources);
    let mut diagnostics = preprocessed.diagnostics;
    let parsed = parse::parse_lines(preprocessed.tokens, preprocessed.line_starts, dialect, sources);
    diagnostics.extend(parsed.diagnostics);
    Ok((parsed.unit, diagnostics))
}

/// What the preprocessor is told.
fn reading_options(source: &Source, dialect: Dialect) -> Result<Options, Failure> {
    let mut options = preprocessor_options(&source.options.preprocessor)?;
    if dialect == Dialect::Pv {
        // By this name models tell the dialects apart.
        options.predefined.push(("_UV_".into(), "1".into()));
    }
    Ok(options)
}

/// Preprocess, parse, lower, and look for what is probably not meant. After errors the next step is still
/// taken where its own errors would make sense, so that one run shows them all; what stands on the same line
/// as an earlier error is taken for a consequence of it.
fn front_end(
    path: &str,
    files: &dyn Files,
    options: &Options,
    (dialect, model): (Dialect, &ModelOptions),
    sources: &mut SourceMap,
) -> (Unit, Option<Program>, Vec<Diagnostic>) {
    let preprocessed = preprocess::preprocess(path, files, options, sources);
    let mut diagnostics = preprocessed.diagnostics;
    diagnostics.extend(with_formula::more_than_a_formula(&preprocessed.tokens, model, sources));
    let errors = || diagnostics.iter().filter(|d| d.severity() == Severity::Error);
    let unreadable = errors().count() > 0;
    if errors().any(|d| !CONFINED.contains(&d.code)) {
        return (Unit::default(), None, diagnostics);
    }
    let parsed = parse::parse_lines(preprocessed.tokens, preprocessed.line_starts, dialect, sources);
    add_independent(&mut diagnostics, parsed.diagnostics, sources);
    if !has_errors(&diagnostics) {
        let lowered = lower::lower(&parsed.unit, sources, path);
        diagnostics.extend(lowered.diagnostics);
        if let Some(program) = &lowered.program {
            diagnostics.extend(lint::lint(&parsed.unit, program, sources));
        }
        return (parsed.unit, lowered.program, diagnostics);
    }
    if !unreadable && !diagnostics.iter().any(|d| FINAL.contains(&d.code)) {
        let more = lower::check(&parsed.unit, &parsed.doubtful, sources, path);
        add_independent(&mut diagnostics, more, sources);
    }
    (parsed.unit, None, diagnostics)
}

/// Adds `more`, except for errors on a line that has one already.
fn add_independent(diagnostics: &mut Vec<Diagnostic>, more: Vec<Diagnostic>, sources: &SourceMap) {
    let line = |d: &Diagnostic| {
        let place = sources.location(d.span());
        (place.file, place.line)
    };
    let errors = diagnostics.iter().filter(|d| d.severity() == Severity::Error);
    let mut taken: HashSet<(String, u32)> = errors.map(line).collect();
    // A string without end swallows the end of its statement, which is then missed on the next line.
    let open = diagnostics.iter().filter(|d| d.code == Code::E0020).map(line);
    taken.extend(open.map(|(file, line)| (file, line + 1)).collect::<Vec<_>>());
    diagnostics
        .extend(more.into_iter().filter(|d| d.severity() == Severity::Warning || !taken.contains(&line(d))));
}

/// Machines rely on the rules of the intermediate form: a program that breaks one is a bug of the front end.
fn verify(program: &Program) -> Result<(), Failure> {
    promela::ir::verify::verify(program).map_err(|broken| {
        let first = broken.first().map_or("unknown", String::as_str);
        Failure::Internal(format!(
            "the front end built a program that breaks {} rules; the first: {first}",
            broken.len()
        ))
    })
}

fn dialect(word: &str) -> Result<Dialect, Failure> {
    match word {
        "" | "spin" => Ok(Dialect::Spin),
        "pv" => Ok(Dialect::Pv),
        other => Err(Failure::refused_with(
            format!("--dialect does not know {other:?}"),
            one_of(other, ["spin", "pv"]),
        )),
    }
}

/// `-DNAME=VALUE`, `-UNAME` and `-IDIR` as the preprocessor takes them.
fn preprocessor_options(words: &[String]) -> Result<Options, Failure> {
    let mut options = Options::default();
    for word in words {
        if let Some(define) = word.strip_prefix("-D") {
            let (name, value) = match define.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (define, None),
            };
            one_definition(word, name, value.as_deref())?;
            options.defines.push((name.to_string(), value));
        } else if let Some(name) = word.strip_prefix("-U") {
            one_definition(word, name, None)?;
            options.undefines.push(name.to_string());
        } else if let Some(dir) = word.strip_prefix("-I") {
            options.include_dirs.push(dir.to_string());
        } else {
            return Err(Failure::refused(format!("{word:?} is no preprocessor option")));
        }
    }
    Ok(options)
}

/// A definition is one line of the preprocessor and must not reach into the next.
fn one_definition(word: &str, name: &str, value: Option<&str>) -> Result<(), Failure> {
    let plain = name.split('(').next().unwrap_or_default();
    let is_name = !plain.is_empty()
        && !plain.starts_with(|c: char| c.is_ascii_digit())
        && plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(Failure::refused_with(
            format!("{word:?} does not begin with the name of a macro"),
            "write -DNAME or -DNAME=VALUE",
        ));
    }
    let value = value.unwrap_or_default();
    match name.contains(['\n', '\r']) || value.contains(['\n', '\r']) || value.ends_with('\\') {
        true => Err(Failure::refused_with(
            format!("{word:?} defines more than one line"),
            "put a definition of several lines into the model, or into a file that it includes",
        )),
        false => Ok(()),
    }
}
