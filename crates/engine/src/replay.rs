//! Replays a trail file: finds the model again, takes each step, and says whether the violation shows.

use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::notice::Notice;
use crate::options::Source;
use crate::property::SAFETY_NAMES;
use crate::session::Session;
use crate::simulate::Origin;
use crate::watch::Watches;
use machine::Interp;
use promela::source::Files;
use std::path::Path;
use system::{Explain, Fairness, Fault, TransitionSystem};
use trace::{Judge, Run, Trail};

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
    /// For a run that does not end: how many steps come before those that are repeated for ever.
    pub cycle: Option<usize>,
    /// Where the run comes from.
    pub origin: Origin,
    /// What executes the model, to go on from somewhere inside the run; not where a claim takes part in it.
    pub machine: Option<&'a Interp>,
}

/// Replays the trail in the file `path` and lets `view` look at the run. Not being possible is a refusal that says which step
/// failed and why.
pub fn replay<T: Send>(
    path: &str,
    files: &(dyn Files + Sync),
    view: impl FnOnce(&mut Replayed<'_>) -> T + Send,
) -> Answer<T> {
    isolated(|| {
        let mut notices = Vec::new();
        let result = run(path, files, &mut notices, view);
        Answer { notices, result }
    })
    .unwrap_or_else(Answer::failed)
}

fn run<T>(
    path: &str,
    files: &dyn Files,
    notices: &mut Vec<Notice>,
    view: impl FnOnce(&mut Replayed<'_>) -> T,
) -> Result<T, Failure> {
    let refused = |message: String, repair: &str| Failure::refused_with(message, repair);
    let make = "give the file that `spinor check` wrote when it found a violation";
    let text = files.read(path).map_err(|e| refused(format!("cannot read the trail {path}: {e}"), make))?;
    let trail = trace::read(&text).map_err(|e| refused(format!("{path} is not a trail: {e}"), make))?;
    let (model, session) = find_model(path, &trail, files)?;
    let changed = session.fingerprint() != trail.fingerprint;
    notices.extend(session.notices.iter().filter(|n| n.is_error()).cloned());
    if changed {
        let message = format!("{model} has changed since the trail was written");
        notices.push(Notice::plain(promela::diagnostic::Code::W0702, message, None));
    }
    let watches = watches(&session, &trail)?;
    let machine = session.judge()?.watched(watches.sets.clone());
    let acting = watches.list.first().and_then(|watch| watch.acting.clone());
    let essence = match &acting {
        Some(_) => None,
        None => Some(session.essence()?),
    };
    let judge = watches.list.first().map(|watch| Judge {
        claim: watch.claim.as_ref().map(|claim| (claim, watch.set)),
        general: watch.general.as_ref(),
        fairness: trail.fair.as_deref().and_then(Fairness::from_name).unwrap_or_default(),
        essence: essence.as_ref().map(|machine| machine as &dyn TransitionSystem),
    });
    let walked = match &acting {
        Some(acting) => walk(&**acting, &trail, judge.as_ref()),
        None => walk(&machine, &trail, judge.as_ref()),
    };
    let run = walked
        .map_err(|why| refused(format!("the trail does not replay: {why}"), "check the model again"))?;
    let source = Source { path: model.clone(), options: trail.options.clone() };
    let origin = Origin::new(source, session.fingerprint());
    let (property, violation, cycle) = (trail.property, trail.violation, trail.cycle);
    let machine = acting.is_none().then_some(&machine);
    Ok(view(&mut Replayed { model, property, run, violation, cycle, origin, machine }))
}

/// Where the model may be: as it was given, beside the trail, where it was. The first whose text is unchanged wins, else the
/// first that can be read.
fn find_model(path: &str, trail: &Trail, files: &dyn Files) -> Result<(String, Session), Failure> {
    let beside = Path::new(path).parent().map(|dir| dir.join(&trail.model).to_string_lossy().into_owned());
    let mut candidates = vec![trail.model.clone()];
    candidates.extend(beside);
    candidates.extend(trail.model_absolute.clone());
    candidates.dedup();
    let mut found = None;
    for candidate in candidates {
        if files.read(&candidate).is_err() {
            continue;
        }
        let source = Source { path: candidate.clone(), options: trail.options.clone() };
        let session = Session::load(&source, files)?;
        if session.fingerprint() == trail.fingerprint {
            return Ok((candidate, session));
        }
        found.get_or_insert((candidate, session));
    }
    found.ok_or_else(|| {
        Failure::refused_with(
            format!("the model {} of the trail cannot be found", trail.model),
            "run it in the directory in which the trail was made, or put the trail beside the model",
        )
    })
}

/// The claim of the trail's property, if it has one.
fn watches(session: &Session, trail: &Trail) -> Result<Watches, Failure> {
    let mut watches = Watches::default();
    if !SAFETY_NAMES.contains(&trail.property.as_str()) {
        watches.add(session, &trail.property)?;
    }
    Ok(watches)
}

/// Takes every step and looks for the violation: at the end, or of the run as a whole.
fn walk<'a, M: TransitionSystem + Explain>(
    machine: &'a M,
    trail: &Trail,
    judge: Option<&Judge<'_>>,
) -> Result<Run<'a>, String> {
    match judge {
        None => trace::confirm(machine, trail.clone())?,
        Some(judge) => trace::confirm_by(judge, machine, trail.clone())?,
    };
    let Ok(mut run) = Run::start(machine) else { return Ok(Run::without_start(machine)) };
    for step in &trail.steps {
        run.take(step.action)?;
    }
    run.goto(0);
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::toy::Graph;
    use system::{ActionId, FaultKind};
    use trace::{ModelOptions, TrailStep};

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
        let run = walk(&graph, &trail(&[0, 1]), None).unwrap();
        let texts: Vec<String> = (1..=run.len()).filter_map(|n| run.info(n)).map(|info| info.text).collect();
        assert_eq!(texts, ["0 -> 1", "1 -> 2"]);
        let refused = |actions: &[u64]| walk(&graph, &trail(actions), None).err().unwrap();
        assert!(refused(&[1]).contains("step 1 of 1 is not possible"));
        assert!(refused(&[0]).contains("does not show"));
    }
}
