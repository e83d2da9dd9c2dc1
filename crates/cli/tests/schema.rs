//! `docs/report.schema.json` and `docs/facts.schema.json` describe what is really written, all fields and no
//! others; SARIF logs have the form that the standard prescribes for what they contain.

mod common;

use common::Scratch;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::path::Path;

fn validator() -> Validator {
    validator_of("report.schema.json")
}

fn validator_of(schema: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(schema);
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn assert_valid(validator: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:?}\n{value:#}");
}

const MODEL: &str = "mtype = { a }; chan c = [1] of { mtype }; chan r = [0] of { byte }; byte x, y;\n\
    active proctype p() { do :: x < 3 -> progress: x++ :: x >= 3 -> accept: x = 0 od }\n\
    active proctype q() { r!1; c!a; if :: y == 9 -> assert(false) :: else fi }\n\
    active proctype s() { byte z; r?z; end: c?a; y = z }\n\
    ltl always_small { [] (x < 4) }\n\
    ltl again { [] <> (y == 1) }\n\
    ltl vacuous { [] (x == 7 -> <> (x == 8)) }";

const BAD: &str = "byte x, a[2]; active proctype p() { x = 1; if :: assert(x == 0) :: a[x + 1] = 1 :: false fi }\n\
    active proctype q() { x == 9 }";

/// Every kind of verdict, search, store and reduction.
const RUNS: [&[&str]; 28] = [
    &["--property", "safety", "--ranges", "--profile"],
    &["--property", "safety", "--max-switches", "1", "--store", "automaton"],
    &[],
    &["--all-errors"],
    &["--property", "progress"],
    &["--property", "progress", "--fair", "weak"],
    &["--property", "accept", "--fair", "strong"],
    &["--property", "assertion"],
    &["--ltl", "<> (x == 3)"],
    &["--search", "dfs"],
    &["--search", "bfs"],
    &["--property", "safety", "--search", "handoff", "--threads", "2"],
    &["--search", "ndfs"],
    &["--search", "cndfs"],
    &["--search", "ndfs-dual"],
    &["--search", "scc"],
    &["--search", "ufscc"],
    &["--property", "safety", "--store", "bitstate"],
    &["--property", "safety", "--store", "hc"],
    &["--store", "tree"],
    &["--property", "safety", "--por", "twophase"],
    &["--property", "safety", "--por", "stubborn", "--search", "dfs", "--sleep"],
    &["--property", "safety", "--state-cache", "3", "--search", "dfs"],
    &["--property", "safety", "--engine", "symbolic", "--all-errors"],
    &["--property", "safety", "--engine", "auto"],
    &["--max-states", "3"],
    &["--max-depth", "2", "--property", "safety"],
    &["--timeout", "0", "--exec", "interp", "--opt", "none"],
];

#[test]
fn reports_are_as_documented() {
    let validator = validator();
    let mut seen = 0;
    for model in [MODEL, BAD] {
        let scratch = Scratch::with(model);
        for words in RUNS {
            let (run, report) = scratch.check(words);
            if report.is_null() {
                assert_eq!(run.status, Some(2), "{words:?}: {}", run.stderr);
                continue;
            }
            seen += 1;
            assert_valid(&validator, &report, &format!("{words:?}"));
        }
    }
    assert!(seen >= 40, "{seen} reports");
}

/// The number of rows and columns of a matrix.
fn shape(matrix: &Value) -> (usize, usize) {
    let rows: Vec<&str> = matrix.as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    let columns = rows.first().map_or(0, |row| row.len());
    assert!(rows.iter().all(|row| row.len() == columns), "{matrix}");
    (rows.len(), columns)
}

#[test]
fn facts_are_as_documented() {
    let validator = validator_of("facts.schema.json");
    for model in [MODEL, BAD, "init { skip }"] {
        let run = Scratch::with(model).run(&["facts", "m.pml", "--format", "json"]);
        let facts: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_valid(&validator, &facts, model);
        let all = &facts["matrix"];
        let n = |list: &str| all[list].as_array().unwrap().len();
        let (groups, slots, guards) = (n("groups"), n("slots"), n("guards"));
        for (matrix, of) in [
            ("dependencies", (groups, slots)),
            ("must_write", (groups, slots)),
            ("guarded_by", (groups, guards)),
            ("guard_reads", (guards, slots)),
            ("conflicts", (groups, groups)),
            ("may_be_coenabled", (groups, groups)),
            ("necessary_enabling", (guards, groups)),
            ("necessary_disabling", (guards, groups)),
        ] {
            assert_eq!(shape(&all[matrix]), of, "{matrix} of {model}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_trail_inside_a_report_is_documented() {
    let scratch = Scratch::with(BAD);
    let (_, report) = scratch.check(&["--trail", "/dev/full"]);
    assert!(report["properties"][0]["violations"][0]["steps"].is_array(), "{report:#}");
    assert_valid(&validator(), &report, "inline trail");
}

#[test]
fn what_is_not_documented_is_noticed() {
    let (_, mut report) = Scratch::with(MODEL).check(&[]);
    let validator = validator();
    assert!(validator.is_valid(&report));
    assert_eq!(report["schema"], 1);
    report["properties"][0]["novelty"] = json!(1);
    assert!(!validator.is_valid(&report));
    let run = Scratch::with(MODEL).run(&["facts", "m.pml", "--format", "json"]);
    let mut facts: Value = serde_json::from_str(&run.stdout).unwrap();
    facts["matrix"]["conflicts"][0] = json!("r");
    assert!(!validator_of("facts.schema.json").is_valid(&facts));
}

#[test]
fn several_models_are_one_object_a_line() {
    let scratch = Scratch::with(MODEL);
    scratch.write("good.pml", "init { skip }");
    scratch.write("wrong.pml", "init { y = 1 }");
    scratch.write("bad.pml", BAD);
    let run = scratch.run(&["check", "good.pml", "wrong.pml", "bad.pml", "--format", "json"]);
    assert_eq!(run.status, Some(1), "violated comes before rejected");
    let reports: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let models: Vec<&str> = reports.iter().filter_map(|report| report["model"].as_str()).collect();
    assert_eq!(models, ["good.pml", "bad.pml"]);
    reports.iter().for_each(|report| assert_valid(&validator(), report, "one of several"));
    assert_eq!(scratch.run(&["check", "good.pml", "wrong.pml", "-q"]).status, Some(2));
    let run = scratch.run(&["check", "good.pml", "bad.pml", "good.pml", "-q"]);
    assert!(run.stdout.ends_with("\n3 models: 2 holds, 1 violated\n"), "{}", run.stdout);
    assert!(scratch.has("bad.pml.trail.json"));
    let refused = scratch.run(&["check", "good.pml", "bad.pml", "--trail", "t.json"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("every model has a trail of its own"), "{}", refused.stderr);
}

/// What SARIF 2.1.0 asks of the parts that we use.
fn sarif_schema() -> Value {
    let text = json!({"type": "object", "required": ["text"], "additionalProperties": false,
                      "properties": {"text": {"type": "string", "minLength": 1}}});
    let rule = json!({"type": "object", "required": ["id"], "additionalProperties": false,
                      "properties": {"id": {"type": "string"}, "shortDescription": text}});
    let region = json!({"type": "object", "additionalProperties": false, "properties": {
        "startLine": {"type": "integer", "minimum": 1}, "startColumn": {"type": "integer", "minimum": 1}}});
    let place = json!({"type": "object", "additionalProperties": false, "properties": {
        "artifactLocation": {"type": "object", "additionalProperties": false,
            "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9/._~%:-]+$"}}},
        "region": region}});
    let result = json!({"type": "object", "required": ["message"], "additionalProperties": false, "properties": {
        "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]}, "message": text,
        "locations": {"type": "array", "items": {"type": "object", "additionalProperties": false,
                      "properties": {"physicalLocation": place}}}}});
    let invocation = json!({"type": "object", "required": ["executionSuccessful"], "additionalProperties": false,
        "properties": {"executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"}}});
    let driver = json!({"type": "object", "required": ["name"], "additionalProperties": false, "properties": {
        "name": {"const": "spinor"}, "version": {"type": "string"}, "rules": {"type": "array", "items": rule}}});
    json!({"type": "object", "required": ["version", "runs"], "additionalProperties": false, "properties": {
        "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {
            "type": "object", "required": ["tool"], "additionalProperties": false, "properties": {
                "tool": {"type": "object", "required": ["driver"], "properties": {"driver": driver}},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "invocations": {"type": "array", "items": invocation},
                "results": {"type": "array", "items": result}}}}}})
}

