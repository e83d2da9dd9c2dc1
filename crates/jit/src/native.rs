//! The compiled machine: finds the code for where each process is, and lends it buffers. A worker keeps the
//! buffers.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use machine::Interp;
use machine::action::Action;
use promela::ir::Program;
use system::lean::SLOTS;
use system::{
    ActionId, ActiveMask, Capabilities, Components, Fault, FaultKind, Invariants, Labels, Processes,
    SleepMask, Successor, Successors, TransitionSystem, Worker, WorkerExt,
};

use crate::code::Code;
use crate::convert::{self, header};
use crate::layout::{CONTROL, HEADER, LABEL_ACCEPT, LABEL_END, LABEL_PROGRESS, Layout};
use crate::runtime::Context;
use crate::shape::{Shape, Shapes};
use crate::watched::Watched;

/// What is wrong with bytes whose header names no shape of this process, or one of another length. Such bytes
/// come from elsewhere (a file, another process), not from an error of this code: so they are told as an
/// error, and not asserted against.
const UNKNOWN_SHAPE: &str = "the number of the shape is unknown, or the length is another";

/// A program with its code.
pub struct Native {
    pub(crate) program: Arc<Program>,
    pub(crate) layout: Layout,
    pub(crate) shapes: Shapes,
    pub(crate) interp: Interp,
    pub(crate) code: Code,
    pub(crate) watched: Watched,
    /// Bytes of a location.
    location_bytes: u32,
    /// Whether somebody asks for `timeout`.
    uses_timeout: bool,
    /// How often the reference machine was asked.
    handed_over: AtomicU64,
}

