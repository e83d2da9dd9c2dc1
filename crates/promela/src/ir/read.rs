//! Reads the text form that `print` writes (its module comment describes it).
//!
//! A reader by recursive descent over one token of lookahead. It stops at the first mistake and says where it
//! is. Whatever the text, it neither panics nor overflows the stack nor allocates more than a small multiple
//! of the text plus one table of locations: nesting, cells and locations are limited as [`super::verify`]
//! limits them. What it returns is well formed, not verified: whoever executes it calls
//! [`super::verify::verify`] first.

mod embedded;
mod expr;
mod state_formula;

use super::lexer::{CODE, Lexer, Token};
use super::names::{self, numbered, value_of};
use super::verify::{MAX_CELLS, MAX_LOCATIONS, MAX_NESTING};
use super::*;
use crate::diagnostic::Diagnostic;
use crate::source::{ExpansionId, FileId, Span};

/// Errors are boxed because every level of nesting has room for one on the stack.
type Read<T> = Result<T, Box<Diagnostic>>;

/// The program that `text` describes; diagnostics call the text `file`.
#[expect(clippy::result_large_err, reason = "called once for a whole program")]
pub fn read(text: &str, file: FileId) -> Result<Program, Diagnostic> {
    Reader::new(text, file).and_then(|mut reader| reader.program()).map_err(|error| *error)
}

fn error_at<T>(at: Span, message: impl Into<String>) -> Read<T> {
    Err(Box::new(Diagnostic::new(CODE, at, message)))
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// Where the token stands.
    at: Span,
    /// The span of parts that have none of their own.
    line: Span,
    /// Expressions, formulas or array types around the token.
    depth: usize,
    /// Locations declared so far, in all proctypes.
    locations: u32,
}

