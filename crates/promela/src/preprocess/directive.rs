//! Directives: the lines that begin with `#`.
//!
//! A directive is obeyed when the scanner meets it, even between the arguments of a macro call, as with gcc.
//! Text that a condition leaves out is scanned without interning or reporting anything, whatever it contains.

use super::intern::Sym;
use super::scan::{Kind, LINE_START, PpToken, SPACE};
use super::{MAX_INCLUDE_DEPTH, MAX_INCLUDES, Preprocessor};
use crate::diagnostic::{Code, Diagnostic, Fix, nearest};
use crate::source::{FileId, NO_SUCH_FILE, Span};

/// An `#if` that is not closed yet.
pub(super) struct Conditional {
    /// The directive that opened it.
    span: Span,
    /// Whether one of its parts was chosen already.
    taken: bool,
    /// Where its `#else` is.
    else_at: Option<Span>,
}

impl Preprocessor<'_> {
    /// Obeys the directive whose `#` was just read.
    pub(super) fn directive(&mut self, hash: PpToken) {
        let word = self.scan(true);
        match word.kind {
            Kind::EndOfLine | Kind::End => {}
            Kind::Number => {
                let mut line = vec![word];
                line.extend(self.rest_of_line());
                self.line_mark(&hash, line, false);
            }
            _ => {
                let name = self.interner.text(word.sym).clone();
                let word = PpToken { span: hash.span.to(word.span), ..word };
                self.named_directive(&name, &word);
            }
        }
        if let Some(open) = self.stack.last_mut() {
            open.scanner.end_directive();
        }
    }

    fn named_directive(&mut self, name: &str, word: &PpToken) {
        match name {
            "define" => {
                let line = self.rest_of_line();
                self.define(word, &line);
            }
            "undef" => {
                let line = self.rest_of_line();
                self.undefine(word, &line);
            }
            "include" | "import" => self.include(word, name == "import"),
            "if" | "ifdef" | "ifndef" => {
                let holds = self.tested(name, word);
                let conditional = Conditional { span: word.span, taken: holds, else_at: None };
                if let Some(open) = self.stack.last_mut() {
                    open.conditionals.push(conditional);
                }
                if !holds {
                    self.skip_to_next_part();
                }
            }
            "elif" | "elifdef" | "elifndef" | "else" => {
                // The part before was chosen, so that this one is not: its condition is not even looked at.
                self.rest_of_line();
                if self.in_conditional(name, word) {
                    self.skip_to_next_part();
                }
            }
            "endif" => {
                let line = self.rest_of_line();
                if self.in_conditional(name, word) {
                    self.warn_about_extra(&line, "#endif");
                    self.pop_conditional();
                }
            }
            "error" | "warning" => self.message(name, word),
            "line" => {
                let line = self.rest_of_line();
                self.line_mark(word, line, true);
            }
            "pragma" => self.pragma(word),
            // Remarks for other tools; Spin skips them too.
            "ident" | "sccs" | "assert" | "unassert" => {
                self.rest_of_line();
            }
            _ => self.unknown_directive(name, word),
        }
    }

    fn unknown_directive(&mut self, name: &str, word: &PpToken) {
        self.rest_of_line();
        const KNOWN: &[&str] = &[
            "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error",
            "warning", "line", "pragma",
        ];
        let meant = match name {
            "elseif" | "elsif" => Some("elif"),
            "end" | "fi" | "ifend" => Some("endif"),
            "def" => Some("define"),
            "import" | "use" => Some("include"),
            _ => nearest(name, KNOWN.iter().copied()),
        };
        let d = Diagnostic::new(Code::E0005, word.span, format!("there is no directive `#{name}`"));
        self.report(match meant {
            Some(known) => {
                d.help(format!("did you mean `#{known}`?")).fix(Fix::replace(word.span, name, known))
            }
            None => d.help(format!("a line that begins with `#` must be one of #{}", KNOWN.join(", #"))),
        });
    }

    /// The tokens up to the end of the directive's line.
    pub(super) fn rest_of_line(&mut self) -> Vec<PpToken> {
        let mut line = Vec::new();
        loop {
            let token = self.scan(true);
            if matches!(token.kind, Kind::EndOfLine | Kind::End) {
                return line;
            }
            line.push(token);
        }
    }

    /// Warns about text that a directive does not use.
    pub(super) fn warn_about_extra(&mut self, extra: &[PpToken], directive: &str) {
        if let Some(first) = extra.first() {
            let message = format!("text after `{directive}` has no effect");
            self.report(
                Diagnostic::new(Code::W0004, first.span, message).help("remove it or make it a comment"),
            );
        }
    }

    /// The innermost open conditional of the current file.
    fn conditional(&mut self) -> Option<&mut Conditional> {
        self.stack.last_mut().and_then(|open| open.conditionals.last_mut())
    }

    fn pop_conditional(&mut self) {
        if let Some(open) = self.stack.last_mut() {
            open.conditionals.pop();
        }
    }

    /// Evaluates the test of `#if`, `#ifdef`, `#ifndef` and of the forms with `el` before.
    fn tested(&mut self, name: &str, word: &PpToken) -> bool {
        let line = self.rest_of_line();
        if matches!(name, "if" | "elif") {
            return self.condition(word, line);
        }
        let Some(tested) = self.macro_name(word, &line) else { return false };
        self.warn_about_extra(&line[1..], &format!("#{name}"));
        self.definition(tested.sym).is_some() != name.ends_with("ndef")
    }

    /// Whether there is an open conditional for `#elif`, `#else` or `#endif`, and, if so, that it is in
    /// order.
    fn in_conditional(&mut self, name: &str, word: &PpToken) -> bool {
        let Some(conditional) = self.conditional() else {
            let message = format!("`#{name}` without `#if`");
            let help = "remove it, or add the `#if` that it belongs to; both must be in the same file";
            self.report(Diagnostic::new(Code::E0015, word.span, message).help(help));
            return false;
        };
        let earlier = match conditional.else_at {
            Some(span) if name != "endif" => Some((span, conditional.span)),
            _ => None,
        };
        if name == "else" && earlier.is_none() {
            conditional.else_at = Some(word.span);
        }
        if let Some((span, opened)) = earlier {
            let error = Diagnostic::new(Code::E0015, word.span, format!("`#{name}` after `#else`"));
            let error = error.label(span, "the `#else`").label(opened, "the `#if`");
            self.report(error.help("`#else` must be the last part before `#endif`"));
        }
        true
    }

    /// Passes the text that a condition leaves out, up to the part that is chosen or past the `#endif`.
    fn skip_to_next_part(&mut self) {
        let mut nested = 0usize;
        while let Some((name, word)) = self.skipped_directive() {
            match &*name {
                "if" | "ifdef" | "ifndef" => nested += 1,
                "endif" if nested > 0 => nested -= 1,
                "endif" => {
                    self.pop_conditional();
                    return;
                }
                "else" | "elif" | "elifdef" | "elifndef" if nested == 0 && self.chosen(&name, &word) => {
                    return;
                }
                _ => {}
            }
        }
    }

    /// Whether this part of a conditional, whose earlier parts were left out, is the one to read.
    fn chosen(&mut self, name: &str, word: &PpToken) -> bool {
        let possible = self.conditional().is_some_and(|c| !c.taken && c.else_at.is_none());
        self.in_conditional(name, word);
        let chosen = possible && (name == "else" || self.tested(name, word));
        self.skip_line();
        if let Some(open) = self.stack.last_mut() {
            open.scanner.end_directive();
        }
        if let Some(conditional) = self.conditional() {
            conditional.taken |= chosen;
        }
        chosen
    }

    /// The next directive in text that is left out: its name and its place. `None` at the end of the file.
    fn skipped_directive(&mut self) -> Option<(String, PpToken)> {
        loop {
            let open = self.stack.last_mut()?;
            let hash = open.scanner.next(false, &mut self.line);
            if hash.kind == Kind::End {
                self.report_open_comment();
                return None;
            }
            let is_hash = hash.kind == Kind::Operator && hash.operator == Sym::HASH;
            if !is_hash || hash.flags & LINE_START == 0 {
                // To the end of the line: nothing in it can be a directive.
                self.skip_line();
                self.stack.last_mut()?.scanner.end_directive();
                continue;
            }
            let (start, _) = open.scanner.original(hash.start, hash.end);
            let word = open.scanner.next(true, &mut self.line);
            let (_, end) = open.scanner.original(word.start, word.end);
            let name = open.scanner.text()[word.start..word.end].to_owned();
            let file = open.file;
            if word.kind == Kind::Name && name.starts_with(['i', 'e']) {
                let span = Span { file, start, end, ..Span::NONE };
                let sym = self.interner.intern(&name);
                let token = PpToken { kind: word.kind, flags: SPACE, sym, span, line: self.line };
                if !name.starts_with("el") {
                    self.skip_line();
                    self.stack.last_mut()?.scanner.end_directive();
                }
                return Some((name, token));
            }
            if word.kind != Kind::EndOfLine {
                self.skip_line();
            }
            self.stack.last_mut()?.scanner.end_directive();
        }
    }

    /// Passes the rest of a line without looking at it.
    fn skip_line(&mut self) {
        let Some(open) = self.stack.last_mut() else { return };
        while !matches!(open.scanner.next(true, &mut self.line).kind, Kind::EndOfLine | Kind::End) {}
    }

    /// Leaves a file whose end was reached.
    pub(super) fn close_file(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        for conditional in open.conditionals {
            let help = "end it with `#endif`, in the same file";
            self.report(
                Diagnostic::new(Code::E0016, conditional.span, "this condition is never closed").help(help),
            );
        }
        self.line = self.line.saturating_add(1);
    }

    /// `#error` and `#warning`.
    fn message(&mut self, name: &str, word: &PpToken) {
        let line = self.rest_of_line();
        let mut text = String::new();
        for token in &line {
            if !text.is_empty() && token.has(SPACE) {
                text.push(' ');
            }
            text.push_str(self.text(token));
        }
        let message = if text.is_empty() { format!("`#{name}`") } else { text };
        let diagnostic = match name {
            "error" => {
                let help = "the model itself refuses to be read like this; often a -D option is missing";
                Diagnostic::new(Code::E0017, word.span, message).help(help)
            }
            _ => Diagnostic::new(Code::W0002, word.span, message),
        };
        self.report(diagnostic);
    }

    fn pragma(&mut self, word: &PpToken) {
        let line = self.rest_of_line();
        if line.first().is_some_and(|t| self.text(t) == "once") {
            if let Some(open) = self.stack.last() {
                self.once.insert(open.file);
            }
            return;
        }
        let help = "remove it: Spin refuses models with such a line";
        self.report(Diagnostic::new(Code::W0003, word.span, "this `#pragma` is ignored").help(help));
    }

    /// `#line N "file"`, or `# N "file" flags` as preprocessors write it.
    fn line_mark(&mut self, word: &PpToken, line: Vec<PpToken>, expand: bool) {
        let line = if expand { self.expand_all(line) } else { line };
        let number =
            line.first().filter(|t| t.kind == Kind::Number).and_then(|t| self.text(t).parse::<u32>().ok());
        let name = match line.get(1) {
            Some(t) if t.kind == Kind::Str => Ok(Some(unquoted(self.text(t)))),
            Some(_) => Err(()),
            None => Ok(None),
        };
        let (Some(number), Ok(name)) = (number, name) else {
            let message = "this line number directive is malformed";
            let help = "write `#line 12` or `#line 12 \"file\"`";
            self.report(Diagnostic::new(Code::E0018, word.span, message).help(help));
            return;
        };
        let Some(open) = self.stack.last_mut() else { return };
        if name.is_some() {
            open.presumed_name = name;
        }
        // A file that is included again has its marks already.
        let marks = &self.sources.file(open.file).line_marks;
        if marks.last().is_none_or(|m| m.0 < word.span.start) {
            self.sources.add_line_mark(open.file, word.span.start, number, open.presumed_name.clone());
        }
    }

    /// `#include` and `#import`.
    fn include(&mut self, word: &PpToken, once: bool) {
        let Some((system, name)) = self.header(word) else { return };
        if self.collecting > 0 {
            let message = "a file cannot be included between the arguments of a macro";
            self.report(Diagnostic::new(Code::E0003, word.span, message).help("include it before the call"));
            return;
        }
        let Some(file) = self.find(word, system, &name) else { return };
        if self.once.contains(&file) {
            return;
        }
        if once {
            self.once.insert(file);
        }
        self.includes += 1;
        if self.stack.len() >= MAX_INCLUDE_DEPTH || self.includes > MAX_INCLUDES {
            self.report_endless_include(word, file);
            return self.abort();
        }
        if let Some(open) = self.stack.last_mut() {
            open.scanner.end_directive();
        }
        self.open_file(file, word.span);
    }

    /// The file name that `#include` gives: whether it is in angle brackets, and the name.
    fn header(&mut self, word: &PpToken) -> Option<(bool, String)> {
        let literal = self.stack.last_mut().and_then(|open| open.scanner.header());
        let line = self.rest_of_line();
        if let Some(header) = literal {
            self.warn_about_extra(&line, "#include");
            if !header.1.is_empty() {
                return Some(header);
            }
        } else {
            let line = self.expand_all(line);
            match line.first() {
                Some(t) if t.kind == Kind::Str => return Some((false, unquoted(self.text(t)))),
                Some(t) if t.is(Sym::LESS) => {
                    let end = line.iter().position(|t| t.is(Sym::GREATER))?;
                    return Some((true, line[1..end].iter().map(|t| self.text(t)).collect()));
                }
                _ => {}
            }
        }
        let message = "`#include` needs the name of a file";
        self.report(Diagnostic::new(Code::E0003, word.span, message).help("write `#include \"file\"`"));
        None
    }

    /// Finds and reads an included file.
    fn find(&mut self, word: &PpToken, system: bool, name: &str) -> Option<FileId> {
        let mut candidates = Vec::new();
        if is_absolute(name) {
            candidates.push(name.to_owned());
        } else {
            if let Some(open) = self.stack.last().filter(|_| !system) {
                candidates.push(join_path(directory(&self.sources.file(open.file).name), name));
            }
            candidates.extend(self.options.include_dirs.iter().map(|dir| join_path(dir, name)));
        }
        let mut missing = Vec::new();
        for path in candidates {
            if let Some(&file) = self.known_files.get(&path) {
                return Some(file);
            }
            match self.files.read(&path) {
                Ok(text) => {
                    let file = self.sources.add_file(path.clone(), super::without_mark(text));
                    self.known_files.insert(path, file);
                    return Some(file);
                }
                Err(reason) if reason == NO_SUCH_FILE => missing.push(format!("{path}: {reason}")),
                // What is there is what was meant: there is no use in looking elsewhere.
                Err(reason) => {
                    let message = format!("cannot read the included file `{path}`: {reason}");
                    self.report(Diagnostic::new(Code::E0002, word.span, message));
                    return None;
                }
            }
        }
        self.report_missing_include(word, system, name, &missing);
        None
    }

    fn report_missing_include(&mut self, word: &PpToken, system: bool, name: &str, reasons: &[String]) {
        let help = match (system, reasons.is_empty()) {
            (true, _) => {
                "files in angle brackets are looked for in the directories of -I only; a C header is of no use in a \
                 model, except as `\\#include` inside c_decl"
                    .to_owned()
            }
            (false, true) => "check the name".to_owned(),
            (false, false) => {
                format!("check the name, or add its directory with -I; tried {}", reasons.join("; "))
            }
        };
        let message = format!("cannot find the included file `{name}`");
        self.report(Diagnostic::new(Code::E0002, word.span, message).help(help));
    }

    fn report_endless_include(&mut self, word: &PpToken, file: FileId) {
        let names = |from: usize| -> Vec<&str> {
            self.stack[from..].iter().map(|open| &*self.sources.file(open.file).name).collect()
        };
        let again = &self.sources.file(file).name;
        let message = match self.stack.iter().rposition(|open| open.file == file) {
            Some(from) if self.stack.len() >= MAX_INCLUDE_DEPTH => {
                let mut cycle = names(from);
                cycle.push(again);
                format!("files include each other without end: {}", cycle.join(" -> "))
            }
            _ if self.stack.len() >= MAX_INCLUDE_DEPTH => {
                format!("files include each other more than {MAX_INCLUDE_DEPTH} levels deep")
            }
            _ => format!("more than {MAX_INCLUDES} files are included"),
        };
        let help = "begin the file with `#ifndef NAME` and `#define NAME`, and end it with `#endif`";
        self.report(Diagnostic::new(Code::E0004, word.span, message).help(help));
    }
}

/// A string token without its quotes and escapes.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

fn is_absolute(path: &str) -> bool {
    std::path::Path::new(path).is_absolute()
}

/// The directory part of a path, with its separator.
fn directory(path: &str) -> &str {
    path.rfind(std::path::is_separator).map_or("", |at| &path[..=at])
}

fn join_path(dir: &str, name: &str) -> String {
    match dir {
        "" => name.to_owned(),
        _ if dir.ends_with(std::path::is_separator) => format!("{dir}{name}"),
        _ => format!("{dir}/{name}"),
    }
}
