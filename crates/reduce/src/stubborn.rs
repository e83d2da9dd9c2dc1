//! Stubborn sets by closure, process by process.
//!
//! From A. Valmari (*Stubborn sets for reduced state space generation*, 1989) and P. Godefroid's persistent
//! sets (1996). A set of actions, enabled or not, is stubborn in a state when (1) it holds an enabled action,
//! (2) for an enabled action of it, every action in the whole program that is not independent of it is in the
//! set as well, and (3) for one that is not enabled, all actions of some set are, one of which must be taken
//! before it can become enabled. Whatever the others do, the enabled actions of the set stay enabled and can
//! be taken first.
//!
//! Here the set is built of *items*, a process and one of the edges where it is now; an item stands for all
//! actions in which that edge takes part, rendezvous with anybody included. An action that lies ahead of a
//! process is represented by the edges from which the process may get there. So:
//! - an item that is enabled draws in all edges of its process, both processes of a rendezvous, and every
//!   edge of another process ahead of which something is not independent of it; (actions aside that are never
//!   executable together with it, [`machine::facts::guard`]);
//! - an item that is not enabled draws in the edges ahead of which something may enable it: of a guard, those
//!   that may change one part of it that is false, the part for which the least is drawn in;
//! - the end of a process that has not the highest pid draws in the process that has.
//!
//! Every process that can move is tried as the beginning, and the set with the fewest enabled actions is
//! taken, one that stays within a process first. With [`Extent::OneProcess`] only these count: the ample sets
//! of Spin.
//!
//! What is found out for pairs of an edge and a location is kept in a table of fixed size. On request a
//! choice is tried only from time to time where it does not pay ([`Backoff`]).

use machine::action::Action;
use machine::look::{Glance, Look, Wanted};
use promela::ir::{Expr, ExprKind, Program, visit};
use system::{ActionId, Choice, Lean, ProcessOrder, Reducer, Reduction};

use machine::facts::{Analysis, Facts, Telling, telling};

use crate::backoff::Backoff;
use crate::edge_lean::EdgeLean;
use crate::instance::{Ground, Instances, MOST_EDGES};
use machine::facts::components::Components;
use machine::facts::guard::{Cells, Part};
use machine::facts::mark::{Mark, hand_over};
use machine::facts::visible::Watched;
use stop::Stop;

mod deletion;

/// How a set is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Building {
    /// From one process, by drawing in.
    #[default]
    Closure,
    /// From everything, by taking out ([`deletion`]).
    Deletion,
}

/// How far a set may extend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Over all actions of one process: ample sets.
    OneProcess,
    /// Over any processes.
    AnyProcesses,
}

/// Chooses stubborn sets for the states of a program.
pub struct Stubborn<'a> {
    ground: Ground<'a>,
    look: &'a dyn Look,
    /// Cells that tell processes apart, and the same with those that parts of guards read.
    telling: Wanted,
    wanted: Wanted,
    cells: Cells,
    extent: Extent,
    building: Building,
    only_where_it_pays: bool,
    closes_no_circle: bool,
    unnoticed: bool,
}

impl std::fmt::Debug for Stubborn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stubborn").field("extent", &self.extent).finish_non_exhaustive()
    }
}

impl<'a> Stubborn<'a> {
    /// Makes the reduction give up when `stop` says so.
    pub fn obeying(mut self, stop: &Stop) -> Self {
        self.ground.stop = stop.clone();
        self
    }

    /// For a program and the machine that executes it.
    pub fn new(program: &'a Program, look: &'a dyn Look, extent: Extent) -> Self {
        Stubborn::relying_on(program, look, extent, &[])
    }

    /// A reduction that relies on some of the program's promises ([`crate::promise`]).
    pub fn relying_on(program: &'a Program, look: &'a dyn Look, extent: Extent, promises: &[usize]) -> Self {
        let analysis = Analysis::relying_on(program, promises);
        let facts = Facts::new(program);
        let telling = telling(program);
        let ground = Ground {
            hand_over: hand_over(&analysis, &facts),
            analysis,
            components: program.proctypes.iter().map(Components::new).collect(),
            telling,
            watched: Watched::default(),
            stop: Stop::never(),
        };
        let cells = Cells::new(program, |p| ground.telling[p].cells.len());
        let both = |(p, telling): (usize, &Telling)| [&telling.cells[..], cells.of(p)].concat();
        let alone = ground.telling.iter().map(|telling| telling.cells.clone()).collect();
        let wanted = Wanted {
            globals: cells.globals().to_vec(),
            processes: ground.telling.iter().enumerate().map(both).collect(),
        };
        Stubborn {
            ground,
            look,
            telling: Wanted { globals: Vec::new(), processes: alone },
            wanted,
            cells,
            extent,
            building: Building::Closure,
            only_where_it_pays: false,
            closes_no_circle: false,
            unnoticed: false,
        }
    }

