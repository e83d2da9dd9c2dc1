//! Replacing macros, by the algorithm of the C standard as gcc carries it out.
//!
//! Replacement texts lie on a stack of contexts that is read from the top; while a macro's context is there,
//! its name is *painted*: a painted token is never replaced again, wherever it moves. Only arguments are
//! replaced recursively (they must be complete before they are inserted), and that depth is limited. All
//! produced tokens are counted, so that doubling macros end with a diagnostic.

use super::intern::Sym;
use super::macros::{Builtin, Definition, Macro, Params, Piece, What};
use super::scan::{Kind, LINE_START, PAINTED, PpToken, SEAM, SPACE, single_token};
use super::{MAX_CALL_DEPTH, MAX_EXPANSION, Preprocessor, end_token};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Expansion, ExpansionId, ExpansionKind, Span};
use std::rc::Rc;

/// A replacement text that is being read.
pub(super) struct Context {
    tokens: Vec<PpToken>,
    pos: usize,
    /// The macro that it replaces; `None` for arguments and for the text of a directive.
    name: Option<Sym>,
}

/// Where tokens are read from.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    /// Only contexts above this one are read.
    floor: usize,
    /// Whether the files follow when those are used up.
    files: bool,
}

impl Reader {
    /// Everything: all contexts, then the files.
    pub const ALL: Reader = Reader { floor: 0, files: true };
}

