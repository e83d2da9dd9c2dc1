//! The commands and their arguments, from which parsing, help, completions and manual pages are derived. The
//! options of a check are not listed here: [`crate::given`] takes them from the engine's table.

use crate::given::{ForC, ForCheck, ForGraph, ForMemory, ForModel, ForSwarm, ForTest, Given};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use engine::audit::AuditOptions;
use engine::embedded::UseOfC;
use engine::files::STANDARD_INPUT;
use engine::options::OptionSpec;
use engine::replay::TrailFile;
use engine::state_graph::GraphOptions;
use engine::{CheckOptions, Equivalence, Failure, Source};

/// Model checker for Promela.
#[derive(Parser, Debug)]
#[command(name = "spinor", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When to use colours: on a terminal (unless NO_COLOR is set), always, or never.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    #[arg(display_order = 900)]
    pub color: Colour,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check the properties that a model states.
    Check(Box<CheckArgs>),
    /// Look for violations with many different lossy searches at a time: for models that no search can finish.
    Swarm(Box<SwarmArgs>),
    /// Replay a counterexample step by step; exit 0 when every step is possible and the violation shows.
    Replay(ReplayArgs),
    /// Run a model once, at random; exit 1 when the run meets an error.
    Simulate(SimulateArgs),
    /// Read a model and report what is wrong with it; exit 0 or 2.
    Parse(ParseArgs),
    /// Say what reductions know of a model: what each statement uses, who gets in its way, who uses which end
    /// of a channel.
    Facts(FactsArgs),
    /// Write the reachable states of a model as a graph: for Graphviz, for other tools, reduced modulo
    /// bisimulation.
    Graph(Box<GraphArgs>),
    /// Test a memory system (caches, a bus, store buffers) for the orderings of a memory model; exit 1 when a
    /// test fails.
    Memory(Box<MemoryArgs>),
    /// Confirm a certificate that `check --certify` wrote, with the reference machine alone: exit 0 confirmed,
    /// 1 refuted, 2 not a certificate of this model, 3 a sample or a budget.
    Audit(AuditArgs),
    /// Tell what is in a checkpoint that `check --checkpoint` wrote; exit 2 if nothing can go on from it.
    Checkpoint(CheckpointArgs),
    /// Translate a formula of temporal logic into an automaton: a never claim, or a format of other tools.
    Ltl(LtlArgs),
    /// Take a command line of Spin, or of its verifier pan, and do the same; the command of Spinor that does
    /// it is printed first.
    Spin(SpinArgs),
    /// Explain the code of an error or a warning, with an example; list all codes.
    Explain(ExplainArgs),
    /// Write a script that lets a shell complete commands, options and values.
    Completions(CompletionsArgs),
    /// Write a manual page, or all of them into a folder.
    Man(ManArgs),
    /// Check all models below a folder against what their `//@ expect` comments say; exit 0 when all are as
    /// expected, 1 when some are not, 2 when there is nothing to test, 3 when some are inconclusive.
    Test(Box<TestArgs>),
    /// Open the workbench: a page on this machine to write, check and explore models, until Ctrl-C.
    Ui(UiArgs),
}

impl Command {
    /// How notices are written.
    pub fn format(&self) -> Format {
        match self {
            Command::Check(args) => args.format.of_notices(),
            Command::Facts(args) => args.format.of_notices(),
            Command::Graph(args) => args.format.of_notices(),
            Command::Memory(args) => args.format,
            Command::Replay(args) => args.format.of_notices(),
            Command::Audit(args) => args.format,
            Command::Checkpoint(args) => args.format,
            Command::Swarm(args) => args.format,
            Command::Parse(args) if args.format == ParseFormat::Json => Format::Json,
            Command::Ltl(args) if args.format == AutomatonFormat::Json => Format::Json,
            Command::Completions(_) | Command::Man(_) | Command::Ltl(_) => Format::Text,
            Command::Test(args) if args.format == TestFormat::Json => Format::Json,
            Command::Spin(_) => Format::Text,
            Command::Parse(_)
            | Command::Simulate(_)
            | Command::Explain(_)
            | Command::Test(_)
            | Command::Ui(_) => Format::Text,
        }
    }
}

