//! The table of options reaches the user everywhere: help, completions and manual pages have every row, and
//! what the command-line contract promises is in the table.

mod common;

use common::Scratch;
use engine::options::{Group, OptionSpec, Scope, TABLE};

fn stdout(words: &[&str]) -> String {
    let run = Scratch::new().run(words);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{words:?}");
    run.stdout
}

/// What is shown to users.
fn shown() -> impl Iterator<Item = &'static OptionSpec> {
    TABLE.iter().filter(|spec| spec.group != Group::Hidden)
}

/// A text on one line, because help texts are wrapped.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn help_has_every_option_with_its_text() {
    let (short, long) = (stdout(&["check", "-h"]), unwrapped(&stdout(&["check", "--help"])));
    let test = unwrapped(&stdout(&["test", "--help"]));
    for spec in shown() {
        let name = format!(" --{}", spec.name);
        let value =
            if spec.placeholder.is_empty() { String::new() } else { format!("<{}>", spec.placeholder) };
        let line = unwrapped(&format!("{name} {value} {}", spec.help()));
        assert!(long.contains(&line), "{line}");
        let takes = |text: &str| text.contains(&format!("{name} "));
        let in_short = short.lines().any(|line| takes(&format!("{line} ")));
        assert_eq!(in_short, spec.group == Group::Common, "-h: {name}");
        assert_eq!(test.contains(&line), spec.scope == Scope::Exploration, "test --help: {name}");
    }
    for spec in TABLE.iter().filter(|spec| spec.group == Group::Hidden) {
        assert!(!long.contains(&format!("--{} ", spec.name)), "{}", spec.name);
    }
}

#[test]
fn completions_offer_every_option() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&["completions", shell]);
        for spec in shown() {
            let mark = match shell {
                "fish" => format!("-l {}", spec.name),
                _ => format!("--{}", spec.name),
            };
            assert!(script.contains(&mark), "{shell}: {mark}");
        }
    }
    let bash = stdout(&["completions", "bash"]);
    for words in shown().map(OptionSpec::words).filter(|words| !words.is_empty()) {
        assert!(bash.contains(&format!("\"{}\"", words.join(" "))), "{words:?}");
    }
}

#[test]
fn manual_pages_describe_every_option() {
    let page =
        unwrapped(&stdout(&["man", "check"]).replace("\\-", "-").replace("\\fR", "").replace("\\fB", ""));
    for spec in shown() {
        assert!(page.contains(&format!("--{}", spec.name)), "{}", spec.name);
        assert!(page.contains(spec.help()), "{}\n{page}", spec.help());
        let values = spec.words().join(" .IP \\(bu 2 ");
        assert!(page.contains(&values), "{values}\n{page}");
    }
}

/// The options of the command-line contract, with the values that it promises.
const CONTRACT: &[(&str, &[&str])] = &[
    ("property", &[]),
    ("ltl", &[]),
    ("fair", &["weak", "strong"]),
    ("search", &["auto", "dfs", "bfs", "ndfs", "scc", "cndfs", "ndfs-dual", "handoff"]),
    ("por", &["none", "ample", "twophase", "stubborn"]),
    ("proviso", &["stack", "closed-set", "color", "static"]),
    ("sleep", &[]),
    ("save", &["all", "backedge", "backedge-down", "none"]),
    ("state-cache", &[]),
    ("opt", &["none", "deadvars", "merge", "fold"]),
    ("store", &["table", "tree", "cleary", "collapse", "hc", "bitstate"]),
    ("threads", &[]),
    ("handoff", &[]),
    ("all-errors", &[]),
    ("max-depth", &[]),
    ("max-states", &[]),
    ("max-memory", &[]),
    ("timeout", &[]),
    ("seed", &[]),
    ("trail", &[]),
    ("exec", &["jit", "interp"]),
];

#[test]
fn what_the_contract_promises_is_in_the_table() {
    for (name, values) in CONTRACT {
        let spec = OptionSpec::of_name(name).unwrap();
        let words = spec.words();
        assert!(values.iter().all(|value| words.contains(value)), "--{name}: {words:?}");
        assert_eq!(spec.words().is_empty(), values.is_empty(), "--{name}");
    }
}

#[test]
fn an_unknown_value_is_answered_with_the_nearest() {
    let scratch = Scratch::with("byte x; init { x = 1 }");
    let run = scratch.run(&["check", "m.pml", "--store", "bit"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("unknown store `bit`"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `bitstate`?"), "{}", run.stderr);
    let run = scratch.run(&["test", ".", "--store", "bit"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("did you mean `bitstate`?"), "{}", run.stderr);
}
