//! Names: what they stand for, and how a reference becomes a cell.

use super::Lowerer;
use crate::ast::{self, Ident, VarRef};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::ir::{Base, Expr, ExprKind, Index, MtypeId, Place, ProctypeId, Scalar, Type};
use crate::source::Span;

/// What a visible name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A global variable.
    Global(usize),
    /// A variable of the current proctype.
    Local(usize),
    /// A proctype.
    Proctype(ProctypeId),
}

/// Names that the language predefines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predefined {
    /// `_`
    Scratch,
    /// `_pid`
    Pid,
    /// `_last`
    Last,
    /// `_nr_pr`
    NrPr,
    /// `_priority`
    Priority,
    /// `_p`: the location of the process.
    Location,
}

/// What a reference refers to.
pub enum Referent {
    /// A constant.
    Constant(i32, MtypeId),
    /// Something predefined.
    Predefined(Predefined),
    /// A cell (or, for structures and whole arrays, the first of several) and its type.
    Cells(Box<Place>, Type),
}

pub fn predefined(name: &str) -> Option<Predefined> {
    Some(match name {
        "_" => Predefined::Scratch,
        "_pid" => Predefined::Pid,
        "_last" => Predefined::Last,
        "_nr_pr" => Predefined::NrPr,
        "_priority" => Predefined::Priority,
        "_p" => Predefined::Location,
        _ => return None,
    })
}