/// The last value of an option that is given as two words or as `--option=value`, in a command line that is
/// not parsed yet or cannot be.
fn value_of<'a>(words: &'a [String], option: &str) -> Option<&'a str> {
    let separate = |i: usize| (words[i] == option).then(|| words.get(i + 1)).flatten().map(String::as_str);
    let joined = |i: usize| words[i].strip_prefix(option)?.strip_prefix('=');
    (0..words.len()).rev().find_map(|i| joined(i).or_else(|| separate(i)))
}

/// Whether a command line that cannot be parsed asks for JSON.
pub fn wants_json(words: &[String]) -> bool {
    value_of(words, "--format") == Some("json")
}

/// The colours that a command line asks for, before it is parsed: what is wrong with it is said in colours,
/// too.
pub fn wanted_colour(words: &[String]) -> Colour {
    value_of(words, "--color").and_then(|word| Colour::from_str(word, false).ok()).unwrap_or(Colour::Auto)
}

/// A model and how it is read.
#[derive(Args, Debug)]
pub struct ModelArgs {
    /// The model; - reads standard input.
    #[arg(value_name = "MODEL")]
    pub model: String,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The memory that it is read with.
    #[command(flatten)]
    pub memory: Given<ForModel>,
}

/// What the options of a command allow to be done with embedded C.
pub fn use_of_c(given: &Given<ForC>) -> Result<UseOfC, Failure> {
    let options = given.options()?;
    engine::embedded::refuse_without_permission(&options)?;
    Ok(engine::embedded::of_options(&options))
}

/// How a model is read.
#[derive(Args, Debug)]
pub struct ReadingArgs {
    /// Define a macro.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = ArgAction::Append)]
    pub define: Vec<String>,
    /// Undefine a macro.
    #[arg(short = 'U', value_name = "NAME", action = ArgAction::Append)]
    #[arg(help_heading = "Expert", hide_short_help = true)]
    pub undefine: Vec<String>,
    /// Search this directory for included files as well.
    #[arg(short = 'I', value_name = "DIR", action = ArgAction::Append)]
    #[arg(help_heading = "Expert", hide_short_help = true)]
    pub include: Vec<String>,
    /// Dialect of Promela: spin or pv.
    #[arg(
        long,
        value_name = "DIALECT",
        default_value = "spin",
        help_heading = "Expert",
        hide_short_help = true
    )]
    pub dialect: String,
}

impl ModelArgs {
    /// As the engine takes it.
    pub fn source(&self) -> Result<Source, Failure> {
        let mut source = self.reading.source(&self.model);
        let given = self.memory.options()?;
        source.options.memory = engine::weak_memory::of_one(&given)?;
        source.options.lossy_channels = given.lossy_channels;
        Ok(source)
    }
}

impl ReadingArgs {
    /// A model that is read so.
    pub fn source(&self, model: &str) -> Source {
        let with = |flag: &str, words: &[String]| {
            words.iter().map(|w| format!("{flag}{w}")).collect::<Vec<String>>()
        };
        let preprocessor =
            [with("-D", &self.define), with("-U", &self.undefine), with("-I", &self.include)].concat();
        Source {
            path: if model == "-" { STANDARD_INPUT.to_string() } else { model.to_string() },
            options: trace::ModelOptions {
                dialect: self.dialect.clone(),
                preprocessor,
                ..trace::ModelOptions::default()
            },
            ..Source::default()
        }
    }
}

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// When to show a progress line on standard error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Progress {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How the report of `check` is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CheckFormat {
    /// For people.
    Text,
    /// For machines: docs/report.md describes it.
    Json,
    /// SARIF 2.1.0, for code hosts and editors.
    Sarif,
    /// Markdown, for summaries on code hosts.
    Markdown,
}

impl CheckFormat {
    /// How notices are written beside it.
    pub fn of_notices(self) -> Format {
        match self {
            CheckFormat::Text | CheckFormat::Sarif | CheckFormat::Markdown => Format::Text,
            CheckFormat::Json => Format::Json,
        }
    }
}

/// Options of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The models, one after another; - reads standard input.
    #[arg(value_name = "MODEL", required = true)]
    pub models: Vec<String>,
    /// How they are read.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// What is checked, and how the states are explored.
    #[command(flatten)]
    pub given: Given<ForCheck>,

    /// How the report is written.
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Verdicts only: no numbers, no progress.
    #[arg(short, long)]
    pub quiet: bool,

    /// When to show progress on standard error.
    #[arg(long, value_enum, default_value_t = Progress::Auto, conflicts_with = "quiet")]
    #[arg(help_heading = "Expert", hide_short_help = true)]
    pub progress: Progress,
}

