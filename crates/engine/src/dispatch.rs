//! Search × store × workers: the only place where the product exists. It adds no policy: what the plan and
//! the task say is done; which task that is decides [`crate::strategy`].

use crate::certificate::Recorder;
use crate::checkpoint::Keeper;
use crate::deferred_drop::DeferredDrop;
use crate::memory;
use crate::options::StoreKind;
use crate::plan::{Order, Plan};
use search::distributed::{Exchange, Part, explore};
use search::handoff::{Ring, handoff};
use search::pack::{NamedStates, States, WholeStates};
use search::queue::{Names, Queue, Whole};
use search::{
    Keeping, Levels, Observer, Outcome, Parallel, StopReason, Taking, Task, depth_first,
    depth_first_with_sleep, frontier_kept, parallel_kept,
};
use std::sync::atomic::AtomicBool;
use store::bitstate::DEFAULT_HASHES;
use store::{
    Automaton, Batched, Bitstate, Cache, Collapse, Evicting, Hand, HashCompaction, Recall, Roots,
    SharedBitstate, SharedCollapse, SharedHashCompaction, SharedTable, SharedTree, Table, Tree,
};
use system::TransitionSystem;
use system::portable::PortableError;

/// A search that is to be made.
#[derive(Clone, Copy)]
pub struct Exploration<'a> {
    /// Order, store and workers.
    pub plan: &'a Plan,
    /// Stores of earlier searches that are about to go.
    pub leaving: &'a DeferredDrop,
    /// What is searched.
    pub system: &'a dyn TransitionSystem,
    /// For what, how reduced, and how far.
    pub task: &'a Task<'a>,
    /// Who notes the states that are expanded.
    pub recorder: Option<&'a Recorder<'a>>,
    /// Who writes the search down; samples are not.
    pub keeper: Option<&'a Keeper<'a>>,
    /// What is written down of this search, from where it goes on, and on which disk it may wait.
    pub keeping: Keeping<'a>,
}

