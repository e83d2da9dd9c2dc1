//! Formulas about states (CTL, mu-calculus): the whole graph is explored once and evaluated for each of them.

use super::{Checker, no_machine};
use crate::backend::{Backend, ProgramBackend, SearchedBackends};
use crate::branching::answer::Answered;
use crate::branching::graph::MOST_AGENTS;
use crate::branching::refusals::{refuse, state_store};
use crate::branching::{ExploredGraph, Exploring, Question, Questions, RunJudge, words};
use crate::client::Client;
use crate::counterexample::confirm_formula;
use crate::failure::Failure;
use crate::gpu_search;
use crate::options::Engine;
use crate::packed_search;
use crate::plan::Plan;
use crate::property::Selected;
use crate::report::{Evaluation, PropertyReport, Reason, Refutation, Shown, Verdict};
use crate::session::Session;
use crate::symbolic_branching::{self, First, SymbolicAnswers, evaluate_both};
use crate::symbolic_search;
use jit::Jit;
use mu::Truth;
use search::state_graph::Means;
use search::{Checks, Exhausted, Observer, StopReason, Task, Violation};
use symbolic::Demonstration;
use system::{Fairness, Processes, TransitionSystem};

/// The formulas about states that are to be checked; refuses what does not go with them.
pub(super) fn prepare(plan: &Plan, session: &Session, selected: &[Selected]) -> Result<Questions, Failure> {
    let mut questions = Questions::default();
    for property in selected {
        let Some(logic) = property.logic() else { continue };
        refuse(plan, &property.name, logic)?;
        questions.add(session, &property.name)?;
    }
    Ok(questions)
}

/// The states of a model, for formulas about them.
pub(super) enum StateSpace {
    /// A stored graph, and where a run can stay in an atomic sequence forever.
    Graph(Box<ExploredGraph>, Option<String>),
    /// Answers of the symbolic engine, by question.
    Answers(Box<SymbolicAnswers>, Option<String>),
}

/// What an answer rests on.
enum Ground {
    /// Every state and every step.
    Everything(Exhausted),
    /// One run, which leads to a state that decides.
    OneRun,
}

/// There is a run that shows the answer, but it could not be made.
fn unmade(why: StopReason) -> Failure {
    match why {
        StopReason::Interrupted => Failure::Stopped(stop::Cause::Asked),
        StopReason::TimeLimit => Failure::Stopped(stop::Cause::Time),
        _ => {
            Failure::Internal(format!("the counterexample could not be made: the search ended with {why:?}"))
        }
    }
}

/// A formula, among all, and the machine that is searched.
#[derive(Clone, Copy)]
struct Asked<'a> {
    backend: &'a ProgramBackend,
    questions: &'a Questions,
    question: &'a Question,
    number: usize,
}

