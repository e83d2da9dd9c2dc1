//! The loaded object and its calls: code of the model runs here.

#![allow(unsafe_code, reason = "code that a C compiler made is loaded and called")]

use crate::compile::Failed;
use crate::limits;
use crate::page::Page;
use libloading::Library;
use promela::ir::{CContext, Code};
use std::ffi::c_int;
use std::path::Path;
use std::sync::Mutex;

type SizeOf = unsafe extern "C" fn(c_int) -> u64;
type First = unsafe extern "C" fn(c_int, *mut c_int);
type Start = unsafe extern "C" fn();
type Call = unsafe extern "C" fn(c_int, *const c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
/// Copies the variables back.
type Give = unsafe extern "C" fn(*const c_int, *mut c_int, *mut c_int);

/// The functions of a loaded object.
struct Functions {
    size: SizeOf,
    first: First,
    call: Call,
    result: Give,
    /// The copies that a call which must change nothing is given.
    scratch: (Vec<i32>, Vec<i32>),
    /// Where calls are noted, in a process that is supervised.
    page: Option<Page>,
}

/// A shared object that was made of a model.
pub struct Object {
    /// One call at a time: C has one state.
    functions: Mutex<Functions>,
    /// Of every piece the precondition.
    conditions: Vec<Option<String>>,
    n_proctypes: usize,
    /// The functions are its.
    _library: Library,
}

impl Object {
    /// Loads an object and lets C take its first values; `pieces` has the precondition of each piece and its
    /// place.
    pub fn load(
        path: &Path,
        pieces: Vec<(Option<String>, String)>,
        n_proctypes: usize,
    ) -> Result<Object, Failed> {
        let broken =
            |error: libloading::Error| Failed::Broken(format!("the compiled C cannot be loaded: {error}"));
        let page = Page::of_environment()
            .map_err(|e| Failed::Broken(format!("the supervisor is not heard: {e}")))?;
        if page.is_some() {
            limits::accept();
        }
        if let Some(page) = &page {
            if let Some(why) = page.known(Page::START) {
                return Err(Failed::Broken(format!("the C of the model {why} when it is loaded")));
            }
            page.write_places(pieces.iter().map(|(_, place)| place.as_str()));
            page.begin(u64::MAX, Page::START);
        }
        // SAFETY: the object was made of the generated file by `compile`, and a person allowed to run it; what
        // code of the model does when it is loaded is the model's.
        let library = unsafe { Library::new(path) }.map_err(broken)?;
        // SAFETY: the generated file defines these functions with these types (`generate::Writer::interface`).
        let functions = unsafe {
            Functions {
                size: *library.get::<SizeOf>(b"spinor_size\0").map_err(broken)?,
                first: *library.get::<First>(b"spinor_first\0").map_err(broken)?,
                call: *library.get::<Call>(b"spinor_call\0").map_err(broken)?,
                result: *library.get::<Give>(b"spinor_result\0").map_err(broken)?,
                scratch: (Vec::new(), Vec::new()),
                page,
            }
        };
        // SAFETY: as above.
        let start = *unsafe { library.get::<Start>(b"spinor_start\0") }.map_err(broken)?;
        // SAFETY: it takes nothing and assigns C's own variables.
        unsafe { start() };
        if let Some(page) = &functions.page {
            page.end();
        }
        let conditions = pieces.into_iter().map(|(condition, _)| condition).collect();
        Ok(Object { functions: Mutex::new(functions), conditions, n_proctypes, _library: library })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Functions) -> T) -> T {
        // Calls do not unwind, so what the lock protects is never half changed by us.
        let mut functions = self.functions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut functions)
    }

    /// The bytes of a region.
    pub fn size(&self, region: usize) -> u64 {
        // SAFETY: it takes a number and gives one.
        self.with(|functions| unsafe { (functions.size)(region as c_int) })
    }

    /// The first values of a region's cells, as many as it has.
    pub fn first(&self, region: usize, n_cells: usize) -> Vec<i32> {
        let mut cells = vec![0; n_cells];
        // SAFETY: it writes as many cells as `spinor_cells` gives for the region's size, which is `n_cells`.
        self.with(|functions| unsafe { (functions.first)(region as c_int, cells.as_mut_ptr()) });
        cells
    }

    /// Calls a piece; `Ok` is its value.
    fn call(
        &self,
        functions: &mut Functions,
        piece: u32,
        about: &[i32; 5],
        globals: &mut [i32],
        locals: &mut [i32],
    ) -> Result<i32, String> {
        let Some(condition) = self.conditions.get(piece as usize) else {
            return Err(format!("internal error: there is no piece {piece} of embedded C"));
        };
        let key = functions.page.as_ref().map(|_| key(piece, about, globals, locals));
        if let (Some(page), Some(key)) = (&functions.page, key) {
            if let Some(why) = page.known(key) {
                return Err(format!("embedded C {why}"));
            }
            page.begin(u64::from(piece), key);
        }
        let mut failed = 0;
        // SAFETY: `globals` and `locals` are the cells of the program that the file was generated for, which
        // copies no others; the rest is code of the model.
        let value = unsafe {
            (functions.call)(
                piece as c_int,
                about.as_ptr(),
                globals.as_mut_ptr(),
                locals.as_mut_ptr(),
                &mut failed,
            )
        };
        if let Some(page) = &functions.page {
            page.end();
        }
        match condition {
            Some(condition) if failed != 0 => {
                Err(format!("the precondition of embedded C is false: {}", condition.trim()))
            }
            _ => Ok(value),
        }
    }

    fn about(&self, context: CContext) -> [i32; 5] {
        let (proctype, pid) = context.process.map_or((-1, 0), |(id, pid)| (id.0 as i32, pid as i32));
        debug_assert!(proctype < self.n_proctypes as i32);
        [proctype, pid, context.n_processes as i32, context.n_channels as i32, context.last as i32]
    }
}

impl Code for Object {
    fn execute(
        &self,
        piece: u32,
        context: CContext,
        globals: &mut [i32],
        locals: &mut [i32],
    ) -> Result<(), String> {
        let about = self.about(context);
        self.with(|functions| {
            self.call(functions, piece, &about, globals, locals)?;
            // SAFETY: it writes the cells that the call has read.
            unsafe { (functions.result)(about.as_ptr(), globals.as_mut_ptr(), locals.as_mut_ptr()) };
            Ok(())
        })
    }

    fn value(&self, piece: u32, context: CContext, globals: &[i32], locals: &[i32]) -> Result<i32, String> {
        let about = self.about(context);
        self.with(|functions| {
            let (mut first, mut second) = std::mem::take(&mut functions.scratch);
            first.clear();
            first.extend_from_slice(globals);
            second.clear();
            second.extend_from_slice(locals);
            let value = self.call(functions, piece, &about, &mut first, &mut second);
            functions.scratch = (first, second);
            value
        })
    }
}

/// A hash of all that a call is given: the same in every process that checks the same model.
fn key(piece: u32, about: &[i32; 5], globals: &[i32], locals: &[i32]) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let words = about.iter().chain(globals).chain(locals).map(|&word| word as u32);
    for word in [piece, globals.len() as u32].into_iter().chain(words) {
        hash = (hash ^ u128::from(word)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        hash ^= hash >> 67;
    }
    hash.max(2)
}
