//! What the page asks about memory systems: what there is to test, a test, the composed model of a violation.

use crate::api::{Answered, App, Model, waiting};
use crate::checks::{Request, Work};
use crate::error::ApiError;
use crate::folder::Overlay;
use crate::memory_test::MemoryTest;
use axum::Json;
use axum::extract::{Path, State};
use engine::{CheckOptions, Notice, Source, Stop, command_line};
use memory::compose::Question;
use memory::{MemorySystem, Model as MemoryModel, builtin, litmus, rules};
use serde::Deserialize;
use serde_json::{Value, json};

/// Systems, models, rules and litmus tests.
pub async fn catalogue() -> Answered {
    let models =
        MemoryModel::ALL.into_iter().map(|model| json!({"name": model.name(), "words": model.words()}));
    let tests = rules::tests().into_iter().map(|test| (Question::Rule(test), true));
    let questions = tests.chain(Question::others().map(|question| (question, false)));
    let rules = questions.map(
        |(question, is_rule)| json!({"name": question.name(), "about": question.about(), "is_rule": is_rule}),
    );
    let litmus = litmus::names();
    Ok(Json(json!({
        "systems": builtin::names(),
        "models": models.collect::<Vec<Value>>(),
        "rules": rules.collect::<Vec<Value>>(),
        "litmus": litmus,
    })))
}

/// A test of a memory system: a built-in one, or a model of the folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    system: Option<String>,
    model: Option<Model>,
    against: Option<String>,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    litmus: Vec<String>,
    cpus: Option<usize>,
    addresses: Option<usize>,
    #[serde(default)]
    all_roles: bool,
    /// The words of a command line: how is searched, and how far.
    #[serde(default)]
    options: Vec<String>,
}

impl Wanted {
    fn request(&self) -> Result<memory::Request, ApiError> {
        let unknown = |name: &String| ApiError::bad(format!("there is no memory model {name:?}"));
        let model = self.against.as_ref().map(|name| MemoryModel::of(name).ok_or_else(|| unknown(name)));
        let model = model.transpose()?;
        let classify = model.is_none() && self.rules.is_empty() && self.litmus.is_empty();
        Ok(memory::Request {
            model,
            rules: self.rules.clone(),
            litmus: self.litmus.clone(),
            classify,
            cpus: self.cpus,
            addresses: self.addresses,
            all_roles: self.all_roles,
        })
    }

    /// The command that does the same on a terminal.
    fn command(&self, path: &str) -> String {
        let mut words = vec!["spinor".to_string(), "memory".to_string()];
        match &self.system {
            Some(name) => words.extend(["--system".to_string(), command_line::quoted(name)]),
            None => words.push(command_line::quoted(path)),
        }
        let lists = [
            ("--model", self.against.clone().into_iter().collect::<Vec<_>>()),
            ("--rule", self.rules.clone()),
            ("--litmus", self.litmus.clone()),
        ];
        for (option, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
            words.extend([option.to_string(), command_line::quoted(&names.join(","))]);
        }
        for (option, number) in [("--cpus", self.cpus), ("--addresses", self.addresses)] {
            words.extend(number.into_iter().flat_map(|n| [option.to_string(), n.to_string()]));
        }
        words.extend(self.all_roles.then(|| "--roles all".to_string()));
        words.extend(self.options.iter().map(|word| command_line::quoted(word)));
        words.join(" ")
    }
}

/// What there is to say about a memory system while it is written: it is half of a model, and no error for that.
pub fn analysis(source: &Source, files: &Overlay) -> Value {
    let notices = MemorySystem::load(source, files, &Stop::never()).notices;
    json!({
        "diagnostics": notices.iter().map(Notice::json).collect::<Vec<Value>>(),
        "memory_system": true,
    })
}

/// Lets a test wait for its turn among the checks.
pub async fn begin(State(app): App, Json(wanted): Json<Wanted>) -> Answered {
    let model = match (&wanted.system, &wanted.model) {
        (Some(_), None) => Model::default(),
        (None, Some(model)) => model.clone(),
        _ => return Err(ApiError::bad("say either `system` or `model`")),
    };
    let source = model.source();
    let options = CheckOptions::of_words(wanted.options.iter().map(String::as_str))?;
    let about = (wanted.system.clone().unwrap_or_else(|| source.path.clone()), wanted.command(&source.path));
    let work = Work::Memory(MemoryTest { built_in: wanted.system.clone(), request: wanted.request()? });
    let id = app.checks.add(Request {
        options: CheckOptions { source: source.clone(), ..options },
        files: model.overlay(&app.folder),
        source,
        work,
        about,
    })?;
    Ok(Json(json!({"id": id})))
}

/// The composed model of a violated test.
pub async fn composed(State(app): App, Path((id, question)): Path<(u64, String)>) -> Answered {
    let (path, text) = waiting(move || app.checks.finished(id)?.tested()?.model(&question)).await?;
    Ok(Json(json!({"path": path, "text": text})))
}
