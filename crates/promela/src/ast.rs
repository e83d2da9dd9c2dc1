//! The syntax tree: Promela as written, names unresolved.
//!
//! Inlines are already expanded (as Spin does, by substituting tokens), each use kept as a
//! [`StmtKind::Inline`] node so that labels and scopes of different uses stay apart.

pub use crate::logic::{Logic, PathOp};
use crate::source::Span;
use std::sync::Arc;

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The name.
    pub name: Arc<str>,
    /// Where it was written.
    pub span: Span,
}

/// A whole model.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Declarations in order.
    pub items: Vec<Item>,
}

/// A declaration at the top level.
#[derive(Clone, Debug)]
pub enum Item {
    /// `proctype`, with or without `active`.
    Proctype(Proctype),
    /// `init { … }`.
    Init(Init),
    /// `never [name] { … }`.
    Never(Claim),
    /// `trace { … }` or `notrace { … }`.
    Trace(Trace),
    /// `ltl [name] { … }`.
    Ltl(Ltl),
    /// `ctl [name] { … }` or `mu [name] { … }`.
    StateFormula(StateFormula),
    /// Variables and channels.
    Decl(Decl),
    /// `typedef T { … }`.
    Typedef(Typedef),
    /// `mtype [:sub] [=] { … }`.
    Mtype(MtypeDecl),
    /// `inline f(a, b) { … }`: kept for tools; its uses are already expanded.
    Inline(InlineDef),
    /// PV: `invariant NAME expr`.
    Invariant(Invariant),
    /// PV: `typedef enum { a, b } T`.
    Enum(EnumDecl),
    /// `c_code`, `c_decl`, `c_state`, `c_track`.
    EmbeddedC(EmbeddedC),
}

/// `active [n] proctype name(params) priority p provided (e) { … }`.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// Its name.
    pub name: Ident,
    /// `active`, with the number of instances if one is written.
    pub active: Option<Active>,
    /// Declared with `D_proctype`.
    pub deterministic: bool,
    /// Parameter declarations.
    pub params: Vec<Decl>,
    /// `priority N`.
    pub priority: Option<Expr>,
    /// `provided (e)`.
    pub provided: Option<Expr>,
    /// The body.
    pub body: Block,
    /// The whole declaration's head.
    pub span: Span,
}

/// The `active [n]` prefix.
#[derive(Clone, Debug)]
pub struct Active {
    /// The number of instances, if written: a constant expression or a name.
    pub count: Option<Expr>,
    /// Where.
    pub span: Span,
}

/// `init priority p { … }`.
#[derive(Clone, Debug)]
pub struct Init {
    /// `priority N`.
    pub priority: Option<Expr>,
    /// The body.
    pub body: Block,
    /// The keyword.
    pub span: Span,
}

/// A never claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, if written.
    pub name: Option<Ident>,
    /// The body.
    pub body: Block,
    /// The keyword.
    pub span: Span,
}

/// A trace or notrace assertion.
#[derive(Clone, Debug)]
pub struct Trace {
    /// `notrace`.
    pub negated: bool,
    /// The body.
    pub body: Block,
    /// The keyword.
    pub span: Span,
}

/// An `ltl` block.
#[derive(Clone, Debug)]
pub struct Ltl {
    /// Its name, if written.
    pub name: Option<Ident>,
    /// The formula.
    pub formula: Expr,
    /// The keyword.
    pub span: Span,
}

/// A `ctl` or `mu` block: a property of states.
#[derive(Clone, Debug)]
pub struct StateFormula {
    /// Which logic it is written in.
    pub logic: Logic,
    /// Its name, if written.
    pub name: Option<Ident>,
    /// The formula.
    pub formula: Expr,
    /// The keyword.
    pub span: Span,
}

