//! Why processes are blocked: one small model for every reason. Each model in `tests/blocked/` begins with a
//! comment that lists the statements to execute first (each time the first enabled one with that text, or
//! `pid: text`); beside it stands what people see then. `UPDATE_EXPECT=1` writes the expected files anew.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use engine::Source;
use engine::session::Session;
use promela::source::Files;
use system::blocked::{Alternative, Blocked, Held, Reason};
use system::{Explain, Successors, SystemExt, TransitionSystem};
use trace::blocked_text::{full, short};

struct Model<'a>(&'a str);

impl Files for Model<'_> {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_string())
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blocked")
}

/// Who is blocked after these steps.
fn blocked(model: &str, steps: &[&str]) -> Vec<Blocked> {
    let source = Source { path: "m.pml".to_string(), ..Source::default() };
    let session = Session::load(&source, &Model(model), &engine::Stop::never()).expect("a model");
    let machine = session.machine().unwrap_or_else(|_| panic!("{:?}", session.notices));
    let mut state = Vec::new();
    machine.initial(&mut state).expect("an initial state");
    for step in steps {
        let (mut enabled, mut out) = (Vec::new(), Successors::default());
        machine.enabled(&state, &mut enabled);
        let texts: Vec<(String, String)> = enabled
            .iter()
            .map(|&id| machine.step(&state, id))
            .map(|info| (format!("{}: {}", info.pid, info.text), info.text))
            .collect();
        let chosen = texts.iter().position(|(long, text)| long == step || text == step);
        let chosen = chosen.unwrap_or_else(|| panic!("{step} is not among {texts:?}"));
        machine.fire(&state, &enabled[chosen..=chosen], &mut out);
        state = out.state(&out.list[0]).expect("a state").to_vec();
    }
    machine.blocked(&state)
}

/// Both forms, the short one first.
fn rendered(model: &str) -> String {
    let first = model.lines().next().and_then(|line| line.strip_prefix("//")).expect("a comment with steps");
    let steps: Vec<&str> = first.split(';').map(str::trim).filter(|step| !step.is_empty()).collect();
    let blocked = blocked(model, &steps);
    let lines: String = blocked.iter().map(|one| format!("{}\n", short(one))).collect();
    format!("{lines}\n{}", full(&blocked))
}

#[test]
fn every_reason_is_explained() {
    let mut models: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    models.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    assert!(models.len() >= 20, "only {} models", models.len());
    for path in models {
        let text = rendered(&std::fs::read_to_string(&path).expect("a model"));
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &text).expect("writable");
        }
        let known = std::fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(text, known, "{}", expected.display());
    }
}

/// Steps that are looked at in each model.
const STEPS: usize = 3000;

/// Whoever is not named cannot help: over all shipped models, a step that unblocks a process is a step of a
/// process that was named, or the process waited for something that any step may bring about.
#[test]
fn who_is_not_named_cannot_help() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut unblocked = 0;
    let mut paths: Vec<PathBuf> =
        ["tests/models/language", "examples", "crates/engine/tests/blocked"].map(|dir| root.join(dir)).into();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(
                std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()),
            );
        } else if path.extension().is_some_and(|extension| extension == "pml") {
            let text = std::fs::read_to_string(&path).expect("a model");
            unblocked += compare_with_steps(&text, &path.display().to_string());
        }
    }
    assert!(unblocked >= 300, "only {unblocked} times was a process unblocked");
}

/// Explores a model; counts how often a step unblocks a process.
fn compare_with_steps(text: &str, name: &str) -> usize {
    let source = Source { path: "m.pml".to_string(), ..Source::default() };
    let Ok(session) = Session::load(&source, &Model(text), &engine::Stop::never()) else { return 0 };
    let Ok(machine) = session.machine() else { return 0 };
    let mut first = Vec::new();
    if machine.initial(&mut first).is_err() {
        return 0;
    }
    let (mut seen, mut todo) = (HashSet::from([first.clone()]), vec![first]);
    let (mut steps, mut count) = (0, 0);
    while let Some(state) = todo.pop() {
        if steps > STEPS {
            break;
        }
        let before = machine.blocked(&state);
        let mut out = Successors::default();
        machine.expand(&state, &mut out);
        for successor in &out.list {
            let Some(next) = out.state(successor) else { continue };
            steps += 1;
            let info = machine.step(&state, successor.action);
            let actors = [Some(info.pid), info.partner.map(|partner| partner.pid)];
            let after = machine.blocked(next);
            let alive = machine.snapshot(next).processes.len() as u32;
            for one in before.iter().filter(|one| one.who.pid < alive && waits_for_somebody(one)) {
                if after.iter().all(|other| other.who.pid != one.who.pid) {
                    count += 1;
                    let named = one.helpers().any(|helper| actors.contains(&Some(helper.who.pid)));
                    assert!(named, "{name}: `{}` of {} unblocks {one:#?}", info.text, info.pid);
                }
            }
            if seen.insert(next.to_vec()) {
                todo.push(next.to_vec());
            }
        }
    }
    count
}

/// Neither held by others, nor waiting until nobody can move.
fn waits_for_somebody(one: &Blocked) -> bool {
    let held = matches!(one.held, Some(Held::Control { .. } | Held::Priority { .. }));
    let timeout = |alternative: &Alternative| matches!(alternative.reason, Reason::Timeout);
    !held && !one.alternatives.iter().any(timeout)
}
