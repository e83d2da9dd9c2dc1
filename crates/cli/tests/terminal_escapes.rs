//! What a model, a file name, a trail or an option contains must not steer the terminal of whoever looks at
//! the output.
#![cfg(unix)]

mod common;

use common::{CommandOutput, Scratch};
use serde_json::Value;

/// Clears the screen, sets the title, colours, a C1 control, a bell, a change of direction, and what stands
/// for our own styles.
const EVIL: &str = "\x1b[2J\x1b]0;t\x07\x1b[31m\u{9b}1m\u{202e}\u{fdef}[32m\u{fdef}[2J";

/// A name of a file with all of that but our own mark, which no name that is given contains.
fn evil_name() -> String {
    format!("m{}\nm.pml: holds.pml", EVIL.replace('\u{fdef}', ""))
}

/// Everything but ends of lines, tabulators and, where they are asked for, styles of our own.
fn assert_harmless(what: &str, text: &str, coloured: bool) {
    let text = if coloured { without_own_styles(text) } else { text.to_string() };
    let steers = |c: char| (c.is_control() && !"\n\t".contains(c)) || matches!(c, '\u{202e}' | '\u{fdef}');
    if let Some(at) = text.find(steers) {
        panic!("{what}: {:?} in {text:?}", &text[at..text.len().min(at + 12)]);
    }
}

/// The styles that the tool writes, and no others: none of them is red on its own.
fn without_own_styles(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let style = &rest[at + 2..];
        let end = style.find(|c: char| !(c.is_ascii_digit() || c == ';')).unwrap_or(style.len());
        match style[end..].starts_with('m') {
            true => rest = &style[end + 1..],
            false => {
                out.push('\x1b');
                rest = &style[end..];
            }
        }
    }
    out + rest
}

/// Runs a command plain and coloured; nothing of either may steer a terminal.
fn harmless(scratch: &Scratch, words: &[&str]) -> CommandOutput {
    let coloured = scratch.run(&[words, &["--color", "always"]].concat());
    for (what, text) in [("stdout", &coloured.stdout), ("stderr", &coloured.stderr)] {
        assert_harmless(&format!("{words:?} {what}"), text, true);
        // What the data colours would be seen where we use no colour at all.
        assert!(!text.contains("\x1b[31m\u{9b}") && !text.contains("\x1b[31m�"), "{words:?}: {text:?}");
    }
    let plain = scratch.run(words);
    for (what, text) in [("stdout", &plain.stdout), ("stderr", &plain.stderr)] {
        assert_harmless(&format!("{words:?} {what}"), text, false);
    }
    plain
}

fn model() -> String {
    format!(
        "byte x; /* {EVIL} */\n\
         active proctype p() {{ printf(\"say {EVIL}\\n\"); x = 1 /* {EVIL} */; assert(x == 0) /* {EVIL} */ }}\n\
         active proctype q() {{ x == 7 -> skip /* {EVIL} */ }}\n"
    )
}

#[test]
fn models_with_control_characters() {
    let scratch = Scratch::with(&model());
    assert_eq!(harmless(&scratch, &["check", "m.pml"]).status, Some(1));
    harmless(&scratch, &["check", "m.pml", "--all-errors", "-q"]);
    harmless(&scratch, &["simulate", "m.pml", "--seed", "1"]);
    harmless(&scratch, &["parse", "m.pml"]);
    harmless(&scratch, &["parse", "m.pml", "--format", "ir"]);
    harmless(&scratch, &["facts", "m.pml"]);
    for format in ["text", "msc"] {
        assert_eq!(harmless(&scratch, &["replay", "m.pml.trail.json", "--format", format]).status, Some(0));
    }
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json", "--msc", "c.txt"]).status, Some(0));
    assert_harmless("c.txt", &scratch.read("c.txt"), false);
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json", "--msc", "c.svg"]).status, Some(0));
    roxmltree::Document::parse(&scratch.read("c.svg")).unwrap();
    assert_harmless("c.svg", &scratch.read("c.svg"), false);
    let wrong = Scratch::with(&format!("active proctype p() {{ y = 1 /* {EVIL} */ ; {EVIL} \"{EVIL} }}"));
    assert_eq!(harmless(&wrong, &["check", "m.pml"]).status, Some(2));
}

#[test]
fn files_with_hostile_names() {
    let (scratch, name) = (Scratch::new(), evil_name());
    scratch.write(&name, &model());
    let run = harmless(&scratch, &["check", &name]);
    assert_eq!(run.status, Some(1));
    assert!(!run.stdout.contains("\nm.pml: holds"), "a name is one line: {}", run.stdout);
    harmless(&scratch, &["simulate", &name]);
    harmless(&scratch, &["test", "."]);
    let trail = format!("{name}.trail.json");
    harmless(&scratch, &["replay", &trail]);
    harmless(&scratch, &["check", &format!("no{name}")]);
    let line = Scratch::with(&format!("#line 5 \"{EVIL}\"\nactive proctype p() {{ assert(false); y = 1 }}"));
    harmless(&line, &["check", "m.pml"]);
    line.write("n.pml", &format!("#line 5 \"{EVIL}\"\nactive proctype p() {{ assert(false) }}"));
    harmless(&line, &["check", "n.pml"]);
    let include = Scratch::with(&format!("#include \"{EVIL}\"\ninit {{ skip }}"));
    harmless(&include, &["check", "m.pml"]);
}

