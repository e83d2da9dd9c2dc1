//! What the tests share: lasso words, a direct evaluator, acceptance by automata, formulas of all sizes.
#![allow(dead_code, reason = "every test file uses a part of it")]

use ltl::{Automaton, Formula, StateId};

/// An ultimately periodic word: `letters[..loop_at]` once, then the rest forever. Bit `i` of a letter is
/// proposition `i`.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub letters: Vec<u64>,
    pub loop_at: usize,
}

impl Lasso {
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.letters.len() { self.loop_at } else { at + 1 }
    }

    /// All lassos of at most `max` letters over `n` propositions.
    pub fn all(n: u32, max: usize) -> Vec<Lasso> {
        let mut found = Vec::new();
        for len in 1..=max {
            for code in 0..1u64 << (n as usize * len) {
                let letters: Vec<u64> = (0..len).map(|i| code >> (i * n as usize) & ((1 << n) - 1)).collect();
                found.extend((0..len).map(|loop_at| Lasso { letters: letters.clone(), loop_at }));
            }
        }
        found
    }

    /// A random one.
    pub fn random(random: &mut Random, n: u32, max: usize) -> Lasso {
        let len = 1 + random.below(max);
        let letters = (0..len).map(|_| random.next() & ((1 << n) - 1)).collect();
        Lasso { letters, loop_at: random.below(len) }
    }

    /// The value of a formula at every position.
    pub fn values(&self, f: &Formula) -> Vec<bool> {
        let each = |value: &dyn Fn(usize) -> bool| (0..self.letters.len()).map(value).collect::<Vec<bool>>();
        let fixpoint = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
            let mut values = vec![start; self.letters.len()];
            loop {
                let new = each(&|i| step(i, values[self.next(i)]));
                if new == values {
                    return values;
                }
                values = new;
            }
        };
        match f {
            Formula::True => each(&|_| true),
            Formula::False => each(&|_| false),
            Formula::Prop(p) => each(&|i| self.letters[i] >> p & 1 == 1),
            Formula::Not(a) => self.values(a).iter().map(|v| !v).collect(),
            Formula::Next(a) => {
                let a = self.values(a);
                each(&|i| a[self.next(i)])
            }
            Formula::Always(a) => {
                let a = self.values(a);
                fixpoint(true, &|i, later| a[i] && later)
            }
            Formula::Eventually(a) => {
                let a = self.values(a);
                fixpoint(false, &|i, later| a[i] || later)
            }
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equiv(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b) => {
                let (a, b) = (self.values(a), self.values(b));
                match f {
                    Formula::And(..) => each(&|i| a[i] && b[i]),
                    Formula::Or(..) => each(&|i| a[i] || b[i]),
                    Formula::Implies(..) => each(&|i| !a[i] || b[i]),
                    Formula::Equiv(..) => each(&|i| a[i] == b[i]),
                    Formula::Until(..) => fixpoint(false, &|i, later| b[i] || (a[i] && later)),
                    Formula::WeakUntil(..) => fixpoint(true, &|i, later| b[i] || (a[i] && later)),
                    _ => fixpoint(true, &|i, later| b[i] && (a[i] || later)),
                }
            }
        }
    }

    /// Whether the word satisfies the formula.
    pub fn satisfies(&self, f: &Formula) -> bool {
        self.values(f)[0]
    }

    /// Whether the automaton accepts the word.
    pub fn accepted_by(&self, automaton: &Automaton) -> bool {
        let successors = |state: usize, letter: u64| {
            let edges = automaton.successors(StateId(state as u32), letter);
            edges.map(|e| (e.target.index(), e.marks)).collect()
        };
        self.accepted(automaton.n_states(), automaton.initial.index(), automaton.all_marks(), &successors)
    }

    /// Whether some reachable cycle of automaton × lasso collects all marks. Components are found by plain
    /// reachability, on purpose not with the code under test.
    pub fn accepted(
        &self,
        n_states: usize,
        initial: usize,
        all_marks: u64,
        successors: &dyn Fn(usize, u64) -> Vec<(usize, u64)>,
    ) -> bool {
        let width = self.letters.len();
        let n = n_states * width;
        let mut edges: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n];
        for state in 0..n_states {
            for at in 0..width {
                let found = successors(state, self.letters[at]);
                edges[state * width + at] =
                    found.iter().map(|(target, marks)| (target * width + self.next(at), *marks)).collect();
            }
        }
        let reach = |from: usize, allowed: &[bool]| {
            let mut seen = vec![false; n];
            let mut stack = vec![from];
            seen[from] = true;
            while let Some(node) = stack.pop() {
                for (to, _) in &edges[node] {
                    if !seen[*to] && allowed[*to] {
                        seen[*to] = true;
                        stack.push(*to);
                    }
                }
            }
            seen
        };
        let mut open = reach(initial * width, &vec![true; n]);
        for node in 0..n {
            if !open[node] {
                continue;
            }
            let ahead = reach(node, &open);
            let component: Vec<bool> =
                (0..n).map(|m| ahead[m] && (m == node || reach_back(&edges, m, node, &ahead))).collect();
            let (mut marks, mut cyclic) = (0, false);
            for from in (0..n).filter(|m| component[*m]) {
                for (to, earned) in &edges[from] {
                    if component[*to] {
                        marks |= earned;
                        cyclic = true;
                    }
                }
                open[from] = false;
            }
            if cyclic && marks == all_marks {
                return true;
            }
        }
        false
    }
}