/// An operator of a `ctl` or `mu` formula.
#[derive(Clone, Debug)]
pub enum StateOp {
    /// `AX p`, `E[p U q]` …
    Path {
        /// `A` rather than `E`.
        all: bool,
        /// The path operator.
        op: PathOp,
        /// Its operands: one, or two.
        operands: Vec<Expr>,
    },
    /// `[steps] p` or `<steps> p`.
    Modal {
        /// `[ ]` rather than `< >`.
        all: bool,
        /// Which steps; `None`: all.
        steps: Option<StepFilter>,
        /// What holds behind them.
        body: Expr,
    },
    /// `mu Z. p` or `nu Z. p`.
    Fixpoint {
        /// `nu`.
        greatest: bool,
        /// The variable.
        variable: Ident,
        /// Where it is bound.
        body: Expr,
    },
}

impl StateOp {
    /// The formulas that the operator is applied to.
    pub fn operands(&self) -> &[Expr] {
        match self {
            StateOp::Path { operands, .. } => operands,
            StateOp::Modal { body, .. } | StateOp::Fixpoint { body, .. } => std::slice::from_ref(body),
        }
    }
}

/// Which steps a modality is about: `p`, `p[2]`, `2`, `p@label`.
#[derive(Clone, Debug)]
pub struct StepFilter {
    /// Steps of processes of this proctype.
    pub proctype: Option<Ident>,
    /// Steps of the process with this number.
    pub pid: Option<Expr>,
    /// Steps from this label.
    pub label: Option<Ident>,
    /// Where it was written.
    pub span: Span,
}

/// `typedef T { … }`.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Its name.
    pub name: Ident,
    /// Field declarations.
    pub fields: Vec<Decl>,
}

/// `mtype:sub = { a, b, c }`.
#[derive(Clone, Debug)]
pub struct MtypeDecl {
    /// The subtype's name, if written.
    pub subtype: Option<Ident>,
    /// The constants in the order written.
    pub names: Vec<Ident>,
    /// The keyword.
    pub span: Span,
}

/// The declaration of an inline.
#[derive(Clone, Debug)]
pub struct InlineDef {
    /// Its name.
    pub name: Ident,
    /// Its formal parameters.
    pub params: Vec<Ident>,
}

/// PV: `invariant NAME expr`.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// Its name.
    pub name: Ident,
    /// What must hold in every state.
    pub expr: Expr,
}

/// PV: `typedef enum { a, b } T`.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// The type's name.
    pub name: Ident,
    /// The constants; they count from 0.
    pub names: Vec<Ident>,
}

/// A piece of embedded C.
#[derive(Clone, Debug)]
pub struct EmbeddedC {
    /// `c_code`, `c_decl`, `c_expr`, `c_state` or `c_track`.
    pub keyword: Ident,
    /// What must hold: the text between brackets.
    pub precondition: Option<String>,
    /// The text between braces.
    pub text: String,
    /// Where the text between the braces begins.
    pub text_span: Span,
    /// The strings of `c_state` and `c_track`.
    pub strings: Vec<(Arc<str>, Span)>,
}

/// `hidden byte x = 1, y[3]`.
#[derive(Clone, Debug)]
pub struct Decl {
    /// `hidden`, `show` or `local`.
    pub visibility: Option<Visibility>,
    /// The type.
    pub ty: TypeName,
    /// Where the type was written.
    pub ty_span: Span,
    /// The variables.
    pub vars: Vec<VarDecl>,
}

/// A prefix of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    /// `hidden`: not part of the state.
    Hidden,
    /// `show`: for tools.
    Show,
    /// `local`: a global used by one process only.
    Local,
}

/// A type as written.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are Promela's")]
pub enum TypeName {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    Chan,
    /// `mtype` or `mtype:sub`.
    Mtype(Option<Ident>),
    /// A typedef or (PV) an enum.
    User(Ident),
    /// PV.
    Lock,
    /// PV.
    Sema,
}

/// One declared variable.
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// Its name.
    pub name: Ident,
    /// `: n` of `unsigned x : n`.
    pub bits: Option<Expr>,
    /// `[n]`: a constant expression or the name of an initialised variable.
    pub array: Option<Expr>,
    /// The initialiser.
    pub init: Option<Initializer>,
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// `= e`.
    Expr(Expr),
    /// `= { 1, 2, 3 }`.
    List(Vec<Expr>, Span),
    /// `= [n] of { … }`.
    Chan(ChanInit),
}

