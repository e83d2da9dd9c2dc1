//! Prints the PTX of a model, for people and for `ptxas`:
//! `cargo run -p gpu --example ptx -- model.pml [quotient|arena]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for measuring")]

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use gpu::level::text;
use gpu::search::table_for;
use gpu::table::Table;
use kernel::sample::Extent;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(path) = arguments.get(1) else { return println!("usage: ptx model.pml [quotient|arena]") };
    let source = std::fs::read_to_string(path).expect("a model");
    let model = common::Model::new(path, &source).expect("a model without errors");
    let interp = model.machine(&model.program);
    let packed = kernel::Model::new(&interp, &interp, &|state| interp.take_apart(state), Extent::default());
    match packed {
        Ok(packed) => {
            let table = match arguments.get(2).map(String::as_str) {
                Some("quotient") => Table::Quotient,
                Some("arena") => Table::Arena,
                _ => table_for(&packed.layout, u64::MAX),
            };
            println!("// {} bits in words of {:?}; {table:?}", packed.layout.bits(), packed.layout.words);
            println!("{}", text(&packed.layout, &packed.kernel, table));
        }
        Err(why) => println!("// {why}"),
    }
}
