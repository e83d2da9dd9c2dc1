//! The syntax tree as JSON, for other tools: the `syntax` of what `spinor parse --format json` shows.
//!
//! An object with `items`, in the order written. Every node is an object with a `kind`, its parts, and its
//! place: `file`, `line`, `column` and, where the text came out of a macro, `macro` (the place is then that
//! of the macro's use). The parts of a use of an `inline` have their places in the body of the inline, the
//! use itself its own.
//!
//! - Items: `proctype`, `init`, `never`, `trace`, `notrace`, `ltl`, `ctl`, `mu`, `declaration`, `typedef`,
//!   `mtype`, `inline`, `invariant`, `enum`, `embedded-c`.
//! - Steps of a `body` or an option: `declaration`, `xr`, `xs`, `unless` (with `main` and `escape`), or a
//!   statement.
//! - Statements: `label`, `assign`, `increment`, `send`, `receive`, `if`, `do`, `for`, `for-in`, `select`,
//!   `break`, `goto`, `expression`, `else`, `assert`, `printf`, `printm`, `atomic`, `d_step`, `block`,
//!   `inline`, `set_priority`, `lock`, `unlock`, `run-iterated`, `embedded-c`, `error`.
//! - Expressions: `number`, `string`, `variable`, `unary`, `binary`, `conditional`, `channel`, `poll`, `run`,
//!   `process`, `timeout`, `np_`, `remote-label`, `remote-variable`, `embedded-c`, `state-formula` (with
//!   `op` and `operands`), `error`; operators are spelled as in Promela.
//! - A reference to a variable has `parts`: `name` and `index` (an expression or null). What may be missing
//!   is null.

use crate::ast::*;
use crate::json::Writer;
use crate::source::Span;

