//! The allocator of the process: the system's, with a reserve for the moment when it has no more memory.
//!
//! Whatever grows with a search asks for its memory so that "no" is an answer (`try_reserve`, mappings), and
//! then the search stops and reports. The rest of the program, and every library, takes memory for granted:
//! without this file the process would abort there. So when the system has no more,
//!
//! - a small request is served from a reserve, and what is running is asked to stop, as by Ctrl-C; that it
//!   was for want of memory, it is told when it asks ([`is_short`]). Then its memory is free again, and there
//!   is enough to report.
//! - a large request gets "no". Who cannot take that for an answer aborts, and the abort becomes a message
//!   and status 4 ([`prepare`]).
//!
//! The reserve is never given back and never used twice: memory in it is zero until it is taken, and it needs
//! no list of what is free.
//!
//! An allocator belongs to the whole process, so this is the one place with global state. `unsafe` is what
//! Rust asks of who implements one, and of who handles a signal.
//!
//! **Tests make it fail**: in builds with debug assertions or the feature `faults`,
//! `SPINOR_FAIL_ALLOCATION=n` lets the system refuse the n-th request, `n+` that one and all that follow. At
//! the end standard error says how many requests there were, and how many of them before the search.

#![allow(unsafe_code)]

use crate::args::Format;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};

#[global_allocator]
static ALLOCATOR: WithReserve<RESERVE> = WithReserve::new();

/// Bytes of the reserve. Nothing of it is in RAM before it is used.
const RESERVE: usize = 16 << 20;

/// The system has refused a small request.
static SHORT: AtomicBool = AtomicBool::new(false);
/// What is to be stopped then.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Last words are for machines.
static JSON: AtomicBool = AtomicBool::new(false);

/// Makes sure that even an abort ends with a message and an exit status.
pub fn prepare() {
    #[cfg(any(debug_assertions, feature = "faults"))]
    faults::prepare();
    #[cfg(unix)]
    last_words::prepare();
}

/// Last words have this format.
pub fn speak(format: Format) {
    JSON.store(format == Format::Json, Relaxed);
}

/// Sets this flag when there is no more memory. Only the first flag is heard of.
pub fn stops(flag: &Arc<AtomicBool>) {
    let _ = STOP.set(Arc::clone(flag));
    if is_short() {
        flag.store(true, Relaxed);
    }
}

/// Whether the system has refused memory that somebody took for granted.
pub fn is_short() -> bool {
    SHORT.load(Acquire)
}

/// Asks what is running to stop.
#[cold]
fn tell() {
    SHORT.store(true, Release);
    if let Some(flag) = STOP.get() {
        flag.store(true, Relaxed);
    }
}

/// Memory that is handed out once, from its beginning.
#[repr(align(4096))]
struct Reserve<const N: usize> {
    bytes: UnsafeCell<[u8; N]>,
    taken: AtomicUsize,
}

// SAFETY: every byte is handed out once, to one owner: `taken` only grows. Nobody reads or writes the bytes
// here.
unsafe impl<const N: usize> Sync for Reserve<N> {}

impl<const N: usize> Reserve<N> {
    /// Memory for `layout`, zero; null when there is not enough left.
    fn take(&self, layout: Layout) -> *mut u8 {
        let start = self.bytes.get().cast::<u8>();
        let place = |taken: usize| (start as usize + taken).next_multiple_of(layout.align()) - start as usize;
        let end = |taken: usize| place(taken).checked_add(layout.size()).filter(|&end| end <= N);
        self.taken
            .fetch_update(AcqRel, Relaxed, end)
            .map_or(std::ptr::null_mut(), |taken| start.wrapping_add(place(taken)))
    }

    fn contains(&self, memory: *mut u8) -> bool {
        (memory as usize).wrapping_sub(self.bytes.get() as usize) < N
    }
}

/// The system's allocator, with a reserve.
struct WithReserve<const N: usize> {
    reserve: Reserve<N>,
}

impl<const N: usize> WithReserve<N> {
    /// More than this is not taken from the reserve at once: what asks for so much grows, and can be told
    /// that it cannot.
    const LARGEST: usize = N / 64;

    const fn new() -> Self {
        WithReserve { reserve: Reserve { bytes: UnsafeCell::new([0; N]), taken: AtomicUsize::new(0) } }
    }

