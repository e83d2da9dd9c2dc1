//! One call of the machine's C compiler: a C file, and files of the user, to a shared object.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a person allowed to be compiled and run, beside the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// C files that are compiled with it, or object files.
    pub sources: Vec<String>,
    /// Further words for the compiler, separated by blanks.
    pub flags: Vec<String>,
    /// `-D`, `-U` and `-I` with which the model is read.
    pub preprocessor: Vec<String>,
}

/// Why there is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// There is no C compiler.
    NoCompiler(String),
    /// It does not take the text: its own words.
    Refused {
        /// The compiler.
        compiler: String,
        /// What it says.
        output: String,
    },
    /// It could not be started, or its result cannot be used.
    Broken(String),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::NoCompiler(message) | Failed::Broken(message) => f.write_str(message),
            Failed::Refused { compiler, output } => write!(f, "{compiler} does not take it: {output}"),
        }
    }
}

/// The compilers that are looked for, in this order, when `CC` names none.
pub const COMPILERS: [&str; 4] = ["cc", "gcc", "clang", "tcc"];

/// The compiler of this machine with its first words: `$CC`, else the first of [`COMPILERS`] that is found.
pub fn compiler() -> Result<Vec<String>, Failed> {
    let words = |cc: String| cc.split_whitespace().map(str::to_string).collect::<Vec<String>>();
    if let Some(named) = std::env::var("CC").ok().map(words).filter(|words| !words.is_empty()) {
        return match is_found(&named[0]) {
            true => Ok(named),
            false => Err(Failed::NoCompiler(format!("CC names `{}`, which is not found", named[0]))),
        };
    }
    let found = COMPILERS.iter().find(|name| is_found(name));
    let none = "there is no C compiler on this machine: none of cc, gcc, clang and tcc is found";
    found.map(|name| vec![name.to_string()]).ok_or_else(|| Failed::NoCompiler(none.to_string()))
}

fn is_found(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// A folder of this process alone, which goes with the value.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one.
    pub fn new() -> std::io::Result<Folder> {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
        for attempt in 0..100u32 {
            let name = format!("spinor-c-{}-{nanos}-{attempt}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match private_folder().create(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::Error::other("no name for a folder is free"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Makes folders that only their owner can look into, where the system has such.
#[cfg(unix)]
fn private_folder() -> std::fs::DirBuilder {
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(not(unix))]
fn private_folder() -> std::fs::DirBuilder {
    std::fs::DirBuilder::new()
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a shared object of `text` in `folder`; the result is its path.
pub fn compile(text: &str, request: &Request, folder: &Folder) -> Result<PathBuf, Failed> {
    let compiler = compiler()?;
    let broken = |what: &str, error: std::io::Error| Failed::Broken(format!("{what}: {error}"));
    let (source, object) = (folder.path().join("generated.c"), folder.path().join("generated.so"));
    std::fs::write(&source, text).map_err(|e| broken("the generated C file cannot be written", e))?;
    let mut words: Vec<OsString> = compiler[1..].iter().map(OsString::from).collect();
    words.extend(["-shared", "-fPIC", "-O2", "-w", "-fvisibility=hidden"].map(OsString::from));
    words.extend(request.preprocessor.iter().map(OsString::from));
    words.extend(["-I.", "-o"].map(OsString::from));
    words.push(object.clone().into());
    words.push(source.clone().into());
    words.extend(request.sources.iter().map(OsString::from));
    words.extend(request.flags.iter().flat_map(|flags| flags.split_whitespace()).map(OsString::from));
    let output = Command::new(&compiler[0])
        .args(&words)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| broken(&format!("the C compiler `{}` cannot be started", compiler[0]), e))?;
    if !output.status.success() {
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        let own = source.to_string_lossy().into_owned();
        let output = said.replace(&own, "generated.c");
        return Err(Failed::Refused { compiler: compiler[0].clone(), output });
    }
    Ok(object)
}
