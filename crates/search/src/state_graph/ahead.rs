//! Threads that expand states ahead of the one who numbers them.
//!
//! Numbers are given by one thread, in the order in which states were found, so that the graph does not
//! depend on how many threads there are. What costs most is done by the others: to expand states, to follow
//! atomic sequences, and to look at what was found. Batches go out in the order of the queue, and what comes
//! back is put into that order again.

use super::Lookers;
use super::batch::{Expanded, Hand, States};
use crate::halt::{Halt, obeying};
use crate::limits::Budget;
use crate::observer::Silent;
use crate::outcome::StopReason;
use crate::task::Task;
use crate::worker_pool::Alarm;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use system::TransitionSystem;

/// Batches under way for each thread: so many that none waits for the one who numbers.
const UNDER_WAY: usize = 4;
/// How long the one who numbers waits before it looks at the clock.
const PATIENCE: Duration = Duration::from_millis(20);

/// A batch, and its place in the order.
type Job = (u64, States);
/// What became of it; nothing from a thread that is lost.
type Done = Option<(u64, Result<Expanded, StopReason>)>;

/// What the helping threads share.
pub(super) struct Counter<'a> {
    system: &'a dyn TransitionSystem,
    lookers: &'a dyn Lookers,
    task: &'a Task<'a>,
    halt: &'a Halt,
    jobs: Mutex<Receiver<Job>>,
}

/// The end of the counter on which the one who numbers hands out batches and takes them back.
pub(super) struct Ahead {
    jobs: Sender<Job>,
    done: Receiver<Done>,
    /// The places of the batch that is handed out next, and of the one that is numbered next.
    next_out: u64,
    next_in: u64,
    most: u64,
    /// Batches that came back before their turn.
    early: BTreeMap<u64, Expanded>,
}

impl<'a> Counter<'a> {
    /// A counter for this number of threads, with the end of those who work there.
    pub fn new(
        (system, lookers): (&'a dyn TransitionSystem, &'a dyn Lookers),
        (task, halt): (&'a Task<'a>, &'a Halt),
        threads: usize,
    ) -> (Self, Sender<Done>, Ahead) {
        let ((jobs, taken), (told, done)) = (channel(), channel());
        let ahead = Ahead {
            jobs,
            done,
            next_out: 0,
            next_in: 0,
            most: (UNDER_WAY * threads) as u64,
            early: BTreeMap::new(),
        };
        (Counter { system, lookers, task, halt, jobs: Mutex::new(taken) }, told, ahead)
    }

    /// Expands what is handed out, until nothing more is.
    pub fn work(&self, told: &Sender<Done>) {
        // Nobody listens any more where the search has ended: then there is nothing to tell.
        let _alarm = Alarm(|| _ = told.send(None));
        let mut silent = Silent;
        let mut budget = Budget::new(self.task, &mut silent).halted_by(self.halt.flag());
        let mut hand = Hand::new(self.system, self.lookers);
        loop {
            let job = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((place, states)) = job else { return };
            let expanded = obeying(|| hand.expand(states, &mut budget));
            if told.send(Some((place, expanded))).is_err() {
                return;
            }
        }
    }
}

impl Ahead {
    /// Whether more batches should be handed out.
    pub fn has_room(&self) -> bool {
        self.next_out - self.next_in < self.most
    }

    /// Whether batches are under way.
    pub fn is_busy(&self) -> bool {
        self.next_out > self.next_in
    }

    /// Hands out a batch.
    pub fn hand_out(&mut self, states: States) -> Result<(), StopReason> {
        self.jobs.send((self.next_out, states)).map_err(|_| StopReason::Interrupted)?;
        self.next_out += 1;
        Ok(())
    }

    /// A batch behind all others that the one who numbers has expanded itself.
    pub fn put(&mut self, expanded: Expanded) {
        self.early.insert(self.next_out, expanded);
        self.next_out += 1;
    }

    /// The batch whose turn it is, if it is there.
    pub fn next(&mut self) -> Result<Option<Expanded>, StopReason> {
        while let Ok(done) = self.done.try_recv() {
            self.take(done)?;
        }
        let next = self.early.remove(&self.next_in);
        self.next_in += u64::from(next.is_some());
        Ok(next)
    }

    /// Waits a moment for a batch to come back.
    pub fn wait(&mut self) -> Result<(), StopReason> {
        match self.done.recv_timeout(PATIENCE) {
            Ok(done) => self.take(done),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(StopReason::Interrupted),
        }
    }

    fn take(&mut self, done: Done) -> Result<(), StopReason> {
        // The panic of a thread that is lost goes on when all are joined.
        let (place, expanded) = done.ok_or(StopReason::Interrupted)?;
        self.early.insert(place, expanded?);
        Ok(())
    }
}
