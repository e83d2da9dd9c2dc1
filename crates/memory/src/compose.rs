//! A memory system and the processors of a test, as one model: a text that any Promela tool reads.

use crate::interface::Form;
use crate::litmus::{Litmus, Step};
use crate::memory_system::{self, MemorySystem, Place};
use crate::program::{Program, Roles};
use crate::rules::Test;
use crate::{blocking, observer, ordering, split};
use engine::{Answer, Session, Stop};
use std::sync::Arc;

/// What a composed model asks.
#[derive(Clone, Debug)]
pub enum Question {
    /// A test of ordering rules.
    Rule(Test),
    /// Whether the outcome of a litmus test shows.
    Litmus(Litmus),
    /// Sequential consistency in full, for cycles through this number of processors and addresses.
    Sequential(usize),
    /// Whether `ORDER` is said once of every write: what the full check rests on.
    Order,
    /// Whether the system can get stuck.
    Progress,
    /// Whether a processor can be shut out forever, while others go on.
    Service,
}

impl Question {
    /// As reports name it.
    pub fn name(&self) -> String {
        match self {
            Question::Rule(test) => test.name.to_string(),
            Question::Litmus(litmus) => litmus.name.to_string(),
            Question::Sequential(k) => format!("sc{k}"),
            Question::Order => "order".to_string(),
            Question::Progress => "progress".to_string(),
            Question::Service => "service".to_string(),
        }
    }

    /// Those that are no tests of rules and no litmus tests, but can be asked for in the same way.
    pub fn others() -> [Question; 5] {
        [
            Question::Sequential(2),
            Question::Sequential(3),
            Question::Order,
            Question::Progress,
            Question::Service,
        ]
    }

    /// What holds where it holds, in short.
    pub fn about(&self) -> String {
        match self {
            Question::Rule(test) => test.rules.to_string(),
            Question::Litmus(_) => "an outcome that some models forbid".to_string(),
            Question::Sequential(2) => "sequential consistency in full".to_string(),
            Question::Sequential(k) => format!("no cycle through {k} processors and addresses"),
            Question::Order => "ORDER is said once of every write".to_string(),
            Question::Progress => "the system never gets stuck as a whole".to_string(),
            Question::Service => "each processor can always complete an operation".to_string(),
        }
    }

    /// Processors and addresses that it needs.
    pub fn parts(&self) -> (usize, usize) {
        match self {
            Question::Rule(test) => (test.clients.len(), test.addresses),
            Question::Litmus(litmus) => (litmus.programs.len(), litmus.addresses()),
            Question::Sequential(k) => (*k, *k),
            Question::Order | Question::Progress | Question::Service => (2, 2),
        }
    }

    /// The largest value that is written.
    pub fn largest_value(&self) -> u32 {
        let largest = match self {
            Question::Rule(test) => {
                let moves = test.clients.iter().flat_map(|client| &client.0).flatten();
                moves.filter_map(|one| one.op.written()).max()
            }
            Question::Litmus(litmus) => litmus.programs.iter().flatten().filter_map(Step::written).max(),
            Question::Sequential(_) => Some(2),
            Question::Order | Question::Progress | Question::Service => Some(1),
        };
        u32::from(largest.unwrap_or(0))
    }

    /// The property of the composed model that answers it.
    pub fn property(&self) -> &'static str {
        match self {
            Question::Rule(_) | Question::Litmus(_) | Question::Sequential(_) | Question::Order => {
                "assertion"
            }
            Question::Progress => "safety",
            Question::Service => "ctl:cli",
        }
    }

    fn in_words(&self) -> String {
        match self {
            Question::Rule(test) => format!("test {} of the rules {}", test.name, test.rules),
            Question::Litmus(litmus) => format!("litmus test {}", litmus.name),
            Question::Sequential(k) => {
                format!("sequential consistency, cycles through {k} processors and addresses")
            }
            Question::Order => "is ORDER said once of every write?".to_string(),
            Question::Progress => "reads and writes without end: can the system get stuck?".to_string(),
            Question::Service => {
                "reads and writes without end: can each processor always complete another operation?"
                    .to_string()
            }
        }
    }
}

/// A composed model.
#[derive(Clone, Debug)]
pub struct Composed {
    /// What it asks.
    pub question: Question,
    /// How processors use the system.
    pub form: Form,
    /// Processors.
    pub cpus: usize,
    /// Addresses.
    pub addresses: usize,
    /// Who plays which part.
    pub roles: Roles,
    /// The size of the system's buffers, where it has such a bound.
    pub bound: Option<u32>,
    /// A path for the text.
    pub path: String,
    /// The text.
    pub text: String,
    /// The lines before the system's own.
    pub system_begins: u32,
    /// Where those come from.
    pub places: Arc<[Place]>,
    /// The first line of the processors.
    pub clients_begin: u32,
}

