//! Where buffers are: which cells of memory are buffered, and the local cells that a buffer takes.
//!
//! TSO: a count, then for every entry the number of a cell of memory (its index among the globals plus 1; 0
//! where there is no entry) and a value. PSO: the number of all entries, and for every buffered variable an
//! array of counts and as many copies of the variable as a buffer has entries. What no entry uses is 0, so
//! that equal buffers are equal states.

use super::make;
use super::shared::Role;
use super::{Model, Settings};
use promela::ir::{
    Action, Base, Expr, ExprKind, Field, Place, ProctypeId, Program, Scalar, Struct, StructId, Type, Var,
    visit,
};
use promela::source::Span;

/// The cells of memory that are buffered.
pub(super) struct Cells {
    /// For every global cell: the variable that it belongs to, if that is buffered.
    variable: Vec<Option<usize>>,
    /// The scalar of every global cell.
    pub scalars: Vec<Scalar>,
    /// The names of all global cells.
    names: Vec<String>,
    /// The global variables.
    pub globals: Vec<Var>,
}

impl Cells {
    pub fn new(program: &Program, roles: &[Role]) -> Cells {
        let n = program.n_global_cells as usize;
        let (mut variable, mut scalars) = (vec![None; n], Vec::with_capacity(n));
        for (index, (var, role)) in program.globals.iter().zip(roles).enumerate() {
            let first = scalars.len();
            program.scalars_of(&var.ty, &mut scalars);
            if *role == Role::Buffered {
                variable[first..scalars.len()].fill(Some(index));
            }
        }
        let mut names = Vec::with_capacity(n);
        program.globals.iter().for_each(|var| name_cells(program, &var.ty, &var.name, &mut names));
        Cells { variable, scalars, names, globals: program.globals.clone() }
    }

    /// The buffered variable that a place is in.
    pub fn of(&self, place: &Place) -> Option<usize> {
        match place.base {
            Base::Global => self.variable.get(place.cell as usize).copied().flatten(),
            Base::Local | Base::Scratch => None,
        }
    }

    /// The buffered variable that an action stores to.
    pub fn stored_by(&self, action: &Action) -> Option<usize> {
        match action {
            Action::Assign(place, _) => self.of(place),
            _ => None,
        }
    }

    /// How many loads of buffered cells an action has.
    pub fn loads(&self, action: &Action) -> usize {
        let mut loads = 0;
        visit::walk_action(action, &mut |expr| loads += usize::from(self.is_load(expr)));
        loads
    }

    fn is_load(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Load(place) if self.of(place).is_some())
    }

    /// The cells of a buffered variable.
    pub fn range(&self, variable: usize) -> std::ops::Range<u32> {
        let first = self.globals[variable].cell;
        let len = self.variable[first as usize..].iter().take_while(|of| **of == Some(variable)).count();
        first..first + len as u32
    }

    /// The number of a buffered cell among those.
    pub fn rank(&self, cell: u32) -> u32 {
        self.variable[..cell as usize].iter().flatten().count() as u32
    }

    /// How the model calls a cell of memory.
    pub fn name(&self, cell: u32) -> String {
        self.names[cell as usize].clone()
    }

    fn all(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.scalars.iter().zip(&self.variable).filter(|(_, of)| of.is_some()).map(|(scalar, _)| *scalar)
    }
}

/// The buffer of the processes of one proctype.
pub(super) struct Buffer {
    pub model: Model,
    pub bound: u32,
    /// Where there is no entry this is 0.
    pub count: Place,
    /// TSO: the first cell of the numbers of cells and of the values, and their scalars.
    numbers: (u32, Scalar),
    values: (u32, Scalar),
    /// PSO: for every global variable the first cells of its counts and of its values.
    mirrors: Vec<Option<(u32, u32)>>,
    /// Cells of every global variable.
    sizes: Vec<u32>,
}

impl Buffer {
    /// Adds a buffer to a proctype.
    pub fn new(program: &mut Program, id: ProctypeId, cells: &Cells, settings: &Settings) -> Buffer {
        let Settings { model, bound, .. } = *settings;
        let sizes = program.globals.iter().map(|var| program.cells_of(&var.ty)).collect();
        // All entries of all cells may be more than a byte can count.
        let count_scalar = if model == Model::Tso { Scalar::Byte } else { Scalar::Short };
        let count = add(program, id, COUNT, Type::Scalar(count_scalar));
        let mut buffer = Buffer {
            model,
            bound,
            count: Place {
                base: Base::Local,
                cell: count,
                indices: Vec::new(),
                scalar: count_scalar,
                span: Span::NONE,
            },
            numbers: (0, Scalar::Byte),
            values: (0, Scalar::Byte),
            mirrors: vec![None; program.globals.len()],
            sizes,
        };
        match model {
            Model::Tso => {
                let number = if program.n_global_cells < 255 { Scalar::Byte } else { Scalar::Int };
                let value = value_scalar(cells);
                let array = |scalar| Type::Array(Box::new(Type::Scalar(scalar)), bound);
                buffer.numbers = (add(program, id, CELL, array(number)), number);
                buffer.values = (add(program, id, VALUE, array(value)), value);
            }
            Model::Pso => {
                for variable in 0..cells.globals.len() {
                    let var = &cells.globals[variable];
                    if cells.variable.get(var.cell as usize).copied().flatten() != Some(variable) {
                        continue;
                    }
                    let counts = counts_of(program, &var.ty);
                    let counts = add(program, id, &format!("{COUNT}_{}", var.name), counts);
                    let values = Type::Array(Box::new(var.ty.clone()), bound);
                    let values = add(program, id, &format!("{VALUE}_{}", var.name), values);
                    buffer.mirrors[variable] = Some((counts, values));
                }
            }
        }
        buffer
    }

