//! Statements and sequences. Each function returns the statements of one idea; what it may use depends on
//! the kind of code around it: a d_step never blocks, an atomic sequence never loops forever.

use crate::model::{BinOp, Block, Decl, Expr, Init, Stmt, Type, VariableRef};

use super::Generator;
use super::declare::plain_decl;
use super::mix::Feature;
use super::scope::{Chan, Field, Frame, Leaf, Mode, Param, StructVar, is_numeric};

/// Adds a statement; a `skip` goes between a loop and a d_step, since Spin refuses a jump that lands on one.
pub(super) fn push_apart(block: &mut Block, stmt: Stmt) {
    if block.last().is_some_and(|last| !is_simple(last)) && starts_with_d_step(&stmt) {
        block.push(Stmt::Expr(Expr::word("skip")));
    }
    block.push(stmt);
}

fn is_simple(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Label(_, inner) => is_simple(inner),
        Stmt::Expr(_)
        | Stmt::Assign(..)
        | Stmt::Incr(_)
        | Stmt::Decr(_)
        | Stmt::Send { .. }
        | Stmt::Recv { .. } => true,
        Stmt::Assert(_) | Stmt::Printf(..) | Stmt::Else | Stmt::Decl(_) => true,
        _ => false,
    }
}

fn starts_with_d_step(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::DStep(_) => true,
        Stmt::Label(_, inner) | Stmt::Unless(inner, _) => starts_with_d_step(inner),
        Stmt::Atomic(body) | Stmt::Braces(body) => body.first().is_some_and(starts_with_d_step),
        _ => false,
    }
}

/// Whether a d_step may begin with a statement: Spin's verifier lets others, such as `printf`, run in the
/// middle of a rendezvous and so take the place of the receiver.
fn waits_for_handshake(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::If(options) | Stmt::Do(options) => {
            options.iter().all(|o| matches!(o.first(), Some(Stmt::Expr(_) | Stmt::Else)))
        }
        Stmt::Expr(_) | Stmt::Assign(..) | Stmt::Incr(_) | Stmt::Decr(_) => true,
        Stmt::Send { .. } | Stmt::Recv { .. } => true,
        _ => false,
    }
}

/// What a statement can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Assign,
    Count,
    Channel,
    Guard,
    If,
    Do,
    For,
    Select,
    Atomic,
    DStep,
    Unless,
    Braces,
    Goto,
    Break,
    Assert,
    Print,
    Skip,
    Declare,
    Inline,
    InlineReturn,
    Macro,
    Ifdef,
    SetPriority,
    Run,
    HiddenPair,
}

const KINDS: [Kind; 25] = [
    Kind::Assign,
    Kind::Count,
    Kind::Channel,
    Kind::Guard,
    Kind::If,
    Kind::Do,
    Kind::For,
    Kind::Select,
    Kind::Atomic,
    Kind::DStep,
    Kind::Unless,
    Kind::Braces,
    Kind::Goto,
    Kind::Break,
    Kind::Assert,
    Kind::Print,
    Kind::Skip,
    Kind::Declare,
    Kind::Inline,
    Kind::InlineReturn,
    Kind::Macro,
    Kind::Ifdef,
    Kind::SetPriority,
    Kind::Run,
    Kind::HiddenPair,
];

