//! The built-in C preprocessor and the lexer: from files to the tokens of the parser, without a C compiler.
//!
//! The reference is what Spin does: it runs `gcc -std=gnu99 -E -x c` and lexes the result. So there are two
//! steps here too. The first works on C's tokens: `lines` joins continued lines, `scan` finds tokens,
//! `directive` obeys `#` lines (with `condition` for `#if`), `macros` holds definitions and `expand` replaces
//! macros. The second, `emit`, reads Promela's tokens out of that. What gcc only warns about is a warning
//! here, what makes gcc fail is an error, and what gcc lets pass but Spin's lexer refuses is an error of the
//! second step.
//!
//! Every table and loop is linear in the text; the few places where a short text can demand endless work
//! (macros that double, files that include themselves, deep nesting) have limits, all of them below.
//!
//! | codes | what they are about |
//! |---|---|
//! | E0001-E0004 | files: the model, `#include`, endless inclusion |
//! | E0005, E0015-E0018 | directives: unknown, `#else` and `#endif` out of place, `#if` not closed, `#error`, `#line` |
//! | E0006-E0012 | macros: definitions, calls, `#` and `##`, too much produced |
//! | E0013, E0014 | conditions of `#if` |
//! | E0019-E0025 | text: comments, strings, characters, embedded C, stray `#`, too many problems |
//! | W0001-W0004 | redefinition, `#warning`, `#pragma`, text after a directive |
//! | W0005-W0009 | what looks different from what it is: `0..N`, `0x10`, `linux`, `'\0'`, `-->` |
//!
//! Of gcc's some 350 predefined macros those are known that do not depend on the machine
//! (`macros::BUILTINS`). Among them are `linux` and `unix`, which gcc replaces by `1` under `-std=gnu99`;
//! using them gets a warning.

mod condition;
mod directive;
mod emit;
mod expand;
mod intern;
mod lines;
mod macros;
mod scan;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{ExpansionId, FileId, Files, NO_SUCH_FILE, SourceMap, Span};
use crate::token::Token;
use directive::Conditional;
use expand::Context;
use intern::{Interner, Sym};
use macros::Definition;
use scan::{Kind, PpToken, SPACE, Scanner};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use stop::Ticks;

/// How deeply files may include each other; gcc's limit.
const MAX_INCLUDE_DEPTH: usize = 200;
/// How many files may be included in all, counting repetitions.
const MAX_INCLUDES: usize = 20_000;
/// How many bytes of text may be read in all, counting repetitions.
const MAX_TEXT: usize = 512 << 20;
/// How many tokens macros may produce in all.
const MAX_EXPANSION: usize = 4 << 20;
/// How deeply macro calls may be nested in the arguments of macro calls.
const MAX_CALL_DEPTH: usize = 200;
/// How deeply an expression of `#if` may be nested.
const MAX_CONDITION_DEPTH: usize = 200;
/// How many diagnostics are kept.
const MAX_DIAGNOSTICS: usize = 200;

/// A byte order mark at the beginning of a file is not part of its text, as for gcc.
fn without_mark(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}

/// What the command line says about preprocessing.
///
/// The lists are applied in the order `predefined`, `defines`, `undefines`, after the built-in macros.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `-D NAME` (defined as `1`) and `-D NAME=VALUE`; a name may carry parameters, as in `F(x)`.
    pub defines: Vec<(String, Option<String>)>,
    /// `-U NAME`; built-in macros can be undefined too.
    pub undefines: Vec<String>,
    /// `-I DIR`: where included files are looked for after the directory of the including file.
    pub include_dirs: Vec<String>,
    /// Macros that the tool itself defines, for example to tell a dialect.
    pub predefined: Vec<(String, String)>,
}

/// The result of preprocessing and lexing.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// The tokens; the last one, and only that, is [`crate::token::TokenKind::End`].
    pub tokens: Vec<Token>,
    /// For each token, whether Spin would see a line end before it (which may stand for a semicolon): what a
    /// macro produces is on one line, that of its use.
    pub line_starts: Vec<bool>,
    /// Errors and warnings, in the order in which they were met.
    pub diagnostics: Vec<Diagnostic>,
}

