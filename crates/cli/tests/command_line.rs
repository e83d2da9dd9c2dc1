//! The command-line contract: exit statuses, the JSON object, where things are written.

mod common;

use common::{CommandOutput, Scratch, spinor};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const HOLDS: &str = "byte x; active proctype p() { do :: x < 5 -> x++ :: x == 5 -> break od }";
const ASSERTION: &str = "byte x;\nactive proctype p() {\n  x = 1;\n  assert(x == 2);\n  x = 3\n}\n";
const DEADLOCK: &str = "chan q = [0] of { byte };\nactive proctype p() { q!1 }\n";
const ENDLESS: &str = "int a; int b; active proctype p() { do :: a++ :: b++ :: a + b < 0 od }";
const CLAIM: &str = "byte x; active proctype p() { x = 1 }\nltl always_small { [] (x < 2) }";

#[test]
fn a_model_that_holds() {
    let scratch = Scratch::with(HOLDS);
    let (run, report) = scratch.check(&[]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        (&report["tool"], &report["model"], &report["verdict"]),
        (&"spinor".into(), &"m.pml".into(), &"holds".into())
    );
    let safety = &report["properties"][0];
    assert_eq!(
        (&safety["name"], &safety["kind"], &safety["verdict"]),
        (&"safety".into(), &"safety".into(), &"holds".into())
    );
    assert_eq!((&safety["exhaustive"], &safety["errors"]), (&true.into(), &0.into()));
    assert_eq!(safety["violations"], Value::Array(Vec::new()));
    let states = safety["states"].as_u64().unwrap();
    assert_eq!(safety["transitions"].as_u64().unwrap() - safety["matched"].as_u64().unwrap() + 1, states);
    for name in ["front_end", "compile", "search", "total"] {
        assert!(report["seconds"][name].as_f64().is_some(), "{name}");
    }
    for name in ["peak_rss", "state_bytes", "bytes_per_state", "vector_bytes"] {
        assert!(report["memory"][name].as_f64().unwrap() > 0.0, "{name}");
    }
    let config = &report["config"];
    assert_eq!(
        (&config["search"], &config["por"], &config["save"]),
        (&"frontier".into(), &"none".into(), &Value::Null)
    );
    assert!(!scratch.has("m.pml.trail.json"));
    let text = scratch.run(&["check", "m.pml"]);
    assert_eq!((text.status, text.stdout.lines().next()), (Some(0), Some("m.pml: holds")));
}

#[test]
fn a_violation_is_written_and_replays() {
    let scratch = Scratch::with(ASSERTION);
    let (run, report) = scratch.check(&[]);
    assert_eq!(run.status, Some(1));
    assert_eq!(report["verdict"], "violated");
    let violation = &report["properties"][0]["violations"][0];
    assert_eq!(
        (&violation["kind"], &violation["line"], &violation["depth"]),
        (&"assertion".into(), &4.into(), &2.into())
    );
    assert_eq!((&violation["process"], &violation["pid"]), (&"p".into(), &0.into()));
    assert_eq!(violation["trail"], "m.pml.trail.json");
    let replay = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!((replay.status, replay.stderr.as_str()), (Some(0), ""));
    assert!(replay.stdout.contains("m.pml:3  x = 1"), "{}", replay.stdout);
    assert!(replay.stdout.lines().last().unwrap().starts_with("assertion violated: "), "{}", replay.stdout);
    let json: Value =
        serde_json::from_str(&scratch.run(&["replay", "m.pml.trail.json", "--format", "json"]).stdout)
            .unwrap();
    assert_eq!((&json["confirmed"], json["steps"].as_array().unwrap().len()), (&true.into(), 2));
}

#[test]
fn a_trail_finds_its_model_from_elsewhere() {
    let scratch = Scratch::with(DEADLOCK);
    let other = Scratch::new();
    assert_eq!(scratch.run(&["check", "m.pml"]).status, Some(1));
    let trail = scratch.0.join("m.pml.trail.json");
    let elsewhere =
        CommandOutput::of(spinor(&other.0, &["replay", trail.to_str().unwrap()]).output().unwrap());
    assert_eq!((elsewhere.status, elsewhere.stderr.as_str()), (Some(0), ""));
    let far = other.0.join("t.json");
    std::fs::copy(&trail, &far).unwrap();
    assert_eq!(scratch.run(&["replay", far.to_str().unwrap()]).status, Some(0));
    std::fs::remove_file(scratch.0.join("m.pml")).unwrap();
    let lost = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(lost.status, Some(2));
    assert!(lost.stderr.contains("cannot be found"), "{}", lost.stderr);
}

