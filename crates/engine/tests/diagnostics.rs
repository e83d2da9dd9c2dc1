//! What authors of wrong models are told. `tests/diagnostics/` holds a wrong model per file, `NAME.pml`, with
//! the exact text that it gets in `NAME.stderr`; every code of the table is shown there or named below with
//! the test that shows it; the examples in the explanations are what they claim to be; `docs/diagnostics.md`
//! says what the table says.
//!
//! `UPDATE_EXPECT=1 cargo nextest run -p engine --test diagnostics` writes the expected files: read the
//! difference. A first line `// options: pv -DN=2` gives a model the options it is read with.

use engine::render::render_all;
use engine::{Notice, Source};
use promela::diagnostic::Code;
use promela::source::Files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Codes that no model of the gallery shows, and where they are shown instead.
const SHOWN_ELSEWHERE: &[(Code, &str)] = &[
    (Code::E0001, "promela: preprocess::tests::missing_files_are_errors"),
    (Code::E0004, "promela: preprocess::tests"),
    (Code::E0012, "promela: preprocess::tests"),
    (Code::E0025, "promela: preprocess::tests"),
    (Code::E0103, "promela: parse::tests::limits"),
    (Code::E0104, "promela: parse::tests::limits"),
    (Code::E0105, "promela: parse::tests::limits"),
    (Code::E0603, "spinor: embedded_c"),
    (Code::E0701, "promela: ir::read::tests"),
    (Code::W0710, "spinor-cli: tests/weak_memory.rs"),
    (Code::E0801, "memory: tests/gallery.rs"),
    (Code::E0802, "memory: tests/gallery.rs"),
    (Code::E0803, "memory: tests/gallery.rs"),
    (Code::E0804, "memory: tests/gallery.rs"),
    (Code::E0997, "spinor: tests/writing.rs"),
    (Code::E0900, "spinor: command_line"),
    (Code::E0901, "spinor: command_line"),
    (Code::E0998, "spinor: a panic of the tool itself"),
    (Code::E0999, "engine: failure"),
    (Code::W0701, "engine: check"),
    (Code::W0702, "spinor: command_line"),
    (Code::W0703, "spinor: liveness"),
    (Code::W0704, "spinor: cuts"),
    (Code::W0705, "spinor: cuts"),
    (Code::W0706, "spinor: command_line"),
    (Code::W0708, "spinor: memory"),
    (Code::W0709, "spinor: spin_command_line"),
    (Code::W0711, "spinor-cli: tests/checkpoints.rs"),
    (Code::W0801, "memory: tests/gallery.rs"),
    (Code::W0802, "memory: tests/gallery.rs"),
    (Code::W0803, "memory: tests/gallery.rs"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn gallery() -> PathBuf {
    root().join("tests/diagnostics")
}

fn blessing() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some_and(|v| !v.is_empty() && v != "0")
}

/// The files of a folder, by plain names, so that messages do not depend on where the folder is.
struct Folder(PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| "no such file".to_string())
    }
}

/// One model, in memory.
struct Model(String);

impl Files for Model {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == "model.pml" { Ok(self.0.clone()) } else { Err("no such file".to_string()) }
    }
}

fn notices(path: &str, options: &str, files: &(dyn Files + Sync)) -> Vec<Notice> {
    let mut source = Source { path: path.to_string(), ..Source::default() };
    for word in options.split_whitespace() {
        match word {
            "pv" => source.options.dialect = "pv".to_string(),
            _ => source.options.preprocessor.push(word.to_string()),
        }
    }
    engine::parse::parse(&source, files, &engine::Stop::never(), |_| ()).notices
}

fn options_of(text: &str) -> &str {
    text.lines().next().and_then(|line| line.strip_prefix("// options:")).unwrap_or("")
}

fn models() -> Vec<String> {
    let entries = std::fs::read_dir(gallery()).expect("the gallery exists");
    let names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".pml")).collect();
    names.sort();
    names
}

