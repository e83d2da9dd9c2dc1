//! Tokens: what the preprocessor hands to the parser.
//!
//! Keywords are plain names here; the parser knows them, so that contextual words (`lock`, `invariant`, …)
//! stay usable as names.

use crate::source::Span;
use std::sync::Arc;

/// A token and its place.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it was written, and through which expansion it came.
    pub span: Span,
}

/// What a token is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A keyword or identifier.
    Name(Arc<str>),
    /// A decimal number or a character constant; values beyond `i32` are kept for the parser to refuse.
    Number(i64),
    /// A string with its quotes removed and its escapes untouched.
    Str(Arc<str>),
    /// The braced text after `c_code`, `c_decl` … (the braces and an optional `[...]` included), kept as one
    /// token.
    CBlock(Arc<str>),
    /// An operator or separator.
    Punct(Punct),
    /// A character that no token starts with; already reported.
    Unknown(char),
    /// The end of the input (exactly one, last).
    End,
}

macro_rules! puncts {
    ($($name:ident $text:literal),* $(,)?) => {
        /// An operator or separator.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "the table gives the text of each")]
        pub enum Punct { $($name),* }

        impl Punct {
            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $(Punct::$name => $text),* }
            }

            /// All of them, for longest-match lexing.
            pub const ALL: &'static [Punct] = &[$(Punct::$name),*];
        }
    };
}

// Where Promela is ambiguous the lexer always takes the longest match; the parser splits `??[`, `?<>` and the
// like.
puncts! {
    LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
    Semi ";", Comma ",", Colon ":", DoubleColon "::", Dot ".", DotDot "..", At "@",
    Arrow "->", Assign "=", Eq "==", Ne "!=", Lt "<", Le "<=", Gt ">", Ge ">=", Shl "<<", Shr ">>",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", PlusPlus "++", MinusMinus "--",
    Amp "&", AmpAmp "&&", Bar "|", BarBar "||", Caret "^", Tilde "~", Not "!", NotNot "!!",
    Question "?", QuestionQuestion "??", Always "[]", Eventually "<>", Equiv "<->", And "/\\", Or "\\/",
}
