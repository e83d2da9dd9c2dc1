//! The reserved words of Promela and the words that are operators inside `ltl` blocks.
//!
//! Words of the PV dialect are not here: they stay names and are recognised by position (see [`super::pv`]).

macro_rules! keywords {
    ($($name:ident $text:literal),* $(,)?) => {
        /// A reserved word; `true`, `false` and `skip` are numbers and not listed.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Keyword { $($name),* }

        impl Keyword {
            /// All of them.
            pub(super) const ALL: &'static [Keyword] = &[$(Keyword::$name),*];

            /// The word as written.
            pub(super) fn text(self) -> &'static str {
                match self { $(Keyword::$name => $text),* }
            }

            /// The keyword that `word` is, if it is one.
            pub(super) fn of(word: &str) -> Option<Keyword> {
                match word { $($text => Some(Keyword::$name),)* _ => None }
            }
        }
    };
}

keywords! {
    Active "active", Assert "assert", Atomic "atomic", Bit "bit", Bool "bool", Break "break", Byte "byte",
    CCode "c_code", CDecl "c_decl", CExpr "c_expr", CState "c_state", CTrack "c_track", DProctype "D_proctype",
    Do "do", Chan "chan", Else "else", Empty "empty", Enabled "enabled", Eval "eval", Fi "fi", For "for",
    Full "full", GetPriority "get_priority", Goto "goto", Hidden "hidden", If "if", In "in", Init "init",
    Inline "inline", Int "int", Len "len", Local "local", Ltl "ltl", Mtype "mtype", Nempty "nempty",
    Never "never", Nfull "nfull", Notrace "notrace", Np "np_", Od "od", Of "of", PcValue "pc_value", Pid "pid",
    Printf "printf", Printm "printm", Priority "priority", Proctype "proctype", Provided "provided",
    Return "return", Run "run", DStep "d_step", Select "select", SetPriority "set_priority", Short "short",
    Timeout "timeout", Trace "trace", Show "show", Typedef "typedef", Unless "unless", Unsigned "unsigned",
    Xr "xr", Xs "xs",
}

impl Keyword {
    /// Whether the word names a built-in type.
    pub(super) fn is_type(self) -> bool {
        use Keyword::*;
        matches!(self, Bit | Bool | Byte | Pid | Short | Int | Unsigned | Chan | Mtype)
    }

    /// Whether a statement begins with the word.
    pub(super) fn starts_statement(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            If | Do
                | For
                | Select
                | Break
                | Goto
                | Atomic
                | DStep
                | Assert
                | Printf
                | Printm
                | Run
                | Return
                | Else
        )
    }

    /// Whether the word may precede a type: `hidden`, `show`, `local`.
    pub(super) fn is_visibility(self) -> bool {
        matches!(self, Keyword::Hidden | Keyword::Show | Keyword::Local)
    }

    /// Whether the word can only stand at the top level, so that recovery may stop there at any depth.
    pub(super) fn starts_unit(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            Active | Proctype | DProctype | Init | Never | Trace | Notrace | Inline | Typedef | Ltl
        )
    }
}

/// A temporal operator, in words or signs; only inside `ltl` blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Temporal {
    /// `U`, `until`, `stronguntil`.
    Until,
    /// `W`, `weakuntil`.
    WeakUntil,
    /// `V`, `release`.
    Release,
    /// `X`, `next`.
    Next,
    /// `[]`, `always`.
    Always,
    /// `<>`, `eventually`.
    Eventually,
    /// `->`, `implies`.
    Implies,
    /// `<->`, `equivalent`.
    Equiv,
}

impl Temporal {
    /// The operator that `word` is inside a formula.
    pub(super) fn of(word: &str) -> Option<Temporal> {
        Some(match word {
            "U" | "until" | "stronguntil" => Temporal::Until,
            "W" | "weakuntil" => Temporal::WeakUntil,
            "V" | "release" => Temporal::Release,
            "X" | "next" => Temporal::Next,
            "always" => Temporal::Always,
            "eventually" => Temporal::Eventually,
            "implies" => Temporal::Implies,
            "equivalent" => Temporal::Equiv,
            _ => return None,
        })
    }

    /// The sign or letter that stands for it in messages.
    pub(super) fn text(self) -> &'static str {
        match self {
            Temporal::Until => "U",
            Temporal::WeakUntil => "W",
            Temporal::Release => "V",
            Temporal::Next => "X",
            Temporal::Always => "[]",
            Temporal::Eventually => "<>",
            Temporal::Implies => "->",
            Temporal::Equiv => "<->",
        }
    }
}
