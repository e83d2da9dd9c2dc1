//! Executes the commands of a document and says what is not as shown.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use super::document::{Command, Document, Excerpt, Item};
use super::matching::{fits, renewed};
use crate::command::{self, TempDir};

/// Longer than any command of a document takes.
const LIMIT: Duration = Duration::from_secs(120);

/// The folder in which a document's commands run, with a copy of `examples/` in it.
#[derive(Debug)]
pub struct Sandbox {
    root: TempDir,
    /// The folder of the binary under test.
    programs: PathBuf,
    /// Where the commands are now, below the root.
    inside: PathBuf,
    /// The status of the last command.
    last: i32,
}

impl Sandbox {
    /// A new folder with a copy of `examples`, for commands that find `spinor` in the folder `programs`.
    pub fn new(examples: &Path, programs: &Path) -> io::Result<Self> {
        let root = TempDir::new()?;
        copy(examples, &root.path().join("examples"))?;
        Ok(Sandbox { root, programs: programs.into(), inside: PathBuf::new(), last: 0 })
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join(&self.inside)
    }

    /// The text of the file with this name that a command wrote, in whichever folder that was.
    pub fn written(&self, name: &str) -> Option<String> {
        let mut pending = vec![self.root.path().to_path_buf()];
        while let Some(folder) = pending.pop() {
            for path in fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path()) {
                match path.is_dir() {
                    true => pending.push(path),
                    false if path.file_name().is_some_and(|n| n == name) => {
                        return fs::read_to_string(path).ok();
                    }
                    false => {}
                }
            }
        }
        None
    }

    /// Runs one command; both streams as lines, and the status.
    fn run(&mut self, text: &str) -> io::Result<(Vec<String>, i32)> {
        if let Some(folder) = text.strip_prefix("cd ") {
            return Ok(self.enter(folder.trim()));
        }
        let script = format!("exec 2>&1\n(exit {})\n{}\n", self.last, ours(text));
        let mut shell = process::Command::new("sh");
        shell.args(["-c", &script]).env("PATH", self.search_path()).env("HOME", self.root.path());
        shell.env("NO_COLOR", "1").env("TERM", "dumb").env("LC_ALL", "C.UTF-8").env_remove("RUST_BACKTRACE");
        // What the runner itself keeps must not show in the folder.
        let aside = TempDir::new()?;
        let output = command::run_in(shell, &self.folder(), aside.path(), LIMIT)?;
        let status = match output.code {
            Some(code) => code,
            None => return Err(io::Error::other(format!("`{text}` did not end by itself"))),
        };
        self.last = status;
        let root = self.root.path().to_string_lossy().into_owned();
        let mut lines: Vec<String> =
            output.stdout.replace(&root, "[cwd]").lines().map(|l| l.trim_end().to_string()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        Ok((lines, status))
    }

    fn enter(&mut self, folder: &str) -> (Vec<String>, i32) {
        let inside = self.inside.join(folder);
        let there = self.root.path().join(&inside).is_dir();
        self.last = i32::from(!there);
        if !there {
            return (vec![format!("there is no folder {folder}")], self.last);
        }
        self.inside = inside;
        (Vec::new(), self.last)
    }

    fn search_path(&self) -> std::ffi::OsString {
        let old = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&old));
        std::env::join_paths(all).unwrap_or(old)
    }
}

/// `cargo run … -- WORDS` means the binary under test.
fn ours(text: &str) -> String {
    match text.strip_prefix("cargo run ").and_then(|rest| rest.split_once("-- ")) {
        Some((_, words)) => format!("spinor {words}"),
        None => text.to_string(),
    }
}

/// Copies a folder, without the trails that somebody may have left in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|e| (e.path(), e.file_name()))?;
        if path.is_dir() {
            copy(&path, &to.join(&name))?;
        } else if !name.to_string_lossy().contains(".trail") {
            fs::copy(&path, to.join(&name))?;
        }
    }
    Ok(())
}

