//! What a program does with each variable.
//!
//! Collected from the finished automata, where every name is resolved; a few uses leave no trace there
//! (bounds, `xr` and `xs`, arguments that an inline ignores): their names are collected from the tree.

use super::walk;
use crate::ast::{self, Step, StmtKind, Unit};
use crate::ir::visit;
use crate::ir::{
    Action, Base, ChanTypeId, Expr, ExprKind, InitStep, Place, ProctypeId, ProctypeKind, Program, RecvArg,
    Var,
};
use crate::source::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A variable: its proctype, unless it is global, and its index there.
pub type VarKey = (Option<ProctypeId>, usize);

/// What is done with one variable.
#[derive(Clone, Debug, Default)]
pub struct Use {
    /// Its value matters to something else than itself.
    pub read: bool,
    /// Where it is first assigned to, except by its own declaration.
    pub written: Option<Span>,
    /// Where it first takes a value from a message.
    pub received: Option<Span>,
    /// Its declaration gives it a value.
    pub initialised: bool,
    /// The declaration of the channel that it starts with.
    pub chan_type: Option<ChanTypeId>,
    /// Where it is first sent to, as a channel.
    pub sent_to: Option<Span>,
    /// Where it is first received from, as a channel.
    pub received_from: Option<Span>,
    /// It is asked about, or given to somebody whose doings are not followed.
    pub escapes: bool,
}

/// The uses of all variables.
pub struct Uses {
    globals: Vec<Use>,
    locals: Vec<Vec<Use>>,
    /// Channel variables that may stand for the same channel: one gives its value to the other.
    pub aliases: Vec<(VarKey, VarKey)>,
    /// Names used in ways that automata do not show.
    mentioned: HashSet<Arc<str>>,
    /// Declarations with `show`.
    shown: HashSet<Span>,
}

impl Uses {
    /// Looks through a program.
    pub fn of(unit: &Unit, program: &Program) -> Self {
        let mut uses = Uses {
            globals: vec![Use::default(); program.globals.len()],
            locals: program.proctypes.iter().map(|p| vec![Use::default(); p.locals.len()]).collect(),
            aliases: Vec::new(),
            mentioned: HashSet::new(),
            shown: HashSet::new(),
        };
        uses.mentions(unit);
        let mut collector = Collector { program, uses };
        collector.program();
        collector.uses
    }

    /// The use of a variable.
    pub fn of_var(&self, key: VarKey) -> &Use {
        match key.0 {
            None => &self.globals[key.1],
            Some(proctype) => &self.locals[proctype.index()][key.1],
        }
    }

    /// Whether the variable is used in a way that is not looked into, or is there for people to see.
    pub fn is_mentioned(&self, var: &Var) -> bool {
        self.mentioned.contains(&*var.name) || self.shown.contains(&var.span)
    }

    fn mentions(&mut self, unit: &Unit) {
        for item in &unit.items {
            match item {
                ast::Item::Decl(decl) => self.declaration(decl),
                ast::Item::Typedef(typedef) => typedef.fields.iter().for_each(|d| self.declaration(d)),
                ast::Item::Proctype(p) => {
                    let active = p.active.iter().filter_map(|a| a.count.as_ref());
                    active.chain(&p.priority).for_each(|e| self.mention(e));
                }
                _ => {}
            }
        }
        for body in walk::bodies(unit) {
            walk::steps(body.block, &mut |step| match step {
                Step::Decl(decl) => self.declaration(decl),
                Step::Exclusive(x) => {
                    let names = x.chans.iter().filter_map(|c| c.parts.first());
                    self.mentioned.extend(names.map(|p| p.name.name.clone()));
                }
                Step::Stmt(_) | Step::Unless(..) => {}
            });
            walk::statements(body.block, &mut |stmt| {
                if let StmtKind::Inline(inline) = &stmt.kind {
                    inline.args.iter().for_each(|e| self.mention(e));
                }
            });
        }
    }

    fn declaration(&mut self, decl: &ast::Decl) {
        for var in &decl.vars {
            var.array.iter().chain(&var.bits).for_each(|e| self.mention(e));
            if decl.visibility == Some(ast::Visibility::Show) {
                self.shown.insert(var.name.span);
            }
        }
    }

    fn mention(&mut self, e: &ast::Expr) {
        walk::references(e, &mut |r| {
            self.mentioned.extend(r.parts.first().map(|p| p.name.name.clone()));
        });
    }
}

/// The variable that a place of this proctype belongs to.
pub fn variable_at(program: &Program, owner: Option<ProctypeId>, place: &Place) -> Option<VarKey> {
    let (owner, vars) = match place.base {
        Base::Global => (None, &program.globals),
        Base::Local => (owner, &program.proctype(owner?).locals),
        Base::Scratch => return None,
    };
    let index = vars.partition_point(|v| v.cell <= place.cell).checked_sub(1)?;
    Some((owner, index))
}

