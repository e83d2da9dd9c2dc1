//! Where everything is in a packed state: columns of fields, each as wide as the values that were learned ask
//! for, in words of 64 bits. No field straddles a word. A value that has always been the same takes no bits.
//!
//! What does not exist (the variables of a process that is not there, messages behind the last) is 0 in all
//! its bits, so that equal states are equal words. One bit of the first word is never used.

use std::collections::BTreeMap;

use machine::interp::anatomy::{Anatomy, Body, Queue};
use promela::ir::{Action, Base, ChanTypeId, InitStep, LocId, Place, ProctypeId, Program, RecvArg};

use crate::columns::Spot;
use crate::learn::{Learned, Part, Variables, channels_of, own_channels};
use crate::refuse::Refused;

/// Words of a state at most.
pub const MOST_WORDS: usize = 24;

/// A column: `n` fields of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// What it is.
    pub part: Part,
    /// The value of which all bits are 0.
    pub base: i32,
    /// Bits of a field, at most 32; none where the value is always [`Column::base`].
    pub bits: u32,
    /// Fields.
    pub n: u32,
    /// The word of the first.
    pub word: u32,
    /// Where it begins there; 0 if there are more words.
    pub shift: u32,
    /// Fields of a word.
    pub per_word: u32,
}

impl Column {
    /// A field's bits, as a number.
    pub fn mask(&self) -> u32 {
        if self.bits >= 32 { u32::MAX } else { (1 << self.bits) - 1 }
    }

    /// Whether the fields are in more than one word.
    pub fn is_wide(&self) -> bool {
        self.n > self.per_word
    }

    /// Word and bit of a field.
    pub fn at(&self, index: u32) -> (usize, u32) {
        ((self.word + index / self.per_word) as usize, self.shift + index % self.per_word * self.bits)
    }

    /// The value of a field.
    pub fn load(&self, words: &[u64], index: u32) -> i32 {
        if self.bits == 0 {
            return self.base;
        }
        let (word, shift) = self.at(index);
        self.base.wrapping_add(((words[word] >> shift) as u32 & self.mask()) as i32)
    }

    /// Stores a value; false when it does not fit.
    pub fn store(&self, words: &mut [u64], index: u32, value: i32) -> bool {
        let raw = value.wrapping_sub(self.base) as u32;
        if raw > self.mask() || index >= self.n {
            return false;
        }
        if self.bits > 0 {
            let (word, shift) = self.at(index);
            words[word] = words[word] & !(u64::from(self.mask()) << shift) | u64::from(raw) << shift;
        }
        true
    }
}

/// A proctype that a pid can have.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Which.
    pub proctype: ProctypeId,
    /// The number in the state of the first of its locations.
    pub first_code: u32,
    /// Its locations, numbered from there.
    pub locations: Vec<LocId>,
    /// The first of its columns.
    pub first_column: usize,
}

/// A pid.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The column of where it is: 0 when there is no process.
    pub location: usize,
    /// The proctypes that its processes can have.
    pub kinds: Vec<Kind>,
    /// Its channels are these.
    pub channels: std::ops::Range<usize>,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its declaration.
    pub ty: ChanTypeId,
    /// The process that it dies with.
    pub owner: Option<usize>,
    /// The column of its length; a rendezvous channel has none.
    pub length: Option<usize>,
    /// The column of its first field.
    pub fields: usize,
    /// The messages that there is room for.
    pub room: u32,
}

/// A layout.
#[derive(Clone, Debug)]
pub struct Layout {
    /// All columns.
    pub columns: Vec<Column>,
    /// The first columns are the globals'.
    pub slots: Vec<Slot>,
    /// In order of their numbers.
    pub channels: Vec<Channel>,
    /// The column that says who has control.
    pub control: usize,
    /// How many bits of each word are used.
    pub words: Vec<u32>,
    /// The columns of variables.
    pub variables: Variables,
    /// Arrays of the globals that are never written: they have no place in the state.
    pub frozen: BTreeMap<usize, Vec<i32>>,
}

