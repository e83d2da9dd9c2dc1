//! Trails of Spin are followed, and ours are written for `spin -t`. The trails here were left by verifiers of
//! Spin 6.5.2; tests/spin/trails compares with a Spin that is there, on any models.

mod common;

use common::Scratch;

/// Rendezvous, a d_step, an atomic sequence, an escape, statements that Spin merges.
const MODEL: &str = r#"chan c = [0] of { byte };
chan d = [2] of { byte, byte };
byte x, y;
active proctype S() {
  byte i, j;
  do
  :: i < 2 -> i++; j = i; c!i
  :: i == 2 -> break
  od;
  skip; d_step { x = 1; y = 2; if :: x -> y = 3 :: else fi };
  atomic { x = 2; d!1,2; d!3,4 }
  j = 1; j = 2; printf("hi\n");
  assert(y == 2)
}
active proctype R() {
  byte k;
L: c?k;
  if :: k == 1 -> goto L :: else fi;
  { x = 5; } unless { d?[1,_] -> d?1,k }
}
"#;

/// What `pan` left, with merged statements and (compiled after `spin -a -o3`) without.
const MERGED: &str = "-4:-4:-4 1:0:0 2:0:3 3:1:27 4:1:28 5:0:0 6:0:3 7:1:27 8:1:30 9:1:33 10:1:38 11:0:4 \
                      12:0:9 13:0:17 14:0:18 15:0:19 16:0:20 17:0:22 18:0:25";
const PLAIN: &str = "1:0:0 2:0:1 3:0:2 4:0:3 5:1:27 6:1:28 7:0:0 8:0:1 9:0:2 10:0:3 11:1:27 12:1:30 13:1:33 \
                     14:1:38 15:0:4 16:0:9 17:0:17 18:0:18 19:0:19 20:0:20 21:0:22 22:0:23 23:0:24 24:0:25";

const CYCLES: &str = r#"byte x;
active proctype A() {
  do
  :: x == 0 -> x = 1
  :: x == 1 -> x = 2; x = 0
  od
}
active proctype B() {
  byte i;
  do
  :: i < 3 -> i++; i = i * 2; i = i - 1
  :: i >= 3 -> break
  od;
progress: skip
}
ltl never_two { [] (x != 2) }
ltl again { []<> (x == 2) }
"#;

/// `pan -a -N never_two`, and `pan -l` of a verifier with `-DNP`: both with a claim as process 0.
const CLAIM_ENDS: &str = "-2:2:-2 -4:-4:-4 1:0:23 2:2:9 3:0:23 4:2:9 5:0:23 6:2:13 7:0:23 8:2:18 9:0:23 \
                          10:2:19 11:0:23 12:1:0 13:0:23 14:1:1 15:0:23 16:1:2 17:0:23 18:1:3 19:0:20";
const NO_PROGRESS: &str = "-2:4:-2 -4:-4:-4 1:0:9997 2:2:9 3:0:9999 4:2:9 -1:-1:-1 5:0:9999 6:1:0 7:0:9999 8:1:1 \
                           9:0:9999 10:1:2 11:0:9999 12:1:3 13:0:9999 14:1:4";

fn lines(trail: &str) -> String {
    trail.split_whitespace().map(|line| format!("{line}\n")).collect()
}

#[test]
fn trails_of_spin_are_followed() {
    for trail in [MERGED, PLAIN] {
        let scratch = Scratch::with(MODEL);
        scratch.write("m.pml.trail", &lines(trail));
        let run = scratch.run(&["replay", "m.pml.trail"]);
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
        // A rendezvous is two lines for Spin, and one step.
        assert!(run.stdout.starts_with("m.pml: safety is violated after 22 steps"), "{}", run.stdout);
        assert!(run.stdout.contains("assertion violated: y == 2"));
    }
}