impl Generator {
    fn kind_weight(&self, kind: Kind, frame: &Frame, depth: u32) -> u32 {
        let plain = frame.mode == Mode::Plain;
        let steady = frame.mode == Mode::DStep;
        let deep = u32::from(depth > 0);
        let in_proc = u32::from(frame.proc.is_some());
        let has = |f: Feature| self.mix.weight(f);
        match kind {
            Kind::Assign => 12,
            Kind::Count => 8,
            Kind::Channel => 3 + 9 * u32::from(!steady),
            Kind::Guard => 2 * u32::from(!steady),
            Kind::If => 7 * deep,
            Kind::Do => 5 * deep,
            Kind::For => has(Feature::For) * deep,
            Kind::Select => has(Feature::Select),
            Kind::Atomic => has(Feature::Atomic) * 2 * deep * u32::from(!steady),
            Kind::DStep => has(Feature::DStep) * 2 * deep * u32::from(!steady),
            Kind::Unless => has(Feature::Unless) * 2 * deep * u32::from(!steady),
            Kind::Braces => deep,
            Kind::Goto => has(Feature::Goto) * in_proc * u32::from(!steady) / 2,
            Kind::Break => 2 * u32::from(frame.breakable),
            Kind::Assert => has(Feature::Assert) / 2,
            Kind::Print => has(Feature::Print) / 2,
            Kind::Skip => 1,
            Kind::Declare => has(Feature::Declare) / 2,
            Kind::Inline => has(Feature::Inline) * in_proc,
            Kind::InlineReturn => has(Feature::InlineReturn) * in_proc / 2,
            Kind::Macro => u32::from(self.world.macros.iter().any(|m| m.statement)),
            Kind::Ifdef => has(Feature::Ifdef) * deep * in_proc / 2,
            Kind::SetPriority => has(Feature::Priority),
            Kind::Run => {
                if plain || frame.mode == Mode::Atomic {
                    has(Feature::Run) * in_proc
                } else {
                    0
                }
            }
            Kind::HiddenPair => has(Feature::Hidden) / 2 * u32::from(!steady),
        }
    }

    /// A sequence of about `len` ideas with its own scope.
    pub(super) fn block(&mut self, frame: &mut Frame, len: i64, depth: u32) -> Block {
        let (leaves, chans) = (frame.leaves.len(), frame.chans.len());
        let mut block = Vec::new();
        for _ in 0..len.max(1) {
            let stmts = self.stmt(frame, depth);
            for stmt in stmts {
                let stmt = if block.is_empty() { stmt } else { self.maybe_labelled(frame, stmt) };
                push_apart(&mut block, stmt);
            }
            if matches!(block.last(), Some(Stmt::Goto(_) | Stmt::Break)) {
                break;
            }
        }
        frame.leaves.truncate(leaves);
        frame.chans.truncate(chans);
        if !block.iter().any(|s| !matches!(s, Stmt::Decl(_))) {
            block.push(Stmt::Expr(Expr::word("skip")));
        }
        block
    }

    /// Puts a label in front of a statement, now and then.
    pub(super) fn maybe_labelled(&mut self, frame: &mut Frame, stmt: Stmt) -> Stmt {
        let weight = self.mix.weight(Feature::Labels) + self.mix.weight(Feature::Goto);
        let fits = frame.proc.is_some()
            && frame.mode != Mode::DStep
            && !matches!(
                stmt,
                Stmt::Decl(_)
                    | Stmt::DStep(_)
                    | Stmt::Else
                    | Stmt::Break
                    | Stmt::Goto(_)
                    | Stmt::Ifdef { .. }
                    | Stmt::Unless(..)
                    | Stmt::Label(..)
                    | Stmt::Call(..)
                    | Stmt::AssignCall(..)
            );
        if !fits || !self.rng.chance(weight * 2) {
            return stmt;
        }
        let prefix = ["L", "L", "end", "accept", "progress"][self.rng.below(5)];
        let name = self.fresh(prefix);
        frame.labels.push(name.clone());
        Stmt::Label(name, Box::new(stmt))
    }

    /// One idea: one or more statements.
    pub(super) fn stmt(&mut self, frame: &mut Frame, depth: u32) -> Vec<Stmt> {
        for _ in 0..8 {
            let weights: Vec<u32> = KINDS.iter().map(|&k| self.kind_weight(k, frame, depth)).collect();
            let kind = self.rng.weighted(&weights).map_or(Kind::Skip, |i| KINDS[i]);
            if let Some(stmts) = self.attempt(kind, frame, depth) {
                return stmts;
            }
        }
        vec![Stmt::Expr(Expr::word("skip"))]
    }

