//! Round trips, mistakes, limits and mutated text.

use super::*;
use crate::ir::print::{print, print_without_spans};
use crate::ir::samples;

fn samples() -> [Program; 4] {
    [Program::default(), samples::mutex(), samples::everything(), samples::broken()]
}

#[test]
fn reading_undoes_printing() {
    for program in samples() {
        let text = print(&program);
        let again = read(&text, FileId(0)).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        assert_eq!(format!("{again:#?}"), format!("{program:#?}"));
        assert_eq!(print(&again), text);
    }
}

#[test]
fn text_without_spans_reads_as_itself() {
    for program in samples() {
        let text = print_without_spans(&program);
        let again = read(&text, FileId(0)).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        assert_eq!(print(&again), text);
    }
}

#[test]
fn blanks_and_comments_do_not_matter() {
    let text = "; a comment\n\nprogram   \"x\" ; here\n\n; and\n uses\ttimeout last ; end";
    let program = read(text, FileId(0)).expect("good text");
    assert_eq!(print(&program), "program \"x\"\nuses last timeout\n");
}

#[test]
fn the_example_of_the_module_comment_reads() {
    let comment = include_str!("../print.rs").split("```").nth(1).expect("an example");
    let lines = comment.lines().skip(1).filter_map(|line| line.strip_prefix("//! "));
    let text: String = lines.filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect();
    let program = read(&text, FileId(0)).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    assert_eq!(print(&program), text);
    assert_eq!(crate::ir::verify::verify(&program), Ok(()));
}

/// The error of reading `text`, which has `|` where the error is.
fn error_of(text: &str, message: &str) {
    let at = text.find('|').expect("a mark");
    let error = read(&text.replacen('|', "", 1), FileId(5)).expect_err(text);
    assert!(error.message.contains(message), "{text}\n{}", error.message);
    assert_eq!(error.span().start as usize, at, "{text}\n{}", error.message);
    assert_eq!(error.span().file, FileId(5));
}

#[test]
fn mistakes_are_reported_where_they_are() {
    error_of("|", "expected `program`");
    error_of("program |x", "expected a string, found `x`");
    error_of("program \"x\" |uses", "expected the end of the line");
    error_of("program \"x\"\n|foo", "expected a line of a program");
    error_of("program \"x\"\n|mtype1 = a { }", "expected `mtype0`");
    error_of("program \"x\"\nuses last\n|uses last", "a second `uses`");
    error_of("program \"x\"\nmtype0 = a { b = |2147483648 }", "out of range");
    error_of("program \"x\"\nactive proctype0 priority |256", "out of range");
    error_of("program \"x\"\nactive |3", "expected `proctype` and a number");
    error_of("program \"x\"\ninvariant a \"\" = (|foo 1)", "unknown operator `foo`");
    error_of("program \"x\"\ninvariant a \"\" = (add 1|)", "expected an expression, found `)`");
    error_of("program \"x\"\nltl a \"\" = (|foo 1)", "unknown temporal operator");
    error_of("program \"x\"\nglobals cells 1 {\n g0 x: |foo\n}", "expected a type");
    error_of("program \"x\"\nglobals cells 1 {\n g0 x: |unsigned256\n}", "expected a type");
    error_of("program \"x\"\nglobals cells 1 {\n|", "expected `g` and a number");
}

#[test]
fn mistakes_in_automata_are_reported_where_they_are() {
    let head = "program \"x\"\nproctype0 = p kind proctype params 0 cells 0 locations 2 start L1 {\n";
    error_of(&format!("{head}|L2: e0\n}}"), "only 2 locations");
    error_of(&format!("{head}L1: e0\n|L1: e0\n}}"), "given twice");
    error_of(&format!("{head}e0 -> L1 {{ skip }} \"\"\ne0 -> L1 {{ skip }} \"\"\n|}}"), "e1 is missing");
    error_of(&format!("{head}e1 -> L1 {{ skip }} \"\"\n|}}"), "e0 is missing");
    error_of(&format!("{head}e0 -> L1 {{ |jump }} \"\"\n}}"), "unknown action `jump`");
    error_of(&format!("{head}provided 1\n|provided 1\n}}"), "a second `provided`");
    error_of(&format!("{head}L1 |red: e0\n}}"), "expected `end`");
}

