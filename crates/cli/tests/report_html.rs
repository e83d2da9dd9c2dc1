//! `--report FILE`: one HTML file that says everything without script, loads nothing, and holds no markup of
//! the model; `--format markdown`: a summary for code hosts.

mod common;

use common::{CommandOutput, Scratch};
use serde_json::Value;

/// A model that tries to leave the text it is: markup in strings, and a deadlock.
const HOSTILE: &str = "\
chan q = [1] of { byte };
active proctype sender() { printf(\"</script><img src=x onerror=alert(1)>`|*\"); q!1; q!2 }
active proctype receiver() { byte x; q?x; q?x; q?x }
";

fn check(words: &[&str]) -> (CommandOutput, Scratch) {
    let scratch = Scratch::with(HOSTILE);
    let run = scratch.run(&[&["check", "m.pml", "--threads", "1"], words].concat());
    (run, scratch)
}

fn page(words: &[&str]) -> String {
    let (run, scratch) = check(&[&["--report", "r.html"], words].concat());
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    scratch.read("r.html")
}

/// What stands between two texts, for the first time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

#[test]
fn a_page_says_everything_without_script() {
    let page = page(&[]);
    let shown = page.split("<script").next().unwrap();
    for text in [
        "<title>m.pml: violated</title>",
        "✗ violated",
        "Why nobody can move",
        "receiver[1]",
        "<a href=\"#f0-3\">m.pml:3</a>",
        "id=\"f0-3\"",
        "q?x",
        "class=\"drawing msc\"",
        "class=\"drawing lanes\"",
        "class=\"drawing graph\"",
        "spinor check m.pml --threads 1",
    ] {
        assert!(shown.contains(text), "{text}");
    }
}

#[test]
fn a_page_loads_nothing_and_runs_only_its_own_script() {
    let page = page(&[]);
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && policy.matches("sha256-").count() == 2, "{policy}");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && page.contains("&lt;/script&gt;&lt;img src=x"));
    for word in [" style=\"", " onclick", "src=\"", "@import", "url(http"] {
        assert!(!page.contains(word), "{word}");
    }
    let addresses = page.matches("http").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count() + 1, "and `http-equiv`");
}

#[test]
fn the_data_of_a_page_is_the_run() {
    let page = page(&[]);
    let data = between(&page, "id=\"data\">", "</script>");
    let data: Value = serde_json::from_str(data).expect("JSON");
    let part = &data[0]["parts"][0];
    let steps = part["steps"].as_array().expect("steps");
    assert_eq!(data[0]["steps"], steps.len());
    assert_eq!(part["state"][0][0], "q");
    let sent = steps.iter().find(|step| step["changes"][0][0] == "q").expect("a message is sent");
    assert_eq!(sent["changes"][0][2], "[1]");
    assert_eq!(sent["moves"][0][0], "sender");
    assert_eq!(sent["located"][0][0], 0);
}

#[test]
fn the_same_check_gives_the_same_page() {
    assert_eq!(page(&[]), page(&[]));
    // Nothing of this machine is in it.
    assert!(!page(&[]).contains(&*std::env::temp_dir().to_string_lossy()));
}

