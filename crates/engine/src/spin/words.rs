//! A command line of Spin, read by the table: flags with their values, and the model.
//!
//! Spin looks at one letter of most flags and drops what follows (`-pgl` is `-p`), and stops at the first word
//! that is none. What it would drop is refused here, because somebody meant something by it.

use super::flags::{FLAGS, Flag, Place, Takes};
use super::switches::SWITCHES;
use crate::failure::Failure;
use crate::options::one_of;

/// A flag as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The row.
    pub flag: &'static Flag,
    /// The word as it was typed.
    pub word: String,
    /// Its value; empty where there is none.
    pub value: String,
}

/// A command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The flags in their order.
    pub given: Vec<Given>,
    /// The model.
    pub model: Option<String>,
    /// It is one of the verifier, and not of `spin`.
    pub is_of_pan: bool,
}

/// Behind these flags all others are for the verifier and its compiler.
const FOR_PAN: [&str; 3] = ["-run", "-search", "-replay"];

/// Reads a command line. A first word `spin` or `pan` says whose it is; `spin` is assumed.
pub fn read(words: &[String]) -> Result<CommandLine, Failure> {
    let mut line = CommandLine::default();
    let program = words.first().map(|word| word.rsplit('/').next().unwrap_or_default());
    let words = match program {
        Some("spin" | "spin.exe") => &words[1..],
        Some("pan" | "pan.exe" | "a.out") => {
            line.is_of_pan = true;
            &words[1..]
        }
        Some(compiler @ ("gcc" | "cc" | "clang" | "tcc")) => return Err(of_compiler(compiler, &words[1..])),
        _ => words,
    };
    let mut behind_run = line.is_of_pan;
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        if word == "-" || !word.starts_with('-') {
            line.model = Some(word.clone());
            break;
        }
        let (flag, joined) = flag_of(word, behind_run)?;
        let next = rest.peek().is_some_and(|next| !next.starts_with('-'));
        let value = match flag.takes {
            Takes::Next => rest.next().ok_or_else(|| lacks_value(word, flag))?.clone(),
            // The last word is the model.
            Takes::MaybeNext if joined.is_empty() && next && rest.len() > 1 => {
                rest.next().cloned().unwrap_or_default()
            }
            _ => joined.to_string(),
        };
        behind_run |= FOR_PAN.contains(&flag.name) && flag.place == Place::Spin;
        line.given.push(Given { flag, word: word.clone(), value });
    }
    match rest.next() {
        Some(word) => Err(Failure::refused_with(
            format!("{word:?} stands behind the model: Spin reads nothing there"),
            "give the model last",
        )),
        None => Ok(line),
    }
}

/// The row of a word and the value that is joined to it.
fn flag_of(word: &str, behind_run: bool) -> Result<(&'static Flag, &str), Failure> {
    let here = |flag: &&'static Flag| match flag.place {
        Place::Spin => !behind_run,
        Place::Run | Place::Pan => behind_run,
        Place::Compiler => false,
    };
    let fits = |flag: &&'static Flag| {
        word.strip_prefix(flag.name).is_some_and(|value| match flag.takes {
            Takes::Nothing | Takes::Next => value.is_empty(),
            Takes::Number | Takes::MaybeNumber => value.bytes().all(|c| c.is_ascii_digit()),
            Takes::Text => !value.is_empty(),
            // `-r2`, `-Nname`.
            Takes::MaybeNext => flag.name == "-N" || value.bytes().all(|c| c.is_ascii_digit()),
        })
    };
    let flag = FLAGS.iter().filter(here).filter(fits).max_by_key(|flag| flag.name.len());
    let flag = flag.ok_or_else(|| unknown(word, behind_run))?;
    let value = &word[flag.name.len()..];
    match flag.takes == Takes::Number && value.is_empty() {
        true => Err(lacks_value(word, flag)),
        false => Ok((flag, value)),
    }
}

fn lacks_value(word: &str, flag: &Flag) -> Failure {
    let example = if flag.takes == Takes::Number { format!("{word}5") } else { format!("{word} VALUE") };
    Failure::refused_with(
        format!("{word} has no value ({})", flag.about),
        format!("write it with its value, such as {example}"),
    )
}

