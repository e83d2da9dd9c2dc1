//! Rules about cells: types, variables, places, initialisation.

use super::*;

impl Verifier<'_> {
    /// Structures: earlier ones inside, fields one behind the other, nesting bounded.
    pub(super) fn structs(&mut self) {
        let program = self.program;
        for (i, structure) in program.structs.iter().enumerate() {
            let mut depth = 1;
            self.within(format!("struct{i} ({})", structure.name), |v| {
                v.check(!structure.fields.is_empty(), || "it has no fields".to_owned());
                let mut end = 0;
                for field in &structure.fields {
                    v.within(format!("field {}", field.name), |v| {
                        v.check(field.offset == end, || format!("it is at {}, not {end}", field.offset));
                        let (cells, levels) = v.type_size(&field.ty);
                        end = end.saturating_add(cells).min(MAX_CELLS + 1);
                        depth = depth.max(levels + 1);
                    });
                }
                let n_cells = structure.n_cells;
                v.check(n_cells == end, || format!("it has {n_cells} cells, but its fields have {end}"));
                v.check(end <= MAX_CELLS, || "it has too many cells".to_owned());
                v.check(depth <= MAX_NESTING, || "it is nested too deeply".to_owned());
            });
            self.struct_depths.push(depth);
        }
    }

    /// Cells of one value of `ty` and how deeply it is nested; the structures checked so far may occur.
    fn type_size(&mut self, ty: &Type) -> (u32, usize) {
        let mut cells: u64 = 1;
        let mut levels = 0;
        let mut ty = ty;
        while let Type::Array(element, len) = ty {
            self.check(*len > 0, || "an array has no elements".to_owned());
            cells = cells.saturating_mul(u64::from(*len));
            levels += 1;
            ty = element;
        }
        match ty {
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Struct(id) => {
                match (self.program.structs.get(id.index()), self.struct_depths.get(id.index())) {
                    (Some(structure), Some(depth)) => {
                        cells = cells.saturating_mul(u64::from(structure.n_cells));
                        levels += depth;
                    }
                    (Some(_), None) => self.fail(format!("struct{} is not an earlier structure", id.0)),
                    _ => self.fail(format!("struct{} does not exist", id.0)),
                }
            }
            Type::Array(..) => {}
        }
        self.check(levels <= MAX_NESTING, || "the type is nested too deeply".to_owned());
        let size = u32::try_from(cells).ok().filter(|&cells| cells <= MAX_CELLS);
        self.check(size.is_some(), || format!("{cells} cells are more than {MAX_CELLS}"));
        (size.unwrap_or(0), levels)
    }

    pub(super) fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Unsigned(bits) => {
                self.check((1..=32).contains(&bits), || format!("unsigned of {bits} bits"));
            }
            Scalar::Mtype(id) => self.mtype(id),
            _ => {}
        }
    }

    pub(super) fn mtype(&mut self, id: MtypeId) {
        let exists = id.index() < self.program.mtypes.len();
        self.check(exists, || format!("mtype{} does not exist", id.0));
    }

    /// Variables fill the cells 0..n_cells in order.
    pub(super) fn vars(&mut self, vars: &[Var], n_cells: u32) {
        let mut end: u32 = 0;
        for var in vars {
            self.within(format!("variable {}", var.name), |v| {
                v.check(var.cell == end, || format!("it is at cell {}, not {end}", var.cell));
                let (cells, _) = v.type_size(&var.ty);
                end = end.saturating_add(cells);
            });
        }
        self.check(n_cells == end, || format!("there are {n_cells} cells, but the variables have {end}"));
        self.check(end <= MAX_CELLS, || format!("{end} cells are more than {MAX_CELLS}"));
    }

    /// Variables of a proctype, parameters first.
    pub(super) fn locals(&mut self, proctype: &Proctype) {
        self.vars(&proctype.locals, proctype.n_cells);
        let n_params = proctype.n_params;
        let whole = n_params == proctype.n_cells || proctype.locals.iter().any(|var| var.cell == n_params);
        self.check(whole, || format!("the first {n_params} cells, the parameters, are not whole variables"));
        for var in proctype.locals.iter().filter(|var| var.cell < n_params) {
            let array = matches!(var.ty, Type::Array(..));
            self.check(!array, || format!("the parameter {} is an array", var.name));
        }
    }

    pub(super) fn chan_type(&mut self, chan: &ChanType) {
        self.check(!chan.fields.is_empty(), || "its messages have no fields".to_owned());
        for field in &chan.fields {
            self.scalar(*field);
        }
        let cells = (chan.fields.len() as u64).saturating_mul(u64::from(chan.capacity));
        self.check(cells.max(chan.fields.len() as u64) <= u64::from(MAX_CELLS), || {
            format!("{} messages of {} fields are too many", chan.capacity, chan.fields.len())
        });
    }

    /// Initialisation of the globals, or of the locals of a proctype.
    pub(super) fn init(&mut self, steps: &[InitStep], locals: Option<&[Var]>) {
        for (i, step) in steps.iter().enumerate() {
            self.within(format!("initialisation {i}"), |v| {
                let place = match step {
                    InitStep::Assign(place, value) => {
                        v.condition(value, locals);
                        place
                    }
                    InitStep::NewChan(place, id) => {
                        let exists = id.index() < v.program.chan_types.len();
                        v.check(exists, || format!("chantype{} does not exist", id.0));
                        v.check(place.scalar == Scalar::Chan, || "a channel needs a cell for one".to_owned());
                        place
                    }
                };
                let base = if locals.is_some() { Base::Local } else { Base::Global };
                v.check(place.base == base, || "it writes to the wrong cells".to_owned());
                v.check(place.indices.is_empty(), || "it has an index that is not constant".to_owned());
                v.place_cell(place, locals);
            });
        }
    }

    /// A place, without the values of its indices: within one variable, and of the right scalar.
    pub(super) fn place_cell(&mut self, place: &Place, locals: Option<&[Var]>) {
        let vars = match (place.base, locals) {
            (Base::Global, _) => &self.program.globals,
            (Base::Local, Some(locals)) => locals,
            (Base::Local, None) => return self.fail("a local place where there is no process"),
            (Base::Scratch, _) => {
                self.scalar(place.scalar);
                let plain = place.cell == 0 && place.indices.is_empty();
                return self.check(plain, || "the write-only variable is one cell".to_owned());
            }
        };
        match resolve(self.program, vars, place) {
            Ok(scalar) if scalar == place.scalar => {}
            Ok(scalar) => {
                let (is, said) = (Type::Scalar(scalar), Type::Scalar(place.scalar));
                let (is, said) = (print::print_type(&is), print::print_type(&said));
                self.fail(format!("cell {} holds {is}, not {said}", place.cell));
            }
            Err(reason) => self.fail(reason),
        }
    }
}

