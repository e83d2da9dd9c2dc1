//! From the syntax tree to the intermediate form.
//!
//! One pass over the declarations in their order, as Spin reads them: names must be declared before they are
//! used, except proctypes in `run`. Statements become control-flow elements ([`flow`]) numbered as Spin
//! numbers them; when all is read, [`automaton`] turns elements into locations and edges. Files: [`types`]
//! (declarations), [`names`] (references), [`expr`], [`statement`], [`loops`], [`process`] (proctypes,
//! claims, traces), [`property`] (ltl, invariants), [`state_formula`] (ctl, mu),
//! [`expression`](mod@expression) (what is asked about a state).

mod automaton;
mod channels;
mod embedded;
mod expr;
mod expression;
mod flow;
mod loops;
mod names;
mod process;
mod property;
mod scope;
mod state_formula;
mod statement;
mod suggest;
mod types;

use crate::ast::{Item, Unit};
use crate::diagnostic::{Code, Diagnostic, Severity, has_errors};
use crate::ir::{InitStep, MtypeId, Proctype, ProctypeId, ProctypeKind, Program, StructId, Var};
use crate::source::{SourceMap, Span};
pub use expression::expression;
use flow::Flow;
pub(crate) use names::predefined;
use scope::{ScopeId, Scopes};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stop::Ticks;
pub(crate) use suggest::activated;

/// Enough to see what is wrong; more would only scroll by.
const MAX_DIAGNOSTICS: usize = 100;

