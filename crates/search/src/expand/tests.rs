//! Tests of the expansion: what atomic sequences become, on small graphs and on random ones.

use super::atomic_closure::LONG_RUN;
use super::*;
use crate::limits::Limits;
use crate::observer::Silent;
use crate::property::Checks;
use crate::task::Task;
use std::sync::atomic::AtomicBool;
use system::toy::Graph;

/// What expanding node 0 gives, and "state: actions" for each edge, if steps are counted.
fn expand(text: &str, depth: Option<u64>) -> (Expansion, Vec<String>) {
    expand_node(text, depth, true)
}

/// Expands the first node, with steps counted (`exact`) or not.
fn expand_node(text: &str, depth: Option<u64>, exact: bool) -> (Expansion, Vec<String>) {
    expand_within(text, Limits { depth, ..Limits::default() }, exact).unwrap()
}

/// Expands the first node within limits.
fn expand_within(text: &str, limits: Limits, exact: bool) -> Result<(Expansion, Vec<String>), StopReason> {
    let graph = Graph::parse(text).unwrap();
    let stop = AtomicBool::new(false);
    let task =
        Task { checks: Checks::SAFETY, all_errors: true, seed: None, limits, stop: &stop, reduce: None };
    let mut silent = Silent;
    let mut budget = Budget::new(&task, &mut silent);
    let mut out = Expansion::default();
    let mut expander = Expander::new(&graph, None);
    expander.set_exact(exact);
    expander.expand(b"0", 0, &mut budget, &mut out)?;
    let words = |edge: Edge| {
        let mut actions = Vec::new();
        expander.actions(edge, &mut actions);
        assert_eq!(actions.len(), edge.n_actions() as usize);
        let actions: Vec<String> = actions.iter().map(|a| a.0.to_string()).collect();
        format!("{}: {}", Graph::node(out.state(edge)), actions.join(" "))
    };
    let edges = out.edges().iter().map(words).collect();
    Ok((out, edges))
}

#[test]
fn ordinary_steps_are_edges() {
    let (out, edges) = expand("0 -> 1; 0 -> 2; 1 -> 3", None);
    assert_eq!(edges, ["1: 0", "2: 1"]);
    assert!(!out.stuck && !out.cut && out.faults.is_empty());
    assert!(expand("1 -> 2", None).0.stuck);
}

#[test]
fn atomic_sequences_are_closed() {
    let (_, edges) = expand("0 -> 1 -> 2 -> 3; 1 -> 4; transient 1 2", None);
    assert_eq!(edges, ["4: 0 3", "3: 0 1 2"]);
}

#[test]
fn a_transient_state_is_expanded_once_and_by_the_shortest_way() {
    let (out, edges) = expand("0 -> 1 -> 2 -> 9; 0 -> 2; 2 -> 8; transient 1 2", None);
    assert_eq!(edges, ["9: 3 2", "8: 3 4"]);
    assert!(out.atomic_loop.is_none(), "a diamond is no loop");
}

#[test]
fn straight_runs_are_followed_each_for_itself() {
    let (out, edges) = expand("0 -> 1 -> 2 -> 9; 0 -> 2; 0 -> 3; transient 1 2 3", None);
    assert_eq!(edges, ["9: 0 1 2", "9: 3 2", "3: 4"]);
    assert!(out.atomic_loop.is_none());
}

/// Whether steps are counted or not: the same states, the same errors, and loops are seen.
#[test]
fn all_ways_of_closing_agree() {
    let mut random = crate::random::Random::new(5);
    let mut loops = 0;
    for _ in 0..3000 {
        let n = 3 + random.below(12);
        let mut text = String::new();
        for _ in 0..n + random.below(n) {
            let (from, to) = (random.below(n), 1 + random.below(n - 1));
            text += &format!("{from} -> {to}; ");
            if random.below(12) == 0 {
                text += &format!("assert {from} {to}; ");
            }
        }
        text += "transient 99";
        (1..n).filter(|_| random.below(4) > 0).for_each(|node| text += &format!(" {node}"));
        let [exact, loose] = [true, false].map(|exact| {
            let (out, edges) = expand_node(&text, None, exact);
            let mut states: Vec<&str> = edges.iter().filter_map(|edge| edge.split(':').next()).collect();
            states.sort_unstable();
            states.dedup();
            let mut faults: Vec<ActionId> =
                out.faults.iter().map(|f| f.actions[f.actions.len() - 1]).collect();
            faults.sort_unstable();
            (states.join(" "), faults, out.atomic_loop.is_some(), out.stuck)
        });
        assert_eq!(exact, loose, "{text}");
        loops += u32::from(exact.2);
    }
    assert!((100..2900).contains(&loops), "{loops}");
}

