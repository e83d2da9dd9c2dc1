//! A program, packed: what was learned of it, the layout that follows, and the function. Where something is
//! met that was not foreseen, all of it is made again.

use std::collections::{HashSet, VecDeque};

use machine::Interp;
use machine::interp::anatomy::Anatomy;
use system::{Successors, SystemExt, TransitionSystem};

use crate::expand::Expander;
use crate::layout::Layout;
use crate::learn::{Learned, Part, Variables};
use crate::lower::{Kernel, MISS_COLUMN, lower};
use crate::refuse::{Refused, refuse};
use crate::sample::{self, Extent};

/// States of the sample that are tried in the evaluator, to find what only a d_step meets on its way.
const TRIED: usize = 300;
/// States behind one that are looked at when something was missed there.
const LOOKED_AT: usize = 5_000;

/// A packed program.
#[derive(Debug)]
pub struct Model<'a> {
    interp: &'a Interp,
    variables: Variables,
    learned: Learned,
    /// Where everything is.
    pub layout: Layout,
    /// What steps do.
    pub kernel: Kernel,
    /// How often it was made again.
    pub remade: u32,
}

impl<'a> Model<'a> {
    /// Learns from a sample of the states of a system; `apart` takes them apart, and `interp` executes the
    /// same program.
    pub fn new(
        interp: &'a Interp,
        system: &dyn TransitionSystem,
        apart: &dyn Fn(&[u8]) -> Option<Anatomy>,
        extent: Extent,
    ) -> Result<Model<'a>, Refused> {
        refuse(interp)?;
        let variables = Variables::new(interp.program());
        let mut learned = Learned::default();
        let sample = sample::learn(system, apart, &variables, (&mut learned, extent));
        learned.has_grown();
        let layout = Layout::new(interp.program(), &learned)?;
        let kernel = lower(interp, &layout)?;
        let mut model = Model { interp, variables, learned, layout, kernel, remade: 0 };
        let step = (sample.len() / TRIED).max(1);
        for state in sample.iter().step_by(step).filter_map(|state| apart(state)) {
            while let Some((miss, words)) = model.misses(&state) {
                model.missed(miss, &words)?;
            }
        }
        Ok(model)
    }

    /// What is missed when a state is expanded, and the state.
    fn misses(&self, state: &Anatomy) -> Option<(u32, Vec<u64>)> {
        let words = self.layout.pack(state).ok()?;
        let mut steps = Vec::new();
        Expander::new(&self.layout, &self.kernel).expand(&words, &mut steps);
        let missed = steps.iter().find(|step| step.miss != 0)?;
        Some((missed.miss, words))
    }

    /// The reference machine of the program.
    pub fn interp(&self) -> &'a Interp {
        self.interp
    }

    /// The initial state.
    pub fn initial(&self) -> Option<Vec<u64>> {
        let mut bytes = Vec::new();
        self.interp.initial(&mut bytes).ok()?;
        self.layout.pack(&self.interp.take_apart(&bytes)?).ok()
    }

    /// The bytes of a packed state, as the reference machine writes them.
    pub fn bytes(&self, words: &[u64]) -> Vec<u8> {
        self.interp.put_together(&self.layout.unpack(self.interp.program(), words))
    }

    /// Learns from a state in which something was not foreseen, and makes everything again.
    pub fn missed(&mut self, miss: u32, words: &[u64]) -> Result<(), Refused> {
        self.look_behind(&self.bytes(words));
        let column = miss.checked_sub(MISS_COLUMN).and_then(|at| self.layout.columns.get(at as usize));
        let part = column.map(|column| column.part);
        if !self.learned.has_grown() {
            self.learned.widen(
                part.ok_or(Refused::Language("processes that are started inside a d_step and die there"))?,
            );
            self.learned.has_grown();
        }
        if let Some(part) = part {
            let layout = &self.layout;
            self.learned.share(|other| is_like(layout, part, other));
        }
        self.remade += 1;
        self.layout = Layout::new(self.interp.program(), &self.learned)?;
        self.kernel = lower(self.interp, &self.layout)?;
        Ok(())
    }

    /// Learns from the states behind a state: those that it leads to, and those of atomic sequences.
    fn look_behind(&mut self, state: &[u8]) {
        let mut known = HashSet::from([state.to_vec()]);
        let mut queue = VecDeque::from([state.to_vec()]);
        let mut out = Successors::default();
        while let Some(state) = queue.pop_front().filter(|_| known.len() < LOOKED_AT) {
            out.clear();
            self.interp.expand(&state, &mut out);
            for outcome in &out.list {
                let Some(next) = out.state(outcome) else { continue };
                if let Some(anatomy) = self.interp.take_apart(next) {
                    self.learned.state(&self.variables, &anatomy);
                }
                if outcome.is_transient() && known.insert(next.to_vec()) {
                    queue.push_back(next.to_vec());
                }
            }
        }
    }
}

/// Whether two columns are the same thing of two processes or channels of one declaration.
fn is_like(layout: &Layout, part: Part, other: Part) -> bool {
    let same = |a: usize, b: usize| {
        let ty = |number: usize| layout.channels.get(number).map(|channel| channel.ty);
        ty(a) == ty(b)
    };
    match (part, other) {
        (Part::Local(_, proctype, column), Part::Local(_, of, at)) => (proctype, column) == (of, at),
        (Part::Length(channel), Part::Length(other)) => same(channel, other),
        (Part::Field(channel, field), Part::Field(other, at)) => field == at && same(channel, other),
        _ => false,
    }
}
