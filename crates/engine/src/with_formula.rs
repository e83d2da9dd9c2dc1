//! Formulas from the command line (`--ltl`, `--ctl`, `--mu`), and a never claim from a file of its own
//! (`--claim`), behind a model, whose macros and names they may use.
//!
//! All are read as one text, a file that includes the model; so each must be one formula and no more. What
//! could end its block (a brace, also one that comes out of a macro) or the line of a directive is refused.

use crate::failure::Failure;
use crate::options::Source;
use promela::diagnostic::{Code, Diagnostic};
use promela::source::{Files, SourceMap};
use promela::token::{Punct, Token, TokenKind};
use trace::ModelOptions;

/// What the file with the formulas is called; in messages each formula is called by its option.
pub const FORMULAS: &str = "formulas of the command line";

/// The beginning of the names of blocks that label states (`spinor graph --labels`).
pub const LABEL: &str = "__label_";

/// A file that includes the model and states the formulas.
pub struct WithFormula<'a> {
    text: String,
    files: &'a dyn Files,
}

/// The formulas that were given: the word of their block and an example of one.
fn formulas(options: &ModelOptions) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
    let all = [
        ("ltl", "[] (x < 3)", &options.formula),
        ("ctl", "AG EF (x == 0)", &options.ctl),
        ("mu", "nu Z. (<>true && []Z)", &options.mu),
    ];
    all.into_iter().filter_map(|(word, example, formula)| Some((word, example, formula.as_deref()?)))
}

/// What is read behind the model: the option, the beginning of the block, an example, and the text.
fn blocks(options: &ModelOptions) -> Vec<(&'static str, String, &'static str, &str)> {
    let given = formulas(options).map(|(word, example, text)| (word, format!("{word} cli"), example, text));
    let labels = options.labels.iter().enumerate();
    let labels = labels.map(|(at, text)| ("labels", format!("ctl {LABEL}{at}"), "x,len(c)", text.as_str()));
    given.chain(labels).collect()
}

/// Whether there are formulas, labels, or a claim in a file of its own.
pub fn has_formulas(options: &ModelOptions) -> bool {
    options.claim.is_some() || !blocks(options).is_empty()
}

impl<'a> WithFormula<'a> {
    /// `None` when there is no formula.
    pub fn new(source: &Source, files: &'a dyn Files) -> Result<Option<Self>, Failure> {
        if !has_formulas(&source.options) {
            return Ok(None);
        }
        let path = &source.path;
        let mut text = included(path)?;
        if let Some(claim) = &source.options.claim {
            text += &included(claim)?;
        }
        for (word, block, example, formula) in blocks(&source.options) {
            if formula.trim().is_empty() {
                let repair = format!("write it as --{word} '{example}'");
                return Err(Failure::refused_with(format!("--{word} has no formula"), repair));
            }
            if formula.contains(['\n', '\r']) && formula.contains('#') {
                return Err(Failure::refused_with(
                    format!("--{word}: the formula contains a directive (#)"),
                    "give a formula only; definitions belong into the model, or are given with -D",
                ));
            }
            // The last brace has a line of its own, which a comment at the end of the formula cannot reach.
            text += &format!("#line 1 \"--{word}\"\n{block} {{ {formula}\n}}\n");
        }
        Ok(Some(WithFormula { text, files }))
    }
}

/// The line that includes a file.
fn included(path: &str) -> Result<String, Failure> {
    match path.contains(['"', '\n']) {
        true => Err(Failure::refused_with(
            format!("formulas and claims cannot be read beside a file that is called {path:?}"),
            "give the file another name",
        )),
        false => Ok(format!("#include \"{path}\"\n")),
    }
}

impl Files for WithFormula<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == FORMULAS { Ok(self.text.clone()) } else { self.files.read(path) }
    }
}

/// What is wrong with a formula that would be more than one: it has braces, the block's own apart.
pub fn more_than_a_formula(
    tokens: &[Token],
    options: &ModelOptions,
    sources: &SourceMap,
) -> Option<Diagnostic> {
    let is_formula = |token: &&Token| {
        let file = sources.site(token.span).file;
        sources.files().get(file.0 as usize).is_some_and(|file| file.name == FORMULAS)
    };
    let open = |token: &Token| token.kind == TokenKind::Punct(Punct::LBrace);
    let brace = |token: &&Token| {
        matches!(token.kind, TokenKind::Punct(Punct::LBrace | Punct::RBrace)) && is_formula(token)
    };
    let braces: Vec<&Token> = tokens.iter().filter(brace).collect();
    let given = blocks(options);
    // An opening and a closing brace for each formula, in turn.
    let odd = braces.iter().enumerate().find(|(at, token)| open(token) != (at % 2 == 0));
    let (at, inner) = odd.or_else(|| braces.iter().enumerate().nth(2 * given.len()))?;
    let (word, _, example, _) = given.get(at / 2).or(given.last())?;
    let message = format!("--{word}: a formula has no braces; what follows would become part of the model");
    let help = format!("give one formula, such as '{example}'; group its parts with parentheses");
    Some(Diagnostic::new(Code::E0101, inner.span, message).help(help))
}
