//! Lean expansion: the edges of processes that do not sleep in a state, and who sleeps after each of them.
//! [`system::lean`] says why that is sound.

use super::{Expander, Expansion};
use crate::edge::Edge;
use crate::limits::Budget;
use crate::outcome::StopReason;
use system::lean::OnlyEdge;
use system::{Annotation, Successor};

impl Expander<'_> {
    /// Finds the ordinary successors of `state` by processes that do not sleep there, and their annotations.
    #[inline(always)]
    pub fn expand_active(
        &mut self,
        state: &[u8],
        annotation: Annotation,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        out.begin();
        let first = out.outcomes.list.len();
        self.closure.expand(state, annotation.mask(), out)?;
        let edges = &out.outcomes.list[first..];
        out.stuck = edges.is_empty() && annotation.is_none();
        if out.outcomes.unusual || budget.steps_left(depth) == 0 {
            return self.close_active(state, annotation, first, depth, budget, out);
        }
        if let Some(lean) = &mut self.lean {
            match edges {
                [] => out.slept = lean.slept(annotation),
                [edge] => {
                    let OnlyEdge { after, slept } = lean.sleep_after_only(state, annotation, edge.action);
                    out.annotations.push(after);
                    out.slept = slept;
                }
                _ => {
                    out.slept = lean.sleep_after(state, annotation, edges, &mut out.annotations);
                    if self.lowest_edges_first {
                        out.turn_round(first);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes edges of outcomes that may begin atomic sequences, and annotates the states that they lead to.
    /// Errors are to be met as often as there are.
    #[inline(never)]
    fn close_active(
        &mut self,
        state: &[u8],
        annotation: Annotation,
        first: usize,
        depth: u64,
        budget: &mut Budget<'_>,
        out: &mut Expansion,
    ) -> Result<(), StopReason> {
        let alone = annotation.is_none() && self.is_one_process(&out.outcomes.list[first..]);
        self.closure.close(first, true, depth, budget, out)?;
        let (Some(lean), run) = (&mut self.lean, self.closure.run()) else { return Ok(()) };
        out.slept = lean.slept(annotation);
        let edges = &out.outcomes.list[first..];
        // Whether an atomic sequence without end was met must not matter: it is looked for only until one is
        // known, and a path that is retraced must find the same annotations.
        if alone || !out.faults.is_empty() || out.lost || out.cut {
            out.annotations.resize(out.outcomes.list.len(), Annotation::NONE);
            return Ok(());
        }
        // An edge for each outcome: the outcomes show its first action.
        if out.closed.len() != edges.len() || !run.nodes.is_empty() {
            out.closed.clear();
            let first_action = |edge: Edge| run.first_action(edge.via(), edge.action);
            let first_action = |record: &Successor| first_action(Edge::of_record(record));
            out.closed.extend(edges.iter().map(|edge| Successor { action: first_action(edge), ..*edge }));
        }
        lean.sleep_after(state, annotation, &out.closed, &mut out.annotations);
        if self.lowest_edges_first {
            out.turn_round(first);
        }
        Ok(())
    }

    /// Whether all outcomes of a state are known to be those of one process. They are in the order of the
    /// processes.
    fn is_one_process(&self, outcomes: &[Successor]) -> bool {
        let Some(system) = self.processes else { return outcomes.len() < 2 };
        let process = |outcome: &Successor| system.process_of(outcome.action);
        outcomes.first().map(process) == outcomes.last().map(process)
    }
}
