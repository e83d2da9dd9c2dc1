//! Reads the PTX that this crate writes, and no other.

use std::collections::HashMap;

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A register.
    Slot(usize),
    /// A constant.
    Imm(u64),
    /// What a register points to, and so many bytes behind it.
    Memory(usize, u64),
    /// A parameter.
    Parameter(usize),
    /// `%tid.x` and the like.
    Special(Special),
}

/// Registers that say who a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are PTX's")]
pub enum Special {
    Tid,
    Ntid,
    Ctaid,
    Nctaid,
}

macro_rules! ops {
    ($($variant:ident = $name:literal,)*) => {
        /// What an instruction does: its name without the type.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs, reason = "the names are PTX's")]
        pub enum Op {
            $($variant,)*
        }

        impl Op {
            fn named(name: &str) -> Result<Op, String> {
                match name {
                    $($name => Ok(Op::$variant),)*
                    _ => Err(format!("no instruction {name}")),
                }
            }
        }
    };
}

ops! {
    Bra = "bra",
    Ret = "ret",
    MembarGl = "membar.gl",
    LdParam = "ld.param",
    Mov = "mov",
    LdGlobalCg = "ld.global.cg",
    LdGlobalCgV2 = "ld.global.cg.v2",
    StGlobal = "st.global",
    AtomGlobalCas = "atom.global.cas",
    AtomGlobalAdd = "atom.global.add",
    RedGlobalAdd = "red.global.add",
    Add = "add",
    Sub = "sub",
    MulLo = "mul.lo",
    MulHi = "mul.hi",
    Div = "div",
    Rem = "rem",
    And = "and",
    Or = "or",
    Xor = "xor",
    Not = "not",
    Shl = "shl",
    Shr = "shr",
    SetpEq = "setp.eq",
    SetpNe = "setp.ne",
    SetpLt = "setp.lt",
    SetpGe = "setp.ge",
    SetpLe = "setp.le",
    SetpGt = "setp.gt",
    Selp = "selp",
    CvtU64U32 = "cvt.u64.u32",
    CvtU32U64 = "cvt.u32.u64",
    Popc = "popc",
    Bfind = "bfind",
    VoteSyncAny = "vote.sync.any",
    VoteSyncBallot = "vote.sync.ballot",
    ShflSyncIdx = "shfl.sync.idx",
    ShflSyncBfly = "shfl.sync.bfly",
}

/// An instruction: `op` is its name with what its types mean for it taken off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// It is executed only where this register is 1, or 0.
    pub guard: Option<(usize, bool)>,
    /// Its name.
    pub op: Op,
    /// Bits of the values.
    pub width: u32,
    /// Whether they have signs.
    pub signed: bool,
    /// Operands; of vectors all of them.
    pub args: Vec<Arg>,
    /// Where a branch leads.
    pub to: usize,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Its instructions.
    pub insts: Vec<Inst>,
    /// How many registers there are.
    pub n_slots: usize,
    /// Threads of a block.
    pub block: u32,
}

/// Reads the text of one kernel.
pub fn parse(text: &str) -> Result<Code, String> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        reader.line(line.trim()).map_err(|why| format!("line {}: {why}: {line}", number + 1))?;
    }
    for (at, label) in std::mem::take(&mut reader.jumps) {
        let to = reader.labels.get(&label).ok_or_else(|| format!("there is no label {label}"))?;
        reader.code.insts[at].to = *to;
    }
    reader.code.n_slots = reader.slots.len();
    Ok(reader.code)
}

