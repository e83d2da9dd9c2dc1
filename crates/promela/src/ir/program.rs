//! The typed program: variables as cells, proctypes as automata, edges as guarded actions.
//!
//! Conventions that machines rely on (checked by `verify`):
//! - Every variable, however structured, occupies consecutive *cells*; a cell holds one [`Scalar`]. Globals
//!   have one cell array, each process has its own; parameters are the first cells of a process.
//! - Values are `i32`; storing into a cell or a message field truncates as C does ([`Scalar::truncate`]).
//! - A location is numbered as Spin numbers the statement that stands there (`pan -d` shows the same
//!   numbers), so `pc_value` and remote label references agree; location 0 does not exist.
//! - The edges of a location are tried in their order. That order is observable: `else` is enabled when no
//!   earlier edge of the same location was, and escapes (`unless`) come first.

pub use super::embedded::{Attached, CContext, CItem, COwner, CPiece, Code, Embedded, declared_name};
pub use crate::logic::{Logic, PathOp};
use crate::source::Span;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the table it belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A proctype, claim or trace: index into [`Program::proctypes`].
    ProctypeId,
    /// A control point of a proctype: index into [`Proctype::locations`] (entry 0 is unused).
    LocId,
    /// A step between two locations: index into [`Proctype::edges`].
    EdgeId,
    /// A channel declaration: index into [`Program::chan_types`].
    ChanTypeId,
    /// A structure: index into [`Program::structs`].
    StructId,
    /// A set of mtype constants: index into [`Program::mtypes`].
    MtypeId,
}

/// A program: everything a machine needs, and what is needed to talk about it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The model's file name.
    pub name: String,
    /// Sets of symbolic constants: `mtype`, named subtypes, PV enums.
    pub mtypes: Vec<MtypeSet>,
    /// Structures.
    pub structs: Vec<Struct>,
    /// Global variables, in order of declaration.
    pub globals: Vec<Var>,
    /// Number of global cells.
    pub n_global_cells: u32,
    /// What to do before the first process exists: initialise globals and create channels, in this order.
    pub init: Vec<InitStep>,
    /// Channel declarations.
    pub chan_types: Vec<ChanType>,
    /// Proctypes, `init`, claims and traces, in order of declaration.
    pub proctypes: Vec<Proctype>,
    /// The processes that exist in the initial state, in order of pid.
    pub active: Vec<ActiveProcess>,
    /// PV's invariants.
    pub invariants: Vec<Invariant>,
    /// What `xr` and `xs` promise.
    pub promises: Vec<Promise>,
    /// `ltl` blocks, names resolved.
    pub ltl: Vec<LtlProperty>,
    /// `ctl` and `mu` blocks, names resolved.
    pub state_properties: Vec<StateProperty>,
    /// Never claims.
    pub never: Vec<ProctypeId>,
    /// The trace or notrace assertion.
    pub trace: Option<ProctypeId>,
    /// Language features that change the state or the way steps are chosen.
    pub uses: Uses,
    /// Embedded C.
    pub embedded: Embedded,
}

/// Which global mechanisms a program uses; a machine may leave out those that it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// `_last` is read, so it is part of the state.
    pub last: bool,
    /// Priorities are set or read somewhere, so they are obeyed and part of the state.
    pub priority: bool,
    /// `timeout` occurs.
    pub timeout: bool,
    /// `enabled()` occurs.
    pub enabled: bool,
}

/// A set of symbolic constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MtypeSet {
    /// `mtype` (spelt `_unnamed_` by Spin), the subtype's name, or the enum's.
    pub name: String,
    /// Names with their values.
    pub values: Vec<(String, i32)>,
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// The typedef's name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Cells of one value.
    pub n_cells: u32,
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its first cell, relative to the structure.
    pub offset: u32,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One cell.
    Scalar(Scalar),
    /// `len` times the element.
    Array(Box<Type>, u32),
    /// The cells of the fields, in order.
    Struct(StructId),
}