impl Native {
    /// Puts the parts together.
    pub fn new(program: Arc<Program>, layout: Layout, interp: Interp, code: Code, watched: Watched) -> Self {
        let shapes = Shapes::new(&program, &layout, &code);
        Native {
            uses_timeout: program.uses.timeout,
            program,
            location_bytes: layout.location.bytes() as u32,
            layout,
            shapes,
            interp,
            code,
            watched,
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

    /// Buffers for one thread.
    pub fn worker(&self) -> NativeWorker<'_> {
        let [context, lister] = [false, true].map(|list| Context::new(self, list));
        NativeWorker {
            native: self,
            context,
            lister,
            listed: Successors::default(),
            last: self.shapes.empty(),
            simple: usize::MAX,
            current: Vec::new(),
        }
    }

    /// The shape of a state; `None` for bytes that are no state.
    #[inline(always)]
    pub(crate) fn shape_of(&self, state: &[u8]) -> Option<&Shape> {
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
            match self.location_bytes {
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

    /// Appends an outcome of the reference machine.
    pub(crate) fn push_adopted(&self, out: &mut Successors, from: &Successors, outcome: &Successor) {
        let (action, mut fault) = (outcome.action, from.fault(outcome).cloned());
        let Some(bytes) = from.state(outcome) else { return out.push(action, None, false, fault) };
        let mut adopted = Vec::new();
        if self.adopt(bytes, &mut adopted).is_none() {
            fault = Some(self.too_many_shapes());
            return out.push(action, None, false, fault);
        }
        out.push(action, Some(&adopted), outcome.is_transient(), fault);
        from.faults_of(outcome).skip(1).for_each(|fault| out.also(fault.clone()));
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

    /// What the code of a group of propositions answers; 0 when there is none.
    pub(crate) fn ask(&self, group: usize, state: &[u8]) -> u32 {
        match (self.code.propositions.get(group), self.shape_of(state)) {
            // SAFETY: the code was made for this signature and only reads the state, which has this shape.
            (Some(Some(code)), Some(shape)) => unsafe {
                code(ptr::null_mut(), state.as_ptr().cast_mut(), shape, ptr::null())
            },
            _ => 0,
        }
    }

    /// What the machine can tell; what it leaves to the reference machine is asked there.
    pub fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            propositions: Some(self),
            processes: Some(self),
            components: Some(self),
            portable: Some(self),
            invariants: self.interp.has_invariants().then_some(self as _),
            acceptance: None,
        }
    }
}

impl Processes for Native {
    fn process_of(&self, action: ActionId) -> u32 {
        self.interp.process_of(action)
    }

    fn partner_of(&self, action: ActionId) -> Option<u32> {
        self.interp.partner_of(action)
    }

    fn n_processes(&self, state: &[u8]) -> usize {
        self.shape_of(state).map_or(0, |shape| shape.processes.len())
    }

    fn n_parts(&self) -> u32 {
        self.interp.n_parts()
    }

    fn part_of(&self, action: ActionId) -> u32 {
        self.interp.part_of(action)
    }
}

impl Components for Native {
    /// The ends of all components of a key but the last: header and globals, channels, processes.
    fn cuts(&self, key: &[u8], out: &mut Vec<usize>) {
        let Some(shape) = convert::shape_id(key).and_then(|id| self.shapes.get(id)) else { return };
        let block = |p: &crate::shape::ProcEntry| self.layout.processes[p.proctype as usize].cells_end;
        let sized = |c: &&crate::shape::ChanEntry| self.layout.channels[c.class as usize].size > 0;
        let ends = shape.processes.iter().map(|p| p.offset as usize + block(p) as usize);
        let starts = shape.processes.iter().map(|p| p.offset as usize);
        let channels = shape.channels.iter().filter(sized).map(|c| c.offset as usize);
        let before = out.len();
        out.extend(starts.chain(ends).chain(channels).filter(|&cut| cut > 0 && cut < key.len()));
        out[before..].sort_unstable();
        out.dedup();
        debug_assert!(out[before..].is_sorted_by(|a, b| a < b), "components are not empty");
    }
}

impl Invariants for Native {
    /// Errors that the state itself shows.
    fn inspect(&self, state: &[u8], out: &mut Vec<Fault>) {
        if !self.interp.has_invariants() {
            return;
        }
        if self.program.promises.iter().any(|promise| promise.checked) {
            return self.interp.inspect(&self.to_interp(state), out);
        }
        if let (Some(holds), Some(shape)) = (self.code.invariants, self.shape_of(state)) {
            // SAFETY: the code was made for this signature and only reads the state, which has this shape.
            if unsafe { holds(ptr::null_mut(), state.as_ptr().cast_mut(), shape, ptr::null()) } != 0 {
                return;
            }
        }
        self.interp.inspect(&self.to_interp(state), out);
    }
}

/// A thread's buffers for the compiled machine.
pub struct NativeWorker<'a> {
    native: &'a Native,
    context: Box<Context>,
    /// The context of questions which actions there are.
    lister: Box<Context>,
    /// Where outcomes go of which only the actions are wanted.
    listed: Successors,
    /// The shape that the last state had.
    last: &'a Shape,
    /// The length of such states if they are [simple](Native::is_simple), else no length at all.
    simple: usize,
    /// A transient state that is being expanded.
    current: Vec<u8>,
}

impl<'a> NativeWorker<'a> {
    /// The shape of a state, and who is in control, 0: nobody; `None` for bytes that are no state. Most
    /// states have the shape that the last one had.
    #[inline(always)]
    fn shape_of(&mut self, state: &[u8]) -> Option<(&'a Shape, u32)> {
        if state.len() < HEADER as usize {
            return None;
        }
        // SAFETY: a state begins with a header.
        let (last, (id, control)) = (self.last, unsafe { convert::read_header(state.as_ptr()) });
        let same = last.id == id && last.len as usize == state.len() && control <= last.n_procs;
        if !same {
            self.last = self.native.shape_of(state)?;
            let simple = self.native.is_simple(self.last);
            self.simple = if simple { self.last.len as usize } else { usize::MAX };
        }
        Some((self.last, control))
    }

    /// Expands an ordinary and simple state of the shape that the last one had; false when this is none.
    #[inline(always)]
    fn expand_like_last(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) -> bool {
        let last = self.last;
        let same = state.len() == self.simple && header(state) == Some(last.id);
        debug_assert!(!same || self.native.is_simple(last));
        if same {
            self.native.expand_simple(&mut self.context, last, asleep, state, out);
        }
        same
    }

    /// Expands any state; if it is transient, nobody sleeps.
    #[inline(never)]
    fn expand_any(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        match self.shape_of(state) {
            Some((shape, 0)) => {
                self.native.expand_ordinary(&mut self.context, shape, asleep, state, out);
            }
            Some((shape, control)) => {
                self.native.expand_transient(&mut self.context, shape, control, state, out);
            }
            None => out.push_invalid(ActionId::INVALID, UNKNOWN_SHAPE),
        }
    }

    /// Expands a transient state, and goes on for as long as code can at once: see [`Worker::follow`].
    #[inline(always)]
    fn follow_at_once(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        match self.shape_of(state) {
            Some((shape, control @ 1..)) if self.native.location_bytes == 1 => {
                self.native.follow::<true>(&mut self.context, shape, control, state, most, out)
            }
            Some((shape, control @ 1..)) => {
                self.native.follow::<false>(&mut self.context, shape, control, state, most, out)
            }
            _ => {
                self.expand(state, out);
                0
            }
        }
    }

