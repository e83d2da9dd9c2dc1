//! The client of a check or a graph that shows no progress: all memory of the process counts, and it hears
//! when that is short.

use crate::release_pages::ReleasePages;
use engine::{Client, Flow, MemoryAccount, Observer, Snapshot};

/// Hears nothing but that memory is short.
pub struct Quiet {
    pages: ReleasePages,
}

impl Quiet {
    /// For a process that does nothing else.
    pub fn new() -> Self {
        Quiet { pages: ReleasePages::new() }
    }
}

impl Client for Quiet {
    fn memory_account(&self) -> MemoryAccount {
        MemoryAccount::Process
    }
}

impl Observer for Quiet {
    fn is_short_of_memory(&self) -> bool {
        crate::allocator::is_short()
    }

    fn progress(&mut self, _: &Snapshot) -> Flow {
        self.pages.tick();
        Flow::Continue
    }
}
