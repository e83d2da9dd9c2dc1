//! What compiled code calls and what it writes: the context of one expansion and the helpers.
//!
//! Code hands back *records* (an action, where its state is, whether it is transient) and writes states into an arena
//! that is the caller's batch. Whatever is rare is left to helpers: `run` and death change the shape; an
//! error, a failed assertion and all that code was not made for are given to the reference machine, which so
//! decides what they mean. No panic may pass compiled frames: helpers that could meet one keep it in the context,
//! and the caller of the code lets it go on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use machine::interp::Tried;
use promela::ir::{EdgeId, ProctypeId};
use system::{ActionId, Fault, Successor, Successors, TransitionSystem};

use crate::convert;
use crate::layout::CONTROL;
use crate::native::Native;
use crate::shape::Shape;

/// What `offer` and receivers answer when the reference machine must decide.
pub const SLOW: u32 = u32::MAX;
/// Room that is always left behind the arena's end: code copies by 16 bytes.
const SLACK: usize = 64;

/// The context of one expansion. Code knows the fields up to `args`.
#[repr(C)]
pub struct Context {
    /// Where the next state goes: the state under construction.
    pub out: *mut u8,
    /// Beyond this, there may be no room for another state.
    pub out_end: *mut u8,
    /// The first byte of the arena.
    pub base: *mut u8,
    /// Where the next record goes.
    pub rec: *mut Successor,
    /// Beyond the last record.
    pub rec_end: *mut Successor,
    /// The sender's half of a rendezvous.
    pub sender: u64,
    /// The shape of the state under construction, when a `run` changes it.
    pub shape: *const Shape,
    /// The messages on offer: of an expansion, and of asking whether a process can move.
    pub msg: [*mut i32; 2],
    /// The arguments of a `run`.
    pub args: *mut i32,
    /// Only actions are wanted.
    pub list: u32,
    native: *const Native,
    /// A copy of the state that is expanded; code changes it for a while.
    pub state: Vec<u8>,
    /// The state as it was given, and its shape.
    parent: *const [u8],
    parent_shape: *const Shape,
    /// The same for the reference machine, if it was asked.
    reference: Vec<u8>,
    arena: Vec<u8>,
    records: Vec<Successor>,
    faults: Vec<Fault>,
    messages: Vec<i32>,
    panic: Option<Box<dyn Any + Send>>,
    actions: Vec<ActionId>,
    batch: Successors,
}

// SAFETY: the pointers are into buffers that the context owns, or to what outlives it.
unsafe impl Send for Context {}

impl Context {
    /// A context without buffers.
    pub fn new(native: &Native) -> Box<Context> {
        let fields = native.layout.max_fields.max(1);
        let mut context = Box::new(Context {
            out: ptr::null_mut(),
            out_end: ptr::null_mut(),
            base: ptr::null_mut(),
            rec: ptr::null_mut(),
            rec_end: ptr::null_mut(),
            sender: 0,
            shape: ptr::null(),
            msg: [ptr::null_mut(); 2],
            args: ptr::null_mut(),
            list: 0,
            native,
            state: Vec::new(),
            parent: ptr::slice_from_raw_parts(ptr::null(), 0),
            parent_shape: ptr::null(),
            reference: Vec::new(),
            arena: Vec::new(),
            records: Vec::with_capacity(64),
            faults: Vec::new(),
            messages: vec![0; 3 * fields],
            panic: None,
            actions: Vec::new(),
            batch: Successors::default(),
        });
        let messages = context.messages.as_mut_ptr();
        // SAFETY: the three buffers lie one behind the other in `messages`.
        unsafe {
            context.msg = [messages, messages.add(fields)];
            context.args = messages.add(2 * fields);
        }
        context
    }

    /// Begins the expansion of `state`; `arena` is what successors are appended to.
    pub fn begin(&mut self, native: &Native, shape: &Shape, state: &[u8], arena: Vec<u8>, list: bool) {
        self.native = native;
        self.state.clear();
        self.state.reserve(state.len() + SLACK);
        self.state.extend_from_slice(state);
        self.parent = state;
        self.parent_shape = shape;
        self.reference.clear();
        self.records.clear();
        self.faults.clear();
        self.list = u32::from(list);
        self.arena = arena;
        self.point();
    }

    /// Sets the pointers that code uses after the buffers have moved.
    fn point(&mut self) {
        let native = self.native();
        let one = self.state.len() + native.layout.max_block as usize + SLACK;
        if self.arena.capacity() - self.arena.len() < one {
            self.arena.reserve(16 * one);
        }
        if self.records.len() == self.records.capacity() {
            self.records.reserve(64);
        }
        self.base = self.arena.as_mut_ptr();
        self.rec = self.records.as_mut_ptr();
        // SAFETY: both stay within the allocations.
        unsafe {
            self.out = self.base.add(self.arena.len());
            self.out_end = self.base.add(self.arena.capacity() - one);
            self.rec_end = self.rec.add(self.records.capacity());
            self.rec = self.rec.add(self.records.len());
        }
    }