    /// Expands an ordinary state by the steps of one process; false when it is none, or has no such process.
    pub(crate) fn expand_process(&mut self, state: &[u8], pid: usize, out: &mut Successors) -> bool {
        let Some((shape, 0)) = self.shape_of(state) else { return false };
        let Some(process) = shape.processes.get(pid) else { return false };
        let timeout = self.needs_timeout(shape, state);
        let NativeWorker { native, context, .. } = self;
        context.timeout = u32::from(timeout);
        let code_reads = context.begin(shape, state, out);
        context.expand::<false>(native, shape, process, code_reads);
        context.end();
        context.timeout = 0;
        true
    }

    /// Whether nobody can move without `timeout`.
    fn needs_timeout(&mut self, shape: &Shape, state: &[u8]) -> bool {
        if !self.native.uses_timeout || state[CONTROL as usize] != 0 {
            return false;
        }
        let NativeWorker { native, lister, listed, .. } = self;
        listed.clear();
        let code_reads = lister.begin(shape, state, listed);
        let quiet = shape.processes.iter().rev().all(|process| {
            lister.expand::<false>(native, shape, process, code_reads);
            !lister.any()
        });
        lister.end();
        quiet
    }

    /// An action that is not enabled: the reference machine says what is wrong with it.
    fn fire_unknown(&self, state: &[u8], action: ActionId, out: &mut Successors) {
        let mut answers = Successors::default();
        self.native.interp.fire(&self.native.to_interp(state), &[action], &mut answers);
        for outcome in &answers.list {
            self.native.push_adopted(out, &answers, outcome);
        }
    }
}

impl Native {
    /// Expands a transient state.
    #[inline(always)]
    fn expand_transient(
        &self,
        context: &mut Context,
        shape: &Shape,
        control: u32,
        state: &[u8],
        out: &mut Successors,
    ) {
        match self.location_bytes {
            1 => self.follow::<true>(context, shape, control, state, 1, out),
            _ => self.follow::<false>(context, shape, control, state, 1, out),
        };
    }

    /// Expands a transient state, and goes on for as long as states have the same shape, there is room, and
    /// nothing else is in the way: see [`Worker::follow`].
    #[inline(always)]
    fn follow<const NARROW: bool>(
        &self,
        context: &mut Context,
        shape: &Shape,
        mut control: u32,
        state: &[u8],
        most: u32,
        out: &mut Successors,
    ) -> usize {
        let mut code_reads = context.begin(shape, state, out);
        // While a message is on offer the batch may move, and with it the state.
        let most = if shape.copied || self.code.offers { 1 } else { most };
        let mut followed = 0;
        loop {
            debug_assert!((1..=shape.n_procs).contains(&control));
            // SAFETY: who is in control is one of the shape's processes.
            let process = unsafe { shape.processes.get_unchecked(control as usize - 1) };
            let before = context.rec;
            if !context.step::<NARROW>(self, shape, process, code_reads) {
                context.hand_over(process.pid);
                break;
            }
            if followed + 1 >= most {
                break;
            }
            let Some(next) = context.next_of_run(shape, before) else { break };
            (code_reads, control) = next;
            followed += 1;
        }
        context.end();
        followed as usize
    }

    /// Whether states of a shape are simple: all processes have slots, locations are bytes, and code reads
    /// the state itself.
    #[inline]
    fn is_simple(&self, shape: &Shape) -> bool {
        self.location_bytes == 1 && shape.processes.len() <= SLOTS && !shape.copied
    }

    /// Expands an ordinary and simple state.
    #[inline(always)]
    fn expand_simple(
        &self,
        context: &mut Context,
        shape: &Shape,
        asleep: SleepMask,
        state: &[u8],
        out: &mut Successors,
    ) {
        context.note(shape, state, out);
        self.expand_few::<true>(context, shape, shape.slots.except(asleep), state.as_ptr().cast_mut());
        if self.uses_timeout && asleep.is_none() && !context.any() {
            self.expand_by_timeout(context, shape, state.as_ptr().cast_mut());
        }
        context.end();
    }

    /// Expands an ordinary state. Who sleeps could move, so nobody needs `timeout` then.
    #[inline(always)]
    fn expand_ordinary(
        &self,
        context: &mut Context,
        shape: &Shape,
        asleep: SleepMask,
        state: &[u8],
        out: &mut Successors,
    ) {
        let code_reads = context.begin(shape, state, out);
        self.expand_those(context, shape, shape.slots.except(asleep), code_reads);
        if self.uses_timeout && asleep.is_none() && !context.any() {
            self.expand_by_timeout(context, shape, code_reads);
        }
        context.end();
    }

