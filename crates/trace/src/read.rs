//! A trail from JSON that anybody may have written: never panics, and says what is wrong and where.

use crate::packed;
use crate::trail::{FORMAT, MemoryOptions, ModelOptions, PACKED_FORMAT, Trail, TrailStep};
use serde_json::{Map, Value};
use system::{ActionId, Fairness, Fault, FaultKind, NOBODY, Sequence, StepInfo};

/// Reads a trail; the error is one sentence.
pub fn read(text: &str) -> Result<Trail, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))?;
    let trail = Object::new(&value, "the trail")?;
    let told = match trail.u64("format")? {
        FORMAT => true,
        PACKED_FORMAT => false,
        other => {
            return Err(format!(
                "format {other} is not known; this version reads formats {FORMAT} and {PACKED_FORMAT}"
            ));
        }
    };
    let options = trail.object("options")?;
    let violation = violation(&trail.object("violation")?)?;
    let steps = if told { steps(trail.array("steps")?)? } else { packed(&trail)? };
    Ok(Trail {
        version: trail.text("version")?,
        model: trail.text("model")?,
        model_absolute: trail.optional_text("model_absolute")?,
        fingerprint: hex(&trail.text("fingerprint")?)?,
        options: ModelOptions {
            dialect: options.text("dialect")?,
            preprocessor: options.texts("preprocessor")?,
            formula: options.optional_text("ltl")?,
            ctl: options.optional_text("ctl")?,
            mu: options.optional_text("mu")?,
            claim: options.optional_text("claim")?,
            labels: Vec::new(),
            lossy_channels: lossy(&options)?,
            memory: memory(&options)?,
        },
        property: trail.text("property")?,
        channels_empty: trail.bool("channels_empty")?,
        fair: fair(&trail)?,
        cycle: cycle(&trail, steps.len())?,
        violation,
        steps,
    })
}

/// Whether channels lose messages; trails from before there were any that do say nothing.
fn lossy(options: &Object<'_>) -> Result<bool, String> {
    match options.fields.contains_key("lossy_channels") {
        true => options.bool("lossy_channels"),
        false => Ok(false),
    }
}

/// The memory model; trails from before there were any, and of ordinary models, have none.
fn memory(options: &Object<'_>) -> Result<Option<MemoryOptions>, String> {
    if matches!(options.fields.get("memory"), None | Some(Value::Null)) {
        return Ok(None);
    }
    let memory = options.object("memory")?;
    Ok(Some(MemoryOptions {
        model: memory.text("model")?,
        bound: memory.u32("bound")?,
        plain: memory.texts("plain")?,
        split: memory.bool("split")?,
        fences: Vec::new(),
    }))
}

fn hex(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16)
        .map_err(|_| format!("\"fingerprint\" is not a hexadecimal number: {text:?}"))
}

fn violation(object: &Object<'_>) -> Result<Fault, String> {
    let word = object.text("kind")?;
    Ok(Fault {
        kind: kind(&word).ok_or_else(|| format!("violations of kind {word:?} are not known"))?,
        message: object.text("message")?,
        file: object.text("file")?,
        line: object.u32("line")?,
        column: object.u32("column")?,
        process: object.optional_text("process")?,
        pid: object.optional_u32("pid")?,
    })
}

/// A kind of fairness that there is.
fn fair(trail: &Object<'_>) -> Result<Option<String>, String> {
    match trail.optional_text("fair")? {
        Some(word) if Fairness::from_name(&word).is_none() => {
            Err(format!("fairness of kind {word:?} is not known"))
        }
        word => Ok(word),
    }
}

/// Where the cycle begins: not behind the last step.
fn cycle(trail: &Object<'_>, steps: usize) -> Result<Option<usize>, String> {
    let Some(start) = trail.optional_u32("cycle")? else { return Ok(None) };
    match start as usize <= steps {
        true => Ok(Some(start as usize)),
        false => Err("the cycle begins behind the last step".to_string()),
    }
}

