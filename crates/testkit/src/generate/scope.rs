//! What is known at a place in the program: variables, channels, labels, and what kind of code surrounds it.

use crate::model::{Expr, Type, VariableRef};

use super::Generator;

/// A scalar that can be reached by a path, for example `t[2].a[3]`; each number is an array length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    pub path: Vec<(String, Option<u32>)>,
    pub ty: Type,
    /// Never assigned: a loop index, or an inline's value parameter.
    pub read_only: bool,
    /// Not part of the state: never read.
    pub write_only: bool,
    /// The parameter of an inline, for which anything may be put in.
    pub formal: bool,
}

impl Leaf {
    pub(super) fn new(name: &str, len: Option<u32>, ty: Type) -> Self {
        Leaf { path: vec![(name.to_string(), len)], ty, read_only: false, write_only: false, formal: false }
    }

    pub(super) fn base(&self) -> &str {
        self.path.first().map_or("", |(name, _)| name)
    }

    /// Whether it is a plain variable, with neither index nor field, known by this name.
    pub(super) fn is_plain(&self) -> bool {
        !self.formal && matches!(self.path.as_slice(), [(_, None)])
    }
}

/// The type of a message field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Scalar(Type),
    /// A channel whose own fields are those of a signature.
    Chan(usize),
    Struct(usize),
}

/// A channel, or a variable that holds one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chan {
    /// As in [`Leaf`].
    pub path: Vec<(String, Option<u32>)>,
    /// The number of slots, when it is known.
    pub capacity: Option<u32>,
    pub signature: usize,
    pub global: bool,
    /// A variable without a channel of its own.
    pub handle: bool,
}

impl Chan {
    pub(super) fn base(&self) -> &str {
        self.path.first().map_or("", |(name, _)| name)
    }

    /// The name, when it is neither an array nor a field.
    pub(super) fn plain_name(&self) -> Option<&str> {
        match self.path.as_slice() {
            [(name, None)] => Some(name),
            _ => None,
        }
    }
}

/// A variable of a structure type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StructVar {
    pub name: String,
    pub len: Option<u32>,
    pub typedef: usize,
}

/// A structure type: its name and the scalars inside.
#[derive(Debug, Clone)]
pub(super) struct TypedefInfo {
    pub name: String,
    pub leaves: Vec<Leaf>,
    /// The channels inside.
    pub chans: Vec<Chan>,
    /// Whether it may be a message field: no channels, `unsigned` or arrays of structures inside.
    pub sendable: bool,
}

impl TypedefInfo {
    /// Whether it may be a parameter: there are no arrays inside either.
    pub(super) fn is_flat(&self) -> bool {
        self.sendable && self.leaves.iter().all(|l| l.path.iter().all(|(_, len)| len.is_none()))
    }

    /// The number of scalars that a message with it has.
    pub(super) fn width(&self) -> usize {
        let elements = |leaf: &Leaf| -> usize {
            leaf.path.iter().map(|(_, len)| len.map_or(1, |n| n as usize)).product()
        };
        self.leaves.iter().map(elements).sum()
    }
}

/// What an inline or a macro expects as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Param {
    /// A numeric variable that it changes.
    Variable,
    /// A value.
    Value,
    /// A channel with the messages of a signature.
    Chan(usize),
}

/// An inline that can be called.
#[derive(Debug, Clone)]
pub(super) struct InlineInfo {
    pub name: String,
    pub params: Vec<Param>,
    /// Whether it never blocks, so that a d_step may call it.
    pub steady: bool,
    pub returns: bool,
}

/// A macro that can be used: its name and the number of its arguments.
#[derive(Debug, Clone)]
pub(super) struct MacroInfo {
    pub name: String,
    pub args: Option<usize>,
    pub statement: bool,
}

/// A parameter of a process type.
#[derive(Debug, Clone)]
pub(super) enum ParamInfo {
    Scalar(String, Type),
    Chan(String, usize),
    Struct(String, usize),
}

/// The plan of a process type.
#[derive(Debug, Clone)]
pub(super) struct ProcInfo {
    pub name: String,
    pub is_init: bool,
    /// 0 for a process type that is only run.
    pub instances: u32,
    /// The pid of the first active instance.
    pub first_pid: u32,
    pub params: Vec<ParamInfo>,
    /// The label that other processes may ask about.
    pub remote_label: Option<String>,
    /// The local variable that other processes may read.
    pub remote_var: Option<(String, Option<u32>)>,
}

/// Everything global.
#[derive(Debug, Default)]
pub(super) struct World {
    pub mtypes: Vec<(Option<String>, Vec<String>)>,
    pub typedefs: Vec<TypedefInfo>,
    pub leaves: Vec<Leaf>,
    pub chans: Vec<Chan>,
    pub structs: Vec<StructVar>,
    pub signatures: Vec<Vec<Field>>,
    pub macros: Vec<MacroInfo>,
    pub flags: Vec<String>,
    pub inlines: Vec<InlineInfo>,
    pub procs: Vec<ProcInfo>,
    /// How many more `run` expressions may be written.
    pub runs_left: u32,
    pub has_run: bool,
    pub has_exclusive: bool,
    /// Whether anything is sent to a message of one bit, which Spin keeps as a byte.
    pub raw_bits: bool,
    /// Whether the hidden variable is only received into; else it is only assigned.
    pub hidden_receives: bool,
    /// Which direction processes have preferred on global channels.
    pub roles: Vec<(String, bool)>,
    /// The channels with an `xr` or `xs` promise.
    pub promised: Vec<String>,
}

