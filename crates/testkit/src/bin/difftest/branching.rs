//! `difftest ctl`: random formulas of branching time about random programs; see [`testkit::branching`]. It
//! needs no Spin.

use std::process::ExitCode;

use testkit::branching::{Asked, ask, program};
use testkit::ours::Spinor;

use crate::options::Options;
use crate::session::{self, Session};

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
        let (program, mut asked) = (program(seed), Asked::default());
        let found = ask(&program, &self.spinor, &mut asked);
        let mut counts = self.session.counts();
        counts.programs += 1;
        counts.asked.compared += asked.compared;
        counts.asked.hold += asked.hold;
        counts.asked.with_ltl += asked.with_ltl;
        counts.asked.early += asked.early;
        counts.asked.unknown += asked.unknown;
        counts.asked.by_sets += asked.by_sets;
        counts.asked.refused += asked.refused;
        counts.contradictions += usize::from(found.is_err());
        drop(counts);
        if let Err(why) = found {
            let text = format!("// seed {seed}: {why}\n{}", program.with_formulas());
            self.session.write_down("CONTRADICTION", &format!("ctl-{seed}.pml"), &text);
        } else if self.session.options.verbose {
            println!("{seed}: {} compared, {} unknown", asked.compared, asked.unknown);
        }
    }

    fn finish(&self) -> ExitCode {
        let Counts { programs, asked, contradictions } = &*self.session.counts();
        println!("{}", self.session.seeds.given());
        println!(
            "difftest ctl: {programs} programs, {} formulas compared with the evaluator ({} hold), {} of both engines, {} with ltl, {} with an early end, {} unknown, {} times refused, {contradictions} contradictions",
            asked.compared,
            asked.hold,
            asked.by_sets,
            asked.with_ltl,
            asked.early,
            asked.unknown,
            asked.refused
        );
        ExitCode::from(u8::from(*contradictions > 0))
    }
}
