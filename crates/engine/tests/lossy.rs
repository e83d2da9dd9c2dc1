//! A store that may lose states follows all edges: each is another way around what was lost.

use engine::options::{CheckOptions, Por, Source, StoreKind};
use engine::{Report, Silent};
use promela::source::Files;

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
