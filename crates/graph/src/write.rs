//! Labelled transition systems for other tools: Aldebaran (CADP, mCRL2, LTSmin), Graphviz and JSON. A system
//! may be large, so it is written piece by piece.

use crate::lts::{Lts, SILENT};
use std::io::{self, Write};

/// `des (initial, steps, states)` and a line for every step.
pub fn aldebaran(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "des (0, {}, {})", lts.n_edges(), lts.n_states())?;
    // There may be a hundred million lines, and few different labels.
    let labels: Vec<String> = lts.names.iter().map(|name| format!(", \"{}\", ", quoted(name))).collect();
    let (mut source, mut line) = (String::new(), String::new());
    for state in 0..lts.n_states() {
        source.clear();
        source.push('(');
        push_number(&mut source, state as u32);
        for (label, target) in lts.steps(state) {
            line.clear();
            line.push_str(&source);
            line.push_str(&labels[label as usize]);
            push_number(&mut line, target);
            line.push_str(")\n");
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

/// Appends a number; faster than formatting it.
fn push_number(text: &mut String, number: u32) {
    let (mut digits, mut at, mut rest) = (['0'; 10], 10, number);
    loop {
        at -= 1;
        digits[at] = char::from(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend(&digits[at..]);
}

/// A directed graph, from top to bottom; the initial state has a second circle, silent steps are dotted.
pub fn graphviz(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph states {{")?;
    writeln!(out, "  node [shape=circle, fontname=\"sans-serif\", fontsize=10];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=9];")?;
    for state in 0..lts.n_states() {
        let values = values_of(lts, state);
        let shown: Vec<String> =
            lts.expressions.iter().zip(values).map(|(e, v)| format!("{e} = {v}")).collect();
        let label = if shown.is_empty() { state.to_string() } else { quoted(&shown.join("\n")) };
        let shape = if state == 0 { ", peripheries=2" } else { "" };
        let shape = if shown.is_empty() { shape.to_string() } else { format!(", shape=box{shape}") };
        writeln!(out, "  {state} [label=\"{label}\"{shape}];")?;
    }
    for state in 0..lts.n_states() {
        for (label, target) in lts.steps(state) {
            let name = &lts.names[label as usize];
            match name == SILENT {
                true => writeln!(out, "  {state} -> {target} [style=dotted];")?,
                false => writeln!(out, "  {state} -> {target} [label=\"{}\"];", quoted(name))?,
            }
        }
    }
    writeln!(out, "}}")
}

/// One object: `states` (a number), `initial`, `labels` (of steps), `expressions` and for each state its
/// `values` (only with expressions), and `edges`: source, number of the label, target.
pub fn json(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    let words = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|word| format!("\"{}\"", escaped(word))).collect();
        format!("[{}]", words.join(", "))
    };
    write!(out, "{{\"states\": {}, \"initial\": 0, \"labels\": {}", lts.n_states(), words(&lts.names))?;
    if !lts.expressions.is_empty() {
        write!(out, ", \"expressions\": {},\n\"values\": [", words(&lts.expressions))?;
        for state in 0..lts.n_states() {
            let comma = if state == 0 { "" } else { "," };
            write!(out, "{comma}\n[{}]", values_of(lts, state).join(", "))?;
        }
        write!(out, "]")?;
    }
    write!(out, ",\n\"edges\": [")?;
    let mut comma = "";
    for state in 0..lts.n_states() {
        for (label, target) in lts.steps(state) {
            write!(out, "{comma}\n[{state}, {label}, {target}]")?;
            comma = ",";
        }
    }
    writeln!(out, "]}}")
}

/// The values of the expressions in a state.
fn values_of(lts: &Lts, state: usize) -> &[String] {
    lts.classes.get(state).and_then(|&class| lts.values.get(class as usize)).map_or(&[], Vec::as_slice)
}

/// A word between quotation marks, for Aldebaran and Graphviz.
fn quoted(word: &str) -> String {
    word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A word in JSON.
fn escaped(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Lts {
        Lts {
            edges: [vec![1, 0], vec![0]].into_iter().collect(),
            labels: vec![0, 1, 0],
            names: vec!["p(0): x = \"a\"".to_string(), SILENT.to_string()],
            classes: vec![0, 1],
            values: vec![vec!["0".to_string()], vec!["1".to_string()]],
            expressions: vec!["x".to_string()],
        }
    }

    fn written(write: fn(&Lts, &mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&small(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_those_that_formatting_gives() {
        for number in [0, 7, 10, 99, 100, 123_456_789, u32::MAX] {
            let mut text = "(".to_string();
            push_number(&mut text, number);
            assert_eq!(text, format!("({number}"));
        }
    }

    #[test]
    fn every_format() {
        let aut = written(aldebaran);
        assert!(
            aut.starts_with("des (0, 3, 2)\n(0, \"p(0): x = \\\"a\\\"\", 1)\n(0, \"tau\", 0)\n"),
            "{aut}"
        );
        let dot = written(graphviz);
        assert!(dot.contains("  0 [label=\"x = 0\", shape=box, peripheries=2];"), "{dot}");
        assert!(dot.contains("  0 -> 0 [style=dotted];"), "{dot}");
        let json = written(json);
        assert!(json.contains("\"edges\": [\n[0, 0, 1],\n[0, 1, 0],\n[1, 0, 0]]"), "{json}");
        assert!(json.contains("\"values\": [\n[0],\n[1]]"), "{json}");
    }
}
