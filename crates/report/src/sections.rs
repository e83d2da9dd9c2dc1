//! The parts of a page: what each shows, as HTML that can be read without script.

use crate::violation::{Part, Step, Violation, colour};
use draw::style::Frame;
use draw::text::escape;
use draw::{chart_svg, graph_svg, lanes};
use engine::report::{PropertyReport, Report};
use engine::report_text;
use engine::session::Session;
use std::collections::BTreeSet;
use std::fmt::Write;
use trace::story::process_name;

/// The verdicts: one line for each property.
pub fn verdicts(report: &Report) -> String {
    let mut out = String::from("<ul class=\"verdicts\">\n");
    for property in &report.properties {
        let verdict = property.verdict.name();
        let _ = writeln!(
            out,
            "<li class=\"{verdict}\"><span class=\"badge\">{}</span> {}</li>",
            word(verdict),
            escape(&report_text::sentence(property))
        );
    }
    out + "</ul>\n"
}

/// A verdict with its sign, which does not depend on colours.
pub fn word(verdict: &str) -> &'static str {
    match verdict {
        "holds" => "✓ holds",
        "violated" => "✗ violated",
        _ => "? unknown",
    }
}

/// The numbers of the searches; no times, which are never the same.
pub fn statistics(report: &Report) -> String {
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\"><table><caption>Searches</caption><thead><tr><th scope=\"col\">Property</th>\
         <th scope=\"col\">Verdict</th><th scope=\"col\">Exhaustive</th><th scope=\"col\">States</th>\
         <th scope=\"col\">Transitions</th><th scope=\"col\">Depth</th><th scope=\"col\">Reduction</th></tr></thead><tbody>\n",
    );
    for property in &report.properties {
        out.push_str(&row(property));
    }
    out + "</tbody></table></div>\n"
}

fn row(property: &PropertyReport) -> String {
    let [states, transitions, depth] = property.counts();
    format!(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td><td>{states}</td><td>{transitions}</td><td>{depth}</td><td>{}</td></tr>\n",
        escape(&property.name),
        word(property.verdict.name()),
        if property.exhaustive { "yes" } else { "no" },
        escape(engine::options::Choice::word(property.por)),
    )
}

/// A counterexample: pictures, steps, the last state.
pub fn violation(violation: &Violation, number: usize, files: &Files<'_>) -> String {
    let id = format!("v{number}");
    let sentence = report_text::describe_fault(&violation.fault);
    let (what, class) = match violation.is_witness() {
        true => ("A run that shows", "good"),
        false => ("Counterexample to", "bad"),
    };
    let mut out = format!(
        "<section class=\"violation\" id=\"{id}\" data-violation=\"{number}\" aria-labelledby=\"{id}-title\">\n\
         <h2 id=\"{id}-title\">{what} <code>{}</code></h2>\n<p class=\"{class}\">{}</p>\n",
        escape(&violation.property),
        escape(&sentence)
    );
    let _ = write!(out, "<p>{}</p>\n{CONTROLS}", escape(&course(violation)));
    let _ = writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Steps of each process\">{}</div>",
        lanes::draw(&violation.lanes, Frame::Page(&format!("{id}-lanes")))
    );
    out.push_str("<div class=\"columns\"><div>\n<h3>Steps</h3>\n");
    steps(violation, &id, files, &mut out);
    out.push_str("</div><div>\n");
    state(violation, &mut out);
    out.push_str("</div></div>\n");
    pictures(violation, &id, &mut out);
    out + "</section>\n"
}

/// For the script alone, which shows them.
const CONTROLS: &str = "<div class=\"controls\" hidden><button type=\"button\" data-go=\"first\" aria-label=\"first moment\">⇤</button>\
<button type=\"button\" data-go=\"back\" aria-label=\"one step back\">←</button>\
<button type=\"button\" data-go=\"on\" aria-label=\"one step on\">→</button>\
<button type=\"button\" data-go=\"last\" aria-label=\"last moment\">⇥</button>\
<input type=\"range\" min=\"0\" value=\"0\" aria-label=\"moment of the run\"><output aria-live=\"polite\"></output></div>\n";

