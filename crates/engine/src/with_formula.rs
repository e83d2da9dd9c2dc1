//! A formula from the command line (`--ltl`) behind a model, whose macros and names it may use.
//!
//! Both are read as one text, a file that includes the model; so the formula must be one formula and no more.
//! What could end its block (a brace, also one that comes out of a macro) or the line of a directive is
//! refused.

use crate::failure::Failure;
use crate::options::Source;
use promela::diagnostic::{Code, Diagnostic};
use promela::source::{Files, SourceMap};
use promela::token::{Punct, Token, TokenKind};

/// What a formula from the command line is called where files are.
pub const FORMULA: &str = "--ltl";

/// A file that includes the model and states the formula.
pub struct WithFormula<'a> {
    text: String,
    files: &'a dyn Files,
}

impl<'a> WithFormula<'a> {
    /// `None` when there is no formula.
    pub fn new(source: &Source, files: &'a dyn Files) -> Result<Option<Self>, Failure> {
        let Some(formula) = &source.options.formula else { return Ok(None) };
        if source.path.contains(['"', '\n']) {
            let message = format!("--ltl cannot be used with a model that is called {:?}", source.path);
            return Err(Failure::refused_with(message, "give the model another name"));
        }
        if formula.trim().is_empty() {
            return Err(Failure::refused_with("--ltl has no formula", "write it as --ltl '[] (x < 3)'"));
        }
        if formula.contains(['\n', '\r']) && formula.contains('#') {
            return Err(Failure::refused_with(
                "--ltl: the formula contains a directive (#)",
                "give a formula only; definitions belong into the model, or are given with -D",
            ));
        }
        let path = &source.path;
        // The last brace has a line of its own, which a comment at the end of the formula cannot reach.
        let text = format!("#include \"{path}\"\n#line 1 \"{FORMULA}\"\nltl cli {{ {formula}\n}}\n");
        Ok(Some(WithFormula { text, files }))
    }
}

impl Files for WithFormula<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == FORMULA { Ok(self.text.clone()) } else { self.files.read(path) }
    }
}

/// What is wrong with a formula that would be more than one: it has braces, the block's own apart.
pub fn more_than_a_formula(tokens: &[Token], sources: &SourceMap) -> Option<Diagnostic> {
    let is_formula = |token: &&Token| {
        let file = sources.site(token.span).file;
        sources.files().get(file.0 as usize).is_some_and(|file| file.name == FORMULA)
    };
    let brace = |token: &&Token| {
        matches!(token.kind, TokenKind::Punct(Punct::LBrace | Punct::RBrace)) && is_formula(token)
    };
    let braces: Vec<&Token> = tokens.iter().filter(brace).collect();
    let [_, inner, .., _] = braces[..] else { return None };
    let message = "--ltl: a formula has no braces; what follows would become part of the model";
    Some(
        Diagnostic::new(Code::E0101, inner.span, message)
            .help("give one formula, such as '[] (x < 3)'; group its parts with parentheses"),
    )
}
