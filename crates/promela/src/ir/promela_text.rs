//! Automata back to Promela, for other tools: a model that has the same behaviour as a program.
//!
//! It is not the model that somebody wrote. Every location is a label in front of an `if` whose options are
//! the edges, each of which ends in a `goto`; variables are flat arrays of their cells. A location is inside
//! `atomic` when control is kept on the way to it or from it; where control is given back on the way to such a
//! location, the sequence is entered from its beginning, because Spin continues an atomic sequence that jumps
//! into another. What cannot be written so (escapes, claims, remote references) is refused.
//!
//! With store buffers (`machine::memory`) `else` must not ask whether a buffer can move, so it is written as
//! the opposite of the other options.

use super::{
    Action, Base, BinaryOp, ChanOp, ChanTypeId, Edge, EdgeId, Expr, ExprKind, InitStep, LocId, Location,
    Place, Proctype, ProctypeKind, Program, RecvArg, Scalar, UnaryOp, Var,
};
use std::fmt::Write;

/// What cannot be written, and why.
type Written<T> = Result<T, String>;

/// The program as a model.
pub fn to_promela(program: &Program) -> Written<String> {
    if program.trace.is_some() || !program.never.is_empty() || !program.invariants.is_empty() {
        return Err("claims, trace assertions and invariants are not written".to_string());
    }
    let mut writer = Writer { program, proctype: None, out: String::new() };
    writer.variables(&program.globals, &program.init, "")?;
    for (number, proctype) in program.proctypes.iter().enumerate() {
        writer.proctype = Some(proctype);
        writer.proctype(number, proctype)?;
    }
    writer.proctype = None;
    for ltl in &program.ltl {
        let _ = writeln!(writer.out, "ltl {} {{ {} }}", ltl.name, ltl.text);
    }
    Ok(writer.out)
}

struct Writer<'a> {
    program: &'a Program,
    proctype: Option<&'a Proctype>,
    out: String,
}

