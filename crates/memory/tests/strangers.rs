//! Systems as others write them (`strangers/`): operations that begin with a choice, macros, queues and arrays that
//! are larger than need be, mistakes that the tests were not made for. The first line of each says what is
//! expected of some tests: `y` holds, `n` violated.

use engine::{CheckOptions, Silent, Source, Stop};
use memory::{Known, MemorySystem, Outcome, Request};
use promela::source::Files;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strangers")
}

struct Folder;

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(folder().join(path)).map_err(|_| "no such file".to_string())
    }
}

/// The tests that a system names in its first line, with what is expected.
fn expected(text: &str) -> Vec<(&str, Known)> {
    let line = text.lines().next().and_then(|line| line.strip_prefix("/* expect: ")).expect("a first line");
    let pair = |word: &'_ str| match word.trim().split_once(' ') {
        Some((_, "y")) => Known::Holds,
        Some((_, "n")) => Known::Violated,
        Some((_, "f")) => Known::AtFault,
        _ => panic!("{word}"),
    };
    line.split(',').map(|word| (word.trim().split(' ').next().expect("a name"), pair(word))).collect()
}

fn system(name: &str) -> MemorySystem {
    let source = Source { path: name.to_string(), ..Source::default() };
    let answer = MemorySystem::load(&source, &Folder, &Stop::never());
    assert!(answer.notices.is_empty(), "{name}: {:?}", answer.notices);
    answer.result.expect(name)
}

fn asked(system: &MemorySystem, test: &str) -> Outcome {
    let request = Request { rules: vec![test.to_string()], ..Request::default() };
    let agenda = request.agenda(system).expect("can be asked");
    let (options, stop) = (CheckOptions::default(), Stop::never());
    request.ask(system, &agenda.questions[0], &options, &stop, &mut Silent).result.expect("an answer")
}

#[test]
fn systems_of_others_get_the_verdicts_that_they_should() {
    let mut compared = 0;
    for entry in std::fs::read_dir(folder()).expect("the folder exists").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(entry.path()).expect("readable");
        let system = system(&name);
        for (test, known) in expected(&text) {
            let outcome = asked(&system, test);
            assert_eq!(outcome.question.name(), test, "{name}");
            assert_eq!(outcome.known(), known, "{test} of {name}");
            assert!(outcome.checks.iter().all(|check| check.unreached.is_empty()), "{test} of {name}");
            if known != Known::Holds {
                let violation = outcome.violated().and_then(|check| check.violation.as_ref());
                let table = &violation.expect("a violation").table;
                assert!(!table.reason.contains('–'), "{test} of {name}:\n{}", table.text());
            }
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn an_answer_that_nobody_waits_for_is_named() {
    let outcome = asked(&system("second_answer.pml"), "rowo1");
    let table = &outcome.violated().and_then(|check| check.violation.as_ref()).expect("a violation").table;
    assert!(table.reason.contains("is answered, and waits for no answer"), "{}", table.reason);
}
