//! `spinor test`: what it finds, its exit statuses, and its four formats (`UPDATE_EXPECT=1` writes them to
//! `tests/suite/`).

mod common;

use common::Scratch;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const HOLDS: &str = "//@ expect: verdict=holds states=13\n\
                     byte x; active proctype p() { do :: x < 5 -> x++ :: x == 5 -> break od }\n";
const ENDLESS: &str =
    "//@ expect: verdict=holds\nint a; int b; active proctype p() { do :: a++ :: b++ :: a + b < 0 od }\n";

/// A folder with everything that can come out.
fn everything() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.0.join("sub")).unwrap();
    scratch.write("sub/holds.pml", HOLDS);
    scratch.write(
        "two checks.pml",
        "//@ check: assertion\n//@ expect: verdict=violated kind=assertion line=7 depth=2 errors=1\n\
         //@ check: safety -D WRONG=1\n//@ expect: verdict=holds states=2\n\
         //@ check: end-state\n\
         byte x;\nactive proctype p() { x = 1; assert(x < 1 || x > 1) }\n",
    );
    scratch.write("rejected.pml", "//@ expect: verdict=rejected line=3\n\nactive proctype p() { y = 1 }\n");
    scratch.write("unexpected.pml", "//@ expect: verdict=holds\nactive proctype p() { y < 1 && z > 2 }\n");
    scratch.write("directive.pml", "//@ expct: verdict=holds\n//@ expect: verdict=hold\nbyte x;\n");
    scratch.write("silent.pml", "active proctype p() { skip }\n");
    scratch.write("budget.pml", &format!("//@ options: --max-states 3\n{HOLDS}"));
    scratch.write(
        "later.pml",
        "//@ check: accept --store bitstate --fair weak\n//@ expect: verdict=holds\nactive proctype p() { skip }\n",
    );
    scratch.write("notes.txt", "no model\n");
    scratch
}

/// Compares with an expected file, or writes it.
fn expect(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == found, "{name} is not as expected (UPDATE_EXPECT=1 writes it):\n{found}");
}

/// The text with the value of every `key` replaced: `key="0.123"` and `"key": 0.123`.
fn without(text: &str, keys: &[&str]) -> String {
    let mut out = text.to_string();
    for key in keys {
        for start in [format!(" {key}=\""), format!("\"{key}\": ")] {
            let mut pieces = out.split(&start);
            let mut new = pieces.next().unwrap_or_default().to_string();
            for piece in pieces {
                let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
                new.push_str(&format!("{start}0{rest}"));
            }
            out = new;
        }
    }
    out
}

#[test]
fn text_for_people() {
    let scratch = everything();
    let run = scratch.run(&["test"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(1), ""));
    let lines: Vec<String> = run.stdout.lines().map(testkit::transcript::matching::normal).collect();
    expect("everything.txt", &(lines.join("\n") + "\n"));
    let quiet = scratch.run(&["test", "-q"]);
    assert!(!quiet.stdout.contains("ok ") && !quiet.stdout.contains("skipped  "), "{}", quiet.stdout);
    assert!(quiet.stdout.contains("FAILED") && quiet.stdout.contains("10 checks: "), "{}", quiet.stdout);
}

#[test]
fn one_json_object() {
    let run = everything().run(&["test", "--format", "json"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["summary"]["checks"], report["checks"].as_array().unwrap().len());
    expect("everything.json", &without(&run.stdout, &["seconds"]));
}

#[test]
fn junit_is_what_servers_read() {
    let run = everything().run(&["test", "--format", "junit"]);
    assert_eq!(run.status, Some(1));
    expect("everything.xml", &without(&run.stdout, &["time"]));
    let document = roxmltree::Document::parse(&run.stdout).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let number =
        |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<usize>().unwrap();
    let suites: Vec<_> = root.children().filter(|n| n.is_element()).collect();
    for (count, element) in
        [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
    {
        let under =
            |node: roxmltree::Node<'_, '_>| node.descendants().filter(|n| n.has_tag_name(element)).count();
        assert_eq!(number(root, count), under(root), "{count}");
        assert_eq!(number(root, count), suites.iter().map(|s| number(*s, count)).sum::<usize>(), "{count}");
        suites.iter().for_each(|s| assert_eq!(number(*s, count), under(*s), "{count}"));
    }
    for suite in suites {
        assert!(suite.has_tag_name("testsuite") && suite.attribute("time").unwrap().parse::<f64>().is_ok());
        for case in suite.children().filter(|n| n.is_element()) {
            assert!(
                case.attribute("name").is_some() && case.attribute("classname") == suite.attribute("name")
            );
            assert!(case.children().filter(|n| n.is_element()).count() <= 1);
        }
    }
}

#[test]
fn odd_characters_survive_xml() {
    let scratch = Scratch::new();
    scratch.write("a<b>&\"c.pml", "//@ expect: verdict=<&>\u{1}\u{7f}\nbyte x;\n");
    let run = scratch.run(&["test", "--format", "junit"]);
    let document = roxmltree::Document::parse(&run.stdout).unwrap();
    let case = document.descendants().find(|n| n.has_tag_name("testcase")).unwrap();
    assert_eq!(case.attribute("file"), Some("a<b>&\"c.pml"));
    let failure = case.first_element_child().unwrap();
    let message = failure.attribute("message").unwrap();
    assert!(message.starts_with("a<b>&\"c.pml:1: unknown verdict `<&>␁␡`: "), "{message}");
}

#[test]
fn sarif_is_what_code_hosts_read() {
    let run = everything().run(&["test", "--format", "sarif"]);
    assert_eq!(run.status, Some(1));
    expect("everything.sarif", &run.stdout);
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "spinor");
    let rules = driver["rules"].as_array().unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.ends_with(".pml") && !uri.starts_with('/') && !uri.contains(' '), "{uri}");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(place["region"]["startColumn"].as_u64().is_none_or(|column| column >= 1));
    }
    for rule in rules {
        assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty(), "{rule}");
    }
}

