//! Names, places and values, for people: steps and states in words.

use std::collections::HashMap;

use promela::ir::{Proctype, Scalar, Type, Var};
use promela::source::Span;
use system::{ActionId, Explain, Fault, FaultKind, NamedValue, StepInfo};

use super::Interp;
use super::action::Action;
use super::fault::Trap;
use super::print::constant_name;
use super::state::{Process, State};

/// Values of one variable that are listed at most.
const MAX_VALUES: usize = 4096;

impl Explain for Interp {
    fn step(&self, state: &[u8], action: ActionId) -> StepInfo {
        let action = Action::unpack(action);
        let state = self.decode(state).unwrap_or_default();
        let mut info = self.half_step(&state, action.pid, action.edge.map(|edge| edge.index()));
        if let Some((pid, edge)) = action.partner {
            info.partner = Some(Box::new(self.half_step(&state, pid, Some(edge.index()))));
        }
        info
    }

    fn values(&self, state: &[u8]) -> Vec<NamedValue> {
        let Ok(state) = self.decode(state) else { return Vec::new() };
        let mut out = Vec::new();
        for var in &self.program.globals {
            self.variable(var, &state.globals, "", &mut out);
        }
        for (pid, process) in state.processes.iter().enumerate() {
            let proctype = self.program.proctype(process.proctype);
            let name = format!("{}[{pid}]", proctype.name);
            let place = self.locate(self.here(process).0);
            let value = format!("{}:{} (state {})", place.file, place.line, process.location.0);
            out.push(NamedValue { name: name.clone(), value });
            let cells = &state.locals[process.first_cell..];
            for var in &proctype.locals {
                self.variable(var, cells, &format!("{name}:"), &mut out);
            }
        }
        self.channels(&state, &mut out);
        out
    }

    fn output(&self, state: &[u8], action: ActionId) -> String {
        self.decode(state).map(|state| self.printed(state, action)).unwrap_or_default()
    }
}

impl Interp {
    fn half_step(&self, state: &State, pid: usize, edge: Option<usize>) -> StepInfo {
        let process = state.processes.get(pid);
        let proctype = process.map(|process| self.program.proctype(process.proctype));
        let edge = proctype.and_then(|proctype| proctype.edges.get(edge?));
        let span = edge.map(|edge| edge.span).or(proctype.map(|proctype| proctype.span));
        let place = self.locate(span.unwrap_or(Span::NONE));
        StepInfo {
            process: proctype.map(|proctype| proctype.name.clone()).unwrap_or_default(),
            pid: pid as u32,
            file: place.file,
            line: place.line,
            column: place.column,
            text: edge.map(|edge| edge.text.clone()).unwrap_or_default(),
            partner: None,
        }
    }

    /// Where a process is: the place and the text of the first statement there.
    fn here(&self, process: &Process) -> (Span, &str) {
        let proctype: &Proctype = self.program.proctype(process.proctype);
        match proctype.location(process.location).edges.first() {
            Some(&id) => (proctype.edge(id).span, &proctype.edge(id).text),
            None => (proctype.span, ""),
        }
    }

    /// Lists the cells of a variable by their full names.
    fn variable(&self, var: &Var, cells: &[i32], prefix: &str, out: &mut Vec<NamedValue>) {
        let mut names = Vec::new();
        self.names(&var.ty, format!("{prefix}{}", var.name), &mut names);
        for (i, (name, scalar)) in names.into_iter().enumerate() {
            let value = cells.get(var.cell as usize + i).copied().unwrap_or(0);
            out.push(NamedValue { name, value: self.value(scalar, value) });
        }
    }

    fn names(&self, ty: &Type, name: String, out: &mut Vec<(String, Scalar)>) {
        match ty {
            _ if out.len() >= MAX_VALUES => {}
            Type::Scalar(scalar) => out.push((name, *scalar)),
            Type::Array(element, len) => {
                for i in 0..*len {
                    self.names(element, format!("{name}[{i}]"), out);
                    if out.len() >= MAX_VALUES {
                        break;
                    }
                }
            }
            Type::Struct(id) => {
                for field in &self.program.structs[id.index()].fields {
                    self.names(&field.ty, format!("{name}.{}", field.name), out);
                }
            }
        }
    }

    fn value(&self, scalar: Scalar, value: i32) -> String {
        match scalar {
            Scalar::Mtype(_) if value == 0 => "0".into(),
            Scalar::Mtype(set) => constant_name(&self.program, Some(set), value),
            Scalar::Chan if value == 0 => "none".into(),
            Scalar::Chan => format!("channel {value}"),
            Scalar::Lock if value == 0 => "free".into(),
            Scalar::Lock => format!("held by {}", value - 1),
            Scalar::Bool => if value == 0 { "false" } else { "true" }.into(),
            Scalar::Unsigned(_) => (value as u32).to_string(),
            _ => value.to_string(),
        }
    }

    /// Lists the messages of every channel.
    fn channels(&self, state: &State, out: &mut Vec<NamedValue>) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (i, channel) in state.channels.iter().enumerate() {
            let ty = &self.program.chan_types[channel.ty.index()];
            let nth = seen.entry(ty.name.as_str()).or_default();
            let name = match *nth {
                0 => format!("channel {} ({})", i + 1, ty.name),
                nth => format!("channel {} ({} #{})", i + 1, ty.name, nth + 1),
            };
            *nth += 1;
            let message = |fields: &[i32]| {
                let fields = fields.iter().zip(&ty.fields).map(|(&value, &scalar)| self.value(scalar, value));
                format!("[{}]", fields.collect::<Vec<_>>().join(","))
            };
            let messages: Vec<String> = channel.fields.chunks(ty.fields.len().max(1)).map(message).collect();
            out.push(NamedValue { name, value: messages.join(" ") });
        }
    }

    /// The error of a state without successors: who is stuck, and where.
    pub(super) fn explain_deadlock(&self, state: &State) -> Fault {
        let stuck: Vec<usize> = (0..state.processes.len()).filter(|&pid| !self.at_end(state, pid)).collect();
        let each: Vec<String> = stuck.iter().map(|&pid| self.explain_stuck(state, pid)).collect();
        let mut message = String::from("invalid end state");
        if !each.is_empty() {
            message = format!("{message}: {}", each.join("; "));
        } else if !self.trace_at_end(state) {
            message.push_str(": the trace assertion is not complete");
        }
        let span = match stuck.first() {
            Some(&pid) => self.here(&state.processes[pid]).0,
            None => self.program.trace.map_or(Span::NONE, |id| self.program.proctype(id).span),
        };
        let trap = Trap { kind: FaultKind::EndState, message, span };
        self.fault(trap, state, stuck.first().copied())
    }

    fn explain_stuck(&self, state: &State, pid: usize) -> String {
        let process = &state.processes[pid];
        let (span, text) = self.here(process);
        let name = &self.program.proctype(process.proctype).name;
        let line = self.locate(span).line;
        match text {
            "" => format!("{name}[{pid}] is stuck at line {line}"),
            _ => format!("{name}[{pid}] is stuck at line {line}: {text}"),
        }
    }
}