/// Preprocesses and lexes the model at `path`.
///
/// The model becomes the first file of `sources` if that is empty. Nothing fails: what could not be
/// understood is in the diagnostics.
pub fn preprocess(path: &str, files: &dyn Files, options: &Options, sources: &mut SourceMap) -> Preprocessed {
    let mut emitter = emit::Emitter::new();
    let mut pp = Preprocessor::new(files, options, sources);
    let end = match files.read(path) {
        Ok(text) => {
            let file = pp.sources.add_file(path, without_mark(text));
            pp.known_files.insert(path.to_owned(), file);
            pp.apply_options();
            let end = pp.sources.file(file).text.len().min(u32::MAX as usize) as u32;
            pp.open_file(file, Span { file, ..Span::NONE });
            loop {
                let token = pp.next_output();
                if token.kind == Kind::End {
                    break;
                }
                emitter.push(&mut pp, token);
            }
            Span { file, start: end, end, expansion: ExpansionId::ROOT }
        }
        Err(reason) => {
            let file = pp.sources.add_file(path, "");
            let span = Span { file, ..Span::NONE };
            let message = format!("cannot read `{path}`: {reason}");
            let diagnostic = Diagnostic::new(Code::E0001, span, message);
            pp.report(match reason == NO_SUCH_FILE {
                true => diagnostic.help("check the name of the model"),
                false => diagnostic,
            });
            span
        }
    };
    let (tokens, line_starts) = emitter.finish(&mut pp, end);
    Preprocessed { tokens, line_starts, diagnostics: pp.diagnostics }
}

/// A file that is being read.
struct OpenFile {
    file: FileId,
    scanner: Scanner,
    conditionals: Vec<Conditional>,
    /// The name that `#line` gave to the file.
    presumed_name: Option<String>,
}