#[test]
fn what_is_written_is_what_spin_writes() {
    let scratch = Scratch::with(MODEL);
    scratch.write("m.pml.trail", &lines(MERGED));
    let run = scratch.run(&["replay", "m.pml.trail", "--format", "spin"]);
    assert_eq!((run.status, run.stdout), (Some(0), lines(PLAIN)));
}

#[test]
fn claims_and_cycles() {
    let scratch = Scratch::with(CYCLES);
    scratch.write("m.pml2.trail", &lines(CLAIM_ENDS));
    let run = scratch.run(&["replay", "m.pml2.trail"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("ltl:never_two is violated after 15 steps"), "{}", run.stdout);
    scratch.write("elsewhere", &lines(NO_PROGRESS));
    let run = scratch.run(&["replay", "elsewhere", "--model", "m.pml", "--format", "json"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((json["property"].as_str(), json["cycle"].as_u64()), (Some("progress"), Some(8)));
}

#[test]
fn what_does_not_fit_is_named() {
    let scratch = Scratch::with(MODEL);
    let refused = |trail: &str, words: &[&str]| {
        scratch.write("m.pml.trail", &lines(trail));
        let run = scratch.run(&[&["replay", "m.pml.trail"], words].concat());
        assert_eq!(run.status, Some(2), "{}", run.stdout);
        run.stderr
    };
    let first = refused("1:0:4", &[]);
    assert!(first.contains("line 1 lets process 0 execute statement 4, `i == 2` of S"), "{first}");
    assert!(first.contains("but S[0] can only do `i < 2` at m.pml:7"), "{first}");
    assert!(refused("1:7:4", &[]).contains("there is no process 7"));
    assert!(refused("1:1:27", &[]).contains("R[1] cannot move"));
    assert!(refused("1:0:999", &[]).contains("statement 999, none of the model"));
    assert!(refused("1:0:0 2:x", &[]).contains("line 2, \"2:x\", is not depth:process:statement"));
    assert!(refused("1:0:0", &[]).contains("shows nothing that is wrong"));
    assert!(refused("1:0:0", &["--model", "none.pml"]).contains("cannot read the model none.pml"));
    scratch.write("elsewhere", "1:0:0\n");
    let nameless = scratch.run(&["replay", "elsewhere"]);
    assert!(nameless.stderr.contains("does not name its model") && nameless.stderr.contains("--model"));
}

#[test]
fn spin_t_follows_the_newer_trail() {
    let scratch = Scratch::with(MODEL);
    scratch.write("m.pml.trail", &lines(MERGED));
    let run = scratch.run(&["spin", "-t", "-p", "m.pml"]);
    assert!(run.stderr.starts_with("spinor replay m.pml.trail --model m.pml\n"), "{}", run.stderr);
    assert_eq!(run.status, Some(0));
}

#[test]
fn a_run_is_a_table() {
    let scratch = Scratch::with(
        "byte x;\nmtype = { go };\nchan q = [1] of { mtype };\nactive proctype P() { byte a[2]; a[1] = 3; q!go; x = 1; assert(x == 0) }\n",
    );
    assert_eq!(scratch.run(&["check", "m.pml"]).status, Some(1));
    let csv = scratch.run(&["replay", "m.pml.trail.json", "--format", "csv"]).stdout;
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "step,process,place,statement,x,q,messages(q),P[0]:a[0],P[0]:a[1]");
    assert_eq!(rows[1], "0,,,,0,q,[],0,0");
    assert_eq!(rows[2], "1,P[0],m.pml:4,a[1] = 3,0,q,[],0,3");
    assert_eq!(rows[3], "2,P[0],m.pml:4,q!go,0,q,[go],0,3");
    assert_eq!(rows.len(), 6);
    let table = scratch.run(&["replay", "m.pml.trail.json", "--format", "table", "--last", "1"]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 2, "{table}");
    assert!(lines[0].starts_with("step  process") && lines[1].contains("assert(x == 0)"), "{table}");
}
