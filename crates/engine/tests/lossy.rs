//! Stores that may lose states: all edges are followed, because each is another way around what was lost; and
//! nothing holds.

use engine::options::{CheckOptions, Por, Search, Source, StoreKind};
use engine::{Report, Silent};
use promela::source::Files;
use system::Fairness;

/// Four processes that have nothing to do with each other: most edges could be left out.
struct Text;

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok("active [4] proctype p() { byte x; end: do :: x < 9 -> x++ od }".to_string())
    }
}

fn check(store: StoreKind, por: Option<Por>, threads: u64) -> Report {
    let options = CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        store: Some(store),
        por,
        threads: Some(threads),
        ..CheckOptions::default()
    };
    engine::check(&options, &Text, &engine::Stop::never(), &mut Silent).result.expect("a report")
}

#[test]
fn all_edges_are_followed_where_states_may_be_lost() {
    for threads in [1, 2] {
        for store in [StoreKind::HashCompaction, StoreKind::Bitstate] {
            let statistics = check(store, Some(Por::None), threads).properties[0].statistics;
            assert_eq!((statistics.slept, statistics.states), (0, 10_000), "{store:?}, {threads} threads");
        }
        assert!(check(StoreKind::Table, Some(Por::None), threads).properties[0].statistics.slept > 0);
    }
    // Nor where the tool chooses by itself, between a reduction and none.
    for store in [StoreKind::HashCompaction, StoreKind::Bitstate] {
        assert_eq!(check(store, None, 1).properties[0].statistics.slept, 0, "{store:?}");
    }
}

/// One process waits for another, which may go round forever.
const WAITING: &str = "byte turn, done; bool odd;
active proctype busy() { do :: turn == 0 -> odd = !odd :: turn == 0 -> turn = 1 od }
active proctype waits() { turn == 1 -> done = 1 }
ltl comes { [] (done == 1 -> <> (turn == 1)) }
ltl late { <> (done == 1) }
";

struct Waiting;

impl Files for Waiting {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(WAITING.to_string())
    }
}

fn cycles(
    property: &str,
    store: StoreKind,
    change: impl FnOnce(&mut CheckOptions),
) -> Result<Report, String> {
    let source = Source { path: "m.pml".to_string(), ..Source::default() };
    let mut options = CheckOptions {
        source,
        properties: vec![property.to_string()],
        store: Some(store),
        ..CheckOptions::default()
    };
    change(&mut options);
    let checked = engine::check(&options, &Waiting, &engine::Stop::never(), &mut Silent);
    checked.result.map_err(|failure| format!("{failure:?}"))
}

#[test]
fn lossy_searches_for_cycles_find_lassos_and_claim_nothing_else() {
    for store in [StoreKind::HashCompaction, StoreKind::Bitstate] {
        for search in [None, Some(Search::Ndfs)] {
            for threads in [1, 2] {
                let ask = |property| {
                    let report = cycles(property, store, |options| {
                        options.search = search;
                        options.threads = Some(threads);
                    });
                    report.unwrap().properties.remove(0)
                };
                assert_eq!(ask("ltl:late").verdict.name(), "violated", "{store:?}");
                let open = ask("ltl:comes");
                assert_eq!(open.verdict.name(), "unknown", "{store:?}");
                assert!(open.statistics.omission.is_some());
            }
        }
    }
}

#[test]
fn searches_that_need_numbers_are_refused_over_lossy_stores() {
    for store in [StoreKind::HashCompaction, StoreKind::Bitstate] {
        for search in [Search::Scc, Search::Ufscc, Search::Cndfs, Search::NdfsDual] {
            let refused = cycles("ltl:late", store, |options| options.search = Some(search));
            assert!(
                refused.unwrap_err().contains("keeps something beside every state"),
                "{store:?} {search:?}"
            );
        }
        for fair in [Fairness::Weak, Fairness::Strong] {
            let refused = cycles("ltl:late", store, |options| options.fair = Some(fair));
            assert!(refused.unwrap_err().contains(fair.name().unwrap()), "{store:?} {fair:?}");
        }
    }
}
