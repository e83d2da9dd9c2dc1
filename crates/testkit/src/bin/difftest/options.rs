//! The command line of `difftest`.

use std::path::PathBuf;
use std::time::Duration;

use testkit::generate::Size;
use testkit::model::Model;

/// How to call it.
pub const USAGE: &str = "\
usage: difftest --seeds A..B | --fresh --seconds S | --exhaust A..B   [options] [-- SPINOR-OPTIONS]
       difftest ltl --seeds A..B | --fresh --seconds S | show SEED   [options] [-- SPINOR-OPTIONS]
       difftest cuts --seeds A..B | --fresh --seconds S | show SEED   [options] [-- SPINOR-OPTIONS]
       difftest ctl --seeds A..B | --fresh --seconds S | show SEED   [options] [-- SPINOR-OPTIONS]
       difftest memory --seeds A..B | --fresh --seconds S | show SEED   [options] [-- SPINOR-OPTIONS]
       difftest show SEED [--size S]
       difftest bless FILE.pml ...

  --exhaust A..B              programs number A to B of a tiny grammar instead of random ones; `all` for B
  --size small|medium|mixed   how large the programs are (default mixed)
  --step N                    only every N-th seed
  --jobs N                    programs in work at once (default 2)
  --spinor PATH               the binary under test (default: $SPINOR, then the one built beside difftest)
  --spin-only                 only ask Spin: how many programs it accepts and how large they are
  --accept-only               only ask Spin whether it accepts them
  --limit SECONDS             time limit of one verifier run (default 4)
  --keep DIR                  where red-<seed>.pml files go (default: target/difftest)
  --no-shrink                 leave failing programs as they are
  --known TEXT                mismatches in which our report has this text only count as inconclusive
  --stop N                    stop after N mismatches (default 10)
  --every-way                 cuts, memory: every way with every program, not some in turn
  --verbose                   a line for every program";

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Print the usage.
    Help,
    /// Print one program.
    Show(u64),
    /// Fill expectations from Spin.
    Bless(Vec<PathBuf>),
    /// Compare a range of seeds.
    Seeds { first: u64, end: u64 },
    /// Compare seeds that differ from run to run.
    Fresh { seconds: u64 },
}

/// The parsed command line.
#[derive(Debug, Clone)]
pub struct Options {
    pub mode: Mode,
    /// Whether seeds number the programs of the tiny grammar.
    pub exhaust: bool,
    /// Properties of infinite runs are asked about.
    pub ltl: bool,
    /// Programs with errors in them are asked about everything.
    pub cuts: bool,
    /// Formulas of branching time are asked about.
    pub ctl: bool,
    /// Models with store buffers.
    pub memory: bool,
    /// In every way.
    pub every_way: bool,
    /// `None` mixes the sizes.
    pub size: Option<Size>,
    pub step: u64,
    pub jobs: usize,
    pub spinor: Option<PathBuf>,
    pub spin_only: bool,
    pub accept_only: bool,
    pub limit: Duration,
    pub keep: PathBuf,
    pub shrink: bool,
    pub stop: usize,
    pub known: Vec<String>,
    pub verbose: bool,
    pub extra: Vec<String>,
}

impl Options {
    fn size_of(&self, seed: u64) -> Size {
        self.size.unwrap_or(if seed.is_multiple_of(2) { Size::Small } else { Size::Medium })
    }

    /// The program that belongs to a seed.
    pub fn model(&self, seed: u64) -> Model {
        if self.exhaust {
            return testkit::exhaust::nth(seed as usize);
        }
        testkit::generate::generate(seed, self.size_of(seed))
    }

