//! The dependency matrices of many programs, confronted with what the reference machine does.

mod common;

use common::{Model, seeds_wanted, try_models_wanted, try_random, try_repository, walk};
use machine::facts::Facts;
use machine::facts::check::Checker;
use machine::facts::matrix::Matrices;
use machine::facts::matrix::check::Falsifier;
use promela::ir::Program;
use stop::Stop;
use system::matrix::{BitMatrix, Dependencies};
use testkit::generate::Size;
use testkit::rng::Rng;

/// Up to `limit` states, found breadth-first, every one with `tries` changes; the first thing that is wrong.
fn confront(
    model: &Model,
    program: &Program,
    matrices: &Matrices,
    limit: usize,
    tries: usize,
) -> Result<usize, String> {
    let machine = model.machine(program);
    let facts = Facts::new(program);
    let falsifier = Falsifier::new(&machine, matrices, Checker::new(&machine, &facts));
    let Some(first) = falsifier.initial() else { return Ok(0) };
    let mut rng = Rng::new(7);
    walk(
        first,
        limit,
        |state| state.bytes.clone(),
        |state| falsifier.state(state, tries, &mut |n| rng.below(n)),
    )
}

/// Matrices of single processes where these are known, and those of any processes of the proctypes.
fn hold(model: &Model, program: &Program, limit: usize, tries: usize) -> usize {
    let machine = model.machine(program);
    let apart = Matrices::of(&machine, &Stop::never());
    let together = Matrices::by_proctype(program, &|span| machine.locate(span), &Stop::never());
    let states = [&apart, &together].map(|matrices| {
        assert_eq!(matrices.dependencies.verify(), Ok(()), "{}", model.name);
        confront(model, program, matrices, limit, tries)
            .unwrap_or_else(|what| panic!("{}: {what}", model.name))
    });
    states[0]
}

#[test]
fn of_the_models_of_the_repository() {
    try_repository(|model, program, less| hold(model, program, if less { 20 } else { 40 }, 12));
}

fn random(seeds: std::ops::Range<u64>, size: Size) {
    try_random(seeds, size, 5, |model, program, less| hold(model, program, if less { 10 } else { 20 }, 12));
}

#[test]
fn of_small_random_programs() {
    random(0..200, Size::Small);
}

#[test]
fn of_medium_random_programs() {
    random(5000..5060, Size::Medium);
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
        hold(model, &model.program, 60, 24);
    });
}

/// Every kind of statement that touches something.
const BUSY: &str = "
    byte g = 1, h, v[2]; bit turn; chan c = [2] of { byte, byte }; chan r = [0] of { byte };
    active proctype p() {
        byte x = 1, y = 1;
        do
        :: g == 1 && h < 3 -> h = x
        :: x < 3 -> x++
        :: v[x % 2] = y
        :: c!x, y
        :: r!x
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
        :: p[0]:x == 2 -> z = 0
        :: timeout
        :: _nr_pr == 2 -> run s()
        od
    }
    proctype s() { byte k; k = g; h = k }";

/// Empties one row of one matrix at a time: the names of the rows of which that was found out, and of the
/// others.
fn blinded(
    rows: impl Fn(&Dependencies) -> Vec<String>,
    matrix: impl Fn(&mut Dependencies) -> &mut BitMatrix,
) -> (Vec<String>, Vec<String>) {
    let model = Model::new("busy", BUSY).expect("a model");
    let machine = model.machine(&model.program);
    let mut matrices = Matrices::of(&machine, &Stop::never());
    confront(&model, &model.program, &matrices, 100, 30).expect("the matrices are right");
    let (mut found, mut missed) = (Vec::new(), Vec::new());
    for (row, name) in rows(&matrices.dependencies).into_iter().enumerate() {
        let right = matrix(&mut matrices.dependencies).clone();
        matrix(&mut matrices.dependencies).clear_row(row);
        let refuted = confront(&model, &model.program, &matrices, 100, 30).is_err();
        *matrix(&mut matrices.dependencies) = right;
        if refuted { &mut found } else { &mut missed }.push(name);
    }
    (found, missed)
}

fn groups(all: &Dependencies) -> Vec<String> {
    all.groups.iter().map(|group| group.name.clone()).collect()
}

fn guards(all: &Dependencies) -> Vec<String> {
    all.guards.iter().map(|guard| guard.name.clone()).collect()
}

/// All but these rows are found out when they are empty.
fn all_but((found, missed): (Vec<String>, Vec<String>), but: &[&str]) {
    assert!(found.len() > but.len(), "found {found:?}, missed {missed:?}");
    assert!(missed.iter().all(|name| but.contains(&name.as_str())), "found {found:?}, missed {missed:?}");
}

/// What the first hundred states do not show: the inside of an atomic sequence as a step of its own, the end
/// of a process.
const RARE: &[&str] = &["p[0]: turn = 1", "p[0]: h = y", "q[1]: timeout", "s[*]: h = k", "s[*]: -end-"];