#[test]
fn a_changed_model_is_noticed() {
    let scratch = Scratch::with(ASSERTION);
    assert_eq!(scratch.run(&["check", "m.pml"]).status, Some(1));
    scratch.write("m.pml", &format!("{ASSERTION}\n/* a remark */"));
    let remark = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(remark.status, Some(0));
    assert!(remark.stderr.contains("has changed"), "{}", remark.stderr);
    scratch.write("m.pml", &ASSERTION.replace("x == 2", "x == 1"));
    let repaired = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!(repaired.status, Some(2));
    assert!(repaired.stderr.contains("does not replay"), "{}", repaired.stderr);
}

#[test]
fn a_broken_trail_is_refused() {
    let scratch = Scratch::with(ASSERTION);
    assert_eq!(scratch.run(&["check", "m.pml"]).status, Some(1));
    let text = scratch.read("m.pml.trail.json");
    scratch.write("half.json", &text[..text.len() / 2]);
    scratch.write("empty.json", "");
    for name in ["half.json", "empty.json", "missing.json"] {
        let run = scratch.run(&["replay", name]);
        assert_eq!(run.status, Some(2), "{name}");
        assert!(run.stderr.contains("error["), "{}", run.stderr);
    }
}

#[test]
fn wrong_models_and_wrong_options_have_status_two_and_explore_nothing() {
    let scratch = Scratch::with("active proctype p() { x = }");
    let (run, _) = scratch.check(&[]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
    for line in run.stderr.lines() {
        let notice: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&notice["severity"], &notice["file"]), (&"error".into(), &"m.pml".into()));
        assert!(notice["line"].is_u64() && notice["code"].is_string());
    }
    scratch.write("m.pml", HOLDS);
    let cases: [&[&str]; 7] = [
        &["check", "nowhere.pml"],
        &["check"],
        &["check", "m.pml", "--no-such-option"],
        &["check", "m.pml", "--por", "sideways"],
        &["check", "m.pml", "--threads", "0"],
        &["check", "m.pml", "--property", "nonsense"],
        &["check", "m.pml", "--dialect", "esperanto"],
    ];
    for words in cases {
        let run = scratch.run(words);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{words:?}");
        assert!(!run.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn the_pv_dialect_defines_its_name() {
    let scratch =
        Scratch::with("#ifdef _UV_\nbyte n = 1;\n#else\nbyte n;\n#endif\ninit { assert(n == 1) }\n");
    assert_eq!(scratch.run(&["check", "m.pml"]).status, Some(1));
    assert_eq!(scratch.run(&["check", "m.pml", "--dialect", "pv"]).status, Some(0));
}

#[test]
fn budgets_make_the_answer_unknown() {
    let scratch = Scratch::with(ENDLESS);
    let cases: [(&[&str], &str); 4] = [
        (&["--max-states", "500"], "--max-states 500"),
        (&["--max-depth", "20"], "20 steps"),
        (&["--timeout", "0"], "--timeout 0"),
        (&["--max-memory", "1K"], "memory ran out (the limit is 1.0 kB, --max-memory)"),
    ];
    for (words, why) in cases {
        let (run, report) = scratch.check(words);
        assert_eq!(
            (run.status, &report["verdict"]),
            (Some(3), &"unknown".into()),
            "{words:?} {}",
            run.stderr
        );
        let property = &report["properties"][0];
        assert_eq!(property["exhaustive"], false);
        assert!(property["note"].as_str().unwrap().contains(why), "{property}");
    }
}

#[test]
fn properties_of_whole_runs_have_their_own_answers() {
    let scratch = Scratch::with(CLAIM);
    let (run, report) = scratch.check(&[]);
    assert_eq!((run.status, &report["verdict"]), (Some(0), &"holds".into()));
    let names: Vec<&str> =
        report["properties"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["safety", "ltl:always_small"]);
    assert_eq!(report["properties"][1]["verdict"], "holds");
    let named = scratch.run(&["check", "m.pml", "--property", "ltl:always_large"]);
    assert_eq!(named.status, Some(2));
    assert!(named.stderr.contains("no such property"), "{}", named.stderr);
}

#[test]
fn a_run_that_does_not_end_is_replayed_with_its_cycle() {
    let model = "byte x, y; active proctype p() { x = 1; do :: x = 3 - x od }\n\
                 active proctype q() { y = 1 }\n#define LOW (x < 2)\nltl settles { <> [] LOW }\n";
    for exec in ["interp", "jit"] {
        for search in ["auto", "ndfs", "scc"] {
            let scratch = Scratch::with(model);
            let (run, report) = scratch.check(&["--exec", exec, "--search", search]);
            assert_eq!(run.status, Some(1), "{}", run.stderr);
            let violation = &report["properties"][1]["violations"][0];
            assert_eq!((&violation["kind"], &violation["line"]), (&"accept-cycle".into(), &4.into()));
            let around = violation["depth"].as_u64().unwrap() - violation["cycle"].as_u64().unwrap();
            assert_eq!(around, 2, "{violation}");
            assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
        }
    }
    let scratch = Scratch::with(model);
    let formula = ["--property", "ltl:cli", "--ltl", "<> (y == 1)"];
    let (run, report) = scratch.check(&formula);
    assert_eq!((run.status, &report["properties"][0]["name"]), (Some(1), &"ltl:cli".into()));
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
    let (run, _) = scratch.check(&[&formula[..], &["--fair", "weak"]].concat());
    assert_eq!(run.status, Some(0), "a fair run lets q move");
    let (run, report) = scratch.check(&["--property", "ltl:cli", "--ltl", "[] LOW"]);
    assert_eq!(
        (run.status, &report["properties"][0]["violations"][0]["kind"]),
        (Some(1), &"claim-end".into())
    );
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
    let broken = scratch.run(&["check", "m.pml", "--ltl", "<> (nobody == 1)"]);
    assert_eq!(broken.status, Some(2));
    assert!(broken.stderr.contains("nobody"), "{}", broken.stderr);
}

#[test]
fn all_errors_are_counted_and_each_kind_has_its_trail() {
    let model = "byte x;\nactive proctype p() {\n  if :: x = 1 :: x = 2 fi;\n  assert(x == 0);\n  assert(x == 1);\n  false\n}\n";
    let scratch = Scratch::with(model);
    let (run, report) = scratch.check(&["--all-errors"]);
    assert_eq!(run.status, Some(1));
    let property = &report["properties"][0];
    // Line 4 fails twice, line 5 once, and both ways are stuck at line 6.
    assert_eq!((&property["errors"], &property["exhaustive"]), (&5.into(), &true.into()));
    let violations = property["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 3);
    for (violation, name) in
        violations.iter().zip(["m.pml.trail.json", "m.pml.trail.json.2", "m.pml.trail.json.3"])
    {
        assert_eq!(violation["trail"], name);
        assert_eq!(scratch.run(&["replay", name]).status, Some(0), "{violation}");
    }
    let (_, only) = scratch.check(&["--all-errors", "--property", "end-state"]);
    assert_eq!(
        (&only["properties"][0]["name"], &only["properties"][0]["errors"]),
        (&"end-state".into(), &2.into())
    );
    assert_eq!(only["properties"][0]["states"], property["states"]);
}

#[test]
fn both_orders_count_the_same_and_breadth_first_is_shortest() {
    let model = "byte x, y;\nactive proctype p() { do :: x < 9 -> x++ :: y < 9 -> atomic { y++; y++; y = y - 1 } od }\n\
                 active proctype q() { x > 3 && y > 2; assert(false) }";
    let scratch = Scratch::with(model);
    let (_, depth) = scratch.check(&["--all-errors", "--por", "none", "--opt", "none", "--search", "dfs"]);
    let (_, breadth) = scratch.check(&["--all-errors", "--por", "none", "--opt", "none", "--search", "bfs"]);
    for name in ["states", "transitions", "matched", "errors"] {
        assert_eq!(depth["properties"][0][name], breadth["properties"][0][name], "{name}");
    }
    let (_, seeded) = scratch.check(&["--all-errors", "--por", "none", "--opt", "none", "--seed", "7"]);
    assert_eq!(seeded["properties"][0]["states"], depth["properties"][0]["states"]);
    let (_, first) = scratch.check(&["--search", "bfs"]);
    // Four times x (guard and step), three times y (guard and three steps), the guard of q and the assertion.
    assert_eq!(first["properties"][0]["violations"][0]["depth"], 4 * 2 + 3 * 4 + 2);
}

#[test]
fn channels_can_be_required_to_be_empty() {
    let scratch = Scratch::with("chan q = [1] of { byte }; active proctype p() { q!1 }");
    assert_eq!(scratch.check(&[]).0.status, Some(0));
    let (run, report) = scratch.check(&["--channels-empty"]);
    assert_eq!(run.status, Some(1));
    assert_eq!(report["properties"][0]["violations"][0]["message"], "channels not empty at end");
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
}

#[test]
fn a_folder_for_the_trail_must_exist() {
    let scratch = Scratch::with(ASSERTION);
    let lost = scratch.run(&["check", "m.pml", "--trail", "no/such/dir/t.json"]);
    assert_eq!(lost.status, Some(2));
}

#[test]
fn an_interrupt_ends_the_search_with_a_report() {
    let scratch = Scratch::with(ENDLESS);
    let words = ["check", "m.pml", "--format", "json", "--progress", "always"];
    let mut child = scratch.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The first line of progress says that the search is running; warnings come before it.
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    let progress = errors.find(|line| line.as_ref().is_ok_and(|line| line.contains("\"states\"")));
    assert!(progress.is_some(), "no progress");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["verdict"], &report["properties"][0]["exhaustive"]),
        (&"unknown".into(), &false.into())
    );
}

#[test]
fn a_closed_pipe_is_nobodys_fault() {
    let scratch = Scratch::with(HOLDS);
    for words in
        [&["check", "m.pml"][..], &["parse", "m.pml", "--format", "ir"], &["simulate", "m.pml"], &["--help"]]
    {
        let mut child = scratch.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{words:?}");
    }
}

#[test]
fn a_simulation_ends_when_nobody_reads_it() {
    let scratch = Scratch::with(ENDLESS);
    let mut child = scratch.command(&["simulate", "m.pml"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "p[0]\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_front_end_alone() {
    let scratch = Scratch::with(CLAIM);
    assert_eq!(scratch.run(&["parse", "m.pml"]).status, Some(0));
    let json = scratch.run(&["parse", "m.pml", "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&json.stdout).is_ok());
    assert!(scratch.run(&["parse", "m.pml", "--format", "ir"]).stdout.contains("always_small"));
    assert_eq!(scratch.run(&["parse", "nowhere.pml"]).status, Some(2));
}

#[test]
fn preprocessor_options_go_into_the_trail() {
    let scratch = Scratch::with("#include \"extra.h\"\nactive proctype p() { assert(N == LIMIT) }");
    std::fs::create_dir(scratch.0.join("inc")).unwrap();
    scratch.write("inc/extra.h", "#define LIMIT 3\n");
    assert_eq!(scratch.check(&["-DN=3", "-Iinc"]).0.status, Some(0));
    assert_eq!(scratch.check(&["-DN=4", "-Iinc"]).0.status, Some(1));
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
}

#[test]
fn simulation_is_reproducible_and_prints() {
    let model =
        "byte x; active proctype p() { do :: x < 9 -> x++; printf(\"x is %d\\n\", x) :: x > 3 -> break od }";
    let scratch = Scratch::with(model);
    let one = scratch.run(&["simulate", "m.pml", "--seed", "1"]);
    assert_eq!(one.status, Some(0));
    assert!(one.stdout.contains("x is 1"), "{}", one.stdout);
    assert_eq!(one.stdout, scratch.run(&["simulate", "m.pml", "--seed", "1"]).stdout);
    let cut = scratch.run(&["simulate", "m.pml", "--steps", "2"]);
    assert_eq!((cut.status, cut.stdout.matches(" m.pml:1  ").count()), (Some(0), 2), "{}", cut.stdout);
    scratch.write("m.pml", ASSERTION);
    assert_eq!(scratch.run(&["simulate", "m.pml"]).status, Some(1));
}

#[test]
fn an_endless_atomic_sequence_is_warned_of() {
    let scratch = Scratch::with("bit b; active proctype p() {\n atomic { do :: b = 1 - b :: break od }\n}");
    let (run, _) = scratch.check(&[]);
    assert_eq!(run.status, Some(0));
    let last = run.stderr.trim().lines().last().unwrap();
    let notice: Value = serde_json::from_str(last).unwrap();
    assert_eq!((&notice["code"], &notice["line"]), (&"W0701".into(), &2.into()));
}

#[test]
fn a_wrong_command_line_is_json_when_json_is_asked_for() {
    let scratch = Scratch::with(HOLDS);
    let cases: [&[&str]; 3] =
        [&["--no-such-option"], &["--max-depth", "deep"], &["--search", "bfs", "--search", "dfs"]];
    for words in cases {
        let (run, _) = scratch.check(words);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{words:?}");
        let notice: Value = serde_json::from_str(run.stderr.trim()).unwrap();
        assert_eq!(notice["severity"], "error");
        assert!(notice["message"].as_str().unwrap().contains(words[0]), "{notice}");
    }
}

#[test]
fn a_trail_never_takes_the_place_of_the_model() {
    let scratch = Scratch::with("#include \"extra.h\"\nactive proctype p() { assert(ONE == 2) }");
    scratch.write("extra.h", "#define ONE 1\n");
    for file in ["m.pml", "./m.pml", "extra.h"] {
        let (run, _) = scratch.check(&["--trail", file]);
        assert_eq!(run.status, Some(2), "{file}");
        assert!(run.stderr.contains("would overwrite"), "{}", run.stderr);
    }
    assert_eq!(scratch.read("extra.h"), "#define ONE 1\n");
    assert_eq!(scratch.check(&["--trail", "other"]).0.status, Some(1));
}

#[test]
fn running_out_of_memory_is_reported() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let scratch = Scratch::with(
        "int a; int b; int c; active proctype p() { do :: a++ :: b++ :: c++ :: a + b + c < 0 od }",
    );
    for order in ["dfs", "bfs"] {
        // The shell limits what the process may reserve; the deep stack of the worker takes 256 MB of that.
        let line = format!(
            "ulimit -v 400000; exec {} check m.pml --search {order} --format json --max-memory 100G",
            env!("CARGO_BIN_EXE_spinor")
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(&scratch.0).output().unwrap();
        let run = CommandOutput::of(output);
        assert_eq!(run.status, Some(3), "{order}: {}", run.stderr);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let note = report["properties"][0]["note"].as_str().unwrap();
        assert!(note.starts_with("memory ran out"), "{note}");
    }
}

#[test]
fn odd_paths_are_fine() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.0.join("ünter wegs")).unwrap();
    scratch.write("ünter wegs/it's a model.pml", ASSERTION);
    let run = scratch.run(&["check", "ünter wegs/it's a model.pml"]);
    assert_eq!(run.status, Some(1));
    let hint = "spinor replay 'ünter wegs/it'\\''s a model.pml.trail.json'";
    assert!(run.stdout.contains(hint), "{}", run.stdout);
    assert_eq!(scratch.run(&["replay", "ünter wegs/it's a model.pml.trail.json"]).status, Some(0));
    for nothing in ["", ".", "-", "missing/m.pml"] {
        assert_eq!(scratch.run(&["check", nothing]).status, Some(2), "{nothing:?}");
    }
}

/// Everything that can be wrong with a trail.
#[test]
fn trails_of_all_kinds_are_refused_or_replayed() {
    let scratch = Scratch::with(ASSERTION);
    scratch.write("other.pml", DEADLOCK);
    assert_eq!(scratch.run(&["check", "m.pml"]).status, Some(1));
    let good: Value = serde_json::from_str(&scratch.read("m.pml.trail.json")).unwrap();
    let with = |path: &str, value: Value| {
        let mut trail = good.clone();
        *trail.pointer_mut(path).unwrap() = value;
        trail.to_string()
    };
    let cases = [
        with("/steps", Value::Array(Vec::new())),
        with("/steps/0/action", "18446744073709551615".into()),
        with("/steps/0/action", (-1).into()),
        with("/steps/1", good["steps"][0].clone()),
        with("/model", "other.pml".into()).replace("model_absolute", "elsewhere"),
        with("/model", "/".into()).replace("model_absolute", "elsewhere"),
        with("/format", 99.into()),
        with("/violation", Value::Null),
        with("/violation/kind", "weird".into()),
        with("/violation/line", 99_999_999_999u64.into()),
        with("/options/dialect", "klingon".into()),
        with("/options/preprocessor", vec!["-Zx"].into()),
        "[".repeat(100_000),
        "{\"steps\":null}".to_string(),
        "[]".to_string(),
        "\u{0}".to_string(),
    ];
    for (number, text) in cases.iter().enumerate() {
        scratch.write("t.json", text);
        let run = scratch.run(&["replay", "t.json", "--format", "json"]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "case {number}: {}", run.stderr);
        for line in run.stderr.lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "case {number}: {line}");
        }
    }
    scratch.write("t.json", &with("/steps/0/text", "whatever".into()));
    assert_eq!(scratch.run(&["replay", "t.json"]).status, Some(0), "the words are for people");
}

#[test]
fn simulations_read_standard_input_and_show_the_final_state() {
    let model = "chan STDIN; int c;\nactive proctype p() { do :: STDIN?c -> printf(\"<%c>\\n\", c) od }";
    let scratch = Scratch::with(model);
    let mut child =
        scratch.command(&["simulate", "m.pml"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hi").unwrap();
    let run = CommandOutput::of(child.wait_with_output().unwrap());
    assert_eq!(run.status, Some(0));
    for expected in ["<h>", "<i>", "standard input, which is at its end", "After 4 steps:", "  c = 105"] {
        assert!(run.stdout.contains(expected), "{expected}: {}", run.stdout);
    }
    let (checked, report) = scratch.check(&[]);
    assert_eq!(checked.status, Some(1), "a verifier has no input");
    assert_eq!(report["properties"][0]["violations"][0]["kind"], "runtime");
    scratch.write("m.pml", "int c; active proctype p() { STDIN?c }");
    assert_eq!(scratch.run(&["simulate", "m.pml"]).status, Some(2), "as in Spin it has to be declared");
}

#[test]
fn parse_shows_tree_and_automata() {
    let scratch =
        Scratch::with("#define N 3\ninline up(x) { x++ }\nbyte b;\nltl small { [] (b < N) }\ninit { up(b) }");
    let run = scratch.run(&["parse", "m.pml", "--format", "json"]);
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(shown["model"], "m.pml");
    let items = shown["syntax"]["items"].as_array().unwrap();
    let init = items.iter().find(|item| item["kind"] == "init").unwrap();
    let inline = &init["body"][0];
    assert_eq!(
        (&inline["kind"], &inline["line"], &inline["name"]),
        (&"inline".into(), &5.into(), &"up".into())
    );
    assert_eq!((&inline["body"][0]["kind"], &inline["body"][0]["line"]), (&"increment".into(), &2.into()));
    let ltl = items.iter().find(|item| item["kind"] == "ltl").unwrap();
    assert_eq!(ltl["formula"]["operand"]["right"]["macro"], "N");
    assert_eq!(shown["automata"]["proctypes"][0]["name"], ":init:");
    assert!(shown["automata"]["proctypes"][0]["locations"][0]["edges"][0]["line"].is_u64());
}

#[test]
fn replays_have_many_views() {
    let model = "chan q = [1] of {byte};\nactive proctype a() { q!7 }\nactive proctype b() { byte x; q?x; assert(x < 7) }\n";
    let scratch = Scratch::with(model);
    assert_eq!(scratch.check(&[]).0.status, Some(1));
    let replay = |words: &[&str]| scratch.run(&[&["replay", "m.pml.trail.json"], words].concat());
    let told = replay(&[]).stdout;
    for expected in ["m.pml:2  q!7  ", "q = [7]", "x: 0 → 7", "After 3 steps:", "b[1] at m.pml:3"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let last = replay(&["--last", "1"]).stdout;
    assert!(last.contains("assert(x < 7)") && !last.contains("q!7"), "{last}");
    assert_eq!(replay(&["--steps", "3.."]).stdout, last);
    assert_eq!(replay(&["--steps", "3..1"]).status, Some(2));
    let json: Value = serde_json::from_str(&replay(&["--format", "json"]).stdout).unwrap();
    assert_eq!(json["steps"][1]["changes"][0]["after"], 7);
    assert_eq!(json["steps"][0]["events"][0]["kind"], "send");
    assert_eq!(json["state"]["processes"][1]["locals"]["x"], 7);
    let itf: Value = serde_json::from_str(&replay(&["--format", "itf"]).stdout).unwrap();
    assert_eq!(itf["states"].as_array().unwrap().len(), 4);
    assert!(replay(&["--format", "msc"]).stdout.contains("├── #1 q?7 ──"));
    assert_eq!(replay(&["--msc", "chart.svg", "--last", "2"]).status, Some(0));
    let svg = std::fs::read_to_string(scratch.0.join("chart.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("(here: steps 2 to 3)"), "{svg}");
    assert_eq!(replay(&["--msc", "chart.txt"]).status, Some(0));
    assert_eq!(
        replay(&["--msc", "chart.png"]).status,
        Some(2),
        "no chart in a format that its name does not say"
    );
    let drawn = std::fs::read_to_string(scratch.0.join("chart.txt")).unwrap();
    assert_eq!(drawn, replay(&["--format", "msc"]).stdout);
    let nowhere = replay(&["--msc", "no/such/folder/chart.svg"]);
    assert_eq!((nowhere.status, nowhere.stdout.as_str()), (Some(2), ""));
    assert!(nowhere.stderr.contains("cannot write the chart"), "{}", nowhere.stderr);
    assert_eq!(scratch.run(&["simulate", "m.pml", "--msc", "run.svg"]).status, Some(1));
    assert!(std::fs::read_to_string(scratch.0.join("run.svg")).unwrap().contains("m.pml: a run of 3 steps"));
    assert_eq!(scratch.run(&["simulate", "m.pml", "--msc", "no/such/folder/run.svg"]).status, Some(2));
}

#[test]
fn warnings_are_shown_in_brief_by_check_and_not_at_all_when_quiet() {
    let variables: String = (0..12).map(|i| format!("byte x{i};\n")).collect();
    let scratch = Scratch::with(&format!("{variables}active proctype p() {{ skip }}"));
    let all = scratch.run(&["parse", "m.pml"]);
    assert_eq!(
        (all.status, all.stderr.matches("warning[W0205]: the").count()),
        (Some(0), 12),
        "{}",
        all.stderr
    );
    let brief = scratch.run(&["check", "m.pml"]);
    assert_eq!((brief.status, brief.stderr.matches("warning[W0205]: the").count()), (Some(0), 3));
    assert!(brief.stderr.contains("and 9 more like this; see all: spinor parse m.pml"), "{}", brief.stderr);
    let quiet = scratch.run(&["check", "m.pml", "-q"]);
    assert_eq!((quiet.status, &*quiet.stderr), (Some(0), ""));
    let json = scratch.run(&["check", "m.pml", "--format", "json"]);
    assert_eq!(json.stderr.matches("W0205").count(), 12);
}

/// The report tells how many workers there were; where several were asked for and cannot be, that is said or
/// refused.
#[test]
fn threads_are_told_as_they_were() {
    let large = "active [3] proctype p() { byte x; do :: x < 100 -> x++ :: else -> break od }";
    let scratch = Scratch::with(large);
    let sleepy = scratch.run(&["check", "m.pml", "--sleep", "--threads", "8"]);
    assert_eq!(sleepy.status, Some(2));
    assert!(sleepy.stderr.contains("--sleep is for one thread"), "{}", sleepy.stderr);
    let threads = |words: &[&str]| {
        let (run, report) = scratch.check(&[&["--max-states", "60000", "--alone", "0"], words].concat());
        (report["config"]["threads"].as_u64(), run.stderr.contains("W0706"))
    };
    assert_eq!(threads(&["--threads", "2"]), (Some(2), false));
    assert_eq!(threads(&["--threads", "2", "--search", "dfs"]), (Some(2), false));
    assert_eq!(threads(&["--state-cache", "5", "--threads", "8"]), (Some(1), true));
    assert_eq!(threads(&["--state-cache", "5"]), (Some(1), false));
    assert_eq!(threads(&["--sleep"]), (Some(1), false));
    let cycles = |words: &[&str]| threads(&[&["--property", "progress"], words].concat());
    for alone in
        [&["--search", "ndfs"][..], &["--search", "scc"], &["--fair", "strong"], &["--max-depth", "50"]]
    {
        assert_eq!(cycles(&[alone, &["--threads", "2"]].concat()), (Some(1), true), "{alone:?}");
        assert_eq!(cycles(alone), (Some(1), false), "{alone:?}");
    }
    assert_eq!(cycles(&["--search", "cndfs", "--threads", "2"]), (Some(2), false));
    for store in ["tree", "cleary", "collapse"] {
        assert_eq!(cycles(&["--store", store, "--threads", "2"]), (Some(2), false), "{store}");
    }
    let text =
        scratch.run(&["check", "m.pml", "--state-cache", "5", "--threads", "8", "--max-states", "100"]);
    assert!(text.stdout.contains("threads                  1"), "{}", text.stdout);
    assert!(text.stderr.contains("one worker searched for safety, not 8"), "{}", text.stderr);
}