    /// Reads the command line.
    pub fn parse(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options::default();
        let (mut fresh, mut seconds, mut files) = (false, 60, Vec::new());
        let mut args = args.peekable();
        options.ltl = args.next_if(|a| a == "ltl").is_some();
        options.cuts = args.next_if(|a| a == "cuts").is_some();
        options.ctl = args.next_if(|a| a == "ctl").is_some();
        options.memory = args.next_if(|a| a == "memory").is_some();
        let command = args.next_if(|a| a == "show" || a == "bless");
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{arg}` needs a value"));
            match arg.as_str() {
                "-h" | "--help" => return Ok(options),
                "--seeds" => options.mode = seeds(&value()?)?,
                "--exhaust" => {
                    options.exhaust = true;
                    options.mode = seeds(&value()?.replace("all", &testkit::exhaust::COUNT.to_string()))?;
                }
                "--fresh" => fresh = true,
                "--seconds" => seconds = number(&value()?)?,
                "--size" => options.size = size(&value()?)?,
                "--step" => options.step = number(&value()?)?.max(1),
                "--jobs" => options.jobs = (number(&value()?)? as usize).max(1),
                "--spinor" => options.spinor = Some(value()?.into()),
                "--spin-only" => options.spin_only = true,
                "--accept-only" => options.accept_only = true,
                "--limit" => options.limit = Duration::from_secs(number(&value()?)?.max(1)),
                "--keep" => options.keep = value()?.into(),
                "--no-shrink" => options.shrink = false,
                "--known" => options.known.push(value()?),
                "--stop" => options.stop = number(&value()?)? as usize,
                "--every-way" => options.every_way = true,
                "--verbose" => options.verbose = true,
                "--" => options.extra = args.by_ref().collect(),
                file if command.is_some() && !file.starts_with('-') => files.push(arg),
                _ => return Err(format!("unknown argument `{arg}`")),
            }
        }
        match command.as_deref() {
            Some("show") => {
                options.mode = Mode::Show(number(files.first().ok_or("`show` needs a seed")?)?);
            }
            Some(_) => options.mode = Mode::Bless(files.into_iter().map(PathBuf::from).collect()),
            None if fresh => options.mode = Mode::Fresh { seconds },
            None if options.mode == Mode::Help => return Err("say --seeds A..B or --fresh".into()),
            None => {}
        }
        Ok(options)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: Mode::Help,
            exhaust: false,
            ltl: false,
            cuts: false,
            ctl: false,
            memory: false,
            every_way: false,
            size: None,
            step: 1,
            jobs: 2,
            spinor: None,
            spin_only: false,
            accept_only: false,
            limit: Duration::from_secs(4),
            keep: PathBuf::from("target/difftest"),
            shrink: true,
            stop: 10,
            known: Vec::new(),
            verbose: false,
            extra: Vec::new(),
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

fn seeds(text: &str) -> Result<Mode, String> {
    let (first, end) = text.split_once("..").ok_or_else(|| format!("`{text}` is not a range A..B"))?;
    Ok(Mode::Seeds { first: number(first)?, end: number(end)? })
}

fn size(text: &str) -> Result<Option<Size>, String> {
    match text {
        "small" => Ok(Some(Size::Small)),
        "medium" => Ok(Some(Size::Medium)),
        "mixed" => Ok(None),
        _ => Err(format!("unknown size `{text}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(String::from))
    }

    #[test]
    fn a_range_of_seeds() {
        let options = parse("--seeds 3..9 --jobs 4 -- --exec interp").expect("options");
        assert_eq!(options.mode, Mode::Seeds { first: 3, end: 9 });
        assert_eq!((options.jobs, options.extra.len()), (4, 2));
    }

    #[test]
    fn commands_take_their_own_arguments() {
        assert!(parse("ltl --seeds 3..9").expect("options").ltl);
        assert_eq!(parse("show 7").expect("options").mode, Mode::Show(7));
        assert_eq!(
            parse("bless a.pml b.pml").expect("options").mode,
            Mode::Bless(vec!["a.pml".into(), "b.pml".into()])
        );
    }

    #[test]
    fn mistakes_are_told() {
        assert!(parse("").is_err());
        assert!(parse("--seeds 3").is_err());
        assert!(parse("--sizes small").is_err());
        assert!(parse("--seeds 1..2 --size huge").is_err());
    }
}