#[test]
fn sizes_are_bounded() {
    error_of("program \"x\"\nglobals cells |4000000000 {\n}", "more than the limit");
    error_of("program \"x\"\nglobals cells 1 {\n g0 x: array |4000000000 of byte\n}", "more than the limit");
    error_of("program \"x\"\nstruct0 = s cells |16777217 { }", "more than the limit");
    error_of("program \"x\"\nchantype0 = c capacity |4000000000 { byte }", "more than the limit");
    let header = |id, locations| {
        format!("proctype{id} = p kind init params 0 cells 0 locations {locations} start L1 {{\n}}\n")
    };
    let text = format!("program \"x\"\n{}{}", header(0, "1000000"), header(1, "|1000000"));
    error_of(&text, "more than the limit of 48576");
}

fn nested(levels: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn nesting_is_bounded() {
    for (head, open, inner, close) in [
        ("invariant i \"\" = ", "(not ", "1", ")"),
        ("invariant i \"\" = ", "g0[", "1", " < 1 * 1]:byte"),
        ("invariant i \"\" = ", "(poll 1 (match ", "1", "))"),
        ("ltl i \"\" = ", "(always ", "(prop 1)", ")"),
        ("struct0 = s cells 1 { x: ", "array 1 of ", "byte", " "),
    ] {
        let text = |levels| format!("program \"x\"\n{head}{}", nested(levels, open, inner, close));
        let error = read(&text(MAX_NESTING + 1), FileId(0)).expect_err(head);
        assert!(error.message.contains("nested more than"), "{head}: {}", error.message);
        let error = read(&text(100_000), FileId(0)).expect_err(head);
        assert!(error.message.contains("nested more than"), "{head}: {}", error.message);
    }
}

#[test]
fn as_deep_as_allowed_can_be_read_verified_and_printed() {
    let exprs = nested(MAX_NESTING - 1, "(not ", "1", ")");
    let polls = nested(MAX_NESTING - 1, "(poll 1 (match ", "1", "))");
    let indices = nested(MAX_NESTING - 1, "g0[", "0", " < 1 * 1]:byte");
    let formulas = nested(MAX_NESTING - 2, "(always ", "(prop 1)", ")");
    let types = nested(MAX_NESTING, "array 1 of ", "byte", "");
    let text = format!(
        "program \"x\"\nglobals cells 2 {{\n  g0 a: array 1 of byte\n  g1 b: {types}\n}}\n\
         invariant a \"\" = {exprs}\ninvariant b \"\" = {polls}\ninvariant c \"\" = {indices}\n\
         ltl d \"\" = {formulas}\n"
    );
    let program = read(&text, FileId(0)).expect("deep, but not too deep");
    assert_eq!(crate::ir::verify::verify(&program), Ok(()));
    assert!(print(&program) == text);
}

/// A linear congruential generator: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Changes, removes, repeats or moves a few bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    const INTERESTING: &[u8] = b"(){}[]:,=*<@#;-0123456789 \n\"\\_gleLx";
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(12)).min(bytes.len());
        match random.below(8) {
            0 => bytes[at] = INTERESTING[random.below(INTERESTING.len())],
            1 => bytes[at] = random.below(256) as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => bytes.insert(at, INTERESTING[random.below(INTERESTING.len())]),
            _ => {
                // Another number is often still good text, so that more than the reader is tried.
                if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
                    bytes[at + digit] = b'0' + random.below(10) as u8;
                }
            }
        }
        if bytes.is_empty() {
            bytes.push(b' ');
        }
    }
}

#[test]
fn mutated_text_never_makes_it_panic() {
    let texts: Vec<String> = samples().iter().map(print).collect();
    let mut random = Random(1);
    let mut accepted = 0;
    let sources = crate::source::SourceMap::new();
    for round in 0..20_000 {
        let mut bytes = texts[round % texts.len()].clone().into_bytes();
        mutate(&mut bytes, &mut random);
        let text = String::from_utf8_lossy(&bytes);
        let Ok(program) = read(&text, FileId(0)) else { continue };
        accepted += 1;
        // Whether it keeps the rules or not, finding that out does not panic either, nor does printing it.
        let _ = crate::ir::verify::verify(&program);
        let _ = crate::ir::json::to_json(&program, &sources);
        let printed = print(&program);
        let again = read(&printed, FileId(0)).unwrap_or_else(|error| panic!("{error:?}\n{printed}"));
        assert_eq!(print(&again), printed);
    }
    assert!(accepted > 1000, "only {accepted} mutants were accepted");
}