#[derive(Default)]
struct Reader {
    code: Code,
    slots: HashMap<String, usize>,
    parameters: Vec<String>,
    labels: HashMap<String, usize>,
    jumps: Vec<(usize, String)>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix(".visible .entry ") {
            let names = rest.split_once('(').ok_or("no parameters")?.1.trim_end_matches(')');
            self.parameters =
                names.split(',').filter_map(|p| p.split_whitespace().last()).map(Into::into).collect();
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix(".maxntid ") {
            let first = rest.split(',').next().unwrap_or_default();
            self.code.block = first.trim().parse().map_err(|_| "no number of threads")?;
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix(".reg ") {
            return self.registers(rest);
        }
        if line.is_empty() || line.starts_with(".version") || line.starts_with(".target") {
            return Ok(());
        }
        if [".address_size", ".minnctapersm"].iter().any(|w| line.starts_with(w))
            || ["{", "}"].contains(&line)
        {
            return Ok(());
        }
        if let Some(label) = line.strip_suffix(':') {
            let again = self.labels.insert(label.to_string(), self.code.insts.len());
            return if again.is_some() { Err("a label twice".to_string()) } else { Ok(()) };
        }
        self.instruction(line.strip_suffix(';').ok_or("no semicolon")?)
    }

    fn registers(&mut self, rest: &str) -> Result<(), String> {
        let (_, names) = rest.trim_end_matches(';').split_once(' ').ok_or("no registers")?;
        for name in names.split(',').map(str::trim) {
            let names = match name.split_once('<') {
                None => vec![name.to_string()],
                Some((stem, n)) => {
                    let n: usize = n.trim_end_matches('>').parse().map_err(|_| "no number of registers")?;
                    (0..n).map(|i| format!("{stem}{i}")).collect()
                }
            };
            for name in names {
                let next = self.slots.len();
                if self.slots.insert(name, next).is_some() {
                    return Err("a register twice".to_string());
                }
            }
        }
        Ok(())
    }

    fn instruction(&mut self, line: &str) -> Result<(), String> {
        let (guard, line) = match line.strip_prefix('@') {
            None => (None, line),
            Some(rest) => {
                let (register, rest) = rest.split_once(' ').ok_or("no instruction")?;
                let (register, wanted) = match register.strip_prefix('!') {
                    Some(register) => (register, false),
                    None => (register, true),
                };
                (Some((self.slot(register)?, wanted)), rest)
            }
        };
        let (name, operands) = line.split_once(' ').unwrap_or((line, ""));
        let (op, width, signed) = typed(name)?;
        let mut inst = Inst { guard, op, width, signed, args: Vec::new(), to: 0 };
        if inst.op == Op::Bra {
            self.jumps.push((self.code.insts.len(), operands.trim().to_string()));
        } else {
            for operand in operands.split(',').map(str::trim).filter(|o| !o.is_empty()) {
                inst.args.push(self.operand(operand.trim_matches(['{', '}']))?);
            }
        }
        self.code.insts.push(inst);
        Ok(())
    }

    fn slot(&self, name: &str) -> Result<usize, String> {
        self.slots.get(name).copied().ok_or_else(|| format!("there is no register {name}"))
    }

    fn operand(&self, text: &str) -> Result<Arg, String> {
        if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            if let Some(parameter) = self.parameters.iter().position(|p| p == inner) {
                return Ok(Arg::Parameter(parameter));
            }
            let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
            return Ok(Arg::Memory(self.slot(base)?, offset.parse().map_err(|_| "no offset")?));
        }
        let special = match text {
            "%tid.x" => Some(Special::Tid),
            "%ntid.x" => Some(Special::Ntid),
            "%ctaid.x" => Some(Special::Ctaid),
            "%nctaid.x" => Some(Special::Nctaid),
            _ => None,
        };
        if let Some(special) = special {
            return Ok(Arg::Special(special));
        }
        match text.starts_with('%') {
            true => self.slot(text).map(Arg::Slot),
            false => text
                .parse::<i64>()
                .map(|value| Arg::Imm(value as u64))
                .or_else(|_| text.parse::<u64>().map(Arg::Imm))
                .map_err(|_| format!("what is {text}?")),
        }
    }
}

/// Takes the type off an instruction's name.
fn typed(name: &str) -> Result<(Op, u32, bool), String> {
    if matches!(name, "bra" | "ret" | "membar.gl" | "cvt.u64.u32" | "cvt.u32.u64") {
        return Ok((Op::named(name)?, 64, false));
    }
    let (op, ty) = name.rsplit_once('.').ok_or("no type")?;
    if ty == "pred" {
        return Ok((Op::named(op)?, 1, false));
    }
    let width = ty[1..].parse().map_err(|_| "no type")?;
    Ok((Op::named(op)?, width, ty.starts_with('s')))
}
