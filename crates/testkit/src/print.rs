//! Prints a model as Promela text. Expressions get only the parentheses that C's precedence asks for, so that
//! the precedence of the parser under test matters; everything else is laid out one statement a line.

use std::fmt::Write;

use crate::model::{
    BinOp, Block, Claim, Decl, Expr, Init, MacroBody, Model, Probe, Proc, RecvArg, RecvKind, Start, Stmt,
    Type, UnOp, VariableRef, Visibility,
};

/// Prints the whole program.
pub fn print(model: &Model) -> String {
    let mut p = Printer { out: String::new(), indent: 0 };
    p.model(model);
    p.out
}

/// Prints one expression.
pub fn expression(expr: &Expr) -> String {
    expr_at(expr, 0)
}

struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn model(&mut self, model: &Model) {
        for define in &model.defines {
            self.define(define);
        }
        for mtype in &model.mtypes {
            let name = mtype.name.as_ref().map_or(String::new(), |n| format!(":{n}"));
            self.line(&format!("mtype{name} = {{ {} }};", mtype.constants.join(", ")));
        }
        for typedef in &model.typedefs {
            let fields: Vec<String> = typedef.fields.iter().map(declaration).collect();
            self.line(&format!("typedef {} {{ {} }};", typedef.name, fields.join("; ")));
        }
        for group in declaration_groups(&model.globals) {
            self.line(&format!("{group};"));
        }
        for inline in &model.inlines {
            self.line(&format!("inline {}({}) {{", inline.name, inline.params.join(", ")));
            self.body(&inline.body);
        }
        for proc in &model.procs {
            self.proc(proc);
        }
        if let Some(trace) = &model.trace {
            self.line(if trace.negated { "notrace {" } else { "trace {" });
            self.body(&trace.body);
        }
        match &model.claim {
            Some(Claim::Never(body)) => {
                self.line("never {");
                self.body(body);
            }
            Some(Claim::Ltl(text)) => self.line(&format!("ltl prop {{ {text} }}")),
            None => {}
        }
    }

    fn define(&mut self, define: &crate::model::Define) {
        let params = define.params.as_ref().map_or(String::new(), |p| format!("({})", p.join(", ")));
        let body = match &define.body {
            MacroBody::Empty => String::new(),
            MacroBody::Expr(expr) => expression(expr),
            MacroBody::Stmt(stmt) => one_line(stmt),
        };
        self.line(format!("#define {}{params} {body}", define.name).trim_end());
    }

    fn proc(&mut self, proc: &Proc) {
        let mut head = match proc.start {
            Start::Init => "init".to_string(),
            _ => {
                let active = match proc.start {
                    Start::Active(1) => "active ".to_string(),
                    Start::Active(n) => format!("active [{n}] "),
                    _ => String::new(),
                };
                let word = if proc.deterministic { "D_proctype" } else { "proctype" };
                let params: Vec<String> = proc.params.iter().map(declaration).collect();
                format!("{active}{word} {}({})", proc.name, params.join("; "))
            }
        };
        if let Some(priority) = proc.priority {
            let _ = write!(head, " priority {priority}");
        }
        if let Some(provided) = &proc.provided {
            let _ = write!(head, " provided ({})", expression(provided));
        }
        self.line(&format!("{head} {{"));
        self.body(&proc.body);
    }

    fn body(&mut self, block: &Block) {
        self.nested(block);
        self.line("}");
    }

    fn nested(&mut self, block: &Block) {
        self.indent += 1;
        self.block(block, false);
        self.indent -= 1;
    }

    /// Prints a sequence; `closed` asks for a separator after the last statement too.
    fn block(&mut self, block: &Block, closed: bool) {
        for (index, stmt) in block.iter().enumerate() {
            let last = index + 1 == block.len();
            if let Stmt::Ifdef { name, negated, then, otherwise } = stmt {
                self.ifdef(name, *negated, then, otherwise);
                continue;
            }
            self.stmt(stmt);
            if !last && !closed && self.out.ends_with("}\n") && index % 2 == 1 {
                // Spin puts a separator behind a brace by itself.
                continue;
            }
            if !last || closed {
                let arrow = index == 0 && matches!(stmt, Stmt::Expr(_) | Stmt::Else);
                self.out.truncate(self.out.trim_end_matches('\n').len());
                self.out.push_str(if arrow { " ->\n" } else { ";\n" });
            }
        }
    }

    fn ifdef(&mut self, name: &str, negated: bool, then: &Block, otherwise: &Block) {
        let _ = writeln!(self.out, "#if{}def {name}", if negated { "n" } else { "" });
        self.block(then, true);
        if !otherwise.is_empty() {
            self.out.push_str("#else\n");
            self.block(otherwise, true);
        }
        self.out.push_str("#endif\n");
    }

    /// Prints a statement that has no nested statements on one line, and the others over several.
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If(options) => self.options("if", options, "fi"),
            Stmt::Do(options) => self.options("do", options, "od"),
            Stmt::For { var, low, high, body } => {
                self.line(&format!("for ({var} : {} .. {}) {{", expression(low), expression(high)));
                self.body(body);
            }
            Stmt::ForIn { var, over, body } => {
                self.line(&format!("for ({var} in {over}) {{"));
                self.body(body);
            }
            Stmt::Atomic(body) => {
                self.line("atomic {");
                self.body(body);
            }
            Stmt::DStep(body) => {
                self.line("d_step {");
                self.body(body);
            }
            Stmt::Braces(body) => {
                self.line("{");
                self.body(body);
            }
            Stmt::Unless(main, escape) => {
                self.stmt(main);
                self.glue(" unless");
                self.stmt(escape);
            }
            Stmt::Label(name, inner) => {
                self.line(&format!("{name}:"));
                self.stmt(inner);
            }
            Stmt::Ifdef { name, negated, then, otherwise } => self.ifdef(name, *negated, then, otherwise),
            _ => self.line(&simple(stmt)),
        }
    }

    /// Appends to the last line.
    fn glue(&mut self, text: &str) {
        self.out.truncate(self.out.trim_end_matches('\n').len());
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn options(&mut self, open: &str, options: &[Block], close: &str) {
        self.line(open);
        for option in options {
            self.line("::");
            self.nested(option);
        }
        self.line(close);
    }
}