    fn attempt(&mut self, kind: Kind, frame: &mut Frame, depth: u32) -> Option<Vec<Stmt>> {
        let one = |stmt: Stmt| Some(vec![stmt]);
        match kind {
            Kind::Assign => self.assign(frame).and_then(one),
            Kind::Count => self.count(frame),
            Kind::Channel if frame.mode == Mode::DStep => self.guarded_channel_op(frame),
            Kind::Channel => self.straight_channel_op(frame),
            Kind::Guard => one(Stmt::Expr(self.guard(frame))),
            Kind::If => one(self.if_stmt(frame, depth - 1)),
            Kind::Do => one(self.do_stmt(frame, depth - 1)),
            Kind::For => self.for_stmt(frame, depth - 1),
            Kind::Select => self.select(frame),
            Kind::Atomic => one(self.atomic(frame, depth - 1)),
            Kind::DStep => one(self.d_step(frame, depth - 1)),
            Kind::Unless => one(self.unless(frame, depth - 1)),
            Kind::Braces => {
                let len = self.rng.range(1, 2);
                one(Stmt::Braces(self.braced(frame, len, depth - 1)))
            }
            Kind::Goto => self.goto(frame),
            Kind::Break => one(Stmt::Break),
            Kind::Assert => one(Stmt::Assert(self.assertion(frame))),
            Kind::Print => one(self.print(frame)),
            Kind::Skip => one(Stmt::Expr(Expr::word(if self.rng.chance(70) { "skip" } else { "true" }))),
            Kind::Declare => one(self.declare_local(frame)),
            Kind::Inline => self.call_inline(frame),
            Kind::InlineReturn => self.call_returning(frame),
            Kind::Macro => {
                let target = self.numeric_target(frame)?;
                one(Stmt::Call("STEP".into(), vec![Expr::VariableRef(Box::new(target))]))
            }
            Kind::Ifdef => self.ifdef(frame, depth - 1),
            Kind::SetPriority => one(self.set_priority()),
            Kind::Run => self.run(frame),
            Kind::HiddenPair => self.hidden_pair(frame),
        }
    }

    /// A sequence that stands in braces, so that its names end with it.
    fn braced(&mut self, frame: &mut Frame, len: i64, depth: u32) -> Block {
        let names = frame.declared.len();
        let block = self.block(frame, len, depth);
        frame.declared.truncate(names);
        block
    }

    fn numeric_target(&mut self, frame: &Frame) -> Option<VariableRef> {
        let leaf = self.pick_leaf(frame, |l| !l.read_only && !l.write_only && is_numeric(&l.ty))?;
        Some(self.place(frame, &leaf, &[]))
    }

    fn assign(&mut self, frame: &Frame) -> Option<Stmt> {
        if self.rng.chance(2) {
            return Some(Stmt::Assign(VariableRef::name("_"), self.number(frame, 1)));
        }
        let received = self.world.hidden_receives;
        let leaf = self.pick_leaf(frame, |l| !(l.read_only || l.write_only && received))?;
        let place = self.place(frame, &leaf, &[]);
        let in_array = leaf.path.iter().any(|(_, len)| len.is_some());
        if is_numeric(&leaf.ty) && self.mix.has(Feature::Probe) && self.rng.chance(6) {
            return Some(Stmt::Assign(place, self.probe(frame)?));
        }
        Some(Stmt::Assign(place, self.value_for(frame, &leaf.ty, in_array)))
    }

    /// `x++` or `x--`, guarded where it could go on forever.
    fn count(&mut self, frame: &Frame) -> Option<Vec<Stmt>> {
        let leaf = self.pick_target(frame)?;
        if leaf.write_only {
            return None;
        }
        let place = self.place(frame, &leaf, &[]);
        let value = Expr::VariableRef(Box::new(place.clone()));
        let up = self.rng.chance(60);
        let step = if up { Stmt::Incr(place) } else { Stmt::Decr(place) };
        let scalar = leaf.path.iter().all(|(_, len)| len.is_none());
        let narrow = match leaf.ty {
            Type::Bit | Type::Bool => scalar,
            Type::Unsigned(bits) => bits <= 2,
            _ => false,
        };
        if narrow || (!frame.cyclic && self.rng.chance(40)) {
            return Some(vec![step]);
        }
        let guard = if up {
            Expr::binary(BinOp::Lt, value, Expr::Num(self.rng.range(1, 3)))
        } else {
            Expr::binary(BinOp::Gt, value, Expr::Num(0))
        };
        match frame.mode {
            Mode::DStep => Some(vec![Stmt::If(vec![vec![Stmt::Expr(guard), step], vec![Stmt::Else]])]),
            _ if self.rng.chance(50) && self.mix.has(Feature::Else) => {
                Some(vec![Stmt::If(vec![vec![Stmt::Expr(guard), step], vec![Stmt::Else]])])
            }
            _ => Some(vec![Stmt::Expr(guard), step]),
        }
    }

