//! What compiled code writes and calls: the context of one thread and the helpers.
//!
//! Code writes records and states straight into the caller's batch: the context holds the pointers to their
//! ends. Before every call there is room for as many outcomes as it can write, so that code never asks. It
//! calls helpers for what is rare or long: `run`, offers to others, moving many bytes. When it meets an
//! error, a failed assertion or something that it was not made for, it says so (`SLOW`): what the process
//! wrote is taken back, and the reference machine does all of that process, and so decides what it means. No
//! panic may pass compiled frames: helpers that could meet one keep it in the context, and the caller of the
//! code lets it go on.
//!
//! Which edges were taken is noted in flags of the context, one byte written and nothing shared between
//! threads, and told to the machine when the worker ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::Ordering;

use machine::action::Action;
use promela::ir::ProctypeId;
use system::{ActionId, Successor, Successors, TransitionSystem};

use crate::code::{Receive, channel_bit};
use crate::convert;
use crate::layout::CONTROL;
use crate::native::Native;
use crate::shape::{ProcEntry, Shape};

/// What code answers when the reference machine must decide.
pub const SLOW: u32 = u32::MAX;
/// Room that is always left behind a state that code writes.
pub const SLACK: usize = 16;
/// States are copied in pieces of this many bytes; a shorter one is read from a copy that is as long.
pub const PIECE: usize = 16;

/// Programs with no more edges than this have the flags of all in the context.
pub const FLAGS: usize = 1024;

/// The context of one thread. Code knows the fields up to `args`, and `few`.
#[repr(C)]
pub struct Context {
    /// Where the next state goes: the state under construction.
    pub out: *mut u8,
    /// Where the next record goes.
    pub rec: *mut Successor,
    /// The first byte of the states.
    pub base: *mut u8,
    /// A flag for every edge: whether it was taken. For programs whose flags are not in `few`.
    pub taken: *mut u8,
    /// The sender's half of a rendezvous.
    pub sender: u64,
    /// Where the sender's location is, and what it will be: outcomes of a rendezvous begin with writing it.
    pub sender_at: u64,
    /// See there.
    pub sender_to: u32,
    /// Whether `timeout` is true; only during an expansion.
    pub timeout: u32,
    /// Whether a part of a location before this one has executed an edge; only while such a location is
    /// expanded.
    pub moved: u32,
    /// The escape that it has executed, 0: none.
    pub escape: u32,
    /// Set when an outcome may be transient, until the batch is told.
    pub unusual: u64,
    /// On which channels a process may take what is on offer; all, until that was looked up.
    pub heard: u64,
    /// The shape of the state under construction, when a `run` changes it.
    pub shape: *const Shape,
    /// The messages on offer: of an expansion, and of asking whether a process can move.
    pub msg: [*mut i32; 2],
    /// The arguments of a `run`.
    pub args: *mut i32,
    /// Only actions are wanted, and nothing counts as taken.
    list: bool,
    native: *const Native,
    /// The state that is expanded, as it was given.
    given: *const u8,
    /// Its shape.
    parent: *const Shape,
    /// A copy of it, when code changes it for a while, or it is short.
    copy: Vec<u8>,
    /// The same state for the reference machine.
    reference: Vec<u8>,
    /// Who may take what is on offer, highest pid first; looked up for the first offer.
    receivers: Vec<(*const ProcEntry, Receive, u64)>,
    /// Up to where the next state and the next record leave room for all outcomes of the state; looked up
    /// with the receivers.
    limits: (*mut u8, *mut Successor),
    /// The caller's batch, during an expansion.
    batch: *mut Successors,
    /// How many outcomes it had.
    before: usize,
    messages: Vec<i32>,
    /// What `taken` points to.
    flags: Vec<u8>,
    /// The flags of a program with few edges.
    pub few: [u8; FLAGS],
    panic: Option<Box<dyn Any + Send>>,
    /// What the reference machine answers.
    actions: Vec<ActionId>,
    answers: Successors,
}

// SAFETY: the pointers are into buffers that the context owns, or to what outlives it.
unsafe impl Send for Context {}