impl Writer<'_> {
    /// The fields of a whole model.
    pub(crate) fn unit(&mut self, unit: &Unit) {
        self.objects("items", &unit.items, Self::item);
    }

    fn node(&mut self, kind: &str, span: Span) {
        self.text_field("kind", kind);
        self.position(span);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Proctype(proctype) => self.syntax_proctype(proctype),
            Item::Init(init) => {
                self.node("init", init.span);
                self.optional_expr("priority", init.priority.as_ref());
                self.body("body", &init.body);
            }
            Item::Never(claim) => {
                self.node("never", claim.span);
                self.optional_name("name", claim.name.as_ref());
                self.body("body", &claim.body);
            }
            Item::Trace(trace) => {
                self.node(if trace.negated { "notrace" } else { "trace" }, trace.span);
                self.body("body", &trace.body);
            }
            Item::Ltl(ltl) => {
                self.node("ltl", ltl.span);
                self.optional_name("name", ltl.name.as_ref());
                self.expr("formula", &ltl.formula);
            }
            Item::StateFormula(formula) => {
                self.node(formula.logic.word(), formula.span);
                self.optional_name("name", formula.name.as_ref());
                self.expr("formula", &formula.formula);
            }
            Item::Decl(decl) => self.declaration(decl),
            Item::Typedef(typedef) => {
                self.named("typedef", &typedef.name);
                self.objects("fields", &typedef.fields, Self::declaration);
            }
            Item::Mtype(mtype) => {
                self.node("mtype", mtype.span);
                self.optional_name("subtype", mtype.subtype.as_ref());
                self.objects("names", &mtype.names, Self::ident);
            }
            Item::Inline(inline) => {
                self.named("inline", &inline.name);
                self.objects("params", &inline.params, Self::ident);
            }
            Item::Invariant(invariant) => {
                self.named("invariant", &invariant.name);
                self.expr("expression", &invariant.expr);
            }
            Item::Enum(decl) => {
                self.named("enum", &decl.name);
                self.objects("names", &decl.names, Self::ident);
            }
            Item::EmbeddedC(c) => self.embedded_c(c),
        }
    }

    /// A node that is its name.
    fn named(&mut self, kind: &str, name: &Ident) {
        self.node(kind, name.span);
        self.text_field("name", &name.name);
    }

    /// A name and its place.
    fn ident(&mut self, name: &Ident) {
        self.text_field("name", &name.name);
        self.position(name.span);
    }

    /// A name alone, or null.
    fn optional_name(&mut self, key: &str, name: Option<&Ident>) {
        match name {
            Some(name) => self.text_field(key, &name.name),
            None => self.optional_field(key, None),
        }
    }

    fn embedded_c(&mut self, c: &EmbeddedC) {
        self.node("embedded-c", c.keyword.span);
        self.text_of_c(c);
    }

    fn text_of_c(&mut self, c: &EmbeddedC) {
        self.text_field("keyword", &c.keyword.name);
        match &c.strings[..] {
            [] => {
                if let Some(precondition) = &c.precondition {
                    self.text_field("precondition", precondition);
                }
                self.text_field("text", &c.text);
            }
            strings => self.list("strings", strings, |w, (text, _)| w.string(text)),
        }
    }

    fn syntax_proctype(&mut self, proctype: &Proctype) {
        self.node("proctype", proctype.span);
        self.text_field("name", &proctype.name.name);
        self.flag_field("deterministic", proctype.deterministic);
        self.optional_object("active", proctype.active.as_ref(), |w, active| {
            w.optional_expr("count", active.count.as_ref());
            w.position(active.span);
        });
        self.objects("params", &proctype.params, Self::declaration);
        self.optional_expr("priority", proctype.priority.as_ref());
        self.optional_expr("provided", proctype.provided.as_ref());
        self.body("body", &proctype.body);
    }

    fn declaration(&mut self, decl: &Decl) {
        self.node("declaration", decl.ty_span);
        match decl.visibility {
            Some(visibility) => self.text_field("visibility", visibility_word(visibility)),
            None => self.optional_field("visibility", None),
        }
        self.type_name(&decl.ty);
        self.objects("variables", &decl.vars, |w, var| {
            w.ident(&var.name);
            w.optional_expr("bits", var.bits.as_ref());
            w.optional_expr("array", var.array.as_ref());
            w.optional_object("initial", var.init.as_ref(), Self::initializer);
        });
    }

    /// `type` and, for `mtype:sub`, `subtype`.
    fn type_name(&mut self, ty: &TypeName) {
        self.text_field("type", type_word(ty));
        if let TypeName::Mtype(Some(subtype)) = ty {
            self.text_field("subtype", &subtype.name);
        }
    }

    fn initializer(&mut self, init: &Initializer) {
        match init {
            Initializer::Expr(expr) => self.expr_fields(expr),
            Initializer::List(values, span) => {
                self.node("list", *span);
                self.objects("values", values, Self::expr_fields);
            }
            Initializer::Chan(chan) => {
                self.node("channel-type", chan.span);
                self.expr("capacity", &chan.capacity);
                self.objects("fields", &chan.fields, |w, (ty, span)| {
                    w.type_name(ty);
                    w.position(*span);
                });
            }
        }
    }

    /// The steps of a sequence.
    fn body(&mut self, key: &str, block: &Block) {
        self.objects(key, &block.steps, Self::step);
    }

    /// The options of `if` and `do`.
    fn options(&mut self, options: &[Block]) {
        self.objects("options", options, |w, option| {
            w.node("option", option.span);
            w.body("body", option);
        });
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Decl(decl) => self.declaration(decl),
            Step::Exclusive(exclusive) => {
                self.node(if exclusive.receive { "xr" } else { "xs" }, exclusive.span);
                self.objects("channels", &exclusive.chans, Self::reference);
            }
            Step::Stmt(stmt) => self.statement(stmt),
            Step::Unless(main, escape) => {
                self.node("unless", main.span);
                self.object_field("main", |w| w.statement(main));
                self.object_field("escape", |w| w.statement(escape));
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.node(statement_word(&stmt.kind), stmt.span);
        match &stmt.kind {
            StmtKind::Labeled(label, inner) => {
                self.text_field("label", &label.name);
                self.optional_object("statement", inner.as_deref(), Self::statement);
            }
            StmtKind::Goto(label) => self.text_field("label", &label.name),
            StmtKind::If(options) | StmtKind::Do(options) => self.options(options),
            StmtKind::ForRange(var, low, high, block) => {
                self.range(var, low, high);
                self.body("body", block);
            }
            StmtKind::ForIn(var, range, block) => {
                self.object_field("variable", |w| w.reference(var));
                self.object_field("in", |w| w.reference(range));
                self.body("body", block);
            }
            StmtKind::Select(var, low, high) => self.range(var, low, high),
            StmtKind::Atomic(block) | StmtKind::DStep(block) | StmtKind::Block(block) => {
                self.body("body", block);
            }
            StmtKind::Inline(inline) => {
                self.text_field("name", &inline.name.name);
                self.body("body", &inline.body);
            }
            StmtKind::RunIterated(run) => self.run_iterated(run),
            StmtKind::EmbeddedC(c) => self.text_of_c(c),
            StmtKind::Break | StmtKind::Else | StmtKind::Error => {}
            _ => self.simple_statement(&stmt.kind),
        }
    }

    /// Statements without control flow.
    fn simple_statement(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Assign(target, value) => {
                self.object_field("target", |w| w.reference(target));
                self.expr("value", value);
            }
            StmtKind::Increment(target, by) => {
                self.object_field("target", |w| w.reference(target));
                self.number_field("by", *by);
            }
            StmtKind::Send { chan, sorted, args } => {
                self.object_field("channel", |w| w.reference(chan));
                self.flag_field("sorted", *sorted);
                self.objects("args", args, Self::expr_fields);
            }
            StmtKind::Receive { chan, random, keep, args } => {
                self.object_field("channel", |w| w.reference(chan));
                self.flag_field("random", *random);
                self.flag_field("keep", *keep);
                self.objects("args", args, Self::receive_arg);
            }
            StmtKind::Expr(expr) | StmtKind::Assert(expr) | StmtKind::Printm(expr) => {
                self.expr("expression", expr);
            }
            StmtKind::Printf(format, args) => {
                self.text_field("format", format);
                self.objects("args", args, Self::expr_fields);
            }
            StmtKind::SetPriority(process, priority) => {
                self.expr("process", process);
                self.expr("priority", priority);
            }
            StmtKind::Lock(target) | StmtKind::Unlock(target) => {
                self.object_field("target", |w| w.reference(target));
            }
            _ => {}
        }
    }

    fn range(&mut self, var: &VarRef, low: &Expr, high: &Expr) {
        self.object_field("variable", |w| w.reference(var));
        self.expr("low", low);
        self.expr("high", high);
    }

    fn run_iterated(&mut self, run: &RunIterated) {
        self.objects("iterators", &run.iterators, |w, (name, bound)| {
            w.ident(name);
            w.expr("bound", bound);
        });
        self.text_field("proctype", &run.proctype.name);
        self.objects("args", &run.args, Self::expr_fields);
        self.optional_expr("priority", run.priority.as_ref());
    }

    /// `match`: `variable` (takes the value), `eval` or `constant` (must be equal).
    fn receive_arg(&mut self, arg: &RecvArg) {
        match arg {
            RecvArg::Var(var) => {
                self.text_field("match", "variable");
                self.reference(var);
            }
            RecvArg::Eval(expr) => {
                self.text_field("match", "eval");
                self.expr_fields(expr);
            }
            RecvArg::Const(expr) => {
                self.text_field("match", "constant");
                self.expr_fields(expr);
            }
        }
    }

    fn reference(&mut self, var: &VarRef) {
        self.node("variable", var.span);
        self.objects("parts", &var.parts, |w, part| {
            w.text_field("name", &part.name.name);
            w.optional_expr("index", part.index.as_deref());
        });
    }

    fn expr(&mut self, key: &str, expr: &Expr) {
        self.object_field(key, |w| w.expr_fields(expr));
    }

    fn optional_expr(&mut self, key: &str, expr: Option<&Expr>) {
        self.optional_object(key, expr, Self::expr_fields);
    }

    fn expr_fields(&mut self, expr: &Expr) {
        if let ExprKind::Var(var) = &expr.kind {
            return self.reference(var);
        }
        self.node(expression_word(&expr.kind), expr.span);
        match &expr.kind {
            ExprKind::Number(value) => self.number_field("value", *value),
            ExprKind::Str(text) => self.text_field("value", text),
            ExprKind::Unary(op, operand) => {
                self.text_field("op", unary_word(*op));
                self.expr("operand", operand);
            }
            ExprKind::Binary(op, left, right) => {
                self.text_field("op", binary_word(*op));
                self.expr("left", left);
                self.expr("right", right);
            }
            ExprKind::Cond(condition, yes, no) => {
                self.expr("condition", condition);
                self.expr("then", yes);
                self.expr("else", no);
            }
            ExprKind::EmbeddedC(c) => self.text_of_c(c),
            ExprKind::State(op) => self.state_operator(op),
            ExprKind::Var(_) | ExprKind::Timeout | ExprKind::NonProgress | ExprKind::Error => {}
            _ => self.question(&expr.kind),
        }
    }

    /// An operator of a `ctl` or `mu` formula.
    fn state_operator(&mut self, op: &StateOp) {
        match op {
            StateOp::Path { all, op, .. } => {
                self.text_field("op", &format!("{}{}", if *all { "A" } else { "E" }, op.letter()));
            }
            StateOp::Modal { all, steps, .. } => {
                self.text_field("op", if *all { "[]" } else { "<>" });
                self.optional_object("steps", steps.as_ref(), |w, steps| {
                    w.node("steps", steps.span);
                    w.optional_name("proctype", steps.proctype.as_ref());
                    w.optional_expr("pid", steps.pid.as_ref());
                    w.optional_name("label", steps.label.as_ref());
                });
            }
            StateOp::Fixpoint { greatest, variable, .. } => {
                self.text_field("op", if *greatest { "nu" } else { "mu" });
                self.text_field("variable", &variable.name);
            }
        }
        self.objects("operands", op.operands(), Self::expr_fields);
    }

    /// Expressions about channels and processes.
    fn question(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Chan(op, chan) => {
                self.text_field("op", channel_word(*op));
                self.object_field("channel", |w| w.reference(chan));
            }
            ExprKind::Poll { chan, random, args } => {
                self.object_field("channel", |w| w.reference(chan));
                self.flag_field("random", *random);
                self.objects("args", args, Self::receive_arg);
            }
            ExprKind::Run { proctype, args, priority } => {
                self.text_field("proctype", &proctype.name);
                self.objects("args", args, Self::expr_fields);
                self.optional_expr("priority", priority.as_deref());
            }
            ExprKind::Process(op, process) => {
                self.text_field("op", process_word(*op));
                self.expr("process", process);
            }
            ExprKind::RemoteLabel { proctype, pid, label } => {
                self.text_field("proctype", &proctype.name);
                self.optional_expr("pid", pid.as_deref());
                self.text_field("label", &label.name);
            }
            ExprKind::RemoteVar { proctype, pid, var } => {
                self.text_field("proctype", &proctype.name);
                self.optional_expr("pid", pid.as_deref());
                self.object_field("variable", |w| w.reference(var));
            }
            _ => {}
        }
    }
}

