//! What was shown, for people and for machines: no more than was shown. "No test of SC fails" is not
//! "sequentially consistent".

use crate::campaign::{Known, Outcome, Request, against};
use crate::compose::Question;
use crate::litmus::Says;
use crate::memory_system::MemorySystem;
use crate::model::Model;
use crate::table::filled;
use engine::report_text::grouped;
use engine::{Notice, report_json};
use promela::diagnostic::Code;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Everything that came of a request.
#[derive(Debug)]
pub struct Findings<'a> {
    /// The system.
    pub system: &'a MemorySystem,
    /// What was asked.
    pub request: &'a Request,
    /// What came of it.
    pub outcomes: Vec<Outcome>,
    /// What was left out, and why.
    pub skipped: Vec<(String, String)>,
    /// Somebody stopped it.
    pub interrupted: bool,
}

impl Findings<'_> {
    /// Whether an outcome is a violation of what was asked for.
    pub fn is_violation(&self, outcome: &Outcome) -> bool {
        if outcome.known() == Known::AtFault {
            return true;
        }
        outcome.known() == Known::Violated
            && match &outcome.question {
                _ if self.request.classify => false,
                Question::Rule(_) | Question::Sequential(_) | Question::Order => true,
                Question::Litmus(litmus) => {
                    self.request.model.is_some_and(|model| litmus.says(model) == Says::Forbids)
                }
                // A system that gets stuck is warned of, unless that is what was asked.
                Question::Progress | Question::Service => {
                    self.request.rules.contains(&outcome.question.name())
                }
            }
    }

    /// Violations of what was asked for.
    pub fn violations(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| self.is_violation(outcome))
    }

    /// Searches that did not end.
    fn undecided(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.known() == Known::Unknown)
    }

    /// The exit status, as of `check`.
    pub fn status(&self) -> u8 {
        match () {
            () if self.violations().next().is_some() => 1,
            () if self.interrupted => 130,
            () if self.undecided().next().is_some() => 3,
            () => 0,
        }
    }

    fn verdict(&self) -> &'static str {
        match self.status() {
            0 => "holds",
            1 => "violated",
            _ => "unknown",
        }
    }

    /// Systems that get stuck, and reads that are never completed: such a system passes tests without merit.
    pub fn warnings(&self) -> Vec<Notice> {
        let mut out = Vec::new();
        for outcome in self.outcomes.iter().filter(|outcome| !self.is_violation(outcome)) {
            if let (Question::Progress, Some(checked)) = (&outcome.question, outcome.violated()) {
                let what = checked.violation.as_ref().map_or("", |violation| &violation.what);
                let message = format!("the memory system can get stuck: {what}");
                let help =
                    "look at it with --rule progress; a system that is stuck passes every test".to_string();
                out.push(Notice::plain(Code::W0802, message, Some(help)));
            }
        }
        let mut unreached: Vec<&str> = self
            .outcomes
            .iter()
            .flat_map(|o| &o.checks)
            .flat_map(|c| &c.unreached)
            .map(String::as_str)
            .collect();
        unreached.sort_unstable();
        unreached.dedup();
        if !unreached.is_empty() {
            let message = format!("no run completes these reads: {}", unreached.join(", "));
            let help = "what is never read cannot be wrong: see why the system does not answer".to_string();
            out.push(Notice::plain(Code::W0803, message, Some(help)));
        }
        out
    }

    /// For what the verdicts are.
    fn scope(&self) -> String {
        let values = match self.system.interface.is_data_independent {
            true => "any values",
            false => "the values of the tests only",
        };
        let mut bounds: Vec<u32> =
            self.outcomes.iter().flat_map(|o| &o.checks).filter_map(|c| c.composed.bound).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let bounds: Vec<String> = bounds.iter().map(ToString::to_string).collect();
        match bounds.is_empty() {
            true => values.to_string(),
            false => format!("{values}, buffers of {}", bounds.join(" and of ")),
        }
    }

    /// What may be said in the end, a sentence each.
    pub fn conclusions(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.request.classify {
            out.extend(Model::ALL.into_iter().map(|model| self.classified(model)));
        } else if let Some(model) = self.request.model {
            out.extend(self.about_model(model));
        } else {
            out.extend(self.about_tests());
        }
        out.extend(self.about_sequences());
        for (name, why) in &self.skipped {
            out.push(format!("not asked: {name} ({why})"));
        }
        out
    }

    /// Why the system is not of a model, and whether something was not decided: what was not asked any more was not.
    fn against(&self, model: Model) -> (Vec<String>, bool) {
        let (reasons, undecided) = against(model, &self.outcomes);
        (reasons, undecided || self.interrupted)
    }

    fn classified(&self, model: Model) -> String {
        let (reasons, undecided) = self.against(model);
        match (reasons.is_empty(), undecided) {
            (false, _) => format!("cannot be {}: {}", model.words(), reasons.join(", ")),
            (true, true) => format!("may be {}: not everything was decided", model.words()),
            (true, false) => format!("can be {}: no test tells otherwise ({})", model.words(), self.scope()),
        }
    }

    fn about_model(&self, model: Model) -> Vec<String> {
        let (reasons, undecided) = self.against(model);
        let n =
            self.outcomes.iter().filter(|o| matches!(o.question, Question::Rule(_) | Question::Litmus(_)));
        let n = n.count();
        let tests = if n == 1 { "1 test".to_string() } else { format!("{n} tests") };
        let mut out = Vec::new();
        match (reasons.is_empty(), undecided) {
            (false, _) => out.push(format!("not {}: {} violated", model.words(), reasons.join(", "))),
            (true, true) => {
                out.push(format!("no test of {} failed, but not all were decided", model.words()))
            }
            (true, false) if n > 0 => out.push(format!(
                "no test of {} fails ({tests}; {}): necessary for it, and no proof of it",
                model.words(),
                self.scope()
            )),
            (true, false) => {}
        }
        out
    }

    /// For what the tests that were asked for by name and hold, hold.
    fn about_tests(&self) -> Option<String> {
        let holding = |o: &&Outcome| matches!(o.question, Question::Rule(_)) && o.known() == Known::Holds;
        let n = self.outcomes.iter().filter(holding).count();
        let verb = if n == 1 { "1 test holds".to_string() } else { format!("{n} tests hold") };
        (n > 0).then(|| format!("{verb} for {}{}", self.scope(), self.alike()))
    }

    /// What is said of processors and addresses that were given one part each.
    fn alike(&self) -> &'static str {
        match self.request.all_roles {
            true => "",
            false => ", if processors and addresses are treated alike (--roles all does without)",
        }
    }

    /// What the full check shows where it finds nothing. Cycles use each processor and each address at most
    /// once, so that none of any length is a proof.
    fn about_sequences(&self) -> Vec<String> {
        let mut lengths: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for outcome in self.outcomes.iter().filter(|outcome| outcome.known() == Known::Holds) {
            if let (Question::Sequential(k), Some(first)) = (&outcome.question, outcome.checks.first()) {
                lengths.entry((first.composed.cpus, first.composed.addresses)).or_default().push(*k);
            }
        }
        let mut out = Vec::new();
        for ((cpus, addresses), lengths) in lengths {
            let under = format!("{}{}", self.scope(), self.alike());
            if (2..=cpus.min(addresses)).all(|k| lengths.contains(&k)) {
                out.push(format!(
                    "sequentially consistent: {cpus} processors, {addresses} addresses, {under}"
                ));
                continue;
            }
            out.extend(lengths.iter().map(|k| {
                format!(
                    "no cycle through {k} processors and {k} addresses, of {cpus} and {addresses}: {under}"
                )
            }));
        }
        out
    }

    /// One line about an outcome, as soon as it is there.
    pub fn line(request: &Request, outcome: &Outcome) -> String {
        let name = outcome.question.name();
        let states = format!("{:>13} states", grouped(outcome.states()));
        let (word, more) = match (&outcome.question, outcome.known()) {
            (_, Known::Unknown) => {
                ("unknown", outcome.unknown().map(ToString::to_string).unwrap_or_default())
            }
            (_, Known::AtFault) => ("violated", "the system itself is at fault".to_string()),
            (Question::Litmus(litmus), known) => {
                let by = Model::ALL.into_iter().filter(|&model| litmus.says(model) == Says::Allows);
                let by: Vec<&str> = by.map(Model::name).collect();
                let by = if by.is_empty() { "no model".to_string() } else { by.join(", ") };
                let says = match (known, request.model.map(|model| litmus.says(model))) {
                    (Known::Violated, Some(Says::Forbids)) => {
                        format!("forbidden by {}; ", request.model.map_or("", Model::name))
                    }
                    _ => String::new(),
                };
                (
                    if known == Known::Violated { "reached" } else { "not reached" },
                    format!("{says}allowed by {by}"),
                )
            }
            (Question::Rule(test), Known::Violated) => ("violated", cannot_hold(test.rules)),
            (Question::Sequential(_), Known::Violated) => {
                ("violated", "not sequentially consistent, for the given order of writes".to_string())
            }
            (Question::Order, Known::Violated) => (
                "violated",
                "ORDER is not said once of every write: the full check would rest on it".to_string(),
            ),
            (Question::Progress, Known::Violated) => ("stuck", "the system can get stuck".to_string()),
            (Question::Service, Known::Violated) => {
                ("violated", "a processor can be shut out forever".to_string())
            }
            (question, Known::Holds) => ("holds", question.about()),
        };
        format!("  {name:10} {word:12}{states}   {more}\n")
    }

    /// A violation: what must not happen, and how it does.
    pub fn told(outcome: &Outcome) -> Option<String> {
        let checked = outcome.violated()?;
        let violation = checked.violation.as_ref()?;
        let composed = &checked.composed;
        let what = match &outcome.question {
            _ if violation.fault_of_system.is_some() => {
                "the system itself is at fault, so that the test has no answer".to_string()
            }
            Question::Rule(test) => {
                let forbidden = filled(test.forbidden, &violation.table, composed);
                format!("{}: {forbidden}", cannot_hold(test.rules))
            }
            Question::Litmus(litmus) => {
                let by = Model::ALL.into_iter().filter(|&model| litmus.says(model) == Says::Forbids);
                let by: Vec<&str> = by.map(Model::name).collect();
                format!("an outcome that {} forbid{}", by.join(", "), if by.len() == 1 { "s" } else { "" })
            }
            Question::Sequential(_) => "no interleaving of the processors explains what was read".to_string(),
            Question::Order => {
                "say ORDER(a, v) once of every write, in the step in which it takes its place".to_string()
            }
            Question::Progress => violation.what.clone(),
            Question::Service => {
                let cpu = composed.roles.cpus.first().map_or_else(String::new, |cpu| crate::words::cpu(*cpu));
                format!("from here {cpu} never completes an operation again, whatever happens")
            }
        };
        let bound = composed.bound.map_or_else(String::new, |bound| format!(" (buffers of {bound})"));
        let is_shown = matches!(outcome.question, Question::Litmus(_)) && outcome.known() == Known::Violated;
        let verb = if is_shown { "reached" } else { "violated" };
        Some(format!("{} {verb}{bound}: {what}\n{}", outcome.question.name(), violation.table.text()))
    }

    /// The report as one JSON object, like that of `check`; `kept` says where trails are.
    pub fn json(&self, kept: &dyn Fn(&Outcome) -> Option<String>) -> Value {
        let first = self.outcomes.iter().flat_map(|o| &o.checks).next().map(|c| report_json::json(&c.report));
        let part = |name: &str| first.as_ref().map_or(Value::Null, |report| report[name].clone());
        let judged = |o: &&Outcome| {
            !self.request.classify
                && (!matches!(o.question, Question::Litmus(_)) || self.request.model.is_some())
        };
        let properties: Vec<Value> =
            self.outcomes.iter().filter(judged).map(|o| self.property(o, kept)).collect();
        let others = self.outcomes.iter().filter(|o| !judged(o));
        let tests: Vec<Value> = others.map(|o| self.property(o, kept)).collect();
        let total: f64 =
            self.outcomes.iter().flat_map(|o| &o.checks).map(|c| c.report.times.total.as_secs_f64()).sum();
        let models = Model::ALL.into_iter().map(|model| {
            let (reasons, undecided) = self.against(model);
            let possible =
                if reasons.is_empty() && undecided { Value::Null } else { Value::from(reasons.is_empty()) };
            (model.name().to_string(), json!({"possible": possible, "against": reasons}))
        });
        let classification: serde_json::Map<String, Value> = models.collect();
        json!({
            "tool": "spinor",
            "version": engine::VERSION,
            "schema": report_json::SCHEMA,
            "model": self.system.name,
            "config": part("config"),
            "verdict": self.verdict(),
            "properties": properties,
            "tests": tests,
            "classification": if self.request.classify { Value::Object(classification) } else { Value::Null },
            "conclusions": self.conclusions(),
            "data_independent": self.system.interface.is_data_independent,
            "seconds": {"total": (total * 1e6).round() / 1e6},
            "memory": part("memory"),
            "notices": self.warnings().iter().map(Notice::json).collect::<Vec<Value>>(),
        })
    }

    fn property(&self, outcome: &Outcome, kept: &dyn Fn(&Outcome) -> Option<String>) -> Value {
        let deciding = outcome.violated().or(outcome.checks.iter().find(|c| c.unknown().is_some()));
        let Some(deciding) = deciding.or(outcome.checks.last()) else { return Value::Null };
        let mut value = report_json::json(&deciding.report)["properties"][0].take();
        let is_litmus = matches!(outcome.question, Question::Litmus(_));
        value["name"] = json!(outcome.question.name());
        value["about"] = json!(outcome.question.about());
        value["verdict"] = json!(match (is_litmus, outcome.known()) {
            (true, Known::Violated) if !self.is_violation(outcome) => "holds",
            (_, known) => known.word(),
        });
        value["states"] = json!(outcome.states());
        value["processors"] = json!(deciding.composed.cpus);
        value["addresses"] = json!(deciding.composed.addresses);
        value["bounds"] = outcome.checks.iter().filter_map(|c| c.composed.bound).map(Value::from).collect();
        match &outcome.question {
            Question::Rule(test) => value["rules"] = json!(test.rules),
            Question::Litmus(litmus) => {
                value["reached"] = match outcome.known() {
                    Known::Violated => json!(true),
                    Known::Holds => json!(false),
                    Known::Unknown | Known::AtFault => Value::Null,
                };
                let by = Model::ALL.into_iter().filter(|&model| litmus.says(model) == Says::Allows);
                value["allowed_by"] = by.map(|model| json!(model.name())).collect();
            }
            Question::Sequential(_) | Question::Order | Question::Progress | Question::Service => {}
        }
        if let Some(violation) = &deciding.violation {
            value["table"] = violation.table.json();
            value["because"] = json!(violation.table.reason);
        }
        if let (Some(trail), Some(shown)) = (kept(outcome), value["violations"].get_mut(0)) {
            shown["trail"] = json!(trail);
            shown.as_object_mut().map(|shown| shown.shift_remove("steps"));
        }
        value
    }
}

/// `CMP and PO cannot both hold`.
fn cannot_hold(rules: &str) -> String {
    match (rules.contains(','), rules.contains(" and ")) {
        (true, _) => format!("{rules} cannot all hold"),
        (false, true) => format!("{rules} cannot both hold"),
        (false, false) => format!("{rules} does not hold"),
    }
}
