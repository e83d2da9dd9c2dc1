//! The interner: every spelling is kept once and named by a small number.
//!
//! Numbers make tokens copyable and macro lookup an array access, and the shared [`Arc<str>`] of a spelling
//! goes straight into the tokens of the parser. C's operators are interned first, in the order of
//! [`OPERATORS`], so that their numbers are constants.

use std::collections::HashMap;
use std::sync::Arc;

/// A spelling, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Sym(pub u32);

impl Sym {
    /// `(`
    pub const LPAREN: Sym = Sym(0);
    /// `)`
    pub const RPAREN: Sym = Sym(1);
    /// `,`
    pub const COMMA: Sym = Sym(2);
    /// `##`
    pub const PASTE: Sym = Sym(3);
    /// `#`
    pub const HASH: Sym = Sym(4);
    /// `...`
    pub const ELLIPSIS: Sym = Sym(5);
    /// `<`
    pub const LESS: Sym = Sym(6);
    /// `>`
    pub const GREATER: Sym = Sym(7);
    /// `[`
    pub const LBRACKET: Sym = Sym(8);
    /// `]`
    pub const RBRACKET: Sym = Sym(9);
    /// `{`
    pub const LBRACE: Sym = Sym(10);
    /// `}`
    pub const RBRACE: Sym = Sym(11);
}

/// The operators that the C preprocessor knows as single tokens, plus `@` and `\`, which Promela uses.
pub(super) const OPERATORS: &[&str] = &[
    "(", ")", ",", "##", "#", "...", "<", ">", "[", "]", "{", "}", ".", "->", "++", "--", "&", "*", "+", "-",
    "~", "!", "/", "%", "<<", ">>", "<=", ">=", "==", "!=", "^", "|", "&&", "||", "?", ":", ";", "=", "*=",
    "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", "@", "\\",
];

/// All spellings met so far.
pub(super) struct Interner {
    numbers: HashMap<Arc<str>, Sym>,
    texts: Vec<Arc<str>>,
}

impl Interner {
    /// An interner that knows the operators.
    pub fn new() -> Self {
        let mut interner = Interner { numbers: HashMap::new(), texts: Vec::new() };
        for operator in OPERATORS {
            interner.intern(operator);
        }
        interner
    }

    /// The number of `text`.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.numbers.get(text) {
            return sym;
        }
        let sym = Sym(self.texts.len() as u32);
        let shared: Arc<str> = text.into();
        self.numbers.insert(shared.clone(), sym);
        self.texts.push(shared);
        sym
    }

    /// The spelling with this number.
    pub fn text(&self, sym: Sym) -> &Arc<str> {
        &self.texts[sym.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_their_constant_numbers() {
        let interner = Interner::new();
        let constants = [
            (Sym::LPAREN, "("),
            (Sym::RPAREN, ")"),
            (Sym::COMMA, ","),
            (Sym::PASTE, "##"),
            (Sym::HASH, "#"),
            (Sym::ELLIPSIS, "..."),
            (Sym::LESS, "<"),
            (Sym::GREATER, ">"),
            (Sym::LBRACKET, "["),
            (Sym::RBRACKET, "]"),
            (Sym::LBRACE, "{"),
            (Sym::RBRACE, "}"),
        ];
        for (sym, text) in constants {
            assert_eq!(&**interner.text(sym), text);
        }
    }

    #[test]
    fn equal_spellings_share_one_text() {
        let mut interner = Interner::new();
        let a = interner.intern("abc");
        let b = interner.intern("abd");
        assert_ne!(a, b);
        assert_eq!(a, interner.intern("abc"));
        assert_eq!(&**interner.text(b), "abd");
    }
}
