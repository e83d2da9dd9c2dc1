//! `spinor audit`: confirms a certificate. Here the model is read and the answer put into words; the argument
//! is the crate `audit`'s, which knows neither searches nor stores.

use crate::failure::{Answer, Failure};
use crate::isolate::isolated;
use crate::options::{Source, Value as _};
use crate::session::Session;
use audit::{Audited, Certificate, Flaw, NotReadable, Share, confirm};
use machine::Interp;
use promela::source::Files;
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::time::Duration;
use stop::{Cause, Stop};
use system::{ActionId, Explain, Fault, PortableStates, TransitionSystem};
use trace::visible::one_line;

/// What is to be confirmed, and how.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// The certificate.
    pub certificate: String,
    /// The model, and how it is read.
    pub source: Source,
    /// The part of the states that is looked at, as it was given: `1%`, `0.01`; all where nothing is.
    pub share: Option<String>,
    /// When to give up, as it was given.
    pub timeout: Option<String>,
}

/// What an audit came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditReport {
    /// The certificate.
    pub certificate: String,
    /// The model.
    pub model: String,
    /// What it says holds.
    pub property: String,
    /// States in the certificate.
    pub states: u64,
    /// States that were looked at.
    pub looked_at: u64,
    /// Steps that were taken from them.
    pub steps: u64,
    /// How it ended.
    pub result: AuditResult,
}

/// How an audit ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuditResult {
    /// It is a proof.
    Confirmed,
    /// It is none, for this reason.
    Refuted(String),
    /// Nothing is wrong with a sample.
    Sampled,
}

impl AuditReport {
    /// 0 confirmed, 1 refuted, 3 a sample.
    pub fn exit_status(&self) -> u8 {
        match self.result {
            AuditResult::Confirmed => 0,
            AuditResult::Refuted(_) => 1,
            AuditResult::Sampled => 3,
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let AuditReport { states, looked_at, steps, .. } = self;
        let (file, property) = (one_line(&self.certificate), one_line(&self.property));
        let model = one_line(&self.model);
        let work = format!("{looked_at} of {states} states and {steps} steps, by the reference machine");
        match &self.result {
            AuditResult::Confirmed => format!("{file} is confirmed: {property} holds in {model}\n  {work}\n"),
            AuditResult::Refuted(why) => {
                format!(
                    "{file} is refuted: it does not show that {property} holds in {model}\n  {why}\n  {work}\n"
                )
            }
            AuditResult::Sampled => format!(
                "{file}: nothing is wrong with a sample, which is no proof that {property} holds in {model}\n  {work}\n"
            ),
        }
    }

    /// For machines.
    pub fn json(&self) -> Value {
        let (result, reason) = match &self.result {
            AuditResult::Confirmed => ("confirmed", None),
            AuditResult::Refuted(why) => ("refuted", Some(why)),
            AuditResult::Sampled => ("sampled", None),
        };
        json!({
            "certificate": self.certificate,
            "model": self.model,
            "property": self.property,
            "result": result,
            "reason": reason,
            "states": self.states,
            "looked_at": self.looked_at,
            "steps": self.steps,
        })
    }
}

/// Confirms a certificate, or says why it proves nothing.
pub fn audit_certificate(
    options: &AuditOptions,
    files: &(dyn Files + Sync),
    stop: &Stop,
) -> Answer<AuditReport> {
    let timeout = options.timeout.as_deref().map(|word| Duration::read("--timeout", word)).transpose();
    let stop = match timeout {
        Ok(timeout) => stop.within(timeout),
        Err(failure) => return Answer::failed(failure),
    };
    let work = || match Session::load(&options.source, files, &stop) {
        Err(failure) => Answer::failed(failure),
        Ok(session) => {
            let result = stop::attempt(|| audited(options, &session, &stop)).unwrap_or_else(given_up);
            Answer { notices: session.notices, result }
        }
    };
    isolated(|| {
        stop::attempt(work).unwrap_or_else(|cause| Answer { notices: Vec::new(), result: given_up(cause) })
    })
    .unwrap_or_else(Answer::failed)
}

/// There was no time for the rest: a part that was fine proves nothing.
fn given_up(cause: Cause) -> Result<AuditReport, Failure> {
    match cause {
        Cause::Asked => Err(Failure::Stopped(cause)),
        Cause::Time => Err(Failure::Incomplete {
            message: "the time was over before the certificate was confirmed".to_string(),
            repair: "use a larger --timeout, or --audit-share 1% for a sample".to_string(),
        }),
    }
}

fn audited(options: &AuditOptions, session: &Session, stop: &Stop) -> Result<AuditReport, Failure> {
    let share = options.share.as_deref().map_or(Ok(Share::All), share)?;
    let machine = session.machine()?;
    let certificate = read(&options.certificate, stop)?;
    let header = &certificate.header;
    let not_its = |what: String| {
        Failure::refused_with(
            format!("{} is not a certificate of {}: {what}", options.certificate, session.source.path),
            "give the model, and the macros (-D), that it was written for",
        )
    };
    if header.program != machine.fingerprint() {
        return Err(not_its(format!("it was written for another program, {}", header.model)));
    }
    if machine.hidden_bytes() > 0 {
        return Err(not_its("hidden variables are not part of its states".to_string()));
    }
    let Audited { states, steps, flaw } = confirm(&certificate, &machine, share, stop);
    let result = match (flaw, share) {
        (Some(flaw), _) => AuditResult::Refuted(words(&flaw, &certificate, &machine)),
        (None, Share::All) => AuditResult::Confirmed,
        (None, Share::Part { .. }) => AuditResult::Sampled,
    };
    Ok(AuditReport {
        certificate: options.certificate.clone(),
        model: session.source.path.clone(),
        property: header.property.clone(),
        states: certificate.states.len() as u64,
        looked_at: states,
        steps,
        result,
    })
}

/// Reads a certificate.
fn read(path: &str, stop: &Stop) -> Result<Certificate, Failure> {
    let make = "give a file that `spinor check --certify` wrote";
    let file = File::open(path).map_err(|error| {
        Failure::refused_with(format!("cannot read the certificate {path}: {error}"), make)
    })?;
    Certificate::read(BufReader::with_capacity(1 << 18, file), || stop.check()).map_err(|why| match why {
        NotReadable::NoMemory => Failure::Incomplete {
            message: format!("{path} cannot be confirmed: {why}"),
            repair: "use a machine with more memory".to_string(),
        },
        _ => Failure::refused_with(format!("{path} is not a certificate: {why}"), make),
    })
}

/// The share that a word means: `1%` or `0.01`.
fn share(word: &str) -> Result<Share, Failure> {
    let number = match word.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => word.parse(),
    };
    match number {
        Ok(1.0) => Ok(Share::All),
        Ok(part) if part > 0.0 && part < 1.0 => Ok(Share::Part { part, seed: 0 }),
        _ => Err(Failure::refused_with(
            format!("--audit-share {word:?} is not a part of the states"),
            "give more than 0 and at most 100%, such as --audit-share 1%",
        )),
    }
}

