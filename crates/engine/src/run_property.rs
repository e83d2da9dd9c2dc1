//! What a search for cycles looks for: each `ltl` block, never claim, accept and progress labels as a claim
//! over propositions.
//!
//! The same is made for a check, for confirming what it found, and for replaying a trail, each time from the
//! program and the property's name. A never claim that changes variables is no claim over propositions: it
//! and the program are one system.

use crate::failure::Failure;
use crate::formula::{Written, formulate};
use crate::inside::accepts_inside;
use crate::session::Session;
use ltl::{Automaton, Component};
use machine::ActingClaim;
use machine::claim::{Unsuitable, intersection_of};
use machine::interp::acting_claim::acts;
use promela::ir::{Expr, ExprKind, LtlProperty, ProctypeId, Program, visit};
use promela::source::Span;
use std::sync::Arc;
use stop::Stop;
use system::claim::{Claim, ClaimEdge, ClaimState, Guard, MOST_MARKS, MOST_STATES, Marks};
use system::{Fault, FaultKind};

/// A property that runs as a whole have or have not.
#[derive(Clone, Debug)]
pub struct RunProperty {
    /// What finds runs wrong; `None`: the accept labels of the system.
    pub claim: Option<Claim>,
    /// A never claim that changes variables, with the program: what is searched and replayed in the place of
    /// other machines.
    pub acting: Option<Arc<ActingClaim>>,
    /// The claim with generalised acceptance on edges, where that has fewer states; only searches by
    /// components can use it.
    pub general: Option<Claim>,
    /// Which set of propositions the claim is about.
    pub set: usize,
    /// What is said of a run that goes on forever.
    pub fault: Fault,
    /// Whether it does not matter how often a state is repeated.
    pub stutter_invariant: bool,
    /// What would say more: if it holds as well, the property holds vacuously.
    pub stronger: Vec<Stronger>,
    /// It is about accept labels, of which some stand inside atomic sequences.
    pub passes_labels: bool,
}

impl RunProperty {
    /// Whether a claim finds runs wrong, which may do so on the way.
    pub fn is_claim(&self) -> bool {
        self.claim.is_some() || self.acting.is_some()
    }
}

/// A formula that implies a property.
#[derive(Clone, Debug)]
pub struct Stronger {
    /// What finds runs wrong that do not satisfy it, over the propositions of the property.
    pub claim: Claim,
    /// The formula.
    pub formula: String,
    /// The part of the property that would not matter.
    pub part: String,
    /// Whether it does not matter how often a state is repeated.
    pub stutter_invariant: bool,
}

/// Some properties, and the sets of propositions that they need.
#[derive(Clone, Debug, Default)]
pub struct RunProperties {
    /// By property.
    pub list: Vec<RunProperty>,
    /// What the machine is made to tell.
    pub sets: Vec<Vec<Expr>>,
    /// The propositions of each set as their author wrote them.
    pub written: Vec<Vec<Written>>,
}

impl RunProperties {
    /// Makes the claim of the property with this name, and puts it at the end of the list.
    pub fn add(&mut self, session: &Session, name: &str) -> Result<(), Failure> {
        let program = session.program()?;
        let maker = Maker { session, program };
        let stronger = match name.split_once(':') {
            Some(("ltl", name)) => maker.stronger(name)?,
            _ => Vec::new(),
        };
        let Made { claim, acting, general, propositions, written, fault, stutter_invariant } =
            match name.split_once(':') {
                Some(("ltl", name)) => maker.ltl(name)?,
                Some(("never", names)) => maker.never(maker.never_ids(names)?)?,
                _ if name == "never" => maker.never(program.never.iter().take(1).copied().collect())?,
                _ if name == "progress" => maker.progress(),
                _ => maker.accept_labels(),
            };
        // Values that are hidden depend on the way to a state: what is left out would change them.
        let hidden = program.globals.iter().any(|var| var.hidden);
        let asks = hidden || propositions.iter().any(asks_what_can_happen);
        let stutter_invariant = stutter_invariant && !asks;
        let set = self.sets.len();
        self.sets.push(propositions);
        self.written.push(written);
        let passes_labels = claim.is_none() && acting.is_none() && accepts_inside(program);
        self.list.push(RunProperty {
            claim,
            acting,
            general,
            set,
            fault,
            stutter_invariant,
            stronger,
            passes_labels,
        });
        Ok(())
    }
}

