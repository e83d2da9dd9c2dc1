//! Declarations: constants, structures, variables, channels and their initialisation.

use super::Lowerer;
use super::names::Symbol;
use crate::ast::{self, Initializer, TypeName, Visibility};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    Base, ChanType, ChanTypeId, Expr, ExprKind, Field, InitStep, MtypeId, MtypeSet, Place, Scalar, Struct,
    StructId, Type, Var,
};
use crate::source::Span;
use std::sync::Arc;

/// How Spin calls the set of plain `mtype` constants.
pub const UNNAMED: &str = "_unnamed_";
/// The most symbolic constants a set may have.
const MAX_MTYPES: usize = 255;
/// The most cells that all variables of one kind may take together.
pub(super) const MAX_CELLS: u32 = 1 << 20;
/// The most cells of all processes that start at once.
pub(super) const MAX_ACTIVE_CELLS: u64 = 1 << 22;
/// The most initialisations in all.
const MAX_INIT_STEPS: usize = 1 << 21;
/// The most fields of one message or parameters of one process, and of all messages and arguments together.
const MAX_FIELDS: usize = 1 << 12;
const MAX_PASSED: usize = 1 << 22;
/// How deeply structures may be nested.
const MAX_STRUCT_DEPTH: usize = 250;

/// What a structure's field starts with.
#[derive(Clone, Debug)]
pub enum FieldInit {
    /// An expression for every element.
    Value(Expr),
    /// A list for the elements; the last one fills the rest.
    List(Vec<Expr>),
    /// A new channel for every element.
    Chan(ChanTypeId),
}

/// What is known about one declared variable before its cells are placed.
pub struct Declared {
    pub ty: Type,
    pub hidden: bool,
    pub init: Option<FieldInit>,
}