#[test]
fn a_group_that_does_not_tell_its_reads_is_found() {
    all_but(blinded(groups, |all| &mut all.reads), RARE);
}

#[test]
fn a_group_that_does_not_tell_its_writes_is_found() {
    all_but(blinded(groups, |all| &mut all.may_write), RARE);
}

#[test]
fn a_group_that_does_not_write_what_it_must_is_found() {
    let model = Model::new("busy", BUSY).expect("a model");
    let mut matrices = Matrices::of(&model.machine(&model.program), &Stop::never());
    let all = &mut matrices.dependencies;
    let assigns = all.groups.iter().position(|group| group.name == "p[0]: h = x").expect("it exists");
    let g = all.slots.iter().position(|slot| slot.name == "g").expect("it exists");
    let h = all.slots.iter().position(|slot| slot.name == "h").expect("it exists");
    assert!(all.must_write.get(assigns, h) && !all.must_write.get(assigns, g));
    all.must_write.set(assigns, g);
    assert!(all.verify().is_err_and(|why| why.contains("surely writes")));
    assert!(confront(&model, &model.program, &matrices, 100, 30).is_err_and(|why| why.ends_with("reads g")));
}

#[test]
fn a_group_that_does_not_tell_its_conflicts_is_found() {
    let (found, _) = blinded(groups, |all| &mut all.conflicts);
    let sure = ["p[0]: g == 1 && h < 3", "p[0]: x++", "p[0]: c!x, y", "q[1]: len(c) == 1", "q[1]: g = 1 - g"];
    assert!(sure.iter().all(|name| found.iter().any(|other| other == name)), "{found:?}");
}

#[test]
fn a_group_that_excludes_all_others_is_found() {
    all_but(blinded(groups, |all| &mut all.may_be_coenabled), RARE);
}

#[test]
fn a_guard_that_nobody_makes_true_is_found() {
    let (found, _) = blinded(guards, |all| &mut all.necessary_enabling);
    let sure =
        ["p[0]@16", "q[1]@11", "p[0]: c!x, y (not full)", "p[0]: turn == 0", "q[1]: c?z, w (not empty)"];
    assert!(sure.iter().all(|name| found.iter().any(|other| other == name)), "{found:?}");
}

#[test]
fn a_guard_that_nobody_makes_false_is_found() {
    let (found, _) = blinded(guards, |all| &mut all.necessary_disabling);
    let sure = ["p[0]@16", "q[1]@11", "p[0]: g == 1 && h < 3 (part 1)", "q[1]: c?z, w (not empty)"];
    assert!(sure.iter().all(|name| found.iter().any(|other| other == name)), "{found:?}");
}

/// The matrices of a model, a line for each group: name, slots, and what it conflicts with, may be enabled
/// together with; and a line for each guard: name, necessary enabling set, necessary disabling set.
fn drawn(text: &str) -> String {
    let model = Model::new("tiny", text).expect("a model");
    let all = Matrices::of(&model.machine(&model.program), &Stop::never()).dependencies;
    let bits = |matrix: &BitMatrix, row: usize| {
        let bit = |column| if matrix.get(row, column) { '+' } else { '-' };
        (0..matrix.n_columns()).map(bit).collect::<String>()
    };
    let access = |g: usize| {
        let access = |s| match (all.reads.get(g, s), all.may_write.get(g, s), all.must_write.get(g, s)) {
            (true, true, _) => '+',
            (true, false, _) => 'r',
            (false, _, true) => 'W',
            (false, true, false) => 'w',
            (false, false, _) => '-',
        };
        (0..all.slots.len()).map(access).collect::<String>()
    };
    let slots: Vec<&str> = all.slots.iter().map(|slot| slot.name.as_str()).collect();
    let mut out = format!("{}\n", slots.join(" | "));
    for (g, group) in all.groups.iter().enumerate() {
        let (conflicts, together) = (bits(&all.conflicts, g), bits(&all.may_be_coenabled, g));
        out += &format!("{} {conflicts} {together} {} {}\n", access(g), bits(&all.guarded_by, g), group.name);
    }
    for (g, guard) in all.guards.iter().enumerate() {
        let (enabling, disabling) = (bits(&all.necessary_enabling, g), bits(&all.necessary_disabling, g));
        out += &format!("{enabling} {disabling} {}\n", guard.name);
    }
    out
}