/// The number of ways in which a property may hold vacuously that are tried.
const MOST_STRONGER: usize = 2;
const ACCEPTANCE: &str = "acceptance cycle: a run goes on forever and passes an accept label again and again";
const NO_PROGRESS: &str = "non-progress cycle: a run goes on forever without passing a progress label";

/// What a [`RunProperty`] is made of.
struct Made {
    claim: Option<Claim>,
    acting: Option<Arc<ActingClaim>>,
    general: Option<Claim>,
    propositions: Vec<Expr>,
    written: Vec<Written>,
    fault: Fault,
    stutter_invariant: bool,
}

struct Maker<'a> {
    session: &'a Session,
    program: &'a Program,
}

impl Maker<'_> {
    fn ltl(&self, name: &str) -> Result<Made, Failure> {
        let Some(property) = self.program.ltl.iter().find(|property| property.name == name) else {
            return Err(unknown(&format!("ltl:{name}")));
        };
        let formulated = formulate(&property.formula)?;
        let wrong = formulated.formula.negated();
        let automaton = Automaton::obeying(&wrong, ltl::Acceptance::Buchi, &self.session.stop)
            .map_err(|too_large| complicated(property, &too_large.to_string()))?;
        if automaton.n_states() >= MOST_STATES {
            return Err(complicated(property, "the automaton has too many states"));
        }
        let text = property.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cycle = format!("`{text}` fails on a run that goes on forever");
        let at_once = format!("`{text}` fails: no continuation can repair it");
        let fault = self.fault(FaultKind::AcceptCycle, &cycle, property.span);
        let end = self.fault(FaultKind::ClaimEnd, &at_once, property.span);
        Ok(Made {
            general: general(&wrong, &automaton, &self.session.stop).map(|general| claim(&general, &end)),
            claim: Some(claim(&automaton, &end)),
            acting: None,
            written: formulated.written(&self.session.sources),
            propositions: formulated.propositions,
            fault,
            stutter_invariant: automaton.stutter_invariant,
        })
    }

    /// Formulas in which an implication promises nothing; those only that a search for a reachable state can
    /// refute, which is cheap.
    fn stronger(&self, name: &str) -> Result<Vec<Stronger>, Failure> {
        let Some(property) = self.program.ltl.iter().find(|property| property.name == name) else {
            return Ok(Vec::new());
        };
        let formulated = formulate(&property.formula)?;
        let candidates =
            formulated.formula.strengthenings().into_iter().filter(|s| s.promised).take(MOST_STRONGER);
        let end = self.fault(FaultKind::ClaimEnd, "not vacuous", property.span);
        let made = candidates.filter_map(|candidate| {
            let automaton =
                Automaton::obeying(&candidate.formula.negated(), ltl::Acceptance::Buchi, &self.session.stop)
                    .ok()?;
            let cheap = automaton.strength == ltl::Strength::Terminal && automaton.n_states() < MOST_STATES;
            cheap.then(|| Stronger {
                claim: claim(&automaton, &end),
                formula: formulated.shown(&candidate.formula, &self.session.sources),
                part: formulated.shown(&candidate.part, &self.session.sources),
                stutter_invariant: automaton.stutter_invariant,
            })
        });
        Ok(made.collect())
    }

    /// One never claim, or what several find wrong together.
    fn never(&self, ids: Vec<ProctypeId>) -> Result<Made, Failure> {
        let Some(&first) = ids.first() else { return Err(unknown("never")) };
        let locate = |span| self.session.sources.location(span);
        let refuse = |unsuitable: Unsuitable| {
            let place = locate(unsuitable.span);
            Failure::refused_with(
                format!("{}:{}: {}", place.file, place.line, unsuitable.message),
                match ids.len() {
                    1 => "let the claim ask about what the model's own processes do",
                    _ => "check each of them alone: --property never:NAME",
                },
            )
        };
        let message = match ids.len() {
            1 => "the never claim accepts a run that goes on forever",
            _ => "all the never claims accept a run that goes on forever",
        };
        let fault = self.fault(FaultKind::AcceptCycle, message, self.program.proctype(first).span);
        let (claim, acting, propositions) = match ids.iter().find(|&&id| acts(self.program, id)) {
            Some(&id) if ids.len() > 1 => return Err(self.acts_in_product(id)),
            Some(_) => {
                let acting = ActingClaim::new(self.session.judge()?, first).map_err(refuse)?;
                (None, Some(Arc::new(acting)), Vec::new())
            }
            None => {
                let made = intersection_of(self.program, &ids, &locate).map_err(refuse)?;
                (Some(made.claim), None, made.propositions)
            }
        };
        let written = propositions.iter().map(|expr| Written::of(expr, &self.session.sources)).collect();
        Ok(Made { claim, acting, general: None, propositions, written, fault, stutter_invariant: false })
    }

    /// The claims of `never:a+b`.
    fn never_ids(&self, names: &str) -> Result<Vec<ProctypeId>, Failure> {
        let named = |name: &str| {
            let found = self.program.never.iter().find(|&&id| self.program.proctype(id).name == name);
            found.copied().ok_or_else(|| unknown(&format!("never:{name}")))
        };
        names.split('+').map(named).collect()
    }

    fn acts_in_product(&self, id: ProctypeId) -> Failure {
        let name = &self.program.proctype(id).name;
        Failure::refused_with(
            format!("the never claim {name} changes variables: it cannot be a part of a product"),
            format!("check it alone: --property never:{name}"),
        )
    }

    fn progress(&self) -> Made {
        let proposition = Expr { kind: ExprKind::NonProgress, span: Span::NONE };
        let fault = self.fault(FaultKind::ProgressCycle, NO_PROGRESS, Span::NONE);
        let (claim, propositions) = (Some(Claim::non_progress(0)), vec![proposition]);
        let written = vec![Written { text: "np_".to_string(), opposite: false }];
        Made { claim, acting: None, general: None, propositions, written, fault, stutter_invariant: true }
    }

    fn accept_labels(&self) -> Made {
        let fault = self.fault(FaultKind::AcceptCycle, ACCEPTANCE, Span::NONE);
        Made {
            claim: None,
            acting: None,
            general: None,
            propositions: Vec::new(),
            written: Vec::new(),
            fault,
            stutter_invariant: true,
        }
    }

    fn fault(&self, kind: FaultKind, message: &str, span: Span) -> Fault {
        let (file, line, column) = match span {
            Span::NONE => (self.program.name.clone(), 1, 1),
            _ => {
                let place = self.session.sources.location(span);
                (place.file, place.line, place.column)
            }
        };
        Fault { kind, message: message.to_string(), file, line, column, process: None, pid: None }
    }
}

