//! The table of well-known formulas: it is up to date, and our automata are no larger than Spin's.

use ltl::parse::parse;
use ltl::{Acceptance, Automaton};

#[test]
fn the_table_is_true() {
    let table = include_str!("../../../bench/ltl/patterns.tsv");
    let (mut ours, mut spins, mut compared, mut rows) = ((0, 0), (0, 0), 0, 0);
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, text, sign, states, edges, spin_states, spin_edges, generalised, marks, strength] =
            columns[..]
        else {
            panic!("{line}")
        };
        rows += 1;
        let formula = parse(text).expect("a formula").formula;
        let formula = if sign == "-" { formula.negated() } else { formula };
        let automaton = Automaton::of(&formula, Acceptance::Buchi).expect("small");
        let size = (automaton.n_states(), automaton.n_edges());
        let large = Automaton::of(&formula, Acceptance::Generalised).expect("small");
        let found =
            format!("{} {} {} {} {:?}", size.0, size.1, large.n_states(), large.n_marks, large.strength);
        let written = format!("{states} {edges} {generalised} {marks} {strength}");
        assert_eq!(found, written, "{line}\nbench/ltl/run --keep-spin writes the table anew");
        if let (Ok(states), Ok(edges)) = (spin_states.parse::<usize>(), spin_edges.parse::<usize>()) {
            assert!(size.0 <= states, "more states than Spin: {line}");
            ours = (ours.0 + size.0, ours.1 + size.1);
            spins = (spins.0 + states, spins.1 + edges);
            compared += 1;
        }
    }
    assert_eq!(rows, 2 * (55 + 12 + 27));
    assert!(compared > 100 && ours.0 <= spins.0 && ours.1 <= spins.1, "{compared}: {ours:?} {spins:?}");
}