/// Something that is not as the document shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The 1-based line.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Executes a document: what is wrong, and the text in which the outputs are right.
pub fn verify(document: &Document, place: &mut Sandbox) -> io::Result<(Vec<Wrong>, String)> {
    let mistake = |(line, message): &(usize, String)| Wrong { line: *line, message: message.clone() };
    let mut wrong: Vec<Wrong> = document.mistakes.iter().map(mistake).collect();
    let mut changes = Vec::new();
    for (i, item) in document.items.iter().enumerate() {
        match item {
            Item::File(excerpt) => write(place, excerpt)?,
            Item::Quote(excerpt) => wrong.extend(misquoted(place, excerpt)),
            Item::Command(command) => {
                let (found, status) = place.run(&command.text)?;
                let told = asks_for_status(document.items.get(i + 1)) && command.status.is_none();
                let status = if told { 0 } else { status };
                if fits(&command.shown, &found) && command.status.unwrap_or(0) == status {
                    continue;
                }
                wrong.push(Wrong { line: command.line, message: difference(command, &found, status) });
                let mut new = match fits(&command.shown, &found) {
                    true => command.shown.clone(),
                    false => renewed(&command.shown, &found),
                };
                if status != 0 {
                    new.push(format!("? {status}"));
                }
                changes.push((command.place.clone(), indented(&new, command.indent)));
            }
        }
    }
    Ok((wrong, document.with(&changes)))
}

fn asks_for_status(next: Option<&Item>) -> bool {
    matches!(next, Some(Item::Command(command)) if command.text.trim() == "echo $?")
}

fn indented(lines: &[String], by: usize) -> Vec<String> {
    let blank = " ".repeat(by);
    lines.iter().map(|l| if l.is_empty() { String::new() } else { format!("{blank}{l}") }).collect()
}

fn write(place: &Sandbox, excerpt: &Excerpt) -> io::Result<()> {
    let path = place.folder().join(&excerpt.name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, excerpt.text.join("\n") + "\n")
}

fn misquoted(place: &Sandbox, excerpt: &Excerpt) -> Option<Wrong> {
    let message = match fs::read_to_string(place.folder().join(&excerpt.name)) {
        Err(error) => format!("{}: {error}", excerpt.name),
        Ok(text) => {
            let any = vec!["...".to_string()];
            let pattern = [any.clone(), excerpt.text.clone(), any].concat();
            let lines: Vec<String> = text.lines().map(String::from).collect();
            if fits(&pattern, &lines) {
                return None;
            }
            format!("these lines do not stand in {}", excerpt.name)
        }
    };
    Some(Wrong { line: excerpt.line, message })
}

fn difference(command: &Command, found: &[String], status: i32) -> String {
    let block = |lines: &[String]| lines.iter().map(|l| format!("    {l}\n")).collect::<String>();
    format!(
        "$ {}\n  shown, status {}:\n{}  found, status {status}:\n{}",
        command.text,
        command.status.unwrap_or(0),
        block(&command.shown),
        block(found)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Sandbox {
        let examples = TempDir::new().expect("a folder");
        fs::write(examples.path().join("a.pml"), "byte x;\nbyte y;\n").expect("written");
        fs::write(examples.path().join("a.pml.trail.json"), "{}").expect("written");
        Sandbox::new(examples.path(), Path::new("/nowhere")).expect("a place")
    }

    fn verified(text: &str) -> (Vec<Wrong>, String) {
        verify(&Document::read(text), &mut place()).expect("sh runs")
    }

    #[test]
    fn a_true_document_has_nothing_wrong() {
        let text = "```promela file=b.pml\nbyte z;\n```\n```promela from=examples/a.pml\nbyte y;\n```\n\
                    ```console\n$ ls\nb.pml\nexamples\n$ cd examples\n$ ls; pwd\na.pml\n[..]/examples\n\
                    $ echo no >&2; exit 3\nno\n? 3\n$ false\n$ echo $?\n1\n```\n";
        assert_eq!(verified(text), (vec![], text.to_string()));
    }

    #[test]
    fn a_wrong_document_is_told_and_repaired() {
        let text = "```console\n$ echo one; echo two; false\none\n2\n\n$ echo in 3.5 s\nin 1 s\n```\n";
        let (wrong, right) = verified(text);
        assert_eq!(wrong.len(), 1);
        assert_eq!(wrong[0].line, 2);
        assert!(wrong[0].message.contains("found, status 1:\n    one\n    two\n"), "{}", wrong[0].message);
        assert_eq!(right, text.replace("one\n2\n", "one\ntwo\n? 1\n"));
        assert_eq!(verified(&right).0, []);
    }

    #[test]
    fn a_wrong_quote_and_a_missing_file() {
        let (wrong, _) = verified("```promela from=examples/a.pml\nbyte z;\n```\n```promela from=c\n```\n");
        assert_eq!(wrong.iter().map(|w| w.line).collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn cargo_run_means_the_binary() {
        assert_eq!(ours("cargo run --release -- check m.pml"), "spinor check m.pml");
        assert_eq!(ours("spinor check m.pml"), "spinor check m.pml");
    }
}