/// Whether a proposition is about what can happen in a state, or has just happened, and not about the state
/// alone: whatever is left out may change that.
fn asks_what_can_happen(proposition: &Expr) -> bool {
    let mut found = false;
    visit::walk(proposition, &mut |part| {
        found |= matches!(
            part.kind,
            ExprKind::Timeout
                | ExprKind::Enabled(_)
                | ExprKind::Last
                | ExprKind::Priority
                | ExprKind::GetPriority(_)
        );
    });
    found
}

fn unknown(name: &str) -> Failure {
    Failure::refused_with(
        format!("there is no property {name} in this model"),
        "leave --property out to see all properties",
    )
}

fn complicated(property: &LtlProperty, why: &str) -> Failure {
    Failure::refused_with(
        format!("the formula {} is too complicated: {why}", property.name),
        "split it into several ltl blocks: a conjunction holds when each of its parts does",
    )
}

/// The automaton with generalised acceptance, where the other one is strong and larger.
fn general(wrong: &ltl::Formula, buchi: &Automaton, stop: &Stop) -> Option<Automaton> {
    if buchi.strength != ltl::Strength::Strong {
        return None;
    }
    let general = Automaton::obeying(wrong, ltl::Acceptance::Generalised, stop).ok()?;
    let suits = general.n_states() < buchi.n_states() && (1..=MOST_MARKS).contains(&general.n_marks);
    suits.then_some(general)
}

