//! What `--ranges` and `--profile` noted.

use super::number::grouped;
use crate::noting::{Count, Noted, Range};
use trace::Palette;
use trace::visible::one_line;

/// Appends what was noted of a property's search.
pub(super) fn noted(noted: &Noted, whole: bool, palette: Palette, out: &mut String) {
    let seen = if whole { "in all states" } else { "in the states that were visited" };
    if let Some(ranges) = &noted.ranges {
        out.push_str(&format!("\n{}\n", palette.strong(format!("values {seen}"))));
        let width = ranges.iter().map(|range| range.name.chars().count()).max().unwrap_or(0);
        for range in ranges {
            out.push_str(&format!("  {:width$}  {}\n", one_line(&range.name), one_line(&values(range))));
        }
    }
    if let Some(statements) = &noted.statements {
        out.push_str(&format!("\n{}\n", palette.strong("how often each statement was executed")));
        let width = statements.iter().map(|count| grouped(count.times).len()).max().unwrap_or(0);
        for Count { process, file, line, text, times } in statements {
            let place = palette.place(format!("{}:{line}", one_line(file)));
            let text = one_line(text);
            out.push_str(&format!("  {:>width$}  {place} {process}: {text}\n", grouped(*times)));
        }
    }
}

/// The values of a variable: one by one where there are few, else from the smallest to the largest.
fn values(range: &Range) -> String {
    match (&range.values, range.bounds) {
        (_, Some((low, high))) if range.is_dense() => format!("{low}..{high}"),
        (Some(values), _) => values.join(", "),
        (None, Some((low, high))) => format!("{low}..{high}, not all of them"),
        (None, None) => "many".to_string(),
    }
}
