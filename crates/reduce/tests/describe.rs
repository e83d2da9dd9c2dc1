//! What is told of a program is what its text says.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::Model;
use machine::facts::matrix::{Item, Matrices};
use promela::ir::ProctypeId;
use reduce::describe::{Description, Standing, describe};
use stop::Stop;

const PAIR: &str = "chan q = [2] of { byte }; byte total; bool done; \
    active proctype producer() { q!1; q!2; done = true } \
    active proctype consumer() { byte x; x = 1; q?x; total = x; done; assert(total == 1) }";

fn standing(model: &Model, known: &Description, text: &str) -> Standing {
    let mut found = None;
    for (p, proctype) in model.program.proctypes.iter().enumerate() {
        for (e, edge) in proctype.edges.iter().enumerate().filter(|(_, edge)| edge.text == text) {
            found = Some((edge, known.edges[p][e].standing));
        }
    }
    found.expect("there is such a statement").1
}

#[test]
fn who_gets_in_whose_way() {
    let model = Model::new("pair", PAIR).expect("a program");
    let known = describe(&model.program, &Stop::never());
    let is = |text: &str| standing(&model, &known, text);
    assert_eq!(is("x = 1"), Standing::Local);
    assert_eq!((is("total = x"), is("assert(total == 1)")), (Standing::Safe, Standing::Safe));
    assert_eq!((is("q?x"), is("q!1")), (Standing::ConditionallySafe, Standing::ConditionallySafe));
    assert_eq!((is("done"), is("done = true")), (Standing::Shared, Standing::Shared));
}

#[test]
fn who_uses_which_end() {
    let model = Model::new("pair", PAIR).expect("a program");
    let ends = &describe(&model.program, &Stop::never()).channels[0];
    assert!(ends.exclusive_send && ends.exclusive_receive);
    let two = PAIR.replace("active proctype consumer", "active [2] proctype consumer");
    let known = describe(&Model::new("two", &two).expect("a program").program, &Stop::never());
    assert!(known.channels[0].exclusive_send && !known.channels[0].exclusive_receive);
    assert_eq!(known.several, [false, true]);
    // Started in a loop, or by several.
    let started = "proctype leaf() { skip } proctype twig() { run leaf() } \
        init { byte i; do :: i < 2 -> run twig(); i++ :: else -> break od; run leaf() }";
    assert_eq!(
        describe(&Model::new("started", started).expect("a program").program, &Stop::never()).several,
        [true, true, false]
    );
    let once = "proctype leaf() { skip } init { run leaf() }";
    assert_eq!(
        describe(&Model::new("once", once).expect("a program").program, &Stop::never()).several,
        [false, false]
    );
}

/// The proctypes whose processes conflict with a group, as the matrices tell.
fn conflicting(matrices: &Matrices, g: usize) -> BTreeSet<ProctypeId> {
    let member = |item: Item| &matrices.population.members[item.member];
    let items = matrices.dependencies.conflicts.iter_row(g).map(|other| matrices.items[other]);
    let items = items.flat_map(|(item, partner)| [Some(item), partner]).flatten();
    let mut ids: BTreeSet<ProctypeId> = items.map(|item| member(item).id).collect();
    let own = member(matrices.items[g].0);
    if !own.several {
        ids.remove(&own.id);
    }
    ids
}

/// The matrices of the proctypes tell the same conflicts as the description, or fewer, since they leave out
/// statements that cannot be reached.
#[test]
fn the_matrices_say_the_same() {
    let (mut equal, mut fewer) = (0, 0);
    // A rendezvous conflicts as a whole, a statement on its own.
    let buffered = |model: &Model| model.program.chan_types.iter().all(|ty| ty.capacity > 0);
    for model in Model::all().into_iter().filter(buffered) {
        let known = describe(&model.program, &Stop::never());
        let machine = model.machine(&model.program);
        let locate = |span| machine.locate(span);
        let matrices = Matrices::by_proctype(&model.program, &locate, &Stop::never());
        for (g, (item, _)) in matrices.items.iter().enumerate() {
            let id = matrices.population.members[item.member].id;
            let told = known.edges[id.index()][item.edge.index()].disturbed_by.iter().copied().collect();
            let ids = conflicting(&matrices, g);
            let name = &matrices.dependencies.groups[g].name;
            assert!(ids.is_subset(&told), "{}: {name}: {ids:?}, not {told:?}", model.name);
            *if ids == told { &mut equal } else { &mut fewer } += 1;
        }
    }
    assert!(equal > 500 && fewer * 10 < equal, "{equal} equal, {fewer} with fewer");
}
