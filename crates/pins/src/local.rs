//! The local next state: the values that a group reads are written into a state, the compiled machine takes
//! the group's steps from it, atomic sequences to their end, and the values that the group writes are read
//! from the outcomes.
//!
//! The rest of that state is as it happens to be, so a step must not look at it, and must not change it. That
//! it changes nothing else is verified for every step: an outcome that differs elsewhere is an error of the
//! facts, and ends the search without a verdict. That it looks at nothing else is verified by tests, which
//! take each step from two states that differ in all else ([`Pins::doubting`]).

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use jit::{Jit, OneProcess};
use machine::facts::partition::{Groundwork, Partition};
use machine::facts::slots::Slots;
use machine::facts::{Telling, telling};
use promela::ir::{Expr, Program};
use search::expand::{Expander, Expansion, Wanted};
use search::limits::Budget;
use search::{Checks, Limits, Silent, Task};
use stop::Stop;
use symbolic::{
    LocalFault, LocalGroup, LocalPredicate, LocalSteps, Move, Partitioned, Predicate, Slot, Unanswered,
};
use system::TransitionSystem;
use system::matrix::SlotId;

mod moves;
mod predicates;

use crate::groups::{Group, groups};
use crate::sample;
use crate::shapes::Shapes;
use crate::slot_part::{SlotPart, slot_parts};
use crate::values::{Content, Numbered, put, value};

/// Shapes beyond which a program is not for this engine.
pub const MOST_SHAPES: usize = 4096;

/// A program as a partitioned system.
pub struct Pins<'a> {
    jit: &'a Jit,
    stop: &'a Stop,
    groundwork: Groundwork<'a>,
    /// For each proctype the cells that keep their first value and say what its processes use.
    telling: Vec<Telling>,
    /// What may be asked of states.
    asked: Vec<(Predicate, &'a Expr)>,
    shapes: Shapes,
    slots: Vec<Slot>,
    /// For each slot what it is a slot of.
    parts: Vec<SlotPart>,
    contents: Vec<Content>,
    /// For each shape and slot its bytes.
    places: Vec<Vec<Option<jit::places::Bytes>>>,
    numbered: Vec<Numbered>,
    groups: Vec<Group>,
    local: Vec<LocalGroup>,
    predicates: Vec<LocalPredicate>,
    /// For each predicate the member that it is about.
    about: Vec<Option<usize>>,
    /// The shape for a group and the processes that exist of those whose locations it reads.
    hosts: HashMap<(usize, Vec<bool>), usize>,
    machine: &'a OneProcess<'a>,
    expander: Expander<'a>,
    expansion: Expansion,
    flag: &'a AtomicBool,
    state: Vec<u8>,
    compared: Vec<u8>,
    /// Steps are taken from two states.
    doubts: bool,
}