    /// Inside a d_step: an operation only where the channel allows it.
    fn guarded_channel_op(&mut self, frame: &mut Frame) -> Option<Vec<Stmt>> {
        if self.world.has_exclusive {
            return None;
        }
        let chans = self.pollable(frame);
        let chan = self.rng.pick(&chans)?.clone();
        let capacity = i64::from(chan.capacity?);
        if self.faults && self.rng.chance(30) {
            return self.send(frame, &chan).map(|s| vec![s]);
        }
        let len = Expr::Len(Box::new(VariableRef::name(chan.plain_name()?)));
        let guard = Expr::binary(BinOp::Lt, len, Expr::Num(capacity));
        let send = self.send(frame, &chan)?;
        Some(vec![Stmt::If(vec![vec![Stmt::Expr(guard), send], vec![Stmt::Else]])])
    }

    /// A channel operation, now and then with a way around it.
    fn straight_channel_op(&mut self, frame: &mut Frame) -> Option<Vec<Stmt>> {
        let stmts = self.channel_op(frame)?;
        if !self.rng.chance(25) {
            return Some(stmts);
        }
        let other = if self.mix.has(Feature::Timeout) && frame.mode == Mode::Plain && self.rng.chance(40) {
            vec![Stmt::Expr(Expr::word("timeout"))]
        } else if self.mix.has(Feature::Else) && !self.world.has_exclusive && self.rng.chance(50) {
            vec![Stmt::Else]
        } else {
            vec![Stmt::Expr(self.guard(frame))]
        };
        Some(vec![Stmt::If(vec![stmts, other])])
    }

    /// The first statement of an option, with what follows it at once.
    fn option_head(&mut self, frame: &mut Frame) -> Vec<Stmt> {
        if frame.mode == Mode::DStep {
            return vec![Stmt::Expr(self.condition(frame, 1))];
        }
        if self.mix.has(Feature::Run)
            && frame.proc.is_some()
            && self.rng.chance(6)
            && let Some(run) = self.run(frame)
        {
            return run;
        }
        match self.rng.below(10) {
            0..=3 => self.channel_op(frame).unwrap_or_else(|| vec![Stmt::Expr(self.guard(frame))]),
            4 => vec![self.assign(frame).unwrap_or_else(|| Stmt::Expr(Expr::word("true")))],
            5 if self.mix.has(Feature::Atomic) => {
                let stmt = self.atomic(frame, 0);
                vec![stmt]
            }
            _ => vec![Stmt::Expr(self.guard(frame))],
        }
    }

    fn option(&mut self, frame: &mut Frame, depth: u32) -> Block {
        let (leaves, chans) = (frame.leaves.len(), frame.chans.len());
        let mut option = self.option_head(frame);
        if self.rng.chance(75) {
            let len = self.rng.range(1, 2);
            for stmt in self.block(frame, len, depth) {
                push_apart(&mut option, stmt);
            }
        }
        // What an option declares is visible behind it too.
        if !self.mix.has(Feature::Reuse) || self.rng.chance(50) {
            frame.leaves.truncate(leaves);
        }
        frame.chans.truncate(chans);
        option
    }

