//! What is asked of a memory system, as a list of questions; each is asked for every size of buffers and, if
//! that is wanted, for every distribution of the parts.

use crate::compose::{Composed, Question, compose};
use crate::litmus::{self, Litmus, Says};
use crate::memory_system::MemorySystem;
use crate::model::Model;
use crate::program::Roles;
use crate::rules;
use crate::running::{self, Checked};
use engine::options::one_of;
use engine::report::{Reason, Verdict};
use engine::{Answer, CheckOptions, Client, Failure, Notice, Stop};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The model that the system should be of.
    pub model: Option<Model>,
    /// Tests of rules, by name; `all`.
    pub rules: Vec<String>,
    /// Litmus tests, by name; `all`.
    pub litmus: Vec<String>,
    /// Which models the system can be.
    pub classify: bool,
    /// Processors, where they are to be more than a test needs.
    pub cpus: Option<usize>,
    /// Addresses, likewise.
    pub addresses: Option<usize>,
    /// Give the parts of each test to all processors and addresses in turn.
    pub all_roles: bool,
}

/// Sizes of buffers that are tried where the system has such a bound.
pub const BOUNDS: [u32; 2] = [1, 2];
/// Processors and addresses that can be asked for.
const MOST: usize = 8;

/// Questions, and those that cannot be asked, with the reason.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    /// In the order in which they are asked.
    pub questions: Vec<Question>,
    /// What is left out, and why.
    pub skipped: Vec<(String, String)>,
}

/// What came of a question.
#[derive(Debug)]
pub struct Outcome {
    /// The question.
    pub question: Question,
    /// Composed models that were checked: the last one decides unless all hold.
    pub checks: Vec<Checked>,
}

/// What is known after all checks of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// No run shows it.
    Holds,
    /// A run shows it.
    Violated,
    /// The system itself does what it says it never does: the question has no answer.
    AtFault,
    /// Some search did not end.
    Unknown,
}

impl Known {
    /// As reports call it.
    pub fn word(self) -> &'static str {
        match self {
            Known::Holds => "holds",
            Known::Violated | Known::AtFault => "violated",
            Known::Unknown => "unknown",
        }
    }
}

impl Outcome {
    /// What is known.
    pub fn known(&self) -> Known {
        let some = |is: fn(&Verdict) -> bool| self.checks.iter().any(|check| is(check.verdict()));
        let at_fault =
            |check: &Checked| check.violation.as_ref().is_some_and(|it| it.fault_of_system.is_some());
        match () {
            () if self.checks.iter().any(at_fault) => Known::AtFault,
            () if some(|v| matches!(v, Verdict::Violated(..) | Verdict::Refuted(_))) => Known::Violated,
            () if some(|v| matches!(v, Verdict::Unknown(_))) => Known::Unknown,
            () => Known::Holds,
        }
    }

    /// The check that shows a violation.
    pub fn violated(&self) -> Option<&Checked> {
        self.checks.iter().find(|check| check.violation.is_some())
    }

    /// Why nothing is known, if so.
    pub fn unknown(&self) -> Option<&Reason> {
        self.checks.iter().find_map(Checked::unknown)
    }

    /// States of all checks.
    pub fn states(&self) -> u64 {
        self.checks.iter().map(Checked::states).sum()
    }
}