impl Lowerer<'_> {
    pub(super) fn declare_mtype(&mut self, decl: &ast::MtypeDecl) {
        let set_name = decl.subtype.as_ref().map_or(UNNAMED, |s| &*s.name);
        let set = self.mtype_set(set_name);
        // Spin counts the names of one declaration from the last to the first.
        for ident in decl.names.iter().rev() {
            let value = self.program.mtypes[set.index()].values.len() as i32 + 1;
            self.declare_constant(ident, set, value);
        }
        if self.program.mtypes[set.index()].values.len() > MAX_MTYPES {
            self.error(Code::E0201, decl.span, format!("more than {MAX_MTYPES} mtype constants in one set"));
        }
    }

    pub(super) fn declare_enum(&mut self, decl: &ast::EnumDecl) {
        if self.types.contains_key(&decl.name.name) || self.enums.contains_key(&decl.name.name) {
            self.error(
                Code::E0202,
                decl.name.span,
                format!("the type `{}` is declared twice", decl.name.name),
            );
            return;
        }
        let set = self.mtype_set(&decl.name.name);
        self.enums.insert(decl.name.name.clone(), set);
        for (value, ident) in decl.names.iter().enumerate() {
            self.declare_constant(ident, set, value as i32);
        }
    }

    fn declare_constant(&mut self, ident: &ast::Ident, set: MtypeId, value: i32) {
        if let Some((_, _, first)) = self.constants.get(&ident.name) {
            let first = *first;
            let message = format!("the constant `{}` is declared twice", ident.name);
            self.push(Diagnostic::new(Code::E0203, ident.span, message).label(first, "first declared here"));
            return;
        }
        self.constants.insert(ident.name.clone(), (set, value, ident.span));
        self.program.mtypes[set.index()].values.push((ident.name.to_string(), value));
    }

    pub(super) fn mtype_set(&mut self, name: &str) -> MtypeId {
        if let Some(i) = self.program.mtypes.iter().position(|m| m.name == name) {
            return MtypeId(i as u32);
        }
        self.program.mtypes.push(MtypeSet { name: name.into(), values: Vec::new() });
        MtypeId(self.program.mtypes.len() as u32 - 1)
    }

    pub(super) fn declare_typedef(&mut self, typedef: &ast::Typedef) {
        self.declare_structure(typedef);
        if !self.types.contains_key(&typedef.name.name) {
            self.poisoned.insert(typedef.name.name.clone());
        }
    }

    fn declare_structure(&mut self, typedef: &ast::Typedef) {
        if self.types.contains_key(&typedef.name.name) {
            self.error(
                Code::E0202,
                typedef.name.span,
                format!("the type `{}` is declared twice", typedef.name.name),
            );
            return;
        }
        let mut fields: Vec<Field> = Vec::new();
        let mut inits = Vec::new();
        let mut offset = 0u32;
        for decl in &typedef.fields {
            for var in &decl.vars {
                let Some(declared) = self.declared(decl, var, true) else {
                    self.poisoned.insert(var.name.name.clone());
                    continue;
                };
                if declared.hidden {
                    let message = format!("the field `{}` cannot be hidden", var.name.name);
                    self.push(
                        Diagnostic::new(Code::E0237, var.name.span, message)
                            .help("only global variables can be hidden"),
                    );
                }
                if fields.iter().any(|f| *f.name == *var.name.name) {
                    self.field_declared_twice(typedef, &var.name);
                    continue;
                }
                let cells = self.program.cells_of(&declared.ty);
                fields.push(Field { name: var.name.name.to_string(), ty: declared.ty, offset });
                inits.push(declared.init);
                offset = offset.saturating_add(cells);
                if offset > MAX_CELLS {
                    self.error(Code::E0205, var.name.span, "this structure is too large");
                    return;
                }
            }
        }
        let depth = 1 + fields.iter().map(|f| self.struct_depth(&f.ty)).max().unwrap_or(0);
        if depth > MAX_STRUCT_DEPTH {
            let message = format!("structures are nested more than {MAX_STRUCT_DEPTH} deep");
            self.error(Code::E0205, typedef.name.span, message);
            return;
        }
        if fields.is_empty() {
            return;
        }
        let initialised =
            fields.iter().zip(&inits).any(|(f, i)| i.is_some() || self.has_initial_values(&f.ty));
        self.struct_facts.push((depth, initialised));
        self.program.structs.push(Struct { name: typedef.name.name.to_string(), fields, n_cells: offset });
        self.field_inits.push(inits);
        self.struct_spans.push(typedef.name.span);
        let id = StructId(self.program.structs.len() as u32 - 1);
        self.types.insert(typedef.name.name.clone(), id);
    }

    fn field_declared_twice(&mut self, typedef: &ast::Typedef, name: &ast::Ident) {
        let message = format!("the field `{}` is declared twice", name.name);
        let mut d = Diagnostic::new(Code::E0204, name.span, message);
        let mut all = typedef.fields.iter().flat_map(|d| &d.vars);
        if let Some(first) = all.find(|v| v.name.name == name.name) {
            d = d.label(first.name.span, "first declared here");
        }
        self.push(d.help("give one of them another name"));
    }

    /// How many structures stand inside one another in a type.
    fn struct_depth(&self, ty: &Type) -> usize {
        match ty {
            Type::Scalar(_) => 0,
            Type::Array(element, _) => self.struct_depth(element),
            Type::Struct(id) => self.struct_facts.get(id.index()).map_or(0, |f| f.0),
        }
    }

    /// Whether some field in a type starts with a value of its own.
    fn has_initial_values(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) => false,
            Type::Array(element, _) => self.has_initial_values(element),
            Type::Struct(id) => self.struct_facts.get(id.index()).is_some_and(|f| f.1),
        }
    }

    /// Counts cells that travel in messages and arguments; too many are an error.
    pub(super) fn count_passed(&mut self, cells: usize, span: Span) -> bool {
        self.n_passed = self.n_passed.saturating_add(cells);
        if cells <= MAX_FIELDS && self.n_passed <= MAX_PASSED {
            return true;
        }
        let message = if cells > MAX_FIELDS {
            format!("{cells} values cannot be passed at once: {MAX_FIELDS} can")
        } else {
            "the messages and arguments of this model are too large".to_string()
        };
        self.error(Code::E0205, span, message);
        false
    }

    /// The scalar of a basic type; `None` for structures.
    pub(super) fn scalar(&mut self, ty: &TypeName, array: bool) -> Option<Scalar> {
        Some(match ty {
            TypeName::Bit if !array => Scalar::Bit,
            TypeName::Bool if !array => Scalar::Bool,
            TypeName::Bit => Scalar::WideBit,
            TypeName::Bool => Scalar::WideBool,
            TypeName::Byte => Scalar::Byte,
            TypeName::Pid => Scalar::Pid,
            TypeName::Short => Scalar::Short,
            TypeName::Int => Scalar::Int,
            TypeName::Unsigned => Scalar::Unsigned(16),
            TypeName::Chan => Scalar::Chan,
            TypeName::Mtype(sub) => {
                let name = sub.as_ref().map_or(UNNAMED, |s| &*s.name).to_string();
                Scalar::Mtype(self.mtype_set(&name))
            }
            TypeName::Lock => Scalar::Lock,
            TypeName::Sema => Scalar::Sema,
            TypeName::User(name) => Scalar::Mtype(*self.enums.get(&name.name)?),
        })
    }

    fn struct_id(&mut self, ty: &TypeName) -> Option<StructId> {
        let TypeName::User(name) = ty else { return None };
        let id = self.types.get(&name.name).copied();
        if id.is_none() && !self.doubted(&name.name) {
            self.error(Code::E0221, name.span, format!("`{}` is not a type", name.name));
        }
        id
    }

    /// Works out type and initial value of one variable; `None` after an error.
    pub(super) fn declared(
        &mut self,
        decl: &ast::Decl,
        var: &ast::VarDecl,
        init_ok: bool,
    ) -> Option<Declared> {
        let array = match &var.array {
            Some(size) => Some(self.array_size(var, size)?),
            None => None,
        };
        let element = match self.scalar(&decl.ty, array.is_some()) {
            Some(scalar) => Type::Scalar(self.with_width(decl, var, scalar)?),
            None => {
                if let Some(bits) = &var.bits {
                    self.error(Code::E0207, bits.span, "only an `unsigned` can have a width");
                }
                Type::Struct(self.struct_id(&decl.ty)?)
            }
        };
        let hidden = decl.visibility == Some(Visibility::Hidden);
        let what = match element {
            Type::Scalar(Scalar::Bit | Scalar::Bool) => Some("bit"),
            Type::Scalar(Scalar::Chan) => Some("channel"),
            _ => None,
        };
        if let Some(what) = what.filter(|_| hidden) {
            self.error(
                Code::E0208,
                var.name.span,
                format!("the {what} `{}` cannot be hidden", var.name.name),
            );
        }
        self.check_initial_set(var, &element);
        let is_chan = matches!(element, Type::Scalar(Scalar::Chan));
        if hidden && is_chan {
            self.error(
                Code::E0208,
                var.name.span,
                format!("the channel `{}` cannot be hidden", var.name.name),
            );
        }
        let init = if init_ok { self.initializer(var, is_chan, array.is_some()) } else { None };
        let ty = match array {
            Some(n) => Type::Array(Box::new(element), n),
            None => element,
        };
        if self.program.cells_of(&ty) > MAX_CELLS {
            let d = Diagnostic::new(Code::E0205, var.name.span, format!("`{}` is too large", var.name.name));
            self.push(d.help(format!("a variable can have at most {MAX_CELLS} values in all")));
            return None;
        }
        Some(Declared { ty, hidden, init })
    }

    fn array_size(&mut self, var: &ast::VarDecl, size: &ast::Expr) -> Option<u32> {
        let n = self.bound(size, 8)?;
        if n <= 0 || n > i64::from(MAX_CELLS) {
            let message = format!("bad array size {n} for `{}`", var.name.name);
            let help = format!("an array has at least 1 and at most {MAX_CELLS} elements");
            self.push(Diagnostic::new(Code::E0209, size.span, message).help(help));
            return None;
        }
        Some(n as u32)
    }

    /// A constant, or the initial value of the variable that is named (Spin's exception for bounds).
    pub(super) fn bound(&mut self, expr: &ast::Expr, default: i64) -> Option<i64> {
        if let ast::ExprKind::Var(r) = &expr.kind
            && let [part] = &r.parts[..]
            && part.index.is_none()
            && !self.constants.contains_key(&part.name.name)
        {
            return match self.find(&part.name.name) {
                Some(Symbol::Global(_) | Symbol::Local(_)) => {
                    let value = self.initial_values.get(&part.name.name).copied().unwrap_or(0);
                    Some(if value > 0 { value } else { default })
                }
                _ => {
                    self.undeclared(&part.name);
                    None
                }
            };
        }
        self.constant(expr)
    }

    fn with_width(&mut self, decl: &ast::Decl, var: &ast::VarDecl, scalar: Scalar) -> Option<Scalar> {
        match (&var.bits, scalar) {
            (None, Scalar::Unsigned(_)) => {
                let message = format!("the unsigned `{}` has no width", var.name.name);
                self.push(
                    Diagnostic::new(Code::E0210, var.name.span, message)
                        .help(format!("write `unsigned {} : 4` for a value of 4 bits", var.name.name)),
                );
                None
            }
            (Some(bits), Scalar::Unsigned(_)) => {
                let n = self.constant(bits)?;
                if !(1..32).contains(&n) {
                    self.error(Code::E0211, bits.span, format!("the width {n} is not between 1 and 31"));
                    return None;
                }
                Some(Scalar::Unsigned(n as u8))
            }
            (Some(bits), _) => {
                self.push(
                    Diagnostic::new(Code::E0207, bits.span, "only an `unsigned` can have a width")
                        .label(decl.ty_span, "this type has a fixed width"),
                );
                None
            }
            (None, scalar) => Some(scalar),
        }
    }

    fn initializer(&mut self, var: &ast::VarDecl, is_chan: bool, is_array: bool) -> Option<FieldInit> {
        match var.init.as_ref()? {
            Initializer::Chan(init) if is_chan => {
                let ty = self.chan_type(&var.name, init)?;
                Some(FieldInit::Chan(ty))
            }
            Initializer::Chan(init) => {
                let message = format!("`{}` is not a channel, but is initialised as one", var.name.name);
                self.push(Diagnostic::new(Code::E0212, init.span, message).help("declare it with `chan`"));
                None
            }
            Initializer::List(items, span) => {
                if !is_array {
                    self.error(
                        Code::E0113,
                        *span,
                        format!("`{}` must be an array to be initialised with a list", var.name.name),
                    );
                    return None;
                }
                Some(FieldInit::List(items.iter().map(|e| self.expr(e)).collect()))
            }
            Initializer::Expr(e) => {
                self.check_initial_value(e);
                self.check_channels_in_initial_value(e);
                Some(FieldInit::Value(self.expr(e)))
            }
        }
    }

    fn check_initial_value(&mut self, e: &ast::Expr) {
        if super::expr::ast_contains_run(e) {
            self.push(
                Diagnostic::new(Code::E0214, e.span, "`run` cannot be used to initialise a variable")
                    .help("declare the variable first and assign to it in a statement of its own"),
            );
        }
    }

    /// A variable of a named mtype starts with a constant of that mtype.
    fn check_initial_set(&mut self, var: &ast::VarDecl, element: &Type) {
        let (Some(Initializer::Expr(e)), Type::Scalar(Scalar::Mtype(set))) = (&var.init, element) else {
            return;
        };
        let ast::ExprKind::Var(r) = &e.kind else { return };
        let [part] = &r.parts[..] else { return };
        let Some((given, ..)) = self.constants.get(&part.name.name) else { return };
        let (name, given_name) =
            (&self.program.mtypes[set.index()].name, &self.program.mtypes[given.index()].name);
        if given != set && name != UNNAMED {
            let message = format!(
                "`{}` holds constants of mtype `{name}`, but is assigned one of `{given_name}`",
                var.name.name
            );
            self.error(Code::E0242, e.span, message);
        }
    }

    pub(super) fn chan_type(&mut self, name: &ast::Ident, init: &ast::ChanInit) -> Option<ChanTypeId> {
        let capacity = self.constant(&init.capacity)?;
        if !(0..=65_535).contains(&capacity) {
            let message = format!("bad channel capacity {capacity}");
            let help = "a channel holds from 0 (a rendezvous) to 65535 messages";
            self.push(Diagnostic::new(Code::E0402, init.capacity.span, message).help(help));
            return None;
        }
        let mut fields = Vec::new();
        for (ty, span) in &init.fields {
            if matches!(ty, TypeName::Unsigned) {
                self.error(Code::E0403, *span, "`unsigned` cannot be the type of a message field");
                return None;
            }
            match self.scalar(ty, false) {
                Some(scalar) => fields.push(scalar),
                None => {
                    let id = self.struct_id(ty)?;
                    if !self.count_passed(self.program.structs[id.index()].n_cells as usize, *span) {
                        return None;
                    }
                    self.check_flat(id, *span);
                    self.program.scalars_of(&Type::Struct(id), &mut fields);
                    if fields.iter().any(|f| matches!(f, Scalar::Unsigned(_))) {
                        let message = "a structure with an `unsigned` cannot travel in messages";
                        let d = Diagnostic::new(Code::E0403, *span, message)
                            .label(self.struct_spans[id.index()], "the structure is declared here");
                        self.push(d.help("make the field a `byte`, `short` or `int`"));
                        return None;
                    }
                }
            }
        }
        settle_bits(&mut fields);
        if !self.count_passed(fields.len(), init.span) {
            return None;
        }
        self.max_fields = self.max_fields.max(fields.len());
        let ty = ChanType { name: name.name.to_string(), capacity: capacity as u32, fields, span: init.span };
        self.program.chan_types.push(ty);
        Some(ChanTypeId(self.program.chan_types.len() as u32 - 1))
    }

    /// Structures that hold arrays of structures cannot travel in messages or parameters.
    pub(super) fn check_flat(&mut self, id: StructId, span: Span) {
        let fields = self.program.structs[id.index()].fields.clone();
        for field in fields {
            match field.ty {
                Type::Array(element, _) if matches!(*element, Type::Struct(_)) => {
                    let message = format!(
                        "the field `{}` is an array of structures, which cannot be passed",
                        field.name
                    );
                    let d = Diagnostic::new(Code::E0404, span, message)
                        .label(self.struct_spans[id.index()], "the structure is declared here");
                    self.push(d.help("pass the elements one by one"));
                }
                Type::Struct(inner) => self.check_flat(inner, span),
                _ => {}
            }
        }
    }

    /// Declares global variables.
    pub(super) fn declare_globals(&mut self, decl: &ast::Decl) {
        for var in &decl.vars {
            let Some(declared) = self.declared(decl, var, true) else {
                self.poisoned.insert(var.name.name.clone());
                continue;
            };
            if !self.may_declare(&var.name) {
                continue;
            }
            let cell = self.program.n_global_cells;
            self.program.n_global_cells = cell.saturating_add(self.program.cells_of(&declared.ty));
            if self.program.n_global_cells > MAX_CELLS {
                self.error(Code::E0205, var.name.span, "the global variables are too large");
                return;
            }
            self.note_initial_value(&var.name.name, &declared.init);
            let steps =
                self.init_steps(Base::Global, cell, &declared.ty, declared.init.as_ref(), var.name.span);
            let rank = init_rank(&declared.ty);
            self.global_inits.push((rank, steps));
            let index = self.program.globals.len();
            self.note_message((None, index), &var.init);
            self.globals.insert(var.name.name.clone(), (index, var.name.span));
            self.pending_names.insert(var.name.name.clone());
            let Declared { ty, hidden, .. } = declared;
            self.program.globals.push(Var {
                name: var.name.name.to_string(),
                ty,
                cell,
                hidden,
                span: var.name.span,
            });
        }
        self.pending_names.clear();
    }

    pub(super) fn note_initial_value(&mut self, name: &Arc<str>, init: &Option<FieldInit>) {
        if let Some(FieldInit::Value(Expr { kind: ExprKind::Const(n), .. })) = init {
            self.initial_values.insert(name.clone(), i64::from(*n));
        }
    }

    /// The steps that give a variable its first values.
    pub(super) fn init_steps(
        &mut self,
        base: Base,
        cell: u32,
        ty: &Type,
        init: Option<&FieldInit>,
        span: Span,
    ) -> Vec<InitStep> {
        let mut steps = Vec::new();
        if init.is_none() && !self.has_initial_values(ty) {
            return steps;
        }
        self.n_init_steps = self.n_init_steps.saturating_add(self.program.cells_of(ty) as usize);
        if self.n_init_steps > MAX_INIT_STEPS {
            self.error(
                Code::E0205,
                span,
                "too many initial values: the variables of this model are too large",
            );
            return steps;
        }
        self.push_init_steps(base, cell, ty, init, span, &mut steps);
        steps
    }

    fn push_init_steps(
        &mut self,
        base: Base,
        cell: u32,
        ty: &Type,
        init: Option<&FieldInit>,
        span: Span,
        steps: &mut Vec<InitStep>,
    ) {
        let place = |cell: u32, scalar: Scalar| Place { base, cell, indices: Vec::new(), scalar, span };
        match ty {
            Type::Scalar(scalar) => match init {
                Some(FieldInit::Value(e)) => steps.push(InitStep::Assign(place(cell, *scalar), e.clone())),
                Some(FieldInit::Chan(id)) => steps.push(InitStep::NewChan(place(cell, *scalar), *id)),
                Some(FieldInit::List(items)) => {
                    steps.extend(items.first().map(|e| InitStep::Assign(place(cell, *scalar), e.clone())));
                }
                None => {}
            },
            Type::Array(element, n) => {
                let stride = self.program.cells_of(element);
                for i in 0..*n {
                    let one = match init {
                        Some(FieldInit::List(items)) => {
                            items.get(i as usize).or(items.last()).map(|e| FieldInit::Value(e.clone()))
                        }
                        other => other.cloned(),
                    };
                    if one.is_none() && matches!(**element, Type::Scalar(_)) {
                        break;
                    }
                    self.push_init_steps(base, cell + i * stride, element, one.as_ref(), span, steps);
                }
            }
            Type::Struct(id) => {
                if !self.has_initial_values(ty) {
                    return;
                }
                let fields = self.program.structs[id.index()].fields.clone();
                let inits = self.field_inits[id.index()].clone();
                for (field, init) in fields.iter().zip(inits) {
                    self.push_init_steps(base, cell + field.offset, &field.ty, init.as_ref(), span, steps);
                }
            }
        }
    }
}

/// Bits of a message take one bit each, also where they come from an array inside a structure; a message of
/// nothing but a bit keeps a whole byte.
fn settle_bits(fields: &mut [Scalar]) {
    let one = fields.len() == 1;
    for field in fields {
        match field {
            Scalar::Bit if one => *field = Scalar::WideBit,
            Scalar::Bool if one => *field = Scalar::WideBool,
            Scalar::WideBit if !one => *field = Scalar::Bit,
            Scalar::WideBool if !one => *field = Scalar::Bool,
            _ => {}
        }
    }
}

/// Spin initialises globals by type, in this order; within a type as declared.
fn init_rank(ty: &Type) -> u8 {
    match ty {
        Type::Array(element, _) => init_rank(element),
        Type::Struct(_) => 7,
        Type::Scalar(scalar) => match scalar {
            Scalar::Unsigned(_) => 0,
            Scalar::Bit | Scalar::Bool | Scalar::WideBit | Scalar::WideBool => 1,
            Scalar::Byte | Scalar::Pid => 2,
            Scalar::Chan => 3,
            Scalar::Mtype(_) => 4,
            Scalar::Short => 5,
            Scalar::Int | Scalar::Lock | Scalar::Sema => 6,
        },
    }
}