impl Lowerer<'_> {
    /// The visible meaning of a name.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        if self.pending_names.contains(name) {
            return None;
        }
        if let Some(context) = &self.context
            && let Some((_, local)) = context.scopes.find(name)
        {
            return Some(Symbol::Local(*local));
        }
        if let Some((index, _)) = self.globals.get(name) {
            return Some(Symbol::Global(*index));
        }
        let id = *self.proctype_ids.get(name)?;
        self.declared_proctypes.contains(&id).then_some(Symbol::Proctype(id))
    }

    /// Whether a variable of this name can be declared here; reports it if not.
    pub(super) fn may_declare(&mut self, name: &Ident) -> bool {
        let again = self.pending_names.contains(&name.name);
        let first = match self.find(&name.name) {
            None if again => Span::NONE,
            None if self.context.as_ref().is_some_and(|c| c.label_scopes.find(&name.name).is_some()) => {
                Span::NONE
            }
            None if predefined(&name.name).is_none() && !self.constants.contains_key(&name.name) => {
                return true;
            }
            None => Span::NONE,
            Some(Symbol::Global(i)) => self.program.globals[i].span,
            Some(Symbol::Local(i)) => self.context.as_ref().map_or(Span::NONE, |c| c.locals[i].span),
            Some(Symbol::Proctype(id)) => self.program.proctype(id).span,
        };
        let mut d = Diagnostic::new(Code::E0220, name.span, format!("redeclaration of `{}`", name.name))
            .help("Promela has no shadowing: give one of the two another name");
        if first != Span::NONE {
            d = d.label(first, "first declared here");
        } else if predefined(&name.name).is_some() {
            d = d.help("this name is predefined: choose another one");
        } else if let Some((_, _, span)) = self.constants.get(&name.name) {
            d = d.label(*span, "this is a symbolic constant").help("choose another name for the variable");
        } else if let Some(c) = self.context.as_ref().filter(|c| c.label_scopes.find(&name.name).is_some()) {
            d = d.help("a label of this proctype has this name: choose another one");
            if let Some((_, span)) = c.flow.label_names().find(|(n, _)| *n == &name.name) {
                d = d.label(span, "the label");
            }
        }
        self.push(d);
        false
    }

    /// Resolves a reference. `None` after an error.
    pub(super) fn resolve(&mut self, reference: &VarRef, whole_array: bool) -> Option<Referent> {
        let first = reference.parts.first()?;
        if reference.parts.len() == 1 && first.index.is_none() {
            if let Some(value) = self.iterators.iter().rev().find(|(n, _)| *n == first.name.name) {
                let value = value.1;
                let set = self.mtype_set(super::types::UNNAMED);
                return Some(Referent::Constant(value, set));
            }
            if let Some((set, value, _)) = self.constants.get(&first.name.name) {
                return Some(Referent::Constant(*value, *set));
            }
        }
        let (base, cell, ty) = match self.find(&first.name.name) {
            Some(Symbol::Global(i)) => {
                let var = &self.program.globals[i];
                (Base::Global, var.cell, var.ty.clone())
            }
            Some(Symbol::Local(i)) => {
                let var = &self.context.as_ref()?.locals[i];
                (Base::Local, var.cell, var.ty.clone())
            }
            Some(Symbol::Proctype(_)) => {
                let message = format!("the proctype `{}` is used as a variable", first.name.name);
                let help = format!("to start a process, write `run {}(…)`", first.name.name);
                self.push(Diagnostic::new(Code::E0222, first.name.span, message).help(help));
                return None;
            }
            None => {
                if let Some(p) = predefined(&first.name.name).filter(|_| reference.parts.len() == 1) {
                    return Some(Referent::Predefined(p));
                }
                self.undeclared(&first.name);
                return None;
            }
        };
        self.used.insert(first.name.name.clone());
        let place = Place { base, cell, indices: Vec::new(), scalar: Scalar::Int, span: reference.span };
        self.select(place, ty, reference, whole_array)
    }

    /// Follows indices and fields.
    pub(super) fn select(
        &mut self,
        mut place: Place,
        mut ty: Type,
        reference: &VarRef,
        whole_array: bool,
    ) -> Option<Referent> {
        for (i, part) in reference.parts.iter().enumerate() {
            if i > 0 {
                let Type::Struct(id) = ty else {
                    let before = &reference.parts[i - 1].name;
                    let message =
                        format!("`{}` is not a structure: it has no field `{}`", before.name, part.name.name);
                    let mut d = Diagnostic::new(Code::E0223, part.name.span, message)
                        .help("only a variable whose type is a `typedef` has fields");
                    if let Some(span) = self.span_of(&before.name).filter(|_| i == 1) {
                        d = d.label(span, "declared here");
                    }
                    self.push(d);
                    return None;
                };
                let structure = &self.program.structs[id.index()];
                let Some(field) = structure.fields.iter().find(|f| *f.name == *part.name.name) else {
                    let message = format!("no field `{}` in structure `{}`", part.name.name, structure.name);
                    let names: Vec<&str> = structure.fields.iter().map(|f| f.name.as_str()).collect();
                    let d = Diagnostic::new(Code::E0224, part.name.span, message)
                        .label(self.struct_spans[id.index()], "the structure is declared here");
                    let d = match nearest(&part.name.name, names.iter().copied()) {
                        Some(near) => d.meant(&part.name.name, near),
                        None => d.help(format!("its fields are: {}", shortened(&names))),
                    };
                    self.push(d);
                    return None;
                };
                place.cell += field.offset;
                ty = field.ty.clone();
            }
            let last = i + 1 == reference.parts.len();
            ty = self.index(&mut place, ty, part, whole_array && last)?;
        }
        if let Type::Scalar(scalar) = ty {
            place.scalar = scalar;
        }
        Some(Referent::Cells(Box::new(place), ty))
    }

    fn index(&mut self, place: &mut Place, ty: Type, part: &ast::RefPart, whole_array: bool) -> Option<Type> {
        match (ty, &part.index) {
            (Type::Array(element, len), Some(index)) => {
                let stride = self.program.cells_of(&element);
                let value = self.expr(index);
                match value.kind {
                    ExprKind::Const(n) if (0..i64::from(len)).contains(&i64::from(n)) => {
                        place.cell += n as u32 * stride
                    }
                    _ => {
                        // An argument of an inline is written where that is used; what happens to it happens in
                        // the body.
                        let (array, index) = (part.name.span, value.span);
                        let in_body =
                            self.sources.site(array).expansion != self.sources.site(index).expansion;
                        let span = if in_body { array } else { index };
                        place.indices.push(Index { value, len, stride, span });
                    }
                }
                Some(*element)
            }
            (Type::Array(element, len), None) => {
                if whole_array {
                    return Some(Type::Array(element, len));
                }
                let message = format!("missing array index for `{}`", part.name.name);
                let help = format!("write `{}[i]` for one of its {len} elements", part.name.name);
                let d = Diagnostic::new(Code::E0225, part.name.span, message).help(help);
                self.push_with_declaration(d, &part.name.name);
                None
            }
            (ty, Some(index)) => {
                if matches!(index.kind, ast::ExprKind::Number(0)) {
                    return Some(ty);
                }
                let message = format!("`{}` is not an array", part.name.name);
                let d = Diagnostic::new(Code::E0226, index.span, message).help("remove the index");
                self.push_with_declaration(d, &part.name.name);
                None
            }
            (ty, None) => Some(ty),
        }
    }

    /// All cells of a place, one by one: how structures travel in messages and parameters.
    pub(super) fn flatten(&mut self, place: &Place, ty: &Type) -> Vec<Place> {
        if !self.count_passed(self.program.cells_of(ty) as usize, place.span) {
            return Vec::new();
        }
        if let Type::Struct(id) = ty {
            self.check_flat(*id, place.span);
        }
        let mut scalars = Vec::new();
        self.program.scalars_of(ty, &mut scalars);
        let one =
            |(i, scalar): (usize, Scalar)| Place { cell: place.cell + i as u32, scalar, ..place.clone() };
        scalars.into_iter().enumerate().map(one).collect()
    }

    /// The place of a reference that must be one cell.
    pub(super) fn place(&mut self, reference: &VarRef) -> Option<Place> {
        match self.resolve(reference, false)? {
            Referent::Cells(place, Type::Scalar(_)) => Some(*place),
            Referent::Cells(..) => {
                self.incomplete(reference);
                None
            }
            Referent::Predefined(Predefined::Scratch) => Some(scratch(reference.span)),
            Referent::Predefined(_) => {
                let name = &reference.parts[0].name;
                self.error(Code::E0227, name.span, format!("`{}` cannot be assigned to", name.name));
                None
            }
            Referent::Constant(..) => {
                let name = reference.parts[0].name.clone();
                let message = format!("`{}` is a constant and cannot be assigned to", name.name);
                self.push_with_declaration(Diagnostic::new(Code::E0227, name.span, message), &name.name);
                None
            }
        }
    }

    /// Reports `d`, showing where `name` is declared.
    pub(super) fn push_with_declaration(&mut self, d: Diagnostic, name: &str) {
        let d = match self.span_of(name) {
            Some(span) if span != d.span() => d.label(span, "declared here"),
            _ => d,
        };
        self.push(d);
    }

    pub(super) fn incomplete(&mut self, reference: &VarRef) {
        let name = self.sources.text(reference.span).to_string();
        self.push(
            Diagnostic::new(Code::E0228, reference.span, format!("incomplete structure reference `{name}`"))
                .help("name one of its fields; whole structures can only be sent, received and passed to processes"),
        );
    }

    /// A channel's number: a cell of type chan or, where Spin looks no closer, any cell.
    pub(super) fn channel_number(&mut self, reference: &VarRef) -> Option<Expr> {
        match self.resolve(reference, false)? {
            Referent::Cells(place, Type::Scalar(_)) => {
                Some(Expr { kind: ExprKind::Load(place), span: reference.span })
            }
            _ => self.channel(reference),
        }
    }

    /// A channel: a cell of type chan.
    pub(super) fn channel(&mut self, reference: &VarRef) -> Option<Expr> {
        let Referent::Cells(place, ty) = self.resolve(reference, false)? else {
            let name = reference.parts[0].name.clone();
            let d = Diagnostic::new(Code::E0405, name.span, format!("`{}` is not a channel", name.name));
            self.push_with_declaration(d, &name.name);
            return None;
        };
        if ty != Type::Scalar(Scalar::Chan) {
            let name = self.sources.text(reference.span).to_string();
            let d = Diagnostic::new(Code::E0405, reference.span, format!("`{name}` is not a channel"))
                .help("messages are sent and received on a `chan`, as in `chan c = [1] of { byte }`");
            self.push_with_declaration(d, &reference.parts[0].name.name);
            return None;
        }
        Some(Expr { kind: ExprKind::Load(place), span: reference.span })
    }
}

/// The write-only variable.
pub fn scratch(span: Span) -> Place {
    Place { base: Base::Scratch, cell: 0, indices: Vec::new(), scalar: Scalar::Int, span }
}

/// A list of names for a message, not all of a long one.
pub fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).copied().collect::<Vec<&str>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    text
}
