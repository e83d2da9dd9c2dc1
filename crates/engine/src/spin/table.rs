//! The table of flags as Markdown, for docs/for-spin-users.md. A test compares.

use super::flags::{FLAGS, Flag, Here, Place, Takes};
use super::switches::SWITCHES;

/// Where the generated part of the document begins and ends.
pub const BEGIN: &str = "<!-- The tables below are written from crates/engine/src/spin: UPDATE_EXPECT=1. -->";

/// All tables.
pub fn markdown() -> String {
    let parts: [(&str, Vec<&Flag>); 4] = [
        ("Flags of `spin`", FLAGS.iter().filter(|flag| flag.place == Place::Spin).collect()),
        ("Behind `-run`, `-search`", FLAGS.iter().filter(|flag| flag.place == Place::Run).collect()),
        ("Flags of `pan`", FLAGS.iter().filter(|flag| flag.place == Place::Pan).collect()),
        ("Switches of the C compiler", SWITCHES.iter().collect()),
    ];
    let mut text = BEGIN.to_string() + "\n";
    for (title, rows) in parts {
        text += &format!("\n## {title}\n\n| Spin | means | here |\n|---|---|---|\n");
        for flag in rows {
            text += &format!("| `{}` | {} | {} |\n", typed(flag), cell(flag.about), cell(&here(flag)));
        }
    }
    text
}

/// A flag as it is typed.
pub fn typed(flag: &Flag) -> String {
    let dash = if flag.place == Place::Compiler { "-D" } else { "" };
    let equals = if flag.place == Place::Compiler { "=" } else { "" };
    let value = match flag.takes {
        Takes::Nothing => String::new(),
        Takes::Number => format!("{equals}N"),
        Takes::MaybeNumber => format!("[{equals}N]"),
        Takes::Text => "…".to_string(),
        Takes::Next => " …".to_string(),
        Takes::MaybeNext => "[N] […]".to_string(),
    };
    format!("{dash}{}{value}", flag.name)
}

/// What becomes of it, in words.
pub fn here(flag: &Flag) -> String {
    match flag.here {
        Here::Check(words) => format!("`{}`", words.replace("{}", "N")),
        Here::Does(_, text) => text.to_string(),
        Here::Without(why) => format!("no effect: {why}"),
        Here::Refused(why, instead) => format!("refused: {why}; {instead}"),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
