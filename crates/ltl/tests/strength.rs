//! What the strength of an automaton permits a search to do.

mod common;

use common::{Lasso, Random};
use ltl::parse::parse;
use ltl::{Acceptance, Automaton, Component, StateId, Strength};

#[test]
fn known_formulas() {
    for (text, expected) in [
        ("<> p", Strength::Terminal),
        ("p U q", Strength::Terminal),
        ("true", Strength::Terminal),
        ("<> (p && X q)", Strength::Terminal),
        ("[] p", Strength::Weak),
        ("<> [] p", Strength::Weak),
        ("p W q", Strength::Weak),
        ("!([] (p -> <> q))", Strength::Weak),
        ("[] <> p", Strength::Strong),
        ("[] (p -> <> q)", Strength::Strong),
    ] {
        for acceptance in [Acceptance::Generalised, Acceptance::Buchi] {
            let automaton = Automaton::of(&parse(text).unwrap().formula, acceptance).unwrap();
            assert_eq!(automaton.strength, expected, "{text}");
        }
    }
    let empty = Automaton::of(&parse("<> p && [] !p").unwrap().formula, Acceptance::Buchi).unwrap();
    assert!(empty.is_empty());
}

/// In a weak automaton it is enough to stay in an accepting component, in a terminal one to reach it.
#[test]
fn weak_and_terminal_automata_need_less() {
    let mut random = Random(11);
    let mut met = [0; 3];
    for round in 0..1500 {
        let formula = random.formula(2 + round % 6, 2);
        let acceptance = if round % 2 == 0 { Acceptance::Generalised } else { Acceptance::Buchi };
        let automaton = Automaton::of(&formula, acceptance).expect("small");
        met[automaton.strength as usize] += 1;
        let kind = |state: usize| automaton.component(StateId(state as u32));
        let stays = |state: usize, letter: u64| {
            let inside = |to: usize| automaton.component_of[to] == automaton.component_of[state];
            let good = matches!(kind(state), Component::Weak | Component::Terminal);
            let edges = automaton.successors(StateId(state as u32), letter);
            edges.map(|e| e.target.index()).map(|to| (to, u64::from(good && inside(to)))).collect()
        };
        let reaches = |state: usize, letter: u64| match kind(state) {
            Component::Terminal => vec![(state, 1)],
            _ => automaton.successors(StateId(state as u32), letter).map(|e| (e.target.index(), 0)).collect(),
        };
        let (n, initial) = (automaton.n_states(), automaton.initial.index());
        for _ in 0..10 {
            let word = Lasso::random(&mut random, 2, 5);
            let truth = word.satisfies(&formula);
            if automaton.strength <= Strength::Weak {
                assert_eq!(word.accepted(n, initial, 1, &stays), truth, "{formula} on {word:?}");
            }
            if automaton.strength == Strength::Terminal {
                assert_eq!(word.accepted(n, initial, 1, &reaches), truth, "{formula} on {word:?}");
            }
        }
        let several = |s: StateId| (0..4).any(|letter| automaton.successors(s, letter).count() > 1);
        assert_eq!(automaton.deterministic, !automaton.states().any(several), "{formula}");
        for state in automaton.states() {
            let numbers = automaton.edges(state).iter().map(|e| automaton.component_of[e.target.index()]);
            assert!(numbers.max() <= Some(automaton.component_of[state.index()]), "components are ordered");
        }
    }
    assert!(met.iter().all(|n| *n > 50), "{met:?}");
}
