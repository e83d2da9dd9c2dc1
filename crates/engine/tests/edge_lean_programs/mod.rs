//! Random programs full of rendezvous, with up to twenty processes of which most do nothing: what a lean
//! search must know of who offers, who takes, and who has a bed.

use std::fmt::Write;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    /// One below `n`.
    fn roll(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.roll(texts.len() as u64) as usize]
    }
}

/// A statement that can stand first in an option, and perhaps more behind it.
fn statement(dice: &mut Dice) -> String {
    let (c, k, g) = (dice.roll(3), dice.roll(2), dice.roll(2));
    let one = match dice.roll(14) {
        0..=2 => format!("c[{c}]!{k}"),
        3 => format!("c[{c}]!g[{g}]"),
        4 => format!("c[me]!{k}"),
        5 | 6 => format!("c[{c}]?{k}"),
        7 => format!("c[{c}]?eval(g[{g}])"),
        8 => format!("c[{c}]?x"),
        9 => format!("c[me]?x; g[{g}] = x; x = 0"),
        10 => format!("g[{g}] = 1 - g[{g}]"),
        11 => format!("g[{g}] == {k}"),
        12 => format!("q!{k}"),
        _ => "q?x; x = 0".to_string(),
    };
    match dice.roll(12) {
        0 => format!("atomic {{ {one}; g[{g}] = {k} }}"),
        1 => format!("atomic {{ {one}; c[{c}]!{k} }}"),
        2 if one.contains('?') => format!("d_step {{ {one}; g[{g}] = {k} }}"),
        _ => one,
    }
}

fn body(dice: &mut Dice, depth: u64) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.roll(3) {
        match dice.roll(if depth > 1 { 2 } else { 9 }) {
            7 => {
                let last = dice.one_of(&["", " :: else", " :: timeout -> g[0] = 1", " :: true"]);
                let (one, two) = (body(dice, depth + 1), body(dice, depth + 1));
                let _ = write!(text, "if :: {one} :: {two}{last} fi; ");
            }
            8 => {
                let (first, escape) = (body(dice, depth + 1), statement(dice));
                let _ = write!(text, "{{ {first} }} unless {{ {escape} }}; ");
            }
            6 if depth == 0 => text.push_str("run child(me); "),
            _ => {
                let _ = write!(text, "{}; ", statement(dice));
            }
        }
    }
    text
}

/// The program of this number.
pub fn program(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::from("chan c[3] = [0] of { bit };\nchan q = [1] of { bit };\nbit g[2];\n");
    let child = body(&mut dice, 1);
    let _ = writeln!(text, "proctype child(byte me) {{ bit x; {child} }}");
    let idle = dice.one_of(&["", "active [12] proctype idle() { end: false }\n"]);
    let before = dice.roll(2) == 0;
    if before {
        text.push_str(idle);
    }
    for number in 0..2 + dice.roll(3) {
        let what = body(&mut dice, 0);
        let again = dice.one_of(&["", "goto again"]);
        let provided = dice.one_of(&["", "", "", "", "", "", " provided (g[0] == 0)"]);
        let first = number % 3;
        let _ = writeln!(
            text,
            "active [{}] proctype p{number}(){provided} {{ byte me = {first}; bit x; again: {what}{again} }}",
            1 + dice.roll(2)
        );
    }
    if !before {
        text.push_str(idle);
    }
    text
}