fn visibility_word(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Hidden => "hidden",
        Visibility::Show => "show",
        Visibility::Local => "local",
    }
}

fn type_word(ty: &TypeName) -> &str {
    match ty {
        TypeName::Bit => "bit",
        TypeName::Bool => "bool",
        TypeName::Byte => "byte",
        TypeName::Pid => "pid",
        TypeName::Short => "short",
        TypeName::Int => "int",
        TypeName::Unsigned => "unsigned",
        TypeName::Chan => "chan",
        TypeName::Mtype(_) => "mtype",
        TypeName::User(name) => &name.name,
        TypeName::Lock => "lock",
        TypeName::Sema => "sema",
    }
}

fn statement_word(kind: &StmtKind) -> &'static str {
    match kind {
        StmtKind::Labeled(..) => "label",
        StmtKind::Assign(..) => "assign",
        StmtKind::Increment(..) => "increment",
        StmtKind::Send { .. } => "send",
        StmtKind::Receive { .. } => "receive",
        StmtKind::If(_) => "if",
        StmtKind::Do(_) => "do",
        StmtKind::ForRange(..) => "for",
        StmtKind::ForIn(..) => "for-in",
        StmtKind::Select(..) => "select",
        StmtKind::Break => "break",
        StmtKind::Goto(_) => "goto",
        StmtKind::Expr(_) => "expression",
        StmtKind::Else => "else",
        StmtKind::Assert(_) => "assert",
        StmtKind::Printf(..) => "printf",
        StmtKind::Printm(_) => "printm",
        StmtKind::Atomic(_) => "atomic",
        StmtKind::DStep(_) => "d_step",
        StmtKind::Block(_) => "block",
        StmtKind::Inline(_) => "inline",
        StmtKind::SetPriority(..) => "set_priority",
        StmtKind::Lock(_) => "lock",
        StmtKind::Unlock(_) => "unlock",
        StmtKind::RunIterated(_) => "run-iterated",
        StmtKind::EmbeddedC(_) => "embedded-c",
        StmtKind::Error => "error",
    }
}