/// What one cell or one message field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bit`: 0 or 1.
    Bit,
    /// `bool`: 0 or 1.
    Bool,
    /// A `bit` that is an array element: Spin keeps a whole byte and does not truncate further.
    WideBit,
    /// A `bool` that is an array element: the same, and called by its own name for people.
    WideBool,
    /// `byte`: 0..255.
    Byte,
    /// `pid`: 0..255.
    Pid,
    /// `short`: 16 bits, signed.
    Short,
    /// `int`: 32 bits, signed.
    Int,
    /// `unsigned x : n`, 1 ≤ n ≤ 32.
    Unsigned(u8),
    /// A symbolic constant: 0..255.
    Mtype(MtypeId),
    /// A channel: 0 is none, else its number counted from 1.
    Chan,
    /// PV: 0 is free, else 1 + the pid of the holder.
    Lock,
    /// PV: a counting semaphore, 0..255.
    Sema,
}

impl Scalar {
    /// The value that remains when `value` is stored.
    pub fn truncate(self, value: i32) -> i32 {
        match self {
            Scalar::Bit | Scalar::Bool => value & 1,
            Scalar::WideBit
            | Scalar::WideBool
            | Scalar::Byte
            | Scalar::Pid
            | Scalar::Mtype(_)
            | Scalar::Chan
            | Scalar::Sema => value & 0xff,
            Scalar::Short => i32::from(value as i16),
            Scalar::Lock => value & 0x1ff,
            Scalar::Int => value,
            Scalar::Unsigned(bits) if bits >= 32 => value,
            Scalar::Unsigned(bits) => value & ((1i32 << bits).wrapping_sub(1)),
        }
    }

    /// Bytes that a value takes in a state.
    pub fn width(self) -> usize {
        match self {
            Scalar::Int => 4,
            Scalar::Short | Scalar::Lock => 2,
            Scalar::Unsigned(bits) => match bits {
                0..=8 => 1,
                9..=16 => 2,
                _ => 4,
            },
            _ => 1,
        }
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its first cell among the globals or the locals of its proctype.
    pub cell: u32,
    /// `hidden`: has a value, but is not part of what makes two states different.
    pub hidden: bool,
    /// Where it was declared.
    pub span: Span,
}

/// One step of initialisation; indices inside are constants.
#[derive(Clone, Debug)]
pub enum InitStep {
    /// Store the value of an expression.
    Assign(Place, Expr),
    /// Create a channel and store its number.
    NewChan(Place, ChanTypeId),
}

/// The declaration of a channel.
#[derive(Clone, Debug)]
pub struct ChanType {
    /// The variable that it was declared with.
    pub name: String,
    /// Messages it can hold; 0 is a rendezvous.
    pub capacity: u32,
    /// The fields of a message, structures flattened.
    pub fields: Vec<Scalar>,
    /// Where it was declared.
    pub span: Span,
}

/// A process of the initial state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveProcess {
    /// Its proctype; its parameters are 0.
    pub proctype: ProctypeId,
    /// Its priority.
    pub priority: u8,
}

/// PV's `invariant NAME expr`.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// Its name.
    pub name: String,
    /// Over globals.
    pub expr: Expr,
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// `xr c` or `xs c`: no process but the one that says so receives from `c`, or sends to it.
#[derive(Clone, Debug)]
pub struct Promise {
    /// Who says so: each process of this proctype.
    pub proctype: ProctypeId,
    /// `xr` rather than `xs`.
    pub receive: bool,
    /// The channel, as the process sees it.
    pub chan: Expr,
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
    /// Whether a machine is to tell a state in which somebody else is about to use the channel. The front end
    /// leaves that to those who rely on the promise.
    pub checked: bool,
}

