//! Random formulas over random graphs, against the definitions of the operators; and where steps are cut off,
//! against all graphs in which these steps lead somewhere.

use mu::formula::{Quantifier, Translation};
use mu::{Arena, Atom, Formula, Sets, Steps, Truth, verdict};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// A graph of a few states: for each its steps, with the process that takes each, and `None` where a step is
/// cut off.
#[derive(Clone, Debug)]
struct Small {
    steps: Vec<Vec<(u32, Option<usize>)>>,
    propositions: Vec<u16>,
}

impl Small {
    fn random(random: &mut Random, cuts: bool) -> Small {
        let n = 1 + random.below(6);
        let mut steps = Vec::new();
        for _ in 0..n {
            let mut step = || {
                let cut = cuts && random.below(6) == 0;
                (random.below(2) as u32, (!cut).then(|| random.below(n)))
            };
            let mut row = vec![step(), step(), step()];
            row.truncate(random.below(4));
            steps.push(row);
        }
        let propositions = (0..2).map(|_| random.below(1 << n) as u16).collect();
        Small { steps, propositions }
    }

    fn states(&self, holds: impl Fn(usize) -> bool) -> u16 {
        (0..self.steps.len()).filter(|&state| holds(state)).map(|state| 1 << state).sum()
    }

    /// The graphs in which every step that is cut off leads to some state.
    fn completions(&self) -> Vec<Small> {
        let n = self.steps.len();
        for (state, row) in self.steps.iter().enumerate() {
            if let Some(at) = row.iter().position(|(_, target)| target.is_none()) {
                let complete = |target| {
                    let mut graph = self.clone();
                    graph.steps[state][at].1 = Some(target);
                    graph.completions()
                };
                return (0..n).flat_map(complete).collect();
            }
        }
        vec![self.clone()]
    }

    fn is_of(&self, process: u32, steps: Steps) -> bool {
        match steps {
            Steps::All => true,
            Steps::Filter(number) | Steps::Process(number) => number == process,
        }
    }
}

impl Sets for Small {
    type Set = u16;

    fn all(&mut self) -> u16 {
        self.states(|_| true)
    }

    fn none(&mut self) -> u16 {
        0
    }

    fn atom(&mut self, atom: Atom) -> u16 {
        match atom {
            Atom::True => self.all(),
            Atom::Proposition(number) => self.propositions[number as usize],
            Atom::ValidEnd => 0,
            Atom::Enabled(steps) => self.states(|s| self.steps[s].iter().any(|(p, _)| self.is_of(*p, steps))),
        }
    }

    fn and(&mut self, a: &u16, b: &u16) -> u16 {
        a & b
    }

    fn or(&mut self, a: &u16, b: &u16) -> u16 {
        a | b
    }

    fn not(&mut self, a: &u16) -> u16 {
        self.states(|state| a >> state & 1 == 0)
    }

    fn equal(&mut self, a: &u16, b: &u16) -> bool {
        a == b
    }

    fn before(&mut self, steps: Steps, to: &u16) -> u16 {
        let leads = |(process, target): &(u32, Option<usize>)| {
            self.is_of(*process, steps) && target.is_some_and(|target| to >> target & 1 == 1)
        };
        self.states(|state| self.steps[state].iter().any(leads))
    }

    fn cut(&mut self, steps: Steps) -> Option<u16> {
        let cut = self
            .states(|s| self.steps[s].iter().any(|(p, target)| target.is_none() && self.is_of(*p, steps)));
        (cut != 0 || self.steps.iter().flatten().any(|(_, target)| target.is_none())).then_some(cut)
    }
}

/// The states with a formula, by definition: sets of truth values, every fixpoint computed anew.
fn naive(graph: &Small, formula: &Formula, variables: &[(u32, u16)]) -> u16 {
    let all = graph.states(|_| true);
    let sub = |formula: &Formula| naive(graph, formula, variables);
    let next = |state: usize| -> Vec<usize> {
        let targets: Vec<usize> = graph.steps[state].iter().filter_map(|(_, target)| *target).collect();
        if targets.is_empty() { vec![state] } else { targets }
    };
    let step = |q: Quantifier, set: u16| {
        graph.states(|state| {
            let mut inside = next(state).into_iter().map(|target| set >> target & 1 == 1);
            if q == Quantifier::All { inside.all(|x| x) } else { inside.any(|x| x) }
        })
    };
    let stable = |first: u16, step: &dyn Fn(u16) -> u16| {
        let mut set = first;
        while step(set) != set {
            set = step(set);
        }
        set
    };
    match formula {
        Formula::Atom(atom) => graph.clone().atom(*atom),
        Formula::Not(a) => all & !sub(a),
        Formula::And(a, b) => sub(a) & sub(b),
        Formula::Or(a, b) => sub(a) | sub(b),
        Formula::Implies(a, b) => all & !sub(a) | sub(b),
        Formula::Equiv(a, b) => all & !(sub(a) ^ sub(b)),
        Formula::Next(q, a) => step(*q, sub(a)),
        Formula::Finally(q, a) => stable(0, &|set| sub(a) | step(*q, set)),
        Formula::Globally(q, a) => stable(all, &|set| sub(a) & step(*q, set)),
        Formula::Until(q, a, b) => stable(0, &|set| sub(b) | sub(a) & step(*q, set)),
        Formula::WeakUntil(q, a, b) => stable(all, &|set| sub(b) | sub(a) & step(*q, set)),
        Formula::Release(q, a, b) => stable(all, &|set| sub(b) & (sub(a) | step(*q, set))),
        Formula::Modal(q, steps, a) => {
            let set = sub(a);
            graph.states(|state| {
                let row = graph.steps[state].iter().filter(|(process, _)| graph.is_of(*process, *steps));
                let mut inside = row.filter_map(|(_, target)| *target).map(|target| set >> target & 1 == 1);
                if *q == Quantifier::All { inside.all(|x| x) } else { inside.any(|x| x) }
            })
        }
        Formula::Mu(z, a) | Formula::Nu(z, a) => {
            let first = if matches!(formula, Formula::Mu(..)) { 0 } else { all };
            stable(first, &|set| {
                let mut inner = variables.to_vec();
                inner.push((*z, set));
                naive(graph, a, &inner)
            })
        }
        Formula::Variable(z) => variables.iter().rev().find(|(name, _)| name == z).map_or(0, |&(_, set)| set),
    }
}

