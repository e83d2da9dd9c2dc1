//! `spinor check`: one model, or several one after another.

use crate::args::{CheckArgs, CheckFormat};
use crate::output::{self, Lines, Output};
use crate::progress::Line;
use crate::report_file;
use crate::signal::Signals;
use engine::options::{Choice, Memory};
use engine::saving::is_special;
use engine::{
    Answer, CheckOptions, DiskOrInput, Failure, Notice, Report, report_json, report_markdown, report_sarif,
    report_text,
};
use std::collections::BTreeMap;
use std::io::Stdout;

/// Which exit status counts when several models have different ones: the first of these that occurs.
const ORDER: [u8; 7] = [4, 1, 143, 130, 2, 3, 0];

/// The exit status of a violation, which a report that cannot be written leaves, and of such a report.
const VIOLATED: u8 = 1;
const UNWRITTEN: u8 = 4;

/// Checks the models; returns the exit status.
pub fn run(args: &CheckArgs) -> u8 {
    if let Err(failure) = refuse(args) {
        let answer: Answer<()> = Answer::failed(failure);
        return output::write_notices(answer, args.format.of_notices()).err().unwrap_or(2);
    }
    let (signals, files) = (Signals::listen(), DiskOrInput::default());
    let (mut done, mut output) = (Done::default(), output::standard());
    for (i, model) in args.models.iter().enumerate() {
        if i > 0 && args.format == CheckFormat::Text {
            output.write("\n");
        }
        let memories = memories(args);
        let mut compared = Vec::new();
        for &memory in &memories {
            let checked = check(args, (model, memory), &files, &signals, &mut output);
            compared.extend(memory.map(|memory| (memory, checked.verdict)));
            done.add(checked);
            if memory.is_some() && args.format == CheckFormat::Text {
                output.write("\n");
            }
        }
        if !compared.is_empty() && args.format == CheckFormat::Text {
            output.write(&comparison(model, &compared));
        }
        if signals.stop().is_asked() {
            break;
        }
    }
    match args.format {
        CheckFormat::Text if args.models.len() > 1 => output.write(&done.sum(args.models.len())),
        CheckFormat::Sarif => {
            let log = report_sarif::sarif(&done.reports, &done.notices, done.status());
            output.write_machine(&output::json(&log, Lines::Several));
        }
        CheckFormat::Text | CheckFormat::Json | CheckFormat::Markdown => {}
    }
    output.finish(done.status())
}

/// The memory models of `--memory all`; where one alone is asked for, nothing in particular.
fn memories(args: &CheckArgs) -> Vec<Option<Memory>> {
    let asked = args.given.options().ok().and_then(|options| options.memory);
    match asked {
        Some(Memory::All) => [Memory::Sc, Memory::Tso, Memory::Pso].map(Some).to_vec(),
        _ => vec![None],
    }
}

