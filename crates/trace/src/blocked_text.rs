//! Why processes are blocked, as text: one line each, or everything that is known.

use crate::visible::one_line;
use system::Value;
use system::blocked::{Alternative, Blocked, Held, Helper, Reason, Site, Who, cycle};

/// Alternatives that the short form lists.
const SHORT_LIST: usize = 3;

/// Everything about all of them, as an indented list, and the cycle in which they wait for each other if
/// there is one.
pub fn full(blocked: &[Blocked]) -> String {
    let mut out = String::new();
    for one in blocked {
        process(one, &mut out);
    }
    if let Some(cycle) = cycle(blocked) {
        let names: Vec<String> =
            cycle.iter().chain(cycle.first()).map(|&i| blocked[i].who.to_string()).collect();
        out.push_str(&format!("in a circle: {}\n", names.join(" waits for ")));
    }
    out
}

/// One process in one line: who, where, why.
pub fn short(one: &Blocked) -> String {
    let who = format!("{} at {}", one.who, place(&one.at));
    let end = if one.valid_end { ", a valid end" } else { "" };
    if let Some(held) = &one.held {
        return format!("{who}{end}: {}", held_reason(held));
    }
    let listed: Vec<String> = one
        .alternatives
        .iter()
        .take(SHORT_LIST)
        .map(|alternative| match (one.alternatives.len(), &alternative.reason) {
            (_, Reason::Younger { .. }) => reason(&alternative.reason),
            (1, _) => format!("{}{}", quoted(&alternative.at.text, ", "), reason(&alternative.reason)),
            _ => format!("{}{}", quoted(&alternative.at.text, ": "), reason(&alternative.reason)),
        })
        .collect();
    let more = match one.alternatives.len().saturating_sub(SHORT_LIST) {
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    match listed.is_empty() {
        true => format!("{who}{end}: there is nothing that it could execute"),
        false => format!("{who}{end}: {}{more}", listed.join("; ")),
    }
}

fn process(one: &Blocked, out: &mut String) {
    let end = if one.valid_end { " (a valid end)" } else { "" };
    if let Some(held) = &one.held {
        out.push_str(&format!("{} is held at {}{end}: {}\n", one.who, place(&one.at), held_reason(held)));
        if let Held::Provided { needs, helpers, .. } = held {
            help(needs, helpers, "  ", out);
        }
        return;
    }
    match &one.alternatives[..] {
        [] => {
            let text = format!(
                "{} is at {}{end}: there is nothing that it could execute\n",
                one.who,
                place(&one.at)
            );
            out.push_str(&text);
        }
        [only] if !only.escape => {
            let what = statement(only);
            out.push_str(&format!("{} waits at {}{end}{what}\n", one.who, place(&only.at)));
            out.push_str(&format!("  {}\n", reason(&only.reason)));
            details(only, "  ", out);
        }
        several => {
            let n = several.len();
            let ways = if n == 1 { "a way" } else { "one of" };
            let count = if n == 1 { "out".to_string() } else { format!("{n} ways on") };
            out.push_str(&format!("{} waits at {}{end} for {ways} {count}:\n", one.who, place(&one.at)));
            for alternative in several {
                let here = place(&alternative.at);
                let at = match (alternative.escape, here == place(&one.at)) {
                    (true, true) => " (escape)".to_string(),
                    (true, false) => format!(" (escape, {here})"),
                    (false, true) => String::new(),
                    (false, false) => format!(" ({here})"),
                };
                let text = quoted(&alternative.at.text, "");
                out.push_str(&format!("  - {text}{at}: {}\n", reason(&alternative.reason)));
                details(alternative, "      ", out);
            }
        }
    }
}

fn statement(alternative: &Alternative) -> String {
    match (&alternative.reason, alternative.at.text.as_str()) {
        (Reason::Younger { .. }, _) | (_, "") => String::new(),
        (_, text) => format!(": `{text}`"),
    }
}

/// Who is in the way, and who could help.
fn details(alternative: &Alternative, indent: &str, out: &mut String) {
    let near = |list: &[(Who, Site)], out: &mut String| {
        for (who, at) in list {
            out.push_str(&format!(
                "{indent}{who} is at `{}` ({}), but that does not fit\n",
                at.text,
                place(at)
            ));
        }
    };
    match &alternative.reason {
        Reason::NoReceiver { refusals, .. } => near(refusals, out),
        Reason::NoSender { offers, .. } => near(offers, out),
        Reason::Timeout | Reason::Other(_) => return,
        Reason::Younger { .. } => {
            for helper in alternative.helpers.iter().filter(|helper| !helper.can_move) {
                out.push_str(&format!("{indent}{} is blocked itself\n", helper.who));
            }
            return;
        }
        Reason::Locked { holder: None, .. } | Reason::Gone => return,
        Reason::False { reads } if reads.is_empty() => {
            out.push_str(&format!("{indent}nobody could change that: it is constant\n"));
            return;
        }
        _ => {}
    }
    help(&alternative.needs, &alternative.helpers, indent, out);
}

fn help(needs: &[String], helpers: &[Helper], indent: &str, out: &mut String) {
    if helpers.is_empty() {
        let nobody = match needs.is_empty() {
            true => "it depends on the process's own values only".to_string(),
            false => format!("no other process {}", any_of(needs)),
        };
        out.push_str(&format!("{indent}nobody could change that: {nobody}\n"));
    }
    for helper in helpers {
        let through = helper.through.as_ref().map(|name| format!(", in a {name} that it could start"));
        let state = if helper.can_move { "" } else { ", but it cannot move either" };
        let what = match helper.at.text.as_str() {
            "-end-" => "by ending ".to_string(),
            text => format!("with {}", quoted(text, " ")),
        };
        let through = through.unwrap_or_default();
        out.push_str(&format!(
            "{indent}{} could change that {what}({}){through}{state}\n",
            helper.who,
            place(&helper.at)
        ));
    }
}

/// "writes `x`", "writes `y`" and "sends to `q`" as "writes `x` or `y` or sends to `q`".
fn any_of(words: &[String]) -> String {
    let mut out = String::new();
    let mut before = "";
    for word in words {
        let (verb, object) = word.split_at(word.find('`').unwrap_or(word.len()));
        let joint = if out.is_empty() { "" } else { " or " };
        let same = !verb.is_empty() && !object.is_empty() && verb == before;
        out.push_str(&format!("{joint}{}", if same { object } else { word }));
        before = verb;
    }
    out
}

/// Messages that are listed at most.
const FEW: usize = 6;

fn few(messages: &[String]) -> String {
    match messages.len() {
        0..=FEW => messages.join(", "),
        n => format!("{}, … ({n} messages)", messages[..FEW].join(", ")),
    }
}

/// Why a statement cannot be executed.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::False { reads } if reads.is_empty() => "the condition is false".to_string(),
        Reason::False { reads } => format!("the condition is false: {}", values(reads)),
        Reason::Full { channel, messages } => format!("the channel {channel} is full: {}", few(messages)),
        Reason::Empty { channel } => format!("the channel {channel} is empty"),
        Reason::Gone => "the channel does not exist any more".to_string(),
        Reason::NoMatch { channel, messages, pattern } => match &messages[..] {
            [first] => format!("the message {first} in channel {channel} does not match {pattern}"),
            all => format!("none of the messages {} in channel {channel} matches {pattern}", few(all)),
        },
        Reason::NoReceiver { channel, message, .. } => {
            format!("nobody is ready to receive {message} from channel {channel}")
        }
        Reason::NoSender { channel, pattern, .. } => {
            let what = if pattern.chars().all(|c| "[],_".contains(c)) {
                String::new()
            } else {
                format!("{pattern} ")
            };
            format!("nobody is ready to send {what}to channel {channel}")
        }
        Reason::Locked { lock, holder: Some(holder) } => format!("the lock {lock} is held by {holder}"),
        Reason::Locked { lock, holder: None } => {
            format!("the lock {lock} is held by a process that is gone: nobody can release it")
        }
        Reason::Semaphore { name } => format!("the semaphore {name} is 0"),
        Reason::Timeout => "timeout waits until nobody else can move".to_string(),
        Reason::Younger { processes } => {
            let names: Vec<String> = processes.iter().map(Who::to_string).collect();
            format!("it has ended, and goes when the younger ones are gone: {}", names.join(", "))
        }
        Reason::Other(text) => text.clone(),
    }
}

fn held_reason(held: &Held) -> String {
    match held {
        Held::Provided { at, reads, .. } => {
            format!("its provided clause ({}) is false: {}", place(at), values(reads))
        }
        Held::Priority { by, theirs, own } => {
            format!("its priority is {own}, and {by} with priority {theirs} can move")
        }
        Held::Control { by } => format!("{by} is inside an atomic sequence"),
    }
}

fn values(reads: &[(String, Value)]) -> String {
    reads.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn place(at: &Site) -> String {
    format!("{}:{}", one_line(&at.file), at.line)
}

fn quoted(text: &str, after: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`{after}") }
}
