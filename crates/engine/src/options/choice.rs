//! Options whose value is one of a few words: an enum each, with its words beside the variants.
//!
//! Where another crate has the enum already (`Save`, `Building`, `Fairness`), it is used as it is; only the
//! words are added here.

use crate::failure::Failure;
use promela::diagnostic::nearest;
use reduce::Building;
use search::Save;
use symbolic::Reorder;
use system::Fairness;

/// A value that has a word on the command line.
pub trait Choice: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// What the values are, for messages: "store".
    const NOUN: &'static str;
    /// The values with their words, in the order in which they are listed.
    const WORDS: &'static [(Self, &'static str)];

    /// The word of a value, as reports show it; a value that cannot be asked for has one, too.
    fn word(self) -> &'static str;

    /// The value that a word names.
    fn of_word(word: &str) -> Result<Self, Failure> {
        let known = Self::WORDS.iter().find(|(_, known)| *known == word);
        known.map(|(value, _)| *value).ok_or_else(|| unknown(Self::NOUN, word, words::<Self>()))
    }
}

/// All words of a choice.
pub fn words<C: Choice>() -> Vec<&'static str> {
    C::WORDS.iter().map(|(_, word)| *word).collect()
}

/// The refusal of a word that names nothing.
pub(super) fn unknown(noun: &str, word: &str, known: Vec<&str>) -> Failure {
    Failure::refused_with(format!("unknown {noun} `{word}`"), one_of(word, known))
}

/// The repair of an unknown word: the one that was probably meant, and all that there are.
pub fn one_of<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let begins = |word: &&&str| {
        wrong.len() > 1 && word.starts_with(wrong) || word.len() > 1 && wrong.starts_with(**word)
    };
    let meant = known.iter().find(begins).copied().or_else(|| nearest(wrong, known.iter().copied()));
    let all = format!("use one of {}", known.join(", "));
    meant.map_or_else(|| all.clone(), |meant| format!("did you mean `{meant}`? {all}"))
}

/// Words for the variants of an enum; `shown` are those of values that cannot be asked for.
macro_rules! words {
    (
        $name:ident, $noun:literal, { $($variant:ident = $word:literal),+ $(,)? }
        $(shown { $other:ident = $shown:literal })?
    ) => {
        impl Choice for $name {
            const NOUN: &'static str = $noun;
            const WORDS: &'static [(Self, &'static str)] = &[$(($name::$variant, $word)),+];

            fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                    $($name::$other => $shown,)?
                }
            }
        }
    };
}

