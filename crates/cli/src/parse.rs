//! `spinor parse`.

use crate::args::{Format, ParseArgs, ParseFormat};
use crate::output;
use draw::{Frame, Graph, dot, graph_svg};
use engine::embedded::UseOfC;
use engine::parse::Understood;
use engine::{Answer, DiskOrInput, Failure, Source, Stop};
use explore::automata;
use explore::picture::{Situation, graph};
use promela::ir::{Program, json, print, promela_text};

/// Reads a model and writes what it consists of; returns the exit status.
pub fn run(args: &ParseArgs) -> u8 {
    let format = args.format;
    let notices = if format == ParseFormat::Json { Format::Json } else { Format::Text };
    let source = match args.model.source() {
        // The C of a model is only looked at.
        Ok(source) => Source { c: UseOfC::Text, ..source },
        Err(failure) => return output::answer(Answer::failed(failure), notices),
    };
    let files = DiskOrInput::default();
    let proctype = args.proctype.as_deref();
    let mut answer =
        engine::parse::parse(&source, &files, &Stop::never(), |model| show(model, format, proctype));
    let notices = std::mem::take(&mut answer.notices);
    let answer = Answer { notices, result: answer.result.and_then(|shown| shown) };
    output::answer(answer, if format == ParseFormat::Json { Format::Json } else { Format::Text })
}

fn show(model: Understood<'_>, format: ParseFormat, proctype: Option<&str>) -> Result<String, Failure> {
    Ok(match format {
        ParseFormat::Svg => graph_svg::draw(&graphs(model, proctype)?, Frame::File),
        ParseFormat::Dot => dot::draw(&graphs(model, proctype)?),
        _ if proctype.is_some() => {
            return Err(Failure::refused_with(
                "--proctype chooses what is drawn",
                "add --format svg or --format dot",
            ));
        }
        ParseFormat::Json => json::model_to_json(model.unit, model.program, model.sources) + "\n",
        ParseFormat::Ir => print::print(model.program),
        ParseFormat::Promela => promela_text::to_promela(model.program).map_err(|why| {
            Failure::refused_with(format!("the model cannot be written as Promela: {why}"), "use --format ir")
        })?,
        ParseFormat::Text => summary(model.program),
    })
}

/// The automata that are to be drawn.
fn graphs(model: Understood<'_>, proctype: Option<&str>) -> Result<Vec<Graph>, Failure> {
    let automata = automata(model.program, model.sources);
    let wanted = |name: &str| proctype.is_none_or(|wanted| wanted == name.trim_matches(':'));
    let drawn = automata.iter().filter(|automaton| wanted(&automaton.name));
    let drawn: Vec<Graph> = drawn.map(|automaton| graph(automaton, &Situation::default())).collect();
    if let Some(name) = proctype.filter(|_| drawn.is_empty()) {
        let names: Vec<&str> = automata.iter().map(|automaton| automaton.name.trim_matches(':')).collect();
        return Err(Failure::refused_with(
            format!("there is no proctype `{name}`"),
            format!("choose one of {}", names.join(", ")),
        ));
    }
    Ok(drawn)
}

fn summary(program: &Program) -> String {
    let locations: usize = program.proctypes.iter().map(|p| p.locations.len().saturating_sub(1)).sum();
    let edges: usize = program.proctypes.iter().map(|p| p.edges.len()).sum();
    format!(
        "{}: {} proctypes and claims, {locations} locations, {edges} edges, {} globals, {} formulas\n",
        program.name,
        program.proctypes.len(),
        program.globals.len(),
        program.ltl.len() + program.state_properties.len()
    )
}
