//! The loop: programs are generated, both tools asked, differences confirmed, shrunk and written down.

use std::process::ExitCode;

use testkit::compare::{
    CONFIGURATIONS, Class, Comparison, Configuration, DOUBTS_PROMISES, broken_promise, compare,
    compare_configurations,
};
use testkit::features::features;
use testkit::model::Model;
use testkit::ours::Spinor;
use testkit::outcome::Outcome;
use testkit::print::print;
use testkit::questions::questions_first;
use testkit::shrink::shrink;
use testkit::spin::{Compiler, Spin};

use crate::options::Options;
use crate::session::{self, Counts, Session};
use crate::stats::Stats;

/// How often a failing program may be tried in smaller forms.
const SHRINK_BUDGET: usize = 1500;

/// Everything that the workers share.
struct Comparing<'a> {
    session: Session<'a, Stats>,
    spin: Spin,
    spinor: Option<Spinor>,
}

/// Runs the comparison; the exit code is 1 after a mismatch, 2 when a tool is missing.
pub fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let spin = session::spin(options)?;
    let alone = options.spin_only || options.accept_only;
    let spinor = if alone { None } else { Some(session::spinor(options)?) };
    let comparing = Comparing { session: Session::new(options), spin, spinor };
    comparing.session.each(|seed| comparing.one(seed));
    Ok(comparing.finish())
}

impl Comparing<'_> {
    fn one(&self, seed: u64) {
        let model = self.session.options.model(seed);
        let text = print(&model);
        let spin = if self.session.options.accept_only {
            self.spin.accepts(&text)
        } else {
            self.spin.explore(&text, &[], Compiler::Quick)
        };
        self.session.counts().spin(&features(&model), &spin);
        let Some(spinor) = &self.spinor else {
            if self.session.options.verbose {
                println!("{seed}: {spin}");
            }
            return;
        };
        let ours = spinor.explore(&text);
        let (spin, mut comparison) = self.confirmed(&model, spin, &ours);
        let said = ours.to_string();
        if let (Comparison::Mismatch(_), Some(known)) =
            (&comparison, self.session.options.known.iter().find(|k| said.contains(k.as_str())))
        {
            comparison = Comparison::Inconclusive(format!("known: {known}"));
        }
        if self.session.options.verbose {
            println!("{seed}: spin {spin}; ours {ours}; {comparison:?}");
        }
        if comparison == Comparison::Agree {
            comparison = self.configurations(seed, &text, &ours, spinor);
        }
        self.session.counts().comparison(&comparison);
        if let Comparison::Mismatch(class) = comparison {
            self.report(seed, &model, class, spinor);
        }
    }

    /// Compares the reference configuration with the reductions, and with another configuration in turn. One
    /// that was not explored to the end says nothing.
    fn configurations(&self, seed: u64, text: &str, reference: &Outcome, spinor: &Spinor) -> Comparison {
        let turn = 1 + (seed / self.session.options.step) as usize % (CONFIGURATIONS.len() - 1);
        for which in [&CONFIGURATIONS[0], &CONFIGURATIONS[turn]] {
            let comparison = self.configuration(text, reference, spinor, which);
            if matches!(comparison, Comparison::Mismatch(_)) {
                return comparison;
            }
        }
        Comparison::Agree
    }

    /// Compares the reference configuration with another one.
    fn configuration(
        &self,
        text: &str,
        reference: &Outcome,
        spinor: &Spinor,
        which: &'static Configuration,
    ) -> Comparison {
        let other = spinor.explore_with(text, which.changes);
        let comparison = compare_configurations(reference, &other, which);
        if !matches!(comparison, Comparison::Mismatch(_)) {
            return comparison;
        }
        broken_promise(&other, &spinor.explore_with(text, DOUBTS_PROMISES)).unwrap_or(comparison)
    }

    /// Compares; a mismatch is confirmed with the more trusted C compiler, and known errors of Spin are told.
    fn confirmed(&self, model: &Model, spin: Outcome, ours: &Outcome) -> (Outcome, Comparison) {
        let comparison = compare(&spin, ours);
        let doubtful =
            matches!(comparison, Comparison::Mismatch(c) if c != Class::Crash && c != Class::Accept);
        if !doubtful || !self.spin.can_confirm() {
            return (spin, comparison);
        }
        let agrees = |text: &str, how| compare(&self.spin.explore(text, &[], how), ours) == Comparison::Agree;
        let text = &print(model);
        let spin = self.spin.explore(text, &[], Compiler::Thorough);
        let comparison = compare(&spin, ours);
        if comparison == Comparison::Mismatch(Class::States) && agrees(text, Compiler::Unmasked) {
            return (spin, Comparison::Inconclusive("Spin's state mask".into()));
        }
        if matches!(comparison, Comparison::Mismatch(_))
            && questions_first(model).is_some_and(|moved| agrees(&print(&moved), Compiler::Thorough))
        {
            let why = "enabled() of Spin depends on the order of options".into();
            return (spin, Comparison::Inconclusive(why));
        }
        (spin, comparison)
    }

    /// Shrinks a failing program, prints it and writes it down.
    fn report(&self, seed: u64, model: &Model, class: Class, spinor: &Spinor) {
        let fails = |candidate: &Model| {
            let text = print(candidate);
            if let Class::Configuration(which) = class {
                let reference = spinor.explore(&text);
                return self.configuration(&text, &reference, spinor, which) == Comparison::Mismatch(class);
            }
            let (spin, ours) = (self.spin.explore(&text, &[], Compiler::Quick), spinor.explore(&text));
            compare(&spin, &ours) == Comparison::Mismatch(class)
                && (class != Class::States && questions_first(candidate).is_none()
                    || self.confirmed(candidate, spin, &ours).1 == Comparison::Mismatch(class))
        };
        let small =
            if self.session.options.shrink { shrink(model, SHRINK_BUDGET, fails) } else { model.clone() };
        let text = print(&small);
        let spin = self.spin.explore(&text, &[], Compiler::Thorough);
        let ours = spinor.explore(&text);
        let head = format!("// seed {seed}, differs in: {class}\n// Spin: {spin}\n// ours: {ours}\n");
        self.session.write_down("MISMATCH", &format!("red-{seed}.pml"), &format!("{head}{text}"));
    }

    fn finish(&self) -> ExitCode {
        let mut stats = self.session.counts();
        print!("{}", stats.report());
        println!("{}", self.session.seeds.given());
        println!("{}", stats.summary());
        if stats.only_skipped() {
            return ExitCode::from(2);
        }
        ExitCode::from(u8::from(stats.wrong() > 0))
    }
}
