//! `printf` and `printm`.
//!
//! Formats are C's as far as Promela has values for them (`%d %i %c %u %x %o %s %%`, with `-`, `0` and a
//! width), and `%e`, which names a symbolic constant. Arguments are evaluated even when nobody reads the
//! text.

use promela::ir::{Expr, ExprKind, MtypeId, Program, Scalar};
use system::Event;

use super::fault::Outcome;
use super::step::Step;

/// The widest field that a format can ask for.
const MAX_WIDTH: usize = 256;

impl Step<'_> {
    /// `printf`.
    pub fn printf(&mut self, pid: usize, format: &str, args: &[Expr]) -> Outcome<()> {
        let view = self.view(pid, None);
        let values = args.iter().map(|arg| view.eval(arg)).collect::<Outcome<Vec<i32>>>()?;
        self.note(|interp, _| {
            let sets: Vec<Option<MtypeId>> = args.iter().map(mtype_of).collect();
            let mut text = String::new();
            write_format(&interp.program, format, &values, &sets, &mut text);
            Event::Print { pid: pid as u32, text }
        });
        Ok(())
    }

    /// `printm`.
    pub fn printm(&mut self, pid: usize, expr: &Expr, set: Option<MtypeId>) -> Outcome<()> {
        let value = self.view(pid, None).eval(expr)?;
        self.note(|interp, _| {
            let text = constant_name(&interp.program, set.or_else(|| mtype_of(expr)), value);
            Event::Print { pid: pid as u32, text }
        });
        Ok(())
    }
}

/// The set of constants that an expression's type names.
fn mtype_of(expr: &Expr) -> Option<MtypeId> {
    match &expr.kind {
        ExprKind::Load(place) => match place.scalar {
            Scalar::Mtype(set) => Some(set),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a symbolic constant: from its set, else from any set that has one, else its number.
pub(super) fn constant_name(program: &Program, set: Option<MtypeId>, value: i32) -> String {
    let known = set.and_then(|id| program.mtypes.get(id.index())).into_iter();
    known
        .chain(&program.mtypes)
        .find_map(|set| set.values.iter().find(|(_, v)| *v == value))
        .map_or_else(|| value.to_string(), |(name, _)| name.clone())
}

/// Appends `format` with its conversions replaced by `values`; missing values are 0.
fn write_format(
    program: &Program,
    format: &str,
    values: &[i32],
    sets: &[Option<MtypeId>],
    output: &mut String,
) {
    let mut next = 0;
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(chars.next(), output),
            '%' => {
                let mut spec = Spec::default();
                while let Some(&flag) = chars.peek() {
                    if !spec.accept(flag) {
                        break;
                    }
                    chars.next();
                }
                let Some(conversion) = chars.next() else { break };
                if conversion == '%' {
                    output.push('%');
                    continue;
                }
                let value = values.get(next).copied().unwrap_or(0);
                let set = sets.get(next).copied().flatten();
                next += 1;
                spec.pad(&convert(program, conversion, value, set), output);
            }
            _ => output.push(c),
        }
    }
}

fn escape(c: Option<char>, output: &mut String) {
    match c {
        Some('n') => output.push('\n'),
        Some('t') => output.push('\t'),
        Some('r') => output.push('\r'),
        Some(other) => output.push(other),
        None => output.push('\\'),
    }
}

fn convert(program: &Program, conversion: char, value: i32, set: Option<MtypeId>) -> String {
    match conversion {
        'd' | 'i' => value.to_string(),
        'u' => (value as u32).to_string(),
        'x' => format!("{value:x}"),
        'X' => format!("{value:X}"),
        'o' => format!("{value:o}"),
        'c' => char::from(value as u8).to_string(),
        'e' | 's' => constant_name(program, set, value),
        other => format!("%{other}"),
    }
}

/// The flags and the width of a conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    zeros: bool,
    width: usize,
}

impl Spec {
    /// Takes a character that belongs to the specification, not to the conversion.
    fn accept(&mut self, c: char) -> bool {
        match c {
            '-' => self.left = true,
            '0' if self.width == 0 => self.zeros = true,
            '0'..='9' => self.width = (self.width * 10 + (c as usize - '0' as usize)).min(MAX_WIDTH),
            'l' | 'h' | ' ' | '+' | '.' => {}
            _ => return false,
        }
        true
    }

    fn pad(&self, text: &str, output: &mut String) {
        let missing = self.width.saturating_sub(text.chars().count());
        if self.left {
            output.push_str(text);
            output.extend(std::iter::repeat_n(' ', missing));
        } else if self.zeros {
            let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
            output.push_str(sign);
            output.extend(std::iter::repeat_n('0', missing));
            output.push_str(digits);
        } else {
            output.extend(std::iter::repeat_n(' ', missing));
            output.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use promela::ir::MtypeSet;

    use super::*;

    #[test]
    fn formats() {
        let set = MtypeSet { name: "mtype".into(), values: vec![("ack".into(), 2)] };
        let program = Program { mtypes: vec![set], ..Program::default() };
        let print = |format: &str, values: &[i32]| {
            let mut out = String::new();
            write_format(&program, format, values, &[], &mut out);
            out
        };
        assert_eq!(print("a %d\\t%3d|%-3d|%03d\\n", &[-1, 7, 7, -7]), "a -1\t  7|7  |-07\n");
        assert_eq!(print("%c %x %o %u %%", &[65, 255, 8, -1]), "A ff 10 4294967295 %");
        assert_eq!(print("%e %e", &[2, 9]), "ack 9");
        assert_eq!(print("%d %", &[]), "0 ");
    }
}
