//! How a check of a suite is run: the model's own options, what the command line wants for all, and otherwise
//! the reference configuration, in which every number that a model may expect has its meaning.

use super::expect::Expectation;
use crate::options::{CheckOptions, Por, Search, StoreKind};

/// A check's options, and what may be compared after it.
#[derive(Clone, Debug)]
pub struct Configured {
    /// The options.
    pub options: CheckOptions,
    /// The reference configuration, or one that counts the same: states, violations and kinds are what models
    /// expect.
    pub reference: bool,
}

/// The options of one check: `own` as the model states them, under those for `all`. With `defaults` what
/// nobody asks for is left to the tool, as in `spinor check`.
pub fn configure(own: &CheckOptions, all: &CheckOptions, defaults: bool, expect: &Expectation) -> Configured {
    // Where a counterexample goes is for the suite to say.
    let mut options = CheckOptions { trail: None, ..own.overridden_with(all) };
    let reference = !defaults && counts_everything(&options);
    if reference {
        options.por.get_or_insert(Por::None);
        options.opt.get_or_insert_default();
        options.store.get_or_insert(StoreKind::Table);
        // Several models run at a time, each on a processor. More threads count the same.
        options.threads.get_or_insert(1);
        options.all_errors |= expect.is_about_everything();
        if expect.depth.is_some() && options.store == Some(StoreKind::Table) {
            options.search.get_or_insert(Search::Bfs);
        }
    }
    Configured { options, reference }
}

/// Whether nothing is asked for that changes what is counted. An exact store does not.
fn counts_everything(options: &CheckOptions) -> bool {
    let counted = [Search::Auto, Search::Dfs, Search::Bfs];
    options.por.is_none_or(|por| por == Por::None)
        && options.opt.as_ref().is_none_or(Vec::is_empty)
        && options.store.is_none_or(|store| !store.is_lossy())
        && options.search.is_none_or(|search| counted.contains(&search))
        && options.state_cache.is_none()
        && !options.sleep
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(own: CheckOptions, all: CheckOptions, expect: &str) -> Configured {
        configure(&own, &all, false, &Expectation::parse(expect).expect("an expectation"))
    }

    #[test]
    fn without_wishes_it_is_the_reference_configuration() {
        let Configured { options, reference } =
            configured(CheckOptions::default(), CheckOptions::default(), "verdict=holds");
        assert!(reference && !options.all_errors);
        assert_eq!((options.por, options.threads), (Some(Por::None), Some(1)));
        let numbers =
            configured(CheckOptions::default(), CheckOptions::default(), "verdict=violated errors=1 depth=3");
        assert!(numbers.options.all_errors);
        assert_eq!(numbers.options.search, Some(Search::Bfs));
    }

    #[test]
    fn the_command_line_wins_over_the_model() {
        let own = CheckOptions { search: Some(Search::Bfs), max_states: Some(9), ..CheckOptions::default() };
        let all = CheckOptions { search: Some(Search::Dfs), ..CheckOptions::default() };
        let Configured { options, reference } = configured(own, all, "verdict=violated depth=3");
        assert!(reference);
        assert_eq!((options.search, options.max_states), (Some(Search::Dfs), Some(9)));
    }

    #[test]
    fn exact_stores_count_the_same_and_others_do_not() {
        let with = |store| {
            let all = CheckOptions { store: Some(store), ..CheckOptions::default() };
            configured(CheckOptions::default(), all, "verdict=violated states=3 depth=2")
        };
        let Configured { options, reference } = with(StoreKind::Tree);
        assert!(reference && options.all_errors && options.search.is_none());
        assert_eq!(options.store, Some(StoreKind::Tree));
        let Configured { options, reference } = with(StoreKind::Bitstate);
        assert!(!reference && options.por.is_none() && !options.all_errors);
    }

    #[test]
    fn defaults_can_be_asked_for() {
        let expect = Expectation::parse("verdict=holds states=3").expect("an expectation");
        let none = CheckOptions::default();
        let Configured { options, reference } = configure(&none, &none, true, &expect);
        assert!(!reference && options.por.is_none() && !options.all_errors);
    }
}
