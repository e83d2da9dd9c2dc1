//! `difftest cuts`: random programs with errors in them, asked about everything in every way; see
//! [`testkit::cuts`]. It needs no Spin.

use std::fs;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use testkit::cuts::{Asked, Erring, RUN_WAYS, SAFETY_WAYS, Way, ask, erring};
use testkit::model::Model;
use testkit::ours::Spinor;
use testkit::shrink::shrink;

use crate::options::Options;
use crate::seeds::Seeds;

/// How often a failing program may be tried in smaller forms.
const SHRINK_BUDGET: usize = 300;
/// Ways that are tried with each program, beside the first, unless all are.
const IN_TURN: usize = 5;

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
            let program = erring(seed);
            let (runs, safety) = (self.ways(seed, &RUN_WAYS), self.ways(seed, &SAFETY_WAYS));
            let mut asked = Asked::default();
            let found = ask(&program, &self.spinor, (&runs, &safety), &mut asked);
            let mut counts = self.counts();
            counts.programs += 1;
            counts.asked.answers += asked.answers;
            counts.asked.unknown += asked.unknown;
            counts.asked.refused += asked.refused;
            counts.contradictions += usize::from(found.is_err());
            drop(counts);
            if let Err(why) = found {
                self.report(seed, &program, (&runs, &safety), &why);
            } else if self.options.verbose {
                println!("{seed}: {} answers, {} unknown", asked.answers, asked.unknown);
            }
        }
    }

    /// The ways that belong to a seed: the first one and some others in turn, or all.
    fn ways(&self, seed: u64, all: &[Way]) -> Vec<Way> {
        if self.options.every_way {
            return all.to_vec();
        }
        let turn = (seed as usize).wrapping_mul(IN_TURN);
        let others = (0..IN_TURN).map(|at| all[1 + turn.wrapping_add(at) % (all.len() - 1)]);
        std::iter::once(all[0]).chain(others).collect()
    }

    /// Shrinks a program, prints it and writes it down.
    fn report(&self, seed: u64, program: &Erring, (runs, safety): (&[Way], &[Way]), why: &str) {
        let with = |model: &Model| Erring { model: model.clone(), ..program.clone() };
        let broken =
            |program: &Erring| ask(program, &self.spinor, (runs, safety), &mut Asked::default()).err();
        let mut small = program.clone();
        if self.options.shrink {
            small = with(&shrink(&program.model, SHRINK_BUDGET, |model| broken(&with(model)).is_some()));
        }
        let told = broken(&small).unwrap_or_else(|| why.to_string());
        let text = format!("// seed {seed}: {told}\n{}", small.text());
        let path = self.options.keep.join(format!("cuts-{seed}.pml"));
        let written = fs::create_dir_all(&self.options.keep).and_then(|()| fs::write(&path, &text));
        if let Err(error) = written {
            eprintln!("difftest: {}: {error}", path.display());
        }
        println!("CONTRADICTION {}\n{text}", path.display());
    }

    fn finish(&self) -> ExitCode {
        let Counts { programs, asked, contradictions } = &*self.counts();
        println!("{}", self.seeds.given());
        println!(
            "difftest cuts: {programs} programs, {} answers, {} of them unknown, {} ways refused, {contradictions} contradictions",
            asked.answers, asked.unknown, asked.refused
        );
        ExitCode::from(u8::from(*contradictions > 0))
    }
}
