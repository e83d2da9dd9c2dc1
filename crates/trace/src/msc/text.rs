//! A message sequence chart as text: a column for each process, a line for each thing that happens.
//!
//! A message through a channel is drawn as an arrow where it is received; `#3` tells which send it comes
//! from.

use crate::story::shortened;
use crate::style::Palette;
use draw::chart::{AGAIN, Chart, LASTS, Mark};

/// The narrowest and the widest column.
const WIDTHS: (usize, usize) = (16, 30);
/// Room for the numbers of steps.
const MARGIN: usize = 8;

/// The chart as lines of text.
pub fn draw(chart: &Chart, palette: Palette) -> String {
    Drawing::new(chart).draw(palette)
}

struct Drawing<'a> {
    chart: &'a Chart,
    width: usize,
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a Chart) -> Self {
        let texts = (0..chart.rows.len()).flat_map(|row| words(chart, row));
        let waits = chart.waiting.iter().map(|(_, text)| text.chars().count() + 12);
        let longest = texts.map(|(_, _, text)| text.chars().count() + 4).chain(waits).max().unwrap_or(0);
        Drawing { chart, width: longest.clamp(WIDTHS.0, WIDTHS.1) }
    }

    fn draw(&self, palette: Palette) -> String {
        let chart = self.chart;
        let mut alive: Vec<Option<usize>> = vec![None; chart.columns()];
        for (i, lane) in chart.lanes.iter().enumerate().filter(|(_, lane)| lane.starts.is_none()) {
            alive[lane.pid as usize] = Some(i);
        }
        let mut out = self.heads(&alive, palette);
        for (row, content) in chart.rows.iter().enumerate() {
            if chart.again == Some(row) {
                self.across(AGAIN[0], &mut out, palette);
            }
            if let Mark::Start { lane, .. } = content.mark {
                alive[chart.lanes[lane].pid as usize] = Some(lane);
            }
            self.row(row, &alive, palette, &mut out);
            if let Mark::End { lane } = content.mark {
                alive[chart.lanes[lane].pid as usize] = None;
            }
        }
        match chart.again {
            Some(row) if row < chart.rows.len() => self.across(AGAIN[1], &mut out, palette),
            Some(_) => self.across(LASTS, &mut out, palette),
            None => {}
        }
        for (lane, text) in &chart.waiting {
            let mut line = self.lifelines(&alive);
            self.put(&mut line, self.centre(*lane), &self.cut(&format!("✗ waits: {text}")));
            finish(&mut out, "", line, |line| palette.bad(line).to_string());
        }
        if let Some(fault) = &chart.fault {
            out.push_str(&format!("{:MARGIN$}{}\n", "", palette.bad(format!("✗ {fault}"))));
        }
        out
    }

    /// A line across all columns that says something.
    fn across(&self, text: &str, out: &mut String, palette: Palette) {
        let width = (self.chart.columns() * self.width).saturating_sub(text.chars().count() + 5).max(3);
        finish(out, "↻", format!("┄┄┄ {text} {}", "┄".repeat(width)).chars().collect(), |line| {
            palette.strong(line).to_string()
        });
    }

    fn heads(&self, alive: &[Option<usize>], palette: Palette) -> String {
        let mut line = vec![' '; alive.len() * self.width];
        for &lane in alive.iter().flatten() {
            self.put(&mut line, self.centre(lane), &self.cut(&self.chart.lanes[lane].name));
        }
        let mut out = String::new();
        finish(&mut out, "", line, |line| palette.strong(line).to_string());
        out
    }

    /// One thing that happens: a line, or several for several statements.
    fn row(&self, row: usize, alive: &[Option<usize>], palette: Palette, out: &mut String) {
        let content = &self.chart.rows[row];
        for (number, lane, text) in words(self.chart, row) {
            let mut line = self.lifelines(alive);
            match content.mark {
                Mark::Meet { from, to, .. } => self.arrow(&mut line, from, to, &text, '═'),
                Mark::Receive { lane, message } => match self.chart.messages[message].sent {
                    Some((from, _)) if self.column(from) != self.column(lane) => {
                        self.arrow(&mut line, from, lane, &text, '─');
                    }
                    _ => self.put(&mut line, self.centre(lane), &self.cut(&text)),
                },
                Mark::Start { by, lane } => {
                    self.arrow(&mut line, by, lane, "run", '┄');
                    self.put(&mut line, self.centre(lane) + 2, &self.cut(&text));
                }
                _ => self.put(&mut line, self.centre(lane), &self.cut(&text)),
            }
            let wrong = matches!(content.mark, Mark::Local { wrong: true, .. });
            let bad = wrong && number == *content.steps.end();
            finish(out, &number.to_string(), line, |line| match bad {
                true => palette.bad(line).to_string(),
                false => line.to_string(),
            });
        }
    }

    fn column(&self, lane: usize) -> u32 {
        self.chart.lanes[lane].pid
    }

    fn centre(&self, lane: usize) -> usize {
        self.column(lane) as usize * self.width + 1
    }

    fn cut(&self, text: &str) -> String {
        shortened(text, self.width - 2)
    }

    fn lifelines(&self, alive: &[Option<usize>]) -> Vec<char> {
        let mut line = vec![' '; alive.len() * self.width];
        for &lane in alive.iter().flatten() {
            line[self.centre(lane)] = '│';
        }
        line
    }

    fn put(&self, line: &mut Vec<char>, at: usize, text: &str) {
        for (i, c) in text.chars().enumerate() {
            if line.len() <= at + i {
                line.push(' ');
            }
            line[at + i] = c;
        }
    }

    /// An arrow between two columns with a label on it.
    fn arrow(&self, line: &mut Vec<char>, from: usize, to: usize, text: &str, stroke: char) {
        let (a, b) = (self.centre(from), self.centre(to));
        let (left, right) = (a.min(b), a.max(b));
        for c in &mut line[left + 1..right] {
            *c = stroke;
        }
        line[left] = if a == left { '├' } else { '◀' };
        line[right] = if b == right { '▶' } else { '┤' };
        let room = right - left;
        let text = shortened(text, room.saturating_sub(5));
        self.put(line, left + 3, &format!(" {text} "));
    }
}

/// The texts of a row, each with the number of its step and its lane.
fn words(chart: &Chart, row: usize) -> Vec<(usize, usize, String)> {
    let message = |number: usize, sign: char| {
        let message = &chart.messages[number];
        format!("#{} {}{sign}{}", number + 1, message.channel, message.text)
    };
    let step = *chart.rows[row].steps.start();
    let one = |lane: usize, text: String| vec![(step, lane, text)];
    match &chart.rows[row].mark {
        Mark::Local { lane, texts, .. } => {
            texts.iter().map(|(step, text)| (*step, *lane, format!("■ {text}"))).collect()
        }
        Mark::Send { lane, message: number } => {
            let lost = if chart.messages[*number].received.is_none() { " (not received)" } else { "" };
            one(*lane, format!("○ {}{lost}", message(*number, '!')))
        }
        Mark::Receive { lane, message: number } => one(*lane, message(*number, '?')),
        Mark::Meet { from, text, .. } => one(*from, text.clone()),
        Mark::Start { by, lane } => one(*by, chart.lanes[*lane].name.clone()),
        Mark::End { lane } => one(*lane, "┴ ends".to_string()),
    }
}

fn finish(out: &mut String, number: &str, line: Vec<char>, paint: impl Fn(&str) -> String) {
    let line: String = line.into_iter().collect();
    let line = line.trim_end();
    out.push_str(&format!("{number:>6}  {}\n", paint(line)));
}