impl Request {
    /// The questions, or what is wrong with the request.
    pub fn agenda(&self, system: &MemorySystem) -> Result<Agenda, Failure> {
        for (name, number) in [("--cpus", self.cpus), ("--addresses", self.addresses)] {
            if let Some(number) = number.filter(|n| !(1..=MOST).contains(n)) {
                return Err(Failure::refused_with(
                    format!("{name} {number} is not possible"),
                    format!("use a number from 1 to {MOST}"),
                ));
            }
        }
        let mut agenda = Agenda::default();
        let mut asked: Vec<String> = Vec::new();
        let is_named = |question: &Question| {
            let name = question.name();
            let is_it = |asked: &String| asked.eq_ignore_ascii_case(&name) || asked == "sc" && name == "sc2";
            self.rules.iter().chain(&self.litmus).any(is_it)
        };
        for question in self.questions()? {
            // What is asked for twice is asked once.
            if asked.contains(&question.name()) {
                continue;
            }
            asked.push(question.name());
            match self.obstacle(&question, system) {
                None => agenda.questions.push(question),
                Some(why) if is_named(&question) => {
                    let message = format!("{} cannot be asked: {why}", question.name());
                    return Err(Failure::refused_with(message, "leave it out, or give it what it needs"));
                }
                Some(why) => agenda.skipped.push((question.name(), why)),
            }
        }
        Ok(agenda)
    }

    fn questions(&self) -> Result<Vec<Question>, Failure> {
        let mut questions = Vec::new();
        for name in &self.rules {
            questions.extend(rule(name)?);
        }
        for name in &self.litmus {
            questions.extend(litmus_test(name)?.into_iter().map(Question::Litmus));
        }
        if self.classify {
            questions.extend(rules::tests().into_iter().map(Question::Rule));
            questions.extend(litmus::tests().into_iter().map(Question::Litmus));
        }
        if let (Some(model), true) = (self.model, questions.is_empty()) {
            let required = rules::tests().into_iter().filter(|test| model.requires(test.name));
            questions.extend(required.map(Question::Rule));
            if model == Model::Sc {
                questions.push(Question::Sequential(2));
                if self.cpus >= Some(3) && self.addresses >= Some(3) {
                    questions.push(Question::Sequential(3));
                }
            }
            questions.push(Question::Progress);
        }
        if self.classify {
            questions.push(Question::Progress);
        }
        Ok(questions)
    }

    /// Why a question cannot be asked of this system.
    fn obstacle(&self, question: &Question, system: &MemorySystem) -> Option<String> {
        let (cpus, addresses) = question.parts();
        let fences = match question {
            Question::Rule(test) => test.name.starts_with("fence"),
            Question::Litmus(litmus) => litmus.has_fences(),
            _ => false,
        };
        match () {
            () if self.cpus.is_some_and(|n| n < cpus) => Some(format!("it needs {cpus} processors")),
            () if self.addresses.is_some_and(|n| n < addresses) => {
                Some(format!("it needs {addresses} addresses"))
            }
            () if fences && !system.interface.has_fence => Some("the system has no mem_fence".to_string()),
            () if matches!(question, Question::Sequential(_) | Question::Order)
                && !system.interface.has_order =>
            {
                Some("the system does not say with ORDER when writes take place".to_string())
            }
            () if question.largest_value() > system.interface.largest_value => Some(format!(
                "it writes the value {}, and the system keeps values up to {}",
                question.largest_value(),
                system.interface.largest_value
            )),
            () => None,
        }
    }

    /// The composed models of a question.
    pub fn compose(&self, system: &MemorySystem, question: &Question) -> Vec<Composed> {
        let (cpus, addresses) = question.parts();
        let of =
            (self.cpus.unwrap_or(cpus).max(cpus).max(2), self.addresses.unwrap_or(addresses).max(addresses));
        let bounds: Vec<Option<u32>> = match system.interface.has_bound {
            true => BOUNDS.into_iter().map(Some).collect(),
            false => vec![system.interface.given_bound],
        };
        let all = match (self.all_roles, question) {
            (false, _) | (_, Question::Order | Question::Progress) => vec![Roles::plain(cpus, addresses)],
            // It is about one processor.
            (true, Question::Service) => Roles::all((1, 0), of),
            (true, _) => Roles::all((cpus, addresses), of),
        };
        let composed = |bound: &Option<u32>| {
            let bound = *bound;
            all.iter().map(move |roles| compose(system, question, roles, of, bound)).collect::<Vec<_>>()
        };
        bounds.iter().flat_map(composed).collect()
    }

