//! Where everything is in a state: the part that all shapes have in common.
//!
//! A state is: a header (the shape's number in 24 bits, 1 + pid of the process in control in 8), `_last` if
//! the program asks, the visible globals, the channels that exist from the beginning; then for every process
//! its *block*: location, cells, and the channels that it created; at the end the hidden globals, so that
//! what makes a state different is a prefix. A process keeps the place of its block as long as it lives,
//! because processes die highest pid first. Cells are written as the reference machine writes them, so that
//! conversion is copying; but a channel has room for all the messages it can hold, and unused room is 0.

use machine::interp::layout::{Width, cell_scalars, hidden_cells};
use promela::ir::{Action, InitStep, LocId, Proctype, Program, Scalar};

/// Bytes of the header.
pub const HEADER: u32 = 4;
/// Where the header says who is in control.
pub const CONTROL: u32 = 3;
/// Blocks beyond this size are left to the reference machine, whose channels take only the room that they
/// need.
const MAX_BLOCK: u64 = 1 << 20;

/// A channel declaration in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChanLayout {
    /// Messages it can hold.
    pub capacity: u32,
    /// Width of the number of messages.
    pub len: Width,
    /// Offset in a message and type of each field.
    pub fields: Vec<(u32, Scalar)>,
    /// Bytes of a message.
    pub message: u32,
    /// Bytes of the channel: the number of messages and their room; none for a rendezvous channel.
    pub size: u32,
}

/// A proctype's block in bytes.
#[derive(Debug)]
pub struct BlockLayout {
    /// Width of the location in the reference machine's states.
    pub location: Width,
    /// Offset of every cell.
    pub cells: Vec<u32>,
    /// Type of every cell.
    pub scalars: Vec<Scalar>,
    /// End of the cells.
    pub cells_end: u32,
    /// Offset and declaration of every channel that the process creates.
    pub chans: Vec<(u32, u32)>,
    /// Bytes of all.
    pub size: u32,
    /// What each location is labelled with: bits of `LABEL_*`.
    pub labels: Vec<u8>,
    /// Whether somebody at a location may take a message that is on offer.
    pub may_receive: Vec<bool>,
}

/// A location where a run may end.
pub const LABEL_END: u8 = 1;
/// An accepting location.
pub const LABEL_ACCEPT: u8 = 2;
/// A progress location.
pub const LABEL_PROGRESS: u8 = 4;

/// Where everything is.
#[derive(Debug)]
pub struct Layout {
    /// Where `_last` is.
    pub last: Option<u32>,
    /// Width of a location, which comes first in a block: the same for all, so that anybody's can be read.
    pub location: Width,
    /// The first visible global.
    pub globals: u32,
    /// Bytes of the visible globals.
    pub globals_len: u32,
    /// Offset of every global cell (of a hidden one: from the beginning of the hidden part), and whether it
    /// is hidden.
    pub cells: Vec<(u32, bool)>,
    /// Type of every global cell.
    pub scalars: Vec<Scalar>,
    /// Offset and declaration of the channels that exist from the beginning.
    pub chans: Vec<(u32, u32)>,
    /// Where the first block is.
    pub blocks: u32,
    /// Bytes of the hidden part.
    pub hidden: u32,
    /// One for every proctype.
    pub processes: Vec<BlockLayout>,
    /// One for every channel declaration; `classes` says which of them look the same.
    pub channels: Vec<ChanLayout>,
    /// For every channel declaration the first one that looks the same.
    pub classes: Vec<u32>,
    /// The largest block.
    pub max_block: u32,
    /// Bytes of the shortest state in which there is a process.
    pub min_state: u32,
    /// The most fields of a message, or arguments of a `run`.
    pub max_fields: usize,
    /// The width of a proctype's number in the reference machine's states.
    pub proctype: Width,
}