impl Exploration<'_> {
    fn limit(&self) -> u64 {
        self.plan.limits.memory.unwrap_or(u64::MAX)
    }

    /// Cuts keys into their components, for stores that keep these apart.
    fn cut(&self) -> impl Fn(&[u8], &mut Vec<usize>) + Sync {
        let components = self.system.capabilities().components;
        move |key, out| components.iter().for_each(|system| system.cuts(key, out))
    }

    /// The size of a bit array: what the process has without it counts against the limit, too.
    pub fn array(&self) -> u64 {
        memory::bit_array(self.limit(), self.plan.limits.account.used(0)).min(self.plan.bitstate_bytes)
    }

    /// By as many workers as the plan says.
    pub fn search(&self, observer: &mut dyn Observer) -> Outcome {
        if self.plan.threads == 1 { self.alone(observer) } else { self.together(observer) }
    }

    /// What an earlier search noted is forgotten.
    fn begin(&self) {
        self.recorder.iter().for_each(|recorder| recorder.begin());
    }

    /// By one worker over a table, whatever the store of the plan: the first states are found soonest where
    /// they are kept whole.
    pub fn sample(&self, observer: &mut dyn Observer) -> Outcome {
        self.begin();
        self.by_name(&mut Table::new(self.limit()), observer)
    }

    /// By one worker.
    pub fn alone(&self, observer: &mut dyn Observer) -> Outcome {
        self.begin();
        let limit = self.limit();
        if self.plan.needs_stack() {
            let mut store = Cache::new(self.plan.options.state_cache.unwrap_or(u64::MAX), limit);
            return match self.plan.options.sleep {
                true => depth_first_with_sleep(self.system, &mut store, self.task, observer),
                false => depth_first(self.system, &mut store, self.task, observer),
            };
        }
        match self.plan.store {
            StoreKind::Table => self.by_name_in(Table::new(limit), observer),
            StoreKind::Tree => self.by_name_in(Tree::new(Roots::Roomy, limit), observer),
            StoreKind::Cleary => self.by_name_in(Tree::new(Roots::Cleary, limit), observer),
            StoreKind::Collapse => {
                let cut = self.cut();
                self.whole(&mut Collapse::new(cut, limit), observer)
            }
            StoreKind::Automaton => self.whole(&mut Automaton::new(limit), observer),
            StoreKind::HashCompaction => self.whole(&mut HashCompaction::new(limit), observer),
            StoreKind::Bitstate => match Bitstate::new(self.array(), DEFAULT_HASHES) {
                Ok(store) => self.whole(&mut store.hashing_by(self.task.seed.unwrap_or(0)), observer),
                Err(store::Full) => no_array(),
            },
        }
    }

    /// The part of one process of several, by one worker, over a store that loses nothing.
    pub fn part(
        &self,
        observer: &mut dyn Observer,
        exchange: (&mut dyn Exchange, &AtomicBool),
    ) -> Result<Part, PortableError> {
        let limit = self.limit();
        match self.plan.store {
            StoreKind::Table => self.part_by_name(Table::new(limit), observer, exchange),
            StoreKind::Tree => self.part_by_name(Tree::new(Roots::Roomy, limit), observer, exchange),
            StoreKind::Cleary => self.part_by_name(Tree::new(Roots::Cleary, limit), observer, exchange),
            StoreKind::Collapse => {
                let cut = self.cut();
                self.part_whole(Collapse::new(cut, limit), observer, exchange)
            }
            StoreKind::Automaton => self.part_whole(Automaton::new(limit), observer, exchange),
            // Plans with a cluster have no lossy store.
            StoreKind::HashCompaction | StoreKind::Bitstate => Err(PortableError::Unsupported),
        }
    }

    fn part_by_name<S: Recall>(
        &self,
        mut store: S,
        observer: &mut dyn Observer,
        exchange: (&mut dyn Exchange, &AtomicBool),
    ) -> Result<Part, PortableError> {
        match self.system.hidden_bytes() {
            0 => explore(self.system, (&mut store, Names::default()), self.task, observer, exchange),
            _ => self.part_whole(store, observer, exchange),
        }
    }

    fn part_whole<S: Batched>(
        &self,
        mut store: S,
        observer: &mut dyn Observer,
        exchange: (&mut dyn Exchange, &AtomicBool),
    ) -> Result<Part, PortableError> {
        let queue = Whole::new(self.system.hidden_bytes(), self.task.is_lean());
        explore(self.system, (&mut store, queue), self.task, observer, exchange)
    }

    /// By several workers, over the stores that they can share.
    fn together(&self, observer: &mut dyn Observer) -> Outcome {
        self.begin();
        match self.plan.store {
            // Plans for it have one worker.
            StoreKind::Automaton => self.alone(observer),
            StoreKind::Table => {
                let table = SharedTable::new(self.limit());
                let outcome = self.share_by_name(&|| table.hand(), observer);
                self.leave(table, outcome)
            }
            StoreKind::Tree => self.share_tree(Roots::Roomy, observer),
            StoreKind::Cleary => self.share_tree(Roots::Cleary, observer),
            StoreKind::HashCompaction => {
                let set = SharedHashCompaction::new(self.limit());
                self.share::<_, WholeStates>(&|| set.hand(), observer)
            }
            StoreKind::Bitstate => match SharedBitstate::new(self.array(), DEFAULT_HASHES) {
                Ok(array) => self.share::<_, WholeStates>(&|| array.hand(), observer),
                Err(store::Full) => no_array(),
            },
            StoreKind::Collapse => {
                let cut = self.cut();
                let set = SharedCollapse::new(cut, self.limit());
                self.share::<_, WholeStates>(&|| set.hand(), observer)
            }
        }
    }

    /// Lets a store go of which the outcome is known. For want of memory, which may have been told like an
    /// interruption, it goes at once: then there is some for the report, which says how much there is.
    fn leave<T: Send + 'static>(&self, store: T, outcome: Outcome) -> Outcome {
        if !matches!(outcome.stop, StopReason::MemoryLimit | StopReason::Interrupted) {
            self.leaving.leave(store, outcome.statistics.state_bytes);
        }
        outcome
    }

    fn share_tree(&self, roots: Roots, observer: &mut dyn Observer) -> Outcome {
        let tree = SharedTree::new(roots, self.limit());
        let outcome = self.share_by_name(&|| tree.hand(), observer);
        self.leave(tree, outcome)
    }

    fn by_name_in<S: Recall + Evicting + Send + 'static>(
        &self,
        mut store: S,
        observer: &mut dyn Observer,
    ) -> Outcome {
        let outcome = self.by_name(&mut store, observer);
        self.leave(store, outcome)
    }

    /// States wait under their names, unless a part of them is not in the store.
    fn by_name<S: Recall + Evicting>(&self, store: &mut S, observer: &mut dyn Observer) -> Outcome {
        match self.system.hidden_bytes() {
            0 => self.run(store, Names::default(), observer),
            _ => self.whole(store, observer),
        }
    }

    /// States wait as they are.
    fn whole<S: Evicting>(&self, store: &mut S, observer: &mut dyn Observer) -> Outcome {
        self.run(store, Whole::new(self.system.hidden_bytes(), self.task.is_lean()), observer)
    }

    fn run<S: Evicting, Q: Queue<S>>(&self, store: &mut S, queue: Q, observer: &mut dyn Observer) -> Outcome {
        let Exploration { plan, system, task, .. } = *self;
        match plan.order {
            Order::DepthFirst | Order::Handoff => depth_first(system, store, task, observer),
            Order::BreadthFirst => {
                frontier_kept(system, store, queue, Levels::Steps, task, observer, self.keeping)
            }
            Order::Frontier => {
                frontier_kept(system, store, queue, Levels::Edges, task, observer, self.keeping)
            }
        }
    }

    /// Many workers: states wait under their names, unless a part of them is not in the store.
    fn share_by_name<H: Recall + Hand + Evicting>(
        &self,
        hand: &(impl Fn() -> H + Sync),
        observer: &mut dyn Observer,
    ) -> Outcome
    where
        H::Name: Send,
    {
        match self.system.hidden_bytes() {
            0 => self.share::<H, NamedStates<H::Name>>(hand, observer),
            _ => self.share::<H, WholeStates>(hand, observer),
        }
    }

    fn share<H: Hand + Evicting, P: States<H>>(
        &self,
        hand: &(impl Fn() -> H + Sync),
        observer: &mut dyn Observer,
    ) -> Outcome {
        let workers = usize::try_from(self.plan.threads).unwrap_or(usize::MAX);
        let taking = match self.plan.order {
            Order::Frontier => Taking::Oldest,
            Order::DepthFirst => Taking::Newest,
            Order::BreadthFirst => Taking::Levels,
            Order::Handoff => {
                let ring = Ring { system: self.system, workers, depth: self.plan.options.handoff };
                return handoff(ring, hand, self.task, observer);
            }
        };
        let search = Parallel { system: self.system, taking, workers, alone: self.plan.options.alone };
        parallel_kept::<H, P>(search, hand, self.task, observer, self.keeping)
    }
}

/// Of a search in a bit array for which there is no memory: nothing was found, and nothing omitted.
pub(crate) fn no_array() -> Outcome {
    let mut outcome = Outcome::nothing(StopReason::MemoryLimit);
    outcome.statistics.omission = Some(0.0);
    outcome
}
