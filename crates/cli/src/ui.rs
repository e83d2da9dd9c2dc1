//! `spinor ui`: the workbench, a page for a browser on this machine.

use crate::args::{Format, UiArgs};
use crate::output;
use crate::signal::Signals;
use engine::Failure;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use ui::ServerOptions;

/// Serves the page until Ctrl-C; returns the exit status.
pub fn run(args: &UiArgs) -> u8 {
    let (root, model) = match opened(&args.path) {
        Ok(opened) => opened,
        Err(failure) => return output::fail(&failure, Format::Text, 2),
    };
    let signals = Signals::listen();
    let options = ServerOptions {
        port: args.port,
        read_only: args.read_only,
        model,
        assets: args.assets.as_ref().map(PathBuf::from),
    };
    let mut door = None;
    let served = ui::serve(&root, &options, signals.stop(), |url| {
        output::deliver(&format!("{url}\n"), 0);
        output::err("the workbench is at this address until you press Ctrl-C\n");
        if !args.no_open {
            door = open(url);
        }
    });
    if let Some(door) = door {
        // It leads nowhere any more.
        let _ = std::fs::remove_file(door);
    }
    match served {
        Ok(()) => 0,
        Err(why) => {
            let message = format!("the workbench cannot be served: {why}");
            let help = match args.port {
                0 => "the loopback interface must be there",
                _ => "leave --port out to take a free one",
            };
            output::fail(&Failure::refused_with(message, help), Format::Text, 2)
        }
    }
}

/// The folder, and the model in it that is shown first.
fn opened(path: &str) -> Result<(PathBuf, Option<String>), Failure> {
    let path = Path::new(path);
    if path.is_dir() {
        return Ok((path.to_path_buf(), None));
    }
    let (folder, name) = (path.parent(), path.file_name().and_then(|name| name.to_str()));
    match (path.is_file(), folder, name) {
        (true, Some(folder), Some(name)) => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            Ok((folder.to_path_buf(), Some(name.to_string())))
        }
        _ => Err(Failure::refused_with(
            format!("there is no folder and no model {:?}", path.display().to_string()),
            "name a folder with models, or a model; the folder around it is opened",
        )),
    }
}

/// Opens the browser, unless there is none: then the address is there to be copied.
///
/// The arguments of a process can be read by every user of a machine, and the address holds the token. So the
/// browser is given a file that only its owner can read, and that leads to the address.
fn open(url: &str) -> Option<PathBuf> {
    let door = door(url).ok()?;
    let command = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    // Where there is no browser, nothing happens.
    let mut browser = Command::new(command);
    browser.arg(&door).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = browser.spawn();
    Some(door)
}

/// A file that leads to the address, for this user alone.
fn door(url: &str) -> io::Result<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let path = folder.join(format!("spinor-ui-{}.html", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>Spinor</title>\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\"><a href=\"{url}\">the workbench</a>\n"
    );
    options.open(&path)?.write_all(page.as_bytes())?;
    Ok(path)
}
