//! `--msc FILE`: a message sequence chart of a run in a file of its own.

use engine::Failure;
use std::ops::RangeInclusive;
use system::Fault;
use trace::msc::{Chart, svg, text};
use trace::{Palette, Run};

/// Steps that a chart shows at most: nobody can look at more, and viewers give up.
pub const MOST: usize = 1000;

/// The steps of these that a chart shows: the last ones.
pub fn drawable(steps: &RangeInclusive<usize>) -> RangeInclusive<usize> {
    (*steps.start()).max((*steps.end() + 1).saturating_sub(MOST))..=*steps.end()
}

/// A title that says so when a chart does not show the whole run of `len` steps.
pub fn title(title: &str, steps: &RangeInclusive<usize>, len: usize) -> String {
    match *steps == (1..=len) {
        true => title.to_string(),
        false => format!("{title} (here: steps {} to {})", steps.start(), steps.end()),
    }
}

/// Writes the chart of a whole run, or of its last steps if there are too many or no more are remembered.
pub fn save_run(path: &str, run: &Run<'_>, fault: Option<&Fault>, headline: &str) -> Result<(), Failure> {
    let drawn = drawable(&(run.first() + 1..=run.len()));
    save(path, &Chart::of(run, drawn.clone(), fault), &title(headline, &drawn, run.len()))
}

/// Writes a chart: as text where the name ends in `.txt`, else as SVG.
pub fn save(path: &str, chart: &Chart, title: &str) -> Result<(), Failure> {
    let is_text = path.to_lowercase().ends_with(".txt");
    let content = if is_text { text::draw(chart, Palette::PLAIN) } else { svg::draw(chart, title) };
    std::fs::write(path, content).map_err(|e| {
        Failure::refused_with(format!("cannot write the chart {path}: {e}"), "choose another file")
    })
}
