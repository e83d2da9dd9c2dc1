//! Replays a trail file: finds the model again, takes each step, and says whether the violation shows.

use crate::branching::{Questions, RunJudge, question::question_of};
use crate::embedded::UseOfC;
use crate::failure::{Answer, Failure};
use crate::formula::Written;
use crate::isolate::isolated;
use crate::notice::Notice;
use crate::options::Source;
use crate::property::SAFETY_NAMES;
use crate::run_property::RunProperties;
use crate::session::Session;
use crate::simulate::Origin;
use crate::simulation::Reads;
use crate::spin_trail;
use machine::Interp;
use promela::source::Files;
use std::path::Path;
use stop::Stop;
use system::{Explain, Fairness, Fault, FaultKind, StepInfo, TransitionSystem};
use trace::{Claims, Confirmed, FormulaJudge, Judge, ModelOptions, NotPossible, Refuted, Run, Trail, story};

/// A trail that was replayed to its end, where the violation shows.
pub struct Replayed<'a> {
    /// Where the model was found.
    pub model: String,
    /// The property.
    pub property: String,
    /// The run, looked at from its beginning.
    pub run: Run<'a>,
    /// What is wrong at the end.
    pub violation: Fault,
    /// For a run that does not end: how many steps come before those that are repeated forever.
    pub cycle: Option<usize>,
    /// Where the run comes from.
    pub origin: Origin,
    /// The model.
    pub session: &'a Session,
    /// What executes the run.
    pub system: &'a dyn Reads,
    /// What executes the model, to go on from somewhere inside the run; not where a claim takes part in it.
    pub machine: Option<&'a Interp>,
    /// The propositions of the property, as they were written: set 0 of the machine.
    pub propositions: Vec<Written>,
}

impl Replayed<'_> {
    /// Which of the propositions hold at a moment.
    pub fn holding(&self, moment: usize) -> Vec<bool> {
        let asked = self.system.capabilities().propositions.filter(|_| !self.propositions.is_empty());
        let values = asked.map_or(0, |asked| asked.propositions(0, &self.run.state(moment)));
        Written::holding(&self.propositions, values)
    }
}

/// A trail in a file: ours, or one of Spin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrailFile {
    /// The file.
    pub path: String,
    /// The model, where it is not to be found by the trail.
    pub model: Option<String>,
    /// How the model of one of Spin's trails is read, which names none; others know it themselves.
    pub reading: ModelOptions,
    /// What may be done with the model's embedded C: a trail cannot allow anything.
    pub c: UseOfC,
}

impl TrailFile {
    /// A trail that knows its model.
    pub fn new(path: impl Into<String>) -> Self {
        let reading = ModelOptions { dialect: "spin".to_string(), ..ModelOptions::default() };
        TrailFile { path: path.into(), model: None, reading, c: UseOfC::Refused }
    }
}

