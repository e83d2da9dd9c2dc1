//! What is told of systems that are wrong in other ways than their order of reads and writes, and of those that
//! are right: places, who is shut out, and what may be concluded.

use engine::{CheckOptions, Silent, Source, Stop};
use memory::report::Findings;
use memory::{Known, MemorySystem, Model, Outcome, Request};
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
    let system = own("byte mem[2], last[2];\n\
        inline mem_start() { skip }\n\
        inline mem_write(p, a, v) {\n\
          mem[a] = v;\n\
          last[2 - p] = v\n\
        }\n\
        inline mem_read(p, a, v) { v = mem[a] }\n");
    let outcomes = asked(&system, &rules(&["rowo1"]));
    let why = outcomes[0].unknown().expect("cut off").to_string();
    assert!(why.contains("own.pml:5") && why.contains("out of bounds"), "{why}");
}

/// An assertion of the system's own that fails says nothing about rules and outcomes.
#[test]
fn a_system_at_fault_breaks_no_rule() {
    let system = own("byte mem[NA];\n\
        inline mem_start() { skip }\n\
        inline mem_write(p, a, v) {\n\
          assert(p == 0); mem[a] = v\n\
        }\n\
        inline mem_read(p, a, v) { v = mem[a] }\n");
    let litmus = Request { litmus: vec!["SB".to_string()], model: Some(Model::Sc), ..Request::default() };
    for request in [rules(&["po_wr", "progress"]), litmus] {
        for outcome in asked(&system, &request) {
            let name = outcome.question.name();
            assert_eq!(outcome.known(), Known::AtFault, "{name}");
            let line = Findings::line(&request, &outcome);
            assert!(line.contains("the system itself is at fault") && !line.contains("reached"), "{line}");
            let told = Findings::told(&outcome).expect("a violation");
            assert!(told.contains("the system itself is at fault") && told.contains("own.pml:4"), "{told}");
            assert!(!told.contains("reached") && !told.contains("hold"), "{told}");
        }
    }
    // It is no reason against a model.
    let sc = conclusions(&system, &Request { model: Some(Model::Sc), ..rules(&["po_wr"]) });
    assert_eq!(sc, ["no test of sequential consistency failed, but not all were decided"]);
}

/// What was not asked any more was not decided.
#[test]
fn an_interruption_leaves_everything_open() {
    let system = built_in("atomic");
    let request = Request { model: Some(Model::Sc), ..rules(&["cmp"]) };
    let told = |request: &Request, interrupted: bool| {
        let outcomes = asked(&system, &rules(&["cmp"]));
        Findings { system: &system, request, outcomes, skipped: Vec::new(), interrupted }.conclusions()
    };
    assert!(told(&request, false)[0].starts_with("no test of sequential consistency fails (1 test;"));
    assert_eq!(told(&request, true), ["no test of sequential consistency failed, but not all were decided"]);
    let all = told(&Request { classify: true, ..Request::default() }, true);
    assert!(all.iter().all(|line| line.starts_with("may be ")), "{all:?}");
}

#[test]
fn what_the_tool_gives_is_not_defined() {
    let load = |word: &str| {
        let mut source = Source { path: "tso.pml".to_string(), ..Source::default() };
        source.options.preprocessor = vec![word.to_string()];
        MemorySystem::built_in("tso", &source, &Stop::never()).result
    };
    for (word, repair) in [("-DNP=7", "--cpus"), ("-DNA", "--addresses")] {
        let failure = load(word).expect_err(word);
        assert!(format!("{failure:?}").contains(repair), "{failure:?}");
    }
    // A size of buffers is the user's, and is told.
    let system = load("-DMEM_BOUND=3").expect("a size");
    let told = conclusions(&system, &Request { all_roles: true, ..rules(&["rowo1", "rowo1"]) });
    assert_eq!(told, ["1 test holds for any values, buffers of 3"]);
}

/// Files that include each other in ever more ways end soon, with an error.
#[test]
fn files_that_include_themselves_are_refused() {
    struct Itself;
    impl Files for Itself {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok("#include \"own.pml\"\n".repeat(9))
        }
    }
    let source = Source { path: "own.pml".to_string(), ..Source::default() };
    let answer = MemorySystem::load(&source, &Itself, &Stop::never());
    assert!(answer.result.is_err());
    assert!(answer.notices.iter().any(|notice| notice.message.contains("without end")));
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

/// A cache whose operations begin with a choice, as most do; what it does not have it takes from memory, and
/// nobody tells it when that has changed.
const STALE: &str = "byte mem[NA], line[NP * NA]; bool valid[NP * NA];\n\
    inline mem_start() { skip }\n\
    inline mem_write(p, a, v) { mem[a] = v; line[p * NA + a] = v; valid[p * NA + a] = true }\n\
    inline mem_read(p, a, v) {\n\
      if :: valid[p * NA + a] -> v = line[p * NA + a]\n\
         :: else -> d_step { line[p * NA + a] = mem[a]; valid[p * NA + a] = true; v = mem[a] } fi\n\
    }\n";

