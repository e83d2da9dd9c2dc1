//! A run as rows of cells: a row for each process, a column for each step.
//!
//! Filled: a message is sent, or a rendezvous; hollow: a message is received; small: the process alone; red:
//! an error. What is repeated forever has a bracket above it. Scripts find columns by `data-step`.

use crate::style::{self, Frame};
use crate::text::{escape, shortened, tooltip};
use std::fmt::Write;

/// A run, or some steps of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// What it shows.
    pub title: String,
    /// Names of the processes, with the numbers of their colours.
    pub rows: Vec<(String, usize)>,
    /// The first step.
    pub first: usize,
    /// For each step what it is called, and its cells.
    pub steps: Vec<(String, Vec<Cell>)>,
    /// The first step that is repeated forever, up to the last.
    pub cycle: Option<usize>,
}

/// What a process does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The row.
    pub row: usize,
    /// What.
    pub kind: Kind,
}

/// What a step is to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It acts alone.
    Local,
    /// It sends, or takes part in a rendezvous.
    Send,
    /// It receives.
    Receive,
    /// It shows an error.
    Fault,
}

const COLUMN: f64 = 17.0;
const ROW: f64 = 21.0;
const HEAD: f64 = 26.0;
const MARGIN: f64 = 8.0;

/// The rows as the text of an SVG file, or as a part of a page.
pub fn draw(lanes: &Lanes, frame: Frame<'_>) -> String {
    let names = lanes.rows.iter().map(|(name, _)| name.chars().count().min(24)).max().unwrap_or(0);
    let left = MARGIN + names as f64 * 7.5 + 12.0;
    let height = HEAD + lanes.rows.len() as f64 * ROW + MARGIN;
    let width = left + lanes.steps.len() as f64 * COLUMN + MARGIN;
    let mut out = style::open("lanes", (width.max(120.0), height), &lanes.title, frame);
    let middle = |row: usize| HEAD + (row as f64 + 0.5) * ROW;
    for (row, (name, colour)) in lanes.rows.iter().enumerate() {
        let _ = writeln!(
            out,
            "<text class=\"who c{}\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>\
             <line class=\"grid\" x1=\"{left:.1}\" x2=\"{width:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
            style::colour(*colour),
            middle(row) + 4.0,
            escape(&shortened(name, 24)),
            middle(row),
            middle(row)
        );
    }
    for (at, (note, cells)) in lanes.steps.iter().enumerate() {
        let (number, x) = (lanes.first + at, left + at as f64 * COLUMN);
        let _ = write!(
            out,
            "<g class=\"step\" data-step=\"{number}\">{}<rect class=\"band\" x=\"{x:.1}\" y=\"{:.1}\" \
             width=\"{COLUMN}\" height=\"{:.1}\"/>",
            tooltip(note),
            HEAD - 14.0,
            height - HEAD + 14.0 - MARGIN
        );
        if number % 5 == 0 {
            let _ = write!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{number}</text>",
                x + COLUMN / 2.0,
                HEAD - 4.0
            );
        }
        for cell in cells {
            let colour = lanes.rows.get(cell.row).map_or(0, |(_, colour)| style::colour(*colour));
            draw_cell(*cell, colour, (x + COLUMN / 2.0, middle(cell.row)), &mut out);
        }
        out.push_str("</g>\n");
    }
    cycle(lanes, left, &mut out);
    out + "</svg>\n"
}

fn draw_cell(cell: Cell, colour: usize, at: (f64, f64), out: &mut String) {
    let (class, width, height) = match cell.kind {
        Kind::Local => ("full", 8.0, 6.0),
        Kind::Send => ("full", 13.0, 12.0),
        Kind::Receive => ("hollow", 11.0, 10.0),
        Kind::Fault => ("full fault", 13.0, 12.0),
    };
    let _ = write!(
        out,
        "<rect class=\"cell c{colour} {class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>",
        at.0 - width / 2.0,
        at.1 - height / 2.0
    );
}

/// A bracket above the steps that are repeated forever.
fn cycle(lanes: &Lanes, left: f64, out: &mut String) {
    let Some(first) = lanes.cycle else { return };
    let from = left + first.saturating_sub(lanes.first) as f64 * COLUMN + 2.0;
    let to = left + lanes.steps.len() as f64 * COLUMN - 2.0;
    if from < to {
        let _ = writeln!(
            out,
            "<g><title>from here on forever</title><path class=\"cycle\" d=\"M{from:.1},11V5H{to:.1}V11\"/></g>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_drawn() {
        let cell = |row, kind| Cell { row, kind };
        let lanes = Lanes {
            title: "a run".to_string(),
            rows: vec![("<a>[0]".to_string(), 0), ("b[1]".to_string(), 9)],
            first: 4,
            steps: vec![
                ("x = 1".to_string(), vec![cell(0, Kind::Local)]),
                ("q!1".to_string(), vec![cell(0, Kind::Send), cell(1, Kind::Receive)]),
                ("assert".to_string(), vec![cell(1, Kind::Fault)]),
            ],
            cycle: Some(5),
        };
        let svg = draw(&lanes, Frame::File);
        let parsed = roxmltree::Document::parse(&svg).expect("XML");
        let steps: Vec<&str> = parsed.descendants().filter_map(|node| node.attribute("data-step")).collect();
        assert_eq!(steps, ["4", "5", "6"]);
        assert!(
            svg.contains("c1 full fault") && svg.contains("class=\"cycle\"") && svg.contains("&lt;a&gt;")
        );
    }
}