/// Replays the trail in a file and lets `view` look at the run. Not being possible is a refusal that says
/// which step failed and why.
pub fn replay<T: Send>(
    file: &TrailFile,
    files: &(dyn Files + Sync),
    stop: &Stop,
    view: impl FnOnce(&mut Replayed<'_>) -> T + Send,
) -> Answer<T> {
    isolated(|| {
        let mut notices = Vec::new();
        let result = run(file, files, stop, &mut notices, view);
        Answer { notices, result }
    })
    .unwrap_or_else(Answer::failed)
}

fn run<T>(
    file: &TrailFile,
    files: &dyn Files,
    stop: &Stop,
    notices: &mut Vec<Notice>,
    view: impl FnOnce(&mut Replayed<'_>) -> T,
) -> Result<T, Failure> {
    let refused = |message: String, repair: &str| Failure::refused_with(message, repair);
    let make = "give the file that `spinor check` wrote when it found a violation";
    let path = file.path.as_str();
    let text =
        files.read_long(path).map_err(|e| refused(format!("cannot read the trail {path}: {e}"), make))?;
    if spin_trail::lines::is_one(path, &text) {
        let session = model_of_spin(file, files, stop)?;
        let trail = spin_trail::follow::followed(&session, path, &text).inspect_err(|_| {
            notices.extend(session.notices.iter().filter(|n| n.is_error()).cloned());
        })?;
        return replayed(&session, trail, notices, view);
    }
    let trail = trace::read(&text).map_err(|e| refused(format!("{path} is not a trail: {e}"), make))?;
    drop(text);
    if !file.reading.preprocessor.is_empty() || file.reading.lossy_channels {
        let message = format!("{path} says itself how its model was read");
        let repair = "leave -D, -U, -I and --lossy-channels out: they are for trails of Spin";
        return Err(refused(message, repair));
    }
    let (_, session) = find_model(file, &trail, files, stop)?;
    replayed(&session, trail, notices, view)
}

/// Replays a trail of a model that was read and lets `view` look at the run.
pub fn replay_trail<T: Send>(
    session: &Session,
    trail: Trail,
    view: impl FnOnce(&mut Replayed<'_>) -> T + Send,
) -> Answer<T> {
    isolated(|| {
        let mut notices = Vec::new();
        let result = replayed(session, trail, &mut notices, view);
        Answer { notices, result }
    })
    .unwrap_or_else(Answer::failed)
}

fn replayed<T>(
    session: &Session,
    trail: Trail,
    notices: &mut Vec<Notice>,
    view: impl FnOnce(&mut Replayed<'_>) -> T,
) -> Result<T, Failure> {
    let model = session.source.path.clone();
    let changed = session.fingerprint() != trail.fingerprint;
    notices.extend(session.notices.iter().filter(|n| n.is_error()).cloned());
    if changed {
        let message = format!("{model} has changed since the trail was written");
        notices.push(Notice::plain(promela::diagnostic::Code::W0702, message, None));
    }
    let (questions, watches) = asked(session, &trail)?;
    let sets = questions.as_ref().map_or_else(|| watches.sets.clone(), Questions::sets);
    let machine = session.judge()?.watched(sets);
    let acting = watches.list.first().and_then(|watch| watch.acting.clone());
    let essence = match &acting {
        Some(_) => None,
        None => Some(session.essence()?),
    };
    let judge = judge(&watches, &trail, essence.as_ref());
    let formula = formula_judge(questions.as_ref(), &trail, &machine, essence.as_ref());
    let claims = Claims {
        formula: formula.as_ref().map(|judge| judge as &dyn FormulaJudge),
        moved: changed,
        channels_empty: trail.channels_empty,
        cycle: trail.cycle,
        judge,
        ..Claims::of(&trail.violation)
    };
    let confirmed = match &acting {
        Some(acting) => walk(&**acting, &trail, claims, changed),
        None => walk(&machine, &trail, claims, changed),
    };
    let Confirmed { mut run, finding, .. } = confirmed.map_err(|why| {
        Failure::refused_with(format!("the trail does not replay: {why}"), "check the model again")
    })?;
    fits(&trail.property, &finding)?;
    run.goto(0);
    let source = Source { options: trail.options.clone(), ..session.source.clone() };
    let origin = Origin::new(source, session.fingerprint());
    let (property, violation, cycle) = (trail.property, finding, trail.cycle);
    let system: &dyn Reads = match &acting {
        Some(acting) => &**acting,
        None => &machine,
    };
    let machine = acting.is_none().then_some(&machine);
    let propositions = watches.written.into_iter().next().unwrap_or_default();
    Ok(view(&mut Replayed {
        model,
        property,
        run,
        violation,
        cycle,
        origin,
        session,
        system,
        machine,
        propositions,
    }))
}

/// Who judges the run as a whole, if the trail's property is about that.
fn judge<'a>(watches: &'a RunProperties, trail: &Trail, essence: Option<&'a Interp>) -> Option<Judge<'a>> {
    watches.list.first().map(|watch| Judge {
        fault: &watch.fault,
        claim: watch.claim.as_ref().map(|claim| (claim, watch.set)),
        general: watch.general.as_ref(),
        fairness: trail.fair.as_deref().and_then(Fairness::from_name).unwrap_or_default(),
        essence: essence.map(|machine| machine as &dyn TransitionSystem),
    })
}

/// What the steps of a trail show of its property, whatever it says itself. The error says why nothing.
pub(crate) fn finding(session: &Session, trail: &Trail) -> Result<Fault, Failure> {
    let watches = watches(session, trail)?;
    if watches.list.iter().any(|watch| watch.acting.is_some()) {
        return Err(Failure::refused_with(
            format!("{} assigns variables: its steps are steps of the run", trail.property),
            "check the model here",
        ));
    }
    let (machine, essence) = (session.judge()?.watched(watches.sets.clone()), session.essence()?);
    let claims = Claims {
        channels_empty: trail.channels_empty,
        cycle: trail.cycle,
        judge: judge(&watches, trail, Some(&essence)),
        ..Claims::nothing()
    };
    let confirmed = trace::replay(&machine, trail.actions(), claims, &mut |_, _| {});
    let finding = confirmed.map_err(|why| Failure::refused(why.to_string()))?.finding;
    fits(&trail.property, &finding)?;
    Ok(finding)
}

/// The model of a trail of Spin, which names none: the one that was given, or the one that the file is called
/// after.
fn model_of_spin(file: &TrailFile, files: &dyn Files, stop: &Stop) -> Result<Session, Failure> {
    let stem = file.path.strip_suffix(".trail").or_else(|| file.path.strip_suffix(".tra"));
    let without_number = stem.map(|stem| stem.trim_end_matches(|c: char| c.is_ascii_digit()));
    let named = [stem, without_number].into_iter().flatten().map(str::to_string);
    let candidates: Vec<String> = match &file.model {
        Some(model) => vec![model.clone()],
        None => named.flat_map(|stem| [stem.clone(), format!("{stem}.pml")]).collect(),
    };
    let Some(path) = candidates.iter().find(|path| files.read(path).is_ok()) else {
        let what = match &file.model {
            Some(model) => format!("cannot read the model {model}"),
            None => format!("{} is a trail of Spin, which does not name its model", file.path),
        };
        return Err(Failure::refused_with(what, "give the model with --model MODEL"));
    };
    let source = Source { path: path.clone(), options: file.reading.clone(), c: file.c.clone() };
    Session::load(&source, files, stop)
}

/// What the trail's property asks: a formula about states, or a claim about whole runs.
fn asked(session: &Session, trail: &Trail) -> Result<(Option<Questions>, RunProperties), Failure> {
    match question_of(session, &trail.property)? {
        Some(questions) => Ok((Some(questions), RunProperties::default())),
        None => Ok((None, watches(session, trail)?)),
    }
}

/// Who says what the run shows of a formula about states, if that is what was asked.
fn formula_judge<'a>(
    questions: Option<&'a Questions>,
    trail: &Trail,
    machine: &'a Interp,
    essence: Option<&'a Interp>,
) -> Option<RunJudge<'a>> {
    let questions = questions?;
    let question = questions.list.first()?;
    let essence = essence.map(|machine| machine as &dyn TransitionSystem);
    let (fair, holds) = (trail.fair.is_some(), trail.violation.kind == FaultKind::Witness);
    Some(RunJudge { machine, question, questions, essence, fair, alone: false, holds })
}

/// Where the model may be: as it was given, beside the trail, where it was. The first whose text is unchanged
/// wins, else the first that can be read.
fn find_model(
    file: &TrailFile,
    trail: &Trail,
    files: &dyn Files,
    stop: &Stop,
) -> Result<(String, Session), Failure> {
    let beside = Path::new(&file.path).parent();
    let beside = beside.map(|dir| dir.join(&trail.model).to_string_lossy().into_owned());
    let mut candidates = vec![trail.model.clone()];
    candidates.extend(beside);
    candidates.extend(trail.model_absolute.clone());
    candidates.dedup();
    if let Some(model) = &file.model {
        candidates = vec![model.clone()];
    }
    let mut found = None;
    for candidate in candidates {
        if files.read(&candidate).is_err() {
            continue;
        }
        let source = Source { path: candidate.clone(), options: trail.options.clone(), c: file.c.clone() };
        let session = Session::load(&source, files, stop)?;
        if session.fingerprint() == trail.fingerprint {
            return Ok((candidate, session));
        }
        found.get_or_insert((candidate, session));
    }
    found.ok_or_else(|| {
        Failure::refused_with(
            format!("the model {} of the trail cannot be found", file.model.as_ref().unwrap_or(&trail.model)),
            "give it with --model, run it in the directory in which the trail was made, or put the trail beside it",
        )
    })
}

/// The claim of the trail's property, if it has one.
fn watches(session: &Session, trail: &Trail) -> Result<RunProperties, Failure> {
    let mut watches = RunProperties::default();
    if !SAFETY_NAMES.contains(&trail.property.as_str()) {
        watches.add(session, &trail.property)?;
    }
    Ok(watches)
}

/// Takes every step and looks for the violation: at the end, or of the run as a whole. Where the model has
/// `changed`, statements are compared with what the trail says about them.
fn walk<'a, M: TransitionSystem + Explain>(
    machine: &'a M,
    trail: &Trail,
    claims: Claims<'_>,
    changed: bool,
) -> Result<Confirmed<'a>, String> {
    let mut recorded = trail.steps.iter();
    let (mut number, mut other) = (0, None);
    let mut compare = |state: &[u8], action| {
        number += 1;
        let told = recorded.next().and_then(|step| step.info.as_ref());
        if let (true, None, Some(told)) = (changed, &other, told) {
            let now = machine.step(state, action);
            if (&now.text, &now.process) != (&told.text, &told.process) {
                other = Some(format!(
                    "step {number} was {} when the trail was written, and is {} now",
                    statement(told),
                    statement(&now)
                ));
            }
        }
    };
    trace::replay(machine, trail.actions(), claims, &mut compare).map_err(|refuted| {
        let why = explain(&refuted, trail);
        match other {
            Some(other) => format!("{other}; then {why}"),
            None => why,
        }
    })
}