    /// Takes over what code has written.
    fn settle(&mut self) {
        // SAFETY: code moves both pointers only over what it has written, within the capacity.
        unsafe {
            self.arena.set_len(self.out.offset_from(self.base) as usize);
            self.records.set_len(self.rec.offset_from(self.records.as_ptr()) as usize);
        }
    }

    /// Whether code has written a record.
    pub fn any(&self) -> bool {
        self.rec.cast_const() != self.records.as_ptr()
    }

    /// Ends an expansion: gives the arena back, and every record to `each`; faults are appended to `faults`.
    pub fn end(&mut self, faults: &mut Vec<Fault>, mut each: impl FnMut(Successor)) -> Vec<u8> {
        self.settle();
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        let before = faults.len() as u32;
        faults.append(&mut self.faults);
        for record in &self.records {
            let fault = if record.fault > 0 { record.fault + before } else { 0 };
            each(Successor { fault, ..*record });
        }
        std::mem::take(&mut self.arena)
    }

    fn native(&self) -> &'static Native {
        // SAFETY: the machine outlives every expansion; the lifetime does not leave this file.
        unsafe { &*self.native }
    }

    /// The expanded state as the reference machine writes it, moved out of the context for a while.
    fn take_reference(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.reference);
        if bytes.is_empty() {
            let native = self.native();
            // SAFETY: the shape lives as long as the machine, the state as long as the expansion.
            let (shape, state) = unsafe { (&*self.parent_shape, &*self.parent) };
            convert::to_interp(&native.program, &native.layout, shape, state, &mut bytes);
        }
        bytes
    }

    fn push(&mut self, record: Successor) {
        if self.rec == self.rec_end {
            self.settle();
            self.point();
        }
        // SAFETY: there is room for a record.
        unsafe {
            self.rec.write(record);
            self.rec = self.rec.add(1);
        }
    }

    /// Fires an action in the reference machine.
    fn fire(&mut self, action: ActionId) {
        let record = Successor { action, start: 0, len: Successor::NO_STATE, transient: 0, fault: 0 };
        if self.list != 0 {
            return self.push(record);
        }
        let native = self.native();
        native.handed_over();
        let reference = self.take_reference();
        self.batch.clear();
        native.interp.fire(&reference, &[action], &mut self.batch);
        self.reference = reference;
        self.settle();
        for outcome in std::mem::take(&mut self.batch.list) {
            let mut record = record;
            if let Some(fault) = self.batch.fault(&outcome) {
                self.faults.push(fault.clone());
                record.fault = self.faults.len() as u32;
            }
            if let Some(bytes) = self.batch.state(&outcome) {
                record.start = self.arena.len() as u32;
                match native.adopt(bytes, &mut self.arena) {
                    Some(()) => record.len = (self.arena.len() - record.start as usize) as u32,
                    None => {
                        self.arena.truncate(record.start as usize);
                        self.faults.push(native.too_many_shapes());
                        record.fault = self.faults.len() as u32;
                    }
                }
            }
            record.transient = u32::from(outcome.is_transient() && record.len != Successor::NO_STATE);
            self.records.push(record);
        }
        self.point();
    }
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

/// Begins an outcome: copies the state to where the next one goes and notes the action. Answers where that is, or null
/// when only the action is wanted, which is then noted.
pub extern "C" fn begin(
    context: *mut Context,
    state: *const u8,
    shape: *const Shape,
    action: u64,
) -> *mut u8 {
    // SAFETY: code passes its context, a state and its shape. Behind the state and behind the copy there are at least 16
    // bytes of slack; there is room for a state and a record, or `make_room` makes some.
    unsafe {
        if (*context).list != 0 {
            slow_fire(context, action);
            return ptr::null_mut();
        }
        let full = (*context).out > (*context).out_end || (*context).rec == (*context).rec_end;
        if full && !make_room(context) {
            return ptr::null_mut();
        }
        let (to, len) = ((*context).out, (*shape).len);
        let mut at = 0;
        while at < len as usize {
            to.add(at).cast::<u128>().write_unaligned(state.add(at).cast::<u128>().read_unaligned());
            at += 16;
        }
        let start = to.offset_from((*context).base) as u32;
        (*context).rec.write(Successor { action: ActionId(action), start, len, transient: 0, fault: 0 });
        to
    }
}

