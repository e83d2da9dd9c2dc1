//! Statements that no run executes: shown when a search saw everything, so that it is a fact and not a gap.

use super::number::plural;
use crate::report::Report;
use system::coverage::{Coverage, Statement};
use trace::Palette;
use trace::visible::one_line;

/// As many statements in a row are written as one range.
const RANGE: usize = 4;

/// Appends what was never executed, process by process; nothing when all was.
pub(super) fn unreached(report: &Report, palette: Palette, out: &mut String) {
    let Some(coverage) = report.properties.iter().find_map(|p| p.coverage.as_ref()) else { return };
    let incomplete: Vec<&Coverage> = coverage.iter().filter(|c| c.unreached().next().is_some()).collect();
    if incomplete.is_empty() {
        return;
    }
    out.push_str(&format!("\n{}\n", palette.strong("never executed")));
    for coverage in incomplete {
        process(coverage, palette, out);
    }
}

fn process(coverage: &Coverage, palette: Palette, out: &mut String) {
    let name = &coverage.process;
    let missing = coverage.unreached().count();
    if !coverage.started {
        let at = coverage
            .statements
            .first()
            .map_or_else(String::new, |s| format!("{}:{}: ", one_line(&s.file), s.line));
        let no = palette.unknown("no such process is ever started");
        return out.push_str(&format!("  {}{name}: {no}\n", palette.place(at)));
    }
    let of = plural(coverage.statements.len() as u64, "statement");
    out.push_str(&format!("  {name}: {missing} of {of}\n"));
    for run in runs(&coverage.statements) {
        show(run, palette, out);
    }
}

/// Statements in a row, in one file, none of which was executed.
fn runs(statements: &[Statement]) -> impl Iterator<Item = &[Statement]> {
    let together = |a: &Statement, b: &Statement| a.executed == b.executed && a.file == b.file;
    statements.chunk_by(together).filter(|run| run.iter().any(|statement| !statement.executed))
}

fn show(run: &[Statement], palette: Palette, out: &mut String) {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
    if run.len() >= RANGE {
        let place = palette.place(format!("{}:{}-{}", one_line(&first.file), first.line, last.line));
        let n = plural(run.len() as u64, "statement");
        out.push_str(&format!("    {place}: {n}, from `{}` to `{}`\n", first.text, last.text));
        return;
    }
    for statement in run {
        let place = palette.place(format!("{}:{}", one_line(&statement.file), statement.line));
        out.push_str(&format!("    {place}: {}\n", statement.text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(started: bool, executed: &str) -> Coverage {
        let statement = |(line, mark): (u32, char)| Statement {
            file: "m.pml".to_string(),
            line,
            column: 1,
            text: format!("s{line}"),
            executed: mark == '+',
        };
        let statements = (1..).zip(executed.chars()).map(statement).collect();
        Coverage { process: "p".to_string(), started, statements }
    }

    fn text(started: bool, executed: &str) -> String {
        let mut out = String::new();
        process(&coverage(started, executed), Palette::PLAIN, &mut out);
        out
    }

    #[test]
    fn single_statements_and_ranges() {
        assert_eq!(
            text(true, "+--+----"),
            "  p: 6 of 8 statements\n    m.pml:2: s2\n    m.pml:3: s3\n    m.pml:5-8: 4 statements, from `s5` to `s8`\n"
        );
    }

    #[test]
    fn a_process_that_never_ran_is_one_line() {
        assert_eq!(text(false, "--"), "  m.pml:1: p: no such process is ever started\n");
    }
}
