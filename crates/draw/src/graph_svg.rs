//! A graph as SVG: layers from the top, labels in boxes of their own, full texts as tooltips.
//!
//! Edges between the same two nodes are one line with their labels stacked. Long statements are wrapped and
//! cut. Scripts find nodes by `data-at` and edges by `data-edge`; who stands where and what was taken last
//! can be part of the picture, so that it says so without a script.

use crate::graph::{Edge, Graph, Node};
use crate::layered::{self, Boxes, Placed, Point, Size, Way};
use crate::style::{self, Frame};
use crate::text::{escape, shortened, tooltip, wrapped};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Width of a character and height of a line of labels.
const CHAR: f64 = 6.7;
const LINE: f64 = 13.5;
/// Characters and lines of one statement, characters of one that has a line of its own, and lines of all that
/// are stacked.
const CHARS: usize = 28;
const WHOLE: usize = 34;
const LINES: usize = 2;
const STACKED: usize = 14;
/// Room around everything, and for the title.
const MARGIN: f64 = 14.0;
const TITLE: f64 = 30.0;
/// The height of a node, and of a name below it.
const NODE: f64 = 26.0;
const NAME: f64 = 12.0;

/// The edges from one node to another.
struct Bundle<'a> {
    from: usize,
    to: usize,
    edges: Vec<&'a Edge>,
    lines: Vec<(Option<&'a Edge>, String)>,
}

/// Graphs, one below the other, as the text of an SVG file or as a part of a page.
pub fn draw(graphs: &[Graph], frame: Frame<'_>) -> String {
    let (mut width, mut height, mut body) = (0.0, 0.0, String::new());
    for graph in graphs {
        let size = draw_one(graph, height, &mut body);
        width = f64::max(width, size.0);
        height += size.1;
    }
    let titles: Vec<&str> = graphs.iter().map(|graph| graph.title.as_str()).collect();
    style::open("graph", (width, height), &titles.join(", "), frame) + &body + "</svg>\n"
}

/// One graph, below others; returns its size.
fn draw_one(graph: &Graph, top: f64, out: &mut String) -> Size {
    let bundles = bundles(graph);
    let boxes = Boxes {
        nodes: graph.nodes.iter().map(node_size).collect(),
        edges: bundles.iter().map(|bundle| (bundle.from, bundle.to, label_size(bundle))).collect(),
        start: graph.start,
    };
    let placed = layered::place(&boxes);
    let _ = write!(
        out,
        "<text class=\"title\" x=\"{MARGIN}\" y=\"{:.0}\">{}</text>\n<g transform=\"translate({MARGIN},{:.0})\">\n",
        top + 24.0,
        escape(&graph.title),
        top + MARGIN + TITLE
    );
    start(&placed, graph.start, out);
    for (bundle, way) in bundles.iter().zip(&placed.edges) {
        line(bundle, way, out);
    }
    for (bundle, way) in bundles.iter().zip(&placed.edges) {
        label(bundle, way.label, out);
    }
    for ((node, size), at) in graph.nodes.iter().zip(&boxes.nodes).zip(&placed.nodes) {
        draw_node(node, *size, *at, out);
    }
    out.push_str("</g>\n");
    let title_width = graph.title.chars().count() as f64 * 8.6;
    (placed.size.0.max(title_width) + 2.0 * MARGIN, placed.size.1 + 2.0 * MARGIN + TITLE + 10.0)
}

/// The edges by their ends, in the order in which they come first.
fn bundles(graph: &Graph) -> Vec<Bundle<'_>> {
    let mut numbers: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut bundles: Vec<Bundle<'_>> = Vec::new();
    for edge in &graph.edges {
        let next = bundles.len();
        let number = *numbers.entry((edge.from, edge.to)).or_insert(next);
        if number == next {
            bundles.push(Bundle { from: edge.from, to: edge.to, edges: Vec::new(), lines: Vec::new() });
        }
        bundles[number].edges.push(edge);
    }
    bundles.iter_mut().for_each(|bundle| bundle.lines = lines(&bundle.edges));
    bundles
}

