//! What is computed once from a program: widths of cells, the channels that each proctype creates, and where
//! the rarer mechanisms (`run`, trace assertions) occur.

use promela::ir::{
    Action, Base, ChanTypeId, EdgeId, Expr, ExprKind, InitStep, LocId, Place, Proctype, Program, RecvArg,
    Scalar, Var,
};

/// How a value is written into the bytes of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it: signed or not, and how many bits")]
pub enum Width {
    U8,
    U16,
    I16,
    I32,
}

impl Width {
    /// That of a cell or message field.
    pub fn of(scalar: Scalar) -> Self {
        match (scalar, scalar.width()) {
            (_, 1) => Width::U8,
            (Scalar::Short, _) => Width::I16,
            (_, 2) => Width::U16,
            _ => Width::I32,
        }
    }

    /// The narrowest width for numbers below `bound`.
    pub fn below(bound: usize) -> Self {
        match bound {
            0..=0x100 => Width::U8,
            0x101..=0x1_0000 => Width::U16,
            _ => Width::I32,
        }
    }

    /// In bytes.
    pub fn bytes(self) -> usize {
        match self {
            Width::U8 => 1,
            Width::U16 | Width::I16 => 2,
            Width::I32 => 4,
        }
    }
}

/// Neighbouring cells of one width: states are written and read by such runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRun {
    /// The first cell.
    pub first: usize,
    /// How many.
    pub n: usize,
    /// Their width.
    pub width: Width,
}

/// The runs of a list of cells in ascending order.
fn runs(cells: impl Iterator<Item = (usize, Width)>) -> Vec<CellRun> {
    let mut runs: Vec<CellRun> = Vec::new();
    for (cell, width) in cells {
        match runs.last_mut() {
            Some(run) if run.width == width && run.first + run.n == cell => run.n += 1,
            _ => runs.push(CellRun { first: cell, n: 1, width }),
        }
    }
    runs
}

/// Facts about a program that every step needs.
#[derive(Debug)]
pub struct Layout {
    /// Global cells that make states different.
    pub visible: Vec<CellRun>,
    /// What each global cell holds.
    pub globals: Vec<Scalar>,
    /// Hidden global cells.
    pub hidden: Vec<CellRun>,
    /// Bytes of all hidden cells together.
    pub hidden_bytes: usize,
    /// The channels that exist before any process does.
    pub global_channels: Vec<ChanTypeId>,
    /// Width of a proctype's number.
    pub proctype: Width,
    /// One for each proctype.
    pub processes: Vec<ProcessLayout>,
    /// One for each channel declaration.
    pub channels: Vec<ChannelLayout>,
    /// The trace assertion, if there is one.
    pub trace: Option<TraceLayout>,
}

/// Facts about the processes of one proctype.
#[derive(Debug)]
pub struct ProcessLayout {
    /// What each cell holds.
    pub scalars: Vec<Scalar>,
    /// How they are written.
    pub cells: Vec<CellRun>,
    /// Width of a location's number.
    pub location: Width,
    /// The channels that a process creates when it starts.
    pub channels: Vec<ChanTypeId>,
    /// Whether some edge may start a process.
    pub any_run: bool,
}

/// Facts about the channels of one declaration.
#[derive(Debug)]
pub struct ChannelLayout {
    /// Widths of the fields of a message.
    pub fields: Vec<Width>,
    /// Width of the number of messages.
    pub len: Width,
}

/// Facts about the trace assertion.
#[derive(Debug)]
pub struct TraceLayout {
    /// Width of its location.
    pub location: Width,
    /// The location at its end, where nothing more is allowed.
    pub end: Option<LocId>,
    /// Its events: their channels are those that it watches.
    pub events: Vec<EdgeId>,
}

impl Layout {
    /// Computes the facts about `program`.
    pub fn new(program: &Program) -> Self {
        let (mut visible, mut hidden) = (Vec::new(), Vec::new());
        let scalars = cell_scalars(program, &program.globals, program.n_global_cells);
        let hidden_cells = hidden_cells(program);
        for (cell, &scalar) in scalars.iter().enumerate() {
            let list = if hidden_cells[cell] { &mut hidden } else { &mut visible };
            list.push((cell, Width::of(scalar)));
        }
        Layout {
            hidden_bytes: hidden.iter().map(|&(_, width): &(usize, Width)| width.bytes()).sum(),
            visible: runs(visible.into_iter()),
            globals: scalars,
            hidden: runs(hidden.into_iter()),
            global_channels: created(&program.init),
            proctype: Width::below(program.proctypes.len()),
            processes: program.proctypes.iter().map(|p| ProcessLayout::new(program, p)).collect(),
            channels: program
                .chan_types
                .iter()
                .map(|ty| ChannelLayout {
                    fields: ty.fields.iter().map(|&scalar| Width::of(scalar)).collect(),
                    len: Width::below((ty.capacity as usize).saturating_add(1)),
                })
                .collect(),
            trace: program.trace.and_then(|id| program.proctypes.get(id.index())).map(TraceLayout::new),
        }
    }
}

