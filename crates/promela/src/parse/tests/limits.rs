//! Models made to break a parser. Tests run on a small stack, so recursion without a bound would overflow it.

use super::{errors, parse_text, shown};

fn one_error(text: &str) -> String {
    let errors = errors(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.into_iter().next().unwrap_or_default()
}

#[test]
fn nesting_ends_with_one_error() {
    let n = 100_000;
    let nested = |open: &str, inner: &str, close: &str| {
        format!("int x; init {{ {}{inner}{} }}", open.repeat(n), close.repeat(n))
    };
    assert_eq!(one_error(&nested("(", "x", ")")), "expressions are nested more than 500 deep");
    assert_eq!(one_error(&nested("{", "skip", "}")), "statements are nested more than 250 deep");
    assert_eq!(one_error(&nested("if :: ", "skip", " fi")), "statements are nested more than 250 deep");
    assert_eq!(one_error(&nested("L:", "skip", "")), "statements are nested more than 250 deep");
    assert_eq!(one_error(&nested("! ", "x", "")), "expressions are nested more than 500 deep");
    assert_eq!(one_error(&nested("x[", "1", "]")), "expressions are nested more than 500 deep");
    assert_eq!(one_error(&nested("run p(", "1", ")")), "expressions are nested more than 500 deep");
    one_error(&nested("!", "x", ""));
    one_error(&format!("chan c; init {{ c?{}", "(".repeat(n)));
}

#[test]
fn long_chains_of_operators() {
    let sum = |terms: usize| format!("int x; init {{ x = {} }}", vec!["x"; terms].join("+"));
    assert_eq!(one_error(&sum(1_000_000)), "this expression has more than 950 operators in one chain");
    assert!(errors(&sum(900)).is_empty());
    // The height counts across arguments too.
    let inner = vec!["x"; 600].join("+");
    let runs = format!("int x; init {{ x = run p(run p({inner}){}){} }}", "+x".repeat(200), "+x".repeat(300));
    assert_eq!(errors(&runs).len(), 1);
}

#[test]
fn the_deepest_tree_allowed_is_parsed_and_dropped() {
    let chain = vec!["x"; 400].join("+");
    let expr = format!("{}{chain}{}", "(".repeat(490), ")".repeat(490));
    let text = format!("int x; init {{ {}x = {expr}{} }}", "{ if :: ".repeat(120), " fi }".repeat(120));
    let (parsed, _) = parse_text(&text);
    assert!(parsed.diagnostics.is_empty());
    drop(parsed);
}

#[test]
fn inlines_cannot_explode() {
    let mut text = "int x; inline f0(a) { x = a }\n".to_string();
    for i in 1..60 {
        text.push_str(&format!("inline f{i}(a) {{ f{}(a); f{}(a) }}\n", i - 1, i - 1));
    }
    text.push_str("init { f59(1) }");
    assert_eq!(one_error(&text), "expanding the inlines makes this model too large");
}

#[test]
fn errors_are_limited() {
    assert_eq!(errors(&format!("init {{ {} }}", "x = ;\n".repeat(100_000))).len(), 50);
    assert!(errors(&"}".repeat(100_000)).len() <= 50);
    assert!(errors(&"init { ".repeat(100_000)).len() <= 50);
    assert!(errors(&"inline f() { ".repeat(100_000)).len() <= 50);
    assert!(errors(&"ltl { ".repeat(100_000)).len() <= 50);
    assert!(errors(&":: fi od } ) ] , ".repeat(10_000)).len() <= 50);
}

#[test]
fn unfinished_models_end() {
    let text = "mtype = { a }; typedef T { byte b }; inline f(x) { x = 1 }\n\
        active [2] proctype p(byte q; T t) priority 2 provided (q > 0) { byte i; L: do :: c!1,a; f(i) :: c?<i> \
        -> t.b = (i -> 1 : 2) od unless { timeout }; for (i : 1 .. 3) { select (i : 1 .. 9) } }\n\
        never n { p[1]@L && p:i == 1 } trace { c!1 } ltl l { [] (a U p@L) } init { run p(1) priority 3 }";
    assert!(errors(text).is_empty());
    for end in 0..text.len() {
        let (parsed, _) = parse_text(&text[..end]);
        drop(parsed);
    }
    assert_eq!(shown("init { skip }"), "1");
}