/// `[n] of { byte, chan, T }`.
#[derive(Clone, Debug)]
pub struct ChanInit {
    /// The capacity; 0 is a rendezvous.
    pub capacity: Expr,
    /// The types of the message fields.
    pub fields: Vec<(TypeName, Span)>,
    /// From `[` to `}`.
    pub span: Span,
}

/// A sequence of steps.
#[derive(Clone, Debug)]
pub struct Block {
    /// Declarations and statements in order.
    pub steps: Vec<Step>,
    /// From the opening to the closing brace (or `::` to the next option).
    pub span: Span,
}

/// One element of a sequence.
#[derive(Clone, Debug)]
pub enum Step {
    /// A declaration.
    Decl(Decl),
    /// `xr` or `xs` with the channels named.
    Exclusive(Exclusive),
    /// A statement.
    Stmt(Stmt),
    /// `main unless escape`.
    Unless(Stmt, Stmt),
}

/// `xr c, d` or `xs c, d`.
#[derive(Clone, Debug)]
pub struct Exclusive {
    /// `xr` (receive) rather than `xs` (send).
    pub receive: bool,
    /// The channels.
    pub chans: Vec<VarRef>,
    /// The keyword.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `label: stmt`; a label before nothing carries `None` (Spin puts a skip there).
    Labeled(Ident, Option<Box<Stmt>>),
    /// `x = e`.
    Assign(VarRef, Expr),
    /// `x++` (`+1`) or `x--` (`-1`).
    Increment(VarRef, i32),
    /// `c!e` or, sorted, `c!!e`.
    Send {
        /// The channel.
        chan: VarRef,
        /// `!!`.
        sorted: bool,
        /// The message; `m(a, b)` is the same as `m, a, b`.
        args: Vec<Expr>,
    },
    /// `c?args`, `c??args`, `c?<args>`, `c??<args>`.
    Receive {
        /// The channel.
        chan: VarRef,
        /// `??`: any message that matches.
        random: bool,
        /// `<…>`: leave the message in the channel.
        keep: bool,
        /// What to match and where to put it.
        args: Vec<RecvArg>,
    },
    /// `if … fi`, options in the order written.
    If(Vec<Block>),
    /// `do … od`.
    Do(Vec<Block>),
    /// `for (x : lo .. hi) { … }`.
    ForRange(VarRef, Expr, Expr, Block),
    /// `for (x in a) { … }`.
    ForIn(VarRef, VarRef, Block),
    /// `select (x : lo .. hi)`.
    Select(VarRef, Expr, Expr),
    /// `break`.
    Break,
    /// `goto label`.
    Goto(Ident),
    /// An expression used as a statement (a guard); `skip` is the constant 1.
    Expr(Expr),
    /// `else`.
    Else,
    /// `assert(e)`.
    Assert(Expr),
    /// `printf("…", …)`: the format without its quotes.
    Printf(Arc<str>, Vec<Expr>),
    /// `printm(e)`.
    Printm(Expr),
    /// `atomic { … }`.
    Atomic(Block),
    /// `d_step { … }`.
    DStep(Block),
    /// `{ … }`.
    Block(Block),
    /// A use of an inline: its expanded body.
    Inline(InlineUse),
    /// `set_priority(pid, p)`.
    SetPriority(Expr, Expr),
    /// PV: `lock(x)`.
    Lock(VarRef),
    /// PV: `unlock(x)`.
    Unlock(VarRef),
    /// PV: `run [i<n][j<m] p(…)`.
    RunIterated(RunIterated),
    /// `c_code { … }`.
    EmbeddedC(EmbeddedC),
    /// A statement that could not be parsed; an error was reported.
    Error,
}

/// An expanded inline.
#[derive(Clone, Debug)]
pub struct InlineUse {
    /// The inline's name at the use.
    pub name: Ident,
    /// The arguments, as expressions at the place of the use.
    pub args: Vec<Expr>,
    /// The body, arguments substituted; `return e` has become an assignment to the result.
    pub body: Block,
}