/// What is wrong, for people.
fn words(flaw: &Flaw, certificate: &Certificate, machine: &Interp) -> String {
    let step = |number: usize, action: ActionId| {
        let step = machine.step(certificate.states.state(number), action);
        format!("{}[{}] at {}:{}: {}", step.process, step.pid, step.file, step.line, one_line(&step.text))
    };
    let error = |fault: &Fault| format!("{} at {}:{}", one_line(&fault.message), fault.file, fault.line);
    match flaw {
        Flaw::NoInitialState(fault) => format!("there is no initial state: {}", error(fault)),
        Flaw::InitialMissing => "the initial state is not in it".to_string(),
        Flaw::NoState { number, why } => format!("state {number} is none: {why}"),
        Flaw::Missing { number, action } => {
            format!("state {number} has a successor that is not in it, by {}", step(*number, *action))
        }
        Flaw::Error { number, fault } => format!("state {number} shows an error: {}", error(fault)),
        Flaw::Cut { number, fault } => {
            format!("what comes after state {number} is not known: {}", error(fault))
        }
        Flaw::Unreached { number, n } => format!("{n} of its states are not reached; state {number} is one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages_or_parts() {
        assert_eq!(share("1%").unwrap(), Share::Part { part: 0.01, seed: 0 });
        assert_eq!(share("0.5").unwrap(), Share::Part { part: 0.5, seed: 0 });
        assert_eq!(share("100%").unwrap(), Share::All);
        for word in ["0", "-1%", "150%", "much", "", "NaN"] {
            assert!(share(word).is_err(), "{word}");
        }
    }
}