impl ProcessLayout {
    fn new(program: &Program, proctype: &Proctype) -> Self {
        let scalars = cell_scalars(program, &proctype.locals, proctype.n_cells);
        ProcessLayout {
            cells: runs(scalars.iter().map(|&scalar| Width::of(scalar)).enumerate()),
            scalars,
            location: Width::below(proctype.locations.len()),
            channels: created(&proctype.init),
            any_run: proctype.edges.iter().any(|edge| find_run(&edge.action).is_some()),
        }
    }
}

impl TraceLayout {
    fn new(trace: &Proctype) -> Self {
        let is_event = |id: &EdgeId| matches!(trace.edge(*id).action, Action::Event { .. });
        let ends = |id: &EdgeId| trace.edges.get(id.index()).is_some_and(|e| matches!(e.action, Action::End));
        TraceLayout {
            location: Width::below(trace.locations.len()),
            end: trace.locations.iter().position(|l| l.edges.iter().any(ends)).map(|i| LocId(i as u32)),
            events: (0..trace.edges.len() as u32).map(EdgeId).filter(is_event).collect(),
        }
    }
}

/// The scalar of each cell; cells that no variable covers count as `int`.
pub fn cell_scalars(program: &Program, vars: &[Var], n_cells: u32) -> Vec<Scalar> {
    let mut cells = vec![Scalar::Int; n_cells as usize];
    let mut scalars = Vec::new();
    for var in vars {
        scalars.clear();
        program.scalars_of(&var.ty, &mut scalars);
        for (cell, &scalar) in cells.iter_mut().skip(var.cell as usize).zip(&scalars) {
            *cell = scalar;
        }
    }
    cells
}

/// Which global cells belong to hidden variables.
pub fn hidden_cells(program: &Program) -> Vec<bool> {
    let mut cells = vec![false; program.n_global_cells as usize];
    for var in program.globals.iter().filter(|var| var.hidden) {
        let len = program.cells_of(&var.ty) as usize;
        for cell in cells.iter_mut().skip(var.cell as usize).take(len) {
            *cell = true;
        }
    }
    cells
}

/// The channels that initialisation creates, in order.
fn created(steps: &[InitStep]) -> Vec<ChanTypeId> {
    let channel = |step: &InitStep| match step {
        InitStep::NewChan(_, ty) => Some(*ty),
        InitStep::Assign(..) => None,
    };
    steps.iter().filter_map(channel).collect()
}

/// The `run` that executing an action performs.
pub fn find_run(action: &Action) -> Option<&Expr> {
    let mut todo: Vec<&Expr> = match action {
        Action::Guard(expr) | Action::Assign(_, expr) | Action::Assert(expr) => vec![expr],
        Action::Printf(_, args) => args.iter().collect(),
        _ => return None,
    };
    while let Some(expr) = todo.pop() {
        match &expr.kind {
            ExprKind::Run { .. } => return Some(expr),
            ExprKind::Unary(_, a) => todo.push(a),
            ExprKind::Binary(_, a, b) => todo.extend([&**a, &**b]),
            ExprKind::Cond(a, b, c) => todo.extend([&**a, &**b, &**c]),
            _ => {}
        }
    }
    None
}

/// Whether every id and cell that a program mentions exists, so that a machine may index by them. The
/// verifier of the intermediate form promises more than this; this is the part without which an interpreter
/// could panic.
pub(super) fn check(program: &Program) -> Result<(), String> {
    let check = Check { program, locals: 0, locations: 0 };
    check.steps(&program.init)?;
    for process in &program.active {
        check.proctype(process.proctype.index())?;
    }
    if let Some(trace) = program.trace {
        check.proctype(trace.index())?;
    }
    for invariant in &program.invariants {
        check.expr(&invariant.expr)?;
    }
    program.proctypes.iter().try_for_each(|proctype| {
        let check = Check { program, locals: proctype.n_cells as usize, locations: proctype.locations.len() };
        check.body(proctype).map_err(|what| format!("proctype {}: {what}", proctype.name))
    })
}

struct Check<'a> {
    program: &'a Program,
    locals: usize,
    locations: usize,
}

