//! Options of the engine's table as arguments of a command: parsing, help, completions and manual pages come
//! from their rows.
//!
//! Words stay words for the parser; what they mean is for the engine to say, so that every client gets the
//! same refusals.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use engine::options::{Group, Kind, OptionSpec, TABLE};
use engine::{CheckOptions, Failure};
use std::marker::PhantomData;

/// A command that takes options of the table.
pub trait Taker {
    /// Whether it takes this one.
    fn takes(spec: &OptionSpec) -> bool;
}

/// `spinor check`.
#[derive(Debug)]
pub struct ForCheck;

impl Taker for ForCheck {
    fn takes(_: &OptionSpec) -> bool {
        true
    }
}

/// `spinor test`.
#[derive(Debug)]
pub struct ForTest;

impl Taker for ForTest {
    fn takes(spec: &OptionSpec) -> bool {
        spec.scope.is_for_test()
    }
}

/// What reads a model without checking it: the memory between its processes.
#[derive(Debug)]
pub struct ForModel;

impl Taker for ForModel {
    fn takes(spec: &OptionSpec) -> bool {
        const TAKEN: [&str; 5] = ["memory", "memory-bound", "memory-split", "plain", "lossy-channels"];
        TAKEN.contains(&spec.name)
    }
}

/// What runs a model without checking it: what may be done with its embedded C.
#[derive(Debug)]
pub struct ForC;

impl Taker for ForC {
    fn takes(spec: &OptionSpec) -> bool {
        matches!(spec.name, "allow-c" | "c-source" | "c-flags" | "c-in-process")
    }
}

/// `spinor graph`: budgets, and how states are made and kept.
#[derive(Debug)]
pub struct ForGraph;

impl Taker for ForGraph {
    fn takes(spec: &OptionSpec) -> bool {
        const TAKEN: [&str; 7] = ["timeout", "max-memory", "max-states", "threads", "store", "opt", "exec"];
        TAKEN.contains(&spec.name)
    }
}

/// `spinor swarm`: what is checked. How, each of its searches decides for itself.
#[derive(Debug)]
pub struct ForSwarm;

impl Taker for ForSwarm {
    fn takes(spec: &OptionSpec) -> bool {
        const TAKEN: [&str; 8] =
            ["property", "ltl", "claim", "max-depth", "exec", "trail", "lossy-channels", "channels-empty"];
        TAKEN.contains(&spec.name)
    }
}

/// `spinor memory`: what concerns exploration, and where the trail is.
#[derive(Debug)]
pub struct ForMemory;

impl Taker for ForMemory {
    fn takes(spec: &OptionSpec) -> bool {
        const TAKEN: [&str; 14] = [
            "timeout",
            "max-memory",
            "max-states",
            "max-depth",
            "threads",
            "store",
            "opt",
            "exec",
            "search",
            "por",
            "save",
            "engine",
            "seed",
            "trail",
        ];
        TAKEN.contains(&spec.name)
    }
}

/// The options that a command line gives, each with its word; flags have none.
#[derive(Debug)]
pub struct Given<T> {
    words: Vec<(&'static OptionSpec, String)>,
    taker: PhantomData<T>,
}

impl<T> Given<T> {
    /// As the engine takes them.
    pub fn options(&self) -> Result<CheckOptions, Failure> {
        let mut options = CheckOptions::default();
        for (spec, word) in &self.words {
            spec.give(&mut options, word)?;
        }
        Ok(options)
    }
}

fn taken<T: Taker>() -> impl Iterator<Item = &'static OptionSpec> {
    TABLE.iter().filter(|spec| T::takes(spec))
}