/// A word that neither `spin` nor `pan` knows, or not at this place.
fn unknown(word: &str, behind_run: bool) -> Failure {
    let elsewhere = FLAGS.iter().find(|flag| flag.name == word);
    if let Some(flag) = elsewhere {
        let (place, other) = match behind_run {
            true => ("before -run", "behind -run Spin takes the flags of its verifier"),
            false => ("behind -run", "it is a flag of the verifier"),
        };
        return Failure::refused_with(
            format!("{word} ({}) does not stand here: {other}", flag.about),
            format!("put it {place}"),
        );
    }
    let letters: Vec<String> = word.chars().skip(1).map(|letter| format!("-{letter}")).collect();
    let all_known = letters.len() > 1 && letters.iter().all(|letter| flag_of(letter, behind_run).is_ok());
    if all_known {
        return Failure::refused_with(
            format!("{word}: Spin reads only the first letter of it"),
            format!("write {}", letters.join(" ")),
        );
    }
    let here = |flag: &&Flag| (flag.place == Place::Spin) != behind_run;
    let known = FLAGS.iter().filter(here).map(|flag| flag.name);
    let who = if behind_run { "Spin's verifier" } else { "Spin" };
    Failure::refused_with(format!("{who} has no flag {word}"), one_of(word, known))
}

/// The switch of the compiler that `-D` gives, and its value.
pub fn switch(text: &str) -> Option<(&'static Flag, &str)> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    SWITCHES.iter().find(|switch| switch.name == name).map(|switch| (switch, value))
}

/// `gcc -DNOREDUCE -o pan pan.c`: nothing is compiled.
fn of_compiler(compiler: &str, words: &[String]) -> Failure {
    let switches: Vec<&str> = words.iter().map(String::as_str).filter(|w| w.starts_with("-D")).collect();
    let example = ["spinor spin -run", &switches.join(" "), "MODEL"].join(" ").replace("  ", " ");
    Failure::refused_with(
        format!("{compiler} has nothing to compile: Spinor makes no pan.c"),
        format!("give the switches behind -run: `{example}`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<CommandLine, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        read(&words).map_err(|failure| match failure {
            Failure::Refused { message, repair } => format!("{message}: {}", repair.unwrap_or_default()),
            other => panic!("{other:?}"),
        })
    }

    fn shown(text: &str) -> Vec<String> {
        let line = line(text).unwrap();
        line.given.iter().map(|given| format!("{}={}", given.flag.name, given.value)).collect()
    }

    #[test]
    fn flags_have_their_values() {
        assert_eq!(shown("-a -DN=3 m.pml"), ["-a=", "-D=N=3"]);
        assert_eq!(shown("-run -a -m1000 -ltl p m.pml"), ["-run=", "-a=", "-m=1000", "-ltl=p"]);
        assert_eq!(shown("-t2 -p m.pml"), ["-t=2", "-p="]);
        assert_eq!(shown("./pan -r -v m.pml"), ["-r=", "-v="]);
        assert_eq!(shown("pan -r x.trail m.pml"), ["-r=x.trail"]);
        assert_eq!(shown("pan -Nsafe m.pml"), ["-N=safe"]);
        assert_eq!(
            shown("-run -p_rotate3 -RS77 -t_reverse m"),
            ["-p_rotate=3", "-RS=77", "-t_reverse="].map(String::from).into_iter().fold(
                vec!["-run=".to_string()],
                |mut all, one| {
                    all.push(one);
                    all
                }
            )
        );
        assert_eq!(line("spin -f []p m.pml").unwrap().model.as_deref(), Some("m.pml"));
        assert_eq!(line("-f []p").unwrap().model, None);
    }

    #[test]
    fn what_spin_would_drop_is_refused() {
        for (text, why) in [
            ("-pgl m.pml", "only the first letter of it: write -p -g -l"),
            ("-a m.pml -n3", "stands behind the model"),
            ("-y m.pml", "Spin has no flag -y"),
            ("-run -o3 m.pml", "-o3 (no statement merging) does not stand here"),
            ("-bfs m.pml", "-bfs (breadth-first search) does not stand here: it is a flag of the verifier"),
            ("-run -m m.pml", "-m has no value (depth limit"),
            ("-k", "-k has no value"),
            ("gcc -O2 -DNP -o pan pan.c", "`spinor spin -run -DNP MODEL`"),
        ] {
            let refusal = line(text).unwrap_err();
            assert!(refusal.contains(why), "{text}: {refusal}");
        }
    }

    /// Every row can be given, and is the row that is found.
    #[test]
    fn every_row_is_found() {
        for flag in FLAGS {
            let value = match flag.takes {
                Takes::Nothing | Takes::MaybeNext | Takes::Next => "",
                Takes::Number | Takes::MaybeNumber => "3",
                Takes::Text => "xyz",
            };
            let word = format!("{}{value}", flag.name);
            let (found, _) = flag_of(&word, flag.place != Place::Spin).unwrap();
            assert_eq!(found.name, flag.name);
        }
    }
}
