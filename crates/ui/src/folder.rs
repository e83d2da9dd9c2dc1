//! The files of the folder that was opened, and no others.
//!
//! A path of a request is relative; links are resolved before it is compared with the folder, also for what a
//! model includes. Only models, included files and trails are written, as a whole or not at all, and only
//! when they are still what the writer has read (`ETag`).

use crate::error::ApiError;
use axum::http::StatusCode;
use engine::saving::{RealStorage, save};
use promela::source::{Files, NO_SUCH_FILE};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The largest text that is read or written.
pub const MOST_BYTES: u64 = 4 << 20;
/// Entries of a listing.
const MOST_ENTRIES: usize = 2000;
/// How deep folders are listed.
const MOST_DEPTH: usize = 8;
/// What is listed and written.
const ENDINGS: [&str; 4] = [".pml", ".prm", ".inc", ".trail.json"];

/// A folder that was opened.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Without links.
    root: PathBuf,
    read_only: bool,
}

impl Folder {
    /// Opens a folder.
    pub fn open(root: &Path, read_only: bool) -> io::Result<Folder> {
        let root = std::fs::canonicalize(root)?;
        if !root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
        }
        Ok(Folder { root, read_only })
    }

    /// What the folder is called.
    pub fn name(&self) -> String {
        self.root.file_name().unwrap_or(self.root.as_os_str()).to_string_lossy().into_owned()
    }

    /// Whether nothing is written.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The place of a file that exists, if it is in the folder.
    fn existing(&self, path: &str) -> Result<PathBuf, ApiError> {
        let place = std::fs::canonicalize(self.named(path)?).map_err(|_| ApiError::missing(NO_SUCH_FILE))?;
        match place.starts_with(&self.root) {
            true => Ok(place),
            false => Err(ApiError::forbidden("this file is not in the folder")),
        }
    }

    /// A relative path that goes only downwards.
    fn named(&self, path: &str) -> Result<PathBuf, ApiError> {
        let relative = Path::new(path);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        match !path.is_empty() && !path.contains('\0') && relative.components().all(plain) {
            true => Ok(self.root.join(relative)),
            false => Err(ApiError::forbidden("only files below the folder are served")),
        }
    }

    /// Models, included files and trails, by their paths, sorted.
    pub fn list(&self) -> Vec<String> {
        let (mut found, mut open) = (Vec::new(), vec![(self.root.clone(), 0)]);
        while let Some((folder, depth)) = open.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let (path, kind) = (entry.path(), entry.file_type());
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                match kind {
                    _ if hidden || found.len() >= MOST_ENTRIES => {}
                    Ok(kind) if kind.is_dir() && depth < MOST_DEPTH => open.push((path, depth + 1)),
                    Ok(kind) if kind.is_file() => found.extend(self.relative(&path)),
                    _ => {}
                }
            }
        }
        found.retain(|name| has_ending(name));
        found.sort();
        found
    }

    fn relative(&self, path: &Path) -> Option<String> {
        Some(path.strip_prefix(&self.root).ok()?.to_str()?.to_string())
    }

    /// The text of a file, and what tells another text of it.
    pub fn text(&self, path: &str) -> Result<(String, String), ApiError> {
        let place = self.existing(path)?;
        let about = std::fs::metadata(&place).map_err(|_| ApiError::missing(NO_SUCH_FILE))?;
        if !about.is_file() {
            return Err(ApiError::bad("this is no file"));
        }
        if about.len() > MOST_BYTES {
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "the file is too large"));
        }
        let text = std::fs::read_to_string(&place).map_err(|_| ApiError::bad("the file is no text"))?;
        let tag = tag(&text);
        Ok((text, tag))
    }

    /// Writes a file that is still what `tag` says; a new one without a tag. Returns the new tag, or the text
    /// that is there now.
    pub fn write(&self, path: &str, tag_then: Option<&str>, text: &str) -> Result<Written, ApiError> {
        if self.read_only {
            return Err(ApiError::forbidden("the folder is only read (--read-only)"));
        }
        if !has_ending(path) {
            return Err(ApiError::forbidden(format!("only {} are written", ENDINGS.join(", "))));
        }
        let place = self.named(path)?;
        let parent = place.parent().and_then(|parent| std::fs::canonicalize(parent).ok());
        if !parent.is_some_and(|parent| parent.starts_with(&self.root)) {
            return Err(ApiError::forbidden("there is no such folder here"));
        }
        if place.symlink_metadata().is_ok_and(|about| !about.is_file()) {
            return Err(ApiError::forbidden("links and special files are not written"));
        }
        let now = self.text(path).ok();
        if now.as_ref().map(|(_, tag)| tag.as_str()) != tag_then {
            return Ok(Written::Conflict(now.unwrap_or_default()));
        }
        let mut content = |out: &mut dyn io::Write| out.write_all(text.as_bytes());
        save(&RealStorage, &place, &mut content)
            .map_err(|why| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "unwritten", why.to_string()))?;
        Ok(Written::Saved(tag(text)))
    }
}

/// What became of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is there, with this tag.
    Saved(String),
    /// Somebody else has written: text and tag.
    Conflict((String, String)),
}

fn has_ending(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// What tells another text of a file.
pub fn tag(text: &str) -> String {
    format!("\"{:016x}\"", trace::fingerprint([text]))
}

/// What the front end reads: a model, what it includes, a trail.
impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        self.text(path).map(|(text, _)| text).map_err(|_| NO_SUCH_FILE.to_string())
    }
}

/// A folder in which one file has another text: what an editor has not saved yet.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The folder.
    pub folder: Folder,
    /// Path and text.
    pub edited: Option<(String, String)>,
}

impl Files for Overlay {
    fn read(&self, path: &str) -> Result<String, String> {
        match &self.edited {
            Some((name, text)) if name == path => Ok(text.clone()),
            _ => self.folder.read(path),
        }
    }
}
