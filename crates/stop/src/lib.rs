//! When work must end: somebody asked for it (a signal), or the time is over.
//!
//! A [`Stop`] is handed to everything that can take longer than a moment. Loops ask it now and then
//! ([`Stop::check`], or [`PeriodicCheck::tick`] where one round is short). When the work must end, the thread
//! unwinds up to the nearest [`attempt`], which says why. So a computation that was cut short has no result
//! at all: nobody can take half of one for the whole. The panic hook does not see this, because nothing is
//! wrong.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why work had to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Somebody asked for it.
    Asked,
    /// The time is over.
    Time,
}

/// Knows whether work must end. Clones belong together.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    /// Work may take as long as it takes.
    pub fn never() -> Stop {
        Stop::default()
    }

    /// Work ends when the flag is set.
    pub fn when(asked: Arc<AtomicBool>) -> Stop {
        Stop { asked, deadline: None }
    }

    /// Work also ends when `time` has gone by.
    pub fn within(&self, time: Option<Duration>) -> Stop {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let deadline = self.deadline.into_iter().chain(deadline).min();
        Stop { asked: Arc::clone(&self.asked), deadline }
    }

    /// The flag to set when work is to end.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// Whether somebody asked for the end.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Why work must end; nothing while it may go on.
    pub fn cause(&self) -> Option<Cause> {
        if self.is_asked() {
            return Some(Cause::Asked);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Cause::Time)
    }

    /// Gives up if work must end: does not return, but unwinds to the nearest [`attempt`]. Within
    /// [`regardless`] it does nothing.
    pub fn check(&self) {
        if let Some(cause) = self.cause()
            && REGARDLESS.get() == 0
        {
            give_up(cause);
        }
    }

    /// Checks once in [`PERIOD`] rounds.
    pub fn periodically(&self) -> PeriodicCheck<'_> {
        PeriodicCheck { stop: self, ticks: Ticks::default() }
    }
}

/// Rounds between two looks at the clock.
const PERIOD: u32 = 1024;

/// Counts the rounds of a loop, and looks at the clock after many.
#[derive(Clone, Debug)]
pub struct PeriodicCheck<'a> {
    stop: &'a Stop,
    ticks: Ticks,
}

impl PeriodicCheck<'_> {
    /// To be called in every round.
    #[inline]
    pub fn tick(&mut self) {
        self.ticks.tick(self.stop);
    }
}

/// A counter of rounds for a loop that holds its [`Stop`] elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Ticks(u32);

impl Ticks {
    /// To be called in every round.
    #[inline]
    pub fn tick(&mut self, stop: &Stop) {
        self.0 += 1;
        if self.0 > PERIOD {
            self.look(stop);
        }
    }

    #[cold]
    fn look(&mut self, stop: &Stop) {
        self.0 = 0;
        stop.check();
    }
}

/// What unwinds.
struct GivenUp(Cause);

/// Unwinds to the nearest [`attempt`].
pub fn give_up(cause: Cause) -> ! {
    resume_unwind(Box::new(GivenUp(cause)))
}

/// Does some work; the error says why it was given up. A panic for another reason goes on.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, Cause> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| cause(&*panic).unwrap_or_else(|| resume_unwind(panic)))
}

thread_local! {
    /// In how many calls of [`regardless`] this thread is.
    static REGARDLESS: Cell<u32> = const { Cell::new(0) };
}

/// Does some work to its end, whatever the clock and others say: what was found must be told, and the steps
/// that lead there were taken before. It is the thread that is exempt, because the machine that takes these
/// steps again is the one that was searched, and other threads may still be searching it.
pub fn regardless<T>(work: impl FnOnce() -> T) -> T {
    struct Inside;
    impl Drop for Inside {
        fn drop(&mut self) {
            REGARDLESS.set(REGARDLESS.get() - 1);
        }
    }
    REGARDLESS.set(REGARDLESS.get() + 1);
    let _inside = Inside;
    work()
}

/// Why a thread unwinds, if it has given up.
pub fn cause(panic: &(dyn Any + Send)) -> Option<Cause> {
    panic.downcast_ref::<GivenUp>().map(|given_up| given_up.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_asked() {
        let stop = Stop::never();
        assert_eq!(attempt(|| stop.check()), Ok(()));
        stop.clone().flag().store(true, Ordering::Relaxed);
        assert_eq!(attempt(|| stop.check()), Err(Cause::Asked));
        assert_eq!(attempt(|| 7), Ok(7));
    }

    #[test]
    fn work_ends_when_the_time_is_over() {
        let over = Stop::never().within(Some(Duration::ZERO));
        assert_eq!(over.cause(), Some(Cause::Time));
        assert_eq!(over.within(Some(Duration::MAX)).cause(), Some(Cause::Time), "the earlier end counts");
        assert_eq!(Stop::never().within(Some(Duration::MAX)).cause(), None);
        let mut check = over.periodically();
        let endless = attempt(|| {
            loop {
                check.tick();
            }
        });
        assert_eq!(endless.map(|(): ()| ()), Err(Cause::Time));
    }

    #[test]
    fn what_was_found_is_told_regardless() {
        let over = Stop::never().within(Some(Duration::ZERO));
        assert_eq!(attempt(|| regardless(|| over.check())), Ok(()));
        let inner_panic = catch_unwind(|| regardless::<()>(|| resume_unwind(Box::new("a bug"))));
        assert!(inner_panic.is_err());
        assert_eq!(attempt(|| over.check()), Err(Cause::Time), "afterwards it is obeyed again");
    }

    #[test]
    fn other_panics_go_on() {
        let panic = catch_unwind(|| attempt(|| resume_unwind(Box::new("a bug"))).map(|(): ()| ()));
        assert!(panic.is_err());
    }
}
