//! What to do next: rules over a report, each of which may have something to say, with the exact command.
//!
//! A hint repeats the user's own options with one thing changed, and offers only what exists.

use crate::command_line::check_command;
use crate::options::{CheckOptions, Search, Size, StoreKind};
use crate::plan::Plan;
use crate::report::{PropertyReport, Reason, Report, Verdict};
use crate::report_text::plural;
use std::time::Duration;
use system::Fairness;
use system::FaultKind;

/// Something worth trying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// One sentence; with a command behind it, it ends in a colon.
    pub text: String,
    /// The command to type.
    pub command: Option<String>,
}

/// Counterexamples longer than this deserve a shorter one.
const LONG: usize = 20;
/// Stores that need less memory than a plain table, best first.
const COMPACT: [StoreKind; 3] = [StoreKind::Cleary, StoreKind::Tree, StoreKind::Collapse];
/// The factor by which a budget is raised.
const MORE: u64 = 10;

type Rule = fn(&Report, &PropertyReport) -> Option<Hint>;

const RULES: [Rule; 16] = [
    can_go_on,
    states_ran_out,
    depth_ran_out,
    time_ran_out,
    memory_ran_out,
    depth_first_finds_errors,
    bitstate_finds_errors,
    smaller_model_finds_errors,
    lossy_store,
    interrupted,
    cut_by_an_error,
    unfair,
    long_counterexample,
    waiting_for_ever,
    nothing_stated,
    progress_unchecked,
];

/// The hints for a report, each once.
pub fn hints(report: &Report) -> Vec<Hint> {
    let mut out: Vec<Hint> = Vec::new();
    for property in &report.properties {
        for hint in RULES.iter().filter_map(|rule| rule(report, property)) {
            if !out.contains(&hint) {
                out.push(hint);
            }
        }
    }
    out
}

/// A hint to check again with other options, unless they would be refused.
fn again(report: &Report, text: &str, change: impl FnOnce(&mut CheckOptions)) -> Option<Hint> {
    // Another search cannot go on from the checkpoint of this one.
    let mut options = CheckOptions { resume: None, ..report.options.clone() };
    change(&mut options);
    Plan::new(&options).ok()?;
    Some(Hint { text: text.to_string(), command: Some(check_command(&options)) })
}

fn plain(text: String) -> Option<Hint> {
    Some(Hint { text, command: None })
}

fn reason(property: &PropertyReport) -> Option<&Reason> {
    match &property.verdict {
        Verdict::Unknown(reason) => Some(reason),
        _ => None,
    }
}

fn can_go_on(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let kept = property.kept.as_ref()?.kept.as_ref()?;
    let text = format!("resume with the {} that are in the checkpoint:", plural(kept.states, "state"));
    again(report, &text, |options| {
        options.resume = Some(kept.file.clone());
        // The budget that ended it would end it again at once.
        if matches!(reason(property), Some(Reason::States(_))) {
            options.max_states = None;
        }
        if matches!(reason(property), Some(Reason::Memory(_))) {
            options.max_memory = None;
        }
    })
}

fn states_ran_out(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let Some(Reason::States(_)) = reason(property) else { return None };
    again(report, "to explore everything, leave --max-states out:", |options| options.max_states = None)
}

fn depth_ran_out(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let Some(Reason::Depth(limit)) = reason(property) else { return None };
    let deeper = limit.saturating_mul(MORE).max(1000);
    again(report, "to look deeper:", |options| options.max_depth = Some(deeper))
}

fn time_ran_out(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let Some(Reason::Time(limit)) = reason(property) else { return None };
    let longer = Duration::from_secs((limit.as_secs_f64() * MORE as f64).ceil().max(10.0) as u64);
    again(report, "to search longer:", |options| options.timeout = Some(longer))
}

/// A budget ran out in a search of states: errors may still be found.
fn is_too_large(property: &PropertyReport) -> bool {
    matches!(
        reason(property),
        Some(Reason::Time(_) | Reason::Memory(_) | Reason::Disk(_) | Reason::States(_) | Reason::Interrupted)
    )
}