fn course(violation: &Violation) -> String {
    let steps = trace::story::steps(violation.len);
    match violation.cycle {
        Some(before) if before < violation.len => {
            let around = violation.len - before;
            let verb = if around == 1 { "repeats" } else { "repeat" };
            let first =
                if before == 0 { String::new() } else { format!("{}, then ", trace::story::steps(before)) };
            format!("{first}{} that {verb} forever.", trace::story::steps(around))
        }
        Some(_) => format!("{steps}; then nothing can move, and the last state lasts forever."),
        None => format!("{steps}. Every step was executed again by the reference machine."),
    }
}

fn steps(violation: &Violation, id: &str, files: &Files<'_>, out: &mut String) {
    out.push_str("<ol class=\"steps scroll\" tabindex=\"0\">\n");
    let mut last = 0;
    for part in &violation.parts {
        let first = part.steps.first().map_or(last + 1, |step| step.told.number);
        if first > last + 1 {
            let _ = writeln!(
                out,
                "<li class=\"gap\" value=\"{}\">… steps {} to {} are not shown …</li>",
                last + 1,
                last + 1,
                first - 1
            );
        }
        for step in &part.steps {
            if violation.cycle.is_some_and(|before| before + 1 == step.told.number) {
                out.push_str("<li class=\"gap\" aria-hidden=\"true\">↻ from here on forever</li>\n");
            }
            one_step(step, id, files, out);
        }
        last = last_number(part).unwrap_or(last);
    }
    out.push_str("</ol>\n");
}

fn last_number(part: &Part) -> Option<usize> {
    part.steps.last().map(|step| step.told.number)
}

fn one_step(step: &Step, id: &str, files: &Files<'_>, out: &mut String) {
    let (info, number) = (&step.told.info, step.told.number);
    let _ = write!(
        out,
        "<li id=\"{id}-s{number}\" value=\"{number}\" data-step=\"{number}\"><span class=\"who {}\">{}</span> {} <code>{}</code>",
        colour(info.pid),
        escape(&process_name(&info.process, info.pid)),
        files.link(&info.file, info.line),
        escape(&info.text)
    );
    if let Some(partner) = &info.partner {
        let _ = write!(
            out,
            " → <span class=\"who {}\">{}</span> {} <code>{}</code>",
            colour(partner.pid),
            escape(&process_name(&partner.process, partner.pid)),
            files.link(&partner.file, partner.line),
            escape(&partner.text)
        );
    }
    if !step.effects.is_empty() {
        let _ = write!(out, " <span class=\"effect\">{}</span>", escape(&step.effects));
    }
    let printed = system::explain::printed(&step.told.events);
    if !printed.is_empty() {
        let _ = write!(out, " <samp>{}</samp>", escape(printed.trim_end()));
    }
    if let Some(fault) = &step.told.fault {
        let _ = write!(out, " <span class=\"bad\">{}</span>", escape(&fault.message));
    }
    out.push_str("</li>\n");
}

/// The last state; the script shows others in its place.
fn state(violation: &Violation, out: &mut String) {
    let _ = write!(
        out,
        "<h3>State <span class=\"moment\">after step {}</span></h3>\n<p class=\"propositions\">{}</p>\n\
         <div class=\"scroll\" tabindex=\"0\"><table class=\"state\"><thead><tr><th scope=\"col\">Name</th>\
         <th scope=\"col\">Value</th></tr></thead><tbody>\n",
        violation.len,
        escape(&propositions(violation))
    );
    for (name, value) in &violation.state {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td><code>{}</code></td></tr>",
            escape(name),
            escape(value)
        );
    }
    out.push_str("</tbody></table></div>\n");
    if !violation.blocked.is_empty() {
        let _ = write!(out, "<h3>Why nobody can move</h3>\n<pre>{}</pre>\n", escape(&violation.blocked));
    }
}

