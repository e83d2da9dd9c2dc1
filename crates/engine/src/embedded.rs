//! Embedded C: who allowed it, what is refused, and what a check of such a model leaves alone.
//!
//! The C of a model is code of whoever wrote the model. So the permission comes from the person who runs the
//! command and from nobody else: it is part of a [`Source`], never of what trails or models say. Without it
//! the model is refused, with words that say what would have been done.

use crate::failure::Failure;
use crate::options::{CheckOptions, Choice, Edges, Engine, Exec, Por, Source, StaticReduction};
use crate::plan::Plan;
use crate::session::Session;
use embedded_c::{Failed, Request, attach};
use promela::diagnostic::{Code, Diagnostic};
use promela::ir::{CItem, Program};
use promela::source::SourceMap;
use search::Proviso;
use std::borrow::Cow;
use std::path::Path;

pub use embedded_c::supervise;

/// What may be done with the C of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UseOfC {
    /// Nothing: a model that has some is refused.
    #[default]
    Refused,
    /// It is text, and the model is only looked at.
    Text,
    /// It is compiled and run, with these files and words beside it.
    Run(Request),
}

/// What the options of a command allow.
pub fn of_options(options: &CheckOptions) -> UseOfC {
    match options.allow_c {
        false => options.source.c.clone(),
        true => UseOfC::Run(Request {
            sources: options.c_source.clone(),
            flags: options.c_flags.clone(),
            preprocessor: Vec::new(),
        }),
    }
}

/// Options about C where nobody allowed any.
pub fn refuse_without_permission(options: &CheckOptions) -> Result<(), Failure> {
    let given = match () {
        () if options.allow_c => return Ok(()),
        () if !options.c_source.is_empty() => "--c-source",
        () if !options.c_flags.is_empty() => "--c-flags",
        () if options.c_in_process => "--c-in-process",
        () => return Ok(()),
    };
    Err(Failure::refused_with(
        format!("{given} is about embedded C, which nobody has allowed"),
        format!("add --allow-c if the C of this model may be run, or leave {given} out"),
    ))
}

/// Does with the C of a program what its source allows; what is wrong with it is for the author.
pub fn prepare(
    program: &mut Program,
    source: &Source,
    sources: &SourceMap,
) -> Result<Option<Diagnostic>, Failure> {
    let Some(first) = program.embedded.first() else { return Ok(None) };
    let request = match &source.c {
        UseOfC::Text => return Ok(None),
        UseOfC::Refused => {
            let message = "this model has embedded C, which is not compiled and run unless you allow it";
            let help = "read the C of the model; if you trust whoever wrote it, add --allow-c";
            return Ok(Some(
                Diagnostic::new(Code::E0601, first, message).note(what_would_run(program)).help(help),
            ));
        }
        UseOfC::Run(request) => Request { preprocessor: for_compiler(source), ..request.clone() },
    };
    match attach(program, &|span| sources.location(span), &request) {
        Ok(()) => Ok(None),
        Err(Failed::Refused { compiler, output }) => {
            let message = format!("`{compiler}` does not compile the embedded C of this model");
            let said = output.trim_end().lines().take(MOST_LINES).collect::<Vec<&str>>().join("\n");
            Ok(Some(Diagnostic::new(Code::E0603, first, message).note(said)))
        }
        Err(Failed::NoCompiler(message)) => Err(Failure::refused_with(
            format!("the model has embedded C, and {message}"),
            "install a C compiler, or name one with the environment variable CC",
        )),
        Err(Failed::Broken(message)) => Err(Failure::refused_with(
            message,
            "change the embedded C of the model, or --c-source and --c-flags",
        )),
    }
}

/// The words of the preprocessor, and the folder of the model, in which its C finds its own headers.
fn for_compiler(source: &Source) -> Vec<String> {
    let folder = Path::new(&source.path).parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map(|folder| format!("-I{}", folder.display()));
    source.options.preprocessor.iter().cloned().chain(folder).collect()
}

/// Lines of a compiler that are shown.
const MOST_LINES: usize = 40;

/// What would be compiled and run.
fn what_would_run(program: &Program) -> String {
    let embedded = &program.embedded;
    let count = |n: usize, one: &str, more: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {more}")),
    };
    let pieces = |statement| embedded.pieces.iter().filter(|piece| piece.statement == statement).count();
    let items = |is: fn(&CItem) -> bool| embedded.items.iter().filter(|item| is(item)).count();
    let texts = items(|item| matches!(item, CItem::Declaration(..) | CItem::Functions(..)));
    let memory = items(|item| matches!(item, CItem::State { .. } | CItem::Track { .. }));
    let parts = [
        count(pieces(true), "c_code statement", "c_code statements"),
        count(pieces(false), "c_expr", "c_expr"),
        count(texts, "block of declarations and functions", "blocks of declarations and functions"),
        count(memory, "c_state or c_track", "c_state and c_track"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!(
        "the C compiler would compile {}, and the checker would load and call the result: code that can do whatever you can",
        parts.join(", ")
    )
}

/// The plan for this model: embedded C is called by the reference machine, by one worker, in a search that leaves
/// nothing out, because C may look at everything. What was asked for and does not go with that is refused.
pub fn adapted<'p>(plan: &'p Plan, session: &Session) -> Result<Cow<'p, Plan>, Failure> {
    let has_c = session.program.as_ref().is_some_and(|program| !program.embedded.is_empty());
    if !has_c {
        return Ok(Cow::Borrowed(plan));
    }
    refuse(&plan.options)?;
    Ok(Cow::Owned(Plan {
        exec: Exec::Interp,
        engine: Engine::Explicit,
        por: Por::None,
        proviso: Proviso::None,
        static_proviso: false,
        edges: Edges::All,
        opt: Vec::new(),
        threads: 1,
        ..plan.clone()
    }))
}

fn refuse(options: &CheckOptions) -> Result<(), Failure> {
    let reductions = |opt: &Vec<StaticReduction>| !opt.is_empty();
    let asked = match options {
        CheckOptions { exec: Some(exec @ (Exec::Jit | Exec::Packed)), .. } => {
            format!("--exec {}", exec.word())
        }
        CheckOptions { engine: Some(engine @ (Engine::Symbolic | Engine::Gpu | Engine::Auto)), .. } => {
            format!("--engine {}", engine.word())
        }
        CheckOptions { por: Some(por), .. } if *por != Por::None => format!("--por {}", por.word()),
        CheckOptions { opt: Some(opt), .. } if reductions(opt) => "--opt".to_string(),
        CheckOptions { edges: Some(Edges::Lean), .. } => "--edges lean".to_string(),
        CheckOptions { threads: Some(2..), .. } => "--threads".to_string(),
        CheckOptions { sleep: true, .. } => "--sleep".to_string(),
        CheckOptions { state_cache: Some(_), .. } => "--state-cache".to_string(),
        CheckOptions { certify: Some(_), .. } => "--certify".to_string(),
        CheckOptions { report: Some(_), .. } => {
            return Err(Failure::refused_with(
                "--report does not go with embedded C: its page replays counterexamples with objects of their own",
                "write the page with `spinor replay TRAIL --allow-c --report FILE`",
            ));
        }
        _ => return Ok(()),
    };
    Err(Failure::refused_with(
        format!(
            "{asked} does not go with embedded C, which may look at everything and is called by the interpreter, \
             by one worker"
        ),
        format!("leave {asked} out"),
    ))
}