/// An `ltl` block.
#[derive(Clone, Debug)]
pub struct LtlProperty {
    /// Its name (`ltl_0` … when none is written).
    pub name: String,
    /// The formula.
    pub formula: Formula,
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A temporal formula over propositions.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum Formula {
    Prop(Expr),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Equiv(Box<Formula>, Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
}

/// A `ctl` or `mu` block.
#[derive(Clone, Debug)]
pub struct StateProperty {
    /// Which logic it is written in.
    pub logic: Logic,
    /// Its name (`ctl_0`, `mu_0` … when none is written).
    pub name: String,
    /// The formula.
    pub formula: StateFormula,
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A formula about states. Variables are known by numbers, each bound once.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum StateFormula {
    Prop(Expr),
    /// No step is possible.
    Stuck,
    /// No step is possible, and this is no valid end.
    Deadlock,
    Not(Box<StateFormula>),
    And(Box<StateFormula>, Box<StateFormula>),
    Or(Box<StateFormula>, Box<StateFormula>),
    Implies(Box<StateFormula>, Box<StateFormula>),
    Equiv(Box<StateFormula>, Box<StateFormula>),
    /// A path operator, of all runs or of some run; with one operand or two.
    Path(Quantifier, PathOp, Vec<StateFormula>),
    /// All of these steps lead to a state with the formula, or some step does.
    Modal(Quantifier, StepFilter, Box<StateFormula>),
    Mu(u32, Box<StateFormula>),
    Nu(u32, Box<StateFormula>),
    Variable(u32),
}

/// Whether an operator is about all runs (or steps), or about some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the quantifiers'")]
pub enum Quantifier {
    All,
    Some,
}

/// Which steps a modality is about; where nothing is said, all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct StepFilter {
    /// Steps in which a process of this proctype takes part.
    pub proctype: Option<ProctypeId>,
    /// Steps in which the process with this number takes part.
    pub pid: Option<u32>,
    /// Steps that leave this location.
    pub at: Option<LocId>,
}

/// What a proctype is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Promela's")]
pub enum ProctypeKind {
    Proctype,
    Init,
    Never,
    Trace,
    NoTrace,
}

/// A proctype as an automaton.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// Its name (`:init:` for init, `never_0` … for unnamed claims, `:trace:`, `:notrace:`).
    pub name: String,
    /// What it is.
    pub kind: ProctypeKind,
    /// Declared with `D_proctype`.
    pub deterministic: bool,
    /// How many of the first local cells are parameters.
    pub n_params: u32,
    /// Parameters, then the other variables, in order of declaration.
    pub locals: Vec<Var>,
    /// Number of local cells.
    pub n_cells: u32,
    /// Initialisation of locals when a process starts, after the parameters are set.
    pub init: Vec<InitStep>,
    /// `provided (e)`: evaluated in the context of the process itself.
    pub provided: Option<Expr>,
    /// Where a process starts.
    pub start: LocId,
    /// Locations, indexed by [`LocId`]; entry 0 is a place holder.
    pub locations: Vec<Location>,
    /// Edges, indexed by [`EdgeId`].
    pub edges: Vec<Edge>,
    /// Labels of the source text.
    pub labels: Vec<(String, LocId)>,
    /// Where it was declared.
    pub span: Span,
}

/// A control point.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// Outgoing edges in the order in which they are tried.
    pub edges: Vec<EdgeId>,
    /// Being here is a valid end state.
    pub end: bool,
    /// Being here is accepting.
    pub accept: bool,
    /// Being here is progress.
    pub progress: bool,
    /// Inside a d_step: never the location of a process between steps.
    pub in_d_step: bool,
    /// Local cells whose values do not matter here: a machine sets them to 0 when a process gets here.
    pub dead: Vec<u32>,
}

/// A step between two locations.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What must hold and what happens.
    pub action: Action,
    /// Where the process is afterwards; for [`Action::End`] it is gone.
    pub to: LocId,
    /// The process keeps exclusive control after this step (it is inside an atomic sequence).
    pub atomic: bool,
    /// An escape (`unless`): the location at which the escape sequence starts. When an edge of one escape
    /// executes, edges that come later and belong to another escape or to none are not tried.
    pub escape: Option<LocId>,
    /// What the step means to a memory with store buffers; machines take no notice.
    pub order: Order,
    /// The number of the statement within the whole model, as Spin's parser counts them: by it Spin's trails
    /// know a step. `None` for steps that no parser has seen.
    pub statement: Option<u32>,
    /// The statement as written, for people.
    pub text: String,
    /// Where it was written.
    pub span: Span,
}

/// What a step means to a memory with store buffers (`machine::memory`): what the front end tells of a
/// statement, and what the steps are for that the buffers add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Nothing in particular.
    #[default]
    Free,
    /// It ends an atomic sequence, perhaps one of one statement: part of a locked instruction.
    Locked,
    /// The statement `fence`, which waits until the own stores are in memory.
    Fence,
    /// A store enters the buffer of its process.
    Append,
    /// The buffer is empty, and the process goes to the place where that is known.
    Wait,
    /// The oldest store in the buffer of the process that has this number reaches memory.
    Drain(u32),
    /// The same, where a store of this location finds the buffer full.
    FullDrain(u32),
}