    fn if_stmt(&mut self, frame: &mut Frame, depth: u32) -> Stmt {
        let mut options: Vec<Block> = (0..self.rng.range(1, 3)).map(|_| self.option(frame, depth)).collect();
        let wants_else = frame.mode == Mode::DStep || (self.mix.has(Feature::Else) && self.rng.chance(55));
        let starved = self.faults && self.rng.chance(20);
        if wants_else && !starved {
            self.add_else(frame, &mut options, depth);
        }
        Stmt::If(options)
    }

    /// Adds an `else` option at some position, unless channel operations forbid it.
    fn add_else(&mut self, frame: &mut Frame, options: &mut Vec<Block>, depth: u32) {
        if self.world.has_exclusive {
            return;
        }
        let mut block = vec![Stmt::Else];
        if self.rng.chance(60) {
            block.extend(self.block(frame, 1, depth));
        }
        let at = self.rng.below(options.len() + 1);
        options.insert(at, block);
    }

    /// A loop: forever, until a break, or a bounded one where blocking is not possible.
    pub(super) fn do_stmt(&mut self, frame: &mut Frame, depth: u32) -> Stmt {
        if frame.mode != Mode::Plain {
            return self.bounded_loop(frame, depth);
        }
        let before = (frame.cyclic, frame.breakable);
        (frame.cyclic, frame.breakable) = (true, true);
        let mut options: Vec<Block> = (0..self.rng.range(1, 3)).map(|_| self.option(frame, depth)).collect();
        (frame.cyclic, frame.breakable) = before;
        match self.rng.below(5) {
            0 | 1 => options.push(vec![Stmt::Expr(self.guard(frame)), Stmt::Break]),
            2 => options.push(vec![Stmt::Break]),
            3 if self.mix.has(Feature::Else) && !self.world.has_exclusive => {
                options.push(vec![Stmt::Else, Stmt::Break]);
            }
            _ => {}
        }
        Stmt::Do(options)
    }

    /// A loop that counts a variable up and then leaves.
    fn bounded_loop(&mut self, frame: &mut Frame, depth: u32) -> Stmt {
        let plain = |l: &Leaf| l.is_plain() && !l.read_only && !l.write_only && l.ty == Type::Byte;
        let Some(leaf) = self.pick_leaf(frame, plain) else {
            return Stmt::Expr(Expr::word("skip"));
        };
        let name = leaf.base().to_string();
        let mut inner = self.with_read_only(frame, &name);
        inner.breakable = true;
        let mut body = vec![Stmt::Expr(Expr::binary(BinOp::Lt, Expr::var(name.clone()), Expr::Num(2)))];
        body.extend(self.block(&mut inner, 1, depth.min(1)));
        self.absorb(frame, inner);
        if matches!(body.last(), Some(Stmt::Break | Stmt::Goto(_))) {
            body.pop();
        }
        body.push(Stmt::Incr(VariableRef::name(name)));
        Stmt::Do(vec![body, vec![Stmt::Else, Stmt::Break]])
    }

    /// A copy of the scope in which a variable may not be assigned.
    fn with_read_only(&self, frame: &Frame, name: &str) -> Frame {
        let mut inner = frame.clone();
        let mut found = false;
        for leaf in inner.leaves.iter_mut().filter(|l| l.base() == name) {
            leaf.read_only = true;
            found = true;
        }
        if !found {
            let global = self.world.leaves.iter().find(|l| l.base() == name).cloned();
            inner.leaves.extend(global.map(|leaf| Leaf { read_only: true, ..leaf }));
        }
        inner.cyclic = true;
        inner
    }

    /// Takes over what a copied scope has learned about labels and roles.
    fn absorb(&mut self, frame: &mut Frame, inner: Frame) {
        frame.labels = inner.labels;
        frame.end_label_used = inner.end_label_used;
        frame.roles = inner.roles;
    }

    fn index_variable(&mut self, frame: &Frame) -> Option<String> {
        let fits = |l: &Leaf| {
            let wide = matches!(l.ty, Type::Byte | Type::Short | Type::Int | Type::Pid);
            l.is_plain() && !l.read_only && !l.write_only && wide
        };
        self.pick_leaf(frame, fits).map(|l| l.base().to_string())
    }