impl Check<'_> {
    fn body(&self, proctype: &Proctype) -> Result<(), String> {
        self.location(proctype.start)?;
        if proctype.n_params > proctype.n_cells {
            return Err("more parameters than cells".into());
        }
        self.steps(&proctype.init)?;
        proctype.provided.iter().try_for_each(|expr| self.expr(expr))?;
        for location in &proctype.locations {
            if location.edges.iter().any(|edge| edge.index() >= proctype.edges.len()) {
                return Err("no such edge".into());
            }
        }
        for edge in &proctype.edges {
            if !matches!(edge.action, Action::End) {
                self.location(edge.to)?;
            }
            self.action(&edge.action)?;
        }
        Ok(())
    }

    fn action(&self, action: &Action) -> Result<(), String> {
        match action {
            Action::Skip | Action::Else | Action::C(_) | Action::End => Ok(()),
            Action::Guard(expr) | Action::Assert(expr) | Action::Printm(expr, _) => self.expr(expr),
            Action::Assign(place, expr) => self.place(place).and_then(|()| self.expr(expr)),
            Action::SetPriority(a, b) => self.expr(a).and_then(|()| self.expr(b)),
            Action::Printf(_, args) => args.iter().try_for_each(|arg| self.expr(arg)),
            Action::Send { chan, args, .. } => {
                self.expr(chan).and_then(|()| args.iter().try_for_each(|arg| self.expr(arg)))
            }
            Action::Receive { chan, args, .. } | Action::Event { chan, args, .. } => {
                self.expr(chan).and_then(|()| self.recv_args(args))
            }
            Action::Lock(place) | Action::Unlock(place) => self.place(place),
            Action::DStep { entry, exit, guards } => {
                [Some(*entry), Some(*exit), *guards].into_iter().flatten().try_for_each(|l| self.location(l))
            }
        }
    }

    fn expr(&self, expr: &Expr) -> Result<(), String> {
        let mut todo = vec![expr];
        while let Some(expr) = todo.pop() {
            match &expr.kind {
                ExprKind::Load(place) => self.place(place)?,
                ExprKind::Unary(_, a)
                | ExprKind::Chan(_, a)
                | ExprKind::Enabled(a)
                | ExprKind::PcValue(a)
                | ExprKind::GetPriority(a) => todo.push(a),
                ExprKind::Binary(_, a, b) => todo.extend([&**a, &**b]),
                ExprKind::Cond(a, b, c) => todo.extend([&**a, &**b, &**c]),
                ExprKind::Poll { chan, args, .. } => {
                    todo.push(chan);
                    self.recv_args(args)?;
                }
                ExprKind::Run { proctype, args, .. } => {
                    self.proctype(proctype.index())?;
                    todo.extend(args);
                }
                ExprKind::RemoteLabel { proctype, pid, .. } => {
                    self.proctype(proctype.index())?;
                    todo.extend(pid.as_deref());
                }
                ExprKind::RemoteVar { proctype, pid, place } => {
                    self.proctype(proctype.index())?;
                    todo.extend(pid.as_deref());
                    todo.extend(place.indices.iter().map(|index| &index.value));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn recv_args(&self, args: &[RecvArg]) -> Result<(), String> {
        args.iter().try_for_each(|arg| match arg {
            RecvArg::Store(place) => self.place(place),
            RecvArg::Ignore => Ok(()),
            RecvArg::Match(expr) => self.expr(expr),
        })
    }

    fn place(&self, place: &Place) -> Result<(), String> {
        let cells = match place.base {
            Base::Global => self.program.n_global_cells as usize,
            Base::Local => self.locals,
            Base::Scratch => return Ok(()),
        };
        let last = place.indices.iter().fold(place.cell as usize, |cell, index| {
            cell.saturating_add((index.len.saturating_sub(1) as usize).saturating_mul(index.stride as usize))
        });
        if last >= cells {
            return Err(format!("no such cell: {last} of {cells}"));
        }
        place.indices.iter().try_for_each(|index| self.expr(&index.value))
    }

    fn steps(&self, steps: &[InitStep]) -> Result<(), String> {
        steps.iter().try_for_each(|step| match step {
            InitStep::Assign(place, expr) => self.place(place).and_then(|()| self.expr(expr)),
            InitStep::NewChan(place, ty) if ty.index() < self.program.chan_types.len() => self.place(place),
            InitStep::NewChan(..) => Err("no such channel declaration".into()),
        })
    }

    fn proctype(&self, index: usize) -> Result<(), String> {
        if index < self.program.proctypes.len() { Ok(()) } else { Err("no such proctype".into()) }
    }

    fn location(&self, id: LocId) -> Result<(), String> {
        if id.index() < self.locations { Ok(()) } else { Err(format!("no such location: {}", id.0)) }
    }
}
