//! The finished code: one entry for every location that has some, and the memory it lives in.

use std::sync::Mutex;

use cranelift_jit::JITModule;

use crate::runtime::Context;
use crate::shape::{ProcEntry, Shape};

/// Writes the outcomes of a process: context, state, shape, process. `SLOW` when the reference machine must.
pub type Expand = unsafe extern "C" fn(*mut Context, *mut u8, *const Shape, *const ProcEntry) -> u32;
/// Lets a process take the message on offer: context, state, shape, process, channel, whether it is only
/// asked. Answers how often it did, or `SLOW`.
pub type Receive =
    unsafe extern "C" fn(*mut Context, *mut u8, *const Shape, *const ProcEntry, u32, u32) -> u32;
/// On which channels a process would take a message, and perhaps on some others: context, state, shape,
/// process. See [`channel_bit`].
pub type Listen = unsafe extern "C" fn(*mut Context, *mut u8, *const Shape, *const ProcEntry) -> u64;
/// Initialises a process, or evaluates the invariants: context, state, shape, process. 0 when something is
/// wrong.
pub type Check = unsafe extern "C" fn(*mut Context, *mut u8, *const Shape, *const ProcEntry) -> u32;

/// Set in an answer about propositions when all could be evaluated.
pub const EVALUATED: u32 = 1 << 31;
/// Propositions in one group.
pub const GROUP: usize = 31;

/// The bit that stands for a channel in a set of channels. Those that are many share one.
pub fn channel_bit(index: u32) -> u64 {
    1 << index.min(63)
}

/// The code for a location where nothing ever happens.
pub extern "C" fn nothing(_: *mut Context, _: *mut u8, _: *const Shape, _: *const ProcEntry) -> u32 {
    0
}

/// The code of a program.
pub struct Code {
    /// By proctype and location; where there is no code, there is some that does nothing. A location of one
    /// byte, whatever it is, has an entry.
    pub expand: Vec<Box<[Expand]>>,
    /// By proctype and location.
    pub receive: Vec<Box<[Option<Receive>]>>,
    /// By proctype and location, the channels on which a process there may take what is on offer: see
    /// [`channel_bit`].
    pub hears: Vec<Box<[u64]>>,
    /// By proctype and location, the code that says so more exactly, where that depends on the state.
    pub listen: Vec<Box<[Option<Listen>]>>,
    /// By proctype.
    pub init: Vec<Option<Check>>,
    /// Whether all invariants hold.
    pub invariants: Option<Check>,
    /// By group of propositions: which of them hold, and [`EVALUATED`].
    pub propositions: Vec<Option<Check>>,
    /// Whether code changes the state for a while.
    pub changes_state: bool,
    /// Whether messages may be on offer.
    pub offers: bool,
    /// Where the code is; not used again, but to free it.
    pub module: Mutex<Option<JITModule>>,
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.module.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: the pointers into the code are in this structure and in shapes that go away with it.
            unsafe { module.free_memory() };
        }
    }
}