impl Writer<'_> {
    /// Declarations with their initial values.
    fn variables(&mut self, vars: &[Var], init: &[InitStep], indent: &str) -> Written<()> {
        for var in vars {
            let line = self.declaration(vars, var, init)?;
            let _ = writeln!(self.out, "{indent}{line};");
        }
        Ok(())
    }

    fn declaration(&self, vars: &[Var], var: &Var, init: &[InitStep]) -> Written<String> {
        let n = self.program.cells_of(&var.ty);
        let scalar = self.scalar_of(var)?;
        let array = if n == 1 { String::new() } else { format!("[{n}]") };
        let name = name(vars, var);
        let within = |place: &Place| (var.cell..var.cell + n).contains(&place.cell);
        let (mut values, mut channels) = (Vec::new(), Vec::new());
        for step in init {
            match step {
                InitStep::Assign(place, value) if within(place) => values.push(self.expr(value)?),
                InitStep::NewChan(place, ty) if within(place) => channels.push(*ty),
                _ => {}
            }
        }
        values.dedup();
        channels.dedup();
        let hidden = if var.hidden { "hidden " } else { "" };
        match (&values[..], &channels[..]) {
            ([], [ty]) => Ok(format!("{hidden}chan {name}{array} = {}", self.channel(*ty)?)),
            ([], []) => Ok(format!("{hidden}{}", declared(scalar, &format!("{name}{array}"))?)),
            ([one], []) => Ok(format!("{hidden}{} = {one}", declared(scalar, &format!("{name}{array}"))?)),
            _ => Err(format!("the elements of {} have different initial values", var.name)),
        }
    }

    fn channel(&self, id: ChanTypeId) -> Written<String> {
        let ty = &self.program.chan_types[id.index()];
        let fields: Vec<&str> = ty.fields.iter().map(|&field| word(field)).collect();
        Ok(format!("[{}] of {{ {} }}", ty.capacity, fields.join(", ")))
    }

    fn scalar_of(&self, var: &Var) -> Written<Scalar> {
        let mut scalars = Vec::new();
        self.program.scalars_of(&var.ty, &mut scalars);
        scalars.dedup();
        match scalars[..] {
            [one] => Ok(one),
            _ => Err(format!("{} has fields of different types", var.name)),
        }
    }

    fn proctype(&mut self, number: usize, proctype: &Proctype) -> Written<()> {
        let active = self.program.active.iter().filter(|active| active.proctype.index() == number).count();
        let (params, locals) = self.split_locals(proctype);
        match proctype.kind {
            ProctypeKind::Init => self.out.push_str("init {\n"),
            ProctypeKind::Proctype => {
                let mut declared_params = Vec::new();
                for var in params {
                    declared_params.push(self.declaration(&proctype.locals, var, &[])?);
                }
                let active = if active > 0 { format!("active [{active}] ") } else { String::new() };
                let head = format!("{active}proctype {}({})", proctype.name, declared_params.join("; "));
                let provided = match &proctype.provided {
                    Some(clause) => format!(" provided ({})", self.expr(clause)?),
                    None => String::new(),
                };
                let _ = writeln!(self.out, "{head}{provided} {{");
            }
            ProctypeKind::Never | ProctypeKind::Trace | ProctypeKind::NoTrace => return Ok(()),
        }
        for var in locals {
            let line = self.declaration(&proctype.locals, var, &proctype.init)?;
            let _ = writeln!(self.out, "\t{line};");
        }
        self.automaton(proctype)?;
        self.out.push_str("}\n");
        Ok(())
    }

    fn split_locals<'p>(&self, proctype: &'p Proctype) -> (Vec<&'p Var>, Vec<&'p Var>) {
        proctype.locals.iter().partition(|var| var.cell < proctype.n_params)
    }

    fn automaton(&mut self, proctype: &Proctype) -> Written<()> {
        let held = held(proctype);
        let _ = writeln!(self.out, "\tgoto {};", self.target(proctype, &held, proctype.start, false));
        for (number, location) in proctype.locations.iter().enumerate().skip(1) {
            if location.in_d_step || location.edges.is_empty() {
                continue;
            }
            self.location(proctype, &held, LocId(number as u32), location)?;
        }
        self.out.push_str("Done: skip\n");
        Ok(())
    }

    fn location(
        &mut self,
        proctype: &Proctype,
        held: &[bool],
        at: LocId,
        location: &Location,
    ) -> Written<()> {
        let n = at.0;
        let inside = held[at.index()];
        let labels = [(location.end, "end"), (location.accept, "accept"), (location.progress, "progress")];
        let labels = labels.into_iter().filter(|(is, _)| *is).map(|(_, word)| format!("{word}{n}: "));
        let labels: String = labels.collect();
        // Spin refuses a label in front of the first statement of an atomic sequence.
        let open = if inside { format!("From{n}: atomic {{ skip; ") } else { String::new() };
        let _ = writeln!(self.out, "{open}{labels}At{n}: if");
        for &id in &location.edges {
            let edge = proctype.edge(id);
            let statement = match (&edge.action, has_drains(proctype, location)) {
                (Action::Else, true) => self.opposite(proctype, location, id)?,
                _ => self.step(proctype, edge)?,
            };
            let to = match edge.action {
                Action::End => "Done".to_string(),
                _ => self.target(proctype, held, edge.to, edge.atomic),
            };
            let _ = writeln!(self.out, "\t:: {statement} -> goto {to}");
        }
        let close = if inside { " }" } else { "" };
        let _ = writeln!(self.out, "fi{close};");
        Ok(())
    }

    /// Where a jump goes: directly, or through a step outside of the atomic sequence that it leads into.
    fn target(&self, _: &Proctype, held: &[bool], to: LocId, keeps: bool) -> String {
        match held[to.index()] && !keeps {
            true => format!("From{}", to.0),
            false => format!("At{}", to.0),
        }
    }

    /// `else`, where there are options that it does not ask about.
    fn opposite(&self, proctype: &Proctype, location: &Location, own: EdgeId) -> Written<String> {
        let mut parts = Vec::new();
        for &id in location.edges.iter().take_while(|id| **id != own) {
            let edge = proctype.edge(id);
            match &edge.action {
                _ if edge.order.is_drain() => {}
                Action::Guard(e) => parts.push(format!("!({})", self.expr(e)?)),
                _ => return Err("an `else` beside what is no condition".to_string()),
            }
        }
        Ok(if parts.is_empty() { "true".to_string() } else { format!("({})", parts.join(" && ")) })
    }

    fn step(&self, proctype: &Proctype, edge: &Edge) -> Written<String> {
        if edge.escape.is_some() {
            return Err("`unless` is not written".to_string());
        }
        match edge.action {
            Action::DStep { entry, exit, .. } => {
                let mut statements = Vec::new();
                let mut at = entry;
                while at != exit && at != edge.to || statements.is_empty() {
                    let [only] = proctype.location(at).edges[..] else {
                        return Err("a d_step with a choice is not written".to_string());
                    };
                    let inner = proctype.edge(only);
                    statements.push(self.action(&inner.action)?);
                    at = inner.to;
                    if statements.len() > 10_000 {
                        return Err("a d_step with a loop is not written".to_string());
                    }
                }
                Ok(format!("d_step {{ {} }}", statements.join("; ")))
            }
            _ => self.action(&edge.action),
        }
    }

    fn action(&self, action: &Action) -> Written<String> {
        let list = |args: &[Expr]| -> Written<String> {
            let args = args.iter().map(|arg| self.expr(arg)).collect::<Written<Vec<String>>>()?;
            Ok(args.join(", "))
        };
        Ok(match action {
            Action::Skip | Action::Printf(..) | Action::Printm(..) | Action::End => "skip".to_string(),
            Action::Guard(e) => match &e.kind {
                ExprKind::Run { .. } => self.expr(e)?,
                _ => format!("({})", self.expr(e)?),
            },
            Action::Else => "else".to_string(),
            Action::Assign(place, e) => format!("{} = {}", self.place(place)?, self.expr(e)?),
            Action::Send { chan, sorted, args } => {
                let sends = if *sorted { "!!" } else { "!" };
                format!("{}{sends}{}", self.expr(chan)?, list(args)?)
            }
            Action::Receive { chan, random, keep, args } => {
                let receives = if *random { "??" } else { "?" };
                let fields = self.fields(args)?;
                match keep {
                    true => format!("{}{receives}<{fields}>", self.expr(chan)?),
                    false => format!("{}{receives}{fields}", self.expr(chan)?),
                }
            }
            Action::Assert(e) => format!("assert({})", self.expr(e)?),
            Action::SetPriority(..) | Action::Lock(_) | Action::Unlock(_) | Action::Event { .. } => {
                return Err("priorities, locks and events are not written".to_string());
            }
            Action::C(_) => return Err(EMBEDDED_C.to_string()),
            Action::DStep { .. } => return Err("a d_step inside a d_step".to_string()),
        })
    }

    fn fields(&self, args: &[RecvArg]) -> Written<String> {
        let field = |arg: &RecvArg| match arg {
            RecvArg::Store(place) => self.place(place),
            RecvArg::Ignore => Ok("_".to_string()),
            RecvArg::Match(e) => match e.kind {
                ExprKind::Const(value) => Ok(value.to_string()),
                _ => Ok(format!("eval({})", self.expr(e)?)),
            },
        };
        Ok(args.iter().map(field).collect::<Written<Vec<String>>>()?.join(", "))
    }

    fn place(&self, place: &Place) -> Written<String> {
        let vars = match (place.base, self.proctype) {
            (Base::Scratch, _) => return Ok("_".to_string()),
            (Base::Global, _) => &self.program.globals[..],
            (Base::Local, Some(proctype)) => &proctype.locals[..],
            (Base::Local, None) => return Err("a local variable where there is no process".to_string()),
        };
        let covers = |var: &&Var| (var.cell..var.cell + self.program.cells_of(&var.ty)).contains(&place.cell);
        let var = vars.iter().find(covers).ok_or("a cell of no variable")?;
        let name = name(vars, var);
        if self.program.cells_of(&var.ty) == 1 {
            return Ok(name);
        }
        let mut sum = (place.cell - var.cell).to_string();
        for index in &place.indices {
            let value = self.expr(&index.value)?;
            sum = match index.stride {
                1 if sum == "0" => value,
                stride => format!("{sum} + {value} * {stride}"),
            };
        }
        Ok(format!("{name}[{sum}]"))
    }

    fn expr(&self, e: &Expr) -> Written<String> {
        Ok(match &e.kind {
            ExprKind::Const(value) if *value < 0 => format!("({value})"),
            ExprKind::Const(value) => value.to_string(),
            ExprKind::Load(place) => self.place(place)?,
            ExprKind::Unary(op, a) => {
                let op = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Not => "!",
                };
                format!("({op}({}))", self.expr(a)?)
            }
            ExprKind::Binary(op, a, b) => {
                format!("({} {} {})", self.expr(a)?, operator(*op), self.expr(b)?)
            }
            ExprKind::Cond(a, b, c) => {
                format!("({} -> {} : {})", self.expr(a)?, self.expr(b)?, self.expr(c)?)
            }
            ExprKind::Chan(op, chan) => {
                let word = match op {
                    ChanOp::Len => "len",
                    ChanOp::Full => "full",
                    ChanOp::Empty => "empty",
                    ChanOp::Nfull => "nfull",
                    ChanOp::Nempty => "nempty",
                };
                format!("{word}({})", self.expr(chan)?)
            }
            ExprKind::Poll { chan, random, args } => {
                let receives = if *random { "??" } else { "?" };
                format!("{}{receives}[{}]", self.expr(chan)?, self.fields(args)?)
            }
            ExprKind::Run { proctype, args, .. } => {
                let args = args.iter().map(|arg| self.expr(arg)).collect::<Written<Vec<String>>>()?;
                format!("run {}({})", self.program.proctype(*proctype).name, args.join(", "))
            }
            ExprKind::C(_) => return Err(EMBEDDED_C.to_string()),
            ExprKind::Pid => "_pid".to_string(),
            ExprKind::NrPr => "_nr_pr".to_string(),
            ExprKind::Timeout => "timeout".to_string(),
            ExprKind::Enabled(_)
            | ExprKind::PcValue(_)
            | ExprKind::GetPriority(_)
            | ExprKind::Last
            | ExprKind::Priority
            | ExprKind::NonProgress
            | ExprKind::RemoteLabel { .. }
            | ExprKind::RemoteVar { .. } => {
                return Err("questions about other processes are not written".to_string());
            }
        })
    }
}

