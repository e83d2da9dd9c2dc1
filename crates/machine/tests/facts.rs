//! The facts about many programs, confronted with what their actions are seen to do.

mod common;

use std::convert::Infallible;

use common::{Model, seeds_wanted, try_models_wanted, try_random, try_repository, walk};
use machine::Interp;
use machine::facts::check::{Checker, Claim, Refutation};
use machine::facts::{Access, Facts, Region};
use promela::ir::{EdgeId, ProctypeId, Program};
use system::{Successors, SystemExt, TransitionSystem};
use testkit::generate::Size;
use testkit::rng::Rng;

/// Up to `limit` states, found breadth-first, every one with `tries` changes.
fn confront(machine: &Interp, facts: &Facts, limit: usize, tries: usize) -> (usize, Vec<Refutation>) {
    let mut first = Vec::new();
    if machine.initial(&mut first).is_err() {
        return (0, Vec::new());
    }
    let checker = Checker::new(machine, facts);
    let mut rng = Rng::new(7);
    let (mut found, mut out) = (Vec::new(), Successors::default());
    let Ok(states) = walk(first, limit, Vec::clone, |state| {
        found.extend(checker.state(state, tries, &mut |n| rng.below(n)));
        out.clear();
        machine.expand(state, &mut out);
        let next = out.list.iter().filter_map(|successor| out.state(successor));
        Ok::<_, Infallible>(next.map(<[u8]>::to_vec).collect())
    });
    (states, found)
}

/// A refutation in words.
fn explain(model: &Model, program: &Program, refutation: &Refutation) -> String {
    let action = refutation.action;
    let texts: Vec<&str> = program
        .proctypes
        .iter()
        .filter_map(|p| p.edges.get(action.edge?.index()).map(|edge| edge.text.as_str()))
        .collect();
    format!("{}: {refutation:?}; the edge is one of {texts:?}", model.name)
}

fn hold(model: &Model, program: &Program, limit: usize, tries: usize) -> usize {
    let machine = model.machine(program);
    let (states, found) = confront(&machine, &Facts::new(program), limit, tries);
    if let Some(first) = found.first() {
        panic!("{} refutations\n{}", found.len(), explain(model, program, first));
    }
    states
}

#[test]
fn of_the_models_of_the_repository() {
    try_repository(|model, program, less| hold(model, program, if less { 50 } else { 150 }, 16));
}

fn random(seeds: std::ops::Range<u64>, size: Size) {
    try_random(seeds, size, 10, |model, program, less| hold(model, program, if less { 20 } else { 60 }, 12));
}

#[test]
fn of_small_random_programs() {
    random(0..400, Size::Small);
}

#[test]
fn of_medium_random_programs() {
    random(5000..5150, Size::Medium);
}

/// `FACTS_SEEDS=from..to` tries more random programs.
#[test]
fn of_more_random_programs() {
    seeds_wanted("FACTS_SEEDS").into_iter().for_each(|seeds| random(seeds, Size::Medium));
}

/// `FACTS_MODELS=dir` tries the models of a folder.
#[test]
fn of_models_elsewhere() {
    try_models_wanted("FACTS_MODELS", |model| {
        hold(model, &model.program, 200, 24);
    });
}

/// Every kind of statement that touches something, with what it touches.
const BUSY: &str = "
    byte g = 1, h, v[2]; bit turn; chan c = [2] of { byte, byte }; chan r = [0] of { byte };
    active proctype p() {
        byte x = 1, y = 1;
        do
        :: g == 1 -> h = x
        :: x < 3 -> x++
        :: v[x % 2] = y
        :: c!x, y
        :: r!x
        :: true; if :: h == 2 -> y = 1 :: else -> y = 2 fi
        :: atomic { turn == 0 -> turn = 1; h = y }
        :: d_step { turn == 1 -> turn = 0; y = g }
        od
    }
    active proctype q() {
        byte z, w;
        do
        :: c?z, w
        :: c??eval(z), w
        :: r?z
        :: len(c) == 1 -> g = 1 - g
        :: nempty(c) -> c?<z, w>
        :: p[0]:x == 2 -> z = 0
        :: timeout
        :: _nr_pr == 2 -> run s()
        od
    }
    proctype s() { byte k; k = g; h = k }";

/// Empties one set of one edge at a time; says for which edges that was found out, of those where the set
/// said more than the own location.
fn blinded(claim: Claim, region: fn(&mut Access) -> &mut Region) -> (Vec<String>, Vec<String>) {
    let model = Model::new("busy", BUSY).expect("a model");
    let machine = model.machine(&model.program);
    let facts = Facts::new(&model.program);
    assert_eq!(confront(&machine, &facts, 150, 40).1, [], "the facts are right");
    let (mut found, mut missed) = (Vec::new(), Vec::new());
    for (p, proctype) in model.program.proctypes.iter().enumerate() {
        for (e, edge) in proctype.edges.iter().enumerate() {
            let mut wrong = facts.clone();
            let (id, edge_id) = (ProctypeId(p as u32), EdgeId(e as u32));
            let claimed = region(wrong.edge_mut(id, edge_id));
            let less = Region { own_control: true, exclusive: claimed.exclusive, ..Region::default() };
            if *claimed == less {
                continue;
            }
            *claimed = less;
            let (_, refuted) = confront(&machine, &wrong, 150, 40);
            // Processes 0 and 1 are the first of their proctypes; those that are started later are all of the
            // third.
            let is = |(pid, edge): (usize, EdgeId)| pid.min(2) == p && edge == edge_id;
            let names = |r: &Refutation| {
                let action = r.action;
                r.claim == claim
                    && (action.edge.is_some_and(|edge| is((action.pid, edge)))
                        || action.partner.is_some_and(is))
            };
            let list = if refuted.iter().any(names) { &mut found } else { &mut missed };
            list.push(edge.text.clone());
        }
    }
    (found, missed)
}

/// Whether all of these statements are among those found out.
fn all_found((found, missed): (Vec<String>, Vec<String>), texts: &[&str]) {
    for text in texts {
        assert!(found.iter().any(|t| t == text), "{text}: found {found:?}, missed {missed:?}");
    }
}

#[test]
fn a_guard_that_says_too_little_is_refuted() {
    let found = blinded(Claim::Guard, |access| &mut access.guard.0);
    let texts = ["g == 1", "x < 3", "c!x, y", "else", "len(c) == 1", "nempty(c)", "c?z, w", "c??eval(z), w"];
    all_found(found, &texts);
}

#[test]
fn an_effect_that_says_too_little_is_refuted() {
    let found = blinded(Claim::Effect, |access| &mut access.effect.0);
    all_found(found, &["h = x", "x++", "v[x % 2] = y", "c!x, y", "c?z, w", "h = y", "k = g"]);
}

#[test]
fn writes_that_say_too_little_are_refuted() {
    let found = blinded(Claim::Writes, |access| &mut access.writes.0);
    let texts =
        ["h = x", "x++", "v[x % 2] = y", "c!x, y", "c?z, w", "c??eval(z), w", "c?<z, w>", "run s()", "-end-"];
    all_found(found, &texts);
}
