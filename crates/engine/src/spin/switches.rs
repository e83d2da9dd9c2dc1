//! The switches with which Spin's verifier is compiled (`-DNOREDUCE`). On a model they would be macros, which
//! mean nothing: `spinor check -DNOREDUCE` is questioned.

use super::flags::Here::{self, Check, Does, Refused, Without};
use super::flags::Takes::{self, Nothing, Number};
use super::flags::{Effect as E, Flag, Place};

const fn switch(name: &'static str, takes: Takes, about: &'static str, here: Here) -> Flag {
    Flag { place: Place::Compiler, name, takes, about, here }
}

const SIZES: &str = "tables and states have no fixed size";
const HASH: &str = "which hash function is used changes no verdict of an exact store";
const OUTPUT: &str = "it is for those who debug Spin's verifier";
const ORDER: &str = "the order of a search changes no verdict; --seed N shuffles it";

/// All switches.
pub static SWITCHES: &[Flag] = &[
    switch(
        "BCS",
        Nothing,
        "bounded context switching",
        Does(E::Switches, "`--max-switches N` with the N of -L, 0 without it"),
    ),
    switch("BFS", Nothing, "breadth-first search", Does(E::BreadthFirst, "`--search bfs`")),
    switch(
        "BFS_PAR",
        Nothing,
        "parallel breadth-first search",
        Does(E::BreadthFirst, "`--search bfs`: all cores work anyway"),
    ),
    switch("BITSTATE", Nothing, "bitstate storage", Check("--store bitstate")),
    switch("CHECK", Nothing, "debugging output", Without(OUTPUT)),
    switch("CNTRSTACK", Nothing, "another representation of the stack", Without(SIZES)),
    switch("COLLAPSE", Nothing, "collapse compression", Check("--store collapse")),
    switch("CTL", Nothing, "the reduction keeps branching time", Check("--por none")),
    switch("DEBUG", Nothing, "debugging output", Without(OUTPUT)),
    switch("DUAL_CORE", Nothing, "two cores", Check("--search handoff --threads 2")),
    switch("FULLSTACK", Nothing, "another representation of the stack", Without(SIZES)),
    switch("GLOB_ALPHA", Nothing, "_last in the reduction", Without("reductions know what is global")),
    switch("HC", Nothing, "hash-compact storage", Check("--store hc")),
    switch("HC0", Nothing, "hash-compact storage", Check("--store hc")),
    switch("HC1", Nothing, "hash-compact storage", Check("--store hc")),
    switch("HC2", Nothing, "hash-compact storage", Check("--store hc")),
    switch("HC3", Nothing, "hash-compact storage", Check("--store hc")),
    switch("HC4", Nothing, "hash-compact storage", Check("--store hc")),
    switch("JHASH", Nothing, "another hash function", Without(HASH)),
    switch("LC", Nothing, "compressed stack", Without(SIZES)),
    switch("MA", Number, "minimised automaton", Check("--store automaton")),
    switch("MEMCNT", Number, "at most 2^N bytes", Without("--max-memory SIZE limits the memory")),
    switch("MEMLIM", Number, "at most N megabytes", Check("--max-memory {}M")),
    switch("MUST_FAIL", Nothing, "debugging", Without(OUTPUT)),
    switch("NCORE", Number, "N cores", Check("--search handoff --threads {}")),
    switch("NFAIR", Number, "size of the fairness counters", Without(SIZES)),
    switch("NIBIS", Nothing, "matching states in another place", Without(SIZES)),
    switch(
        "NOBOUNDCHECK",
        Nothing,
        "no checks of array indices",
        Refused("an index out of bounds is an error that is never overlooked", "leave -DNOBOUNDCHECK out"),
    ),
    switch("NOCLAIM", Nothing, "ignore all claims", Does(E::NoClaim, "no `--property` for claims")),
    switch("NOCOMP", Nothing, "states are not compressed by masks", Without(SIZES)),
    switch(
        "NOFAIR",
        Nothing,
        "no code for fairness",
        Without("fairness costs nothing unless it is asked for"),
    ),
    switch(
        "NOFIX",
        Nothing,
        "no exception for the claim in the reduction",
        Refused("it makes the reduction unsound", "leave -DNOFIX out"),
    ),
    switch("NOREDUCE", Nothing, "no partial-order reduction", Check("--por none")),
    switch(
        "NOSTUTTER",
        Nothing,
        "claims do not stutter at the end",
        Refused("a run that ends is judged as one that stays in its last state", "leave -DNOSTUTTER out"),
    ),
    switch("NOVSZ", Nothing, "state vectors without their size", Without(SIZES)),
    switch("NO_RESIZE", Nothing, "the hash table does not grow", Without(SIZES)),
    switch("NP", Nothing, "non-progress cycles", Does(E::Progress, "`--property progress`")),
    switch("NSUCC", Nothing, "statistics of successors", Without(OUTPUT)),
    switch("PEG", Nothing, "how often each transition was taken", Check("--profile")),
    switch("PERMUTED", Nothing, "for -p_permute", Without(ORDER)),
    switch(
        "PRINTF",
        Nothing,
        "printf during verification",
        Refused(
            "a search prints nothing of the model's output",
            "`spinor replay` shows the output of a counterexample",
        ),
    ),
    switch("PUTPID", Nothing, "process numbers in names of trails", Without("--trail FILE names the trail")),
    switch("P_RAND", Nothing, "processes in random order", Check("--seed 1")),
    switch("P_REVERSE", Nothing, "processes in reverse order", Without(ORDER)),
    switch("RANDOMIZE", Takes::MaybeNumber, "random order of transitions", Check("--seed 1")),
    switch(
        "REACH",
        Nothing,
        "nothing is missed within the depth limit",
        Without(
            "without a depth limit nothing is missed, and with one --search bfs misses nothing within it",
        ),
    ),
    switch("REVERSE", Nothing, "processes in reverse order", Without(ORDER)),
    switch("RHASH", Nothing, "one of the -p_ options at random", Check("--seed 1")),
    switch(
        "R_XPT",
        Nothing,
        "goes on from a checkpoint",
        Refused("Spin's checkpoints are not read", "leave -DR_XPT out"),
    ),
    switch("SAFETY", Nothing, "safety properties only", Does(E::Safety, "`--property safety`")),
    switch("SC", Nothing, "the stack on disk", Without(SIZES)),
    switch("SDUMP", Nothing, "debugging output", Without(OUTPUT)),
    switch("SFH", Nothing, "another hash function", Without(HASH)),
    switch("SPACE", Nothing, "smaller, slower code", Without("--store tree and cleary are the small ones")),
    switch(
        "SVDUMP",
        Nothing,
        "dump of the states",
        Refused("states are not dumped", "`spinor graph MODEL --format json` writes the state graph"),
    ),
    switch("TRIX", Nothing, "another representation of the stack", Without(SIZES)),
    switch("T_RAND", Takes::MaybeNumber, "transitions in random order", Check("--seed 1")),
    switch("T_REVERSE", Nothing, "transitions in reverse order", Without(ORDER)),
    switch("ULL", Nothing, "wide hash values", Without(HASH)),
    switch("VAR_RANGES", Nothing, "ranges of variables", Check("--ranges")),
    switch("VECTORSZ", Number, "largest state vector", Without("states have no largest size")),
    switch("VERBOSE", Nothing, "debugging output", Without(OUTPUT)),
    switch(
        "W_XPT",
        Takes::MaybeNumber,
        "writes a checkpoint",
        Refused("Spin's checkpoints are not written", "leave -DW_XPT out"),
    ),
    switch("XUSAFE", Nothing, "xr and xs are not checked", Check("--por stubborn --trust-xr-xs")),
];
