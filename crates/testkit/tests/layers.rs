//! The promises of ARCHITECTURE.md, kept by a test: who may depend on whom, who may print or exit, where
//! `unsafe` may stand, that no placeholder is left, and that every file says what it is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every crate with the crates of this workspace that it may depend on (tests excepted).
const MAY_USE: &[(&str, &[&str])] = &[
    ("stop", &[]),
    ("promela", &["stop"]),
    ("system", &[]),
    ("store", &[]),
    ("ltl", &["stop"]),
    ("ldd", &[]),
    ("mu", &[]),
    ("graph", &["stop", "mu", "search"]),
    ("machine", &["stop", "promela", "system"]),
    // The only crate that runs code of a model.
    ("embedded_c", &["promela"]),
    ("jit", &["stop", "promela", "system", "machine"]),
    ("reduce", &["stop", "promela", "system", "machine"]),
    ("search", &["stop", "system", "store"]),
    // How states travel between processes, over a foreign engine that searches do not know.
    ("cluster", &["search"]),
    ("symbolic", &["stop", "system", "search", "ldd", "mu"]),
    ("pins", &["stop", "promela", "system", "machine", "jit", "search", "symbolic"]),
    // The packed machine's front, and its back end for GPUs, which sees no Promela.
    ("kernel", &["promela", "system", "machine"]),
    ("gpu", &["kernel"]),
    // And the one for processors, with its search.
    ("packed", &["kernel", "search", "store"]),
    ("draw", &[]),
    ("trace", &["stop", "system", "draw"]),
    ("archive", &["system"]),
    // What a certificate rests on: no search, no store, no reduction, no native code.
    ("audit", &["stop", "system", "machine", "archive"]),
    (
        "engine",
        &[
            "stop",
            "archive",
            "audit",
            "promela",
            "system",
            "machine",
            "jit",
            "reduce",
            "store",
            "search",
            "cluster",
            "symbolic",
            "pins",
            "kernel",
            "gpu",
            "packed",
            "trace",
            "ltl",
            "mu",
            "graph",
            "embedded_c",
        ],
    ),
    ("explore", &["stop", "promela", "system", "machine", "ltl", "trace", "engine", "draw"]),
    ("report", &["stop", "promela", "system", "draw", "trace", "engine", "explore"]),
    ("memory", &["stop", "promela", "system", "draw", "trace", "engine"]),
    ("ui", &["stop", "promela", "system", "draw", "trace", "engine", "explore", "report", "memory"]),
    ("spinor", &["engine", "promela", "system", "machine", "trace"]),
    (
        "spinor-cli",
        &[
            "stop", "archive", "engine", "explore", "report", "memory", "ui", "draw", "promela", "system",
            "trace",
        ],
    ),
    ("testkit", &["engine"]),
];

/// Crates that may use no library from outside: the ground that everything stands on.
const NO_FOREIGN_CODE: &[&str] =
    &["stop", "promela", "system", "store", "ltl", "mu", "graph", "machine", "reduce", "search", "draw"];
/// With exceptions: who needs which.
const FOREIGN: &[(&str, &str)] = &[("store", "memmap2"), ("mu", "num-bigint"), ("graph", "num-bigint")];

/// Sources that may print or exit: clients only.
const CLIENTS: &[&str] = &[
    "crates/cli/src",
    "crates/testkit/src/bin",
    "crates/jit/examples",
    "crates/pins/examples",
    "crates/gpu/examples",
    "crates/packed/examples",
    "crates/store/examples",
    "crates/ltl/examples",
    // Printing is how a build script answers.
    "crates/store/build.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace exists")
}

fn metadata() -> serde_json::Value {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    serde_json::from_slice(&out.stdout).expect("cargo metadata prints JSON")
}

