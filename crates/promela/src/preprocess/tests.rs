//! Tests of the preprocessor as a whole. Expected token streams were checked against gcc's output where gcc
//! and Spin accept the text.

use super::*;
use crate::diagnostic::{Severity, has_errors};
use crate::source::Location;
use crate::token::{Punct, TokenKind};

/// Files in memory.
struct Memory<'a>(&'a [(&'a str, &'a str)]);

impl Files for Memory<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.to_string()).ok_or_else(|| "no such file".into())
    }
}

/// What came out: the result, and the map to look positions up in.
struct Translated {
    result: Preprocessed,
    sources: SourceMap,
}

impl Translated {
    /// The tokens as text, one space between two of them, lines as Spin would see them.
    fn text(&self) -> String {
        let mut out = String::new();
        for (token, line_start) in self.result.tokens.iter().zip(&self.result.line_starts) {
            let text = match &token.kind {
                TokenKind::Name(name) => name.to_string(),
                TokenKind::Number(value) => value.to_string(),
                TokenKind::Str(text) => format!("\"{text}\""),
                TokenKind::CBlock(text) => format!("«{text}»"),
                TokenKind::Punct(punct) => punct.text().to_string(),
                TokenKind::Unknown(c) => format!("?{c}"),
                TokenKind::End => break,
            };
            if !out.is_empty() {
                out.push(if *line_start { '\n' } else { ' ' });
            }
            out.push_str(&text);
        }
        out
    }

    fn codes(&self) -> Vec<&'static str> {
        self.result.diagnostics.iter().map(|d| d.code.name()).collect()
    }

    fn rendered(&self) -> String {
        self.result.diagnostics.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect()
    }

    /// File and line of the token number `at`.
    fn place(&self, at: usize) -> (String, u32) {
        let Location { file, line, .. } = self.sources.location(self.result.tokens[at].span);
        (file, line)
    }
}

fn run_with(files: &[(&str, &str)], options: &Options) -> Translated {
    let mut sources = SourceMap::new();
    let result = preprocess(files[0].0, &Memory(files), options, &mut sources);
    assert!(matches!(result.tokens.last().map(|t| &t.kind), Some(TokenKind::End)));
    assert_eq!(result.tokens.iter().filter(|t| t.kind == TokenKind::End).count(), 1);
    assert_eq!(result.tokens.len(), result.line_starts.len());
    assert!(result.diagnostics.iter().all(|d| d.help.is_some() || d.code.name() == "W0002"));
    Translated { result, sources }
}

fn run_files(files: &[(&str, &str)]) -> Translated {
    run_with(files, &Options::default())
}

fn run(text: &str) -> Translated {
    run_files(&[("m.pml", text)])
}

/// The tokens of a text without errors or warnings.
#[track_caller]
fn clean(text: &str) -> String {
    let run = run(text);
    assert!(run.result.diagnostics.is_empty(), "{}", run.rendered());
    run.text()
}

/// The codes of the diagnostics of a text.
fn codes(text: &str) -> Vec<&'static str> {
    run(text).codes()
}

#[test]
fn tokens_are_the_longest_match() {
    assert_eq!(
        clean("a->b<<c>>d<=e>=f==g!=h&&i||j!!k??l++m--n::o..p"),
        "a -> b << c >> d <= e >= f == g != h && i || j !! k ?? l ++ m -- n :: o .. p"
    );
    assert_eq!(
        clean("c?[x] c??[x] c?<x> c??<x> a[b[0]] x[y]"),
        "c ? [ x ] c ?? [ x ] c ? < x > c ?? < x > a [ b [ 0 ] ] x [ y ]"
    );
    assert_eq!(
        clean("[]p <>q [ ] < > a<->b a<-b p/\\q\\/r P@l"),
        "[] p <> q [ ] < > a <-> b a < - b p /\\ q \\/ r P @ l"
    );
    assert_eq!(clean(":::+++--- ===!!!"), ":: : ++ + -- - == = !! !");
    assert_eq!(clean("+= <<= .. ..."), "+ = << = .. .. .");
}