/// The state of one run.
struct Preprocessor<'a> {
    files: &'a dyn Files,
    options: &'a Options,
    sources: &'a mut SourceMap,
    interner: Interner,
    /// The definition of each name, by its number.
    definitions: Vec<Option<Definition>>,
    /// Which macros are being replaced right now, by the number of their names.
    active: Vec<bool>,
    /// The files being read, innermost last.
    stack: Vec<OpenFile>,
    /// Files already read, by path.
    known_files: HashMap<String, FileId>,
    /// Files that said `#pragma once` or were imported.
    once: HashSet<FileId>,
    /// Replacement texts being read, innermost last.
    contexts: Vec<Context>,
    /// A token of the file that was read ahead.
    ahead: Option<PpToken>,
    /// White space that a macro name left for the next token.
    carried_space: bool,
    /// A macro's text began or ended since the last token.
    seam: bool,
    /// A macro's text ended behind the token that is about to be returned.
    seam_behind: bool,
    /// Serial number of the current line, over all files.
    line: u32,
    /// How deeply arguments of macro calls are being replaced.
    call_depth: usize,
    /// Nesting of argument lists being collected.
    collecting: usize,
    /// The condition of a directive is being read.
    in_condition: bool,
    counter: u32,
    includes: usize,
    text_read: usize,
    expanded: usize,
    ticks: Ticks,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Preprocessor<'a> {
    fn new(files: &'a dyn Files, options: &'a Options, sources: &'a mut SourceMap) -> Self {
        let mut pp = Preprocessor {
            files,
            options,
            sources,
            interner: Interner::new(),
            definitions: Vec::new(),
            active: Vec::new(),
            stack: Vec::new(),
            known_files: HashMap::new(),
            once: HashSet::new(),
            contexts: Vec::new(),
            ahead: None,
            carried_space: false,
            seam: false,
            seam_behind: false,
            line: 0,
            call_depth: 0,
            collecting: 0,
            in_condition: false,
            counter: 0,
            includes: 0,
            text_read: 0,
            expanded: 0,
            ticks: Ticks::default(),
            diagnostics: Vec::new(),
        };
        pp.define_builtins();
        pp
    }

    /// Keeps a diagnostic, unless there are too many already.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else if self.diagnostics.len() == MAX_DIAGNOSTICS {
            let message = "too many problems; the further ones are not shown";
            let span = diagnostic.span();
            self.diagnostics.push(Diagnostic::new(Code::E0025, span, message).help("repair the first ones"));
        }
    }

    /// Gives up: every further token is the end.
    fn abort(&mut self) {
        self.stack.clear();
        self.contexts.clear();
        self.ahead = None;
    }

    /// Runs the definitions of the command line, as a file of their own.
    fn apply_options(&mut self) {
        let one_line = |s: &str| s.lines().next().unwrap_or("").to_owned();
        let mut text = String::new();
        for (name, value) in &self.options.predefined {
            text.push_str(&format!("#define {} {}\n", one_line(name), one_line(value)));
        }
        for (name, value) in &self.options.defines {
            let value = value.as_deref().map_or("1".into(), one_line);
            text.push_str(&format!("#define {} {}\n", one_line(name), value));
        }
        for name in &self.options.undefines {
            text.push_str(&format!("#undef {}\n", one_line(name)));
        }
        if text.is_empty() {
            return;
        }
        let file = self.sources.add_file("<command line>", text);
        self.open_file(file, Span { file, ..Span::NONE });
        while self.next_output().kind != Kind::End {}
    }

    /// Begins to read a file that is already in the source map.
    fn open_file(&mut self, file: FileId, include: Span) {
        let text = self.sources.file(file).text.clone();
        self.text_read = self.text_read.saturating_add(text.len());
        if self.text_read > MAX_TEXT {
            let message = format!("more than {} MB of text to read", MAX_TEXT >> 20);
            self.report(
                Diagnostic::new(Code::E0004, include, message)
                    .help("a model this large is most likely a file that is included again and again"),
            );
            return self.abort();
        }
        let scanner = Scanner::new(Rc::new(lines::join(&text)));
        self.stack.push(OpenFile { file, scanner, conditionals: Vec::new(), presumed_name: None });
        self.line = self.line.saturating_add(1);
    }

    /// The next token of the innermost file, whatever it is.
    fn scan(&mut self, in_directive: bool) -> PpToken {
        let Some(open) = self.stack.last_mut() else { return end_token(Span::NONE, self.line) };
        let raw = open.scanner.next(in_directive, &mut self.line);
        let (start, end) = open.scanner.original(raw.start, raw.end);
        let span = Span { file: open.file, start, end, expansion: ExpansionId::ROOT };
        let sym = match raw.kind {
            Kind::End | Kind::EndOfLine | Kind::Operator => raw.operator,
            _ => self.interner.intern(&open.scanner.text()[raw.start..raw.end]),
        };
        if open.scanner.open_comment.is_some() {
            self.report_open_comment();
        }
        PpToken { kind: raw.kind, flags: raw.flags, sym, span, line: self.line }
    }

    fn report_open_comment(&mut self) {
        let Some(open) = self.stack.last_mut() else { return };
        let Some(at) = open.scanner.open_comment.take() else { return };
        let (start, end) = open.scanner.original_anywhere(at, at + 2);
        let span = Span { file: open.file, start, end, expansion: ExpansionId::ROOT };
        self.report(
            Diagnostic::new(Code::E0019, span, "this comment is never closed").help("end it with `*/`"),
        );
    }

    /// The next token of the files, after obeying the directives before it. Inside an argument list the end
    /// of a file is not passed.
    fn source_token(&mut self) -> PpToken {
        loop {
            let token = match self.ahead.take() {
                Some(token) => token,
                None => self.scan(false),
            };
            if token.is(Sym::HASH) && token.has(scan::LINE_START) {
                self.directive(token);
                continue;
            }
            if token.kind != Kind::End || self.stack.is_empty() || self.collecting > 0 {
                return token;
            }
            self.close_file();
            if self.stack.is_empty() {
                return token;
            }
        }
    }

    /// The spelling of a token.
    fn text(&self, token: &PpToken) -> &str {
        self.interner.text(token.sym)
    }
}

/// The token that stands for the end.
fn end_token(span: Span, line: u32) -> PpToken {
    PpToken { kind: Kind::End, flags: SPACE, sym: Sym::HASH, span, line }
}
