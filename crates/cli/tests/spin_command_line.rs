//! `spinor spin` does what Spin's command lines ask for; flags of Spin on other commands get a hint, and
//! switches of its verifier are questioned.

mod common;

use common::Scratch;

const MODEL: &str =
    "byte x;\nactive proctype P() { do :: x < 2 -> x++ :: x == 2 -> break od; assert(x < 2) }\n";

#[test]
fn a_line_is_shown_once_and_done() {
    let scratch = Scratch::with(MODEL);
    let run = scratch.run(&["spin", "-run", "-w24", "m.pml"]);
    assert_eq!(run.status, Some(1));
    let mut said = run.stderr.lines();
    assert_eq!(said.next(), Some("spinor check m.pml --property safety"));
    assert!(said.next().unwrap().starts_with("  -w24: no effect, tables grow"), "{}", run.stderr);
    assert_eq!(run.stderr.matches("spinor check").count(), 1);
    assert!(run.stdout.contains("assertion violated: x < 2"));
    let replay = scratch.run(&["spin", "-t", "-p", "m.pml"]);
    assert!(replay.status == Some(0) && replay.stderr.starts_with("spinor replay m.pml.trail.json\n"));
    assert!(replay.stdout.contains("safety is violated after 6 steps"), "{}", replay.stdout);
    let simulated = scratch.run(&["spin", "-n5", "-u3", "m.pml"]);
    assert!(simulated.stderr.starts_with("spinor simulate m.pml --seed 5 --steps 3\n"));
    assert_eq!(scratch.run(&["spin", "-run", "-A", "m.pml"]).status, Some(0));
    assert_eq!(scratch.run(&["spin", "-run", "-o9", "m.pml"]).status, Some(2));
}

#[test]
fn a_claim_in_a_file_is_read_with_the_model() {
    let scratch =
        Scratch::with("byte x;\nactive proctype P() { do :: x < 2 -> x++ :: x == 2 -> x = 0 od }\n");
    scratch.write("claim.pml", "never { do :: x == 2 -> break :: true od }\n");
    let run = scratch.run(&["spin", "-N", "claim.pml", "-run", "-a", "m.pml"]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("spinor check m.pml --property runtime --property never --claim claim.pml\n")
    );
    // The trail knows the claim.
    let replay = scratch.run(&["replay", "m.pml.trail.json"]);
    assert_eq!((replay.status, replay.stderr.as_str()), (Some(0), ""));
    let missing = scratch.run(&["check", "m.pml", "--claim", "none.pml"]);
    assert!(missing.status == Some(2) && missing.stderr.contains("none.pml"), "{}", missing.stderr);
}

#[test]
fn flags_of_spin_get_a_hint() {
    let scratch = Scratch::with(MODEL);
    for (words, hint) in [
        (&["check", "-a", "m.pml"][..], "--property accept"),
        (&["check", "-run", "m.pml"], "spinor check MODEL"),
        (&["check", "m.pml", "-m100"], "--max-depth"),
        (&["check", "-noreduce", "m.pml"], "--por none"),
        (&["simulate", "-p", "m.pml"], "a run tells every statement"),
        (&["-run", "-a", "m.pml"], "spinor spin"),
    ] {
        let run = scratch.run(words);
        assert_eq!(run.status, Some(2), "{words:?}");
        assert!(run.stderr.contains("E0901") && run.stderr.contains(hint), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains("flag of Spin"), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn switches_of_the_verifier_are_questioned() {
    let scratch = Scratch::with(MODEL);
    let said = |words: &[&str]| scratch.run(&[&["check", "m.pml"], words].concat()).stderr;
    let said_of = said(&["-DNOREDUCE"]);
    assert!(said_of.contains("W0709") && said_of.contains("--por none"), "{said_of}");
    assert!(!said(&["-DN=3"]).contains("W0709"));
    // A model may use the name.
    scratch.write("m.pml", &format!("#ifdef SAFETY\n{MODEL}#endif\n"));
    assert!(!said(&["-DSAFETY"]).contains("W0709"));
}
