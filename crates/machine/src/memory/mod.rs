//! Weak memory: a program with store buffers between its processes and its global variables.
//!
//! The models are x86-TSO (P. Sewell et al., 2010) and SPARC's PSO: a store enters a buffer of its process and
//! reaches memory later; a load takes the youngest entry of the own buffer for its cell, else memory. Under
//! TSO a process has one buffer, so that its stores reach memory in program order; under PSO it has one for
//! every cell, so that only stores to the same cell do.
//!
//! The result is an ordinary program, from which machines, facts, reductions and searches know what they need
//! without having heard of buffers. A buffer is a few more local cells of its process ([`layout`]); a store is
//! a d_step that appends, a load a conditional expression ([`view`]); a step of the memory is a self-loop of
//! every location at which the buffer may hold something ([`drain`], [`flow`]). What needs an empty buffer
//! (locked instructions, channel operations, `run`, the end) waits for it at a location of its own, the
//! *quiet* twin ([`automaton`]). So `else` never asks whether a buffer can move, while `timeout` and end
//! states do; fairness counts each buffer beside its process (`system::Processes`). [`shared`] decides which variables are buffered at all.

mod automaton;
mod drain;
mod flow;
mod layout;
mod make;
mod refuse;
mod shared;
mod split;
mod view;

use promela::ir::{EdgeId, Order, ProctypeId, ProctypeKind, Program};
use promela::source::Span;
use std::collections::BTreeSet;

pub(crate) use layout::{CELL, COUNT, VALUE};
pub use refuse::Refused;
pub use shared::Role;

/// Which stores may overtake what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Total store order: one buffer for a process.
    Tso,
    /// Partial store order: one buffer for a process and a cell.
    Pso,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model.
    pub model: Model,
    /// Entries of a buffer, at least 1.
    pub bound: u32,
    /// Variables that are not buffered.
    pub plain: Vec<String>,
    /// Statements with several loads of shared variables are taken apart.
    pub split: bool,
    /// Fences that the program does not have.
    pub fences: BTreeSet<Fence>,
}

/// A place for a fence, beside a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence {
    /// The proctype.
    pub proctype: ProctypeId,
    /// The statement.
    pub edge: EdgeId,
    /// Behind it, rather than in front of it.
    pub behind: bool,
}

/// A program with store buffers.
#[derive(Clone, Debug)]
pub struct Buffered {
    /// The program.
    pub program: Program,
    /// What became of every global variable, by its name.
    pub roles: Vec<(String, Role)>,
    /// Statements with several loads of buffered variables, which stay one step.
    pub wide: Vec<Span>,
}

/// The most entries of a buffer.
pub const MAX_BOUND: u32 = 64;

/// Puts store buffers between the processes of a program and its memory.
pub fn with_buffers(program: &Program, settings: &Settings) -> Result<Buffered, Refused> {
    refuse::program(program, settings)?;
    let roles = shared::roles(program, &settings.plain);
    let cells = layout::Cells::new(program, &roles);
    let mut written = program.clone();
    if settings.split {
        split::apart(&mut written, &cells);
    }
    let program = &written;
    let mut made = program.clone();
    let mut twins = Vec::new();
    let mut wide = Vec::new();
    for (index, proctype) in program.proctypes.iter().enumerate() {
        if !matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init) {
            continue;
        }
        let id = ProctypeId(index as u32);
        let flow = flow::Flow::new(id, proctype, &cells, settings);
        wide.extend(flow.wide(proctype, &cells));
        if flow.is_idle() {
            continue;
        }
        refuse::proctype(program, proctype, &flow)?;
        let buffer = layout::Buffer::new(&mut made, id, &cells, settings);
        let found = automaton::rewrite(&mut made.proctypes[index], proctype, &flow, &buffer, &cells);
        twins.extend(found.into_iter().map(|(at, twin)| (id, at, twin)));
    }
    make::count_twins(&mut made, &twins);
    let names = program.globals.iter().map(|var| var.name.clone());
    let size = made.proctypes.iter().map(|proctype| proctype.locations.len()).max().unwrap_or(0);
    refuse::size(size)?;
    Ok(Buffered { roles: names.zip(roles).collect(), program: made, wide })
}

/// Places for fences that can make a difference: in front of accesses that a process may meet with a store in
/// its buffer, where they are no option of a selection, and behind stores that lead to a selection.
pub fn fence_places(program: &Program, settings: &Settings) -> Vec<Fence> {
    let roles = shared::roles(program, &settings.plain);
    let cells = layout::Cells::new(program, &roles);
    let mut places = BTreeSet::new();
    for (index, proctype) in program.proctypes.iter().enumerate() {
        if !matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init) {
            continue;
        }
        let id = ProctypeId(index as u32);
        let flow = flow::Flow::new(id, proctype, &cells, settings);
        for (at, location) in proctype.locations.iter().enumerate() {
            for &edge in location.edges.iter().filter(|edge| !flow.is_quiet(**edge)) {
                let statement = proctype.edge(edge);
                let stores = cells.stored_by(&statement.action).is_some();
                let accesses = stores || cells.loads(&statement.action) > 0;
                if accesses && flow.may_hold(at) && location.edges.len() == 1 {
                    places.insert(Fence { proctype: id, edge, behind: false });
                }
                if stores && proctype.location(statement.to).edges.len() > 1 {
                    places.insert(Fence { proctype: id, edge, behind: true });
                }
            }
        }
    }
    places.into_iter().collect()
}

/// How many buffers a process has at most.
pub(crate) fn n_buffers(program: &Program) -> u32 {
    let edges = program.proctypes.iter().flat_map(|proctype| &proctype.edges);
    edges.filter_map(|edge| edge.order.buffer()).map(|buffer| buffer + 1).max().unwrap_or(0)
}

/// Whether a program says `fence` somewhere.
pub fn has_fences(program: &Program) -> bool {
    program.proctypes.iter().flat_map(|proctype| &proctype.edges).any(|edge| edge.order == Order::Fence)
}
