//! The search as its host sees it: level after level, until there are no new states.
//!
//! The queue is a ring; as long as it has not come round, it has all states in the order in which they were
//! found, and with the number of the state before each, so that there is a way back.

use crate::device::{Device, DeviceError, read_words};
use crate::level::{BLOCK, COUNTERS, Counter, RECORDS, text};
use crate::table::{Table, quotient_buckets};
use kernel::{Kernel, Layout};

/// Nothing that is accessed at random may be larger: beyond, address translation is the limit.
const MOST_TABLE: u64 = 64 << 30;
/// States of one launch at most, so that wishes to stop are heard.
const CHUNK: u64 = 1 << 26;
/// A table is replaced by a larger one when so much of it is taken, in hundredths.
const FULL: u64 = 75;
/// Blocks for each multiprocessor.
const BLOCKS: u64 = 8;

/// What a search is asked.
pub struct Request<'a> {
    /// The model.
    pub layout: &'a Layout,
    /// Its code.
    pub kernel: &'a Kernel,
    /// The initial state, packed.
    pub initial: &'a [u64],
    /// Go on after an error.
    pub all_errors: bool,
    /// Whether deadlocks are errors.
    pub deadlocks: bool,
    /// Bytes of the device that may be used at most.
    pub memory: u64,
    /// Bytes that a first table may have; where they do not suffice, the search begins again with more.
    pub small: u64,
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Counts {
    /// Ordinary states.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Levels.
    pub levels: u64,
    /// Deadlocks.
    pub deadlocks: u64,
    /// Steps with errors.
    pub errors: u64,
    /// Bytes of the device in use.
    pub memory: u64,
    /// Seconds, without what is done before.
    pub seconds: f64,
}

impl Counts {
    /// Whether something was found.
    fn found(&self, request: &Request<'_>) -> bool {
        self.errors > 0 || self.deadlocks > 0 && request.deadlocks
    }
}

/// Why a search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All states were found.
    Complete,
    /// There was an error, and one was enough.
    Error,
    /// Whoever watches asked for it.
    Stopped,
    /// Something was not foreseen: what, and the state in which it happened.
    Missed(u32, Vec<u64>),
    /// A d_step does not end soon.
    Long,
    /// There is no more room.
    Full,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// Why it ended.
    pub ended: Ended,
    /// Numbers.
    pub counts: Counts,
    /// For states that show something, the packed states from the initial one to it; some of them, those
    /// that were found first among them. Nothing where the way back is lost.
    pub ways: Vec<Vec<Vec<u64>>>,
    /// Whether ways back are lost.
    pub lost: bool,
    /// Whether all states that show something are among the ways.
    pub all_told: bool,
}

/// Where things are on the device.
struct Place {
    table: Table,
    queue: u64,
    capacity: u64,
    parents: u64,
    at: u64,
    buckets: u64,
    bits: u32,
    counters: u64,
    records: u64,
    bytes: u64,
}

/// Ways that are told at most.
const MOST_WAYS: usize = 256;

/// The table that suits a layout: quotients where they fit.
pub fn table_for(layout: &Layout, memory: u64) -> Table {
    // Wider states would need more buckets than there is room for.
    match quotient_buckets(layout) {
        Some((least, _)) if 32 << least <= MOST_TABLE.min(memory / 2) => Table::Quotient,
        _ => Table::Arena,
    }
}

/// Searches. `watch` is told how far it is, and answers whether to go on.
pub fn search(
    device: &mut dyn Device,
    request: &Request<'_>,
    watch: &mut dyn FnMut(&Counts) -> bool,
) -> Result<Found, DeviceError> {
    let table = table_for(request.layout, request.memory);
    device.load(&text(request.layout, request.kernel, table))?;
    let mut budget = request.small.min(request.memory);
    loop {
        device.release();
        let place = match Place::new(device, request, table, budget) {
            Err(DeviceError::Memory) if budget < request.memory => {
                budget = (budget * 16).min(request.memory);
                continue;
            }
            place => place?,
        };
        let last = budget >= request.memory;
        let found = place.run(device, request, last, watch)?;
        if found.ended != Ended::Full || last {
            device.release();
            return Ok(found);
        }
        budget = (budget * 16).min(request.memory);
    }
}

impl Place {
    fn new(
        device: &mut dyn Device,
        request: &Request<'_>,
        table: Table,
        budget: u64,
    ) -> Result<Place, DeviceError> {
        let entry = 8 * request.layout.words.len() as u64 + 4;
        let (buckets, bits) = match table {
            Table::Quotient => {
                let (least, most) = quotient_buckets(request.layout).unwrap_or((1, 1));
                let wanted = (budget / 2).min(MOST_TABLE) / 32;
                let bits = wanted.max(1).ilog2().clamp(least, most);
                (1u64 << bits, bits)
            }
            Table::Arena => {
                // As many entries as states, and a third more.
                let states = budget / (entry + 11);
                ((states * 11 / 32).clamp(1, MOST_TABLE / 32), 0)
            }
        };
        let counted = 8 * (RECORDS + COUNTERS as u64);
        let rest = budget.saturating_sub(32 * buckets + counted);
        let capacity = (rest / entry).min(u64::from(u32::MAX) - 1);
        if capacity < 2 {
            return Err(DeviceError::Memory);
        }
        let words = entry - 4;
        Ok(Place {
            table,
            queue: device.allocate(capacity * words)?,
            capacity,
            parents: device.allocate(capacity * 4)?,
            at: device.allocate(32 * buckets)?,
            buckets,
            bits,
            counters: device.allocate(8 * COUNTERS as u64)?,
            records: device.allocate(8 * RECORDS)?,
            bytes: 32 * buckets + capacity * entry + counted,
        })
    }

