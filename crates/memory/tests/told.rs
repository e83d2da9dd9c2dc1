//! What is told of systems that are wrong in other ways than their order of reads and writes, and of those that
//! are right: places, who is shut out, and what may be concluded.

use engine::{CheckOptions, Silent, Source, Stop};
use memory::report::Findings;
use memory::{Known, MemorySystem, Outcome, Request};
use promela::source::Files;

/// A system that is one text.
struct Text(&'static str);

impl Files for Text {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == "own.pml" { Ok(self.0.to_string()) } else { Err("no such file".to_string()) }
    }
}

fn own(text: &'static str) -> MemorySystem {
    let source = Source { path: "own.pml".to_string(), ..Source::default() };
    let answer = MemorySystem::load(&source, &Text(text), &Stop::never());
    assert!(answer.notices.is_empty(), "{:?}", answer.notices);
    answer.result.expect("a system")
}

fn built_in(name: &str) -> MemorySystem {
    MemorySystem::built_in(name, &Source::default(), &Stop::never()).result.expect(name)
}

fn asked(system: &MemorySystem, request: &Request) -> Vec<Outcome> {
    let (options, stop) = (CheckOptions::default(), Stop::never());
    let ask = |question| request.ask(system, question, &options, &stop, &mut Silent).result;
    request
        .agenda(system)
        .expect("can be asked")
        .questions
        .iter()
        .map(|q| ask(q).expect("an answer"))
        .collect()
}

fn rules(names: &[&str]) -> Request {
    Request { rules: names.iter().map(ToString::to_string).collect(), ..Request::default() }
}

fn conclusions(system: &MemorySystem, request: &Request) -> Vec<String> {
    let outcomes = asked(system, request);
    Findings { system, request, outcomes, skipped: Vec::new(), interrupted: false }.conclusions()
}

/// Once P1 has written, nobody gives the bus back to P0.
const SHUTS_OUT: &str = "byte mem[NA]; bool taken;\n\
    inline mem_start() { skip }\n\
    inline mem_write(p, a, v) {\n\
      d_step { p == 1 || !taken -> mem[a] = v; if :: p == 1 -> taken = true :: else fi }\n\
    }\n\
    inline mem_read(p, a, v) { d_step { p == 1 || !taken -> v = mem[a] } }\n";

#[test]
fn a_processor_that_is_shut_out_is_found() {
    let system = own(SHUTS_OUT);
    let outcomes = asked(&system, &rules(&["progress", "service"]));
    assert_eq!(outcomes[0].known(), Known::Holds, "somebody can always go on");
    assert_eq!(outcomes[1].known(), Known::Violated);
    let told = Findings::told(&outcomes[1]).expect("a table");
    assert!(told.contains("from here P0 never completes an operation again"), "{told}");
    assert!(told.contains("write x := 0"), "{told}");
}

#[test]
fn shipped_systems_serve_everybody() {
    let request = Request { all_roles: true, ..rules(&["service"]) };
    for name in ["atomic", "mesi", "tso", "migratory_directory"] {
        let outcomes = asked(&built_in(name), &request);
        assert_eq!(outcomes[0].known(), Known::Holds, "{name}");
        assert!(outcomes[0].checks.len() >= 2, "{name}: every processor is asked about");
    }
}

#[test]
fn errors_of_the_system_are_told_where_its_author_finds_them() {
    let system = own("byte mem[2];\n\
        inline mem_start() { skip }\n\
        inline mem_write(p, a, v) { mem[a] = v }\n\
        inline mem_read(p, a, v) {\n\
          v = mem[a + 2 * p]\n\
        }\n");
    let outcomes = asked(&system, &rules(&["rowo1"]));
    let why = outcomes[0].unknown().expect("cut off").to_string();
    assert!(why.contains("own.pml:5") && why.contains("out of bounds"), "{why}");
}

#[test]
fn what_was_shown_is_said_with_its_limits() {
    let atomic = built_in("atomic");
    let alike = "if processors and addresses are treated alike (--roles all does without)";
    assert_eq!(conclusions(&atomic, &rules(&["rowo1"])), [format!("1 test holds for any values, {alike}")]);
    assert_eq!(
        conclusions(&atomic, &rules(&["sc2"])),
        [format!("sequentially consistent: 2 processors, 2 addresses, any values, {alike}")]
    );
    let three = Request { cpus: Some(3), addresses: Some(3), ..rules(&["sc2"]) };
    assert_eq!(
        conclusions(&atomic, &three),
        [format!("no cycle through 2 processors and 2 addresses, of 3 and 3: any values, {alike}")]
    );
    let bounded = conclusions(&built_in("tso"), &Request { all_roles: true, ..rules(&["rowo1"]) });
    assert_eq!(bounded, ["1 test holds for any values, buffers of 1 and of 2"]);
}
