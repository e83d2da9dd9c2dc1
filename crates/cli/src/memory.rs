//! `spinor memory`: the tests of a memory system, one after another.

use crate::args::{Format, MemoryArgs};
use crate::output::{self, Lines, Output};
use crate::quiet::Quiet;
use crate::signal::Signals;
use crate::{chart, report_file};
use ::memory::compose::Question;
use ::memory::report::Findings;
use ::memory::running::Checked;
use ::memory::{Known, MemorySystem, Model, Outcome, Request};
use engine::saving::{RealStorage, is_special};
use engine::trails::{self, TrailFiles};
use engine::{Answer, CheckOptions, DiskOrInput, Failure, Kept};
use std::collections::BTreeMap;
use std::io::Stdout;

/// Tests a memory system; returns the exit status.
pub fn run(args: &MemoryArgs) -> u8 {
    let signals = Signals::listen();
    let (system, request, options) = match prepared(args, &signals) {
        Ok(prepared) => prepared,
        Err(status) => return signals.status(status),
    };
    let result = match &args.emit {
        Some(file) => emit(file, &system, &request),
        None => test(args, &system, &request, (&options, &signals)),
    };
    match result {
        Ok(status) => signals.status(status),
        Err(failure) => {
            let answer = Answer::<()>::failed(failure);
            signals.status(output::write_notices(answer, args.format).err().unwrap_or(2))
        }
    }
}

/// Reads the system and the request; the error is the exit status.
fn prepared(args: &MemoryArgs, signals: &Signals) -> Result<(MemorySystem, Request, CheckOptions), u8> {
    let wrong =
        |failure| output::write_notices(Answer::<()>::failed(failure), args.format).err().unwrap_or(2);
    let options = args.given.options().map_err(wrong)?;
    let request = request(args).map_err(wrong)?;
    let source = args.reading.source(args.file.as_deref().unwrap_or_default());
    let answer = match (&args.system, &args.file) {
        (Some(name), _) => MemorySystem::built_in(name, &source, signals.stop()),
        (None, Some(_)) => MemorySystem::load(&source, &DiskOrInput::default(), signals.stop()),
        (None, None) => Answer::failed(Failure::refused_with(
            "there is no memory system to test",
            format!("give a file, or --system with one of {}", ::memory::builtin::names().join(", ")),
        )),
    };
    let system = output::write_brief_notices(answer, args.format, &source.path, args.quiet)?;
    Ok((system, request, options))
}

fn request(args: &MemoryArgs) -> Result<Request, Failure> {
    let model = match &args.model {
        None => None,
        Some(name) => Some(Model::of(name).ok_or_else(|| {
            let repair = engine::options::one_of(name, ::memory::model::names());
            Failure::refused_with(format!("there is no memory model {name:?}"), repair)
        })?),
    };
    let all_roles = match args.roles.as_deref() {
        None | Some("plain") => false,
        Some("all") => true,
        Some(other) => {
            let message = format!("--roles does not know {other:?}");
            return Err(Failure::refused_with(message, engine::options::one_of(other, ["plain", "all"])));
        }
    };
    let nothing = model.is_none() && args.rule.is_empty() && args.litmus.is_empty();
    Ok(Request {
        model,
        rules: args.rule.clone(),
        litmus: args.litmus.clone(),
        classify: args.classify || nothing,
        cpus: args.cpus,
        addresses: args.addresses,
        all_roles,
    })
}

/// Writes the composed model of one question.
fn emit(file: &str, system: &MemorySystem, request: &Request) -> Result<u8, Failure> {
    let agenda = request.agenda(system)?;
    let [question] = &agenda.questions[..] else {
        let message =
            format!("--emit {file} writes one model, and {} tests are asked for", agenda.questions.len());
        return Err(Failure::refused_with(message, "name one test with --rule or --litmus"));
    };
    let composed = request.compose(system, question);
    let Some(last) = composed.last() else { return Ok(0) };
    match file {
        "-" => Ok(output::deliver_machine(&last.text, 0)),
        _ => save(file, &last.text).map(|()| 0),
    }
}

fn save(file: &str, text: &str) -> Result<(), Failure> {
    let mut write = |out: &mut dyn std::io::Write| out.write_all(text.as_bytes());
    engine::saving::save(&RealStorage, std::path::Path::new(file), &mut write).map_err(|error| {
        Failure::unwritten(&format!("cannot write the model {file}"), &error, "choose another file")
    })
}

