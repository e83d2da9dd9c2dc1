//! Declarations of variables, channels and symbolic constants; constant expressions.

use super::keyword::Keyword;
use super::lexis::Kind;
use super::parser::{PResult, Parser, Reported};
use crate::ast::{
    BinaryOp, ChanInit, Decl, Expr, ExprKind, Ident, Initializer, MtypeDecl, TypeName, UnaryOp, VarDecl,
    Visibility,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::token::Punct;

/// What a declaration turned out to be.
pub(super) enum Declared {
    Variables(Decl),
    Constants(MtypeDecl),
}

impl Parser<'_> {
    /// Whether a declaration of variables or symbolic constants begins here. PV's types, being names, are
    /// seen to by the callers.
    pub(super) fn at_declaration(&mut self) -> bool {
        match self.peek().kind {
            Kind::Key(k) => k.is_type() || k.is_visibility(),
            Kind::TypeName(_) => true,
            _ => false,
        }
    }

    /// `hidden byte x, y[3] = 1` or `mtype = { a, b }`.
    pub(super) fn declaration(&mut self) -> PResult<Declared> {
        let start = self.peek().span;
        let visibility = self.visibility();
        let tok = self.bump();
        let ty_span = tok.span;
        let keyword = match tok.kind {
            Kind::Key(k) if k.is_type() => k,
            Kind::TypeName(name) => {
                let ty = TypeName::User(Ident { name, span: ty_span });
                return self.variables(visibility, ty, ty_span).map(Declared::Variables);
            }
            kind => match super::pv::type_of(&kind) {
                Some(ty) => return self.variables(visibility, ty, ty_span).map(Declared::Variables),
                None => {
                    let message = "expected a type after the visibility of a variable";
                    return Err(self.report(Diagnostic::new(Code::E0101, ty_span, message)));
                }
            },
        };
        let mut subtype = None;
        if self.eat(Punct::Colon) {
            subtype = Some(self.expect_name("the name of an mtype")?);
        }
        let assign =
            if subtype.is_some() || self.at(Punct::Assign) { self.eat(Punct::Assign) } else { false };
        if assign || (subtype.is_none() && self.at(Punct::LBrace)) {
            let constants = self.constants(keyword, subtype, start)?;
            if visibility.is_some() {
                let message = "symbolic constants cannot be `hidden`, `show` or `local`";
                self.report(Diagnostic::new(Code::E0112, start, message).help("remove this word"));
            }
            return Ok(Declared::Constants(constants));
        }
        let ty = match (builtin_type(keyword), subtype) {
            (TypeName::Mtype(_), subtype) => TypeName::Mtype(subtype),
            (ty, None) => ty,
            (_, Some(name)) => return Err(self.not_an_mtype(name.span)),
        };
        self.variables(visibility, ty, ty_span).map(Declared::Variables)
    }

    /// A declaration that can only declare variables: a parameter or field.
    pub(super) fn variable_declaration(&mut self) -> PResult<Decl> {
        let start = self.peek().span;
        match self.declaration()? {
            Declared::Variables(decl) => Ok(decl),
            Declared::Constants(_) => Err(self.report(constants_in_a_process(start))),
        }
    }

    /// Declarations between semicolons: parameters or fields. Ends before the closing sign.
    pub(super) fn declaration_list(&mut self) -> PResult<Vec<Decl>> {
        let mut decls = Vec::new();
        loop {
            if !self.at_declaration() && super::pv::type_of(&self.peek().kind).is_none() {
                return Err(self.unexpected("a declaration"));
            }
            decls.push(self.variable_declaration()?);
            if !self.eat(Punct::Semi) {
                return Ok(decls);
            }
        }
    }

    fn visibility(&mut self) -> Option<Visibility> {
        let visibility = match self.peek().kind {
            Kind::Key(Keyword::Hidden) => Visibility::Hidden,
            Kind::Key(Keyword::Show) => Visibility::Show,
            Kind::Key(Keyword::Local) => Visibility::Local,
            _ => return None,
        };
        self.bump();
        Some(visibility)
    }

    fn not_an_mtype(&mut self, span: Span) -> Reported {
        let error = Diagnostic::new(Code::E0115, span, "only `mtype` has named kinds, written `mtype:name`");
        self.report(error.help("is a semicolon missing before this name?"))
    }

    /// `{ a, b, c }` after `mtype` or `mtype:sub`; the commas may be missing.
    fn constants(&mut self, ty: Keyword, subtype: Option<Ident>, span: Span) -> PResult<MtypeDecl> {
        self.expect(Punct::LBrace, "`{` and the names of constants")?;
        if ty != Keyword::Mtype {
            let message = format!("`{}` cannot declare symbolic constants", ty.text());
            return Err(
                self.report(Diagnostic::new(Code::E0112, span, message).help("write `mtype = { … }`"))
            );
        }
        let mut names = vec![self.new_constant("the name of a constant")?];
        while !self.at(Punct::RBrace) {
            if !self.eat(Punct::Comma) {
                names.push(self.new_constant("the name of a constant or `}`")?);
            }
        }
        if self.in_process {
            self.report(constants_in_a_process(span));
        }
        // The names must be known before the token after the brace is read.
        self.lexer.names.constants.extend(names.iter().map(|n| (n.name.clone(), n.span)));
        self.expect(Punct::RBrace, "`}`")?;
        Ok(MtypeDecl { subtype, names, span })
    }

    /// The name of a constant that is being declared.
    fn new_constant(&mut self, what: &str) -> PResult<Ident> {
        let tok = self.peek().clone();
        let Kind::Constant(name) = tok.kind else { return self.expect_name(what) };
        let first = self.lexer.names.constants.get(&name).copied();
        let message = format!("the constant `{name}` is declared twice");
        self.declared_twice(Code::E0203, tok.span, first, message);
        self.bump();
        Ok(Ident { name, span: tok.span })
    }

    /// The variables of a declaration, between commas.
    pub(super) fn variables(
        &mut self,
        visibility: Option<Visibility>,
        ty: TypeName,
        ty_span: Span,
    ) -> PResult<Decl> {
        let mut vars = vec![self.variable()?];
        while self.eat(Punct::Comma) {
            vars.push(self.variable()?);
        }
        Ok(Decl { visibility, ty, ty_span, vars })
    }

    fn variable(&mut self) -> PResult<VarDecl> {
        let name = self.expect_name("the name of a variable")?;
        self.note_own_word(&name.name);
        self.declared.insert(name.name.clone());
        let (mut bits, mut array) = (None, None);
        if self.eat(Punct::Colon) {
            bits = Some(self.expect_constant("a constant number of bits")?);
        } else if self.eat(Punct::LBracket) {
            array = Some(self.constant_or_name("the size of an array")?);
            self.expect(Punct::RBracket, "`]`")?;
        }
        let init =
            if self.eat(Punct::Assign) { Some(self.initializer(&name, array.is_some())?) } else { None };
        Ok(VarDecl { name, bits, array, init })
    }

    fn initializer(&mut self, name: &Ident, is_array: bool) -> PResult<Initializer> {
        match self.peek().kind {
            Kind::Punct(Punct::LBrace) => {
                let open = self.bump().span;
                let mut values = vec![self.expect_constant("a constant")?];
                while self.eat(Punct::Comma) {
                    values.push(self.expect_constant("a constant")?);
                }
                self.expect(Punct::RBrace, "`,` or `}`")?;
                let span = self.span_from(open);
                if !is_array {
                    let message = format!("`{}` is not an array and takes one value", name.name);
                    let help = format!("write one value, or declare an array: `{}[…]`", name.name);
                    self.report(Diagnostic::new(Code::E0113, span, message).help(help));
                }
                Ok(Initializer::List(values, span))
            }
            Kind::Punct(Punct::LBracket) => {
                let init = self.channel()?;
                if self.in_process && !self.before_statements {
                    let message =
                        format!("the channel of `{}` must be created before the first statement", name.name);
                    let help = "move this declaration to the beginning of the process, outside any block";
                    self.report(Diagnostic::new(Code::E0114, name.span, message).help(help));
                }
                Ok(Initializer::Chan(init))
            }
            _ => self.expr().map(Initializer::Expr),
        }
    }

    /// `[n] of { byte, chan }`.
    fn channel(&mut self) -> PResult<ChanInit> {
        let open = self.bump().span;
        let capacity = self.constant_expr("the capacity of a channel")?;
        self.expect(Punct::RBracket, "`]`")?;
        if !self.at_key(Keyword::Of) {
            return Err(self.unexpected("`of` and the types of the message"));
        }
        self.bump();
        if !self.at(Punct::LBrace) {
            let error = self.unexpected("`{` and the types of the message");
            if self.at_declaration() {
                // So that it is not taken for the beginning of another declaration.
                self.bump();
            }
            return Err(error);
        }
        self.bump();
        let mut fields = vec![self.field_type()?];
        while self.eat(Punct::Comma) {
            fields.push(self.field_type()?);
        }
        self.expect(Punct::RBrace, "`,` or `}`")?;
        Ok(ChanInit { capacity, fields, span: self.span_from(open) })
    }

    fn field_type(&mut self) -> PResult<(TypeName, Span)> {
        let start = self.peek().span;
        match self.peek().kind.clone() {
            Kind::TypeName(name) => {
                self.bump();
                Ok((TypeName::User(Ident { name, span: start }), start))
            }
            Kind::Key(Keyword::Unsigned) => {
                let error =
                    Diagnostic::new(Code::E0115, start, "`unsigned` cannot be the type of a message field");
                Err(self.report(error.help("use `byte`, `short` or `int`")))
            }
            Kind::Key(keyword) if keyword.is_type() => {
                self.bump();
                let subtype = if self.eat(Punct::Colon) {
                    Some(self.expect_name("the name of an mtype")?)
                } else {
                    None
                };
                let ty = match (builtin_type(keyword), subtype) {
                    (TypeName::Mtype(_), subtype) => TypeName::Mtype(subtype),
                    (ty, None) => ty,
                    (_, Some(name)) => return Err(self.not_an_mtype(name.span)),
                };
                Ok((ty, self.span_from(start)))
            }
            _ => Err(self.unexpected("the type of a message field")),
        }
    }

    /// A constant expression, or the name of a variable whose initial value counts.
    pub(super) fn constant_or_name(&mut self, what: &str) -> PResult<Expr> {
        if matches!(self.peek().kind, Kind::Name(_)) {
            let name = self.expect_name(what)?;
            if self.at(Punct::RBracket) {
                let span = name.span;
                return Ok(Expr { kind: ExprKind::Var(super::expressions::simple_ref(name)), span });
            }
            return Err(self.not_constant(what, name.span));
        }
        self.constant_expr(what)
    }

    /// Constants with `+ - * / %` and parentheses.
    fn constant_expr(&mut self, what: &str) -> PResult<Expr> {
        let expr = self.expr()?;
        if self.is_constant(&expr) { Ok(expr) } else { Err(self.not_constant(what, expr.span)) }
    }

    fn not_constant(&mut self, what: &str, span: Span) -> Reported {
        let message = format!("{what} must be made of constants");
        self.report(
            Diagnostic::new(Code::E0131, span, message).help("use a number, an mtype name or a macro"),
        )
    }

    fn is_constant(&self, expr: &Expr) -> bool {
        use BinaryOp::{Add, Div, Mul, Rem, Sub};
        match &expr.kind {
            ExprKind::Number(_) => true,
            ExprKind::Var(var) => match &var.parts[..] {
                [part] => part.index.is_none() && self.lexer.names.constants.contains_key(&part.name.name),
                _ => false,
            },
            ExprKind::Unary(UnaryOp::Neg, e) => self.is_constant(e),
            ExprKind::Binary(Add | Sub | Mul | Div | Rem, a, b) => self.is_constant(a) && self.is_constant(b),
            _ => false,
        }
    }
}

fn constants_in_a_process(span: Span) -> Diagnostic {
    Diagnostic::new(Code::E0112, span, "symbolic constants can only be declared at the top level")
        .help("move this declaration out of the process or structure")
}

fn builtin_type(keyword: Keyword) -> TypeName {
    match keyword {
        Keyword::Bit => TypeName::Bit,
        Keyword::Bool => TypeName::Bool,
        Keyword::Byte => TypeName::Byte,
        Keyword::Pid => TypeName::Pid,
        Keyword::Short => TypeName::Short,
        Keyword::Unsigned => TypeName::Unsigned,
        Keyword::Chan => TypeName::Chan,
        Keyword::Mtype => TypeName::Mtype(None),
        _ => TypeName::Int,
    }
}