    /// What is left to do when the system has refused.
    #[cold]
    fn instead(&self, layout: Layout) -> *mut u8 {
        if layout.size() > Self::LARGEST {
            return std::ptr::null_mut();
        }
        tell();
        self.reserve.take(layout)
    }

    /// Serves a request to grow memory.
    ///
    /// # Safety
    /// `memory` was allocated here with `layout`.
    #[cold]
    unsafe fn move_from(&self, memory: *mut u8, layout: Layout, to: *mut u8, size: usize) -> *mut u8 {
        if !to.is_null() {
            // SAFETY: both have room for the smaller size, and the new memory belongs to nobody else yet. The
            // old memory was allocated with `layout`, as the caller promises, and is not used any more.
            unsafe {
                std::ptr::copy_nonoverlapping(memory, to, layout.size().min(size));
                self.dealloc(memory, layout);
            }
        }
        to
    }
}

// SAFETY: memory comes from the system's allocator or from the reserve, which hands out each byte once, as
// aligned as is asked for. Nothing here unwinds, and nothing allocates.
unsafe impl<const N: usize> GlobalAlloc for WithReserve<N> {
    #[inline]
    // SAFETY: as the trait says: the size is not 0.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are the system's.
        let got = if refused() { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } };
        if got.is_null() { self.instead(layout) } else { got }
    }

    #[inline]
    // SAFETY: as the trait says: the size is not 0.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above. The reserve is zero where it has not been used.
        let got = if refused() { std::ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } };
        if got.is_null() { self.instead(layout) } else { got }
    }

    #[inline]
    // SAFETY: as the trait says: the memory was allocated here with this layout.
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !self.reserve.contains(memory) {
            // SAFETY: what is not in the reserve came from the system, with this layout.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    #[inline]
    // SAFETY: as the trait says: the memory was allocated here with this layout, and the new size is not 0
    // and not too large.
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up to the alignment, does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if self.reserve.contains(memory) {
            // SAFETY: the size is not 0, and the memory was allocated with the layout, as the caller
            // promises.
            return unsafe { self.move_from(memory, layout, self.alloc(wanted), size) };
        }
        if !refused() {
            // SAFETY: what is not in the reserve came from the system, with this layout.
            let got = unsafe { System.realloc(memory, layout, size) };
            if !got.is_null() {
                return got;
            }
        }
        // SAFETY: the memory is still what it was.
        unsafe { self.move_from(memory, layout, self.instead(wanted), size) }
    }
}

/// The model has been read and compiled: what follows belongs to the search.
pub fn search_begins() {
    #[cfg(any(debug_assertions, feature = "faults"))]
    faults::search_begins();
}

/// How many requests there were, where they were counted, in words.
pub fn counted() -> Option<String> {
    #[cfg(any(debug_assertions, feature = "faults"))]
    return faults::counted();
    #[cfg(not(any(debug_assertions, feature = "faults")))]
    None
}

#[cfg(not(any(debug_assertions, feature = "faults")))]
#[inline(always)]
fn refused() -> bool {
    false
}

#[cfg(any(debug_assertions, feature = "faults"))]
use faults::refused;

/// Requests that are refused on purpose.
#[cfg(any(debug_assertions, feature = "faults"))]
mod faults {
    use super::{AtomicBool, AtomicUsize, Relaxed};

    /// The name of the environment variable.
    const VARIABLE: &str = "SPINOR_FAIL_ALLOCATION";

    static COUNTED: AtomicBool = AtomicBool::new(false);
    static REQUESTS: AtomicUsize = AtomicUsize::new(0);
    static BEFORE: AtomicUsize = AtomicUsize::new(0);
    static FIRST: AtomicUsize = AtomicUsize::new(usize::MAX);
    static ALL: AtomicBool = AtomicBool::new(false);

    pub fn prepare() {
        let Ok(which) = std::env::var(VARIABLE) else { return };
        let (number, all) = which.strip_suffix('+').map_or((which.as_str(), false), |number| (number, true));
        FIRST.store(number.parse().unwrap_or(usize::MAX), Relaxed);
        ALL.store(all, Relaxed);
        COUNTED.store(true, Relaxed);
    }

