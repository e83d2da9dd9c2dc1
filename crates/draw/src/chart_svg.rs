//! A message sequence chart as SVG: one file that needs nothing else, light or dark as the viewer is.
//!
//! Every row has its own height and holds one thing, so that labels never meet; arrows are drawn below boxes
//! and labels, labels have a halo where arrows cross them. Text is measured as a fixed-width font. What is
//! cut short is in the tooltips.

use crate::chart::{AGAIN, Chart, LASTS, Mark, Row};
use crate::style::{self, Frame};
use crate::text::{escape, shortened, wrapped};
use std::fmt::Write;

/// Width of a character and height of a line.
const CHAR: f64 = 7.3;
const LINE: f64 = 16.0;
/// Room around everything.
const MARGIN: f64 = 16.0;
/// Where the heads of the columns are.
const HEAD: f64 = 58.0;
const HEAD_HEIGHT: f64 = 26.0;
/// Lines of a box at most: in a chart of few statements, and in a long one.
const BOX_LINES: (usize, usize) = (12, 5);
/// Statements of a chart of few statements.
const FEW: usize = 80;
/// The length of an arrow that leads nowhere, and how far a message to oneself goes out.
const STUB: f64 = 44.0;
const LOOP: f64 = 26.0;
/// Room for a line that says what is repeated.
const ACROSS: f64 = 26.0;
/// The distance between two columns.
const GAPS: (f64, f64) = (96.0, 320.0);

/// The chart as the text of an SVG file, or as a part of a page.
pub fn draw(chart: &Chart, title: &str, frame: Frame<'_>) -> String {
    let layout = Layout::new(chart, title);
    let empty = String::new;
    Drawing { chart, layout, frame, bands: empty(), under: empty(), over: empty() }.draw(title)
}

/// Where everything is.
struct Layout {
    /// Where the numbers of steps end.
    numbers: f64,
    /// The middle of each column.
    columns: Vec<f64>,
    /// How many characters fit between a column and the next one.
    room: Vec<usize>,
    /// For each row, where its line is.
    rows: Vec<f64>,
    /// Where the lines are that say what is repeated, with what they say.
    across: Vec<(f64, &'static str)>,
    /// Where the rows end.
    bottom: f64,
    width: f64,
    /// Characters in a box at most.
    box_chars: usize,
    /// Lines in a box at most.
    box_lines: usize,
}

/// On which side of a column a label stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A label: in which row, beside which column.
struct Label {
    row: usize,
    column: usize,
    side: Side,
    text: String,
}

impl Layout {
    fn new(chart: &Chart, title: &str) -> Self {
        let n = chart.columns().max(1);
        // The more columns, the less room for each.
        let box_chars = match n {
            0..=4 => 34,
            5..=8 => 26,
            _ => 20,
        };
        let statements: usize = chart.rows.iter().map(|row| row.notes.len()).sum();
        let box_lines = if statements <= FEW { BOX_LINES.0 } else { BOX_LINES.1 };
        let last = chart.rows.last().map_or(0, |row| *row.steps.end());
        let numbers = MARGIN + (2 * last.to_string().len() + 1) as f64 * 6.8;
        let half = half_widths(chart, n, box_chars, box_lines);
        let mut gaps: Vec<f64> = (0..n - 1).map(|c| half[c] + half[c + 1] + 14.0).collect();
        let mut beyond = half[n - 1];
        for label in labels(chart) {
            let wide = shortened(&label.text, box_chars + 4).chars().count() as f64 * CHAR + 26.0;
            let between =
                if label.side == Side::Right { Some(label.column) } else { label.column.checked_sub(1) };
            match between {
                Some(c) if c < n - 1 => gaps[c] = gaps[c].max(wide),
                Some(_) => beyond = beyond.max(wide),
                None => {}
            }
        }
        gaps.iter_mut().for_each(|gap| *gap = gap.clamp(GAPS.0, GAPS.1));
        let mut columns = vec![numbers + MARGIN + half[0].max(STUB + 10.0)];
        for gap in &gaps {
            columns.push(columns[columns.len() - 1] + gap);
        }
        let beyond = beyond.clamp(STUB + 20.0, GAPS.1);
        let wanted = columns[n - 1] + beyond + MARGIN;
        let title_width = title.chars().count().min(100) as f64 * 8.6 + 2.0 * MARGIN;
        let room = gaps.iter().chain([&beyond]).map(|gap| ((gap - 18.0) / CHAR) as usize).collect();
        let mut y = HEAD + HEAD_HEIGHT + 12.0;
        let mut rows = Vec::with_capacity(chart.rows.len());
        let mut across = Vec::new();
        let mut line = |y: &mut f64, text: &'static str| {
            across.push((*y + ACROSS - 6.0, text));
            *y += ACROSS;
        };
        for (i, row) in chart.rows.iter().enumerate() {
            if chart.again == Some(i) {
                line(&mut y, AGAIN[0]);
            }
            let (above, below) = extent(row, box_lines);
            rows.push(y + above);
            y += above + below;
        }
        if let Some(row) = chart.again {
            line(&mut y, if row < chart.rows.len() { AGAIN[1] } else { LASTS });
        }
        let width = wanted.max(title_width).max(420.0).ceil();
        Layout { numbers, columns, room, rows, across, bottom: y + 8.0, width, box_chars, box_lines }
    }
}