#[test]
fn of_two_that_share_a_flag() {
    let text =
        "bool busy; byte n; active [2] proctype p() { atomic { !busy -> busy = true }; n++; busy = false }";
    let expected = "\
busy | n | p[0]@ | p[1]@ | processes
+-+-- +++++++-+- +----+++++ ++------------ p[0]: !busy
W-+-- +++++++-+- -+---+++++ --+----------- p[0]: busy = true
-++-- +++++--+-- --+--+++++ ---+---------- p[0]: n++
W-+-- +++++++-+- ---+-+++++ ----+--------- p[0]: busy = false
--+-+ +++++----- ----+++++- -----++------- p[0]: -end-
+--+- ++-+-+++++ ++++++---- -------++----- p[1]: !busy
W--+- ++-+-+++++ +++++-+--- ---------+---- p[1]: busy = true
-+-+- --+--+++++ +++++--+-- ----------+--- p[1]: n++
W--+- ++-+-+++++ +++++---+- -----------+-- p[1]: busy = false
---++ -----+++++ ++++-----+ ------------++ p[1]: -end-
---------- +--------- p[0]@3
---+----+- ++---++--- p[0]: !busy
+--------- -+-------- p[0]@2
++-------- --+------- p[0]@4
--+------- ---+------ p[0]@5
---++----- ----+----- p[0]@6
----+----+ ----+----+ p[0]: youngest process
---------- -----+---- p[1]@3
---+----+- ++---++--- p[1]: !busy
-----+---- ------+--- p[1]@2
-----++--- -------+-- p[1]@4
-------+-- --------+- p[1]@5
--------++ ---------+ p[1]@6
----+----+ ----+----+ p[1]: youngest process
";
    assert_eq!(drawn(text), expected);
}

#[test]
fn of_a_rendezvous_and_a_buffer() {
    let text = "chan r = [0] of { byte }; chan c = [1] of { byte }; \
        active proctype a() { r!1; c!2 } active proctype b() { byte x; r?x; c?2 }";
    let expected = "\
r | c | channel c | a[0]@ | b[1]@ | b[1]:x | processes
r--++W- +++++ +---- ++++--------- a[0]: r!1 → b[1]: r?x
-r++--- +++-- -+-++ ----++------- a[0]: c!2
---+--+ +++-- --++- ------++----- a[0]: -end-
-r+-+-- +--++ -+++- --------+++-- b[1]: c?2
----+w+ +--++ -+--+ -----------++ b[1]: -end-
----- +---- a[0]@1
----- ----- a[0]: r!1
----- +---- b[1]@1
----- ----- b[1]: r?x
+---- -+--- a[0]@2
---+- -+-+- a[0]: c!2 (not full)
-++-- --+-- a[0]@3
--+-+ --+-+ a[0]: youngest process
+---- ---+- b[1]@2
-+--- -+-+- b[1]: c?2 (not empty)
---+- -+-+- b[1]: c?2 (fits)
---++ ----+ b[1]@3
--+-+ --+-+ b[1]: youngest process
";
    assert_eq!(drawn(text), expected);
}

#[test]
fn of_processes_that_know_their_elements() {
    let text =
        "byte v[4]; proctype p(byte i) { v[i] = v[i + 1]; v[i] > 1 } init { atomic { run p(0); run p(2) } }";
    let expected = "\
v[0] | v[1] | v[2] | v[3] | :init:[0]@ | p[1]@ | p[1]:i | p[2]@ | p[2]:i | processes
----+wwww+ +++--+--+ +--++++++ ++-------------- :init:[0]: run p(0)
----+wwww+ +++--+--+ -+-++++++ --++------------ :init:[0]: run p(2)
----+----+ +++------ --+++-++- ----++---------- :init:[0]: -end-
Wr---+r--- ---+++--- ++++--+++ ------+--------- p[1]: v[i] = v[i + 1]
r----+r--- ---+++--- +++-+-+++ -------++------- p[1]: v[i] > 1
-----+w--+ ++-+++--- ++---+++- ---------++----- p[1]: -end-
--Wr---+r- ------+++ +++++++-- -----------+---- p[2]: v[i] = v[i + 1]
--r----+r- ------+++ ++++++-+- ------------++-- p[2]: v[i] > 1
-------+w+ ++----+++ ++-++---+ --------------++ p[2]: -end-
--------- +-------- :init:[0]@3
+++--+--+ +++--+--+ :init:[0]: run p(0)
+-------- -+------- :init:[0]@2
+++--+--+ +++--+--+ :init:[0]: run p(2)
+++------ --+------ :init:[0]@4
+++--+--+ +++--+--+ :init:[0]: youngest process
++------- ++-+----- p[1]@1
++-+----- ++--+---- p[1]@2
---+-+--- ---+-+--- p[1]: v[i] > 1
++--++--- ++---+--- p[1]@3
+++--+--+ +++--+--+ p[1]: youngest process
++------- ++----+-- p[2]@1
++----+-- ++-----+- p[2]@2
------+-+ ------+-+ p[2]: v[i] > 1
++-----++ ++------+ p[2]@3
+++--+--+ +++--+--+ p[2]: youngest process
";
    assert_eq!(drawn(text), expected);
}