impl Context {
    /// A context with small buffers. With `list`, only the actions of outcomes are wanted.
    pub fn new(native: &Native, list: bool) -> Box<Context> {
        let fields = native.layout.max_fields.max(1);
        let edges = native.program.proctypes.iter().map(|p| p.edges.len()).sum();
        let mut context = Box::new(Context {
            out: ptr::null_mut(),
            rec: ptr::null_mut(),
            base: ptr::null_mut(),
            taken: ptr::null_mut(),
            sender: 0,
            sender_at: 0,
            sender_to: 0,
            timeout: 0,
            moved: 0,
            escape: 0,
            unusual: 0,
            heard: 0,
            shape: ptr::null(),
            msg: [ptr::null_mut(); 2],
            args: ptr::null_mut(),
            list,
            native,
            given: ptr::null(),
            parent: ptr::null(),
            copy: Vec::new(),
            reference: Vec::new(),
            receivers: Vec::new(),
            limits: (ptr::null_mut(), ptr::null_mut()),
            batch: ptr::null_mut(),
            before: 0,
            messages: vec![0; 3 * fields],
            flags: vec![0; if edges > FLAGS { edges } else { 0 }],
            few: [0; FLAGS],
            panic: None,
            actions: Vec::new(),
            answers: Successors::default(),
        });
        let messages = context.messages.as_mut_ptr();
        // SAFETY: the three buffers lie one behind the other in `messages`.
        unsafe {
            context.msg = [messages, messages.add(fields)];
            context.args = messages.add(2 * fields);
        }
        context.taken = context.flags.as_mut_ptr();
        context
    }

    /// Begins the expansion of `state`, whose length is its shape's; outcomes are appended to `batch`, which
    /// nothing else may use before the expansion ends. Answers the state as code reads it: the copy, where
    /// there is one.
    #[inline(always)]
    pub fn begin(&mut self, shape: &Shape, state: &[u8], batch: &mut Successors) -> *mut u8 {
        self.note(shape, state, batch);
        if shape.copied { self.copy(state) } else { self.given.cast_mut() }
    }

    /// Notes a state of a shape whose states code reads as they are given.
    #[inline(always)]
    pub fn note(&mut self, shape: &Shape, state: &[u8], batch: &mut Successors) {
        debug_assert_eq!(state.len(), shape.len as usize, "the length of a state is its shape's");
        debug_assert_eq!(convert::shape_id(state), Some(shape.id));
        self.given = state.as_ptr();
        self.parent = shape;
        self.heard = u64::MAX;
        self.before = batch.list.len();
        self.batch = batch;
        self.point(shape, batch);
    }

    /// Copies a state; behind it there is room.
    #[cold]
    fn copy(&mut self, state: &[u8]) -> *mut u8 {
        self.copy.clear();
        self.copy.extend_from_slice(state);
        self.copy.reserve(PIECE);
        self.copy.as_mut_ptr()
    }

    /// The caller's batch.
    #[inline(always)]
    fn batch<'b>(&self) -> &'b mut Successors {
        // SAFETY: the batch was lent for the expansion; no reference to it is kept beyond a line or two of
        // this file.
        unsafe { &mut *self.batch }
    }

    /// Makes room for all outcomes of the state and sets the pointers that code uses.
    #[inline(always)]
    fn point(&mut self, shape: &Shape, Successors { list, bytes, .. }: &mut Successors) {
        let (outcomes, room) = shape.room;
        // Asked for in advance and for the worst case, so that code need not look before every record.
        if list.capacity() - list.len() < outcomes || bytes.capacity() - bytes.len() < room {
            reserve(list, outcomes, bytes, room);
        }
        debug_assert!(list.capacity() - list.len() >= outcomes, "room for every record");
        debug_assert!(bytes.capacity() - bytes.len() >= room, "room for every state");
        let base = bytes.as_mut_ptr();
        // SAFETY: both stay within the allocations.
        let (out, rec) = unsafe { (base.add(bytes.len()), list.as_mut_ptr().add(list.len())) };
        (self.base, self.out, self.rec) = (base, out, rec);
    }

    /// Takes over what code has written.
    #[inline(always)]
    fn commit_written(&mut self) {
        let Successors { list, bytes, unusual, .. } = self.batch();
        if self.unusual != 0 {
            self.unusual = 0;
            *unusual = true;
        }
        debug_assert_eq!(self.base, bytes.as_mut_ptr(), "the batch has not moved");
        debug_assert!(self.out.addr() - self.base.addr() <= bytes.capacity());
        debug_assert!(self.rec.addr() - list.as_ptr().addr() <= list.capacity() * size_of::<Successor>());
        // SAFETY: code moves both pointers only over what it has written, within the capacity.
        unsafe {
            bytes.set_len(self.out.offset_from(self.base) as usize);
            list.set_len(self.rec.offset_from(list.as_ptr()) as usize);
        }
    }