impl CheckArgs {
    /// As the engine takes them, for one of the models.
    pub fn options(&self, model: &str) -> Result<CheckOptions, Failure> {
        let options = CheckOptions { source: self.reading.source(model), ..self.given.options()? };
        // There is no file to which the name could be appended.
        let of_input = || (model == "-").then(|| "stdin.trail.json".to_string());
        Ok(CheckOptions { trail: options.trail.clone().or_else(of_input), ..options })
    }
}

/// Options of `swarm`.
#[derive(Args, Debug)]
pub struct SwarmArgs {
    /// The model; - reads standard input.
    #[arg(value_name = "MODEL")]
    pub model: String,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Searches at a time. Default: one for each core.
    #[arg(long, value_name = "N")]
    pub cpus: Option<u64>,
    /// How long the swarm searches: 10 (seconds), 500ms, 10s, 5m or 1h. Default: a minute.
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Memory of all searches together, such as 500M or 4G. Default: 70 % of what is available.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// What is checked.
    #[command(flatten)]
    pub given: Given<ForSwarm>,
    /// How the report is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// The verdict only: no numbers.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `ui`.
#[derive(Args, Debug)]
pub struct UiArgs {
    /// A folder with models, or a model, whose folder is opened.
    #[arg(value_name = "PATH", default_value = ".")]
    pub path: String,
    /// Listen on this port of the loopback interface; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Print the address, but open no browser.
    #[arg(long)]
    pub no_open: bool,
    /// Write no file.
    #[arg(long)]
    pub read_only: bool,
    /// Read the page from this folder.
    #[arg(long, value_name = "DIR", hide = true)]
    pub assets: Option<String>,
}

/// How the results of `test` are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TestFormat {
    /// For people.
    Text,
    /// One object.
    Json,
    /// JUnit XML, for continuous integration servers.
    Junit,
    /// SARIF 2.1.0, for code hosts and editors.
    Sarif,
}

/// Options of `test`.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// Models, and folders with models (*.pml, *.prm, *.promela, *.pr).
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<String>,

    /// Only checks whose name (model, property and options) contains this.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Run N checks at a time; they share the memory limit. Default: all cores.
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Begin no further check after one has failed.
    #[arg(long)]
    pub fail_fast: bool,
    /// Check as `spinor check` does, not in the reference configuration: numbers of states are not compared.
    #[arg(long)]
    pub defaults: bool,

    /// How the states are explored.
    #[command(flatten)]
    pub given: Given<ForTest>,

    /// Keep counterexamples in this folder.
    #[arg(long, value_name = "DIR")]
    pub keep_trails: Option<String>,
    /// How the results are written.
    #[arg(long, value_enum, default_value_t = TestFormat::Text)]
    pub format: TestFormat,
    /// Only what is not as expected, and the sum.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The options of `check` as a model's directives state them.
#[derive(Parser, Debug)]
#[command(name = "options", no_binary_name = true, disable_help_flag = true)]
struct Directive {
    #[command(flatten)]
    check: CheckArgs,
}

/// Options of the command alone: a directive cannot state them, because they are not about the model.
const OF_THE_COMMAND: [&str; 4] = ["--format", "--quiet", "-q", "--progress"];

/// Whether a word is an option that a directive cannot state.
fn is_not_for_directives(word: &str) -> bool {
    let spec = word.strip_prefix("--").and_then(|name| OptionSpec::of_name(name).ok());
    OF_THE_COMMAND.contains(&word) || spec.is_some_and(|spec| !spec.scope.is_for_directives())
}

/// Reads the options that a model's directives state; the error is one sentence.
pub fn directive_options(model: &str, words: &[String]) -> Result<CheckOptions, String> {
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_string();
    if let Some(word) = words.iter().map(name).find(|word| is_not_for_directives(word)) {
        return Err(format!("{word} cannot stand in a directive"));
    }
    let model = if model.starts_with('-') { format!("./{model}") } else { model.to_string() };
    let parsed = Directive::try_parse_from(words.iter().chain([&model])).map_err(|error| {
        let text = error.render().to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_string();
        match lines.find_map(|line| line.strip_prefix("tip: ")) {
            Some(tip) => format!("{message} ({tip})"),
            None => message,
        }
    })?;
    match &parsed.check.models[..] {
        [model] => parsed.check.options(model).map_err(|failure| match failure {
            Failure::Refused { message, repair: Some(repair) } => format!("{message}: {repair}"),
            other => other.notice().map(|notice| notice.message).unwrap_or_default(),
        }),
        [other, ..] => Err(format!("unexpected argument '{other}' found")),
        [] => Err("there is no model".to_string()),
    }
}