/// A random formula in which the first `bound` variables stand under no negation.
fn formula(random: &mut Random, depth: usize, bound: u32) -> Formula {
    let quantifier = if random.below(2) == 0 { Quantifier::All } else { Quantifier::Some };
    if depth == 0 {
        return match random.below(5) {
            0..=2 if bound > 0 => Formula::Variable(random.below(bound as usize) as u32),
            3 => Formula::stuck(),
            n => Formula::Atom(Atom::Proposition(n as u32 % 2)),
        };
    }
    let mut part = |bound| Box::new(formula(random, depth - 1, bound));
    let (a, b, closed) = (part(bound), part(bound), part(0));
    let (other, inner) = (part(0), part(bound + 1));
    match random.below(16) {
        0 => Formula::Not(closed),
        1 => Formula::And(a, b),
        2 => Formula::Or(a, b),
        3 => Formula::Implies(closed, b),
        4 => Formula::Equiv(closed, other),
        5 => Formula::Next(quantifier, a),
        6 => Formula::Finally(quantifier, a),
        7 => Formula::Globally(quantifier, a),
        8 => Formula::Until(quantifier, a, b),
        9 => Formula::WeakUntil(quantifier, a, b),
        10 => Formula::Release(quantifier, a, b),
        11 => Formula::Modal(quantifier, Steps::All, a),
        12 => Formula::Modal(quantifier, Steps::Filter(1), a),
        13 | 14 => Formula::Mu(bound, inner),
        _ => Formula::Nu(bound, inner),
    }
}

fn truth(graph: &Small, formula: &Formula) -> (Truth, u16) {
    let (mut arena, mut sets) = (Arena::default(), graph.clone());
    let id = Translation::new(&mut arena, None).formula(formula);
    let answer = verdict::answer(&arena, id, &mut sets);
    (answer.truth(|set| set & 1 == 1), answer.must)
}

#[test]
fn formulas_mean_what_their_definitions_say() {
    let mut random = Random(11);
    let mut holds = 0;
    for round in 0..20_000 {
        let graph = Small::random(&mut random, false);
        let formula = formula(&mut random, 1 + round % 4, 0);
        let wanted = naive(&graph, &formula, &[]);
        let (found, set) = truth(&graph, &formula);
        assert_eq!(set, wanted, "{formula:?} {graph:?}");
        assert_eq!(found == Truth::True, wanted & 1 == 1);
        holds += wanted & 1;
        let negated = formula.clone().negated();
        assert_eq!(truth(&graph, &negated).1, graph.states(|_| true) & !wanted, "{negated:?}");
        assert_eq!(naive(&graph, &formula.with_ctl_shapes(), &[]), wanted, "{formula:?}");
    }
    assert!((4_000..16_000).contains(&holds), "{holds} hold");
}

#[test]
fn an_answer_does_not_hang_on_what_was_cut_off() {
    let mut random = Random(5);
    let (mut known, mut unknown) = (0, 0);
    while known < 2_000 {
        let graph = Small::random(&mut random, true);
        let completions = graph.completions();
        if completions.len() == 1 || completions.len() > 300 {
            continue;
        }
        let depth = 1 + random.below(3);
        let formula = formula(&mut random, depth, 0);
        let (found, _) = truth(&graph, &formula);
        match found {
            Truth::Unknown => unknown += 1,
            found => {
                known += 1;
                let same = |graph: &Small| naive(graph, &formula, &[]) & 1 == u16::from(found == Truth::True);
                assert!(completions.iter().all(same), "{found:?}: {formula:?} {graph:?}");
            }
        }
    }
    assert!(unknown > 200, "{unknown} are unknown");
}
