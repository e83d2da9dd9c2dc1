//! The addresses below `/api/v1`, and what each does.

use crate::checks::{Checks, Request, Work};
use crate::error::ApiError;
use crate::folder::{Folder, MOST_BYTES, Overlay, Written, tag};
use crate::guard::{Guard, Token, check};
use crate::page::Pages;
use crate::runs::Runs;
use crate::{memory_api, model_api, run_api};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, IF_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use draw::{Frame, chart_svg, graph_svg};
use engine::command_line::check_command;
use engine::property::select;
use engine::replay::TrailFile;
use engine::simulate::SimulateOptions;
use engine::{Answer, CheckOptions, Session, Source, Stop};
use explore::picture::{Situation, graph};
use explore::{Exploration, RunThread, automata};
use promela::source::Files;
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt};
use trace::ModelOptions;

/// Steps of one answer.
const PAGE: usize = 500;
/// Values of a state that are shown.
const VALUES: usize = 1000;
/// Random steps of one request.
const MOST_RANDOM: usize = 10_000;

/// What all requests share.
pub struct Shared {
    pub(crate) folder: Folder,
    /// The model that is shown first.
    pub(crate) model: Option<String>,
    pub(crate) checks: Arc<Checks>,
    pub(crate) runs: Runs,
}

impl Shared {
    /// Nothing was asked yet.
    pub fn new(folder: Folder) -> Self {
        Shared { folder, model: None, checks: Checks::start(), runs: Runs::default() }
    }

    /// Shows this model of the folder first.
    pub fn showing(self, model: Option<String>) -> Self {
        Shared { model, ..self }
    }
}

pub(crate) type App = State<Arc<Shared>>;
pub(crate) type Answered = Result<Json<Value>, ApiError>;

/// The table of addresses, guarded.
pub fn router(shared: Arc<Shared>, pages: Pages, token: &Token, port: u16) -> Router {
    let api = Router::new()
        .route("/info", get(model_api::info))
        .route("/command", post(model_api::command))
        .route("/ltl", post(model_api::ltl))
        .route("/files", get(files))
        .route("/files/{*path}", get(read).put(write))
        .route("/analyse", post(analyse))
        .route("/checks", get(list_checks).post(begin_check))
        .route("/checks/{id}", get(describe_check).delete(stop_check))
        .route("/checks/{id}/report.html", get(page))
        .route("/checks/{id}/trails/{violation}", get(trail_of_check).post(save_trail_of_check))
        .route("/checks/{id}/memory/{question}", get(memory_api::composed))
        .route("/memory", get(memory_api::catalogue).post(memory_api::begin))
        .merge(run_routes())
        .route("/events", get(events))
        .fallback(|| async { ApiError::missing("there is nothing at this address") });
    Router::new()
        .nest("/api/v1", api)
        .merge(pages.router())
        .fallback(|| async { ApiError::missing("there is nothing at this address") })
        .layer(DefaultBodyLimit::max(MOST_BYTES as usize))
        .layer(middleware::from_fn_with_state(Guard::new(token, port), check))
        .with_state(shared)
}

/// What is asked of a run.
fn run_routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/runs", post(begin_run))
        .route("/runs/{id}", get(describe_run))
        .route("/runs/{id}/steps", get(steps))
        .route("/runs/{id}/state/{moment}", get(moment))
        .route("/runs/{id}/take", post(take))
        .route("/runs/{id}/undo", post(undo))
        .route("/runs/{id}/random", post(random))
        .route("/runs/{id}/return", post(return_to_trail))
        .route("/runs/{id}/evaluate", post(evaluate))
        .route("/runs/{id}/chart.svg", get(chart))
        .route("/runs/{id}/turns", get(run_api::turns))
        .route("/runs/{id}/path", get(run_api::path))
        .route("/runs/{id}/retrace", post(run_api::retrace))
        .route("/runs/{id}/table", get(run_api::table))
        .route("/runs/{id}/automata", get(run_api::pictures))
        .route("/runs/{id}/series", post(run_api::series))
        .route("/runs/{id}/find", post(run_api::find))
        .route("/runs/{id}/judge", post(run_api::judge))
        .route("/runs/{id}/graph", post(run_api::around))
        .route("/runs/{id}/report.html", get(run_api::report))
        .route("/runs/{id}/trail", get(run_api::trail).post(run_api::save_trail))
}

/// Does something that takes its time on a thread of its own.
pub(crate) async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let gone = |_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the work was given up");
    tokio::task::spawn_blocking(work).await.map_err(gone)?
}

async fn files(State(app): App) -> Answered {
    waiting(move || Ok(Json(json!({"files": app.folder.list()})))).await
}