    /// TSO: the number of the cell of an entry.
    pub fn number(&self, entry: u32) -> Place {
        self.entry(self.numbers, entry)
    }

    /// TSO: the value of an entry.
    pub fn value(&self, entry: u32) -> Place {
        self.entry(self.values, entry)
    }

    fn entry(&self, (first, scalar): (u32, Scalar), entry: u32) -> Place {
        Place { base: Base::Local, cell: first + entry, indices: Vec::new(), scalar, span: Span::NONE }
    }

    /// TSO: the number and the value of the entry with this index.
    pub fn entry_at(&self, index: Expr) -> [Place; 2] {
        [self.numbers, self.values].map(|array| {
            let mut place = self.entry(array, 0);
            place.indices.push(make::index(index.clone(), self.bound, 1));
            place
        })
    }

    /// PSO: how many entries there are for a place in memory.
    pub fn count_of(&self, variable: usize, globals: &[Var], place: &Place) -> Place {
        let (counts, _) = self.mirrors[variable].unwrap_or_default();
        let cell = counts + place.cell - globals[variable].cell;
        Place { base: Base::Local, cell, scalar: Scalar::Byte, ..place.clone() }
    }

    /// PSO: the value of an entry for a place in memory.
    pub fn value_of(&self, variable: usize, globals: &[Var], place: &Place, entry: Expr) -> Place {
        let (_, values) = self.mirrors[variable].unwrap_or_default();
        let cell = values + place.cell - globals[variable].cell;
        let size = self.sizes[variable];
        let mut made = Place { base: Base::Local, cell, ..place.clone() };
        match entry.kind {
            ExprKind::Const(entry) => made.cell += entry as u32 * size,
            _ => made.indices.insert(0, make::index(entry, self.bound, size)),
        }
        made
    }
}

/// Names of the local variables that make up a buffer; the compiler of trails and views knows them.
pub(crate) const COUNT: &str = "_buffer";
pub(crate) const CELL: &str = "_buffer_cell";
pub(crate) const VALUE: &str = "_buffer_value";

/// Appends the names of the cells of a variable.
fn name_cells(program: &Program, ty: &Type, name: &str, out: &mut Vec<String>) {
    match ty {
        Type::Scalar(_) => out.push(name.to_string()),
        Type::Array(element, len) => {
            (0..*len).for_each(|i| name_cells(program, element, &format!("{name}[{i}]"), out));
        }
        Type::Struct(id) => {
            for field in &program.structs[id.index()].fields {
                name_cells(program, &field.ty, &format!("{name}.{}", field.name), out);
            }
        }
    }
}

/// Adds a local variable, and returns its first cell.
fn add(program: &mut Program, id: ProctypeId, name: &str, ty: Type) -> u32 {
    let cells = program.cells_of(&ty);
    let proctype = &mut program.proctypes[id.index()];
    let cell = proctype.n_cells;
    proctype.locals.push(Var { name: name.to_string(), ty, cell, hidden: false, span: Span::NONE });
    proctype.n_cells += cells;
    cell
}

/// A scalar that holds the values of all buffered cells.
fn value_scalar(cells: &Cells) -> Scalar {
    let mut all = cells.all();
    let Some(first) = all.next() else { return Scalar::Byte };
    all.fold(first, |one, other| match (one, other) {
        _ if one == other => one,
        (Scalar::Int, _) | (_, Scalar::Int) => Scalar::Int,
        _ if is_byte(one) && is_byte(other) => Scalar::Byte,
        (Scalar::Short, other) | (other, Scalar::Short) if is_byte(other) => Scalar::Short,
        _ => Scalar::Int,
    })
}

fn is_byte(scalar: Scalar) -> bool {
    match scalar {
        Scalar::Short | Scalar::Int | Scalar::Lock => false,
        Scalar::Unsigned(bits) => bits <= 8,
        _ => true,
    }
}

/// The type with a byte in the place of every scalar.
fn counts_of(program: &mut Program, ty: &Type) -> Type {
    match ty {
        Type::Scalar(_) => Type::Scalar(Scalar::Byte),
        Type::Array(element, len) => Type::Array(Box::new(counts_of(program, element)), *len),
        Type::Struct(id) => {
            let Struct { name, fields, n_cells } = program.structs[id.index()].clone();
            let name = format!("{COUNT}_{name}");
            if let Some(known) = program.structs.iter().position(|other| other.name == name) {
                return Type::Struct(StructId(known as u32));
            }
            let count = |field: Field| Field { ty: counts_of(program, &field.ty), ..field };
            let fields = fields.into_iter().map(count).collect();
            program.structs.push(Struct { name, fields, n_cells });
            Type::Struct(StructId(program.structs.len() as u32 - 1))
        }
    }
}
