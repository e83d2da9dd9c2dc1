//! What the page asks about a run beyond its steps and moments: tables of values, expressions over time, search,
//! formulas, automata, the states around a moment, trails.

use crate::api::{Answered, App, summary, waiting};
use crate::error::ApiError;
use crate::folder::{Folder, Written};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use draw::{Frame, graph_svg};
use explore::find::Found;
use explore::neighbourhood::{MOST_NODES, Wanted};
use explore::picture::{Situation, graph};
use explore::{Exploration, automata, values};
use serde::Deserialize;
use serde_json::{Value, json};

/// Rows of one answer.
const ROWS: usize = 200;
/// Values of a state that are shown.
const COLUMNS: usize = 400;
/// Samples of an expression over time.
const SAMPLES: usize = 400;
/// How far the states around a moment are followed at once.
const MOST_DEPTH: usize = 12;

/// Moments from and to.
#[derive(Deserialize)]
pub struct Range {
    #[serde(default)]
    from: usize,
    to: Option<usize>,
}

/// The values of some moments, as a table.
pub async fn table(State(app): App, Path(id): Path<u64>, Query(range): Query<Range>) -> Answered {
    let asked = move |e: &mut Exploration<'_, '_>| {
        let (first, len) = (range.from.max(e.run().first()), e.run().len());
        let last = range.to.unwrap_or(usize::MAX).min(len).min(first.saturating_add(ROWS - 1));
        let rows: Vec<Value> = (first..=last)
            .map(|moment| json!({"moment": moment, "values": values(&e.run().snapshot(moment), COLUMNS)}))
            .collect();
        Ok(json!({"of": len, "rows": rows}))
    };
    waiting(move || app.runs.ask(id, asked)).await.map(Json)
}

/// The automata of a run's model, as pictures without anybody in them.
pub async fn pictures(State(app): App, Path(id): Path<u64>) -> Answered {
    let drawn = |e: &mut Exploration<'_, '_>| {
        let session = e.session();
        let list = automata(session.program()?, &session.sources);
        let picture = |automaton: &explore::Automaton| {
            let svg =
                graph_svg::draw(&[graph(automaton, &Situation::default())], Frame::Page(&automaton.name));
            json!({"name": automaton.name, "kind": automaton.kind, "automaton": automaton, "svg": svg})
        };
        Ok(json!({"automata": list.iter().map(picture).collect::<Vec<Value>>()}))
    };
    waiting(move || app.runs.ask(id, drawn)).await.map(Json)
}

/// The run in short, from a step on: who moves how long.
pub async fn turns(State(app): App, Path(id): Path<u64>, Query(range): Query<Range>) -> Answered {
    let told = move |e: &mut Exploration<'_, '_>| {
        serde_json::to_value(e.turns(range.from)).map_err(|why| ApiError::bad(why.to_string()))
    };
    waiting(move || app.runs.ask(id, told)).await.map(Json)
}

/// The choices that lead from a moment to the end of the run, for an address that leads there again.
pub async fn path(State(app): App, Path(id): Path<u64>, Query(range): Query<Range>) -> Answered {
    let path = move |e: &mut Exploration<'_, '_>| {
        Ok(json!({"choices": e.path(range.from.max(e.run().first())).map_err(ApiError::bad)?}))
    };
    waiting(move || app.runs.ask(id, path)).await.map(Json)
}

/// Choices from a moment on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    moment: usize,
    choices: Vec<usize>,
}

/// Takes the choices as far as they are there.
pub async fn retrace(State(app): App, Path(id): Path<u64>, Json(way): Json<Way>) -> Answered {
    let retraced = move |e: &mut Exploration<'_, '_>| {
        let (taken, why) = e.retrace(way.moment, &way.choices);
        let mut object = summary(id, e);
        (object["taken"], object["why"]) = (json!(taken), json!(why.err()));
        Ok(object)
    };
    waiting(move || app.runs.ask(id, retraced)).await.map(Json)
}

/// An expression over the whole run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    expr: String,
    pid: Option<u32>,
}

/// Values of an expression from the beginning to the end, at most some hundred of them.
pub async fn series(State(app): App, Path(id): Path<u64>, Json(asked): Json<Series>) -> Answered {
    let values = move |e: &mut Exploration<'_, '_>| {
        let (first, len) = (e.run().first(), e.run().len());
        let stride = (len + 1 - first).div_ceil(SAMPLES).max(1);
        let moments: Vec<usize> = (first..=len).step_by(stride).collect();
        let values = e.evaluate_at(&moments, asked.pid, &asked.expr).map_err(ApiError::bad)?;
        let sample = |(moment, value): (&usize, Result<system::Value, String>)| {
            let value = value.ok();
            let text = value.as_ref().map(system::Value::to_string);
            json!({"moment": moment, "text": text, "value": value.as_ref().map(trace::json::value)})
        };
        Ok(json!({"samples": moments.iter().zip(values).map(sample).collect::<Vec<Value>>()}))
    };
    waiting(move || app.runs.ask(id, values)).await.map(Json)
}

