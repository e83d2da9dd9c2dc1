//! `difftest ctl`: random formulas of branching time about random programs; see [`testkit::branching`]. It
//! needs no Spin.

use std::fs;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use testkit::branching::{Asked, ask, program};
use testkit::ours::Spinor;

use crate::options::Options;
use crate::seeds::Seeds;

/// What was seen.
#[derive(Default)]
struct Counts {
    programs: usize,
    asked: Asked,
    contradictions: usize,
}

struct Session<'a> {
    options: &'a Options,
    spinor: Spinor,
    seeds: Seeds,
    counts: Mutex<Counts>,
}

/// Asks; the exit code is 1 after a contradiction, 2 when the binary is missing.
pub fn run(options: &Options) -> ExitCode {
    let Some(mut spinor) = Spinor::find(options.spinor.as_deref()) else {
        println!("difftest: SKIPPED, nothing was asked: no spinor binary (use --spinor)");
        return ExitCode::from(2);
    };
    spinor.extra = options.extra.clone();
    let counts = Mutex::new(Counts::default());
    let session = Session { options, spinor, seeds: Seeds::new(options), counts };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| session.work());
        }
    });
    session.finish()
}

impl Session<'_> {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(seed) = self.seeds.take() {
            if self.counts().contradictions >= self.options.stop {
                return;
            }
            let (program, mut asked) = (program(seed), Asked::default());
            let found = ask(&program, &self.spinor, &mut asked);
            let mut counts = self.counts();
            counts.programs += 1;
            counts.asked.compared += asked.compared;
            counts.asked.hold += asked.hold;
            counts.asked.with_ltl += asked.with_ltl;
            counts.asked.unknown += asked.unknown;
            counts.contradictions += usize::from(found.is_err());
            drop(counts);
            if let Err(why) = found {
                let path = self.options.keep.join(format!("ctl-{seed}.pml"));
                let text = format!("// seed {seed}: {why}\n{}", program.with_formulas());
                let written = fs::create_dir_all(&self.options.keep).and_then(|()| fs::write(&path, &text));
                if let Err(error) = written {
                    eprintln!("difftest: {}: {error}", path.display());
                }
                println!("CONTRADICTION {}\n{text}", path.display());
            } else if self.options.verbose {
                println!("{seed}: {} compared, {} unknown", asked.compared, asked.unknown);
            }
        }
    }

    fn finish(&self) -> ExitCode {
        let Counts { programs, asked, contradictions } = &*self.counts();
        println!("{}", self.seeds.given());
        println!(
            "difftest ctl: {programs} programs, {} formulas compared with the evaluator ({} hold), {} with ltl, {} unknown, {contradictions} contradictions",
            asked.compared, asked.hold, asked.with_ltl, asked.unknown
        );
        ExitCode::from(u8::from(*contradictions > 0))
    }
}
