//! `--disk`: what waits goes to a file when memory is short. Verdicts, counts and counterexamples are those of
//! searches in memory; a model of which what waits alone is larger than the limit is searched to its end; a full
//! disk is told; nothing is left in the folder.

mod common;

use common::Scratch;
use serde_json::Value;

/// Bits are chosen, so that many states wait at a time. Each has LEN bytes that are the same for all, which a store
/// of trees keeps once.
const WIDE: &str = "
hidden byte h;
byte big[LEN];
active proctype p() {
    byte i;
    int n;
    do
    :: i < BITS -> if :: n = n * 2 :: n = n * 2 + 1 fi; i++
    :: else -> break
    od;
    big[n % LEN] = i;
    n = 0;
    assert(RIGHT)
}
";

fn wide(bits: u32, len: u32, right: &str) -> Scratch {
    let text = WIDE.replace("BITS", &bits.to_string()).replace("LEN", &len.to_string());
    Scratch::with(&text.replace("RIGHT", right))
}

fn answer(report: &Value) -> Vec<Value> {
    let property = &report["properties"][0];
    let keys = ["verdict", "errors", "exhaustive", "states", "transitions", "matched"];
    keys.iter().map(|&key| property[key].clone()).collect()
}

fn is_empty(scratch: &Scratch) -> bool {
    std::fs::read_dir(scratch.0.join("d")).unwrap().count() == 0
}

/// States that wait as they are, since a part of them is in no store, in one that knows what they have in common.
const WHOLE: [&str; 2] = ["--store", "cleary"];

const WAYS: [&[&str]; 5] = [
    &["--threads", "1"],
    &["--threads", "2"],
    &["--threads", "1", "--search", "bfs"],
    &["--threads", "2", "--search", "bfs"],
    &["--threads", "2", "--search", "dfs"],
];

/// Searches without and with a disk, in so much memory; both in each of these ways.
fn compare(scratch: &Scratch, base: &[&str], ways: &[&[&str]], least: u64) {
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    let (before, undisturbed) = scratch.check(base);
    for way in ways {
        let limited = [base, &["--max-memory", "42M"], way].concat();
        let (run, report) = scratch.check(&limited);
        // How much waits with several threads depends on their timing.
        let is_narrow = way.contains(&"2");
        if !is_narrow {
            let why = report["properties"][0]["reason"].as_str().unwrap_or_default();
            assert!(run.status == Some(3) && why.contains("memory ran out"), "{way:?} {report}");
        }
        let (run, report) = scratch.check(&[&limited[..], &["--disk", "d"]].concat());
        assert_eq!((run.status, answer(&report)), (before.status, answer(&undisturbed)), "{way:?} {report}");
        let on_disk = &report["properties"][0]["on_disk"];
        assert_eq!(on_disk["folder"], "d");
        let [written, read, most] = ["written", "read", "most"].map(|key| on_disk[key].as_u64().unwrap());
        assert!(is_narrow || most > least, "{way:?} {on_disk}");
        assert!(read <= written && most <= written + (1 << 20), "{way:?} {on_disk}");
        assert!(is_empty(scratch), "{way:?}");
    }
}

#[test]
fn what_waits_goes_to_the_disk() {
    let base = [&["--property", "safety", "--por", "none", "--opt", "none"], &WHOLE[..]].concat();
    let scratch = wide(13, 3000, "true");
    compare(&scratch, &base, &WAYS, 1 << 20);
    let more = ["check", "m.pml", "--max-memory", "42M", "--disk", "d"];
    let text = scratch.run(&[&more[..], &base].concat());
    assert!(text.stdout.contains("written to d, "), "{}", text.stdout);
}

/// By one worker the states of a whole level wait: 65 MB.
#[test]
fn what_waits_alone_may_be_larger_than_the_memory() {
    let base = ["--property", "safety", "--por", "none", "--opt", "none", "--store", "hc", "--threads", "1"];
    compare(&wide(13, 8000, "true"), &base, &[&[], &["--search", "bfs"]], 42 << 20);
}

