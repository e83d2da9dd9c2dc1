//! Properties of infinite runs, asked of real Spin and of our tool: formulas, never claims, accept labels and
//! progress, each with and without weak fairness.
//!
//! One verifier of Spin answers for all formulas of a program. Our tool is asked in several ways: its
//! searches, machines and reductions must not contradict each other or Spin. Where only strong fairness
//! counts there is no oracle, but what holds for more runs holds for fewer: plain, then weakly fair, then
//! strongly fair.
//!
//! One difference is known. A run that ends is fair, for nobody can move in its last state; Spin's `-f`
//! nevertheless loses some of these runs (it finds them without `-f`). Where our run ends so, and Spin finds
//! it among all runs, "holds" of `-f` says nothing.

use crate::cyclic::{Cyclic, without_accept_labels};
use crate::formula::Formula;
use crate::model::{Claim, Model};
use crate::ours::{Spinor, Told, Verdicts};
use crate::outcome::{Outcome, Verdict};
use crate::print::print;
use crate::spin::{Compiler, Spin, Verifier};

/// What a program is asked about. Each kind of question needs a verifier of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// All these formulas.
    Formulas(Vec<Formula>),
    /// The never claim of the program.
    Never,
    /// Cycles through accept labels.
    Accept,
    /// Cycles without progress.
    Progress,
}

/// Which runs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fair {
    /// All.
    No,
    /// Those in which a process that can always move moves again and again.
    Weak,
    /// Those in which a process that can move again and again moves again and again.
    Strong,
}

impl Fair {
    fn option(self) -> &'static [&'static str] {
        match self {
            Fair::No => &[],
            Fair::Weak => &["--fair", "weak"],
            Fair::Strong => &["--fair", "strong"],
        }
    }
}

/// A way of asking our tool: its options, and whether they may be refused together with fairness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Which runs count.
    pub fair: Fair,
    /// What else is said.
    pub options: &'static [&'static str],
}

const fn plain(options: &'static [&'static str]) -> Way {
    Way { fair: Fair::No, options }
}

const fn weak(options: &'static [&'static str]) -> Way {
    Way { fair: Fair::Weak, options }
}

/// The ways that are always taken.
pub const ALWAYS: [Way; 2] = [plain(&[]), weak(&[])];

/// The ways that are taken in turn. One that is refused says nothing.
pub const IN_TURN: [Way; 35] = [
    plain(&["--search", "scc"]),
    weak(&["--threads", "8", "--alone", "0"]),
    plain(&["--search", "ufscc", "--threads", "3", "--alone", "0"]),
    weak(&["--exec", "interp"]),
    plain(&["--search", "ndfs", "--opt", "none"]),
    Way { fair: Fair::Strong, options: &[] },
    plain(&["--exec", "interp", "--opt", "none"]),
    weak(&["--opt", "none"]),
    plain(&["--por", "stubborn"]),
    Way { fair: Fair::Strong, options: &["--exec", "interp"] },
    plain(&["--search", "scc", "--opt", "none", "--exec", "interp"]),
    plain(&["--threads", "2"]),
    weak(&["--threads", "2"]),
    plain(&["--por", "ample"]),
    plain(&["--por", "twophase"]),
    plain(&["--search", "cndfs", "--threads", "2", "--alone", "0"]),
    plain(&["--threads", "8", "--alone", "0", "--por", "none"]),
    plain(&["--search", "ndfs-dual"]),
    plain(&["--threads", "3", "--alone", "0", "--opt", "none", "--exec", "interp"]),
    plain(&["--por", "none", "--seed", "7"]),
    plain(&["--store", "tree"]),
    plain(&["--store", "tree", "--search", "scc", "--por", "none"]),
    weak(&["--seed", "7"]),
    plain(&["--store", "cleary"]),
    plain(&["--store", "collapse", "--por", "none"]),
    weak(&["--store", "cleary"]),
    Way { fair: Fair::Strong, options: &["--store", "tree"] },
    Way { fair: Fair::Strong, options: &["--store", "collapse"] },
    plain(&["--store", "tree", "--threads", "2", "--alone", "0"]),
    plain(&["--store", "cleary", "--search", "cndfs", "--threads", "3", "--alone", "0"]),
    weak(&["--store", "tree", "--threads", "3", "--alone", "0"]),
    weak(&["--store", "collapse", "--threads", "2", "--alone", "0"]),
    plain(&["--store", "cleary", "--search", "ndfs-dual"]),
    plain(&["--engine", "symbolic"]),
    weak(&["--engine", "symbolic"]),
];

