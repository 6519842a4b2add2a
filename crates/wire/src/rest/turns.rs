//! `/v1/channels/{id}/turns`: who speaks about the subjects of a channel, and who waits. `DELETE
//! /v1/channels/{id}/turns/{subject}/{member}` takes a turn away, without a body.

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /v1/channels/{id}/turns`: subjects somebody speaks about or waits to, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turns {
    pub subjects: Vec<Subject>,
}

/// A root message with its canonical thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// `evt_…` of its root message.
    pub root: String,
    /// `th_…`; absent before the first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Turns that may speak until a person speaks again.
    pub budget: u16,
    /// Turns that have spoken since a person did.
    pub spent: u16,
    /// Who may speak now.
    pub holders: Vec<Holder>,
    /// Who waits for the turn.
    pub waiting: Vec<Waiting>,
}

/// A member that has the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    /// Member id.
    pub member: String,
    /// `evt_…` that it answers.
    pub event: String,
    /// Rises with each turn of the subject.
    pub fence: u32,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub granted_at: Timestamp,
    /// Whether a session has taken it up.
    pub accepted: bool,
    /// Whether it has said something.
    pub said: bool,
}

/// A member that waits for the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// Member id.
    pub member: String,
    /// `evt_…` that it is to answer.
    pub event: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub since: Timestamp,
    /// Whether an answer is owed; who only may speak is asked no more when the budget is spent.
    pub owed: bool,
}