/// Completes an outcome; `control` is 1 + the pid of the process in control, 0: none.
/// `taken` says whether the edge was ever taken.
pub extern "C" fn finish(context: *mut Context, state: *mut u8, control: u32, taken: *const AtomicBool) {
    // SAFETY: `begin` has written the record, and the state is there; the flag lives as long as the machine.
    unsafe {
        note(&*taken);
        state.add(CONTROL as usize).write(control as u8);
        let rec = (*context).rec;
        (*rec).transient = u32::from(control != 0);
        (*context).out = state.add((*rec).len as usize);
        (*context).rec = rec.add(1);
    }
}

fn note(taken: &AtomicBool) {
    if !taken.load(Ordering::Relaxed) {
        taken.store(true, Ordering::Relaxed);
    }
}

/// Makes room for another state and another record, if that is possible.
#[cold]
fn make_room(context: *mut Context) -> bool {
    guarded(context, false, |context| {
        context.settle();
        context.point();
        true
    })
}

/// Lets the reference machine execute an action that is known to be enabled.
pub extern "C" fn slow_fire(context: *mut Context, action: u64) {
    guarded(context, (), |context| context.fire(ActionId(action)));
}

/// Lets the reference machine try an edge: 0 it is blocked, 1 nobody hears, 2 it is executed.
pub extern "C" fn slow_edge(context: *mut Context, pid: u32, edge: u32, timeout: u32, moved: u32) -> u32 {
    guarded(context, 0, |context| {
        let reference = context.take_reference();
        let mut actions = std::mem::take(&mut context.actions);
        actions.clear();
        let along = (pid as usize, EdgeId(edge));
        context.native().handed_over();
        let interp = &context.native().interp;
        let tried = interp.moves_along(&reference, along, timeout != 0, moved != 0, &mut actions);
        context.reference = reference;
        actions.iter().for_each(|&action| context.fire(action));
        context.actions = actions;
        code(tried)
    })
}

/// Lets the reference machine find and execute everything that a process can do.
pub extern "C" fn slow_process(context: *mut Context, pid: u32, timeout: u32) {
    guarded(context, (), |context| {
        let reference = context.take_reference();
        let mut actions = std::mem::take(&mut context.actions);
        actions.clear();
        context.native().handed_over();
        let interp = &context.native().interp;
        interp.moves_of_process(&reference, pid as usize, timeout != 0, &mut actions);
        context.reference = reference;
        actions.iter().for_each(|&action| context.fire(action));
        context.actions = actions;
    });
}

/// Asks the reference machine whether a process can do anything in a state under construction.
pub extern "C" fn slow_any_process(
    context: *mut Context,
    state: *const u8,
    shape: *const Shape,
    pid: u32,
    timeout: u32,
) -> u32 {
    guarded(context, 0, |context| {
        let native = context.native();
        native.handed_over();
        // SAFETY: code passes a state of the shape that it passes, and shapes live as long as the machine.
        let (shape, state) = unsafe { (&*shape, std::slice::from_raw_parts(state, (*shape).len as usize)) };
        let (mut bytes, mut actions) = (Vec::new(), Vec::new());
        convert::to_interp(&native.program, &native.layout, shape, state, &mut bytes);
        native.interp.moves_of_process(&bytes, pid as usize, timeout != 0, &mut actions);
        u32::from(!actions.is_empty())
    })
}

/// Asks the reference machine whether an edge could be executed in a state under construction.
pub extern "C" fn slow_any(
    context: *mut Context,
    state: *const u8,
    shape: *const Shape,
    pid: u32,
    edge: u32,
    timeout: u32,
) -> u32 {
    guarded(context, 0, |context| {
        let native = context.native();
        native.handed_over();
        // SAFETY: code passes a state of the shape that it passes, and shapes live as long as the machine.
        let (shape, state) = unsafe { (&*shape, std::slice::from_raw_parts(state, (*shape).len as usize)) };
        let mut bytes = Vec::new();
        convert::to_interp(&native.program, &native.layout, shape, state, &mut bytes);
        let along = (pid as usize, EdgeId(edge));
        code(native.interp.moves_along(&bytes, along, timeout != 0, false, &mut Vec::new()))
    })
}

fn code(tried: Tried) -> u32 {
    match tried {
        Tried::Blocked => 0,
        Tried::Unheard => 1,
        Tried::Executed => 2,
    }
}

