//! Ctrl-C and SIGTERM: the first one asks what is running to stop and report, the second one ends the
//! process.

use engine::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status of a run that Ctrl-C (SIGINT) stopped; the engine reports every interruption with it.
pub const INTERRUPTED: u8 = 130;
/// The exit status of a run that SIGTERM stopped.
const TERMINATED: u8 = 143;

/// Flags that signals set.
#[derive(Clone, Debug, Default)]
struct Flags {
    /// Somebody asked for the end.
    asked: Arc<AtomicBool>,
    /// By SIGTERM.
    terminated: Arc<AtomicBool>,
    /// The next signal ends the process.
    insists: Arc<AtomicBool>,
}

/// From now on a file that grows beyond `ulimit -f` is an error of writing (EFBIG), which can be reported, and no
/// signal that ends the process.
pub fn survive_file_limit() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Which signals came.
#[derive(Debug)]
pub struct Signals {
    stop: Stop,
    flags: Flags,
}

impl Signals {
    /// Listens from now on: the first signal stops what obeys [`Signals::stop`].
    pub fn listen() -> Signals {
        let flags = Flags::default();
        // The end of memory is a reason to stop, too.
        crate::allocator::stops(&flags.asked);
        listen(&flags);
        Signals { stop: Stop::when(Arc::clone(&flags.asked)), flags }
    }

    /// What a signal stops.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The exit status: an interruption has that of its signal.
    pub fn status(&self, status: u8) -> u8 {
        match status {
            INTERRUPTED if self.flags.terminated.load(Ordering::SeqCst) => TERMINATED,
            other => other,
        }
    }
}

/// Signals in a dialogue: they stop what is being done, and while nothing is, they end the process.
#[derive(Debug)]
pub struct Interrupt {
    stop: Stop,
    flags: Flags,
}

impl Interrupt {
    /// Listens from now on. What comes before the dialogue can be stopped, too.
    pub fn listen() -> Arc<Interrupt> {
        let flags = Flags::default();
        listen(&flags);
        Arc::new(Interrupt { stop: Stop::when(Arc::clone(&flags.asked)), flags })
    }

    /// What a signal stops.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Nothing is being done any more.
    pub fn idle(&self) {
        self.flags.insists.store(true, Ordering::SeqCst);
        // What comes next is not stopped by a signal that came too late.
        self.flags.asked.store(false, Ordering::SeqCst);
    }

    /// Does something that a signal stops: `work` asks the [`Stop`] that it is given, as the machine does.
    pub fn during<T>(&self, work: impl FnOnce(&Stop) -> T) -> T {
        self.flags.asked.store(false, Ordering::SeqCst);
        self.flags.insists.store(false, Ordering::SeqCst);
        let result = work(&self.stop);
        self.idle();
        result
    }
}

/// Lets signals set the flags. No thread waits for them: each would need address space, which may be short.
/// Where a handler cannot be set, the signal ends the process at once, which is no harm either.
#[cfg(unix)]
fn listen(flags: &Flags) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag::{register, register_conditional_shutdown};
    for (signal, status) in [(SIGINT, INTERRUPTED), (SIGTERM, TERMINATED)] {
        // In this order they are done when the signal comes.
        let _ = register_conditional_shutdown(signal, i32::from(status), Arc::clone(&flags.insists));
        let _ = register(signal, Arc::clone(&flags.insists));
        if signal == SIGTERM {
            let _ = register(signal, Arc::clone(&flags.terminated));
        }
        let _ = register(signal, Arc::clone(&flags.asked));
    }
}

/// Listens to Ctrl-C alone, where there are no other signals.
#[cfg(not(unix))]
fn listen(flags: &Flags) {
    let flags = flags.clone();
    let _ = ctrlc::set_handler(move || {
        if flags.insists.swap(true, Ordering::SeqCst) {
            leave();
        }
        flags.asked.store(true, Ordering::SeqCst);
    });
}

#[cfg(not(unix))]
#[allow(clippy::exit, reason = "the user insists, and the search may not be listening")]
fn leave() -> ! {
    std::process::exit(i32::from(INTERRUPTED))
}