    /// Makes room for all outcomes of the state once more.
    #[inline(always)]
    fn make_room(&mut self) {
        if self.out > self.limits.0 || self.rec > self.limits.1 {
            self.go_on();
        }
    }

    /// Makes room in a batch that code will go on writing to.
    #[cold]
    fn go_on(&mut self) {
        // SAFETY: shapes outlive every expansion.
        let shape = unsafe { &*self.parent };
        self.commit_written();
        self.point(shape, self.batch());
        self.set_limits(shape);
    }

    /// Notes up to where there is room.
    fn set_limits(&mut self, shape: &Shape) {
        let Successors { list, bytes, .. } = self.batch();
        // SAFETY: there is room for all outcomes, so both stay within the allocations.
        self.limits = unsafe {
            (
                bytes.as_mut_ptr().add(bytes.capacity() - shape.room.1),
                list.as_mut_ptr().add(list.capacity() - shape.room.0),
            )
        };
    }

    /// Looks up who may take what is on offer in the state that is expanded: as it was given, because who
    /// makes the first offer may already be where it will be.
    fn find_receivers(&mut self, native: &Native, shape: &Shape) {
        self.set_limits(shape);
        self.receivers.clear();
        self.heard = 0;
        // Highest pid first, as in Spin.
        for process in shape.processes.iter().rev() {
            // SAFETY: the block is within the state.
            let location = unsafe { native.read_location(self.given.add(process.offset as usize)) };
            let Some((receive, mut hears)) = process.receive(location) else { continue };
            if let Some(listen) = process.listen(location) {
                // SAFETY: the code was made for this signature and only reads the state.
                hears = unsafe { listen(self, self.given.cast_mut(), shape, process) };
            }
            if hears != 0 {
                self.receivers.push((process, receive, hears));
                self.heard |= hears;
            }
        }
    }

    /// Whether code has written a record.
    pub fn any(&self) -> bool {
        // SAFETY: the list has that number of records.
        self.rec.cast_const() != unsafe { self.batch().list.as_ptr().add(self.before) }
    }

    /// Ends an expansion: the batch is the caller's again.
    #[inline(always)]
    pub fn end(&mut self) {
        self.commit_written();
        if cfg!(debug_assertions) && !self.list {
            self.check_outcomes();
        }
    }

    /// What a search relies on: states lie within the batch, have the length of their shape, and are
    /// transient exactly where somebody is in control.
    fn check_outcomes(&self) {
        // SAFETY: the machine outlives every expansion.
        let (batch, native) = (self.batch(), unsafe { &*self.native });
        for outcome in batch.list[self.before..].iter().filter(|outcome| outcome.has_state()) {
            let end = outcome.start as usize + outcome.len as usize;
            debug_assert!(end <= batch.bytes.len(), "a state lies within the batch");
            let state = &batch.bytes[outcome.start as usize..end];
            debug_assert!(native.shape_of(state).is_some(), "a state has the length of its shape");
            debug_assert_eq!(outcome.is_transient(), state[CONTROL as usize] != 0, "control is transient");
            debug_assert!(batch.unusual || outcome.is_ordinary(), "what is unusual is told");
        }
    }

    /// Lets the code of one process write its outcomes, where `state` is what `begin` answered. With
    /// `NARROW`, locations are bytes.
    #[inline(always)]
    pub fn expand<const NARROW: bool>(
        &mut self,
        native: &Native,
        shape: &Shape,
        process: &ProcEntry,
        state: *mut u8,
    ) {
        if !self.step::<NARROW>(native, shape, process, state) {
            self.hand_over(process.pid);
        }
    }

    /// Takes a step; false when the reference machine must do it instead.
    #[inline(always)]
    pub fn step<const NARROW: bool>(
        &mut self,
        native: &Native,
        shape: &Shape,
        process: &ProcEntry,
        state: *mut u8,
    ) -> bool {
        // SAFETY: the block is within the state, whose length is its shape's.
        let location = unsafe {
            let block = state.add(process.offset as usize);
            if NARROW { u32::from(block.read()) } else { native.read_location(block) }
        };
        let expand = process.expand::<NARROW>(location);
        // SAFETY: the code was made for this signature; it stays within the state and the buffers, where
        // there is room. It writes to the state only when that is the context's copy.
        unsafe { expand(self, state, shape, process) != SLOW }
    }

