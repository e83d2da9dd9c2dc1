//! From formulas to transition-based generalised Büchi automata.
//!
//! Couvreur's construction (1999): a state is a conjunction of obligations, and its moves come from the
//! expansion laws `f U g = g || (f && X(f U g))` and `f R g = g && (f || X(f R g))`. A move that puts off an
//! until promises its right side; mark `g` is on the edges that do not promise `g`. Untils with the same
//! right side share one mark: it holds for all of them at the same moment. Moves are pruned, and conjunctions
//! shortened, by what `implication` proves.

use crate::bdd::{Bdd, Bdds};
use crate::implication::Entailment;
use crate::nnf::{Id, Nnf, Node};
use crate::tgba::{Edge, Marks, Tgba, all_marks};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// The formula is too large to be translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// What there is too much of.
    pub what: &'static str,
    /// How much is possible.
    pub limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the formula is too large: its automaton needs more than {} {}", self.limit, self.what)
    }
}

impl std::error::Error for TooLarge {}

/// Limits of a translation: beyond them nobody could use the automaton.
const MAX_STATES: usize = 20_000;
const MAX_MOVES: usize = 20_000;
/// From this number on, moves are not compared with each other.
const MANY_MOVES: usize = 1000;
const MAX_MARKS: usize = 64;
const MAX_NODES: usize = 4_000_000;
pub(crate) const MAX_PROPS: usize = 64;

/// One way to go on: the present satisfies `guard`, these right sides are put off, the rest satisfies `next`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Move {
    guard: Bdd,
    promises: Marks,
    next: Id,
}

struct Translation<'n> {
    nnf: &'n mut Nnf,
    bdds: Bdds,
    entailment: Entailment,
    moves: HashMap<Id, Rc<Vec<Move>>>,
    promises: HashMap<Id, u32>,
    pairs: usize,
    max_pairs: usize,
}

/// How many pairs of moves a translation may combine: seconds.
pub(crate) const MAX_PAIRS: usize = 5_000_000;

/// The automaton of a formula, if it takes no more than `most` pairs of moves.
pub(crate) fn translate(nnf: &mut Nnf, formula: Id, max_pairs: usize) -> Result<Tgba, TooLarge> {
    let mut translation = Translation {
        bdds: Bdds::obeying(&nnf.stop),
        nnf,
        entailment: Entailment::default(),
        moves: HashMap::new(),
        promises: HashMap::new(),
        pairs: 0,
        max_pairs,
    };
    let mut numbers = HashMap::from([(formula, 0)]);
    let mut todo = vec![formula];
    let mut found: Vec<Rc<Vec<Move>>> = Vec::new();
    while found.len() < todo.len() {
        let moves = translation.moves(todo[found.len()])?;
        for m in moves.iter() {
            numbers.entry(m.next).or_insert_with(|| {
                todo.push(m.next);
                todo.len() - 1
            });
        }
        limit(todo.len(), MAX_STATES, "states")?;
        found.push(moves);
    }
    let n_marks = translation.promises.len() as u32;
    let edge =
        |m: &Move| Edge { target: numbers[&m.next], marks: all_marks(n_marks) & !m.promises, guard: m.guard };
    let states = found.iter().map(|moves| moves.iter().map(edge).collect()).collect();
    Ok(Tgba { bdds: translation.bdds, n_marks, initial: 0, states })
}

fn limit(n: usize, limit: usize, what: &'static str) -> Result<(), TooLarge> {
    if n > limit { Err(TooLarge { what, limit }) } else { Ok(()) }
}

impl Translation<'_> {
    fn moves(&mut self, formula: Id) -> Result<Rc<Vec<Move>>, TooLarge> {
        if let Some(moves) = self.moves.get(&formula) {
            return Ok(moves.clone());
        }
        let now = |guard: Bdd, next: Id| vec![Move { guard, promises: 0, next }];
        let moves = match self.nnf.node(formula).clone() {
            Node::True => now(Bdd::TRUE, Id::TRUE),
            Node::False => Vec::new(),
            Node::Lit { prop, positive } => now(self.bdds.lit(prop, positive), Id::TRUE),
            Node::Next(f) => now(Bdd::TRUE, f),
            Node::And(set) => {
                let mut all = now(Bdd::TRUE, Id::TRUE);
                for f in set {
                    let moves = self.moves(f)?;
                    all = self.product(&all, &moves)?;
                }
                all
            }
            Node::Or(set) => {
                let mut all = Vec::new();
                for f in set {
                    all.extend_from_slice(&self.moves(f)?);
                }
                self.pruned(all)?
            }
            Node::Until(f, g) => {
                let again = [Move { guard: Bdd::TRUE, promises: self.promise(g)?, next: formula }];
                let put_off = self.moves(f)?;
                let mut all = self.product(&put_off, &again)?;
                all.extend_from_slice(&self.moves(g)?);
                self.pruned(all)?
            }
            Node::Release(f, g) => {
                let mut all = now(Bdd::TRUE, formula);
                all.extend_from_slice(&self.moves(f)?);
                let here = self.moves(g)?;
                self.product(&here, &all)?
            }
        };
        let moves = Rc::new(moves);
        self.moves.insert(formula, moves.clone());
        Ok(moves)
    }

    fn promise(&mut self, g: Id) -> Result<Marks, TooLarge> {
        let n = self.promises.len();
        let bit = *self.promises.entry(g).or_insert(n as u32);
        limit(self.promises.len(), MAX_MARKS, "acceptance conditions")?;
        Ok(1 << bit)
    }

    fn product(&mut self, a: &[Move], b: &[Move]) -> Result<Vec<Move>, TooLarge> {
        let mut all = Vec::new();
        self.pairs += a.len() * b.len();
        limit(self.pairs, self.max_pairs, "steps of construction")?;
        for x in a {
            for y in b {
                let guard = self.bdds.and(x.guard, y.guard);
                if guard == Bdd::FALSE {
                    continue;
                }
                let next = self.entailment.conjunction(self.nnf, x.next, y.next);
                if next != Id::FALSE {
                    all.push(Move { guard, promises: x.promises | y.promises, next });
                }
            }
            limit(all.len(), MAX_MOVES, "edges at one state")?;
        }
        self.pruned(all)
    }

    /// Without moves that others cover, and with those joined that differ only in the guard.
    fn pruned(&mut self, all: Vec<Move>) -> Result<Vec<Move>, TooLarge> {
        limit(self.bdds.size(), MAX_NODES, "nodes of decision diagrams")?;
        let mut joined: Vec<Move> = Vec::with_capacity(all.len());
        let mut places: HashMap<(Marks, Id), usize> = HashMap::new();
        for m in all {
            match places.get(&(m.promises, m.next)) {
                Some(i) => joined[*i].guard = self.bdds.or(joined[*i].guard, m.guard),
                None => {
                    places.insert((m.promises, m.next), joined.len());
                    joined.push(m);
                }
            }
        }
        if joined.len() > MANY_MOVES {
            return Ok(joined);
        }
        let mut kept: Vec<Move> = Vec::with_capacity(joined.len());
        for (i, m) in joined.iter().enumerate() {
            let covered = (0..joined.len()).any(|j| {
                let o = joined[j];
                j != i && self.covers(o, *m) && (j < i || !self.covers(*m, o))
            });
            if !covered {
                kept.push(*m);
            }
        }
        Ok(kept)
    }

    /// Whether `a` can stand in for `b`.
    fn covers(&mut self, a: Move, b: Move) -> bool {
        a.promises & !b.promises == 0
            && self.bdds.implies(b.guard, a.guard)
            && self.entailment.entails(self.nnf, b.next, a.next)
    }
}
