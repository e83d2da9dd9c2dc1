//! Whether a file is a memory system: the names and arities of its operations, what they assign, and whether
//! it looks at the values that it stores.

use crate::memory_system::Made;
use crate::taint;
use engine::session::front_end_of;
use engine::{Failure, Notice, Session, Source, Stop};
use promela::ast::{InlineDef, Item, Unit};
use promela::diagnostic::{Code, Diagnostic, has_errors};
use promela::ir::{Action, Base, Place, Program, RecvArg};
use promela::source::{Files, SourceMap, Span};
use std::sync::Arc;

/// How processors use the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// An operation returns when the processor may go on.
    Blocking,
    /// Operations are issued and answered by tags, in any order.
    Split,
}

/// What a memory system offers.
#[derive(Clone, Debug)]
pub struct Interface {
    /// How processors use it.
    pub form: Form,
    /// `mem_fence` is there.
    pub has_fence: bool,
    /// `ORDER` is there.
    pub has_order: bool,
    /// `MEM_BOUND` is there and not given by the user.
    pub has_bound: bool,
    /// What the user gives for it.
    pub given_bound: Option<u32>,
    /// It never looks at the values that it stores, so that verdicts are for any values.
    pub is_data_independent: bool,
    /// An operation begins with a choice that has an `else`, so that it cannot be an option of a choice of ours:
    /// there is only one `else` in a choice, and it would be about all options.
    pub begins_with_else: bool,
    /// The largest value that it can keep.
    pub largest_value: u32,
}

/// Operations with their parameters.
const BLOCKING: [(&str, &[&str]); 3] =
    [("mem_start", &[]), ("mem_write", &["p", "a", "v"]), ("mem_read", &["p", "a", "v"])];
const SPLIT: [(&str, &[&str]); 3] =
    [("mem_start", &[]), ("mem_issue", &["p", "tag", "op", "a", "v"]), ("mem_reply", &["p", "tag", "v"])];
const FENCE: (&str, &[&str]) = ("mem_fence", &["p"]);

/// Files that are made to look at a system.
const LOOK: &str = "the system alone";
const PROBE: &str = "the system with a probe";

/// What `ORDER` assigns to in the probe.
const SAYS_ORDER: &str = "mv_says_order";

/// What the probe's processor does: writes a value of unknown origin, and reads into a variable.
fn probe(form: Form, has_fence: bool) -> String {
    let fence = if has_fence { ":: mem_fence(0) " } else { "" };
    let operations = match form {
        Form::Blocking => ":: mem_write(0, 0, mv_value) :: mem_read(0, 0, mv_result) ",
        Form::Split => {
            ":: mem_issue(0, 0, MEM_WRITE, 0, mv_value) :: mem_issue(0, 0, MEM_READ, 0, 0) \
             :: mem_reply(0, mv_tag, mv_result) "
        }
    };
    format!(
        "byte mv_value, mv_result, mv_tag;\nproctype CPU0() {{ do {operations}{fence}od }}\n\
         init {{ atomic {{ mem_start(); run CPU0() }} }}\n"
    )
}

/// The head of a model that includes the system.
fn head(source: &Source) -> String {
    format!(
        "#define NP 2\n#define NA 2\n#define MEM_READ 0\n#define MEM_WRITE 1\nbit {SAYS_ORDER};\n\
         #define ORDER(a, v) {SAYS_ORDER} = 1\n#include \"{}\"\n",
        source.path.rsplit('/').next().unwrap_or(&source.path)
    )
}

/// Where a made file must be to include the system by its name.
fn beside(source: &Source, name: &str) -> String {
    match source.path.rfind('/') {
        Some(at) => format!("{}/{name}", &source.path[..at]),
        None => name.to_string(),
    }
}

/// Whether a text is meant as a memory system: one of its operations is there, and nothing that runs by itself.
pub fn looks_like_one(text: &str) -> bool {
    let code = without_comments(text);
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = code.split(|c: char| !part(c)).filter(|word| !word.is_empty()).collect();
    let defines = |name: &str| words.windows(2).any(|pair| pair == ["inline", name]);
    (defines("mem_write") || defines("mem_read") || defines("mem_issue")) && !words.contains(&"init")
}