const EMBEDDED_C: &str = "embedded C is not written";

/// Locations inside atomic sequences.
fn held(proctype: &Proctype) -> Vec<bool> {
    let mut held = vec![false; proctype.locations.len()];
    for (from, location) in proctype.locations.iter().enumerate() {
        for &id in &location.edges {
            let edge = proctype.edge(id);
            if edge.atomic {
                held[from] = true;
                held[edge.to.index()] = true;
            }
        }
    }
    held
}

fn has_drains(proctype: &Proctype, location: &Location) -> bool {
    location.edges.iter().any(|&id| proctype.edge(id).order.is_drain())
}

/// The name of a variable; where blocks declare several of one name, with its cell.
fn name(vars: &[Var], var: &Var) -> String {
    match vars.iter().filter(|other| other.name == var.name).count() {
        1 => var.name.clone(),
        _ => format!("{}_{}", var.name, var.cell),
    }
}

fn declared(scalar: Scalar, name: &str) -> Written<String> {
    match scalar {
        Scalar::Unsigned(bits) if !name.ends_with(']') => Ok(format!("unsigned {name} : {bits}")),
        Scalar::Unsigned(_) => Err("an array of unsigned is not written".to_string()),
        Scalar::Lock | Scalar::Sema => Err("locks and semaphores are not written".to_string()),
        _ => Ok(format!("{} {name}", word(scalar))),
    }
}

fn word(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bit | Scalar::WideBit => "bit",
        Scalar::Bool | Scalar::WideBool => "bool",
        Scalar::Pid => "pid",
        Scalar::Short => "short",
        Scalar::Int | Scalar::Unsigned(_) => "int",
        Scalar::Chan => "chan",
        Scalar::Byte | Scalar::Mtype(_) | Scalar::Lock | Scalar::Sema => "byte",
    }
}

fn operator(op: BinaryOp) -> &'static str {
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
    }
}
