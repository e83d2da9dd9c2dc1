//! "Did you mean …?": the known name that is nearest to a wrong one.
//!
//! Nearest is by edit distance (a swap of neighbours counts as one), and near enough means that less than a
//! third of the letters differ. Letter case alone is the smallest difference of all. The work is bounded:
//! long names and huge tables get no suggestion.

/// Longer names get no suggestion.
const MAX_LENGTH: usize = 64;
/// The number of known names that are looked at.
const MAX_NAMES: usize = 4096;

/// The name among `known` that is most like `wrong`, if one is like it enough. Of several the first is taken.
pub fn nearest<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = wrong.chars().count();
    if length > MAX_LENGTH {
        return None;
    }
    let tolerance = (length / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for name in known.into_iter().take(MAX_NAMES) {
        if name == wrong || name.len().abs_diff(wrong.len()) > 2 * tolerance + 4 {
            continue;
        }
        let Some(d) = difference(wrong, name, tolerance) else { continue };
        if best.is_none_or(|(b, _)| d < b) {
            best = Some((d, name));
        }
    }
    best.map(|(_, name)| name)
}

/// How different two names are, in half steps; `None` if more than `tolerance` letters are.
fn difference(wrong: &str, name: &str, tolerance: usize) -> Option<usize> {
    if wrong.eq_ignore_ascii_case(name) {
        return Some(1);
    }
    let distance = edit_distance(wrong, name);
    // A name of one or two letters is like any other: only a swap or a missing letter of a longer one is a
    // hint.
    let substantial = wrong.chars().count() > 1 && name.chars().count() > 1;
    (substantial && distance <= tolerance).then_some(2 * distance)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["turn", "flag", "count", "x", "ncrit"];
        for (wrong, expected) in [
            ("trun", Some("turn")),
            ("Turn", Some("turn")),
            ("conut", Some("count")),
            ("flags", Some("flag")),
            ("ncirt", Some("ncrit")),
            ("y", None),
            ("X", Some("x")),
            ("zebra", None),
        ] {
            assert_eq!(nearest(wrong, known), expected, "{wrong}");
        }
        assert_eq!(nearest(&"a".repeat(100), ["a"]), None);
    }
}
