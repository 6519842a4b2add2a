//! `chat.claim`: the right to answer what was addressed to a role or to nobody.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::attention::content::TurnGrant;
use crate::attention::schema::{EVENT, TURN, object, object_open, text};
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.claim`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    pub event_id: String,
    /// Release the claim instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub release: bool,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for Claim {
    type Result = ClaimResult;

    const TOOL: &'static Tool = &Tool {
        name: "chat.claim",
        title: "Claim a chat event",
        description: "Claim the right to answer a message that was addressed to a role or to nobody, \
                      before you reply to it. It gives you the content and a turn; CLAIMED_BY_OTHER \
                      means stay silent. `release: true` releases it.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::written::<Self>(input, output),
    };
}

#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    pub event_id: String,
    /// Member id.
    pub holder: String,
    pub fence: u32,
    pub expires_at: Time,
    pub turn: TurnGrant<'static>,
    /// The event in the form of `chat/deliver`, with its content.
    #[redact(fixed = 3)]
    pub event: Box<RawValue>,
}

/// The result of `chat.claim`: the claim, or its release.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ClaimResult {
    Claimed(Box<Claimed>),
    Released(Released),
}

/// The result of `chat.claim` with `release`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Released {
    pub event_id: String,
    pub released: bool,
}

fn input() -> Value {
    object(
        json!({
            "eventId": text(EVENT),
            "release": {"type": "boolean", "description": "Release the claim"},
            "turn": text(TURN),
        }),
        &["eventId"],
    )
}

fn output() -> Value {
    object_open(
        json!({
            "eventId": {"type": "string"},
            "holder": {"type": "string"},
            "fence": {"type": "integer"},
            "expiresAt": {"type": "string"},
            "turn": {"type": "object"},
            "event": {"type": "object"},
            "released": {"type": "boolean"},
        }),
        &[],
    )
}