impl<T: Taker> Args for Given<T> {
    fn augment_args(command: Command) -> Command {
        command.args(taken::<T>().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// An option as an argument.
fn arg(spec: &'static OptionSpec) -> Arg {
    let arg = Arg::new(spec.name).long(spec.name).help(spec.help());
    let arg = match spec.group {
        Group::Common => arg,
        Group::Expert => arg.help_heading("Expert").hide_short_help(true),
        Group::Hidden => arg.hide(true),
    };
    let action = match spec.kind {
        Kind::Flag => return arg.action(ArgAction::SetTrue),
        _ if spec.repeats => ArgAction::Append,
        _ => ArgAction::Set,
    };
    let arg = arg.action(action).value_name(spec.placeholder);
    // What is wrong with a negative number is said of the number.
    let arg = arg.allow_negative_numbers(matches!(spec.kind, Kind::Number | Kind::Time));
    // Words for a compiler begin with a dash.
    let arg = arg.allow_hyphen_values(spec.name == "c-flags");
    if spec.last_counts { arg.overrides_with(spec.name) } else { arg }
}

impl<T: Taker> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut words = Vec::new();
        for spec in taken::<T>() {
            match spec.kind {
                Kind::Flag if matches.get_flag(spec.name) => words.push((spec, String::new())),
                Kind::Flag => {}
                _ => {
                    let values = matches.get_many::<String>(spec.name).into_iter().flatten();
                    words.extend(values.map(|word| (spec, word.clone())));
                }
            }
        }
        Ok(Given { words, taker: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command as Asked, directive_options};
    use clap::Parser;
    use engine::command_line::check_command;
    use engine::options::Scope;

    /// A command line as the engine takes it.
    fn parsed(words: &[&str]) -> Result<CheckOptions, Failure> {
        match Cli::try_parse_from(words).unwrap().command {
            Asked::Check(args) => args.options("m.pml"),
            Asked::Test(args) => args.given.options(),
            other => panic!("{other:?}"),
        }
    }

    /// A request that gives one option.
    fn with(spec: &OptionSpec) -> CheckOptions {
        let mut options = CheckOptions::default();
        options.source.path = "m.pml".to_string();
        options.source.options.dialect = "spin".to_string();
        spec.give(&mut options, spec.example()).unwrap();
        options
    }

    #[test]
    fn the_command_that_is_printed_asks_for_the_same() {
        for spec in TABLE {
            let (options, command) = (with(spec), check_command(&with(spec)));
            assert_eq!(parsed(&command.split(' ').collect::<Vec<&str>>()), Ok(options), "{command}");
        }
    }

    #[test]
    fn directives_and_suites_take_what_is_for_them() {
        for spec in TABLE {
            let (options, words) = (with(spec), with(spec).to_words());
            let stated = directive_options("m.pml", &words);
            match spec.scope {
                Scope::Check => assert!(stated.unwrap_err().ends_with("cannot stand in a directive")),
                Scope::Model | Scope::Exploration => assert_eq!(stated, Ok(options.clone())),
            }
            let line = [vec!["spinor".to_string(), "test".to_string()], words].concat();
            let taken = Cli::try_parse_from(&line).is_ok();
            assert_eq!(taken, spec.scope == Scope::Exploration, "{line:?}");
        }
    }

    #[test]
    fn what_is_given_twice_is_refused_unless_it_counts() {
        for spec in TABLE.iter().filter(|spec| spec.kind != Kind::Flag) {
            let option = format!("--{}", spec.name);
            let twice = ["spinor", "check", "m", &option, spec.example(), &option, spec.example()];
            assert_eq!(Cli::try_parse_from(twice).is_ok(), spec.repeats || spec.last_counts, "{option}");
        }
        assert_eq!(parsed(&["spinor", "test", "--threads", "2", "--threads", "3"]).unwrap().threads, Some(3));
    }

    #[test]
    fn a_negative_number_is_told_to_be_none() {
        let Err(Failure::Refused { message, .. }) = parsed(&["spinor", "check", "m", "--threads", "-3"])
        else {
            panic!("taken")
        };
        assert_eq!(message, "--threads \"-3\" is not a number");
    }
}