/// Prints a statement in one line, for a macro body.
fn one_line(stmt: &Stmt) -> String {
    let mut p = Printer { out: String::new(), indent: 0 };
    p.stmt(stmt);
    p.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn simple(stmt: &Stmt) -> String {
    match stmt {
        Stmt::Decl(decl) => declaration(decl),
        Stmt::Expr(expr) => expression(expr),
        Stmt::Assign(place, expr) => format!("{} = {}", self::place(place), expression(expr)),
        Stmt::AssignCall(place, name, args) => {
            format!("{} = {name}({})", self::place(place), list(args))
        }
        Stmt::Incr(place) => format!("{}++", self::place(place)),
        Stmt::Decr(place) => format!("{}--", self::place(place)),
        Stmt::Send { chan, sorted, paren, args } => send(chan, *sorted, *paren, args),
        Stmt::Recv { chan, kind, paren, args } => receive(chan, *kind, *paren, args),
        Stmt::Select { var, low, high } => {
            format!("select ({var} : {} .. {})", expression(low), expression(high))
        }
        Stmt::Goto(label) => format!("goto {label}"),
        Stmt::Break => "break".into(),
        Stmt::Else => "else".into(),
        Stmt::Assert(expr) => format!("assert({})", expression(expr)),
        Stmt::Printf(text, args) => {
            let tail: String = args.iter().map(|a| format!(", {}", expression(a))).collect();
            format!("printf(\"{text}\"{tail})")
        }
        Stmt::Printm(expr) => format!("printm({})", expression(expr)),
        Stmt::SetPriority(pid, value) => {
            format!("set_priority({}, {})", expression(pid), expression(value))
        }
        Stmt::Call(name, args) => format!("{name}({})", list(args)),
        Stmt::Return(expr) => format!("return {}", expression(expr)),
        Stmt::Exclusive { receive, chan } => {
            format!("{} {}", if *receive { "xr" } else { "xs" }, place(chan))
        }
        // The compound statements never come here.
        _ => "skip".into(),
    }
}

fn send(chan: &VariableRef, sorted: bool, paren: bool, args: &[Expr]) -> String {
    let op = if sorted { "!!" } else { "!" };
    let texts: Vec<String> = args.iter().map(send_field).collect();
    match texts.split_first() {
        Some((first, rest)) if paren && !rest.is_empty() => {
            format!("{}{op}{first}({})", place(chan), rest.join(", "))
        }
        _ => format!("{}{op}{}", place(chan), texts.join(",")),
    }
}

/// A field that starts with an operator is put in parentheses: `q!!x` would be a sorted send.
fn send_field(arg: &Expr) -> String {
    match arg {
        Expr::Unary(..) => format!("({})", expression(arg)),
        _ => expression(arg),
    }
}

fn receive(chan: &VariableRef, kind: RecvKind, paren: bool, args: &[RecvArg]) -> String {
    let op = if matches!(kind, RecvKind::Random | RecvKind::RandomPeek) { "??" } else { "?" };
    let peek = matches!(kind, RecvKind::Peek | RecvKind::RandomPeek);
    let fields = pattern(args, paren);
    if peek { format!("{}{op}<{fields}>", place(chan)) } else { format!("{}{op}{fields}", place(chan)) }
}

fn pattern(args: &[RecvArg], paren: bool) -> String {
    let texts: Vec<String> = args.iter().map(recv_field).collect();
    match texts.split_first() {
        Some((first, rest)) if paren && !rest.is_empty() => format!("{first}({})", rest.join(", ")),
        _ => texts.join(","),
    }
}

fn recv_field(arg: &RecvArg) -> String {
    match arg {
        RecvArg::VariableRef(target) => place(target),
        RecvArg::Const(expr) => expression(expr),
        RecvArg::Eval(expr) => format!("eval({})", expression(expr)),
        RecvArg::Any => "_".into(),
    }
}

fn list(args: &[Expr]) -> String {
    args.iter().map(expression).collect::<Vec<_>>().join(", ")
}

fn declaration(decl: &Decl) -> String {
    let visibility = match decl.visibility {
        Visibility::Plain => "",
        Visibility::Hidden => "hidden ",
        Visibility::Local => "local ",
        Visibility::Show => "show ",
    };
    let width = match decl.ty {
        Type::Unsigned(bits) => format!(" : {bits}"),
        _ => String::new(),
    };
    let len = decl.len.map_or(String::new(), |n| format!("[{n}]"));
    let init = match &decl.init {
        Init::None => String::new(),
        Init::Expr(expr) => format!(" = {}", expression(expr)),
        Init::List(values) => {
            format!(" = {{ {} }}", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
        }
        Init::Chan { capacity, fields } => {
            let fields: Vec<String> = fields.iter().map(type_name).collect();
            format!(" = [{capacity}] of {{ {} }}", fields.join(", "))
        }
    };
    format!("{visibility}{} {}{width}{len}{init}", type_name(&decl.ty), decl.name)
}

/// Some neighbours of one type are declared together, as `byte a, b = 1`; not behind a brace, where Spin ends
/// the declaration.
fn declaration_groups(decls: &[Decl]) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    let mut before: Option<&Decl> = None;
    for decl in decls {
        let joins = before.is_some_and(|other| {
            let braced = matches!(other.init, Init::List(_) | Init::Chan { .. });
            !braced && other.visibility == decl.visibility && type_name(&other.ty) == type_name(&decl.ty)
        });
        match groups.last_mut() {
            Some(group) if joins && decl.name.ends_with(['2', '4', '6', '8']) => {
                let text = declaration(decl);
                let head = format!("{} ", type_name(&decl.ty));
                let tail = text.split_once(&head).map_or(text.as_str(), |(_, tail)| tail);
                group.push_str(", ");
                group.push_str(tail);
            }
            _ => groups.push(declaration(decl)),
        }
        before = Some(decl);
    }
    groups
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Bit => "bit".into(),
        Type::Bool => "bool".into(),
        Type::Byte => "byte".into(),
        Type::Pid => "pid".into(),
        Type::Short => "short".into(),
        Type::Int => "int".into(),
        Type::Unsigned(_) => "unsigned".into(),
        Type::Mtype(None) => "mtype".into(),
        Type::Mtype(Some(name)) => format!("mtype:{name}"),
        Type::Chan => "chan".into(),
        Type::Struct(name) => name.clone(),
    }
}