/// What lowering gives: a program unless there were errors.
pub struct Lowered {
    /// The program.
    pub program: Option<Program>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Lowers a model; `name` is its file name.
pub fn lower(unit: &Unit, sources: &SourceMap, name: &str) -> Lowered {
    run(unit, Lowerer::new(sources, name))
}

/// The errors of a tree that has syntax errors as well. Names in `doubtful` may be declared in what could not
/// be read.
pub fn check(unit: &Unit, doubtful: &HashSet<Arc<str>>, sources: &SourceMap, name: &str) -> Vec<Diagnostic> {
    let mut lowerer = Lowerer::new(sources, name);
    lowerer.partial = true;
    lowerer.doubtful = doubtful.clone();
    let mut diagnostics = run(unit, lowerer).diagnostics;
    diagnostics.retain(|d| d.severity() == Severity::Error);
    diagnostics
}

fn run(unit: &Unit, mut lowerer: Lowerer<'_>) -> Lowered {
    lowerer.announce_proctypes(unit);
    lowerer.announce_globals(unit);
    for item in &unit.items {
        lowerer.ticks.tick(lowerer.sources.stop());
        lowerer.item(item);
    }
    lowerer.check_runs();
    lowerer.check_sends();
    lowerer.check_active_cells();
    lowerer.build_automata();
    lowerer.order_global_inits();
    lowerer.check_channels();
    if lowerer.program.active.is_empty() && !lowerer.partial && !has_errors(&lowerer.diagnostics) {
        let first = lowerer.program.proctypes.iter().find(|p| p.kind == ProctypeKind::Proctype);
        let span = first.map_or(Span::NONE, |p| p.span);
        let mut d = Diagnostic::new(Code::E0505, span, "no process would run in this model")
            .help("write `active` in front of a proctype, or add `init { run … }`");
        d.fixes.extend(activated(unit, |_| true));
        lowerer.push(d);
    }
    let Lowerer { program, diagnostics, partial, .. } = lowerer;
    let program = (!partial && !has_errors(&diagnostics)).then_some(program);
    Lowered { program, diagnostics }
}

/// A `run`, checked when all proctypes are known.
struct RunUse {
    proctype: ProctypeId,
    n_args: usize,
    span: Span,
    arguments: Vec<Argument>,
}

/// What matters about an argument when it meets an mtype parameter.
enum Argument {
    Constant(MtypeId),
    Variable(Arc<str>, Span),
    Other,
}

/// The proctype being lowered.
struct Context {
    proctype: ProctypeId,
    kind: ProctypeKind,
    locals: Vec<Var>,
    n_cells: u32,
    init: Vec<InitStep>,
    scopes: Scopes<usize>,
    /// Blocks in which label names were first seen; moves in step with `scopes`.
    label_scopes: Scopes<()>,
    flow: Flow,
    /// Declarations are still at the beginning of the body, so that initialisers belong to the process's
    /// creation.
    initialization_ok: bool,
    /// The innermost use of an inline, numbered; 0 outside.
    inline: u32,
    n_inlines: u32,
}

struct Lowerer<'a> {
    sources: &'a SourceMap,
    ticks: Ticks,
    program: Program,
    diagnostics: Vec<Diagnostic>,
    globals: HashMap<Arc<str>, (usize, Span)>,
    /// mtype and enum constants: set, value, place.
    constants: HashMap<Arc<str>, (MtypeId, i32, Span)>,
    types: HashMap<Arc<str>, StructId>,
    enums: HashMap<Arc<str>, MtypeId>,
    field_inits: Vec<Vec<Option<types::FieldInit>>>,
    /// Of each structure: how deeply it is nested, and whether some field has an initial value.
    struct_facts: Vec<(usize, bool)>,
    /// Where each structure is declared.
    struct_spans: Vec<Span>,
    /// How many initialisations there are, and how many values travel in messages and arguments.
    n_init_steps: usize,
    n_passed: usize,
    global_inits: Vec<(u8, Vec<InitStep>)>,
    /// Initial values that are constants: bounds may be given by such variables.
    initial_values: HashMap<Arc<str>, i64>,
    proctype_ids: HashMap<Arc<str>, ProctypeId>,
    declared_proctypes: HashSet<ProctypeId>,
    /// How many statements the proctypes so far have, as Spin counts them.
    n_statements: u32,
    flows: HashMap<ProctypeId, Flow>,
    bodies: HashMap<ProctypeId, flow::SequenceId>,
    /// Names of the declaration being read, not visible in it.
    pending_names: HashSet<Arc<str>>,
    /// Names that were referred to.
    used: HashSet<Arc<str>>,
    /// PV's `run` iterators and their current values.
    iterators: Vec<(Arc<str>, i32)>,
    /// The set of constants that a variable was last assigned from (Spin checks that it stays one).
    assigned_sets: HashMap<(Option<ProctypeId>, usize), MtypeId>,
    /// Facts about channels that Spin's rules ask for.
    messages: HashMap<channels::VarKey, channels::Message>,
    exclusive: HashMap<(channels::VarKey, bool), (ProctypeId, Span)>,
    has_exclusive: bool,
    runs: Vec<RunUse>,
    /// Sends: their fields, their place, the declaration of their channel.
    sends: Vec<(usize, Span, Option<Span>)>,
    /// The first use of `enabled()`.
    enabled_at: Option<Span>,
    max_fields: usize,
    in_claim: bool,
    context: Option<Box<Context>>,
    next_id: u32,
    n_ltl: usize,
    n_never: usize,
    /// The tree has syntax errors: something may be missing.
    partial: bool,
    /// Names that may be declared in text that could not be read.
    doubtful: HashSet<Arc<str>>,
    /// Names whose declaration had an error.
    poisoned: HashSet<Arc<str>>,
    /// Unknown names that were reported, with the proctype in which.
    told: HashSet<(Option<ProctypeId>, Arc<str>)>,
    /// Where globals are declared, also those that are not visible yet.
    later: HashMap<Arc<str>, Span>,
}

impl<'a> Lowerer<'a> {
    fn new(sources: &'a SourceMap, name: &str) -> Self {
        Lowerer {
            sources,
            ticks: Ticks::default(),
            program: Program { name: name.into(), ..Program::default() },
            diagnostics: Vec::new(),
            globals: HashMap::new(),
            constants: HashMap::new(),
            types: HashMap::new(),
            enums: HashMap::new(),
            field_inits: Vec::new(),
            struct_facts: Vec::new(),
            struct_spans: Vec::new(),
            n_init_steps: 0,
            n_passed: 0,
            global_inits: Vec::new(),
            initial_values: HashMap::new(),
            proctype_ids: HashMap::new(),
            declared_proctypes: HashSet::new(),
            n_statements: 0,
            flows: HashMap::new(),
            bodies: HashMap::new(),
            pending_names: HashSet::new(),
            used: HashSet::new(),
            iterators: Vec::new(),
            assigned_sets: HashMap::new(),
            messages: HashMap::new(),
            exclusive: HashMap::new(),
            has_exclusive: false,
            runs: Vec::new(),
            sends: Vec::new(),
            enabled_at: None,
            max_fields: 0,
            in_claim: false,
            context: None,
            next_id: 0,
            n_ltl: 0,
            n_never: 0,
            partial: false,
            doubtful: HashSet::new(),
            poisoned: HashSet::new(),
            told: HashSet::new(),
            later: HashMap::new(),
        }
    }