/// Which propositions of the property hold at the end.
fn propositions(violation: &Violation) -> String {
    let last = violation.parts.last();
    let holding = last.map(|part| part.steps.last().map_or(&part.holding, |step| &step.holding));
    let of = |(text, holds): (&String, &bool)| format!("{} {text}", if *holds { '✓' } else { '✗' });
    let list = violation.propositions.iter().zip(holding.into_iter().flatten()).map(of);
    list.collect::<Vec<String>>().join(" · ")
}

fn pictures(violation: &Violation, id: &str, out: &mut String) {
    let (first, last) = (*violation.drawn.start(), *violation.drawn.end());
    let part = if first > 1 { format!(", steps {first} to {last}") } else { String::new() };
    let title = format!("Message sequence chart{part}");
    let chart = chart_svg::draw(&violation.chart, &title, Frame::Page(&format!("{id}-chart")));
    let _ = write!(
        out,
        "<details open><summary><h3>{title}</h3></summary><div class=\"scroll tall\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{title}\">{chart}</div></details>\n<details open><summary><h3>Automata: where each process stands</h3></summary>\
         <div class=\"scroll tall side\" tabindex=\"0\" role=\"region\" aria-label=\"Automata\">\n"
    );
    for (at, (name, graph)) in violation.graphs.iter().enumerate() {
        let frame = format!("{id}-graph{at}");
        let _ = writeln!(
            out,
            "<div data-proctype=\"{}\">{}</div>",
            escape(name),
            graph_svg::draw(std::slice::from_ref(graph), Frame::Page(&frame))
        );
    }
    out.push_str("</div></details>\n");
}

/// The files of a model, with anchors for their lines.
pub struct Files<'a> {
    session: Option<&'a Session>,
    /// Lines with statements that no run executes.
    unreached: BTreeSet<(String, u32)>,
}

impl<'a> Files<'a> {
    /// The files of a model that was read. Statements that were never executed are marked.
    pub fn new(session: Option<&'a Session>, report: Option<&Report>) -> Self {
        let properties = report.into_iter().flat_map(|report| &report.properties);
        let coverage = properties.filter_map(|property| property.coverage.as_ref()).flatten();
        let missing = coverage.flat_map(|coverage| coverage.unreached());
        Files { session, unreached: missing.map(|s| (s.file.clone(), s.line)).collect() }
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.session?.sources.files().iter().position(|file| file.name == name)
    }

    /// A place as a link to its line.
    fn link(&self, file: &str, line: u32) -> String {
        let place = escape(&format!("{file}:{line}"));
        match self.number(file) {
            Some(number) => format!("<a href=\"#f{number}-{line}\">{place}</a>"),
            None => place,
        }
    }

    /// All files with numbered lines.
    pub fn listing(&self) -> String {
        let Some(session) = self.session else { return String::new() };
        let mut out = String::from("<section aria-labelledby=\"source\"><h2 id=\"source\">Source</h2>\n");
        if !self.unreached.is_empty() {
            out.push_str("<p>Lines marked <span class=\"unreached\">unreached</span> have statements that no run executes.</p>\n");
        }
        for (number, file) in session.sources.files().iter().enumerate() {
            let _ = write!(
                out,
                "<h3><code>{}</code></h3>\n<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"source of {}\">\
                 <table class=\"source\" data-file=\"{}\"><tbody>\n",
                escape(&file.name),
                escape(&file.name),
                escape(&file.name)
            );
            for (row, line) in file.text.lines().enumerate() {
                let line_number = row as u32 + 1;
                let unreached = self.unreached.contains(&(file.name.clone(), line_number));
                let (class, mark) = match unreached {
                    true => (" class=\"unreached\"", "<span class=\"mark\">unreached</span>"),
                    false => ("", ""),
                };
                let _ = writeln!(
                    out,
                    "<tr id=\"f{number}-{line_number}\"{class}><th scope=\"row\">{line_number}</th><td><code>{}</code>{mark}</td></tr>",
                    escape(line)
                );
            }
            out.push_str("</tbody></table></div>\n");
        }
        out + "</section>\n"
    }
}