/// Options of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// The counterexample: a file that `spinor check` wrote, or a .trail of Spin.
    #[arg(value_name = "TRAIL")]
    pub trail: String,
    /// The model, where it is not beside the trail.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// For trails of Spin: channels lost messages (-m).
    #[arg(long)]
    pub lossy_channels: bool,
    /// For trails of Spin: how the model is read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// What may be done with embedded C.
    #[command(flatten)]
    pub c: Given<ForC>,
    /// How the run is written.
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
    /// Show only these steps: A..B, A.. or ..B.
    #[arg(long, value_name = "A..B", value_parser = step_range)]
    pub steps: Option<StepRange>,
    /// Show only the last N steps.
    #[arg(long, value_name = "N", conflicts_with = "steps")]
    pub last: Option<usize>,
    /// Step through it, forwards and backwards; commands are read from standard input, ? lists them.
    #[arg(short, long, conflicts_with_all = ["format", "steps", "last", "msc"])]
    pub interactive: bool,
    /// Write a message sequence chart to this file: SVG, or text if its name ends in .txt.
    #[arg(long, value_name = "FILE")]
    pub msc: Option<String>,
    /// Write a page to this file: the counterexample to walk through, automata and source, in one HTML file
    /// that needs nothing else.
    #[arg(long, value_name = "FILE", conflicts_with = "interactive")]
    pub report: Option<String>,
}

/// How a run is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RunFormat {
    /// A story for people.
    Text,
    /// For machines: every step with what it changes, and the last state.
    Json,
    /// For machines: the Informal Trace Format of Apalache and Quint.
    Itf,
    /// A message sequence chart as text.
    Msc,
    /// A row a step, a column a variable.
    Table,
    /// The same for machines: comma-separated values.
    Csv,
    /// A .trail of Spin, for `spin -t`.
    Spin,
}

impl ReplayArgs {
    /// The trail, as the engine takes it.
    pub fn file(&self) -> Result<TrailFile, Failure> {
        let mut reading = self.reading.source("").options;
        reading.lossy_channels = self.lossy_channels;
        let c = use_of_c(&self.c)?;
        Ok(TrailFile { path: self.trail.clone(), model: self.model.clone(), reading, c })
    }
}

impl RunFormat {
    /// How notices are written beside it.
    pub fn of_notices(self) -> Format {
        match self {
            RunFormat::Text | RunFormat::Msc | RunFormat::Table | RunFormat::Csv | RunFormat::Spin => {
                Format::Text
            }
            RunFormat::Json | RunFormat::Itf => Format::Json,
        }
    }
}

/// Steps by their numbers, both ends included; `None` is the first or the last one.
pub type StepRange = (Option<usize>, Option<usize>);

/// Reads `A..B`.
fn step_range(word: &str) -> Result<StepRange, String> {
    let number = |digits: &str| match digits {
        "" => Ok(None),
        _ => digits.parse::<usize>().map(Some).map_err(|_| format!("{digits:?} is no number of a step")),
    };
    let (first, last) = word.split_once("..").ok_or("write it as A..B, for example 10..20")?;
    match (number(first)?, number(last)?) {
        (Some(first), Some(last)) if first > last => {
            Err(format!("there are no steps from {first} to {last}"))
        }
        range => Ok(range),
    }
}

/// Options of `simulate`.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    /// The model and how it is read.
    #[command(flatten)]
    pub model: ModelArgs,
    /// What may be done with embedded C.
    #[command(flatten)]
    pub c: Given<ForC>,
    /// The same seed gives the same run. Default: drawn at random and printed; 0 with --interactive.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stop after N steps; 0 is no limit. Default: 1000.
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Write a message sequence chart to this file: SVG, or text if its name ends in .txt.
    #[arg(long, value_name = "FILE", conflicts_with = "interactive")]
    pub msc: Option<String>,
    /// Choose the steps by hand, and undo them; commands are read from standard input (from the terminal when
    /// the model itself reads STDIN), ? lists them. The exit status is 1 when the run shows an error at the
    /// end.
    #[arg(short, long, conflicts_with_all = ["steps", "format"])]
    pub interactive: bool,
    /// Write the run as a trail for replay if it meets an error.
    #[arg(long, value_name = "FILE", conflicts_with = "interactive")]
    pub trail: Option<String>,
    /// How the run is written; json writes one object a line: each step when it is taken, and at last the
    /// end.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