    /// Goes on with the record that code wrote where the next one was to go before, if it is the only one,
    /// leads to a transient state of the same shape, and there is room for all outcomes of that. Answers the
    /// state, and who is in control.
    #[inline(always)]
    pub fn next_of_run(&mut self, shape: &Shape, before: *mut Successor) -> Option<(*mut u8, u32)> {
        if self.rec != before.wrapping_add(1) {
            return None;
        }
        // SAFETY: code has written this record, which shows no error, and the state to which it leads.
        let (record, state) = unsafe { (&*before, self.base.add((*before).start as usize)) };
        // SAFETY: a state begins there.
        let (id, control) = unsafe { convert::read_header(state) };
        let same = id == shape.id && control.wrapping_sub(1) < shape.n_procs;
        let Successors { list, bytes, .. } = self.batch();
        // SAFETY: the end of what is allocated.
        let (most, end) = unsafe {
            (
                list.as_ptr().add(list.capacity() - shape.room.0),
                bytes.as_ptr().add(bytes.capacity() - shape.room.1),
            )
        };
        if !record.is_transient() || !same || self.rec.cast_const() > most || self.out.cast_const() > end {
            return None;
        }
        self.given = state;
        self.before += 1;
        Some((state, control))
    }

    /// Lets the reference machine find and execute everything that a process can do. A panic of a helper goes
    /// on here: code that called it has given up.
    #[cold]
    pub fn hand_over(&mut self, pid: u32) {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        // SAFETY: the machine and its shapes outlive every expansion.
        let (native, shape) = unsafe { (&*self.native, &*self.parent) };
        native.handed_over();
        // What code wrote of this process before it gave up is found again by the reference machine.
        self.commit_written();
        self.take_back(pid);
        debug_assert!(pid < shape.n_procs);
        // SAFETY: it has the shape's length, and is the caller's until the expansion ends.
        let state = unsafe { std::slice::from_raw_parts(self.given, shape.len as usize) };
        self.reference.clear();
        convert::to_interp(&native.program, &native.layout, shape, state, &mut self.reference);
        self.actions.clear();
        let timeout = self.timeout != 0;
        native.interp.moves_of_process(&self.reference, pid as usize, timeout, &mut self.actions);
        if self.list {
            for &action in &self.actions {
                self.batch().push(action, None, false, None);
            }
        } else {
            self.answers.clear();
            native.interp.fire(&self.reference, &self.actions, &mut self.answers);
            for outcome in &self.answers.list {
                native.push_adopted(self.batch(), &self.answers, outcome);
            }
        }
        self.point(shape, self.batch());
        self.set_limits(shape);
    }

    /// Removes the outcomes of a process, which are the last.
    fn take_back(&mut self, pid: u32) {
        let Successors { list, bytes, .. } = self.batch();
        let others =
            list[self.before..].iter().rposition(|outcome| Action::process(outcome.action) != pid as usize);
        let kept = others.map_or(self.before, |last| self.before + last + 1);
        if let Some(first) = list.get(kept) {
            bytes.truncate(first.start as usize);
        }
        list.truncate(kept);
    }

