//! Which cells are packed alike: the elements of an array must be, since an index picks one of them, and
//! others are not. A *column* is a scalar, or what one member of an array's elements is in all of them.

use promela::ir::{Place, Program, Type, Var};

/// Where a cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The column, among those of its variables.
    pub column: u32,
    /// Its element.
    pub index: u32,
}

/// The cells of some variables, as columns.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Of every cell.
    pub cells: Vec<Spot>,
    /// How many elements each column has.
    pub sizes: Vec<u32>,
}

impl Columns {
    /// The columns of variables.
    pub fn new(program: &Program, vars: &[Var], n_cells: u32) -> Columns {
        let none = Spot { column: u32::MAX, index: 0 };
        let mut columns = Columns { cells: vec![none; n_cells as usize], sizes: Vec::new() };
        for var in vars {
            let first = columns.sizes.len();
            columns.sizes.resize(first + leaves(program, &var.ty), 0);
            columns.fill(program, &var.ty, var.cell as usize, first);
        }
        // What no variable is known for is a column by itself.
        for cell in 0..columns.cells.len() {
            if columns.cells[cell] == none {
                columns.cells[cell] = Spot { column: columns.sizes.len() as u32, index: 0 };
                columns.sizes.push(1);
            }
        }
        columns
    }

    fn fill(&mut self, program: &Program, ty: &Type, cell: usize, leaf: usize) {
        match ty {
            Type::Scalar(_) => {
                self.cells[cell] = Spot { column: leaf as u32, index: self.sizes[leaf] };
                self.sizes[leaf] += 1;
            }
            Type::Array(element, len) => {
                let size = program.cells_of(element) as usize;
                (0..*len as usize).for_each(|i| self.fill(program, element, cell + i * size, leaf));
            }
            Type::Struct(id) => {
                let mut leaf = leaf;
                for field in &program.structs[id.index()].fields {
                    self.fill(program, &field.ty, cell + field.offset as usize, leaf);
                    leaf += leaves(program, &field.ty);
                }
            }
        }
    }

    /// How far an index of a place moves within the column.
    pub fn stride(&self, place: &Place, index: usize) -> u32 {
        let first = self.cells[place.cell as usize];
        let stride = place.indices[index].stride as usize;
        match self.cells.get(place.cell as usize + stride) {
            Some(next) if next.column == first.column && next.index > first.index => next.index - first.index,
            // There is one element.
            _ => 0,
        }
    }
}

fn leaves(program: &Program, ty: &Type) -> usize {
    match ty {
        Type::Scalar(_) => 1,
        Type::Array(element, _) => leaves(program, element),
        Type::Struct(id) => program.structs[id.index()].fields.iter().map(|f| leaves(program, &f.ty)).sum(),
    }
}
