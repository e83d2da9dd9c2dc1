//! Components are what they are said to be, in the models of the repository.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use common::Model;
use machine::facts::components::Components;
use promela::ir::Proctype;

/// The locations that can be reached from one, itself included.
fn reach(proctype: &Proctype, from: usize) -> Vec<bool> {
    let mut seen = vec![false; proctype.locations.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(proctype.locations[at].edges.iter().map(|id| proctype.edge(*id).to.index()));
        }
    }
    seen
}

#[test]
fn locations_of_a_component_reach_each_other_and_no_others() {
    let mut circles = 0;
    for model in Model::all() {
        for proctype in &model.program.proctypes {
            let components = Components::new(proctype);
            let n = proctype.locations.len();
            let reach: Vec<Vec<bool>> = (0..n).map(|at| reach(proctype, at)).collect();
            for (a, from_a) in reach.iter().enumerate() {
                for (b, from_b) in reach.iter().enumerate() {
                    let same = components.of[a] == components.of[b];
                    assert_eq!(same, from_a[b] && from_b[a], "{} {} {a} {b}", model.name, proctype.name);
                    assert!(!from_a[b] || components.of[a] >= components.of[b]);
                }
            }
            assert_eq!(components.members.iter().map(Vec::len).sum::<usize>(), n);
            circles += components.members.iter().filter(|members| members.len() > 1).count();
        }
    }
    assert!(circles > 50, "only {circles} components with more than one location");
}
