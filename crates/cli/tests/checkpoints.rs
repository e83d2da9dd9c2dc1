//! `--checkpoint`, `--resume` and `spinor checkpoint`: searches that are killed at random moments, stopped by
//! budgets and signals, or find the disk full, and go on to the same answer; checkpoints that were cut off,
//! altered, or written by another check are refused. `SPINOR_KILLS=N` kills N times (tests/faults/kills).

mod common;

use common::{CommandOutput, Scratch};
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Some 250,000 states; two statements that are never executed.
const HOLDS: &str = "
byte a[4];
active [4] proctype p() {
    byte x;
    do
    :: x < 2 -> x++
    :: a[_pid] < 3 -> a[_pid]++
    :: x > 0 -> x--
    :: a[_pid] == 3 && x == 2 -> a[_pid] = 0
    :: a[0] > 100 -> x = 9
    od
}
";

/// As many, and many of them are wrong.
const WRONG: &str = "
byte a[3];
active [3] proctype p() {
    byte x;
    do
    :: x < 2 -> x++
    :: a[_pid] < 5 -> a[_pid]++; assert(a[0] + a[1] + a[2] < 15)
    :: x > 0 -> x--
    :: a[_pid] == 5 && x == 2 -> a[_pid] = 0
    od
}
";

/// Processes that have little to do with each other: a reduction pays.
const REDUCED: &str = "
chan q[4] = [2] of { byte };
byte n;
active [4] proctype p() {
    byte x, i;
    do
    :: i < 5 -> q[_pid]!i; q[_pid]?x; x = 0; i++
    :: else -> break
    od;
    n++;
    assert(n <= 4)
}
";

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What an interruption must not change.
fn answer(report: &Value) -> Vec<Value> {
    let property = &report["properties"][0];
    let keys =
        ["verdict", "errors", "exhaustive", "states", "transitions", "matched", "reduced", "unreached"];
    let mut answer: Vec<Value> = keys.iter().map(|&key| property[key].clone()).collect();
    answer.push(property["violations"].as_array().map_or(0, Vec::len).into());
    answer
}

/// What a process has printed, when it has ended.
fn ended(child: Child) -> CommandOutput {
    CommandOutput::of(child.wait_with_output().unwrap())
}

const WAYS: [[&str; 4]; 6] = [
    ["--threads", "1", "--store", "table"],
    ["--threads", "2", "--store", "table"],
    ["--threads", "1", "--store", "cleary"],
    ["--threads", "3", "--store", "tree"],
    ["--threads", "2", "--store", "collapse"],
    ["--threads", "1", "--store", "automaton"],
];

/// Kills a check so many times, each time in another configuration, and lets it come to its end.
fn killed(scratch: &Scratch, words: &[&str], kills: u64, random: &mut Random) -> (u64, Value) {
    let (mut done, mut resumed, mut runs) = (0, 0, 0);
    loop {
        runs += 1;
        let mut all = vec!["check", "m.pml", "--format", "json", "--checkpoint", "c", "--checkpoint-every"];
        // The automaton is slow: not for the last, which nobody stops.
        let ways = if done < kills { WAYS.len() } else { WAYS.len() - 1 };
        all.push("0.01");
        all.extend(WAYS[random.below(ways as u64) as usize]);
        all.extend(words);
        if scratch.has("c") {
            all.extend(["--resume", "c"]);
            resumed += 1;
        }
        let mut command = scratch.command(&all);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if done < kills {
            std::thread::sleep(Duration::from_millis(20 + random.below(400)));
            if child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                done += 1;
                continue;
            }
        }
        let run = ended(child);
        let report: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("{words:?}: {:?} {}", run.status, run.stderr));
        assert!(!scratch.has("c") && !scratch.has("c.new"), "what is over leaves no checkpoint");
        // Some are over before they can be killed.
        if done >= kills || runs > 3 * kills {
            return (resumed, report);
        }
    }
}

