//! One composed model, checked: the verdict of the engine, and of a violation the table and the chart.
//!
//! The first search is the fastest; when it finds a violation, a breadth-first search looks for a shortest
//! one, within reason. The counterexample is replayed by the reference machine as every one is; the table is
//! read off that run.

use crate::compose::Composed;
use crate::table::{self, Table};
use engine::options::Search;
use engine::replay::replay_trail;
use engine::report::{Reason, Verdict};
use engine::{Answer, CheckOptions, Client, Evidence, Failure, Notice, Report, Session, Stop};
use trace::msc::{self, Chart, End};

/// States among which a shortest violation is looked for.
const SHORTEST_WITHIN: u64 = 4_000_000;
/// Steps that a chart shows at most.
const MOST_CHARTED: usize = 1000;

/// What came of a composed model.
#[derive(Debug)]
pub struct Checked {
    /// The model.
    pub composed: Composed,
    /// The answer of the engine: one property.
    pub report: Report,
    /// The violation, if there is one.
    pub violation: Option<Violation>,
    /// Reads that no run completes, in words: the system may pass for that reason alone.
    pub unreached: Vec<String>,
}

/// A violation.
#[derive(Debug)]
pub struct Violation {
    /// The processors' operations.
    pub table: Table,
    /// The run as a message sequence chart.
    pub chart: Chart,
    /// What happened, in a sentence.
    pub what: String,
    /// What the system itself does wrong, so that the question has no answer: an assertion of its own fails, or it
    /// answers where nobody waits.
    pub fault_of_system: Option<String>,
}

impl Checked {
    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.report.properties[0].verdict
    }

    /// States that were visited.
    pub fn states(&self) -> u64 {
        self.report.properties[0].statistics.states
    }

    /// Why nothing is known, if so.
    pub fn unknown(&self) -> Option<&Reason> {
        match self.verdict() {
            Verdict::Unknown(why) => Some(why),
            _ => None,
        }
    }

    /// The replayed counterexample.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.verdict().violations().next().map(|shown| &shown.evidence)
    }
}

/// Checks a composed model. Of the options, those about exploration count.
pub fn check(
    composed: Composed,
    options: &CheckOptions,
    stop: &Stop,
    client: &mut (dyn Client + Send),
) -> Answer<Checked> {
    let Answer { mut notices, result } = composed.session(stop);
    let result = result.map_err(|failure| out_of_place(failure, &composed)).and_then(|session| {
        let mut report = searched(&session, &composed, options, stop, client, &mut notices)?;
        tell_own_places(&mut report, &composed);
        let mut checked = Checked { composed, report, violation: None, unreached: Vec::new() };
        checked.violation = violation(&session, &checked)?;
        checked.unreached = unreached(&checked);
        Ok(checked)
    });
    notices.retain(Notice::is_error);
    Answer { notices, result }
}

/// What ends a run of the system is told where its author finds it.
fn tell_own_places(report: &mut Report, composed: &Composed) {
    for property in &mut report.properties {
        if let Verdict::Unknown(Reason::Cut(fault)) = &mut property.verdict
            && let Some((file, line)) = composed.place(fault.line)
        {
            (fault.file, fault.line) = (file.to_string(), *line);
        }
    }
}

/// The system alone was read without errors: what is wrong with the composed model are names that meet.
fn out_of_place(failure: Failure, composed: &Composed) -> Failure {
    match failure {
        Failure::Model => Failure::refused_with(
            format!("the system and the processors of {} do not go together", composed.question.name()),
            "names that begin with mv_, CPU and Port belong to the processors; look at the model with --emit",
        ),
        other => other,
    }
}

fn searched(
    session: &Session,
    composed: &Composed,
    options: &CheckOptions,
    stop: &Stop,
    client: &mut (dyn Client + Send),
    notices: &mut Vec<Notice>,
) -> Result<Report, Failure> {
    let properties = vec![composed.question.property().to_string()];
    let mut asked = CheckOptions { properties, trail: None, report: None, ..options.clone() };
    let is_formula = composed.formula().is_some();
    if is_formula {
        // A formula needs the whole graph.
        asked = CheckOptions { search: None, por: None, ..asked };
    }
    let first = session.check(&asked, stop, client);
    notices.extend(first.notices);
    let first = first.result?;
    let is_violated = matches!(first.properties[0].verdict, Verdict::Violated(..));
    if !is_violated || is_formula || asked.search.is_some() || asked.all_errors {
        return Ok(first);
    }
    let shortest = CheckOptions {
        search: Some(Search::Bfs),
        max_states: Some(asked.max_states.unwrap_or(SHORTEST_WITHIN).min(SHORTEST_WITHIN)),
        properties: asked.properties.clone(),
        threads: asked.threads,
        timeout: asked.timeout,
        max_memory: asked.max_memory,
        exec: asked.exec,
        ..CheckOptions::default()
    };
    let again = session.check(&shortest, stop, client).result;
    Ok(again
        .ok()
        .filter(|report| matches!(report.properties[0].verdict, Verdict::Violated(..)))
        .unwrap_or(first))
}

fn violation(session: &Session, checked: &Checked) -> Result<Option<Violation>, Failure> {
    let Some(evidence) = checked.evidence() else { return Ok(None) };
    let trail = evidence.trail().clone();
    let answer = replay_trail(session, trail, |replayed| {
        let table = table::of(replayed, session, &checked.composed);
        let steps = (replayed.run.len() + 1).saturating_sub(MOST_CHARTED).max(1)..=replayed.run.len();
        let ending = End { fault: Some(&replayed.violation), cycle: None };
        let chart = msc::chart(&replayed.run, steps, ending);
        let what = engine::report_text::describe_fault(&replayed.violation);
        let fault_of_system = table::fault_of_system(&checked.composed, &replayed.violation);
        Violation { table, chart, what, fault_of_system }
    });
    answer.result.map(Some)
}

/// Reads of a processor that no run completes, after a search that saw everything.
fn unreached(checked: &Checked) -> Vec<String> {
    let Some(coverage) = &checked.report.properties[0].coverage else { return Vec::new() };
    let mut out = Vec::new();
    for process in coverage {
        for statement in process.unreached() {
            let told = statement.text.split("mem: ").nth(1).filter(|told| told.contains(" read "));
            out.extend(told.and_then(|told| told.split(" =").next()).map(str::to_string));
        }
    }
    out.sort();
    out.dedup();
    out
}
