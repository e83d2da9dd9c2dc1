//! Composed models are Promela that real Spin reads, and it comes to the same verdicts. Where there is no Spin,
//! nothing is compared.

use engine::{CheckOptions, Silent, Source, Stop};
use memory::{Known, MemorySystem, Request};
use std::path::Path;
use std::process::Command;

/// Whether an assertion can fail, by Spin; `None` when it cannot say.
fn spin(folder: &Path, text: &str) -> Option<bool> {
    std::fs::create_dir_all(folder).ok()?;
    std::fs::write(folder.join("model.pml"), text).ok()?;
    let run =
        |program: &str, args: &[&str]| Command::new(program).args(args).current_dir(folder).output().ok();
    let made = run("spin", &["-a", "model.pml"])?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
    run("cc", &["-O1", "-w", "-DSAFETY", "-DVECTORSZ=4096", "-o", "pan", "pan.c"])
        .filter(|out| out.status.success())?;
    let out = run("./pan", &["-E", "-m1000000", "-n"])?;
    let out = String::from_utf8_lossy(&out.stdout).into_owned();
    match (out.contains("assertion violated"), out.contains("errors: 0")) {
        (true, _) => Some(true),
        (false, true) if !out.contains("max search depth too small") => Some(false),
        _ => None,
    }
}

#[test]
fn spin_comes_to_the_same_verdicts() {
    if Command::new("spin").arg("-V").output().is_err() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("spinor-memory-{}", std::process::id()));
    let mut compared = 0;
    for (name, rules, litmus) in [
        ("tso", &["rowo2", "po_wr", "fence_wr"][..], &["SB", "n6"][..]),
        ("mesi_lost", &["rowo2"], &["MP"]),
        ("mesi", &["con"], &[]),
        ("atomic", &["sc2", "pos"], &["IRIW"]),
        ("invalidate_directory", &["upo"], &[]),
        ("split_bus_hasty", &["upo"], &["SB"]),
        ("pc", &["causal"], &[]),
        ("pram", &["con"], &["CoRR2"]),
    ] {
        let system = MemorySystem::built_in(name, &Source::default(), &Stop::never()).result.expect(name);
        let words = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let request = Request { rules: words(rules), litmus: words(litmus), ..Request::default() };
        for question in &request.agenda(&system).expect("can be asked").questions {
            let composed = request.compose(&system, question).pop().expect("a model");
            let ours = memory::running::check(
                composed.clone(),
                &CheckOptions::default(),
                &Stop::never(),
                &mut Silent,
            );
            let outcome =
                memory::Outcome { question: question.clone(), checks: vec![ours.result.expect("an answer")] };
            let theirs = spin(&folder, &composed.text).expect("a verdict of Spin");
            assert_eq!(outcome.known() == Known::Violated, theirs, "{} of {name}", question.name());
            compared += 1;
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(compared >= 15, "{compared}");
}
