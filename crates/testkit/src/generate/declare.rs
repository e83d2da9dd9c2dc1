//! The global part of a program: macros, types, variables, channels.

use crate::model::{
    BinOp, Decl, Define, Expr, Init, MacroBody, Mtype, Stmt, Type, Typedef, VariableRef, Visibility,
};

use super::Generator;
use super::mix::Feature;
use super::scope::{Chan, Field, Leaf, MacroInfo, StructVar, TypedefInfo, is_numeric};

/// A declaration without a word in front.
pub(super) fn plain_decl(ty: Type, name: &str, len: Option<u32>, init: Init) -> Decl {
    Decl { visibility: Visibility::Plain, ty, name: name.to_string(), len, init }
}

impl Generator {
    /// Writes everything that stands before the processes, except inlines.
    pub(super) fn declare_globals(&mut self) {
        self.world.raw_bits = self.rng.chance(30);
        self.declare_macros();
        self.declare_mtypes();
        self.declare_typedefs();
        let (low, high) = if self.size == super::Size::Small { (1, 3) } else { (2, 3) };
        for _ in 0..self.rng.range(low, high) {
            self.declare_scalar();
        }
        if self.mix.has(Feature::Array) {
            self.declare_array();
        }
        for typedef in 0..self.world.typedefs.len() {
            // Spin's verifier does not compile when a structure with a channel is never used.
            let needed = !self.world.typedefs[typedef].chans.is_empty();
            let last = typedef + 1 == self.world.typedefs.len() && self.world.structs.is_empty();
            if needed || last || self.rng.chance(30) {
                self.declare_struct(typedef);
            }
        }
        if self.mix.has(Feature::Hidden) {
            self.declare_hidden();
        }
        for _ in 0..self.rng.range(1, 2) {
            self.declare_channel(true);
        }
    }

    fn declare_macros(&mut self) {
        if self.mix.has(Feature::Macro) {
            let value = self.rng.range(1, 3);
            self.define("N", None, MacroBody::Expr(Expr::Num(value)), false);
            let (a, b) = (Expr::var("A_"), Expr::var("B_"));
            let body = match self.rng.below(4) {
                0 => Expr::binary(BinOp::Add, a, Expr::binary(BinOp::Mul, b, Expr::Num(2))),
                1 => Expr::binary(BinOp::Sub, a, b),
                2 => Expr::Cond(Box::new(a.clone()), Box::new(b), Box::new(a)),
                _ => Expr::binary(BinOp::BitOr, a, b),
            };
            self.define("MIX", Some(vec!["A_".into(), "B_".into()]), MacroBody::Expr(body), false);
            let target = VariableRef::name("V_");
            let step = Expr::binary(BinOp::Add, Expr::var("V_"), Expr::Num(1));
            let body = Stmt::Assign(target, Expr::binary(BinOp::Rem, step, Expr::Num(3)));
            self.define("STEP", Some(vec!["V_".into()]), MacroBody::Stmt(Box::new(body)), true);
        }
        if self.mix.has(Feature::Ifdef) {
            if self.rng.chance(50) {
                self.model.defines.push(Define { name: "FLAG".into(), params: None, body: MacroBody::Empty });
            }
            self.world.flags.push("FLAG".into());
        }
    }

    fn define(&mut self, name: &str, params: Option<Vec<String>>, body: MacroBody, statement: bool) {
        let args = params.as_ref().map(Vec::len);
        self.world.macros.push(MacroInfo { name: name.into(), args, statement });
        self.model.defines.push(Define { name: name.into(), params, body });
    }

    fn declare_mtypes(&mut self) {
        if !self.mix.has(Feature::Mtype) {
            return;
        }
        let count = self.rng.range(1, 2);
        for index in 0..count {
            let name = (index == 1 || self.rng.chance(30)).then(|| format!("kind{index}"));
            let constants: Vec<String> = (0..self.rng.range(2, 3)).map(|k| format!("m{index}_{k}")).collect();
            self.model.mtypes.push(Mtype { name: name.clone(), constants: constants.clone() });
            self.world.mtypes.push((name, constants));
        }
    }

