//! Never claims as automata: locations become states, conditions become propositions.
//!
//! A claim has no variables of its own and sends nothing, so where it is says all about it. A step inside an
//! atomic sequence or a d_step goes on in the same state of the system. Statements that change something have
//! no place in an observer; such claims are refused.

use std::collections::HashMap;

use promela::ir::print::print_expr;
use promela::ir::{Action, EdgeId, Expr, ExprKind, LocId, Proctype, ProctypeId, Program};
use promela::source::{Location, Span};
use system::claim::{Claim, ClaimEdge, ClaimState, Guard, MOST_STATES};
use system::{Fault, FaultKind};

/// As many propositions as a valuation holds.
const MOST_PROPOSITIONS: usize = 64;

/// A never claim as an automaton, and what its propositions mean.
#[derive(Clone, Debug)]
pub struct Never {
    /// The automaton.
    pub claim: Claim,
    /// Its propositions.
    pub propositions: Vec<Expr>,
}

/// Why a never claim cannot be checked: what, where.
#[derive(Clone, Debug)]
pub struct Unsuitable {
    /// One sentence.
    pub message: String,
    /// The statement.
    pub span: Span,
}

/// Makes an automaton of a never claim; `locate` tells where a span is.
pub fn never(
    program: &Program,
    id: ProctypeId,
    locate: &dyn Fn(Span) -> Location,
) -> Result<Never, Unsuitable> {
    let mut propositions = Numbered::default();
    let claim = automaton(program, id, locate, &mut propositions)?;
    Ok(Never { claim, propositions: propositions.list })
}

/// Makes one automaton of several never claims, which finds wrong what each of them does.
pub fn intersection_of(
    program: &Program,
    ids: &[ProctypeId],
    locate: &dyn Fn(Span) -> Location,
) -> Result<Never, Unsuitable> {
    let names: Vec<&str> = ids.iter().map(|&id| program.proctype(id).name.as_str()).collect();
    let span = program.proctype(ids[0]).span;
    let place = locate(span);
    let end = Fault {
        kind: FaultKind::ClaimEnd,
        message: format!("the never claims {} have all reached their ends", names.join(", ")),
        file: place.file,
        line: place.line,
        column: place.column,
        process: None,
        pid: None,
    };
    let mut propositions = Numbered::default();
    let mut product = automaton(program, ids[0], locate, &mut propositions)?;
    for &id in &ids[1..] {
        let claim = automaton(program, id, locate, &mut propositions)?;
        product = system::intersection(&product, &claim, &end).map_err(|why| {
            let message = format!("the never claims {} have no product: {why}", names.join(", "));
            Unsuitable { message, span }
        })?;
    }
    Ok(Never { claim: product, propositions: propositions.list })
}

/// Propositions, each once.
#[derive(Default)]
struct Numbered {
    list: Vec<Expr>,
    numbers: HashMap<String, u32>,
}

fn automaton(
    program: &Program,
    id: ProctypeId,
    locate: &dyn Fn(Span) -> Location,
    propositions: &mut Numbered,
) -> Result<Claim, Unsuitable> {
    let proctype = program.proctype(id);
    if proctype.locations.len() >= MOST_STATES {
        let message = format!("the never claim {} has more than {MOST_STATES} locations", proctype.name);
        return Err(Unsuitable { message, span: proctype.span });
    }
    let mut maker = Maker { proctype, locate, propositions };
    let n = proctype.locations.len();
    let mut claim = Claim {
        initial: ClaimState(proctype.start.0 as u16),
        n_marks: 0,
        accepting: proctype.locations.iter().map(|location| location.accept).collect(),
        ends: Vec::with_capacity(n),
        edges: Vec::with_capacity(n),
        first_only: proctype.locations.iter().map(|location| location.in_d_step).collect(),
        stutters: true,
    };
    for (number, location) in proctype.locations.iter().enumerate() {
        let mut edges = Vec::new();
        for &edge in &location.edges {
            edges.extend(maker.edge(LocId(number as u32), edge.index())?.map(|made| (edge, made)));
        }
        claim.edges.push(maker.escaped(edges)?);
        let ends = location.end && number > 0;
        claim.ends.push(
            ends.then(|| maker.fault(FaultKind::ClaimEnd, "the never claim reached its end", proctype.span)),
        );
    }
    Ok(claim)
}

struct Maker<'a> {
    proctype: &'a Proctype,
    locate: &'a dyn Fn(Span) -> Location,
    propositions: &'a mut Numbered,
}