impl Preprocessor<'_> {
    /// The next token of the whole input, with all macros replaced.
    pub(super) fn next_output(&mut self) -> PpToken {
        let token = self.expanded(Reader::ALL);
        self.with_carried(token)
    }

    /// Puts `tokens` on the stack and returns a reader of just these.
    pub(super) fn read_tokens(&mut self, tokens: Vec<PpToken>) -> Reader {
        let floor = self.contexts.len();
        self.contexts.push(Context { tokens, pos: 0, name: None });
        Reader { floor, files: false }
    }

    /// Replaces all macros in `tokens`.
    pub(super) fn expand_all(&mut self, tokens: Vec<PpToken>) -> Vec<PpToken> {
        let before = (self.carried_space, self.seam, self.seam_behind);
        (self.carried_space, self.seam, self.seam_behind) = (false, false, false);
        let reader = self.read_tokens(tokens);
        let mut out = Vec::new();
        loop {
            let token = self.expanded(reader);
            if token.kind == Kind::End {
                break;
            }
            out.push(self.with_carried(token));
        }
        (self.carried_space, self.seam, self.seam_behind) = before;
        out
    }

    /// Adds what the macros between the previous token and this one left: white space and seams.
    fn with_carried(&mut self, mut token: PpToken) -> PpToken {
        if self.carried_space {
            token.flags |= SPACE;
        }
        if self.seam {
            token.flags |= SEAM;
        }
        (self.carried_space, self.seam) = (false, std::mem::take(&mut self.seam_behind));
        token
    }

    /// The next token as it stands.
    pub(super) fn unexpanded(&mut self, reader: Reader) -> PpToken {
        let mut token = loop {
            if self.contexts.len() <= reader.floor {
                break match reader.files {
                    true => self.source_token(),
                    false => end_token(Span::NONE, self.line),
                };
            }
            let Some(context) = self.contexts.last_mut() else { continue };
            if let Some(token) = context.tokens.get(context.pos) {
                context.pos += 1;
                break *token;
            }
            if let Some(name) = context.name {
                self.set_active(name, false);
            }
            self.contexts.pop();
            self.seam = true;
        };
        if token.kind == Kind::Name && self.active.get(token.sym.0 as usize).copied().unwrap_or(false) {
            token.flags |= PAINTED;
        }
        token
    }

    /// The next token that is not a macro to be replaced.
    pub(super) fn expanded(&mut self, reader: Reader) -> PpToken {
        loop {
            let token = self.unexpanded(reader);
            if token.kind != Kind::Name || token.has(PAINTED) {
                return token;
            }
            match self.definition(token.sym).cloned() {
                None => return token,
                Some(Definition::Builtin(builtin)) => self.enter_builtin(&token, builtin),
                Some(Definition::User(definition)) => match &definition.params {
                    None => self.enter(&token, &definition, Arguments::default()),
                    Some(params) => {
                        let seam = std::mem::take(&mut self.seam);
                        let call = self.paren_follows(reader);
                        let seam_behind = std::mem::replace(&mut self.seam, seam);
                        if !call {
                            self.seam_behind = seam_behind;
                            return token;
                        }
                        match self.arguments(reader, &token, &definition, params) {
                            Some(arguments) => self.enter(&token, &definition, arguments),
                            None => return token,
                        }
                    }
                },
            }
        }
    }

    fn set_active(&mut self, name: Sym, active: bool) {
        let at = name.0 as usize;
        if self.active.len() <= at {
            self.active.resize(at + 1, false);
        }
        self.active[at] = active;
    }

    /// Counts produced tokens; gives up when there are too many.
    fn charge(&mut self, name: &PpToken, amount: usize) -> bool {
        self.ticks.tick(self.sources.stop());
        self.expanded = self.expanded.saturating_add(amount);
        if self.expanded <= MAX_EXPANSION {
            return true;
        }
        if !self.stack.is_empty() {
            let message = format!("macros produce more than {MAX_EXPANSION} tokens here");
            let help = "a macro that uses another one twice doubles the text at every level; use an inline or a loop";
            self.report(Diagnostic::new(Code::E0012, self.sources.site(name.span), message).help(help));
        }
        self.abort();
        false
    }

    fn new_expansion(&mut self, name: &PpToken) -> ExpansionId {
        let text = self.interner.text(name.sym).clone();
        self.sources.add_expansion(Expansion { kind: ExpansionKind::Macro, name: text, call: name.span })
    }

    /// Begins to read the replacement text of a macro.
    fn enter(&mut self, name: &PpToken, definition: &Rc<Macro>, arguments: Arguments) {
        if !self.charge(name, 1 + definition.body.len()) {
            return;
        }
        let expansion = self.new_expansion(name);
        let mut tokens = match &definition.params {
            Some(params) => Substitution::new(definition, params, arguments, name).run(self),
            None if definition.body.iter().any(|p| p.pasted) => {
                Substitution::new(definition, &Params::default(), arguments, name).run(self)
            }
            None => definition.body.iter().map(|p| p.token).collect(),
        };
        for token in &mut tokens {
            token.span.expansion = expansion;
            token.line = name.line;
        }
        self.push_replacement(name, tokens, Some(name.sym));
    }

    fn push_replacement(&mut self, name: &PpToken, tokens: Vec<PpToken>, active: Option<Sym>) {
        self.carried_space |= name.has(SPACE);
        self.seam = true;
        if let Some(name) = active {
            self.set_active(name, true);
        }
        self.contexts.push(Context { tokens, pos: 0, name: active });
    }

    fn enter_builtin(&mut self, name: &PpToken, builtin: Builtin) {
        if !self.charge(name, 2) {
            return;
        }
        let site = self.sources.site(name.span);
        let text = match builtin {
            Builtin::Line => self.sources.location(site).line.to_string(),
            Builtin::File => quote(&self.sources.location(site).file),
            Builtin::BaseFile => quote(self.stack.first().map_or("", |f| &self.sources.file(f.file).name)),
            Builtin::Counter => {
                self.counter = self.counter.saturating_add(1);
                (self.counter - 1).to_string()
            }
            Builtin::IncludeLevel => self.stack.len().saturating_sub(1).to_string(),
            Builtin::Fixed(text) => text.to_owned(),
            Builtin::Surprising(text) => {
                if !self.in_condition {
                    self.warn_about_surprise(name, text);
                }
                text.to_owned()
            }
        };
        let expansion = self.new_expansion(name);
        let kind = if text.starts_with('"') { Kind::Str } else { Kind::Number };
        let sym = self.interner.intern(&text);
        let span = Span { expansion, ..name.span };
        let token = PpToken { kind, flags: 0, sym, span, line: name.line };
        self.push_replacement(name, vec![token], None);
    }

    fn warn_about_surprise(&mut self, name: &PpToken, value: &str) {
        let text = self.text(name).to_owned();
        let message = format!("`{text}` is a predefined macro and is replaced by `{value}`, as with Spin");
        let help = format!("choose another name, or give the option `-U {text}`");
        self.report(Diagnostic::new(Code::W0007, name.span, message).help(help));
    }

    /// Whether the next token is `(`, which is then passed; other tokens are left where they are.
    fn paren_follows(&mut self, reader: Reader) -> bool {
        loop {
            if self.contexts.len() > reader.floor {
                let Some(context) = self.contexts.last_mut() else { return false };
                if let Some(token) = context.tokens.get(context.pos) {
                    let found = token.is(Sym::LPAREN);
                    context.pos += usize::from(found);
                    return found;
                }
                if let Some(name) = context.name {
                    self.set_active(name, false);
                }
                self.contexts.pop();
                self.seam = true;
                continue;
            }
            if !reader.files {
                return false;
            }
            let token = match self.ahead.take() {
                Some(token) => token,
                None => self.scan(false),
            };
            if token.is(Sym::LPAREN) {
                return true;
            }
            self.ahead = Some(token);
            return false;
        }
    }

    /// Collects the arguments of a call whose `(` was just passed.
    fn arguments(
        &mut self,
        reader: Reader,
        name: &PpToken,
        definition: &Macro,
        params: &Params,
    ) -> Option<Arguments> {
        self.collecting += 1;
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        let complete = loop {
            let mut token = self.unexpanded(reader);
            if token.kind == Kind::End {
                break false;
            }
            if token.has(LINE_START) {
                token.flags = token.flags & !LINE_START | SPACE;
            }
            if token.is(Sym::LPAREN) {
                depth += 1;
            } else if token.is(Sym::RPAREN) {
                if depth == 0 {
                    break true;
                }
                depth -= 1;
            } else if token.is(Sym::COMMA)
                && depth == 0
                && !(params.variadic && arguments.len() >= params.names.len())
            {
                arguments.push(Vec::new());
                continue;
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        };
        self.collecting -= 1;
        if !complete {
            // After giving up there is nothing more to say.
            if !self.stack.is_empty() {
                self.report_open_call(name);
            }
            return None;
        }
        self.fit(name, definition, params, arguments)
    }

    fn report_open_call(&mut self, name: &PpToken) {
        let message = format!("the call of macro `{}` has no closing `)`", self.text(name));
        let help = "close the argument list; it may span lines but not files or directives";
        self.report(Diagnostic::new(Code::E0010, name.span, message).help(help));
    }

    /// Checks the number of arguments.
    fn fit(
        &mut self,
        name: &PpToken,
        definition: &Macro,
        params: &Params,
        mut arguments: Vec<Vec<PpToken>>,
    ) -> Option<Arguments> {
        let wanted = params.names.len();
        // GNU: an omitted variadic argument takes the comma before `##` with it, an empty one does not.
        let alone = wanted == 1 && arguments.len() == 1 && arguments[0].is_empty();
        let omitted = params.variadic && (arguments.len() < wanted || alone);
        if wanted == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            return Some(Arguments { given: Vec::new(), omitted });
        }
        if omitted && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if arguments.len() == wanted {
            return Some(Arguments { given: arguments, omitted });
        }
        let given = arguments.len();
        let message = format!("macro `{}` takes {wanted} arguments but is given {given}", self.text(name));
        let help = "an argument with a comma in it must be put in parentheses";
        let error = Diagnostic::new(Code::E0009, name.span, message);
        self.report(error.label(definition.span, "defined here").help(help));
        None
    }
}

