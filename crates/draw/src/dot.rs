//! A graph in the language of Graphviz.

use crate::graph::Graph;
use crate::text::picture;
use std::fmt::Write;

/// Some graphs as the text of one dot file, each a cluster.
pub fn draw(graphs: &[Graph]) -> String {
    let mut out = String::from("digraph spinor {\n  node [shape=circle];\n");
    for (number, graph) in graphs.iter().enumerate() {
        let _ = write!(out, "  subgraph cluster_{number} {{\n    label={};\n", quoted(&graph.title));
        let _ = writeln!(out, "    g{number}_start [shape=point];");
        for (at, node) in graph.nodes.iter().enumerate() {
            let mut also = String::new();
            if node.end {
                also.push_str(" peripheries=2");
            }
            if node.accept {
                also.push_str(" style=filled");
            }
            let _ = writeln!(
                out,
                "    g{number}_{at} [label={} tooltip={}{also}];",
                quoted(&node.text),
                quoted(&node.note)
            );
        }
        let _ = writeln!(out, "    g{number}_start -> g{number}_{};", graph.start);
        for edge in &graph.edges {
            let broken = if edge.atomic { " style=dashed" } else { "" };
            let _ = writeln!(
                out,
                "    g{number}_{} -> g{number}_{} [label={} tooltip={}{broken}];",
                edge.from,
                edge.to,
                quoted(&edge.text),
                quoted(&edge.note)
            );
        }
        out.push_str("  }\n");
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c => out.push(picture(c).unwrap_or(c)),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Node};

    #[test]
    fn texts_are_quoted() {
        let node = Node { text: "1".into(), end: true, ..Node::default() };
        let edge = Edge { text: "printf(\"a\\n\")".into(), atomic: true, ..Edge::default() };
        let graph = Graph { title: "p".into(), nodes: vec![node], edges: vec![edge], ..Graph::default() };
        let dot = draw(&[graph]);
        assert!(dot.contains("g0_0 [label=\"1\" tooltip=\"\" peripheries=2];"), "{dot}");
        assert!(dot.contains(r#"[label="printf(\"a\\n\")" tooltip="" style=dashed]"#), "{dot}");
    }
}
