//! A report for people: the verdict first, the evidence second, the numbers last.

use crate::report::{PropertyReport, Report, Shown, Verdict};
use system::Fault;
use trace::style::{Painted, Palette};

/// The report as text; `quiet` leaves the numbers out.
pub fn text(report: &Report, quiet: bool, palette: Palette) -> String {
    let mut out = format!("{}: {}\n", report.model, headline(report, palette));
    for property in &report.properties {
        describe(property, &mut out);
    }
    if !quiet {
        numbers(report, &mut out);
    }
    out
}

fn headline(report: &Report, palette: Palette) -> Painted<&'static str> {
    match report.verdict() {
        "violated" => palette.bad("violated"),
        "holds" => palette.good("holds"),
        _ if report.interrupted() => palette.unknown("unknown (interrupted)"),
        _ => palette.unknown("unknown (no violation found, but not everything was checked)"),
    }
}

fn describe(property: &PropertyReport, out: &mut String) {
    match &property.verdict {
        Verdict::Holds(_) => out.push_str(&format!("  {}: holds, exhaustively\n", property.name)),
        Verdict::Unknown(why) => out.push_str(&format!("  {}: unknown: {why}\n", property.name)),
        Verdict::Violated(..) => {
            let count = match (property.errors, property.exhaustive) {
                (1, false) => String::new(),
                (1, true) => " (1 violation in all)".to_string(),
                (n, true) => format!(" ({n} violations in all)"),
                (n, false) => format!(" ({n} violations so far)"),
            };
            out.push_str(&format!("  {}: violated{count}\n", property.name));
            property.verdict.violations().for_each(|shown| describe_violation(shown, out));
        }
    }
}

fn describe_violation(shown: &Shown, out: &mut String) {
    let fault = shown.evidence.fault();
    let steps = match shown.evidence.depth() {
        1 => "1 step".to_string(),
        n => format!("{n} steps"),
    };
    out.push_str(&format!("    {}\n", describe_fault(fault)));
    out.push_str(&format!("      after {steps}; see it with: spinor replay {}\n", quoted(&shown.trail)));
}

/// A fault in one line: kind, message, place, process.
pub fn describe_fault(fault: &Fault) -> String {
    let process = match (&fault.process, fault.pid) {
        (Some(name), Some(pid)) => format!(", process {name} (pid {pid})"),
        (Some(name), None) => format!(", process {name}"),
        _ => String::new(),
    };
    format!(
        "{}: {}, at {}:{}:{}{process}",
        fault.kind.name(),
        fault.message,
        fault.file,
        fault.line,
        fault.column
    )
}

fn numbers(report: &Report, out: &mut String) {
    for property in &report.properties {
        let s = &property.statistics;
        if s.states > 0 {
            let name =
                if report.properties.len() > 1 { format!("{}: ", property.name) } else { String::new() };
            out.push_str(&format!(
                "{name}{} states, {} transitions ({} matched), depth {}, {} of states\n",
                s.states,
                s.transitions,
                s.matched,
                s.depth,
                bytes(s.state_bytes)
            ));
        }
    }
    let config = &report.config;
    out.push_str(&format!(
        "search {}, reduction {}, store {}, {}; {:.3} s, {} in all\n",
        config.search,
        config.por,
        config.store,
        config.exec,
        report.times.total.as_secs_f64(),
        bytes(report.peak_rss)
    ));
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !path.is_empty() && path.chars().all(plain) {
        true => path.to_string(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

/// A size for people.
pub fn bytes(n: u64) -> String {
    match n {
        0..0x400 => format!("{n} B"),
        0x400..0x10_0000 => format!("{:.1} kB", n as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MB", n as f64 / 1_048_576.0),
        _ => format!("{:.2} GB", n as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, quoted};

    #[test]
    fn paths_for_a_shell() {
        assert_eq!(quoted("a/b-1.pml.trail.json.2"), "a/b-1.pml.trail.json.2");
        assert_eq!(quoted("my model"), "'my model'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }

    #[test]
    fn sizes_for_people() {
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(1536), "1.5 kB");
        assert_eq!(bytes(9 << 20), "9.0 MB");
        assert_eq!(bytes(5 << 30), "5.00 GB");
    }
}