/// Looks at a system; errors and warnings become notices.
pub fn of(
    source: &Source,
    files: &(dyn Files + Sync),
    stop: &Stop,
    notices: &mut Vec<Notice>,
) -> Result<Interface, Failure> {
    let look = beside(source, LOOK);
    let alone = Made { made: vec![(look.clone(), head(source))], files };
    let mut sources = SourceMap::obeying(stop);
    let (unit, mut diagnostics) = front_end_of(source, &look, &alone, &mut sources)?;
    if !has_errors(&diagnostics) {
        diagnostics.extend(missing(&unit, &sources));
    }
    let inlines = inlines(&unit);
    let form = form(&inlines);
    let has_fence = inlines.iter().any(|inline| &*inline.name.name == FENCE.0);
    if has_errors(&diagnostics) {
        let sources = Arc::new(sources);
        notices.extend(diagnostics.iter().map(|d| Notice::from_diagnostic(d, &sources)));
        return Err(Failure::Model);
    }
    let text: String =
        sources.files().iter().filter(|file| file.name != look).map(|file| &*file.text).collect();
    let path = beside(source, PROBE);
    let probed = Made { made: vec![(path.clone(), head(source) + &probe(form, has_fence))], files };
    let source = Source { path, options: source.options.clone(), ..Source::default() };
    let session = Session::load(&source, &probed, stop)?;
    let Some(program) = &session.program else {
        notices.extend(session.notices.iter().filter(|notice| notice.is_error()).cloned());
        return Err(Failure::Model);
    };
    let mut found: Vec<Diagnostic> = unassigned(program, form, &inlines).into_iter().collect();
    let values = taint::of(program);
    found.extend(values.looks.iter().take(MOST_LOOKS).map(described));
    notices.extend(found.iter().map(|d| Notice::from_diagnostic(d, &session.sources)));
    if has_errors(&found) {
        return Err(Failure::Model);
    }
    let given = source.options.preprocessor.iter().rev().find_map(|word| word.strip_prefix("-DMEM_BOUND"));
    let is_open = leaves_bound_open(&text);
    Ok(Interface {
        form,
        has_fence,
        has_order: assigns(program, SAYS_ORDER),
        has_bound: is_open && given.is_none(),
        given_bound: given.filter(|_| is_open).and_then(|word| word.strip_prefix('=')?.parse().ok()),
        is_data_independent: values.looks.is_empty(),
        begins_with_else: begins_with_else(program),
        largest_value: values.largest,
    })
}

/// Places at which values are looked at that are told.
const MOST_LOOKS: usize = 3;

fn described(look: &taint::Look) -> Diagnostic {
    let message = format!("the memory system {}", look.how);
    Diagnostic::new(Code::W0801, look.span, message)
        .here("this depends on a value that a processor wrote")
        .help("move values only: assign, send and receive them")
        .note("verdicts are for the values 0, 1 and 2 of the tests only, not for any values")
}