    /// Adapts the reduction to a property of whole runs, which does not notice what is put off: of a set with
    /// an action that it might notice nothing is left out (condition C2). What it cannot notice must be the
    /// same for it however often a state is repeated.
    pub fn unnoticed_by(mut self, watched: Watched) -> Self {
        self.ground.watched = watched;
        Stubborn { unnoticed: true, ..self }
    }

    /// Gives the reduction a proviso of its own, the *static* one: an action that may close a circle of
    /// locations is never chosen without all others, so every cycle of states has one that was expanded in
    /// full. A search needs no other proviso then, and what is chosen does not depend on the search.
    pub fn closing_no_circle(self) -> Self {
        Stubborn { closes_no_circle: true, ..self }
    }

    /// Builds sets in another way.
    pub fn built_by(self, building: Building) -> Self {
        Stubborn { building, ..self }
    }

    /// Whether facts alone show that nothing can be left out: all actions depend on each other, or there is
    /// nobody else.
    pub fn is_hopeless(&self) -> bool {
        let program = self.ground.analysis.program;
        self.depends_on_everything() || (program.active.len() <= 1 && !starts_processes(program))
    }

    /// Whether the program uses something by which all actions depend on each other.
    fn depends_on_everything(&self) -> bool {
        let uses = self.ground.analysis.program.uses;
        uses.priority || uses.last
    }

    /// Leaves states as they are where choosing does not pay.
    pub fn only_where_it_pays(self) -> Self {
        Stubborn { only_where_it_pays: true, ..self }
    }
}

impl Reduction for Stubborn<'_> {
    fn reducer(&self) -> Box<dyn Reducer + '_> {
        Box::new(Chooser {
            of: self,
            instances: Instances::new(&self.ground),
            glance: Glance::default(),
            here: Vec::new(),
            actions: Vec::new(),
            chosen: Vec::new(),
            open: Vec::new(),
            drawn: vec![Drawn { key: u64::MAX, mask: 0 }; TABLE],
            backoff: if self.only_where_it_pays { Backoff::default() } else { Backoff::endless() },
            work: 0,
            hopeless: self.depends_on_everything(),
        })
    }

    fn lean(&self, order: ProcessOrder) -> Option<Box<dyn Lean + '_>> {
        let hopeless = self.depends_on_everything();
        Some(Box::new(EdgeLean::new(&self.ground, self.look, &self.telling, order, hopeless)))
    }
}

/// Whether some statement starts a process.
fn starts_processes(program: &Program) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| found |= matches!(expr.kind, ExprKind::Run { .. });
    for proctype in &program.proctypes {
        proctype.edges.iter().for_each(|edge| visit::walk_action(&edge.action, &mut look));
    }
    found
}

/// A process in the state that is being reduced.
#[derive(Clone, Copy, Debug, Default)]
struct Here {
    instance: u32,
    /// Its location, among those of all instances.
    node: u32,
    /// All edges, as a mask over their places.
    full: u64,
    /// Those that take part in an enabled action.
    enabled: u64,
    /// How many enabled actions the process has, rendezvous counted for the sender.
    weight: u32,
    /// In the set that is being built: those that are in it, and those that have been looked at.
    inside: u64,
    done: u64,
}

/// An enabled action: one or two items.
#[derive(Clone, Copy, Debug)]
struct Enabled {
    pid: usize,
    place: u32,
    partner: Option<(usize, u32)>,
}

impl Enabled {
    /// The processes that take part, and the places of their edges.
    fn items(&self) -> impl Iterator<Item = (usize, u32)> {
        [Some((self.pid, self.place)), self.partner].into_iter().flatten()
    }
}

/// Why an edge draws in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// They are not independent of it.
    Conflicts,
    /// They may enable it.
    Enables,
    /// They may fill the channel that is empty.
    Fills,
    /// They may be its counterpart in a rendezvous.
    Partner,
    /// They may take the first message of the channel, which does not fit.
    Advances,
    /// They may change this part of its guard, which is false.
    Part(u8),
    /// They may fill the channel that has too few messages for this part of its guard.
    TooFew(u8),
    /// They may drain the channel that has too many messages for this part of its guard.
    TooMany(u8),
}