#[test]
fn sarif_is_as_the_standard_asks() {
    let schema = jsonschema::validator_for(&sarif_schema()).unwrap();
    let scratch = Scratch::with(MODEL);
    scratch.write("bad one.pml", BAD);
    scratch.write("wrong.pml", "init { y = 1 }");
    for (words, status) in [
        (&["check", "m.pml", "bad one.pml", "wrong.pml"][..], 1),
        (&["check", "bad one.pml", "--all-errors"], 1),
        (&["check", "m.pml", "--max-states", "2", "--property", "safety"], 3),
        (&["check", "m.pml", "--search", "sideways"], 2),
        (&["test", "."], 2),
    ] {
        let run = scratch.run(&[words, &["--format", "sarif"]].concat());
        assert_eq!(run.status, Some(status), "{words:?}: {}", run.stderr);
        let log: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_valid(&schema, &log, &format!("{words:?}"));
        let run = &log["runs"][0];
        assert_eq!(run["invocations"][0]["exitCode"], status);
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        }
    }
    let run = scratch.run(&["check", "bad one.pml", "wrong.pml", "--format", "sarif"]);
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    let rules: Vec<&str> =
        log["runs"][0]["results"].as_array().unwrap().iter().filter_map(|r| r["ruleId"].as_str()).collect();
    assert!(rules.contains(&"E0201") || rules.iter().any(|rule| rule.starts_with('E')), "{rules:?}");
    assert!(rules.contains(&"assertion") || rules.contains(&"runtime"), "{rules:?}");
}