#[test]
fn layers_only_look_down() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let known: BTreeSet<&str> = MAY_USE.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, known, "every crate has a line in the table, and every line a crate");
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let (_, allowed) = MAY_USE.iter().find(|(n, _)| *n == name).expect("in the table");
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if !dependency["kind"].is_null() || dependency["target"] == "cfg(loom)" {
                continue; // dev- and build-dependencies, and what only the tests of `.ci/loom` use
            }
            let on = dependency["name"].as_str().expect("a name");
            if names.contains(on) {
                assert!(allowed.contains(&on), "`{name}` must not depend on `{on}`");
            } else {
                let fine = !NO_FOREIGN_CODE.contains(&name) || FOREIGN.contains(&(name, on));
                assert!(fine, "`{name}` must not depend on the library `{on}`");
            }
        }
    }
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|n| n != "target") {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// All source files of the crates, with their paths from the root.
fn all_sources() -> Vec<(String, String)> {
    let root = root();
    let mut paths = Vec::new();
    sources(&root.join("crates"), &mut paths);
    paths
        .into_iter()
        .map(|p| {
            let text = std::fs::read_to_string(&p).expect("readable");
            (p.strip_prefix(&root).expect("inside").to_string_lossy().into_owned(), text)
        })
        .collect()
}

/// The text without comment lines, so that prose may name what code may not use.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")).map(|(i, l)| (i + 1, l))
}

#[test]
fn only_clients_print_or_exit() {
    const WORDS: &[&str] =
        &["println!", "eprintln!", "print!(", "eprint!(", "process::exit", "io::stdout", "io::stderr"];
    for (path, text) in all_sources() {
        let test = path.contains("/tests/") || path.ends_with("tests.rs");
        if test || CLIENTS.iter().any(|c| path.starts_with(c)) {
            continue;
        }
        for (line, text) in code(&text) {
            for word in WORDS {
                assert!(!text.contains(word), "{path}:{line}: `{word}` outside a client");
            }
        }
    }
}

/// Calling compiled code, memory straight from the system, and an allocator cannot be expressed otherwise;
/// nothing else may be expressed so.
const MAY_BE_UNSAFE: &[&str] = &[
    "crates/cli/src/allocator.rs",
    "crates/embedded_c/src/limits.rs",
    "crates/embedded_c/src/object.rs",
    "crates/embedded_c/src/page.rs",
    "crates/gpu/src/driver.rs",
    "crates/jit/src",
    "crates/packed/src/native.rs",
    "crates/store/src/packing.rs",
    "crates/store/src/pages.rs",
    "crates/store/src/scan64.rs",
    "crates/store/src/shuffle.rs",
    "crates/store/src/shuffle16.rs",
    "crates/store/src/shuffle64.rs",
    "crates/store/src/strings.rs",
];

#[test]
fn unsafe_code_has_its_place_and_its_reasons() {
    let word = ["un", "safe"].concat();
    let forms = [format!("{word} {{"), format!("{word} fn"), format!("{word} impl")];
    for (path, text) in all_sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (line, text) in code(&text) {
            if !forms.iter().any(|form| text.contains(form)) {
                continue;
            }
            assert!(MAY_BE_UNSAFE.iter().any(|place| path.starts_with(place)), "{path}:{line}: {word}");
            let above = &lines[line.saturating_sub(6)..line];
            let reason = |l: &&str| l.contains("// SAFETY:") || l.contains("/// # Safety");
            assert!(above.iter().any(reason), "{path}:{line}: {word} without a reason");
        }
    }
}

#[test]
fn the_processor_is_asked_for_in_one_place() {
    let word = ["target", "_arch"].concat();
    for (path, text) in all_sources() {
        for (line, text) in code(&text) {
            assert!(!text.contains(&word), "{path}:{line}: ask for `x86_code`, which `store/build.rs` sets");
        }
    }
}

#[test]
fn no_placeholder_is_left() {
    let words = [
        ["todo", "!("].concat(),
        ["unimplemented", "!("].concat(),
        ["FIX", "ME"].concat(),
        ["#[ign", "ore"].concat(),
    ];
    for (path, text) in all_sources() {
        for (line, text) in text.lines().enumerate() {
            for word in &words {
                assert!(!text.contains(word.as_str()), "{path}:{}: {word}", line + 1);
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in all_sources() {
        assert!(text.starts_with("//!"), "{path} does not begin with a `//!` comment");
        let lines = text.lines().count();
        assert!(lines <= 1000, "{path} has {lines} lines: one concept, one file");
    }
}
