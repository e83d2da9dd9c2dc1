//! tmp
#![allow(clippy::print_stdout)]
use testkit::generate::{Size, generate};
use testkit::spin::{Compiler, Spin};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let size = if a.get(2).map(|s| s == "medium").unwrap_or(false) { Size::Medium } else { Size::Small };
    if let Some((x, y)) = a[1].split_once("..") {
        let spin = Spin::find();
        for s in x.parse::<u64>().unwrap()..y.parse().unwrap() {
            let m = generate(s, size);
            let t = testkit::print::print(&m);
            let o =
                if a.get(3).is_some() { spin.explore(&t, &[], Compiler::Quick) } else { spin.accepts(&t) };
            println!("{s} {o}");
        }
        return;
    }
    println!("{}", testkit::print::print(&generate(a[1].parse().unwrap(), size)));
}
