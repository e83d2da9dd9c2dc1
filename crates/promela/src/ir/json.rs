//! The process automata as JSON, for other tools: what `spinor parse --format json` shows.
//!
//! One object:
//!
//! - `name`, `uses` (words), `mtypes` (`name`, `values`: `name`, `value`), `structs` (`name`, `cells`,
//!   `fields`: `name`, `type`, `offset`), `globals` (variables), `channels` (`name`, `capacity`, `fields`:
//!   types, position), `proctypes`, `active` (`proctype`, `name`, `priority`), `invariants` and `ltl`
//!   (`name`, `text`, `ir`, position), `state_formulas` (the same with `logic`: `ctl` or `mu`), `promises` (`kind`, `proctype`, `text`, `ir`, position), `never` and
//!   `trace` (numbers of proctypes).
//! - A variable: `name`, `type`, `cell`, `cells`, `hidden`, position.
//! - A proctype: `name`, `kind`, `deterministic`, `params`, `cells`, `start`, `locals`, `labels` (`name`,
//!   `location`), position, and `locations`: those that have edges or flags, each with `number`, `end`,
//!   `accept`, `progress`, `in_d_step` and `edges` in the order in which they are tried.
//! - An edge: `id` (the same where several locations share it), `from`, `to` (null when the process ends),
//!   `atomic`, `escape` (a location or null), `kind`, `ir` (the action in the text form of the intermediate
//!   form), `text` (as written), position.
//! - A position: `file`, `line`, `column`. Types are those of the text form.

use super::print::{
    action_word, kind_word, print_action, print_expr, print_formula, print_state_formula, print_type,
};
use super::*;
use crate::ast::Unit;
use crate::json::Writer;
use crate::source::SourceMap;

/// The syntax tree `unit` and the automata of `program` as one JSON object without line breaks: `model` (the
/// path as given), `syntax` (see [`crate::ast_json`]) and `automata` (see above).
pub fn model_to_json(unit: &Unit, program: &Program, sources: &SourceMap) -> String {
    let mut writer = Writer::new(sources);
    writer.object(|w| {
        w.text_field("model", &program.name);
        w.object_field("syntax", |w| w.unit(unit));
        w.object_field("automata", |w| w.program(program));
    });
    writer.finish()
}

/// The automata of `program`, whose spans refer to `sources`, as one JSON object without line breaks.
pub fn to_json(program: &Program, sources: &SourceMap) -> String {
    let mut writer = Writer::new(sources);
    writer.object(|w| w.program(program));
    writer.finish()
}

