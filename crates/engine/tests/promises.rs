//! `xr` and `xs`: a reduction that relies on them notices when they are not true; one that does not, and no
//! reduction at all, do not ask.

use engine::Silent;
use engine::options::{CheckOptions, Exec, Por, Source, Value};
use engine::report::Verdict;
use promela::source::Files;

/// The writer promises to be the only one; the other sends to a channel of its choice.
const BROKEN: &str = "chan c = [1] of { byte }; chan d = [1] of { byte }; \
    active proctype writer() { xs c; c!1; c!2 } \
    active proctype reader() { byte x; end: do :: c?x od } \
    active proctype other() { chan e; if :: e = c :: e = d fi; e!3 }";

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

/// The verdict, with the message of a violation, and the number of states.
fn check(text: &str, change: &dyn Fn(&mut CheckOptions)) -> (String, u64) {
    let mut options = CheckOptions {
        source: Source { path: "m.pml".to_string(), ..Source::default() },
        threads: Some(1),
        opt: Some(Vec::new()),
        ..CheckOptions::default()
    };
    change(&mut options);
    let stop = engine::Stop::never();
    let report =
        engine::check(&options, &Text(text.to_string()), &stop, &mut Silent).result.expect("a report");
    let property = &report.properties[0];
    let verdict = match &property.verdict {
        Verdict::Violated(shown, _) => shown.evidence.fault().message.clone(),
        other => other.name().to_string(),
    };
    (verdict, property.statistics.states)
}

fn por(word: &'static str) -> impl Fn(&mut CheckOptions) {
    move |options| options.por = Some(Por::read("--por", word).unwrap())
}

#[test]
fn a_promise_that_is_relied_on_is_checked() {
    let told = "`xs c` of writer is not true: other sends to it as well";
    for word in ["ample", "stubborn"] {
        for exec in [Exec::Interp, Exec::Jit] {
            let (verdict, _) = check(BROKEN, &|options| {
                por(word)(options);
                options.exec = Some(exec);
            });
            assert_eq!(verdict, told, "{word} {exec:?}");
        }
        let (verdict, _) = check(BROKEN, &|options| {
            por(word)(options);
            options.trust_xr_xs = true;
        });
        assert_eq!(verdict, "holds", "{word}: who trusts does not ask");
    }
}

#[test]
fn who_does_not_rely_on_a_promise_does_not_ask() {
    for word in ["none", "twophase"] {
        assert_eq!(check(BROKEN, &por(word)).0, "holds", "{word}");
    }
    assert_eq!(check(BROKEN, &|_| {}).0, "holds");
    let ends = |options: &mut CheckOptions| {
        por("stubborn")(options);
        options.properties = vec!["end-state".to_string()];
    };
    assert_eq!(check(BROKEN, &ends).0, "holds");
}

#[test]
fn a_promise_that_is_kept_makes_reductions_larger() {
    // Where the channel comes from is not followed through messages.
    let kept = |promise: &str| {
        format!(
            "chan c = [1] of {{ byte }}; chan d = [1] of {{ byte }}; chan l = [1] of {{ chan }}; \
             active proctype writer() {{ {promise} c!1; c!2; c!3 }} \
             active proctype reader() {{ byte x; end: do :: c?x od }} \
             active proctype lender() {{ chan e; if :: false -> e = c :: true -> e = d fi; l!e }} \
             active proctype other() {{ chan e; byte x; l?e; e!3; d?x }}"
        )
    };
    let (with, without) = (kept("xs c;"), kept(""));
    let (full, all) = check(&with, &por("none"));
    let (one, fewer) = check(&with, &por("stubborn"));
    let (two, more) = check(&without, &por("stubborn"));
    assert_eq!((full.as_str(), one.as_str(), two.as_str()), ("holds", "holds", "holds"));
    assert!(fewer < more && more < all, "{fewer} {more} {all}");
}
