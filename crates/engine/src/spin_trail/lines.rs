//! The text of a trail of Spin: `depth:process:statement` on each line, and a few lines with negative numbers.
//!
//! - `-2:N:-2`: the model was verified with the claim that is its Nth proctype, from 0. It is then process 0, and
//!   all others count from 1;
//! - `-4:-4:-4`: statements were merged, of which only the first has a line;
//! - `-1:-1:-1`: what follows is repeated forever;
//! - `-5` to `-8`: the order of a search that shuffles it, which the steps do not depend on.

use std::fmt::Write;

/// A step: who executes which statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The process, as the model counts them: claims are none.
    pub pid: u32,
    /// The number of the statement.
    pub statement: u32,
    /// The line of the file, from 1.
    pub line: usize,
}

/// A trail of Spin.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Lines {
    /// The steps of the model; those of a claim are left out.
    pub steps: Vec<Step>,
    /// Statements were merged.
    pub merged: bool,
    /// The claim, if there was one: its number among proctypes, claims and formulas.
    pub claim: Option<u32>,
    /// Steps before those that are repeated forever.
    pub cycle: Option<usize>,
}

/// The three numbers of a line.
fn numbers(line: &str) -> Option<[i64; 3]> {
    let mut parts = line.trim().split(':').map(|part| part.parse::<i64>().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Whether the file of this name and text is a trail of Spin: it begins like one, or is called like one and has
/// no step, where the initial state is wrong.
pub fn is_one(path: &str, text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.map_or(path.ends_with(".trail"), |line| numbers(line).is_some())
}

/// Reads the text; the error says where it is wrong.
pub fn read(text: &str) -> Result<Lines, String> {
    let mut lines = Lines::default();
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |what: &str| format!("line {number}, {:?}, {what}", line.trim());
        match numbers(line).ok_or_else(|| wrong("is not depth:process:statement"))? {
            [-1, _, _] if lines.cycle.is_some() => return Err(wrong("is a second cycle")),
            [-1, _, _] => lines.cycle = Some(lines.steps.len()),
            [-2, claim @ 0..=65535, _] if lines.steps.is_empty() => lines.claim = Some(claim as u32),
            [-4, _, _] => lines.merged = true,
            [-8..=-5, _, _] => {}
            [depth, pid @ 0..=255, statement] if depth >= 0 => {
                let statement = u32::try_from(statement).map_err(|_| wrong("has no such statement"))?;
                // Without its own steps, a claim only moves the others by one.
                if let Some(pid) = (pid as u32).checked_sub(u32::from(lines.claim.is_some())) {
                    lines.steps.push(Step { pid, statement, line: number });
                }
            }
            _ => return Err(wrong("is nothing that Spin writes")),
        }
    }
    Ok(lines)
}

/// Writes steps; a rendezvous is two of them.
pub fn write(steps: &[Step], cycle: Option<usize>) -> String {
    let mut text = String::new();
    for (i, step) in steps.iter().enumerate() {
        if cycle == Some(i) {
            text.push_str("-1:-1:-1\n");
        }
        // A string takes everything.
        let _ = writeln!(text, "{}:{}:{}", i + 1, step.pid, step.statement);
    }
    if cycle == Some(steps.len()) {
        text.push_str("-1:-1:-1\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_steps() {
        let step = |pid, statement, line| Step { pid, statement, line };
        let read_back = read("-4:-4:-4\n1:0:3\n2:1:27\n-1:-1:-1\n3:0:4\n").unwrap();
        let steps = vec![step(0, 3, 2), step(1, 27, 3), step(0, 4, 5)];
        assert_eq!(read_back, Lines { steps, merged: true, claim: None, cycle: Some(2) });
        let claimed = read("-2:2:-2\n1:0:40\n2:1:3\n3:0:41\n-1:-1:-1\n4:0:42\n").unwrap();
        assert_eq!(claimed.steps, [step(0, 3, 3)]);
        assert_eq!((claimed.claim, claimed.cycle), (Some(2), Some(1)));
        assert_eq!(write(&read_back.steps, Some(2)), "1:0:3\n2:1:27\n-1:-1:-1\n3:0:4\n");
        assert_eq!(write(&read_back.steps, Some(3)), "1:0:3\n2:1:27\n3:0:4\n-1:-1:-1\n");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, why) in [
            ("1:0:3\nx\n", "line 2, \"x\", is not depth:process:statement"),
            ("1:0\n", "line 1"),
            ("1:300:1\n", "nothing that Spin writes"),
            ("1:0:-7\n", "no such statement"),
            ("-1:-1:-1\n-1:-1:-1\n", "line 2, \"-1:-1:-1\", is a second cycle"),
            ("1:0:1\n-2:0:-2\n", "nothing that Spin writes"),
            ("99999999999999999999:0:1\n", "is not depth"),
        ] {
            assert!(read(text).unwrap_err().contains(why), "{text}: {:?}", read(text));
        }
        assert!(is_one("a", "\n-4:-4:-4\n") && is_one("a", "1:0:3") && is_one("m.trail", ""));
        assert!(!is_one("m.trail", "{\"format\": 1}") && !is_one("m.json", ""));
    }
}
