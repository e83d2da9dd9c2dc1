//! The table of Spin's flags: those of `spin`, those that may follow `-run`, and those of the verifier `pan`.
//! Read from `spin --` and `pan --` of version 6.5.2, and tried out.

/// Who reads a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// `spin`, before `-run`.
    Spin,
    /// `spin` behind `-run`, `-search` or `-replay`, which makes compile-time switches of it.
    Run,
    /// The verifier: behind `-run`, or behind `pan`.
    Pan,
    /// The C compiler that makes the verifier: behind `-run`.
    Compiler,
}

/// The value of a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// None.
    Nothing,
    /// A number that is joined to it: `-m1000`.
    Number,
    /// A number that may be joined to it: `-t2`.
    MaybeNumber,
    /// Some text that is joined to it: `-DN=3`.
    Text,
    /// The next word.
    Next,
    /// A number that is joined to it, or the next word, or nothing: `-r`, `-r2`, `-r file`.
    MaybeNext,
}

/// What becomes of a flag here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Here {
    /// These words of `spinor check`; `{}` is the value.
    Check(&'static str),
    /// It decides what is done, or how: see [`super::translate`]. The text is for the table.
    Does(Effect, &'static str),
    /// It has no effect, and this is why.
    Without(&'static str),
    /// It is refused: the reason, and what to do instead.
    Refused(&'static str, &'static str),
}

/// What a flag decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Verify: `spinor check`.
    Verify,
    /// Only read the model: there is no verifier to be made.
    Generate,
    /// Follow a trail.
    Replay,
    /// Follow the trail in this file.
    ReplayFile,
    /// Choose the steps of a run by hand.
    Interactive,
    /// The seed of a random run.
    Seed,
    /// The number of steps of a random run.
    Steps,
    /// The first steps that are not told.
    Skip,
    /// A chart of the messages.
    Chart,
    /// A word for the preprocessor.
    Preprocessor,
    /// The word is one for the preprocessor, behind `-E`.
    PreprocessorWord,
    /// A formula as a claim.
    Formula,
    /// The same, from a file.
    FormulaFile,
    /// A never claim in a file.
    ClaimFile,
    /// The version.
    Version,
    /// What `-I` and `-d` show: the program.
    Program,
    /// Symbols, for machines.
    Symbols,
    /// Who uses which channel.
    Channels,
    /// The automata.
    Automata,
    /// The automata for Graphviz.
    Drawing,
    /// Without dead-variable analysis.
    NoDeadVariables,
    /// Without statement merging.
    NoMerging,
    /// Acceptance cycles.
    Accept,
    /// Non-progress cycles.
    Progress,
    /// No cycles: safety only.
    Safety,
    /// Assertions do not count.
    NoAssertions,
    /// Invalid end states do not count.
    NoEnds,
    /// Claims do not count.
    NoClaim,
    /// This claim.
    Claim,
    /// The depth limit.
    Depth,
    /// The number of errors after which to stop.
    Errors,
    /// The suffix of trail files.
    Suffix,
    /// A trail that exists is not overwritten.
    KeepTrail,
    /// A switch of the C compiler: [`super::switches`].
    Switch,
    /// Breadth-first, which has no cycles in Spin.
    BreadthFirst,
    /// Full channels lose messages.
    LoseMessages,
    /// Bounded context switching.
    Switches,
    /// Many bitstate searches.
    Swarm,
}

/// A row.
#[derive(Debug, PartialEq, Eq)]
pub struct Flag {
    /// Who reads it.
    pub place: Place,
    /// As it is typed, with its dash; a switch of the compiler without `-D`.
    pub name: &'static str,
    /// Its value.
    pub takes: Takes,
    /// What it means to Spin.
    pub about: &'static str,
    /// What becomes of it here.
    pub here: Here,
}

const fn flag(place: Place, name: &'static str, takes: Takes, about: &'static str, here: Here) -> Flag {
    Flag { place, name, takes, about, here }
}

use Effect as E;
use Here::{Check, Does, Refused, Without};
use Place::{Pan, Run, Spin};
use Takes::{MaybeNext, MaybeNumber, Next, Nothing, Number, Text};

const TOLD: &str = "a run tells every statement with its place, what it changes, messages and output";
const ORDER: &str = "the order of a search changes no verdict; --seed N shuffles it";

/// The flags; where one name begins another, either order will do: the longest name that fits counts.
pub static FLAGS: &[Flag] = &[
    flag(
        Spin,
        "-A",
        Nothing,
        "apply the slicing algorithm",
        Does(E::Channels, "`spinor facts MODEL`: what each statement uses"),
    ),
    flag(
        Spin,
        "-a",
        Nothing,
        "generate a verifier in pan.c",
        Does(
            E::Generate,
            "`spinor parse MODEL`: no verifier is generated or compiled, `spinor check MODEL` verifies at once",
        ),
    ),
    flag(Spin, "-B", Nothing, "no final state details in simulations", Without(TOLD)),
    flag(
        Spin,
        "-b",
        Nothing,
        "don't execute printfs in simulation",
        Without("output is told beside the step that makes it; --format json has it apart"),
    ),
    flag(Spin, "-C", Nothing, "print channel access info", Does(E::Channels, "`spinor facts MODEL`")),
    flag(
        Spin,
        "-c",
        Nothing,
        "columnated -s -r simulation output",
        Does(E::Chart, "`--msc MODEL.msc.txt`, with -t `--format msc`"),
    ),
    flag(Spin, "-D", Text, "define a macro", Does(E::Preprocessor, "`-D NAME[=VALUE]`")),
    flag(
        Spin,
        "-d",
        Nothing,
        "produce symbol-table information",
        Does(E::Symbols, "`spinor parse MODEL --format json`"),
    ),
    flag(
        Spin,
        "-E",
        Text,
        "pass a word to the preprocessor",
        Does(E::PreprocessorWord, "`-D`, `-U` or `-I`; other words are refused"),
    ),
    flag(
        Spin,
        "-e",
        Nothing,
        "synchronous product of multiple never claims",
        Refused(
            "the product of several claims is made while it is checked, and not written as text",
            "check the product itself: --property never:NAME1+NAME2",
        ),
    ),
    flag(Spin, "-F", Next, "like -f, with the formula in a file", Does(E::FormulaFile, "as -f")),
    flag(
        Spin,
        "-f",
        Next,
        "translate LTL into a never claim",
        Does(
            E::Formula,
            "`spinor ltl FORMULA`; with a model `--ltl '!(FORMULA)'`, because a claim describes what must not happen",
        ),
    ),
    flag(Spin, "-g", Nothing, "print all global variables", Without(TOLD)),
    flag(
        Spin,
        "-h",
        Nothing,
        "print the seed at the end of the run",
        Without("a seed that was drawn is always printed"),
    ),
    flag(
        Spin,
        "-I",
        Nothing,
        "show the result of inlining and preprocessing",
        Does(E::Program, "`spinor parse MODEL --format ir`"),
    ),
    flag(
        Spin,
        "-i",
        Nothing,
        "interactive simulation",
        Does(E::Interactive, "`spinor simulate MODEL --interactive`"),
    ),
    flag(
        Spin,
        "-J",
        Nothing,
        "reverse the evaluation order of nested unlesses",
        Refused("nested unless has one meaning here, that of Spin without -J", "leave -J out"),
    ),
    flag(
        Spin,
        "-j",
        Number,
        "skip the first N steps of a trail",
        Does(E::Skip, "`spinor replay TRAIL --steps N+1..`"),
    ),
    flag(Spin, "-k", Next, "use the trail in this file", Does(E::ReplayFile, "`spinor replay FILE`")),
    flag(
        Spin,
        "-L",
        Nothing,
        "with -e, strict language intersection",
        Refused("it belongs to -e, which is not available yet", "leave -L out"),
    ),
    flag(Spin, "-l", Nothing, "print all local variables", Without(TOLD)),
    flag(Spin, "-M", Nothing, "message sequence chart in tcl/tk", Does(E::Chart, "`--msc MODEL.svg`")),
    flag(
        Spin,
        "-m",
        Nothing,
        "lose messages that are sent to full channels",
        Does(E::LoseMessages, "`--lossy-channels`"),
    ),
    flag(
        Spin,
        "-N",
        Next,
        "use the never claim in this file",
        Does(E::ClaimFile, "`spinor check MODEL --claim FILE`"),
    ),
    flag(Spin, "-n", Number, "seed of the random numbers", Does(E::Seed, "`spinor simulate MODEL --seed N`")),
    flag(
        Spin,
        "-O",
        Nothing,
        "old scope rules (before 5.3.0)",
        Refused(
            "a variable is known in its block only, as in every Spin since 5.3",
            "move declarations that are used outside their block in front of it",
        ),
    ),
    flag(
        Spin,
        "-o1",
        Nothing,
        "no dataflow optimisations",
        Does(E::NoDeadVariables, "`--opt` without `deadvars`"),
    ),
    flag(
        Spin,
        "-o2",
        Nothing,
        "don't hide write-only variables",
        Does(E::NoDeadVariables, "`--opt` without `deadvars`"),
    ),
    flag(Spin, "-o3", Nothing, "no statement merging", Does(E::NoMerging, "`--opt` without `merge`")),
    flag(
        Spin,
        "-o4",
        Nothing,
        "rendezvous optimisations",
        Without("a rendezvous is one step here; there is nothing to switch on"),
    ),
    flag(Spin, "-o5", Nothing, "case caching", Without("it makes pan.m smaller, and there is none")),
    flag(
        Spin,
        "-o6",
        Nothing,
        "old rules for priorities (before 6.2)",
        Refused(
            "priorities have the meaning of Spin 6.2 and later",
            "leave -o6 out, and look at the priorities of the model",
        ),
    ),
    flag(
        Spin,
        "-o7",
        Nothing,
        "old rules for semicolons (before 6.3)",
        Without("what the old rules accept is read the same way"),
    ),
    flag(
        Spin,
        "-P",
        Text,
        "use this preprocessor",
        Refused(
            "the preprocessor is built in",
            "run yours first and check what it writes: cpp MODEL | spinor check -",
        ),
    ),
    flag(Spin, "-p", Nothing, "print all statements", Without(TOLD)),
    flag(
        Spin,
        "-pp",
        Nothing,
        "pretty-print standard input",
        Refused("there is no pretty-printer", "`spinor parse MODEL --format ir` shows the program"),
    ),
    flag(
        Spin,
        "-q",
        Number,
        "suppress output for channel N",
        Without("a run tells all messages; --format json can be filtered"),
    ),
    flag(Spin, "-r", Nothing, "print receive events", Without(TOLD)),
    flag(Spin, "-replay", Nothing, "replay a trail", Does(E::Replay, "`spinor replay TRAIL`")),
    flag(
        Spin,
        "-run",
        Nothing,
        "generate, compile and run a verifier",
        Does(E::Verify, "`spinor check MODEL`"),
    ),
    flag(
        Spin,
        "-S",
        Number,
        "separate sources for claim and model",
        Without("nothing is compiled separately"),
    ),
    flag(Spin, "-s", Nothing, "print send events", Without(TOLD)),
    flag(Spin, "-search", Nothing, "the same as -run", Does(E::Verify, "`spinor check MODEL`")),
    flag(Spin, "-simulate", Nothing, "ignored by Spin", Without("it is what `spin MODEL` does anyway")),
    flag(
        Spin,
        "-T",
        Nothing,
        "do not indent printf output",
        Without("output is told beside the step that makes it"),
    ),
    flag(
        Spin,
        "-t",
        MaybeNumber,
        "follow the [Nth] trail",
        Does(E::Replay, "`spinor replay TRAIL`: Spinor's own trail or one of Spin, whichever is newer"),
    ),
    flag(Spin, "-U", Text, "undefine a macro", Does(E::Preprocessor, "`-U NAME`")),
    flag(
        Spin,
        "-u",
        Number,
        "stop a simulation after N steps",
        Does(E::Steps, "`spinor simulate MODEL --steps N`"),
    ),
    flag(Spin, "-V", Nothing, "print the version", Does(E::Version, "`spinor --version`")),
    flag(Spin, "-v", Nothing, "verbose, more warnings", Without("all warnings are always told")),
    flag(Spin, "-W", Nothing, "do not compile pan again", Without("nothing is compiled by a C compiler")),
    flag(Spin, "-w", Nothing, "very verbose", Without(TOLD)),
    flag(Spin, "-X", Nothing, "reserved for xspin", Without("it is for Spin's own user interface")),
    flag(Spin, "-Y", Nothing, "reserved for xspin", Without("it is for Spin's own user interface")),
    flag(Spin, "-Z", Nothing, "preprocess only", Does(E::Program, "`spinor parse MODEL --format ir`")),
    flag(Run, "-bfs", Nothing, "breadth-first search", Does(E::BreadthFirst, "`--search bfs`")),
    flag(
        Run,
        "-bfspar",
        Nothing,
        "parallel breadth-first search",
        Does(E::BreadthFirst, "`--search bfs`: all cores work anyway"),
    ),
    flag(Run, "-dfspar", Nothing, "parallel depth-first search", Check("--search handoff")),
    flag(
        Run,
        "-bcs",
        Nothing,
        "bounded context switching",
        Does(E::Switches, "`--max-switches N` with the N of -L, 0 without it"),
    ),
    flag(Run, "-bitstate", Nothing, "bitstate storage", Check("--store bitstate")),
    flag(Run, "-bit", Nothing, "bitstate storage", Check("--store bitstate")),
    flag(
        Run,
        "-biterate",
        Text,
        "bitstate with iterative refinement",
        Does(E::Swarm, "`spinor swarm MODEL`: many bitstate searches, each different"),
    ),
    flag(Run, "-swarm", Text, "the same in parallel", Does(E::Swarm, "`spinor swarm MODEL`")),
    flag(
        Run,
        "-link",
        Next,
        "link pan to a C file",
        Refused(
            "embedded C is run only where a person allows it, for which Spin has no flag",
            "use `spinor check MODEL --allow-c --c-source FILE`",
        ),
    ),
    flag(Run, "-collapse", Nothing, "collapse compression", Check("--store collapse")),
    flag(Run, "-noreduce", Nothing, "no partial-order reduction", Check("--por none")),
    flag(Run, "-np", Nothing, "compile for non-progress cycles", Does(E::Progress, "`--property progress`")),
    flag(Run, "-hc", Nothing, "hash-compact storage", Check("--store hc")),
    flag(
        Run,
        "-noclaim",
        Nothing,
        "ignore all ltl and never claims",
        Does(E::NoClaim, "no `--property` for claims"),
    ),
    flag(Run, "-permuted", Nothing, "compile for -p_permute", Without(ORDER)),
    flag(Run, "-p_permute", Nothing, "processes in random order", Check("--seed 1")),
    flag(Run, "-p_rotate", MaybeNumber, "order of processes rotated by N", Without(ORDER)),
    flag(Run, "-p_randrot", Nothing, "order of processes rotated at random", Check("--seed 1")),
    flag(Run, "-p_reverse", Nothing, "order of processes reversed", Without(ORDER)),
    flag(Run, "-p_normal", Nothing, "order of processes as declared", Without(ORDER)),
    flag(Run, "-rhash", Nothing, "one of the -p_ options at random", Check("--seed 1")),
    flag(Run, "-ltl", Next, "verify this ltl property", Does(E::Claim, "`--property ltl:NAME`")),
    flag(Run, "-safety", Nothing, "safety properties only", Does(E::Safety, "`--property safety`")),
    flag(Run, "-D", Text, "a switch of the C compiler", Does(E::Switch, "see the switches")),
    flag(
        Run,
        "-U",
        Text,
        "undefine a switch of the C compiler",
        Without("nothing is compiled by a C compiler"),
    ),
    flag(
        Run,
        "-O",
        MaybeNumber,
        "optimisation level of the C compiler",
        Without("nothing is compiled by a C compiler"),
    ),
    flag(Run, "-W", Nothing, "do not compile pan again", Without("nothing is compiled by a C compiler")),
    flag(
        Pan,
        "-a",
        Nothing,
        "find acceptance cycles",
        Does(
            E::Accept,
            "`--property accept` or the claim's: claims and formulas are always checked as a whole",
        ),
    ),
    flag(
        Pan,
        "-A",
        Nothing,
        "ignore assertion violations",
        Does(E::NoAssertions, "no `--property assertion`"),
    ),
    flag(
        Pan,
        "-b",
        Nothing,
        "exceeding the depth limit is an error",
        Without("a search that was cut off is never `holds`: verdict unknown, status 3"),
    ),
    flag(Pan, "-C", MaybeNext, "columnated replay", Does(E::ReplayFile, "`spinor replay TRAIL`")),
    flag(
        Pan,
        "-c",
        Number,
        "stop at the Nth error",
        Does(E::Errors, "`--all-errors` for -c0, nothing for -c1, `--stop-at N` for others"),
    ),
    flag(
        Pan,
        "-D",
        Nothing,
        "print state tables for Graphviz",
        Does(E::Drawing, "`spinor parse MODEL --format dot`"),
    ),
    flag(Pan, "-d", Nothing, "print state tables", Does(E::Automata, "`spinor parse MODEL --format ir`")),
    flag(Pan, "-E", Nothing, "ignore invalid end states", Does(E::NoEnds, "no `--property end-state`")),
    flag(Pan, "-e", Nothing, "trails for all errors", Check("--all-errors")),
    flag(Pan, "-F", Text, "file of the stack on disk", Without("there is no stack on disk")),
    flag(Pan, "-f", Nothing, "weak fairness", Check("--fair weak")),
    flag(Pan, "-G", Number, "gigabytes for the bit array", Check("--max-memory {}G")),
    flag(Pan, "-g", MaybeNext, "replay with a chart", Does(E::ReplayFile, "`spinor replay TRAIL`")),
    flag(
        Pan,
        "-h",
        Number,
        "hash function N",
        Without("which hash function is used changes no verdict of an exact store"),
    ),
    flag(
        Pan,
        "-hash",
        Nothing,
        "random hash function",
        Without("which hash function is used changes no verdict of an exact store"),
    ),
    flag(Pan, "-I", Nothing, "shorter and shorter errors, approximately", Check("--shorten")),
    flag(Pan, "-i", Nothing, "search for the shortest path to an error", Check("--shorten")),
    flag(Pan, "-i_reverse", Nothing, "active processes started in reverse", Without(ORDER)),
    flag(
        Pan,
        "-J",
        Nothing,
        "reverse the evaluation order of nested unlesses",
        Refused("nested unless has one meaning here, that of Spin without -J", "leave -J out"),
    ),
    flag(
        Pan,
        "-k",
        Number,
        "bits per state in the bit array",
        Without("the number of bits is chosen for the memory"),
    ),
    flag(Pan, "-L", Number, "bound on context switches", Check("--max-switches {}")),
    flag(Pan, "-l", Nothing, "find non-progress cycles", Does(E::Progress, "`--property progress`")),
    flag(Pan, "-M", Number, "megabytes for the bit array", Check("--max-memory {}M")),
    flag(
        Pan,
        "-m",
        Number,
        "depth limit (10000 in Spin)",
        Does(E::Depth, "`--max-depth N` where N is below 10000; there is no limit otherwise"),
    ),
    flag(Pan, "-N", MaybeNext, "use this claim", Does(E::Claim, "`--property ltl:NAME` or `never:NAME`")),
    flag(Pan, "-n", Nothing, "no listing of unreached states", Without("-q leaves numbers out")),
    flag(Pan, "-P", Number, "replay, only process N", Without("a replay tells all processes")),
    flag(
        Pan,
        "-p",
        Number,
        "state dump of N bytes",
        Refused("states are not dumped", "`spinor graph MODEL --format json` writes the state graph"),
    ),
    flag(Pan, "-p_permute", Nothing, "processes in random order", Check("--seed 1")),
    flag(Pan, "-p_rotate", MaybeNumber, "order of processes rotated by N", Without(ORDER)),
    flag(Pan, "-p_reverse", Nothing, "order of processes reversed", Without(ORDER)),
    flag(Pan, "-Q", Number, "time limit in minutes", Check("--timeout {}m")),
    flag(Pan, "-q", Nothing, "channels must be empty at a valid end", Check("--channels-empty")),
    flag(
        Pan,
        "-R",
        Number,
        "N bitstate runs with other hash functions",
        Without("one run, with all the memory; use --seed N for another order"),
    ),
    flag(Pan, "-RS", Number, "seed of the random numbers", Check("--seed {}")),
    flag(Pan, "-r", MaybeNext, "replay a trail", Does(E::ReplayFile, "`spinor replay TRAIL`")),
    flag(Pan, "-rhash", Nothing, "one of the -p_ options at random", Check("--seed 1")),
    flag(Pan, "-S", MaybeNext, "silent replay", Does(E::ReplayFile, "`spinor replay TRAIL`")),
    flag(
        Pan,
        "-T",
        MaybeNumber,
        "trail files are read-only",
        Without("a trail is written with the usual permissions"),
    ),
    flag(Pan, "-t", Text, "another suffix for trail files", Does(E::Suffix, "`--trail MODEL.SUFFIX`")),
    flag(Pan, "-t_reverse", Nothing, "transitions in reverse order", Without(ORDER)),
    flag(Pan, "-u", Number, "number of cores (-DBFS_PAR)", Check("--threads {}")),
    flag(Pan, "-V", Nothing, "print the version", Does(E::Version, "`spinor --version`")),
    flag(
        Pan,
        "-v",
        Nothing,
        "verbose",
        Without("statements that are never reached are told with their places"),
    ),
    flag(
        Pan,
        "-w",
        Number,
        "hash table of 2^N entries",
        Without("tables grow with the search; --max-memory limits them"),
    ),
    flag(Pan, "-X", Nothing, "errors to standard output", Without("it is for Spin's own user interface")),
    flag(
        Pan,
        "-x",
        Nothing,
        "do not overwrite an existing trail",
        Does(E::KeepTrail, "`--trail /dev/null` where the trail exists"),
    ),
    flag(Pan, "-Y", Nothing, "a line at the end", Without("it is for Spin's own user interface")),
    flag(Pan, "-z", Number, "handoff depth (-DNCORE)", Check("--search handoff --handoff {}")),
];