#[test]
fn every_punct_is_lexed_back() {
    for punct in Punct::ALL {
        let run = run(&format!("a {} b", punct.text()));
        assert_eq!(run.result.tokens[1].kind, TokenKind::Punct(*punct));
        let span = run.result.tokens[1].span;
        assert_eq!(run.sources.text(span), punct.text());
    }
}

#[test]
fn long_arrows_are_arrows() {
    let run = run("a --> b -- > c");
    assert_eq!((run.text().as_str(), run.codes()), ("a -> b -- > c", vec!["W0009"]));
}

#[test]
fn numbers_and_characters_have_spins_values() {
    assert_eq!(clean("007 2147483648 99999999999999999999"), "7 2147483648 9223372036854775807");
    assert_eq!(clean(r#"'a' '\n' '\t' '\r' '\f' '\\' '\'' '\q' '"'"#), "97 10 9 13 12 92 39 113 34");
    let zero = run(r"'\0'");
    assert_eq!((zero.text().as_str(), zero.codes()), ("48", vec!["W0008"]));
    let hex = run("0x10 12ab");
    assert_eq!((hex.text().as_str(), hex.codes()), ("0 x10 12 ab", vec!["W0006", "W0006"]));
}

#[test]
fn a_range_hides_a_macro_from_the_preprocessor() {
    let run = run("#define N 3\n0..N 0 .. N 0..M");
    assert_eq!((run.text().as_str(), run.codes()), ("0 .. N 0 .. 3 0 .. M", vec!["W0005"]));
    assert_eq!(run.sources.text(run.result.tokens[1].span), "..");
    assert_eq!(run.sources.text(run.result.tokens[2].span), "N");
}

#[test]
fn strings_keep_their_escapes() {
    assert_eq!(clean(r#"printf("a\"b\n%d /* */ // \\", x)"#), r#"printf ( "a\"b\n%d /* */ // \\" , x )"#);
    assert_eq!(clean("$[] p$"), "\"[] p\"");
    assert_eq!(clean("\"ab\\\ncd\""), "\"abcd\"");
}

#[test]
fn open_quotes_are_errors_where_they_count() {
    assert_eq!(codes("x \"abc\ny"), ["E0020"]);
    assert_eq!(codes("x don't\ny"), ["E0021"]);
    assert_eq!(codes("'ab' '' 'é'"), ["E0021", "E0021", "E0021"]);
    assert_eq!(run("x don't y\nz").text(), "x don ?'\nz");
    assert_eq!(clean("#if 0\ndon't \"\n#endif\nx // don't\n/* don't */"), "x");
    assert_eq!(clean("#define D don't\nx"), "x");
    assert_eq!(codes("#define D don't\nD"), ["E0021"]);
}

#[test]
fn unknown_characters_are_reported_and_passed() {
    let run = run("a ` b $ c \\ d é");
    assert_eq!(run.text(), "a ?` b ?$ c ?\\ d é");
    assert_eq!(run.codes(), ["E0022"; 4]);
    assert_eq!(codes("x # y"), ["E0024"]);
    assert_eq!(codes("#define H #\nH if 1"), ["E0024"]);
}

#[test]
fn white_space_and_comments_separate() {
    assert_eq!(clean("a/**/b\x0c\x0b\0c//d\r\ne"), "a b c\ne");
    assert_eq!(clean("/* a\n b */ c /* d\n*/ e"), "c\ne");
    assert_eq!(clean("a\rb\r\nc"), "a\nb\nc");
    assert_eq!(codes("x /* y\n"), ["E0019"]);
    assert_eq!(codes("#if 0\n/* y\n"), ["E0019", "E0016"]);
}

#[test]
fn continued_lines_are_joined() {
    assert_eq!(clean("ab\\\ncd e \\\n f\\\n+g"), "abcd\ne\nf + g");
    assert_eq!(clean("#define X 1 + \\\n 2\nX y"), "1 + 2 y");
    assert_eq!(clean("#define X \\  \r\n 2\r\nX"), "2");
    assert_eq!(clean("x // c \\\n y\nz"), "x\nz");
}

#[test]
fn object_macros() {
    assert_eq!(clean("#define A B + B\n#define B (1)\nA;"), "( 1 ) + ( 1 ) ;");
    assert_eq!(clean("#define E\n[E] !E! <E> :E: .E. -E>"), "[] !! <> : : . . - >");
    assert_eq!(clean("#define F (x)\nF(1)"), "( x ) ( 1 )");
    assert_eq!(clean("#define A 1\n#undef A\n#undef Z\nA"), "A");
    assert_eq!(clean("#define X xa ## 1 ## b\nX"), "xa1b");
}

#[test]
fn macros_do_not_recurse() {
    assert_eq!(clean("#define A A + B\n#define B A\nA"), "A + A");
    assert_eq!(clean("#define f(x) x f\nf(1)(2)"), "1 f ( 2 )");
    assert_eq!(clean("#define f(x) x + f(x)\nf(f(1))"), "1 + f ( 1 ) + f ( 1 + f ( 1 ) )");
    assert_eq!(clean("#define NIL(x) x\n#define G_0(a) NIL(G_1)(a)\n#define G_1(a) NIL(a)\nG_0(42)"), "42");
}

#[test]
fn the_example_of_the_c_standard() {
    let text = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
                #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n\
                #define r(x,y) x ## y\n#define str(x) # x\n\
                f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n\
                g(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
                p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\n\
                c[2][6] = { str(hello), str() };\n";
    assert_eq!(
        clean(text),
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;\n\
         f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) )\n\
         ^ m ( 0 , 1 ) ;\n\
         int i [] = { 1 , 23 , 4 , 5 , } ;\n\
         c [ 2 ] [ 6 ] = { \"hello\" , \"\" } ;"
    );
}

#[test]
fn function_macros() {
    assert_eq!(clean("#define F(a, b) a-b\nF(1,2) F((1,2),3) F(,) F"), "1 - 2 ( 1 , 2 ) - 3 - F");
    assert_eq!(clean("#define F() x\nF() F( ) F (\n) F y"), "x x x\nF y");
    assert_eq!(clean("#define I(x) x\nI(a\n b) c\nI\n(d) e\nI\nf"), "a b\nc\nd\ne\nI\nf");
    assert_eq!(clean("#define P(x) p##x\n#define N 1\nP(N) P(_a) P()"), "pN p_a p");
    assert_eq!(clean("#define X(a,b) a##b\n#define XY 7\nX(X,Y) X(-,>) X(<,<)"), "7 -> <<");
}

#[test]
fn strings_from_arguments() {
    assert_eq!(
        clean("#define S(x) #x\n#define N 1\nS( a  + \"b\\n\"/**/'\\0' ) S(N) S() S(\nx\n)"),
        r#""a + \"b\\n\" '\\0'" "N" "" "x""#
    );
    assert_eq!(clean("#define S(x) #x\n#define T(x) S(x)\n#define N 1\nT(N)"), "\"1\"");
    assert_eq!(clean("#define S # x\n"), "");
}

#[test]
fn variadic_macros() {
    assert_eq!(
        clean("#define P(f, ...) printf(f, ## __VA_ARGS__)\nP(a) P(a,) P(a, b) P(a, b, c)"),
        "printf ( a ) printf ( a , ) printf ( a , b ) printf ( a , b , c )"
    );
    assert_eq!(clean("#define P(a...) f(a)\nP() P(1, 2)"), "f ( ) f ( 1 , 2 )");
    assert_eq!(
        clean("#define P(...) f(0, ## __VA_ARGS__) #__VA_ARGS__\nP() P(1 , 2)"),
        "f ( 0 ) \"\" f ( 0 , 1 , 2 ) \"1 , 2\""
    );
}

#[test]
fn wrong_macros_are_reported() {
    assert_eq!(codes("#define\n#define 3\n#define defined\n#undef +"), ["E0006"; 4]);
    assert_eq!(
        codes("#define F(\n#define F(a\n#define F(a,)\n#define F(a b)\n#define F(1)\n#define F(...,a)"),
        ["E0007"; 6]
    );
    assert_eq!(codes("#define F(a,a) a"), ["E0007"]);
    assert_eq!(
        codes("#define F(a) #b\n#define G ## b\n#define H b ##\n#define I(...) __VA_OPT__(,)"),
        ["E0008"; 4]
    );
    assert_eq!(codes("#define F(a,b) a\nF(1) F(1,2,3)\n#define G() x\nG(1)"), ["E0009"; 3]);
    assert_eq!(codes("#define F(a) a\nF(1"), ["E0010"]);
    assert_eq!(codes("#define F(a) a\n#if F(1\n#endif\n)"), ["E0010"]);
    assert_eq!(codes("#define F(a) x ## a\nF(+)"), ["E0011"]);
}

#[test]
fn redefinition_is_a_warning_unless_it_says_the_same() {
    assert_eq!(clean("#define A  1 + 2\n#define A 1  +  2\n#define F(x) x\n#define F(x) x\nA"), "1 + 2");
    let run = run("#define A 1\n#define A 2\nA");
    assert_eq!((run.text().as_str(), run.codes()), ("2", vec!["W0001"]));
    assert_eq!(
        codes("#define A 1+2\n#define A 1 + 2\n#define F(x) x\n#define F(y) y\n#define __LINE__ 3"),
        ["W0001"; 3]
    );
}

#[test]
fn conditions() {
    for (condition, holds) in [
        ("1", true),
        ("0", false),
        ("UNKNOWN", false),
        ("defined A && !defined(B)", true),
        ("A == 5 && A*2 == 10 && A % 3 == 2 && A / 2 == 2", true),
        ("0x10 == 16 && 010 == 8 && 0b101 == 5 && 10u == 10ULL", true),
        ("'a' == 97 && '\\n' == 10 && '\\x41' == 65 && '\\101' == 65 && 'ab' == 24930", true),
        ("-1 < 0", true),
        ("-1 < 0u", false),
        ("-1 > 0u ? 0 : 1", false),
        ("1 ? 2 ? 0 : 1 : 1", false),
        ("1 || 1 / 0", true),
        ("0 && 1 / 0", false),
        ("1 ? 1 : 1 / 0", true),
        ("1 << 3 == 8 && -16 >> 2 == -4 && (1 << 64) == 0 && 1 << -1 == 0", true),
        ("2 + 3 * 4 == 14 && (2 + 3) * 4 == 20 && 10 - 3 - 2 == 5", true),
        ("(1 | 2 ^ 3 & 1) == 3 && ~0 == -1 && !0 && +1", true),
        ("(0, 1)", true),
        ("F(2) == 4", true),
        ("D", true),
        ("9223372036854775807 + 1 < 0", true),
        ("-9223372036854775807 - 1 == 1 << 63 && (-9223372036854775807 - 1) / -1", true),
    ] {
        let text = format!(
            "#define A 5\n#define F(x) (x+x)\n#define D defined A\n#if {condition}\nyes\n#else\nno\n#endif"
        );
        assert_eq!(clean(&text), if holds { "yes" } else { "no" }, "{condition}");
    }
}

#[test]
fn wrong_conditions_are_reported() {
    for condition in [
        "",
        "1 +",
        "(1",
        "1)",
        "1 2",
        "f(1)",
        "1.5",
        "\"x\"",
        "1 ? 2",
        "defined",
        "defined(1)",
        "defined(A",
        "= 1",
        "12ab",
        "+",
        "1 = 1",
        "@",
        "''",
    ] {
        let run = run(&format!("#if {condition}\nyes\n#else\nno\n#endif"));
        assert!(has_errors(&run.result.diagnostics), "{condition}");
        assert!(run.codes().contains(&"E0013"), "{condition}: {}", run.rendered());
    }
    assert_eq!(codes("#if 1 / 0\n#endif\n#if 1 % X\n#endif"), ["E0014", "E0014"]);
}

#[test]
fn parts_of_conditionals() {
    let text = |a: u8, b: u8| format!("#if {a}\na\n#elif {b}\nb\n#else\nc\n#endif\nd");
    assert_eq!(clean(&text(1, 1)), "a\nd");
    assert_eq!(clean(&text(0, 1)), "b\nd");
    assert_eq!(clean(&text(0, 0)), "c\nd");
    assert_eq!(
        clean("#ifdef X\nx\n#endif\n#ifndef X\ny\n#endif\n#if 0\n#elifndef X\nz\n#elifdef X\nw\n#endif"),
        "y\nz"
    );
    assert_eq!(
        clean(
            "#if 1\nx\n#elif 1 / 0\ny\n#endif\n#if 0\n#if 1\n#else\n#elif\n#foo\n#endif\n#error\n#else\nz\n#endif"
        ),
        "x\nz"
    );
    assert_eq!(clean("  # /**/ if 0\nx\n # else // y\nz\n#\tendif"), "z");
    assert_eq!(clean("#define F(x) [x]\nF(\n#ifdef X\na\n#else\nb\n#endif\n)"), "[ b ]");
}

#[test]
fn conditionals_out_of_place_are_reported() {
    assert_eq!(codes("#else\n#elif 1\n#endif"), ["E0015"; 3]);
    assert_eq!(codes("#if 1\n#else\n#else\n#endif"), ["E0015"]);
    assert_eq!(codes("#if 0\n#else\n#elif 1\n#endif"), ["E0015"]);
    assert_eq!(codes("#if 1\n#if 0\nx"), ["E0016", "E0016"]);
    assert_eq!(codes("#ifdef\n#endif\n#ifndef 1\n#endif"), ["E0006", "E0006"]);
    assert_eq!(codes("#ifndef A B\n#endif A\n"), ["W0004", "W0004"]);
}

#[test]
fn other_directives() {
    assert_eq!(codes("#error stop  here"), ["E0017"]);
    assert!(run("#error stop  here").rendered().contains("stop here"));
    assert_eq!(codes("#warning w\n#pragma p\n#ident \"x\"\n#\n"), ["W0002", "W0003"]);
    assert_eq!(codes("#foo\n#!x\n#elseif"), ["E0005"; 3]);
    assert_eq!(codes("#line\n#line x\n#line 1 x\n#line -1\n"), ["E0018"; 4]);
}

#[test]
fn line_directives_rename_lines() {
    let run = run(
        "a\n#line 10 \"x.pml\"\nb\nc __LINE__ __FILE__\n#line 5\nd\n# 7 \"y.pml\" 2\ne\n#define L 30\n#line L\nf",
    );
    assert!(run.result.diagnostics.is_empty(), "{}", run.rendered());
    assert_eq!(run.text(), "a\nb\nc 11 \"x.pml\"\nd\ne\nf");
    let places: Vec<_> = (0..run.result.tokens.len() - 1).map(|i| run.place(i)).collect();
    let expected = [
        ("m.pml", 1),
        ("x.pml", 10),
        ("x.pml", 11),
        ("x.pml", 11),
        ("x.pml", 11),
        ("x.pml", 5),
        ("y.pml", 7),
        ("y.pml", 30),
    ];
    assert_eq!(places, expected.map(|(f, l)| (f.to_string(), l)));
}

#[test]
fn files_include_files() {
    let files = [
        (
            "dir/m.pml",
            "#include \"a.pml\"\n#include <s.pml>\n#define B \"sub/b.pml\"\n#include B\nm __FILE__ __INCLUDE_LEVEL__",
        ),
        ("dir/a.pml", "a __FILE__"),
        ("lib/s.pml", "s __INCLUDE_LEVEL__ __BASE_FILE__"),
        ("dir/sub/b.pml", "b\n#include \"c.pml\"\n#include \"s.pml\" // again"),
        ("dir/sub/c.pml", "c"),
    ];
    let options = Options { include_dirs: vec!["lib".into()], ..Options::default() };
    let run = run_with(&files, &options);
    assert!(run.result.diagnostics.is_empty(), "{}", run.rendered());
    assert_eq!(run.text(), "a \"dir/a.pml\"\ns 1 \"dir/m.pml\"\nb\nc\ns 2 \"dir/m.pml\"\nm \"dir/m.pml\" 0");
    assert_eq!(run.place(0), ("dir/a.pml".into(), 1));
    assert_eq!(run.result.tokens.last().map(|t| t.span.file), Some(FileId(0)));
}

#[test]
fn files_are_read_once_where_they_say_so() {
    let files = [
        (
            "m.pml",
            "#include \"g.pml\"\n#include \"g.pml\"\n#include \"p.pml\"\n#include \"p.pml\"\n#import \"i.pml\"\n#import \"i.pml\"",
        ),
        ("g.pml", "#ifndef G\n#define G\ng\n#endif"),
        ("p.pml", "#pragma once\np"),
        ("i.pml", "i"),
    ];
    let run = run_files(&files);
    assert!(run.result.diagnostics.is_empty(), "{}", run.rendered());
    assert_eq!(run.text(), "g\np\ni");
}

#[test]
fn missing_files_are_errors() {
    let missing = run("#include \"x/y.pml\"\n#include <stdio.h>\n#include\n#include \"\"\n#include 3\nz");
    assert_eq!(missing.codes(), ["E0002", "E0002", "E0003", "E0003", "E0003"]);
    assert_eq!(missing.text(), "z");
    assert!(missing.rendered().contains("x/y.pml"));
    let mut sources = SourceMap::new();
    let result = preprocess("none.pml", &Memory(&[]), &Options::default(), &mut sources);
    assert_eq!(result.diagnostics[0].code.name(), "E0001");
    assert_eq!(result.tokens.len(), 1);
}

#[test]
fn a_conditional_or_call_does_not_leave_its_file() {
    let files = [
        ("m.pml", "#include \"a.pml\"\n#endif\n#define F(x) x\n#include \"b.pml\"\n)"),
        ("a.pml", "#if 1"),
        ("b.pml", "F(1"),
    ];
    assert_eq!(run_files(&files).codes(), ["E0016", "E0015", "E0010"]);
    let inside = [("m.pml", "#define F(x) x\nF(\n#include \"a.pml\"\n)"), ("a.pml", "a")];
    assert_eq!(run_files(&inside).codes(), ["E0003"]);
}

#[test]
fn endless_inclusion_names_the_cycle() {
    let files =
        [("m.pml", "#include \"a.pml\""), ("a.pml", "#include \"b.pml\""), ("b.pml", "#include \"a.pml\"")];
    let run = run_files(&files);
    assert_eq!(run.codes(), ["E0004"]);
    let text = run.rendered();
    assert!(text.contains("a.pml -> b.pml -> a.pml") || text.contains("b.pml -> a.pml -> b.pml"), "{text}");
    let names: Vec<String> = (0..40).map(|i| format!("f{i}")).collect();
    let texts: Vec<String> = (1..=40).map(|i| format!("#include \"f{i}\"\n#include \"f{i}\"\n")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|n| &**n).zip(texts.iter().map(|t| &**t)).collect();
    files.push(("f40", "x"));
    assert_eq!(run_files(&files).codes(), ["E0004"]);
}

#[test]
fn options_define_and_undefine() {
    let options = Options {
        defines: vec![
            ("A".into(), None),
            ("B".into(), Some("2 + 3".into())),
            ("F(x)".into(), Some("[x]\nno".into())),
            ("E".into(), Some(String::new())),
            ("Z".into(), None),
        ],
        undefines: vec!["Z".into(), "linux".into()],
        predefined: vec![("_UV_".into(), "7".into())],
        ..Options::default()
    };
    let run = run_with(&[("m.pml", "A B F(1) E Z linux _UV_ __FILE__ __LINE__")], &options);
    assert!(run.result.diagnostics.is_empty(), "{}", run.rendered());
    assert_eq!(run.text(), "1 2 + 3 [ 1 ] Z linux 7 \"m.pml\" 1");
    assert_eq!(run.place(0), ("m.pml".into(), 1));
    let bad = Options { defines: vec![("1x".into(), None)], ..Options::default() };
    assert_eq!(run_with(&[("m.pml", "x")], &bad).codes(), ["E0006"]);
}

#[test]
fn predefined_macros_of_gcc() {
    let run = run("linux __linux__ __STDC__ __COUNTER__ __COUNTER__ i386");
    assert_eq!((run.text().as_str(), run.codes()), ("1 1 1 0 1 i386", vec!["W0007"]));
    assert_eq!(clean("#if defined linux && defined __unix__ && unix\nx\n#endif").as_str(), "x");
}

#[test]
fn embedded_c_is_one_token() {
    let run = run("c_decl { \\#include <stdio.h>\n int f() { return '}' + \"}\"[0]; /* } */ } }\n\
                   c_code [x > a[0]] { now.x = 1; } y = c_expr { x } c_state \"int z\" \"Global\"\nc_code x");
    assert!(run.result.diagnostics.is_empty(), "{}", run.rendered());
    assert_eq!(
        run.text(),
        "c_decl «{ \\#include <stdio.h>\nint f() { return '}' + \"}\"[0]; } }»\n\
         c_code «[x > a[0]] { now.x = 1; }» y = c_expr «{ x }» c_state \"int z\" \"Global\"\nc_code x"
    );
    assert_eq!(run.sources.text(run.result.tokens[3].span), "[x > a[0]] { now.x = 1; }");
    assert_eq!(codes("c_code { x"), ["E0023"]);
    assert_eq!(codes("c_code { don't\n}"), ["E0021"]);
}

#[test]
fn places_of_macro_tokens_are_their_uses() {
    let run = run("#define ADD(a, b) a + b\n#define TWICE(x) ADD(x, x)\n\nTWICE(\n  y)\nz");
    assert_eq!(run.text(), "y + y\nz");
    let token = &run.result.tokens[1];
    assert_eq!(run.sources.text(token.span), "+");
    assert_eq!(run.place(1).1, 4);
    let inner = run.sources.expansion(token.span.expansion).expect("the token comes from a macro");
    assert_eq!(&*inner.name, "ADD");
    assert_eq!(run.sources.text(inner.call), "ADD");
    let outer = run.sources.expansion(inner.call.expansion).expect("that macro is used in a macro");
    assert_eq!((&*outer.name, outer.call.expansion), ("TWICE", ExpansionId::ROOT));
    // An argument keeps the place where it is spelled, but is shown at the use.
    let argument = &run.result.tokens[0];
    assert_eq!(run.sources.text(argument.span), "y");
    assert_ne!(argument.span.expansion, ExpansionId::ROOT);
    assert_eq!(run.place(0).1, 4);
    assert_eq!(run.place(3).1, 6);
}

#[test]
fn equal_names_share_their_text() {
    let run = run("abc x abc");
    let (TokenKind::Name(a), TokenKind::Name(b)) = (&run.result.tokens[0].kind, &run.result.tokens[2].kind)
    else {
        panic!("names expected");
    };
    assert!(std::sync::Arc::ptr_eq(a, b));
}

#[test]
fn doubling_macros_end_with_a_diagnostic() {
    let mut text: String = (0..40).map(|i| format!("#define A{i} A{} A{}\n", i + 1, i + 1)).collect();
    text.push_str("A0\nx\n");
    assert_eq!(codes(&text), ["E0012"]);
    let mut text: String = (0..60).map(|i| format!("#define F{i}(x) F{}(x##x)\n", i + 1)).collect();
    text.push_str("#define F60(x) x\nF0(ab)\n");
    assert_eq!(codes(&text), ["E0012"]);
    let mut text: String =
        (0..60).map(|i| format!("#define F{i}(x) G{i}(#x)\n#define G{i}(x) F{}(x)\n", i + 1)).collect();
    text.push_str("#define F60(x) x\nF0(\"\\\\\")\n");
    assert_eq!(codes(&text), ["E0012"]);
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = 100_000;
    let calls = format!("#define F(x) x\n{}1{}", "F(".repeat(deep), ")".repeat(deep));
    assert_eq!(codes(&calls), ["E0012"]);
    assert_eq!(run(&format!("#define F(x) x\n{}1{}", "F(".repeat(100), ")".repeat(100))).text(), "1");
    assert_eq!(run(&format!("{}x\n{}", "#if 1\n".repeat(deep), "#endif\n".repeat(deep))).text(), "x");
    assert_eq!(clean(&format!("{}x\n{}", "#if 0\n".repeat(deep), "#endif\n".repeat(deep))), "");
    for nested in ["(", "!", "1?", "-", "1?1:"] {
        assert_eq!(codes(&format!("#if {}1\n#endif", nested.repeat(deep))), ["E0013"]);
    }
    assert_eq!(clean(&format!("#if {}1\nx\n#endif", "1+".repeat(deep))), "x");
    let mut chain: String = (0..deep).map(|i| format!("#define A{i} A{}\n", i + 1)).collect();
    chain.push_str("A0\n");
    assert_eq!(clean(&chain), format!("A{deep}"));
}

#[test]
fn diagnostics_are_limited() {
    let run = run(&"`".repeat(10_000));
    assert_eq!(run.result.tokens.len(), 10_001);
    assert_eq!(run.codes().len(), MAX_DIAGNOSTICS + 1);
    assert_eq!(run.codes().last(), Some(&"E0025"));
}

#[test]
fn severities_match_gcc_and_spin() {
    let severity = |text: &str| run(text).result.diagnostics.first().map(|d| d.severity());
    assert_eq!(severity("#define A 1\n#define A 2"), Some(Severity::Warning));
    assert_eq!(severity("#warning x"), Some(Severity::Warning));
    assert_eq!(severity("#error x"), Some(Severity::Error));
    assert_eq!(severity("#nonsense"), Some(Severity::Error));
}

#[test]
fn any_text_gives_tokens() {
    // Pieces that mean something, thrown together: nothing may panic or hang.
    let pieces = [
        "#",
        "##",
        "define ",
        "if ",
        "endif",
        "else",
        "elif ",
        "include ",
        "line ",
        "\"",
        "'",
        "\\",
        "\n",
        "\r",
        "/*",
        "*/",
        "//",
        "(",
        ")",
        ",",
        "A",
        "F",
        "x",
        "0",
        "..",
        "$",
        "é",
        "{",
        "}",
        "[",
        "c_code",
        " ",
        "...",
        "__VA_ARGS__",
        "\0",
        "<",
        ">",
        "defined",
        "?",
    ];
    let mut seed = 1u64;
    for _ in 0..3000 {
        let mut text = String::from("#define A F(x\n#define F(x, ...) x ## __VA_ARGS__ #x A\n");
        for _ in 0..40 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let run = run(&text);
        for token in &run.result.tokens {
            run.sources.location(token.span);
        }
        run.rendered();
    }
}
