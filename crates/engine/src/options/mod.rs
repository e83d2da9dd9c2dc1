//! What the user asked for, as typed values that any client can fill in. [`crate::plan`] judges them.
//!
//! [`table`] has a row for every option, [`value`] the kinds of values, [`choice`] the enums with their
//! words.

pub mod choice;
pub mod table;
pub mod value;

use crate::embedded::UseOfC;
use crate::failure::Failure;
use trace::ModelOptions;

pub use choice::{
    Choice, CycleProviso, Edges, Engine, Exec, Memory, Por, Search, SelfCheck, StaticReduction, StepOrder,
    StoreKind, one_of,
};
pub use table::{CheckOptions, OptionSpec, TABLE};
pub use value::{Kind, Size, Value};

/// A model and how to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The model's path as given.
    pub path: String,
    /// Dialect and preprocessor options.
    pub options: ModelOptions,
    /// What may be done with embedded C. It is no part of how a model is read: neither a trail nor a model can
    /// allow it.
    pub c: UseOfC,
}

/// Where help lists an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Among the few that most people need.
    Common,
    /// Under a heading of its own, in the long help.
    Expert,
    /// Nowhere: for tests.
    Hidden,
}

/// Who takes an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The command line of `check` only.
    Check,
    /// `check`, and the directives of a model: what is asked of it.
    Model,
    /// `check`, directives and `test`: how states are explored, and how far.
    Exploration,
}

impl Scope {
    /// Whether a model's directives may give it.
    pub fn is_for_directives(self) -> bool {
        self != Scope::Check
    }

    /// Whether `test` takes it, for all models.
    pub fn is_for_test(self) -> bool {
        self == Scope::Exploration
    }
}

impl OptionSpec {
    /// The option of this name, which has no dashes.
    pub fn of_name(name: &str) -> Result<&'static OptionSpec, Failure> {
        TABLE.iter().find(|spec| spec.name == name).ok_or_else(|| {
            let known: Vec<&str> = TABLE.iter().map(|spec| spec.name).collect();
            choice::unknown("option", name, known)
        })
    }

    /// The help text: sentences, the last one without its full stop.
    pub fn help(&self) -> &'static str {
        let help = self.help.trim();
        help.strip_suffix('.').unwrap_or(help)
    }

    /// All values, where there are few.
    pub fn words(&self) -> Vec<&'static str> {
        (self.words)()
    }

    /// A word that the option takes, as tests and messages give it; empty for flags.
    pub fn example(&self) -> &'static str {
        match self.kind {
            Kind::Flag => "",
            Kind::Number => "4",
            Kind::Size => "6M",
            Kind::Time => "0.5",
            Kind::Choice | Kind::List => self.words().last().copied().unwrap_or_default(),
            Kind::Text => "p",
        }
    }

    /// Gives the option with a word, or without one if it is a flag.
    pub fn give(&self, options: &mut CheckOptions, word: &str) -> Result<(), Failure> {
        (self.give)(options, word)
    }

    /// The words with which the option is given: none, one, or several where it repeats.
    pub fn given(&self, options: &CheckOptions) -> Vec<String> {
        (self.given)(options)
    }
}

impl CheckOptions {
    /// These options, but where `over` gives one, that one; what repeats is joined. The model stays.
    pub fn overridden_with(&self, over: &CheckOptions) -> CheckOptions {
        let mut options = self.clone();
        for spec in TABLE {
            (spec.override_with)(&mut options, over);
        }
        options
    }

    /// The words of a command line that gives these options, without the model.
    pub fn to_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for spec in TABLE {
            for word in spec.given(self) {
                words.push(format!("--{}", spec.name));
                words.extend((spec.kind != Kind::Flag).then_some(word));
            }
        }
        words
    }

    /// Reads the words of a command line, each option and each value a word. An option that is given again
    /// counts again.
    pub fn of_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<CheckOptions, Failure> {
        let mut options = CheckOptions::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let spec = OptionSpec::of_name(word.strip_prefix("--").unwrap_or(word))?;
            let value = if spec.kind == Kind::Flag { Some("") } else { words.next() };
            let value = value.ok_or_else(|| {
                Failure::refused_with(
                    format!("{word} has no value"),
                    format!("write {word} {}, such as {word} {}", spec.placeholder, spec.example()),
                )
            })?;
            spec.give(&mut options, value)?;
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(failure: Failure) -> String {
        match failure {
            Failure::Refused { message, repair } => format!("{message}: {}", repair.unwrap_or_default()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_option_goes_through_words_and_back() {
        let mut all = CheckOptions::default();
        for spec in TABLE {
            let mut options = CheckOptions::default();
            assert!(spec.given(&options).is_empty(), "{}", spec.name);
            spec.give(&mut options, spec.example()).unwrap();
            spec.give(&mut all, spec.example()).unwrap();
            assert_ne!(options, CheckOptions::default(), "{}", spec.name);
            let words = options.to_words();
            assert_eq!(CheckOptions::of_words(words.iter().map(String::as_str)), Ok(options.clone()));
            // It counts in both directions of a merge.
            assert_eq!(CheckOptions::default().overridden_with(&options), options, "{}", spec.name);
            assert_eq!(options.overridden_with(&CheckOptions::default()), options, "{}", spec.name);
        }
        assert_eq!(CheckOptions::of_words(all.to_words().iter().map(String::as_str)), Ok(all));
    }

    #[test]
    fn rows_are_complete() {
        for spec in TABLE {
            assert!(spec.help().len() > 10 && !spec.help().contains("  "), "{}", spec.name);
            assert_eq!(spec.placeholder.is_empty(), spec.kind == Kind::Flag, "{}", spec.name);
            assert_eq!(
                spec.words().is_empty(),
                !matches!(spec.kind, Kind::Choice | Kind::List),
                "{}",
                spec.name
            );
            assert_eq!(TABLE.iter().filter(|other| other.name == spec.name).count(), 1, "{}", spec.name);
            let told: Vec<&str> = spec.help().split(|c: char| !c.is_alphanumeric() && c != '-').collect();
            for word in spec.words() {
                assert!(told.contains(&word), "the help of --{} does not name {word}", spec.name);
            }
        }
    }

    #[test]
    fn wrong_words_are_refused_with_a_repair() {
        let refused = |words: &str| message(CheckOptions::of_words(words.split(' ')).unwrap_err());
        assert!(refused("--store bit").starts_with("unknown store `bit`: did you mean `bitstate`?"));
        assert!(refused("--opt merg").starts_with("unknown static reduction `merg`: did you mean `merge`?"));
        assert!(refused("--serch dfs").starts_with("unknown option `serch`: did you mean `search`?"));
        assert!(refused("--threads many").starts_with("--threads \"many\" is not a number: "));
        assert!(refused("--max-memory much").contains("is not a size"));
        assert!(refused("--timeout -1").contains("is not a time"));
        assert_eq!(refused("--por"), "--por has no value: write --por REDUCTION, such as --por twophase");
    }

    #[test]
    fn lists_are_joined_and_values_replaced() {
        let read = |words: &str| CheckOptions::of_words(words.split(' ')).unwrap();
        let own = read("--search bfs --max-states 9 --check facts");
        let both = own.overridden_with(&read("--search dfs --check reduction --sleep"));
        assert_eq!(both, read("--search dfs --max-states 9 --check facts,reduction --sleep"));
    }
}
