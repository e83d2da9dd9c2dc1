//! A live line on standard error: how far the search is.

use crate::args::{CheckArgs, Format, Progress};
use crate::output;
use engine::report_text::bytes;
use engine::{Flow, Observer, Snapshot};

/// Writes one line again and again, if it is wanted.
#[derive(Debug)]
pub struct Line {
    wanted: bool,
    terminal: bool,
    shown: bool,
    last: u64,
}

impl Line {
    /// As the options want it.
    pub fn new(args: &CheckArgs) -> Self {
        let terminal = output::err_is_terminal();
        let wanted = match args.progress {
            Progress::Always => true,
            Progress::Auto => terminal && !args.quiet && args.format == Format::Text,
            Progress::Never => false,
        };
        Line { wanted, terminal, shown: false, last: 0 }
    }

    /// Takes the line off the terminal.
    pub fn clear(&mut self) {
        if self.shown && self.terminal {
            output::err("\r\x1b[K");
        }
        self.shown = false;
    }
}

impl Observer for Line {
    fn progress(&mut self, snapshot: &Snapshot) -> Flow {
        let due = self.terminal || snapshot.elapsed.as_secs() > self.last;
        if self.wanted && due && snapshot.elapsed.as_millis() >= 300 {
            self.last = snapshot.elapsed.as_secs();
            let line = describe(snapshot);
            output::err(&if self.terminal { format!("\r\x1b[K{line}") } else { format!("{line}\n") });
            self.shown = true;
        }
        Flow::Continue
    }
}

fn describe(snapshot: &Snapshot) -> String {
    let seconds = snapshot.elapsed.as_secs_f64();
    let rate = snapshot.states as f64 / seconds.max(0.001) / 1000.0;
    format!(
        "{:.1} s: {} states, {} transitions, depth {}, {} violations, {}, {rate:.0} thousand states/s",
        seconds,
        snapshot.states,
        snapshot.transitions,
        snapshot.depth,
        snapshot.errors,
        bytes(snapshot.memory)
    )
}
