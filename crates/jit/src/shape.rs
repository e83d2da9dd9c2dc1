//! Shapes: which processes live, and so where everything is.
//!
//! Which channels exist follows from which processes do, and a process keeps its place, so shapes form a
//! tree: a shape's parent lacks the process with the highest pid. A shape is made when it is first met, is
//! never changed and lives as long as the machine. Finding one by its number, its parent or its child takes
//! no lock; only making one does.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use machine::action::Action;
use promela::ir::{Proctype, Program};
use system::lean::first_slot;
use system::{ActionId, ActiveMask};

use crate::code::{Code, Expand, Listen, Receive, nothing};
use crate::layout::Layout;
use crate::runtime::{PIECE, SLACK};

/// A shape; compiled code reads it.
#[derive(Debug)]
#[repr(C)]
pub struct Shape {
    /// Bytes of a state.
    pub len: u32,
    /// Number of processes.
    pub n_procs: u32,
    /// Number of channels.
    pub n_chans: u32,
    /// Where the hidden part begins.
    pub hidden: u32,
    /// The first entry of `processes`.
    pub procs: *const ProcEntry,
    /// The first entry of `channels`.
    pub chans: *const ChanEntry,
    /// The first entry of `lowest_pid_of`.
    pub first_of: *const u32,
    /// The number that states carry.
    pub id: u32,
    /// Local cells of all processes.
    pub local_cells: u32,
    /// Whether code reads a copy of a state: it changes it for a while, or the state is short.
    pub copied: bool,
    /// The slots of its processes, and the pid of the process with slot 0.
    pub slots: ActiveMask,
    pub first_slot: usize,
    /// The shape without the process with the highest pid; null for the empty shape.
    pub parent: *const Shape,
    /// The most outcomes that a state can have but for rendezvous, and the most bytes that writing them can
    /// take.
    pub room: (usize, usize),
    /// The processes.
    pub processes: Vec<ProcEntry>,
    /// The channels.
    pub channels: Vec<ChanEntry>,
    /// For each proctype the lowest pid of its processes; `u32::MAX` when there is none.
    lowest_pid_of: Vec<u32>,
    /// The shapes with one more process, by proctype.
    children: Vec<AtomicPtr<Shape>>,
}

/// A process of a shape: all that finding its code and writing its outcomes takes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct ProcEntry {
    /// Where its block begins.
    pub offset: u64,
    /// The code of its proctype, by location.
    expand: *const Expand,
    /// Its part of an action's number.
    pub action: u64,
    /// Its number.
    pub pid: u32,
    /// Its proctype.
    pub proctype: u32,
    /// How many channels are older than it.
    pub first_chan: u32,
    /// How many locations its proctype has.
    locations: u32,
    /// The code of its proctype for taking what is on offer, by location.
    receive: *const Option<Receive>,
    /// On which channels that may be.
    hears: *const u64,
    /// The code that says so for a state.
    listen: *const Option<Listen>,
}

/// The tables of a proctype that its processes' entries point to.
#[derive(Clone, Copy)]
struct Tables {
    expand: *const Expand,
    receive: *const Option<Receive>,
    hears: *const u64,
    listen: *const Option<Listen>,
}

impl ProcEntry {
    /// The code for a location. Bytes that are no state may have any location; there is no code for that.
    /// With `NARROW`, locations are bytes.
    #[inline(always)]
    pub fn expand<const NARROW: bool>(&self, location: u32) -> Expand {
        if !NARROW && location >= self.locations {
            return nothing;
        }
        // SAFETY: the table has an entry for every location, and for every byte, and lives as long as the
        // shapes.
        unsafe { *self.expand.add(location as usize) }
    }

    /// The code that takes what is on offer at a location, and on which channels it may.
    #[inline(always)]
    pub fn receive(&self, location: u32) -> Option<(Receive, u64)> {
        if location >= self.locations {
            return None;
        }
        // SAFETY: the table has an entry for every location and lives as long as the shapes.
        unsafe {
            (*self.receive.add(location as usize)).map(|code| (code, *self.hears.add(location as usize)))
        }
    }

    /// The code that says on which channels a process would take a message at a location where there is code
    /// to receive.
    #[inline(always)]
    pub fn listen(&self, location: u32) -> Option<Listen> {
        if location >= self.locations {
            return None;
        }
        // SAFETY: as above.
        unsafe { *self.listen.add(location as usize) }
    }
}

