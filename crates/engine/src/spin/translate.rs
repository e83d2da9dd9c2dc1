//! From a command line of Spin to the `spinor` command that does the same.
//!
//! What Spin verifies depends on the model: a claim, of several the first, switches off the check of end states
//! and is checked together with the assertions; without one there are the safety properties and, where there
//! are accept labels, acceptance cycles (`spin -run` adds `-a` by itself). So the model is read first.

use super::flags::{Effect, Here, Place};
use super::words::{CommandLine, Given, read, switch};
use crate::command_line::quoted;
use crate::failure::Failure;
use crate::options::{Source, one_of};
use crate::property::Inventory;
use crate::spin_trail::lines::is_one;
use system::FaultKind;

/// What has to be known of the world.
pub trait Surroundings {
    /// What the model states; `None` where it cannot be read, which the command will say.
    fn stated(&self, source: &Source) -> Option<Inventory>;
    /// The text of a file.
    fn text(&self, path: &str) -> Result<String, String>;
    /// The newest of these files, of those that exist.
    fn newest(&self, paths: &[String]) -> Option<String>;
}

/// The `spinor` command, and what there is to say about flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The words of the command, `spinor` first.
    pub words: Vec<String>,
    /// What has no effect, or another one.
    pub remarks: Vec<String>,
}

impl Translation {
    /// As a shell takes it.
    pub fn command(&self) -> String {
        self.words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
    }
}

/// A depth limit that is no lower than Spin's own is there to look deeper.
const DEPTH_OF_SPIN: u64 = 10_000;

/// Translates the words behind `spinor spin`.
pub fn translate(words: &[String], world: &dyn Surroundings) -> Result<Translation, Failure> {
    let line = read(words)?;
    for given in &line.given {
        if let Here::Refused(why, instead) = given.flag.here {
            return Err(Failure::refused_with(format!("{}: {why}", given.word), instead));
        }
    }
    let mut work = Work { line: &line, world, words: vec!["spinor".to_string()], remarks: Vec::new() };
    work.begin()?;
    Ok(Translation { words: work.words, remarks: work.remarks })
}

/// A command that is being made.
struct Work<'a> {
    line: &'a CommandLine,
    world: &'a dyn Surroundings,
    words: Vec<String>,
    remarks: Vec<String>,
}

/// The kinds of cycles that are asked for, and what does not count.
#[derive(Default)]
struct Asked {
    accept: bool,
    progress: bool,
    safety: bool,
    no_assertions: bool,
    no_ends: bool,
    no_claim: bool,
    claim: Option<String>,
}