impl Writer<'_> {
    fn program(&mut self, program: &Program) {
        self.text_field("name", &program.name);
        self.uses(program.uses);
        self.objects("mtypes", &program.mtypes, |w, set| {
            w.text_field("name", &set.name);
            w.objects("values", &set.values, |w, (name, value)| {
                w.text_field("name", name);
                w.number_field("value", *value);
            });
        });
        self.objects("structs", &program.structs, |w, structure| {
            w.text_field("name", &structure.name);
            w.number_field("cells", structure.n_cells);
            w.objects("fields", &structure.fields, |w, field| {
                w.text_field("name", &field.name);
                w.text_field("type", &print_type(&field.ty));
                w.number_field("offset", field.offset);
            });
        });
        self.vars("globals", &program.globals, program.n_global_cells);
        self.objects("channels", &program.chan_types, |w, chan| {
            w.text_field("name", &chan.name);
            w.number_field("capacity", chan.capacity);
            w.list("fields", &chan.fields, |w, field| w.string(&print_type(&Type::Scalar(*field))));
            w.position(chan.span);
        });
        self.objects("proctypes", &program.proctypes, Self::proctype);
        self.objects("active", &program.active, |w, active| {
            w.number_field("proctype", active.proctype.0);
            let name = program.proctypes.get(active.proctype.index()).map_or("", |p| &p.name);
            w.text_field("name", name);
            w.number_field("priority", active.priority);
        });
        self.properties(program);
    }

    fn uses(&mut self, uses: Uses) {
        let Uses { last, priority, timeout, enabled } = uses;
        let words = [(last, "last"), (priority, "priority"), (timeout, "timeout"), (enabled, "enabled")];
        let used = words.into_iter().filter(|(used, _)| *used);
        self.list("uses", used, |w, (_, word)| w.string(word));
    }

    /// Variables that fill `n_cells` cells.
    fn vars(&mut self, key: &str, vars: &[Var], n_cells: u32) {
        let ends = vars.iter().skip(1).map(|var| var.cell).chain([n_cells]);
        self.objects(key, vars.iter().zip(ends), |w, (var, end)| {
            w.text_field("name", &var.name);
            w.text_field("type", &print_type(&var.ty));
            w.number_field("cell", var.cell);
            w.number_field("cells", end.saturating_sub(var.cell));
            w.flag_field("hidden", var.hidden);
            w.position(var.span);
        });
    }

    fn properties(&mut self, program: &Program) {
        self.objects("invariants", &program.invariants, |w, invariant| {
            w.text_field("name", &invariant.name);
            w.text_field("text", &invariant.text);
            w.text_field("ir", &print_expr(&invariant.expr));
            w.position(invariant.span);
        });
        self.objects("promises", &program.promises, |w, promise| {
            w.text_field("kind", if promise.receive { "xr" } else { "xs" });
            w.number_field("proctype", promise.proctype.0);
            w.text_field("text", &promise.text);
            w.text_field("ir", &print_expr(&promise.chan));
            w.position(promise.span);
        });
        self.objects("ltl", &program.ltl, |w, ltl| {
            w.text_field("name", &ltl.name);
            w.text_field("text", &ltl.text);
            w.text_field("ir", &print_formula(&ltl.formula));
            w.position(ltl.span);
        });
        self.objects("state_formulas", &program.state_properties, |w, property| {
            w.text_field("logic", property.logic.word());
            w.text_field("name", &property.name);
            w.text_field("text", &property.text);
            w.text_field("ir", &print_state_formula(&property.formula));
            w.position(property.span);
        });
        self.list("never", &program.never, |w, id| w.number(id.0.into()));
        self.optional_field("trace", program.trace.map(|id| id.0));
    }

    fn proctype(&mut self, proctype: &Proctype) {
        self.text_field("name", &proctype.name);
        self.text_field("kind", kind_word(proctype.kind));
        self.flag_field("deterministic", proctype.deterministic);
        self.number_field("params", proctype.n_params);
        self.number_field("cells", proctype.n_cells);
        self.number_field("start", proctype.start.0);
        self.vars("locals", &proctype.locals, proctype.n_cells);
        self.objects("labels", &proctype.labels, |w, (name, location)| {
            w.text_field("name", name);
            w.number_field("location", location.0);
        });
        self.position(proctype.span);
        let shown = proctype.locations.iter().zip(0u32..).filter(|(location, _)| {
            !location.edges.is_empty()
                || location.end
                || location.accept
                || location.progress
                || location.in_d_step
        });
        self.objects("locations", shown, |w, (location, number)| {
            w.number_field("number", number);
            w.flag_field("end", location.end);
            w.flag_field("accept", location.accept);
            w.flag_field("progress", location.progress);
            w.flag_field("in_d_step", location.in_d_step);
            let edges = location.edges.iter().filter_map(|id| Some((*id, proctype.edges.get(id.index())?)));
            w.objects("edges", edges, |w, (id, edge)| w.edge(number, id, edge));
        });
    }

    fn edge(&mut self, from: u32, id: EdgeId, edge: &Edge) {
        let ends = matches!(edge.action, Action::End);
        self.number_field("id", id.0);
        self.number_field("from", from);
        self.optional_field("to", if ends { None } else { Some(edge.to.0) });
        self.flag_field("atomic", edge.atomic);
        self.optional_field("escape", edge.escape.map(|location| location.0));
        self.text_field("kind", action_word(&edge.action));
        self.text_field("ir", &print_action(&edge.action));
        self.text_field("text", &edge.text);
        self.position(edge.span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::samples;
    use crate::json::is_json;

    #[test]
    fn it_is_json_whatever_the_program() {
        let sources = SourceMap::new();
        for program in [Program::default(), samples::mutex(), samples::everything(), samples::broken()] {
            let json = to_json(&program, &sources);
            assert!(is_json(&json), "{json}");
        }
    }

    #[test]
    fn edges_carry_their_place_and_their_forms() {
        let mut sources = SourceMap::new();
        sources.add_file("mutex.pml", format!("{}\nbusy == 0", "x".repeat(98)));
        let json = to_json(&samples::mutex(), &sources);
        let location = "\"locations\":[{\"number\":1,\"end\":false,\"accept\":false,\"progress\":false,\
             \"in_d_step\":false,\"edges\":[{\"id\":0,\"from\":1,\"to\":2,\"atomic\":true,\"escape\":null,\
             \"kind\":\"guard\",\"ir\":\"guard (eq g0:bool 0)\",\"text\":\"guard\",\"file\":\"mutex.pml\",\
             \"line\":2,\"column\":2},{\"id\":4,\"from\":1,\"to\":null,";
        assert!(json.contains(location), "{json}");
        let turn = "{\"name\":\"turn\",\"type\":\"array 2 of bit*\",\"cell\":1,\"cells\":2,\"hidden\":true,\
             \"file\":\"mutex.pml\",\"line\":1,\"column\":11}";
        assert!(json.contains(turn), "{json}");
    }
}