#[test]
fn killed_searches_go_on_to_the_same_answer() {
    let kills: u64 = std::env::var("SPINOR_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let checks: [(&str, &[&str]); 5] = [
        (HOLDS, &["--por", "none"]),
        (HOLDS, &[]),
        (HOLDS, &["--por", "none", "--edges", "all", "--exec", "interp"]),
        (WRONG, &["--por", "none", "--all-errors", "--trail", "t"]),
        (REDUCED, &["--por", "none", "--all-errors", "--seed", "7"]),
    ];
    let (mut random, mut resumed) = (Random(kills), 0);
    for (model, words) in checks {
        let scratch = Scratch::with(model);
        let (_, undisturbed) = scratch.check(&[words, &["--threads", "1"]].concat());
        assert!(undisturbed["properties"][0]["exhaustive"] == true, "{undisturbed}");
        let (again, report) = killed(&scratch, words, kills.div_ceil(checks.len() as u64), &mut random);
        assert_eq!(answer(&report), answer(&undisturbed), "{words:?}");
        resumed += again;
    }
    assert!(resumed > kills / 3, "{resumed} of {kills}");
}

/// Reductions follow other steps where others were met before: the verdict is the same.
#[test]
fn a_reduced_search_goes_on_to_the_same_verdict() {
    let mut random = Random(3);
    for words in [&[][..], &["--por", "stubborn"], &["--por", "ample"]] {
        let scratch = Scratch::with(REDUCED);
        let (_, report) = killed(&scratch, words, 2, &mut random);
        assert_eq!(report["verdict"], "holds", "{words:?}");
    }
    let wrong = REDUCED.replace("n <= 4", "n < 4");
    let scratch = Scratch::with(&wrong);
    let (_, report) = killed(&scratch, &["--por", "stubborn"], 2, &mut random);
    assert_eq!(report["verdict"], "violated");
    assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0));
}

/// A check that a budget stops after so many states, with a checkpoint.
fn stopped(scratch: &Scratch, states: &str, words: &[&str]) -> CommandOutput {
    let budget = ["check", "m.pml", "--por", "none", "--checkpoint", "c", "--max-states", states];
    let run = scratch.run(&[&budget, words].concat());
    assert_eq!(run.status, Some(3), "{}", run.stderr);
    run
}

#[test]
fn budgets_offer_to_go_on() {
    let scratch = Scratch::with(HOLDS);
    let (_, undisturbed) = scratch.check(&["--por", "none"]);
    let states = undisturbed["properties"][0]["states"].as_u64().unwrap();
    for (first, then) in [("1", "1"), ("1", "2"), ("2", "1"), ("2", "3")] {
        let run = stopped(&scratch, "20000", &["--threads", first]);
        let offered = "spinor check m.pml --threads";
        let offer = run.stdout.lines().find(|line| line.contains("--resume c") && line.contains(offered));
        assert!(run.stdout.contains("resume with the 2") && offer.is_some(), "{}", run.stdout);
        let told = scratch.run(&["checkpoint", "c", "--format", "json"]);
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        assert!(
            told["states"].as_u64().unwrap() >= 20_000 && told["waiting"].as_u64().unwrap() > 0,
            "{told}"
        );
        assert_eq!((&told["property"], &told["errors"]), (&"safety".into(), &0.into()));
        let text = scratch.run(&["checkpoint", "c"]);
        assert!(
            text.stdout.starts_with("c is a search for safety in m.pml, which can go on"),
            "{}",
            text.stdout
        );
        // A budget again, into another file; then to the end, with nothing written.
        let more = ["--por", "none", "--resume", "c", "--checkpoint", "d", "--max-states", "60000"];
        let (run, report) = scratch.check(&[&more[..], &["--threads", then]].concat());
        assert_eq!((run.status, &report["checkpoint"]["file"]), (Some(3), &"d".into()));
        assert_eq!(report["resumed"]["states"], told["states"]);
        assert!(report["resumed"]["seconds"].as_f64().unwrap() > 0.0);
        let (run, report) = scratch.check(&["--por", "none", "--resume", "d", "--threads", first]);
        assert_eq!((run.status, answer(&report)), (Some(0), answer(&undisturbed)));
        assert_eq!(report["properties"][0]["states"], states);
        assert!(scratch.has("d"), "without --checkpoint nothing is removed");
        assert!(report["pauses"].is_null(), "nothing was written");
        ["c", "d"].iter().for_each(|name| std::fs::remove_file(scratch.0.join(name)).unwrap());
    }
}

