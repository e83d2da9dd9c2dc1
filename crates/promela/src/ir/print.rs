//! The text form of a program: everything that a [`Program`] holds, to be read by people and by `read`.
//!
//! ```text
//! program "mutex.pml"
//! uses timeout
//! mtype0 = _unnamed_ { red = 2, green = 1 }
//! struct0 = Msg cells 3 { a: byte at 0, b: array 2 of bit* at 1 }
//! chantype0 = q capacity 2 { byte, mtype0 } @0:17..20
//! globals cells 4 {
//!   g0 flag: array 2 of bit* @0:5..9
//!   g2 turn: byte hidden @0:10..14
//!   g3 q: chan @0:17..18
//!   init assign g2:byte = 1
//!   init newchan g3:chan chantype0
//! }
//! proctype0 = user kind proctype params 1 cells 1 locations 6 start L4 @0:30..90 {
//!   l0 me: byte
//!   provided (ne g2:byte 0)
//!   label again = L4
//!   L4 end: e0 e1
//!     e0 @0:40..46 -> L5 atomic escape L5 { guard (eq g0[l0:byte < 2 * 1]:bit* 1) } "flag[me] == 1"
//!     e1 @0:50..54 -> L4 { else } "else"
//!   L5: e2
//!     e2 -> L0 { end } "-end-"
//! }
//! active proctype0 priority 1
//! c0 = expr proctype0 @0:60..70 requires "now.x > 0" "now.x < 3"
//! c_decl @0:1..9 "int z;"
//! c_state local proctype0 @0:2..3 "int y" = "7"
//! c_track matched @0:4..5 "&z" "sizeof(int)"
//! ```
//!
//! - One line is one thing; `;` begins a comment. Numbered things are words: `mtype0`, `struct0`,
//!   `chantype0`, `proctype0`, location `L4`, edge `e0`. Edges stand below the first location that lists
//!   them; locations without edges and flags are not written, so the number of locations is part of the
//!   header.
//! - A place is its base and cell (`g2` global, `l0` local, `_0` the write-only variable), its indices
//!   `[value < length * stride]`, a colon and its scalar. Where an expression is expected, a place is a load.
//! - Other expressions, formulas and fields of a receive are prefix lists: `(add 1 g2:byte)`, `(always (prop
//!   …))`.
//! - `@file:start..end`, with `#expansion` when the text came out of one, is the span of what stands before
//!   it. A part without a span has the span of its line (the edge, the invariant, the formula); a local
//!   variable or an initialisation, that of its proctype; everything else, [`Span::NONE`].
//! - A name that is not a plain word is written as a string.

mod embedded;
mod state_formula;

use super::lexer::{is_word, quote};
use super::names::{self, word_of};
use super::verify::MAX_NESTING;
use super::*;
use crate::source::{ExpansionId, Span};

/// The whole program. Reading the text gives the program back, and printing that gives the same text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::new(true);
    printer.program(program);
    printer.out
}

/// The program without spans, for people and for comparing programs that differ in positions only.
pub fn print_without_spans(program: &Program) -> String {
    let mut printer = Printer::new(false);
    printer.program(program);
    printer.out
}

/// An action without spans, such as `guard (eq l0:byte 3)`.
pub fn print_action(action: &Action) -> String {
    let mut printer = Printer::new(false);
    printer.action(action);
    printer.out
}

/// An expression without spans, such as `(eq l0:byte 3)`.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::new(false);
    printer.expr(expr);
    printer.out
}

/// A temporal formula without spans, such as `(always (prop (le g0:byte 1)))`.
pub fn print_formula(formula: &Formula) -> String {
    let mut printer = Printer::new(false);
    printer.formula(formula);
    printer.out
}

/// A formula about states without spans, such as `(AG (EF (prop g0:bool)))`.
pub fn print_state_formula(formula: &StateFormula) -> String {
    let mut printer = Printer::new(false);
    printer.state_formula(formula);
    printer.out
}

/// A type, such as `array 2 of bit*`.
pub fn print_type(ty: &Type) -> String {
    let mut printer = Printer::new(false);
    printer.ty(ty);
    printer.out
}