fn expression_word(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::Number(_) => "number",
        ExprKind::Str(_) => "string",
        ExprKind::Var(_) => "variable",
        ExprKind::Unary(..) => "unary",
        ExprKind::Binary(..) => "binary",
        ExprKind::Cond(..) => "conditional",
        ExprKind::Chan(..) => "channel",
        ExprKind::Poll { .. } => "poll",
        ExprKind::Run { .. } => "run",
        ExprKind::Process(..) => "process",
        ExprKind::Timeout => "timeout",
        ExprKind::NonProgress => "np_",
        ExprKind::RemoteLabel { .. } => "remote-label",
        ExprKind::RemoteVar { .. } => "remote-variable",
        ExprKind::EmbeddedC(_) => "embedded-c",
        ExprKind::State(_) => "state-formula",
        ExprKind::Error => "error",
    }
}

fn unary_word(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "-",
        UnaryOp::BitNot => "~",
        UnaryOp::Not => "!",
        UnaryOp::Always => "[]",
        UnaryOp::Eventually => "<>",
        UnaryOp::Next => "X",
    }
}

fn binary_word(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::Until => "U",
        BinaryOp::WeakUntil => "W",
        BinaryOp::Release => "V",
        BinaryOp::Implies => "->",
        BinaryOp::Equiv => "<->",
    }
}

