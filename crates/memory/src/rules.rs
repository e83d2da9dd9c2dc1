//! The tests of ordering rules, as automata.
//!
//! Archtest streams increasing numbers through a memory and inspects what was read. A violation has a
//! threshold: somebody saw a value of at least m and then one below m. For a data independent system a value
//! can be replaced by "at least m or not", so that the stream of a writer becomes 0* 1*, the moment of the
//! step is a free choice, and the violation is "1, then 0". The automata stand for streams of any length.
//! Where two processors write one address, a threshold is meaningless: one write of each is marked (1 and 2),
//! all others are 0, and the order of the marks is looked at.
//!
//! Each automaton is a critical cycle (a litmus shape) whose writes are such steps, with noise everywhere:
//! unmarked writes before and after, reads by everybody at any time. The shapes are the field's; the automata
//! are ours, after the recipe of test model checking (Nalumasu, Ghughal, Mokkedem, Gopalakrishnan, CAV 1998).
//! A test is a necessary condition for its rules: that all pass proves no model.

use crate::words::{X, Y};

/// A test: what each processor does, and which observations must not meet.
#[derive(Clone, Debug)]
pub struct Test {
    /// As `--rule` names it.
    pub name: &'static str,
    /// The rules that cannot all hold where it fails.
    pub rules: &'static str,
    /// What must not happen, in words; `{P0}` and `{x}` are processors and addresses.
    pub forbidden: &'static str,
    /// Why the last observation of a violation is wrong, likewise; `{#P0 w x 1}` is the row in which P0 wrote
    /// 1 to x, `r` a read.
    pub reason: &'static str,
    /// Addresses that it uses.
    pub addresses: usize,
    /// What each processor does.
    pub clients: Vec<Client>,
    /// It is violated when all of these were observed.
    pub violation: Vec<Flag>,
}

/// What a processor does: it begins in phase 0.
#[derive(Clone, Debug)]
pub struct Client(pub Vec<Vec<Move>>);

/// An observation, by its number in the test.
pub type Flag = usize;

/// Something that a processor may do in a phase.
#[derive(Clone, Debug)]
pub struct Move {
    /// The operation.
    pub op: Op,
    /// The phase after it; `None` to stay.
    pub to: Option<usize>,
    /// What is noted of the value that a read returns: the first that fits.
    pub sees: Vec<Seen>,
}

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Write a value to an address.
    Write(usize, u8),
    /// Read an address.
    Read(usize),
    /// Wait until all own writes have taken place.
    Fence,
}

impl Op {
    /// The value that it writes.
    pub fn written(self) -> Option<u8> {
        match self {
            Op::Write(_, value) => Some(value),
            Op::Read(_) | Op::Fence => None,
        }
    }
}

/// What is noted of a value.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which values.
    pub value: Is,
    /// Only after this was observed.
    pub after: Option<Flag>,
    /// It is an observation.
    pub sets: Option<Flag>,
    /// The phase after it.
    pub to: Option<usize>,
}

/// A condition on a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    /// This value.
    Equal(u8),
    /// Another than these two.
    Neither(u8, u8),
}

fn write(address: usize, value: u8) -> Move {
    Move { op: Op::Write(address, value), to: None, sees: Vec::new() }
}

fn read(address: usize) -> Move {
    Move { op: Op::Read(address), to: None, sees: Vec::new() }
}

fn fence() -> Move {
    Move { op: Op::Fence, to: None, sees: Vec::new() }
}

impl Move {
    fn to(mut self, phase: usize) -> Self {
        self.to = Some(phase);
        self
    }

    fn sees(mut self, value: u8, sets: Flag) -> Self {
        self.sees.push(Seen { value: Is::Equal(value), after: None, sets: Some(sets), to: None });
        self
    }

    fn sees_after(mut self, first: Flag, value: u8, sets: Flag) -> Self {
        self.sees.push(Seen { value: Is::Equal(value), after: Some(first), sets: Some(sets), to: None });
        self
    }

