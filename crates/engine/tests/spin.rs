//! Command lines of Spin and what becomes of them: pairs, and lines made from the table of flags, of which
//! none may be dropped silently or end in a command that Spinor does not take. `SPIN_LINES=1000` makes more
//! of them. docs/for-spin-users.md shows the table.

use engine::options::CheckOptions;
use engine::property::Inventory;
use engine::spin::flags::FLAGS;
use engine::spin::switches::SWITCHES;
use engine::spin::{Flag, Place, Surroundings, Takes, Translation, table, translate};
use engine::{Failure, Plan, Source};
use std::path::Path;
use system::FaultKind;

/// A model with two formulas, accept labels and an assertion, whose trail exists.
struct World;

impl Surroundings for World {
    fn stated(&self, source: &Source) -> Option<Inventory> {
        let safety = vec![FaultKind::Assertion, FaultKind::EndState, FaultKind::Runtime];
        let mut stated = Inventory { safety, accept: true, ..Inventory::default() };
        match source.path.as_str() {
            "claims.pml" => stated.ltl = vec!["p".to_string(), "q".to_string()],
            "plain.pml" => stated.accept = false,
            "m.pml" => {}
            _ => return None,
        }
        stated.ltl.extend(source.options.formula.as_ref().map(|_| "cli".to_string()));
        stated.never.extend(source.options.claim.as_ref().map(|_| "never_0".to_string()));
        Some(stated)
    }

    fn text(&self, path: &str) -> Result<String, String> {
        match path {
            "formula" => Ok("[] p\n".to_string()),
            // What Spin's verifier left.
            "late.pml.trail" => Ok("-4:-4:-4\n1:0:3\n".to_string()),
            _ => Err("no such file".to_string()),
        }
    }

    fn newest(&self, paths: &[String]) -> Option<String> {
        let exists = |path: &&String| path.starts_with("m.pml") || *path == "late.pml.trail";
        paths.iter().find(exists).cloned()
    }
}

fn translated(line: &str) -> Result<Translation, Failure> {
    translate(&line.split(' ').map(str::to_string).collect::<Vec<String>>(), &World)
}