/// What somebody waited hours for is not replaced because an option was forgotten.
#[test]
fn nothing_is_replaced_that_was_not_resumed() {
    let scratch = Scratch::with(HOLDS);
    stopped(&scratch, "3000", &["--threads", "1"]);
    let bytes = std::fs::read(scratch.0.join("c")).unwrap();
    let refused = |words: &[&str], why: &str| {
        let run = scratch.run(&[&["check", "m.pml", "--por", "none", "--checkpoint"], words].concat());
        assert_eq!(run.status, Some(2), "{words:?} {}", run.stdout);
        assert!(run.stderr.contains(why), "{words:?} {}", run.stderr);
    };
    let known = "would replace what is there: a search for safety in m.pml, with 3,000 states after ";
    refused(&["c"], known);
    refused(&["./c", "--threads", "2"], "add --resume ./c to go on from it, or remove it to begin anew");
    std::fs::copy(scratch.0.join("c"), scratch.0.join("d")).unwrap();
    refused(&["d", "--resume", "c"], "--checkpoint d would replace what is there");
    scratch.write("notes", "mine");
    refused(&["notes"], "it is no checkpoint from which a search can go on");
    assert_eq!(
        (std::fs::read(scratch.0.join("c")).unwrap(), scratch.read("notes").as_str()),
        (bytes, "mine")
    );
    let (run, report) = scratch.check(&["--por", "none", "--checkpoint", "./c", "--resume", "c"]);
    assert_eq!((run.status, scratch.has("c")), (Some(0), false), "what is resumed is replaced, and goes");
    assert!(report["pauses"]["longest"].as_f64().is_some(), "{report}");
}

#[test]
fn a_checkpoint_that_is_cut_off_or_altered_is_refused() {
    let scratch = Scratch::with(HOLDS);
    stopped(&scratch, "3000", &["--threads", "2"]);
    let whole = std::fs::read(scratch.0.join("c")).unwrap();
    let resume = |bytes: &[u8]| {
        std::fs::write(scratch.0.join("d"), bytes).unwrap();
        scratch.run(&["check", "m.pml", "--por", "none", "--resume", "d"])
    };
    let mut random = Random(11);
    let n: u64 = std::env::var("SPINOR_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    for _ in 0..n {
        let at = random.below(whole.len() as u64) as usize;
        let run = resume(&whole[..at]);
        assert_eq!(run.status, Some(2), "cut off at {at}");
        assert!(run.stderr.contains("d cannot be resumed"), "{}", run.stderr);
        let mut altered = whole.clone();
        altered[at] ^= 1 << random.below(8);
        assert_eq!(resume(&altered).status, Some(2), "altered at {at}");
    }
    assert_eq!(resume(b"something else").status, Some(2));
    assert_eq!(resume(&whole).status, Some(0), "the last one is whole");
    let other = scratch.run(&["checkpoint", "m.pml"]);
    assert_eq!(other.status, Some(2));
}

