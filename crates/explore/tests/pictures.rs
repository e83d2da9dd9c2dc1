//! The automata of all models that there are here are drawn so that they can be read: nothing overlaps, no
//! picture is absurdly wide, and edges lead where the automaton says.

use draw::{Frame, graph_svg};
use engine::{Disk, Session, Source, Stop};
use explore::automata;
use explore::picture::{Situation, graph};
use std::path::{Path, PathBuf};
use trace::ModelOptions;

fn models() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut found, mut open): (Vec<PathBuf>, _) =
        (Vec::new(), vec![root.join("examples"), root.join("tests/models")]);
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|e| e == "pml") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// The boxes of nodes and labels: left, top, width, height.
fn boxes(svg: &str) -> Vec<[f64; 4]> {
    let picture = roxmltree::Document::parse(svg).expect("XML");
    let solid = |node: &roxmltree::Node<'_, '_>| matches!(node.attribute("class"), Some("node" | "cover"));
    let side = |node: roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse().unwrap();
    let all = picture.descendants().filter(solid);
    all.map(|node| ["x", "y", "width", "height"].map(|name| side(node, name))).collect()
}

fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    let apart = |i: usize| a[i] + a[i + 2] <= b[i] + 0.11 || b[i] + b[i + 2] <= a[i] + 0.11;
    !apart(0) && !apart(1)
}

#[test]
fn every_automaton_can_be_read() {
    let mut drawn = 0;
    for path in models() {
        let dialect = if path.contains("pv") { "pv" } else { "spin" };
        let options = ModelOptions { dialect: dialect.into(), ..ModelOptions::default() };
        let source = Source { path: path.clone(), options, ..Source::default() };
        let Ok(session) = Session::open(&source, &Disk, &Stop::never()).result else { continue };
        for automaton in automata(session.program().unwrap(), &session.sources) {
            let graph = graph(&automaton, &Situation::default());
            assert!(graph.edges.iter().all(|e| e.from < graph.nodes.len() && e.to < graph.nodes.len()));
            let silent = automaton.edges.iter().filter(|edge| edge.silent || edge.to.is_none()).count();
            assert!(graph.edges.len() + silent >= automaton.edges.len(), "{path}: {}", automaton.name);
            let svg = graph_svg::draw(&[graph], Frame::File);
            let boxes = boxes(&svg);
            for (i, a) in boxes.iter().enumerate() {
                assert!(!boxes[i + 1..].iter().any(|b| overlap(a, b)), "{path}: {}", automaton.name);
            }
            drawn += 1;
        }
    }
    assert!(drawn > 100, "{drawn}");
}