fn place(target: &VariableRef) -> String {
    let step = |(name, index): &(String, Option<Expr>)| match index {
        Some(index) => format!("{name}[{}]", expression(index)),
        None => name.clone(),
    };
    target.path.iter().map(step).collect::<Vec<_>>().join(".")
}

const UNARY_LEVEL: u32 = 11;

fn level(op: BinOp) -> u32 {
    match op {
        BinOp::Or => 1,
        BinOp::And => 2,
        BinOp::BitOr => 3,
        BinOp::BitXor => 4,
        BinOp::BitAnd => 5,
        BinOp::Eq | BinOp::Ne => 6,
        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 7,
        BinOp::Shl | BinOp::Shr => 8,
        BinOp::Add | BinOp::Sub => 9,
        BinOp::Mul | BinOp::Div | BinOp::Rem => 10,
    }
}

fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::And => "&&",
        BinOp::Or => "||",
    }
}

fn expr_at(expr: &Expr, outer: u32) -> String {
    let (text, own) = match expr {
        Expr::Num(n) => (n.to_string(), if *n < 0 { UNARY_LEVEL } else { u32::MAX }),
        Expr::Word(word) => (word.clone(), u32::MAX),
        Expr::VariableRef(target) => (place(target), u32::MAX),
        Expr::Unary(op, inner) => {
            let sign = match op {
                UnOp::Not => "!",
                UnOp::Neg => "-",
                UnOp::Compl => "~",
            };
            (format!("{sign}{}", expr_at(inner, UNARY_LEVEL + 1)), UNARY_LEVEL)
        }
        Expr::Binary(op, left, right) => {
            let own = level(*op);
            (format!("{} {} {}", expr_at(left, own), symbol(*op), expr_at(right, own + 1)), own)
        }
        _ => (closed_expression(expr), u32::MAX),
    };
    if own < outer { format!("({text})") } else { text }
}

