//! The loop: programs are generated, both tools asked, differences confirmed, shrunk and written down.

use std::fs;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
use crate::seeds::Seeds;
use crate::stats::Stats;

/// How often a failing program may be tried in smaller forms.
const SHRINK_BUDGET: usize = 1500;

/// Everything that the workers share.
struct Session<'a> {
    options: &'a Options,
    spin: Spin,
    spinor: Option<Spinor>,
    seeds: Seeds,
    stats: Mutex<Stats>,
}

/// Runs the comparison; the exit code is 1 after a mismatch, 2 when a tool is missing.
pub fn run(options: &Options) -> ExitCode {
    let mut spin = Spin::find();
    spin.limit = options.limit;
    if let Some(why) = spin.missing() {
        println!("difftest: SKIPPED, nothing was compared: {why}");
        return ExitCode::from(2);
    }
    let spinor = if options.spin_only || options.accept_only {
        None
    } else {
        match Spinor::find(options.spinor.as_deref()) {
            Some(mut spinor) => {
                spinor.extra = options.extra.clone();
                Some(spinor)
            }
            None => {
                println!("difftest: SKIPPED, nothing was compared: no spinor binary (use --spinor)");
                return ExitCode::from(2);
            }
        }
    };
    let session =
        Session { options, spin, spinor, seeds: Seeds::new(options), stats: Mutex::new(Stats::default()) };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| session.work());
        }
    });
    session.finish()
}

impl Session<'_> {
    fn stats(&self) -> MutexGuard<'_, Stats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(seed) = self.seeds.take() {
            if self.stats().mismatches() >= self.options.stop {
                return;
            }
            self.one(seed);
        }
    }

    fn one(&self, seed: u64) {
        let model = self.options.model(seed);
        let text = print(&model);
        let spin = if self.options.accept_only {
            self.spin.accepts(&text)
        } else {
            self.spin.explore(&text, &[], Compiler::Quick)
        };
        self.stats().spin(&features(&model), &spin);
        let Some(spinor) = &self.spinor else {
            if self.options.verbose {
                println!("{seed}: {spin}");
            }
            return;
        };
        let ours = spinor.explore(&text);
        let (spin, mut comparison) = self.confirmed(&model, spin, &ours);
        let said = ours.to_string();
        if let (Comparison::Mismatch(_), Some(known)) =
            (&comparison, self.options.known.iter().find(|k| said.contains(k.as_str())))
        {
            comparison = Comparison::Inconclusive(format!("known: {known}"));
        }
        if self.options.verbose {
            println!("{seed}: spin {spin}; ours {ours}; {comparison:?}");
        }
        if comparison == Comparison::Agree {
            comparison = self.configurations(seed, &text, &ours, spinor);
        }
        self.stats().comparison(&comparison);
        if let Comparison::Mismatch(class) = comparison {
            self.report(seed, &model, class, spinor);
        }
    }

    /// Compares the reference configuration with the reductions, and with another configuration in turn. One
    /// that was not explored to the end says nothing.
    fn configurations(&self, seed: u64, text: &str, reference: &Outcome, spinor: &Spinor) -> Comparison {
        let turn = 1 + (seed / self.options.step) as usize % (CONFIGURATIONS.len() - 1);
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
        let small = if self.options.shrink { shrink(model, SHRINK_BUDGET, fails) } else { model.clone() };
        let text = print(&small);
        let spin = self.spin.explore(&text, &[], Compiler::Thorough);
        let ours = spinor.explore(&text);
        let head = format!("// seed {seed}, differs in: {class}\n// Spin: {spin}\n// ours: {ours}\n");
        let path = self.options.keep.join(format!("red-{seed}.pml"));
        let written =
            fs::create_dir_all(&self.options.keep).and_then(|()| fs::write(&path, format!("{head}{text}")));
        if let Err(error) = written {
            eprintln!("difftest: {}: {error}", path.display());
        }
        println!("MISMATCH {}\n{head}{text}", path.display());
    }

    fn finish(&self) -> ExitCode {
        let mut stats = self.stats();
        print!("{}", stats.report());
        println!("{}", self.seeds.given());
        println!("{}", stats.summary());
        if stats.only_skipped() {
            return ExitCode::from(2);
        }
        ExitCode::from(u8::from(stats.mismatches() > 0))
    }
}