impl Checker<'_> {
    /// Evaluates a formula, replays what a run shows of the answer, and concludes.
    pub(super) fn state_formula(
        &mut self,
        searched: &SearchedBackends<'_>,
        property: Selected,
        client: &mut dyn Client,
    ) -> Result<PropertyReport, Failure> {
        let Some((backend, questions)) = searched.branching else { return Err(no_machine(&property.name)) };
        let number = questions.list.iter().position(|question| question.name == property.name);
        let Some(number) = number else { return Err(no_machine(&property.name)) };
        let mut space = match self.space.take() {
            Some(known) => known,
            None => self.explore_space(&property, backend, questions, client)?,
        };
        let asked = Asked { backend, questions, question: &questions.list[number], number };
        let report = self.judge_space(&mut space, asked, &property, client);
        self.space = Some(space);
        report
    }

    /// Explores all states, and tells what cut paths off.
    fn explore_space(
        &mut self,
        property: &Selected,
        backend: &ProgramBackend,
        questions: &Questions,
        client: &mut dyn Client,
    ) -> Result<StateSpace, Failure> {
        self.leaving.wait();
        let mut space = self.explore_by_engine(backend, questions, client)?;
        let machine = self.machine()?;
        let outcome = match &mut space {
            StateSpace::Graph(explored, _) => &mut explored.explored.outcome,
            StateSpace::Answers(answers, _) => &mut answers.outcome,
        };
        let at = stop::regardless(|| {
            let at = self.warn_all(&machine, outcome);
            let cuts = std::mem::take(&mut outcome.cuts);
            cuts.iter().try_for_each(|cut| self.tell_cut(&machine, &property.name, cut)).map(|()| at)
        })?;
        match &mut space {
            StateSpace::Graph(_, stays_at) | StateSpace::Answers(_, stays_at) => *stays_at = at,
        }
        Ok(space)
    }

    fn explore_by_engine(
        &self,
        backend: &ProgramBackend,
        questions: &Questions,
        client: &mut dyn Client,
    ) -> Result<StateSpace, Failure> {
        let plan = self.plan;
        let store = state_store(plan.store).unwrap_or_default();
        let task = self.task(Checks::NONE, None);
        let explore = |task: &Task<'_>, observer: &mut dyn Observer| {
            let memory = task.limits.memory.unwrap_or(u64::MAX);
            let exploring = Exploring {
                fair: plan.fairness != Fairness::None,
                may_end_early: !plan.options.all_errors,
                means: Means { store, memory, threads: plan.threads as usize },
            };
            ExploredGraph::new(backend, questions, exploring, (task, observer))
        };
        let graph = |explored| StateSpace::Graph(Box::new(explored), None);
        let answers = |answers| StateSpace::Answers(Box::new(answers), None);
        // Where there is no initial state there is nothing to compute.
        let begins = |jit: &&Jit| jit.initial(&mut Vec::new()).is_ok();
        packed_search::refuse_whole(plan, "ctl and mu blocks")?;
        match plan.engine {
            Engine::Gpu => Err(gpu_search::no_whole("ctl and mu blocks")),
            Engine::Explicit => Ok(graph(explore(&task, client))),
            Engine::Symbolic => {
                fit(backend, plan)?;
                match backend.compiled().filter(begins) {
                    Some(jit) => {
                        symbolic_branching::evaluate(plan, jit, questions, (&task, client)).map(answers)
                    }
                    None => Ok(graph(explore(&task, client))),
                }
            }
            Engine::Auto => match backend.compiled().filter(begins).filter(|_| fit(backend, plan).is_ok()) {
                Some(jit) => {
                    let explore = |task: &Task<'_>, observer: &mut dyn Observer| {
                        let explored = explore(task, observer);
                        let conclusive = explored.is_conclusive();
                        (explored, conclusive)
                    };
                    Ok(match evaluate_both(plan, jit, questions, (&task, client), explore)? {
                        First::Explicit(explored) => graph(explored),
                        First::Symbolic(found) => answers(found),
                    })
                }
                None => Ok(graph(explore(&task, client))),
            },
        }
    }

    fn machine(&self) -> Result<machine::Interp, Failure> {
        let session =
            self.session.ok_or_else(|| Failure::Internal("a formula without a model".to_string()))?;
        session.judge()
    }

    /// Evaluates a formula, and concludes.
    fn judge_space(
        &mut self,
        space: &mut StateSpace,
        asked: Asked<'_>,
        property: &Selected,
        client: &mut dyn Client,
    ) -> Result<PropertyReport, Failure> {
        let (outcome, stays_at) = match &*space {
            StateSpace::Graph(explored, stays_at) => (&explored.explored.outcome, stays_at),
            StateSpace::Answers(answers, stays_at) => (&answers.outcome, stays_at),
        };
        let mut why = self.why_unknown(outcome, stays_at.clone());
        if let StateSpace::Answers(answers, _) = &*space
            && let Some(unfit) = &answers.unfit
        {
            why = Reason::Engine(unfit.clone());
        }
        let mut report = PropertyReport::given_up(property.name.clone(), property.kind, why);
        report.statistics = outcome.statistics;
        report.fairness = self.plan.fairness;
        report.interrupted = outcome.stop == StopReason::Interrupted;
        let found = match space {
            StateSpace::Graph(explored, _)
                if self.plan.fairness != Fairness::None && explored.n_agents > MOST_AGENTS =>
            {
                report.verdict = Verdict::Unknown(Reason::Processes(MOST_AGENTS));
                None
            }
            StateSpace::Graph(explored, _) => {
                match (explored.explored.exhausted(true), explored.decided[asked.number]) {
                    (Some(exhausted), _) => {
                        Some((self.evaluate(explored, asked, client)?, Ground::Everything(exhausted)))
                    }
                    (None, Some(decided)) => {
                        Some((self.by_state(explored, decided, asked, client)?, Ground::OneRun))
                    }
                    (None, None) => None,
                }
            }
            StateSpace::Answers(answers, _) => {
                report.symbolic = answers.figures.clone().map(Box::new);
                let answer = answers.answers[asked.number].take();
                answer.zip(symbolic_branching::exhausted(answers).map(Ground::Everything))
            }
        };
        if let Some((answered, ground)) = found {
            report.interrupted = false;
            self.conclude_formula(answered, ground, asked, &mut report, client)?;
        }
        Ok(report)
    }

    /// The answer that a single state gives.
    fn by_state(
        &self,
        explored: &ExploredGraph,
        decided: (u32, bool),
        asked: Asked<'_>,
        client: &mut dyn Client,
    ) -> Result<Answered, Failure> {
        let task = self.task(Checks::NONE, None);
        let found = Answered::by_state(explored, decided, asked.backend.system(), (&task, client));
        found.map_err(unmade)
    }

    fn evaluate(
        &self,
        explored: &ExploredGraph,
        asked: Asked<'_>,
        client: &mut dyn Client,
    ) -> Result<Answered, Failure> {
        let fair = (self.plan.fairness == Fairness::Weak).then_some(explored.n_agents);
        let (task, system) = (self.task(Checks::NONE, None), asked.backend.system());
        let with = (fair, self.stop);
        Answered::by_graph(explored, asked.question, with, system, (&task, client)).map_err(unmade)
    }

    /// What is said of a formula: with a run that was replayed, where one shows something.
    fn conclude_formula(
        &mut self,
        answered: Answered,
        ground: Ground,
        asked: Asked<'_>,
        report: &mut PropertyReport,
        client: &mut dyn Client,
    ) -> Result<(), Failure> {
        let (holds, fails) = (answered.truth == Truth::True, answered.truth == Truth::False);
        report.exhaustive = (holds || fails) && matches!(ground, Ground::Everything(_));
        report.met_full_buffer = report.exhaustive.then(|| asked.backend.met_full_buffer());
        let mut evaluation = Evaluation { satisfied: answered.satisfied.clone(), ..Evaluation::default() };
        let mut shown = None;
        if let Some(run) = &answered.run {
            evaluation.reason = words::reason(run, asked.questions, &answered);
            // That a formula holds in the initial state by itself needs no run, unless nothing else says so.
            let alone = matches!(ground, Ground::OneRun);
            if !run.ends.is_empty() || run.open.is_empty() && (fails || alone) {
                shown = Some(stop::regardless(|| self.replay_formula(asked, run, holds, client))?);
            }
        } else if fails {
            let why = "no run is shown: to find one takes more work or memory than there is";
            evaluation.reason = Some(why.to_string());
        }
        // That a formula holds needs no reason where no run is shown.
        if holds && shown.is_none() {
            evaluation.reason = None;
        }
        // A run that shows everything needs no further proof.
        if evaluation.reason.is_some() {
            evaluation.proof = words::proof(&answered, asked.questions);
        }
        report.errors = u64::from(fails);
        let fault = asked.question.fault.clone();
        match (answered.truth, shown, ground) {
            (Truth::True, witness, Ground::Everything(exhausted)) => {
                evaluation.witness = witness.map(Box::new);
                report.verdict = Verdict::Holds(exhausted);
            }
            (Truth::True, Some(witness), Ground::OneRun) => {
                report.verdict = Verdict::Witnessed(Box::new(witness));
            }
            (Truth::False, Some(shown), _) => {
                report.verdict = Verdict::Violated(Box::new(shown), Vec::new());
            }
            (Truth::False, None, Ground::Everything(exhausted)) => {
                report.verdict = Verdict::Refuted(Box::new(Refutation { exhausted, fault }));
            }
            // Without everything nothing is claimed that no run shows.
            (Truth::Unknown, ..) | (_, None, Ground::OneRun) => {}
        }
        report.evaluation = Some(evaluation);
        Ok(())
    }

    /// Replays a run that shows that a formula fails, or holds.
    fn replay_formula(
        &mut self,
        asked: Asked<'_>,
        run: &Demonstration,
        holds: bool,
        client: &mut dyn Client,
    ) -> Result<Shown, Failure> {
        let Asked { questions, question, .. } = asked;
        let machine = self.machine()?.watched(questions.sets());
        let essence = self.session.map(Session::essence).transpose()?;
        let fair = self.plan.fairness == Fairness::Weak;
        let essence = essence.as_ref().map(|machine| machine as &dyn TransitionSystem);
        // Which process takes a step, a run of states does not tell.
        let alone = run.open.is_empty() && questions.filters.is_empty();
        let judge = RunJudge { machine: &machine, question, questions, essence, fair, alone, holds };
        let cycle = run.back_to.map(|at| at.checked_sub(1).map_or(0, |at| run.ends[at]));
        let violation = Violation { fault: question.told(holds), path: run.path.clone(), cycle };
        let (evidence, confirmed) =
            confirm_formula(&machine, &self.head(&question.name), &violation, &judge)?;
        Ok(match holds {
            true => self.show_witness(evidence, &confirmed.run, client),
            false => self.show(evidence, &confirmed.run, client),
        })
    }
}

/// Refuses what the symbolic engine is not made for.
fn fit(backend: &ProgramBackend, plan: &Plan) -> Result<(), Failure> {
    let compiled = backend.compiled();
    let interp = backend.interp().ok_or_else(|| Failure::Internal("there is no program".to_string()))?;
    symbolic_search::refuse(interp.program(), compiled)?;
    if plan.fairness != Fairness::None && interp.n_parts() > 1 {
        return Err(Failure::refused_with(
            "a symbolic search is fair to processes, and with --memory store buffers need fairness as well",
            "use --engine explicit",
        ));
    }
    compiled.map_or(Ok(()), symbolic_branching::refuse)
}