struct Collector<'a> {
    program: &'a Program,
    uses: Uses,
}

impl<'a> Collector<'a> {
    fn program(&mut self) {
        let program = self.program;
        self.init(None, &program.init);
        for (i, proctype) in program.proctypes.iter().enumerate() {
            let owner = Some(ProctypeId(i as u32));
            self.init(owner, &proctype.init);
            proctype.provided.iter().for_each(|e| self.read(owner, e, None));
            let is_claim = !matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init);
            for edge in &proctype.edges {
                self.action(owner, &edge.action, is_claim);
            }
        }
        program.invariants.iter().for_each(|i| self.read(None, &i.expr, None));
        for ltl in &program.ltl {
            visit::walk_formula(&ltl.formula, &mut |e| self.read(None, e, None));
        }
        for property in &program.state_properties {
            visit::walk_state_formula(&property.formula, &mut |e| self.read(None, e, None));
        }
    }

    fn init(&mut self, owner: Option<ProctypeId>, steps: &'a [InitStep]) {
        for step in steps {
            match step {
                InitStep::Assign(place, e) => {
                    let key = self.key(owner, place);
                    if let Some(u) = self.var(key) {
                        u.initialised = true;
                    }
                    self.assigned(owner, key, e);
                }
                InitStep::NewChan(place, ty) => {
                    let key = self.key(owner, place);
                    if let Some(u) = self.var(key) {
                        u.initialised = true;
                        u.chan_type = Some(*ty);
                    }
                }
            }
        }
    }

    fn key(&self, owner: Option<ProctypeId>, place: &Place) -> Option<VarKey> {
        variable_at(self.program, owner, place)
    }

    fn var(&mut self, key: Option<VarKey>) -> Option<&mut Use> {
        let (owner, index) = key?;
        match owner {
            None => self.uses.globals.get_mut(index),
            Some(p) => self.uses.locals[p.index()].get_mut(index),
        }
    }

    fn declared_at(&self, key: VarKey) -> Span {
        match key.0 {
            None => self.program.globals[key.1].span,
            Some(p) => self.program.proctype(p).locals[key.1].span,
        }
    }

    fn action(&mut self, owner: Option<ProctypeId>, action: &'a Action, is_claim: bool) {
        match action {
            Action::Guard(e) | Action::Assert(e) | Action::Printm(e, _) => self.read(owner, e, None),
            Action::Printf(_, args) => args.iter().for_each(|e| self.read(owner, e, None)),
            Action::SetPriority(a, b) => {
                self.read(owner, a, None);
                self.read(owner, b, None);
            }
            Action::Assign(place, e) => {
                self.write(owner, place, false);
                let key = self.key(owner, place);
                // A declaration behind the first statement; without an initial value its 0 has the variable's
                // place.
                let gives_value = e.span != place.span;
                if let Some(key) = key.filter(|&key| gives_value && self.declared_at(key) == place.span)
                    && let Some(u) = self.var(Some(key))
                {
                    u.initialised = true;
                }
                self.assigned(owner, key, e);
            }
            Action::Send { chan, args, .. } => {
                self.channel(owner, chan, |u, span| {
                    u.sent_to.get_or_insert(span);
                });
                args.iter().for_each(|e| self.read(owner, e, None));
            }
            Action::Receive { chan, args, .. } => {
                self.channel(owner, chan, |u, span| {
                    u.received_from.get_or_insert(span);
                });
                self.fields(owner, args, !is_claim);
            }
            Action::Event { chan, args, .. } => {
                self.read(owner, chan, None);
                self.fields(owner, args, false);
            }
            Action::Lock(place) | Action::Unlock(place) => self.load(owner, place, None),
            Action::Skip | Action::Else | Action::DStep { .. } | Action::C(_) | Action::End => {}
        }
    }

    fn fields(&mut self, owner: Option<ProctypeId>, args: &'a [RecvArg], stores: bool) {
        for arg in args {
            match arg {
                RecvArg::Match(e) => self.read(owner, e, None),
                RecvArg::Store(place) if stores => self.write(owner, place, true),
                RecvArg::Store(place) => self.load(owner, place, None),
                RecvArg::Ignore => {}
            }
        }
    }

    /// The value of `e` goes to the variable `to`: what it reads of that variable itself does not count.
    fn assigned(&mut self, owner: Option<ProctypeId>, to: Option<VarKey>, e: &'a Expr) {
        if let ExprKind::Load(place) = &e.kind
            && place.scalar == crate::ir::Scalar::Chan
            && let (Some(to), Some(from)) = (to, self.key(owner, place))
        {
            self.alias(from, to);
            self.indices(owner, place);
            return;
        }
        self.read(owner, e, to);
    }

    /// Two channel variables may stand for the same channel from now on.
    fn alias(&mut self, from: VarKey, to: VarKey) {
        self.uses.aliases.push((from, to));
        if let Some(u) = self.var(Some(from)) {
            u.read = true;
        }
    }

    fn channel(&mut self, owner: Option<ProctypeId>, chan: &'a Expr, mark: impl Fn(&mut Use, Span)) {
        let ExprKind::Load(place) = &chan.kind else { return self.read(owner, chan, None) };
        let key = self.key(owner, place);
        if let Some(u) = self.var(key) {
            u.read = true;
            mark(u, chan.span);
        }
        self.indices(owner, place);
    }

    fn write(&mut self, owner: Option<ProctypeId>, place: &'a Place, received: bool) {
        self.indices(owner, place);
        let Some(key) = self.key(owner, place) else { return };
        let is_declaration = self.declared_at(key) == place.span;
        let Some(u) = self.var(Some(key)) else { return };
        if place.scalar == crate::ir::Scalar::Chan {
            // Which channel it is now is not known, unless an alias says so.
            u.escapes |= received;
        }
        if is_declaration {
            return;
        }
        u.written.get_or_insert(place.span);
        if received {
            u.received.get_or_insert(place.span);
        }
    }

    fn indices(&mut self, owner: Option<ProctypeId>, place: &'a Place) {
        place.indices.iter().for_each(|i| self.read(owner, &i.value, None));
    }

    fn load(&mut self, owner: Option<ProctypeId>, place: &'a Place, except: Option<VarKey>) {
        self.indices(owner, place);
        let key = self.key(owner, place);
        if key.is_none() || key == except {
            return;
        }
        if let Some(u) = self.var(key) {
            u.read = true;
            u.escapes = true;
        }
    }

    /// Everything that `e` reads, except for its own sake the variable `except`.
    fn read(&mut self, owner: Option<ProctypeId>, e: &'a Expr, except: Option<VarKey>) {
        match &e.kind {
            ExprKind::Load(place) => self.load(owner, place, except),
            ExprKind::Unary(_, a) => self.read(owner, a, except),
            ExprKind::Binary(_, a, b) => {
                self.read(owner, a, except);
                self.read(owner, b, except);
            }
            ExprKind::Cond(c, a, b) => {
                self.read(owner, c, None);
                self.read(owner, a, except);
                self.read(owner, b, except);
            }
            ExprKind::Chan(_, a) | ExprKind::Enabled(a) | ExprKind::PcValue(a) | ExprKind::GetPriority(a) => {
                self.read(owner, a, None);
            }
            ExprKind::Poll { chan, args, .. } => {
                self.read(owner, chan, None);
                self.fields(owner, args, false);
            }
            ExprKind::Run { proctype, args, .. } => self.run(owner, *proctype, args),
            ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|p| self.read(owner, p, None)),
            ExprKind::RemoteVar { pid, place, proctype } => {
                pid.iter().for_each(|p| self.read(owner, p, None));
                self.indices(owner, place);
                let key = self.key(Some(*proctype), place);
                if let Some(u) = self.var(key) {
                    u.read = true;
                    u.escapes = true;
                }
            }
            _ => {}
        }
    }

    fn run(&mut self, owner: Option<ProctypeId>, proctype: ProctypeId, args: &'a [Expr]) {
        for (i, arg) in args.iter().enumerate() {
            let param = Place {
                base: Base::Local,
                cell: i as u32,
                indices: Vec::new(),
                scalar: crate::ir::Scalar::Int,
                span: arg.span,
            };
            let to = self.key(Some(proctype), &param);
            match (&arg.kind, to) {
                (ExprKind::Load(place), Some(to)) if place.scalar == crate::ir::Scalar::Chan => {
                    match self.key(owner, place) {
                        Some(from) => self.alias(from, to),
                        None => self.read(owner, arg, None),
                    }
                    self.indices(owner, place);
                }
                _ => self.read(owner, arg, None),
            }
        }
    }
}

/// Which channel variables may stand for the same channel.
pub struct Groups(HashMap<VarKey, VarKey>);

impl Groups {
    /// Puts variables that give each other values into one group.
    pub fn of(aliases: &[(VarKey, VarKey)]) -> Self {
        let mut groups = Groups(HashMap::new());
        for &(a, b) in aliases {
            let (a, b) = (groups.root(a), groups.root(b));
            if a != b {
                groups.0.insert(a, b);
            }
        }
        groups
    }

    /// The variable that stands for the group; later questions take a shorter way.
    pub fn root(&mut self, key: VarKey) -> VarKey {
        let mut root = key;
        while let Some(&up) = self.0.get(&root) {
            root = up;
        }
        let mut at = key;
        while at != root {
            at = self.0.insert(at, root).unwrap_or(root);
        }
        root
    }
}
