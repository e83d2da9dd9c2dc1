//! `--msc FILE`: a message sequence chart of a run in a file of its own.

use draw::{Frame, chart_svg};
use engine::Failure;
use engine::saving::{self, RealStorage};
use std::ops::RangeInclusive;
use trace::msc::{self, Chart, End, text};
use trace::visible::visible;
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
pub fn save_run(path: &str, run: &Run<'_>, ending: End<'_>, headline: &str) -> Result<(), Failure> {
    let drawn = drawable(&(run.first() + 1..=run.len()));
    save(path, &msc::chart(run, drawn.clone(), ending), &title(headline, &drawn, run.len()))
}

/// Writes a chart: as text where the name ends in `.txt`, as SVG where it ends in `.svg` or has no ending.
pub fn save(path: &str, chart: &Chart, title: &str) -> Result<(), Failure> {
    let ending = std::path::Path::new(path).extension().map(|e| e.to_string_lossy().to_lowercase());
    let content = match ending.as_deref() {
        Some("txt") => visible(&text::draw(chart, Palette::PLAIN)).into_owned(),
        Some("svg") | None => chart_svg::draw(chart, title, Frame::File),
        Some(other) => {
            return Err(Failure::refused_with(
                format!("a chart is not drawn as .{other}: {path}"),
                "let the name end in .svg or .txt",
            ));
        }
    };
    let mut write = |out: &mut dyn std::io::Write| out.write_all(content.as_bytes());
    let written = saving::save(&RealStorage, std::path::Path::new(path), &mut write);
    let cannot = format!("cannot write the chart {path}");
    written.map_err(|error| Failure::unwritten(&cannot, &error, "choose another file"))
}
