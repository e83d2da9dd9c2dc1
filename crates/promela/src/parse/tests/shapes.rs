//! The trees that come out.

use super::{errors, parse_text, show, shown, tree};
use crate::ast::{Initializer, Item, StmtKind, TypeName};

fn formula(text: &str) -> String {
    let model = format!("int a, b, c, d; init {{ skip }} ltl {{ {text} }}");
    let mut found = tree(&model).into_iter().filter_map(|item| match item {
        Item::Ltl(ltl) => Some(show(&ltl.formula)),
        _ => None,
    });
    found.next().expect("there is a formula")
}

fn expr(text: &str) -> String {
    shown(&format!("int a, b, c, d; chan q; init {{ {text} }}"))
}

#[test]
fn precedence_of_operators() {
    assert_eq!(expr("a + b * c - d"), "((a Add (b Mul c)) Sub d)");
    assert_eq!(expr("a || b && c | d"), "(a Or (b And (c BitOr d)))");
    assert_eq!(expr("a | b ^ c & d"), "(a BitOr (b BitXor (c BitAnd d)))");
    assert_eq!(expr("a & b == c < d"), "(a BitAnd (b Eq (c Lt d)))");
    assert_eq!(expr("a < b << c + d"), "(a Lt (b Shl (c Add d)))");
    assert_eq!(expr("!a == b"), "((Not a) Eq b)");
    assert_eq!(expr("-a * ~b"), "((Neg a) Mul (BitNot b))");
    assert_eq!(expr("a - b - c"), "((a Sub b) Sub c)");
    assert_eq!(expr("!q?[a] && b"), "((Not q?[a]) And b)");
    assert_eq!(expr("(a -> b : c) + d"), "((a ? b : c) Add d)");
    assert_eq!(expr("full(q) && a || nempty(q)"), "((Full(q) And a) Or Nempty(q))");
}

#[test]
fn precedence_in_formulas() {
    assert_eq!(formula("[] a -> <> b"), "((Always a) Implies (Eventually b))");
    assert_eq!(formula("a -> b -> c"), "((a Implies b) Implies c)");
    assert_eq!(formula("a && b U c || d"), "((a And (b Until c)) Or d)");
    assert_eq!(formula("a U b U c"), "((a Until b) Until c)");
    assert_eq!(formula("[] a U b"), "((Always a) Until b)");
    assert_eq!(formula("a U b | c"), "(a Until (b BitOr c))");
    assert_eq!(formula("! X a W b"), "((Not (Next a)) WeakUntil b)");
    assert_eq!(formula("a <-> b V c"), "(a Equiv (b Release c))");
    assert_eq!(formula("(a -> b : c) == d"), "((a ? b : c) Eq d)");
    assert_eq!(
        formula("always (a implies eventually b) equivalent c"),
        "((Always (a Implies (Eventually b))) Equiv c)"
    );
}

#[test]
fn formulas_are_read_last() {
    let items = tree("ltl early { p@L && x == 1 } byte x; active proctype p() { L: skip }");
    let Some(Item::Ltl(ltl)) = items.last() else { panic!("the formula is the last item") };
    assert_eq!(show(&ltl.formula), "(p@L And (x Eq 1))");
    assert_eq!(&*ltl.name.as_ref().expect("it has a name").name, "early");
}

#[test]
fn messages() {
    assert_eq!(expr("q!a,b; q!a(b,c); q!!a"), "q!a,b; q!a,b,c; q!!a");
    assert_eq!(expr("q?a,1,-2,eval(b+1)"), "q?a,=1,=(Neg 2),eval((b Add 1))");
    assert_eq!(expr("q?(a,b(c)); q?<a>; q??<a,_>; q??a"), "q?a,b,c; q?<a>; q??<a,_>; q??a");
    assert_eq!(expr("q?[a] -> q??[1,a] == 0"), "q?[a]; (q??[=1,a] Eq 0)");
    assert_eq!(shown("mtype = { m }; chan q; init { q?m }"), "q?=m");
}

#[test]
fn references() {
    assert_eq!(expr("a[b[1]].c.d[2] = 3"), "a[b[1]].c.d[2] = 3");
    let model = "active proctype p() { byte x[2]; L: skip } init { p[1]@L && p@L && p:x[1] == p[0]:x[0] }";
    assert_eq!(shown(model), "((p[1]@L And p@L) And (p:x[1] Eq p[0]:x[0]))");
}

