//! `difftest cuts`: random programs with errors in them, asked about everything in every way; see
//! [`testkit::cuts`]. It needs no Spin.

use std::process::ExitCode;

use testkit::cuts::{Asked, Erring, RUN_WAYS, SAFETY_WAYS, Way, ask, erring};
use testkit::model::Model;
use testkit::ours::Spinor;
use testkit::shrink::shrink;

use crate::options::Options;
use crate::session::{self, Session};

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

impl session::Counts for Counts {
    fn wrong(&self) -> usize {
        self.contradictions
    }
}

struct Asking<'a> {
    session: Session<'a, Counts>,
    spinor: Spinor,
}

/// Asks; the exit code is 1 after a contradiction, 2 when the binary is missing.
pub fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let asking = Asking { spinor: session::spinor(options)?, session: Session::new(options) };
    asking.session.each(|seed| asking.one(seed));
    Ok(asking.finish())
}

impl Asking<'_> {
    fn one(&self, seed: u64) {
        let program = erring(seed);
        let (runs, safety) = (self.ways(seed, &RUN_WAYS), self.ways(seed, &SAFETY_WAYS));
        let mut asked = Asked::default();
        let found = ask(&program, &self.spinor, (&runs, &safety), &mut asked);
        let mut counts = self.session.counts();
        counts.programs += 1;
        counts.asked.answers += asked.answers;
        counts.asked.unknown += asked.unknown;
        counts.asked.refused += asked.refused;
        counts.contradictions += usize::from(found.is_err());
        drop(counts);
        if let Err(why) = found {
            self.report(seed, &program, (&runs, &safety), &why);
        } else if self.session.options.verbose {
            println!("{seed}: {} answers, {} unknown", asked.answers, asked.unknown);
        }
    }

    /// The ways that belong to a seed: the first one and some others in turn, or all.
    fn ways(&self, seed: u64, all: &[Way]) -> Vec<Way> {
        if self.session.options.every_way {
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
        if self.session.options.shrink {
            small = with(&shrink(&program.model, SHRINK_BUDGET, |model| broken(&with(model)).is_some()));
        }
        let told = broken(&small).unwrap_or_else(|| why.to_string());
        let text = format!("// seed {seed}: {told}\n{}", small.text());
        self.session.write_down("CONTRADICTION", &format!("cuts-{seed}.pml"), &text);
    }

    fn finish(&self) -> ExitCode {
        let Counts { programs, asked, contradictions } = &*self.session.counts();
        println!("{}", self.session.seeds.given());
        println!(
            "difftest cuts: {programs} programs, {} answers, {} of them unknown, {} ways refused, {contradictions} contradictions",
            asked.answers, asked.unknown, asked.refused
        );
        ExitCode::from(u8::from(*contradictions > 0))
    }
}