/// Room above and below the line of a row.
fn extent(row: &Row, box_lines: usize) -> (f64, f64) {
    match &row.mark {
        Mark::Local { texts, .. } => {
            let half = (texts.len().min(box_lines) as f64 * LINE + 10.0) / 2.0 + 4.0;
            (half, half)
        }
        Mark::Send { .. } => (19.0, 6.0),
        Mark::Receive { .. } => (10.0, 19.0),
        Mark::Meet { .. } => (20.0, 8.0),
        Mark::Start { .. } => (20.0, 18.0),
        Mark::End { .. } => (9.0, 9.0),
    }
}

/// Half the width of what stands in the middle of each column: names and boxes.
fn half_widths(chart: &Chart, n: usize, box_chars: usize, most: usize) -> Vec<f64> {
    let mut chars = vec![6; n];
    let mut widen = |column: usize, text: &str| {
        chars[column] = chars[column].max(text.chars().count().min(box_chars));
    };
    for lane in &chart.lanes {
        widen(lane.pid as usize, &lane.name);
    }
    for row in &chart.rows {
        if let Mark::Local { lane, texts, .. } = &row.mark {
            for line in box_lines(texts, most) {
                widen(chart.lanes[*lane].pid as usize, &line);
            }
        }
    }
    for (lane, text) in &chart.waiting {
        widen(chart.lanes[*lane].pid as usize, text);
    }
    chars.into_iter().map(|n| n as f64 * CHAR / 2.0 + 9.0).collect()
}

/// The labels beside the columns.
fn labels(chart: &Chart) -> Vec<Label> {
    let column = |lane: usize| chart.lanes[lane].pid as usize;
    let towards = |from: usize, to: usize| if to < from { Side::Left } else { Side::Right };
    let mut labels = Vec::new();
    for (row, content) in chart.rows.iter().enumerate() {
        let mut add = |column, side, text| labels.push(Label { row, column, side, text });
        match &content.mark {
            Mark::Send { lane, message } => {
                let message = &chart.messages[*message];
                let to = message.received.map_or(column(*lane), |(to, _)| column(to));
                let text = format!("{}!{}", message.channel, message.text);
                add(column(*lane), towards(column(*lane), to), text);
            }
            Mark::Receive { lane, message } => {
                let message = &chart.messages[*message];
                let text = format!("{}?{}", message.channel, message.text);
                match message.sent {
                    Some((from, _)) => add(column(*lane), towards(column(*lane), column(from)), text),
                    None => add(column(*lane), Side::Right, text),
                }
            }
            Mark::Meet { from, to, text } => {
                add(column(*from), towards(column(*from), column(*to)), text.clone());
            }
            Mark::Start { by, lane } => {
                let side = towards(column(*by), column(*lane));
                add(column(*by), side, "run".to_string());
            }
            Mark::Local { .. } | Mark::End { .. } => {}
        }
    }
    labels
}

/// The lines of a box: all, or the first and the last ones.
fn box_lines(texts: &[(usize, String)], most: usize) -> Vec<String> {
    let texts: Vec<String> = texts.iter().map(|(_, text)| text.clone()).collect();
    if texts.len() <= most {
        return texts;
    }
    let (first, last) = (most / 2, texts.len() - (most - 1 - most / 2));
    let more = format!("… {} more …", last - first);
    [&texts[..first], &[more], &texts[last..]].concat()
}

struct Drawing<'a> {
    chart: &'a Chart,
    layout: Layout,
    frame: Frame<'a>,
    /// The ground of the rows, with the numbers of their steps.
    bands: String,
    /// Lines and arrows.
    under: String,
    /// Boxes and labels.
    over: String,
}