impl Order {
    /// How the text form of programs spells it; [`Order::Free`] is not written, and the number of a buffer
    /// stands behind the word.
    pub const WORDS: [(Order, &'static str); 6] = [
        (Order::Locked, "locked"),
        (Order::Fence, "fence"),
        (Order::Append, "append"),
        (Order::Wait, "wait"),
        (Order::Drain(0), "drain"),
        (Order::FullDrain(0), "full_drain"),
    ];

    /// Its word, if it is written.
    pub fn word(self) -> Option<&'static str> {
        let kind = std::mem::discriminant(&self);
        Self::WORDS.iter().find(|(order, _)| std::mem::discriminant(order) == kind).map(|(_, word)| *word)
    }

    /// The same of another buffer.
    pub fn of_buffer(self, buffer: u32) -> Order {
        match self {
            Order::Drain(_) => Order::Drain(buffer),
            Order::FullDrain(_) => Order::FullDrain(buffer),
            order => order,
        }
    }

    /// The buffer of the process whose step it is, if it is no step of the process itself.
    pub fn buffer(self) -> Option<u32> {
        match self {
            Order::Drain(buffer) | Order::FullDrain(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Whether it is no step of the process but one of its buffer.
    pub fn is_drain(self) -> bool {
        self.buffer().is_some()
    }
}

/// What an edge does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Nothing; always executable (`skip`, a jump that needs a state of its own).
    Skip,
    /// Executable when the expression is not 0 (it may contain one `run`, which then happens).
    Guard(Expr),
    /// Executable when no earlier edge of this location was executed in this visit.
    Else,
    /// Store a value.
    Assign(Place, Expr),
    /// Append a message (or insert it in order). On a rendezvous channel: offer it to a receiver.
    Send {
        /// The channel.
        chan: Expr,
        /// Insert in numerical order (`!!`).
        sorted: bool,
        /// The fields, structures flattened.
        args: Vec<Expr>,
    },
    /// Take a message.
    Receive {
        /// The channel.
        chan: Expr,
        /// Take the first message that matches (`??`) instead of only the first message.
        random: bool,
        /// Leave the message in the channel (`?<>`).
        keep: bool,
        /// The fields, structures flattened.
        args: Vec<RecvArg>,
    },
    /// `assert(e)`.
    Assert(Expr),
    /// `printf`: the format as written between the quotes.
    Printf(String, Vec<Expr>),
    /// `printm(e)`; the set is known when the argument is a typed variable or constant.
    Printm(Expr, Option<MtypeId>),
    /// `set_priority(pid, p)`.
    SetPriority(Expr, Expr),
    /// PV: take a lock that is free, or a semaphore that is not 0.
    Lock(Place),
    /// PV: release a lock that the process holds, or increment a semaphore.
    Unlock(Place),
    /// `d_step`: run the automaton that begins at this location, each time along the first executable edge,
    /// until the edge's own target ([`Edge::to`]) is reached. Blocking after the start is a fault.
    DStep {
        /// The first location inside.
        entry: LocId,
        /// The location whose reaching ends the d_step; differs from [`Edge::to`] only when the latter skips
        /// jumps.
        exit: LocId,
        /// The location that lists the statements of which one must be executable for the d_step to start
        /// (`else` always counts as executable there; none means that it can always start). Without it, the
        /// statements of `entry` decide.
        guards: Option<LocId>,
    },
    /// In a trace or notrace: a send (or a receive) on this channel, with fields that match. Nothing is
    /// stored.
    Event {
        /// A send rather than a receive.
        send: bool,
        /// The channel.
        chan: Expr,
        /// [`RecvArg::Match`] for constants, [`RecvArg::Ignore`] for anything else.
        args: Vec<RecvArg>,
    },
    /// `c_code`: the piece of embedded C with this number. It may read and write everything.
    C(u32),
    /// The end of the body: the process disappears, provided that it has the highest pid.
    End,
}

/// One field of a receive or a poll.
#[derive(Clone, Debug)]
pub enum RecvArg {
    /// Takes the value.
    Store(Place),
    /// Takes any value and drops it (`_`).
    Ignore,
    /// Must be equal (a constant or `eval(e)`).
    Match(Expr),
}

/// A cell: `cell` of the globals or locals plus, for every index, `value × stride`.
#[derive(Clone, Debug)]
pub struct Place {
    /// Whose cells.
    pub base: Base,
    /// The cell when all indices are 0 (constant indices are already added).
    pub cell: u32,
    /// The indices that are not constants; each must be within 0..len, else it is a fault.
    pub indices: Vec<Index>,
    /// What the cell holds.
    pub scalar: Scalar,
    /// Where it was written.
    pub span: Span,
}

/// Which cells a place refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The globals.
    Global,
    /// The executing process's own.
    Local,
    /// The write-only variable `_`: stores vanish, loads are 0.
    Scratch,
}

/// An index that is not a constant.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its value.
    pub value: Expr,
    /// The length of the array.
    pub len: u32,
    /// Cells of one element.
    pub stride: u32,
    /// Where it was written.
    pub span: Span,
}

