//! Channels of which one end is missing, and messages that do not have the channel's number of fields.
//!
//! Channels have several names: parameters, copies. Names that give each other values are one group, and what
//! is done with one is done with all; a channel that travels in messages or arithmetic is not followed.

use super::uses::{Groups, Use, VarKey};
use super::{Findings, Model};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Action, ProctypeId, ProctypeKind, Var};
use crate::source::Span;
use std::collections::HashMap;

const NEVER_RECEIVED: Code = Code::W0401;
const NEVER_SENT: Code = Code::W0402;
const LENGTH: Code = Code::W0403;

pub fn lint(model: &Model, findings: &mut Findings) {
    ends(model, findings);
    for (i, proctype) in model.program.proctypes.iter().enumerate() {
        if !matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init) {
            continue;
        }
        let owner = Some(ProctypeId(i as u32));
        for edge in &proctype.edges {
            let (chan, given, word) = match &edge.action {
                Action::Send { chan, args, .. } => (chan, args.len(), "sends"),
                Action::Receive { chan, args, .. } => (chan, args.len(), "receives"),
                _ => continue,
            };
            let Some((fields, name, declared)) = model.fields_of(owner, chan) else { continue };
            let wanted = Wanted { fields: fields.len(), name, declared };
            length(word, given, &wanted, edge.span, findings);
        }
    }
}

/// What the declaration of a channel wants of its messages.
struct Wanted<'a> {
    fields: usize,
    name: &'a str,
    declared: Span,
}

/// Compares the number of values of a message with what the channel wants; `word`: what is done with it.
fn length(word: &str, given: usize, wanted: &Wanted<'_>, span: Span, findings: &mut Findings) {
    let Wanted { fields, name, declared } = *wanted;
    if given == fields {
        findings.acquit(LENGTH, span);
        return;
    }
    let plural = |n: usize| if n == 1 { "1 field".to_string() } else { format!("{n} fields") };
    let message = format!(
        "this {word} {}, but messages of `{name}` have {}: a run-time error when it is executed",
        plural(given),
        plural(fields)
    );
    let d = Diagnostic::new(LENGTH, span, message)
        .label(declared, "the channel is declared here")
        .help("write one value for each field; `_` receives a field that is not needed");
    findings.report(d);
}

/// All that is done with the channels of a group.
#[derive(Default)]
struct Ends {
    sent_to: Option<Span>,
    received_from: Option<Span>,
    escapes: bool,
}

fn ends(model: &Model, findings: &mut Findings) {
    let mut groups = Groups::of(&model.uses.aliases);
    let mut ends: HashMap<VarKey, Ends> = HashMap::new();
    model.each_variable(|key, _, u: &Use| {
        let group = ends.entry(groups.root(key)).or_default();
        group.sent_to = group.sent_to.or(u.sent_to);
        group.received_from = group.received_from.or(u.received_from);
        group.escapes |= u.escapes;
    });
    model.each_variable(|key, var, u| {
        if u.chan_type.is_none() || var.name == "STDIN" {
            return;
        }
        let Some(group) = ends.get(&groups.root(key)) else { return };
        if group.escapes || model.is_kept(&var.name) || model.uses.is_mentioned(var) {
            findings.acquit(NEVER_RECEIVED, var.span);
            findings.acquit(NEVER_SENT, var.span);
            return;
        }
        one_end(model, var, u, group, findings);
    });
}

fn one_end(model: &Model, var: &Var, u: &Use, group: &Ends, findings: &mut Findings) {
    let rendezvous = u.chan_type.is_some_and(|ty| model.program.chan_types[ty.index()].capacity == 0);
    let name = &var.name;
    let d = match (group.sent_to, group.received_from) {
        (Some(sent), None) => {
            let then =
                if rendezvous { "this send blocks forever" } else { "the messages stay in the channel" };
            Diagnostic::new(NEVER_RECEIVED, var.span, format!("nothing is ever received from `{name}`"))
                .label(sent, then)
                .help(format!("receive with `{name}?…`, or remove the channel"))
        }
        (None, Some(received)) => {
            Diagnostic::new(NEVER_SENT, var.span, format!("nothing is ever sent to `{name}`"))
                .label(received, "this receive blocks forever")
                .help(format!("send with `{name}!…`, or remove the channel"))
        }
        _ => {
            findings.acquit(NEVER_RECEIVED, var.span);
            findings.acquit(NEVER_SENT, var.span);
            return;
        }
    };
    findings.report(d);
}
