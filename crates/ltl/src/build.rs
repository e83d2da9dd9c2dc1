//! The way from a formula to the automaton that a product uses.

use crate::automaton::Automaton;
use crate::formula::Formula;
use crate::nnf::{Id, Nnf};
use crate::obligation::obligation;
use crate::simplify::simplify;
use crate::stutter::stutter_invariant;
use crate::tgba::Tgba;
use crate::translate::{MAX_PAIRS, MAX_PROPS, TooLarge, translate};
use stop::Stop;

/// Which acceptance an automaton is to have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Acceptance {
    /// Any number of marks, on edges: the smallest automata, for searches by components.
    Generalised,
    /// One mark, on all edges of a state or on none: for nested depth-first search and never claims.
    Buchi,
}

/// Larger automata are not made deterministic.
const FEW_STATES: usize = 60;

/// The negation is translated only to learn more about the formula: that may not take long.
const FEW_PAIRS: usize = MAX_PAIRS / 50;

fn reduced(nnf: &mut Nnf, formula: Id, max_pairs: usize) -> Result<Tgba, TooLarge> {
    let mut tgba = translate(nnf, formula, max_pairs)?;
    tgba.reduce();
    Ok(tgba)
}

impl Automaton {
    /// The automaton that accepts exactly the runs that satisfy the formula. To check a property, translate
    /// its [negation](Formula::negated).
    pub fn of(formula: &Formula, acceptance: Acceptance) -> Result<Automaton, TooLarge> {
        Automaton::obeying(formula, acceptance, &Stop::never())
    }

    /// Builds the automaton, and gives up when `stop` says so.
    pub fn obeying(formula: &Formula, acceptance: Acceptance, stop: &Stop) -> Result<Automaton, TooLarge> {
        let n_props = formula.n_props();
        if n_props as usize > MAX_PROPS {
            return Err(TooLarge { what: "propositions", limit: MAX_PROPS });
        }
        let mut nnf = Nnf::default();
        nnf.stop = stop.clone();
        let id = nnf.of(formula, true);
        let id = simplify(&mut nnf, id);
        let general = reduced(&mut nnf, id, MAX_PAIRS)?;
        let has_next = nnf.shape(id).next;
        let negation = if has_next || general.states.len() <= FEW_STATES {
            let not = nnf.not(id);
            reduced(&mut nnf, not, FEW_PAIRS).ok()
        } else {
            None
        };
        let invariant = || negation.clone().is_some_and(|no| stutter_invariant(general.clone(), no));
        let stutter_invariant = !has_next || invariant();
        let deterministic = negation.as_ref().and_then(|no| obligation(&general, no));
        let mut tgba = smallest(general, deterministic, acceptance);
        Ok(Automaton::freeze(&mut tgba, n_props, stutter_invariant))
    }
}

/// The smaller of two automata for the same language; if they have the same number of states, the
/// deterministic one.
fn smallest(general: Tgba, deterministic: Option<Tgba>, acceptance: Acceptance) -> Tgba {
    let general = match acceptance {
        Acceptance::Generalised => general,
        Acceptance::Buchi => general.into_buchi(),
    };
    match (deterministic, acceptance) {
        (Some(mut weak), Acceptance::Buchi) if weak.states.len() <= general.states.len() => {
            weak.simplify_accepting_states(false);
            weak
        }
        (Some(mut weak), Acceptance::Generalised) if weak.states.len() <= general.states.len() => {
            weak.simplify_marks(false);
            weak
        }
        _ => general,
    }
}