impl<'a> Pins<'a> {
    /// The partitioned system of a compiled program. `machine` is the machine that takes its steps one
    /// process at a time. An error says what makes the program unfit.
    pub fn new(
        jit: &'a Jit,
        machine: &'a OneProcess<'a>,
        propositions: &'a [Vec<Expr>],
        stop: &'a Stop,
    ) -> Result<Pins<'a>, String> {
        let program = jit.interp().program();
        let mut asked = Vec::new();
        for invariant in &program.invariants {
            asked.push((Predicate::Invariants, &invariant.expr));
        }
        let told = jit.capabilities().propositions;
        for (set, list) in propositions.iter().enumerate() {
            let failing = told.map_or(0, |told| told.may_fail(set));
            for (expr, number) in list.iter().zip(0..) {
                asked.push((Predicate::Proposition(set, number), expr));
                if failing >> number & 1 != 0 {
                    asked.push((Predicate::Fails(set, number), expr));
                }
            }
        }
        let mut pins = Pins {
            jit,
            stop,
            groundwork: Groundwork::new(program),
            telling: telling(program),
            asked,
            shapes: Shapes::default(),
            slots: Vec::new(),
            parts: Vec::new(),
            contents: Vec::new(),
            places: Vec::new(),
            numbered: Vec::new(),
            groups: Vec::new(),
            local: Vec::new(),
            predicates: Vec::new(),
            about: Vec::new(),
            hosts: HashMap::new(),
            machine,
            expander: Expander::new(machine, None),
            expansion: Expansion::default(),
            flag: stop.flag(),
            state: Vec::new(),
            compared: Vec::new(),
            doubts: false,
        };
        pins.begin()?;
        Ok(pins)
    }

    /// Every step is taken from two states that agree in what it reads, and the answers are compared.
    pub fn doubting(mut self) -> Self {
        self.doubts = true;
        self
    }

    fn begin(&mut self) -> Result<(), String> {
        let mut initial = Vec::new();
        if self.jit.initial(&mut initial).is_ok() {
            let mut proctypes = Vec::new();
            self.jit.proctypes(&initial, &mut proctypes);
            self.shapes.add(self.jit, &proctypes)?;
            sample::note_starts(self.jit, &mut self.shapes, &initial, 0, &self.telling);
            let program = self.jit.interp().program();
            if program.proctypes.iter().any(starts_processes) {
                sample::add_shapes(self.jit, &mut self.shapes, &initial, &self.telling)?;
            }
        }
        self.rebuild();
        Ok(())
    }

    /// Makes slots and groups for the shapes that are known.
    fn rebuild(&mut self) {
        let program = self.jit.interp().program();
        self.shapes.settle();
        let members = self.shapes.members();
        let exprs: Vec<&Expr> = self.asked.iter().map(|(_, expr)| *expr).collect();
        let mut partition = Partition::new(&self.groundwork, members, &exprs, self.stop);
        // Where control goes to others who start and end processes, one may take the place of another unseen.
        if partition.steps.iter().any(|step| step.starts.others) && self.shapes.forget_constants() {
            partition = Partition::new(&self.groundwork, self.shapes.members(), &exprs, self.stop);
        }
        self.name_slots(program, &partition.slots);
        self.place_slots(&partition.slots);
        self.groups = groups(program, &partition, &self.shapes);
        self.local = self.groups.iter().map(|group| group.local.clone()).collect();
        self.make_predicates(&partition);
        self.hosts.clear();
    }

    /// Slots, what is in them, and the values that were numbered before growth.
    fn name_slots(&mut self, program: &Program, slots: &Slots) {
        let n = slots.list.len();
        let hidden = machine::interp::layout::hidden_cells(program);
        let mut is_hidden = vec![false; n];
        slots.globals.iter().zip(hidden).for_each(|(slot, hidden)| is_hidden[slot.index()] |= hidden);
        let named = slots.list.iter().zip(is_hidden);
        self.slots = named.map(|(slot, hidden)| Slot { name: slot.name.clone(), hidden }).collect();
        self.contents = vec![Content::Data; n];
        slots.processes.iter().for_each(|slot| self.contents[slot.index()] = Content::Shape);
        let locations = slots.members.iter().map(|member| member.location);
        locations.for_each(|slot| self.contents[slot.index()] = Content::Location);
        let unknown = [slots.priorities, slots.trace].into_iter().flatten();
        unknown.for_each(|slot| self.contents[slot.index()] = Content::Nothing);
        let before = std::mem::replace(&mut self.parts, slot_parts(slots));
        let numbered = before.into_iter().zip(std::mem::take(&mut self.numbered));
        let mut numbered: HashMap<SlotPart, Numbered> = numbered.collect();
        self.numbered = self.parts.iter().map(|part| numbered.remove(part).unwrap_or_default()).collect();
    }

    /// The bytes of all slots in all shapes.
    fn place_slots(&mut self, slots: &Slots) {
        let n = slots.list.len();
        self.places.clear();
        for shape in &self.shapes.list {
            let mut at: Vec<Option<jit::places::Bytes>> = vec![None; n];
            let mut add = |slot: SlotId, bytes: &jit::places::Bytes| {
                let place = &mut at[slot.index()];
                // The cells of a slot follow each other.
                *place = Some(match place.take() {
                    Some(before) => before.start.min(bytes.start)..before.end.max(bytes.end),
                    None => bytes.clone(),
                });
            };
            let places = &shape.places;
            slots.globals.iter().zip(&places.globals).for_each(|(slot, bytes)| add(*slot, bytes));
            let channels = slots.channels.iter().zip(&places.channels);
            channels.for_each(|(slot, bytes)| slot.iter().for_each(|slot| add(*slot, bytes)));
            for (&member, process) in shape.members.iter().zip(&places.processes) {
                let own = &slots.members[member];
                add(own.location, &process.location);
                own.cells.iter().zip(&process.cells).for_each(|(slot, bytes)| add(*slot, bytes));
                let channels = own.channels.iter().zip(&places.channels[process.first_channel..]);
                channels.for_each(|(slot, bytes)| slot.iter().for_each(|slot| add(*slot, bytes)));
            }
            if let (Some(slot), Some(bytes)) = (slots.last, &places.last) {
                add(slot, bytes);
            }
            self.places.push(at);
        }
    }

    /// The shape of a state, if it has slots; one without is noted.
    fn shape_of(&mut self, state: &[u8]) -> Result<usize, Unanswered> {
        if let Some(number) = self.placed(state) {
            return Ok(number);
        }
        let mut proctypes = Vec::new();
        if !self.jit.proctypes(state, &mut proctypes) {
            return Err(Unanswered::Broken("a step led to bytes that are no state".to_string()));
        }
        self.add_shape(&proctypes)?;
        Err(Unanswered::Grown)
    }

    /// The shape of a state, if it has slots.
    fn placed(&self, state: &[u8]) -> Option<usize> {
        self.shapes.of_state(state).filter(|number| *number < self.places.len())
    }

    /// Adds a shape, unless there are too many.
    fn add_shape(&mut self, proctypes: &[u32]) -> Result<(), Unanswered> {
        self.shapes.add(self.jit, proctypes).map_err(Unanswered::Broken)?;
        match self.shapes.list.len() <= MOST_SHAPES {
            true => Ok(()),
            false => {
                let why = format!("processes come and go in more than {MOST_SHAPES} ways");
                Err(Unanswered::Unfit(why))
            }
        }
    }

    /// The shape of a state to which a step leads from a state with the shape `before`. What is believed of
    /// processes that are new there is compared with how they were started.
    fn shape_after(&mut self, state: &[u8], before: usize) -> Result<usize, Unanswered> {
        let placed = self.placed(state);
        if placed == Some(before) {
            return Ok(before);
        }
        let mut proctypes = Vec::new();
        self.jit.proctypes(state, &mut proctypes);
        let same = self.shapes.list[before].proctypes.iter().zip(&proctypes);
        let old = same.take_while(|(a, b)| a == b).count();
        if placed.is_none() {
            self.add_shape(&proctypes)?;
        }
        let refuted = sample::note_starts(self.jit, &mut self.shapes, state, old, &self.telling);
        match placed {
            Some(shape) if !refuted => Ok(shape),
            _ => Err(Unanswered::Grown),
        }
    }

    /// The value of a slot in a state.
    fn value_in(&mut self, state: &[u8], shape: usize, slot: usize) -> u32 {
        match (self.contents[slot], &self.places[shape][slot]) {
            (Content::Shape, _) => shape as u32,
            (content, Some(at)) => value(state, at, content, &mut self.numbered[slot]),
            (_, None) => 0,
        }
    }

    /// The shape in which steps of a group are taken whose reads have these values.
    fn host(&mut self, group: usize, reads: &[u32]) -> Result<usize, Unanswered> {
        let of = &self.groups[group];
        if let Some(at) = of.shape_at {
            return Ok(reads[at] as usize);
        }
        if of.others.is_empty() {
            return Ok(of.host);
        }
        let exist: Vec<bool> = of.others.iter().map(|other| reads[other.at] != 0).collect();
        let key = (group, exist);
        if let Some(&host) = self.hosts.get(&key) {
            return Ok(host);
        }
        let fits = |shape: &crate::shapes::Shape| {
            of.parts.iter().all(|member| shape.has(*member))
                && of.others.iter().zip(&key.1).all(|(other, &exists)| {
                    let has = shape.has(other.member);
                    has == exists || has && !other.is_location
                })
        };
        let found = self.shapes.list[..self.places.len()].iter().position(fits);
        let host = found.ok_or_else(|| Unanswered::Broken("no shape fits what a group reads".to_string()))?;
        self.hosts.insert(key, host);
        Ok(host)
    }

    /// Writes the values that are read into the state in which a step is taken.
    fn fill(&mut self, shape: usize, slots: &[u32], reads: &[u32], noise: bool) -> Result<(), Unanswered> {
        self.state.clear();
        self.state.extend_from_slice(&self.shapes.list[shape].places.blank);
        if noise {
            self.add_noise(shape);
        }
        for (&slot, &read) in slots.iter().zip(reads) {
            let slot = slot as usize;
            let fine = match (&self.places[shape][slot], self.contents[slot]) {
                (_, Content::Shape) => read as usize == shape,
                (Some(at), content) => put(&mut self.state, at, content, read, &self.numbered[slot]),
                (None, _) => read == 0,
            };
            if !fine {
                let why = format!("{} cannot be {read} where a step is taken", self.slots[slot].name);
                return Err(Unanswered::Broken(why));
            }
        }
        Ok(())
    }

    /// Other values for all that is not read: 1 in cells, short channels with one message, processes at their
    /// next location.
    fn add_noise(&mut self, shape: usize) {
        let program = self.jit.interp().program();
        for (&proctype, places) in
            self.shapes.list[shape].proctypes.iter().zip(&self.shapes.list[shape].places.processes)
        {
            if program.proctypes[proctype as usize].locations.len() > 1 {
                self.state[places.location.start] = 1;
            }
        }
        for slot in 0..self.slots.len() {
            if let Some(at) = &self.places[shape][slot]
                && self.contents[slot] == Content::Data
                && (1..=4).contains(&at.len())
            {
                self.state[at.start] = 1;
            }
        }
    }

    /// Takes the steps of a group from the state that was filled in.
    fn take(&mut self, group: usize) -> Result<(), Unanswered> {
        let task = Task {
            checks: Checks::NONE,
            all_errors: true,
            seed: None,
            limits: Limits::default(),
            stop: self.flag,
            reduce: None,
        };
        self.machine.select(self.local[group].process as usize);
        self.expansion.clear();
        let wanted = Wanted::Only(&self.local[group].actions);
        let mut silent = Silent;
        let mut budget = Budget::new(&task, &mut silent);
        self.expander
            .expand_wanted(&self.state, wanted, 0, &mut budget, &mut self.expansion)
            .map_err(Unanswered::Stop)
    }

    /// Reads what was written from the outcomes.
    fn read_steps(&mut self, group: usize, shape: usize, out: &mut LocalSteps) -> Result<(), Unanswered> {
        let expansion = std::mem::take(&mut self.expansion);
        let result = self.read_outcomes(&expansion, group, shape, out);
        self.expansion = expansion;
        result
    }

    fn read_outcomes(
        &mut self,
        expansion: &Expansion,
        group: usize,
        shape: usize,
        out: &mut LocalSteps,
    ) -> Result<(), Unanswered> {
        for edge in expansion.edges() {
            let state = expansion.state(edge);
            let after = self.shape_after(state, shape)?;
            for at in 0..self.local[group].writes.len() {
                let slot = self.local[group].writes[at] as usize;
                let value = self.value_in(state, after, slot);
                out.written.push(value);
            }
            out.n_steps += 1;
            self.verify(state, group, (shape, after))?;
        }
        let fault =
            |step: &search::expand::StepFault| LocalFault { fault: step.fault.clone(), cut: step.cut };
        out.faults.extend(expansion.faults.iter().map(fault));
        out.atomic_loop |= expansion.atomic_loop.is_some();
        out.enabled |= out.n_steps > 0 || !out.faults.is_empty() || out.atomic_loop;
        Ok(())
    }

    /// A step changes nothing but what its group writes.
    fn verify(
        &mut self,
        state: &[u8],
        group: usize,
        (before, after): (usize, usize),
    ) -> Result<(), Unanswered> {
        let writes = &self.local[group].writes;
        let same = if before == after {
            self.compared.clear();
            self.compared.extend_from_slice(state);
            for at in writes.iter().filter_map(|slot| self.places[before][*slot as usize].as_ref()) {
                self.compared[at.clone()].copy_from_slice(&self.state[at.clone()]);
            }
            self.compared == self.state
        } else {
            let here = std::mem::take(&mut self.state);
            let mut slots = 0..self.slots.len();
            let same = slots.all(|slot| {
                self.local[group].writes.binary_search(&(slot as u32)).is_ok()
                    || self.value_in(&here, before, slot) == self.value_in(state, after, slot)
            });
            self.state = here;
            same
        };
        match same {
            true => Ok(()),
            false => Err(Unanswered::Broken(format!(
                "a step of process {} changes what it should not",
                self.local[group].process
            ))),
        }
    }

    fn doubt(
        &mut self,
        group: usize,
        reads: &[u32],
        shape: usize,
        out: &LocalSteps,
    ) -> Result<(), Unanswered> {
        let slots = self.local[group].reads.clone();
        self.fill(shape, &slots, reads, true)?;
        self.take(group)?;
        let mut again = LocalSteps::default();
        self.read_steps(group, shape, &mut again)?;
        let width = self.local[group].writes.len().max(1);
        let sorted = |steps: &LocalSteps| {
            let mut list: Vec<Vec<u32>> = steps.written.chunks(width).map(<[u32]>::to_vec).collect();
            list.sort();
            list
        };
        if sorted(&again) != sorted(out) || again.n_steps != out.n_steps || again.enabled != out.enabled {
            let (process, list) = (self.local[group].process, &self.local[group].actions);
            let why = format!("a step of process {process} ({list:?}) looks at what it should not");
            return Err(Unanswered::Broken(why));
        }
        Ok(())
    }
}

