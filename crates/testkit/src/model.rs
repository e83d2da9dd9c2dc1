//! The generator's own small tree of a Promela program: just enough structure to print it, to count its
//! features and to shrink it. It is deliberately not the front end's syntax tree, so that a mistake there
//! cannot hide itself here. Names are strings; a shrunk tree may be ill-formed, and then both tools refuse
//! it.

/// A sequence of statements.
pub type Block = Vec<Stmt>;

/// A whole program, printed in the order of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// Preprocessor definitions.
    pub defines: Vec<Define>,
    /// `mtype` declarations.
    pub mtypes: Vec<Mtype>,
    /// Structure types.
    pub typedefs: Vec<Typedef>,
    /// Global variables and channels.
    pub globals: Vec<Decl>,
    /// Inline definitions.
    pub inlines: Vec<Inline>,
    /// Process types, with `init` among them.
    pub procs: Vec<Proc>,
    /// A `trace` or `notrace` assertion.
    pub trace: Option<Trace>,
    /// A claim; it must be accepted but is never part of the reference run.
    pub claim: Option<Claim>,
}

/// `#define NAME(params) body`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Define {
    /// The macro's name.
    pub name: String,
    /// Parameter names; `None` for an object-like macro.
    pub params: Option<Vec<String>>,
    /// The replacement.
    pub body: MacroBody,
}

/// What a macro stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MacroBody {
    /// Nothing: a flag for `#ifdef`.
    Empty,
    /// An expression, printed without protecting parentheses.
    Expr(Expr),
    /// A statement.
    Stmt(Box<Stmt>),
}

/// `mtype:name = { constants }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mtype {
    /// The subtype's name, if it has one.
    pub name: Option<String>,
    /// The constants, in order.
    pub constants: Vec<String>,
}

/// `typedef name { fields }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typedef {
    /// The type's name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Decl>,
}

/// A type name as written in a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `bit`.
    Bit,
    /// `bool`.
    Bool,
    /// `byte`.
    Byte,
    /// `pid`.
    Pid,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `unsigned x : bits`.
    Unsigned(u32),
    /// `mtype` or `mtype:name`.
    Mtype(Option<String>),
    /// `chan`.
    Chan,
    /// A structure type.
    Struct(String),
}

/// The word in front of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// No word.
    Plain,
    /// `hidden`.
    Hidden,
    /// `local`.
    Local,
    /// `show`.
    Show,
}

/// The declaration of one variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decl {
    /// The word in front.
    pub visibility: Visibility,
    /// The type.
    pub ty: Type,
    /// The variable's name.
    pub name: String,
    /// The number of elements of an array.
    pub len: Option<u32>,
    /// The initialiser.
    pub init: Init,
}

/// An initialiser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Init {
    /// None.
    None,
    /// One value.
    Expr(Expr),
    /// A list of array elements.
    List(Vec<i64>),
    /// `[capacity] of { fields }`.
    Chan {
        /// The number of slots; 0 is a rendezvous channel.
        capacity: u32,
        /// The field types.
        fields: Vec<Type>,
    },
}

/// `inline name(params) { body }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inline {
    /// The name.
    pub name: String,
    /// Parameter names.
    pub params: Vec<String>,
    /// The body.
    pub body: Block,
}

/// How a process type starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// `init { … }`.
    Init,
    /// Only by `run`.
    Passive,
    /// `active [n]`.
    Active(u32),
}

/// A process type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proc {
    /// Its name (unused for `init`).
    pub name: String,
    /// How it starts.
    pub start: Start,
    /// Whether it is a `D_proctype`.
    pub deterministic: bool,
    /// Parameters.
    pub params: Vec<Decl>,
    /// `priority n`.
    pub priority: Option<u32>,
    /// `provided (…)`.
    pub provided: Option<Expr>,
    /// The body.
    pub body: Block,
}

/// An event trace assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Whether it is `notrace`.
    pub negated: bool,
    /// The body: sends and receives only.
    pub body: Block,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// `never { … }`.
    Never(Block),
    /// `ltl name { text }`.
    Ltl(String),
}

/// A place that holds a value: `name[i].field[j]…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableRef {
    /// Name and optional index of each step.
    pub path: Vec<(String, Option<Expr>)>,
}

impl VariableRef {
    /// The place of a plain variable.
    pub fn name(name: impl Into<String>) -> Self {
        VariableRef { path: vec![(name.into(), None)] }
    }

    /// The variable's name, without fields.
    pub fn base(&self) -> &str {
        self.path.first().map_or("", |(name, _)| name)
    }
}

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// A unary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnOp {
    /// `!`
    Not,
    /// `-`
    Neg,
    /// `~`
    Compl,
}