fn kind(word: &str) -> Option<FaultKind> {
    FaultKind::ALL.into_iter().find(|k| k.name() == word)
}

/// Steps that are told one by one.
fn steps(values: &[Value]) -> Result<Sequence<TrailStep>, String> {
    values.iter().enumerate().map(|(i, value)| step(value, &format!("step {}", i + 1))).collect()
}

/// A packed path.
fn packed(trail: &Object<'_>) -> Result<Sequence<TrailStep>, String> {
    let mut steps = Sequence::new();
    for (i, value) in trail.array("statements")?.iter().enumerate() {
        if steps.number(step(value, &format!("statement {i}"))?) as usize != i {
            return Err(format!("statement {i} stands in \"statements\" twice"));
        }
    }
    let lines = trail.array("path")?;
    if lines.iter().any(|line| !line.is_string()) {
        return Err(trail.wrong("path", "a list of texts"));
    }
    packed::unpack(lines.iter().filter_map(Value::as_str), &mut steps)?;
    Ok(steps)
}

fn step(value: &Value, place: &str) -> Result<TrailStep, String> {
    let object = Object::new(value, place)?;
    let info = if object.fields.contains_key("text") { Some(info(&object, true)?) } else { None };
    Ok(TrailStep { action: action(&object)?, info })
}

/// Action ids have 64 bits, more than JSON numbers keep everywhere: they are text, but numbers are
/// understood.
fn action(object: &Object<'_>) -> Result<ActionId, String> {
    let id = match object.get("action")? {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    };
    id.map(ActionId).ok_or_else(|| object.wrong("action", "a number from 0 to 18446744073709551615"))
}

fn info(object: &Object<'_>, with_partner: bool) -> Result<StepInfo, String> {
    let partner = match object.fields.get("partner") {
        Some(value) if with_partner && !value.is_null() => {
            Some(Box::new(info(&Object::new(value, "a partner")?, false)?))
        }
        _ => None,
    };
    Ok(StepInfo {
        process: object.text("process")?,
        pid: object.optional_u32("pid")?.unwrap_or(NOBODY),
        file: object.text("file")?,
        line: object.u32("line")?,
        column: object.u32("column")?,
        text: object.text("text")?,
        partner,
    })
}

/// A JSON object and what it is called in messages.
struct Object<'a> {
    fields: &'a Map<String, Value>,
    place: &'a str,
}

impl<'a> Object<'a> {
    fn new(value: &'a Value, place: &'a str) -> Result<Self, String> {
        let fields = value.as_object().ok_or_else(|| format!("{place} is not an object"))?;
        Ok(Object { fields, place })
    }

    fn wrong(&self, name: &str, expected: &str) -> String {
        format!("{:?} in {} is not {expected}", name, self.place)
    }

