//! Completions and manual pages know every command and every option.

mod common;

use common::Scratch;

/// Long options of `check` that are promised.
const OPTIONS: [&str; 26] = [
    "property",
    "ltl",
    "fair",
    "search",
    "por",
    "proviso",
    "sleep",
    "save",
    "state-cache",
    "opt",
    "store",
    "threads",
    "handoff",
    "all-errors",
    "max-depth",
    "max-states",
    "max-memory",
    "timeout",
    "seed",
    "trail",
    "exec",
    "format",
    "progress",
    "quiet",
    "dialect",
    "color",
];
const COMMANDS: [&str; 9] =
    ["spin", "check", "replay", "simulate", "parse", "ltl", "explain", "completions", "man"];

fn stdout(words: &[&str]) -> String {
    let run = Scratch::new().run(words);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{words:?}");
    run.stdout
}

#[test]
fn completions_offer_every_option_and_its_values() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&["completions", shell]);
        for name in OPTIONS {
            let mark = if shell == "fish" { format!("-l {name}") } else { format!("--{name}") };
            assert!(script.contains(&mark), "{shell}: {name}");
        }
        for name in COMMANDS {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    let bash = stdout(&["completions", "bash"]);
    for values in [
        "auto frontier dfs bfs",
        "table tree cleary collapse automaton hc bitstate",
        "none ample stubborn twophase",
        "weak strong",
    ] {
        assert!(bash.contains(values), "{values}");
    }
}

#[test]
fn a_bash_script_is_understood_by_bash() {
    let scratch = Scratch::new();
    scratch.write("spinor.bash", &stdout(&["completions", "bash"]));
    let checked = std::process::Command::new("bash").arg("-n").arg(scratch.0.join("spinor.bash")).status();
    assert!(checked.map_or(true, |status| status.success()), "where there is a bash");
}

#[test]
fn manual_pages_list_options_statuses_and_examples() {
    let page = stdout(&["man", "check"]).replace("\\-", "-");
    for name in OPTIONS {
        assert!(page.contains(&format!("--{name}")), "{name}");
    }
    for section in [
        ".TH spinor-check 1",
        ".SH NAME",
        ".SH SYNOPSIS",
        ".SH OPTIONS",
        ".SH \"EXIT STATUS\"",
        ".SH EXAMPLES",
    ] {
        assert!(page.contains(section), "{section}\n{page}");
    }
    for status in ["0", "1", "2", "3", "4", "130"] {
        assert!(page.contains(&format!("\\fB{status}\\fR\n")), "{status}");
    }
    let main = stdout(&["man"]).replace("\\-", "-");
    for name in COMMANDS {
        assert!(main.contains(&format!("spinor-{name}(1)")), "{name}\n{main}");
    }
}

#[test]
fn all_pages_go_to_a_folder() {
    let scratch = Scratch::new();
    let run = scratch.run(&["man", "--out", "pages/man1"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    for name in COMMANDS {
        assert!(scratch.read(&format!("pages/man1/spinor-{name}.1")).contains(".SH NAME"), "{name}");
    }
    assert!(scratch.has("pages/man1/spinor.1") && !scratch.has("pages/man1/spinor-help.1"));
    assert_eq!(run.stdout.lines().count(), std::fs::read_dir(scratch.0.join("pages/man1")).unwrap().count());
    scratch.write("file", "");
    // A file is no folder: the command line is wrong.
    assert_eq!(scratch.run(&["man", "--out", "file"]).status, Some(2));
    assert_eq!(scratch.run(&["man", "no-such"]).status, Some(2));
    assert_eq!(scratch.run(&["completions", "no-such"]).status, Some(2));
}