fn channel_word(op: ChanOp) -> &'static str {
    match op {
        ChanOp::Len => "len",
        ChanOp::Full => "full",
        ChanOp::Empty => "empty",
        ChanOp::Nfull => "nfull",
        ChanOp::Nempty => "nempty",
    }
}

fn process_word(op: ProcessOp) -> &'static str {
    match op {
        ProcessOp::Enabled => "enabled",
        ProcessOp::PcValue => "pc_value",
        ProcessOp::GetPriority => "get_priority",
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{Writer, is_json};
    use crate::parse::{Dialect, parse};
    use crate::preprocess::{Options, preprocess};
    use crate::source::{Files, SourceMap};

    struct Text(&'static str);

    impl Files for Text {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(self.0.to_string())
        }
    }

    /// The tree of a model as JSON, whether or not the model has errors.
    fn json(text: &'static str) -> String {
        let mut sources = SourceMap::new();
        let tokens = preprocess("m.pml", &Text(text), &Options::default(), &mut sources).tokens;
        let parsed = parse(tokens, Dialect::Spin, &mut sources);
        let mut writer = Writer::new(&sources);
        writer.object(|w| w.unit(&parsed.unit));
        let json = writer.finish();
        assert!(is_json(&json), "{json}");
        json
    }

    const EVERYTHING: &str = r#"
#define TWICE(x) (x + x)
typedef T { byte a; bool b[2] }
typedef enum { red, green } colour;
mtype:fruit = { apple, pear };
hidden byte h; show int s = 2; local short l;
unsigned u : 3; lock m; sema n = 3; T t; colour k; mtype:fruit f = apple; mtype g;
int a[2] = { 1, 2 };
chan c = [2] of { byte, chan, T }, d;
invariant small s < 5
ltl p { [] (s == 2 -> <> (s U l)) && X (s W l) || (s V l) <-> !s }
ctl q { AG EF s == 1 && E[l U s] }
mu r { nu Z. (<1>true && []Z) }
never claim { do :: true od }
trace { do :: c!1 od }
notrace { c?1 }
inline work(x) { x++; x-- }
c_code { int y; }
D_proctype w(byte q; chan r) priority 3 provided (_pid > 0) { skip }
active [2] proctype v() {
  pid z; xr c; xs c;
  L: work(s);
  { s = TWICE(1) - 1 * 2 / 3 % 4 & 5 | 6 ^ 7 << 1 >> 1 } unless { s < 1 || s <= 1 && s > 1 };
  if :: c!1, 2 :: c!!1, 2 :: else fi;
  do :: c?s, _ :: c??<eval(s), 1> -> break :: goto L :: s >= 1 != s od;
  for (s : 1 .. 2) { skip }
  for (s in a) { skip }
  select (s : 1 .. l);
  assert(c?[1, s] && c??[1, s]); printf("%d\n", -s, ~s); printm(f);
  atomic { skip }; d_step { skip }; { skip };
  set_priority(_pid, get_priority(_pid) + 1); lock(m); unlock(m);
  run [i<2][j<3] w(i, j);
  z = run w(1, c) priority 2;
  (s -> 1 : 2); len(c) + 1; full(c); empty(c); nfull(c); nempty(c);
  enabled(0) && pc_value(0) == 1 && timeout && np_;
  v[0]@L && v:z == 0 && t.b[1]; c_code { x(); }; c_expr { y }
}
init priority 2 { s = "text" ; E: }
"#;

    #[test]
    fn every_kind_of_node_is_written() {
        let json = json(EVERYTHING);
        let items = "proctype init never trace notrace ltl ctl mu declaration typedef mtype inline invariant enum embedded-c";
        let steps = "xr xs unless option list channel-type label assign increment send receive if do for for-in select \
             break goto expression else assert printf printm atomic d_step block set_priority lock unlock run-iterated";
        let expressions = "number variable unary binary conditional channel poll run process timeout np_ remote-label \
             remote-variable";
        for kind in [items, steps, expressions].iter().flat_map(|kinds| kinds.split_whitespace()) {
            assert!(json.contains(&format!("\"kind\":\"{kind}\",\"file\":\"m.pml\",\"line\":")), "{kind}");
        }
        let operators = "[] <> X ! - ~ + * / % & | ^ << >> < <= > >= == != && || U W V -> <-> len full empty nfull nempty \
             enabled pc_value get_priority";
        for op in operators.split_whitespace() {
            assert!(json.contains(&format!("\"op\":\"{op}\"")), "{op}");
        }
        for word in ["hidden", "show", "local"] {
            assert!(json.contains(&format!("\"visibility\":\"{word}\"")), "{word}");
        }
        for word in ["variable", "eval", "constant"] {
            assert!(json.contains(&format!("\"match\":\"{word}\"")), "{word}");
        }
    }

    #[test]
    fn places_lead_to_the_use_of_a_macro_and_into_the_body_of_an_inline() {
        let json = json("#define ONE 1\ninline f(x) {\n x = ONE }\ninit { byte b;\n  f(b) }\n");
        let inline = "{\"kind\":\"inline\",\"file\":\"m.pml\",\"line\":5,\"column\":3,\"name\":\"f\",\"body\":[\
             {\"kind\":\"assign\",\"file\":\"m.pml\",\"line\":3,\"column\":2,";
        assert!(json.contains(inline), "{json}");
        let value = "\"value\":{\"kind\":\"number\",\"file\":\"m.pml\",\"line\":3,\"column\":6,\"macro\":\"ONE\",\"value\":1}";
        assert!(json.contains(value), "{json}");
    }

    #[test]
    fn a_broken_model_is_still_a_tree() {
        let json = json("init { x = ; \"s\"; y = + } byte");
        assert!(json.contains("\"kind\":\"init\""), "{json}");
    }
}
