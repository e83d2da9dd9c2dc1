//! Embedded C in the front end: every form is lowered, and its text form says the same.

use promela::ir::{CItem, COwner, Program, print, read, verify};
use promela::source::{FileId, Files, SourceMap};

struct One<'a>(&'a str);

impl Files for One<'_> {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_string())
    }
}

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    let options = promela::preprocess::Options::default();
    let tokens = promela::preprocess::preprocess("m", &One(text), &options, &mut sources);
    let dialect = promela::parse::Dialect::Spin;
    let parsed = promela::parse::parse_lines(tokens.tokens, tokens.line_starts, dialect, &mut sources);
    let lowered = promela::lower::lower(&parsed.unit, &sources, "m");
    let problems: Vec<String> =
        parsed.diagnostics.iter().chain(&lowered.diagnostics).map(|d| d.message.clone()).collect();
    lowered.program.unwrap_or_else(|| panic!("{problems:?}"))
}

const ALL: &str = r#"#define LIMIT 9
c_decl {
  \#include <string.h>
  /* a comment
     of two lines */
  int z;
}
c_code { int twice(int n) { return 2 * n; } }
c_state "int g" "Global" "9"
c_state "char *s" "Hidden" "\"a\\n\""
c_state "short l[2]" "Local p"
c_track "&z" "sizeof(int)"
c_track "&z" "4" "UnMatched"
byte x;
active proctype p() {
  do
  :: c_expr [ now.x < LIMIT ] { twice(now.x) < 6 } && x != 3 -> c_code [ now.x
     > 0 || 1 ] { now.x++; }
  :: x = c_expr { z } + 1
  od
}
ltl q { [] c_expr { now.x < 99 } }
"#;

#[test]
fn every_form_is_kept() {
    let program = program(ALL);
    verify::verify(&program).unwrap();
    let embedded = &program.embedded;
    assert!(embedded.is_missing());
    let pieces = &embedded.pieces;
    assert_eq!(pieces.iter().map(|p| p.statement).collect::<Vec<bool>>(), [false, true, false, false]);
    assert_eq!(pieces.iter().map(|p| p.proctype.is_some()).collect::<Vec<bool>>(), [true, true, true, false]);
    // Macros are expanded, and the text of a body begins as many lines below as its precondition has.
    assert_eq!(pieces[0].precondition.as_deref().map(str::trim), Some("now.x < 9"));
    assert_eq!(pieces[0].text.trim(), "twice(now.x) < 6");
    assert!(pieces[1].text.starts_with('\n'), "{:?}", pieces[1]);
    let CItem::Declaration(text, _) = &embedded.items[0] else { panic!("{:?}", embedded.items[0]) };
    assert_eq!(text.trim_end(), "\n#include <string.h>\n\n\nint z;", "lines keep their distance");
    let CItem::State { value, owner, .. } = &embedded.items[3] else { panic!("{:?}", embedded.items[3]) };
    assert_eq!((value.as_deref(), *owner), (Some("\"a\\n\""), COwner::Hidden));
    assert!(matches!(embedded.items[6], CItem::Track { matched: false, .. }));
}

#[test]
fn the_text_form_says_the_same() {
    let text = print::print(&program(ALL));
    let again = read::read(&text, FileId(0)).unwrap();
    assert_eq!(print::print(&again), text);
    verify::verify(&again).unwrap();
    // A condition cannot be a statement, nor can there be a piece that is not there.
    for wrong in ["c c1", "c c7"] {
        let broken = read::read(&text.replace("c c0", wrong), FileId(0)).unwrap();
        assert!(verify::verify(&broken).is_err(), "{wrong}");
    }
}