/// The word by which the text form calls this action.
pub fn action_word(action: &Action) -> &'static str {
    match action {
        Action::Skip => "skip",
        Action::Guard(_) => "guard",
        Action::Else => "else",
        Action::Assign(..) => "assign",
        Action::Send { .. } => "send",
        Action::Receive { .. } => "receive",
        Action::Assert(_) => "assert",
        Action::Printf(..) => "printf",
        Action::Printm(..) => "printm",
        Action::SetPriority(..) => "set_priority",
        Action::Lock(_) => "lock",
        Action::Unlock(_) => "unlock",
        Action::DStep { .. } => "d_step",
        Action::Event { .. } => "event",
        Action::C(_) => "c",
        Action::End => "end",
    }
}

/// The word by which the text form calls this kind of proctype.
pub fn kind_word(kind: ProctypeKind) -> &'static str {
    word_of(&names::KINDS, &kind)
}

/// Text under construction.
struct Printer {
    out: String,
    spans: bool,
    /// The span that parts without one have.
    line: Span,
    /// Expressions, formulas or array types around the one being printed.
    depth: usize,
}

impl Printer {
    fn new(spans: bool) -> Self {
        Printer { out: String::new(), spans, line: Span::NONE, depth: 0 }
    }

    fn word(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, name: &str) {
        if is_word(name) {
            self.out.push_str(name);
        } else {
            quote(&mut self.out, name);
        }
    }

    /// A span, unless it is the one that its absence stands for.
    fn span(&mut self, span: Span) {
        if !self.spans || span == self.line {
            return;
        }
        let Span { file, start, end, expansion } = span;
        self.out.push_str(&format!("@{}:{start}..{end}", file.0));
        if expansion != ExpansionId::ROOT {
            self.out.push_str(&format!("#{}", expansion.0));
        }
    }

    /// A span that is set off by a blank.
    fn spaced_span(&mut self, span: Span) {
        if self.spans && span != self.line {
            self.out.push(' ');
            self.span(span);
        }
    }

    /// Runs `part` one level deeper; what is nested too deeply for the reader is not printed.
    fn nested(&mut self, part: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_NESTING {
            self.word("(too_deep)");
            return;
        }
        self.depth += 1;
        part(self);
        self.depth -= 1;
    }

    fn program(&mut self, program: &Program) {
        self.word("program ");
        quote(&mut self.out, &program.name);
        self.word("\n");
        self.uses(program.uses);
        for (i, set) in program.mtypes.iter().enumerate() {
            self.mtype(i, set);
        }
        for (i, structure) in program.structs.iter().enumerate() {
            self.structure(i, structure);
        }
        for (i, chan) in program.chan_types.iter().enumerate() {
            self.chan_type(i, chan);
        }
        if program.n_global_cells > 0 || !program.globals.is_empty() || !program.init.is_empty() {
            self.word(&format!("globals cells {} {{\n", program.n_global_cells));
            self.vars("g", &program.globals);
            self.init(&program.init);
            self.word("}\n");
        }
        for (i, proctype) in program.proctypes.iter().enumerate() {
            self.proctype(i, proctype);
        }
        for active in &program.active {
            self.word(&format!("active proctype{} priority {}\n", active.proctype.0, active.priority));
        }
        self.properties(program);
        self.embedded(&program.embedded);
    }

    fn uses(&mut self, uses: Uses) {
        let Uses { last, priority, timeout, enabled } = uses;
        if uses == Uses::default() {
            return;
        }
        self.word("uses");
        for (used, word) in
            [(last, " last"), (priority, " priority"), (timeout, " timeout"), (enabled, " enabled")]
        {
            self.word(if used { word } else { "" });
        }
        self.word("\n");
    }

    fn mtype(&mut self, id: usize, set: &MtypeSet) {
        self.word(&format!("mtype{id} = "));
        self.name(&set.name);
        self.word(" {");
        for (i, (name, value)) in set.values.iter().enumerate() {
            self.word(if i == 0 { " " } else { ", " });
            self.name(name);
            self.word(&format!(" = {value}"));
        }
        self.word(" }\n");
    }

