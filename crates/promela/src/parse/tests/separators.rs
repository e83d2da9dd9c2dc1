//! Semicolons that are implied, dropped or missing.

use super::{errors, shown};

#[test]
fn a_line_end_ends_a_statement() {
    assert_eq!(shown("init { int x, y; x = y\n - 1 }"), "decl x,y; x = y; (Neg 1)");
    assert_eq!(shown("init { int x, y; x = y -\n 1 }"), "decl x,y; x = (y Sub 1)");
    assert_eq!(shown("init { int x, y; x = (y\n - 1) }"), "decl x,y; x = (y Sub 1)");
    assert_eq!(shown("init { int x\n x++\n x--\n x }"), "decl x; x += 1; x += -1; x");
    assert_eq!(errors("init { int x, y; x = y\n + 1 }").len(), 1);
    assert_eq!(errors("chan c; init { int x; c!x\n, 1 }").len(), 1);
}

#[test]
fn a_line_end_elsewhere_is_nothing() {
    assert_eq!(
        shown("chan c; init { int x; c!x,\n 1 -> goto\n L; L:\n x = 1 }"),
        "decl x; c!x,1; goto L; L: x = 1"
    );
    assert_eq!(shown("byte x\n= 1; init\n{\nbyte y;\natomic\n{\nskip } }"), "decl y; atomic { 1 }");
}

#[test]
fn unless_may_follow_a_brace_on_the_next_line_only() {
    assert_eq!(shown("init { { skip }\n unless { skip } }"), "{ 1 } unless { 1 }");
    assert_eq!(shown("int u; init { { skip }\n u = 1 }"), "{ 1 }; u = 1");
    assert_eq!(errors("init { if :: skip fi\n unless { skip } }").len(), 1);
}

#[test]
fn braces_and_else_bring_their_own_separator() {
    assert_eq!(shown("int x; init { { skip } x = 1 }"), "{ 1 }; x = 1");
    assert_eq!(shown("int x; init { if :: else x = 1 :: x fi; x = 2 }"), "if :: else; x = 1 :: x fi; x = 2");
    assert_eq!(shown("int x; inline f() { x = 1 } init { f() x = 2 }"), "f{ x = 1 }; x = 2");
}

#[test]
fn superfluous_separators() {
    assert_eq!(shown("int x; init { x = 1 ;;;; x = 2 -> -> x = 3; }"), "x = 1; x = 2; x = 3");
    assert_eq!(shown("int x; init { x = 1;; }"), "x = 1");
    // Spin drops them in pairs and allows one before the brace.
    assert_eq!(errors("int x; init { x = 1;;;; }").len(), 1);
}

#[test]
fn timeout_ends_a_line_except_in_an_inline() {
    assert_eq!(shown("int x; init { timeout\n x = 1 }"), "timeout; x = 1");
    assert_eq!(errors("int x; inline f() { timeout\n x = 1 } init { f() }").len(), 1);
    assert_eq!(shown("int x; inline f() { (timeout)\n x = 1 } init { f() }"), "f{ timeout; x = 1 }");
}

#[test]
fn for_may_have_its_block_on_the_next_line() {
    assert_eq!(
        shown("int a[2]; init { int i; for (i in a)\n { skip\n }\n i = 1 }"),
        "decl i; for(i in a) { 1 }; i = 1"
    );
}

#[test]
fn a_line_end_after_a_multi_line_comment_counts() {
    assert_eq!(shown("int x; init { x = 1 /* a\n b */ x = 2 }"), "x = 1; x = 2");
    assert_eq!(errors("int x; init { x = 1 /* a b */ x = 2 }").len(), 1);
}

#[test]
fn signs_that_spin_reads_its_own_way() {
    assert_eq!(shown("int x; init { if :: x --> x = 1 fi }"), "if :: x; x = 1 fi");
    let (parsed, _) = super::parse_text("init { */ skip }");
    assert_eq!(parsed.diagnostics.iter().map(|d| d.code.name()).collect::<Vec<_>>(), ["W0102"]);
}
