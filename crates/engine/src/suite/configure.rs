//! How a check of a suite is run: the model's own options, what the command line wants for all, and otherwise the
//! reference configuration, in which every number that a model may expect has its meaning.

use super::expect::Expectation;
use crate::options::CheckOptions;

/// A check's options, and what may be compared after it.
#[derive(Clone, Debug)]
pub struct Configured {
    /// The options.
    pub options: CheckOptions,
    /// The reference configuration, or one that counts the same: states, violations and kinds are what models expect.
    pub reference: bool,
}

/// The options of one check: `own` as the model states them, under those for `all`. With `defaults` what nobody asks
/// for is left to the tool, as in `spinor check`.
pub fn configure(own: &CheckOptions, all: &CheckOptions, defaults: bool, expect: &Expectation) -> Configured {
    let mut options = overridden(own, all);
    let reference = !defaults && counts_everything(&options);
    if reference {
        for (option, value) in
            [(&mut options.por, "none"), (&mut options.opt, "none"), (&mut options.store, "table")]
        {
            option.get_or_insert_with(|| value.to_string());
        }
        // Several models run at a time, each on a processor. More threads count the same.
        options.threads.get_or_insert(1);
        options.all_errors |= expect.is_about_everything();
        if expect.depth.is_some() && options.store.as_deref() == Some("table") {
            options.search.get_or_insert_with(|| "bfs".to_string());
        }
    }
    Configured { options, reference }
}

/// Stores that lose nothing: with them the number of states is that of the reference configuration, too.
const EXACT_STORES: [&str; 4] = ["table", "tree", "cleary", "collapse"];

/// Whether nothing is asked for that changes what is counted.
fn counts_everything(options: &CheckOptions) -> bool {
    let is = |option: &Option<String>, values: &[&str]| {
        option.as_ref().is_none_or(|v| values.contains(&v.as_str()))
    };
    is(&options.por, &["none"])
        && is(&options.opt, &["none"])
        && is(&options.store, &EXACT_STORES)
        && is(&options.search, &["auto", "dfs", "bfs"])
        && options.state_cache.is_none()
        && !options.sleep
}

/// `own` options, but as `all` says where it says something.
fn overridden(own: &CheckOptions, all: &CheckOptions) -> CheckOptions {
    fn or<T: Clone>(over: &Option<T>, own: &Option<T>) -> Option<T> {
        over.clone().or_else(|| own.clone())
    }
    CheckOptions {
        source: own.source.clone(),
        properties: own.properties.clone(),
        ltl: or(&all.ltl, &own.ltl),
        fair: or(&all.fair, &own.fair),
        search: or(&all.search, &own.search),
        por: or(&all.por, &own.por),
        edges: or(&all.edges, &own.edges),
        proviso: or(&all.proviso, &own.proviso),
        check: [&own.check[..], &all.check[..]].concat(),
        sleep: all.sleep || own.sleep,
        stubborn: or(&all.stubborn, &own.stubborn),
        trust_xr_xs: all.trust_xr_xs || own.trust_xr_xs,
        save: or(&all.save, &own.save),
        state_cache: or(&all.state_cache, &own.state_cache),
        opt: or(&all.opt, &own.opt),
        store: or(&all.store, &own.store),
        threads: or(&all.threads, &own.threads),
        deterministic: all.deterministic || own.deterministic,
        handoff: or(&all.handoff, &own.handoff),
        alone: or(&all.alone, &own.alone),
        exec: or(&all.exec, &own.exec),
        all_errors: all.all_errors || own.all_errors,
        channels_empty: all.channels_empty || own.channels_empty,
        max_depth: or(&all.max_depth, &own.max_depth),
        max_states: or(&all.max_states, &own.max_states),
        max_memory: or(&all.max_memory, &own.max_memory),
        timeout: or(&all.timeout, &own.timeout),
        seed: or(&all.seed, &own.seed),
        trail: None,
    }
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
        assert_eq!((options.por.as_deref(), options.threads), (Some("none"), Some(1)));
        let numbers =
            configured(CheckOptions::default(), CheckOptions::default(), "verdict=violated errors=1 depth=3");
        assert!(numbers.options.all_errors);
        assert_eq!(numbers.options.search.as_deref(), Some("bfs"));
    }

    #[test]
    fn the_command_line_wins_over_the_model() {
        let own = CheckOptions { search: Some("bfs".into()), max_states: Some(9), ..CheckOptions::default() };
        let all = CheckOptions { search: Some("dfs".into()), ..CheckOptions::default() };
        let Configured { options, reference } = configured(own, all, "verdict=violated depth=3");
        assert!(reference);
        assert_eq!((options.search.as_deref(), options.max_states), (Some("dfs"), Some(9)));
    }

    #[test]
    fn exact_stores_count_the_same_and_others_do_not() {
        let with = |store: &str| {
            let all = CheckOptions { store: Some(store.into()), ..CheckOptions::default() };
            configured(CheckOptions::default(), all, "verdict=violated states=3 depth=2")
        };
        let Configured { options, reference } = with("tree");
        assert!(reference && options.all_errors && options.search.is_none());
        assert_eq!(options.store.as_deref(), Some("tree"));
        let Configured { options, reference } = with("bitstate");
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
