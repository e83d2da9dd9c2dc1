//! `difftest memory`: models with store buffers (`--memory tso` and `pso`) against three opinions that know
//! nothing of our transformation.
//!
//! Random straight-line programs: an enumeration of the axioms says which outcomes there are, and real Spin
//! explores the Promela text that we write of the model with its buffers. Random looping programs: real Spin
//! is asked about the same program with buffers written out by hand ([`testkit::buffers`]), for assertions,
//! deadlocks and formulas, with and without weak fairness, and again about the text that we write. Our
//! searches, machines and reductions take turns.

use std::process::ExitCode;

use testkit::buffers::{About, Looping};
use testkit::litmus::{Litmus, Model};
use testkit::liveness::{ALWAYS, IN_TURN, Question, Way};
use testkit::ours::Spinor;
use testkit::outcome::{Outcome, Verdict};
use testkit::rng::Rng;
use testkit::spin::{Compiler, Spin};

use crate::options::Options;
use crate::session::{self, Session};

/// Ways to search for errors of states, which are taken in turn.
const SAFETY: [&str; 24] = [
    "--por none --opt none --exec interp",
    "--por none",
    "--por stubborn",
    "--por ample",
    "--por twophase",
    "--por stubborn --search dfs --proviso stack --threads 1",
    "--por none --search dfs --sleep --threads 1",
    "--search bfs",
    "--search handoff --threads 2",
    "--store tree",
    "--store cleary",
    "--store collapse",
    "--store tree --threads 2 --alone 0",
    "--store table --threads 8 --alone 0",
    "--search bfs --threads 2 --alone 0",
    "--opt fold",
    "--opt merge --por none",
    "--opt deadvars --por none",
    "--exec interp --por stubborn",
    "--engine symbolic",
    "--engine auto",
    "--edges all --por none",
    "--search dfs --threads 1",
    "--check facts,reduction --threads 1",
];
/// Ways for each program.
const WAYS: usize = 3;

/// What was seen.
#[derive(Default)]
struct Counts {
    programs: usize,
    /// Outcomes of straight-line programs that were asked about, and of those the reachable ones.
    outcomes: [usize; 2],
    /// Looping programs with an error.
    broken: usize,
    /// Formulas with both verdicts of Spin, those that are violated, and those for which fairness matters.
    formulas: [usize; 3],
    /// Answers of ours that were compared.
    answers: usize,
    /// Answers of Spin, or of ours, that are none.
    unknown: usize,
    contradictions: usize,
}

impl session::Counts for Counts {
    fn wrong(&self) -> usize {
        self.contradictions
    }
}

struct Asking<'a> {
    session: Session<'a, Counts>,
    spin: Spin,
    spinor: Spinor,
}

/// The memory of a seed, as options.
struct Memory {
    model: Model,
    bound: usize,
}

impl Memory {
    fn of(seed: u64) -> Self {
        let model = if seed.is_multiple_of(2) { Model::Tso } else { Model::Pso };
        Memory { model, bound: 1 + (seed / 2 % 2) as usize }
    }

    fn options(&self, bound: usize) -> [String; 4] {
        ["--memory", self.model.word(), "--memory-bound", &bound.to_string()].map(String::from)
    }
}

/// Prints the programs that belong to a seed.
pub fn show(seed: u64) {
    let memory = Memory::of(seed);
    let (litmus, looping) = programs(seed);
    print!("{}\n{}", litmus.promela(), looping.promela(About::Runs));
    print!(
        "\n// {:?}, buffers of {}\n{}",
        memory.model,
        memory.bound,
        looping.with_daemons(memory.model, memory.bound, About::Runs)
    );
}

fn programs(seed: u64) -> (Litmus, Looping) {
    let mut rng = Rng::new(seed ^ 0x5702_EBFF);
    (Litmus::random(&mut rng, format!("seed {seed}")), Looping::random(&mut rng))
}

