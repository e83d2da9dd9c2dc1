//! What does not go with formulas about states: they are judged on the whole graph.

use crate::failure::Failure;
use crate::options::{Choice, Edges, Por, StaticReduction, StoreKind};
use crate::plan::Plan;
use promela::ir::Logic;
use search::states::StateStore;
use store::Roots;
use system::Fairness;

/// Refuses a plan that would leave out a state or a step, or weigh runs in a way that the logic does not know.
pub fn refuse(plan: &Plan, name: &str, logic: Logic) -> Result<(), Failure> {
    if let Some(option) = leaves_out(plan) {
        return Err(Failure::refused_with(
            format!("{name} is judged on the whole state graph, of which {option} would leave out a part"),
            format!("leave {option} out, or name the other properties with --property"),
        ));
    }
    needs_exact_store(plan, name)?;
    match (logic, plan.fairness) {
        (Logic::Ctl, Fairness::Strong) => Err(Failure::refused_with(
            format!("{name}: CTL knows weak fairness, not --fair strong"),
            "use --fair weak, or check an ltl formula",
        )),
        (Logic::Mu, Fairness::Weak | Fairness::Strong) => Err(Failure::refused_with(
            format!("{name}: a mu formula is about states and steps, and --fair is about whole runs"),
            "leave --fair out, or check a ctl formula with --fair weak",
        )),
        _ => Ok(()),
    }
}

/// Refuses a plan that would leave out a part of an exported graph.
pub fn refuse_for_graph(plan: &Plan) -> Result<(), Failure> {
    if let Some(option) = leaves_out(plan) {
        return Err(Failure::refused_with(
            format!("a graph has all states and all steps, of which {option} would leave out a part"),
            format!("leave {option} out"),
        ));
    }
    needs_exact_store(plan, "a graph")
}

fn needs_exact_store(plan: &Plan, what: &str) -> Result<(), Failure> {
    match state_store(plan.store) {
        Some(_) => Ok(()),
        None => Err(Failure::refused_with(
            format!(
                "{what} needs a store that numbers states, and loses none: --store {} is no such",
                plan.store.word()
            ),
            "use --store table, tree, cleary or collapse",
        )),
    }
}

/// The option that would leave out a state or a step.
fn leaves_out(plan: &Plan) -> Option<&'static str> {
    let options = &plan.options;
    match () {
        () if options.por.is_some_and(|por| por != Por::None) => Some("--por"),
        () if options.sleep => Some("--sleep"),
        () if options.state_cache.is_some() => Some("--state-cache"),
        () if options.edges == Some(Edges::Lean) => Some("--edges lean"),
        () if options.max_depth.is_some() => Some("--max-depth"),
        () if options.opt.as_ref().is_some_and(|opt| opt.contains(&StaticReduction::Merge)) => {
            Some("--opt merge")
        }
        () => None,
    }
}

/// How states are kept; `None` for a store that may lose some.
pub fn state_store(store: StoreKind) -> Option<StateStore> {
    Some(match store {
        StoreKind::Table => StateStore::Table,
        StoreKind::Tree => StateStore::Tree(Roots::Roomy),
        StoreKind::Cleary => StateStore::Tree(Roots::Cleary),
        StoreKind::Collapse => StateStore::Collapse,
        _ => return None,
    })
}