/// A question about a channel's fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// `full`
    Full,
    /// `nfull`
    NFull,
    /// `empty`
    Empty,
    /// `nempty`
    NEmpty,
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Num(i64),
    /// A word that stands for a value: a constant, a macro, `_pid`, `timeout`, `np_` …
    Word(String),
    /// The value of a place.
    VariableRef(Box<VariableRef>),
    /// A unary operation.
    Unary(UnOp, Box<Expr>),
    /// A binary operation.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `len(q)`.
    Len(Box<VariableRef>),
    /// `full(q)` and its relatives.
    Probe(Probe, Box<VariableRef>),
    /// `q?[args]` or `q??[args]`.
    Poll {
        /// The channel.
        chan: Box<VariableRef>,
        /// Whether any message may match.
        random: bool,
        /// The pattern.
        args: Vec<RecvArg>,
    },
    /// `run name(args) priority n`.
    Run {
        /// The process type.
        name: String,
        /// The arguments.
        args: Vec<Expr>,
        /// The priority clause.
        priority: Option<u32>,
    },
    /// A call of a built-in function or a function-like macro.
    Call(String, Vec<Expr>),
    /// `p[pid]@label`.
    RemoteLabel {
        /// The process type.
        proc: String,
        /// The process.
        pid: Option<Box<Expr>>,
        /// The label.
        label: String,
    },
    /// `p[pid]:variable`.
    RemoteVar {
        /// The process type.
        proc: String,
        /// The process.
        pid: Option<Box<Expr>>,
        /// The variable.
        name: String,
        /// Its index.
        index: Option<Box<Expr>>,
    },
}

impl Expr {
    /// A word.
    pub fn word(text: impl Into<String>) -> Self {
        Expr::Word(text.into())
    }

    /// The value of a plain variable.
    pub fn var(name: impl Into<String>) -> Self {
        Expr::VariableRef(Box::new(VariableRef::name(name)))
    }

    /// A binary operation.
    pub fn binary(op: BinOp, left: Expr, right: Expr) -> Self {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// A negation.
    pub fn negated(self) -> Self {
        Expr::Unary(UnOp::Not, Box::new(self))
    }
}

/// One field of a receive pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecvArg {
    /// A variable that takes the value.
    VariableRef(VariableRef),
    /// A constant that must match.
    Const(Expr),
    /// `eval(e)`.
    Eval(Expr),
    /// `_`.
    Any,
}

/// The four kinds of receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvKind {
    /// `q?m`
    First,
    /// `q??m`
    Random,
    /// `q?<m>`
    Peek,
    /// `q??<m>`
    RandomPeek,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stmt {
    /// A declaration.
    Decl(Decl),
    /// A condition.
    Expr(Expr),
    /// `place = e`.
    Assign(VariableRef, Expr),
    /// `place = inline(args)`.
    AssignCall(VariableRef, String, Vec<Expr>),
    /// `place++`.
    Incr(VariableRef),
    /// `place--`.
    Decr(VariableRef),
    /// A send.
    Send {
        /// The channel.
        chan: VariableRef,
        /// Whether it is `!!`.
        sorted: bool,
        /// Whether it is written `q!a(b, c)`.
        paren: bool,
        /// The fields.
        args: Vec<Expr>,
    },
    /// A receive.
    Recv {
        /// The channel.
        chan: VariableRef,
        /// Which kind.
        kind: RecvKind,
        /// Whether it is written `q?a(b, c)`.
        paren: bool,
        /// The fields.
        args: Vec<RecvArg>,
    },
    /// `if … fi`.
    If(Vec<Block>),
    /// `do … od`.
    Do(Vec<Block>),
    /// `for (v : low .. high) { … }`.
    For {
        /// The index variable.
        var: String,
        /// The first value.
        low: Expr,
        /// The last value.
        high: Expr,
        /// The body.
        body: Block,
    },
    /// `for (v in name) { … }`, over an array or a channel.
    ForIn {
        /// The index or message variable.
        var: String,
        /// The array or channel.
        over: String,
        /// The body.
        body: Block,
    },
    /// `select (v : low .. high)`.
    Select {
        /// The variable.
        var: String,
        /// The least value.
        low: Expr,
        /// The greatest value.
        high: Expr,
    },
    /// `atomic { … }`.
    Atomic(Block),
    /// `d_step { … }`.
    DStep(Block),
    /// `{ … }`.
    Braces(Block),
    /// `main unless escape`.
    Unless(Box<Stmt>, Box<Stmt>),
    /// `goto label`.
    Goto(String),
    /// `break`.
    Break,
    /// `label: statement`.
    Label(String, Box<Stmt>),
    /// `else`.
    Else,
    /// `assert(e)`.
    Assert(Expr),
    /// `printf("text", args)`.
    Printf(String, Vec<Expr>),
    /// `printm(e)`.
    Printm(Expr),
    /// `set_priority(pid, n)`.
    SetPriority(Expr, Expr),
    /// A call of an inline or of a function-like macro.
    Call(String, Vec<Expr>),
    /// `return e` inside an inline.
    Return(Expr),
    /// `xr q` or `xs q`.
    Exclusive {
        /// Whether it is `xr`.
        receive: bool,
        /// The channel.
        chan: VariableRef,
    },
    /// `#ifdef name … #else … #endif`.
    Ifdef {
        /// The flag.
        name: String,
        /// Whether it is `#ifndef`.
        negated: bool,
        /// The first part.
        then: Block,
        /// The `#else` part.
        otherwise: Block,
    },
}