    fn get(&self, name: &str) -> Result<&'a Value, String> {
        self.fields.get(name).ok_or_else(|| format!("{} has no {name:?}", self.place))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        let text = self.get(name)?.as_str().ok_or_else(|| self.wrong(name, "a text"))?;
        Ok(text.to_string())
    }

    fn optional_text(&self, name: &str) -> Result<Option<String>, String> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let wrong = || self.wrong(name, "a list of texts");
        self.array(name)?.iter().map(|v| v.as_str().map(str::to_string).ok_or_else(wrong)).collect()
    }

    fn u64(&self, name: &str) -> Result<u64, String> {
        self.get(name)?.as_u64().ok_or_else(|| self.wrong(name, "a number"))
    }

    fn u32(&self, name: &str) -> Result<u32, String> {
        u32::try_from(self.u64(name)?).map_err(|_| self.wrong(name, "a number of 32 bits"))
    }

    fn optional_u32(&self, name: &str) -> Result<Option<u32>, String> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.u32(name).map(Some),
        }
    }

    fn bool(&self, name: &str) -> Result<bool, String> {
        self.get(name)?.as_bool().ok_or_else(|| self.wrong(name, "true or false"))
    }

    fn array(&self, name: &str) -> Result<&'a [Value], String> {
        Ok(self.get(name)?.as_array().ok_or_else(|| self.wrong(name, "a list"))?)
    }

    fn object(&self, name: &'a str) -> Result<Object<'a>, String> {
        Object::new(self.get(name)?, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::write;

    fn sample() -> Trail {
        let info = |text: &str, partner| StepInfo {
            process: "user".to_string(),
            pid: 1,
            file: "m.pml".to_string(),
            line: 3,
            column: 9,
            text: text.to_string(),
            partner,
        };
        let partner = Some(Box::new(info("q?x", None)));
        Trail {
            version: "0.1.0".to_string(),
            model: "m.pml".to_string(),
            model_absolute: None,
            fingerprint: 0xfeed_0000_0000_0001,
            options: ModelOptions {
                dialect: "spin".to_string(),
                preprocessor: vec!["-DN=3".to_string()],
                formula: Some("[] p".to_string()),
                ctl: Some("AG p".to_string()),
                mu: Some("<> p".to_string()),
                claim: Some("claim.pml".to_string()),
                labels: Vec::new(),
                lossy_channels: true,
                memory: Some(MemoryOptions {
                    model: "tso".to_string(),
                    bound: 2,
                    plain: vec!["x".to_string()],
                    split: true,
                    fences: Vec::new(),
                }),
            },
            property: "safety".to_string(),
            channels_empty: false,
            fair: Some("weak".to_string()),
            cycle: Some(1),
            violation: Fault {
                kind: FaultKind::Assertion,
                message: "assertion violated: \"x\" ≠ 1\n".to_string(),
                file: "m.pml".to_string(),
                line: 3,
                column: 9,
                process: Some("user".to_string()),
                pid: Some(1),
            },
            steps: Sequence::from(vec![
                TrailStep { action: ActionId(u64::MAX), info: Some(info("q!1", partner)) },
                TrailStep { action: ActionId(0), info: None },
            ]),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(read(&write(&sample())), Ok(sample()));
        let mut steps = Sequence::new();
        (0..crate::trail::TOLD_STEPS + 1).for_each(|i| steps.push(sample().steps.to_vec()[i % 2].clone()));
        let long = Trail { steps, cycle: Some(100_000), ..sample() };
        assert!(write(&long).len() < 2000, "packed");
        assert_eq!(read(&write(&long)), Ok(long));
        let empty = Trail { steps: Sequence::new(), cycle: None, ..sample() };
        assert_eq!(read(&write(&empty)), Ok(empty));
    }

    #[test]
    fn errors_say_what_and_where() {
        let text = write(&sample());
        let broken = |from: &str, to: &str| read(&text.replace(from, to)).unwrap_err();
        assert!(read("").unwrap_err().starts_with("not JSON"));
        assert_eq!(read("[]").unwrap_err(), "the trail is not an object");
        assert_eq!(read("{}").unwrap_err(), "the trail has no \"format\"");
        assert_eq!(
            broken("\"format\": 1", "\"format\": 9"),
            "format 9 is not known; this version reads formats 1 and 2"
        );
        assert_eq!(
            broken("\"action\":\"0\"", "\"action\":\"-1\"").split(" is not").next(),
            Some("\"action\" in step 2")
        );
        assert_eq!(
            broken("\"kind\":\"assertion\"", "\"kind\":\"x\""),
            "violations of kind \"x\" are not known"
        );
        assert_eq!(
            broken("\"line\":3", "\"line\":4294967296"),
            "\"line\" in violation is not a number of 32 bits"
        );
    }

    #[test]
    fn cutting_a_trail_anywhere_is_an_error_and_no_panic() {
        let text = write(&sample());
        for (at, _) in text.char_indices().take_while(|(at, _)| *at < text.trim_end().len()) {
            assert!(read(&text[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