impl Why {
    fn number(self) -> u64 {
        match self {
            Why::Conflicts => 0,
            Why::Enables => 1,
            Why::Fills => 2,
            Why::Partner => 3,
            Why::Advances => 4,
            Why::Part(part) => 8 + u64::from(part),
            Why::TooFew(part) => 8 + 64 + u64::from(part),
            Why::TooMany(part) => 8 + 128 + u64::from(part),
        }
    }
}

/// Parts of a guard behind these are not looked at.
const MOST_PARTS: usize = 64;

/// Places in the table of what was found out: a power of two.
const TABLE: usize = 1 << 13;

/// Which edges of a location an edge draws in.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    key: u64,
    mask: u64,
}

/// Chooses for one thread.
struct Chooser<'a> {
    of: &'a Stubborn<'a>,
    instances: Instances<'a>,
    glance: Glance,
    here: Vec<Here>,
    actions: Vec<Enabled>,
    /// The best set so far: a mask for every process.
    chosen: Vec<u64>,
    /// Processes of which something is still to be looked at; some may be there more than once.
    open: Vec<usize>,
    drawn: Vec<Drawn>,
    backoff: Backoff,
    /// How many pairs of an edge and a process the choice has looked at.
    work: u32,
    /// The program uses something by which all actions depend on each other.
    hopeless: bool,
}

