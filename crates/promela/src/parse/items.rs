//! The top level: processes, claims, types, inlines, variables.

use super::declarations::Declared;
use super::keyword::Keyword;
use super::lexis::Kind;
use super::parser::{PResult, Parser, Reported};
use crate::ast::{
    Active, Block, Claim, Decl, EmbeddedC, Expr, Ident, Init, Initializer, Item, Proctype, Trace, Typedef,
    Unit,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::token::Punct;

impl Parser<'_> {
    /// The whole model.
    pub(super) fn unit(&mut self) -> Unit {
        let mut items = Vec::new();
        while self.peek().kind != Kind::End {
            if self.at_separator() {
                self.bump();
                continue;
            }
            if self.at(Punct::RBrace) && self.has_errors() {
                // It closes what an error has cut off.
                self.bump();
                continue;
            }
            let before = self.progress();
            self.forget_names();
            if self.defer_state_formula() {
                continue;
            }
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => {
                    self.leave_process();
                    if self.progress() == before {
                        self.bump();
                    }
                    self.recover_at_top();
                    self.doubt_since(0);
                }
            }
        }
        self.deferred_formulas(&mut items);
        Unit { items }
    }

    fn item(&mut self) -> PResult<Item> {
        if self.at_declaration() {
            return Ok(match self.declaration()? {
                Declared::Variables(decl) => Item::Decl(decl),
                Declared::Constants(mtype) => Item::Mtype(mtype),
            });
        }
        match &self.peek().kind {
            Kind::Key(keyword) => {
                let keyword = *keyword;
                self.keyword_item(keyword)
            }
            Kind::Name(word) => {
                let word = word.clone();
                match (super::pv::type_of(&Kind::Name(word.clone())), &*word) {
                    (Some(ty), _) => {
                        let span = self.bump().span;
                        self.variables(None, ty, span).map(Item::Decl)
                    }
                    (None, "invariant") => self.invariant().map(Item::Invariant),
                    _ => Err(self.unexpected("a declaration")),
                }
            }
            Kind::Punct(Punct::Comma) => {
                let tok = self.peek().clone();
                let error = Diagnostic::new(Code::E0101, tok.span, "expected a declaration, found `,`");
                Err(self.report(error.help("a declaration ends with `}`; declare the next name separately")))
            }
            _ => Err(self.unexpected("a declaration")),
        }
    }

    fn keyword_item(&mut self, keyword: Keyword) -> PResult<Item> {
        match keyword {
            Keyword::Active | Keyword::Proctype | Keyword::DProctype => self.proctype().map(Item::Proctype),
            Keyword::Init => self.init().map(Item::Init),
            Keyword::Never => self.never().map(Item::Never),
            Keyword::Trace | Keyword::Notrace => self.trace().map(Item::Trace),
            Keyword::Typedef => self.typedef(),
            Keyword::Inline => self.inline_def().map(Item::Inline),
            Keyword::CCode | Keyword::CDecl => self.embedded_c().map(Item::EmbeddedC),
            Keyword::CState | Keyword::CTrack => self.c_state().map(Item::EmbeddedC),
            Keyword::Ltl => Err(self.unfinished_formula()),
            _ => Err(self.unexpected("a declaration")),
        }
    }

    /// An `ltl` block that could not be put aside, because it has no brace or no end.
    fn unfinished_formula(&mut self) -> Reported {
        let word = self.bump().span;
        if matches!(self.peek().kind, Kind::Name(_)) {
            self.bump();
        }
        if !self.at(Punct::LBrace) {
            return self.unexpected("`{` and a formula");
        }
        let error = Diagnostic::new(Code::E0101, word, "this formula is not closed");
        self.report(error.help("add the missing `}`"))
    }

    /// `active [n] proctype p(…) priority n provided (e) { … }`.
    fn proctype(&mut self) -> PResult<Proctype> {
        let start = self.peek().span;
        let active = self.active()?;
        let deterministic = match self.peek().kind {
            Kind::Key(Keyword::Proctype) => false,
            Kind::Key(Keyword::DProctype) => true,
            _ => return Err(self.unexpected("`proctype`")),
        };
        self.bump();
        let tok = self.peek().clone();
        let word = match tok.kind {
            Kind::Name(word) => word,
            Kind::ProcName(word) => {
                let first = self.lexer.names.proctypes.get(&word).copied();
                let message = format!("the proctype `{word}` is declared twice");
                self.declared_twice(Code::E0510, tok.span, first, message);
                word
            }
            _ => return Err(self.unexpected("the name of the proctype")),
        };
        // From here on the name is that of a proctype.
        self.lexer.names.proctypes.insert(word.clone(), tok.span);
        let name = Ident { name: word, span: self.bump().span };
        self.in_process = true;
        self.expect(Punct::LParen, "`(` and the parameters of the proctype")?;
        let params = if self.at(Punct::RParen) { Vec::new() } else { self.declaration_list()? };
        self.expect(Punct::RParen, "`,`, `;` or `)`")?;
        self.no_initializers(&params);
        let priority = self.opt_priority()?;
        let provided = self.opt_provided()?;
        let span = self.span_from(start);
        let body = self.process_body()?;
        Ok(Proctype { name, active, deterministic, params, priority, provided, body, span })
    }

    fn active(&mut self) -> PResult<Option<Active>> {
        if !self.at_key(Keyword::Active) {
            return Ok(None);
        }
        let start = self.bump().span;
        let mut count = None;
        if self.eat(Punct::LBracket) {
            count = Some(self.constant_or_name("the number of processes")?);
            self.expect(Punct::RBracket, "`]`")?;
        }
        Ok(Some(Active { count, span: self.span_from(start) }))
    }

    fn no_initializers(&mut self, params: &[Decl]) {
        for var in params.iter().flat_map(|d| &d.vars) {
            if let Some(init) = &var.init {
                let span = match init {
                    Initializer::Expr(e) => e.span,
                    Initializer::List(_, span) => *span,
                    Initializer::Chan(c) => c.span,
                };
                let message = format!("the parameter `{}` cannot have an initial value", var.name.name);
                let help = "the value is given by `run`: remove it here";
                self.report(Diagnostic::new(Code::E0111, span, message).help(help));
                return;
            }
        }
    }

    /// `provided (e)`, if there is one.
    fn opt_provided(&mut self) -> PResult<Option<Expr>> {
        if !self.at_key(Keyword::Provided) {
            return Ok(None);
        }
        self.bump();
        self.expect(Punct::LParen, "`(` and a condition")?;
        let expr = self.full_expr()?;
        self.expect(Punct::RParen, "`)`")?;
        Ok(Some(expr))
    }

    fn process_body(&mut self) -> PResult<Block> {
        self.in_process = true;
        let body = self.body();
        self.leave_process();
        body
    }

    fn init(&mut self) -> PResult<Init> {
        let span = self.bump().span;
        let priority = self.opt_priority()?;
        Ok(Init { priority, body: self.process_body()?, span })
    }

    fn never(&mut self) -> PResult<Claim> {
        let span = self.bump().span;
        let mut name = None;
        if matches!(self.peek().kind, Kind::Name(_)) {
            name = Some(self.expect_name("the name of the claim")?);
        }
        Ok(Claim { name, body: self.process_body()?, span })
    }

    fn trace(&mut self) -> PResult<Trace> {
        let word = self.bump();
        self.in_trace = true;
        let body = self.process_body();
        self.in_trace = false;
        Ok(Trace { negated: word.is_key(Keyword::Notrace), body: body?, span: word.span })
    }

    /// `typedef T { … }` or PV's `typedef enum …`.
    fn typedef(&mut self) -> PResult<Item> {
        self.bump();
        if self.at_enum() {
            return self.enum_decl().map(Item::Enum);
        }
        let name = self.new_type_name()?;
        if !self.at(Punct::LBrace) {
            return Err(self.unexpected("`{` and the fields of the type"));
        }
        self.lexer.in_sequence = true;
        self.bump();
        let fields = self.declaration_list();
        self.lexer.in_sequence = false;
        let fields = fields?;
        if !self.at(Punct::RBrace) {
            return Err(self.unexpected("`;` or `}`"));
        }
        // From here on the name is that of a type.
        self.lexer.names.types.insert(name.name.clone(), name.span);
        self.bump();
        Ok(Item::Typedef(Typedef { name, fields }))
    }

    /// The name of a type that is being declared.
    fn new_type_name(&mut self) -> PResult<Ident> {
        let tok = self.peek().clone();
        let Kind::TypeName(name) = tok.kind else { return self.expect_name("the name of the type") };
        let first = self.lexer.names.types.get(&name).copied();
        self.declared_twice(Code::E0202, tok.span, first, format!("the type `{name}` is declared twice"));
        self.bump();
        Ok(Ident { name, span: tok.span })
    }

    /// Reports a second declaration of a name.
    pub(super) fn declared_twice(
        &mut self,
        code: Code,
        span: Span,
        first: Option<Span>,
        message: String,
    ) -> Reported {
        let mut error = Diagnostic::new(code, span, message).help("give one of them another name");
        if let Some(first) = first {
            error = error.label(first, "first declared here");
        }
        self.report(error)
    }

    /// `c_state "…" "…" "…"` or `c_track "…" "…"`.
    fn c_state(&mut self) -> PResult<EmbeddedC> {
        let tok = self.bump();
        let Kind::Key(keyword) = tok.kind else { return Err(self.unexpected("`c_state`")) };
        let mut strings = Vec::new();
        while let Kind::Str(text) = &self.peek().kind {
            let text = text.clone();
            strings.push((text, self.bump().span));
            if strings.len() == 3 {
                break;
            }
        }
        if strings.len() < 2 {
            return Err(self.unexpected("a string"));
        }
        let keyword = Ident { name: keyword.text().into(), span: tok.span };
        Ok(EmbeddedC { keyword, precondition: None, text: String::new(), text_span: tok.span, strings })
    }
}