/// A channel of a shape.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ChanEntry {
    /// Where it is.
    pub offset: u32,
    /// Its class (see `Layout::classes`).
    pub class: u32,
}

/// Shapes in one chunk of the table, and chunks: 24 bits together.
const CHUNK: usize = 1 << 12;

type Chunk = Box<[AtomicPtr<Shape>]>;

/// All shapes met so far.
pub struct Shapes {
    /// For every proctype the most outcomes that one call of its code can write.
    most_outcomes: Vec<usize>,
    /// The most bytes by which a step can make a state longer, and what copying writes too much.
    longest: usize,
    /// Whether code changes a state for a while.
    changes_state: bool,
    /// For every proctype the tables that its processes' entries point to.
    tables: Vec<Tables>,
    chunks: Vec<OnceLock<Chunk>>,
    owned: Mutex<Vec<*mut Shape>>,
    empty: *const Shape,
}

// SAFETY: shapes are never changed after they were published, but for their atomic fields; the list of them
// is guarded by the lock.
unsafe impl Send for Shapes {}
// SAFETY: as above.
unsafe impl Sync for Shapes {}

impl Tables {
    fn of(code: &Code, proctype: usize) -> Self {
        Tables {
            expand: code.expand[proctype].as_ptr(),
            receive: code.receive[proctype].as_ptr(),
            hears: code.hears[proctype].as_ptr(),
            listen: code.listen[proctype].as_ptr(),
        }
    }
}

impl Shapes {
    /// Only the empty shape. The code must live as long as the shapes.
    pub fn new(program: &Program, layout: &Layout, code: &Code) -> Self {
        let mut shapes = Shapes {
            most_outcomes: program.proctypes.iter().map(most_edges).collect(),
            longest: layout.max_block as usize + SLACK,
            changes_state: code.changes_state,
            tables: (0..program.proctypes.len()).map(|p| Tables::of(code, p)).collect(),
            chunks: (0..CHUNK).map(|_| OnceLock::new()).collect(),
            owned: Mutex::new(Vec::new()),
            empty: ptr::null(),
        };
        let entry = |&(offset, ty): &(u32, u32)| ChanEntry { offset, class: layout.classes[ty as usize] };
        shapes.empty = shapes.publish(
            &mut shapes.owned.lock().unwrap_or_else(PoisonError::into_inner),
            Shape {
                len: layout.blocks + layout.hidden,
                n_procs: 0,
                n_chans: 0,
                hidden: layout.blocks,
                procs: ptr::null(),
                chans: ptr::null(),
                first_of: ptr::null(),
                id: 0,
                local_cells: 0,
                copied: false,
                slots: ActiveMask::default(),
                first_slot: 0,
                parent: ptr::null(),
                room: (0, 0),
                processes: Vec::new(),
                channels: layout.chans.iter().map(entry).collect(),
                lowest_pid_of: vec![u32::MAX; program.proctypes.len()],
                children: (0..program.proctypes.len()).map(|_| AtomicPtr::default()).collect(),
            },
        );
        shapes
    }

    /// The shape without processes.
    pub fn empty(&self) -> &Shape {
        // SAFETY: it is the first that was published, and lives as long as `self`.
        unsafe { &*self.empty }
    }

    /// The shape with this number; `None` for a number that no state can carry.
    pub fn get(&self, id: u32) -> Option<&Shape> {
        let chunk = self.chunks.get(id as usize / CHUNK)?.get()?;
        let shape = chunk[id as usize % CHUNK].load(Ordering::Acquire);
        // SAFETY: what was published points to a shape that lives as long as `self`.
        let shape = unsafe { shape.as_ref() };
        debug_assert!(shape.is_none_or(|shape| shape.id == id), "a shape stands where its number says");
        shape
    }