impl SimulateArgs {
    /// The model, as the engine takes it.
    pub fn source(&self) -> Result<Source, Failure> {
        Ok(Source { c: use_of_c(&self.c)?, ..self.model.source()? })
    }
}

/// What `parse` writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ParseFormat {
    /// One line that says what the model consists of.
    Text,
    /// The syntax tree and the process automata, for machines.
    Json,
    /// The intermediate form as text.
    Ir,
    /// The process automata as Promela, with their store buffers (--memory): for Spin.
    Promela,
    /// The process automata drawn.
    Svg,
    /// The process automata for Graphviz.
    Dot,
}

/// Options of `parse`.
#[derive(Args, Debug)]
pub struct ParseArgs {
    /// The model and how it is read.
    #[command(flatten)]
    pub model: ModelArgs,
    /// What is written.
    #[arg(long, value_enum, default_value_t = ParseFormat::Text)]
    pub format: ParseFormat,
    /// With svg and dot: only the automaton of this proctype.
    #[arg(long, value_name = "NAME")]
    pub proctype: Option<String>,
}

/// Options of `facts`.
#[derive(Args, Debug)]
pub struct FactsArgs {
    /// The model and how it is read.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How the facts are written.
    #[arg(long, value_enum, default_value_t = FactsFormat::Text)]
    pub format: FactsFormat,
}

