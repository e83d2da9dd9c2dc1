//! `--memory tso` and `pso`: a model with store buffers between its processes and its memory.
//!
//! The buffers are part of how a model is read (`trace::MemoryOptions`), so that whatever is done with it (a
//! check, a replay, a simulation) is done with the program that has them. `machine::memory` makes that
//! program; here is what surrounds it: options, refusals, warnings, and what a report says.

use crate::failure::Failure;
use crate::notice::Notice;
use crate::options::{CheckOptions, Memory};
use crate::report::PropertyReport;
use machine::memory::{self, Fence, Model, Role, Settings};
use promela::diagnostic::Code;
use promela::ir::{EdgeId, ProctypeId, Program};
use promela::source::SourceMap;
use std::sync::Arc;
use trace::{FencePlace, MemoryOptions};

/// Entries of a buffer, where nobody says how many.
pub const DEFAULT_BOUND: u32 = 2;

/// What a report says about the memory model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakMemory {
    /// `tso` or `pso`.
    pub model: String,
    /// Entries of a buffer.
    pub bound: u32,
    /// Variables that are buffered.
    pub buffered: Vec<String>,
    /// Variables that were taken for ghosts.
    pub ghosts: Vec<String>,
    /// No store ever met a full buffer: larger buffers would change nothing.
    pub exact: bool,
}

/// The memory model that options ask for; none is sequential consistency.
pub fn of_options(options: &CheckOptions) -> Option<MemoryOptions> {
    let model = match options.memory? {
        Memory::Sc | Memory::All => return None,
        Memory::Tso => "tso",
        Memory::Pso => "pso",
    };
    let bound = options.memory_bound.map_or(DEFAULT_BOUND, |bound| u32::try_from(bound).unwrap_or(u32::MAX));
    Some(of_words(model, bound, options.plain.as_deref(), options.memory_split))
}

/// The memory model that options ask for, of a command that has use for one only.
pub fn of_one(options: &CheckOptions) -> Result<Option<MemoryOptions>, Failure> {
    match options.memory {
        Some(Memory::All) => {
            Err(Failure::refused_with("--memory all is for `spinor check`", "give --memory sc, tso or pso"))
        }
        None | Some(Memory::Sc)
            if options.memory_bound.is_some() || options.memory_split || options.plain.is_some() =>
        {
            Err(Failure::refused_with(
                "--memory-bound, --memory-split and --plain are about store buffers, and --memory sc has none",
                "add --memory tso or pso",
            ))
        }
        _ => Ok(of_options(options)),
    }
}

/// The memory model of single words.
pub fn of_words(model: &str, bound: u32, plain: Option<&str>, split: bool) -> MemoryOptions {
    let plain = plain.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
    let plain = plain.map(str::to_string).collect();
    MemoryOptions { model: model.to_string(), bound, plain, split, fences: Vec::new() }
}

/// What `machine::memory` is asked for.
fn settings(options: &MemoryOptions) -> Result<Settings, Failure> {
    let model = match options.model.as_str() {
        "tso" => Model::Tso,
        "pso" => Model::Pso,
        other => {
            return Err(Failure::refused_with(
                format!("the memory model {other:?} is not known"),
                "use tso or pso, or none for sequential consistency",
            ));
        }
    };
    let fence = |&(proctype, edge, behind): &FencePlace| Fence {
        proctype: ProctypeId(proctype),
        edge: EdgeId(edge),
        behind,
    };
    Ok(Settings {
        model,
        bound: options.bound,
        plain: options.plain.clone(),
        split: options.split,
        fences: options.fences.iter().map(fence).collect(),
    })
}

