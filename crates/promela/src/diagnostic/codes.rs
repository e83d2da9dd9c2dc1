//! The table of codes: every diagnostic has one, and nothing else can be reported.
//!
//! A row is a code and its title. What it means at length stands in `explain/CODE.md`, with a wrong and a
//! repaired example that tests run; `spinor explain` and `docs/diagnostics.md` are made from both. Codes are
//! never reused: `E00xx` preprocessor, `E01xx` syntax, `E02xx` names and types, `E03xx` control flow, `E04xx`
//! channels, `E05xx` processes, `E06xx` not supported, `E07xx` the text form of the intermediate form,
//! `E09xx` the tool; `W....` are warnings.

use super::Severity;
use std::fmt;

macro_rules! codes {
    ($($code:ident $title:literal),* $(,)?) => {
        /// The code of a diagnostic.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs, reason = "the table gives the title of each")]
        pub enum Code { $($code),* }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$code),*];

            /// As it is written: `E0101`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => stringify!($code)),* }
            }

            /// What it is about, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$code => $title),* }
            }

            /// What it means at length, with examples, as Markdown.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$code => include_str!(concat!("explain/", stringify!($code), ".md"))),* }
            }
        }
    };
}

codes! {
    // The text: files, macros, conditions, characters.
    E0001 "the model cannot be read",
    E0002 "an included file cannot be found or read",
    E0003 "a malformed or misplaced #include",
    E0004 "too much text is included",
    E0005 "an unknown preprocessor directive",
    E0006 "a macro cannot have this name",
    E0007 "a malformed list of macro parameters",
    E0008 "`#` or `##` used wrongly in a macro",
    E0009 "a macro is given the wrong number of arguments",
    E0010 "the arguments of a macro are not closed",
    E0011 "`##` makes something that is not one token",
    E0012 "macros grow without bounds",
    E0013 "a malformed condition after #if or #elif",
    E0014 "a division by zero after #if or #elif",
    E0015 "#else, #elif or #endif without its #if",
    E0016 "an #if that is never closed",
    E0017 "an #error directive was reached",
    E0018 "a malformed #line directive",
    E0019 "a comment that is never closed",
    E0020 "a string that is not closed on its line",
    E0021 "a malformed character constant",
    E0022 "a character that Promela does not know",
    E0023 "embedded C that is never closed",
    E0024 "a `#` in the middle of a line",
    E0025 "too many problems while reading the text",
    // Syntax.
    E0101 "a syntax error",
    E0103 "nested too deeply",
    E0104 "an expression with too many operators",
    E0105 "inlines make the model too large",
    E0110 "a label in front of a declaration",
    E0111 "a parameter with an initial value",
    E0112 "symbolic constants declared in the wrong way or place",
    E0113 "a list of values for a variable that is no array",
    E0114 "a channel created behind a statement",
    E0115 "a type that cannot stand here",
    E0116 "a question about a channel inside a larger expression",
    E0117 "a `run` outside of any process",
    E0120 "an inline is given the wrong number of arguments",
    E0121 "an inline that uses itself",
    E0122 "a `return` that nobody takes",
    E0123 "an inline declared twice",
    E0130 "a statement that a trace cannot have",
    E0131 "a constant is needed",
    E0140 "an empty range in `select`",
    // Names and types.
    E0201 "too many symbolic constants",
    E0202 "a type declared twice",
    E0203 "a symbolic constant declared twice",
    E0204 "a field declared twice",
    E0205 "too much data",
    E0207 "a width for a type that has none",
    E0208 "a variable that cannot be hidden",
    E0209 "a bad array size",
    E0210 "an `unsigned` without a width",
    E0211 "an `unsigned` with an impossible width",
    E0212 "a channel as the initial value of something else",
    E0214 "a `run` in an initial value",
    E0220 "a name declared twice",
    E0221 "a name that is not declared",
    E0222 "a proctype used as a variable",
    E0223 "a field of something that is no structure",
    E0224 "an unknown field",
    E0225 "an array without its index",
    E0226 "an index on something that is no array",
    E0227 "something that cannot be assigned to",
    E0228 "a whole structure where one value is needed",
    E0231 "a string outside of printf",
    E0232 "`np_` outside of a never claim",
    E0233 "the value of `_` is read",
    E0234 "a temporal operator outside of a formula",
    E0235 "an unknown label in a remote reference",
    E0236 "an unknown variable in a remote reference",
    E0237 "a local variable or field that is hidden",
    E0238 "a property declared twice",
    E0239 "an operator of another logic",
    E0240 "a list of initial values behind a statement",
    E0241 "an array indexed with itself",
    E0242 "a constant of another mtype",
    E0243 "lock or unlock of something that is no lock",
    E0244 "a fixpoint variable under a negation",
    E0245 "a process number that no process has",
    // Control flow.
    E0301 "control flow that leads nowhere",
    E0302 "a jump to a label that does not exist",
    E0303 "a jump into or out of a d_step",
    E0304 "a jump that leads to itself forever",
    E0305 "a statement that d_step cannot have",
    E0306 "a label with the name of a variable",
    E0308 "a label or `else` at a place that cannot have it",
    E0309 "a `break` outside of a loop",
    E0310 "a loop variable that is not plain",
    E0311 "an empty range in `for`",
    E0312 "a `for` over something that is no array",
    E0314 "`else` beside messages with xr or xs",
    E0315 "a `for` over a channel that it cannot look through",
    // Channels.
    E0401 "arithmetic with a channel",
    E0402 "a bad channel capacity",
    E0403 "an `unsigned` in a message",
    E0404 "an array of structures in a message",
    E0405 "something used as a channel that is none",
    E0407 "a message with more fields than any channel takes",
    E0408 "one variable for two fields of a message",
    E0409 "enabled() beside rendezvous channels",
    E0410 "a channel claimed by two proctypes",
    E0411 "an array element claimed by xr or xs",
    E0412 "too many channels",
    // Processes, claims and traces.
    E0502 "an unknown proctype",
    E0503 "an impossible priority",
    E0504 "a `run` inside a larger expression",
    E0505 "a model in which nothing runs",
    E0506 "a proctype is given the wrong number of arguments",
    E0507 "a variable passed for an mtype parameter",
    E0508 "a constant of another mtype passed to a proctype",
    E0509 "too many proctypes",
    E0510 "a proctype declared twice",
    E0511 "too many processes",
    E0512 "a variable inside a never claim",
    E0513 "a second trace or notrace",
    E0514 "a `run` in a provided clause",
    E0515 "a local variable in a provided clause",
    E0517 "an array as a parameter",
    E0519 "a never claim that sends or receives",
    E0520 "an iterator that runs too far",
    E0521 "a claim declared twice",
    // Embedded C.
    E0601 "embedded C that may not be run",
    E0602 "embedded C in the wrong form",
    E0603 "embedded C that the C compiler does not take",
    // The text form of the intermediate form.
    E0701 "a malformed text of the intermediate form",
    // Memory systems (`spinor memory`).
    E0801 "a memory system without one of its operations",
    E0802 "an operation of a memory system with the wrong number of parameters",
    E0803 "a read of a memory system that assigns nothing",
    E0804 "an `init` in a memory system",
    // The tool itself.
    E0900 "the request cannot be met",
    E0901 "the command line is wrong",
    E0997 "a result could not be written",
    E0998 "a part of the tool gave up",
    E0999 "an internal error",
    // Warnings.
    W0001 "a macro redefined",
    W0002 "a #warning directive was reached",
    W0003 "a #pragma",
    W0004 "text after a directive",
    W0005 "a macro that is hidden in a number",
    W0006 "a number with letters behind it",
    W0007 "a predefined macro used as a name",
    W0008 "a character constant with an escape that Spin does not know",
    W0009 "a long arrow",
    W0101 "a number that does not fit into 32 bits",
    W0102 "the end of a comment that was never begun",
    W0203 "a temporal operator before a comparison",
    W0204 "a constant that does not fit",
    W0205 "a variable that nothing uses",
    W0206 "a variable that is written and never read",
    W0207 "a parameter that nothing uses",
    W0208 "a comparison that is always true or always false",
    W0209 "a constant index out of bounds",
    W0210 "a variable assigned to itself",
    W0211 "an assertion that never fails",
    W0212 "an assertion that starts a process",
    W0213 "a variable that is never given a value",
    W0214 "an inline that nothing uses",
    W0302 "two `else` in one choice",
    W0303 "a statement that is never reached",
    W0304 "an `else` that is never taken",
    W0305 "an option that assigns where it seems to compare",
    W0306 "a label that looks like a misspelt accept, end or progress",
    W0307 "a condition that can block inside an atomic sequence",
    W0308 "a statement that can block inside a d_step",
    W0309 "a `timeout` inside a d_step",
    W0310 "a loop whose variable cannot get past the end",
    W0311 "an option without its `::`",
    W0401 "a channel that nobody receives from",
    W0402 "a channel that nobody sends to",
    W0403 "a message of the wrong length",
    W0404 "a printf with too few or too many values",
    W0501 "a proctype that never runs",
    W0701 "an endless loop inside an atomic sequence",
    W0702 "a model that has changed since its trail was written",
    W0703 "a never claim that changes variables",
    W0704 "a run-time error that leaves another property unknown",
    W0705 "a label inside an atomic sequence that is not seen",
    W0706 "threads that a search has no use for",
    W0708 "a check on the main thread",
    W0709 "a switch of Spin's verifier as a macro",
    W0710 "several loads of shared variables in one step",
    W0711 "a checkpoint that could not be written or removed",
    W0801 "a memory system that looks at the values that it stores",
    W0802 "a memory system that can get stuck",
    W0803 "reads of a memory system that are never completed",
}

impl Code {
    /// How bad it is: codes that begin with `W` are warnings.
    pub fn severity(self) -> Severity {
        if self.name().starts_with('W') { Severity::Warning } else { Severity::Error }
    }

    /// The code of this name, in upper or lower case.
    pub fn of(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