/// The lines in which two texts differ, roughly as a diff shows them.
fn difference(expected: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    old[..same].iter().for_each(|line| out.push_str(&format!("   {line}\n")));
    old[same..old.len() - tail].iter().for_each(|line| out.push_str(&format!("  -{line}\n")));
    new[same..new.len() - tail].iter().for_each(|line| out.push_str(&format!("  +{line}\n")));
    old[old.len() - tail..].iter().for_each(|line| out.push_str(&format!("   {line}\n")));
    out
}

/// Compares `found` with the file, or writes it there.
fn check_file(path: &Path, found: &str, failures: &mut Vec<String>) {
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return;
    }
    if blessing() {
        std::fs::write(path, found).expect("the expected file can be written");
    } else {
        failures.push(format!("{}:\n{}", path.display(), difference(&expected, found)));
    }
}

fn settle(failures: &[String]) {
    let hint = "if the new text is better, run this test with UPDATE_EXPECT=1";
    assert!(failures.is_empty(), "{} differ ({hint}):\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_model_of_the_gallery_gets_its_message() {
    let mut failures = Vec::new();
    let models = models();
    for name in &models {
        let text = std::fs::read_to_string(gallery().join(name)).expect("readable");
        let found = render_all(&notices(name, options_of(&text), &Folder(gallery())), false);
        if found.is_empty() {
            failures.push(format!("{name}: nothing is wrong with it\n"));
        }
        check_file(&gallery().join(name).with_extension("stderr"), &found, &mut failures);
    }
    settle(&failures);
    for entry in std::fs::read_dir(gallery()).expect("the gallery exists").flatten() {
        let path = entry.path();
        let orphan = path.extension().is_some_and(|e| e == "stderr") && !path.with_extension("pml").exists();
        assert!(!orphan, "{} belongs to no model", path.display());
    }
}

#[test]
fn every_code_is_shown() {
    let mut shown: BTreeSet<Code> = SHOWN_ELSEWHERE.iter().map(|(code, _)| *code).collect();
    for name in models() {
        let text = std::fs::read_to_string(gallery().join(name).with_extension("stderr")).unwrap_or_default();
        let codes = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("error[").or_else(|| line.strip_prefix("warning["))?;
            Code::of(rest.get(..5)?)
        });
        for code in codes {
            let listed = SHOWN_ELSEWHERE.iter().any(|(c, _)| *c == code);
            assert!(!listed, "{code} is in the gallery: take it off the list of those that are not");
            shown.insert(code);
        }
    }
    let missing: Vec<&str> = Code::ALL.iter().filter(|c| !shown.contains(c)).map(|c| c.name()).collect();
    assert!(missing.is_empty(), "no model in tests/diagnostics shows {}", missing.join(", "));
}

/// The indented lines below the line `heading`, if the explanation has one.
fn example(explanation: &str, heading: &str) -> Option<String> {
    let mut lines = explanation.lines().skip_while(|line| *line != heading);
    lines.next()?;
    let block = lines.skip_while(|line| line.is_empty());
    let block = block.take_while(|line| line.is_empty() || line.starts_with("    "));
    Some(block.map(|line| format!("{}\n", line.get(4..).unwrap_or(""))).collect())
}

#[test]
fn the_examples_of_the_explanations_are_true() {
    let mut failures = Vec::new();
    for &code in Code::ALL {
        let text = code.explanation();
        if let Some(wrong) = example(text, "Wrong:") {
            let found = notices("model.pml", options_of(&wrong), &Model(wrong.clone()));
            if !found.iter().any(|n| n.code == code) {
                failures.push(format!("{code}: the wrong example gets\n{}", render_all(&found, false)));
            }
        }
        if let Some(right) = example(text, "Right:") {
            let found = notices("model.pml", options_of(&right), &Model(right.clone()));
            if found.iter().any(|n| n.code == code || n.is_error()) {
                failures.push(format!("{code}: the right example gets\n{}", render_all(&found, false)));
            }
        }
        let long = text.lines().find(|line| line.chars().count() > 100);
        assert!(long.is_none(), "{code}: this line is too long for a terminal: {long:?}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_documentation_says_what_the_table_says() {
    let mut failures = Vec::new();
    check_file(&root().join("docs/diagnostics.md"), &engine::explain::document(), &mut failures);
    settle(&failures);
}