impl Layout {
    /// The layout of a program; `None` when it needs too much room to be of fixed size.
    pub fn new(program: &Program) -> Option<Layout> {
        let channels: Vec<ChanLayout> = program.chan_types.iter().map(channel).collect::<Option<_>>()?;
        let classes = channels
            .iter()
            .map(|c| channels.iter().position(|other| other == c).unwrap_or(0) as u32)
            .collect();
        let location = Width::below(program.proctypes.iter().map(|p| p.locations.len()).max().unwrap_or(0));
        let processes: Vec<BlockLayout> = program
            .proctypes
            .iter()
            .map(|p| block(program, &channels, location, p))
            .collect::<Option<_>>()?;
        let last = program.uses.last.then_some(HEADER);
        let globals = HEADER + u32::from(program.uses.last);
        let (mut at, mut hidden) = (u64::from(globals), 0);
        let mut cells = Vec::new();
        let is_hidden = hidden_cells(program);
        let scalars = cell_scalars(program, &program.globals, program.n_global_cells);
        for (i, scalar) in scalars.iter().enumerate() {
            let end = if is_hidden[i] { &mut hidden } else { &mut at };
            cells.push((*end as u32, is_hidden[i]));
            *end += scalar.width() as u64;
        }
        let globals_len = at as u32 - globals;
        let chans = place_channels(&program.init, &channels, &mut at);
        if at.max(hidden) > 4 * MAX_BLOCK {
            return None;
        }
        debug_assert_eq!(scalars.len(), cells.len());
        debug_assert!(processes.iter().all(|block| block.cells_end <= block.size), "channels end a block");
        let fields = channels.iter().map(|c| c.fields.len());
        let params = program.proctypes.iter().map(|p| p.n_params as usize);
        Some(Layout {
            last,
            location,
            globals,
            globals_len,
            cells,
            scalars,
            chans,
            blocks: at as u32,
            hidden: hidden as u32,
            min_state: at as u32 + hidden as u32 + processes.iter().map(|p| p.size).min().unwrap_or(0),
            max_block: processes.iter().map(|p| p.size).max().unwrap_or(0),
            max_fields: fields.chain(params).max().unwrap_or(0),
            processes,
            channels,
            classes,
            proctype: Width::below(program.proctypes.len()),
        })
    }
}

fn channel(ty: &promela::ir::ChanType) -> Option<ChanLayout> {
    let mut message = 0;
    let mut fields = Vec::new();
    for &scalar in &ty.fields {
        // Sets of constants do not matter for the code.
        let scalar = if matches!(scalar, Scalar::Mtype(_)) { Scalar::Byte } else { scalar };
        fields.push((message, scalar));
        message += scalar.width() as u32;
    }
    let len = Width::below(ty.capacity as usize + 1);
    let size = match ty.capacity {
        0 => 0,
        n => len.bytes() as u64 + u64::from(n) * u64::from(message),
    };
    (size <= MAX_BLOCK).then_some(ChanLayout {
        capacity: ty.capacity,
        len,
        fields,
        message,
        size: size as u32,
    })
}

fn place_channels(init: &[InitStep], channels: &[ChanLayout], at: &mut u64) -> Vec<(u32, u32)> {
    let mut chans = Vec::new();
    for step in init {
        if let InitStep::NewChan(_, ty) = step {
            chans.push((*at as u32, ty.0));
            *at += u64::from(channels[ty.index()].size);
        }
    }
    chans
}

fn block(
    program: &Program,
    channels: &[ChanLayout],
    location: Width,
    proctype: &Proctype,
) -> Option<BlockLayout> {
    let scalars = cell_scalars(program, &proctype.locals, proctype.n_cells);
    let mut at = location.bytes() as u64;
    let mut cells = Vec::new();
    for scalar in &scalars {
        cells.push(at as u32);
        at += scalar.width() as u64;
    }
    let cells_end = at as u32;
    let chans = place_channels(&proctype.init, channels, &mut at);
    let labels = proctype.locations.iter().map(|l| {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        bit(l.end, LABEL_END) | bit(l.accept, LABEL_ACCEPT) | bit(l.progress, LABEL_PROGRESS)
    });
    (at <= MAX_BLOCK).then(|| BlockLayout {
        location: Width::below(proctype.locations.len()),
        cells,
        scalars,
        cells_end,
        chans,
        size: at as u32,
        labels: labels.collect(),
        may_receive: (0..proctype.locations.len()).map(|i| may_receive(proctype, i)).collect(),
    })
}

fn may_receive(proctype: &Proctype, location: usize) -> bool {
    proctype
        .location(LocId(location as u32))
        .edges
        .iter()
        .any(|&id| matches!(proctype.edge(id).action, Action::Receive { .. } | Action::DStep { .. }))
}