/// PV's iterated `run`: one process for each value of the iterators, in lexicographic order.
#[derive(Clone, Debug)]
pub struct RunIterated {
    /// Iterator names and their exclusive bounds.
    pub iterators: Vec<(Ident, Expr)>,
    /// The proctype.
    pub proctype: Ident,
    /// Its arguments; they may use the iterators.
    pub args: Vec<Expr>,
    /// `priority N`.
    pub priority: Option<Expr>,
}

/// One argument of a receive or a poll.
#[derive(Clone, Debug)]
pub enum RecvArg {
    /// A variable (or `_`) that takes the value; an mtype constant or `true`/`false`, being a name, comes as
    /// [`RecvArg::Const`] only if the lexer knows it as a constant, else as `Var`: lowering decides.
    Var(VarRef),
    /// `eval(e)`: must match.
    Eval(Expr),
    /// A constant that must match.
    Const(Expr),
}

/// A reference to a variable, an array element or a field.
#[derive(Clone, Debug)]
pub struct VarRef {
    /// The name and, for structures, the fields; each with an index if one is written.
    pub parts: Vec<RefPart>,
    /// The whole reference.
    pub span: Span,
}

/// One component of a [`VarRef`].
#[derive(Clone, Debug)]
pub struct RefPart {
    /// The variable's or field's name.
    pub name: Ident,
    /// `[e]`.
    pub index: Option<Box<Expr>>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of expression. Temporal operators occur in `ltl` blocks only; the parser refuses them elsewhere.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number; also `true`, `false`, `skip` and character constants.
    Number(i64),
    /// A string (only as a macro leftover; refused by lowering).
    Str(Arc<str>),
    /// A variable, constant, field or array element.
    Var(VarRef),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `len(c)`, `full(c)` …
    Chan(ChanOp, VarRef),
    /// `c?[…]` or `c??[…]`.
    Poll {
        /// The channel.
        chan: VarRef,
        /// `??[…]`.
        random: bool,
        /// What must match.
        args: Vec<RecvArg>,
    },
    /// `run p(args) priority n`.
    Run {
        /// The proctype.
        proctype: Ident,
        /// Its arguments.
        args: Vec<Expr>,
        /// `priority N`.
        priority: Option<Box<Expr>>,
    },
    /// `enabled(e)`, `pc_value(e)`, `get_priority(e)`.
    Process(ProcessOp, Box<Expr>),
    /// `timeout`.
    Timeout,
    /// `np_`.
    NonProgress,
    /// `p[e]@label` or `p@label`.
    RemoteLabel {
        /// The proctype.
        proctype: Ident,
        /// The process number.
        pid: Option<Box<Expr>>,
        /// The label.
        label: Ident,
    },
    /// `p[e]:x` or `p:x`.
    RemoteVar {
        /// The proctype.
        proctype: Ident,
        /// The process number.
        pid: Option<Box<Expr>>,
        /// The variable.
        var: VarRef,
    },
    /// `c_expr { … }`.
    EmbeddedC(EmbeddedC),
    /// An operator of a `ctl` or `mu` formula; the parser makes it there only.
    State(Box<StateOp>),
    /// An expression that could not be parsed; an error was reported.
    Error,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the operators'")]
pub enum UnaryOp {
    Neg,
    BitNot,
    Not,
    /// `[]`, `always`.
    Always,
    /// `<>`, `eventually`.
    Eventually,
    /// `X`, `next`.
    Next,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    /// `U`, `until`, `stronguntil`.
    Until,
    /// `W`, `weakuntil`.
    WeakUntil,
    /// `V`, `release`.
    Release,
    /// `->`, `implies` (in formulas).
    Implies,
    /// `<->`, `equivalent`.
    Equiv,
}

/// Questions about a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are Promela's")]
pub enum ChanOp {
    Len,
    Full,
    Empty,
    Nfull,
    Nempty,
}

/// Questions about a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are Promela's")]
pub enum ProcessOp {
    Enabled,
    PcValue,
    GetPriority,
}