    fn strays(mut self, from: (u8, u8), sets: Flag) -> Self {
        let value = Is::Neither(from.0, from.1);
        self.sees.push(Seen { value, after: None, sets: Some(sets), to: None });
        self
    }

    fn leads(mut self, value: u8, to: usize) -> Self {
        self.sees.push(Seen { value: Is::Equal(value), after: None, sets: None, to: Some(to) });
        self
    }
}

/// A writer whose address steps from 0 to 1.
fn stream(address: usize) -> Client {
    Client(vec![vec![write(address, 0), write(address, 1).to(1)], vec![write(address, 1)]])
}

/// All tests, in the order in which they are run.
pub fn tests() -> Vec<Test> {
    let mut all = single_address();
    all.extend(two_processors());
    all.extend(fences());
    all.extend(many_processors());
    all
}

/// The test of this name.
pub fn test(name: &str) -> Option<Test> {
    tests().into_iter().find(|test| test.name == name)
}

/// The names of all tests.
pub fn names() -> Vec<&'static str> {
    tests().iter().map(|test| test.name).collect()
}

fn single_address() -> Vec<Test> {
    let strays = || {
        let reads = [read(X).strays((0, 1), 0), read(Y).strays((0, 2), 0)];
        Client(vec![[write(X, 1), write(Y, 2)].into_iter().chain(reads).collect()])
    };
    let marked = |own: u8, other: u8, flag: Flag| {
        Client(vec![vec![write(X, 0), write(X, own).to(1)], vec![write(X, 0), read(X).sees(other, flag)]])
    };
    vec![
        Test {
            name: "cmp",
            rules: "CMP",
            forbidden: "a value is read that was never written to that address",
            reason: "nobody ever wrote this value there",
            addresses: 2,
            clients: vec![strays(), strays()],
            violation: vec![0],
        },
        Test {
            name: "upo",
            rules: "CMP and UPO",
            forbidden: "the only writer of {x} reads an older value than it wrote",
            reason: "old: {P0} alone writes {x}, and wrote 1 ({#P0 w x 1})",
            addresses: 1,
            clients: vec![
                Client(vec![
                    vec![write(X, 0), write(X, 1).to(1)],
                    vec![write(X, 1), read(X).strays((1, 1), 0)],
                ]),
                Client(vec![vec![]]),
            ],
            violation: vec![0],
        },
        Test {
            name: "upo2",
            rules: "CMP and UPO",
            forbidden: "{P1} overwrites the value of {x} that it has read, and reads it again",
            reason: "old: {P1} had overwritten ({#P1 w x 2}) this value, which {P0} wrote once ({#P0 w x 1})",
            addresses: 1,
            clients: vec![
                Client(vec![vec![write(X, 0), write(X, 1).to(1)], vec![write(X, 0)]]),
                Client(vec![
                    vec![write(X, 0), read(X).leads(1, 1)],
                    vec![write(X, 2).to(2)],
                    vec![write(X, 2), read(X).sees(1, 0)],
                ]),
            ],
            violation: vec![0],
        },
        Test {
            name: "rowo1",
            rules: "CMP, RO and WOS",
            forbidden: "{P1} reads the new {x}, then the old one",
            reason: "old: {P1} has read the new {x} ({#P1 r x 1})",
            addresses: 1,
            clients: vec![stream(X), Client(vec![vec![read(X).sees(1, 0).sees_after(0, 0, 1)]])],
            violation: vec![1],
        },
        Test {
            name: "con",
            rules: "CMP, UPO and CON",
            forbidden: "{P0} and {P1} each see the other's marked write of {x} after their own",
            reason: "{P0} has the writes of {x} in the order 1, 2 ({#P0 w x 1}, {#P0 r x 2}), {P1} in the order 2, 1 \
                     ({#P1 w x 2}, {#P1 r x 1})",
            addresses: 1,
            clients: vec![marked(1, 2, 0), marked(2, 1, 1)],
            violation: vec![0, 1],
        },
    ]
}

/// A reader that must not see the new y and then the old x.
fn message_reader() -> Client {
    Client(vec![vec![read(Y).sees(1, 0), read(X).sees_after(0, 0, 1)]])
}

