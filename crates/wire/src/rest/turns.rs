//! `/v1/channels/{id}/turns`: who has the turn in a channel's subjects, and who waits for it.
//! `DELETE /v1/channels/{id}/turns/{subject}/{member}`, without a body, revokes a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// `GET /v1/channels/{id}/turns`: subjects in which somebody has the turn or waits for it, oldest
/// first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turns {
    pub subjects: Vec<Subject>,
}

/// A root message with its canonical thread.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// `evt_…` of its root message.
    pub root: String,
    /// `th_…`; absent before the first answer.
    pub thread: Option<String>,
    /// Number of turns allowed until a person speaks again.
    pub budget: u16,
    /// Number of turns used since a person last spoke.
    pub spent: u16,
    /// The members that may speak now.
    pub holders: Vec<Holder>,
    /// The members that wait for the turn.
    pub waiting: Vec<Waiting>,
}

/// A member that has the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    /// Member id.
    pub member: String,
    /// The event that it answers, `evt_…`.
    pub event: String,
    /// Rises with each turn of the subject.
    pub fence: u32,
    pub granted_at: Time,
    /// Whether a session has accepted it.
    pub accepted: bool,
    /// Whether it has posted something.
    pub said: bool,
}

/// A member that waits for the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// Member id.
    pub member: String,
    /// The event that it will answer, `evt_…`.
    pub event: String,
    pub since: Time,
    /// Whether an answer is owed. Members that owe none are passed over once the budget is used up.
    pub owed: bool,
}
