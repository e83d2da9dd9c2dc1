//! The methods that are known to be wrong, as small as they can be: a product that is reduced while it is
//! built, by a proviso that asks where the search is.
//!
//! Peled's combination of ample sets with on-the-fly checking (1994, 1996) expands a state of the *product*
//! in full when a chosen step leads back to the stack. Siegel (*What's wrong with on-the-fly partial order
//! reduction*, CAV 2019) has shown that this loses accepting runs: what is chosen then depends on the claim's
//! state, and a claim whose language does not count repetitions may itself count them. The weaker proviso
//! (one chosen step leads elsewhere), which keeps reachable states, loses runs that go on forever, and so
//! does no proviso at all: the *ignoring problem* (Valmari; Evangelista and Pajault, 2010).
//!
//! Here the reducer of this project chooses, without its static proviso, so that a trap shows what would
//! become of it.

use std::collections::HashMap;

use crate::common::Model;
use machine::claim::never;
use reduce::{Extent, Stubborn, Watched};
use system::claim::{Claim, ClaimState, Moves};
use system::{Choice, Reducer, Reduction, Successors, SystemExt, TransitionSystem};

/// When a state of the product is expanded in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proviso {
    /// Always: nothing is left out.
    Full,
    /// Unless all chosen steps lead away from the stack.
    AllOffStack,
    /// Unless one of the chosen steps leads away from the stack.
    OneOffStack,
    /// Never.
    None,
}

type Node = (ClaimState, Vec<u8>);

struct Product<'a> {
    system: &'a dyn TransitionSystem,
    claim: &'a Claim,
    proviso: Proviso,
    numbers: HashMap<Node, usize>,
    successors: Vec<Vec<usize>>,
    accepting: Vec<bool>,
    on_stack: Vec<bool>,
}

/// Whether an accepting cycle is left in the product of a model and its never claim.
pub fn accepts(text: &str, proviso: Proviso) -> bool {
    let model = Model::new("m.pml", text).expect("a model");
    let id = model.program.never[0];
    let made = never(&model.program, id, &|span| model.sources.location(span)).expect("a claim");
    let machine = model.machine(&model.program).watched(vec![made.propositions.clone()]);
    let watched = Watched { propositions: made.propositions, acceptance: false };
    let reduction = Stubborn::new(machine.program(), &machine, Extent::OneProcess).unnoticed_by(watched);
    let mut product = Product {
        system: &machine,
        claim: &made.claim,
        proviso,
        numbers: HashMap::new(),
        successors: Vec::new(),
        accepting: Vec::new(),
        on_stack: Vec::new(),
    };
    let mut state = Vec::new();
    machine.initial(&mut state).expect("an initial state");
    product.visit((made.claim.initial, state), &mut *reduction.reducer());
    product.has_accepting_cycle()
}

impl Product<'_> {
    /// Depth-first search from a node that is new.
    fn visit(&mut self, node: Node, reducer: &mut dyn Reducer) -> usize {
        let number = self.successors.len();
        self.numbers.insert(node.clone(), number);
        self.successors.push(Vec::new());
        self.accepting.push(self.claim.accepting[node.0.index()]);
        self.on_stack.push(true);
        for next in self.expand(&node, reducer) {
            let to = match self.numbers.get(&next) {
                Some(&known) => known,
                None => self.visit(next, reducer),
            };
            self.successors[number].push(to);
        }
        self.on_stack[number] = false;
        number
    }

    /// The successors that the method looks at.
    fn expand(&self, (claim, state): &Node, reducer: &mut dyn Reducer) -> Vec<Node> {
        let mut moves = Moves::default();
        let told = self.system.capabilities().propositions.expect("propositions");
        self.claim.moves(*claim, told.propositions(0, state), &mut moves);
        let mut steps = Successors::default();
        self.system.expand(state, &mut steps);
        assert!(steps.list.iter().all(|step| step.has_state() && !step.is_transient()), "a simple model");
        let to = |at: usize| steps.state(&steps.list[at]).unwrap_or_default().to_vec();
        let with = |chosen: &[u32]| -> Vec<Node> {
            let states = || chosen.iter().map(|&at| to(at as usize));
            moves.to.iter().flat_map(|by| states().map(|state| (by.to, state))).collect()
        };
        let all: Vec<u32> = (0..steps.list.len() as u32).collect();
        if steps.list.is_empty() {
            return moves.to.iter().map(|by| (by.to, state.clone())).collect();
        }
        let actions: Vec<_> = steps.list.iter().map(|step| step.action).collect();
        let mut chosen = Vec::new();
        if self.proviso == Proviso::Full || reducer.choose(state, &actions, &mut chosen) == Choice::All {
            return with(&all);
        }
        let few = with(&chosen);
        let away = |node: &Node| self.numbers.get(node).is_none_or(|&number| !self.on_stack[number]);
        let enough = match self.proviso {
            Proviso::Full => false,
            Proviso::AllOffStack => few.iter().all(away),
            Proviso::OneOffStack => few.iter().any(away),
            Proviso::None => true,
        };
        if enough { few } else { with(&all) }
    }

    /// Everything that was visited is reachable.
    fn has_accepting_cycle(&self) -> bool {
        let returns = |from: usize| {
            let (mut met, mut open) = (vec![false; self.successors.len()], self.successors[from].clone());
            while let Some(at) = open.pop() {
                if !std::mem::replace(&mut met[at], true) {
                    open.extend(&self.successors[at]);
                }
            }
            met[from]
        };
        (0..self.successors.len()).any(|number| self.accepting[number] && returns(number))
    }
}
