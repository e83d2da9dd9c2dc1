//! The dataflow: batches between processes, and the end of all.
//!
//! There is one operator, `search`, whose output is its own input in the other processes. It is a bridge: what
//! a search hands over it sends, what comes waits until the search takes it. As long as this process has
//! something to do, or something waits here, it holds a *capability*, timely's permission to send. When it
//! has nothing, the capability is given back; when all were, and no batch is on its way, timely's tracking of
//! progress ends the dataflow everywhere.
//!
//! **Back-pressure.** Timely has none. Every batch tells its receiver how many bytes were taken of what that
//! one sent; where no batch goes that way, one without a parcel does. Who has sent [`BUDGET`] bytes that the
//! receiver has not taken is congested.

use crate::batch::{Batch, Own, Route};
use crate::link::Link;
use crate::supervise::Board;
use search::Snapshot;
use search::StopReason;
use search::distributed::{Doing, Exchange, Take, Turn};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use timely::WorkerConfig;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{Allocator, Hooks};
use timely::container::NoopBuilder;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::scheduling::Activator;
use timely::worker::Worker;

/// Bytes that one process may have sent to another that has not taken them.
pub(crate) const BUDGET: u64 = 4 << 20;
/// Bytes that are acknowledged together.
const ACKNOWLEDGED: u64 = BUDGET / 4;
/// Time for which one who has nothing to do waits for something to come, before it looks around.
const MOMENT: Duration = Duration::from_millis(10);

/// What the operator and the search share.
#[derive(Default)]
struct Bridge {
    /// What has come and was not taken.
    inbox: VecDeque<Batch>,
    outbox: Vec<Own>,
    capability: Option<Capability<u64>>,
    /// The search has something to do.
    busy: bool,
    /// For each process, bytes that were sent to it and that it has not taken.
    unacknowledged: Vec<u64>,
    /// For each process, bytes of it that were taken and not acknowledged.
    taken: Vec<u64>,
}

impl Bridge {
    fn arrived(&mut self, batch: Batch) {
        if let Some(unacknowledged) = self.unacknowledged.get_mut(batch.from()) {
            *unacknowledged = unacknowledged.saturating_sub(batch.taken());
        }
        if !batch.parcel().is_empty() {
            self.inbox.push_back(batch);
        }
    }

    /// Puts a parcel, or nothing but what is to be acknowledged, into the outbox.
    fn put(&mut self, (to, from): (usize, usize), parcel: Vec<u8>) {
        let taken = std::mem::take(&mut self.taken[to]);
        self.unacknowledged[to] += parcel.len() as u64;
        self.outbox.push(Own { to, from, taken, parcel });
    }

    fn is_needed(&self) -> bool {
        self.busy || !self.inbox.is_empty() || !self.outbox.is_empty()
    }
}

/// A process's end of the dataflow. It is to be dropped when the search is over everywhere: what is still on its
/// way to others goes with it.
pub struct Flow {
    rank: usize,
    size: usize,
    worker: Worker,
    bridge: Rc<RefCell<Bridge>>,
    activator: Activator,
    /// Whether the operator knows that the search has something to do.
    was_busy: bool,
    board: Arc<Board>,
    /// The last field: a thread that gives up before the worker is gone would take it along.
    _over: Over,
}

/// The search is over when it is dropped: nobody waits for what has ended.
struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Flow {
    /// Between processes that are connected, in the order of their ranks, and tell each other nothing else.
    pub fn over(sockets: Vec<Option<TcpStream>>, rank: usize) -> io::Result<Flow> {
        let board = Board::new(rank, sockets.len());
        Flow::new(sockets, rank, board)
    }

    /// Between processes that are connected, in the order of their ranks; there is no connection to oneself.
    pub(crate) fn new(sockets: Vec<Option<TcpStream>>, rank: usize, board: Arc<Board>) -> io::Result<Flow> {
        let (size, over) = (sockets.len(), Arc::new(AtomicBool::new(false)));
        let mut worker =
            Worker::new(WorkerConfig::default(), connected(sockets, rank, &over)?, Some(Instant::now()));
        let bridge =
            Bridge { busy: true, unacknowledged: vec![0; size], taken: vec![0; size], ..Bridge::default() };
        let bridge = Rc::new(RefCell::new(bridge));
        let activator = build(&mut worker, &bridge);
        Ok(Flow { rank, size, worker, bridge, activator, was_busy: true, board, _over: Over(over) })
    }
}