/// The scalar of every cell that `place` may refer to, in a program whose types and variables are right.
pub(super) fn resolve(program: &Program, vars: &[Var], place: &Place) -> Result<Scalar, String> {
    let cell = place.cell;
    let after = vars.partition_point(|var| var.cell <= cell);
    let outside = || format!("cell {cell} is in no variable");
    let var = after.checked_sub(1).and_then(|i| vars.get(i)).ok_or_else(outside)?;
    let mut offset = cell - var.cell;
    if offset >= program.cells_of(&var.ty) {
        return Err(outside());
    }
    let mut indices = place.indices.iter();
    let mut next = indices.next();
    let mut ty = &var.ty;
    loop {
        match ty {
            Type::Scalar(scalar) if next.is_none() => return Ok(*scalar),
            Type::Scalar(_) => {
                return Err(format!("an index at cell {cell} belongs to no array of {}", var.name));
            }
            Type::Array(element, len) => {
                let size = program.cells_of(element);
                if next.is_some_and(|index| index.len == *len && index.stride == size) {
                    if offset >= size {
                        return Err(format!(
                            "an index of {} is applied to cell {cell}, not the first",
                            var.name
                        ));
                    }
                    next = indices.next();
                }
                offset %= size;
                ty = element;
            }
            Type::Struct(id) => {
                let fields = &program.structs[id.index()].fields;
                let field = fields[..].partition_point(|field| field.offset <= offset) - 1;
                offset -= fields[field].offset;
                ty = &fields[field].ty;
            }
        }
    }
}
