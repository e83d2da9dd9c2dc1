//! The answer to a formula about states, whoever evaluated it, and what of it one run shows.

use super::graph::ExploredGraph;
use super::question::Question;
use graph::ExplicitRun;
use mu::witness::{ProofLine, Prover, is_about_a_run};
use mu::{Runs, Truth};
use num_bigint::BigUint;
use search::state_graph::paths;
use search::{Observer, StopReason, Task};
use stop::Stop;
use symbolic::{Demonstration, Judgement};
use system::TransitionSystem;

/// The answer to a formula.
#[derive(Debug)]
pub struct Answered {
    /// Whether it holds in the initial state.
    pub truth: Truth,
    /// The number of states in which it certainly holds; nothing where they were not counted.
    pub satisfied: Option<BigUint>,
    /// The number of all states.
    pub states: BigUint,
    /// What one run shows of the answer.
    pub run: Option<Demonstration>,
    /// Where the parts of the formula hold, if a run does not show everything.
    pub proof: Vec<ProofLine>,
}

impl Answered {
    /// The symbolic engine's answer.
    pub fn by_sets(judgement: Judgement, states: BigUint) -> Self {
        let Judgement { truth, satisfied, run, proof } = judgement;
        Answered { truth, satisfied: Some(satisfied), states, run, proof }
    }

    /// Evaluates a formula over a stored graph.
    pub fn by_graph(
        explored: &ExploredGraph,
        question: &Question,
        (fair, stop): (Option<u32>, &Stop),
        system: &dyn TransitionSystem,
        (task, observer): (&Task<'_>, &mut dyn Observer),
    ) -> Result<Self, StopReason> {
        let (mut sets, graph) = (explored.sets(stop), explored.graph());
        let mut run = ExplicitRun::new(&mut sets, graph);
        let mut prover = Prover::new(&mut run, fair);
        let (truth, holds) = prover.truth(&question.formula);
        let satisfied = prover.runs.count(&holds);
        let shown = question.formula.with_ctl_shapes();
        // A run is wanted where a formula fails, and where one run shows that it holds.
        let wanted = truth == Truth::False || truth == Truth::True && is_about_a_run(&shown, true);
        let (mut open, mut proof) = (Vec::new(), Vec::new());
        if wanted {
            open = prover.show(&shown, truth == Truth::True);
        }
        if wanted && !open.is_empty() {
            proof = prover.proof(&question.formula);
        }
        let states = BigUint::from(graph.n_states());
        let mut answered = Answered { truth, satisfied: Some(satisfied), states, run: None, proof };
        if wanted {
            let (path, ends) = graph.retrace(system, &run.edges, task, observer)?;
            answered.run = Some(Demonstration { path, ends, back_to: run.back_to, open });
        }
        Ok(answered)
    }

    /// The answer that a single state gives, though others may be unknown: a shortest run leads there.
    pub fn by_state(
        explored: &ExploredGraph,
        (state, holds): (u32, bool),
        system: &dyn TransitionSystem,
        (task, observer): (&Task<'_>, &mut dyn Observer),
    ) -> Result<Self, StopReason> {
        let graph = explored.graph();
        let edges = paths::to(&graph.edges, state).unwrap_or_default();
        let (path, ends) = graph.retrace(system, &edges, task, observer)?;
        Ok(Answered {
            truth: if holds { Truth::True } else { Truth::False },
            satisfied: None,
            states: BigUint::from(graph.n_states()),
            run: Some(Demonstration { path, ends, back_to: None, open: Vec::new() }),
            proof: Vec::new(),
        })
    }
}