    /// Whether a request is to be refused.
    #[inline]
    pub fn refused() -> bool {
        if !COUNTED.load(Relaxed) {
            return false;
        }
        let number = REQUESTS.fetch_add(1, Relaxed) + 1;
        let first = FIRST.load(Relaxed);
        number == first || (number > first && ALL.load(Relaxed))
    }

    /// Notes how many requests there were before the search.
    pub fn search_begins() {
        BEFORE.store(REQUESTS.load(Relaxed), Relaxed);
    }

    /// How many requests there were, if they were counted.
    pub fn counted() -> Option<String> {
        let (all, before) = (REQUESTS.load(Relaxed), BEFORE.load(Relaxed));
        COUNTED.load(Relaxed).then(|| format!("{before} before the search, {all} requests for memory\n"))
    }
}

/// What is said when there is no memory even for a report. An abort, which is all that Rust leaves to who
/// takes memory for granted, becomes an exit.
#[cfg(unix)]
mod last_words {
    use super::{JSON, Relaxed};

    /// Not a verdict, and no report.
    const STATUS: i32 = 4;
    const TEXT: &str = "error[E0999]: memory ran out, and there was not enough left to report what was found\n  \
         = help: this is not a verdict; give the process more memory (--max-memory cannot exceed what ulimit -v, control groups and the \
         machine allow), or check a smaller model\n";
    const OBJECT: &str = "{\"severity\":\"error\",\"code\":\"E0999\",\"message\":\"memory ran out, and there was not enough left to report \
         what was found\",\"file\":null,\"line\":null,\"column\":null,\"help\":\"this is not a verdict; give the process more memory, or check a \
         smaller model\",\"labels\":[],\"notes\":[]}\n";

    pub fn prepare() {
        let handler: extern "C" fn(libc::c_int) = aborted;
        // SAFETY: the handler is a function with the right arguments that calls nothing but what a handler
        // may call.
        unsafe {
            libc::signal(libc::SIGABRT, handler as libc::sighandler_t);
        }
    }

    /// Rust aborts for want of memory and of stack; its own message stands before this one.
    extern "C" fn aborted(_: libc::c_int) {
        let text = if JSON.load(Relaxed) { OBJECT } else { TEXT };
        // SAFETY: `write` and `_exit` may be called in a handler; the text is there forever.
        unsafe {
            libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
            libc::_exit(STATUS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Small = WithReserve<{ 64 << 10 }>;

    #[test]
    fn the_reserve_is_handed_out_once_and_aligned() {
        let all = Small::new();
        let mut end = 0;
        for (size, align) in [(1, 1), (3, 8), (100, 64), (5, 2), (4096, 4096), (Small::LARGEST, 16)] {
            let memory = all.reserve.take(Layout::from_size_align(size, align).unwrap());
            assert!(
                (memory as usize).is_multiple_of(align)
                    && memory as usize >= end
                    && all.reserve.contains(memory)
            );
            end = memory as usize + size;
        }
        let rest = Layout::from_size_align(64 << 10, 1).unwrap();
        assert!(all.reserve.take(rest).is_null());
        assert!(!all.reserve.take(Layout::from_size_align(1, 1).unwrap()).is_null(), "a little is left");
    }

    #[test]
    fn large_requests_are_refused_and_nobody_is_stopped() {
        let all = Small::new();
        assert!(all.instead(Layout::from_size_align(Small::LARGEST + 1, 1).unwrap()).is_null());
        assert!(!is_short());
    }

    /// What was taken from the reserve goes back to the system when it grows and the system has memory.
    #[test]
    fn memory_moves_out_of_the_reserve() {
        let all = Small::new();
        let layout = Layout::from_size_align(64, 8).unwrap();
        let memory = all.reserve.take(layout);
        // SAFETY: the memory was just taken with the layout, and is given back with what it has become.
        unsafe {
            memory.write_bytes(7, 64);
            let grown = all.realloc(memory, layout, 1000);
            assert!(!all.reserve.contains(grown));
            assert!((0..64).all(|at| *grown.add(at) == 7));
            all.dealloc(grown, Layout::from_size_align(1000, 8).unwrap());
            all.dealloc(memory, layout);
        }
    }
}
