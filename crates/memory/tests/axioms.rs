//! What each memory model allows, by enumeration of its axioms: an opinion about the litmus tests that knows
//! nothing of operational memories.
//!
//! SC, TSO and PSO: some order of all accesses respects what the model keeps of program order, and each read
//! returns the latest write to its address before it, where TSO and PSO count the own earlier writes as well.
//! PRAM: each processor has such an order of its own accesses and everybody's writes. PC: the same, and all
//! processors agree about the order of the writes to each address. Coherence: an order for each address.

use memory::Model;
use memory::litmus::{self, Litmus, Says, Step};

/// An access: processor, place in its program, address, value (of a read: that of the outcome), whether it
/// reads.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Access {
    cpu: usize,
    place: usize,
    address: usize,
    value: u8,
    reads: bool,
}

fn accesses(test: &Litmus) -> Vec<Access> {
    let mut all = Vec::new();
    for (cpu, program) in test.programs.iter().enumerate() {
        for (place, step) in program.iter().enumerate() {
            match *step {
                Step::Write(address, value) => all.push(Access { cpu, place, address, value, reads: false }),
                Step::Read(address, value) => all.push(Access { cpu, place, address, value, reads: true }),
                Step::Fence => {}
            }
        }
    }
    all
}

fn in_program_order(a: &Access, b: &Access) -> bool {
    a.cpu == b.cpu && a.place < b.place
}

/// Calls `fits` with every order of `rest` that keeps `before`, until one fits.
fn some_order(
    done: &mut Vec<Access>,
    rest: &[Access],
    before: &dyn Fn(&Access, &Access) -> bool,
    fits: &dyn Fn(&[Access]) -> bool,
) -> bool {
    if rest.is_empty() {
        return fits(done);
    }
    rest.iter().enumerate().any(|(i, next)| {
        if rest.iter().any(|other| other != next && before(other, next)) {
            return false;
        }
        let left: Vec<Access> = [&rest[..i], &rest[i + 1..]].concat();
        done.push(*next);
        let found = some_order(done, &left, before, fits);
        done.pop();
        found
    })
}

/// Whether every read returns the latest write before it; `early`: own writes count from the start.
fn reads_fit(order: &[Access], early: bool) -> bool {
    order.iter().enumerate().filter(|(_, read)| read.reads).all(|(at, read)| {
        let seen = |(i, write): &(usize, &Access)| {
            !write.reads
                && write.address == read.address
                && (*i < at || early && in_program_order(write, read))
        };
        let latest = order.iter().enumerate().rfind(seen);
        latest.map_or(0, |(_, write)| write.value) == read.value
    })
}

fn finals_fit(order: &[Access], finals: &[(usize, u8)]) -> bool {
    finals.iter().all(|&(address, value)| {
        let last = order.iter().rev().find(|write| !write.reads && write.address == address);
        last.map_or(0, |write| write.value) == value
    })
}

/// One order of everything.
fn by_one_order(test: &Litmus, model: Model) -> bool {
    let fenced = |a: &Access, b: &Access| {
        let between = &test.programs[a.cpu][a.place..b.place];
        between.contains(&Step::Fence)
    };
    let kept = |a: &Access, b: &Access| {
        in_program_order(a, b)
            && (model == Model::Sc
                || fenced(a, b)
                || a.reads
                || !b.reads && (model == Model::Tso || a.address == b.address))
    };
    let fits = |order: &[Access]| reads_fit(order, model != Model::Sc) && finals_fit(order, &test.finals);
    some_order(&mut Vec::new(), &accesses(test), &kept, &fits)
}

/// An order for each processor, which keeps `agreed`. Final values are those that the first processor sees.
fn by_views(test: &Litmus, agreed: &dyn Fn(&Access, &Access) -> bool) -> bool {
    (0..test.programs.len()).all(|cpu| {
        let seen: Vec<Access> =
            accesses(test).into_iter().filter(|access| access.cpu == cpu || !access.reads).collect();
        let before = |a: &Access, b: &Access| in_program_order(a, b) || agreed(a, b);
        let fits = |order: &[Access]| reads_fit(order, false) && (cpu > 0 || finals_fit(order, &test.finals));
        some_order(&mut Vec::new(), &seen, &before, &fits)
    })
}

fn permutations(of: &[Access]) -> Vec<Vec<Access>> {
    let Some((first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let put = |one: Vec<Access>| {
        (0..=one.len()).map(move |at| [&one[..at], &[*first], &one[at..]].concat()).collect::<Vec<_>>()
    };
    permutations(rest).into_iter().flat_map(put).collect()
}

/// Some order of the writes to each address for all views.
fn by_agreeing_views(test: &Litmus) -> bool {
    let writes: Vec<Access> = accesses(test).into_iter().filter(|access| !access.reads).collect();
    permutations(&writes).into_iter().any(|order| {
        let place = |access: &Access| order.iter().position(|other| other == access);
        let agreed =
            |a: &Access, b: &Access| !a.reads && !b.reads && a.address == b.address && place(a) < place(b);
        by_views(test, &agreed)
    })
}

fn by_addresses(test: &Litmus) -> bool {
    (0..test.addresses()).all(|address| {
        let own: Vec<Access> = accesses(test).into_iter().filter(|one| one.address == address).collect();
        let finals: Vec<(usize, u8)> = test.finals.iter().copied().filter(|(at, _)| *at == address).collect();
        let fits = |order: &[Access]| reads_fit(order, false) && finals_fit(order, &finals);
        some_order(&mut Vec::new(), &own, &in_program_order, &fits)
    })
}

fn allowed(test: &Litmus, model: Model) -> bool {
    match model {
        Model::Sc | Model::Tso | Model::Pso => by_one_order(test, model),
        Model::Pram => by_views(test, &|_, _| false),
        Model::Pc => by_agreeing_views(test),
        Model::Coherent => by_addresses(test),
    }
}

#[test]
fn the_axioms_say_what_the_table_says() {
    for test in litmus::tests() {
        for model in Model::ALL {
            let says = test.says(model);
            if says != Says::Nothing {
                assert_eq!(
                    says == Says::Allows,
                    allowed(&test, model),
                    "{} under {}",
                    test.name,
                    model.name()
                );
            }
        }
    }
}

#[test]
fn models_are_as_strong_as_they_are_said_to_be() {
    // What a model allows, a weaker one does too.
    for (strong, weak) in [
        (Model::Sc, Model::Tso),
        (Model::Tso, Model::Pso),
        (Model::Sc, Model::Pc),
        (Model::Pc, Model::Pram),
        (Model::Pc, Model::Coherent),
        (Model::Pso, Model::Coherent),
    ] {
        for test in litmus::tests().iter().filter(|test| !test.has_fences()) {
            assert!(!allowed(test, strong) || allowed(test, weak), "{}: {strong:?}, {weak:?}", test.name);
        }
    }
}