impl Chooser<'_> {
    /// Looks at a state and its enabled actions; `None` when it is not to be reduced.
    fn look(&mut self, state: &[u8], enabled: &[ActionId]) -> Option<()> {
        if self.hopeless || !self.of.look.look(state, &self.of.wanted, &mut self.glance) {
            return None;
        }
        self.here.clear();
        for pid in 0..self.glance.processes.len() {
            let (instance, node) = self.instances.of(&self.glance, pid);
            let n = self.instances.node(node).edges.len();
            // Edges of a location are bits of a word.
            if n > MOST_EDGES {
                return None;
            }
            let full = if n == MOST_EDGES { u64::MAX } else { (1 << n) - 1 };
            self.here.push(Here { instance, node, full, ..Here::default() });
        }
        self.actions.clear();
        for &id in enabled {
            let action = Action::unpack(id);
            let place = self.place(action.pid, action.edge?.0)?;
            let partner = match action.partner {
                Some((pid, edge)) => Some((pid, self.place(pid, edge.0)?)),
                None => None,
            };
            self.here[action.pid].enabled |= 1 << place;
            self.here[action.pid].weight += 1;
            if let Some((pid, place)) = partner {
                self.here[pid].enabled |= 1 << place;
            }
            self.actions.push(Enabled { pid: action.pid, place, partner });
        }
        Some(())
    }

    /// The place of an edge among those where a process is.
    #[inline]
    fn place(&self, pid: usize, edge: u32) -> Option<u32> {
        let here = self.here.get(pid)?;
        let edges = &self.instances.node(here.node).edges;
        edges.iter().position(|&id| id == edge).map(|place| place as u32)
    }

    #[inline]
    fn mark(&self, pid: usize, place: u32) -> &Mark {
        let here = &self.here[pid];
        let edge = self.instances.node(here.node).edges[place as usize];
        &self.instances.get(here.instance).marks[edge as usize]
    }

    /// Whether `timeout` may be true here: every action asks for it. One enabled action that does not is
    /// enabled without it, so `timeout` is false, and stays so as long as a chosen action is not taken.
    fn may_be_timeout(&self) -> bool {
        let asks = |action: &Enabled| action.items().any(|(pid, place)| self.mark(pid, place).timeout);
        self.of.ground.analysis.program.uses.timeout && self.actions.iter().all(asks)
    }

    /// The edges of process `pid` that the edge at `place` of process `of` draws in.
    #[inline]
    fn drawn(&mut self, of: usize, place: u32, why: Why, pid: usize) -> u64 {
        // Counted, not timed: the back-off must not depend on the machine.
        self.work += 1;
        let (from, to) = (&self.here[of], &self.here[pid]);
        // A node and a place are an edge.
        let key =
            u64::from(from.node) << 39 | u64::from(to.node) << 15 | u64::from(place) << 9 | why.number();
        // A direct-mapped cache: what collides is found again. It never grows, and an answer depends on the
        // nodes alone, so that entries stay true.
        let at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51) as usize % TABLE;
        if self.drawn[at].key == key {
            return self.drawn[at].mask;
        }
        let mask = self.find_drawn(of, place, why, pid);
        self.drawn[at] = Drawn { key, mask };
        mask
    }

    fn find_drawn(&mut self, of: usize, place: u32, why: Why, pid: usize) -> u64 {
        // Only of what is executable it is known that its needs are met.
        let needs = if why == Why::Conflicts { self.mark(of, place).needs } else { 0 };
        self.instances.prepare_ahead(self.here[pid].instance, needs);
        let mark = self.mark(of, place);
        let to = &self.here[pid];
        let other = self.instances.get(to.instance);
        let ahead = self.instances.ahead_of(to.instance, needs);
        let conflicts = match why {
            Why::Part(part) => &mark.parts[part as usize].changers,
            Why::TooFew(part) | Why::TooMany(part) => match &mark.parts[part as usize].length {
                Some(test) if matches!(why, Why::TooFew(_)) => &test.fills,
                Some(test) => &test.drains,
                None => return 0,
            },
            Why::Conflicts => &mark.conflicts,
            Why::Enables => &mark.enablers,
            Why::Fills | Why::Advances => match &mark.taking {
                Some(taking) if why == Why::Fills => &taking.while_empty,
                Some(taking) => &taking.while_filled,
                None => return 0,
            },
            Why::Partner => &mark.partners,
        };
        let mut mask = 0;
        for (i, &edge) in self.instances.node(to.node).edges.iter().enumerate() {
            let all = why == Why::Conflicts && other.ahead_everything[edge as usize];
            if all || conflicts.meets(&ahead[edge as usize]) {
                mask |= 1 << i;
            }
        }
        mask
    }

    /// Builds the set that begins with process `pid`, unless it has as many enabled actions as `bound`.
    fn close(&mut self, pid: usize, bound: u32, extent: Extent) -> Option<u32> {
        for here in &mut self.here {
            (here.inside, here.done) = (0, 0);
        }
        self.open.clear();
        let mut cost = 0;
        self.fill(pid, &mut cost);
        while let Some(&at) = self.open.last() {
            // A set that is not smaller than the best one so far is of no use, nor one that leaves its
            // process where that is asked for.
            if cost >= bound || extent == Extent::OneProcess && at != pid {
                return None;
            }
            let left = self.here[at].inside & !self.here[at].done;
            if left == 0 {
                self.open.pop();
                continue;
            }
            // Enabled ones first: they draw in the most.
            let enabled = left & self.here[at].enabled;
            let place = if enabled != 0 { enabled.trailing_zeros() } else { left.trailing_zeros() };
            self.here[at].done |= 1 << place;
            self.add_item(at, place, &mut cost)?;
        }
        (cost < bound).then_some(cost)
    }

    /// Draws in all edges of a process.
    fn fill(&mut self, pid: usize, cost: &mut u32) {
        let here = &mut self.here[pid];
        if here.inside != here.full {
            here.inside = here.full;
            *cost += here.weight;
            self.open.push(pid);
        }
    }

    /// Draws in some edges of a process; with an enabled one all.
    #[inline]
    fn draw(&mut self, pid: usize, mask: u64, cost: &mut u32) {
        let here = &mut self.here[pid];
        // Edges of one location disable each other, so that with an enabled one all are drawn in.
        if mask & here.enabled != 0 {
            self.fill(pid, cost);
        } else if mask & !here.inside != 0 {
            here.inside |= mask;
            self.open.push(pid);
        }
    }

    /// Whether an enabled item is never chosen without all others.
    fn is_alone(&self, pid: usize, place: u32) -> bool {
        let (of, mark) = (self.of, self.mark(pid, place));
        of.closes_no_circle && mark.sticky || of.unnoticed && self.instances.is_visible(mark)
    }

    /// Why a part of an item's guard is false, if it is.
    fn false_part(&self, pid: usize, place: u32, part: u8) -> Option<Why> {
        let Part { expr, length, .. } = self.mark(pid, place).parts.get(part as usize)?;
        let Some(test) = length else {
            return (self.of.cells.value(&self.glance, pid, expr) == Some(0)).then_some(Why::Part(part));
        };
        let &length = self.glance.lengths.get(test.number as usize)?;
        match () {
            () if length < test.range.least => Some(Why::TooFew(part)),
            () if length > test.range.most => Some(Why::TooMany(part)),
            () => None,
        }
    }

    /// How many parts of an item's guard can be looked at.
    fn n_parts(&self, pid: usize, place: u32) -> u8 {
        self.mark(pid, place).parts.len().min(MOST_PARTS) as u8
    }

    /// Why an item is not enabled of whose guard no part is known to be false.
    fn why_disabled(&self, pid: usize, place: u32) -> Why {
        let taking = self.mark(pid, place).taking.as_ref();
        match taking.and_then(|taking| self.glance.lengths.get(taking.number as usize)) {
            Some(0) => Why::Fills,
            Some(_) => Why::Advances,
            None => Why::Enables,
        }
    }

    /// The part of an item's guard, among those that are false, for which the least is drawn in.
    fn cheapest_part(&mut self, pid: usize, place: u32) -> Option<Why> {
        let mut best = None;
        for part in 0..self.n_parts(pid, place) {
            let Some(why) = self.false_part(pid, place, part) else { continue };
            let mut price = 0;
            for other in (0..self.here.len()).filter(|&other| other != pid) {
                let mask = self.drawn(pid, place, why, other);
                let here = &self.here[other];
                price += match mask & !here.inside {
                    0 => 0,
                    _ if mask & here.enabled != 0 => 2 + 4 * here.weight,
                    _ => 1,
                };
            }
            if best.is_none_or(|(least, _)| price < least) {
                best = Some((price, why));
            }
        }
        best.map(|(_, why)| why)
    }

    /// The edges of an item's own process by which it may come back and be enabled then.
    fn own_help(&mut self, pid: usize, place: u32, why: Why) -> u64 {
        let mark = self.mark(pid, place);
        let own = match why {
            Why::Part(part) => mark.parts[part as usize].own,
            // The number of the channel does not change.
            Why::Fills | Why::TooFew(_) | Why::TooMany(_) => false,
            _ => mark.own_guard,
        };
        let may_help = if own { u64::MAX } else { self.drawn(pid, place, why, pid) };
        self.instances.node(self.here[pid].node).returning & !(1 << place) & may_help
    }

    /// Draws in what an item asks for; `None` when that is everything.
    fn add_item(&mut self, pid: usize, place: u32, cost: &mut u32) -> Option<()> {
        let mark = self.mark(pid, place);
        if mark.everything {
            return None;
        }
        let rendezvous = !mark.partners.is_empty();
        let enabled = self.here[pid].enabled >> place & 1 != 0;
        if enabled && self.is_alone(pid, place) {
            return None;
        }
        let why = match enabled {
            true => Why::Conflicts,
            false => match self.disabled(pid, place, cost) {
                Some(why) => why,
                None => return Some(()),
            },
        };
        for other in 0..self.here.len() {
            if other == pid || self.here[other].inside == self.here[other].full {
                continue;
            }
            let mut mask = self.drawn(pid, place, why, other);
            if rendezvous {
                mask |= self.drawn(pid, place, Why::Partner, other);
            }
            self.draw(other, mask, cost);
        }
        // An action of two processes is chosen with both of its edges, and draws in both processes.
        if enabled && rendezvous {
            for i in 0..self.actions.len() {
                let Enabled { pid: sender, place: sending, partner } = self.actions[i];
                let Some((receiver, receiving)) = partner else { continue };
                if (sender, sending) == (pid, place) || (receiver, receiving) == (pid, place) {
                    self.fill(sender, cost);
                    self.fill(receiver, cost);
                }
            }
        }
        Some(())
    }

    /// What an item that is not enabled asks of its own process; says what it asks of the others, if
    /// anything.
    fn disabled(&mut self, pid: usize, place: u32, cost: &mut u32) -> Option<Why> {
        let last = self.here.len() - 1;
        let mark = self.mark(pid, place);
        if mark.ends && last != pid {
            // Whatever else happens, the process with the highest pid has to end first.
            let mask = self.drawn(pid, place, Why::Enables, last);
            self.draw(last, mask, cost);
            return None;
        }
        let why = match self.cheapest_part(pid, place) {
            Some(part) => part,
            None => self.why_disabled(pid, place),
        };
        if self.here[pid].inside != self.here[pid].full {
            let mask = self.own_help(pid, place, why);
            self.draw(pid, mask, cost);
        }
        Some(why)
    }

    /// Whether nothing that two actions access is the same, however they are ordered.
    fn are_independent(&self, first: &Enabled, second: &Enabled) -> bool {
        let apart = |(p, i): (usize, u32), (q, j): (usize, u32)| {
            p != q && !self.mark(p, i).conflicts_with(self.mark(q, j))
        };
        first.items().all(|one| second.items().all(|other| apart(one, other)))
    }

    /// Whether a property may notice an action.
    fn shows(&self, action: &Enabled) -> bool {
        action.items().any(|(pid, place)| self.instances.is_visible(self.mark(pid, place)))
    }

    /// The best set that begins with one of the processes. Of equally good ones, one that stays within a
    /// process is taken: what waits for others is better put off, since these may bring it back to where it
    /// was.
    fn best(&mut self, total: u32) -> bool {
        if self.of.building == Building::Deletion {
            let found = self.delete(total).is_some();
            self.chosen.clear();
            self.chosen.extend(self.here.iter().map(|here| here.inside));
            return found;
        }
        let extents = match self.of.extent {
            Extent::OneProcess => &[Extent::OneProcess][..],
            Extent::AnyProcesses => &[Extent::OneProcess, Extent::AnyProcesses],
        };
        let mut best = total;
        for &extent in extents {
            // One action is the least that a set can have.
            for pid in (0..self.here.len()).rev() {
                if best <= 1 {
                    return best < total;
                }
                if self.here[pid].enabled == 0 {
                    continue;
                }
                if let Some(cost) = self.close(pid, best, extent) {
                    best = cost;
                    self.chosen.clear();
                    self.chosen.extend(self.here.iter().map(|here| here.inside));
                }
            }
        }
        best < total
    }
}