    /// The shape with one more process. `None` when there are too many shapes to number them.
    pub fn child(&self, layout: &Layout, shape: &Shape, proctype: usize) -> Option<&Shape> {
        let slot = &shape.children[proctype];
        // SAFETY: what was published points to a shape that lives as long as `self`.
        if let Some(child) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return Some(child);
        }
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        // Another worker may have made it before the lock was had.
        let mut child = slot.load(Ordering::Acquire);
        if child.is_null() {
            if owned.len() >= CHUNK * CHUNK {
                return None;
            }
            child = self.publish(&mut owned, grow(layout, shape, proctype, self.tables[proctype]));
            // Release: who finds the pointer finds the shape complete. It is numbered before, so that no
            // state can carry a number that is not known.
            slot.store(child, Ordering::Release);
        }
        // SAFETY: as above.
        unsafe { child.as_ref() }
    }

    /// Numbers a shape and makes it known; from now on it does not move.
    fn publish(&self, owned: &mut Vec<*mut Shape>, mut shape: Shape) -> *mut Shape {
        let id = owned.len();
        shape.id = id as u32;
        let outcomes = shape.processes.iter().map(|p| self.most_outcomes[p.proctype as usize]).sum();
        shape.room = (outcomes, outcomes * (shape.len as usize + self.longest));
        shape.copied = self.changes_state || (shape.len as usize) < PIECE;
        shape.slots = ActiveMask::all(shape.processes.len());
        shape.first_slot = first_slot(shape.processes.len());
        shape.n_procs = shape.processes.len() as u32;
        shape.n_chans = shape.channels.len() as u32;
        shape.procs = shape.processes.as_ptr();
        shape.chans = shape.channels.as_ptr();
        shape.first_of = shape.lowest_pid_of.as_ptr();
        shape.check();
        let shape = Box::into_raw(Box::new(shape));
        owned.push(shape);
        let chunk =
            self.chunks[id / CHUNK].get_or_init(|| (0..CHUNK).map(|_| AtomicPtr::default()).collect());
        chunk[id % CHUNK].store(shape, Ordering::Release);
        shape
    }
}

impl Shape {
    /// What code and conversions rely on: processes are numbered by their place, blocks follow each other up
    /// to the hidden part, and channels lie before it.
    fn check(&self) {
        debug_assert!(self.hidden <= self.len, "the hidden part ends the state");
        debug_assert!(self.processes.iter().zip(0..).all(|(process, pid)| process.pid == pid));
        debug_assert!(self.processes.iter().all(|p| Action::process(ActionId(p.action)) == p.pid as usize));
        debug_assert!(self.processes.is_sorted_by(|a, b| a.offset < b.offset), "blocks are in order of pid");
        debug_assert!(self.processes.iter().all(|p| p.offset < u64::from(self.hidden)));
        debug_assert!(self.channels.iter().all(|channel| channel.offset <= self.hidden));
        debug_assert!(self.first_slot <= self.processes.len());
    }
}

/// The most edges that a location has.
fn most_edges(proctype: &Proctype) -> usize {
    proctype.locations.iter().map(|l| l.edges.len()).max().unwrap_or(0)
}

/// `shape` with one more process.
fn grow(layout: &Layout, shape: &Shape, proctype: usize, tables: Tables) -> Shape {
    let block = &layout.processes[proctype];
    let (mut processes, mut channels) = (shape.processes.clone(), shape.channels.clone());
    let mut lowest_pid_of = shape.lowest_pid_of.clone();
    lowest_pid_of[proctype] = lowest_pid_of[proctype].min(shape.n_procs);
    let offset = shape.hidden;
    processes.push(ProcEntry {
        offset: u64::from(offset),
        expand: tables.expand,
        action: Action::process_bits(shape.n_procs),
        pid: shape.n_procs,
        proctype: proctype as u32,
        first_chan: shape.n_chans,
        locations: block.labels.len() as u32,
        receive: tables.receive,
        hears: tables.hears,
        listen: tables.listen,
    });
    channels.extend(
        block
            .chans
            .iter()
            .map(|&(at, ty)| ChanEntry { offset: offset + at, class: layout.classes[ty as usize] }),
    );
    Shape {
        len: shape.len + block.size,
        n_procs: 0,
        n_chans: 0,
        hidden: shape.hidden + block.size,
        procs: ptr::null(),
        chans: ptr::null(),
        first_of: ptr::null(),
        id: 0,
        local_cells: shape.local_cells + block.cells.len() as u32,
        copied: false,
        slots: ActiveMask::default(),
        first_slot: 0,
        parent: shape,
        room: (0, 0),
        processes,
        channels,
        lowest_pid_of,
        children: shape.children.iter().map(|_| AtomicPtr::default()).collect(),
    }
}

impl Drop for Shapes {
    fn drop(&mut self) {
        for shape in self.owned.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: every shape was made by `Box::into_raw` and is dropped here only.
            drop(unsafe { Box::from_raw(shape) });
        }
    }
}
