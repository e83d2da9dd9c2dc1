//! `spinor spin`: a command line of Spin is translated, shown once, and done.

use crate::args::{Cli, Format, SpinArgs};
use crate::output;
use clap::Parser;
use engine::property::Inventory;
use engine::spin::{Surroundings, translate};
use engine::{Answer, Disk, Session, Source, Stop};
use promela::source::Files;
use std::time::SystemTime;

/// Does what a command line of Spin asks for; returns the exit status.
pub fn run(args: &SpinArgs) -> u8 {
    let translation = match translate(&args.words, &OnDisk) {
        Ok(translation) => translation,
        Err(failure) => {
            let answer: Answer<()> = Answer::failed(failure);
            return output::write_notices(answer, Format::Text).err().unwrap_or(2);
        }
    };
    output::err(&format!("{}\n", translation.command()));
    for remark in &translation.remarks {
        output::err(&format!("  {remark}\n"));
    }
    match Cli::try_parse_from(&translation.words) {
        Ok(cli) => crate::run(&cli.command),
        Err(error) => crate::report(&error, &translation.words),
    }
}

/// The files of this machine.
struct OnDisk;

impl Surroundings for OnDisk {
    fn stated(&self, source: &Source) -> Option<Inventory> {
        // Standard input can be read once, and the command reads it.
        if source.path == "-" {
            return None;
        }
        Session::open(source, &Disk, &Stop::never()).result.ok()?.inventory().ok()
    }

    fn text(&self, path: &str) -> Result<String, String> {
        Disk.read(path)
    }

    fn newest(&self, paths: &[String]) -> Option<String> {
        let changed = |path: &&String| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let known = paths.iter().filter_map(|path| Some((changed(&path)?, path)));
        known.max_by_key(|(time, _): &(SystemTime, &String)| *time).map(|(_, path)| path.clone())
    }
}
