//! What the page asks for: files, analysis, checks, runs, events.

mod common;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use common::{Bench, MODEL};
use serde_json::{Value, json};
use std::time::Duration;

/// Waits for a check; it ends, so there is no limit.
async fn checked(bench: &Bench, body: Value) -> (u64, Value) {
    let begun = bench.post("/checks", body).await;
    assert_eq!(begun.status, StatusCode::OK, "{}", begun.body);
    let id = begun.json()["id"].as_u64().unwrap();
    loop {
        let answer = bench.get(&format!("/checks/{id}")).await.json();
        if answer["state"] == "done" {
            return (id, answer);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn files_are_read_and_saved_without_losing_what_others_wrote() {
    let bench = Bench::new(false);
    assert_eq!(bench.get("/files").await.json(), json!({"files": ["inner/n.pml", "m.pml"]}));
    let read = bench.get("/files/m.pml").await;
    let tag = read.headers["etag"].to_str().unwrap().to_string();
    assert_eq!(read.body, MODEL);
    let put = |tag: &str, text: &'static str| {
        let request = bench.request(Method::PUT, "/files/m.pml").header("if-match", tag);
        bench.send(request.body(Body::from(text)).unwrap())
    };
    assert_eq!(put(&tag, "byte a;").await.status, StatusCode::NO_CONTENT);
    let conflict = put(&tag, "byte b;").await;
    assert_eq!(conflict.status, StatusCode::CONFLICT);
    assert_eq!(conflict.json()["text"], "byte a;");
    assert_eq!(bench.get("/files/m.pml").await.body, "byte a;");
}

#[tokio::test]
async fn a_model_is_analysed_as_the_editor_has_it() {
    let bench = Bench::new(false);
    let fine = bench.post("/analyse", json!({"path": "m.pml"})).await.json();
    assert_eq!(fine["properties"], json!(["safety"]));
    assert_eq!(fine["automata"][0]["automaton"]["name"], "sender");
    assert!(fine["automata"][0]["svg"].as_str().unwrap().contains("q!1"));
    let wrong =
        bench.post("/analyse", json!({"path": "m.pml", "text": "active proctype p() { x = 1 }"})).await;
    let first = &wrong.json()["diagnostics"][0];
    assert_eq!((first["severity"].as_str(), first["line"].as_u64()), (Some("error"), Some(1)));
    assert!(wrong.json()["properties"].is_null());
}

#[tokio::test]
async fn a_counterexample_is_found_walked_through_and_left() {
    let bench = Bench::new(false);
    let (check, done) = checked(&bench, json!({"path": "m.pml", "options": ["--search", "bfs"]})).await;
    assert_eq!(done["report"]["verdict"], "violated");
    let run = bench.post("/runs", json!({"check": check})).await.json();
    let (id, steps) = (run["id"].as_u64().unwrap(), run["steps"].as_u64().unwrap());
    assert_eq!((run["on_trail"].as_bool(), run["trail"]["steps"].as_u64()), (Some(true), Some(steps)));
    let list = bench.get(&format!("/runs/{id}/steps?from=1&to=2")).await.json();
    assert_eq!(list["steps"].as_array().unwrap().len(), 2);
    assert_eq!(list["steps"][0]["text"], "q!1");
    let last = bench.get(&format!("/runs/{id}/state/{steps}")).await.json();
    assert!(!last["blocked"].as_array().unwrap().is_empty());
    let value =
        bench.post(&format!("/runs/{id}/evaluate"), json!({"moment": 1, "expr": "len(q)"})).await.json();
    assert_eq!(value["value"], 1);
    let taken = bench.post(&format!("/runs/{id}/take"), json!({"moment": 0, "choice": 1})).await.json();
    assert_eq!((taken["steps"].as_u64(), taken["on_trail"].as_bool()), (Some(1), Some(false)));
    bench.post(&format!("/runs/{id}/random"), json!({"n": 3})).await;
    bench.post(&format!("/runs/{id}/undo"), json!({"n": 1})).await;
    let back = bench.post(&format!("/runs/{id}/return"), json!({})).await.json();
    assert_eq!((back["steps"].as_u64(), back["on_trail"].as_bool()), (Some(steps), Some(true)));
    assert!(bench.get(&format!("/runs/{id}/chart.svg")).await.body.contains("class=\"drawing msc\""));
    let page = bench.get(&format!("/checks/{check}/report.html")).await;
    assert!(page.body.starts_with("<!DOCTYPE html>"));
    assert!(page.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
}

#[tokio::test]
async fn a_simulation_begins_and_old_runs_go() {
    let bench = Bench::new(false);
    let begin = || bench.post("/runs", json!({"simulate": {"path": "inner/n.pml"}, "seed": 3}));
    let first = begin().await.json()["id"].as_u64().unwrap();
    for _ in 0..ui::runs::KEPT {
        assert_eq!(begin().await.status, StatusCode::OK);
    }
    assert_eq!(bench.get(&format!("/runs/{first}/state/0")).await.status, StatusCode::NOT_FOUND);
    let wrong = bench.post("/runs", json!({"simulate": {"path": "m.pml", "text": "oops"}})).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", wrong.body);
}

#[tokio::test]
async fn a_check_waits_and_is_stopped() {
    let bench = Bench::new(false);
    let endless = "int x, y;\nactive [3] proctype p() { do :: x++ :: y++ :: x = x ^ y od }\n";
    let first = bench.post("/checks", json!({"path": "m.pml", "text": endless})).await.json();
    let second = bench.post("/checks", json!({"path": "inner/n.pml"})).await.json();
    let waits = bench.get(&format!("/checks/{}", second["id"])).await.json();
    assert_ne!(waits["state"], "done");
    let stop =
        bench.request(Method::DELETE, &format!("/checks/{}", first["id"])).body(Body::empty()).unwrap();
    assert_eq!(bench.send(stop).await.status, StatusCode::OK);
    loop {
        let (a, b) = (
            bench.get(&format!("/checks/{}", first["id"])).await.json(),
            bench.get(&format!("/checks/{}", second["id"])).await.json(),
        );
        if a["state"] == "done" && b["state"] == "done" {
            assert_ne!(a["report"]["verdict"], "holds");
            assert_eq!(b["report"]["verdict"], "holds");
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let bench = Bench::new(false);
    for (path, status) in
        [("/nothing", 404), ("/checks/99", 404), ("/runs/99/state/0", 404), ("/files/none.pml", 404)]
    {
        let answer = bench.get(path).await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        assert!(answer.json()["error"]["message"].is_string(), "{path}");
    }
    let unknown = bench.post("/checks", json!({"path": "m.pml", "options": ["--store", "bit"]})).await;
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(unknown.json()["error"]["message"].as_str().unwrap().contains("bit"), "{}", unknown.body);
    let (_, done) = checked(&bench, json!({"path": "none.pml"})).await;
    assert!(done["report"].is_null() && !done["notices"].as_array().unwrap().is_empty(), "{done}");
}