/// Steps that are possible instead and are named.
const MOST_NAMED: usize = 4;

/// Why a trail does not replay, by its statements.
fn explain(refuted: &Refuted, trail: &Trail) -> String {
    let Refuted::Step { number, why, possible } = refuted else { return refuted.to_string() };
    let told = trail.steps.iter().nth(number - 1).and_then(|step| step.info.as_ref());
    let step = match told {
        Some(info) => format!("step {number} of {}, {},", trail.steps.len(), statement(info)),
        None => format!("step {number} of {}", trail.steps.len()),
    };
    let named: Vec<String> = possible.iter().take(MOST_NAMED).map(statement).collect();
    let instead = match (why, possible.len()) {
        (NotPossible::Ended, _) => format!("because {why}"),
        (_, 0) => "and nothing else is".to_string(),
        (_, n) if n > MOST_NAMED => format!("but {} and {} others are", named.join(", "), n - MOST_NAMED),
        (_, 1) => format!("but {} is", named.join(", ")),
        _ => format!("but {} are", named.join(", ")),
    };
    format!("{step} is not possible, {instead}")
}

/// A step by its statement, process and place.
fn statement(info: &StepInfo) -> String {
    let process = story::process_name(&info.process, info.pid);
    format!("`{}` of {process} at {}:{}", story::shortened(&info.text, 60), info.file, info.line)
}

