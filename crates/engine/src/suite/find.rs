//! Which models a suite consists of: files as they are named, and all models below folders.

use crate::failure::Failure;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Endings of files that hold models.
const ENDINGS: [&str; 4] = ["pml", "prm", "promela", "pr"];

/// The models that `paths` name, in order and each once. A file counts whatever its ending; below a folder
/// the ending decides, and hidden folders and `target` are left out.
pub fn models(paths: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let at = Path::new(path);
        match std::fs::metadata(at) {
            Err(error) => return Err(Failure::refused(format!("{path}: {error}"))),
            Ok(meta) if meta.is_dir() => {
                let mut below = Vec::new();
                walk(at, &mut BTreeSet::new(), &mut below)?;
                below.sort();
                found.extend(below);
            }
            Ok(_) => found.push(at.to_path_buf()),
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found.iter().map(|path| shown(path)).collect())
}

/// `above` holds the true paths of the folders that lead here, so that a link back to one of them is not
/// followed.
fn walk(folder: &Path, above: &mut BTreeSet<PathBuf>, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let refused = |error: std::io::Error| Failure::refused(format!("{}: {error}", shown(folder)));
    let real = folder.canonicalize().map_err(refused)?;
    if !above.insert(real.clone()) {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                walk(&path, above, found)?;
            }
        } else if path.is_file() && is_model(&path) {
            found.push(path);
        }
    }
    above.remove(&real);
    Ok(())
}

/// Whether a name is that of a model, by its ending.
pub fn is_model(name: impl AsRef<Path>) -> bool {
    name.as_ref().extension().is_some_and(|e| ENDINGS.iter().any(|known| e == *known))
}

/// A path as it is shown: without a leading `./`.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    if path.as_os_str().is_empty() { ".".to_string() } else { path.to_string_lossy().into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn folder(name: &str, files: &[&str]) -> Folder {
        let root = std::env::temp_dir().join(format!("spinor-find-{}-{name}", std::process::id()));
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("inside")).expect("made");
            fs::write(path, "").expect("written");
        }
        Folder(root)
    }

    fn found(folder: &Folder, names: &[&str]) -> Vec<String> {
        let paths: Vec<String> =
            names.iter().map(|n| folder.0.join(n).to_string_lossy().into_owned()).collect();
        let root = format!("{}/", folder.0.to_string_lossy());
        models(&paths).expect("found").iter().map(|p| p.replace(&root, "")).collect()
    }

    #[test]
    fn folders_are_searched_and_files_taken() {
        let files = [
            "b/x.pml",
            "a.prm",
            "c.promela",
            "d.pr",
            "e.txt",
            ".git/y.pml",
            "target/z.pml",
            "b/target/w.pml",
        ];
        let folder = folder("walk", &files);
        assert_eq!(found(&folder, &[""]), ["a.prm", "b/x.pml", "c.promela", "d.pr"]);
        assert_eq!(found(&folder, &["e.txt", "b", "b/x.pml", ".git"]), ["e.txt", "b/x.pml", ".git/y.pml"]);
        assert!(models(&["no/such/folder".to_string()]).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_back_is_not_followed() {
        let folder = folder("loop", &["a/m.pml"]);
        std::os::unix::fs::symlink(&folder.0, folder.0.join("a/back")).expect("linked");
        std::os::unix::fs::symlink(folder.0.join("nowhere"), folder.0.join("a/broken.pml")).expect("linked");
        assert_eq!(found(&folder, &[""]), ["a/m.pml"]);
    }
}
