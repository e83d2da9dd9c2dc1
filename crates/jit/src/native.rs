//! The compiled machine: finds the code for where each process is, and lends it buffers.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use machine::Interp;
use machine::interp::action::Action;
use promela::ir::Program;
use system::{ActionId, Fault, FaultKind, Labels, Successor, Successors, TransitionSystem};

use crate::code::Code;
use crate::convert;
use crate::layout::{CONTROL, LABEL_ACCEPT, LABEL_END, LABEL_PROGRESS, Layout};
use crate::runtime::Context;
use crate::shape::{Shape, Shapes};

/// A program with its code.
pub struct Native {
    pub(crate) program: Arc<Program>,
    pub(crate) layout: Layout,
    pub(crate) shapes: Shapes,
    pub(crate) interp: Interp,
    pub(crate) code: Code,
    /// A context that is not in use; threads that find none make their own.
    spare: AtomicPtr<Context>,
    /// How often the reference machine was asked.
    handed_over: AtomicU64,
}

impl Drop for Native {
    fn drop(&mut self) {
        let spare = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        if !spare.is_null() {
            // SAFETY: it was put there by `Box::into_raw`.
            drop(unsafe { Box::from_raw(spare) });
        }
    }
}

impl Native {
    /// Puts the parts together.
    pub fn new(program: Arc<Program>, layout: Layout, interp: Interp, code: Code) -> Self {
        let shapes = Shapes::new(&program, &layout);
        Native {
            program,
            layout,
            shapes,
            interp,
            code,
            spare: AtomicPtr::default(),
            handed_over: AtomicU64::new(0),
        }
    }

    /// Counts a question to the reference machine.
    pub(crate) fn handed_over(&self) {
        self.handed_over.fetch_add(1, Ordering::Relaxed);
    }

    /// How often the reference machine was asked to try or to fire something.
    pub fn times_handed_over(&self) -> u64 {
        self.handed_over.load(Ordering::Relaxed)
    }