impl Maker<'_> {
    /// The edge of the claim, unless it can never be taken.
    fn edge(&mut self, from: LocId, number: usize) -> Result<Option<ClaimEdge>, Unsuitable> {
        let edge = &self.proctype.edges[number];
        let in_d_step = self.proctype.location(from).in_d_step;
        let mut made = ClaimEdge {
            guard: Guard::True,
            to: ClaimState(edge.to.0 as u16),
            atomic: edge.atomic || in_d_step && self.proctype.location(edge.to).in_d_step,
            marks: 0,
            asserts: None,
        };
        match &edge.action {
            Action::Skip | Action::Printf(..) | Action::Printm(..) => {}
            Action::Guard(expr) => match expr.kind {
                ExprKind::Const(0) => return Ok(None),
                ExprKind::Const(_) => {}
                ExprKind::Run { .. } => return self.refuse("`run`", edge.span),
                _ => made.guard = Guard::proposition(self.proposition(expr)?),
            },
            Action::Else => made.guard = Guard::Else,
            Action::Assert(expr) => {
                let message = format!("assertion violated: {}", edge.text);
                let fault = self.fault(FaultKind::Assertion, &message, edge.span);
                made.asserts = Some((self.proposition(expr)?, fault));
            }
            Action::DStep { entry, guards, .. } => {
                (made.to, made.atomic) = (ClaimState(entry.0 as u16), true);
                made.guard = self.start(*entry, *guards)?;
            }
            // Its location is an end: nothing goes on there.
            Action::End => return Ok(None),
            _ => return self.refuse("a statement that changes something", edge.span),
        }
        Ok(Some(made))
    }

    /// The edges of a location with what `unless` asks of them: an edge cannot be taken when one before it
    /// can that belongs to an escape, and not to the same. What `else` means is then said in full.
    fn escaped(&self, edges: Vec<(EdgeId, ClaimEdge)>) -> Result<Vec<ClaimEdge>, Unsuitable> {
        let escape = |id: &EdgeId| self.proctype.edges[id.index()].escape;
        if edges.iter().all(|(id, _)| escape(id).is_none()) {
            return Ok(edges.into_iter().map(|(_, edge)| edge).collect());
        }
        let mut made: Vec<(EdgeId, ClaimEdge)> = Vec::new();
        for (id, edge) in edges {
            let is_else = edge.guard == Guard::Else;
            let before = made.iter().filter(|(earlier, _)| {
                is_else || escape(earlier).is_some() && escape(earlier) != escape(&id)
            });
            let own = if is_else { &Guard::True } else { &edge.guard };
            match own.and_none_of(before.map(|(_, edge)| &edge.guard)) {
                Some(Some(guard)) => made.push((id, ClaimEdge { guard, ..edge })),
                Some(None) => {}
                None => {
                    let span = self.proctype.edges[id.index()].span;
                    return self.refuse("an `unless` with too many conditions", span);
                }
            }
        }
        Ok(made.into_iter().map(|(_, edge)| edge).collect())
    }

    /// When a d_step can start: whether it can decides whether an `else` beside it can be taken.
    fn start(&mut self, entry: LocId, guards: Option<LocId>) -> Result<Guard, Unsuitable> {
        let proctype = self.proctype;
        let edges = &proctype.location(guards.unwrap_or(entry)).edges;
        if guards.is_some() && edges.is_empty() {
            return Ok(Guard::True);
        }
        let mut cubes = Vec::new();
        for &edge in edges {
            match &proctype.edge(edge).action {
                Action::Guard(Expr { kind: ExprKind::Const(0), .. }) | Action::End => {}
                Action::Guard(Expr { kind: ExprKind::Const(_), .. }) => return Ok(Guard::True),
                Action::Guard(expr) => {
                    let bit = 1 << self.proposition(expr)?;
                    cubes.push((bit, bit));
                }
                _ => return Ok(Guard::True),
            }
        }
        Ok(Guard::Any(cubes))
    }

    fn refuse<T>(&self, what: &str, span: Span) -> Result<T, Unsuitable> {
        let message =
            format!("the never claim {} contains {what}: a claim may only observe", self.proctype.name);
        Err(Unsuitable { message, span })
    }

    fn proposition(&mut self, expr: &Expr) -> Result<u32, Unsuitable> {
        let known = &mut *self.propositions;
        let new = known.list.len() as u32;
        let number = *known.numbers.entry(print_expr(expr)).or_insert(new);
        if number == new {
            if known.list.len() == MOST_PROPOSITIONS {
                let message = format!(
                    "the never claim {} has more than {MOST_PROPOSITIONS} different conditions",
                    self.proctype.name
                );
                return Err(Unsuitable { message, span: expr.span });
            }
            known.list.push(expr.clone());
        }
        Ok(number)
    }

    fn fault(&self, kind: FaultKind, message: &str, span: Span) -> Fault {
        let place = (self.locate)(span);
        Fault {
            kind,
            message: message.to_string(),
            file: place.file,
            line: place.line,
            column: place.column,
            process: Some(self.proctype.name.clone()),
            pid: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opt::tests::program;

    fn made(text: &str) -> Result<Never, Unsuitable> {
        let program = program(&format!("byte x, y; active proctype p() {{ x = 1 }} never {{ {text} }}"));
        let nowhere = |_: Span| Location { file: "m".to_string(), line: 1, column: 1 };
        never(&program, program.never[0], &nowhere)
    }

    fn accepts(text: &str, stem: &[u64], cycle: &[u64]) -> Option<FaultKind> {
        made(text).unwrap().claim.accepts(stem, cycle).first().copied()
    }

    #[test]
    fn loops_and_labels() {
        let ever = "do :: true :: x == 1 -> goto accept od; accept: do :: x == 1 od";
        let never = made(ever).unwrap();
        assert_eq!(never.propositions.len(), 1, "equal conditions are one proposition");
        assert_eq!(accepts(ever, &[0, 1], &[1]), Some(FaultKind::AcceptCycle));
        assert_eq!(accepts(ever, &[0, 1], &[0, 1]), None);
    }

    #[test]
    fn the_end_of_a_claim() {
        let bad = "do :: x == 1 -> break :: else od";
        assert_eq!(accepts(bad, &[0, 0, 1], &[]), Some(FaultKind::ClaimEnd));
        assert_eq!(accepts(bad, &[0, 0, 0], &[0]), None);
    }

    #[test]
    fn atomic_sequences_and_assertions() {
        let text = "do :: atomic { x == 1 -> assert(y == 1) } :: else od";
        assert_eq!(accepts(text, &[0, 0b01], &[]), Some(FaultKind::Assertion));
        assert_eq!(accepts(text, &[0, 0b11], &[0b11]), None);
        let text = "do :: d_step { x == 1; y == 1 -> assert(false) } :: true od";
        assert_eq!(accepts(text, &[0b11], &[]), Some(FaultKind::Assertion));
    }

    #[test]
    fn a_d_step_that_cannot_start_leaves_the_choice_to_else() {
        let text = "do :: d_step { x == 1 -> y == 1 } -> break :: else od";
        assert_eq!(accepts(text, &[0b00, 0b11], &[]), Some(FaultKind::ClaimEnd));
        let waiting =
            "S: if :: d_step { x == 1 -> y == 1 } -> goto S :: else -> goto accept fi; accept: do :: true od";
        assert_eq!(accepts(waiting, &[], &[0b00]), Some(FaultKind::AcceptCycle));
        assert_eq!(accepts(waiting, &[], &[0b11]), None);
    }

    #[test]
    fn an_escape_goes_before_what_it_covers() {
        let text = "{ do :: y == 1 od } unless { x == 1 -> assert(false) }";
        let claim = made(text).unwrap().claim;
        let moves = |bits| {
            let mut moves = system::claim::Moves::default();
            claim.moves(claim.initial, bits, &mut moves);
            (moves.to.len(), moves.to.iter().any(|by| by.to == claim.initial))
        };
        // The escape is asked first, so that its condition is the first proposition.
        assert_eq!(moves(0b10), (1, true), "the loop");
        assert_eq!(moves(0b11), (1, false), "only the escape");
        assert_eq!(moves(0b00), (0, false));
    }

    #[test]
    fn an_escape_goes_before_else_as_well() {
        let text = "{ do :: y == 1 -> skip :: else od } unless { x == 1 -> assert(false) }";
        let claim = made(text).unwrap().claim;
        let moves = |bits| {
            let mut moves = system::claim::Moves::default();
            claim.moves(claim.initial, bits, &mut moves);
            moves.to.iter().map(|by| by.to == claim.initial).collect::<Vec<_>>()
        };
        // Propositions: x == 1, y == 1.
        assert_eq!(moves(0b00), [true], "else");
        assert_eq!(moves(0b10), [false], "the first option");
        assert_eq!(moves(0b01), [false], "the escape instead of else");
        assert_eq!(moves(0b11).len(), 1, "only the escape");
        assert_eq!(accepts(text, &[0b00, 0b10, 0b00, 0b01, 0b00], &[]), Some(FaultKind::Assertion));
        assert_eq!(accepts(text, &[0b00], &[0b00, 0b10]), None);
    }

    #[test]
    fn what_changes_something_is_refused() {
        assert!(made("do :: x = 1 od").unwrap_err().message.contains("changes something"));
    }
}
