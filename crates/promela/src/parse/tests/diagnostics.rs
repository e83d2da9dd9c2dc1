//! What the author of a model is told.

use super::{errors, parse_text};

/// Message, text at the place and repair of the only diagnostic.
fn only(text: &str) -> (String, String, String) {
    let (parsed, sources) = parse_text(text);
    assert_eq!(parsed.diagnostics.len(), 1, "{text}: {:?}", parsed.diagnostics);
    let d = &parsed.diagnostics[0];
    (d.message.clone(), sources.text(d.span()).to_string(), d.help.clone().unwrap_or_default())
}

#[test]
fn missing_separator() {
    let (message, at, help) = only("int x; init { x = 1 x = 2 }");
    assert_eq!(message, "expected `;` between statements, found `x`");
    assert_eq!((at.as_str(), help.as_str()), ("x", "add `;` before this, or start a new line"));
}

#[test]
fn assignment_for_comparison() {
    let (message, at, help) = only("int x; init { if :: (x = 1) -> skip fi }");
    assert_eq!(message, "expected `)`, found `=`");
    assert_eq!((at.as_str(), help.as_str()), ("=", "to compare, write `==`"));
}

#[test]
fn else_without_an_option() {
    let (message, _, help) = only("init { if else skip fi }");
    assert_eq!(message, "expected `::` and the first option, found `else`");
    assert_eq!(help, "write `:: else`");
}

#[test]
fn unclosed_if() {
    let (parsed, sources) = parse_text("init { if :: skip } init2");
    let d = &parsed.diagnostics[0];
    assert_eq!(d.message, "expected `::` or `fi`, found `}`");
    assert_eq!(sources.text(d.labels[1].span), "if");
    assert_eq!(d.labels[1].message, "this `if` is not closed");
}

#[test]
fn keyword_as_a_name() {
    let (message, at, help) = only("byte len; init { skip }");
    assert_eq!(message, "expected the name of a variable, found `len`");
    assert_eq!((at.as_str(), help.as_str()), ("len", "`len` is a keyword and cannot be used as a name"));
    let (_, _, help) = only("mtype = { go }; init { go: skip }");
    assert_eq!(help, "a label is a name that is not already a constant or type");
    let (_, _, help) = only("mtype = { go }; init { byte go; skip }");
    assert_eq!(help, "`go` is a symbolic constant and cannot name anything else");
}

#[test]
fn probes() {
    let (message, at, help) = only("chan c; init { !full(c) }");
    assert_eq!(message, "`full` cannot be negated");
    assert_eq!((at.as_str(), help.as_str()), ("!full(c)", "write `nfull(…)` instead of `!full(…)`"));
    let (message, at, _) = only("chan c; init { full(c) == 1 }");
    assert_eq!(message, "`full` may only be combined with `&&` and `||`");
    assert_eq!(at, "full(c)");
}

#[test]
fn a_line_that_ends_too_early() {
    for text in ["int x; init { x = x\n * 2 }", "chan c; init { c!1\n, 2 }"] {
        let (message, _, help) = only(text);
        assert!(message.starts_with("expected a statement, found"), "{message}");
        assert!(help.starts_with("a statement ends with its line here"), "{help}");
    }
}

#[test]
fn several_errors_are_found_at_once() {
    let text = "int x;\ninit { x = ;\n if :: x = * -> skip :: else fi;\n { x + }; x = 1 }\nproctype p( { skip }\nbyte 3;\nint y";
    let found = errors(text);
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn a_broken_process_does_not_hide_the_next() {
    let (parsed, _) =
        parse_text("proctype p() { if :: skip \n }\nproctype q() { skip; = } byte z; init { skip }");
    assert_eq!(parsed.diagnostics.len(), 2, "{:?}", parsed.diagnostics);
    assert!(matches!(parsed.unit.items.last(), Some(crate::ast::Item::Init(_))));
}