#[test]
fn what_holds_has_a_page_with_its_coverage() {
    let scratch =
        Scratch::with("byte x;\nactive proctype p() {\nx = 1;\nif\n:: x == 2 -> x = 3\n:: else\nfi }\n");
    let run = scratch.run(&["check", "m.pml", "--report", "r.html"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let page = scratch.read("r.html");
    assert!(page.contains("✓ holds") && page.contains("<tr id=\"f0-5\" class=\"unreached\">"), "{page}");
}

#[test]
fn a_formula_of_the_command_line_is_shown() {
    let scratch = Scratch::with("byte x;\nactive proctype p() { do :: x = 1 - x od }\n");
    let run = scratch.run(&["check", "m.pml", "--ltl", "<> [] (x != 0)", "--report", "r.html"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let page = scratch.read("r.html");
    assert!(page.contains("steps that repeat forever") && page.contains("from here on forever"));
    assert!(page.contains("<p class=\"propositions\">✓ x != 0</p>") || page.contains("✗ x != 0</p>"));
    let data: Value = serde_json::from_str(between(&page, "id=\"data\">", "</script>")).expect("JSON");
    assert_eq!(data[0]["propositions"][0], "x != 0");
    let holding: Vec<&Value> =
        data[0]["parts"][0]["steps"].as_array().expect("steps").iter().map(|s| &s["holding"][0]).collect();
    assert!(holding.contains(&&Value::Bool(true)) && holding.contains(&&Value::Bool(false)), "{holding:?}");
}

#[test]
fn a_long_run_is_shown_in_parts() {
    let scratch = Scratch::with(
        "int x;\nactive proctype p() { do :: x < 6000 -> x++ :: else -> break od; assert(false) }\n",
    );
    let run = scratch.run(&["check", "m.pml", "--report", "r.html", "-q"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let page = scratch.read("r.html");
    assert!(page.contains("are not shown …"));
    let data: Value = serde_json::from_str(between(&page, "id=\"data\">", "</script>")).expect("JSON");
    assert_eq!(data[0]["parts"].as_array().map(Vec::len), Some(2));
    assert!(page.len() < 4_000_000, "{}", page.len());
}

#[test]
fn a_trail_has_a_page() {
    let (_, scratch) = check(&[]);
    let run = scratch.run(&["replay", "m.pml.trail.json", "--report", "r.html"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let page = scratch.read("r.html");
    assert!(page.contains("Counterexample to <code>safety</code>") && page.contains("id=\"f0-3\""));
}

#[test]
fn a_run_that_shows_that_a_formula_holds_is_no_counterexample() {
    let scratch = Scratch::with("byte x;\nactive proctype p() { do :: x < 4 -> x++ :: x > 0 -> x-- od }\n");
    let formula = ["check", "m.pml", "--property", "ctl:cli", "--ctl", "EF x == 2"];
    let run = scratch.run(&[&formula[..], &["--trail", "w.json", "--report", "r.html"]].concat());
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    scratch.run(&["replay", "w.json", "--report", "s.html"]);
    for page in ["r.html", "s.html"].map(|file| scratch.read(file)) {
        assert!(
            page.contains("A run that shows <code>ctl:cli</code>") && page.contains("id=\"f0-2\""),
            "{page}"
        );
        assert!(page.contains("✓ holds</span>") && !page.contains("✗ violated"), "{page}");
    }
    // From another folder, where the model has another name and is the same.
    let inner = scratch.0.join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let replay =
        |words: &[&str]| common::CommandOutput::of(common::spinor(&inner, words).output().expect("a run"));
    let told = replay(&["replay", "../w.json"]);
    assert!(told.stdout.contains(": ctl:cli holds, shown after 4 steps\n"), "{}", told.stdout);
    assert_eq!(told.stderr, "");
    let other = [&formula[..3], &["mu:cli", "--mu", "nu Z. x == 0 && []Z", "--trail", "v.json"]].concat();
    let run = scratch.run(&other);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let told = replay(&["replay", "../v.json"]);
    assert!(told.stdout.contains(": mu:cli is violated after 2 steps\n"), "{}", told.stdout);
    assert_eq!(told.stderr, "");
}

#[test]
fn a_page_that_cannot_be_written_is_told() {
    for (file, why) in
        [("no/such/r.html", "there is no directory"), ("m.pml", "overwrite"), (".", "directory")]
    {
        let (run, scratch) = check(&["--report", file]);
        assert!(run.status == Some(2) && run.stderr.contains(why), "{file}: {}", run.stderr);
        assert!(!scratch.has("m.pml.trail.json"), "nothing was searched");
    }
    let several = Scratch::with(HOSTILE).run(&["check", "m.pml", "m.pml", "--report", "r.html"]);
    assert!(several.status == Some(2) && several.stderr.contains("names one file"), "{}", several.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_verdict() {
    let (violated, _) = check(&["--report", "/dev/full"]);
    assert!(violated.status == Some(1) && violated.stderr.contains("/dev/full"), "{}", violated.stderr);
    let scratch = Scratch::with("active proctype p() { skip }");
    let holds = scratch.run(&["check", "m.pml", "--report", "/dev/full"]);
    assert!(holds.status == Some(4) && holds.stderr.contains("/dev/full"), "{}", holds.stderr);
}

#[test]
fn markdown_is_a_summary_in_which_the_model_is_text() {
    let (run, _) = check(&["--format", "markdown"]);
    assert_eq!(run.status, Some(1));
    for text in
        ["### ❌ `m.pml`: violated", "| `safety` | violated | no |", "<details><summary>", "```text\n"]
    {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
    let story = between(&run.stdout, "```text\n", "\n```");
    assert!(story.contains("<img src=x onerror=alert(1)>`|*"), "{story}");
    let scratch = Scratch::with("active proctype p() { skip }");
    let holds = scratch.run(&["check", "m.pml", "--format", "markdown"]);
    assert!(holds.status == Some(0) && holds.stdout.contains("### ✅ `m.pml`: holds"), "{}", holds.stdout);
}