    /// Tells the machine which edges were taken.
    pub fn report_taken(&mut self, native: &Native) {
        let flags = if self.flags.is_empty() { &mut self.few[..] } else { &mut self.flags };
        let mut flags = flags.iter_mut();
        for proctype in 0..native.program.proctypes.len() {
            for (shared, own) in native.interp.taken_flags(ProctypeId(proctype as u32)).iter().zip(&mut flags)
            {
                // Flags of one worker are plain bytes; coverage that all share is written at the end only.
                if std::mem::take(own) != 0 {
                    shared.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

#[cold]
fn reserve(list: &mut Vec<Successor>, outcomes: usize, bytes: &mut Vec<u8>, room: usize) {
    list.reserve(outcomes);
    bytes.reserve(room);
}

/// Runs a helper's work and keeps a panic for later.
fn guarded<T>(context: *mut Context, otherwise: T, work: impl FnOnce(&mut Context) -> T) -> T {
    // SAFETY: code passes the context that it was given, and nothing else refers to it meanwhile.
    let context = unsafe { &mut *context };
    match catch_unwind(AssertUnwindSafe(|| work(context))) {
        Ok(value) => value,
        Err(panic) => {
            context.panic = Some(panic);
            otherwise
        }
    }
}

/// Offers the message in the context to all other processes, highest pid first. Answers how many took it, or
/// `SLOW`. Afterwards there is as much room as before.
pub extern "C" fn offer(
    context: *mut Context,
    state: *mut u8,
    shape: *const Shape,
    sender: *const ProcEntry,
    channel: u32,
) -> u32 {
    guarded(context, SLOW, |context| {
        // SAFETY: code passes a shape and a process of it; the machine outlives the expansion.
        let (native, shape, sender) = unsafe { (&*context.native, &*shape, &*sender) };
        if context.heard == u64::MAX {
            context.find_receivers(native, shape);
        }
        let (mut taken, bit) = (0, channel_bit(channel));
        // SAFETY: nobody changes the list while a message is on offer.
        let receivers = unsafe { &*ptr::from_ref(context.receivers.as_slice()) };
        for &(process, receive, hears) in receivers {
            if hears & bit == 0 || ptr::eq(process, sender) {
                continue;
            }
            context.make_room();
            // SAFETY: the code was made for this signature, and there is room.
            let answer = unsafe { receive(context, state, shape, process, channel, 0) };
            if answer == SLOW {
                return SLOW;
            }
            taken += answer;
        }
        context.make_room();
        taken
    })
}

/// Whether somebody else would take the message in the context, in a state under construction. `SLOW` when
/// the reference machine must say.
pub extern "C" fn ask(
    context: *mut Context,
    state: *mut u8,
    shape: *const Shape,
    sender: *const ProcEntry,
    channel: u32,
) -> u32 {
    // SAFETY: code passes its context, a state and its shape, and a process of it; nothing here panics.
    let (native, shape, sender) = unsafe { (&*(*context).native, &*shape, &*sender) };
    for process in shape.processes.iter().rev().filter(|process| process.pid != sender.pid) {
        // SAFETY: the block is within the state.
        let location = unsafe { native.read_location(state.add(process.offset as usize)) };
        let Some((receive, hears)) = process.receive(location) else { continue };
        if hears & channel_bit(channel) == 0 {
            continue;
        }
        // SAFETY: the code was made for this signature; when it is asked it writes nothing.
        let answer = unsafe { receive(context, state, shape, process, channel, 1) };
        if answer > 0 {
            return answer;
        }
    }
    0
}

/// Starts a process in the state under construction, with the arguments in the context. Answers 0 when the
/// reference machine must say why that is impossible.
pub extern "C" fn run(context: *mut Context, proctype: u32) -> u32 {
    guarded(context, 0, |context| {
        // SAFETY: the machine outlives every expansion; code has put the shape there.
        let (native, old) = unsafe { (&*context.native, &*context.shape) };
        let block = &native.layout.processes[proctype as usize];
        let cells = old.local_cells as usize + block.cells.len();
        if old.n_procs >= 255 || old.n_chans as usize + block.chans.len() > 255 || cells > 1 << 22 {
            return 0;
        }
        let Some(shape) = native.shapes.child(&native.layout, old, proctype as usize) else { return 0 };
        let definition = &native.program.proctypes[proctype as usize];
        // SAFETY: there is room for a state with one more block behind `out`, and arguments for all
        // parameters.
        unsafe {
            let new = context.out.add(old.hidden as usize);
            ptr::copy(new, new.add(block.size as usize), native.layout.hidden as usize);
            ptr::write_bytes(new, 0, block.size as usize);
            let header = context.out.cast::<[u8; 4]>().read();
            let control = u32::from(header[CONTROL as usize]) << 24;
            context.out.cast::<[u8; 4]>().write((shape.id | control).to_le_bytes());
            native.write_location(new, definition.start.0);
            for cell in 0..definition.n_params as usize {
                let scalar = block.scalars[cell];
                let value = scalar.truncate(context.args.add(cell).read()).to_le_bytes();
                ptr::copy_nonoverlapping(value.as_ptr(), new.add(block.cells[cell] as usize), scalar.width());
            }
        }
        context.shape = shape;
        let ok = match (native.code.init[proctype as usize], shape.processes.last()) {
            // SAFETY: the code was made for this signature; it changes the state under construction only.
            (Some(init), Some(process)) => unsafe { init(context, context.out, shape, process) },
            _ => 1,
        };
        for &cell in &definition.location(definition.start).dead {
            let (at, scalar) = (block.cells[cell as usize], block.scalars[cell as usize]);
            // SAFETY: a cell of the new block.
            unsafe { ptr::write_bytes(context.out.add((old.hidden + at) as usize), 0, scalar.width()) };
        }
        ok
    })
}

/// Moves bytes; the two ranges may overlap.
pub extern "C" fn move_bytes(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: code passes two ranges inside states.
    unsafe { ptr::copy(from, to, n) };
}
