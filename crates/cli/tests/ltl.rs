//! `spinor ltl`: automata in all formats, and what is said about wrong formulas.

mod common;

use common::Scratch;

fn ltl(words: &[&str]) -> (Option<i32>, String, String) {
    let run = Scratch::new().run(&[&["ltl"], words].concat());
    (run.status, run.stdout, run.stderr)
}

#[test]
fn never_claims_are_promela() {
    for formula in
        ["[] (x == 1 -> <> done)", "true", "false", "p[0]@l U (x > 2)", "[]<>(x==1) && []<>done", "X !done"]
    {
        let (status, claim, stderr) = ltl(&[formula]);
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{formula}");
        let model = format!("byte x; bool done;\nactive proctype p() {{ l: x = 1; done = true }}\n{claim}");
        let run = Scratch::with(&model).run(&["parse", "m.pml"]);
        assert_eq!(run.status, Some(0), "{formula}: {}\n{model}", run.stderr);
    }
    let (_, claim, _) = ltl(&["<> (x == 1)"]);
    assert_eq!(
        claim,
        "never { /* <> (x == 1) */\nT0_init:\n\tdo\n\t:: (!(x == 1)) -> goto T0_init\n\t:: ((x == 1)) -> goto accept_all\n\
         \tod;\naccept_all:\n\tskip\n}\n"
    );
}

#[test]
fn other_formats() {
    let (_, hoa, _) = ltl(&["[]<>a && []<>b", "--format", "hoa", "--generalised"]);
    assert!(hoa.contains("acc-name: generalized-Buchi 2\n") && hoa.contains("\n[0&!1] 0 {0}\n"), "{hoa}");
    let (_, dot, _) = ltl(&["[] a", "--format", "dot"]);
    assert!(
        dot.contains("s0 [label=0] [shape=doublecircle];\n") && dot.contains("s0 -> s0 [label=\"a\"];\n"),
        "{dot}"
    );
    let (_, json, _) = ltl(&["a U b", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["strength"].as_str(), json["stutter_invariant"].as_bool()),
        (Some("terminal"), Some(true))
    );
    assert_eq!(json["states"][0]["edges"].as_array().unwrap().len(), 2);
}

#[test]
fn mistakes_get_status_two_and_a_place() {
    let (status, stdout, stderr) = ltl(&["[] (p -> = q)"]);
    assert_eq!((status, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("formula:1:10") && stderr.contains("to compare, write `==`"), "{stderr}");
    let (status, _, stderr) = ltl(&["p &&", "--format", "json"]);
    let notice: serde_json::Value = serde_json::from_str(stderr.lines().next().unwrap()).unwrap();
    assert_eq!((status, notice["column"].as_u64()), (Some(2), Some(5)));
    for (formula, help) in
        [("G F p", "`G` is written `[]`"), ("p and q", "written `&&`"), ("not p", "written `!`")]
    {
        let (status, _, stderr) = ltl(&[formula]);
        assert!(status == Some(2) && stderr.contains(help), "{formula}: {stderr}");
    }
    let (status, _, stderr) = ltl(&["p", "--generalised"]);
    assert!(status == Some(2) && stderr.contains("leave out --generalised"), "{stderr}");
    let many = (0..65).map(|i| format!("<> p{i}")).collect::<Vec<String>>().join(" && ");
    let (status, _, stderr) = ltl(&[&many]);
    assert!(
        status == Some(2) && stderr.contains("64 propositions") && stderr.contains("split it"),
        "{stderr}"
    );
}