    /// Whether no more errors are taken, so that none need be made.
    fn full(&self) -> bool {
        self.diagnostics.iter().filter(|d| d.severity() == Severity::Error).count() >= MAX_DIAGNOSTICS
    }

    /// Errors and warnings are limited separately: warnings must not hide an error.
    fn push(&mut self, diagnostic: Diagnostic) {
        let alike = self.diagnostics.iter().filter(|d| d.severity() == diagnostic.severity());
        // Every use of an inline would say the same.
        let text = |d: &Diagnostic| (d.span().file, d.span().start, d.span().end);
        let same = |d: &Diagnostic| {
            d.code == diagnostic.code && text(d) == text(&diagnostic) && d.message == diagnostic.message
        };
        if alike.count() < MAX_DIAGNOSTICS && !self.diagnostics.iter().any(same) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether something is known to be missing, so that what follows from it must not be reported.
    fn broken(&self) -> bool {
        self.partial || has_errors(&self.diagnostics)
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::new(code, span, message));
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Proctype(p) => self.proctype(p),
            Item::Init(init) => self.init_process(init),
            Item::Never(claim) => self.never(claim),
            Item::Trace(trace) => self.trace(trace),
            Item::Ltl(ltl) => self.ltl(ltl),
            Item::StateFormula(formula) => self.state_property(formula),
            Item::Decl(decl) => self.declare_globals(decl),
            Item::Typedef(typedef) => self.declare_typedef(typedef),
            Item::Mtype(decl) => self.declare_mtype(decl),
            Item::Inline(_) => {}
            Item::Invariant(invariant) => self.invariant(invariant),
            Item::Enum(decl) => self.declare_enum(decl),
            Item::EmbeddedC(c) => self.item_of_c(c),
        }
    }

    fn in_d_step(&self) -> bool {
        self.context.as_ref().is_some_and(|c| c.flow.d_step.is_some())
    }

    /// Spin initialises globals grouped by type.
    fn order_global_inits(&mut self) {
        self.global_inits.sort_by_key(|(rank, _)| *rank);
        let steps = std::mem::take(&mut self.global_inits);
        self.program.init = steps.into_iter().flat_map(|(_, steps)| steps).collect();
    }

    fn build_automata(&mut self) {
        for i in 0..self.program.proctypes.len() {
            self.sources.stop().check();
            let id = ProctypeId(i as u32);
            let (Some(flow), Some(body)) = (self.flows.get_mut(&id), self.bodies.get(&id)) else { continue };
            match automaton::build(flow, *body) {
                Ok(automaton) => {
                    let proctype = &mut self.program.proctypes[i];
                    proctype.locations = automaton.locations;
                    proctype.edges = automaton.edges;
                    proctype.start = automaton.start;
                    proctype.labels = automaton.labels;
                }
                // Where statements are missing because of other errors, only a label can be said to be
                // unknown.
                Err(diagnostic) => {
                    let sound = !self.broken();
                    let label = diagnostic.code == Code::E0302 && !self.doubts_label(&diagnostic);
                    if sound || label {
                        self.push(*diagnostic);
                    }
                }
            }
        }
        self.check_elses();
    }

    /// Whether the target of a jump may stand in text that could not be read.
    fn doubts_label(&self, diagnostic: &Diagnostic) -> bool {
        let text = self.sources.text(diagnostic.span());
        text.split_whitespace().any(|word| self.doubted(word))
    }

    /// Of two `else` that end up in one choice, the second is never executable: the first always is.
    fn check_elses(&mut self) {
        let mut bad = Vec::new();
        for proctype in &self.program.proctypes {
            for location in proctype.locations.iter().filter(|l| !l.in_d_step) {
                let elses = location.edges.iter().map(|e| proctype.edge(*e));
                let elses = elses.filter(|e| matches!(e.action, crate::ir::Action::Else));
                let spans: Vec<Span> = elses.map(|e| e.span).collect();
                bad.extend(spans.iter().skip(1).map(|span| (*span, spans[0])));
            }
        }
        bad.sort_by_key(|(s, _)| (s.file, s.start));
        bad.dedup_by_key(|(s, _)| *s);
        for (span, taken) in bad {
            self.push(
                Diagnostic::new(
                    Code::W0302,
                    span,
                    "this `else` is never taken: another `else` in the same choice is",
                )
                .label(taken, "this one is taken")
                .help("put a statement such as `skip` in front of the inner `if` or `do`"),
            );
        }
    }

    fn check_runs(&mut self) {
        for run in std::mem::take(&mut self.runs) {
            let proctype = self.program.proctype(run.proctype);
            let (expected, name) = (proctype.n_params as usize, proctype.name.clone());
            if run.n_args != expected {
                let plural = if expected == 1 { "" } else { "s" };
                let message = format!("`{name}` takes {expected} argument{plural}, not {}", run.n_args);
                let d = Diagnostic::new(Code::E0506, run.span, message).label(proctype.span, "declared here");
                if !self.doubted(&name) {
                    self.push(d);
                }
            }
            self.check_mtype_arguments(&run);
        }
    }

    /// Spin takes only constants of the right set for mtype parameters.
    fn check_mtype_arguments(&mut self, run: &RunUse) {
        let proctype = self.program.proctype(run.proctype);
        let params: Vec<Option<MtypeId>> = proctype
            .locals
            .iter()
            .take_while(|v| v.cell < proctype.n_params)
            .map(|v| match v.ty {
                crate::ir::Type::Scalar(crate::ir::Scalar::Mtype(set)) => Some(set),
                _ => None,
            })
            .collect();
        for (param, argument) in params.into_iter().zip(&run.arguments) {
            let Some(set) = param.filter(|s| !self.enums.values().any(|e| e == s)) else { continue };
            match argument {
                Argument::Variable(name, span) => {
                    let message =
                        format!("`{name}` is a variable: an mtype parameter takes only an mtype constant");
                    self.push(
                        Diagnostic::new(Code::E0507, *span, message)
                            .help("declare the parameter as `byte` to pass a variable"),
                    );
                }
                Argument::Constant(given) if *given != set => {
                    let (given, set) = (given.index(), set.index());
                    let message = format!(
                        "a constant of mtype `{}` is passed for a parameter of mtype `{}`",
                        self.program.mtypes[given].name, self.program.mtypes[set].name
                    );
                    let declared = self.program.proctype(run.proctype).span;
                    let d = Diagnostic::new(Code::E0508, run.span, message).label(declared, "declared here");
                    self.push(d);
                }
                _ => {}
            }
        }
    }

    fn check_sends(&mut self) {
        for (n, span, declared) in std::mem::take(&mut self.sends) {
            if n > self.max_fields {
                let message = format!(
                    "this message has {n} fields, but no channel takes more than {}",
                    self.max_fields
                );
                let mut d = Diagnostic::new(Code::E0407, span, message);
                if let Some(declared) = declared {
                    d = d.label(declared, "the channel is declared here");
                }
                self.push(d.help("send as many fields as the channel has, or declare more of them"));
            }
        }
    }
}