/// The network as timely sees it.
fn connected(sockets: Vec<Option<TcpStream>>, rank: usize, over: &Arc<AtomicBool>) -> io::Result<Allocator> {
    let link = |socket| Link::new(socket, Arc::clone(over));
    let links = sockets.into_iter().map(|socket| socket.map(link)).collect();
    let hooks = Hooks::default();
    let within = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
    let (mut builders, guard) = initialize_networking_from_sockets(within, links, rank, 1, hooks)?;
    // It would wait for threads that wait for what other processes may never send.
    std::mem::forget(guard);
    let builder = builders.pop().ok_or_else(|| io::Error::other("timely has no worker"))?;
    Ok(Allocator::Tcp(builder.build()))
}

/// Builds the dataflow.
fn build(worker: &mut Worker, bridge: &Rc<RefCell<Bridge>>) -> Activator {
    worker.dataflow::<u64, _, _>(|scope| {
        let (handle, stream) = scope.feedback::<Batch>(1);
        let mut activator = None;
        let looped = stream.unary_frontier::<NoopBuilder<Batch>, _, _, _>(
            DistributorPact(|_| Route),
            "search",
            |capability, info| {
                activator = Some(scope.activator_for(info.address));
                let bridge = Rc::clone(bridge);
                bridge.borrow_mut().capability = Some(capability);
                move |(input, _), output| {
                    let bridge = &mut *bridge.borrow_mut();
                    input.for_each(|time, batch| {
                        bridge.arrived(std::mem::take(batch));
                        if bridge.capability.is_none() && bridge.is_needed() {
                            bridge.capability = Some(time.retain(output.output_index()));
                        }
                    });
                    if let Some(capability) = &bridge.capability {
                        let mut session = output.session_with_builder(capability);
                        for own in bridge.outbox.drain(..) {
                            session.give_container(&mut Batch::Own(own));
                        }
                    }
                    if !bridge.is_needed() {
                        bridge.capability = None;
                    }
                }
            },
        );
        looped.connect_loop(handle);
        // The operator was built, and its builder was called.
        activator.unwrap_or_else(|| scope.activator_for(Vec::new().into()))
    })
}

impl Exchange for Flow {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, to: usize, parcel: Vec<u8>) {
        let mut bridge = self.bridge.borrow_mut();
        debug_assert!(bridge.capability.is_some(), "who has nothing to do sends nothing");
        bridge.put((to, self.rank), parcel);
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), StopReason> {
        loop {
            let Some(batch) = self.bridge.borrow_mut().inbox.pop_front() else { return Ok(()) };
            let (from, len) = (batch.from(), batch.parcel().len() as u64);
            // From now on there is something to do here, until the next turn says otherwise.
            let mut bridge = self.bridge.borrow_mut();
            bridge.busy = true;
            if let Some(taken) = bridge.taken.get_mut(from) {
                *taken += len;
            }
            drop(bridge);
            take(from, batch.parcel())?;
        }
    }

    fn is_congested(&self) -> bool {
        self.bridge.borrow().unacknowledged.iter().any(|&bytes| bytes > BUDGET)
    }

    fn turn(&mut self, doing: Doing) -> Turn {
        let busy = doing != Doing::Nothing;
        let mut bridge = self.bridge.borrow_mut();
        let least = if doing == Doing::Expanding { ACKNOWLEDGED } else { 1 };
        for to in 0..self.size {
            if bridge.taken[to] >= least {
                bridge.put((to, self.rank), Vec::new());
            }
        }
        bridge.busy = busy;
        if !bridge.outbox.is_empty() || bridge.capability.is_some() != busy || self.was_busy != busy {
            self.activator.activate();
        }
        self.was_busy = busy;
        drop(bridge);
        if !self.worker.step() {
            return Turn::Over;
        }
        if doing != Doing::Expanding && self.bridge.borrow().inbox.is_empty() {
            self.worker.step_or_park(Some(MOMENT));
            if !self.worker.step() {
                return Turn::Over;
            }
        }
        Turn::GoOn
    }

    fn tell(&mut self, own: &Snapshot) -> Snapshot {
        self.board.tell(own)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        for dataflow in self.worker.installed_dataflows() {
            self.worker.drop_dataflow(dataflow);
        }
    }
}