/// Asks all questions and writes what came of them; returns the exit status.
fn test(
    args: &MemoryArgs,
    system: &MemorySystem,
    request: &Request,
    (options, signals): (&CheckOptions, &Signals),
) -> Result<u8, Failure> {
    let agenda = request.agenda(system)?;
    let mut output = output::standard();
    let is_text = args.format == Format::Text;
    if is_text {
        output.write(&format!("{}\n", heading(system, request)));
    }
    let mut findings =
        Findings { system, request, outcomes: Vec::new(), skipped: agenda.skipped, interrupted: false };
    let mut client = Quiet::new();
    for question in &agenda.questions {
        let answer = request.ask(system, question, options, signals.stop(), &mut client);
        output::notices(&answer.notices, args.format);
        let outcome = match answer.result {
            Ok(outcome) => outcome,
            // What was found before it is told.
            Err(Failure::Stopped(_)) if signals.stop().is_asked() => {
                findings.interrupted = true;
                break;
            }
            Err(failure) => return Err(failure),
        };
        // Nothing else says why a question has no answer, and where no model is asked about, what shows is all.
        let alone = request.model.is_none() && !request.classify;
        let is_answer = match &outcome.question {
            Question::Litmus(_) if alone => true,
            _ => outcome.known() == Known::Unknown,
        };
        if is_text && (!args.quiet || is_answer) {
            output.write(&Findings::line(request, &outcome));
        }
        findings.outcomes.push(outcome);
        if signals.stop().is_asked() {
            findings.interrupted = true;
            break;
        }
    }
    let kept = keep(&findings, options, args.format);
    if let Some(file) = &args.msc {
        draw(file, &findings)?;
    }
    if is_text {
        tell(&mut output, &findings, &kept);
    } else {
        let place = |outcome: &Outcome| kept.get(&outcome.question.name()).cloned();
        output.write_machine(&output::json(&findings.json(&place), Lines::Several));
    }
    let warnings = if args.quiet { Vec::new() } else { findings.warnings() };
    output::notices(&warnings, args.format);
    Ok(output.finish(findings.status()))
}

fn heading(system: &MemorySystem, request: &Request) -> String {
    match request.model {
        Some(model) => format!("{}: {}", system.name, model.words()),
        None if request.classify => format!("{}: which models it can be", system.name),
        None => format!("{}:", system.name),
    }
}

/// The violations as tables, where their trails are, and what may be concluded.
fn tell(output: &mut Output<Stdout>, findings: &Findings<'_>, kept: &BTreeMap<String, String>) {
    for outcome in findings.violations() {
        if let Some(told) = Findings::told(outcome) {
            output.write(&format!("\n{told}"));
        }
        if let Some(trail) = kept.get(&outcome.question.name()) {
            output.write(&format!(
                "      the whole run: spinor replay {}\n",
                engine::command_line::quoted(trail)
            ));
        }
    }
    let conclusions = findings.conclusions();
    if !conclusions.is_empty() {
        output.write(&format!("\n{}\n", conclusions.join("\n")));
    }
}

/// Writes the composed models and trails of all violations; says where the trails are.
fn keep(findings: &Findings<'_>, options: &CheckOptions, format: Format) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    let special = options.trail.as_deref().is_some_and(is_special);
    for (number, outcome) in findings.violations().enumerate() {
        let Some(checked) = outcome.violated() else { continue };
        let trail = match (&options.trail, number) {
            (None, _) => trails::default_name(&checked.composed.path),
            (Some(trail), n) if n == 0 || special => trail.clone(),
            (Some(trail), n) => format!("{trail}.{}", n + 1),
        };
        match keep_one(checked, &trail) {
            // From there nothing can be replayed.
            Ok(()) if special => {}
            Ok(()) => {
                kept.insert(outcome.question.name(), trail);
            }
            Err(failure) => {
                output::fail(&failure, format, 1);
            }
        }
    }
    kept
}

/// A trail is of no use without its model.
fn keep_one(checked: &Checked, trail: &str) -> Result<(), Failure> {
    let mut files = TrailFiles::new(trail, &RealStorage)?;
    save(&checked.composed.path, &checked.composed.text)?;
    match checked.evidence().map(|evidence| files.keep(evidence)) {
        Some(Kept::Unwritten(why)) => Err(Failure::Unwritten {
            message: format!("the trail {} could not be written: {}", why.path, why.why),
            repair: "give another place with --trail".to_string(),
        }),
        _ => Ok(()),
    }
}

/// The chart of the first violation, or of the first outcome that shows.
fn draw(file: &str, findings: &Findings<'_>) -> Result<(), Failure> {
    let shown = findings.outcomes.iter().find_map(|outcome| {
        let checked = outcome.violated()?;
        checked.violation.as_ref().map(|violation| (outcome, violation))
    });
    let Some((outcome, violation)) = shown else { return Ok(()) };
    let title = format!("{}: {}", findings.system.name, outcome.question.name());
    report_file::refuse(file, &findings.system.name)?;
    chart::save(file, &violation.chart, &title)
}
