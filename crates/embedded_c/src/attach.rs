//! A program with C as text to a program with C that can be called.

use crate::compile::{Failed, Folder, Request, compile};
use crate::generate::{Region, generate};
use crate::object::Object;
use promela::ir::{
    Attached, Base, Expr, ExprKind, InitStep, Place, ProctypeId, Program, Scalar, Type, Var,
    verify::MAX_CELLS,
};
use promela::source::{Location, Span};
use std::sync::Arc;

/// Compiles the C of a program, adds variables for what it keeps in the state, and attaches the code.
/// **This runs code of the model**: the caller has been allowed to.
pub fn attach(
    program: &mut Program,
    locate: &dyn Fn(Span) -> Location,
    request: &Request,
) -> Result<(), Failed> {
    let generated = generate(program, locate);
    let folder = Folder::new().map_err(|e| Failed::Broken(format!("no folder for the compiler: {e}")))?;
    let path = compile(&generated.text, request, &folder)?;
    let places = program.embedded.pieces.iter().map(|piece| {
        let place = locate(piece.span);
        format!("{}:{}", place.file, place.line)
    });
    let conditions = program.embedded.pieces.iter().map(|piece| piece.precondition.clone());
    let pieces = conditions.zip(places).collect();
    let object = Object::load(&path, pieces, program.proctypes.len())?;
    for (number, region) in generated.regions.iter().enumerate() {
        add(program, &object, number, region)?;
    }
    program.embedded.code = Attached(Some(Arc::new(object)));
    Ok(())
}

/// The cells of a region as variables.
fn add(program: &mut Program, object: &Object, number: usize, region: &Region) -> Result<(), Failed> {
    let size = object.size(number);
    let (ty, scalar) = match size {
        1 => (Type::Scalar(Scalar::Byte), Scalar::Byte),
        2 => (Type::Scalar(Scalar::Short), Scalar::Short),
        4 => (Type::Scalar(Scalar::Int), Scalar::Int),
        _ => (Type::Array(Box::new(Type::Scalar(Scalar::Byte)), size as u32), Scalar::Byte),
    };
    let n_cells = if matches!(ty, Type::Scalar(_)) { 1 } else { size };
    let (vars, cells, init, base) = of_owner(program, region.owner);
    if size == 0 || n_cells > u64::from(MAX_CELLS - *cells) {
        let name = &region.name;
        return Err(Failed::Broken(format!(
            "`{name}` has {size} bytes: memory of the state has at least one and \
             altogether at most {MAX_CELLS}"
        )));
    }
    let cell = *cells;
    *cells += n_cells as u32;
    vars.push(Var { name: region.name.clone(), ty, cell, hidden: region.hidden, span: region.span });
    let span = region.span;
    for (offset, value) in object.first(number, n_cells as usize).into_iter().enumerate() {
        if value != 0 {
            let place = Place { base, cell: cell + offset as u32, indices: Vec::new(), scalar, span };
            init.push(InitStep::Assign(place, Expr { kind: ExprKind::Const(value), span }));
        }
    }
    Ok(())
}

type Owned<'p> = (&'p mut Vec<Var>, &'p mut u32, &'p mut Vec<InitStep>, Base);

fn of_owner(program: &mut Program, owner: Option<ProctypeId>) -> Owned<'_> {
    match owner {
        None => (&mut program.globals, &mut program.n_global_cells, &mut program.init, Base::Global),
        Some(id) => {
            let proctype = &mut program.proctypes[id.index()];
            (&mut proctype.locals, &mut proctype.n_cells, &mut proctype.init, Base::Local)
        }
    }
}