    /// `for (t in q)` over a channel whose message is one structure.
    fn for_channel(&mut self, frame: &mut Frame, depth: u32) -> Option<Vec<Stmt>> {
        let chans: Vec<Chan> = self
            .pollable(frame)
            .into_iter()
            .filter(|c| c.plain_name().is_some())
            .filter(|c| matches!(self.world.signatures[c.signature].as_slice(), [Field::Struct(_)]))
            .collect();
        let chan = self.rng.pick(&chans)?.clone();
        let [Field::Struct(typedef)] = *self.world.signatures[chan.signature].as_slice() else { return None };
        let fits = |s: &&StructVar| s.typedef == typedef && s.len.is_none();
        let vars: Vec<StructVar> =
            frame.structs.iter().chain(&self.world.structs).filter(fits).cloned().collect();
        let var = self.rng.pick(&vars)?.name.clone();
        let mut inner = frame.clone();
        (inner.cyclic, inner.breakable) = (true, true);
        let body = self.block(&mut inner, 1, depth.min(1));
        self.absorb(frame, inner);
        Some(vec![Stmt::ForIn { var, over: chan.base().to_string(), body }])
    }

    fn for_stmt(&mut self, frame: &mut Frame, depth: u32) -> Option<Vec<Stmt>> {
        if frame.mode == Mode::Plain
            && self.rng.chance(30)
            && let Some(stmts) = self.for_channel(frame, depth)
        {
            return Some(stmts);
        }
        let var = self.index_variable(frame)?;
        let mut inner = self.with_read_only(frame, &var);
        inner.breakable = true;
        let arrays: Vec<String> = self
            .visible(frame)
            .iter()
            .filter(|l| l.path.len() == 1 && l.path[0].1.is_some() && l.base() != var)
            .map(|l| l.base().to_string())
            .collect();
        let body = self.block(&mut inner, 1, depth.min(1));
        self.absorb(frame, inner);
        if let (true, Some(over)) = (self.rng.chance(40), self.rng.pick(&arrays).cloned()) {
            return Some(vec![Stmt::ForIn { var, over, body }]);
        }
        let low = self.rng.range(0, 1);
        let high = match self.rng.below(4) {
            0 => Expr::binary(BinOp::BitAnd, self.number(frame, 0), Expr::Num(1)),
            _ => Expr::Num(low + self.rng.range(0, 2)),
        };
        Some(vec![Stmt::For { var, low: Expr::Num(low), high, body }])
    }

    fn select(&mut self, frame: &mut Frame) -> Option<Vec<Stmt>> {
        let var = self.index_variable(frame)?;
        let low = self.rng.range(0, 1);
        let high = match self.rng.below(4) {
            0 => Expr::binary(BinOp::BitAnd, self.number(frame, 0), Expr::Num(1)),
            _ => Expr::Num(low + self.rng.range(0, 2)),
        };
        Some(vec![Stmt::Select { var, low: Expr::Num(low), high }])
    }

    fn atomic(&mut self, frame: &mut Frame, depth: u32) -> Stmt {
        let before = (frame.mode, frame.breakable);
        frame.mode = Mode::Atomic;
        let len = self.rng.range(1, 3);
        let body = self.braced(frame, len, depth);
        (frame.mode, frame.breakable) = before;
        Stmt::Atomic(body)
    }

    fn d_step(&mut self, frame: &mut Frame, depth: u32) -> Stmt {
        let before = (frame.mode, frame.breakable);
        (frame.mode, frame.breakable) = (Mode::DStep, false);
        let mut body = Vec::new();
        if self.rng.chance(40) {
            if self.rng.chance(50) {
                let kept = (frame.leaves.len(), frame.chans.len());
                body = self.channel_op(frame).unwrap_or_default();
                body.truncate(1);
                frame.leaves.truncate(kept.0);
                frame.chans.truncate(kept.1);
            } else {
                body.push(Stmt::Expr(self.guard(frame)));
            }
        }
        let len = self.rng.range(1, 3);
        body.extend(self.braced(frame, len, depth));
        if !body.first().is_some_and(waits_for_handshake) {
            body.insert(0, Stmt::Expr(Expr::word("skip")));
        }
        (frame.mode, frame.breakable) = before;
        Stmt::DStep(body)
    }