#[test]
fn labels_and_unless() {
    assert_eq!(expr("L: M: a = 1 unless b; N:; O: "), "L: M: a = 1 unless b; N:; O:");
}

#[test]
fn runs() {
    assert_eq!(expr("a = run p(b, 1) priority 3 + 1"), "a = (run p(b,1) priority 3 Add 1)");
    assert_eq!(expr("run p() && run q()"), "(run p() And run q())");
}

#[test]
fn select_of_constants_is_a_choice() {
    assert_eq!(expr("select (a : 1 .. 3)"), "if :: a = 1 :: a = 2 :: a = 3 fi");
    assert_eq!(expr("select (a : 1 .. 40); b = 1"), "a = 1; do :: (a Lt 40); a += 1 :: break od; b = 1");
    assert_eq!(expr("select (a : 1 .. b)"), "select(a : 1..b)");
    assert_eq!(shown("byte x_y; init { select (x_y : 1 .. 3) }"), "select(x_y : 1..3)");
    assert_eq!(shown("byte x; inline f() { select (x : 1 .. 3) } init { f() }"), "f{ select(x : 1..3) }");
    assert_eq!(expr("select (a : 1 ..\n 3)"), "select(a : 1..3)");
}

#[test]
fn declarations() {
    let items =
        tree("chan c = [2] of { byte, mtype:f, chan }; int a[3] = {1,2,3}; unsigned u : 5 = 7, v : 2");
    let vars: Vec<_> = items
        .iter()
        .flat_map(|i| match i {
            Item::Decl(d) => &d.vars[..],
            _ => &[],
        })
        .collect();
    assert!(matches!(&vars[0].init, Some(Initializer::Chan(c)) if c.fields.len() == 3));
    assert!(matches!(&vars[1].init, Some(Initializer::List(l, _)) if l.len() == 3));
    assert!(matches!((&vars[2].bits, &vars[2].init), (Some(_), Some(Initializer::Expr(_)))));
    assert_eq!(vars.len(), 4);
}

#[test]
fn numbers_wrap_with_a_warning() {
    let (parsed, _) = parse_text("init { int x; x = 4294967295 }");
    assert_eq!(parsed.diagnostics.iter().map(|d| d.code.name()).collect::<Vec<_>>(), ["W0101"]);
    let Item::Init(init) = &parsed.unit.items[0] else { panic!("an init") };
    assert_eq!(super::show_block(&init.body), "decl x; x = -1");
}

#[test]
fn pv() {
    assert_eq!(
        shown("init { lock x; sema s; lock(x); unlock(x); lock(s) }"),
        "decl x; decl s; lock(x); unlock(x); lock(s)"
    );
    let items = tree(
        "typedef enum { idle, busy } S; typedef enum a, b, c T; S s; lock l; sema m;\n\
         proctype p(S q; lock k) { q = busy } invariant safe s == idle && p[1]@end\n\
         invariant other (s != busy); byte last; init { run [i<2][j<3] p(i, l) priority 2 }",
    );
    let enums: Vec<_> = items
        .iter()
        .filter_map(|i| match i {
            Item::Enum(e) => Some((e.name.name.to_string(), e.names.len())),
            _ => None,
        })
        .collect();
    assert_eq!(enums, [("S".to_string(), 2), ("T".to_string(), 3)]);
    let invariants: Vec<_> = items
        .iter()
        .filter_map(|i| match i {
            Item::Invariant(i) => Some(show(&i.expr)),
            _ => None,
        })
        .collect();
    assert_eq!(invariants, ["((s Eq idle) And p[1]@end)", "(s Ne busy)"]);
    let locks = |i: &&Item| matches!(i, Item::Decl(d) if matches!(d.ty, TypeName::Lock | TypeName::Sema));
    assert_eq!(items.iter().filter(locks).count(), 2);
    let Some(Item::Init(init)) = items.last() else { panic!("an init") };
    let crate::ast::Step::Stmt(stmt) = &init.body.steps[0] else { panic!("a statement") };
    let StmtKind::RunIterated(run) = &stmt.kind else { panic!("an iterated run") };
    assert_eq!((run.iterators.len(), run.args.len()), (2, 2));
    assert!(!errors("byte x; proctype p() { skip } init { x = run [i<2] p() }").is_empty());
}