/// Options of `checkpoint`.
#[derive(Args, Debug)]
pub struct CheckpointArgs {
    /// The checkpoint.
    #[arg(value_name = "FILE")]
    pub file: String,
    /// How the answer is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Options of `audit`.
#[derive(Args, Debug)]
pub struct AuditArgs {
    /// The certificate.
    #[arg(value_name = "FILE")]
    pub certificate: String,
    /// The model and how it is read.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Look at a part of the states only: fast, and no proof (exit 3).
    #[arg(long, value_name = "PART")]
    pub audit_share: Option<String>,
    /// Stop after this time: 10 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// How the answer is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

impl AuditArgs {
    /// As the engine takes them.
    pub fn options(&self) -> Result<AuditOptions, Failure> {
        Ok(AuditOptions {
            certificate: self.certificate.clone(),
            source: self.model.source()?,
            share: self.audit_share.clone(),
            timeout: self.timeout.clone(),
        })
    }
}

/// Options of `graph`.
#[derive(Args, Debug)]
pub struct GraphArgs {
    /// The model and how it is read.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How the graph is written.
    #[arg(long, value_enum, default_value_t = GraphFormat::Aut)]
    pub format: GraphFormat,
    /// Label states with the values of expressions, such as 'x,len(c),p@crit'; steps are then labelled with
    /// the values that they change, and those that change none are silent.
    #[arg(long, value_name = "EXPR,...")]
    pub labels: Option<String>,
    /// Statements that match this regular expression are silent.
    #[arg(long, value_name = "REGEX")]
    pub hide: Option<String>,
    /// Write the quotient modulo this bisimulation.
    #[arg(long, value_enum, value_name = "EQUIVALENCE")]
    pub reduce: Option<GraphReduction>,
    /// What may be done with embedded C.
    #[command(flatten)]
    pub c: Given<ForC>,
    /// Options of `check` that concern exploration.
    #[command(flatten)]
    pub given: Given<ForGraph>,
}

impl GraphArgs {
    /// As the engine takes them.
    pub fn options(&self) -> Result<GraphOptions, Failure> {
        let source = Source { c: use_of_c(&self.c)?, ..self.model.source()? };
        let check = CheckOptions { source, ..self.given.options()? };
        let reduce = self.reduce.map(|reduction| match reduction {
            GraphReduction::Strong => Equivalence::Strong,
            GraphReduction::Branching => Equivalence::Branching,
        });
        Ok(GraphOptions { check, labels: self.labels.clone(), hide: self.hide.clone(), reduce })
    }
}

/// Options of `memory`.
#[derive(Args, Debug)]
pub struct MemoryArgs {
    /// The memory system: a Promela file with the inlines mem_start, mem_write and mem_read.
    #[arg(value_name = "SYSTEM", conflicts_with = "system")]
    pub file: Option<String>,
    /// A memory system that comes with the tool, such as tso or mesi.
    #[arg(long, value_name = "NAME")]
    pub system: Option<String>,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Run all tests of this model: sc, tso, pso, pram, pc or coherent; for sc also the full check, where the
    /// system says ORDER. With --litmus: outcomes that it forbids are violations.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Run these tests: cmp, upo, rowo1, rowo2, con, pos, po_wr, po_rw, wa_self, fence_wr, fence_ww, causal, wa,
    /// con_wo; progress; sc2, sc3 (the full check); all.
    #[arg(long, value_name = "TEST,...", value_delimiter = ',')]
    pub rule: Vec<String>,
    /// Run these litmus tests, such as SB,MP; all.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub litmus: Vec<String>,
    /// Say which models the system can be, by all tests. The default when nothing else is asked for.
    #[arg(long, conflicts_with_all = ["model", "rule", "litmus"])]
    pub classify: bool,
    /// Write the composed model of one test to this file, for Spin or for study; - writes standard output.
    #[arg(long, value_name = "FILE")]
    pub emit: Option<String>,
    /// Processors. Default: as many as a test needs; others make noise.
    #[arg(long, value_name = "N")]
    pub cpus: Option<usize>,
    /// Addresses. Default: as many as a test needs; others are used at random.
    #[arg(long, value_name = "N")]
    pub addresses: Option<usize>,
    /// For systems that do not treat processors and addresses alike: all gives the parts of each test to all of
    /// them in turn.
    #[arg(long, value_name = "WHICH")]
    pub roles: Option<String>,
    /// Write a message sequence chart of the first violation to this file: SVG, or text if its name ends in
    /// .txt.
    #[arg(long, value_name = "FILE")]
    pub msc: Option<String>,
    /// Options of `check` that concern exploration.
    #[command(flatten)]
    pub given: Given<ForMemory>,
    /// How the report is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Violations and conclusions only.
    #[arg(short, long)]
    pub quiet: bool,
}

/// How a graph is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GraphFormat {
    /// Aldebaran, for CADP, mCRL2 and LTSmin.
    Aut,
    /// For Graphviz.
    Dot,
    /// For machines.
    Json,
}

impl GraphFormat {
    /// How notices are written.
    pub fn of_notices(self) -> Format {
        match self {
            GraphFormat::Json => Format::Json,
            GraphFormat::Aut | GraphFormat::Dot => Format::Text,
        }
    }
}

/// Which states of a graph are taken for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GraphReduction {
    /// Strong bisimulation.
    Strong,
    /// Branching bisimulation: silent steps between equivalent states do not count.
    Branching,
}

/// How facts are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FactsFormat {
    /// For people, statement by statement.
    Text,
    /// The dependency matrices, as LTSmin prints them.
    Matrix,
    /// For machines: statements and matrices.
    Json,
}

impl FactsFormat {
    /// How notices are written.
    pub fn of_notices(self) -> Format {
        match self {
            FactsFormat::Json => Format::Json,
            FactsFormat::Text | FactsFormat::Matrix => Format::Text,
        }
    }
}

/// How an automaton is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AutomatonFormat {
    /// A never claim, as Spin writes it.
    Never,
    /// The Hanoi Omega-Automata format.
    Hoa,
    /// A drawing for Graphviz.
    Dot,
    /// For machines.
    Json,
}

/// Options of `ltl`.
#[derive(Args, Debug)]
pub struct LtlArgs {
    /// The formula, such as '[] (x == 1 -> <> done)'. It is translated as given: the claim that finds runs
    /// which violate a property is that of its negation, '!(...)'.
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: String,
    /// What is written.
    #[arg(long, value_enum, default_value_t = AutomatonFormat::Never)]
    pub format: AutomatonFormat,
    /// Leave several acceptance conditions on edges, instead of one on states (not for never claims).
    #[arg(long)]
    pub generalised: bool,
}