    /// Lets the code of all processes write their outcomes while `timeout` is true.
    #[cold]
    fn expand_by_timeout(&self, context: &mut Context, shape: &Shape, state: *mut u8) {
        context.timeout = 1;
        self.expand_those(context, shape, shape.slots, state);
        context.timeout = 0;
    }

    /// Lets the code of the processes with these slots, and of those without one, write their outcomes.
    #[inline(always)]
    fn expand_those(&self, context: &mut Context, shape: &Shape, active: ActiveMask, state: *mut u8) {
        match self.location_bytes {
            1 => self.expand_many::<true>(context, shape, active, state),
            _ => self.expand_many::<false>(context, shape, active, state),
        }
    }

    /// Lets the code of the processes with these slots alone write their outcomes. With `NARROW`, locations
    /// are bytes.
    #[inline(always)]
    fn expand_few<const NARROW: bool>(
        &self,
        context: &mut Context,
        shape: &Shape,
        active: ActiveMask,
        state: *mut u8,
    ) {
        for slot in active {
            debug_assert!(shape.first_slot + slot < shape.processes.len());
            // SAFETY: an active slot is that of one of the shape's processes.
            let process = unsafe { shape.processes.get_unchecked(shape.first_slot + slot) };
            context.expand::<NARROW>(self, shape, process, state);
        }
    }

    /// Lets the code of the processes with these slots, and of those without one, write their outcomes: see
    /// `expand_few`.
    #[inline(never)]
    fn expand_many<const NARROW: bool>(
        &self,
        context: &mut Context,
        shape: &Shape,
        active: ActiveMask,
        state: *mut u8,
    ) {
        self.expand_few::<NARROW>(context, shape, active, state);
        for process in shape.processes[..shape.first_slot].iter().rev() {
            context.expand::<NARROW>(self, shape, process, state);
        }
    }
}

impl Worker for NativeWorker<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<ActionId>) {
        let Some((shape, control)) = self.shape_of(state) else { return out.push(ActionId::INVALID) };
        let NativeWorker { native, lister, listed, .. } = self;
        listed.clear();
        match control {
            0 => native.expand_ordinary(lister, shape, SleepMask::NONE, state, listed),
            _ => native.expand_transient(lister, shape, control, state, listed),
        }
        out.extend(listed.list.iter().map(|outcome| outcome.action));
    }

    /// The processes that the actions belong to are expanded, no others.
    fn fire(&mut self, state: &[u8], actions: &[ActionId], out: &mut Successors) {
        let Some((shape, _)) = self.shape_of(state) else {
            return actions.iter().for_each(|&action| out.push_invalid(action, UNKNOWN_SHAPE));
        };
        let timeout = self.needs_timeout(shape, state);
        let NativeWorker { native, context, .. } = self;
        let mut pids: Vec<usize> = actions.iter().map(|&id| Action::unpack(id).pid).collect();
        pids.sort_unstable();
        pids.dedup();
        let before = out.list.len();
        context.timeout = u32::from(timeout);
        let code_reads = context.begin(shape, state, out);
        for process in pids.iter().filter_map(|&pid| shape.processes.get(pid)) {
            context.expand::<false>(native, shape, process, code_reads);
        }
        context.end();
        context.timeout = 0;
        let found = out.list.split_off(before);
        for &action in actions {
            match found.iter().find(|outcome| outcome.action == action) {
                Some(outcome) => out.list.push(*outcome),
                None => self.fire_unknown(state, action, out),
            }
        }
    }

    fn follow(&mut self, state: &[u8], most: u32, out: &mut Successors) -> usize {
        let first = out.list.len();
        let mut followed = self.follow_at_once(state, most, out);
        while followed + 1 < most as usize
            && let Some(next) = out.only_transient(first + followed)
        {
            let mut current = std::mem::take(&mut self.current);
            current.clear();
            current.extend_from_slice(next);
            followed += 1 + self.follow_at_once(&current, most - followed as u32 - 1, out);
            self.current = current;
        }
        followed
    }

    fn expand_active(&mut self, state: &[u8], asleep: SleepMask, out: &mut Successors) {
        if !self.expand_like_last(state, asleep, out) {
            self.expand_any(state, asleep, out);
        }
    }
}

impl Drop for NativeWorker<'_> {
    fn drop(&mut self) {
        self.context.report_taken(self.native);
    }
}