/// Columns that have no place yet.
struct Making<'a> {
    learned: &'a Learned,
    columns: Vec<Column>,
}

impl Making<'_> {
    fn add(&mut self, part: Part, n: u32, (min, max): (i32, i32)) -> usize {
        let bits_of = |span: i64| 64 - (span as u64).leading_zeros();
        let narrow = bits_of(i64::from(max) - i64::from(min));
        // Where that is no wider, fields are what they say.
        let base = if min >= 0 && narrow > 0 && bits_of(i64::from(max)) == narrow { 0 } else { min };
        let per_word = (63 / narrow.max(1)).max(1);
        self.columns.push(Column { part, base, bits: narrow, n, word: 0, shift: 0, per_word });
        self.columns.len() - 1
    }

    fn learned(&mut self, part: Part, n: u32) -> usize {
        let range = self.learned.ranges.get(&part).copied().unwrap_or((0, 0));
        self.add(part, n, range)
    }
}

impl Layout {
    /// The layout that suits what was learned.
    pub fn new(program: &Program, learned: &Learned) -> Result<Layout, Refused> {
        let variables = Variables::new(program);
        let mut making = Making { learned, columns: Vec::new() };
        let frozen = frozen(program, &variables, learned);
        for (column, &n) in variables.globals.sizes.iter().enumerate() {
            match frozen.get(&column) {
                Some(values) => making.add(Part::Global(column as u32), n, (values[0], values[0])),
                None => making.learned(Part::Global(column as u32), n),
            };
        }
        let atomic = program.proctypes.iter().any(|p| p.edges.iter().any(|edge| edge.atomic));
        let most = if atomic { learned.slots.len() as i32 } else { 0 };
        let control = making.add(Part::Control, 1, (0, most));
        let mut channels: Vec<Channel> =
            channels_of(&program.init).into_iter().map(|ty| channel(ty, None)).collect();
        let mut slots = Vec::new();
        for (pid, proctypes) in learned.slots.iter().enumerate() {
            let slot = slot(program, &variables, &mut making, pid, proctypes.iter().copied())?;
            let mut own = slot.kinds.iter().map(|kind| own_channels(program, kind.proctype));
            let first = own.next().unwrap_or_default();
            if own.any(|other| other != first) {
                return Err(Refused::Pid { pid, why: "are of proctypes that create different channels" });
            }
            let range = channels.len()..channels.len() + first.len();
            channels.extend(first.into_iter().map(|ty| channel(ty, Some(pid))));
            slots.push(Slot { channels: range, ..slot });
        }
        for (number, channel) in channels.iter_mut().enumerate() {
            let ty = &program.chan_types[channel.ty.index()];
            if ty.capacity == 0 {
                continue;
            }
            let most = learned.ranges.get(&Part::Length(number)).map_or(0, |range| range.1);
            channel.room = (most as u32).min(ty.capacity);
            let range = (0, channel.room as i32);
            channel.length = Some(making.add(Part::Length(number), 1, range));
            channel.fields = making.columns.len();
            for field in 0..ty.fields.len() {
                making.learned(Part::Field(number, field), channel.room);
            }
        }
        let mut columns = making.columns;
        let words = place(&mut columns)?;
        Ok(Layout { columns, slots, channels, control, words, variables, frozen })
    }

    /// Bits of a state.
    pub fn bits(&self) -> u32 {
        self.words.iter().sum()
    }

    /// The column of a global cell, and its place there.
    pub fn global(&self, cell: u32) -> (usize, u32) {
        let Spot { column, index } = self.variables.globals.cells[cell as usize];
        (column as usize, index)
    }

    /// The column of a local cell of a kind of process, and its place there.
    pub fn local(&self, kind: &Kind, cell: u32) -> (usize, u32) {
        let Spot { column, index } = self.variables.locals[kind.proctype.index()].cells[cell as usize];
        (kind.first_column + column as usize, index)
    }