#[test]
fn the_checkpoint_of_another_check_is_refused() {
    let scratch = Scratch::with(HOLDS);
    stopped(&scratch, "3000", &[]);
    let refused = |words: &[&str], why: &str| {
        let run = scratch.run(&[&["check"], words, &["--resume", "c"]].concat());
        assert_eq!(run.status, Some(2), "{words:?}");
        assert!(run.stderr.contains(why), "{words:?}: {}", run.stderr);
    };
    refused(&["m.pml"], "it was written with --por none, and this check is without --por");
    refused(&["m.pml", "--por", "stubborn"], "and this check is with --por stubborn");
    refused(&["m.pml", "--por", "none", "--all-errors"], "without --all-errors");
    refused(&["m.pml", "--por", "none", "--property", "assertion"], "about the property safety");
    scratch.write("o.pml", &HOLDS.replace("x < 2", "x < 3"));
    refused(&["o.pml", "--por", "none"], "it is about another program (m.pml)");
    refused(&["m.pml", "--por", "none", "--search", "bfs"], "cannot be continued yet");
    refused(
        &["m.pml", "--por", "none", "--ltl", "<> (a[0] == 4)"],
        "the search for ltl:cli cannot be continued",
    );
    scratch.write("n.pml", &format!("// Words that are none of the program's.\n{HOLDS}"));
    let other = scratch.run(&["check", "n.pml", "--por", "none", "--resume", "c"]);
    assert_eq!(other.status, Some(0), "{}", other.stderr);
    let itself = scratch.run(&["check", "m.pml", "--checkpoint", "m.pml"]);
    assert_eq!((itself.status, scratch.read("m.pml").as_str()), (Some(2), HOLDS));
    assert_eq!(scratch.run(&["check", "m.pml", "--checkpoint", "no/c"]).status, Some(2));
    assert_eq!(scratch.run(&["check", "m.pml", "--resume", "nothing"]).status, Some(2));
}

/// Files have a limit: like a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let scratch = Scratch::with(HOLDS);
    let (_, undisturbed) = scratch.check(&["--por", "none"]);
    let limited = |words: &str| {
        let spinor = env!("CARGO_BIN_EXE_spinor");
        let text = format!(
            "ulimit -f 1000; exec {spinor} check m.pml --por none --format json --checkpoint c {words}"
        );
        let run = std::process::Command::new("sh").args(["-c", &text]).current_dir(&scratch.0).output();
        CommandOutput::of(run.unwrap())
    };
    for threads in ["--threads 1", "--threads 2"] {
        let run = limited(&format!("{threads} --checkpoint-every 0.01"));
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.status, answer(&report)), (Some(0), answer(&undisturbed)), "{threads}");
        assert!(run.stderr.contains("W0711"), "{}", run.stderr);
        assert!(!scratch.has("c"));
        // What was written before there was no room is good.
        let run = limited(&format!("{threads} --checkpoint-every 0.005 --max-states 200000"));
        assert_eq!(run.status, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains("W0711") && scratch.has("c"), "{}", run.stderr);
        let (run, report) = scratch.check(&["--por", "none", "--resume", "c", "--checkpoint", "c"]);
        assert_eq!((run.status, answer(&report)), (Some(0), answer(&undisturbed)), "{threads}");
    }
}

/// Ctrl-C is no loss.
#[cfg(unix)]
#[test]
fn a_signal_leaves_a_checkpoint() {
    let scratch = Scratch::with(HOLDS);
    let (_, undisturbed) = scratch.check(&["--por", "none"]);
    // Nothing is written down before the samples are over that decide about edges.
    let how = ["--por", "none", "--exec", "interp", "--edges", "all", "--checkpoint", "c"];
    let often = ["--checkpoint-every", "0.01"];
    let words = [&["check", "m.pml"], &how[..], &often].concat();
    let mut command = scratch.command(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !scratch.has("c") && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let run = ended(child);
    if run.status == Some(130) {
        assert!(run.stdout.contains("resume with the ") && scratch.has("c"), "{}", run.stdout);
        let (run, report) = scratch.check(&[&how[..], &["--resume", "c"]].concat());
        let states = |report: &Value| report["properties"][0]["states"].clone();
        assert_eq!((run.status, states(&report)), (Some(0), states(&undisturbed)));
    } else {
        assert_eq!(run.status, Some(0), "it was over before");
    }
    assert!(!scratch.has("c"));
}