/// The expressions that need no parentheses around them anywhere.
fn closed_expression(expr: &Expr) -> String {
    match expr {
        Expr::Cond(c, a, b) => {
            format!("({} -> {} : {})", expr_at(c, 0), expr_at(a, 0), expr_at(b, 0))
        }
        Expr::Len(chan) => format!("len({})", place(chan)),
        Expr::Probe(probe, chan) => {
            let word = match probe {
                Probe::Full => "full",
                Probe::NFull => "nfull",
                Probe::Empty => "empty",
                Probe::NEmpty => "nempty",
            };
            format!("{word}({})", place(chan))
        }
        Expr::Poll { chan, random, args } => {
            format!("{}{}[{}]", place(chan), if *random { "??" } else { "?" }, pattern(args, false))
        }
        Expr::Run { name, args, priority } => {
            let tail = priority.map_or(String::new(), |n| format!(" priority {n}"));
            format!("run {name}({}){tail}", list(args))
        }
        Expr::Call(name, args) => format!("{name}({})", list(args)),
        Expr::RemoteLabel { proc, pid, label } => format!("{proc}{}@{label}", remote_pid(pid)),
        Expr::RemoteVar { proc, pid, name, index } => {
            let index = index.as_ref().map_or(String::new(), |i| format!("[{}]", expression(i)));
            format!("{proc}{}:{name}{index}", remote_pid(pid))
        }
        // The other kinds are printed by `expr_at`.
        _ => "0".into(),
    }
}

fn remote_pid(pid: &Option<Box<Expr>>) -> String {
    pid.as_ref().map_or(String::new(), |p| format!("[{}]", expression(p)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
        Expr::binary(op, a, b)
    }

    #[test]
    fn only_needed_parentheses_are_printed() {
        let sum = bin(BinOp::Add, Expr::var("a"), Expr::var("b"));
        assert_eq!(expression(&bin(BinOp::Mul, sum.clone(), Expr::Num(2))), "(a + b) * 2");
        assert_eq!(expression(&bin(BinOp::Eq, sum.clone(), Expr::Num(2))), "a + b == 2");
        assert_eq!(
            expression(&bin(BinOp::BitAnd, bin(BinOp::Eq, sum, Expr::Num(1)), Expr::Num(1))),
            "a + b == 1 & 1"
        );
        let right = bin(BinOp::Sub, Expr::Num(1), Expr::Num(2));
        assert_eq!(expression(&bin(BinOp::Sub, Expr::Num(3), right)), "3 - (1 - 2)");
    }

    #[test]
    fn a_minus_never_meets_another_minus() {
        let negative = Expr::Unary(UnOp::Neg, Box::new(Expr::Num(-1)));
        assert_eq!(expression(&negative), "-(-1)");
        assert_eq!(expression(&bin(BinOp::Sub, Expr::Num(0), Expr::Num(-1))), "0 - -1");
    }

    #[test]
    fn a_negated_field_is_not_a_sorted_send() {
        let stmt = Stmt::Send {
            chan: VariableRef::name("q"),
            sorted: false,
            paren: false,
            args: vec![Expr::var("x").negated()],
        };
        assert_eq!(simple(&stmt), "q!(!x)");
    }

    #[test]
    fn blocks_separate_statements() {
        let model = Model {
            procs: vec![Proc {
                name: "P".into(),
                start: Start::Active(2),
                deterministic: false,
                params: vec![],
                priority: None,
                provided: None,
                body: vec![Stmt::If(vec![
                    vec![Stmt::Expr(Expr::var("x")), Stmt::Incr(VariableRef::name("y"))],
                    vec![Stmt::Else],
                ])],
            }],
            ..Model::default()
        };
        let text: Vec<String> = print(&model).lines().map(|l| l.trim().to_string()).collect();
        assert_eq!(text, ["active [2] proctype P() {", "if", "::", "x ->", "y++", "::", "else", "fi", "}"]);
    }
}