/// Runs the comparison; the exit code is 1 after a contradiction, 2 when a tool is missing.
pub fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let (spin, spinor) = (session::spin(options)?, session::spinor(options)?);
    let asking = Asking { session: Session::new(options), spin, spinor };
    asking.session.each(|seed| asking.seed(seed));
    Ok(asking.finish())
}

impl Asking<'_> {
    fn seed(&self, seed: u64) {
        self.session.counts().programs += 2;
        let memory = Memory::of(seed);
        let (litmus, looping) = programs(seed);
        let found = self
            .straight(seed, &memory, &litmus)
            .and_then(|()| self.states(seed, &memory, &looping))
            .and_then(|()| self.runs(seed, &memory, &looping));
        if let Err(why) = found {
            self.session.counts().contradictions += 1;
            let text = format!(
                "// seed {seed}, {:?}, buffers of {}: {why}\n{}\n{}",
                memory.model,
                memory.bound,
                litmus.promela(),
                looping.promela(About::Runs)
            );
            self.session.write_down("CONTRADICTION", &format!("memory-{seed}.pml"), &text);
        }
    }

    /// The ways of a seed.
    fn ways(&self, seed: u64) -> Vec<&'static str> {
        if self.session.options.every_way {
            return SAFETY.to_vec();
        }
        (0..WAYS)
            .map(|at| SAFETY[(seed as usize).wrapping_mul(WAYS).wrapping_add(at) % SAFETY.len()])
            .collect()
    }

    /// A reachable outcome, if possible one that is not sequentially consistent, and one that is not.
    fn straight(&self, seed: u64, memory: &Memory, litmus: &Litmus) -> Result<(), String> {
        let (weak, strong) = (litmus.outcomes(memory.model), litmus.outcomes(Model::Sc));
        let mut rng = Rng::new(seed);
        let mut asked = Vec::new();
        let relaxed: Vec<_> = weak.difference(&strong).collect();
        let all: Vec<_> = weak.iter().collect();
        asked.extend(rng.pick(&relaxed).or(rng.pick(&all)).map(|outcome| (*outcome).clone()));
        // A reachable outcome with one value changed: often as plausible as the others.
        if let Some(outcome) = rng.pick(&all).filter(|outcome| !outcome.is_empty()) {
            let mut other = (*outcome).clone();
            let at = rng.below(other.len());
            other[at] = rng.pick(&all).map_or(0, |some| some[at]);
            asked.push(other);
        }
        // The observer reads what was loaded, so that these are stores to memory as well.
        let bound = litmus.threads.iter().map(Vec::len).max().unwrap_or(1).max(1);
        for outcome in asked {
            let expected = weak.contains(&outcome);
            let values: Vec<(usize, u8)> = outcome.iter().copied().enumerate().collect();
            let text = litmus.promela_asserting(&values);
            let counts = || self.session.counts();
            counts().outcomes[0] += 1;
            counts().outcomes[1] += usize::from(expected);
            self.same(seed, &text, "assertion", &memory.options(bound), expected)?;
        }
        Ok(())
    }

    /// Assertions and deadlocks of a looping program.
    fn states(&self, seed: u64, memory: &Memory, looping: &Looping) -> Result<(), String> {
        let by_hand = looping.with_daemons(memory.model, memory.bound, About::States);
        let Some(expected) = self.spins(&by_hand) else {
            self.session.counts().unknown += 1;
            return Ok(());
        };
        self.session.counts().broken += usize::from(expected);
        self.same(seed, &looping.promela(About::States), "safety", &memory.options(memory.bound), expected)
    }

    /// Whether Spin finds an error; `None` when it does not end.
    fn spins(&self, text: &str) -> Option<bool> {
        match self.spin.explore(text, &[], Compiler::Quick) {
            Outcome::Explored(found) if found.errors > 0 => Some(true),
            Outcome::Explored(found) if found.truncated.is_none() && !found.aborted => Some(false),
            _ => None,
        }
    }

    /// Our verdict in the ways of the seed, and Spin's about the text that we write, are as expected.
    fn same(
        &self,
        seed: u64,
        text: &str,
        property: &str,
        memory: &[String],
        violated: bool,
    ) -> Result<(), String> {
        let memory: Vec<&str> = memory.iter().map(String::as_str).collect();
        for way in self.ways(seed) {
            let words: Vec<&str> = memory.iter().copied().chain(way.split(' ')).collect();
            let told = self.spinor.verdicts(text, &[property.to_string()], &words);
            let verdict = match told {
                Ok(told) => told.get(property).map(|told| told.verdict.clone()),
                Err(Outcome::Unsupported(_)) => None,
                Err(other) => return Err(format!("{words:?}: {other}\n{text}")),
            };
            match verdict {
                None | Some(Verdict::Unknown(_)) => self.session.counts().unknown += 1,
                Some(verdict) if (verdict == Verdict::Violated) != violated => {
                    return Err(format!("{words:?} says {verdict}, not so others\n{text}"));
                }
                Some(_) => self.session.counts().answers += 1,
            }
        }
        let written = self.spinor.promela(text, &memory);
        let written = written.map_err(|outcome| format!("no Promela text: {outcome}\n{text}"))?;
        match self.spins(&written) {
            None => self.session.counts().unknown += 1,
            Some(found) if found != violated => {
                return Err(format!("Spin on our text finds {found}, not so others\n{text}\n{written}"));
            }
            Some(_) => self.session.counts().answers += 1,
        }
        Ok(())
    }

    /// Formulas, with and without fairness.
    fn runs(&self, seed: u64, memory: &Memory, looping: &Looping) -> Result<(), String> {
        let question = Question::Formulas(looping.formulas.clone());
        let turn = |at: usize| IN_TURN[(seed as usize).wrapping_mul(3).wrapping_add(at) % IN_TURN.len()];
        let ways: Vec<Way> = match self.session.options.every_way {
            true => ALWAYS.iter().chain(&IN_TURN).copied().collect(),
            false => ALWAYS.into_iter().chain((0..3).map(turn)).collect(),
        };
        let options = memory.options(memory.bound);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let by_hand = looping.with_daemons(memory.model, memory.bound, About::Runs);
        let ours = looping.promela(About::Runs);
        let tools = (&self.spin, &self.spinor);
        let ask = |compiler| question.ask_about((&by_hand, &ours), &options, tools, &ways, compiler);
        let Ok(mut answers) = ask(Compiler::Quick) else {
            self.session.counts().unknown += 1;
            return Ok(());
        };
        if answers.contradiction().is_some() && self.spin.can_confirm() {
            answers = ask(Compiler::Thorough).unwrap_or(answers);
        }
        let mut counts = self.session.counts();
        for (_, all, fair) in &answers.spin {
            let known = [all, fair].iter().all(|verdict| !matches!(verdict, Verdict::Unknown(_)));
            counts.formulas[0] += usize::from(known);
            counts.formulas[1] += usize::from(*all == Verdict::Violated);
            counts.formulas[2] += usize::from(known && all != fair);
            counts.unknown += usize::from(!known);
        }
        counts.answers += answers.ours.iter().map(|(_, told)| told.len()).sum::<usize>();
        drop(counts);
        match answers.contradiction() {
            Some(found) => Err(format!("{}: {}\n{by_hand}", found.property, found.text)),
            None => Ok(()),
        }
    }

    fn finish(&self) -> ExitCode {
        let counts = self.session.counts();
        println!("{}", self.session.seeds.given());
        println!(
            "straight lines: {} outcomes asked about, {} of them reachable; loops: {} programs with an error, \
             {} formulas ({} violated, fairness matters for {})",
            counts.outcomes[0],
            counts.outcomes[1],
            counts.broken,
            counts.formulas[0],
            counts.formulas[1],
            counts.formulas[2]
        );
        println!(
            "difftest memory: {} programs, {} answers compared, {} unknown, {} contradictions",
            counts.programs, counts.answers, counts.unknown, counts.contradictions
        );
        ExitCode::from(u8::from(counts.contradictions > 0))
    }
}
