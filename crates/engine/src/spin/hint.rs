//! What `spinor check` says to a flag of Spin: the option that is meant, instead of "unexpected argument".

use super::flags::{FLAGS, Flag, Place};
use super::{table, words};
use crate::notice::Notice;
use crate::session::Session;
use promela::diagnostic::Code;

/// The row of a word that a command does not know; the verifier's meaning comes first.
fn row(word: &str) -> Option<&'static Flag> {
    let pan = words::read(&["pan".to_string(), word.to_string()]);
    let spin = words::read(&[word.to_string()]);
    let of = |line: words::CommandLine| line.given.first().map(|given| given.flag);
    // What lacks its value is meant all the same.
    let named = || FLAGS.iter().find(|flag| flag.name == word);
    pan.ok().and_then(of).or_else(|| spin.ok().and_then(of)).or_else(named)
}

/// What to say about a flag of Spin, and how to go on; `None` when it is none.
pub fn flag(word: &str) -> Option<(String, String)> {
    if word.starts_with("--") || word.len() < 2 {
        return None;
    }
    let flag = row(word)?;
    let who = match flag.place {
        Place::Spin => "Spin",
        Place::Run | Place::Pan | Place::Compiler => "Spin's verifier",
    };
    let message = format!("{word} is a flag of {who} ({})", flag.about);
    let help = format!("here: {}; `spinor spin` takes Spin's command line as it is", table::here(flag));
    Some((message, help))
}

/// What the preprocessor calls the definitions of the command line.
const DEFINITIONS: &str = "<command line>";

/// Questions a macro that is a switch of Spin's verifier, where the model does not mention it.
pub fn switches(session: &Session) -> Vec<Notice> {
    let defined = session.source.options.preprocessor.iter().filter_map(|word| word.strip_prefix("-D"));
    let question = |text: &str| {
        let (switch, _) = words::switch(text)?;
        let mut of_model = session.sources.files().iter().filter(|file| file.name != DEFINITIONS);
        let is_used = of_model.any(|file| mentions(&file.text, switch.name));
        let message = format!(
            "-D{} is a macro here, and the model does not use it: it is a switch of Spin's verifier ({})",
            switch.name, switch.about
        );
        let help = format!("leave it out; here: {}", table::here(switch));
        (!is_used).then(|| Notice::plain(Code::W0709, message, Some(help)))
    };
    defined.filter_map(question).collect()
}

/// Whether a text has this name in it, as a word.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_get_a_hint() {
        let (message, help) = flag("-a").unwrap();
        assert_eq!(message, "-a is a flag of Spin's verifier (find acceptance cycles)");
        assert!(help.contains("--property accept") && help.contains("spinor spin"));
        assert!(flag("-m1000").unwrap().1.contains("--max-depth"));
        assert!(flag("-run").unwrap().0.contains("flag of Spin "));
        assert!(flag("-m").is_some() && flag("-noreduce").unwrap().1.contains("--por none"));
        assert_eq!([flag("--run"), flag("-"), flag("-?")], [None, None, None]);
    }

    #[test]
    fn names_are_words() {
        assert!(mentions("#ifdef NP\n", "NP") && mentions("NP", "NP") && mentions("x=NP;", "NP"));
        assert!(!mentions("NPX XNP N_P _NP", "NP"));
    }
}
