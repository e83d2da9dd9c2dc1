//! Models made to exhaust the stack, the memory or patience: every command ends with a verdict or a
//! diagnostic.
//!
//! The models are made at run time. A run that takes longer than the generous limit below is killed and fails
//! the test; nothing else is timed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far more than any of these needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A directory of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("spinor-hostile-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs one command and gives its exit status; a signal or the end of patience fails.
fn run(dir: &Path, command: &[&str]) -> i32 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_spinor"))
        .args(command)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or_else(|| panic!("{command:?} died: {status}"));
        }
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{command:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs all commands on a model; gives the exit status of `parse`.
fn statuses(name: &str, model: impl AsRef<[u8]>) -> i32 {
    let scratch = Scratch::new(name);
    std::fs::write(scratch.0.join("m.pml"), model).unwrap();
    let parse = run(&scratch.0, &["parse", "m.pml"]);
    assert!(parse == 0 || parse == 2, "{name}: parse ends with {parse}");
    let check = run(&scratch.0, &["check", "m.pml", "--timeout", "2", "--max-depth", "10000"]);
    assert!((0..=3).contains(&check), "{name}: check ends with {check}");
    let simulate = run(&scratch.0, &["simulate", "m.pml", "--steps", "100"]);
    assert!((0..=3).contains(&simulate), "{name}: simulate ends with {simulate}");
    // A slow machine may have no time to refuse.
    assert!(check == 3 || (parse == 2) == (check == 2), "{name}: parse and check disagree on the model");
    parse
}

fn refused(name: &str, model: impl AsRef<[u8]>) {
    assert_eq!(statuses(name, model), 2, "{name} is accepted");
}

fn accepted(name: &str, model: impl AsRef<[u8]>) {
    assert_eq!(statuses(name, model), 0, "{name} is refused");
}

fn nested(open: &str, inner: &str, close: &str, n: usize) -> String {
    format!("int x; init {{ {}{inner}{} }}", open.repeat(n), close.repeat(n))
}

#[test]
fn nesting() {
    let n = 50_000;
    refused("parentheses", nested("(", "x", ")", 2 * n));
    refused("blocks", nested("{ ", "skip", " }", n));
    refused("ifs", nested("if :: ", "skip", " fi", n));
    refused("dos", nested("do :: ", "break", " od", n));
    refused("unlesses", nested("{ ", "skip", " } unless { skip }", n));
    refused("atomics", nested("atomic { ", "skip", " }", n));
    refused("d_steps", nested("d_step { ", "skip", " }", n));
    refused("labels", nested("L: ", "skip", "", n));
    refused("indices", format!("int a[2]; init {{ {}0{} == 1 }}", "a[".repeat(n), "]".repeat(n)));
    refused("conditions", format!("#if {}1{}\n#endif\ninit {{ skip }}", "(".repeat(n), ")".repeat(n)));
    accepted("many ifs", format!("{}init {{ skip }}\n{}", "#if 1\n".repeat(n), "#endif\n".repeat(n)));
    accepted("deep ifs", nested("if :: x == 0 -> ", "skip", " :: else fi", 120));
}

#[test]
fn long_texts() {
    refused("a chain of operators", format!("int x; init {{ x = {}1 }}", "x+".repeat(1_000_000)));
    accepted("a shorter chain", format!("int x; init {{ x = {}1 }}", "x+".repeat(900)));
    refused("a chain in ltl", format!("int x; ltl {{ {}x }} init {{ skip }}", "x && ".repeat(100_000)));
    accepted("a long name", format!("int {}; init {{ skip }}", "a".repeat(1_000_000)));
    accepted("a long string", format!("init {{ printf(\"{}\") }}", "a".repeat(1_000_000)));
    accepted("a long comment", format!("/*{}*/ init {{ skip }}", "a".repeat(1_000_000)));
    refused("an open comment", format!("init {{ skip }} /*{}", "a".repeat(1_000_000)));
    accepted("many statements", format!("int x; init {{ {}x = 1 }}", "x = x + 1;\n".repeat(20_000)));
    accepted("continued lines", format!("{}init {{ skip }}", "\\\n".repeat(100_000)));
    refused("braces", "{".repeat(100_000));
}

#[test]
fn many_names() {
    let list = |n: usize| (0..n).map(|i| format!("v{i}")).collect::<Vec<_>>().join(",");
    accepted("globals", format!("int {}; init {{ skip }}", list(20_000)));
    accepted("locals", format!("init {{ int {}; skip }}", list(20_000)));
    refused("constants", format!("mtype = {{ {} }}; init {{ skip }}", list(5_000)));
    let labels: String = (0..10_000).map(|i| format!("l{i}: goto l{}; ", i + 1)).collect();
    let status = statuses("a chain of jumps", format!("init {{ {labels}l10000: skip }}"));
    assert!(status == 0 || status == 2);
    let proctypes: String = (0..300).map(|i| format!("active proctype p{i}() {{ skip }}\n")).collect();
    refused("proctypes", proctypes);
    let channels: String = (0..300).map(|i| format!("chan c{i} = [1] of {{ byte }};\n")).collect();
    refused("channels", format!("{channels}init {{ c0!1 }}"));
}

#[test]
fn text_that_multiplies() {
    let macros: String = (1..60).map(|i| format!("#define a{i} a{} + a{}\n", i - 1, i - 1)).collect();
    refused("macros", format!("#define a0 x\n{macros}int x; init {{ x = a59 }}"));
    let inlines: String =
        (1..60).map(|i| format!("inline f{i}() {{ f{}(); f{}() }}\n", i - 1, i - 1)).collect();
    refused("inlines", format!("int x; inline f0() {{ x = 1 }}\n{inlines}init {{ f59() }}"));
    refused("an inline that uses itself", "inline f() { f() } init { f() }");
    refused("a file that includes itself", "#include \"m.pml\"\ninit { skip }");
}

#[test]
fn large_data() {
    refused("an array", "byte a[2000000000]; init { skip }");
    refused("processes", "active [1000000] proctype p() { skip }");
    refused("locals of processes", "active [255] proctype p() { int t[1000000]; t[0] = 1 }");
    statuses(
        "locals of started processes",
        "proctype p() { int t[1000000]; skip } init { do :: run p() od }",
    );
    let chain = |fields: &str, n: usize| {
        let step = |i: usize| format!("typedef T{i} {{ {} }};\n", fields.replace('#', &(i - 1).to_string()));
        let steps: String = (1..n).map(step).collect();
        format!("typedef T0 {{ int x = 1 }};\n{steps}T{} g; init {{ skip }}", n - 1)
    };
    refused("deep structures", chain("T# t", 1_000));
    refused("structures that double", chain("T# t; T# u", 60));
    refused("arrays of structures", chain("T# t[100]", 10));
    let many: String = (0..100).map(|i| format!("T t{i}[1000000]; ")).collect();
    refused("initial values", format!("typedef T {{ int x = 3 }}; init {{ {many} skip }}"));
    accepted("a large channel", "chan c[200] = [60000] of { int, int }; init { c[0]!1,2 }");
}

#[test]
fn endless_work() {
    statuses("an endless d_step", "int x; init { d_step { do :: x = 1 - x od } }");
    statuses("an endless atomic", "int x; init { atomic { do :: x++ od } }");
    statuses("a large choice", "int x; init { select (x : 0 .. 2000000000) }");
    statuses("processes without end", "proctype p() { run p() } init { run p() }");
    statuses("a jump in a circle", "init { l: goto m; m: goto l }");
    statuses(
        "arithmetic",
        "int x; init { x = -2147483647 - 1; x = x / -1; x = x % -1; x = -x; x = 1 << 100 }",
    );
}

#[test]
fn strange_files() {
    refused("nothing", "");
    statuses("a zero byte", b"init { skip\0 }");
    statuses("zero bytes", [0; 10_000]);
    statuses("no text", b"init { printf(\"\xff\xfe\x80\") }");
    accepted("a byte order mark", b"\xef\xbb\xbfinit { skip }");
    accepted("line ends of another system", "int x;\r\n#define A 1\r\ninit {\r\n x = A;\r\n}\r\n");
    accepted("no line end", "#define A 1\ninit { skip }\n#undef A");
    let scratch = Scratch::new("files");
    for command in ["parse", "check", "simulate", "replay"] {
        assert_eq!(run(&scratch.0, &[command, "."]), 2, "{command} of a directory");
        assert_eq!(run(&scratch.0, &[command, "missing.pml"]), 2, "{command} of a missing file");
    }
}
