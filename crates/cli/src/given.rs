//! Options of the engine's table as arguments of a command: parsing, help, completions and manual pages come from their rows.
//!
//! Words stay words for the parser; what they mean is for the engine to say, so that every client gets the same refusals.

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
