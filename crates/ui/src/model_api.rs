//! What the page asks about options and formulas, before any run: the table of options, a command line, the
//! automaton of a formula.

use crate::api::{Answered, App, Model, waiting};
use crate::checks::is_kept_from_pages;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use draw::{Frame, graph_svg};
use engine::command_line::check_command;
use engine::options::{Group, Kind, OptionSpec, TABLE};
use engine::{CheckOptions, Stop};
use explore::formula;
use serde::Deserialize;
use serde_json::{Value, json};

/// What this server is, and the options of a check.
pub async fn info(State(app): App) -> Answered {
    let options: Vec<Value> = TABLE.iter().filter(|spec| is_for_pages(spec)).map(option).collect();
    Ok(Json(json!({
        "version": engine::VERSION,
        "folder": app.folder.name(),
        "model": app.model,
        "read_only": app.folder.is_read_only(),
        "options": options,
    })))
}

fn is_for_pages(spec: &OptionSpec) -> bool {
    spec.group != Group::Hidden && !is_kept_from_pages(spec)
}

fn option(spec: &OptionSpec) -> Value {
    let kind = match spec.kind {
        Kind::Flag => "flag",
        Kind::Number => "number",
        Kind::Size => "size",
        Kind::Time => "time",
        Kind::Choice => "choice",
        Kind::List => "list",
        Kind::Text => "text",
    };
    json!({
        "name": spec.name, "kind": kind, "placeholder": spec.placeholder, "help": spec.help(),
        "words": spec.words(), "repeats": spec.repeats, "common": spec.group == Group::Common,
        "example": spec.example(),
    })
}

/// The command that does on a terminal what a check does here.
pub async fn command(Json(model): Json<Model>) -> Answered {
    let options = CheckOptions::of_words(model.options.iter().map(String::as_str))?;
    let options = CheckOptions { source: model.source(), ..options };
    Ok(Json(json!({"command": check_command(&options)})))
}

/// A formula alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Formula {
    formula: String,
}

/// The automaton of a formula and its never claim. What a check looks for are runs that satisfy the negation.
pub async fn ltl(Json(asked): Json<Formula>) -> Answered {
    waiting(move || {
        let text = &asked.formula;
        let (graph, never) = formula::automaton(text, &Stop::never()).map_err(ApiError::bad)?;
        let svg = graph_svg::draw(std::slice::from_ref(&graph), Frame::Page("ltl"));
        Ok(Json(json!({"svg": svg, "states": graph.nodes.len(), "never": never})))
    })
    .await
}