/// A contradiction: about which property, between which ways of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The property.
    pub property: String,
    /// Who says what, in words.
    pub text: String,
}

/// What Spin and our tool say about the properties of a question.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// By property: what Spin says about all runs and about fair ones.
    pub spin: Vec<(String, Verdict, Verdict)>,
    /// What our tool says, in every way that was not refused.
    pub ours: Vec<(Way, Verdicts)>,
    /// What our tool refused, crashed at or did not finish.
    pub trouble: Vec<(Way, Outcome)>,
}

impl Question {
    /// The names that our tool has for the properties.
    pub fn properties(&self) -> Vec<String> {
        match self {
            Question::Formulas(all) => (0..all.len()).map(|at| format!("ltl:f{at}")).collect(),
            Question::Never => vec!["never".into()],
            Question::Accept => vec!["accept".into()],
            Question::Progress => vec!["progress".into()],
        }
    }

    /// The program with the properties.
    pub fn text(&self, program: &Cyclic) -> String {
        match self {
            Question::Formulas(all) => {
                let mut text = without_accept_labels(&print(&program.model));
                for (at, formula) in all.iter().enumerate() {
                    text += &without_accept_labels(&format!("ltl f{at} {{ {formula} }}\n"));
                }
                text
            }
            Question::Never => {
                let claim = Some(Claim::Never(program.never.clone()));
                without_accept_labels(&print(&Model { claim, ..program.model.clone() }))
            }
            Question::Accept | Question::Progress => print(&program.model),
        }
    }

    /// Asks Spin about every property: about all runs, then about fair ones.
    fn ask_spin(
        &self,
        spin: &Spin,
        text: &str,
        compiler: Compiler,
    ) -> Result<Vec<(String, Verdict, Verdict)>, Outcome> {
        let defines: &[&str] = if *self == Question::Progress { &["-DNP"] } else { &[] };
        let verifier = spin.verifier(text, defines, compiler)?;
        let both = |options: &[&str]| {
            let ask = |verifier: &Verifier, more: &[&str]| verifier.ask(&[options, more].concat());
            (ask(&verifier, &[]), ask(&verifier, &["-f"]))
        };
        let of = |property: String| {
            let (all, fair) = match self {
                // A single claim needs no name, and Spin warns when it gets one.
                Question::Formulas(formulas) if formulas.len() > 1 => {
                    both(&["-a", "-N", property.trim_start_matches("ltl:")])
                }
                Question::Formulas(_) | Question::Never => both(&["-a"]),
                // End states and assertions are not asked about.
                Question::Accept => both(&["-a", "-E", "-A"]),
                Question::Progress => both(&["-l", "-E", "-A"]),
            };
            (property, all, fair)
        };
        Ok(self.properties().into_iter().map(of).collect())
    }

    /// Asks both tools; the error says why Spin has no answer.
    pub fn ask(
        &self,
        program: &Cyclic,
        tools: (&Spin, &Spinor),
        ways: &[Way],
        compiler: Compiler,
    ) -> Result<Answers, Outcome> {
        let text = self.text(program);
        self.ask_about((&text, &text), &[], tools, ways, compiler)
    }

    /// Asks about two texts of one program: Spin about the first, our tool, with `more` options, about the
    /// second.
    pub fn ask_about(
        &self,
        (spins, ours): (&str, &str),
        more: &[&str],
        (spin, spinor): (&Spin, &Spinor),
        ways: &[Way],
        compiler: Compiler,
    ) -> Result<Answers, Outcome> {
        let mut answers = Answers { spin: self.ask_spin(spin, spins, compiler)?, ..Answers::default() };
        let properties = self.properties();
        for &way in ways {
            let options = [way.fair.option(), way.options, more].concat();
            match spinor.verdicts(ours, &properties, &options) {
                Ok(verdicts) => answers.ours.push((way, verdicts)),
                Err(outcome) => answers.trouble.push((way, outcome)),
            }
        }
        Ok(answers)
    }
}

impl Answers {
    /// The first contradiction, or crash, if there is one.
    pub fn contradiction(&self) -> Option<Contradiction> {
        let crashed = |(way, outcome): &(Way, Outcome)| match outcome {
            Outcome::Crashed(why) => {
                Some(Contradiction { property: String::new(), text: format!("{way:?} crashed: {why}") })
            }
            _ => None,
        };
        self.trouble.iter().find_map(crashed).or_else(|| {
            self.spin.iter().find_map(|(property, all, fair)| self.contradiction_about(property, all, fair))
        })
    }