impl Reducer for Chooser<'_> {
    fn choose_always(&mut self) {
        self.backoff = Backoff::endless();
    }

    fn in_vain(&mut self, left_out: u32) {
        self.backoff.in_vain(left_out);
    }

    fn choose(&mut self, state: &[u8], enabled: &[ActionId], chosen: &mut Vec<u32>) -> Choice {
        chosen.clear();
        if self.hopeless || !self.backoff.try_again() {
            return Choice::All;
        }
        self.work = 0;
        // `timeout` is enabled because nothing else is: it depends on every process, and nothing is left out.
        if self.look(state, enabled).is_none() || self.may_be_timeout() || !self.best(enabled.len() as u32) {
            self.backoff.tried(enabled.len(), enabled.len(), self.work);
            return Choice::All;
        }
        let inside = |pid: usize, place: u32| self.chosen[pid] >> place & 1 != 0;
        for (i, action) in self.actions.iter().enumerate() {
            if inside(action.pid, action.place)
                || action.partner.is_some_and(|(pid, place)| inside(pid, place))
            {
                chosen.push(i as u32);
            }
        }
        self.backoff.tried(enabled.len(), chosen.len(), self.work);
        Choice::Part
    }

    fn commute(&mut self, state: &[u8], a: ActionId, b: ActionId) -> bool {
        if self.look(state, &[a, b]).is_none() || self.may_be_timeout() {
            return false;
        }
        let [first, second] = &self.actions[..] else { return false };
        self.are_independent(first, second)
    }

    fn commuting(&mut self, state: &[u8], actions: &[ActionId], out: &mut Vec<bool>) {
        out.clear();
        out.resize(actions.len() * actions.len(), false);
        if self.look(state, actions).is_none() || self.may_be_timeout() {
            return;
        }
        let n = actions.len();
        for (i, one) in self.actions.iter().enumerate() {
            for (j, other) in self.actions[..i].iter().enumerate() {
                let independent = self.are_independent(one, other);
                (out[i * n + j], out[j * n + i]) = (independent, independent);
            }
        }
    }

    fn single(&mut self, state: &[u8], enabled: &[ActionId], turn: u32) -> Option<(u32, u32)> {
        if self.look(state, enabled).is_none() || self.may_be_timeout() {
            return None;
        }
        let first = self.here.len().min((turn as usize).saturating_add(1));
        for pid in (0..first).rev().filter(|&pid| self.here[pid].enabled != 0).collect::<Vec<_>>() {
            let takes_part = |action: &Enabled| {
                action.pid == pid || action.partner.is_some_and(|(partner, _)| partner == pid)
            };
            let mut own = (0..self.actions.len()).filter(|&at| takes_part(&self.actions[at]));
            let (Some(only), None) = (own.next(), own.next()) else { continue };
            if !self.shows(&self.actions[only]) && self.close(pid, 2, self.of.extent) == Some(1) {
                return Some((pid as u32, only as u32));
            }
        }
        None
    }

    fn visible(&mut self, state: &[u8], action: ActionId) -> bool {
        if self.look(state, &[action]).is_none() {
            return true;
        }
        self.actions.first().is_none_or(|action| self.shows(action))
    }
}