/// The parts of the program that may be given only once.
#[derive(Default)]
struct Once {
    uses: bool,
    globals: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, file: FileId) -> Read<Self> {
        let mut lexer = Lexer::new(text, file)?;
        let (mut token, mut at) = lexer.next()?;
        if token == Token::Newline {
            (token, at) = lexer.next()?;
        }
        Ok(Reader { lexer, token, at, line: Span::NONE, depth: 0, locations: 0 })
    }

    // ---- Tokens ----

    fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        error_at(self.at, message)
    }

    fn expected<T>(&self, what: &str) -> Read<T> {
        self.error(format!("expected {what}, found {}", self.token.describe()))
    }

    fn advance(&mut self) -> Read<Token<'a>> {
        let (token, at) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn peek_word(&self) -> Option<&'a str> {
        match self.token {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn is(&self, punct: &str) -> bool {
        matches!(self.token, Token::Punct(p) if p == punct)
    }

    fn punct(&mut self, punct: &str) -> Read<()> {
        if !self.is(punct) {
            return self.expected(&format!("`{punct}`"));
        }
        self.advance().map(drop)
    }

    fn keyword(&mut self, word: &str) -> Read<()> {
        if self.peek_word() != Some(word) {
            return self.expected(&format!("`{word}`"));
        }
        self.advance().map(drop)
    }

    /// Takes `word` if it is next.
    fn flag(&mut self, word: &str) -> Read<bool> {
        let present = self.peek_word() == Some(word);
        if present {
            self.advance()?;
        }
        Ok(present)
    }

    /// The end of a line; at the end of the text the last line end may be missing.
    fn newline(&mut self) -> Read<()> {
        match self.token {
            Token::End => Ok(()),
            Token::Newline => self.advance().map(drop),
            _ => self.expected("the end of the line"),
        }
    }

    fn string(&mut self) -> Read<String> {
        match self.token {
            Token::Str(_) => match self.advance()? {
                Token::Str(text) => Ok(text),
                _ => Ok(String::new()),
            },
            _ => self.expected("a string"),
        }
    }

    fn name(&mut self) -> Read<String> {
        match self.peek_word() {
            Some(word) => {
                self.advance()?;
                Ok(word.to_owned())
            }
            None if matches!(self.token, Token::Str(_)) => self.string(),
            None => self.expected("a name"),
        }
    }

    fn int<T: TryFrom<i64>>(&mut self) -> Read<T> {
        let Token::Int(value) = self.token else { return self.expected("a number") };
        match T::try_from(value) {
            Ok(value) => {
                self.advance()?;
                Ok(value)
            }
            Err(_) => self.error(format!("{value} is out of range here")),
        }
    }

    /// A number that is at most `limit`.
    fn count(&mut self, limit: u32, of: &str) -> Read<u32> {
        if let Token::Int(value) = self.token
            && value > i64::from(limit)
        {
            return self.error(format!("{value} {of} are more than the limit of {limit}"));
        }
        self.int()
    }

    /// A word such as `L12`.
    fn numbered(&mut self, prefix: &str) -> Read<u32> {
        match self.peek_word().and_then(|word| numbered(word, prefix)) {
            Some(number) => {
                self.advance()?;
                Ok(number)
            }
            None => self.expected(&format!("`{prefix}` and a number")),
        }
    }

    /// The number with which a line begins, which must be the next of its kind.
    fn next_number(&mut self, prefix: &str, count: usize) -> Read<()> {
        if self.peek_word().and_then(|word| numbered(word, prefix)) != u32::try_from(count).ok() {
            return self.expected(&format!("`{prefix}{count}`"));
        }
        self.advance()?;
        self.punct("=")
    }

    fn location_id(&mut self) -> Read<LocId> {
        self.numbered("L").map(LocId)
    }

    fn proctype_id(&mut self) -> Read<ProctypeId> {
        self.numbered("proctype").map(ProctypeId)
    }

    /// A span if one is next, else the line's.
    fn span(&mut self) -> Read<Span> {
        if !self.is("@") {
            return Ok(self.line);
        }
        self.advance()?;
        let file = FileId(self.int()?);
        self.punct(":")?;
        let start = self.int()?;
        self.punct("..")?;
        let end = self.int()?;
        let mut expansion = ExpansionId::ROOT;
        if self.is("#") {
            self.advance()?;
            expansion = ExpansionId(self.int()?);
        }
        Ok(Span { file, start, end, expansion })
    }

    /// Runs `part` one level deeper.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_NESTING {
            return self.error(format!("nested more than {MAX_NESTING} deep"));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// `{`, things with commas between them, `}`.
    fn list_in_braces<T>(&mut self, item: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        self.punct("{")?;
        if !self.is("}") {
            items.push(item(self)?);
        }
        while self.is(",") {
            self.advance()?;
            items.push(item(self)?);
        }
        self.punct("}")?;
        Ok(items)
    }

    // ---- The program ----

    fn program(&mut self) -> Read<Program> {
        let mut program = Program::default();
        let mut once = Once::default();
        self.keyword("program")?;
        program.name = self.string()?;
        self.newline()?;
        while self.token != Token::End {
            self.top_level_line(&mut program, &mut once)?;
        }
        Ok(program)
    }

    fn top_level_line(&mut self, program: &mut Program, once: &mut Once) -> Read<()> {
        self.line = Span::NONE;
        let Some(word) = self.peek_word() else { return self.expected("a line of a program") };
        match word.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "uses" if !once.uses => {
                once.uses = true;
                program.uses = self.uses()?;
            }
            "globals" if !once.globals => {
                once.globals = true;
                self.globals(program)?;
            }
            "mtype" => {
                self.next_number("mtype", program.mtypes.len())?;
                program.mtypes.push(self.mtype()?);
            }
            "struct" => {
                self.next_number("struct", program.structs.len())?;
                program.structs.push(self.structure()?);
            }
            "chantype" => {
                self.next_number("chantype", program.chan_types.len())?;
                program.chan_types.push(self.chan_type()?);
            }
            "proctype" => {
                self.next_number("proctype", program.proctypes.len())?;
                program.proctypes.push(self.proctype()?);
            }
            "active" => program.active.push(self.active()?),
            "invariant" => program.invariants.push(self.invariant()?),
            "xr" | "xs" => program.promises.push(self.promise()?),
            "ltl" => program.ltl.push(self.ltl()?),
            "ctl" => program.state_properties.push(self.state_property(Logic::Ctl)?),
            "c" => {
                self.next_number("c", program.embedded.pieces.len())?;
                program.embedded.pieces.push(self.piece()?);
            }
            "c_decl" | "c_code" | "c_state" | "c_track" => program.embedded.items.push(self.item_of_c()?),
            "mu" => program.state_properties.push(self.state_property(Logic::Mu)?),
            "never" => {
                self.keyword("never")?;
                program.never.push(self.proctype_id()?);
            }
            "trace" if program.trace.is_none() => {
                self.keyword("trace")?;
                program.trace = Some(self.proctype_id()?);
            }
            "uses" | "globals" | "trace" => return self.error(format!("a second `{word}`")),
            _ => return self.expected("a line of a program"),
        }
        self.newline()
    }

    fn uses(&mut self) -> Read<Uses> {
        self.keyword("uses")?;
        let mut uses = Uses::default();
        while let Some(word) = self.peek_word() {
            match word {
                "last" => uses.last = true,
                "priority" => uses.priority = true,
                "timeout" => uses.timeout = true,
                "enabled" => uses.enabled = true,
                _ => return self.expected("`last`, `priority`, `timeout` or `enabled`"),
            }
            self.advance()?;
        }
        Ok(uses)
    }

    fn mtype(&mut self) -> Read<MtypeSet> {
        let name = self.name()?;
        let values = self.list_in_braces(|r| {
            let name = r.name()?;
            r.punct("=")?;
            Ok((name, r.int()?))
        })?;
        Ok(MtypeSet { name, values })
    }

    fn structure(&mut self) -> Read<Struct> {
        let name = self.name()?;
        self.keyword("cells")?;
        let n_cells = self.count(MAX_CELLS, "cells")?;
        let fields = self.list_in_braces(|r| {
            let name = r.name()?;
            r.punct(":")?;
            let ty = r.ty()?;
            r.keyword("at")?;
            Ok(Field { name, ty, offset: r.count(MAX_CELLS, "cells")? })
        })?;
        Ok(Struct { name, fields, n_cells })
    }

    fn chan_type(&mut self) -> Read<ChanType> {
        let name = self.name()?;
        self.keyword("capacity")?;
        let capacity = self.count(MAX_CELLS, "messages")?;
        let fields = self.list_in_braces(Self::scalar)?;
        Ok(ChanType { name, capacity, fields, span: self.span()? })
    }

    fn globals(&mut self, program: &mut Program) -> Read<()> {
        self.keyword("globals")?;
        self.keyword("cells")?;
        program.n_global_cells = self.count(MAX_CELLS, "cells")?;
        self.punct("{")?;
        self.newline()?;
        while !self.is("}") {
            if self.peek_word() == Some("init") {
                program.init.push(self.init_step()?);
            } else {
                program.globals.push(self.var("g")?);
            }
            self.newline()?;
        }
        self.punct("}")
    }

    fn active(&mut self) -> Read<ActiveProcess> {
        self.keyword("active")?;
        let proctype = self.proctype_id()?;
        self.keyword("priority")?;
        Ok(ActiveProcess { proctype, priority: self.int()? })
    }

    /// The name, span and text of a property.
    fn property(&mut self, word: &str) -> Read<(String, Span, String)> {
        self.keyword(word)?;
        let name = self.name()?;
        let span = self.span()?;
        let text = self.string()?;
        self.punct("=")?;
        self.line = span;
        Ok((name, span, text))
    }

    fn invariant(&mut self) -> Read<Invariant> {
        let (name, span, text) = self.property("invariant")?;
        Ok(Invariant { name, expr: self.expr()?, text, span })
    }

    fn promise(&mut self) -> Read<Promise> {
        let receive = self.flag("xr")?;
        if !receive {
            self.keyword("xs")?;
        }
        let proctype = self.proctype_id()?;
        let checked = self.flag("checked")?;
        let span = self.span()?;
        let text = self.string()?;
        self.punct("=")?;
        self.line = span;
        Ok(Promise { proctype, receive, chan: self.expr()?, text, span, checked })
    }

    fn ltl(&mut self) -> Read<LtlProperty> {
        let (name, span, text) = self.property("ltl")?;
        Ok(LtlProperty { name, formula: self.formula()?, text, span })
    }

    // ---- Types and variables ----

    fn ty(&mut self) -> Read<Type> {
        if let Some(id) = self.peek_word().and_then(|word| numbered(word, "struct")) {
            self.advance()?;
            return Ok(Type::Struct(StructId(id)));
        }
        if !self.flag("array")? {
            return self.scalar().map(Type::Scalar);
        }
        let len = self.count(MAX_CELLS, "elements")?;
        self.keyword("of")?;
        let element = self.nested(Self::ty)?;
        Ok(Type::Array(Box::new(element), len))
    }

    fn scalar(&mut self) -> Read<Scalar> {
        let Some(word) = self.peek_word() else { return self.expected("a type") };
        let scalar = if let Some(scalar) = value_of(&names::SCALARS, word) {
            scalar
        } else if let Some(id) = numbered(word, "mtype") {
            Scalar::Mtype(MtypeId(id))
        } else if let Some(bits) = numbered(word, "unsigned").and_then(|bits| u8::try_from(bits).ok()) {
            Scalar::Unsigned(bits)
        } else {
            return self.expected("a type");
        };
        self.advance()?;
        let wide = match scalar {
            Scalar::Bit => Scalar::WideBit,
            Scalar::Bool => Scalar::WideBool,
            _ => return Ok(scalar),
        };
        if !self.is("*") {
            return Ok(scalar);
        }
        self.advance()?;
        Ok(wide)
    }

    fn var(&mut self, base: &str) -> Read<Var> {
        let cell = self.numbered(base)?;
        let name = self.name()?;
        self.punct(":")?;
        let ty = self.ty()?;
        let hidden = self.flag("hidden")?;
        Ok(Var { name, ty, cell, hidden, span: self.span()? })
    }

    fn init_step(&mut self) -> Read<InitStep> {
        self.keyword("init")?;
        if self.flag("newchan")? {
            let place = self.place()?;
            return Ok(InitStep::NewChan(place, ChanTypeId(self.numbered("chantype")?)));
        }
        self.keyword("assign")?;
        let place = self.place()?;
        self.punct("=")?;
        Ok(InitStep::Assign(place, self.expr()?))
    }

    // ---- Automata ----

    fn proctype(&mut self) -> Read<Proctype> {
        let mut proctype = self.proctype_header()?;
        self.newline()?;
        let mut seen = vec![false; proctype.locations.len()];
        let mut edges: Vec<(u32, Edge)> = Vec::new();
        while !self.is("}") {
            self.proctype_line(&mut proctype, &mut seen, &mut edges)?;
            self.newline()?;
        }
        edges.sort_by_key(|(number, _)| *number);
        for (expected, (number, _)) in edges.iter().enumerate() {
            if *number as usize != expected {
                return self.error(format!("edge e{expected} is missing or given twice"));
            }
        }
        proctype.edges = edges.into_iter().map(|(_, edge)| edge).collect();
        self.punct("}")?;
        Ok(proctype)
    }

    fn proctype_header(&mut self) -> Read<Proctype> {
        let name = self.name()?;
        self.keyword("kind")?;
        let Some(kind) = self.peek_word().and_then(|word| value_of(&names::KINDS, word)) else {
            return self.expected("a kind of proctype");
        };
        self.advance()?;
        let deterministic = self.flag("deterministic")?;
        self.keyword("params")?;
        let n_params = self.count(MAX_CELLS, "cells")?;
        self.keyword("cells")?;
        let n_cells = self.count(MAX_CELLS, "cells")?;
        self.keyword("locations")?;
        let n_locations = self.count(MAX_LOCATIONS.saturating_sub(self.locations), "locations")?;
        self.locations += n_locations;
        self.keyword("start")?;
        let start = self.location_id()?;
        let span = self.span()?;
        self.punct("{")?;
        self.line = span;
        Ok(Proctype {
            name,
            kind,
            deterministic,
            n_params,
            locals: Vec::new(),
            n_cells,
            init: Vec::new(),
            provided: None,
            start,
            locations: vec![Location::default(); n_locations as usize],
            edges: Vec::new(),
            labels: Vec::new(),
            span,
        })
    }

    fn proctype_line(
        &mut self,
        proctype: &mut Proctype,
        seen: &mut [bool],
        edges: &mut Vec<(u32, Edge)>,
    ) -> Read<()> {
        self.line = proctype.span;
        let Some(word) = self.peek_word() else { return self.expected("a line of a proctype") };
        match word.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "l" => proctype.locals.push(self.var("l")?),
            "init" => proctype.init.push(self.init_step()?),
            "provided" if proctype.provided.is_some() => return self.error("a second `provided`"),
            "provided" => {
                self.keyword("provided")?;
                proctype.provided = Some(self.expr()?);
            }
            "label" => {
                self.keyword("label")?;
                let name = self.name()?;
                self.punct("=")?;
                proctype.labels.push((name, self.location_id()?));
            }
            "L" => self.location(&mut proctype.locations, seen)?,
            "e" => {
                let number = self.numbered("e")?;
                edges.push((number, self.edge()?));
            }
            _ => return self.expected("a line of a proctype"),
        }
        Ok(())
    }

    fn location(&mut self, locations: &mut [Location], seen: &mut [bool]) -> Read<()> {
        let at = self.at;
        let number = self.numbered("L")? as usize;
        let (Some(location), Some(seen)) = (locations.get_mut(number), seen.get_mut(number)) else {
            return error_at(at, format!("there are only {} locations", locations.len()));
        };
        if std::mem::replace(seen, true) {
            return error_at(at, format!("location L{number} is given twice"));
        }
        while let Some(word) = self.peek_word() {
            match word {
                "end" => location.end = true,
                "accept" => location.accept = true,
                "progress" => location.progress = true,
                "d_step" => location.in_d_step = true,
                "dead" => break,
                _ => return self.expected("`end`, `accept`, `progress`, `d_step`, `dead` or `:`"),
            }
            self.advance()?;
        }
        if self.flag("dead")? {
            while self.peek_word().is_some() {
                location.dead.push(self.numbered("c")?);
            }
        }
        self.punct(":")?;
        while self.peek_word().is_some() {
            location.edges.push(EdgeId(self.numbered("e")?));
        }
        Ok(())
    }

    /// An edge, after its number.
    fn edge(&mut self) -> Read<Edge> {
        let span = self.span()?;
        self.line = span;
        self.punct("->")?;
        let to = self.location_id()?;
        let atomic = self.flag("atomic")?;
        let escape = if self.flag("escape")? { Some(self.location_id()?) } else { None };
        let mut order = Order::Free;
        for (known, word) in Order::WORDS {
            if self.flag(word)? {
                order = if known.is_drain() { known.of_buffer(self.numbered("b")?) } else { known };
            }
        }
        let statement =
            if self.flag("statement")? { Some(self.count(u32::MAX, "statements")?) } else { None };
        self.punct("{")?;
        let action = self.action()?;
        self.punct("}")?;
        Ok(Edge { action, to, atomic, escape, order, statement, text: self.string()?, span })
    }
}

#[cfg(test)]
mod tests;
