//! `spinor parse --format svg` and `dot`: automata are drawn, one or all; wrong requests are refused.

mod common;

use common::{CommandOutput, Scratch};

const MODEL: &str = "\
byte x;
active proctype counter() {
  do
  :: x < 3 -> x++
  :: x >= 3 -> break
  od
}
init { skip }
";

fn drawn(words: &[&str]) -> CommandOutput {
    Scratch::with(MODEL).run(&[&["parse", "m.pml"], words].concat())
}

#[test]
fn automata_are_drawn() {
    let CommandOutput { stdout: svg, .. } = drawn(&["--format", "svg"]);
    let picture = roxmltree::Document::parse(&svg).expect("XML");
    let texts: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
    for text in ["proctype counter", "init", "x < 3", "x++", "x >= 3"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    // Where nothing was written nothing is drawn.
    assert!(!svg.contains("(the"));
    assert_eq!(svg, drawn(&["--format", "svg"]).stdout);
}

#[test]
fn one_automaton_is_drawn() {
    let CommandOutput { stdout: dot, .. } = drawn(&["--format", "dot", "--proctype", "counter"]);
    assert!(dot.starts_with("digraph spinor {") && dot.contains("[label=\"x >= 3\""), "{dot}");
    assert!(!dot.contains("label=\"init\""));
    let unknown = drawn(&["--format", "svg", "--proctype", "nobody"]);
    assert!(unknown.status == Some(2) && unknown.stderr.contains("counter, init"), "{}", unknown.stderr);
    let text = drawn(&["--proctype", "counter"]);
    assert!(text.status == Some(2) && text.stderr.contains("--format svg"), "{}", text.stderr);
}