    fn with_context<T>(&self, work: impl FnOnce(&mut Context) -> T) -> T {
        let spare = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        let mut context = match spare.is_null() {
            true => Context::new(self),
            // SAFETY: it was put there by `Box::into_raw` and taken out by nobody else.
            false => unsafe { Box::from_raw(spare) },
        };
        let result = work(&mut context);
        let old = self.spare.swap(Box::into_raw(context), Ordering::AcqRel);
        if !old.is_null() {
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(old) });
        }
        result
    }

    /// The shape of a state; `None` for bytes that are no state.
    fn shape_of(&self, state: &[u8]) -> Option<&Shape> {
        let shape = self.shapes.get(convert::shape_id(state)?)?;
        let control = usize::from(state[CONTROL as usize]);
        (shape.len as usize == state.len() && control <= shape.processes.len()).then_some(shape)
    }

    /// Reads the location at the beginning of a block.
    ///
    /// # Safety
    /// `block` points to a block of a state.
    #[inline(always)]
    pub(crate) unsafe fn read_location(&self, block: *const u8) -> u32 {
        // SAFETY: a block begins with a location of this width.
        unsafe {
            match self.layout.location.bytes() {
                1 => u32::from(block.read()),
                2 => u32::from(block.cast::<u16>().read_unaligned()),
                _ => block.cast::<u32>().read_unaligned(),
            }
        }
    }

    /// Writes the location at the beginning of a block.
    ///
    /// # Safety
    /// `block` points to a block of a state that may be written.
    pub(crate) unsafe fn write_location(&self, block: *mut u8, location: u32) {
        let bytes = location.to_le_bytes();
        // SAFETY: a block begins with a location of this width.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), block, self.layout.location.bytes()) };
    }

    /// Appends the state that the reference machine's bytes stand for.
    pub(crate) fn adopt(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        convert::from_interp(&self.program, &self.layout, &self.shapes, bytes, out)
    }

    /// The state as the reference machine writes it. Empty for bytes that are no state.
    pub fn to_interp(&self, state: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(shape) = self.shape_of(state) {
            convert::to_interp(&self.program, &self.layout, shape, state, &mut bytes);
        }
        bytes
    }

    pub(crate) fn too_many_shapes(&self) -> Fault {
        Fault {
            kind: FaultKind::Runtime,
            message: "processes come and go in more ways than can be numbered (2^24)".into(),
            file: self.program.name.clone(),
            line: 1,
            column: 1,
            process: None,
            pid: None,
        }
    }

    /// Lets the code of one process write its outcomes.
    #[inline(always)]
    fn expand_process(&self, context: &mut Context, shape: &Shape, pid: usize, timeout: bool) {
        let process = &shape.processes[pid];
        let state = context.state.as_mut_ptr();
        // SAFETY: the block is within the state, whose length was compared with the shape's.
        let location = unsafe { self.read_location(state.add(process.offset as usize)) };
        if let Some(&Some(expand)) = self.code.expand[process.proctype as usize].get(location as usize) {
            // SAFETY: the code was made for this signature; it stays within the state and the context's buffers.
            unsafe { expand(context, state, shape, pid as u32, location, u32::from(timeout)) };
        }
    }

    /// Lets the code of all processes that may move write their outcomes.
    fn expand_all(&self, context: &mut Context, shape: &Shape) {
        if let Some(pid) = context.state[CONTROL as usize].checked_sub(1) {
            return self.expand_process(context, shape, usize::from(pid), false);
        }
        for pid in (0..shape.processes.len()).rev() {
            self.expand_process(context, shape, pid, false);
        }
        if self.program.uses.timeout && !context.any() {
            for pid in (0..shape.processes.len()).rev() {
                self.expand_process(context, shape, pid, true);
            }
        }
    }

    /// Appends everything that is enabled.
    pub fn expand(&self, state: &[u8], out: &mut Successors) {
        let Some(shape) = self.shape_of(state) else { return };
        self.with_context(|context| {
            context.begin(self, shape, state, std::mem::take(&mut out.bytes), false);
            self.expand_all(context, shape);
            let Successors { list, bytes, faults } = out;
            *bytes = context.end(faults, |outcome| list.push(outcome));
        });
    }

    /// Appends the enabled actions.
    pub fn enabled(&self, state: &[u8], out: &mut Vec<ActionId>) {
        let Some(shape) = self.shape_of(state) else { return };
        self.with_context(|context| {
            context.begin(self, shape, state, Vec::new(), true);
            self.expand_all(context, shape);
            context.end(&mut Vec::new(), |outcome| out.push(outcome.action));
        });
    }

    /// Whether nobody can move without `timeout`.
    fn needs_timeout(&self, context: &mut Context, shape: &Shape, state: &[u8]) -> bool {
        if !self.program.uses.timeout || state[CONTROL as usize] != 0 {
            return false;
        }
        context.begin(self, shape, state, Vec::new(), true);
        let quiet = (0..shape.processes.len()).rev().all(|pid| {
            self.expand_process(context, shape, pid, false);
            !context.any()
        });
        context.end(&mut Vec::new(), |_| {});
        quiet
    }

    /// Appends the outcomes of chosen actions. The processes that they belong to are expanded, no others.
    pub fn fire(&self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        let Some(shape) = self.shape_of(state) else {
            return self.interp.fire(state, actions, out);
        };
        let mut pids: Vec<usize> = actions.iter().map(|&id| Action::unpack(id).pid).collect();
        pids.sort_unstable();
        pids.dedup();
        self.with_context(|context| {
            let timeout = self.needs_timeout(context, shape, state);
            let mut found: Vec<Successor> = Vec::new();
            context.begin(self, shape, state, std::mem::take(&mut out.bytes), false);
            for &pid in pids.iter().filter(|&&pid| pid < shape.processes.len()) {
                self.expand_process(context, shape, pid, timeout);
            }
            out.bytes = context.end(&mut out.faults, |outcome| found.push(outcome));
            for &action in actions {
                match found.iter().find(|outcome| outcome.action == action) {
                    Some(outcome) => out.list.push(*outcome),
                    None => self.fire_unknown(state, action, out),
                }
            }
        });
    }

    /// An action that is not enabled: the reference machine says what is wrong with it.
    fn fire_unknown(&self, state: &[u8], action: ActionId, out: &mut Successors) {
        let mut batch = Successors::default();
        self.interp.fire(&self.to_interp(state), &[action], &mut batch);
        for outcome in &batch.list {
            let bytes = batch.state(outcome).and_then(|bytes| {
                let mut adopted = Vec::new();
                self.adopt(bytes, &mut adopted).map(|()| adopted)
            });
            out.push(action, bytes.as_deref(), outcome.is_transient(), batch.fault(outcome).cloned());
        }
    }

    /// Label bits.
    pub fn labels(&self, state: &[u8]) -> Labels {
        let Some(shape) = self.shape_of(state) else { return Labels::default() };
        let (mut any, mut all) = (0, LABEL_END);
        for process in &shape.processes {
            // SAFETY: the block is within the state, whose length was compared with the shape's.
            let location = unsafe { self.read_location(state.as_ptr().add(process.offset as usize)) };
            let labels = &self.layout.processes[process.proctype as usize].labels;
            let bits = labels.get(location as usize).copied().unwrap_or(0);
            any |= bits;
            all &= bits;
        }
        let is_empty = |channel: &crate::shape::ChanEntry| {
            let class = &self.layout.channels[channel.class as usize];
            class.capacity == 0 || convert::get(&state[channel.offset as usize..], class.len) == Some(0)
        };
        Labels {
            accepting: any & LABEL_ACCEPT != 0,
            progress: any & LABEL_PROGRESS != 0,
            valid_end: all & LABEL_END != 0,
            channels_empty: shape.channels.iter().all(is_empty),
        }
    }

    /// The ends of all components of a key but the last: header and globals, channels, processes.
    pub fn cuts(&self, key: &[u8], out: &mut Vec<usize>) {
        let Some(shape) = convert::shape_id(key).and_then(|id| self.shapes.get(id)) else { return };
        let block = |p: &crate::shape::ProcEntry| self.layout.processes[p.proctype as usize].cells_end;
        let sized = |c: &&crate::shape::ChanEntry| self.layout.channels[c.class as usize].size > 0;
        let ends = shape.processes.iter().map(|p| (p.offset + block(p)) as usize);
        let starts = shape.processes.iter().map(|p| p.offset as usize);
        let channels = shape.channels.iter().filter(sized).map(|c| c.offset as usize);
        let before = out.len();
        out.extend(starts.chain(ends).chain(channels).filter(|&cut| cut > 0 && cut < key.len()));
        out[before..].sort_unstable();
        out.dedup();
    }

    /// Errors that the state itself shows.
    pub fn inspect(&self, state: &[u8], out: &mut Vec<Fault>) {
        if self.program.invariants.is_empty() {
            return;
        }
        if let (Some(holds), Some(shape)) = (self.code.invariants, self.shape_of(state)) {
            // SAFETY: the code was made for this signature and only reads the state, which has this shape.
            if unsafe { holds(ptr::null_mut(), state.as_ptr().cast_mut(), shape, 0) } != 0 {
                return;
            }
        }
        self.interp.inspect(&self.to_interp(state), out);
    }
}
