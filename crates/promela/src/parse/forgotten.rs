//! What is accepted, as Spin accepts it, but was hardly meant so: an option whose `::` was forgotten, and a
//! `printf` with fewer or more values than its format prints.

use super::parser::Parser;
use crate::ast::{Step, Stmt, StmtKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// Where something stands: its file, row and column.
type TokenPosition = (FileId, usize, u32);

/// An option of `if` or `do` while it is read.
#[derive(Default)]
pub(super) struct OpenOption {
    /// Its `::`, and its first step.
    start: Option<(TokenPosition, TokenPosition)>,
    steps: usize,
    /// Its second step begins in the line of the `::`: what stands below in the column of the first one is no
    /// part of it.
    is_short: bool,
}

impl OpenOption {
    /// An option with this `::`.
    pub(super) fn new(parser: &mut Parser<'_>, colons: Span) -> Self {
        let first = parser.peek().span;
        let start = parser.place_of(colons).zip(parser.place_of(first));
        OpenOption { start, steps: 0, is_short: false }
    }
}

impl Parser<'_> {
    fn place_of(&self, span: Span) -> Option<TokenPosition> {
        let sources = &self.lexer.stream.sources;
        let span = sources.site(span);
        let (file, row) = sources.row(span)?;
        let line = sources.file(file).line(row);
        let before = (span.start - sources.file(file).row_start(row)) as usize;
        Some((file, row, width(line.get(..before)?)))
    }

    /// Looks at a step of an option that begins at `start`; `begins_line`: nothing but a line end separates
    /// it from the one before. `has_arrow`: `->` follows.
    pub(super) fn forgotten_option(
        &mut self,
        option: &mut OpenOption,
        step: &Step,
        start: Span,
        begins_line: bool,
        has_arrow: bool,
    ) {
        option.steps += 1;
        let (Some((colons, first)), Some(here)) = (option.start, self.place_of(start)) else { return };
        if option.steps == 2 {
            option.is_short = (here.0, here.1) == (colons.0, colons.1);
        }
        let message = match step {
            _ if option.steps == 1 => return,
            Step::Stmt(Stmt { kind: StmtKind::Else, .. }) => {
                "this `else` does not begin an option, so it can always be executed"
            }
            Step::Stmt(Stmt { kind: StmtKind::Expr(_) | StmtKind::Receive { .. }, .. })
                if begins_line
                    && has_arrow
                    && option.is_short
                    && here.0 == colons.0
                    && (colons.2..=first.2).contains(&here.2) =>
            {
                "this condition belongs to the option above"
            }
            _ => return,
        };
        let warning = Diagnostic::new(Code::W0311, start, message);
        self.report(warning.help("begin every option with `::`, or indent what belongs to the one above"));
    }

    /// Looks at a `printf` whose format begins at `span`.
    pub(super) fn forgotten_value(&mut self, format: &str, values: usize, span: Span) {
        let wanted = conversions(format);
        if wanted == values {
            return;
        }
        let count = |n: usize| if n == 1 { "1 value".to_string() } else { format!("{n} values") };
        let message = format!("this format prints {}, but has {}", count(wanted), count(values));
        let help = if wanted > values {
            "add a value for each `%d`, `%x`, `%c`, `%e` …; for a percent sign, write `%%`"
        } else {
            "the values that are too many are not printed: add `%d` for each, or remove them"
        };
        self.report(Diagnostic::new(Code::W0404, span, message).help(help));
    }
}

/// How wide a text is that begins a line: tabs go on to the next multiple of eight.
fn width(text: &str) -> u32 {
    text.chars().fold(0, |width, c| if c == '\t' { width / 8 * 8 + 8 } else { width + 1 })
}

/// How many values a format prints.
fn conversions(format: &str) -> usize {
    let mut signs = format.bytes();
    let mut n = 0;
    while let Some(sign) = signs.next() {
        if sign == b'%' && signs.next().is_some_and(|kind| kind != b'%') {
            n += 1;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_of_a_format() {
        for (format, n) in [("", 0), ("x = %d, y = %x\n", 2), ("100 %%", 0), ("%%%d", 1), ("%", 0)] {
            assert_eq!(super::conversions(format), n, "{format}");
        }
    }
}
