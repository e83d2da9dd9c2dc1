//! Why processes are blocked, as JSON.

use crate::blocked_text;
use crate::json::value;
use serde_json::{Map, Value as Json, json};
use system::Value;
use system::blocked::{Alternative, Blocked, Held, Helper, Reason, Site, Who};

/// A blocked process: who, where, whether that is a valid end, what holds it, and every statement that it
/// waits at with the kind of its reason, a sentence, the values read, and who could help.
pub fn blocked(one: &Blocked) -> Json {
    let mut object = who(&one.who);
    object.extend(site(&one.at));
    object.insert("valid_end".into(), json!(one.valid_end));
    object.insert("held".into(), one.held.as_ref().map_or(Json::Null, held));
    object.insert("alternatives".into(), one.alternatives.iter().map(alternative).collect());
    Json::Object(object)
}

fn who(who: &Who) -> Map<String, Json> {
    Map::from_iter([("process".into(), json!(who.process)), ("pid".into(), json!(who.pid))])
}

fn site(at: &Site) -> Map<String, Json> {
    Map::from_iter([
        ("file".into(), json!(at.file)),
        ("line".into(), json!(at.line)),
        ("column".into(), json!(at.column)),
        ("text".into(), json!(at.text)),
    ])
}

fn alternative(of: &Alternative) -> Json {
    let mut object = site(&of.at);
    object.insert("escape".into(), json!(of.escape));
    object.insert("kind".into(), json!(kind(&of.reason)));
    object.insert("reason".into(), json!(blocked_text::reason(&of.reason)));
    if let Reason::False { reads } = &of.reason {
        object.insert("reads".into(), values(reads));
    }
    object.insert("helpers".into(), of.helpers.iter().map(helper).collect());
    Json::Object(object)
}

fn kind(reason: &Reason) -> &'static str {
    match reason {
        Reason::False { .. } => "condition",
        Reason::Full { .. } => "channel-full",
        Reason::Empty { .. } => "channel-empty",
        Reason::Gone => "channel-gone",
        Reason::NoMatch { .. } => "no-match",
        Reason::NoReceiver { .. } => "no-receiver",
        Reason::NoSender { .. } => "no-sender",
        Reason::Locked { .. } => "locked",
        Reason::Semaphore { .. } => "semaphore",
        Reason::Timeout => "timeout",
        Reason::Younger { .. } => "younger-processes",
        Reason::Other(_) => "other",
    }
}

fn held(held: &Held) -> Json {
    match held {
        Held::Provided { reads, helpers, .. } => json!({
            "kind": "provided", "reads": values(reads), "helpers": helpers.iter().map(helper).collect::<Json>(),
        }),
        Held::Priority { by, theirs, own } => {
            json!({"kind": "priority", "by": who(by), "priority": own, "their_priority": theirs})
        }
        Held::Control { by } => json!({"kind": "atomic", "by": who(by)}),
    }
}

fn helper(helper: &Helper) -> Json {
    let mut object = who(&helper.who);
    object.extend(site(&helper.at));
    object.insert("through".into(), json!(helper.through));
    object.insert("can_move".into(), json!(helper.can_move));
    Json::Object(object)
}

fn values(reads: &[(String, Value)]) -> Json {
    Json::Object(reads.iter().map(|(name, read)| (name.clone(), value(read))).collect())
}