    fn declare_typedefs(&mut self) {
        if !self.mix.has(Feature::Typedef) {
            return;
        }
        let count = self.rng.range(1, 2);
        for index in 0..count {
            let name = format!("T{index}");
            let mut fields = Vec::new();
            let mut leaves = Vec::new();
            let mut chans = Vec::new();
            let mut sendable = true;
            for field in 0..self.rng.range(1, 2) {
                let field_name = format!("f{field}");
                let ty = self.scalar_type();
                let len = (self.mix.has(Feature::Array) && self.rng.chance(25)).then_some(2);
                let len = if matches!(ty, Type::Unsigned(_)) { None } else { len };
                sendable &= !matches!(ty, Type::Unsigned(_));
                let init = match ty {
                    Type::Mtype(_) => Init::None,
                    _ if self.rng.chance(15) => Init::Expr(Expr::Num(1)),
                    _ => Init::None,
                };
                fields.push(plain_decl(ty.clone(), &field_name, len, init));
                leaves.push(Leaf::new(&field_name, len, ty));
            }
            if index > 0 && self.rng.chance(70) {
                let inner = self.world.typedefs[0].clone();
                let len = (self.mix.has(Feature::Array) && self.rng.chance(30)).then_some(2);
                sendable &= inner.sendable && len.is_none();
                fields.push(plain_decl(Type::Struct(inner.name.clone()), "sub", len, Init::None));
                leaves.extend(prefixed("sub", len, &inner.leaves));
                chans.extend(prefixed_chans("sub", len, &inner.chans));
            } else if self.mix.has(Feature::ChanField) && self.rng.chance(50) {
                self.world.signatures.push(vec![Field::Scalar(Type::Byte)]);
                let signature = self.world.signatures.len() - 1;
                let len = self.rng.chance(30).then_some(2);
                let capacity = self.capacity();
                let init = Init::Chan { capacity, fields: vec![Type::Byte] };
                fields.push(plain_decl(Type::Chan, "ch", len, init));
                let capacity = Some(capacity);
                chans.push(Chan {
                    path: vec![("ch".into(), len)],
                    capacity,
                    signature,
                    global: true,
                    handle: false,
                });
                sendable = false;
            }
            self.model.typedefs.push(Typedef { name: name.clone(), fields });
            self.world.typedefs.push(TypedefInfo { name, leaves, chans, sendable });
        }
    }

    /// A type for a variable.
    pub(super) fn scalar_type(&mut self) -> Type {
        let mtype = if self.world.mtypes.is_empty() { 0 } else { 2 };
        let unsigned = self.mix.weight(Feature::Unsigned);
        let wide = self.mix.weight(Feature::Wide);
        match self.rng.weighted(&[2, 3, 5, 1, wide, wide, unsigned, mtype]) {
            Some(0) => Type::Bit,
            Some(1) => Type::Bool,
            Some(3) => Type::Pid,
            Some(4) => Type::Short,
            Some(5) => Type::Int,
            Some(6) => Type::Unsigned(self.rng.range(1, 5) as u32),
            Some(7) => {
                let which = self.rng.below(self.world.mtypes.len());
                Type::Mtype(self.world.mtypes[which].0.clone())
            }
            _ => Type::Byte,
        }
    }

    /// A constant that fits its type, small unless truncation is to be seen.
    pub(super) fn constant(&mut self, ty: &Type) -> Expr {
        match ty {
            Type::Mtype(name) => {
                let constants = self.world.mtypes.iter().find(|(n, _)| n == name).map(|(_, c)| c.clone());
                match self.rng.pick(&constants.unwrap_or_default()) {
                    Some(constant) => Expr::word(constant.clone()),
                    None => Expr::Num(0),
                }
            }
            Type::Bool => Expr::word(if self.rng.chance(50) { "true" } else { "false" }),
            Type::Bit => Expr::Num(self.rng.range(0, 1)),
            _ if self.mix.has(Feature::Truncate) && self.rng.chance(12) => {
                if self.rng.chance(10) {
                    return Expr::word("'0'");
                }
                let extremes = [255, 256, 257, -1, 32767, 32768, 65537, 7, 2147483647];
                Expr::Num(extremes[self.rng.below(extremes.len())])
            }
            Type::Short | Type::Int if self.rng.chance(12) => Expr::Num(-1),
            _ => match self.world.macros.iter().find(|m| m.args.is_none()).cloned() {
                Some(m) if self.rng.chance(20) => Expr::word(m.name),
                _ => Expr::Num(self.rng.range(0, 2)),
            },
        }
    }

    /// A constant that is not truncated.
    pub(super) fn initial_constant(&mut self, ty: &Type) -> Expr {
        match ty {
            Type::Mtype(_) | Type::Bool => self.constant(ty),
            _ => Expr::Num(self.rng.range(0, 1)),
        }
    }

    fn global(&mut self, decl: Decl) {
        self.model.globals.push(decl);
    }

    fn visibility(&mut self) -> Visibility {
        match self.rng.below(20) {
            0 => Visibility::Local,
            1 => Visibility::Show,
            _ => Visibility::Plain,
        }
    }

    fn declare_scalar(&mut self) {
        let ty = self.scalar_type();
        let name = self.fresh("g");
        let earlier: Vec<Leaf> =
            self.world.leaves.iter().filter(|l| l.is_plain() && is_numeric(&l.ty)).cloned().collect();
        let init = match (self.rng.below(10), self.rng.pick(&earlier)) {
            (0, Some(leaf)) if is_numeric(&ty) => {
                Init::Expr(Expr::binary(BinOp::BitAnd, Expr::var(leaf.base()), Expr::Num(1)))
            }
            (0..4, _) => Init::Expr(self.initial_constant(&ty)),
            _ => Init::None,
        };
        let visibility = self.visibility();
        self.world.leaves.push(Leaf::new(&name, None, ty.clone()));
        self.global(Decl { visibility, ty, name, len: None, init });
    }