/// Puts store buffers into a program, and says what there is to say about it.
pub fn switch(
    program: &Program,
    options: &MemoryOptions,
    sources: &Arc<SourceMap>,
) -> Result<(Program, WeakMemory, Vec<Notice>), Failure> {
    let settings = settings(options)?;
    let made = memory::with_buffers(program, &settings).map_err(|refused| {
        let place = refused.span.map(|span| sources.location(span));
        let place = place.map_or_else(String::new, |place| format!("{}:{}: ", place.file, place.line));
        Failure::refused_with(format!("{place}{}", refused.message), refused.repair)
    })?;
    let of = |role: Role| {
        let names = made.roles.iter().filter(|(_, own)| *own == role);
        names.map(|(name, _)| name.clone()).collect::<Vec<String>>()
    };
    let told = WeakMemory {
        model: options.model.clone(),
        bound: options.bound,
        buffered: of(Role::Buffered),
        ghosts: of(Role::Ghost),
        exact: false,
    };
    Ok((made.program, told, wide_notice(&made.wide, options, sources).into_iter().collect()))
}

/// What a report says about the buffers, after the searches. Where one of them saw every state and every
/// step, and no store met a full buffer, none ever does. A search for a run that a claim finds wrong goes no
/// further than the claim: it answers for its own property.
pub fn judged(memory: &WeakMemory, properties: &[PropertyReport]) -> WeakMemory {
    let never = |property: &PropertyReport| property.met_full_buffer == Some(false);
    let saw_everything = |property: &&PropertyReport| property.how.is_none();
    let exact = properties.iter().filter(saw_everything).any(never)
        || !properties.is_empty() && properties.iter().all(never);
    WeakMemory { exact, ..memory.clone() }
}

/// Hardware loads one cell after another.
fn wide_notice(
    wide: &[promela::source::Span],
    options: &MemoryOptions,
    sources: &Arc<SourceMap>,
) -> Option<Notice> {
    let mut places: Vec<(String, u32, u32)> = Vec::new();
    for span in wide {
        let place = sources.location(*span);
        if !places.iter().any(|(file, line, _)| (file, *line) == (&place.file, place.line)) {
            places.push((place.file, place.line, place.column));
        }
    }
    let (file, line, column) = places.first()?.clone();
    let others: Vec<String> = places[1..].iter().map(|(_, line, _)| line.to_string()).collect();
    let others = match &others[..] {
        [] => String::new(),
        [one] => format!(" (also line {one})"),
        several => format!(" (also lines {})", several.join(", ")),
    };
    let message = match options.split {
        false => format!(
            "several loads of shared variables are one step{others}; hardware loads them one after another"
        ),
        true => {
            format!("several loads of shared variables stay one step{others}: they cannot be taken apart")
        }
    };
    let help = "load them into local variables first, or try --memory-split";
    let help = (!options.split).then(|| help.to_string());
    Some(Notice::plain(Code::W0710, message, help).at(&file, line, column))
}

/// Where a fence may help, with the numbers by which [`MemoryOptions`] knows the place.
pub fn fence_sites(
    program: &Program,
    options: &MemoryOptions,
    sources: &SourceMap,
) -> Result<Vec<(FencePlace, FenceSite)>, Failure> {
    let settings = settings(options)?;
    let site = |Fence { proctype, edge, behind }: Fence| {
        let statement = program.proctype(proctype).edge(edge);
        let place = sources.location(statement.span);
        let site = FenceSite {
            process: program.proctype(proctype).name.clone(),
            file: place.file,
            line: place.line,
            column: place.column,
            behind,
            text: statement.text.trim().to_string(),
        };
        ((proctype.0, edge.0, behind), site)
    };
    Ok(memory::fence_places(program, &settings).into_iter().map(site).collect())
}

/// A place for a fence, beside a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceSite {
    /// The file, for people.
    pub file: String,
    /// The line of the statement.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// Behind the statement, rather than in front of it.
    pub behind: bool,
    /// The proctype.
    pub process: String,
    /// The statement.
    pub text: String,
}

impl FenceSite {
    /// `before` or `after`.
    pub fn word(&self) -> &'static str {
        if self.behind { "after" } else { "before" }
    }
}
