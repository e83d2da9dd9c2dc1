//! What authors of wrong memory systems are told: `gallery/` holds a system per file, `NAME.pml`, with the exact
//! text that it gets in `NAME.stderr`. `UPDATE_EXPECT=1` writes the texts anew.

use engine::render::render_all;
use engine::{CheckOptions, Notice, Silent, Source, Stop};
use memory::report::Findings;
use memory::{MemorySystem, Request};
use promela::source::Files;
use std::path::{Path, PathBuf};

fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gallery")
}

/// The files of the gallery, by plain names.
struct Folder;

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(gallery().join(path)).map_err(|_| "no such file".to_string())
    }
}

fn notices(name: &str) -> Vec<Notice> {
    let source = Source { path: name.to_string(), ..Source::default() };
    let answer = MemorySystem::load(&source, &Folder, &Stop::never());
    let mut all = answer.notices;
    let Ok(system) = answer.result else { return all };
    let request = Request { rules: vec!["rowo1".into()], ..Request::default() };
    let progress = Request { model: Some(memory::Model::Coherent), ..Request::default() };
    let mut outcomes = Vec::new();
    for request in [&request, &progress] {
        for question in &request.agenda(&system).expect("can be asked").questions {
            let answer =
                request.ask(&system, question, &CheckOptions::default(), &Stop::never(), &mut Silent);
            outcomes.push(answer.result.expect("an answer"));
        }
    }
    let findings =
        Findings { system: &system, request: &progress, outcomes, skipped: Vec::new(), interrupted: false };
    all.extend(findings.warnings());
    all
}

#[test]
fn every_system_of_the_gallery_gets_its_message() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some_and(|v| v == "1");
    let mut seen = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(gallery()).expect("the gallery exists").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "pml") {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let found = notices(&name);
        assert!(!found.is_empty(), "{name}: nothing is wrong with it");
        seen.extend(found.iter().map(|notice| notice.code.name()));
        let (file, text) = (path.with_extension("stderr"), render_all(&found, false));
        if update {
            std::fs::write(&file, &text).expect("the expected file can be written");
        }
        assert_eq!(text, std::fs::read_to_string(&file).unwrap_or_default(), "{name}");
    }
    for code in ["E0801", "E0802", "E0803", "E0804", "W0801", "W0802", "W0803"] {
        assert!(seen.contains(code), "{code} is not shown");
    }
}

#[test]
fn shipped_systems_have_no_warnings() {
    for system in memory::builtin::ALL {
        let answer = MemorySystem::built_in(system.name, &Source::default(), &Stop::never());
        assert!(answer.notices.is_empty(), "{}: {}", system.name, render_all(&answer.notices, false));
        assert!(answer.result.expect("readable").interface.is_data_independent);
    }
}
