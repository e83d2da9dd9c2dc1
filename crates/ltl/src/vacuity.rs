//! Formulas that would say more: if one of them holds as well, the property holds without its doing (Beer,
//! Ben-David, Eisner, Rodeh 1997; Kupferman, Vardi 1999).
//!
//! In `[] (request -> <> granted)` replace `<> granted` by `false`: if `[] !request` holds, there never was a
//! request, and the property says nothing about this model. A part is replaced by `false` where it helps to
//! satisfy the formula, by `true` where it stands under a negation; so the result implies the formula, and if
//! it holds the part does not matter. Parts under `<->` help and hinder at once and are left alone.

use crate::formula::Formula;
use crate::nnf::{Id, Nnf};
use crate::simplify::simplify;
use std::collections::HashSet;

/// A formula that implies the one it was made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strengthening {
    /// The formula with the part replaced. If it holds, the part does not matter.
    pub formula: Formula,
    /// The part.
    pub part: Formula,
    /// What stands in its place.
    pub by: bool,
    /// Whether the part is what an implication promises: then, if the formula holds, the other side of the
    /// implication never comes true where it would matter.
    pub promised: bool,
}

impl Formula {
    /// All strengthenings by one part, the promises of implications first, larger parts before smaller ones.
    /// Those that no model could satisfy, and those that say the same as the formula or as one before, are
    /// left out.
    pub fn strengthenings(&self) -> Vec<Strengthening> {
        let mut found = Vec::new();
        collect(self, true, false, &mut |part| part, &mut found);
        let mut nnf = Nnf::default();
        let mut meaning = |formula: &Formula| {
            let id = nnf.of(formula, true);
            simplify(&mut nnf, id)
        };
        found.sort_by_key(|s| (!s.promised, std::cmp::Reverse(size(&s.part))));
        let mut known = HashSet::from([meaning(self), Id::FALSE]);
        found.retain(|s| known.insert(meaning(&s.formula)));
        found
    }
}

fn size(formula: &Formula) -> usize {
    1 + formula.operands().map(size).sum::<usize>()
}

type Make = fn(Box<Formula>, Box<Formula>) -> Formula;

/// Adds the strengthenings by the parts of `formula`, which stands where `positive` says and is put back by
/// `around`.
fn collect(
    formula: &Formula,
    positive: bool,
    promised: bool,
    around: &mut dyn FnMut(Formula) -> Formula,
    found: &mut Vec<Strengthening>,
) {
    if matches!(formula, Formula::True | Formula::False) {
        return;
    }
    let replacement = if positive { Formula::False } else { Formula::True };
    found.push(Strengthening {
        formula: around(replacement),
        part: formula.clone(),
        by: !positive,
        promised,
    });
    let boxed = |f: &Formula| Box::new(f.clone());
    let mut one = |a: &Formula, positive: bool, make: fn(Box<Formula>) -> Formula| {
        collect(a, positive, false, &mut |part| around(make(Box::new(part))), found);
    };
    let (a, b, make, left): (_, _, Make, _) = match formula {
        Formula::True | Formula::False | Formula::Prop(_) | Formula::Equiv(..) => return,
        Formula::Not(a) => return one(a, !positive, Formula::Not),
        Formula::Next(a) => return one(a, positive, Formula::Next),
        Formula::Always(a) => return one(a, positive, Formula::Always),
        Formula::Eventually(a) => return one(a, positive, Formula::Eventually),
        Formula::And(a, b) => (a, b, Formula::And, positive),
        Formula::Or(a, b) => (a, b, Formula::Or, positive),
        Formula::Until(a, b) => (a, b, Formula::Until, positive),
        Formula::WeakUntil(a, b) => (a, b, Formula::WeakUntil, positive),
        Formula::Release(a, b) => (a, b, Formula::Release, positive),
        Formula::Implies(a, b) => (a, b, Formula::Implies, !positive),
    };
    let promise = positive && matches!(formula, Formula::Implies(..));
    collect(a, left, false, &mut |part| around(make(Box::new(part), boxed(b))), found);
    collect(b, positive, promise, &mut |part| around(make(boxed(a), Box::new(part))), found);
}