    fn unless(&mut self, frame: &mut Frame, depth: u32) -> Stmt {
        let main = match self.rng.below(6) {
            0 if self.mix.has(Feature::Atomic) => self.atomic(frame, depth),
            1 if self.mix.has(Feature::DStep) => self.d_step(frame, depth),
            _ => {
                let len = self.rng.range(1, 3);
                Stmt::Braces(self.braced(frame, len, depth))
            }
        };
        let names = frame.declared.len();
        let escape = match self.rng.below(6) {
            0 if self.mix.has(Feature::Atomic) => self.atomic(frame, 0),
            1 => Stmt::Braces(self.option(frame, 0)),
            _ => {
                let mut body = vec![Stmt::Expr(self.guard(frame))];
                if self.rng.chance(60) {
                    body.extend(self.block(frame, 1, depth));
                }
                Stmt::Braces(body)
            }
        };
        frame.declared.truncate(names);
        Stmt::Unless(Box::new(main), Box::new(escape))
    }

    /// A jump behind a guard: back to a label only outside atomic sequences, to the end from anywhere.
    fn goto(&mut self, frame: &mut Frame) -> Option<Vec<Stmt>> {
        let back = frame.mode == Mode::Plain && frame.cyclic && !frame.labels.is_empty();
        let label = if back && self.rng.chance(50) {
            self.rng.pick(&frame.labels).cloned()?
        } else {
            frame.end_label_used = true;
            frame.end_label.clone()?
        };
        let guard = Stmt::Expr(self.guard(frame));
        if self.rng.chance(60) && self.mix.has(Feature::Else) && !self.world.has_exclusive {
            return Some(vec![Stmt::If(vec![vec![guard, Stmt::Goto(label)], vec![Stmt::Else]])]);
        }
        Some(vec![guard, Stmt::Goto(label)])
    }

    /// An assertion that usually holds.
    fn assertion(&mut self, frame: &Frame) -> Expr {
        let condition = self.condition(frame, 1);
        if let (true, Some(probe)) = (self.mix.has(Feature::Probe) && self.rng.chance(15), self.probe(frame))
        {
            return Expr::binary(BinOp::Or, probe, condition);
        }
        match self.rng.below(4) {
            0 => condition,
            1 => Expr::binary(BinOp::Or, condition, self.condition(frame, 1)),
            _ => Expr::binary(BinOp::Lt, self.atom(frame), Expr::Num(self.rng.range(2, 4))),
        }
    }

    fn print(&mut self, frame: &Frame) -> Stmt {
        let mtype = self.pick_leaf(frame, |l| matches!(l.ty, Type::Mtype(_)) && l.is_plain());
        if let (Some(leaf), true) = (mtype, self.rng.chance(30)) {
            return Stmt::Printm(Expr::var(leaf.base()));
        }
        match self.rng.below(3) {
            0 => Stmt::Printf("here\\n".into(), vec![]),
            1 => Stmt::Printf("%d %x\\n".into(), vec![self.atom(frame), self.number(frame, 1)]),
            _ => Stmt::Printf("%u 100%% %o".into(), vec![self.atom(frame), Expr::word("_pid")]),
        }
    }

    /// A declaration in the middle of a block: scalar or array, with and without a value.
    fn declare_local(&mut self, frame: &mut Frame) -> Stmt {
        let ty = self.scalar_type();
        // A name may come again in another block, but never hides a visible one.
        let free = |k: &usize| !frame.declared.contains(&format!("b{k}"));
        let again = (0..9).find(free).filter(|_| self.mix.has(Feature::Reuse) && frame.proc.is_some());
        let array = self.mix.has(Feature::Array) && self.rng.chance(20);
        let len = (array && !matches!(ty, Type::Unsigned(_))).then_some(2);
        let name = again.map_or_else(|| self.fresh("d"), |k| format!("b{k}"));
        let init = match self.rng.below(3) {
            1 => Init::Expr(self.initial_constant(&ty)),
            2 if len.is_none() => Init::Expr(self.initial_value(frame, &ty)),
            _ => Init::None,
        };
        frame.declared.push(name.clone());
        frame.leaves.push(Leaf::new(&name, len, ty.clone()));
        Stmt::Decl(Decl { ..plain_decl(ty, &name, len, init) })
    }