fn two_processors() -> Vec<Test> {
    let buffering = |own, other, flag| {
        Client(vec![vec![write(own, 0), write(own, 1).to(1)], vec![write(own, 1), read(other).sees(0, flag)]])
    };
    let loading = |own, other, flag| {
        Client(vec![vec![write(own, 0), read(other).sees(1, flag), write(own, 1).to(1)], vec![write(own, 1)]])
    };
    let own_first = |own, other, seen, flag| {
        Client(vec![
            vec![write(own, 0), write(own, 1).to(1)],
            vec![write(own, 1), read(own).sees(1, seen), read(other).sees_after(seen, 0, flag)],
        ])
    };
    vec![
        Test {
            name: "rowo2",
            rules: "CMP, RO and WOS",
            forbidden: "{P1} reads the new {y}, then the old {x}, which {P0} wrote before",
            reason: "old: {P0} wrote {x} before {y} ({#P0 w x 1}, {#P0 w y 1})",
            addresses: 2,
            clients: vec![
                Client(vec![
                    vec![write(X, 0), write(Y, 0), write(X, 1).to(1)],
                    vec![write(X, 1), write(Y, 0), write(Y, 1).to(2)],
                    vec![write(X, 1), write(Y, 1)],
                ]),
                message_reader(),
            ],
            violation: vec![1],
        },
        Test {
            name: "pos",
            rules: "CMP and POS",
            forbidden: "{P0} still reads its own {x} after it saw what {P1} wrote before and after its {x}",
            reason: "old: {P1} wrote {x} := 2 ({#P1 w x 2}) between the values of {y} that {P0} saw after its own write \
                     ({#P0 r y 0}, {#P0 r y 2})",
            addresses: 2,
            clients: vec![
                Client(vec![
                    vec![write(X, 0), write(X, 1).to(1)],
                    vec![read(Y).sees(0, 0).sees_after(0, 2, 1), read(X).sees_after(1, 1, 2)],
                ]),
                Client(vec![
                    vec![write(X, 0), write(Y, 0), write(Y, 1).to(1)],
                    vec![write(Y, 1), write(X, 2), write(X, 2).to(2)],
                    vec![write(X, 2), write(Y, 2)],
                ]),
            ],
            violation: vec![2],
        },
        Test {
            name: "po_wr",
            rules: "CMP and PO",
            forbidden: "{P0} and {P1} each read the old value after their own new write",
            reason: "both are old: {P0} wrote {x} ({#P0 w x 1}) before it read {y} ({#P0 r y 0}), {P1} wrote {y} \
                     ({#P1 w y 1}) before it read {x} ({#P1 r x 0})",
            addresses: 2,
            clients: vec![buffering(X, Y, 0), buffering(Y, X, 1)],
            violation: vec![0, 1],
        },
        Test {
            name: "po_rw",
            rules: "CMP and PO",
            forbidden: "{P0} and {P1} each read the new value before their own new write",
            reason: "both are new: {P0} read {y} ({#P0 r y 1}) before it wrote {x}, {P1} read {x} ({#P1 r x 1}) before it \
                     wrote {y}",
            addresses: 2,
            clients: vec![loading(X, Y, 0), loading(Y, X, 1)],
            violation: vec![0, 1],
        },
        Test {
            name: "wa_self",
            rules: "CMP, RO and WA",
            forbidden: "{P0} and {P1} each read their own new write, then the old value of the other's",
            reason: "both are old: {P0} had seen its own {x} ({#P0 r x 1}) before it read {y} ({#P0 r y 0}), {P1} its own \
                     {y} ({#P1 r y 1}) before it read {x} ({#P1 r x 0})",
            addresses: 2,
            clients: vec![own_first(X, Y, 0, 1), own_first(Y, X, 2, 3)],
            violation: vec![1, 3],
        },
    ]
}