#[test]
fn operations_may_begin_with_a_choice() {
    let system = own(STALE);
    assert!(system.interface.begins_with_else);
    let outcomes = asked(&system, &rules(&["upo", "rowo1", "rowo2", "po_wr", "progress"]));
    let known: Vec<Known> = outcomes.iter().map(Outcome::known).collect();
    // P0 never sees anything but its own line, P1 keeps the first x that it reads.
    use Known::{Holds, Violated};
    assert_eq!(known, [Holds, Holds, Violated, Violated, Holds]);
    assert!(outcomes.iter().flat_map(|o| &o.checks).all(|check| check.unreached.is_empty()));
    // An `else` that a statement precedes is nobody else's.
    let late = STALE.replace("if :: valid", "skip; if :: valid");
    let late = own(Box::leak(late.into_boxed_str()));
    assert!(!late.interface.begins_with_else);
    let again = asked(&late, &rules(&["upo", "rowo1", "rowo2", "po_wr", "progress"]));
    assert_eq!(again.iter().map(Outcome::known).collect::<Vec<_>>(), known);
}

/// One memory, with something in front of `ORDER` and its arguments.
fn ordering(condition: &str, value: &str) -> MemorySystem {
    let text = format!(
        "byte mem[NA];\ninline mem_start() {{ skip }}\ninline mem_read(p, a, v) {{ v = mem[a] }}\n\
         inline mem_write(p, a, v) {{ d_step {{ mem[a] = v;\n#ifdef ORDER\n\
         if :: {condition} -> ORDER(a, {value}) :: else fi;\n#endif\nskip }} }}\n"
    );
    own(Box::leak(text.into_boxed_str()))
}

#[test]
fn the_full_check_rests_on_an_order_of_all_writes() {
    let outcomes = asked(&ordering("true", "v"), &rules(&["sc2"]));
    assert_eq!((outcomes[0].question.name(), outcomes[0].known()), ("sc2".to_string(), Known::Holds));
    for (condition, value, why) in
        [("a == 0", "v", "a write has no place"), ("true", "0", "nobody had issued")]
    {
        let system = ordering(condition, value);
        let outcomes = asked(&system, &rules(&["sc2"]));
        assert_eq!(
            (outcomes[0].question.name(), outcomes[0].known()),
            ("order".to_string(), Known::Violated)
        );
        let told = Findings::told(&outcomes[0]).expect("a table");
        assert!(told.contains(why), "{told}");
        let request = Request { model: Some(memory::Model::Sc), ..Request::default() };
        let said = conclusions(&system, &request);
        assert!(said[0].contains("not all were decided"), "{said:?}");
    }
    // A word in a comment is no statement.
    let none = own("/* ORDER, MEM_BOUND */ byte mem[NA];\ninline mem_start() { skip }\n\
        inline mem_write(p, a, v) { mem[a] = v }\ninline mem_read(p, a, v) { v = mem[a] }\n");
    assert!(!none.interface.has_order && !none.interface.has_bound);
}

#[test]
fn values_that_do_not_fit_are_not_written() {
    let system = own("bit x, y;\ninline mem_start() { skip }\n\
        inline mem_write(p, a, v) { atomic { if :: a == 0 -> x = v :: else -> y = v fi } }\n\
        inline mem_read(p, a, v) { atomic { if :: a == 0 -> v = x :: else -> v = y fi } }\n");
    assert_eq!(system.interface.largest_value, 1);
    let request = Request { model: Some(memory::Model::Sc), ..Request::default() };
    let agenda = request.agenda(&system).expect("some can be asked");
    let skipped: Vec<&str> = agenda.skipped.iter().map(|(name, _)| name.as_str()).collect();
    assert!(["cmp", "con", "pos", "con_wo"].iter().all(|name| skipped.contains(name)), "{skipped:?}");
    assert!(asked(&system, &request).iter().all(|outcome| outcome.known() == Known::Holds));
    let refused = rules(&["con"]).agenda(&system).expect_err("a value is too large");
    assert!(format!("{refused:?}").contains("keeps values up to 1"), "{refused:?}");
}

#[test]
fn all_tests_are_those_that_can_be_asked() {
    let system =
        own("byte mem[NA];\ninline mem_start() { skip }\ninline mem_write(p, a, v) { mem[a] = v }\n\
        inline mem_read(p, a, v) { v = mem[a] }\n");
    let litmus = |name: &str| Request { litmus: vec![name.to_string()], ..Request::default() };
    let all = litmus("all").agenda(&system).expect("some can be asked");
    assert_eq!(
        all.skipped.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["SB+fences", "MP+fence"]
    );
    assert!(all.questions.len() > 10);
    let refused = litmus("sb+fences").agenda(&system).expect_err("there is no fence");
    assert!(format!("{refused:?}").contains("no mem_fence"), "{refused:?}");
}
