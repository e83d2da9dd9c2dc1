//! The intersection of claims: what two claims both find wrong, as one claim.
//!
//! The usual product of two Büchi automata: their states side by side, with a bit that says for whose
//! accepting state the run waits. It accepts where the first one's has come, and begins to wait again when
//! the second one's has. A claim that has reached its end finds every continuation wrong: from then on it
//! waits for nothing, and where both have ended the run is wrong at once. What a claim does in atomic
//! sequences it does in one state of the system, so each such sequence becomes one edge first.

use crate::Fault;
use crate::claim::{Claim, ClaimEdge, ClaimState, Guard, MOST_STATES};
use std::collections::HashMap;

/// The most edges that a state of a claim may have once its atomic sequences are edges.
const MOST_EDGES: usize = 1 << 10;

/// The claim that finds wrong what `a` and `b` both do; `end` is said where both have reached their ends.
/// Or the reason why there is none.
pub fn intersection(a: &Claim, b: &Claim, end: &Fault) -> Result<Claim, String> {
    let mut product = Product { a: Plain::of(a)?, b: Plain::of(b)?, numbers: HashMap::new(), states: vec![] };
    let mut made = Claim {
        initial: product.number(Pair { a: a.initial.index(), b: b.initial.index(), second: false })?,
        n_marks: 0,
        accepting: vec![],
        ends: vec![],
        edges: vec![],
        first_only: vec![],
        stutters: a.stutters && b.stutters,
    };
    while let Some(&pair) = product.states.get(made.len()) {
        let over = product.has_ended(pair);
        made.accepting.push(!pair.second && product.a.accepts(pair.a));
        made.ends.push(over.then(|| end.clone()));
        made.edges.push(if over { vec![] } else { product.edges(pair)? });
        made.first_only.push(false);
    }
    Ok(made)
}

/// A state of the product.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    a: usize,
    b: usize,
    /// The run waits for an accepting state of `b`.
    second: bool,
}

struct Product {
    a: Plain,
    b: Plain,
    numbers: HashMap<Pair, ClaimState>,
    states: Vec<Pair>,
}

impl Product {
    fn has_ended(&self, pair: Pair) -> bool {
        pair.a == self.a.end() && pair.b == self.b.end()
    }

    fn number(&mut self, pair: Pair) -> Result<ClaimState, String> {
        let new = self.states.len();
        if let Some(&known) = self.numbers.get(&pair) {
            return Ok(known);
        }
        if new == MOST_STATES {
            return Err(format!("their product has more than {MOST_STATES} states"));
        }
        let number = ClaimState(new as u16);
        self.numbers.insert(pair, number);
        self.states.push(pair);
        Ok(number)
    }

    fn edges(&mut self, from: Pair) -> Result<Vec<ClaimEdge>, String> {
        let second = match from.second {
            false => self.a.accepts(from.a),
            true => !self.b.accepts(from.b),
        };
        let mut made = Vec::new();
        for (own, to_a) in self.a.edges(from.a) {
            for (other, to_b) in self.b.edges(from.b) {
                let Some(guard) = both(&own, &other)? else { continue };
                let to = self.number(Pair { a: to_a, b: to_b, second })?;
                made.push(ClaimEdge { guard, to, atomic: false, marks: 0, asserts: None });
            }
        }
        Ok(made)
    }
}

/// A claim without atomic sequences: by state, when it goes where. One more state than the claim has is where
/// it has reached an end.
struct Plain {
    accepting: Vec<bool>,
    edges: Vec<Vec<(Guard, usize)>>,
}

impl Plain {
    fn of(claim: &Claim) -> Result<Plain, String> {
        debug_assert!(claim.n_marks == 0, "never claims accept in states");
        let mut edges = Vec::with_capacity(claim.len());
        for state in 0..claim.len() {
            let mut found = Vec::new();
            add_ways(claim, &mut vec![ClaimState(state as u16)], &Guard::True, &mut found)?;
            edges.push(found);
        }
        Ok(Plain { accepting: claim.accepting.clone(), edges })
    }

    /// The state behind the end.
    fn end(&self) -> usize {
        self.accepting.len()
    }

    fn accepts(&self, state: usize) -> bool {
        state == self.end() || self.accepting[state]
    }

    fn edges(&self, state: usize) -> Vec<(Guard, usize)> {
        match state == self.end() {
            true => vec![(Guard::True, state)],
            false => self.edges[state].clone(),
        }
    }
}

/// Adds the ways on from the last state of `path`, which was reached within one state of the system where
/// `within` holds. Going around in an atomic sequence leads nowhere new.
fn add_ways(
    claim: &Claim,
    path: &mut Vec<ClaimState>,
    within: &Guard,
    found: &mut Vec<(Guard, usize)>,
) -> Result<(), String> {
    let at = *path.last().expect("a path begins somewhere");
    let first_only = claim.first_only[at.index()];
    let mut before: Vec<Guard> = Vec::new();
    for edge in &claim.edges[at.index()] {
        if edge.asserts.is_some() {
            return Err("one of them has an assertion, which fails by itself".to_string());
        }
        let own = match edge.guard {
            Guard::Else => without(&Guard::True, &before)?,
            _ if first_only => without(&edge.guard, &before)?,
            _ => Some(edge.guard.clone()),
        };
        let Some(own) = own else { continue };
        before.push(own.clone());
        let Some(guard) = both(within, &own)? else { continue };
        let ended = claim.ends[edge.to.index()].is_some();
        if edge.atomic && !ended {
            if !path.contains(&edge.to) {
                path.push(edge.to);
                add_ways(claim, path, &guard, found)?;
                path.pop();
            }
            continue;
        }
        let way = (guard, if ended { claim.len() } else { edge.to.index() });
        if !found.contains(&way) {
            found.push(way);
        }
        if found.len() > MOST_EDGES {
            return Err(format!("one of them has more than {MOST_EDGES} ways on from a state"));
        }
    }
    Ok(())
}