/// Whether another search of states may get further: not where the process alone takes more memory
/// than it may.
fn is_worth_searching(property: &PropertyReport) -> bool {
    let nothing = matches!(reason(property), Some(Reason::Memory(_))) && property.statistics.states <= 1;
    is_too_large(property) && property.kind == "safety" && !nothing
}

fn depth_first_finds_errors(report: &Report, property: &PropertyReport) -> Option<Hint> {
    if !is_worth_searching(property) || report.config.search == Search::Dfs {
        return None;
    }
    let text = "to find errors without exploring everything, search depth-first:";
    again(report, text, |options| options.search = Some(Search::Dfs))
}

fn bitstate_finds_errors(report: &Report, property: &PropertyReport) -> Option<Hint> {
    if !is_worth_searching(property) || report.config.store.is_lossy() {
        return None;
    }
    let text = "to look at many more states in the same memory, though some may be missed:";
    again(report, text, |options| options.store = Some(StoreKind::Bitstate))
}

fn smaller_model_finds_errors(_: &Report, property: &PropertyReport) -> Option<Hint> {
    let text =
        "a smaller model (fewer processes, shorter channels, smaller values) usually shows the same errors";
    if is_too_large(property) { plain(text.to_string()) } else { None }
}

fn memory_ran_out(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let Some(Reason::Memory(limit)) = reason(property) else { return None };
    // Where the process alone takes more than it may, a store is of no help.
    let states = report.config.store == StoreKind::Table && property.statistics.states > 1;
    compact_store(report, "the states can be kept in less memory:")
        .filter(|_| states)
        .or_else(|| more_memory(report, limit.bytes))
}

/// The best of the stores that need little memory and can be used here.
fn compact_store(report: &Report, text: &str) -> Option<Hint> {
    COMPACT.iter().find_map(|store| again(report, text, |options| options.store = Some(*store)))
}

fn more_memory(report: &Report, limit: u64) -> Option<Hint> {
    let room = report.memory_left.saturating_sub(limit / 2);
    if room <= limit {
        return None;
    }
    let unit = if room >= 10 << 30 { 30 } else { 20 };
    let size = Size(room >> unit << unit);
    again(report, "this machine has more memory:", |options| options.max_memory = Some(size))
}

fn lossy_store(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let Some(Reason::Omission { .. }) = reason(property) else { return None };
    let text = "to be certain, keep the states in a store that loses nothing:";
    compact_store(report, text).or_else(|| again(report, text, |options| options.store = None))
}

fn interrupted(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let Some(Reason::Interrupted) = reason(property) else { return None };
    match report.options.timeout {
        Some(_) => None,
        None => again(report, "to let a search end by itself:", |options| {
            options.timeout = Some(Duration::from_secs(60))
        }),
    }
}

fn cut_by_an_error(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let Some(Reason::Cut(fault)) = reason(property) else { return None };
    if fault.kind == FaultKind::Evaluation {
        let text =
            "let a condition before it shield the part that cannot be evaluated, as in `i < 3 && a[i] == 1`";
        return plain(text.to_string());
    }
    let known = report.properties.iter().any(|property| {
        property.verdict.violations().any(|shown| shown.evidence.fault().kind == FaultKind::Runtime)
    });
    match known {
        true => plain("repair the run-time error, then check again".to_string()),
        false => again(report, "to see the run-time error:", |options| {
            options.properties = vec!["runtime".to_string()];
        }),
    }
}

fn unfair(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let fairness = property.holds_under?;
    let what = match fairness {
        Fairness::Strong => "a process that can move again and again does not move again and again",
        Fairness::Weak | Fairness::None => "a process that could always move never does",
    };
    let text = format!("{} is broken only by runs in which {what}; without those it holds:", property.name);
    again(report, &text, |options| {
        options.fair = Some(fairness);
        let nested = [Search::Ndfs, Search::Cndfs, Search::NdfsDual];
        options.search = options.search.take().filter(|search| !nested.contains(search));
    })
}