/// A property that does not ask about what was found is not the one that is violated.
fn fits(property: &str, finding: &Fault) -> Result<(), Failure> {
    let cycle =
        matches!(finding.kind, FaultKind::AcceptCycle | FaultKind::ProgressCycle | FaultKind::ClaimEnd);
    let kind = finding.kind.name();
    let asks = match property {
        "safety" => !cycle,
        "progress" => finding.kind == FaultKind::ProgressCycle,
        "accept" => finding.kind == FaultKind::AcceptCycle,
        part if SAFETY_NAMES.contains(&part) => part == kind,
        _ => true,
    };
    match asks {
        true => Ok(()),
        false => Err(Failure::refused_with(
            format!(
                "the trail does not replay: it shows a violation of kind {kind}, which {property} does not ask about"
            ),
            "check the model again",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;
    use system::{ActionId, FaultKind};
    use trace::TrailStep;

    #[test]
    fn steps_are_told_and_impossible_ones_named() {
        let graph = Graph::parse("0 -> 1 -> 2; bad 2; end 2").unwrap();
        let fault = |line| Fault {
            kind: FaultKind::Invariant,
            message: format!("bad node {line}"),
            file: "toy".to_string(),
            line,
            column: 1,
            process: Some("graph".to_string()),
            pid: Some(0),
        };
        let trail = |actions: &[u64]| Trail {
            version: String::new(),
            model: String::new(),
            model_absolute: None,
            fingerprint: 0,
            options: ModelOptions::default(),
            property: "safety".to_string(),
            channels_empty: false,
            fair: None,
            cycle: None,
            violation: fault(2),
            steps: actions.iter().map(|&a| TrailStep { action: ActionId(a), info: None }).collect(),
        };
        let violation = fault(2);
        let walked = |actions: &[u64]| walk(&graph, &trail(actions), Claims::of(&violation), false);
        let run = walked(&[0, 1]).unwrap().run;
        let texts: Vec<String> = (1..=run.len()).filter_map(|n| run.info(n)).map(|info| info.text).collect();
        assert_eq!(texts, ["0 -> 1", "1 -> 2"]);
        let refused = |actions: &[u64]| walked(actions).err().unwrap();
        let first = refused(&[1]);
        assert!(first.starts_with("step 1 of 1 is not possible, but `0 -> 1` of graph[0]"), "{first}");
        assert!(refused(&[0]).contains("does not show"));
    }
}
