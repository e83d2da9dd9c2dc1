//! Tests of memory systems: what `spinor memory` asks, as a job of the page among the checks.

use crate::checks::{Checks, Finished, Found, strip_steps};
use crate::error::ApiError;
use crate::folder::Overlay;
use engine::{CheckOptions, Client, Failure, Flow, Notice, Observer, Session, Snapshot, Source, Stop};
use memory::report::Findings;
use memory::{MemorySystem, Outcome};
use serde_json::{Value, json};
use std::sync::Arc;
use trace::Trail;

/// What is to be tested.
pub struct MemoryTest {
    /// A system that comes with the tool; the model of the request otherwise.
    pub built_in: Option<String>,
    /// The questions.
    pub request: memory::Request,
}

/// What came of it.
#[derive(Debug)]
pub struct Tested {
    /// The report of `spinor memory --format json`.
    pub json: Value,
    /// The answers, with their counterexamples.
    outcomes: Vec<Outcome>,
}

impl Tested {
    fn outcome(&self, question: &str) -> Result<&memory::running::Checked, ApiError> {
        let outcome = self.outcomes.iter().find(|outcome| outcome.question.name() == question);
        let checked = outcome.and_then(Outcome::violated);
        checked.ok_or_else(|| ApiError::missing("this test has no counterexample"))
    }

    /// The composed model of a violated test and its counterexample, to walk through.
    pub fn counterexample(&self, question: &str) -> Result<(Arc<Session>, Trail), ApiError> {
        let checked = self.outcome(question)?;
        let evidence = checked.evidence().ok_or_else(|| ApiError::missing("there is no counterexample"))?;
        let composed = &checked.composed;
        let answer = composed.session(&Stop::never());
        Ok((Arc::new(answer.result?), evidence.trail().clone()))
    }

    /// Name and text of the composed model of a violated test.
    pub fn model(&self, question: &str) -> Result<(String, String), ApiError> {
        let composed = &self.outcome(question)?.composed;
        Ok((composed.path.clone(), composed.text.clone()))
    }
}

/// What a test needs from the queue.
pub struct Bench<'a> {
    pub checks: &'a Checks,
    pub id: u64,
    pub stop: &'a Stop,
}

impl Bench<'_> {
    /// Asks all questions, and tells what is known after each.
    pub fn test(
        &self,
        test: &MemoryTest,
        source: &Source,
        files: &Overlay,
        options: &CheckOptions,
    ) -> Finished {
        let answer = match &test.built_in {
            Some(name) => MemorySystem::built_in(name, source, self.stop),
            None => MemorySystem::load(source, files, self.stop),
        };
        let mut notices: Vec<Value> = answer.notices.iter().map(Notice::json).collect();
        let found = answer.result.and_then(|system| self.ask_all(test, &system, options, &mut notices));
        Finished { found: found.map(Found::Memory), notices }
    }

    fn ask_all(
        &self,
        test: &MemoryTest,
        system: &MemorySystem,
        options: &CheckOptions,
        notices: &mut Vec<Value>,
    ) -> Result<Tested, Failure> {
        let request = &test.request;
        let agenda = request.agenda(system)?;
        let (outcomes, skipped) = (Vec::new(), agenda.skipped);
        let mut findings = Findings { system, request, outcomes, skipped, interrupted: false };
        let mut client = Telling { bench: self };
        for question in &agenda.questions {
            let answer = request.ask(system, question, options, self.stop, &mut client);
            notices.extend(answer.notices.iter().map(Notice::json));
            match answer.result {
                Ok(outcome) => findings.outcomes.push(outcome),
                // What was found before it is told.
                Err(Failure::Stopped(_)) if self.stop.is_asked() => {
                    findings.interrupted = true;
                    break;
                }
                Err(failure) => return Err(failure),
            }
            if self.stop.is_asked() {
                findings.interrupted = true;
                break;
            }
            let known = findings.outcomes.len();
            self.checks.tell_memory(
                self.id,
                json!({"asked": agenda.questions.len(), "known": known, "report": told(&findings)}),
            );
        }
        Ok(Tested { json: told(&findings), outcomes: findings.outcomes })
    }
}

/// The report, with the table of each violation but without its steps, which are asked for by a run.
fn told(findings: &Findings<'_>) -> Value {
    let mut report = findings.json(&|_| None);
    for list in ["properties", "tests"] {
        strip_steps(report.get_mut(list));
    }
    report
}

/// Tells how far the search for the present question is.
struct Telling<'a, 'b> {
    bench: &'a Bench<'b>,
}

impl Observer for Telling<'_, '_> {
    fn progress(&mut self, snapshot: &Snapshot) -> Flow {
        self.bench.checks.tell_progress(self.bench.id, snapshot);
        Flow::Continue
    }
}

impl Client for Telling<'_, '_> {}