fn long_counterexample(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let shortest = property.verdict.violations().map(|shown| shown.evidence.depth()).min()?;
    if shortest <= LONG || report.config.search == Search::Bfs {
        return None;
    }
    let text = "to find a shortest counterexample:";
    let breadth_first = |options: &mut CheckOptions| options.search = Some(Search::Bfs);
    again(report, text, breadth_first).or_else(|| {
        again(report, text, |options| {
            breadth_first(options);
            options.store = None;
        })
    })
}

fn waiting_for_ever(_: &Report, property: &PropertyReport) -> Option<Hint> {
    let waiting = |shown: &&crate::report::Shown| shown.waits_in_loop;
    let shown = property.verdict.violations().find(waiting)?;
    let fault = shown.evidence.fault();
    debug_assert_eq!(fault.kind, FaultKind::EndState);
    let who = fault.process.as_deref().unwrap_or("the process");
    plain(format!(
        "if {who} may wait at {}:{} forever, say so with a label that begins with `end` in front of that statement or of \
         its loop",
        fault.file, fault.line
    ))
}

fn nothing_stated(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let holds = matches!(property.verdict, Verdict::Holds(_)) && property.name == "safety";
    if !holds || report.states_something {
        return None;
    }
    plain("the model has no assertion: only deadlocks and run-time errors were looked for".to_string())
}