async fn read(State(app): App, Path(path): Path<String>) -> Result<Response, ApiError> {
    let (text, tag) = waiting(move || app.folder.text(&path)).await?;
    Ok(([(ETAG, tag), (CONTENT_TYPE, "text/plain; charset=utf-8".to_string())], text).into_response())
}

/// With `If-Match` the tag that was read; without it, a new file.
async fn write(
    State(app): App,
    Path(path): Path<String>,
    headers: HeaderMap,
    text: String,
) -> Result<Response, ApiError> {
    let tag = headers.get(IF_MATCH).and_then(|tag| tag.to_str().ok()).map(str::to_string);
    Ok(match waiting(move || app.folder.write(&path, tag.as_deref(), &text)).await? {
        Written::Saved(tag) => ([(ETAG, tag)], StatusCode::NO_CONTENT).into_response(),
        Written::Conflict((text, tag)) => {
            let error = json!({"code": "conflict", "message": "somebody else has written this file"});
            (StatusCode::CONFLICT, Json(json!({"error": error, "text": text, "etag": tag}))).into_response()
        }
    })
}

/// A model as a request names it.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    path: String,
    /// What an editor has in place of the file.
    text: Option<String>,
    #[serde(default)]
    defines: Vec<String>,
    #[serde(default)]
    dialect: Option<String>,
    /// The words of a command line: only for checks.
    #[serde(default)]
    pub(crate) options: Vec<String>,
}

impl Model {
    pub(crate) fn source(&self) -> Source {
        let preprocessor = self.defines.iter().map(|word| format!("-D{word}")).collect();
        let dialect = self.dialect.clone().unwrap_or_default();
        Source {
            path: self.path.clone(),
            options: ModelOptions { dialect, preprocessor, ..ModelOptions::default() },
            ..Source::default()
        }
    }

    pub(crate) fn overlay(&self, folder: &Folder) -> Overlay {
        let edited = self.text.clone().map(|text| (self.path.clone(), text));
        Overlay { folder: folder.clone(), edited }
    }
}

/// Diagnostics, properties, automata with their pictures.
async fn analyse(State(app): App, Json(model): Json<Model>) -> Answered {
    waiting(move || {
        let files = model.overlay(&app.folder);
        if files.read(&model.path).is_ok_and(|text| memory::interface::looks_like_one(&text)) {
            return Ok(Json(memory_api::analysis(&model.source(), &files)));
        }
        let Answer { mut notices, result } = Session::open(&model.source(), &files, &Stop::never());
        let session = result.ok();
        notices.extend(session.iter().flat_map(|session| session.notices.clone()));
        let mut answer = json!({
            "diagnostics": notices.iter().map(engine::Notice::json).collect::<Vec<Value>>(),
        });
        if let (Some(session), Some(object)) = (&session, answer.as_object_mut()) {
            let properties = select(&[], &session.inventory()?)?;
            let names: Vec<&String> = properties.iter().map(|property| &property.name).collect();
            let automata = automata(session.program()?, &session.sources);
            let pictures = automata.iter().map(|automaton| {
                let graph = graph(automaton, &Situation::default());
                json!({"automaton": automaton, "svg": graph_svg::draw(&[graph], Frame::Page(&automaton.name))})
            });
            object.insert("properties".to_string(), json!(names));
            object.insert("automata".to_string(), pictures.collect());
        }
        Ok(Json(answer))
    })
    .await
}

async fn begin_check(State(app): App, Json(model): Json<Model>) -> Answered {
    let options = CheckOptions::of_words(model.options.iter().map(String::as_str))?;
    let (source, files) = (model.source(), model.overlay(&app.folder));
    let options = CheckOptions { source: source.clone(), ..options };
    let about = (source.path.clone(), check_command(&options));
    let id = app.checks.add(Request { options, source, files, work: Work::Check, about })?;
    Ok(Json(json!({"id": id})))
}

async fn list_checks(State(app): App) -> Answered {
    Ok(Json(json!({"checks": app.checks.list()})))
}

/// A counterexample as a file.
async fn trail_of_check(
    State(app): App,
    Path((id, violation)): Path<(u64, usize)>,
) -> Result<Response, ApiError> {
    let finished = app.checks.finished(id)?;
    let shown = shown(finished.report()?.1, violation)?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CONTENT_DISPOSITION, "attachment; filename=\"model.trail.json\""),
    ];
    Ok((headers, trace::write::write(shown.evidence.trail())).into_response())
}

/// Writes a counterexample as a trail into the folder; never over another file.
async fn save_trail_of_check(
    State(app): App,
    Path((id, violation)): Path<(u64, usize)>,
    Json(place): Json<run_api::Place>,
) -> Answered {
    waiting(move || {
        let finished = app.checks.finished(id)?;
        let text = trace::write::write(shown(finished.report()?.1, violation)?.evidence.trail());
        run_api::keep_trail(&app.folder, &place, &text)
    })
    .await
}