impl Composed {
    /// The model, with the formula that it is asked about.
    pub fn session(&self, stop: &Stop) -> Answer<Session> {
        memory_system::session(&self.path, &self.text, self.formula(), stop)
    }

    /// The formula of branching time that it is asked about, if it is asked about one.
    pub fn formula(&self) -> Option<String> {
        let process = match self.form {
            Form::Blocking => "CPU",
            Form::Split => "Port",
        };
        let first = self.roles.cpus.first()?;
        matches!(self.question, Question::Service).then(|| format!("AG EF {process}{first}@served"))
    }

    /// Where a line of the text comes from, if it is one of the system.
    pub fn place(&self, line: u32) -> Option<&Place> {
        self.places.get(line.checked_sub(self.system_begins + 1)? as usize)
    }
}

/// Composes a system and a question.
pub fn compose(
    system: &MemorySystem,
    question: &Question,
    roles: &Roles,
    (cpus, addresses): (usize, usize),
    bound: Option<u32>,
) -> Composed {
    let size = (cpus, addresses);
    let mut program = match question {
        Question::Rule(test) => Program::of_test(test, roles, size),
        Question::Litmus(litmus) => Program::of_litmus(litmus, roles, size),
        Question::Sequential(k) => observer::program(*k, roles, size),
        Question::Order => ordering::program(size),
        Question::Progress | Question::Service => {
            let values = if system.interface.is_data_independent { 1 } else { 2 };
            let tells = matches!(question, Question::Service);
            Program { tells_service: tells, ..Program::of_anything(cpus, addresses, values) }
        }
    };
    program.chooses_first = system.interface.begins_with_else;
    let mut head = format!(
        "/* {} of the memory system {}, made by `spinor memory`.\n   \
         {cpus} processors, {addresses} addresses{}. With Spin: spin -a, cc -DSAFETY -o pan pan.c, ./pan -E. */\n",
        question.in_words(),
        system.name,
        bound.map_or_else(String::new, |bound| format!(", buffers of {bound}")),
    );
    head += &format!("#define NP {cpus}\n#define NA {addresses}\n");
    // What the user gives is among the definitions.
    if let Some(bound) = bound.filter(|_| system.interface.has_bound) {
        head += &format!("#define MEM_BOUND {bound}\n");
    }
    head += &system.definitions;
    if system.interface.form == Form::Split {
        head += "#define MEM_READ 0\n#define MEM_WRITE 1\n";
    }
    if system.interface.has_order {
        let order = match program.order.is_empty() {
            true => String::new(),
            false => format!("; {}", program.order),
        };
        head += &format!("#define ORDER(a, v) printf(\"mem: order %d %d\\n\", a, v){order}\n");
    }
    let variables: String = program.globals.iter().map(|global| format!("{global}\n")).collect();
    let done = if program.outcome.is_some() {
        "byte mv_done;               /* processors that have finished */\n"
    } else {
        ""
    };
    let above = format!("{head}{variables}{done}\n");
    let system_begins = above.lines().count() as u32;
    let before = above + &system.text;
    let quiet = "\n#ifndef mem_quiet\n#define mem_quiet true\n#endif\n\n";
    let clients_begin = (before.lines().count() + quiet.lines().count()) as u32;
    let mut text = before + quiet;
    text += &match system.interface.form {
        Form::Blocking => blocking::text(&program),
        Form::Split => split::text(&program),
    };
    text += &ending(question, system.interface.form, cpus);
    let path = format!("{}.{}.pml", system.stem, file_name(question, roles, bound));
    Composed {
        question: question.clone(),
        form: system.interface.form,
        cpus,
        addresses,
        roles: roles.clone(),
        bound,
        path,
        text,
        system_begins,
        places: system.places.clone(),
        clients_begin,
    }
}

/// What stands behind the processors.
fn ending(question: &Question, form: Form, cpus: usize) -> String {
    let idle = || (0..cpus).map(split::idle).collect::<Vec<_>>().join(" && ");
    match (question, form) {
        (Question::Sequential(_), Form::Split) => {
            observer::violation().replace("mem_quiet", &format!("mem_quiet && {}", idle()))
        }
        (Question::Sequential(_), Form::Blocking) => observer::violation().to_string(),
        (Question::Order, Form::Split) => ordering::violation(&idle()),
        (Question::Order, Form::Blocking) => ordering::violation(&ordering::idle(cpus)),
        _ => String::new(),
    }
}

fn file_name(question: &Question, roles: &Roles, bound: Option<u32>) -> String {
    let mut name: String =
        question.name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !roles.is_plain() {
        name += &format!("_{}", roles.suffix());
    }
    if let Some(bound) = bound {
        name += &format!("_{bound}");
    }
    name
}
