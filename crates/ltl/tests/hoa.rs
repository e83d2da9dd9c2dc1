//! Automata written in the Hanoi format and read back accept the same words.

mod common;

use common::{Lasso, Random};
use ltl::print::hoa::hoa;
use ltl::{Acceptance, Automaton, Formula};

/// What the reader understands: enough of the format to notice when we write it wrongly.
#[derive(Default, Debug)]
struct Read {
    states: usize,
    start: usize,
    props: Vec<String>,
    n_marks: u32,
    properties: Vec<String>,
    /// Source, guard, target, marks.
    edges: Vec<(usize, String, usize, u64)>,
}

fn marks(text: &str) -> u64 {
    let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
    inner.split_whitespace().fold(0, |set, i| set | 1 << i.parse::<u32>().expect("a mark"))
}

fn read(text: &str) -> Read {
    let mut read = Read::default();
    let (header, body) = text.split_once("--BODY--\n").expect("a body");
    assert!(header.starts_with("HOA: v1\n") && body.ends_with("--END--\n"), "{text}");
    for line in header.lines() {
        let (key, value) = line.split_once(": ").expect("key: value");
        match key {
            "States" => read.states = value.parse().unwrap(),
            "Start" => read.start = value.parse().unwrap(),
            "AP" => read.props = value.split('"').skip(1).step_by(2).map(str::to_string).collect(),
            "Acceptance" => {
                let (n, condition) = value.split_once(' ').unwrap();
                read.n_marks = n.parse().unwrap();
                let sets: Vec<String> = (0..read.n_marks).map(|i| format!("Inf({i})")).collect();
                assert_eq!(condition, if sets.is_empty() { "t".to_string() } else { sets.join("&") });
            }
            "properties" => read.properties = value.split(' ').map(str::to_string).collect(),
            "HOA" | "name" | "acc-name" => {}
            _ => panic!("{line}"),
        }
    }
    let mut state = (0, 0);
    for line in body.lines().take_while(|l| *l != "--END--") {
        if let Some(rest) = line.strip_prefix("State: ") {
            let (number, earned) = rest.split_once(' ').unwrap_or((rest, ""));
            state = (number.parse().unwrap(), marks(earned));
        } else {
            let (guard, rest) = line.strip_prefix('[').unwrap().split_once("] ").unwrap();
            let (target, earned) = rest.split_once(' ').unwrap_or((rest, ""));
            read.edges.push((state.0, guard.to_string(), target.parse().unwrap(), state.1 | marks(earned)));
        }
    }
    read
}

fn holds(guard: &str, letter: u64) -> bool {
    let literal = |text: &str| match text.trim() {
        "t" => true,
        "f" => false,
        negated if negated.starts_with('!') => letter >> negated[1..].parse::<u32>().unwrap() & 1 == 0,
        positive => letter >> positive.parse::<u32>().unwrap() & 1 == 1,
    };
    guard.split('|').any(|cube| cube.split('&').all(literal))
}

#[test]
fn written_and_read_back() {
    let mut random = Random(7);
    for round in 0..300 {
        let formula = random.formula(2 + round % 6, 3);
        for acceptance in [Acceptance::Generalised, Acceptance::Buchi] {
            let automaton = Automaton::of(&formula, acceptance).expect("small");
            let names = ["x == \"a\\b\"".to_string(), "q".to_string(), "r".to_string()];
            let read = read(&hoa(&automaton, "a \"name\"", &names));
            assert_eq!((read.states, read.start), (automaton.n_states(), automaton.initial.index()));
            let state_based = read.properties.iter().any(|p| p == "state-acc");
            assert!(state_based || acceptance == Acceptance::Generalised);
            let successors = |state: usize, letter: u64| {
                let own = read.edges.iter().filter(|e| e.0 == state && holds(&e.1, letter));
                own.map(|e| (e.2, e.3)).collect()
            };
            for _ in 0..20 {
                let word = Lasso::random(&mut random, 3, 5);
                let accepted = word.accepted(read.states, read.start, (1 << read.n_marks) - 1, &successors);
                assert_eq!(accepted, word.satisfies(&formula), "{formula} on {word:?}: {read:?}");
            }
        }
    }
}

#[test]
fn texts_are_quoted() {
    let formula = Formula::Prop(0);
    let automaton = Automaton::of(&formula, Acceptance::Buchi).unwrap();
    let text = hoa(&automaton, "a \"name\"", &["x == \"a\\b\"".to_string()]);
    assert!(
        text.contains("name: \"a \\\"name\\\"\"\n") && text.contains("AP: 1 \"x == \\\"a\\\\b\\\"\"\n"),
        "{text}"
    );
}