impl<'a> Work<'a> {
    /// The last flag with an effect.
    fn last(&self, effect: Effect) -> Option<&'a Given> {
        let does = |given: &&Given| matches!(given.flag.here, Here::Does(does, _) if does == effect);
        self.line.given.iter().rev().find(does)
    }

    fn has(&self, effect: Effect) -> bool {
        self.last(effect).is_some()
    }

    fn add(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|word| (*word).to_string()));
    }

    /// Chooses what is done.
    fn begin(&mut self) -> Result<(), Failure> {
        if self.has(Effect::Version) {
            self.add(&["--version"]);
            return Ok(());
        }
        let formula = self.formula()?;
        let Some(model) = self.line.model.clone() else {
            return self.without_model(formula);
        };
        let verifies = self.has(Effect::Verify) || self.line.is_of_pan;
        let shown = [
            (Effect::Drawing, "dot"),
            (Effect::Automata, "ir"),
            (Effect::Program, "ir"),
            (Effect::Symbols, "json"),
        ];
        let shown = shown.into_iter().find(|(effect, _)| self.has(*effect));
        if let Some((_, format)) = shown {
            self.add(&["parse"]);
            self.model(&model)?;
            self.add(&["--format", format]);
        } else if self.has(Effect::Channels) {
            self.add(&["facts"]);
            self.model(&model)?;
        } else if self.has(Effect::Replay) || self.has(Effect::ReplayFile) {
            return self.replay(&model);
        } else if verifies {
            return self.verify(&model, formula);
        } else if self.has(Effect::Generate) {
            self.add(&["parse"]);
            self.model(&model)?;
            let next = "nothing is generated: the model is only read; verify it with `spinor spin -run`";
            self.remarks.push(format!("-a: {next}, or with `spinor check {}`", quoted(&model)));
            self.without_effect(&[Effect::Generate], true);
            return Ok(());
        } else {
            return self.simulate(&model);
        }
        self.without_effect(&[], true);
        Ok(())
    }

    fn without_model(&mut self, formula: Option<String>) -> Result<(), Failure> {
        if let Some(formula) = formula.filter(|_| !self.has(Effect::Verify)) {
            self.add(&["ltl", &formula]);
            self.without_effect(&[Effect::Formula, Effect::FormulaFile], true);
            return Ok(());
        }
        let example = match self.line.is_of_pan {
            true => {
                "pan knows its model, Spinor does not: give it last, as in `spinor spin pan -a model.pml`"
            }
            false => "give it last, as in `spinor spin -run -a model.pml`",
        };
        Err(Failure::refused_with("there is no model", example))
    }

    /// The formula of `-f` or `-F`.
    fn formula(&self) -> Result<Option<String>, Failure> {
        if let Some(given) = self.last(Effect::FormulaFile) {
            let text = self.world.text(&given.value).map_err(|why| {
                Failure::refused_with(
                    format!("cannot read the formula in {}: {why}", given.value),
                    "-F takes a file whose first line is the formula",
                )
            })?;
            return Ok(Some(text.lines().next().unwrap_or_default().to_string()));
        }
        Ok(self.last(Effect::Formula).map(|given| given.value.clone()))
    }

    /// The model with the words of its preprocessor.
    fn model(&mut self, model: &str) -> Result<(), Failure> {
        self.words.push(model.to_string());
        self.words.extend(self.preprocessor()?);
        Ok(())
    }

    fn preprocessor(&self) -> Result<Vec<String>, Failure> {
        let mut words = Vec::new();
        for given in &self.line.given {
            match given.flag.here {
                Here::Does(Effect::Preprocessor, _) => words.push(given.word.clone()),
                Here::Does(Effect::PreprocessorWord, _) => {
                    if !["-D", "-U", "-I"].iter().any(|start| given.value.starts_with(start)) {
                        return Err(Failure::refused_with(
                            format!("{}: the built-in preprocessor takes no {}", given.word, given.value),
                            "give it -E-DNAME, -E-UNAME or -E-IDIR",
                        ));
                    }
                    words.push(given.value.clone());
                }
                _ => {}
            }
        }
        Ok(words)
    }

    /// Says what has no effect. `done` are effects that the caller has seen to; with `all` the others are
    /// named.
    fn without_effect(&mut self, done: &[Effect], all: bool) {
        let always = [
            Effect::Preprocessor,
            Effect::PreprocessorWord,
            Effect::Verify,
            Effect::Generate,
            Effect::Switch,
        ];
        let mut said: Vec<&str> = Vec::new();
        for given in &self.line.given {
            let why = match given.flag.here {
                Here::Without(why) => why,
                Here::Does(effect, _) if !all || done.contains(&effect) || always.contains(&effect) => {
                    continue;
                }
                Here::Does(Effect::Program | Effect::Symbols | Effect::Channels, _) => continue,
                Here::Does(Effect::Automata | Effect::Drawing, _) => continue,
                Here::Does(..) | Here::Check(_) if all => "it does not concern what is done here",
                _ => continue,
            };
            // One reason for several flags is given once.
            match said.iter().position(|known| *known == why) {
                Some(_) => {
                    let end = format!(": no effect, {why}");
                    if let Some(remark) = self.remarks.iter_mut().find(|remark| remark.ends_with(&end)) {
                        let at = remark.len() - end.len();
                        remark.insert_str(at, &format!(" {}", given.word));
                    }
                }
                None => {
                    said.push(why);
                    self.remarks.push(format!("{}: no effect, {why}", given.word));
                }
            }
        }
    }

    fn simulate(&mut self, model: &str) -> Result<(), Failure> {
        self.add(&["simulate"]);
        self.model(model)?;
        let interactive = self.has(Effect::Interactive);
        if let Some(seed) = self.last(Effect::Seed) {
            self.add(&["--seed", &seed.value]);
        }
        let chart = self.last(Effect::Chart).map(|chart| chart.flag.name);
        match (interactive, self.last(Effect::Steps)) {
            (true, Some(steps)) => {
                self.remarks
                    .push(format!("{}: no effect, who chooses the steps also ends the run", steps.word));
            }
            (true, None) => {}
            (false, Some(steps)) => self.add(&["--steps", &steps.value]),
            (false, None) => {
                self.remarks
                    .push("a run ends after 1000 steps: -uN is another number, -u0 no limit".to_string());
            }
        }
        match (interactive, chart) {
            (true, _) => self.add(&["--interactive"]),
            (false, Some("-M")) => self.add(&["--msc", &format!("{model}.svg")]),
            (false, Some(_)) => self.add(&["--msc", &format!("{model}.msc.txt")]),
            (false, None) => {}
        }
        if self.has(Effect::LoseMessages) {
            self.add(&["--lossy-channels"]);
        }
        let mut done = vec![Effect::Seed, Effect::Steps, Effect::Interactive, Effect::LoseMessages];
        done.extend((!interactive).then_some(Effect::Chart));
        self.without_effect(&done, true);
        Ok(())
    }

    fn replay(&mut self, model: &str) -> Result<(), Failure> {
        let named = self.last(Effect::ReplayFile);
        let number = [self.last(Effect::Replay), named]
            .into_iter()
            .flatten()
            .find_map(|given| given.value.parse::<u64>().ok());
        let file = named.map(|given| given.value.as_str()).filter(|value| value.parse::<u64>().is_err());
        let trail = match file.filter(|file| !file.is_empty()) {
            Some(file) => file.to_string(),
            None => self.trail_of(model, number.unwrap_or(0))?,
        };
        self.add(&["replay", &trail]);
        // Trails of Spin do not know their model.
        if self.world.text(&trail).is_ok_and(|text| is_one(&trail, &text)) {
            self.add(&["--model"]);
            self.model(model)?;
            if self.has(Effect::LoseMessages) {
                self.add(&["--lossy-channels"]);
            }
        }
        if let Some(skip) = self.last(Effect::Skip) {
            let first = skip.value.parse::<u64>().unwrap_or(0).saturating_add(1);
            self.add(&["--steps", &format!("{first}..")]);
        }
        match self.last(Effect::Chart).map(|chart| chart.flag.name) {
            Some("-M") => self.add(&["--msc", &format!("{model}.svg")]),
            Some(_) => self.add(&["--format", "msc"]),
            None => {}
        }
        let done = [Effect::Replay, Effect::ReplayFile, Effect::Skip, Effect::Chart, Effect::LoseMessages];
        self.without_effect(&done, true);
        Ok(())
    }

    /// The trail of a model, by the names that it may have.
    fn trail_of(&self, model: &str, number: u64) -> Result<String, Failure> {
        let own = match number {
            0 | 1 => format!("{model}.trail.json"),
            n => format!("{model}.trail.json.{n}"),
        };
        let of_spin = if number == 0 { String::new() } else { number.to_string() };
        let stem = model.rsplit_once('.').map_or(model, |(stem, _)| stem);
        let mut names = vec![own];
        names.extend([model, stem].map(|name| format!("{name}{of_spin}.trail")));
        names.dedup();
        self.world.newest(&names).ok_or_else(|| {
            Failure::refused_with(
                format!("there is no trail of {model}: {}", names.join(", ")),
                format!("`spinor check {}` writes one when it finds a violation", quoted(model)),
            )
        })
    }

    fn verify(&mut self, model: &str, formula: Option<String>) -> Result<(), Failure> {
        let swarm = self.last(Effect::Swarm);
        self.add(&[if swarm.is_some() { "swarm" } else { "check" }]);
        self.model(model)?;
        let (mut options, asked) = self.options()?;
        let mut source = Source { path: model.to_string(), ..Source::default() };
        source.options.preprocessor = self.preprocessor()?;
        if let Some(formula) = formula {
            let negated = format!("!({formula})");
            options.push(("--ltl", Some(negated.clone())));
            source.options.formula = Some(negated);
        }
        if let Some(claim) = self.last(Effect::ClaimFile) {
            options.push(("--claim", Some(claim.value.clone())));
            source.options.claim = Some(claim.value.clone());
        }
        let stated = self.world.stated(&source);
        let properties = match &stated {
            Some(stated) => self.properties(stated, &asked)?,
            None => Vec::new(),
        };
        let cycles = properties.iter().any(|name| {
            matches!(name.as_str(), "accept" | "progress" | "never")
                || name.starts_with("ltl:")
                || name.starts_with("never:")
        });
        if stated.is_some() && !cycles && options.iter().any(|(name, _)| *name == "--fair") {
            return Err(Failure::refused_with(
                "-f is about cycles, and none are looked for: there is no claim, and no accept label",
                "add -a or -l, or leave -f out",
            ));
        }
        if let Some(swarm) = swarm {
            self.for_swarm(swarm, &mut options);
        }
        let properties = properties.into_iter().map(|name| ("--property", Some(name)));
        for (name, value) in properties.chain(options) {
            self.words.push(name.to_string());
            self.words.extend(value);
        }
        self.trail_name(model);
        self.without_effect(&[], false);
        Ok(())
    }

    /// The options of a swarm: how each of its searches explores is its own affair.
    fn for_swarm(&mut self, swarm: &Given, options: &mut Vec<(&'static str, Option<String>)>) {
        const SAME: [&str; 5] = ["--ltl", "--claim", "--max-depth", "--lossy-channels", "--channels-empty"];
        const OTHER: [(&str, &str); 3] =
            [("--timeout", "--time"), ("--max-memory", "--memory"), ("--threads", "--cpus")];
        let mut left = Vec::new();
        options.retain_mut(|(name, _)| {
            if let Some((_, other)) = OTHER.iter().find(|(known, _)| known == name) {
                *name = other;
                return true;
            }
            if !SAME.contains(name) {
                left.push(*name);
            }
            SAME.contains(name)
        });
        if !left.is_empty() {
            self.remarks.push(format!(
                "{}: no effect, each search of a swarm has a store, an order and a seed of its own",
                left.join(" ")
            ));
        }
        // -swarmN,M: N searches on M cores; here they go on until the time is over.
        let cores = swarm.value.split_once(',').and_then(|(_, cores)| cores.parse::<u64>().ok());
        if let Some(cores) = cores.filter(|_| options.iter().all(|(name, _)| *name != "--cpus")) {
            options.push(("--cpus", Some(cores.to_string())));
        }
    }

    /// `-tSUFFIX` and `-x`.
    fn trail_name(&mut self, model: &str) {
        let suffix = self.last(Effect::Suffix).map(|given| format!("{model}.{}", given.value));
        let name = suffix.clone().unwrap_or_else(|| format!("{model}.trail.json"));
        match self.last(Effect::KeepTrail) {
            Some(_) if self.world.newest(std::slice::from_ref(&name)).is_some() => {
                self.remarks.push(format!("-x: {name} stays, and no trail is written"));
                self.add(&["--trail", "/dev/null"]);
            }
            _ => {
                if let Some(name) = suffix {
                    self.add(&["--trail", &name]);
                }
            }
        }
    }

    /// The options that flags and switches ask for, and the kinds of properties.
    #[allow(clippy::type_complexity, reason = "options with their values")]
    fn options(&mut self) -> Result<(Vec<(&'static str, Option<String>)>, Asked), Failure> {
        let (mut options, mut asked) = (Options::default(), Asked::default());
        let mut kept = vec!["deadvars", "merge", "fold"];
        for given in &self.line.given {
            let (mut here, mut value) = (given.flag.here, given.value.as_str());
            if matches!(here, Here::Does(Effect::Switch, _)) {
                let (switch, of_switch) = switch(&given.value).ok_or_else(|| unknown_switch(given))?;
                (here, value) = (switch.here, of_switch);
                if let Here::Refused(why, instead) = here {
                    return Err(Failure::refused_with(format!("{}: {why}", given.word), instead));
                }
                if let Here::Without(why) = here {
                    self.remarks.push(format!("{}: no effect, {why}", given.word));
                }
            }
            match here {
                Here::Check(words) => options.take(words, value, &given.word)?,
                Here::Does(Effect::NoDeadVariables, _) => kept.retain(|word| *word != "deadvars"),
                Here::Does(Effect::NoMerging, _) => kept.retain(|word| *word != "merge"),
                Here::Does(Effect::BreadthFirst, _) => {
                    asked.safety = true;
                    options.take("--search bfs", value, &given.word)?;
                }
                Here::Does(Effect::Depth, _) => match value.parse::<u64>() {
                    Ok(depth) if depth < DEPTH_OF_SPIN => {
                        options.take("--max-depth {}", value, &given.word)?;
                    }
                    _ => self.remarks.push(format!("{}: no effect, there is no depth limit", given.word)),
                },
                Here::Does(Effect::Errors, _) => match value {
                    "0" => options.take("--all-errors", value, &given.word)?,
                    "1" => {}
                    _ => options.take("--stop-at {}", value, &given.word)?,
                },
                Here::Does(Effect::LoseMessages, _) => {
                    options.take("--lossy-channels", value, &given.word)?
                }
                Here::Does(Effect::Switches, _) if !self.bounds_switches() => {
                    options.take("--max-switches 0", value, &given.word)?;
                }
                Here::Does(effect, _) => asked.note(effect, value),
                Here::Without(_) | Here::Refused(..) => {}
            }
        }
        if kept.len() < 3 {
            options.take("--opt {}", &kept.join(","), "-o")?;
        }
        Ok((options.0, asked))
    }

    /// Whether a number of context switches is given.
    fn bounds_switches(&self) -> bool {
        self.line.given.iter().any(|given| given.flag.place == Place::Pan && given.flag.name == "-L")
    }

    /// What Spin would verify, as `--property` names it.
    fn properties(&mut self, stated: &Inventory, asked: &Asked) -> Result<Vec<String>, Failure> {
        let claim = match asked.progress || asked.no_claim {
            true => None,
            false => self.claim(stated, asked.claim.as_deref())?,
        };
        let mut names: Vec<String> = Vec::new();
        let is_whole = !asked.no_assertions && !asked.no_ends && claim.is_none() && !asked.progress;
        if is_whole {
            names.push("safety".to_string());
        } else {
            let ends = !asked.no_ends && claim.is_none() && !asked.progress;
            let wanted = |kind: &FaultKind| match kind {
                FaultKind::Assertion => !asked.no_assertions,
                FaultKind::EndState => ends,
                _ => true,
            };
            names.extend(stated.safety.iter().copied().filter(wanted).map(|kind| kind.name().to_string()));
        }
        if asked.progress {
            names.push("progress".to_string());
            return Ok(names);
        }
        if let Some(claim) = claim {
            if !asked.accept {
                self.remarks
                    .push(format!("{claim} is judged on whole runs: without -a Spin only looks for its end"));
            }
            names.push(claim);
        } else if (asked.accept || !asked.no_claim) && !asked.safety && stated.accept {
            names.push("accept".to_string());
        } else if asked.accept {
            self.remarks.push("-a: no effect, there are no accept labels and there is no claim".to_string());
        }
        Ok(names)
    }

    /// The claim that is verified: the one of the command line, the one that is named, or the first.
    fn claim(&mut self, stated: &Inventory, named: Option<&str>) -> Result<Option<String>, Failure> {
        let never = stated.never.iter().map(|name| match stated.never.len() {
            1 => ("never".to_string(), name.clone()),
            _ => (format!("never:{name}"), name.clone()),
        });
        let ltl = stated.ltl.iter().map(|name| (format!("ltl:{name}"), name.clone()));
        let all: Vec<(String, String)> = never.chain(ltl).collect();
        let of_command = |(property, _): &&(String, String)| property == "ltl:cli";
        let given = all.iter().find(of_command);
        let given = given.or_else(|| all.first().filter(|_| self.has(Effect::ClaimFile)));
        let found = match (given, named) {
            (Some(given), _) => Some(given),
            (None, None) => all.first(),
            (None, Some(name)) => {
                let number = name.parse::<usize>().ok();
                let known = number.map_or_else(
                    || all.iter().find(|(_, n)| n == name),
                    // Spin numbers them from the last.
                    |n| all.iter().rev().nth(n),
                );
                Some(known.ok_or_else(|| {
                    let names = all.iter().map(|(_, name)| name.as_str());
                    let repair = match all.is_empty() {
                        true => "the model has no claim: leave it out".to_string(),
                        false => one_of(name, names),
                    };
                    Failure::refused_with(format!("there is no claim {name}"), repair)
                })?)
            }
        };
        if let Some((property, _)) = found.filter(|_| all.len() > 1 && named.is_none()) {
            self.remarks.push(format!(
                "Spin verifies one claim at a time, of several the first: {property}; `spinor check` verifies all"
            ));
        }
        Ok(found.map(|(property, _)| property.clone()))
    }
}

impl Asked {
    fn note(&mut self, effect: Effect, value: &str) {
        match effect {
            Effect::Accept => self.accept = true,
            Effect::Progress => self.progress = true,
            Effect::Safety => self.safety = true,
            Effect::NoAssertions => self.no_assertions = true,
            Effect::NoEnds => self.no_ends = true,
            Effect::NoClaim => self.no_claim = true,
            Effect::Claim => self.claim = Some(value.to_string()),
            _ => {}
        }
    }
}

/// Options of `check`, each once.
#[derive(Default)]
struct Options(Vec<(&'static str, Option<String>)>);

impl Options {
    /// Takes the words of a row. The same again is nothing new, another value is a contradiction.
    fn take(&mut self, words: &'static str, value: &str, given: &str) -> Result<(), Failure> {
        let mut words = words.split(' ').peekable();
        while let Some(name) = words.next() {
            let of = words.next_if(|word| !word.starts_with("--")).map(|word| word.replace("{}", value));
            match self.0.iter().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == of => {}
                Some((_, known)) => {
                    let both = [known, &of].map(|value| value.clone().unwrap_or_default());
                    return Err(Failure::refused_with(
                        format!(
                            "{given} asks for {name} {}, and another flag for {name} {}",
                            both[1], both[0]
                        ),
                        "leave one of them out",
                    ));
                }
                None => self.0.push((name, of)),
            }
        }
        Ok(())
    }
}

fn unknown_switch(given: &Given) -> Failure {
    let name = given.value.split('=').next().unwrap_or_default();
    debug_assert!(given.flag.place == Place::Run);
    Failure::refused_with(
        format!("{}: Spin's verifier has no switch {name}", given.word),
        "a macro of the model stands before -run",
    )
}
