//! Whether an output is the one that a document shows.
//!
//! What differs from run to run is replaced on both sides before lines are compared: a number with a unit of
//! time, size or rate. So documents show real numbers, and nobody has to keep them up to date.

/// Units whose numbers differ from run to run; longer ones first.
const UNITS: [&str; 12] = [
    "thousand states/s",
    "million states/s",
    "k states/s",
    "M states/s",
    "states/s",
    "seconds",
    "kB",
    "MB",
    "GB",
    "µs",
    "ms",
    "s",
];

/// A line with its volatile numbers replaced by `#`, and the padding before them by one space.
pub fn normal(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.trim_end();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, tail) = rest.split_at(at);
        let length = tail.find(|c: char| !(c.is_ascii_digit() || ".,_".contains(c))).unwrap_or(tail.len());
        let (number, after) = tail.split_at(length);
        let in_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match unit(after) {
            Some(unit) if !in_word => {
                let padded = before.ends_with(' ');
                out.push_str(before.trim_end_matches(' '));
                out.push_str(if padded { " # " } else { "# " });
                out.push_str(unit);
                rest = after.trim_start_matches(' ').strip_prefix(unit).unwrap_or(after);
            }
            _ => {
                out.push_str(before);
                out.push_str(number);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The unit at the beginning of `text`, after at most one space.
fn unit(text: &str) -> Option<&'static str> {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/');
    UNITS.into_iter().find(|unit| text.strip_prefix(unit).is_some_and(ends))
}

/// Whether one line fits: `[..]` stands for any text.
pub fn line_fits(shown: &str, found: &str) -> bool {
    let (shown, found) = (normal(shown), normal(found));
    let mut parts = shown.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether all lines fit: a line `...` stands for any number of lines.
pub fn fits(shown: &[String], found: &[String]) -> bool {
    // reach[j]: the shown lines so far fit the first j lines found.
    let mut reach = vec![false; found.len() + 1];
    reach[0] = true;
    for pattern in shown {
        let mut next = vec![false; found.len() + 1];
        if pattern.trim() == "..." {
            let first = reach.iter().position(|&r| r).unwrap_or(next.len());
            next[first..].fill(true);
        } else {
            for j in 0..found.len() {
                next[j + 1] = reach[j] && line_fits(pattern, &found[j]);
            }
        }
        reach = next;
    }
    reach[found.len()]
}

/// What to show for an output that no longer fits: the lines that still fit at both ends stay as they are
/// written, and where lines were left out, as many are shown before and after the gap as there were.
pub fn renewed(shown: &[String], found: &[String]) -> Vec<String> {
    let gap = |line: &String| line.trim() == "...";
    let (Some(first), Some(last)) = (shown.iter().position(gap), shown.iter().rposition(gap)) else {
        return renewed_whole(shown, found);
    };
    let (head, tail) = (&shown[..first], &shown[last + 1..]);
    if head.len() + tail.len() >= found.len() {
        return found.to_vec();
    }
    let (before, after) = (&found[..head.len()], &found[found.len() - tail.len()..]);
    [&renewed_whole(head, before), &shown[first..=first], &renewed_whole(tail, after)].concat()
}

fn renewed_whole(shown: &[String], found: &[String]) -> Vec<String> {
    let same = |(s, f): (&String, &String)| line_fits(s, f);
    let head = shown.iter().zip(found).take_while(|&pair| same(pair)).count();
    let (rest_shown, rest_found) = (&shown[head..], &found[head..]);
    let tail = rest_shown.iter().rev().zip(rest_found.iter().rev()).take_while(|&pair| same(pair)).count();
    let middle = &rest_found[..rest_found.len() - tail];
    [&shown[..head], middle, &shown[shown.len() - tail..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(String::from).collect()
    }

    #[test]
    fn times_sizes_and_rates_are_not_compared() {
        assert_eq!(normal("0.013 s, 12.5 MB in all"), "# s, # MB in all");
        assert_eq!(normal("38 states, depth 7;  1.2ms"), "38 states, depth 7; # ms");
        assert_eq!(normal("at 1,200 thousand states/s"), "at # thousand states/s");
        assert_eq!(normal("x2 s 3 steps 4 sec"), "x2 s 3 steps 4 sec");
        assert!(line_fits("done in 0.1 s", "done in  17.25 s"));
        assert!(!line_fits("38 states", "39 states"));
    }

    #[test]
    fn wildcards_within_a_line_and_over_lines() {
        assert!(line_fits("a[..]c", "abbc") && line_fits("[..]", "") && line_fits("a[..]b[..]c", "a1b2c"));
        assert!(!line_fits("a[..]c", "abcd") && !line_fits("ab[..]bc", "abc"));
        assert!(fits(&lines("a\n...\nz"), &lines("a\nb\nc\nz")) && fits(&lines("a\n..."), &lines("a")));
        assert!(!fits(&lines("a\n...\nz"), &lines("a\nb")) && !fits(&lines("a"), &lines("a\nb")));
        assert!(fits(&[], &[]) && !fits(&[], &lines("a")) && fits(&lines("..."), &[]));
    }

    #[test]
    fn renewing_keeps_what_still_fits() {
        let shown = lines("one [..]\nold\nin 0.1 s");
        assert_eq!(
            renewed(&shown, &lines("one 1\nnew\nnewer\nin 0.7 s")),
            lines("one [..]\nnew\nnewer\nin 0.1 s")
        );
        assert_eq!(renewed(&shown, &lines("x")), lines("x"));
        assert_eq!(renewed(&lines("a\n...\ny"), &lines("b\nc\nd\nz")), lines("b\n...\nz"));
        assert_eq!(renewed(&lines("a\n...\ny"), &lines("b\nz")), lines("b\nz"));
    }
}