/// The verdicts under several memory models.
fn comparison(model: &str, compared: &[(Memory, &'static str)]) -> String {
    let line = |(memory, verdict): &(Memory, &str)| format!("  {:<4} {verdict}\n", memory.word());
    format!("{model} under each memory model:\n{}", compared.iter().map(line).collect::<String>())
}

/// The options of one check. What is about store buffers is left out where there are none.
fn options(args: &CheckArgs, model: &str, memory: Option<Memory>) -> Result<CheckOptions, Failure> {
    let options = args.options(model)?;
    let Some(memory) = memory else { return Ok(options) };
    let path = options.source.path.clone();
    let trail = options.trail.clone().unwrap_or_else(|| engine::trails::default_name(&path));
    let options = CheckOptions { memory: Some(memory), ..options };
    Ok(match memory {
        Memory::Sc => CheckOptions {
            memory_bound: None,
            memory_split: false,
            plain: None,
            suggest_fences: false,
            ..options
        },
        _ => CheckOptions { trail: Some(named_after(&trail, memory.word())), ..options },
    })
}

/// A trail of its own for every memory model: `model.pml.tso.trail.json`. A special file takes them all.
fn named_after(trail: &str, memory: &str) -> String {
    if is_special(trail) {
        return trail.to_string();
    }
    match trail.strip_suffix(".trail.json") {
        Some(stem) => format!("{stem}.{memory}.trail.json"),
        None => format!("{trail}.{memory}"),
    }
}

/// Looks for fences where something is violated, if that is asked for.
fn suggest(options: &CheckOptions, files: &DiskOrInput, signals: &Signals, report: &mut Report) {
    if options.suggest_fences && report.weak_memory.is_some() {
        let answer = engine::suggest_fences::suggest(options, files, signals.stop());
        let failed = |_| engine::suggest_fences::Suggestion::Unknown("a check failed");
        report.fences = Some(answer.result.unwrap_or_else(failed));
    }
}

/// The trail that is asked for; options that make no sense are refused later, for each model.
fn trail(args: &CheckArgs) -> Option<String> {
    args.given.options().ok()?.trail
}

/// What several models cannot share.
fn refuse(args: &CheckArgs) -> Result<(), Failure> {
    let options = args.given.options().unwrap_or_default();
    let several = args.models.len() > 1;
    let one_each = [
        ("--report", &options.report),
        ("--certify", &options.certify),
        ("--checkpoint", &options.checkpoint),
        ("--resume", &options.resume),
    ];
    for (option, file) in one_each {
        if let (Some(file), true) = (file, several) {
            return Err(Failure::refused_with(
                format!("{option} {file} names one file, and there are {} models", args.models.len()),
                "check the models one at a time",
            ));
        }
        let for_one_search = matches!(option, "--checkpoint" | "--resume");
        if let (Some(file), true) = (file, for_one_search && options.memory == Some(Memory::All)) {
            return Err(Failure::refused_with(
                format!("{option} {file} is about one search, and --memory all makes three"),
                "give --memory sc, tso or pso",
            ));
        }
    }
    match (trail(args), args.models.len()) {
        (Some(trail), 2..) => Err(Failure::refused_with(
            format!("--trail {trail} names one file, and there are {} models", args.models.len()),
            "leave --trail out: every model has a trail of its own, MODEL.trail.json",
        )),
        _ => Ok(()),
    }
}

/// What came of one model.
struct Checked {
    status: u8,
    verdict: &'static str,
    report: Option<Report>,
    notices: Vec<Notice>,
}

/// Checks one model and writes its report.
fn check(
    args: &CheckArgs,
    (model, memory): (&str, Option<Memory>),
    files: &DiskOrInput,
    signals: &Signals,
    output: &mut Output<Stdout>,
) -> Checked {
    let path = args.reading.source(model).path;
    let begun = options(args, model, memory).and_then(|options| {
        options.report.as_ref().map_or(Ok(()), |file| report_file::refuse(file, &path))?;
        Ok((Line::new(args, &options)?, options))
    });
    let (answer, mut notices) = match begun {
        Ok((mut line, options)) => {
            let mut answer = engine::check(&options, files, signals.stop(), &mut line);
            if let Ok(report) = &mut answer.result {
                suggest(&options, files, signals, report);
            }
            line.clear();
            (answer, line.into_notices())
        }
        Err(failure) => (Answer::failed(failure), Vec::new()),
    };
    notices.extend(answer.notices.iter().cloned());
    notices.extend(answer.result.as_ref().err().and_then(Failure::notice));
    let format = args.format.of_notices();
    let report = match output::write_brief_notices(answer, format, &path, args.quiet) {
        Ok(report) => report,
        Err(status) => {
            let status = signals.status(status);
            return Checked { status, verdict: "without a verdict", report: None, notices };
        }
    };
    if trail(args).is_some_and(|path| path.starts_with("/dev/") || path.starts_with("/proc/")) {
        output::skip_what_is_there();
    }
    let several = args.models.len() > 1 || memory.is_some();
    match args.format {
        CheckFormat::Text => {
            output.write(&report_text::text(&report, args.quiet, output::out_palette()));
        }
        CheckFormat::Json => {
            let lines = if several { Lines::One } else { Lines::Several };
            output.write_machine(&output::json(&report_json::json(&report), lines));
        }
        CheckFormat::Markdown => output.write(&report_markdown::markdown(&report)),
        CheckFormat::Sarif => {}
    }
    let mut status = signals.status(report.exit_status());
    if let Some(path) = &report.options.report {
        let page = report::of_check(&report, files).and_then(|page| report_file::save(path, &page));
        if let Err(failure) = page {
            output::fail(&failure, format, status);
            status = if status == VIOLATED { VIOLATED } else { UNWRITTEN };
        }
    }
    Checked { status, verdict: report.verdict(), report: Some(report), notices }
}

/// What came of all models so far.
#[derive(Default)]
struct Done {
    statuses: Vec<u8>,
    verdicts: BTreeMap<&'static str, usize>,
    reports: Vec<Report>,
    notices: Vec<Notice>,
}

impl Done {
    fn add(&mut self, checked: Checked) {
        self.statuses.push(checked.status);
        *self.verdicts.entry(checked.verdict).or_default() += 1;
        self.reports.extend(checked.report);
        self.notices.extend(checked.notices);
    }

    /// The exit status of the whole run.
    fn status(&self) -> u8 {
        ORDER.into_iter().find(|status| self.statuses.contains(status)).unwrap_or(0)
    }

    /// One line for many models.
    fn sum(&self, models: usize) -> String {
        let parts: Vec<String> = self.verdicts.iter().map(|(word, n)| format!("{n} {word}")).collect();
        let left = match models - self.statuses.len() {
            0 => String::new(),
            n => format!(", {n} not begun"),
        };
        format!("\n{models} models: {}{left}\n", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_status_counts() {
        let of = |statuses: &[u8]| Done { statuses: statuses.to_vec(), ..Done::default() }.status();
        assert_eq!(of(&[0, 3, 0]), 3);
        assert_eq!(of(&[3, 2]), 2);
        assert_eq!(of(&[2, 130]), 130);
        assert_eq!(of(&[130, 1, 0]), 1);
        assert_eq!(of(&[1, 4]), 4);
        assert_eq!(of(&[0]), 0);
    }
}