#[test]
fn long_and_endless_runs_are_followed_as_well() {
    for (len, exact) in [(LONG_RUN - 1, true), (LONG_RUN, false), (LONG_RUN + 1, false), (3 * LONG_RUN, true)]
    {
        let expand = |text: &str, depth| expand_node(text, depth, exact);
        let nodes: Vec<String> = (0..=len).map(|node| node.to_string()).collect();
        let inner = nodes[1..len as usize].join(" ");
        let straight = format!("{}; transient {inner}", nodes.join(" -> "));
        let (out, edges) = expand(&straight, None);
        assert_eq!(edges.len(), 1);
        assert_eq!(out.edge(0).n_actions(), len);
        let (out, edges) = expand(&format!("{straight}; {} -> 1", len - 1), None);
        assert!(edges.len() == 1 && out.atomic_loop.is_some());
        let back = format!("{} -> 1; transient {} {inner}", nodes.join(" -> "), len);
        let (out, edges) = expand(&back, None);
        assert!(edges.is_empty() && out.atomic_loop.is_some());
    }
}

#[test]
fn a_transient_state_that_cannot_move_is_ordinary() {
    let graph = "0 -> 1 -> 2; transient 1 2";
    assert_eq!(expand(graph, None).1, ["2: 0 1"]);
}

#[test]
fn an_endless_atomic_sequence_is_noticed_and_left() {
    let (out, edges) = expand("0 -> 1 -> 2 -> 3 -> 2; 3 -> 4; transient 1 2 3", None);
    assert_eq!(edges, ["4: 0 1 2 4"]);
    assert_eq!(out.atomic_loop, Some(vec![ActionId(0), ActionId(1)]));
    let own = expand("0 -> 1 -> 1; transient 1", None).0;
    assert!(own.atomic_loop.is_some() && own.edges().is_empty());
}

#[test]
fn faults_inside_carry_their_path() {
    let (out, edges) = expand("0 -> 1 -> 2 -> 3; 1 -> 4; transient 1 2; assert 1 2; fault 2 3", None);
    let found: Vec<(u64, usize)> =
        out.faults.iter().map(|f| (u64::from(f.fault.line), f.actions.len())).collect();
    assert_eq!(found, [(1, 2), (2, 3)]);
    assert_eq!(edges, ["4: 0 3"], "the step after a failed assertion is taken, others are not");
}

#[test]
fn the_depth_limit_holds_inside() {
    let chain = "0 -> 1 -> 2 -> 3; 1 -> 4; transient 1 2";
    let (out, edges) = expand(chain, Some(2));
    assert_eq!(edges, ["4: 0 3"]);
    assert!(out.cut);
    assert!(!expand(chain, Some(3)).0.cut);
    assert!(expand(chain, Some(0)).0.cut);
}

#[test]
fn atomic_sequences_may_lead_to_so_many_states_only() {
    // Node 1 has a hundred transient successors, and each of these has two ordinary ones.
    let mut broad = "0 -> 1; transient 1".to_string();
    (100..200).for_each(|node| broad += &format!(" {node}"));
    (100..200).for_each(|node| broad += &format!("; 1 -> {node}; {node} -> 2; {node} -> 3"));
    let within = |atomic| expand_within(&broad, Limits { atomic, ..Limits::default() }, false);
    assert_eq!(within(Some(301)).err(), Some(StopReason::StateLimit));
    assert_eq!(within(Some(302)).unwrap().1.len(), 200);
    assert_eq!(within(None).unwrap().1.len(), 200);
}