impl Drawing<'_> {
    fn draw(mut self, title: &str) -> String {
        let after = self.ending();
        let height = (after + MARGIN).ceil();
        self.lanes(self.layout.bottom);
        for row in 0..self.chart.rows.len() {
            self.row(row);
        }
        for label in labels(self.chart) {
            self.label(&label);
        }
        self.across();
        let width = self.layout.width;
        let mut out = style::open("msc", (width, height), title, self.frame);
        for (id, class) in [("tip", "tip"), ("meet", "meettip"), ("start", "starttip")] {
            let _ = writeln!(
                out,
                "<marker id=\"{}\" viewBox=\"0 0 10 8\" refX=\"10\" refY=\"4\" markerWidth=\"10\" markerHeight=\"8\" \
                 markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"{class}\" d=\"M0,0L10,4L0,8z\"/></marker>",
                self.frame.id(id)
            );
        }
        let chars = ((width - 2.0 * MARGIN) / 8.6) as usize;
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"{MARGIN}\" y=\"28\">{}</text>",
            escape(&shortened(title, chars))
        );
        out + &self.bands + &self.under + &self.over + "</svg>\n"
    }

    /// The lines that say what is repeated.
    fn across(&mut self) {
        let right = self.layout.width - MARGIN;
        for (y, text) in &self.layout.across {
            let _ = writeln!(
                self.over,
                "<line class=\"start\" x1=\"{MARGIN}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">↻ {text}</text>",
                MARGIN + 4.0,
                y - 4.0
            );
        }
    }

    fn x(&self, lane: usize) -> f64 {
        self.layout.columns[self.chart.lanes[lane].pid as usize]
    }

    /// Lifelines and heads.
    fn lanes(&mut self, bottom: f64) {
        for (i, lane) in self.chart.lanes.iter().enumerate() {
            let x = self.x(i);
            let middle = lane.starts.map_or(HEAD + HEAD_HEIGHT / 2.0, |row| self.layout.rows[row]);
            let end = lane.ends.map_or(bottom, |row| self.layout.rows[row]);
            let top = middle + HEAD_HEIGHT / 2.0;
            let _ = writeln!(
                self.under,
                "<line class=\"life\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{end:.1}\"/>"
            );
            let name = shortened(&lane.name, self.layout.box_chars);
            let width = name.chars().count() as f64 * CHAR * 1.04 + 16.0;
            let _ = writeln!(
                self.over,
                "<rect class=\"head\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{HEAD_HEIGHT}\" rx=\"6\"/>\
                 <text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                x - width / 2.0,
                middle - HEAD_HEIGHT / 2.0,
                middle + 4.0,
                escape(&name)
            );
        }
    }

    fn row(&mut self, row: usize) {
        let content = &self.chart.rows[row];
        let y = self.layout.rows[row];
        let (first, last) = (content.steps.start(), content.steps.end());
        let number = if first == last { first.to_string() } else { format!("{first}–{last}") };
        let (above, below) = extent(content, self.layout.box_lines);
        let _ = writeln!(
            self.bands,
            "<g class=\"row\" data-from=\"{first}\" data-to=\"{last}\"><rect class=\"band\" x=\"0\" y=\"{:.1}\" \
             width=\"{:.1}\" height=\"{:.1}\"/><text class=\"number\" x=\"{:.1}\" y=\"{:.1}\">{number}</text></g>",
            y - above,
            self.layout.width,
            above + below,
            self.layout.numbers,
            y + 4.0
        );
        match &content.mark {
            Mark::Local { lane, texts, wrong } => {
                let class = if *wrong { "box wrong" } else { "box" };
                self.boxed(self.x(*lane), y, class, &box_lines(texts, self.layout.box_lines), &content.notes);
            }
            Mark::Send { lane, message } => self.message(*lane, *message, row),
            Mark::Receive { lane, message } if self.chart.messages[*message].sent.is_none() => {
                let x = self.x(*lane);
                self.arrow("message", "tip", (x - STUB, y), (x, y), &content.notes);
                let _ = writeln!(
                    self.over,
                    "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"/>",
                    x - STUB
                );
            }
            Mark::Receive { .. } => {}
            Mark::Meet { from, to, .. } => {
                self.arrow("meet", "meet", (self.x(*from), y), (self.x(*to), y), &content.notes);
            }
            Mark::Start { by, lane } => {
                let (from, to) = (self.x(*by), self.x(*lane));
                let name = shortened(&self.chart.lanes[*lane].name, self.layout.box_chars);
                let half = name.chars().count() as f64 * CHAR * 1.04 / 2.0 + 8.0;
                let to = if to > from { to - half } else { to + half };
                self.arrow("start", "start", (from, y), (to, y), &content.notes);
            }
            Mark::End { lane } => {
                let x = self.x(*lane);
                let _ = writeln!(
                    self.over,
                    "<g>{}<line class=\"end\" x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/></g>",
                    tooltip(&content.notes),
                    x - 10.0,
                    x + 10.0
                );
            }
        }
    }

    /// From the row of the send to the row of the receive.
    fn message(&mut self, lane: usize, number: usize, row: usize) {
        let (x, y) = (self.x(lane), self.layout.rows[row]);
        let message = &self.chart.messages[number];
        let mut notes = self.chart.rows[row].notes.clone();
        let Some((to, end)) = message.received else {
            notes.push("not received".to_string());
            self.arrow("message", "tip", (x, y), (x + STUB - 4.0, y), &notes);
            let _ =
                writeln!(self.over, "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"/>", x + STUB);
            return;
        };
        notes.extend(self.chart.rows[end].notes.iter().cloned());
        let (to_x, to_y) = (self.x(to), self.layout.rows[end]);
        let class = if end - row > 4 { "message far" } else { "message" };
        if (to_x - x).abs() < 1.0 {
            let _ = writeln!(
                self.under,
                "<path class=\"{class}\" d=\"M{x:.1},{y:.1}h{LOOP}V{to_y:.1}H{x:.1}\" marker-end=\"url(#{})\">{}</path>",
                self.frame.id("tip"),
                tooltip(&notes)
            );
        } else {
            self.arrow(class, "tip", (x, y), (to_x, to_y), &notes);
        }
    }

    fn arrow(&mut self, class: &str, tip: &str, from: (f64, f64), to: (f64, f64), notes: &[String]) {
        let _ = writeln!(
            self.under,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" marker-end=\"url(#{})\">{}</line>",
            from.0,
            from.1,
            to.0,
            to.1,
            self.frame.id(tip),
            tooltip(notes)
        );
    }

    /// A send's label stands above its arrow, a receive's below.
    fn label(&mut self, label: &Label) {
        let content = &self.chart.rows[label.row];
        let below = matches!(content.mark, Mark::Receive { .. });
        let y = self.layout.rows[label.row] + if below { 14.0 } else { -6.0 };
        let between = match label.side {
            Side::Right => label.column,
            Side::Left => label.column.saturating_sub(1),
        };
        let text = shortened(&label.text, self.layout.room[between]);
        let x = self.layout.columns[label.column];
        let (x, anchor) = if label.side == Side::Right { (x + 9.0, "start") } else { (x - 9.0, "end") };
        let _ = writeln!(
            self.over,
            "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}{}</text>",
            tooltip(&content.notes),
            escape(&text)
        );
    }

    fn boxed(&mut self, x: f64, y: f64, class: &str, lines: &[String], notes: &[String]) {
        let lines: Vec<String> = lines.iter().map(|line| shortened(line, self.layout.box_chars)).collect();
        let chars = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let (width, height) = (chars as f64 * CHAR + 14.0, lines.len() as f64 * LINE + 10.0);
        let _ = write!(
            self.over,
            "<g>{}<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\"/>",
            tooltip(notes),
            x - width / 2.0,
            y - height / 2.0
        );
        for (i, line) in lines.iter().enumerate() {
            let y = y - height / 2.0 + 5.0 + (i as f64 + 0.77) * LINE;
            let _ = write!(self.over, "<text class=\"in\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(line));
        }
        self.over.push_str("</g>\n");
    }

    /// Below the last row: who waits forever, and what is wrong. Returns where the chart ends.
    fn ending(&mut self) -> f64 {
        let chart = self.chart;
        let mut y = self.layout.bottom;
        if !chart.waiting.is_empty() {
            let middle = y + LINE + 9.0;
            for (lane, text) in &chart.waiting {
                let lines = ["waits for".to_string(), text.clone()];
                self.boxed(self.x(*lane), middle, "box wrong waits", &lines, std::slice::from_ref(text));
            }
            self.layout.bottom = middle;
            y = middle + LINE + 13.0;
        }
        if let Some(fault) = &chart.fault {
            let width = self.layout.width - 2.0 * MARGIN;
            let lines = wrapped(fault, ((width - 24.0) / (CHAR * 1.02)) as usize);
            let height = lines.len() as f64 * LINE + 14.0;
            let _ = writeln!(
                self.over,
                "<rect class=\"wrong\" x=\"{MARGIN}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"4\"/>"
            );
            for (i, line) in lines.iter().enumerate() {
                let y = y + 7.0 + (i as f64 + 0.77) * LINE;
                let _ = writeln!(
                    self.over,
                    "<text class=\"bad\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                    MARGIN + 12.0,
                    escape(line)
                );
            }
            y += height;
        }
        y
    }
}

/// What a viewer shows when the pointer is there.
fn tooltip(notes: &[String]) -> String {
    crate::text::tooltip(&notes.join("\n"))
}