    fn launch(
        &self,
        device: &mut dyn Device,
        (first, n, end): (u64, u64, u64),
        (room, seed): (u64, bool),
    ) -> Result<(), DeviceError> {
        let parameters = [
            self.queue,
            self.capacity,
            self.parents,
            first % self.capacity,
            end % self.capacity,
            n,
            first,
            self.at,
            self.buckets,
            u64::from(self.bits),
            self.counters,
            self.records,
            room,
            u64::from(seed),
        ];
        let blocks = n.div_ceil(u64::from(BLOCK)).clamp(1, u64::from(device.units()) * BLOCKS);
        device.launch(blocks as u32, &parameters)
    }

    fn run(
        &self,
        device: &mut dyn Device,
        request: &Request<'_>,
        last: bool,
        watch: &mut dyn FnMut(&Counts) -> bool,
    ) -> Result<Found, DeviceError> {
        device.zero(self.at, 32 * self.buckets)?;
        device.zero(self.counters, 8 * COUNTERS as u64)?;
        device.write(self.queue, request.initial)?;
        let started = std::time::Instant::now();
        self.launch(device, (0, 1, 0), (1, true))?;
        let (mut low, mut high) = (0, 1u64);
        // What the queue has held, with a level that was not finished.
        let mut reached = high;
        let mut counts = Counts { memory: self.bytes, ..Counts::default() };
        let mut ended = Ended::Complete;
        'levels: while low < high {
            device.zero(self.counters + 8 * Counter::Appended as u64, 8)?;
            let room = match self.table {
                Table::Quotient => self.capacity - (high - low),
                Table::Arena => self.capacity - high,
            };
            let mut next = low;
            let mut appended = 0;
            while next < high {
                let n = (high - next).min(CHUNK);
                self.launch(device, (next, n, high), (room, false))?;
                next += n;
                let now = read_words(device, self.counters, COUNTERS)?;
                let get = |counter: Counter| now[counter as usize];
                appended = get(Counter::Appended);
                reached = high + appended;
                counts.states = get(Counter::States);
                counts.steps = get(Counter::Steps);
                counts.deadlocks = get(Counter::Deadlocks);
                counts.errors = get(Counter::Errors);
                counts.seconds = started.elapsed().as_secs_f64();
                if get(Counter::Misses) > 0 {
                    let state = self.state(device, request, get(Counter::MissAt))?;
                    ended = Ended::Missed(get(Counter::Miss) as u32, state);
                    break 'levels;
                }
                if get(Counter::Full) > 0 || (high + appended) * 100 > 4 * self.buckets * FULL {
                    ended = Ended::Full;
                    break 'levels;
                }
                if get(Counter::Long) > 0 {
                    ended = Ended::Long;
                    break 'levels;
                }
                if !watch(&counts) {
                    ended = Ended::Stopped;
                    break 'levels;
                }
            }
            (low, high) = (high, high + appended);
            counts.levels += u64::from(low < high);
            if counts.found(request) && !request.all_errors {
                ended = Ended::Error;
                break;
            }
        }
        let mut found = Found { ended, counts, ways: Vec::new(), lost: false, all_told: true };
        // A search that begins again tells nothing.
        let again =
            matches!(found.ended, Ended::Missed(..) | Ended::Long) || found.ended == Ended::Full && !last;
        if !again {
            self.tell(device, request, reached, &mut found)?;
        }
        Ok(found)
    }

    /// The state with a number.
    fn state(
        &self,
        device: &mut dyn Device,
        request: &Request<'_>,
        number: u64,
    ) -> Result<Vec<u64>, DeviceError> {
        let words = request.layout.words.len();
        read_words(device, self.queue + number % self.capacity * 8 * words as u64, words)
    }

    /// The ways to states that show something.
    fn tell(
        &self,
        device: &mut dyn Device,
        request: &Request<'_>,
        reached: u64,
        found: &mut Found,
    ) -> Result<(), DeviceError> {
        let n = read_words(device, self.counters + 8 * Counter::Records as u64, 1)?[0];
        if n == 0 {
            return Ok(());
        }
        if reached > self.capacity {
            found.lost = true;
            return Ok(());
        }
        let records = read_words(device, self.records, n.min(RECORDS) as usize)?;
        found.all_told = n <= RECORDS && records.len() <= MOST_WAYS;
        let numbers = chosen(records);
        for number in numbers {
            let (mut way, mut at) = (Vec::new(), number);
            loop {
                way.push(self.state(device, request, at)?);
                if at == 0 {
                    break;
                }
                let mut parent = [0; 4];
                device.read(self.parents + 4 * at, &mut parent)?;
                at = u64::from(u32::from_le_bytes(parent));
            }
            way.reverse();
            found.ways.push(way);
        }
        Ok(())
    }
}

/// The numbers of the states whose ways are told: the first that show each kind of error.
fn chosen(records: Vec<u64>) -> Vec<u64> {
    let number = |record: u64| record << 4 >> 4;
    let mut chosen = Vec::new();
    for kind in 0..3 {
        let mut of: Vec<u64> =
            records.iter().filter(|&&record| record >> 60 & 1 << kind != 0).map(|&r| number(r)).collect();
        of.sort_unstable();
        of.truncate(if records.len() <= MOST_WAYS { MOST_WAYS } else { MOST_WAYS / 3 });
        chosen.extend(of);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
