//! The finished code: one entry for every location that has some, and the memory it lives in.

use std::sync::Mutex;

use cranelift_jit::JITModule;

use crate::runtime::Context;
use crate::shape::Shape;

/// Writes the outcomes of a process at a location: context, state, shape, pid, location, whether `timeout` is true.
pub type Expand = unsafe extern "C" fn(*mut Context, *mut u8, *const Shape, u32, u32, u32);
/// Lets a process take the message on offer: context, state, shape, pid, location, channel, whether it is only asked.
pub type Receive = unsafe extern "C" fn(*mut Context, *mut u8, *const Shape, u32, u32, u32, u32) -> u32;
/// Initialises a process, or evaluates the invariants: context, state, shape, pid. 0 when something is wrong.
pub type Check = unsafe extern "C" fn(*mut Context, *mut u8, *const Shape, u32) -> u32;

/// The code of a program.
pub struct Code {
    /// By proctype and location.
    pub expand: Vec<Vec<Option<Expand>>>,
    /// By proctype and location.
    pub receive: Vec<Vec<Option<Receive>>>,
    /// By proctype.
    pub init: Vec<Option<Check>>,
    /// Whether all invariants hold.
    pub invariants: Option<Check>,
    /// Where the code is; not used again, but to free it.
    pub module: Mutex<Option<JITModule>>,
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.module.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: the pointers into the code are in this structure only, which goes away.
            unsafe { module.free_memory() };
        }
    }
}