/// What stands beside a line: the statements, each in a few lines.
fn lines<'a>(edges: &[&'a Edge]) -> Vec<(Option<&'a Edge>, String)> {
    let mut out = Vec::new();
    for (number, edge) in edges.iter().enumerate() {
        if out.len() + 1 >= STACKED && number + 1 < edges.len() {
            out.push((None, format!("… {} more", edges.len() - number)));
            break;
        }
        let own = if edges.len() > 1 { vec![shortened(&edge.text, WHOLE)] } else { cut(&edge.text) };
        out.extend(own.into_iter().filter(|line| !line.is_empty()).map(|line| (Some(*edge), line)));
    }
    out
}

/// A statement in a few lines, in one if it is a little too long.
fn cut(text: &str) -> Vec<String> {
    let whole = shortened(text, usize::MAX);
    if whole.chars().count() <= WHOLE {
        return vec![whole];
    }
    let mut lines = wrapped(text, CHARS);
    if lines.len() > LINES {
        let rest = lines.split_off(LINES - 1).join(" ");
        lines.push(shortened(&rest, CHARS));
    }
    lines
}

fn label_size(bundle: &Bundle<'_>) -> Size {
    let chars = bundle.lines.iter().map(|(_, line)| line.chars().count()).max().unwrap_or(0);
    match chars {
        0 => (8.0, 8.0),
        _ => (chars as f64 * CHAR + 8.0, bundle.lines.len() as f64 * LINE + 3.0),
    }
}

fn node_width(node: &Node) -> f64 {
    (node.text.chars().count() as f64 * CHAR + 14.0).max(NODE)
}

fn node_size(node: &Node) -> Size {
    let names = node.here.iter().map(|(name, _)| name.chars().count() as f64 * 6.2).fold(0.0, f64::max);
    (node_width(node).max(names), NODE + node.here.len() as f64 * NAME)
}

/// An arrow from nowhere to the node where everything starts.
fn start(placed: &Placed, start: usize, out: &mut String) {
    let Some(&(x, _)) = placed.nodes.get(start) else { return };
    let _ = writeln!(
        out,
        "<g><path class=\"edge\" d=\"M{x:.1},-16V-6\"/><path class=\"arrow\" d=\"M{:.1},-8h8l-4,8z\"/></g>",
        x - 4.0
    );
}

fn line(bundle: &Bundle<'_>, way: &Way, out: &mut String) {
    let Some((first, rest)) = way.points.split_first() else { return };
    let mut path = format!("M{:.1},{:.1}", first.0, first.1);
    let mut from = *first;
    for (i, &to) in rest.iter().enumerate() {
        // By turns between two layers and through one.
        if i % 2 == 1 || (from.0 - to.0).abs() < 0.2 {
            let _ = write!(path, "L{:.1},{:.1}", to.0, to.1);
        } else {
            let middle = (from.1 + to.1) / 2.0;
            let _ =
                write!(path, "C{:.1},{middle:.1} {:.1},{middle:.1} {:.1},{:.1}", from.0, to.0, to.0, to.1);
        }
        from = to;
    }
    let upwards = way.points.len() > 1 && way.points[way.points.len() - 2].1 > from.1;
    let (wing, tip) = if upwards { (7.0, -7.0) } else { (-7.0, 7.0) };
    let mut class = String::from("way");
    for (word, is) in [("atomic", all(bundle, |e| e.atomic)), ("taken", any(bundle, |e| e.taken))] {
        if is {
            class = format!("{class} {word}");
        }
    }
    let keys: Vec<&str> = bundle.edges.iter().map(|edge| edge.key.as_str()).collect();
    let _ = writeln!(
        out,
        "<g class=\"{class}\" data-edge=\"{}\"><path class=\"edge\" d=\"{path}\"/>\
         <path class=\"arrow\" d=\"M{:.1},{:.1}h7l-3.5,{tip}z\"/></g>",
        escape(&keys.join(" ")),
        from.0 - 3.5,
        from.1 + wing,
    );
}

fn all(bundle: &Bundle<'_>, test: impl Fn(&Edge) -> bool) -> bool {
    bundle.edges.iter().all(|edge| test(edge))
}

fn any(bundle: &Bundle<'_>, test: impl Fn(&Edge) -> bool) -> bool {
    bundle.edges.iter().any(|edge| test(edge))
}

