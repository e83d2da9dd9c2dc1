//! What all comparisons have in common: the tools, workers that take seeds, counts that they add to, and
//! programs that are written down where something is wrong.

use std::fs;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use testkit::ours::Spinor;
use testkit::spin::Spin;

use crate::options::Options;
use crate::seeds::Seeds;

/// What a comparison counts.
pub trait Counts: Default + Send {
    /// How often something was wrong.
    fn wrong(&self) -> usize;
}

/// A comparison over many seeds.
pub struct Session<'a, C> {
    pub options: &'a Options,
    pub seeds: Seeds,
    counts: Mutex<C>,
}

impl<'a, C: Counts> Session<'a, C> {
    pub fn new(options: &'a Options) -> Self {
        Session { options, seeds: Seeds::new(options), counts: Mutex::new(C::default()) }
    }

    /// What was counted so far. A worker that panicked has not left them half changed.
    pub fn counts(&self) -> MutexGuard<'_, C> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `one` with every seed, in as many threads as are wanted, until enough is wrong.
    pub fn each(&self, one: impl Fn(u64) + Sync) {
        let work = || {
            while let Some(seed) = self.seeds.take() {
                if self.counts().wrong() >= self.options.stop {
                    return;
                }
                one(seed);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.options.jobs {
                scope.spawn(work);
            }
        });
    }

    /// Prints a program that shows something wrong, after a word for it, and writes it to a file.
    pub fn write_down(&self, word: &str, file: &str, text: &str) {
        let path = self.options.keep.join(file);
        let written = fs::create_dir_all(&self.options.keep).and_then(|()| fs::write(&path, text));
        if let Err(error) = written {
            eprintln!("difftest: {}: {error}", path.display());
        }
        println!("{word} {}\n{text}", path.display());
    }
}

/// The binary under test, with the options that go with every call.
pub fn spinor(options: &Options) -> Result<Spinor, ExitCode> {
    let Some(mut spinor) = Spinor::find(options.spinor.as_deref()) else {
        return Err(skipped("no spinor binary (use --spinor)"));
    };
    spinor.extra = options.extra.clone();
    Ok(spinor)
}

/// Real Spin.
pub fn spin(options: &Options) -> Result<Spin, ExitCode> {
    let mut spin = Spin::find();
    spin.limit = options.limit;
    match spin.missing() {
        Some(why) => Err(skipped(&why)),
        None => Ok(spin),
    }
}

/// A tool is missing: that is no success.
fn skipped(why: &str) -> ExitCode {
    println!("difftest: SKIPPED, nothing was compared: {why}");
    ExitCode::from(2)
}