    /// Arguments for an inline.
    fn inline_args(&mut self, frame: &Frame, params: &[Param]) -> Option<Vec<Expr>> {
        let mut args = Vec::new();
        for param in params {
            args.push(match param {
                Param::Variable => Expr::VariableRef(Box::new(self.numeric_target(frame)?)),
                Param::Chan(signature) => self.some_chan(frame, *signature)?,
                Param::Value => match self.rng.below(3) {
                    0 => Expr::Num(self.rng.range(0, 2)),
                    1 => self.atom(frame),
                    _ => Expr::binary(BinOp::Add, self.atom(frame), Expr::Num(1)),
                },
            });
        }
        Some(args)
    }

    fn call_inline(&mut self, frame: &Frame) -> Option<Vec<Stmt>> {
        let steady = frame.mode == Mode::DStep;
        let all: Vec<_> =
            self.world.inlines.iter().filter(|i| !i.returns && (i.steady || !steady)).cloned().collect();
        let inline = self.rng.pick(&all)?.clone();
        let args = self.inline_args(frame, &inline.params)?;
        Some(vec![Stmt::Call(inline.name, args)])
    }

    fn call_returning(&mut self, frame: &Frame) -> Option<Vec<Stmt>> {
        let all: Vec<_> = self.world.inlines.iter().filter(|i| i.returns).cloned().collect();
        let inline = self.rng.pick(&all)?.clone();
        let args = self.inline_args(frame, &inline.params)?;
        let target = self.numeric_target(frame)?;
        Some(vec![Stmt::AssignCall(target, inline.name, args)])
    }

    fn ifdef(&mut self, frame: &mut Frame, depth: u32) -> Option<Vec<Stmt>> {
        let name = self.rng.pick(&self.world.flags).cloned()?;
        let before = frame.clone();
        let then = self.block(frame, 1, depth);
        let otherwise = if self.rng.chance(60) { self.block(frame, 1, depth) } else { Vec::new() };
        // Labels inside may be left out, so that nothing may jump there.
        let (used, roles) = (frame.end_label_used, frame.roles.clone());
        *frame = Frame { end_label_used: used, roles, ..before };
        let marker = Stmt::Expr(Expr::word("skip"));
        Some(vec![Stmt::Ifdef { name, negated: self.rng.chance(30), then, otherwise }, marker])
    }

    fn set_priority(&mut self) -> Stmt {
        let value = Expr::Num(self.rng.range(1, 3));
        if self.rng.chance(30) {
            return Stmt::Assign(VariableRef::name("_priority"), value);
        }
        // Process 0 lives longest; the verifier does not restore the priority of one that is gone.
        let pid = if self.rng.chance(50) { Expr::word("_pid") } else { Expr::Num(0) };
        Stmt::SetPriority(pid, value)
    }

    /// A hidden variable is written and read within one step, since it is not part of the state.
    fn hidden_pair(&mut self, frame: &Frame) -> Option<Vec<Stmt>> {
        if self.world.hidden_receives {
            return None;
        }
        let hidden = self.pick_leaf(frame, |l| l.write_only)?;
        let target = self.numeric_target(frame)?;
        let name = hidden.base().to_string();
        let value = self.value_for(frame, &Type::Byte, false);
        let read = Expr::binary(BinOp::BitAnd, Expr::var(name.clone()), Expr::Num(1));
        Some(vec![Stmt::DStep(vec![
            Stmt::Assign(VariableRef::name(name), value),
            Stmt::Assign(target, read),
        ])])
    }
}
