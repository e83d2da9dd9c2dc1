//! Inlines and where their text is said to stand.

use super::{errors, init_body, parse_text, shown, tree};
use crate::ast::{Item, Step, StmtKind};

#[test]
fn arguments_replace_parameters_everywhere() {
    assert_eq!(
        shown("int x; inline f(a, b) { a = b; a = (b) } init { f(x, x + 1) }"),
        "f{ x = (x Add 1); x = (x Add 1) }"
    );
    assert_eq!(shown("int b; inline f(a) { b.a = a[1] } init { f(c) }"), "f{ b.c = c[1] }");
    assert_eq!(shown("int b; inline f(a) { a: goto a } init { f(c) }"), "f{ c: goto c }");
    assert_eq!(
        shown("mtype = { m }; int x; inline f(a) { c?a,x } init { f(m); f(3); f(x) }"),
        "f{ c?=m,x }; f{ c?=3,x }; f{ c?x,x }"
    );
}

#[test]
fn arguments_are_not_substituted_again() {
    assert_eq!(shown("int a, b; inline f(a, b) { a = b } init { f(b, a) }"), "f{ b = a }");
    assert_eq!(
        shown("int x; inline g(a) { x = a } inline f(a) { g(a + 1) } init { f(2) }"),
        "f{ g{ x = (2 Add 1) } }"
    );
}

#[test]
fn values() {
    assert_eq!(shown("int x; inline f(a) { return a + 1 } init { x = f(2) }"), "f{ x = (2 Add 1) }");
    assert_eq!(errors("int x; inline f(a) { return a } init { f(2) }").len(), 1);
    assert_eq!(errors("int x; inline f(a) { return a } init { x = f(2) + 1 }").len(), 1);
    assert_eq!(errors("int x; inline f(a) { return a } init { x = 1 + f(2) }").len(), 1);
}

#[test]
fn misuse() {
    let one = |text: &str| {
        let errors = errors(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        errors.into_iter().next().unwrap_or_default()
    };
    assert_eq!(one("inline f(a) { skip } init { f(1, 2) }"), "the inline `f` takes 1 argument, not 2");
    assert_eq!(
        one("inline f() { g() } inline g() { f() } init { f() }"),
        "the inline `f` uses itself: f -> g -> f"
    );
    assert_eq!(
        one("inline f() { skip } inline f() { skip } init { skip }"),
        "the inline `f` is declared twice"
    );
    assert_eq!(one("init { f() } inline f() { skip }"), "`f` is not a statement");
    assert_eq!(one("inline f() { } init { f() }"), "expected a statement, found `}`");
}

#[test]
fn an_error_in_a_body_is_reported_once() {
    let text = "int x; inline f(a) { x = ; a = 1 } init { f(x); f(x); f(x) }";
    let (parsed, sources) = parse_text(text);
    assert_eq!(parsed.diagnostics.len(), 1);
    let diagnostic = &parsed.diagnostics[0];
    assert_eq!(sources.text(diagnostic.span()), ";");
    assert_eq!(sources.text(diagnostic.labels[1].span), "f(x)");
}

#[test]
fn statements_are_placed_in_the_body_and_know_their_use() {
    let text = "int x;\ninline f(a) {\n  a = 1\n}\ninit { f(x);\n f(x) }";
    let (parsed, sources) = parse_text(text);
    let Some(Item::Init(init)) = parsed.unit.items.last() else { panic!("an init") };
    let mut uses = Vec::new();
    for step in &init.body.steps {
        let Step::Stmt(stmt) = step else { panic!("a statement") };
        let StmtKind::Inline(inline) = &stmt.kind else { panic!("an inline") };
        let Step::Stmt(inner) = &inline.body.steps[0] else { panic!("a statement") };
        assert_eq!(sources.location(inner.span).line, 3);
        assert_eq!(sources.text(inner.span), "a = 1");
        let expansion = sources.expansion(inner.span.expansion).expect("it lies in a use");
        assert_eq!(&*expansion.name, "f");
        uses.push(sources.location(expansion.call).line);
    }
    assert_eq!(uses, [5, 6]);
}

#[test]
fn declarations_are_kept() {
    let items = tree("inline f(a, b) { skip } init { skip }");
    assert!(matches!(&items[0], Item::Inline(def) if def.params.len() == 2));
    assert_eq!(init_body("inline f() { skip } init { skip; f() }").steps.len(), 2);
}