/// A proctype of which only the name is known yet.
fn empty_proctype(name: String, kind: ProctypeKind, span: Span) -> Proctype {
    Proctype {
        name,
        kind,
        deterministic: false,
        n_params: 0,
        locals: Vec::new(),
        n_cells: 0,
        init: Vec::new(),
        provided: None,
        start: crate::ir::LocId(0),
        locations: Vec::new(),
        edges: Vec::new(),
        labels: Vec::new(),
        span,
    }
}

impl Context {
    /// `statements` is how many the model has before it.
    fn new(proctype: ProctypeId, kind: ProctypeKind, statements: u32) -> Self {
        Context {
            proctype,
            kind,
            locals: Vec::new(),
            n_cells: 0,
            init: Vec::new(),
            scopes: Scopes::new(),
            label_scopes: Scopes::new(),
            flow: Flow::new(statements),
            initialization_ok: true,
            inline: 0,
            n_inlines: 0,
        }
    }

    fn enter_scope(&mut self) {
        self.scopes.enter();
        self.label_scopes.enter();
    }

    fn leave_scope(&mut self) {
        self.scopes.leave();
        self.label_scopes.leave();
    }

    /// The block in which a label's name counts as first seen.
    fn label_scope(&mut self, name: &Arc<str>) -> ScopeId {
        if let Some((scope, ())) = self.label_scopes.find(name) {
            return scope.clone();
        }
        self.label_scopes.declare(name.clone(), ());
        self.label_scopes.current().clone()
    }
}