/// An automaton as a claim. Where every continuation is accepted, the run is wrong at once.
fn claim(automaton: &Automaton, end: &Fault) -> Claim {
    let n = automaton.n_states();
    let states = automaton.is_state_based();
    let edges = automaton.states().map(|state| {
        let edge = |edge: &ltl::Edge| ClaimEdge {
            guard: guard(automaton.cubes(edge)),
            to: ClaimState(edge.target.0 as u16),
            atomic: false,
            marks: if states { 0 } else { edge.marks as Marks },
            asserts: None,
        };
        automaton.edges(state).iter().map(edge).collect()
    });
    let terminal = |state| automaton.component(state) == Component::Terminal;
    Claim {
        initial: ClaimState(automaton.initial.0 as u16),
        n_marks: if states { 0 } else { automaton.n_marks },
        accepting: automaton.states().map(|state| automaton.is_accepting(state)).collect(),
        ends: automaton.states().map(|state| terminal(state).then(|| end.clone())).collect(),
        edges: edges.collect(),
        first_only: vec![false; n],
        stutters: true,
    }
}

fn guard(cubes: &[ltl::Cube]) -> Guard {
    match cubes.iter().any(|cube| cube.positive | cube.negative == 0) {
        true => Guard::True,
        false => {
            Guard::Any(cubes.iter().map(|cube| (cube.positive | cube.negative, cube.positive)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::random::Random;

    fn end() -> Fault {
        let (message, file) = ("end".to_string(), "claim".to_string());
        Fault { kind: FaultKind::ClaimEnd, message, file, line: 1, column: 1, process: None, pid: None }
    }

    #[test]
    fn generalised_claims_find_the_same_runs_wrong() {
        let formulas = [
            "[]<> p0 && []<> p1",
            "[]<> p0 && []<> p1 && []<> p2",
            "[]<> p0 && []<> p1 && <>[] p2",
            "<> (p2 && []<> p0 && []<> p1)",
            "[] ((p0 U p1) || (p1 U p2))",
        ];
        let mut random = Random::new(3);
        let mut smaller = 0;
        for text in formulas {
            let named = ltl::parse::parse(text).unwrap();
            let buchi = Automaton::of(&named.formula, ltl::Acceptance::Buchi).unwrap();
            let Some(general) = general(&named.formula, &buchi, &Stop::never()) else { continue };
            smaller += 1;
            let [general, buchi] = [&general, &buchi].map(|automaton| claim(automaton, &end()));
            assert!(general.n_marks > 0 && buchi.n_marks == 0, "{text}");
            let mut wrong = 0;
            for _ in 0..500 {
                let mut word = |least: usize| -> Vec<u64> {
                    (0..least + random.below(4)).map(|_| random.below(8) as u64).collect()
                };
                let (stem, cycle) = (word(0), word(1));
                let found = general.accepts(&stem, &cycle);
                wrong += u32::from(!found.is_empty());
                assert_eq!(found, buchi.accepts(&stem, &cycle), "{text}: {stem:?} {cycle:?}");
            }
            assert!(wrong > 20 && wrong < 480, "{text}: {wrong}");
        }
        assert!(smaller > 2, "{smaller}");
    }
}