#[test]
fn options_with_control_characters() {
    let scratch = Scratch::with("byte x; init { x = 1 }");
    for words in [
        &["--ltl", EVIL][..],
        &["-D", EVIL],
        &["-DX=\x1b[2J", "--property", "safety"],
        &["--property", EVIL],
        &["--search", EVIL],
        &["--trail", EVIL],
        &["--dialect", EVIL],
        &["--max-memory", EVIL],
        &["--timeout", EVIL],
        &[&*format!("--{EVIL}")],
        &["--format", EVIL],
        &["other", EVIL],
    ] {
        harmless(&scratch, &[&["check", "m.pml"], words].concat());
    }
    harmless(&scratch, &[EVIL]);
    harmless(&scratch, &["explain", EVIL]);
    harmless(&scratch, &["ltl", EVIL]);
    harmless(&scratch, &["man", EVIL]);
    harmless(&scratch, &["replay", EVIL]);
}

#[test]
fn trails_with_control_characters() {
    let scratch = Scratch::with(&model());
    assert_eq!(scratch.run(&["check", "m.pml"]).status, Some(1));
    let mut trail: Value = serde_json::from_str(&scratch.read("m.pml.trail.json")).unwrap();
    trail["violation"]["message"] = Value::from(EVIL);
    trail["violation"]["process"] = Value::from(EVIL);
    trail["violation"]["file"] = Value::from(EVIL);
    scratch.write("t.json", &trail.to_string());
    harmless(&scratch, &["replay", "t.json"]);
    trail["property"] = Value::from(EVIL);
    scratch.write("t.json", &trail.to_string());
    harmless(&scratch, &["replay", "t.json"]);
    trail["model"] = Value::from(EVIL);
    trail["model_absolute"] = Value::from(EVIL);
    scratch.write("t.json", &trail.to_string());
    harmless(&scratch, &["replay", "t.json"]);
    scratch.write("t.json", &format!("{{\"{EVIL}\": 1"));
    harmless(&scratch, &["replay", "t.json"]);
}

#[test]
fn what_machines_read_stays_what_it_is() {
    let (scratch, name) = (Scratch::new(), evil_name());
    scratch.write(&name, &model());
    let run = scratch.run(&["check", &name, "--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["model"], Value::from(name.as_str()));
    assert_harmless("json", &run.stdout, false);
    let wrong = Scratch::with(&format!("#include \"{EVIL}\""));
    let run = wrong.run(&["check", "m.pml", "--format", "json"]);
    for line in run.stderr.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    assert_harmless("json", &run.stderr, false);
    scratch.write("t.pml", &format!("//@ expect: verdict=holds\n{}", model()));
    let junit = scratch.run(&["test", ".", "--format", "junit"]);
    roxmltree::Document::parse(&junit.stdout).unwrap();
    assert_harmless("junit", &junit.stdout, false);
    let sarif = scratch.run(&["test", ".", "--format", "sarif"]);
    serde_json::from_str::<Value>(&sarif.stdout).unwrap();
}

#[test]
fn a_formula_is_a_formula_and_nothing_else() {
    let scratch = Scratch::with("#define CLOSE }\nbyte x; init { x = 1 }");
    for formula in [
        "true } active proctype E() { assert(false) ",
        "true CLOSE active proctype E() { assert(false) ",
        "true } ltl more { false",
        "true }",
        "{ true }",
        "true\n#define y 1\n",
        "true\n#include \"other.pml\"\n",
        "true /*",
        "",
    ] {
        let run = scratch.run(&["check", "m.pml", "--ltl", formula]);
        assert_eq!(run.status, Some(2), "{formula}: {}{}", run.stdout, run.stderr);
    }
    let run = scratch.run(&["check", "m.pml", "--ltl", "true } active proctype E() { assert(false) "]);
    assert!(run.stderr.contains("a formula has no braces"), "{}", run.stderr);
    for formula in ["[] (x < 2) // always", "[] (x < 2)\n&& <> (x == 1)", "[] /* } */ (x < 2)"] {
        let run = scratch.run(&["check", "m.pml", "--ltl", formula]);
        assert_eq!(run.status, Some(0), "{formula}: {}{}", run.stdout, run.stderr);
    }
    let missing = scratch.run(&["check", "no.pml", "--ltl", "true"]);
    assert!(missing.stderr.contains("cannot read `no.pml`: no such file"), "{}", missing.stderr);
}

#[test]
fn a_definition_is_one_definition() {
    let scratch = Scratch::with("byte x; init { x = N }");
    for define in ["N=1\nactive", "N=1 \\", "A B=3", "=3", "3", "", "N\n=1"] {
        let run = scratch.run(&["check", "m.pml", &format!("-D{define}"), "-DN=1"]);
        assert_eq!(run.status, Some(2), "{define:?}: {}", run.stdout);
    }
    for define in ["N=1", "N=(1 + 1)", "F(a)=a"] {
        let run = scratch.run(&["check", "m.pml", "-DN=1", &format!("-D{define}")]);
        assert_eq!(run.status, Some(0), "{define:?}: {}", run.stderr);
    }
}
