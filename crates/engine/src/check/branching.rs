//! Formulas about states (CTL, mu-calculus): the whole graph is explored once and evaluated for each of them.

use super::{Checker, no_machine};
use crate::backend::{Backend, ProgramBackend, SearchedBackends};
use crate::branching::refusals::{refuse, state_store};
use crate::branching::{ExploredGraph, Question, Questions, RunJudge, words};
use crate::client::Client;
use crate::counterexample::confirm_formula;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::property::Selected;
use crate::report::{Evaluation, PropertyReport, Refutation, Shown, Verdict};
use crate::session::Session;
use graph::witness::{Prover, Witness};
use mu::formula::Translation;
use mu::{Arena, Formula, Truth, verdict};
use search::{Checks, Exhausted, StopReason, Violation};
use system::{Fairness, TransitionSystem};

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

/// What evaluating a formula gave.
struct Evaluated {
    truth: Truth,
    satisfied: u64,
    /// Where it fails.
    failure: Option<(Witness, Vec<String>)>,
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
        let question = questions.list.iter().find(|question| question.name == property.name);
        let Some(question) = question else { return Err(no_machine(&property.name)) };
        let (explored, stays_at) = match self.graph.take() {
            Some(known) => known,
            None => self.explore_graph(&property, backend, questions, client)?,
        };
        let why = self.why_unknown(&explored.explored.outcome, stays_at.clone());
        let mut report = PropertyReport::given_up(property.name, property.kind, why);
        let asked = (backend, questions, question);
        let judged = self.judge_graph(&explored, asked, &mut report, client);
        self.graph = Some((explored, stays_at));
        judged.map(|()| report)
    }

    /// Explores the graph, and tells what cut paths off. The answer is where a run can stay in an atomic
    /// sequence forever.
    fn explore_graph(
        &mut self,
        property: &Selected,
        backend: &ProgramBackend,
        questions: &Questions,
        client: &mut dyn Client,
    ) -> Result<(ExploredGraph, Option<String>), Failure> {
        self.leaving.wait();
        let fair = self.plan.fairness != Fairness::None;
        let store = state_store(self.plan.store).unwrap_or_default();
        let memory = self.plan.limits.memory.unwrap_or(u64::MAX);
        let task = self.task(Checks::NONE, None);
        let mut explored = ExploredGraph::new(backend, questions, fair, (store, memory), (&task, client));
        let machine = self.machine()?;
        let stays_at = self.warn_all(&machine, &mut explored.explored.outcome);
        for cut in std::mem::take(&mut explored.explored.outcome.cuts) {
            self.tell_cut(&machine, &property.name, &cut)?;
        }
        Ok((explored, stays_at))
    }

    fn machine(&self) -> Result<machine::Interp, Failure> {
        let session =
            self.session.ok_or_else(|| Failure::Internal("a formula without a model".to_string()))?;
        session.judge()
    }

    fn judge_graph(
        &mut self,
        explored: &ExploredGraph,
        (backend, questions, question): (&ProgramBackend, &Questions, &Question),
        report: &mut PropertyReport,
        client: &mut dyn Client,
    ) -> Result<(), Failure> {
        let outcome = &explored.explored.outcome;
        report.statistics = outcome.statistics;
        report.fairness = self.plan.fairness;
        report.interrupted = outcome.stop == StopReason::Interrupted;
        let Some(exhausted) = explored.explored.exhausted(true) else { return Ok(()) };
        let evaluated = self.evaluate(explored, questions, question);
        report.exhaustive = evaluated.truth != Truth::Unknown;
        let mut evaluation = Evaluation { satisfied: evaluated.satisfied, ..Evaluation::default() };
        match evaluated.truth {
            Truth::True => report.verdict = Verdict::Holds(exhausted),
            Truth::Unknown => {}
            Truth::False => {
                report.errors = 1;
                let found = evaluated.failure.unwrap_or_default();
                let (verdict, told) =
                    self.fails(explored, (backend, questions, question), found, exhausted, client)?;
                report.verdict = verdict;
                evaluation = Evaluation { satisfied: evaluation.satisfied, ..told };
            }
        }
        report.evaluation = Some(evaluation);
        Ok(())
    }

    /// The processes that fairness is about.
    fn fair(&self, explored: &ExploredGraph) -> Option<u32> {
        (self.plan.fairness == Fairness::Weak).then_some(explored.n_processes)
    }

    fn evaluate(&self, explored: &ExploredGraph, questions: &Questions, question: &Question) -> Evaluated {
        let (mut arena, mut sets) = (Arena::default(), explored.sets(self.stop));
        let fair = self.fair(explored);
        let formula = Translation::new(&mut arena, fair).formula(&question.formula);
        let answer = verdict::answer(&arena, formula, &mut sets);
        let truth = answer.truth(|set| set.has(0));
        let satisfied = answer.must.count() as u64;
        let failure = (truth == Truth::False).then(|| {
            let shown: Formula = question.formula.with_ctl_shapes();
            let mut prover = Prover::new(&mut arena, &mut sets, explored.graph(), fair);
            (prover.show(&shown, false), words::proof(&question.formula, questions, &mut prover))
        });
        Evaluated { truth, satisfied, failure }
    }

    /// What is said of a formula that fails: with a run that was replayed, where one shows something.
    fn fails(
        &mut self,
        explored: &ExploredGraph,
        (backend, questions, question): (&ProgramBackend, &Questions, &Question),
        (witness, proof): (Witness, Vec<String>),
        exhausted: Exhausted,
        client: &mut dyn Client,
    ) -> Result<(Verdict, Evaluation), Failure> {
        let n_states = explored.graph().n_states();
        let told = |reason, proof| Evaluation { reason, proof, satisfied: 0 };
        if !witness.shows_something() {
            let reason = words::reason(&witness, questions, &[], n_states);
            let fault = question.fault.clone();
            let verdict = Verdict::Refuted(Box::new(Refutation { exhausted, fault }));
            return Ok((verdict, told(reason, proof)));
        }
        let task = self.task(Checks::NONE, None);
        let retraced = explored.graph().retrace(backend.system(), &witness.edges, &task, client);
        let (path, ends) = retraced.map_err(|why| {
            Failure::Internal(format!("the counterexample could not be made: the search ended with {why:?}"))
        })?;
        let cycle = witness.back_to.map(|at| at.checked_sub(1).map_or(0, |at| ends[at]));
        let reason = words::reason(&witness, questions, &ends, n_states);
        let violation = Violation { fault: question.fault.clone(), path, cycle };
        // Which process takes a step, a run of states does not tell.
        let alone = reason.is_none() && questions.filters.is_empty();
        let shown = self.replay_formula(questions, question, (violation, alone), client)?;
        // A run that shows everything needs no further proof.
        let proof = if reason.is_some() { proof } else { Vec::new() };
        Ok((Verdict::Violated(Box::new(shown), Vec::new()), told(reason, proof)))
    }

    fn replay_formula(
        &mut self,
        questions: &Questions,
        question: &Question,
        (violation, alone): (Violation, bool),
        client: &mut dyn Client,
    ) -> Result<Shown, Failure> {
        let machine = self.machine()?.watched(questions.sets());
        let essence = self.session.map(Session::essence).transpose()?;
        let fair = self.plan.fairness == Fairness::Weak;
        let essence = essence.as_ref().map(|machine| machine as &dyn TransitionSystem);
        let judge = RunJudge { machine: &machine, question, questions, essence, fair, alone };
        let (evidence, confirmed) =
            confirm_formula(&machine, &self.head(&question.name), &violation, &judge)?;
        Ok(self.show(evidence, &confirmed.run, client))
    }
}