/// An expression and its place. Evaluated in 32-bit two's complement, as C does; logic is short-circuit.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(i32),
    /// The value of a cell.
    Load(Box<Place>),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A question about the channel with this number.
    Chan(ChanOp, Box<Expr>),
    /// Whether a matching message is first (or, random, anywhere) in the channel.
    Poll {
        /// The channel.
        chan: Box<Expr>,
        /// Anywhere.
        random: bool,
        /// What must match; `Store` and `Ignore` match anything.
        args: Vec<RecvArg>,
    },
    /// Start a process; the value is its pid.
    Run {
        /// Its proctype.
        proctype: ProctypeId,
        /// Its parameters, structures flattened.
        args: Vec<Expr>,
        /// Its priority.
        priority: u8,
    },
    /// `enabled(pid)`.
    Enabled(Box<Expr>),
    /// `pc_value(pid)`.
    PcValue(Box<Expr>),
    /// `get_priority(pid)`.
    GetPriority(Box<Expr>),
    /// `_pid`.
    Pid,
    /// `_nr_pr`.
    NrPr,
    /// `_last`.
    Last,
    /// `_priority` of the process itself.
    Priority,
    /// `timeout`: no process can move.
    Timeout,
    /// `np_`: no process is at a progress label.
    NonProgress,
    /// `p[pid]@label`: process `pid` is a `proctype` and is at the location. Without a pid: the only such
    /// process.
    RemoteLabel {
        /// The proctype.
        proctype: ProctypeId,
        /// The process number.
        pid: Option<Box<Expr>>,
        /// The location of the label.
        location: LocId,
    },
    /// `p[pid]:x`: a local cell of another process; indices inside `place` are evaluated in the *referring*
    /// process.
    RemoteVar {
        /// The proctype.
        proctype: ProctypeId,
        /// The process number.
        pid: Option<Box<Expr>>,
        /// The cell (its base is [`Base::Local`], of the other process).
        place: Box<Place>,
    },
    /// `c_expr`: the value of the piece of embedded C with this number. It may read everything.
    C(u32),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum UnaryOp {
    Neg,
    BitNot,
    Not,
}

/// Operators with two operands; `And` and `Or` are short-circuit and give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

/// Questions about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Promela's")]
pub enum ChanOp {
    Len,
    Full,
    Empty,
    Nfull,
    Nempty,
}

impl Program {
    /// The proctype with this id.
    pub fn proctype(&self, id: ProctypeId) -> &Proctype {
        &self.proctypes[id.index()]
    }

    /// Whether a trace assertion may forbid a message that is only offered: it sees a rendezvous send before
    /// anybody takes the message.
    pub fn trace_sees_offers(&self) -> bool {
        self.trace.is_some() && self.chan_types.iter().any(|channel| channel.capacity == 0)
    }

    /// Cells of one value of this type.
    pub fn cells_of(&self, ty: &Type) -> u32 {
        match ty {
            Type::Scalar(_) => 1,
            Type::Array(element, len) => self.cells_of(element).saturating_mul(*len),
            Type::Struct(id) => self.structs[id.index()].n_cells,
        }
    }

    /// Appends the scalar of every cell of this type, in order.
    pub fn scalars_of(&self, ty: &Type, out: &mut Vec<Scalar>) {
        match ty {
            Type::Scalar(scalar) => out.push(*scalar),
            Type::Array(element, len) => {
                let first = out.len();
                self.scalars_of(element, out);
                let one: Vec<Scalar> = out[first..].to_vec();
                for _ in 1..*len {
                    out.extend_from_slice(&one);
                }
                if *len == 0 {
                    out.truncate(first);
                }
            }
            Type::Struct(id) => {
                for field in &self.structs[id.index()].fields {
                    self.scalars_of(&field.ty, out);
                }
            }
        }
    }
}

impl Proctype {
    /// The location with this id.
    pub fn location(&self, id: LocId) -> &Location {
        &self.locations[id.index()]
    }

    /// The edge with this id.
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }
}