/// What is searched.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// A word.
    text: Option<String>,
    /// An expression that is to be true.
    expr: Option<String>,
    from: usize,
    #[serde(default)]
    backwards: bool,
}

/// The next step with a word, or the next moment at which an expression is true.
pub async fn find(State(app): App, Path(id): Path<u64>, Json(asked): Json<Find>) -> Answered {
    let found = move |e: &mut Exploration<'_, '_>| {
        let found = match (&asked.text, &asked.expr) {
            (Some(text), None) => e.find(text, asked.from, asked.backwards),
            (None, Some(expr)) => e.find_true(expr, asked.from, asked.backwards).map_err(ApiError::bad)?,
            _ => return Err(ApiError::bad("say either `text` or `expr`")),
        };
        Ok(match found {
            Found::Step(number) => json!({"step": number}),
            Found::GoOn(number) => json!({"step": null, "go_on": number}),
            Found::Nothing => json!({"step": null}),
        })
    };
    waiting(move || app.runs.ask(id, found)).await.map(Json)
}

/// A formula.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Formula {
    formula: String,
}

/// Whether the run as it stands satisfies a formula.
pub async fn judge(State(app): App, Path(id): Path<u64>, Json(asked): Json<Formula>) -> Answered {
    let judged = move |e: &mut Exploration<'_, '_>| {
        let judgement = e.judge(&asked.formula).map_err(ApiError::bad)?;
        serde_json::to_value(judgement).map_err(|why| ApiError::bad(why.to_string()))
    };
    waiting(move || app.runs.ask(id, judged)).await.map(Json)
}

/// The states around a moment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Around {
    moment: usize,
    #[serde(default)]
    current: Option<usize>,
    depth: usize,
    #[serde(default)]
    expand: Vec<String>,
}

/// The states around a moment, as a picture and as data.
pub async fn around(State(app): App, Path(id): Path<u64>, Json(asked): Json<Around>) -> Answered {
    let grown = move |e: &mut Exploration<'_, '_>| {
        e.may_branch().map_err(ApiError::bad)?;
        if !(e.run().first()..=e.run().len()).contains(&asked.moment) {
            return Err(ApiError::missing("there is no such moment"));
        }
        let depth = asked.depth.min(MOST_DEPTH);
        let wanted = Wanted { moment: asked.moment, depth, expand: asked.expand, most: MOST_NODES };
        let states = e.neighbourhood(&wanted);
        let graph = states.graph("states", asked.current.unwrap_or(asked.moment));
        let svg = graph_svg::draw(&[graph], Frame::Page("states"));
        Ok(json!({"svg": svg, "states": states.states, "steps": states.steps, "cut": states.cut}))
    };
    waiting(move || app.runs.ask(id, grown)).await.map(Json)
}

/// The run as a trail: only one that meets an error is.
pub async fn trail(State(app): App, Path(id): Path<u64>) -> Result<Response, ApiError> {
    let text = waiting(move || app.runs.ask(id, trail_text)).await?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CONTENT_DISPOSITION, "attachment; filename=\"run.trail.json\""),
    ];
    Ok((headers, text).into_response())
}

fn trail_text(e: &mut Exploration<'_, '_>) -> Result<String, ApiError> {
    let fault = e.shown_fault();
    let fault = fault.ok_or_else(|| ApiError::bad("a trail leads to an error, and this run meets none"))?;
    e.trail_text(fault).map_err(|why| ApiError::bad(why.to_string()))
}

/// The page about a run that leads to an error, to be kept: what `spinor replay --report` writes.
pub async fn report(State(app): App, Path(id): Path<u64>) -> Result<Response, ApiError> {
    let page = |e: &mut Exploration<'_, '_>| {
        let trail = trace::read::read(&trail_text(e)?).map_err(ApiError::bad)?;
        let answer = engine::replay::replay_trail(e.session(), trail, |replayed| report::of_replay(replayed));
        Ok::<String, ApiError>(answer.result?)
    };
    let page = waiting(move || app.runs.ask(id, page)).await?;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"report.html\""),
    ];
    Ok((headers, page).into_response())
}

/// Where a trail is to be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    path: String,
}

/// Writes the run as a trail into the folder.
pub async fn save_trail(State(app): App, Path(id): Path<u64>, Json(place): Json<Place>) -> Answered {
    waiting(move || {
        let text = app.runs.ask(id, trail_text)?;
        keep_trail(&app.folder, &place, &text)
    })
    .await
}

/// Writes a trail into the folder; never over another file.
pub fn keep_trail(folder: &Folder, place: &Place, text: &str) -> Answered {
    if !place.path.ends_with(".trail.json") {
        return Err(ApiError::bad("a trail is called something.trail.json"));
    }
    match folder.write(&place.path, None, text)? {
        Written::Saved(_) => Ok(Json(json!({"path": place.path}))),
        Written::Conflict(_) => Err(ApiError::bad("there is a file of this name already")),
    }
}
