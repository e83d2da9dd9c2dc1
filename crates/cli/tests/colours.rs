//! Colours: on a terminal only, unless the command line or the environment decides.

mod common;

use common::{CommandOutput, Scratch};

const MODEL: &str = "active proctype p() { assert(false) }";

fn stdout(scratch: &Scratch, words: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = scratch.command(&[&["check", "m.pml"], words].concat());
    command.envs(environment.iter().copied());
    CommandOutput::of(command.output().unwrap()).stdout
}

#[test]
fn a_pipe_gets_none_unless_they_are_asked_for() {
    let scratch = Scratch::with(MODEL);
    let plain = stdout(&scratch, &["-q"], &[]);
    assert!(plain.contains("violated") && !plain.contains('\x1b'), "{plain}");
    for (words, environment) in [
        (&["-q", "--color", "always"][..], &[][..]),
        (&["-q", "--color=always"], &[("NO_COLOR", "1")]),
        (&["-q"], &[("CLICOLOR_FORCE", "1")]),
    ] {
        let coloured = stdout(&scratch, words, environment);
        assert!(coloured.contains("\x1b[31mviolated\x1b[0m"), "{coloured}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
    }
}

#[test]
fn the_environment_and_the_command_line_can_forbid_them() {
    let scratch = Scratch::with(MODEL);
    for (words, environment) in [
        (&["--color", "never"][..], &[("CLICOLOR_FORCE", "1")][..]),
        (&[], &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]),
    ] {
        let text = stdout(&scratch, words, environment);
        assert!(!text.contains('\x1b'), "{text}");
    }
}

#[test]
fn machines_get_none() {
    let scratch = Scratch::with(MODEL);
    let json = stdout(&scratch, &["--format", "json", "--color", "always"], &[]);
    assert!(!json.contains('\x1b'), "{json}");
}

#[test]
fn what_is_wrong_with_the_command_line_follows_the_same_rules() {
    let scratch = Scratch::new();
    let stderr = |words: &[&str]| CommandOutput::of(scratch.command(words).output().unwrap()).stderr;
    assert!(!stderr(&["check", "--no-such"]).contains('\x1b'));
    assert!(stderr(&["check", "--no-such", "--color", "always"]).contains('\x1b'));
    assert!(!stderr(&["check", "--no-such", "--color", "never"]).contains('\x1b'));
    let wrong = scratch.run(&["check", "m.pml", "--color", "red"]);
    assert_eq!(wrong.status, Some(2));
}