    fn contradiction_about(&self, property: &str, all: &Verdict, fair: &Verdict) -> Option<Contradiction> {
        let said = |text: String| Some(Contradiction { property: property.to_string(), text });
        // What is known so far, with who said it: about all runs and about fair ones.
        let mut known = [("Spin".to_string(), all), ("Spin".to_string(), fair)];
        if *all == Verdict::Holds && *fair == Verdict::Violated {
            return said("Spin finds a fair run that it does not find among all".into());
        }
        for (way, verdicts) in &self.ours {
            let Some(Told { verdict, ends }) = verdicts.get(property) else {
                return said(format!("{way:?} does not tell"));
            };
            let at = match way.fair {
                Fair::No => 0,
                Fair::Weak => 1,
                Fair::Strong if *verdict == Verdict::Holds => continue,
                // A strongly fair run is weakly fair.
                Fair::Strong => 1,
            };
            if at == 1 && *ends && lost(all, fair) {
                continue;
            }
            if verdict.contradicts(known[at].1) {
                return said(format!("{} says {}, {way:?} says {verdict}", known[at].0, known[at].1));
            }
            if matches!(known[at].1, Verdict::Unknown(_)) {
                known[at] = (format!("{way:?}"), verdict);
            }
        }
        None
    }
}

/// Spin finds a run among all, but no fair one.
fn lost(all: &Verdict, fair: &Verdict) -> bool {
    *all == Verdict::Violated && *fair == Verdict::Holds
}

impl Answers {
    /// Whether Spin's `-f` loses a run that ends and so is fair: the known difference.
    pub fn is_lost(&self, property: &str) -> bool {
        let ends = |(way, verdicts): &(Way, Verdicts)| {
            way.fair == Fair::Weak && verdicts.get(property).is_some_and(|told| told.ends)
        };
        self.spin.iter().any(|(name, all, fair)| name == property && lost(all, fair))
            && self.ours.iter().any(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(all: Verdict, fair: Verdict, ours: &[(Way, Verdict)]) -> Answers {
        let told = |verdict: &Verdict| Told { verdict: verdict.clone(), ends: false };
        let verdicts = |verdict: &Verdict| Verdicts::from([("accept".to_string(), told(verdict))]);
        Answers {
            spin: vec![("accept".into(), all, fair)],
            ours: ours.iter().map(|(way, verdict)| (*way, verdicts(verdict))).collect(),
            trouble: Vec::new(),
        }
    }

    #[test]
    fn every_way_must_agree_with_spin_and_with_the_others() {
        use Verdict::{Holds, Violated};
        let strong = Way { fair: Fair::Strong, options: &[] };
        let ours = [(ALWAYS[0], Violated), (ALWAYS[1], Holds), (strong, Holds)];
        assert_eq!(answers(Violated, Holds, &ours).contradiction(), None);
        assert!(answers(Violated, Violated, &ours).contradiction().is_some());
        assert!(answers(Holds, Holds, &ours).contradiction().is_some());
        let unknown = || Verdict::Unknown("time limit".into());
        assert_eq!(answers(unknown(), unknown(), &ours).contradiction(), None);
        let ours = [(ALWAYS[0], Violated), (IN_TURN[0], Holds)];
        assert!(answers(unknown(), unknown(), &ours).contradiction().is_some());
        let ours = [(ALWAYS[1], Holds), (strong, Violated)];
        assert!(answers(unknown(), unknown(), &ours).contradiction().is_some(), "more runs cannot be fewer");
    }

    #[test]
    fn a_run_that_ends_is_fair_whatever_spin_says() {
        let mut answers = answers(Verdict::Violated, Verdict::Holds, &[(ALWAYS[1], Verdict::Violated)]);
        assert!(answers.contradiction().is_some() && !answers.is_lost("accept"));
        for told in answers.ours[0].1.values_mut() {
            told.ends = true;
        }
        assert!(answers.contradiction().is_none() && answers.is_lost("accept"));
        answers.spin[0].1 = Verdict::Holds;
        assert!(answers.contradiction().is_some(), "Spin must know the run");
    }

    #[test]
    fn crashes_and_silence_are_found() {
        let mut silent = answers(Verdict::Holds, Verdict::Holds, &[]);
        silent.ours.push((ALWAYS[0], Verdicts::new()));
        assert!(silent.contradiction().is_some());
        let mut crashed = answers(Verdict::Holds, Verdict::Holds, &[]);
        crashed.trouble.push((ALWAYS[0], Outcome::Rejected("refused".into())));
        assert_eq!(crashed.contradiction(), None);
        crashed.trouble.push((ALWAYS[0], Outcome::Crashed("panic".into())));
        assert!(crashed.contradiction().is_some());
    }
}
