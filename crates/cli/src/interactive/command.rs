//! The commands of a dialogue: one table each, from which lines are understood and the help is written.

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The short form.
    pub key: &'static str,
    /// The long form.
    pub word: &'static str,
    /// What may follow.
    pub argument: &'static str,
    /// What it does.
    pub help: &'static str,
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// Nothing: only Enter.
    Nothing,
    /// A number.
    Number(usize),
    /// A command, by its key, and what follows.
    Command(&'static str, &'a str),
    /// Something else.
    Unknown,
}

/// Understands a line. `u 3` and `u3` are the same.
pub fn understand<'a>(line: &'a str, table: &'static [Entry]) -> Said<'a> {
    let line = line.trim();
    if line.is_empty() {
        return Said::Nothing;
    }
    if line.bytes().all(|b| b.is_ascii_digit()) {
        return line.parse().map_or(Said::Unknown, Said::Number);
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let known = table.iter().find(|entry| entry.key == word || entry.word.eq_ignore_ascii_case(word));
    if let Some(entry) = known {
        return Said::Command(entry.key, rest.trim());
    }
    let attached = |entry: &&Entry| {
        !entry.argument.is_empty()
            && line.strip_prefix(entry.key).is_some_and(|rest| match entry.key {
                "/" => true,
                _ => rest.trim_start().starts_with(|c: char| c.is_ascii_digit()),
            })
    };
    match table.iter().find(attached) {
        Some(entry) => Said::Command(entry.key, line[entry.key.len()..].trim()),
        None => Said::Unknown,
    }
}

/// A count after a command: 1 unless something else is said.
pub fn count(rest: &str) -> Result<usize, String> {
    match rest {
        "" => Ok(1),
        digits => match digits.parse() {
            Ok(0) | Err(_) => Err(format!("{digits:?} is no number of steps\n")),
            Ok(n) => Ok(n),
        },
    }
}

/// The table for people; `first` describes what is no command.
pub fn help(first: &[(&str, &str)], table: &[Entry]) -> String {
    let mut lines: Vec<(String, &str)> =
        first.iter().map(|(left, right)| (left.to_string(), *right)).collect();
    for entry in table {
        let space = if entry.argument.is_empty() || entry.key == "/" { "" } else { " " };
        lines.push((format!("{}{space}{}", entry.key, entry.argument), entry.help));
    }
    let width = lines.iter().map(|(left, _)| left.len()).max().unwrap_or(0);
    lines.iter().map(|(left, right)| format!("  {left:width$}  {right}\n")).collect()
}

/// The answer to a line that is not understood.
pub fn not_understood(line: &str) -> String {
    let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(40).collect();
    format!("{shown:?} is no command; ? lists them\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Entry] = &[
        Entry { key: "u", word: "undo", argument: "[N]", help: "undo" },
        Entry { key: "s", word: "state", argument: "", help: "state" },
        Entry { key: "/", word: "find", argument: "TEXT", help: "find" },
        Entry { key: "?", word: "help", argument: "", help: "help" },
    ];

    #[test]
    fn lines_are_understood_generously() {
        let cases = [
            ("", Said::Nothing),
            ("  ", Said::Nothing),
            ("12", Said::Number(12)),
            ("u", Said::Command("u", "")),
            (" undo  3 ", Said::Command("u", "3")),
            ("UNDO", Said::Command("u", "")),
            ("u3", Said::Command("u", "3")),
            ("u 3", Said::Command("u", "3")),
            ("s", Said::Command("s", "")),
            ("s3", Said::Unknown),
            ("/x = 1", Said::Command("/", "x = 1")),
            ("/ x", Said::Command("/", "x")),
            ("?", Said::Command("?", "")),
            ("ux", Said::Unknown),
            ("-1", Said::Unknown),
            ("99999999999999999999999", Said::Unknown),
            ("é", Said::Unknown),
        ];
        for (line, expected) in cases {
            assert_eq!(understand(line, TABLE), expected, "{line:?}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count(""), Ok(1));
        assert_eq!(count("17"), Ok(17));
        for wrong in ["0", "-1", "x", "1 2"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn help_lists_everything_and_control_characters_are_not_repeated() {
        let help = help(&[("Enter", "go on")], TABLE);
        assert_eq!(help.lines().count(), 5);
        assert!(help.contains("  u [N]  undo\n") && help.contains("  /TEXT  find\n"), "{help}");
        assert_eq!(not_understood("a\x1b[2J"), "\"a[2J\" is no command; ? lists them\n");
    }
}