/// With a fence between the two accesses no model with fences may show what it shows without. Fences are in
/// no rule, so they have tests of their own.
fn fences() -> Vec<Test> {
    let buffering = |own, other, flag| {
        Client(vec![
            vec![write(own, 0), write(own, 1).to(1)],
            vec![write(own, 1), fence().to(2)],
            vec![write(own, 1), read(other).sees(0, flag)],
        ])
    };
    vec![
        Test {
            name: "fence_wr",
            rules: "CMP and order across a fence",
            forbidden: "{P0} and {P1} each read the old value behind a fence after their own new write",
            reason: "both are old: {P0} wrote {x} ({#P0 w x 1}) and passed a fence before it read {y} ({#P0 r y 0}), {P1} \
                     wrote {y} ({#P1 w y 1}) and passed a fence before it read {x} ({#P1 r x 0})",
            addresses: 2,
            clients: vec![buffering(X, Y, 0), buffering(Y, X, 1)],
            violation: vec![0, 1],
        },
        Test {
            name: "fence_ww",
            rules: "CMP, RO and order across a fence",
            forbidden: "{P1} reads the new {y}, then the old {x}, which {P0} wrote before, with a fence between them",
            reason: "old: {P0} wrote {x} before {y} ({#P0 w x 1}, {#P0 w y 1}), with a fence between them",
            addresses: 2,
            clients: vec![
                Client(vec![
                    vec![write(X, 0), write(Y, 0), write(X, 1).to(1)],
                    vec![write(X, 1), write(Y, 0), fence().to(2)],
                    vec![write(X, 1), write(Y, 0), write(Y, 1).to(3)],
                    vec![write(X, 1), write(Y, 1)],
                ]),
                message_reader(),
            ],
            violation: vec![1],
        },
    ]
}

fn many_processors() -> Vec<Test> {
    let disagree = |first, second, seen, flag| {
        Client(vec![vec![read(first).sees(1, seen), read(second).sees_after(seen, 0, flag)]])
    };
    let two_marks = |first, second| {
        let noise = || [write(X, 0), write(Y, 0)];
        Client(vec![
            noise().into_iter().chain([write(first, 1).to(1)]).collect(),
            noise().into_iter().chain([write(second, 2).to(2)]).collect(),
            noise().into(),
        ])
    };
    let backwards =
        |address, seen, flag| Client(vec![vec![read(address).sees(2, seen).sees_after(seen, 1, flag)]]);
    vec![
        Test {
            name: "causal",
            rules: "CMP, PO and WA",
            forbidden: "{P2} reads the new {y}, then the old {x}, which {P1} had read before it wrote {y}",
            reason: "old: {P1} had read the new {x} ({#P1 r x 1}) before it wrote {y} ({#P1 w y 1})",
            addresses: 2,
            clients: vec![
                stream(X),
                Client(vec![vec![write(Y, 0), read(X).leads(1, 1)], vec![write(Y, 1)]]),
                message_reader(),
            ],
            violation: vec![1],
        },
        Test {
            name: "wa",
            rules: "CMP, RO and WA",
            forbidden: "{P2} and {P3} see two writes in opposite orders",
            reason: "{P2} saw {x} before {y} ({#P2 r x 1}, {#P2 r y 0}), {P3} saw {y} before {x} ({#P3 r y 1}, {#P3 r x 0})",
            addresses: 2,
            clients: vec![stream(X), stream(Y), disagree(X, Y, 0, 1), disagree(Y, X, 2, 3)],
            violation: vec![1, 3],
        },
        Test {
            name: "con_wo",
            rules: "CMP, RO, WOS and CON",
            forbidden: "{P2} and {P3} see the writes of {P0} and {P1} to {x} and {y} in orders that no order of both allows",
            reason: "{x} was 2 before it was 1 ({#P2 r x 2}, {#P2 r x 1}), {y} too ({#P3 r y 2}, {#P3 r y 1}), but {P0} wrote \
                     {x} := 1 before {y} := 2, {P1} {y} := 1 before {x} := 2",
            addresses: 2,
            clients: vec![two_marks(X, Y), two_marks(Y, X), backwards(X, 0, 1), backwards(Y, 2, 3)],
            violation: vec![1, 3],
        },
    ]
}
