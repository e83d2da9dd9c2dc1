//! Runs other programs with a time limit, in a temporary directory of their own. Output goes to files, so
//! that a chatty program cannot block on a pipe that nobody reads.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A directory that is removed when it goes out of scope.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl TempDir {
    /// Makes a new, empty directory.
    pub fn new() -> io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("testkit-{}-{number}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(TempDir { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // A directory that cannot be removed is only litter.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What a finished program left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code, unless a signal ended the program.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the time limit ended it.
    pub timed_out: bool,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `command` in `dir` for at most `limit`.
pub fn run(command: Command, dir: &Path, limit: Duration) -> io::Result<Output> {
    run_in(command, dir, dir, limit)
}

/// Runs `command` in `dir` for at most `limit`; its output is kept in the folder `aside`.
pub fn run_in(mut command: Command, dir: &Path, aside: &Path, limit: Duration) -> io::Result<Output> {
    let (out, err) = (aside.join(".stdout"), aside.join(".stderr"));
    command.current_dir(dir).stdin(Stdio::null());
    command.stdout(File::create(&out)?).stderr(File::create(&err)?);
    let mut child = command.spawn()?;
    let (status, timed_out) = wait(&mut child, limit)?;
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Output {
        code: status.code(),
        signal: signal(&status),
        timed_out,
        stdout: read(&out)?,
        stderr: read(&err)?,
    })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<(ExitStatus, bool)> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(300);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if start.elapsed() > limit {
            child.kill()?;
            return Ok((child.wait()?, true));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

#[cfg(unix)]
fn signal(status: &ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.signal()
}

#[cfg(not(unix))]
fn signal(_: &ExitStatus) -> Option<i32> {
    None
}

/// Looks for a program on the search path.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let dir = TempDir::new().expect("a temporary directory");
        let mut command = Command::new("sleep");
        command.arg("60");
        let output = run(command, dir.path(), Duration::from_millis(30)).expect("sleep runs");
        assert!(output.timed_out);
        assert_eq!(output.code, None);
    }

    #[test]
    fn output_and_status_are_kept() {
        let dir = TempDir::new().expect("a temporary directory");
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; exit 3"]);
        let output = run(command, dir.path(), Duration::from_secs(10)).expect("sh runs");
        assert_eq!((output.code, output.stdout.trim(), output.stderr.trim()), (Some(3), "one", "two"));
    }

    #[test]
    fn a_temporary_directory_is_removed() {
        let dir = TempDir::new().expect("a temporary directory");
        let path = dir.path().to_path_buf();
        drop(dir);
        assert!(!path.exists());
    }
}