    /// Packs a state; the error is a part that does not fit, if it is the value of one.
    pub fn pack(&self, state: &Anatomy) -> Result<Vec<u64>, Option<Part>> {
        let mut words = vec![0; self.words.len()];
        let mut put = |column: usize, index: u32, value: i32| {
            let column: &Column = &self.columns[column];
            if column.store(&mut words, index, value) { Ok(()) } else { Err(Some(column.part)) }
        };
        put(self.control, 0, state.control.map_or(0, |pid| i32::from(pid) + 1))?;
        for (cell, &value) in state.globals.iter().enumerate() {
            let (column, index) = self.global(cell as u32);
            if !self.frozen.contains_key(&column) {
                put(column, index, value)?;
            }
        }
        for (pid, body) in state.processes.iter().enumerate() {
            let slot = self.slots.get(pid).ok_or(None)?;
            let kind = slot.kinds.iter().find(|kind| kind.proctype == body.proctype).ok_or(None)?;
            put(slot.location, 0, kind.code(body.location).ok_or(None)? as i32)?;
            for (cell, &value) in body.cells.iter().enumerate() {
                let (column, index) = self.local(kind, cell as u32);
                put(column, index, value)?;
            }
        }
        for (number, queue) in state.channels.iter().enumerate() {
            let channel = self.channels.get(number).ok_or(None)?;
            let Some(length) = channel.length else { continue };
            put(length, 0, queue.messages.len() as i32)?;
            for (index, message) in queue.messages.iter().enumerate() {
                for (field, &value) in message.iter().enumerate() {
                    put(channel.fields + field, index as u32, value)?;
                }
            }
        }
        Ok(words)
    }

    /// The state that was packed.
    pub fn unpack(&self, program: &Program, words: &[u64]) -> Anatomy {
        let get = |column: usize, index: u32| self.columns[column].load(words, index);
        let globals = (0..program.n_global_cells).map(|cell| {
            let (column, index) = self.global(cell);
            self.frozen.get(&column).map_or_else(|| get(column, index), |values| values[index as usize])
        });
        let mut state = Anatomy {
            globals: globals.collect(),
            processes: Vec::new(),
            channels: Vec::new(),
            last: 0,
            trace: None,
            control: u8::try_from(get(self.control, 0) - 1).ok(),
        };
        for slot in &self.slots {
            let code = get(slot.location, 0) as u32;
            let Some(kind) = slot.kinds.iter().rfind(|kind| code != 0 && kind.first_code <= code) else {
                break;
            };
            let n_cells = program.proctype(kind.proctype).n_cells;
            let cells = (0..n_cells).map(|cell| {
                let (column, index) = self.local(kind, cell);
                get(column, index)
            });
            let location = kind.locations[(code - kind.first_code) as usize];
            state.processes.push(Body {
                proctype: kind.proctype,
                location,
                priority: 1,
                cells: cells.collect(),
                first_channel: slot.channels.start,
            });
        }
        for channel in &self.channels {
            if channel.owner.is_some_and(|pid| pid >= state.processes.len()) {
                break;
            }
            let n_fields = program.chan_types[channel.ty.index()].fields.len();
            let message = |index| (0..n_fields).map(|field| get(channel.fields + field, index)).collect();
            let length = channel.length.map_or(0, |column| get(column, 0) as u32);
            state.channels.push(Queue { ty: channel.ty, messages: (0..length).map(message).collect() });
        }
        state
    }
}

