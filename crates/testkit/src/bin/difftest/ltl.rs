//! `difftest ltl`: random cyclic programs, asked about random formulas, a never claim, accept labels and
//! progress, with and without fairness; see [`testkit::liveness`].

use std::collections::BTreeMap;
use std::process::ExitCode;

use testkit::cyclic::{self, Cyclic};
use testkit::formula::Formula;
use testkit::liveness::{ALWAYS, Answers, Contradiction, Fair, IN_TURN, Question, Way};
use testkit::ours::Spinor;
use testkit::outcome::{Outcome, Verdict};
use testkit::rng::Rng;
use testkit::shrink::shrink;
use testkit::spin::{Compiler, Spin};

use crate::options::Options;
use crate::session::{self, Session};

/// Formulas for each program.
const FORMULAS: usize = 12;

/// How often a failing program may be tried in smaller forms.
const SHRINK_BUDGET: usize = 400;

/// The questions that belong to a seed.
pub fn questions(seed: u64, program: &Cyclic) -> Vec<Question> {
    let mut rng = Rng::new(seed ^ 0xF012_34AA);
    let formulas = (0..FORMULAS).map(|_| Formula::random(&mut rng, &program.atoms)).collect();
    let others = [Question::Never, Question::Accept, Question::Progress];
    let other = others[seed as usize % others.len()].clone();
    vec![Question::Formulas(formulas), other]
}

/// What was seen.
#[derive(Default)]
struct Counts {
    programs: usize,
    /// Program × property, by kind of question.
    pairs: BTreeMap<&'static str, usize>,
    /// Of these: fairness makes a difference, by kind of question.
    differ: BTreeMap<&'static str, usize>,
    violated: usize,
    fair_violated: usize,
    /// Pairs that Spin says nothing about, by reason.
    unknown: BTreeMap<String, usize>,
    /// Comparisons of one way of ours with what is known, by way.
    ways: BTreeMap<String, usize>,
    /// Pairs that hold under strong fairness but not under weak.
    strong: usize,
    refused: BTreeMap<String, usize>,
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

/// Runs the comparison; the exit code is 1 after a contradiction, 2 when a tool is missing.
pub fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let (spin, spinor) = (session::spin(options)?, session::spinor(options)?);
    let asking = Asking { session: Session::new(options), spin, spinor };
    asking.session.each(|seed| asking.program(seed));
    Ok(asking.finish())
}

fn kind(question: &Question) -> &'static str {
    match question {
        Question::Formulas(_) => "ltl",
        Question::Never => "never",
        Question::Accept => "accept",
        Question::Progress => "progress",
    }
}

impl Asking<'_> {
    fn program(&self, seed: u64) {
        let program = cyclic::generate(seed);
        let turn = (seed / self.session.options.step) as usize;
        let ways = |of: usize| -> Vec<Way> {
            let more =
                [IN_TURN[(2 * turn + of) % IN_TURN.len()], IN_TURN[(2 * turn + of + 7) % IN_TURN.len()]];
            [&ALWAYS[..], &more[..]].concat()
        };
        self.session.counts().programs += 1;
        for (of, question) in questions(seed, &program).iter().enumerate() {
            self.one(seed, &program, question, &ways(of));
        }
    }

    fn ask(
        &self,
        program: &Cyclic,
        question: &Question,
        ways: &[Way],
        cc: Compiler,
    ) -> Result<Answers, Outcome> {
        question.ask(program, (&self.spin, &self.spinor), ways, cc)
    }

    fn one(&self, seed: u64, program: &Cyclic, question: &Question, ways: &[Way]) {
        let mut answers = match self.ask(program, question, ways, Compiler::Quick) {
            Ok(answers) => answers,
            Err(outcome) => {
                if self.session.options.verbose {
                    println!("{seed}: {outcome}");
                }
                *self.session.counts().unknown.entry(generic(&outcome.to_string())).or_default() += 1;
                return;
            }
        };
        if answers.contradiction().is_some()
            && self.spin.can_confirm()
            && let Ok(again) = self.ask(program, question, ways, Compiler::Thorough)
        {
            answers = again;
        }
        self.session.counts().add(kind(question), &answers);
        if self.session.options.verbose {
            println!("{seed}: {:?}", answers.spin);
        }
        if let Some(found) = answers.contradiction() {
            self.session.counts().contradictions += 1;
            self.report(seed, program, question, ways, &found);
        }
    }

    /// Shrinks a program with one property, prints it and writes it down.
    fn report(&self, seed: u64, program: &Cyclic, question: &Question, ways: &[Way], found: &Contradiction) {
        let at = found.property.trim_start_matches("ltl:f").parse::<usize>();
        let mut question = match (question, at) {
            (Question::Formulas(all), Ok(at)) => Question::Formulas(vec![all[at].clone()]),
            _ => question.clone(),
        };
        let fails = |program: &Cyclic, question: &Question| {
            let answers = self.ask(program, question, ways, Compiler::Quick);
            answers.is_ok_and(|answers| answers.contradiction().is_some())
        };
        let mut small = program.clone();
        if self.session.options.shrink && fails(program, &question) {
            let with = |model: &testkit::model::Model| Cyclic { model: model.clone(), ..program.clone() };
            small = with(&shrink(&program.model, SHRINK_BUDGET, |model| fails(&with(model), &question)));
            question = smallest(question, |candidate| fails(&small, candidate));
        }
        let last = self.ask(&small, &question, ways, Compiler::Thorough);
        let told =
            last.ok().and_then(|answers| answers.contradiction()).map_or(found.text.clone(), |c| c.text);
        let text = format!("// seed {seed}, {}: {told}\n{}", found.property, question.text(&small));
        self.session.write_down("MISMATCH", &format!("ltl-{seed}.pml"), &text);
    }

    fn finish(&self) -> ExitCode {
        let counts = self.session.counts();
        print!("{counts}");
        println!("{}", self.session.seeds.given());
        let (pairs, differ) = (counts.pairs.values().sum::<usize>(), counts.differ.values().sum::<usize>());
        println!(
            "difftest ltl: {pairs} pairs compared with Spin, {differ} where fairness matters, {} contradictions",
            counts.contradictions
        );
        ExitCode::from(u8::from(counts.contradictions > 0))
    }
}

