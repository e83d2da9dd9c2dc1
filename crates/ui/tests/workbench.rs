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
    let endless = "int x, y;\nactive [3] proctype p() { do :: x++ :: y++ :: x = x ^ y :: assert(x + y != 123456789) od }\n";
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

/// A run of the model with the deadlock, at its end.
async fn deadlock(bench: &Bench) -> (u64, u64) {
    let (check, _) = checked(bench, json!({"path": "m.pml", "options": ["--search", "bfs"]})).await;
    let run = bench.post("/runs", json!({"check": check})).await.json();
    (run["id"].as_u64().unwrap(), run["steps"].as_u64().unwrap())
}

#[tokio::test]
async fn the_page_and_its_parts_are_served_and_only_they_need_no_token() {
    let bench = Bench::new(false);
    let plain = |path: &str| {
        let request =
            axum::http::Request::builder().uri(path).header("host", format!("127.0.0.1:{}", common::PORT));
        bench.send(request.body(Body::empty()).unwrap())
    };
    let first = plain("/").await;
    assert!(
        first.body.contains("<script type=\"module\" src=\"/app.js\">") && !first.body.contains("@NONCE@")
    );
    let policy =
        |answer: &common::Answer| answer.headers["content-security-policy"].to_str().unwrap().to_string();
    assert!(
        policy(&first).contains("script-src 'self';") && policy(&first).contains("'nonce-"),
        "{}",
        policy(&first)
    );
    assert_ne!(policy(&first), policy(&plain("/").await), "every answer has a number of its own");
    for (path, kind) in
        [("/app.js", "text/javascript"), ("/app.css", "text/css"), ("/drawing.css", "text/css")]
    {
        let answer = plain(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(answer.headers["content-type"].to_str().unwrap().starts_with(kind), "{path}");
        assert!(!answer.body.is_empty());
    }
    assert_eq!(plain("/api/v1/info").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(plain("/../Cargo.toml").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn options_come_from_the_table_and_make_a_command() {
    let bench = Bench::new(true);
    let info = bench.get("/info").await.json();
    assert_eq!((info["read_only"].as_bool(), info["model"].is_null()), (Some(true), true));
    let options = info["options"].as_array().unwrap();
    let named = |name: &str| options.iter().find(|option| option["name"] == name);
    assert_eq!(named("search").unwrap()["kind"], "choice");
    assert!(named("search").unwrap()["words"].as_array().unwrap().contains(&json!("bfs")));
    // A page writes no files.
    assert!(named("trail").is_none() && named("report").is_none());
    for spec in engine::options::TABLE.iter().filter(|spec| spec.group != engine::options::Group::Hidden) {
        assert_ne!(named(spec.name).is_some(), ui::checks::is_kept_from_pages(spec), "{}", spec.name);
    }
    let asked = json!({"path": "m.pml", "defines": ["N=3"], "options": ["--search", "bfs"]});
    assert_eq!(
        bench.post("/command", asked).await.json()["command"],
        "spinor check m.pml -DN=3 --search bfs"
    );
    let wrong = bench.post("/command", json!({"path": "m.pml", "options": ["--search", "fast"]})).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_run_is_searched_tabulated_watched_and_judged() {
    let bench = Bench::new(false);
    let (id, steps) = deadlock(&bench).await;
    let ask = |what: &'static str, body: Value| {
        let (bench, path) = (&bench, format!("/runs/{id}/{what}"));
        async move { bench.post(&path, body).await }
    };
    assert_eq!(ask("find", json!({"text": "Q!2", "from": 1})).await.json()["step"], 3);
    assert_eq!(ask("find", json!({"expr": "len(q) == 1", "from": 0})).await.json()["step"], 1);
    assert!(ask("find", json!({"text": "nowhere", "from": 1})).await.json()["step"].is_null());
    assert_eq!(ask("find", json!({"from": 1})).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(ask("find", json!({"expr": "nonsense(", "from": 1})).await.status, StatusCode::BAD_REQUEST);
    let table = bench.get(&format!("/runs/{id}/table?from=0&to=1")).await.json();
    assert_eq!(table["rows"][1]["values"][0], json!({"name": "q", "text": "[1]", "channel": true}));
    let samples = ask("series", json!({"expr": "len(q)"})).await.json();
    assert_eq!(samples["samples"].as_array().unwrap().len() as u64, steps + 1);
    assert_eq!(samples["samples"][1]["value"], 1);
    assert_eq!(ask("judge", json!({"formula": "<> (len(q) == 1)"})).await.json()["verdict"], "true");
    // The run has ended: it stays where it is.
    assert_eq!(ask("judge", json!({"formula": "[]<> (len(q) == 1)"})).await.json()["verdict"], "false");
    assert_eq!(ask("judge", json!({"formula": "[] ("})).await.status, StatusCode::BAD_REQUEST);
    let automata = bench.get(&format!("/runs/{id}/automata")).await.json();
    assert_eq!(automata["automata"][1]["name"], "receiver");
    assert!(
        bench.post("/ltl", json!({"formula": "[] p"})).await.json()["svg"]
            .as_str()
            .unwrap()
            .starts_with("<svg")
    );
    let list = bench.get("/checks").await.json();
    assert_eq!(list["checks"][0]["command"], "spinor check m.pml --search bfs");
    assert!(
        list["checks"][0]["report"]["properties"][0]["violations"][0]["steps"].is_null(),
        "steps are asked for apart"
    );
}

#[tokio::test]
async fn the_states_around_a_moment_grow_and_lead_on() {
    let bench = Bench::new(false);
    let (id, _) = deadlock(&bench).await;
    let path = format!("/runs/{id}/graph");
    let small = bench.post(&path, json!({"moment": 0, "depth": 1})).await.json();
    let states = small["states"].as_array().unwrap();
    assert_eq!((states.len(), states[1]["moment"].as_u64()), (2, Some(1)));
    let more = json!({"moment": 0, "depth": 1, "expand": [states[1]["id"]]});
    let grown = bench.post(&path, more).await.json();
    assert!(grown["states"].as_array().unwrap().len() > 2);
    let last = grown["states"].as_array().unwrap().last().unwrap()["path"].clone();
    let taken = bench.post(&format!("/runs/{id}/take"), json!({"moment": 0, "choices": last})).await.json();
    assert_eq!(taken["steps"], 2);
    assert_eq!(bench.post(&path, json!({"moment": 99, "depth": 1})).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_explored_error_becomes_a_trail_and_is_opened_again() {
    let bench = Bench::new(false);
    let run = bench.post("/runs", json!({"simulate": {"path": "m.pml"}})).await.json();
    let id = run["id"].as_u64().unwrap();
    let place = format!("/runs/{id}/trail");
    let save = |path: &'static str| bench.post(&place, json!({"path": path}));
    assert_eq!(save("a.trail.json").await.status, StatusCode::BAD_REQUEST, "there is no error yet");
    bench.post(&format!("/runs/{id}/random"), json!({"n": 50})).await;
    assert_eq!(save("a.pml").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(save("../a.trail.json").await.status, StatusCode::FORBIDDEN);
    assert_eq!(save("a.trail.json").await.status, StatusCode::OK);
    assert_eq!(save("a.trail.json").await.status, StatusCode::BAD_REQUEST, "nothing is overwritten");
    let again = bench.post("/runs", json!({"trail": "a.trail.json"})).await.json();
    assert_eq!((again["steps"].as_u64(), again["on_trail"].as_bool()), (Some(4), Some(true)), "{again}");
    let report = bench.get(&format!("/runs/{}/report.html", again["id"])).await;
    assert_eq!(report.status, StatusCode::OK, "{}", report.body);
    assert!(report.body.contains("Content-Security-Policy") && report.body.contains("is violated"));
    let closed = Bench::new(true);
    let refused = closed.post("/runs", json!({"trail": "../a.trail.json"})).await;
    assert!(refused.status.is_client_error(), "{}", refused.body);
}

#[tokio::test]
async fn a_run_in_short_and_the_way_to_a_branch() {
    let bench = Bench::new(false);
    let (id, steps) = deadlock(&bench).await;
    let turns = bench.get(&format!("/runs/{id}/turns?from=1")).await.json();
    let list = turns["turns"].as_array().unwrap();
    assert_eq!((list[0]["from"].as_u64(), list.last().unwrap()["to"].as_u64()), (Some(1), Some(steps)));
    assert!(turns["go_on"].is_null() && turns["actors"].as_array().unwrap().len() == 2);
    // A branch by its choices, again on another run of the same counterexample.
    bench.post(&format!("/runs/{id}/take"), json!({"moment": 0, "choice": 1})).await;
    bench.post(&format!("/runs/{id}/random"), json!({"n": 2})).await;
    let path = bench.get(&format!("/runs/{id}/path?from=0")).await.json()["choices"].clone();
    assert_eq!(path.as_array().unwrap().len(), 3);
    let state = bench.get(&format!("/runs/{id}/state/3")).await.json()["values"].clone();
    let (other, _) = deadlock(&bench).await;
    let back =
        bench.post(&format!("/runs/{other}/retrace"), json!({"moment": 0, "choices": path})).await.json();
    assert_eq!((back["taken"].as_u64(), back["why"].is_null()), (Some(3), true), "{back}");
    assert_eq!(bench.get(&format!("/runs/{other}/state/3")).await.json()["values"], state);
    let part =
        bench.post(&format!("/runs/{other}/retrace"), json!({"moment": 0, "choices": [1, 77]})).await.json();
    assert_eq!((part["taken"].as_u64(), part["steps"].as_u64()), (Some(1), Some(1)));
    assert!(part["why"].is_string());
}

#[tokio::test]
async fn a_counterexample_is_kept_in_the_folder() {
    let bench = Bench::new(false);
    let (check, _) = checked(&bench, json!({"path": "m.pml"})).await;
    let keep = |path: &'static str| bench.post("/checks/1/trails/0", json!({"path": path}));
    assert_eq!(check, 1);
    assert_eq!(keep("m.pml").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(keep("m.pml.trail.json").await.status, StatusCode::OK);
    assert_eq!(keep("m.pml.trail.json").await.status, StatusCode::BAD_REQUEST);
    let run = bench.post("/runs", json!({"trail": "m.pml.trail.json"})).await.json();
    assert_eq!(run["on_trail"], true, "{run}");
}

#[tokio::test]
async fn diagnostics_bring_their_repairs() {
    let bench = Bench::new(false);
    let text = "byte counter;\nactive proctype p() { countr = 1 }";
    let found = bench.post("/analyse", json!({"path": "m.pml", "text": text})).await.json();
    let fix = &found["diagnostics"][0]["fixes"][0];
    assert_eq!(
        (fix["title"].as_str(), fix["safe"].as_bool()),
        (Some("Replace `countr` by `counter`"), Some(false))
    );
    let edit =
        json!({"file": "m.pml", "line": 2, "column": 23, "end_line": 2, "end_column": 29, "text": "counter"});
    assert_eq!(fix["edits"], json!([edit]));
}

#[tokio::test]
async fn a_memory_system_is_tested() {
    let bench = Bench::new(false);
    let catalogue = bench.get("/memory").await.json();
    assert!(catalogue["systems"].as_array().unwrap().contains(&json!("mesi_lost")));
    let begun = bench.post("/memory", json!({"system": "mesi_lost", "rules": ["rowo2", "cmp"]})).await;
    assert_eq!(begun.status, StatusCode::OK, "{}", begun.body);
    let id = begun.json()["id"].as_u64().unwrap();
    let done = loop {
        let now = bench.get(&format!("/checks/{id}")).await.json();
        if now["state"] == "done" {
            break now;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let tests = done["memory"]["report"]["properties"].as_array().unwrap();
    let named = |name: &str| tests.iter().find(|test| test["name"] == name).unwrap();
    assert_eq!((&named("rowo2")["verdict"], &named("cmp")["verdict"]), (&json!("violated"), &json!("holds")));
    assert_eq!(named("rowo2")["table"].as_array().unwrap().last().unwrap()["operation"], "read");
    let list = bench.get("/checks").await.json();
    assert_eq!(list["checks"][0]["command"], "spinor memory --system mesi_lost --rule rowo2,cmp");
    // Its counterexample is a run of the composed model.
    let run = bench.post("/runs", json!({"check": id, "question": "rowo2"})).await.json();
    assert_eq!(run["on_trail"], true, "{run}");
    let model = bench.get(&format!("/checks/{id}/memory/rowo2")).await.json();
    assert_eq!(model["path"], run["model"]);
    assert!(model["text"].as_str().unwrap().contains("mem_read"));
    for wrong in [
        json!({"system": "none", "rules": ["cmp"]}),
        json!({"rules": ["cmp"]}),
        json!({"system": "tso", "against": "arm"}),
    ] {
        let answer = bench.post("/memory", wrong.clone()).await;
        let status = answer.status;
        if status == StatusCode::OK {
            let id = answer.json()["id"].as_u64().unwrap();
            loop {
                let now = bench.get(&format!("/checks/{id}")).await.json();
                if now["state"] == "done" {
                    assert!(now["error"]["message"].is_string(), "{wrong}: {now}");
                    break;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } else {
            assert!(status.is_client_error(), "{wrong}");
        }
    }
}

#[tokio::test]
async fn a_memory_system_in_the_editor_is_judged_as_one() {
    let bench = Bench::new(false);
    let text = "byte mem[NA];\ninline mem_start() { skip }\ninline mem_write(p, a, v) { mem[a] = v }\n";
    let half = bench.post("/analyse", json!({"path": "m.pml", "text": text})).await.json();
    assert_eq!((&half["memory_system"], &half["diagnostics"][0]["code"]), (&json!(true), &json!("E0801")));
    let whole = format!("{text}inline mem_read(p, a, v) {{ v = mem[a] }}\n");
    let whole = bench.post("/analyse", json!({"path": "m.pml", "text": whole})).await.json();
    assert_eq!((&whole["memory_system"], &whole["diagnostics"]), (&json!(true), &json!([])));
}

#[tokio::test]
async fn fences_are_found_where_they_are_asked_for() {
    let bench = Bench::new(false);
    let text = "byte data, flag;\nactive proctype w() { data = 1; flag = 1 }\n\
        active proctype r() { byte d; flag == 1; d = data; assert(d == 1) }\n";
    let options = json!(["--memory", "pso", "--suggest-fences"]);
    let (_, done) = checked(&bench, json!({"path": "m.pml", "text": text, "options": options})).await;
    assert_eq!(done["report"]["verdict"], "violated", "{done}");
    let places = &done["report"]["memory"]["fences"]["places"];
    assert_eq!((places.as_array().map(Vec::len), &places[0]["statement"]), (Some(1), &json!("flag = 1")));
}