#[test]
fn counterexamples_lead_back_from_the_disk() {
    let scratch = wide(13, 3000, "big[2999] == 0");
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    let base = ["--por", "none", "--opt", "none", "--max-memory", "42M", "--disk", "d", "--all-errors"];
    for way in WAYS {
        let (run, report) = scratch.check(&[&base[..], &WHOLE, way].concat());
        assert_eq!((run.status, &report["verdict"]), (Some(1), &"violated".into()), "{way:?} {report}");
        assert_eq!(scratch.run(&["replay", "m.pml.trail.json"]).status, Some(0), "{way:?}");
        assert!(is_empty(&scratch));
    }
}

/// Files have a limit: like a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told() {
    let scratch = wide(13, 3000, "true");
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    for (threads, waits) in [("--threads 1", true), ("--threads 2", false)] {
        let limited = |memory: &str| {
            let spinor = env!("CARGO_BIN_EXE_spinor");
            let text = format!(
                "ulimit -f 1000; exec {spinor} check m.pml --por none --opt none --store cleary --disk d \
                 --max-memory {memory} {threads} -q"
            );
            let run = std::process::Command::new("sh").args(["-c", &text]).current_dir(&scratch.0).output();
            common::CommandOutput::of(run.unwrap())
        };
        let run = limited("42M");
        let told = "memory ran out, because nothing more could be written to --disk d (";
        if waits || run.status != Some(0) {
            assert_eq!(run.status, Some(3), "{} {}", run.stdout, run.stderr);
            assert!(run.stdout.contains(told) && run.stdout.contains("unknown"), "{}", run.stdout);
        }
        // Where memory is enough a full disk is no reason.
        let run = limited("2G");
        assert_eq!(run.status, Some(0), "{} {}", run.stdout, run.stderr);
        assert!(is_empty(&scratch));
    }
}

/// Whatever ends the process, nothing is left; a checkpoint beside a disk goes on without one, and with one.
#[test]
fn a_checkpoint_goes_beside_it() {
    let scratch = wide(12, 3000, "true");
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    let base = ["--property", "safety", "--por", "none", "--opt", "none", "--store", "cleary"];
    let (_, undisturbed) = scratch.check(&base);
    for threads in ["1", "2"] {
        let disk = ["--disk", "d", "--max-memory", "42M", "--threads", threads];
        let often = ["--checkpoint", "c", "--checkpoint-every", "0.01", "--max-states", "20000"];
        let (run, report) = scratch.check(&[&base[..], &disk, &often].concat());
        assert_eq!(run.status, Some(3), "{report}");
        assert!(report["properties"][0]["on_disk"]["written"].as_u64() > Some(1 << 20), "{report}");
        for memory in [&disk[..], &["--max-memory", "1G"]] {
            let (run, report) = scratch.check(&[&base[..], memory, &["--resume", "c"]].concat());
            assert_eq!((run.status, answer(&report)), (Some(0), answer(&undisturbed)), "{report}");
        }
        std::fs::remove_file(scratch.0.join("c")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_killed_search_leaves_nothing() {
    let scratch = wide(18, 3000, "true");
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    for signal in ["-INT", "-KILL"] {
        let words = ["check", "m.pml", "--por", "none", "--opt", "none", "--exec", "interp", "--disk", "d"];
        let mut command = scratch.command(&words);
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let pid = child.id().to_string();
        std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
        child.wait().unwrap();
        assert!(is_empty(&scratch), "{signal}");
    }
}

#[test]
fn what_cannot_wait_on_a_disk_is_refused() {
    let scratch = Scratch::with("active proctype p() { skip }\nltl f { [] true }\n");
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    for (words, why) in [
        (&["--disk", "no", "--property", "safety"][..], "--disk no does not exist"),
        (&["--disk", "m.pml", "--property", "safety"], "--disk m.pml is not a folder"),
        (&["--disk", "d"], "--disk d is for safety: the search for ltl:f"),
        (&["--disk", "d", "--search", "handoff"], "--disk d cannot be used with --search handoff"),
        (&["--disk", "d", "--sleep"], "--disk d cannot be used with --sleep"),
    ] {
        let run = scratch.run(&[&["check", "m.pml"], words].concat());
        assert_eq!(run.status, Some(2), "{words:?} {}", run.stderr);
        assert!(run.stderr.contains(why), "{words:?} {}", run.stderr);
    }
    assert!(is_empty(&scratch));
}