/// Whether the size of buffers is a parameter: `MEM_BOUND` is used, and defined only where it is not yet.
fn leaves_bound_open(text: &str) -> bool {
    let code = without_comments(text);
    let lines = || code.lines().map(|line| line.split_whitespace().collect::<String>());
    let defines = lines().any(|line| line.starts_with("#defineMEM_BOUND"));
    let asks = lines().any(|line| line == "#ifndefMEM_BOUND" || line.contains("!defined(MEM_BOUND)"));
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.split(|c: char| !part(c)).any(|word| word == "MEM_BOUND") && (asks || !defines)
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((code, comment)) = rest.split_once("/*") {
        out += code;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    out + rest
}

/// Whether the choice between the operations of the probe's processor has an `else`, which is that of an
/// operation.
fn begins_with_else(program: &Program) -> bool {
    let processor = program.proctypes.iter().find(|proctype| proctype.name == "CPU0");
    processor.is_some_and(|processor| {
        let first = &processor.locations[processor.start.index()].edges;
        first.iter().any(|edge| matches!(processor.edges[edge.index()].action, Action::Else))
    })
}

fn inlines(unit: &Unit) -> Vec<InlineDef> {
    let inline = |item: &Item| match item {
        Item::Inline(inline) => Some(inline.clone()),
        _ => None,
    };
    unit.items.iter().filter_map(inline).collect()
}

/// The form that the system's operations are of: split where one of those is there.
fn form(inlines: &[InlineDef]) -> Form {
    let has = |name: &str| inlines.iter().any(|inline| &*inline.name.name == name);
    if has("mem_issue") || has("mem_reply") { Form::Split } else { Form::Blocking }
}

/// Operations that are missing or have the wrong parameters.
fn missing(unit: &Unit, sources: &SourceMap) -> Vec<Diagnostic> {
    let inlines = inlines(unit);
    let needed = match form(&inlines) {
        Form::Blocking => BLOCKING,
        Form::Split => SPLIT,
    };
    let mut out = Vec::new();
    let system = sources.files().iter().position(|file| !file.name.ends_with(LOOK)).unwrap_or(0);
    let top = Span { file: promela::source::FileId(system as u32), ..Span::NONE };
    for (name, params) in needed.into_iter().chain([FENCE]) {
        let shape = format!("inline {name}({}) {{ … }}", params.join(", "));
        match inlines.iter().find(|inline| &*inline.name.name == name) {
            None if name == FENCE.0 => {}
            None => {
                let mut told =
                    Diagnostic::new(Code::E0801, top, format!("the memory system has no `{name}`"))
                        .help(format!("define `{shape}`"));
                if is_macro(name, sources) {
                    told = told.note(format!("`{name}` is a macro here, and must be an inline"));
                }
                out.push(told);
            }
            Some(inline) if inline.params.len() != params.len() => {
                let count = |n: usize| if n == 1 { "1 parameter".into() } else { format!("{n} parameters") };
                let (has, wants) = (count(inline.params.len()), count(params.len()));
                let message = format!("`{name}` has {has}, and is called with {wants}");
                out.push(
                    Diagnostic::new(Code::E0802, inline.name.span, message).help(format!("write `{shape}`")),
                );
            }
            Some(_) => {}
        }
    }
    for item in &unit.items {
        if let Item::Init(init) = item {
            let message = "a memory system has no `init`: the processors' model has it";
            let help = "start processes in `mem_start`, which is called there";
            out.push(Diagnostic::new(Code::E0804, init.span, message).help(help));
        }
    }
    out
}

/// Whether a name is that of a macro.
fn is_macro(name: &str, sources: &SourceMap) -> bool {
    let defines = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start)?.strip_prefix("define")?;
        let rest = rest.trim_start().strip_prefix(name)?;
        Some(rest.starts_with(|c: char| c == '(' || c.is_whitespace()))
    };
    sources.files().iter().flat_map(|file| file.text.lines()).any(|line| defines(line) == Some(true))
}

/// Whether some process stores to a global variable.
fn assigns(program: &Program, name: &str) -> bool {
    let cell = program.globals.iter().find(|var| var.name == name).map(|var| var.cell);
    let stores = |place: &Place| place.base == Base::Global && Some(place.cell) == cell;
    program.proctypes.iter().flat_map(|proctype| &proctype.edges).any(|edge| match &edge.action {
        Action::Assign(place, _) => stores(place),
        Action::Receive { args, .. } => {
            args.iter().any(|arg| matches!(arg, RecvArg::Store(place) if stores(place)))
        }
        _ => false,
    })
}

/// A read that assigns nothing to the variable that is given to it.
fn unassigned(program: &Program, form: Form, inlines: &[InlineDef]) -> Option<Diagnostic> {
    let (name, places): (&str, &[(&str, usize)]) = match form {
        Form::Blocking => ("mem_read", &[("mv_result", 2)]),
        Form::Split => ("mem_reply", &[("mv_tag", 1), ("mv_result", 2)]),
    };
    let &(_, place) = places.iter().find(|(variable, _)| !assigns(program, variable))?;
    let inline = inlines.iter().find(|inline| &*inline.name.name == name)?;
    let param = &inline.params[place];
    let message = format!("`{name}` never assigns to its parameter `{}`", param.name);
    let help = format!("assign to `{0}`, or receive into it: `{0} = …`, `reply[p]?{0}`", param.name);
    Some(Diagnostic::new(Code::E0803, inline.name.span, message).help(help))
}