fn starts_processes(proctype: &promela::ir::Proctype) -> bool {
    let mut starts = false;
    for edge in &proctype.edges {
        promela::ir::visit::walk_action(&edge.action, &mut |part| {
            starts |= matches!(part.kind, promela::ir::ExprKind::Run { .. });
        });
    }
    starts
}

impl Partitioned for Pins<'_> {
    fn slots(&self) -> &[Slot] {
        &self.slots
    }

    fn groups(&self) -> &[LocalGroup] {
        &self.local
    }

    fn predicates(&self) -> &[LocalPredicate] {
        &self.predicates
    }

    fn grow(&mut self) -> Vec<Option<u32>> {
        let before: HashMap<SlotPart, u32> = self.parts.iter().copied().zip(0..).collect();
        self.rebuild();
        self.parts.iter().map(|part| before.get(part).copied()).collect()
    }

    fn vector(&mut self, state: &[u8], out: &mut Vec<u32>) -> Result<(), Unanswered> {
        let shape = self.shape_of(state)?;
        for slot in 0..self.slots.len() {
            let value = self.value_in(state, shape, slot);
            out.push(value);
        }
        Ok(())
    }

    fn steps(&mut self, group: usize, reads: &[u32], out: &mut LocalSteps) -> Result<(), Unanswered> {
        let shape = self.host(group, reads)?;
        let slots = std::mem::take(&mut self.local[group].reads);
        let filled = self.fill(shape, &slots, reads, false);
        self.local[group].reads = slots;
        filled?;
        self.take(group)?;
        self.read_steps(group, shape, out)?;
        if self.doubts {
            self.doubt(group, reads, shape, out)?;
        }
        Ok(())
    }

    fn moves(&mut self, group: usize, reads: &[u32]) -> Result<Vec<Move>, Unanswered> {
        self.list_moves(group, reads)
    }

    fn holds(&mut self, predicate: usize, reads: &[u32]) -> Result<bool, Unanswered> {
        self.judge(predicate, reads)
    }
}