    fn declare_array(&mut self) {
        let ty = match self.scalar_type() {
            Type::Unsigned(_) => Type::Byte,
            other => other,
        };
        let name = self.fresh("a");
        let len = self.rng.range(1, 3) as u32;
        let init = self.array_init(&ty, len);
        self.world.leaves.push(Leaf::new(&name, Some(len), ty.clone()));
        self.global(plain_decl(ty, &name, Some(len), init));
    }

    /// An initialiser of an array: none, one value for all, or a list.
    pub(super) fn array_init(&mut self, ty: &Type, len: u32) -> Init {
        match self.rng.below(4) {
            0 => Init::Expr(self.initial_constant(ty)),
            1 if !matches!(ty, Type::Mtype(_)) => {
                Init::List((0..len).map(|_| self.rng.range(0, 1)).collect())
            }
            _ => Init::None,
        }
    }

    fn declare_struct(&mut self, typedef: usize) {
        let name = self.fresh("t");
        let len = (self.mix.has(Feature::Array) && self.rng.chance(30)).then_some(2);
        let info = self.world.typedefs[typedef].clone();
        self.world.leaves.extend(prefixed(&name, len, &info.leaves));
        self.world.chans.extend(prefixed_chans(&name, len, &info.chans));
        self.world.structs.push(StructVar { name: name.clone(), len, typedef });
        self.global(plain_decl(Type::Struct(info.name), &name, len, Init::None));
    }

    fn declare_hidden(&mut self) {
        self.world.hidden_receives = self.rng.chance(40);
        let name = self.fresh("h");
        let mut leaf = Leaf::new(&name, None, Type::Byte);
        leaf.write_only = true;
        self.world.leaves.push(leaf);
        self.global(Decl {
            visibility: Visibility::Hidden,
            ty: Type::Byte,
            name,
            len: None,
            init: Init::None,
        });
    }

    /// Chooses the fields of a new kind of message.
    fn draw_signature(&mut self) -> usize {
        let mut fields = Vec::new();
        for _ in 0..self.rng.weighted(&[0, 6, 4, 1]).unwrap_or(1) {
            let structs: Vec<usize> = (0..self.world.typedefs.len())
                .filter(|&t| {
                    self.world.typedefs[t].sendable && self.world.structs.iter().any(|s| s.typedef == t)
                })
                .collect();
            if self.mix.has(Feature::ChanInMessage) && !self.world.chans.is_empty() && self.rng.chance(30) {
                let which = self.rng.below(self.world.chans.len());
                fields.push(Field::Chan(self.world.chans[which].signature));
            } else if !structs.is_empty() && self.rng.chance(40) {
                fields.push(Field::Struct(structs[self.rng.below(structs.len())]));
            } else {
                let ty = match self.scalar_type() {
                    Type::Unsigned(_) => Type::Byte,
                    other => other,
                };
                fields.push(Field::Scalar(ty));
            }
        }
        self.world.signatures.push(fields);
        self.world.signatures.len() - 1
    }

    /// The types of a signature as they are written.
    pub(super) fn field_types(&self, signature: usize) -> Vec<Type> {
        let name = |field: &Field| match field {
            Field::Scalar(ty) => ty.clone(),
            Field::Chan(_) => Type::Chan,
            Field::Struct(t) => Type::Struct(self.world.typedefs[*t].name.clone()),
        };
        self.world.signatures[signature].iter().map(name).collect()
    }

    /// A capacity, by the mix.
    pub(super) fn capacity(&mut self) -> u32 {
        let (rendezvous, buffered) =
            (self.mix.weight(Feature::Rendezvous), self.mix.weight(Feature::Buffered));
        match self.rng.weighted(&[rendezvous * 2, buffered, buffered]) {
            Some(0) => 0,
            Some(2) => 2,
            _ => 1,
        }
    }

    fn declare_channel(&mut self, arrays: bool) {
        let signature = self.draw_signature();
        let name = self.fresh("q");
        let len = (arrays && self.mix.has(Feature::ChanArray) && self.rng.chance(40)).then_some(2);
        let capacity = self.capacity();
        let fields = self.field_types(signature);
        self.world.chans.push(Chan {
            path: vec![(name.clone(), len)],
            capacity: Some(capacity),
            signature,
            global: true,
            handle: false,
        });
        self.global(plain_decl(Type::Chan, &name, len, Init::Chan { capacity, fields }));
    }
}

/// The channels of a structure, reached through a variable or a field.
fn prefixed_chans(name: &str, len: Option<u32>, chans: &[Chan]) -> Vec<Chan> {
    chans
        .iter()
        .map(|chan| {
            let mut path = vec![(name.to_string(), len)];
            path.extend(chan.path.iter().cloned());
            Chan { path, ..chan.clone() }
        })
        .collect()
}

/// The scalars of a structure, reached through a variable or a field.
pub(super) fn prefixed(name: &str, len: Option<u32>, leaves: &[Leaf]) -> Vec<Leaf> {
    leaves
        .iter()
        .map(|leaf| {
            let mut path = vec![(name.to_string(), len)];
            path.extend(leaf.path.iter().cloned());
            Leaf { path, ..leaf.clone() }
        })
        .collect()
}