/// The columns of the globals that have several fields, none of which is ever written, and their values.
fn frozen(program: &Program, variables: &Variables, learned: &Learned) -> BTreeMap<usize, Vec<i32>> {
    let columns = &variables.globals;
    let mut written = vec![false; columns.sizes.len()];
    let mut write = |place: &Place| {
        if place.base == Base::Global {
            written[columns.cells[place.cell as usize].column as usize] = true;
        }
    };
    for proctype in &program.proctypes {
        for step in &proctype.init {
            match step {
                InitStep::Assign(place, _) | InitStep::NewChan(place, _) => write(place),
            }
        }
        for edge in &proctype.edges {
            match &edge.action {
                Action::Assign(place, _) | Action::Lock(place) | Action::Unlock(place) => write(place),
                Action::Receive { args, .. } => args.iter().for_each(|arg| {
                    if let RecvArg::Store(place) = arg {
                        write(place);
                    }
                }),
                _ => {}
            }
        }
    }
    let mut values: BTreeMap<usize, Vec<i32>> = BTreeMap::new();
    for (spot, &value) in columns.cells.iter().zip(&learned.first) {
        let column = spot.column as usize;
        if !written[column] && columns.sizes[column] > 1 {
            values.entry(column).or_default().push(value);
        }
    }
    values.retain(|&column, values| values.len() == columns.sizes[column] as usize);
    values
}

impl Kind {
    /// The number of a location in a state.
    pub fn code(&self, location: LocId) -> Option<u32> {
        self.locations.binary_search(&location).ok().map(|at| self.first_code + at as u32)
    }
}

fn channel(ty: ChanTypeId, owner: Option<usize>) -> Channel {
    Channel { ty, owner, length: None, fields: 0, room: 0 }
}

/// What the processes with a pid need.
fn slot(
    program: &Program,
    variables: &Variables,
    making: &mut Making<'_>,
    pid: usize,
    proctypes: impl Iterator<Item = ProctypeId>,
) -> Result<Slot, Refused> {
    let (mut kinds, mut code) = (Vec::new(), 1);
    for proctype in proctypes {
        let first_column = making.columns.len();
        for (column, &n) in variables.locals[proctype.index()].sizes.iter().enumerate() {
            making.learned(Part::Local(pid, proctype, column as u32), n);
        }
        let locations = locations(program, proctype);
        let first_code = code;
        code += locations.len() as u32;
        kinds.push(Kind { proctype, first_code, locations, first_column });
    }
    let location = making.add(Part::Location(pid), 1, (0, code as i32 - 1));
    Ok(Slot { location, kinds, channels: 0..0 })
}

/// The locations where a process can be between steps, in ascending order.
fn locations(program: &Program, proctype: ProctypeId) -> Vec<LocId> {
    let proctype = program.proctype(proctype);
    let mut found = std::collections::BTreeSet::from([proctype.start]);
    let mut todo = vec![proctype.start];
    while let Some(location) = todo.pop() {
        for &edge in &proctype.location(location).edges {
            let edge = proctype.edge(edge);
            if !matches!(edge.action, promela::ir::Action::End) && found.insert(edge.to) {
                todo.push(edge.to);
            }
        }
    }
    found.into_iter().collect()
}

/// Gives every column its place; answers how many bits of each word are used.
fn place(columns: &mut [Column]) -> Result<Vec<u32>, Refused> {
    let size = |column: &Column| column.n * column.bits;
    let mut order: Vec<usize> = (0..columns.len()).filter(|&at| size(&columns[at]) > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(size(&columns[at])), at));
    let mut used: Vec<u32> = Vec::new();
    let room = |word: usize| if word == 0 { 63 } else { 64 };
    for at in order {
        let column = &mut columns[at];
        let bits = size(column);
        if bits <= 63 {
            let fits = |word: &usize| used[*word] + bits <= room(*word);
            let word = (0..used.len()).find(fits).unwrap_or(used.len());
            if word == used.len() {
                used.push(0);
            }
            (column.word, column.shift, column.per_word) = (word as u32, used[word], column.n);
            used[word] += bits;
        } else {
            column.word = used.len() as u32;
            let mut left = column.n;
            while left > 0 {
                let n = left.min(column.per_word);
                used.push(n * column.bits);
                left -= n;
            }
        }
        if used.len() > MOST_WORDS {
            return Err(Refused::Wide { bits: columns.iter().map(size).sum() });
        }
    }
    if used.is_empty() {
        used.push(0);
    }
    Ok(used)
}
