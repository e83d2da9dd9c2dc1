//! Every command that README.md, `docs/` and `examples/` show is executed, and must print what is shown
//! there. `UPDATE_EXPECT=1` writes what it prints into the document. The notation: `testkit::transcript`. A
//! picture that a document shows is written by one of its commands.

use std::fs;
use std::path::{Path, PathBuf};
use testkit::transcript::{Document, Sandbox, verify};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README.md and all documents of the two folders, in order.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut found = vec![root.join("README.md")];
    let mut pending = vec![root.join("docs"), root.join("examples")];
    while let Some(folder) = pending.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => pending.push(path),
                false if path.extension().is_some_and(|e| e == "md") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

/// Where figures are that no command writes.
const FIGURES: &str = "figures/";

/// The pictures that a document shows. Its commands write them, under the same names, unless they are
/// [`FIGURES`].
fn pictures(document: &Document) -> Vec<String> {
    let images = document.lines.iter().filter_map(|line| line.trim().strip_prefix("!["));
    images.filter_map(|image| Some(image.split_once("](")?.1.strip_suffix(")")?.to_string())).collect()
}

#[test]
fn documents_show_what_the_tool_prints() {
    let root = root();
    let programs = Path::new(env!("CARGO_BIN_EXE_spinor")).parent().unwrap();
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut complaints = Vec::new();
    for path in documents() {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let document = Document::read(&fs::read_to_string(&path).unwrap());
        let mut place = Sandbox::new(&root.join("examples"), programs).unwrap();
        let (wrong, right) = verify(&document, &mut place).unwrap();
        complaints.extend(wrong.iter().map(|w| format!("{name}:{}: {}", w.line, w.message)));
        if update && !wrong.is_empty() {
            fs::write(&path, right).unwrap();
        }
        for picture in pictures(&document) {
            let (shown, drawn) = (path.with_file_name(&picture), place.written(&picture).unwrap_or_default());
            if picture.trim_start_matches("docs/").starts_with(FIGURES) {
                assert!(shown.is_file(), "{name}: there is no {picture}");
                continue;
            }
            if fs::read_to_string(&shown).is_ok_and(|old| old == drawn) {
                continue;
            }
            complaints.push(format!("{name}: {picture} is not what its command writes"));
            if update {
                fs::write(&shown, drawn).unwrap();
            }
        }
    }
    let hint = if update { "rewritten; look at the changes" } else { "UPDATE_EXPECT=1 rewrites the outputs" };
    assert!(complaints.is_empty(), "{}\n({hint})", complaints.join("\n"));
}

#[test]
fn the_readme_is_among_them() {
    let readme = Document::read(&fs::read_to_string(root().join("README.md")).unwrap());
    assert!(!readme.items.is_empty(), "README.md shows no command");
    assert!(documents().contains(&root().join("README.md")));
}