    fn structure(&mut self, id: usize, structure: &Struct) {
        self.word(&format!("struct{id} = "));
        self.name(&structure.name);
        self.word(&format!(" cells {} {{", structure.n_cells));
        for (i, field) in structure.fields.iter().enumerate() {
            self.word(if i == 0 { " " } else { ", " });
            self.name(&field.name);
            self.word(": ");
            self.ty(&field.ty);
            self.word(&format!(" at {}", field.offset));
        }
        self.word(" }\n");
    }

    fn chan_type(&mut self, id: usize, chan: &ChanType) {
        self.word(&format!("chantype{id} = "));
        self.name(&chan.name);
        self.word(&format!(" capacity {} {{", chan.capacity));
        for (i, field) in chan.fields.iter().enumerate() {
            self.word(if i == 0 { " " } else { ", " });
            self.scalar(*field);
        }
        self.word(" }");
        self.spaced_span(chan.span);
        self.word("\n");
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Array(element, len) => {
                self.word(&format!("array {len} of "));
                self.nested(|p| p.ty(element));
            }
            Type::Struct(id) => self.word(&format!("struct{}", id.0)),
        }
    }

    fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::WideBit => self.word("bit*"),
            Scalar::WideBool => self.word("bool*"),
            Scalar::Unsigned(bits) => self.word(&format!("unsigned{bits}")),
            Scalar::Mtype(id) => self.word(&format!("mtype{}", id.0)),
            other => self.word(word_of(&names::SCALARS, &other)),
        }
    }

    fn vars(&mut self, base: &str, vars: &[Var]) {
        for var in vars {
            self.word(&format!("  {base}{} ", var.cell));
            self.name(&var.name);
            self.word(": ");
            self.ty(&var.ty);
            self.word(if var.hidden { " hidden" } else { "" });
            self.spaced_span(var.span);
            self.word("\n");
        }
    }

    fn init(&mut self, steps: &[InitStep]) {
        for step in steps {
            match step {
                InitStep::Assign(place, value) => {
                    self.word("  init assign ");
                    self.place(place);
                    self.word(" = ");
                    self.expr(value);
                }
                InitStep::NewChan(place, chan) => {
                    self.word("  init newchan ");
                    self.place(place);
                    self.word(&format!(" chantype{}", chan.0));
                }
            }
            self.word("\n");
        }
    }

    fn proctype(&mut self, id: usize, proctype: &Proctype) {
        self.word(&format!("proctype{id} = "));
        self.name(&proctype.name);
        self.word(" kind ");
        self.word(kind_word(proctype.kind));
        self.word(if proctype.deterministic { " deterministic" } else { "" });
        let (params, cells, locations) = (proctype.n_params, proctype.n_cells, proctype.locations.len());
        self.word(&format!(
            " params {params} cells {cells} locations {locations} start L{}",
            proctype.start.0
        ));
        self.spaced_span(proctype.span);
        self.word(" {\n");
        self.line = proctype.span;
        self.vars("l", &proctype.locals);
        self.init(&proctype.init);
        if let Some(expr) = &proctype.provided {
            self.word("  provided ");
            self.expr(expr);
            self.word("\n");
        }
        for (name, location) in &proctype.labels {
            self.word("  label ");
            self.name(name);
            self.word(&format!(" = L{}\n", location.0));
        }
        self.automaton(proctype);
        self.line = Span::NONE;
        self.word("}\n");
    }

    fn automaton(&mut self, proctype: &Proctype) {
        let mut printed = vec![false; proctype.edges.len()];
        for (number, location) in proctype.locations.iter().enumerate() {
            self.location(number, location);
            for id in &location.edges {
                if let (Some(done), Some(edge)) =
                    (printed.get_mut(id.index()), proctype.edges.get(id.index()))
                    && !std::mem::replace(done, true)
                {
                    self.edge(id.index(), edge, proctype.span);
                }
            }
        }
        for (number, edge) in proctype.edges.iter().enumerate() {
            if !printed[number] {
                self.edge(number, edge, proctype.span);
            }
        }
    }

    fn location(&mut self, number: usize, location: &Location) {
        let Location { edges, end, accept, progress, in_d_step, dead } = location;
        if edges.is_empty() && !end && !accept && !progress && !in_d_step && dead.is_empty() {
            return;
        }
        self.word(&format!("  L{number}"));
        for (flag, word) in
            [(end, " end"), (accept, " accept"), (progress, " progress"), (in_d_step, " d_step")]
        {
            self.word(if *flag { word } else { "" });
        }
        self.word(if dead.is_empty() { "" } else { " dead" });
        for cell in dead {
            self.word(&format!(" c{cell}"));
        }
        self.word(":");
        for id in edges {
            self.word(&format!(" e{}", id.0));
        }
        self.word("\n");
    }

    fn edge(&mut self, number: usize, edge: &Edge, proctype_span: Span) {
        self.word(&format!("    e{number}"));
        self.spaced_span(edge.span);
        self.word(&format!(" -> L{}", edge.to.0));
        self.word(if edge.atomic { " atomic" } else { "" });
        if let Some(escape) = edge.escape {
            self.word(&format!(" escape L{}", escape.0));
        }
        if let Some(word) = edge.order.word() {
            self.word(&format!(" {word}"));
        }
        if let Some(buffer) = edge.order.buffer() {
            self.word(&format!(" b{buffer}"));
        }
        if let Some(statement) = edge.statement.filter(|_| self.spans) {
            self.word(&format!(" statement {statement}"));
        }
        self.line = edge.span;
        self.word(" { ");
        self.action(&edge.action);
        self.word(" } ");
        quote(&mut self.out, &edge.text);
        self.line = proctype_span;
        self.word("\n");
    }

    fn properties(&mut self, program: &Program) {
        for invariant in &program.invariants {
            self.property("invariant", &invariant.name, invariant.span, &invariant.text);
            self.expr(&invariant.expr);
            self.line = Span::NONE;
            self.word("\n");
        }
        for promise in &program.promises {
            let word = if promise.receive { "xr" } else { "xs" };
            let checked = if promise.checked { " checked" } else { "" };
            self.word(&format!("{word} proctype{}{checked}", promise.proctype.0));
            self.spaced_span(promise.span);
            self.word(" ");
            quote(&mut self.out, &promise.text);
            self.word(" = ");
            self.line = promise.span;
            self.expr(&promise.chan);
            self.line = Span::NONE;
            self.word("\n");
        }
        for ltl in &program.ltl {
            self.property("ltl", &ltl.name, ltl.span, &ltl.text);
            self.formula(&ltl.formula);
            self.line = Span::NONE;
            self.word("\n");
        }
        for property in &program.state_properties {
            self.property(property.logic.word(), &property.name, property.span, &property.text);
            self.state_formula(&property.formula);
            self.line = Span::NONE;
            self.word("\n");
        }
        for id in &program.never {
            self.word(&format!("never proctype{}\n", id.0));
        }
        if let Some(id) = program.trace {
            self.word(&format!("trace proctype{}\n", id.0));
        }
    }

    fn property(&mut self, word: &str, name: &str, span: Span, text: &str) {
        self.word(word);
        self.word(" ");
        self.name(name);
        self.spaced_span(span);
        self.word(" ");
        quote(&mut self.out, text);
        self.word(" = ");
        self.line = span;
    }

    fn action(&mut self, action: &Action) {
        self.word(action_word(action));
        match action {
            Action::Skip | Action::Else | Action::End => {}
            Action::Guard(expr) | Action::Assert(expr) => self.args([expr]),
            Action::Assign(place, value) => {
                self.word(" ");
                self.place(place);
                self.word(" =");
                self.args([value]);
            }
            Action::Send { chan, sorted, args } => {
                self.word(if *sorted { " sorted" } else { "" });
                self.args([chan]);
                self.args(args);
            }
            Action::Receive { chan, random, keep, args } => {
                self.word(if *random { " random" } else { "" });
                self.word(if *keep { " keep" } else { "" });
                self.args([chan]);
                self.recv_args(args);
            }
            Action::Event { send, chan, args } => {
                self.word(if *send { " send" } else { " receive" });
                self.args([chan]);
                self.recv_args(args);
            }
            Action::Printf(format, args) => {
                self.word(" ");
                quote(&mut self.out, format);
                self.args(args);
            }
            Action::Printm(expr, set) => {
                self.args([expr]);
                if let Some(set) = set {
                    self.word(&format!(" mtype{}", set.0));
                }
            }
            Action::C(piece) => self.word(&format!(" c{piece}")),
            Action::SetPriority(pid, priority) => self.args([pid, priority]),
            Action::Lock(place) | Action::Unlock(place) => {
                self.word(" ");
                self.place(place);
            }
            Action::DStep { entry, exit, guards } => {
                self.word(&format!(" entry L{} exit L{}", entry.0, exit.0));
                if let Some(guards) = guards {
                    self.word(&format!(" guards L{}", guards.0));
                }
            }
        }
    }

    fn args<'a>(&mut self, args: impl IntoIterator<Item = &'a Expr>) {
        for arg in args {
            self.word(" ");
            self.expr(arg);
        }
    }

    fn recv_args(&mut self, args: &[RecvArg]) {
        for arg in args {
            match arg {
                RecvArg::Ignore => self.word(" _"),
                RecvArg::Store(place) => {
                    self.word(" (store ");
                    self.place(place);
                    self.word(")");
                }
                RecvArg::Match(expr) => {
                    self.word(" (match");
                    self.args([expr]);
                    self.word(")");
                }
            }
        }
    }

    fn place(&mut self, place: &Place) {
        self.place_without_span(place);
        self.span(place.span);
    }

    fn place_without_span(&mut self, place: &Place) {
        let base = match place.base {
            Base::Global => 'g',
            Base::Local => 'l',
            Base::Scratch => '_',
        };
        self.word(&format!("{base}{}", place.cell));
        for index in &place.indices {
            self.word("[");
            self.expr(&index.value);
            self.word(&format!(" < {} * {}", index.len, index.stride));
            self.spaced_span(index.span);
            self.word("]");
        }
        self.word(":");
        self.scalar(place.scalar);
    }

    fn expr(&mut self, expr: &Expr) {
        self.nested(|p| match &expr.kind {
            ExprKind::Const(value) => {
                p.word(&value.to_string());
                p.span(expr.span);
            }
            ExprKind::Load(place) if !p.spans || place.span == expr.span => p.place(place),
            ExprKind::Pid => p.atom("_pid", expr.span),
            ExprKind::NrPr => p.atom("_nr_pr", expr.span),
            ExprKind::Last => p.atom("_last", expr.span),
            ExprKind::Priority => p.atom("_priority", expr.span),
            ExprKind::Timeout => p.atom("timeout", expr.span),
            ExprKind::NonProgress => p.atom("np_", expr.span),
            kind => {
                p.word("(");
                p.list(kind);
                p.word(")");
                p.span(expr.span);
            }
        });
    }

    fn atom(&mut self, word: &str, span: Span) {
        self.word(word);
        self.span(span);
    }

    /// The inside of a prefix list.
    fn list(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Load(place) => {
                self.word("load ");
                self.place(place);
            }
            ExprKind::Unary(op, operand) => self.call(word_of(&names::UNARY, op), [&**operand]),
            ExprKind::Binary(op, left, right) => {
                self.call(word_of(&names::BINARY, op), [&**left, &**right]);
            }
            ExprKind::Cond(test, yes, no) => self.call("cond", [&**test, &**yes, &**no]),
            ExprKind::Chan(op, chan) => self.call(word_of(&names::CHAN_OPS, op), [&**chan]),
            ExprKind::Poll { chan, random, args } => {
                self.call(if *random { "poll_random" } else { "poll" }, [&**chan]);
                self.recv_args(args);
            }
            ExprKind::Run { proctype, args, priority } => {
                self.call(&format!("run proctype{} priority {priority}", proctype.0), args);
            }
            ExprKind::C(piece) => self.word(&format!("c c{piece}")),
            ExprKind::Enabled(pid) => self.call("enabled", [&**pid]),
            ExprKind::PcValue(pid) => self.call("pc_value", [&**pid]),
            ExprKind::GetPriority(pid) => self.call("get_priority", [&**pid]),
            ExprKind::RemoteLabel { proctype, pid, location } => {
                self.call(&format!("at proctype{} L{}", proctype.0, location.0), pid.as_deref());
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                self.word(&format!("remote proctype{} ", proctype.0));
                self.place(place);
                self.args(pid.as_deref());
            }
            // Printed as atoms; listed so that a new kind is not forgotten.
            ExprKind::Const(_)
            | ExprKind::Pid
            | ExprKind::NrPr
            | ExprKind::Last
            | ExprKind::Priority
            | ExprKind::Timeout
            | ExprKind::NonProgress => {}
        }
    }

    fn call<'a>(&mut self, word: &str, args: impl IntoIterator<Item = &'a Expr>) {
        self.word(word);
        self.args(args);
    }

    fn formula(&mut self, formula: &Formula) {
        let (word, operands): (&str, [Option<&Formula>; 2]) = match formula {
            Formula::Prop(expr) => {
                return self.nested(|p| {
                    p.call("(prop", [expr]);
                    p.word(")");
                });
            }
            Formula::Not(f) => ("not", [Some(f), None]),
            Formula::Next(f) => ("next", [Some(f), None]),
            Formula::Always(f) => ("always", [Some(f), None]),
            Formula::Eventually(f) => ("eventually", [Some(f), None]),
            Formula::And(f, g) => ("and", [Some(f), Some(g)]),
            Formula::Or(f, g) => ("or", [Some(f), Some(g)]),
            Formula::Implies(f, g) => ("implies", [Some(f), Some(g)]),
            Formula::Equiv(f, g) => ("equiv", [Some(f), Some(g)]),
            Formula::Until(f, g) => ("until", [Some(f), Some(g)]),
            Formula::WeakUntil(f, g) => ("weak_until", [Some(f), Some(g)]),
            Formula::Release(f, g) => ("release", [Some(f), Some(g)]),
        };
        self.nested(|p| {
            p.word("(");
            p.word(word);
            for operand in operands.into_iter().flatten() {
                p.word(" ");
                p.formula(operand);
            }
            p.word(")");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::samples;

    #[test]
    fn a_program_is_printed_for_people() {
        let want = r#"program "mutex.pml"
globals cells 3 {
  g0 busy: bool
  g1 turn: array 2 of bit* hidden
}
proctype0 = user kind proctype params 0 cells 0 locations 6 start L1 {
  label again = L1
  L1: e0 e4
    e0 -> L2 atomic { guard (eq g0:bool 0) } "guard"
    e4 -> L0 { end } "end"
  L2: e1
    e1 -> L3 { assign g0:bool = 1 } "assign"
  L3: e2
    e2 -> L4 { assign g1[_pid < 2 * 1]:bit* = -1 } "assign"
  L4: e3
    e3 -> L1 { assign g0:bool = 0 } "assign"
  L5: e4
}
active proctype0 priority 1
active proctype0 priority 1
"#;
        assert_eq!(print_without_spans(&samples::mutex()), want);
    }

    #[test]
    fn spans_are_written_where_they_differ_from_their_line() {
        let mut program = samples::mutex();
        let text = print(&program);
        assert!(text.contains("  g1 turn: array 2 of bit* hidden @0:10..15\n"), "{text}");
        assert!(
            text.contains("    e0 @0:100..101 -> L2 atomic { guard (eq g0:bool@0:0..0 0@0:0..0)@0:0..0 }"),
            "{text}"
        );
        let edge = &mut program.proctypes[0].edges[1];
        edge.action = Action::Guard(Expr { kind: ExprKind::Const(1), span: edge.span });
        assert!(print(&program).contains("    e1 @0:101..102 -> L3 { guard 1 }"));
    }

    #[test]
    fn what_is_too_deep_is_cut() {
        let mut deep = samples::int(1);
        for _ in 0..MAX_NESTING {
            deep = samples::expr(ExprKind::Unary(UnaryOp::Not, Box::new(deep)));
        }
        assert!(print_expr(&deep).contains("(too_deep)"));
    }

    #[test]
    fn parts_have_a_text_of_their_own() {
        assert_eq!(print_action(&Action::Else), "else");
        assert_eq!(print_type(&samples::array(3, Type::Struct(StructId(1)))), "array 3 of struct1");
        let prop = Formula::Prop(samples::int(1));
        assert_eq!(print_formula(&Formula::Always(Box::new(prop))), "(always (prop 1))");
    }
}