fn progress_unchecked(report: &Report, property: &PropertyReport) -> Option<Hint> {
    let checked = report.properties.iter().any(|p| p.kind == "progress");
    if !report.progress_labels
        || checked
        || matches!(property.verdict, Verdict::Violated(..) | Verdict::Refuted(_))
    {
        return None;
    }
    let text = "the model has progress labels, and progress was not checked; to check it:";
    again(report, text, |options| options.properties = vec!["progress".to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deferred_drop::DeferredDrop;
    use crate::memory::{self, Allowance};
    use crate::options::{Por, Source};
    use crate::report::{Shown, Times};
    use search::{Checks, Limits, Silent, Statistics, Task, depth_first};
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;
    use store::Table;
    use system::Fairness;
    use system::toy::Graph;
    use trace::{ModelOptions, Trail, TrailStep, confirm};

    /// The report of `spinor check m.pml` with these options, on one property.
    fn report(options: CheckOptions, verdict: Verdict) -> Report {
        let options =
            CheckOptions { source: Source { path: "m.pml".to_string(), ..Source::default() }, ..options };
        let plan = Plan::new(&options).unwrap();
        let property = PropertyReport {
            por: Por::None,
            name: "safety".to_string(),
            kind: "safety",
            verdict,
            errors: 0,
            exhaustive: false,
            interrupted: false,
            statistics: Statistics::default(),
            certificate: None,
            kept: None,
            on_disk: None,
            symbolic: None,
            gpu: None,
            packed: None,
            cluster: None,
            checked: Vec::new(),
            coverage: None,
            met_full_buffer: None,
            reached: None,
            noted: None,
            how: None,
            fairness: Fairness::None,
            vacuous: None,
            holds_under: None,
            evaluation: None,
        };
        Report {
            model: options.source.path.clone(),
            options,
            config: plan.config(),
            properties: vec![property],
            times: Times::default(),
            peak_rss: 0,
            memory_left: 0,
            states_something: true,
            notices: Vec::new(),
            progress_labels: false,
            leaving: DeferredDrop::default(),
            weak_memory: None,
            fences: None,
        }
    }

    fn unknown(options: CheckOptions, reason: Reason) -> Report {
        report(options, Verdict::Unknown(reason))
    }

    /// Texts and commands, the latter behind an arrow.
    fn said(report: &Report) -> Vec<String> {
        let show = |hint: Hint| match hint.command {
            Some(command) => format!("{} => {command}", hint.text),
            None => hint.text,
        };
        hints(report).into_iter().map(show).collect()
    }

    /// A violation after `steps` steps: a deadlock at the end of a line of nodes.
    fn violated(steps: usize, waits_in_loop: bool) -> Verdict {
        let nodes: Vec<String> = (0..=steps).map(|n| n.to_string()).collect();
        let graph = Graph::parse(&nodes.join(" -> ")).unwrap();
        let stop = AtomicBool::new(false);
        let limits = Limits::default();
        let task =
            Task { checks: Checks::SAFETY, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        let found = depth_first(&graph, &mut Table::default(), &task, &mut Silent).violations.remove(0);
        let trail = Trail {
            version: String::new(),
            model: String::new(),
            model_absolute: None,
            fingerprint: 0,
            options: ModelOptions::default(),
            property: "safety".to_string(),
            channels_empty: false,
            fair: None,
            cycle: None,
            violation: found.fault,
            steps: found.path.iter().map(|&action| TrailStep { action, info: None }).collect(),
        };
        let evidence = confirm(&graph, trail).unwrap();
        let shown = Shown {
            evidence,
            kept: crate::client::Kept::File("t".to_string()),
            line: None,
            story: String::new(),
            blocked: Vec::new(),
            waits_in_loop,
        };
        Verdict::Violated(Box::new(shown), Vec::new())
    }

    fn holds() -> Verdict {
        let graph = Graph::parse("0 -> 0").unwrap();
        let stop = AtomicBool::new(false);
        let limits = Limits::default();
        let task =
            Task { checks: Checks::SAFETY, all_errors: false, seed: None, limits, stop: &stop, reduce: None };
        Verdict::Holds(depth_first(&graph, &mut Table::default(), &task, &mut Silent).exhausted.unwrap())
    }

    #[test]
    fn budgets_are_raised() {
        let few = CheckOptions { max_states: Some(10), all_errors: true, ..CheckOptions::default() };
        assert_eq!(
            said(&unknown(few, Reason::States(10)))[..1],
            ["to explore everything, leave --max-states out: => spinor check m.pml --all-errors"]
        );
        let shallow = CheckOptions { max_depth: Some(500), ..CheckOptions::default() };
        assert_eq!(
            said(&unknown(shallow, Reason::Depth(500))),
            ["to look deeper: => spinor check m.pml --max-depth 5000"]
        );
        let short = CheckOptions { timeout: Some(Duration::from_millis(2500)), ..CheckOptions::default() };
        assert_eq!(
            said(&unknown(short, Reason::Time(Duration::from_millis(2500))))[..1],
            ["to search longer: => spinor check m.pml --timeout 25"]
        );
    }

    #[test]
    fn compact_stores_come_before_more_memory() {
        let with = |store: StoreKind, left: u64| {
            let options = CheckOptions {
                store: Some(store),
                max_memory: Some(Size(64 << 20)),
                ..CheckOptions::default()
            };
            let allowance = Allowance { bytes: 64 << 20, by: memory::Source::Request };
            let mut report = unknown(options, Reason::Memory(allowance));
            report.properties[0].statistics.states = 2;
            report.memory_left = left;
            said(&report).remove(0)
        };
        assert_eq!(
            with(StoreKind::Table, 0),
            "the states can be kept in less memory: => spinor check m.pml --max-memory 64M --store cleary"
        );
        let more = with(StoreKind::Cleary, 1 << 30);
        assert_eq!(
            more,
            "this machine has more memory: => spinor check m.pml --max-memory 992M --store cleary"
        );
        assert!(with(StoreKind::Cleary, 32 << 30).ends_with("--max-memory 31G --store cleary"));
        assert!(with(StoreKind::Cleary, 0).starts_with("to find errors without exploring everything"));
    }

    #[test]
    fn lossy_stores_have_exact_relatives() {
        let lossy = CheckOptions { store: Some(StoreKind::HashCompaction), ..CheckOptions::default() };
        let said = said(&unknown(lossy, Reason::Omission { store: "hc", probability: 1e-9 }));
        assert_eq!(
            said,
            [
                "to be certain, keep the states in a store that loses nothing: => spinor check m.pml --store cleary"
            ]
        );
    }

    #[test]
    fn interrupted_searches() {
        assert_eq!(
            said(&unknown(CheckOptions::default(), Reason::Interrupted))[3..],
            ["to let a search end by itself: => spinor check m.pml --timeout 60"]
        );
        let timed = CheckOptions { timeout: Some(Duration::from_secs(5)), ..CheckOptions::default() };
        assert_eq!(said(&unknown(timed, Reason::Interrupted)).len(), 3);
        assert!(said(&unknown(CheckOptions::default(), Reason::Incomplete)).is_empty());
    }

    #[test]
    fn errors_can_be_found_without_an_answer() {
        let safety = said(&unknown(CheckOptions::default(), Reason::Time(Duration::from_secs(9))));
        assert_eq!(
            safety[1..3],
            [
                "to find errors without exploring everything, search depth-first: => spinor check m.pml --search dfs",
                "to look at many more states in the same memory, though some may be missed: => spinor check m.pml --store bitstate"
            ]
        );
        assert!(safety[3].starts_with("a smaller model"), "{safety:?}");
        let mut runs = unknown(CheckOptions::default(), Reason::States(9));
        runs.properties[0].kind = "ltl";
        assert!(
            !said(&runs).iter().any(|hint| hint.contains("--search dfs")),
            "what is for states is for states"
        );
    }

    #[test]
    fn progress_that_was_not_checked_is_told() {
        let mut report = report(CheckOptions::default(), holds());
        report.progress_labels = true;
        assert_eq!(
            said(&report),
            [
                "the model has progress labels, and progress was not checked; to check it: => spinor check m.pml --property progress"
            ]
        );
        report.properties[0].kind = "progress";
        assert!(said(&report).is_empty());
    }

    #[test]
    fn long_counterexamples_can_be_shortened() {
        let with = |search: Option<Search>, steps| {
            said(&report(CheckOptions { search, ..CheckOptions::default() }, violated(steps, false)))
        };
        assert_eq!(
            with(Some(Search::Dfs), LONG + 1),
            ["to find a shortest counterexample: => spinor check m.pml --search bfs"]
        );
        let store = Some(StoreKind::Cleary);
        let other = report(CheckOptions { store, ..CheckOptions::default() }, violated(LONG + 1, false));
        let command = hints(&other).remove(0).command.unwrap();
        assert!(
            ["spinor check m.pml --search bfs", "spinor check m.pml --search bfs --store cleary"]
                .contains(&&*command)
        );
        assert!(with(None, LONG).is_empty());
        assert!(with(Some(Search::Bfs), LONG + 1).is_empty());
    }

    #[test]
    fn waiting_for_ever_may_be_meant() {
        let said = said(&report(CheckOptions::default(), violated(1, true)));
        assert!(said[0].starts_with("if graph may wait at toy:1 forever"), "{said:?}");
    }

    #[test]
    fn a_model_without_assertions_is_told_so() {
        let mut report = report(CheckOptions::default(), holds());
        assert!(said(&report).is_empty());
        report.states_something = false;
        assert!(said(&report)[0].starts_with("the model has no assertion"));
        report.properties[0].name = "end-state".to_string();
        assert!(said(&report).is_empty());
    }

    #[test]
    fn fairness_is_suggested_where_it_helps() {
        let options = CheckOptions { search: Some(Search::Ndfs), ..CheckOptions::default() };
        let mut report = report(options, holds());
        report.properties[0].holds_under = Some(Fairness::Weak);
        let weak = said(&report);
        assert!(weak[0].ends_with("without those it holds: => spinor check m.pml --fair weak"), "{weak:?}");
        report.properties[0].holds_under = Some(Fairness::Strong);
        let strong = said(&report);
        assert!(
            strong[0].ends_with("without those it holds: => spinor check m.pml --fair strong"),
            "{strong:?}"
        );
    }

    #[test]
    fn the_same_hint_is_given_once() {
        let mut report = unknown(CheckOptions::default(), Reason::Interrupted);
        report.properties.extend(unknown(CheckOptions::default(), Reason::Interrupted).properties);
        assert_eq!(said(&report).len(), 4);
    }
}