#[test]
fn exit_statuses() {
    let scratch = everything();
    let status = |words: &[&str]| scratch.run(&[&["test"], words].concat()).status;
    assert_eq!(status(&["sub", "rejected.pml"]), Some(0));
    assert_eq!(status(&["sub", "silent.pml"]), Some(0));
    assert_eq!(status(&["unexpected.pml"]), Some(1));
    assert_eq!(status(&["sub", "budget.pml"]), Some(3));
    assert_eq!(status(&["later.pml"]), Some(3));
    // Nothing to test, or a wrong command line.
    for words in [
        &["silent.pml"][..],
        &["no such folder"],
        &["--filter", "no such check"],
        &["--store", "nonsense"],
        &["--proviso", "color"],
        &["--jobs", "0"],
        &["--formt", "json"],
    ] {
        assert_eq!(status(words), Some(2), "{words:?}");
    }
    let empty = Scratch::new();
    let run = empty.run(&["test"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("there is no model in ."), "{}", run.stderr);
}

#[test]
fn an_interrupted_suite_says_so() {
    let scratch = Scratch::new();
    scratch.write("a.pml", HOLDS);
    scratch.write("b.pml", ENDLESS);
    scratch.write("c.pml", HOLDS);
    // The limit only matters when this test fails half-way: nobody would be left to stop the endless check.
    let mut command = scratch.command(&["test", "--jobs", "1", "--timeout", "60", "--max-memory", "1G"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    output.read_line(&mut text).unwrap();
    assert!(text.starts_with("ok "), "{text}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    std::io::Read::read_to_string(&mut output, &mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(text.contains("not run      c.pml: safety (interrupted)"), "{text}");
    assert!(text.contains("3 checks: 1 as expected, 2 not run"), "{text}");
}

#[test]
fn a_closed_pipe_is_nobodys_fault() {
    let scratch = Scratch::with(HOLDS);
    let mut child = scratch.command(&["test"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn checks_can_be_chosen_and_stopped() {
    let scratch = everything();
    let names = |words: &[&str]| {
        let run = scratch.run(&[&["test", "--format", "json"], words].concat());
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let word = |value: &Value| value.as_str().unwrap().to_string();
        let checks = report["checks"].as_array().unwrap().clone();
        checks
            .iter()
            .map(|c| format!("{} {}", word(&c["model"]), word(&c["status"])))
            .collect::<Vec<String>>()
    };
    assert_eq!(names(&["--filter", "holds.pml"]), ["sub/holds.pml passed"]);
    assert_eq!(names(&["--filter", "-D WRONG"]), ["two checks.pml failed"]);
    assert_eq!(
        names(&["--fail-fast", "--jobs", "1", "unexpected.pml", "rejected.pml", "silent.pml"]),
        ["unexpected.pml failed", "rejected.pml not-run", "silent.pml skipped"]
    );
    // The order is that of the models, however many run at a time.
    assert_eq!(names(&["--jobs", "8"]), names(&["--jobs", "1"]));
}

#[test]
fn a_configuration_for_all() {
    let scratch = Scratch::with(&HOLDS.replace("states=13", "states=14"));
    assert_eq!(scratch.run(&["test", "--store", "tree"]).status, Some(1));
    let bits = scratch.run(&["test", "--store", "hc", "--format", "json"]);
    assert_eq!(bits.status, Some(3));
    let defaults = scratch.run(&["test", "--defaults", "--format", "json"]);
    let report: Value = serde_json::from_str(&defaults.stdout).unwrap();
    assert_eq!((defaults.status, &report["checks"][0]["not_compared"][0]), (Some(0), &"states".into()));
    assert_eq!(report["checks"][0]["command"], "spinor check m.pml --property safety");
}

#[test]
fn trails_are_kept_only_where_asked() {
    let scratch = everything();
    scratch.run(&["test"]);
    let litter = |dir: &str| {
        let entries = fs::read_dir(scratch.0.join(dir)).unwrap();
        entries.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains("trail")).count()
    };
    assert_eq!(litter("") + litter("sub"), 0);
    let run = scratch.run(&["test", "--keep-trails", "kept/here", "two checks.pml"]);
    assert!(
        run.stdout.contains("spinor replay 'kept/here/two checks.pml.check2.trail.json'"),
        "{}",
        run.stdout
    );
    assert!(scratch.has("kept/here/two checks.pml.trail.json"));
    let replay = scratch.run(&["replay", "kept/here/two checks.pml.check2.trail.json"]);
    assert_eq!(replay.status, Some(0), "{}", replay.stderr);
    assert_eq!(scratch.run(&["test", "--keep-trails", "notes.txt", "sub"]).status, Some(2));
}
