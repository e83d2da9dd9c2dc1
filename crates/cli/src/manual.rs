//! `spinor completions` and `spinor man`: both are written from the table of options.
//!
//! Options whose values are judged by the engine are free text for the parser; here their values are added,
//! so that a shell can offer them and a manual can list them, without changing what is accepted.

use crate::args::{Cli, CompletionsArgs, Format, ManArgs};
use crate::output;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory, ValueHint};
use engine::options::{TABLE, one_of};
use engine::saving::{RealStorage, save};
use engine::{Answer, Failure};
use std::path::Path;

/// Writes a completion script; returns the exit status.
pub fn completions(args: &CompletionsArgs) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut table(), "spinor", &mut script);
    output::deliver_machine(&String::from_utf8_lossy(&script), 0)
}

/// Writes one manual page, or all of them into a folder; returns the exit status.
pub fn man(args: &ManArgs) -> u8 {
    let result = match (&args.out, &args.command) {
        (Some(folder), _) => write_all(folder),
        (None, name) => page_of(name.as_deref()),
    };
    output::answer(Answer { notices: Vec::new(), result }, Format::Text)
}

/// The table of options with the values that can be offered.
fn table() -> Command {
    let mut table = Cli::command();
    let names: Vec<String> = table.get_subcommands().map(|command| command.get_name().to_string()).collect();
    for name in names {
        table = table
            .mut_subcommand(name, |command| command.mut_args(|arg| with_text(with_hint(with_values(arg)))));
    }
    table
}

/// The values of an option that has few.
fn with_values(arg: clap::Arg) -> clap::Arg {
    let spec = TABLE.iter().find(|spec| spec.name == arg.get_id().as_str());
    match spec.map(|spec| spec.words()).filter(|words| !words.is_empty()) {
        Some(words) => arg.value_parser(PossibleValuesParser::new(words)),
        None => arg,
    }
}

/// A manual page has one form: what the short help leaves out is told, too.
fn with_text(arg: clap::Arg) -> clap::Arg {
    arg.hide_short_help(false)
}

/// What kind of file or folder an argument names.
fn with_hint(arg: clap::Arg) -> clap::Arg {
    let hint = match arg.get_id().as_str() {
        "model" | "models" | "trail" | "files" | "msc" => ValueHint::FilePath,
        "include" | "out" | "dir" => ValueHint::DirPath,
        _ => return arg,
    };
    arg.value_hint(hint)
}

/// The commands below `spinor`, with the options that all have.
fn built() -> Command {
    let mut table = table();
    table.build();
    table
}

fn page_of(name: Option<&str>) -> Result<String, Failure> {
    let table = built();
    let Some(name) = name else { return Ok(page(&table)) };
    match table.find_subcommand(name) {
        Some(command) => Ok(page(command)),
        None => {
            let known: Vec<&str> = table.get_subcommands().map(Command::get_name).collect();
            Err(Failure::refused_with(format!("there is no command {name:?}"), one_of(name, known)))
        }
    }
}

/// Writes `spinor.1` and a page for each command.
fn write_all(folder: &Path) -> Result<String, Failure> {
    let failed = |what: &Path, error: std::io::Error| {
        Failure::unwritten(
            &format!("cannot write {}", what.display()),
            &error,
            "give another folder with --out",
        )
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let table = built();
    let mut written = String::new();
    for command in std::iter::once(&table).chain(table.get_subcommands().filter(|c| c.get_name() != "help")) {
        let path = folder.join(format!("{}.1", full_name(command)));
        let mut content = |out: &mut dyn std::io::Write| out.write_all(page(command).as_bytes());
        save(&RealStorage, &path, &mut content).map_err(|error| failed(&path, error))?;
        written.push_str(&format!("{}\n", path.display()));
    }
    Ok(written)
}

/// `spinor-check` for `check`.
fn full_name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_string()
}

/// A manual page in the language of `man`.
fn page(command: &Command) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(command.clone())
        .title(full_name(command))
        .source(concat!("spinor ", env!("CARGO_PKG_VERSION")))
        .manual("Spinor")
        .render(&mut out);
    let mut page = String::from_utf8_lossy(&out).into_owned();
    if matches!(command.get_name(), "spinor" | "check") {
        page.push_str(".SH \"EXIT STATUS\"\n");
        for (status, meaning) in STATUSES {
            page.push_str(&format!(".TP\n\\fB{status}\\fR\n{meaning}\n"));
        }
    }
    let examples: Vec<&(&str, &str, &str)> = EXAMPLES
        .iter()
        .filter(|(of, ..)| *of == command.get_name() || command.get_name() == "spinor")
        .collect();
    if !examples.is_empty() {
        page.push_str(".SH EXAMPLES\n");
        for (_, line, meaning) in examples {
            page.push_str(&format!(".TP\n\\fB{}\\fR\n{meaning}\n", line.replace('-', "\\-")));
        }
    }
    page.push_str(
        ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nNo colours, unless \\fB\\-\\-color always\\fR is given.\n",
    );
    page
}

/// What the exit status of `check` means.
const STATUSES: [(u8, &str); 6] = [
    (0, "Every property that was checked holds; the search was exhaustive."),
    (1, "At least one property is violated; its counterexample was replayed and written."),
    (2, "The model or the command line is wrong; nothing was explored."),
    (3, "No violation was found, but the search was not exhaustive."),
    (4, "An internal error: a bug of the tool, never a verdict."),
    (130, "Interrupted; what was found so far is reported."),
];

/// Commands to start from: of which page, the line, what it does.
const EXAMPLES: [(&str, &str, &str); 7] = [
    ("check", "spinor check model.pml", "Check everything that the model states."),
    ("check", "spinor check model.pml --search bfs", "Find a shortest counterexample."),
    ("check", "spinor check model.pml --timeout 1m --max-memory 4G", "Give up after a minute or 4 GB."),
    ("check", "spinor check -DN=3 model.pml --all-errors", "With N defined as 3, find all violations."),
    ("replay", "spinor replay model.pml.trail.json", "See how the violation comes about."),
    ("simulate", "spinor simulate model.pml --seed 7 --steps 100", "One random run of at most 100 steps."),
    (
        "completions",
        "spinor completions bash > ~/.local/share/bash-completion/completions/spinor",
        "Completions for bash.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extended_table_is_consistent() {
        table().debug_assert();
    }

    #[test]
    fn what_may_be_offered_does_not_decide_what_is_accepted() {
        use clap::Parser;
        assert!(Cli::try_parse_from(["spinor", "check", "m", "--search", "sideways"]).is_ok());
        assert!(table().try_get_matches_from(["spinor", "check", "m", "--search", "sideways"]).is_err());
    }

    #[test]
    fn examples_are_accepted() {
        use clap::Parser;
        for (command, line, _) in EXAMPLES {
            let words = line.split(" > ").next().unwrap_or_default().split(' ');
            assert!(Cli::try_parse_from(words).is_ok(), "{line}");
            assert!(line.starts_with(&format!("spinor {command} ")), "{line}");
        }
    }
}
