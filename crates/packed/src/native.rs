//! The finished code of a model: a function for each process, and the memory that they live in. The only
//! `unsafe` here: compiled code is called, and reads and writes words.

#![allow(unsafe_code)]

use std::mem;
use std::sync::Mutex;

use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use kernel::Kernel;

use crate::translate::{translate, verify};

/// State, where the first record goes, whether `timeout` is true; answers where the next record would go.
type Alternatives = unsafe extern "C" fn(*const u64, *mut u64, u32) -> *mut u64;

/// Instructions of the kernel IR beyond which code is not optimised: that would take too long.
const LARGE: usize = 60_000;

/// The code of a model.
pub struct Machine {
    slots: Vec<Alternatives>,
    /// For each process, how many records it may write.
    most: Vec<usize>,
    words: usize,
    /// Where the code is; not used again, but to free it.
    module: Mutex<Option<JITModule>>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("words", &self.words).field("most", &self.most).finish()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let module = self.module.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: the pointers into the code are in this structure alone, and are not called again.
            unsafe { module.free_memory() };
        }
    }
}

impl Machine {
    /// Compiles the function of a model.
    pub fn new(kernel: &Kernel) -> Result<Machine, String> {
        verify(kernel)?;
        let mut module = module(kernel.function.len() <= LARGE)?;
        let (mut context, mut builder) = (module.make_context(), FunctionBuilderContext::new());
        let (mut ids, mut most): (Vec<FuncId>, Vec<usize>) = (Vec::new(), Vec::new());
        for slot in 0..kernel.ends.len() {
            let mut signature = module.make_signature();
            let pointer = module.target_config().pointer_type();
            signature.params.extend([pointer, pointer, types::I32].map(AbiParam::new));
            signature.returns.push(AbiParam::new(pointer));
            let id = module.declare_anonymous_function(&signature).map_err(|e| e.to_string())?;
            context.func.signature = signature;
            let (n, b) = translate(kernel, slot, FunctionBuilder::new(&mut context.func, &mut builder));
            b.finalize(module.target_config());
            let defined = module.define_function(id, &mut context);
            defined.map_err(|e| format!("the code of process {slot} cannot be made: {e:?}"))?;
            module.clear_context(&mut context);
            ids.push(id);
            most.push(n);
        }
        module.finalize_definitions().map_err(|e| format!("the code cannot be linked: {e}"))?;
        let function = |id: &FuncId| {
            // SAFETY: the function was declared with this signature.
            unsafe { mem::transmute::<*const u8, Alternatives>(module.get_finalized_function(*id)) }
        };
        let slots = ids.iter().map(function).collect();
        Ok(Machine { slots, most, words: kernel.state.len(), module: Mutex::new(Some(module)) })
    }

    /// Processes.
    pub fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// Words of a record.
    pub fn record(&self) -> usize {
        self.words + 1
    }

    /// Records that one state may need.
    pub fn room(&self) -> usize {
        self.most.iter().sum()
    }

    /// Writes a record for each alternative of a process that is executed in a state, behind the first `at`
    /// words of `out`; answers where the next one would be.
    #[inline]
    pub fn of_process(&self, slot: usize, state: &[u64], timeout: bool, out: &mut [u64], at: usize) -> usize {
        let room = self.most[slot] * self.record();
        assert!(state.len() == self.words && at + room <= out.len(), "there is room");
        // SAFETY: the code reads the words of the state and writes at most `most` records, for which there is
        // room, as was just seen; both are borrowed for so long. What it answers points behind the last word
        // that it wrote, into the same slice.
        unsafe {
            let first = out.as_mut_ptr();
            let next = self.slots[slot](state.as_ptr(), first.add(at), u32::from(timeout));
            next.offset_from(first) as usize
        }
    }
}

fn module(optimise: bool) -> Result<JITModule, String> {
    let mut flags = settings::builder();
    let checked = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("opt_level", if optimise { "speed" } else { "none" }),
        ("enable_verifier", checked),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).map_err(|e| e.to_string())?;
    }
    let isa = cranelift_native::builder().map_err(|e| format!("this processor is not supported: {e}"))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())?;
    Ok(JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())))
}