/// Whether there is a word, of whatever length, that both automata accept: a strongly connected part of their
/// product, over all valuations of `n` propositions, that has all marks of both.
pub fn share_a_word(a: &Automaton, b: &Automaton, n: u32) -> bool {
    let width = b.n_states();
    let size = a.n_states() * width;
    let mut edges: Vec<Vec<(usize, u64, u64)>> = vec![Vec::new(); size];
    for (from, out) in edges.iter_mut().enumerate() {
        for letter in 0..1 << n {
            for x in a.successors(StateId((from / width) as u32), letter) {
                for y in b.successors(StateId((from % width) as u32), letter) {
                    out.push((x.target.index() * width + y.target.index(), x.marks, y.marks));
                }
            }
        }
    }
    let backwards = {
        let mut all: Vec<Vec<usize>> = vec![Vec::new(); size];
        for (from, out) in edges.iter().enumerate() {
            out.iter().for_each(|(to, ..)| all[*to].push(from));
        }
        all
    };
    let forwards: Vec<Vec<usize>> = edges.iter().map(|out| out.iter().map(|e| e.0).collect()).collect();
    let walk = |next: &[Vec<usize>], from: usize, open: &mut [bool]| {
        let (mut found, mut stack) = (Vec::new(), vec![from]);
        open[from] = false;
        while let Some(node) = stack.pop() {
            found.push(node);
            for to in &next[node] {
                if std::mem::take(&mut open[*to]) {
                    stack.push(*to);
                }
            }
        }
        found
    };
    let mut open = vec![true; size];
    let reachable = walk(&forwards, a.initial.index() * width + b.initial.index(), &mut open);
    let mut rest = vec![false; size];
    reachable.iter().for_each(|node| rest[*node] = true);
    for node in reachable {
        if !rest[node] {
            continue;
        }
        let ahead = walk(&forwards, node, &mut rest.clone());
        let mut within = vec![false; size];
        ahead.iter().for_each(|m| within[*m] = true);
        let component = walk(&backwards, node, &mut within);
        let mut inside = vec![false; size];
        component.iter().for_each(|m| inside[*m] = true);
        let kept = component.iter().flat_map(|m| &edges[*m]).filter(|e| inside[e.0]);
        let (mut cyclic, mut marks) = (false, (0, 0));
        for (_, x, y) in kept {
            cyclic = true;
            marks = (marks.0 | x, marks.1 | y);
        }
        if cyclic && marks == (a.all_marks(), b.all_marks()) {
            return true;
        }
        component.iter().for_each(|m| rest[*m] = false);
    }
    false
}

fn reach_back(edges: &[Vec<(usize, u64)>], from: usize, to: usize, allowed: &[bool]) -> bool {
    let mut seen = vec![false; edges.len()];
    let mut stack = vec![from];
    while let Some(node) = stack.pop() {
        for (next, _) in &edges[node] {
            if *next == to {
                return true;
            }
            if !seen[*next] && allowed[*next] {
                seen[*next] = true;
                stack.push(*next);
            }
        }
    }
    false
}

/// A small generator of pseudo-random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A formula with `size` operators over `n` propositions.
    pub fn formula(&mut self, size: usize, n: u32) -> Formula {
        if size == 0 {
            let prop = self.below(n as usize + 1) as u32;
            return match prop {
                p if p < n => Formula::Prop(p),
                _ if self.below(8) == 0 => Formula::True,
                _ if self.below(8) == 0 => Formula::False,
                _ => Formula::Prop(0),
            };
        }
        if size == 1 || self.below(2) == 0 {
            let a = Box::new(self.formula(size - 1, n));
            return match self.below(4) {
                0 => Formula::Not(a),
                1 => Formula::Next(a),
                2 => Formula::Always(a),
                _ => Formula::Eventually(a),
            };
        }
        let left = self.below(size);
        let a = Box::new(self.formula(left, n));
        let b = Box::new(self.formula(size - 1 - left, n));
        match self.below(7) {
            0 => Formula::And(a, b),
            1 => Formula::Or(a, b),
            2 => Formula::Implies(a, b),
            3 => Formula::Equiv(a, b),
            4 => Formula::Until(a, b),
            5 => Formula::WeakUntil(a, b),
            _ => Formula::Release(a, b),
        }
    }
}

/// All formulas with exactly `size` operators over `n` propositions, from operators that generate all others.
pub fn formulas(size: usize, n: u32) -> Vec<Formula> {
    if size == 0 {
        return (0..n).map(Formula::Prop).collect();
    }
    let mut found = Vec::new();
    for a in formulas(size - 1, n) {
        let a = Box::new(a);
        if !matches!(*a, Formula::Not(_)) {
            found.push(Formula::Not(a.clone()));
        }
        found.push(Formula::Next(a.clone()));
        found.push(Formula::Always(a.clone()));
        found.push(Formula::Eventually(a));
    }
    for left in 0..size {
        for a in formulas(left, n) {
            for b in formulas(size - 1 - left, n) {
                let pair = || (Box::new(a.clone()), Box::new(b.clone()));
                for make in [Formula::And, Formula::Or, Formula::Until, Formula::Release] {
                    let (a, b) = pair();
                    found.push(make(a, b));
                }
            }
        }
    }
    found
}
