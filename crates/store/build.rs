//! Decides in one place whether code for x86-64 is built: `cfg(x86_code)`.
//!
//! It is not where threads are tried in all orders (`--cfg loom`) or memory accesses are checked one by one
//! (Miri), because neither sees through `asm!`; and not with `--cfg portable`, by which any machine can test
//! what other processors run (`.ci/portable`).

// Printing is how a build script answers.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(x86_code)");
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let is_x86 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    let is_portable = ["CARGO_CFG_LOOM", "CARGO_CFG_MIRI", "CARGO_CFG_PORTABLE"].into_iter().any(is_set);
    if is_x86 && !is_portable {
        println!("cargo::rustc-cfg=x86_code");
    }
}
