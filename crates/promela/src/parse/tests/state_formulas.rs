//! `ctl` and `mu` blocks: what is an operator, what is a name, and what is said of mistakes.

use super::*;
use crate::ast::Logic;

/// The formula of a block in a model with a process `p`.
fn formula(logic: &str, text: &str) -> String {
    let model = format!("int a, b, c, A[2], E; active proctype p() {{ L: skip }} {logic} f {{ {text} }}");
    let found = tree(&model).into_iter().find_map(|item| match item {
        Item::StateFormula(formula) => Some(show(&formula.formula)),
        _ => None,
    });
    found.expect("a formula")
}

fn ctl(text: &str) -> String {
    formula("ctl", text)
}

fn mu(text: &str) -> String {
    formula("mu", text)
}

/// What is said of a formula.
fn said(logic: &str, text: &str) -> Vec<String> {
    errors(&format!("int a, b, c; active proctype p() {{ L: skip }} {logic} f {{ {text} }}"))
}

#[test]
fn operators_of_ctl() {
    assert_eq!(ctl("AG EF a"), "(AG (EF a))");
    assert_eq!(ctl("A G a && E X b"), "((AG a) And (EX b))");
    assert_eq!(ctl("E[a U b] || A[a W b] -> E (a R b)"), "(((EU a b) Or (AW a b)) Implies (ER a b))");
    assert_eq!(ctl("A[a && b U c || a]"), "(AU (a And b) (c Or a))");
    assert_eq!(ctl("E[a V b]"), "(ER a b)");
    assert_eq!(ctl("AG a == 1 && b"), "((AG (a Eq 1)) And b)");
    assert_eq!(ctl("AG (p@L -> AF p[0]@L)"), "(AG (p@L Implies (AF p[0]@L)))");
    assert_eq!(ctl("! EX ! deadlock"), "(Not (EX (Not deadlock)))");
}

#[test]
fn words_that_are_no_operators_stay_names() {
    assert_eq!(ctl("A[1] == E"), "(A[1] Eq E)");
    assert_eq!(ctl("AG (E == 1)"), "(AG (E Eq 1))");
    assert_eq!(ctl("E[E == 1 U A[0]]"), "(EU (E Eq 1) A[0])");
    assert_eq!(mu("E == 1"), "(E Eq 1)");
    tree("int ctl, mu; typedef nu { int x }; init { ctl = 1; mu = ctl }");
    tree("typedef ctl { int x }; ctl c; init { c.x = 1 } never mu { skip }");
}

#[test]
fn the_mu_calculus() {
    assert_eq!(mu("mu Z. (a || <>Z)"), "(mu Z. (a Or (<> Z)))");
    assert_eq!(mu("nu Z. (<>true && []Z)"), "(nu Z. ((<> 1) And ([] Z)))");
    assert_eq!(mu("nu Z. (A X Z) && (E X true)"), "(nu Z. (([] Z) And (<> 1)))");
    assert_eq!(mu("mu X. a || EX X && AX X"), "(mu X. (a Or ((<> X) And ([] X))))");
    assert_eq!(mu("<p> a && [p[2]@L] b || <3> [ ] c"), "(((<p::> a) And ([p:2:L] b)) Or (<:3:> ([] c)))");
    assert_eq!(mu("nu U. mu V. <>U || []V"), "(nu U. (mu V. ((<> U) Or ([] V))))");
    assert_eq!(mu("<init> a"), "(<:init:::> a)");
}

#[test]
fn blocks_may_stand_in_front_and_have_no_name() {
    let items = tree("ctl { AG p@L } mu m { <p>x } byte x; active proctype p() { L: skip }");
    let blocks: Vec<_> = items
        .iter()
        .filter_map(|item| match item {
            Item::StateFormula(f) => Some((f.logic, f.name.as_ref().map(|name| name.name.to_string()))),
            _ => None,
        })
        .collect();
    assert_eq!(blocks, [(Logic::Ctl, None), (Logic::Mu, Some("m".to_string()))]);
}

#[test]
fn mistakes_are_told_where_they_are() {
    for (logic, text, wanted) in [
        ("ctl", "[] a", "`[]` has no path quantifier"),
        ("ctl", "<> a", "`<>` has no path quantifier"),
        ("ctl", "G a", "`G` has no path quantifier"),
        ("ctl", "AG (a U b)", "`U` has no path quantifier"),
        ("ctl", "a U b", "`U` has no path quantifier"),
        ("ctl", "A[a U b", "expected an operator or `]`"),
        ("ctl", "A (a && b)", "expected `U`, `W` or `R`"),
        ("ctl", "mu Z. a || <>Z", "belongs to the mu-calculus"),
        ("mu", "AG a", "`AG` belongs to CTL"),
        ("mu", "E[a U b]", "`EU` belongs to CTL"),
        ("mu", "<p a", "expected a process, a number"),
        ("mu", "mu Z a", "expected an operator"),
    ] {
        let found = said(logic, text);
        assert!(found.iter().any(|error| error.contains(wanted)), "{logic} {text}: {found:?}");
    }
}
