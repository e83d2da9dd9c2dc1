//! Compares automata of well-known formulas, and of their negations, with the never claims of `spin -f`.
//!
//! Reads a table whose first two columns are a name and a formula, and writes it anew with sizes
//! (`bench/ltl/run`). With `--keep-spin` the sizes of Spin's claims stay as they are: some take it minutes.
//! States and edges of a claim are counted as Spin writes them: every labelled choice and `accept_all` is a
//! state, every option an edge.

use ltl::{Acceptance, Automaton, Formula, parse::parse};
use std::process::Command;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: patterns TABLE [--keep-spin]")?;
    let keep = std::env::args().nth(2).is_some_and(|word| word == "--keep-spin");
    let mut out = String::from(
        "name\tformula\tsign\tstates\tedges\tspin states\tspin edges\tgeneralised states\tmarks\tstrength\n",
    );
    let mut previous = ("", "");
    let table = std::fs::read_to_string(&path)?;
    let old = |text: &str, sign: &str| {
        let rows = table.lines().map(|line| line.split('\t').collect::<Vec<&str>>());
        let mut rows = rows.filter(|row| row.len() > 6 && row[1] == text && row[2] == sign);
        rows.find_map(|row| Some((row[5].parse().ok()?, row[6].parse().ok()?)))
    };
    for line in table.lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(name), Some(text)) = (columns.next(), columns.next()) else { continue };
        if (name, text) == previous {
            continue;
        }
        previous = (name, text);
        let parsed = parse(text).map_err(|e| format!("{text}: {}", e.message))?;
        for (sign, formula) in [("+", parsed.formula.clone()), ("-", parsed.formula.negated())] {
            let automaton = Automaton::of(&formula, Acceptance::Buchi)?;
            let generalised = Automaton::of(&formula, Acceptance::Generalised)?;
            let spin = if keep { old(text, sign) } else { spin(&formula, &parsed.propositions) };
            let (states, edges) =
                spin.map_or(("-".to_string(), "-".to_string()), |(s, e)| (s.to_string(), e.to_string()));
            out.push_str(&format!(
                "{name}\t{text}\t{sign}\t{}\t{}\t{states}\t{edges}\t{}\t{}\t{:?}\n",
                automaton.n_states(),
                automaton.n_edges(),
                generalised.n_states(),
                generalised.n_marks,
                generalised.strength
            ));
        }
    }
    std::fs::write(&path, out)?;
    Ok(())
}

/// The size of Spin's claim: the better of the two ways to write `W`, which `spin -f` does not know. No
/// formula with `X` has one, nor one that takes Spin longer than a minute.
fn spin(formula: &Formula, names: &[String]) -> Option<(usize, usize)> {
    if formula.has_next() {
        return None;
    }
    let ways = [without_weak_until(formula, true), without_weak_until(formula, false)];
    let sizes = ways.iter().filter_map(|f| {
        let text = f.with_names(|p| names[p as usize].clone()).to_string();
        let run = Command::new("timeout").args(["60", "spin", "-f", &text]).output().ok()?;
        claim_size(&String::from_utf8_lossy(&run.stdout))
    });
    sizes.min()
}

fn claim_size(claim: &str) -> Option<(usize, usize)> {
    if !claim.starts_with("never") || !claim.trim_end().ends_with('}') {
        return None;
    }
    let count = |word: &str| claim.lines().filter(|l| l.trim_start().starts_with(word)).count();
    let skips = count("skip") + count("false");
    Some((count("do") + count("if") + skips, count("::") + skips))
}

/// `a W b` as `b V (a || b)`, or as `[] a || (a U b)`.
fn without_weak_until(formula: &Formula, release: bool) -> Formula {
    let again = |f: &Formula| Box::new(without_weak_until(f, release));
    match formula {
        Formula::True | Formula::False | Formula::Prop(_) => formula.clone(),
        Formula::Not(a) => Formula::Not(again(a)),
        Formula::Next(a) => Formula::Next(again(a)),
        Formula::Always(a) => Formula::Always(again(a)),
        Formula::Eventually(a) => Formula::Eventually(again(a)),
        Formula::And(a, b) => Formula::And(again(a), again(b)),
        Formula::Or(a, b) => Formula::Or(again(a), again(b)),
        Formula::Implies(a, b) => Formula::Implies(again(a), again(b)),
        Formula::Equiv(a, b) => Formula::Equiv(again(a), again(b)),
        Formula::Until(a, b) => Formula::Until(again(a), again(b)),
        Formula::Release(a, b) => Formula::Release(again(a), again(b)),
        Formula::WeakUntil(a, b) if release => {
            Formula::Release(again(b), Box::new(Formula::Or(again(a), again(b))))
        }
        Formula::WeakUntil(a, b) => {
            let always = Formula::Always(again(a));
            Formula::Or(Box::new(always), Box::new(Formula::Until(again(a), again(b))))
        }
    }
}