/// A file name as a string token.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    push_escaped(&mut out, text);
    out.push('"');
    out
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
}

/// The arguments of a call.
#[derive(Default)]
struct Arguments {
    given: Vec<Vec<PpToken>>,
    /// Whether the call says nothing at all for the variadic parameter.
    omitted: bool,
}

/// Inserting arguments into a replacement text.
struct Substitution<'m> {
    definition: &'m Macro,
    params: &'m Params,
    arguments: Vec<Vec<PpToken>>,
    omitted: bool,
    /// Arguments with their macros replaced, where they were needed.
    replaced: Vec<Option<Vec<PpToken>>>,
    name: &'m PpToken,
    out: Vec<PpToken>,
}

impl<'m> Substitution<'m> {
    fn new(
        definition: &'m Macro,
        params: &'m Params,
        arguments: Arguments,
        name: &'m PpToken,
    ) -> Substitution<'m> {
        let Arguments { given: arguments, omitted } = arguments;
        let replaced = arguments.iter().map(|_| None).collect();
        Substitution { definition, params, arguments, omitted, replaced, name, out: Vec::new() }
    }

    fn run(mut self, pp: &mut Preprocessor) -> Vec<PpToken> {
        let mut previous: Option<Piece> = None;
        // Whether the pieces joined by `##` so far are not all empty.
        let mut left = false;
        let mut after_argument = false;
        let mut space = false;
        for piece in &self.definition.body {
            let pasting = previous.is_some_and(|p| p.pasted);
            let mut tokens = self.tokens(pp, piece, pasting);
            space |= piece.token.has(SPACE);
            if let Some(first) = tokens.first_mut() {
                first.flags &= !SPACE;
                first.flags |= if space { SPACE } else { 0 };
                if after_argument || piece.what != What::Token {
                    first.flags |= SEAM;
                }
                space = false;
            }
            after_argument = piece.what != What::Token;
            if !pp.charge(self.name, tokens.len()) {
                return Vec::new();
            }
            let any = !tokens.is_empty();
            match previous {
                Some(comma) if pasting && self.is_gnu_comma(&comma, piece) => {
                    if self.omitted {
                        self.out.pop();
                    }
                    self.out.append(&mut tokens);
                }
                Some(_) if pasting && left && any => self.paste(pp, tokens),
                _ => self.out.append(&mut tokens),
            }
            left = any || pasting && left;
            previous = Some(*piece);
        }
        self.out
    }

    /// GNU's `, ## __VA_ARGS__`: the comma goes away when there are no further arguments.
    fn is_gnu_comma(&self, left: &Piece, right: &Piece) -> bool {
        let last = self.params.names.len().checked_sub(1);
        left.what == What::Token
            && left.token.is(Sym::COMMA)
            && self.params.variadic
            && matches!(right.what, What::Param(i) if Some(i) == last)
    }

    /// What a piece stands for in this call.
    fn tokens(&mut self, pp: &mut Preprocessor, piece: &Piece, pasting: bool) -> Vec<PpToken> {
        match piece.what {
            What::Token => vec![piece.token],
            What::Quoted(i) => vec![self.quoted(pp, piece, i)],
            What::Param(i) if pasting || piece.pasted => self.arguments[i].clone(),
            What::Param(i) => {
                if self.replaced[i].is_none() {
                    self.replaced[i] = Some(self.replace(pp, i));
                }
                self.replaced[i].clone().unwrap_or_default()
            }
        }
    }

    fn replace(&mut self, pp: &mut Preprocessor, i: usize) -> Vec<PpToken> {
        let argument = self.arguments[i].clone();
        if argument.iter().all(|t| t.kind != Kind::Name) {
            return argument;
        }
        if pp.call_depth >= MAX_CALL_DEPTH {
            let message = format!("macro calls are nested more than {MAX_CALL_DEPTH} deep in arguments");
            let span = pp.sources.site(self.name.span);
            pp.report(Diagnostic::new(Code::E0012, span, message).help("break the call into several macros"));
            pp.abort();
            return Vec::new();
        }
        if !pp.charge(self.name, argument.len()) {
            return Vec::new();
        }
        pp.call_depth += 1;
        let replaced = pp.expand_all(argument);
        pp.call_depth -= 1;
        replaced
    }

    /// `#x`: the spelling of an argument as a string.
    fn quoted(&mut self, pp: &mut Preprocessor, piece: &Piece, i: usize) -> PpToken {
        let mut text = String::from("\"");
        for (at, token) in self.arguments[i].iter().enumerate() {
            if at > 0 && token.has(SPACE) {
                text.push(' ');
            }
            match token.kind {
                Kind::Str | Kind::Char => push_escaped(&mut text, pp.text(token)),
                _ => text.push_str(pp.text(token)),
            }
        }
        text.push('"');
        pp.charge(self.name, text.len() / 16);
        PpToken { kind: Kind::Str, sym: pp.interner.intern(&text), flags: 0, ..piece.token }
    }

    /// Joins the last token so far with the first of `tokens`.
    fn paste(&mut self, pp: &mut Preprocessor, tokens: Vec<PpToken>) {
        let mut tokens = tokens.into_iter();
        let (Some(left), Some(right)) = (self.out.pop(), tokens.next()) else { return };
        let text = format!("{}{}", pp.text(&left), pp.text(&right));
        pp.charge(self.name, text.len() / 16);
        match single_token(&text) {
            Some((kind, operator)) => {
                let sym = operator.unwrap_or_else(|| pp.interner.intern(&text));
                self.out.push(PpToken { kind, sym, flags: left.flags & !PAINTED, ..left });
            }
            None => {
                let message = format!("`{}` ## `{}` is not one token", pp.text(&left), pp.text(&right));
                let help = "write the two side by side, without `##`";
                let error = Diagnostic::new(Code::E0011, pp.sources.site(self.name.span), message);
                pp.report(error.label(left.span, "joined here").help(help));
                self.out.extend([left, right]);
            }
        }
        self.out.extend(tokens);
    }
}
