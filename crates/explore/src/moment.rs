//! A moment of a run as data: the state, the step that led there, what can be done next, who is blocked and
//! why, which propositions hold. Written as JSON in the words of `replay --format json`.

use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};
use system::{Blocked, Snapshot, StepInfo};
use trace::json;
use trace::story::Told;
use trace::write::info_object;

/// A moment: 0 is the beginning, `n` is after step `n`.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Its number.
    pub number: usize,
    /// The state is inside an atomic sequence.
    pub inside: bool,
    /// The state is visited again and again.
    pub in_cycle: bool,
    /// The state.
    pub state: Snapshot,
    /// The step that led there: edges, changes, events.
    pub step: Option<Told>,
    /// What can be done next.
    pub choices: Vec<Choice>,
    /// Who cannot move, why, and who could help.
    pub blocked: Vec<Blocked>,
    /// The propositions of the property.
    pub propositions: Vec<Proposition>,
}

/// A step that can be taken.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its number, from 1.
    pub number: usize,
    /// Who, where, which statement.
    pub info: StepInfo,
    /// What it would do, where that does not depend on input.
    pub would: Option<Told>,
    /// It reads standard input.
    pub reads: bool,
    /// It is the one that the run takes.
    pub taken: bool,
}

/// A proposition of the property, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposition {
    /// As it was written.
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
}

impl Moment {
    /// As a JSON object.
    pub fn json(&self) -> Json {
        json!({
            "moment": self.number,
            "atomic": self.inside,
            "in_cycle": self.in_cycle,
            "state": json::state(&self.state),
            "step": self.step.as_ref().map(|step| Json::Object(json::step(step))),
            "choices": self.choices.iter().map(Choice::json).collect::<Vec<Json>>(),
            "blocked": self.blocked.iter().map(trace::blocked_json::blocked).collect::<Vec<Json>>(),
            "propositions": self.propositions,
        })
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

impl Choice {
    /// As a JSON object.
    pub fn json(&self) -> Json {
        let mut object = match &self.would {
            Some(told) => json::step(told),
            None => info_object(&self.info),
        };
        object.insert("choice".into(), json!(self.number));
        object.insert("reads".into(), json!(self.reads));
        object.insert("taken".into(), json!(self.taken));
        Json::Object(object)
    }
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}