/// What `spin` takes.
#[derive(Args, Debug)]
pub struct SpinArgs {
    /// What stands behind `spin`, such as -run -a -f model.pml; behind a first word pan, the verifier's flags
    /// and the model.
    #[arg(value_name = "ARGS", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// Options of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The code, such as E0221; all codes are listed without one.
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// List all codes.
    #[arg(long, conflicts_with = "code")]
    pub list: bool,
}

/// Options of `completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// The command that the page is about; without it, the page about all of them.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub command: Option<String>,
    /// Write all pages into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use engine::options::Search;
    use std::time::Duration;

    #[test]
    fn the_table_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn preprocessor_options_reach_the_engine() {
        let words =
            ["spinor", "check", "-DN=3", "-D", "M", "-UX", "-Iinc", "m.pml", "--timeout", "1.5", "-q"];
        let Command::Check(args) = Cli::try_parse_from(words).unwrap().command else { panic!() };
        let options = args.options("m.pml").unwrap();
        assert_eq!(options.source.options.preprocessor, ["-DN=3", "-DM", "-UX", "-Iinc"]);
        assert_eq!(
            (options.source.path.as_str(), options.timeout, args.quiet),
            ("m.pml", Some(Duration::from_millis(1500)), true)
        );
    }

    #[test]
    fn ten_options_come_first_and_the_others_are_for_experts() {
        let table = Cli::command();
        let check = table.find_subcommand("check").unwrap();
        let options: Vec<&clap::Arg> =
            check.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()).collect();
        let under = |heading: Option<&str>| -> Vec<&str> {
            let some = options.iter().filter(|arg| arg.get_help_heading() == heading);
            some.map(|arg| arg.get_id().as_str()).collect()
        };
        let first = under(None);
        assert_eq!(first.len() + under(Some("Expert")).len(), options.len());
        assert_eq!(
            first,
            [
                "define",
                "property",
                "ltl",
                "fair",
                "all-errors",
                "search",
                "timeout",
                "max-memory",
                "format",
                "quiet"
            ]
        );
    }

    #[test]
    fn some_options_are_known_before_parsing() {
        let words = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<String>>();
        assert!(wants_json(&words("spinor check --format json")) && wants_json(&words("x --format=json")));
        assert!(!wants_json(&words("x --format text")) && !wants_json(&words("json --format")));
        assert!(!wants_json(&words("x --format json --format=text")));
        assert_eq!(wanted_colour(&words("x --color never")), Colour::Never);
        assert_eq!(wanted_colour(&words("x --color=always")), Colour::Always);
        assert_eq!(wanted_colour(&words("x --color red")), Colour::Auto);
        assert_eq!(wanted_colour(&words("x --colors=never")), Colour::Auto);
    }

    #[test]
    fn ranges_of_steps() {
        assert_eq!(step_range("3..7"), Ok((Some(3), Some(7))));
        assert_eq!(step_range("3.."), Ok((Some(3), None)));
        assert_eq!(step_range("..7"), Ok((None, Some(7))));
        for wrong in ["", "3", "7..3", "a..b", "1..2..3", "-1..2"] {
            assert!(step_range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn directives_state_options_of_check() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|w| (*w).to_string()).collect();
            directive_options("m.pml", &words)
        };
        let options = read(&["-D", "N=3", "--search", "bfs"]).unwrap();
        assert_eq!((options.source.path.as_str(), options.search), ("m.pml", Some(Search::Bfs)));
        assert_eq!(read(&["--trail=x"]).unwrap_err(), "--trail cannot stand in a directive");
        assert!(read(&["--serch", "bfs"]).unwrap_err().contains("a similar argument exists: '--search'"));
        assert_eq!(read(&["--property", "x"]).unwrap_err(), "--property cannot stand in a directive");
        let unknown = read(&["--store", "bit"]).unwrap_err();
        assert!(unknown.starts_with("unknown store `bit`: did you mean `bitstate`?"), "{unknown}");
        assert!(read(&["other.pml"]).unwrap_err().contains("unexpected argument"));
    }

    #[test]
    fn wrong_words_have_status_two() {
        for words in [&["spinor"][..], &["spinor", "check"], &["spinor", "check", "m", "--no-such"]] {
            assert_eq!(Cli::try_parse_from(words.iter().copied()).unwrap_err().exit_code(), 2);
        }
        let contradiction = ["spinor", "check", "m", "-q", "--progress", "always"];
        assert_eq!(Cli::try_parse_from(contradiction).unwrap_err().exit_code(), 2);
    }
}
