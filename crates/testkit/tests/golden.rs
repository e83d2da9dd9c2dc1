//! The golden models: their directives are well-formed, real Spin agrees with them, and so does the binary
//! under test. What needs a tool that is not here says so and is skipped.

#![allow(clippy::print_stderr)]

use std::path::{Path, PathBuf};

use testkit::golden::{self, Config, Status};
use testkit::ours::Spinor;
use testkit::spin::{Compiler, Spin};

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = golden::models(&root.join("tests/models"));
    all.extend(golden::models(&root.join("examples")));
    // Memory systems are halves of models: `crates/memory/tests` has what is expected of them.
    all.retain(|path| !path.components().any(|part| part.as_os_str() == "memory"));
    all
}

#[test]
fn every_model_says_what_it_expects() {
    let mistakes: Vec<String> = models()
        .iter()
        .filter_map(|path| match golden::read(path) {
            Err(mistake) => Some(mistake),
            Ok((_, all)) if all.checks.iter().any(|c| c.expect.is_none()) => {
                Some(format!("{}: a check without `//@ expect`", path.display()))
            }
            Ok(_) => None,
        })
        .collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    assert!(models().len() >= 30, "the golden models are gone");
}

/// Spin is asked about the models of the language tests; this is what their numbers come from.
#[test]
fn spin_agrees_with_the_expectations() {
    let spin = Spin::find();
    if let Some(why) = spin.missing() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let mut wrong = Vec::new();
    for path in models() {
        let Ok((text, directives)) = golden::read(&path) else { continue };
        let spins_own = !directives.options.iter().any(|word| word == "--dialect");
        for check in directives.checks.iter().filter(|c| spins_own && c.property == "safety") {
            let Some(expect) = check.expectation() else { continue };
            // Spin has no store buffers; crates/cli/tests/weak_memory.rs gives it models that do.
            if directives.options_of(check).iter().any(|word| word == "--memory") {
                continue;
            }
            match golden::bless(&spin, &text, &directives.options_of(check), Compiler::Quick) {
                Ok(found) if golden::agrees(expect, &found) => {}
                Ok(found) => wrong.push(format!("{}: Spin says {found}, not {expect}", path.display())),
                Err(why) => wrong.push(format!("{}: {why}", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn spinor_agrees_with_the_expectations() {
    let Some(spinor) = Spinor::find(None) else {
        eprintln!("SKIPPED: no spinor binary; build it or set SPINOR");
        return;
    };
    let mut wrong = Vec::new();
    for path in models() {
        for report in golden::run(&path, &spinor, &Config::matrix()) {
            match report.status {
                Status::Passed => {}
                Status::Skipped(why) => eprintln!("SKIPPED: {} [{}]: {why}", path.display(), report.config),
                Status::Failed(why) => {
                    wrong.push(format!("{} {} [{}]: {why}", path.display(), report.property, report.config));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of the golden checks fail:\n{}", wrong.len(), wrong.join("\n"));
}