/// The smallest formula for which the question still fails.
fn smallest(mut question: Question, fails: impl Fn(&Question) -> bool) -> Question {
    while let Question::Formulas(all) = &question {
        let smaller = all.first().map(Formula::smaller).unwrap_or_default();
        let mut candidates = smaller.into_iter().map(|formula| Question::Formulas(vec![formula]));
        match candidates.find(|candidate| fails(candidate)) {
            Some(small) => question = small,
            None => break,
        }
    }
    question
}

/// A reason without the numbers of one program.
fn generic(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_ascii_digit()).take(70).collect()
}

impl Counts {
    fn add(&mut self, kind: &'static str, answers: &Answers) {
        for (property, all, fair) in &answers.spin {
            match (all, fair) {
                (Verdict::Unknown(why), _) | (_, Verdict::Unknown(why)) => {
                    *self.unknown.entry(generic(why)).or_default() += 1;
                    continue;
                }
                _ if answers.is_lost(property) => {
                    *self.unknown.entry("-f loses a run that ends".into()).or_default() += 1;
                    continue;
                }
                _ => *self.pairs.entry(kind).or_default() += 1,
            }
            *self.differ.entry(kind).or_default() += usize::from(all != fair);
            self.violated += usize::from(*all == Verdict::Violated);
            self.fair_violated += usize::from(*fair == Verdict::Violated);
            for (way, verdicts) in &answers.ours {
                *self.ways.entry(name(*way)).or_default() += 1;
                let holds = verdicts.get(property).is_some_and(|told| told.verdict == Verdict::Holds);
                self.strong += usize::from(way.fair == Fair::Strong && holds && *fair == Verdict::Violated);
            }
        }
        for (way, outcome) in &answers.trouble {
            *self.refused.entry(format!("{}: {}", name(*way), generic(&outcome.to_string()))).or_default() +=
                1;
        }
    }
}

fn name(way: Way) -> String {
    format!("{:?} {}", way.fair, way.options.join(" ")).trim().to_lowercase()
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn list<K: std::fmt::Display>(counts: &BTreeMap<K, usize>) -> String {
            let parts: Vec<String> = counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
            if parts.is_empty() { "none".into() } else { parts.join("; ") }
        }
        writeln!(f, "programs: {}", self.programs)?;
        writeln!(f, "pairs with both verdicts of Spin: {}", list(&self.pairs))?;
        writeln!(f, "violated: {}, by a fair run: {}", self.violated, self.fair_violated)?;
        writeln!(f, "fairness makes a difference: {}", list(&self.differ))?;
        writeln!(f, "strong fairness makes a further difference (ours): {}", self.strong)?;
        writeln!(f, "no verdict of Spin: {}", list(&self.unknown))?;
        writeln!(f, "ways of asking us: {}", list(&self.ways))?;
        writeln!(f, "refused by us: {}", list(&self.refused))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_formula_is_made_smaller() {
        let mut rng = Rng::new(5);
        let atoms = ["x == 1".to_string(), "y == 0".to_string()];
        for _ in 0..50 {
            let formula = Formula::random(&mut rng, &atoms);
            let about_x = |question: &Question| match question {
                Question::Formulas(all) => all[0].to_string().contains("x == 1"),
                _ => false,
            };
            let question = Question::Formulas(vec![formula]);
            if about_x(&question) {
                let atom = Formula::Atom("x == 1".into());
                assert_eq!(smallest(question, about_x), Question::Formulas(vec![atom]));
            }
        }
    }
}