/// A counterexample of a report, by its number among all.
fn shown(report: &engine::Report, violation: usize) -> Result<&engine::report::Shown, ApiError> {
    let mut all = report.properties.iter().flat_map(|property| property.verdict.violations());
    all.nth(violation).ok_or_else(|| ApiError::missing("there is no such counterexample"))
}

async fn describe_check(State(app): App, Path(id): Path<u64>) -> Answered {
    app.checks.describe(id).map(Json)
}

async fn stop_check(State(app): App, Path(id): Path<u64>) -> Answered {
    app.checks.stop(id)?;
    Ok(Json(json!({"id": id})))
}

/// The page about a check, to be kept: it is not shown from here, because its script is not ours to run.
async fn page(State(app): App, Path(id): Path<u64>) -> Result<Response, ApiError> {
    let finished = app.checks.finished(id)?;
    let page = waiting(move || {
        let (session, report) = finished.report()?;
        Ok(report::of_check(report, &*session.sources)?)
    });
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"report.html\""),
    ];
    Ok((headers, page.await?).into_response())
}

/// A run: of a counterexample that a check found or that a file holds, or of a model from its beginning.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRun {
    check: Option<u64>,
    #[serde(default)]
    violation: usize,
    /// Of a test of a memory system: the question that is answered by a violation.
    question: Option<String>,
    /// A file of the folder.
    trail: Option<String>,
    simulate: Option<Model>,
    #[serde(default)]
    seed: u64,
}

async fn begin_run(State(app): App, Json(wanted): Json<NewRun>) -> Answered {
    waiting(move || {
        let run = match (wanted.check, wanted.trail, wanted.simulate) {
            (Some(check), None, None) => match wanted.question {
                None => counterexample(&app, check, wanted.violation)?,
                Some(question) => {
                    let (session, trail) = app.checks.finished(check)?.tested()?.counterexample(&question)?;
                    RunThread::follow(session, trail)?
                }
            },
            (None, Some(path), None) => {
                RunThread::replay(TrailFile::new(path), app.folder.clone(), Stop::never())?
            }
            (None, None, Some(model)) => {
                let files = model.overlay(&app.folder);
                let options = SimulateOptions { source: model.source(), seed: wanted.seed, steps: None };
                RunThread::simulate(options, files, Stop::never(), Box::new(|| None))?
            }
            _ => return Err(ApiError::bad("say one of `check`, `trail` and `simulate`")),
        };
        if run.ask(|_| ()).is_err() {
            let Answer { notices, result } = run.finish();
            let first = notices.iter().find(|notice| notice.is_error()).map(|notice| notice.message.clone());
            return Err(match first {
                Some(message) => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "model", message),
                None => result.err().map_or_else(|| ApiError::missing("the run has ended"), ApiError::from),
            });
        }
        let id = app.runs.add(run);
        app.runs.ask(id, move |e| Ok(Json(summary(id, e))))
    })
    .await
}

fn counterexample(app: &Shared, check: u64, violation: usize) -> Result<RunThread, ApiError> {
    let finished = app.checks.finished(check)?;
    let (session, report) = finished.report()?;
    let trail = shown(report, violation)?.evidence.trail().clone();
    let source = Source { options: trail.options.clone(), ..session.source.clone() };
    let session = session.for_formula(&source, &Stop::never())?;
    Ok(RunThread::follow(Arc::new(session), trail)?)
}

/// Where a run stands.
pub(crate) fn summary(id: u64, e: &mut Exploration<'_, '_>) -> Value {
    let trail = e.followed().map(|followed| {
        json!({
            "property": followed.property, "steps": followed.len(), "cycle": followed.cycle,
            "violation": followed.violation.message,
        })
    });
    let end = e.end().map(|fault| fault.message);
    let files = e.session().sources.files().iter();
    let files: Vec<Value> = files.map(|file| json!({"name": file.name, "etag": tag(&file.text)})).collect();
    json!({
        "id": id, "first": e.run().first(), "steps": e.run().len(), "on_trail": e.is_on_trail(), "trail": trail,
        "shared": e.followed().map(explore::Followed::shared), "fault": end, "model": e.session().source.path,
        "files": files, "may_branch": e.may_branch().err(), "can_save": e.shown_fault().is_some(),
    })
}

async fn describe_run(State(app): App, Path(id): Path<u64>) -> Answered {
    changed(app, id, |_| Ok(())).await
}

#[derive(Deserialize)]
struct Steps {
    #[serde(default)]
    from: usize,
    to: Option<usize>,
}