/// An enum with a word for each variant.
macro_rules! choice {
    (
        $(#[$doc:meta])*
        $name:ident, $noun:literal, { $($(#[$about:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[$about])* $variant),+
        }

        words!($name, $noun, { $($variant = $word),+ });
    };
}

choice! {
    /// The memory that global variables are in (`--memory`).
    Memory, "memory model", {
        /// Sequential consistency: what is stored is in memory.
        Sc = "sc",
        /// Total store order.
        Tso = "tso",
        /// Partial store order.
        Pso = "pso",
        /// All of them, compared.
        All = "all",
    }
}

choice! {
    /// The search algorithm (`--search`).
    Search, "search order", {
        /// Chosen by the tool.
        Auto = "auto",
        /// In order of discovery, in packs.
        Frontier = "frontier",
        /// Depth-first.
        Dfs = "dfs",
        /// Breadth-first: a shortest counterexample.
        Bfs = "bfs",
        /// Depth-first by workers in a ring (stack slicing).
        Handoff = "handoff",
        /// Cycles: nested depth-first search.
        Ndfs = "ndfs",
        /// Cycles: nested depth-first search by any number of workers.
        Cndfs = "cndfs",
        /// Cycles: nested depth-first search by two workers, one for each part.
        NdfsDual = "ndfs-dual",
        /// Cycles: strongly connected components.
        Scc = "scc",
        /// Cycles: strongly connected components, by any number of workers.
        Ufscc = "ufscc",
    }
}

/// The partial-order reduction (`--por`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Por {
    /// Everything is explored.
    None,
    /// Stubborn sets within one process.
    Ample,
    /// Stubborn sets.
    Stubborn,
    /// The Twophase algorithm.
    Twophase,
    /// Stubborn sets as long as they pay: the default, which has no word of its own.
    WhereItPays,
}

words!(Por, "partial-order reduction", {
    None = "none",
    Ample = "ample",
    Stubborn = "stubborn",
    Twophase = "twophase",
} shown { WhereItPays = "stubborn" });

choice! {
    /// Who explores (`--engine`).
    Engine, "engine", {
        /// From state to state.
        Explicit = "explicit",
        /// With sets of states.
        Symbolic = "symbolic",
        /// From state to state, on a GPU.
        Gpu = "gpu",
        /// Both at once: the first answer counts.
        Auto = "auto",
    }
}

choice! {
    /// In which order steps are taken by a symbolic search (`--order`).
    StepOrder, "order of steps", {
        /// Group after group, over all states that are known.
        Chain = "chain",
        /// From the last levels up.
        Saturation = "saturation",
    }
}

words!(Reorder, "order of slots", { None = "none", Force = "force", Sloan = "sloan" } shown { Best = "best" });

choice! {
    /// Which edges are followed where no state is left out (`--edges`).
    Edges, "selection of edges", {
        /// Without those whose target is found through edges that commute with them.
        Lean = "lean",
        /// All.
        All = "all",
    }
}

choice! {
    /// How visited states are kept (`--store`).
    StoreKind, "store", {
        /// Whole states.
        Table = "table",
        /// Tree compression, roots of 64 bits.
        Tree = "tree",
        /// Tree compression, quotiented roots.
        Cleary = "cleary",
        /// Components apart.
        Collapse = "collapse",
        /// A minimised automaton.
        Automaton = "automaton",
        /// Hash compaction: lossy.
        HashCompaction = "hc",
        /// A Bloom filter: lossy.
        Bitstate = "bitstate",
    }
}

impl StoreKind {
    /// Whether it may take a new state for an old one.
    pub fn is_lossy(self) -> bool {
        matches!(self, StoreKind::HashCompaction | StoreKind::Bitstate)
    }
}

choice! {
    /// How transitions are executed (`--exec`).
    Exec, "execution", {
        /// As native code.
        Jit = "jit",
        /// By the reference interpreter.
        Interp = "interp",
        /// As native code over packed states.
        Packed = "packed",
    }
}

choice! {
    /// The cycle proviso of a reduction (`--proviso`).
    CycleProviso, "proviso", {
        /// A successor outside the stack.
        Stack = "stack",
        /// A successor that is not closed.
        ClosedSet = "closed-set",
        /// No successor on the stack, unless it was expanded in full.
        Color = "color",
        /// Kept by the reducer itself, whatever the search does.
        Static = "static",
    }
}

choice! {
    /// A static reduction (`--opt`).
    StaticReduction, "static reduction", {
        /// Dead variables are reset.
        DeadVariables = "deadvars",
        /// Statements that nobody notices are merged.
        Merge = "merge",
        /// Constants are folded.
        Fold = "fold",
    }
}

choice! {
    /// What a search verifies about its own reductions (`--check`).
    SelfCheck, "self-check", {
        /// The facts about statements.
        Facts = "facts",
        /// The choices of the reducer.
        Reduction = "reduction",
    }
}

words!(Save, "selection of saved states", { All = "all", BackEdges = "backedge", BackEdgesDown = "backedge-down", None = "none" });
words!(Building, "construction of stubborn sets", { Closure = "closure", Deletion = "deletion" });
words!(Fairness, "fairness", { Weak = "weak", Strong = "strong" } shown { None = "none" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_their_values() {
        fn all<C: Choice>() {
            for &(value, word) in C::WORDS {
                assert_eq!((value.word(), C::of_word(word)), (word, Ok(value)));
            }
        }
        all::<Search>();
        all::<Por>();
        all::<Edges>();
        all::<Engine>();
        all::<StepOrder>();
        all::<Reorder>();
        all::<StoreKind>();
        all::<Exec>();
        all::<CycleProviso>();
        all::<StaticReduction>();
        all::<SelfCheck>();
        all::<Save>();
        all::<Building>();
        all::<Fairness>();
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest_one() {
        let Err(Failure::Refused { message, repair }) = StoreKind::of_word("bit") else { panic!("known") };
        assert_eq!(message, "unknown store `bit`");
        assert!(repair.unwrap().starts_with("did you mean `bitstate`? use one of table, tree,"));
    }
}