/// Offers the message in the context to all other processes, youngest first. Answers how many took it, or `SLOW`.
pub extern "C" fn offer(
    context: *mut Context,
    state: *mut u8,
    shape: *const Shape,
    sender: u32,
    channel: u32,
    ask: u32,
) -> u32 {
    // SAFETY: code passes its context, a state and its shape; there are no other references to them meanwhile.
    let (native, shape) = unsafe { (&*(*context).native, &*shape) };
    // SAFETY: as above; the pointers are into the buffers.
    let before = unsafe {
        let records = (*context).records.as_ptr();
        ((*context).out.offset_from((*context).base), (*context).rec.cast_const().offset_from(records))
    };
    let mut taken = 0;
    for (pid, process) in shape.processes.iter().enumerate().rev() {
        if pid as u32 == sender {
            continue;
        }
        // SAFETY: the block is within the state.
        let location = unsafe { native.read_location(state.add(process.offset as usize)) };
        let Some(&Some(receive)) = native.code.receive[process.proctype as usize].get(location as usize)
        else {
            continue;
        };
        // SAFETY: the code was made for this signature, and the machine keeps it.
        let answer = unsafe { receive(context, state, shape, pid as u32, location, channel, ask) };
        if answer == SLOW {
            // SAFETY: back to where both were, which is within the buffers wherever they are now.
            unsafe {
                (*context).out = (*context).base.offset(before.0);
                (*context).rec = (*context).records.as_mut_ptr().offset(before.1);
            }
            return SLOW;
        }
        taken += answer;
        if ask != 0 && taken > 0 {
            break;
        }
    }
    // SAFETY: as above.
    let (list, action) = unsafe { ((*context).list, (*context).sender) };
    if taken > 0 && ask == 0 && list == 0 {
        let proctype = ProctypeId(shape.processes[sender as usize].proctype);
        note(&native.interp.taken_flags(proctype)[(action >> 32 & 0xff_ffff) as usize]);
    }
    taken
}

/// Starts a process in the state under construction, with the arguments in the context. Answers 0 when the
/// reference machine must say why that is impossible.
pub extern "C" fn run(context: *mut Context, proctype: u32) -> u32 {
    guarded(context, 0, |context| {
        let native = context.native();
        // SAFETY: code has put the shape there.
        let old = unsafe { &*context.shape };
        let block = &native.layout.processes[proctype as usize];
        let cells = old.local_cells as usize + block.cells.len();
        if old.n_procs >= 255 || old.n_chans as usize + block.chans.len() > 255 || cells > 1 << 22 {
            return 0;
        }
        let Some(shape) = native.shapes.child(&native.layout, old, proctype as usize) else { return 0 };
        // SAFETY: there is room for a state with one more block behind `out`, and arguments for all parameters.
        unsafe {
            let new = context.out.add(old.hidden as usize);
            ptr::copy(new, new.add(block.size as usize), native.layout.hidden as usize);
            ptr::write_bytes(new, 0, block.size as usize);
            let header = context.out.cast::<[u8; 4]>().read();
            let control = u32::from(header[CONTROL as usize]) << 24;
            context.out.cast::<[u8; 4]>().write((shape.id | control).to_le_bytes());
            let definition = &native.program.proctypes[proctype as usize];
            native.write_location(new, definition.start.0);
            for cell in 0..definition.n_params as usize {
                let scalar = block.scalars[cell];
                let value = scalar.truncate(context.args.add(cell).read()).to_le_bytes();
                ptr::copy_nonoverlapping(value.as_ptr(), new.add(block.cells[cell] as usize), scalar.width());
            }
        }
        context.shape = shape;
        // SAFETY: `begin` has written the record.
        unsafe { (*context.rec).len = shape.len };
        let ok = match native.code.init[proctype as usize] {
            // SAFETY: the code was made for this signature; it changes the state under construction only.
            Some(init) => unsafe { init(context, context.out, shape, old.n_procs) },
            None => 1,
        };
        let definition = &native.program.proctypes[proctype as usize];
        for &cell in &definition.location(definition.start).dead {
            let (at, scalar) = (block.cells[cell as usize], block.scalars[cell as usize]);
            // SAFETY: a cell of the new block.
            unsafe { ptr::write_bytes(context.out.add((old.hidden + at) as usize), 0, scalar.width()) };
        }
        ok
    })
}

/// Writes the outcome of the youngest process's death.
pub extern "C" fn end(
    context: *mut Context,
    state: *const u8,
    shape: *const Shape,
    action: u64,
    taken: *const AtomicBool,
) {
    let out = begin(context, state, shape, action);
    if out.is_null() {
        return;
    }
    // SAFETY: the shape has a process and so a parent, whose states are shorter; `begin` has copied the state.
    unsafe {
        let (shape, parent) = (&*shape, &*(*shape).parent);
        let hidden = (shape.len - shape.hidden) as usize;
        ptr::copy(out.add(shape.hidden as usize), out.add(parent.hidden as usize), hidden);
        out.cast::<[u8; 4]>().write(parent.id.to_le_bytes());
        if let Some(at) = (*(*context).native).layout.last {
            out.add(at as usize).write(parent.n_procs as u8);
        }
        (*(*context).rec).len = parent.len;
    }
    finish(context, out, 0, taken);
}

/// Moves bytes; the two ranges may overlap.
pub extern "C" fn move_bytes(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: code passes two ranges inside one channel of a state.
    unsafe { ptr::copy(from, to, n) };
}