/// The labels of a line, on a ground that covers it.
fn label(bundle: &Bundle<'_>, at: Point, out: &mut String) {
    if bundle.lines.is_empty() {
        return;
    }
    let (width, height) = label_size(bundle);
    let (left, top) = (at.0 - width / 2.0, at.1 - height / 2.0);
    let _ = writeln!(
        out,
        "<rect class=\"cover\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
    for (number, (edge, line)) in bundle.lines.iter().enumerate() {
        let y = top + 1.5 + (number as f64 + 0.78) * LINE;
        let (class, key, note) = match edge {
            Some(edge) => (if edge.taken { "way taken" } else { "way" }, &*edge.key, &*edge.note),
            None => ("way", "", ""),
        };
        let _ = writeln!(
            out,
            "<g class=\"{class}\" data-edge=\"{}\"><text class=\"what\" x=\"{:.1}\" y=\"{y:.1}\">{}{}</text></g>",
            escape(key),
            at.0,
            tooltip(note),
            escape(line)
        );
    }
}

fn draw_node(node: &Node, size: Size, at: Point, out: &mut String) {
    let mut class = String::from("location");
    for (word, is) in [("accept", node.accept), ("progress", node.progress), ("here", !node.here.is_empty())]
    {
        if is {
            class = format!("{class} {word}");
        }
    }
    let (width, top) = (node_width(node), at.1 - size.1 / 2.0);
    let _ = write!(
        out,
        "<g class=\"{class}\" data-at=\"{}\">{}<rect class=\"node\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
         height=\"{NODE}\" rx=\"13\"/>",
        escape(&node.keys.join(" ")),
        tooltip(&node.note),
        at.0 - width / 2.0
    );
    if node.end {
        let _ = write!(
            out,
            "<rect class=\"ring\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"10\"/>",
            at.0 - width / 2.0 + 3.0,
            top + 3.0,
            width - 6.0,
            NODE - 6.0
        );
    }
    let _ = write!(
        out,
        "<text class=\"number\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        at.0,
        top + NODE / 2.0 + 4.0,
        escape(&node.text)
    );
    for (number, (name, colour)) in node.here.iter().enumerate() {
        let _ = write!(
            out,
            "<text class=\"who c{} label\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            style::colour(*colour),
            at.0,
            top + NODE + NAME * (number as f64 + 0.8),
            escape(name)
        );
    }
    out.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let node = |text: &str| Node { text: text.into(), keys: vec![text.into()], ..Node::default() };
        let edge = |from, to, text: &str| Edge {
            from,
            to,
            text: text.into(),
            note: format!("m.pml:1 {text}"),
            key: format!("{from}-{to}"),
            ..Edge::default()
        };
        Graph {
            title: "p <1>".to_string(),
            nodes: ["1", "2", "end"].map(node).to_vec(),
            edges: vec![
                edge(0, 1, "a < b && c"),
                edge(0, 1, "to_network!msg2(bobs_partner, nonce, nb, SENDER(bob)) and more of it"),
                edge(1, 0, "else"),
                edge(1, 1, "x++"),
                edge(1, 2, "\"</svg><script>\""),
            ],
            start: 0,
        }
    }

    #[test]
    fn a_picture_is_well_formed_and_holds_no_markup_of_the_model() {
        for frame in [Frame::File, Frame::Page("p")] {
            let svg = draw(&[graph()], frame);
            let parsed = roxmltree::Document::parse(&svg).expect("XML");
            let texts: Vec<&str> = parsed.descendants().filter_map(|node| node.text()).collect();
            assert!(texts.contains(&"a < b && c") && texts.contains(&"\"</svg><script>\""), "{texts:?}");
            assert_eq!(svg.contains("<style>"), frame == Frame::File);
            assert!(!svg.contains("<script"));
        }
    }

    #[test]
    fn parallel_edges_are_one_line_and_long_statements_are_cut() {
        let svg = draw(&[graph()], Frame::File);
        assert_eq!(svg.matches("<path class=\"edge\"").count(), 1 + 4);
        assert!(svg.contains(">to_network!msg2(bobs_partn…<") || svg.contains("…</text>"), "{svg}");
        assert!(svg.contains("and more of it</title>"));
    }
}