    /// Asks one question: at all bounds and for all roles, until it is violated. The full check rests on `ORDER`: where
    /// that is wrong, this is the outcome.
    pub fn ask(
        &self,
        system: &MemorySystem,
        question: &Question,
        options: &CheckOptions,
        stop: &Stop,
        client: &mut (dyn Client + Send),
    ) -> Answer<Outcome> {
        if !matches!(question, Question::Sequential(_)) {
            return self.asked(system, question, options, stop, client);
        }
        let first = self.asked(system, &Question::Order, options, stop, client);
        let is_wrong = |outcome: &Outcome| matches!(outcome.known(), Known::Violated | Known::AtFault);
        if !first.result.as_ref().is_ok_and(|outcome| !is_wrong(outcome)) {
            return first;
        }
        let mut answer = self.asked(system, question, options, stop, client);
        answer.notices.splice(..0, first.notices);
        answer
    }

    fn asked(
        &self,
        system: &MemorySystem,
        question: &Question,
        options: &CheckOptions,
        stop: &Stop,
        client: &mut (dyn Client + Send),
    ) -> Answer<Outcome> {
        let mut notices: Vec<Notice> = Vec::new();
        let mut checks = Vec::new();
        for composed in self.compose(system, question) {
            let answer = running::check(composed, options, stop, client);
            notices.extend(answer.notices);
            match answer.result {
                Ok(checked) => checks.push(checked),
                Err(failure) => return Answer { notices, result: Err(failure) },
            }
            let last = checks.last().map(Checked::verdict);
            if matches!(last, Some(Verdict::Violated(..))) || stop.is_asked() {
                break;
            }
        }
        Answer { notices, result: Ok(Outcome { question: question.clone(), checks }) }
    }
}

/// The tests of this name.
fn rule(name: &str) -> Result<Vec<Question>, Failure> {
    match name {
        "all" => Ok(rules::tests().into_iter().map(Question::Rule).collect()),
        "sc" => Ok(vec![Question::Sequential(2)]),
        _ => {
            let other = || Question::others().into_iter().find(|question| question.name() == name);
            let found = rules::test(name).map(Question::Rule).or_else(other);
            found.map(|question| vec![question]).ok_or_else(|| {
                let others = Question::others().map(|question| question.name());
                let known =
                    rules::names().into_iter().chain(others.iter().map(String::as_str)).chain(["all"]);
                Failure::refused_with(format!("there is no test {name:?}"), one_of(name, known))
            })
        }
    }
}

fn litmus_test(name: &str) -> Result<Vec<Litmus>, Failure> {
    if name == "all" {
        return Ok(litmus::tests());
    }
    litmus::test(name).map(|test| vec![test]).ok_or_else(|| {
        let known = litmus::names().into_iter().chain(["all"]);
        Failure::refused_with(format!("there is no litmus test {name:?}"), one_of(name, known))
    })
}

/// Why a system is not of a model: tests that fail, outcomes that show and are forbidden.
pub fn against(model: Model, outcomes: &[Outcome]) -> (Vec<String>, bool) {
    let (mut reasons, mut undecided) = (Vec::new(), false);
    for outcome in outcomes {
        let matters = match &outcome.question {
            Question::Rule(test) => model.requires(test.name),
            Question::Litmus(litmus) => litmus.says(model) == Says::Forbids,
            Question::Sequential(_) => model == Model::Sc,
            Question::Order => {
                // It stands in the place of the full check, which says nothing then.
                let is_wrong = matches!(outcome.known(), Known::Violated | Known::AtFault);
                undecided |= model == Model::Sc && is_wrong;
                false
            }
            Question::Progress | Question::Service => false,
        };
        match outcome.known() {
            Known::Violated if matters => reasons.push(outcome.question.name()),
            Known::Unknown | Known::AtFault if matters => undecided = true,
            _ => {}
        }
    }
    (reasons, undecided)
}