#[test]
fn lines_and_their_commands() {
    for (line, command) in [
        ("-run m.pml", "spinor check m.pml --property safety --property accept"),
        ("-run plain.pml", "spinor check plain.pml --property safety"),
        ("spin -search -a -f m.pml", "spinor check m.pml --property safety --property accept --fair weak"),
        ("-run -safety m.pml", "spinor check m.pml --property safety"),
        (
            "-run -DNP -l m.pml",
            "spinor check m.pml --property assertion --property runtime --property progress",
        ),
        (
            "-run -a claims.pml",
            "spinor check claims.pml --property assertion --property runtime --property ltl:p",
        ),
        (
            "-run -a -ltl q claims.pml",
            "spinor check claims.pml --property assertion --property runtime --property ltl:q",
        ),
        (
            "./pan -a -N0 claims.pml",
            "spinor check claims.pml --property assertion --property runtime --property ltl:q",
        ),
        ("-run -a -noclaim claims.pml", "spinor check claims.pml --property safety --property accept"),
        ("-run -E -A -q m.pml", "spinor check m.pml --property runtime --property accept --channels-empty"),
        (
            "-DN=3 -run -DNOREDUCE -DCOLLAPSE -collapse plain.pml",
            "spinor check plain.pml -DN=3 --property safety --por none --store collapse",
        ),
        (
            "-o1 -o3 -run -m500 -c0 plain.pml",
            "spinor check plain.pml --property safety --max-depth 500 --all-errors --opt fold",
        ),
        (
            "-run -Q2 -DMEMLIM=512 -RS7 plain.pml",
            "spinor check plain.pml --property safety --timeout 2m --max-memory 512M --seed 7",
        ),
        ("-run -x m.pml", "spinor check m.pml --property safety --property accept --trail /dev/null"),
        ("-run -tsuf plain.pml", "spinor check plain.pml --property safety --trail plain.pml.suf"),
        (
            "-F formula -run plain.pml",
            "spinor check plain.pml --property assertion --property runtime --property ltl:cli --ltl '!([] p)'",
        ),
        (
            "-N claim -run plain.pml",
            "spinor check plain.pml --property assertion --property runtime --property never --claim claim",
        ),
        (
            "-m -run -bcs -L2 -c3 -i plain.pml",
            "spinor check plain.pml --property safety --lossy-channels --max-switches 2 --stop-at 3 --shorten",
        ),
        (
            "-run -bcs -DMA=40 -DPEG -DVAR_RANGES plain.pml",
            "spinor check plain.pml --property safety --max-switches 0 --store automaton --profile --ranges",
        ),
        (
            "-run -swarm4,2 -Q5 -m500 plain.pml",
            "spinor swarm plain.pml --property safety --time 5m --max-depth 500 --cpus 2",
        ),
        ("-m -n7 -u9 m.pml", "spinor simulate m.pml --seed 7 --steps 9 --lossy-channels"),
        ("-t late.pml", "spinor replay late.pml.trail --model late.pml"),
        ("-f []p", "spinor ltl '[]p'"),
        ("-a m.pml", "spinor parse m.pml"),
        ("-E-Idir -I m.pml", "spinor parse m.pml -Idir --format ir"),
        ("-t -p -j5 m.pml", "spinor replay m.pml.trail.json --steps 6.."),
        ("-t3 -M m.pml", "spinor replay m.pml.trail.json.3 --msc m.pml.svg"),
        ("-k some.trail.json m.pml", "spinor replay some.trail.json"),
        ("-p -n7 -u100 m.pml", "spinor simulate m.pml --seed 7 --steps 100"),
        ("-i m.pml", "spinor simulate m.pml --interactive"),
        ("pan -d m.pml", "spinor parse m.pml --format ir"),
        ("-V", "spinor --version"),
    ] {
        assert_eq!(translated(line).map(|t| t.command()), Ok(command.to_string()), "{line}");
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (line, why) in [
        ("-run", "there is no model"),
        ("pan -a", "there is no model"),
        ("-run -J m.pml", "-J: nested unless has one meaning here"),
        ("-run -bitstate -collapse m.pml", "-collapse asks for --store collapse, and another flag"),
        ("-run -f plain.pml", "-f is about cycles"),
        ("-run -DFOO m.pml", "-DFOO: Spin's verifier has no switch FOO"),
        ("-run -ltl r claims.pml", "there is no claim r"),
        ("-t plain.pml", "there is no trail of plain.pml"),
        ("-F nothing m.pml", "cannot read the formula in nothing"),
        ("-E-x m.pml", "-E-x: the built-in preprocessor takes no -x"),
    ] {
        match translated(line) {
            Err(Failure::Refused { message, repair: Some(_) }) if message.contains(why) => {}
            other => panic!("{line}: {other:?}"),
        }
    }
}

/// A generator of its own: the same lines on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// A flag with a value.
fn typed(flag: &Flag, random: &mut Random) -> Vec<String> {
    let number = random.below(3).to_string();
    let name = flag.name.to_string();
    match flag.takes {
        Takes::Nothing | Takes::MaybeNumber | Takes::MaybeNext => vec![name],
        Takes::Number => vec![name + &number],
        Takes::Text if name == "-D" && flag.place == Place::Run => {
            let switch = &SWITCHES[random.below(SWITCHES.len())];
            let value = if switch.takes == Takes::Number { "=4" } else { "" };
            vec![format!("-D{}{value}", switch.name)]
        }
        Takes::Text if name == "-E" => vec!["-E-DX".to_string()],
        Takes::Text => vec![name + "X"],
        Takes::Next => vec![name, "p".to_string()],
    }
}

fn line(random: &mut Random) -> Vec<String> {
    let behind = |flag: &&Flag| matches!(flag.place, Place::Run | Place::Pan);
    let mut words = Vec::new();
    let of_spin: Vec<&Flag> = FLAGS.iter().filter(|flag| flag.place == Place::Spin).collect();
    for _ in 0..random.below(4) {
        words.extend(typed(of_spin[random.below(of_spin.len())], random));
    }
    if random.below(2) == 0 {
        words.push("-run".to_string());
        let of_pan: Vec<&Flag> = FLAGS.iter().filter(behind).collect();
        for _ in 0..random.below(5) {
            words.extend(typed(of_pan[random.below(of_pan.len())], random));
        }
    }
    words.push(["m.pml", "claims.pml", "plain.pml"][random.below(3)].to_string());
    words
}

/// A line is translated to a command that Spinor takes, or refused with a repair.
#[test]
fn lines_that_are_made_from_the_table() {
    let wanted = std::env::var("SPIN_LINES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let (mut random, mut done) = (Random(29), 0);
    for _ in 0..wanted {
        let words = line(&mut random);
        match translate(&words, &World) {
            Ok(translation) if translation.words[1] == "check" => {
                done += 1;
                let options = translation.words[3..].iter().map(String::as_str);
                let options: Vec<&str> = options.filter(|word| !is_for_preprocessor(word)).collect();
                let read = CheckOptions::of_words(options).unwrap_or_else(|why| panic!("{words:?}: {why:?}"));
                match Plan::new(&read) {
                    Ok(_) | Err(Failure::Refused { repair: Some(_), .. }) => {}
                    Err(other) => panic!("{words:?}: {other:?}"),
                }
            }
            Ok(_) => done += 1,
            Err(Failure::Refused { repair: Some(_), .. }) => {}
            Err(other) => panic!("{words:?}: {other:?}"),
        }
    }
    assert!(done * 4 > wanted, "only {done} of {wanted} lines were translated");
}

fn is_for_preprocessor(word: &str) -> bool {
    !word.starts_with("--") && ["-D", "-U", "-I"].iter().any(|start| word.starts_with(start))
}

#[test]
fn the_document_shows_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/for-spin-users.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, shown) = text.split_once(table::BEGIN).expect("the document has no table");
    if table::BEGIN.to_string() + shown == table::markdown() {
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, before.to_string() + &table::markdown()).unwrap();
    }
    panic!("docs/for-spin-users.md does not show the table of flags; UPDATE_EXPECT=1 rewrites it");
}