async fn steps(State(app): App, Path(id): Path<u64>, Query(range): Query<Steps>) -> Answered {
    let list = waiting(move || {
        app.runs.ask(id, move |e| {
            let from = range.from.max(1);
            let to = range.to.unwrap_or(usize::MAX).min(from.saturating_add(PAGE - 1));
            let steps = e.steps(from..=to);
            let object = |told: &trace::story::Told| {
                let mut object = trace::json::step(told);
                object.insert("number".into(), json!(told.number));
                object.insert("effects".into(), json!(trace::story::effects(told, trace::Palette::PLAIN)));
                Value::Object(object)
            };
            Ok(json!({"from": from, "of": e.run().len(), "steps": steps.iter().map(object).collect::<Vec<Value>>()}))
        })
    });
    list.await.map(Json)
}

async fn moment(State(app): App, Path((id, moment)): Path<(u64, usize)>) -> Answered {
    let found = waiting(move || {
        let missing = || ApiError::missing("there is no such moment");
        app.runs.ask(id, move |e| {
            let found = e.moment(moment).ok_or_else(missing)?;
            let mut object = found.json();
            object["values"] = json!(explore::values(&found.state, VALUES));
            Ok(object)
        })
    });
    found.await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Take {
    moment: usize,
    #[serde(default)]
    choice: Option<usize>,
    /// Several, one after another.
    #[serde(default)]
    choices: Vec<usize>,
}

async fn take(State(app): App, Path(id): Path<u64>, Json(wanted): Json<Take>) -> Answered {
    changed(app, id, move |e| {
        let all: Vec<usize> = wanted.choice.into_iter().chain(wanted.choices).collect();
        for (taken, choice) in all.into_iter().enumerate() {
            e.take(wanted.moment + taken, choice).map_err(ApiError::bad)?;
        }
        Ok(())
    })
    .await
}

#[derive(Deserialize)]
struct Count {
    n: usize,
}

async fn undo(State(app): App, Path(id): Path<u64>, Json(count): Json<Count>) -> Answered {
    changed(app, id, move |e| {
        e.undo(count.n);
        Ok(())
    })
    .await
}

async fn random(State(app): App, Path(id): Path<u64>, Json(count): Json<Count>) -> Answered {
    changed(app, id, move |e| {
        e.may_branch().map_err(ApiError::bad)?;
        e.random(count.n.min(MOST_RANDOM), &Stop::never(), |_| ()).1.map_err(ApiError::bad)
    })
    .await
}

async fn return_to_trail(State(app): App, Path(id): Path<u64>) -> Answered {
    changed(app, id, |e| e.return_to_trail().map_err(ApiError::bad)).await
}

/// Changes a run and says where it stands then.
async fn changed(
    app: Arc<Shared>,
    id: u64,
    change: impl FnOnce(&mut Exploration<'_, '_>) -> Result<(), ApiError> + Send + 'static,
) -> Answered {
    let done = move || {
        app.runs.ask(id, move |e| {
            change(e)?;
            Ok(Json(summary(id, e)))
        })
    };
    waiting(done).await
}

#[derive(Deserialize)]
struct Evaluate {
    moment: usize,
    pid: Option<u32>,
    expr: String,
}

async fn evaluate(State(app): App, Path(id): Path<u64>, Json(asked): Json<Evaluate>) -> Answered {
    let value = waiting(move || {
        app.runs.ask(id, move |e| {
            let value = e.evaluate(asked.moment, asked.pid, &asked.expr).map_err(ApiError::bad)?;
            Ok(json!({"text": value.to_string(), "value": trace::json::value(&value)}))
        })
    });
    value.await.map(Json)
}

/// A chart of some steps, by default of the last ones; for a page or as a file of its own.
#[derive(Deserialize)]
struct ChartRange {
    from: Option<usize>,
    to: Option<usize>,
    #[serde(default)]
    file: bool,
}

async fn chart(
    State(app): App,
    Path(id): Path<u64>,
    Query(range): Query<ChartRange>,
) -> Result<Response, ApiError> {
    let drawn = waiting(move || {
        app.runs.ask(id, move |e| {
            let last = range.to.unwrap_or(usize::MAX).min(e.run().len());
            let first = range.from.unwrap_or(1).max((last + 1).saturating_sub(PAGE)).max(1);
            let frame = if range.file { Frame::File } else { Frame::Page("chart") };
            Ok(chart_svg::draw(&e.chart(first..=last), "Message sequence chart", frame))
        })
    });
    Ok(([(CONTENT_TYPE, "image/svg+xml")], drawn.await?).into_response())
}

/// What happens from now on, until the listener goes.
async fn events(State(app): App) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let news = BroadcastStream::new(app.checks.listen()).filter_map(|news| {
        // A listener that is too slow misses some.
        let news = news.ok()?;
        Some(Ok(Event::default().event(news.kind).data(news.data.to_string())))
    });
    Sse::new(news).keep_alive(KeepAlive::default())
}