/// Holds where both do; nothing where that is never so.
fn both(a: &Guard, b: &Guard) -> Result<Option<Guard>, String> {
    a.and(b).ok_or_else(too_many)
}

/// Holds where `guard` does and none of `others`; nothing where that is never so.
fn without(guard: &Guard, others: &[Guard]) -> Result<Option<Guard>, String> {
    guard.and_none_of(others).ok_or_else(too_many)
}

fn too_many() -> String {
    "their conditions together are too many".to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultKind;
    use crate::claim::tests::claim;

    fn end(message: &str) -> Fault {
        let (message, file) = (message.to_string(), "claim".to_string());
        Fault { kind: FaultKind::ClaimEnd, message, file, line: 1, column: 1, process: None, pid: None }
    }

    /// Small numbers that look random.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
    }

    /// A claim of up to four states with atomic edges, `else`, choices of the first only, and ends.
    fn random_claim(numbers: &mut Numbers) -> Claim {
        let n = 1 + numbers.below(4);
        let edge = |numbers: &mut Numbers| {
            let guard = match numbers.below(5) {
                0 => Guard::True,
                1 => Guard::Else,
                _ => {
                    let bit = 1 << numbers.below(2);
                    Guard::Any(vec![(bit, if numbers.below(2) == 0 { bit } else { 0 })])
                }
            };
            let to = ClaimState(numbers.below(n) as u16);
            ClaimEdge { guard, to, atomic: numbers.below(4) == 0, marks: 0, asserts: None }
        };
        let edges = (0..n).map(|_| (0..numbers.below(4)).map(|_| edge(numbers)).collect()).collect();
        let ends = |state| (state > 0 && numbers.below(6) == 0).then(|| end("own"));
        let ends: Vec<_> = (0..n).map(ends).collect();
        Claim {
            initial: ClaimState(0),
            n_marks: 0,
            accepting: (0..n).map(|_| numbers.below(2) == 0).collect(),
            ends,
            edges,
            first_only: (0..n).map(|_| numbers.below(4) == 0).collect(),
            stutters: true,
        }
    }

    fn wrong(claim: &Claim, stem: &[u64], cycle: &[u64]) -> bool {
        !claim.accepts(stem, cycle).is_empty()
    }

    #[test]
    fn the_product_finds_wrong_what_both_do() {
        let mut numbers = Numbers(7);
        let (mut by_both, mut by_one) = (0, 0);
        for _ in 0..1500 {
            let (a, b) = (random_claim(&mut numbers), random_claim(&mut numbers));
            let product = intersection(&a, &b, &end("both")).unwrap();
            for _ in 0..12 {
                let mut word = |n| (0..n).map(|_| numbers.below(4)).collect::<Vec<u64>>();
                let (stem, cycle) = (word(3), word(3));
                let each = [wrong(&a, &stem, &cycle), wrong(&b, &stem, &cycle)];
                let expected = each == [true, true];
                assert_eq!(wrong(&product, &stem, &cycle), expected, "{a:?}\n{b:?}\n{stem:?} {cycle:?}");
                by_both += usize::from(expected);
                by_one += usize::from(each[0] != each[1]);
            }
        }
        assert!(by_both > 500 && by_one > 500, "{by_both} {by_one}");
    }

    #[test]
    fn each_waits_for_its_own_accepting_states() {
        let often = |p: &str| claim(&format!("0: true -> 0, {p} -> 1; 1: true -> 0, {p} -> 1"), &[1]);
        let product = intersection(&often("p0"), &often("p1"), &end("both")).unwrap();
        assert_eq!(product.accepts(&[], &[1, 2]), [FaultKind::AcceptCycle].into());
        assert!(product.accepts(&[2], &[1]).is_empty() && product.accepts(&[3], &[0]).is_empty());
    }

    #[test]
    fn where_both_have_ended_the_run_is_wrong_at_once() {
        let mut first = claim("0: p0 -> 1, else -> 0; 1:", &[]);
        first.ends[1] = Some(end("own"));
        let mut second = claim("0: p1 -> 1, else -> 0; 1:", &[]);
        second.ends[1] = Some(end("own"));
        let product = intersection(&first, &second, &end("both")).unwrap();
        assert_eq!(product.accepts(&[1, 0, 2, 0], &[]), [FaultKind::ClaimEnd].into());
        assert!(product.accepts(&[1, 0], &[1]).is_empty());
    }

    #[test]
    fn assertions_are_refused() {
        let plain = claim("0: true -> 0", &[0]);
        let mut asserting = plain.clone();
        asserting.edges[0][0].asserts = Some((0, end("assertion")));
        assert!(intersection(&plain, &asserting, &end("both")).unwrap_err().contains("assertion"));
    }
}