/// The kind of code around a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Atomic,
    DStep,
}

/// The scope of a statement inside a process or an inline.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// The process type's index in the plan; `None` in an inline.
    pub proc: Option<usize>,
    /// The process types that stand before this place and so may be named in remote references.
    pub earlier: usize,
    pub leaves: Vec<Leaf>,
    pub chans: Vec<Chan>,
    pub structs: Vec<StructVar>,
    /// The names declared in the braces around: only braces end a scope, options do not.
    pub declared: Vec<String>,
    pub mode: Mode,
    /// Whether `break` has a loop to leave, inside the same atomic or d_step.
    pub breakable: bool,
    /// Whether the code may run again: then unguarded counting is not bounded.
    pub cyclic: bool,
    /// Labels behind us.
    pub labels: Vec<String>,
    /// The label at the end of the process.
    pub end_label: Option<String>,
    pub end_label_used: bool,
    /// Channel names with the direction that this process prefers: true is sending.
    pub roles: Vec<(String, bool)>,
}

impl Frame {
    pub(super) fn new(proc: Option<usize>) -> Self {
        Frame {
            proc,
            earlier: proc.unwrap_or(0),
            leaves: Vec::new(),
            chans: Vec::new(),
            structs: Vec::new(),
            declared: Vec::new(),
            mode: Mode::Plain,
            breakable: false,
            cyclic: false,
            labels: Vec::new(),
            end_label: None,
            end_label_used: false,
            roles: Vec::new(),
        }
    }
}

/// Whether a type holds numbers.
pub(super) fn is_numeric(ty: &Type) -> bool {
    !matches!(ty, Type::Mtype(_) | Type::Chan | Type::Struct(_))
}

impl Generator {
    /// The visible scalars; inner declarations hide outer ones of the same name.
    pub(super) fn visible(&self, frame: &Frame) -> Vec<Leaf> {
        let mut seen: Vec<Leaf> = Vec::new();
        let mut hidden: Vec<&str> = Vec::new();
        for leaf in frame.leaves.iter().rev() {
            if !hidden.contains(&leaf.base()) {
                seen.push(leaf.clone());
            }
            if leaf.is_plain() {
                hidden.push(leaf.base());
            }
        }
        let taken = |leaf: &Leaf| frame.leaves.iter().any(|inner| inner.base() == leaf.base());
        seen.extend(self.world.leaves.iter().filter(|l| !taken(l)).cloned());
        seen
    }

    /// The visible channels that hold a channel.
    pub(super) fn visible_chans(&self, frame: &Frame) -> Vec<Chan> {
        frame.chans.iter().chain(&self.world.chans).filter(|c| !c.handle).cloned().collect()
    }

    /// Picks a scalar that may be read and fulfils a condition.
    pub(super) fn pick_leaf(&mut self, frame: &Frame, wanted: impl Fn(&Leaf) -> bool) -> Option<Leaf> {
        let all: Vec<Leaf> = self.visible(frame).into_iter().filter(|l| wanted(l)).collect();
        self.rng.pick(&all).cloned()
    }

    /// Picks a numeric scalar that may be assigned.
    pub(super) fn pick_target(&mut self, frame: &Frame) -> Option<Leaf> {
        self.pick_leaf(frame, |l| !l.read_only && is_numeric(&l.ty))
    }

    /// Writes down how to reach a scalar, with an index for each array on the way; the index never uses a
    /// variable named in `avoid`.
    pub(super) fn place(&mut self, frame: &Frame, leaf: &Leaf, avoid: &[String]) -> VariableRef {
        let bases: Vec<String> =
            leaf.path.iter().map(|(name, _)| name.clone()).chain(avoid.iter().cloned()).collect();
        let path = leaf
            .path
            .iter()
            .map(|(name, len)| (name.clone(), len.map(|len| self.index(frame, len, &bases))))
            .collect();
        VariableRef { path }
    }

    /// An index into an array of `len` elements.
    pub(super) fn index(&mut self, frame: &Frame, len: u32, avoid: &[String]) -> Expr {
        use crate::model::BinOp;
        let len = i64::from(len);
        if self.faults && self.rng.chance(3) {
            return Expr::Num(len);
        }
        if self.rng.chance(60) {
            return Expr::Num(self.rng.range(0, len - 1));
        }
        let plain =
            |l: &Leaf| l.is_plain() && is_numeric(&l.ty) && !avoid.contains(&l.path[0].0) && !l.write_only;
        match self.pick_leaf(frame, plain) {
            Some(leaf) if self.rng.chance(75) => {
                let mask = if len >= 4 { 3 } else { i64::from(len >= 2) };
                let var = Expr::var(leaf.path[0].0.clone());
                if self.faults && self.rng.chance(10) {
                    return var;
                }
                Expr::binary(BinOp::BitAnd, var, Expr::Num(mask))
            }
            _ if len >= 2 => Expr::binary(BinOp::BitAnd, Expr::word("_pid"), Expr::Num(1)),
            _ => Expr::Num(0),
        }
    }

    /// Writes down how to reach a channel.
    pub(super) fn chan_place(&mut self, frame: &Frame, chan: &Chan, avoid: &[String]) -> VariableRef {
        let mut avoid = avoid.to_vec();
        avoid.push(chan.base().to_string());
        let path = chan
            .path
            .iter()
            .map(|(name, len)| (name.clone(), len.map(|len| self.index(frame, len, &avoid))))
            .collect();
        VariableRef { path }
    }
}
